"""Deferral to a second opinion solved on a sample: by cost, by budget and by risk."""

import numpy as np

from sklearn_reject._curves import RELATIVE_TOLERANCE
from sklearn_reject._validation import check_number, check_option
from sklearn_reject.exceptions import InfeasibleTargetError, round_up
from sklearn_reject.selection._gain_groups import group_by_gain

_TARGETS = "deferral_cost", "max_deferral", "target_risk"


def solve_deferral(
    gain,
    loss_first,
    loss_second,
    *,
    deferral_cost=None,
    max_deferral=None,
    target_risk=None,
    sample_weight=None,
    randomize=True,
):
    """Find which samples to defer to a second opinion, by their gain.

    A first opinion answers, such as a small model; a second one, such as a larger model
    or a person, is asked instead about the samples of the highest gain. The gain of a
    sample estimates the loss of the first opinion minus that of the second, or orders
    the samples as that would. Asking may harm: where it is negative, the first one is
    better. The system risk is the mean loss of whoever answers.

    Exactly one of `deferral_cost`, `max_deferral` and `target_risk` is to be given. The
    rule is the best on the sample among those that defer above a threshold, and at it
    with a probability.

    Parameters
    ----------
    gain : array-like of shape (n_samples,)
        Finite gains, higher = deferred first. They may be negative.

    loss_first : array-like of shape (n_samples,)
        Non-negative losses of the first opinion.

    loss_second : array-like of shape (n_samples,)
        Non-negative losses of the second opinion, NaN or None where it was not asked.
        Risks are those of the other samples, as if these were drawn at random; a
        warning says so where they evidently were not.

    deferral_cost : float >= 0, default=None
        Cost of asking about a sample, in units of the loss: minimise the system risk
        plus that times the deferral rate; of equal minima the fewest deferrals.

    max_deferral : float in [0, 1], default=None
        Largest share of samples to defer: minimise the system risk up to there; of
        equal minima the fewest deferrals.

    target_risk : float >= 0, default=None
        System risk that must not be exceeded: minimise the deferral rate. The risk may
        go down and up again with more deferrals.

    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative sample weights.

    randomize : bool, default=True
        If True, the tie group at which a rate or risk is reached is deferred with the
        probability that meets it exactly. If False, it is kept where it would exceed a
        rate, and deferred where it takes all of it to reach a risk.

    Returns
    -------
    rule : DeferralRule
        The rule. Its threshold is infinite where nothing is deferred.

    Raises
    ------
    InfeasibleTargetError
        If no rule attains `target_risk`. It says the lowest system risk, and at which
        deferral rate that is, as `attainable`.
    ValueError
        If not exactly one target is given, one is out of range, or an array is invalid.

    Examples
    --------
    >>> from sklearn_reject.selection import solve_deferral
    >>> gain, first, second = [0.9, 0.4, 0.4, -0.1], [1, 1, 0, 0], [0, 0, 0, 1]
    >>> solve_deferral(gain, first, second, deferral_cost=0.6).deferral_rate
    0.25
    >>> solve_deferral(gain, first, second, max_deferral=1).deferral_rate
    0.75
    >>> rule = solve_deferral(gain, first, second, target_risk=0.125)
    >>> rule.threshold, rule.proba_at_threshold, rule.deferral_rate
    (0.4, 0.5, 0.5)
    """
    name, target = _check_target(deferral_cost, max_deferral, target_risk)
    check_option(randomize, "randomize", (True, False))
    groups = group_by_gain(gain, loss_first, loss_second, sample_weight)
    return _SOLVERS[name](groups, target, randomize)


def _check_target(*values):
    """Return name and value of the only target that is given."""
    given = [
        (name, value)
        for name, value in zip(_TARGETS, values, strict=True)
        if value is not None
    ]
    if len(given) != 1:
        found = (
            ", ".join(f"{name}={value!r}" for name, value in given) or "none of them"
        )
        raise ValueError(
            "Exactly one of deferral_cost, max_deferral and target_risk must be given, "
            f"got {found}."
        )
    ((name, value),) = given
    high = 1.0 if name == "max_deferral" else np.inf
    return name, check_number(value, name, high=high)


def _solve_cost(groups, cost, randomize):
    """Return the rule of the least cost; it never needs to randomize."""
    # A cost above all that asking can save defers nothing, and must not overflow.
    cost = min(cost, _most_useful_cost(groups))
    prices = cost * groups.rates
    costs = groups.risks + prices
    slack = groups.slack + RELATIVE_TOLERANCE * prices
    return groups.make_rule(int(np.argmax(costs <= costs.min() + slack)))


def _most_useful_cost(groups):
    """Return a cost at which deferring the first group does not pay any more."""
    least = max(float(groups.rates[1]), np.finfo(np.float64).tiny)
    return 2 * (float(groups.risks.max()) / least) + 1.0


def _solve_budget(groups, rate, randomize):
    """Return the rule of the least system risk that defers at most a share."""
    allowed = rate * (1 + RELATIVE_TOLERANCE)
    n_groups = int(np.searchsorted(groups.rates, allowed, side="right")) - 1
    room, share = rate - groups.rates[n_groups], 0.0
    if randomize and n_groups < len(groups) and room > RELATIVE_TOLERANCE * rate:
        share = room / (groups.rates[n_groups + 1] - groups.rates[n_groups])
    return least_risk_up_to(groups, n_groups, float(share))


def least_risk_up_to(groups, n_groups, share):
    """Return the rule of the least system risk up to some groups and a share more."""
    risks = groups.risks[: n_groups + 1]
    lowest = float(risks.min())
    if share:
        step = float(groups.risks[n_groups + 1] - groups.risks[n_groups])
        if risks[-1] + share * step < lowest - groups.slack:
            return groups.make_rule(n_groups, share)
    return groups.make_rule(int(np.argmax(risks <= lowest + groups.slack)))


def _solve_risk(groups, risk, randomize):
    """Return the rule of the fewest deferrals whose system risk is within a bound."""
    within = groups.risks <= risk + groups.slack
    if not within.any():
        raise _infeasible(groups, risk)
    n_groups = int(np.argmax(within))
    if n_groups == 0 or not randomize:
        return groups.make_rule(n_groups)
    before, after = groups.risks[n_groups - 1], groups.risks[n_groups]
    share = min(1.0, float((before - risk) / (before - after)))
    return groups.make_rule(n_groups - 1, share)


def _infeasible(groups, risk):
    nearest = least_risk_up_to(groups, len(groups), 0.0)
    lowest, rate = nearest.system_risk, nearest.deferral_rate
    return InfeasibleTargetError(
        f"No rule attains target_risk={risk:g} on the calibration set: the lowest "
        f"system risk is {round_up(lowest)}, at a deferral rate of {round_up(rate)}. "
        "Ask for a risk of at least that, or use a better second opinion or a gain "
        "that orders the samples better.",
        lowest_risk=lowest,
        attainable={"deferral_rate": rate},
    )


_SOLVERS = {
    "deferral_cost": _solve_cost,
    "max_deferral": _solve_budget,
    "target_risk": _solve_risk,
}
