"""The best path on a grid of thresholds."""

from math import prod

import numpy as np

from sklearn_reject._validation import check_option
from sklearn_reject.thresholds._grid import (
    SPACINGS,
    check_n_thresholds,
    locate_thresholds,
    threshold_grid,
)
from sklearn_reject.thresholds._grid_memory import grid_fits
from sklearn_reject.thresholds._lattice import best_lattice_path
from sklearn_reject.thresholds._only_path import only_path
from sklearn_reject.thresholds._pairs import best_pairwise_path
from sklearn_reject.thresholds._path import ThresholdPath, area_under
from sklearn_reject.thresholds._table import count_table

SEARCHES = ("auto", "grid", "pairs")

# A second or two: beyond, pairs are much faster.
_LARGEST_AUTO_GRID = 10**7


def graph_path(
    documents, *, n_thresholds=100, spacing="quantile", search="auto", through=None
):
    """Find the path of the largest area on a grid of thresholds.

    One classifier needs no grid: its only path has all its scores, whatever
    `n_thresholds` is.

    Parameters
    ----------
    documents : RatedDocuments
        What counts.

    n_thresholds : int >= 2, default=100
        Largest number of thresholds of a classifier, the two extremes included.

    spacing : {"quantile", "uniform"}, default="quantile"
        How the thresholds are chosen, see
        :func:`~sklearn_reject.thresholds._grid.threshold_grid`.

    search : {"auto", "grid", "pairs"}, default="auto"
        With "grid", the global optimum among all monotone paths on the grid, by a table
        of all combinations of thresholds. With "pairs", a local optimum: no path is
        better that changes the thresholds of one classifier alone against those of the
        others. It needs tables of two axes only, and takes twenty classifiers. With
        "auto", the grid
        up to ten million combinations, if they fit into scikit-learn's
        ``working_memory``, and pairs beyond.

    through : array-like of shape (n_classifiers,), default=None
        Thresholds that are to be a vertex of the path, in addition to the grid: scores
        from the lowest thresholds on, or infinite. None for the best path of all.

    Returns
    -------
    path : ThresholdPath
        The best path.

    Raises
    ------
    ValueError
        If a parameter is invalid, or the table of "grid" would not fit into memory.
    """
    check_option(search, "search", SEARCHES)
    if documents.n_classifiers == 1:
        check_n_thresholds(n_thresholds)
        check_option(spacing, "spacing", SPACINGS)
        through = () if through is None else _check_through(through, documents.base)
        return only_path(documents, through)
    if through is not None:  # which takes up to one threshold of each classifier
        n_thresholds = max(2, n_thresholds - 1)
    grid = threshold_grid(documents, n_thresholds, spacing)
    if through is not None:
        through = _check_through(through, documents.base)
        grid = [np.union1d(*pair) for pair in zip(grid, through, strict=True)]
    if search == "grid" or (search == "auto" and _is_small(grid)):
        return best_grid_path(count_table(documents, grid), through)
    return best_pairwise_path(documents, grid, through)


def best_grid_path(table, through=None):
    """Find the path of the largest area through a table.

    Parameters
    ----------
    table : PNTable
        False and true positives at all combinations of thresholds.

    through : ndarray of shape (n_classifiers,), default=None
        Thresholds of the table that are to be a vertex of the path.

    Returns
    -------
    path : ThresholdPath
        Among the paths that raise one threshold at a time, from the lowest to infinity,
        the one of the largest area. For counts, it is exact.
    """
    if through is not None:
        through = locate_thresholds(table.thresholds, through)
    nodes = tuple(best_lattice_path(table.fp, table.tp, through).T)
    pairs = zip(table.thresholds, nodes, strict=True)
    fp, tp = table.fp[nodes], table.tp[nodes]
    thresholds = np.column_stack([values[index] for values, index in pairs])
    return ThresholdPath(thresholds, fp, tp, area_under(fp, tp), table.rule)


def _is_small(grid):
    shape = tuple(map(len, grid))
    return prod(shape) <= _LARGEST_AUTO_GRID and grid_fits(shape)


def _check_through(through, base):
    through = np.asarray(through, dtype=np.float64)
    if through.shape != base.shape or not (through >= base).all():
        raise ValueError(
            f"through must be one threshold for each of the {len(base)} classifiers, "
            f"none below the lowest, {base.tolist()}, got {through.tolist()}."
        )
    return through
