"""Counts of documents at all combinations of thresholds, chosen or given."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from numpy.typing import ArrayLike

from sklearn_reject._typing import Label
from sklearn_reject._validation import check_option, of_ratings
from sklearn_reject.thresholds._counted import (
    BYTES_PER_WEIGHED_NODE,
    describe,
    reached_others,
)
from sklearn_reject.thresholds._documents import check_documents
from sklearn_reject.thresholds._grid import (
    BYTES_PER_NODE,
    SPACINGS,
    check_grid_fits,
    check_n_thresholds,
    count_ranks,
    rank_scores,
    threshold_grid,
)
from sklearn_reject.thresholds._partition import check_grid, check_partition
from sklearn_reject.thresholds._table import PNTable


@of_ratings
def pn_table(
    scores: ArrayLike,
    y: ArrayLike,
    *,
    thresholds: Sequence[ArrayLike] | None = None,
    rule: Literal["any", "all"] = "any",
    n_thresholds: int = 100,
    spacing: Literal["quantile", "uniform"] = "quantile",
    base_thresholds: ArrayLike | None = None,
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
        threshold of -inf is reached by every score. The lowest of each are what
        `base_thresholds` finds otherwise, and a part may lack a class, or have no
        rated documents or no rows. None chooses them by `n_thresholds` and `spacing`.

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
        lowest thresholds that no unrated document reaches; with `thresholds`, none may
        reach the lowest of these.

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
        unrated documents without a inclusion_proba mean that ratings are incomplete.

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
        come with `n_thresholds` or `spacing`, or an unrated document reaches the lowest
        and nothing says that a sample was rated.

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
    check_option(spacing, "spacing", SPACINGS)
    given = (
        rule,
        base_thresholds,
        unrated_label,
        sample_weight,
        pos_label,
        inclusion_proba,
    )
    if thresholds is None:
        documents = check_documents(scores, y, *given)
        return _tabulate(documents, threshold_grid(documents, n_thresholds, spacing))
    _refuse_beside_thresholds(n_thresholds, spacing)
    grid = check_grid(thresholds)
    documents = check_partition(scores, y, grid, *given)
    return _tabulate(documents, grid, "thresholds")


def _refuse_beside_thresholds(n_thresholds, spacing):
    """Raise where thresholds are given and are to be chosen, too."""
    if (n_thresholds, spacing) == (100, "quantile"):
        return
    name = f"n_thresholds={n_thresholds}"
    if n_thresholds == 100:
        name = f"spacing={spacing!r}"
    raise ValueError(
        f"thresholds and {name} exclude each other: n_thresholds and spacing are only "
        "for tables without given thresholds. Omit one of the two."
    )


def _tabulate(documents, grid, name="n_thresholds"):
    """Return the table of documents; `name` is the parameter that made the grid."""
    shape = tuple(map(len, grid))
    reached = reached_others(documents)
    is_weighed = documents.weight is not None or len(reached[0]) > 0
    bytes_per_node = BYTES_PER_WEIGHED_NODE if is_weighed else BYTES_PER_NODE
    check_grid_fits(shape, bytes_per_node, name)
    ranks = rank_scores(documents.scores, grid)
    fp, tp = count_ranks(ranks, documents, shape)
    counted = describe(documents, grid, ranks, reached)
    return PNTable(tuple(grid), fp, tp, documents.rule, counted)
