"""A bound on failures: what a rule accepts and should not have, of all samples.

The expected loss G(t) of a new sample, zero where its score t rejects it, never falls
as t grows. So the search for the largest t costs nothing, unlike that for a risk.

In expectation. Let the n calibration samples and the new one be exchangeable, and call
what is accepted and lost by the new sample its failure. Each of the n + 1 is the new
one equally often; so it suffices that the failures of all n + 1, each under the rule
that the other n solve, never exceed (n + 1) * rate in sum.

Losses of 0 or 1: accept a sample with probability p_j if j of the others are errors of
a smaller score, for p_0 >= p_1 >= ... fixed beforehand. The error number j of all n + 1
sees exactly the j errors before it, so the sum of the failures is p_0 + p_1 + ..., and
at most (n + 1) * rate if that is what the p_j sum up to. Ties are put in random order,
and the mean over the orders is the probability. The first p_j are 1, one is what is
left: errors lie the denser the further one goes, so this is where coverage is cheap.

Losses in [0, 1]: accept with probability p while the losses of the others with smaller
scores sum up to c at most. With l_i by increasing score of all n + 1, the failures are
p * (l_1 + ... + l_m) where those before l_m sum up to c at most, so at most
p * (c + 1), which p and c, fixed beforehand, make (n + 1) * rate (conformal risk
control, with p = 1). A tie group that would exceed c is accepted in part: of the n + 1
samples, no more than c + 1 is lost for the same reason.

With confidence. Let t* be the largest threshold that keeps the bound. A larger one is
found only if the p-value of what is up to t* is at most delta, since it is no larger
than that of the prefix that was found, and that happens with probability delta.
"""

import math
from dataclasses import dataclass, replace

import numpy as np
from sklearn.utils import check_random_state

from sklearn_reject._curves import RELATIVE_TOLERANCE, group_validated
from sklearn_reject.exceptions import InfeasibleTargetError, round_up
from sklearn_reject.selection._failure_bounds import find_longest
from sklearn_reject.selection._rule import (
    Certificate,
    RejectionRule,
    Thinning,
    compare,
)
from sklearn_reject.selection._solve import rank

# With losses between, what a rule that has to thin may accept of losses, in multiples
# of the largest loss, and that once more: where the loss grows as the rank does, the
# product of p = rate (n + 1) / (1 + c) and of the square root of c is largest at 1.
_ROOM = 2.0

# No number of samples is enough for less, and its inverse might be infinite.
_LEAST_SHARE = 1e-100

# Of the chance of no error in many samples.
_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class FailureProblem:
    """What is to be solved; `share`, the rate, is in multiples of the largest loss."""

    scores: np.ndarray
    losses: np.ndarray
    rate: float
    max_loss: float
    bound: object
    confidence_level: float | None

    def __len__(self):
        return len(self.scores)

    @property
    def share(self):
        return self.rate / self.max_loss

    @property
    def room(self):
        """By how much the rate exceeds the lowest possible where nothing is thinned."""
        return 1.0 if self.bound.is_binary else _ROOM

    def group(self):
        """Return samples grouped by score, their losses in units of the largest."""
        return group_validated(
            self.scores, self.losses / self.max_loss, None, near=True
        )

    def conclude(self, rule, p_value=None):
        """Return a rule with what it achieves, and what holds of it."""
        has_confidence = self.confidence_level is not None
        certificate = Certificate(
            "failure_rate",
            self.rate,
            self.confidence_level,
            self.bound.name if has_confidence else "conformal",
            None,
            len(self),
            int(np.count_nonzero(compare(self.scores, rule.threshold)[0])),
            p_value if has_confidence else None,
        )
        rule = replace(rule, certificate=certificate)
        return rule.measure(self.scores, self.losses)

    def refuse(self, lowest):
        """Return the error of samples that are too few for a rule that is certain."""
        promise = f"{self.rate:g}{self._at_confidence()}"
        return too_few_for_failures(
            len(self),
            promise,
            self._fewest(),
            lowest * self.max_loss,
            ", a larger rate, or randomize=True, which accepts samples with a small "
            "probability",
        )

    def remark(self, rule):
        """Return what a user should know of a rule, as a list of sentences."""
        remarks = []
        if rule.thinning is not None and rule.thinning.start == -math.inf:
            remarks.append(
                f"{len(self)} samples are too few to guarantee the failure rate "
                f"{self.rate:g}{self._at_confidence()} for all samples with low "
                "scores, so each of them is accepted with a probability of only "
                f"{rule.thinning.proba:.3g}. With at least {self._fewest(self.room)} "
                "calibration samples they are always accepted. Use more samples or a "
                "larger rate."
            )
        if rule.coverage == 0:
            remarks.append(nothing_accepted(self.rate))
        return remarks

    def _fewest(self, room=1.0):
        """Return how many samples can promise the rate, with room below it."""
        share = self.share / room
        if self.confidence_level is not None:
            return self.bound.fewest(share, 1 - self.confidence_level)
        return fewest_for_failures(share)

    def _at_confidence(self):
        return (
            ""
            if self.confidence_level is None
            else f" at confidence_level={self.confidence_level:g}"
        )


