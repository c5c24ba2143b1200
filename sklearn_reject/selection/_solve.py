"""The three rejection models solved on a sample (FPV23, section 2)."""

import numpy as np
from sklearn.isotonic import isotonic_regression

from sklearn_reject._validation import check_number
from sklearn_reject.curves import group_by_score
from sklearn_reject.curves._groups import RELATIVE_TOLERANCE
from sklearn_reject.curves._risk_coverage import (
    share_reaching_coverage,
    share_within_risk,
)
from sklearn_reject.selection._infeasible import InfeasibleTargetError
from sklearn_reject.selection._rule import RejectionRule


def solve_reject_cost(scores, losses, target, *, sample_weight=None):
    """Minimise the expected loss when rejecting has a price (Chow's model).

    Finds the prefix of the samples, in the order of their score, with the least
    loss plus `target` a rejected sample; of equal minima the largest coverage. Meant
    for scores that only order the samples. A score that estimates the conditional risk
    needs no data, see :func:`chow_rule`.

    Parameters
    ----------
    scores : array-like of shape (n_samples,)
        Uncertainty scores, higher = more uncertain.

    losses : array-like of shape (n_samples,)
        Non-negative losses.

    target : float >= 0
        Cost of rejecting a sample, in units of the loss.

    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative sample weights.

    Returns
    -------
    rule : RejectionRule
        The optimal rule; it never needs to randomize. Its threshold is minus infinity
        where rejecting everything is best.

    Raises
    ------
    ValueError
        If `target` is negative or an array is invalid.

    Examples
    --------
    >>> from sklearn_reject.selection import solve_reject_cost
    >>> scores, losses = [0.1, 0.4, 0.4, 0.8], [0, 0, 1, 1]
    >>> solve_reject_cost(scores, losses, 0.3).coverage
    0.25
    >>> solve_reject_cost(scores, losses, 0.5).coverage
    0.75
    """
    cost = check_number(target, "target (the reject cost)")
    groups = group_by_score(scores, losses, sample_weight)
    return rule_for_reject_cost(groups, cost)


def solve_target_risk(scores, losses, target, *, sample_weight=None, randomize=True):
    """Maximise the coverage under a bound on the selective risk.

    The bounded-improvement model (FPV23, problem 3 and theorem 3).

    Parameters
    ----------
    scores : array-like of shape (n_samples,)
        Uncertainty scores, higher = more uncertain.

    losses : array-like of shape (n_samples,)
        Non-negative losses.

    target : float >= 0
        Selective risk that must not be exceeded, in units of the loss.

    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative sample weights.

    randomize : bool, default=True
        If True, the tie group that would exceed the risk is accepted with the
        probability that meets it exactly. If False, it is rejected.

    Returns
    -------
    rule : RejectionRule
        The rule of largest coverage among those with one threshold.

    Raises
    ------
    InfeasibleTargetError
        If every prefix of the sample has a higher risk. It says what can be met.
    ValueError
        If `target` is negative or an array is invalid.

    Examples
    --------
    >>> from sklearn_reject.selection import solve_target_risk
    >>> scores, losses = [0.1, 0.4, 0.4, 0.8], [0, 0, 1, 1]
    >>> rule = solve_target_risk(scores, losses, 0.2)
    >>> round(rule.coverage, 4), round(rule.selective_risk, 4)
    (0.4167, 0.2)
    >>> solve_target_risk(scores, losses, 0.2, randomize=False).coverage
    0.25
    """
    risk = check_number(target, "target (the selective risk)")
    groups = group_by_score(scores, losses, sample_weight)
    return rule_for_target_risk(groups, risk, randomize=randomize)


