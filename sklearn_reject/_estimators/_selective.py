"""What selective estimators do alike: ask, plan, evaluate, solve and store."""

from dataclasses import replace

from sklearn.base import ClassifierMixin

from sklearn_reject._estimators._base import (
    find_classes,
    read_samples,
    store_fitted,
    warn_of_lost_classes,
)
from sklearn_reject._estimators._calibration import (
    calibration_of,
    warn_of_coarse_scores,
)
from sklearn_reject._estimators._groups import find_groups
from sklearn_reject._estimators._problem import pose
from sklearn_reject._estimators._rejection_models import (
    keeps_promise,
    measure_bounds,
    solve_rule,
    uses_plain_rule,
)
from sklearn_reject._estimators._targets import find_target
from sklearn_reject._fitting._folds import evaluation_of
from sklearn_reject._fitting._out_of_sample import evaluate_for_threshold
from sklearn_reject._fitting._routing import check_inner, draw_seeds, route_params
from sklearn_reject._fitting._splits import check_cv_choice, plan_fits
from sklearn_reject._labels import resolve_reject_label
from sklearn_reject._validation import check_option
from sklearn_reject.scores import resolve_score


def fit_selective(estimator, X, y, params, *, check_y, check_loss):
    """Fit a selective classifier or regressor, and return it.

    `check_y` returns labels or targets, `check_loss` the loss for classes, which are
    None for a regressor.
    """
    target, is_of_classes = (
        find_target(estimator),
        isinstance(estimator, ClassifierMixin),
    )
    kind, other = ("classifier", "Regressor"), ("regressor", "Classifier")
    kind, other = kind if is_of_classes else other
    check_inner(estimator, kind, way_out=f" Use Selective{other}.")
    check_option(estimator.randomize, "randomize", (True, False))
    X, y = read_samples(X, y, params, check_y)
    fit_params, split_params, weight = route_params(
        estimator, len(y), params, estimator=estimator.estimator
    )

    classes, of_classes = find_classes(estimator.estimator, y, kind), {}
    if is_of_classes:
        label = resolve_reject_label(estimator.reject_label, classes)
        of_classes["reject_label_"] = label
    groups = find_groups(estimator, X, classes)
    loss = check_loss(estimator.loss, classes)
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
    problem = pose(
        estimator,
        target,
        groups,
        loss=loss,
        score=score,
        seed=row_seed,
        weight=weight,
        classes=classes,
    )

    plan = plan_fits(
        estimator,
        X,
        y,
        split_params,
        learns=evaluation.learns,
        needs_data=not uses_plain_rule(estimator, problem),
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
    labels = y if is_of_classes else None
    calibration = calibration_of(evaluated, X, weight, row_seed, labels, groups)
    # What "auto" stands for may have shown on the fitted classifier only.
    problem = replace(problem, score=evaluated.score.score)
    solved = estimator._solve(problem, calibration)
    store_fitted(
        estimator,
        evaluated.estimator,
        uncertainty_score_=problem.score,
        loss_=loss,
        calibration_=calibration,
        group_by_=estimator.group_by,
        seed_=row_seed,
        **of_classes,
        **solved,
    )
    coverage = solved["rule_"].coverage
    warn_of_coarse_scores(estimator, evaluated, X, weight, coverage, "accepts")
    return estimator


def solve_selective(estimator, problem, calibration):
    """Return the attributes that a rule of rejection is kept in."""
    rule = solve_rule(estimator, problem, calibration)
    if not isinstance(estimator, ClassifierMixin):
        return {"rule_": rule}
    bounds = measure_bounds(estimator, problem.target, rule, calibration)
    return {"rule_": rule, "bounds_": bounds}
