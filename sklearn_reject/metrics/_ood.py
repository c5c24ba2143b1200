"""How a score separates ID from OOD samples, and the risk where it accepts both."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import UndefinedMetricWarning

from sklearn_reject import _curves as curves
from sklearn_reject._labels import (
    is_automatic,
    label_vector,
    split_origin,
    warn_of_unknown_labels,
)
from sklearn_reject._typing import Label, TaskLossLike
from sklearn_reject._validation import (
    check_extended_vector,
    check_number,
    check_same_length,
    check_sample_weight,
    check_vector,
)
from sklearn_reject.exceptions import warn_user
from sklearn_reject.metrics._inside import find
from sklearn_reject.metrics._losses import is_vector, judge, losses_of, of_labels
from sklearn_reject.selection import (
    InfeasibleTargetError,
    tune_double_score,
    tune_single_score,
)


def scores_and_origins(y_true, uncertainty, novelty, ood_label):
    """Return the score, or two of them as columns, and which samples are OOD."""
    is_ood = _find_ood(y_true, ood_label)[1]
    return _score_columns(uncertainty, novelty, len(is_ood)), is_ood


def ood_samples(
    y_true, y_pred, uncertainty, novelty, ood_label, loss="zero_one", labels=None
):
    """Return scores, losses and which samples are OOD, whose losses are zero."""
    if is_vector(loss):
        _, is_ood = _find_ood(y_true, ood_label)
        check_same_length(len(is_ood), loss=loss)
        losses = np.where(is_ood, 0.0, np.asarray(loss))
        losses = check_vector(losses, "loss", non_negative=True)
    else:
        y_true = label_vector(y_true, "y_true")
        if y_pred is None:
            losses_of(y_true, y_pred, loss, labels)  # which raises
        y_pred = label_vector(y_pred, "y_pred")
        check_same_length(len(y_true), y_pred=y_pred)
        label, is_ood = _find_ood(y_true, ood_label, y_pred)
        _refuse_ood_class(label, y_pred, "y_pred holds")
        losses, inside = np.zeros(len(y_true)), ~is_ood
        losses[inside] = losses_of(y_true[inside], y_pred[inside], loss, labels)
    return _score_columns(uncertainty, novelty, len(is_ood)), losses, is_ood


def _find_ood(y_true, ood_label, known=()):
    """Return the OOD label, and which samples have it; some must not.

    `known` are labels that a classifier predicts. It has two classes at least: where it
    predicts -1, and there is no more than one other label, "auto" takes -1 for a class.
    """
    y_true, known = label_vector(y_true, "y_true"), set(np.asarray(known).tolist())
    classes = ()
    if -1 in known and len(known | set(y_true.tolist())) <= 2:
        classes = (-1,)
    label, is_ood = split_origin(y_true, ood_label, classes)
    if is_ood.size and is_ood.all():
        raise ValueError(
            f"y_true holds the OOD label {label!r} only. At least one ID sample is "
            "needed to measure the share that is accepted."
        )
    return label, is_ood


def _refuse_ood_class(label, classes, who):
    """Raise where the OOD label is a class; `who` holds these classes."""
    if label is not None and label in set(np.asarray(classes).tolist()):
        raise ValueError(
            f"{who} the OOD label {label!r}, but predictions must be classes. Pass "
            "those of `predict_label`, fit the classifier without OOD samples (in "
            "DoubleScoreOODClassifier), or pass another ood_label, None without any."
        )


def ood_label_for(estimator, y, y_pred, ood_label):
    """Return the OOD label where an estimator is judged, and which samples have it.

    "auto" is the one that the estimator, or the one inside, was fitted with. It must be
    no class of the estimator, while labels of ID samples are.
    """
    refuse_wild(estimator, y)
    if is_automatic(ood_label):
        inner, _ = find(estimator, "ood_label_")
        ood_label = getattr(inner, "ood_label_", ood_label)
    classes = getattr(estimator, "classes_", None)
    known = np.asarray(y_pred if classes is None else classes)
    label, is_ood = _find_ood(y, ood_label, known)
    name = type(estimator).__name__
    _refuse_ood_class(label, known, f"The classes of {name} hold")
    if classes is not None:
        id_labels = label_vector(y)[~is_ood]
        warn_of_unknown_labels(id_labels, known, f"ood_label={label!r}", name)
    return label, is_ood


def refuse_wild(estimator, y):
    """Raise for unlabeled samples, of which no prediction is right or wrong."""
    inner, _ = find(estimator, "ood_label_")
    label = getattr(inner, "wild_label", None)
    if label is not None and label in set(label_vector(y).tolist()):
        raise ValueError(
            f"y holds wild_label={label!r}, but a metric must know which samples are "
            "OOD. Mark them by the ood_label, or use `score` or `report`."
        )


def judge_inside(estimator, y, y_pred, is_ood, loss=None, labels=None):
    """Return the losses of predictions of an estimator, zero for OOD samples."""
    y, y_pred = label_vector(y), label_vector(y_pred, "y_pred")
    losses, inside = np.zeros(len(y)), ~is_ood
    losses[inside] = judge(estimator, y[inside], y_pred[inside], loss, labels)
    return losses


def _score_columns(uncertainty, novelty, n_samples):
    """Return one score of shape (n_samples,), or two of shape (n_samples, 2)."""
    check = check_extended_vector if novelty is None else check_vector
    uncertainty = check(uncertainty, "uncertainty")
    check_same_length(n_samples, uncertainty=uncertainty)
    if novelty is None:
        return uncertainty
    novelty = check_extended_vector(novelty, "novelty")
    check_same_length(n_samples, novelty=novelty)
    return np.column_stack([uncertainty, novelty])


def check_bound(value, name):
    """Return a share that is to be reached, or not to be exceeded, as a float."""
    if name == "ood_prior":
        return curves.check_ood_prior(value)
    return check_number(value, name, high=1.0, open_low=name != "max_fpr")


def _risk_within(
    scores, losses, is_ood, *, infeasible, randomize, sample_weight, **bounds
):
    """Return the risk of the best rule of one score or two, or what stands for none."""
    bounds = {name: check_bound(value, name) for name, value in bounds.items()}
    if not np.isnan(infeasible):
        check_number(infeasible, "infeasible")
    weight = check_sample_weight(sample_weight, len(is_ood))
    if not (is_ood if weight is None else is_ood & (weight > 0)).any():
        return curves.undefined_without_ood("The selective risk at bounds")
    tune = tune_single_score if scores.ndim == 1 else tune_double_score
    options = {"randomize": randomize, "sample_weight": weight, **bounds}
    try:
        rule = tune(*np.atleast_2d(scores.T), losses, is_ood, **options)
    except InfeasibleTargetError as error:
        if np.isnan(infeasible):
            message = f"{error} The selective risk is set to NaN."
            warn_user(message, UndefinedMetricWarning)
        return float(infeasible)
    return float(rule.selective_risk)


@of_labels(curves.ood_auroc_score, scores_and_origins)
def ood_auroc_score(
    y_true: ArrayLike,
    uncertainty: ArrayLike,
    *,
    novelty: ArrayLike | None = None,
    ood_label: Label = "auto",
    sample_weight: ArrayLike | None = None,
) -> float:
    """Compute the area under the ROC curve of ID against OOD. Higher is better.

    The probability that an OOD sample has a higher score than an ID sample, ties
    counted one half: the same whichever of the two is the positive class.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True labels, and `ood_label` for OOD samples.

    uncertainty : array-like of shape (n_samples,)
        Uncertainty or novelty of each sample, higher = rejected first. Infinite values
        are the lowest and the highest. Must be finite if `novelty` is given.

    novelty : array-like of shape (n_samples,), default=None
        A second score, higher = more novel. The value is then that of the best
        direction: the largest area over the weighted sums of both on a grid of 181.

    ood_label : "auto", None or label, default="auto"
        Label of OOD samples in `y_true`. "auto" is "ood" for strings and -1 for
        numbers. With None no sample is OOD.

    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative sample weights.

    Returns
    -------
    area : float
        In [0, 1], 0.5 for a random score. NaN with a warning without OOD samples.

    Raises
    ------
    ValueError
        If an argument is empty, NaN, of another length than the others or out of its
        range, or if there are no ID samples.

    Examples
    --------
    >>> from sklearn_reject.metrics import ood_auroc_score
    >>> ood_auroc_score([0, -1, 1, -1], [0.1, 0.4, 0.4, 0.8])
    0.875
    """


@of_labels(curves.ood_aupr_score, scores_and_origins)
def ood_aupr_score(
    y_true: ArrayLike,
    uncertainty: ArrayLike,
    *,
    positive: Literal["id", "ood"],
    novelty: ArrayLike | None = None,
    ood_label: Label = "auto",
    ood_prior: float | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Compute the area under the precision-recall curve. Higher is better.

    The average precision, as :func:`sklearn.metrics.average_precision_score` has it.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True labels, and `ood_label` for OOD samples.

    uncertainty : array-like of shape (n_samples,)
        Uncertainty or novelty of each sample, higher = rejected first. Infinite values
        are the lowest and the highest. Must be finite if `novelty` is given.

    positive : {"id", "ood"}
        The positive class: "id" ranks the ID samples first, by the lowest score
        ("AUPR-in", and the AUPR of FPP23), "ood" the OOD samples, by the highest
        ("AUPR-out"). The two areas are different numbers.

    novelty : array-like of shape (n_samples,), default=None
        A second score, higher = more novel. The value is then that of the best
        direction: the largest area over the weighted sums of both on a grid of 181.

    ood_label : "auto", None or label, default="auto"
        Label of OOD samples in `y_true`. "auto" is "ood" for strings and -1 for
        numbers. With None no sample is OOD.

    ood_prior : float in (0, 1), default=None
        Share of OOD that the precision is for. None takes the share in the sample.

    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative sample weights.

    Returns
    -------
    area : float
        In [0, 1]. NaN with a warning without OOD samples.

    Raises
    ------
    ValueError
        If an argument is empty, NaN, of another length than the others or out of its
        range, or if there are no ID samples.

    Examples
    --------
    >>> from sklearn_reject.metrics import ood_aupr_score
    >>> y_true, uncertainty = [0, -1, 1, 1], [0.1, 0.2, 0.3, 0.4]
    >>> round(ood_aupr_score(y_true, uncertainty, positive="id"), 4)
    0.8056
    >>> round(ood_aupr_score(y_true, uncertainty, positive="ood"), 4)
    0.3333
    """


