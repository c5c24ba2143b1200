"""One threshold solved on a sample: cost, risk, coverage (FPV23) and failures.

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

Parts. What is accepted must not depend on the part, which is unknown in use. So each
gets a rule of its own, and a sample is accepted with the smallest of their
probabilities: no part then loses more than under its own rule, whose bound holds given
how many samples are of the part. With confidence all bounds hold at once, without a
share of the chance of an error for each. Let t_y be the largest threshold that keeps
the bound of part y, and z the part with the smallest one. If the smallest of the
thresholds found breaks any bound, it is above t_z, and so is the one found for z. That
alone has a chance of delta.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from sklearn_reject._curves._cut import (
    Form,
    Model,
    best_cut,
    cheapest,
    reaching_coverage,
    within_risk,
)
from sklearn_reject._curves._prefixes import (
    RELATIVE_TOLERANCE,
    Prefixes,
    join_ties,
    prefix_sums,
)
from sklearn_reject._typing import Other, RandomState, RiskBound, Target
from sklearn_reject._validation import check_number, check_samples, take_weight
from sklearn_reject.exceptions import (
    InfeasibleTargetError,
    round_down,
    round_up,
    warn_user,
)
from sklearn_reject.selection._certify import (
    Asked,
    Tested,
    by_parameter,
    certify,
    certify_coverage,
    check_confidence_level,
    choose_test,
    rank,
    rank_to_test,
    refuse_weights,
)
from sklearn_reject.selection._groups import enumerate_texts
from sklearn_reject.selection._parts import certify_parts, check_parts, warn_of_absent
from sklearn_reject.selection._rule import RejectionRule, check_draws, make_rule
from sklearn_reject.selection._sample import ROWS, Clusters, Sample
from sklearn_reject.selection._solver import solver


@solver
def solve_reject_cost(
    scores: ArrayLike,
    losses: ArrayLike,
    target: Target,
    *,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    all_groups: ArrayLike | None = None,
) -> RejectionRule | Other:
    """Minimize the expected loss with a cost of rejection (Chow's model).

    Finds the prefix of the samples, in the order of their score, with the least
    loss plus `target` a rejected sample; of equal minima the largest coverage. Meant
    for scores that only order the samples. With a score that estimates the conditional
    risk itself, ``RejectionRule(target, 1.0)`` needs no data.

    Parameters
    ----------
    scores : array-like of shape (n_samples,)
        Uncertainty scores, higher = more uncertain.

    losses : array-like of shape (n_samples,)
        Non-negative losses.

    target : float >= 0, or dict of group to float
        Cost of rejecting a sample, in units of the loss. With `groups`, it may be a
        dict with one for each.

    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative sample weights.

    groups : array-like of shape (n_samples,), default=None
        Group of each sample, such as its predicted class, which must be known before a
        sample is accepted. Each group has its own rule, solved on its samples. With a
        confidence, the targets of all groups hold together with that probability: each
        gets an equal share of the error probability. A group in which no rule meets the
        target is rejected as a whole, with a warning.

    all_groups : array-like of shape (n_groups,), default=None
        All groups, fixed before the sample is drawn. None takes those that occur in
        `groups`. A group without samples is rejected.

    Returns
    -------
    rule : RejectionRule or, with groups, GroupedRule
        The optimal rule; it never needs to randomize. Its threshold is minus infinity
        where rejecting everything is best.

    Warns
    -----
    RejectionWarning
        If the half of the samples with the lowest scores has a larger risk than all,
        by more than chance.

    Raises
    ------
    ValueError
        If `target` is negative or lacks a group, or an array is invalid.

    Examples
    --------
    >>> from sklearn_reject.selection import solve_reject_cost
    >>> scores, losses = [0.1, 0.4, 0.4, 0.8], [0, 0, 1, 1]
    >>> solve_reject_cost(scores, losses, 0.3).coverage
    0.25
    >>> solve_reject_cost(scores, losses, 0.5).coverage
    0.75
    """
    cost = check_number(target, "target (the reject cost)")
    prefixes = join_ties(scores, losses, sample_weight, near=True)
    return make_rule(prefixes, best_cut(prefixes, cheapest(cost)))


@solver
def solve_target_risk(
    scores: ArrayLike,
    losses: ArrayLike,
    target: Target,
    *,
    sample_weight: ArrayLike | None = None,
    inclusion_proba: ArrayLike | None = None,
    max_weight: float | None = None,
    clusters: ArrayLike | None = None,
    randomize: bool = True,
    confidence_level: float | None = None,
    bound: RiskBound = "auto",
    max_loss: float | None = None,
    draws: ArrayLike | None = None,
    random_state: RandomState | None = None,
    groups: ArrayLike | None = None,
    all_groups: ArrayLike | None = None,
) -> RejectionRule | Other:
    """Maximize the coverage under a bound on the selective risk.

    The bounded-improvement model (FPV23, problem 3 and theorem 3). Without
    `confidence_level`, the bound holds on the sample, which also chose the longest
    prefix. Where the chance of an error is the square of a uniform score, a target of
    0.1 leads to a risk of 0.113 in the population on average with 50 samples, 0.108
    with 100, 0.104 with 200 and 0.101 with 1000.

    With `confidence_level`, the bound holds for the population that the sample was
    drawn from, except with a probability of at most 1 - `confidence_level`. The sample
    must then be independent of the classifier and of the score: drawn one by one, and
    used to fit neither. What a small sample can promise without is a bound on the
    failures among all samples, see :func:`solve_target_failure_rate`.

    Parameters
    ----------
    scores : array-like of shape (n_samples,)
        Uncertainty scores, higher = more uncertain.

    losses : array-like of shape (n_samples,)
        Non-negative losses.

    target : float >= 0, or dict of group to float
        Selective risk that must not be exceeded, in units of the loss. With `groups`,
        it may be a dict with one for each.

    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative weights, such as the density of another population over that of
        the sample: the risk is that of the weighted population. A common factor does
        not matter.

    inclusion_proba : float or array-like of shape (n_samples,), default=None
        Chance, in (0, 1], that each row was to be labelled, which depends on nothing
        but what is known before its label. Losses of rows without a label are NaN.

    max_weight : float > 0, default=None
        Largest possible `sample_weight` over `inclusion_proba`, known before the sample
        is drawn. With `confidence_level`, required beside weights or several
        probabilities.

    clusters : array-like of shape (n_samples,), default=None
        Cluster of each row, such as a patient. Rows of one may depend on each other,
        and what is promised is about a random row of a random cluster. None takes all
        rows as independent.

    randomize : bool, default=True
        If True, the tie group that would exceed the risk is accepted with the
        probability that meets it exactly or, with `confidence_level`, that the draws
        which break ties lead to. If False, it is rejected.

    confidence_level : float in (0, 1), default=None
        Probability with which the risk is to hold for the population. The parameters
        below are used with it only.

    bound : {"auto", "binomial", "hoeffding_bentkus", "betting"}, default="auto"
        Bound that gives the p-values: "binomial" is exact for losses that are 0 or
        `max_loss` of independent rows that count alike, the others hold for all losses
        between. "auto" is the binomial for such rows if `max_loss` is None, otherwise
        betting.

    max_loss : float > 0, default=None
        Largest possible loss, not the largest one in the sample. None means that losses
        are 0 or 1.

    draws : array-like of shape (n_samples,), default=None
        Numbers in [0, 1) that break ties, used with `confidence_level` only. Use
        :func:`keyed_draws` with the keys that the samples will have in production, so
        that a row has the same score and draw at calibration and in production. Samples
        with equal scores and draws get the same decision.

    random_state : int, RandomState instance or None, default=None
        Seed of the draws if `draws` is None, and of the order of bets. Pass an int for
        reproducible rules.

    groups : array-like of shape (n_samples,), default=None
        Group of each sample, such as its predicted class, which must be known before a
        sample is accepted. Each group has its own rule, solved on its samples. With a
        confidence, the targets of all groups hold together with that probability: each
        gets an equal share of the error probability. A group in which no rule meets the
        target is rejected as a whole, with a warning.

    all_groups : array-like of shape (n_groups,), default=None
        All groups, fixed before the sample is drawn. None takes those that occur in
        `groups`. A group without samples is rejected.

    Returns
    -------
    rule : RejectionRule or, with groups, GroupedRule
        The rule of largest coverage among those with one threshold, or among those that
        passed a test. With `confidence_level` it has a certificate.

    Warns
    -----
    RejectionWarning
        If the half of the samples with the lowest scores has a larger risk than all,
        by more than chance.

    Raises
    ------
    InfeasibleTargetError
        If every prefix of the sample has a higher risk or, with `confidence_level`,
        none can be certified. It says what can be met, or how many samples are needed.
        With groups, only if that is so in all of them.
    ValueError
        If `target`, `confidence_level`, `bound` or `max_loss` is out of range, if
        losses and `max_loss` or `bound` do not agree, if weights exceed `max_weight`
        or lack it, if a dict of targets lacks a group, or an array is invalid.

    Examples
    --------
    >>> from sklearn_reject.selection import solve_target_risk
    >>> scores, losses = [0.1, 0.4, 0.4, 0.8], [0, 0, 1, 1]
    >>> rule = solve_target_risk(scores, losses, 0.2)
    >>> round(rule.coverage, 4), round(rule.selective_risk, 4)
    (0.4167, 0.2)
    >>> solve_target_risk(scores, losses, 0.2, randomize=False).coverage
    0.25

    >>> scores = [k / 100 for k in range(100)]
    >>> losses = [score >= 0.8 for score in scores]
    >>> solve_target_risk(scores, losses, 0.1).coverage
    0.8888888888888888
    >>> solve_target_risk(scores, losses, 0.1, confidence_level=0.9).coverage
    0.84
    """
    risk = check_number(target, "target (the selective risk)")
    promise = "" if confidence_level is None else "confidence_level"
    sampling = sample_weight, inclusion_proba, max_weight, clusters
    sample = Sample.of(scores, losses, *sampling, promise=promise)
    if confidence_level is None:
        prefixes = sample.prefixes()
        rule = make_rule(prefixes, cut_at_risk(prefixes, risk, randomize), to_next=True)
        return sample.measure(rule)
    options = {"units": sample.units}
    test = choose_test(sample.losses, confidence_level, bound, max_loss, **options)
    random_state = check_random_state(random_state)
    ranked = rank_to_test(sample, randomize, draws, random_state)
    everything = Tested.of(ranked, risk, test, random_state)
    found = certify(ranked.accepted_counts, everything)
    return sample.measure(ranked.make_rule(*found))


@solver
def solve_target_coverage(
    scores: ArrayLike,
    losses: ArrayLike,
    target: Target,
    *,
    sample_weight: ArrayLike | None = None,
    randomize: bool = True,
    confidence_level: float | None = None,
    draws: ArrayLike | None = None,
    random_state: RandomState | None = None,
    groups: ArrayLike | None = None,
    all_groups: ArrayLike | None = None,
) -> RejectionRule | Other:
    """Minimize the selective risk under a bound on the coverage.

    The bounded-abstention model (FPV23, problem 5 and theorem 6). The rule meets the
    coverage exactly; where accepting more would lower the risk on the sample, the score
    does not order the samples as the risk does, and that noise is not exploited.

    With `confidence_level`, the coverage is reached in the population that the sample
    was drawn from, except with a probability of at most 1 - `confidence_level`. The
    sample must then be independent of the classifier and of the score.

    Parameters
    ----------
    scores : array-like of shape (n_samples,)
        Uncertainty scores, higher = more uncertain.

    losses : array-like of shape (n_samples,)
        Non-negative losses. They do not change the rule, only what it reports.

    target : float in (0, 1], or dict of group to float
        Share of the samples to accept. With `groups`, it may be a dict with one for
        each.

    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative sample weights. Not possible with `confidence_level`.

    randomize : bool, default=True
        If True, the tie group that reaches the coverage is accepted with the
        probability that meets it exactly or, with `confidence_level`, that the draws
        which break ties lead to. If False, it is accepted as a whole.

    confidence_level : float in (0, 1), default=None
        Probability with which the coverage is to be reached in the population. Where
        the sample is too small to tell, everything is accepted.

    draws : array-like of shape (n_samples,), default=None
        Numbers in [0, 1) that break ties, used with `confidence_level` only. Use
        :func:`keyed_draws` with the keys that the samples will have in production, so
        that a row has the same score and draw at calibration and in production. Samples
        with equal scores and draws get the same decision.

    random_state : int, RandomState instance or None, default=None
        Seed of the draws if `draws` is None, used with `confidence_level` only. Pass an
        int for reproducible rules.

    groups : array-like of shape (n_samples,), default=None
        Group of each sample, such as its predicted class, which must be known before a
        sample is accepted. Each group has its own rule, solved on its samples. With a
        confidence, the targets of all groups hold together with that probability: each
        gets an equal share of the error probability. A group in which no rule meets the
        target is rejected as a whole, with a warning.

    all_groups : array-like of shape (n_groups,), default=None
        All groups, fixed before the sample is drawn. None takes those that occur in
        `groups`. A group without samples is rejected.

    Returns
    -------
    rule : RejectionRule or, with groups, GroupedRule
        The rule. With `confidence_level` it has a certificate.

    Warns
    -----
    RejectionWarning
        If the half of the samples with the lowest scores has a larger risk than all,
        by more than chance.

    Raises
    ------
    ValueError
        If `target` is not in (0, 1] or `confidence_level` not in (0, 1), if weights are
        given with `confidence_level`, if a dict of targets lacks a group, or an array
        is invalid.

    Examples
    --------
    >>> from sklearn_reject.selection import solve_target_coverage
    >>> scores, losses = [0.1, 0.4, 0.4, 0.8], [0, 0, 1, 1]
    >>> solve_target_coverage(scores, losses, 0.5).coverage
    0.5
    >>> solve_target_coverage(scores, losses, 0.5, randomize=False).coverage
    0.75

    >>> scores, losses = list(range(100)), [0] * 100
    >>> solve_target_coverage(scores, losses, 0.5, confidence_level=0.9).coverage
    0.57
    """
    coverage = check_number(target, "target (the coverage)", high=1.0, open_low=True)
    if confidence_level is None:
        prefixes = join_ties(scores, losses, sample_weight, near=True)
        model = reaching_coverage(coverage, prefixes.total("weight"))
        return make_rule(prefixes, best_cut(prefixes, model, randomize))
    confidence_level = check_confidence_level(
        confidence_level, sample_weight=sample_weight
    )
    scores, losses, _ = check_samples(scores, losses)
    ranked = rank(scores, losses, randomize, draws, check_random_state(random_state))
    certificate = certify_coverage(
        len(scores), coverage, confidence_level=confidence_level
    )
    return ranked.make_rule(certificate, single_is_in=True)


def cut_at_risk(prefixes, risk, randomize):
    """Return the cut of largest coverage within a risk, or say which one there is."""
    cut = best_cut(prefixes, within_risk(risk), randomize)
    if cut.n_groups:
        return cut
    risks = prefixes.sums("loss")[1:] / prefixes.sums("weight")[1:]
    lowest = float(risks.min())
    within = np.flatnonzero(risks <= lowest * (1 + RELATIVE_TOLERANCE))
    weight = prefixes.at("weight", int(within[-1]) + 1)
    coverage = weight / prefixes.total("weight")
    raise InfeasibleTargetError(
        f"No threshold attains the target risk {risk} on the calibration set: the "
        f"lowest selective risk is {round_up(lowest)}, at coverage "
        f"{round_down(coverage)}",
        "Use at least this risk, or a score that ranks the errors better.",
        {"target_risk": lowest},
        coverage,
    )


# Of the chance of no error in many samples.
_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class FailureTarget(Asked):
    """A rate of failures, on average or with a confidence."""

    # The largest weight of a sample, where these are one on average.
    max_weight: float = 1.0

    quantity, name = "failure_rate", "failure rate"

    @property
    def largest(self):
        """The largest loss, times the largest weight."""
        return self.test.max_loss * self.max_weight

    def fewest(self):
        """Return about how many samples without any loss can promise the rate."""
        return self.test.bound.fewest_of_rate(self.share, self.test.delta)

    @property
    def lowest(self):
        """The smallest rate that so many samples can promise, rounded up."""
        lowest = 1.0
        if self.n_samples:
            lowest = self.test.bound.lowest_rate(self.n_samples, self.test.delta)
        return float(round_up(lowest * self.largest))

    def cut(self, prefixes, randomize):
        """Return the cut of largest coverage that keeps the rate on average."""
        # The new sample may lose as much as any can. Products miss whole numbers.
        allowed = max(0.0, round(self.share * (self.n_samples + 1) - 1, 12))
        within = Form({"loss": -1.0}, allowed * self.test.max_loss)
        return best_cut(prefixes, Model((within,)), randomize)

    def find_longest(self, counts, sums, units=ROWS):
        """Return the largest of some counts that is certified, and its p-value.

        P-values never fall with the count, so that halving finds it. The sums of shares
        of the largest loss are read at the counts.
        """
        if self.share >= 1:
            return int(counts[-1]), 0.0
        # The limit itself is meant to pass, without any loss.
        level = self.test.delta * (1 + _ROUNDING)
        test = self.test.bound.failure_test
        p_value = test(sums, self.n_samples, self.share, level, units)
        n_passed = bisect_right(counts, level, key=p_value)
        count = int(counts[n_passed - 1]) if n_passed else 0
        return count, min(p_value(count), 1.0)

    def solve(self, sample, randomize, draws=None, random_state=None):
        """Return the rule of largest coverage that keeps the rate, if not hopeless."""
        if self.test.confidence_level is None:
            losses = sample.units.weigh(sample.losses)
            prefixes = Prefixes.of(sample.scores, near=True, loss=losses)
            cut = self.cut(prefixes, randomize)
            n_units = prefixes.at("weight", cut.n_groups)
            if sample.units is not ROWS:
                units = sample.units.take(np.argsort(sample.scores))
                n_units = units.count(int(n_units))
            certificate = self.certificate(n_units)
            rule = make_rule(prefixes, cut, to_next=True, certificate=certificate)
            return sample.measure(rule)
        options = randomize, draws, check_random_state(random_state), sample.units
        ranked = rank(sample.scores, sample.losses, *options)
        sums = prefix_sums(ranked.units.weigh(ranked.losses / self.test.max_loss))
        found = ranked.accepted_counts, sums, ranked.units
        count, p_value = self.find_longest(*found)
        n_below = count
        if count < len(ranked.scores):
            n_below = np.searchsorted(ranked.scores, ranked.scores[count])
        n_units = ranked.units.count(n_below)
        rule = ranked.make_rule(self.certificate(n_units, p_value), count)
        return sample.measure(rule)

    def warn_of_nothing_accepted(self, rule):
        """Warn where a rule accepts nothing."""
        if rule.coverage == 0:
            warn_user(
                "No calibration sample is accepted, as those of the lowest scores lose "
                f"more than the failure rate {self.target:g} allows. Use a larger "
                "rate, or a score that ranks the errors better.",
                topic="nothing accepted",
            )


def refuse_few(asked):
    """Raise where all samples, or those of some parts, are too few for their rate."""
    few = [each for each in asked if each.hopeless]
    if few:
        least = "and the smallest rate that can be guaranteed is"
        texts = [f"{each.hopeless}, {least} {each.lowest}" for each in few]
        rates = {each.part: each.target for each in asked}
        rates |= {each.part: each.lowest for each in few}
        raise InfeasibleTargetError(
            enumerate_texts(texts, "; "),
            "Use more samples or use a larger rate.",
            by_parameter("target_failure_rate", rates),
        )


@solver
def solve_target_failure_rate(
    scores: ArrayLike,
    losses: ArrayLike,
    target: Target,
    *,
    sample_weight: ArrayLike | None = None,
    inclusion_proba: ArrayLike | None = None,
    max_weight: float | None = None,
    clusters: ArrayLike | None = None,
    randomize: bool = True,
    confidence_level: float | None = None,
    bound: RiskBound = "auto",
    max_loss: float | None = None,
    draws: ArrayLike | None = None,
    random_state: RandomState | None = None,
    groups: ArrayLike | None = None,
    all_groups: ArrayLike | None = None,
) -> RejectionRule | Other:
    """Maximize the coverage under a bound on the failure rate.

    The failure rate is the expected loss of all samples, zero where they are rejected:
    with 0/1 loss the share of all samples that is accepted and wrong. It never falls as
    more is accepted, so that no sample is too small for a bound that holds.

    Without `confidence_level`, the failure rate is at most `target` on average over the
    draw of the calibration samples and of the new sample: conformal risk control. It is
    no statement about the selective risk, the expected loss among what is accepted, nor
    about one rule; with `confidence_level`, the rule is one that keeps the target,
    except with a probability of at most 1 - `confidence_level`. Either way the samples
    must be independent of the classifier and of the score: drawn one by one, and used
    to fit neither. Of out-of-fold predictions that is true but approximately.

    Parameters
    ----------
    scores : array-like of shape (n_samples,)
        Uncertainty scores, higher = more uncertain.

    losses : array-like of shape (n_samples,)
        Non-negative losses.

    target : float > 0, or dict of group to float
        Failure rate that must not be exceeded, in units of the loss. With `groups`, it
        may be a dict with one for each.

    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative weights, such as the density of another population over that of
        the sample: the rate is that of the weighted population. Their mean over the
        population that is drawn from must be one.

    inclusion_proba : float or array-like of shape (n_samples,), default=None
        Chance, in (0, 1], that each row was to be labelled, which depends on nothing
        but what is known before its label. Losses of rows without a label are NaN.

    max_weight : float > 0, default=None
        Largest possible `sample_weight` over `inclusion_proba`, known before the sample
        is drawn. Required beside weights or several probabilities.

    clusters : array-like of shape (n_samples,), default=None
        Cluster of each row, such as a patient. Rows of one may depend on each other,
        and what is promised is about a random row of a random cluster. None takes all
        rows as independent.

    randomize : bool, default=True
        If True, the tie group that would exceed the rate is accepted with the
        probability that the rate leaves or, with `confidence_level`, that the draws
        which break ties lead to. If False, it is rejected.

    confidence_level : float in (0, 1), default=None
        Probability with which the failure rate is to hold for the population. None
        bounds its expectation.

    bound : {"auto", "binomial", "hoeffding_bentkus", "betting"}, default="auto"
        What losses there are and, with `confidence_level`, where p-values come from:
        "binomial" is for losses that are 0 or `max_loss`, the others for all losses
        between. "auto" is the binomial where `max_loss` is None and rows are
        independent and count alike, else betting.

    max_loss : float > 0, default=None
        Largest possible loss, not the largest one in the sample. None means that losses
        are 0 or 1.

    draws : array-like of shape (n_samples,), default=None
        Numbers in [0, 1) that break ties, used with `confidence_level` only. Use
        :func:`keyed_draws` with the keys that the samples will have in production, so
        that a row has the same score and draw at calibration and in production. Samples
        with equal scores and draws get the same decision.

    random_state : int, RandomState instance or None, default=None
        Seed of the draws if `draws` is None, used with `confidence_level` only. Pass an
        int for reproducible rules.

    groups : array-like of shape (n_samples,), default=None
        Group of each sample, such as its predicted class, which must be known before a
        sample is accepted. Each group has its own rule, solved on its samples. With a
        confidence, the targets of all groups hold together with that probability: each
        gets an equal share of the error probability. A group in which no rule meets the
        target is rejected as a whole, with a warning.

    all_groups : array-like of shape (n_groups,), default=None
        All groups, fixed before the sample is drawn. None takes those that occur in
        `groups`. A group without samples is rejected.

    Returns
    -------
    rule : RejectionRule or, with groups, GroupedRule
        The rule, with a certificate of the quantity "failure_rate".

    Warns
    -----
    RejectionWarning
        If the half of the samples with the lowest scores has a larger risk than all,
        by more than chance, or if no sample is accepted.

    Raises
    ------
    InfeasibleTargetError
        If the sample is too small to promise the rate, even if none of it is wrong. It
        says how many samples are needed, and which rate so many can promise. With
        groups, only if that is so in all of them.
    ValueError
        If `target`, `confidence_level`, `bound` or `max_loss` is out of range, if
        losses and `max_loss` or `bound` do not agree, if weights exceed `max_weight`
        or lack it, if a dict of targets lacks a group, or an array is invalid.

    Notes
    -----
    Without `confidence_level`, the rule is the longest prefix whose losses, plus
    `max_loss` for the new sample, are at most `target` times n + 1 in sum.

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
    (0.891, 0.091)
    >>> rule.certificate.quantity, rule.certificate.confidence_level
    ('failure_rate', None)
    >>> solve_target_failure_rate(scores, losses, 0.1, confidence_level=0.9).coverage
    0.85
    """
    rate = check_number(target, "target (the failure rate)")
    if isinstance(clusters, Clusters):
        clusters.refuse_divided("target_failure_rate")
    sampling = sample_weight, inclusion_proba, max_weight, clusters
    sample = Sample.of(scores, losses, *sampling, promise="a failure rate")
    units, options = sample.units, (confidence_level, bound, max_loss)
    test = choose_test(sample.losses, *options, units=units)
    asked = FailureTarget(rate, sample.count_all(), test, max_weight=units.largest)
    refuse_few([asked])
    rule = asked.solve(sample, randomize, draws, random_state)
    asked.warn_of_nothing_accepted(rule)
    return rule


@solver
def solve_failure_bounds(
    scores: ArrayLike,
    losses: ArrayLike,
    bounds: Mapping[str, tuple[ArrayLike, Any]],
    *,
    sample_weight: None = None,
    randomize: bool = True,
    confidence_level: float | None = None,
    bound: RiskBound = "auto",
    max_loss: float | None = None,
    draws: ArrayLike | None = None,
    random_state: RandomState | None = None,
) -> RejectionRule:
    """Maximize the coverage under bounds on the failure rates of parts.

    A part is what a label marks, such as a true class. Its failure rate is the mean
    loss of all its samples, zero where they are rejected: with 0/1 loss the share of
    the part that is accepted and wrong. One rule keeps the targets of all parts, so a
    label need not be known when samples are accepted.

    Each bound is the one of :func:`solve_target_failure_rate` for a new sample of the
    part: it holds on average, however few the calibration samples are, or for this rule
    with `confidence_level`, and then all bounds hold at once with that probability,
    which is not split among them. The samples must be independent of the classifier and
    of the score: those of a part drawn alike, and used to fit neither.

    Parameters
    ----------
    scores : array-like of shape (n_samples,)
        Uncertainty scores, higher = more uncertain.

    losses : array-like of shape (n_samples,)
        Non-negative losses.

    bounds : dict of str to (labels, targets)
        For each name a pair: labels, array-like of shape (n_samples,), and a dict from
        some of the labels to targets, the largest failure rate of the samples of that
        label, in units of the loss. A label without a target has no bound.

    sample_weight : None, default=None
        Refused: the bound is one for samples drawn alike.

    randomize : bool, default=True
        Whether samples may be accepted with a probability, as in
        :func:`solve_target_failure_rate`.

    confidence_level : float in (0, 1), default=None
        Probability with which all bounds are to hold for the population. None bounds
        the expectation of each failure rate.

    bound : {"auto", "binomial", "hoeffding_bentkus", "betting"}, default="auto"
        What losses there are and, with `confidence_level`, where p-values come from:
        "binomial" is for losses that are 0 or `max_loss`, the others for all losses
        between. "auto" is the binomial where `max_loss` is None, else betting.

    max_loss : float > 0, default=None
        Largest possible loss, not the largest one in the sample. None means that losses
        are 0 or 1.

    draws : array-like of shape (n_samples,), default=None
        Numbers in [0, 1) that break ties, used with `confidence_level` only. Use
        :func:`keyed_draws` with the keys that the samples will have in production, so
        that a row has the same score and draw at calibration and in production. Samples
        with equal scores and draws get the same decision.

    random_state : int, RandomState instance or None, default=None
        Seed of the draws if `draws` is None, used with `confidence_level` only. Pass an
        int for reproducible rules.

    Returns
    -------
    rule : RejectionRule
        The rule, with a :class:`RiskBoundsCertificate` of the quantity
        "failure_rate_of_parts".

    Warns
    -----
    RejectionWarning
        If the half of the samples with the lowest scores has a larger risk than all,
        by more than chance, or if nothing is accepted by the rule of some part.

    Raises
    ------
    InfeasibleTargetError
        If a part has too few samples. It says what can be promised of each such part.
    ValueError
        If `bounds`, `confidence_level`, `bound` or `max_loss` is out of range, if
        losses and `max_loss` or `bound` do not agree, if weights are given, or an array
        is invalid.

    See Also
    --------
    solve_risk_bounds : Bounds on the risk of what is accepted of each part.

    Notes
    -----
    Each part has a rule of its own, solved on its samples. The common one accepts what
    all of them accept.

    Examples
    --------
    >>> from sklearn_reject.selection import measure_risk_bounds, solve_failure_bounds
    >>> scores = [k / 400 for k in range(400)]
    >>> losses = [score >= 0.8 for score in scores]
    >>> y = [k % 2 for k in range(400)]
    >>> bounds = {"class": (y, {0: 0.05, 1: 0.1})}
    >>> rule = solve_failure_bounds(scores, losses, bounds)
    >>> round(rule.coverage, 3)
    0.845
    >>> achieved = measure_risk_bounds(rule, scores, losses, bounds)
    >>> round(achieved["class", 0].failure_rate, 3)
    0.045
    >>> solve_failure_bounds(scores, losses, bounds, confidence_level=0.9).coverage
    0.825
    """
    refuse_weights("a failure rate", "use a target_risk", sample_weight=sample_weight)
    scores, losses, _ = check_samples(scores, losses)
    test = choose_test(losses, confidence_level, bound, max_loss)
    parts = check_parts(bounds, len(scores))
    if draws is not None:
        draws = check_draws(draws, len(scores))
    elif confidence_level is not None:
        # The same for all parts, as the smallest of their thresholds is one.
        draws = check_random_state(random_state).random_sample(len(scores))

    asked = [FailureTarget(part.target, len(part.rows), test, part) for part in parts]
    refuse_few(asked)
    rules = {}
    for each in asked:
        if each.share < 1:  # any rule meets another one
            rows = each.part.rows
            of_part = Sample.of(scores[rows], losses[rows])
            rules[each.part] = each.solve(of_part, randomize, take_weight(draws, rows))
    warn_of_absent([part for part, rule in rules.items() if rule.coverage == 0])
    rule, p_values = _strictest(rules.values()), ()
    if confidence_level is not None:
        p_values = [rules[p].certificate.p_value if p in rules else 0.0 for p in parts]
    counts = len(scores), (scores < rule.threshold).sum()
    certificate = certify_parts(asked, "failure_rate_of_parts", counts, p_values)
    return replace(rule, certificate=certificate).measure(scores, losses)


def _strictest(rules):
    """Return the rule that accepts each score with the smallest probability of all."""
    threshold = min((rule.threshold for rule in rules), default=math.inf)
    if threshold == math.inf:
        return RejectionRule(threshold, 1.0)
    chances = [float(rule.accept_proba([threshold])[0]) for rule in rules]
    return RejectionRule(threshold, min(chances))
