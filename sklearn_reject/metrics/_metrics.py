"""Metrics of labels: each is the signature of an array function, and what it reads."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import UndefinedMetricWarning

from sklearn_reject import _curves as curves
from sklearn_reject._typing import Label, MatrixLike, SetLossLike, TaskLossLike
from sklearn_reject._validation import (
    check_number,
    check_option,
    check_sample_weight,
    of_arrays,
)
from sklearn_reject.decoding import AVERAGES, count_sets
from sklearn_reject.exceptions import warn_user
from sklearn_reject.losses import check_set_loss
from sklearn_reject.metrics._arrays import (
    costs_of,
    of_labels,
    ood_samples,
    rated_documents,
    samples_of,
    scores_and_losses,
    scores_and_opinions,
    scores_and_origins,
)
from sklearn_reject.selection import (
    InfeasibleTargetError,
    tune_double_score,
    tune_single_score,
)


def _mean(values, *, sample_weight):
    weight = check_sample_weight(sample_weight, len(values))
    return float(np.average(values, weights=weight))


@of_labels(curves.risk_coverage_curve, samples_of)
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


# OOD samples


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


# Sets, and true and false positives


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
