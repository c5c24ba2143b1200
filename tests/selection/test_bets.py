"""Sums behind bets are exact to far more digits than a float has."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sklearn_reject.selection import _bets
from sklearn_reject.selection._bets import STAKES, Bets

VALUES = st.lists(st.floats(0, 1) | st.sampled_from([0.0, 0.1, 1.0]), max_size=40)


def terms_of(values):
    """Return the terms of each value: itself, and its logarithms."""
    values = np.array(values)[:, np.newaxis]
    logs = np.log1p(STAKES * values), np.log1p(STAKES * (1 - values))
    return np.hstack([values, *logs])


def exact(sums):
    """Return sums, or rows of terms that are added, in fractions."""
    return [sum(map(Fraction, column)) for column in np.asarray(sums).T.tolist()]


def assert_exact(bets, expected):
    for ours, truth in zip(exact(bets.sums), expected, strict=True):
        assert abs(ours - truth) <= truth * Fraction(2) ** -95


@pytest.mark.parametrize("block", [3, 4096])
@given(VALUES, VALUES)
def test_sums_are_exact(block, one, other):
    expected = exact(np.vstack([terms_of(one), terms_of(other)]))
    kept, _bets._BLOCK = _bets._BLOCK, block
    try:
        assert_exact(Bets.of(one).merge(Bets.of(other)), expected)
        assert_exact(Bets.of(one + other), expected)
    finally:
        _bets._BLOCK = kept


@pytest.mark.parametrize("count", [1, 7, 12_345, 999_999])
def test_values_that_repeat_are_counted_exactly(count):
    bets = Bets.of(np.repeat([0.3, 0.9], [count, 5]))
    once = [exact([terms]) for terms in terms_of([0.3, 0.9])]
    expected = [count * one + 5 * other for one, other in zip(*once, strict=True)]
    assert_exact(bets, expected)
    assert bets.n_samples == count + 5


def test_stakes_are_the_same_on_all_machines():
    assert [float(stake).hex() for stake in STAKES[[0, -1]]] == [
        "0x1.0000000000000p-10",
        "0x1.0000000000000p+17",
    ]
    assert len(STAKES) == 28