@of_labels(curves.fpr_at_tpr_score, scores_and_origins)
def fpr_at_tpr_score(
    y_true: ArrayLike,
    uncertainty: ArrayLike,
    *,
    positive: Literal["id", "ood"],
    tpr: float = 0.95,
    novelty: ArrayLike | None = None,
    ood_label: Label = "auto",
    sample_weight: ArrayLike | None = None,
) -> float:
    """Compute the false positive rate where the true positive rate reaches a value.

    Lower is better.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True labels, and `ood_label` for OOD samples.

    uncertainty : array-like of shape (n_samples,)
        Uncertainty or novelty of each sample, higher = rejected first. Infinite values
        are the lowest and the highest. Must be finite if `novelty` is given.

    positive : {"id", "ood"}
        With "id" the value is the share of OOD samples accepted where at least `tpr` of
        the ID samples are; with "ood" the share of ID samples rejected where at least
        `tpr` of the OOD samples are.

    tpr : float in (0, 1], default=0.95
        True positive rate to reach. Tied samples are taken together.

    novelty : array-like of shape (n_samples,), default=None
        A second score, higher = more novel. The value is then that of the best
        direction: the smallest rate over the weighted sums of both on a grid of 181.

    ood_label : "auto", None or label, default="auto"
        Label of OOD samples in `y_true`. "auto" is "ood" for strings and -1 for
        numbers. With None no sample is OOD.

    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative sample weights.

    Returns
    -------
    fpr : float
        In [0, 1]. NaN with a warning without OOD samples.

    Raises
    ------
    ValueError
        If an argument is empty, NaN, of another length than the others or out of its
        range, or if there are no ID samples.

    Examples
    --------
    >>> from sklearn_reject.metrics import fpr_at_tpr_score
    >>> y_true, uncertainty = [0, -1, 1, -1], [0.1, 0.2, 0.3, 0.4]
    >>> fpr_at_tpr_score(y_true, uncertainty, positive="id")
    0.5
    """


