"""The risk-coverage curve of a sample and single points on it."""

import warnings

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

from sklearn_reject._curves._groups import RELATIVE_TOLERANCE, group_by_score
from sklearn_reject._curves._origins import gather_samples
from sklearn_reject._validation import check_number


def risk_coverage_curve(
    scores, losses, *, is_ood=None, max_fpr=None, sample_weight=None
):
    """Compute selective risk against coverage, one point a distinct score.

    Point k belongs to the rule that accepts every sample whose score is at most
    ``thresholds[k]`` (FPV23, section 3.1). Lower risk is better.

    In full: :func:`sklearn_reject.metrics.risk_coverage_curve`.

    Parameters
    ----------
    scores : array-like of shape (n_samples,)
        Uncertainty scores, higher = more uncertain. With `is_ood` they may be
        infinite.

    losses : array-like of shape (n_samples,)
        Non-negative losses. Those of OOD samples are not used.

    is_ood : array-like of shape (n_samples,), dtype bool, default=None
        Whether a sample is out of distribution; coverage and risk are those of the
        others.

    max_fpr : float in [0, 1], default=None
        Largest share of OOD samples to accept. It takes `is_ood`.

    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative sample weights.

    Returns
    -------
    coverage : ndarray of shape (n_thresholds,)
        Weighted share of accepted samples, increasing.

    risk : ndarray of shape (n_thresholds,)
        Weighted mean loss of the accepted samples.

    thresholds : ndarray of shape (n_thresholds,)
        Distinct scores, increasing.

    Raises
    ------
    ValueError
        If an array or an option is invalid, as in the metric.

    Examples
    --------
    >>> from sklearn_reject._curves import risk_coverage_curve
    >>> risk_coverage_curve([0.1, 0.4, 0.4, 0.8], [0, 0, 1, 1])
    (array([0.25, 0.75, 1.  ]), array([0.        , 0.33333333, 0.5       ]), \
array([0.1, 0.4, 0.8]))

    The last sample is out of distribution, and must not be accepted:

    >>> is_ood = [False, False, False, True]
    >>> coverage, risk, thresholds = risk_coverage_curve(
    ...     [0.1, 0.4, 0.9, 0.8], [0, 1, 1, 0], is_ood=is_ood, max_fpr=0.0
    ... )
    >>> coverage.round(3), risk, thresholds
    (array([0.333, 0.667]), array([0. , 0.5]), array([0.1, 0.4]))
    """
    if max_fpr is not None:
        max_fpr = check_number(max_fpr, "max_fpr", high=1.0)
    if is_ood is not None:
        return _curve_of_id(scores, losses, is_ood, max_fpr, sample_weight)
    if max_fpr is not None:
        raise ValueError(
            f"max_fpr={max_fpr:g} bounds the OOD samples that are accepted, but none "
            "are marked. Pass is_ood, or ood_label to the metric of the same name."
        )
    groups = group_by_score(scores, losses, sample_weight)
    coverage = groups.cumulative_weights / groups.total_weight
    return coverage, groups.cumulative_losses / groups.cumulative_weights, groups.scores


def _curve_of_id(scores, losses, is_ood, max_fpr, sample_weight):
    if np.ndim(scores) == 2:
        raise ValueError(
            f"scores has shape {np.shape(scores)}, but the curve is that of one score. "
            "For two scores see risk_coverage_frontier."
        )
    samples = gather_samples(scores, losses, is_ood, sample_weight)
    if max_fpr is None:
        max_fpr = 1.0
    else:
        samples.refuse_without_ood("a bound on the FPR")
    groups = next(samples.groups(None))
    accepted_id = groups.accepted_id[1:]
    allowed = groups.false_positive_rates[1:] <= max_fpr * (1 + RELATIVE_TOLERANCE)
    points = (groups.id_weights > 0) & allowed
    risk = groups.accepted_losses[1:][points] / accepted_id[points]
    return accepted_id[points] / groups.total_id, risk, groups.scores[points]


