"""Sums behind bets are those of all values, however they come in parts."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sklearn_reject.selection import _bets
from sklearn_reject.selection._bets import STAKES, sums_of

VALUES = st.lists(st.floats(0, 1) | st.sampled_from([0.0, 0.1, 1.0]), max_size=40)


def exact(values):
    """Return the sums of the terms of each value: 1, itself, and its logarithms."""
    values = np.array(values)[:, np.newaxis]
    logs = np.log1p(STAKES * values), np.log1p(STAKES * (1 - values))
    terms = np.hstack([np.ones_like(values), values, *logs])
    return [math.fsum(column) for column in terms.T]


@pytest.mark.parametrize("block", [3, 4096])
@given(VALUES, VALUES)
def test_sums(block, one, other):
    kept, _bets._BLOCK = _bets._BLOCK, block
    try:
        parts, whole = sums_of(one) + sums_of(other), sums_of(one + other)
    finally:
        _bets._BLOCK = kept
    for sums in (parts, whole):
        np.testing.assert_allclose(sums, exact(one + other), rtol=1e-14)


@pytest.mark.parametrize("count", [1, 7, 12_345, 999_999])
def test_values_that_repeat_are_counted(count):
    values = np.repeat([0.3, 0.9], [count, 5])
    np.testing.assert_allclose(sums_of(values), exact(values), rtol=1e-14)


def test_stakes_are_the_same_on_all_machines():
    assert [float(stake).hex() for stake in STAKES[[0, -1]]] == [
        "0x1.0000000000000p-10",
        "0x1.0000000000000p+17",
    ]
    assert len(STAKES) == 28
