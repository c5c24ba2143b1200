"""Print tables 1 and 2 of FPP23 beside those measured here; draw its figure 1."""

import argparse

from benchmarks.papers._cache import measured
from benchmarks.papers._fpp23_figure import draw_figure
from benchmarks.papers._fpp23_images import missing_files
from benchmarks.papers._fpp23_novelty import measure_images, print_images
from benchmarks.papers._fpp23_synthetic import measure_synthetic, print_synthetic
from benchmarks.papers._options import add_run_options

_TABLES = ("1", "2")


def main():
    """Measure and show what the command line names, or both tables."""
    options = _parse()
    if "1" in options.tables:
        print_synthetic(_records("1", measure_synthetic, options))
    if "2" in options.tables:
        _show_images(options)
    if options.figure:
        draw_figure(options.figure)


def _show_images(options):
    missing = missing_files()
    if missing:
        print(
            f"\nTable 2: not measured. Not in the folder that SKLEARN_REJECT_DATA "
            f"names, or it names none: {', '.join(missing)}."
        )
        return
    print_images(_records("2", measure_images, options))


def _records(table, measure, options):
    folder = options.results / f"fpp23-{table}"
    print(f"table {table}: measuring what is not in {folder}", flush=True)
    return measured(folder, range(options.seeds), measure, options.jobs)


def _parse():
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.papers.fpp23", description=__doc__
    )
    parser.add_argument(
        "--tables", nargs="+", choices=_TABLES, default=_TABLES, help="default: both"
    )
    add_run_options(parser, seeds="samples or networks")
    return parser.parse_args()


if __name__ == "__main__":
    main()
