"""Numbers of positives among the first k items and the others: truncated laws.

The number of positives among independent items of unequal probabilities has a
Poisson-binomial law. All but a negligible part of it lies within a few standard
deviations, so that a window of O(sqrt(n)) counts is kept.
"""

from dataclasses import dataclass
from math import isqrt

import numpy as np

# Fewer items than that are no block of their own.
_SMALLEST_BLOCK = 64


@dataclass(frozen=True, eq=False)
class CountBlock:
    """Laws of the true positives and of the false negatives, for a run of set sizes.

    Attributes
    ----------
    sizes : ndarray of shape (n_sizes,), dtype int
        Numbers k of predicted items, successive.

    tp : ndarray of shape (n_tp,), dtype int
        Numbers of true positives, successive.

    of_tp : ndarray of shape (n_sizes, n_tp)
        Their probabilities for each size. Rows sum to one.

    fn : ndarray of shape (n_fn,), dtype int
        Numbers of false negatives, successive.

    of_fn : ndarray of shape (n_sizes, n_fn)
        Their probabilities for each size. Rows sum to one.
    """

    sizes: np.ndarray
    tp: np.ndarray
    of_tp: np.ndarray
    fn: np.ndarray
    of_fn: np.ndarray

    def take(self, rows):
        """Return the block with some of its sizes only."""
        return CountBlock(
            self.sizes[rows], self.tp, self.of_tp[rows], self.fn, self.of_fn[rows]
        )


class CountLaws:
    """Laws of the true positives and of the false negatives of all top-k sets.

    Laws are kept at O(sqrt(n)) sizes only, O(n) numbers, and those between are worked
    out from their neighbours on demand, by adding one item after the other. All
    operations are sums and products of positive numbers, so that rounding errors do not
    grow: items are never taken out of a law again.

    Parameters
    ----------
    eta : ndarray of shape (n_items,)
        Probability of each item to be positive, sorted decreasing.

    dropped : float in [0, 0.5]
        Probability, at most, of all outcomes that the windows of a size leave out.

    Notes
    -----
    There are B blocks of items. `dropped / (4 B)` at most is cut from the law of each
    block, and again from that of the items up to each border between blocks. A law at a
    border has then lost no more than `dropped / 2`, since adding items moves mass and
    makes none. Within a block the window reaches from the lowest count of the border
    before it to the highest of both borders. What leaves it is above the highest count
    at the border after it, too, and was counted there. The laws of the true positives
    and of the false negatives together lack no more than `dropped`.
    """

    def __init__(self, eta, dropped):
        self.eta = eta
        n_items = len(eta)
        size = max(_SMALLEST_BLOCK, isqrt(n_items))
        self.edges = np.append(np.arange(0, n_items, size), n_items)
        cut = dropped / (4 * self.n_blocks)
        blocks = [_Law(0, law).trim(cut) for law in _laws_of_blocks(eta, size)]
        self._of_first = _running_laws(blocks, cut)
        self._of_others = _running_laws(blocks[::-1], cut)[::-1]

    @property
    def n_blocks(self):
        """Number of runs of sizes that :meth:`block` takes."""
        return len(self.edges) - 1

    def block(self, index):
        """Return the laws for the sizes of one block.

        Parameters
        ----------
        index : int
            The block of the sizes `edges[index]` to `edges[index + 1] - 1`, and of all
            items in the last one.

        Returns
        -------
        block : CountBlock
            The laws.
        """
        start, stop = self.edges[index], self.edges[index + 1]
        eta = self.eta[start:stop]
        tp, of_tp = _add_items(*self._of_first[index : index + 2], eta)
        after, before = self._of_others[index + 1], self._of_others[index]
        fn, of_fn = _add_items(after, before, eta[::-1])
        sizes = np.arange(start, stop + 1)
        block = CountBlock(sizes, tp, of_tp, fn, of_fn[::-1])
        is_last = index == self.n_blocks - 1
        return block if is_last else block.take(slice(-1))


@dataclass(frozen=True, eq=False)
class _Law:
    """Probabilities of the counts from `low` on."""

    low: int
    probabilities: np.ndarray

    @property
    def high(self):
        return self.low + len(self.probabilities) - 1

    def trim(self, mass):
        """Cut off as many counts at both ends as have at most half this mass."""
        values = self.probabilities
        n_low = np.searchsorted(np.cumsum(values), mass / 2, side="right")
        n_high = np.searchsorted(np.cumsum(values[::-1]), mass / 2, side="right")
        return _Law(self.low + int(n_low), values[n_low : len(values) - n_high])

    def add(self, other):
        """Return the law of the sum of two independent counts."""
        values = np.convolve(self.probabilities, other.probabilities)
        return _Law(self.low + other.low, values)


def _laws_of_blocks(eta, size):
    """Return the law of each block of items, shape (n_blocks, size + 1)."""
    n_blocks = -(-len(eta) // size)
    # Items that are surely negative fill the last block up.
    padded = np.zeros((n_blocks, size))
    padded.ravel()[: len(eta)] = eta
    laws = np.zeros((size + 1, n_blocks))
    laws[0] = 1.0
    for number, p in enumerate(padded.T):
        gain = laws[: number + 1] * p
        laws[: number + 1] *= 1 - p
        laws[1 : number + 2] += gain
    return laws.T


def _running_laws(blocks, cut):
    """Return the trimmed laws of no block, the first one, the first two, and so on."""
    laws = [_Law(0, np.ones(1))]
    for block in blocks:
        laws.append(laws[-1].add(block).trim(cut))
    return laws


def _add_items(law, last, eta):
    """Return the counts, and their laws after 0, 1, ... more items.

    The counts are those from the lowest of `law` to the highest of `law` and `last`,
    which is that of all items.
    """
    # Cut again, the last one may end lower than the first.
    laws = np.zeros((len(eta) + 1, max(law.high, last.high) - law.low + 1))
    laws[0, : len(law.probabilities)] = law.probabilities
    for row, p in enumerate(eta.tolist()):
        np.multiply(laws[row], 1 - p, out=laws[row + 1])
        laws[row + 1, 1:] += p * laws[row, :-1]
    laws /= laws.sum(axis=1, keepdims=True)
    return law.low + np.arange(laws.shape[1]), laws
