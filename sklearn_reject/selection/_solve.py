"""The three rejection models solved on a sample (FPV23, section 2)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from sklearn_reject._curves._cut import (
    best_cut,
    cheapest,
    reaching_coverage,
    within_risk,
)
from sklearn_reject._curves._prefixes import RELATIVE_TOLERANCE, join_ties
from sklearn_reject._typing import Other, RandomState, RiskBound, Target
from sklearn_reject._validation import check_number, check_option, check_samples
from sklearn_reject.exceptions import InfeasibleTargetError, round_down, round_up
from sklearn_reject.selection._certify import (
    Tested,
    certify,
    certify_coverage,
    check_bound,
    check_confidence_level,
    choose_test,
    rank,
    rank_to_test,
)
from sklearn_reject.selection._rule import RejectionRule, make_rule
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
        Non-negative sample weights. Not possible with `confidence_level`.

    randomize : bool, default=True
        If True, the tie group that would exceed the risk is accepted with the
        probability that meets it exactly or, with `confidence_level`, that the draws
        which break ties lead to. If False, it is rejected.

    confidence_level : float in (0, 1), default=None
        Probability with which the risk is to hold for the population. The parameters
        below are used with it only.

    bound : {"auto", "binomial", "hoeffding_bentkus", "betting"}, default="auto"
        Bound that gives the p-values: "binomial" is exact for losses that are 0 or
        `max_loss`, the others hold for all losses between. "auto" is the binomial if
        `max_loss` is None, otherwise betting.

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
        losses and `max_loss` or `bound` do not agree, if weights are given
        with `confidence_level`, if a dict of targets lacks a group, or an array is
        invalid.

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
    check_option(randomize, "randomize", (True, False))
    check_bound(bound, max_loss)
    if confidence_level is None:
        prefixes = join_ties(scores, losses, sample_weight, near=True)
        return make_rule(prefixes, cut_at_risk(prefixes, risk, randomize), to_next=True)
    confidence_level = check_confidence_level(confidence_level, sample_weight)
    scores, losses, _ = check_samples(scores, losses)
    test = choose_test(losses, confidence_level, bound, max_loss)
    random_state = check_random_state(random_state)
    tested, ranked = rank_to_test(scores, losses, randomize, draws, random_state)
    everything = Tested.of(tested.losses, risk, test, random_state)
    counts, ends = tested.accepted_counts, ranked.accepted_counts
    return ranked.make_rule(certify(counts, everything, ends))


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
    check_option(randomize, "randomize", (True, False))
    if confidence_level is None:
        prefixes = join_ties(scores, losses, sample_weight, near=True)
        model = reaching_coverage(coverage, prefixes.total("weight"))
        return make_rule(prefixes, best_cut(prefixes, model, randomize))
    confidence_level = check_confidence_level(confidence_level, sample_weight)
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
        f"No threshold attains the target risk {risk} on the tuning sample: the "
        f"lowest selective risk is {round_up(lowest)}, at coverage "
        f"{round_down(coverage)}",
        "Use at least this risk, or a score that ranks the errors better.",
        {"target_risk": lowest},
        coverage,
    )
