"""The best threshold of each direction on a grid."""

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise, product

import numpy as np

from sklearn_reject._validation import take_weight
from sklearn_reject.curves import (
    running_sum,
    sizes_of_sums,
    snap_sorted,
    starts_of_ties,
    weighted_sum,
)
from sklearn_reject.selection._one_score import Cut, find_best_cut, may_match

_N_BINS = 512


# Below it sorting is faster than a histogram.
_FEWEST_FOR_BINS = 4096


def sweep_grid(plane, weights, problem, randomize):
    """Return the best cut of some directions, and the number of its direction.

    Of equally good directions it is the first; the cut is None if no rule is feasible.
    Weights of the novelty are not negative.
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


def settle_direction(weights, plane, problem, cut, randomize):
    """Return the best cut of a direction where sums that differ by rounding tie.

    It is the known `cut` of that direction where no two do.
    """
    if cut is not None and cut.threshold == -np.inf:
        return cut
    scores = weighted_sum(plane.risk, plane.novelty, weights)
    order = np.argsort(scores)
    scores = scores[order]
    sizes = sizes_of_sums(plane.risk, plane.novelty, weights)
    snapped = snap_sorted(scores, sizes[order])
    if snapped is scores and cut is not None:
        return cut
    sums = plane.sums_of(order)
    found = _search_sorted(snapped, sums, plane.always, problem, randomize)
    if found is not None and found.threshold == snapped[-1] and found.share == 1:
        found = replace(found, threshold=float(scores[-1]))
    nothing = _accept_nothing(plane, problem)
    return found if found is not None and found.beats(nothing, problem) else nothing


def search_scores(scores, sums, before, problem, cut, randomize):
    """Return the best cut among unsorted scores, None if worse than a known one.

    `sums` are ID weight, OOD weight and loss of each sample, `before` those of all
    samples of lower scores.
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


# Samples of a cell: more make bounds loose, fewer make them as slow as the samples. So
# cells are larger, and more, where there are more samples.
_FEWEST_IN_CELL = 16


# Samples whose sums are held at once where they are not kept.
_BATCH_SIZE = 2**16


# Samples that tell most directions at which not all samples tie.
_FEW = 64


# Share of repeated points, among some of the samples, from which merging them pays.
_REPEATED = 0.1


