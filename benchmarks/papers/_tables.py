"""Tables 3a, 3b and 4 of FPV23: the paper's numbers above those measured here."""

from benchmarks.papers._experiments import EXPERIMENTS
from benchmarks.papers._fpv23_published import TABLES
from benchmarks.papers._ranks import LEVEL
from benchmarks.papers._summary import (
    is_complete,
    measured_ranking,
    published_ranking,
    rows,
)

_WIDTH = 15
_LEAST_SETS = 2  # that ranks can be compared over

# Ranks asked for: methods that are to be better than others.
_ASKED = {
    "3a": (("SELE",), ("REG", "TCP", "MCP")),
    "3b": (("SELE",), ("REG", "Margin")),
    "4": (("SELE", "REG"), ("Margin",)),
}


def print_paper_table(table, results, sets):
    """Print a table of the paper beside what was measured, and judge it."""
    experiment = EXPERIMENTS[table]
    measured = rows(results, table, sets)
    columns = [*experiment.methods, "R@100"]
    print(f"\nTable {table}: {experiment.title}")
    print(f"mean ± standard deviation over {results.n_splits} splits, * is least\n")
    print(_line("", "", *columns))
    for name in sets:
        print(_line(name, "paper", *_cells(TABLES[table][name], columns)))
        print(_measured_line(table, name, measured.get(name), columns))
    _print_ranks(table, measured)


def _measured_line(table, name, row, columns):
    if row is None:
        return _line("", "here", "not measured: the set is not here, or not yet")
    if not is_complete(row):
        verdict = f"{row.share:.0%} of the set"
    else:
        verdict = _verdict(_is_within(table, name, row))
    return _line("", "here", *_cells(row.spreads, columns), f"  {verdict}")


def _is_within(table, name, row):
    published = TABLES[table][name]["SELE"]
    return row.spreads["SELE"].mean <= published.mean + 2 * published.sd


def _verdict(fulfilled):
    return "ok" if fulfilled else "miss"


def _line(name, source, *cells):
    text = f"{name:<11}{source:<6}" + "".join(cell.rjust(_WIDTH) for cell in cells)
    return text.rstrip()


def _cells(spreads, columns):
    least = min(spreads[column].mean for column in columns[:-1])
    for column in columns:
        mean, deviation = spreads[column]
        star = "*" if mean == least else ""
        yield f"{star}{mean:.2f} ± {deviation:.2f}"


def _print_ranks(table, measured):
    complete = {name: row for name, row in measured.items() if is_complete(row)}
    if len(complete) < _LEAST_SETS:
        print("\nToo few complete sets to compare ranks.")
        return
    print(f"\naverage ranks, p-value of Friedman, critical difference at {LEVEL:.2f}")
    _print_ranking("here, complete sets", measured_ranking(table, complete))
    _print_ranking("paper, these sets", published_ranking(table, complete))
    if len(measured) > len(complete):
        _print_ranking("here, subsets too", measured_ranking(table, measured))
    _print_ranking("paper, all sets", published_ranking(table, TABLES[table]))
    _print_verdicts(table, complete)


def _print_ranking(what, ranking):
    ranks = "  ".join(f"{name} {rank:.2f}" for name, rank in ranking.ranks.items())
    print(
        f"  {what:<20} ({ranking.n_sets:>2} sets)  {ranks}  p {ranking.p_value:.1e}"
        f"  CD {ranking.critical_difference:.2f}"
    )


def _print_verdicts(table, complete):
    ranks = measured_ranking(table, complete).ranks
    better, worse = _ASKED[table]
    first = max(ranks[name] for name in better) < min(ranks[name] for name in worse)
    what = f"average rank of {' and '.join(better)} before {', '.join(worse)}"
    print(f"\n  {_verdict(first):<5} {what}")
    within = [_is_within(table, name, row) for name, row in complete.items()]
    print(
        f"  {_verdict(all(within)):<5} SELE at most the paper's mean + 2 sd: "
        f"{sum(within)} of {len(within)} complete sets"
    )
