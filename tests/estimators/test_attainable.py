"""What an error says can be met instead: asked for, it is."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from sklearn_reject import DoubleScoreOODClassifier, InfeasibleTargetError
from tests.estimators.models import CLASSIFIER, DEFERRING, DOUBLE, REGRESSOR, TUNER

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


NO_RISK = {"target_risk": 0.01, "uncertainty_score": by_sign}
NO_FAILURE = {"target_failure_rate": 0.001, "randomize": False, "cv": 0.5}
NO_FAILURE["target_risk"] = None
HALVES = {"group_by": halves}
ABSOLUTE = {"loss": "absolute", "max_loss": 3, "target_risk": 0.1}
IN_CLASSES = {"target_risk": None, "min_precision": {0: 0.9, 1: 1.0}}

# Estimator, labels, what is asked for and the parameters that can be met instead.
CASES = {
    "risk": (CLASSIFIER, y, {}),
    "whole ties": (CLASSIFIER, y, {"randomize": False}),
    "risk of groups": (CLASSIFIER, y, HALVES),
    "risk of classes": (CLASSIFIER, y, {"group_by": "class"}),
    "certified risk": (CLASSIFIER, y, CERTIFIED),
    "certified zero": (CLASSIFIER, y, CERTIFIED | {"target_risk": 0.0}),
    "certified by few": (CLASSIFIER, y, CERTIFIED | {"cv": 0.05}),
    "certified losses": (CLASSIFIER, y, CERTIFIED | ABSOLUTE),
    "certified groups": (CLASSIFIER, y, CERTIFIED | HALVES),
    "precision, recall": (CLASSIFIER, y, IN_CLASSES | {"min_recall": {2: 0.999}}),
    "certified precision": (CLASSIFIER, y, IN_CLASSES | CERTIFIED),
    "failures": (CLASSIFIER, y, NO_FAILURE),
    "failures of groups": (CLASSIFIER, y, NO_FAILURE | CERTIFIED | HALVES),
    "failures of classes": (CLASSIFIER, y, NO_FAILURE | {"group_by": "class"}),
    "regression": (REGRESSOR, NUMBERS, {"target_risk": 1e-9}),
    "system risk": (DEFERRING, y, {}),
    "system risk of groups": (DEFERRING, y, {"group_by": "prediction"}),
    "certified system risk": (DEFERRING, y, CERTIFIED),
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


@pytest.mark.parametrize("name", CASES)
def test_what_is_attainable_is_met_when_asked_for(name):
    model, labels, params = CASES[name]
    params = {k: v for k, v in NO_RISK.items() if hasattr(model, k)} | params
    if model is TUNER:
        # What scores highest is none of those that are sought.
        scores = LogisticRegression().fit(X, labels).decision_function(X)
        labels = labels & (np.arange(len(X)) != np.argmax(scores))
    model = clone(model).set_params(**params)
    with pytest.raises(InfeasibleTargetError) as caught:
        clone(model).fit(X, labels)
    error = caught.value
    assert error.attainable
    model.set_params(**error.attainable).fit(X, labels)
    if not np.isnan(error.coverage) and hasattr(model.rule_, "coverage"):
        assert model.rule_.coverage == pytest.approx(error.coverage, abs=0.1)


TIGHT = [{"max_fpr": 0.02}, {"max_fpr": 0.02, "cv": 0.02}, {"max_risk": 0.02}]
TIGHT += [{"min_precision": 0.99, "ood_prior": 0.3}]


@pytest.mark.slow
@pytest.mark.parametrize("bounds", TIGHT, ids=str)
def test_certified_bounds_on_two_scores_are_found_step_by_step(bounds):
    """Each fit tunes another rule, of which something else can be certified."""
    model = clone(DOUBLE).set_params(min_tpr=0.5, **CERTIFIED | bounds)
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
    options = {"estimator": wrong, "target_risk": 0.1, "confidence_level": 0.9}
    model = clone(CLASSIFIER).set_params(**options)
    with pytest.raises(InfeasibleTargetError, match="nor can any risk") as caught:
        model.fit(X, (wrong.predict(X) + 1) % 4)
    assert caught.value.attainable == {}


def test_a_class_without_calibration_samples_may_lose_all():
    frozen = FrozenEstimator(GaussianNB().fit(X, y))
    data, labels = X[y < 3], y[y < 3]
    options = {"target_failure_rate": 0.2, "group_by": "class"}
    model = clone(CLASSIFIER).set_params(estimator=frozen, **options)
    words = r"^0 samples of target_failure_rate\[3\] .*at least 4 are"
    with pytest.raises(InfeasibleTargetError, match=words) as caught:
        model.fit(data, labels)
    few = dict.fromkeys(range(3), 0.2)
    assert caught.value.attainable == {"target_failure_rate": {**few, 3: 1.0}}
    left_out = clone(model).set_params(target_failure_rate=few).fit(data, labels)
    model.set_params(**caught.value.attainable).fit(data, labels)
    assert model.rule_.threshold == left_out.rule_.threshold
    found = model.bounds_["target_failure_rate", 3]
    assert np.isnan(found.achieved)
    assert found.n_samples == 0


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
