"""The best direction and threshold of two scores, and the best threshold of one."""

from dataclasses import replace

import numpy as np

from sklearn_reject._curves._directions import (
    RESOLUTION,
    combine,
    lift_risk,
    score_directions,
    sizes_of_sums,
)
from sklearn_reject._curves._ood import sums_of
from sklearn_reject._curves._prefixes import (
    TIE_TOLERANCE,
    running_sum,
    snap,
    starts_of_ties,
    tie_range,
)
from sklearn_reject.selection._ood_model import find_best_cut

# Up to so many points the search is exact, in half a second or less.
_MOST_FOR_EXACT = 2000

# Directions of the grid where the search is exact, and beyond.
_N_DIRECTIONS = 91, 181

# Samples of a cell: more make bounds loose, fewer make them as slow as the samples. So
# cells are larger, and more, where there are more samples.
_FEWEST_IN_CELL = 16

# Of more cells, those of a direction are not kept for later: some 50 megabytes.
_MOST_KEPT = 2000

# Of so many samples, it pays to merge those of a point.
_MOST_MERGED = 2**12

# Bins of even width that tell where the best threshold may be, and the fewest samples:
# of less, sorting is faster.
_N_BINS, _FEWEST_FOR_BINS = 512, 4096

# Rounds of directions around the best one, and how many.
_N_REFINED, _N_BETWEEN = 3, 16


def find_threshold(problem, scores, sizes, sums, below, randomize):
    """Return the best cut of finite scores as a rule applies it, None if infeasible.

    A rule cannot tell scores apart that differ by rounding: what is at a threshold is
    what `tie_range` says, given `sizes`. `below`, of shape (3, 1), are the sums over
    all samples of lower scores.
    """
    order = np.argsort(scores)
    scores, sums = scores[order], sums.take(order, axis=1)
    sizes = np.abs(scores) if sizes is None else sizes[order]
    starts = np.flatnonzero(starts_of_ties(scores))
    thresholds = scores[starts]
    margin = 2 * TIE_TOLERANCE * sizes.max(initial=0.0)
    if (thresholds[1:] > thresholds[:-1] + margin).all():
        if len(starts) < len(scores):
            sums = np.add.reduceat(sums, starts, axis=1)
        of_ties, after = sums, np.empty_like(sums)
        for part, total in zip(sums, after, strict=True):
            running_sum(part, out=total)
    else:
        low, high = tie_range(scores, sizes)
        # What is not above a threshold, and what is below it.
        after = _sums_from(thresholds.searchsorted(low), sums, len(starts))
        before = _sums_from(thresholds.searchsorted(high, "right"), sums, len(starts))
        of_ties = after - before
    after += below
    cut = find_best_cut(problem, after, of_ties, randomize)
    return cut and replace(cut, threshold=float(thresholds[cut.index]))


def _sums_from(firsts, sums, n_thresholds):
    """Return the sums over the samples that count from their first threshold on."""
    counts = [np.bincount(firsts, part, n_thresholds + 1) for part in sums]
    return np.array([running_sum(part)[:-1] for part in counts])


def best_between(low, high, sums, below):
    """Return ends of intervals of thresholds, and the best sums that one may have.

    Samples come in boxes: the lowest and the highest score in each, and its sums. A
    threshold between the lower ends of two boxes accepts at most the boxes up to the
    first of them, and at least those that end below it.
    """
    by_low, by_high = np.argsort(low), np.argsort(high)
    starts = low[by_low]
    n_inside = np.searchsorted(high[by_high], starts)
    inside = np.zeros((2, len(low) + 1))
    np.cumsum(sums[1:, by_high], axis=1, out=inside[:, 1:])
    most_id = np.cumsum(sums[0, by_low])
    best = np.vstack([most_id, inside.take(n_inside, axis=1)]) + below
    return np.append(starts, np.inf), best


def find_window(problem, known, ends, best):
    """Return which thresholds may be as good as a known cut, and their least price.

    The answer is a lower bound of the prices and the ends of [start, end[, or None.
    """
    possible = np.flatnonzero(problem.may_match(known, best))
    if not len(possible):
        return None
    bound = float(problem.value(best.take(possible, axis=1)).min())
    return bound, ends[possible[0]], ends[possible[-1] + 1]


