"""Folds of joint thresholds: the past alone tunes what follows, and five by default."""

import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    PredefinedSplit,
    ShuffleSplit,
    StratifiedKFold,
    TimeSeriesSplit,
)
from sklearn.naive_bayes import GaussianNB

from sklearn_reject import EnsembleThresholdTuner
from sklearn_reject.exceptions import RejectionWarning
from sklearn_reject.thresholds import operating_point

D = {"target_derivative": 0.5}


def draw(n=300, seed=0, share=0.25):
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < share).astype(int)
    return rng.normal(size=(n, 4)) + 1.2 * y[:, np.newaxis], y


def views():
    return [("left", GaussianNB(), slice(0, 2)), ("right", GaussianNB(), slice(2, 4))]


def scores_of_splits(X, y, splits):
    """Scores out of fold of both classifiers, NaN where there are none."""
    scores = np.full((len(y), 2), np.nan)
    for train, test in splits:
        for column, (_, model, view) in enumerate(views()):
            fitted = clone(model).fit(X[train][:, view], y[train])
            scores[test, column] = fitted.predict_proba(X[test][:, view])[:, 1]
    return scores


def count_by_hand(scores, y, splits):
    """Thresholds of each fold by what its training part knows, and the counts."""
    thresholds, fp, tp = [], 0, 0
    known = ~np.isnan(scores[:, 0])
    for train, test in splits:
        tune = np.intersect1d(train, np.flatnonzero(known))
        tune = np.setdiff1d(tune, test)
        if not len(tune):
            continue
        point = operating_point(scores[tune], y[tune], **D)
        found = y[test][(scores[test] >= point.thresholds).any(axis=1)]
        thresholds.append(point.thresholds)
        fp, tp = fp + np.sum(found == 0), tp + np.sum(found == 1)
    return np.array(thresholds), fp, tp


@pytest.mark.parametrize(
    "cv",
    [
        TimeSeriesSplit(4),
        TimeSeriesSplit(4, gap=7),
        TimeSeriesSplit(5, max_train_size=90),
        KFold(4),
        StratifiedKFold(3, shuffle=True, random_state=0),
        PredefinedSplit(np.r_[np.full(60, -1), np.arange(240) % 3]),
    ],
    ids=["time", "gap", "window", "k", "shuffled", "predefined"],
)
def test_thresholds_of_a_fold_see_nothing_but_its_training_part(cv):
    X, y = draw()
    splits = list(cv.split(X, y))
    scores = scores_of_splits(X, y, splits)
    expected, fp, tp = count_by_hand(scores, y, splits)
    model = EnsembleThresholdTuner(views(), cv=cv, **D).fit(X, y)
    point = model.cross_validated_point_
    # Between scores, thresholds are placed among those that a fold sees.
    np.testing.assert_allclose(point.thresholds, expected)
    assert (point.fp, point.tp) == (fp, tp)
    known = ~np.isnan(scores[:, 0])
    whole = operating_point(scores[known], y[known], **D)
    np.testing.assert_allclose(model.thresholds_, whole.thresholds)


def test_what_follows_a_fold_does_not_change_its_thresholds():
    X, y = draw()
    cv = TimeSeriesSplit(5)
    one = EnsembleThresholdTuner(views(), cv=cv, **D).fit(X, y)
    # The last test part again, with other documents.
    other_X, other_y = draw(seed=1)
    X[250:], y[250:] = other_X[250:], other_y[250:]
    other = EnsembleThresholdTuner(views(), cv=cv, **D).fit(X, y)
    points = one.cross_validated_point_, other.cross_validated_point_
    assert points[0].thresholds.shape == (4, 2)
    np.testing.assert_array_equal(points[0].thresholds, points[1].thresholds)
    assert one.thresholds_.tolist() != other.thresholds_.tolist()


def test_the_order_of_splits_does_not_matter():
    X, y = draw()
    splits = list(TimeSeriesSplit(4).split(X))
    forth, back = (
        EnsembleThresholdTuner(views(), cv=cv, **D).fit(X, y)
        for cv in (splits, splits[::-1])
    )
    np.testing.assert_array_equal(forth.thresholds_, back.thresholds_)
    assert forth.cross_validated_point_.tp == back.cross_validated_point_.tp


def test_a_single_split_has_no_folds_and_repeats_are_refused():
    X, y = draw()
    model = EnsembleThresholdTuner(
        views(), cv=ShuffleSplit(1, test_size=0.3, random_state=0), **D
    ).fit(X, y)
    assert model.cross_validated_point_ is None
    model.set_params(cv=ShuffleSplit(2, test_size=0.6, random_state=0))
    with pytest.raises(ValueError, match="are in several test parts"):
        model.fit(X, y)


def test_folds_that_cannot_tune_are_left_out_and_said():
    X, y = draw(share=0.1)
    y[:160] = 0
    y[[3, 5]] = 1  # in the first training part, which has no scores
    cv = TimeSeriesSplit(5)
    with pytest.warns(RejectionWarning, match="2 of 4 folds leave no rated positives"):
        model = EnsembleThresholdTuner(views(), cv=cv, **D).fit(X, y)
    assert len(model.cross_validated_point_.thresholds) == 2
    y[:250] = 0
    y[[3, 5]] = 1
    model.set_params(target_derivative=1e-3)
    with pytest.warns(RejectionWarning, match="4 of 4 folds .* is None"):
        model.fit(X, y)
    assert model.cross_validated_point_ is None
    assert model.operating_point_.tp > 0