@of_labels(_risk_within, ood_samples)
def selective_risk_at_tpr_fpr_score(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    uncertainty: ArrayLike,
    *,
    novelty: ArrayLike | None = None,
    min_tpr: float,
    max_fpr: float,
    ood_label: Label = "auto",
    loss: TaskLossLike = "zero_one",
    labels: ArrayLike | None = None,
    randomize: bool = False,
    infeasible: float = float("nan"),
    sample_weight: ArrayLike | None = None,
) -> float:
    """Compute the lowest selective risk under bounds on TPR and FPR.

    The risk of the best threshold that accepts at least the share `min_tpr` of the ID
    samples and at most the share `max_fpr` of the OOD samples (FPP23, problem 13).

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        True labels, `ood_label` for OOD samples; and predicted ones of all samples, as
        `predict_label` gives them: classes, which are ignored for OOD samples. None as
        `y_pred` if `loss` contains the losses themselves.

    uncertainty : array-like of shape (n_samples,)
        Uncertainty or novelty of each sample, higher = rejected first. Minus infinity
        is always accepted, infinity never. Must be finite if `novelty` is given.

    novelty : array-like of shape (n_samples,), default=None
        A second score, higher = more novel. `uncertainty` is then the risk score, and
        both are combined by :func:`~sklearn_reject.selection.tune_double_score`.

    min_tpr : float in (0, 1]
        Least share of ID samples to accept.

    max_fpr : float in [0, 1]
        Largest share of OOD samples to accept.

    ood_label : "auto", None or label, default="auto"
        Label of OOD samples in `y_true`. "auto" is "ood" for strings and -1 for
        numbers; but -1 is a class, and no sample is OOD, if `y_pred` contains it and
        there is only one other label. With None no sample is OOD.

    loss : str, array-like of shape (n_classes, n_classes), callable, TaskLoss, or \
            array-like of shape (n_samples,), default="zero_one"
        Cost of a wrong label, as :func:`~sklearn_reject.losses.check_loss` takes it, or
        the losses themselves, one per sample, which are ignored for OOD samples.

    labels : array-like of shape (n_classes,), default=None
        Labels in the order of the cost matrix, including those that occur in `y_pred`
        only. None takes the sorted labels of the ID samples, true and predicted.

    randomize : bool, default=False
        If False, samples tied at the threshold are accepted together or not at all. If
        True, a share of them may be accepted, and the risk is an expectation.

    infeasible : float >= 0, default=nan
        Value to return if no rule meets both bounds. NaN comes with a warning; a
        number, such as the largest loss, lets a search rank a candidate that misses the
        bounds on one validation part only.

    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative sample weights.

    Returns
    -------
    risk : float
        Mean loss of the accepted ID samples, in units of the loss. NaN with a warning
        where no rule meets both bounds, or without OOD samples.

    Raises
    ------
    ValueError
        If an argument is empty, NaN, of another length than the others or out of its
        range, if `y_pred` holds the OOD label or, for ID samples, the one that stands
        for rejected samples by default, or if there are no ID samples.

    Warns
    -----
    RejectionWarning
        If labels are compared and `y_pred` holds one, for ID samples, that neither
        `y_true` nor `labels` has, which may be a reject label.

    See Also
    --------
    sklearn_reject.selection.tune_single_score : The rule of one score.
    sklearn_reject.selection.tune_double_score : The rule of two scores.

    Examples
    --------
    >>> from sklearn_reject.metrics import selective_risk_at_tpr_fpr_score
    >>> y_true, y_pred = [0, 0, -1, 1, 1, -1], [0, 0, 1, 0, 1, 1]
    >>> selective_risk_at_tpr_fpr_score(
    ...     y_true, y_pred, [0.1, 0.2, 0.3, 0.4, 0.5, 0.6], min_tpr=0.7, max_fpr=0.5
    ... )
    0.25
    """


