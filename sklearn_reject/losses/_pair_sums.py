"""Sums over all pairs of samples of functions of their score difference, in O(n)."""

from dataclasses import dataclass

import numpy as np

from sklearn_reject.losses._cell_sums import even_line, occupied_line, sum_cells
from sklearn_reject.losses._chebyshev import CELL, REACH
from sklearn_reject.losses._near_pairs import near_range, sum_above, sum_pairs

# Samples on both sides of a wider gap are far from each other for the pairs. The cells
# of dense islands decide by themselves what is near.
_WIDE_GAP = 40.0

# What a cell costs in comparison to a pair.
_PAIRS_PER_CELL = 100


@dataclass(frozen=True)
class PairSums:
    """What the pairwise logistic loss and its derivatives consist of.

    Attributes
    ----------
    total : float
        sum_ij losses_i weights_j log(1 + exp(s_j - s_i)).

    gradient : ndarray of shape (n_samples,)
        Derivative of the total with respect to each score.

    curvature : ndarray of shape (n_samples,) or None
        Second derivative with respect to each score alone, if asked for.
    """

    total: float
    gradient: np.ndarray
    curvature: np.ndarray | None


def sum_over_pairs(scores, weights, losses, *, curvature=False):
    """Return the pairwise logistic loss of weighted samples and its derivatives.

    Exact up to rounding for any range of scores, in time and memory O(n).

    Parameters
    ----------
    scores, weights, losses : ndarray of shape (n_samples,), dtype float64
        Scores, positive weights of the samples j, and non-negative weights of the
        samples i, in the notation of :class:`PairSums`.

    curvature : bool, default=False
        Whether to compute the second derivatives.

    Returns
    -------
    sums : PairSums
        The sums.
    """
    if not losses.any():
        nothing = np.zeros(len(scores))
        return PairSums(0.0, nothing, nothing if curvature else None)
    line = even_line(scores)
    if line is not None:
        sums = sum_cells(line, weights, losses, curvature=curvature)
        return _derive(*sums, weights, losses)
    order = np.argsort(scores, kind="stable")
    sums = _sum_sorted(scores[order], weights[order], losses[order], curvature)
    result = _derive(*sums, weights[order], losses[order])
    return PairSums(
        result.total,
        _unsort(result.gradient, order),
        None if result.curvature is None else _unsort(result.curvature, order),
    )


def _unsort(values, order):
    result = np.empty_like(values)
    result[order] = values
    return result


def _derive(total, below, above, weights, losses):
    # The pair of a sample with itself is constant: in the gradient it cancels.
    gradient = weights * below[0] - losses * above[0]
    if len(below) == 1:
        return PairSums(float(total), gradient, None)
    curvature = weights * below[1] + losses * above[1] - weights * losses / 2
    return PairSums(float(total), gradient, curvature)


def _sum_sorted(scores, weights, losses, curvature):
    """Sum over all pairs of sorted samples, dense islands apart from sparse ones."""
    is_dense = _find_dense(scores, losses)
    samples = np.stack([scores, weights, losses])
    if is_dense.all():
        return _sum_dense(*samples, curvature)
    if not is_dense.any():
        return sum_pairs(*samples, curvature=curvature)
    dense, sparse = samples[:, is_dense], samples[:, ~is_dense]
    below, above = np.zeros((2, 1 + curvature, len(scores)))
    total, below[:, is_dense], above[:, is_dense] = _sum_dense(*dense, curvature)
    part, below[:, ~is_dense], above[:, ~is_dense] = sum_pairs(
        *sparse, curvature=curvature
    )
    total += part
    for rows, one, other in ((is_dense, dense, sparse), (~is_dense, sparse, dense)):
        far, lower, upper = _sum_far(one, other)
        total += far
        below[0, rows] += lower
        above[0, rows] += upper
    return total, below, above


def _find_dense(scores, losses):
    """Tell which samples lie on islands where cells are cheaper than pairs."""
    starts = np.append(True, np.diff(scores) > _WIDE_GAP)
    island = np.cumsum(starts) - 1
    first, last = near_range(scores, losses)
    n_pairs = np.bincount(
        island[np.flatnonzero(losses)], last - first, minlength=island[-1] + 1
    )
    ends = np.append(np.flatnonzero(starts)[1:], len(scores)) - 1
    # With the empty cells that keep an island apart from the next.
    n_cells = (scores[ends] - scores[starts]) / CELL + 1 + REACH
    return (n_pairs > _PAIRS_PER_CELL * n_cells)[island]


def _sum_dense(scores, weights, losses, curvature):
    return sum_cells(occupied_line(scores), weights, losses, curvature=curvature)


def _sum_far(samples, others):
    """Sum over pairs with other samples, all of them far away.

    Parameters
    ----------
    samples, others : tuple of scores, weights and losses
        Sorted.

    Returns
    -------
    total : float
        The part of :class:`PairSums` where the sample has the loss.

    below, above : ndarray of shape (n_samples,)
        Losses of the others below, and weights of those above a sample with a loss.
    """
    scores, _, losses = samples
    other_scores, other_weights, other_losses = others
    place = np.searchsorted(other_scores, scores)
    below = np.append(0.0, np.cumsum(other_losses))[place]
    weight, distance = sum_above(other_scores, other_weights, place, scores)
    return float(losses @ distance), below, np.where(losses > 0, weight, 0.0)
