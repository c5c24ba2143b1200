"""Expected losses of all top-k sets from truncated laws of the counts."""

import numpy as np

from sklearn_reject.decoding._interpolation import interpolate_counts
from sklearn_reject.decoding._poisson_binomial import CountLaws
from sklearn_reject.losses import GMeanLoss, HMeanLoss

# Confusion matrices whose losses are evaluated at once, few enough for the cache.
_TILE = 2**15

# Losses that may be interpolated in the counts, see `interpolate_counts`.
_SMOOTH = (GMeanLoss, HMeanLoss)


def window_curve(eta, loss, tol=1e-12, n_negatives=0):
    r"""Return the expected loss of the k most probable items, for every k.

    The double sum of NKRD16, algorithm 1,

    .. math::

        \sum_{a} \sum_{b} C_k(a) D_k(b) L(a, k - a, b, n - k - b),

    over the counts that have all but `tol` of the probability, O(n) confusion matrices
    a size. G-mean and H-mean take a few dozen, at which they are interpolated. Memory
    is O(n).

    Parameters
    ----------
    eta : ndarray of shape (n_items,)
        Probability of each item to be positive, sorted decreasing.

    loss : SetLoss
        Loss of a set.

    tol : float in [0, 0.5], default=1e-12
        Bound on the absolute error, relative to the range of the loss: the largest
        minus the smallest loss of any confusion matrix of so many items.

    n_negatives : int, default=0
        Number of further items that are surely negative, and are never predicted.

    Returns
    -------
    expected_losses : ndarray of shape (n_items + 1,)
        Entry k is the expected loss if the first k items are predicted, lower is
        better. Apart from rounding, the error is at most `tol` times the range.

    Notes
    -----
    The windows leave out outcomes of a probability q of at most `tol / 2`, and the
    laws within them are normalised, so that their sum is the expected loss E_in of the
    other outcomes. With E_out that of those left out, the expected loss is
    ``(1 - q) E_in + q E_out``, and differs from E_in by ``q (E_out - E_in)``, at most q
    times the range. Interpolation has the other half of `tol`.
    """
    laws = CountLaws(eta, tol / 2)
    blocks = (laws.block(index) for index in range(laws.n_blocks))
    n_items = len(eta) + n_negatives
    losses = [expected_losses(block, loss, n_items, tol / 2) for block in blocks]
    return np.concatenate(losses)


def expected_losses(block, loss, n_items, tol):
    """Return the expected losses of the sizes of a block.

    Parameters
    ----------
    block : CountBlock
        Laws of the true positives and of the false negatives.

    loss : SetLoss
        Loss of a set.

    n_items : int
        Number of items, with those that are surely negative and not in the block.

    tol : float
        Largest error of interpolation, for the losses that can be interpolated.

    Returns
    -------
    expected_losses : ndarray of shape (n_sizes,)
        Given that the counts are in the windows.
    """
    tp, of_tp = block.tp, block.of_tp
    fn, of_fn = block.fn, block.of_fn
    if type(loss) in _SMOOTH:
        # An error in fn is passed on by interpolation in tp, times 7 at the very most.
        tp, of_tp = interpolate_counts(tp, of_tp, block.sizes[0], tol / 8)
        n_others = n_items - block.sizes[-1]
        fn, of_fn = interpolate_counts(fn, of_fn, n_others, tol / 8)
    expected = np.zeros(len(block.sizes))
    for sizes, rows in _tiles(len(expected), len(tp), len(fn)):
        k = block.sizes[sizes, np.newaxis, np.newaxis]
        losses = _loss_table(loss, k, n_items - k, tp[rows], fn)
        given_fn = np.matmul(of_tp[sizes, np.newaxis, rows], losses)[:, 0]
        expected[sizes] += np.einsum("kb,kb->k", given_fn, of_fn[sizes])
    return expected


def _loss_table(loss, n_predicted, n_others, tp, fn):
    """Return the losses of all pairs of counts, shape (n_sizes, n_tp, n_fn)."""
    # Counts beyond the size have probability zero; any that exists stands for them.
    tp = np.minimum(tp[:, np.newaxis], n_predicted)
    fn = np.minimum(fn, n_others)
    return loss(tp, n_predicted - tp, fn, n_others - fn)


def _tiles(n_sizes, n_tp, n_fn):
    """Yield slices of the sizes and of the true positives that fill a tile."""
    n_rows = max(1, min(n_tp, _TILE // n_fn))
    n_tables = max(1, _TILE // (n_rows * n_fn))
    for size in range(0, n_sizes, n_tables):
        for row in range(0, n_tp, n_rows):
            yield slice(size, size + n_tables), slice(row, row + n_rows)
