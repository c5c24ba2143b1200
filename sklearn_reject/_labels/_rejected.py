"""The label that stands for "rejected", and arrays that can hold it."""

from numbers import Real

import numpy as np


def resolve_reject_label(
    reject_label, classes, *, name="reject_label", automatic="reject"
):
    """Return the label of rejected samples, which is not among the classes, or None.

    "auto" is `automatic` for strings, and -1 or the smallest class minus one for
    numbers; `name` is that of the parameter.
    """
    if reject_label is None:
        return None
    labels = classes.tolist()
    if not isinstance(reject_label, str) or reject_label != "auto":
        _check_label(reject_label, labels, name)
        return reject_label
    if all(isinstance(label, Real) for label in labels):
        return -1 if -1 not in labels else _number_below(labels)
    while automatic in labels:
        automatic += "_"
    return automatic


def _check_label(reject_label, labels, name):
    """Raise for a label that cannot stand for "rejected"."""
    if not isinstance(reject_label, (str, Real, np.bool_)):
        raise ValueError(
            f"{name} must be 'auto', None, a number or a string, got {reject_label!r}."
        )
    if reject_label != reject_label:
        raise ValueError(
            f"{name} must not be NaN, which is not equal to itself. Use 'auto' or a "
            "number that is not a class."
        )
    if any(reject_label == label for label in labels):
        raise ValueError(
            f"{name}={reject_label!r} is one of the classes {labels}. "
            "Use 'auto' or a label that is not a class."
        )


def _number_below(labels):
    lowest = min(labels)
    # One less is the same number where floats are more than one apart.
    return lowest - 1 if lowest - 1 < lowest else float(np.nextafter(lowest, -np.inf))


def mark_rejected(labels, accepted, reject_label):
    """Return the labels with `reject_label` where a sample is not accepted.

    Their dtype holds all classes and the reject label exactly, rejected or not.
    """
    marked = np.empty(len(labels), dtype=_common_dtype(labels, reject_label))
    marked[...] = reject_label
    np.copyto(marked, labels, where=accepted)
    return marked


def _common_dtype(labels, reject_label):
    if labels.dtype.kind == "b" and isinstance(reject_label, Real):
        return _common_dtype(labels.astype(np.int64), reject_label)
    if labels.dtype.kind in "iu" and isinstance(reject_label, (int, np.integer)):
        return _integer_dtype(labels, int(reject_label))
    if labels.dtype.kind == "f" and isinstance(reject_label, Real):
        dtype = np.result_type(labels.dtype, np.min_scalar_type(reject_label))
        is_exact = float(dtype.type(reject_label)) == reject_label
        return dtype if is_exact else np.dtype(object)
    if labels.dtype.kind == "U" and isinstance(reject_label, str):
        return np.result_type(labels.dtype, np.asarray(reject_label).dtype)
    return np.dtype(object)


def _integer_dtype(labels, reject_label):
    for dtype in (labels.dtype, np.dtype(np.int64)):
        limits = np.iinfo(dtype)
        fits_label = limits.min <= reject_label <= limits.max
        if fits_label and np.can_cast(labels.dtype, dtype):
            return dtype
    return np.dtype(object)
