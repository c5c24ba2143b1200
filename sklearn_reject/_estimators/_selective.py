"""What selective estimators do alike: ask, plan, evaluate, solve and store."""

from dataclasses import replace

from sklearn.base import ClassifierMixin

from sklearn_reject._estimators._base import (
    find_classes,
    read_samples,
    warn_of_lost_classes,
)
from sklearn_reject._estimators._calibration import calibration_of
from sklearn_reject._estimators._groups import find_groups
from sklearn_reject._estimators._problem import Problem, solve_and_store
from sklearn_reject._estimators._rejection_models import keeps_promise, uses_plain_rule
from sklearn_reject._estimators._targets import find_target
from sklearn_reject._fitting._folds import Samples, evaluation_of
from sklearn_reject._fitting._out_of_sample import evaluate_for_threshold
from sklearn_reject._fitting._routing import check_inner, draw_seeds, route_params
from sklearn_reject._fitting._splits import check_cv_choice, plan_fits
from sklearn_reject._labels import resolve_reject_label
from sklearn_reject._validation import check_option
from sklearn_reject.scores import resolve_score


def fit_selective(estimator, X, y, **params):
    """Fit a selective classifier or regressor, and return it."""
    target, is_of_classes = (
        find_target(estimator),
        isinstance(estimator, ClassifierMixin),
    )
    kind, other = ("classifier", "Regressor"), ("regressor", "Classifier")
    kind, other = kind if is_of_classes else other
    check_inner(estimator, kind, way_out=f" Use Selective{other}.")
    check_option(estimator.randomize, "randomize", (True, False))
    X, y = read_samples(X, y, params, estimator._check_y)
    samples = Samples(X, y, *route_params(estimator, len(y), params))

    classes, attributes = find_classes(estimator.estimator, y, kind), {}
    if is_of_classes:
        label = resolve_reject_label(estimator.reject_label, classes)
        attributes["reject_label_"] = label
    groups = find_groups(estimator, X, classes)
    loss = estimator._check_loss(estimator.loss, labels=classes)
    score_seed, row_seed = draw_seeds(estimator.random_state)
    score, inner = estimator.uncertainty_score, estimator.estimator
    score = resolve_score(score, inner, loss=loss, random_state=score_seed)
    evaluation = evaluation_of(score, loss, classes)
    learns = evaluation.learns
    check_cv_choice(estimator, learns=learns, takes_plug_in=is_of_classes)
    problem = Problem(target, groups, loss, score, row_seed)
    problem = problem.posed_by(estimator, samples.sample_weight, classes)

    options = {"learns": learns, "needs_data": not uses_plain_rule(estimator, problem)}
    # What is promised is about samples that are drawn independently.
    stratify = is_of_classes and not keeps_promise(estimator, target)
    plan = plan_fits(estimator, samples, stratify=stratify, **options)
    evaluated = evaluate_for_threshold(estimator, evaluation, samples, plan)
    if is_of_classes:
        warn_of_lost_classes(estimator, evaluated.estimator, classes)
    labels = y if is_of_classes else None
    calibration = calibration_of(evaluated, samples, row_seed, labels, groups)
    # What "auto" stands for may have shown on the fitted classifier only.
    score = attributes["uncertainty_score_"] = evaluated.score.score
    problem = replace(problem, score=score)
    return solve_and_store(
        estimator, problem, evaluated, samples, calibration, **attributes
    )
