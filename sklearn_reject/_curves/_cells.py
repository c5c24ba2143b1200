"""Samples counted in cells of their scores: tables that add up.

The cell of a score is its leading bits as a floating-point number, so that no range of
scores has to be known beforehand, and tables of the parts of a sample have the same
cells. With 22 bits a cell is as wide as a thousandth of its scores.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from sklearn_reject._as_dict import DictMixin
from sklearn_reject._curves._prefixes import TIE_TOLERANCE, starts_of_ties
from sklearn_reject._validation import take_weight


def cut_into_cells(scores, n_bits, *, most_shared):
    """Return an increasing map from scores to cells below ``2**n_bits``, or None.

    At most `most_shared` others may share the cell of a sample, on average. Cells of
    equal width are tried first. Scores that pile up near zero, as those of a confident
    classifier do, are told apart by cells that are even in the floating-point
    representation, so about as wide as the score is large.
    """
    some = scores[:: max(1, len(scores) >> 15)]  # enough to see where they are dense
    for keys in (np.asarray, _float_keys):
        low, high = keys(np.array([scores.min(), scores.max()]))
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            scale = (2**n_bits - 1) / (high - low)
        if 0 < scale < np.inf:  # else constant or infinite, or as wide as floats get
            cut = partial(_cut_evenly, keys, low, scale)
            _, counts = np.unique(cut(some), return_counts=True)
            pairs = counts @ (counts - 1) / len(some) ** 2
            if pairs * len(scores) <= most_shared:
                return cut
    return None


def _cut_evenly(keys, low, scale, scores):
    """Return the cells of scores, of equal width in their keys from the lowest on."""
    return ((keys(scores) - low) * scale).astype(np.int64)


def _float_keys(values):
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

# The columns of a table, and what is known of two cells together.
_COLUMNS = {
    "low": np.minimum,
    "high": np.maximum,
    "rows": np.add,
    "loss": np.add,
    "weight": np.add,
    "least_loss": np.minimum,
    "largest_loss": np.maximum,
}

# What is known of no sample.
_OF_NONE = {np.minimum: np.inf, np.maximum: -np.inf}


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

    @classmethod
    def of(cls, scores, losses, weight, n_bits):
        """Count valid samples; `weight` is None for one each."""
        if weight is not None and not weight.all():
            present = weight > 0
            scores, losses, weight = scores[present], losses[present], weight[present]
        table = cls(n_bits, *[np.empty(0)] * 4)
        for start in range(0, len(scores), _BATCH_SIZE):
            batch = slice(start, start + _BATCH_SIZE)
            some = scores[batch], losses[batch], take_weight(weight, batch)
            table += cls._of_batch(*some, n_bits)
        return table

    @classmethod
    def _of_batch(cls, scores, losses, weight, n_bits):
        cells = _cells_of(scores, n_bits)
        cells -= cells.min()
        if cells.max() < max(_FEW_CELLS, _CELLS_PER_ROW * len(cells)):
            cells = cells.view(np.int64)
        else:
            _, cells = np.unique(cells, return_inverse=True)
        rows = np.bincount(cells)
        full = np.flatnonzero(rows)
        columns = {"low": scores, "high": scores, "loss": losses}
        if weight is not None:
            columns |= {"loss": losses * weight, "weight": weight}
        if np.count_nonzero(losses) != np.count_nonzero(losses == 1):
            columns |= {"least_loss": losses, "largest_loss": losses}

        def gather(function, values):
            if function is np.add:  # slower than this where many rows share a cell
                known = np.bincount(cells, values, len(rows))
            else:
                known = np.full(len(rows), _OF_NONE[function])
                function.at(known, cells, values)
            return known[full]

        columns = {name: gather(_COLUMNS[name], columns[name]) for name in columns}
        return cls(n_bits, rows=rows[full].astype(np.float64), **columns)

    def __len__(self):
        return len(self.low)

    @property
    def columns(self):
        """The columns that there are, by name."""
        known = {name: getattr(self, name) for name in _COLUMNS}
        return {name: column for name, column in known.items() if column is not None}

    @property
    def cells(self):
        """Number of each cell, which grows with its scores."""
        return _cells_of(self.low, self.n_bits)

    @property
    def edges(self):
        """Lowest score that each cell may hold, if finite, whether a sample has it."""
        bits = (self.low + 0.0).view(np.uint64)
        others = np.uint64(2 ** (64 - self.n_bits) - 1)
        return np.where(self.low < 0, bits | others, bits & ~others).view(np.float64)

    def filled(self):
        """Return the table with all columns."""
        weight = self.rows if self.weight is None else self.weight
        least, largest = self.least_loss, self.largest_loss
        if least is None:
            least = (self.loss >= weight).astype(np.float64)
            largest = (self.loss > 0).astype(np.float64)
        return replace(self, weight=weight, least_loss=least, largest_loss=largest)

    def __add__(self, other):
        """Return the table of the samples of both, which have the same cells."""
        if not len(self) or not len(other):
            return self if len(self) else other
        cells = np.append(self.cells, other.cells)
        order = np.argsort(cells, kind="stable")
        known = self.filled().columns, other.filled().columns
        columns = {
            name: np.concatenate([each[name] for each in known])[order]
            for name in self.columns | other.columns
        }
        return _join(self.n_bits, columns, starts_of_ties(cells[order]))

    def join_near(self):
        """Return the table with one entry for cells that near ties connect.

        No score of an entry is so close to one of another that a rule could take them
        for tied, see :func:`sklearn_reject._curves._ties.tie_range`.
        """
        low, high = self.low[1:], self.high[:-1]
        sizes = np.maximum(np.abs(low), np.abs(high))
        # Twice as far as the ranges of two scores can reach.
        is_apart = low - high > 4 * TIE_TOLERANCE * sizes
        if is_apart.all():
            return self
        return _join(self.n_bits, self.columns, np.append(True, is_apart))

    def check(self):
        """Raise unless the columns go together, and are those of samples."""
        lengths = {len(column) for column in self.columns.values()}
        has_both = (self.least_loss is None) == (self.largest_loss is None)
        if len(lengths) > 1 or not has_both or not self.filled()._is_of_samples():
            raise ValueError(
                "cells must have columns of one length, with increasing scores and the "
                "losses and weights of one sample or more each. Write them with "
                "`to_dict`."
            )

    def _is_of_samples(self):
        rows, weight, loss, cells = self.rows, self.weight, self.loss, self.cells
        least, largest, slack = self.least_loss, self.largest_loss, _ROUNDING * loss
        return (
            np.isfinite((rows, weight, loss, largest)).all()
            and (self.low <= self.high).all()
            and (cells[1:] > cells[:-1]).all()
            and (cells == _cells_of(self.high, self.n_bits)).all()
            and ((rows >= 1) & (rows == np.floor(rows)) & (weight > 0)).all()
            and ((least >= 0) & (least * weight <= loss + slack)).all()
            and (loss <= largest * weight + slack).all()
        )


def _join(n_bits, columns, is_start):
    """Return the table of columns in which some entries start a cell each."""
    starts = np.flatnonzero(is_start)
    return CellTable(
        n_bits,
        **{
            name: _COLUMNS[name].reduceat(column, starts)
            for name, column in columns.items()
        },
    )


def _cells_of(scores, n_bits):
    """Return the cell of each score, an unsigned integer that grows with the score."""
    cells = _float_keys(scores)
    cells >>= np.uint64(64 - n_bits)
    return cells
