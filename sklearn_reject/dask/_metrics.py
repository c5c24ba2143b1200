"""Metrics of risk and coverage from dask collections."""

from __future__ import annotations

from math import isnan
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from sklearn_reject._curves import warn_of_no_coverage
from sklearn_reject._typing import Other, TaskLossLike
from sklearn_reject.dask._samples import partition_predictions


def aurc_score(
    y_true: Any,
    y_pred: Any,
    uncertainty: Any,
    *,
    loss: TaskLossLike | Other = "zero_one",
    labels: ArrayLike | None = None,
    sample_weight: Any = None,
    method: Literal["exact", "cells"] = "exact",
    compute: bool = True,
) -> Any:
    """Compute the area under the risk-coverage curve. Lower is better.

    The area of :func:`sklearn_reject.metrics.aurc_score` with the interpolation "mean".
    Where weights are not whole, it is that area up to rounding.

    Parameters
    ----------
    y_true, y_pred : dask array or column of shape (n_samples,), array of \
            shape (n_samples, n_outputs), or None
        True labels or targets, and the predictions for all samples, rejected or not, as
        :meth:`~sklearn_reject.SelectiveClassifier.predict_label` returns them. None if
        `loss` contains the losses themselves.

    uncertainty : dask array or column of shape (n_samples,)
        Higher = more uncertain. Negate confidences.

    loss : str, array-like of shape (n_classes, n_classes), callable, TaskLoss, or \
            dask array or column of shape (n_samples,), default="zero_one"
        Cost of a prediction, as :func:`~sklearn_reject.losses.check_loss` takes it, or
        the losses themselves, one per sample. A callable gets one partition at a time.

    labels : array-like of shape (n_classes,), default=None
        Labels in the order of the cost matrix, which needs them as no partition has to
        have all classes, and those that `y_pred` may hold though `y_true` does not.

    sample_weight : dask array or column of shape (n_samples,), default=None
        Non-negative sample weights. Only their ratios matter.

    method : {"exact", "cells"}, default="exact"
        "exact" reads the data more than once, and fetches the rows that the answer
        needs. "cells" reads them once and answers from the summary alone, with an
        interval that always contains the exact value.

    compute : bool, default=True
        False gives a `dask.delayed.Delayed` of the answer, for which `method` must be
        "cells". Warnings then come where it is computed.

    Returns
    -------
    area : float or, of cells, Interval
        The area, in units of the loss.

    Raises
    ------
    ValueError
        If an argument is no dask collection, the collections are not cut at the same
        rows and cannot be, there are no samples, or an argument is invalid. Of values
        that are not finite or out of range, the error names the partition.

    Warns
    -----
    RejectionWarning
        If labels are compared and `y_pred` holds one that neither `y_true` nor `labels`
        has, which may be a reject label.

    Examples
    --------
    >>> import dask.array as da
    >>> from sklearn_reject.dask import aurc_score
    >>> y_true = da.from_array([0, 1, 1, 0], chunks=2)
    >>> y_pred = da.from_array([0, 1, 0, 1], chunks=2)
    >>> uncertainty = da.from_array([0.1, 0.2, 0.3, 0.4], chunks=2)
    >>> area = aurc_score(y_true, y_pred, uncertainty)
    >>> round(area, 6)
    0.208333
    >>> interval = aurc_score(y_true, y_pred, uncertainty, method="cells")
    >>> interval.low <= area <= interval.high
    True
    """
    samples = partition_predictions(
        y_true, y_pred, uncertainty, loss, labels, sample_weight
    )

    def ask(summary, parts):
        return summary.aurc(parts=parts)

    return _answer(samples, ask, method, compute)


