"""Samples in the order in which they are deferred, and the rules along it."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sklearn_reject._curves import (
    RELATIVE_TOLERANCE,
    TieGroups,
    check_deferral_samples,
    group_validated,
)
from sklearn_reject._validation import check_vector
from sklearn_reject.selection._deferral_rule import DeferralRule


@dataclass(frozen=True, eq=False)
class GainGroups:
    """Samples grouped by gain, the highest first; all a rule can do is defer a prefix.

    Of the tie groups, the scores are the gains with the other sign and the losses what
    deferring adds to those of the first opinion. `asked_weight` is the weight of the
    samples whose second opinion is known: risks are theirs, rates those of all.
    """

    ties: TieGroups
    first_loss: float
    second_loss: float
    asked_weight: float
    n_samples: int
    n_asked: int

    def __len__(self):
        return len(self.ties)

    @cached_property
    def rates(self):
        """Share deferred with the first 0, 1, ... groups, shape (n_groups + 1,)."""
        weights = self.ties.cumulative_weights
        rates = np.zeros(len(weights) + 1)
        np.divide(weights, weights[-1], out=rates[1:])
        return rates

    @cached_property
    def risks(self):
        """System risk with the first 0, 1, ... groups, shape (n_groups + 1,)."""
        risks = np.full(len(self) + 1, self.first_loss)
        risks[1:] += self.ties.cumulative_losses
        risks /= self.asked_weight
        return np.maximum(risks, 0.0, out=risks)

    @cached_property
    def slack(self):
        """By how much equal risks may differ as they are sums of floats."""
        return RELATIVE_TOLERANCE * float(self.risks.max())

    def last_gain(self, n_groups):
        """Return the lowest gain among the first groups."""
        return -float(self.ties.scores[n_groups - 1])

    def make_rule(self, n_groups, share=0.0):
        """Return the rule that defers the first groups, and a share of the next."""
        if share == 1:
            n_groups, share = n_groups + 1, 0.0
        if n_groups == len(self):
            # The lowest gain seen would keep lower ones to come.
            threshold, proba = -np.inf, 1.0
        elif share:
            threshold, proba = self.last_gain(n_groups + 1), share
        elif n_groups:
            threshold, proba = self.last_gain(n_groups), 1.0
        else:
            threshold, proba = np.inf, 0.0
        return DeferralRule(
            threshold=float(threshold),
            proba_at_threshold=float(proba),
            deferral_rate=self._between(self.rates, n_groups, share),
            system_risk=self._between(self.risks, n_groups, share),
            first_risk=self.first_loss / self.asked_weight,
            second_risk=self.second_loss / self.asked_weight,
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
    weight = samples.weight
    scores, added = -samples.scores, samples.loss_second - samples.loss_first
    if sample_weight is None and not samples.is_used.all():
        # A rate needs no losses, so that all samples tell of it.
        scores = -check_vector(gain, "gain")
        of_all = np.zeros(len(scores))
        of_all[samples.is_used] = added
        added = of_all
    return GainGroups(
        group_validated(scores, added, weight, near=True),
        first_loss=_total(samples.loss_first, weight),
        second_loss=_total(samples.loss_second, weight),
        asked_weight=_total(np.broadcast_to(1.0, len(samples.scores)), weight),
        n_samples=len(samples.is_used),
        n_asked=len(samples.scores),
    )


def _total(values, weight):
    return float(values.sum() if weight is None else values @ weight)
