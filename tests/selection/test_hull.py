"""The slope of the hull at one prefix against the regression at all of them."""

from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.isotonic import isotonic_regression

from sklearn_reject._curves import TieGroups
from sklearn_reject.selection import _hull
from sklearn_reject.selection._hull import hull_slope


def regress(groups, n_groups):
    means = groups.losses / groups.weights
    return isotonic_regression(means, sample_weight=groups.weights)[n_groups - 1]


def make_groups(weights, losses):
    return TieGroups(np.arange(len(weights)), np.asarray(weights), np.asarray(losses))


decades = st.floats(-8, 8).map(lambda exponent: 10**exponent)
means = st.one_of(st.sampled_from([0.0, 0.5, 1.0]), decades)
group_lists = st.lists(st.tuples(decades | st.just(1.0), means), min_size=1)


@given(group_lists, st.integers(0), st.integers(1, 4))
def test_the_slope_is_the_isotonic_regression(pairs, n_groups, block_size):
    weights, means = map(np.array, zip(*pairs, strict=True))
    groups = make_groups(weights, means * weights)
    n_groups = n_groups % len(groups) + 1
    # Small blocks, so that there are many.
    with mock.patch.object(_hull, "_BLOCK_SIZE", block_size):
        slope = hull_slope(groups, n_groups)
    np.testing.assert_allclose(slope, regress(groups, n_groups), rtol=1e-13, atol=0)


RNG = np.random.default_rng(0)
RANKS = np.linspace(0, 1, 20_000)
MANY = {
    "errors that grow with the rank": RNG.random(20_000) < RANKS,
    "errors at random": RNG.random(20_000) < 0.1,
    "costs that fall": 1 - RANKS,
    "costs that grow": RANKS**2,
    "two arcs that face one another": np.concatenate([RANKS[::2], [9], RANKS[1::2]])[
        :-1
    ],
}


@pytest.mark.parametrize("name", MANY)
@pytest.mark.parametrize("has_weights", [False, True])
def test_the_slope_of_many_groups(name, has_weights):
    weights = np.broadcast_to(1.0, 20_000)
    if has_weights:
        weights = np.random.default_rng(1).exponential(size=20_000)
    groups = make_groups(weights, weights * MANY[name])
    for n_groups in (1, 5_000, 10_000, 16_001, 19_999, 20_000):
        np.testing.assert_allclose(
            hull_slope(groups, n_groups), regress(groups, n_groups), rtol=1e-12
        )


def test_the_slope_where_nothing_is_accepted_is_zero():
    assert hull_slope(make_groups([1.0], [1.0]), 0) == 0