class ThresholdSearch:
    """Validated samples of one score, and the magnitudes that it is rounded at.

    Kept are finite scores of positive weight, their sums, of shape (3, n_samples), and
    the sums over what every rule accepts, of shape (3, 1).
    """

    def __init__(self, scores, losses, is_ood, weight, randomize, sizes=None):
        self.randomize = randomize
        sums, finite = sums_of(losses, is_ood, weight), np.isfinite(scores)
        self.always = sums[:, scores == -np.inf].sum(axis=1, keepdims=True)
        finite &= weight > 0
        self.rows = slice(None) if finite.all() else finite
        self.sums, self.scores = sums[:, self.rows], scores[self.rows]
        self.sizes = None if sizes is None else sizes[self.rows]

    def find_cut(self, problem):
        """Return the best cut of a problem, None if there is none."""
        arrays = self.scores, self.sizes, self.sums, self.always
        cut = find_threshold(problem, *arrays, self.randomize)
        nothing = self._accept_nothing(problem)
        best = cut if problem.prefers(cut, nothing) else nothing
        return _open_end(best, self.scores)

    def _accept_nothing(self, problem):
        """Return the cut that accepts what every rule does, None if infeasible."""
        cut = find_best_cut(problem, self.always, self.always, randomize=False)
        return cut and replace(cut, threshold=-np.inf, share=0.0)


def _open_end(cut, scores):
    """Return a cut of an infinite threshold where it accepts all of finite scores.

    The largest one seen would reject larger ones to come.
    """
    if cut and cut.share == 1 and cut.threshold >= scores.max(initial=-np.inf):
        return replace(cut, threshold=np.inf)
    return cut


class Plane:
    """Samples of finite risk and novelty, those of one cell next to each other.

    Columns hold equally many samples by increasing risk, and cells equally many of a
    column by increasing novelty. So cells are small where samples are dense, whatever
    the units and the tails of the scores are.

    `scores`, of shape (2, n_samples), are risk and novelty, `sums`, of shape
    (3, n_samples), ID weight, OOD weight and weighted loss, and `always`, of shape
    (3, 1), the sums over the samples that every rule accepts. Of each cell, there are
    its `lengths`, `cell_sums`, and the `lowest` and `highest` risk and novelty.
    """

    def __init__(self, risk, novelty, sums, always):
        order, starts = _sort_into_cells(risk, novelty)
        self.scores = np.array([risk[order], novelty[order]])
        self.sums, self.always = sums.take(order, axis=1), always
        self.lengths = np.diff(starts, append=len(risk))
        self.cell_sums = np.add.reduceat(self.sums, starts, axis=1)
        self.lowest = np.minimum.reduceat(self.scores, starts, axis=1)
        self.highest = np.maximum.reduceat(self.scores, starts, axis=1)
        self.largest = np.abs(self.scores).max(axis=1, initial=0.0)
        self._kept = {}

    def window(self, slope, problem, known):
        """Return the window of a direction, which is asked for again and again."""
        if slope not in self._kept:
            found = best_between(*self._ends(slope), self.cell_sums, self.always)
            if len(self.lengths) > _MOST_KEPT:
                return find_window(problem, known, *found)
            self._kept[slope] = found
        return find_window(problem, known, *self._kept[slope])

    def _ends(self, slope):
        """Return the lowest and the highest score of each cell in a direction."""
        weights = weights_of(slope)
        return combine(*self.lowest, weights), combine(*self.highest, weights)

    def find_cut(self, slope, problem, known, randomize):
        """Return the best cut of a direction, None if it is worse than a known one."""
        window = self.window(slope, problem, known)
        if window is None:
            return None
        (_, start, end), (low, high) = window, self._ends(slope)
        weights = weights_of(slope)
        # What ties with a threshold inside, and what ties with that.
        reach = 4 * TIE_TOLERANCE * sizes_of_sums(*self.largest, weights)
        start, end = start - reach, end + reach
        is_below = high < start
        below = self.cell_sums.compress(is_below, axis=1).sum(axis=1, keepdims=True)
        rows = np.flatnonzero((~is_below & (low < end)).repeat(self.lengths))
        scores = combine(*self.scores.take(rows, axis=1), weights)
        found = self._narrow(rows, scores, self.always + below, start, end)
        if len(found[0]) >= _FEWEST_FOR_BINS:
            ends = _window_of_bins(problem, known, self.sums, *found)
            found = self._narrow(*found, *ends)
        rows, scores, below = found
        sizes = sizes_of_sums(*self.scores.take(rows, axis=1), weights)
        sums = self.sums.take(rows, axis=1)
        cut = find_threshold(problem, scores, sizes, sums, below, randomize)
        return cut and replace(cut, slope=slope)

    def _narrow(self, rows, scores, below, start, end):
        """Return the rows in [start, end[, their scores, and the sums below them."""
        is_below = scores < start
        sums = self.sums.take(rows[is_below], axis=1).sum(axis=1, keepdims=True)
        near = np.flatnonzero(~is_below & (scores < end))
        return rows[near], scores[near], below + sums


