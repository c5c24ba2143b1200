"""The models of rules for ID and OOD samples: what is asked for, and its rule."""

from dataclasses import dataclass

import numpy as np

from sklearn_reject._estimators._calibration import brief
from sklearn_reject._estimators._rejection_models import bound_of_losses
from sklearn_reject._fitting._routing import check_inner
from sklearn_reject._fitting._splits import cv_of, is_share
from sklearn_reject._response._keys import row_keys
from sklearn_reject._validation import check_number, take_weight
from sklearn_reject.exceptions import InfeasibleTargetError, warn_user
from sklearn_reject.selection import (
    MODEL_PARAMETERS,
    Levels,
    certify_double_score,
    check_confidence_level,
    check_model,
    find_double_score_rule,
    keyed_draws,
    tune_tail_score,
)


@dataclass(frozen=True, eq=False)
class OODCalibration:
    """Samples that a rule is tuned on or, as `held_out` of these, certified on."""

    #: Risk and novelty, shape (n_samples, 2).
    scores: np.ndarray
    #: Shape (n_samples,), as all that follows; zero for OOD samples.
    losses: np.ndarray
    is_ood: np.ndarray
    #: Positions among the samples that `fit` was given.
    rows: np.ndarray
    #: None where all samples weigh one.
    sample_weight: np.ndarray | None = None
    #: What breaks ties of samples that certify; None of those that tune.
    draws: np.ndarray | None = None
    held_out: "OODCalibration | None" = None


def keep_calibration(evaluated, samples, held_out, seed):
    """Return what tunes the rule, and what certifies it where rows are held out."""
    is_ood, certifying = evaluated.score.is_ood, None
    if held_out is not None:
        scores, losses = evaluated.score.evaluate(
            evaluated.estimator, samples, held_out, evaluated.plan.final
        )
        draws = keyed_draws(seed, row_keys(samples.X, held_out))
        certifying = OODCalibration(
            scores, losses, is_ood[held_out], held_out, draws=draws
        )
    return OODCalibration(
        evaluated.scores,
        evaluated.losses,
        is_ood[evaluated.rows],
        np.arange(len(samples.y))[evaluated.rows],
        take_weight(samples.sample_weight, evaluated.rows),
        held_out=certifying,
    )


# By how many standard errors a negative FPR is more than the luck of the best rule.
_FAR = 4.0


def bounds_of(estimator):
    """Return what says which model to solve."""
    return {name: getattr(estimator, name) for name in MODEL_PARAMETERS}


def check_parameters(estimator):
    """Raise for parameters of the rule that are invalid, or do not go together."""
    check_model(**bounds_of(estimator))
    _check_wild(estimator)
    check_inner(estimator, "classifier")
    if estimator.confidence_level is not None:
        check_confidence_level(estimator.confidence_level)
        _check_calibration(estimator)


def _check_wild(estimator):
    """Raise unless wild samples have a label and a share, or neither."""
    given = {"wild_label": estimator.wild_label, "wild_share": estimator.wild_share}
    missing = [name for name, value in given.items() if value is None]
    if len(missing) == 1:
        raise ValueError(
            f"{missing[0]} is None. wild_label marks the unlabeled samples, and "
            "wild_share is the share of them that is OOD. Pass both."
        )
    if estimator.wild_share is not None:
        check_number(estimator.wild_share, "wild_share", high=1.0, open_low=True)


def _check_calibration(estimator):
    if estimator.costs is not None:
        raise ValueError(
            f"confidence_level={estimator.confidence_level!r} needs bounds to "
            "guarantee, and costs are no bounds. Pass min_tpr with max_fpr, max_risk "
            "or min_precision."
        )
    if not is_share(cv_of(estimator)):
        raise ValueError(
            f"confidence_level={estimator.confidence_level!r} needs samples that are "
            f"used neither to fit nor to tune, but cv={brief(estimator.cv)} leaves "
            "none. Set cv=None, which holds half of the samples out, or a share such "
            "as cv=0.3."
        )


def check_has_ood(estimator, present, without, is_learned=False):
    """Raise where a bound or a score needs OOD samples, and none are present."""
    name = check_model(**bounds_of(estimator)).needs_ood
    if name is None and is_learned:
        name = "novelty_score"
    if name is None or present.any():
        return
    raise ValueError(
        f"{without}, and {name}={getattr(estimator, name)!r} needs OOD samples. Add "
        "some, or pass their label as ood_label, or use unlabeled samples with "
        "wild_label and wild_share. Without OOD samples, use min_tpr alone."
    )


def check_largest_loss(estimator, loss):
    """Raise where a bound would rest on the classes that happen to be in y."""
    if estimator.confidence_level is not None and loss.max_loss is None:
        raise ValueError(
            f"loss={estimator.loss!r} does not say how large a loss can be, but "
            f"confidence_level={estimator.confidence_level!r} needs it: the "
            "certificate bounds the risk, and a class that is not in y may have a "
            "larger loss than all classes in y. Pass a cost matrix, or a TaskLoss with "
            "`max_loss`."
        )


