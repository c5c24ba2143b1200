"""The calibration set of selective estimators, and what it says of scores and rules."""

import math
from dataclasses import dataclass

import numpy as np

from sklearn_reject._curves._prefixes import RELATIVE_TOLERANCE
from sklearn_reject._estimators._groups import Groups
from sklearn_reject._response._keys import row_keys
from sklearn_reject._sklearn import take_rows
from sklearn_reject._validation import take_weight
from sklearn_reject.exceptions import InfeasibleTargetError, warn_user
from sklearn_reject.selection import (
    WAY_OUT,
    Clusters,
    is_riskier,
    keyed_draws,
    warn_of_backward_scores,
)


@dataclass(frozen=True, eq=False)
class Calibration:
    """What a rule is solved on: predictions of samples that were not fitted on.

    Attributes
    ----------
    scores : ndarray of shape (n_calibration,)
        Uncertainty of each, higher = more uncertain.

    losses : ndarray of shape (n_calibration,)
        Loss of each.

    rows : ndarray of shape (n_calibration,)
        Which of the samples given to `fit` they are.

    sample_weight : ndarray of shape (n_calibration,) or None
        Their weights.

    draws : ndarray of shape (n_calibration,) or None
        Draws in [0, 1) that break ties for a certificate. None where nothing can be
        certified: samples were fitted on, or held out class by class.

    labels, predictions : ndarray of shape (n_calibration,) or None
        True and predicted class of each. None for regressors.

    groups : ndarray of shape (n_calibration,) or None
        Group of each, None without `group_by`.

    grouping : Groups or None
        The groups of all samples given to `fit`.

    clusters : Clusters or None
        Numbers of their clusters, and sizes of these in all of `fit`. None without
        `groups` in `fit`.
    """

    scores: np.ndarray
    losses: np.ndarray
    rows: np.ndarray
    sample_weight: np.ndarray | None = None
    draws: np.ndarray | None = None
    labels: np.ndarray | None = None
    predictions: np.ndarray | None = None
    groups: np.ndarray | None = None
    grouping: Groups | None = None
    clusters: Clusters | None = None

    @property
    def samples(self):
        """What every solver takes."""
        names = "scores", "losses", "sample_weight"
        return {name: getattr(self, name) for name in names}

    def take(self, rows):
        """Return what solves a rule, of some of the samples."""
        names = "scores", "losses", "rows", "sample_weight", "draws", "clusters"
        return Calibration(
            **{name: take_weight(getattr(self, name), rows) for name in names}
        )


def calibration_of(evaluated, samples, seed, labels, groups):
    """Return what was evaluated out of sample as a :class:`Calibration`, or None.

    `labels` are the classes of all samples given to `fit`, None for a regressor.
    """
    if evaluated.scores is None:
        return None
    rows = np.arange(len(samples.y))[evaluated.rows]
    calibration = Calibration(
        evaluated.scores,
        evaluated.losses,
        rows,
        take_weight(samples.sample_weight, rows),
        draws_of(evaluated, samples, seed),
        take_weight(labels, rows),
        None if labels is None else evaluated.labels,
        grouping=groups,
        clusters=take_weight(samples.clusters, rows),
    )
    return calibration if groups is None else groups.add_to(calibration)


def draws_of(evaluated, samples, seed):
    """Return the draws that the fitted estimator will make for the rows held out.

    None where nothing can be certified.
    """
    plan = evaluated.plan
    if plan.held_out is None or plan.is_stratified:
        return None
    return keyed_draws(seed, row_keys(samples.X, evaluated.rows))


# Two shares that differ by less are about the same.
_LEAST_DIFFERENCE = 0.05


def warn_of_coarse_scores(estimator, evaluated, X, weight, of_calibration, verb):
    """Warn where the rule rests on scores that the final estimator never gives.

    `of_calibration` is the share of the calibration set that it accepts or defers.
    """
    if evaluated.final is None:
        return
    scores, *labels = evaluated.final
    X, weight = take_rows(X, evaluated.rows), take_weight(weight, evaluated.rows)
    probability = estimator._probability(X, *labels or [None], scores)
    of_final = np.average(probability, weights=weight)
    chance = 0.5 / np.sqrt(len(scores))
    if abs(of_final - of_calibration) <= max(_LEAST_DIFFERENCE, chance):
        return
    way_out = "Hold a share out, for example with cv=0.3."
    if evaluated.plan.is_default:
        way_out = "With more samples of each class, a share is held out instead."
    warn_user(
        f"Fits to the folds of cv={brief(estimator.cv)} have scores of a few levels "
        f"that the final fit does not have: the rule {verb} {of_calibration:.2f} of "
        f"the calibration set, and {of_final:.2f} by the final scores. {way_out}"
    )


def brief(value):
    """Return the repr of a value, cut where it is long."""
    text = repr(value)
    return text if len(text) < 60 else f"{text[:57]}..."


