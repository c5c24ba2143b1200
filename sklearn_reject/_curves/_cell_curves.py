"""Curves and areas of samples that are known by their table of cells."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from sklearn_reject._curves._cut import best_cut, within_risk
from sklearn_reject._curves._prefixes import RELATIVE_TOLERANCE, Prefixes
from sklearn_reject._curves._risk_coverage import weigh_losses
from sklearn_reject._interval import Interval
from sklearn_reject._validation import (
    check_count,
    check_number,
    check_option,
    check_vector,
)

# Weighted losses below this have lost digits, or vanished.
_LEAST_LOSS = 1e-305


class CellCurves:
    """Curves and areas of what a table of cells, `_table`, has counted."""

    @property
    def n_samples(self) -> int:
        """Number of samples with positive weight."""
        return int(self._table.rows.sum())

    def aurc(self) -> Interval:
        """Return the area under the risk-coverage curve. Lower is better.

        That of :func:`~sklearn_reject.metrics.aurc_score` with
        ``interpolation="mean"``.

        Returns
        -------
        area : Interval
            The area that cells in random order have, and an interval that always
            contains that of the samples.

        Raises
        ------
        ValueError
            If there are no samples.
        """
        return self._interval(*self._bounds().aurc())

    def augrc(self) -> Interval:
        """Return the area under the generalized risk-coverage curve. Lower is better.

        That of :func:`~sklearn_reject.metrics.augrc_score`.

        Returns
        -------
        area : Interval
            The area that cells in random order have, and an interval that always
            contains that of the samples.

        Raises
        ------
        ValueError
            If there are no samples.
        """
        return self.sele(ties="midrank")

    def sele(self, *, ties: Literal["inclusive", "midrank"] = "inclusive") -> Interval:
        """Return the SELE statistic. Lower is better.

        That of :func:`~sklearn_reject.metrics.sele_score`.

        Parameters
        ----------
        ties : {"inclusive", "midrank"}, default="inclusive"
            Whether a pair of tied samples, a sample with itself included, counts in
            full as in the paper, or one half.

        Returns
        -------
        value : Interval
            The value that cells in random order have, and an interval that always
            contains that of the samples.

        Raises
        ------
        ValueError
            If there are no samples.
        """
        check_option(ties, "ties", ("inclusive", "midrank"))
        return self._interval(*self._bounds().pairs(inclusive=ties == "inclusive"))

    def selective_risk_at_coverage(
        self, coverage: float, *, randomize: bool = False
    ) -> Interval:
        """Return the risk at the smallest threshold that reaches a coverage.

        That of :func:`~sklearn_reject.metrics.selective_risk_at_coverage_score`. Lower
        is better.

        Parameters
        ----------
        coverage : float in ]0, 1]
            Share of the samples to accept.

        randomize : bool, default=False
            If False, the whole tie group at the threshold is accepted. If True, the
            share of that group is accepted that makes the coverage exact.

        Returns
        -------
        risk : Interval
            The risk that a cell in random order has, and an interval that always
            contains that of the samples.

        Raises
        ------
        ValueError
            If `coverage` is not in ]0, 1], or there are no samples.
        """
        coverage = check_number(coverage, "coverage", high=1.0, open_low=True)
        check_option(randomize, "randomize", (True, False))
        found = self._bounds().risks([coverage], up_to_end=not randomize)
        return self._interval(*np.concatenate(found))

    def coverage_at_risk(self, risk: float, *, randomize: bool = False) -> Interval:
        """Return the largest coverage whose selective risk stays within a bound.

        That of :func:`~sklearn_reject.metrics.coverage_at_risk_score`. Higher is
        better.

        Parameters
        ----------
        risk : float >= 0
            Largest selective risk, in units of the loss.

        randomize : bool, default=False
            If False, tie groups are accepted as a whole or not at all. If True, a
            share of the one that would exceed the risk is accepted.

        Returns
        -------
        coverage : Interval
            The coverage up to the last cell within the risk, and an interval that
            always contains that of the samples. NaN where no threshold keeps the risk,
            and 0 as the lower end where maybe none does.

        Raises
        ------
        ValueError
            If `risk` is negative, or there are no samples.
        """
        risk = check_number(risk, "risk")
        check_option(randomize, "randomize", (True, False))
        bounds = self._bounds()
        n_groups, share = best_cut(bounds.cells, within_risk(risk), randomize)
        # In cells whose samples differ, a share would be of a score that few have.
        if share and not bounds.is_tied[n_groups]:
            share = 0.0
        value = bounds.cells.at("weight", n_groups, share) / bounds.total
        # Up to the end of the last cell that may end within: randomized, of a tie group
        # that follows, too.
        parts = bounds.order_cells(largest_first=0)
        starts, weights, losses = (part.T.ravel() for part in parts)
        best = Prefixes(starts, weight=weights, loss=losses)
        rounding = bounds.rounding
        cut = best_cut(best, within_risk(risk * (1 + rounding)))
        high = best.at("weight", *cut) / bounds.total
        if high == 0:
            value = high = float("nan")
        low, high = max(value - rounding, 0.0), min(high + rounding, 1.0)
        return self._interval(value, low, high)

    def risk_coverage_curve(
        self, *, max_points: int = 1000
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return points of the risk-coverage curve between cells, which are exact.

        Those of :func:`~sklearn_reject.metrics.risk_coverage_curve`, fewer of them.

        Parameters
        ----------
        max_points : int >= 1, default=1000
            Largest number of points, spread evenly over the coverage.

        Returns
        -------
        coverage : ndarray of shape (n_points,)
            Weighted share of accepted samples, increasing up to 1.

        risk : ndarray of shape (n_points,)
            Weighted mean loss of the accepted samples, in units of the loss.

        thresholds : ndarray of shape (n_points,)
            Scores up to which samples are accepted, increasing.

        Raises
        ------
        ValueError
            If `max_points` is no positive int, or there are no samples.
        """
        check_count(max_points, "max_points")
        bounds = self._bounds()
        sums, ends = bounds.sums, bounds.ends
        cells = np.arange(len(ends))
        if len(cells) > max_points:
            wanted = np.arange(1, max_points + 1) / max_points
            cells = np.unique(bounds.locate(wanted * ends[-1]))
        coverage, risk = ends[cells] / ends[-1], sums[cells] / ends[cells]
        return coverage, risk, bounds.cells.scores[cells]

    def risk_coverage_band(self, coverage: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        """Return a band that always contains the risk-coverage curve.

        Parameters
        ----------
        coverage : array-like of shape (n_points,)
            Coverages in ]0, 1], reached exactly: tie groups are accepted in part.

        Returns
        -------
        low, high : ndarray of shape (n_points,)
            Lower and upper bound of the selective risk.

        Raises
        ------
        ValueError
            If a coverage is not in ]0, 1], or there are no samples.
        """
        coverage = check_vector(coverage, "coverage")
        if coverage.min() <= 0 or coverage.max() > 1:
            raise ValueError(
                f"coverage must be in ]0, 1], got numbers from {coverage.min():g} to "
                f"{coverage.max():g}."
            )
        _, low, high = self._bounds().risks(coverage, up_to_end=False)
        return low, high

    def _cells(self):
        """Return the table, which has at least one sample, or raise."""
        table = self._table
        if not len(table):
            raise ValueError(
                "The summary has no samples (of positive weight) yet. Update it first."
            )
        # Products of weights and losses may be too small for a float.
        has_vanished = table.weight is not None and table.loss.sum() <= _LEAST_LOSS
        if has_vanished and (largest := table.filled().largest_loss.max()) > 0:
            raise ValueError(
                f"losses of at most {largest:g} have sample_weight that is "
                "so small that products underflow. Use larger weights in all parts, or "
                "losses in a smaller unit."
            )
        return table

    def _bounds(self):
        return _CellBounds(self._cells())

    def _interval(self, value, low, high):
        return Interval(float(value), float(low), float(high), self.n_samples)


class _CellBounds:
    """Bounds of the prefixes of a table: arrays of shape (n_cells,).

    The weight of a cell and the sum of its losses are known, not their order inside of
    it. With losses from `least` to `largest`, the order that puts the small ones first
    has the lowest prefixes of any length, and the reverse the highest. So every sample
    with this table has values between those of these two, where the area is one of a
    density of losses along the cumulative weight: what it weighs never rises.

    Cells whose samples are tied, or have one loss, have a single order: in expectation,
    every prefix of a tie group has its share of the loss.
    """

    def __init__(self, table):
        self.has_weights, table = table.weight is not None, table.filled()
        self.rows, self.weights, self.losses = table.rows, table.weight, table.loss
        self.cells = Prefixes(table.high, weight=self.weights, loss=self.losses)
        weights, losses = self.cells.sums("weight"), self.cells.sums("loss")
        self.starts, self.ends, self.total = weights[:-1], weights[1:], weights[-1]
        self.loss_before, self.sums = losses[:-1], losses[1:]
        self.is_tied = table.low == table.high
        # Rows were added up one after the other.
        self.rounding = max(RELATIVE_TOLERANCE, float(self.rows.max()) * 2**-52)
        least, largest = table.least_loss, table.largest_loss
        mean = self.losses / self.weights
        is_exact = self.is_tied | (least == largest)
        # Rounding may put the mean outside of the two.
        self.least = np.where(is_exact, mean, np.minimum(least, mean))
        self.largest = np.where(is_exact, mean, np.maximum(largest, mean))
        excess = self.losses - self.least * self.weights
        width = self.largest - self.least
        # The weight that the largest losses have where all others are the least.
        self.heavy = np.divide(excess, width, out=np.zeros(len(mean)), where=width > 0)
        np.clip(self.heavy, 0.0, self.weights, out=self.heavy)

    def order_cells(self, largest_first):
        """Return starts, weights and losses of the least and the largest of each cell.

        Each has shape (2, n_cells).
        """
        weights = np.array([self.weights - self.heavy, self.heavy])
        losses = weights * [self.least, self.largest]
        starts = np.array([self.starts, self.starts])
        starts[1 - largest_first] += weights[largest_first]
        return starts, weights, losses

    def locate(self, positions):
        """Return the cell that each position, in weight, ends in."""
        wanted = np.asarray(positions) * (1 - RELATIVE_TOLERANCE)
        return np.minimum(np.searchsorted(self.ends, wanted), len(self.ends) - 1)

    def aurc(self):
        """Return what `aurc_score` is with cells in random order, and its bounds."""
        # Harmonic sums read the total weight as a number of samples.
        n_samples = float(self.rows.sum())
        scale = n_samples / self.total

        def area(*groups):
            return weigh_losses(n_samples, *(each * scale for each in groups))

        return self._bound_area(area)

    def pairs(self, *, inclusive):
        """Return what `sele_score` is with cells in random order, and its bounds."""
        total = self.total

        def area(starts, weights, losses):
            after = total - (starts + 0.5 * weights)
            return float((losses / total) @ (after / total))

        found = self._bound_area(area)
        if not inclusive:
            return found
        # A tie group counts in full: half of its weight on top for each unit of loss.
        most = self.losses * self.weights / 2
        single = 0.0 if self.has_weights else self.losses / 2
        least = np.where(self.is_tied, most, single)
        mean = np.where(self.is_tied, most, most / self.rows)
        added = [each.sum() / total / total for each in (mean, least, most)]
        return self._widen(*np.add(found, added))

    def _bound_area(self, area):
        """Return an area from starts, weights and losses of groups, and its bounds."""
        found = [area(self.starts, self.weights, self.losses)]
        for largest_first in (0, 1):
            parts = self.order_cells(largest_first)
            some = np.flatnonzero(parts[1])
            found.append(area(*(part.ravel()[some] for part in parts)))
        return self._widen(*found)

    def risks(self, coverages, *, up_to_end):
        """Return the selective risks at coverages, and their bounds.

        `up_to_end` takes the last tie group as a whole, whichever it is of the cell.
        """
        positions = np.asarray(coverages) * self.total
        cells = self.locate(positions)
        starts, ends = self.starts[cells], self.ends[cells]
        weights, heavy = self.weights[cells], self.heavy[cells]
        first = np.minimum(positions, ends)
        inside = first - starts
        loss = self.loss_before[cells] + self.losses[cells] * inside / weights
        value, places = loss / (starts + inside), [first]
        if up_to_end:
            first = np.where(self.is_tied[cells], ends, first)
            # In between, both bounds are quotients of linear functions up to where the
            # order of the losses turns, and from there on: they are largest and
            # smallest at these places.
            turns = starts + (weights - heavy), starts + heavy
            places = [np.clip(place, first, ends) for place in (first, *turns, ends)]
        bounds = [np.divide(self._sums_at(cells, place), place) for place in places]
        low, high = np.min(bounds, axis=0)[0], np.max(bounds, axis=0)[1]
        return self._widen(value, low, high)

    def _sums_at(self, cells, positions):
        """Return the least and the largest loss up to positions, each in a cell."""
        weights, heavy = self.weights[cells], self.heavy[cells]
        # Where a cell weighs next to nothing, differences of sums may be more than it.
        inside = np.clip(positions - self.starts[cells], 0.0, weights)
        inside = np.where(positions >= self.ends[cells], weights, inside)
        light = np.minimum(inside, weights - heavy), np.maximum(inside - heavy, 0.0)
        least, largest = self.least[cells], self.largest[cells]
        losses = least * light + largest * (inside - light)
        # How much has the largest losses is a difference: it misses what weighs far
        # less than the rest of the cell.
        missed = np.where(least < largest, 2.0**-50 * largest * weights, 0.0)
        return self.loss_before[cells] + losses + np.array([-missed, missed])

    def _widen(self, value, low, high):
        """Return a value and bounds of it that allow for rounding, none below zero."""
        mean_loss = self.sums[-1] / self.total
        slack = self.rounding * (high + mean_loss)
        low, high = np.maximum(low - slack, 0.0), high + slack
        return np.clip(value, low, high), low, high
