"""The three rejection models of selective estimators: targets and their rules."""

import warnings
from copy import copy
from dataclasses import dataclass

import numpy as np
from sklearn.frozen import FrozenEstimator

from sklearn_reject._curves import RELATIVE_TOLERANCE, selective_risk_at_coverage_score
from sklearn_reject._fitting import PLUG_IN, is_share, learns, refuse_weights
from sklearn_reject._response import row_keys
from sklearn_reject._validation import check_number, check_option, take_weight
from sklearn_reject.exceptions import RejectionWarning
from sklearn_reject.losses import CostMatrixLoss, ZeroOneLoss
from sklearn_reject.scores import resolve_score
from sklearn_reject.selection import (
    check_confidence,
    chow_rule,
    keyed_draws,
    solve_reject_cost,
    solve_target_coverage,
    solve_target_risk,
)

_TARGETS = ("reject_cost", "target_risk", "target_coverage")


@dataclass(frozen=True)
class Target:
    """What is asked for: the name of a parameter, and its value."""

    name: str
    value: float


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
    """

    scores: np.ndarray
    losses: np.ndarray
    rows: np.ndarray
    sample_weight: np.ndarray | None = None
    draws: np.ndarray | None = None

    @property
    def samples(self):
        """What every solver takes."""
        names = "scores", "losses", "sample_weight"
        return {name: getattr(self, name) for name in names}


def find_target(estimator, default):
    """Return the one target that is given, or a default reject cost."""
    given = [name for name in _TARGETS if getattr(estimator, name) is not None]
    if len(given) > 1:
        values = ", ".join(f"{name}={getattr(estimator, name)!r}" for name in given)
        raise ValueError(
            f"At most one of reject_cost, target_risk and target_coverage may be "
            f"given, got {values}. Keep the one that matters and leave the others "
            "at None."
        )
    if not given and default is None:
        raise ValueError(
            "One of reject_cost, target_risk and target_coverage must be given: in the "
            "units of a regression no default fits all."
        )
    name = given[0] if given else "reject_cost"
    value = getattr(estimator, name) if given else default
    is_coverage = name == "target_coverage"
    high = 1.0 if is_coverage else np.inf
    return Target(name, check_number(value, name, high=high, open_low=is_coverage))


def has_target(estimator):
    """Tell whether a target is given, so that no default stands in."""
    return any(getattr(estimator, name) is not None for name in _TARGETS)


def check_max_loss(estimator, target, loss):
    """Return the largest loss that is possible, None where it need not be known."""
    if estimator.max_loss is not None:
        largest = check_number(estimator.max_loss, "max_loss", open_low=True)
        if loss.max_loss is not None and loss.max_loss > largest:
            raise ValueError(
                f"max_loss={estimator.max_loss!r} is below {loss.max_loss:g}, which "
                "the loss can be. Leave it at None, or pass at least that."
            )
        return largest
    is_certified = estimator.confidence is not None and target.name == "target_risk"
    if loss.max_loss is None and is_certified:
        raise ValueError(
            f"max_loss is needed to certify a target_risk with {loss!r}: pass the "
            "largest loss that is possible, in units of the loss. Labels that y lacks "
            "may cost more than those it has."
        )
    return loss.max_loss


def claims_risk(estimator, score):
    """Tell whether a score is a probability-based risk in units of the reject cost.

    One with a loss of its own only orders the samples, and a frozen one may have been
    learned for another loss.
    """
    return (
        getattr(score, "estimates_risk", False)
        and getattr(estimator.uncertainty_score, "loss", None) is None
        and not learns(score)
        and not isinstance(score, FrozenEstimator)
    )


def uses_plain_rule(estimator, target, score):
    """Tell whether a reject cost is to be compared with probabilities as they are."""
    if not (isinstance(estimator.cv, str) and estimator.cv == PLUG_IN):
        return False
    if target.name != "reject_cost" or not claims_risk(estimator, score):
        raise ValueError(
            f"cv={PLUG_IN!r} compares a reject_cost with the conditional risk of the "
            f"classifier's probabilities, and cannot be had with {target.name}="
            f"{target.value!r} and uncertainty_score="
            f"{estimator.uncertainty_score!r}. Leave cv=None."
        )
    return True


def check_guarantee(estimator, target, score, weight):
    """Raise where a confidence is asked for that nothing can be certified with."""
    confidence = estimator.confidence
    if confidence is None:
        return
    check_confidence(confidence)
    if target.name == "reject_cost":
        raise ValueError(
            f"confidence={confidence!r} needs a target_risk or a "
            "target_coverage to guarantee; a reject_cost has no bound to hold."
        )
    refuse_weights(weight)
    is_frozen = isinstance(estimator.estimator, FrozenEstimator)
    is_fresh = is_frozen and not learns(score)
    if not is_fresh and not is_share(estimator.cv):
        raise ValueError(
            f"confidence={confidence!r} needs samples on which neither the "
            "estimator nor the uncertainty score was fitted, and "
            f"cv={_brief(estimator.cv)} keeps none. Hold a share out, for example with "
            "cv=0.3, or freeze what was fitted on other samples with "
            "FrozenEstimator."
        )


def _brief(value):
    text = repr(value)
    return text if len(text) < 60 else f"{text[:57]}..."


def bound_of_losses(loss, max_loss, general="betting"):
    """Return how to bound a risk, given the largest loss that is possible.

    It is `general` where some loss may be neither zero nor the largest.
    """
    values = {ZeroOneLoss: (0.0, 1.0)}.get(type(loss))
    if type(loss) is CostMatrixLoss:
        values = loss.costs
    is_binary = values is not None and np.isin(values, (0.0, max_loss)).all()
    return {"bound": "binomial" if is_binary else general, "max_loss": max_loss or 1.0}


def calibration_of(evaluated, X, weight, plan, seed):
    """Return what was evaluated out of sample as a :class:`Calibration`, or None."""
    if evaluated.scores is None:
        return None
    rows, draws = evaluated.rows, None
    if plan.held_out is not None and not plan.is_stratified:
        # The draws that the fitted estimator will make for the same rows.
        draws = keyed_draws(seed, row_keys(X, rows))
    positions = np.arange(len(evaluated.scores)) if isinstance(rows, slice) else rows
    weight = take_weight(weight, rows)
    return Calibration(evaluated.scores, evaluated.losses, positions, weight, draws)


def solve_rule(estimator, target, calibration, *, score, loss, max_loss, seed):
    """Return the rule that meets a target on a calibration set, which may be None."""
    if calibration is None:
        return chow_rule(target.value)
    if uses_plain_rule(estimator, target, score):
        rule = chow_rule(target.value).measure(**calibration.samples)
        _warn_of_costly_rule(rule, target, calibration)
        return rule
    _warn_of_wrong_sign(calibration)
    if target.name == "reject_cost":
        return _solve_cost(target.value, calibration, claims_risk(estimator, score))
    rule = _solve_bound(estimator, target, calibration, seed, loss, max_loss)
    _warn_of_risky_rule(rule, calibration)
    return rule


# What probabilities say counts as much as so many rows. On 19 sets and 11 classifiers
# (benchmarks/bench_reject_cost.py) that is better than data alone below 300 rows, and
# the same from there on; anything from 20 to 50 does as well.
_ROWS_OF_CLAIM = 30


def _solve_cost(cost, calibration, scores_are_risks):
    """Return the rule of least cost; risks that a score claims count as evidence."""
    if not scores_are_risks:
        return solve_reject_cost(target=cost, **calibration.samples)
    scores, losses = calibration.scores, calibration.losses
    share = _ROWS_OF_CLAIM / (len(losses) + _ROWS_OF_CLAIM)
    samples = {**calibration.samples, "losses": (1 - share) * losses + share * scores}
    rule = solve_reject_cost(target=cost, **samples)
    return rule.measure(**calibration.samples)


def _solve_bound(estimator, target, calibration, seed, loss, max_loss):
    samples = calibration.samples
    options = {"randomize": estimator.randomize}
    if estimator.confidence is not None:
        options["confidence"] = estimator.confidence
        options["draws"] = calibration.draws
        options["random_state"] = seed  # of the order of bets
    if target.name == "target_coverage":
        return solve_target_coverage(target=target.value, **samples, **options)
    if estimator.confidence is not None:
        options |= bound_of_losses(loss, max_loss)
    return solve_target_risk(target=target.value, **samples, **options)


def retarget(estimator, changes, default):
    """Return a copy of a fitted estimator whose rule is solved for another target."""
    options = "confidence", "max_loss", "randomize"
    unknown = sorted(changes.keys() - {*_TARGETS, *options})
    if unknown:
        raise TypeError(
            f"retarget takes {', '.join((*_TARGETS, *options))}, got {unknown[0]!r}. "
            "Fit anew to change anything else."
        )
    other = copy(estimator)
    if changes.keys() & set(_TARGETS):
        vars(other).update(dict.fromkeys(_TARGETS))
    vars(other).update(changes)
    check_option(other.randomize, "randomize", (True, False))
    target = find_target(other, default)
    loss, score, calibration = other.loss_, other.uncertainty_score_, other.calibration_
    max_loss = check_max_loss(other, target, loss)
    weight = None if calibration is None else calibration.sample_weight
    check_guarantee(other, target, score, weight)
    certifies = other.confidence is not None
    if certifies and calibration is not None and calibration.draws is None:
        raise ValueError(
            f"confidence={other.confidence!r} is about samples drawn alike, and those "
            "held out were drawn class by class. Fit with a confidence."
        )
    if calibration is None and not uses_plain_rule(other, target, score):
        raise ValueError(
            f"{target.name}={target.value:g} needs predictions out of sample, and none "
            "were made: the rule compared probabilities as they are. Fit with cv=5."
        )
    warn_if_vacuous(target, max_loss)
    other.rule_ = solve_rule(
        other,
        target,
        calibration,
        score=score,
        loss=loss,
        max_loss=max_loss,
        seed=other.seed_,
    )
    return other


def warn_if_vacuous(target, largest):
    """Warn of a target that no rule can miss, given the largest loss, or None."""
    if not largest or target.name == "target_coverage" or target.value < largest:
        return
    reason = {
        "target_risk": "no rule has a larger risk, and everything is accepted",
        "reject_cost": "nothing costs more than rejecting, and everything is accepted",
    }
    _warn(
        f"{target.name}={target.value:g} is not below the largest loss, {largest:g}: "
        f"{reason[target.name]}. Ask for less, in units of the loss."
    )


# Of a random order a half differs from the whole by more about once in a thousand fits.
_STANDARD_ERRORS = 3


def _warn_of_wrong_sign(calibration):
    """Warn where the certain half of the samples has a clearly larger risk than all."""
    losses, weight = calibration.losses, calibration.sample_weight
    if weight is not None and not weight.any():
        return  # which the solver will refuse
    mean = np.average(losses, weights=weight)
    half = selective_risk_at_coverage_score(
        **calibration.samples, coverage=0.5, randomize=True
    )
    variance = np.average((losses - mean) ** 2, weights=weight)
    n_samples = len(losses)
    if weight is not None:
        n_samples = weight.sum() ** 2 / (weight**2).sum()
    if half - mean > _STANDARD_ERRORS * np.sqrt(variance / n_samples):
        _warn(
            "The uncertainty score puts errors first: the half of the calibration set "
            f"that it calls certain has risk {half:.3g}, the whole has {mean:.3g}. "
            "Higher must mean more uncertain: turn the sign, or take another score."
        )


def _warn_of_risky_rule(rule, calibration):
    """Warn of a rule whose risk is larger than that of accepting everything."""
    mean = np.average(calibration.losses, weights=calibration.sample_weight)
    if rule.selective_risk > mean * (1 + RELATIVE_TOLERANCE):
        _warn(
            f"What the rule accepts has risk {rule.selective_risk:.3g} on the "
            f"calibration set, more than everything has, {mean:.3g}. Use a score that "
            "orders the errors better, or accept everything."
        )


def _warn_of_costly_rule(rule, target, calibration):
    """Warn of a rule that costs more than accepting or rejecting everything."""
    mean = np.average(calibration.losses, weights=calibration.sample_weight)
    risk = rule.selective_risk if rule.coverage else 0.0
    cost = rule.coverage * risk + (1 - rule.coverage) * target.value
    if cost > min(mean, target.value) * (1 + RELATIVE_TOLERANCE):
        _warn(
            f"The plain rule costs {cost:.3g} a sample on the calibration set, where "
            f"accepting everything costs {mean:.3g} and rejecting everything "
            f"{target.value:g}. Leave cv=None, which solves the rule on predictions "
            "out of sample, or calibrate the probabilities."
        )


def _warn(message):
    # The call of `fit` that is to be named is behind a decorator.
    warnings.warn(message, RejectionWarning, stacklevel=6)


def takes_sparse(score, estimator, resolve=resolve_score):
    """Tell whether a score, as the user gave it, works on sparse samples."""
    try:
        score = resolve(score, estimator)
    except (TypeError, ValueError):  # `fit` will say what is wrong with it
        return True
    return getattr(score, "takes_sparse", True)
