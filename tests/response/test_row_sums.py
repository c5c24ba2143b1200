"""Sums along rows: right, and with the same bits whatever rows are beside."""

import numpy as np
import pytest
from scipy import sparse, special

from sklearn_reject._response._row_sums import (
    _BLOCK,
    _NARROW,
    log_sum_exp,
    row_norms,
    row_products,
    row_sums,
    softmax,
)

RNG = np.random.default_rng(0)
N = 2 * _BLOCK + 5


def check(function, rows, expected):
    """Compare with the values, and all bits over chunks, orders and layouts."""
    values = function(rows)
    np.testing.assert_allclose(values, expected, rtol=1e-12, atol=1e-12)
    permuted = RNG.permutation(len(rows))
    np.testing.assert_array_equal(function(rows[permuted]), values[permuted])
    np.testing.assert_array_equal(function(np.asfortranarray(rows)), values)
    np.testing.assert_array_equal(function(rows[::-1])[::-1], values)
    for size in (1, 7):
        parts = [function(rows[i : i + size]) for i in range(0, len(rows), size)]
        np.testing.assert_array_equal(np.concatenate(parts), values)


@pytest.mark.parametrize("n_features", [1, 2, 9, 64, 500])
@pytest.mark.parametrize("n_columns", [1, 2, 5, 100])
def test_products(n_features, n_columns):
    rows = RNG.normal(size=(N, n_features))
    matrix = RNG.normal(size=(n_features, n_columns))
    check(lambda rows: row_products(rows, matrix), rows, rows @ matrix)
    transposed = np.asfortranarray(matrix)
    np.testing.assert_array_equal(
        row_products(rows, transposed), row_products(rows, matrix)
    )


def test_products_with_a_vector_and_of_sparse_rows():
    rows = RNG.normal(size=(N, 7)) * (RNG.random((N, 7)) < 0.4)
    matrix = RNG.normal(size=(7, 3))
    check(lambda rows: row_products(rows, matrix[:, 0]), rows, rows @ matrix[:, 0])
    for part in (matrix, matrix[:, 0]):
        found = row_products(sparse.csr_matrix(rows), part)
        np.testing.assert_allclose(found, rows @ part, atol=1e-14)
        alone = row_products(sparse.csr_matrix(rows[3:4]), part)
        np.testing.assert_array_equal(alone, found[3:4])


@pytest.mark.parametrize("n_rows", [0, 1, _BLOCK - 1, _BLOCK, _BLOCK + 1])
def test_any_number_of_rows(n_rows):
    rows = np.arange(3.0 * n_rows).reshape(n_rows, 3)
    np.testing.assert_array_equal(row_sums(rows), rows.sum(axis=1))
    assert row_products(rows, np.eye(3)[:, :2]).shape == (n_rows, 2)


@pytest.mark.parametrize("n_columns", [1, 2, 3, 10, _NARROW, _NARROW + 1, 300])
def test_sums_and_what_is_made_of_them(n_columns):
    values = 5 * RNG.normal(size=(N, n_columns))
    check(row_sums, values, values.sum(axis=1))
    check(row_norms, values, np.linalg.norm(values, axis=1))
    check(softmax, values, special.softmax(values, axis=1))
    check(log_sum_exp, values, special.logsumexp(values, axis=1))


def test_float32_is_summed_up_in_float64():
    values = RNG.random((N, 5)).astype(np.float32)
    assert row_sums(values).dtype == np.float64
    np.testing.assert_array_equal(row_sums(values), row_sums(values.astype(float)))


def test_extremes_of_logits():
    values = np.array([[1e300, -1e300, 0.0], [-800.0, -801.0, -1e9], [0, -50, -60]])
    expected = [1e300, -800 + np.log1p(np.exp(-1)), np.log1p(np.exp(-50) + np.exp(-60))]
    np.testing.assert_allclose(log_sum_exp(values), expected, rtol=1e-15)
    assert log_sum_exp(values)[2] > 0, "what is small beside one is not lost"
    np.testing.assert_array_equal(softmax(values)[0], [1, 0, 0])


def test_nothing_is_changed():
    values = RNG.normal(size=(4, 3))
    before = values.copy()
    for function in (row_sums, row_norms, softmax, log_sum_exp):
        function(values)
    np.testing.assert_array_equal(values, before)
