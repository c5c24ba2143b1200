"""What a rule accepts of each cell of two scores at least, and at most."""

from dataclasses import dataclass

import numpy as np

from sklearn_reject._curves import TIE_TOLERANCE, combine, sizes_of_sums
from sklearn_reject.selection._plane_cells import PLACES


@dataclass(frozen=True, eq=False)
class Cells:
    """Columns of a table of cells by name, and what the losses of each may be.

    Nothing but rows, weight, loss, least and largest loss of a cell is known. Whatever
    is accepted of it, no arrangement has less or more loss than one of two parts: of
    the weight `of_least`, all of the least loss, and `of_most`, all of the largest.
    """

    table: np.ndarray

    def __getattr__(self, name):
        """Return a column."""
        if name not in PLACES:
            raise AttributeError(name)
        return self.table[PLACES[name]]

    def take(self, rows):
        """Return some of the cells."""
        return Cells(self.table[:, rows])

    @property
    def always(self):
        """Which cells every rule accepts."""
        return self.novelty_low == -np.inf

    @property
    def never(self):
        """Which cells no rule accepts."""
        return self.novelty_low == np.inf

    def middle(self):
        """Return the cells as if all samples of each were in its middle."""
        table = self.table.copy()
        for name in ("risk", "novelty"):
            ends = [PLACES[f"{name}_low"], PLACES[f"{name}_high"]]
            table[ends] = table[ends[0]] / 2 + table[ends[1]] / 2
        return Cells(table)

    def parts(self):
        """Return the weights `of_least` and `of_most`, of shape (2, n_cells)."""
        spread = self.most_loss - self.least_loss
        excess = self.loss - self.least_loss * self.id_weight
        of_most = np.zeros(len(spread))
        np.divide(excess, spread, out=of_most, where=spread > 0)
        of_most = np.clip(of_most, 0.0, self.id_weight)
        return np.array([self.id_weight - of_most, of_most])

    def sums(self, weights):
        """Return least and largest sums in each cell, and their least, largest size.

        Rounding keeps the order of sums, and of sizes, so they are bounds of what is
        computed for each sample.
        """
        ends = (self.risk_low, self.risk_high), (self.novelty_low, self.novelty_high)
        turned = [pair[::-1] if weights[i] < 0 else pair for i, pair in enumerate(ends)]
        low, high = (combine(*pair, weights) for pair in zip(*turned, strict=True))
        sizes = [np.abs(pair) for pair in ends]
        most = [pair.max(axis=0) for pair in sizes]
        least = [
            np.where((pair[0] < 0) & (pair[1] > 0), 0.0, size.min(axis=0))
            for pair, size in zip(ends, sizes, strict=True)
        ]
        return low, high, sizes_of_sums(*least, weights), sizes_of_sums(*most, weights)


def accepted_shares(cells, weights, threshold, proba):
    """Return which share of each sample of a cell is accepted, at least and at most.

    What is in between is in cells that the threshold cuts. NaN, of sums that overflow,
    is below nothing and above nothing.
    """
    low, high, least, most = cells.sums(weights)
    with np.errstate(over="ignore", invalid="ignore"):
        least, most = least * TIE_TOLERANCE, most * TIE_TOLERANCE
        all_below, none_above = high + most < threshold, high - least <= threshold
        all_above, none_below = low - most > threshold, low + least >= threshold
    none_below &= low > -np.inf
    at_least = np.where(all_below, 1.0, np.where(none_above, proba, 0.0))
    at_most = np.where(all_above, 0.0, np.where(none_below, proba, 1.0))
    at_least[cells.always] = 1.0
    at_most[cells.never] = at_least[cells.never] = 0.0
    return at_least, at_most


def estimated_shares(cells, weights, threshold, at_least, at_most):
    """Return the share of each cell if its sums were even between both ends."""
    low, high, _, _ = cells.sums(weights)
    share = at_least.copy()
    cut = np.flatnonzero(at_most > at_least)
    low, high = low[cut], high[cut]
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        inside = (threshold - low) / (high - low)
    inside = np.nan_to_num(inside, nan=0.5)
    share[cut] = np.clip(inside, at_least[cut], at_most[cut])
    return share


def bound_mean(cells, at_least, at_most, *, largest):
    """Return the least, or the largest, mean loss of what may be accepted; NaN if none.

    From the mean loss of what is accepted for certain on, parts of the cut cells are
    added that lower it, those of least loss first, or that raise it, those of largest
    loss first: a ratio that is linear in each part is extreme at such a prefix.
    """
    sign = -1.0 if largest else 1.0
    losses = np.array([cells.least_loss, cells.most_loss])
    weight = cells.parts() * (at_most - at_least)
    added = weight > 0
    losses, weight = losses[added], weight[added]
    order = np.argsort(sign * losses)
    weights = np.append(at_least @ cells.id_weight, weight[order])
    sums = np.append(at_least @ cells.loss, (losses * weight)[order])
    weights, sums = np.cumsum(weights), np.cumsum(sums)
    means = sums[weights > 0] / weights[weights > 0]
    return float(sign * (sign * means).min()) if len(means) else float("nan")
