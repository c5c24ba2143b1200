"""Samples by increasing score, ties joined, and what the first of them add up to.

All that a rule with one threshold can do is to accept the first groups of tied samples,
and a share of the next one. So whatever it is judged by is read off running sums.
"""

import numpy as np

from sklearn_reject._curves._ties import snap_sorted, starts_of_ties
from sklearn_reject._validation import check_samples

# Sums of floats miss exact equalities such as 3 * 0.1 == 0.3 by a few ulp.
RELATIVE_TOLERANCE = 1e-12

# Batches of so many groups keep temporary arrays small and in the cache.
BATCH_SIZE = 2**13


class Prefixes:
    """Groups of tied samples and running sums of their columns.

    `scores`, of shape (n_groups,), increase; `columns` are sums over each group by
    name, of the same shape. "weight" is one of them, others are "loss" or "ood".

    >>> from sklearn_reject._curves._prefixes import join_ties
    >>> prefixes = join_ties([0.1, 0.4, 0.4, 0.8], [0, 0, 1, 1])
    >>> prefixes.columns["weight"], prefixes.sums("loss")
    (array([1., 2., 1.]), array([0., 0., 1., 2.]))
    >>> prefixes.at("weight", 1, share=0.5)
    2.0
    """

    def __init__(self, scores, **columns):
        self.scores, self.columns = scores, columns
        self._sums = {}

    def __len__(self):
        return len(self.scores)

    @classmethod
    def of(cls, scores, weight=None, *, near=False, **columns):
        """Sort and join validated samples; columns are for each unit of weight.

        Samples of zero weight count as absent; None is a weight of one each. With
        `near`, scores tie that differ by rounding, as they do to a rule.
        """
        order = argsort_present(scores, weight)
        # Arrays are freed as soon as they can be: here a sample takes most memory.
        scores = scores[order]
        columns = {name: _gather(values, order) for name, values in columns.items()}
        if weight is not None:
            weight = weight[order]
            for values in columns.values():
                values *= weight
        del order
        return cls.of_sorted(snap_sorted(scores) if near else scores, weight, **columns)

    @classmethod
    def of_sorted(cls, scores, weight=None, **columns):
        """Join samples in the order of their scores, each column a sum already."""
        is_start = starts_of_ties(scores)
        if is_start.all():
            weight = np.broadcast_to(1.0, len(scores)) if weight is None else weight
            return cls(scores, weight=weight, **columns)
        starts = np.flatnonzero(is_start)
        if weight is None:
            weight = np.diff(starts, append=len(scores)).astype(np.float64)
        else:
            weight = np.add.reduceat(weight, starts)
        columns = {
            name: np.add.reduceat(values, starts) for name, values in columns.items()
        }
        return cls(scores[starts], weight=weight, **columns)

    def sums(self, name):
        """Return the sums over the first 0, 1, ... groups, shape (n_groups + 1,)."""
        if name not in self._sums:
            values = self.columns[name]
            if any(values.strides) or not len(values):
                self._sums[name] = prefix_sums(values)
            else:  # a weight of one each
                self._sums[name] = values[0] * np.arange(len(self) + 1.0)
        return self._sums[name]

    def at(self, name, n_groups, share=0.0):
        """Return the sum over the first groups and a share of the next one."""
        value = self.sums(name)[n_groups]
        return float(value + share * self.columns[name][n_groups] if share else value)

    def total(self, name):
        """Return the sum over all groups."""
        return float(self.sums(name)[-1])

    def batches(self):
        """Return slices of consecutive groups."""
        # Those of scikit-learn check their arguments, for 18 us where this takes .4.
        stop = len(self)
        starts = range(0, stop, BATCH_SIZE)
        return [slice(start, min(start + BATCH_SIZE, stop)) for start in starts]


def join_ties(scores, losses, sample_weight=None):
    """Validate finite scores and losses >= 0 of shape (n_samples,), and join ties."""
    scores, losses, weight = check_samples(scores, losses, sample_weight)
    return Prefixes.of(scores, weight, loss=losses)


def argsort_present(scores, weight=None):
    """Return the order, by score, of the samples of positive weight."""
    if weight is None or weight.all():
        return np.argsort(scores)
    present = np.flatnonzero(weight)
    return present[np.argsort(scores[present])]


def _gather(values, order):
    """Return floats in an order; many of 0 and 1, or their differences, quickly."""
    if values.dtype.kind != "b":
        is_unit = len(values) > BATCH_SIZE and (
            np.count_nonzero(values) == np.count_nonzero(np.abs(values) == 1)
        )
        if not is_unit:
            return values[order]
    # As small integers, they stay in the cache.
    return values.astype(np.int8)[order].astype(np.float64)


def running_sum(values, block=512, out=None):
    """Return the cumulative sum, accurate to about 1e-14 however long it is.

    Adding one by one would drift beyond the tolerance from some 1e5 terms on.
    """
    if len(values) <= block:
        return np.cumsum(values, out=out)
    sums = np.empty(len(values)) if out is None else out
    n_whole = len(values) // block
    end = n_whole * block
    blocks = sums[:end].reshape(n_whole, block)
    np.cumsum(values[:end].reshape(n_whole, block), axis=1, out=blocks)
    np.cumsum(values[end:], out=sums[end:])
    before = running_sum(blocks[:, -1].copy())
    blocks[1:] += before[:-1, np.newaxis]
    sums[end:] += before[-1]
    return sums


def prefix_sums(values):
    """Return the sums of the first 0, 1, ... values."""
    sums = np.zeros(len(values) + 1)
    running_sum(values, out=sums[1:])
    return sums
