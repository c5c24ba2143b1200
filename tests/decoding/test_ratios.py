"""Expected ratios of counts against all outcomes, and sums of exponentials."""

import tracemalloc
from math import fsum, prod

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sklearn_reject.decoding import _ratios
from sklearn_reject.decoding._ratios import (
    exponential_sum,
    range_of_denominator,
    ratio_curves,
)
from sklearn_reject.losses import GTPPRLoss, check_set_loss
from sklearn_reject.losses._expansion import Cells, Ratio
from tests.decoding.set_oracle import (
    KINDS,
    draw_probabilities,
    options_of,
    outcomes,
    probabilities,
)

TOL = 1e-12


def weighted(cells, counts):
    return sum(weight * count for weight, count in zip(cells, counts, strict=True))


def values_of(ratio, counts):
    """Return the ratio of each confusion matrix."""
    below, k = weighted(ratio.denominator, counts), counts[0] + counts[1]
    above = ratio.coefficient * weighted(ratio.numerator, counts)
    if ratio.factor is not None:
        above = above * weighted(ratio.factor, counts)
    below = below**ratio.power * k**ratio.size_power
    return np.divide(above, below, out=np.zeros(len(k)), where=below > 0)


def by_enumeration(eta, ratio, n_negatives=0):
    """Return the expected ratio for all k, and the largest absolute value."""
    truths = outcomes(len(eta))
    chances = [prod(row) for row in np.where(truths, eta, 1 - eta).tolist()]
    positives, expected, largest = truths.sum(axis=1), [], 0.0
    for k in range(len(eta) + 1):
        tp = truths[:, :k].sum(axis=1)
        fn = positives - tp
        counts = np.array([tp, k - tp, fn, len(eta) - k - fn + n_negatives], float)
        values = values_of(ratio, counts)
        expected.append(fsum((values * chances).tolist()))
        largest = max(largest, np.abs(values).max())
    return np.array(expected), largest


def quadrature(eta, ratio, **options):
    return ratio_curves(np.array([eta]), ratio, **options)[0]


weights = st.tuples(*[st.sampled_from([0.0, 0.0, 1.0, 1.0, 0.5, 100.0])] * 4)


@st.composite
def ratios(draw):
    """Draw ratios whose numerator is zero where the denominator is."""
    below = draw(weights)
    assume(any(below))
    any_sign = st.sampled_from([0.0, 1.0, 2.0, -1.0])
    above = draw(st.tuples(*[any_sign if weight else st.just(0.0) for weight in below]))
    return Ratio(
        coefficient=draw(st.sampled_from([1.0, -2.0])),
        numerator=Cells(*above),
        denominator=Cells(*below),
        power=draw(st.sampled_from([0.5, 1.0, 1.5])),
        size_power=draw(st.sampled_from([0.0, 0.0, 0.5, 1.0])),
    )


@st.composite
def products(draw):
    """Draw ratios of a product of counts on the two sides of the cut."""
    below = draw(weights)
    any_sign = st.sampled_from([1.0, 2.0, -1.0])
    tp, fp, fn, tn = (draw(any_sign) if draw(st.booleans()) else 0.0 for _ in range(4))
    assume((tp or fp) and (fn or tn))
    pairs = [(a, b) for a, f in zip((0, 1), (tp, fp), strict=True) if f
             for b, g in zip((2, 3), (fn, tn), strict=True) if g]  # fmt: skip
    assume(all(below[a] + below[b] > 0 for a, b in pairs))
    return Ratio(
        1.0, Cells(tp, fp), Cells(*below), factor=Cells(fn=fn, tn=tn),
        power=draw(st.sampled_from([0.5, 1.0])),
    )  # fmt: skip


few_probabilities = probabilities(max_size=7)


@given(
    eta=few_probabilities,
    ratio=ratios() | products(),
    tol=st.sampled_from([1e-14, TOL, TOL, 1e-9, 1e-4, 0.1]),
)
def test_any_ratio_to_any_tolerance(eta, ratio, tol):
    expected, largest = by_enumeration(eta, ratio)
    error = np.abs(quadrature(eta, ratio, tol=tol) - expected)
    assert error.max() <= (tol + 1e-14) * largest


