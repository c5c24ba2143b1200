"""The expected loss of the k most probable items, for all k."""

import numpy as np

from sklearn_reject._validation import check_number, check_option
from sklearn_reject.decoding._absences import absence_curves
from sklearn_reject.decoding._dense import dense_curves
from sklearn_reject.decoding._multinomial import multinomial_curves
from sklearn_reject.decoding._probabilities import (
    check_distribution,
    check_probabilities,
    check_sorted,
)
from sklearn_reject.decoding._quadrature import ratio_curves
from sklearn_reject.decoding._reference import reference_curve
from sklearn_reject.decoding._windows import window_curve
from sklearn_reject.losses import check_set_loss

DISTRIBUTIONS = ("independent", "multinomial")

_METHODS = ("auto", "quadrature", "window", "reference")

# Many sets of up to so many items, or one of up to so many, take less time by all their
# counts at once than by windows.
_LONGEST_OF_MANY, _LONGEST_OF_ONE = 256, 24
_MANY = 4

DEFAULT_TOL = 1e-12

# Entries of rows that are worked on together, to save memory.
_N_AT_ONCE = 2**20

# Rounding leaves no room for less.
_LEAST_TOL = 1e-14


def expected_loss_curve(
    eta,
    *,
    loss,
    beta=1.0,
    zero_division=0.0,
    distribution="independent",
    method="auto",
    tol=DEFAULT_TOL,
):
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

    loss : str, array-like of shape (2, 4), callable or SetLoss
        Loss of a set, as :func:`~sklearn_reject.losses.check_set_loss` takes it.

    beta : float > 0, default=1.0
        Weight of recall in the loss "f_beta".

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

    tol : float in [1e-14, 0.1], default=1e-12
        Bound on the error relative to the range of the loss, one for the losses with a
        name, beside rounding. For "reference", and for multinomial distributions,
        there is no other error than rounding.

    Returns
    -------
    curve : ndarray of shape (n_items + 1,) or (n_sets, n_items + 1)
        Expected loss for k = 0, ..., n_items, lower is better.

    Raises
    ------
    ValueError
        If probabilities are NaN, not in [0, 1] or not sorted, there are no items, or
        an option is invalid.

    Warns
    -----
    UserWarning
        If the loss may rise with the number of true positives: then the best set need
        not be one of these.

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
    >>> expected_loss_curve([0.9, 0.4, 0.1], loss="f_beta").round(3)
    array([1.   , 0.244, 0.27 , 0.394])
    """
    loss = check_set_loss(loss, beta=beta, zero_division=zero_division)
    check_option(distribution, "distribution", DISTRIBUTIONS)
    check_option(method, "method", _METHODS)
    tol = _check_tol(tol)
    eta = check_probabilities(eta)
    check_sorted(eta)
    rows = np.atleast_2d(eta)
    if distribution == "multinomial":
        check_distribution(rows)
        curves = multinomial_curves(rows, loss)
    else:
        step = max(1, _N_AT_ONCE // rows.shape[1])
        chunks = (rows[start : start + step] for start in range(0, len(rows), step))
        curves = np.concatenate(
            [independent_curves(part, loss, method=method, tol=tol) for part in chunks]
        )
    return curves if eta.ndim == 2 else curves[0]


def independent_curves(eta, loss, *, n_negatives=0, method="auto", tol=DEFAULT_TOL):
    """Return the curves of independent items.

    Parameters
    ----------
    eta : ndarray of shape (n_rows, n_columns)
        Probabilities, in each row sorted decreasing.

    loss : SetLoss
        The loss.

    n_negatives : int, default=0
        Number of further items of each row that are surely negative.

    method, tol : str, float
        As :func:`expected_loss_curve` has them.

    Returns
    -------
    curves : ndarray of shape (n_rows, n_columns + 1)
        For k = 0, ..., n_columns.
    """
    if method == "reference":
        return np.array([reference_curve(row, loss) for row in eta])
    expansion = loss.expansion(eta.shape[1] + n_negatives)
    if method == "quadrature" and expansion is None:
        raise ValueError(
            f"method='quadrature' is for losses that are made of ratios of counts, "
            f"got {loss!r}. Use method='window' or 'auto'."
        )
    if method != "window" and expansion is not None:
        return expansion_curves(eta, expansion, n_negatives=n_negatives, tol=tol)
    if is_dense(*eta.shape):
        return dense_curves(eta, loss, n_negatives=n_negatives)
    return np.array([window_curve(row, loss, tol, n_negatives) for row in eta])


def is_dense(n_rows, n_columns):
    """Tell whether sets are so short that all their counts are dealt with at once."""
    return n_columns <= (_LONGEST_OF_MANY if n_rows >= _MANY else _LONGEST_OF_ONE)


def expansion_curves(eta, expansion, *, n_negatives=0, tol=DEFAULT_TOL, **options):
    """Return the curves of a loss that is made of ratios.

    Parameters
    ----------
    eta : ndarray of shape (n_rows, n_columns)
        Probabilities, in each row sorted decreasing.

    expansion : Expansion
        Parts of the loss.

    n_negatives : int, default=0
        Number of further items of each row that are surely negative.

    tol : float, default=1e-12
        Bound on the error of each ratio.

    **options : dict
        Passed to :func:`ratio_curves`.

    Returns
    -------
    curves : ndarray of shape (n_rows, n_columns + 1)
        For k = 0, ..., n_columns.
    """
    curves = np.full((len(eta), eta.shape[1] + 1), expansion.constant)
    options = {"n_negatives": n_negatives, "tol": tol, **options}
    for ratio in expansion.ratios:
        curves += ratio_curves(eta, ratio, **options)
    for absence in expansion.absences:
        curves += absence_curves(eta, absence, n_negatives=n_negatives)
    return curves


def _check_tol(tol):
    tol = check_number(tol, "tol", high=0.1)
    if tol < _LEAST_TOL:
        raise ValueError(
            f"tol must be in [{_LEAST_TOL:g}, 0.1], got {tol!r}: rounding alone may "
            "exceed less."
        )
    return tol
