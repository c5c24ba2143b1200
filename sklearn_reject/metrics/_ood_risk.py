"""Risk of predictions where some samples are OOD, from labels and uncertainties."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import UndefinedMetricWarning

from sklearn_reject import _curves as curves
from sklearn_reject._typing import Label, TaskLossLike
from sklearn_reject._validation import check_number, check_sample_weight, of_arrays
from sklearn_reject.exceptions import warn_user
from sklearn_reject.metrics._origins import ood_samples
from sklearn_reject.selection import (
    InfeasibleTargetError,
    tune_double_score,
    tune_single_score,
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
    bounds = {"min_tpr": min_tpr, "max_fpr": max_fpr}
    bounds = {name: check_bound(value, name) for name, value in bounds.items()}
    samples = ood_samples(y_true, y_pred, uncertainty, novelty, ood_label, loss, labels)
    options = {**bounds, "randomize": randomize, "sample_weight": sample_weight}
    return _tuned_risk(*samples, infeasible, options)


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
    bounds = {"min_tpr": min_tpr, "min_precision": min_precision}
    bounds = {name: check_bound(value, name) for name, value in bounds.items()}
    bounds["ood_prior"] = curves.check_ood_prior(ood_prior)
    samples = ood_samples(y_true, y_pred, uncertainty, novelty, ood_label, loss, labels)
    options = {**bounds, "randomize": randomize, "sample_weight": sample_weight}
    return _tuned_risk(*samples, infeasible, options)


def check_bound(value, name):
    """Return a share that is to be reached, or not to be exceeded, as a float."""
    return check_number(value, name, high=1.0, open_low=name != "max_fpr")


def _tuned_risk(scores, losses, is_ood, infeasible, options):
    """Return the risk of the best rule of one score or two, or what stands for none."""
    if not np.isnan(infeasible):
        check_number(infeasible, "infeasible")
    weight = check_sample_weight(options["sample_weight"], len(is_ood))
    if not (is_ood if weight is None else is_ood & (weight > 0)).any():
        return curves.undefined_without_ood("The selective risk at bounds")
    try:
        if scores.ndim == 1:
            rule = tune_single_score(scores, losses, is_ood, **options)
        else:
            rule = tune_double_score(*scores.T, losses, is_ood, **options)
    except InfeasibleTargetError as error:
        if not np.isnan(infeasible):
            return float(infeasible)
        message = f"{error} The selective risk is set to NaN."
        warn_user(message, UndefinedMetricWarning)
        return float("nan")
    return float(rule.selective_risk)
