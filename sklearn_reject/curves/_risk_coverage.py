"""The risk-coverage curve of a sample and single points on it."""

import warnings

from sklearn.exceptions import UndefinedMetricWarning

from sklearn_reject._validation import check_number
from sklearn_reject.curves._groups import RELATIVE_TOLERANCE, group_by_score


def risk_coverage_curve(scores, losses, *, sample_weight=None):
    """Compute selective risk against coverage, one point a distinct score.

    Point k belongs to the rule that accepts every sample whose score is at most
    ``thresholds[k]`` (FPV23, section 3.1). Lower risk is better.

    Parameters
    ----------
    scores : array-like of shape (n_samples,)
        Uncertainty scores, higher = more uncertain.

    losses : array-like of shape (n_samples,)
        Non-negative losses.

    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative sample weights.

    Returns
    -------
    coverage : ndarray of shape (n_thresholds,)
        Weighted share of accepted samples, increasing up to 1.

    risk : ndarray of shape (n_thresholds,)
        Weighted mean loss of the accepted samples.

    thresholds : ndarray of shape (n_thresholds,)
        Distinct scores, increasing.

    Raises
    ------
    ValueError
        If an array is empty, not finite or of another length, or if a loss or weight
        is negative or all weights are zero.

    Examples
    --------
    >>> from sklearn_reject.curves import risk_coverage_curve
    >>> risk_coverage_curve([0.1, 0.4, 0.4, 0.8], [0, 0, 1, 1])
    (array([0.25, 0.75, 1.  ]), array([0.        , 0.33333333, 0.5       ]), \
array([0.1, 0.4, 0.8]))
    """
    groups = group_by_score(scores, losses, sample_weight)
    coverage = groups.cumulative_weights / groups.total_weight
    return coverage, groups.cumulative_losses / groups.cumulative_weights, groups.scores


def selective_risk_at_coverage_score(
    scores, losses, *, coverage, randomize=False, sample_weight=None
):
    """Compute the selective risk at the smallest threshold that reaches a coverage.

    Lower is better.

    Parameters
    ----------
    scores : array-like of shape (n_samples,)
        Uncertainty scores, higher = more uncertain.

    losses : array-like of shape (n_samples,)
        Non-negative losses.

    coverage : float in ]0, 1]
        Share of the samples to accept.

    randomize : bool, default=False
        If False, the whole tie group at the threshold is accepted and the coverage may
        exceed what is asked. If True, the share of that group is accepted that makes
        the coverage exact, and the risk is the expected one (FPV23, theorem 6).

    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative sample weights.

    Returns
    -------
    risk : float
        Weighted mean loss of the accepted samples.

    Raises
    ------
    ValueError
        If `coverage` is not in ]0, 1] or an array is invalid.

    Examples
    --------
    >>> from sklearn_reject.curves import selective_risk_at_coverage_score
    >>> scores, losses = [0.1, 0.4, 0.4, 0.8], [0, 0, 1, 1]
    >>> selective_risk_at_coverage_score(scores, losses, coverage=0.75)
    0.3333333333333333
    >>> selective_risk_at_coverage_score(scores, losses, coverage=0.5, randomize=True)
    0.25
    """
    coverage = check_number(coverage, "coverage", high=1.0, open_low=True)
    groups = group_by_score(scores, losses, sample_weight)
    share = share_reaching_coverage(groups, coverage) if randomize else 1.0
    n_groups = groups.count_reaching_coverage(coverage)
    weight, loss = groups.prefix(n_groups - 1, share)
    return loss / weight


def coverage_at_risk_score(
    scores, losses, *, risk, randomize=False, sample_weight=None
):
    """Compute the largest coverage whose selective risk is at most `risk`.

    Higher is better. NaN with a warning where no threshold keeps the risk.

    Parameters
    ----------
    scores : array-like of shape (n_samples,)
        Uncertainty scores, higher = more uncertain.

    losses : array-like of shape (n_samples,)
        Non-negative losses.

    risk : float >= 0
        Selective risk that must not be exceeded, in units of the loss.

    randomize : bool, default=False
        If False, tie groups are accepted as a whole or not at all. If True, a share of
        the next group is accepted as far as the risk allows (FPV23, theorem 3).

    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative sample weights.

    Returns
    -------
    coverage : float
        Weighted share of accepted samples, in ]0, 1], or NaN.

    Raises
    ------
    ValueError
        If `risk` is negative or an array is invalid.

    Examples
    --------
    >>> from sklearn_reject.curves import coverage_at_risk_score
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
    share = share_within_risk(groups, risk) if randomize else 0.0
    return groups.prefix(n_groups, share)[0] / float(groups.total_weight)


def share_reaching_coverage(groups, coverage):
    """Return the share of the last needed group that makes the coverage exact."""
    n_groups = groups.count_reaching_coverage(coverage)
    below, _ = groups.prefix(n_groups - 1)
    wanted = coverage * groups.total_weight
    if groups.cumulative_weights[n_groups - 1] <= wanted * (1 + RELATIVE_TOLERANCE):
        return 1.0
    return float((wanted - below) / groups.weights[n_groups - 1])


def share_within_risk(groups, risk):
    """Return the share of the next group that makes the risk exact, 0 without one."""
    n_groups = groups.count_within_risk(risk)
    if n_groups == len(groups):
        return 0.0
    weight, loss = groups.prefix(n_groups)
    allowed = risk * weight
    if loss >= allowed * (1 - RELATIVE_TOLERANCE):
        return 0.0
    excess = groups.losses[n_groups] - risk * groups.weights[n_groups]
    # Below 1, because the whole group would exceed the risk.
    return float((allowed - loss) / excess)
