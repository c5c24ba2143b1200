"""What an ensemble is made of: detectors, logged scores, and drawn ratings."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import coo_array, csr_array
from sklearn import config_context
from sklearn.base import clone
from sklearn.ensemble import IsolationForest
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.mixture import GaussianMixture
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    TimeSeriesSplit,
    cross_val_predict,
    cross_validate,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KernelDensity, LocalOutlierFactor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import OneClassSVM

from sklearn_reject import EnsembleThresholdTuner
from sklearn_reject.thresholds import operating_point

PRICE = {"max_fp_per_tp": 5}


def draw(n=240, seed=0):
    """Documents of which the rare ones are far out in two features, with a log."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.15).astype(int)
    X = rng.normal(size=(n, 4))
    X[:, :2] += 2.5 * y[:, np.newaxis]
    X[:, 3] = rng.normal(size=n) + 2 * y
    return X, y


def tuner(estimators=None, **options):
    return EnsembleThresholdTuner(estimators, **(PRICE | options))


# Detectors that learn without ratings

DETECTORS = {
    "forest": IsolationForest(n_estimators=10, random_state=0),
    "svm": OneClassSVM(),
    "lof": LocalOutlierFactor(novelty=True),
    "density": KernelDensity(),
    "mixture": GaussianMixture(random_state=0),
    "scaled": make_pipeline(StandardScaler(), KernelDensity()),
}


@pytest.mark.parametrize("name", DETECTORS)
def test_what_is_not_normal_scores_high(name):
    X, y = draw()
    X[y == 1, :2] = 4 * np.random.default_rng(1).normal(size=(y.sum(), 2))
    y[:40] = -1  # nobody has looked
    X[:40] *= 0.5  # but a detector has
    detector, chance = DETECTORS[name], np.where(np.arange(240) < 40, 0.5, 1)
    model = tuner([(name, detector, [0, 1])], cv=KFold(3), max_fp_per_tp=10)
    model.fit(X, y, inclusion_proba=chance)
    expected = -clone(detector).fit(X[:, :2]).score_samples(X[:, :2])
    scores = model.joint_scores(X)[:, 0]
    np.testing.assert_allclose(scores, expected)
    assert scores[y == 1].mean() > scores[y == 0].mean()
    assert model.score(X, y) > 0.7


def test_scores_that_tune_are_out_of_fold():
    X, y = draw()
    estimators = [("density", KernelDensity(), [0, 1]), ("logged", "passthrough", 3)]
    model = tuner(estimators, cv=KFold(3)).fit(X, y)
    scores = np.empty((240, 2))
    scores[:, 1] = X[:, 3]
    for train, test in KFold(3).split(X):
        density = KernelDensity().fit(X[train, :2])
        scores[test, 0] = -density.score_samples(X[test, :2])
    matrix = tuner(cv=KFold(3)).fit(scores, y)
    np.testing.assert_allclose(model.thresholds_, matrix.thresholds_)
    points = model.cross_validated_point_, matrix.cross_validated_point_
    np.testing.assert_allclose(points[0].thresholds, points[1].thresholds)
    assert model.estimators_[1] == "passthrough"


def test_what_is_frozen_is_not_fitted():
    X, y = draw()
    forest = IsolationForest(n_estimators=10, random_state=0).fit(X[:100, :2])
    frozen = [("forest", FrozenEstimator(forest), [0, 1]), ("log", "passthrough", 3)]
    model = tuner(frozen).fit(X[100:], y[100:])
    expected = -forest.score_samples(X[:, :2])
    np.testing.assert_array_equal(model.joint_scores(X)[:, 0], expected)
    assert len(model.cross_validated_point_.thresholds) == 5


def test_detectors_take_no_weights_of_ratings():
    X, y = draw()
    weight = np.where(y == 1, 1.0, 3.0)
    views = [("lof", LocalOutlierFactor(novelty=True), [0, 1])]
    model = tuner(views, cv=3, max_fp_per_tp=20)
    # LocalOutlierFactor has no weights, and is not asked to take any.
    point = model.fit(X, y, sample_weight=weight).operating_point_
    assert point.fp % 3 == 0
    assert point.fp > 0
    with pytest.raises(TypeError, match="but there is no classifier"):
        model.fit(X, y, verbose=True)
    machine = OneClassSVM(gamma=0.5)
    with config_context(enable_metadata_routing=True):
        asks = clone(machine).set_fit_request(sample_weight=True)
        routed = tuner([("machine", asks, [0, 1])], cv=3)
        routed.fit(X, y, sample_weight=weight)
    expected = -machine.fit(X[:, :2], sample_weight=weight).score_samples(X[:, :2])
    np.testing.assert_array_equal(routed.joint_scores(X)[:, 0], expected)


