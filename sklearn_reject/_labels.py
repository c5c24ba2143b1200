"""What labels mean: rejected, out of distribution, rated or not."""

import math
from dataclasses import dataclass
from numbers import Real
from typing import Any

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

_NUMBERS = Real, np.bool_


def resolve_reject_label(
    reject_label, classes, *, name="reject_label", automatic="reject"
):
    """Return the label of rejected samples, which is not among the classes, or None.

    "auto" is `automatic` for strings, and -1 or the smallest class minus one for
    numbers; `name` is that of the parameter.
    """
    labels = classes.tolist()
    if reject_label is None:
        return None
    if not is_automatic(reject_label):
        _check_label(reject_label, name)
        if reject_label in labels:
            raise ValueError(
                f"{name}={reject_label!r} is one of the classes {labels}. "
                "Use 'auto' or a label that is not a class."
            )
        return reject_label
    if all(isinstance(label, Real) for label in labels):
        lowest = min(labels) if -1 in labels else 0
        # One less is the same number where floats are more than one apart.
        return lowest - 1 if lowest - 1 < lowest else math.nextafter(lowest, -math.inf)
    while automatic in labels:
        automatic += "_"
    return automatic


def is_automatic(label):
    """Tell whether a label is to be found out."""
    return isinstance(label, str) and label == "auto"


def _check_label(label, name, y=None):
    """Raise for what is no label at all, or of another kind than those of y."""
    if not isinstance(label, (str, *_NUMBERS)) or label != label:
        raise ValueError(
            f"{name} must be None, a number, not NaN, or a string, got {label!r}."
        )
    if y is not None and isinstance(label, str) != _holds_text(y):
        kind = "numbers" if isinstance(label, str) else "strings"
        raise ValueError(
            f"{name}={label!r}, but y holds {kind}. Pass {name}, and labels in `fit` "
            "and later, of one kind."
        )


def _of_one_kind(labels, name):
    """Return labels as numbers or as text, or raise if they are both, or neither."""
    values = labels.tolist() if labels.dtype.kind == "O" else []
    for kind in (str, _NUMBERS):
        if values and all(isinstance(value, kind) for value in values):
            labels = np.array(values)
    if labels.dtype.kind == "O" and values:
        raise ValueError(
            f"{name} must hold labels of one kind, numbers or texts, got {values[:3]}. "
            "Convert them, as in `y.astype(str)` or `(y == label).astype(int)`."
        )
    return labels


def _holds_text(y):
    return _of_one_kind(y, "y").dtype.kind in "US"


def mark_rejected(labels, accepted, reject_label):
    """Return the labels with `reject_label` where a sample is not accepted.

    Their dtype holds all classes and the reject label exactly, rejected or not.
    """
    return merge_labels(labels, ~accepted, reject_label)


def merge_labels(labels, rows, found):
    """Return labels with those found in some rows, in a dtype that holds both exactly.

    It is that of `labels` where that will do.
    """
    found, dtype = np.asarray(found), labels.dtype
    if found.dtype != dtype:
        for label in dict.fromkeys(found.ravel().tolist()):
            dtype = _common_dtype(dtype, label)
    merged = labels.astype(dtype)
    merged[rows] = found
    return merged


def _common_dtype(dtype, label):
    """Return a dtype that holds any label of a dtype, and one more, exactly."""
    if dtype.kind == "U" and isinstance(label, str):
        return np.result_type(dtype, np.asarray(label).dtype)
    if dtype.kind in "biuf" and isinstance(label, _NUMBERS):
        kinds = "f" if dtype.kind == "f" else "biu"
        wider = np.min_scalar_type(label) if kinds == "f" else np.int64
        for candidate in (dtype, np.result_type(dtype, wider)):
            if candidate.kind in kinds and _is_exact(candidate, label):
                return candidate
    return np.dtype(object)


def _is_exact(dtype, label):
    """Tell whether a dtype has a number just as it is."""
    try:
        with np.errstate(invalid="ignore", over="ignore"):
            return np.asarray(label).astype(dtype).item() == label
    except (OverflowError, ValueError):
        return False


# What labels are probably meant to be OOD, though "auto" takes them for classes: -1
# beside a single other label, and strings other than "ood".
_RESEMBLING = ("-1", "-1.0", "novel", "ood", "outlier")


