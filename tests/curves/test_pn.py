"""PN curves and areas, by the rule at each threshold and scikit-learn."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from sklearn_reject._curves import pn_auc_score, pn_curve


@st.composite
def rated(draw, max_size=12):
    """Draw (scores, is_positive, weights) with ties and both classes."""
    n = draw(st.integers(2, max_size))
    column = lambda low, high: np.array(  # noqa: E731
        draw(st.lists(st.integers(low, high), min_size=n, max_size=n))
    )
    scores = column(-3, 3) / 4
    is_positive = column(0, 1).astype(bool)
    is_positive[:2] = [True, False]
    weights = column(0, 3).astype(float) if draw(st.booleans()) else None
    if weights is not None:
        weights[:2] = np.maximum(weights[:2], 1)
    return scores, is_positive, weights


def weights_of(sample):
    return np.ones(len(sample[0])) if sample[2] is None else sample[2]


def count(sample, threshold):
    """Return false and true positives of one threshold, as exact numbers."""
    scores, is_positive, _ = sample
    rows = list(zip(scores, is_positive, weights_of(sample), strict=True))
    return tuple(
        sum(Fraction(w) for s, label, w in rows if s >= threshold and label == wanted)
        for wanted in (False, True)
    )


def thresholds_of(sample):
    return [np.inf, *np.unique(sample[0][weights_of(sample) > 0])[::-1]]


def exact_curve(sample):
    return [count(sample, threshold) for threshold in thresholds_of(sample)]


def exact_area(curve, max_fp=None):
    """Add up the trapezoids, the last of them cut."""
    max_fp = curve[-1][0] if max_fp is None else max_fp
    area = Fraction(0)
    for (left, low), (right, high) in pairwise(curve):
        if left >= max_fp or left == right:
            continue
        end = min(right, max_fp)
        height = low + (high - low) * Fraction(end - left) / (right - left)
        area += (end - left) * (low + height) / 2
    return area


@given(rated())
def test_curve_is_the_rule_at_each_threshold(sample):
    fp, tp, thresholds = pn_curve(*sample[:2], sample_weight=sample[2])
    assert thresholds.tolist() == thresholds_of(sample)
    assert list(zip(fp, tp, strict=True)) == exact_curve(sample)
    assert fp.dtype == tp.dtype == thresholds.dtype == np.float64
    assert (fp[0], tp[0]) == (0, 0)


@given(rated())
def test_area_counts_pairs(sample):
    scores, is_positive, _ = sample
    weights = weights_of(sample)
    positive, negative = scores[is_positive, np.newaxis], scores[~is_positive]
    wins = (positive > negative) + 0.5 * (positive == negative)
    pairs = weights[is_positive, np.newaxis] * weights[~is_positive]
    area = pn_auc_score(scores, is_positive, sample_weight=sample[2])
    assert area == (wins * pairs).sum() == exact_area(exact_curve(sample))


@given(rated())
def test_normalized_area_is_that_under_the_roc_curve(sample):
    scores, is_positive, weights = sample
    area = pn_auc_score(scores, is_positive, normalize=True, sample_weight=weights)
    theirs = roc_auc_score(is_positive, scores, sample_weight=weights)
    assert area == pytest.approx(theirs, abs=1e-14)


@given(rated(), st.integers(1, 48), st.booleans())
def test_part_of_the_area(sample, eighths, normalize):
    curve = exact_curve(sample)
    max_fp = min(Fraction(eighths, 8), curve[-1][0])
    expected = exact_area(curve, max_fp)
    if normalize:
        expected /= max_fp * curve[-1][1]
    area = pn_auc_score(
        *sample[:2],
        max_fp=float(max_fp),
        normalize=normalize,
        sample_weight=sample[2],
    )
    assert area == pytest.approx(float(expected), rel=1e-14, abs=1e-15)


def test_part_of_the_area_by_hand():
    # Points (0, 1), (2, 1), (3, 3) and (4, 3).
    scores = [9, 8, 8, 7, 7, 7, 6]
    is_positive = [1, 0, 0, 1, 1, 0, 0]
    areas = {0.5: 0.5, 1: 1, 2: 2, 2.5: 2.75, 3: 4, 3.25: 4.75, 4: 7}
    for max_fp, area in areas.items():
        assert pn_auc_score(scores, is_positive, max_fp=max_fp) == area
        share = pn_auc_score(scores, is_positive, max_fp=max_fp, normalize=True)
        assert share == pytest.approx(area / (3 * max_fp), rel=1e-15)
    assert pn_auc_score(scores, is_positive) == 7


def test_a_wall_at_the_bound_adds_nothing():
    # Straight up at one false positive, where the area is cut.
    scores, is_positive = [5, 4, 3, 2], [0, 1, 1, 0]
    assert pn_auc_score(scores, is_positive, max_fp=1) == 0
    assert pn_auc_score(scores, is_positive, max_fp=2) == 2


@given(rated(), st.integers(0, 99))
def test_order_of_rows_does_not_matter_and_weights_repeat_them(sample, seed):
    scores, is_positive, weights = sample
    rows = np.random.default_rng(seed).permutation(len(scores))
    repeated = np.repeat(rows, weights_of(sample)[rows].astype(int))
    curve = pn_curve(scores, is_positive, sample_weight=weights)
    again = pn_curve(scores[repeated], is_positive[repeated])
    for one, other in zip(curve, again, strict=True):
        np.testing.assert_array_equal(one, other)


@given(rated())
def test_any_increasing_transformation_keeps_the_counts(sample):
    scores, is_positive, weights = sample
    fp, tp, thresholds = pn_curve(scores, is_positive, sample_weight=weights)
    moved = pn_curve(np.exp(scores), is_positive, sample_weight=weights)
    np.testing.assert_array_equal(moved[0], fp)
    np.testing.assert_array_equal(moved[1], tp)
    np.testing.assert_array_equal(moved[2], np.exp(thresholds))


def test_counts_of_many_documents_are_exact():
    rng = np.random.default_rng(0)
    scores, is_positive = rng.normal(size=10**5), rng.random(10**5) < 0.01
    fp, tp, thresholds = pn_curve(scores, is_positive)
    np.testing.assert_array_equal(fp + tp, np.arange(10**5 + 1))
    np.testing.assert_array_equal(
        tp[1:], np.cumsum(is_positive[np.argsort(-scores)]).astype(float)
    )
    np.testing.assert_array_equal(thresholds[1:], np.sort(scores)[::-1])


def test_arguments_stay_as_they_are():
    scores, flags, weights = np.array([1.0, 3, 2]), np.array([1, 0, 1]), np.ones(3)
    pn_auc_score(scores, flags, max_fp=0.5, sample_weight=weights)
    assert scores.tolist() == [1, 3, 2]
    assert flags.tolist() == [1, 0, 1]
    assert weights.tolist() == [1, 1, 1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"is_positive": [0, 0, 0]}, "is_positive is False for all documents"),
        ({"is_positive": [1, 1, 1]}, "True for all documents .* one negative"),
        ({"sample_weight": [0, 1, 1]}, "is_positive is False for all documents"),
        ({"sample_weight": [1, 0, 0]}, "is_positive is True for all documents"),
        (
            {"is_positive": [1, 0]},
            "is_positive has 2 elements, but there are 3 samples",
        ),
        ({"is_positive": [1, 0, -1]}, "is_positive must hold True and False, .*got -1"),
        ({"is_positive": ["a", "b", "a"]}, "is_positive must be a vector of booleans"),
        ({"scores": [1, np.nan, 2]}, "scores must be finite, got nan in row 1"),
        ({"scores": [1, 2, np.inf]}, "scores must be finite, got inf in row 2"),
        ({"scores": [[1], [2], [3]]}, r"scores must be a vector .*\(3, 1\)"),
        ({"scores": [], "is_positive": []}, "scores is empty"),
        ({"sample_weight": [1, 1]}, "sample_weight has 2 elements"),
        ({"sample_weight": [1, -1, 1]}, "sample_weight must be non-negative"),
        ({"sample_weight": [0, 0, 0]}, "sample_weight is zero for every sample"),
    ],
    ids=str,
)
@pytest.mark.parametrize("function", [pn_curve, pn_auc_score])
def test_bad_input(function, arguments, message):
    arguments = {"scores": [3, 2, 1], "is_positive": [1, 0, 0], **arguments}
    with pytest.raises(ValueError, match=message):
        function(**arguments)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_fp": 0}, r"max_fp must be in \]0, inf\[, got 0"),
        ({"max_fp": -1}, "max_fp must be in"),
        ({"max_fp": np.nan}, "max_fp must be in"),
        ({"max_fp": "1"}, "max_fp must be a number"),
        ({"max_fp": 2.001}, r"max_fp=2.001 is above the weight of all negatives, 2,"),
        ({"normalize": "roc"}, "normalize must be one of"),
        ({"normalize": None}, "normalize must be one of"),
    ],
    ids=str,
)
def test_bad_options(options, message):
    with pytest.raises(ValueError, match=message):
        pn_auc_score([3, 2, 1], [1, 0, 0], **options)


def test_a_bound_off_by_rounding_is_the_whole_area():
    weights = [1.0, 0.1, 0.1, 0.1]
    whole = pn_auc_score([4, 3, 2, 1], [1, 0, 0, 0], sample_weight=weights)
    for bound in (0.3, 0.1 + 0.1 + 0.1):
        options = {"max_fp": bound, "sample_weight": weights}
        assert pn_auc_score([4, 3, 2, 1], [1, 0, 0, 0], **options) == pytest.approx(
            whole, rel=1e-15
        )


def test_results_are_plain_floats():
    for options in ({}, {"normalize": True}, {"max_fp": 1}):
        assert type(pn_auc_score(np.arange(3), np.array([0, 1, 0]), **options)) is float
