import numpy as np
import pytest
from scipy import sparse
from scipy.special import softmax
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

from sklearn_reject._response import _response
from sklearn_reject._response._response import Response

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
@pytest.mark.parametrize(
    "load", [load_digits, pytest.param(load_breast_cancer, marks=pytest.mark.slow)]
)
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
    with pytest.raises(ValueError, match=r"gives one value per pair.*Use .*'ovr'"):
        _ = Response(clf, X).decision_values
    binary = SVC(decision_function_shape="ovo").fit(X[y < 2], y[y < 2])
    assert Response(binary, X).decision_values.ndim == 1


def fit_digits(estimator, n_classes=3):
    X, y = load_digits(return_X_y=True)
    rows = np.flatnonzero(y < n_classes)[:200]
    return estimator.fit(X[rows], y[rows]), X[rows]


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    "estimator", [LogisticRegression(max_iter=5000), LinearSVC(), SVC()], ids=name_of
)
def test_logits_are_decision_values(estimator, n_classes):
    estimator, X = fit_digits(estimator, n_classes)
    values = estimator.decision_function(X)
    if n_classes == 2:
        values = np.stack([-values / 2, values / 2], axis=1)
    np.testing.assert_array_equal(Response(estimator, X).logits, values)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("wrap", [make_pipeline, FrozenEstimator], ids=name_of)
def test_logits_of_a_network_give_its_probabilities(n_classes, wrap):
    network = MLPClassifier((6,), max_iter=5000, tol=1e-2, random_state=0)
    pipeline = make_pipeline(MinMaxScaler(), network)
    estimator, X = fit_digits(pipeline, n_classes)
    response = Response(wrap(estimator), X)
    assert response.features.shape == (len(X), 6)
    assert response.logits.shape == (len(X), n_classes)
    np.testing.assert_allclose(
        softmax(response.logits, axis=1), estimator.predict_proba(X), atol=1e-12
    )


def test_features_are_what_reaches_the_classifier():
    estimator, X = fit_digits(make_pipeline(MinMaxScaler(), make_pipeline(SVC())))
    expected = estimator[0].transform(X)
    np.testing.assert_array_equal(Response(estimator, X).features, expected)
    for wrapped in (FrozenEstimator(estimator), make_pipeline(estimator)):
        np.testing.assert_array_equal(Response(wrapped, X).features, expected)
    classifier, X = fit_digits(GaussianNB())
    features = Response(classifier, X.astype(np.float32)).features
    np.testing.assert_array_equal(features, X)
    assert features.dtype == np.float64


def test_hidden_layer_by_hand():
    network = MLPClassifier((6,), max_iter=5000, tol=1e-2, random_state=0)
    network, X = fit_digits(network)
    expected = np.maximum(X @ network.coefs_[0] + network.intercepts_[0], 0)
    np.testing.assert_allclose(Response(network, X).features, expected)


def test_features_of_dataframes_and_sparse_matrices():
    pandas = pytest.importorskip("pandas")
    network = MLPClassifier((6,), max_iter=5000, tol=1e-2, random_state=0)
    _, X = fit_digits(GaussianNB())
    frame = pandas.DataFrame(X).rename(columns=str)
    y = np.arange(len(X)) % 3
    for estimator in (network, make_pipeline(MinMaxScaler(), network)):
        estimator.fit(frame, y)
        expected = Response(FrozenEstimator(estimator), frame).features
        assert expected.shape == (len(X), 6)
    network.fit(X, y)
    np.testing.assert_allclose(
        Response(network, sparse.csr_matrix(X)).features,
        Response(network, X).features,
    )
    linear = LogisticRegression(max_iter=5000).fit(X, y)
    assert sparse.issparse(Response(linear, sparse.csr_matrix(X)).features)


def test_samples_that_cannot_be_features():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"color": ["red", "blue"]})
    response = Response(Custom(), frame)
    with pytest.raises(ValueError, match=r"inputs of Custom cannot.*Put the preproc"):
        _ = response.features


def test_a_network_checks_the_number_of_features():
    network = MLPClassifier((6,), max_iter=5000, tol=1e-2, random_state=0)
    network, X = fit_digits(network)
    with pytest.raises(ValueError, match="expecting 64 features"):
        _ = Response(network, X[:, 1:]).features


def test_classifiers_without_logits():
    estimator, X = fit_digits(GaussianNB())
    with pytest.raises(ValueError, match=r"no logits.*'msp'.*`logits` of the score"):
        _ = Response(estimator, X).logits
    assert Response(estimator, X).head is None
