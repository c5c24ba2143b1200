"""Powers as sums of exponentials: the error that is promised is kept."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sklearn_reject.decoding._ratios import exponential_sum

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
