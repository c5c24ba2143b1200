"""Rules that defer: what they are, and which of them a sample leads to.

With a confidence the target holds for the population.

A rule of threshold and probability that was chosen beforehand loses, on samples drawn
one by one, independent amounts with the system risk as their mean. So the p-value of
that risk is the one of a mean, whatever the second opinion is like. The pilot tells
which rules to test, and in which order. Nothing of it sees the calibration set, so that
a pilot that misleads costs power but never the guarantee.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import binom

from sklearn_reject._as_dict import Amount, Count, Number, Probability, Share
from sklearn_reject._curves._cut import Cut, Form, Model, best_cut
from sklearn_reject._curves._deferral import check_deferral_samples, join_opinions
from sklearn_reject._curves._prefixes import RELATIVE_TOLERANCE, prefix_sums, tie_range
from sklearn_reject._typing import Draws, RandomState
from sklearn_reject.exceptions import InfeasibleTargetError, round_up, warn_user
from sklearn_reject.selection._bounds import most_successes
from sklearn_reject.selection._certify import Asked, infeasible, rank, walk
from sklearn_reject.selection._groups import RulesByGroup, sort_rows
from sklearn_reject.selection._rule import (
    Certificate,
    Monitored,
    check_draws,
    decide,
    place,
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


# Share of the samples that is set aside where no pilot is given.
_PILOT_SHARE = 0.2

# Deferral rates that are tested whatever the pilot says.
_RESCUES = 1.0, 0.75, 0.5, 0.25

# The share of the chance of an error that each of these may use if those tested before
# have failed, then that of the least risk of the pilot, and that of its fewest
# deferrals, which may be in another dip of the risk.
_WEIGHTS = 0.03, 0.03, 0.03, 0.03, 0.528, 0.352

_COARSE = np.arange(100, -1, -1) / 100

# Coarse tests and those near where the pilot meets the target, where a bound says no
# other number. Half as many lose .0005 of the deferral rate.
_N_TESTS = 401

# How far off the target, in standard errors, the risk of the pilot is tested finely.
_WIDTH = 4.0


class RankedOpinions:
    """Samples by falling gain, and what is achieved by deferring the first of them.

    Risks are those of the samples whose second opinion is known, rates those of all.
    With `squares`, those of changes of the loss are known, to tell their error.
    """

    def __init__(self, samples, *, squares=False):
        used = samples.used
        self.n_samples, self.n_asked = len(samples.scores), len(used.scores)
        # The weight of the samples whose second opinion is known.
        self.asked_weight = self.n_asked
        if samples.weight is not None:
            self.asked_weight = float(used.weight.sum())
        elif used is not samples:
            # A rate needs no losses, so that all samples tell of it.
            used = samples._replace(loss_first=samples.loss_first * samples.is_used)
        more = {}
        if squares:
            unit = 1.0 if used.weight is None else used.weight
            more["squares"] = (used.loss_second - used.loss_first) ** 2 * unit
        self.prefixes = join_opinions(used, near=True, **more)
        columns = self.prefixes.columns
        columns["change"] = columns["second"] - columns["first"]
        # Losses of the first and of the second opinion.
        self.ends = self.lose(0), self.lose(len(self.prefixes))
        # By how much equal losses may differ as they are sums of floats.
        self.slack = RELATIVE_TOLERANCE * max(self.ends)

    def lose(self, n_groups, share=0.0):
        """Return the loss of whoever answers, where some groups are deferred.

        Sums of what is kept and of what is deferred: nothing cancels.
        """
        columns = self.prefixes.columns
        loss = columns["first"][n_groups:].sum() + columns["second"][:n_groups].sum()
        return float(loss + share * columns["change"][n_groups] if share else loss)

    def place(self, cut, to_next=False):
        """Return the threshold of a cut, a gain, and the probability at it."""
        threshold, proba = place(self.prefixes, cut, to_next)
        return -threshold, proba

    def make_rule(self, cut, *, to_next=False, certificate=None):
        """Return the rule that defers the groups of a cut, and what it achieves."""
        rate = self.prefixes.at("weight", *cut) / self.prefixes.total("weight")
        losses = self.lose(*cut), *self.ends
        risks = (loss / self.asked_weight for loss in losses)
        measures = rate, *risks, self.n_samples, self.n_asked
        return DeferralRule(*self.place(cut, to_next), *measures, certificate)


def cut_at_cost(opinions, cost, randomize=False):
    """Return the cut of least cost and fewest deferrals; it never splits a group."""
    unit = max(1.0, cost)  # so that nothing overflows
    cost = cost / unit * opinions.asked_weight / opinions.prefixes.total("weight")
    price = Form({"change": 1 / unit, "weight": cost}, opinions.ends[0] / unit)
    return best_cut(opinions.prefixes, Model(price=price, most=False))


def cut_at_budget(opinions, rate, randomize):
    """Return the cut of most deferrals, up to a share, that does no evident harm."""
    within = Form({"weight": -1.0}, rate * opinions.prefixes.total("weight"))
    return most_up_to(
        opinions, best_cut(opinions.prefixes, Model((within,)), randomize)
    )


def most_up_to(opinions, cut):
    """Return the cut of the most deferrals up to another one that does no evident harm.

    Its system risk exceeds the least one up to there by at most a standard error of
    this difference, which is a sum over the samples that one of the two rules defers:
    with its variance estimated without bias, that is the root of the sum of squares.
    """
    n_groups, share = cut
    end = n_groups + (share > 0)
    columns, slack = opinions.prefixes.columns, opinions.slack
    changes, squares = (columns[name][:end].copy() for name in ("change", "squares"))
    if not (squares > slack**2).any():
        # Both opinions lose the same, whoever answers.
        return Cut(0)
    if share:
        changes[-1] *= share
        squares[-1] *= share**2
    changes = prefix_sums(changes)
    whole = changes[: n_groups + 1]
    least = int(np.argmax(whole <= whole.min() + slack))
    excess, errors = changes[least:] - whole[least], prefix_sums(squares[least:]) ** 0.5
    best = least + int(np.flatnonzero(excess <= errors + slack)[-1])
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


class Search:
    """The fixed sequence of tests of the rules that a pilot proposes.

    Samples that certify come in random order. Without a pilot, one is drawn from them.
    Losses and system risks are in multiples of the largest loss.
    """

    def __init__(self, samples, units, pilot, test, randomize, draws, random_state):
        if draws is None:
            draws = random_state.random_sample(np.count_nonzero(samples.is_used))
        else:
            draws = check_draws(draws, len(samples.scores))[samples.is_used]
        samples = samples.used
        codes = np.arange(len(draws)) if units.codes is None else units.codes
        numbers = np.arange(codes.max() + 1)
        if pilot is None:
            if len(numbers) < 2:
                raise InfeasibleTargetError(
                    "A single sample cannot certify a rule, because one sample is set "
                    "aside to choose the rules to test",
                    "Use more samples, or pass confidence_level=None.",
                )
            n_aside = max(1, round(_PILOT_SHARE * len(numbers)))
            order = random_state.permutation(numbers)
            pilot = samples.take(np.isin(codes, order[:n_aside]))
            numbers = np.sort(order[n_aside:])
        # In a random order of units, in which bets are made.
        places = np.full(codes.max() + 1, -1)
        places[random_state.permutation(numbers)] = np.arange(len(numbers))
        rows = np.argsort(places[codes], kind="stable")
        rows = rows[np.count_nonzero(places[codes] < 0) :]
        self.n_samples, self.units = len(numbers), units.take(rows)
        self.test, self.randomize = test, randomize
        self.ranges, self.draws = tie_range(-samples.scores[rows]), draws[rows]
        self.losses = [each[rows] / test.max_loss for each in samples[1:3]]
        self.pilot = pilot = RankedOpinions(pilot)
        largest = pilot.n_asked * test.max_loss
        self.rates = pilot.prefixes.sums("weight") / pilot.prefixes.total("weight")
        losses = pilot.ends[0] + pilot.prefixes.sums("change")
        self.risks = np.interp(_COARSE, self.rates, losses / largest)
        self.slack = pilot.slack / largest

    def _least(self, start, stop):
        """Return the rate of least risk, and fewest deferrals, of some coarse ones."""
        risks = self.risks[start:stop]
        return _COARSE[start + np.flatnonzero(risks <= risks.min() + self.slack)[-1]]

    def _plan(self, risk):
        """Return what to test for a risk, given the pilot.

        These are rates of deferral from high to low, positions among them to start at,
        and the share of the chance of an error that each start brings.
        """
        risks, n_pilot = self.risks, self.pilot.n_asked
        variance = risk * (1 - risk)
        best = dip = self._least(0, None)
        # Half-way to the least risk is no chance crossing of the target.
        deep = np.flatnonzero(risks <= (risk + risks.min()) / 2)
        if len(deep):
            over = risks[: deep[-1]] > risk + (variance * 2 / n_pilot) ** 0.5
            start = max(np.flatnonzero(over), default=-1) + 1
            dip = self._least(start, deep[-1] + 1)
        # Down to where the risk is evidently above the target.
        error = (variance * (1 / n_pilot + 1 / self.n_samples)) ** 0.5
        beyond = _COARSE[(dip >= _COARSE) & (risks > risk + _WIDTH * error)]
        n_fine = (self.test.bound.most_tests or _N_TESTS) - len(_COARSE)
        fine = np.linspace(dip, max(beyond, default=0.0), n_fine)
        rates = np.unique(np.concatenate((_COARSE, fine)))[::-1]
        starts = np.searchsorted(-rates, -np.array([*_RESCUES, best, dip]))
        starts, places = np.unique(starts, return_inverse=True)
        return rates, starts, np.bincount(places, _WEIGHTS)

    def cut(self, rate):
        """Return threshold and probability that defer a share of the pilot."""
        rates, prefixes = self.rates, self.pilot.prefixes
        n_groups = int(np.searchsorted(rates, rate, side="right")) - 1
        if rate == rates[n_groups]:
            return self.pilot.place(Cut(n_groups))
        share = (rate - rates[n_groups]) / (rates[n_groups + 1] - rates[n_groups])
        if prefixes.columns["weight"][n_groups] == 1 and n_groups:
            # Where gains do not tie, a threshold between two is what defers in between.
            above, below = -prefixes.scores[n_groups - 1 : n_groups + 1]
            return float(above * (1 - share) + below * share), 1.0
        share = share if self.randomize else share >= 0.5
        return self.pilot.place(Cut(n_groups, share), to_next=True)

    def defer(self, rate):
        """Return which samples a rule defers, as `DeferralRule.defer` decides."""
        (low, high), (threshold, proba) = self.ranges, self.cut(rate)
        return (high < -threshold) | ((low <= -threshold) & (self.draws < proba))

    def p_values(self, rates, risk):
        """Return the p-values that the system risks at some rates are above a bound."""
        bound, (first, second) = self.test.bound, self.losses
        losses = (np.where(self.defer(rate), second, first) for rate in rates)
        losses = (self.units.values(each, risk) for each in losses)
        if bound.of_sums is not None:
            sums = np.array([each.sum() for each in losses])
            return bound.of_sums(np.full(len(sums), self.n_samples), sums, risk)
        p_values = [bound.of_losses(each, risk, self.test.delta) for each in losses]
        return np.array(p_values)

    def find(self, risk):
        """Return the rate of the last rule that passes, the least; None if none."""
        rates, starts, weights = self._plan(risk)

        def p_values(rows, level):
            return self.p_values(rates[rows], risk)

        last = walk(p_values, starts, len(rates), weights, self.test)
        return None if last is None else rates[last]

    def find_start(self, risk):
        """Return the rate of a start that passes, and None only if `find` does."""
        rates, starts, weights = self._plan(risk)
        passed = self.p_values(rates[starts], risk) <= weights * self.test.delta
        return rates[starts][passed][-1] if passed.any() else None

    def solve(self, risk):
        """Return the rule of fewest deferrals that keeps a risk, in units of losses."""
        test, share, n_samples = self.test, risk / self.test.max_loss, self.n_samples
        rate, p_value = 0.0, 0.0
        if share < 1:
            rate = self.find(share) if share > 0 else None
            if rate is None:
                raise self._nothing_passes(risk)
            (p_value,) = self.p_values([rate], share)
        kept = ~self.defer(rate)
        n_kept = self.units.take(kept).count(kept.sum())
        certificate = test.certificate("system_risk", risk, n_samples, n_kept, p_value)
        return DeferralRule(*self.cut(rate), certificate=certificate)

    def _nothing_passes(self, risk):
        """Return the error of a target that no rule passes, with one that does."""

        def describe(rate):
            rate = np.mean(self.defer(rate))
            return "system risk", f"a deferral rate of {round_up(rate)}", 1 - rate

        asked = Asked(risk, self.n_samples, self.test)
        return infeasible(
            asked.hopeless
            or f"No rule can be certified for target_risk={risk:g} with "
            f"confidence_level={self.test.confidence_level:g} on {self.n_samples} "
            "samples",
            [asked],
            self.find_start,
            describe,
            "a lower confidence, more samples, a better second opinion, or a gain that "
            "ranks the samples better.",
        )


def certify_budget(samples, rate, level, randomize, draws, random_state):
    """Return the rule that `cut_at_budget` finds, of those whose rate is certified.

    What is strictly before the sample of rank k, from 1 and by falling gain, has the
    law Beta(k, n + 1 - k), which is above b as likely as fewer than k of n samples are
    before b.
    """
    opinions, scores = RankedOpinions(samples, squares=True), -samples.scores
    n_samples = len(scores)
    n_deferred, p_value, limit = n_samples, 0.0, Cut(len(opinions.prefixes))
    if rate < 1:
        n_deferred = most_successes(n_samples, rate, 1 - level)
        p_value, limit = float(binom.cdf(n_deferred, n_samples, rate)), Cut(0)
        if n_deferred < 1 and rate > 0:
            warn_user(
                f"Nothing is deferred: {n_samples} samples cannot certify "
                f"max_deferral={rate:g} for any rule that defers. Use more samples, "
                "a lower confidence, or confidence_level=None.",
                topic="nothing deferred",
            )
        if n_deferred >= 0:
            ranked = rank(scores, np.zeros(n_samples), randomize, draws, random_state)
            group = np.searchsorted(opinions.prefixes.scores, ranked.scores[n_deferred])
            draw = np.nan_to_num(ranked.draws[n_deferred])  # NaN: ties are not broken
            limit = Cut(int(group), float(draw))
    cut = most_up_to(opinions, limit)
    n_kept = n_samples - max(n_deferred, 0)
    certificate = Certificate(
        "deferral_rate", rate, level, "order_statistic", n_samples, n_kept, p_value
    )
    # As far as it may: what is new between the last deferred and the first kept gain is
    # deferred, too.
    to_next = cut == Cut(limit.n_groups) != Cut(0)
    return opinions.make_rule(cut, to_next=to_next, certificate=certificate)
