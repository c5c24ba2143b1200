"""Warnings where a sample says that its scores are in the wrong order."""

from contextlib import contextmanager
from contextvars import ContextVar

import numpy as np
from scipy.stats import rankdata

from sklearn_reject._curves._deferral import (
    area_influence,
    deferral_area_score,
    standard_error,
)
from sklearn_reject._curves._prefixes import RELATIVE_TOLERANCE
from sklearn_reject._curves._risk_coverage import selective_risk_at_coverage_score
from sklearn_reject._validation import find_missing_labels, take_weight
from sklearn_reject.exceptions import warn_user
from sklearn_reject.selection._groups import make_partition

# Rows that are looked at: far more than it takes to see that an order is backwards.
_MOST_ROWS, _FEW_ROWS = 2**14, 2**11

# What a useless score accepts is worse than the whole by more in one of 44 samples, and
# what a useless gain defers in one of 700.
_STANDARD_ERRORS, _ERRORS_OF_GAINS = 2, 3

WAY_OUT = "Higher must mean more uncertain. Change the sign, or use another score"

# Who asks several solvers, or has asked already, tells it once.
IS_TOLD = ContextVar("IS_TOLD", default=False)


@contextmanager
def order_told():
    """Leave out what solvers say of the order of scores, which is said elsewhere."""
    token = IS_TOLD.set(True)
    try:
        yield
    finally:
        IS_TOLD.reset(token)


def warn_of_backward_scores(
    scores, losses, weight=None, *, groups=None, way_out=WAY_OUT
):
    """Warn where the certain half of the samples has a larger risk than all."""
    scores, losses, weight, groups = _take_some(None, scores, losses, weight, groups)
    if weight is None and groups is None and _is_in_order(scores, losses):
        return
    if weight is not None and not weight.any():
        return
    if groups is not None:
        # Of one group, scores are not compared with those of another.
        scores = _ranks_in_groups(scores, groups)
    options = {"coverage": 0.5, "randomize": True, "sample_weight": weight}
    half = selective_risk_at_coverage_score(scores, losses, **options)
    is_worse, mean = is_riskier(half, 0.5, losses, weight)
    if is_worse:
        warn_user(
            "The uncertainty score ranks the errors backwards: the half of the samples "
            f"with the lowest scores has risk {half:.3g}, all of them have {mean:.3g}. "
            f"{way_out}."
        )


def _is_in_order(scores, losses):
    """Tell, in a fraction of the time, that the half of low scores has lower losses."""
    step = max(1, len(scores) // _FEW_ROWS)
    scores, losses = scores[::step], losses[::step]
    middle = len(scores) // 2
    median = np.partition(scores, middle)[middle]
    below, tied = scores < median, scores == median
    share = (len(scores) / 2 - np.count_nonzero(below)) / np.count_nonzero(tied)
    half = np.vdot(losses, below) + share * np.vdot(losses, tied)
    return half <= losses.sum() / 2


def is_riskier(risk, coverage, losses, weight):
    """Tell whether a part has a larger risk than all samples, by more than chance.

    Returns the risk of all, too.
    """
    mean = float(np.average(losses, weights=weight))
    variance = np.average((losses - mean) ** 2, weights=weight)
    n_samples = len(losses)
    if weight is not None:
        n_samples = weight.sum() ** 2 / (weight**2).sum()
    # Of a random part, whose samples are drawn without replacement.
    error = np.sqrt(variance / n_samples * (1 - coverage) / coverage)
    return risk - mean > max(_STANDARD_ERRORS * error, RELATIVE_TOLERANCE * mean), mean


def _ranks_in_groups(scores, groups):
    """Return the ranks of scores in their groups, in ]0, 1[, those of ties the mean."""
    ranks = np.empty(len(scores))
    for _, rows in make_partition(groups, len(scores)):
        ranks[rows] = (rankdata(scores[rows]) - 0.5) / len(rows)
    return ranks


def warn_of_backward_gain(gain, loss_first, loss_second, weight=None, *, groups=None):
    """Warn where asking in a random order would be better, by more than chance."""
    is_known = ~find_missing_labels(np.asarray(loss_second))
    if weight is not None:
        is_known &= np.asarray(weight) > 0
    arrays = gain, loss_first, loss_second, weight, groups
    gain, *losses, weight, groups = _take_some(is_known, *arrays)
    if not len(gain):
        return
    if groups is not None:
        gain = _ranks_in_groups(gain, groups)
    losses = [np.asarray(each, dtype=np.float64) for each in losses]
    if weight is None and _is_in_order(gain, np.subtract(*losses)):
        return
    options = {"sample_weight": weight}
    # A constant score leaves the order to chance.
    orders = gain, np.zeros(len(gain))
    area, random = (deferral_area_score(each, *losses, **options) for each in orders)
    influence = np.subtract(
        *(area_influence(each, *losses, **options) for each in orders)
    )
    error = standard_error(influence, weight)
    if area - random > max(_ERRORS_OF_GAINS * error, RELATIVE_TOLERANCE * random):
        warn_user(
            "The gain score seems to have the wrong sign: the area under the deferral "
            f"curve is {area:.3g} on the samples, worse than {random:.3g} for samples "
            "deferred at random. Take gain_score='gain', which learns where asking "
            "helps. If the score is your own, higher must mean that asking helps more.",
            once=True,
        )


def _take_some(is_known, *arrays):
    """Return arrays, or None, at some evenly spaced rows, all if they are not many."""
    arrays = [None if each is None else np.asarray(each) for each in arrays]
    n_rows = len(arrays[0]) if is_known is None else np.count_nonzero(is_known)
    rows = slice(None, None, max(1, -(-n_rows // _MOST_ROWS)))
    if is_known is not None:
        rows = np.flatnonzero(is_known)[rows]
    return [take_weight(each, rows) for each in arrays]
