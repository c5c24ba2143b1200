"""Metrics look into pipelines of other packages, which may resample in `fit`."""

import matplotlib as mpl
import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import make_classification
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import accuracy_score
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import StandardScaler

from sklearn_reject import SelectiveClassifier
from sklearn_reject.metrics import (
    RiskCoverageDisplay,
    get_selective_scorer,
    make_selective_scorer,
)

mpl.use("Agg")

X, y = make_classification(200, weights=[0.8], flip_y=0.1, random_state=0)
X_test, y_test = X[100:], y[100:]


class Sampler(BaseEstimator):
    """Repeats the rare class; like those of imbalanced-learn it has no transform."""

    def fit_resample(self, X, y):
        rows = np.append(np.arange(len(y)), np.repeat(np.flatnonzero(y == 1), 3))
        return X[rows], y[rows]


class OtherPipeline(ClassifierMixin, BaseEstimator):
    """A pipeline with samplers, as imbalanced-learn has, and with no base in common."""

    def __init__(self, steps):
        self.steps = steps

    def fit(self, X, y):
        for _, step in self.steps[:-1]:
            if hasattr(step, "fit_resample"):
                X, y = step.fit_resample(X, y)
            elif step not in (None, "passthrough"):
                X = step.fit_transform(X, y)
        self.steps[-1][1].fit(X, y)
        self.classes_ = self.steps[-1][1].classes_
        return self

    def predict(self, X):
        return self.steps[-1][1].predict(self._transform(X))

    def predict_proba(self, X):
        return self.steps[-1][1].predict_proba(self._transform(X))

    def _transform(self, X):
        for _, step in self.steps[:-1]:
            if hasattr(step, "transform"):
                X = step.transform(X)
        return X


def make(last):
    steps = [("nothing", None), ("scaler", StandardScaler()), ("sampler", Sampler())]
    steps += [("through", "passthrough"), ("again", StandardScaler()), ("last", last)]
    return OtherPipeline(steps)


def first_feature(estimator, X):
    return X[:, 0]


SELECTIVE = SelectiveClassifier(
    GaussianNB(), uncertainty_score=first_feature, target_coverage=0.7, random_state=0
)
SCORERS = {
    "neg_aurc": {},
    "neg_augrc": {},
    "selective_accuracy": {"coverage": 0.5},
    "coverage_at_risk": {"risk": 0.2},
}


@pytest.fixture(scope="module")
def fitted():
    return make(clone(SELECTIVE)).fit(X[:100], y[:100])


@pytest.mark.parametrize("name", SCORERS)
def test_scorers_find_the_classifier_behind_a_sampler(fitted, name):
    scorer = get_selective_scorer(name, **SCORERS[name])
    steps = dict(fitted.steps)
    seen = steps["again"].transform(steps["scaler"].transform(X_test))
    expected = scorer(steps["last"], seen, y_test)
    assert np.isfinite(expected)
    assert scorer(fitted, X_test, y_test) == expected
    assert scorer(FrozenEstimator(fitted), X_test, y_test) == expected


def test_acceptance_is_found_behind_a_sampler(fitted):
    value = make_selective_scorer(accuracy_score)(fitted, X_test, y_test)
    assert value == (fitted.predict(X_test) == y_test).mean()


def test_scores_and_pictures_of_cross_validation():
    plt = pytest.importorskip("matplotlib.pyplot")
    results = cross_validate(
        make(SELECTIVE),
        X,
        y,
        scoring=get_selective_scorer("neg_aurc"),
        cv=2,
        return_estimator=True,
        return_indices=True,
        error_score="raise",
    )
    display = RiskCoverageDisplay.from_cv_results(results, X, y)
    assert display.aurc == pytest.approx(-results["test_score"])
    search = GridSearchCV(
        make(SELECTIVE), {}, scoring=get_selective_scorer("neg_aurc"), cv=2
    ).fit(X, y)
    assert np.isfinite(get_selective_scorer("neg_aurc")(search, X, y))
    plt.close("all")
