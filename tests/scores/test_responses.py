"""What classifiers say is asked for once, and read as they mean it."""

from inspect import signature

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.multioutput import MultiOutputClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import LinearSVC
from sklearn.utils import all_estimators

from sklearn_reject import (
    EnsembleThresholdTuner,
    ExpectedLossDecoder,
    SelectiveClassifier,
)
from sklearn_reject.scores import KNN, ConditionalRisk, Margin

CHEAP = {
    **{"n_estimators": 4, "max_depth": 2, "max_iter": 5, "cv": 2, "Cs": 2},
    **{"min_categories": 20, "radius": 1e3, "binarize": 0.5},
    **{"gamma": 0.01, "random_state": 0},
}
# They need an estimator after all, more samples than columns, or go soon.
LEFT_OUT = {
    *("SelfTrainingClassifier", "QuadraticDiscriminantAnalysis"),
    "PassiveAggressiveClassifier",
}
METHODS = {"conditional_risk": "predict_proba", "margin": "decision_function"}


def classifiers_and_scores():
    """Return each classifier of scikit-learn that needs no other one, and its score."""
    pairs = []
    for name, kind in all_estimators(type_filter="classifier"):
        names = signature(kind).parameters
        needs_no_other = all(each.default is not each.empty for each in names.values())
        if needs_no_other and name not in LEFT_OUT:
            model = kind(**{key: CHEAP[key] for key in CHEAP if key in names})
            scores = (s for s, method in METHODS.items() if hasattr(model, method))
            pairs += [pytest.param(model, s, id=f"{name}-{s}") for s in scores]
    return pairs


def make_data(load=load_digits, n_classes=10):
    X, y = load(return_X_y=True)
    X, y = X[y < n_classes], y[y < n_classes]
    # Few distinct values, as every family of naive Bayes takes them, make ties.
    return np.round(MinMaxScaler().fit_transform(X)[:400] * 10), y[:400]


def select(estimator, score="auto"):
    return SelectiveClassifier(
        FrozenEstimator(estimator), uncertainty_score=score, target_coverage=0.5
    )


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "load", [load_digits, pytest.param(load_breast_cancer, marks=pytest.mark.slow)]
)
@pytest.mark.parametrize(("estimator", "score"), classifiers_and_scores())
def test_labels_are_what_predict_returns(estimator, score, load):
    X, y = make_data(load)
    estimator.fit(X[:150], y[:150])
    selective = select(estimator, score).fit(X, y)
    np.testing.assert_array_equal(selective.predict_label(X), estimator.predict(X))
    found = selective.predict_all(X).label
    np.testing.assert_array_equal(found, estimator.predict(X))


def count_calls(monkeypatch, kind, *methods):
    calls = []
    for method in methods:
        original = getattr(kind, method)

        def counted(self, X, original=original, method=method):
            calls.append((method, X.shape[0]))
            return original(self, X)

        monkeypatch.setattr(kind, method, counted)
    return calls


@pytest.mark.parametrize("wrap", [lambda e: e, FrozenEstimator, make_pipeline])
def test_one_pass(wrap, monkeypatch):
    X, y = make_data(load_breast_cancer)
    inner = wrap(LogisticRegression(max_iter=5000).fit(X, y))
    selective = select(inner).fit(X, y)
    calls = count_calls(monkeypatch, LogisticRegression, "predict", "predict_proba")
    selective.predict_all(X)
    assert calls == [("predict_proba", 400)]


def test_rows_that_tie_are_asked_for(monkeypatch):
    X, y = make_data()
    forest = RandomForestClassifier(2, random_state=0).fit(X[:150], y[:150])
    selective = select(forest).fit(X, y)
    two = np.sort(forest.predict_proba(X), axis=1)[:, -2:]
    assert (two[:, 0] == two[:, 1]).any()
    calls = count_calls(monkeypatch, RandomForestClassifier, "predict")
    selective.predict_all(X)
    assert [n for _, n in calls] == [np.sum(two[:, 0] == two[:, 1])]


class Constant:
    """Predicts the first class, whatever the probabilities."""

    def predict(self, X):
        return np.repeat(self.classes_[:1], len(X))


class ConstantPipeline(Constant, Pipeline): ...


class ConstantFrozen(Constant, FrozenEstimator): ...


@pytest.mark.filterwarnings("ignore::sklearn_reject.exceptions.RejectionWarning")
def test_what_decides_otherwise_is_asked():
    X, y = make_data(load_breast_cancer)
    for estimator in (
        ConstantPipeline([("nb", GaussianNB())]).fit(X, y),
        ConstantFrozen(GaussianNB().fit(X, y)),
    ):
        expected = estimator.predict(X)
        assert (estimator.predict_proba(X).argmax(axis=1) != expected).any()
        found = select(estimator).fit(X, y).predict_all(X).label
        np.testing.assert_array_equal(found, expected)


class Given(ClassifierMixin, BaseEstimator):
    """Says what it is told to."""

    def __init__(self, values=None, labels=None, classes_=(0, 1)):
        self.values = values
        self.labels = labels
        self.classes_ = classes_

    def fit(self, X, y):
        return self

    def predict(self, X):
        return np.asarray(self.labels)

    def predict_proba(self, X):
        return self.values

    decision_function = predict_proba

    def __sklearn_is_fitted__(self):
        return True


