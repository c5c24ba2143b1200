"""The mean cost of samples, some of which are rejected."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.multiclass import unique_labels

from sklearn_reject._typing import TaskLossLike
from sklearn_reject._validation import (
    as_label_array,
    check_flags,
    check_number,
    check_same_length,
    check_sample_weight,
    check_vector,
    find_missing_labels,
    of_arrays,
)
from sklearn_reject.metrics._losses import (
    is_table,
    is_vector,
    losses_of,
    refuse_reject_label,
    without_gaps,
)


@of_arrays
def selective_cost_score(
    y_true: ArrayLike | None,
    y_pred: ArrayLike | None,
    accepted: ArrayLike,
    *,
    reject_cost: ArrayLike,
    loss: TaskLossLike = "zero_one",
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Compute the mean cost per sample: its loss, or the cost of a rejection.

    Lower is better. What stands in `y_true` and `y_pred` at rejected samples does not
    matter, so that `y_pred` may be what `predict` returns.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,) or (n_samples, n_outputs), or None
        True labels or targets, and predictions. Rejected samples may have any: the
        label that says so, NaN, or None. None where `loss` holds the losses themselves.

    accepted : array-like of bool of shape (n_samples,)
        Which samples are accepted, as
        :meth:`~sklearn_reject.SelectiveClassifier.accept` returns it.

    reject_cost : float >= 0 or array-like of shape (n_samples,)
        Cost of a rejected sample, in units of the loss: one for all, or one a sample.

    loss : str, array-like of shape (n_classes, n_classes), callable, TaskLoss, or \
            array-like of shape (n_samples,), default="zero_one"
        Cost of a prediction, as :func:`~sklearn_reject.losses.check_loss` takes it, or
        the losses themselves, one per sample; those of rejected samples are ignored.

    labels : array-like of shape (n_classes,), default=None
        Labels in the order of the cost matrix, including those that occur in `y_pred`
        only. None takes the sorted labels that occur.

    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative sample weights. Only their ratios matter.

    Returns
    -------
    cost : float
        The weighted mean, in units of the loss.

    Raises
    ------
    ValueError
        If an argument is empty, not finite, of another length than the others or out
        of its range, if a label is not among those of the cost matrix, or if `y_pred`
        holds the label that stands for rejected samples by default where a sample is
        accepted.

    Warns
    -----
    RejectionWarning
        If labels are compared and an accepted sample has one in `y_pred` that neither
        `y_true` nor `labels` has, which may be a reject label.

    See Also
    --------
    get_selective_scorer : Minus this cost as a scorer, by "neg_selective_cost".

    Examples
    --------
    >>> from sklearn_reject.metrics import selective_cost_score
    >>> y_true, y_pred = [0, 1, 1, 0], [0, 1, 0, -1]
    >>> accepted = [True, True, True, False]
    >>> selective_cost_score(y_true, y_pred, accepted, reject_cost=0.2)
    0.3
    """
    accepted = check_flags(accepted, "accepted")
    costs = _reject_costs(reject_cost, len(accepted))
    costs[accepted] = _accepted_losses(y_true, y_pred, accepted, loss, labels)
    weight = check_sample_weight(sample_weight, len(costs))
    return float(np.average(costs, weights=weight))


def _reject_costs(reject_cost, n_samples):
    """Return the cost of rejecting each sample, as an array of its own."""
    if np.ndim(reject_cost) == 0:
        cost = check_number(reject_cost, "reject_cost")
        return check_vector(np.full(n_samples, cost), "accepted", non_negative=True)
    costs = check_vector(reject_cost, "reject_cost", non_negative=True)
    check_same_length(n_samples, reject_cost=costs)
    return costs.copy()


def _accepted_losses(y_true, y_pred, accepted, loss, labels):
    """Return the losses of the accepted samples, the others not being looked at."""
    if is_vector(loss):
        check_same_length(len(accepted), loss=loss)
        if not accepted.any():
            return np.empty(0)
        # Rows of messages are those of all samples.
        loss = np.where(accepted, np.asarray(loss), 0.0)
        return losses_of(None, None, loss, None)[accepted]
    if y_true is None or y_pred is None:
        return losses_of(y_true, y_pred, loss, labels)  # which raises
    y_true, y_pred = (np.asanyarray(as_label_array(y)) for y in (y_true, y_pred))
    check_same_length(len(accepted), y_true=y_true, y_pred=y_pred)
    if not accepted.any():
        return np.empty(0)
    labels = _labels_of_all(y_true, y_pred, accepted, loss, labels)
    chosen = (without_gaps(y, accepted) for y in (y_true, y_pred))
    return losses_of(*chosen, loss, labels)


def _labels_of_all(y_true, y_pred, accepted, loss, labels):
    """Return labels, those that occur where None; rejected samples have true ones."""
    is_vector_of_labels = max(y_true.ndim, y_pred.ndim) == 1 or y_true.shape[1:] == (1,)
    if labels is not None or not is_vector_of_labels:
        return labels
    y_true = y_true.reshape(-1)
    known = without_gaps(y_true, ~find_missing_labels(y_true))
    if not is_table(loss):
        return np.unique(known)
    predicted = without_gaps(y_pred.reshape(-1), accepted)
    refuse_reject_label(known, predicted)
    return unique_labels(known, predicted)
