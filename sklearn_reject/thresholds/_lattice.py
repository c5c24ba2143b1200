"""Best monotone paths through a lattice of counts."""

from functools import reduce
from itertools import pairwise
from math import prod

import numpy as np

# Rows are worked on in parts of this many nodes, which fit into the processor's cache.
NODES_AT_ONCE = 1 << 15


def best_lattice_path(fp, tp, through=None):
    """Find the path of the largest area under TP against FP, shape (n_nodes, N).

    It leads from the first node, by way of the node `through` if there is one, to the
    last, each step to the next index of one axis. Areas of counts are exact.
    """
    # A step from u to v adds (FP(u) - FP(v)) (TP(u) + TP(v)) / 2 (RZMR20). As no step
    # leads back, one pass over the nodes finds the best of all paths.
    if through is None:
        return _best_path(fp, tp)
    before = tuple(slice(index + 1) for index in through)
    after = tuple(slice(index, None) for index in through)
    first, second = (_best_path(fp[part], tp[part]) for part in (before, after))
    return np.concatenate([first, second[1:] + through])


def _best_path(fp, tp):
    n_axes = fp.ndim
    # At least one axis beside the last, maybe of one index.
    shape = (1,) * (n_axes == 1) + fp.shape
    fp, tp = (counts.reshape(-1, shape[-1]) for counts in (fp, tp))
    if len(shape) == 2:
        best = best_areas_by_rows(fp, tp)
    else:
        best = best_areas_by_wavefronts(fp, tp, shape[:-1])
    nodes = _trace_back(*map(np.ravel, (best, fp, tp)), shape)
    return np.stack(np.unravel_index(nodes, shape), axis=1)[:, -n_axes:]


def _trace_back(best, fp, tp, shape):
    """Return the nodes, numbered row by row, that lead to the area of the last."""
    strides = [prod(shape[axis + 1 :]) for axis in range(len(shape))]
    indices = [length - 1 for length in shape]
    nodes = [prod(shape) - 1]
    while nodes[-1]:
        node = (fp.item(nodes[-1]), tp.item(nodes[-1]))
        axes = [axis for axis, index in enumerate(indices) if index]
        origins = [nodes[-1] - strides[axis] for axis in axes]
        areas = [_area_from(origin, best, fp, tp, *node) for origin in origins]
        latest = areas.index(max(areas))
        indices[axes[latest]] -= 1
        nodes.append(origins[latest])
    return nodes[::-1]


def _area_from(origin, best, fp, tp, fp_here, tp_here):
    step = fp.item(origin) - fp_here
    return best.item(origin) + step * (tp.item(origin) + tp_here)


def best_areas_by_rows(fp, tp):
    """Find twice the best area under TP against FP up to each node, row by row."""
    # With V the best area up to a node, W the area along its row from the start, and U
    # the best area that arrives from the row before, V_i = W_i + max_(j <= i) (U_j -
    # W_j).
    best = np.empty(fp.shape)
    best[0] = areas_along(fp[:1], tp[:1])[0]
    n_at_once = max(1, NODES_AT_ONCE // fp.shape[1])
    for start in range(1, len(fp), n_at_once):
        part = slice(start - 1, start + n_at_once)
        along = areas_along(fp[part], tp[part])[1:]
        change = _areas_across(fp[part], tp[part]) - along
        for row in range(len(along)):
            here = best[start + row]
            np.add(best[start + row - 1], change[row], out=here)
            np.maximum.accumulate(here, out=here)
            here += along[row]
    return best


def best_areas_by_wavefronts(fp, tp, shape):
    """Find twice the best area up to each node, many rows at once.

    One more row at the end is -inf, for rows that nothing leads to.
    """
    # Rows along the last axis whose other indices have the same sum do not lead to one
    # another. All of them follow from those whose sum is one less.
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


def areas_along(fp, tp):
    """Return twice the areas along rows, from the start of each row."""
    areas = np.zeros(fp.shape)
    np.cumsum(_areas_across(fp.T, tp.T).T, axis=1, out=areas[:, 1:])
    return areas


def _areas_across(fp, tp):
    """Return twice the areas of steps from each row to the next."""
    return (fp[:-1] - fp[1:]) * (tp[:-1] + tp[1:])


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
