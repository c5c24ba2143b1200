"""Print tables 3a, 3b and 4 of FPV23 beside those measured here; draw its figures."""

import argparse
from pathlib import Path

from benchmarks.papers._beyond import print_beyond
from benchmarks.papers._datasets import MissingDatasetError
from benchmarks.papers._experiments import EXPERIMENTS
from benchmarks.papers._figures import draw_figures
from benchmarks.papers._results import Results
from benchmarks.papers._structured import (
    draw_structured,
    measure_structured,
    print_structured,
)
from benchmarks.papers._tables import print_paper_table

_HERE = Path(__file__).parent
_PAPER_TABLES = ("3a", "3b", "4")
_PARTS = (*_PAPER_TABLES, "beyond", "figures", "structured")


def main():
    """Measure and show the parts that the command line names, or all of them."""
    options = _parse()
    results = Results(options.results, options.splits)
    for table in _tables_to_measure(options.parts):
        print(f"table {table}: measuring what is not in {options.results}", flush=True)
        results.measure(table, options.sets[table], options.jobs)
    for part in options.parts:
        _show(part, results, options)


def _tables_to_measure(parts):
    wanted = {part for part in parts if part in EXPERIMENTS}
    if "beyond" in parts:
        wanted.add("3a")  # has linear SELE and MCP
    return sorted(wanted)


def _show(part, results, options):
    if part in _PAPER_TABLES:
        print_paper_table(part, results, options.sets[part])
    elif part == "beyond":
        print_beyond(results, options.sets[part])
    elif part == "figures":
        draw_figures(results, options.sets, options.figures)
    elif part == "structured":
        _show_structured(options)


def _show_structured(options):
    try:
        records = measure_structured(options.results, options.splits, options.jobs)
    except MissingDatasetError as error:
        print(f"\nFigure 4: not drawn. {error}")
        return
    print_structured(records)
    options.figures.mkdir(parents=True, exist_ok=True)
    draw_structured(records, options.figures / "figure4.png")


def _parse():
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.papers.fpv23", description=__doc__
    )
    add = parser.add_argument
    add("parts", nargs="*", metavar="part", help=f"among {', '.join(_PARTS)}")
    add("--sets", help="names with commas between them; default: all of each table")
    add("--splits", type=int, default=5, help="number of random splits, default 5")
    add("--jobs", type=int, default=2, help="processes, default 2")
    add("--results", type=Path, default=_HERE / "results", help="folder of results")
    add("--figures", type=Path, default=_HERE / "figures", help="folder of figures")
    options = parser.parse_args()
    options.parts = _check(parser, "part", options.parts or _PARTS, _PARTS)
    options.sets = _choose_sets(parser, options.sets)
    return options


def _choose_sets(parser, names):
    """Return the sets of each table, all of them or those that are named."""
    known = {name for experiment in EXPERIMENTS.values() for name in experiment.sets}
    named = _check(parser, "set", names.split(","), known) if names else known
    return {
        table: [name for name in experiment.sets if name in named]
        for table, experiment in EXPERIMENTS.items()
    }


def _check(parser, what, names, known):
    unknown = sorted(set(names) - set(known))
    if unknown:
        parser.error(f"no {what} {', '.join(unknown)}, only {', '.join(sorted(known))}")
    return names


if __name__ == "__main__":
    main()
