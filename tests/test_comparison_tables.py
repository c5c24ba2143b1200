"""The comparison page shows tables that the benchmarks write."""

import csv
import re
from importlib import import_module
from pathlib import Path

import pytest

from benchmarks.bench_comparison import FOLDER, MACHINE, TABLES

PAGE = Path(__file__).parents[1] / "doc" / "comparison.rst"


def test_page_shows_tables_that_are_written():
    text = PAGE.read_text(encoding="utf-8")
    shown = re.findall(r":file: comparison_tables/(\w+)\.csv", text)
    assert shown
    assert set(shown) <= set(TABLES)
    assert {path.stem for path in FOLDER.glob("*.csv")} == set(TABLES)
    assert f".. include:: comparison_tables/{MACHINE}" in text
    assert (FOLDER / MACHINE).read_text(encoding="utf-8").startswith("Measured with")


@pytest.mark.parametrize("name", TABLES)
def test_tables_say_what_was_measured_with_which_version(name):
    with open(FOLDER / f"{name}.csv", newline="", encoding="utf-8") as file:
        header, *lines = csv.reader(file)
    package = import_module(f"benchmarks.comparison.{name}").PACKAGE
    assert re.fullmatch(rf"{package} \d+(\.\w+)+", header[1])
    assert re.fullmatch(r"sklearn-reject \d+(\.\w+)+", header[2])
    assert lines
    for what, theirs, ours in lines:
        assert what
        # Numbers, with a unit or a word beside them.
        assert re.match(r"\d", theirs)
        assert re.match(r"\d", ours)
