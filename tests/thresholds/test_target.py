"""Targets under three names, and what is said of those out of range."""

import pickle
import re

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from sklearn_reject.exceptions import InfeasibleTargetError
from sklearn_reject.thresholds._point import check_attainable, resolve_target

INF = float("inf")
NAMES = "target_derivative", "marginal_precision", "max_fp_per_tp"


def test_three_names_of_one_number():
    assert resolve_target(target_derivative=0.25) == 0.25
    assert resolve_target(marginal_precision=0.2) == 0.25
    assert resolve_target(max_fp_per_tp=4) == 0.25
    assert resolve_target(np.float32(0.25)) == 0.25


@pytest.mark.parametrize("names", [(), NAMES[:2], NAMES[1:], NAMES])
def test_exactly_one_name(names):
    given_ = dict.fromkeys(names, 0.5)
    with pytest.raises(ValueError, match="Exactly one of") as info:
        resolve_target(**given_)
    assert str(given_ or "none") in str(info.value)


@pytest.mark.parametrize("value", [0, -1, INF, float("nan"), "0.5", True, [0.5]])
@pytest.mark.parametrize("name", NAMES)
def test_values_out_of_range(name, value):
    with pytest.raises(ValueError, match=name):
        resolve_target(**{name: value})


@pytest.mark.parametrize("value", [1, 1.0, 1.5])
def test_precision_below_one(value):
    with pytest.raises(ValueError, match=r"marginal_precision must be in \]0, 1\["):
        resolve_target(marginal_precision=value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("target_derivative", 1.1e100),
        ("target_derivative", 5e-324),
        ("marginal_precision", 1e-101),
        ("max_fp_per_tp", 5e-324),
        ("max_fp_per_tp", 1e101),
    ],
)
def test_slopes_whose_products_may_overflow(name, value):
    with pytest.raises(ValueError, match=rf"{name}=.*must be between 1e-100 and 1e"):
        resolve_target(**{name: value})


# Between these, no name rounds what it stands for to zero or one.
slopes = st.floats(1e-4, 1e4)


@given(slopes | st.just(0.0), slopes | st.just(INF), slopes)
@example(1 / 3, 1 / 3, 1.0)
@example(1 / 3, 1 / 3 + 1e-9, 1.0)
@example(0.0, 1e-4, 1.0)
@example(1e4, INF, 1.0)
def test_all_that_an_error_names_can_be_met(lowest, highest, derivative):
    assume(lowest <= highest)
    if lowest * (1 - 1e-12) <= derivative <= highest * (1 + 1e-12):
        check_attainable(derivative, lowest, highest)
        return
    with pytest.raises(InfeasibleTargetError) as info:
        check_attainable(derivative, lowest, highest)
    assert info.value.attainable == {
        "min_derivative": lowest,
        "max_derivative": highest,
    }
    _, text = str(info.value).split("on these documents: ")
    text = re.split(r"\. (?:Above|Below) it", text)[0]
    for name, part in zip(NAMES, re.split("; |, or ", text), strict=True):
        assert name in part
        for number in re.findall(r"[\d.]+(?:e-?\d+)?", part):
            check_attainable(resolve_target(**{name: float(number)}), lowest, highest)


def test_what_an_error_says():
    with pytest.raises(InfeasibleTargetError) as info:
        check_attainable(5, 0.25, 2)
    assert str(info.value) == (
        "target_derivative=5 (marginal_precision=0.833333, max_fp_per_tp=0.2) cannot "
        "be met on these documents: target_derivative can be 0.25 to 2; this is a "
        "marginal_precision of 0.2 to 0.666666, or a max_fp_per_tp of 0.5 to 4. Above "
        "it, no document would be predicted positive. Ask for a smaller derivative, or "
        "use scores that rank more positives first."
    )
    with pytest.raises(
        InfeasibleTargetError, match=r"at least 0\.25; this .* at least"
    ):
        check_attainable(0.1, 0.25, INF)
    with pytest.raises(InfeasibleTargetError, match=r"at most 2; .* at least 0\.5"):
        check_attainable(3, 0.0, 2)
    with pytest.raises(InfeasibleTargetError, match="or rate more documents"):
        check_attainable(0.1, 0.25, INF)
    copy = pickle.loads(pickle.dumps(info.value))
    assert copy.attainable == info.value.attainable
