"""True against false positives among the documents that were rated."""

import numpy as np
from scipy.integrate import trapezoid

from sklearn_reject._curves._groups import RELATIVE_TOLERANCE
from sklearn_reject._curves._origins import group_origins_validated
from sklearn_reject._validation import (
    check_flags,
    check_number,
    check_option,
    check_same_length,
    check_sample_weight,
    check_vector,
)


def pn_curve(scores, is_positive, *, sample_weight=None):
    """Compute :func:`sklearn_reject.metrics.pn_curve` of scores and flags."""
    scores = check_vector(scores, "scores")
    is_positive = check_flags(is_positive, "is_positive")
    check_same_length(scores.size, is_positive=is_positive)
    weight = check_sample_weight(sample_weight, scores.size)
    counted = is_positive if weight is None else is_positive[weight > 0]
    if counted.all() or not counted.any():
        missing = "negative" if counted.all() else "positive"
        raise ValueError(
            f"is_positive is {bool(counted[0])} for all documents (of positive "
            f"weight). At least one {missing} is needed for a PN curve."
        )
    # By increasing negative scores; positives are what is "ID".
    losses = np.broadcast_to(0.0, scores.size)
    groups = group_origins_validated(-scores, losses, ~is_positive, weight)
    thresholds = np.append(np.inf, -groups.scores)
    return groups.accepted_ood, groups.accepted_id, thresholds


def pn_auc_score(
    scores, is_positive, *, max_fp=None, normalize=False, sample_weight=None
):
    """Compute :func:`sklearn_reject.metrics.pn_auc_score` of scores and flags."""
    check_option(normalize, "normalize", (True, False))
    fp, tp, _ = pn_curve(scores, is_positive, sample_weight=sample_weight)
    positives = tp[-1]
    if max_fp is not None:
        fp, tp = _end_at(fp, tp, max_fp)
    largest = positives * fp[-1] if normalize else 1.0
    return float(trapezoid(tp, fp) / largest)


def _end_at(fp, tp, max_fp):
    """Return the curve up to so many false positives."""
    max_fp = check_number(max_fp, "max_fp", open_low=True)
    if max_fp > fp[-1] * (1 + RELATIVE_TOLERANCE):
        raise ValueError(
            f"max_fp={max_fp:g} is above the weight of all negatives, {fp[-1]:g}, "
            "where the curve ends. Pass a smaller value, or None for the whole area."
        )
    inside = np.searchsorted(fp, max_fp, side="right")
    around = slice(inside - 1, inside + 1)
    height = np.interp(max_fp, fp[around], tp[around])
    return np.append(fp[:inside], min(max_fp, fp[-1])), np.append(tp[:inside], height)
