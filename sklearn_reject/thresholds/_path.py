"""Paths from the lowest thresholds to the highest, and the best of smooth ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize

from sklearn_reject._as_dict import DictMixin
from sklearn_reject._validation import check_option
from sklearn_reject.thresholds._documents import (
    RULES,
    check_scores,
    count_from,
    count_reached,
)
from sklearn_reject.thresholds._grid import rank_scores

# Levels of scores that the search tells apart; the path that it ends with is exact.
_MOST_LEVELS = 2048

# Logarithms of the exponents that it starts from; beyond 40 a classifier is overruled
# whatever its score, up to rounding.
_STARTS = np.array([0.0, -1, 1, -3, 3, -40, 40])
_N_STARTS = 3


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


def only_path(documents, through=()):
    """Return the only path of one classifier, with a vertex wherever its curve turns.

    Thresholds `through` are vertices, too.
    """
    others = [*documents.base, *through]
    turning, fp, tp = _turning_points(documents, documents.scores[:, 0], others)
    return path_of(turning[:, np.newaxis], fp, tp, documents.rule)


def _turning_points(documents, scores, others):
    """Return thresholds where the curve of one score turns, and the counts from there.

    Before and after each positive, at infinity, and `others`.
    """
    ordered = np.append(np.sort(scores), np.inf)
    own = np.unique(scores[documents.is_positive])
    above = ordered[np.searchsorted(ordered, own, side="right")]
    thresholds = np.unique(np.concatenate([others, own, above, [np.inf]]))
    [ranks] = rank_scores(scores[:, np.newaxis], [thresholds])
    fp, tp = (
        count_from(ranks[rows], weight, len(thresholds))
        for rows, weight in documents.classes
    )
    return thresholds, fp, tp


# The analytic path


def analytic_path(documents):
    """Find the path (x, x^p_2, .., x^p_N) with the largest area (RZMR20, eq. 2).

    It is a local optimum, with a vertex wherever its curve turns: at most two for each
    positive, and two more.
    """
    # The path maps x in [0, 1] to normalized thresholds, and Nelder-Mead minimizes the
    # energy -log(log(area)). No surface is interpolated: a document enters at the x
    # where its scores reach the thresholds, the largest of them under the rule "any"
    # and the smallest under "all", and the area is the AUROC of it. Scores are
    # normalized by ranks, so that a path depends on nothing but their order.
    if documents.n_classifiers == 1:
        return only_path(documents)
    u = _normalize_scores(documents)
    energy, n_others = _make_energy(documents, u), documents.n_classifiers - 1
    alone = np.multiply.outer(_STARTS, np.eye(n_others)).reshape(-1, n_others)
    same = np.repeat(_STARTS[:, np.newaxis], n_others, axis=1)
    starts = np.unique(np.vstack([same, alone]), axis=0)
    order = np.argsort([energy(start) for start in starts], kind="stable")
    found = []
    for start in starts[order[:_N_STARTS]]:
        simplex = start + np.vstack([0 * start, np.eye(n_others)])
        options = {"initial_simplex": simplex, "xatol": 1e-3, "fatol": 1e-7}
        found.append(minimize(energy, start, method="Nelder-Mead", options=options))
    parameters = min(found, key=lambda result: result.fun).x
    return _path_of_positions(documents, _enter(np.log(u), parameters))


def _enter(log_u, parameters):
    """Return log x where each normalized score equals its threshold.

    The parameters are the logarithms of the exponents from the second classifier on.
    """
    return log_u / np.exp(np.append(0.0, np.clip(parameters, -40, 40)))


def _normalize_scores(documents):
    """Return the mid-rank in (0, 1) of each score, both classes weighing the same.

    NaN for a score below the lowest threshold, which predicts no document positive.
    """
    # The weights of each class add up to a half: otherwise rare positives would share
    # next to no room on the scale.
    mass = np.empty(len(documents.scores))
    for rows, weight in documents.classes:
        mass[rows] = 0.5 / rows.sum() if weight is None else weight / weight.sum() / 2
    u = np.full(documents.scores.shape, np.nan)
    columns = zip(u.T, documents.scores.T, documents.base, strict=True)
    for ranks, scores, base in columns:
        reached = scores >= base
        _, group = np.unique(scores[reached], return_inverse=True)
        ends = np.cumsum(np.bincount(group, mass[reached]))
        middles = (np.append(0.0, ends[:-1]) + ends) / 2 / ends[-1:]
        # Weights may be so small that a rank is rounded to an end.
        eps = np.finfo(np.float64).eps
        ranks[reached] = np.clip(middles, eps, 1 - eps)[group]
    return u


def _make_energy(documents, u):
    """Return the energy as a function of parameters, lower is better."""
    # Positions are evaluated for levels of scores, and only their ranks count: numbers
    # of any scale can be compared, and each document costs a look-up a classifier.
    n_levels = min(_MOST_LEVELS, 8 * len(u))
    log_levels = np.log((np.arange(n_levels) + 0.5) / n_levels)[:, np.newaxis]
    # The last rank, 0, is that of scores without a level.
    levels = np.where(np.isnan(u), n_levels, u * n_levels).astype(np.intp)
    reduce = (np.maximum if documents.rule == "any" else np.minimum).reduce

    def energy(parameters):
        positions = _enter(log_levels, parameters)
        ranks = np.unique(positions, return_inverse=True)[1].reshape(positions.shape)
        ranks = np.vstack([ranks + 1, np.zeros_like(ranks[:1])])
        entered = reduce(np.take_along_axis(ranks, levels, axis=0), axis=1)
        # The area is the AUROC of the ranks at which documents enter.
        fp, tp = (
            np.bincount(entered[rows], weight, ranks.max() + 1)
            for rows, weight in documents.classes
        )
        below = np.cumsum(fp) - fp / 2
        return -np.log(np.log1p(1 + below @ tp / (fp.sum() * tp.sum())))

    return energy


def _path_of_positions(documents, positions):
    """Return the path on which each score is reached at a given position.

    NaN for scores below the lowest threshold. Vertices are before and after each
    position of a positive, and both ends.
    """
    reduce = np.fmax if documents.rule == "any" else np.minimum
    entered = reduce.reduce(positions, axis=1)
    turning, fp, tp = _turning_points(documents, entered, [entered.min()])
    columns = []
    for scores, column in zip(documents.scores.T, positions.T, strict=True):
        # The lowest score of the classifier at or above each position.
        known = ~np.isnan(column)
        order = np.argsort(column[known], kind="stable")
        lowest = np.append(
            np.minimum.accumulate(scores[known][order][::-1])[::-1], np.inf
        )
        columns.append(lowest[np.searchsorted(column[known][order], turning)])
    # Nothing is lost: the lowest position predicts all documents, as these do.
    thresholds = np.column_stack(columns)
    thresholds[0] = documents.base
    return path_of(thresholds, fp, tp, documents.rule)


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