@given(
    eta=few_probabilities,
    ratio=ratios() | products(),
    n_negatives=st.sampled_from([1, 9, 10**6]),
)
def test_further_negatives(eta, ratio, n_negatives):
    expected, largest = by_enumeration(eta, ratio, n_negatives)
    curve = quadrature(eta, ratio, n_negatives=n_negatives)
    assert np.abs(curve - expected).max() <= TOL * largest


@pytest.mark.parametrize("name", ["f1", "am", "auc", "hamming"])
def test_further_negatives_are_items_of_probability_zero(name):
    eta = draw_probabilities("uniform", 30, np.random.default_rng(0))
    for ratio in check_set_loss(name).expansion(100).ratios:
        curve = quadrature(eta, ratio, n_negatives=70)
        appended = quadrature(np.append(eta, np.zeros(70)), ratio)
        np.testing.assert_allclose(curve, appended[:31], rtol=0, atol=2 * TOL)


NAMES = ["f1", "jaccard", "am", "g_tp_pr", "auc", "precision", "hamming"]


@given(
    kinds=st.lists(st.sampled_from(KINDS), min_size=1, max_size=4),
    n=st.integers(1, 30),
    name=st.sampled_from(NAMES),
    n_at_once=st.integers(1, 4000),
)
def test_blocks_do_not_matter(kinds, n, name, n_at_once):
    rng = np.random.default_rng(n)
    eta = np.array([draw_probabilities(kind, n, rng) for kind in kinds])
    for ratio in check_set_loss(**options_of(name, 2.0)).expansion(n + 3).ratios:
        whole = ratio_curves(eta, ratio, n_negatives=3)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(_ratios, "_N_AT_ONCE", n_at_once)
            parts = ratio_curves(eta, ratio, n_negatives=3)
        np.testing.assert_allclose(parts, whole, rtol=1e-13, atol=1e-15)


def test_rows_are_independent_of_each_other():
    rng = np.random.default_rng(0)
    eta = np.array([draw_probabilities(kind, 40, rng) for kind in KINDS])
    (ratio,) = GTPPRLoss().expansion(40).ratios
    for row, curve in zip(eta, ratio_curves(eta, ratio), strict=True):
        np.testing.assert_allclose(curve, quadrature(row, ratio), rtol=0, atol=2 * TOL)


@given(eta=few_probabilities, ratio=ratios(), chance=st.sampled_from([1e-3, 0.2]))
def test_range_of_the_denominator_leaves_out_little(eta, ratio, chance):
    assume(any(ratio.numerator))
    low, high = range_of_denominator(np.array([eta]), ratio, 0, chance)
    truths = outcomes(len(eta))
    chances = np.prod(np.where(truths, eta, 1 - eta), axis=1)
    for k in range(len(eta) + 1):
        tp = truths[:, :k].sum(axis=1)
        fn = truths.sum(axis=1) - tp
        counts = tp, k - tp, fn, len(eta) - k - fn
        below = weighted(ratio.denominator, counts)
        touched = weighted([abs(w) for w in ratio.numerator], counts) > 0
        assert chances[touched & (below < low * (1 - 1e-12))].sum() <= chance
        assert chances[below > high * (1 + 1e-12)].sum() <= chance


def test_range_of_the_denominator_is_narrow():
    """So that few exponentials are enough."""
    eta = draw_probabilities("uniform", 10_000, np.random.default_rng(0))
    (ratio,) = check_set_loss("recall").expansion(eta.size).ratios
    low, high = range_of_denominator(eta[np.newaxis], ratio, 0, 1e-16)
    assert 0.8 * eta.sum() < low < high < 1.2 * eta.sum()
    low, high = range_of_denominator(1e-6 * eta[np.newaxis], ratio, 0, 1e-16)
    assert low == 1.0
    assert high < 40


