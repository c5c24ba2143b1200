"""What predictions cost: those that a user has, and those of an estimator."""

from heapq import nsmallest
from typing import NamedTuple

import numpy as np
from sklearn.utils.multiclass import unique_labels

from sklearn_reject._labels import label_vector, resolve_reject_label
from sklearn_reject._validation import LARGEST_EXACT_INTEGER, check_vector
from sklearn_reject.exceptions import warn_user
from sklearn_reject.losses import CostMatrixLoss, TaskLoss, ZeroOneLoss, check_loss
from sklearn_reject.metrics._inside import find, refuse_regressor


def losses_of(y_true, y_pred, loss, labels):
    """Return losses of shape (n_samples,): `loss` itself, or made of predictions.

    Targets have shape (n_samples,) or (n_samples, n_outputs), or are None.
    """
    if is_vector(loss):
        return check_vector(loss, "loss", non_negative=True)
    if y_true is None or y_pred is None:
        missing = "y_true" if y_true is None else "y_pred"
        raise ValueError(
            f"{missing} is None, so loss= must be the losses themselves, a vector of "
            f"shape (n_samples,), but got loss={name_of_loss(loss)}."
        )
    if is_table(loss) or isinstance(loss, CostMatrixLoss):
        return _costs(y_true, y_pred, loss, labels)
    y_true, y_pred = _without_column(y_true), _without_column(y_pred)
    task = check_loss(loss)
    losses = task(y_true, y_pred)
    is_of_labels = isinstance(task, ZeroOneLoss)
    is_continuous = "f" in (y_true.dtype.kind, y_pred.dtype.kind)
    if y_pred.ndim == 1 and (is_of_labels or not is_continuous):
        known = () if labels is None else labels
        refuse_reject_label(y_true, y_pred[losses > 0], known, may_warn=is_of_labels)
    return losses


def is_vector(loss):
    """Tell whether `loss` holds the losses themselves."""
    return not _has_meaning(loss) and np.ndim(loss) == 1


def is_table(loss):
    """Tell whether `loss` is a cost matrix, which takes `labels`."""
    return not _has_meaning(loss) and np.ndim(loss) != 1


def name_of_loss(loss):
    """Return what a message calls a loss: of an array the shape."""
    return repr(loss) if _has_meaning(loss) else f"an array of shape {np.shape(loss)}"


def _has_meaning(loss):
    return loss is None or isinstance(loss, str) or callable(loss)


def without_gaps(labels, is_known):
    """Return the known ones of an array of labels, typed as if there were no others."""
    known = labels[is_known]
    if known.dtype.kind == "O":
        return np.array(known.tolist())
    # Gaps may have made floats of whole numbers.
    is_whole = known.dtype.kind == "f" and len(known) < len(labels)
    if is_whole and (np.abs(known) < LARGEST_EXACT_INTEGER).all():
        whole = known.astype(np.int64)
        return whole if np.array_equal(whole, known) else known
    return known


def _without_column(y):
    y = np.asarray(y)
    return y[:, 0] if y.ndim == 2 and y.shape[1] == 1 else y


def _costs(y_true, y_pred, loss, labels):
    """Return costs from a table; what is outside of it may be a reject label."""
    y_true, y_pred = label_vector(y_true), label_vector(y_pred)
    # Before the table, which has no row for a reject label, says that it has not.
    known = getattr(loss, "labels", labels)
    if known is None:
        labels = unique_labels(y_true, y_pred)
        refuse_reject_label(y_true, y_pred)
    else:
        refuse_reject_label(y_true, y_pred, known, may_warn=False)
    return check_loss(loss, labels=labels)(y_true, y_pred)


def judge(estimator, y, y_pred, loss=None, labels=None):
    """Return the losses of predictions of an estimator for ID samples.

    None is the loss of the estimator, else 0/1. The predictions hold no reject label,
    but maybe classes that no sample of a fold has.
    """
    loss = loss_of(estimator) if loss is None else loss
    if is_table(loss) and labels is None:
        classes = np.asarray(getattr(estimator, "classes_", y_pred))
        labels = unique_labels(label_vector(y), label_vector(y_pred), classes)
    task = check_loss(loss, labels=labels)
    if not isinstance(task, ZeroOneLoss):
        _refuse_ood_samples(estimator, y, task)
    return task(y, y_pred)


def _refuse_ood_samples(estimator, y, loss):
    """Raise where a loss would compare the OOD label of an estimator with classes."""
    inner, _ = find(estimator, "risk_and_novelty")
    label = getattr(inner, "ood_label_", None)
    if label is not None and np.any(np.asarray(y) == label):
        raise ValueError(
            f"y holds the OOD label {label!r} of {type(inner).__name__}, which {loss} "
            "would compare with classes. Remove the OOD samples, use the `score` of "
            "the estimator, or a scorer that supports them, such as "
            "get_selective_scorer('neg_selective_risk_at_tpr_fpr', ...). "
            "loss='zero_one' counts them as errors."
        )


def loss_of(estimator):
    """Return the loss that an estimator, or the one inside, is made for, else 0/1."""
    inner, _ = find(estimator, "uncertainty", "_opinions")
    loss = getattr(inner, "loss_", None)
    if isinstance(loss, TaskLoss):
        return loss
    refuse_regressor(
        estimator,
        "without an attribute `loss_`. Pass a loss, such as "
        "get_selective_scorer('neg_aurc', loss='squared')",
    )
    return "zero_one"


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

_FEW, _SOME = 8, 2**12


def refuse_reject_label(
    y_true, y_pred, labels=(), *, may_warn=True, name="y_pred", mark=_REJECTED
):
    """Raise where predictions hold the automatic reject label, warn of unknown labels.

    `y_true` and `y_pred` are vectors, of `y_pred` the wrong ones are enough; `labels`
    are those that are known beside `y_true`. Messages call the predictions `name`,
    and say of the label what `mark` says.
    """
    labels = set(np.asarray(labels).tolist())
    unknown = _distinct(y_pred) - labels
    # Most classes are among any few samples, and few labels take no sort to look for.
    unknown -= _distinct(y_true[:: 1 + len(y_true) // _SOME])
    if len(unknown) <= _FEW:
        unknown = {label for label in unknown if not np.any(y_true == label)}
    if not unknown:
        return
    known = _distinct(y_true) | labels
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
            f"as y_true and y_pred.{of_numbers}"
        )


def _distinct(labels):
    if labels.dtype.kind != "O":
        labels = np.unique(labels)
    return set(labels.tolist())
