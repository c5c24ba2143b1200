"""Which items are positive."""

import numpy as np
from scipy.sparse import csr_array, issparse


def check_indicators(y, shape):
    """Return labels of items, zeros and ones, as booleans.

    Parameters
    ----------
    y : {array-like, sparse matrix}
        Whether each item is positive.

    shape : tuple of int
        Shape of the probabilities.

    Returns
    -------
    y : ndarray of the shape given, dtype bool
        The labels.

    Raises
    ------
    ValueError
        If the labels have another shape or are anything but 0 and 1.
    """
    y = y.toarray() if issparse(y) else np.asarray(y)
    if y.shape != shape:
        raise ValueError(f"y must have the shape of eta, {shape}, got {y.shape}.")
    flags = as_flags(y)
    if flags is None:
        raise ValueError(
            f"y must hold 0 and 1, got {show_odd(y)}. Compare the labels with the "
            "positive one, as in `y == pos_label`."
        )
    return flags


def as_flags(y):
    """Return zeros and ones as booleans.

    Parameters
    ----------
    y : {array-like, sparse matrix}
        Labels of items.

    Returns
    -------
    flags : {ndarray, sparse matrix} of the shape of `y`, dtype bool, or None
        None if there is anything but 0 and 1.
    """
    if not issparse(y):
        y = np.asarray(y)
    values = y.data if issparse(y) else y
    if values.dtype.kind == "O":  # such as columns of a frame that may be missing
        try:
            y = values = values.astype(np.float64)
        except (TypeError, ValueError):
            return None
    if values.dtype.kind not in "biuf" or not np.isin(values, (0, 1)).all():
        return None
    return y.astype(bool)


def show_odd(y):
    """Return words for what is neither 0 nor 1 in an array or a sparse matrix."""
    y = y.data if issparse(y) else y
    if y.dtype.kind not in "biuf":
        return f"an array of dtype {y.dtype}"
    return str(y[~np.isin(y, (0, 1))][0])


def one_hot(index, shape):
    """Return indicators of one column a row, as a sparse matrix of booleans."""
    ones = np.ones(len(index), dtype=bool)
    return csr_array((ones, index, np.arange(len(index) + 1)), shape=shape)
