"""The best threshold of all directions of two scores, for samples that are not many."""

from dataclasses import replace

import numpy as np

from sklearn_reject._curves._directions import RESOLUTION
from sklearn_reject.selection._one_score import find_best_cut, may_match
from sklearn_reject.selection._sweep_grid import search_direction


def sweep_pivots(plane, problem, randomize, known):
    """Return the best cut of all directions between the axes, and of what is known.

    A rule ends at a point, the pivot. While the direction turns from the risk to the
    novelty, other points pass it one by one, and from one to the next what is below it
    stays. Directions at which different points happen to tie are not among them: what
    may be accepted there without a draw is accepted beside them, too.

    The points of the plane must differ. Memory grows with the square of their number.
    """
    # What is lower in one score and not higher in the other is always below a pivot,
    # and what is so the other way around never is.
    is_lower = plane.risk[:, np.newaxis] <= plane.risk
    is_lower &= plane.novelty[:, np.newaxis] <= plane.novelty
    np.fill_diagonal(is_lower, False)
    always = plane.always + plane.sums @ is_lower
    most_id = plane.always[0] + plane.sums[0].sum() - is_lower @ plane.sums[0]
    boxes = np.array([most_id, *always[1:]])
    pivots = np.flatnonzero(may_match(known, problem, *boxes) & (plane.sums[0] > 0))
    for pivot in pivots.tolist():
        if not may_match(known, problem, *boxes[:, pivot]):
            continue
        start = always[:, [pivot]]
        cut = _find_pivot_cut(plane, pivot, start, problem, randomize, known)
        if cut is None or not cut.beats(known, problem):
            continue
        # Rounding may tie points, or order them in another way: what counts is what
        # the weights lead to.
        cut = search_direction(plane, cut.weights, problem, known, randomize)
        if cut is not None and cut.beats(known, problem):
            known = cut
    return known


def _find_pivot_cut(plane, pivot, always, problem, randomize, known):
    """Return the best cut at a pivot with weights for it, None if worse than known.

    `always`, of shape (3, 1), are the sums of what is below the pivot in any direction.
    """
    risk = plane.risk - plane.risk[pivot]
    novelty = plane.novelty - plane.novelty[pivot]
    moving = np.flatnonzero(((risk < 0) & (novelty > 0)) | ((risk > 0) & (novelty < 0)))
    risk, novelty = risk[moving], novelty[moving]
    with np.errstate(over="ignore", under="ignore"):
        slopes = np.abs(risk / novelty)
    order = np.argsort(slopes)
    slopes = slopes[order]
    # At first those of lower risk are below the pivot, at last those of lower novelty.
    sums = plane.sums.take(moving[order], axis=1)
    leaves = risk[order] < 0
    start = always + sums.compress(leaves, axis=1).sum(axis=1, keepdims=True)
    changes = np.cumsum(np.where(leaves, -sums, sums), axis=1)
    before = np.hstack([start, start + changes])
    low, high = np.append(0.0, slopes), np.append(slopes, np.inf)
    own = plane.sums[:, [pivot]]
    # Between slopes that only rounding tells apart there are no directions.
    is_apart = high > low * (1 + RESOLUTION)
    is_good = may_match(known, problem, before[0] + own[0], *before[1:])
    states = np.flatnonzero(is_apart & is_good)
    sizes = np.repeat(own, len(states), axis=1)
    cut = find_best_cut(problem, before.take(states, axis=1) + sizes, sizes, randomize)
    if cut is None:
        return None
    state = states[cut.index]
    return replace(cut, weights=(1.0, _slope_between(low[state], high[state])))


def _slope_between(low, high):
    """Return a slope in the middle of two, which may be zero and infinite."""
    if low == 0:
        return float(high / 2) if np.isfinite(high) else 1.0
    if np.isinf(high):
        return float(low * 2)
    return float(np.sqrt(low) * np.sqrt(high))  # the product itself may underflow
