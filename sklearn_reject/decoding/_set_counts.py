"""Confusion matrices of predicted sets, in each form that sets come in."""

import numpy as np
from scipy.sparse import csr_array, issparse
from sklearn.utils.multiclass import unique_labels

from sklearn_reject._validation import check_same_length, index_labels
from sklearn_reject.decoding._items import (
    as_array,
    as_flags,
    check_average,
    mend_flags,
    number_sets,
    one_hot,
    show_odd,
)

# The axis that the items of a set lie along, a set being a row, a column or all.
_AXES = {"samples": 1, "macro": 0, "micro": None}


def count_sets(
    y_true, y_pred, *, groups=None, pos_label=None, labels=None, average="samples"
):
    """Return tp, fp, fn and tn of each set, arrays of shape (n_sets,).

    Both arguments are labels of samples, in sets given by `groups`; or indicators, the
    sets of `average`; or `y_true` is one label per row, of the classes `labels` of the
    columns.
    """
    y_true, y_pred = _as_array(y_true, "y_true"), _as_array(y_pred, "y_pred")
    shapes = y_true.ndim, y_pred.ndim
    check_average(average, y_pred.shape, "y_pred")
    if shapes == (1, 1):
        return _count_groups(y_true, y_pred, groups, pos_label)
    if shapes not in ((2, 2), (1, 2)):
        raise ValueError(
            "y_true and y_pred must both be vectors of labels, both be matrices of "
            "indicators, or be a vector of labels and a matrix with a column for each "
            f"class, got shapes {y_true.shape} and {y_pred.shape}."
        )
    if groups is not None:
        raise ValueError(
            "groups define sets of the labels of a vector, but y_pred has shape "
            f"{y_pred.shape} and each row is a set. Omit groups."
        )
    y_pred = _check_indicators(y_pred, "y_pred")
    if y_true.ndim == 1:
        y_true = _one_hot(y_true, y_pred.shape, labels)
    return _count_along(_AXES[average], _check_indicators(y_true, "y_true"), y_pred)


def _as_array(y, name):
    if not issparse(y):
        return as_array(y, name)
    y = csr_array(y, copy=True)
    y.sum_duplicates()
    return y


def _count_groups(y_true, y_pred, groups, pos_label):
    check_same_length(len(y_true), y_pred=y_pred)
    if len(y_true) == 0:
        raise ValueError("y_true is empty. At least one sample is needed.")
    labels = unique_labels(y_true, y_pred)
    if len(labels) > 2:
        raise ValueError(
            f"y_true and y_pred hold {len(labels)} labels, {labels.tolist()}. Convert "
            "them to two classes, or pass the predicted sets of classes as y_pred, of "
            "shape (n_samples, n_classes)."
        )
    pos_label = find_positive(labels, pos_label)
    sets, sizes = number_sets(y_true.shape, groups)
    # Truth and prediction as the digits of a number, one for each cell.
    cell = 2 * (y_true == pos_label) + (y_pred == pos_label)
    counts = np.bincount(4 * sets + cell, minlength=4 * len(sizes))
    tn, fp, fn, tp = counts.reshape(-1, 4).T
    return tp, fp, fn, tn


def find_positive(labels, pos_label=None):
    """Return the positive one of one or two sorted labels, which may not occur.

    By default the last of two. A single one is the negative one if it is 0, -1 or
    False, the positive one if it is 1 or True; of others nobody can tell.
    """
    is_one, last = len(labels) == 1, labels.tolist()[-1]
    if pos_label is None:
        if not is_one:
            return last
        if not isinstance(last, str) and last in (-1, 0, 1):
            return 1
        raise ValueError(
            f"y_true and y_pred hold the single label {last!r}, and it is unclear if "
            "it is the positive one. Pass the positive label as pos_label."
        )
    is_other_kind = isinstance(pos_label, str) != isinstance(last, str)
    if pos_label not in labels.tolist() and (not is_one or is_other_kind):
        raise ValueError(
            f"pos_label={pos_label!r} is not among the labels {labels.tolist()}. Pass "
            "the positive label, or None for the last one."
        )
    return pos_label


def add_positive(classes):
    """Return the classes, with the positive one where the only one is negative."""
    is_alone = len(classes) == 1 and classes.dtype.kind in "biuf"
    if not is_alone or classes[0] not in (-1, 0):
        return classes
    return np.append(classes, np.array(1, dtype=classes.dtype))


def _check_indicators(y, name):
    """Return a matrix of zeros and ones as one of booleans, dense or sparse."""
    if 0 in y.shape:
        raise ValueError(f"{name} is empty, of shape {y.shape}. Pass at least one set.")
    flags = as_flags(y)
    if flags is None:
        way_out = "Convert labels with MultiLabelBinarizer"
        raise ValueError(
            f"{name} must hold 0 and 1, a column for each item, got {show_odd(y)}. "
            f"{mend_flags(y, name, way_out)}."
        )
    return flags


def _one_hot(y_true, shape, labels):
    if len(y_true) != shape[0]:
        raise ValueError(
            f"y_pred has {shape[0]} rows for {len(y_true)} labels in y_true. Pass one "
            "set of classes per label."
        )
    classes = np.unique(y_true) if labels is None else np.asarray(labels)
    if classes.shape != shape[1:] or len(np.unique(classes)) != len(classes):
        raise ValueError(
            f"y_pred has {shape[1]} columns for the classes {classes.tolist()}. Pass "
            "the class of each column as labels."
        )
    index, unknown = index_labels(y_true, classes)
    if unknown.any():
        raise ValueError(
            f"y_true holds the label {y_true[unknown].tolist()[0]!r}, which is not one "
            f"of the labels {classes.tolist()} of the columns."
        )
    return one_hot(index, shape)


def _count_along(axis, y_true, y_pred):
    if y_true.shape != y_pred.shape:
        raise ValueError(
            "y_true and y_pred must have the same shape, got "
            f"{y_true.shape} and {y_pred.shape}."
        )
    if issparse(y_true) or issparse(y_pred):
        y_true, y_pred = csr_array(y_true), csr_array(y_pred)
        found = y_true.multiply(y_pred)
    else:
        found = y_true & y_pred
    sums = (part.sum(axis=axis) for part in (found, y_pred, y_true))
    tp, k, positives = map(np.atleast_1d, sums)
    n_items = y_true.shape[0] * y_true.shape[1] // len(tp)
    return tp, k - tp, positives - tp, n_items - k - positives + tp
