"""Curves and areas of samples that are known by their table of cells.

The weight of a cell and the sum of its losses are known, not their order inside of it.
With losses from `least` to `largest`, the order that puts the small ones first has the
lowest prefixes of any length, and the reverse the highest. So every sample with this
table has values between those of these two, where the area is one of a density of
losses along the cumulative weight: what it weighs never rises.
"""

import numpy as np

from sklearn_reject._curves._groups import RELATIVE_TOLERANCE, running_sum
from sklearn_reject._curves._risk_coverage import weigh_losses


class CellBounds:
    """Bounds of the prefixes of a table: arrays of shape (n_cells,).

    Cells whose samples are tied, or have one loss, have a single order: in expectation,
    every prefix of a tie group has its share of the loss.
    """

    def __init__(self, table):
        self.weights, self.losses = table.weights, table.loss
        self.ends, self.sums = running_sum(self.weights), running_sum(self.losses)
        # Differences would make the first ends of a sum something else than its parts.
        self.starts = np.append(0.0, self.ends[:-1])
        self.loss_before = np.append(0.0, self.sums[:-1])
        self.rows, self.is_tied = table.rows, table.low == table.high
        self.is_exact = table.is_exact
        mean = self.losses / self.weights
        # Rounding may put the mean outside of the two.
        self.least = np.where(self.is_exact, mean, np.minimum(table.least, mean))
        self.largest = np.where(self.is_exact, mean, np.maximum(table.largest, mean))
        excess = self.losses - self.least * self.weights
        width = self.largest - self.least
        # The weight that the largest losses have where all others are the least.
        self.heavy = np.divide(excess, width, out=np.zeros(len(mean)), where=width > 0)
        np.clip(self.heavy, 0.0, self.weights, out=self.heavy)

    @property
    def total(self):
        """Weight of all samples."""
        return float(self.ends[-1])

    @property
    def mean_loss(self):
        """Mean loss of all samples."""
        return float(self.sums[-1]) / self.total

    def lowest(self, cells, positions):
        """Return the least loss up to positions, in weight, each in a cell."""
        inside, after = self._cut(cells, positions)
        least = self.least[cells] * inside
        others = self.losses[cells] - self.largest[cells] * after
        return self.loss_before[cells] + np.maximum(least, others)

    def highest(self, cells, positions):
        """Return the largest loss up to positions, in weight, each in a cell."""
        inside, after = self._cut(cells, positions)
        largest = self.largest[cells] * inside
        others = self.losses[cells] - self.least[cells] * after
        return self.loss_before[cells] + np.minimum(largest, others)

    def _cut(self, cells, positions):
        """Return the weight of each cell up to positions, and the rest of it."""
        # Where a cell weighs next to nothing, differences of sums may be more than it.
        weights = self.weights[cells]
        inside = np.clip(positions - self.starts[cells], 0.0, weights)
        inside = np.where(positions >= self.ends[cells], weights, inside)
        return inside, weights - inside

    def mean_risk(self, coverages):
        """Return the risks at coverages where each cell is a tie group."""
        positions = np.asarray(coverages) * self.total
        cells = self.locate(positions)
        inside = np.minimum(positions, self.ends[cells]) - self.starts[cells]
        losses = self.losses[cells] * inside / self.weights[cells]
        return (self.loss_before[cells] + losses) / (self.starts[cells] + inside)

    def locate(self, positions):
        """Return the cell that each position, in weight, ends in."""
        wanted = np.asarray(positions) * (1 - RELATIVE_TOLERANCE)
        return np.minimum(np.searchsorted(self.ends, wanted), len(self.ends) - 1)

    def pieces(self, largest_first):
        """Return starts, weights and losses of pieces of one loss each."""
        heavy, light = self.heavy, self.weights - self.heavy
        if largest_first:
            starts = self.starts, self.starts + heavy
        else:
            starts = self.starts + light, self.starts
        weights = np.append(heavy, light)
        losses = np.append(self.largest * heavy, self.least * light)
        some = weights > 0
        return np.append(*starts)[some], weights[some], losses[some]

    def whole(self):
        """Return starts, weights and losses of the cells."""
        return self.starts, self.weights, self.losses