@dataclass(frozen=True, eq=False)
class Origins:
    """Which samples are of known classes (ID), OOD, or wild: unlabeled, a mixture.

    `names` is what the user calls samples that are not ID. The `ood_label` is None
    where no sample can be OOD.
    """

    y: np.ndarray
    is_ood: np.ndarray
    is_wild: np.ndarray
    classes: np.ndarray
    ood_label: Any
    names: str

    @property
    def is_outside(self):
        """Which samples are OOD or wild."""
        return self.is_ood | self.is_wild

    @classmethod
    def to_fit(cls, y, ood_label, wild_label, known):
        """Return the origins of samples that are not all outside, or raise.

        `known` are the classes of a frozen classifier, None where y tells them.
        """
        if wild_label is not None:
            _check_label(wild_label, "wild_label", y)
        is_wild, is_ood = equals(y, wild_label), np.zeros(len(y), dtype=bool)
        label, is_ood[~is_wild] = split_origin(y[~is_wild], ood_label, known)
        label = None if label == wild_label else label
        names, inside = _name(label, wild_label), y[~is_ood & ~is_wild]
        if label is None and is_automatic(ood_label) and wild_label is None:
            names = "an ood_label, as -1 is a class"
        if is_ood.any() and wild_label is not None:
            raise ValueError(
                f"y holds ood_label={label!r}, but with wild_label={wild_label!r} wild "
                "samples tell the FPR. Remove the OOD samples and pass them to "
                "`report`, or set wild_label and wild_share both to None."
            )
        if not len(inside):
            raise ValueError(f"y holds {names} only. Add samples of the known classes.")
        if known is None:
            known = np.unique(inside)
        if label is not None and label in known.tolist():
            raise ValueError(
                f"ood_label={label!r} is one of the classes {known.tolist()} that the "
                "classifier knows. Mark OOD samples with another label."
            )
        if unknown := _find_unknown(inside, known, names, "the classifier"):
            raise ValueError(unknown)
        return cls(y, is_ood, is_wild, known, label, names)

    @classmethod
    def to_judge(cls, y, ood_label, wild_label, classes, known_to):
        """Return the origins of new samples, after a warning of unknown labels."""
        is_ood, is_wild = equals(y, ood_label), equals(y, wild_label)
        names = _name(ood_label, wild_label)
        warn_of_unknown_labels(y[~is_ood & ~is_wild], classes, names, known_to)
        return cls(y, is_ood, is_wild, classes, ood_label, names)

    def warn_of_classes(self, ood_label, wild_label, *, is_frozen):
        """Warn where OOD samples may be there, and are taken for a class.

        The labels are those that the user has given.
        """
        if self.is_outside.any() or (ood_label is None and wild_label is None):
            return
        classes = self.classes.tolist()
        meant = [x for x in classes if str(x).strip().casefold() in _RESEMBLING]
        if wild_label is not None:
            reason = f"wild_label={wild_label!r} is not in y"
            way_out = "the label of unlabeled samples"
        elif not is_automatic(ood_label):
            reason, way_out = f"ood_label={ood_label!r} is not in y", "ood_label='auto'"
        elif is_frozen or not meant:
            return
        else:
            reason = f"{meant[0]!r} is a class with ood_label='auto'"
            way_out = f"ood_label={meant[0]!r}"
        warn_user(
            f"{reason}, so no sample is OOD, and {classes[:5]} are classes. Pass "
            f"{way_out}, or None if no sample is OOD."
        )


def _name(ood_label, wild_label):
    """Return what the user calls samples that are, or may be, OOD."""
    if wild_label is None:
        return f"ood_label={ood_label!r}"
    return f"wild_label={wild_label!r} or ood_label={ood_label!r}"


def split_origin(y, ood_label="auto", classes=None):
    """Return the label of OOD samples, None where there can be none, and who has it.

    "auto" is "ood" for strings and -1 for numbers, unless -1 is one of the classes.
    Where there are none yet, because a classifier is to be fitted on y, -1 is one of
    them beside a single other label, as a classifier needs two.
    """
    y = label_vector(y)
    if ood_label is not None and not is_automatic(ood_label):
        _check_label(ood_label, "ood_label", y)
    elif ood_label is not None and _holds_text(y):
        ood_label = "ood"
    elif ood_label is not None:
        if classes is None:
            seen = set(y.tolist())
            classes = seen if len(seen) == 2 else ()
        ood_label = None if -1 in classes else -1
    return ood_label, equals(y, ood_label)


def label_vector(y, name="y"):
    """Return labels as a vector, after refusing gaps and several columns."""
    if y is None:
        raise ValueError(f"{name} is None. Pass one label per sample, OOD included.")
    refuse_unread(y, name)
    y = column_or_1d(as_label_array(y))
    refuse_missing_labels(y, name)
    return y


def warn_of_unknown_labels(y, classes, others, known_to):
    """Warn of labels of ID samples that are no classes, and so are errors for sure.

    A class may lack in a training part of a cross-validation. `others` mark other
    samples, and `known_to` is who knows the classes.
    """
    unknown = _find_unknown(y, classes, others, known_to)
    if unknown:
        warn_user(
            f"{unknown} Here these samples count as errors on ID samples. If a "
            "training part lacks a class, use fewer folds."
        )


