"""The set of items with the least expected loss."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import ArrayLike
from scipy.sparse import csr_matrix, issparse, vstack
from sklearn.utils import gen_batches
from sklearn.utils.parallel import Parallel, delayed

from sklearn_reject._typing import MatrixLike, Other, SetLossLike
from sklearn_reject._validation import check_option, of_arrays
from sklearn_reject.decoding._curves import DISTRIBUTIONS, expected_curves
from sklearn_reject.decoding._items import (
    check_average,
    check_bounds,
    check_distribution,
    check_probabilities,
    falls,
    items_in_place,
    number_sets,
    sets_as_rows,
    warn_of_small_sets,
)
from sklearn_reject.losses import SetLoss, check_set_loss

# Rows of a chunk: enough work for a job to be worth its start, little memory.
_ROWS_AT_ONCE = 4096

# Entries of a chunk of long rows.
_N_AT_ONCE = 2**20

# Expected losses that differ by less, relative to the largest, are taken for equal:
# rounding makes as much.
_TIE = 1e-12


@of_arrays
def decode(
    eta: MatrixLike,
    *,
    loss: SetLossLike,
    beta: float = 1.0,
    zero_division: float = 0.0,
    distribution: Literal["independent", "multinomial"] = "independent",
    groups: ArrayLike | None = None,
    average: Literal["samples", "macro", "micro"] = "samples",
    min_positive: int = 0,
    max_positive: int | None = None,
    n_jobs: int | None = None,
) -> tuple[np.ndarray | Other, Any]:
    r"""Find the set of items with the lowest expected loss.

    It is the set of the k most probable items for some k (NKRD16, theorems 1 and 2),
    and all k are compared that do not part equally probable items, whose order then
    does not matter; see :func:`expected_loss_curve`. A bound on the size parts them
    nevertheless, and takes those that come first. Sizes that an upper bound of the
    score rules out are left out, for "g_mean" of many items
    :math:`E \sqrt{TPR\,TNR} \le \sqrt{E\,TPR\;E\,TNR}`.

    Parameters
    ----------
    eta : {array-like, sparse matrix} of shape (n_items,) or (n_samples, n_labels)
        Probability of each item to be positive, in any order.

    loss : str or callable
        Loss of a set, lower is better: "f1", "f_beta", "jaccard", "am",
        "balanced_accuracy", "g_tp_pr" and "g_mean" are one minus the score of that
        name, "hamming" is the share of wrong items. A function gets arrays of the
        counts `tp`, `fp`, `fn` and `tn` by these names, and returns one finite number
        for each element.

    beta : float > 0, default=1.0
        Weight of recall in the loss "f_beta", the only one that takes it.

    zero_division : float in [0, 1], default=0.0
        What a score is where it is 0/0. At 0 an empty set is never rewarded.

    distribution : {"independent", "multinomial"}, default="independent"
        Whether items are positive independently of each other, or exactly one of them
        is, such as one class of many.

    groups : array-like of shape (n_items,), default=None
        The set of each item of a vector.

    average : {"samples", "macro", "micro"}, default="samples"
        Which items of a matrix are a set: with "samples" those of each row, with
        "macro" those of each column, with "micro" all of them. The items of a vector
        are one set, or those of its groups.

    min_positive : int >= 0, default=0
        Least number of items of a set to predict; all of a set that has fewer.

    max_positive : int >= 0, default=None
        Largest number of items of a set to predict. None for no bound. If it equals
        `min_positive`, each set has exactly so many.

    n_jobs : int, default=None
        Number of chunks of rows that are worked on in parallel. Expected losses may
        differ in their last digits, as rows of a chunk share a quadrature.

    Returns
    -------
    mask : {ndarray, csr_matrix} of the shape of `eta`, dtype bool
        The items to predict, of sets that are equally good but for rounding the
        smallest. Sparse for sparse `eta`.

    expected_loss : float or ndarray of shape (n_sets,)
        Expected loss of the set, or of each, lower is better. Groups are in the order
        of their sorted values, columns as they come.

    Raises
    ------
    ValueError
        If probabilities are NaN or not in [0, 1], there are no items, `groups` has
        another length or comes with a matrix, an option or a bound is invalid, or a
        vector comes with an `average`.

    Warns
    -----
    RejectionWarning
        If the loss may increase with the number of true positives, so that the best set
        may not consist of the most probable items.

    RejectionWarning
        If a set has fewer items than `min_positive`.

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

    The same samples, but now the samples of each label are a set:

    >>> mask, expected_loss = decode(
    ...     [[0.9, 0.5, 0.1], [0.2, 0.1, 0.1]], loss="jaccard", average="macro"
    ... )
    >>> mask
    array([[ True,  True,  True],
           [False, False,  True]])
    """
    loss = check_set_loss(loss, beta=beta, zero_division=zero_division)
    eta = check_probabilities(eta, accept_sparse=True)
    check_average(average, eta.shape)
    if average != "samples" and distribution == "multinomial":
        raise ValueError(
            "distribution='multinomial' says that one item of each row is positive, "
            f"but with average={average!r} rows are not the sets. Use "
            "average='samples'."
        )
    check_option(distribution, "distribution", DISTRIBUTIONS)
    if distribution == "multinomial":
        check_distribution(eta, groups)
    bounds = check_bounds(min_positive, max_positive)
    rule = SetRule(loss, distribution, *bounds)
    mask, losses = choose_items(eta, rule, average, groups=groups, n_jobs=n_jobs)
    is_one_set = average == "micro" or (eta.ndim == 1 and groups is None)
    return mask, float(losses[0]) if is_one_set else losses


def choose_items(eta, rule, average, *, groups=None, n_jobs=None, with_loss=True):
    """Return the mask of the chosen items, and the expected loss of each set or NaN.

    Probabilities may come in any order. `rule` is a `SetRule`.
    """
    sets = sets_as_rows(eta, average)
    sizes = sets.shape[-1] if groups is None else number_sets(sets.shape, groups)[1]
    warn_of_small_sets(rule.min_positive, sizes)
    options = {"with_loss": with_loss, "n_jobs": n_jobs}
    if issparse(sets):
        mask, losses = _choose_sparse(sets, rule, **options)
    elif sets.ndim == 2:
        mask, losses = _choose_rows(sets, rule, **options)
    else:
        mask, losses = _choose_groups(sets, rule, groups, **options)
    return items_in_place(mask, eta.shape, average), losses


def _choose_groups(eta, rule, groups, **options):
    numbers, sizes = number_sets(eta.shape, groups)
    mask, losses = np.empty(len(eta), dtype=bool), np.empty(len(sizes))
    starts, order = np.cumsum(sizes) - sizes, np.argsort(numbers, kind="stable")
    for size in np.unique(sizes):
        sets = np.flatnonzero(sizes == size)
        items = order[starts[sets, None] + np.arange(size)]
        mask[items], losses[sets] = _choose_rows(eta[items], rule, **options)
    return mask, losses


def _choose_rows(eta, rule, *, n_jobs, width=None, **options):
    """Choose among rows chunk by chunk; `width` items at most of each are looked at."""
    choose = _choose_stored if issparse(eta) else _choose_chunk
    n_at_once = max(1, min(_ROWS_AT_ONCE, _N_AT_ONCE // (width or eta.shape[1])))
    # Each job has something to do.
    n_at_once = min(n_at_once, -(-eta.shape[0] // effective_n_jobs(n_jobs)))
    parts = Parallel(n_jobs=n_jobs, require="sharedmem")(
        delayed(choose)(eta[rows], rule.of_sets(rows), **options)
        for rows in gen_batches(eta.shape[0], n_at_once)
    )
    masks, losses = zip(*parts, strict=True)
    mask = vstack(masks, format="csr") if issparse(eta) else np.concatenate(masks)
    return mask, np.concatenate(losses)


def _choose_chunk(eta, rule, n_negatives=0, **options):
    # By decreasing probability, ties as they come.
    order = np.argsort(-eta, axis=1, kind="stable")
    ordered = np.take_along_axis(eta, order, axis=1)
    sizes, losses = rule.choose(ordered, n_negatives, **options)
    mask = np.zeros(eta.shape, dtype=bool)
    is_taken = np.arange(eta.shape[1]) < sizes[:, None]
    np.put_along_axis(mask, order, is_taken, axis=1)
    return mask, losses


def _choose_sparse(eta, rule, **options):
    """Choose among rows of which most items surely are negative."""
    widths = np.maximum(np.diff(eta.indptr), min(rule.min_positive, eta.shape[1]))
    if rule.needs_all_items:
        widths = np.full(len(widths), eta.shape[1])
    # Rows that are worked on together have about as many items.
    by_width = np.argsort(widths, kind="stable")
    options["width"] = max(widths.max(), 1)
    found = _choose_rows(eta[by_width], rule.of_sets(by_width), **options)
    back = np.argsort(by_width)
    return tuple(each[back] for each in found)


def _choose_stored(eta, rule, **options):
    """Choose by the items that rows store; the others surely are negative.

    Of these as many are looked at as the longest row stores more, or the bound wants.
    """
    if rule.needs_all_items:
        mask, losses = _choose_chunk(eta.toarray(), rule, **options)
        return csr_matrix(mask), losses
    n_rows, n_items = eta.shape
    n_stored = np.diff(eta.indptr)
    width = max(n_stored.max(), min(rule.min_positive, n_items), 1)
    row = np.repeat(np.arange(n_rows), n_stored)
    position = np.arange(eta.nnz) - np.repeat(eta.indptr[:-1], n_stored)
    stored = np.zeros((n_rows, width))
    stored[row, position] = eta.data
    mask, losses = _choose_chunk(stored, rule, n_items - width, **options)
    columns = np.full(stored.shape, -1)
    columns[row, position] = eta.indices
    # So many columns have enough that a row does not store.
    first = np.arange(min(n_items, 2 * width))
    for other in np.flatnonzero((mask & (columns < 0)).any(axis=1)):
        is_open = columns[other] < 0
        free = np.setdiff1d(first, columns[other])
        columns[other, is_open] = free[: np.count_nonzero(is_open)]
    taken = mask.nonzero()[0], columns[mask]
    mask = csr_matrix((np.ones(len(taken[0]), bool), taken), shape=eta.shape)
    return mask, losses


@dataclass(frozen=True, eq=False)
class SetRule:
    """How many of the most probable items of a set to predict, within bounds.

    The number of the least expected loss or, with a `threshold`, one of all sets or one
    each, of the items that reach it. Equally probable items are taken or left together,
    unless a bound is among them.
    """

    loss: SetLoss
    distribution: str
    min_positive: int = 0
    max_positive: int | None = None
    threshold: float | np.ndarray | None = None

    def of_sets(self, sets):
        """Return the rule for some of the sets."""
        if np.ndim(self.threshold) == 0:
            return self
        return replace(self, threshold=self.threshold[sets])

    @property
    def needs_all_items(self):
        """Whether items that surely are negative may be taken by choice."""
        if self.threshold is not None and np.min(self.threshold) <= 0:
            return True
        return self.distribution == "multinomial" or not self.loss.spares_negatives

    def choose(self, eta, n_negatives=0, *, with_loss=True):
        """Return the size of each row, and its expected loss.

        Rows are sorted decreasing; `n_negatives` further items of each are surely
        negative and not predicted. Of losses that differ by no more than rounding the
        smallest size. The losses of a threshold take longer than all else, and are NaN
        unless `with_loss`.
        """
        n_items = eta.shape[1] + n_negatives
        largest = n_items if self.max_positive is None else self.max_positive
        limits = [min(bound, n_items) for bound in (self.min_positive, largest)]
        sizes = np.arange(eta.shape[1] + 1)
        if self.threshold is not None:
            reached = eta >= np.reshape(self.threshold, (-1, 1))
            chosen = np.clip(np.count_nonzero(reached, axis=1), *limits)
            if not with_loss:
                return chosen, np.full(len(eta), np.nan)
            allowed = sizes == chosen[:, None]
        else:
            inside = (sizes >= limits[0]) & (sizes <= limits[1])
            allowed = inside & _find_cuts(eta, limits, n_negatives)
        options = self.distribution, n_negatives, allowed
        curves = expected_curves(eta, self.loss, *options)
        scale = np.abs(curves).max(axis=1, where=np.isfinite(curves), initial=0.0)
        tie = _TIE * np.maximum(scale, self.loss.largest)
        of_allowed = np.where(allowed, curves, np.inf)
        best = (of_allowed <= (of_allowed.min(axis=1) + tie)[:, None]).argmax(axis=1)
        return best, curves[np.arange(len(eta)), best]


def _find_cuts(eta, bounds, n_negatives):
    """Return which sizes are a bound, or end a group of ties."""
    # Which of equally probable items are taken, nothing but their order could tell. A
    # bound is a wish to cut nevertheless, and else might leave no size, or none but
    # zero.
    cuts = np.ones((len(eta), eta.shape[1] + 1), dtype=bool)
    cuts[:, 1:-1] = falls(eta)
    if n_negatives:
        cuts[:, -1] = eta[:, -1] > 0
    for bound in bounds:
        if 0 < bound < eta.shape[1] + n_negatives:
            cuts[:, bound : bound + 1] = True
    return cuts