def fewest_for_failures(share):
    """Return how many samples can promise a share of the largest loss on average."""
    return math.ceil((1 / share) * (1 - RELATIVE_TOLERANCE)) - 1


def too_few_for_failures(n_samples, promise, fewest, lowest, way_out):
    """Return the error of samples that are too few, `way_out` if not by giving more."""
    return InfeasibleTargetError(
        f"{n_samples} samples cannot guarantee the failure rate {promise}, even if "
        f"none of them is wrong: {fewest} are needed. The smallest rate that can be "
        f"guaranteed is {round_up(lowest)}. Use more samples{way_out}.",
        attainable={"min_failure_rate": float(round_up(lowest))},
    )


def nothing_accepted(rate):
    """Return what a user should know of a rule that accepts nothing."""
    return (
        "No calibration sample is accepted, because the samples with the lowest "
        f"scores have larger losses than the failure rate {rate:g} allows. Use a "
        "score that ranks the errors better, or a larger rate."
    )


def refuse_least_rate(rate, max_loss):
    """Raise where no number of samples could promise a failure rate."""
    if rate / max_loss < _LEAST_SHARE:
        raise InfeasibleTargetError(
            f"target (the failure rate) is {rate:g}, which only a rule that accepts "
            "nothing can meet, because with a small risk a sample may have no loss at "
            "all. Use a larger value."
        )


def solve_failures(problem, randomize, draws=None, random_state=None):
    """Return the rule of largest coverage that keeps the bound."""
    refuse_least_rate(problem.rate, problem.max_loss)
    if problem.rate >= problem.max_loss:
        return problem.conclude(RejectionRule(math.inf, 1.0), 0.0)
    if problem.confidence_level is None:
        return _solve_in_expectation(problem, randomize)
    return _solve_with_confidence(problem, randomize, draws, random_state)


# In expectation


def _solve_in_expectation(problem, randomize):
    """Return the rule whose failure rate is at most the target on average."""
    allowed = allowed_failures(problem.share, len(problem))
    if not randomize:
        if allowed < 1:
            raise problem.refuse(1 / (len(problem) + 1))
        return problem.conclude(_accept_losses(problem.group(), allowed - 1, 1.0, 0))
    proba = min(1.0, allowed / problem.room)
    if problem.bound.is_binary:
        rule = _accept_errors(problem.group(), allowed)
    else:
        rule = _accept_losses(problem.group(), allowed / proba - 1, proba, 1)
    return problem.conclude(rule)


def allowed_failures(share, n_samples):
    """Return what all samples and the new one may lose, in multiples of the largest."""
    allowed = share * (n_samples + 1)
    # Sums of floats miss whole numbers.
    if abs(allowed - round(allowed)) <= RELATIVE_TOLERANCE * allowed:
        allowed = float(round(allowed))
    return allowed