@of_labels(_risk_within, ood_samples)
def selective_risk_at_precision_recall_score(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    uncertainty: ArrayLike,
    *,
    novelty: ArrayLike | None = None,
    min_tpr: float,
    min_precision: float,
    ood_prior: float,
    ood_label: Label = "auto",
    loss: TaskLossLike = "zero_one",
    labels: ArrayLike | None = None,
    randomize: bool = False,
    infeasible: float = float("nan"),
    sample_weight: ArrayLike | None = None,
) -> float:
    """Compute the lowest selective risk under bounds on precision and recall.

    Lower is better. The risk of the best threshold that accepts at least the share
    `min_tpr` of the ID samples, their recall, where at least the share `min_precision`
    of what it accepts is ID (FPP23, problem 14).

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        True labels, `ood_label` for OOD samples; and predicted ones of all samples, as
        `predict_label` gives them: classes, which are ignored for OOD samples. None as
        `y_pred` if `loss` contains the losses themselves.

    uncertainty : array-like of shape (n_samples,)
        Uncertainty or novelty of each sample, higher = rejected first. Minus infinity
        is always accepted, infinity never. Must be finite if `novelty` is given.

    novelty : array-like of shape (n_samples,), default=None
        A second score, higher = more novel. `uncertainty` is then the risk score, and
        both are combined by :func:`~sklearn_reject.selection.tune_double_score`.

    min_tpr : float in (0, 1]
        Least share of ID samples to accept.

    min_precision : float in (0, 1]
        Smallest share of ID samples among the accepted ones.

    ood_prior : float in [0, 1)
        Share of OOD samples that the precision is for. The share in the sample does not
        matter.

    ood_label : "auto", None or label, default="auto"
        Label of OOD samples in `y_true`. "auto" is "ood" for strings and -1 for
        numbers; but -1 is a class, and no sample is OOD, if `y_pred` contains it and
        there is only one other label. With None no sample is OOD.

    loss : str, array-like of shape (n_classes, n_classes), callable, TaskLoss, or \
            array-like of shape (n_samples,), default="zero_one"
        Cost of a wrong label, as :func:`~sklearn_reject.losses.check_loss` takes it, or
        the losses themselves, one per sample, which are ignored for OOD samples.

    labels : array-like of shape (n_classes,), default=None
        Labels in the order of the cost matrix, including those that occur in `y_pred`
        only. None takes the sorted labels of the ID samples, true and predicted.

    randomize : bool, default=False
        If False, samples tied at the threshold are accepted together or not at all. If
        True, a share of them may be accepted, and the risk is an expectation.

    infeasible : float >= 0, default=nan
        Value to return if no rule meets both bounds. NaN comes with a warning; a
        number, such as the largest loss, lets a search rank a candidate that misses the
        bounds on one validation part only.

    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative sample weights.

    Returns
    -------
    risk : float
        Mean loss of the accepted ID samples, in units of the loss. NaN with a warning
        where no rule meets both bounds, or without OOD samples.

    Raises
    ------
    ValueError
        If an argument is empty, NaN, of another length than the others or out of its
        range, if `y_pred` holds the OOD label or, for ID samples, the one that stands
        for rejected samples by default, or if there are no ID samples.

    Warns
    -----
    RejectionWarning
        If labels are compared and `y_pred` holds one, for ID samples, that neither
        `y_true` nor `labels` has, which may be a reject label.

    See Also
    --------
    sklearn_reject.selection.tune_single_score : The rule of one score.
    sklearn_reject.selection.tune_double_score : The rule of two scores.

    Examples
    --------
    >>> from sklearn_reject.metrics import selective_risk_at_precision_recall_score
    >>> y_true, y_pred = [0, 0, -1, 1, 1, -1], [0, 0, 1, 0, 1, 1]
    >>> selective_risk_at_precision_recall_score(
    ...     y_true,
    ...     y_pred,
    ...     [0.1, 0.2, 0.3, 0.4, 0.5, 0.6],
    ...     min_tpr=0.7,
    ...     min_precision=0.8,
    ...     ood_prior=0.25,
    ... )
    0.25
    """
