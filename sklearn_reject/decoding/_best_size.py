"""How many of the most probable items to predict."""

from typing import NamedTuple

import numpy as np

from sklearn_reject._validation import check_option
from sklearn_reject.decoding._curves import (
    DEFAULT_TOL,
    DISTRIBUTIONS,
    expansion_curves,
    independent_curves,
    is_dense,
    multinomial_curves,
)
from sklearn_reject.decoding._items import (
    check_bounds,
    check_distribution,
    falls,
    sizes_of_sets,
)
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

TIES = ("whole", "split")

# Fraction of the tolerance that the windows, and interpolation, may err by.
_FRACTION_OF_TOL = 1 / 8

# No score is below zero.
_LARGEST_LOSS = 1.0


def best_size(
    eta, loss, *, distribution, groups, min_positive, max_positive, ties="whole"
):
    """Return the size of the least expected loss of each set, after all checks."""
    check_option(distribution, "distribution", DISTRIBUTIONS)
    check_option(ties, "ties", TIES)
    if distribution == "multinomial":
        check_distribution(eta, groups)
    bounds = min_positive, max_positive
    return size_within(bounds, eta.shape, groups, loss, distribution, ties=ties)


def size_within(
    bounds, shape, groups, loss, distribution, *, needs_bounds=True, **options
):
    """Return what chooses the size of sets in an array of this shape, within bounds.

    Unless a loss that needs bounds does not decide. `options` are those of `SetSize`.
    """
    sizes = sizes_of_sets(shape, groups)
    deciding = loss if needs_bounds else None
    least, largest = map(np.max, check_bounds(deciding, sizes, *bounds))
    return SetSize(loss, distribution, least, largest, **options)


