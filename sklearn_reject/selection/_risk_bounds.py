"""One threshold under several bounds, each on the risk of a part."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from sklearn_reject._curves._groups import (
    RELATIVE_TOLERANCE,
    TieGroups,
    argsort_scores,
    running_sum,
    snap_sorted,
    starts_of_ties,
)
from sklearn_reject._typing import RandomState, RiskBound
from sklearn_reject._validation import check_option, check_samples, of_arrays
from sklearn_reject.exceptions import (
    InfeasibleTargetError,
    round_down,
    round_up,
    warn_user,
)
from sklearn_reject.selection._certify import (
    check_bound,
    check_confidence_level,
    choose_test,
)
from sklearn_reject.selection._certify_parts import certify_risk_bounds
from sklearn_reject.selection._order import tell_order
from sklearn_reject.selection._partition import enumerate_texts
from sklearn_reject.selection._parts import (
    check_parts,
    name_parts,
    name_targets,
    order_parts,
    risks_by_kind,
    warn_of_absent,
)
from sklearn_reject.selection._rule import RejectionRule
from sklearn_reject.selection._solve import make_certified_rule, make_rule_at, rank


@of_arrays
@tell_order
def solve_risk_bounds(
    scores: ArrayLike,
    losses: ArrayLike,
    bounds: Mapping[str, tuple[ArrayLike, Any]],
    *,
    sample_weight: ArrayLike | None = None,
    randomize: bool = True,
    confidence_level: float | None = None,
    bound: RiskBound = "auto",
    max_loss: float | None = None,
    draws: ArrayLike | None = None,
    random_state: RandomState | None = None,
) -> RejectionRule:
    """Maximize the coverage of one threshold under bounds on the risk of parts.

    A part is what a label marks, such as a true or a predicted class: of what is
    accepted, the mean loss of the members of each part is at most its target. With 0/1
    loss, bounds on true classes are bounds on the recall of what is accepted (for two
    classes sensitivity and specificity), and bounds on predicted classes are bounds on
    the precision (positive and negative predictive value). All of them are met by one
    threshold, so a label need not be known when samples are accepted.

    Without `confidence_level`, the bounds hold on the sample, which also chose the
    threshold, so that each is exceeded in use more often than not, and more so the
    smaller its part is. With `confidence_level`, all bounds hold at once for the
    population that the sample was drawn from, except with a probability of at most 1 -
    `confidence_level`, which is not split among the bounds. The sample must then be
    independent of the classifier and of the score: drawn one by one, and used to fit
    neither.

    Parameters
    ----------
    scores : array-like of shape (n_samples,)
        Uncertainty scores, higher = more uncertain.

    losses : array-like of shape (n_samples,)
        Non-negative losses.

    bounds : dict of str to (labels, targets)
        For each name a pair: labels, array-like of shape (n_samples,), and a dict from
        some of the labels to targets, the largest mean loss, in units of the loss, of
        the accepted samples of that label. A label without a target has no bound.

    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative sample weights. Not possible with `confidence_level`.

    randomize : bool, default=True
        If True, the tie group that would exceed a bound is accepted with the largest
        probability that meets all of them or, with `confidence_level`, that the draws
        which break ties lead to. If False, it is rejected.

    confidence_level : float in ]0, 1[, default=None
        Probability with which all bounds are to hold for the population. The parameters
        below are used with it only.

    bound : {"auto", "binomial", "hoeffding_bentkus", "betting"}, default="auto"
        Bound that gives the p-values: "binomial" is exact for losses that are 0 or
        `max_loss`, the others hold for all losses between. "auto" is the binomial if
        `max_loss` is None, otherwise betting.

    max_loss : float > 0, default=None
        Largest possible loss, not the largest one in the sample. None means that losses
        are 0 or 1.

    draws : array-like of shape (n_samples,), default=None
        Numbers in [0, 1[ that break ties, used with `confidence_level` only. Use
        :func:`keyed_draws` with the keys that the samples will have in production, so
        that a row has the same score and draw at calibration and in production. Samples
        with equal scores and draws get the same decision.

    random_state : int, RandomState instance or None, default=None
        Seed of the draws if `draws` is None, and of the order of bets. Pass an int for
        reproducible rules.

    Returns
    -------
    rule : RejectionRule
        The rule of largest coverage among those with one threshold, or among those that
        passed a test. With `confidence_level` it has a :class:`RiskBoundsCertificate`.

    Warns
    -----
    RejectionWarning
        If the half of the samples with the lowest scores has a larger risk than all,
        by more than chance.

    Raises
    ------
    InfeasibleTargetError
        If no threshold that accepts anything meets all bounds or, with
        `confidence_level`, none can be certified. It says what can be met, and which
        bound is the trouble.
    ValueError
        If `bounds`, `confidence_level`, `bound` or `max_loss` is out of range, if
        losses and `max_loss` or `bound` do not agree, if weights are given with
        `confidence_level`, or an array is invalid.

    See Also
    --------
    solve_target_risk : One bound, on the risk of everything that is accepted.

    Notes
    -----
    A part of which nothing is accepted meets its bound on the sample, and has nothing
    certified. With `confidence_level` a threshold has to pass the test of each bound at
    the whole level. Thresholds are tested one after the other, from starts that accept
    a share of the members of every part.

    Examples
    --------
    >>> from sklearn_reject.selection import solve_risk_bounds
    >>> scores = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]
    >>> losses = [0, 0, 0, 1, 0, 1]
    >>> y = [0, 1, 0, 1, 0, 0]
    >>> solve_risk_bounds(scores, losses, {"class": (y, {0: 0.3})}).coverage
    1.0
    >>> bounds = {"class": (y, {0: 0.3, 1: 0.1})}
    >>> solve_risk_bounds(scores, losses, bounds, randomize=False).coverage
    0.5

    >>> scores = [k / 400 for k in range(400)]
    >>> losses = [score >= 0.8 for score in scores]
    >>> y = [k % 2 for k in range(400)]
    >>> bounds = {"class": (y, {0: 0.1, 1: 0.1})}
    >>> round(solve_risk_bounds(scores, losses, bounds).coverage, 3)
    0.887
    >>> solve_risk_bounds(scores, losses, bounds, confidence_level=0.9).coverage
    0.855
    """
    check_option(randomize, "randomize", (True, False))
    check_bound(bound, max_loss)
    if confidence_level is None:
        sample = _group(scores, losses, bounds, sample_weight)
        return _solve_on_sample(sample, randomize)
    confidence_level = check_confidence_level(confidence_level, sample_weight)
    scores, losses, _ = check_samples(scores, losses)
    test = choose_test(losses, confidence_level, bound, max_loss)
    random_state = check_random_state(random_state)
    parts = check_parts(bounds, len(scores))
    ranked = rank(scores, losses, randomize, draws, random_state)
    parts = order_parts(parts, ranked.order)
    certificate = certify_risk_bounds(ranked, parts, test, random_state)
    return make_certified_rule(ranked, certificate, single_is_in=False)


@dataclass(frozen=True, eq=False)
class _PartsOfGroups:
    """Samples grouped by score, and the parts of them that have bounds.

    The parts, weight and losses are by increasing score, `starts` where groups start.
    """

    groups: TieGroups
    parts: list
    starts: np.ndarray
    weight: np.ndarray | None
    losses: np.ndarray

    def sums(self, part):
        """Return weight and loss of the members in the first 1, 2, ... groups."""
        weight = part.members.astype(np.float64)
        if self.weight is not None:
            weight *= self.weight
        loss = weight * self.losses
        if len(self.starts) < len(weight):
            weight = np.add.reduceat(weight, self.starts)
            loss = np.add.reduceat(loss, self.starts)
        return running_sum(weight), running_sum(loss)

    def slack(self, part):
        """Return by how much members of the first 0, 1, ... groups are within a bound.

        Negative where they exceed it by more than rounding.
        """
        weight, loss = self.sums(part)
        allowed = weight * part.target
        slack = np.append(0.0, allowed - loss)
        slack[1:][np.abs(slack[1:]) <= RELATIVE_TOLERANCE * allowed] = 0.0
        return slack

    def closest(self):
        """Return how many groups exceed the bounds least, and the risks of the parts.

        Risks that are within a bound are the bound.
        """
        excess = np.zeros(len(self.groups))
        risks = {}
        for part in self.parts:
            weight, loss = self.sums(part)
            risk = np.zeros(len(excess))
            np.divide(loss, weight, out=risk, where=weight > 0)
            risks[part] = np.maximum(risk, part.target)
            np.maximum(excess, risk - part.target, out=excess)
        least = float(excess.min())
        last = int(np.flatnonzero(excess <= least * (1 + RELATIVE_TOLERANCE))[-1])
        return last + 1, {part: float(risk[last]) for part, risk in risks.items()}


def _group(scores, losses, bounds, sample_weight):
    """Sort and group samples by score, up to rounding, without those of no weight."""
    scores, losses, weight = check_samples(scores, losses, sample_weight)
    parts = check_parts(bounds, len(scores))
    rows = None
    if weight is not None and not weight.all():
        rows = np.flatnonzero(weight)
        scores = scores[rows]
    order, scores = argsort_scores(scores)
    scores = snap_sorted(scores)
    order = order if rows is None else rows[order]
    losses, weight = losses[order], None if weight is None else weight[order]
    starts = np.flatnonzero(starts_of_ties(scores))
    sizes = np.diff(starts, append=len(scores)).astype(np.float64)
    groups = TieGroups(
        scores[starts],
        sizes if weight is None else np.add.reduceat(weight, starts),
        np.add.reduceat(losses if weight is None else losses * weight, starts),
    )
    parts = order_parts(parts, order)
    _warn_of_empty_parts(parts)
    return _PartsOfGroups(groups, parts, starts, weight, losses)


def _warn_of_empty_parts(parts):
    empty = [part for part in parts if not part.members.any()]
    if empty:
        warn_user(
            f"No sample is a member of {name_parts(empty)}, so any rule meets its "
            "target. The classifier may never predict this class. Otherwise check that "
            "labels and the keys of the targets are of the same kind, or add samples."
        )


def _solve_on_sample(sample, randomize):
    """Return the rule of largest coverage that meets all bounds on the sample.

    Of the shares of a group beside those below it, each bound allows an interval. So a
    group may be accepted in part although neither end is possible: where one bound is
    broken below and another one above.
    """
    n_groups = len(sample.groups)
    low, high = np.zeros(n_groups), np.ones(n_groups)
    is_within = np.ones(n_groups, dtype=bool)
    for part in sample.parts:
        slack = sample.slack(part)
        is_out = slack < 0
        is_within &= ~is_out[1:]
        rises = np.flatnonzero(is_out[:-1] & ~is_out[1:])
        falls = np.flatnonzero(~is_out[:-1] & is_out[1:])
        low[rises] = np.maximum(low[rises], _crossing(slack, rises))
        high[falls] = np.minimum(high[falls], _crossing(slack, falls))
        high[is_out[:-1] & is_out[1:]] = -1.0
    is_met = is_within
    if randomize:
        is_met = (low <= high * (1 + RELATIVE_TOLERANCE)) & (high > 0)
    if not is_met.any():
        raise _infeasible(sample)
    last = int(np.flatnonzero(is_met)[-1])
    _warn_of_nothing_accepted(sample, last)
    if is_within[last]:
        return make_rule_at(sample.groups, last + 1, 0.0)
    return make_rule_at(sample.groups, last, float(high[last]))


def _warn_of_nothing_accepted(sample, last):
    """Warn of parts with members, none of them in the groups up to the last."""
    end = np.append(sample.starts, len(sample.losses))[last + 1]
    absent = [
        part
        for part in sample.parts
        if part.members.any() and np.argmax(part.members) >= end
    ]
    warn_of_absent(absent)


def _crossing(slack, groups):
    """Return the share of each group at which the slack is zero."""
    return slack[groups] / (slack[groups] - slack[groups + 1])


def _infeasible(sample):
    """Return the error, with what each bound could be met with alone and together."""
    troubles = []
    for part in sample.parts:
        weight, loss = sample.sums(part)
        has_members = weight > 0
        if (sample.slack(part)[1:] < 0).all():
            lowest = float((loss[has_members] / weight[has_members]).min())
            troubles.append(f"{part} is at least {round_up(lowest)} with any")
    trouble = enumerate_texts(troubles) or "each can be met alone, but not all together"
    n_groups, risks = sample.closest()
    coverage = sample.groups.prefix(n_groups)[0] / float(sample.groups.total_weight)
    closest = [f"{part}={round_up(risk)}" for part, risk in risks.items()]
    return InfeasibleTargetError(
        f"No threshold meets all of the targets {name_targets(sample.parts)} on the "
        f"tuning sample: {trouble}. One with coverage {round_down(coverage)} meets "
        f"{enumerate_texts(closest)}",
        "Use larger risks, or a score that ranks the errors better.",
        risks_by_kind(sample.parts, risks),
        coverage,
    )
