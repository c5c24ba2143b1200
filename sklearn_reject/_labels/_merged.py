"""Labels of several sources in one array."""

from numbers import Real

import numpy as np


def merge_labels(labels, rows, found):
    """Return labels with those found in some rows, in a dtype that holds both exactly.

    It is that of `labels` where that will do.
    """
    found = np.asarray(found)
    if found.dtype.kind == "O" and labels.dtype.kind != "O":
        found = _plain(found)
    dtypes = (labels.dtype, np.result_type(labels, found), np.dtype(object))
    is_alike = {labels.dtype.kind, found.dtype.kind} <= _NUMBERS
    is_alike |= labels.dtype.kind == found.dtype.kind
    dtypes = dtypes if is_alike else dtypes[-1:]
    merged = labels.astype(next(d for d in dtypes if _holds(d, labels, found)))
    merged[rows] = found
    return merged


_NUMBERS = set("biuf")


def _holds(dtype, *arrays):
    """Tell whether an array of that dtype has the same labels."""
    with np.errstate(invalid="ignore", over="ignore"):
        return all(
            np.array_equal(array.astype(dtype).astype(array.dtype), array)
            for array in arrays
            if array.dtype != dtype
        )


def _plain(labels):
    """Return objects as numbers or text, if they are all of one kind."""
    values = labels.tolist()
    for kind in (str, Real):
        if all(isinstance(value, kind) for value in values):
            return np.array(values)
    return labels
