"""How many of the most probable items to predict."""

from typing import NamedTuple

import numpy as np

from sklearn_reject.decoding._curves import (
    DEFAULT_TOL,
    expansion_curves,
    independent_curves,
    is_dense,
    multinomial_curves,
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


class BestSize(NamedTuple):
    """The size of the least expected loss, within bounds."""

    loss: SetLoss
    distribution: str
    min_positive: int
    max_positive: int

    @property
    def needs_all_items(self):
        """Whether items that surely are negative may be taken by choice."""
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
        if self._is_certified(eta):
            found = [self._certified_size(row, n_negatives) for row in eta]
            sizes, losses = map(np.array, zip(*found, strict=True))
            return sizes, losses
        curves = self.curves(eta, n_negatives)
        largest = np.abs(curves).max(axis=1, keepdims=True)
        tie = _TIE * np.maximum(largest, self.loss.largest)
        curves = curves[:, self.min_positive : self.max_positive + 1]
        near = curves <= curves.min(axis=1, keepdims=True) + tie
        best = near.argmax(axis=1)
        return best + self.min_positive, curves[np.arange(len(eta)), best]

    def losses_at(self, eta, sizes, n_negatives=0):
        """Return the expected loss of one size of each row."""
        if self._is_certified(eta):
            fixed = [self._replace(min_positive=k, max_positive=k) for k in sizes]
            pairs = zip(fixed, eta, strict=True)
            found = [at._certified_size(row, n_negatives) for at, row in pairs]
            return np.array([expected_loss for _, expected_loss in found])
        return self.curves(eta, n_negatives)[np.arange(len(eta)), sizes]

    def _is_certified(self, eta):
        """Tell whether all sizes would take long, and bounds rule most of them out."""
        is_long = self.distribution == "independent" and not is_dense(*eta.shape)
        return is_long and self.loss.is_mean_of_rates

    def _certified_size(self, eta, n_negatives):
        rates = expected_rates(eta, self.loss.zero_division, n_negatives)
        return certified_optimum(
            eta,
            self.loss,
            self.loss.mean_of_rates(*rates),
            DEFAULT_TOL,
            self.min_positive,
            min(self.max_positive, len(eta)),
            n_negatives,
        )


class ThresholdSize(NamedTuple):
    """The number of items that reach a threshold, within the bounds of a problem.

    The expected loss, which takes longer than all else, is NaN unless `with_loss`.
    """

    threshold: float
    problem: BestSize
    with_loss: bool = True

    @property
    def min_positive(self):
        """Lower bound on the size."""
        return self.problem.min_positive

    @property
    def needs_all_items(self):
        """Whether items that surely are negative may be taken by choice."""
        return self.threshold <= 0 or self.problem.needs_all_items

    def curves(self, eta, n_negatives=0):
        """Return the expected loss of each size, for rows sorted decreasing."""
        return self.problem.curves(eta, n_negatives)

    def choose(self, eta, n_negatives=0):
        """Return the size of each row, and its expected loss; see `BestSize`."""
        sizes = np.count_nonzero(eta >= self.threshold, axis=1)
        bounds = self.problem.min_positive, self.problem.max_positive
        sizes = np.clip(sizes, *bounds)
        if not self.with_loss:
            return sizes, np.full(len(sizes), np.nan)
        return sizes, self.problem.losses_at(eta, sizes, n_negatives)


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
    bounds = min_positive, max_positive
    if n_negatives or eta.mean() <= 0.5:
        return _certify(eta, loss, upper_bounds, tol, *bounds, n_negatives)
    mirrored = [len(eta) - bound for bound in bounds[::-1]]
    others, expected_loss = _certify(
        1 - eta[::-1], loss, upper_bounds[::-1], tol, *mirrored, takes_largest=True
    )
    return len(eta) - others, expected_loss


def _certify(
    eta,
    loss,
    upper_bounds,
    tol,
    min_positive,
    max_positive,
    n_negatives=0,
    *,
    takes_largest=False,
):
    """Return the size and loss of `certified_optimum`, evaluating few sizes.

    Of sizes that are equally good to `tol` the smallest, or the largest.
    """
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
    size = int(np.flatnonzero(losses <= best + tol)[-1 if takes_largest else 0])
    return size, float(losses[size])
