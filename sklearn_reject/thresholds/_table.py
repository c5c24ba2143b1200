"""Counts at all combinations of thresholds, which add up over parts of documents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from sklearn_reject._typing import Label
from sklearn_reject._validation import as_real_array, check_level, of_ratings
from sklearn_reject.exceptions import warn_user
from sklearn_reject.thresholds._checks import check_documents, refuse_one_class
from sklearn_reject.thresholds._documents import Census, predict_positive
from sklearn_reject.thresholds._graph import best_grid_path
from sklearn_reject.thresholds._grid import (
    BYTES_PER_NODE,
    check_grid_fits,
    check_n_thresholds,
    count_ranks,
    locate_thresholds,
    rank_scores,
    threshold_grid,
)
from sklearn_reject.thresholds._path import ThresholdPath
from sklearn_reject.thresholds._point import OperatingPoint, make_point
from sklearn_reject.thresholds._targets import find_vertex, resolve_target

# Counts of both classes as `_grid` has them, and what is beside them.
_BYTES_PER_WEIGHED_NODE = 96

# Of positives, beyond what rounding of sums of weights may come to.
_LEAST_SHARE = 1e-9


@dataclass(frozen=True, eq=False)
class PNTable:
    """False and true positives at all combinations of thresholds.

    Tables of parts of the documents that share the thresholds add up, by ``+`` and
    ``sum``: to the table of all documents, exactly where nothing has a weight and up to
    rounding otherwise. A table is all that a path and an operating point on its grid
    need, so that documents may stay where they are.

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

    census, extra : optional
        What else operating points need: how many documents were given, sums of squared
        weights, and so on. Private, may change.

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

    thresholds: tuple[np.ndarray, ...]
    fp: np.ndarray
    tp: np.ndarray
    rule: str
    census: Census | None = None
    #: At each node the squared weights of false and true positives, the number of both,
    #: and those of documents that do not count, first but for those of weight zero,
    #: then these. None where all documents count, and weigh one.
    extra: np.ndarray | None = None

    def __add__(self, other: PNTable) -> PNTable:
        if not isinstance(other, PNTable):
            return NotImplemented
        _check_same(self, other)
        census = extra = None
        if self.census is not None and other.census is not None:
            census = self.census + other.census
        if self.extra is not None or other.extra is not None:
            extra = self._extra_at() + other._extra_at()
        fp, tp = self.fp + other.fp, self.tp + other.tp
        return PNTable(self.thresholds, fp, tp, self.rule, census, extra)

    def __radd__(self, other: Any) -> PNTable:
        # The start of `sum`.
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def count_at(self, thresholds: ArrayLike) -> tuple[float, float]:
        """Return false and true positives at one combination of thresholds.

        Such as those tuned on the tables of other parts of the documents.

        Parameters
        ----------
        thresholds : array-like of shape (n_classifiers,)
            One threshold a classifier, each one of the table.

        Returns
        -------
        fp, tp : float
            False and true positives.

        Raises
        ------
        ValueError
            If a threshold is not one of the table.
        """
        thresholds = np.atleast_1d(as_real_array(thresholds, "thresholds"))
        shape = (len(self.thresholds),)
        pairs = zip(self.thresholds, thresholds, strict=False)
        is_there = thresholds.shape == shape and all(t in grid for grid, t in pairs)
        if not is_there:
            raise ValueError(
                "thresholds must be one of those of the table for each of the "
                f"{shape[0]} classifiers, got {thresholds.tolist()}. Nothing was "
                "counted between them."
            )
        node = tuple(locate_thresholds(self.thresholds, thresholds))
        return float(self.fp[node]), float(self.tp[node])

    def optimal_path(self) -> ThresholdPath:
        """Find the path of the largest area on the grid of the table.

        That of :func:`~sklearn_reject.thresholds.optimal_path` by the method "graph",
        with these thresholds.
        No document is at hand to place thresholds midway between scores: they are those
        of the table.

        Returns
        -------
        path : ThresholdPath
            Thresholds, false and true positives of each vertex, and the area.

        Raises
        ------
        ValueError
            If the lowest thresholds reach no positive or no negative.

        Examples
        --------
        >>> from sklearn_reject.thresholds import pn_table
        >>> scores = [[0.9, 0.2], [0.3, 0.7], [0.6, 0.5], [0.4, 0.3], [0.1, 0.6]]
        >>> pn_table(scores, [1, 1, 0, 0, 0]).optimal_path().area
        6.0
        """
        lowest = [values[0] for values in self.thresholds]
        way_out = ". Add tables of other parts, or lower thresholds."
        refuse_one_class(self.fp.flat[0], self.tp.flat[0], "The table", lowest, way_out)
        return best_grid_path(self.thresholds, self.fp, self.tp, self.rule)

    def operating_point(
        self,
        *,
        max_fp_per_tp: float | None = None,
        max_alerts: int | None = None,
        min_recall: float | None = None,
        min_precision: float | None = None,
        objective: Literal["f1"] | None = None,
        confidence_level: float = 0.95,
    ) -> OperatingPoint:
        """Find the joint thresholds that are best for a target.

        That of :func:`~sklearn_reject.thresholds.operating_point` by the method "graph"
        on a grid with these thresholds, with the same counts and intervals. No document
        is at hand to place thresholds midway between scores: they are those of the
        table. Nor can anything warn of documents that look as if a high score had
        selected them.

        Parameters
        ----------
        max_fp_per_tp : float > 0, default=None
            False positives that one more true positive may cost, 1 / d: the point
            maximizes TP - FP * d, where d = dTP/dFP is the slope of the curve. The
            share of true positives among the last documents predicted is then d / (1 +
            d). Exactly one of this and the next four must be given.

        max_alerts : int >= 1, default=None
            The most true positives with at most this number of documents predicted
            positive, of all documents given, rated or not.

        min_recall : float in ]0, 1], default=None
            The fewest false positives with at least this share of all positives found.
            Only where all documents are rated, or a sample of all of them, see
            `inclusion_proba` of :func:`~sklearn_reject.thresholds.pn_table`. Positives
            below the lowest thresholds of the table count as missed.

        min_precision : float in ]0, 1], default=None
            The most true positives with at least this precision, TP / (TP + FP) of the
            rated documents.

        objective : {"f1"}, default=None
            The best F1 of the rated documents.

        confidence_level : float in ]0, 1[, default=0.95
            Coverage of the intervals of counts and precision.

        Returns
        -------
        point : OperatingPoint
            Thresholds, which are those of the table, counts, precision and their
            intervals.

        Raises
        ------
        InfeasibleTargetError
            If the target cannot be met.
        ValueError
            If not exactly one target is given, a parameter is invalid, or the lowest
            thresholds reach no positive or no negative.

        Warns
        -----
        RejectionWarning
            If lower thresholds than those of the table might be better.

        Examples
        --------
        >>> from sklearn_reject.thresholds import pn_table
        >>> scores = [[0.9, 0.2], [0.3, 0.7], [0.6, 0.5], [0.4, 0.3], [0.1, 0.6]]
        >>> point = pn_table(scores, [1, 1, 0, 0, 0]).operating_point(max_alerts=3)
        >>> point.thresholds, point.fp, point.tp
        (array([0.9, 0.7]), 0.0, 2.0)
        """
        asked = max_fp_per_tp, max_alerts, min_recall, min_precision, objective
        target = resolve_target(*asked)
        check_level(confidence_level, "confidence_level")
        path = self.optimal_path()
        if self.census is None:
            raise ValueError(
                "The table was not made by pn_table, so nobody knows the number of "
                "documents. Make it with pn_table(scores, y, thresholds=)."
            )
        target.check(self.census)
        alerts = self._sums_at(path.thresholds.T)[4:].sum(axis=0)
        vertex = find_vertex(target, path, self.census.total_positive, alerts)
        self._warn_of_missed(float(path.tp[vertex]))
        sums = self._sums_at(path.thresholds[vertex])
        return make_point(sums, self.census, target, path, vertex, confidence_level)

    def _sums_at(self, thresholds):
        """Return at one combination, or several, what `RatedDocuments.sums_at` does."""
        node = tuple(locate_thresholds(self.thresholds, thresholds))
        return np.stack([self.fp[node], self.tp[node], *self._extra_at(node)])

    def _extra_at(self, node=...):
        """Return what `extra` has at some nodes, where it is None, too."""
        if self.extra is not None:
            return self.extra[:, *(node if isinstance(node, tuple) else (node,))]
        fp, tp = self.fp[node], self.tp[node]
        return np.stack([fp, tp, fp + tp, np.zeros_like(fp), np.zeros_like(fp)])

    def _warn_of_missed(self, tp):
        """Warn where all is predicted that the table has, and there is more below."""
        census = self.census
        if not census.is_complete or tp < self.tp.flat[0]:
            return
        missed = census.total_positive - tp - census.unreachable_positive
        if missed > _LEAST_SHARE * tp:
            warn_user(
                "At the operating point, all positives of the table are predicted "
                f"positive, but {missed:g} more positives are rated below its lowest "
                "thresholds. Start it at lower thresholds, or at -inf."
            )


