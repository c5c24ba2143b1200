"""Samples, and estimators as other packages have them, for tests of scorers."""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.datasets import make_classification
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler


def three_classes(n_samples):
    """Return samples of three classes, one label in five drawn at random."""
    options = {"n_informative": 4, "n_redundant": 0, "n_classes": 3, "flip_y": 0.2}
    return make_classification(n_samples, n_features=5, random_state=0, **options)


class Distant(ClassifierMixin, BaseEstimator):
    """A classifier with its own idea of uncertainty."""

    def fit(self, X, y):
        self.model_ = GaussianNB().fit(X, y)
        self.classes_ = self.model_.classes_
        return self

    def predict(self, X):
        return self.model_.predict(X)

    def uncertainty(self, X):
        offsets = X[:, np.newaxis] - self.model_.theta_
        return np.linalg.norm(offsets, axis=2).min(axis=1)


class Spread(RegressorMixin, BaseEstimator):
    """A regressor with an uncertainty and no loss."""

    def fit(self, X, y):
        self.is_fitted_ = True
        return self

    def predict(self, X):
        return X[:, 0]

    def uncertainty(self, X):
        return X[:, 1]


class TopOfEach(ClassifierMixin, BaseEstimator):
    """Predicts the most probable sample of each group, and sets of classes."""

    def __init__(self, size=2):
        self.size = size

    def fit(self, X, y):
        self.model_ = GaussianNB().fit(X, y)
        self.classes_ = self.model_.classes_
        return self

    def predict(self, X, groups=None):
        groups = np.zeros(len(X)) if groups is None else groups
        eta = self.model_.predict_proba(X)[:, 1]
        chosen = np.zeros(len(X), dtype=int)
        for group in np.unique(groups):
            rows = np.flatnonzero(groups == group)
            chosen[rows[np.argsort(-eta[rows])[: self.size]]] = 1
        return self.classes_[chosen]

    def predict_set(self, X):
        order = np.argsort(-self.model_.predict_proba(X), axis=1)
        mask = np.zeros(order.shape, dtype=bool)
        np.put_along_axis(mask, order[:, : self.size], True, axis=1)
        return mask


class Sampler(BaseEstimator):
    """Repeats a class; like those of imbalanced-learn it has no transform."""

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
        return self

    def predict(self, X):
        inner, X = look_inside(self, X)
        return inner.predict(X)


def resampled(inner):
    steps = [(None, None), ("scale", StandardScaler()), ("sample", Sampler())]
    return OtherPipeline([*steps, ("skip", "passthrough"), ("in", inner)])


# Each of an estimator and the grid of a search.
WRAPPINGS = {
    "frozen": lambda inner, grid: FrozenEstimator(inner),
    "one step": lambda inner, grid: Pipeline([("only", inner)]),
    "both": lambda inner, grid: make_pipeline(
        StandardScaler(), make_pipeline(GridSearchCV(inner, grid, cv=2))
    ),
    "search outside": lambda inner, grid: GridSearchCV(
        Pipeline([("scale", StandardScaler()), ("in", inner)]),
        {f"in__{name}": values for name, values in grid.items()},
        cv=2,
    ),
    "resampled": lambda inner, grid: resampled(inner),
}


def look_inside(model, X):
    """Return the model that is asked, and the samples as it sees them."""
    while True:
        if hasattr(model, "best_estimator_"):
            model = model.best_estimator_
        elif isinstance(model, FrozenEstimator):
            model = model.estimator
        elif hasattr(model, "steps"):
            for _, step in model.steps[:-1]:
                X = step.transform(X) if hasattr(step, "transform") else X
            model = model.steps[-1][1]
        else:
            return model, X
