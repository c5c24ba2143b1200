"""ID and OOD samples as points of a plane, sorted into small cells."""

from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np

from sklearn_reject._validation import take_weight
from sklearn_reject.curves._directions import weighted_sum

# Samples of a cell: more make bounds loose, fewer make them as slow as the samples. So
# cells are larger, and more, where there are more samples.
_FEWEST_IN_CELL = 16


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

    def largest_sum(self, weights):
        """Return the largest weighted sum of a sample, -inf without any."""
        combined = weighted_sum(self.risk, self.novelty, weights)
        return float(combined.max(initial=-np.inf))

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
    order, starts = _sort_into_cells(risk[rows], novelty[rows])
    rows = rows[order]
    del order
    weight, losses = take_weight(weight, rows), losses[rows]
    if weight is not None:
        losses *= weight
    return Plane(
        risk[rows], novelty[rows], losses, is_ood[rows], weight, starts, always
    )


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
