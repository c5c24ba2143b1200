"""The best set size where the expected loss has a lower bound that is cheaper."""

import numpy as np

from sklearn_reject.decoding._poisson_binomial import CountLaws
from sklearn_reject.decoding._windows import expected_losses

# Share of the tolerance that the evaluated losses may be off by, in each of two ways.
_SHARE = 1 / 8

# No score is below zero.
_LARGEST_LOSS = 1.0


def certified_optimum(
    eta, loss, upper_bounds, tol, min_positive, max_positive, n_negatives=0
):
    """Return the set size of the least expected loss, and that loss.

    Parameters and returns are those of :func:`_certify`. Where most items are likely,
    the mirrored problem is solved, in which the other class is the positive one: the
    laws of few counts are short.
    """
    bounds = min_positive, max_positive
    if n_negatives or eta.mean() <= 0.5:
        return _certify(eta, loss, upper_bounds, tol, *bounds, n_negatives)
    mirrored = [len(eta) - bound for bound in bounds[::-1]]
    others, expected_loss = _certify(
        1 - eta[::-1], loss, upper_bounds[::-1], tol, *mirrored, takes_largest=True
    )
    return len(eta) - others, expected_loss


def _certify(
    eta,
    loss,
    upper_bounds,
    tol,
    min_positive,
    max_positive,
    n_negatives=0,
    *,
    takes_largest=False,
):
    r"""Return the set size of the least expected loss, and that loss.

    Sizes are evaluated in blocks, the most promising one first, as long as a bound
    leaves hope for a score above, or as good as, the best one found. G-mean and H-mean
    are concave in TPR and TNR, so that by Jensen's inequality

    .. math::

        E[G_k] \le \sqrt{E[TPR_k] E[TNR_k]}, \quad
        E[H_k] \le \frac{2 E[TPR_k] E[TNR_k]}{E[TPR_k] + E[TNR_k]}.

    Parameters
    ----------
    eta : ndarray of shape (n_items,)
        Probability of each item to be positive, sorted decreasing.

    loss : SetLoss
        Loss of a set, in [0, 1].

    upper_bounds : ndarray of shape (n_items + 1,)
        Upper bound of one minus the expected loss, for k = 0, ..., n_items. They may be
        too low by `tol`.

    tol : float in ]0, 0.1]
        Expected losses that differ by no more are taken for equal.

    min_positive, max_positive : int
        Bounds on the size, ``0 <= min_positive <= max_positive <= n_items``.

    n_negatives : int, default=0
        Number of further items that are surely negative, and are never predicted.

    takes_largest : bool, default=False
        Whether of equally good sizes the largest is taken, instead of the smallest.

    Returns
    -------
    size : int
        Number of items to predict.

    expected_loss : float
        Its expected loss, to `tol / 4`; lower is better. No size that is within the
        bounds has one that is lower by more than `1.5 * tol`.
    """
    n_items = len(eta) + n_negatives
    laws = CountLaws(eta, _SHARE * tol)
    allowed = slice(min_positive, max_positive + 1)
    lowest = np.full(len(eta) + 1, np.inf)
    lowest[allowed] = _LARGEST_LOSS - upper_bounds[allowed] - 2 * tol
    lowest_of_blocks = np.minimum.reduceat(lowest, laws.edges[:-1])
    losses, best = np.full(len(eta) + 1, np.inf), _LARGEST_LOSS
    for index in np.argsort(lowest_of_blocks, kind="stable"):
        if lowest_of_blocks[index] > best:
            break
        block = laws.block(index)
        block = block.take(lowest[block.sizes] <= best)
        losses[block.sizes] = expected_losses(block, loss, n_items, _SHARE * tol)
        best = losses.min()
    size = int(np.flatnonzero(losses <= best + tol)[-1 if takes_largest else 0])
    return size, float(losses[size])
