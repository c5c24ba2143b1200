"""Deferral rules whose target holds for the population with high probability.

A rule of threshold and probability that was chosen beforehand loses, on samples drawn
one by one, independent amounts with the system risk as their mean. So the p-value of
that risk is the one of a mean, whatever the second opinion is like, and those of many
rules are held together as :func:`walk` does.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.stats import binom

from sklearn_reject._curves._groups import tie_range
from sklearn_reject.exceptions import round_up
from sklearn_reject.selection._certify import RiskTest, walk
from sklearn_reject.selection._certify_double import most_successes
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
        return np.array([bound.of_losses(each, risk, level) for each in losses])


def certify_system_risk(sample, pilot, risk, test):
    """Return the rule of fewest deferrals whose system risk can be certified.

    It comes as threshold and probability, and with its certificate.
    """
    n_samples, share = len(sample), risk / test.max_loss
    search = _Search(sample, pilot, test)
    cut, p_value = (np.inf, 0.0), 0.0
    if share < 1:
        cut = search.find(share) if share > 0 else None
        if cut is None:
            raise _nothing_passes(search, risk, test)
        (p_value,) = sample.p_values([cut], test.bound, share, test.delta)
    n_kept = n_samples - np.count_nonzero(sample.defer(*cut))
    return cut, test.certificate("system_risk", risk, n_samples, n_kept, p_value)


@dataclass(frozen=True, eq=False)
class _Search:
    """The fixed sequence over rules that the pilot proposes; risks are shares."""

    sample: SystemSample
    pilot: object
    test: RiskTest

    def find(self, risk):
        """Return the last rule that passes, of the fewest deferrals, None if none."""
        plan = self.pilot.plan(risk, self.test, len(self.sample))

        def p_values(rows, level):
            return self._p_values(plan.rates[rows], risk)

        last = walk(p_values, plan.starts, len(plan.rates), plan.weights, self.test)
        return None if last is None else self.pilot.cut(plan.rates[last])

    def find_start(self, risk):
        """Return a rule that a start passes with, and None only if `find` does."""
        plan = self.pilot.plan(risk, self.test, len(self.sample))
        rates = plan.rates[plan.starts]
        passed = self._p_values(rates, risk) <= plan.weights * self.test.delta
        return self.pilot.cut(rates[passed][-1]) if passed.any() else None

    def _p_values(self, rates, risk):
        cuts = map(self.pilot.cut, rates)
        return self.sample.p_values(cuts, self.test.bound, risk, self.test.delta)


def _nothing_passes(search, risk, test):
    """Return the error of a target that no rule passes, with one that does."""
    n_samples = len(search.sample)

    def describe(cut):
        rate = np.count_nonzero(search.sample.defer(*cut)) / n_samples
        return "system risk", f"a deferral rate of {round_up(rate)}", 1 - rate

    return test.infeasible(
        f"No rule can be certified for target_risk={risk:g} with "
        f"confidence_level={test.confidence_level:g} on {n_samples} samples",
        n_samples,
        risk,
        search.find_start,
        (-np.inf, 1.0),
        describe,
        "a lower confidence, more samples, a better second opinion, or a gain that "
        "ranks the samples better.",
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
