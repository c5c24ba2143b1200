"""Metrics of risk and coverage, of deferral and of costs, from labels."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from sklearn_reject import _curves as curves
from sklearn_reject._typing import Label, TaskLossLike
from sklearn_reject._validation import check_sample_weight
from sklearn_reject.metrics._losses import (
    costs_of,
    of_labels,
    scores_and_losses,
    scores_and_opinions,
)
from sklearn_reject.metrics._ood import ood_samples


def _some_samples(y_true, y_pred, uncertainty, loss, labels, ood_label):
    """Return scores and losses, and unless `ood_label` is None what is OOD."""
    if ood_label is None:
        return scores_and_losses(y_true, y_pred, uncertainty, loss, labels)
    return ood_samples(y_true, y_pred, uncertainty, None, ood_label, loss, labels)


def _mean(values, *, sample_weight):
    weight = check_sample_weight(sample_weight, len(values))
    return float(np.average(values, weights=weight))


@of_labels(curves.risk_coverage_curve, _some_samples)
def risk_coverage_curve(
    y_true: ArrayLike | None,
    y_pred: ArrayLike | None,
    uncertainty: ArrayLike,
    *,
    loss: TaskLossLike = "zero_one",
    labels: ArrayLike | None = None,
    ood_label: Label = None,
    max_fpr: float | None = None,
    sample_weight: ArrayLike | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Compute selective risk against coverage, one point per distinct uncertainty.

    Point k belongs to the rule that accepts every sample whose uncertainty is at most
    ``thresholds[k]`` (FPV23, section 3.1). Lower risk is better.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,) or (n_samples, n_outputs), or None
        True labels or targets, and the predictions for all samples, rejected or not, as
        :meth:`~sklearn_reject.SelectiveClassifier.predict_label` returns them. None if
        `loss` contains the losses themselves.

    uncertainty : array-like of shape (n_samples,)
        Higher = more uncertain. Negate confidences. With an `ood_label`, minus infinity
        is always accepted and infinity never.

    loss : str, array-like of shape (n_classes, n_classes), callable, TaskLoss, or \
            array-like of shape (n_samples,), default="zero_one"
        Cost of a prediction, as :func:`~sklearn_reject.losses.check_loss` takes it, or
        the losses themselves, one per sample.

    labels : array-like of shape (n_classes,), default=None
        Labels in the order of the cost matrix, including those that occur in `y_pred`
        only. None takes the sorted labels that occur.

    ood_label : "auto", None or label, default=None
        Label of OOD samples in `y_true`, without which coverage and risk are computed.
        "auto" is "ood" for strings and -1 for numbers; but -1 is a class, and no sample
        is OOD, if `y_pred` contains it and there is only one other label. None says
        that no sample is OOD. With an OOD label `y_true` is needed, whatever `loss` is.

    max_fpr : float in [0, 1], default=None
        Largest share of OOD samples to accept: the curve ends where a threshold accepts
        more. It takes an `ood_label`.

    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative sample weights. Only their ratios matter.

    Returns
    -------
    coverage : ndarray of shape (n_thresholds,)
        Weighted share of accepted samples, increasing up to 1, or less where samples
        of infinite uncertainty or `max_fpr` forbid it. Empty where no threshold keeps
        `max_fpr`.

    risk : ndarray of shape (n_thresholds,)
        Weighted mean loss of the accepted samples, in units of the loss.

    thresholds : ndarray of shape (n_thresholds,)
        Distinct uncertainties, increasing.

    Raises
    ------
    ValueError
        If an argument is empty, not finite, of another length than the others or out
        of its range, if a label is not among those of the cost matrix, if `y_pred`
        holds the OOD label or the one that stands for rejected samples by default, or
        if there are no OOD samples for `max_fpr`.

    Warns
    -----
    RejectionWarning
        If labels are compared and `y_pred` holds one that neither `y_true` nor `labels`
        has, which may be a reject label.

    Examples
    --------
    >>> from sklearn_reject.metrics import risk_coverage_curve
    >>> y_true, y_pred = [0, 1, 1, 0], [0, 1, 0, 1]
    >>> coverage, risk, _ = risk_coverage_curve(y_true, y_pred, [0.1, 0.2, 0.3, 0.4])
    >>> coverage
    array([0.25, 0.5 , 0.75, 1.  ])
    >>> risk.round(3)
    array([0.   , 0.   , 0.333, 0.5  ])
    """


