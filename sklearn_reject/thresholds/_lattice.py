"""The best monotone path through a lattice of counts."""

from functools import reduce
from itertools import pairwise
from math import prod

import numpy as np

from sklearn_reject.thresholds._path import are_exact

# Rows are worked on in parts of this many nodes, which fit into the processor's cache.
_NODES_AT_ONCE = 1 << 15

# Areas of weighted documents differ by rounding.
LEAST_GAIN = 1e-12


def best_lattice_path(fp, tp, through=None):
    """Find the path of the largest area under TP against FP, shape (n_nodes, N).

    It leads from the first node, by way of the node `through` if there is one, to the
    last, each step to the next index of one axis. Areas of counts are exact.
    """
    if through is not None:
        before = tuple(slice(index + 1) for index in through)
        after = tuple(slice(index, None) for index in through)
        first = best_lattice_path(fp[before], tp[before])
        second = best_lattice_path(fp[after], tp[after])
        return np.concatenate([first, second[1:] + through])
    # A step from u to v adds (FP(u) - FP(v)) (TP(u) + TP(v)) / 2 (RZMR20). As no step
    # leads back, one pass over the nodes finds the best of all paths.
    n_axes = fp.ndim
    fp, tp = np.atleast_2d(fp, tp)
    shape = fp.shape
    fp, tp = (counts.reshape(-1, shape[-1]) for counts in (fp, tp))
    if len(shape) == 2:
        best = best_areas_by_rows(fp, tp)
    else:
        best = best_areas_by_wavefronts(fp, tp, shape[:-1])
    nodes = _trace_back(best, fp, tp, shape)
    return np.stack(np.unravel_index(nodes, shape), axis=1)[:, -n_axes:]


def _trace_back(best, fp, tp, shape):
    """Return the nodes, numbered row by row, that lead to the area of the last."""
    best, fp, tp = best.ravel(), fp.ravel(), tp.ravel()
    # Of equal areas the one of the first axis; rounding must not choose between them.
    slack = 0.0
    if not are_exact(fp, tp):
        slack = LEAST_GAIN * best.item(prod(shape) - 1)
    follow = _trace_back_rows if len(shape) == 2 else _trace_back_axes
    return follow(best, fp, tp, shape, slack)[::-1]


def _trace_back_rows(best, fp, tp, shape, slack):
    """Return the nodes of two axes from the last to the first."""
    # As that of any number of axes, in a third of the time: for pairs it is most of it.
    stride, node = shape[1], prod(shape) - 1
    nodes, best, fp, tp = [node], best.item, fp.item, tp.item
    while node >= stride and node % stride:
        above, before = node - stride, node - 1
        fp_here, tp_here = fp(node), tp(node)
        area_above = best(above) + (fp(above) - fp_here) * (tp(above) + tp_here)
        area_before = best(before) + (fp(before) - fp_here) * (tp(before) + tp_here)
        node = above if area_above >= area_before - slack else before
        nodes.append(node)
    # Along the border there is one way.
    nodes.extend(
        range(node - stride, -1, -stride) if node >= stride else range(node - 1, -1, -1)
    )
    return nodes


def _trace_back_axes(best, fp, tp, shape, slack):
    """Return the nodes from the last to the first."""
    strides = [prod(shape[axis + 1 :]) for axis in range(len(shape))]
    indices = [length - 1 for length in shape]
    nodes = [prod(shape) - 1]
    while nodes[-1]:
        fp_here, tp_here = fp.item(nodes[-1]), tp.item(nodes[-1])
        axes = [axis for axis, index in enumerate(indices) if index]
        origins = [nodes[-1] - strides[axis] for axis in axes]
        areas = [
            best.item(node) + (fp.item(node) - fp_here) * (tp.item(node) + tp_here)
            for node in origins
        ]
        least = max(areas) - slack
        latest = next(k for k, area in enumerate(areas) if area >= least)
        indices[axes[latest]] -= 1
        nodes.append(origins[latest])
    return nodes


def best_areas_by_rows(fp, tp):
    """Find twice the best area under TP against FP up to each node, row by row."""
    # With V the best area up to a node, W the area along its row from the start, and U
    # the best area that arrives from the row before, V_i = W_i + max_(j <= i) (U_j -
    # W_j).
    best = np.empty(fp.shape)
    best[0] = _areas_along(fp[:1], tp[:1])[0]
    n_at_once = max(1, _NODES_AT_ONCE // fp.shape[1])
    for start in range(1, len(fp), n_at_once):
        part = slice(start - 1, start + n_at_once)
        f, t = fp[part], tp[part]
        along = _areas_along(f, t)[1:]
        change = (f[:-1] - f[1:]) * (t[:-1] + t[1:]) - along
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
    best[0] = _areas_along(fp[:1], tp[:1])[0]
    for rows in _wavefronts(shape, max(1, _NODES_AT_ONCE // fp.shape[1])):
        fp_here, tp_here = fp[rows], tp[rows]
        best_here = -np.inf
        for axis, index in enumerate(np.unravel_index(rows, shape)):
            before = np.where(index > 0, rows - prod(shape[axis + 1 :]), -1)
            area = fp[before]
            area -= fp_here
            area *= tp[before] + tp_here
            area += best[before]
            best_here = np.maximum(best_here, area)
        along = _areas_along(fp_here, tp_here)
        best_here -= along
        np.maximum.accumulate(best_here, axis=1, out=best_here)
        best_here += along
        best[rows] = best_here
    return best


def _areas_along(fp, tp):
    """Return twice the areas along rows, from the start of each row."""
    areas = np.zeros(fp.shape)
    steps = (fp[:, :-1] - fp[:, 1:]) * (tp[:, :-1] + tp[:, 1:])
    np.cumsum(steps, axis=1, out=areas[:, 1:])
    return areas


def _wavefronts(shape, n_at_once):
    """Yield rows whose indices have the same sum, all rows but the first."""
    indices = [np.arange(length, dtype=np.int32) for length in shape]
    sums = reduce(np.add.outer, indices).ravel()
    order = np.argsort(sums, kind="stable")
    stops = np.cumsum(np.bincount(sums))
    for start, stop in pairwise(stops):
        for first in range(start, stop, n_at_once):
            yield order[first : min(first + n_at_once, stop)]
