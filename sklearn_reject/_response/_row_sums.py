"""Sums along rows that do not depend, to the last bit, on the other rows of a call.

BLAS and reductions of NumPy add in an order that depends on the shape and the memory
layout of what they get. Here they always get the same shape: rows in C order, in blocks
of one size, the last of which is filled up with zeros.
"""

import numpy as np
from scipy import sparse
from sklearn.utils import gen_batches

# Rows in one matrix product: few, as a single row costs as much as all of them.
_BLOCK = 32


# Up to so many columns a matrix product adds rows faster than a reduction.
_NARROW = 32


# Rows whose temporary copies stay in the cache.
BATCH_SIZE = 2**12


def row_products(rows, matrix):
    """Return rows (n, d), dense or csr, times a dense matrix (d, k) or vector (d,)."""
    if sparse.issparse(rows):  # scipy goes through the entries of a row one by one
        return rows @ matrix
    if matrix.ndim == 1 or matrix.shape[1] == 1:
        # A product with one column takes another path of BLAS, which adds otherwise.
        twice = np.repeat(matrix.reshape(-1, 1), 2, axis=1)
        first = row_products(rows, twice)[:, 0]
        return first if matrix.ndim == 1 else first[:, np.newaxis]
    rows = np.ascontiguousarray(rows, dtype=np.float64)
    matrix = np.ascontiguousarray(matrix, dtype=np.float64)
    products = np.empty((len(rows), matrix.shape[1]))
    n_blocks, n_left = divmod(len(rows), _BLOCK)
    n_full = n_blocks * _BLOCK
    blocks = rows[:n_full].reshape(n_blocks, _BLOCK, rows.shape[1])
    out = products[:n_full].reshape(n_blocks, _BLOCK, matrix.shape[1])
    np.matmul(blocks, matrix, out=out)
    if n_left:
        padded = np.zeros((1, _BLOCK, rows.shape[1]))
        padded[0, :n_left] = rows[n_full:]
        products[n_full:] = np.matmul(padded, matrix)[0, :n_left]
    return products


def row_sums(values):
    """Return the sum of each row of a dense matrix, shape (n,)."""
    values = np.ascontiguousarray(values, dtype=np.float64)
    if values.shape[1] <= _NARROW:
        return row_products(values, np.ones(values.shape[1]))
    return np.add.reduce(values, axis=1)


def row_norms(values):
    """Return the Euclidean length of each row of a dense matrix, shape (n,)."""
    squares = np.empty(len(values))
    for rows in gen_batches(len(values), BATCH_SIZE):
        squares[rows] = row_sums(values[rows] ** 2)
    return np.sqrt(squares)


def softmax(logits):
    """Return the softmax of each row, shape (n, k)."""
    logits = np.ascontiguousarray(logits, dtype=np.float64)
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    return powers / row_sums(powers)[:, np.newaxis]


def log_sum_exp(values):
    """Return the logarithm of the sum of exponentials of each row, shape (n,)."""
    values = np.ascontiguousarray(values, dtype=np.float64)
    largest = values.argmax(axis=1)[:, np.newaxis]
    top = np.take_along_axis(values, largest, axis=1)
    powers = np.exp(values - top)
    np.put_along_axis(powers, largest, 0.0, axis=1)
    return top[:, 0] + np.log1p(row_sums(powers))
