"""Metrics of deferring to a second opinion, from the labels of both."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.multiclass import unique_labels

from sklearn_reject import _curves as curves
from sklearn_reject._labels import label_vector
from sklearn_reject._typing import TaskLossLike
from sklearn_reject._validation import (
    check_same_length,
    check_vector,
    of_arrays,
    refuse_missing_labels,
)
from sklearn_reject.losses import (
    ZeroOneLoss,
    check_loss,
    label_array,
    losses_where_known,
)
from sklearn_reject.metrics._losses import (
    Mark,
    is_table,
    name_of_loss,
    refuse_reject_label,
    without_gaps,
)

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


@of_arrays
def deferral_curve(
    y_true: ArrayLike | None,
    y_first: ArrayLike | None,
    y_second: ArrayLike | None,
    gain: ArrayLike,
    *,
    loss: TaskLossLike | tuple[ArrayLike, ArrayLike] = "zero_one",
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Compute system risk against the deferral rate, one point per distinct score.

    Point k belongs to the rule that asks the second opinion about every sample whose
    gain is at least ``thresholds[k]``, and takes its answer. Lower risk is
    better. The first point asks about none, the last one about all.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or None
        True labels. None where `loss` holds the losses themselves.

    y_first : array-like of shape (n_samples,) or None
        Labels of the first classifier for all samples, deferred or not. None if `loss`
        contains the losses themselves.

    y_second : array-like of shape (n_samples,) or None
        Labels of the second opinion: a stronger model, or a person. None or NaN where
        it was not asked: such samples are ignored, as if those with an answer had been
        drawn at random. None instead of an array if `loss` contains the losses
        themselves.

    gain : array-like of shape (n_samples,)
        Higher = deferred first: an estimate of the gain of asking the second opinion,
        of any sign, or the uncertainty of the first classifier.

    loss : str, array-like of shape (n_classes, n_classes), callable, TaskLoss, or \
            pair of array-like of shape (n_samples,), default="zero_one"
        Cost of a label, as :func:`~sklearn_reject.losses.check_loss` takes it, or the
        losses themselves, (loss_first, loss_second), the latter NaN where the second
        opinion was not asked.

    labels : array-like of shape (n_classes,), default=None
        Labels in the order of the cost matrix, including those that occur in an opinion
        only. None takes the sorted labels that occur.

    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative sample weights. Only their ratios matter.

    Returns
    -------
    deferral_rate : ndarray of shape (n_thresholds,)
        Weighted share of deferred samples, increasing from 0 to 1.

    system_risk : ndarray of shape (n_thresholds,)
        Weighted mean loss of the whole system, in units of the loss: that of the first
        classifier at rate 0, that of the second opinion at rate 1.

    thresholds : ndarray of shape (n_thresholds,)
        Infinity, which defers nothing, and the distinct scores, decreasing.

    Raises
    ------
    ValueError
        If an argument is empty, not finite, of another length than the others or out
        of its range, if a label is not among those of the cost matrix, if no answer of
        the second opinion is known, or if `y_first` or `y_second` holds the label that
        stands for rejected or deferred samples by default.

    Warns
    -----
    RejectionWarning
        If the samples that the second opinion was asked about were apparently not drawn
        at random, or if labels are compared and an opinion holds one that neither
        `y_true` nor `labels` has.

    Examples
    --------
    >>> from sklearn_reject.metrics import deferral_curve
    >>> y_true, y_first, y_second = [0, 1, 1, 0], [0, 1, 0, 1], [0, 1, 1, 1]
    >>> rate, risk, thresholds = deferral_curve(
    ...     y_true, y_first, y_second, [0.1, 0.2, 0.9, 0.4]
    ... )
    >>> rate, risk
    (array([0.  , 0.25, 0.5 , 0.75, 1.  ]), array([0.5 , 0.25, 0.25, 0.25, 0.25]))
    >>> thresholds
    array([inf, 0.9, 0.4, 0.2, 0.1])
    """
    samples = scores_and_opinions(y_true, y_first, y_second, gain, loss, labels)
    return curves.deferral_curve(*samples, sample_weight=sample_weight)


