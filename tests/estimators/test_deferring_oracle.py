"""DeferringClassifier against the best deferral of a distribution that is known.

A sample is at x, uniform in [0, 1]. The first classifier errs there with a chance of
0.6 x, and the expert of 0.05 + 0.3 (1 - x), so that asking gains 0.9 x - 0.35.
"""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.frozen import FrozenEstimator
from sklearn.preprocessing import FunctionTransformer

from sklearn_reject import DeferringClassifier
from sklearn_reject.scores import ExpectedGain


def risk_of_first(x):
    return 0.6 * x


def risk_of_expert(x):
    return 0.05 + 0.3 * (1 - x)


def gain_at(x):
    return risk_of_first(x) - risk_of_expert(x)


def risk_above(place):
    """Return the risk of the system where what is above a place is deferred."""
    kept, _ = quad(risk_of_first, 0, place)
    return kept + quad(risk_of_expert, place, 1)[0]


class KnownErrors(ClassifierMixin, BaseEstimator):
    """Reads the truth off the samples, and errs as often as it is said to."""

    def __init__(self, column=2, risk=risk_of_first):
        self.column = column
        self.risk = risk
        self.classes_ = np.array([0, 1])

    def fit(self, X, y):
        raise AssertionError("it is frozen")

    def predict(self, X):
        errs = X[:, self.column] < self.risk(X[:, 0])
        return np.where(errs, 1 - X[:, 1], X[:, 1]).astype(int)


FIRST = FrozenEstimator(KnownErrors())
EXPERT = FrozenEstimator(KnownErrors(3, risk_of_expert))


def draw(n_samples, seed):
    """Return samples: place, truth, and the numbers that make both err."""
    rng = np.random.default_rng(seed)
    X = rng.random((n_samples, 4))
    X[:, 1] = X[:, 1] < 0.5
    return X, X[:, 1].astype(int)


def true_gain(estimator, X):
    return gain_at(X[:, 0])


def place_of(target, value):
    """Return from which place on samples are best deferred."""
    if target == "deferral_cost":
        return (value + 0.35) / 0.9
    if target == "max_deferral":
        return max(1 - value, 0.35 / 0.9)
    return brentq(lambda place: risk_above(place) - value, 0.35 / 0.9, 1)


PLACE = FunctionTransformer(lambda X: X[:, :1])


@pytest.mark.parametrize(
    ("target", "value"),
    [
        *(("deferral_cost", 0.0), ("deferral_cost", 0.1), ("max_deferral", 0.2)),
        *(("max_deferral", 0.9), ("target_risk", 0.2), ("target_risk", 0.17)),
    ],
)
@pytest.mark.parametrize(
    ("score", "n_samples", "slack"),
    [
        (true_gain, 40_000, 0.012),
        pytest.param(ExpectedGain(features=PLACE), 6000, 0.02, marks=pytest.mark.slow),
    ],
    ids=["known", "learned"],
)
def test_what_is_best_is_deferred(target, value, score, n_samples, slack):
    X, y = draw(n_samples, seed=0)
    options = {target: value, "gain_score": score, "random_state": 0}
    model = DeferringClassifier(FIRST, EXPERT, **options).fit(X, y)
    place = place_of(target, value)
    if score is true_gain:
        # A difference of losses has a standard error of at most 1 / 200 here; what is
        # best is flat around costs and risks, and rates follow from risks by a slope.
        assert model.rule_.system_risk == pytest.approx(risk_above(place), abs=0.01)
        assert model.rule_.deferral_rate == pytest.approx(1 - place, abs=0.08)
        area, _ = quad(lambda rate: risk_above(1 - rate), 0, 1)
        assert model.score(X, y) == pytest.approx(-area, abs=0.008)
    new, y_new = draw(40_000, seed=1)
    cost = value if target == "deferral_cost" else 0.0
    paid = np.mean(model.predict(new) != y_new) + cost * model.defer(new).mean()
    assert paid == pytest.approx(risk_above(place) + cost * (1 - place), abs=slack)
