"""The slopes at which nothing, and everything, is worth its price."""

import numpy as np

from sklearn_reject.thresholds._target import RELATIVE_TOLERANCE


def steepest_slope(candidates, solve):
    """Find the largest TP / FP, by Dinkelbach's method.

    Parameters
    ----------
    candidates : Candidates
        Thresholds and documents.

    solve : callable
        Returns the point that maximises TP - FP * derivative for a derivative.

    Returns
    -------
    index : ndarray of shape (n_classifiers,)
        Where it is attained.

    slope : float
        The ratio, infinite if true positives come without false ones.
    """
    index = np.zeros(len(candidates), dtype=np.intp)
    slope = _ratio(candidates.count(index))
    while np.isfinite(slope):
        found = solve(slope * (1 - RELATIVE_TOLERANCE))
        steeper = _ratio(candidates.count(found))
        # A local optimum may even be worse.
        if not steeper > slope * (1 + RELATIVE_TOLERANCE):
            break
        index, slope = found, steeper
    return index, slope


def flattest_slope(candidates, solve):
    """Find the least ratio of positives to negatives among those not predicted.

    Parameters
    ----------
    candidates : Candidates
        Thresholds and documents.

    solve : callable
        Returns the point that maximises TP - FP * derivative for a derivative.

    Returns
    -------
    index : ndarray of shape (n_classifiers,)
        Where it is attained.

    slope : float
        The ratio, zero if negatives alone can be left out.
    """
    index = candidates.highest
    slope = _ratio(candidates.count_others(index))
    while slope > 0:
        found = solve(slope * (1 - RELATIVE_TOLERANCE))
        flatter = _ratio(candidates.count_others(found))
        if not flatter < slope * (1 - RELATIVE_TOLERANCE):
            break
        index, slope = found, flatter
    return index, slope


def _ratio(counts):
    """Return TP / FP, NaN for no documents at all."""
    if counts.imag == 0:
        return np.inf if counts.real > 0 else np.nan
    return counts.real / counts.imag
