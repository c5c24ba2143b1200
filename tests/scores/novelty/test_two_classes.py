"""Scores of two classes that know nothing but the probability of an error say so."""

import warnings

import numpy as np
import pytest
from joblib import parallel_backend
from scipy.stats import spearmanr
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.neural_network import MLPClassifier
from sklearn.svm import SVC

from sklearn_reject import DoubleScoreOODClassifier
from sklearn_reject.exceptions import RejectionWarning
from sklearn_reject.scores import GEN, ODIN, Energy, Mahalanobis, MaxLogit, ReAct

# Networks need not be good here.
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

_X, _Y = load_digits(return_X_y=True)
X, Y = _X[_Y < 3][:150] / 16, _Y[_Y < 3][:150]
BINARY, NEW = np.where(Y > 0, "other", "zero"), _X[_Y > 6][:60] / 16
LITTLE_USE = [GEN(), ODIN(), Energy(), MaxLogit()]
MESSAGE = "for two classes is a function of one.*it adds almost nothing.*'knn' or 'maha"


@pytest.mark.parametrize("score", LITTLE_USE)
@pytest.mark.parametrize("with_samples", [True, False])
def test_they_order_samples_as_the_probability_of_an_error_does(score, with_samples):
    # A weak one, as scikit-learn rounds probabilities close to one.
    classifier = LogisticRegression(C=1e-3).fit(X, BINARY)
    given = (X, BINARY) if with_samples else ()
    with pytest.warns(RejectionWarning, match=type(score).__name__ + ".*" + MESSAGE):
        score.fit(*given, estimator=classifier)
    risk = 1 - classifier.predict_proba(NEW).max(axis=1)
    assert spearmanr(score.novelty(NEW), risk)[0] == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("score", LITTLE_USE)
@pytest.mark.parametrize(
    "classifier",
    [
        MLPClassifier((5,), max_iter=9, random_state=0),
        GridSearchCV(LogisticRegression(), {}, cv=2),
        CalibratedClassifierCV(LogisticRegression(), cv=2, ensemble=False),
    ],
    ids=lambda model: type(model).__name__,
)
def test_whatever_is_around_the_one_value(score, classifier):
    with pytest.warns(RejectionWarning, match=MESSAGE):
        score.fit(X, estimator=classifier.fit(X, BINARY))


class TwoValues(ClassifierMixin, BaseEstimator):
    """Has a decision value for each of two classes, whose level means something."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        return np.full((len(X), 2), 0.5)

    def decision_function(self, X):
        return X[:, 20:22]


def test_others_have_nothing_to_say():
    three, two = LogisticRegression().fit(X, Y), LogisticRegression().fit(X, BINARY)
    for score in LITTLE_USE:
        score.fit(X, estimator=three)
    for score in (MaxLogit(), Energy()):
        score.fit(X, estimator=TwoValues().fit(X, BINARY))
    logits = {"logits": lambda estimator, X: X[:, 20:22]}
    for score in (GEN(**logits), Energy(**logits), MaxLogit(**logits)):
        score.fit(X, estimator=two)
    for score in (Mahalanobis(), ReAct()):
        score.fit(X, BINARY, estimator=two)


def test_odin_with_a_users_gradient_says_so_too():
    svm = SVC().fit(X, BINARY)
    with pytest.warns(RejectionWarning, match=f"ODIN {MESSAGE}"):
        ODIN(input_gradient=lambda e, X, T: np.ones(X.shape)).fit(X, estimator=svm)


@pytest.mark.parametrize("cv", [3, 0.3])
@pytest.mark.parametrize("n_jobs", [None, 2])
@pytest.mark.parametrize(
    "novelty_score",
    [
        "energy",
        pytest.param("gen", marks=pytest.mark.slow),
        pytest.param("max_logit", marks=pytest.mark.slow),
        "odin",
    ],
)
def test_a_fit_in_folds_says_it_once_at_the_line_of_the_user(novelty_score, n_jobs, cv):
    labels = np.append(Y > 0, np.full(len(NEW), -1))
    model = DoubleScoreOODClassifier(
        LogisticRegression(),
        novelty_score=novelty_score,
        min_tpr=0.7,
        cv=cv,
        n_jobs=n_jobs,
    )
    with (
        warnings.catch_warnings(record=True) as caught,
        parallel_backend("threading", n_jobs=1),
    ):
        warnings.simplefilter("always")
        model.fit(np.vstack([X, NEW]), labels)
    [warning] = caught
    assert warning.category is RejectionWarning
    assert warning.filename == __file__
