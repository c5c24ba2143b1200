import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sklearn_reject.decoding import _curves as _dense
from sklearn_reject.decoding._curves import dense_curves
from tests.decoding.set_oracle import (
    KINDS,
    LOSSES,
    draw_probabilities,
    expected_losses_by_convolution,
    expected_losses_by_enumeration,
    loss_names,
    probabilities,
)


@given(probabilities(max_size=12), st.sampled_from(list(LOSSES)))
def test_enumeration(eta, key):
    expected = expected_losses_by_enumeration(eta, LOSSES[key])
    curves = dense_curves(eta[np.newaxis], LOSSES[key])
    scale = max(1, np.ptp(expected))
    np.testing.assert_allclose(curves[0], expected, rtol=0, atol=1e-13 * scale)


@pytest.mark.parametrize("key", LOSSES, ids=loss_names)
def test_rows_of_all_kinds(key):
    rng = np.random.default_rng(0)
    eta = np.array([draw_probabilities(kind, 60, rng) for kind in KINDS])
    expected = np.array(
        [expected_losses_by_convolution(row, LOSSES[key]) for row in eta]
    )
    scale = max(1, np.ptp(expected))
    curves = dense_curves(eta, LOSSES[key])
    np.testing.assert_allclose(curves, expected, rtol=0, atol=1e-13 * scale)


@given(
    probabilities(max_size=8), st.sampled_from(list(LOSSES)), st.sampled_from([1, 30])
)
def test_surely_negative_items_need_no_column(eta, key, n_negatives):
    padded = np.append(eta, np.zeros(n_negatives))
    expected = expected_losses_by_convolution(padded, LOSSES[key])[: len(eta) + 1]
    curves = dense_curves(eta[np.newaxis], LOSSES[key], n_negatives)
    scale = max(1, np.ptp(expected))
    np.testing.assert_allclose(curves[0], expected, rtol=0, atol=1e-13 * scale)


def test_no_column_at_all():
    curves = dense_curves(np.empty((2, 0)), LOSSES["am", 1.0, 1.0], n_negatives=4)
    np.testing.assert_array_equal(curves, [[0.0], [0.0]])


def test_rows_in_chunks(monkeypatch):
    rng = np.random.default_rng(1)
    eta = np.array([draw_probabilities("few", 20, rng) for _ in range(23)])
    loss = LOSSES["h_mean", 1.0, 0.5]
    at_once = dense_curves(eta, loss)
    monkeypatch.setattr(_dense, "_LARGEST_LAWS", 5 * 231)
    # Another number of rows: BLAS may sum in another order.
    np.testing.assert_allclose(dense_curves(eta, loss), at_once, rtol=0, atol=1e-15)


def test_products_below_the_smallest_number():
    eta = np.full((1, 120), 1e-40)
    eta[0, :2] = 0.5, 0.25
    expected = expected_losses_by_convolution(eta[0, :2], LOSSES["callable", 1.0, 0.0])
    curve = dense_curves(eta, LOSSES["callable", 1.0, 0.0])[0, :3]
    np.testing.assert_allclose(curve, expected, rtol=1e-14)
