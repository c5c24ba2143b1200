"""Measure tables 1 and 2 of RZMR20 on public sets, beside the paper's numbers."""

import argparse

from benchmarks.papers._cache import measured
from benchmarks.papers._options import add_run_options
from benchmarks.papers._rzmr20_data import SETS, missing_file
from benchmarks.papers._rzmr20_figure import draw_figure
from benchmarks.papers._rzmr20_measure import measure_split
from benchmarks.papers._rzmr20_tables import print_tables


def main():
    """Measure what the command line asks for, print it, and draw it if wanted."""
    options = _parse()
    records = _measure(options)
    print_tables(records)
    if options.figure and records:
        draw_figure(options.figure, records)


def _measure(options):
    """Return {set: records of its seeds} of the sets that are there."""
    folder = options.results / "rzmr20"
    print(f"tables: measuring what is not in {folder}", flush=True)
    names = [name for name in SETS if not missing_file(name)]
    keys = [f"{name}-{seed}" for name in names for seed in range(options.seeds)]
    records = {}
    for key, record in zip(
        keys, measured(folder, keys, measure_split, options.jobs), strict=True
    ):
        records.setdefault(key.rsplit("-", 1)[0], []).append(record)
    return records


def _parse():
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.papers.rzmr20", description=__doc__
    )
    add_run_options(parser, seeds="random splits")
    return parser.parse_args()


if __name__ == "__main__":
    main()
