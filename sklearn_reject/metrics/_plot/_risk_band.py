"""Pointwise bootstrap bands of risk-coverage curves."""

import numpy as np

from sklearn_reject import _curves as curves
from sklearn_reject._validation import check_level
from sklearn_reject.exceptions import warn_user
from sklearn_reject.metrics._bootstrap import (
    Resamples,
    check_resamples,
    percentile_ends,
)

# Of curves with more points the band has so many, evenly and near the left end.
_N_EVEN_POINTS, _N_LEFT_POINTS = 200, 100


def risk_band(sample, coverage, level, n_resamples, random_state):
    """Return coverages, and the ends of the selective risk at each of them.

    Parameters
    ----------
    sample : tuple of ndarray
        Scores, losses, and weights or None, validated.

    coverage : ndarray of shape (n_thresholds,)
        Coverages of the curve.

    level : float in ]0, 1[
        Of the interval at each coverage.

    n_resamples : int
        Number of resamples.

    random_state : int, RandomState instance or None
        Source of the resamples.

    Returns
    -------
    coverage, low, high : ndarray of shape (n_points,)
        The band. Where all accepted losses are zero, or the largest there is, its ends
        are exact ones.
    """
    level = check_level(level, "confidence_level")
    check_resamples(n_resamples, level)
    scores, losses, weight = _drop_absent(*sample)
    coverage = coverage[_points(len(coverage))]
    resamples = Resamples(len(scores), None, n_resamples, random_state)
    counted = curves.CountedSamples(scores, losses, weight)
    counts = map(resamples.counts, range(resamples.n_drawn))
    risks = np.concatenate([counted.risks(of_batch, coverage) for of_batch in counts])
    low, high = percentile_ends(risks, level, axis=0)
    if not losses.any():
        warn_user(
            "All losses are 0, so that the band has no width. That is no certainty: "
            "what other samples would lose is not known."
        )
    n_accepted = coverage * _effective_number(len(losses), weight)
    # A risk r of losses of at most b is seen as none in k samples with a probability of
    # at most (1 - r / b)^k, exactly so for 0/1 losses. All resamples of equal losses
    # are equal, so that a bootstrap takes what it has seen so far for certain.
    tail, largest = ((1 - level) / 2) ** (1 / n_accepted), losses.max()
    low, high = np.minimum(low, largest * tail), np.maximum(high, largest * (1 - tail))
    return coverage, low, high


def _effective_number(n_samples, weight):
    """Return how many samples of equal weight tell as much (Kish)."""
    if weight is None:
        return n_samples
    share = weight / weight.sum()
    return 1 / (share @ share)


def _drop_absent(scores, losses, weight):
    """Return the samples of positive weight; the others do not exist."""
    if weight is None:
        return scores, losses, weight
    present = weight > 0
    return scores[present], losses[present], weight[present]


def _points(n_thresholds):
    """Return which points of a curve the band has."""
    even = np.linspace(0, n_thresholds - 1, _N_EVEN_POINTS)
    left = np.geomspace(1, n_thresholds, _N_LEFT_POINTS) - 1
    return np.unique(np.append(even, left).round().astype(np.intp))
