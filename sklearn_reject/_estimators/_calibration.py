"""The calibration set of selective estimators, and what it says of scores and rules."""

from dataclasses import dataclass, replace

import numpy as np
from scipy.stats import rankdata

from sklearn_reject._curves import RELATIVE_TOLERANCE, selective_risk_at_coverage_score
from sklearn_reject._estimators._groups import Groups, add_groups
from sklearn_reject._response import row_keys
from sklearn_reject._sklearn import take_rows
from sklearn_reject._validation import take_weight
from sklearn_reject.exceptions import warn_user
from sklearn_reject.selection import keyed_draws, make_partition


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
        Draws in [0, 1[ that break ties for a certificate. None where nothing can be
        certified: samples were fitted on, or held out class by class.

    labels, predictions : ndarray of shape (n_calibration,) or None
        True and predicted class of each. None for regressors.

    groups : ndarray of shape (n_calibration,) or None
        Group of each, None without `group_by`.

    grouping : Groups or None
        The groups of all samples given to `fit`.
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

    @property
    def samples(self):
        """What every solver takes."""
        names = "scores", "losses", "sample_weight"
        return {name: getattr(self, name) for name in names}

    def take(self, rows):
        """Return what solves a rule, of some of the samples."""
        names = "scores", "losses", "rows", "sample_weight", "draws"
        return Calibration(
            **{name: take_weight(getattr(self, name), rows) for name in names}
        )


def calibration_of(evaluated, X, weight, seed, *, labels=None, groups=None):
    """Return what was evaluated out of sample as a :class:`Calibration`, or None.

    `labels` are the true classes of all samples, None for regressors, and `groups` what
    `group_by` says of them.
    """
    if evaluated.scores is None:
        return None
    rows, draws, plan = evaluated.rows, None, evaluated.plan
    if plan.held_out is not None and not plan.is_stratified:
        # The draws that the fitted estimator will make for the same rows.
        draws = keyed_draws(seed, row_keys(X, rows))
    positions = np.arange(len(evaluated.scores)) if isinstance(rows, slice) else rows
    calibration = Calibration(
        evaluated.scores, evaluated.losses, positions, take_weight(weight, rows), draws
    )
    if labels is not None:
        calibration = replace(
            calibration, labels=labels[rows], predictions=evaluated.labels
        )
    return replace(add_groups(calibration, groups), grouping=groups)


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
    way_out = "Set cv=None, which then holds a share out, or hold one out with cv=0.3."
    if evaluated.plan.is_default:
        way_out = "With more samples of each class, a share is held out instead."
    warn_user(
        f"Fits to the folds of cv={brief(estimator.cv)} have scores of a few levels, "
        "which are not those of the final fit, as shallow trees do. So a threshold on "
        f"these levels says little: the rule {verb} {of_calibration:.2f} of the "
        f"calibration set, and {of_final:.2f} of it by the scores of the final fit. "
        f"{way_out}"
    )


def brief(value):
    """Return the repr of a value, cut where it is long."""
    text = repr(value)
    return text if len(text) < 60 else f"{text[:57]}..."


# What a useless score accepts is worse than the whole by more in one of 44 samples.
_STANDARD_ERRORS = 2


def _is_worse(risk, coverage, calibration):
    """Tell whether a part has a larger risk than all samples, by more than chance.

    Returns the risk of all, too.
    """
    losses, weight = calibration.losses, calibration.sample_weight
    mean = float(np.average(losses, weights=weight))
    variance = np.average((losses - mean) ** 2, weights=weight)
    n_samples = len(losses)
    if weight is not None:
        n_samples = weight.sum() ** 2 / (weight**2).sum()
    # Of a random part, whose samples are drawn without replacement.
    error = np.sqrt(variance / n_samples * (1 - coverage) / coverage)
    return risk - mean > max(_STANDARD_ERRORS * error, RELATIVE_TOLERANCE * mean), mean


def warn_of_wrong_sign(calibration, given):
    """Warn where the certain half of the samples has a larger risk than all.

    `given` is what the user has called the score.
    """
    weight = calibration.sample_weight
    if weight is not None and not weight.any():
        return  # which the solver will refuse
    samples = calibration.samples
    if calibration.groups is not None:
        # Of one group, scores are not compared with those of another.
        samples["scores"] = _ranks_in_groups(calibration.scores, calibration.groups)
    half = selective_risk_at_coverage_score(**samples, coverage=0.5, randomize=True)
    is_worse, mean = _is_worse(half, 0.5, calibration)
    if is_worse:
        is_ours = type(given).__module__.startswith("sklearn_reject.")
        way_out = "Higher must mean more uncertain. Change the sign, or use another"
        if is_ours or isinstance(given, str):
            way_out = "Use another, such as one that is learned from errors"
        warn_user(
            "The uncertainty score ranks the errors backwards: the half of the "
            f"calibration set with the lowest scores has risk {half:.3g}, the whole "
            f"set has {mean:.3g}. {way_out}."
        )


def _ranks_in_groups(scores, groups):
    """Return the ranks of scores in their groups, in ]0, 1[, those of ties the mean."""
    ranks = np.empty(len(scores))
    for _, rows in make_partition(groups, len(scores)):
        ranks[rows] = (rankdata(scores[rows]) - 0.5) / len(rows)
    return ranks


def warn_of_risky_rule(rule, calibration):
    """Warn of a rule whose risk is larger than that of accepting everything."""
    if not 0 < rule.coverage < 1:
        return
    is_worse, mean = _is_worse(rule.selective_risk, rule.coverage, calibration)
    if is_worse:
        warn_user(
            f"The samples that the rule accepts have risk {rule.selective_risk:.3g} on "
            f"the calibration set, more than all samples, which have {mean:.3g}. Use a "
            "score that ranks the errors better, or accept everything."
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
    warn_user(
        f"The plug-in rule costs {paid:.3g} per sample on the calibration set, while "
        f"accepting everything costs {np.average(losses, weights=weight):.3g} and "
        f"rejecting everything {np.average(cost, weights=weight):g}. Set cv=None, "
        "which tunes the rule on out-of-sample predictions, or calibrate the "
        "probabilities."
    )


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


def warn_of_nothing_accepted(rule, target, calibration):
    """Warn where a cost above zero has every sample rejected."""
    if rule.coverage == 0 < target.value:
        mean = np.average(calibration.losses, weights=calibration.sample_weight)
        warn_user(
            "Everything is rejected: no part of the calibration set with low scores "
            f"costs less than {target.name}={target.value:g} per sample; the whole set "
            f"costs {mean:.3g}. Use a score that ranks the errors better, or a larger "
            "cost."
        )
