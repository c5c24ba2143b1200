"""Intervals of counts against scipy, closed forms and enumerated samples."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, binomtest, chi2, poisson

from sklearn_reject.thresholds._documents import check_documents
from sklearn_reject.thresholds._intervals import (
    count_intervals,
    precision_interval,
    weighted_interval,
)

TAILS = (0.025, 0.975)


def documents_of(fp, tp, n_others, weight=None, rule="any"):
    """Return documents of which some score 1, of both classes, and the others 0."""
    scores = np.repeat([1.0, 0.0], [fp + tp, n_others])[:, np.newaxis]
    y = np.repeat([0, 1, 0, 1], [fp, tp, n_others // 2, n_others - n_others // 2])
    return check_documents(scores, y, rule=rule, sample_weight=weight)


counts = st.integers(0, 30)

levels = st.sampled_from([0.5, 0.9, 0.95])


@given(counts, counts, st.integers(2, 40), levels)
def test_all_are_those_of_scipy(fp, tp, n_others, level):
    if fp + tp == 0:
        return
    part = documents_of(fp, tp, n_others)
    *found, precision = count_intervals([part], [[1.0]], confidence_level=level)
    expected = binomtest(tp, tp + fp).proportion_ci(level, method="exact")
    assert precision == pytest.approx((expected.low, expected.high), abs=1e-12)
    n = fp + tp + n_others
    for count, interval in zip((fp, tp), found, strict=True):
        share = binomtest(count, n).proportion_ci(level, method="exact")
        assert interval == pytest.approx((n * share.low, n * share.high))


@pytest.mark.parametrize("expected", [0.05, 0.9, 3.7])
def test_intervals_cover_the_expected_count(expected):
    # Samples enumerated by their count: no false positive is no proof of none.
    n = 200
    covered = 0.0
    for count in range(40):
        part = documents_of(count, 1, n - count - 1)
        low, high = count_intervals([part], [[1.0]])[0]
        chance = binom.pmf(count, n, expected / n)
        covered += chance * (low <= expected <= high)
    assert covered >= 0.95


def test_no_false_positive_is_no_proof_that_there_are_none():
    part = documents_of(0, 5, 995)
    low, high = count_intervals([part], [[1.0]])[0]
    assert low == 0
    assert high == pytest.approx(-1000 * np.expm1(np.log(0.025) / 1000))
    weight = np.full(1000, 0.5)
    weight[-1] = 4.0
    # Of the largest weight, as nobody knows which one the first will have.
    _, high = count_intervals([documents_of(0, 5, 995, weight=weight)], [[1.0]])[0]
    assert high == pytest.approx(-4 * np.log(0.025))


@given(counts)
def test_equal_weights_have_the_exact_bounds_of_a_poisson_number(count):
    low, high = weighted_interval(count, count, TAILS)
    exact = chi2.ppf(0.025, 2 * count) / 2 if count else 0.0
    assert low == pytest.approx(exact)
    assert high == pytest.approx(chi2.ppf(0.975, 2 * count + 2) / 2)


@pytest.mark.parametrize("means", [(0.3, 0.1), (2.0, 0.2), (5.0, 1.0)])
def test_two_weights_are_covered(means):
    # All samples, by the numbers of documents of either weight.
    weights, truth = (1.0, 10.0), means[0] + 10 * means[1]
    covered = 0.0
    for a in range(20):
        for b in range(10):
            unit = np.repeat(weights, [a, b]) / 10.0
            bounds = weighted_interval(unit.sum(), np.sum(unit**2), TAILS)
            low, high = (10.0 * bound for bound in bounds)
            chance = poisson.pmf(a, means[0]) * poisson.pmf(b, means[1])
            covered += chance * (low <= truth <= high)
    assert covered >= 0.95


@pytest.mark.parametrize("weight", [None, np.full(40, 0.5)])
def test_nothing_predicted(weight):
    part = documents_of(10, 10, 20, weight=weight)
    fp, tp, precision = count_intervals([part], [[np.inf]])
    assert fp == tp
    assert fp[0] == 0
    assert 0 < fp[1] < 4
    assert np.isnan(precision).all()


def test_parts_are_pooled():
    parts = [documents_of(5, 10, 30), documents_of(7, 2, 20)]
    pooled = count_intervals(parts, [[1.0], [1.0]])
    assert pooled == count_intervals([documents_of(12, 12, 50)], [[1.0]])
    one = count_intervals(parts, [[np.inf], [1.0]])
    assert one == count_intervals([documents_of(7, 2, 65)], [[1.0]])


def test_equal_weights_count_like_none():
    plain = count_intervals([documents_of(3, 9, 300)], [[1.0]])
    weight = np.full(300 + 12, 2.0)
    doubled = count_intervals([documents_of(3, 9, 300, weight=weight)], [[1.0]])
    for interval, other, unit in zip(plain, doubled, (2, 2, 1), strict=True):
        np.testing.assert_allclose(np.multiply(interval, unit), other)


def test_weights_that_differ_tell_less():
    plain = count_intervals([documents_of(10, 30, 300)], [[1.0]])[2]
    weight = np.where(np.arange(340) % 2, 3.0, 1.0)
    wide = count_intervals([documents_of(10, 30, 300, weight=weight)], [[1.0]])[2]
    assert wide[1] - wide[0] > plain[1] - plain[0]


@pytest.mark.parametrize("heavy_is_positive", [False, True])
@pytest.mark.parametrize(("light", "heavy"), [(8.0, 0.5), (15.0, 2.0), (3.0, 0.1)])
def test_precision_of_two_weights_is_covered(light, heavy, heavy_is_positive):
    # All samples, by the numbers of documents of weights 1 and 20, a class each.
    share = 20 * heavy / (light + 20 * heavy)
    truth = share if heavy_is_positive else 1 - share
    covered = 0.0
    for a in range(45):
        for b in range(12):
            sums = (a / 20, float(b)) if heavy_is_positive else (float(b), a / 20)
            low, high = precision_interval(*sums, a / 400 + b, TAILS)
            is_inside = a + b == 0 or low <= truth <= high
            covered += poisson.pmf(a, light) * poisson.pmf(b, heavy) * is_inside
    assert covered >= 0.95


def test_precision_of_weights_of_any_scale():
    weight = np.array([1.0, 2.0, 4.0, 3.0])
    expected, *others = (
        count_intervals([documents_of(1, 2, 1, weight * scale)], [[1.0]])[2]
        for scale in (1.0, 1e-90, 1e90)
    )
    for found in others:
        np.testing.assert_allclose(found, expected)
