"""Folds of joint thresholds, and other targets without another fit."""

import pickle
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    PredefinedSplit,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedKFold,
    TimeSeriesSplit,
)
from sklearn.naive_bayes import GaussianNB

from sklearn_reject import EnsembleThresholdTuner, InfeasibleTargetError
from sklearn_reject.exceptions import RejectionWarning
from sklearn_reject.thresholds import operating_point

PRICE = {"max_fp_per_tp": 2}
SLOW = pytest.mark.slow
METHODS = pytest.mark.parametrize("method", ["graph", "analytic", "direct"])


def draw(n=300, seed=0, share=0.25):
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < share).astype(int)
    return rng.normal(size=(n, 4)) + 1.2 * y[:, np.newaxis], y


def views(kind=GaussianNB):
    return [("left", kind(), slice(0, 2)), ("right", kind(), slice(2, 4))]


def tuner(estimators=None, **options):
    return EnsembleThresholdTuner(estimators, **(PRICE | options))


def scores_of_splits(X, y, splits):
    """Scores out of fold of both classifiers, NaN where there are none."""
    scores = np.full((len(y), 2), np.nan)
    for train, test in splits:
        for column, (_, model, view) in enumerate(views()):
            fitted = clone(model).fit(X[train][:, view], y[train])
            scores[test, column] = fitted.predict_proba(X[test][:, view])[:, 1]
    return scores


def count_by_hand(scores, y, splits):
    """Thresholds of each fold by what its training part knows, and counts."""
    thresholds, counts, known = [], np.zeros(2), ~np.isnan(scores[:, 0])
    for train, test in splits:
        tune = np.intersect1d(train, np.flatnonzero(known))
        tune = np.setdiff1d(tune, test)
        if len(tune):
            point = operating_point(scores[tune], y[tune], **PRICE)
            found = test[(scores[test] >= point.thresholds).any(axis=1)]
            counts += np.bincount(y[found], minlength=2)
            thresholds.append(point.thresholds)
    return np.array(thresholds), counts


FOLDS = {
    "time": TimeSeriesSplit(4),
    "gap": TimeSeriesSplit(4, gap=7),
    "window": TimeSeriesSplit(5, max_train_size=90),
    "k": KFold(4),
    "shuffled": StratifiedKFold(3, shuffle=True, random_state=0),
    "predefined": PredefinedSplit(np.r_[np.full(60, -1), np.arange(240) % 3]),
    "backwards": list(TimeSeriesSplit(4).split(np.zeros(300)))[::-1],
    "groups": GroupKFold(3),
}


@pytest.mark.parametrize("cv", FOLDS.values(), ids=FOLDS)
def test_thresholds_of_a_fold_see_nothing_but_its_training_part(cv):
    X, y = draw()
    groups = np.arange(300) // 10 if isinstance(cv, GroupKFold) else None
    splits = cv if isinstance(cv, list) else list(cv.split(X, y, groups))
    scores = scores_of_splits(X, y, splits)
    expected, counts = count_by_hand(scores, y, splits)
    params = {} if groups is None else {"groups": groups}
    model = tuner(views(), cv=cv).fit(X, y, **params)
    point = model.cross_validated_point_
    # Between scores, thresholds are placed among those that a fold sees.
    np.testing.assert_allclose(point.thresholds, expected)
    assert [point.fp, point.tp] == counts.tolist()
    known = ~np.isnan(scores[:, 0])
    whole = operating_point(scores[known], y[known], **PRICE)
    np.testing.assert_allclose(model.thresholds_, whole.thresholds)


@pytest.mark.parametrize("rule", ["any", "all"])
@pytest.mark.parametrize("is_weighted", [False, True])
def test_a_point_is_what_the_folds_attain(rule, is_weighted):
    X, y = draw(240)
    scores, weight = X[:, :2], np.linspace(0.5, 2, 240) if is_weighted else None
    scores[:3], y[:3] = scores.min(axis=0), 0  # all parts begin at the same thresholds
    splits = list(KFold(3, shuffle=True, random_state=0).split(scores))
    for split in splits:
        split[0].sort()
    model = tuner(rule=rule, cv=splits).fit(scores, y, sample_weight=weight)
    point, counts, areas = model.cross_validated_point_, np.zeros(2), []
    for (train, test), thresholds in zip(splits, point.thresholds, strict=True):
        own = None if weight is None else weight[train]
        part = tuner(rule=rule, cv="prefit").fit(scores[train], y[train], own)
        np.testing.assert_allclose(thresholds, part.thresholds_)
        own = np.ones(len(test)) if weight is None else weight[test]
        found = part.predict(scores[test]) == 1
        counts += np.bincount(y[test][found], own[found], minlength=2)
        areas.append(part.score(scores[test], y[test], own))
    np.testing.assert_allclose([point.fp, point.tp], counts)
    assert point.precision == pytest.approx(counts[1] / counts.sum())
    assert point.normalized_area == pytest.approx(np.mean(areas))
    assert type(point).from_dict(point.to_dict()) == point


