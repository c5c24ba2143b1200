"""What the tuner is asked for: alerts, recall, F1, and targets that cannot be met."""

import json
import warnings

import numpy as np
import pytest
from sklearn.ensemble import BaggingClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import TimeSeriesSplit
from sklearn.naive_bayes import GaussianNB

from sklearn_reject import EnsembleThresholdTuner, InfeasibleTargetError
from sklearn_reject.exceptions import RejectionWarning
from sklearn_reject.thresholds import operating_point

TARGETS = (
    {"target_derivative": 0.5},
    {"max_alerts": 40},
    {"min_recall": 0.6},
    {"objective": "f1"},
)
IDS = ["slope", "alerts", "recall", "f1"]


def draw(n=300, seed=0):
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.2).astype(int)
    return rng.normal(size=(n, 4)) + 1.2 * y[:, np.newaxis], y


def views():
    return [("left", GaussianNB(), slice(0, 2)), ("right", GaussianNB(), slice(2, 4))]


def frozen():
    X, y = draw(seed=1)
    return [(n, FrozenEstimator(m.fit(X[:, c], y)), c) for n, m, c in views()]


@pytest.mark.parametrize("method", ["graph", "direct"])
@pytest.mark.parametrize("target", TARGETS, ids=IDS)
def test_targets_are_those_of_arrays(target, method):
    X, y = draw()
    scores = X[:, :2]
    model = EnsembleThresholdTuner(None, method=method, **target).fit(scores, y)
    point = operating_point(scores, y, method=method, **target)
    np.testing.assert_array_equal(model.thresholds_, point.thresholds)
    found = model.predict(scores) == 1
    if "max_alerts" in target:
        assert found.sum() <= 40
    if "min_recall" in target:
        assert found[y == 1].mean() >= 0.6
    assert model.operating_point_.n_predicted == found.sum()
    assert len(model.cross_validated_point_.thresholds) == 5


def test_alerts_count_unrated_documents():
    X, truth = draw(600)
    scores = X[:, :2]
    y = np.where((scores >= 0.5).any(axis=1), truth, -1)
    model = EnsembleThresholdTuner(None, max_alerts=30).fit(scores, y)
    assert 0 < (model.predict(scores) == 1).sum() <= 30
    with pytest.raises(ValueError, match="min_recall needs the number of all"):
        EnsembleThresholdTuner(None, min_recall=0.5).fit(scores, y)


@pytest.mark.parametrize("target", TARGETS, ids=IDS)
@pytest.mark.parametrize(
    "options",
    [
        {"estimators": None},
        {"estimators": views(), "cv": 3},
        {"estimators": views(), "cv": TimeSeriesSplit(4)},
        {"estimators": frozen()},
        {"estimators": None, "method": "direct"},
    ],
    ids=["scores", "folds", "time", "frozen", "direct"],
)
def test_retarget_is_another_fit(options, target):
    X, y = draw()
    X = X[:, :2] if options["estimators"] is None else X
    model = EnsembleThresholdTuner(max_fp_per_tp=2, **options).fit(X, y)
    copy = model.retarget(**target)
    fresh = EnsembleThresholdTuner(**options, **target).fit(X, y)
    assert copy.operating_point_.to_dict() == fresh.operating_point_.to_dict()
    points = copy.cross_validated_point_, fresh.cross_validated_point_
    assert json.dumps(points[0].to_dict()) == json.dumps(points[1].to_dict())
    assert repr(copy) == repr(fresh)
    assert model.max_fp_per_tp == 2


def test_one_target_of_six():
    X, y = draw()
    with pytest.raises(ValueError, match="Exactly one of target_derivative"):
        EnsembleThresholdTuner(None, max_alerts=3, objective="f1").fit(X, y)
    model = EnsembleThresholdTuner(None, objective="f1").fit(X, y)
    with pytest.raises(ValueError, match="Exactly one of target_derivative"):
        model.retarget(max_alerts=3, min_recall=0.5)
    with pytest.raises(TypeError, match=r"retarget takes target_derivative, .*'rule'"):
        model.retarget(rule="all")
    for bad in ({"max_alerts": 0}, {"min_recall": 1.5}, {"objective": "f2"}):
        with pytest.raises(ValueError, match=next(iter(bad))):
            EnsembleThresholdTuner(None, **bad).fit(X, y)


