"""False and true positives at all combinations of thresholds."""

from dataclasses import dataclass

import numpy as np

from sklearn_reject.thresholds._documents import check_documents
from sklearn_reject.thresholds._grid import threshold_grid
from sklearn_reject.thresholds._grid_memory import check_grid_fits
from sklearn_reject.thresholds._ranks import ranks


@dataclass(frozen=True, eq=False)
class PNTable:
    """False and true positives at all combinations of thresholds.

    Attributes
    ----------
    thresholds : tuple of n_classifiers ndarrays
        Increasing thresholds of each classifier, from the lowest, below which ratings
        are incomplete, to infinity.

    fp, tp : ndarray of shape (n_thresholds_1, ..., n_thresholds_N)
        False and true positives, counts or sums of weights, float64. None rises along
        an axis.

    rule : {"any", "all"}
        How the classifiers decide together.

    Examples
    --------
    >>> from sklearn_reject.thresholds import pn_table
    >>> scores = [[0.9, 0.2], [0.3, 0.7], [0.6, 0.5], [0.4, 0.3], [0.1, 0.6]]
    >>> table = pn_table(scores, [1, 1, 0, 0, 0])
    >>> table.thresholds[0], table.tp.shape
    (array([0.1, 0.3, 0.4, 0.6, 0.9, inf]), (6, 6))
    >>> float(table.tp[4, 4]), float(table.fp[4, 4])  # at 0.9 and 0.7
    (2.0, 0.0)
    """

    thresholds: tuple
    fp: np.ndarray
    tp: np.ndarray
    rule: str


def pn_table(
    scores,
    y,
    *,
    rule="any",
    n_thresholds=100,
    spacing="quantile",
    base_thresholds=None,
    unrated_label=-1,
    sample_weight=None,
):
    """Count false and true positives at all combinations of thresholds.

    Only rated documents count (RZMR20). One histogram and its cumulative sums along
    each classifier take the place of a count for each combination: the time is
    proportional to the number of documents plus n_classifiers times the number of
    combinations.

    Parameters
    ----------
    scores : array-like of shape (n_documents, n_classifiers) or (n_documents,)
        Finite scores, higher = more likely positive.

    y : array-like of shape (n_documents,)
        1 for rated positives, 0 for rated negatives, `unrated_label` or NaN for the
        others. Two other classes are taken in sorted order.

    rule : {"any", "all"}, default="any"
        Whether one score that reaches its threshold is enough for a document to be
        predicted positive (union), or all have to (intersection).

    n_thresholds : int >= 2, default=100
        Largest number of thresholds of a classifier, the two extremes included.

    spacing : {"quantile", "uniform"}, default="quantile"
        Whether the thresholds are quantiles of the scores, half of them of positives
        and half of negatives, or equal steps. All distinct scores where they fit.

    base_thresholds : array-like of shape (n_classifiers,), default=None
        Documents from here on were rated, all or a sample of them. None finds the
        lowest thresholds that no unrated document reaches.

    unrated_label : label, default=-1
        What stands for unrated.

    sample_weight : array-like of shape (n_documents,), default=None
        Weight of each document, such as the inverse of its probability to be rated.

    Returns
    -------
    table : PNTable
        Thresholds of each classifier, false and true positives.

    Raises
    ------
    ValueError
        If scores are not finite or constant, a class has no rated documents, there are
        no thresholds down to which ratings are known, or the table would take more than
        scikit-learn's ``working_memory``.

    Examples
    --------
    >>> from sklearn_reject.thresholds import pn_table
    >>> scores = [[0.9, 0.2], [0.3, 0.7], [0.6, 0.5], [0.4, 0.3], [0.1, 0.6]]
    >>> table = pn_table(scores, [1, 1, 0, 0, 0], n_thresholds=4)
    >>> [values.tolist() for values in table.thresholds]
    [[0.1, 0.3, 0.4, inf], [0.2, 0.3, 0.7, inf]]
    >>> table.tp
    array([[2., 2., 2., 2.],
           [2., 2., 2., 2.],
           [2., 2., 2., 1.],
           [2., 1., 1., 0.]])
    """
    documents = check_documents(
        scores,
        y,
        rule=rule,
        base_thresholds=base_thresholds,
        unrated_label=unrated_label,
        sample_weight=sample_weight,
    )
    return count_table(documents, threshold_grid(documents, n_thresholds, spacing))


def count_table(documents, grid):
    """Count false and true positives on a grid.

    Parameters
    ----------
    documents : RatedDocuments
        What counts.

    grid : list of n_classifiers ndarrays
        Increasing thresholds of each classifier, from `documents.base` to infinity.

    Returns
    -------
    table : PNTable
        False and true positives.

    Raises
    ------
    ValueError
        If the grid does not fit into scikit-learn's ``working_memory``.
    """
    shape = tuple(map(len, grid))
    check_grid_fits(shape)
    fp, tp = count_ranks(ranks(documents, grid).T, documents, shape)
    return PNTable(tuple(grid), fp, tp, documents.rule)


def count_ranks(columns, documents, shape):
    """Count false and true positives from the number of thresholds that are reached.

    Parameters
    ----------
    columns : sequence of ndarrays of shape (n_documents,), dtype intp
        For each axis the rank of each document, in [0, length of the axis[.

    documents : RatedDocuments
        Classes, weights, and the rule.

    shape : tuple of int
        Length of each axis.

    Returns
    -------
    counts : ndarray of shape (2, *shape)
        False and true positives of the indices that a rank is above of, on any axis or
        on all.
    """
    # Under "all" every document reaches the lowest thresholds: no rank is 0.
    shift = documents.rule == "all"
    code = documents.is_positive.astype(np.intp)
    for column, length in zip(columns, shape, strict=True):
        code *= length
        code += column
        code -= shift
    size = 2 * int(np.prod(shape))
    counts = np.bincount(code, documents.weight, size).astype(np.float64, copy=False)
    return _accumulate(counts.reshape(2, *shape), documents.rule)


def _accumulate(counts, rule):
    """Sum up, in place, the cells above an index, or all but those below."""
    axes = range(1, counts.ndim)
    # A view in opposite order sums from the end.
    view = counts if rule == "any" else np.flip(counts, tuple(axes))
    for axis in axes:
        np.cumsum(view, axis=axis, out=view)
    if rule == "any":
        totals = counts.reshape(2, -1)[:, -1].copy()
        np.subtract(totals.reshape(2, *[1] * len(axes)), counts, out=counts)
    return counts
