"""Points of folds against the same folds, one by one."""

import numpy as np
import pytest

from sklearn_reject.thresholds import (
    CrossValidatedPoint,
    check_documents,
    cross_validate_point,
)
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
    point = cross_validate_point(documents, 0.5, SEARCH, splits, random_state=0)
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
def test_confidence_and_seed_are_passed_on():
    documents, *_ = draw(weight=np.linspace(0.5, 2, 240))

    def interval(**options):
        found = cross_validate_point(documents, 0.5, SEARCH, folds(240, 3), **options)
        return found.fp_interval

    assert interval(random_state=0) == interval(random_state=0, n_jobs=2)
    assert interval(random_state=0) != interval(random_state=1)
    narrow = interval(random_state=0, confidence_level=0.5)
    wide = interval(random_state=0, confidence_level=0.99)
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


@pytest.mark.parametrize(("label", "missing"), [(1, "negatives"), (0, "positives")])
def test_training_parts_need_both_classes(label, missing):
    documents, _, y = draw(40)
    rows = np.flatnonzero(y == label)
    splits = [(np.arange(40), rows), (rows, np.arange(40))]
    with pytest.raises(ValueError, match=f"cv: fold 1 leaves no rated {missing}"):
        cross_validate_point(documents, 0.5, SEARCH, splits)


def test_precision_of_nothing():
    nan = float("nan")
    point = CrossValidatedPoint(None, 0.0, 0.0, (0, 0), (0, 0), (nan, nan), 0.5)
    assert np.isnan(point.precision)