@of_labels(curves.aurc_score, scores_and_losses)
def aurc_score(
    y_true: ArrayLike | None,
    y_pred: ArrayLike | None,
    uncertainty: ArrayLike,
    *,
    loss: TaskLossLike = "zero_one",
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    normalize: Literal["excess", "prr"] | None = None,
) -> float:
    """Compute the area under the risk-coverage curve. Lower is better.

    The mean of the n selective risks, one a prefix of the samples in the order of their
    uncertainty (FPV23, eq. 27), in expectation over the random order of tied samples.
    Without ties and with 0/1 loss it is one minus the area under the
    accuracy-rejection curve.

    Weights say how much a sample counts relative to the others, and are brought to a
    mean of one, over those that are not zero. So equal weights of any size are no
    weights at all, and n samples have n prefixes, whereas rows that are repeated are
    more samples, with more prefixes. Where a cumulative weight is no whole number, the
    digamma function continues the harmonic numbers.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,) or (n_samples, n_outputs), or None
        True labels or targets, and the predictions for all samples, rejected or not, as
        :meth:`~sklearn_reject.SelectiveClassifier.predict_label` returns them. None if
        `loss` contains the losses themselves.

    uncertainty : array-like of shape (n_samples,)
        Higher = more uncertain. Negate confidences.

    loss : str, array-like of shape (n_classes, n_classes), callable, TaskLoss, or \
            array-like of shape (n_samples,), default="zero_one"
        Cost of a prediction, as :func:`~sklearn_reject.losses.check_loss` takes it, or
        the losses themselves, one per sample.

    labels : array-like of shape (n_classes,), default=None
        Labels in the order of the cost matrix, including those that occur in `y_pred`
        only. None takes the sorted labels that occur.

    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative sample weights. Only their ratios matter.

    normalize : {None, "excess", "prr"}, default=None
        "excess" subtracts the area of the oracle, which sorts the samples by their
        loss: zero is perfect, never negative. "prr", the prediction rejection ratio, is
        (random - area) / (random - oracle): 1 is perfect, 0 is as good as random,
        **higher is better**.

    Returns
    -------
    area : float
        The area, in units of the loss. NaN with a warning under "prr" where all losses
        are equal.

    Raises
    ------
    ValueError
        If an argument is empty, not finite, of another length than the others or out
        of its range, if a label is not among those of the cost matrix, or if `y_pred`
        holds the label that stands for rejected samples by default.

    Warns
    -----
    RejectionWarning
        If labels are compared and `y_pred` holds one that neither `y_true` nor `labels`
        has, which may be a reject label.

    Examples
    --------
    >>> from sklearn_reject.metrics import aurc_score
    >>> y_true, y_pred = [0, 1, 1, 0], [0, 1, 0, 1]
    >>> round(aurc_score(y_true, y_pred, [0.1, 0.2, 0.3, 0.4]), 6)
    0.208333

    Of losses that are known:

    >>> losses = [0, 0, 2.5, 4]
    >>> round(aurc_score(None, None, [0.1, 0.2, 0.3, 0.4], loss=losses), 6)
    0.614583
    """


