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
from functools import partial

import numpy as np
from sklearn.utils import check_random_state

from sklearn_reject._curves import RELATIVE_TOLERANCE, group_validated
from sklearn_reject._validation import check_number, check_option, check_samples
from sklearn_reject.exceptions import InfeasibleTargetError, round_up, warn_user
from sklearn_reject.selection._certify import (
    check_confidence,
    choose_bound,
    rank_samples,
)
from sklearn_reject.selection._failure_bounds import FAILURE_BOUNDS, find_longest
from sklearn_reject.selection._grouped import is_by_group, solve_arrays_by_group
from sklearn_reject.selection._rule import (
    Certificate,
    RejectionRule,
    Thinning,
    check_draws,
)

# With losses between, what a rule that has to thin may accept of losses, in multiples
# of the largest loss, and that once more: where the loss grows as the rank does, the
# product of p = rate (n + 1) / (1 + c) and of the square root of c is largest at 1.
_ROOM = 2.0

# Of the chance of no error in many samples.
_ROUNDING = 1e-9


def solve_target_failure_rate(
    scores,
    losses,
    target,
    *,
    sample_weight=None,
    randomize=True,
    confidence=None,
    bound="auto",
    max_loss=None,
    draws=None,
    random_state=None,
    groups=None,
    all_groups=None,
):
    """Maximise the coverage under a bound on what is accepted and wrong.

    The failure rate is the expected loss of all samples, zero where they are rejected:
    with 0/1 loss the share of all samples that is accepted and wrong. It never falls as
    more is accepted, so that no sample is too small for a bound that holds.

    Without `confidence`, the failure rate is at most `target` on average over the draw
    of the calibration samples and of the new sample: conformal risk control. It is no
    statement about the selective risk, the expected loss among what is accepted, nor
    about one rule; with `confidence`, the rule is one that keeps the target, except
    with a probability of at most 1 - `confidence`. Either way the samples must be
    independent of the classifier and of the score: drawn one by one, and used to fit
    neither. Of predictions out of fold that is true but approximately.

    Parameters
    ----------
    scores : array-like of shape (n_samples,)
        Uncertainty scores, higher = more uncertain.

    losses : array-like of shape (n_samples,)
        Non-negative losses.

    target : float > 0, or dict of group to float
        Failure rate that must not be exceeded, in units of the loss. With `groups`, it
        may be a dict with one for each.

    sample_weight : None, default=None
        Refused: the bound is one for samples drawn alike.

    randomize : bool, default=True
        Whether samples may be accepted with a probability. Without it, a target below
        what the sample can promise is infeasible; with it, and a warning, the rule
        accepts with a probability below 1 what a larger sample could accept for sure.
        So it does between the last two errors that it may accept where `target` times
        the number of samples is not whole, and at the threshold.

    confidence : float in ]0, 1[, default=None
        Probability with which the failure rate is to hold for the population. None
        bounds its expectation.

    bound : {"auto", "binomial", "hoeffding_bentkus", "betting"}, default="auto"
        What losses there are and, with `confidence`, where p-values come from:
        "binomial" is for losses that are 0 or `max_loss`, the others for all losses
        between. "auto" is the binomial where `max_loss` is None, else betting.

    max_loss : float > 0, default=None
        Largest loss that is possible, not the largest in the sample. None stands for a
        loss that is 0 or 1.

    draws : array-like of shape (n_samples,), default=None
        Numbers in [0, 1[ that break ties, used with `confidence` only: those of
        :func:`keyed_draws` for the keys that the samples will have in use, so that
        score and draw of a row are the same at calibration and in use. Samples equal in
        both are accepted or rejected together.

    random_state : int, RandomState instance or None, default=None
        Source of the draws where `draws` is None, used with `confidence` only. Pass an
        int to get the same rule again.

    groups : array-like of shape (n_samples,), default=None
        Group of each sample, such as its predicted class, which must be known before a
        sample is accepted. Each group then has a rule of its own, solved on its
        samples. With a confidence, all of them hold together with that probability:
        each has an equal share of the chance of an error. A group in which no rule
        meets the target is rejected as a whole, with a warning.

    all_groups : array-like of shape (n_groups,), default=None
        Every group that there is, named before the sample is drawn; None stands for
        those that occur in `groups`. A group without samples is rejected.

    Returns
    -------
    rule : RejectionRule or, with groups, GroupedRule
        The rule, with a certificate of the quantity "failure_rate", and a `thinning`
        where samples below the threshold are accepted with a probability.

    Warns
    -----
    RejectionWarning
        If all that is accepted is accepted with a probability below 1, as the sample is
        too small for a rule that does without; or if no sample is accepted.

    Raises
    ------
    InfeasibleTargetError
        If `randomize` is False and the sample too small. It says how many are needed.
        With groups, only if that is so in all of them.
    ValueError
        If `target`, `confidence`, `bound` or `max_loss` is out of range, if losses and
        `max_loss` or `bound` do not agree, if weights are given, if a dict of targets
        lacks a group, or an array is invalid.

    Notes
    -----
    For 0/1 loss and n samples, the rule accepts for sure what has fewer than k errors
    below, where k is the whole part of `target` * (n + 1), and with the probability of
    the rest what has exactly k. Conformal risk control is the first part of it. For
    other losses it is the longest prefix with (max_loss + loss of it) / (n + 1) at most
    the target; where n is below 2 * max_loss / target, both are multiplied by a
    probability that allows for a loss of max_loss in the prefix.

    References
    ----------
    A. Angelopoulos, S. Bates, A. Fisch, L. Lei, T. Schuster. Conformal Risk Control.
    ICLR 2024.

    J. Traub, T. Bungert, C. Lueth, M. Baumgartner, K. Maier-Hein, L. Maier-Hein, P.
    Jaeger. Overcoming Common Flaws in the Evaluation of Selective Classification
    Systems. NeurIPS 2024.

    Examples
    --------
    >>> from sklearn_reject.selection import solve_target_failure_rate
    >>> scores = [k / 100 for k in range(100)]
    >>> losses = [k >= 80 for k in range(100)]
    >>> rule = solve_target_failure_rate(scores, losses, 0.1)
    >>> round(rule.coverage, 3), round(rule.failure_rate, 3)
    (0.896, 0.096)
    >>> rule.certificate.quantity, rule.certificate.confidence
    ('failure_rate', None)
    >>> solve_target_failure_rate(scores, losses, 0.1, confidence=0.9).coverage
    0.85
    """
    if is_by_group(groups, all_groups):
        refuse_failure_weights(sample_weight)
        return solve_arrays_by_group(
            partial(
                solve_target_failure_rate,
                randomize=randomize,
                bound=bound,
                max_loss=max_loss,
            ),
            scores,
            losses,
            target,
            groups,
            all_groups,
            None,
            confidence=confidence,
            draws=draws,
            random_state=random_state,
        )
    rate = check_number(target, "target (the failure rate)")
    check_option(randomize, "randomize", (True, False))
    check_option(bound, "bound", ("auto", *FAILURE_BOUNDS))
    if confidence is not None:
        confidence = check_confidence(confidence)
    refuse_failure_weights(sample_weight)
    if rate == 0:
        raise InfeasibleTargetError(
            "target (the failure rate) is 0, which only a rule that accepts nothing "
            "keeps: a small risk may show no loss at all. Ask for a positive one."
        )
    scores, losses, _ = check_samples(scores, losses)
    bound, max_loss = choose_bound(losses, bound, max_loss, FAILURE_BOUNDS)
    problem = _Problem(scores, losses, rate, max_loss, bound, confidence)
    if rate >= max_loss:
        rule = problem.conclude(RejectionRule(math.inf, 1.0), 0.0)
    elif confidence is None:
        rule = _solve_in_expectation(problem, randomize)
    else:
        random_state = check_random_state(random_state)
        rule = _solve_with_confidence(problem, randomize, draws, random_state)
    if rule.coverage == 0:
        problem.warn_of_nothing_accepted()
    return rule