def warn_of_wrong_sign(calibration, given):
    """Warn of scores in the wrong order; `given` is what the user has called them."""
    is_ours = type(given).__module__.startswith("sklearn_reject.")
    way_out = WAY_OUT
    if is_ours or isinstance(given, str):
        way_out = "Use another, such as one that is learned from errors"
    samples = calibration.scores, calibration.losses, calibration.sample_weight
    labels = calibration.groups, calibration.clusters
    warn_of_backward_scores(*samples, *labels, way_out=way_out)


def warn_of_risky_rule(rule, calibration):
    """Warn of a rule whose risk is larger than that of accepting everything."""
    if not 0 < rule.coverage < 1:
        return
    samples = calibration.losses, calibration.sample_weight
    is_worse, mean = is_riskier(rule.selective_risk, rule.coverage, *samples)
    if is_worse:
        warn_user(
            f"The samples that the rule accepts have risk {rule.selective_risk:.3g} on "
            f"the calibration set, more than all samples, which have {mean:.3g}. Use a "
            "score that ranks the errors better, or accept everything."
        )


# The mean loss of fewer samples says little of that of others.
_FEWEST_ACCEPTED = 30


def fewest_accepted(risk, losses):
    """Return how many accepted samples it takes to see that a risk is met.

    So many that one error of them would be no more than the risk.
    """
    is_rate = bool(((losses == 0) | (losses == 1)).all())
    if not is_rate or not risk:
        return _FEWEST_ACCEPTED
    return max(_FEWEST_ACCEPTED, math.ceil(1 / risk - RELATIVE_TOLERANCE / risk))


def warn_of_few_accepted(rule, target, calibration, *, is_group):
    """Warn where a risk that is not certified rests on few accepted samples.

    A group with too few samples to see it has no rule.
    """
    accepted = rule.accept_proba(calibration.scores) > 0
    if calibration.sample_weight is not None:
        accepted &= calibration.sample_weight > 0
    n_samples, n_accepted = len(accepted), np.count_nonzero(accepted)
    fewest = fewest_accepted(target.value, calibration.losses)
    if n_accepted >= fewest:
        return
    if is_group and n_samples < fewest:
        raise InfeasibleTargetError(
            f"it has {n_samples} calibration samples, too few to tell: {fewest} "
            "accepted ones are needed"
        )
    _warn_of_few(target, n_accepted, n_samples, fewest)


def warn_of_few_accepted_of_classes(bounds, calibration):
    """Warn where a bound on a class rests on few accepted samples."""
    for (name, label), found in bounds.items():
        if math.isnan(found.achieved):
            continue  # which the solver has said
        n_accepted = round(found.coverage * found.n_samples)
        risk = found.bound if name == "target_risk" else 1 - found.bound
        fewest = fewest_accepted(risk, calibration.losses)
        if n_accepted < fewest:
            what = f"{name}={found.bound:g} of the class {label!r}"
            _warn_of_few(what, n_accepted, found.n_samples, fewest)
            return


def _warn_of_few(what, n_accepted, n_samples, fewest):
    warn_user(
        f"{what} rests on {n_accepted} accepted calibration samples of {n_samples}; "
        f"{fewest} would say more of new samples. Use more samples, or a "
        "confidence_level, which accounts for chance.",
        topic="few accepted",
    )


def warn_of_costly_rule(accepted, cost, calibration):
    """Warn of a rule that costs more than accepting or rejecting everything.

    More by more than chance: even the best rule does on some samples. `accepted` are
    the probabilities that it accepts each sample, and `cost` is that of a rejection.
    """
    losses, weight = calibration.losses, calibration.sample_weight
    cost = np.broadcast_to(cost, losses.shape)
    excess = losses - cost
    if not (
        _is_positive(-excess, 1 - accepted, weight)
        or _is_positive(excess, accepted, weight)
    ):
        return
    paid = np.average(cost + accepted * excess, weights=weight)
    of_accepting, of_rejecting = (
        np.average(each, weights=weight) for each in (losses, cost)
    )
    warn_user(
        f"The plug-in rule costs {paid:.3g} per sample, accepting everything "
        f"{of_accepting:.3g}, and rejecting everything {of_rejecting:g}. Set cv=None, "
        "which calibrates out of sample, or calibrate the probabilities."
    )


# What chance leads to in one of 44 samples.
_STANDARD_ERRORS = 2


def _is_positive(values, part, weight):
    """Tell whether the mean of values in a part is positive, by more than chance.

    A few values may happen to be all the same, so that they vary as all do, at least.
    """
    part = part if weight is None else part * weight
    total = part.sum()
    if not total:
        return False
    mean = np.average(values, weights=part)
    variance = max(
        np.average((values - mean) ** 2, weights=part),
        np.average((values - np.average(values, weights=weight)) ** 2, weights=weight),
    )
    n_samples = total**2 / (part**2).sum()
    error = np.sqrt(variance / n_samples)
    return mean > max(
        _STANDARD_ERRORS * error, RELATIVE_TOLERANCE * np.abs(values).max()
    )
