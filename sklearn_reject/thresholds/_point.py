"""An operating point, and how reliable it is."""

from dataclasses import dataclass
from warnings import warn

import numpy as np

from sklearn_reject.thresholds._documents import check_columns
from sklearn_reject.thresholds._interval import count_intervals
from sklearn_reject.thresholds._rule import predict_positive
from sklearn_reject.thresholds._target import share_of


@dataclass(frozen=True, eq=False)
class OperatingPoint:
    """Joint thresholds for a target, and what they attain.

    Attributes
    ----------
    thresholds : ndarray of shape (n_classifiers,)
        One threshold a classifier, infinite where one never predicts anything.

    rule : {"any", "all"}
        How the classifiers decide together.

    fp, tp : float
        False and true positives on the documents that tuned the thresholds, counts or
        sums of weights.

    target_derivative : float
        Slope dTP/dFP that was aimed at.

    vertex : int
        Number of the vertex on the path that has these thresholds.

    fp_interval, tp_interval : tuple of float
        Interval of the counts by the bootstrap, with the thresholds fixed: how far they
        vary among samples of as many documents.

    precision_interval : tuple of float
        Bounds of the precision, Clopper-Pearson or, for documents with weights, by the
        bootstrap. NaN if nothing is predicted positive. As the same documents tuned the
        thresholds, the truth is rather in the lower part; cross-validation tells.

    confidence_level : float
        Coverage of each interval.

    Examples
    --------
    >>> from sklearn_reject.thresholds import operating_point
    >>> scores = [[0.9, 0.2], [0.3, 0.7], [0.6, 0.5], [0.4, 0.3], [0.1, 0.6]]
    >>> point = operating_point(scores, [1, 1, 0, 0, 0], marginal_precision=0.5)
    >>> point.thresholds, point.fp, point.tp, point.precision
    (array([0.75, 0.65]), 0.0, 2.0, 1.0)
    >>> point.predict([[0.95, 0.1], [0.5, 0.5]])
    array([ True, False])
    """

    thresholds: np.ndarray
    rule: str
    fp: float
    tp: float
    target_derivative: float
    vertex: int
    fp_interval: tuple
    tp_interval: tuple
    precision_interval: tuple
    confidence_level: float

    @property
    def precision(self):
        """Share of true positives among what is predicted, NaN if nothing is."""
        predicted = self.tp + self.fp
        return self.tp / predicted if predicted else float("nan")

    @property
    def marginal_precision(self):
        """The target as a share of true positives among the last predicted."""
        return share_of(self.target_derivative)

    @property
    def max_fp_per_tp(self):
        """The target as false positives for one more true positive."""
        return 1 / self.target_derivative

    def predict(self, scores):
        """Tell which documents are predicted positive.

        Parameters
        ----------
        scores : array-like of shape (n_documents, n_classifiers) or (n_documents,)
            Finite scores, higher = more likely positive. A vector is one classifier.

        Returns
        -------
        is_predicted : ndarray of shape (n_documents,), dtype bool
            The predictions.

        Raises
        ------
        ValueError
            If there is not one column for each classifier, or a score is not finite.
        """
        scores = check_columns(scores, len(self.thresholds))
        return predict_positive(scores, self.thresholds, self.rule)


def make_point(
    documents, derivative, path, vertex, *, confidence_level=0.95, random_state=None
):
    """Return the operating point at a vertex of a path.

    Parameters
    ----------
    documents : RatedDocuments
        What the path was found for.

    derivative : float > 0
        Target dTP/dFP.

    path : ThresholdPath
        The path.

    vertex : int
        Number of the vertex.

    confidence_level : float in ]0, 1[, default=0.95
        Coverage of the intervals.

    random_state : int, RandomState instance or None, default=None
        Source of the intervals of documents with weights.

    Returns
    -------
    point : OperatingPoint
        With counts and intervals.

    Warns
    -----
    UserWarning
        If all rated positives are predicted, although not all documents were rated.
    """
    thresholds = path.thresholds[vertex]
    if documents.is_partial and path.tp[vertex] == path.tp[0]:
        _warn_at_edge(path.thresholds[0])
    intervals = count_intervals(
        [documents],
        [thresholds],
        confidence_level=confidence_level,
        random_state=random_state,
    )
    return OperatingPoint(
        thresholds,
        path.rule,
        float(path.fp[vertex]),
        float(path.tp[vertex]),
        float(derivative),
        int(vertex),
        *intervals,
        confidence_level,
    )


def _warn_at_edge(lowest):
    warn(
        "At the operating point all rated positives are predicted positive. Lower "
        f"thresholds than {lowest.tolist()} might meet the target, too, but "
        "ratings are incomplete below. Rate more documents, or ask for a larger "
        "derivative.",
        UserWarning,
        stacklevel=4,
    )
