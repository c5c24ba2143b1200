"""The set of items with the least expected loss."""

import numpy as np
from joblib import effective_n_jobs
from scipy.sparse import csr_matrix, issparse, vstack
from sklearn.utils.parallel import Parallel, delayed

from sklearn_reject._validation import check_option
from sklearn_reject.decoding._best_size import BestSize
from sklearn_reject.decoding._curves import DISTRIBUTIONS
from sklearn_reject.decoding._items import (
    check_bounds,
    check_distribution,
    check_probabilities,
    number_groups,
    sizes_of_sets,
)
from sklearn_reject.losses import check_set_loss

# Rows of a chunk: enough work for a job to be worth its start, little memory.
_ROWS_AT_ONCE = 4096

# Entries of a chunk of long rows.
_N_AT_ONCE = 2**20


def decode(
    eta,
    *,
    loss,
    beta=1.0,
    zero_division=0.0,
    distribution="independent",
    groups=None,
    min_positive=0,
    max_positive=None,
    n_jobs=None,
):
    r"""Find the set of items with the least expected loss.

    It is the set of the k most probable items for some k (NKRD16, theorems 1 and 2),
    and all k are compared; see :func:`expected_loss_curve`. Sizes that an upper bound
    of the score rules out are left out, for "g_mean" and "h_mean" of many items
    :math:`E[f(TPR, TNR)] \le f(E\,TPR, E\,TNR)`.

    Parameters
    ----------
    eta : {array-like, sparse matrix} of shape (n_items,) or (n_sets, n_items)
        Probability of each item to be positive, in any order; a row a set.

    loss : str, array-like of shape (2, 4), callable or SetLoss
        Loss of a set, as :func:`~sklearn_reject.losses.check_set_loss` takes it. "auc",
        "precision" and "recall" need bounds on the size of the set, without which their
        best set is the same whatever the probabilities.

    beta : float > 0, default=1.0
        Weight of recall in the loss "f_beta".

    zero_division : float in [0, 1], default=0.0
        What a score is where it is 0/0. At 0 an empty set is never rewarded.

    distribution : {"independent", "multinomial"}, default="independent"
        Whether items are positive independently of each other, or exactly one of them
        is, such as one class of many.

    groups : array-like of shape (n_items,), default=None
        The set of each item of a vector.

    min_positive : int >= 0, default=0
        Least number of items of a set to predict.

    max_positive : int >= 0, default=None
        Largest number of items of a set to predict. None for no bound.

    n_jobs : int, default=None
        Number of chunks of rows that are worked on in parallel. Expected losses may
        differ in their last digits, as rows of a chunk share a quadrature.

    Returns
    -------
    mask : {ndarray, csr_matrix} of the shape of `eta`, dtype bool
        The items to predict. Of equally probable ones those that come first, and of
        sets that are equally good but for rounding the smallest. Sparse for sparse
        `eta`.

    expected_loss : float or ndarray of shape (n_sets,)
        Expected loss of the set, or of each, lower is better. Groups are in the order
        of their sorted values.

    Raises
    ------
    ValueError
        If probabilities are NaN or not in [0, 1], there are no items, `groups` has
        another length or comes with a matrix, an option or a bound is invalid, or the
        loss needs bounds.

    Warns
    -----
    UserWarning
        If the loss may rise with the number of true positives: then the best set need
        not be one of the most probable items.

    References
    ----------
    N. Natarajan, O. Koyejo, P. Ravikumar, I. Dhillon. Optimal Classification with
    Multivariate Losses. ICML, 2016.

    Examples
    --------
    >>> from sklearn_reject.decoding import decode
    >>> mask, expected_loss = decode([0.1, 0.9, 0.6], loss="f_beta")
    >>> mask
    array([False,  True,  True])
    >>> round(expected_loss, 3)
    0.198

    Labels of several samples, a sample a row:

    >>> mask, expected_loss = decode([[0.9, 0.5, 0.1], [0.2, 0.1, 0.1]], loss="jaccard")
    >>> mask
    array([[ True,  True, False],
           [ True, False, False]])
    """
    loss = check_set_loss(loss, beta=beta, zero_division=zero_division)
    check_option(distribution, "distribution", DISTRIBUTIONS)
    eta = check_probabilities(eta, accept_sparse=True)
    sizes = sizes_of_sets(eta.shape, groups)
    if distribution == "multinomial":
        check_distribution(eta, groups)
    least, largest = check_bounds(loss, sizes, min_positive, max_positive)
    chooser = BestSize(loss, distribution, least, np.max(largest))
    mask, losses = choose_sets(eta, chooser, groups=groups, n_jobs=n_jobs)
    is_one_set = eta.ndim == 1 and groups is None
    return mask, float(losses[0]) if is_one_set else losses


def choose_sets(eta, chooser, *, groups=None, n_jobs=None):
    """Return the mask of the chosen items, and the expected loss of each set.

    Probabilities may come in any order. `chooser` is a `BestSize` or `ThresholdSize`,
    which says how many of the most probable items are chosen.
    """
    if issparse(eta):
        return _choose_sparse(eta, chooser, n_jobs)
    if eta.ndim == 2:
        return _choose_rows(eta, chooser, n_jobs)
    mask = np.empty(len(eta), dtype=bool)
    losses = np.empty(number_groups(groups, len(eta))[1])
    for numbers, items in sets_of_equal_size(groups, len(eta)):
        mask[items], losses[numbers] = _choose_rows(eta[items], chooser, n_jobs)
    return mask, losses


