import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kstest, pearsonr

from sklearn_reject.selection import keyed_draws

SEEDS = st.integers(0, 2**64 - 1)
KEYS = st.lists(st.integers(0, 2**64 - 1), max_size=20)


def splitmix64(state):
    """Return the output of one step, in integers that do not overflow."""
    z = (state + 0x9E3779B97F4A7C15) % 2**64
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB % 2**64
    return z ^ (z >> 31)


def test_the_reference_has_the_outputs_that_are_published():
    # Of the generator seeded with 1234567, whose state grows by the golden gamma.
    states = [1234567 + k * 0x9E3779B97F4A7C15 for k in range(3)]
    assert [splitmix64(state % 2**64) for state in states] == [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
    ]


@given(SEEDS, KEYS)
def test_draws_are_those_of_the_integer_reference(seed, keys):
    draws = keyed_draws(seed, np.array(keys, dtype=np.uint64))
    expected = [splitmix64(splitmix64(seed) ^ key) for key in keys]
    assert draws.dtype == np.float64
    assert draws.tolist() == [(bits >> 11) / 2**53 for bits in expected]


@pytest.mark.parametrize("step", [1, 2**11, 2**32, 2**48])
def test_draws_are_uniform_and_those_of_seeds_independent(step):
    keys = np.arange(20_000, dtype=np.uint64) * np.uint64(step)
    first, second = keyed_draws(0, keys), keyed_draws(1, keys)
    for draws in (first, second):
        assert kstest(draws, "uniform").pvalue > 1e-3
        assert abs(pearsonr(draws[1:], draws[:-1]).statistic) < 0.03
    assert abs(pearsonr(first, second).statistic) < 0.03
    assert (first != second).all()


def test_range_is_half_open_whatever_the_type_of_the_keys():
    for dtype in (np.int8, np.int64, np.uint16, np.uint64):
        draws = keyed_draws(7, np.arange(100, dtype=dtype))
        np.testing.assert_array_equal(draws, keyed_draws(7, list(range(100))))
        assert draws.min() >= 0
        assert draws.max() < 1
    negative = keyed_draws(7, [-1, -(2**63)])
    large = np.array([2**64 - 1, 2**63], dtype=np.uint64)
    np.testing.assert_array_equal(negative, keyed_draws(7, large))
    assert keyed_draws(7, []).shape == (0,)


@pytest.mark.parametrize("seed", [-1, 2**64, 0.5, True, None, "a"])
def test_bad_seeds(seed):
    with pytest.raises(ValueError, match=r"seed must be an int in \[0, 2\*\*64\[, got"):
        keyed_draws(seed, [1])


@pytest.mark.parametrize("keys", [[0.5], [True], ["a"], [[1]], 3])
def test_bad_keys(keys):
    with pytest.raises(ValueError, match="keys must be a vector of integers"):
        keyed_draws(0, keys)
