"""An operating point, and how reliable it is."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import beta, chi2

from sklearn_reject._as_dict import DictMixin
from sklearn_reject._validation import check_option
from sklearn_reject.exceptions import warn_user
from sklearn_reject.thresholds._checks import check_scores
from sklearn_reject.thresholds._documents import RULES, predict_positive
from sklearn_reject.thresholds._targets import f1_of


class _HasPrecision:
    """What has counts of true and of false positives."""

    @property
    def precision(self) -> float:
        """Share of true positives among what is predicted, NaN if nothing is."""
        predicted = self.tp + self.fp
        return self.tp / predicted if predicted else float("nan")


@dataclass(frozen=True, eq=False)
class OperatingPoint(_HasPrecision, DictMixin):
    """Joint thresholds for a target, and what they attain.

    Attributes
    ----------
    thresholds : ndarray of shape (n_classifiers,)
        One threshold a classifier, infinite where one never predicts anything.

    rule : {"any", "all"}
        How the classifiers decide together.

    fp, tp : float
        False and true positives on the documents that tuned the thresholds, counts or
        sums of weights. Only rated documents count.

    n_predicted : int
        How many of all documents given are predicted positive, rated or not and
        whatever their weights: the alerts.

    rated_share : float
        Share of these that `fp` and `tp` are made of: rated, and not of weight zero.
        NaN if nothing is predicted positive.

    target, target_value : str and object
        Name of the target, and what was asked for by it.

    target_derivative : float
        Slope dTP/dFP at the point that the target stands for: 1 / `max_fp_per_tp`, or
        F1 / (2 - F1) where F1 is best. NaN for other targets.

    vertex : int
        Number of the vertex on the path that has these thresholds.

    fp_interval, tp_interval : tuple of float
        Interval of the expected count in a sample of as many documents, with the
        thresholds fixed: by Clopper and Pearson where all weigh the same, and by Fay
        and Feuer, with the largest weight, where they do not.

    precision_interval : tuple of float
        Bounds of the precision by Clopper and Pearson; where weights differ, from an
        effective number of documents, with one more of the largest weight against each
        bound, which is wide where few weigh much. NaN if nothing is predicted positive.
        As the same documents tuned the thresholds, the truth is rather in the lower
        part; cross-validation shows it.

    confidence_level : float
        Coverage of each interval.

    Examples
    --------
    >>> from sklearn_reject.thresholds import operating_point
    >>> scores = [[0.9, 0.2], [0.3, 0.7], [0.6, 0.5], [0.4, 0.3], [0.1, 0.6]]
    >>> point = operating_point(scores, [1, 1, 0, 0, 0], max_fp_per_tp=1)
    >>> point.thresholds, point.fp, point.tp, point.precision
    (array([0.75, 0.65]), 0.0, 2.0, 1.0)
    >>> point.predict([[0.95, 0.1], [0.5, 0.5]])
    array([ True, False])
    """

    thresholds: np.ndarray
    rule: str
    fp: float
    tp: float
    n_predicted: int
    rated_share: float
    target: str
    target_value: object
    target_derivative: float
    vertex: int
    fp_interval: tuple
    tp_interval: tuple
    precision_interval: tuple
    confidence_level: float

    def __post_init__(self):
        check_option(self.rule, "rule", RULES)

    def predict(self, scores: ArrayLike) -> np.ndarray:
        """Tell which documents are predicted positive.

        Parameters
        ----------
        scores : array-like of shape (n_documents, n_classifiers) or (n_documents,)
            Scores, higher = more likely positive. A vector is one classifier. NaN,
            where a classifier did not run, reaches no threshold.

        Returns
        -------
        is_predicted : ndarray of shape (n_documents,), dtype bool
            The predictions.

        Raises
        ------
        ValueError
            If there is not one column for each classifier, or a score is infinite.
        """
        scores = check_scores(scores, len(self.thresholds))
        return predict_positive(scores, self.thresholds, self.rule)


@dataclass(frozen=True, eq=False)
class CrossValidatedPoint(_HasPrecision, DictMixin):
    """What joint thresholds attain on documents that did not tune them.

    Attributes
    ----------
    thresholds : ndarray of shape (n_folds, n_classifiers)
        Thresholds tuned without each fold.

    fp, tp : float
        False and true positives, summed over the folds.

    n_predicted : int
        How many of all documents given are predicted positive, rated or not, summed
        over the folds.

    rated_share : float
        Share of these that `fp` and `tp` are made of. NaN if there are none.

    fp_interval, tp_interval : tuple of float
        Intervals of the expected sums, with the thresholds fixed, as an OperatingPoint
        has them. Thresholds that are tuned on other documents again vary, too, and
        false positives with them.

    precision_interval : tuple of float
        Confidence interval of the precision, with the thresholds fixed.

    normalized_area : float
        Area of the paths on the folds that did not tune them, over the number of
        positives times that of negatives: the mean over the folds with both, NaN
        without such folds. In [0, 1], higher is better.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn_reject import EnsembleThresholdTuner
    >>> scores, y = make_classification(
    ...     1000, 2, n_informative=2, n_redundant=0, weights=[0.9], random_state=0
    ... )
    >>> tuner = EnsembleThresholdTuner(None, max_fp_per_tp=1, cv=5)
    >>> point = tuner.fit(scores, y).cross_validated_point_
    >>> point.fp, point.tp, round(point.precision, 2), round(point.normalized_area, 2)
    (30.0, 81.0, 0.73, 0.96)
    """

    thresholds: np.ndarray
    fp: float
    tp: float
    n_predicted: int
    rated_share: float
    fp_interval: tuple
    tp_interval: tuple
    precision_interval: tuple
    normalized_area: float


def make_point(sums, census, target, path, vertex, confidence_level):
    """Return the operating point at a vertex of a path, for a target.

    `sums` are those of `RatedDocuments.sums_at`. Warns where more is predicted than was
    rated, or might be by lower thresholds.
    """
    _warn_at_the_edge(path, vertex, census)
    _warn_of_weightless(sums, census)
    counts = {"fp": float(path.fp[vertex]), "tp": float(path.tp[vertex])}
    derivative = float("nan")
    if target.name == "max_fp_per_tp":
        derivative = target.derivative
    elif target.name == "objective":
        half = f1_of(**counts, total_positive=census.total_positive) / 2
        derivative = float(half / (1 - half))
    return OperatingPoint(
        thresholds=path.thresholds[vertex],
        rule=path.rule,
        target=target.name,
        target_value=target.value,
        target_derivative=derivative,
        vertex=int(vertex),
        confidence_level=confidence_level,
        **describe(sums, census, confidence_level) | counts,
    )


def recount_point(point, documents):
    """Return an operating point with the counts of other documents."""
    sums = documents.sums_at(point.thresholds)
    return replace(point, **describe(sums, documents.census, point.confidence_level))


def describe(sums, census, confidence_level):
    """Return counts of what is predicted positive, and their intervals, by name.

    Those of counts cover the expected count of a sample of this size. The precision is
    NaN if nothing is predicted positive.
    """
    n_counted, n_predicted = int(sums[4]), int(sums[4:].sum())
    tails = (1 - confidence_level) / 2, (1 + confidence_level) / 2
    smallest, largest = census.weight_range
    if not largest:  # no document could be predicted
        smallest = largest = 1.0
    # In units of the largest weight, whose squares stay far from what float64 holds.
    totals, squares = sums[:2] / largest, sums[2:4] / largest / largest
    if smallest == largest:
        n = census.n_given
        shares = [_share_interval(np.rint(k), n, tails) for k in totals]
        bounds = n * largest * np.array(shares)
    else:
        pairs = zip(totals, squares, strict=True)
        bounds = largest * np.array(
            [_weighted_interval(*pair, tails) for pair in pairs]
        )
    fp, tp = (tuple(each) for each in bounds.tolist())
    return {
        "fp": float(sums[0]),
        "tp": float(sums[1]),
        "n_predicted": n_predicted,
        "rated_share": n_counted / n_predicted if n_predicted else float("nan"),
        "fp_interval": fp,
        "tp_interval": tp,
        "precision_interval": _precision_interval(*totals, squares.sum(), tails),
    }


def _warn_at_the_edge(path, vertex, census):
    """Warn where lower thresholds might be better, and nothing is known of them."""
    if path.tp[vertex] < path.tp[0]:
        return
    if not census.is_complete:
        warn_user(
            "At the operating point all rated positives are predicted positive. Lower "
            f"thresholds than {path.thresholds[0].tolist()} might meet the target, "
            "too, but ratings are incomplete below. Rate more documents, or accept "
            "fewer false positives."
        )
    elif np.isneginf(path.thresholds[vertex]).any():
        warn_user(
            "At the operating point all documents are predicted positive, and so will "
            "be all new documents. If you passed only rated rows, add the others with "
            "unrated_label. Or accept fewer false positives."
        )


def _warn_of_weightless(sums, census):
    """Warn where documents are predicted that nobody may have rated."""
    # Where weights of zero leave out positives as well, as in bagging, they are not
    # there to leave out what is unrated.
    if sums[6] and not census.leaves_out_positives:
        warn_user(
            f"{int(sums[6])} of the {int(sums[4:].sum())} "
            "documents that are predicted positive have weight 0 and count neither as "
            "true nor as false positives. If nobody has rated them, mark them with "
            "unrated_label: no threshold is chosen where ratings are incomplete."
        )


def _share_interval(successes, n, tails):
    """Return the bounds of Clopper and Pearson of a share; numbers may be broken."""
    failures = n - successes
    low = beta.ppf(tails[0], successes, failures + 1) if successes else 0.0
    high = beta.ppf(tails[1], successes + 1, failures) if failures > 0 else 1.0
    return float(low), float(high)


def _weighted_interval(total, squares, tails):
    """Return the bounds of the expected sum of a Poisson number of weights.

    Those of M. P. Fay and E. J. Feuer (1997), from gamma distributions of the mean and
    variance of the sum, for the upper bound with one more document of the largest
    weight. Where all weights are equal they are the exact ones of F. Garwood (1936).
    The sums of the weights, and of their squares, are in units of the largest.
    """
    low = _gamma_quantile(tails[0], total, squares) if total else 0.0
    return low, _gamma_quantile(tails[1], total + 1, squares + 1)


def _gamma_quantile(level, mean, variance):
    """Return a quantile of the gamma distribution of this mean and variance."""
    return variance / (2 * mean) * chi2.ppf(level, 2 * mean**2 / variance)


def _precision_interval(fp, tp, squares, tails):
    """Return the bounds of Clopper and Pearson of what is predicted positive.

    Each bound with one more document of the largest weight and of the class that is
    against it: with equal weights that is what they are. The sums of the weights, and
    of their squares, are in units of the largest.
    """
    if not fp + tp:
        return float("nan"), float("nan")
    bounds = []
    for own, other, tail in ((tp, fp, tails[0]), (fp, tp, 1 - tails[1])):
        # Weights that differ say less than their number: as much as the square of their
        # sum over the sum of their squares (L. Kish, 1965).
        known, against = own, other + 1
        scale = (known + against) / (squares + 1)
        bound = beta.ppf(tail, scale * known, scale * against) if known else 0.0
        bounds.append(float(bound))
    return bounds[0], 1 - bounds[1]
