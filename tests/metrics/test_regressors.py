"""Scorers and displays of regressors judge numbers by how far they are off."""

import matplotlib as mpl
import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.metrics import mean_absolute_error, mean_squared_error, r2_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_reject import SelectiveRegressor, metrics
from sklearn_reject.metrics import (
    RiskCoverageDisplay,
    get_selective_scorer,
    make_selective_scorer,
)
from sklearn_reject.scores import SELE
from tests.metrics.models import Spread

mpl.use("Agg")


def draw():
    """Return samples, one target, and two, noisier with a larger second feature."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    noise = np.exp(X[:, 1:2]) * rng.normal(size=(300, 2))
    targets = X[:, [0, 2]] * [1, 2] + noise
    return X, targets[:, 0], targets


X, y, Y = draw()
X_test, y_test, Y_test = X[200:], y[200:], Y[200:]
WEIGHT = 1.0 + np.arange(100) % 4
weights = pytest.mark.parametrize("weight", [None, WEIGHT], ids=["plain", "weighted"])


def selective(estimator, **options):
    options = {"uncertainty_score": SELE(alphas=0.01), "target_coverage": 0.6} | options
    return SelectiveRegressor(estimator, cv=2, random_state=0, **options)


MODEL = selective(Ridge(), loss="absolute").fit(X[:200], y[:200])
VECTORS = selective(LinearRegression()).fit(X[:200], Y[:200])
PREDICTED, UNCERTAINTY = MODEL.predict(X_test), MODEL.uncertainty(X_test)


SCORERS = {
    "neg_aurc": ({}, lambda *args, **kw: -metrics.aurc_score(*args, **kw)),
    "neg_augrc": ({}, lambda *args, **kw: -metrics.augrc_score(*args, **kw)),
    "coverage_at_risk": (
        {"risk": 0.9},
        lambda *args, **kw: metrics.coverage_at_risk_score(*args, risk=0.9, **kw),
    ),
}


@pytest.mark.parametrize("name", SCORERS)
@weights
def test_the_loss_is_that_of_the_regressor(name, weight):
    options, metric = SCORERS[name]
    losses = abs(y_test - PREDICTED)
    expected = metric(None, None, UNCERTAINTY, loss=losses, sample_weight=weight)
    for target in (y_test, y_test[:, np.newaxis]):
        value = get_selective_scorer(name, **options)(MODEL, X_test, target, weight)
        assert value == pytest.approx(expected, rel=1e-12)
    # A search over losses, or a metric, may take another.
    squared = get_selective_scorer(name, loss="squared", **options)
    column = PREDICTED[:, np.newaxis]
    expected = metric(y_test, column, UNCERTAINTY, loss="squared", sample_weight=weight)
    assert squared(MODEL, X_test, y_test, weight) == pytest.approx(expected)
    # One without a loss of its own takes it, too.
    spread, losses = Spread().fit(X, y), (y_test - X_test[:, 0]) ** 2
    expected = metric(None, None, X_test[:, 1], loss=losses, sample_weight=weight)
    assert squared(spread, X_test, y_test, weight) == pytest.approx(expected)


def test_vectors_have_one_loss_a_sample():
    predicted, uncertainty = VECTORS.predict(X_test), VECTORS.uncertainty(X_test)
    distance = lambda y, k: np.linalg.norm(y - k, axis=1)  # noqa: E731
    for loss, losses in (
        (None, ((Y_test - predicted) ** 2).mean(axis=1)),
        (distance, distance(Y_test, predicted)),
    ):
        expected = metrics.aurc_score(None, None, uncertainty, loss=losses)
        scorer = get_selective_scorer("neg_aurc", loss=loss)
        assert scorer(VECTORS, X_test, Y_test) == pytest.approx(-expected)
    display = RiskCoverageDisplay.from_estimator(VECTORS, X_test, Y_test)
    assert display.aurc == pytest.approx([-VECTORS.score(X_test, Y_test)])
    found = metrics.aurc_score(Y_test, predicted, uncertainty, loss=distance)
    assert found == pytest.approx(expected)
    with pytest.raises(ValueError, match="y_true must be a vector of labels"):
        metrics.aurc_score(Y_test, predicted, uncertainty)


@pytest.mark.parametrize(
    ("model", "loss", "message"),
    [
        (
            make_pipeline(StandardScaler(), Ridge()),
            None,
            "without a method `uncertainty`",
        ),
        (
            Ridge(),
            "squared",
            "Ridge is a regressor without a method `uncertainty`.*Sel",
        ),
        (Spread(), None, "Spread is a regressor without an attribute `loss_`.*loss="),
    ],
)
def test_regressors_that_lack_something_are_told_how_to_get_it(model, loss, message):
    model.fit(X, y)
    scorers = [
        get_selective_scorer(name, loss=loss, **options)
        for name, (options, _) in SCORERS.items()
    ]
    for call in (*scorers, RiskCoverageDisplay.from_estimator):
        given = {"loss": loss} if call is RiskCoverageDisplay.from_estimator else {}
        with pytest.raises(ValueError, match=message):
            call(model, X_test, y_test, **given)


def test_scorers_of_labels_refuse_regressors():
    message = r"no labels.*get_selective_scorer with 'neg_aurc'"
    with pytest.raises(ValueError, match=message):
        get_selective_scorer("ood_auroc")(MODEL, X_test, y_test)


# Metrics of predictions


@weights
@pytest.mark.parametrize("metric", [mean_squared_error, mean_absolute_error])
def test_rejected_samples_count_as_the_penalty(metric, weight):
    """The mean over all samples, with the penalty in the place of the rejected ones."""
    errors = abs(y_test - PREDICTED) ** (2 if metric is mean_squared_error else 1)
    accepted = MODEL.accept(X_test)
    assert 0 < accepted.sum() < 100
    options = {"reject_penalty": 1.7, "greater_is_better": False}
    expected = np.average(np.where(accepted, errors, 1.7), weights=weight)
    value = make_selective_scorer(metric, **options)(MODEL, X_test, y_test, weight)
    assert value == pytest.approx(-expected, rel=1e-12)
    kept = np.isin(np.arange(100), np.argsort(UNCERTAINTY)[:30])
    at_coverage = make_selective_scorer(metric, coverage=0.3, **options)
    expected = np.where(kept, errors, 1.7).mean()
    assert at_coverage(MODEL, X_test, y_test) == pytest.approx(-expected)


def test_penalty_alone_where_nothing_is_accepted_and_none_where_everything_is():
    scorer = make_selective_scorer(mean_squared_error, reject_penalty=-0.5)
    silent = selective(Ridge(), target_coverage=None, reject_cost=0.0)
    silent.set_params(uncertainty_score=lambda _, X: np.ones(len(X))).fit(X, y)
    assert not silent.accept(X_test).any()
    assert scorer(silent, X_test, y_test) == -0.5
    unseen = np.where(MODEL.accept(X_test), 0.0, 1.0)
    assert scorer(MODEL, X_test, y_test, sample_weight=unseen) == -0.5
    plain = Ridge().fit(X, y)
    expected = mean_squared_error(y_test, plain.predict(X_test))
    assert scorer(plain, X_test, y_test) == expected


def test_penalty_of_vectors_and_of_labels():
    scorer = make_selective_scorer(r2_score, reject_penalty=0.0)
    accepted = VECTORS.accept(X_test)
    expected = r2_score(Y_test[accepted], VECTORS.predict(X_test)[accepted])
    expected *= accepted.mean()
    assert scorer(VECTORS, X_test, Y_test) == pytest.approx(expected)
    labels = (y > 0).astype(int)
    bayes = GaussianNB().fit(X, labels)
    share_right = lambda y_true, y_pred: np.mean(y_true == y_pred)  # noqa: E731
    scorer = make_selective_scorer(share_right, coverage=0.5, reject_penalty=0.25)
    order = np.argsort(bayes.predict_proba(X).min(axis=1))[:150]
    right = (bayes.predict(X) == labels)[order]
    assert scorer(bayes, X, labels) == pytest.approx(right.mean() / 2 + 0.125)


@pytest.mark.parametrize(
    ("model", "target"),
    [(MODEL, y_test), (MODEL, y_test.round()), (VECTORS, Y_test), (Ridge(), y_test)],
)
def test_a_missing_penalty_is_named(model, target):
    model = model.fit(X, y) if isinstance(model, Ridge) else model
    scorer = make_selective_scorer(mean_squared_error, greater_is_better=False)
    with pytest.raises(ValueError, match=r"no label is wrong.*reject_penalty="):
        scorer(model, X_test, target)
