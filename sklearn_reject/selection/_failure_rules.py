"""A bound on failures: what a rule accepts and should not have, of all samples.

The expected loss G(t) of a new sample, zero where its score t rejects it, never falls
as t grows. So the search for the largest t costs nothing, unlike that for a risk.

In expectation (conformal risk control, Angelopoulos et al. 2024). Let the n calibration
samples and the new one be exchangeable, with losses of at most 1. A rule accepts what
has a score below a threshold, and at it with a probability; of two rules one accepts
no less than the other. Of those whose losses on all n + 1 samples sum up to at most
(n + 1) * rate take the one that accepts most. It does not depend on which sample is the
new one, so that the new one loses at most the rate on average. The rule that is found
accepts no more: its losses on the n samples leave room for a new loss of 1.

With confidence. Let t* be the largest threshold that keeps the bound. A larger one is
found only if the p-value of what is up to t* is at most delta, since it is no larger
than that of the prefix that was found, and that happens with probability delta.
"""

import math
from dataclasses import dataclass, replace

import numpy as np
from sklearn.utils import check_random_state

from sklearn_reject._curves._groups import RELATIVE_TOLERANCE, group_validated
from sklearn_reject.exceptions import InfeasibleTargetError, round_up, warn_user
from sklearn_reject.selection._bounds import find_longest
from sklearn_reject.selection._rule import Certificate
from sklearn_reject.selection._solve import make_certified_rule, make_rule_at, rank

# No number of samples is enough for less, and its inverse might be infinite.
_LEAST_SHARE = 1e-100

# Of the chance of no error in many samples.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class FailureTarget:
    """What is asked for on so many samples: a rate, on average or with a confidence."""

    rate: float
    max_loss: float
    bound: object
    confidence_level: float | None
    n_samples: int

    @property
    def share(self):
        """The rate in multiples of the largest loss."""
        return self.rate / self.max_loss

    @property
    def is_certified(self):
        """Whether the rate is to hold with a confidence."""
        return self.confidence_level is not None

    @property
    def delta(self):
        """Chance of an error. The limit itself is meant to pass, without any loss."""
        return (1 - self.confidence_level) * (1 + _ROUNDING)

    @property
    def lowest(self):
        """The smallest share that so many samples can promise."""
        if not self.is_certified or not self.n_samples:
            return 1 / (self.n_samples + 1)
        return self.bound.lowest_rate(self.n_samples, 1 - self.confidence_level)

    @property
    def fewest(self):
        """How many samples can promise the rate if none of them is wrong."""
        if not self.is_certified:
            return math.ceil((1 / self.share) * (1 - RELATIVE_TOLERANCE)) - 1
        return self.bound.fewest(self.share, 1 - self.confidence_level)

    @property
    def is_hopeless(self):
        """Whether the samples are too few, whatever their losses."""
        return self.share < self.lowest * (1 - RELATIVE_TOLERANCE)

    @property
    def promise(self):
        """The rate as text, and the confidence."""
        if not self.is_certified:
            return f"{self.rate:g}"
        return f"{self.rate:g} at confidence_level={self.confidence_level:g}"

    def refuse_least(self, name="target (the failure rate)"):
        """Raise where no number of samples could promise the rate."""
        if self.share < _LEAST_SHARE:
            raise InfeasibleTargetError(
                f"{name} is {self.rate:g}, which only a rule that accepts nothing can "
                "meet, because with a small risk a sample may have no loss at all",
                "Use a larger value.",
            )

    def refuse_few(self):
        """Raise where no number of samples, or not so few, could promise the rate."""
        self.refuse_least()
        if self.is_hopeless:
            lowest = round_up(self.lowest * self.max_loss)
            raise InfeasibleTargetError(
                f"{self.n_samples} samples cannot guarantee the failure rate "
                f"{self.promise}, even if none of them is wrong: {self.fewest} are "
                f"needed, and the smallest rate that can be guaranteed is {lowest}",
                "Use more samples or use a larger rate.",
                {"target_failure_rate": float(lowest)},
            )

    def find_prefix(self, groups):
        """Return how many groups keep the rate on average, and the share of the next.

        The share is None where all of them do.
        """
        if self.share >= 1:
            return len(groups), None
        allowed = self.share * (self.n_samples + 1)
        # Sums of floats miss whole numbers.
        if abs(allowed - round(allowed)) <= RELATIVE_TOLERANCE * allowed:
            allowed = float(round(allowed))
        # The new sample may lose as much as any can.
        allowed = (allowed - 1) * self.max_loss
        limit = allowed * (1 + RELATIVE_TOLERANCE)
        n_groups = int(np.searchsorted(groups.cumulative_losses, limit, side="right"))
        if n_groups == len(groups):
            return n_groups, None
        _, used = groups.prefix(n_groups)
        return n_groups, max(0.0, (allowed - used) / float(groups.losses[n_groups]))

    def find_longest(self, p_value, counts):
        """Return the largest of some counts that is certified, and its p-value."""
        if self.share >= 1:
            return int(counts[-1]), 0.0
        count = find_longest(p_value, counts, self.delta) or 0
        return count, min(p_value(count), 1.0)

    def certificate(self, n_accepted, p_value=None):
        """Return what holds of a rule that accepts so many samples for certain."""
        return Certificate(
            "failure_rate",
            self.rate,
            self.confidence_level,
            self.bound.name if self.is_certified else "conformal",
            self.n_samples,
            int(n_accepted),
            p_value,
        )

    def warn_of_nothing_accepted(self, rule):
        """Warn where a rule accepts nothing."""
        if rule.coverage == 0:
            warn_user(
                "No calibration sample is accepted, because the samples with the "
                "lowest scores have larger losses than the failure rate "
                f"{self.rate:g} allows. Use a score that ranks the errors better, or a "
                "larger rate.",
                topic="nothing accepted",
            )


def solve_failures(target, scores, losses, randomize, draws=None, random_state=None):
    """Return the rule of largest coverage that keeps a rate, which is not hopeless."""
    if not target.is_certified:
        groups = group_validated(scores, losses, None, near=True)
        n_groups, share = target.find_prefix(groups)
        if not randomize and share is not None:
            share = 0.0
        rule = make_rule_at(groups, n_groups, share)
        n_accepted = groups.prefix(n_groups)[0]
        return replace(rule, certificate=target.certificate(n_accepted))
    random_state = check_random_state(random_state)
    ranked = rank(scores, losses, randomize, draws, random_state)
    p_value = None
    if target.share < 1:
        shares = ranked.losses / target.max_loss
        p_value = target.bound.tests(shares, target.share, target.delta)
    count, p_value = target.find_longest(p_value, ranked.accepted_counts)
    n_below = count
    if count < len(ranked):
        n_below = np.searchsorted(ranked.scores, ranked.scores[count])
    certificate = target.certificate(n_below, p_value)
    return make_certified_rule(ranked, certificate, count, single_is_in=False)
