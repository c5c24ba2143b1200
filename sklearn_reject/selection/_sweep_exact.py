"""The best threshold of all directions."""

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from joblib import effective_n_jobs
from sklearn.utils.parallel import Parallel, delayed

from sklearn_reject._curves import starts_of_ties
from sklearn_reject.selection._one_score import find_best_cut, may_match
from sklearn_reject.selection._sweep_grid import (
    RESOLUTION,
    find_rows,
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


# Points that overtake more others than all but this share of them are looked at by each
# pivot, so that few outliers do not make each pivot look at many points.
_FAR = 1e-3


# So near to a single score, no slope is worth a closer look.
_SMALLEST = 1e-200


@dataclass(frozen=True)
class Arc:
    """Directions of the order of s(c) = fixed - c * turning, for c in [low, high].

    `kind` is the score that is fixed, with weight 1: "risk" or "novelty"; "reversed" is
    the risk with weight -1.
    """

    kind: str
    low: float
    high: float

    def coordinates(self, risk, novelty):
        """Return fixed and turning."""
        if self.kind == "novelty":
            return novelty, risk
        return (risk if self.kind == "risk" else -risk), -novelty

    def weights(self, slope):
        """Return the weights of risk and novelty at a slope."""
        if self.kind != "novelty":
            return (1.0 if self.kind == "risk" else -1.0), slope
        if slope == 0:
            return 0.0, 1.0
        return (1.0 if slope < 0 else -1.0), 1 / abs(slope)

    def split(self, n_parts):
        """Return parts of equal length."""
        edges = np.linspace(self.low, self.high, n_parts + 1).tolist()
        return [Arc(self.kind, low, high) for low, high in pairwise(edges)]


def arc_around(angle, step, ratio):
    """Return the arc of angles in [0, pi] that differ from one by at most a step."""
    step = min(step, np.pi / 8)
    low, high = max(0.0, angle - step), min(np.pi, angle + step)
    if abs(np.cos(angle)) <= np.sin(angle):
        return Arc("novelty", *(float(-1 / (np.tan(a) * ratio)) for a in (low, high)))
    if angle < np.pi / 2:
        return Arc("risk", *(float(np.tan(a) * ratio) for a in (low, high)))
    return Arc("reversed", *(float(np.tan(np.pi - a) * ratio) for a in (high, low)))


def sweep_all(plane, known, problem, randomize, n_jobs=None):
    """Return the best cut of all directions, and of what is known.

    Directions at which different points happen to tie are not among them: what may be
    accepted there without a draw is accepted beside them, too.
    """
    if not len(plane.risk):
        return known
    arcs = [
        Arc("risk", 0.0, plane.ratio),
        Arc("novelty", -1 / plane.ratio, 1 / plane.ratio),
        Arc("reversed", 0.0, plane.ratio),
    ]
    arcs = [part for arc in arcs for part in arc.split(_N_PARTS)]
    n_jobs = min(effective_n_jobs(n_jobs), len(arcs))
    found = Parallel(n_jobs=n_jobs)(
        delayed(_sweep_some)(plane, arcs[job::n_jobs], known, problem, randomize)
        for job in range(n_jobs)
    )
    for cut in found:
        if cut is not None and cut.beats(known, problem):
            known = cut
    return known


def _sweep_some(plane, arcs, known, problem, randomize):
    """Return the best cut of some arcs, cut in halves where that saves time."""
    waiting = arcs[::-1]
    while waiting:
        arc = waiting.pop()
        size = max(abs(arc.low), abs(arc.high))
        if arc.high - arc.low <= max(RESOLUTION * size, _SMALLEST):
            # Where all samples tie, no halving leaves fewer that pass each other, and
            # what tells them apart is rounding.
            continue
        order = make_order(plane, arc, problem, known)
        if order is None:
            continue
        # Halving the arc takes two more orders.
        worth = max(_PIVOT * len(order.pivots), 4 * _ORDER * len(order.fixed))
        if order.n_looked_at > worth:
            waiting += arc.split(2)[::-1]
        else:
            known = search_pivots(plane, order, known, problem, randomize)
    return known


def sweep_near(plane, arc, known, problem, randomize, *, budget):
    """Return the best of the directions near the best that is known.

    `arc` is around that one, and shortened where its pivots together would look at more
    points than `budget`.
    """
    risk_weight, slope = known.weights
    if arc.kind == "novelty":
        slope = -risk_weight / slope
    for _ in range(_MOST_NARROWINGS):
        order = make_order(plane, arc, problem, known)
        if order is None:
            break
        cost = order.n_looked_at + _PIVOT * len(order.pivots)
        if cost <= budget:
            return search_pivots(plane, order, known, problem, randomize)
        # Half as long an arc has half the pivots and half as many points a pivot.
        share = min(0.5, 0.8 * (budget / cost) ** 0.5)
        low = slope - share * (slope - arc.low)
        arc = replace(arc, low=low, high=slope + share * (arc.high - slope))
    return known


@dataclass(frozen=True, eq=False)
class TurningOrder:
    """Points in the order of s(c) = fixed - c * turning right above the lowest slope.

    All points differ. `sums`, of shape (3, n_points), holds ID weight, OOD weight and
    loss, and `before` the same of all that is below each point at the lowest slope.
    Only points at most `reach` places away may pass a point, and those in `far`.
    `pivots` are the points at which a good rule may end.
    """

    arc: Arc
    fixed: np.ndarray
    turning: np.ndarray
    sums: np.ndarray
    before: np.ndarray
    reach: np.ndarray
    far: np.ndarray
    pivots: np.ndarray

    @property
    def n_looked_at(self):
        """Number of points that all pivots look at."""
        reach = 2 * int(self.reach[self.pivots].sum())
        return reach + len(self.pivots) * len(self.far)


def make_order(plane, arc, problem, known):
    """Return the order of the points at which good rules may end, and of those near.

    Samples of equal scores are one point; those that all good rules accept or reject
    are left out. None if there is no rule as good as the one known.
    """
    # Turned around the middle of the samples, they move as little as can be.
    centre = np.median(arc.coordinates(*plane.corners)[1][0])

    def scores_at_ends(risk, novelty):
        fixed, turning = arc.coordinates(risk, novelty)
        turning = turning - centre
        return np.array([fixed - arc.low * turning, fixed - arc.high * turning])

    found = find_rows(plane, scores_at_ends, problem, known)
    if found is None:
        return None
    rows, (first_scores, last_scores), always = found
    fixed, turning = arc.coordinates(plane.risk[rows], plane.novelty[rows])
    # Right above the lower slope, of equal scores that which falls faster is lower.
    order = np.lexsort((fixed, -turning, first_scores))
    fixed, turning = fixed[order], turning[order]
    starts = np.flatnonzero(starts_of_ties(fixed) | starts_of_ties(turning))
    sums = np.add.reduceat(plane.sums.take(rows[order], axis=1), starts, axis=1)
    fixed, turning, last_scores = fixed[starts], turning[starts], last_scores[order]
    n_points = len(starts)
    ranks, last_ranks = np.arange(n_points), np.empty(n_points, np.intp)
    last_ranks[np.lexsort((fixed, turning, last_scores[starts]))] = ranks
    pivots = _find_pivots(sums, always, last_ranks, problem, known)
    moves = np.abs(last_ranks - ranks)
    kept = n_points - 1 - int(_FAR * n_points)
    usual_move = np.partition(moves, kept)[kept]
    return TurningOrder(
        arc,
        fixed,
        turning,
        sums,
        before=np.cumsum(sums, axis=1) - sums + always,
        reach=moves + usual_move,
        far=np.flatnonzero(moves > usual_move),
        pivots=pivots,
    )


def _find_pivots(sums, always, last_ranks, problem, known):
    """Return the ID points at which a rule may end that is as good as a known cut.

    What is on the same side of a point at both slopes is so in between.
    """
    n_points = len(last_ranks)
    ends = np.arange(n_points), last_ranks
    lower, upper = np.minimum(*ends), np.maximum(*ends)
    most_id = np.cumsum(np.bincount(lower, sums[0], n_points))[upper]
    least = np.zeros((2, n_points + 1))
    for part, row in zip(sums[1:], least, strict=True):
        row[1:] = np.cumsum(np.bincount(upper, part, n_points))
    boxes = always[0] + most_id, *(always[1:] + least[:, lower])
    return np.flatnonzero(may_match(known, problem, *boxes) & (sums[0] > 0))


def search_pivots(plane, order, known, problem, randomize):
    """Return the best of the cuts at the pivots of an order and of what is known."""
    for pivot in order.pivots.tolist():
        cut = find_pivot_cut(order, pivot, problem, known, randomize)
        if cut is None or not cut.beats(known, problem):
            continue
        # Rounding may tie points, or order them in another way: what counts is what
        # the weights lead to.
        cut = search_direction(plane, cut.weights, problem, known, randomize)
        if cut is not None and cut.beats(known, problem):
            known = cut
    return known


def find_pivot_cut(order, pivot, problem, known, randomize):
    """Return the best cut at a pivot with weights for it, None if worse than known.

    The slope is in the middle of those at which the cut is possible.
    """
    slopes, added = _find_passing(order, pivot)
    below = np.empty((3, len(slopes) + 1))
    below[:, 0] = order.before[:, pivot]
    np.cumsum(added, axis=1, out=below[:, 1:])
    below[:, 1:] += below[:, :1]
    own = order.sums[:, [pivot]]
    after = below + own
    states = np.flatnonzero(may_match(known, problem, after[0], *below[1:]))
    if not len(states):
        return None
    edges = np.concatenate([[order.arc.low], slopes, [order.arc.high]])
    low, high = edges[states], edges[states + 1]
    # Between slopes that only rounding tells apart there are no directions.
    states = states[high - low > RESOLUTION * np.maximum(np.abs(low), np.abs(high))]
    sizes = np.repeat(own, len(states), axis=1)
    cut = find_best_cut(problem, after[:, states], sizes, randomize)
    if cut is None:
        return None
    state = states[cut.index]
    slope = float(edges[state] + edges[state + 1]) / 2
    return replace(cut, weights=order.arc.weights(slope))


def _find_passing(order, pivot):
    """Return increasing slopes at which points pass a pivot, and the sums that adds.

    The sums, of shape (3, n_passing), are negative where a point leaves.
    """
    reach = order.reach[pivot]
    first, last = max(0, pivot - reach), min(pivot + reach + 1, len(order.fixed))
    far = order.far[(order.far < first) | (order.far >= last)]
    rows = np.append(np.arange(first, last), far)
    run = order.turning[rows] - order.turning[pivot]
    rise = order.fixed[rows] - order.fixed[pivot]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        slopes = rise / run
    # From above come those whose score falls faster than that of the pivot.
    passes = (slopes < order.arc.high) & np.where(rows < pivot, run < 0, run > 0)
    moving = np.flatnonzero(passes)
    moving = moving[np.argsort(slopes[moving])]
    added = order.sums[:, rows[moving]] * np.sign(run[moving])
    return np.maximum(slopes[moving], order.arc.low), added