def _choose_rows(eta, chooser, n_jobs):
    chunks = _chunks(len(eta), eta.shape[1], n_jobs)
    parts = Parallel(n_jobs=n_jobs, prefer="threads")(
        delayed(_choose_chunk)(eta[rows], chooser) for rows in chunks
    )
    masks, losses = zip(*parts, strict=True)
    return np.concatenate(masks), np.concatenate(losses)


def _choose_chunk(eta, chooser, n_negatives=0):
    order = _order_rows(eta)
    eta = np.take_along_axis(eta, order, axis=1)
    sizes, losses = chooser.choose(eta, n_negatives)
    return _take_top(order, sizes), losses


def _order_rows(eta):
    """Return the items of each row by decreasing probability, ties as they come."""
    return np.argsort(-eta, axis=1, kind="stable")


def _take_top(order, sizes):
    """Return the mask of the first items of each row in an order, so many as sizes."""
    mask = np.zeros(order.shape, dtype=bool)
    is_taken = np.arange(order.shape[1]) < sizes[:, None]
    np.put_along_axis(mask, order, is_taken, axis=1)
    return mask


def _chunks(n_rows, n_columns, n_jobs):
    n_at_once = max(1, min(_ROWS_AT_ONCE, _N_AT_ONCE // n_columns))
    # Each job has something to do.
    n_at_once = min(n_at_once, -(-n_rows // effective_n_jobs(n_jobs)))
    starts = range(0, n_rows, n_at_once)
    return [slice(start, min(start + n_at_once, n_rows)) for start in starts]


def _choose_sparse(eta, chooser, n_jobs):
    """Choose among rows of which most items surely are negative."""
    widths = np.maximum(np.diff(eta.indptr), chooser.min_positive)
    choose_part = _choose_stored
    if chooser.needs_all_items:
        choose_part, widths = _choose_all, np.full(len(widths), eta.shape[1])
    # Rows that are worked on together have about as many items.
    by_width = np.argsort(widths, kind="stable")
    eta = eta[by_width]
    parts = Parallel(n_jobs=n_jobs, prefer="threads")(
        delayed(choose_part)(eta[rows], chooser)
        for rows in _chunks(len(widths), max(widths.max(), 1), n_jobs)
    )
    masks, losses = zip(*parts, strict=True)
    back = np.argsort(by_width)
    return vstack(masks, format="csr")[back], np.concatenate(losses)[back]


def _choose_all(eta, chooser):
    mask, losses = _choose_chunk(eta.toarray(), chooser)
    return csr_matrix(mask), losses


def _choose_stored(eta, chooser):
    """Choose by the items that rows store; the others surely are negative.

    Of these as many are looked at as the longest row stores more, or the bound wants.
    """
    n_stored = np.diff(eta.indptr)
    width = max(n_stored.max(), chooser.min_positive, 1)
    row = np.repeat(np.arange(len(n_stored)), n_stored)
    position = np.arange(eta.nnz) - np.repeat(eta.indptr[:-1], n_stored)
    stored = np.zeros((len(n_stored), width))
    stored[row, position] = eta.data
    mask, losses = _choose_chunk(stored, chooser, eta.shape[1] - width)
    columns = np.full(stored.shape, -1)
    columns[row, position] = eta.indices
    for other in np.flatnonzero((mask & (columns < 0)).any(axis=1)):
        columns[other] = _fill_up(columns[other], eta.shape[1])
    taken = mask.nonzero()[0], columns[mask]
    return csr_matrix((np.ones(len(taken[0]), bool), taken), shape=eta.shape), losses


def _fill_up(columns, n_items):
    """Replace -1 by the first columns that are not there."""
    # So many columns have enough that are free.
    first = np.arange(min(n_items, 2 * len(columns)))
    free = np.setdiff1d(first, columns)
    is_open = columns < 0
    columns[is_open] = free[: np.count_nonzero(is_open)]
    return columns


def expected_curves(eta, chooser, *, groups=None):
    """Return the expected loss of each size, a list of one curve a set."""
    if issparse(eta):
        eta = eta.toarray()
    if eta.ndim == 2:
        return list(chooser.curves(-np.sort(-eta, axis=1)))
    curves = {}
    for numbers, items in sets_of_equal_size(groups, len(eta)):
        of_sets = chooser.curves(-np.sort(-eta[items], axis=1))
        curves |= zip(numbers.tolist(), of_sets, strict=True)
    return [curves[number] for number in range(len(curves))]


def sets_of_equal_size(groups, n_items):
    """Return pairs (numbers, items) for each size that sets have.

    Numbers of these sets, shape (n_sets,), and of their items in the order in which
    they come, shape (n_sets, size).
    """
    sets, n_sets = number_groups(groups, n_items)
    sizes = np.bincount(sets, minlength=n_sets)
    starts = np.cumsum(sizes) - sizes
    order = np.argsort(sets, kind="stable")
    found = []
    for size in np.unique(sizes):
        numbers = np.flatnonzero(sizes == size)
        found.append((numbers, order[starts[numbers, None] + np.arange(size)]))
    return found
