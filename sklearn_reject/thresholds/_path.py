"""Paths from the lowest thresholds to the highest."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from sklearn_reject._as_dict import DictMixin
from sklearn_reject._validation import check_option
from sklearn_reject.thresholds._documents import RULES, check_scores, count_reached


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
