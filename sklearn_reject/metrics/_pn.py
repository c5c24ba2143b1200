"""Counts of true against false positives, from labels of which some are missing."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from sklearn_reject import _curves as curves
from sklearn_reject._labels import rate
from sklearn_reject._typing import Label
from sklearn_reject._validation import check_same_length, check_vector, of_ratings


@of_ratings
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
    scores, is_positive, weight = rated_documents(
        y_true, y_score, pos_label, unrated_label, sample_weight
    )
    return curves.pn_curve(scores, is_positive, sample_weight=weight)


@of_ratings
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
    scores, is_positive, weight = rated_documents(
        y_true, y_score, pos_label, unrated_label, sample_weight
    )
    return curves.pn_auc_score(
        scores, is_positive, max_fp=max_fp, normalize=normalize, sample_weight=weight
    )


def rated_documents(y_true, y_score, pos_label, unrated_label, sample_weight):
    """Return scores, what is positive, and weights of the rated documents."""
    y_score = check_vector(y_score, "y_score")
    check_same_length(y_score.size, y_true=y_true)
    ratings = rate(
        y_true,
        pos_label=pos_label,
        unrated_label=unrated_label,
        sample_weight=sample_weight,
        name="y_true",
    )
    return y_score[ratings.rows], ratings.is_positive, ratings.weight
