"""Counts at all combinations of thresholds, which add up over parts of documents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from reprlib import repr as shorten
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_scalar

from sklearn_reject._typing import Label
from sklearn_reject._validation import as_real_array, check_level, of_ratings
from sklearn_reject.thresholds._documents import (
    Census,
    check_documents,
    groups_of,
    predict_positive,
    refuse_one_class,
)
from sklearn_reject.thresholds._graph import (
    BYTES_PER_NODE,
    best_grid_path,
    check_grid_fits,
    count_ranks,
    locate_thresholds,
    rank_scores,
    threshold_grid,
)
from sklearn_reject.thresholds._point import (
    OperatingPoint,
    ThresholdPath,
    make_point,
    resolve_target,
)

# Counts of both classes at a node, and what is beside them.
_BYTES_PER_WEIGHED_NODE = 96


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

    census : object
        Numbers of documents, and so on. Private, may change.

    extra : optional
        Sums of squared weights, and so on. Private, may change.

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
    census: Census
    #: At each node the squared weights of false and true positives, the number of both,
    #: and that of documents that do not count. None where all documents count, and
    #: weigh one.
    extra: np.ndarray | None = None

    def __add__(self, other: PNTable) -> PNTable:
        if not isinstance(other, PNTable):
            return NotImplemented
        _check_same(self, other)
        census, extra = self.census + other.census, None
        if self.extra is not None or other.extra is not None:
            extra = self._sums_at()[2:] + other._sums_at()[2:]
            extra = extra.reshape(4, *self.fp.shape)
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
        asked = np.atleast_1d(as_real_array(thresholds, "thresholds")).tolist()
        pairs = zip(self.thresholds, asked, strict=False)
        if len(asked) != len(self.thresholds) or not all(t in own for own, t in pairs):
            raise ValueError(
                "thresholds must be of the table for each of the "
                f"{len(self.thresholds)} classifiers, got {asked}. Nothing was counted "
                "between them."
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
        refuse_one_class(self.fp.flat[0], self.tp.flat[0], "The table", lowest)
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
        on a grid with these thresholds, with the same counts and intervals; for
        `max_alerts` the best of all combinations on the grid. No document is at hand to
        place thresholds midway between scores: they are those of the table.

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

        min_recall : float in (0, 1], default=None
            The fewest false positives with at least this share of all positives found.
            Only where all documents are rated, or a sample of all of them, see
            `inclusion_proba` of :func:`~sklearn_reject.thresholds.pn_table`. Positives
            below the lowest thresholds of the table count as missed.

        min_precision : float in (0, 1], default=None
            The most true positives with at least this precision, TP / (TP + FP) of the
            rated documents.

        objective : {"f1"}, default=None
            The best F1 of the rated documents.

        confidence_level : float in (0, 1), default=0.95
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
        target.check(self.census)
        nodes = np.arange(self.fp.size)  # for alerts all of them, on the path or not
        if target.name != "max_alerts":
            on_path = locate_thresholds(self.thresholds, path.thresholds.T)
            nodes = np.ravel_multi_index(on_path, self.fp.shape)
        sums = self._sums_at(nodes)
        total, alerts = self.census.total_positive, sums[4] + sums[5]
        best = target.choose(total, sums[0], sums[1], alerts)
        node = np.unravel_index(nodes[best], self.fp.shape)
        found = [values[k] for values, k in zip(self.thresholds, node, strict=True)]
        asked = self.census, target, confidence_level
        return make_point(np.array(found), self.rule, sums[:, best], *asked)

    def _sums_at(self, nodes=slice(None)):
        """Return at numbered nodes what `RatedDocuments.sums_at` does, (6, n_nodes)."""
        fp, tp = (counts.ravel()[nodes] for counts in (self.fp, self.tp))
        if self.extra is not None:
            return np.stack([fp, tp, *self.extra.reshape(4, -1)[:, nodes]])
        return np.stack([fp, tp, fp, tp, fp + tp, 0 * fp])


def _check_same(one, two):
    """Raise for tables that do not add up, with what differs."""
    labels = [table.census.pos_label for table in (one, two)]
    grids = [[own.tolist() for own in table.thresholds] for table in (one, two)]
    differing = {
        "rule": (one.rule, two.rule),
        "pos_label": labels if None not in labels else (None, None),
        "thresholds": grids,
    }
    for name, (own, others) in differing.items():
        if own != others:
            raise ValueError(
                f"Tables of different {name} do not add up: {shorten(own)} and "
                f"{shorten(others)}. Make both with pn_table({name}=) the same."
            )


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
        rows. None chooses them by `n_thresholds`, which is for this alone.

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
        Probability in (0, 1] of each document to be rated, if it was drawn at random,
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
        or an unrated document without an `inclusion_proba` reaches the lowest.

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
    check_scalar(n_thresholds, "n_thresholds", Integral, min_val=2)
    ratings = unrated_label, sample_weight, pos_label, inclusion_proba
    if thresholds is None:
        documents = check_documents(scores, y, rule, *ratings)
        return _tabulate(documents, threshold_grid(documents, n_thresholds))
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
    except (TypeError, StopIteration, ValueError) as error:
        raise ValueError(
            "thresholds must hold one vector of increasing numbers for each "
            f"classifier, such as the thresholds of a PNTable, got {thresholds!r}."
        ) from error
    grid = [as_real_array(values, "thresholds").astype(np.float64) for values in grid]
    for column, values in enumerate(grid):
        is_vector = values.ndim == 1 and len(values) > 0 and values[0] < np.inf
        if not is_vector or not (values[1:] > values[:-1]).all():
            raise ValueError(
                f"thresholds of classifier {column} must be a vector of increasing "
                "numbers, none of them NaN and the first finite or -inf, got "
                f"{values.tolist()}. Sort them, as np.unique does."
            )
    return [np.union1d(values, np.inf) for values in grid]


def _tabulate(documents, grid, name="n_thresholds"):
    """Return the table of documents; `name` is the parameter that made the grid."""
    shape, rule = tuple(map(len, grid)), documents.rule
    others = documents.others
    others = others[predict_positive(others, documents.base, rule)]
    has_extra = documents.weight is not None or len(others)
    bytes_per_node = _BYTES_PER_WEIGHED_NODE if has_extra else BYTES_PER_NODE
    check_grid_fits(shape, bytes_per_node, name)
    ranks, classes = rank_scores(documents.scores, grid), documents.classes
    groups = groups_of(classes) if has_extra else classes
    fp, tp, *extra = count_ranks(ranks, groups, shape, rule)
    if has_extra:
        other = [(slice(None), None)]
        extra += [*count_ranks(rank_scores(others, grid), other, shape, rule)]
    extra = np.stack(extra) if extra else None
    return PNTable(tuple(grid), fp, tp, rule, documents.census, extra)
