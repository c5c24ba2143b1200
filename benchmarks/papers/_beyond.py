"""Non-linear scores against linear SELE: how far FPV23 can be improved on."""

from collections import namedtuple

import numpy as np

from benchmarks.papers._experiments import EXPERIMENTS
from benchmarks.papers._summary import spread

_LARGEST_RATIO = 0.70

# Areas of each split; the chosen score is the best one on the part for validation.
_Comparison = namedtuple("_Comparison", "share mcp sele chosen names")


def print_beyond(results, sets):
    """Print for each set what choosing among the non-linear scores achieves."""
    unit = EXPERIMENTS["beyond"].unit
    print(f"\nBeyond the paper: {EXPERIMENTS['beyond'].title}, test AuRC in %")
    print("the best of them is chosen in each split, on the part for validation\n")
    print(_line("", "MCP", "SELE", "chosen", "ratio", ""))
    compared = {}
    for name in sets:
        comparison = _compare(results, name)
        if comparison is None:
            print(f"{name:<12}not measured: the set is not here, or not yet")
            continue
        compared[name] = comparison
        areas = comparison.mcp, comparison.sele, comparison.chosen
        cells = [_cell(unit * area) for area in areas]
        print(_line(name, *cells, f"{_ratio(comparison):.2f}", _note(comparison)))
    if compared:
        _print_verdicts(compared)


def _compare(results, name):
    linear, others = results.records("3a", name), results.records("beyond", name)
    if not linear or not others:
        return None
    names = [
        min(record["validation"], key=record["validation"].get) for record in others
    ]
    pairs = zip(others, names, strict=True)
    return _Comparison(
        others[0]["share"],
        np.array([record["aurc"]["MCP"] for record in linear]),
        np.array([record["aurc"]["SELE"] for record in linear]),
        np.array([record["aurc"][chosen] for record, chosen in pairs]),
        names,
    )


def _cell(areas):
    mean, deviation = spread(areas)
    return f"{mean:.2f} ± {deviation:.2f}"


def _ratio(comparison):
    return comparison.chosen.mean() / comparison.sele.mean()


def _is_above_mcp(comparison):
    """Say whether the mean excess over MCP is more than its standard error."""
    excess = spread(comparison.chosen - comparison.mcp)
    return excess.mean > excess.sd / np.sqrt(len(comparison.mcp))


def _note(comparison):
    names = sorted(set(comparison.names), key=comparison.names.count, reverse=True)
    note = ", ".join(f"{name} {comparison.names.count(name)}" for name in names)
    return note + (", worse than MCP" if _is_above_mcp(comparison) else "")


def _line(name, *cells):
    *numbers, note = cells
    text = f"{name:<12}" + "".join(cell.rjust(15) for cell in numbers)
    return f"{text}  {note}".rstrip()


def _print_verdicts(compared):
    ratio = np.mean([_ratio(comparison) for comparison in compared.values()])
    verdict = "ok" if ratio <= _LARGEST_RATIO else "miss"
    print(
        f"\n  {verdict:<5} average ratio {ratio:.2f} over {len(compared)} sets, asked "
        f"<= {_LARGEST_RATIO:.2f}"
    )
    above = [name for name, one in compared.items() if _is_above_mcp(one)]
    verdict = "miss" if above else "ok"
    print(
        f"  {verdict:<5} sets worse than MCP by more than a standard error: "
        f"{', '.join(above) or 'none'}"
    )
