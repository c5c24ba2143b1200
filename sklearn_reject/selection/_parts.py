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
from dataclasses import dataclass
from typing import Any, NamedTuple

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
from sklearn_reject._labels import equals
from sklearn_reject._typing import RandomState, RiskBound
from sklearn_reject._validation import (
    check_number,
    check_same_length,
    check_samples,
    of_arrays,
    refuse_missing_labels,
    take_weight,
)
from sklearn_reject.exceptions import InfeasibleTargetError, round_down, warn_user
from sklearn_reject.selection._certify import (
    Tested,
    by_parameter,
    certify_all,
    choose_test,
    list_risks,
    rank_to_test,
)
from sklearn_reject.selection._groups import as_plain, enumerate_texts
from sklearn_reject.selection._rule import Certificate, RejectionRule, make_rule
from sklearn_reject.selection._sample import Sample
from sklearn_reject.selection._solver import solver


@dataclass(frozen=True)
class RiskBoundsCertificate(Certificate):
    """Bounds on several parts that hold together with high probability, or on average.

    The probability is over the draw of the calibration sample, which must be
    independent of the classifier and of the score, and of the noise that breaks ties.
    Every bound holds at once with the `confidence_level`; without one, which bounds on
    failures have only, each of them holds on average.

    Attributes
    ----------
    quantity : str
        "risk_of_parts" for the risk of what is accepted of each part, or
        "failure_rate_of_parts" for the mean loss of all its samples, zero where they
        are rejected. Nothing is said of samples in none of the parts.

    target : float
        The largest of the `targets`, which no part exceeds.

    confidence_level : float or None
        Least probability, in (0, 1), that all bounds hold. None for failure rates that
        are bounded in expectation, over calibration samples and new sample together.

    bound : str
        Where the p-values come from: "binomial", "hoeffding_bentkus" or "betting";
        "conformal" without confidence.

    n_samples : int
        Number of calibration samples.

    n_accepted : int
        Number of calibration samples, by increasing score and noise, that the test
        accepted. The rule accepts these and, of ties without noise, maybe more. Of
        failure rates, those below the threshold.

    p_value : float or None
        The largest of the `p_values`. None without confidence.

    parts : tuple of str
        Name and label of each part.

    targets : tuple of float
        The certified bound of each part.

    p_values : tuple of float
        Chance, at most, of a calibration sample as favourable to each part as this one
        at a rule that breaks its bound, for this rule on its own; for failure rates,
        for the rule that the part would have alone. Empty without confidence.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_reject.selection import solve_risk_bounds
    >>> scores = np.arange(200)
    >>> bounds = {"class": (scores % 2, {0: 0.1, 1: 0.2})}
    >>> rule = solve_risk_bounds(scores, scores >= 160, bounds, confidence_level=0.9)
    >>> rule.certificate.parts, rule.certificate.targets
    (('class[0]', 'class[1]'), (0.1, 0.2))
    """

    parts: tuple
    targets: tuple
    p_values: tuple


class BoundedRisk(NamedTuple):
    """What a rule achieves on a part of a sample, beside the bound asked for.

    Attributes
    ----------
    target : float
        The bound, on the risk or on the failure rate.

    risk : float
        Mean loss of the members that are accepted, lower is better; NaN where none is.
        With 0/1 loss it is 1 minus the recall where a true class is the part, and 1
        minus the precision where a predicted one is.

    coverage : float
        Share of the members that are accepted; NaN where there is no member.

    n_samples : int
        Number of members.

    Examples
    --------
    >>> from sklearn_reject.selection import RejectionRule, measure_risk_bounds
    >>> scores, losses, y = [0.1, 0.2, 0.3, 0.4], [0, 1, 0, 1], [1, 1, 0, 1]
    >>> bounds = {"class": (y, {1: 0.5})}
    >>> rule = RejectionRule(threshold=0.3, proba_at_threshold=1.0)
    >>> measure_risk_bounds(rule, scores, losses, bounds)["class", 1]
    BoundedRisk(target=0.5, risk=0.5, coverage=0.666..., n_samples=3)
    """

    target: float
    risk: float
    coverage: float
    n_samples: int

    @property
    def failure_rate(self) -> float:
        """Mean loss of all members, zero where rejected; NaN where there is none."""
        return self.coverage * self.risk if self.coverage else 0.0


