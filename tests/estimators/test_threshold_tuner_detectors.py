"""Detectors that learn without ratings, and logged scores, in an ensemble."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn import config_context
from sklearn.base import BaseEstimator, OutlierMixin, clone
from sklearn.ensemble import IsolationForest
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.mixture import GaussianMixture
from sklearn.model_selection import GridSearchCV, KFold, cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KernelDensity, LocalOutlierFactor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import OneClassSVM

from sklearn_reject import EnsembleThresholdTuner
from sklearn_reject.metrics import PNCurveDisplay

D = {"target_derivative": 0.2}


def draw(n=240, seed=0):
    """Documents of which the rare ones are far out in two features, with a log."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.15).astype(int)
    X = rng.normal(size=(n, 4))
    X[:, :2] += 2.5 * y[:, np.newaxis]
    X[:, 3] = rng.normal(size=n) + 2 * y
    return X, y


DETECTORS = {
    "forest": IsolationForest(n_estimators=10, random_state=0),
    "svm": OneClassSVM(),
    "lof": LocalOutlierFactor(novelty=True),
    "density": KernelDensity(),
    "mixture": GaussianMixture(random_state=0),
    "scaled": make_pipeline(StandardScaler(), KernelDensity()),
}


@pytest.mark.filterwarnings("ignore:At the operating point all rated positives")
@pytest.mark.parametrize("name", DETECTORS)
def test_what_is_not_normal_scores_high(name):
    X, y = draw()
    X[y == 1, :2] = 4 * np.random.default_rng(1).normal(size=(y.sum(), 2))
    y[:40] = -1  # nobody has looked
    X[:40] *= 0.5  # but a detector has
    detector = DETECTORS[name]
    model = EnsembleThresholdTuner(
        [(name, detector, [0, 1])],
        cv=KFold(3),
        base_thresholds=[-np.inf],
        target_derivative=0.1,
    )
    model.fit(X, y)
    expected = clone(detector).fit(X[:, :2])
    np.testing.assert_allclose(
        model.joint_scores(X)[:, 0], -expected.score_samples(X[:, :2])
    )
    scores = model.joint_scores(X)[:, 0]
    assert scores[y == 1].mean() > scores[y == 0].mean()
    assert model.score(X, y) > 0.7


def test_scores_that_tune_are_out_of_fold():
    X, y = draw()
    model = EnsembleThresholdTuner(
        [("density", KernelDensity(), [0, 1]), ("logged", "passthrough", 3)],
        cv=KFold(3),
        **D,
    ).fit(X, y)
    scores = np.empty((240, 2))
    scores[:, 1] = X[:, 3]
    for train, test in KFold(3).split(X):
        density = KernelDensity().fit(X[train, :2])
        scores[test, 0] = -density.score_samples(X[test, :2])
    matrix = EnsembleThresholdTuner(None, cv=KFold(3), **D).fit(scores, y)
    np.testing.assert_allclose(model.thresholds_, matrix.thresholds_)
    points = model.cross_validated_point_, matrix.cross_validated_point_
    np.testing.assert_allclose(points[0].thresholds, points[1].thresholds)
    assert model.estimators_[1] == "passthrough"


@pytest.mark.parametrize("column", [3, [3], slice(3, 4), lambda X: [3]])
def test_a_column_is_a_score(column):
    X, y = draw()
    model = EnsembleThresholdTuner([("logged", "passthrough", column)], **D).fit(X, y)
    matrix = EnsembleThresholdTuner(None, **D).fit(X[:, 3:], y)
    np.testing.assert_array_equal(model.thresholds_, matrix.thresholds_)
    np.testing.assert_array_equal(model.predict(X), matrix.predict(X[:, 3:]))
    # Nothing is fitted, so that five folds judge the thresholds alone.
    assert len(model.cross_validated_point_.thresholds) == 5
    assert model.named_estimators_["logged"] == "passthrough"


def test_columns_of_a_mixed_frame():
    pd = pytest.importorskip("pandas")
    X, y = draw()
    frame = pd.DataFrame(X[:, :3], columns=["a", "b", "c"])
    frame["who"] = np.where(y == 1, "x", "y")
    frame["logged"] = X[:, 3].astype(object)
    model = EnsembleThresholdTuner(
        [("nb", GaussianNB(), ["a", "b"]), ("logged", "passthrough", "logged")],
        cv=3,
        **D,
    ).fit(frame, y)
    np.testing.assert_array_equal(model.joint_scores(frame)[:, 1], X[:, 3])
    bad = clone(model).set_params(
        estimators=[("who", "passthrough", "who")], cv="prefit"
    )
    with pytest.raises(ValueError, match="'who' takes a column without scores"):
        bad.fit(frame, y)


