"""Samples counted in cells of their scores: tables that add up.

The cell of a score is its leading bits as a floating-point number, so that no range of
scores has to be known beforehand, and tables of the parts of a sample have the same
cells. With 22 bits a cell is as wide as a thousandth of its scores.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sklearn_reject._as_dict import DictMixin
from sklearn_reject._curves._groups import TIE_TOLERANCE
from sklearn_reject._validation import take_weight


def draw_evenly(scores):
    """Return about 2^15 of the scores, enough to see where they are dense."""
    return scores[:: max(1, len(scores) >> 15)]


def cut_into_cells(scores, some, n_bits, *, most_shared):
    """Return an increasing map from scores to cells below ``2**n_bits``, or None.

    Of `some` of the scores, at most `most_shared` others may share a cell, on average.
    Cells of equal width are tried first. Scores that pile up near zero, as those of a
    confident classifier do, are told apart by cells that are even in the floating-point
    representation, so about as wide as the score is large.
    """
    for make_cut in (_even_cut, _floating_point_cut):
        cut = make_cut(scores, n_bits)
        if cut is not None:
            _, counts = np.unique(cut(some), return_counts=True)
            pairs = counts @ (counts - 1) / len(some) ** 2
            if pairs * len(scores) <= most_shared:
                return cut
    return None


def _even_cut(scores, n_bits):
    low, high = scores.min(), scores.max()
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        scale = (2**n_bits - 1) / (high - low)
    if not 0 < scale < np.inf:  # constant or infinite, or as wide as floats get
        return None

    def cut(values):
        cells = values - low
        cells *= scale
        return cells.astype(np.int64)

    return cut


def _floating_point_cut(scores, n_bits):
    low, high = float_keys(np.array([scores.min(), scores.max()]))
    shift = max(0, (int(high) - int(low)).bit_length() - n_bits)

    def cut(values):
        keys = float_keys(values)
        keys -= low
        keys >>= np.uint64(shift)
        return keys.view(np.int64)

    return cut


def float_keys(values):
    """Return unsigned integers in the order of the floats."""
    bits = (values + 0.0).view(np.int64)  # -0.0 becomes 0.0
    # Flips all bits of negative floats, else the sign only.
    flips = bits >> 63
    flips |= np.int64(-(2**63))
    bits ^= flips
    return bits.view(np.uint64)


# Rows that are counted at a time: more would leave the cache, fewer merge more often.
_BATCH_SIZE = 2**19

# By how much, relatively, a sum of losses may be off.
_ROUNDING = 1e-9

# An array has all cells from the lowest to the highest where these are so few, or so
# few times as many as the rows.
_FEW_CELLS, _CELLS_PER_ROW = 2**12, 8


@dataclass(frozen=True, eq=False)
class CellTable(DictMixin):
    """What is known of the samples of each cell: float64 arrays of shape (n_cells,).

    Cells are in increasing order of their scores, which go from `low` to `high`. `loss`
    is the sum of the weighted losses. `weight` is None where all samples weigh one, and
    the least and the largest loss are where all losses are 0 or 1.
    """

    n_bits: int
    low: np.ndarray
    high: np.ndarray
    rows: np.ndarray
    loss: np.ndarray
    weight: np.ndarray | None = None
    least_loss: np.ndarray | None = None
    largest_loss: np.ndarray | None = None

    def __len__(self):
        return len(self.low)

    @property
    def is_unit(self):
        """Whether all losses are 0 or 1."""
        return self.least_loss is None

    @property
    def weights(self):
        """Weight of each cell."""
        return self.rows if self.weight is None else self.weight

    @property
    def least(self):
        """Least loss of each cell."""
        if self.is_unit:
            return (self.loss >= self.weights).astype(np.float64)
        return self.least_loss

    @property
    def largest(self):
        """Largest loss of each cell."""
        return (self.loss > 0).astype(np.float64) if self.is_unit else self.largest_loss

    @property
    def cells(self):
        """Number of each cell, as `cells_of` returns it."""
        return cells_of(self.low, self.n_bits)

    @property
    def edges(self):
        """Lowest score that each cell may hold, whether or not a sample has it."""
        return lowest_of_cells(self.cells, self.n_bits)

    @property
    def is_exact(self):
        """Whether the order of the samples of a cell makes no difference.

        They are tied, or have the same loss.
        """
        return (self.low == self.high) | (self.least == self.largest)

    @property
    def nbytes(self):
        """Number of bytes of the arrays."""
        columns = (getattr(self, name) for name in COLUMNS)
        return sum(column.nbytes for column in columns if column is not None)

    def join(self, gather):
        """Return a table whose columns are what `gather` makes of each by its name.

        It gets a function that joins two or more entries of the column, too.
        """
        joined = {name: gather(name, function) for name, function in COLUMNS.items()}
        return CellTable(self.n_bits, **joined)


def check_cells(table):
    """Raise unless the columns of a table go together, and are those of samples."""
    if not _are_columns(table) or not _are_samples(table):
        raise ValueError(
            "cells must have columns of one length, with increasing scores and the "
            "losses and weights of one sample or more each. Write them with `to_dict`."
        )


def _are_columns(table):
    columns = [getattr(table, name) for name in COLUMNS]
    lengths = {len(column) for column in columns if column is not None}
    has_both = (table.least_loss is None) == (table.largest_loss is None)
    return len(lengths) == 1 and has_both


def _are_samples(table):
    """Tell whether each cell may be that of some samples."""
    rows, weight, loss = table.rows, table.weights, table.loss
    if not (
        (table.low <= table.high).all()
        and (np.diff(table.cells.astype(np.int64)) > 0).all()
        and (table.cells == cells_of(table.high, table.n_bits)).all()
        and np.isfinite((rows, weight, loss, table.largest)).all()
    ):
        return False
    is_present = (rows >= 1) & (rows == np.floor(rows)) & (weight > 0)
    least, slack = table.least, _ROUNDING * loss
    is_least = (least >= 0) & (least * weight <= loss + slack)
    return (is_present & is_least & (loss <= table.largest * weight + slack)).all()


# The columns of a table, and what is known of two cells together.
COLUMNS = {
    "low": np.minimum,
    "high": np.maximum,
    "rows": np.add,
    "loss": np.add,
    "weight": np.add,
    "least_loss": np.minimum,
    "largest_loss": np.maximum,
}


def empty_table(n_bits):
    """Return the table of no samples."""
    return CellTable(n_bits, *[np.empty(0)] * 4)


def count_cells(scores, losses, weight, n_bits):
    """Return the table of valid samples; `weight` is None for one each."""
    if weight is not None and not weight.all():
        present = weight > 0
        scores, losses, weight = scores[present], losses[present], weight[present]
    table = empty_table(n_bits)
    for start in range(0, len(scores), _BATCH_SIZE):
        batch = slice(start, start + _BATCH_SIZE)
        counted = _count_batch(
            scores[batch], losses[batch], take_weight(weight, batch), n_bits
        )
        table = add_tables(table, counted)
    return table


def _count_batch(scores, losses, weight, n_bits):
    cells = cells_of(scores, n_bits)
    cells -= cells.min()
    if cells.max() < max(_FEW_CELLS, _CELLS_PER_ROW * len(cells)):
        cells = cells.view(np.int64)
    else:
        _, cells = np.unique(cells, return_inverse=True)
    rows = np.bincount(cells)
    full = np.flatnonzero(rows)

    def spread(function, empty, values):
        result = np.full(len(rows), empty)
        function.at(result, cells, values)
        return result[full]

    def add(values):
        return np.bincount(cells, values, len(rows))[full]

    is_unit = np.count_nonzero(losses) == np.count_nonzero(losses == 1)
    least = largest = None
    if not is_unit:
        least = spread(np.minimum, np.inf, losses)
        largest = spread(np.maximum, -np.inf, losses)
    return CellTable(
        n_bits,
        spread(np.minimum, np.inf, scores),
        spread(np.maximum, -np.inf, scores),
        rows[full].astype(np.float64),
        add(losses if weight is None else losses * weight),
        None if weight is None else add(weight),
        least,
        largest,
    )


def add_tables(one, other):
    """Return the table of the samples of two tables with the same cells."""
    if not len(one) or not len(other):
        return one if len(one) else other
    tables = one, other
    cells = [table.cells for table in tables]
    union = np.union1d(*cells)
    places = [np.searchsorted(union, each) for each in cells]
    plain = {
        "weight": one.weight is None and other.weight is None,
        "least_loss": one.is_unit and other.is_unit,
        "largest_loss": one.is_unit and other.is_unit,
    }
    known = {"weight": "weights", "least_loss": "least", "largest_loss": "largest"}

    def gather(name, function):
        if plain.get(name):
            return None
        columns = [getattr(table, known.get(name, name)) for table in tables]
        joined = np.full(len(union), float(_EMPTY[function]))
        joined[places[0]] = columns[0]
        joined[places[1]] = function(joined[places[1]], columns[1])
        return joined

    return one.join(gather)


_EMPTY = {np.minimum: np.inf, np.maximum: -np.inf, np.add: 0.0}


def merge_near_cells(table):
    """Return the table with one entry for cells that near ties connect.

    No score of an entry is so close to one of another that a rule could take them for
    tied, see :func:`sklearn_reject._curves.tie_range`.
    """
    low, high = table.low[1:], table.high[:-1]
    sizes = np.maximum(np.abs(low), np.abs(high))
    # Twice as far as the ranges of two scores can reach.
    is_apart = low - high > 4 * TIE_TOLERANCE * sizes
    if is_apart.all():
        return table
    starts = np.flatnonzero(np.append(True, is_apart))

    def gather(name, function):
        column = getattr(table, name)
        return None if column is None else function.reduceat(column, starts)

    return table.join(gather)


def cells_of(scores, n_bits):
    """Return the cell of each score, an unsigned integer that grows with the score."""
    cells = float_keys(scores)
    cells >>= np.uint64(64 - n_bits)
    return cells


def lowest_of_cells(cells, n_bits):
    """Return the lowest score of each cell, minus infinity where that is no number."""
    keys = cells << np.uint64(64 - n_bits)
    is_positive = keys >> np.uint64(63) == 1
    bits = np.where(is_positive, keys ^ np.uint64(2**63), ~keys)
    scores = bits.view(np.float64)
    return np.where(np.isnan(scores), -np.inf, scores)
