"""The measured tables of the comparison page, written into the documentation.

A table is written where its package is installed. Others stay as they are, with the
versions that they were measured with.
"""

import csv
import os
import platform
from importlib import import_module
from pathlib import Path

import numpy
import sklearn

from benchmarks._report import NOT_INSTALLED, Row
from benchmarks.comparison import version_of
from sklearn_reject import __version__

TITLE = "tables of the documentation: other packages against this one"

TABLES = (
    "mapie",
    "scikit_fallback",
    "torch_uncertainty",
    "pytorch_ood",
    "tuned_threshold",
    "xcolumns",
    "bargain",
)
FOLDER = Path(__file__).parents[1] / "doc" / "comparison_tables"
MACHINE = "machine.rst"


def run():
    """Measure, write the tables, and return the rows of the report."""
    for name in TABLES:
        module = import_module(f"benchmarks.comparison.{name}")
        version = version_of(module.PACKAGE)
        if version is None:
            yield Row(module.PACKAGE, measured=NOT_INSTALLED)
            continue
        lines = list(module.measure())
        _write(name, f"{module.PACKAGE} {version}", lines)
        for line in lines:
            details = f"{module.PACKAGE}: {line.theirs}"
            yield Row(line.what, measured=line.ours, details=details)
    _write_machine()


def _write(name, theirs, lines):
    FOLDER.mkdir(exist_ok=True)
    with open(FOLDER / f"{name}.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["measured", theirs, f"sklearn-reject {__version__}"])
        writer.writerows(lines)


def _write_machine():
    versions = (
        f"Python {platform.python_version()}, numpy {numpy.__version__} and "
        f"scikit-learn {sklearn.__version__}"
    )
    text = f"Measured with {versions}, on {os.cpu_count()} processors.\n"
    (FOLDER / MACHINE).write_text(text, encoding="utf-8")
