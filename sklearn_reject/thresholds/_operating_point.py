"""The joint thresholds at which one more false positive just pays."""

from sklearn_reject._validation import check_level
from sklearn_reject.thresholds._documents import check_documents
from sklearn_reject.thresholds._point import make_point
from sklearn_reject.thresholds._search import Search
from sklearn_reject.thresholds._target import resolve_target


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
        scores,
        y,
        rule=rule,
        base_thresholds=base_thresholds,
        unrated_label=unrated_label,
        sample_weight=sample_weight,
    )
    path, vertex = options.find_point(documents, derivative)
    return make_point(
        documents,
        derivative,
        path,
        vertex,
        confidence_level=confidence_level,
        random_state=random_state,
    )
