import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.dummy import DummyClassifier

from sklearn_reject import SelectiveClassifier
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
    with pytest.raises(ValueError, match=r"seed must be an int in \[0, 2\*\*64\), got"):
        keyed_draws(seed, [1])


TEXTS = st.integers(-(2**70), 2**70).map(str) | st.text(max_size=6)


@given(SEEDS, st.lists(st.integers(-(10**309), 10**310) | TEXTS, max_size=20))
def test_a_draw_depends_on_its_key_alone(seed, keys):
    """Not on what else is in the call, nor on whether an integer was read as text."""
    alone = [keyed_draws(seed, [key])[0] for key in keys]
    assert keyed_draws(seed, keys).tolist() == alone
    for form in (str, lambda key: str(key).encode("utf-8", "surrogatepass")):
        same = np.array([form(key) for key in keys], dtype=object)
        assert keyed_draws(seed, same).tolist() == alone


def test_whatever_holds_the_same_keys():
    draws = keyed_draws(3, [5, "07", "a", "\udce9", 2**64])
    keys = [5, b"07", b"a", "\udce9", str(2**64)]
    assert len(set(draws)) == 5
    for same in (keys, tuple(keys), np.array(keys, dtype=object), pd.Series(keys)):
        np.testing.assert_array_equal(keyed_draws(3, same), draws)
    texts = ["5", "07", "a"]
    for same in (
        np.array(texts),
        np.array(texts, dtype="S"),
        pd.Series(texts, dtype="string"),
        pd.Series(texts, dtype="category"),
        pd.Index(texts),
    ):
        np.testing.assert_array_equal(keyed_draws(3, same), draws[:3])
    nullable = pd.Series([5, 7], dtype="Int64")
    for same in (nullable, np.array(["5", "7"]), range(5, 8, 2)):
        np.testing.assert_array_equal(keyed_draws(3, same), keyed_draws(3, [5, 7]))
    # Only how an integer is written is one.
    for other in ("05", "+5", "-0", " 5", "5.0", "\u0665", "1_0", ""):
        assert keyed_draws(3, [other]) != draws[0]


@pytest.mark.parametrize(
    "keys",
    [
        [0.5],
        [True],
        np.array([True]),
        [True, 1],
        ["a", None],
        [None],
        pd.Series([1, None], dtype="Int64"),
        np.array([1], dtype="m8[s]"),
        np.array(["2026-01-01"], dtype="M8[ns]"),
        [(1, 2), "a"],
    ],
    ids=str,
)
def test_what_identifies_no_row(keys):
    match = "keys must be a vector of integers.*got .*do not identify.*to integers"
    with pytest.raises(ValueError, match=match):
        keyed_draws(0, keys)
    model = SelectiveClassifier(DummyClassifier(), target_coverage=0.5, cv=0.5)
    X = np.zeros((40, 1))
    model.fit(X, np.arange(40) % 2)
    with pytest.raises(ValueError, match=match):
        model.predict(X[: len(keys)], keys=keys)


@pytest.mark.parametrize("keys", [[[1]], [["a"]], 3, "a", None])
def test_keys_that_are_no_vector(keys):
    with pytest.raises(ValueError, match="keys must be a vector of integers or string"):
        keyed_draws(0, keys)


def test_estimators_take_the_same_keys():
    X = np.zeros((60, 1))
    model = SelectiveClassifier(DummyClassifier(), target_coverage=0.5, cv=0.5)
    model.fit(X, np.arange(60) % 2)
    keys = [*range(20), *(f"row {number}" for number in range(40))]
    accepted = model.accept(X, keys=keys)
    assert 10 < accepted.sum() < 50
    for same in ([str(key) for key in keys], np.array(keys, dtype=object)):
        np.testing.assert_array_equal(model.accept(X, keys=same), accepted)
    # An integer has the same draw beside text as on its own.
    alone = model.accept(X[:20], keys=range(20))
    np.testing.assert_array_equal(alone, accepted[:20])
    with pytest.raises(ValueError, match="keys has 3 elements, but there are 60 samp"):
        model.accept(X, keys=[1, 2, 3])
