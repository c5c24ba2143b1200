"""The set of items with the least expected loss."""

import numpy as np
from joblib import effective_n_jobs
from scipy.sparse import csr_matrix, issparse, vstack
from sklearn.utils.parallel import Parallel, delayed

from sklearn_reject.decoding._best_size import best_size
from sklearn_reject.decoding._items import check_probabilities, number_sets
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
    >>> mask, expected_loss = decode([0.1, 0.9, 0.6], loss="f1")
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
    eta = check_probabilities(eta, accept_sparse=True)
    options = {"distribution": distribution, "groups": groups}
    bounds = {"min_positive": min_positive, "max_positive": max_positive}
    chooser = best_size(eta, loss, **options, **bounds)
    mask, losses = choose_sets(eta, chooser, groups=groups, n_jobs=n_jobs)
    is_one_set = eta.ndim == 1 and groups is None
    return mask, float(losses[0]) if is_one_set else losses


def choose_sets(eta, chooser, *, groups=None, n_jobs=None):
    """Return the mask of the chosen items, and the expected loss of each set.

    Probabilities may come in any order. `chooser` is a `SetSize`, which says how many
    of the most probable items are chosen.
    """
    if issparse(eta):
        return _choose_sparse(eta, chooser, n_jobs)
    if eta.ndim == 2:
        return _choose_rows(eta, chooser, n_jobs)
    numbers, sizes = number_sets(eta.shape, groups)
    mask, losses = np.empty(len(eta), dtype=bool), np.empty(len(sizes))
    for sets, items in _sets_of_equal_size(numbers, sizes):
        mask[items], losses[sets] = _choose_rows(eta[items], chooser, n_jobs)
    return mask, losses


def expected_curves(eta, chooser, *, groups=None):
    """Return the expected loss of each size, a list of one curve a set."""
    eta = eta.toarray() if issparse(eta) else eta
    if eta.ndim == 2:
        return list(chooser.curves(-np.sort(-eta, axis=1)))
    numbers, sizes = number_sets(eta.shape, groups)
    curves = [None] * len(sizes)
    for sets, items in _sets_of_equal_size(numbers, sizes):
        of_sets = chooser.curves(-np.sort(-eta[items], axis=1))
        for number, curve in zip(sets, of_sets, strict=True):
            curves[number] = curve
    return curves


def _sets_of_equal_size(numbers, sizes):
    """Yield pairs (sets, items) for each size that sets have.

    Numbers of these sets, shape (n_sets,), and of their items in the order in which
    they come, shape (n_sets, size).
    """
    starts = np.cumsum(sizes) - sizes
    order = np.argsort(numbers, kind="stable")
    for size in np.unique(sizes):
        sets = np.flatnonzero(sizes == size)
        yield sets, order[starts[sets, None] + np.arange(size)]


def _choose_rows(eta, chooser, n_jobs):
    chunks = _chunks(len(eta), eta.shape[1], n_jobs)
    parts = Parallel(n_jobs=n_jobs, prefer="threads")(
        delayed(_choose_chunk)(eta[rows], chooser) for rows in chunks
    )
    masks, losses = zip(*parts, strict=True)
    return np.concatenate(masks), np.concatenate(losses)


def _choose_chunk(eta, chooser, n_negatives=0):
    # By decreasing probability, ties as they come.
    order = np.argsort(-eta, axis=1, kind="stable")
    sizes, losses = chooser.choose(np.take_along_axis(eta, order, axis=1), n_negatives)
    mask = np.zeros(eta.shape, dtype=bool)
    is_taken = np.arange(eta.shape[1]) < sizes[:, None]
    np.put_along_axis(mask, order, is_taken, axis=1)
    return mask, losses


def _chunks(n_rows, n_columns, n_jobs):
    n_at_once = max(1, min(_ROWS_AT_ONCE, _N_AT_ONCE // n_columns))
    # Each job has something to do.
    n_at_once = min(n_at_once, -(-n_rows // effective_n_jobs(n_jobs)))
    starts = range(0, n_rows, n_at_once)
    return [slice(start, start + n_at_once) for start in starts]


def _choose_sparse(eta, chooser, n_jobs):
    """Choose among rows of which most items surely are negative."""
    widths = np.maximum(np.diff(eta.indptr), chooser.min_positive)
    if chooser.needs_all_items:
        widths = np.full(len(widths), eta.shape[1])
    # Rows that are worked on together have about as many items.
    by_width = np.argsort(widths, kind="stable")
    eta = eta[by_width]
    parts = Parallel(n_jobs=n_jobs, prefer="threads")(
        delayed(_choose_stored)(eta[rows], chooser)
        for rows in _chunks(len(widths), max(widths.max(), 1), n_jobs)
    )
    masks, losses = zip(*parts, strict=True)
    back = np.argsort(by_width)
    return vstack(masks, format="csr")[back], np.concatenate(losses)[back]


def _choose_stored(eta, chooser):
    """Choose by the items that rows store; the others surely are negative.

    Of these as many are looked at as the longest row stores more, or the bound wants.
    """
    if chooser.needs_all_items:
        mask, losses = _choose_chunk(eta.toarray(), chooser)
        return csr_matrix(mask), losses
    n_rows, n_items = eta.shape
    n_stored = np.diff(eta.indptr)
    width = max(n_stored.max(), chooser.min_positive, 1)
    row = np.repeat(np.arange(n_rows), n_stored)
    position = np.arange(eta.nnz) - np.repeat(eta.indptr[:-1], n_stored)
    stored = np.zeros((n_rows, width))
    stored[row, position] = eta.data
    mask, losses = _choose_chunk(stored, chooser, n_items - width)
    columns = np.full(stored.shape, -1)
    columns[row, position] = eta.indices
    # So many columns have enough that a row does not store.
    first = np.arange(min(n_items, 2 * width))
    for other in np.flatnonzero((mask & (columns < 0)).any(axis=1)):
        is_open = columns[other] < 0
        free = np.setdiff1d(first, columns[other])
        columns[other, is_open] = free[: np.count_nonzero(is_open)]
    taken = mask.nonzero()[0], columns[mask]
    return csr_matrix((np.ones(len(taken[0]), bool), taken), shape=eta.shape), losses
