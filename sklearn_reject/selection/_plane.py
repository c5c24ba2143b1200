"""ID and OOD samples as points of a plane, sorted into small cells."""

from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np

from sklearn_reject._validation import take_weight
from sklearn_reject.curves._directions import weighted_sum
from sklearn_reject.selection._arcs import RESOLUTION

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
    the units and the tails of the scores are.

    Attributes
    ----------
    risk, novelty : ndarray of shape (n_samples,)
        Finite scores.

    losses : ndarray of shape (n_samples,)
        Loss of each sample times its weight, zero for OOD samples.

    is_ood : ndarray of shape (n_samples,), dtype bool
        Whether a sample is OOD.

    weight : ndarray of shape (n_samples,) or None
        Weight of each sample.

    starts : ndarray of shape (n_cells,)
        First sample of each cell.

    always : tuple of three floats
        ID weight, OOD weight and loss of the samples that every rule accepts.
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
