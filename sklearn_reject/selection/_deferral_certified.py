"""Deferral with a target that holds for the population, tuned on a pilot sample.

The pilot tells which rules to test, and in which order. Nothing of it sees the
calibration set, so that a pilot that misleads costs power but never the guarantee.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from sklearn_reject._curves._deferral import check_deferral_samples
from sklearn_reject._validation import check_vector
from sklearn_reject.exceptions import InfeasibleTargetError, gather_warnings, warn_user
from sklearn_reject.selection._certify import choose_test
from sklearn_reject.selection._certify import rank as rank_samples
from sklearn_reject.selection._certify_deferral import (
    SystemSample,
    certify_deferral_rate,
    certify_system_risk,
)
from sklearn_reject.selection._certify_double import most_successes
from sklearn_reject.selection._deferral_rule import DeferralRule
from sklearn_reject.selection._gain_groups import group_by_gain, least_risk_up_to
from sklearn_reject.selection._grouped_deferral import measure_quietly
from sklearn_reject.selection._rule import check_draws

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
class Plan:
    """Rates of deferral on the pilot from high to low, and where to start.

    Each start brings a weight: its share of the chance of an error.
    """

    rates: np.ndarray
    starts: np.ndarray
    weights: np.ndarray


class Pilot:
    """A sample that is independent of the one that certifies."""

    def __init__(self, gain, loss_first, loss_second, randomize):
        self.randomize = randomize
        # That it was not drawn at random may cost power, and is no concern.
        with gather_warnings():
            self.groups = group_by_gain(gain, loss_first, loss_second)

    def risks(self, rates):
        """Return the system risk on the pilot at some deferral rates."""
        return np.interp(rates, self.groups.rates, self.groups.risks)

    @cached_property
    def best(self):
        """Deferral rate of the least risk, one of the coarse ones."""
        # The last one is that of the fewest deferrals.
        risks = self.risks(_COARSE)
        return _COARSE[np.flatnonzero(risks <= risks.min() + self.groups.slack)[-1]]

    def plan(self, share, test, n_tested):
        """Return what to test for a share of the largest risk, on so many samples."""
        risk, max_loss = share * test.max_loss, test.max_loss
        dip = self._dip(risk, self._error(risk, max_loss, self.groups.n_asked))
        low = self._edge(risk + _WIDTH * self._error(risk, max_loss, n_tested), dip)
        n_fine = _N_FINE
        if test.bound.most_tests is not None:
            n_fine = test.bound.most_tests - len(_COARSE)
        fine = np.linspace(dip, low, n_fine)
        rates = np.unique(np.concatenate((_COARSE, fine)))[::-1]
        return Plan(rates, *self._starts(rates, dip))

    def _error(self, risk, max_loss, n_tested):
        """Return the standard error of pilot and tested risk at most, near a target."""
        variance = risk * (max(max_loss, risk) - risk)
        return (variance * (1 / self.groups.n_asked + 1 / n_tested)) ** 0.5

    def _dip(self, risk, error):
        """Return the rate of least risk around the fewest deferrals within a risk."""
        risks = self.risks(_COARSE)
        # Half-way to the least risk is no chance crossing of the target.
        deep = np.flatnonzero(risks <= (risk + risks.min()) / 2)
        if risks.min() > risk or not len(deep):
            return self.best
        over = np.flatnonzero(risks[: deep[-1]] > risk + error)
        first = int(over[-1]) + 1 if len(over) else 0
        inside = risks[first : deep[-1] + 1]
        lowest = np.flatnonzero(inside <= inside.min() + self.groups.slack)[-1]
        return _COARSE[first + lowest]

    def _edge(self, risk, dip):
        """Return the rate below a dip at which the risk is above a bound, or 0."""
        rates = _COARSE[dip >= _COARSE]
        beyond = self.risks(rates) > risk
        return rates[int(np.argmax(beyond))] if beyond.any() else 0.0

    def _starts(self, rates, dip):
        """Return positions among falling rates, and their shares of the error."""
        weights = dict.fromkeys(_RESCUES, _RESCUE_WEIGHT)
        rest = 1 - sum(weights.values())
        for rate, weight in ((self.best, _BEST_SHARE), (dip, 1 - _BEST_SHARE)):
            weights[rate] = weights.get(rate, 0.0) + rest * weight
        wanted = np.array(sorted(weights, reverse=True))
        starts = np.searchsorted(-rates, -wanted)
        return starts, np.array([weights[rate] for rate in wanted])

    def cut(self, rate):
        """Return threshold and probability that defer a share of the pilot."""
        groups, gains = self.groups, self.groups.gains
        if rate >= 1:
            return -np.inf, 1.0
        index = int(np.searchsorted(groups.rates, rate, side="right")) - 1
        step = groups.rates[index + 1] - groups.rates[index]
        share = float((rate - groups.rates[index]) / step)
        if share == 0:
            return (float(gains[index - 1]), 1.0) if index else (np.inf, 0.0)
        if groups.groups.weights[index] == 1 and index:
            # Where gains do not tie, a threshold between two is what defers in between.
            above, below = gains[index - 1], gains[index]
            return float(above * (1 - share) + below * share), 1.0
        return float(gains[index]), share if self.randomize else float(share >= 0.5)


def split_pilot(n_samples, random_state):
    """Return which samples are set aside as a pilot, and which ones certify."""
    order = random_state.permutation(n_samples)
    n_pilot = max(1, round(_PILOT_SHARE * n_samples))
    return np.sort(order[:n_pilot]), np.sort(order[n_pilot:])


def read_pilot(pilot, randomize):
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


class Certified(NamedTuple):
    """The parameters of `solve_deferral` that are used with a confidence only."""

    confidence_level: float
    bound: str
    max_loss: float | None
    pilot: tuple | None
    draws: np.ndarray | None
    random_state: object


def solve_certified_risk(gain, loss_first, loss_second, risk, randomize, certified):
    """Return the rule of fewest deferrals that a bound on the risk is certified for."""
    used = check_deferral_samples(gain, loss_first, loss_second, name="gain")
    losses = np.concatenate((used.loss_first, used.loss_second))
    test = choose_test(
        losses, certified.confidence_level, certified.bound, certified.max_loss
    )
    random_state = check_random_state(certified.random_state)
    draws = _draw(certified.draws, used.is_used, random_state)
    arrays = used.scores, used.loss_first, used.loss_second
    pilot, rows = _choose_pilot(arrays, certified.pilot, randomize, random_state)
    rows = random_state.permutation(rows)
    first, second = (each[rows] / test.max_loss for each in arrays[1:])
    sample = SystemSample(arrays[0][rows], first, second, draws[rows])
    (threshold, proba), certificate = certify_system_risk(sample, pilot, risk, test)
    rule = DeferralRule(threshold, proba, certificate=certificate)
    return measure_quietly(rule, gain, loss_first, loss_second)


def _draw(draws, is_used, random_state):
    """Return what breaks the ties of the samples whose losses are known."""
    if draws is None:
        return random_state.random_sample(np.count_nonzero(is_used))
    return check_draws(draws, len(is_used))[is_used]


def _choose_pilot(arrays, pilot, randomize, random_state):
    """Return the pilot, and the rows of the arrays that certify."""
    n_samples = len(arrays[0])
    if pilot is not None:
        return read_pilot(pilot, randomize), np.arange(n_samples)
    if n_samples < 2:
        raise InfeasibleTargetError(
            "A single sample cannot certify a rule, because one sample is set aside to "
            "choose the rules to test",
            "Use more samples, or pass confidence_level=None.",
        )
    aside, rows = split_pilot(n_samples, random_state)
    return Pilot(*(each[aside] for each in arrays), randomize), rows


def solve_certified_budget(gain, loss_first, loss_second, rate, randomize, certified):
    """Return the rule of least system risk among those whose rate is certified."""
    groups = group_by_gain(gain, loss_first, loss_second)
    scores = -check_vector(gain, "gain")
    rank, certificate = certify_deferral_rate(
        len(scores), rate, confidence_level=certified.confidence_level
    )
    n_groups, share = len(groups), 0.0
    if rank is not None:
        if rank <= 1 and rate > 0:
            _warn_of_few_samples(len(scores), rate, certified.confidence_level)
        draws = None
        if randomize:
            every = np.ones(len(scores), dtype=bool)
            random_state = check_random_state(certified.random_state)
            draws = _draw(certified.draws, every, random_state)
        n_groups, share = _locate(groups, scores, draws, rank)
    rule = least_risk_up_to(groups, n_groups, share)
    if rank is not None and n_groups and rule.threshold == groups.gains[n_groups - 1]:
        # As far as it may: what is new between the last deferred and the first kept
        # gain is deferred, too.
        rule = replace(
            rule, threshold=float(groups.gains[n_groups]), proba_at_threshold=0.0
        )
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


def _locate(groups, scores, draws, rank):
    """Return how many groups, and which share of the next, are before a rank."""
    if rank == 0:
        return 0, 0.0
    ranked = rank_samples(scores, np.zeros(len(scores)), draws is not None, draws, None)
    n_groups = int(np.searchsorted(-groups.gains, ranked.scores[rank - 1]))
    draw = float(ranked.draws[rank - 1])
    # NaN where ties are not broken.
    return n_groups, draw if draw > 0 else 0.0
