"""Which items are positive."""

import numpy as np
from scipy.sparse import issparse


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
    if y.dtype.kind not in "biuf":
        raise ValueError(
            f"y must hold 0 and 1, got an array of dtype {y.dtype}. Compare the labels "
            "with the positive one, as in `y == pos_label`."
        )
    flags = y.astype(bool)
    if not np.array_equal(flags, y):
        raise ValueError(
            f"y must hold 0 and 1, got {y[flags != y][0]}. Compare the labels with the "
            "positive one, as in `y == pos_label`."
        )
    return flags
