"""One of each estimator, with samples, and whether two fits of it are the same."""

from dataclasses import dataclass, field
from functools import partial
from types import FunctionType

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import make_classification
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB

from sklearn_reject import (
    DeferringClassifier,
    DoubleScoreOODClassifier,
    EnsembleThresholdTuner,
    ExpectedLossDecoder,
    SelectiveClassifier,
    SelectiveRegressor,
)

CLASSES, BINARY, OOD, NUMBERS = "classes", "binary", "ood", "numbers"


@dataclass(frozen=True)
class Case:
    """How to make an estimator, what it is fitted on, and what a search varies."""

    make: partial
    target: str
    grid: dict = field(default_factory=dict)


def _selective(**params):
    return partial(SelectiveClassifier, GaussianNB(), random_state=0, **params)


_double = partial(
    DoubleScoreOODClassifier, GaussianNB(), min_tpr=0.6, max_risk=0.4, random_state=0
)
_smoothing = {"estimator__var_smoothing": [1e-9, 0.1]}

CASES = {
    "plug-in": Case(_selective(target_risk=0.2), CLASSES, _smoothing),
    "held-out": Case(
        _selective(target_risk=0.3, confidence_level=0.6, cv=0.4), CLASSES, _smoothing
    ),
    "learned": Case(
        _selective(target_coverage=0.7, uncertainty_score="sele"), CLASSES, _smoothing
    ),
    "regressor": Case(
        partial(
            SelectiveRegressor, LinearRegression(), target_coverage=0.7, random_state=0
        ),
        NUMBERS,
        {"estimator__fit_intercept": [True, False]},
    ),
    "double": Case(_double, OOD, {"min_tpr": [0.5, 0.6]}),
    "double-learned": Case(
        partial(_double, uncertainty_score="sele"), OOD, {"min_tpr": [0.5, 0.6]}
    ),
    "decoder": Case(
        partial(ExpectedLossDecoder, GaussianNB(), random_state=0), BINARY, _smoothing
    ),
    "tuner": Case(
        partial(
            EnsembleThresholdTuner,
            [("bayes", GaussianNB()), ("linear", LogisticRegression())],
            max_fp_per_tp=1.0,
            random_state=0,
        ),
        BINARY,
        {"max_fp_per_tp": [2.0, 1.0]},
    ),
    "deferring": Case(
        partial(
            DeferringClassifier,
            GaussianNB(),
            LogisticRegression(),
            deferral_cost=0.05,
            random_state=0,
        ),
        CLASSES,
        _smoothing,
    ),
}


def samples_for(case, n_samples=240, n_features=5):
    """Return samples, and labels of the kind that the estimator of a case takes."""
    X, y = make_classification(
        n_samples,
        n_features,
        n_informative=4,
        n_redundant=0,
        n_classes=3,
        flip_y=0.1,
        class_sep=2,
        random_state=0,
    )
    rng = np.random.default_rng(0)
    if case.target == BINARY:
        y = (y > 0).astype(int)
    elif case.target == NUMBERS:
        y = X[:, 0] + rng.normal(size=n_samples)
    elif case.target == OOD:
        is_ood = rng.random(n_samples) < 0.2
        X, y = X + 4 * is_ood[:, np.newaxis], np.where(is_ood, -1, y)
    return X, y


class FirstLetter(ClassifierMixin, BaseEstimator):
    """Takes a list of texts, and looks at the first letter of each."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.share_ = np.mean(y == self.classes_[1])
        return self

    def predict_proba(self, X):
        first = np.array([ord(text[0]) for text in X]) / 256
        return np.column_stack([1 - first, first])

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


def assert_same(found, expected, where="estimator"):
    """Compare all that two objects are made of, bit for bit."""
    assert type(found) is type(expected), where
    if isinstance(expected, np.random.RandomState):
        found, expected = found.get_state(), expected.get_state()
    if isinstance(expected, np.ndarray) and expected.dtype != object:
        assert found.dtype == expected.dtype, where
        np.testing.assert_array_equal(found, expected, err_msg=where)
        return
    of_found, of_expected = _parts(found), _parts(expected)
    if of_expected is None:
        # What is equal to itself alone, as compiled losses are, has the same type.
        is_unique = type(expected).__eq__ is object.__eq__
        is_nan = expected != expected
        assert is_nan or is_unique or found == expected, where
        return
    assert of_found.keys() == of_expected.keys(), where
    for name, value in of_expected.items():
        assert_same(of_found[name], value, f"{where}.{name}")


def _parts(value):
    """Return the parts of a value by name, None if it has none."""
    if isinstance(value, dict):
        return value
    if isinstance(value, (list, tuple, np.ndarray)):
        return dict(enumerate(value))
    if isinstance(value, np.random.Generator):
        return value.bit_generator.state
    if isinstance(value, (type, FunctionType)):
        return None
    return getattr(value, "__dict__", None)
