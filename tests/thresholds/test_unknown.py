"""Scores that are missing, ratings that were drawn, and points as dictionaries."""

import json
import warnings
from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sklearn_reject.exceptions import InfeasibleTargetError, RejectionWarning
from sklearn_reject.thresholds import (
    CrossValidatedPoint,
    OperatingPoint,
    Search,
    ThresholdPath,
    check_documents,
    count_intervals,
    cross_validate_point,
    operating_point,
    optimal_path,
    pn_table,
)

METHODS = ("graph", "direct")


@st.composite
def partly_run(draw):
    """Documents some of whose scores are NaN, and the same with a lowest score."""
    n = draw(st.integers(0, 8))
    n_classifiers = draw(st.integers(1, 3))
    value = st.sampled_from([np.nan, 1.0, 2.0, 3.0])
    rows = draw(
        st.lists(
            st.lists(value, min_size=n_classifiers, max_size=n_classifiers),
            min_size=n,
            max_size=n,
        )
    )
    ends = [[4.0] * n_classifiers, [4.0] * n_classifiers, [1.0] * n_classifiers]
    y = draw(st.lists(st.sampled_from([0, 1, -1]), min_size=n, max_size=n))
    return np.array([*rows, *ends]), np.array([*y, 1, 0, draw(st.integers(0, 1))])


@given(
    partly_run(), st.sampled_from(["any", "all"]), st.sampled_from(["grid", "pairs"])
)
def test_a_detector_that_did_not_run_has_reached_nothing(sample, rule, search):
    scores, y = sample
    base = [1.0] * scores.shape[1]
    lowest = np.where(np.isnan(scores), -50.0, scores)
    options = {"rule": rule, "base_thresholds": base}
    missing, low = (check_documents(s, y, **options) for s in (scores, lowest))
    np.testing.assert_array_equal(missing.rows, low.rows)
    for method in METHODS:
        find = Search(method=method, search=search)
        try:
            path, at = find.find_point(missing, 0.5)
        except InfeasibleTargetError:
            with pytest.raises(InfeasibleTargetError):
                find.find_point(low, 0.5)
            continue
        other, there = find.find_point(low, 0.5)
        assert (path.fp[at], path.tp[at]) == (other.fp[there], other.tp[there])
        np.testing.assert_array_equal(path.fp, other.fp)
        np.testing.assert_array_equal(path.locate(scores), other.locate(lowest))
        again = path.recount(missing)
        np.testing.assert_array_equal(again.tp, path.tp)


@given(partly_run(), st.sampled_from(["any", "all"]))
def test_counts_at_all_thresholds(sample, rule):
    scores, y = sample
    y = np.maximum(y, 0)
    table = pn_table(scores, y, rule=rule)
    decide = {"any": np.any, "all": np.all}[rule]
    for node in product(*(range(len(own)) for own in table.thresholds)):
        at = [own[k] for own, k in zip(table.thresholds, node, strict=True)]
        predicted = decide(scores >= at, axis=1)
        assert table.tp[node] == (predicted & (y == 1)).sum()
        assert table.fp[node] == (predicted & (y == 0)).sum()


def test_points_predict_what_ran():
    scores = np.array([[3, np.nan], [np.nan, 3], [1, 1], [2, 1], [np.nan, np.nan]])
    y = [1, 1, 0, 0, 0]
    point = operating_point(scores, y, target_derivative=1)
    assert point.predict(scores).tolist() == [True, True, False, False, False]
    path = optimal_path(scores, y)
    assert path.locate([[np.nan, np.nan]]).tolist() == [-1]
    scores[0, 1] = 4
    point = operating_point(scores, y, rule="all", target_derivative=1)
    assert point.predict(scores).tolist() == [True, False, False, False, False]


# Ratings that were drawn


@pytest.mark.parametrize("rule", ["any", "all"])
def test_drawn_ratings_count_right_on_average(rule):
    # The mean over all draws of ratings, by their probabilities, is the truth.
    scores = np.array([[5, 1], [4, 3], [3, 4], [2, 2], [1, 5], [0, 0.0]])
    truth = np.array([1, 0, 1, 1, 0, 0])
    chance = np.array([1.0, 1.0, 0.5, 0.25, 0.5, 0.1])
    thresholds = np.array([2.0, 2.0])
    mean = np.zeros(2)
    for rated in product([True, False], repeat=6):
        rated = np.array(rated)
        weight = np.where(rated, chance, 1 - chance).prod()
        if weight == 0:
            continue
        y = np.where(rated, truth, -1)
        try:
            documents = check_documents(
                scores, y, rule, base_thresholds=[0, 0], inclusion_proba=chance
            )
        except ValueError:
            continue
        decide = {"any": np.any, "all": np.all}[rule]
        predicted = decide(documents.scores >= thresholds, axis=1)
        mean += weight * np.array(documents.count(predicted))
        # Where no draw is refused, the weights of all draws add up to one.
    predicted = {"any": np.any, "all": np.all}[rule](scores >= thresholds, axis=1)
    skipped = refused_counts(scores, truth, chance, rule, thresholds)
    expected = [(predicted & (truth == label)).sum() for label in (0, 1)]
    np.testing.assert_allclose(mean + skipped, expected)


