"""How many of the most probable items to predict."""

from dataclasses import dataclass, replace

import numpy as np

from sklearn_reject.decoding._curves import (
    expansion_curves,
    independent_curves,
    is_dense,
    multinomial_curves,
)
from sklearn_reject.decoding._items import falls
from sklearn_reject.decoding._ratios import TOL
from sklearn_reject.decoding._windows import CountLaws, expected_losses
from sklearn_reject.losses import Absence, Cells, Expansion, Ratio, SetLoss

# Expected losses that differ by less, relative to the largest, are taken for equal:
# rounding makes as much.
_TIE = 1e-12

# TPR and TNR: the counts of the numerator, and of the denominator.
_RATES = (
    (Cells(tp=1.0), Cells(tp=1.0, fn=1.0)),
    (Cells(tn=1.0), Cells(fp=1.0, tn=1.0)),
)

# What whole groups of ties may cost before a size between their ends is looked for.
_CHEAP = 1e-3

# What the windows, and interpolation, may err by.
_TOL_OF_WINDOWS = TOL / 8

# No score is below zero.
_LARGEST_LOSS = 1.0


@dataclass(frozen=True, eq=False)
class SetRule:
    """How many of the most probable items of a set to predict, within bounds.

    The number of the least expected loss or, with a `threshold`, one of all sets or one
    each, of the items that reach it. Equally probable items are taken or left together,
    unless a bound is among them.
    """

    loss: SetLoss
    distribution: str
    min_positive: int = 0
    max_positive: int | None = None
    threshold: float | np.ndarray | None = None

    def of_sets(self, sets):
        """Return the rule for some of the sets."""
        if np.ndim(self.threshold) == 0:
            return self
        return replace(self, threshold=self.threshold[sets])

    @property
    def needs_all_items(self):
        """Whether items that surely are negative may be taken by choice."""
        if self.threshold is not None and np.min(self.threshold) <= 0:
            return True
        return self.distribution == "multinomial" or not self.loss.spares_negatives

    def choose(self, eta, n_negatives=0, *, with_loss=True):
        """Return the size of each row, its expected loss, and what ties cost of it.

        Rows are sorted decreasing; `n_negatives` further items of each are surely
        negative and not predicted. Of losses that differ by no more than rounding the
        smallest size. The losses of a threshold take longer than all else, and are NaN
        unless `with_loss`.
        """
        if self.threshold is not None:
            sizes = self._reach_threshold(eta, n_negatives)
            if not with_loss:
                return sizes, np.full(len(sizes), np.nan), np.zeros(len(sizes))
            allowed = inside = np.arange(eta.shape[1] + 1) == sizes[:, None]
        else:
            inside = self._inside_bounds(eta, n_negatives)
            allowed = inside & self._ends(eta, n_negatives)
        # All sizes would take long, and bounds rule most of them out.
        is_long = self.distribution == "independent" and not is_dense(*eta.shape)
        if is_long and self.loss.mean_of_rates is not None:
            found = [
                self._certify(*row, n_negatives)
                for row in zip(eta, allowed, inside, strict=True)
            ]
            return tuple(map(np.array, zip(*found, strict=True)))
        curves = self._curves(eta, n_negatives)
        scale = np.abs(curves).max(axis=1, keepdims=True)
        tie = _TIE * np.maximum(scale, self.loss.largest)
        of_allowed = np.where(allowed, curves, np.inf)
        near = of_allowed <= of_allowed.min(axis=1, keepdims=True) + tie
        best = near.argmax(axis=1)
        losses = curves[np.arange(len(eta)), best]
        costs = losses - np.where(inside, curves, np.inf).min(axis=1)
        return best, losses, np.where(costs > tie[:, 0], costs, 0.0)

    def _curves(self, eta, n_negatives):
        """Return the expected loss of each size."""
        if self.distribution == "multinomial":
            return multinomial_curves(eta, self.loss)
        return independent_curves(eta, self.loss, n_negatives=n_negatives)

    def _limits(self, n_items):
        """Return the bounds of a set, which may be smaller than they are."""
        largest = n_items if self.max_positive is None else self.max_positive
        return min(self.min_positive, n_items), min(largest, n_items)

    def _reach_threshold(self, eta, n_negatives):
        """Return how many items of each row reach the threshold, within the bounds."""
        threshold = np.reshape(self.threshold, (-1, 1))
        sizes = np.count_nonzero(eta >= threshold, axis=1)
        return np.clip(sizes, *self._limits(eta.shape[1] + n_negatives))

    def _inside_bounds(self, eta, n_negatives):
        """Return which sizes are within the bounds, shape (n_rows, n_columns + 1)."""
        least, largest = self._limits(eta.shape[1] + n_negatives)
        sizes = np.arange(eta.shape[1] + 1)
        inside = (sizes >= least) & (sizes <= largest)
        return np.broadcast_to(inside, (len(eta), len(sizes)))

    def _ends(self, eta, n_negatives):
        """Return which sizes are a bound, or end a group of ties."""
        # Which of equally probable items are taken, nothing but their order could tell.
        # A bound is a wish to cut nevertheless, and else might leave no size, or none
        # but zero.
        least, largest = self._limits(eta.shape[1] + n_negatives)
        ends = np.ones((len(eta), eta.shape[1] + 1), dtype=bool)
        ends[:, 1:-1] = falls(eta)
        if n_negatives:
            ends[:, -1] = eta[:, -1] > 0
        for bound in (least, largest):
            if 0 < bound < eta.shape[1] + n_negatives:
                ends[:, bound : bound + 1] = True
        return ends

    def _certify(self, eta, allowed, inside, n_negatives):
        """Return the best size of a row, its loss, and what is lost by the ties."""
        rates = expected_rates(eta, self.loss.zero_division, n_negatives)
        scores = self.loss.mean_of_rates(*rates)
        size, loss = certified_optimum(eta, self.loss, scores, allowed, n_negatives)
        least = loss
        if (allowed != inside).any() and _LARGEST_LOSS - scores.max() < loss - _CHEAP:
            least = certified_optimum(eta, self.loss, scores, inside, n_negatives)[1]
        return size, loss, loss - least


