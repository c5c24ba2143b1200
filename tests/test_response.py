import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import (
    BaggingClassifier,
    ExtraTreesClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import (
    LogisticRegression,
    LogisticRegressionCV,
    Perceptron,
    RidgeClassifier,
    RidgeClassifierCV,
    SGDClassifier,
)
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.naive_bayes import (
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    GaussianNB,
    MultinomialNB,
)
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier

from sklearn_reject import _response
from sklearn_reject._response import Response

PROBABLE = [
    BaggingClassifier(n_estimators=3, random_state=0),
    BernoulliNB(binarize=0.5),
    CalibratedClassifierCV(GaussianNB(), cv=2),
    CategoricalNB(min_categories=20),
    ComplementNB(),
    DecisionTreeClassifier(max_depth=3, random_state=0),
    ExtraTreeClassifier(max_depth=3, random_state=0),
    ExtraTreesClassifier(4, max_depth=2, random_state=0),
    GaussianNB(),
    HistGradientBoostingClassifier(max_iter=3),
    LinearDiscriminantAnalysis(),
    LogisticRegression(max_iter=5000),
    LogisticRegressionCV(Cs=2, cv=2, max_iter=5000),
    MLPClassifier((5,), max_iter=5000, random_state=0, tol=1e-2),
    MultinomialNB(),
    RandomForestClassifier(4, max_depth=2, random_state=0),
]
DECIDING = [
    LinearDiscriminantAnalysis(),
    LinearSVC(random_state=0),
    LogisticRegression(max_iter=5000),
    LogisticRegressionCV(Cs=2, cv=2, max_iter=5000),
    Perceptron(random_state=0),
    RidgeClassifier(),
    RidgeClassifierCV(),
    SGDClassifier(random_state=0),
]


def name_of(estimator):
    return type(estimator).__name__


def make_data(load):
    X, y = load(return_X_y=True)
    # Few distinct values, as every family of naive Bayes takes them, make ties.
    return np.round(MinMaxScaler().fit_transform(X)[:400] * 10), y[:400]


def test_tables_name_what_is_tested_here():
    assert {name_of(e) for e in PROBABLE} == _response._PREDICT_MOST_PROBABLE
    assert {name_of(e) for e in DECIDING} == _response._PREDICT_LARGEST_DECISION


@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::UserWarning")
@pytest.mark.parametrize("load", [load_digits, load_breast_cancer])
@pytest.mark.parametrize("estimator", PROBABLE, ids=name_of)
def test_labels_from_probabilities_are_what_predict_returns(estimator, load):
    X, y = make_data(load)
    response = Response(estimator.fit(X[:150], y[:150]), X)
    assert response.probabilities.shape == (400, len(response.classes))
    np.testing.assert_array_equal(response.labels, estimator.predict(X))


@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::UserWarning")
@pytest.mark.parametrize("load", [load_digits, load_breast_cancer])
@pytest.mark.parametrize("estimator", DECIDING, ids=name_of)
def test_labels_from_decision_values_are_what_predict_returns(estimator, load):
    X, y = make_data(load)
    response = Response(estimator.fit(X[:150], y[:150]), X)
    assert len(response.decision_values) == 400
    np.testing.assert_array_equal(response.labels, estimator.predict(X))


@pytest.mark.parametrize("labels", [["b", "a", "c"], [7, -1, 3]])
def test_label_indices_point_into_classes(labels):
    X, y = load_digits(return_X_y=True)
    X, y = X[y < 3], np.array(labels)[y[y < 3]]
    for estimator in (GaussianNB(), SVC()):
        response = Response(estimator.fit(X, y), X)
        np.testing.assert_array_equal(
            response.classes[response.label_indices], response.labels
        )


def count_calls(monkeypatch, cls, *methods):
    calls = []
    for method in methods:
        original = getattr(cls, method)

        def counted(self, X, original=original, method=method):
            calls.append((method, len(X)))
            return original(self, X)

        monkeypatch.setattr(cls, method, counted)
    return calls


@pytest.mark.parametrize("wrap", [lambda e: e, FrozenEstimator, make_pipeline])
def test_one_pass(wrap, monkeypatch):
    X, y = make_data(load_breast_cancer)
    estimator = wrap(LogisticRegression(max_iter=5000).fit(X, y))
    calls = count_calls(monkeypatch, LogisticRegression, "predict", "predict_proba")
    response = Response(estimator, X)
    assert len(response.probabilities) == len(response.labels)
    assert response.probabilities is response.probabilities
    assert calls == [("predict_proba", 400)]


def test_rows_that_tie_are_asked_for(monkeypatch):
    X, y = make_data(load_digits)
    forest = RandomForestClassifier(2, max_depth=1, random_state=0).fit(X, y)
    n_tied = sum(
        len(set(p)) < len(p) and p.max() in np.delete(p, p.argmax())
        for p in forest.predict_proba(X)
    )
    calls = count_calls(monkeypatch, RandomForestClassifier, "predict")
    response = Response(forest, X)
    assert len(response.probabilities) == len(response.labels)
    assert n_tied == sum(n for _, n in calls)


def test_a_classifier_that_decides_otherwise_is_asked():
    X, y = make_data(load_breast_cancer)
    inner = LogisticRegression(max_iter=5000).fit(X, y)
    strict = FixedThresholdClassifier(FrozenEstimator(inner), threshold=0.97).fit(X, y)
    response = Response(strict, X)
    assert (response.probabilities.argmax(axis=1) != strict.predict(X)).any()
    np.testing.assert_array_equal(response.labels, strict.predict(X))


class Custom(ClassifierMixin, BaseEstimator):
    """Returns what it is told to."""

    classes_ = np.array([0, 1])

    def __init__(self, values=None, labels=None):
        self.values = values
        self.labels = labels

    def fit(self, X, y):
        return self

    def predict(self, X):
        return np.asarray(self.labels)

    def predict_proba(self, X):
        return self.values

    decision_function = predict_proba


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (np.zeros((2, 3)), r"returned an array of shape \(2, 3\), expected a column"),
        ([np.zeros((2, 2))] * 3, "Only single-label classifiers"),
        (np.array([[np.nan, 0.0], [0.0, 1.0]]), "returned values that are not finite"),
    ],
)
@pytest.mark.parametrize("attribute", ["probabilities", "decision_values"])
def test_bad_values_of_a_classifier(values, message, attribute):
    with pytest.raises(ValueError, match=message):
        getattr(Response(Custom(values), np.zeros((2, 1))), attribute)


