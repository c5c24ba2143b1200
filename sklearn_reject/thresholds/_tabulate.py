"""Counts of documents at all combinations of thresholds, chosen or given."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from sklearn_reject._typing import Label
from sklearn_reject._validation import as_real_array, of_ratings
from sklearn_reject.thresholds._checks import check_documents
from sklearn_reject.thresholds._documents import predict_positive
from sklearn_reject.thresholds._grid import (
    BYTES_PER_NODE,
    check_grid_fits,
    check_n_thresholds,
    count_ranks,
    rank_scores,
    threshold_grid,
)
from sklearn_reject.thresholds._table import PNTable

# Counts of both classes as `_grid` has them, and what is beside them.
BYTES_PER_WEIGHED_NODE = 96


@of_ratings
def pn_table(
    scores: ArrayLike,
    y: ArrayLike,
    *,
    thresholds: Sequence[ArrayLike] | None = None,
    rule: Literal["any", "all"] = "any",
    n_thresholds: int = 100,
    unrated_label: Label = -1,
    sample_weight: ArrayLike | None = None,
    pos_label: Label = None,
    inclusion_proba: ArrayLike | None = None,
) -> PNTable:
    """Count false and true positives at all combinations of thresholds.

    Only rated documents count (RZMR20). One histogram and its cumulative sums along
    each classifier take the place of a count for each combination: the time is
    proportional to the number of documents plus n_classifiers times the number of
    combinations.

    Parameters
    ----------
    scores : array-like of shape (n_documents, n_classifiers) or (n_documents,)
        Scores, higher = more likely positive. NaN if a classifier did not run, which
        reaches no threshold: with "any" the others decide, and with "all" the document
        is not predicted positive.

    y : array-like of shape (n_documents,)
        1 for rated positives, 0 for rated negatives, `unrated_label` or NaN for the
        others. Two other classes are taken in sorted order.

    thresholds : sequence of n_classifiers array-likes, default=None
        Increasing thresholds of each classifier to count at, so that tables of parts of
        the documents add up: those of the table of one part or of a sample, as
        ``table.thresholds``. Infinity is appended where it is missing; a first
        threshold of -inf is reached by every score. No unrated document may reach the
        lowest of each, and a part may lack a class, or have no rated documents or no
        rows. None chooses them by `n_thresholds`.

    rule : {"any", "all"}, default="any"
        Whether one score that reaches its threshold is enough for a document to be
        predicted positive (union), or all have to (intersection).

    n_thresholds : int >= 2, default=100
        Largest number of thresholds of a classifier: quantiles of its scores, half of
        them of positives and half of negatives, from the lowest that no unrated
        document reaches to infinity. All distinct scores where they fit.

    unrated_label : label, default=-1
        What stands for unrated.

    sample_weight : array-like of shape (n_documents,), default=None
        Weight of each document, such as the inverse of its probability to be rated.

    pos_label : label, default=None
        The positive class. None is 1 if the classes are 0 and 1, and the last of two
        sorted classes otherwise.

    inclusion_proba : float or array-like of shape (n_documents,), default=None
        Probability in ]0, 1] of each document to be rated, if it was drawn at random,
        and NaN otherwise. Rated documents have the inverse as weight, times
        `sample_weight`, and represent unrated ones with the same probability. Only
        unrated documents without one mean that ratings are incomplete.

    Returns
    -------
    table : PNTable
        Thresholds of each classifier, false and true positives. Tables with the same
        thresholds add up.

    Raises
    ------
    ValueError
        If scores are infinite or constant, a class has no rated documents, there are
        no thresholds down to which ratings are known, or the table would take more than
        scikit-learn's ``working_memory``. With `thresholds`: if they do not increase,
        come with `n_thresholds`, or an unrated document without an `inclusion_proba`
        reaches the lowest.

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

    Two parts of the documents, counted at the same thresholds, add up:

    >>> grid = [[0.1, 0.4], [0.2, 0.7]]
    >>> first = pn_table(scores[:3], [1, 1, 0], thresholds=grid)
    >>> second = pn_table(scores[3:], [0, 0], thresholds=grid)
    >>> (first + second).fp
    array([[3., 3., 3.],
           [3., 2., 2.],
           [3., 0., 0.]])
    """
    check_n_thresholds(n_thresholds)
    options = {
        "unrated_label": unrated_label,
        "sample_weight": sample_weight,
        "pos_label": pos_label,
        "inclusion_proba": inclusion_proba,
    }
    if thresholds is None:
        documents = check_documents(scores, y, rule, **options)
        return _tabulate(documents, threshold_grid(documents, n_thresholds))
    if n_thresholds != 100:
        raise ValueError(
            f"thresholds and n_thresholds={n_thresholds} exclude each other: "
            "n_thresholds is only for tables without given thresholds. Omit one of the "
            "two."
        )
    grid = _check_grid(thresholds)
    documents = check_documents(scores, y, rule, grid=grid, **options)
    return _tabulate(documents, grid, "thresholds")


def _check_grid(thresholds):
    """Return increasing thresholds of each classifier, infinity the last of each.

    A vector of numbers are those of a single classifier.
    """
    try:
        is_vector = np.ndim(next(iter(thresholds))) == 0
        grid = [thresholds] if is_vector else list(thresholds)
    except (TypeError, StopIteration, ValueError):
        grid = []
    if not grid:
        raise ValueError(
            "thresholds must hold one vector of increasing numbers for each "
            f"classifier, such as the thresholds of a PNTable, got {thresholds!r}."
        )
    return [_check_axis(values, column) for column, values in enumerate(grid)]


def _check_axis(values, column):
    values = as_real_array(values, "thresholds").astype(np.float64)
    is_vector = values.ndim == 1 and len(values) > 0
    # Comparisons with NaN are false.
    if not is_vector or not (np.diff(values) > 0).all() or np.isnan(values).any():
        raise ValueError(
            f"thresholds of classifier {column} must be a vector of increasing "
            f"numbers, none of them NaN, got {values.tolist()}. Sort them and remove "
            "duplicates, as np.unique does."
        )
    if values[0] == np.inf:
        raise ValueError(
            f"thresholds of classifier {column} contain only infinity, which no score "
            "reaches. Add the lowest threshold, or -inf for all scores."
        )
    return values if values[-1] == np.inf else np.append(values, np.inf)


def _tabulate(documents, grid, name="n_thresholds"):
    """Return the table of documents; `name` is the parameter that made the grid."""
    shape, rule = tuple(map(len, grid)), documents.rule
    others, is_weightless = documents.others
    is_reached = predict_positive(others, documents.base, rule)
    has_extra = documents.weight is not None or is_reached.any()
    bytes_per_node = BYTES_PER_WEIGHED_NODE if has_extra else BYTES_PER_NODE
    check_grid_fits(shape, bytes_per_node, name)
    ranks, is_positive = rank_scores(documents.scores, grid), documents.is_positive
    fp, tp = count_ranks(ranks, is_positive, documents.weight, shape, rule)
    extra = None
    if has_extra:
        squared = None if documents.weight is None else documents.weight**2
        of_others = rank_scores(others[is_reached], grid)
        extra = np.empty((5, *shape))
        extra[:2] = count_ranks(ranks, is_positive, squared, shape, rule)
        extra[2] = count_ranks(ranks, is_positive, None, shape, rule).sum(axis=0)
        extra[3:] = count_ranks(of_others, is_weightless[is_reached], None, shape, rule)
    return PNTable(tuple(grid), fp, tp, rule, documents.census, extra)
