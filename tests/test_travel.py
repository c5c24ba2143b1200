"""What is sent to tasks comes back, and is told to be as large as it is."""

import pickle
import sys
from threading import Lock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sklearn_reject._travel import Carried, carry, pack_rows, uncarry, unpack_rows


@given(st.lists(st.integers(-3, 40), max_size=30), st.sampled_from(["i8", "i4", "u1"]))
def test_rows_come_back(rows, kind):
    rows = np.array([r for r in rows if r >= 0 or kind != "u1"], dtype=kind)
    for given_rows in (rows, np.unique(rows)):
        packed = pack_rows(given_rows, 35)  # some are outside
        unpacked = unpack_rows(packed, 35)
        np.testing.assert_array_equal(unpacked, given_rows)


def test_rows_in_order_take_a_bit_each():
    assert pack_rows(np.arange(5, 1000), 1000).nbytes == 125
    assert pack_rows(np.arange(1000)[::-1], 1000).nbytes == 4000
    assert pack_rows(slice(None), 10) == slice(None)


def test_what_is_carried_is_as_large_as_what_is_in_it():
    carried = Carried({"deep": [np.zeros(1000)], "made": lambda: 1})
    assert 8000 < sys.getsizeof(carried) < 9000
    assert 2000 < sys.getsizeof(Carried(["text", "words" * 400])) < 3000
    assert sys.getsizeof(Carried(Lock())) < 200


@pytest.mark.parametrize("value", [None, np.zeros(3), ["a", "b"], {"c": 1}])
def test_values_come_back(value):
    sent = pickle.loads(pickle.dumps(carry(value)))
    np.testing.assert_equal(uncarry(sent), value)