def test_a_column_of_a_sparse_matrix():
    X, y = draw()
    model = EnsembleThresholdTuner([("logged", "passthrough", 3)], **D)
    np.testing.assert_array_equal(
        model.fit(csr_array(X), y).thresholds_, clone(model).fit(X, y).thresholds_
    )


def test_what_is_frozen_is_not_fitted():
    X, y = draw()
    frozen = FrozenEstimator(
        IsolationForest(n_estimators=10, random_state=0).fit(X[:100, :2])
    )
    model = EnsembleThresholdTuner(
        [("forest", frozen, [0, 1]), ("logged", "passthrough", 3)], **D
    ).fit(X[100:], y[100:])
    expected = -frozen.score_samples(X[:, :2])
    np.testing.assert_array_equal(model.joint_scores(X)[:, 0], expected)
    assert len(model.cross_validated_point_.thresholds) == 5


def test_detectors_take_no_weights_of_ratings():
    X, y = draw()
    weight = np.where(y == 1, 1.0, 3.0)
    views = [("lof", LocalOutlierFactor(novelty=True), [0, 1])]
    model = EnsembleThresholdTuner(views, cv=3, target_derivative=0.05)
    # LocalOutlierFactor has no weights, and is not asked to take any.
    point = model.fit(X, y, sample_weight=weight).operating_point_
    assert point.fp % 3 == 0
    assert point.fp > 0
    with pytest.raises(TypeError, match="'verbose', but there is no classifier"):
        model.fit(X, y, verbose=True)
    machine = OneClassSVM(gamma=0.5)
    views = [("machine", machine, [0, 1])]
    with config_context(enable_metadata_routing=True):
        routed = EnsembleThresholdTuner(
            [("machine", machine.set_fit_request(sample_weight=True), [0, 1])],
            cv=3,
            **D,
        ).fit(X, y, sample_weight=weight)
    expected = clone(machine).fit(X[:, :2], sample_weight=weight)
    np.testing.assert_array_equal(
        routed.joint_scores(X)[:, 0], -expected.score_samples(X[:, :2])
    )


def test_detectors_need_no_classes_in_a_training_part():
    X, y = draw()
    order = np.argsort(y, kind="stable")
    X, y = X[order], y[order]
    splits = [(np.flatnonzero(y == k), np.flatnonzero(y != k)) for k in (0, 1)]
    views = [("density", KernelDensity(), [0, 1]), ("nb", GaussianNB(), [0, 1])]
    model = EnsembleThresholdTuner(views[:1], cv=splits, target_derivative=0.01)
    with pytest.warns(UserWarning, match="2 of 2 folds leave no rated"):
        model.fit(X, y)
    model.set_params(estimators=views)
    with pytest.raises(ValueError, match="one class only"):
        model.fit(X, y)


def mixed():
    return EnsembleThresholdTuner(
        [
            ("lr", LogisticRegression(), [0, 1, 2]),
            ("forest", IsolationForest(n_estimators=5, random_state=0), [0, 1]),
            ("logged", "passthrough", 3),
        ],
        cv=3,
        n_thresholds=8,
        **D,
    )


def test_parameters_tags_and_diagrams():
    model = mixed()
    twin = clone(model).set_params(lr__C=0.5, forest__n_estimators=7)
    assert twin.get_params()["forest__n_estimators"] == 7
    assert model.get_params()["forest__n_estimators"] == 5
    assert twin.get_params()["logged"] == "passthrough"
    assert "passthrough" in model._repr_html_()
    tags = model.__sklearn_tags__().input_tags
    assert not tags.allow_nan
    only = EnsembleThresholdTuner([("logged", "passthrough", 0)], **D)
    assert only.__sklearn_tags__().input_tags.allow_nan
    twin.set_params(forest="passthrough", estimators=model.estimators)
    with pytest.raises(ValueError, match=r"'forest' takes one column of X .*, got 2"):
        twin.fit(*draw())