@pytest.mark.parametrize("partly", [False, True])
def test_scores_are_cross_validated_by_default(partly):
    X, truth = draw(400)
    scores = X[:, :2]
    y = np.where((scores >= 0.5).any(axis=1), truth, -1) if partly else truth
    model = EnsembleThresholdTuner(None, **D).fit(scores, y)
    kind = y.copy()
    kind[model.documents_.rows] += 2  # what is rated, and known
    splits = list(StratifiedKFold(5).split(scores, kind))
    expected = EnsembleThresholdTuner(None, cv=splits, **D).fit(scores, y)
    points = model.cross_validated_point_, expected.cross_validated_point_
    np.testing.assert_array_equal(points[0].thresholds, points[1].thresholds)
    assert points[0].tp == points[1].tp > 0
    model.set_params(cv="prefit").fit(scores, y)
    assert model.cross_validated_point_ is None
    np.testing.assert_array_equal(model.thresholds_, expected.thresholds_)


def test_frozen_classifiers_are_cross_validated_by_default():
    X, y = draw(400)
    frozen = [
        (name, FrozenEstimator(model.fit(X[:200, view], y[:200])), view)
        for name, model, view in views()
    ]
    model = EnsembleThresholdTuner(frozen, **D).fit(X[200:], y[200:])
    assert len(model.cross_validated_point_.thresholds) == 5
    model.set_params(cv="prefit").fit(X[200:], y[200:])
    assert model.cross_validated_point_ is None


def test_prefit_is_for_what_is_not_fitted():
    X, y = draw()
    with pytest.raises(ValueError, match="cv='prefit' takes scores as they are"):
        EnsembleThresholdTuner(views(), cv="prefit", **D).fit(X, y)
    with pytest.raises(ValueError, match="cv must be"):
        EnsembleThresholdTuner(views(), cv="none", **D).fit(X, y)


@pytest.mark.parametrize("rule", ["any", "all"])
@pytest.mark.parametrize("method", ["graph", "analytic", "direct"])
@pytest.mark.parametrize("n_positive", [1, 2, 3, 4])
def test_few_positives_do_not_fail_by_the_default(rule, method, n_positive):
    scores = np.random.default_rng(n_positive).normal(size=(40, 2))
    y = np.zeros(40, dtype=int)
    y[:n_positive] = 1
    scores[:n_positive] += 3
    model = EnsembleThresholdTuner(None, rule=rule, method=method, **D)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(scores, y)
    if n_positive > 1:
        assert len(model.cross_validated_point_.thresholds) == n_positive
        assert not caught
        return
    assert model.cross_validated_point_ is None
    [told] = caught
    assert "a single rated positive" in str(told.message)
    # It can be switched off, and then nothing is said.
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.set_params(cv="prefit").fit(scores, y)


class Recorder(ClassifierMixin, BaseEstimator):
    """A classifier of times, that refuses to say anything of what it has seen."""

    def fit(self, X, y):
        self.classes_, self.last_ = np.unique(y), X[:, 0].max()
        return self

    def predict_proba(self, X):
        assert X[:, 0].min() > self.last_, "scores of the past"
        return np.column_stack([1 - X[:, 1], X[:, 1]])


def test_classifiers_of_time_splits_score_what_follows():
    rng = np.random.default_rng(0)
    y = (rng.random(200) < 0.3).astype(int)
    X = np.column_stack([np.arange(200), (rng.random(200) + y) / 2])
    model = EnsembleThresholdTuner([("a", Recorder())], cv=TimeSeriesSplit(3), **D)
    model.fit(X, y)
    assert model.estimators_[0].last_ == 199
    assert len(model.cross_validated_point_.thresholds) == 2


def test_groups_stay_apart_by_folds():
    X, y = draw()
    groups = np.arange(300) // 10
    splits = list(GroupKFold(3).split(X, y, groups))
    model = EnsembleThresholdTuner(views(), cv=GroupKFold(3), **D)
    point = model.fit(X, y, groups=groups).cross_validated_point_
    scores = scores_of_splits(X, y, splits)
    expected, fp, tp = count_by_hand(scores, y, splits)
    np.testing.assert_allclose(point.thresholds, expected)
    assert (point.fp, point.tp) == (fp, tp)


@pytest.mark.parametrize("method", ["graph", "analytic", "direct"])
def test_a_detector_that_ran_in_one_fold_only(method):
    X, y = draw(200)
    scores = np.column_stack([X[:, :2], np.full(200, np.nan)])
    # Known where the first of two splits tests.
    scores[:100, 2] = X[:100, 2]
    splits = [
        (np.arange(100, 200), np.arange(100)),
        (np.arange(100), np.arange(100, 200)),
    ]
    model = EnsembleThresholdTuner(
        None, method=method, cv=splits, target_derivative=0.2, n_thresholds=9
    )
    thresholds = model.fit(scores, y).cross_validated_point_.thresholds
    assert thresholds.shape == (2, 3)
    assert not np.isnan(thresholds).any()


def test_errors_name_rows_of_X_where_splits_follow_time():
    X, y = draw()
    y[np.argmax(X[150:, 0]) + 150] = -1
    logged = [("logged", "passthrough", 0), *views()[1:]]
    model = EnsembleThresholdTuner(logged, cv=TimeSeriesSplit(4), **D)
    row = np.flatnonzero(y == -1)[0]
    with pytest.raises(ValueError, match=f"row {row} is unrated and scores"):
        model.fit(X, y)
    # The first rows have no scores out of fold.
    for row in (5, 250):
        chance = np.where(np.arange(len(y)) == row, 2, 0.5)
        with pytest.raises(
            ValueError, match=f"inclusion_proba .* got 2.0 in row {row}"
        ):
            model.fit(X, y, inclusion_proba=chance)
