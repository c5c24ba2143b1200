"""Operating points against all combinations of thresholds."""

import json
import pickle
import warnings
from decimal import Decimal
from fractions import Fraction
from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sklearn import config_context
from sklearn.metrics import f1_score

from sklearn_reject.exceptions import InfeasibleTargetError, RejectionWarning
from sklearn_reject.thresholds import operating_point, optimal_path
from tests.thresholds.threshold_oracle import Counted, best_points, samples

EVERY = ["graph", "analytic", "direct"]
METHODS = pytest.mark.parametrize("method", EVERY)
RULES = pytest.mark.parametrize("rule", ["any", "all"])

prices = st.builds(Fraction, st.integers(1, 12), st.integers(1, 12)).map(float)
shares = st.integers(1, 20).map(lambda number: number / 20)
targets = st.one_of(
    prices.map(lambda value: {"max_fp_per_tp": value}),
    st.integers(1, 14).map(lambda value: {"max_alerts": value}),
    shares.map(lambda value: {"min_recall": value}),
    shares.map(lambda value: {"min_precision": value}),
    st.just({"objective": "f1"}),
)


def draw(seed=0, n_documents=600, n_classifiers=2, share=0.1):
    rng = np.random.default_rng(seed)
    y = (rng.random(n_documents) < share).astype(int)
    lift = 2.5 * rng.random((n_documents, n_classifiers)) * y[:, np.newaxis]
    return rng.normal(size=lift.shape) + lift, y


