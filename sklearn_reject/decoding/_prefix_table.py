"""Counts of the most probable items of many sets, and sums over the sets."""

import numpy as np

from sklearn_reject.decoding._items import falls

# What rounding may add to a loss, relative to the numbers that it is made of.
ROUNDING = 2.0**-52

# Sums of integers stay below it.
_BITS_OF_SUM = 62

# Losses that reach further above the least sum are cut off.
_WIDEST_RANGE = 2.0**16


def ends_of_ties(sorted_eta):
    """Return how many probabilities there are up to the end of each tie group."""
    return np.append(np.flatnonzero(falls(sorted_eta)) + 1, len(sorted_eta))


class PrefixTable:
    """An entry for each set and each number of its most probable items.

    Entries come set after set, each from no item to all; cut i is the threshold that
    the items of the first i distinct probabilities reach. `values` are these, and the
    highest that is equal to each but for rounding.
    """

    def __init__(self, y, eta, sets, bounds):
        order = np.argsort(-eta, kind="stable")
        self._sets = sets[order]
        self._by_set = np.argsort(self._sets, kind="stable")
        self._ends = np.append(0, ends_of_ties(eta[order]))
        self.values = eta[order[self._ends[1:] - 1]], eta[order[self._ends[:-1]]]
        self.sizes = np.bincount(sets)
        self.first = np.cumsum(self.sizes + 1) - (self.sizes + 1)
        self.set_of = np.repeat(np.arange(len(self.sizes)), self.sizes + 1)
        k = np.arange(len(self.set_of)) - self.first[self.set_of]
        least, largest = (np.broadcast_to(b, self.sizes.shape) for b in bounds)
        self.k = np.clip(k, least[self.set_of], largest[self.set_of])
        self.moved = np.abs(k - self.k)
        until = np.append(0, np.cumsum(y[order[self._by_set]]))
        start = self.first - np.arange(len(self.first))
        self.n_positive = until[start + self.sizes] - until[start]
        self.tp = until[start[self.set_of] + self.k] - until[start][self.set_of]

    def sum_over_sets(self, values):
        """Return the exact sum over the sets at each cut of integers, one an entry."""
        is_item = np.ones(len(values), dtype=bool)
        is_item[self.first] = False
        changes = np.empty(len(self._by_set), dtype=np.int64)
        changes[self._by_set] = np.diff(values, prepend=0)[is_item]
        return np.cumsum(np.append(values[self.first].sum(), changes))[self._ends]

    def entries_at(self, cut):
        """Return the entry of each set at a cut."""
        reached = self._sets[: self._ends[cut]]
        return self.first + np.bincount(reached, minlength=len(self.first))


def sum_exactly(table, losses):
    """Return the sums over the sets of the losses at each cut, less a constant.

    They are whole numbers of a tiny unit, and come with what rounding may add to one.
    """
    # In whole numbers the sum after a million changes is as exact as the first. The
    # unit goes by what can occur at the best cut: a loss so large that its cut cannot
    # be the best may be any other such number.
    excess = losses - np.minimum.reduceat(losses, table.first)[table.set_of]
    # Losses of up to one are made of numbers of about one, such as 1 - F.
    rounded = min(1.0, np.abs(losses).max())
    n_sets = len(table.first)
    while True:
        largest = int(np.frexp(excess.max())[1])
        exponent = _BITS_OF_SUM - n_sets.bit_length() - largest
        units = np.rint(np.ldexp(excess, exponent)).astype(np.int64)
        totals = table.sum_over_sets(units)
        least = excess[table.entries_at(totals.argmin())].sum()
        cap = 2 * max(least, rounded)
        if excess.max() <= _WIDEST_RANGE * cap:
            break
        excess = np.minimum(excess, cap)
    error = 1 + ROUNDING * np.ldexp(max(excess.max(), rounded), exponent)
    return totals, int(min(n_sets * np.ceil(error), 2.0**_BITS_OF_SUM))


def sum_at_cuts(table, values):
    """Return the sums over the sets at each cut, up to rounding."""
    exponent = 0
    if values.any():
        largest = int(np.frexp(np.abs(values).max())[1])
        exponent = _BITS_OF_SUM - len(table.first).bit_length() - largest
    units = np.rint(np.ldexp(values, exponent)).astype(np.int64)
    return np.ldexp(table.sum_over_sets(units).astype(np.float64), -exponent)