@dataclass(frozen=True, eq=False)
class Part:
    """The samples of one label, and a bound on them."""

    kind: object
    label: object
    target: float
    rows: np.ndarray

    def __str__(self):
        return f"{self.kind}[{as_plain(self.label)!r}]"


_FORM_OF_BOUNDS = (
    "bounds must be a dict of name to a pair of labels and a dict of label to target, "
    "such as {'class': (y_true, {1: 0.1})}"
)


def check_parts(bounds, n_samples, order=slice(None), weight=None):
    """Return the parts that bounds are about: parts of one kind are disjoint.

    Their rows are those of the samples in some order. One of no weight needs no label.
    """
    if not isinstance(bounds, dict) or not bounds:
        raise ValueError(f"{_FORM_OF_BOUNDS}, got {bounds!r}.")
    parts = []
    for kind, pair in bounds.items():
        is_pair = isinstance(pair, (tuple, list)) and len(pair) == 2
        if not is_pair or not isinstance(pair[1], dict) or not pair[1]:
            raise ValueError(f"{_FORM_OF_BOUNDS}, got another value for {kind!r}.")
        labels, name = np.asarray(pair[0]), f"labels of bounds[{kind!r}]"
        if labels.ndim != 1:
            raise ValueError(
                f"{name} must be a vector of one per sample, got shape {labels.shape}."
            )
        check_same_length(n_samples, **{name: labels})
        refuse_missing_labels(labels if weight is None else labels[weight > 0], name)
        for label, target in pair[1].items():
            target = check_number(target, f"target of {kind}[{label!r}]")
            rows = np.flatnonzero(equals(labels[order], label))
            parts.append(Part(kind, label, target, rows))
    return parts


def warn_of_absent(parts):
    """Warn of parts that have a bound, and of which nothing is accepted."""
    if parts:
        warn_user(
            f"No sample of {enumerate_texts(list(map(str, parts)))} is accepted, so "
            "its target is met trivially. Use larger risks, or a better score."
        )


def certify_parts(asked, quantity, counts, p_values=()):
    """Return what holds of all parts; `counts` are those of samples and accepted."""
    names, targets = zip(
        *((str(each.part), each.target) for each in asked), strict=True
    )
    largest = max(p_values, default=None)
    certificate = asked[0].test.certificate(quantity, max(targets), *counts, largest)
    of_parts = names, targets, tuple(p_values)
    return RiskBoundsCertificate(*vars(certificate).values(), *of_parts)


