"""The best path on a grid of thresholds."""

from math import prod

import numpy as np

from sklearn_reject.thresholds._grid import (
    count_documents,
    grid_fits,
    locate_thresholds,
    threshold_grid,
)
from sklearn_reject.thresholds._lattice import best_lattice_path
from sklearn_reject.thresholds._pairs import best_pairwise_path
from sklearn_reject.thresholds._path import ThresholdPath, area_under, only_path

# A second or two: beyond, pairs are much faster.
_LARGEST_GRID = 10**7


def graph_path(documents, n_thresholds=100, through=None):
    """Find the path of the largest area on a grid of thresholds.

    All combinations of thresholds up to some ten million, and a local optimum beyond.
    Thresholds `through` are to be a vertex of the path: scores from the lowest
    thresholds on, or infinite.
    """
    # One classifier needs no grid: its only path has all its scores.
    if documents.n_classifiers == 1:
        return only_path(documents, through)
    if through is None:
        grid = threshold_grid(documents, n_thresholds)
    else:  # which takes up to one threshold of each classifier
        grid = threshold_grid(documents, max(2, n_thresholds - 1))
        grid = [np.union1d(*pair) for pair in zip(grid, through, strict=True)]
    shape = tuple(map(len, grid))
    if prod(shape) > _LARGEST_GRID or not grid_fits(shape):
        return best_pairwise_path(documents, grid, through)
    counts = count_documents(documents, grid)
    return best_grid_path(grid, *counts, documents.rule, through)


def best_grid_path(grid, fp, tp, rule, through=None):
    """Find the path of the largest area through a table; of counts, exactly.

    Paths raise one threshold at a time, from the lowest to infinity.
    """
    if through is not None:
        through = locate_thresholds(grid, through)
    nodes = tuple(best_lattice_path(fp, tp, through).T)
    thresholds = [values[index] for values, index in zip(grid, nodes, strict=True)]
    fp, tp = fp[nodes], tp[nodes]
    return ThresholdPath(np.column_stack(thresholds), fp, tp, area_under(fp, tp), rule)