@pytest.mark.filterwarnings("ignore:At the operating point all documents")
def test_detectors_need_no_classes_in_a_training_part():
    X, y = draw()
    splits = [(np.flatnonzero(y == k), np.flatnonzero(y != k)) for k in (0, 1)]
    views = [("density", KernelDensity(), [0, 1]), ("nb", GaussianNB(), [0, 1])]
    with pytest.warns(UserWarning, match="2 of 2 folds leave no rated"):
        tuner(views[:1], cv=splits, max_fp_per_tp=100).fit(X, y)
    with pytest.raises(
        ValueError, match=r"'nb' has the classes \[0\], but .*fewer folds"
    ):
        tuner(views, cv=splits).fit(X, y)


def test_a_detector_has_one_score():
    class InTwoColumns(KernelDensity):
        def score_samples(self, X):
            return X[:, :2]

    with pytest.raises(ValueError, match=r"'a' must have one score .*\(48, 2\)"):
        tuner([("a", InTwoColumns())]).fit(*draw())


def test_a_mixed_ensemble_is_a_composition():
    X, y = draw()
    forest = IsolationForest(n_estimators=5, random_state=0)
    views = [("lr", LogisticRegression(), [0, 1, 2]), ("logged", "passthrough", 3)]
    model = tuner([*views, ("forest", forest, [0, 1])], cv=3, n_thresholds=8)
    assert model.get_params()["logged"] == "passthrough"
    assert "passthrough" in model._repr_html_()
    assert not model.__sklearn_tags__().input_tags.allow_nan
    assert tuner(views[1:]).__sklearn_tags__().input_tags.allow_nan
    search = GridSearchCV(model, {"forest__n_estimators": [3, 6]}, cv=3)
    assert search.fit(X, y).best_score_ > 0.8
    labels = cross_val_predict(make_pipeline(StandardScaler(), model), X, y, cv=3)
    assert labels[y == 1].mean() > labels[y == 0].mean()


# Logged scores, and columns


@pytest.mark.parametrize("column", [3, [3], slice(3, 4), lambda X: [3]])
@pytest.mark.parametrize("container", [np.asarray, csr_array])
def test_a_column_is_a_score(column, container):
    X, y = draw()
    given = container(X)
    model = tuner([("logged", "passthrough", column)]).fit(given, y)
    matrix = tuner().fit(X[:, 3:], y)
    np.testing.assert_array_equal(model.thresholds_, matrix.thresholds_)
    np.testing.assert_array_equal(model.predict(given), matrix.predict(X[:, 3:]))
    # Nothing is fitted, so that five folds judge the thresholds alone.
    assert len(model.cross_validated_point_.thresholds) == 5
    assert model.named_estimators_["logged"] == "passthrough"


def test_columns_of_lists_and_of_frames():
    X, y = draw()
    select = lambda X: [0, 1, 2]  # noqa: E731
    by_function = tuner([("left", LogisticRegression(), select)]).fit(X, y)
    by_list = tuner([("left", LogisticRegression(), [0, 1, 2])]).fit(X.tolist(), y)
    expected = by_function.predict(X)
    for given in (X.tolist(), coo_array(X)):
        np.testing.assert_array_equal(by_list.predict(given), expected)
    frame = pd.DataFrame(X[:, :3], columns=["a", "b", "c"])
    frame["who"] = np.where(y == 1, "x", "y")
    frame["logged"] = X[:, 3].astype(object)
    entries = [("nb", GaussianNB(), ["a", "b"]), ("logged", "passthrough", "logged")]
    model = tuner(entries, cv=3).fit(frame, y)
    np.testing.assert_array_equal(model.joint_scores(frame)[:, 1], X[:, 3])
    same = tuner([("nb", GaussianNB(), [0, 1]), ("logged", "passthrough", 3)], cv=3)
    np.testing.assert_array_equal(model.predict(frame), same.fit(X, y).predict(X))
    with pytest.raises(ValueError, match="could not convert string to float"):
        tuner([("who", "passthrough", "who")]).fit(frame, y)
    frame["logged"] = pd.array(np.where(y == 1, 2.0, X[:, 3]), dtype="Float64")
    frame.loc[::7, "logged"] = pd.NA
    model.fit(frame, y)
    assert np.isnan(model.joint_scores(frame)[::7, 1]).all()
    assert model.predict(frame).shape == (240,)
    with pytest.raises(ValueError, match="NaN for every rated"):
        model.fit(frame.assign(logged=np.nan), y)