def _window_of_bins(problem, known, sums, rows, scores, below):
    """Return the ends between which many samples may be as good as a known cut."""
    edges, width = np.linspace(scores.min(), scores.max(), _N_BINS, retstep=True)
    bins = ((scores - edges[0]) / (width or 1.0)).astype(np.intp)
    of_bins = np.array([np.bincount(bins, part[rows], _N_BINS) for part in sums])
    # Where a bin ends a rule may end, too.
    after = below + np.cumsum(of_bins, axis=1)
    edge = find_best_cut(problem, after, of_bins, randomize=False)
    known = edge if problem.prefers(edge, known) else known
    between = best_between(edges, edges + width, of_bins, below)
    window = find_window(problem, known, *between)
    # One bin more at either end has what ties with a threshold inside.
    return (window[1] - width, window[2] + width) if window else (np.inf, np.inf)


def _sort_into_cells(risk, novelty):
    """Return an order of the samples and the start of each cell in it."""
    n_samples = len(risk)
    in_cell = max(_FEWEST_IN_CELL, n_samples**0.5 / 6)
    n_columns = max(1, int((n_samples / in_cell) ** 0.5))
    starts = np.arange(n_columns**2) * n_samples // n_columns**2
    in_columns = np.diff(starts[::n_columns], append=n_samples)
    column = np.empty(n_samples, np.uint16)
    column[np.argsort(risk)] = np.arange(n_columns, dtype=np.uint16).repeat(in_columns)
    order = np.argsort(novelty)
    # Radix sort, and stable: the order by novelty stays within each column.
    order = order[np.argsort(column[order], kind="stable")]
    return order, starts[:n_samples]  # none of no samples


def _merge(risk, novelty, sums):
    """Return distinct points, with their sums."""
    order = np.lexsort((novelty, risk))
    risk, novelty, sums = risk[order], novelty[order], sums.take(order, axis=1)
    starts = np.flatnonzero(starts_of_ties(risk) | starts_of_ties(novelty))
    sums = np.add.reduceat(sums, starts, axis=1)
    return risk[starts], novelty[starts], sums


def weights_of(slope):
    """Return the weights of risk and novelty of a direction."""
    return (1.0, slope) if slope < np.inf else (0.0, 1.0)


