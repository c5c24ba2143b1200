"""A rule for scores and results that were logged, without any estimator."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from hashlib import sha256

import numpy as np
from numpy.typing import ArrayLike

import sklearn_reject
from sklearn_reject._typing import RandomState, Target
from sklearn_reject._validation import (
    check_number,
    check_sample_weight,
    of_arrays,
)
from sklearn_reject.exceptions import warn_user
from sklearn_reject.selection._calibrated_rule import (
    DIRECTIONS,
    KINDS,
    CalibratedRule,
    one_of,
    read_losses,
    read_scores,
    refuse_misaligned,
)
from sklearn_reject.selection._groups import GroupedRule, as_labels, targets_by_group
from sklearn_reject.selection._solver import order_told, warn_of_backward_scores


@of_arrays
def calibrate(
    *,
    confidence: ArrayLike | None = None,
    uncertainty: ArrayLike | None = None,
    correct: ArrayLike | None = None,
    losses: ArrayLike | None = None,
    target_risk: Target | None = None,
    target_failure_rate: Target | None = None,
    target_coverage: Target | None = None,
    reject_cost: Target | None = None,
    confidence_level: float | None = None,
    max_loss: float | None = None,
    inclusion_proba: ArrayLike | None = None,
    max_weight: float | None = None,
    clusters: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    all_groups: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    random_state: RandomState | None = 0,
) -> CalibratedRule:
    """Find a threshold on logged scores that meets a target.

    Takes the confidences or uncertainties of a model, a judge or a router, and whether
    each answer was right. Tied scores are accepted or rejected together, so that the
    rule is a comparison with a number.

    Parameters
    ----------
    confidence, uncertainty : array-like of shape (n_samples,), default=None
        Score of each answer, in any units: `confidence` where higher means more
        certain, `uncertainty` where higher means less. One of them.

    correct, losses : array-like of shape (n_samples,), default=None
        Whether each answer was right (booleans, or 1 and 0), or its non-negative loss.
        One of them.

    target_risk : float or dict of group to float, default=None
        Largest mean loss of accepted answers; with `correct`, their error rate. One of
        this and the next three must be given.

    target_failure_rate : float or dict of group to float, default=None
        Largest share of all answers that are accepted and wrong.

    target_coverage : float or dict of group to float, default=None
        Smallest share of answers to accept.

    reject_cost : float or dict of group to float, default=None
        Price of rejecting an answer, in units of the loss.

    confidence_level : float in (0, 1), default=None
        Probability with which the target holds for new samples that are drawn like
        these. The samples must not have been used to train the model or the score.

    max_loss : float, default=None
        Largest possible loss, which a promise about `losses` needs.

    inclusion_proba : float or array-like of shape (n_samples,), default=None
        Chance, in (0, 1], of each answer to be checked, known before it was; `correct`
        or `losses` are missing where it was not. This and the next two are for a
        `target_risk` or a `target_failure_rate`.

    max_weight : float > 0, default=None
        Largest possible `sample_weight` over `inclusion_proba`, known beforehand. With
        a `confidence_level`, required beside weights or several probabilities.

    clusters : array-like of shape (n_samples,), default=None
        Cluster of each answer, such as its user. Answers of one may depend on each
        other; what is promised is about a random answer of a random cluster.

    groups : array-like of shape (n_samples,), default=None
        Group of each sample, known before it is accepted. Each has a threshold of its
        own, and with a `confidence_level` their targets hold together.

    all_groups : array-like of shape (n_groups,), default=None
        All groups. None takes those that occur.

    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative sample weights: the target is for the weighted population.

    random_state : int, RandomState instance or None, default=0
        Seed of the order in which losses between zero and `max_loss` are tested with a
        `confidence_level`.

    Returns
    -------
    rule : CalibratedRule
        With methods `accept`, `report`, `monitor` and `to_dict`.

    Warns
    -----
    RejectionWarning
        If the score ranks the errors backwards, or a group is rejected as a whole.

    Raises
    ------
    InfeasibleTargetError
        If no threshold meets the target. It says what can be met.
    ValueError
        If there is not one score, one result and one target, or one is invalid.

    See Also
    --------
    SelectiveClassifier : The same for an estimator, with samples held out for it.
    sklearn_reject.selection.solve_target_risk : Its solver, with random ties.
    sklearn_reject.selection.solve_deferral : Whom to ask instead, at a price.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_reject import calibrate
    >>> rng = np.random.default_rng(0)
    >>> confidence = rng.random(2000).round(3)
    >>> correct = rng.random(2000) < 0.7 + 0.3 * confidence
    >>> asked = {"target_risk": 0.1, "confidence_level": 0.9}
    >>> rule = calibrate(confidence=confidence, correct=correct, **asked)
    >>> print(rule)
    accept where confidence > 0.392
    >>> rule.accept(confidence=[0.2, 0.5])
    array([False,  True])
    """
    refuse_misaligned(
        confidence=confidence,
        uncertainty=uncertainty,
        correct=correct,
        losses=losses,
        groups=groups,
        sample_weight=sample_weight,
        clusters=clusters,
        inclusion_proba=inclusion_proba,
    )
    score, values = read_scores(confidence, uncertainty)
    given = len(values), max_loss, inclusion_proba
    result, losses = read_losses(correct, losses, *given)
    weight = check_sample_weight(sample_weight, len(values))
    asked = {"target_risk": target_risk, "target_failure_rate": target_failure_rate}
    asked |= {"target_coverage": target_coverage, "reject_cost": reject_cost}
    parameter, target = one_of(asked)
    largest = max_loss
    if max_loss is None and np.isin(losses[~np.isnan(losses)], (0.0, 1.0)).all():
        largest = 1.0
    _check_target(parameter, target, groups, largest)
    scores = -values if score == "confidence" else values
    meaning, other = DIRECTIONS[score]
    warn_of_backward_scores(
        scores,
        losses,
        weight,
        groups,
        clusters,
        way_out=f"Higher must mean more {meaning}. Pass it as {other}, or use another",
        what=score,
    )
    kind = KINDS[parameter]
    options = {"max_loss": max_loss, "random_state": random_state, "randomize": False}
    sampling = {"inclusion_proba": inclusion_proba, "clusters": clusters}
    options |= {"max_weight": max_weight, **sampling}
    for name in sampling:
        if name not in kind.takes and sampling[name] is not None:
            raise ValueError(f"{name} is not for {parameter}. Ask for a target_risk.")
    options = {name: options[name] for name in kind.takes}
    if confidence_level is not None:
        if not kind.takes:
            raise ValueError(
                f"confidence_level={confidence_level!r} cannot be combined with a "
                "reject_cost, which promises nothing. Ask for a target_risk."
            )
        options["confidence_level"] = confidence_level
    given = {"groups": groups, "all_groups": all_groups, "sample_weight": weight}
    with order_told():
        rule = kind.solve(scores, losses, target, **given, **options)
    labels = rule.rules if isinstance(rule, GroupedRule) else ["all"]
    targets = targets_by_group(target, labels, parameter)
    return CalibratedRule(
        rule,
        score,
        result,
        parameter,
        {label: float(value) for label, value in targets.items()},
        confidence_level,
        max_loss,
        len(values),
        _hash(values, losses, weight, groups),
        datetime.now(UTC).isoformat(timespec="seconds"),
        sklearn_reject.__version__,
    )


def _check_target(name, target, groups, largest):
    """Raise for a target out of range, and warn of one that no loss exceeds."""
    limits = {"high": 1.0 if name == "target_coverage" else np.inf}
    limits["open_low"] = name in ("target_coverage", "target_failure_rate")
    if not isinstance(target, Mapping):
        values = [check_number(target, name, **limits)]
    elif groups is None:
        raise ValueError(f"{name}={target!r} is by group. Pass groups=, too.")
    else:
        names = {k: f"{name} of the group {k!r}" for k in target}
        values = [check_number(target[k], names[k], **limits) for k in target]
    if name == "target_coverage" or largest is None or not values:
        return
    # One of several groups may have the largest loss as a target, which is none.
    if max(values) > largest or min(values) == largest:
        warn_user(
            f"{name}={target!r} is not below the largest loss, {largest:g}, so that "
            "everything is accepted. Write 5% as 0.05."
        )


def _hash(scores, losses, sample_weight, groups):
    digest = sha256()
    for values in (scores, losses, sample_weight):
        if values is not None:
            digest.update(np.asarray(values, dtype="<f8").tobytes())
    if groups is not None:
        digest.update(repr(as_labels(groups, "groups")).encode())
    return digest.hexdigest()
