"""Labels of documents of which only some were rated."""

from dataclasses import dataclass

import numpy as np
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import column_or_1d

from sklearn_reject._validation import check_sample_weight, take_weight


@dataclass(frozen=True, eq=False)
class Ratings:
    """The documents that were rated."""

    is_positive: np.ndarray  # (n_rated,) bool
    weight: np.ndarray  # (n_rated,), or None where all weigh one
    rows: np.ndarray  # (n_rated,) positions among all documents
    classes: np.ndarray  # (2,) the negative and the positive one
    n_given: int  # rated or not


def rate(y, *, pos_label=None, unrated_label=-1, sample_weight=None, name="y"):
    """Return the documents that were rated, with weights; `name` is for errors."""
    ratings, classes = split_ratings(
        y, unrated_label=unrated_label, pos_label=pos_label, name=name
    )
    rows = np.flatnonzero(ratings >= 0)
    weight = take_weight(check_sample_weight(sample_weight, len(ratings)), rows)
    return Ratings(ratings[rows] == 1, weight, rows, classes, len(ratings))


def split_ratings(y, *, unrated_label=-1, pos_label=None, name="y"):
    """Return 1 for positives, 0 for negatives and -1 for the rest, and both classes.

    The negative class is the first. `name` is for errors.
    """
    y, is_rated = find_rated(y, unrated_label)
    if not is_rated.any():
        raise ValueError(
            f"{name} has no rated documents: all {len(y)} are missing or "
            f"{unrated_label!r}, the unrated_label. Rate some of the documents that "
            "are predicted positive, from both classes."
        )
    seen = _distinct(y[is_rated], name)
    classes = _order_classes(seen, pos_label, unrated_label, name)
    return _as_ratings(y, is_rated, classes[1]), classes


def split_part(y, *, unrated_label=-1, pos_label=None, name="y"):
    """Return ratings as `split_ratings` does, and the positive class, of a part.

    It may lack a class or be empty. The class is None where nothing tells which it is.
    """
    y, is_rated = find_rated(y, unrated_label)
    seen = _distinct(y[is_rated], name) if is_rated.any() else np.zeros(0)
    if len(seen) > 1:
        pos_label = _order_classes(seen, pos_label, unrated_label, name)[1].item()
    elif len(seen):
        pos_label = _positive_of_one(seen[0].item(), pos_label, name)
    return _as_ratings(y, is_rated, pos_label), pos_label


def _as_ratings(y, is_rated, positive):
    ratings = np.full(len(y), -1, dtype=np.int8)
    ratings[is_rated] = _equals(y[is_rated], positive)
    return ratings


def _positive_of_one(seen, pos_label, name):
    """Return the positive class where only one was seen, or raise if it may be any."""
    if pos_label is None and seen in (0, 1):
        return 1
    if pos_label is None or isinstance(pos_label, str) != isinstance(seen, str):
        raise ValueError(
            f"{name} holds the single class {seen!r} in this part of the documents, "
            "and it is unclear if it is the positive one. Pass the positive class as "
            f"pos_label, got {pos_label!r}."
        )
    return pos_label


def find_rated(y, unrated_label=-1):
    """Return labels as a vector, and which are not missing, masked or unrated."""
    is_masked = np.zeros(np.size(y), dtype=bool)
    if np.ma.isMaskedArray(y):
        is_masked = np.ma.getmaskarray(y).ravel()
    y = column_or_1d(y, warn=True)
    is_rated = np.ones(len(y), dtype=bool)
    if y.dtype.kind == "f":
        is_rated = ~np.isnan(y)
    elif y.dtype.kind == "O":
        is_rated = ~np.fromiter(map(_is_missing, y), dtype=bool, count=len(y))
    is_rated &= ~is_masked
    is_rated[is_rated] = ~_equals(y[is_rated], unrated_label)
    return y, is_rated


def _is_missing(value):
    # The missing value of pandas is not equal to anything, nor different from it.
    if value is None or type(value).__name__ == "NAType":
        return True
    return isinstance(value, (float, np.floating)) and bool(np.isnan(value))


def _equals(y, label):
    """Compare labels with one that may be of another kind."""
    is_text = isinstance(label, str)
    may_equal = y.dtype.kind == "O" or (y.dtype.kind in "US") == is_text
    if label is None or not may_equal:
        return np.zeros(len(y), dtype=bool)
    return np.asarray(y == label, dtype=bool)


def _distinct(labels, name):
    if labels.dtype.kind in "biuf":
        ends = labels.min(), labels.max()
        # Two classes, as there should be, are found without sorting.
        if ((labels == ends[0]) | (labels == ends[1])).all():
            return np.unique(ends)
    if labels.dtype.kind != "O":
        return np.unique(labels)
    if len({isinstance(label, str) for label in labels}) > 1:
        raise ValueError(
            f"{name} must hold labels of one kind, got text and other labels."
        )
    try:
        # Such as the column of a frame that has missing values.
        seen = np.unique(np.array(labels.tolist()))
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{name} must hold labels of one kind, such as 0, 1 and -1: {error}"
        ) from error
    if seen.dtype.kind == "O":
        raise ValueError(
            f"{name} must hold labels that are numbers, booleans or texts, got "
            f"{seen[0]!r}. Convert them, as in `(y == label).astype(int)`."
        )
    return seen


def _order_classes(seen, pos_label, unrated_label, name):
    """Return the negative and the positive class."""
    if len(seen) > 2:
        kind = type_of_target(seen, input_name=name)
        raise ValueError(
            "Only binary classification is supported. The type of the target is "
            f"{kind}: {name} must have two classes beside the unrated_label "
            f"{unrated_label!r}, got {len(seen)}, {seen[:5].tolist()} among them. "
            "Convert them to two classes, as in `y == pos_label`."
        )
    if pos_label is None:
        pos_label = 1 if set(seen.tolist()) <= {0, 1} else seen[-1].item()
    is_positive = _equals(seen, pos_label)
    if len(seen) == 1:
        missing = "negatives" if is_positive[0] else "positives"
        way_out = f" If {unrated_label!r} is a class, pass unrated_label=None."
        raise ValueError(
            f"{name} has no rated {missing}: the rated documents have one class only, "
            f"{seen.tolist()[0]!r}. Both classes are needed beside the unrated_label "
            f"{unrated_label!r}; unrated documents have "
            f"neither.{'' if unrated_label is None else way_out}"
        )
    if not is_positive.any():
        raise ValueError(
            f"pos_label={pos_label!r} is not among the rated classes of {name}, "
            f"{seen.tolist()}."
        )
    return np.concatenate([seen[~is_positive], seen[is_positive]])