@dataclass(frozen=True, eq=False)
class Plane:
    """Samples of finite risk and novelty, those of one cell next to each other.

    Columns hold equally many samples by increasing risk, and cells equally many of a
    column by increasing novelty. So cells are small where samples are dense, whatever
    the units and the tails of the scores are. Losses are weighted, and zero for OOD
    samples; `always` sums up the samples that every rule accepts.
    """

    risk: np.ndarray
    novelty: np.ndarray
    losses: np.ndarray
    is_ood: np.ndarray
    weight: np.ndarray | None
    starts: np.ndarray
    always: tuple

    def sums_of(self, rows):
        """Return ID weight, OOD weight and loss of each of some samples."""
        is_ood = self.is_ood[rows]
        if self.weight is None:
            return (
                (~is_ood).astype(np.float64),
                is_ood.astype(np.float64),
                self.losses[rows],
            )
        weight = self.weight[rows]
        of_ood = np.where(is_ood, weight, 0.0)
        return weight - of_ood, of_ood, self.losses[rows]

    @cached_property
    def cell_sizes(self):
        """Number of samples of each cell."""
        return np.diff(self.starts, append=len(self.risk))

    @cached_property
    def cell_sums(self):
        """ID weight, OOD weight and loss of each cell."""
        sums = self.sums_of(slice(None))
        return tuple(np.add.reduceat(part, self.starts) for part in sums)

    @cached_property
    def corners(self):
        """Lowest and highest risk, lowest and highest novelty of each cell."""
        return tuple(
            extreme.reduceat(scores, self.starts)
            for scores in (self.risk, self.novelty)
            for extreme in (np.minimum, np.maximum)
        )

    def all_corners(self):
        """Return risk and novelty of the four corners of each cell."""
        low_risk, high_risk, low_novelty, high_novelty = self.corners
        return product((low_risk, high_risk), (low_novelty, high_novelty))

    def ties(self, weights):
        """Tell whether rounding is all that distinguishes the sums of a direction."""
        if 0.0 in weights:
            return False  # a score of its own
        step = max(1, len(self.risk) // _FEW)
        # Most directions are told by some of the samples.
        return all(
            self._tie(weights, rows) for rows in (slice(None, None, step), slice(None))
        )

    def _tie(self, weights, rows):
        risk, novelty = self.risk[rows], self.novelty[rows]
        size = np.abs(weights) @ [np.ptp(risk), np.ptp(novelty)]
        return np.ptp(weighted_sum(risk, novelty, weights)) <= RESOLUTION * size

    def largest_sum(self, weights):
        """Return the largest weighted sum of a sample, -inf without any."""
        largest = -np.inf
        for start in range(0, len(self.risk), _BATCH_SIZE):
            rows = slice(start, start + _BATCH_SIZE)
            combined = weighted_sum(self.risk[rows], self.novelty[rows], weights)
            largest = max(largest, float(combined.max()))
        return largest

    def sum_up(self, cells, rows):
        """Return sums over what is always accepted, whole cells and more samples."""
        parts = zip(self.always, self.cell_sums, self.sums_of(rows), strict=True)
        return [first + c[cells].sum() + r.sum() for first, c, r in parts]

    def rows_of(self, cells):
        """Return the samples of some cells."""
        sizes = self.cell_sizes[cells]
        rows = np.arange(sizes.sum())
        ends = np.cumsum(sizes)
        rows += np.repeat(self.starts[cells] - ends + sizes, sizes)
        return rows


def make_plane(risk, novelty, losses, is_ood, weight):
    """Sort validated samples into cells; those that no rule accepts are left out."""
    present = novelty < np.inf
    if weight is not None:
        present &= weight > 0
    finite = present & (novelty > -np.inf)
    always = _sums(losses, is_ood, weight, np.flatnonzero(present & ~finite))
    rows = np.flatnonzero(finite)
    if _repeats(risk[rows], novelty[rows]):
        merged = _merge(risk, novelty, losses, is_ood, weight, rows)
        risk, novelty, losses, is_ood, weight = merged
        rows = np.arange(len(risk))
    order, starts = _sort_into_cells(risk[rows], novelty[rows])
    rows = rows[order]
    del order
    weight, losses = take_weight(weight, rows), losses[rows]
    if weight is not None:
        losses *= weight
    return Plane(
        risk[rows], novelty[rows], losses, is_ood[rows], weight, starts, always
    )


def _repeats(risk, novelty):
    """Tell whether many of the samples are one point, judged by some of them."""
    step = max(1, len(risk) // 2**12)
    some = risk[::step] + 1j * novelty[::step]
    return len(np.unique(some)) < (1 - _REPEATED) * len(some)


def _merge(risk, novelty, losses, is_ood, weight, rows):
    """Return the samples of each point and origin as one, with their mean loss."""
    rows = rows[np.lexsort((is_ood[rows], novelty[rows], risk[rows]))]
    columns = risk[rows], novelty[rows], is_ood[rows]
    is_start = np.ones(len(rows), dtype=bool)
    is_start[1:] = np.any([c[1:] != c[:-1] for c in columns], axis=0)
    starts = np.flatnonzero(is_start)
    weight = np.ones(len(rows)) if weight is None else weight[rows]
    total = np.add.reduceat(weight, starts)
    mean = np.add.reduceat(losses[rows] * weight, starts) / total
    risk, novelty, is_ood = (column[starts] for column in columns)
    return risk, novelty, mean, is_ood, total


def _sums(losses, is_ood, weight, rows):
    weight = np.ones(len(rows)) if weight is None else weight[rows]
    is_ood = is_ood[rows]
    return (
        float(weight[~is_ood].sum()),
        float(weight[is_ood].sum()),
        float(losses[rows] @ weight),
    )


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


@dataclass(frozen=True, eq=False)
class Window:
    """The thresholds, in [low, high[, of some directions that may be good enough.

    No threshold has a price below `bound`. All of them accept the cells `below`, and
    those `around` they may cut.
    """

    bound: float
    low: float
    high: float
    below: np.ndarray
    around: np.ndarray


def find_window(plane, ranges, problem, cut):
    """Return the window of thresholds that may be as good as a known cut, or None.

    `ranges` are lower and upper bounds of the combined score in each cell. A threshold
    between the lower ends of two cells accepts at most the cells up to the first of
    them, and at least those that end below it.
    """
    low, high = ranges
    by_low, by_high = np.argsort(low), np.argsort(high)
    sorted_low = low[by_low]
    n_inside = np.searchsorted(high[by_high], sorted_low)
    of_id, of_ood, loss = plane.cell_sums
    most_id = plane.always[0] + np.cumsum(of_id[by_low])
    least = [
        first + np.append(0.0, np.cumsum(part[by_high]))[n_inside]
        for first, part in zip(plane.always[1:], (of_ood, loss), strict=True)
    ]
    possible = np.flatnonzero(may_match(cut, problem, most_id, *least))
    if not len(possible):
        return None
    bounds = problem.price(most_id[possible], *(part[possible] for part in least))
    first, following = possible[0], possible[-1] + 1
    start = sorted_low[first]
    end = sorted_low[following] if following < len(sorted_low) else np.inf
    below = high < start
    return Window(float(bounds.min()), start, end, below, ~below & (low < end))


def guaranteed_price(plane, ranges, problem):
    """Return a price that some threshold of a direction has or undercuts.

    Infinite if cells do not tell whether any threshold is feasible.
    """
    low, high = ranges
    by_low, by_high = np.argsort(low), np.argsort(high)
    ends = high[by_high]
    n_touched = np.searchsorted(low[by_low], ends, side="right")
    of_id, of_ood, loss = plane.cell_sums
    least_id = plane.always[0] + np.cumsum(of_id[by_high])
    most = [
        first + np.cumsum(part[by_low])[n_touched - 1]
        for first, part in zip(plane.always[1:], (of_ood, loss), strict=True)
    ]
    feasible = problem.is_feasible(least_id, most[0])
    prices = problem.price(least_id[feasible], *(part[feasible] for part in most))
    return float(prices.min(initial=np.inf))


# Directions closer to each other than this, relative to their slopes, cannot be told
# apart: the combined scores are rounded.
RESOLUTION = 1e-12


# So near to a single score, no slope is worth a closer look.
SMALLEST = 1e-200


@dataclass(frozen=True)
class Arc:
    """Directions of the order of s(c) = fixed - c * turning, for c in [low, high].

    `kind` is the score that is fixed, with weight 1: "risk" or "novelty"; "reversed" is
    the risk with weight -1.
    """

    kind: str
    low: float
    high: float

    def coordinates(self, risk, novelty):
        """Return fixed and turning."""
        if self.kind == "novelty":
            return novelty, risk
        return (risk if self.kind == "risk" else -risk), -novelty

    def weights(self, slope):
        """Return the weights of risk and novelty at a slope."""
        if self.kind != "novelty":
            return (1.0 if self.kind == "risk" else -1.0), slope
        if slope == 0:
            return 0.0, 1.0
        return (1.0 if slope < 0 else -1.0), 1 / abs(slope)

    def slope(self, weights):
        """Return the slope at which the weights are a multiple of these."""
        risk_weight, novelty_weight = weights
        if self.kind == "novelty":
            return -risk_weight / novelty_weight
        return novelty_weight

    @property
    def is_point(self):
        """Whether rounding hides what distinguishes the directions of the arc."""
        size = max(abs(self.low), abs(self.high))
        return self.high - self.low <= max(RESOLUTION * size, SMALLEST)

    def split(self, n_parts):
        """Return parts of equal length."""
        edges = np.linspace(self.low, self.high, n_parts + 1).tolist()
        return [Arc(self.kind, low, high) for low, high in pairwise(edges)]

    def around(self, slope, share):
        """Return the arc whose ends are nearer to a slope."""
        low = slope - share * (slope - self.low)
        return Arc(self.kind, low, slope + share * (self.high - slope))


def all_arcs(ratio):
    """Return arcs of all directions; `ratio` is a typical risk over novelty."""
    return [
        Arc("risk", 0.0, ratio),
        Arc("novelty", -1 / ratio, 1 / ratio),
        Arc("reversed", 0.0, ratio),
    ]


def arc_around(angle, step, ratio):
    """Return the arc of angles in [0, pi] that differ from one by at most a step."""
    step = min(step, np.pi / 8)
    low, high = max(0.0, angle - step), min(np.pi, angle + step)
    if abs(np.cos(angle)) <= np.sin(angle):
        return Arc("novelty", *(float(-1 / (np.tan(a) * ratio)) for a in (low, high)))
    if angle < np.pi / 2:
        return Arc("risk", *(float(np.tan(a) * ratio) for a in (low, high)))
    return Arc("reversed", *(float(np.tan(np.pi - a) * ratio) for a in (high, low)))
