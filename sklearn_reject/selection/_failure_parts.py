"""One rule under several bounds, each on the failures of a part, such as a class.

What is accepted must not depend on the part, which is unknown in use. So each part gets
a rule of its own, and a sample is accepted with the smallest of their probabilities: no
part then loses more than under its own rule, whose bound holds given how many samples
are of the part.

With confidence all bounds hold at once, without a share of the chance of an error for
each. Let t_y be the largest threshold that keeps the bound of part y, and z the part
with the smallest one. If the smallest of the thresholds found breaks any bound, it is
above t_z, and so is the one found for z. That alone has a chance of delta.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from sklearn_reject._typing import RandomState, RiskBound
from sklearn_reject._validation import check_samples
from sklearn_reject.exceptions import InfeasibleTargetError, round_up
from sklearn_reject.selection._failure_rate import (
    FailureTarget,
    check_failure_options,
)
from sklearn_reject.selection._groups import enumerate_texts
from sklearn_reject.selection._parts import (
    certify_parts,
    check_parts,
    risks_by_kind,
    warn_of_absent,
)
from sklearn_reject.selection._rule import RejectionRule, check_draws
from sklearn_reject.selection._solver import solver


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

    confidence_level : float in ]0, 1[, default=None
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
        Numbers in [0, 1[ that break ties, used with `confidence_level` only. Use
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
    check_failure_options(randomize, bound, sample_weight)
    scores, losses, _ = check_samples(scores, losses)
    of_all = FailureTarget.of(0.0, losses, confidence_level, bound, max_loss)
    parts = check_parts(bounds, len(scores))
    if draws is not None:
        draws = check_draws(draws, len(scores))
    elif confidence_level is not None:
        # The same for all parts, as the smallest of their thresholds is one.
        draws = check_random_state(random_state).random_sample(len(scores))

    asked = {}
    for part in parts:
        n_members = int(np.count_nonzero(part.members))
        asked[part] = replace(of_all, rate=part.target, n_samples=n_members)
        asked[part].refuse_least(f"target of {part}")
    # Any rule meets the other ones.
    bounded = {part: each for part, each in asked.items() if each.share < 1}
    _refuse_small_parts(bounded, parts)
    rules = {}
    for part, each in bounded.items():
        of_part = None if draws is None else draws[part.members]
        samples = scores[part.members], losses[part.members]
        rules[part] = each.solve(*samples, randomize, of_part)
    warn_of_absent([part for part, rule in rules.items() if rule.coverage == 0])
    rule = _strictest(rules.values())
    p_values = None
    if confidence_level is not None:
        p_values = {part: each.certificate.p_value for part, each in rules.items()}
    certificate = certify_parts(
        parts,
        p_values,
        quantity="failure_rate_of_parts",
        confidence_level=confidence_level,
        bound=of_all.bound_name,
        n_samples=len(scores),
        n_accepted=int(np.count_nonzero(scores < rule.threshold)),
    )
    return replace(rule, certificate=certificate).measure(scores, losses)


def _refuse_small_parts(bounded, parts):
    """Raise where parts have too few samples for their bound."""
    hopeless = {part: each for part, each in bounded.items() if each.is_hopeless}
    if not hopeless:
        return
    lowest = {
        part: float(round_up(each.lowest * each.max_loss))
        for part, each in hopeless.items()
    }
    texts = [
        f"{part} has {each.n_samples} of the {each.fewest} samples that guarantee "
        f"{each.promise} if none of them is wrong"
        for part, each in hopeless.items()
    ]
    shown = enumerate_texts([f"{part} {x:g}" for part, x in lowest.items()])
    raise InfeasibleTargetError(
        f"{len(hopeless)} of {len(parts)} parts have too few samples for their bound. "
        f"{enumerate_texts(texts, '; ')}. The best that can be guaranteed is {shown}",
        "Use more samples of them, larger rates, or omit these bounds.",
        risks_by_kind(parts, lowest),
    )


def _strictest(rules):
    """Return the rule that accepts each score with the smallest probability of all."""
    threshold = min((rule.threshold for rule in rules), default=math.inf)
    if threshold == math.inf:
        return RejectionRule(threshold, 1.0)
    chances = [float(rule.accept_proba([threshold])[0]) for rule in rules]
    return RejectionRule(threshold, min(chances))
