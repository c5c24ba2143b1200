"""Rows of what was asked and what was measured, and the table that shows them."""

from collections import namedtuple

from benchmarks._timing import interleaved_medians

Row = namedtuple(
    "Row", "what asked measured verdict details", defaults=("", "", "", "")
)

NOT_INSTALLED = "not installed"


def at_most(what, limit, value, unit="", details=""):
    """Return the row of a value that must not exceed a limit."""
    return _judged(what, f"<= {limit:g}{unit}", value, unit, value <= limit, details)


def at_least(what, limit, value, unit="", details=""):
    """Return the row of a value that must reach a limit."""
    return _judged(what, f">= {limit:g}{unit}", value, unit, value >= limit, details)


def _judged(what, asked, value, unit, fulfilled, details):
    verdict = "ok" if fulfilled else "miss"
    return Row(what, asked, f"{value:.3g}{unit}", verdict, details)


def ratio_row(what, limit, ours, reference, repeats=11):
    """Time two callables in turns and judge how many times longer ours takes."""
    times = interleaved_medians({"ours": ours, "reference": reference}, repeats)
    details = f"{show_time(times['ours'])} against {show_time(times['reference'])}"
    return at_most(what, limit, times["ours"] / times["reference"], " x", details)


def show_time(seconds):
    """Return a duration as text, in seconds or milliseconds."""
    if seconds >= 1:
        return f"{seconds:.3g} s"
    return f"{1000 * seconds:.3g} ms"


def print_table(title, rows):
    """Print the rows below a title, in aligned columns."""
    lines = [Row("what", "asked", "measured", "", ""), *rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    print(f"\n{title}")
    for line in lines:
        print("  " + _align(line, widths).rstrip(), flush=True)


def _align(line, widths):
    cells = zip(line, widths, strict=True)
    return "   ".join(cell.ljust(width) for cell, width in cells)
