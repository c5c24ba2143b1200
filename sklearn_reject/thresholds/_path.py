"""Paths from the lowest thresholds to the highest."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import gen_batches

from sklearn_reject._as_dict import DictMixin
from sklearn_reject._validation import check_option, take_weight
from sklearn_reject.thresholds._checks import check_scores
from sklearn_reject.thresholds._documents import RULES, count_from, locate_last

# A pass over all points at once is worth while as long as it leaves out so many.
_LARGEST_PART_LEFT = 0.75

# Numbers that are looked at at a time, as tables may fill the memory.
_LARGEST_PART = 1 << 16


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

    @cached_property
    def is_rounded(self) -> bool:
        """Whether FP, TP or their products are more than float64 can hold."""
        return not are_exact(self.fp, self.tp)

    @cached_property
    def majorant(self) -> np.ndarray:
        """Vertices on the concave majorant of the curve, with falling FP and TP."""
        rising = majorant_vertices(self.fp[::-1], self.tp[::-1])
        return len(self.fp) - 1 - rising[::-1]

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
        return locate_last(self.thresholds, scores, self.rule)


def recount_path(path, documents):
    """Return the same path with the counts, and the area, of other documents."""
    last = locate_last(path.thresholds, documents.scores, documents.rule)
    fp, tp = (
        count_from(last[rows], len(path), take_weight(documents.weight, rows)) * 1.0
        for rows in (~documents.is_positive, documents.is_positive)
    )
    return replace(path, fp=fp, tp=tp, area=area_under(fp, tp))


def are_exact(fp, tp):
    """Tell whether float64 holds counts and areas: whole numbers, and not too large."""
    fits = 2 * np.max(fp, initial=0.0) * np.max(tp, initial=0.0) < 2**53
    return bool(fits) and _are_whole(fp) and _are_whole(tp)


def _are_whole(values):
    values = values.ravel()
    parts = (values[rows] for rows in gen_batches(len(values), _LARGEST_PART))
    return all((part == np.rint(part)).all() for part in parts)


def area_under(fp, tp):
    """Return the area under TP against FP, by the trapezoidal rule."""
    return float(np.sum((fp[:-1] - fp[1:]) * (tp[:-1] + tp[1:])) / 2)


def majorant_vertices(fp, tp):
    """Return the numbers of the points that the least concave majorant turns at.

    It is the ROC convex hull in counts, which rise; its slopes are the isotonic
    regression of the labels in the order of the curve. Both ends are among them, of
    equal points the first, and none on a line between two others. Exact for counts as
    long as the product of the largest two is below 2**53.
    """
    moves = (np.diff(fp) != 0) | (np.diff(tp) != 0)
    left = np.flatnonzero(np.append(True, moves))
    # Leave out all points that are not above the line between their neighbors.
    n_before = np.inf
    while len(left) < _LARGEST_PART_LEFT * n_before:
        n_before = len(left)
        right, up = np.diff(fp[left]), np.diff(tp[left])
        turns_right = up[:-1] * right[1:] > up[1:] * right[:-1]
        left = left[np.concatenate([[True], turns_right, [True]])[:n_before]]
    # Of the others, find those that a string laid over all of them touches.
    x, y, chain = fp[left].tolist(), tp[left].tolist(), []
    for point in range(len(left)):
        while len(chain) > 1:
            first, second = chain[-2:]
            up, right = y[second] - y[first], x[second] - x[first]
            if up * (x[point] - x[second]) > (y[point] - y[second]) * right:
                break
            chain.pop()
        chain.append(point)
    return left[chain]


def only_path(documents, through=()):
    """Return the only path of one classifier, with a vertex wherever its curve turns.

    Thresholds `through` are vertices, too.
    """
    others = [*documents.base, *through]
    turning, fp, tp = turning_points(documents, documents.scores[:, 0], others)
    thresholds = turning[:, np.newaxis]
    return ThresholdPath(thresholds, fp, tp, area_under(fp, tp), documents.rule)


def turning_points(documents, scores, others):
    """Return thresholds where the curve of one score turns, and the counts from there.

    Before and after each positive, at infinity, and `others`.
    """
    ordered = np.append(np.sort(scores), np.inf)
    own = np.unique(scores[documents.is_positive])
    above = ordered[np.searchsorted(ordered, own, side="right")]
    thresholds = np.unique(np.concatenate([others, own, above, [np.inf]]))
    fp, tp = (
        _weigh_from(thresholds, scores[rows], take_weight(documents.weight, rows))
        for rows in (~documents.is_positive, documents.is_positive)
    )
    return thresholds, fp, tp


def _weigh_from(thresholds, scores, weight):
    """Return the weight of the scores from each threshold on."""
    if weight is None:
        below = np.searchsorted(np.sort(scores), thresholds, side="left")
        return (len(scores) - below).astype(np.float64)
    order = np.argsort(scores)
    below = np.searchsorted(scores[order], thresholds, side="left")
    # From the top, so that nothing is left above the highest score.
    from_top = np.append(np.cumsum(weight[order][::-1])[::-1], 0.0)
    return from_top[below]


def place_midway(path, documents):
    """Move thresholds from the scores of documents halfway to the next lower ones.

    The predictions of all documents given, rated or not, remain.
    """
    # A threshold that equals a score leaves it to rounding whether the document reaches
    # it, and few classifiers give the same score to the last digit in another batch;
    # and of two documents a new one is as likely to be nearer to the lower as to the
    # higher.
    moved, given = path.thresholds.copy(), documents.all_scores[documents.is_given]
    columns = zip(moved.T, given.T, documents.floor, strict=True)
    for column, scores, floor in columns:
        finite = np.isfinite(column)
        ordered = np.sort(scores[~np.isnan(scores)])
        middles = _middles_below(column[finite], ordered)
        column[finite] = np.maximum(middles, floor)
    if documents.is_complete:
        # Nothing is unknown further down, though unrated documents, of which a sample
        # was rated, may score lower still.
        is_last = ~(given < documents.base).any(axis=0)
        is_lowest = (path.thresholds == documents.base) & is_last
        if documents.rule == "all":
            is_lowest &= is_lowest.all(axis=1, keepdims=True)
        moved[is_lowest] = -np.inf
    return replace(path, thresholds=moved)


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
