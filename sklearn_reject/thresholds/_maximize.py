"""The search for the joint thresholds of the largest gain."""

import numpy as np

from sklearn_reject.thresholds._ascent import (
    best_alone,
    best_pair,
    climb_alone,
    climb_pairs,
)
from sklearn_reject.thresholds._best_rectangle import gain
from sklearn_reject.thresholds._candidates import keep_reached, leave_out_low

# Pairs of classifiers are improved from so many of the best points.
_N_CLIMBS = 4


def maximize(candidates, derivative, starts=()):
    """Find the candidates that maximise TP - FP * derivative.

    Parameters
    ----------
    candidates : Candidates
        Thresholds and documents.

    derivative : float > 0
        What a false positive costs.

    starts : iterable of ndarray of shape (n_classifiers,), default=()
        Where the search is to start from, too.

    Returns
    -------
    index : ndarray of shape (n_classifiers,)
        Numbers of the thresholds: a global optimum for one or two classifiers, a local
        one for more.
    """
    candidates = keep_reached(candidates)
    alone = [_alone(candidates, k, derivative) for k in range(len(candidates))]
    if len(candidates) == 1:
        return alone[0]
    # To predict nothing is one of the points of comparison.
    points = [*alone, candidates.highest]
    if len(candidates) > 2:
        points += [np.zeros(len(candidates), dtype=np.intp), *starts]
    known = max(_gains(candidates, points, derivative))
    fewer, first = leave_out_low(candidates, derivative, known)
    if len(candidates) == 2:
        is_any = np.ones(len(fewer.counts), dtype=bool)
        return first + best_pair(fewer, (0, 1), is_any, derivative)
    return first + _climb(fewer, np.maximum(points - first, 0), derivative)


def _alone(candidates, classifier, derivative):
    """Return the best point at which one classifier decides."""
    is_any = candidates.rule == "any"
    index = candidates.highest if is_any else np.zeros(len(candidates), dtype=np.intp)
    everything = np.ones(len(candidates.counts), dtype=bool)
    index[classifier] = best_alone(candidates, classifier, everything, derivative)
    return index


def _climb(candidates, points, derivative):
    """Return the best point that climbs from several ones lead to."""
    climbed = [climb_alone(candidates, point, derivative) for point in points]
    climbed, fewer, first = _leave_out(candidates, climbed, derivative)
    climbed = [climb_pairs(fewer, point, derivative) for point in climbed[:_N_CLIMBS]]
    return first + climbed[np.argmax(_gains(fewer, climbed, derivative))]


def _leave_out(candidates, points, derivative):
    """Return distinct points, best first, among fewer candidates."""
    points = np.unique(points, axis=0)
    gains = _gains(candidates, points, derivative)
    order = np.argsort(-gains, kind="stable")
    fewer, first = leave_out_low(candidates, derivative, gains.max())
    return np.maximum(points[order] - first, 0), fewer, first


def _gains(candidates, points, derivative):
    counts = [candidates.count(point) for point in points]
    return np.array([gain(count, derivative) for count in counts])