def test_sure_items_that_weigh_much():
    """Their factors underflow, and their shares are still one."""
    ratio = Ratio(1.0, Cells(tp=1.0, fp=1.0), Cells(tp=100.0, fp=1.0, fn=1.0))
    eta = np.array([1.0, 1.0, 1.0, 0.5, 0.0])
    expected, largest = by_enumeration(eta, ratio)
    assert np.abs(quadrature(eta, ratio) - expected).max() <= TOL * largest


def test_memory_is_a_few_vectors():
    eta = draw_probabilities("few", 200_000, np.random.default_rng(0))[np.newaxis]
    (ratio,) = check_set_loss("f1").expansion(eta.size).ratios
    tracemalloc.start()
    try:
        ratio_curves(eta, ratio)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 20 * eta.nbytes  # all exponentials at once: 80


# Sums of exponentials

POWERS = [0.5, 1.0, 1.5]

TOLS = [1e-14, 1e-12, 1e-8, 1e-4, 1e-2]

# Relative to the sum of a hundred terms, as NumPy adds them.
ROUNDING = 2e-15


def ratio_to_power(a, low, high, power, tol):
    """Return the sum of exponentials over the power, which should be one."""
    rates, weights = exponential_sum(low, high, power, tol)
    return np.exp(-a[:, np.newaxis] * rates) @ weights * a**power


@pytest.mark.parametrize("tol", TOLS)
@pytest.mark.parametrize("power", POWERS)
@pytest.mark.parametrize("width", [1.0, 1.001, 3.0, 1e2, 1e5, 1e8])
def test_error_within_the_interval(power, tol, width):
    for low in (1e-6, 1.0, 1e5):
        a = low * np.geomspace(1, width, 2000)
        error = np.abs(ratio_to_power(a, low, low * width, power, tol) - 1)
        assert error.max() <= tol + ROUNDING


@given(
    power=st.floats(0.4, 3),
    tol=st.sampled_from([1e-13, 1e-12, 1e-6, 0.1]),
    low=st.floats(-6, 6),
    width=st.floats(0, 8),
    place=st.lists(st.floats(0, 1), min_size=1, max_size=10),
)
def test_error_anywhere(power, tol, low, width, place):
    a = 10.0 ** (low + width * np.array(place))
    error = ratio_to_power(a, 10**low, 10 ** (low + width), power, tol) - 1
    assert np.abs(error).max() <= tol + ROUNDING


@pytest.mark.parametrize("tol", TOLS)
@pytest.mark.parametrize("power", POWERS)
def test_never_far_above_the_power_beyond_the_ends(power, tol):
    for width in (1.0, 50.0, 1e8):
        below = np.geomspace(1e-9, 1, 500)
        values = ratio_to_power(below, 1.0, width, power, tol)
        assert values.min() > 0
        assert values.max() <= 1 + tol + ROUNDING
        above = width * np.geomspace(1, 100, 500)
        assert ratio_to_power(above, 1.0, width, power, tol).min() > 0


@pytest.mark.parametrize("tol", TOLS)
@pytest.mark.parametrize("power", POWERS)
def test_terms_are_positive_with_rates_that_fall(power, tol):
    for width in (1.0, 50.0, 1e8):
        rates, weights = exponential_sum(2.0, 2 * width, power, tol)
        assert rates.shape == weights.shape
        assert (np.diff(rates) < 0).all()
        assert rates[-1] > 0
        assert weights.min() > 0


def test_number_of_terms_grows_with_the_logarithm_of_the_width():
    numbers = [len(exponential_sum(1.0, 10.0**i, 1.0, 1e-12)[0]) for i in range(9)]
    assert np.diff(numbers).max() <= np.diff(numbers).min() + 1
    assert numbers[0] <= 30
    assert numbers[8] <= 100


def test_scale_moves_the_rates():
    rates, weights = exponential_sum(1.0, 1e4, 1.5, 1e-12)
    moved, heavier = exponential_sum(8.0, 8e4, 1.5, 1e-12)
    np.testing.assert_allclose(moved * 8, rates, rtol=1e-14)
    np.testing.assert_allclose(heavier * 8**1.5, weights, rtol=1e-14)
