"""Which items of a matrix form a set: those of a row, of a column, or all."""

import numpy as np
from scipy.sparse import csr_matrix, issparse

from sklearn_reject._validation import check_option

AVERAGES = ("samples", "macro", "micro")


def check_average(average, shape, name="eta", options=AVERAGES):
    """Raise unless items of this shape form the sets that are averaged over."""
    check_option(average, "average", options)
    if average in ("macro", "micro") and len(shape) != 2:
        raise ValueError(
            f"average={average!r} is for matrices, but {name} has shape {shape}. The "
            "items of a vector are one set, or one set per group. Set average to "
            "'samples'."
        )


def sets_as_rows(matrix, average):
    """Return a matrix, dense or in CSR form, with a set a row."""
    if average == "macro":
        return matrix.T.tocsr() if issparse(matrix) else np.ascontiguousarray(matrix.T)
    if average == "micro":
        flat = matrix.reshape((1, -1))
        return csr_matrix(flat) if issparse(matrix) else flat
    return matrix


def items_in_place(rows, shape, average):
    """Return the items of sets, a set a row, in the shape that they came in."""
    if average == "macro":
        return rows.T.tocsr() if issparse(rows) else np.ascontiguousarray(rows.T)
    if average == "micro":
        items = rows.reshape(shape)
        return csr_matrix(items) if issparse(rows) else items
    return rows