def refused_counts(scores, truth, chance, rule, thresholds):
    """Return what the draws count that leave a constant score, weighed the same way."""
    total = np.zeros(2)
    decide = {"any": np.any, "all": np.all}[rule]
    predicted = decide(scores >= thresholds, axis=1)
    for rated in product([True, False], repeat=len(truth)):
        rated = np.array(rated)
        weight = np.where(rated, chance, 1 - chance).prod()
        y = np.where(rated, truth, -1)
        try:
            if weight:
                check_documents(
                    scores, y, rule, base_thresholds=[0, 0], inclusion_proba=chance
                )
        except ValueError:
            counted = rated & predicted
            total += weight * np.array(
                [(counted * (truth == label) / chance).sum() for label in (0, 1)]
            )
    return total


def test_unrated_documents_of_known_inclusion_proba_do_not_end_the_region():
    rng = np.random.default_rng(0)
    truth = (rng.random(3000) < 0.1).astype(int)
    scores = rng.normal(size=(3000, 2)) + 1.5 * truth[:, np.newaxis]
    surely = (scores >= 1.5).any(axis=1)
    chance = np.where(surely, 1.0, 0.2)
    y = np.where(rng.random(3000) < chance, truth, -1)
    drawn = operating_point(scores, y, inclusion_proba=chance, marginal_precision=0.2)
    weights = operating_point(
        scores,
        y,
        sample_weight=1 / chance,
        base_thresholds=scores.min(axis=0),
        marginal_precision=0.2,
    )
    np.testing.assert_array_equal(drawn.thresholds, weights.thresholds)
    assert drawn.tp == weights.tp
    predicted = drawn.predict(scores)
    for count, interval, label in (
        (drawn.fp, drawn.fp_interval, 0),
        (drawn.tp, drawn.tp_interval, 1),
    ):
        actual = (predicted & (truth == label)).sum()
        assert interval[0] <= actual <= interval[1]
        assert interval[0] <= count <= interval[1]
    # Those of unknown inclusion_proba do.
    chance[scores.sum(axis=1) < -3] = np.nan
    y[np.isnan(chance)] = -1
    partial = check_documents(scores, y, inclusion_proba=chance)
    assert not partial.is_complete
    reached = (scores >= partial.base).any(axis=1)
    assert not (reached & np.isnan(chance)).any()


@pytest.mark.parametrize(
    ("inclusion_proba", "message"),
    [
        ([0.5, 0, 1], "one probability in ]0, 1] .* got 0.0 in row 1"),
        ([0.5, 1, 1.5], "got 1.5 in row 2"),
        ([0.5, 1], "inclusion_proba has 2 elements"),
        ([0.5, np.nan, 1], "inclusion_proba is NaN in row 1, which is rated"),
    ],
)
def test_bad_inclusion_probas(inclusion_proba, message):
    with pytest.raises(ValueError, match=message.replace("]0, 1]", r"\]0, 1\]")):
        check_documents([1.0, 2.0, 3.0], [0, 1, 0], inclusion_proba=inclusion_proba)


def test_a_sample_without_its_probability_warns():
    rng = np.random.default_rng(0)
    truth = (rng.random(2000) < 0.2).astype(int)
    scores = rng.normal(size=2000) + 2 * truth
    y = np.where(rng.random(2000) < 0.2, truth, -1)
    options = {"base_thresholds": 0, "marginal_precision": 0.5}
    with pytest.warns(RejectionWarning, match="are rated, and only these"):
        point = operating_point(scores, y, **options)
    assert point.n_predicted == point.predict(scores).sum()
    assert point.rated_share == (point.fp + point.tp) / point.n_predicted
    # With it, the counts stand for all.
    options["inclusion_proba"] = 0.2
    whole = operating_point(scores, y, **options)
    assert whole.fp + whole.tp == pytest.approx(whole.n_predicted, rel=0.2)


def test_the_positive_class_may_be_any():
    scores, y = [[0.9, 0.2], [0.3, 0.7], [0.6, 0.5], [0.4, 0.3]], ["a", "a", "b", "b"]
    point = operating_point(scores, y, target_derivative=1, pos_label="a")
    plain = operating_point(scores, [1, 1, 0, 0], target_derivative=1)
    np.testing.assert_array_equal(point.thresholds, plain.thresholds)
    path = optimal_path(scores, y, pos_label="a")
    assert path.area == pn_table(scores, y, pos_label="a").tp.max() * 2


# Strict JSON


