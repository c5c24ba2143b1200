"""The best threshold of the best of all directions.

An arc of directions is cut in halves until few pivots are left at which a rule may end
that is as good as the best one known, or few points pass them. Then each of these is
looked at.
"""

from dataclasses import dataclass

import numpy as np
from joblib import effective_n_jobs
from sklearn.utils.parallel import Parallel, delayed

from sklearn_reject.selection._best_cut import Cut, may_match
from sklearn_reject.selection._pivots import find_pivot_cut
from sklearn_reject.selection._sweep_grid import search_direction
from sklearn_reject.selection._turning import make_order

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
    """Return the best of all directions of some arcs.

    Parameters
    ----------
    plane : Plane
        The sample.

    arcs : list of Arc
        The directions. Those at which different points happen to tie are not among
        them: what may be accepted there without a draw is accepted beside them, too.

    known : Solution
        The best that is known.

    problem : OODProblem
        What to minimise.

    randomize : bool
        Whether samples at the threshold may be accepted with a probability.

    n_jobs : int, default=None
        Number of jobs that share the arcs.

    Returns
    -------
    solution : Solution
        The best.
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
    """Return the best of all directions near the best that is known.

    Parameters
    ----------
    plane, known, problem, randomize
        See :func:`sweep_arcs`.

    arc : Arc
        Directions around the best that is known. Where they are too many, those that
        are farther away are left out.

    budget : float
        Most points to look at, for all pivots together.

    Returns
    -------
    solution : Solution
        The best.
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
