"""The reject cost that a rule reports: the slope of the hull at its threshold."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.isotonic import isotonic_regression

from sklearn_reject.selection import RejectionRule, solve_reject_cost

decades = st.floats(-8, 8).map(lambda exponent: 10**exponent)
means = st.one_of(st.sampled_from([0.0, 0.5, 1.0]), decades)


def assert_isotonic(losses, weights, n_accepted):
    """Compare the slope at one prefix with the regression at all of them."""
    scores = np.arange(len(losses))
    rule = RejectionRule(n_accepted - 0.5, 1.0)
    rule = rule.measure(scores, losses, sample_weight=weights)
    expected = isotonic_regression(losses, sample_weight=weights)[n_accepted - 1]
    np.testing.assert_allclose(rule.reject_cost, expected, rtol=1e-12, atol=0)
    again = solve_reject_cost(scores, losses, rule.reject_cost, sample_weight=weights)
    assert again.coverage >= rule.coverage * (1 - 1e-9)


@given(st.lists(st.tuples(decades | st.just(1.0), means), min_size=1), st.integers(0))
def test_the_slope_is_the_isotonic_regression(pairs, n_accepted):
    weights, losses = map(np.array, zip(*pairs, strict=True))
    assert_isotonic(losses, weights, n_accepted % len(pairs) + 1)


RNG = np.random.default_rng(0)
RANKS = np.linspace(0, 1, 20_000)
MANY = {
    "errors that grow with the rank": (RNG.random(20_000) < RANKS) * 1.0,
    "errors at random": (RNG.random(20_000) < 0.1) * 1.0,
    "costs that fall": 1 - RANKS,
    "costs that grow": RANKS**2,
    "two arcs that face one another": np.concatenate([RANKS[::2], [9], RANKS[1:-1:2]]),
}


@pytest.mark.parametrize("name", MANY)
@pytest.mark.parametrize("has_weights", [False, True])
@pytest.mark.parametrize("n_accepted", [1, 5_000, 10_000, 16_001, 19_999, 20_000])
def test_the_slope_of_many_groups(name, has_weights, n_accepted):
    weights = np.random.default_rng(1).exponential(size=20_000) if has_weights else None
    assert_isotonic(MANY[name], weights, n_accepted)
