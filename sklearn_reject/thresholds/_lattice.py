"""The best monotone path through a table, by dynamic programming."""

from math import prod

import numpy as np

from sklearn_reject.thresholds._rows import best_areas_by_rows
from sklearn_reject.thresholds._wavefronts import best_areas_by_wavefronts


def best_lattice_path(fp, tp, through=None):
    """Find the path of the largest area under TP against FP.

    Paths lead from the first node to the last, each step to the next index of one axis.
    A step from u to v adds ``(FP(u) - FP(v)) (TP(u) + TP(v)) / 2`` (RZMR20). As no step
    leads back, one pass over the nodes finds the best of all paths. Areas of counts are
    exact.

    Parameters
    ----------
    fp, tp : ndarray of shape (n_thresholds_1, ..., n_thresholds_N)
        False and true positives, which do not rise along an axis.

    through : ndarray of shape (N,), dtype intp, default=None
        Indices of a node that the path has to pass.

    Returns
    -------
    nodes : ndarray of shape (n_nodes, N), dtype intp
        Indices of the nodes on the path.
    """
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
