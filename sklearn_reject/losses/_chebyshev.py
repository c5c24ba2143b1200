"""Interpolation between samples, cells of a line, and kernels of score differences.

The logistic function and its relatives are analytic up to a distance of pi from the
real line. So on a cell of width `CELL` the polynomial through `N_NODES` Chebyshev nodes
reproduces them to rounding error, and narrower cells need fewer nodes.
"""

from functools import cache

import numpy as np
from numpy.polynomial.chebyshev import chebvander
from scipy.special import expit

CELL = 4.0
N_NODES = 27

# Beyond that many cells all kernels are 0, 1 or linear in float64.
REACH = 10

# Digits that an interpolation has to give.
_DIGITS = 14.2


def node_places(n_nodes=N_NODES):
    """Return where the nodes of a cell lie, as shares of its width."""
    return (1 + _nodes(n_nodes)) / 2


def _nodes(n_nodes):
    return np.cos(np.pi * (np.arange(n_nodes) + 0.5) / n_nodes)


def _coefficients(n_nodes):
    """Return the matrix (node, degree) from values at nodes to coefficients."""
    matrix = chebvander(_nodes(n_nodes), n_nodes - 1) * (2 / n_nodes)
    matrix[:, 0] /= 2
    return matrix


def _n_fine_nodes(n_parts):
    # Half the width of a part against the distance of the nearest pole, pi.
    pole = 2 * np.pi * n_parts / CELL
    decay = np.log10(pole + np.hypot(pole, 1))
    return min(N_NODES, int(np.ceil(_DIGITS / decay)))


@cache
def fine_to_nodes(n_parts):
    """Return how moments in the parts of a cell become weights at its nodes.

    The transpose takes values at the nodes to Chebyshev coefficients in each part.

    Parameters
    ----------
    n_parts : int
        Number of equal parts of a cell.

    Returns
    -------
    transfer : ndarray of shape (n_degrees, n_parts, N_NODES)
        Fewer degrees for narrower parts.
    """
    n_degrees = _n_fine_nodes(n_parts)
    places = node_places(n_degrees) + np.arange(n_parts)[:, np.newaxis]
    values = chebvander(2 * places / n_parts - 1, N_NODES - 1)
    cardinals = values @ _coefficients(N_NODES).T
    transfer = np.einsum("qm,fqQ->mfQ", _coefficients(n_degrees), cardinals)
    return np.ascontiguousarray(transfer)


def polynomials(x, n_degrees):
    """Yield the Chebyshev polynomials of degree 1, 2, ... at x."""
    before, now = 1.0, x
    for _ in range(1, n_degrees):
        yield now
        before, now = now, 2 * x * now - before


def softplus(difference):
    """Return log(1 + exp(difference)) without overflow."""
    return np.maximum(difference, 0) + np.log1p(np.exp(-np.abs(difference)))


def logistic_slope(difference):
    """Return the derivative of the logistic function."""
    return expit(difference) * expit(-difference)


@cache
def kernel_matrix(*kernels):
    """Return kernels between the nodes of cells up to `REACH` apart.

    Parameters
    ----------
    *kernels : callable
        Functions of the difference source - target.

    Returns
    -------
    matrix : ndarray of shape ((2 REACH + 1) * N_NODES, n_kernels * N_NODES)
        Rows are the nodes of the sources, from the lowest cell to the highest; columns
        those of the targets in the middle cell, kernel by kernel.
    """
    places = CELL * node_places()
    cells = CELL * np.arange(-REACH, REACH + 1)
    sources = (cells[:, np.newaxis] + places).ravel()
    difference = sources[:, np.newaxis] - places
    return np.hstack([kernel(difference) for kernel in kernels])
