"""The expected loss of the k most probable items, for all k."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from sklearn_reject._typing import SetLossLike
from sklearn_reject._validation import check_option, of_arrays
from sklearn_reject.decoding._items import check_distribution, check_probabilities
from sklearn_reject.decoding._ratios import expansion_curves
from sklearn_reject.decoding._windows import laws_of_counts, window_curve
from sklearn_reject.losses import check_set_loss

DISTRIBUTIONS = ("independent", "multinomial")
_METHODS = ("auto", "quadrature", "window", "reference")

# Many sets of up to so many items, or one of up to so many, take less time by all their
# counts at once than by windows.
_LONGEST_OF_MANY, _LONGEST_OF_ONE = 256, 24

_MANY = 4

# Entries of rows that are worked on together, to save memory.
_N_AT_ONCE = 2**20

# Probabilities below it are taken for zero, before products of them underflow, which
# would make all further operations on them slow.
_NEGLIGIBLE = 1e-100

# Numbers that the laws of the rows treated at once may hold: 32 MB.
_LARGEST_LAWS = 2**22


@of_arrays
def expected_loss_curve(
    eta: ArrayLike,
    *,
    loss: SetLossLike,
    beta: float = 1.0,
    zero_division: float = 0.0,
    distribution: Literal["independent", "multinomial"] = "independent",
    method: Literal["auto", "quadrature", "window", "reference"] = "auto",
) -> np.ndarray:
    r"""Return the expected loss of predicting the k most probable items, for all k.

    It is

    .. math::

        L_k = E[L(s_k, y)], \quad k = 0, \dots, n,

    over outcomes y of n items, item i being positive with probability
    :math:`\eta_i`, for the set :math:`s_k` of the first k items (NKRD16, section 4).

    Parameters
    ----------
    eta : array-like of shape (n_items,) or (n_sets, n_items)
        Probability of each item to be positive, sorted decreasing; a row a set.

    loss : str, callable or SetLoss
        Loss of a set, as :func:`~sklearn_reject.losses.check_set_loss` takes it.

    beta : float > 0, default=1.0
        Weight of recall in the loss "f_beta", the only one that takes it.

    zero_division : float in [0, 1], default=0.0
        What a score is where it is 0/0.

    distribution : {"independent", "multinomial"}, default="independent"
        Whether items are positive independently of each other, or exactly one of them
        is, such as one class of many.

    method : {"auto", "quadrature", "window", "reference"}, default="auto"
        How independent items are dealt with. "quadrature" takes time proportional to
        the number of items, for losses made of ratios: all but "g_mean", "h_mean" and
        callables. "window" sums over all likely numbers of true positives and false
        negatives, for any loss. "reference" is algorithm 1 of NKRD16 for all k, cubic
        in the number of items. "auto" is the first of them that can do it.

    Returns
    -------
    curve : ndarray of shape (n_items + 1,) or (n_sets, n_items + 1)
        Expected loss for k = 0, ..., n_items, lower is better. Beside rounding, it errs
        by at most 1e-12 times the range of the loss, which is one for the losses with a
        name.

    Raises
    ------
    ValueError
        If probabilities are NaN, not in [0, 1] or not sorted, there are no items, or
        an option is invalid.

    Warns
    -----
    RejectionWarning
        If the loss may increase with the number of true positives, so that the best set
        may not be one of these.

    See Also
    --------
    decode : The best set itself.

    References
    ----------
    N. Natarajan, O. Koyejo, P. Ravikumar, I. Dhillon. Optimal Classification with
    Multivariate Losses. ICML, 2016.

    Examples
    --------
    >>> from sklearn_reject.decoding import expected_loss_curve
    >>> expected_loss_curve([0.9, 0.4, 0.1], loss="f1").round(3)
    array([1.   , 0.244, 0.27 , 0.394])
    """
    loss = check_set_loss(loss, beta=beta, zero_division=zero_division)
    check_option(distribution, "distribution", DISTRIBUTIONS)
    check_option(method, "method", _METHODS)
    eta = check_probabilities(eta)
    if (eta[..., 1:] > eta[..., :-1]).any():
        raise ValueError(
            "eta must be sorted in decreasing order, because k counts the most "
            "probable items. Pass `np.sort(eta)[..., ::-1]`, or call decode, which "
            "takes any order."
        )
    rows = np.atleast_2d(eta)
    if distribution == "multinomial":
        check_distribution(rows)
        curves = multinomial_curves(rows, loss)
    else:
        step = max(1, _N_AT_ONCE // rows.shape[1])
        chunks = [rows[start : start + step] for start in range(0, len(rows), step)]
        curves = np.concatenate(
            [independent_curves(chunk, loss, method=method) for chunk in chunks]
        )
    return curves if eta.ndim == 2 else curves[0]


def independent_curves(eta, loss, *, n_negatives=0, method="auto"):
    """Return the curves of independent items, shape (n_rows, n_columns + 1).

    Rows of `eta` are sorted decreasing; `n_negatives` further items of each row are
    surely negative.
    """
    if method == "reference":
        return dense_curves(eta, loss, n_negatives=n_negatives)
    expansion = loss.expansion(eta.shape[1] + n_negatives)
    if method == "quadrature" and expansion is None:
        raise ValueError(
            "method='quadrature' is for losses that are ratios of counts, got "
            f"{loss!r}. Use method='window' or 'auto'."
        )
    if method != "window" and expansion is not None:
        return expansion_curves(eta, expansion, n_negatives=n_negatives)
    if is_dense(*eta.shape):
        return dense_curves(eta, loss, n_negatives=n_negatives)
    return np.array([window_curve(row, loss, n_negatives) for row in eta])


def is_dense(n_rows, n_columns):
    """Tell whether sets are so short that all their counts are dealt with at once."""
    return n_columns <= (_LONGEST_OF_MANY if n_rows >= _MANY else _LONGEST_OF_ONE)


def dense_curves(eta, loss, n_negatives=0):
    """Return the curves of rows by algorithm 1 of NKRD16, exact for every loss.

    It takes O(n^3) time and O(n^2) memory a row.
    """
    # The double sum over the counts a of true positives and b of false negatives,
    # C_k(a) D_k(b) L(a, k - a, b, n - k - b), is a product of matrices, as all rows
    # share the losses. The paper stops at the first local minimum, which need not be
    # the least.
    n_sets, n_items = eta.shape
    # Where the laws of 0, 1, ... of the last items lie, one after the other.
    starts = np.cumsum(np.arange(n_items + 2))
    step = min(n_sets, max(1, _LARGEST_LAWS // starts[-1]))
    # Used again and again, as fresh memory takes longer than what is written to it.
    memory = np.empty((starts[-1], step))
    # Items along the first axis: steps work on long contiguous rows of sets.
    curves = np.empty((n_items + 1, n_sets))
    for start in range(0, n_sets, step):
        chunk = slice(start, start + step)
        rows = np.ascontiguousarray(eta[chunk].T)
        of_others = memory[:, : rows.shape[1]]
        for number, law in enumerate(laws_of_counts(rows[::-1], _NEGLIGIBLE)):
            of_others[starts[number] : starts[number + 1]] = law
        for k, of_first in enumerate(laws_of_counts(rows, _NEGLIGIBLE)):
            n_others = n_items - k
            tp, fn = np.arange(k + 1), np.arange(n_others + 1)[:, np.newaxis]
            losses = loss(tp, k - tp, fn, n_others - fn + n_negatives)
            of_fn = of_others[starts[n_others] : starts[n_others + 1]]
            np.einsum("bs,bs->s", losses @ of_first, of_fn, out=curves[k, chunk])
    return np.ascontiguousarray(curves.T)


def multinomial_curves(eta, loss):
    """Return the expected loss of the k most probable classes, for all k.

    The true class is among them or not, so that only two confusion matrices can occur
    (NKRD16, section 4).
    """
    n_classes = eta.shape[1]
    k = np.arange(n_classes + 1)
    hit, miss = np.zeros((2, n_classes + 1))
    hit[1:] = loss(1, k[1:] - 1, 0, n_classes - k[1:])
    miss[:-1] = loss(0, k[:-1], 1, n_classes - 1 - k[:-1])
    covered = np.zeros((len(eta), n_classes + 1))
    np.cumsum(eta, axis=1, out=covered[:, 1:])
    missed = np.zeros_like(covered)
    missed[:, :-1] = np.cumsum(eta[:, ::-1], axis=1)[:, ::-1]
    return covered * hit + missed * miss
