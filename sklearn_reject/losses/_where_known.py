"""Losses of labels that are not known of every sample, as those of an expert."""

import numpy as np

from sklearn_reject._validation import (
    as_label_array,
    check_same_length,
    find_missing_labels,
)


def label_array(labels, n_samples, name):
    """Return labels, some of which may be missing, and which are there.

    Both have shape (n_samples,); missing are None, NaN, NaT, NA and what is masked.
    """
    array = np.asanyarray(as_label_array(labels))  # with its mask
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise ValueError(
            f"{name} must be a vector of labels of shape (n_samples,), got an array of "
            f"shape {array.shape}."
        )
    check_same_length(n_samples, **{name: array})
    return np.asarray(array), ~find_missing_labels(array)


def labels_or_none(labels, n_samples, name):
    """Return labels as objects, None where they are missing, shape (n_samples,)."""
    labels, is_known = label_array(labels, n_samples, name)
    labels = labels.astype(object)
    labels[~is_known] = None
    return labels


def losses_where_known(loss, y_true, labels, name):
    """Return the loss of each label, NaN where it is missing, shape (n_samples,)."""
    labels, is_known = label_array(labels, len(y_true), name)
    losses = np.full(len(labels), np.nan)
    if not is_known.any():
        return losses
    # Gaps may have made objects of numbers.
    known = labels[is_known]
    known = np.array(known.tolist()) if known.dtype.kind == "O" else known
    try:
        losses[is_known] = loss(np.asarray(y_true)[is_known], known)
    except ValueError as error:
        raise ValueError(f"{name}, as y_pred: {error}") from error
    return losses
