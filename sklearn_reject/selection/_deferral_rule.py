"""Rules that defer samples to a second opinion, and what they achieve."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from sklearn_reject._as_dict import Amount, Count, Number, Probability, Share
from sklearn_reject._curves._deferral import check_deferral_samples
from sklearn_reject._typing import Draws, RandomState
from sklearn_reject.selection._grouped import RulesByGroup
from sklearn_reject.selection._groups import sort_rows
from sklearn_reject.selection._rule import (
    Certificate,
    Monitored,
    decide,
    weigh,
)


class Deferring:
    """Rule that defers above a threshold. `_compare` takes what the methods do.

    It returns what is above and what is at the threshold, and the chance at it.
    """

    _name, _sign = "gain", -1

    def defer_proba(
        self, gain: ArrayLike, groups: ArrayLike | None = None
    ) -> np.ndarray:
        """Return the probability that each sample is deferred.

        Parameters
        ----------
        gain : array-like of shape (n_samples,)
            Finite gains, higher = deferred first. They may be negative.

        groups : array-like of shape (n_samples,), default=None
            Group of each sample, of a rule by groups.

        Returns
        -------
        probability : ndarray of shape (n_samples,)
            1 above the threshold, `proba_at_threshold` at it, 0 below; 1 in a group
            without a rule.
        """
        return weigh(*self._compare(gain, groups))

    def defer(
        self,
        gain: ArrayLike,
        groups: ArrayLike | None = None,
        *,
        draws: Draws | None = None,
        random_state: RandomState | None = None,
    ) -> np.ndarray:
        """Defer or keep each sample, at random only at the threshold.

        Parameters
        ----------
        gain : array-like of shape (n_samples,)
            Finite gains, higher = deferred first. They may be negative.

        groups : array-like of shape (n_samples,), default=None
            Group of each sample, of a rule by groups.

        draws : array-like of shape (n_samples,) or callable, default=None
            Numbers in [0, 1), as :func:`keyed_draws` makes them. At the threshold a
            sample is deferred if its number is below `proba_at_threshold`; the others
            are not used. A callable maps the indices of the samples at the threshold to
            their numbers, and is not called where `proba_at_threshold` is 0 or 1.

        random_state : int, RandomState instance or None, default=None
            Source of the draws where `draws` is None. A decision then belongs to the
            call: the same row may be deferred in one batch and not in another.

        Returns
        -------
        deferred : ndarray of shape (n_samples,), dtype bool
            Whether the sample is deferred to the second opinion.

        Raises
        ------
        ValueError
            If `draws` are not in [0, 1), or given together with `random_state`.

        Examples
        --------
        >>> from sklearn_reject.selection import DeferralRule, keyed_draws
        >>> rule = DeferralRule(threshold=0.4, proba_at_threshold=0.5)
        >>> rule.defer([0.5, 0.4, 0.4, 0.4], draws=keyed_draws(0, [10, 11, 12, 13]))
        array([ True,  True, False,  True])
        """
        return decide(*self._compare(gain, groups), draws, random_state)


@dataclass(frozen=True)
class DeferralRule(Deferring, Monitored):
    """Rule that defers samples above a threshold on the gain, at random at it.

    The gain of a sample estimates by how much the loss of the first opinion is larger
    than that of the second one, or orders the samples as that would. It is at the
    threshold if they differ by at most 2^-40 of the gain's magnitude, as the gains of
    one sample do that are computed in other batches or on another machine.

    Attributes
    ----------
    threshold : float
        Samples of a larger gain are deferred, those of a smaller one kept. Infinite
        where nothing is deferred, minus infinity where everything is.

    proba_at_threshold : float
        Probability in [0, 1] that a sample whose gain equals the threshold is deferred.

    deferral_rate : float, default=nan
        Expected share of deferred samples on the calibration set, lower is cheaper. NaN
        if the rule was made without a sample.

    system_risk : float, default=nan
        Expected loss of whoever answers on the calibration set, lower is better.

    first_risk : float, default=nan
        Mean loss of the first opinion on the calibration set: the system risk where
        nothing is deferred.

    second_risk : float, default=nan
        Mean loss of the second opinion on the calibration set: the system risk where
        everything is deferred.

    n_samples : int, default=0
        Number of calibration samples.

    n_asked : int, default=0
        Number of those of which the second opinion was known. Risks are theirs.

    certificate : Certificate, default=None
        Certificate of the guarantee, if there is a confidence.

    Examples
    --------
    >>> from sklearn_reject.selection import solve_deferral
    >>> gain, first, second = [0.9, 0.4, 0.4, -0.1], [1, 1, 0, 0], [0, 0, 0, 1]
    >>> rule = solve_deferral(gain, first, second, max_deferral=0.5)
    >>> rule.threshold, rule.proba_at_threshold, rule.system_risk
    (0.4, 0.5, 0.125)
    >>> rule.defer_proba([0.5, 0.4, 0.3])
    array([1. , 0.5, 0. ])
    """

    threshold: Number
    proba_at_threshold: Probability
    deferral_rate: Share = float("nan")
    system_risk: Amount = float("nan")
    first_risk: Amount = float("nan")
    second_risk: Amount = float("nan")
    n_samples: Count = 0
    n_asked: Count = 0
    certificate: Certificate | None = None

    _watched = "system_risk", "system_risk"

    def measure(
        self,
        gain: ArrayLike,
        loss_first: ArrayLike,
        loss_second: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Return the rule with what it achieves on another sample.

        Parameters
        ----------
        gain : array-like of shape (n_samples,)
            Finite gains, higher = deferred first. They may be negative.

        loss_first : array-like of shape (n_samples,)
            Non-negative losses of the first opinion.

        loss_second : array-like of shape (n_samples,)
            Non-negative losses of the second opinion, NaN or None where it was not
            asked. Risks, and with weights also rates, are those of the other samples,
            as if these had been drawn at random; a warning says if they apparently were
            not.

        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative sample weights.

        Returns
        -------
        rule : DeferralRule
            Same `threshold`, `proba_at_threshold` and `certificate`, everything else as
            it is on the sample given.

        Examples
        --------
        >>> from sklearn_reject.selection import DeferralRule
        >>> rule = DeferralRule(threshold=0.0, proba_at_threshold=0.0)
        >>> rule = rule.measure([0.9, 0.4, -0.1, -0.2], [1, 1, 0, 1], [0, 0, 0, 1])
        >>> rule.deferral_rate, rule.first_risk, rule.system_risk
        (0.5, 0.75, 0.25)
        """
        samples = gain, loss_first, loss_second, sample_weight
        return self._measure(check_deferral_samples(*samples, name="gain"))

    def _measure(self, samples):
        """Return the rule measured on validated samples."""
        return replace(self, **_measures(samples, self.defer_proba(samples.scores)))


