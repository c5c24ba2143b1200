"""Regression with rejection, of one output and of several."""

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.tree import DecisionTreeRegressor

from sklearn_reject import SelectiveRegressor
from sklearn_reject._curves._risk_coverage import aurc_score
from sklearn_reject.exceptions import RejectionWarning
from sklearn_reject.scores import SELE, LossRegression

rng = np.random.default_rng(0)
X = rng.normal(size=(1500, 3))
SPREAD = np.exp(X[:, 1])
y = X[:, 0] + SPREAD * rng.normal(size=1500)
Y = np.column_stack([y, 2 * X[:, 2] + SPREAD * rng.normal(size=1500)])
TRAIN, TEST = slice(0, 1000), slice(1000, None)

# As good as the defaults for what is tested, in a fraction of the time.
QUICK = LossRegression(HistGradientBoostingRegressor(max_iter=20))
SCORES = [
    pytest.param(QUICK, id="quick regression"),
    pytest.param(SELE(alphas=0.01), id="quick sele"),
    *(pytest.param(name, marks=pytest.mark.slow) for name in ("auto", "sele")),
]


def distance(y_true, y_pred):
    return np.linalg.norm(y_true - y_pred, axis=1)


@pytest.mark.slow
@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("loss", ["squared", "absolute", distance])
def test_spread_is_learned(score, loss):
    target = Y if callable(loss) else y
    selective = SelectiveRegressor(
        LinearRegression(),
        uncertainty_score=score,
        loss=loss,
        target_coverage=0.5,
        random_state=0,
    ).fit(X[TRAIN], target[TRAIN])
    predictions = selective.predict(X[TEST])
    assert predictions.shape == target[TEST].shape
    uncertainty = selective.uncertainty(X[TEST])
    assert np.corrcoef(*np.argsort(np.argsort([uncertainty, SPREAD[TEST]])))[0, 1] > 0.6
    losses = selective.loss_(target[TEST], predictions)
    assert selective.score(X[TEST], target[TEST]) == -aurc_score(uncertainty, losses)
    accepted = selective.accept(X[TEST])
    assert accepted.mean() == pytest.approx(0.5, abs=0.1)
    assert losses[accepted].mean() < 0.6 * losses.mean()


def test_several_outputs_are_averaged():
    selective = SelectiveRegressor(
        Ridge(), uncertainty_score=QUICK, loss="absolute", target_coverage=0.5, cv=2
    ).fit(X, Y)
    losses = selective.loss_(Y, selective.predict(X))
    expected = np.abs(Y - selective.predict(X)).mean(axis=1)
    np.testing.assert_allclose(losses, expected)
    with pytest.raises(ValueError, match="same number of outputs"):
        selective.score(X, y)


def test_rules_and_protocols():
    shared = dict(uncertainty_score=QUICK, cv=2, random_state=0)
    risky = SelectiveRegressor(Ridge(), target_risk=2.0, **shared)
    assert risky.fit(X, y).rule_.selective_risk == pytest.approx(2.0)
    cost = SelectiveRegressor(Ridge(), reject_cost=2.0, **shared).fit(X, y)
    losses, accepted = cost.calibration_.losses, cost.rule_.coverage
    mean_cost = accepted * cost.rule_.selective_risk + (1 - accepted) * 2.0
    assert mean_cost <= min(losses.mean(), 2.0)
    frozen = FrozenEstimator(Ridge().fit(X[TRAIN], y[TRAIN]))
    held = SelectiveRegressor(frozen, target_coverage=0.8, random_state=0)
    assert held.fit(X[TEST], y[TEST]).rule_.coverage == pytest.approx(0.8)


def test_certified():
    def clipped(y_true, y_pred):
        return np.minimum(np.abs(y_true - y_pred), 3.0)

    options = {"confidence_level": 0.9, "cv": 0.4, "random_state": 0}
    selective = SelectiveRegressor(Ridge(), loss=clipped, target_risk=0.8, **options)
    with pytest.raises(ValueError, match="max_loss is needed to certify"):
        selective.fit(X, y)
    rule = selective.set_params(max_loss=3.0).fit(X, y).rule_
    assert rule.certificate.bound == "betting"
    assert rule.selective_risk < 0.8
    covered = SelectiveRegressor(Ridge(), target_coverage=0.7, **options)
    assert covered.fit(X, y).rule_.certificate.quantity == "coverage"


def test_scores_of_a_few_levels_that_only_folds_have_are_told():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = X[:, 0] + rng.normal(size=300)
    selective = SelectiveRegressor(
        DecisionTreeRegressor(max_depth=1),
        target_coverage=0.7,
        uncertainty_score=lambda tree, X: tree.predict(X),
        cv=5,
        random_state=0,
    )
    with pytest.warns(RejectionWarning, match="Fits to the folds of cv=5"):
        selective.fit(X, y)
