"""The best path and the best point of joint thresholds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from sklearn_reject._typing import Label, Other
from sklearn_reject._validation import check_level, check_option, of_ratings
from sklearn_reject.thresholds._analytic import analytic_path, check_family
from sklearn_reject.thresholds._direct import direct_point
from sklearn_reject.thresholds._direct_targets import direct_thresholds
from sklearn_reject.thresholds._documents import check_documents
from sklearn_reject.thresholds._graph import SEARCHES, graph_path
from sklearn_reject.thresholds._grid import SPACINGS, check_n_thresholds
from sklearn_reject.thresholds._path import ThresholdPath, place_midway
from sklearn_reject.thresholds._point import SMOOTHINGS, OperatingPoint, make_point
from sklearn_reject.thresholds._selected import warn_if_selected
from sklearn_reject.thresholds._targets import (
    SlopeTarget,
    as_target,
    resolve_target,
)

PATH_METHODS = ("graph", "analytic")

METHODS = (*PATH_METHODS, "direct")

# A smooth path of more classifiers takes longer than all else together.
_MOST_FITTED = 4


@of_ratings
def optimal_path(
    scores: ArrayLike,
    y: ArrayLike,
    *,
    rule: Literal["any", "all"] = "any",
    method: Literal["graph", "analytic"] = "graph",
    n_thresholds: int = 100,
    spacing: Literal["quantile", "uniform"] = "quantile",
    search: Literal["auto", "grid", "pairs"] = "auto",
    family: Literal["log_odds", "power"] | Other = "log_odds",
    base_thresholds: ArrayLike | None = None,
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

    spacing : {"quantile", "uniform"}, default="quantile"
        How the thresholds of the grid are chosen among the scores: by quantiles of the
        rated documents, where both classes weigh the same, or by equal steps.

    search : {"auto", "grid", "pairs"}, default="auto"
        "grid" takes all combinations of thresholds and returns the global optimum.
        "pairs" improves one classifier against all others in turn, for many
        classifiers, and returns a local one. "auto" is "grid" up to some ten million
        combinations.

    family : {"log_odds", "power"} or object, default="log_odds"
        For the method "analytic".

    base_thresholds : array-like of shape (n_classifiers,), default=None
        Scores above which documents were rated, all of them or a sample. None finds the
        lowest thresholds that no unrated document reaches: with "any" there is one
        choice; with "all", the threshold of one classifier is raised, the one that
        keeps most rated documents.

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
        unrated documents without a inclusion_proba mean that ratings are incomplete.

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
    options = Search(method, n_thresholds, spacing, search, family)
    options.check()
    documents = check_documents(
        scores,
        y,
        rule,
        base_thresholds,
        unrated_label,
        sample_weight,
        pos_label,
        inclusion_proba,
    )
    warn_if_selected(documents)
    return place_midway(options.find_path(documents), documents)


@of_ratings
def operating_point(
    scores: ArrayLike,
    y: ArrayLike,
    *,
    target_derivative: float | None = None,
    marginal_precision: float | None = None,
    max_fp_per_tp: float | None = None,
    max_alerts: int | None = None,
    min_recall: float | None = None,
    objective: Literal["f1"] | None = None,
    method: Literal["graph", "analytic", "direct"] = "graph",
    smoothing: Literal["concave", "isotonic"] = "concave",
    rule: Literal["any", "all"] = "any",
    n_thresholds: int = 100,
    spacing: Literal["quantile", "uniform"] = "quantile",
    search: Literal["auto", "grid", "pairs"] = "auto",
    family: Literal["log_odds", "power"] | Other = "log_odds",
    base_thresholds: ArrayLike | None = None,
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

    target_derivative : float > 0, default=None
        Slope dTP/dFP: true positives that one more false positive must bring. Exactly
        one of this and the next five parameters must be given, of which two are other
        names of the same number.

    marginal_precision : float in ]0, 1[, default=None
        Share d / (1 + d) of true positives among the last documents predicted.

    max_fp_per_tp : float > 0, default=None
        False positives 1 / d that one more true positive may cost.

    max_alerts : int >= 1, default=None
        The most true positives with at most this number of documents predicted
        positive, of all documents given, rated or not.

    min_recall : float in ]0, 1], default=None
        The fewest false positives with at least this share of all positives found.
        Needs ratings of all documents, or of a sample of them, see `inclusion_proba`.

    objective : {"f1"}, default=None
        The best F1 of the rated documents.

    method : {"graph", "analytic", "direct"}, default="graph"
        "graph" and "analytic" find the point on the path of the largest area, see
        :func:`~sklearn_reject.thresholds.optimal_path`. "direct" maximizes TP - FP * d
        over all thresholds: exactly for one or two classifiers, a local optimum for
        more. For `objective` it is exact as well, and for `max_alerts` and
        `min_recall` where thresholds have at most a million combinations; beyond, it is
        the best of the points that are best for some slope. On the documents given it
        is at least as good as any point on the path of "graph", and it fits them more
        closely.

    smoothing : {"concave", "isotonic"}, default="concave"
        What makes slopes of a path: with "concave", the vertex that maximizes
        TP - FP * d, which is on the majorant. With "isotonic", the shares of positives
        in the segments of the majorant are interpolated, and the vertex nearest to
        where they meet the target is taken.

    rule : {"any", "all"}, default="any"
        A document is predicted positive if any of its scores reaches its threshold
        (union), or if all do (intersection).

    n_thresholds : int >= 2, default=100
        Largest number of thresholds of a classifier on the grid of "graph".

    spacing : {"quantile", "uniform"}, default="quantile"
        How the thresholds of the grid are chosen among the scores.

    search : {"auto", "grid", "pairs"}, default="auto"
        How the grid is searched.

    family : {"log_odds", "power"} or object, default="log_odds"
        Paths of the method "analytic", on scores normalized by rank. In "log_odds" the
        log-odds of each threshold are an affine function of those of the first;
        "power" is (x, x^p_2, .., x^p_N) for x in [0, 1]. An object needs the methods
        ``starts(n_classifiers)``, which returns a matrix of parameters, one row for
        each start of the search, and ``thresholds(x, parameters)``, which returns an
        array of shape (len(x), n_classifiers) that does not fall along x.

    base_thresholds : array-like of shape (n_classifiers,), default=None
        Scores above which documents were rated, all of them or a sample. None finds the
        lowest thresholds that no unrated document reaches: with "any" there is one
        choice; with "all", the threshold of one classifier is raised, the one that
        keeps most rated documents.

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
        unrated documents without a inclusion_proba mean that ratings are incomplete.

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
        If the target cannot be met. Its `attainable` has "max_fp_per_tp" of a slope,
        "max_alerts" or "min_recall", and the message the slope under all three names.
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
    target = resolve_target(
        target_derivative=target_derivative,
        marginal_precision=marginal_precision,
        max_fp_per_tp=max_fp_per_tp,
        max_alerts=max_alerts,
        min_recall=min_recall,
        objective=objective,
    )
    check_level(confidence_level, "confidence_level")
    options = Search(method, n_thresholds, spacing, search, family, smoothing)
    options.check()
    documents = check_documents(
        scores,
        y,
        rule,
        base_thresholds,
        unrated_label,
        sample_weight,
        pos_label,
        inclusion_proba,
    )
    warn_if_selected(documents)
    path, vertex = options.find_point(documents, target)
    return make_point(documents, target, path, vertex, confidence_level)


@dataclass(frozen=True)
class Search:
    """Options of the search for joint thresholds, as `operating_point` has them."""

    method: str = "graph"
    n_thresholds: int = 100
    spacing: str = "quantile"
    search: str = "auto"
    family: object = "log_odds"
    smoothing: str = "concave"

    def check(self):
        """Raise for options that are unknown, whether they are needed or not."""
        check_option(self.method, "method", METHODS)
        check_option(self.spacing, "spacing", SPACINGS)
        check_option(self.search, "search", SEARCHES)
        check_option(self.smoothing, "smoothing", SMOOTHINGS)
        check_n_thresholds(self.n_thresholds)
        check_family(self.family)

    def find_path(self, documents, through=None):
        """Return the path of the largest area; of "graph" for the method "direct".

        Its thresholds are scores. Thresholds `through` are to be a vertex of "graph".
        """
        if self.method == "analytic":
            return analytic_path(documents, family=self.family)
        return graph_path(
            documents,
            n_thresholds=self.n_thresholds,
            spacing=self.spacing,
            search=self.search,
            through=through,
        )

    def follows_path(self, documents):
        """Tell whether the path does not depend on the target."""
        # One classifier has a single path, which nothing is better than.
        return self.method != "direct" or documents.n_classifiers == 1

    def find_point(self, documents, target, path=None):
        """Return a path, and the vertex on it that is the operating point.

        For the method "direct" it is the best path of "graph" that passes the point;
        otherwise it may be a `path` that was found before, on the same documents. A
        target that is a number is a slope.
        """
        target = as_target(target)
        target.check(documents)
        if self.follows_path(documents):
            if path is None:
                path = place_midway(self.find_path(documents), documents)
            smoothing = "concave" if self.method == "direct" else self.smoothing
            return path, target.find_vertex(path, documents, smoothing)
        return self._find_directly(documents, target)

    def _find_directly(self, documents, target):
        """Return the best path through the best thresholds, and their vertex."""
        if not isinstance(target, SlopeTarget):
            path = self.find_path(documents)
            point = direct_thresholds(documents, target, path)
            path = place_midway(self.find_path(documents, through=point), documents)
            return path, target.find_vertex(path, documents)
        starts = self._starts(documents, target.derivative)
        point = direct_point(documents, target.derivative, starts)
        path = self.find_path(documents, through=point)
        is_point = (path.thresholds == point).all(axis=1)
        vertex = int(np.flatnonzero(is_point)[-1])
        return place_midway(path, documents), vertex

    def _starts(self, documents, derivative):
        """Return the best thresholds of a path, where the search may miss better."""
        if documents.n_classifiers <= 2:
            return []
        paths = [self.find_path(documents)]
        if documents.n_classifiers <= _MOST_FITTED:
            paths.append(analytic_path(documents, family=self.family))
        return [
            path.thresholds[np.argmax(path.tp - derivative * path.fp)] for path in paths
        ]


# Points evaluated on documents that did not tune them