def solve_target_coverage(
    scores, losses, target, *, sample_weight=None, randomize=True
):
    """Minimise the selective risk under a bound on the coverage.

    The bounded-abstention model (FPV23, problem 5 and theorem 6). The rule meets the
    coverage exactly; where accepting more would lower the risk on the sample, the score
    does not order the samples as the risk does, and that noise is not exploited.

    Parameters
    ----------
    scores : array-like of shape (n_samples,)
        Uncertainty scores, higher = more uncertain.

    losses : array-like of shape (n_samples,)
        Non-negative losses. They do not change the rule, only what it reports.

    target : float in ]0, 1]
        Share of the samples to accept.

    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative sample weights.

    randomize : bool, default=True
        If True, the tie group that reaches the coverage is accepted with the
        probability that meets it exactly. If False, it is accepted as a whole.

    Returns
    -------
    rule : RejectionRule
        The rule.

    Raises
    ------
    ValueError
        If `target` is not in ]0, 1] or an array is invalid.

    Examples
    --------
    >>> from sklearn_reject.selection import solve_target_coverage
    >>> scores, losses = [0.1, 0.4, 0.4, 0.8], [0, 0, 1, 1]
    >>> solve_target_coverage(scores, losses, 0.5).coverage
    0.5
    >>> solve_target_coverage(scores, losses, 0.5, randomize=False).coverage
    0.75
    """
    coverage = check_number(target, "target (the coverage)", high=1.0, open_low=True)
    groups = group_by_score(scores, losses, sample_weight)
    return rule_for_target_coverage(groups, coverage, randomize=randomize)


def rule_for_reject_cost(groups, cost):
    """Solve the cost-based model on grouped samples."""
    weights = np.append(0.0, groups.cumulative_weights)
    losses = np.append(0.0, groups.cumulative_losses)
    # Shares of the total, so that no cost overflows.
    saved, losses = cost * (weights / weights[-1]), losses / weights[-1]
    gains = saved - losses
    slack = RELATIVE_TOLERANCE * np.maximum(saved, losses)
    best = np.flatnonzero(gains >= gains.max() - slack)[-1]
    return _rule_at(groups, int(best))


def rule_for_target_risk(groups, risk, *, randomize=True):
    """Solve the bounded-improvement model on grouped samples."""
    n_groups = groups.count_within_risk(risk)
    if n_groups == 0:
        raise _infeasible(groups, risk)
    share = share_within_risk(groups, risk) if randomize else 0.0
    return _rule_at(groups, n_groups, share)


def rule_for_target_coverage(groups, coverage, *, randomize=True):
    """Solve the bounded-abstention model on grouped samples."""
    n_groups = groups.count_reaching_coverage(coverage)
    share = share_reaching_coverage(groups, coverage) if randomize else 1.0
    if share == 1:
        return _rule_at(groups, n_groups)
    return _rule_at(groups, n_groups - 1, share)


def _rule_at(groups, n_groups, share=None):
    """Accept the first groups and, unless None, a share of the next, the threshold."""
    threshold, nu = _threshold(groups, n_groups, share)
    weight, loss = groups.prefix(n_groups, share or 0.0)
    return RejectionRule(
        threshold=threshold,
        nu=nu,
        coverage=weight / float(groups.total_weight),
        selective_risk=loss / weight if weight else float("nan"),
        reject_cost=_hull_slope(groups, n_groups if share else n_groups - 1),
    )


def _threshold(groups, n_groups, share):
    if n_groups == len(groups):
        # The largest score seen would reject larger ones to come.
        return float("inf"), 1.0
    if share is not None:
        return float(groups.scores[n_groups]), float(share)
    if n_groups:
        return float(groups.scores[n_groups - 1]), 1.0
    return float("-inf"), 0.0


def _hull_slope(groups, index):
    """Return the slope of the lower convex hull of the prefixes at a group."""
    if index < 0:
        return 0.0
    means = groups.losses / groups.weights
    return float(isotonic_regression(means, sample_weight=groups.weights)[index])


def _infeasible(groups, risk):
    risks = groups.cumulative_losses / groups.cumulative_weights
    lowest = float(risks.min())
    within = np.flatnonzero(risks <= lowest * (1 + RELATIVE_TOLERANCE))
    weight, _ = groups.prefix(int(within[-1]) + 1)
    coverage = weight / float(groups.total_weight)
    return InfeasibleTargetError(
        f"No threshold attains the target risk {risk:g} on the tuning sample: the "
        f"lowest selective risk is {lowest:.6g}, at coverage {coverage:.6g}. Ask for a "
        "risk of at least that, or use a score that orders the errors better.",
        lowest_risk=lowest,
        coverage=coverage,
    )
