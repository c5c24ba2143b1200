"""What the answers of two opinions cost, the second of which may be missing."""

import numpy as np
from sklearn.utils.multiclass import unique_labels

from sklearn_reject._labels import label_vector
from sklearn_reject._validation import refuse_missing_labels
from sklearn_reject.losses import (
    ZeroOneLoss,
    check_loss,
    label_array,
    losses_where_known,
)
from sklearn_reject.metrics._losses import (
    is_table,
    name_of_loss,
    without_gaps,
)
from sklearn_reject.metrics._reject_labels import Mark, refuse_reject_label

_MEANING = "deferred samples with defer_label='auto'"
_MARKS = {
    "y_first": Mark(
        "defer",
        _MEANING,
        "Pass the result of `predict_first`, the labels of all samples, deferred or "
        "not",
    ),
    "y_second": Mark(
        "defer",
        _MEANING,
        ("Pass None or NaN for samples that the second opinion was not asked about"),
    ),
}


def losses_of_opinions(y_true, y_first, y_second, loss, labels):
    """Return the losses of both opinions, of the second NaN where it is missing.

    `loss` may hold both already; see :func:`sklearn_reject.metrics.deferral_curve`.
    """
    given = {"y_true": y_true, "y_first": y_first, "y_second": y_second}
    missing = [name for name, y in given.items() if y is None]
    if is_pair(loss, without_labels=len(missing) == len(given)):
        if len(missing) < len(given):
            raise ValueError(
                "loss holds the losses of both opinions, but labels are given as well. "
                "Pass None as y_true, y_first and y_second, or pass the name of a loss "
                "as loss."
            )
        return tuple(loss)
    if missing:
        raise ValueError(
            f"{missing[0]} is None. Pass all labels, or pass None as y_true, y_first "
            "and y_second and both losses as loss=(loss_first, loss_second), each a "
            f"vector of shape (n_samples,); got loss={name_of_loss(loss)}."
        )
    y_true = label_vector(y_true, "y_true")
    answers = {"y_first": y_first, "y_second": y_second}
    known = {name: _known(y, len(y_true), name) for name, y in answers.items()}
    task = _task_of(y_true, known, loss, labels)
    losses = [losses_where_known(task, y_true, y, name) for name, y in answers.items()]
    is_of_labels = isinstance(task, ZeroOneLoss)
    labels = getattr(task, "labels", labels)
    for (name, y), of_one in zip(known.items(), losses, strict=True):
        if is_of_labels or not (is_table(loss) or y.dtype.kind == "f"):
            wrong = y[of_one[~np.isnan(of_one)] > 0]
            _refuse_mark(y_true, wrong, labels, name, may_warn=is_of_labels)
    return losses


def is_pair(loss, *, without_labels):
    """Tell whether `loss` holds the losses of both opinions themselves.

    With labels, a pair of pairs is the cost matrix of two classes.
    """
    if not isinstance(loss, tuple | list | np.ndarray) or len(loss) != 2:
        return False
    shapes = [np.shape(part) for part in loss]
    is_square = not without_labels and shapes[0] == (2,)
    return all(len(shape) == 1 for shape in shapes) and not is_square


def _known(labels, n_samples, name):
    labels, is_known = label_array(labels, n_samples, name)
    if name == "y_first":
        refuse_missing_labels(labels, name)
    return without_gaps(labels, is_known)


def _task_of(y_true, known, loss, labels):
    """Return the loss of a label; a cost matrix is for all labels that occur."""
    if not is_table(loss):
        return check_loss(loss)
    if labels is None:
        for name, y in known.items():
            _refuse_mark(y_true, y, None, name, may_warn=False)
        labels = unique_labels(*(y for y in (y_true, *known.values()) if len(y)))
    return check_loss(loss, labels=labels)


def _refuse_mark(y_true, labels, known, name, *, may_warn):
    """Raise for labels that say that a sample is rejected or deferred."""
    known = () if known is None else known
    options = {"may_warn": may_warn, "name": name, "mark": _MARKS[name]}
    refuse_reject_label(y_true, labels, known, **options)
