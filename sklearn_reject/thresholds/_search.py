"""The best path and the best point of joint thresholds."""

from __future__ import annotations

from typing import Literal

from numpy.typing import ArrayLike

from sklearn_reject._typing import Label
from sklearn_reject._validation import check_option, of_ratings
from sklearn_reject.thresholds._checks import check_documents, warn_if_selected
from sklearn_reject.thresholds._path import ThresholdPath, place_midway
from sklearn_reject.thresholds._point import OperatingPoint
from sklearn_reject.thresholds._targets import resolve_target
from sklearn_reject.thresholds._tuning import PATH_METHODS, Tuning


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
    documents = check_documents(
        scores,
        y,
        rule,
        unrated_label=unrated_label,
        sample_weight=sample_weight,
        pos_label=pos_label,
        inclusion_proba=inclusion_proba,
    )
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
    target = resolve_target(
        max_fp_per_tp=max_fp_per_tp,
        max_alerts=max_alerts,
        min_recall=min_recall,
        min_precision=min_precision,
        objective=objective,
    )
    tuning = Tuning(target, method, n_thresholds, confidence_level)
    documents = check_documents(
        scores,
        y,
        rule,
        unrated_label=unrated_label,
        sample_weight=sample_weight,
        pos_label=pos_label,
        inclusion_proba=inclusion_proba,
    )
    warn_if_selected(documents)
    return tuning.tune(documents)[1]