def refuse_failure_weights(weight):
    """Raise where samples have weights."""
    if weight is not None:
        raise ValueError(
            "sample_weight cannot be combined with a failure rate: its bound is for "
            "samples drawn alike. Pass sample_weight=None, or ask for a target_risk."
        )


@dataclass(frozen=True, eq=False)
class _Problem:
    """What is to be solved; `share`, the rate, is in multiples of the largest loss."""

    scores: np.ndarray
    losses: np.ndarray
    rate: float
    max_loss: float
    bound: object
    confidence: float | None

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
        has_confidence = self.confidence is not None
        certificate = Certificate(
            "failure_rate",
            self.rate,
            self.confidence,
            self.bound.name if has_confidence else "conformal",
            None,
            len(self),
            int(np.count_nonzero(self.scores < rule.threshold)),
            p_value if has_confidence else None,
        )
        rule = replace(rule, certificate=certificate)
        return rule.measure(self.scores, self.losses)

    def refuse(self, lowest, fewest):
        """Return the error of samples that are too few for a rule that is certain."""
        lowest *= self.max_loss
        return InfeasibleTargetError(
            f"{len(self)} samples cannot promise the failure rate "
            f"{self.rate:g}{self._at_confidence()}, even if none of them is wrong: it "
            f"takes {fewest}. The smallest rate that these can promise is "
            f"{round_up(lowest)}. Give more samples, ask for a larger rate, or pass "
            "randomize=True, which accepts samples with a probability that so few can "
            "promise.",
            attainable={"min_failure_rate": float(round_up(lowest))},
        )

    def warn_of_thinning(self, probability, fewest):
        """Warn that nothing is accepted for sure."""
        warn_user(
            f"{len(self)} samples are too few to promise the failure "
            f"rate {self.rate:g}{self._at_confidence()} of all that the score calls "
            f"certain: each of it is accepted with a probability of {probability:.3g} "
            f"only. From {fewest} calibration samples on it is accepted for sure. Give "
            "more, or ask for a larger rate."
        )

    def warn_of_nothing_accepted(self):
        """Warn that the rule rejects all samples."""
        warn_user(
            f"No calibration sample is accepted, as the failure rate "
            f"{self.rate:g} allows for no loss so large among the samples that the "
            "score calls certain. Use a score that orders the errors better, or a "
            "larger rate."
        )

    def _at_confidence(self):
        return "" if self.confidence is None else f" at confidence={self.confidence:g}"