def test_a_label_that_is_no_class():
    with pytest.raises(
        ValueError, match=r"Custom.predict returned the label 5.*\[0, 1\]"
    ):
        _ = Response(Custom(labels=[0, 5]), np.zeros((2, 1))).label_indices


@pytest.mark.parametrize(
    ("estimator", "attribute", "method"),
    [
        (LinearSVC(), "probabilities", "predict_proba"),
        (GaussianNB(), "decision_values", "decision_function"),
    ],
)
def test_missing_methods(estimator, attribute, method):
    with pytest.raises(ValueError, match=rf"has no `{method}`.*uncertainty_score"):
        getattr(Response(estimator, None), attribute)


class Constant:
    """Predicts the first class, whatever the probabilities."""

    def predict(self, X):
        return np.repeat(self.classes_[:1], len(X))


class ConstantPipeline(Constant, Pipeline):
    """A pipeline that decides by itself."""


class ConstantFrozen(Constant, FrozenEstimator):
    """A frozen estimator that decides by itself."""


def test_subclasses_of_transparent_estimators_are_asked():
    X, y = make_data(load_breast_cancer)
    for estimator in (
        ConstantPipeline([("nb", GaussianNB())]).fit(X, y),
        ConstantFrozen(GaussianNB().fit(X, y)),
    ):
        response = Response(estimator, X)
        assert len(response.probabilities) == 400
        np.testing.assert_array_equal(response.labels, 0)


def test_pairwise_decision_values_are_refused():
    X, y = load_digits(return_X_y=True)
    clf = SVC(decision_function_shape="ovo").fit(X[y < 3], y[y < 3])
    with pytest.raises(ValueError, match=r"'ovo' gives one value a pair.*Use .*'ovr'"):
        _ = Response(clf, X).decision_values
    binary = SVC(decision_function_shape="ovo").fit(X[y < 2], y[y < 2])
    assert Response(binary, X).decision_values.ndim == 1
