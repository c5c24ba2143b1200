"""The order of samples under a direction that turns along an arc."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sklearn_reject.selection._window import find_window

# Points that overtake more others than all but this share of them are looked at by each
# pivot, so that few outliers do not make each pivot look at many points.
_FAR = 1e-3


@dataclass(frozen=True, eq=False)
class TurningOrder:
    """Points with scores s(c) = fixed - c * turning for slopes c between two.

    The points are in the order of s right above the lower slope.

    Attributes
    ----------
    fixed, turning : ndarray of shape (n_points,)
        Coordinates, all pairs different.

    sums : ndarray of shape (3, n_points)
        ID weight, OOD weight and loss of each point.

    always : ndarray of shape (3, 1)
        The same sums over what is accepted in any case.

    low, high : float
        The slopes.

    last_ranks : ndarray of shape (n_points,), dtype intp
        Rank of each point right below the upper slope.
    """

    fixed: np.ndarray
    turning: np.ndarray
    sums: np.ndarray
    always: np.ndarray
    low: float
    high: float
    last_ranks: np.ndarray

    def __len__(self):
        return len(self.fixed)

    @cached_property
    def ranks(self):
        """Ranks right above the lower slope."""
        return np.arange(len(self))

    @cached_property
    def before(self):
        """Sums over what is below each point at the lower slope."""
        return np.cumsum(self.sums, axis=1) - self.sums + self.always

    @cached_property
    def _moves(self):
        return np.abs(self.last_ranks - self.ranks)

    @cached_property
    def _usual_move(self):
        kept = len(self) - 1 - int(_FAR * len(self))
        return int(np.partition(self._moves, kept)[kept])

    @cached_property
    def far(self):
        """Points that pass others from farther away than `reach` says."""
        return np.flatnonzero(self._moves > self._usual_move)

    @cached_property
    def reach(self):
        """How far away in the order points may be that pass each point."""
        return self._moves + self._usual_move

    def boxes(self):
        """Return most ID weight, least OOD weight and least loss up to each point.

        Those that are on the same side of it at both slopes are so in between.
        """
        first = np.minimum(self.ranks, self.last_ranks)
        last = np.maximum(self.ranks, self.last_ranks)
        most = np.cumsum(np.bincount(first, self.sums[0], len(self)))[last]
        least = [
            np.append(0.0, np.cumsum(np.bincount(last, part, len(self))))[first]
            for part in self.sums[1:]
        ]
        return [a + s for a, s in zip(self.always[:, 0], [most, *least], strict=True)]


def make_order(plane, arc, problem, cut):
    """Return the order of the points at which good rules may end, and of those near.

    Parameters
    ----------
    plane : Plane
        The sample.

    arc : Arc
        The directions.

    problem : OODProblem
        What to minimise.

    cut : Cut or None
        The best that is known.

    Returns
    -------
    order : TurningOrder or None
        Samples of equal scores as one point, without those that all good rules accept
        or reject. None if there is no rule as good as the one known.
    """
    corners = [arc.coordinates(r, g) for r, g in plane.all_corners()]
    # Turned around the middle of the samples, they move as little as can be.
    centre = np.median(corners[0][1])
    window = find_window(plane, _ranges(corners, arc, centre), problem, cut)
    if window is None:
        return None
    rows = plane.rows_of(np.flatnonzero(window.around))
    fixed, turning = arc.coordinates(plane.risk[rows], plane.novelty[rows])
    ends = [fixed - slope * (turning - centre) for slope in (arc.low, arc.high)]
    is_below = np.maximum(*ends) < window.low
    near = np.flatnonzero(~is_below & (np.minimum(*ends) < window.high))
    if not len(near):
        return None  # what such a threshold accepts, a lower one does
    always = plane.sum_up(window.below, rows[is_below])
    sums = np.array(plane.sums_of(rows[near]))
    fixed, turning = fixed[near], turning[near]
    return _sort(fixed, turning, sums, [end[near] for end in ends], always, arc)


def _ranges(corners, arc, centre):
    """Return lower and upper bounds of the scores in each cell along an arc."""
    ends = [
        fixed - slope * (turning - centre)
        for fixed, turning in corners
        for slope in (arc.low, arc.high)
    ]
    return np.minimum.reduce(ends), np.maximum.reduce(ends)


def _sort(fixed, turning, sums, ends, always, arc):
    # Right above the lower slope, of equal scores that which falls faster is lower.
    order = np.lexsort((fixed, -turning, ends[0]))
    fixed, turning = fixed[order], turning[order]
    is_start = np.ones(len(order), dtype=bool)
    is_start[1:] = (fixed[1:] != fixed[:-1]) | (turning[1:] != turning[:-1])
    starts = np.flatnonzero(is_start)
    fixed, turning, last = fixed[starts], turning[starts], ends[1][order[starts]]
    last_ranks = np.empty(len(starts), np.intp)
    last_ranks[np.lexsort((fixed, turning, last))] = np.arange(len(starts))
    return TurningOrder(
        fixed,
        turning,
        np.add.reduceat(sums[:, order], starts, axis=1),
        np.reshape(always, (3, 1)),
        arc.low,
        arc.high,
        last_ranks,
    )
