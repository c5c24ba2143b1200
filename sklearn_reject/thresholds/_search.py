"""The best path and the best point of joint thresholds, of documents or by folds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import cycle, islice
from math import prod
from numbers import Integral
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_scalar
from sklearn.utils.parallel import Parallel, delayed

from sklearn_reject._travel import Carried
from sklearn_reject._typing import Label
from sklearn_reject._validation import check_level, check_option, of_ratings
from sklearn_reject.exceptions import InfeasibleTargetError
from sklearn_reject.thresholds._analytic import analytic_path, only_path
from sklearn_reject.thresholds._documents import check_documents, count_from
from sklearn_reject.thresholds._graph import (
    count_ranks,
    graph_path,
    grid_fits,
    locate_thresholds,
    rank_scores,
)
from sklearn_reject.thresholds._point import (
    CrossValidatedPoint,
    OperatingPoint,
    Target,
    ThresholdPath,
    describe,
    find_least,
    make_point,
    path_of,
    place_midway,
    resolve_target,
)
from sklearn_reject.thresholds._selected import warn_if_selected

PATH_METHODS = ("graph", "analytic")

# All combinations of thresholds are compared up to here: half a second, 100 MB.
_MOST_COMBINATIONS = 1 << 22

# Random starts, fewer where ranks of so many scores take long.
_MOST_RANDOM_STARTS = 32
_MOST_SCORES = 1_000_000

# What rounding may add up to, relative to all counts: with a wide margin, as nothing is
# lost by thresholds that are kept in vain.
_SLACK = 1e-9

# Rounding might lead in circles; fewer than ten are usual.
_MOST_SWEEPS = 50


@dataclass(frozen=True)
class Tuning:
    """What is tuned, and how; without a target, a path alone.

    Thresholds are scores until they are placed midway between them.
    """

    target: Target | None
    method: str = "graph"
    n_thresholds: int = 100
    confidence_level: float = 0.95

    def __post_init__(self):
        check_option(self.method, "method", (*PATH_METHODS, "direct"))
        check_scalar(self.n_thresholds, "n_thresholds", Integral, min_val=2)
        check_level(self.confidence_level, "confidence_level")

    def find_path(self, documents):
        """Return the path of the largest area, for "direct" that of "graph"."""
        if len(documents.base) == 1:
            return only_path(documents)
        if self.method == "analytic":
            return analytic_path(documents)
        return graph_path(documents, self.n_thresholds)

    def find_thresholds(self, documents, path):
        """Return the best thresholds, on the path or, for "direct", of all."""
        target, total = self.target, documents.census.total_positive
        target.check(documents.census)
        # The path of the largest area may be far from the most true positives among so
        # many alerts. One classifier has a single path, which nothing is better than.
        is_direct = self.method == "direct"
        is_direct |= self.method == "graph" and target.name == "max_alerts"
        if is_direct and len(documents.base) > 1:
            return CoordinateAscent(documents, target, path).find_best()
        alerts = None
        if target.name == "max_alerts":
            alerts = documents.sums_at(path.thresholds)[4:].sum(axis=0)
        return path.thresholds[target.choose(total, path.fp, path.tp, alerts)]

    def make_path(self, documents, path, thresholds):
        """Return a path that has some thresholds as a vertex, and which.

        That of the largest area, led through them.
        """
        is_there = (path.thresholds == thresholds).all(axis=1)
        if not is_there.any():
            below = np.minimum(path.thresholds, thresholds)
            rows = np.vstack([below, np.maximum(path.thresholds, thresholds)])
            rows = rows[np.append(True, (rows[1:] != rows[:-1]).any(axis=1))]
            path = path_of(rows, *documents.sums_at(rows)[:2], path.rule)
            is_there = (rows == thresholds).all(axis=1)
        moved = place_midway(path.thresholds, documents)
        return replace(path, thresholds=moved), int(np.flatnonzero(is_there)[-1])

    def make_point(self, documents, thresholds):
        """Return the operating point of some thresholds, which are placed midway."""
        sums = documents.sums_at(thresholds[np.newaxis])[:, 0]
        asked = self.target, self.confidence_level
        return make_point(thresholds, documents.rule, sums, documents.census, *asked)

    def cross_validate(self, documents, folds, n_jobs=None):
        """Tune thresholds on training parts, and count on test parts.

        `folds` are pairs of masks of the documents, each with both classes in its
        training part; None without folds. Where that part cannot meet the target,
        nothing is predicted.
        """
        if not folds:
            return None
        shared = Carried((self, replace(documents)))  # without what it has cached
        found = Parallel(n_jobs=n_jobs)(
            delayed(_tune_and_judge)(shared, fold) for fold in folds
        )
        thresholds, sums, areas = zip(*found, strict=True)
        known = [area for area in areas if not np.isnan(area)]
        area = float(np.mean(known)) if known else float("nan")
        return CrossValidatedPoint(
            np.array(thresholds), normalized_area=area, **describe(sum(sums))
        )


def _tune_and_judge(shared, fold):
    """Return thresholds, and sums and normalized area of the test part."""
    tuning, documents = shared.value
    train, test = map(documents.take, fold)
    share = train.census.n_given / documents.census.n_given
    tuning = replace(tuning, target=tuning.target.of_share(share))
    path = tuning.find_path(train)
    try:
        found = tuning.find_thresholds(train, path)
    except InfeasibleTargetError:
        # What can be met by all documents may be out of reach of a part of them.
        found = path.thresholds[-1]
    [found] = place_midway(found[np.newaxis], train)
    fp, tp = test.sums_at(place_midway(path.thresholds, train))[:2]
    largest = fp[0] * tp[0]
    area = path_of(None, fp, tp, path.rule).area / largest if largest else np.nan
    return found, test.sums_at(found[np.newaxis])[:, 0], area


class CoordinateAscent:
    """Improves the threshold of one classifier after the other, given the others.

    Thresholds are scores of positives, or infinity: one between them predicts the same
    positives, and perhaps more negatives.
    """

    def __init__(self, documents, target, path):
        self.target, self.is_any = target, documents.rule == "any"
        self.total = documents.census.total_positive
        scores, is_positive = documents.scores, documents.is_positive
        weight = 1.0 if documents.weight is None else documents.weight
        weights = [np.where(rows, weight, 0.0) for rows in (~is_positive, is_positive)]
        known = documents.sums_at(path.thresholds)
        sums = known[:2]
        if target.name == "max_alerts":  # of a document, rated or not
            weights = [np.pad(each, (0, len(documents.others))) for each in weights]
            scores = np.concatenate([scores, documents.others])
            weights.append(np.ones(len(scores)))
            sums = np.stack([*sums, known[4] + known[5]])
        self.weights, costs = np.stack(weights), target.costs(self.total, *sums)
        # The best point of the path is where one climb starts.
        best = find_least(costs)
        self.fp, self.tp = sums[:2, best]
        pairs = zip(documents.scores[is_positive].T, documents.base, strict=True)
        grid = [np.append(np.unique(own[own >= low]), np.inf) for own, low in pairs]
        ranks = rank_scores(scores, grid)
        if self.is_any:
            for column, own in enumerate(ranks):
                first = self._find_first(own, len(grid[column]), costs[:, best])
                grid[column] = grid[column][first:]
                ranks[column] = np.maximum(own - first, 0)
        combine = np.logical_or if self.is_any else np.logical_and
        is_reached = combine.reduce(np.array(ranks) > 0)
        self.grid, self.ranks = grid, np.array(ranks)[:, is_reached]
        self.weights = self.weights[:, is_reached]
        self.start = locate_thresholds(grid, path.thresholds[best])

    def _find_first(self, ranks, size, known):
        """Return the first threshold of a classifier that may be better than known."""
        # Under "any" it predicts its false positives whatever the others are. Suppose
        # that all positives were predicted beside them.
        sums = np.stack([count_from(ranks, own, size) for own in self.weights])
        sums[1] = self.weights[1].sum()
        costs, slack = self.target.costs(self.total, *sums), _SLACK * sums[:2].max()
        is_as_good = (costs[0] == known[0]) & (costs[1] <= known[1] + slack)
        return np.argmax((costs[0] < known[0]) | is_as_good)

    def find_best(self):
        """Return the best thresholds.

        The best of all combinations up to a million, and a local optimum beyond, never
        worse than any point of the path.
        """
        found = [self.climb(*start, self.target) for start in self.starts()]
        costs, index = min(found, key=lambda each: each[0])
        self.target.check_met(costs[0])
        pairs = zip(self.grid, index, strict=True)
        return np.array([values[number] for values, number in pairs])

    def starts(self):
        """Yield numbers of thresholds to climb from, and an order of the classifiers.

        A single one where all combinations can be compared.
        """
        shape, rule = tuple(map(len, self.grid)), "any" if self.is_any else "all"
        columns, highest = np.arange(len(shape))[::-1], np.array(shape) - 1
        if prod(shape) <= _MOST_COMBINATIONS and grid_fits(shape):
            groups = [(slice(None), weight) for weight in self.weights]
            sums = count_ranks(self.ranks, groups, shape, rule).reshape(len(groups), -1)
            best = find_least(self.target.costs(self.total, *sums))
            yield np.unravel_index(best, shape), columns
            return
        yield self.start, columns
        corner = highest if self.is_any else 0 * highest
        for first in columns:  # what one classifier decides alone
            yield corner, np.roll(columns, first)
        rng, most = np.random.default_rng(0), _MOST_SCORES // self.ranks.size
        for _ in range(min(max(most, 4), _MOST_RANDOM_STARTS)):
            away = rng.random() * rng.random(len(shape)) * highest
            # A price moves what no single threshold could without missing a bound: that
            # of the best F1, and others around it.
            price = (self.fp + self.total) / self.tp * np.exp(rng.uniform(-1, 1))
            columns = rng.permutation(columns)
            start = np.abs(corner - away.astype(np.intp))
            yield self.climb(start, columns, Target("max_fp_per_tp", price))[1], columns

    def climb(self, index, columns, target):
        """Return the costs and numbers of thresholds that no single one improves."""
        index, n_stale = np.array(index), 0
        reached, sums = self.ranks > index[:, np.newaxis], self.weights.sum(axis=1)
        n_reached = reached.sum(axis=0)
        for column in islice(cycle(columns), _MOST_SWEEPS * len(columns)):
            n_others = n_reached - reached[column]
            free = np.flatnonzero(n_others == (0 if self.is_any else len(columns) - 1))
            ranks, size = self.ranks[column, free], len(self.grid[column])
            own = self.weights[:, free]
            counts = np.stack([count_from(ranks, each, size) for each in own])
            if self.is_any:  # the others predict the rest, whatever this one does
                counts += (sums - own.sum(axis=1))[:, np.newaxis]
            costs = target.costs(self.total, *counts)
            best, now = find_least(costs), index[column]
            # Of equal costs it is the highest threshold.
            n_stale += 1
            if (*costs[:, best], -best) < (*costs[:, now], -now):
                index[column], n_stale = best, 1
                reached[column] = self.ranks[column] > best
                n_reached = n_others + reached[column]
            if n_stale == len(columns):
                break
        return tuple(costs[:, index[column]]), index


@of_ratings
def optimal_path(
    scores: ArrayLike,
    y: ArrayLike,
    *,
    rule: Literal["any", "all"] = "any",
    method: Literal["graph", "analytic"] = "graph",
    n_thresholds: int = 100,
    unrated_label: Label = -1,
    sample_weight: ArrayLike | None = None,
    pos_label: Label = None,
    inclusion_proba: ArrayLike | None = None,
) -> ThresholdPath:
    """Find the path of joint thresholds with the largest area under TP against FP.

    A path raises the thresholds of several classifiers together, none of them ever
    falling, from the lowest to infinity. What counts is which of the documents that
    were rated it predicts positive on its way (RZMR20).

    Parameters
    ----------
    scores : array-like of shape (n_documents, n_classifiers) or (n_documents,)
        Scores, higher = more likely positive. NaN if a classifier did not run, which
        reaches no threshold: with "any" the others decide, and with "all" the document
        is not predicted positive.

    y : array-like of shape (n_documents,)
        1 for rated positives, 0 for rated negatives, `unrated_label` or NaN for the
        others, which never count.

    rule : {"any", "all"}, default="any"
        A document is predicted positive if any of its scores reaches its threshold
        (union), or if all do (intersection).

    method : {"graph", "analytic"}, default="graph"
        "graph" finds the best path on a grid of thresholds. "analytic" fits the smooth
        path (x, x^p_2, .., x^p_N) of normalized thresholds.

    n_thresholds : int >= 2, default=100
        Largest number of thresholds of a classifier on the grid.

    unrated_label : label, default=-1
        Label of documents that were not rated. Missing values always mean not rated.

    sample_weight : array-like of shape (n_documents,), default=None
        Weight of each document, such as the inverse of its probability to be rated.

    pos_label : label, default=None
        The positive class. None is 1 if the classes are 0 and 1, and the last of two
        sorted classes otherwise.

    inclusion_proba : float or array-like of shape (n_documents,), default=None
        Probability in (0, 1] of each document to be rated, if it was drawn at random,
        and NaN otherwise. Rated documents have the inverse as weight, times
        `sample_weight`, and represent unrated ones with the same probability. Only
        unrated documents without one mean that ratings are incomplete.

    Returns
    -------
    path : ThresholdPath
        Thresholds, false and true positives of each vertex, and the area.

    Raises
    ------
    ValueError
        If a parameter is invalid, scores are infinite or constant, a class has no
        rated documents, there are no thresholds down to which ratings are known, or
        the grid is too large for the memory.

    References
    ----------
    E. Robles, F. Zaidouni, A. Mavromoustaki, P. Refael. Threshold Optimization in
    Multiple Binary Classifiers for Extreme Rare Events using Predicted Positive Data.
    AAAI-MAKE, 2020.

    Examples
    --------
    >>> from sklearn_reject.thresholds import optimal_path
    >>> scores = [[0.9, 0.2], [0.3, 0.7], [0.6, 0.5], [0.4, 0.3], [0.1, 0.6]]
    >>> path = optimal_path(scores, [1, 1, 0, 0, 0])
    >>> path.area  # 2 positives times 3 negatives: no path is better
    6.0
    >>> path.fp[::2], path.tp[::2]
    (array([3., 3., 3., 2., 0., 0.]), array([2., 2., 2., 2., 2., 0.]))
    """
    check_option(method, "method", PATH_METHODS)
    tuning = Tuning(None, method, n_thresholds)
    ratings = unrated_label, sample_weight, pos_label, inclusion_proba
    documents = check_documents(scores, y, rule, *ratings)
    warn_if_selected(documents)
    path = tuning.find_path(documents)
    return replace(path, thresholds=place_midway(path.thresholds, documents))


@of_ratings
def operating_point(
    scores: ArrayLike,
    y: ArrayLike,
    *,
    max_fp_per_tp: float | None = None,
    max_alerts: int | None = None,
    min_recall: float | None = None,
    min_precision: float | None = None,
    objective: Literal["f1"] | None = None,
    method: Literal["graph", "analytic", "direct"] = "graph",
    rule: Literal["any", "all"] = "any",
    n_thresholds: int = 100,
    unrated_label: Label = -1,
    sample_weight: ArrayLike | None = None,
    pos_label: Label = None,
    inclusion_proba: ArrayLike | None = None,
    confidence_level: float = 0.95,
) -> OperatingPoint:
    """Find the joint thresholds that are best for a target.

    The point at which the slope dTP/dFP of the PN curve meets a target (RZMR20). The
    curve of counts is a step function, whose differences are noise; the slopes are
    those of its concave majorant.

    Parameters
    ----------
    scores : array-like of shape (n_documents, n_classifiers) or (n_documents,)
        Scores, higher = more likely positive. NaN if a classifier did not run, which
        reaches no threshold: with "any" the others decide, and with "all" the document
        is not predicted positive.

    y : array-like of shape (n_documents,)
        1 for rated positives, 0 for rated negatives, `unrated_label` or NaN for the
        others, which never count.

    max_fp_per_tp : float > 0, default=None
        False positives that one more true positive may cost, 1 / d: the point maximizes
        TP - FP * d, where d = dTP/dFP is the slope of the curve. The share of true
        positives among the last documents predicted is then d / (1 + d). Exactly one of
        this and the next four must be given.

    max_alerts : int >= 1, default=None
        The most true positives with at most this number of documents predicted
        positive, of all documents given, rated or not.

    min_recall : float in (0, 1], default=None
        The fewest false positives with at least this share of all positives found.
        Needs ratings of all documents, or of a sample of them, see `inclusion_proba`.

    min_precision : float in (0, 1], default=None
        The most true positives with at least this precision, TP / (TP + FP) of the
        rated documents.

    objective : {"f1"}, default=None
        The best F1 of the rated documents.

    method : {"graph", "analytic", "direct"}, default="graph"
        "graph" and "analytic" find the point on the path of the largest area, see
        :func:`~sklearn_reject.thresholds.optimal_path`. "direct" finds the best of all
        combinations of thresholds up to a million, such as those of two classifiers and
        a thousand positives. Beyond, it moves one threshold after the other, from many
        starts, to a local optimum that is never worse than the path of "graph". For
        `max_alerts`, "graph" does the same, as its path may be far from the best.
        "direct" fits the documents given more closely than a path.

    rule : {"any", "all"}, default="any"
        A document is predicted positive if any of its scores reaches its threshold
        (union), or if all do (intersection).

    n_thresholds : int >= 2, default=100
        Largest number of thresholds of a classifier on the grid of "graph".

    unrated_label : label, default=-1
        Label of documents that were not rated. Missing values always mean not rated.

    sample_weight : array-like of shape (n_documents,), default=None
        Weight of each document, such as the inverse of its probability to be rated.

    pos_label : label, default=None
        The positive class. None is 1 if the classes are 0 and 1, and the last of two
        sorted classes otherwise.

    inclusion_proba : float or array-like of shape (n_documents,), default=None
        Probability in (0, 1] of each document to be rated, if it was drawn at random,
        and NaN otherwise. Rated documents have the inverse as weight, times
        `sample_weight`, and represent unrated ones with the same probability. Only
        unrated documents without one mean that ratings are incomplete.

    confidence_level : float in (0, 1), default=0.95
        Coverage of the intervals of counts and precision.

    Returns
    -------
    point : OperatingPoint
        Thresholds, which are midway between scores, counts, precision and their
        intervals.

    Raises
    ------
    InfeasibleTargetError
        If the target cannot be met. Its `attainable` has the value that can.
    ValueError
        If not exactly one target is given, a parameter is invalid, scores are
        infinite or constant, a class has no rated documents, there are no thresholds
        down to which ratings are known, or the grid is too large for the memory.

    See Also
    --------
    sklearn_reject.EnsembleThresholdTuner : The same for classifiers.
    sklearn_reject.thresholds.PNTable : The same from counts, which add up over parts of
        the documents.

    References
    ----------
    E. Robles, F. Zaidouni, A. Mavromoustaki, P. Refael. Threshold Optimization in
    Multiple Binary Classifiers for Extreme Rare Events using Predicted Positive Data.
    AAAI-MAKE, 2020.

    Examples
    --------
    >>> from sklearn_reject.thresholds import operating_point
    >>> scores = [[0.9, 0.2], [0.3, 0.7], [0.6, 0.5], [0.4, 0.3], [0.1, 0.6]]
    >>> point = operating_point(scores, [1, 1, 0, 0, 0], max_fp_per_tp=2)
    >>> point.thresholds, point.fp, point.tp
    (array([0.75, 0.65]), 0.0, 2.0)
    """
    asked = max_fp_per_tp, max_alerts, min_recall, min_precision, objective
    tuning = Tuning(resolve_target(*asked), method, n_thresholds, confidence_level)
    ratings = unrated_label, sample_weight, pos_label, inclusion_proba
    documents = check_documents(scores, y, rule, *ratings)
    warn_if_selected(documents)
    path = tuning.find_path(documents)
    found = tuning.find_thresholds(documents, path)[np.newaxis]
    return tuning.make_point(documents, *place_midway(found, documents))
