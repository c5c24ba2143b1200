"""Losses of all thresholds on probabilities, and the best of them."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from sklearn.utils import gen_batches

from sklearn_reject.decoding._prefix_table import (
    ROUNDING,
    PrefixTable,
    ends_of_ties,
    sum_at_cuts,
    sum_exactly,
)

# Cuts whose losses are evaluated at once, few enough to stay in the cache.
_BLOCK = 2**14

# The same for counts that are sums of weights.
_ROUNDING_OF_WEIGHTS = 1e-12

# Whole weights with a smaller sum are counts.
_LARGEST_COUNT = 2.0**53


@dataclass(frozen=True, eq=False)
class TunedThreshold:
    """A threshold on probabilities, and how good it is.

    Two are equal if their thresholds and their losses are.

    Attributes
    ----------
    threshold : float or ndarray of shape (n_labels,)
        Items of at least this probability are predicted. Infinite if none is, zero if
        all are. One for each column that is a set.

    loss : float
        Mean loss over the sets that it was tuned on, lower is better.

    thresholds : ndarray of shape (n_cuts,) or list of ndarray
        All thresholds that were compared, decreasing from infinity to zero, one more
        than there are different probabilities. One of them is `threshold`. A list with
        those of each column.

    losses : ndarray of shape (n_cuts,) or list of ndarray
        Mean loss of each of the `thresholds`, where bounds hold. The least is `loss`.
        A list with those of each column.

    Examples
    --------
    >>> from sklearn_reject.decoding import tune_threshold
    >>> tuned = tune_threshold([0, 1, 1], [0.2, 0.4, 0.9], loss="f1")
    >>> tuned
    TunedThreshold(threshold=0.3..., loss=0.0)
    >>> tuned.losses.round(2)
    array([1.  , 0.33, 0.  , 0.2 ])
    """

    threshold: float | np.ndarray
    loss: float
    thresholds: np.ndarray | list = field(repr=False)
    losses: np.ndarray | list = field(repr=False)

    def __eq__(self, other):
        if not isinstance(other, TunedThreshold):
            return NotImplemented
        is_same = np.array_equal(self.threshold, other.threshold)
        return is_same and self.loss == other.loss

    def __hash__(self):
        return hash((tuple(np.atleast_1d(self.threshold).tolist()), self.loss))


def cut_one_set(y, eta, loss, bounds):
    """Return the cuts of one set, their losses in units of the loss."""
    positive, sorted_eta = _sort_together(y, eta)
    tp = np.append(0, np.cumsum(positive))
    k = np.append(0, ends_of_ties(sorted_eta))
    values = sorted_eta[k[1:] - 1], sorted_eta[k[:-1]]
    tp, n_positive = tp[k], tp[-1]
    moved = 0
    if bounds[0] > 0 or bounds[1] < len(y):
        for bound, outside in zip(bounds, (k < bounds[0], k > bounds[1]), strict=True):
            tp[outside] = _count_in_top(bound, y, eta, sorted_eta)
        moved = np.abs(k - np.clip(k, *bounds))
        k = np.clip(k, *bounds)
    losses = _evaluate(loss, tp, k - tp, n_positive, len(y) - n_positive)
    # Losses of up to one are made of numbers of about one, such as 1 - F.
    slack = ROUNDING * max(abs(losses.min()), min(1.0, np.abs(losses).max()))
    return Cuts(*values, losses, slack, moved, losses, losses.__getitem__)


def cut_weighted(y, eta, weight, loss):
    """Return the cuts of one set of items that count as their weight."""
    order = np.argsort(-eta, kind="stable")
    y, eta, weight = y[order], eta[order], weight[order]
    k = np.append(0, ends_of_ties(eta))
    # Each class has its own sum, so that nothing is left where all of it is counted.
    tp, fp = (
        np.append(0.0, np.cumsum(np.where(rows, weight, 0.0)))[k] for rows in (y, ~y)
    )
    losses = _evaluate(loss, tp, fp, tp[-1], fp[-1])
    are_counts = (weight == np.rint(weight)).all() and weight.sum() < _LARGEST_COUNT
    rounding = ROUNDING if are_counts else _ROUNDING_OF_WEIGHTS
    slack = rounding * max(abs(losses.min()), min(1.0, np.abs(losses).max()))
    values = eta[k[1:] - 1], eta[k[:-1]]
    return Cuts(*values, losses, slack, 0, losses, losses.__getitem__)


def cut_sets(y, eta, sets, loss, bounds, weight=None):
    """Return the cuts of several sets, of which none is without items.

    Losses are sums over the sets, less a constant, in tiny units. Weights of the sets
    are positive.
    """
    table = PrefixTable(y, eta, sets, bounds)
    tp, n_positive = table.tp, table.n_positive[table.set_of]
    n_negative = table.sizes[table.set_of] - n_positive
    losses = _evaluate(loss, tp, table.k - tp, n_positive, n_negative)
    if weight is None:
        total, weighted = len(table.first), losses
        (sums, slack), moved = sum_exactly(table, losses), table.moved
        moved = table.sum_over_sets(moved)
    else:
        # Of about one, by a power of two, which rounds nothing.
        share = np.ldexp(weight, -int(np.frexp(weight.max())[1]))
        total, weighted = share.sum(), losses * share[table.set_of]
        sums, slack = sum_exactly(table, weighted)
        slack *= 2  # a product is rounded, too
        moved = sum_at_cuts(table, table.moved * share[table.set_of])

    def mean_loss(cut):
        return np.average(losses[table.entries_at(cut)], weights=weight)

    means = sum_at_cuts(table, weighted) / total
    return Cuts(*table.values, sums, slack, moved, means, mean_loss)


class Cuts(NamedTuple):
    """The loss of each cut, which predicts the items of the first so many values.

    `values` are the distinct probabilities, decreasing, `highest` those that are equal
    to them but for rounding; losses are equal within `slack`; `moved` is how many items
    the bounds add or take; `means`, up to rounding, and `mean_loss(cut)` are in units
    of the loss.
    """

    values: np.ndarray
    highest: np.ndarray
    losses: np.ndarray
    slack: float
    moved: np.ndarray
    means: np.ndarray
    mean_loss: Callable

    def tuned(self):
        """Return the best threshold, and all that it was compared with."""
        equal = self.losses <= self.losses.min() + self.slack
        moved = np.broadcast_to(self.moved, self.losses.shape)
        rows = np.flatnonzero(equal)
        best = int(rows[np.argmin(moved[rows])])
        loss = float(self.mean_loss(best))
        # What differs by rounding is shown as equal, and nothing as better.
        losses = np.where(equal, loss, np.maximum(self.means, loss))
        thresholds = self.thresholds()
        return TunedThreshold(float(thresholds[best]), loss, thresholds, losses)

    def thresholds(self):
        """Return the threshold that makes each cut."""
        low, high = self.highest[1:], self.values[:-1]
        middle = low + (high - low) / 2
        # Between neighbouring floats the middle is one of the two.
        inner = np.where(middle > low, middle, high)
        return np.concatenate([[np.inf], inner, [0.0]])


def _evaluate(loss, tp, fp, n_positive, n_negative):
    """Return the losses of predicted items, block by block."""
    losses = np.empty(len(tp))
    columns = np.broadcast_arrays(tp, fp, n_positive, n_negative)
    for part in gen_batches(len(tp), _BLOCK):
        hits, alarms, positive, negative = (column[part] for column in columns)
        losses[part] = loss(hits, alarms, positive - hits, negative - alarms)
    return losses


def _sort_together(y, eta):
    """Return labels and probabilities by decreasing probability."""
    # One sort of integers is several times faster than the sort of indices and two
    # gathers. The bits of floats that are not negative are in the order of the floats,
    # and the first of them, the sign, makes room for the label.
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
