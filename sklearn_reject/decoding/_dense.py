"""Expected losses of all top-k sets for many short rows of items at once."""

import numpy as np

# Numbers that the laws of the rows treated at once may hold: 32 MB.
_LARGEST_LAWS = 2**22

# Probabilities below it are taken for zero, before products of them underflow, which
# would make all further operations on them slow.
_NEGLIGIBLE = 1e-100

# Items between two searches for such probabilities.
_FLUSH_EVERY = 8


def dense_curves(eta, loss, n_negatives=0):
    r"""Return the expected loss of the k most probable items of rows, for every k.

    The double sum of NKRD16, algorithm 1,

    .. math::

        \sum_{a=0}^{k} \sum_{b=0}^{n-k} C_k(a) D_k(b) L(a, k - a, b, n - k - b),

    as products of matrices, as all rows share the losses. It takes O(n^3) time and
    O(n^2) memory a row, but is exact for every loss.

    Parameters
    ----------
    eta : ndarray of shape (n_sets, n_items)
        Probability of each item to be positive, each row sorted decreasing.

    loss : SetLoss
        Loss of a set.

    n_negatives : int, default=0
        Number of further items in each row that are surely negative, and are never
        predicted.

    Returns
    -------
    expected_losses : ndarray of shape (n_sets, n_items + 1)
        Entry (i, k) is the expected loss if the first k items of row i are predicted,
        lower is better.
    """
    n_sets, n_items = eta.shape
    n_laws = (n_items + 1) * (n_items + 2) // 2
    step = min(n_sets, max(1, _LARGEST_LAWS // n_laws))
    # Used again and again, as fresh memory takes longer than what is written to it.
    of_others = np.empty((n_laws, step))
    curves = np.empty((n_sets, n_items + 1))
    for start in range(0, n_sets, step):
        # Items along the first axis: steps work on long contiguous rows of sets.
        rows = np.ascontiguousarray(eta[start : start + step].T)
        chunk = _curves_of_rows(rows, loss, n_negatives, of_others[:, : rows.shape[1]])
        curves[start : start + step] = chunk.T
    return curves


def _curves_of_rows(eta, loss, n_negatives, of_others):
    """Return the curves, shape (n_items + 1, n_sets); `of_others` is overwritten."""
    n_items = len(eta)
    for law in _laws_of_counts(eta[::-1]):
        of_others[_place(len(law) - 1)] = law
    curves = np.empty((n_items + 1, eta.shape[1]))
    for k, of_first in enumerate(_laws_of_counts(eta)):
        tp, fn = np.arange(k + 1), np.arange(n_items - k + 1)[:, np.newaxis]
        losses = loss(tp, k - tp, fn, n_items - k - fn + n_negatives)
        of_fn = of_others[_place(n_items - k)]
        np.einsum("bs,bs->s", losses @ of_first, of_fn, out=curves[k])
    return curves


def _place(n_items):
    """Return where the law of so many items lies among those of fewer items."""
    start = n_items * (n_items + 1) // 2
    return slice(start, start + n_items + 1)


def _laws_of_counts(eta):
    """Yield the laws of the positives among the first 0, 1, ... items of each set.

    They have the shape (n_counts, n_sets), and hold until the next one is asked for.
    """
    n_items, n_sets = eta.shape
    laws = np.zeros((n_items + 1, n_sets))
    laws[0] = 1.0
    yield laws[:1]
    for number, p in enumerate(eta, 1):
        gain = laws[:number] * p
        laws[:number] *= 1 - p
        laws[1 : number + 1] += gain
        law = laws[: number + 1]
        if number % _FLUSH_EVERY == 0:
            law[law < _NEGLIGIBLE] = 0.0
        yield law
