"""The best of all joint thresholds for targets that are no slopes."""

from dataclasses import replace
from math import prod

import numpy as np

from sklearn_reject.thresholds._direct import (
    Candidates,
    gain,
    make_candidates,
    maximize,
)
from sklearn_reject.thresholds._grid import (
    count_ranks,
    count_reached,
    grid_fits,
    locate_thresholds,
)
from sklearn_reject.thresholds._targets import AlertsTarget, F1Target, f1_of

# All combinations of thresholds are compared up to here: a quarter of a second.
_MOST_COMBINATIONS = 1 << 20

_TOLERANCE = 1e-12

# Each iteration is a search of its own; fewer than ten are usual.
_MOST_ITERATIONS = 30


def direct_thresholds(documents, target, path):
    """Find the best thresholds for a target, none worse than those of a path.

    The F1 of one or two classifiers is the best one, as are other targets of up to a
    million combinations of thresholds. Beyond, it is the best of the points that
    maximize TP - cost * slope for some slope, and of the path, whose thresholds are
    scores.
    """
    if isinstance(target, F1Target):
        return _best_f1(documents, target, path)
    grid = _grid_of_positives(documents)
    shape = tuple(map(len, grid))
    if prod(shape) <= _MOST_COMBINATIONS and grid_fits(shape):
        return _best_combination(documents, target, grid, shape)
    return _best_on_hull(documents, target, path)


def _best_f1(documents, target, path):
    """Find the best F1 by Dinkelbach's method, from that of a path."""
    candidates, total = make_candidates(documents), documents.total_positive
    vertex = target.find_vertex(path, documents)
    best = path.thresholds[vertex]
    start = locate_thresholds(candidates.thresholds, best)
    index = start
    f1 = f1_of(path.fp[vertex], path.tp[vertex], total)
    while True:
        # F1 rises as long as TP - (TP + FP + P) F1 / 2 does.
        slope = f1 / 2 / (1 - f1 / 2) * (1 - _TOLERANCE)
        index = maximize(candidates, slope, starts=[start, index])
        counts = candidates.count(index)
        better = f1_of(counts.imag, counts.real, total)
        if not better > f1 * (1 + _TOLERANCE):
            return best
        best, f1 = _as_thresholds(candidates, index), better


def _grid_of_positives(documents):
    """Return the lowest thresholds, scores of positives, and infinity."""
    # A threshold between them predicts the same positives, and perhaps more negatives.
    positives = documents.scores[documents.is_positive]
    columns = zip(documents.base, positives.T, strict=True)
    return [np.unique([base, *own[own >= base], np.inf]) for base, own in columns]


def _best_combination(documents, target, grid, shape):
    """Compare all combinations of thresholds."""
    fp, tp = (counts.ravel() for counts in _count(documents, grid, shape))
    alerts = None
    if isinstance(target, AlertsTarget):
        alerts = _count(_all_predictable(documents), grid, shape)[0].ravel()
    total = documents.total_positive
    index = np.unravel_index(
        target.best(fp, tp, n_predicted=alerts, total=total), shape
    )
    return np.array([own[k] for own, k in zip(grid, index, strict=True)])


def _count(documents, grid, shape):
    columns = zip(grid, documents.scores.T, strict=True)
    return count_ranks([count_reached(*pair) for pair in columns], documents, shape)


def _all_predictable(documents):
    """Return all documents that can be predicted, each a negative of weight one."""
    scores = documents.predictable
    nobody = np.zeros(len(scores), dtype=bool)
    return replace(documents, scores=scores, is_positive=nobody, weight=None)


def _best_on_hull(documents, target, path):
    """Find the best of the points on the hull of TP against cost, and of a path."""
    candidates = make_candidates(documents)
    if target.name == "max_alerts":
        candidates = _cost_of_alerts(documents, candidates)
    limit = target.value
    if target.name == "min_recall":
        limit *= documents.total_positive
    start = path.thresholds[target.find_vertex(path, documents)]
    first = locate_thresholds(candidates.thresholds, start)
    found = _follow_hull(candidates, target, limit, first)
    if found is None:
        return start
    return _as_thresholds(candidates, found)


def _cost_of_alerts(documents, candidates):
    """Return candidates whose cost is the number of all documents predicted."""
    scores = documents.predictable
    pairs = zip(candidates.thresholds, scores.T, strict=True)
    ranks = np.array([count_reached(*pair) for pair in pairs], dtype=np.int32)
    tp = np.pad(candidates.counts.real, (0, len(scores) - len(documents.scores)))
    return Candidates(candidates.thresholds, ranks, tp + 1j, candidates.rule)


def _follow_hull(candidates, target, limit, first):
    """Return the best allowed point, by secants between those on either side of it.

    None if `first` stays the best.
    """
    is_alerts = target.name == "max_alerts"
    # The last that costs too much, or reaches enough; and what the other side has.
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
        if not gain(counts, slope) > gain(low, slope) + _TOLERANCE * high.real:
            break
        is_low = counts.imag <= limit if is_alerts else counts.real < limit
        low, high = (counts, high) if is_low else (low, counts)
        if is_low == is_alerts and _is_better(counts, best, is_alerts):
            best, found = counts, index
    return found


def _is_better(counts, best, is_alerts):
    """Tell whether counts are better: more true positives, or less cost."""
    if is_alerts:
        return (counts.real, -counts.imag) > (best.real, -best.imag)
    return (-counts.imag, counts.real) > (-best.imag, best.real)


def _as_thresholds(candidates, index):
    """Return the thresholds of some numbers, high ones for the same predictions."""
    pairs = zip(candidates.thresholds, candidates.raise_to_highest(index), strict=True)
    return np.array([values[k] for values, k in pairs])
