"""Deferral as a cut: of samples by falling gain, the first are deferred.

With a confidence the target holds for the population.

A rule of threshold and probability that was chosen beforehand loses, on samples drawn
one by one, independent amounts with the system risk as their mean. So the p-value of
that risk is the one of a mean, whatever the second opinion is like. The pilot tells
which rules to test, and in which order. Nothing of it sees the calibration set, so that
a pilot that misleads costs power but never the guarantee.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.stats import binom
from sklearn.utils import check_random_state

from sklearn_reject._curves._cut import Cut, Form, Model, best_cut
from sklearn_reject._curves._deferral import check_deferral_samples, join_opinions
from sklearn_reject._curves._prefixes import (
    RELATIVE_TOLERANCE,
    Prefixes,
    prefix_sums,
    tie_range,
)
from sklearn_reject._validation import check_vector
from sklearn_reject.exceptions import (
    InfeasibleTargetError,
    gather_warnings,
    round_up,
    warn_user,
)
from sklearn_reject.selection._bounds import most_successes
from sklearn_reject.selection._certify import RiskTest, choose_test, rank, walk
from sklearn_reject.selection._deferral_rule import DeferralRule, measure_quietly
from sklearn_reject.selection._rule import Certificate, check_draws

# Share of the samples that is set aside where no pilot is given.
_PILOT_SHARE = 0.2

# Deferral rates that are tested whatever the pilot says, and the share of the chance of
# an error that each may use if those tested before have failed.
_RESCUES = (1.0, 0.75, 0.5, 0.25)

_RESCUE_WEIGHT = 0.03

# Of the rest, what goes to the least risk of the pilot where the fewest deferrals of
# the pilot are in another dip of the risk.
_BEST_SHARE = 0.6

_COARSE = np.arange(100, -1, -1) / 100

# Tests near where the pilot meets the target, where a bound says no other number. Half
# as many lose .0005 of the deferral rate.
_N_FINE = 300

# How far off the target, in standard errors, the risk of the pilot is tested finely.
_WIDTH = 4.0


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


class Pilot:
    """A sample that is independent of the one that certifies."""

    def __init__(self, gain, loss_first, loss_second, randomize):
        self.randomize = randomize
        # That it was not drawn at random may cost power, and is no concern.
        with gather_warnings():
            self.opinions = RankedOpinions.of(gain, loss_first, loss_second)
        self.n_asked, prefixes = self.opinions.n_asked, self.opinions.prefixes
        self.slack = self.opinions.slack / self.n_asked
        self.rates = prefixes.sums("weight") / prefixes.total("weight")
        losses = self.opinions.ends[0] + prefixes.sums("change")
        self.coarse_risks = np.interp(_COARSE, self.rates, losses / self.n_asked)

    @cached_property
    def best(self):
        """Deferral rate of the least risk, one of the coarse ones."""
        # The last one is that of the fewest deferrals.
        risks = self.coarse_risks
        return _COARSE[np.flatnonzero(risks <= risks.min() + self.slack)[-1]]

    def plan(self, share, test, n_tested):
        """Return what to test for a share of the largest risk, on so many samples.

        These are rates of deferral from high to low, positions among them to start at,
        and the share of the chance of an error that each start brings.
        """
        risk, max_loss = share * test.max_loss, test.max_loss
        dip = self._dip(risk, self._error(risk, max_loss, self.n_asked))
        # Down to where the risk is evidently above the target.
        edge = risk + _WIDTH * self._error(risk, max_loss, n_tested)
        beyond = _COARSE[(dip >= _COARSE) & (self.coarse_risks > edge)]
        low = beyond[0] if len(beyond) else 0.0
        n_fine = _N_FINE
        if test.bound.most_tests is not None:
            n_fine = test.bound.most_tests - len(_COARSE)
        fine = np.linspace(dip, low, n_fine)
        rates = np.unique(np.concatenate((_COARSE, fine)))[::-1]
        weights = dict.fromkeys(_RESCUES, _RESCUE_WEIGHT)
        rest = 1 - sum(weights.values())
        for rate, weight in ((self.best, _BEST_SHARE), (dip, 1 - _BEST_SHARE)):
            weights[rate] = weights.get(rate, 0.0) + rest * weight
        wanted = sorted(weights, reverse=True)
        starts = np.searchsorted(-rates, -np.array(wanted))
        return rates, starts, np.array([weights[rate] for rate in wanted])

    def _error(self, risk, max_loss, n_tested):
        """Return the standard error of pilot and tested risk at most, near a target."""
        variance = risk * (max(max_loss, risk) - risk)
        return (variance * (1 / self.n_asked + 1 / n_tested)) ** 0.5

    def _dip(self, risk, error):
        """Return the rate of least risk around the fewest deferrals within a risk."""
        risks = self.coarse_risks
        # Half-way to the least risk is no chance crossing of the target.
        deep = np.flatnonzero(risks <= (risk + risks.min()) / 2)
        if risks.min() > risk or not len(deep):
            return self.best
        over = np.flatnonzero(risks[: deep[-1]] > risk + error)
        first = int(over[-1]) + 1 if len(over) else 0
        inside = risks[first : deep[-1] + 1]
        lowest = np.flatnonzero(inside <= inside.min() + self.slack)[-1]
        return _COARSE[first + lowest]

    def cut(self, rate):
        """Return threshold and probability that defer a share of the pilot."""
        if rate >= 1:
            return -np.inf, 1.0
        rates, prefixes = self.rates, self.opinions.prefixes
        index = int(np.searchsorted(rates, rate, side="right")) - 1
        share = float((rate - rates[index]) / (rates[index + 1] - rates[index]))
        if share == 0:
            return (-float(prefixes.scores[index - 1]), 1.0) if index else (np.inf, 0.0)
        if prefixes.columns["weight"][index] == 1 and index:
            # Where gains do not tie, a threshold between two is what defers in between.
            above, below = -prefixes.scores[index - 1], -prefixes.scores[index]
            return float(above * (1 - share) + below * share), 1.0
        share = share if self.randomize else float(share >= 0.5)
        return -float(prefixes.scores[index]), share


@dataclass(frozen=True, eq=False)
class Search:
    """The fixed sequence of tests of the rules that a pilot proposes.

    Samples that certify come in random order, their losses and the system risk are in
    multiples of the largest loss.
    """

    gain: np.ndarray
    loss_first: np.ndarray
    loss_second: np.ndarray
    draws: np.ndarray
    pilot: Pilot
    test: RiskTest

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

    def p_values(self, cuts, risk):
        """Return the p-values that the system risks of rules are above a bound."""
        bound = self.test.bound
        losses = (
            np.where(self.defer(*cut), self.loss_second, self.loss_first)
            for cut in cuts
        )
        if bound.of_sums is not None:
            sums = np.array([each.sum() for each in losses])
            return bound.of_sums(np.full(len(sums), len(self)), sums, risk)
        return np.array(
            [bound.of_losses(each, risk, self.test.delta) for each in losses]
        )

    def find(self, risk):
        """Return the last rule that passes, of the fewest deferrals, None if none."""
        rates, starts, weights = self.pilot.plan(risk, self.test, len(self))

        def p_values(rows, level):
            return self.p_values(map(self.pilot.cut, rates[rows]), risk)

        last = walk(p_values, starts, len(rates), weights, self.test)
        return None if last is None else self.pilot.cut(rates[last])

    def find_start(self, risk):
        """Return a rule that a start passes with, and None only if `find` does."""
        rates, starts, weights = self.pilot.plan(risk, self.test, len(self))
        cuts = list(map(self.pilot.cut, rates[starts]))
        passed = self.p_values(cuts, risk) <= weights * self.test.delta
        return cuts[np.flatnonzero(passed)[-1]] if passed.any() else None

    def nothing_passes(self, risk):
        """Return the error of a target that no rule passes, with one that does."""
        test = self.test

        def describe(cut):
            rate = np.count_nonzero(self.defer(*cut)) / len(self)
            return "system risk", f"a deferral rate of {round_up(rate)}", 1 - rate

        return test.infeasible(
            f"No rule can be certified for target_risk={risk:g} with "
            f"confidence_level={test.confidence_level:g} on {len(self)} samples",
            len(self),
            risk,
            self.find_start,
            (-np.inf, 1.0),
            describe,
            "a lower confidence, more samples, a better second opinion, or a gain that "
            "ranks the samples better.",
        )


class Certified(NamedTuple):
    """The parameters of `solve_deferral` that are used with a confidence only."""

    confidence_level: float
    bound: str
    max_loss: float | None
    pilot: tuple | None
    draws: np.ndarray | None
    random_state: object

    def draw(self, is_used, random_state):
        """Return what breaks the ties of some of all samples."""
        if self.draws is None:
            return random_state.random_sample(np.count_nonzero(is_used))
        return check_draws(self.draws, len(is_used))[is_used]


def solve_certified_risk(gain, loss_first, loss_second, risk, randomize, certified):
    """Return the rule of fewest deferrals that a bound on the risk is certified for."""
    used = check_deferral_samples(gain, loss_first, loss_second, name="gain")
    losses = np.concatenate((used.loss_first, used.loss_second))
    level, bound, max_loss = certified[:3]
    test = choose_test(losses, level, bound, max_loss)
    random_state = check_random_state(certified.random_state)
    draws = certified.draw(used.is_used, random_state)
    pilot, rows = _choose_pilot(used[:3], certified.pilot, randomize, random_state)
    rows = random_state.permutation(rows)
    first, second = (each[rows] / test.max_loss for each in used[1:3])
    search = Search(used.scores[rows], first, second, draws[rows], pilot, test)
    share, cut, p_value = risk / test.max_loss, (np.inf, 0.0), 0.0
    if share < 1:
        cut = search.find(share) if share > 0 else None
        if cut is None:
            raise search.nothing_passes(risk)
        (p_value,) = search.p_values([cut], share)
    n_kept = len(rows) - np.count_nonzero(search.defer(*cut))
    certificate = test.certificate("system_risk", risk, len(rows), n_kept, p_value)
    rule = DeferralRule(*cut, certificate=certificate)
    return measure_quietly(rule, gain, loss_first, loss_second)


def _choose_pilot(arrays, pilot, randomize, random_state):
    """Return the pilot, and the rows of the arrays that certify."""
    n_samples = len(arrays[0])
    if pilot is not None:
        return _read_pilot(pilot, randomize), np.arange(n_samples)
    if n_samples < 2:
        raise InfeasibleTargetError(
            "A single sample cannot certify a rule, because one sample is set aside to "
            "choose the rules to test",
            "Use more samples, or pass confidence_level=None.",
        )
    order = random_state.permutation(n_samples)
    aside, rows = np.split(order, [max(1, round(_PILOT_SHARE * n_samples))])
    aside = np.sort(aside)
    return Pilot(*(each[aside] for each in arrays), randomize), np.sort(rows)


def _read_pilot(pilot, randomize):
    """Return the pilot that was given as three arrays."""
    if not isinstance(pilot, (tuple, list)) or len(pilot) != 3:
        raise ValueError(
            "pilot must be a tuple of three arrays, gain, loss_first and loss_second, "
            f"got {type(pilot).__name__}. Pass the arrays of other samples, or None to "
            "set a fifth of these samples aside."
        )
    try:
        return Pilot(*pilot, randomize)
    except ValueError as error:
        raise ValueError(f"pilot: {error}") from error


def solve_certified_budget(gain, loss_first, loss_second, rate, randomize, certified):
    """Return the rule that `cut_at_budget` finds, of those whose rate is certified."""
    opinions = RankedOpinions.of(gain, loss_first, loss_second, squares=True)
    scores = -check_vector(gain, "gain")
    level, n_samples = certified.confidence_level, len(scores)
    # What is strictly before the sample of rank k, from 1 and by falling gain, has the
    # law Beta(k, n + 1 - k), which is above b as likely as fewer than k of n samples
    # are before b. Rank 0: nothing can be deferred.
    limit, n_deferred, p_value = Cut(len(opinions.prefixes)), n_samples, 0.0
    if rate < 1:
        last = most_successes(n_samples, rate, 1 - level) + 1
        n_deferred = max(last - 1, 0)
        p_value = float(binom.cdf(last - 1, n_samples, rate)) if last else 0.0
        if last <= 1 and rate > 0:
            _warn_of_few_samples(n_samples, rate, level)
        limit = _locate(opinions, scores, last, randomize, certified)
    cut = most_up_to(opinions, limit)
    rule = opinions.make_rule(cut)
    n_groups = cut.n_groups
    if rate < 1 and n_groups and cut == Cut(limit.n_groups):
        # As far as it may: what is new between the last deferred and the first kept
        # gain is deferred, too.
        kept = -float(opinions.prefixes.scores[n_groups])
        rule = replace(rule, threshold=kept, proba_at_threshold=0.0)
    counts, bound = (n_samples, n_samples - n_deferred), "order_statistic"
    certificate = Certificate("deferral_rate", rate, level, bound, *counts, p_value)
    return replace(rule, certificate=certificate)


def _warn_of_few_samples(n_samples, rate, confidence_level):
    """Warn where so few samples certify nothing but that nothing is deferred."""
    fewest = n_samples
    while most_successes(fewest, rate, 1 - confidence_level) < 1:
        fewest += max(1, fewest // 100)
    warn_user(
        f"Nothing is deferred: {n_samples} samples cannot certify "
        f"max_deferral={rate:g} with confidence_level={confidence_level:g} for any "
        f"rule that defers. About {fewest} are needed. Use more samples, or pass "
        "confidence_level=None.",
        topic="nothing deferred",
    )


def _locate(opinions, scores, last, randomize, certified):
    """Return the cut before a rank, to which a tie is broken by its draws."""
    if last == 0:
        return Cut(0)
    draws = None
    if randomize:
        random_state = check_random_state(certified.random_state)
        draws = certified.draw(np.ones(len(scores), dtype=bool), random_state)
    ranked = rank(scores, np.zeros(len(scores)), randomize, draws, None)
    n_groups = int(np.searchsorted(opinions.prefixes.scores, ranked.scores[last - 1]))
    draw = float(ranked.draws[last - 1])
    # NaN where ties are not broken.
    return Cut(n_groups, draw if draw > 0 else 0.0)
