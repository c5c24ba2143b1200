"""Whom a deferring classifier may ask, and the rule that meets what is asked of it."""

from sklearn.base import is_classifier, is_regressor
from sklearn.frozen import FrozenEstimator

from sklearn_reject._estimators._asked import check_max_loss, warn_if_vacuous
from sklearn_reject._estimators._calibration import brief
from sklearn_reject._estimators._deferral_calibration import (
    warn_of_useless_expert,
)
from sklearn_reject._estimators._groups import (
    add_groups,
    check_group_targets,
    groups_of_retarget,
    labels_of_rows,
    refuse_true_class,
)
from sklearn_reject._estimators._rejection_models import bound_of_losses
from sklearn_reject._estimators._retarget import check_target_names, copy_fitted
from sklearn_reject._estimators._targets import Target
from sklearn_reject._fitting._deferral import Gains
from sklearn_reject._fitting._experts import asks_person, is_fixed
from sklearn_reject._fitting._routing import refuse_weights
from sklearn_reject._fitting._splits import cv_of, is_share
from sklearn_reject._validation import check_option, check_takes
from sklearn_reject.exceptions import gather_warnings
from sklearn_reject.losses import labels_or_none
from sklearn_reject.selection import check_confidence_level, solve_deferral


def check_expert(expert):
    """Raise for what cannot be asked."""
    if expert is None:
        return
    if isinstance(expert, type) or not _can_be_asked(expert):
        raise ValueError(
            "expert must be a classifier, an object with `predict`, a callable X -> "
            f"labels, or None for a person, got {expert!r}."
        )
    if not hasattr(expert, "predict"):
        check_takes(expert, "expert", "X")
    if hasattr(expert, "__sklearn_tags__") and is_regressor(expert):
        raise ValueError(f"expert must be a classifier, got the regressor {expert!r}.")
    _check_last_step(expert)


def _can_be_asked(expert):
    if not hasattr(expert, "fit"):
        return hasattr(expert, "predict") or callable(expert)
    # Some classifiers have `predict` only when they are fitted.
    is_known = hasattr(expert, "__sklearn_tags__") and is_classifier(expert)
    return is_known or hasattr(expert, "predict")


def _check_last_step(expert):
    """Raise for what hides what a cascade leaves to a person, and what it pays."""
    last = expert
    while hasattr(last, "steps") or hasattr(last, "refit"):  # pipelines and searches
        last = last.steps[-1][1] if hasattr(last, "steps") else last.estimator
    if last is not expert and hasattr(last, "expert"):
        raise ValueError(
            f"expert is a {type(expert).__name__} around a DeferringClassifier, which "
            "hides what it defers to a person and what it pays for asking. Pass the "
            "DeferringClassifier itself as expert, with the other steps inside: "
            "DeferringClassifier(make_pipeline(..., estimator), ...), or the best "
            "estimator of a search."
        )


def check_expert_labels(expert, expert_labels, y):
    """Return the labels that are given for an expert as objects, or None."""
    if expert_labels is None:
        if asks_person(expert):
            raise ValueError(
                "expert_labels is required if the last expert is a person. Call fit(X, "
                "y, expert_labels=...) with the person's label of each sample, NaN or "
                "None where nobody was asked. If the second opinion is a model, pass "
                "it as expert. Cross-validation and searches pass the labels on if "
                "metadata routing is enabled and `set_fit_request(expert_labels=True)` "
                "was called."
            )
        return None
    if not (asks_person(expert) or is_fixed(expert)):
        raise ValueError(
            f"expert_labels were given, but the expert {expert!r} is fitted here, and "
            "its labels are predicted out of sample. Omit expert_labels, or pass the "
            "expert as a FrozenEstimator."
        )
    labels = labels_or_none(expert_labels, len(y), "expert_labels")
    if all(label is None for label in labels):
        raise ValueError(
            "expert_labels has no label at all, so nothing can be learned about the "
            "expert. Ask about a random part of the samples at least."
        )
    return labels


def refuse_labels(expert):
    """Raise for labels of an expert that is asked itself."""
    raise ValueError(
        f"expert_labels were given, but the expert {expert!r} is not a person and is "
        "asked here. Omit expert_labels."
    )


DEFAULT_DEFERRAL_COST = 0.0

# What a rule depends on beside its target.
_OF_ANY = ("group_by", "confidence_level", "max_loss", "randomize")


class DeferralCost(Target):
    """The cost of asking the expert about a sample."""

    name = "deferral_cost"
    can_be_certified = False
    vacuous = "no answer of the expert is worth more, so nothing is deferred"


class MaxDeferral(Target):
    """The largest share of samples to ask the expert about."""

    name = "max_deferral"
    high = 1.0


class SystemRisk(Target):
    """A bound on the mean loss of whoever answers."""

    name = "target_risk"
    bounds_losses = True
    vacuous = "no rule has a larger risk, so nothing is deferred"


_TARGETS = {each.name: each for each in (DeferralCost, MaxDeferral, SystemRisk)}