# In expectation


def _solve_in_expectation(problem, randomize):
    """Return the rule whose failure rate is at most the target on average."""
    # What all samples and the new one may lose; sums of floats miss whole numbers.
    allowed = problem.share * (len(problem) + 1)
    if abs(allowed - round(allowed)) <= RELATIVE_TOLERANCE * allowed:
        allowed = float(round(allowed))
    fewest = _count_expected(problem.share)
    if not randomize:
        if allowed < 1:
            raise problem.refuse(1 / (len(problem) + 1), fewest)
        return problem.conclude(_accept_losses(problem.group(), allowed - 1, 1.0, 0))
    proba = min(1.0, allowed / problem.room)
    if proba < 1:
        problem.warn_of_thinning(proba, _count_expected(problem.share / problem.room))
    groups = problem.group()
    if problem.bound.is_binary:
        rule = _accept_errors(groups, allowed)
    else:
        rule = _accept_losses(groups, allowed / proba - 1, proba, 1)
    return problem.conclude(rule)


def _count_expected(share):
    """Return how many samples can promise a share of the largest loss."""
    return math.ceil((1 / share) * (1 - RELATIVE_TOLERANCE)) - 1


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
    delta, bound = 1 - problem.confidence, problem.bound
    lowest = bound.lowest_rate(len(problem), delta)
    is_small = problem.share < lowest * (1 - RELATIVE_TOLERANCE)
    if is_small and not randomize:
        raise problem.refuse(lowest, bound.fewest(problem.share, delta))
    # A rule that is thinned needs to promise no more than it may do unthinned.
    share = problem.share
    if randomize:
        share = min(1.0, max(share, lowest * problem.room))
    proba = problem.share / share
    if proba < 1:
        fewest = bound.fewest(problem.share / problem.room, delta)
        problem.warn_of_thinning(proba, fewest)
    # Thinned by the draws that break ties, a part of a tie group would be another one.
    breaks_ties = randomize and proba == 1
    ranked = _rank(problem, draws if breaks_ties else None, breaks_ties, random_state)
    if share == 1:
        rule = RejectionRule(math.inf, 1.0, thinning=_thin_all(proba))
        return problem.conclude(rule, 0.0)
    # The limit itself is meant to pass, where no loss is just enough.
    delta *= 1 + _ROUNDING
    p_value = bound.tests(ranked.losses / problem.max_loss, share, delta)
    count = find_longest(p_value, ranked.accepted_counts, delta)
    rule = _rule_below(ranked, count or 0, proba)
    return problem.conclude(rule, min(p_value(count or 0), 1.0))


def _rank(problem, draws, breaks_ties, random_state):
    """Sort samples, ties by draws if they are to be broken."""
    if draws is not None:
        draws = check_draws(draws, len(problem))
    elif breaks_ties:
        draws = random_state.random_sample(len(problem))
    return rank_samples(problem.scores, problem.losses, draws)


def _rule_below(ranked, count, proba):
    """Return the rule that accepts the first samples, with a probability."""
    thinning = _thin_all(proba)
    if count == len(ranked):
        return RejectionRule(math.inf, 1.0, thinning=thinning)
    draw = float(ranked.draws[count])
    at_threshold = 0.0 if math.isnan(draw) else draw
    return RejectionRule(float(ranked.scores[count]), at_threshold, thinning=thinning)
