"""The best path and the best point of joint thresholds, and points cross-validated."""

from dataclasses import dataclass

import numpy as np
from sklearn.utils.parallel import Parallel, delayed

from sklearn_reject._validation import check_level, check_option
from sklearn_reject.exceptions import InfeasibleTargetError
from sklearn_reject.thresholds._analytic import analytic_path, check_family
from sklearn_reject.thresholds._direct import direct_point
from sklearn_reject.thresholds._documents import check_documents, predict_positive
from sklearn_reject.thresholds._graph import SEARCHES, graph_path
from sklearn_reject.thresholds._grid import SPACINGS, check_n_thresholds
from sklearn_reject.thresholds._path import place_midway
from sklearn_reject.thresholds._point import (
    SMOOTHINGS,
    count_intervals,
    make_point,
    point_on_path,
    resolve_target,
)

PATH_METHODS = ("graph", "analytic")

METHODS = (*PATH_METHODS, "direct")

# A smooth path of more classifiers takes longer than all else together.
_MOST_FITTED = 4


def optimal_path(
    scores,
    y,
    *,
    rule="any",
    method="graph",
    n_thresholds=100,
    spacing="quantile",
    search="auto",
    family="log_odds",
    base_thresholds=None,
    unrated_label=-1,
    sample_weight=None,
):
    """Find the path of joint thresholds with the largest area under TP against FP.

    A path raises the thresholds of several classifiers together, none of them ever
    falling, from the lowest to infinity. What counts is which of the documents that
    were rated it predicts positive on its way (RZMR20).

    Parameters
    ----------
    scores : array-like of shape (n_documents, n_classifiers) or (n_documents,)
        Finite scores, higher = more likely positive.

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
        From where on documents were rated, all of them or a sample. None finds the
        lowest thresholds that no unrated document reaches: under "any" there is one
        choice, and under "all" that which leaves most rated documents if the threshold
        of one classifier is raised.

    unrated_label : label, default=-1
        What stands for a document that was not rated; missing values always do.

    sample_weight : array-like of shape (n_documents,), default=None
        Weight of each document, such as the inverse of its probability to be rated.

    Returns
    -------
    path : ThresholdPath
        Thresholds, false and true positives of each vertex, and the area.

    Raises
    ------
    ValueError
        If a parameter is invalid, scores are not finite or constant, a class has no
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
        scores, y, rule, base_thresholds, unrated_label, sample_weight
    )
    return place_midway(options.find_path(documents), documents)


def operating_point(
    scores,
    y,
    *,
    target_derivative=None,
    marginal_precision=None,
    max_fp_per_tp=None,
    method="graph",
    smoothing="concave",
    rule="any",
    n_thresholds=100,
    spacing="quantile",
    search="auto",
    family="log_odds",
    base_thresholds=None,
    unrated_label=-1,
    sample_weight=None,
    confidence_level=0.95,
    random_state=None,
):
    """Find the joint thresholds at which one more false positive just pays.

    The point at which the slope dTP/dFP of the PN curve meets a target (RZMR20). The
    curve of counts is a step function, whose differences are noise; the slopes are
    those of its concave majorant.

    Parameters
    ----------
    scores : array-like of shape (n_documents, n_classifiers) or (n_documents,)
        Finite scores, higher = more likely positive.

    y : array-like of shape (n_documents,)
        1 for rated positives, 0 for rated negatives, `unrated_label` or NaN for the
        others, which never count.

    target_derivative : float > 0, default=None
        Slope dTP/dFP: true positives that one more false positive must bring. Exactly
        one of this and the next two parameters must be given, which are other names of
        the same number.

    marginal_precision : float in ]0, 1[, default=None
        Share d / (1 + d) of true positives among the last documents predicted.

    max_fp_per_tp : float > 0, default=None
        False positives 1 / d that one more true positive may cost.

    method : {"graph", "analytic", "direct"}, default="graph"
        "graph" and "analytic" find the point on the path of the largest area, see
        :func:`~sklearn_reject.thresholds.optimal_path`. "direct" maximises TP - FP * d
        over all thresholds: exactly for one or two classifiers, a local optimum for
        more. On the documents given it is at least as good as any point on the path of
        "graph", and it fits them more closely.

    smoothing : {"concave", "isotonic"}, default="concave"
        What makes slopes of a path: with "concave", the vertex that maximises
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
        Paths of the method "analytic", on scores normalised by rank. In "log_odds" the
        log-odds of each threshold are an affine function of those of the first;
        "power" is (x, x^p_2, .., x^p_N) for x in [0, 1]. An object needs the methods
        ``starts(n_classifiers)``, which returns a matrix of parameters, one row for
        each start of the search, and ``thresholds(x, parameters)``, which returns an
        array of shape (len(x), n_classifiers) that does not fall along x.

    base_thresholds : array-like of shape (n_classifiers,), default=None
        From where on documents were rated, all of them or a sample. None finds the
        lowest thresholds that no unrated document reaches: under "any" there is one
        choice, and under "all" that which leaves most rated documents if the threshold
        of one classifier is raised.

    unrated_label : label, default=-1
        What stands for a document that was not rated; missing values always do.

    sample_weight : array-like of shape (n_documents,), default=None
        Weight of each document, such as the inverse of its probability to be rated.

    confidence_level : float in ]0, 1[, default=0.95
        Coverage of the intervals of counts and precision.

    random_state : int, RandomState instance or None, default=None
        Source of the bootstrap, which only documents with weights need.

    Returns
    -------
    point : OperatingPoint
        Thresholds, which are midway between scores, counts, precision and their
        intervals.

    Raises
    ------
    InfeasibleTargetError
        If the derivative is not attained. Its `attainable` has "min_derivative" and
        "max_derivative"; the message has the range under all three names.
    ValueError
        If not exactly one target is given, a parameter is invalid, scores are not
        finite or constant, a class has no rated documents, there are no thresholds down
        to which ratings are known, or the grid is too large for the memory.

    See Also
    --------
    sklearn_reject.EnsembleThresholdTuner : The same for classifiers.

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
    derivative = resolve_target(target_derivative, marginal_precision, max_fp_per_tp)
    check_level(confidence_level, "confidence_level")
    options = Search(method, n_thresholds, spacing, search, family, smoothing)
    options.check()
    documents = check_documents(
        scores, y, rule, base_thresholds, unrated_label, sample_weight
    )
    path, vertex = options.find_point(documents, derivative)
    return make_point(
        documents, derivative, path, vertex, confidence_level, random_state
    )


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

    def find_point(self, documents, derivative, path=None):
        """Return a path, and the vertex on it that is the operating point.

        For the method "direct" it is the best path of "graph" that passes the point;
        otherwise it may be a `path` that was found before, on the same documents.
        """
        if self.follows_path(documents):
            if path is None:
                path = place_midway(self.find_path(documents), documents)
            smoothing = "concave" if self.method == "direct" else self.smoothing
            return path, point_on_path(path, derivative, smoothing)
        starts = self._starts(documents, derivative)
        point = direct_point(documents, derivative, starts)
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


@dataclass(frozen=True, eq=False)
class CrossValidatedPoint:
    """What joint thresholds attain on documents that did not tune them.

    Attributes
    ----------
    thresholds : ndarray of shape (n_folds, n_classifiers)
        Thresholds tuned without each fold.

    fp, tp : float
        False and true positives, summed over the folds.

    fp_interval, tp_interval : tuple of float
        Bootstrap intervals of these sums, with the thresholds fixed. Thresholds that
        are tuned on other documents again vary, too, and false positives with them.

    precision_interval : tuple of float
        Confidence interval of the precision, with the thresholds fixed.

    normalized_area : float
        Area of the paths on the folds that did not tune them, over the number of
        positives times that of negatives: the mean over the folds with both. In [0, 1],
        higher is better.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn_reject import EnsembleThresholdTuner
    >>> scores, y = make_classification(
    ...     1000, 2, n_informative=2, n_redundant=0, weights=[0.9], random_state=0
    ... )
    >>> tuner = EnsembleThresholdTuner(None, target_derivative=1, cv=5)
    >>> point = tuner.fit(scores, y).cross_validated_point_
    >>> point.fp, point.tp, round(point.precision, 2), round(point.normalized_area, 2)
    (30.0, 81.0, 0.73, 0.96)
    """

    thresholds: np.ndarray
    fp: float
    tp: float
    fp_interval: tuple
    tp_interval: tuple
    precision_interval: tuple
    normalized_area: float

    @property
    def precision(self):
        """Share of true positives among what is predicted, NaN if nothing is."""
        predicted = self.tp + self.fp
        return self.tp / predicted if predicted else float("nan")


def cross_validate_point(
    documents,
    derivative,
    search,
    splits,
    confidence_level=0.95,
    random_state=None,
    n_jobs=None,
):
    """Tune joint thresholds on training parts, and count on test parts.

    `splits` are pairs of positions among the documents that were given; None without
    splits.
    """
    if not splits:
        return None
    parts = [tuple(map(documents.take, split)) for split in splits]
    for number, (train, _) in enumerate(parts):
        if train.is_positive.all() or not train.is_positive.any():
            missing = "negatives" if train.is_positive.any() else "positives"
            raise ValueError(
                f"cv: fold {number} leaves no rated {missing} to tune the thresholds "
                "on. Use fewer or stratified folds, or rate more documents."
            )
    found = Parallel(n_jobs=n_jobs)(
        delayed(_tune_and_count)(*part, derivative, search) for part in parts
    )
    thresholds, counts, areas = zip(*found, strict=True)
    tests = [test for _, test in parts]
    intervals = count_intervals(tests, thresholds, confidence_level, random_state)
    fp, tp = np.sum(counts, axis=0).tolist()
    known = [area for area in areas if not np.isnan(area)]
    area = float(np.mean(known)) if known else float("nan")
    return CrossValidatedPoint(np.array(thresholds), fp, tp, *intervals, area)


def _tune_and_count(train, test, derivative, search):
    """Return thresholds, and counts and normalised area on the test part."""
    try:
        path, vertex = search.find_point(train, derivative)
    except InfeasibleTargetError as error:
        # What is best for all documents may be out of range for a part of them.
        path = place_midway(search.find_path(train), train)
        vertex = 0 if derivative < error.attainable["min_derivative"] else -1
    thresholds = path.thresholds[vertex]
    counts = test.count(predict_positive(test.scores, thresholds, test.rule))
    path = path.recount(test)
    largest = path.fp[0] * path.tp[0]
    return thresholds, counts, path.area / largest if largest else np.nan
