"""The path through the space of thresholds that has the largest area."""

from sklearn_reject._validation import check_option
from sklearn_reject.thresholds._documents import check_documents
from sklearn_reject.thresholds._search import PATH_METHODS, Search


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
        scores,
        y,
        rule=rule,
        base_thresholds=base_thresholds,
        unrated_label=unrated_label,
        sample_weight=sample_weight,
    )
    return options.find_path(documents)