@solver
def solve_risk_bounds(
    scores: ArrayLike,
    losses: ArrayLike,
    bounds: Mapping[str, tuple[ArrayLike, Any]],
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
        If True, the tie group that would exceed a bound is accepted with the largest
        probability that meets all of them or, with `confidence_level`, that the draws
        which break ties lead to. If False, it is rejected.

    confidence_level : float in (0, 1), default=None
        Probability with which all bounds are to hold for the population. The parameters
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
        `confidence_level`, none can be certified. It says what can be met, with each
        target raised by the same, and which bound is the trouble.
    ValueError
        If `bounds`, `confidence_level`, `bound` or `max_loss` is out of range, if
        losses and `max_loss` or `bound` do not agree, if weights exceed `max_weight`
        or lack it, or an array is invalid.

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
    promise = "" if confidence_level is None else "confidence_level"
    sampling = sample_weight, inclusion_proba, max_weight, clusters
    sample = Sample.of(scores, losses, *sampling, promise=promise)
    if confidence_level is None:
        return sample.measure(_solve_on_sample(sample, bounds, randomize))
    options = {"units": sample.units}
    test = choose_test(sample.losses, confidence_level, bound, max_loss, **options)
    random_state = check_random_state(random_state)
    ranked = rank_to_test(sample, randomize, draws, random_state)
    parts = check_parts(bounds, len(ranked.order), ranked.order, sample.weight)
    tested = [
        Tested.of(ranked, part.target, test, random_state, part) for part in parts
    ]
    n_accepted, p_values = certify_all(ranked.accepted_counts, tested)
    counts = len(ranked.order), n_accepted
    certificate = certify_parts(tested, "risk_of_parts", counts, p_values)
    return sample.measure(ranked.make_rule(certificate))


def _solve_on_sample(sample, bounds, randomize):
    """Return the rule of largest coverage that meets all bounds on the sample."""
    order = argsort_present(sample.scores, sample.weight)
    parts = check_parts(bounds, len(sample.scores), order, sample.weight)
    scores, losses = snap_sorted(sample.scores[order]), sample.losses[order]
    weight = take_weight(sample.weight, order)
    if weight is not None:
        losses = losses * weight
    prefixes = Prefixes.of_sorted(scores, weight, loss=losses)
    empty = [str(part) for part in parts if not len(part.rows)]
    if empty:
        warn_user(
            f"No sample is a member of {enumerate_texts(empty)}, so any rule meets its "
            "target. Check that labels and keys of the targets are of the same kind. "
            "The classifier may never predict this class."
        )
    members, forms = {}, []
    for part in parts:
        of = scores[part.rows], take_weight(weight, part.rows)
        members[part] = of = Prefixes.of_sorted(*of, loss=losses[part.rows])
        forms.append(Form({"weight": part.target, "loss": -1.0}, of=of))
    cut = best_cut(prefixes, Model(tuple(forms)), randomize)
    n_reached = cut.n_groups + bool(cut.share)
    if not n_reached:
        raise _infeasible(prefixes, members)
    last = prefixes.scores[n_reached - 1]
    warn_of_absent([p for p, of in members.items() if (of.scores[:1] > last).any()])
    return make_rule(prefixes, cut, to_next=True)


def _infeasible(prefixes, members):
    """Return the error, with the bounds that could be met together."""
    excess = 0.0
    for part, of in members.items():
        excess = np.maximum(excess, _risks(of, prefixes.scores) - part.target)
    last = np.flatnonzero(excess <= excess.min() * (1 + RELATIVE_TOLERANCE))[-1]
    together = {
        part: max(float(_risks(of, prefixes.scores[last])), part.target)
        for part, of in members.items()
    }
    coverage = prefixes.at("weight", last + 1) / prefixes.total("weight")
    targets = list_risks({part: part.target for part in members})
    return InfeasibleTargetError(
        f"No threshold meets all of {targets} on the calibration set. Together, "
        f"{list_risks(together)} can be met, at coverage {round_down(coverage)}",
        "Use larger risks, or a score that ranks the errors better.",
        by_parameter("target_risk", together),
        coverage,
    )


def _risks(of, scores):
    """Return the risk of the members up to each of some scores, 0 without any."""
    risks = np.append(0.0, of.sums("loss")[1:] / of.sums("weight")[1:])
    return risks[np.searchsorted(of.scores, scores, side="right")]


@of_arrays
def measure_risk_bounds(rule, scores, losses, bounds, *, sample_weight=None):
    """Return what a rule achieves on each part of a sample that has a bound.

    Parameters
    ----------
    rule : RejectionRule
        The rule.

    scores : array-like of shape (n_samples,)
        Uncertainty scores, higher = more uncertain.

    losses : array-like of shape (n_samples,)
        Non-negative losses.

    bounds : dict of str to (labels, targets)
        As in :func:`solve_risk_bounds` and :func:`solve_failure_bounds`.

    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative sample weights.

    Returns
    -------
    achieved : dict of (str, label) to BoundedRisk
        For each bound, target, expected risk, coverage and failure rate, and number of
        members.

    Raises
    ------
    ValueError
        If an array or a bound is invalid.

    Examples
    --------
    >>> from sklearn_reject.selection import RejectionRule, measure_risk_bounds
    >>> scores, losses, y = [0.1, 0.2, 0.3, 0.4], [0, 1, 0, 1], [1, 1, 0, 1]
    >>> bounds = {"class": (y, {1: 0.5, 0: 0.1})}
    >>> rule = RejectionRule(threshold=0.3, proba_at_threshold=1.0)
    >>> achieved = measure_risk_bounds(rule, scores, losses, bounds)
    >>> achieved["class", 0].risk, achieved["class", 0].coverage
    (0.0, 1.0)
    """
    scores, losses, weight = check_samples(scores, losses, sample_weight)
    weight = np.ones(len(scores)) if weight is None else weight
    accepted = rule.accept_proba(scores) * weight
    achieved = {}
    for part in check_parts(bounds, len(scores)):
        rows = part.rows[weight[part.rows] > 0]
        covered, total = float(accepted[rows].sum()), float(weight[rows].sum())
        risk = float(accepted[rows] @ losses[rows]) / covered if covered else np.nan
        found = part.target, risk, covered / total if total else np.nan, len(rows)
        achieved[part.kind, part.label] = BoundedRisk(*found)
    return achieved
