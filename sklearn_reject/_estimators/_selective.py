"""What selective estimators do alike: ask, plan, evaluate, solve and store."""

from sklearn.base import ClassifierMixin
from sklearn.utils import indexable

from sklearn_reject._estimators._asked import (
    check_max_loss,
    find_target,
    target_names,
    warn_if_vacuous,
)
from sklearn_reject._estimators._base import (
    find_classes,
    store_fitted,
    warn_of_lost_classes,
)
from sklearn_reject._estimators._calibration import (
    calibration_of,
    warn_of_coarse_scores,
)
from sklearn_reject._estimators._groups import (
    add_groups,
    check_group_targets,
    find_groups,
    groups_of_retarget,
)
from sklearn_reject._estimators._rejection_models import (
    check_guarantee,
    keeps_promise,
    measure_bounds,
    solve_rule,
    uses_plain_rule,
)
from sklearn_reject._estimators._retarget import check_target_names, copy_fitted
from sklearn_reject._fitting._folds import evaluation_of
from sklearn_reject._fitting._out_of_sample import evaluate_for_threshold
from sklearn_reject._fitting._routing import check_inner, draw_seeds, route_params
from sklearn_reject._fitting._splits import check_cv_choice, plan_fits
from sklearn_reject._labels import resolve_reject_label
from sklearn_reject._validation import check_option, require_in_memory
from sklearn_reject.scores import resolve_score

# What a rule depends on beside its target.
_OF_ANY = ("group_by", "confidence_level", "max_loss", "randomize")


def fit_selective(
    estimator, X, y, sample_weight, params, *, check_y, check_loss, default_cost=None
):
    """Fit a selective classifier or regressor, and return it.

    `check_y` returns labels or targets, `check_loss` the loss for classes, which are
    None for a regressor.
    """
    target = find_target(estimator, default_cost)
    is_of_classes = isinstance(estimator, ClassifierMixin)
    kind, other = ("classifier", "Regressor"), ("regressor", "Classifier")
    kind, other = kind if is_of_classes else other
    check_inner(estimator, kind, way_out=f" Use Selective{other}.")
    check_option(estimator.randomize, "randomize", (True, False))
    require_in_memory(X=X, y=y, sample_weight=sample_weight, **params)
    X, y = indexable(X, y)
    y = check_y(y)
    params = {"sample_weight": sample_weight, **params}
    fit_params, split_params, weight = route_params(
        estimator, len(y), params, estimator=estimator.estimator
    )

    classes, of_classes = find_classes(estimator.estimator, y, kind), {}
    if is_of_classes:
        label = resolve_reject_label(estimator.reject_label, classes)
        of_classes["reject_label_"] = label
    groups = find_groups(estimator, X, classes)
    check_group_targets(target, groups)
    loss = check_loss(estimator.loss, classes)
    target = target.prepare(classes, loss)
    score_seed, row_seed = draw_seeds(estimator.random_state)
    score = resolve_score(
        estimator.uncertainty_score,
        estimator.estimator,
        loss=loss,
        random_state=score_seed,
    )
    evaluation = evaluation_of(score, loss, classes)
    check_cv_choice(
        estimator.cv,
        estimator.estimator,
        learns=evaluation.learns,
        takes_plug_in=is_of_classes,
    )
    max_loss = check_max_loss(estimator, target, loss)
    check_guarantee(estimator, target, score, weight)
    is_plain = uses_plain_rule(estimator, target, score)
    warn_if_vacuous(target, max_loss)

    plan = plan_fits(
        estimator,
        X,
        y,
        split_params,
        learns=evaluation.learns,
        needs_data=not is_plain,
        # What is promised is about samples that are drawn independently.
        stratify=is_of_classes and not keeps_promise(estimator, target),
    )
    evaluated = evaluate_for_threshold(
        estimator.estimator,
        evaluation,
        X,
        y,
        plan=plan,
        fit_params=fit_params,
        sample_weight=weight,
        caller=estimator,
    )
    if is_of_classes:
        warn_of_lost_classes(estimator, evaluated.estimator, classes)
    calibration = calibration_of(
        evaluated,
        X,
        weight,
        row_seed,
        labels=y if is_of_classes else None,
        groups=groups,
    )
    # What "auto" stands for may have shown on the fitted classifier only.
    score = evaluated.score.score
    rule = solve_rule(
        estimator,
        target,
        calibration,
        score=score,
        loss=loss,
        max_loss=max_loss,
        seed=row_seed,
        groups=groups,
    )
    if is_of_classes:
        of_classes["bounds_"] = measure_bounds(estimator, target, rule, calibration)
    store_fitted(
        estimator,
        evaluated.estimator,
        uncertainty_score_=score,
        loss_=loss,
        calibration_=calibration,
        rule_=rule,
        group_by_=estimator.group_by,
        seed_=row_seed,
        **of_classes,
    )
    warn_of_coarse_scores(estimator, evaluated, X, weight, rule.coverage, "accepts")
    return estimator


def retarget(estimator, changes, default):
    """Return a copy of a fitted estimator whose rule is solved for another target."""
    names = target_names(estimator)
    check_target_names(changes, (*names, *_OF_ANY))
    if changes.keys() & set(names):
        changes = {**dict.fromkeys(names), **changes}
    other = copy_fitted(estimator, changes)
    check_option(other.randomize, "randomize", (True, False))
    loss, score, calibration = other.loss_, other.uncertainty_score_, other.calibration_
    target = find_target(other, default)
    groups = groups_of_retarget(estimator, changes, other)
    check_group_targets(target, groups)
    target = target.prepare(getattr(other, "classes_", None), loss)
    max_loss = check_max_loss(other, target, loss)
    weight = None if calibration is None else calibration.sample_weight
    check_guarantee(other, target, score, weight)
    certifies = other.confidence_level is not None
    if certifies and calibration is not None and calibration.draws is None:
        raise ValueError(
            f"confidence_level={other.confidence_level!r} needs a random part of the "
            "samples, held out, but this fit held out none, or one drawn class by "
            "class. Call fit with a confidence_level."
        )
    if calibration is None and not uses_plain_rule(other, target, score):
        raise ValueError(
            f"{target} needs out-of-sample predictions, but this fit made none, "
            "because the plug-in rule does not need them. Fit with cv=5."
        )
    warn_if_vacuous(target, max_loss)
    calibration = add_groups(calibration, groups)
    other.calibration_ = calibration
    other.group_by_ = other.group_by if groups is None else groups.group_by
    other.rule_ = solve_rule(
        other,
        target,
        calibration,
        score=score,
        loss=loss,
        max_loss=max_loss,
        seed=other.seed_,
        groups=groups,
    )
    if hasattr(other, "bounds_"):
        other.bounds_ = measure_bounds(other, target, other.rule_, calibration)
    return other
