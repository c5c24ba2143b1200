"""The best area up to each node of a table of three axes or more."""

from functools import reduce
from itertools import pairwise
from math import prod

import numpy as np

from sklearn_reject.thresholds._rows import NODES_AT_ONCE, areas_along


def best_areas_by_wavefronts(fp, tp, shape):
    """Find the best area under TP against FP up to each node, many rows at once.

    Rows along the last axis whose other indices have the same sum do not lead to one
    another. All of them follow from those whose sum is one less.

    Parameters
    ----------
    fp, tp : ndarray of shape (n_rows, n_columns)
        False and true positives.

    shape : tuple of int
        Lengths of the axes that the rows are numbered by.

    Returns
    -------
    areas : ndarray of shape (n_rows + 1, n_columns)
        Twice the areas. The last row is -inf, for rows that nothing leads to.
    """
    best = np.full((len(fp) + 1, fp.shape[1]), -np.inf)
    best[0] = areas_along(fp[:1], tp[:1])[0]
    for rows in _wavefronts(shape, max(1, NODES_AT_ONCE // fp.shape[1])):
        fp_here, tp_here = fp[rows], tp[rows]
        arriving = _arrive_from(best, fp, tp, fp_here, tp_here, _before(rows, shape))
        along = areas_along(fp_here, tp_here)
        arriving -= along
        np.maximum.accumulate(arriving, axis=1, out=arriving)
        arriving += along
        best[rows] = arriving
    return best


def _wavefronts(shape, n_at_once):
    """Yield rows whose indices have the same sum, all rows but the first."""
    indices = [np.arange(length, dtype=np.int32) for length in shape]
    sums = reduce(np.add.outer, indices).ravel()
    order = np.argsort(sums, kind="stable")
    stops = np.cumsum(np.bincount(sums))
    for start, stop in pairwise(stops):
        for first in range(start, stop, n_at_once):
            yield order[first : min(first + n_at_once, stop)]


def _before(rows, shape):
    """Yield for each axis the rows that are one index before, -1 if there is none."""
    indices = np.unravel_index(rows, shape)
    for axis, index in enumerate(indices):
        yield np.where(index > 0, rows - prod(shape[axis + 1 :]), -1)


def _arrive_from(best, fp, tp, fp_here, tp_here, origins):
    """Return the best of twice the areas up to nodes, coming from other rows."""
    arriving = -np.inf
    for rows in origins:
        area = fp[rows]
        area -= fp_here
        area *= tp[rows] + tp_here
        area += best[rows]
        arriving = np.maximum(arriving, area)
    return arriving
