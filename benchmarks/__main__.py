"""Run all benchmarks, or those that are named."""

import argparse
import os
import platform
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version

from benchmarks._report import print_table

_NAMES = (
    "aurc",
    "solvers",
    "predict",
    "import",
    "peers",
    "sele",
    "guarantees",
    "deferral_rules",
    "groups",
    "intervals",
    "failure_rate",
    "ood_bounds",
    "knn",
    "double_score",
    "decoding",
    "sets",
    "thresholds",
    "ensembles",
    "reject_cost",
    "small_samples",
    "averages",
    "weights",
    "learned",
    "deferral",
    "novelty",
    "audits",
    "monitors",
    "risk_bounds",
    "bounds_on_new_samples",
    "deferral_peers",
    "scale",
    "comparison",
)
_LONGER = frozenset({"deferral", "learned", "novelty", "reject_cost"})
_PACKAGES = (
    "numpy",
    "scipy",
    "scikit-learn",
    "MAPIE",
    "torch",
    "torch-uncertainty",
    "scikit-fallback",
    "xcolumns",
    "bargain",
    "pytorch-ood",
)


def main():
    """Run the benchmarks that the command line names and print their tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "names", nargs="*", metavar="name", help=f"among {', '.join(_NAMES)}"
    )
    parser.add_argument(
        "--full", action="store_true", help="more of what can be measured longer"
    )
    arguments = parser.parse_args()
    names = arguments.names
    unknown = sorted(set(names) - set(_NAMES))
    if unknown:
        parser.error(f"no benchmark {', '.join(unknown)}, only {', '.join(_NAMES)}")
    _run(names or _NAMES, full=arguments.full)


def _run(names, full):
    print(_describe_environment())
    for name in names:
        module = import_module(f"benchmarks.bench_{name}")
        run = module.run_in_full if full and name in _LONGER else module.run
        print_table(f"{name}: {module.TITLE}", list(run()))


def _describe_environment():
    versions = [f"Python {platform.python_version()}, {os.cpu_count()} processors"]
    for package in _PACKAGES:
        try:
            versions.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            continue
    return ", ".join(versions)


if __name__ == "__main__":
    main()
