import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sklearn_reject.decoding._windows import CountLaws, expected_losses, window_curve
from sklearn_reject.losses import SetLoss
from tests.decoding.set_oracle import (
    KINDS,
    LOSSES,
    draw_probabilities,
    expected_losses_by_convolution,
    expected_losses_by_enumeration,
    loss_names,
    probabilities,
)

# Losses of all that sets them apart here: smooth, ratio, jump, any range.
FEW = [
    ("g_mean", 1.0, 0.5),
    ("h_mean", 1.0, 1.0),
    ("f_beta", 2.0, 1.0),
    ("callable", 1.0, 0.0),
]

DRAWN = st.tuples(
    st.sampled_from(KINDS), st.integers(1, 120), st.integers(0, 10**6)
).map(lambda d: draw_probabilities(*d[:2], np.random.default_rng(d[2])))


def assert_within(curve, expected, tol, rounding=1e-13):
    """Compare, in units of the range of the expected losses, or of one."""
    scale = max(1, np.ptp(expected))
    np.testing.assert_allclose(curve, expected, rtol=0, atol=(tol + rounding) * scale)


def range_of(loss, n):
    """Return the largest minus the smallest loss of all confusion matrices."""
    tables = [
        loss(tp, k - tp, fn, n - k - fn)
        for k in range(n + 1)
        for tp, fn in [(np.arange(k + 1)[:, np.newaxis], np.arange(n - k + 1))]
    ]
    return max(t.max() for t in tables) - min(t.min() for t in tables)


@given(probabilities(max_size=12), st.sampled_from(list(LOSSES)))
def test_enumeration(eta, key):
    expected = expected_losses_by_enumeration(eta, LOSSES[key])
    assert_within(window_curve(eta, LOSSES[key], 1e-14), expected, 1e-14)


@given(DRAWN, st.sampled_from(list(LOSSES)))
def test_reference(eta, key):
    expected = expected_losses_by_convolution(eta, LOSSES[key])
    assert_within(window_curve(eta, LOSSES[key]), expected, 1e-12)


@pytest.mark.parametrize("key", LOSSES, ids=loss_names)
def test_reference_for_every_loss(key):
    for kind in ("uniform", "certain"):
        eta = draw_probabilities(kind, 100, np.random.default_rng(1))
        expected = expected_losses_by_convolution(eta, LOSSES[key])
        assert_within(window_curve(eta, LOSSES[key]), expected, 1e-12)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("key", FEW, ids=loss_names)
def test_reference_for_many_items(key, kind):
    eta = draw_probabilities(kind, 300, np.random.default_rng(0))
    expected = expected_losses_by_convolution(eta, LOSSES[key])
    assert_within(window_curve(eta, LOSSES[key]), expected, 1e-12)


@pytest.mark.parametrize("kind", ["uniform", "many", "ties"])
@pytest.mark.parametrize("key", FEW, ids=loss_names)
def test_error_is_within_the_bound(key, kind):
    eta = draw_probabilities(kind, 300, np.random.default_rng(2))
    loss = LOSSES[key]
    expected, scale = expected_losses_by_convolution(eta, loss), range_of(loss, 300)
    errors = [
        np.abs(window_curve(eta, loss, tol) - expected).max() / scale
        for tol in (1e-1, 1e-4, 1e-8)
    ]
    assert errors[0] <= 1e-1
    assert errors[1] <= 1e-4
    assert errors[2] <= 1e-8
    # It is the tolerance that makes the error, and not something else.
    assert errors[0] > errors[1] > errors[2] > 1e-14


class WorstLoss(SetLoss):
    """One beyond some number of true positives: all that is left out counts."""

    def __init__(self, least):
        self.least = least

    def _losses(self, tp, fp, fn, tn):
        return 1.0 * (tp + 0 * fn >= self.least)


def test_bound_for_a_loss_that_lives_outside_the_windows():
    eta = np.full(400, 0.5)
    for least in (225, 235, 245):
        loss = WorstLoss(least)
        expected = expected_losses_by_convolution(eta, loss)[-1]
        for tol in (1e-1, 1e-3, 1e-5):
            assert abs(window_curve(eta, loss, tol)[-1] - expected) <= tol


@given(DRAWN, st.sampled_from(FEW), st.sampled_from([1, 50]))
def test_surely_negative_items_need_not_be_given(eta, key, n_negatives):
    padded = np.append(eta, np.zeros(n_negatives))
    expected = expected_losses_by_convolution(padded, LOSSES[key])[: len(eta) + 1]
    curve = window_curve(eta, LOSSES[key], n_negatives=n_negatives)
    assert_within(curve, expected, 1e-12)


@pytest.mark.parametrize("key", FEW, ids=loss_names)
def test_some_sizes_of_a_block(key):
    eta = draw_probabilities("uniform", 300, np.random.default_rng(5))
    block = CountLaws(eta, 1e-14).block(2)
    at_once = expected_losses(block, LOSSES[key], 300, 1e-14)
    rows = np.array([3, 17, 18, 60])
    some = expected_losses(block.take(rows), LOSSES[key], 300, 1e-14)
    np.testing.assert_allclose(some, at_once[rows], rtol=1e-13)


def test_counts_that_a_loss_gets_exist():
    class Strict(SetLoss):
        def _losses(self, tp, fp, fn, tn):
            assert (tp + fp + fn + tn == 200).all()
            assert min(tp.min(), fp.min(), fn.min(), tn.min()) >= 0
            return fp + 0.0 * fn

    for kind in KINDS:
        eta = draw_probabilities(kind, 200, np.random.default_rng(6))
        window_curve(eta, Strict())


def test_memory_is_linear():
    eta = np.sort(np.random.default_rng(0).random(4000))[::-1]
    tracemalloc.start()
    window_curve(eta, LOSSES["jaccard", 1.0, 0.0], 1e-6)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # The laws of all sizes would take 18 MB, one table of all losses 32 MB.
    assert peak < 4e6
