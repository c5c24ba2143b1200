"""The best of all joint thresholds for a target, without a path."""

from functools import partial

from sklearn_reject.thresholds._best_rectangle import gain
from sklearn_reject.thresholds._candidates import make_candidates
from sklearn_reject.thresholds._end_slopes import flattest_slope, steepest_slope
from sklearn_reject.thresholds._maximize import maximize
from sklearn_reject.thresholds._target import RELATIVE_TOLERANCE, check_attainable


def direct_point(documents, derivative, starts=()):
    """Find the thresholds that maximise TP - FP * derivative.

    No threshold on a path can be better, the path being chosen for its area and not for
    this target. With one classifier all cuts are compared, by counts. With two, all
    pairs of thresholds are, in O(n log n): the documents that neither predicts are a
    rectangle, and a segment tree finds the best one. With more, pairs of classifiers
    are improved in turn, exactly given the others, from several starts, until none of
    them improves: a local optimum, never below any of the starts.

    Parameters
    ----------
    documents : RatedDocuments
        What counts.

    derivative : float > 0
        Target dTP/dFP, which is the price of a false positive.

    starts : iterable of array-like of shape (n_classifiers,), default=()
        Thresholds to start from, beside those that are tried anyway. Not used for one
        or two classifiers, where the result is exact.

    Returns
    -------
    thresholds : ndarray of shape (n_classifiers,)
        Scores of positives, or infinity for a classifier that is of no use. Of equally
        good ones those of most true positives, where a part in 1e12 of the derivative
        makes no difference; then, for the same predictions, high ones.

    Raises
    ------
    InfeasibleTargetError
        If nothing is worth the price, or everything down to the lowest thresholds is
        and lower ones may be. Its `attainable` has "min_derivative" and
        "max_derivative", which for more than two classifiers come from local optima,
        too.

    Examples
    --------
    >>> from sklearn_reject.thresholds._direct import direct_point
    >>> from sklearn_reject.thresholds._documents import check_documents
    >>> scores = [[0.9, 0.2], [0.3, 0.7], [0.6, 0.5], [0.4, 0.3], [0.1, 0.6]]
    >>> direct_point(check_documents(scores, [1, 1, 0, 0, 0]), 0.5)
    array([0.9, 0.7])
    """
    candidates = make_candidates(documents)
    starts = [candidates.locate(start) for start in starts]
    solve = partial(maximize, candidates, starts=starts)
    # Lowered by what is no difference, so that equal gains go to more true positives.
    price = derivative * (1 - RELATIVE_TOLERANCE)
    index = solve(price)
    is_predicted = candidates.predict(index)
    if is_predicted.all() or not is_predicted.any():
        ends = flattest_slope(candidates, solve), steepest_slope(candidates, solve)
        check_attainable(derivative, *(slope for _, slope in ends))
        points = [index, *(point for point, _ in ends)]
        index = _best_of(candidates, points, price)
    return candidates.take(candidates.raise_to_highest(index))


def _best_of(candidates, points, price):
    """Return the best point that predicts anything positive."""
    points = [point for point in points if candidates.predict(point).any()]
    return max(points, key=lambda point: gain(candidates.count(point), price))
