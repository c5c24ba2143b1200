"""Samples counted in cells of their scores: tables that add up, and what they tell.

The cell of a score is its leading bits as a floating-point number, so that no range of
scores has to be known beforehand, and tables of the parts of a sample have the same
cells. With 22 bits a cell is as wide as a thousandth of its scores.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sklearn_reject._as_dict import DictMixin
from sklearn_reject._curves._cut import Cut, best_cut, within_risk
from sklearn_reject._curves._prefixes import (
    RELATIVE_TOLERANCE,
    Prefixes,
    starts_of_ties,
    tie_range,
)
from sklearn_reject._curves._risk_coverage import float_keys, mean_area, pair_area
from sklearn_reject._validation import take_weight

# Rows that are counted at a time: more would leave the cache, fewer merge more often.
_BATCH_SIZE = 2**19

# An array has all cells from the lowest to the highest where these are so few, or so
# few times as many as the rows.
_FEW_CELLS, _CELLS_PER_ROW = 2**12, 8

# The columns of a table, and what is known of two cells together.
_COLUMNS = {
    "low": np.minimum,
    "high": np.maximum,
    "rows": np.add,
    "weight": np.add,
    "loss": np.add,
    "least_loss": np.minimum,
    "largest_loss": np.maximum,
}


@dataclass(frozen=True, eq=False)
class CellTable(DictMixin):
    """What is known of the samples of each cell: float64 arrays of shape (n_cells,).

    Cells are in increasing order of their scores, which go from `low` to `high`. `loss`
    is the sum of the weighted losses. `has_weights` tells whether any sample was given
    one, and `is_unit` whether all losses are 0 or 1.
    """

    n_bits: int
    low: np.ndarray
    high: np.ndarray
    rows: np.ndarray
    weight: np.ndarray
    loss: np.ndarray
    least_loss: np.ndarray
    largest_loss: np.ndarray
    has_weights: bool
    is_unit: bool

    def continues(self, start):
        """Tell whether columns are of one length, and cells those of another table."""
        is_table = len({column.shape for column in self.columns}) == 1
        return is_table and self.low.ndim == 1 and self.n_bits == start.n_bits

    @classmethod
    def of(cls, scores, losses, weight, n_bits):
        """Count valid samples; `weight` is None for one each."""
        if weight is not None and not weight.all():
            present = weight > 0
            scores, losses, weight = scores[present], losses[present], weight[present]
        columns = [np.empty(0)] * len(_COLUMNS)
        table = cls(n_bits, *columns, has_weights=False, is_unit=True)
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

        def extremes(values):
            for function, of_none in ((np.minimum, np.inf), (np.maximum, -np.inf)):
                known = np.full(len(rows), of_none)
                function.at(known, cells, values)
                yield known[full]

        counts, has_weights = rows[full].astype(np.float64), weight is not None
        loss = np.bincount(cells, losses * weight if has_weights else losses)[full]
        weight = np.bincount(cells, weight)[full] if has_weights else counts
        is_unit = np.count_nonzero(losses) == np.count_nonzero(losses == 1)
        # Of losses of 0 and 1, the sums tell the least and the largest.
        least, largest = (loss >= weight, loss > 0) if is_unit else extremes(losses)
        columns = *extremes(scores), counts, weight, loss, least * 1.0, largest * 1.0
        return cls(n_bits, *columns, has_weights, is_unit)

    def __len__(self):
        return len(self.low)

    @property
    def columns(self):
        """The columns in their order."""
        return [getattr(self, name) for name in _COLUMNS]

    @property
    def given_weight(self):
        """The weight, None where all samples weigh one, as `sample_weight` is."""
        return self.weight if self.has_weights else None

    @property
    def edges(self):
        """Lowest score that each cell may hold, whether a sample has it."""
        bits = (self.low + 0.0).view(np.uint64)
        others = np.uint64(2 ** (64 - self.n_bits) - 1)
        return np.where(self.low < 0, bits | others, bits & ~others).view(np.float64)

    def __add__(self, other):
        """Return the table of the samples of both, which have the same cells."""
        if not len(self) or not len(other):
            return self if len(self) else other
        cells = _cells_of(np.append(self.low, other.low), self.n_bits)
        order = np.argsort(cells, kind="stable")
        is_first = starts_of_ties(cells[order])
        first, second = order[is_first], order[~is_first]
        places = np.cumsum(is_first)[~is_first] - 1
        columns = []
        pairs = zip(self.columns, other.columns, strict=True)
        for function, pair in zip(_COLUMNS.values(), pairs, strict=True):
            both = np.concatenate(pair)
            columns.append(both[first])
            columns[-1][places] = function(both[first[places]], both[second])
        flags = self.has_weights or other.has_weights, self.is_unit and other.is_unit
        return CellTable(self.n_bits, *columns, *flags)

    def join_near(self):
        """Return the table with one entry for cells that near ties connect.

        No score of an entry is so close to one of another that a rule could take them
        for tied, see :func:`sklearn_reject._curves._prefixes.tie_range`.
        """
        is_apart = tie_range(self.high[:-1])[1] < tie_range(self.low[1:])[0]
        if is_apart.all():
            return self
        starts = np.flatnonzero(np.append(True, is_apart))
        pairs = zip(_COLUMNS.values(), self.columns, strict=True)
        columns = (function.reduceat(column, starts) for function, column in pairs)
        return CellTable(self.n_bits, *columns, self.has_weights, self.is_unit)


def _cells_of(scores, n_bits):
    """Return the cell of each score, an unsigned integer that grows with the score."""
    return float_keys(scores) >> np.uint64(64 - n_bits)


class Cells(Prefixes):
    """The cells of a table as groups of samples, tied in those of one score only."""

    def __init__(self, table):
        if not len(table):
            raise ValueError(
                "The summary has no samples (of positive weight) yet. Update it first."
            )
        self.table = table
        super().__init__(table.high, weight=table.weight, loss=table.loss)
        self.is_tied = table.low == table.high

    def locate(self, positions):
        """Return the cell that each position, in weight, ends in."""
        wanted = positions * (1 - RELATIVE_TOLERANCE)
        cells = np.searchsorted(self.sums("weight")[1:], wanted)
        return np.minimum(cells, len(self) - 1)

    def as_whole(self, cut, *, up=False):
        """Return a cut without a share of a cell in which only few have its score."""
        if not cut.share or self.is_tied[cut.n_groups]:
            return cut
        return Cut(cut.n_groups + up)


class CellBounds(Cells):
    """Bounds of the prefixes of samples of which a table of cells is known.

    The weight of a cell and the sum of its losses are known, not their order inside of
    it. With losses from `least` to `largest`, the order that puts the small ones first
    has the lowest prefixes of any length, and the reverse the highest. So every sample
    with this table has values between those of these two, where the area is one of a
    density of losses along the cumulative weight: what it weighs never rises.

    Cells whose samples are tied, or have one loss, have a single order: in expectation,
    every prefix of a tie group has its share of the loss.
    """

    def __init__(self, table):
        if table.has_weights:  # harmonic sums read the total as a number of samples
            scale = table.rows.sum() / table.weight.sum()
            table = replace(table, weight=scale * table.weight, loss=scale * table.loss)
        super().__init__(table)
        table, (weights, losses) = self.table, map(self.columns.get, ("weight", "loss"))
        known = table.least_loss, table.largest_loss
        least, largest = np.where(self.is_tied, losses / weights, known)
        excess, width = losses - least * weights, largest - least
        # The weight that the largest losses have where all others are the least.
        heavy = np.divide(excess, width, out=np.zeros(len(self)), where=width > 0)
        heavy = np.clip(heavy, 0.0, weights)
        self.parts = np.array([weights - heavy, heavy])
        losses = self.parts * [least, largest]
        self.orders = [_chain(self.parts[::step], losses[::step]) for step in (1, -1)]
        # What weighs next to nothing is missed by differences: of sums, and those that
        # tell how much has the largest losses.
        missed, self.missed = 2.0**-48 * largest.max(), 2.0**-48 * weights * width
        # Rows were added up one after the other.
        self.rounding = max(RELATIVE_TOLERANCE, float(table.rows.max()) * 2**-52)
        self.least_slack = missed + self.rounding * losses.sum() / weights.sum()

    def areas(self, area=mean_area):
        """Return an area with cells in random order, and its bounds."""
        return self._widen(*map(area, (self, *self.orders)))

    def sele(self, ties):
        """Return what `sele_score` is with cells in random order, and its bounds."""
        found = self.areas(pair_area)
        if ties == "midrank":
            return found
        # A tie group counts in full: half of its weight on top for each unit of loss.
        losses, total = self.columns["loss"], self.total("weight")
        most = losses * self.columns["weight"] / 2
        single = 0.0 if self.table.has_weights else losses / 2
        least = np.where(self.is_tied, most, single)
        mean = np.where(self.is_tied, most, most / self.table.rows)
        added = [each.sum() / total / total for each in (mean, least, most)]
        return self._widen(*np.add(found, added))

    def risks(self, coverage, *, to_end=False):
        """Return the selective risks at coverages, and their bounds.

        With `to_end` the last tie group counts as a whole, whichever it is of the cell.
        """
        weights = self.sums("weight")
        positions = coverage * weights[-1]
        cells = self.locate(positions)
        ends = weights[cells + 1]
        first = np.minimum(positions, ends)
        value, places = _risks_at(self, first), [first]
        if to_end:
            first = np.where(self.is_tied[cells], ends, first)
            # In between, both bounds are quotients of linear functions up to where the
            # order of the losses turns, and from there on: they are largest and
            # smallest at these places.
            turns = weights[cells] + self.parts[:, cells]
            places = [np.clip(place, first, ends) for place in (first, *turns, ends)]
        low, high = ([_risks_at(each, at) for at in places] for each in self.orders)
        missed = self.missed[cells] / first
        low, high = np.min(low, axis=0) - missed, np.max(high, axis=0) + missed
        return self._widen(value, low, high)

    def coverage_at(self, risk, randomize):
        """Return the largest coverage within a risk, and its bounds."""
        total = self.total("weight")
        cut = self.as_whole(best_cut(self, within_risk(risk), randomize))
        value = self.at("weight", *cut) / total
        # Up to the end of the last cell that may end within: randomized, of a tie group
        # that follows, too.
        best, _ = self.orders
        cut = best_cut(best, within_risk(risk * (1 + self.rounding)))
        high = best.at("weight", *cut) / total
        if high == 0:
            value = high = float("nan")
        low, high = value - self.rounding, high + self.rounding
        return value, max(low, 0.0), min(high, 1.0)

    def _widen(self, value, low, high):
        """Return a value and bounds of it that allow for rounding, none below zero."""
        slack = self.rounding * high + self.least_slack
        low, high = np.maximum(low - slack, 0.0), high + slack
        return np.clip(value, low, high), low, high


def _chain(weights, losses):
    """Return the prefixes of cells in parts that follow each other, some of them none.

    Both have the shape (n_parts, n_cells).
    """
    weights, losses = weights.T.ravel(), losses.T.ravel()
    some = np.flatnonzero(weights)
    return Prefixes(some, weight=weights[some], loss=losses[some])


def _risks_at(prefixes, positions):
    """Return the mean losses up to positions in weight."""
    sums = np.interp(positions, prefixes.sums("weight"), prefixes.sums("loss"))
    return sums / positions
