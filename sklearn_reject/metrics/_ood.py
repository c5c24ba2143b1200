"""How a score separates ID from OOD samples, from labels and uncertainties."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from sklearn_reject import _curves as curves
from sklearn_reject._typing import Label
from sklearn_reject._validation import of_arrays
from sklearn_reject.metrics._origins import scores_and_origins


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
        *samples,
        positive=positive,
        ood_prior=ood_prior,
        sample_weight=sample_weight,
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
        *samples,
        positive=positive,
        tpr=tpr,
        sample_weight=sample_weight,
    )