def _find_unknown(y, classes, others, known_to):
    """Return what there is to say of labels that are no classes, or None."""
    known = classes.tolist()
    unknown = sorted(set(y.tolist()) - set(known), key=str)
    if not unknown:
        return None
    shown = ", ".join(map(repr, unknown[:4])) + ", ..." * (len(unknown) > 4)
    n_samples = sum(label not in known for label in y.tolist())
    return (
        f"y holds {shown} ({n_samples} samples), which is neither one of the classes "
        f"{known} that {known_to} knows nor {others}. Give all novel classes one "
        "label, and pass it as ood_label."
    )


@dataclass(frozen=True, eq=False)
class Ratings:
    """The documents that were rated."""

    is_positive: np.ndarray  # (n_rated,) bool
    weight: np.ndarray  # (n_rated,), or None where all weigh one
    rows: np.ndarray  # (n_rated,) positions among all documents
    classes: np.ndarray  # (2,) the negative and the positive one
    n_given: int  # rated or not


def rate(y, *, sample_weight=None, **options):
    """Return the rated documents with weights; `options` are of `split_ratings`."""
    ratings, classes = split_ratings(y, **options)
    rows = np.flatnonzero(ratings >= 0)
    weight = take_weight(check_sample_weight(sample_weight, len(ratings)), rows)
    return Ratings(ratings[rows] == 1, weight, rows, classes, len(ratings))


def split_ratings(y, *, unrated_label=-1, pos_label=None, name="y", is_part=False):
    """Return 1 for positives, 0 for negatives and -1 for the rest, and both classes.

    The negative class is the first. A part of the documents may lack one or be empty:
    then the first is None, and so is the positive one where nothing tells which it is.
    `name` is for errors.
    """
    y, is_rated = find_rated(y, unrated_label)
    if not is_part and not is_rated.any():
        raise ValueError(
            f"{name} has no rated documents: all {len(y)} are missing or "
            f"{unrated_label!r}, the unrated_label. Rate some of both classes."
        )
    seen = np.unique(_of_one_kind(y[is_rated], name))
    if is_part and len(seen) < 2:
        classes = np.array([None, _positive_of_part(seen.tolist(), pos_label, name)])
    else:
        classes = _order_classes(seen, pos_label, unrated_label, name)
    ratings = np.full(len(y), -1, dtype=np.int8)
    ratings[is_rated] = equals(y[is_rated], classes[1])
    return ratings, classes


def _positive_of_part(seen, pos_label, name):
    """Return the positive class of a part with one class, or none, or raise."""
    if not seen:
        return pos_label
    if pos_label is None and seen[0] in (0, 1):
        return 1
    if pos_label is None or isinstance(pos_label, str) != isinstance(seen[0], str):
        raise ValueError(
            f"{name} holds the single class {seen[0]!r} in this part of the documents, "
            "which may be the positive one or not. Pass the positive class as "
            f"pos_label, got {pos_label!r}."
        )
    return pos_label


def find_rated(y, unrated_label=-1):
    """Return labels as a vector, and which are not missing, masked or unrated."""
    is_masked = np.ma.getmaskarray(y).ravel() if np.ma.isMaskedArray(y) else False
    y = column_or_1d(as_label_array(y), warn=True)
    is_rated = ~(find_missing_labels(y) | is_masked)
    is_rated[is_rated] = ~equals(y[is_rated], unrated_label)
    return y, is_rated


def equals(y, label):
    """Compare labels with one that may be of another kind."""
    is_other = y.dtype.kind != "O" and (y.dtype.kind in "US") != isinstance(label, str)
    if label is None or is_other:
        return np.zeros(len(y), dtype=bool)
    return np.asarray(y == label, dtype=bool)


def _order_classes(seen, pos_label, unrated_label, name):
    """Return the negative and the positive class of those seen, or raise."""
    if len(seen) > 2:
        kind = type_of_target(seen, input_name=name)
        raise ValueError(
            "Only binary classification is supported. The type of the target is "
            f"{kind}: beside the unrated_label {unrated_label!r}, {name} must have "
            f"two classes, got {seen[:5].tolist()}. If one of them marks what nobody "
            "has rated, pass it as unrated_label. Else pass `y == pos_label`."
        )
    if pos_label is None:
        pos_label = 1 if set(seen.tolist()) <= {0, 1} else seen[-1].item()
    is_positive = equals(seen, pos_label)
    if len(seen) == 1:
        missing = "negatives" if is_positive[0] else "positives"
        raise ValueError(
            f"{name} has no rated {missing}: the rated documents have one class only, "
            f"{seen.tolist()[0]!r}. Rate documents of both classes, or pass "
            f"unrated_label=None if {unrated_label!r} is a class."
        )
    if not is_positive.any():
        raise ValueError(
            f"pos_label={pos_label!r} is not among the rated classes of {name}, "
            f"{seen.tolist()}."
        )
    return np.concatenate([seen[~is_positive], seen[is_positive]])
