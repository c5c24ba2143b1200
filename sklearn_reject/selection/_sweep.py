"""The best direction and threshold of two scores, and the best threshold of one."""

from dataclasses import replace
from operator import itemgetter

import numpy as np

from sklearn_reject._curves._directions import (
    RESOLUTION,
    combine,
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
_N_DIRECTIONS = 91, 541


# Samples of a cell: more make bounds loose, fewer make them as slow as the samples. So
# cells are larger, and more, where there are more samples.
_FEWEST_IN_CELL = 16


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
    starts = np.flatnonzero(starts_of_ties(scores))
    thresholds = scores[starts]
    sizes = np.abs(scores) if sizes is None else sizes[order]
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


def _accept_nothing(problem, always):
    """Return the cut that accepts what every rule does, None if it is infeasible."""
    cut = find_best_cut(problem, always, None, randomize=False)
    return cut and replace(cut, threshold=-np.inf, share=0.0)


def _open_end(cut, scores):
    """Return a cut of an infinite threshold where it accepts all of finite scores.

    The largest one seen would reject larger ones to come.
    """
    is_all = cut.share == 1 and cut.threshold >= scores.max(initial=-np.inf)
    return replace(cut, threshold=np.inf) if is_all else cut


def _split(scores, losses, is_ood, weight):
    """Return the finite scores of positive weight that there are, with their sums.

    With them come the sums over what every rule accepts, of shape (3, 1).
    """
    sums, finite = sums_of(losses, is_ood, weight), np.isfinite(scores) & (weight > 0)
    if finite.all():
        return slice(None), sums, np.zeros((3, 1))
    always = sums[:, scores == -np.inf].sum(axis=1, keepdims=True)
    return finite, sums[:, finite], always


class ThresholdSearch:
    """Validated samples of one score, and the magnitudes that it is rounded at."""

    def __init__(self, scores, losses, is_ood, weight, randomize, sizes=None):
        self.randomize = randomize
        rows, self.sums, self.always = _split(scores, losses, is_ood, weight)
        self.scores, self.sizes = scores[rows], None if sizes is None else sizes[rows]

    def find_cut(self, problem):
        """Return the best cut of a problem, None if there is none."""
        nothing = _accept_nothing(problem, self.always)
        cut = find_threshold(
            problem, self.scores, self.sizes, self.sums, self.always, self.randomize
        )
        if not problem.prefers(cut, nothing):
            return nothing
        return _open_end(cut, self.scores)


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

    def __init__(self, risk, novelty, sums, always):
        order, self.starts = _sort_into_cells(risk, novelty)
        self.risk, self.novelty = risk[order], novelty[order]
        self.sums, self.always = sums.take(order, axis=1), always
        self.cell_sums = np.add.reduceat(self.sums, self.starts, axis=1)
        scores = np.array([self.risk, self.novelty])
        left, low = np.minimum.reduceat(scores, self.starts, axis=1)
        right, high = np.maximum.reduceat(scores, self.starts, axis=1)
        self.corners = np.array([[left, left, right, right], [low, high, low, high]])

    def window(self, weights, problem, known):
        """Return which thresholds may be as good as a known cut, and the best price.

        That is a lower bound of their prices, the ends of [start, end[, and the ends of
        the cells; or None. A threshold between the lower ends of two cells accepts at
        most the cells up to the first of them, and at least those that end below it.
        """
        corners = combine(*self.corners, weights)
        low, high = corners.min(axis=0), corners.max(axis=0)
        by_low, by_high = np.argsort(low), np.argsort(high)
        starts = low[by_low]
        n_inside = np.searchsorted(high[by_high], starts)
        inside = np.zeros((2, len(low) + 1))
        np.cumsum(self.cell_sums[1:, by_high], axis=1, out=inside[:, 1:])
        most_id = np.cumsum(self.cell_sums[0, by_low])
        boxes = np.vstack([most_id, inside.take(n_inside, axis=1)]) + self.always
        possible = problem.may_match(known, boxes).nonzero()[0]
        if not len(possible):
            return None
        first, following = possible[0], possible[-1] + 1
        end = starts[following] if following < len(starts) else np.inf
        bound = problem.value(boxes.take(possible, axis=1)).min()
        return float(bound), starts[first], end, low, high

    def find_cut(self, weights, problem, known, randomize):
        """Return the best cut of a direction, None if it is worse than a known one."""
        window = self.window(weights, problem, known)
        if window is None:
            return None
        _, start, end, low, high = window
        # What ties with a threshold inside, and what ties with that.
        reach = 4 * TIE_TOLERANCE * sizes_of_sums(*self.corners, weights).max()
        start, end = start - reach, end + reach
        is_below = high < start
        below = self.cell_sums.compress(is_below, axis=1).sum(axis=1, keepdims=True)
        cells = np.flatnonzero(~is_below & (low < end))
        # The samples of these cells: runs from the first ones on.
        firsts = self.starts[cells]
        lengths = np.append(self.starts, len(self.risk))[cells + 1] - firsts
        rows = np.arange(lengths.sum())
        rows += np.repeat(firsts - np.cumsum(lengths) + lengths, lengths)
        scores = combine(self.risk[rows], self.novelty[rows], weights)
        is_below = scores < start
        below += self.sums.take(rows[is_below], axis=1).sum(axis=1, keepdims=True)
        near = np.flatnonzero(~is_below & (scores < end))
        rows, scores, below = rows[near], scores[near], below + self.always
        if len(rows) >= _FEWEST_FOR_BINS:
            rows, scores, below = self._narrow(rows, scores, below, problem, known)
        sizes = sizes_of_sums(self.risk[rows], self.novelty[rows], weights)
        sums = self.sums.take(rows, axis=1)
        cut = find_threshold(problem, scores, sizes, sums, below, randomize)
        return cut and replace(cut, weights=weights)

    def _narrow(self, rows, scores, below, problem, known):
        """Return the samples of bins in which a cut may be as good as a known one.

        With them come their scores, and the sums over all that is below.
        """
        lowest, highest = scores.min(), scores.max()
        if lowest == highest:
            return rows, scores, below
        scale = (_N_BINS - 1) / (highest - lowest)
        bins = ((scores - lowest) * scale).astype(np.intp)
        of_bins = [np.bincount(bins, part[rows], _N_BINS) for part in self.sums]
        sums = np.hstack([below, below + np.cumsum(of_bins, axis=1)])
        # Where a bin ends a rule may end, too.
        edge = find_best_cut(problem, sums[:, 1:], None, randomize=False)
        known = edge if problem.prefers(edge, known) else known
        boxes = np.vstack([sums[0, 1:], sums[1:, :-1]])
        possible = np.flatnonzero(problem.may_match(known, boxes))
        if not len(possible):
            return rows[:0], scores[:0], below
        # One bin more at either end has what ties with a threshold inside.
        first, last = max(possible[0] - 1, 0), possible[-1] + 1
        near = (bins >= first) & (bins <= last)
        return rows[near], scores[near], sums[:, [first]]


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


def _merge(risk, novelty, sums):
    """Return distinct points, with their sums."""
    order = np.lexsort((novelty, risk))
    risk, novelty, sums = risk[order], novelty[order], sums.take(order, axis=1)
    starts = np.flatnonzero(starts_of_ties(risk) | starts_of_ties(novelty))
    sums = np.add.reduceat(sums, starts, axis=1)
    return risk[starts], novelty[starts], sums


class DirectionSearch:
    """Validated samples, arrays of shape (n_samples,), and the directions to search."""

    def __init__(self, risk, novelty, losses, is_ood, weight, randomize):
        self.randomize = randomize
        rows, sums, always = _split(novelty, losses, is_ood, weight)
        columns = risk[rows], novelty[rows], sums
        #: Distinct points, one for those that rounding tells apart, where few.
        self.points = None
        some = snap(columns[0][:: 1 + len(sums[0]) // _MOST_MERGED])
        if len(sums[0]) <= _MOST_MERGED or len(np.unique(some)) < 0.9 * len(some):
            points = _merge(*map(snap, columns[:2]), sums)
            if len(points[0]) <= _MOST_FOR_EXACT:
                self.points = points
            columns = _merge(*columns)
        self.plane = Plane(*columns, always)
        n_directions = _N_DIRECTIONS[self.points is None]
        self.directions = score_directions(risk[rows], novelty[rows], n_directions)

    def find_cut(self, problem):
        """Return the best cut of a problem, None if there is none.

        Its direction is tried first for the problems that follow.
        """
        best = _accept_nothing(problem, self.plane.always)
        best = self._sweep_grid(self.directions, problem, best)
        if self.points is not None:
            best = self._sweep_pivots(problem, best)
        elif best is not None:
            best = self._refine(problem, best)
        if best is None:
            return None
        self.directions.append(best.weights)
        scores = combine(self.plane.risk, self.plane.novelty, best.weights)
        return _open_end(best, scores)

    def _sweep_grid(self, directions, problem, best):
        """Return the best cut of some directions and of a known one."""
        windows = ((self.plane.window(w, problem, best), w) for w in directions)
        bounds = [(window[0], w) for window, w in windows if window is not None]
        # The most promising first: the cut it leads to spares others.
        for bound, weights in sorted(bounds, key=itemgetter(0)):
            if best is not None and bound > best.price + problem.slack(best.price):
                break
            best = self._better(weights, problem, best)
        return best

    def _better(self, weights, problem, known):
        """Return the best cut of a direction, or a known one that is as good."""
        found = self.plane.find_cut(weights, problem, known, self.randomize)
        return found if problem.prefers(found, known) else known

    def _refine(self, problem, best):
        """Return the best cut of directions ever closer to that of a known one."""
        slopes = np.sort([novelty / risk for risk, novelty in self.directions if risk])
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
            best = self._sweep_grid(closer, problem, best)
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
        always = self.plane.always + sums @ is_lower
        boxes = always.copy()
        boxes[0] = self.plane.always[0] + sums[0].sum() - is_lower @ sums[0]
        pivots = np.flatnonzero(problem.may_match(known, boxes) & (sums[0] > 0))
        for pivot in pivots.tolist():
            if not problem.may_match(known, boxes[:, [pivot]]):
                continue
            cut = self._find_pivot_cut(pivot, always[:, [pivot]], problem, known)
            if problem.prefers(cut, known):
                # Rounding may tie points, or order them in another way: what counts is
                # what the weights lead to.
                known = self._better(cut.weights, problem, known)
        return known

    def _find_pivot_cut(self, pivot, always, problem, known):
        """Return the best cut at a pivot with weights for it, None if worse than known.

        `always`, of shape (3, 1), are the sums of what is below it in any direction.
        """
        risk, novelty, sums = self.points
        own = sums[:, [pivot]]
        risk, novelty = risk - risk[pivot], novelty - novelty[pivot]
        moving = np.flatnonzero(
            ((risk < 0) & (novelty > 0)) | ((risk > 0) & (novelty < 0))
        )
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
        own = np.repeat(own, len(states), axis=1)
        after = before.take(states, axis=1) + own
        cut = find_best_cut(problem, after, own, self.randomize)
        if cut is None:
            return None
        state = states[cut.index]
        return replace(cut, weights=(1.0, _slope_between(low[state], high[state])))


def _slope_between(low, high):
    """Return a slope in the middle of two, which may be zero and infinite."""
    if np.isinf(high):
        return float(low * 2 or 1.0)
    return float(np.sqrt(low or high / 4) * np.sqrt(high))