def find_deferral_target(estimator):
    """Return the one target that is given, or no cost of asking."""
    given = {name: getattr(estimator, name) for name in _TARGETS}
    given = {name: value for name, value in given.items() if value is not None}
    if len(given) > 1:
        values = ", ".join(f"{name}={value!r}" for name, value in given.items())
        raise ValueError(
            "At most one of deferral_cost, max_deferral and target_risk may be given, "
            f"got {values}. Keep one and set the others to None."
        )
    [(name, value)] = (given or {DeferralCost.name: DEFAULT_DEFERRAL_COST}).items()
    return _TARGETS[name].check(value)


def check_deferral_guarantee(estimator, target, gains, weight):
    """Raise where a confidence is asked for that nothing can be certified with."""
    confidence_level = estimator.confidence_level
    if confidence_level is None:
        return
    check_confidence_level(confidence_level)
    if not target.can_be_certified:
        raise ValueError(
            f"confidence_level={confidence_level!r} needs a target_risk or a "
            f"max_deferral to guarantee. A {target.name} has no bound."
        )
    refuse_weights(weight)
    is_frozen = isinstance(estimator.estimator, FrozenEstimator)
    is_fresh = is_frozen and is_fixed(estimator.expert) and not gains.learns
    if not is_fresh and not is_share(cv_of(estimator)):
        raise ValueError(
            f"confidence_level={confidence_level!r} needs samples on which neither the "
            "estimator, the expert nor the gain score was fitted, and "
            f"cv={brief(estimator.cv)} leaves none. Set cv=None, which holds half of "
            "the samples out, or a share such as cv=0.3, or wrap estimators that were "
            "fitted on other samples in FrozenEstimator and use "
            "gain_score='confidence', which is not learned."
        )


def solve_deferral_rule(
    estimator, target, calibration, *, loss, max_loss, seed, groups
):
    """Return the rule that meets a target on a calibration set."""
    samples = calibration.samples
    options = {"randomize": estimator.randomize}
    if groups is not None:
        options |= {"groups": calibration.groups, "all_groups": groups.known}
    if estimator.confidence_level is not None:
        options |= {
            "confidence_level": estimator.confidence_level,
            "pilot": _pilot_of(calibration, groups),
            "draws": calibration.draws,
            "random_state": seed,
        }
        if target.bounds_losses:
            options |= bound_of_losses(loss, max_loss)
    if isinstance(target, DeferralCost):
        rule = _solve_cost(target, calibration, options)
    else:
        rule = solve_deferral(**samples, **{target.name: target.value}, **options)
    # A bound on the risk, or on the share, may be why nothing is deferred.
    if isinstance(target, DeferralCost) or (
        isinstance(target, MaxDeferral)
        and rule.certificate is None
        and max(target.values) > 0
    ):
        warn_of_useless_expert(rule)
    return rule


def _pilot_of(calibration, groups):
    """Return the opinions that tell which thresholds to test, None without any."""
    pilot = calibration.pilot
    if pilot is None:
        return None
    arrays = pilot.gain, pilot.loss_first, pilot.loss_second
    if groups is None:
        return arrays
    return *arrays, labels_of_rows(groups, pilot.first, pilot.rows)


def _solve_cost(target, calibration, options):
    """Return the rule of least cost, that of what the expert asks in turn included.

    A learned gain could be compared with the cost as it is. On six real sets, with four
    draws and four costs, the best cut saves as much with 100 samples, and more with
    1,000: .0039 of the loss of the better opinion alone, instead of .0022.
    """
    samples = calibration.samples
    paid = dict(samples, loss_second=samples["loss_second"] + calibration.cost_second)
    rule = solve_deferral(**paid, deferral_cost=target.value, **options)
    groups = {"groups": options["groups"]} if "groups" in options else {}
    with gather_warnings():  # of what the solver has said
        return rule.measure(**samples, **groups)


def retarget_deferral(estimator, changes):
    """Return a copy of a fitted estimator whose rule is solved for another target."""
    check_target_names(changes, (*_TARGETS, *_OF_ANY))
    if changes.keys() & _TARGETS.keys():
        changes = {**dict.fromkeys(_TARGETS), **changes}
    other = copy_fitted(estimator, changes)
    check_option(other.randomize, "randomize", (True, False))
    loss, score, calibration = other.loss_, other.gain_score_, other.calibration_
    target = find_deferral_target(other)
    refuse_true_class(other.group_by)
    groups = groups_of_retarget(estimator, changes, other)
    check_group_targets(target, groups)
    max_loss = check_max_loss(other, target, loss)
    gains = Gains({"": score}, loss, other.classes_)
    check_deferral_guarantee(other, target, gains, calibration.sample_weight)
    if other.confidence_level is not None and calibration.draws is None:
        raise ValueError(
            f"confidence_level={other.confidence_level!r} needs a random part of the "
            "samples, held out, but this fit held out none, or one drawn class by "
            "class. Call fit with a confidence_level."
        )
    warn_if_vacuous(target, max_loss)
    calibration = add_groups(calibration, groups)
    other.calibration_ = calibration
    other.group_by_ = other.group_by if groups is None else groups.group_by
    other.rule_ = solve_deferral_rule(
        other,
        target,
        calibration,
        loss=loss,
        max_loss=max_loss,
        seed=other.seed_,
        groups=groups,
    )
    return other
