"""Expected losses by the algorithm of the paper, the reference of all others."""

import numpy as np


def reference_curve(eta, loss):
    r"""Return the expected loss of the k most probable items, for every k.

    Algorithm 1 of NKRD16, without its stop at the first local minimum, which need not
    be the least:

    .. math::

        \sum_{a=0}^{k} \sum_{b=0}^{n-k} C_k(a) D_k(b) L(a, k - a, b, n - k - b)

    with the probabilities C_k(a) that a of the first k items are positive, and D_k(b)
    that b of the others are. It takes O(n^3) time and O(n^2) memory.

    Parameters
    ----------
    eta : ndarray of shape (n_items,)
        Probability of each item to be positive, sorted decreasing.

    loss : SetLoss
        Loss of a set.

    Returns
    -------
    expected_losses : ndarray of shape (n_items + 1,)
        Entry k is the expected loss if the first k items are predicted, lower is
        better.
    """
    of_first = _laws_of_counts(eta)
    of_others = _laws_of_counts(eta[::-1])[::-1]
    pairs = zip(of_first, of_others, strict=True)
    return np.array([_expected_loss(*laws, loss) for laws in pairs])


def _laws_of_counts(eta):
    """Return the law of the number of positives among the first 0, 1, ... items."""
    laws = [np.ones(1)]
    for p in eta:
        laws.append(np.convolve(laws[-1], [1 - p, p]))
    return laws


def _expected_loss(of_tp, of_fn, loss):
    n_predicted, n_others = len(of_tp) - 1, len(of_fn) - 1
    tp = np.arange(n_predicted + 1)[:, np.newaxis]
    fn = np.arange(n_others + 1)
    return of_tp @ loss(tp, n_predicted - tp, fn, n_others - fn) @ of_fn
