"""Exact areas of samples that are read again, some cells of their table at a time."""

from functools import partial
from typing import NamedTuple

import numpy as np

from sklearn_reject._curves._area import mean_area_of_part, weigh_losses
from sklearn_reject._curves._cell_bounds import pair_area
from sklearn_reject._curves._cell_table import rows_in_ranges
from sklearn_reject._curves._groups import group_validated

# Rows that are read at a time, unless a single cell has more: they take some 150 MB.
MOST_ROWS = 2**21


def refuse_iterator(parts):
    """Raise for `parts` that can be read only once."""
    if not callable(parts) and iter(parts) is parts:
        raise ValueError(
            "parts can be iterated only once, but the samples may have to be read "
            "several times. Pass a list, or a function that returns a new iterator "
            "each time."
        )


# Scores and losses that are computed anew differ by less, even in single precision.
_SAME_SUM = 1e-6


class _Counted(NamedTuple):
    """What is known of the samples of some cells: sums, and whether there are weights.

    Other losses or weights than those summarized would give neither the one nor the
    other result.
    """

    n_rows: float
    weight: float
    loss: float
    has_weight: bool

    def check(self, losses, weight):
        """Raise unless rows that were read are those that were counted."""
        if len(losses) != self.n_rows:
            raise ValueError(
                f"parts has {len(losses)} samples with scores where the summary has "
                f"counted {self.n_rows:.0f}. Pass the samples that the summary was "
                "updated with, all of them and no others."
            )
        if weight is not None:
            _check_sum("sample_weight", weight, self.weight)
            losses = losses * weight
        _check_sum("losses", losses, self.loss)


def _check_sum(name, values, known):
    if abs(values.sum() - known) > _SAME_SUM * known:
        raise ValueError(
            f"parts has {name} whose sum is {values.sum():g}, but in the summary it is "
            f"{known:g}. Pass the samples that the summary was updated with, with the "
            "same losses and weights."
        )


class Parts:
    """The samples of a table, to be read once more: of some cells at a time."""

    def __init__(self, parts, table):
        refuse_iterator(parts)
        self._parts, self._table = parts, table

    def read(self, cells):
        """Return scores, losses and weights, None if all are one, of cells by index."""
        ranges = self._ranges(cells)
        parts = self._parts(ranges) if callable(self._parts) else self._parts
        taken = [rows_in_ranges(*_as_triple(part), ranges) for part in parts]
        return _join_rows(taken, self._counted(cells))

    def add_up(self, runs, function):
        """Return the sum of what a function makes of the rows of some runs of cells.

        A run comes with a number, which the function takes after scores, losses and
        weights. Parts that can `apply` a function to rows do so where the rows are.
        """
        apply = getattr(self._parts, "apply", None)
        if apply is None:
            return sum(function(*self.read(cells), number) for cells, number in runs)
        jobs = [
            (
                self._ranges(cells),
                partial(_apply_to_rows, function, number, self._counted(cells)),
            )
            for cells, number in runs
        ]
        return sum(apply(jobs))

    def _counted(self, cells):
        """Return what the table has counted in cells."""
        table = self._table
        sums = (each[cells].sum() for each in (table.rows, table.weights, table.loss))
        return _Counted(*map(float, sums), table.weight is not None)

    def _ranges(self, cells):
        """Return the scores of each run of neighbouring cells, shape (n_runs, 2)."""
        breaks = np.flatnonzero(np.diff(cells) > 1)
        firsts = cells[np.append(0, breaks + 1)]
        lasts = cells[np.append(breaks, len(cells) - 1)]
        return np.column_stack([self._table.low[firsts], self._table.high[lasts]])


def _apply_to_rows(function, number, counted, taken):
    return function(*_join_rows(taken, counted), number)


def _join_rows(taken, counted):
    """Return scores, losses and weights, None if all are one, of rows of all parts."""
    scores, losses, weights = zip(*taken, strict=True) if taken else ((), (), ())
    scores, losses, weight = _join(scores), _join(losses), None
    if counted.has_weight or any(each is not None for each in weights):
        pairs = zip(weights, taken, strict=True)
        weight = _join([np.ones(len(t[0])) if w is None else w for w, t in pairs])
        present = weight > 0
        scores, losses, weight = scores[present], losses[present], weight[present]
    counted.check(losses, weight)
    return scores, losses, weight if counted.has_weight else None


def _as_triple(part):
    if len(part) not in (2, 3):
        raise ValueError(
            "parts must hold pairs of scores and losses, or triples of scores, losses "
            f"and sample_weight, got a tuple of length {len(part)}."
        )
    return (*part, None) if len(part) == 2 else tuple(part)


def _join(arrays):
    return np.concatenate(arrays).astype(np.float64) if arrays else np.empty(0)


def runs_of_cells(rows, is_skipped, most_rows):
    """Yield indices of cells in runs of so many rows at most, or of one cell."""
    ends, skipped = np.cumsum(rows), np.append(np.flatnonzero(is_skipped), len(rows))
    start = 0
    while start < len(rows):
        if is_skipped[start]:
            start += 1
            continue
        before = ends[start] - rows[start]
        stop = int(np.searchsorted(ends, before + most_rows, side="right"))
        stop = min(max(stop, start + 1), skipped[np.searchsorted(skipped, start)])
        yield np.arange(start, stop)
        start = stop


def exact_aurc(table, bounds, parts):
    """Return `aurc_score` of the samples of a table."""
    n_samples = float(table.rows.sum())
    scale = n_samples / bounds.total

    def of_cells(starts, weights, losses):
        return weigh_losses(n_samples, starts * scale, weights * scale, losses * scale)

    def of_rows(scores, losses, weight, start):
        weight = None if weight is None else weight * scale
        return mean_area_of_part(scores, losses, weight, start * scale, n_samples)

    return _add_up(table, bounds, parts, bounds.is_exact, of_cells, of_rows)


def exact_pairs(table, bounds, parts, *, inclusive):
    """Return `sele_score` of the samples of a table."""
    total = bounds.total
    tied_part = 0.0 if inclusive else 0.5

    def of_cells(starts, weights, losses):
        return pair_area(starts, weights, losses, total, tied_part)

    def of_rows(scores, losses, weight, start):
        groups = group_validated(scores, losses, weight)
        starts = start + groups.cumulative_weights - groups.weights
        return of_cells(starts, groups.weights, groups.losses)

    exact = bounds.is_tied if inclusive else bounds.is_exact
    return _add_up(table, bounds, parts, exact, of_cells, of_rows)


def _add_up(table, bounds, parts, exact, of_cells, of_rows):
    """Add up an area of cells whose order makes no difference, and of other rows.

    Exact cells between others are read with them, unless they are large.
    """
    from_table = exact & (table.rows > MOST_ROWS // 8)
    runs = []
    for cells in runs_of_cells(table.rows, from_table, MOST_ROWS):
        if exact[cells].all():
            from_table[cells] = True
        else:
            runs.append((cells, float(bounds.starts[cells[0]])))
    area = Parts(parts, table).add_up(runs, of_rows)
    if from_table.any():
        area += of_cells(*(each[from_table] for each in bounds.whole()))
    return float(area)