@of_arrays
def deferral_area_score(
    y_true: ArrayLike | None,
    y_first: ArrayLike | None,
    y_second: ArrayLike | None,
    gain: ArrayLike,
    *,
    loss: TaskLossLike | tuple[ArrayLike, ArrayLike] = "zero_one",
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    normalize: Literal["excess", "prr"] | None = None,
) -> float:
    """Compute the area under the deferral curve. Lower is better.

    The integral of the system risk over the deferral rate from 0 to 1, in expectation
    over the random order of tied samples: the mean system risk where every budget of
    deferrals is as likely as any other.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or None
        True labels. None where `loss` holds the losses themselves.

    y_first : array-like of shape (n_samples,) or None
        Labels of the first classifier for all samples, deferred or not. None if `loss`
        contains the losses themselves.

    y_second : array-like of shape (n_samples,) or None
        Labels of the second opinion: a stronger model, or a person. None or NaN where
        it was not asked: such samples are ignored, as if those with an answer had been
        drawn at random. None instead of an array if `loss` contains the losses
        themselves.

    gain : array-like of shape (n_samples,)
        Higher = deferred first: an estimate of the gain of asking the second opinion,
        of any sign, or the uncertainty of the first classifier.

    loss : str, array-like of shape (n_classes, n_classes), callable, TaskLoss, or \
            pair of array-like of shape (n_samples,), default="zero_one"
        Cost of a label, as :func:`~sklearn_reject.losses.check_loss` takes it, or the
        losses themselves, (loss_first, loss_second), the latter NaN where the second
        opinion was not asked.

    labels : array-like of shape (n_classes,), default=None
        Labels in the order of the cost matrix, including those that occur in an opinion
        only. None takes the sorted labels that occur.

    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative sample weights. Only their ratios matter.

    normalize : {None, "excess", "prr"}, default=None
        "excess" subtracts the area of the oracle, which sorts the samples by the loss
        of the first opinion minus that of the second: zero is perfect, never negative.
        "prr" is (random - area) / (random - oracle): 1 is perfect, 0 is as good as
        random, **higher is better**. The area of a random order is the mean of both
        risks.

    Returns
    -------
    area : float
        The area, in units of the loss. NaN with a warning under "prr" where the
        losses of both differ by the same in all samples.

    Raises
    ------
    ValueError
        If an argument is empty, not finite, of another length than the others or out
        of its range, if a label is not among those of the cost matrix, if no answer of
        the second opinion is known, or if `y_first` or `y_second` holds the label that
        stands for rejected or deferred samples by default.

    Warns
    -----
    RejectionWarning
        If the samples that the second opinion was asked about were apparently not drawn
        at random, or if labels are compared and an opinion holds one that neither
        `y_true` nor `labels` has.

    Examples
    --------
    >>> from sklearn_reject.metrics import deferral_area_score
    >>> y_true, y_first, y_second = [0, 1, 1, 0], [0, 1, 0, 1], [0, 1, 1, 1]
    >>> deferral_area_score(y_true, y_first, y_second, [0.1, 0.2, 0.9, 0.4])
    0.28125
    >>> deferral_area_score(y_true, y_first, y_second, [0.5] * 4)
    0.375

    Of losses that are known, the second opinion not having been asked about a sample:

    >>> losses = [0, 2.5, 4], [0.5, 0.5, None]
    >>> deferral_area_score(None, None, None, [0.1, 0.2, 0.3], loss=losses)
    0.5625
    """
    samples = scores_and_opinions(y_true, y_first, y_second, gain, loss, labels)
    return curves.deferral_area_score(
        *samples, sample_weight=sample_weight, normalize=normalize
    )


def scores_and_opinions(y_true, y_first, y_second, gain, loss, labels):
    """Return validated gains and the losses of both opinions."""
    losses = losses_of_opinions(y_true, y_first, y_second, loss, labels)
    scores = check_vector(gain, "gain")
    check_same_length(len(losses[0]), gain=scores)
    return scores, *losses