def _check_same(*tables):
    """Raise for tables that do not add up, with what differs."""
    rules = [table.rule for table in tables], "the same rule"
    numbers = [len(table.thresholds) for table in tables], "the same thresholds"
    labels = [table.census and table.census.pos_label for table in tables]
    classes = labels, "pos_label, as a part may lack a class"
    names = "rules", "numbers of classifiers", "positive classes"
    for what, ((one, two), same) in zip(names, (rules, numbers, classes), strict=True):
        if None not in (one, two) and one != two:
            raise ValueError(
                f"Tables of different {what} do not add up: {one!r} and {two!r}. Make "
                f"both with pn_table(..., thresholds=) and {same}."
            )
    pairs = zip(*(table.thresholds for table in tables), strict=True)
    for column, (one, two) in enumerate(pairs):
        if not np.array_equal(one, two):
            raise ValueError(
                f"Tables of different thresholds do not add up: classifier {column} "
                f"has {_describe(one, two)} and {_describe(two, one)}. Make both with "
                "pn_table(..., thresholds=) and those of the first."
            )


def _describe(values, others):
    """Return the number of thresholds, and the first that is not among others."""
    own = np.setdiff1d(values, others)
    return f"{len(values)}" + (f" with {own[0].item()!r}" if len(own) else "")


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
    ratings = unrated_label, sample_weight, pos_label, inclusion_proba
    if thresholds is None:
        documents = check_documents(scores, y, rule, *ratings)
        return _tabulate(documents, threshold_grid(documents, n_thresholds))
    if n_thresholds != 100:
        raise ValueError(
            f"thresholds and n_thresholds={n_thresholds} exclude each other: "
            "n_thresholds is only for tables without given thresholds. Omit one of the "
            "two."
        )
    grid = _check_grid(thresholds)
    documents = check_documents(scores, y, rule, *ratings, grid=grid)
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
    grid = [as_real_array(values, "thresholds").astype(np.float64) for values in grid]
    for column, values in enumerate(grid):
        is_vector = values.ndim == 1 and len(values) > 0 and not np.isnan(values).any()
        if not is_vector or not (values[1:] > values[:-1]).all():
            raise ValueError(
                f"thresholds of classifier {column} must be a vector of increasing "
                f"numbers, none of them NaN, got {values.tolist()}. Sort them and "
                "remove duplicates, as np.unique does."
            )
        if values[0] == np.inf:
            raise ValueError(
                f"thresholds of classifier {column} contain only infinity, which no "
                "score reaches. Add the lowest threshold, or -inf for all scores."
            )
    return [np.union1d(values, np.inf) for values in grid]


def _tabulate(documents, grid, name="n_thresholds"):
    """Return the table of documents; `name` is the parameter that made the grid."""
    shape, rule = tuple(map(len, grid)), documents.rule
    others, is_weightless = documents.others
    is_reached = predict_positive(others, documents.base, rule)
    has_extra = documents.weight is not None or is_reached.any()
    bytes_per_node = _BYTES_PER_WEIGHED_NODE if has_extra else BYTES_PER_NODE
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
