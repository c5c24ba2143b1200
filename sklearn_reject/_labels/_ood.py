"""The label that marks samples as out of distribution, and which samples have it."""

from numbers import Real

import numpy as np
from sklearn.utils import column_or_1d


def resolve_ood_label(ood_label, y, classes=None):
    """Return the label of OOD samples, None where no sample can be OOD.

    "auto" is "ood" for strings and -1 for numbers, unless -1 is one of the classes, or
    where these are not known one of exactly two labels: then no sample is OOD.
    """
    if ood_label is None:
        return None
    y = label_vector(y)
    if not isinstance(ood_label, str) or ood_label != "auto":
        _check_label(ood_label, y)
        return ood_label
    if _holds_strings(y):
        return "ood"
    if classes is not None:
        return None if -1 in classes else -1
    others = y[y != -1]
    # A classifier needs two classes, so a single other label makes -1 one of them.
    is_class = 0 < len(others) < len(y) and np.all(others == others[0])
    return None if is_class else -1


def split_origin(y, ood_label="auto", classes=None):
    """Return the label of OOD samples, and which samples have it."""
    y = label_vector(y)
    label = resolve_ood_label(ood_label, y, classes)
    if label is None:
        return None, np.zeros(len(y), dtype=bool)
    return label, np.asarray(y == label, dtype=bool)


def split_wild(y, wild_label):
    """Return which samples have the label of unlabelled ones."""
    y = label_vector(y)
    if wild_label is None:
        return np.zeros(len(y), dtype=bool)
    _check_label(wild_label, y, "wild_label", allowed="")
    return np.asarray(y == wild_label, dtype=bool)


def label_vector(y):
    """Return labels as a vector, after refusing those with several columns."""
    return column_or_1d(np.asarray(y))


def _holds_strings(y):
    """Return whether labels are strings rather than numbers."""
    if y.dtype.kind != "O":
        return y.dtype.kind in "US"
    kinds = {isinstance(label, str) for label in y.tolist()}
    if len(kinds) > 1:
        raise ValueError(
            "y mixes strings and other labels, so that ood_label cannot be told from "
            "a class. Convert all labels to strings or all to numbers."
        )
    return kinds == {True}


def _check_label(label, y, name="ood_label", allowed="'auto', "):
    if not isinstance(label, (str, Real, np.bool_)):
        raise ValueError(
            f"{name} must be {allowed}None, a number or a string, got {label!r}."
        )
    if label != label:
        raise ValueError(
            f"{name} must not be NaN, which equals nothing. Mark such samples with a "
            "number that is not a class, such as -1."
        )
    if isinstance(label, str) != _holds_strings(y):
        kinds = ("strings", "numbers")
        raise ValueError(
            f"{name}={label!r}, but y holds {kinds[isinstance(label, str)]}. Pass a "
            "label of the kind of y."
        )