@of_labels(curves.augrc_score, scores_and_losses)
def augrc_score(
    y_true: ArrayLike | None,
    y_pred: ArrayLike | None,
    uncertainty: ArrayLike,
    *,
    loss: TaskLossLike = "zero_one",
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Compute the area under the generalized risk-coverage curve. Lower is better.

    The integral of coverage times selective risk over the coverage, which is the mean
    risk of failures that go undetected (Traub et al., NeurIPS 2024), as a trapezoid
    from (0, 0). It equals the SELE statistic with mid-rank ties; the mean over the n
    prefixes, which some libraries report, is larger by mean(losses) / (2 n).

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,) or (n_samples, n_outputs), or None
        True labels or targets, and the predictions for all samples, rejected or not, as
        :meth:`~sklearn_reject.SelectiveClassifier.predict_label` returns them. None if
        `loss` contains the losses themselves.

    uncertainty : array-like of shape (n_samples,)
        Higher = more uncertain. Negate confidences.

    loss : str, array-like of shape (n_classes, n_classes), callable, TaskLoss, or \
            array-like of shape (n_samples,), default="zero_one"
        Cost of a prediction, as :func:`~sklearn_reject.losses.check_loss` takes it, or
        the losses themselves, one per sample.

    labels : array-like of shape (n_classes,), default=None
        Labels in the order of the cost matrix, including those that occur in `y_pred`
        only. None takes the sorted labels that occur.

    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative sample weights. Only their ratios matter.

    Returns
    -------
    area : float
        The area, in units of the loss, at most the mean loss.

    Raises
    ------
    ValueError
        If an argument is empty, not finite, of another length than the others or out
        of its range, if a label is not among those of the cost matrix, or if `y_pred`
        holds the label that stands for rejected samples by default.

    Warns
    -----
    RejectionWarning
        If labels are compared and `y_pred` holds one that neither `y_true` nor `labels`
        has, which may be a reject label.

    Examples
    --------
    >>> from sklearn_reject.metrics import augrc_score
    >>> y_true, y_pred = [0, 1, 1, 0], [0, 1, 0, 1]
    >>> augrc_score(y_true, y_pred, [0.1, 0.2, 0.3, 0.4])
    0.125
    """


@of_labels(curves.sele_score, scores_and_losses)
def sele_score(
    y_true: ArrayLike | None,
    y_pred: ArrayLike | None,
    uncertainty: ArrayLike,
    *,
    loss: TaskLossLike = "zero_one",
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    ties: Literal["inclusive", "midrank"] = "inclusive",
) -> float:
    """Compute the SELE statistic, a pairwise relative of AuRC. Lower is better.

    The mean over all pairs (i, j) of l_i [u_i <= u_j] (FPV23, eq. 29). For distinct
    uncertainties sele <= AuRC <= H_n sele with H_n the n-th harmonic number. With ties
    only the mid-rank form stays at or below AuRC.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,) or (n_samples, n_outputs), or None
        True labels or targets, and the predictions for all samples, rejected or not, as
        :meth:`~sklearn_reject.SelectiveClassifier.predict_label` returns them. None if
        `loss` contains the losses themselves.

    uncertainty : array-like of shape (n_samples,)
        Higher = more uncertain. Negate confidences.

    loss : str, array-like of shape (n_classes, n_classes), callable, TaskLoss, or \
            array-like of shape (n_samples,), default="zero_one"
        Cost of a prediction, as :func:`~sklearn_reject.losses.check_loss` takes it, or
        the losses themselves, one per sample.

    labels : array-like of shape (n_classes,), default=None
        Labels in the order of the cost matrix, including those that occur in `y_pred`
        only. None takes the sorted labels that occur.

    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative sample weights. Only their ratios matter.

    ties : {"inclusive", "midrank"}, default="inclusive"
        Whether a pair of tied samples, a sample with itself included, counts in full
        as in the paper, or one half. The mid-rank form equals :func:`augrc_score`.

    Returns
    -------
    value : float
        The statistic, in units of the loss.

    Raises
    ------
    ValueError
        If an argument is empty, not finite, of another length than the others or out
        of its range, if a label is not among those of the cost matrix, or if `y_pred`
        holds the label that stands for rejected samples by default.

    Warns
    -----
    RejectionWarning
        If labels are compared and `y_pred` holds one that neither `y_true` nor `labels`
        has, which may be a reject label.

    Examples
    --------
    >>> from sklearn_reject.metrics import sele_score
    >>> y_true, y_pred = [0, 1, 1, 0], [0, 1, 0, 1]
    >>> sele_score(y_true, y_pred, [0.1, 0.2, 0.3, 0.4])
    0.1875
    """


@of_labels(curves.selective_risk_at_coverage_score, scores_and_losses)
def selective_risk_at_coverage_score(
    y_true: ArrayLike | None,
    y_pred: ArrayLike | None,
    uncertainty: ArrayLike,
    *,
    loss: TaskLossLike = "zero_one",
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    coverage: float,
    randomize: bool = False,
) -> float:
    """Compute the risk at the smallest threshold that reaches a coverage.

    Lower is better.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,) or (n_samples, n_outputs), or None
        True labels or targets, and the predictions for all samples, rejected or not, as
        :meth:`~sklearn_reject.SelectiveClassifier.predict_label` returns them. None if
        `loss` contains the losses themselves.

    uncertainty : array-like of shape (n_samples,)
        Higher = more uncertain. Negate confidences.

    loss : str, array-like of shape (n_classes, n_classes), callable, TaskLoss, or \
            array-like of shape (n_samples,), default="zero_one"
        Cost of a prediction, as :func:`~sklearn_reject.losses.check_loss` takes it, or
        the losses themselves, one per sample.

    labels : array-like of shape (n_classes,), default=None
        Labels in the order of the cost matrix, including those that occur in `y_pred`
        only. None takes the sorted labels that occur.

    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative sample weights. Only their ratios matter.

    coverage : float in (0, 1]
        Share of the samples to accept.

    randomize : bool, default=False
        If False, the whole tie group at the threshold is accepted and the coverage may
        exceed what is asked. If True, the share of that group is accepted that makes
        the coverage exact, and the risk is the expected one (FPV23, theorem 6).

    Returns
    -------
    risk : float
        Weighted mean loss of the accepted samples, in units of the loss.

    Raises
    ------
    ValueError
        If an argument is empty, not finite, of another length than the others or out
        of its range, if a label is not among those of the cost matrix, or if `y_pred`
        holds the label that stands for rejected samples by default.

    Warns
    -----
    RejectionWarning
        If labels are compared and `y_pred` holds one that neither `y_true` nor `labels`
        has, which may be a reject label.

    Examples
    --------
    >>> from sklearn_reject.metrics import selective_risk_at_coverage_score
    >>> y_true, y_pred = [0, 1, 1, 0], [0, 1, 0, 1]
    >>> uncertainty = [0.1, 0.2, 0.3, 0.4]
    >>> selective_risk_at_coverage_score(y_true, y_pred, uncertainty, coverage=0.75)
    0.3333333333333333
    """


@of_labels(curves.coverage_at_risk_score, scores_and_losses)
def coverage_at_risk_score(
    y_true: ArrayLike | None,
    y_pred: ArrayLike | None,
    uncertainty: ArrayLike,
    *,
    loss: TaskLossLike = "zero_one",
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    risk: float,
    randomize: bool = False,
) -> float:
    """Compute the largest coverage whose selective risk is at most `risk`.

    Higher is better. NaN with a warning where no threshold keeps the risk.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,) or (n_samples, n_outputs), or None
        True labels or targets, and the predictions for all samples, rejected or not, as
        :meth:`~sklearn_reject.SelectiveClassifier.predict_label` returns them. None if
        `loss` contains the losses themselves.

    uncertainty : array-like of shape (n_samples,)
        Higher = more uncertain. Negate confidences.

    loss : str, array-like of shape (n_classes, n_classes), callable, TaskLoss, or \
            array-like of shape (n_samples,), default="zero_one"
        Cost of a prediction, as :func:`~sklearn_reject.losses.check_loss` takes it, or
        the losses themselves, one per sample.

    labels : array-like of shape (n_classes,), default=None
        Labels in the order of the cost matrix, including those that occur in `y_pred`
        only. None takes the sorted labels that occur.

    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative sample weights. Only their ratios matter.

    risk : float >= 0
        Selective risk that must not be exceeded, in units of the loss.

    randomize : bool, default=False
        If False, tie groups are accepted as a whole or not at all. If True, a share of
        the next group is accepted as far as the risk allows (FPV23, theorem 3).

    Returns
    -------
    coverage : float
        Weighted share of accepted samples, in (0, 1], or NaN.

    Raises
    ------
    ValueError
        If an argument is empty, not finite, of another length than the others or out
        of its range, if a label is not among those of the cost matrix, or if `y_pred`
        holds the label that stands for rejected samples by default.

    Warns
    -----
    RejectionWarning
        If labels are compared and `y_pred` holds one that neither `y_true` nor `labels`
        has, which may be a reject label.

    Examples
    --------
    >>> from sklearn_reject.metrics import coverage_at_risk_score
    >>> y_true, y_pred = [0, 1, 1, 0], [0, 1, 0, 1]
    >>> coverage_at_risk_score(y_true, y_pred, [0.1, 0.2, 0.3, 0.4], risk=0.1)
    0.5
    """


@of_labels(curves.deferral_curve, scores_and_opinions)
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


@of_labels(curves.deferral_area_score, scores_and_opinions)
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


@of_labels(_mean, costs_of)
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
