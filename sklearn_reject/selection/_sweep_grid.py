"""The best threshold of the best direction on a grid, without sorting all samples.

Most samples are never looked at. Cells of the plane tell which directions, and which
thresholds of a direction, may be as good as the best cut that is known; only the
samples of cells that such thresholds pass through are projected on the direction, and
only those that a histogram cannot rule out are sorted. Directions with the best bounds
come first, so that a good cut is known early.
"""

from dataclasses import replace

import numpy as np

from sklearn_reject.curves._directions import weighted_sum
from sklearn_reject.curves._groups import running_sum, starts_of_ties
from sklearn_reject.selection._best_cut import Cut, find_best_cut, may_match
from sklearn_reject.selection._window import find_window, guaranteed_price

_N_BINS = 512

# Below it sorting is faster than a histogram.
_FEWEST_FOR_BINS = 4096


def sweep_grid(plane, weights, problem, randomize):
    """Return the best of some directions.

    Parameters
    ----------
    plane : Plane
        The sample.

    weights : list of tuples of two floats
        Weights of risk and novelty of each direction. The latter are not negative.

    problem : OODProblem
        What to minimise.

    randomize : bool
        Whether samples at the threshold may be accepted with a probability.

    Returns
    -------
    cut : Cut or None
        What the best rule accepts; its index means nothing. None if no rule is
        feasible.

    index : int
        Number of its direction, of equally good ones the first.
    """
    best = _accept_nothing(plane, problem), 0
    bounds = _by_bound(plane, weights, problem, best[0])
    limit = _limit(plane, weights[bounds[0][1]], problem) if bounds else None
    for bound, index in bounds:
        cut = _tighter(best[0], limit, problem)
        if cut is not None and bound > cut.price + problem.slack(cut.price):
            break
        found = search_direction(plane, weights[index], problem, cut, randomize)
        best = _better((found, index), best, problem)
    return best


def _accept_nothing(plane, problem):
    """Return the cut that accepts no sample of the plane, None if it is infeasible."""
    sums = [np.array([part]) for part in plane.always]
    cut = find_best_cut(problem, sums, (0.0, 0.0, 0.0), randomize=False)
    return cut and replace(cut, threshold=-np.inf)


def _tighter(cut, limit, problem):
    if limit is None or (cut is not None and not limit.beats(cut, problem)):
        return cut
    return limit


def _limit(plane, weights, problem):
    """Return a cut that some cut of a direction is better than, or as good as.

    With it, few samples are looked at from the first direction on.
    """
    price = guaranteed_price(plane, _ranges(plane, weights), problem)
    return Cut(price, 0.0, np.inf) if np.isfinite(price) else None


def _by_bound(plane, weights, problem, cut):
    """Return the best price there may be in each direction, the lowest first."""
    bounds = []
    for index in range(len(weights) if len(plane.risk) else 0):
        window = find_window(plane, _ranges(plane, weights[index]), problem, cut)
        if window is not None and not plane.ties(weights[index]):
            bounds.append((window.bound, index))
    return sorted(bounds)


def _ranges(plane, weights):
    """Return lower and upper bounds of the combined score in each cell."""
    corners = [weighted_sum(r, g, weights) for r, g in plane.all_corners()]
    return np.minimum.reduce(corners), np.maximum.reduce(corners)


def _better(candidate, best, problem):
    """Return the better of two pairs of a cut and the number of its direction."""
    if candidate[0] is None:
        return best
    if candidate[0].beats(best[0], problem):
        return candidate
    equal = not best[0].beats(candidate[0], problem)
    return candidate if equal and candidate[1] < best[1] else best


def search_direction(plane, weights, problem, cut, randomize):
    """Return the best cut of a direction, None if it is worse than a known one."""
    window = find_window(plane, _ranges(plane, weights), problem, cut)
    if window is None:
        return None
    rows = plane.rows_of(np.flatnonzero(window.around))
    scores = weighted_sum(plane.risk[rows], plane.novelty[rows], weights)
    is_below = scores < window.low
    is_around = ~is_below & (scores < window.high)
    before = plane.sum_up(window.below, rows[is_below])
    sums = plane.sums_of(rows[is_around])
    return search_scores(scores[is_around], sums, before, problem, cut, randomize)


def search_scores(scores, sums, before, problem, cut, randomize):
    """Return the best cut among scores, None if it is worse than a known one.

    Parameters
    ----------
    scores : ndarray of shape (n_samples,)
        Scores that are not sorted.

    sums : tuple of three ndarrays of shape (n_samples,)
        ID weight, OOD weight and loss of each sample.

    before : list of three floats
        The same sums over the samples of lower scores.

    problem, cut, randomize
        See :func:`sweep_grid`. `cut` is the best that is known.
    """
    if len(scores) < _FEWEST_FOR_BINS:
        return _search_sorted(scores, sums, before, problem, randomize)
    bins = _bin_numbers(scores)
    of_bins = [np.bincount(bins, part, _N_BINS) for part in sums]
    ends = [
        first + running_sum(part) for first, part in zip(before, of_bins, strict=True)
    ]
    # Where a bin ends a rule may end, too.
    edge = _best_edge(scores, bins, problem, ends)
    known = edge if edge is not None and edge.beats(cut, problem) else cut
    starts = [np.append(f, end[:-1]) for f, end in zip(before, ends, strict=True)]
    is_open = may_match(known, problem, ends[0], starts[1], starts[2])
    rows = np.flatnonzero(is_open[bins])
    if not len(rows):
        return edge
    skipped = [np.where(is_open, 0.0, part) for part in of_bins]
    skipped = [f + running_sum(part) for f, part in zip(before, skipped, strict=True)]
    found = _search_sorted(
        scores[rows],
        [part[rows] for part in sums],
        [part[bins[rows]] for part in skipped],
        problem,
        randomize,
    )
    return found if found is not None and found.beats(edge, problem) else edge


def _best_edge(scores, bins, problem, ends):
    cut = find_best_cut(problem, ends, (0.0, 0.0, 0.0), randomize=False)
    if cut is None:
        return None
    threshold = scores.max(where=bins <= cut.index, initial=-np.inf)
    return replace(cut, threshold=float(threshold))


def _bin_numbers(scores):
    """Return bins of even width, an increasing function of the score."""
    low, high = scores.min(), scores.max()
    with np.errstate(over="ignore", divide="ignore"):
        scale = (_N_BINS - 1) / (high - low)
    if not 0 < scale < np.inf:  # equal scores, or as wide as floats get
        return np.zeros(len(scores), np.intp)
    return ((scores - low) * scale).astype(np.intp)


def _search_sorted(scores, sums, before, problem, randomize):
    """Sort the scores; `before` may differ between samples, but not between ties."""
    if not len(scores):
        return None
    order = np.argsort(scores)
    starts = np.flatnonzero(starts_of_ties(scores[order]))
    last = np.append(starts[1:], len(order)) - 1
    after, sizes = [], []
    for first, part in zip(before, sums, strict=True):
        first = first[order][last] if np.ndim(first) else first
        part = part[order]
        after.append(first + running_sum(part)[last])
        sizes.append(
            part if len(starts) == len(part) else np.add.reduceat(part, starts)
        )
    cut = find_best_cut(problem, after, sizes, randomize)
    return cut and replace(cut, threshold=float(scores[order[last[cut.index]]]))
