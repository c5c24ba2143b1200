"""Verify figure 1 of NKRD16 and draw it; print tables 2 and 3 beside those here."""

import argparse

from benchmarks.papers._cache import measured
from benchmarks.papers._nkrd16_data import FIXED, SETS, missing_file
from benchmarks.papers._nkrd16_figure import draw_figure
from benchmarks.papers._nkrd16_measure import measure_split
from benchmarks.papers._nkrd16_synthetic import print_verification
from benchmarks.papers._nkrd16_tables import print_tables
from benchmarks.papers._options import add_run_options

_PARTS = ("figure", "tables")


def main():
    """Verify, draw and measure what the command line names, or both parts."""
    options = _parse()
    if "figure" in options.parts:
        print_verification()
    if options.figure:
        draw_figure(options.figure)
    if "tables" in options.parts:
        _show_tables(options)


def _show_tables(options):
    folder = options.results / "nkrd16"
    print(f"\ntables: measuring what is not in {folder}", flush=True)
    keys = [
        key for name in SETS if not missing_file(name) for key in _keys(name, options)
    ]
    records = {}
    for key, record in zip(
        keys, measured(folder, keys, measure_split, options.jobs), strict=True
    ):
        records.setdefault(key.rsplit("-", 1)[0], []).append(record)
    print_tables(records)


def _keys(name, options):
    return [f"{name}-{seed}" for seed in range(1 if name in FIXED else options.seeds)]


def _parse():
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.papers.nkrd16", description=__doc__
    )
    parser.add_argument(
        "--parts", nargs="+", choices=_PARTS, default=_PARTS, help="default: both"
    )
    add_run_options(parser, seeds="random splits")
    return parser.parse_args()


if __name__ == "__main__":
    main()
