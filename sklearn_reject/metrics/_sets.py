"""Metrics of sets that are reported, and of true and false positives."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from sklearn_reject import _curves as curves
from sklearn_reject._labels import rate
from sklearn_reject._typing import Label, MatrixLike, SetLossLike
from sklearn_reject._validation import (
    check_option,
    check_same_length,
    check_sample_weight,
    check_vector,
    of_arrays,
)
from sklearn_reject.decoding import AVERAGES, count_sets
from sklearn_reject.losses import check_set_loss
from sklearn_reject.metrics._losses import of_labels


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

    loss : str, callable or SetLoss, default="f1"
        Loss of a set, as :func:`~sklearn_reject.losses.check_set_loss` takes it.

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
    units = {"average": average or "samples", "labels": labels}
    counts = count_sets(y_true, y_pred, groups=groups, pos_label=pos_label, **units)
    losses = loss(*counts)
    if sample_weight is not None:
        if average != "samples" or np.shape(sample_weight) != losses.shape:
            raise ValueError(
                "sample_weight must hold one weight per row or group, shape "
                f"{losses.shape}, for the mean of average='samples', got shape "
                f"{np.shape(sample_weight)} with average={average!r}."
            )
        sample_weight = check_sample_weight(sample_weight, len(losses))
    if average is None:
        return losses
    return float(np.average(losses, weights=sample_weight))


def rated_documents(y_true, y_score, pos_label, unrated_label, sample_weight):
    """Return scores, what is positive, and weights of the rated documents."""
    y_score = check_vector(y_score, "y_score")
    check_same_length(y_score.size, y_true=y_true)
    labels = {"pos_label": pos_label, "unrated_label": unrated_label}
    ratings = rate(y_true, sample_weight=sample_weight, name="y_true", **labels)
    return y_score[ratings.rows], ratings.is_positive, ratings.weight


@of_labels(curves.pn_curve, rated_documents, may_be_masked=("y_true",))
def pn_curve(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    pos_label: Label = None,
    unrated_label: Label = -1,
    sample_weight: ArrayLike | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Count true and false positives among the rated documents at each threshold.

    Point k belongs to the rule that predicts every document positive whose score is at
    least ``thresholds[k]``. Documents that nobody has rated are neither: they never
    count. Neither axis is divided by a total, which is unknown where only what some
    classifier predicted positive was rated (RZMR20).

    Parameters
    ----------
    y_true : array-like of shape (n_documents,)
        Ratings: two classes, and `unrated_label` or a missing value (NaN, None) for
        documents that were not rated.

    y_score : array-like of shape (n_documents,)
        Finite scores, higher = more likely positive.

    pos_label : label, default=None
        The positive class. None is 1 if the classes are 0 and 1, and the last of two
        sorted classes otherwise.

    unrated_label : label, default=-1
        Label of documents that were not rated. None if only missing values mean not
        rated.

    sample_weight : array-like of shape (n_documents,), default=None
        Non-negative weights, such as the inverse of the probability to be rated.

    Returns
    -------
    fp, tp : ndarray of shape (n_thresholds,)
        False and true positives, counts or sums of weights, both from zero to all and
        never falling. Lower `fp` and higher `tp` is better.

    thresholds : ndarray of shape (n_thresholds,)
        Infinity, then the distinct scores of rated documents, decreasing.

    Raises
    ------
    ValueError
        If a score is not finite, an array is of another length, a weight is negative,
        a class has no rated documents, or there are more than two.

    See Also
    --------
    sklearn.metrics.roc_curve : Both axes divided by the totals.

    References
    ----------
    E. Robles, F. Zaidouni, A. Mavromoustaki, P. Refael. Threshold Optimization in
    Multiple Binary Classifiers for Extreme Rare Events using Predicted Positive Data.
    AAAI-MAKE, 2020.

    Examples
    --------
    >>> from sklearn_reject.metrics import pn_curve
    >>> fp, tp, thresholds = pn_curve([1, 0, 1, -1, 0], [0.9, 0.7, 0.7, 0.5, 0.2])
    >>> fp, tp, thresholds
    (array([0., 0., 1., 2.]), array([0., 1., 2., 2.]), array([inf, 0.9, 0.7, 0.2]))
    """


@of_labels(curves.pn_auc_score, rated_documents, may_be_masked=("y_true",))
def pn_auc_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    max_fp: float | None = None,
    normalize: bool = False,
    pos_label: Label = None,
    unrated_label: Label = -1,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Compute the area under true positives against false positives.

    Higher is better. The area of the trapezoids between the points of
    :func:`pn_curve`: the number of pairs of a rated positive and a rated negative that
    the score ranks correctly, ties counted one half.

    Parameters
    ----------
    y_true : array-like of shape (n_documents,)
        Ratings: two classes, and `unrated_label` or a missing value (NaN, None) for
        documents that were not rated.

    y_score : array-like of shape (n_documents,)
        Finite scores, higher = more likely positive.

    max_fp : float > 0, default=None
        The area ends at so many false positives, between two points by the line that
        joins them. None takes all.

    normalize : bool, default=False
        Whether to divide the area by its largest possible value: the number of rated
        positives times that of rated negatives, or times `max_fp`. Without `max_fp`
        that is the area under the ROC curve of the rated documents. Areas of different
        samples, such as folds, are comparable only so.

    pos_label : label, default=None
        The positive class. None is 1 if the classes are 0 and 1, and the last of two
        sorted classes otherwise.

    unrated_label : label, default=-1
        Label of documents that were not rated. None if only missing values mean not
        rated.

    sample_weight : array-like of shape (n_documents,), default=None
        Non-negative weights, such as the inverse of the probability to be rated.

    Returns
    -------
    area : float
        In units of true positives times false positives, or in [0, 1] where
        normalized.

    Raises
    ------
    ValueError
        If a score is not finite, an array is of another length, a weight is negative,
        a class has no rated documents, there are more than two, or `max_fp` is above
        the number of rated negatives.

    See Also
    --------
    sklearn.metrics.roc_auc_score : The same as ``normalize=True``, where all documents
        were rated.

    Examples
    --------
    >>> from sklearn_reject.metrics import pn_auc_score
    >>> y_true, y_score = [1, 0, 1, -1, 0], [0.9, 0.7, 0.7, 0.5, 0.2]
    >>> pn_auc_score(y_true, y_score)
    3.5
    >>> pn_auc_score(y_true, y_score, normalize=True)
    0.875

    As a scorer, for a search or cross-validation:

    >>> from sklearn.metrics import make_scorer
    >>> scorer = make_scorer(
    ...     pn_auc_score,
    ...     response_method=("decision_function", "predict_proba"),
    ...     normalize=True,
    ... )
    """