def check_confidence_level_kept(estimator):
    """Raise where a copy asks for samples that `fit` has not held out, or has."""
    is_certified = estimator.calibration_.held_out is not None
    if is_certified == (estimator.confidence_level is not None):
        return
    held_out, way_out = (
        ("a part of the samples for it", "Fit a clone with confidence_level=None")
        if is_certified
        else ("no samples for it", "Call fit with a confidence_level")
    )
    raise ValueError(
        f"confidence_level={estimator.confidence_level!r} is not possible with this "
        f"fit, which has held out {held_out}. {way_out}."
    )


def certifiable_rates(estimator, is_ood, loss):
    """Return rates to tune with, the first of which that can be met are taken.

    A rule that will be certified has to do better than asked for. Raises where samples
    held out are too few to certify anything.
    """
    levels = Levels(
        check_model(**bounds_of(estimator)),
        1.0 if estimator.wild_share is None else estimator.wild_share,
        estimator.confidence_level,
    )
    n_ood = int(is_ood.sum())
    bound = bound_of_losses(loss, loss.max_loss, "hoeffding_bentkus")
    return levels.rates_to_certify(len(is_ood) - n_ood, n_ood, **bound)


def solve_rule(estimator, calibration, loss):
    """Return the best rule and, where samples are held out for that, certify it."""
    held_out = calibration.held_out
    if held_out is None:
        rule = _tune(estimator, calibration, bounds_of(estimator))
    else:
        rates = certifiable_rates(estimator, held_out.is_ood, loss)
        rule = _tune_to(estimator, rates, calibration)
        rule = _certify(estimator, rule, held_out, loss)
    if estimator.wild_label is not None and rule.fpr < 0:
        _warn_of_wild_share(estimator, rule, held_out or calibration)
    return rule


def _warn_of_wild_share(estimator, rule, measured):
    """Warn of an FPR that is negative by more than chance: a share that is wrong.

    What is accepted, with a standard error of shares estimated a little inside [0, 1].
    """
    share, is_wild = estimator.wild_share, measured.is_ood
    of_wild = share * rule.fpr + (1 - share) * rule.tpr
    variance = 0.0
    for rate, factor, rows in (
        (of_wild, 1.0, is_wild),
        (rule.tpr, 1 - share, ~is_wild),
    ):
        weight = take_weight(measured.sample_weight, rows)
        size = np.count_nonzero(rows)
        if weight is not None:
            size = weight.sum() ** 2 / (weight**2).sum()
        rate = (rate * size + 1) / (size + 2)
        variance += factor**2 * rate * (1 - rate) / size
    distance = -share * rule.fpr / np.sqrt(variance)
    if distance > _FAR:
        warn_user(
            f"wild_share={share:g} gives an FPR of {rule.fpr:.2g}, {distance:.1f} "
            "standard errors below zero, so a bound on it has no meaning. The share is "
            "too small, or the ID samples among those with wild_label are harder than "
            "the others. Pass a larger wild_share, or ID samples that are like them."
        )


def _tune_to(estimator, rates, calibration):
    """Return the rule of the first rates that can be met, or of what comes closest.

    Whether that is good enough, the samples held out tell.
    """
    for rate in rates:
        try:
            return _tune(estimator, calibration, rate)
        except InfeasibleTargetError as error:
            attainable = error.attainable
    others = attainable.keys() - {"min_tpr"}
    closest = {name: attainable[name] for name in others or attainable}
    return _tune(estimator, calibration, rate | closest)


def _tune(estimator, calibration, bounds):
    """Return the best rule for some bounds."""
    is_ood, weight = calibration.is_ood, calibration.sample_weight
    present = is_ood if weight is None else is_ood & (weight > 0)
    check_has_ood(
        estimator,
        present,
        "No OOD row (of positive weight) is among those that tune the rule",
    )
    scores = *calibration.scores.T, calibration.losses, is_ood
    options = {"sample_weight": weight, "wild_share": estimator.wild_share}
    model = check_model(**bounds)
    # Without OOD samples nothing tells how much the novelty should weigh.
    if not present.any() and estimator.costs is estimator.min_precision is None:
        prior = estimator.ood_prior
        return tune_tail_score(
            *scores, min_tpr=model.min_tpr, ood_prior=prior, **options
        )
    return find_double_score_rule(model, *scores, spares_ood=True, **options)


def _certify(estimator, rule, held_out, loss):
    """Set the threshold anew on rows that nothing has seen, so that bounds hold."""
    bounds = bounds_of(estimator)
    bounds.pop("costs")  # which cannot be certified
    return certify_double_score(
        rule,
        *held_out.scores.T,
        held_out.losses,
        held_out.is_ood,
        **bounds,
        **bound_of_losses(loss, loss.max_loss, "hoeffding_bentkus"),
        confidence_level=estimator.confidence_level,
        wild_share=estimator.wild_share,
        draws=held_out.draws,
    )
