"""The models of rules for ID and OOD samples: what is asked for, and its rule."""

import numpy as np

from sklearn_reject._curves import check_n_directions
from sklearn_reject._estimators._calibration import brief
from sklearn_reject._estimators._rejection_models import bound_of_losses
from sklearn_reject._fitting import check_inner, cv_of, is_share
from sklearn_reject._validation import check_number, check_option, take_weight
from sklearn_reject.exceptions import InfeasibleTargetError, warn_user
from sklearn_reject.selection import (
    MODEL_PARAMETERS,
    certify_double_score,
    check_confidence_level,
    check_model,
    rates_to_certify,
    tune_double_score,
    tune_tail_score,
)

# By how many standard errors a negative FPR is more than the luck of the best rule.
_FAR = 4.0

# Weight of the novelty where nothing tells a better one.
_NOVELTY_SHARE = 0.5


def bounds_of(estimator):
    """Return what says which model to solve."""
    return {name: getattr(estimator, name) for name in MODEL_PARAMETERS}


def check_parameters(estimator):
    """Raise for parameters of the rule that are invalid, or do not go together."""
    check_model(**bounds_of(estimator))
    _check_novelty_share(estimator)
    _check_wild(estimator)
    check_option(estimator.allow_reversed, "allow_reversed", (True, False))
    check_inner(estimator, "classifier")
    check_option(estimator.randomize, "randomize", (True, False))
    check_n_directions(estimator.n_directions)
    check_option(estimator.method, "method", ("auto", "exact", "grid"))
    if estimator.confidence_level is not None:
        check_confidence_level(estimator.confidence_level)
        _check_calibration(estimator)


def _check_novelty_share(estimator):
    """Raise where a weight is given that another parameter tunes."""
    if estimator.novelty_share is None:
        return
    check_number(estimator.novelty_share, "novelty_share", high=1.0)
    tuned = [
        f"{name}={value!r}"
        for name, value in bounds_of(estimator).items()
        if value is not None and name not in ("min_tpr", "ood_prior")
    ]
    if tuned:
        raise ValueError(
            f"novelty_share={estimator.novelty_share!r} fixes how the scores are "
            f"combined, but {tuned[0]} tunes this. Set novelty_share=None, or use "
            "min_tpr alone."
        )


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
            "guarantee, and costs are no bounds. Pass min_tpr and max_fpr, or "
            "min_precision and min_recall."
        )
    if not estimator.randomize:
        raise ValueError(
            f"confidence_level={estimator.confidence_level!r} needs randomize=True, "
            "because ties at a calibrated threshold are broken at random."
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
    if present.any():
        return
    needy = [
        f"{name}={getattr(estimator, name)!r}"
        for name, is_needy in (
            ("max_fpr", estimator.max_fpr is not None and estimator.max_fpr < 1),
            ("max_risk", estimator.max_risk is not None),
            (
                "min_precision",
                estimator.min_precision is not None and estimator.ood_prior,
            ),
            ("costs", estimator.costs is not None and estimator.ood_prior),
            ("novelty_score", is_learned),
        )
        if is_needy
    ]
    if needy:
        raise ValueError(
            f"{without}, and {needy[0]} needs OOD samples. Add some, or pass their "
            "label as ood_label, or use unlabeled samples with wild_label and "
            "wild_share. Without OOD samples, use min_tpr alone."
        )


def check_max_loss(estimator, loss):
    """Raise where a bound would rest on the classes that happen to be in y."""
    if estimator.max_loss is not None:
        check_number(estimator.max_loss, "max_loss", open_low=True)
        if loss.max_loss is not None and estimator.max_loss < loss.max_loss:
            raise ValueError(
                f"max_loss={estimator.max_loss!r} is below {loss.max_loss:g}, which "
                f"loss={estimator.loss!r} can reach. Set max_loss=None."
            )
    elif estimator.confidence_level is not None and loss.max_loss is None:
        raise ValueError(
            f"max_loss is needed with confidence_level={estimator.confidence_level!r} "
            f"and loss={estimator.loss!r}, because the certificate bounds the risk, "
            "and a class that is not in y may have a larger loss than all classes in "
            "y. Pass the largest possible loss, in units of the loss."
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


def check_sizes(estimator, is_ood, loss):
    """Raise, before any fit, where samples held out are too few to certify anything."""
    _rates_of(estimator, is_ood, loss)


def _rates_of(estimator, is_ood, loss):
    """Return bounds to tune with, the first of which that can be met is taken.

    A rule that will be certified has to do better than asked for.
    """
    n_ood = int(is_ood.sum())
    n_id = len(is_ood) - n_ood
    return rates_to_certify(
        n_id,
        n_ood,
        estimator.confidence_level,
        bounds_of(estimator),
        wild_share=estimator.wild_share,
        **_bound_of_risk(estimator, loss),
    )


def _bound_of_risk(estimator, loss):
    max_loss = known_max_loss(estimator, loss)
    return bound_of_losses(loss, max_loss, "hoeffding_bentkus")


def solve_rule(estimator, calibration, loss):
    """Return the best rule and, where that is asked for, certify it."""
    rule = _solve(estimator, calibration, loss)
    if estimator.wild_label is not None and rule.fpr < 0:
        _warn_of_wild_share(estimator, rule, calibration.held_out or calibration)
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


def _solve(estimator, calibration, loss):
    """Return the best rule, certified where samples are held out for that."""
    if calibration.held_out is None:
        return _tune(estimator, calibration, bounds_of(estimator))
    rates = _rates_of(estimator, calibration.held_out.is_ood, loss)
    rule = _tune_to_certify(estimator, rates, calibration)
    return _certify(estimator, rule, calibration.held_out, loss)


def _tune_to_certify(estimator, rates, calibration):
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
    options = {
        "randomize": estimator.randomize,
        "sample_weight": weight,
        "wild_share": estimator.wild_share,
    }
    share = _stated_share(estimator, present.any())
    if share is not None:
        options |= {"novelty_share": share, "ood_prior": estimator.ood_prior}
        return tune_tail_score(*scores, min_tpr=bounds["min_tpr"], **options)
    return tune_double_score(
        *scores,
        **bounds,
        risk_tolerance=estimator.risk_tolerance,
        n_directions=estimator.n_directions,
        allow_reversed=estimator.allow_reversed,
        method=estimator.method,
        n_jobs=estimator.n_jobs,
        **options,
    )


def _stated_share(estimator, has_ood):
    """Return the weight of the novelty where it is not tuned, else None."""
    if estimator.novelty_share is not None or has_ood or estimator.min_tpr is None:
        return estimator.novelty_share
    return _NOVELTY_SHARE


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
        **_bound_of_risk(estimator, loss),
        confidence_level=estimator.confidence_level,
        wild_share=estimator.wild_share,
        draws=held_out.draws,
    )


def known_max_loss(estimator, loss):
    """Return the largest loss that is possible, None where nothing says it."""
    return estimator.max_loss if loss.max_loss is None else loss.max_loss
