"""Realized losses of predicted sets."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from sklearn_reject._typing import Label, MatrixLike, SetLossLike
from sklearn_reject._validation import check_option, check_sample_weight, of_arrays
from sklearn_reject.decoding import AVERAGES, count_sets
from sklearn_reject.losses import check_set_loss


@of_arrays
def set_loss(
    y_true: MatrixLike,
    y_pred: MatrixLike,
    *,
    loss: SetLossLike = "f1",
    beta: float = 1.0,
    zero_division: float = 0.0,
    groups: ArrayLike | None = None,
    pos_label: Label = None,
    labels: ArrayLike | None = None,
    average: Literal["samples", "macro", "micro"] | None = "samples",
    sample_weight: ArrayLike | None = None,
) -> Any:
    """Compute the loss of predicted sets from their confusion matrices.

    Lower is better. What a set is depends on the shapes:

    - `y_true` and `y_pred` of shape (n_samples,), two labels: the samples are one set,
      or one for each of the `groups`.
    - Both of shape (n_samples, n_labels), indicators: each row is a set, as in
      multilabel problems, or those of `average`.
    - `y_true` of shape (n_samples,), labels, and `y_pred` of shape (n_samples,
      n_labels), indicators: each row is a set of classes, one of which is the true one.

    Parameters
    ----------
    y_true : {array-like, sparse matrix} of shape (n_samples,) or (n_samples, n_labels)
        True labels, or indicators of the positive items, 0 and 1.

    y_pred : {array-like, sparse matrix} of shape (n_samples,) or (n_samples, n_labels)
        Predicted labels, or indicators of the predicted items, 0 and 1.

    loss : str or callable, default="f1"
        Loss of a set, as :func:`~sklearn_reject.decoding.decode` takes it.

    beta : float > 0, default=1.0
        Weight of recall in the loss "f_beta", the only one that takes it.

    zero_division : float in [0, 1], default=0.0
        What a score is where it is 0/0, as in the metrics of scikit-learn.

    groups : array-like of shape (n_samples,), default=None
        The set of each sample, where both are vectors.

    pos_label : label, default=None
        Label of the positive samples, where both are vectors. None is the last of the
        sorted labels that occur, as for :class:`~sklearn_reject.ExpectedLossDecoder`.
        Where only one occurs, 0, -1 and False are negative, 1 and True are positive,
        and any other is an error. Give it where sets that hold but one label are to be
        compared with others.

    labels : array-like of shape (n_labels,), default=None
        Classes in the order of the columns, where only `y_true` is a vector. None takes
        the sorted labels that occur.

    average : {"samples", "macro", "micro"} or None, default="samples"
        The mean over which sets is returned. "samples" are the rows of a matrix or, of
        vectors, the groups; "macro" the columns; "micro" is one set of all entries. The
        last two are for matrices. None returns the loss of each row or group.

    sample_weight : array-like of shape (n_sets,), default=None
        Non-negative weights of the rows or groups in the mean.

    Returns
    -------
    loss : float or ndarray of shape (n_sets,)
        The mean loss, or that of each set: in the order of the rows or of the sorted
        groups. In [0, 1], but for a loss of the user.

    Raises
    ------
    ValueError
        If the shapes or kinds of labels do not fit, there are more than two labels in
        vectors, `pos_label` is not one of them, or is needed to tell what the only
        label is, something is masked, an indicator is not 0 or 1, a class is not among
        `labels`, there is no set, vectors come with "macro" or "micro", or a parameter
        is out of its range.

    See Also
    --------
    sklearn_reject.decoding.decode : The set of the least expected loss.
    sklearn.metrics.fbeta_score : One minus the loss "f_beta" of one set or, with an
        `average` of the same name, of rows, columns or all entries.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_reject.metrics import set_loss
    >>> round(set_loss([0, 1, 1, 0], [0, 1, 0, 1]), 3)
    0.5

    Two sets, whose loss is shown one by one:

    >>> set_loss([0, 1, 1, 0], [0, 1, 0, 1], groups=[0, 0, 1, 1], average=None)
    array([0., 1.])

    Three labels of two samples, the rows or the columns being the sets:

    >>> y_true, y_pred = [[1, 0, 1], [1, 0, 0]], [[1, 0, 1], [0, 0, 1]]
    >>> set_loss(y_true, y_pred)
    0.5
    >>> round(set_loss(y_true, y_pred, average="macro"), 3)
    0.556

    Sets of classes, of which one is right:

    >>> sets = np.array([[1, 1, 0], [0, 1, 0]])
    >>> set_loss(["a", "b"], sets, labels=["a", "b", "c"], loss="jaccard")
    0.25
    """
    loss = check_set_loss(loss, beta=beta, zero_division=zero_division)
    check_option(average, "average", (*AVERAGES, None))
    counts = count_sets(
        y_true,
        y_pred,
        groups=groups,
        pos_label=pos_label,
        labels=labels,
        average=average or "samples",
    )
    losses = loss(*counts)
    weight = _check_weight(sample_weight, average, len(losses))
    if average is None:
        return losses
    return float(np.average(losses, weights=weight))


def _check_weight(sample_weight, average, n_sets):
    if sample_weight is None:
        return None
    if average is None:
        raise ValueError(
            "sample_weight weighs the sets in their mean, but average=None returns the "
            "loss of each set. Omit one of the two."
        )
    if average != "samples":
        raise ValueError(
            f"sample_weight weighs rows, but with average={average!r} rows are items "
            "of a set and have no weights. Omit sample_weight, or use "
            "average='samples'."
        )
    if np.shape(sample_weight) != (n_sets,):
        raise ValueError(
            f"sample_weight must hold one weight per set, shape ({n_sets},), got shape "
            f"{np.shape(sample_weight)}. Samples within a set are not weighted."
        )
    return check_sample_weight(sample_weight, n_sets)
