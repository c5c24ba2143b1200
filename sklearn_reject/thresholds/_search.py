"""The best path and the best point of joint thresholds, of documents or by folds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.parallel import Parallel, delayed

from sklearn_reject._travel import Carried
from sklearn_reject._typing import Label
from sklearn_reject._validation import check_level, check_option, of_ratings
from sklearn_reject.exceptions import InfeasibleTargetError
from sklearn_reject.thresholds._analytic import analytic_path
from sklearn_reject.thresholds._checks import check_documents, warn_if_selected
from sklearn_reject.thresholds._direct import direct_point, direct_thresholds
from sklearn_reject.thresholds._graph import graph_path
from sklearn_reject.thresholds._grid import check_n_thresholds
from sklearn_reject.thresholds._path import ThresholdPath, place_midway, recount_path
from sklearn_reject.thresholds._point import (
    CrossValidatedPoint,
    OperatingPoint,
    describe,
    make_point,
)
from sklearn_reject.thresholds._targets import Target, resolve_target

PATH_METHODS = ("graph", "analytic")

METHODS = (*PATH_METHODS, "direct")

# A smooth path of more classifiers takes longer than all else together.
_MOST_FITTED = 4


@dataclass(frozen=True)
class Tuning:
    """What is tuned, and how; without a target, a path alone."""

    target: Target | None
    method: str = "graph"
    n_thresholds: int = 100
    confidence_level: float = 0.95

    def __post_init__(self):
        check_option(self.method, "method", METHODS)
        check_n_thresholds(self.n_thresholds)
        check_level(self.confidence_level, "confidence_level")

    def tune(self, documents, path=None):
        """Return a path and the operating point on it.

        The path may be one that was found before, on the same documents.
        """
        path, vertex = self.find_point(documents, path)
        sums, census = documents.sums_at(path.thresholds[vertex]), documents.census
        asked = self.target, path, vertex, self.confidence_level
        return path, make_point(sums, census, *asked)

    def find_point(self, documents, path=None):
        """Return a path, and the vertex on it that is the operating point.

        For the method "direct" it is the best path of "graph" that passes the point.
        """
        target = self.target
        target.check(documents.census)
        # One classifier has a single path, which nothing is better than.
        if self.method != "direct" or documents.n_classifiers == 1:
            if path is None:
                path = place_midway(self.find_path(documents), documents)
            return path, documents.best_vertex(target, path)
        if target.name == "max_fp_per_tp":
            starts = self._starts(documents, target.derivative)
            point = direct_point(documents, target.derivative, starts)
        else:
            point = direct_thresholds(documents, target, self.find_path(documents))
        path = graph_path(documents, self.n_thresholds, through=point)
        vertex = int(np.flatnonzero((path.thresholds == point).all(axis=1))[-1])
        path = place_midway(path, documents)
        if target.name != "max_fp_per_tp":
            vertex = documents.best_vertex(target, path)
        return path, vertex

    def find_path(self, documents):
        """Return the path of the largest area; of "graph" for the method "direct".

        Its thresholds are scores.
        """
        if self.method == "analytic":
            return analytic_path(documents)
        return graph_path(documents, self.n_thresholds)

    def _starts(self, documents, derivative):
        """Return the best thresholds of a path, where the search may miss better."""
        if documents.n_classifiers <= 2:
            return []
        paths = [self.find_path(documents)]
        if documents.n_classifiers <= _MOST_FITTED:
            paths.append(analytic_path(documents))
        return [
            path.thresholds[np.argmax(path.tp - derivative * path.fp)] for path in paths
        ]

    def cross_validate(self, documents, folds, n_jobs=None):
        """Tune thresholds on training parts, and count on test parts.

        `folds` are pairs of masks of the documents, each with both classes in its
        training part; None without folds. Where that part cannot meet the target,
        nothing is predicted.
        """
        if not folds:
            return None
        shared = Carried((self, replace(documents)))  # without what it has cached
        found = Parallel(n_jobs=n_jobs)(
            delayed(_tune_and_judge)(shared, *map(np.packbits, fold)) for fold in folds
        )
        thresholds, sums, census, areas = zip(*found, strict=True)
        known = [area for area in areas if not np.isnan(area)]
        return CrossValidatedPoint(
            np.array(thresholds),
            normalized_area=float(np.mean(known)) if known else float("nan"),
            **describe(sum(sums), reduce(add, census), self.confidence_level),
        )


def _tune_and_judge(shared, *fold):
    """Return thresholds, and sums, census and normalized area of the test part."""
    tuning, documents = shared.value
    masks = (np.unpackbits(mask, count=len(documents)).astype(bool) for mask in fold)
    train, test = map(documents.take, masks)
    share = train.census.n_given / documents.census.n_given
    tuning = replace(tuning, target=tuning.target.of_share(share))
    try:
        path, vertex = tuning.find_point(train)
    except InfeasibleTargetError:
        # What can be met by all documents may be out of reach of a part of them.
        path, vertex = place_midway(tuning.find_path(train), train), -1
    path, thresholds = recount_path(path, test), path.thresholds[vertex]
    largest = path.fp[0] * path.tp[0]
    area = path.area / largest if largest else np.nan
    return thresholds, test.sums_at(thresholds), test.census, area


@of_ratings
def optimal_path(
    scores: ArrayLike,
    y: ArrayLike,
    *,
    rule: Literal["any", "all"] = "any",
    method: Literal["graph", "analytic"] = "graph",
    n_thresholds: int = 100,
    unrated_label: Label = -1,
    sample_weight: ArrayLike | None = None,
    pos_label: Label = None,
    inclusion_proba: ArrayLike | None = None,
) -> ThresholdPath:
    """Find the path of joint thresholds with the largest area under TP against FP.

    A path raises the thresholds of several classifiers together, none of them ever
    falling, from the lowest to infinity. What counts is which of the documents that
    were rated it predicts positive on its way (RZMR20).

    Parameters
    ----------
    scores : array-like of shape (n_documents, n_classifiers) or (n_documents,)
        Scores, higher = more likely positive. NaN if a classifier did not run, which
        reaches no threshold: with "any" the others decide, and with "all" the document
        is not predicted positive.

    y : array-like of shape (n_documents,)
        1 for rated positives, 0 for rated negatives, `unrated_label` or NaN for the
        others, which never count.

    rule : {"any", "all"}, default="any"
        A document is predicted positive if any of its scores reaches its threshold
        (union), or if all do (intersection).

    method : {"graph", "analytic"}, default="graph"
        "graph" finds the best path on a grid of thresholds. "analytic" fits a smooth
        path with few parameters.

    n_thresholds : int >= 2, default=100
        Largest number of thresholds of a classifier on the grid.

    unrated_label : label, default=-1
        Label of documents that were not rated. Missing values always mean not rated.

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
    path : ThresholdPath
        Thresholds, false and true positives of each vertex, and the area.

    Raises
    ------
    ValueError
        If a parameter is invalid, scores are infinite or constant, a class has no
        rated documents, there are no thresholds down to which ratings are known, or
        the grid is too large for the memory.

    References
    ----------
    E. Robles, F. Zaidouni, A. Mavromoustaki, P. Refael. Threshold Optimization in
    Multiple Binary Classifiers for Extreme Rare Events using Predicted Positive Data.
    AAAI-MAKE, 2020.

    Examples
    --------
    >>> from sklearn_reject.thresholds import optimal_path
    >>> scores = [[0.9, 0.2], [0.3, 0.7], [0.6, 0.5], [0.4, 0.3], [0.1, 0.6]]
    >>> path = optimal_path(scores, [1, 1, 0, 0, 0])
    >>> path.area  # 2 positives times 3 negatives: no path is better
    6.0
    >>> path.fp[::2], path.tp[::2]
    (array([3., 3., 3., 2., 0., 0.]), array([2., 2., 2., 2., 2., 0.]))
    """
    check_option(method, "method", PATH_METHODS)
    tuning = Tuning(None, method, n_thresholds)
    ratings = unrated_label, sample_weight, pos_label, inclusion_proba
    documents = check_documents(scores, y, rule, *ratings)
    warn_if_selected(documents)
    return place_midway(tuning.find_path(documents), documents)


@of_ratings
def operating_point(
    scores: ArrayLike,
    y: ArrayLike,
    *,
    max_fp_per_tp: float | None = None,
    max_alerts: int | None = None,
    min_recall: float | None = None,
    min_precision: float | None = None,
    objective: Literal["f1"] | None = None,
    method: Literal["graph", "analytic", "direct"] = "graph",
    rule: Literal["any", "all"] = "any",
    n_thresholds: int = 100,
    unrated_label: Label = -1,
    sample_weight: ArrayLike | None = None,
    pos_label: Label = None,
    inclusion_proba: ArrayLike | None = None,
    confidence_level: float = 0.95,
) -> OperatingPoint:
    """Find the joint thresholds that are best for a target.

    The point at which the slope dTP/dFP of the PN curve meets a target (RZMR20). The
    curve of counts is a step function, whose differences are noise; the slopes are
    those of its concave majorant.

    Parameters
    ----------
    scores : array-like of shape (n_documents, n_classifiers) or (n_documents,)
        Scores, higher = more likely positive. NaN if a classifier did not run, which
        reaches no threshold: with "any" the others decide, and with "all" the document
        is not predicted positive.

    y : array-like of shape (n_documents,)
        1 for rated positives, 0 for rated negatives, `unrated_label` or NaN for the
        others, which never count.

    max_fp_per_tp : float > 0, default=None
        False positives that one more true positive may cost, 1 / d: the point maximizes
        TP - FP * d, where d = dTP/dFP is the slope of the curve. The share of true
        positives among the last documents predicted is then d / (1 + d). Exactly one of
        this and the next four must be given.

    max_alerts : int >= 1, default=None
        The most true positives with at most this number of documents predicted
        positive, of all documents given, rated or not.

    min_recall : float in ]0, 1], default=None
        The fewest false positives with at least this share of all positives found.
        Needs ratings of all documents, or of a sample of them, see `inclusion_proba`.

    min_precision : float in ]0, 1], default=None
        The most true positives with at least this precision, TP / (TP + FP) of the
        rated documents.

    objective : {"f1"}, default=None
        The best F1 of the rated documents.

    method : {"graph", "analytic", "direct"}, default="graph"
        "graph" and "analytic" find the point on the path of the largest area, see
        :func:`~sklearn_reject.thresholds.optimal_path`. "direct" maximizes TP - FP * d
        over all thresholds: exactly for one or two classifiers, a local optimum for
        more. For `objective` it is exact as well, and for the other targets where
        thresholds have at most a million combinations; beyond, it is the best of the
        points that are best for some slope. On the documents given it is at least as
        good as any point on the path of "graph", and it fits them more closely.

    rule : {"any", "all"}, default="any"
        A document is predicted positive if any of its scores reaches its threshold
        (union), or if all do (intersection).

    n_thresholds : int >= 2, default=100
        Largest number of thresholds of a classifier on the grid of "graph".

    unrated_label : label, default=-1
        Label of documents that were not rated. Missing values always mean not rated.

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

    confidence_level : float in ]0, 1[, default=0.95
        Coverage of the intervals of counts and precision.

    Returns
    -------
    point : OperatingPoint
        Thresholds, which are midway between scores, counts, precision and their
        intervals.

    Raises
    ------
    InfeasibleTargetError
        If the target cannot be met. Its `attainable` has the value that can.
    ValueError
        If not exactly one target is given, a parameter is invalid, scores are
        infinite or constant, a class has no rated documents, there are no thresholds
        down to which ratings are known, or the grid is too large for the memory.

    See Also
    --------
    sklearn_reject.EnsembleThresholdTuner : The same for classifiers.
    sklearn_reject.thresholds.PNTable : The same from counts, which add up over parts of
        the documents.

    References
    ----------
    E. Robles, F. Zaidouni, A. Mavromoustaki, P. Refael. Threshold Optimization in
    Multiple Binary Classifiers for Extreme Rare Events using Predicted Positive Data.
    AAAI-MAKE, 2020.

    Examples
    --------
    >>> from sklearn_reject.thresholds import operating_point
    >>> scores = [[0.9, 0.2], [0.3, 0.7], [0.6, 0.5], [0.4, 0.3], [0.1, 0.6]]
    >>> point = operating_point(scores, [1, 1, 0, 0, 0], max_fp_per_tp=2)
    >>> point.thresholds, point.fp, point.tp
    (array([0.75, 0.65]), 0.0, 2.0)
    """
    asked = max_fp_per_tp, max_alerts, min_recall, min_precision, objective
    tuning = Tuning(resolve_target(*asked), method, n_thresholds, confidence_level)
    ratings = unrated_label, sample_weight, pos_label, inclusion_proba
    documents = check_documents(scores, y, rule, *ratings)
    warn_if_selected(documents)
    return tuning.tune(documents)[1]
