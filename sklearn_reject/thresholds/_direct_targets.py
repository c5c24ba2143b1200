"""The best of all joint thresholds for targets that are no prices."""

from dataclasses import replace
from functools import partial
from math import prod

import numpy as np

from sklearn_reject.exceptions import InfeasibleTargetError
from sklearn_reject.thresholds._direct import make_candidates, maximize, steepest_slope
from sklearn_reject.thresholds._documents import predict_positive
from sklearn_reject.thresholds._grid import (
    count_documents,
    count_ranks,
    grid_fits,
    locate_thresholds,
    rank_scores,
)
from sklearn_reject.thresholds._rectangle import gain
from sklearn_reject.thresholds._targets import (
    RELATIVE_TOLERANCE,
    f1_of,
    find_best,
    find_vertex,
)

# All combinations of thresholds are compared up to here: a quarter of a second.
_MOST_COMBINATIONS = 1 << 20

# Each iteration is a search of its own; fewer than ten are usual.
_MOST_ITERATIONS = 30


def direct_thresholds(documents, target, path):
    """Find the best thresholds for a target, none worse than those of a path.

    The F1 of one or two classifiers is the best one, as are other targets of up to a
    million combinations of thresholds. Beyond, it is the best of the points that
    maximize TP - cost * slope for some slope, and of the path, whose thresholds are
    scores.
    """
    if target.name == "objective":
        return _best_f1(documents, target, path)
    # A threshold between scores of positives predicts the same positives, and perhaps
    # more negatives.
    columns = zip(
        documents.base, documents.scores[documents.is_positive].T, strict=True
    )
    grid = [np.unique([base, *own[own >= base], np.inf]) for base, own in columns]
    shape = tuple(map(len, grid))
    if prod(shape) <= _MOST_COMBINATIONS and grid_fits(shape):
        return _best_combination(documents, target, grid, shape)
    return _best_on_hull(documents, target, path)


def _best_f1(documents, target, path):
    """Find the best F1 by Dinkelbach's method, from that of a path."""
    candidates, total = make_candidates(documents), documents.census.total_positive
    vertex = find_vertex(target, path, documents)
    best = path.thresholds[vertex]
    start = locate_thresholds(candidates.thresholds, best)
    index = start
    f1 = f1_of(path.fp[vertex], path.tp[vertex], total)
    while True:
        # F1 rises as long as TP - (TP + FP + P) F1 / 2 does.
        slope = f1 / 2 / (1 - f1 / 2) * (1 - RELATIVE_TOLERANCE)
        index = maximize(candidates, slope, starts=[start, index])
        counts = candidates.count(index)
        better = f1_of(counts.imag, counts.real, total)
        if not better > f1 * (1 + RELATIVE_TOLERANCE):
            return best
        best, f1 = candidates.thresholds_at(index), better


def _best_combination(documents, target, grid, shape):
    """Compare all combinations of thresholds."""
    fp, tp = (counts.ravel() for counts in count_documents(documents, grid))
    alerts = None
    if target.name == "max_alerts":
        scores = _predictable(documents)
        nobody = np.zeros(len(scores), dtype=bool)
        ranks = rank_scores(scores, grid)
        alerts = count_ranks(ranks, nobody, None, shape, documents.rule)[0].ravel()
    best = find_best(target, fp, tp, documents.census.total_positive, alerts)
    pairs = zip(grid, np.unravel_index(best, shape), strict=True)
    return np.array([own[k] for own, k in pairs])


def _predictable(documents):
    """Return the scores of all that the lowest thresholds predict, counted or not."""
    others, _ = documents.others
    is_reached = predict_positive(others, documents.base, documents.rule)
    return np.concatenate([documents.scores, others[is_reached]])


def _best_on_hull(documents, target, path):
    """Find the best of the points on the hull of TP against cost, and of a path."""
    candidates = make_candidates(documents)
    start, first = _start_on_hull(documents, target, path, candidates)
    if target.name == "max_alerts":
        # A document costs one alert, rated or not.
        scores = _predictable(documents)
        ranks = np.array(rank_scores(scores, candidates.thresholds), dtype=np.int32)
        tp = np.pad(candidates.counts.real, (0, len(scores) - len(documents.scores)))
        candidates = replace(candidates, ranks=ranks, counts=tp + 1j)
    found = _follow_hull(candidates, target, documents.census.total_positive, first)
    return start if found is None else candidates.thresholds_at(found)


def _start_on_hull(documents, target, path, candidates):
    """Return the best thresholds of a path that are allowed, and their numbers."""
    try:
        start = path.thresholds[find_vertex(target, path, documents)]
        return start, locate_thresholds(candidates.thresholds, start)
    except InfeasibleTargetError:
        if target.name != "min_precision":
            raise
    # The precision is highest where TP / FP is.
    index, _ = steepest_slope(candidates, partial(maximize, candidates))
    counts = np.array([candidates.count(index)])
    find_best(target, counts.imag, counts.real, documents.census.total_positive)
    return candidates.thresholds_at(index), index


def _follow_hull(candidates, target, total_positive, first):
    """Return the best allowed point, by secants between those on either side of it.

    None if `first` stays the best.
    """
    is_recall = target.name == "min_recall"
    # The last that predicts too much, or enough; and what the other side has.
    high, low = candidates.count([0] * len(candidates)), 0j
    best, found = candidates.count(first), None
    for _ in range(_MOST_ITERATIONS):
        if high.imag == low.imag:
            break
        slope = (high.real - low.real) / (high.imag - low.imag)
        if slope <= 0:
            break
        index = maximize(candidates, slope, starts=[first])
        counts = candidates.count(index)
        least = gain(low, slope) + RELATIVE_TOLERANCE * high.real
        if not gain(counts, slope) > least:
            break
        is_allowed = _allows(target, counts, total_positive)
        low, high = (low, counts) if is_allowed == is_recall else (counts, high)
        if is_allowed and _rank(counts, is_recall) > _rank(best, is_recall):
            best, found = counts, index
    return found


def _allows(target, counts, total_positive):
    """Tell whether counts of true positives and of cost meet a target."""
    if target.name == "max_alerts":
        return counts.imag <= target.value
    if target.name == "min_recall":
        return counts.real >= target.value * total_positive
    predicted = target.value * (counts.real + counts.imag)
    return counts.real * (1 + RELATIVE_TOLERANCE) >= predicted


def _rank(counts, is_recall):
    """Return what is larger for better counts: more true positives, or less cost."""
    tp, cost = counts.real, counts.imag
    return (-cost, tp) if is_recall else (tp, -cost)