def augrc_score(
    y_true: Any,
    y_pred: Any,
    uncertainty: Any,
    *,
    loss: TaskLossLike | Other = "zero_one",
    labels: ArrayLike | None = None,
    sample_weight: Any = None,
    method: Literal["exact", "cells"] = "exact",
    compute: bool = True,
) -> Any:
    """Compute the area under the generalized risk-coverage curve. Lower is better.

    The area of :func:`sklearn_reject.metrics.augrc_score`, the mean risk of failures
    that go undetected.

    Parameters
    ----------
    y_true, y_pred : dask array or column of shape (n_samples,), array of \
            shape (n_samples, n_outputs), or None
        True labels or targets, and the predictions for all samples, rejected or not, as
        :meth:`~sklearn_reject.SelectiveClassifier.predict_label` returns them. None if
        `loss` contains the losses themselves.

    uncertainty : dask array or column of shape (n_samples,)
        Higher = more uncertain. Negate confidences.

    loss : str, array-like of shape (n_classes, n_classes), callable, TaskLoss, or \
            dask array or column of shape (n_samples,), default="zero_one"
        Cost of a prediction, as :func:`~sklearn_reject.losses.check_loss` takes it, or
        the losses themselves, one per sample. A callable gets one partition at a time.

    labels : array-like of shape (n_classes,), default=None
        Labels in the order of the cost matrix, which needs them as no partition has to
        have all classes, and those that `y_pred` may hold though `y_true` does not.

    sample_weight : dask array or column of shape (n_samples,), default=None
        Non-negative sample weights. Only their ratios matter.

    method : {"exact", "cells"}, default="exact"
        "exact" reads the data more than once, and fetches the rows that the answer
        needs. "cells" reads them once and answers from the summary alone, with an
        interval that always contains the exact value.

    compute : bool, default=True
        False gives a `dask.delayed.Delayed` of the answer, for which `method` must be
        "cells". Warnings then come where it is computed.

    Returns
    -------
    area : float or, of cells, Interval
        The area, in units of the loss, at most the mean loss.

    Raises
    ------
    ValueError
        If an argument is no dask collection, the collections are not cut at the same
        rows and cannot be, there are no samples, or an argument is invalid. Of values
        that are not finite or out of range, the error names the partition.

    Warns
    -----
    RejectionWarning
        If labels are compared and `y_pred` holds one that neither `y_true` nor `labels`
        has, which may be a reject label.

    Examples
    --------
    >>> import dask.array as da
    >>> from sklearn_reject.dask import augrc_score
    >>> y_true = da.from_array([0, 1, 1, 0], chunks=2)
    >>> y_pred = da.from_array([0, 1, 0, 1], chunks=2)
    >>> uncertainty = da.from_array([0.1, 0.2, 0.3, 0.4], chunks=2)
    >>> augrc_score(y_true, y_pred, uncertainty)
    0.125
    """
    samples = partition_predictions(
        y_true, y_pred, uncertainty, loss, labels, sample_weight
    )

    def ask(summary, parts):
        return summary.augrc(parts=parts)

    return _answer(samples, ask, method, compute)


def sele_score(
    y_true: Any,
    y_pred: Any,
    uncertainty: Any,
    *,
    loss: TaskLossLike | Other = "zero_one",
    labels: ArrayLike | None = None,
    sample_weight: Any = None,
    ties: Literal["inclusive", "midrank"] = "inclusive",
    method: Literal["exact", "cells"] = "exact",
    compute: bool = True,
) -> Any:
    """Compute the SELE statistic, a pairwise relative of AuRC. Lower is better.

    The statistic of :func:`sklearn_reject.metrics.sele_score`.

    Parameters
    ----------
    y_true, y_pred : dask array or column of shape (n_samples,), array of \
            shape (n_samples, n_outputs), or None
        True labels or targets, and the predictions for all samples, rejected or not, as
        :meth:`~sklearn_reject.SelectiveClassifier.predict_label` returns them. None if
        `loss` contains the losses themselves.

    uncertainty : dask array or column of shape (n_samples,)
        Higher = more uncertain. Negate confidences.

    loss : str, array-like of shape (n_classes, n_classes), callable, TaskLoss, or \
            dask array or column of shape (n_samples,), default="zero_one"
        Cost of a prediction, as :func:`~sklearn_reject.losses.check_loss` takes it, or
        the losses themselves, one per sample. A callable gets one partition at a time.

    labels : array-like of shape (n_classes,), default=None
        Labels in the order of the cost matrix, which needs them as no partition has to
        have all classes, and those that `y_pred` may hold though `y_true` does not.

    sample_weight : dask array or column of shape (n_samples,), default=None
        Non-negative sample weights. Only their ratios matter.

    ties : {"inclusive", "midrank"}, default="inclusive"
        Whether a pair of tied samples, a sample with itself included, counts in full
        as in the paper, or one half. The mid-rank form equals :func:`augrc_score`.

    method : {"exact", "cells"}, default="exact"
        "exact" reads the data more than once, and fetches the rows that the answer
        needs. "cells" reads them once and answers from the summary alone, with an
        interval that always contains the exact value.

    compute : bool, default=True
        False gives a `dask.delayed.Delayed` of the answer, for which `method` must be
        "cells". Warnings then come where it is computed.

    Returns
    -------
    value : float or, of cells, Interval
        The statistic, in units of the loss.

    Raises
    ------
    ValueError
        If an argument is no dask collection, the collections are not cut at the same
        rows and cannot be, there are no samples, or an argument is invalid. Of values
        that are not finite or out of range, the error names the partition.

    Warns
    -----
    RejectionWarning
        If labels are compared and `y_pred` holds one that neither `y_true` nor `labels`
        has, which may be a reject label.

    Examples
    --------
    >>> import dask.array as da
    >>> from sklearn_reject.dask import sele_score
    >>> y_true = da.from_array([0, 1, 1, 0], chunks=2)
    >>> y_pred = da.from_array([0, 1, 0, 1], chunks=2)
    >>> uncertainty = da.from_array([0.1, 0.2, 0.3, 0.4], chunks=2)
    >>> sele_score(y_true, y_pred, uncertainty)
    0.1875
    """
    samples = partition_predictions(
        y_true, y_pred, uncertainty, loss, labels, sample_weight
    )

    def ask(summary, parts):
        return summary.sele(ties=ties, parts=parts)

    return _answer(samples, ask, method, compute)


