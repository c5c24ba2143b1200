"""Metrics, scorers and displays of regressors judge numbers by how far they are off."""

import matplotlib as mpl
import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.metrics import mean_absolute_error, mean_squared_error, r2_score
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_reject import SelectiveRegressor, metrics
from sklearn_reject._curves import augrc_score, aurc_score, coverage_at_risk_score
from sklearn_reject.metrics import (
    RiskCoverageDisplay,
    get_selective_scorer,
    make_selective_scorer,
)
from sklearn_reject.scores import SELE

mpl.use("Agg")

rng = np.random.default_rng(0)
X = rng.normal(size=(300, 3))
SPREAD = np.exp(X[:, 1])
y = X[:, 0] + SPREAD * rng.normal(size=300)
Y = np.column_stack([y, 2 * X[:, 2] + SPREAD * rng.normal(size=300)])
X_test, y_test, Y_test = X[200:], y[200:], Y[200:]
WEIGHT = 1.0 + np.arange(100) % 4


def selective(estimator, **options):
    options = {"uncertainty_score": SELE(alphas=0.01), "target_coverage": 0.6} | options
    return SelectiveRegressor(estimator, cv=2, random_state=0, **options)


MODEL = selective(Ridge(), loss="absolute").fit(X[:200], y[:200])
VECTORS = selective(LinearRegression()).fit(X[:200], Y[:200])


class Spread(RegressorMixin, BaseEstimator):
    """A regressor of another package, with an uncertainty and no loss."""

    def fit(self, X, y):
        self.is_fitted_ = True
        return self

    def predict(self, X):
        return X[:, 0]

    def uncertainty(self, X):
        return X[:, 1]


SCORERS = {
    get_selective_scorer("neg_aurc"): lambda *args, **kw: -aurc_score(*args, **kw),
    get_selective_scorer("neg_augrc"): lambda *args, **kw: -augrc_score(*args, **kw),
    get_selective_scorer("coverage_at_risk", risk=0.9): lambda *args, **kw: (
        coverage_at_risk_score(*args, risk=0.9, **kw)
    ),
}


@pytest.mark.parametrize("scorer", SCORERS, ids=repr)
@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["plain", "weighted"])
def test_the_loss_is_that_of_the_regressor(scorer, weight):
    losses = abs(y_test - MODEL.predict(X_test))
    uncertainty = MODEL.uncertainty(X_test)
    expected = SCORERS[scorer](uncertainty, losses, sample_weight=weight)
    assert scorer(MODEL, X_test, y_test, weight) == pytest.approx(expected, rel=1e-12)


def test_vectors_have_one_loss_a_sample():
    losses = ((Y_test - VECTORS.predict(X_test)) ** 2).mean(axis=1)
    uncertainty = VECTORS.uncertainty(X_test)
    expected = -aurc_score(uncertainty, losses)
    area = get_selective_scorer("neg_aurc")(VECTORS, X_test, Y_test)
    assert area == pytest.approx(expected)
    distance = lambda y, k: np.linalg.norm(y - k, axis=1)  # noqa: E731
    losses = distance(Y_test, VECTORS.predict(X_test))
    value = get_selective_scorer("neg_augrc", loss=distance)(VECTORS, X_test, Y_test)
    assert value == pytest.approx(-augrc_score(uncertainty, losses))
    value = metrics.aurc_score(
        Y_test, VECTORS.predict(X_test), uncertainty, loss=distance
    )
    assert value == pytest.approx(aurc_score(uncertainty, losses))
    with pytest.raises(ValueError, match="y_true must be a vector of labels"):
        metrics.aurc_score(Y_test, VECTORS.predict(X_test), uncertainty)


def test_columns_are_vectors():
    predictions, uncertainty = MODEL.predict(X_test), MODEL.uncertainty(X_test)
    expected = metrics.aurc_score(y_test, predictions, uncertainty, loss="squared")
    for column in (y_test[:, np.newaxis], y_test):
        value = metrics.aurc_score(
            column, predictions[:, np.newaxis], uncertainty, loss="squared"
        )
        assert value == expected
        scored = get_selective_scorer("neg_aurc", loss="squared")(MODEL, X_test, column)
        assert scored == -expected


def test_a_search_finds_the_better_regressor():
    """By 0/1 loss every regressor is wrong everywhere, and the first one wins."""
    search = GridSearchCV(
        selective(KNeighborsRegressor()),
        {"estimator__n_neighbors": [1, 20]},
        scoring={
            "area": get_selective_scorer("neg_aurc"),
            "cover": get_selective_scorer("coverage_at_risk", risk=4),
        },
        refit="area",
        cv=2,
    ).fit(X, y)
    assert search.best_params_ == {"estimator__n_neighbors": 20}
    assert np.ptp(search.cv_results_["mean_test_cover"]) > 0
    inside = make_pipeline(StandardScaler(), search).fit(X, y)
    best = inside[-1].best_estimator_
    expected = best.score(inside[:-1].transform(X_test), y_test)
    area = get_selective_scorer("neg_aurc")(inside, X_test, y_test)
    assert area == pytest.approx(expected)


