"""Deferral as a cut: of samples by falling gain, the first are deferred."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sklearn_reject._curves._cut import Cut, Form, Model, best_cut
from sklearn_reject._curves._deferral import check_deferral_samples, join_opinions
from sklearn_reject._curves._prefixes import RELATIVE_TOLERANCE, Prefixes, prefix_sums
from sklearn_reject._validation import check_vector
from sklearn_reject.exceptions import InfeasibleTargetError, round_up
from sklearn_reject.selection._deferral_rule import DeferralRule


@dataclass(frozen=True, eq=False)
class RankedOpinions:
    """Samples by falling gain, and what is achieved by deferring the first of them.

    `asked_weight` is the weight of the samples whose second opinion is known: risks are
    theirs, rates those of all.
    """

    prefixes: Prefixes
    asked_weight: float
    n_samples: int
    n_asked: int

    @classmethod
    def of(cls, gain, loss_first, loss_second, sample_weight=None, *, squares=False):
        """Validate samples and join those whose gains tie up to rounding.

        `squares` are to be known of changes of the loss, to tell their error.
        """
        samples = check_deferral_samples(
            gain, loss_first, loss_second, sample_weight, name="gain"
        )
        n_asked, n_samples = len(samples.scores), len(samples.is_used)
        weight = samples.weight
        if weight is None and n_asked < n_samples:
            # A rate needs no losses, so that all samples tell of it.
            losses = np.zeros((2, n_samples))
            losses[:, samples.is_used] = samples.loss_first, samples.loss_second
            samples = samples._replace(
                scores=check_vector(gain, "gain"),
                loss_first=losses[0],
                loss_second=losses[1],
            )
        more = {}
        if squares:
            more["squares"] = samples.loss_second - samples.loss_first
            more["squares"] *= more["squares"]
            if weight is not None:
                more["squares"] *= weight
        prefixes = join_opinions(samples, near=True, **more)
        columns = prefixes.columns
        columns["change"] = columns["second"] - columns["first"]
        asked_weight = float(n_asked if weight is None else weight.sum())
        return cls(prefixes, asked_weight, n_samples, n_asked)

    def lose(self, n_groups, share=0.0):
        """Return the loss of whoever answers, where some groups are deferred.

        Sums of what is kept and of what is deferred: nothing cancels.
        """
        columns = self.prefixes.columns
        loss = columns["first"][n_groups:].sum() + columns["second"][:n_groups].sum()
        return float(loss + share * columns["change"][n_groups] if share else loss)

    @cached_property
    def ends(self):
        """Loss of the first opinion, and that of the second one."""
        return self.lose(0), self.lose(len(self.prefixes))

    @property
    def slack(self):
        """By how much equal losses may differ as they are sums of floats."""
        return RELATIVE_TOLERANCE * max(self.ends)

    def make_rule(self, cut):
        """Return the rule that defers the groups of a cut, and what it achieves."""
        n_groups, share = cut
        scores = self.prefixes.scores
        if n_groups == len(scores):
            # The lowest gain seen would keep lower ones to come.
            threshold, proba = -np.inf, 1.0
        elif share:
            threshold, proba = -scores[n_groups], share
        elif n_groups:
            threshold, proba = -scores[n_groups - 1], 1.0
        else:
            threshold, proba = np.inf, 0.0
        weight = self.prefixes.at("weight", n_groups, share)
        rate = weight / self.prefixes.total("weight")
        losses = self.lose(n_groups, share), *self.ends
        risks = (loss / self.asked_weight for loss in losses)
        counts = self.n_samples, self.n_asked
        return DeferralRule(float(threshold), float(proba), rate, *risks, *counts)


def cut_at_cost(opinions, cost, randomize=False):
    """Return the cut of least cost and fewest deferrals; it never splits a group."""
    unit = max(1.0, cost)  # so that nothing overflows
    cost = cost / unit * opinions.asked_weight / opinions.prefixes.total("weight")
    price = Form({"change": 1 / unit, "weight": cost}, opinions.ends[0] / unit)
    return best_cut(opinions.prefixes, Model(price=price, most=False))


def cut_at_budget(opinions, rate, randomize):
    """Return the cut of most deferrals, up to a share, that does no evident harm."""
    weights = opinions.prefixes.sums("weight")
    wanted, share = rate * weights[-1], 0.0
    within = np.searchsorted(weights, wanted * (1 + RELATIVE_TOLERANCE), side="right")
    n_groups = int(within) - 1
    if randomize and n_groups < len(opinions.prefixes):
        step = opinions.prefixes.columns["weight"][n_groups]
        share = float((wanted - weights[n_groups]) / step)
    # What rounding explains is none of a group.
    cut = Cut(n_groups, share if share > RELATIVE_TOLERANCE else 0.0)
    return most_up_to(opinions, cut)


def most_up_to(opinions, cut):
    """Return the cut of the most deferrals up to another one that does no evident harm.

    Its system risk exceeds the least one up to there by at most a standard error of
    this difference, which is a sum over the samples that one of the two rules defers:
    with its variance estimated without bias, that is the root of the sum of squares.
    """
    n_groups, share = cut
    end = n_groups + (share > 0)
    columns, slack = opinions.prefixes.columns, opinions.slack
    squares = columns["squares"][:end]
    if not (squares > slack**2).any():
        # Both opinions lose the same, whoever answers.
        return Cut(0)
    changes = prefix_sums(columns["change"][:end])
    whole = changes[: n_groups + 1]
    least = int(np.argmax(whole <= whole.min() + slack))
    excess, squares = changes[least:] - changes[least], prefix_sums(squares[least:])
    if share:
        excess[-1] = excess[-2] + share * (excess[-1] - excess[-2])
        squares[-1] = squares[-2] + share**2 * (squares[-1] - squares[-2])
    best = least + int(np.flatnonzero(excess <= np.sqrt(squares) + slack)[-1])
    return cut if best == end else Cut(best)


def cut_at_risk(opinions, risk, randomize):
    """Return the cut of fewest deferrals within a risk, or say which one there is."""
    room = risk * opinions.asked_weight - opinions.ends[0]
    if abs(room) <= opinions.slack:
        room = 0.0
    within = Form({"change": -1.0}, room)
    cut = best_cut(opinions.prefixes, Model((within,), most=False), randomize)
    if cut is not None:
        return cut
    nearest = opinions.make_rule(cut_at_cost(opinions, 0.0))
    lowest, rate = nearest.system_risk, nearest.deferral_rate
    raise InfeasibleTargetError(
        f"No rule attains target_risk={risk:g} on the calibration set: the lowest "
        f"system risk is {round_up(lowest)}, at a deferral rate of {round_up(rate)}",
        "Use at least this risk, a better second opinion, or a gain that ranks the "
        "samples better.",
        {"target_risk": lowest},
        1 - rate,
    )


# In the order of the parameters of `solve_deferral`.
CUTS = {
    "deferral_cost": cut_at_cost,
    "max_deferral": cut_at_budget,
    "target_risk": cut_at_risk,
}