def test_there_and_back():
    rng = np.random.default_rng(0)
    y = (np.arange(60) % 3 == 0).astype(int)
    scores = np.c_[rng.normal(size=60) + 2 * y, rng.normal(size=60)]
    documents = check_documents(scores, y)
    rows = np.arange(60)
    splits = [(rows[rows % 2 == k], rows[rows % 2 != k]) for k in (0, 1)]
    objects = [
        operating_point(scores, y, max_alerts=10),
        operating_point(scores, y, target_derivative=1),
        optimal_path(scores, y),
        cross_validate_point(documents, 1.0, Search(), splits),
    ]
    kinds = OperatingPoint, OperatingPoint, ThresholdPath, CrossValidatedPoint
    for written, kind in zip(objects, kinds, strict=True):
        text = json.dumps(written.to_dict(), allow_nan=False)
        restored = kind.from_dict(json.loads(text))
        for name, value in json.loads(text).items():
            if name != "type":
                np.testing.assert_equal(getattr(restored, name), getattr(written, name))
                assert value is not None
    point, path = objects[0], objects[2]
    np.testing.assert_array_equal(
        OperatingPoint.from_dict(point.to_dict()).predict(scores), point.predict(scores)
    )
    np.testing.assert_array_equal(
        ThresholdPath.from_dict(path.to_dict()).locate(scores), path.locate(scores)
    )


@pytest.mark.parametrize("rule", ["any", "all"])
@pytest.mark.parametrize("target", [{"max_alerts": 6}, {"min_recall": 1}])
def test_all_predicted_documents_are_counted(rule, target):
    # Unrated documents below all rated ones, as others were drawn; and such of weight
    # zero, which thresholds are placed without.
    rng = np.random.default_rng(0)
    for _ in range(50):
        scores = rng.integers(0, 7, size=(12, 2)).astype(float)
        y = rng.choice([0, 1, -1], 12)
        weight = rng.choice([0.0, 1.0], 12, p=[0.2, 0.8])
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                point = operating_point(
                    scores,
                    y,
                    rule=rule,
                    inclusion_proba=0.5,
                    sample_weight=weight,
                    **target,
                )
        except ValueError:
            continue  # a class is missing, or the target cannot be met
        n_predicted = point.predict(scores).sum()
        assert point.n_predicted == n_predicted
        assert n_predicted <= target.get("max_alerts", 12)


def test_masked_and_nullable_values_are_missing():
    rng = np.random.default_rng(0)
    y = (rng.random(60) < 0.4).astype(float)
    scores = rng.normal(size=(60, 2)) + y[:, np.newaxis]
    hidden = rng.random((60, 2)) < 0.2
    plain = operating_point(np.where(hidden, np.nan, scores), y, objective="f1")
    nullable = pd.DataFrame(scores).astype("Float64").mask(hidden)
    for gaps in (np.ma.masked_array(scores, hidden), nullable):
        point = operating_point(gaps, y, objective="f1")
        np.testing.assert_array_equal(point.thresholds, plain.thresholds)
    unrated = (scores < 0).all(axis=1)
    expected = operating_point(scores, np.where(unrated, np.nan, y), objective="f1")
    masked = np.ma.masked_array(y.astype(int), unrated)
    point = operating_point(scores, masked, objective="f1")
    np.testing.assert_array_equal(point.thresholds, expected.thresholds)


def test_inclusion_probas_of_rounded_zeros_are_refused():
    scores, y = np.arange(6.0), [0, 1, 0, 1, 1, -1]
    with pytest.raises(ValueError, match="smallest inclusion_proba is 1e-310"):
        operating_point(scores, y, objective="f1", inclusion_proba=1e-310)
    with pytest.raises(ValueError, match=r"up to 1e\+150, which is too large"):
        operating_point(
            scores, y, objective="f1", inclusion_proba=1e-60, sample_weight=[1e90] * 6
        )


def test_dictionaries_of_unknown_rules_are_refused():
    # Whatever is not "any" would decide like "all".
    scores, y = np.arange(4.0), [0, 1, 0, 1]
    point = operating_point(scores, y, objective="f1")
    for each in (point, optimal_path(scores, y)):
        with pytest.raises(ValueError, match=r"rule must be one of.*got 'Any'"):
            type(each).from_dict(each.to_dict() | {"rule": "Any"})


def test_intervals_know_what_the_draw_has_left_out():
    # Nobody was drawn of those that would weigh 50, but they are there.
    scores = np.r_[np.arange(12.0) + 20, np.arange(40.0) / 4]
    y = np.r_[np.tile([0, 1], 6), np.full(40, -1)]
    chance = np.r_[np.full(12, 0.5), np.full(40, 0.02)]
    documents = check_documents(scores, y, inclusion_proba=chance, base_thresholds=[0])
    fp, tp, precision = count_intervals([documents], [[5.0]])
    assert fp[1] == tp[1] > -50 * np.log(0.025)
    assert precision[0] < 0.1
    # What cannot be predicted says nothing.
    above = check_documents(scores, y, inclusion_proba=chance, base_thresholds=[15])
    assert count_intervals([above], [[15.0]])[0][1] < 30
    assert len(documents.take(np.arange(14)).drawable_weight) == 2
