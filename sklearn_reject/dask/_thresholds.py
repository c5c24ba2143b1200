"""Counts at joint thresholds of dask collections."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from dask import delayed
from numpy.typing import ArrayLike

from sklearn_reject._typing import Label, Other
from sklearn_reject._validation import check_option
from sklearn_reject.dask._partitions import (
    check_lengths,
    errors_name_partition,
    merge_in_tree,
    pair_partitions,
)
from sklearn_reject.thresholds import PNTable
from sklearn_reject.thresholds import pn_table as table_in_memory


def pn_table(
    scores: Any,
    y: Any,
    *,
    thresholds: Sequence[ArrayLike],
    rule: Literal["any", "all"] = "any",
    unrated_label: Label = -1,
    sample_weight: Any = None,
    pos_label: Label = None,
    inclusion_proba: Any = None,
    compute: bool = True,
) -> PNTable | Other:
    """Count false and true positives at all combinations of thresholds.

    The sum of the tables of all partitions, which is that of
    :func:`sklearn_reject.thresholds.pn_table` with the same `thresholds`. Its methods
    find paths and operating points without the documents.

    Parameters
    ----------
    scores : dask array or dataframe of shape (n_documents, n_classifiers), or dask \
            array or column of shape (n_documents,)
        Scores, higher = more likely positive. NaN if a classifier did not run, which
        reaches no threshold: with "any" the others decide, and with "all" the document
        is not predicted positive.

    y : dask array or column of shape (n_documents,)
        1 for rated positives, 0 for rated negatives, `unrated_label` or NaN for the
        others. Two other classes take a `pos_label`, as a partition may have but one.

    thresholds : sequence of n_classifiers array-likes
        Increasing thresholds of each classifier to count at, such as those of the table
        of one partition or of a sample, ``table.thresholds``. Infinity is appended
        where it is missing; a first threshold of -inf is reached by every score. The
        lowest of each are those down to which ratings are known: no unrated document
        may reach them.

    rule : {"any", "all"}, default="any"
        Whether one score that reaches its threshold is enough for a document to be
        predicted positive (union), or all have to (intersection).

    unrated_label : label, default=-1
        What stands for unrated.

    sample_weight : dask array or column of shape (n_documents,), default=None
        Weight of each document, such as the inverse of its probability to be rated.

    pos_label : label, default=None
        The positive class. None is 1 if the classes are 0 and 1, and the last of two
        sorted classes otherwise.

    inclusion_proba : float or dask array or column of shape (n_documents,), \
            default=None
        Probability in ]0, 1] of each document to be rated, if it was drawn at random,
        and NaN otherwise. Rated documents have the inverse as weight, times
        `sample_weight`, and represent unrated ones with the same probability. Only
        unrated documents without one mean that ratings are incomplete.

    compute : bool, default=True
        False gives a `dask.delayed.Delayed` of the table.

    Returns
    -------
    table : PNTable
        Thresholds of each classifier, false and true positives.

    Raises
    ------
    ValueError
        If an argument is no dask collection, the collections are not cut at the same
        rows and cannot be, scores are infinite, thresholds do not increase, the table
        would take more than scikit-learn's ``working_memory``, or an unrated document
        without an `inclusion_proba` reaches the lowest. Of values, the error names the
        partition.

    Examples
    --------
    >>> import dask.array as da
    >>> import numpy as np
    >>> from sklearn_reject.dask import pn_table
    >>> scores = np.array([[0.9, 0.2], [0.3, 0.7], [0.6, 0.5], [0.4, 0.3], [0.1, 0.6]])
    >>> scores = da.from_array(scores, chunks=(2, 2))
    >>> y = da.from_array([1, 1, 0, 0, 0], chunks=2)
    >>> table = pn_table(scores, y, thresholds=[[0.1, 0.4, 0.9], [0.2, 0.7]])
    >>> table.tp
    array([[2., 2., 2.],
           [2., 2., 1.],
           [2., 2., 1.],
           [2., 1., 0.]])
    >>> point = table.operating_point(max_alerts=3)
    >>> point.thresholds, point.fp, point.tp
    (array([0.9, 0.7]), 0.0, 2.0)
    """
    check_option(compute, "compute", (True, False))
    options = {
        "thresholds": thresholds,
        "rule": rule,
        "unrated_label": unrated_label,
        "pos_label": pos_label,
    }
    columns = {"scores": scores, "y": y}
    if sample_weight is not None:
        columns["sample_weight"] = sample_weight
    if np.ndim(inclusion_proba):
        columns["inclusion_proba"] = inclusion_proba
    else:
        options["inclusion_proba"] = inclusion_proba
    # What is wrong with thresholds is wrong in all partitions.
    table_in_memory(np.zeros(0), np.zeros(0), **options)
    options = delayed(options, traverse=False)
    pairs = enumerate(pair_partitions(columns))
    tables = [delayed(_count)(index, pieces, options) for index, pieces in pairs]
    table = merge_in_tree(tables, sum)
    return table.compute() if compute else table


def _count(index, pieces, options):
    """Return the table of a partition."""
    with errors_name_partition(index):
        if not check_lengths(pieces):
            # Of an empty partition, types say nothing.
            pieces = {name: np.zeros(np.shape(piece)) for name, piece in pieces.items()}
        return table_in_memory(**pieces, **options)
