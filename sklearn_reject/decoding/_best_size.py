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

# Fraction of the tolerance that the windows, and interpolation, may err by.
_FRACTION_OF_TOL = 1 / 8

# No score is below zero.
_LARGEST_LOSS = 1.0


def best_size(eta, loss, *, distribution, groups, min_positive, max_positive):
    """Return the size of the least expected loss of each set, after all checks."""
    check_option(distribution, "distribution", DISTRIBUTIONS)
    sizes = sizes_of_sets(eta.shape, groups)
    if distribution == "multinomial":
        check_distribution(eta, groups)
    least, largest = check_bounds(loss, sizes, min_positive, max_positive)
    return SetSize(loss, distribution, least, np.max(largest))


class SetSize(NamedTuple):
    """How many of the most probable items to predict, within bounds.

    That of the least expected loss or, with a `threshold`, of the items that reach it.
    The expected loss then takes longer than all else, and is NaN unless `with_loss`.
    """

    loss: SetLoss
    distribution: str
    min_positive: int
    max_positive: int
    threshold: float | None = None
    with_loss: bool = True

    @property
    def needs_all_items(self):
        """Whether items that surely are negative may be taken by choice."""
        if self.threshold is not None and self.threshold <= 0:
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
        rows = np.arange(len(eta))
        least = np.full(len(eta), self.min_positive)
        largest = np.full(len(eta), min(self.max_positive, eta.shape[1]))
        if self.threshold is not None:
            sizes = np.count_nonzero(eta >= self.threshold, axis=1)
            sizes = np.clip(sizes, self.min_positive, self.max_positive)
            if not self.with_loss:
                return sizes, np.full(len(sizes), np.nan)
            least = largest = sizes
        # All sizes would take long, and bounds rule most of them out.
        is_long = self.distribution == "independent" and not is_dense(*eta.shape)
        if is_long and self.loss.is_mean_of_rates:
            return self._certify(eta, least, largest, n_negatives)
        curves = self.curves(eta, n_negatives)
        if self.threshold is not None:
            return sizes, curves[rows, sizes]
        scale = np.abs(curves).max(axis=1, keepdims=True)
        tie = _TIE * np.maximum(scale, self.loss.largest)
        curves = curves[:, self.min_positive : self.max_positive + 1]
        near = curves <= curves.min(axis=1, keepdims=True) + tie
        best = near.argmax(axis=1)
        return best + self.min_positive, curves[rows, best]

    def _certify(self, eta, least, largest, n_negatives):
        """Return the best size of each row within bounds of its own, and its loss."""
        found = []
        for row, *bounds in zip(eta, least, largest, strict=True):
            rates = expected_rates(row, self.loss.zero_division, n_negatives)
            scores = self.loss.mean_of_rates(*rates)
            found.append(
                certified_optimum(
                    row, self.loss, scores, DEFAULT_TOL, *bounds, n_negatives
                )
            )
        return tuple(map(np.array, zip(*found, strict=True)))


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


def certified_optimum(
    eta, loss, upper_bounds, tol, min_positive, max_positive, n_negatives=0
):
    """Return the set size of the least expected loss, and that loss to ``tol / 4``.

    `eta` is one sorted row; `upper_bounds` bound one minus the expected loss of each
    size, and may be too low by `tol`. No size within the bounds is better by over 1.5
    `tol`.
    """
    # Where most items are likely, the mirrored problem is solved, in which the other
    # class is the positive one: the laws of few counts are short.
    is_mirrored = not n_negatives and eta.mean() > 0.5
    if is_mirrored:
        eta, upper_bounds = 1 - eta[::-1], upper_bounds[::-1]
        min_positive, max_positive = len(eta) - max_positive, len(eta) - min_positive
    # Blocks of sizes are evaluated, the most promising first, as long as a bound leaves
    # hope for a loss below, or as good as, the least one found. G-mean and H-mean are
    # concave in TPR and TNR, so that by Jensen's inequality the mean of the expected
    # rates is a bound.
    n_items = len(eta) + n_negatives
    laws = CountLaws(eta, _FRACTION_OF_TOL * tol)
    allowed = slice(min_positive, max_positive + 1)
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
