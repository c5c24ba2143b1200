"""Ridge regression with weights of their own for each predicted label."""

import numpy as np


def make_ridge_solver(design, aims, weight):
    """Return what minimises the mean squared error plus a penalty on the slopes.

    Minimises 1/n sum_i w_i (aim_i - s_i)^2 + alpha ||w||^2. Each label has a problem of
    its own, of which one eigendecomposition solves all penalties. Intercepts are free,
    so that predictions have the mean of the aims.

    Parameters
    ----------
    design : Design
        The features.

    aims, weight : ndarray of shape (n_samples,)
        Values to predict, and sample weights or None.

    Returns
    -------
    solve : callable
        ``(alpha, start) -> weights``; the start does not matter.
    """
    weight = np.ones(len(aims)) if weight is None else weight
    total = weight.sum()
    labels = [
        _decompose(design.matrix[start:end], aims[start:end], weight[start:end])
        for start, end in design.groups
    ]

    def solve(alpha, start):
        return np.stack([_solve_label(label, alpha * total) for label in labels])

    return solve


def _decompose(matrix, aims, weight):
    """Return means and eigendecomposition of the centred normal equations."""
    if not len(aims):
        return np.zeros(matrix.shape[1]), 0.0, np.zeros(0), np.zeros((0, 0)), 0.0
    matrix = matrix.toarray() if hasattr(matrix, "toarray") else matrix
    mean, mean_aim = np.average(matrix, axis=0, weights=weight), weight @ aims
    mean_aim /= weight.sum()
    root = np.sqrt(weight)[:, np.newaxis]
    centred = (matrix - mean) * root
    values, vectors = np.linalg.eigh(centred.T @ centred)
    moments = vectors.T @ (centred.T @ ((aims - mean_aim) * root[:, 0]))
    return mean, mean_aim, values, vectors, moments


def _solve_label(label, penalty):
    mean, mean_aim, values, vectors, moments = label
    if not len(values):
        return np.append(np.zeros(len(mean)), 0.0)
    # Directions without spread would get any slope if there is no penalty.
    least = values.max() * len(values) * np.finfo(np.float64).eps
    spread = np.maximum(values, 0) + penalty
    usable = spread > max(least, np.finfo(np.float64).tiny)
    slopes = vectors[:, usable] @ (moments[usable] / spread[usable])
    return np.append(slopes, mean_aim - mean @ slopes)
