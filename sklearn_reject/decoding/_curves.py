"""The expected loss of the k most probable items, for all k."""

import numpy as np

from sklearn_reject._validation import check_number, check_option
from sklearn_reject.decoding._items import (
    check_distribution,
    check_probabilities,
    check_sorted,
)
from sklearn_reject.decoding._ratios import absence_curves, ratio_curves
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


def multinomial_curves(eta, loss):
    """Return the expected loss of the k most probable classes, for all k.

    The true class is among them or not, so that only two confusion matrices can occur
    (NKRD16, section 4).

    Parameters
    ----------
    eta : ndarray of shape (n_rows, n_classes)
        Probabilities of the classes, in each row sorted decreasing.

    loss : SetLoss
        The loss.

    Returns
    -------
    curves : ndarray of shape (n_rows, n_classes + 1)
        For k = 0, ..., n_classes.
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
    of_first = _laws_of_prefixes(eta)
    of_others = _laws_of_prefixes(eta[::-1])[::-1]
    pairs = zip(of_first, of_others, strict=True)
    return np.array([_expected_loss(*laws, loss) for laws in pairs])


def _laws_of_prefixes(eta):
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


def candidate_curves(eta, expansion, *, n_negatives=0, min_positive=0):
    r"""Return the expected loss of each size, infinite for some that are not best.

    Of many items most have small probabilities. They count in the expected losses of
    all sizes, but sets that have them need not be looked at where smaller ones are
    better than

    .. math::

        E[F_k] \le (1 + \beta^2) \frac{\sum_{i \le k} \eta_i}{k + \beta^2}

    allows for, and likewise for other scores that are a share of true positives.

    Parameters
    ----------
    eta : ndarray of shape (n_rows, n_columns)
        Probabilities, in each row sorted decreasing.

    expansion : Expansion
        Parts of the loss.

    n_negatives : int, default=0
        Number of further items of each row that are surely negative.

    min_positive : int, default=0
        Smallest size that may be taken. The bound is of use for zero only.

    Returns
    -------
    curves : ndarray of shape (n_rows, n_columns + 1)
        For k = 0, ..., n_columns.
    """
    most_ahead = None
    if min_positive == 0 and _is_share_of_positives(expansion):
        most_ahead = _most_ahead(eta, *expansion.ratios)
    return expansion_curves(
        eta, expansion, n_negatives=n_negatives, most_ahead=most_ahead
    )


def _is_share_of_positives(expansion):
    """Tell whether the loss falls with a ratio of tp, but for the empty set."""
    if len(expansion.ratios) != 1:
        return False
    [ratio] = expansion.ratios
    above, below = ratio.numerator, ratio.denominator
    falls = ratio.coefficient < 0 < above.tp and not any(above[1:])
    grows = min(below.tp, below.fp) > 0 and not ratio.size_power
    # Nothing but the empty set has no item above the cut.
    of_empty = all(part.cells.tp and part.cells.fp for part in expansion.absences)
    gains = all(part.constant <= 0 and not part.slope for part in expansion.absences)
    return falls and grows and of_empty and gains


def _most_ahead(eta, ratio):
    """Return an upper bound of the ratio for all sizes above k, for all k."""
    below = ratio.denominator
    k = np.arange(1, eta.shape[1] + 1)
    least = (below.tp + (k - 1) * min(below.tp, below.fp)) ** ratio.power
    bounds = np.zeros((len(eta), eta.shape[1] + 1))
    bounds[:, :-1] = ratio.numerator.tp * np.cumsum(eta, axis=1) / least
    # The largest of those that follow.
    return np.maximum.accumulate(bounds[:, ::-1], axis=1)[:, ::-1]