@pytest.mark.parametrize("estimators", [None, views()], ids=["scores", "fitted"])
def test_what_can_be_met_instead(estimators):
    X, y = draw()
    X = X[:, :2] if estimators is None else X
    # The highest score of each classifier is that of a negative.
    model = EnsembleThresholdTuner(estimators, max_alerts=1, cv=3)
    model.set_params(max_fp_per_tp=1e-6, max_alerts=None)
    X[-1], y[-1] = 9, 0
    with pytest.raises(InfeasibleTargetError, match="max_fp_per_tp") as told:
        model.fit(X, y)
    assert not hasattr(model, "path_")
    model.set_params(**told.value.attainable).fit(X, y)
    assert model.operating_point_.tp > 0
    with pytest.raises(InfeasibleTargetError):
        model.retarget(max_fp_per_tp=told.value.attainable["max_fp_per_tp"] * 0.99)


@pytest.mark.parametrize("estimators", [None, views()], ids=["scores", "fitted"])
def test_a_fit_that_fails_leaves_the_last_one(estimators):
    pd = pytest.importorskip("pandas")
    X, y = draw()
    X = X[:, :2] if estimators is None else X
    frame = pd.DataFrame(X, columns=list("abcd")[: X.shape[1]])
    model = EnsembleThresholdTuner(estimators, target_derivative=0.5, cv=3)
    model.fit(frame, y)
    before = {k: v for k, v in vars(model).items() if k.endswith("_")}
    expected = model.predict(frame)
    noise = np.random.default_rng(0).normal(size=len(y))
    other = frame.rename(columns=str.upper).assign(extra=noise)
    partly = np.where(X.max(axis=1) > 0, y, -1)
    # Known when classifiers have been fitted: not all documents are rated.
    model.set_params(target_derivative=None, min_recall=0.5)
    with pytest.raises(ValueError, match="min_recall needs the number of all"):
        model.fit(other, partly)
    with pytest.raises(ValueError, match="no rated positives"):
        model.fit(other, np.zeros(len(y)))
    after = {k: v for k, v in vars(model).items() if k.endswith("_")}
    assert before.keys() == after.keys()
    assert all(before[name] is after[name] for name in before)
    np.testing.assert_array_equal(model.predict(frame), expected)
    assert model.feature_names_in_.tolist() == frame.columns.tolist()


@pytest.mark.parametrize("last", [0, 1])
@pytest.mark.parametrize("method", ["graph", "analytic", "direct"])
def test_the_class_of_the_lowest_row_decides_no_error(last, method):
    # Everything is rated, and everything down to the last row may be predicted.
    scores = np.column_stack([np.arange(40.0, 0, -1), np.arange(40.0) % 7])
    y = (np.arange(40) % 2 == 0).astype(int)
    y[-1] = last
    model = EnsembleThresholdTuner(None, method=method, max_fp_per_tp=50, cv="prefit")
    model.fit(scores, y)
    assert model.operating_point_.tp == y.sum()


def test_weights_of_zero_by_bagging_are_no_unrated_documents():
    rng = np.random.default_rng(0)
    truth = (rng.random(600) < 0.2).astype(int)
    values = rng.normal(size=(600, 2)) + 1.5 * truth[:, np.newaxis]
    model = EnsembleThresholdTuner(None, max_fp_per_tp=2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        bag = BaggingClassifier(model, n_estimators=3, random_state=0)
        bag.fit(values, truth)
    weight = np.where((values < 1).all(axis=1) & (truth == 0), 0, 1)
    with pytest.warns(RejectionWarning, match="have weight 0"):
        model.set_params(max_fp_per_tp=20).fit(values, truth, sample_weight=weight)