def selective_risk_at_coverage_score(
    y_true: Any,
    y_pred: Any,
    uncertainty: Any,
    *,
    loss: TaskLossLike | Other = "zero_one",
    labels: ArrayLike | None = None,
    sample_weight: Any = None,
    coverage: float,
    randomize: bool = False,
    method: Literal["exact", "cells"] = "exact",
    compute: bool = True,
) -> Any:
    """Compute the risk at the smallest threshold that reaches a coverage.

    Lower is better. The risk of the metric of the same name in
    :mod:`sklearn_reject.metrics`.

    Parameters
    ----------
    y_true, y_pred : dask array or column of shape (n_samples,), array of \
            shape (n_samples, n_outputs), or None
        True labels or targets, and the predictions for all samples, rejected or not, as
        :meth:`~sklearn_reject.SelectiveClassifier.predict_label` returns them. None if
        `loss` contains the losses themselves.

    uncertainty : dask array or column of shape (n_samples,)
        Higher = more uncertain. Negate confidences.

    loss : str, array-like of shape (n_classes, n_classes), callable, TaskLoss, or \
            dask array or column of shape (n_samples,), default="zero_one"
        Cost of a prediction, as :func:`~sklearn_reject.losses.check_loss` takes it, or
        the losses themselves, one per sample. A callable gets one partition at a time.

    labels : array-like of shape (n_classes,), default=None
        Labels in the order of the cost matrix, which needs them as no partition has to
        have all classes, and those that `y_pred` may hold though `y_true` does not.

    sample_weight : dask array or column of shape (n_samples,), default=None
        Non-negative sample weights. Only their ratios matter.

    coverage : float in ]0, 1]
        Share of the samples to accept.

    randomize : bool, default=False
        If False, the whole tie group at the threshold is accepted and the coverage may
        exceed what is asked. If True, the share of that group is accepted that makes
        the coverage exact, and the risk is the expected one (FPV23, theorem 6).

    method : {"exact", "cells"}, default="exact"
        "exact" reads the data more than once, and fetches the rows that the answer
        needs. "cells" reads them once and answers from the summary alone, with an
        interval that always contains the exact value.

    compute : bool, default=True
        False gives a `dask.delayed.Delayed` of the answer, for which `method` must be
        "cells". Warnings then come where it is computed.

    Returns
    -------
    risk : float or, of cells, Interval
        Weighted mean loss of the accepted samples, in units of the loss.

    Raises
    ------
    ValueError
        If an argument is no dask collection, the collections are not cut at the same
        rows and cannot be, there are no samples, or an argument is invalid. Of values
        that are not finite or out of range, the error names the partition.

    Warns
    -----
    RejectionWarning
        If labels are compared and `y_pred` holds one that neither `y_true` nor `labels`
        has, which may be a reject label.

    Examples
    --------
    >>> import dask.array as da
    >>> from sklearn_reject.dask import selective_risk_at_coverage_score
    >>> y_true = da.from_array([0, 1, 1, 0], chunks=2)
    >>> y_pred = da.from_array([0, 1, 0, 1], chunks=2)
    >>> uncertainty = da.from_array([0.1, 0.2, 0.3, 0.4], chunks=2)
    >>> selective_risk_at_coverage_score(y_true, y_pred, uncertainty, coverage=0.75)
    0.3333333333333333
    """
    samples = partition_predictions(
        y_true, y_pred, uncertainty, loss, labels, sample_weight
    )

    def ask(summary, parts):
        return summary.selective_risk_at_coverage(
            coverage, randomize=randomize, parts=parts
        )

    return _answer(samples, ask, method, compute)