def test_what_folds_there_are():
    X, y = draw()
    scores = X[:, :2]
    for cv in (0.3, ShuffleSplit(1, test_size=0.3, random_state=0)):
        model = tuner(views(), cv=cv, random_state=0).fit(X, y)
        assert len(model.documents_.scores) == 90
        assert model.cross_validated_point_ is None
    points = [
        tuner(cv=[(np.arange(200), test)]).fit(scores, y).cross_validated_point_
        for test in (np.arange(200, 300), np.arange(-100, 0), list(range(200, 300)))
    ]
    assert points[0].tp == points[1].tp == points[2].tp > 0
    frozen = [(n, FrozenEstimator(m.fit(X[:, v], y)), v) for n, m, v in views()]
    assert len(tuner(frozen).fit(X, y).cross_validated_point_.thresholds) == 5


@pytest.mark.parametrize(
    ("cv", "words"),
    [
        (ShuffleSplit(2, test_size=0.6, random_state=0), "are in several test parts"),
        (RepeatedStratifiedKFold(n_splits=3, n_repeats=2), "cv: 300 samples are in"),
        ([(np.arange(100), np.arange(250, 350))], "index 300 is out of bounds"),
        (GroupKFold(3), "groups"),
    ],
)
@pytest.mark.parametrize("estimators", [None, views()], ids=["scores", "fitted"])
def test_bad_folds(cv, words, estimators):
    X, y = draw()
    with pytest.raises(ValueError, match=words):
        tuner(estimators, cv=cv).fit(X, y)


@pytest.mark.filterwarnings("ignore:At the operating point all documents")
def test_folds_that_cannot_tune_are_left_out_and_said():
    X, y = draw(share=0.1)
    y[:160] = 0
    y[[3, 5]] = 1  # in the first training part, which has no scores
    model = tuner(views(), cv=TimeSeriesSplit(5), max_fp_per_tp=1000)
    with pytest.warns(RejectionWarning, match="2 of 4 folds leave no rated positives"):
        model.fit(X, y)
    assert len(model.cross_validated_point_.thresholds) == 2
    y[:250] = 0
    y[[3, 5]] = 1
    with pytest.warns(RejectionWarning, match="4 of 4 folds .* is None"):
        model.fit(X, y)
    assert model.cross_validated_point_ is None
    assert model.operating_point_.tp > 0


def test_folds_without_positives_judge_nothing():
    X, y = draw()
    rows, negatives = np.arange(300), np.flatnonzero(y == 0)[:5]
    model = tuner(cv=[(rows, negatives)])
    with pytest.warns(RejectionWarning, match="or to judge the thresholds .* is None"):
        model.fit(X[:, :2], y)
    splits = [(rows, negatives), (rows, np.setdiff1d(rows[200:], negatives))]
    areas = [
        tuner(cv=cv).fit(X[:, :2], y).cross_validated_point_.normalized_area
        for cv in (splits, splits[1:])
    ]
    assert areas[0] == areas[1]  # the first fold has none


def test_folds_that_cannot_meet_the_target_predict_nothing():
    # Without one fold, a negative scores highest.
    scores = np.array([9, 8, 7, 6, 5, 4, 3, 2, 1, 9, 8, 7, 6, 1.0])
    y = np.array([0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 1, 1, 1, 0])
    split = [(np.arange(9), np.arange(9, 14)), (np.arange(9, 14), np.arange(9))]
    model = tuner(cv=split, max_fp_per_tp=0.5).fit(scores[:, np.newaxis], y)
    point = model.cross_validated_point_
    assert np.isposinf(point.thresholds[0])
    assert point.thresholds[1] == 3.5
    assert (point.fp, point.tp) == (3, 3)
    point = model.retarget(max_alerts=6).cross_validated_point_
    assert point.n_predicted <= 6  # a share of them for each training part


@pytest.mark.filterwarnings("ignore:The least populated class")
@pytest.mark.filterwarnings("ignore:At the operating point all documents")
def test_few_documents_of_a_class():
    X, y = draw(400)
    positives, negatives = (np.flatnonzero(y == k) for k in (1, 0))
    few, single = (np.r_[positives[:n], negatives[: 9 * n]] for n in (3, 1))
    model = tuner(views(), max_fp_per_tp=20).fit(X[few], y[few])
    assert 0 < model.operating_point_.tp <= 3
    with pytest.raises(ValueError, match="no rated positives"):
        model.fit(X[single], y[single])


