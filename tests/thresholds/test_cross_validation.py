"""Points of folds against the same folds, one by one."""

import warnings

import numpy as np
import pytest

from sklearn_reject.exceptions import RejectionWarning
from sklearn_reject.thresholds import (
    CrossValidatedPoint,
    check_documents,
    cross_validate_point,
    resolve_target,
)
from sklearn_reject.thresholds._documents import predict_positive
from sklearn_reject.thresholds._search import Search

SEARCH = Search()


def draw(n_documents=240, rule="any", weight=None, seed=0):
    rng = np.random.default_rng(seed)
    y = (np.arange(n_documents) % 4 == 0).astype(int)
    scores = rng.normal(size=(n_documents, 2)) + 1.5 * y[:, np.newaxis]
    return check_documents(scores, y, rule=rule, sample_weight=weight), scores, y


def folds(n_documents, n_folds):
    rows = np.arange(n_documents)
    return [(rows[rows % n_folds != k], rows[rows % n_folds == k])
            for k in range(n_folds)]  # fmt: skip


@pytest.mark.parametrize("rule", ["any", "all"])
@pytest.mark.parametrize("is_weighted", [False, True])
def test_folds_are_counted_by_what_others_tuned(rule, is_weighted):
    weight = np.linspace(0.5, 2, 240) if is_weighted else None
    documents, scores, y = draw(rule=rule, weight=weight)
    splits = folds(240, 3)
    point = cross_validate_point(documents, 0.5, SEARCH, splits)
    fp = tp = 0.0
    areas = []
    for (train, test), thresholds in zip(splits, point.thresholds, strict=True):
        path, vertex = SEARCH.find_point(documents.take(train), 0.5)
        np.testing.assert_allclose(thresholds, path.thresholds[vertex])
        reached = scores[test] >= thresholds
        predicted = reached.any(axis=1) if rule == "any" else reached.all(axis=1)
        counted = predicted * (1 if weight is None else weight[test])
        fp += counted[y[test] == 0].sum()
        tp += counted[y[test] == 1].sum()
        part = path.recount(documents.take(test))
        areas.append(part.area / (part.fp[0] * part.tp[0]))
    assert (point.fp, point.tp) == (pytest.approx(fp), pytest.approx(tp))
    assert point.normalized_area == pytest.approx(np.mean(areas))
    assert point.precision == pytest.approx(tp / (tp + fp))
    for value, (low, high) in (
        (point.fp, point.fp_interval),
        (point.tp, point.tp_interval),
        (point.precision, point.precision_interval),
    ):
        assert low < value < high


def test_no_splits_no_point():
    assert cross_validate_point(draw()[0], 0.5, SEARCH, []) is None


@pytest.mark.usefixtures("threads")
def test_confidence_is_passed_on():
    documents, *_ = draw(weight=np.linspace(0.5, 2, 240))

    def interval(**options):
        found = cross_validate_point(documents, 0.5, SEARCH, folds(240, 3), **options)
        return found.fp_interval

    assert interval() == interval(n_jobs=2)
    narrow, wide = interval(confidence_level=0.5), interval(confidence_level=0.99)
    assert wide[0] < narrow[0] < narrow[1] < wide[1]


def test_a_target_out_of_range_of_a_fold_is_met_as_far_as_can_be():
    # All positives score above all negatives but in a fold's training part.
    scores = np.array([8, 7, 6, 5, 4, 3, 2, 1])
    y = np.array([0, 1, 0, 1, 0, 1, 0, 1])
    documents = check_documents(scores, y)
    splits = [(np.arange(8), np.arange(8))]
    nothing = cross_validate_point(documents, 50.0, SEARCH, splits)
    assert (nothing.fp, nothing.tp) == (0, 0)
    assert np.isposinf(nothing.thresholds).all()
    assert np.isnan(nothing.precision)
    everything = cross_validate_point(documents, 0.01, SEARCH, splits)
    assert (everything.fp, everything.tp) == (4, 4)
    assert everything.precision == 0.5


def test_folds_without_a_class_have_no_area():
    documents, _, y = draw(40)
    negatives = np.flatnonzero(y == 0)[:5]
    splits = [(np.arange(40), negatives), (np.arange(40), np.arange(40))]
    both = cross_validate_point(documents, 0.5, SEARCH, splits)
    whole = cross_validate_point(documents, 0.5, SEARCH, splits[1:])
    assert both.normalized_area == whole.normalized_area
    assert 0 < whole.normalized_area <= 1
    none = cross_validate_point(documents, 0.5, SEARCH, splits[:1])
    assert np.isnan(none.normalized_area)


@pytest.mark.parametrize(
    ("label", "missing", "n_test"), [(1, "negatives", 40), (0, "positives", 0)]
)
def test_a_training_part_of_one_class_decides_without_tuning(label, missing, n_test):
    documents, _, y = draw(40)
    rows = np.flatnonzero(y == label)
    splits = [(rows, np.arange(40))]
    with pytest.warns(RejectionWarning, match=f"cv: fold 0 leaves no rated {missing}"):
        point = cross_validate_point(documents, 0.5, SEARCH, splits)
    assert point.fp + point.tp == point.n_predicted == n_test
    assert np.isnan(point.normalized_area)


@pytest.mark.parametrize("n_positive", [1, 2])
def test_one_positive_is_enough_for_a_point(n_positive):
    rng = np.random.default_rng(0)
    y = (np.arange(50) < n_positive).astype(int)
    documents = check_documents(rng.normal(size=(50, 2)) + 3 * y[:, np.newaxis], y)
    rows = np.arange(50)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RejectionWarning)
        point = cross_validate_point(documents, 0.1, SEARCH, folds(50, 5))
    assert point.thresholds.shape == (5, 2)
    assert point.tp <= n_positive
    assert np.isfinite([*point.fp_interval, *point.tp_interval]).all()
    # The fold without the only positive finds nothing, and does not count it.
    if n_positive == 1:
        assert point.tp == 0
        assert np.isposinf(point.thresholds[0]).all()
    assert len(rows) >= point.n_predicted >= point.fp + point.tp


def test_alerts_are_shared_among_the_folds():
    documents, *_ = draw(240)
    target = resolve_target(max_alerts=60)
    point = cross_validate_point(documents, target, SEARCH, folds(240, 3))
    trained = [documents.take(train) for train, _ in folds(240, 3)]
    for train, thresholds in zip(trained, point.thresholds, strict=True):
        assert predict_positive(train.scores, thresholds, "any").sum() <= 40
    assert 30 <= point.n_predicted <= 90


def test_precision_of_nothing():
    nan = float("nan")
    point = CrossValidatedPoint(None, 0.0, 0.0, 0, nan, (0, 0), (0, 0), (nan, nan), 0.5)
    assert np.isnan(point.precision)
