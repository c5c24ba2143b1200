"""The best threshold of all directions."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from joblib import effective_n_jobs
from sklearn.utils.parallel import Parallel, delayed

from sklearn_reject.selection._one_score import Cut, find_best_cut, may_match
from sklearn_reject.selection._sweep_grid import (
    RESOLUTION,
    find_window,
    search_direction,
)

# What a pivot costs beside the points that pass it, in points.
_PIVOT = 1000


# What sorting for an arc costs a sample, in points that pass a pivot.
_ORDER = 16


# Where so many do not help, many rules are as good as the best one known.
_MOST_NARROWINGS = 20


# Parts of each arc, before any is cut in halves.
_N_PARTS = 4


@dataclass(frozen=True)
class Solution:
    """A cut and the weights of risk and novelty that lead to it."""

    cut: Cut | None
    weights: tuple

    def beats(self, other, problem):
        """Tell if the cut is better or, where they are equal, the angle smaller."""
        if self.cut is None:
            return False
        if self.cut.beats(other.cut, problem):
            return True
        return not other.cut.beats(self.cut, problem) and self._angle < other._angle

    @property
    def _angle(self):
        risk_weight, novelty_weight = self.weights
        return np.arctan2(novelty_weight, risk_weight)


def sweep_arcs(plane, arcs, known, problem, randomize, n_jobs=None):
    """Return the best of all directions of some arcs, and of what is known.

    Directions at which different points happen to tie are not among them: what may be
    accepted there without a draw is accepted beside them, too.
    """
    if not len(plane.risk):
        return known
    arcs = [part for arc in arcs for part in arc.split(_N_PARTS)]
    n_jobs = min(effective_n_jobs(n_jobs), len(arcs))
    found = Parallel(n_jobs=n_jobs)(
        delayed(_sweep_some)(plane, arcs[job::n_jobs], known, problem, randomize)
        for job in range(n_jobs)
    )
    for solution in found:
        known = solution if solution.beats(known, problem) else known
    return known


def _sweep_some(plane, arcs, known, problem, randomize):
    waiting = arcs[::-1]
    while waiting:
        arc = waiting.pop()
        if arc.is_point:
            # Where all samples tie, no halving leaves fewer that pass each other, and
            # what tells them apart is rounding.
            continue
        order = make_order(plane, arc, problem, known.cut)
        if order is None:
            continue
        pivots = _promising_pivots(order, known.cut, problem)
        if _is_too_long(order, pivots):
            waiting += arc.split(2)[::-1]
        else:
            known = _search(plane, order, arc, pivots, known, problem, randomize)
    return known


def sweep_near(plane, arc, known, problem, randomize, *, budget):
    """Return the best of the directions near the best that is known.

    `arc` is around that one, and shortened where its pivots together would look at more
    points than `budget`.
    """
    slope = arc.slope(known.weights)
    for _ in range(_MOST_NARROWINGS):
        order = make_order(plane, arc, problem, known.cut)
        if order is None:
            break
        pivots = _promising_pivots(order, known.cut, problem)
        cost = _cost(order, pivots)
        if cost <= budget:
            return _search(plane, order, arc, pivots, known, problem, randomize)
        # Half as long an arc has half the pivots and half as many points a pivot.
        arc = arc.around(slope, min(0.5, 0.8 * (budget / cost) ** 0.5))
    return known


def _promising_pivots(order, cut, problem):
    """Return the ID points at which a rule may end that is as good as a known cut."""
    possible = may_match(cut, problem, *order.boxes())
    return np.flatnonzero(possible & (order.sums[0] > 0))


def _cost(order, pivots):
    """Return what it costs to look at some pivots, in points that pass them."""
    points = 2 * int(order.reach[pivots].sum()) + len(pivots) * len(order.far)
    return points + _PIVOT * len(pivots)


def _is_too_long(order, pivots):
    """Tell if halving the arc is worth two more orders."""
    points = _cost(order, pivots) - _PIVOT * len(pivots)
    return points > max(_PIVOT * len(pivots), 4 * _ORDER * len(order))


def _search(plane, order, arc, pivots, known, problem, randomize):
    """Return the best of the cuts at some pivots and of what is known."""
    for pivot in pivots.tolist():
        found = find_pivot_cut(order, pivot, problem, known.cut, randomize)
        if found is None:
            continue
        weights = arc.weights(found[1])
        if Solution(found[0], weights).beats(known, problem):
            # Rounding may tie points, or order them in another way: what counts is
            # what the weights lead to.
            known = _try(plane, weights, known, problem, randomize)
    return known


def _try(plane, weights, known, problem, randomize):
    """Return the best cut of a direction, or what is known if that is better."""
    cut = search_direction(plane, weights, problem, known.cut, randomize)
    solution = Solution(cut, weights)
    return solution if solution.beats(known, problem) else known


# Points that overtake more others than all but this share of them are looked at by each
# pivot, so that few outliers do not make each pivot look at many points.
_FAR = 1e-3


@dataclass(frozen=True, eq=False)
class TurningOrder:
    """Points with scores s(c) = fixed - c * turning for slopes c between low and high.

    All points differ, and are in the order of s right above the lower slope;
    `last_ranks` are their ranks right below the upper one. `sums`, of shape (3,
    n_points), holds ID weight, OOD weight and loss; `always` the same of what is
    accepted in any case.
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

    Samples of equal scores are one point; those that all good rules accept or reject
    are left out. None if there is no rule as good as the one known.
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


