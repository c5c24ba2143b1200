"""All most probable items of several sets, as one threshold falls."""

import numpy as np

from sklearn_reject.curves._groups import starts_of_ties


class PrefixTable:
    """An entry for each set and each number of its most probable items.

    Entries come set after set, each from no item to all. Cut i is the threshold that
    the items of the first i distinct probabilities reach.

    Parameters
    ----------
    y : ndarray of shape (n_items,), dtype bool
        Whether each item is positive.

    eta : ndarray of shape (n_items,), dtype float64
        Probabilities.

    sets : ndarray of shape (n_items,), dtype int
        Number of the set of each item, none without items.

    bounds : tuple of int and ndarray of shape (n_sets,)
        Least and largest number of items to predict in each set.

    Attributes
    ----------
    values : ndarray of shape (n_values,)
        Distinct probabilities, decreasing.

    sizes, n_positive, first : ndarray of shape (n_sets,)
        Numbers of items and of positive ones in each set, and its first entry.

    set_of, k, tp, moved : ndarray of shape (n_entries,)
        Set of each entry, number of items that are predicted, number of true positives
        among them, and number of items that the bounds add or take.
    """

    def __init__(self, y, eta, sets, bounds):
        order = np.argsort(-eta, kind="stable")
        self._sets = sets[order]
        self._by_set = np.argsort(self._sets, kind="stable")
        self._ends = np.append(0, ends_of_ties(eta[order]))
        self.values = eta[order[self._ends[1:] - 1]]
        self.sizes = np.bincount(sets)
        self.first = np.cumsum(self.sizes + 1) - (self.sizes + 1)
        self.set_of = np.repeat(np.arange(len(self.sizes)), self.sizes + 1)
        k = np.arange(len(self.set_of)) - self.first[self.set_of]
        self.k = np.clip(k, bounds[0], bounds[1][self.set_of])
        self.moved = np.abs(k - self.k)
        self._count_positives(y[order[self._by_set]])

    def _count_positives(self, positive):
        until = np.append(0, np.cumsum(positive))
        start = self.first - np.arange(len(self.first))
        self.n_positive = until[start + self.sizes] - until[start]
        self.tp = until[start[self.set_of] + self.k] - until[start][self.set_of]

    def sum_over_sets(self, values):
        """Return the sum of integers over the sets at each cut.

        Parameters
        ----------
        values : ndarray of shape (n_entries,), dtype int
            Numbers of which no sum overflows.

        Returns
        -------
        sums : ndarray of shape (n_values + 1,), dtype int
            Exact, however many changes there are.
        """
        is_item = np.ones(len(values), dtype=bool)
        is_item[self.first] = False
        changes = np.empty(len(self._by_set), dtype=np.int64)
        changes[self._by_set] = np.diff(values, prepend=0)[is_item]
        return np.cumsum(np.append(values[self.first].sum(), changes))[self._ends]

    def entries_at(self, cut):
        """Return the entry of each set at a cut."""
        reached = self._sets[: self._ends[cut]]
        return self.first + np.bincount(reached, minlength=len(self.first))


def ends_of_ties(sorted_values):
    """Return how many values there are up to the end of each tie group."""
    starts = np.flatnonzero(starts_of_ties(sorted_values))
    return np.append(starts[1:], len(sorted_values))