DEFER_ALL = DeferralRule(threshold=float("-inf"), proba_at_threshold=1.0)


@dataclass(frozen=True)
class GroupedDeferralRule(Deferring, RulesByGroup):
    """A deferral rule for each of several groups, all others deferred.

    A group is a label that is known before the second opinion is asked: the label that
    the first one gives, or a column of the data, but not the true class. Labels are
    equal as Python's are, so that 1, 1.0 and True name one group. Samples of a group
    that has no rule, or whose group is missing, are deferred with a warning that counts
    them.

    Attributes
    ----------
    rules : dict of group to DeferralRule
        The rule of each group, with what it achieves and its certificate.

    deferral_rate : float, default=nan
        Expected share of deferred samples of all groups on the calibration set, lower
        is cheaper.

    system_risk : float, default=nan
        Expected loss of whoever answers on the calibration set, lower is better.

    first_risk : float, default=nan
        Mean loss of the first opinion on the calibration set: the system risk where
        nothing is deferred.

    second_risk : float, default=nan
        Mean loss of the second opinion on the calibration set: the system risk where
        everything is deferred.

    n_samples : int, default=0
        Number of calibration samples.

    n_asked : int, default=0
        Number of those of which the second opinion was known. Risks are theirs.

    Examples
    --------
    >>> from sklearn_reject.selection import solve_deferral
    >>> gain, first, second = [0.9, 0.4, 0.4, -0.1], [1, 0, 1, 0], [0, 0, 0, 1]
    >>> groups = ["north", "north", "south", "south"]
    >>> rule = solve_deferral(gain, first, second, target_risk=0, groups=groups)
    >>> {group: each.threshold for group, each in rule.rules.items()}
    {'north': 0.9, 'south': 0.4}
    >>> rule.deferral_rate, rule.system_risk
    (0.5, 0.0)
    >>> rule.defer([0.5, 0.5], ["north", "south"])
    array([False,  True])
    """

    rules: dict[object, DeferralRule]
    deferral_rate: Share = float("nan")
    system_risk: Amount = float("nan")
    first_risk: Amount = float("nan")
    second_risk: Amount = float("nan")
    n_samples: Count = 0
    n_asked: Count = 0

    _kind, _fate, _otherwise = DeferralRule, "deferred", DEFER_ALL

    def measure(
        self,
        gain: ArrayLike,
        loss_first: ArrayLike,
        loss_second: ArrayLike,
        groups: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Return the rule with what it achieves on another sample.

        Parameters
        ----------
        gain : array-like of shape (n_samples,)
            Finite gains, higher = deferred first. They may be negative.

        loss_first : array-like of shape (n_samples,)
            Non-negative losses of the first opinion.

        loss_second : array-like of shape (n_samples,)
            Non-negative losses of the second opinion, NaN or None where it was not
            asked. Risks, and with weights also rates, are those of the other samples,
            as if these had been drawn at random; a warning says if they apparently were
            not.

        groups : array-like of shape (n_samples,)
            Group of each sample.

        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative sample weights.

        Returns
        -------
        rule : GroupedDeferralRule
            Each rule measured on the samples of its group, NaN where the second opinion
            is known of none, and what they achieve on all samples, of which those in
            groups without a rule are deferred.

        Examples
        --------
        >>> from sklearn_reject.selection import DeferralRule, GroupedDeferralRule
        >>> rule = GroupedDeferralRule({
        ...     "a": DeferralRule(0.5, 0.0), "b": DeferralRule(0.2, 0.0)})
        >>> rule = rule.measure([0.9, 0.3, 0.3], [1, 0, 1], [0, 1, 0], ["a", "a", "b"])
        >>> rule.rules["a"].deferral_rate, rule.deferral_rate, rule.system_risk
        (0.5, 0.666..., 0.0)
        """
        samples = gain, loss_first, loss_second, sample_weight
        return self._measure(check_deferral_samples(*samples, name="gain"), groups)

    def _measure(self, samples, groups):
        """Return the rule measured on validated samples."""
        codes = self._find(groups, len(samples.scores))
        deferred = weigh(*self._compare_with(samples.scores, codes))
        rules = dict(self.rules)
        for label, rows in sort_rows(codes, self.rules):
            measures = _measures(samples.take(rows), deferred[rows])
            rules[label] = replace(rules[label], **measures)
        return replace(self, rules=rules, **_measures(samples, deferred))


def _measures(samples, deferred):
    """Return what rules report, given the probability that each sample is deferred.

    A rate needs no losses, so that all samples tell of it, unless they weigh.
    """
    used, asked = samples.used, deferred[samples.is_used]

    def mean(values):
        """Return a mean, NaN where nobody was asked."""
        return float(np.average(values, weights=used.weight)) if len(asked) else np.nan

    return {
        "deferral_rate": mean(deferred if used.weight is None else asked),
        "system_risk": mean(used.loss_first * (1 - asked) + used.loss_second * asked),
        "first_risk": mean(used.loss_first),
        "second_risk": mean(used.loss_second),
        "n_samples": len(deferred),
        "n_asked": len(asked),
    }
