"""Deferral rules whose target holds for the population with high probability.

A rule of threshold and probability that was chosen beforehand loses, on samples drawn
one by one, independent amounts with the system risk as their mean. So the p-value of
that risk is the one of a mean, whatever the second opinion is like, and those of many
rules are held together as :func:`walk_from_starts` does.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.stats import binom

from sklearn_reject._curves._groups import tie_range
from sklearn_reject.exceptions import InfeasibleTargetError, round_up
from sklearn_reject.selection._certify import (
    Prefixes,
    count_passes,
    explain_hopeless,
    find_least_risk,
    walk_from_starts,
)
from sklearn_reject.selection._certify_levels import most_successes
from sklearn_reject.selection._rule import Certificate


@dataclass(frozen=True, eq=False)
class SystemSample:
    """Samples that certify, in random order, losses in multiples of the largest."""

    gain: np.ndarray
    loss_first: np.ndarray
    loss_second: np.ndarray
    draws: np.ndarray

    def __len__(self):
        return len(self.gain)

    @cached_property
    def _ranges(self):
        return tie_range(-self.gain)

    def defer(self, threshold, proba):
        """Return which samples a rule defers, as `DeferralRule.defer` decides."""
        low, high = self._ranges
        deferred = high < -threshold
        if proba and np.isfinite(threshold):
            is_at = ~deferred & (low <= -threshold)
            deferred |= is_at & (self.draws < proba)
        return deferred

    def losses(self, cut):
        """Return the losses of the system at a rule."""
        return np.where(self.defer(*cut), self.loss_second, self.loss_first)

    def p_values(self, cuts, bound, risk, level):
        """Return the p-values that the system risks of rules are above a bound."""
        losses = map(self.losses, cuts)
        if bound.of_sums is not None:
            sums = np.array([each.sum() for each in losses])
            return bound.of_sums(np.full(len(sums), len(self)), sums, risk)
        count = np.array([len(self)])
        found = [
            bound.p_values(
                Prefixes(None, lambda _, each=each: each), count, risk, level
            )
            for each in losses
        ]
        return np.concatenate(found)


def certify_system_risk(sample, pilot, risk, *, confidence_level, bound, max_loss):
    """Return the rule of fewest deferrals whose system risk can be certified.

    It comes as threshold and probability, and with its certificate.
    """
    delta = 1 - confidence_level

    def certificate(cut, p_value):
        n_kept = len(sample) - int(np.count_nonzero(sample.defer(*cut)))
        return Certificate(
            "system_risk",
            risk,
            confidence_level,
            bound.name,
            len(sample),
            n_kept,
            p_value,
        )

    if risk >= max_loss:
        return (np.inf, 0.0), certificate((np.inf, 0.0), 0.0)
    search = _Search(sample, pilot, delta, bound, max_loss)
    found = search.find(risk / max_loss) if risk / max_loss > 0 else None
    if found is None:
        raise _nothing_passes(search, risk, confidence_level)
    (p_value,) = sample.p_values([found], bound, risk / max_loss, delta)
    return found, certificate(found, float(p_value))


@dataclass(frozen=True, eq=False)
class _Search:
    """The fixed sequence over rules that the pilot proposes."""

    sample: SystemSample
    pilot: object
    delta: float
    bound: object
    max_loss: float

    def find(self, risk):
        """Return the last rule that passes, of the fewest deferrals, None if none."""
        plan = self._plan(risk)

        def p_values(indices):
            return self._p_values(plan.rates[indices], risk)

        def find_failure(start, end, level):
            return start + count_passes(p_values, np.arange(start, end), level)

        last = walk_from_starts(
            plan.starts, len(plan.rates), plan.weights, self.delta, find_failure
        )
        return None if last is None else self.pilot.cut(plan.rates[last])

    def find_start(self, risk):
        """Return a rule that a start passes with, and None only if `find` does."""
        plan = self._plan(risk)
        rates = plan.rates[plan.starts]
        passed = self._p_values(rates, risk) <= plan.weights * self.delta
        return self.pilot.cut(rates[passed][-1]) if passed.any() else None

    def _plan(self, risk):
        risk = risk * self.max_loss
        return self.pilot.plan(risk, self.max_loss, len(self.sample), self.bound)

    def _p_values(self, rates, risk):
        cuts = map(self.pilot.cut, rates)
        return self.sample.p_values(cuts, self.bound, risk, self.delta)


def _nothing_passes(search, risk, confidence_level):
    """Return the error of a target that no rule passes, with one that does."""
    sample, max_loss = search.sample, search.max_loss
    hopeless = explain_hopeless(len(sample), risk, max_loss, search.bound, search.delta)
    problem = hopeless or (
        f"No rule can be certified for target_risk={risk:g} with "
        f"confidence_level={confidence_level:g} on {len(sample)} samples"
    )
    way_out = (
        "a lower confidence, more samples, a better second opinion, or a gain that "
        "ranks the samples better."
    )
    lowest, cut = find_least_risk(search.find_start, risk / max_loss, (-np.inf, 1.0))
    if lowest == 1:
        return InfeasibleTargetError(
            f"{problem}; nor can any risk below the largest loss", f"Use {way_out}"
        )
    lowest *= max_loss
    rate = np.count_nonzero(sample.defer(*cut)) / len(sample)
    return InfeasibleTargetError(
        f"{problem}; the smallest system risk that can be certified is about "
        f"{round_up(lowest)}, at a deferral rate of {round_up(rate)}",
        f"Use at least this risk, {way_out}",
        {"target_risk": lowest},
        1 - rate,
    )


def certify_deferral_rate(n_samples, rate, *, confidence_level):
    """Find the largest rank such that what is before it has a certified rate.

    Ranks are from 1, by falling gain; 0 where nothing can be deferred, None where
    everything can. What is strictly before the sample of rank k has the law
    Beta(k, n + 1 - k).
    """
    rank, p_value = None, 0.0
    if rate < 1:
        # Beta(k, n + 1 - k) > b is as likely as fewer than k of n samples before b.
        rank = most_successes(n_samples, rate, 1 - confidence_level) + 1
        p_value = float(binom.cdf(rank - 1, n_samples, rate)) if rank else 0.0
    n_deferred = n_samples if rank is None else max(rank - 1, 0)
    return rank, Certificate(
        "deferral_rate",
        rate,
        confidence_level,
        "order_statistic",
        n_samples,
        n_samples - n_deferred,
        p_value,
    )
