"""One threshold under several bounds, each on the risk of a part.

With a confidence, a threshold is rejected unless it passes the test of each bound: a
rule that breaks one of them passes that one with a chance of at most the level, so that
the level need not be split among the bounds.

Let t be the first threshold, from a start on, at which the risk of some part is at its
bound or above. A sequence that tests every sample accepts nothing from t on unless the
first test there passes, and that one sees just the samples below t. Given how many of
each part these are, losses are independent, of a risk at the bound. That the start is
below t follows from such numbers, too. That an interval with a broken bound, ended by
a threshold t' < t, is below the start means at most so many samples below t', where
this part is within its bound: then more of its members are from between, where its risk
is larger, and the test passes more rarely. On a grid of ranks (betting) the first test
beyond t may also see samples from t on.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from sklearn_reject._curves._cut import Form, Model, best_cut
from sklearn_reject._curves._prefixes import (
    RELATIVE_TOLERANCE,
    Prefixes,
    argsort_present,
    snap_sorted,
)
from sklearn_reject._typing import RandomState, RiskBound
from sklearn_reject._validation import check_option, check_samples, take_weight
from sklearn_reject.exceptions import (
    InfeasibleTargetError,
    round_down,
    round_up,
    warn_user,
)
from sklearn_reject.selection._certify import (
    Tested,
    check_bound,
    check_confidence_level,
    choose_test,
    find_last,
    nothing_passes,
    rank,
)
from sklearn_reject.selection._groups import enumerate_texts
from sklearn_reject.selection._parts import (
    certify_parts,
    check_parts,
    risks_by_kind,
    warn_of_absent,
)
from sklearn_reject.selection._rule import RejectionRule, make_rule
from sklearn_reject.selection._solver import solver


@solver
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
    scores, losses, weight = check_samples(scores, losses, sample_weight)
    if confidence_level is None:
        return _solve_on_sample(scores, losses, weight, bounds, randomize)
    check_confidence_level(confidence_level, sample_weight)
    test = choose_test(losses, confidence_level, bound, max_loss)
    random_state = check_random_state(random_state)
    ranked = rank(scores, losses, randomize, draws, random_state)
    parts = check_parts(bounds, len(scores), ranked.order)
    tested = [
        Tested.of(ranked.losses[part.rows], part.target, test, random_state, part)
        for part in parts
    ]
    n_accepted = find_last(ranked.accepted_counts, tested)
    if n_accepted is None:
        raise nothing_passes(ranked.accepted_counts, tested)
    p_values = [each.p_value(n_accepted) for each in tested]
    counts = len(ranked), n_accepted
    certificate = certify_parts(test, "risk_of_parts", parts, counts, p_values)
    return ranked.make_rule(certificate)


def _solve_on_sample(scores, losses, weight, bounds, randomize):
    """Return the rule of largest coverage that meets all bounds on the sample."""
    order = argsort_present(scores, weight)
    parts = check_parts(bounds, len(scores), order)
    scores, losses = snap_sorted(scores[order]), losses[order]
    weight = take_weight(weight, order)
    if weight is not None:
        losses = losses * weight
    prefixes = Prefixes.of_sorted(scores, weight, loss=losses)
    members = {}
    for part in parts:
        rows = part.rows
        of = scores[rows], take_weight(weight, rows)
        members[part] = Prefixes.of_sorted(*of, loss=losses[rows])
    empty = [str(part) for part in parts if not len(part.rows)]
    if empty:
        warn_user(
            f"No sample is a member of {enumerate_texts(empty)}, so any rule meets its "
            "target. The classifier may never predict this class. Otherwise check that "
            "labels and keys of the targets are of the same kind, or add samples."
        )
    forms = [
        Form({"weight": part.target, "loss": -1.0}, of=of)
        for part, of in members.items()
        if len(of)  # else any rule keeps it
    ]
    cut = best_cut(prefixes, Model(tuple(forms)), randomize)
    n_reached = cut.n_groups + bool(cut.share)
    if not n_reached:
        raise _infeasible(prefixes, members)
    last = prefixes.scores[n_reached - 1]
    warn_of_absent([p for p, of in members.items() if (of.scores[:1] > last).any()])
    return make_rule(prefixes, cut, to_next=True)


def _infeasible(prefixes, members):
    """Return the error, with what each bound could be met with alone and together."""
    excess, troubles = 0.0, []
    for part, of in members.items():
        risks = _risks(of, prefixes.scores)
        if risks.min() > part.target * (1 + RELATIVE_TOLERANCE):
            troubles.append(f"{part} is at least {round_up(risks.min())} with any")
        excess = np.maximum(excess, risks - part.target)
    trouble = enumerate_texts(troubles) or "each can be met alone, but not all together"
    last = np.flatnonzero(excess <= excess.min() * (1 + RELATIVE_TOLERANCE))[-1]
    closest = {
        part: max(float(_risks(of, prefixes.scores[last])), part.target)
        for part, of in members.items()
    }
    coverage = prefixes.at("weight", last + 1) / prefixes.total("weight")
    targets = enumerate_texts([f"{part}={part.target:.6g}" for part in members])
    texts = enumerate_texts([f"{part}={round_up(r)}" for part, r in closest.items()])
    return InfeasibleTargetError(
        f"No threshold meets all of the targets {targets} on the tuning sample: "
        f"{trouble}. One with coverage {round_down(coverage)} meets {texts}",
        "Use larger risks, or a score that ranks the errors better.",
        risks_by_kind(closest),
        coverage,
    )


def _risks(of, scores):
    """Return the risk of the members up to each of some scores, 0 without any."""
    risks = np.append(0.0, of.sums("loss")[1:] / of.sums("weight")[1:])
    return risks[np.searchsorted(of.scores, scores, side="right")]
