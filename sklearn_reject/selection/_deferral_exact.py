"""The three models of deferral solved on grouped samples."""

import numpy as np

from sklearn_reject._curves import RELATIVE_TOLERANCE
from sklearn_reject.exceptions import InfeasibleTargetError, round_up


def solve_cost(groups, cost, randomize):
    """Return the rule of the least cost; it never needs to randomize."""
    # A cost above all that asking can save defers nothing, and must not overflow.
    cost = min(cost, _most_useful_cost(groups))
    costs = groups.risks
    if cost:
        costs = cost * groups.rates
        costs += groups.risks
    lowest = costs.min()
    slack = groups.slack + RELATIVE_TOLERANCE * lowest
    return groups.make_rule(int(np.argmax(costs <= lowest + slack)))


def _most_useful_cost(groups):
    """Return a cost at which deferring the first group does not pay any more."""
    least = max(float(groups.rates[1]), np.finfo(np.float64).tiny)
    return 2 * (float(groups.risks.max()) / least) + 1.0


def solve_budget(groups, rate, randomize):
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


def solve_risk(groups, risk, randomize):
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
        f"system risk is {round_up(lowest)}, at a deferral rate of {round_up(rate)}",
        "Use at least this risk, a better second opinion, or a gain that ranks the "
        "samples better.",
        {"target_risk": lowest},
        1 - rate,
    )


# In the order of the parameters of `solve_deferral`.
SOLVERS = {
    "deferral_cost": solve_cost,
    "max_deferral": solve_budget,
    "target_risk": solve_risk,
}
