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
    merged = labels.astype(_dtype_of_both(labels, found))
    merged[rows] = found
    return merged


def _plain(labels):
    """Return objects as numbers or text, if they are all of one kind."""
    values = labels.tolist()
    for kind in (str, Real):
        if all(isinstance(value, kind) for value in values):
            return np.array(values)
    return labels


def _dtype_of_both(labels, found):
    kinds = {labels.dtype.kind, found.dtype.kind}
    if kinds <= set("biuf"):
        is_exact = np.array_equal(found.astype(labels.dtype), found)
        return labels.dtype if is_exact else np.result_type(labels, found)
    return np.result_type(labels, found) if len(kinds) == 1 else np.dtype(object)