class DirectionSearch(ThresholdSearch):
    """Validated samples of two scores, and the directions to search.

    A direction is told by its slope, the weight of the novelty over that of the risk.
    """

    def __init__(self, risk, novelty, losses, is_ood, weight, randomize):
        super().__init__(novelty, losses, is_ood, weight, randomize)
        risk, self.power = lift_risk(risk)
        risk, novelty, sums = risk[self.rows], self.scores, self.sums
        columns, self.points = (risk, novelty, sums), None
        some = snap(risk[:: 1 + len(risk) // _MOST_MERGED])
        if len(risk) <= _MOST_MERGED or len(np.unique(some)) < 0.9 * len(some):
            columns = _merge(*columns)
            #: Distinct points, one for those that rounding tells apart, where few.
            points = _merge(snap(columns[0]), snap(columns[1]), columns[2])
            self.points = points if len(points[0]) <= _MOST_FOR_EXACT else None
        self.plane = Plane(*columns, self.always)
        directions = score_directions(risk, novelty, _N_DIRECTIONS[self.points is None])
        self.slopes = [slope / risk if risk else np.inf for risk, slope in directions]

    def find_cut(self, problem):
        """Return the best cut of a problem, None if there is none.

        Its direction is tried first for the problems that follow.
        """
        best = self._sweep(self.slopes, problem, self._accept_nothing(problem))
        if self.points is not None:
            best = self._sweep_pivots(problem, best)
        elif best is not None:
            best = self._refine(problem, best)
        if best is None:
            return None
        self.slopes.append(best.slope)
        weights = weights_of(best.slope)
        best = _open_end(best, combine(*self.plane.scores, weights))
        if weights[0] == 0:
            return best
        # Of the risks themselves, which are lower by a power of two.
        threshold, slope = best.threshold / self.power, best.slope / self.power
        return replace(best, threshold=threshold, slope=slope)

    def _sweep(self, slopes, problem, best):
        """Return the best cut of some directions and of a known one."""
        windows = ((self.plane.window(slope, problem, best), slope) for slope in slopes)
        bounds = [(window[0], slope) for window, slope in windows if window]
        # The most promising first: the cut it leads to spares others.
        for bound, slope in sorted(bounds):
            if best is not None and bound > best.price + problem.slack(best.price):
                break
            best = self._better(slope, problem, best)
        return best

    def _better(self, slope, problem, known):
        """Return the best cut of a direction, or a known one that is as good."""
        found = self.plane.find_cut(slope, problem, known, self.randomize)
        return found if problem.prefers(found, known) else known

    def _refine(self, problem, best):
        """Return the best cut of directions ever closer to that of a known one."""
        slopes = np.unique(self.slopes)[1:-1]
        for _ in range(_N_REFINED if len(slopes) else 0):
            ends = np.array([slopes[0] / 2, *slopes, 2 * slopes[-1]])
            n_below = np.searchsorted(ends, best.slope * (1 - RESOLUTION))
            above = np.searchsorted(ends, best.slope * (1 + RESOLUTION))
            low, high = ends[max(n_below - 1, 0)], ends[min(above, len(ends) - 1)]
            between = np.geomspace(low, high, _N_BETWEEN)
            best = self._sweep(between.tolist(), problem, best)
            slopes = np.union1d(slopes, between)
        return best

    def _sweep_pivots(self, problem, known):
        """Return the best cut of all directions between the axes, and a known one.

        A rule ends at a point, the pivot. While the direction turns from the risk to
        the novelty, other points pass it one by one, and from one to the next what is
        below it stays. Directions at which different points happen to tie are not among
        them: what may be accepted there without a draw is accepted beside them, too.

        Memory grows with the square of the number of points.
        """
        risk, novelty, sums = self.points
        # What is lower in one score and not higher in the other is always below a
        # pivot, and what is so the other way around never is.
        is_lower = risk[:, np.newaxis] <= risk
        is_lower &= novelty[:, np.newaxis] <= novelty
        np.fill_diagonal(is_lower, False)
        always = self.always + sums @ is_lower
        boxes = always.copy()
        boxes[0] = self.always[0] + sums[0].sum() - is_lower @ sums[0]
        pivots = np.flatnonzero(problem.may_match(known, boxes) & (sums[0] > 0))
        for pivot in pivots.tolist():
            cut = self._find_pivot_cut(pivot, always[:, [pivot]], problem, known)
            if problem.prefers(cut, known):
                # Rounding may tie points, or order them in another way: what counts is
                # what the weights lead to.
                known = self._better(cut.slope, problem, known)
        return known

    def _find_pivot_cut(self, pivot, always, problem, known):
        """Return the best cut at a pivot with a slope for it, None if worse than known.

        `always`, of shape (3, 1), are the sums of what is below it in any direction.
        """
        risk, novelty, sums = self.points
        own = sums[:, [pivot]]
        risk, novelty = risk - risk[pivot], novelty - novelty[pivot]
        moving = np.flatnonzero(np.sign(risk) * np.sign(novelty) < 0)
        risk, novelty = risk[moving], novelty[moving]
        slopes = np.abs(risk / novelty)
        order = np.argsort(slopes)
        slopes = slopes[order]
        # At first those of lower risk are below the pivot, at last those of lower
        # novelty.
        sums = sums.take(moving[order], axis=1)
        leaves = risk[order] < 0
        start = always + sums.compress(leaves, axis=1).sum(axis=1, keepdims=True)
        changes = np.cumsum(np.where(leaves, -sums, sums), axis=1)
        before = np.hstack([start, start + changes])
        low, high = np.append(0.0, slopes), np.append(slopes, np.inf)
        boxes = before.copy()
        boxes[0] += own[0]
        # Between slopes that only rounding tells apart there are no directions.
        is_apart = high > low * (1 + RESOLUTION)
        states = np.flatnonzero(is_apart & problem.may_match(known, boxes))
        if not len(states):
            return None
        own = np.repeat(own, len(states), axis=1)
        after = before.take(states, axis=1) + own
        cut = find_best_cut(problem, after, own, self.randomize)
        if cut is None:
            return None
        state = states[cut.index]
        return replace(cut, slope=_slope_between(low[state], high[state]))


def _slope_between(low, high):
    """Return a slope in the middle of two, which may be zero and infinite."""
    if np.isinf(high):
        return float(low * 2 or 1.0)
    return float(np.sqrt(low or high / 4) * np.sqrt(high))
