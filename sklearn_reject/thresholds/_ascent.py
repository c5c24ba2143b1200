"""Better and better thresholds, of one classifier or two at a time."""

from itertools import combinations, cycle

import numpy as np

from sklearn_reject.thresholds._best_rectangle import best_rectangle, gain, sum_by


def best_alone(candidates, classifier, remain, derivative):
    """Return the best threshold of one classifier for some of the documents.

    Parameters
    ----------
    candidates : Candidates
        Thresholds and documents.

    classifier : int
        Number of the classifier.

    remain : ndarray of shape (n_documents,), dtype bool
        The documents that its threshold decides about.

    derivative : float > 0
        What a false positive costs.

    Returns
    -------
    index : int
        Number of the threshold of the largest gain, of equal ones the lowest.
    """
    ranks = candidates.ranks[classifier, remain]
    n_thresholds = len(candidates.thresholds[classifier])
    sums = sum_by(ranks, candidates.counts[remain], n_thresholds)
    above = np.cumsum(sums[::-1])[::-1] - sums
    return int(np.argmax(gain(above, derivative)))


def best_pair(candidates, pair, remain, derivative):
    """Return the best thresholds of two classifiers for some of the documents.

    Under "any" they leave out a rectangle of documents that reach neither, as little
    gain as possible; under "all" they predict a rectangle, seen from the other end.
    """
    highest = [len(candidates.thresholds[classifier]) - 1 for classifier in pair]
    x, y = (candidates.ranks[classifier, remain] for classifier in pair)
    counts = candidates.counts[remain]
    if candidates.rule == "any":
        return best_rectangle(x, y, -counts, derivative)
    both = (x > 0) & (y > 0)
    x, y = highest[0] + 1 - x[both], highest[1] + 1 - y[both]
    i, j = best_rectangle(x, y, counts[both], derivative)
    return highest[0] - i, highest[1] - j


def climb_alone(candidates, index, derivative):
    """Improve one classifier after the other until none improves.

    Parameters
    ----------
    candidates : Candidates
        Thresholds and documents.

    index : array-like of shape (n_classifiers,)
        Numbers of the thresholds to start from.

    derivative : float > 0
        What a false positive costs.

    Returns
    -------
    index : ndarray of shape (n_classifiers,)
        Numbers that are at least as good.
    """
    return _climb(_State(candidates, index, derivative), 1)


def climb_pairs(candidates, index, derivative):
    """Improve one pair of classifiers after the other until none improves."""
    return _climb(_State(candidates, index, derivative), 2)


def _climb(state, size):
    blocks = list(combinations(range(len(state.index)), size))
    n_failed = 0
    for block in cycle(blocks):
        n_failed = 0 if state.improve(list(block)) else n_failed + 1
        if n_failed == len(blocks):
            return state.index


class _State:
    """Thresholds that rise in gain, and how many of them each document reaches."""

    def __init__(self, candidates, index, derivative):
        self.candidates = candidates
        self.derivative = derivative
        self.index = np.array(index)
        self.n_reached = np.zeros(len(candidates.counts), dtype=np.int16)
        self._add(self.n_reached, range(len(index)), index)
        self.gain = self._gain(self.n_reached)

    def improve(self, block):
        """Set some thresholds to the best ones given the others, and tell if it helps.

        Nothing changes unless it does: of equal gains the present one stays, and there
        is no way in circles.
        """
        others = self.n_reached.copy()
        self._add(others, block, self.index[block], -1)
        is_any = self.candidates.rule == "any"
        remain = np.flatnonzero(
            others == (0 if is_any else len(self.index) - len(block))
        )
        found = self._solve(block, remain)
        self._add(others, block, found)
        value = self._gain(others)
        if value <= self.gain:
            return False
        self.index[block], self.n_reached, self.gain = found, others, value
        return True

    def _add(self, n_reached, block, index, sign=1):
        add = np.add if sign > 0 else np.subtract
        for classifier, number in zip(block, index, strict=True):
            add(n_reached, self.candidates.ranks[classifier] > number, out=n_reached)

    def _solve(self, block, remain):
        told = remain, self.derivative
        if len(block) == 1:
            return [best_alone(self.candidates, *block, *told)]
        return best_pair(self.candidates, block, *told)

    def _gain(self, n_reached):
        least = 1 if self.candidates.rule == "any" else len(self.index)
        counts = self.candidates.counts[n_reached >= least].sum()
        return gain(counts, self.derivative)
