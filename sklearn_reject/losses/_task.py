"""Losses of single predictions, behind one interface."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sklearn_reject._typing import TaskLossLike
from sklearn_reject._validation import (
    as_label_array,
    as_real_array,
    check_same_length,
    check_takes,
    check_vector,
    find_missing_labels,
    index_labels,
    refuse_missing_labels,
    refuse_unread,
)


class TaskLoss:
    """Cost of predicting `y_pred` where the truth is `y_true`.

    A subclass writes `_losses`, which gets two label arrays of equal length.
    The loss is non-negative, zero is best and lower is better.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_reject.losses import TaskLoss
    >>> class UnderestimationLoss(TaskLoss):
    ...     def _losses(self, y_true, y_pred):
    ...         return np.maximum(y_true - y_pred, 0)
    >>> UnderestimationLoss().matrix([0, 1])
    array([[0., 0.],
           [1., 0.]])
    """

    #: Whether a prediction may be a vector of several outputs.
    takes_vectors = False

    #: Largest loss that is possible; None where that depends on the labels.
    max_loss: float | None = None

    def __call__(self, y_true: ArrayLike, y_pred: ArrayLike) -> np.ndarray:
        """Return the loss of each sample.

        Parameters
        ----------
        y_true, y_pred : array-like of shape (n_samples,) or (n_samples, n_outputs)
            True and predicted labels or targets. Several outputs where
            `takes_vectors` is set.

        Returns
        -------
        losses : ndarray of shape (n_samples,), dtype float64
            Non-negative, lower is better.

        Raises
        ------
        ValueError
            If the labels are missing, of different lengths or kinds, or if a loss is
            negative or not finite.
        """
        y_true = _label_array(y_true, "y_true", self.takes_vectors)
        y_pred = _label_array(y_pred, "y_pred", self.takes_vectors)
        if y_true.shape[1:] != y_pred.shape[1:]:
            raise ValueError(
                "y_true and y_pred must have the same number of outputs, got shapes "
                f"{y_true.shape} and {y_pred.shape}."
            )
        check_same_length(len(y_true), y_pred=y_pred)
        _check_same_kind(y_true, y_pred, "y_true and y_pred")
        losses = check_vector(self._losses(y_true, y_pred), "losses", non_negative=True)
        check_same_length(len(y_true), losses=losses)
        return losses

    def matrix(self, classes: ArrayLike) -> np.ndarray:
        """Return the losses of every pair of classes.

        Parameters
        ----------
        classes : array-like of shape (n_classes,)
            Labels that index both axes.

        Returns
        -------
        matrix : ndarray of shape (n_classes, n_classes)
            Entry (i, j) is the loss of predicting `classes[j]` for a true
            `classes[i]`.
        """
        classes = np.asarray(classes)
        n_classes = len(classes)
        losses = self(np.repeat(classes, n_classes), np.tile(classes, n_classes))
        return losses.reshape(n_classes, n_classes)

    def _losses(self, y_true, y_pred):
        raise TypeError(f"{type(self).__name__} does not define `_losses`.")

    def __repr__(self):
        return f"{type(self).__name__}()"


class ZeroOneLoss(TaskLoss):
    """One for a wrong label, zero for the right one: [y_pred != y_true].

    Examples
    --------
    >>> from sklearn_reject.losses import ZeroOneLoss
    >>> ZeroOneLoss()(["cat", "dog"], ["cat", "cat"])
    array([0., 1.])
    """

    max_loss = 1.0

    def _losses(self, y_true, y_pred):
        return (y_true != y_pred).astype(np.float64)


class AbsoluteLoss(TaskLoss):
    """Absolute difference of numeric labels: abs(y_pred - y_true).

    Suits ordinal classes, in units of the label. The mean over several outputs.

    Examples
    --------
    >>> from sklearn_reject.losses import AbsoluteLoss
    >>> AbsoluteLoss()([1, 5], [2, 2])
    array([1., 3.])
    """

    takes_vectors = True

    def _losses(self, y_true, y_pred):
        return _mean_difference(y_true, y_pred, power=1)


class SquaredLoss(TaskLoss):
    """Squared difference of numeric labels: (y_pred - y_true) ** 2.

    The mean over several outputs.

    Examples
    --------
    >>> from sklearn_reject.losses import check_loss
    >>> check_loss("squared")([1, 5], [2, 2])
    array([1., 9.])
    """

    takes_vectors = True

    def _losses(self, y_true, y_pred):
        return _mean_difference(y_true, y_pred, power=2)


class CostMatrixLoss(TaskLoss):
    """Task loss that is read from a cost matrix.

    Parameters
    ----------
    costs : {array-like, dataframe} of shape (n_classes, n_classes)
        Entry (i, j) is the cost of predicting `labels[j]` for a true `labels[i]`.
        Finite and non-negative. A data frame has true labels as its index and predicted
        labels as its columns, each label once in both, in any order.

    labels : array-like of shape (n_classes,), default=None
        Distinct labels in the order of the rows and columns. A data frame says itself
        where a label is, and these are labels that it must have, not all of them. None
        is for data frames only.

    Raises
    ------
    ValueError
        If the labels are not distinct, those of a data frame are not what they should
        be, or the costs are not square, finite, non-negative and of the size of
        `labels`.

    Examples
    --------
    >>> from sklearn_reject.losses import CostMatrixLoss
    >>> loss = CostMatrixLoss([[0, 1], [10, 0]], labels=["healthy", "ill"])
    >>> loss(["ill", "healthy"], ["healthy", "ill"])
    array([10.,  1.])
    """

    def __init__(self, costs: ArrayLike, labels: ArrayLike | None = None) -> None:
        if hasattr(costs, "columns"):
            costs, labels = _read_frame(costs, labels)
            mixed = np.array(labels, dtype=object)
            _check_same_kind(mixed, mixed, "The labels of the cost matrix")
        self.labels = np.asarray(labels)
        if self.labels.ndim != 1 or len(np.unique(self.labels)) != len(self.labels):
            raise ValueError(
                "labels must be a vector of distinct labels, got "
                f"{self.labels.tolist()}."
            )
        self.costs = _check_cost_matrix(costs, len(self.labels))
        self.max_loss = float(self.costs.max())

    def _losses(self, y_true, y_pred):
        return self.costs[self._index(y_true, "y_true"), self._index(y_pred, "y_pred")]

    def _index(self, labels, name):
        _check_same_kind(
            labels, self.labels, f"{name} and the labels of the cost matrix"
        )
        index, unseen = index_labels(labels, self.labels)
        if unseen.any():
            raise ValueError(
                f"{name} holds the label {labels[unseen].tolist()[0]!r}, which is not "
                f"one of the labels {self.labels.tolist()} of the cost matrix. Add a "
                "row and a column for it, or pass the full `labels`."
            )
        return index

    def __repr__(self):
        return f"CostMatrixLoss(labels={self.labels.tolist()})"


class CallableLoss(TaskLoss):
    """A user's function ``(y_true, y_pred) -> losses of shape (n_samples,)``.

    Parameters
    ----------
    function : callable
        Gets two arrays of labels or targets of equal shape, returns one non-negative
        number a sample.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_reject.losses import check_loss
    >>> late = check_loss(lambda y_true, y_pred: np.maximum(y_true - y_pred, 0))
    >>> late([3, 1], [1, 3])
    array([2., 0.])

    Predictions may have several outputs:

    >>> distance = check_loss(lambda y_true, y_pred: np.hypot(*(y_pred - y_true).T))
    >>> distance([[0.0, 0.0]], [[3.0, 4.0]])
    array([5.])
    """

    takes_vectors = True

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function

    def _losses(self, y_true, y_pred):
        return self.function(y_true, y_pred)

    def __repr__(self):
        return f"CallableLoss({self.function!r})"


# What each name stands for.
_LOSSES = {"absolute": AbsoluteLoss, "squared": SquaredLoss, "zero_one": ZeroOneLoss}


def check_loss(loss: TaskLossLike, *, labels: ArrayLike | None = None) -> TaskLoss:
    """Turn what a user gives as `loss` into a loss object.

    Parameters
    ----------
    loss : {"zero_one", "absolute", "squared"}, {array-like, dataframe} of shape \
            (n_classes, n_classes), callable or TaskLoss
        A name, a cost matrix (true label by row, predicted label by column), or a
        function ``(y_true, y_pred) -> (n_samples,)``. A data frame of costs is read by
        its labels: true ones are its index, predicted ones its columns.

    labels : array-like of shape (n_classes,), default=None
        Labels in the order of the cost matrix. Needed for a cost matrix only; a data
        frame must have them all.

    Returns
    -------
    loss : TaskLoss
        The loss object.

    Raises
    ------
    ValueError
        If the name is unknown, or the cost matrix is not square, finite,
        non-negative and of the size of `labels`, or a data frame has not the same
        labels by row and by column, and `labels` among them.

    Examples
    --------
    >>> from sklearn_reject.losses import check_loss
    >>> check_loss("absolute")
    AbsoluteLoss()
    >>> check_loss([[0, 1], [5, 0]], labels=[0, 1])
    CostMatrixLoss(labels=[0, 1])

    A data frame is read by its labels, whatever their order:

    >>> import pandas as pd
    >>> names = ["malignant", "benign"]
    >>> costs = pd.DataFrame([[0, 10], [1, 0]], index=names, columns=names)
    >>> check_loss(costs, labels=["benign", "malignant"])(["malignant"], ["benign"])
    array([10.])
    """
    if isinstance(loss, TaskLoss):
        return loss
    if isinstance(loss, str) and loss in _LOSSES:
        return _LOSSES[loss]()
    if callable(loss) and not isinstance(loss, type):
        check_takes(loss, "loss", "y_true", "y_pred")
        return CallableLoss(loss)
    if hasattr(loss, "columns") and not isinstance(loss, type):
        return CostMatrixLoss(loss, labels)
    if labels is None or loss is None or np.isscalar(loss) or isinstance(loss, type):
        shape = np.shape(loss)
        given = f"an array of shape {shape}" if shape else repr(loss)
        raise ValueError(
            f"loss must be one of {sorted(_LOSSES)}, a callable, or a cost matrix with "
            f"`labels`, got {given}."
        )
    return CostMatrixLoss(loss, labels)


def _mean_difference(y_true, y_pred, power):
    """Return abs(y_pred - y_true) to a power, the mean over several outputs."""
    if y_true.dtype.kind not in "biuf" or y_pred.dtype.kind not in "biuf":
        raise ValueError(
            "loss, a difference, needs numeric labels, got labels of dtype "
            f"{y_true.dtype} and {y_pred.dtype}. Encode the labels as numbers, or pass "
            "a cost matrix."
        )
    # Unsigned labels would wrap and bool labels cannot be subtracted.
    losses = np.abs(y_pred.astype(np.float64) - y_true.astype(np.float64)) ** power
    return losses if losses.ndim == 1 else losses.mean(axis=1)


def _label_array(labels, name, takes_vectors):
    """Return labels as a vector without gaps, or several outputs as finite numbers."""
    refuse_unread(labels, name)
    array = np.asarray(labels)
    if array.ndim == 2 and array.shape[1] != 1 and takes_vectors:
        if array.dtype.kind not in "biuf" or not np.isfinite(array).all():
            raise ValueError(
                f"{name} with multiple outputs must hold finite numbers, got an array "
                f"of dtype {array.dtype}."
            )
        return array
    array = _as_vector(array, name)
    if array.size == 0:
        raise ValueError(f"{name} is empty. At least one sample is needed.")
    refuse_missing_labels(array, name)
    return array


def _as_vector(array, name):
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise ValueError(
            f"{name} must be a vector of labels of shape (n_samples,), got an array of "
            f"shape {array.shape}."
        )
    return array


def _check_same_kind(first, second, names):
    """Raise where some of two arrays of labels are text and others are numbers."""
    kinds = set()  # `float` stands for all numbers
    for array in (first, second):
        if array.dtype.kind == "O":
            types = set(map(type, array.tolist()))
            kinds |= {kind if kind in (str, bytes) else float for kind in types}
        else:
            kinds.add({"U": str, "T": str, "S": bytes}.get(array.dtype.kind, float))
    if len(kinds) > 1:
        raise ValueError(
            f"{names} mix strings and numbers ({first.dtype} and {second.dtype}), so "
            "labels could never be equal. Use labels of one kind."
        )


def _check_cost_matrix(costs, n_classes):
    try:
        matrix = as_real_array(costs, "loss").astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"loss must be a name, a callable or a numeric cost matrix, got {costs!r}."
        ) from error
    if matrix.shape != (n_classes, n_classes):
        raise ValueError(
            f"loss is a cost matrix of shape {matrix.shape} for {n_classes} labels: it "
            f"must have shape ({n_classes}, {n_classes}), a row for each true label. "
            "Pass `labels` if some labels do not occur in the data."
        )
    name = "loss (the cost matrix, row by row)"
    check_vector(matrix.ravel(), name, non_negative=True)
    return matrix


def _read_frame(costs, labels):
    """Return the costs of a data frame as an array, and the labels of its axes.

    Those of `labels`, which it must have, come first; None is for all that it has.
    """
    rows = costs.index.tolist() if hasattr(costs, "index") else []
    columns = list(costs.columns)
    needed = rows if labels is None else np.asarray(labels).tolist()
    order = needed + [label for label in rows if label not in needed]
    axes = (rows, columns)
    if any(len(axis) != len(order) or set(axis) != set(order) for axis in axes):
        raise ValueError(
            f"loss is a data frame with rows {rows} and columns {columns}, but needs "
            f"the same labels, each once, and {needed} among them. Label both axes, or "
            "pass `.to_numpy()` with true labels by row, in sorted order."
        )
    places = [[axis.index(label) for label in order] for axis in axes]
    return costs.to_numpy()[np.ix_(*places)], order


# Losses of labels that are not known of every sample, as those of an expert


def label_array(labels, n_samples, name):
    """Return labels, some of which may be missing, and which are there.

    Both have shape (n_samples,); missing are None, NaN, NaT, NA and what is masked.
    """
    array = _as_vector(np.asanyarray(as_label_array(labels)), name)  # with its mask
    check_same_length(n_samples, **{name: array})
    return np.asarray(array), ~find_missing_labels(array)


def labels_or_none(labels, n_samples, name):
    """Return labels as objects, None where they are missing, shape (n_samples,)."""
    labels, is_known = label_array(labels, n_samples, name)
    labels = labels.astype(object)
    labels[~is_known] = None
    return labels


def losses_where_known(loss, y_true, labels, name):
    """Return the loss of each label, NaN where it is missing, shape (n_samples,)."""
    labels, is_known = label_array(labels, len(y_true), name)
    losses = np.full(len(labels), np.nan)
    if not is_known.any():
        return losses
    # Gaps may have made objects of numbers.
    known = labels[is_known]
    known = np.array(known.tolist()) if known.dtype.kind == "O" else known
    try:
        losses[is_known] = loss(np.asarray(y_true)[is_known], known)
    except ValueError as error:
        raise ValueError(f"{name}, as y_pred: {error}") from error
    return losses
