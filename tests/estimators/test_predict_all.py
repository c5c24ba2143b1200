"""One call for label, uncertainty and acceptance, by one pass of what is inside."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.datasets import load_iris
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_reject import (
    Decisions,
    DoubleScoreOODClassifier,
    SelectiveClassifier,
    SelectiveRegressor,
)
from sklearn_reject.metrics import get_selective_scorer
from sklearn_reject.scores import KNN, SELE, ConditionalRisk

X, Y = load_iris(return_X_y=True)
IS_OOD = np.where(np.arange(len(Y)) % 5 == 0, -1, Y)
TARGETS = np.column_stack([X[:, 3], X[:, 2]])

COMMON = {"cv": 2, "random_state": 0}
ESTIMATORS = {
    "default": SelectiveClassifier(GaussianNB()).fit(X, Y),
    "rejects nobody by label": SelectiveClassifier(
        GaussianNB(), target_coverage=0.6, reject_label=None, **COMMON
    ).fit(X, Y),
    "bayes": SelectiveClassifier(
        GaussianNB(),
        target_coverage=0.9,
        uncertainty_score=ConditionalRisk(decision="bayes"),
        **COMMON,
    ).fit(X, Y),
    "learned": SelectiveClassifier(
        GaussianNB(), target_coverage=0.6, uncertainty_score=SELE(alphas=0.1), **COMMON
    ).fit(X, Y),
    "ties": SelectiveClassifier(
        KNeighborsClassifier(3), target_coverage=0.9, **COMMON
    ).fit(X[:, :2], Y),
    "frozen, in a pipeline": SelectiveClassifier(
        FrozenEstimator(make_pipeline(StandardScaler(), GaussianNB()).fit(X, Y)),
        target_coverage=0.7,
    ).fit(X, Y),
    "double": DoubleScoreOODClassifier(
        GaussianNB(), min_tpr=0.8, novelty_score=KNN(2), **COMMON
    ).fit(X, IS_OOD),
    "regressor": SelectiveRegressor(
        Ridge(), target_coverage=0.7, uncertainty_score=SELE(alphas=0.1), **COMMON
    ).fit(X[:, :2], TARGETS[:, 0]),
    "outputs": SelectiveRegressor(
        Ridge(), target_coverage=0.3, uncertainty_score=SELE(alphas=0.1), **COMMON
    ).fit(X[:, :2], TARGETS),
}


def rows_of(estimator):
    return X[:, : estimator.n_features_in_]


def labels_of(estimator, X):
    return getattr(estimator, "predict_label", estimator.predict)(X)


def assert_equal(first, second):
    for one, other in zip(first, second, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_it_is_what_the_separate_methods_say(kind):
    estimator = ESTIMATORS[kind]
    new = rows_of(estimator)
    decisions = estimator.predict_all(new)
    assert type(decisions) is Decisions
    expected = labels_of(estimator, new), estimator.uncertainty(new)
    assert_equal(decisions, (*expected, estimator.accept(new)))
    assert all(type(values) is np.ndarray for values in decisions)
    assert decisions.accepted.dtype == bool
    assert 0 < decisions.accepted.sum() < len(new) or kind == "default"


@pytest.mark.parametrize("kind", ESTIMATORS)
@pytest.mark.parametrize("size", [1, 7])
def test_rows_do_not_depend_on_the_rows_beside_them(kind, size):
    estimator = ESTIMATORS[kind]
    new = rows_of(estimator)[:28]
    whole = estimator.predict_all(new)
    parts = [estimator.predict_all(new[i : i + size]) for i in range(0, 28, size)]
    label, uncertainty, accepted = map(np.concatenate, zip(*parts, strict=True))
    np.testing.assert_array_equal(accepted, whole.accepted)
    # Those of the estimator inside may round otherwise in another batch.
    np.testing.assert_allclose(uncertainty, whole.uncertainty, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(label, whole.label, rtol=1e-9)


@pytest.mark.parametrize("kind", ["default", "bayes", "learned", "double"])
def test_the_classifier_predicts_once(kind, monkeypatch):
    passes = []
    likelihood = GaussianNB._joint_log_likelihood  # what all its methods go through
    monkeypatch.setattr(
        GaussianNB,
        "_joint_log_likelihood",
        lambda self, X: passes.append(len(X)) or likelihood(self, X),
    )
    ESTIMATORS[kind].predict_all(X)
    assert passes == [len(X)]
    get_selective_scorer("neg_aurc")(ESTIMATORS[kind], X, Y)
    assert passes == [len(X)] * 2
    ESTIMATORS[kind].score(X, Y)
    assert passes == [len(X)] * 3


def test_keys_are_those_of_accept():
    tied = ESTIMATORS["ties"]
    at_threshold = tied.rule_.at_threshold(tied.uncertainty(X[:, :2]))
    row = X[:, :2][at_threshold][:1].repeat(200, axis=0)
    decisions = tied.predict_all(row, keys=range(200))
    np.testing.assert_array_equal(decisions.accepted, tied.accept(row, range(200)))
    assert len(np.unique(decisions.accepted)) == 2
    assert len(np.unique(tied.predict_all(row).accepted)) == 1
    with pytest.raises(ValueError, match="keys must be a vector"):
        tied.predict_all(row, keys=[1])


def test_keys_and_a_certificate():
    certified = SelectiveClassifier(
        GaussianNB(), target_coverage=0.5, confidence_level=0.9, cv=0.5, random_state=0
    ).fit(X, Y)
    assert certified.predict_all(X).accepted.any()
    with pytest.raises(ValueError, match="keys cannot be combined with a confidence"):
        certified.predict_all(X, keys=range(150))


class Outsider(BaseEstimator):
    """A classifier of another package that rejects, without `predict_all`."""

    def predict(self, X):
        return ESTIMATORS["bayes"].predict(X)

    def predict_label(self, X):
        return ESTIMATORS["bayes"].predict_label(X)

    def uncertainty(self, X):
        return ESTIMATORS["bayes"].uncertainty(X)


def test_metrics_do_without_it():
    scorer = get_selective_scorer("neg_aurc")
    assert scorer(Outsider(), X, Y) == scorer(ESTIMATORS["bayes"], X, Y)


def test_before_the_fit():
    with pytest.raises(ValueError, match="not fitted"):
        SelectiveClassifier(GaussianNB()).predict_all(X)