class SetSize(NamedTuple):
    """How many of the most probable items to predict, within bounds.

    That of the least expected loss or, with a `threshold`, one of all sets or one each,
    of the items that reach it. The expected loss then takes longer than all else, and
    is NaN unless `with_loss`. With `ties` "whole", equally probable items are taken or
    left together, unless a bound is among them.
    """

    loss: SetLoss
    distribution: str
    min_positive: int
    max_positive: int
    threshold: float | np.ndarray | None = None
    with_loss: bool = True
    ties: str = "split"

    def of_sets(self, sets):
        """Return what chooses for some of the sets."""
        if np.ndim(self.threshold) == 0:
            return self
        return self._replace(threshold=self.threshold[sets])

    @property
    def is_fixed(self):
        """Whether the bounds leave no choice."""
        return self.min_positive == self.max_positive

    @property
    def needs_all_items(self):
        """Whether items that surely are negative may be taken by choice."""
        if self.threshold is not None and np.min(self.threshold) <= 0:
            return True
        return self.distribution == "multinomial" or not self.loss.spares_negatives

    def curves(self, eta, n_negatives=0):
        """Return the expected loss of each size, for rows sorted decreasing."""
        if self.distribution == "multinomial":
            return multinomial_curves(eta, self.loss)
        return independent_curves(eta, self.loss, n_negatives=n_negatives)

    def choose(self, eta, n_negatives=0):
        """Return the size of each row, and its expected loss, each of shape (n_rows,).

        Rows are sorted decreasing; `n_negatives` further items of each are surely
        negative and not predicted. Of losses that differ by no more than rounding the
        smallest size.
        """
        return self.weigh(eta, n_negatives)[:2]

    def weigh(self, eta, n_negatives=0):
        """Return sizes, expected losses, and what whole groups of ties cost of each."""
        if self.threshold is not None:
            sizes, losses = self._reach_threshold(eta, n_negatives)
            return sizes, losses, np.zeros(len(sizes))
        inside = self._inside_bounds(eta, n_negatives)
        allowed = inside if self.ties == "split" else self._ends(eta, n_negatives)
        # All sizes would take long, and bounds rule most of them out.
        is_long = self.distribution == "independent" and not is_dense(*eta.shape)
        if is_long and self.loss.is_mean_of_rates:
            found = [
                self._certify(*row, n_negatives)
                for row in zip(eta, allowed, inside, strict=True)
            ]
            return tuple(map(np.array, zip(*found, strict=True)))
        curves = self.curves(eta, n_negatives)
        scale = np.abs(curves).max(axis=1, keepdims=True)
        tie = _TIE * np.maximum(scale, self.loss.largest)
        of_allowed = np.where(allowed, curves, np.inf)
        near = of_allowed <= of_allowed.min(axis=1, keepdims=True) + tie
        best = near.argmax(axis=1)
        losses = curves[np.arange(len(eta)), best]
        costs = losses - np.where(inside, curves, np.inf).min(axis=1)
        return best, losses, np.where(costs > tie[:, 0], costs, 0.0)

    def _reach_threshold(self, eta, n_negatives):
        threshold = np.reshape(self.threshold, (-1, 1))
        sizes = np.count_nonzero(eta >= threshold, axis=1)
        least = min(self.min_positive, eta.shape[1])
        sizes = np.clip(sizes, least, max(least, self.max_positive))
        if not self.with_loss:
            return sizes, np.full(len(sizes), np.nan)
        is_long = self.distribution == "independent" and not is_dense(*eta.shape)
        if is_long and self.loss.is_mean_of_rates:
            only = np.arange(eta.shape[1] + 1) == sizes[:, None]
            found = [
                self._certify(*row, n_negatives)
                for row in zip(eta, only, only, strict=True)
            ]
            return sizes, np.array([loss for _, loss, _ in found])
        return sizes, self.curves(eta, n_negatives)[np.arange(len(eta)), sizes]

    def _limits(self, eta, n_negatives):
        """Return the bounds, which may be beyond the sizes of small sets."""
        n_items = eta.shape[1] + n_negatives
        return min(self.min_positive, n_items), min(self.max_positive, n_items)

    def _inside_bounds(self, eta, n_negatives):
        """Return which sizes are within the bounds, shape (n_rows, n_columns + 1)."""
        least, largest = self._limits(eta, n_negatives)
        sizes = np.arange(eta.shape[1] + 1)
        inside = (sizes >= least) & (sizes <= largest)
        return np.broadcast_to(inside, (len(eta), len(sizes)))

    def _ends(self, eta, n_negatives):
        """Return which sizes within bounds are a bound, or end a group of ties."""
        # Which of equally probable items are taken, nothing but their order could tell.
        # A bound is a wish to cut nevertheless, and else might leave no size, or none
        # but zero.
        least, largest = self._limits(eta, n_negatives)
        ends = np.ones((len(eta), eta.shape[1] + 1), dtype=bool)
        ends[:, 1:-1] = falls(eta)
        if n_negatives:
            ends[:, -1] = eta[:, -1] > 0
        for bound in (least, largest):
            if 0 < bound < eta.shape[1] + n_negatives:
                ends[:, bound : bound + 1] = True
        return ends & self._inside_bounds(eta, n_negatives)

    def _certify(self, eta, allowed, inside, n_negatives):
        """Return the best size of a row, its loss, and what is lost by the ties."""
        rates = expected_rates(eta, self.loss.zero_division, n_negatives)
        scores = self.loss.mean_of_rates(*rates)
        size, loss = certified_optimum(
            eta, self.loss, scores, DEFAULT_TOL, allowed, n_negatives
        )
        least = loss
        if (allowed != inside).any() and _LARGEST_LOSS - scores.max() < loss - _CHEAP:
            least = certified_optimum(
                eta, self.loss, scores, DEFAULT_TOL, inside, n_negatives
            )[1]
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


def certified_optimum(eta, loss, upper_bounds, tol, allowed, n_negatives=0):
    """Return the set size of the least expected loss, and that loss to ``tol / 4``.

    `eta` is one sorted row; `upper_bounds` bound one minus the expected loss of each
    size, and may be too low by `tol`. No size that is `allowed`, as a mask of shape
    (n_items + 1,) says, is better by over 1.5 `tol`.
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
    laws = CountLaws(eta, _FRACTION_OF_TOL * tol)
    lowest = np.full(len(eta) + 1, np.inf)
    lowest[allowed] = _LARGEST_LOSS - upper_bounds[allowed] - 2 * tol
    lowest_of_blocks = np.minimum.reduceat(lowest, laws.edges[:-1])
    losses, best = np.full(len(eta) + 1, np.inf), _LARGEST_LOSS
    for index in np.argsort(lowest_of_blocks, kind="stable"):
        if lowest_of_blocks[index] > best:
            break
        block = laws.block(index)
        block = block.take(lowest[block.sizes] <= best)
        losses[block.sizes] = expected_losses(
            block, loss, n_items, _FRACTION_OF_TOL * tol
        )
        best = losses.min()
    # Of sizes that are equally good the smallest, in the mirror the largest.
    good = np.flatnonzero(losses <= best + tol)
    size = int(good[-1] if is_mirrored else good[0])
    return len(eta) - size if is_mirrored else size, float(losses[size])
