"""The best of all joint thresholds for a target, without a path."""

from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations, cycle
from math import prod

import numpy as np

from sklearn_reject.exceptions import InfeasibleTargetError
from sklearn_reject.thresholds._documents import predict_positive
from sklearn_reject.thresholds._grid import (
    count_documents,
    count_ranks,
    grid_fits,
    locate_thresholds,
    rank_scores,
)
from sklearn_reject.thresholds._rectangle import best_rectangle, gain, sum_by
from sklearn_reject.thresholds._targets import (
    RELATIVE_TOLERANCE,
    check_attainable,
    f1_of,
    find_best,
)

# Pairs of classifiers are improved from so many of the best points.
_N_CLIMBS = 4

# What rounding may add up to, relative to all true positives: with a wide margin, as
# nothing is lost by thresholds that are kept in vain.
_ROUNDING = 1e-9

# All combinations of thresholds are compared up to here: a quarter of a second.
_MOST_COMBINATIONS = 1 << 20

# Each iteration is a search of its own; fewer than ten are usual.
_MOST_ITERATIONS = 30


def direct_point(documents, derivative, starts=()):
    """Find the thresholds that maximize TP - FP * derivative.

    Exactly for one or two classifiers; a local optimum, never below any of the starts,
    for more. Scores of positives, or infinity for a classifier that is of no use.
    """
    # With one classifier all thresholds are compared, by counts; with two all pairs.
    # With more, pairs of classifiers are improved in turn, exactly given the others,
    # from several starts, until none of them improves. Of equally good thresholds those
    # of most true positives are taken; then, for the same predictions, high ones.
    candidates = make_candidates(documents)
    starts = [locate_thresholds(candidates.thresholds, start) for start in starts]
    solve = partial(maximize, candidates, starts=starts)
    # Lowered by what is no difference, so that equal gains go to more true positives.
    price = derivative * (1 - RELATIVE_TOLERANCE)
    index = solve(price)
    if not candidates.predict(index).any():
        index, highest = steepest_slope(candidates, solve)
        check_attainable(derivative, highest)
    return candidates.thresholds_at(index)


def maximize(candidates, derivative, starts=()):
    """Find the candidates that maximize TP - FP * derivative, as numbers.

    A global optimum for one or two classifiers, a local one for more.
    """
    candidates = keep_reached(candidates)
    everything = slice(None)
    highest = np.array([len(values) - 1 for values in candidates.thresholds])
    lowest = np.zeros_like(highest)
    # Points of comparison: to predict nothing, and what one classifier decides alone.
    points = []
    for classifier in range(len(candidates)):
        point = np.array(highest if candidates.rule == "any" else lowest)
        point[classifier] = best_alone(candidates, classifier, everything, derivative)
        points.append(point)
    if len(candidates) == 1:
        return points[0]
    points.append(highest)
    if len(candidates) > 2:
        points += [lowest, *starts]
    known = max(_gains(candidates, points, derivative))
    fewer, first = leave_out_low(candidates, derivative, known)
    if len(candidates) == 2:
        return first + best_pair(fewer, (0, 1), everything, derivative)
    return first + _climb(fewer, np.maximum(points - first, 0), derivative)


def _climb(candidates, points, derivative):
    """Return the best point that climbs from several ones lead to."""
    points = [climb(candidates, point, derivative, size=1) for point in points]
    # Go on from the best distinct points, among fewer candidates.
    points = np.unique(points, axis=0)
    gains = _gains(candidates, points, derivative)
    best = np.argsort(-gains, kind="stable")[:_N_CLIMBS]
    fewer, first = leave_out_low(candidates, derivative, gains.max())
    points = np.maximum(points[best] - first, 0)
    points = [climb(fewer, point, derivative, size=2) for point in points]
    return first + points[np.argmax(_gains(fewer, points, derivative))]


def _gains(candidates, points, derivative):
    counts = [candidates.count(point) for point in points]
    return np.array([gain(count, derivative) for count in counts])


