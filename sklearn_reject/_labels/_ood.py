"""The label that marks samples as out of distribution, and which samples have it."""

from numbers import Real

import numpy as np
from sklearn.utils import column_or_1d

from sklearn_reject._validation import refuse_missing_labels, refuse_unread
from sklearn_reject.exceptions import warn_user

# What strings are probably meant to be OOD, though "auto" takes them for classes.
_RESEMBLING = ("-1", "novel", "ood", "outlier")
_HOW_TO_MARK = (
    "Give the samples of all novel classes one label, and pass it as ood_label if it "
    "is another one."
)


def split_origin(y, ood_label="auto", classes=None):
    """Return the label of OOD samples, and which samples have it.

    The label is None where no sample can be OOD. "auto" is "ood" for strings and -1 for
    numbers, unless -1 is one of the classes. Where there are none yet, because a
    classifier is to be fitted on y, -1 is one of them beside a single other label.
    """
    y = label_vector(y)
    label = _resolve(ood_label, y, classes)
    if label is None:
        return None, np.zeros(len(y), dtype=bool)
    return label, np.asarray(y == label, dtype=bool)


def split_wild(y, wild_label):
    """Return which samples have the label of unlabeled ones."""
    y = label_vector(y)
    if wild_label is None:
        return np.zeros(len(y), dtype=bool)
    _check_label(wild_label, y, "wild_label", allowed="")
    return np.asarray(y == wild_label, dtype=bool)


def is_automatic(ood_label):
    """Tell whether the label of OOD samples is to be found out."""
    return isinstance(ood_label, str) and ood_label == "auto"


def label_vector(y, name="y"):
    """Return labels as a vector, after refusing gaps and several columns."""
    if y is None:
        raise ValueError(
            f"{name} is None, but its ood_label marks the OOD samples. Pass one label "
            "per sample."
        )
    refuse_unread(y, name)
    y = column_or_1d(np.asarray(y))
    refuse_missing_labels(y, name)
    return y


def refuse_unknown_labels(y, classes, others, known_to):
    """Raise for labels of ID samples that are no classes; `others` mark other ones."""
    unknown = _find_unknown(y, classes, others, known_to)
    if unknown:
        raise ValueError(f"{unknown}. {_HOW_TO_MARK}")


def warn_of_unknown_labels(y, classes, others, known_to):
    """Warn of labels of ID samples that are no classes, and so are errors for sure.

    A class may lack in a training part of a cross-validation.
    """
    unknown = _find_unknown(y, classes, others, known_to)
    if unknown:
        warn_user(
            f"{unknown}. Such samples count as errors on ID samples. {_HOW_TO_MARK} "
            "If a training part lacks a class, use fewer folds."
        )


def _find_unknown(y, classes, others, known_to):
    """Return what there is to say of labels that are no classes, or None."""
    unknown = sorted(set(y.tolist()) - set(classes.tolist()), key=str)
    if not unknown:
        return None
    rest = ", ".join(map(repr, unknown[1:4])) + (", ..." if len(unknown) > 4 else "")
    more = f"; nor is any of {rest}" if rest else ""
    return (
        f"y holds {unknown[0]!r} ({np.count_nonzero(y == unknown[0])} samples), which "
        f"is neither one of the classes {classes.tolist()} that {known_to} knows nor "
        f"{others}{more}"
    )


def find_resembling(classes):
    """Return a class that was probably meant to be OOD, None where there is none."""
    for label in classes:
        if isinstance(label, str) and label.strip().casefold() in _RESEMBLING:
            return label
    return None


def _resolve(ood_label, y, classes):
    if ood_label is None:
        return None
    if not is_automatic(ood_label):
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


def _holds_strings(y):
    """Return whether labels are strings rather than numbers."""
    if y.dtype.kind != "O":
        return y.dtype.kind in "US"
    kinds = {isinstance(label, str) for label in y.tolist()}
    if len(kinds) > 1:
        raise ValueError(
            "y mixes strings and other labels, so ood_label cannot be distinguished "
            "from a class. Convert all labels to strings or all to numbers."
        )
    return kinds == {True}


def _check_label(label, y, name="ood_label", allowed="'auto', "):
    if not isinstance(label, (str, Real, np.bool_)):
        raise ValueError(
            f"{name} must be {allowed}None, a number or a string, got {label!r}."
        )
    if label != label:
        raise ValueError(
            f"{name} must not be NaN, which is not equal to itself. Mark such samples "
            "with a number that is not a class, such as -1."
        )
    if isinstance(label, str) != _holds_strings(y):
        kinds = ("strings", "numbers")
        raise ValueError(
            f"{name}={label!r}, but y holds {kinds[isinstance(label, str)]}. Pass "
            f"labels of the same kind as y in `fit`, and {name} of this kind, too."
        )
