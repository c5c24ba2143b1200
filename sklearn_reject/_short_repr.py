"""Records as short texts and tables, with numbers rounded."""

from dataclasses import MISSING, fields

import numpy as np

# So many entries of a dictionary or of a tuple of records are shown.
_MOST_ENTRIES = 3


def short_repr(record):
    """Return a dataclass or a named tuple as text, without fields at their defaults.

    Numbers have four digits. `to_dict`, where there is one, has all of them.
    """
    shown = [f"{name}={_show(value)}" for name, value in _entries(record)]
    return f"{type(record).__name__}({', '.join(shown)})"


def _entries(record):
    """Yield names and values, those of a dataclass that are not at their default."""
    if isinstance(record, tuple):
        yield from record._asdict().items()
        return
    for each in fields(record):
        value = getattr(record, each.name)
        if each.repr and not _is_default(value, each.default):
            yield each.name, value


def _is_default(value, default):
    if default is MISSING:
        return False
    if isinstance(value, float) and isinstance(default, float):
        return value == default or (value != value and default != default)
    return value is default


def _show(value):
    """Return a value as text: numbers rounded, long collections cut short."""
    if isinstance(value, (float, np.floating)):
        return f"{value:.4g}"
    if isinstance(value, np.ndarray):
        return np.array2string(value, precision=4, threshold=6, separator=", ")
    if isinstance(value, dict):
        return _join([f"{k!r}: {_show(x)}" for k, x in value.items()], "{}")
    if type(value) is tuple:
        return _join([_show(each) for each in value], "()")
    return repr(value)


def _join(texts, brackets):
    shown = texts[:_MOST_ENTRIES]
    if len(texts) > _MOST_ENTRIES:
        shown.append(f"... {len(texts) - _MOST_ENTRIES} more")
    return brackets[0] + ", ".join(shown) + brackets[1]


def align(rows):
    """Return lines of cells in columns as wide as they need to be."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(cell.ljust(n) for cell, n in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]


def cell_of(value):
    """Return a number as a cell of a table, a dash for NaN."""
    if isinstance(value, int) or value is None:
        return "-" if value is None else str(value)
    if np.isnan(value):
        return "-"
    return f"{value:.3f}" if abs(value) < 100 else f"{value:.4g}"