def test_searches_and_pipelines():
    X, y = draw()
    search = GridSearchCV(mixed(), {"forest__n_estimators": [3, 6]}, cv=3)
    assert search.fit(X, y).best_score_ > 0.8
    model = make_pipeline(StandardScaler(), mixed())
    labels = cross_val_predict(model, X, y, cv=3)
    assert labels[y == 1].mean() > labels[y == 0].mean()
    assert model.fit(X, y).score(X, y) > 0.8


@pytest.mark.parametrize("rule", ["any", "all"])
def test_a_detector_that_did_not_run_says_nothing(rule):
    X, y = draw()
    missing = np.arange(240) % 5 == 0
    scores = X[:, 2:].copy()
    scores[missing, 1] = np.nan
    model = EnsembleThresholdTuner(None, rule=rule, target_derivative=0.1)
    model.fit(scores, y)
    reached = scores >= model.thresholds_  # never where it is NaN
    expected = reached.any(axis=1) if rule == "any" else reached.all(axis=1)
    np.testing.assert_array_equal(model.predict(scores) == 1, expected)
    np.testing.assert_array_equal(model.decision_function(scores) > 0, expected)
    assert np.isfinite(model.score(scores, y))
    assert model.__sklearn_tags__().input_tags.allow_nan
    # The same from a column of a frame, beside a frozen score.
    X[:, 3] = scores[:, 1]
    columns = [("one", "passthrough", 2), ("two", "passthrough", 3)]
    logged = EnsembleThresholdTuner(columns, rule=rule, target_derivative=0.1)
    logged.fit(X, y)
    np.testing.assert_array_equal(logged.thresholds_, model.thresholds_)
    assert np.isnan(logged.joint_scores(X)[missing, 1]).all()


def test_missing_values_of_a_frame_beside_a_classifier():
    pd = pytest.importorskip("pandas")
    X, y = draw()
    frame = pd.DataFrame(X[:, :2], columns=["a", "b"])
    frame["logged"] = pd.array(np.where(y == 1, 2.0, X[:, 3]), dtype="Float64")
    frame.loc[::7, "logged"] = pd.NA
    model = EnsembleThresholdTuner(
        [("nb", GaussianNB(), ["a", "b"]), ("logged", "passthrough", "logged")],
        cv=3,
        target_derivative=0.1,
    ).fit(frame, y)
    assert np.isnan(model.joint_scores(frame)[::7, 1]).all()
    assert model.predict(frame).shape == (240,)
    with pytest.raises(ValueError, match=r"constant|NaN for every rated"):
        model.fit(frame.assign(logged=np.nan), y)


def test_errors_name_the_row_that_was_given():
    X, y = draw()
    X[17, 3] = np.inf
    model = EnsembleThresholdTuner([("logged", "passthrough", 3)], **D)
    with pytest.raises(ValueError, match=r"'logged' takes a column .*infinity"):
        model.fit(X, y)
    # Scores out of fold are in another order, but rows are those of X.
    X[17, 3], y[17] = 99.0, -1
    folds = KFold(3, shuffle=True, random_state=0)
    model = EnsembleThresholdTuner(
        [("nb", GaussianNB(), [0, 1]), ("logged", "passthrough", 3)], cv=folds, **D
    )
    with pytest.raises(ValueError, match=r"row 17\b.*base_thresholds"):
        model.fit(X, y)


class Columns(OutlierMixin, BaseEstimator):
    """A detector with a number of columns of scores."""

    def __init__(self, n_columns=1):
        self.n_columns = n_columns

    def fit(self, X, y=None):
        return self

    def score_samples(self, X):
        return -np.abs(X[:, : self.n_columns])


def test_a_detector_has_one_score():
    X, y = draw()
    fitted = EnsembleThresholdTuner([("a", Columns())], **D).fit(X, y)
    np.testing.assert_array_equal(fitted.joint_scores(X), np.abs(X[:, :1]))
    with pytest.raises(ValueError, match=r"'a' must have one score .*\(48, 2\)"):
        EnsembleThresholdTuner([("a", Columns(2))], **D).fit(X, y)


def test_a_picture_of_a_mixed_ensemble():
    pyplot = pytest.importorskip("matplotlib.pyplot")
    X, y = draw()
    display = PNCurveDisplay.from_estimator(mixed().fit(X, y), X, y, plot_single=True)
    labels = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert any("forest" in text for text in labels)
    assert any("logged" in text for text in labels)
    pyplot.close("all")
