"""What an error says can be met instead: asked for, it is."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB

from sklearn_reject import (
    DeferringClassifier,
    DoubleScoreOODClassifier,
    EnsembleThresholdTuner,
    InfeasibleTargetError,
    SelectiveClassifier,
    SelectiveRegressor,
)

pytestmark = pytest.mark.filterwarnings(
    "ignore::sklearn_reject.exceptions.RejectionWarning"
)

X, y = make_blobs(240, 6, centers=4, cluster_std=9.0, random_state=1)
WITH_OOD = np.where(y == 3, -1, y)
NUMBERS = X @ np.arange(6) + 10 * np.sin(X[:, 0])
CERTIFIED = {"confidence_level": 0.8, "cv": 0.5}


def by_sign(estimator, X):
    """Order samples by something that says nothing about errors."""
    return 1.0 * (np.asarray(X)[:, 0] > 0)


def halves(X):
    return X[:, 1] > 0


BAYES = GaussianNB()
CLASSIFIER = SelectiveClassifier(BAYES, random_state=0)
REGRESSOR = SelectiveRegressor(LinearRegression(), random_state=0)
DEFERS = DeferringClassifier(
    BAYES, LogisticRegression(), gain_score="confidence", random_state=0
)
DOUBLE = DoubleScoreOODClassifier(BAYES, random_state=0)
TUNER = EnsembleThresholdTuner([("bayes", BAYES), ("linear", LogisticRegression())])

NO_RISK = {"target_risk": 0.01, "uncertainty_score": by_sign}
NO_FAILURE = {"target_failure_rate": 0.001, "randomize": False, "cv": 0.5}
IN_CLASSES = {"target_risk": None, "min_precision": {0: 0.9, 1: 1.0}}

# Estimator, labels, what is asked for and the parameters that can be met instead.
CASES = {
    "risk": (CLASSIFIER, y, {}),
    "whole ties": (CLASSIFIER, y, {"randomize": False}),
    "risk of groups": (CLASSIFIER, y, {"group_by": halves}),
    "risk of classes": (CLASSIFIER, y, {"group_by": "class"}),
    "certified risk": (CLASSIFIER, y, CERTIFIED),
    "certified zero": (CLASSIFIER, y, CERTIFIED | {"target_risk": 0.0}),
    "certified by few": (CLASSIFIER, y, CERTIFIED | {"cv": 0.05}),
    "certified losses": (
        CLASSIFIER,
        y,
        CERTIFIED | {"loss": "absolute", "max_loss": 3, "target_risk": 0.1},
    ),
    "certified groups": (CLASSIFIER, y, CERTIFIED | {"group_by": halves}),
    "precision, recall": (CLASSIFIER, y, IN_CLASSES | {"min_recall": {2: 0.999}}),
    "certified precision": (CLASSIFIER, y, IN_CLASSES | CERTIFIED),
    "failures": (CLASSIFIER, y, {"target_risk": None} | NO_FAILURE),
    "failures of groups": (
        CLASSIFIER,
        y,
        {"target_risk": None, "group_by": halves} | NO_FAILURE | CERTIFIED,
    ),
    "regression": (REGRESSOR, NUMBERS, {"target_risk": 1e-9}),
    "system risk": (DEFERS, y, {}),
    "system risk of groups": (DEFERS, y, {"group_by": "prediction"}),
    "certified system risk": (DEFERS, y, CERTIFIED),
    "false positives": (DOUBLE, WITH_OOD, {"min_tpr": 0.9, "max_fpr": 0.05}),
    "risk of ID samples": (DOUBLE, WITH_OOD, {"min_tpr": 0.9, "max_risk": 0.05}),
    "precision of ID samples": (
        DOUBLE,
        WITH_OOD,
        {"min_tpr": 0.9, "min_precision": 0.85, "ood_prior": 0.3},
    ),
    "certified TPR": (DOUBLE, WITH_OOD, CERTIFIED | {"min_tpr": 0.999}),
    "alerts": (TUNER, y == 0, {"max_alerts": 1}),
    "price": (TUNER, y == 0, {"max_fp_per_tp": 1e-4}),
    "precision of alerts": (TUNER, y == 0, {"min_precision": 1.0}),
}


def ask(model, labels, params):
    """Return an error of `fit`, and the estimator."""
    params = {k: v for k, v in NO_RISK.items() if hasattr(model, k)} | params
    if model is TUNER:
        labels = labels.copy()
        labels[np.argmax(TUNER_SCORES)] = False
    model = clone(model).set_params(**params)
    with pytest.raises(InfeasibleTargetError) as caught:
        clone(model).fit(X, labels)
    return caught.value, model, labels


TUNER_SCORES = LogisticRegression().fit(X, y == 0).decision_function(X)


@pytest.mark.parametrize("name", CASES)
def test_what_is_attainable_is_met_when_asked_for(name):
    error, model, labels = ask(*CASES[name])
    assert error.attainable
    model.set_params(**error.attainable).fit(X, labels)
    if not np.isnan(error.coverage) and hasattr(model.rule_, "coverage"):
        assert model.rule_.coverage == pytest.approx(error.coverage, abs=0.1)


@pytest.mark.slow
@pytest.mark.parametrize(
    "bounds",
    [
        {"min_tpr": 0.5, "max_fpr": 0.02},
        {"min_tpr": 0.5, "max_risk": 0.02},
        {"min_tpr": 0.5, "min_precision": 0.99, "ood_prior": 0.3},
        {"min_tpr": 0.5, "max_fpr": 0.02, "cv": 0.02},
    ],
    ids=str,
)
def test_certified_bounds_on_two_scores_are_found_step_by_step(bounds):
    """Each fit tunes another rule, of which something else can be certified."""
    model = clone(DOUBLE).set_params(**CERTIFIED | bounds)
    for _ in range(5):
        try:
            model.fit(X, WITH_OOD)
        except InfeasibleTargetError as error:
            model.set_params(**error.attainable)
        else:
            break
    certificate = model.rule_.certificate
    assert certificate.min_tpr == model.min_tpr
    assert model.rule_.tpr >= certificate.min_tpr


def test_nothing_is_attainable_where_every_prediction_is_wrong():
    wrong = FrozenEstimator(GaussianNB().fit(X, (y + 1) % 4))
    model = SelectiveClassifier(wrong, target_risk=0.1, confidence_level=0.9)
    with pytest.raises(InfeasibleTargetError, match="nor can any risk") as caught:
        model.fit(X, (wrong.predict(X) + 1) % 4)
    assert caught.value.attainable == {}


def test_what_protects_gives_way_where_nothing_can_be_accepted_beside_it():
    data = np.column_stack([np.zeros(10), np.arange(10.0)])
    labels = np.where(np.arange(10) == 0, -1, np.arange(10) % 2)
    double = DoubleScoreOODClassifier(
        FrozenEstimator(GaussianNB().fit(data[1:], labels[1:])),
        uncertainty_score=lambda estimator, X: X[:, 1],
        novelty_score=lambda estimator, X: X[:, 1],
        min_tpr=0.5,
        max_fpr=0.0,
    )
    with pytest.raises(InfeasibleTargetError) as caught:
        double.fit(data, labels)  # the surest sample of all is OOD
    assert caught.value.attainable == {"max_fpr": 1.0}


def test_tpr_alone_is_lowered_to_what_is_not_infinitely_novel():
    def novelty(estimator, X):
        return np.where(X[:, 0] > 0, np.inf, X[:, 1])

    for options in ({}, CERTIFIED):
        double = clone(DOUBLE).set_params(novelty_score=novelty, min_tpr=0.9, **options)
        with pytest.raises(InfeasibleTargetError) as caught:
            double.fit(X, y)
        double.set_params(**caught.value.attainable).fit(X, y)
        assert double.accept(X).mean() == pytest.approx(np.mean(X[:, 0] <= 0), abs=0.02)