def _accept_errors(groups, allowed):
    """Accept what has at most so many errors before it, the last one with the rest."""
    n_sure = math.floor(allowed)
    rest = allowed - n_sure
    sums = np.round(groups.cumulative_losses).astype(np.intp)
    end = int(np.searchsorted(sums, n_sure + (rest > 0)))
    threshold, proba = math.inf, 1.0
    if end < len(groups):
        threshold = float(groups.scores[end])
        proba = _mean_over_orders(groups, sums, end, allowed)
    if rest == 0:
        return RejectionRule(threshold, proba)
    if n_sure == 0:
        return RejectionRule(threshold, proba, thinning=_thin_all(rest))
    start = int(np.searchsorted(sums, n_sure))
    if start == end:
        return RejectionRule(threshold, proba)
    at_start = _mean_over_orders(groups, sums, start, allowed)
    thinning = Thinning(float(groups.scores[start]), at_start, rest)
    return RejectionRule(threshold, proba, thinning=thinning)


def _mean_over_orders(groups, sums, index, allowed):
    """Return how likely a sample of a tie group is accepted, at a random place in it.

    Its chance at the place after j errors is 1, the rest or 0, so that sums of chances
    are the number of places or what is allowed, whichever is less.
    """
    n_errors = round(float(groups.losses[index]))
    before = sums[index] - n_errors
    chances = min(before + n_errors + 1.0, allowed) - min(float(before), allowed)
    return chances / (n_errors + 1)


def _accept_losses(groups, allowed, proba, share_of_next):
    """Accept, with a probability, what has losses that sum up to what is allowed.

    `share_of_next` is 1 if the tie group that would exceed it is accepted in part.
    """
    limit = allowed * (1 + RELATIVE_TOLERANCE)
    n_groups = int(np.searchsorted(groups.cumulative_losses, limit, side="right"))
    thinning = _thin_all(proba)
    if n_groups == len(groups):
        return RejectionRule(math.inf, 1.0, thinning=thinning)
    _, used = groups.prefix(n_groups)
    share = max(0.0, (allowed - used) / float(groups.losses[n_groups]))
    return RejectionRule(
        float(groups.scores[n_groups]),
        proba * share * share_of_next,
        thinning=thinning,
    )


def _thin_all(proba):
    """Return the thinning of all that is below the threshold, None for none."""
    return Thinning(-math.inf, proba, proba) if proba < 1 else None


# With confidence


def _solve_with_confidence(problem, randomize, draws, random_state):
    """Return the rule whose failure rate is certified to be at most the target."""
    delta, bound = 1 - problem.confidence_level, problem.bound
    lowest = bound.lowest_rate(len(problem), delta)
    is_small = problem.share < lowest * (1 - RELATIVE_TOLERANCE)
    if is_small and not randomize:
        raise problem.refuse(lowest)
    # A rule that is thinned needs to promise no more than it may do unthinned.
    share = problem.share
    if randomize:
        share = min(1.0, max(share, lowest * problem.room))
    proba = problem.share / share
    # Thinned by the draws that break ties, a part of a tie group would be another one.
    breaks_ties = randomize and proba == 1
    ranked = rank(
        problem.scores,
        problem.losses,
        breaks_ties,
        draws if breaks_ties else None,
        check_random_state(random_state),
    )
    if share == 1:
        rule = RejectionRule(math.inf, 1.0, thinning=_thin_all(proba))
        return problem.conclude(rule, 0.0)
    # The limit itself is meant to pass, where no loss is just enough.
    delta *= 1 + _ROUNDING
    p_value = bound.tests(ranked.losses / problem.max_loss, share, delta)
    count = find_longest(p_value, ranked.accepted_counts, delta)
    rule = _rule_below(ranked, count or 0, proba)
    return problem.conclude(rule, min(p_value(count or 0), 1.0))


def _rule_below(ranked, count, proba):
    """Return the rule that accepts the first samples, with a probability."""
    thinning = _thin_all(proba)
    if count == len(ranked):
        return RejectionRule(math.inf, 1.0, thinning=thinning)
    draw = float(ranked.draws[count])
    at_threshold = 0.0 if math.isnan(draw) else draw
    return RejectionRule(float(ranked.scores[count]), at_threshold, thinning=thinning)
