"""Deferral with a target that holds for the population: from arrays to rules."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from sklearn_reject._curves import check_deferral_samples
from sklearn_reject._validation import check_number, check_option, check_vector
from sklearn_reject.exceptions import InfeasibleTargetError, warn_user
from sklearn_reject.selection._bounds import BOUNDS
from sklearn_reject.selection._certify import choose_bound, rank_samples
from sklearn_reject.selection._certify_deferral import (
    SystemSample,
    certify_deferral_rate,
    certify_system_risk,
)
from sklearn_reject.selection._certify_levels import most_successes
from sklearn_reject.selection._deferral_exact import least_risk_up_to
from sklearn_reject.selection._deferral_pilot import Pilot, read_pilot, split_pilot
from sklearn_reject.selection._deferral_rule import DeferralRule
from sklearn_reject.selection._gain_groups import group_by_gain
from sklearn_reject.selection._grouped_deferral import measure_quietly
from sklearn_reject.selection._rule import check_draws


class Certified(NamedTuple):
    """The parameters of `solve_deferral` that are used with a confidence only."""

    confidence_level: float
    bound: str
    max_loss: float | None
    pilot: tuple | None
    draws: np.ndarray | None
    random_state: object

    def check(self):
        """Raise for names and numbers that are none."""
        check_option(self.bound, "bound", ("auto", *BOUNDS))
        if self.max_loss is not None:
            check_number(self.max_loss, "max_loss", open_low=True)


def solve_certified_risk(gain, loss_first, loss_second, risk, randomize, certified):
    """Return the rule of fewest deferrals that a bound on the risk is certified for."""
    used = check_deferral_samples(gain, loss_first, loss_second, name="gain")
    losses = np.concatenate((used.loss_first, used.loss_second))
    bound, max_loss = choose_bound(losses, certified.bound, certified.max_loss)
    random_state = check_random_state(certified.random_state)
    draws = _draw(certified.draws, used.is_used, random_state)
    arrays = used.scores, used.loss_first, used.loss_second
    pilot, rows = _choose_pilot(arrays, certified.pilot, randomize, random_state)
    rows = random_state.permutation(rows)
    first, second = (each[rows] / max_loss for each in arrays[1:])
    sample = SystemSample(arrays[0][rows], first, second, draws[rows])
    (threshold, proba), certificate = certify_system_risk(
        sample,
        pilot,
        risk,
        confidence_level=certified.confidence_level,
        bound=bound,
        max_loss=max_loss,
    )
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
    if rank is not None and n_groups and rule.threshold == groups.last_gain(n_groups):
        # As far as it may: what is new between the last deferred and the first kept
        # gain is deferred, too.
        rule = replace(
            rule, threshold=groups.last_gain(n_groups + 1), proba_at_threshold=0.0
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
    ranked = rank_samples(scores, np.zeros(len(scores)), draws)
    n_groups = int(np.searchsorted(groups.ties.scores, ranked.scores[rank - 1]))
    draw = float(ranked.draws[rank - 1])
    # NaN where ties are not broken.
    return n_groups, draw if draw > 0 else 0.0