TWO, HALF = np.zeros((2, 1)), np.full((2, 2), 0.5)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (np.zeros((2, 3)), r"shape \(2, 3\), expected a column"),
        ([np.zeros((2, 2))] * 3, "classes of one label a sample"),
        (np.array([[np.nan, 0.0], [0.0, 1.0]]), "and finite values"),
    ],
)
@pytest.mark.parametrize("score", [ConditionalRisk(), Margin()])
def test_values_that_are_refused(values, message, score):
    score.fit(estimator=Given(values, [0, 1], np.arange(2)))
    with pytest.raises(ValueError, match=message):
        score.uncertainty(TWO)


def test_a_label_that_is_no_class():
    given = Given(HALF, [0, 5], np.arange(2))
    for model in (select(given), select(given, "margin")):
        with pytest.raises(ValueError, match=r"returned the label 5, .*reject_label="):
            model.fit(TWO, [0, 1])


class Resampling(Pipeline):
    """Stands in for imbalanced-learn's pipeline: passes over samplers at predict."""

    def transform(self, X):
        raise AttributeError("the last step but one is a sampler")


class EverySecond(BaseEstimator):
    """A sampler."""

    def fit_resample(self, X, y):
        return X[::2], y[::2]


@pytest.mark.parametrize("module", ["imblearn.pipeline", "elsewhere"])
def test_pipelines_with_samplers(monkeypatch, module):
    """Those of imbalanced-learn are looked through, those of others are models."""
    monkeypatch.setattr(Resampling, "__module__", module)
    X, y = make_data(n_classes=2)
    scaler, inner = StandardScaler().fit(X), GaussianNB().fit(X, y)
    steps = ("scaler", scaler), ("sampler", EverySecond()), ("model", inner)
    model = Resampling(steps)
    seen = scaler.transform(X) if module == "imblearn.pipeline" else X
    expected = KNN(3).fit(seen, estimator=inner).novelty(seen)
    for estimator in (model, FrozenEstimator(model), make_pipeline(model)):
        found = KNN(3).fit(X, estimator=estimator).novelty(X)
        np.testing.assert_allclose(found, expected, atol=1e-9)


def test_a_network_checks_the_number_of_features():
    X, y = make_data(n_classes=3)
    network = MLPClassifier((6,), max_iter=5000, tol=1e-2, random_state=0).fit(X, y)
    score = KNN().fit(X, estimator=network)
    with pytest.raises(ValueError, match="expecting 64 features"):
        score.novelty(X[:, 1:])


# Probabilities of the positive class, and of labels


@pytest.mark.parametrize("positive", [0, 1])
@pytest.mark.parametrize("classifier", [GaussianNB(), LinearSVC()], ids=repr)
def test_scores_of_the_positive_class(positive, classifier):
    X, y = make_data(n_classes=2)
    tuner = EnsembleThresholdTuner(
        [("one", FrozenEstimator(classifier.fit(X, y)))],
        max_fp_per_tp=5,
        pos_label=positive,
        unrated_label=None,
    ).fit(X, y)
    if isinstance(classifier, GaussianNB):
        expected = classifier.predict_proba(X)[:, positive]
    else:
        expected = (2 * positive - 1) * classifier.decision_function(X)
    np.testing.assert_array_equal(tuner.joint_scores(X)[:, 0], expected)


@pytest.mark.parametrize(
    ("proba", "classes", "y", "message"),
    [
        (0.6 * HALF, [0, 1], [0, 1], "add up to one, .* and 0.6 in row 0"),
        (HALF, [0, 1], [0, 2], "y holds the label 2, which is not one"),
        (HALF, [0, 1], [[0, 2], [1, 1]], "or a matrix of indicators, 0 and 1, got 2"),
        (
            [HALF] * 2,
            [np.array(["a", "b"])] * 2,
            [[0, 1], [1, 1]],
            r"shape \(2, 2\) for a label with the classes \['a' 'b'\]",
        ),
        (
            HALF,
            [[0, 1]] * 2,
            [0, 1],
            r"label 0, .* \[\[0, 1\], \[0, 1\]\]",
        ),
    ],
)
def test_probabilities_that_decoders_refuse(proba, classes, y, message):
    classes = classes if isinstance(proba, list) else np.array(classes)
    decoder = ExpectedLossDecoder(FrozenEstimator(Given(proba, classes_=classes)))
    with pytest.raises(ValueError, match=message):
        decoder.fit(TWO, np.array(y)).predict(TWO)


def test_probabilities_of_labels_in_whatever_form():
    X, y = make_data(n_classes=2)
    labels = np.column_stack([y, 1 - y, np.ones_like(y)])
    several = MultiOutputClassifier(GaussianNB()).fit(X, labels)
    first = several.predict_proba(X)[0][:, 1]
    eta = np.column_stack([first, 1 - first, np.ones(len(X))])
    plain = [np.column_stack([1 - p, p]) for p in eta.T]
    expected = None
    for given in (
        several,
        Given(eta),
        Given(sparse.csr_matrix(eta)),
        Given(plain, None, [np.array([0, 1])] * 3),
    ):
        decoder = ExpectedLossDecoder(FrozenEstimator(given), strategy="dta")
        found = decoder.fit(X, labels).predict(X)
        expected = found if expected is None else expected
        np.testing.assert_array_equal(found, expected)
    assert 0 < expected.mean() < 1
