"""Intervals against scipy, and against the bootstrap itself."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from sklearn_reject.thresholds import _point as _interval
from sklearn_reject.thresholds._documents import check_documents
from sklearn_reject.thresholds._point import count_intervals


def documents_of(fp, tp, n_others, weight=None, rule="any"):
    """Return documents of which some score 1, of both classes, and the others 0."""
    scores = np.repeat([1.0, 0.0], [fp + tp, n_others])[:, np.newaxis]
    y = np.repeat([0, 1, 0, 1], [fp, tp, n_others // 2, n_others - n_others // 2])
    return check_documents(scores, y, rule=rule, sample_weight=weight)


counts = st.integers(0, 30)
levels = st.sampled_from([0.5, 0.9, 0.95])


@given(counts, counts, st.integers(2, 40), levels)
def test_precision_is_that_of_scipy(fp, tp, n_others, level):
    if fp + tp == 0:
        return
    part = documents_of(fp, tp, n_others)
    _, _, precision = count_intervals([part], [[1.0]], confidence_level=level)
    expected = binomtest(tp, tp + fp).proportion_ci(level, method="exact")
    assert precision == pytest.approx((expected.low, expected.high), abs=1e-12)


@given(counts, counts, st.integers(2, 40), levels)
def test_counts_are_the_quantiles_of_a_binomial(fp, tp, n_others, level):
    if fp + tp == 0:
        return
    part = documents_of(fp, tp, n_others)
    *intervals, _ = count_intervals([part], [[1.0]], confidence_level=level)
    n = fp + tp + n_others
    for count, (low, high) in zip((fp, tp), intervals, strict=True):
        assert low <= count <= high
        # The least number below or at which there is that much probability.
        for tail, value in (((1 - level) / 2, low), ((1 + level) / 2, high)):
            below = [lower_tail(value - k, n, count / n) for k in (0, 1)]
            assert below[1] < tail + 1e-12
            assert below[0] > tail - 1e-12


def lower_tail(value, n, share):
    return binomtest(int(value), n, share, "less").pvalue if value >= 0 else 0.0


def bootstrap(scores, y, weight, threshold, n_draws=4000):
    """Return false and true positives of resampled documents, one draw a row."""
    rng = np.random.default_rng(0)
    rows = rng.integers(len(y), size=(n_draws, len(y)))
    counted = ((scores >= threshold) * weight)[rows]
    return (counted * (y[rows] == 0)).sum(axis=1), (counted * (y[rows] == 1)).sum(
        axis=1
    )


@pytest.mark.parametrize("is_weighted", [False, True])
@pytest.mark.parametrize("rated", ["all", "most"])
def test_against_the_bootstrap_itself(is_weighted, rated):
    rng = np.random.default_rng(1)
    scores, y = rng.normal(size=600), (rng.random(600) < 0.3).astype(int)
    if rated == "most":
        y[scores < -0.5] = -1
    weight = rng.uniform(0.2, 3, 600) if is_weighted else np.ones(600)
    part = check_documents(scores, y, sample_weight=weight if is_weighted else None)
    fp, tp, precision = count_intervals(
        [part], [[0.5]], confidence_level=0.9, random_state=0
    )
    drawn = bootstrap(scores, y, weight, 0.5)
    for values, interval in zip(drawn, (fp, tp), strict=True):
        np.testing.assert_allclose(
            interval, np.quantile(values, [0.05, 0.95]), rtol=0.03
        )
    expected = np.quantile(drawn[1] / (drawn[0] + drawn[1]), [0.05, 0.95])
    # Clopper and Pearson's bounds are wider, as they never cover too little.
    np.testing.assert_allclose(precision, expected, atol=0.012)


def test_weights_of_one_are_about_none():
    plain = documents_of(20, 30, 150)
    weighted = documents_of(20, 30, 150, weight=np.ones(200))
    exact = count_intervals([plain], [[1.0]])
    drawn = count_intervals([weighted], [[1.0]], random_state=0)
    np.testing.assert_allclose(drawn[:2], exact[:2], atol=2)


def test_seeds_make_draws_repeatable():
    part = documents_of(20, 30, 50, weight=np.linspace(0.5, 2, 100))
    one, again, other = (
        count_intervals([part], [[1.0]], random_state=seed) for seed in (0, 0, 1)
    )
    assert one == again
    assert one != other


def test_chunks_do_not_change_the_draws(monkeypatch):
    part = documents_of(20, 30, 50, weight=np.linspace(0.5, 2, 100))
    whole = count_intervals([part], [[1.0]], random_state=0)
    monkeypatch.setattr(_interval, "_LARGEST_CHUNK", 1000)
    np.testing.assert_allclose(
        count_intervals([part], [[1.0]], random_state=0), whole, rtol=1e-12
    )


@pytest.mark.parametrize("weight", [None, np.full(40, 0.5)])
def test_nothing_predicted(weight):
    part = documents_of(10, 10, 20, weight=weight)
    fp, tp, precision = count_intervals([part], [[np.inf]], random_state=0)
    assert fp == tp == (0, 0)
    assert np.isnan(precision).all()


def test_parts_are_pooled():
    parts = [documents_of(5, 10, 30), documents_of(7, 2, 20)]
    pooled = count_intervals(parts, [[1.0], [1.0]])
    assert pooled == count_intervals([documents_of(12, 12, 50)], [[1.0]])
    one = count_intervals(parts, [[np.inf], [1.0]])
    assert one == count_intervals([documents_of(7, 2, 65)], [[1.0]])


def test_a_sample_of_which_next_to_nothing_is_predicted():
    # Some draws hold no predicted document, and say nothing of the precision.
    weight = np.ones(300)
    weight[0] = 2.0
    part = documents_of(0, 1, 299, weight=weight)
    fp, tp, precision = count_intervals([part], [[1.0]], random_state=0)
    assert (fp, tp[0]) == ((0, 0), 0)
    np.testing.assert_allclose(precision, (0.025, 1))


def test_equal_weights_count_like_none():
    plain = count_intervals([documents_of(3, 9, 300)], [[1.0]])
    weight = np.full(300 + 12, 2.0)
    told = count_intervals([documents_of(3, 9, 300, weight=weight)], [[1.0]])
    for interval, other, unit in zip(plain, told, (2, 2, 1), strict=True):
        np.testing.assert_allclose(np.multiply(interval, unit), other)


def test_weights_that_differ_tell_less():
    plain = count_intervals([documents_of(10, 30, 300)], [[1.0]])[2]
    weight = np.where(np.arange(340) % 2, 3.0, 1.0)
    wide = count_intervals(
        [documents_of(10, 30, 300, weight=weight)], [[1.0]], random_state=0
    )[2]
    assert wide[1] - wide[0] > plain[1] - plain[0]