@METHODS
@pytest.mark.parametrize("rule", ["any", "all"])
@pytest.mark.parametrize("n_positive", [1, 2, 3])
def test_few_positives_do_not_fail_by_the_default(rule, method, n_positive):
    scores = np.random.default_rng(n_positive).normal(size=(40, 2))
    y = np.zeros(40, dtype=int)
    y[:n_positive] = 1
    scores[:n_positive] += 3
    model = tuner(rule=rule, method=method)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(scores, y)
    told = [str(each.message) for each in caught]
    if n_positive > 1:
        assert len(model.cross_validated_point_.thresholds) == 5
        assert not told
        return
    assert model.cross_validated_point_ is None
    assert ["5 of 5 folds leave no rated" in text for text in told] == [True]
    # It can be switched off, and then nothing is said.
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.set_params(cv="prefit").fit(scores, y)


@METHODS
def test_a_detector_that_ran_in_one_fold_only(method):
    X, y = draw(200)
    scores = np.column_stack([X[:, :2], np.full(200, np.nan)])
    # Known where the first of two splits tests.
    scores[:100, 2] = X[:100, 2]
    halves = np.arange(100), np.arange(100, 200)
    model = tuner(method=method, cv=[halves[::-1], halves], n_thresholds=9)
    thresholds = model.fit(scores, y).cross_validated_point_.thresholds
    assert thresholds.shape == (2, 3)
    assert not np.isnan(thresholds).any()


X, Y = draw(400, seed=7)
FROZEN = [(n, FrozenEstimator(m.fit(X[:100, v], Y[:100])), v) for n, m, v in views()]
KINDS = {
    "path": {},
    "all": {"rule": "all", "cv": 3},
    "direct": {"method": "direct", "cv": TimeSeriesSplit(2)},
    "analytic": {"method": "analytic"},
    "prefit": {"cv": "prefit"},
    "folds": {"estimators": views(), "cv": 3},
    "time": {"estimators": views(), "cv": TimeSeriesSplit(4)},
    "share": {"estimators": views(), "cv": 0.4},
    "one": {"estimators": views()[:1], "method": "direct"},
    "frozen": {"estimators": FROZEN},
}


def state_of(model):
    points = model.operating_point_, model.cross_validated_point_, model.path_
    written = [None if point is None else point.to_dict() for point in points]
    return written, repr(model)


# A search of the analytic method takes half a second.
ALL_KINDS = [pytest.param(kind, marks=[SLOW] * (kind == "analytic")) for kind in KINDS]
WEIGHTS = [None, np.linspace(0.2, 1, 400)]


@pytest.mark.parametrize("kind", ALL_KINDS)
@pytest.mark.parametrize("weight", WEIGHTS, ids=["", "weights"])
@pytest.mark.parametrize("target", [{"max_fp_per_tp": 1.4}, {"min_precision": 0.7}])
def test_retarget_is_another_fit(kind, weight, target):
    options = {"n_thresholds": 15, "random_state": 0, **KINDS[kind]}
    data = X if "estimators" in options else X[:, :2]
    model = tuner(**options).fit(data, Y, sample_weight=weight)
    fresh = tuner(**options, **({"max_fp_per_tp": None} | target))
    fresh.fit(data, Y, sample_weight=weight)
    before = state_of(model)
    copy = pickle.loads(pickle.dumps(model)).retarget(**target)
    copy = pickle.loads(pickle.dumps(copy))
    assert state_of(copy) == state_of(fresh)
    np.testing.assert_array_equal(copy.predict(data), fresh.predict(data))
    assert state_of(copy.retarget(**PRICE)) == state_of(model) == before


def test_targets_that_another_fit_would_refuse():
    scores = np.append(X[:, 0], 99.0)[:, np.newaxis]
    model = tuner().fit(scores, np.append(Y, 0))
    with pytest.raises(InfeasibleTargetError) as info:
        model.retarget(max_fp_per_tp=1e-9)
    assert model.retarget(**info.value.attainable).operating_point_.tp > 0
    partial = np.where(X[:, :2].max(axis=1) >= 0.5, Y, -1)
    with pytest.raises(ValueError, match="min_recall needs the number of all"):
        tuner().fit(X[:, :2], partial).retarget(min_recall=0.5)
    with pytest.raises(NotFittedError):
        tuner().retarget(max_fp_per_tp=1)
