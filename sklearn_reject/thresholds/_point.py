"""What joint thresholds are to attain, and what points and paths of them do."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import beta, chi2

from sklearn_reject._as_dict import DictMixin
from sklearn_reject._validation import check_count, check_number, check_option
from sklearn_reject.exceptions import (
    InfeasibleTargetError,
    round_down,
    round_up,
    warn_user,
)
from sklearn_reject.thresholds._documents import (
    RULES,
    check_scores,
    count_reached,
    predict_positive,
)

_PRICE = partial(check_number, open_low=True, open_high=True)
_SHARE = partial(check_number, high=1, open_low=True)

# Of each target, of which exactly one is given: the check of its value, and what is
# said if it cannot be met.
_TARGETS = {
    "max_fp_per_tp": (_PRICE, "it must be at least {} for anything to be predicted"),
    "max_alerts": (check_count, "the first true positive needs {} documents predicted"),
    "min_recall": (_SHARE, "the lowest thresholds reach {} of all rated positives"),
    "min_precision": (_SHARE, "the precision is at most {}"),
    "objective": (partial(check_option, options=("f1",)), ""),
}

TARGETS = tuple(_TARGETS)

# Bounds that differ by no more than rounding are equal.
_RELATIVE_TOLERANCE = 1e-12

# What rounding of sums of weights may come to, relative to the total.
_ROUNDING = 1e-11


@dataclass(frozen=True)
class Target:
    """What an operating point is to attain: the name of a parameter, and its value."""

    name: str
    value: object

    def of_share(self, share):
        """Return the same target for a share of the documents."""
        if self.name != "max_alerts":
            return self
        return replace(self, value=max(1, round(self.value * share)))

    def check(self, census):
        """Raise where nobody knows whether the target is met."""
        if self.name == "min_recall" and not census.is_complete:
            raise ValueError(
                "min_recall needs the number of all positives, but there are unrated "
                "documents. Use another target, or rate a random sample of all "
                "documents and pass its probability as inclusion_proba."
            )

    def costs(self, total, fp, tp, alerts=None):
        """Return what the best point has least of, a row a cost.

        First comes the value that a point meets, its negative where more is better, or
        minus infinity where that is enough; then what is least among those. `total` is
        the weight of all positives.
        """
        with np.errstate(divide="ignore", invalid="ignore"):
            if self.name == "max_fp_per_tp":
                met, costs = fp / tp, (fp / self.value - tp, -tp, fp)
            elif self.name == "max_alerts":
                met, costs = alerts, (-tp, fp)
            elif self.name == "min_recall":
                met, costs = -tp / total, (fp, -tp)
            elif self.name == "min_precision":
                met, costs = -tp / (tp + fp), (-tp, fp)
            else:
                met, costs = -tp, (-total * f1_of(fp, tp, total), -tp)
        # The largest first cost that is enough.
        sign, bound = 1 if self.name.startswith("max") else -1, np.inf
        if self.name != "objective":
            bound = sign * self.value * (1 + sign * _RELATIVE_TOLERANCE)
        met = np.where(met <= bound, -np.inf, met)
        return np.stack([np.where(tp > 0, met, np.inf), *costs])

    def choose(self, total, fp, tp, alerts=None):
        """Return the number of the best of some points, or raise with what can be met.

        Of points with equal counts it is the last, which has the highest thresholds.
        """
        costs = self.costs(total, fp, tp, alerts)
        best = find_least(costs)
        self.check_met(costs[0, best])
        return best

    def check_met(self, met):
        """Raise with what can be met, the first cost of the best point."""
        if met == -np.inf:
            return
        is_low = self.name.startswith("max")
        value, rounded = (met, round_up) if is_low else (-met, round_down)
        value = int(value) if self.name == "max_alerts" else float(value)
        reason = _TARGETS[self.name][1].format(rounded(value))
        way_out = "Allow this number" if is_low else "Use a lower one"
        raise InfeasibleTargetError(
            f"{self.name}={self.value} cannot be met on these documents: {reason}",
            f"{way_out}, or use scores that rank more positives first.",
            {self.name: value},
        )


def find_least(costs):
    """Return the last of the points whose costs are least, the first of them first."""
    rows = np.flatnonzero(costs[0] == costs[0].min())
    slack = _ROUNDING * np.abs(costs[1:, rows]).max()
    for values in costs[1:]:
        rows = rows[values[rows] <= values[rows].min() + slack]
    return int(rows[-1])


def resolve_target(*values):
    """Return the one target that is given, of values in the order of TARGETS."""
    named = dict(zip(TARGETS, values, strict=True))
    given = {name: value for name, value in named.items() if value is not None}
    if len(given) != 1:
        raise ValueError(
            f"Exactly one of {', '.join(TARGETS[:-1])} and {TARGETS[-1]} must be "
            f"given. Got {given or 'none'}."
        )
    [(name, value)] = given.items()
    return Target(name, _TARGETS[name][0](value, name))


def f1_of(fp, tp, total_positive):
    """Return F1 where there are so many positives in total."""
    return 2 * tp / (tp + fp + total_positive)


# Points and paths


@dataclass(frozen=True, eq=False)
class OperatingPoint(DictMixin):
    """Joint thresholds for a target, and what they attain.

    Attributes
    ----------
    thresholds : ndarray of shape (n_classifiers,)
        One threshold a classifier, infinite where one never predicts anything.

    rule : {"any", "all"}
        How the classifiers decide together.

    target, target_value : str and object
        Name of the target, and what was asked for by it.

    fp, tp : float
        False and true positives on the documents that tuned the thresholds, counts or
        sums of weights. Only rated documents count.

    precision : float
        Share of true positives among what is predicted, NaN if nothing is.

    n_predicted : int
        How many of all documents given are predicted positive, rated or not and
        whatever their weights: the alerts.

    rated_share : float
        Share of these that `fp` and `tp` are made of: rated, and not of weight zero.
        NaN if nothing is predicted positive.

    fp_interval, tp_interval : tuple of float
        Interval of the expected count in a sample of as many documents, with the
        thresholds fixed: by Clopper and Pearson where all weigh the same, and by Fay
        and Feuer, with the largest weight, where they do not.

    precision_interval : tuple of float
        Bounds of the precision by Clopper and Pearson; where weights differ, from an
        effective number of documents, with one more of the largest weight against each
        bound, which is wide where few weigh much. From 0 to 1 if nothing is predicted
        positive. As the same documents tuned the thresholds, the truth is rather in the
        lower part; cross-validation shows it.

    confidence_level : float
        Coverage of each interval.

    target_derivative : float
        Slope dTP/dFP at the point that the target stands for: 1 / `max_fp_per_tp`, or
        F1 / (2 - F1) where F1 is best. NaN for other targets.

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
    target: str
    target_value: object
    fp: float
    tp: float
    precision: float
    n_predicted: int
    rated_share: float
    fp_interval: tuple
    tp_interval: tuple
    precision_interval: tuple
    confidence_level: float
    target_derivative: float

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
class CrossValidatedPoint(DictMixin):
    """What joint thresholds attain on documents that did not tune them.

    Thresholds that are tuned on other documents again vary, and so do these numbers.

    Attributes
    ----------
    thresholds : ndarray of shape (n_folds, n_classifiers)
        Thresholds tuned without each fold.

    fp, tp : float
        False and true positives, summed over the folds.

    precision : float
        Share of true positives among what is predicted, NaN if nothing is.

    n_predicted : int
        How many of all documents given are predicted positive, rated or not, summed
        over the folds.

    rated_share : float
        Share of these that `fp` and `tp` are made of. NaN if there are none.

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
    precision: float
    n_predicted: int
    rated_share: float
    normalized_area: float


@dataclass(frozen=True, eq=False)
class ThresholdPath(DictMixin):
    """A monotone path through the space of thresholds, and its PN curve.

    Attributes
    ----------
    thresholds : ndarray of shape (n_vertices, n_classifiers)
        Thresholds of each vertex, none of which falls along the path: from the lowest,
        below which ratings are incomplete, to infinity.

    fp, tp : ndarray of shape (n_vertices,)
        False and true positives of each vertex, counts or sums of weights. None rises
        along the path.

    area : float
        Area under TP against FP by the trapezoidal rule, in units of their product.
        Higher is better.

    rule : {"any", "all"}
        How the classifiers decide together.

    Examples
    --------
    >>> from sklearn_reject.thresholds import optimal_path
    >>> scores = [[0.9, 0.2], [0.3, 0.7], [0.6, 0.5], [0.4, 0.3], [0.1, 0.6]]
    >>> path = optimal_path(scores, [1, 1, 0, 0, 0])
    >>> path.area
    6.0
    >>> path.locate([[0.95, 0.1], [0.05, 0.1]])
    array([9, 4])
    """

    thresholds: np.ndarray
    fp: np.ndarray
    tp: np.ndarray
    area: float
    rule: str

    def __post_init__(self):
        check_option(self.rule, "rule", RULES)

    def __len__(self) -> int:
        return len(self.fp)

    def locate(self, scores: ArrayLike) -> np.ndarray:
        """Return the last vertex at which each document is predicted positive.

        Parameters
        ----------
        scores : array-like of shape (n_documents, n_classifiers) or (n_documents,)
            Scores, higher = more likely positive. NaN reaches no threshold.

        Returns
        -------
        vertices : ndarray of shape (n_documents,)
            Position along the path, higher = more likely positive. -1 where not even
            the first vertex predicts the document positive.

        Raises
        ------
        ValueError
            If there is not one column for each classifier, or a score is infinite.
        """
        scores = check_scores(scores, self.thresholds.shape[1])
        return count_reached(self.thresholds, scores, self.rule) - 1


def path_of(thresholds, fp, tp, rule):
    """Return a path of thresholds and counts."""
    area = float(np.sum((fp[:-1] - fp[1:]) * (tp[:-1] + tp[1:])) / 2)
    return ThresholdPath(thresholds, fp, tp, area, rule)


def recount_path(path, documents):
    """Return the same path with the counts, and the area, of other documents."""
    fp, tp = documents.sums_at(path.thresholds)[:2]
    return path_of(path.thresholds, fp, tp, path.rule)


def describe(sums):
    """Return counts of what is predicted positive, of sums of documents, by name."""
    fp, tp = sums[:2].tolist()
    n_counted, n_predicted = int(sums[4]), int(sums[4] + sums[5])
    return {
        "fp": fp,
        "tp": tp,
        "precision": tp / (tp + fp) if tp + fp else float("nan"),
        "n_predicted": n_predicted,
        "rated_share": n_counted / n_predicted if n_predicted else float("nan"),
    }


def make_point(thresholds, rule, sums, census, target, confidence_level):
    """Return the operating point at some thresholds, for a target.

    `sums` are those of `RatedDocuments.sums_at`. Warns where all is predicted that the
    lowest thresholds reach, so that lower ones might be better.
    """
    counts = describe(sums)
    if counts["tp"] >= census.reached_positive * (1 - _ROUNDING):
        _warn_at_the_edge(thresholds, census)
    derivative = float("nan")
    if target.name == "max_fp_per_tp":
        derivative = 1 / target.value
    elif target.name == "objective":
        f1 = f1_of(counts["fp"], counts["tp"], census.total_positive)
        derivative = f1 / (2 - f1)
    return OperatingPoint(
        thresholds=thresholds,
        rule=rule,
        target=target.name,
        target_value=target.value,
        target_derivative=derivative,
        confidence_level=confidence_level,
        **counts | _intervals(sums, census, confidence_level),
    )


def recount_point(point, documents):
    """Return an operating point with the counts of other documents."""
    sums = documents.sums_at(point.thresholds[np.newaxis])[:, 0]
    intervals = _intervals(sums, documents.census, point.confidence_level)
    return replace(point, **describe(sums) | intervals)


def _warn_at_the_edge(thresholds, census):
    """Warn where lower thresholds might be better, and nothing is known of them."""
    if not census.is_complete or census.missed_positive:
        warn_user(
            "At the operating point all rated positives are predicted positive. Lower "
            f"thresholds than {census.lowest} might meet the target, too, but nothing "
            "is known below. Rate more documents, start a table lower, or accept fewer "
            "false positives."
        )
    elif np.isneginf(thresholds).any():
        warn_user(
            "At the operating point all documents are predicted positive, and so will "
            "be all new documents. If you passed only rated rows, add the others with "
            "unrated_label. Or accept fewer false positives."
        )


# Intervals


def _intervals(sums, census, confidence_level):
    """Return the intervals of counts and of the precision, by name.

    Those of counts cover the expected count of a sample of this size. Where all weights
    are equal, they are those of Clopper and Pearson, of a share of the documents. Else
    they are those of M. P. Fay and E. J. Feuer (1997) of the expected sum of a Poisson
    number of weights, from gamma distributions of the mean and variance of the sum, for
    the upper bound with one more document of the largest weight.
    """
    tails = (1 - confidence_level) / 2, (1 + confidence_level) / 2
    smallest, largest = census.weight_range
    if not largest:  # no document could be predicted
        smallest = largest = 1.0
    # In units of the largest weight, whose squares stay far from what float64 holds.
    totals, squares = sums[:2] / largest, sums[2:4] / largest / largest
    more = np.array([0, 1])
    if smallest == largest:
        n, counts = census.n_given, np.rint(totals)[:, np.newaxis]
        shares = beta.ppf(tails, counts + more, n - counts + 1 - more)
        bounds = n * np.where(np.isnan(shares), more, shares)
    else:
        mean = totals[:, np.newaxis] + more
        with np.errstate(divide="ignore", invalid="ignore"):
            scale = (squares[:, np.newaxis] + more) / (2 * mean)
        bounds = np.nan_to_num(scale * chi2.ppf(tails, mean / scale))
    fp, tp = map(tuple, (largest * bounds).tolist())
    precision = _precision_interval(*totals, squares.sum(), tails)
    return {"fp_interval": fp, "tp_interval": tp, "precision_interval": precision}


def _precision_interval(fp, tp, squares, tails):
    """Return the bounds of Clopper and Pearson of what is predicted positive.

    Each bound with one more document of the largest weight and of the class that is
    against it: with equal weights that is what they are. The sums of the weights, and
    of their squares, are in units of the largest.
    """
    # Weights that differ say less than their number: as much as the square of their sum
    # over the sum of their squares (L. Kish, 1965).
    scale, known = (fp + tp + 1) / (squares + 1), np.array([tp, fp])
    tails = tails[0], 1 - tails[1]
    bounds = beta.ppf(tails, scale * known, scale * (known[::-1] + 1))
    low, high = np.where(known > 0, bounds, 0.0).tolist()
    return low, 1 - high


# Between scores


def place_midway(thresholds, documents):
    """Move thresholds, (n_vertices, n_classifiers), halfway to the next lower scores.

    The predictions of all documents given, rated or not, remain.
    """
    # A threshold that equals a score leaves it to rounding whether the document reaches
    # it, and few classifiers give the same score to the last digit in another batch;
    # and of two documents a new one is as likely to be nearer to the lower as to the
    # higher.
    moved = thresholds.copy()
    columns = zip(moved.T, documents.levels, documents.floor, strict=True)
    for column, ordered, floor in columns:
        finite = np.isfinite(column)
        column[finite] = np.maximum(_middles_below(column[finite], ordered), floor)
    if documents.is_complete:
        # Nothing is unknown further down, though unrated documents, of which a sample
        # was rated, may score lower still.
        lowest = [own.min(initial=np.inf) for own in documents.levels]
        is_lowest = (thresholds == documents.base) & (documents.base <= lowest)
        if documents.rule == "all":
            is_lowest &= is_lowest.all(axis=1, keepdims=True)
        moved[is_lowest] = -np.inf
    return moved


def _middles_below(thresholds, ordered):
    """Return the middles between thresholds and the next lower of ordered scores.

    Below the lowest score, a threshold has one as far away as the next higher is.
    """
    if not len(ordered):  # no document has a score
        return thresholds
    n_below = np.searchsorted(ordered, thresholds, side="left")
    n_up_to = np.searchsorted(ordered, thresholds, side="right")
    above = ordered[np.minimum(n_up_to, len(ordered) - 1)]
    with np.errstate(over="ignore"):
        mirrored = thresholds - (above - thresholds)
    below = np.where(n_below > 0, ordered[n_below - 1], mirrored)
    middles = below / 2 + thresholds / 2
    # Neighbouring numbers have nothing between them.
    return np.where(middles > below, middles, thresholds)
