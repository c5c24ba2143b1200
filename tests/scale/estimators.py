"""One of each estimator, with samples, and whether two fits of it are the same."""

from dataclasses import dataclass, field
from functools import partial

import numpy as np
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
        _selective(target_risk=0.3, confidence=0.6, cv=0.4), CLASSES, _smoothing
    ),
    "learned": Case(
        _selective(target_coverage=0.7, uncertainty_score="sele"), CLASSES, _smoothing
    ),
    "regressor": Case(
        partial(SelectiveRegressor, LinearRegression(), target_coverage=0.7),
        NUMBERS,
        {"estimator__fit_intercept": [True, False]},
    ),
    "double": Case(_double, OOD, {"min_tpr": [0.5, 0.6]}),
    "double-learned": Case(
        partial(_double, risk_score="sele"), OOD, {"min_tpr": [0.5, 0.6]}
    ),
    "decoder": Case(
        partial(ExpectedLossDecoder, GaussianNB(), random_state=0), BINARY, _smoothing
    ),
    "tuner": Case(
        partial(
            EnsembleThresholdTuner,
            [("bayes", GaussianNB()), ("linear", LogisticRegression())],
            target_derivative=1.0,
            random_state=0,
        ),
        BINARY,
        {"target_derivative": [0.5, 1.0]},
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


def assert_same(found, expected, where="estimator"):
    """Compare all that two objects are made of, bit for bit."""
    assert type(found) is type(expected), where
    if isinstance(expected, np.random.RandomState):
        found, expected = found.get_state(), expected.get_state()
    if isinstance(expected, np.ndarray) and expected.dtype != object:
        assert found.dtype == expected.dtype, where
        np.testing.assert_array_equal(found, expected, err_msg=where)
    elif isinstance(expected, dict):
        assert found.keys() == expected.keys(), where
        for key, value in expected.items():
            assert_same(found[key], value, f"{where}[{key!r}]")
    elif isinstance(expected, (list, tuple, np.ndarray)):
        assert len(found) == len(expected), where
        for number, pair in enumerate(zip(found, expected, strict=True)):
            assert_same(*pair, f"{where}[{number}]")
    elif hasattr(expected, "__dict__") and not isinstance(expected, type):
        if not callable(expected) or hasattr(expected, "fit"):
            for name, value in vars(expected).items():
                assert_same(vars(found)[name], value, f"{where}.{name}")
    elif expected == expected:  # noqa: PLR0124, no NaN
        assert found == expected, where
