"""Cells of samples in the plane of two scores, in a table of few rows that add up."""

import numpy as np

from sklearn_reject.selection._plane_codes import (
    choose_shift,
    codes_of,
    common_region,
    fill_bits,
    tells_kinds,
)

# What a cell is told by, each a row of a table: the least and largest scores inside,
# rows and weight of either origin, and the weighted loss, least and largest loss of ID
# samples (zero where there are none).
COLUMNS = (
    "risk_low",
    "risk_high",
    "novelty_low",
    "novelty_high",
    "id_rows",
    "ood_rows",
    "id_weight",
    "ood_weight",
    "loss",
    "least_loss",
    "most_loss",
)
PLACES = {name: place for place, name in enumerate(COLUMNS)}

# What a cell should hold few of.
_SHARES = ("id_weight", "ood_weight", "loss")

# How the columns of two cells become those of one.
_EXTREMES = {
    "risk_low": np.minimum,
    "risk_high": np.maximum,
    "novelty_low": np.minimum,
    "novelty_high": np.maximum,
    "least_loss": np.minimum,
    "most_loss": np.maximum,
}


def regions_of(table, shift=None):
    """Return the first and the last code of the smallest prefix that holds each cell.

    The prefix that holds two corners of a rectangle holds the rectangle.
    """
    corners = [("risk_low", "novelty_low"), ("risk_high", "novelty_high")]
    corners = (table[[PLACES[name] for name in corner]] for corner in corners)
    return common_region(*(codes_of(*corner, shift or 0) for corner in corners))


def empty_table():
    """Return a table of no cells."""
    return np.empty((len(COLUMNS), 0))


def make_table(risk, novelty, losses, is_ood, weight, max_cells, shift=None):
    """Return a table of at most so many cells of some samples, and the shift.

    The shift of :func:`codes_of` is chosen where it is None and first matters, which is
    where not every code can be a cell of its own.
    """
    rows, codes = _sort_codes(risk, novelty, weight, shift)
    if not len(rows):
        return empty_table(), shift
    starts = _starts_of_codes(codes)
    if len(starts) > max_cells and shift is None:
        shift = choose_shift(risk[rows], novelty[rows], max_cells**0.5)
        rows, codes = _sort_codes(risk, novelty, weight, shift)
        starts = _starts_of_codes(codes)
    columns = _columns_of(risk, novelty, losses, is_ood, weight)
    if len(starts) > max_cells:
        shares = [np.add.reduceat(columns[name][rows], starts) for name in _SHARES]
        distinct = codes[starts]
        starts = starts[_choose_starts(distinct, distinct, shares, max_cells)]
    found = [
        _EXTREMES.get(name, np.add).reduceat(
            columns[name][rows].astype(np.float64), starts
        )
        for name in COLUMNS
    ]
    return _without_gaps(np.array(found)), shift


def _sort_codes(risk, novelty, weight, shift):
    """Return the rows of positive weight in the order of their codes, and the codes."""
    codes = codes_of(risk, novelty, shift or 0)
    rows = np.argsort(codes)
    rows = rows if weight.all() else rows[weight[rows] > 0]
    return rows, codes[rows]


def _starts_of_codes(codes):
    return np.flatnonzero(np.append(True, codes[1:] != codes[:-1]))


def _columns_of(risk, novelty, losses, is_ood, weight):
    """Return the columns of a table in which each sample is a cell."""
    of_id = np.where(is_ood, 0.0, weight)
    return {
        "risk_low": risk,
        "risk_high": risk,
        "novelty_low": novelty,
        "novelty_high": novelty,
        "id_rows": ~is_ood,
        "ood_rows": is_ood,
        "id_weight": of_id,
        "ood_weight": np.where(is_ood, weight, 0.0),
        "loss": of_id * losses,
        "least_loss": np.where(is_ood, np.inf, losses),
        "most_loss": np.where(is_ood, -np.inf, losses),
    }


def merge_tables(tables, shifts, max_cells):
    """Return a table of at most so many cells of all samples of tables, and the shift.

    A cell inside another one becomes part of it, so that the scores of a sample tell in
    which cell it is. The shift is that of the table of most samples.
    """
    known = [
        (n_rows_of(table), -place)
        for place, (table, shift) in enumerate(zip(tables, shifts, strict=True))
        if shift is not None
    ]
    shift = shifts[-max(known)[1]] if known else None
    table = _join(np.concatenate(tables, axis=1), shift)
    if table.shape[1] > max_cells and shift is None:
        shift = choose_shift(
            table[PLACES["risk_low"]], table[PLACES["novelty_low"]], max_cells**0.5
        )
        table = _join(table, shift)
    if table.shape[1] > max_cells:
        shares = [table[PLACES[name]] for name in _SHARES]
        regions = regions_of(table, shift)
        table = _reduce(table, _choose_starts(*regions, shares, max_cells))
    return table, shift


def n_rows_of(table):
    """Return the number of samples."""
    return int(table[PLACES["id_rows"]].sum() + table[PLACES["ood_rows"]].sum())


def _join(table, shift):
    """Return the cells in order, those inside another one as part of it."""
    first, last = regions_of(table, shift)
    order = np.lexsort((~last, first))  # of equal starts, the largest is first
    table, first, last = table.take(order, axis=1), first[order], last[order]
    is_start = np.ones(len(first), dtype=bool)
    is_start[1:] = first[1:] > np.maximum.accumulate(last)[:-1]
    return _reduce(table, np.flatnonzero(is_start))


def _reduce(table, starts):
    """Return a table of the cells from each start to the next, as one each."""
    if len(starts) == table.shape[1]:
        return table
    table = table.copy()
    without = table[PLACES["id_rows"]] == 0
    table[PLACES["least_loss"], without] = np.inf
    table[PLACES["most_loss"], without] = -np.inf
    found = [
        _EXTREMES.get(name, np.add).reduceat(column, starts)
        for name, column in zip(COLUMNS, table, strict=True)
    ]
    return _without_gaps(np.array(found))


def _without_gaps(table):
    """Return the table with losses of zero where there are no ID samples."""
    losses = table[PLACES["least_loss"] : PLACES["most_loss"] + 1]
    losses[:, table[PLACES["id_rows"]] == 0] = 0.0
    return table


def _choose_starts(first, last, shares, max_cells):
    """Return where to cut sorted regions into at most so many cells.

    Prefixes of codes make a binary tree. Those nodes are cut that hold most: of the ID
    weight, the OOD weight and the loss, a share each. A node holds more than its parts,
    so what is cut are nodes of the tree.
    """
    held = np.zeros(len(first) + 1)
    for share in shares:
        total = share.sum()
        if total > 0:
            held[1:] += np.cumsum(share) / total
    # The node that is cut between each region and the next.
    rest = fill_bits(last[:-1] ^ first[1:])
    node = first[1:] & ~rest
    begin = np.searchsorted(first, node)
    end = np.searchsorted(first, node | rest, side="right")
    size = held[end] - held[begin]
    size[tells_kinds(rest)] = np.inf  # infinite novelty is apart
    cuts = np.lexsort((rest, size))[max(0, len(size) - max_cells + 1) :]
    return np.append(0, np.sort(cuts) + 1)


def find_cells(table, shift, risk, novelty):
    """Return the cell of each sample, -1 where it is in none."""
    first, last = regions_of(table, shift)
    codes = codes_of(risk, novelty, shift or 0)
    cells = np.searchsorted(first, codes, side="right") - 1
    inside = cells >= 0
    inside[inside] = codes[inside] <= last[cells[inside]]
    return np.where(inside, cells, -1)
