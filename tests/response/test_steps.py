"""What precedes a model inside pipelines, and what of it learns from labels."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.compose import make_column_transformer
from sklearn.cross_decomposition import PLSRegression
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.feature_selection import SelectFromModel, SelectKBest, VarianceThreshold
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import Pipeline, make_pipeline, make_union
from sklearn.preprocessing import (
    FunctionTransformer,
    MinMaxScaler,
    StandardScaler,
    TargetEncoder,
)

from sklearn_reject._response import Response, find_steps

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(60, 3)), np.arange(60) % 2


class Resampling(Pipeline):
    """Stands in for imbalanced-learn's pipeline: passes over samplers at predict."""

    def transform(self, X):
        raise AttributeError("the last step but one is a sampler")

    def fit(self, X, y):
        for _, step in self.steps[:-1]:
            if hasattr(step, "fit_resample"):
                X, y = step.fit_resample(X, y)
            else:
                X = step.fit(X, y).transform(X)
        self.steps[-1][1].fit(X, y)
        return self

    def predict_proba(self, X):
        for _, step in self.steps[:-1]:
            X = X if hasattr(step, "fit_resample") else step.transform(X)
        return self.steps[-1][1].predict_proba(X)


class EverySecond(BaseEstimator):
    """A sampler."""

    def fit_resample(self, X, y):
        return X[::2], y[::2]


def make_resampling(monkeypatch):
    monkeypatch.setattr(Resampling, "__module__", "imblearn.pipeline")
    scaler = StandardScaler()
    steps = ("scaler", scaler), ("sampler", EverySecond()), ("model", GaussianNB())
    return Resampling([*steps]).fit(X, np.arange(60) // 2 % 2)


def test_pipelines_with_samplers_have_a_model_input(monkeypatch):
    model = make_resampling(monkeypatch)
    expected = StandardScaler().fit(X).transform(X)
    for estimator in (model, FrozenEstimator(model), make_pipeline(model)):
        response = Response(estimator, X)
        assert response.model is model.steps[-1][1]
        np.testing.assert_array_equal(response.model_input, expected)
        np.testing.assert_array_equal(
            response.model.predict_proba(response.model_input),
            model.predict_proba(X),
        )


def test_other_subclasses_of_pipelines_are_models():
    model = Resampling([("model", GaussianNB())]).fit(X, Y)
    assert find_steps(model).model is model


def test_steps_are_those_of_all_pipelines_inside():
    inner = make_pipeline(PCA(2), "passthrough", GaussianNB())
    outer = make_pipeline(StandardScaler(), FrozenEstimator(inner.fit(X, Y)))
    steps = find_steps(outer)
    assert [type(step) for step in steps.transformers] == [StandardScaler, PCA]
    assert steps.model is inner[-1]
    outer.fit(X, Y)
    reached = inner[0].transform(outer[0].transform(X))
    np.testing.assert_array_equal(Response(outer, X).model_input, reached)
    np.testing.assert_array_equal(
        Response(outer, X).transform(1), outer[0].transform(X)
    )
    assert Response(outer, X).transform(0) is X


def by_column(step):
    return make_column_transformer((step, [0]), remainder=StandardScaler())


@pytest.mark.parametrize(
    ("step", "learns"),
    [
        (StandardScaler(), False),
        (PCA(2), False),
        (FunctionTransformer(np.abs), False),
        (by_column(MinMaxScaler()), False),
        (TargetEncoder(), True),
        (SelectKBest(k=1), True),
        (PLSRegression(1), True),
        (VarianceThreshold(), False),
        (LinearDiscriminantAnalysis(), True),
        (SelectFromModel(LogisticRegression()), True),
        (by_column(TargetEncoder()), True),
        (make_union(PCA(1), make_pipeline(StandardScaler(), SelectKBest(k=1))), True),
        (FrozenEstimator(SelectKBest(k=1)), False),
        (by_column(FrozenEstimator(TargetEncoder())), False),
    ],
    ids=lambda value: type(value).__name__,
)
def test_steps_that_learn_from_labels(step, learns):
    model = make_pipeline(MinMaxScaler(), step, PCA(1), LogisticRegression())
    assert find_steps(model).n_blind == (1 if learns else 3)
    assert find_steps(FrozenEstimator(model)).n_blind == 3
    frozen_last = make_pipeline(MinMaxScaler(), FrozenEstimator(model))
    assert find_steps(frozen_last).n_blind == 4
