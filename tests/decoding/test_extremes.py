"""Losses and probabilities of very different size, and many items that are likely."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from sklearn_reject.decoding import decode, expected_loss_curve
from sklearn_reject.losses import CallableSetLoss, FractionalLinearLoss


def of_cells(tp, fp, fn, tn):
    """Return the constants of (1, u, v, p) from the weights of the cells."""
    return [tn, tp - fp - fn + tn, fp - tn, fn - tn]


@pytest.mark.parametrize("epsilon", [1e-3, 1e-9, 1e-12])
def test_a_loss_that_is_huge_where_nobody_goes(epsilon):
    """The loss of false positives alone is 1 / epsilon, but there always are others."""
    eta = np.r_[1, 1, np.linspace(0.95, 0.05, 40)]
    loss = FractionalLinearLoss(of_cells(0, 1, 1, 0), of_cells(1, epsilon, 1, 1))
    mask, expected_loss = decode(eta, loss=loss)
    curve = expected_loss_curve(eta, loss=loss, method="reference")
    assert curve[mask.sum()] == pytest.approx(curve.min(), abs=1e-12)
    assert expected_loss == pytest.approx(curve.min(), abs=1e-12)


@pytest.mark.parametrize("offset", [-1e3, 1.0, 1e3])
def test_offset_of_a_loss_costs_no_exactness(offset):
    numerator, denominator = np.array([[1, -1.5, 0.75, 0.5], [1, -0.25, 1, 0.5]])
    shifted = FractionalLinearLoss(numerator + offset * denominator, denominator)
    plain = FractionalLinearLoss(numerator, denominator)
    eta = np.linspace(0.9, 0.1, 12)
    curve = expected_loss_curve(eta, loss=plain)
    np.testing.assert_allclose(
        expected_loss_curve(eta, loss=shifted) - offset, curve, atol=1e-12
    )
    rough = expected_loss_curve(eta, loss=shifted, tol=0.1) - offset
    np.testing.assert_allclose(rough, curve, atol=0.1)


def test_constant_loss_is_exact_at_any_tolerance():
    loss = FractionalLinearLoss([1, -0.25, 1, 0.5], [1, -0.25, 1, 0.5])
    curve = expected_loss_curve([0.9, 0.4, 0.2], loss=loss, tol=0.1)
    np.testing.assert_array_equal(curve, 1.0)


def test_small_weights_beside_large_ones():
    loss = FractionalLinearLoss(of_cells(0, 1e7, 1e7, 1e-6), of_cells(1, 1, 1, 1e-6))
    assert loss(tp=0, fp=0, fn=0, tn=5) == 1.0


def test_function_that_works_in_place():
    def errors(tp, fp, fn, tn):
        fp += fn
        return fp

    fp = np.array([1.0, 2.0])
    assert CallableSetLoss(errors)(tp=0, fp=fp, fn=1, tn=0).tolist() == [2.0, 3.0]
    assert fp.tolist() == [1.0, 2.0]
    mask, expected_loss = decode([0.5, 0.2], loss=errors)
    assert not mask.any()
    assert expected_loss == pytest.approx(0.7)


def test_many_equal_chances_of_absence():
    n_items = 10**5
    eta = np.full(n_items, 1e-5)
    curve = expected_loss_curve(eta, loss="f1", zero_division=1.0)
    exact = -np.expm1(n_items * np.log1p(-1e-5))
    assert curve[0] == pytest.approx(exact, abs=1e-13)


@pytest.mark.parametrize("loss", ["g_mean", "h_mean"])
@pytest.mark.parametrize("zero_division", [0.0, 0.5, 1.0])
@pytest.mark.parametrize(
    "eta",
    [
        np.ones(60),
        np.full(60, 0.99),
        np.r_[np.ones(40), np.full(20, 0.3)],
        np.linspace(1, 0.4, 60),
        np.r_[np.full(50, 1 - 1e-9), np.zeros(10)],
    ],
    ids=["certain", "equal", "mixed", "even", "two kinds"],
)
def test_likely_items_are_the_unlikely_ones_of_the_other_class(
    loss, zero_division, eta
):
    options = {"loss": loss, "zero_division": zero_division}
    curve = expected_loss_curve(eta, method="reference", **options)
    for bounds in ({}, {"min_positive": 5, "max_positive": 41}):
        mask, expected_loss = decode(eta, ties="split", **options, **bounds)
        allowed = curve[5:42] if bounds else curve
        best = np.flatnonzero(allowed <= allowed.min() + 1e-11)[0]
        assert mask.sum() == best + 5 * bool(bounds)
        assert expected_loss == pytest.approx(allowed.min(), abs=1e-11)


@pytest.mark.parametrize("loss", ["f1", "jaccard"])
def test_one_long_set_is_searched_in_large_steps(loss):
    eta = np.sort(np.random.default_rng(0).beta(0.5, 4, 20_000))[::-1]
    mask, expected_loss = decode(eta, loss=loss)
    curve = expected_loss_curve(eta, loss=loss)
    assert curve[mask.sum()] == pytest.approx(curve.min(), abs=1e-12)
    assert expected_loss == pytest.approx(curve.min(), abs=1e-12)


@pytest.mark.parametrize("loss", ["g_mean", "h_mean"])
def test_rows_that_store_much_of_many_columns(loss):
    rng = np.random.default_rng(0)
    eta = np.zeros((3, 2_000))
    eta[:, ::6] = rng.beta(0.5, 4, (3, 334))
    mask, expected_loss = decode(csr_matrix(eta), loss=loss, zero_division=0.5)
    dense, of_dense = decode(eta, loss=loss, zero_division=0.5)
    np.testing.assert_array_equal(mask.toarray(), dense)
    np.testing.assert_allclose(expected_loss, of_dense, atol=1e-12)


def test_empty_rows_are_filled_with_the_first_columns():
    mask, _ = decode(csr_matrix((3, 1_000)), loss="f1", min_positive=2)
    assert mask.indices.reshape(3, 2).tolist() == [[0, 1]] * 3