def best_alone(candidates, classifier, remain, derivative):
    """Return the best threshold of one classifier for some of the documents.

    That is its number, the lowest of equally good ones.
    """
    ranks = candidates.ranks[classifier, remain]
    n_thresholds = len(candidates.thresholds[classifier])
    sums = sum_by(ranks, candidates.counts[remain], n_thresholds)
    above = np.cumsum(sums[::-1])[::-1] - sums
    return int(np.argmax(gain(above, derivative)))


def best_pair(candidates, pair, remain, derivative):
    """Return the best thresholds of two classifiers for some of the documents."""
    # Under "any" they leave out a rectangle of documents that reach neither, as little
    # gain as possible; under "all" they predict a rectangle, seen from the other end.
    highest = [len(candidates.thresholds[classifier]) - 1 for classifier in pair]
    x, y = (candidates.ranks[classifier, remain] for classifier in pair)
    counts = candidates.counts[remain]
    if candidates.rule == "any":
        return best_rectangle(x, y, -counts, derivative)
    both = (x > 0) & (y > 0)
    x, y = highest[0] + 1 - x[both], highest[1] + 1 - y[both]
    i, j = best_rectangle(x, y, counts[both], derivative)
    return highest[0] - i, highest[1] - j


def climb(candidates, index, derivative, size):
    """Improve one classifier, or pair of them, after the other until none improves."""
    is_any, n_classifiers = candidates.rule == "any", len(index)
    least, n_others = (1, 0) if is_any else (n_classifiers, n_classifiers - size)
    n_reached = _count_reached(candidates, index, range(n_classifiers))
    best = gain(candidates.counts[n_reached >= least].sum(), derivative)
    blocks = list(combinations(range(n_classifiers), size))
    n_failed, next_blocks = 0, cycle(blocks)
    while n_failed < len(blocks):
        block = next(next_blocks)
        others = n_reached - _count_reached(candidates, index, block)
        remain = np.flatnonzero(others == n_others)
        found = np.array(index)
        if size == 1:
            found[block] = best_alone(candidates, *block, remain, derivative)
        else:
            found[list(block)] = best_pair(candidates, block, remain, derivative)
        others += _count_reached(candidates, found, block)
        value = gain(candidates.counts[others >= least].sum(), derivative)
        n_failed += 1
        # Of equal gains the present one stays, and there is no way in circles.
        if value > best:
            index, n_reached, best, n_failed = found, others, value, 0
    return index


def _count_reached(candidates, index, block):
    """Return how many thresholds of a block of classifiers each document reaches."""
    n_reached = np.zeros(len(candidates.counts), dtype=np.int16)
    for classifier in block:
        n_reached += candidates.ranks[classifier] > index[classifier]
    return n_reached


@dataclass(frozen=True, eq=False)
class Candidates:
    """Thresholds that may be best: scores of positives, and infinity."""

    # A threshold between them predicts the same positives as the next one, and perhaps
    # more negatives.

    #: Increasing thresholds of each classifier, the last of each infinite.
    thresholds: tuple
    #: Number of thresholds that a document reaches, shape (n_classifiers, n_documents).
    #: It is predicted positive by the thresholds of smaller number.
    ranks: np.ndarray
    #: Weight of a positive as real part, of a negative as imaginary part.
    counts: np.ndarray
    #: "any" or "all".
    rule: str

    def __len__(self):
        return len(self.thresholds)

    def reached(self, index):
        """Return which classifiers predict which documents positive."""
        return self.ranks > np.asarray(index)[:, np.newaxis]

    def predict(self, index):
        """Return which documents are predicted positive."""
        reduce = np.logical_or if self.rule == "any" else np.logical_and
        return reduce.reduce(self.reached(index))

    def count(self, index):
        """Return true and false positives as one complex number."""
        return complex(self.counts[self.predict(index)].sum())

    def thresholds_at(self, index):
        """Return the thresholds of some numbers, high ones for the same predictions."""
        index = np.array(index)
        for classifier in reversed(range(len(self))):
            reached = self.reached(index)
            if self.rule == "all":
                needs = reached.all(axis=0)
            else:
                needs = reached[classifier] & (reached.sum(axis=0) == 1)
            needed = self.ranks[classifier, needs]
            index[classifier] = needed.min(initial=len(self.thresholds[classifier])) - 1
        pairs = zip(self.thresholds, index, strict=True)
        return np.array([values[k] for values, k in pairs])


