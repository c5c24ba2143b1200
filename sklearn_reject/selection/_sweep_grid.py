"""The best threshold of each direction on a grid."""

from dataclasses import dataclass, replace
from operator import itemgetter

import numpy as np

from sklearn_reject._curves._directions import (
    RESOLUTION,
    all_tie,
    sizes_of_sums,
    weighted_sum,
)
from sklearn_reject._curves._groups import running_sum, snap, starts_of_ties, tie_range
from sklearn_reject.selection._one_score import find_best_cut, may_match

_N_BINS = 512


# Below it sorting is faster than a histogram.
_FEWEST_FOR_BINS = 4096


# Samples of a cell: more make bounds loose, fewer make them as slow as the samples. So
# cells are larger, and more, where there are more samples.
_FEWEST_IN_CELL = 16


# Samples that tell most directions at which not all samples tie.
_FEW = 64


# Up to so many samples all points differ. Beyond, merging those of a point pays from a
# share of repeated ones on.
_MOST_MERGED = 2**12
_REPEATED = 0.1


# Rounds of directions around the best one, and how many.
_N_REFINED, _N_BETWEEN = 3, 16


@dataclass(frozen=True, eq=False)
class Plane:
    """Samples of finite risk and novelty, those of one cell next to each other.

    Columns hold equally many samples by increasing risk, and cells equally many of a
    column by increasing novelty. So cells are small where samples are dense, whatever
    the units and the tails of the scores are.

    `sums`, of shape (3, n_samples), holds ID weight, OOD weight and weighted loss,
    `cell_sums` those of each cell, and `always`, of shape (3, 1), those of the samples
    that every rule accepts. `starts` are the first samples of the cells, and `corners`,
    of shape (2, 4, n_cells), risk and novelty of their corners.
    """

    risk: np.ndarray
    novelty: np.ndarray
    sums: np.ndarray
    always: np.ndarray
    starts: np.ndarray
    cell_sums: np.ndarray
    corners: np.ndarray

    def ties(self, weights):
        """Tell whether rounding is all that distinguishes the sums of a direction."""
        ranges = np.ptp(self.corners, axis=(1, 2))
        step = max(1, len(self.risk) // _FEW)
        # Most directions are told by some of the samples.
        for rows in (slice(None, None, step), slice(None)):
            combined = weighted_sum(self.risk[rows], self.novelty[rows], weights)
            if not all_tie(combined, ranges, weights):
                return False
        return True


def make_plane(risk, novelty, losses, is_ood, weight, *, snapped=False):
    """Sort validated samples into cells; those that no rule accepts are left out.

    With `snapped`, what rounding alone tells apart in either score is made equal.
    """
    present = weight > 0
    always = np.flatnonzero(present & (novelty == -np.inf))
    always = _sums_of(losses, is_ood, weight, always).sum(axis=1, keepdims=True)
    rows = np.flatnonzero(present & np.isfinite(novelty))
    risk, novelty = risk[rows], novelty[rows]
    if snapped:
        risk, novelty = snap(risk), snap(novelty)
    sums = _sums_of(losses, is_ood, weight, rows)
    del present, rows  # sorting takes many arrays as it is

    if len(risk) <= _MOST_MERGED or _are_repeated(risk, novelty):
        order = np.lexsort((novelty, risk))
        risk, novelty, sums = risk[order], novelty[order], sums.take(order, axis=1)
        starts = np.flatnonzero(starts_of_ties(risk) | starts_of_ties(novelty))
        risk, novelty = risk[starts], novelty[starts]
        sums = np.add.reduceat(sums, starts, axis=1)

    order, starts = _sort_into_cells(risk, novelty)
    for column in (risk, novelty, *sums):
        column[:] = column[order]
    (left, low), (right, high) = (
        [extreme.reduceat(scores, starts) for scores in (risk, novelty)]
        for extreme in (np.minimum, np.maximum)
    )
    return Plane(
        risk,
        novelty,
        sums,
        always,
        starts,
        cell_sums=np.add.reduceat(sums, starts, axis=1),
        corners=np.array([[left, left, right, right], [low, high, low, high]]),
    )


def _are_repeated(risk, novelty):
    """Tell from some of many points whether so many are repeated that merging pays."""
    some = slice(None, None, len(risk) // _MOST_MERGED)
    points = risk[some] + 1j * novelty[some]
    return len(np.unique(points)) < (1 - _REPEATED) * len(points)


def _sums_of(losses, is_ood, weight, rows):
    """Return ID weight, OOD weight and weighted loss of some samples."""
    is_ood = is_ood[rows]
    sums = np.array([~is_ood, is_ood, losses[rows]], dtype=np.float64)
    sums *= weight[rows]
    return sums


def _sort_into_cells(risk, novelty):
    """Return an order of the samples and the start of each cell in it."""
    n_samples = len(risk)
    in_cell = max(_FEWEST_IN_CELL, n_samples**0.5 / 6)
    n_columns = min(max(1, int((n_samples / in_cell) ** 0.5)), 2**8)
    edges = np.arange(n_columns + 1) * n_samples // n_columns
    column = np.empty(n_samples, np.uint16)
    column[np.argsort(risk)] = np.repeat(
        np.arange(n_columns, dtype=np.uint16), np.diff(edges)
    )
    order = np.argsort(novelty)
    # Radix sort, and stable: the order by novelty stays within each column.
    order = order[np.argsort(column[order], kind="stable")]
    n_cells = n_columns**2
    starts = np.arange(n_cells) * n_samples // n_cells
    return order, starts[: n_cells if n_samples else 0]


def _ends_of_cells(plane, weights):
    """Return the lowest and the highest score in each cell."""
    corners = weighted_sum(*plane.corners, weights)
    return corners.min(axis=0), corners.max(axis=0)


def _find_window(plane, low, high, problem, known):
    """Return the thresholds that may be as good as a known cut, and the best price.

    That is a lower bound of their prices and the ends of [start, end[, or None. `low`
    and `high` are the ends of the cells. A threshold between the lower ends of two
    cells accepts at most the cells up to the first of them, and at least those that end
    below it.
    """
    by_low, by_high = np.argsort(low), np.argsort(high)
    starts = low[by_low]
    n_inside = np.searchsorted(high[by_high], starts)
    most_id = plane.always[0] + np.cumsum(plane.cell_sums[0, by_low])
    inside = np.zeros((2, len(low) + 1))
    np.cumsum(plane.cell_sums[1:, by_high], axis=1, out=inside[:, 1:])
    least_ood, least_loss = plane.always[1:] + inside.take(n_inside, axis=1)
    possible = np.flatnonzero(may_match(known, problem, most_id, least_ood, least_loss))
    if not len(possible):
        return None
    bounds = problem.price(most_id[possible], least_ood[possible], least_loss[possible])
    first, following = possible[0], possible[-1] + 1
    end = starts[following] if following < len(starts) else np.inf
    return float(bounds.min()), starts[first], end


def _find_rows(plane, weights, problem, known):
    """Return the samples at which a cut may be as good as a known one, or None.

    With them come their scores in a direction, and the sums over all that is below.
    """
    low, high = _ends_of_cells(plane, weights)
    window = _find_window(plane, low, high, problem, known)
    if window is None:
        return None
    _, start, end = window
    is_below = high < start
    below = plane.cell_sums.compress(is_below, axis=1).sum(axis=1, keepdims=True)
    cells = np.flatnonzero(~is_below & (low < end))
    # The samples of these cells: runs from the first ones on.
    firsts = plane.starts[cells]
    sizes = np.append(plane.starts, len(plane.risk))[cells + 1] - firsts
    rows = np.arange(sizes.sum())
    rows += np.repeat(firsts - np.cumsum(sizes) + sizes, sizes)
    scores = weighted_sum(plane.risk[rows], plane.novelty[rows], weights)
    is_below = scores < start
    below += plane.sums.take(rows[is_below], axis=1).sum(axis=1, keepdims=True)
    near = np.flatnonzero(~is_below & (scores < end))
    if not len(near):
        return None  # what such a threshold accepts, a lower one does
    return rows[near], scores[near], plane.always + below


def sweep_grid(plane, directions, problem, randomize, best=None):
    """Return the best cut of some directions and of a known one, None if there is none.

    A direction is the weights of risk and novelty, the latter not negative.
    """
    if best is None:
        best = accept_nothing(plane, directions[0], problem)
    bounds = []
    for weights in directions:
        window = _find_window(plane, *_ends_of_cells(plane, weights), problem, best)
        if window is not None and not plane.ties(weights):
            bounds.append((window[0], weights))
    # The most promising first: the cut it leads to spares others.
    for bound, weights in sorted(bounds, key=itemgetter(0)):
        if best is not None and bound > best.price + problem.slack(best.price):
            break
        found = search_direction(plane, weights, problem, best, randomize)
        if found is not None and found.beats(best, problem):
            best = found
    return best


def refine_grid(plane, directions, problem, randomize, best):
    """Return the best cut of directions ever closer to that of a known one."""
    slopes = np.sort([novelty / risk for risk, novelty in directions if risk])
    slopes = slopes[slopes > 0]
    if not len(slopes):
        return best
    for _ in range(_N_REFINED):
        risk_weight, novelty_weight = best.weights
        slope = novelty_weight / risk_weight if risk_weight else np.inf
        n_below = np.searchsorted(slopes, slope * (1 - RESOLUTION))
        above = np.searchsorted(slopes, slope * (1 + RESOLUTION))
        low = slopes[n_below - 1] if n_below else slopes[0] / 2
        high = slopes[above] if above < len(slopes) else 2 * slopes[-1]
        between = np.geomspace(low, high, _N_BETWEEN)
        closer = [(1.0, slope) for slope in between.tolist()]
        best = sweep_grid(plane, closer, problem, randomize, best)
        slopes = np.union1d(slopes, between)
    return best


def accept_nothing(plane, weights, problem):
    """Return the cut that accepts no sample of the plane, None if it is infeasible."""
    cut = find_best_cut(problem, plane.always, None, randomize=False)
    return cut and replace(cut, threshold=-np.inf, share=0.0, weights=weights)


def search_direction(plane, weights, problem, known, randomize):
    """Return the best cut of a direction, None if it is worse than a known one."""
    found = _find_rows(plane, weights, problem, known)
    if found is None:
        return None
    rows, scores, below = found
    if len(rows) >= _FEWEST_FOR_BINS:
        kept, below = _narrow_by_bins(plane, rows, scores, below, problem, known)
        rows, scores = rows[kept], scores[kept]
    sums = plane.sums.take(rows, axis=1)
    return _search_sorted(scores, sums, below, weights, problem, randomize)


def _narrow_by_bins(plane, rows, scores, below, problem, known):
    """Return at which scores a cut may be as good as a known one, and the sums below.

    They are those of a run of bins of even width.
    """
    lowest, highest = scores.min(), scores.max()
    with np.errstate(over="ignore", divide="ignore"):
        scale = (_N_BINS - 1) / (highest - lowest)
    if not 0 < scale < np.inf:  # equal scores, or as wide as floats get
        return slice(None), below
    bins = ((scores - lowest) * scale).astype(np.intp)
    of_bins = [np.bincount(bins, part[rows], _N_BINS) for part in plane.sums]
    sums = np.hstack([below, below + np.cumsum(of_bins, axis=1)])
    # Where a bin ends a rule may end, too.
    edge = find_best_cut(problem, sums[:, 1:], None, randomize=False)
    if edge is not None and edge.beats(known, problem):
        known = edge
    possible = may_match(known, problem, sums[0, 1:], *sums[1:, :-1])
    if not possible.any():
        return slice(0), below
    first, last = np.flatnonzero(possible)[[0, -1]]
    return (bins >= first) & (bins <= last), sums[:, [first]]


def _search_sorted(scores, sums, below, weights, problem, randomize):
    """Return the best cut among some samples, None if none is feasible.

    `below` are the sums over all samples of lower scores.
    """
    if not len(scores):
        return None
    order = np.argsort(scores)
    scores = scores[order]
    starts = np.flatnonzero(starts_of_ties(scores))
    sizes = np.add.reduceat(sums.take(order, axis=1), starts, axis=1)
    after = below + np.array([running_sum(part) for part in sizes])
    cut = find_best_cut(problem, after, sizes, randomize)
    if cut is None:
        return None
    return replace(cut, threshold=float(scores[starts[cut.index]]), weights=weights)


def settle_direction(plane, weights, problem, randomize):
    """Return the best cut of a direction among rules as they are applied.

    These cannot tell sums apart that differ by rounding. What is at a threshold is
    what `tie_range` says, so that a bound is kept where the rule is measured.
    """
    nothing = accept_nothing(plane, weights, problem)
    scores = weighted_sum(plane.risk, plane.novelty, weights)
    if not len(scores):
        return nothing
    sizes = sizes_of_sums(plane.risk, plane.novelty, weights)
    thresholds = np.unique(scores)
    low, high = tie_range(scores, sizes)
    # What is below a threshold, and what is not above it.
    below, after = (
        _running_sums(plane, np.searchsorted(thresholds, ends, side), len(thresholds))
        for ends, side in ((high, "right"), (low, "left"))
    )
    cut = find_best_cut(problem, after, after - below, randomize)
    if cut is None:
        return nothing
    cut = replace(cut, threshold=float(thresholds[cut.index]), weights=weights)
    return cut if cut.beats(nothing, problem) else nothing


def _running_sums(plane, firsts, n_thresholds):
    """Return the sums over the samples that count from their first threshold on."""
    counts = [np.bincount(firsts, part, n_thresholds + 1) for part in plane.sums]
    return plane.always + np.array([running_sum(part)[:-1] for part in counts])
