"""Predictions that hold a label which says "rejected", where labels are compared."""

from heapq import nsmallest
from typing import NamedTuple

import numpy as np

from sklearn_reject._labels import resolve_reject_label
from sklearn_reject.exceptions import warn_user


class Mark(NamedTuple):
    """What the label of samples without a prediction is called in messages."""

    automatic: str
    meaning: str
    way_out: str


_REJECTED = Mark(
    "reject",
    "rejected samples with reject_label='auto'",
    "Pass the result of `predict_label`, the labels of all samples, rejected or not",
)

_FEW, _SOME = 8, 2**14

# Whole numbers in so wide a range are counted instead of sorted.
_WIDEST = 2**16


def refuse_reject_label(
    y_true, y_pred, labels=(), *, may_warn=True, name="y_pred", mark=_REJECTED
):
    """Raise where predictions hold the automatic reject label, warn of unknown labels.

    `y_true` and `y_pred` are vectors, of `y_pred` the wrong ones are enough; `labels`
    are those that are known beside `y_true`. Messages call the predictions `name`,
    and say of the label what `mark` says.
    """
    labels = set(np.asarray(labels).tolist())
    unknown = distinct_labels(y_pred) - labels
    # Most classes are among any few samples, and few labels take no sort to look for.
    unknown -= distinct_labels(y_true[:: 1 + len(y_true) // _SOME])
    if len(unknown) <= _FEW:
        unknown = {label for label in unknown if not np.any(y_true == label)}
    if not unknown:
        return
    known = distinct_labels(y_true) | labels
    unknown -= known
    classes = np.array([*known], dtype=object)
    automatic = resolve_reject_label("auto", classes, automatic=mark.automatic)
    if automatic in unknown and len(known | unknown) > 2:
        raise ValueError(
            f"{name} holds {automatic!r}, which is not in y_true and stands for "
            f"{mark.meaning}. {mark.way_out}. If it is a class, pass all classes as "
            "labels=."
        )
    if may_warn and unknown:
        shown = ", ".join(map(repr, nsmallest(3, unknown, key=str)))
        of_numbers = ""
        if y_pred.dtype.kind == "f":
            of_numbers = " For a regressor use another loss, such as loss='squared'."
        warn_user(
            f"{name} holds {shown}, which is not in y_true. {mark.way_out}, if this is "
            "a reject label. If it is a class that no sample here has, pass all "
            "classes as labels=. To pass losses instead of labels, use loss= with None "
            f"as y_true and y_pred.{of_numbers}",
        )


def distinct_labels(labels):
    """Return the set of labels that occur."""
    if labels.dtype.kind == "O":
        return set(labels.tolist())
    if labels.dtype.kind in "iu" and len(labels):
        low, high = int(labels.min()), int(labels.max())
        if high - low < _WIDEST:
            offsets = labels.astype(np.int64)
            offsets -= labels.min().astype(np.int64)
            present = np.flatnonzero(np.bincount(offsets)).tolist()
            return {low + offset for offset in present}  # maybe beyond int64
    return set(np.unique(labels).tolist())
