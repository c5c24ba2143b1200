"""All that a threshold at one point may accept while the direction turns.

A point that is below the pivot passes above it, or the other way round, once: where the
line through both is at a right angle to the direction. The points that pass, sorted by
when they do, give everything that a threshold at the pivot may accept, in O(n log n) a
pivot and O(n) memory.
"""

import numpy as np

from sklearn_reject.selection._arcs import RESOLUTION
from sklearn_reject.selection._best_cut import find_best_cut, may_match


def find_pivot_cut(order, pivot, problem, cut, randomize):
    """Return the best cut at a pivot and its slope, None if it is worse than known.

    Parameters
    ----------
    order : TurningOrder
        The points.

    pivot : int
        Where the rule ends.

    problem : OODProblem
        What to minimise.

    cut : Cut or None
        The best that is known.

    randomize : bool
        Whether a share of the pivot may be accepted.

    Returns
    -------
    cut, slope : tuple of a Cut and a float, or None
        The cut, and a slope in the middle of those at which it is possible.
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
    """Return when points pass a pivot, and what that adds to what is below it.

    Returns
    -------
    slopes : ndarray of shape (n_passing,)
        Increasing slopes.

    added : ndarray of shape (3, n_passing)
        Sums of each point, negative where it leaves.
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