def test_a_regressor_without_uncertainty_is_told_how_to_get_one():
    plain = make_pipeline(StandardScaler(), Ridge()).fit(X, y)
    scorers = [*SCORERS, get_selective_scorer("neg_aurc", loss="squared")]
    for scorer in scorers:
        with pytest.raises(
            ValueError,
            match=r"Pipeline is a regressor without a method `uncertainty`.*Select",
        ):
            scorer(plain, X_test, y_test)
    with pytest.raises(
        ValueError, match="Ridge is a regressor without a method `uncertainty`"
    ):
        RiskCoverageDisplay.from_estimator(plain[-1], X_test, y_test)


def test_a_regressor_without_a_loss_takes_one():
    spread = Spread().fit(X, y)
    for call in (*SCORERS, RiskCoverageDisplay.from_estimator):
        with pytest.raises(
            ValueError,
            match=r"Spread is a regressor without an attribute `loss_`.*loss=",
        ):
            call(spread, X_test, y_test)
    losses = (y_test - X_test[:, 0]) ** 2
    expected = -aurc_score(X_test[:, 1], losses)
    assert (
        get_selective_scorer("neg_aurc", loss="squared")(spread, X_test, y_test)
        == expected
    )


@pytest.mark.parametrize(
    "scorer",
    [
        get_selective_scorer("selective_accuracy", coverage=0.5),
        get_selective_scorer("oscr"),
    ],
)
def test_scorers_of_labels_refuse_regressors(scorer):
    with pytest.raises(
        ValueError, match=r"no labels.*get_selective_scorer with 'neg_aurc'"
    ):
        scorer(MODEL, X_test, y_test)


def test_displays_take_the_loss_of_the_regressor():
    plt = pytest.importorskip("matplotlib.pyplot")
    display = RiskCoverageDisplay.from_estimator(MODEL, X_test, y_test)
    assert display.aurc == pytest.approx([-MODEL.score(X_test, y_test)])
    vectors = RiskCoverageDisplay.from_estimator(VECTORS, X_test, Y_test)
    assert vectors.aurc == pytest.approx([-VECTORS.score(X_test, Y_test)])
    given = RiskCoverageDisplay.from_estimator(MODEL, X_test, y_test, loss="squared")
    assert given.risk[0][-1] == pytest.approx(
        mean_squared_error(y_test, MODEL.predict(X_test))
    )
    for model, target in ((MODEL, y), (VECTORS, Y)):
        results = cross_validate(
            model,
            X,
            target,
            cv=2,
            scoring=get_selective_scorer("neg_aurc"),
            return_estimator=True,
            return_indices=True,
        )
        folds = RiskCoverageDisplay.from_cv_results(results, X, target)
        assert folds.aurc == pytest.approx(-results["test_score"])
        assert (results["test_score"] > -20).all()
    plt.close("all")


# Metrics of predictions


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["plain", "weighted"])
@pytest.mark.parametrize("metric", [mean_squared_error, mean_absolute_error])
def test_rejected_samples_count_as_the_penalty(metric, weight):
    """The mean over all samples, with the penalty in the place of the rejected ones."""
    errors = abs(y_test - MODEL.predict(X_test))
    errors = errors**2 if metric is mean_squared_error else errors
    accepted = MODEL.accept(X_test)
    assert 0 < accepted.sum() < 100
    expected = np.average(np.where(accepted, errors, 1.7), weights=weight)
    scorer = make_selective_scorer(metric, reject_penalty=1.7, greater_is_better=False)
    value = scorer(MODEL, X_test, y_test, sample_weight=weight)
    assert value == pytest.approx(-expected, rel=1e-12)
    at_coverage = make_selective_scorer(
        metric, reject_penalty=1.7, greater_is_better=False, coverage=0.3
    )
    kept = np.zeros(100, dtype=bool)
    kept[np.argsort(MODEL.uncertainty(X_test))[:30]] = True
    assert at_coverage(MODEL, X_test, y_test) == pytest.approx(
        -np.where(kept, errors, 1.7).mean()
    )


def test_penalty_alone_where_nothing_is_accepted_and_none_where_everything_is():
    scorer = make_selective_scorer(mean_squared_error, reject_penalty=-0.5)
    silent = selective(Ridge(), target_coverage=None, reject_cost=0.0)
    silent.set_params(uncertainty_score=lambda _, X: np.ones(len(X))).fit(X, y)
    assert not silent.accept(X_test).any()
    assert scorer(silent, X_test, y_test) == -0.5
    accepted = MODEL.accept(X_test)
    unseen = np.where(accepted, 0.0, 1.0)
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


def test_a_missing_penalty_is_named():
    scorer = make_selective_scorer(mean_squared_error, greater_is_better=False)
    for model, target in (
        (MODEL, y_test),
        (MODEL, y_test.round()),
        (VECTORS, Y_test),
        (Ridge().fit(X, y), y_test),
    ):
        with pytest.raises(ValueError, match=r"no label is wrong.*reject_penalty="):
            scorer(model, X_test, target)


@pytest.mark.parametrize("penalty", [np.nan, np.inf, "1", True])
def test_a_penalty_is_a_finite_number(penalty):
    with pytest.raises(ValueError, match="reject_penalty must be a finite number"):
        make_selective_scorer(mean_squared_error, reject_penalty=penalty)


@pytest.mark.parametrize("on_reject", ["drop", "error"])
def test_a_penalty_counts_rejected_samples_only(on_reject):
    with pytest.raises(ValueError, match=r"reject_penalty=1 .*Omit one of"):
        make_selective_scorer(
            mean_squared_error, reject_penalty=1, on_reject=on_reject, coverage=0.5
        )
