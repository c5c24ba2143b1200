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
from sklearn_reject.exceptions import InfeasibleTargetError, round_up
from sklearn_reject.selection._bounds import find_longest
from sklearn_reject.selection._rule import (
    Certificate,
    RejectionRule,
    compare,
)
from sklearn_reject.selection._solve import rank

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

    def conclude(self, rule, p_value=None):
        """Return a rule with what it achieves, and what holds of it."""
        has_confidence = self.confidence_level is not None
        certificate = Certificate(
            "failure_rate",
            self.rate,
            self.confidence_level,
            self.bound.name if has_confidence else "conformal",
            len(self),
            int(np.count_nonzero(compare(self.scores, rule.threshold)[0])),
            p_value if has_confidence else None,
        )
        rule = replace(rule, certificate=certificate)
        return rule.measure(self.scores, self.losses)

    @property
    def lowest(self):
        """The smallest share that so many samples can promise."""
        if self.confidence_level is None or not len(self):
            return 1 / (len(self) + 1)
        return self.bound.lowest_rate(len(self), 1 - self.confidence_level)

    @property
    def fewest(self):
        """How many samples can promise the rate if none of them is wrong."""
        if self.confidence_level is None:
            return fewest_for_failures(self.share)
        return self.bound.fewest(self.share, 1 - self.confidence_level)

    @property
    def is_hopeless(self):
        """Whether the samples are too few, whatever their losses."""
        return self.share < self.lowest * (1 - RELATIVE_TOLERANCE)

    @property
    def promise(self):
        """The rate as text, and the confidence."""
        if self.confidence_level is None:
            return f"{self.rate:g}"
        return f"{self.rate:g} at confidence_level={self.confidence_level:g}"


def fewest_for_failures(share):
    """Return how many samples can promise a share of the largest loss on average."""
    return math.ceil((1 / share) * (1 - RELATIVE_TOLERANCE)) - 1


def too_few_for_failures(n_samples, promise, fewest, lowest, way_out):
    """Return the error of samples that are too few, `way_out` if not by giving more."""
    return InfeasibleTargetError(
        f"{n_samples} samples cannot guarantee the failure rate {promise}, even if "
        f"none of them is wrong: {fewest} are needed, and the smallest rate that can "
        f"be guaranteed is {round_up(lowest)}",
        f"Use more samples{way_out}.",
        {"target_failure_rate": float(round_up(lowest))},
    )


def nothing_accepted(rate):
    """Return what a user should know of a rule that accepts nothing."""
    return (
        "No calibration sample is accepted, because the samples with the lowest "
        f"scores have larger losses than the failure rate {rate:g} allows. Use a "
        "score that ranks the errors better, or a larger rate."
    )


def refuse_least_rate(rate, max_loss, name="target (the failure rate)"):
    """Raise where no number of samples could promise a failure rate."""
    if rate / max_loss < _LEAST_SHARE:
        raise InfeasibleTargetError(
            f"{name} is {rate:g}, which only a rule that accepts nothing can meet, "
            "because with a small risk a sample may have no loss at all",
            "Use a larger value.",
        )


def solve_failures(problem, randomize, draws=None, random_state=None):
    """Return the rule of largest coverage that keeps the bound.

    The samples have to be enough for one.
    """
    if problem.share >= 1:
        return problem.conclude(RejectionRule(math.inf, 1.0), 0.0)
    if problem.confidence_level is None:
        return _solve_in_expectation(problem, randomize)
    return _solve_with_confidence(problem, randomize, draws, random_state)


def _solve_in_expectation(problem, randomize):
    """Return the rule whose failure rate is at most the target on average."""
    groups = group_validated(
        problem.scores, problem.losses / problem.max_loss, None, near=True
    )
    # The new sample may lose as much as any can.
    allowed = allowed_failures(problem.share, len(problem)) - 1
    limit = allowed * (1 + RELATIVE_TOLERANCE)
    n_groups = int(np.searchsorted(groups.cumulative_losses, limit, side="right"))
    if n_groups == len(groups):
        return problem.conclude(RejectionRule(math.inf, 1.0))
    _, used = groups.prefix(n_groups)
    share = max(0.0, (allowed - used) / float(groups.losses[n_groups]))
    threshold = float(groups.scores[n_groups])
    return problem.conclude(RejectionRule(threshold, share if randomize else 0.0))


def allowed_failures(share, n_samples):
    """Return what all samples and the new one may lose, in multiples of the largest."""
    allowed = share * (n_samples + 1)
    # Sums of floats miss whole numbers.
    if abs(allowed - round(allowed)) <= RELATIVE_TOLERANCE * allowed:
        allowed = float(round(allowed))
    return allowed


def _solve_with_confidence(problem, randomize, draws, random_state):
    """Return the rule whose failure rate is certified to be at most the target."""
    random_state = check_random_state(random_state)
    ranked = rank(problem.scores, problem.losses, randomize, draws, random_state)
    # The limit itself is meant to pass, where no loss is just enough.
    delta = (1 - problem.confidence_level) * (1 + _ROUNDING)
    p_value = problem.bound.tests(
        ranked.losses / problem.max_loss, problem.share, delta
    )
    count = find_longest(p_value, ranked.accepted_counts, delta) or 0
    if count == len(ranked):
        rule = RejectionRule(math.inf, 1.0)
    else:
        draw = float(ranked.draws[count])
        at_threshold = 0.0 if math.isnan(draw) else draw
        rule = RejectionRule(float(ranked.scores[count]), at_threshold)
    return problem.conclude(rule, min(p_value(count), 1.0))