def quietly(function, *args, **options):
    """Call a function that may warn, such as of all documents that are predicted."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RejectionWarning)
        return function(*args, **options)


def find(sample, target, **options):
    """Return the operating point, or what can be met; None where nobody knows."""
    is_unknown = (sample["y"] < 0).any() and "inclusion_proba" not in sample
    if "min_recall" in target and is_unknown:
        with pytest.raises(ValueError, match="needs the number of all positives"):
            operating_point(**sample, **target, **options)
        return None
    try:
        return quietly(operating_point, **sample, **target, **options)
    except InfeasibleTargetError as error:
        [[name, value]] = error.attainable.items()
        return value if name in target else None


THIRD = np.array([[0.25], [0.25], [0.5], [0.5], [0.0]])


@example(  # fp / tp is the price
    sample={"scores": THIRD, "y": np.array([1, 1, 1, 0, 0]), "rule": "any"},
    target={"max_fp_per_tp": 1 / 3},
)
@given(sample=samples(), target=targets)
def test_direct_is_the_best_of_all_thresholds(sample, target):
    if "max_alerts" in target and "sample_weight" in sample:
        # What weighs nothing may alert, but places no threshold.
        there = sample["sample_weight"] > 0
        sample = {k: v if k == "rule" else v[there] for k, v in sample.items()}
    counted = Counted(**sample)
    best, limit = best_points(target, counted.all_points(), counted.total)
    point = find(sample, target, method="direct")
    if point is None:
        assert "min_recall" in target
    elif best is None:
        assert point == pytest.approx(float(limit), rel=1e-12)
    else:
        fp, tp, alerts = counted.count(point.thresholds)
        assert (point.fp, point.tp, point.n_predicted) == (fp, tp, alerts)
        assert (fp, tp) in best
        if "max_alerts" in target:
            assert find(sample, target).tp == tp


# Beyond so many combinations, a local optimum of coordinate ascent
LOCAL = {"working_memory": 0.02}
BOUNDS = {"max_fp_per_tp": 2, "max_alerts": 30, "min_recall": 0.6, "min_precision": 0.6}
BOUNDS |= {"objective": "f1"}


@RULES
@pytest.mark.parametrize("n_classifiers", [2, 3])
def test_coordinate_ascent_mostly_reaches_the_optimum(n_classifiers, rule):
    missed = 0
    for seed, bound in product(range(6), BOUNDS.items()):
        target = dict([bound])
        scores, y = draw(seed, 300, n_classifiers)
        options = {"rule": rule, "n_thresholds": 12, "method": "direct", **target}
        exact = operating_point(scores, y, **options)
        with config_context(**LOCAL):
            path = optimal_path(scores, y, rule=rule, n_thresholds=12)
            point = operating_point(scores, y, **options)
        key = key_of(target, y.sum())
        assert key(point.fp, point.tp) <= key(exact.fp, exact.tp)
        missed += key(point.fp, point.tp) < key(exact.fp, exact.tp)
        if "max_alerts" in target:
            assert point.n_predicted <= 30
        else:
            ways = zip(path.fp, path.tp, strict=True)
            assert key(point.fp, point.tp) >= max(key(*each) for each in ways)
    assert missed <= 2


def key_of(target, total):
    """Return what makes of counts the higher the better, out of bounds the lowest."""
    [(name, value)] = target.items()
    return {
        "max_fp_per_tp": lambda fp, tp: tp - fp / value,
        "max_alerts": lambda fp, tp: tp,
        "min_recall": lambda fp, tp: -fp if tp >= value * total else -np.inf,
        "min_precision": lambda fp, tp: tp if tp >= value * (tp + fp) else -np.inf,
        "objective": lambda fp, tp: 2 * tp / (tp + fp + total),
    }[name]


@given(sample=samples(), target=targets)
def test_graph_is_the_best_of_the_path(sample, target):
    if "max_alerts" in target and sample["scores"].shape[1] > 1:
        return  # the best of all thresholds, as for "direct"
    counted = Counted(**sample)
    path = optimal_path(**sample)
    vertices = {counted.count(thresholds) for thresholds in path.thresholds}
    best, limit = best_points(target, vertices, counted.total)
    point = find(sample, target)
    if point is None or best is None:
        assert point is None or point == pytest.approx(float(limit), rel=1e-12)
        return
    assert (point.fp, point.tp) in best
    assert counted.count(point.thresholds)[2] == point.n_predicted
    assert point.predict(sample["scores"]).tolist() == counted.predict(point.thresholds)
    # Of equal counts, the highest thresholds: nothing is predicted in vain.
    same = (path.fp == point.fp) & (path.tp == point.tp)
    np.testing.assert_array_equal(point.thresholds, path.thresholds[same][-1])


def test_a_precision_that_only_direct_attains():
    # The corner of both scores is pure, but the path of the largest area misses it.
    rng = np.random.default_rng(0)
    y = np.r_[np.zeros(300), np.ones(60)].astype(int)
    scores = np.r_[rng.random((300, 2)), rng.random((60, 2)) + np.array([0.6, 0])]
    scores[:150, 0] += 0.75
    scores[300:, 1] = 0.95 + scores[300:, 1] / 20
    with pytest.raises(InfeasibleTargetError) as info:
        operating_point(scores, y, rule="all", min_precision=1.0, n_thresholds=4)
    assert info.value.attainable["min_precision"] < 1
    options = {"rule": "all", "min_precision": 1.0, "method": "direct"}
    exact = operating_point(scores, y, n_thresholds=4, **options)
    with config_context(**LOCAL):
        point = operating_point(scores, y, n_thresholds=4, **options)
    assert exact.precision == point.precision == 1
    assert 0 < point.tp <= exact.tp


@RULES
def test_many_documents_of_two_classifiers(rule):
    # Enough for buckets of scores, and for limits that leave most documents out.
    scores, y = draw(0, 30_000, 2, share=0.01)
    own = [np.unique(column[y == 1]) for column in scores.T]
    gain = np.where(y == 1, 1.0, -0.3)
    ranks = [
        np.searchsorted(*pair, side="right") for pair in zip(own, scores.T, strict=True)
    ]
    table = np.zeros([len(values) + 1 for values in own])
    np.add.at(table, tuple(ranks), gain)
    if rule == "any":
        table = table.sum() - table.cumsum(axis=0).cumsum(axis=1)
    else:
        table = table[::-1, ::-1].cumsum(axis=0).cumsum(axis=1)[::-1, ::-1][1:, 1:]
    options = {"rule": rule, "method": "direct", "max_fp_per_tp": 1 / 0.3}
    point = operating_point(scores, y, **options)
    assert point.tp - 0.3 * point.fp == pytest.approx(table.max(), abs=1e-9)


@METHODS
def test_f1_and_precision_are_those_of_scikit_learn(method):
    scores, y = draw()
    point = operating_point(scores, y, method=method, objective="f1")
    f1 = 2 * point.tp / (point.tp + point.fp + y.sum())
    assert f1_score(y, point.predict(scores)) == pytest.approx(f1)
    assert point.target_derivative == pytest.approx(f1 / (2 - f1))
    point = operating_point(scores, y, method=method, min_precision=0.7)
    assert y[point.predict(scores)].mean() == point.precision >= 0.7
    assert np.isnan(point.target_derivative)


def test_prices_that_are_extreme_or_cannot_be_met():
    # A negative scores highest, and a positive lowest.
    y, scores = np.array([0, 1, 1, 0, 1, 0, 0, 1]), np.arange(8, 0, -1)
    for method in EVERY:
        with pytest.raises(InfeasibleTargetError, match="Allow this number") as info:
            operating_point(scores, y, max_fp_per_tp=1 / 3, method=method)
        assert info.value.attainable == {"max_fp_per_tp": pytest.approx(0.5)}
        end = operating_point(scores, y, method=method, max_fp_per_tp=0.5)
        assert (end.fp, end.tp) == (1, 2)
        copy = pickle.loads(pickle.dumps(info.value))
        assert copy.attainable == info.value.attainable
    assert operating_point(scores, y, **info.value.attainable).tp == 2
    # Any larger one is worth all documents, and says so.
    with pytest.warns(RejectionWarning, match="all documents are predicted positive"):
        point = operating_point(scores, y, max_fp_per_tp=10)
    assert np.isneginf(point.thresholds).all()
    assert (point.fp, point.tp, point.n_predicted) == (4, 4, 8)
    scores, y = draw()
    assert operating_point(scores, y, max_fp_per_tp=1e-100).fp == 0
    assert quietly(operating_point, scores, y, max_fp_per_tp=1e100).tp == y.sum()


@pytest.mark.parametrize("n", [30_000, 999])
def test_equal_weights_are_as_good_as_none(n):
    # Steps of one true for two false positives, which sums of weights part. All of them
    # are one segment, whose slope is the target.
    scores = np.repeat(np.arange(float(n)), 3)
    y = np.tile([1, 0, 0], n)
    scores[:30], y[:30] = 0.0, 0
    scores[-30:], y[-30:] = n, 1
    point = operating_point(scores, y, max_fp_per_tp=2)
    for weight in (0.1, 1 / 3000):
        even = operating_point(scores, y, sample_weight=weight, max_fp_per_tp=2)
        np.testing.assert_array_equal(even.thresholds, point.thresholds)
        assert even.tp == pytest.approx(weight * point.tp)


def test_points_are_frozen_and_travel():
    scores, y = draw(n_documents=60, share=0.4)
    point = operating_point(scores, y, max_alerts=10)
    path = optimal_path(scores, y)
    with pytest.raises(AttributeError):
        point.fp = 0
    assert f"precision={point.precision:.4g}" in repr(point)
    np.testing.assert_equal(vars(pickle.loads(pickle.dumps(point))), vars(point))
    for each, ask in ((point, "predict"), (path, "locate")):
        text = json.dumps(each.to_dict(), allow_nan=False)
        restored = type(each).from_dict(json.loads(text))
        assert restored == each
        answers = (getattr(own, ask)(scores) for own in (restored, each))
        np.testing.assert_array_equal(*answers)
        assert restored.to_dict() == each.to_dict()
        # Whatever is not "any" would decide like "all".
        with pytest.raises(ValueError, match=r"rule must be one of.*got 'Any'"):
            type(each).from_dict(each.to_dict() | {"rule": "Any"})
        for wrong, words in (
            ([[1.0, np.inf]], "finite, got inf"),
            ([[0.1, 0.2, 0.3]], "one column for each of the 2 classifiers, got 3"),
            ([0.1, 0.2], "one column for each of the 2 classifiers, got 1"),
        ):
            with pytest.raises(ValueError, match=words):
                getattr(each, ask)(wrong)


def test_masked_and_nullable_scores_are_missing():
    scores, y = draw(n_documents=60, share=0.4)
    hidden = np.random.default_rng(1).random((60, 2)) < 0.2
    plain = operating_point(np.where(hidden, np.nan, scores), y, objective="f1")
    nullable = pd.DataFrame(scores).astype("Float64").mask(hidden)
    for gaps in (np.ma.masked_array(scores, hidden), nullable):
        point = operating_point(gaps, y, objective="f1")
        np.testing.assert_array_equal(point.thresholds, plain.thresholds)


NO = {"max_fp_per_tp": None}
BAD_OPTIONS = [
    (NO, "Exactly one of max_fp_per_tp, .* and objective must be given. Got none"),
    ({"objective": "f1"}, "Exactly one of"),
    ({"max_fp_per_tp": -1}, r"max_fp_per_tp must be in \(0, inf\)"),
    ({"max_fp_per_tp": "1"}, "max_fp_per_tp must be a number"),
    ({**NO, "max_alerts": 0}, "max_alerts must be a positive int"),
    ({**NO, "min_recall": 0}, r"min_recall must be in \(0, 1\]"),
    ({**NO, "min_precision": 2}, r"min_precision must be in \(0, 1\]"),
    ({**NO, "objective": "f2"}, "objective must be one of"),
    ({"method": "magic"}, "method must be one of"),
    ({"rule": "magic"}, "rule must be one of"),
    ({"n_thresholds": 1}, "n_thresholds == 1, must be >= 2"),
    ({"confidence_level": 95}, "confidence_level must be"),
    ({"pos_label": 7}, "pos_label=7 is not among"),
    ({"inclusion_proba": [0.5, 0, 1, 1]}, "got 0.0 in row 1"),
    ({"inclusion_proba": [0.5, 1]}, "inclusion_proba has 2 elements"),
    ({"inclusion_proba": [1, np.nan, 1, 1]}, "NaN in row 1, which is"),
    ({"inclusion_proba": [[0.5] * 2] * 4}, "should be a 1d array"),
    ({"inclusion_proba": 1e-310}, "inclusion_proba must be finite"),
    ({"sample_weight": [0, 0, 1, 1]}, "no rated positives of positive weight"),
    ({"inclusion_proba": 1e-60, "sample_weight": [1e90] * 4}, "/ inclusion_proba"),
    ({"sample_weight": [1, -1, 1, 1]}, "sample_weight must be non-neg"),
    ({"y": [0, 1, 2, 2], "unrated_label": None}, r"two classes, got \[0, 1, 2\]"),
]
BAD_DOCUMENTS = [
    ([[0.1, np.nan], [1, np.nan]], [0, 1], "column 1 are nan in every"),
    ([[0.1], [np.inf]], [0, 1], "finite, got inf in row 1, column 0"),
    ([[0.1, 2], [0.3, 2]], [0, 1], "column 1 are 2 in every rated"),
    ([0.1, 0.2], [1, 1], "no rated negatives"),
    ([0.1, 0.2], [0, 0], "no rated positives"),
    ([0.1, 0.2], [-1, np.nan], "no rated documents: all 2 are missing or -1"),
    ([0.1, 0.2], [0, 1, 1], "y has 3 elements, but there are 2 samples"),
    ([0.1, 0.2j], [0, 1], "scores must hold real numbers"),
    ([0.1, 0.2], [-1, 1], "pass unrated_label=None"),
    ([["a"], ["b"]], [0, 1], "scores must hold numbers"),
    ([[[0.1]], [[0.2]]], [0, 1], "scores must be a matrix"),
    ([0.3, 0.1, 0.2], [0, 1, -1], "no rated positives of positive weight that"),
    ([0.1, 0.3, 0.5], [0, 1, -1], "no rated document scores above all unrated"),
    ([0.1, 0.2], np.array([1, "0"], dtype=object), "labels of one kind"),
    ([0.1, 0.2], [Decimal(1), Decimal(0)], r"y must hold .*got \[Decimal"),
]
BAD = [*BAD_OPTIONS, *(({"scores": s, "y": y}, words) for s, y, words in BAD_DOCUMENTS)]


@pytest.mark.parametrize(("options", "words"), BAD)
def test_bad_input(options, words):
    scores = [[0.9, 0.2], [0.3, 0.7], [0.6, 0.5], [0.4, 0.3]]
    given = {"scores": scores, "y": [1, 1, 0, 0], "max_fp_per_tp": 1, **options}
    with pytest.raises(ValueError, match=words):
        operating_point(**given)
