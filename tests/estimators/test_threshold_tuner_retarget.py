"""Another operating point without another fit is the one that another fit finds."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import TimeSeriesSplit
from sklearn.naive_bayes import GaussianNB

from sklearn_reject import EnsembleThresholdTuner, InfeasibleTargetError

rng = np.random.default_rng(0)
y = (rng.random(500) < 0.25).astype(int)
# Each column sees the truth through noise.
X = rng.normal(size=(500, 6)) + 1.2 * y[:, np.newaxis]
WEIGHT = rng.random(500)


class Counting(GaussianNB):
    """A classifier that counts how often any of its kind is fitted."""

    n_fits = 0

    def fit(self, X, y):
        Counting.n_fits += 1
        return super().fit(X, y)


def views(kind=GaussianNB):
    return [("left", kind(), slice(0, 3)), ("right", kind(), slice(3, 6))]


def frozen():
    return [
        (name, FrozenEstimator(model.fit(X[:100, columns], y[:100])), columns)
        for name, model, columns in views()
    ]


def tuner(estimators=None, **options):
    return EnsembleThresholdTuner(
        estimators, **({"n_thresholds": 15, "random_state": 0} | options)
    )


def assert_equal_fields(one, other):
    for name, value in vars(one).items():
        np.testing.assert_array_equal(value, getattr(other, name), err_msg=name)


def assert_same(copy, fresh, X=X):
    assert_equal_fields(copy.operating_point_, fresh.operating_point_)
    is_crossed = fresh.cross_validated_point_ is not None
    assert (copy.cross_validated_point_ is not None) == is_crossed
    if is_crossed:
        assert_equal_fields(copy.cross_validated_point_, fresh.cross_validated_point_)
    for name in ("thresholds", "fp", "tp", "area", "rule"):
        np.testing.assert_array_equal(
            getattr(copy.path_, name), getattr(fresh.path_, name)
        )
    np.testing.assert_array_equal(copy.predict(X), fresh.predict(X))
    values = copy.decision_function(X), fresh.decision_function(X)
    np.testing.assert_array_equal(*values)
    assert repr(copy) == repr(fresh)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"rule": "all", "cv": 3},
        {"method": "direct", "cv": TimeSeriesSplit(2)},
        {"method": "analytic", "smoothing": "isotonic", "family": "power"},
        {"cv": "prefit"},
        {"estimators": views(), "cv": 3},
        {"estimators": views(), "cv": TimeSeriesSplit(4)},
        {"estimators": views(), "cv": 0.4},
        {"estimators": views()[:1], "method": "direct"},
        {"estimators": frozen()},
    ],
    ids=[
        "path",
        "all",
        "direct",
        "analytic",
        "prefit",
        "folds",
        "time",
        "share",
        "one",
        "frozen",
    ],
)
@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["counts", "weights"])
def test_the_point_is_that_of_another_fit(options, weight):
    data = X if "estimators" in options else X[:, :2]
    model = tuner(**options, max_fp_per_tp=2).fit(data, y, sample_weight=weight)
    fresh = tuner(**options, target_derivative=0.7)
    fresh.fit(data, y, sample_weight=weight)
    copy = model.retarget(target_derivative=0.7)
    assert_same(copy, fresh, data)


def test_one_number_has_three_names():
    model = tuner(max_fp_per_tp=2).fit(X[:, :2], y)
    copy = model.retarget(marginal_precision=0.5)
    assert (copy.max_fp_per_tp, copy.target_derivative) == (None, None)
    for target in ({"target_derivative": 1}, {"max_fp_per_tp": 1.0}):
        other = model.retarget(**target).operating_point_
        asked = {"target": "marginal_precision", "target_value": 0.5}
        assert_equal_fields(replace(other, **asked), copy.operating_point_)


def test_nothing_is_fitted_and_everything_is_shared():
    model = tuner(views(Counting), cv=3, max_fp_per_tp=2).fit(X, y)
    before, params = dict(vars(model)), repr(model)
    Counting.n_fits = 0
    copy = model.retarget(max_fp_per_tp=1)
    assert Counting.n_fits == 0
    assert repr(model) == params
    assert all(vars(model)[name] is value for name, value in before.items())
    assert copy.path_ is model.path_
    assert copy.documents_ is model.documents_
    assert copy.named_estimators_["left"] is model.named_estimators_["left"]
    copy.set_params(left__var_smoothing=0.5)
    assert model.get_params()["left__var_smoothing"] == 1e-9


@pytest.mark.parametrize("method", ["graph", "direct"])
def test_both_can_be_pickled(method):
    data, options = X[:, :2], {"method": method, "cv": 3}
    model = tuner(**options, max_fp_per_tp=2).fit(data, y)
    again = pickle.loads(pickle.dumps(model)).retarget(max_fp_per_tp=1)
    copy = pickle.loads(pickle.dumps(again))
    assert_same(copy, tuner(**options, max_fp_per_tp=1).fit(data, y), data)
    assert_same(copy.retarget(max_fp_per_tp=2), model, data)


def test_documents_are_those_that_tuned_the_thresholds():
    partial = np.where(X[:, :2].max(axis=1) >= 0.5, y, -1)
    model = tuner(max_fp_per_tp=1, cv="prefit").fit(X[:, :2], partial)
    kept = model.documents_
    np.testing.assert_array_equal(kept.scores, X[partial >= 0, :2])
    np.testing.assert_array_equal(kept.is_positive, partial[partial >= 0] == 1)
    predicted = (kept.scores >= model.thresholds_).any(axis=1)
    assert model.operating_point_.tp == (predicted & kept.is_positive).sum()
    # Nothing is kept of documents that no other target could look at.
    assert kept.given is None


def test_what_was_set_after_the_fit_does_not_matter():
    model = tuner(max_fp_per_tp=2).fit(X[:, :2], y)
    expected = model.retarget(max_fp_per_tp=1).thresholds_
    model.set_params(method="direct", n_thresholds=3)
    found = model.retarget(max_fp_per_tp=1).thresholds_
    np.testing.assert_array_equal(found, expected)


def test_targets_that_another_fit_would_refuse():
    model = tuner(max_fp_per_tp=2).fit(X[:, :2], y)
    with pytest.raises(ValueError, match="Exactly one of target_derivative"):
        model.retarget()
    with pytest.raises(ValueError, match="Exactly one of target_derivative"):
        model.retarget(max_fp_per_tp=2, marginal_precision=0.5)
    with pytest.raises(ValueError, match=r"marginal_precision must be in \]0, 1\["):
        model.retarget(marginal_precision=1)
    with pytest.raises(TypeError, match=r"retarget takes target_.* got 'rule'"):
        model.retarget(max_fp_per_tp=1, rule="all")
    scores = np.append(X[:, 0], 99.0)[:, np.newaxis]
    topped = tuner(max_fp_per_tp=2).fit(scores, np.append(y, 0))
    with pytest.raises(InfeasibleTargetError) as info:
        topped.retarget(max_fp_per_tp=1e-9)
    assert topped.retarget(**info.value.attainable).operating_point_.tp > 0
    with pytest.raises(NotFittedError):
        tuner(max_fp_per_tp=2).retarget(max_fp_per_tp=1)
