"""The best area up to each node of a table of two axes."""

import numpy as np

# Rows are worked on in parts of this many nodes, which fit into the processor's cache.
NODES_AT_ONCE = 1 << 15


def best_areas_by_rows(fp, tp):
    """Find the best area under TP against FP up to each node, row by row.

    With V the best area up to a node, W the area along its row from the start, and U
    the best area that arrives from the row before,
    ``V_i = W_i + max_(j <= i) (U_j - W_j)``.

    Parameters
    ----------
    fp, tp : ndarray of shape (n_rows, n_columns)
        False and true positives.

    Returns
    -------
    areas : ndarray of shape (n_rows, n_columns)
        Twice the areas.
    """
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


def areas_along(fp, tp):
    """Return twice the areas along rows, from the start of each row.

    Parameters
    ----------
    fp, tp : ndarray of shape (n_rows, n_columns)
        False and true positives.

    Returns
    -------
    areas : ndarray of shape (n_rows, n_columns)
        Sums of ``(FP(u) - FP(v)) (TP(u) + TP(v))`` over the steps from u to v.
    """
    areas = np.zeros(fp.shape)
    np.cumsum(_areas_across(fp.T, tp.T).T, axis=1, out=areas[:, 1:])
    return areas


def _areas_across(fp, tp):
    """Return twice the areas of steps from each row to the next."""
    return (fp[:-1] - fp[1:]) * (tp[:-1] + tp[1:])
