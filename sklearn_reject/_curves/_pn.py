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
    """Count true and false positives at each threshold.

    Point k belongs to the rule that predicts every document positive whose score is at
    least ``thresholds[k]`` (RZMR20).

    In full: :func:`sklearn_reject.metrics.pn_curve`.

    Parameters
    ----------
    scores : array-like of shape (n_documents,)
        Finite scores, higher = more likely positive.

    is_positive : array-like of shape (n_documents,), dtype bool
        What the rater said.

    sample_weight : array-like of shape (n_documents,), default=None
        Non-negative weights.

    Returns
    -------
    fp, tp : ndarray of shape (n_thresholds,)
        False and true positives, counts or sums of weights, both from zero to all and
        never falling. Lower `fp` and higher `tp` is better.

    thresholds : ndarray of shape (n_thresholds,)
        Infinity, then the distinct scores, decreasing.

    Raises
    ------
    ValueError
        If an array or an option is invalid, as in the metric.

    Examples
    --------
    >>> from sklearn_reject._curves import pn_curve
    >>> fp, tp, thresholds = pn_curve([0.9, 0.7, 0.7, 0.2], [1, 0, 1, 0])
    >>> fp, tp, thresholds
    (array([0., 0., 1., 2.]), array([0., 1., 2., 2.]), array([inf, 0.9, 0.7, 0.2]))
    """
    scores = check_vector(scores, "scores")
    is_positive = check_flags(is_positive, "is_positive")
    check_same_length(scores.size, is_positive=is_positive)
    weight = check_sample_weight(sample_weight, scores.size)
    counted = is_positive if weight is None else is_positive[weight > 0]
    if counted.all() or not counted.any():
        missing = "negative" if counted.all() else "positive"
        raise ValueError(
            f"is_positive is {bool(counted[0])} for all documents (of positive "
            f"weight): at least one {missing} is needed for a PN curve."
        )
    # By increasing negative scores; positives are what is "ID".
    losses = np.broadcast_to(0.0, scores.size)
    groups = group_origins_validated(-scores, losses, ~is_positive, weight)
    thresholds = np.append(np.inf, -groups.scores)
    return groups.accepted_ood, groups.accepted_id, thresholds


def pn_auc_score(
    scores, is_positive, *, max_fp=None, normalize=False, sample_weight=None
):
    """Compute the area under true positives against false positives.

    Higher is better. The area of the trapezoids between the points of
    :func:`pn_curve`: the number of pairs of a positive and a negative that the score
    ranks correctly, ties counted one half.

    In full: :func:`sklearn_reject.metrics.pn_auc_score`.

    Parameters
    ----------
    scores : array-like of shape (n_documents,)
        Finite scores, higher = more likely positive.

    is_positive : array-like of shape (n_documents,), dtype bool
        What the rater said.

    max_fp : float > 0, default=None
        The area ends at so many false positives. None takes all.

    normalize : bool, default=False
        Whether to divide the area by its largest possible value; without `max_fp` that
        is the area under the ROC curve.

    sample_weight : array-like of shape (n_documents,), default=None
        Non-negative weights.

    Returns
    -------
    area : float
        In units of true positives times false positives, or in [0, 1] where
        normalized.

    Raises
    ------
    ValueError
        If an array or an option is invalid, as in the metric.

    Examples
    --------
    >>> from sklearn_reject._curves import pn_auc_score
    >>> scores, is_positive = [0.9, 0.7, 0.7, 0.2], [1, 0, 1, 0]
    >>> pn_auc_score(scores, is_positive)
    3.5
    >>> pn_auc_score(scores, is_positive, normalize=True)
    0.875
    >>> pn_auc_score(scores, is_positive, max_fp=1)
    1.5
    """
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
            "where the curve ends. Pass a smaller one, or None for the whole area."
        )
    inside = np.searchsorted(fp, max_fp, side="right")
    around = slice(inside - 1, inside + 1)
    height = np.interp(max_fp, fp[around], tp[around])
    return np.append(fp[:inside], min(max_fp, fp[-1])), np.append(tp[:inside], height)
