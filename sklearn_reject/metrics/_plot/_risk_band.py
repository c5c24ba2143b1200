"""Pointwise bootstrap bands of risk-coverage curves."""

from functools import partial

import numpy as np

from sklearn_reject import _curves as curves
from sklearn_reject._validation import check_level
from sklearn_reject.exceptions import warn_user
from sklearn_reject.metrics._bootstrap import Resamples, percentile_ends, share
from sklearn_reject.metrics._intervals import check_resamples

# Of curves with more points the band has so many, evenly and near the left end.
_N_EVEN_POINTS, _N_LEFT_POINTS = 200, 100

# Above, in units of the largest loss, a band has a width that can be seen.
_LEAST_WIDTH = 1e-9


def risk_band(sample, coverage, *, level, n_resamples, random_state):
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
        The band.
    """
    level = check_level(level, "confidence_level")
    check_resamples(n_resamples, level)
    scores, losses, weight = _drop_absent(*sample)
    coverage = coverage[_points(len(coverage))]
    resamples = Resamples(len(scores), None, n_resamples, random_state)
    counted = curves.CountedRisks(scores, losses, weight, coverage)
    risks = share(partial(_risks, counted, resamples), resamples.n_batches)
    low, high = percentile_ends(np.concatenate(risks), level, axis=0)
    if (high - low).max() <= _LEAST_WIDTH * losses.max():
        warn_user(
            f"All losses are {losses.mean():g}, so that the band has no width. That is "
            "no certainty: a bootstrap cannot tell what other samples have."
        )
    return coverage, low, high


def _risks(counted, resamples, batch):
    return counted.risks(resamples.counts(batch))


def _drop_absent(scores, losses, weight):
    """Return the samples of positive weight; the others do not exist."""
    if weight is None or weight.all():
        return scores, losses, weight
    present = weight > 0
    return scores[present], losses[present], weight[present]


def _points(n_thresholds):
    """Return which points of a curve the band has."""
    even = np.linspace(0, n_thresholds - 1, _N_EVEN_POINTS)
    left = np.geomspace(1, n_thresholds, _N_LEFT_POINTS) - 1
    return np.unique(np.append(even, left).round().astype(np.intp))
