"""Ranks of few errors among many samples, without sorting all samples.

The line of scores is cut into many cells. Only samples that share a cell with an error
are sorted; the others are counted.
"""

import numpy as np

from sklearn_reject.curves._cells import cut_into_cells, draw_evenly
from sklearn_reject.curves._groups import starts_of_ties
from sklearn_reject.curves._sort import argsort_scores

# Below this share of errors, counting most samples is faster than sorting them all.
_LARGEST_ERROR_RATE = 0.15

# Many cells leave few samples to sort, few cells keep the tables in the cache.
_CELLS_PER_ERROR = 16
_FEWEST_CELLS, _MOST_CELLS = 2**10, 2**20


def is_zero_one(losses):
    """Tell whether all losses are 0 or 1."""
    return bool(np.count_nonzero(losses) == np.count_nonzero(losses == 1))


def groups_with_errors(scores, losses):
    """Return the tie groups that hold errors.

    Parameters
    ----------
    scores : ndarray of shape (n_samples,)
        Finite scores.

    losses : ndarray of shape (n_samples,)
        Losses, each 0 or 1.

    Returns
    -------
    below, sizes, errors : ndarray of shape (n_groups,)
        Number of samples with lower scores, number of samples in the group, and number
        of errors among them.
    """
    errors = np.flatnonzero(losses > 0)
    cut = _cut_into_cells(scores, len(errors))
    if cut is None:
        return _sort_errors(scores, losses)[:3]
    rows, passed_over = _split_by_cell(scores, errors, cut)
    below, sizes, errors, values = _sort_errors(scores[rows], losses[rows])
    return below + passed_over[cut(values)], sizes, errors


def _sort_errors(scores, losses):
    """Return rank, size, errors and score of the tie groups that hold errors."""
    order, scores = argsort_scores(scores)
    ranks = np.flatnonzero((losses > 0)[order])
    del order
    is_start = starts_of_ties(scores)
    if is_start.all():
        ones = np.broadcast_to(1.0, len(ranks))
        return ranks, ones, ones, scores[ranks]
    starts = np.flatnonzero(is_start)
    groups = np.searchsorted(starts, ranks, side="right") - 1
    firsts = np.flatnonzero(starts_of_ties(groups))
    groups = groups[firsts]
    below, errors = starts[groups], np.diff(firsts, append=len(ranks))
    sizes = np.diff(starts, append=len(scores))[groups]
    return below, sizes, errors, scores[below]


def _cut_into_cells(scores, n_errors):
    """Return the map from scores to cells, None where all samples are to be sorted."""
    if not 0 < n_errors <= _LARGEST_ERROR_RATE * len(scores):
        return None
    n_cells = np.clip(_CELLS_PER_ERROR * n_errors, _FEWEST_CELLS, _MOST_CELLS)
    n_bits = int(n_cells).bit_length() - 1
    return cut_into_cells(
        scores, draw_evenly(scores), n_bits, most_shared=len(scores) / n_errors
    )


def _split_by_cell(scores, errors, cut):
    """Return the rows to sort, and the number of other samples below each cell."""
    cells = cut(scores)
    passed_over = np.bincount(cells)
    with_errors = np.zeros(len(passed_over), dtype=bool)
    with_errors[cells[errors]] = True
    passed_over[with_errors] = 0
    np.cumsum(passed_over, out=passed_over)
    return np.flatnonzero(with_errors[cells]), passed_over
