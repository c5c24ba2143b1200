"""An operating point, and how reliable it is."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from operator import add

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import ridder

from sklearn_reject._as_dict import DictMixin
from sklearn_reject._validation import check_option
from sklearn_reject.exceptions import (
    InfeasibleTargetError,
    round_down,
    round_up,
    warn_user,
)
from sklearn_reject.thresholds._documents import (
    RULES,
    check_columns,
    predict_positive,
)
from sklearn_reject.thresholds._intervals import intervals_of

# Slopes and targets that differ by no more than rounding are equal.
RELATIVE_TOLERANCE = 1e-12

# What rounding of sums of weights may come to, relative to the total.
_ROUNDING = 1e-11

# Wider than rounding and Ridders' tolerance, as a share of the documents.
_SAME_PLACE = 1e-9

# Of what is predicted positive: below, counts are far from the number of alerts.
_LOW_SHARE = 0.5

SMOOTHINGS = ("concave", "isotonic")


@dataclass(frozen=True, eq=False)
class OperatingPoint(DictMixin):
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
        Slope dTP/dFP that the target stands for; NaN for `max_alerts` and `min_recall`.

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

    @property
    def precision(self) -> float:
        """Share of true positives among what is predicted, NaN if nothing is."""
        predicted = self.tp + self.fp
        return self.tp / predicted if predicted else float("nan")

    @property
    def marginal_precision(self) -> float:
        """The target as a share of true positives among the last predicted."""
        return precision_at(self.target_derivative)

    @property
    def max_fp_per_tp(self) -> float:
        """The target as false positives for one more true positive."""
        return 1 / self.target_derivative

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
        scores = check_columns(scores, len(self.thresholds))
        return predict_positive(scores, self.thresholds, self.rule)


def make_point(documents, target, path, vertex, confidence_level=0.95):
    """Return the operating point at a vertex of a path, for a target.

    Warns where more is predicted than was rated, or might be by lower thresholds.
    """
    thresholds = path.thresholds[vertex]
    _warn_at_the_edge(documents, path, vertex)
    fp, tp = float(path.fp[vertex]), float(path.tp[vertex])
    evidence = documents.evidence_at(thresholds)
    _warn_of_unrated(documents, evidence)
    intervals = intervals_of(evidence, confidence_level)
    return OperatingPoint(
        thresholds,
        path.rule,
        fp,
        tp,
        evidence.n_predicted,
        evidence.rated_share,
        target.name,
        target.value,
        target.slope(path, vertex, documents),
        int(vertex),
        *intervals,
        confidence_level,
    )


def count_predicted(parts, thresholds):
    """Return how many of all documents are predicted, and the share that counts."""
    pairs = zip(parts, thresholds, strict=True)
    evidence = reduce(add, (part.evidence_at(own) for part, own in pairs))
    return evidence.n_predicted, evidence.rated_share


def _warn_at_the_edge(documents, path, vertex):
    """Warn where lower thresholds might be better, and nothing is known of them."""
    is_everything = path.tp[vertex] == path.tp[0]
    if is_everything and not documents.is_complete:
        warn_user(
            "At the operating point all rated positives are predicted positive. Lower "
            f"thresholds than {path.thresholds[0].tolist()} might meet the target, "
            "too, but ratings are incomplete below. Rate more documents, or use a "
            "larger derivative.",
        )
    elif is_everything and np.isneginf(path.thresholds[vertex]).any():
        warn_user(
            "At the operating point all documents are predicted positive, and so will "
            "be all new documents. If you passed only rated rows, add the others with "
            "unrated_label. Or use a larger derivative.",
        )


def _warn_of_unrated(documents, evidence):
    """Warn where the counts say little of what is predicted."""
    n_predicted, rated_share = evidence.n_predicted, evidence.rated_share
    if evidence.n_weightless:
        warn_user(
            f"{evidence.n_weightless} of the {n_predicted} documents that are "
            "predicted positive have weight 0 and count neither as true nor as false "
            "positives. If nobody has rated them, mark them with unrated_label, so "
            "that no threshold is chosen where ratings are incomplete.",
        )
        return
    if documents.is_drawn:
        return
    # Weights may stand for documents that were not drawn, too.
    total, unit = evidence.counts.sum(), evidence.weight_range[0]
    if rated_share < _LOW_SHARE and total / unit < _LOW_SHARE * n_predicted:
        warn_user(
            f"Of the {n_predicted} documents that are predicted positive only "
            f"{100 * rated_share:.3g} % are rated, and only these are counted: "
            f"{total:g} true and false positives. If they are a random sample, pass "
            "the probability of each document to be rated as inclusion_proba=, so that "
            "they represent all documents; otherwise raise base_thresholds.",
        )


def check_attainable(derivative, highest):
    """Raise if a target is above the highest slope that a curve attains.

    Of a smaller slope everything down to the lowest thresholds is worth its price.
    """
    if derivative <= highest * (1 + RELATIVE_TOLERANCE):
        return
    # What can be met, in each of the three names.
    raise InfeasibleTargetError(
        f"target_derivative={derivative:.6g} "
        f"(marginal_precision={derivative / (1 + derivative):.6g}, "
        f"max_fp_per_tp={1 / derivative:.6g}) cannot be met on these documents: "
        f"target_derivative can be at most {round_down(highest)}; that is a "
        f"marginal_precision of at most {round_down(precision_at(highest))}, or a "
        f"max_fp_per_tp of at least {round_up(1 / highest)}. Above it, no document "
        "would be predicted positive",
        "Use a smaller derivative, or scores that rank more positives first.",
        {"max_fp_per_tp": 1 / highest},
    )


def precision_at(slope):
    """Return the marginal precision at a slope dTP/dFP, which may be infinite."""
    return 1.0 if np.isinf(slope) else float(slope / (1 + slope))


def point_on_path(path, derivative, smoothing="concave"):
    """Find the vertex of a path at which one more false positive just pays.

    Of vertices with equal counts it is the one of the highest thresholds.
    """
    # The curve of a path is a step function, and its raw slopes are noise. The slopes
    # that count are those of its concave majorant, which are the isotonic regression of
    # the labels in the order of the path. They replace steps 7 and 8 of the analytic
    # approach in RZMR20, where a derivative is estimated from differences.
    vertices, slopes, rounding = _find_segments(path)
    check_attainable(derivative, float(slopes[-1]))
    if smoothing == "isotonic" and derivative >= slopes[0] * (1 - rounding[0]):
        return _nearest_to_interpolated(path, vertices, slopes, derivative)
    # It maximizes TP - FP * derivative. At a slope that equals the target, true
    # positives are worth their price.
    return int(vertices[np.sum(slopes < derivative * (1 - rounding))])


def _find_segments(path):
    """Return the vertices between segments of the majorant, and the slopes of these.

    The last array has by how much, relatively, each slope may be off.
    """
    vertices = path.majorant
    slopes, rounding = _slopes_between(path, vertices)
    if path.is_rounded:
        # Sums of weights part what would be one segment in counts.
        is_new = slopes[1:] * (1 - rounding[1:]) > slopes[:-1] * (1 + rounding[:-1])
        vertices = vertices[np.concatenate([[True], is_new, [True]])]
        slopes, rounding = _slopes_between(path, vertices)
    return vertices, slopes, rounding


def _slopes_between(path, vertices):
    up, right = -np.diff(path.tp[vertices]), -np.diff(path.fp[vertices])
    slopes = np.divide(up, right, out=np.full(len(up), np.inf), where=right > 0)
    rounding = np.full(len(up), RELATIVE_TOLERANCE)
    if path.is_rounded:
        # Sums of many weights are off by a share of the total. Nothing is if it is not
        # between the two vertices.
        both = (up > 0) & (right > 0)
        parts = path.tp[0] / up[both] + path.fp[0] / right[both]
        rounding[both] = np.minimum(rounding[both] + _ROUNDING * parts, 0.5)
    return slopes, rounding


def _nearest_to_interpolated(path, vertices, slopes, derivative):
    """Return the vertex nearest to where the interpolated slope meets the target.

    Of two that are equally near the lower one; it need not be on the majorant.
    """
    # The precision dTP / (dTP + dFP) of each segment of the majorant belongs to its
    # middle and is interpolated between, in the number of documents predicted positive.
    position = (path.fp + path.tp) / (path.fp[0] + path.tp[0])
    ends = position[vertices[::-1]]
    middles = (ends[:-1] + ends[1:]) / 2
    precisions = np.array([precision_at(slope) for slope in slopes[::-1]])
    wanted = np.clip(precision_at(derivative), precisions[-1], precisions[0])
    found = middles[0]
    if len(precisions) > 1:
        found = ridder(
            lambda x: np.interp(x, middles, precisions) - wanted, found, middles[-1]
        )
    distance = np.abs(position - found)
    # Rounding must not decide between two that are equally near.
    nearest = np.flatnonzero(distance <= distance.min() + _SAME_PLACE)
    return int(nearest[position[nearest] == position[nearest[0]]][-1])