def selective_risk_at_coverage_score(
    scores, losses, *, coverage, randomize=False, sample_weight=None
):
    """Compute the selective risk at the smallest threshold that reaches a coverage.

    Lower is better.

    In full: :func:`sklearn_reject.metrics.selective_risk_at_coverage_score`.

    Parameters
    ----------
    scores : array-like of shape (n_samples,)
        Uncertainty scores, higher = more uncertain.

    losses : array-like of shape (n_samples,)
        Non-negative losses.

    coverage : float in ]0, 1]
        Share of the samples to accept.

    randomize : bool, default=False
        Whether the last group of ties is accepted in part, for the exact coverage.

    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative sample weights.

    Returns
    -------
    risk : float
        Weighted mean loss of the accepted samples.

    Raises
    ------
    ValueError
        If an array or an option is invalid, as in the metric.

    Examples
    --------
    >>> from sklearn_reject._curves import selective_risk_at_coverage_score
    >>> scores, losses = [0.1, 0.4, 0.4, 0.8], [0, 0, 1, 1]
    >>> selective_risk_at_coverage_score(scores, losses, coverage=0.75)
    0.3333333333333333
    >>> selective_risk_at_coverage_score(scores, losses, coverage=0.5, randomize=True)
    0.25
    """
    coverage = check_number(coverage, "coverage", high=1.0, open_low=True)
    groups = group_by_score(scores, losses, sample_weight)
    n_groups = groups.count_reaching_coverage(coverage)
    share = share_reaching_coverage(groups, n_groups, coverage) if randomize else 1.0
    weight, loss = groups.prefix(n_groups - 1, share)
    return loss / weight


def coverage_at_risk_score(
    scores, losses, *, risk, randomize=False, sample_weight=None
):
    """Compute the largest coverage whose selective risk is at most `risk`.

    Higher is better. NaN with a warning where no threshold keeps the risk.

    In full: :func:`sklearn_reject.metrics.coverage_at_risk_score`.

    Parameters
    ----------
    scores : array-like of shape (n_samples,)
        Uncertainty scores, higher = more uncertain.

    losses : array-like of shape (n_samples,)
        Non-negative losses.

    risk : float >= 0
        Selective risk that must not be exceeded, in units of the loss.

    randomize : bool, default=False
        Whether the next group of ties is accepted in part, as far as the risk allows.

    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative sample weights.

    Returns
    -------
    coverage : float
        Weighted share of accepted samples, in ]0, 1], or NaN.

    Raises
    ------
    ValueError
        If an array or an option is invalid, as in the metric.

    Examples
    --------
    >>> from sklearn_reject._curves import coverage_at_risk_score
    >>> scores, losses = [0.1, 0.4, 0.4, 0.8], [0, 0, 1, 1]
    >>> coverage_at_risk_score(scores, losses, risk=0.2)
    0.25
    >>> coverage_at_risk_score(scores, losses, risk=0.2, randomize=True)
    0.4166666666666667
    """
    risk = check_number(risk, "risk")
    groups = group_by_score(scores, losses, sample_weight)
    n_groups = groups.count_within_risk(risk)
    if n_groups == 0:
        warnings.warn(
            f"No threshold keeps the selective risk at or below risk={risk:g}, so the "
            "coverage is undefined and set to NaN. Ask for a larger risk.",
            UndefinedMetricWarning,
            stacklevel=2,
        )
        return float("nan")
    share = share_within_risk(groups, n_groups, risk) if randomize else 0.0
    return groups.prefix(n_groups, share)[0] / float(groups.total_weight)


def share_reaching_coverage(groups, n_groups, coverage):
    """Return the share of the last of the groups needed that makes a coverage exact."""
    below, _ = groups.prefix(n_groups - 1)
    wanted = coverage * groups.total_weight
    if groups.cumulative_weights[n_groups - 1] <= wanted * (1 + RELATIVE_TOLERANCE):
        return 1.0
    return float((wanted - below) / groups.weights[n_groups - 1])


def share_within_risk(groups, n_groups, risk):
    """Return the share of the group after those within a risk that makes it exact.

    It is zero where there is no other group.
    """
    weight, loss = groups.prefix(n_groups)
    allowed = risk * weight
    if n_groups == len(groups) or loss >= allowed * (1 - RELATIVE_TOLERANCE):
        return 0.0
    excess = groups.losses[n_groups] - risk * groups.weights[n_groups]
    # Below 1, because the whole group would exceed the risk.
    return float((allowed - loss) / excess)
