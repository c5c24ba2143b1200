"""The loss of every threshold on probabilities, for one set and for several."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from sklearn_reject.decoding._prefix_sums import ROUNDING, sum_exactly
from sklearn_reject.decoding._prefix_table import PrefixTable, ends_of_ties

# Cuts whose losses are evaluated at once, few enough to stay in the cache.
_BLOCK = 2**14


class Cuts(NamedTuple):
    """What each threshold costs; cut i predicts the items of the first i values.

    Parameters
    ----------
    values : ndarray of shape (n_values,)
        Distinct probabilities, decreasing.

    losses : ndarray of shape (n_values + 1,)
        Loss of each cut, lower is better, in any units.

    slack : float
        What equal losses may differ by, in these units.

    moved : ndarray of shape (n_values + 1,) or int
        Number of items that the bounds add to the cut, or take from it.

    mean_loss : callable
        Returns the mean loss over the sets of a cut, in units of the loss.
    """

    values: np.ndarray
    losses: np.ndarray
    slack: float
    moved: np.ndarray
    mean_loss: Callable

    def best(self):
        """Return the number of the best cut."""
        rows = np.flatnonzero(self.losses <= self.losses.min() + self.slack)
        moved = np.broadcast_to(self.moved, self.losses.shape)[rows]
        return int(rows[np.argmin(moved)])

    def threshold(self, cut):
        """Return the threshold that makes a cut."""
        if cut == 0:
            return float("inf")
        if cut == len(self.values):
            return 0.0
        low, high = self.values[cut], self.values[cut - 1]
        middle = low + (high - low) / 2
        # Between neighbouring floats the middle is one of the two.
        return float(middle if middle > low else high)


def cut_one_set(y, eta, loss, bounds):
    """Return the cuts of one set.

    Parameters
    ----------
    y : ndarray of shape (n_items,), dtype bool
        Whether each item is positive.

    eta : ndarray of shape (n_items,), dtype float64
        Probabilities in [0, 1].

    loss : SetLoss
        The loss.

    bounds : tuple of two ints
        Least and largest number of items to predict.

    Returns
    -------
    cuts : Cuts
        The cuts, their losses in units of the loss.
    """
    positive, sorted_eta = _sort_together(y, eta)
    tp = np.append(0, np.cumsum(positive))
    k = np.append(0, ends_of_ties(sorted_eta))
    values = sorted_eta[k[1:] - 1]
    tp, n_positive = tp[k], tp[-1]
    moved = 0
    if bounds[0] > 0 or bounds[1] < len(y):
        for bound, outside in zip(bounds, (k < bounds[0], k > bounds[1]), strict=True):
            tp[outside] = _count_in_top(bound, y, eta, sorted_eta)
        moved = np.abs(k - np.clip(k, *bounds))
        k = np.clip(k, *bounds)
    losses = _evaluate(loss, tp, k, n_positive, len(y))
    # Losses of up to one are made of numbers of about one, such as 1 - F.
    slack = ROUNDING * max(abs(losses.min()), min(1.0, np.abs(losses).max()))
    return Cuts(values, losses, slack, moved, losses.__getitem__)


def cut_sets(y, eta, sets, loss, bounds):
    """Return the cuts of several sets.

    Parameters
    ----------
    y : ndarray of shape (n_items,), dtype bool
        Whether each item is positive.

    eta : ndarray of shape (n_items,), dtype float64
        Probabilities in [0, 1].

    sets : ndarray of shape (n_items,), dtype int
        Number of the set of each item, none without items.

    loss : SetLoss
        The loss.

    bounds : tuple of int and ndarray of shape (n_sets,)
        Least and largest number of items to predict in each set.

    Returns
    -------
    cuts : Cuts
        The cuts. Their losses are sums over the sets, less a constant, in tiny units.
    """
    table = PrefixTable(y, eta, sets, bounds)
    tp, n_positive = table.tp, table.n_positive[table.set_of]
    losses = _evaluate(loss, tp, table.k, n_positive, table.sizes[table.set_of])
    totals, slack = sum_exactly(table, losses)

    def mean_loss(cut):
        return losses[table.entries_at(cut)].mean()

    return Cuts(
        table.values, totals, slack, table.sum_over_sets(table.moved), mean_loss
    )


def _sort_together(y, eta):
    """Return labels and probabilities by decreasing probability.

    One sort of integers is several times faster than the sort of indices and two
    gathers. The bits of floats that are not negative are in the order of the floats,
    and the first of them, the sign, makes room for the label.
    """
    bits = (eta + 0.0).view(np.uint64)  # there is no minus zero any more
    bits <<= np.uint64(1)
    bits |= y
    bits.sort()
    bits = bits[::-1]
    return bits & np.uint64(1), (bits >> np.uint64(1)).view(np.float64)


def _count_in_top(k, y, eta, sorted_eta):
    """Return how many of the k most probable items are positive, first come first."""
    if k == 0:
        return 0
    above = eta > sorted_eta[k - 1]
    tied = np.flatnonzero(eta == sorted_eta[k - 1])[: k - np.count_nonzero(above)]
    return np.count_nonzero(y & above) + np.count_nonzero(y[tied])


def _evaluate(loss, tp, k, n_positive, n_items):
    """Return the losses of k predicted items each, block by block."""
    losses = np.empty(len(k))
    for start in range(0, len(k), _BLOCK):
        part = slice(start, start + _BLOCK)
        hits, predicted = tp[part], k[part]
        positive, items = _take(n_positive, part), _take(n_items, part)
        fp, fn = predicted - hits, positive - hits
        losses[part] = loss(hits, fp, fn, items - positive - fp)
    return losses


def _take(values, part):
    return values[part] if np.ndim(values) else values