def make_candidates(documents):
    """Return the candidates for the thresholds of documents."""
    positives = documents.scores[documents.is_positive]
    columns = zip(positives.T, documents.base, strict=True)
    thresholds = [np.unique(scores[scores >= base]) for scores, base in columns]
    thresholds = [np.append(values, np.inf) for values in thresholds]
    ranks = np.array(rank_scores(documents.scores, thresholds), dtype=np.int32)
    counts = np.where(documents.is_positive, 1.0, 1j)
    if documents.weight is not None:
        counts *= documents.weight
    return Candidates(tuple(thresholds), ranks, counts, documents.rule)


def keep_reached(candidates):
    """Leave out the documents that no candidate predicts positive."""
    is_reached = candidates.predict([0] * len(candidates))
    if is_reached.all():
        return candidates
    return replace(
        candidates,
        ranks=candidates.ranks[:, is_reached],
        counts=candidates.counts[is_reached],
    )


def leave_out_low(candidates, derivative, known):
    """Leave out thresholds that are too low for a gain above the one that is known.

    Returns the other candidates, and the number of the first that is left of each
    classifier.
    """
    # Under "any", a threshold predicts its false positives whatever the others are: if
    # they cost more than all true positives there are, less the gain that is known to
    # be attained, it cannot be part of a better choice. It takes 1e5 documents of ten
    # classifiers 1.6 s with this, and 19 s without.
    first = np.zeros(len(candidates), dtype=np.intp)
    if candidates.rule == "all":
        return candidates, first
    total = candidates.counts.real.sum()
    room = total - known + _ROUNDING * total
    for k, ranks in enumerate(candidates.ranks):
        fp = np.bincount(ranks, candidates.counts.imag, len(candidates.thresholds[k]))
        first[k] = np.sum(derivative * (fp.sum() - np.cumsum(fp))[:-1] > room)
    pairs = zip(candidates.thresholds, first, strict=True)
    fewer = replace(
        candidates,
        thresholds=tuple(values[low:] for values, low in pairs),
        ranks=np.maximum(candidates.ranks - first[:, np.newaxis].astype(np.int32), 0),
    )
    return keep_reached(fewer), first


def steepest_slope(candidates, solve):
    """Find the largest TP / FP by Dinkelbach's method, and where it is attained.

    Infinite if true positives come without false ones.
    """
    index = np.zeros(len(candidates), dtype=np.intp)
    slope = _ratio(candidates.count(index))
    while np.isfinite(slope):
        found = solve(slope * (1 - RELATIVE_TOLERANCE))
        steeper = _ratio(candidates.count(found))
        # A local optimum may even be worse.
        if not steeper > slope * (1 + RELATIVE_TOLERANCE):
            break
        index, slope = found, steeper
    return index, slope


def _ratio(counts):
    """Return TP / FP, NaN for no documents at all."""
    if counts.imag == 0:
        return np.inf if counts.real > 0 else np.nan
    return counts.real / counts.imag


# Targets that are no prices


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
    vertex = documents.best_vertex(target, path)
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
        start = path.thresholds[documents.best_vertex(target, path)]
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
        tp, cost = counts.real, counts.imag
        is_allowed = target.allows(cost, tp, total_positive, alerts=cost)
        low, high = (low, counts) if is_allowed == is_recall else (counts, high)
        if is_allowed and _rank(counts, is_recall) > _rank(best, is_recall):
            best, found = counts, index
    return found


def _rank(counts, is_recall):
    """Return what is larger for better counts: more true positives, or less cost."""
    tp, cost = counts.real, counts.imag
    return (-cost, tp) if is_recall else (tp, -cost)
