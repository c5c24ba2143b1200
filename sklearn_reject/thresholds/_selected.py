"""A warning where documents look selected: given only if a score is high."""

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from sklearn_reject.exceptions import warn_user

# Documents that are compared on either side of an edge.
_N_NEIGHBOURS = 50

# An edge is seen by chance in fewer than one of 2**13 samples, whatever their size.
_BITS = 13

# Beyond an edge, medians move by less than this share of what they move across it.
_LARGEST_TREND = 0.25

# And no more of the next documents are lower than all before.
_MOST_LOWER = 8

# Documents that several scores would have chosen; without them, scores that exclude
# each other have an empty corner, too.
_LEAST_CHOSEN_TWICE = 5

_MOST_DOCUMENTS = 40_000


def warn_if_selected(documents):
    """Warn where all documents are rated, and none has all scores low.

    So it looks if documents were given only where a score was high.
    """
    if documents.is_complete and _looks_selected(documents):
        warn_user(
            "No document is unrated, but the documents look as if they had been "
            "selected because one of their scores is high: there is none whose scores "
            "are all low. Thresholds may then be chosen where nothing was rated, and "
            "predict far more documents than are counted. Add the documents that were "
            "not rated, with unrated_label."
        )


def _looks_selected(documents):
    """Tell whether documents are missing just where all scores would be low.

    Scores have shape (n_documents, n_classifiers).
    """
    scores = documents.all_scores[documents.is_given]
    scores = scores[~np.isnan(scores).any(axis=1)]
    scores = scores[:: -(-max(len(scores), 1) // _MOST_DOCUMENTS)]
    # Documents that are copies of each other are no evidence of their own.
    order = np.lexsort(scores.T)
    is_new = (scores[order[1:]] != scores[order[:-1]]).any(axis=1)
    scores = scores[np.sort(order[np.append(True, is_new)[: len(order)]])]
    if scores.shape[1] < 2 or len(scores) < 3 * _N_NEIGHBOURS:
        return False
    ranks = [np.searchsorted(np.sort(column), column) for column in scores.T]
    edges = 0
    for column in range(scores.shape[1]):
        others = np.delete(ranks, column, axis=0).max(axis=0)
        edges += _has_edge(ranks[column], others, scores.shape[1])
    return edges >= 2


def _has_edge(x, y, n_tests):
    """Tell whether low `y` occur from some `x` on, and no lower, all at once."""
    # Of the documents next to an edge, those below and those above are exchangeable if
    # there is none, however `x` and `y` depend on each other at large: that the lowest
    # m `y` all are above has a probability of at most 2**-m. A steep trend would do the
    # same, but go on: then the next documents are lower still. Two scores that are
    # nearly opposites beside a third may be mistaken, in some 3% of normal samples,
    # and more often where many documents share a score.
    order = np.argsort(x, kind="stable")
    x, y, k = x[order], y[order], _N_NEIGHBOURS
    start = np.arange(k, len(x) - 2 * k + 1)
    windows, lowest = sliding_window_view(y, k), np.minimum.accumulate(y)
    # Most windows have none that is lower than all before.
    has_lower = lowest[start + k - 1] < lowest[start - 1]
    start = start[has_lower & (x[start] > x[start - 1])]
    lowest_before = lowest[start - 1]
    n_lower = (windows[start] < lowest_before[:, np.newaxis]).sum(axis=1)
    needed = _BITS + np.log2(len(x) * n_tests)
    for number in np.flatnonzero(n_lower >= needed):
        edge = start[number]
        middles = np.median(windows[edge - k : edge + k + 1 : k], axis=1)
        across, beyond = middles[:-1] - middles[1:]
        goes_on = beyond >= _LARGEST_TREND * across
        goes_on |= (windows[edge + k] < windows[edge].min()).sum() > _MOST_LOWER
        n_twice = (y[edge:] >= lowest_before[number]).sum()
        if not goes_on and n_twice >= _LEAST_CHOSEN_TWICE:
            return True
    return False
