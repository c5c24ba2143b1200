"""How a score separates ID from OOD samples, and the risk where it accepts both."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import UndefinedMetricWarning

from sklearn_reject import _curves as curves
from sklearn_reject._typing import Label, TaskLossLike
from sklearn_reject._validation import check_number, check_sample_weight, of_arrays
from sklearn_reject.exceptions import warn_user
from sklearn_reject.metrics._origins import ood_samples, scores_and_origins
from sklearn_reject.selection import (
    InfeasibleTargetError,
    tune_double_score,
    tune_single_score,
)


@of_arrays
def ood_roc_curve(
    y_true: ArrayLike,
    uncertainty: ArrayLike,
    *,
    ood_label: Label = "auto",
    sample_weight: ArrayLike | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Compute the accepted shares of ID and OOD samples for all thresholds.

    Point k belongs to the rule that accepts every sample whose uncertainty is at most
    ``thresholds[k]``.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True labels, and `ood_label` for OOD samples.

    uncertainty : array-like of shape (n_samples,)
        Uncertainty or novelty of each sample, higher = rejected first. Minus infinity
        is always accepted, infinity never.

    ood_label : "auto", None or label, default="auto"
        Label of OOD samples in `y_true`. "auto" is "ood" for strings and -1 for
        numbers. With None no sample is OOD.

    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative sample weights.

    Returns
    -------
    fpr : ndarray of shape (n_thresholds,)
        Weighted share of the OOD samples that are accepted, lower is better.

    tpr : ndarray of shape (n_thresholds,)
        Weighted share of the ID samples that are accepted, higher is better.

    thresholds : ndarray of shape (n_thresholds,)
        Minus infinity, then the distinct finite uncertainties, increasing.

    Raises
    ------
    ValueError
        If an argument is empty, NaN, of another length than the others or out of its
        range, or if there are no ID or no OOD samples.

    Examples
    --------
    >>> from sklearn_reject.metrics import ood_roc_curve
    >>> fpr, tpr, _ = ood_roc_curve([0, -1, 1, -1], [0.1, 0.4, 0.4, 0.8])
    >>> fpr, tpr
    (array([0. , 0. , 0.5, 1. ]), array([0. , 0.5, 1. , 1. ]))
    """
    samples = scores_and_origins(y_true, uncertainty, None, ood_label)
    return curves.ood_roc_curve(*samples, sample_weight=sample_weight)


@of_arrays
def ood_precision_recall_curve(
    y_true: ArrayLike,
    uncertainty: ArrayLike,
    *,
    ood_prior: float | None,
    ood_label: Label = "auto",
    sample_weight: ArrayLike | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Compute the precision of accepted samples against recall for all thresholds.

    The positive class is ID: recall is the share of the ID samples that are accepted,
    precision the share of ID among what is accepted. Point k belongs to the rule that
    accepts every sample whose uncertainty is at most ``thresholds[k]``.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True labels, and `ood_label` for OOD samples.

    uncertainty : array-like of shape (n_samples,)
        Uncertainty or novelty of each sample, higher = rejected first. Minus infinity
        is always accepted, infinity never.

    ood_prior : float in [0, 1[ or None
        Share of OOD samples in production. None takes the share in the sample.

    ood_label : "auto", None or label, default="auto"
        Label of OOD samples in `y_true`. "auto" is "ood" for strings and -1 for
        numbers. With None no sample is OOD.

    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative sample weights.

    Returns
    -------
    precision : ndarray of shape (n_thresholds,)
        Share of ID among the accepted, under the prior: with prior p it is
        (1 - p) TPR / ((1 - p) TPR + p FPR), and 1 where nothing is accepted. Higher is
        better.

    recall : ndarray of shape (n_thresholds,)
        Weighted share of the ID samples that are accepted, increasing.

    thresholds : ndarray of shape (n_thresholds,)
        Minus infinity, then the distinct finite uncertainties, increasing.

    Raises
    ------
    ValueError
        If an argument is empty, NaN, of another length than the others or out of its
        range, or if there are no ID or no OOD samples.

    Examples
    --------
    >>> from sklearn_reject.metrics import ood_precision_recall_curve
    >>> precision, recall, _ = ood_precision_recall_curve(
    ...     [0, -1, 1, -1], [0.1, 0.4, 0.4, 0.8], ood_prior=0.25
    ... )
    >>> precision.round(3), recall
    (array([1.   , 1.   , 0.857, 0.75 ]), array([0. , 0.5, 1. , 1. ]))
    """
    samples = scores_and_origins(y_true, uncertainty, None, ood_label)
    return curves.ood_precision_recall_curve(
        *samples, ood_prior=ood_prior, sample_weight=sample_weight
    )


@of_arrays
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
    samples = scores_and_origins(y_true, uncertainty, novelty, ood_label)
    return curves.ood_auroc_score(*samples, sample_weight=sample_weight)


@of_arrays
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

    ood_prior : float in ]0, 1[, default=None
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
    samples = scores_and_origins(y_true, uncertainty, novelty, ood_label)
    return curves.ood_aupr_score(
        *samples, positive=positive, ood_prior=ood_prior, sample_weight=sample_weight
    )


@of_arrays
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

    tpr : float in ]0, 1], default=0.95
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
    samples = scores_and_origins(y_true, uncertainty, novelty, ood_label)
    return curves.fpr_at_tpr_score(
        *samples, positive=positive, tpr=tpr, sample_weight=sample_weight
    )


@of_arrays
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

    min_tpr : float in ]0, 1]
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
    samples = y_true, y_pred, uncertainty, novelty, ood_label, loss, labels
    options = {"randomize": randomize, "sample_weight": sample_weight}
    bounds = {"min_tpr": min_tpr, "max_fpr": max_fpr}
    return _risk_at(bounds, samples, infeasible, options)


@of_arrays
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

    min_tpr : float in ]0, 1]
        Least share of ID samples to accept.

    min_precision : float in ]0, 1]
        Smallest share of ID samples among the accepted ones.

    ood_prior : float in [0, 1[
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
    samples = y_true, y_pred, uncertainty, novelty, ood_label, loss, labels
    options = {"randomize": randomize, "sample_weight": sample_weight}
    bounds = {
        "min_tpr": min_tpr,
        "min_precision": min_precision,
        "ood_prior": ood_prior,
    }
    return _risk_at(bounds, samples, infeasible, options)


def check_bound(value, name):
    """Return a share that is to be reached, or not to be exceeded, as a float."""
    if name == "ood_prior":
        return curves.check_ood_prior(value)
    return check_number(value, name, high=1.0, open_low=name != "max_fpr")


def _risk_at(bounds, samples, infeasible, options):
    """Return the risk of the best rule of one score or two, or what stands for none."""
    bounds = {name: check_bound(value, name) for name, value in bounds.items()}
    scores, losses, is_ood = ood_samples(*samples)
    if not np.isnan(infeasible):
        check_number(infeasible, "infeasible")
    weight = check_sample_weight(options["sample_weight"], len(is_ood))
    if not (is_ood if weight is None else is_ood & (weight > 0)).any():
        return curves.undefined_without_ood("The selective risk at bounds")
    try:
        if scores.ndim == 1:
            rule = tune_single_score(scores, losses, is_ood, **bounds, **options)
        else:
            rule = tune_double_score(*scores.T, losses, is_ood, **bounds, **options)
    except InfeasibleTargetError as error:
        if not np.isnan(infeasible):
            return float(infeasible)
        message = f"{error} The selective risk is set to NaN."
        warn_user(message, UndefinedMetricWarning)
        return float("nan")
    return float(rule.selective_risk)