def coverage_at_risk_score(
    y_true: Any,
    y_pred: Any,
    uncertainty: Any,
    *,
    loss: TaskLossLike | Other = "zero_one",
    labels: ArrayLike | None = None,
    sample_weight: Any = None,
    risk: float,
    randomize: bool = False,
    method: Literal["exact", "cells"] = "exact",
    compute: bool = True,
) -> Any:
    """Compute the largest coverage whose selective risk is at most `risk`.

    Higher is better. NaN with a warning where no threshold keeps the risk. That of
    cells is what their borders reach: its interval begins there.

    Parameters
    ----------
    y_true, y_pred : dask array or column of shape (n_samples,), array of \
            shape (n_samples, n_outputs), or None
        True labels or targets, and the predictions for all samples, rejected or not, as
        :meth:`~sklearn_reject.SelectiveClassifier.predict_label` returns them. None if
        `loss` contains the losses themselves.

    uncertainty : dask array or column of shape (n_samples,)
        Higher = more uncertain. Negate confidences.

    loss : str, array-like of shape (n_classes, n_classes), callable, TaskLoss, or \
            dask array or column of shape (n_samples,), default="zero_one"
        Cost of a prediction, as :func:`~sklearn_reject.losses.check_loss` takes it, or
        the losses themselves, one per sample. A callable gets one partition at a time.

    labels : array-like of shape (n_classes,), default=None
        Labels in the order of the cost matrix, which needs them as no partition has to
        have all classes, and those that `y_pred` may hold though `y_true` does not.

    sample_weight : dask array or column of shape (n_samples,), default=None
        Non-negative sample weights. Only their ratios matter.

    risk : float >= 0
        Selective risk that must not be exceeded, in units of the loss.

    randomize : bool, default=False
        If False, tie groups are accepted as a whole or not at all. If True, a share of
        the next group is accepted as far as the risk allows (FPV23, theorem 3).

    method : {"exact", "cells"}, default="exact"
        "exact" reads the data more than once, and fetches the rows that the answer
        needs. "cells" reads them once and answers from the summary alone, with an
        interval that always contains the exact value.

    compute : bool, default=True
        False gives a `dask.delayed.Delayed` of the answer, for which `method` must be
        "cells". Warnings then come where it is computed.

    Returns
    -------
    coverage : float or, of cells, Interval
        Weighted share of accepted samples, in ]0, 1], or NaN.

    Raises
    ------
    ValueError
        If an argument is no dask collection, the collections are not cut at the same
        rows and cannot be, there are no samples, or an argument is invalid. Of values
        that are not finite or out of range, the error names the partition.

    Warns
    -----
    RejectionWarning
        If labels are compared and `y_pred` holds one that neither `y_true` nor `labels`
        has, which may be a reject label.

    Examples
    --------
    >>> import dask.array as da
    >>> from sklearn_reject.dask import coverage_at_risk_score
    >>> y_true = da.from_array([0, 1, 1, 0], chunks=2)
    >>> y_pred = da.from_array([0, 1, 0, 1], chunks=2)
    >>> uncertainty = da.from_array([0.1, 0.2, 0.3, 0.4], chunks=2)
    >>> coverage_at_risk_score(y_true, y_pred, uncertainty, risk=0.1)
    0.5
    """
    samples = partition_predictions(
        y_true, y_pred, uncertainty, loss, labels, sample_weight
    )

    def ask(summary, parts):
        coverage = summary.coverage_at_risk(risk, randomize=randomize, parts=parts)
        if isnan(coverage.value):
            warn_of_no_coverage(risk)
        return coverage

    return _answer(samples, ask, method, compute)