def bound_aurc(bounds):
    """Return what `aurc_score` is with cells in random order, and its bounds."""
    total = bounds.total
    # Harmonic sums read the total weight as a number of samples.
    n_samples = float(bounds.rows.sum())
    scale = n_samples / total

    def area(starts, weights, losses):
        scaled = starts * scale, weights * scale, losses * scale
        return weigh_losses(n_samples, *scaled)

    return _value_and_bounds(bounds, area)


def bound_pairs(bounds, *, has_weights, inclusive):
    """Return what `sele_score` is with cells in random order, and its bounds."""
    total = bounds.total

    def area(starts, weights, losses):
        after = total - (starts + 0.5 * weights)
        return float((losses / total) @ (after / total))

    value, low, high = _value_and_bounds(bounds, area)
    if inclusive:
        # A tie group counts in full: half of its weight on top for each unit of loss.
        tied = bounds.losses * bounds.weights / 2
        single = np.zeros(len(tied)) if has_weights else bounds.losses / 2
        least, most = np.where(bounds.is_tied, tied, single), tied
        mean = np.where(bounds.is_tied, tied, tied / bounds.rows)
        added = [
            float(part.sum() / total / total)
            for part in (np.clip(mean, least, most), least, most)
        ]
        return widen(bounds, value + added[0], low + added[1], high + added[2])
    return value, low, high


def _value_and_bounds(bounds, area):
    value = area(*bounds.whole())
    ends = area(*bounds.pieces(False)), area(*bounds.pieces(True))
    return widen(bounds, value, *ends)


def widen(bounds, value, low, high):
    """Return a value and bounds of it that allow for rounding, none below zero."""
    slack = RELATIVE_TOLERANCE * (high + bounds.mean_loss)
    return value, np.maximum(low - slack, 0.0), high + slack


def bound_risks(bounds, coverages, *, up_to_end):
    """Return lower and upper bounds of the selective risk at coverages.

    `up_to_end` takes the last tie group as a whole, whichever it is of the cell.
    """
    positions = np.asarray(coverages) * bounds.total
    cells = bounds.locate(positions)
    ends = bounds.ends[cells]
    positions = np.minimum(positions, ends)
    if up_to_end:
        positions = np.where(bounds.is_tied[cells], ends, positions)
    low = bounds.lowest(cells, positions) / positions
    high = bounds.highest(cells, positions) / positions
    if not up_to_end:
        return widen(bounds, positions, low, high)[1:]
    # In between, both are quotients of linear functions up to where the order of the
    # losses turns, and from there on: they are largest and smallest at these places.
    light = bounds.starts[cells] + (bounds.weights - bounds.heavy)[cells]
    heavy = bounds.starts[cells] + bounds.heavy[cells]
    for others in (light, heavy, ends):
        places = np.clip(others, positions, ends)
        low = np.minimum(low, bounds.lowest(cells, places) / places)
        high = np.maximum(high, bounds.highest(cells, places) / places)
    return widen(bounds, positions, low, high)[1:]


def last_within_risk(bounds, risk):
    """Return where each cell may end last within a risk, minus infinity if it cannot.

    Ends are cumulative weights. What may end within are whole prefixes and parts of tie
    groups.
    """
    allowed = risk * (1 + RELATIVE_TOLERANCE)
    # Below both lines, the loss of the best order less what is allowed: that of the
    # least losses from the start on, and that of the largest ones up to the end.
    at_start = bounds.loss_before - allowed * bounds.starts
    at_end = bounds.sums - allowed * bounds.ends
    first, last = np.zeros(len(at_start)), bounds.weights.copy()
    slopes = bounds.least - allowed, bounds.largest - allowed
    offsets = at_start, at_end - slopes[1] * bounds.weights
    for slope, offset in zip(slopes, offsets, strict=True):
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            root = -offset / slope
        last = np.where(slope > 0, np.minimum(last, root), last)
        first = np.where(slope < 0, np.maximum(first, root), first)
        last = np.where((slope == 0) & (offset > 0), -np.inf, last)
    slack = RELATIVE_TOLERANCE * bounds.ends
    return np.where(last >= first - slack, bounds.starts + last, -np.inf)