@pytest.mark.parametrize("rule", ["any", "all"])
def test_a_detector_that_did_not_run_says_nothing(rule):
    X, y = draw()
    missing = np.arange(240) % 5 == 0
    scores = X[:, 2:].copy()
    scores[missing, 1] = np.nan
    model = tuner(rule=rule, max_fp_per_tp=10).fit(scores, y)
    reached = scores >= model.thresholds_  # never where it is NaN
    expected = reached.any(axis=1) if rule == "any" else reached.all(axis=1)
    np.testing.assert_array_equal(model.predict(scores) == 1, expected)
    np.testing.assert_array_equal(model.decision_function(scores) > 0, expected)
    assert np.isfinite(model.score(scores, y))
    assert model.__sklearn_tags__().input_tags.allow_nan
    # The same from columns of X, and where values are masked.
    X[:, 3] = scores[:, 1]
    columns = [("one", "passthrough", 2), ("two", "passthrough", 3)]
    logged = tuner(columns, rule=rule, max_fp_per_tp=10).fit(X, y)
    np.testing.assert_array_equal(logged.thresholds_, model.thresholds_)
    masked = np.ma.masked_array(np.nan_to_num(scores, nan=77.0), np.isnan(scores))
    found = clone(model).fit(masked, y)
    assert found.operating_point_.to_dict() == model.operating_point_.to_dict()
    np.testing.assert_array_equal(found.predict(masked), model.predict(scores))


def test_scores_that_are_infinite():
    X, y = draw()
    log_odds = X[:, 2:].copy()
    log_odds[7, 1] = -np.inf
    words = "scores must be finite, got -inf in row 7, column 1 .*score where it"
    with pytest.raises(ValueError, match=words):
        tuner().fit(log_odds, y)
    with pytest.raises(ValueError, match=words):
        tuner().fit(X[:, 2:], y).predict(log_odds)
    X[17, 3] = np.inf
    with pytest.raises(ValueError, match="'logged' contains infinity"):
        tuner([("logged", "passthrough", 3)]).fit(X, y)


@pytest.mark.parametrize(
    "cv", [KFold(3, shuffle=True, random_state=0), TimeSeriesSplit(4)]
)
def test_errors_name_rows_of_X(cv):
    # Scores out of fold are in another order, and the first of time splits have none.
    X, y = draw()
    X[217, 3], y[217] = 99.0, -1
    model = tuner([("nb", GaussianNB(), [0, 1]), ("logged", "passthrough", 3)], cv=cv)
    with pytest.raises(ValueError, match=r"row 217 is unrated.*inclusion_proba="):
        model.fit(X, y)
    for row in (5, 200):
        chance = np.where(np.arange(len(y)) == row, 2, 0.5)
        with pytest.raises(ValueError, match=f"inclusion_proba .* 2.0 in row {row}"):
            model.fit(X, y, inclusion_proba=chance)


# Ratings that were drawn


def log_week(rng, n):
    truth = (rng.random(n) < 0.03).astype(int)
    kind = rng.integers(3, size=n)
    shows = np.column_stack([kind != 1, kind != 0]) & (truth == 1)[:, np.newaxis]
    return rng.normal(size=(n, 2)) + 2.5 * shows, truth


def test_inclusion_proba_is_that_of_arrays():
    rng = np.random.default_rng(0)
    scores, truth = log_week(rng, 20_000)
    # What is reported is rated, and a share of the rest from 1.5 on.
    best = scores.max(axis=1)
    chance = np.select([best >= 2, best >= 1.5], [1.0, 0.3], np.nan)
    y = np.where(rng.random(20_000) < np.nan_to_num(chance), truth, -1)
    options = {"sample_weight": rng.uniform(1, 2, len(y)), "inclusion_proba": chance}
    model = tuner(cv="prefit").fit(scores, y, **options)
    point = operating_point(scores, y, **PRICE, **options)
    assert model.operating_point_.to_dict() == point.to_dict()
    # Documents that were drawn say nothing of how far down ratings are complete.
    assert (model.base_thresholds_ < 1.6).all()
    assert (tuner(cv="prefit").fit(scores, y).base_thresholds_ > 1.9).all()


def test_inclusion_proba_reaches_no_classifier_and_is_sliced_by_folds():
    rng = np.random.default_rng(0)
    scores, truth = log_week(rng, 1500)
    y = np.where(rng.random(1500) < 0.5, truth, -1)
    views = [("a", LogisticRegression(), [0]), ("b", LogisticRegression(), [1])]
    chance = np.full(1500, 0.5)
    fitted = tuner(views, cv=3).fit(scores, y, inclusion_proba=chance)
    one = tuner(views, cv=3).fit(scores, y, inclusion_proba=0.5)
    assert one.operating_point_.to_dict() == fitted.operating_point_.to_dict()
    alone = LogisticRegression().fit(scores[y >= 0, :1], y[y >= 0])
    np.testing.assert_allclose(fitted.estimators_[0].coef_, alone.coef_)
    with config_context(enable_metadata_routing=True):
        routed = tuner(views, cv=3).set_fit_request(inclusion_proba=True)
        options = {"return_estimator": True, "error_score": "raise"}
        params = {"inclusion_proba": chance}
        result = cross_validate(routed, scores, y, cv=3, params=params, **options)
    for each in result["estimator"]:
        assert each.documents_.weight.max() == 2
