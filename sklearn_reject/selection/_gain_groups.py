"""Samples in the order in which they are deferred, and the models solved along it."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sklearn_reject._curves._deferral import (
    DeferralGroups,
    check_deferral_samples,
    group_deferral,
)
from sklearn_reject._curves._groups import RELATIVE_TOLERANCE, prefix_sums
from sklearn_reject._validation import check_vector
from sklearn_reject.exceptions import InfeasibleTargetError, round_up
from sklearn_reject.selection._deferral_rule import DeferralRule


@dataclass(frozen=True, eq=False)
class GainGroups:
    """Samples grouped by gain, the highest first; all a rule can do is defer a prefix.

    `asked_weight` is the weight of the samples whose second opinion is known: risks are
    theirs, rates those of all.
    """

    groups: DeferralGroups
    asked_weight: float
    n_samples: int
    n_asked: int

    def __len__(self):
        return len(self.groups)

    @property
    def gains(self):
        """Gain of each group, decreasing, shape (n_groups,)."""
        return self.groups.scores

    @cached_property
    def rates(self):
        """Share deferred with the first 0, 1, ... groups, shape (n_groups + 1,)."""
        return self.groups.cumulative_weights / self.groups.total_weight

    @cached_property
    def risks(self):
        """System risk with the first 0, 1, ... groups, shape (n_groups + 1,)."""
        return self.groups.system_losses / self.asked_weight

    @cached_property
    def slack(self):
        """By how much equal risks may differ as they are sums of floats."""
        return RELATIVE_TOLERANCE * float(self.risks.max())

    def make_rule(self, n_groups, share=0.0):
        """Return the rule that defers the first groups, and a share of the next."""
        if share == 1:
            n_groups, share = n_groups + 1, 0.0
        if n_groups == len(self):
            # The lowest gain seen would keep lower ones to come.
            threshold, proba = -np.inf, 1.0
        elif share:
            threshold, proba = self.gains[n_groups], share
        elif n_groups:
            threshold, proba = self.gains[n_groups - 1], 1.0
        else:
            threshold, proba = np.inf, 0.0
        return DeferralRule(
            threshold=float(threshold),
            proba_at_threshold=float(proba),
            deferral_rate=self._between(self.rates, n_groups, share),
            system_risk=self._between(self.risks, n_groups, share),
            first_risk=float(self.risks[0]),
            second_risk=float(self.risks[-1]),
            n_samples=self.n_samples,
            n_asked=self.n_asked,
        )

    def _between(self, values, n_groups, share):
        value = float(values[n_groups])
        if share:
            value += share * float(values[n_groups + 1] - values[n_groups])
        return value


def group_by_gain(gain, loss_first, loss_second, sample_weight=None):
    """Validate samples and group them by gain, up to rounding."""
    samples = check_deferral_samples(
        gain, loss_first, loss_second, sample_weight, name="gain"
    )
    n_asked, asked_weight = len(samples.scores), float(len(samples.scores))
    if sample_weight is not None:
        asked_weight = float(samples.weight.sum())
    elif n_asked < len(samples.is_used):
        # A rate needs no losses, so that all samples tell of it.
        samples = samples._replace(
            scores=check_vector(gain, "gain"),
            loss_first=_spread(samples.loss_first, samples.is_used),
            loss_second=_spread(samples.loss_second, samples.is_used),
        )
    groups = group_deferral(samples, near=True)
    return GainGroups(groups, asked_weight, len(samples.is_used), n_asked)


def _spread(losses, is_used):
    """Return losses of all samples, zero where they are not known."""
    of_all = np.zeros(len(is_used))
    of_all[is_used] = losses
    return of_all


def solve_cost(groups, cost, randomize):
    """Return the rule of the least cost; it never needs to randomize."""
    # A cost above all that asking can save defers nothing, and must not overflow.
    least = max(float(groups.rates[1]), np.finfo(np.float64).tiny)
    cost = min(cost, 2 * (float(groups.risks.max()) / least) + 1.0)
    costs = groups.risks
    if cost:
        costs = cost * groups.rates
        costs += groups.risks
    lowest = costs.min()
    slack = groups.slack + RELATIVE_TOLERANCE * lowest
    return groups.make_rule(int(np.argmax(costs <= lowest + slack)))


def solve_budget(groups, rate, randomize):
    """Return the rule that defers as much of a share as is not evidently too much."""
    allowed = rate * (1 + RELATIVE_TOLERANCE)
    n_groups = int(np.searchsorted(groups.rates, allowed, side="right")) - 1
    room, share = rate - groups.rates[n_groups], 0.0
    if randomize and n_groups < len(groups) and room > RELATIVE_TOLERANCE * rate:
        share = room / (groups.rates[n_groups + 1] - groups.rates[n_groups])
    return most_up_to(groups, n_groups, float(share))


def most_up_to(groups, n_groups, share):
    """Return the rule of the most deferrals up to some groups and a share more.

    Its system risk exceeds the least one up to there by at most a standard error of
    this difference, which is a sum over the samples that one of the two rules defers:
    with its variance estimated without bias, that is the root of the sum of squares.
    """
    end = n_groups + (share > 0)
    changes = np.sqrt(groups.groups.squared_changes[:end])
    if not (changes > groups.slack * groups.asked_weight).any():
        # Both opinions lose the same, whoever answers.
        return groups.make_rule(0)
    risks = groups.risks[: n_groups + 1]
    least = int(np.argmax(risks <= risks.min() + groups.slack))
    excess = groups.risks[least : end + 1] - groups.risks[least]
    squares = prefix_sums(groups.groups.squared_changes[least:end])
    if share:
        excess[-1] = excess[-2] + share * (excess[-1] - excess[-2])
        squares[-1] = squares[-2] + share**2 * (squares[-1] - squares[-2])
    errors = np.sqrt(squares) / groups.asked_weight
    best = least + int(np.flatnonzero(excess <= errors + groups.slack)[-1])
    if share and best == end:
        return groups.make_rule(n_groups, share)
    return groups.make_rule(best)


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
    nearest = solve_cost(groups, 0.0, randomize=False)
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
