"""What labels mean: rejected, out of distribution, rated or not."""

from dataclasses import dataclass
from numbers import Real

import numpy as np
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import column_or_1d

from sklearn_reject._validation import (
    as_label_array,
    check_sample_weight,
    find_missing_labels,
    refuse_missing_labels,
    refuse_unread,
    take_weight,
)
from sklearn_reject.exceptions import warn_user


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
        _check_reject_label(reject_label, labels, name)
        return reject_label
    if all(isinstance(label, Real) for label in labels):
        return -1 if -1 not in labels else _number_below(labels)
    while automatic in labels:
        automatic += "_"
    return automatic


def _check_reject_label(reject_label, labels, name):
    """Raise for a label that cannot stand for "rejected"."""
    _check_kind(reject_label, name, "Use 'auto' or a number that is not a class.")
    if any(reject_label == label for label in labels):
        raise ValueError(
            f"{name}={reject_label!r} is one of the classes {labels}. "
            "Use 'auto' or a label that is not a class."
        )


def _check_kind(label, name, way_out, allowed="'auto', "):
    """Raise for what is no label at all."""
    if not isinstance(label, (str, Real, np.bool_)):
        raise ValueError(
            f"{name} must be {allowed}None, a number or a string, got {label!r}."
        )
    if label != label:
        raise ValueError(
            f"{name} must not be NaN, which is not equal to itself. {way_out}"
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
    y = column_or_1d(as_label_array(y))
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
    way_out = "Mark such samples with a number that is not a class, such as -1."
    _check_kind(label, name, way_out, allowed)
    if isinstance(label, str) != _holds_strings(y):
        kinds = ("strings", "numbers")
        raise ValueError(
            f"{name}={label!r}, but y holds {kinds[isinstance(label, str)]}. Pass "
            f"labels of the same kind as y in `fit`, and {name} of this kind, too."
        )


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
    ratings[is_rated] = equals(y[is_rated], positive)
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
    is_masked = np.ma.getmaskarray(y).ravel() if np.ma.isMaskedArray(y) else None
    y = column_or_1d(as_label_array(y), warn=True)
    is_rated = ~find_missing_labels(y)
    if is_masked is not None:
        is_rated &= ~is_masked
    is_rated[is_rated] = ~equals(y[is_rated], unrated_label)
    return y, is_rated


def equals(y, label):
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
    is_positive = equals(seen, pos_label)
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