def find_pivot_cut(order, pivot, problem, cut, randomize):
    """Return the best cut at a pivot and a slope for it, None if worse than known.

    The slope is in the middle of those at which the cut is possible.
    """
    slopes, added = _passing(order, pivot)
    below = np.empty((3, len(slopes) + 1))
    below[:, 0] = order.before[:, pivot]
    np.cumsum(added, axis=1, out=below[:, 1:])
    below[:, 1:] += below[:, :1]
    own = order.sums[:, pivot]
    worthwhile = may_match(cut, problem, below[0] + own[0], below[1], below[2])
    states = np.flatnonzero(worthwhile)
    if not len(states):
        return None
    edges = np.concatenate([[order.low], slopes, [order.high]])
    states = states[_are_apart(edges, states)]
    after = [b[states] + o for b, o in zip(below, own, strict=True)]
    found = find_best_cut(problem, after, own, randomize)
    if found is None:
        return None
    state = states[found.index]
    return found, float(edges[state] + edges[state + 1]) / 2


def _passing(order, pivot):
    """Return increasing slopes at which points pass a pivot, and the sums that adds.

    The sums, of shape (3, n_passing), are negative where a point leaves.
    """
    rows = _rows_near(order, pivot)
    run = order.turning[rows] - order.turning[pivot]
    rise = order.fixed[rows] - order.fixed[pivot]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        slopes = rise / run
    # From above come those whose score falls faster than that of the pivot.
    passes = (slopes < order.high) & np.where(rows < pivot, run < 0, run > 0)
    moving = np.flatnonzero(passes)
    moving = moving[np.argsort(slopes[moving])]
    added = order.sums[:, rows[moving]] * np.sign(run[moving])
    return np.maximum(slopes[moving], order.low), added


def _rows_near(order, pivot):
    """Return the points that may pass, and the pivot itself."""
    reach = order.reach[pivot]
    first, last = max(0, pivot - reach), min(pivot + reach + 1, len(order))
    rows, far = order.ranks[first:last], order.far
    outside = far[(far < first) | (far >= last)]
    return np.append(rows, outside) if len(outside) else rows


def _are_apart(edges, states):
    """Tell between which slopes there are directions, but for rounding."""
    low, high = edges[states], edges[states + 1]
    size = np.maximum(np.abs(low), np.abs(high))
    return high - low > RESOLUTION * size