def expected_rates(eta, zero_division, n_negatives=0):
    """Return the expected TPR and TNR of the top k items for all k, in [0, 1].

    The rate of a class that is absent is `zero_division`.
    """
    rates = []
    for true, of_class in _RATES:
        absence = Absence(of_class, zero_division)
        rate = Expansion(0.0, (Ratio(1.0, true, of_class),), (absence,))
        curves = expansion_curves(eta[None], rate, n_negatives=n_negatives)
        rates.append(np.clip(curves[0], 0.0, 1.0))
    return rates


def certified_optimum(eta, loss, upper_bounds, allowed, n_negatives=0):
    """Return the set size of the least expected loss, and that loss to ``TOL / 4``.

    `eta` is one sorted row; `upper_bounds` bound one minus the expected loss of each
    size, and may be too low by `TOL`. No size that is `allowed`, as a mask of shape
    (n_items + 1,) says, is better by over 1.5 `TOL`.
    """
    # Where most items are likely, the mirrored problem is solved, in which the other
    # class is the positive one: the laws of few counts are short.
    is_mirrored = not n_negatives and eta.mean() > 0.5
    if is_mirrored:
        eta, upper_bounds = 1 - eta[::-1], upper_bounds[::-1]
        allowed = allowed[::-1]
    # Blocks of sizes are evaluated, the most promising first, as long as a bound leaves
    # hope for a loss below, or as good as, the least one found. G-mean and H-mean are
    # concave in TPR and TNR, so that by Jensen's inequality the mean of the expected
    # rates is a bound.
    n_items = len(eta) + n_negatives
    laws = CountLaws(eta, _TOL_OF_WINDOWS)
    lowest = np.full(len(eta) + 1, np.inf)
    lowest[allowed] = _LARGEST_LOSS - upper_bounds[allowed] - 2 * TOL
    lowest_of_blocks = np.minimum.reduceat(lowest, laws.edges[:-1])
    losses, best = np.full(len(eta) + 1, np.inf), _LARGEST_LOSS
    for index in np.argsort(lowest_of_blocks, kind="stable"):
        if lowest_of_blocks[index] > best:
            break
        block = laws.block(index)
        block = block.take(lowest[block.sizes] <= best)
        losses[block.sizes] = expected_losses(block, loss, n_items, _TOL_OF_WINDOWS)
        best = losses.min()
    # Of sizes that are equally good the smallest, in the mirror the largest.
    good = np.flatnonzero(losses <= best + TOL)
    size = int(good[-1] if is_mirrored else good[0])
    return len(eta) - size if is_mirrored else size, float(losses[size])