def risk_coverage_curve(
    y_true: Any,
    y_pred: Any,
    uncertainty: Any,
    *,
    loss: TaskLossLike | Other = "zero_one",
    labels: ArrayLike | None = None,
    sample_weight: Any = None,
    max_points: int = 1000,
    compute: bool = True,
) -> tuple[np.ndarray, np.ndarray, np.ndarray] | Other:
    """Compute selective risk against coverage at thresholds between cells of scores.

    The points are those of :func:`sklearn_reject.metrics.risk_coverage_curve`, not all
    of them. What lies between two points is bounded by the
    :meth:`~sklearn_reject.selection.RiskCoverageSummary.risk_coverage_band` of what
    :func:`summarize` returns. Lower risk is better.

    Parameters
    ----------
    y_true, y_pred : dask array or column of shape (n_samples,), array of \
            shape (n_samples, n_outputs), or None
        True labels or targets, and the predictions for all samples, rejected or not, as
        :meth:`~sklearn_reject.SelectiveClassifier.predict_label` returns them. None if
        `loss` contains the losses themselves.

    uncertainty : dask array or column of shape (n_samples,)
        Higher = more uncertain. Negate confidences.

    loss : str, array-like of shape (n_classes, n_classes), callable, TaskLoss, or \
            dask array or column of shape (n_samples,), default="zero_one"
        Cost of a prediction, as :func:`~sklearn_reject.losses.check_loss` takes it, or
        the losses themselves, one per sample. A callable gets one partition at a time.

    labels : array-like of shape (n_classes,), default=None
        Labels in the order of the cost matrix, which needs them as no partition has to
        have all classes, and those that `y_pred` may hold though `y_true` does not.

    sample_weight : dask array or column of shape (n_samples,), default=None
        Non-negative sample weights. Only their ratios matter.

    max_points : int >= 1, default=1000
        Largest number of points.

    compute : bool, default=True
        False gives a `dask.delayed.Delayed` of the answer. Warnings then come where it
        is computed.

    Returns
    -------
    coverage : ndarray of shape (n_points,)
        Weighted share of accepted samples, increasing up to 1.

    risk : ndarray of shape (n_points,)
        Weighted mean loss of the accepted samples, in units of the loss.

    thresholds : ndarray of shape (n_points,)
        Increasing: a sample is accepted whose uncertainty is at most the threshold.

    Raises
    ------
    ValueError
        If an argument is no dask collection, the collections are not cut at the same
        rows and cannot be, there are no samples, or an argument is invalid. Of values
        that are not finite or out of range, the error names the partition.

    Warns
    -----
    RejectionWarning
        If labels are compared and `y_pred` holds one that neither `y_true` nor `labels`
        has, which may be a reject label.

    Examples
    --------
    >>> import dask.array as da
    >>> from sklearn_reject.dask import risk_coverage_curve
    >>> y_true = da.from_array([0, 1, 1, 0], chunks=2)
    >>> y_pred = da.from_array([0, 1, 0, 1], chunks=2)
    >>> uncertainty = da.from_array([0.1, 0.2, 0.3, 0.4], chunks=2)
    >>> coverage, risk, _ = risk_coverage_curve(y_true, y_pred, uncertainty)
    >>> coverage
    array([0.25, 0.5 , 0.75, 1.  ])
    >>> risk.round(3)
    array([0.   , 0.   , 0.333, 0.5  ])
    """
    samples = partition_predictions(
        y_true, y_pred, uncertainty, loss, labels, sample_weight
    )

    def ask(summary, parts):
        return summary.risk_coverage_curve(max_points=max_points)

    return samples.answer(ask, compute=compute)


def _answer(samples, ask, method, compute):
    """Return an interval, or the value that both its ends are if it is exact."""
    answer = samples.answer(ask, method=method, compute=compute)
    return answer.value if method == "exact" else answer
