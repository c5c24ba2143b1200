"""The best threshold of all directions."""

import math
from dataclasses import dataclass, replace
from heapq import heappop, heappush
from itertools import count

import numpy as np

from sklearn_reject._curves import RESOLUTION, starts_of_ties
from sklearn_reject.selection._one_score import find_best_cut, may_match
from sklearn_reject.selection._ood_problem import OODProblem
from sklearn_reject.selection._sweep_grid import (
    Plane,
    find_bound,
    find_rows,
    search_direction,
)

# What a pivot costs beside the points that pass it, in points.
_PIVOT = 1000


# What sorting for an arc costs a sample, in points that pass a pivot.
_ORDER = 16


# An arc is cut in halves until it has at most so many times the samples to look at that
# the direction in its middle has.
_WIDEST = 2


# How often each arc is cut in halves before any is searched.
_N_HALVINGS = 2


# Samples of which an order takes next to no time.
_FEW = 1024


# Points that overtake more others than all but this share of them are looked at by each
# pivot, so that few outliers do not make each pivot look at many points.
_FAR = 1e-3


# So near to a single score, no slope is worth a closer look.
_SMALLEST = 1e-200


@dataclass(frozen=True)
class Arc:
    """Directions of the order of s(c) = fixed - c * turning, for c in [low, high].

    `kind` is the score that is fixed, with weight 1: "risk" or "novelty".
    """

    kind: str
    low: float
    high: float

    def coordinates(self, risk, novelty):
        """Return fixed and turning."""
        return (risk, -novelty) if self.kind == "risk" else (novelty, risk)

    def weights(self, slope):
        """Return the weights of risk and novelty at a slope."""
        if self.kind == "risk":
            return 1.0, slope
        return (1.0, 1 / abs(slope)) if slope else (0.0, 1.0)

    def scores_at(self, slopes, plane):
        """Return a function of risk and novelty to the scores at each slope.

        Turned around the middle of the samples, they move as little as can be.
        """
        center = np.median(self.coordinates(*plane.corners)[1][0])

        def scores_of(risk, novelty):
            fixed, turning = self.coordinates(risk, novelty)
            turning = turning - center
            return np.array([fixed - slope * turning for slope in slopes])

        return scores_of

    @property
    def is_narrow(self):
        """Whether what tells its directions apart is rounding."""
        size = max(abs(self.low), abs(self.high))
        return self.high - self.low <= max(RESOLUTION * size, _SMALLEST)

    def among(self, slopes):
        """Return the slopes inside."""
        return slopes[(slopes > self.low) & (slopes < self.high)]

    def halve(self, slopes):
        """Return the middle of the slopes given for this kind, and both parts."""
        inside = self.among(slopes)
        if len(inside):
            middle = float(inside[len(inside) // 2])
        elif self.low and self.high:
            # The product of the ends itself may underflow.
            middle = math.sqrt(abs(self.low)) * math.sqrt(abs(self.high))
            middle = math.copysign(middle, self.low)
        else:
            middle = (self.low + self.high) / 4  # one of them is zero
        parts = replace(self, high=middle), replace(self, low=middle)
        return middle, parts


def slopes_of(directions):
    """Return slopes of each kind of arc, increasing, from weights of directions."""
    slopes = np.array([slope for weight, slope in directions if weight and slope])
    return {"risk": slopes, "novelty": -1 / slopes}


def make_arcs(slopes):
    """Return arcs that hold all directions between the axes.

    From the slope in the middle on it is the novelty that is fixed.
    """
    middle = float(slopes["risk"][len(slopes["risk"]) // 2])
    return [Arc("risk", 0.0, middle), Arc("novelty", -1 / middle, 0.0)]


@dataclass(frozen=True)
class Search:
    """What is searched: a problem, and how close to the best is close enough.

    Arcs in which no cut can be better than the best known one by more than the share
    `gap` of its price are left out, and all that remain once as many points as `budget`
    have been looked at and a feasible cut is known.
    """

    plane: Plane
    problem: OODProblem
    randomize: bool
    slopes: dict
    gap: float = 0.0
    budget: float = math.inf

    def goal(self, known):
        """Return what a cut must match to be worth a search."""
        if known is None or not self.gap or not math.isfinite(known.price):
            return known
        price = known.price - self.gap * abs(known.price)
        return replace(known, price=price, id_weight=known.id_weight * (1 + self.gap))

    def better(self, cut, known):
        """Return the better one of two cuts, either of which may be None."""
        is_better = cut is not None and cut.beats(known, self.problem)
        return cut if is_better else known


def sweep_all(search, known):
    """Return the best cut of all directions, and of what is known.

    Arcs of the lowest bound come first. Directions at which different points happen to
    tie are not among them: what may be accepted there without a draw is accepted beside
    them, too.
    """
    if not len(search.plane.risk):
        return known
    arcs = make_arcs(search.slopes)
    for _ in range(_N_HALVINGS):
        arcs = [part for a in arcs for part in a.halve(search.slopes[a.kind])[1]]
    sweep = _Sweep(search, known)
    sweep.wait(arcs)
    while sweep.waiting:
        bound, _, arc, n_inside = heappop(sweep.waiting)
        if sweep.is_done(bound):
            break
        sweep.search_arc(arc, n_inside)
    return sweep.known


class _Sweep:
    """The arcs that wait for a search, and the best cut found so far."""

    def __init__(self, search, known):
        self.search, self.known = search, known
        self.waiting, self.numbers = [], count()
        self.spent = 0

    def wait(self, arcs):
        """Let those wait that may hold a better cut."""
        for arc in arcs:
            found = self.find_bound(arc, [arc.low, arc.high])
            if found is not None and not arc.is_narrow:
                bound, n_inside = found
                heappush(self.waiting, (bound, next(self.numbers), arc, n_inside))

    def find_bound(self, arc, slopes):
        """Return a bound at some slopes, and the number of samples to look at."""
        plane, goal = self.search.plane, self.search.goal(self.known)
        self.spent += 4 * len(plane.starts)
        scores_of = arc.scores_at(slopes, plane)
        return find_bound(plane, scores_of, self.search.problem, goal)

    def is_done(self, bound):
        """Tell whether an arc of that bound, and all above, need no search."""
        if self.known is None:
            return False
        goal = self.search.goal(self.known)
        slack = self.search.problem.slack(goal.price)
        return bound > goal.price + slack or self.spent > self.search.budget

    def search_arc(self, arc, n_inside):
        """Search an arc, or cut it in halves where that saves time."""
        plane, problem = self.search.plane, self.search.problem
        middle, parts = arc.halve(self.search.slopes[arc.kind])
        found = self.find_bound(arc, [middle])
        most = len(plane.risk) / 16 if found is None else _WIDEST * found[1]
        # Where all nearly tie, bounds by cells would not help however short an arc is.
        is_wide = len(arc.among(self.search.slopes[arc.kind])) > 0
        if is_wide and n_inside > max(_FEW, most):
            self.look_at(arc, middle, found)
            self.wait(parts)
            return
        order = make_order(plane, arc, problem, self.search.goal(self.known))
        self.spent += _ORDER * n_inside
        if order is None:
            return
        if self.is_worth_halving(order):
            self.look_at(arc, middle, found)
            self.wait(parts)
        else:
            self.spent += order.cost
            self.known = search_pivots(self.search, order, self.known)

    def look_at(self, arc, slope, found):
        """Take the best cut at a slope where it is better, unless none was found."""
        if found is not None:
            self.spent += found[1]
            search = self.search
            options = search.problem, self.known, search.randomize
            cut = search_direction(search.plane, arc.weights(slope), *options)
            self.known = search.better(cut, self.known)

    def is_worth_halving(self, order):
        """Tell whether two more orders are cheaper than the pivots of one."""
        orders = 4 * _ORDER * len(order.fixed)
        if self.search.gap:
            return order.cost > orders  # shorter arcs have fewer pivots, too
        return order.n_looked_at > max(_PIVOT * len(order.pivots), orders)


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

    @property
    def cost(self):
        """Number of points that take as long as a search of all pivots."""
        return self.n_looked_at + _PIVOT * len(self.pivots)


def make_order(plane, arc, problem, known):
    """Return the order of the points at which good rules may end, and of those near.

    Samples of equal scores are one point; those that all good rules accept or reject
    are left out. None if there is no rule as good as the one known.
    """
    scores_of = arc.scores_at([arc.low, arc.high], plane)
    found = find_rows(plane, scores_of, problem, known)
    if found is None:
        return None
    rows, (first_scores, last_scores), always = found
    fixed, turning = arc.coordinates(plane.risk[rows], plane.novelty[rows])
    # Right above the lower slope, of equal scores that which falls faster is lower.
    order = _sort((fixed, -turning, first_scores))
    fixed, turning = fixed[order], turning[order]
    starts = np.flatnonzero(starts_of_ties(fixed) | starts_of_ties(turning))
    sums = np.add.reduceat(plane.sums.take(rows[order], axis=1), starts, axis=1)
    fixed, turning, last_scores = fixed[starts], turning[starts], last_scores[order]
    n_points = len(starts)
    ranks, last_ranks = np.arange(n_points), np.empty(n_points, np.intp)
    last_ranks[_sort((fixed, turning, last_scores[starts]))] = ranks
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


def _sort(keys):
    """Return `numpy.lexsort` of keys, which is slow, only where the last one ties."""
    order = np.argsort(keys[-1])
    return order if starts_of_ties(keys[-1][order]).all() else np.lexsort(keys)


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


def search_pivots(search, order, known):
    """Return the best of the cuts at the pivots of an order and of what is known."""
    plane, problem, randomize = search.plane, search.problem, search.randomize
    for pivot in order.pivots.tolist():
        cut = find_pivot_cut(order, pivot, problem, search.goal(known), randomize)
        if cut is None or not cut.beats(known, problem):
            continue
        # Rounding may tie points, or order them in another way: what counts is what
        # the weights lead to.
        cut = search_direction(plane, cut.weights, problem, known, randomize)
        known = search.better(cut, known)
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
