"""Few nodes that stand for a window of counts, where the loss is smooth in them."""

from math import acosh, ceil, exp, inf, log

import numpy as np
from numpy.polynomial.chebyshev import chebvander


def interpolate_counts(counts, laws, largest, tol):
    r"""Move the laws of a count to a few nodes, as weights.

    The sum of a function over a law is the same as that of its interpolant at Chebyshev
    nodes over the weights, up to the error of the interpolant.

    Parameters
    ----------
    counts : ndarray of shape (n_counts,)
        Successive counts.

    laws : ndarray of shape (n_sizes, n_counts)
        Their probabilities, for each size of the set.

    largest : int
        The function is analytic, and at most one in modulus, where the real part of the
        count is between 0 and this.

    tol : float
        Largest error of the interpolant.

    Returns
    -------
    nodes : ndarray of shape (n_nodes,)
        The counts themselves where nodes would be no fewer.

    weights : ndarray of shape (n_sizes, n_nodes)
        Weights of the nodes, some of them negative, for each size.

    Notes
    -----
    Let the strip be z half-widths of the window wide to both sides of its middle, and
    :math:`\rho = z + \sqrt{z^2 - 1}`. The ellipse with the window's ends as foci that
    touches the strip has the parameter rho, and on it the function is at most one. The
    interpolant at r Chebyshev nodes is then wrong by at most
    :math:`4 \rho^{1 - r} / (\rho - 1)` (Trefethen, Approximation Theory and
    Approximation Practice, theorem 8.2).

    G-mean and H-mean are such functions of tp, at any fn, and of fn, at any tp. In the
    strip 0 <= Re tp <= k the real parts of 1 / TPR = 1 + fn / tp and of
    1 / TNR = 1 + (k - tp) / tn are at least one. So TPR, TNR and the harmonic mean
    2 / (1 / TPR + 1 / TNR) are at most one in modulus; so is the geometric mean, and as
    TPR and TNR have positive real parts it has no branch point. The same holds for fn
    in 0 <= Re fn <= n - k.

    Interpolation in tp takes functions of size one to sums over nodes of at most
    :math:`1 + 2 \log(r) / \pi`, less than 7 below r = 10,000.
    """
    low, high = counts[0], counts[-1]
    n_nodes = _n_nodes(low, high, largest, tol)
    if n_nodes >= len(counts):
        return counts, laws
    middle, half = (low + high) / 2, (high - low) / 2
    nodes = np.cos(np.pi * (np.arange(n_nodes) + 0.5) / n_nodes)
    coefficients = chebvander(nodes, n_nodes - 1) * (2 / n_nodes)
    coefficients[:, 0] /= 2
    moments = laws @ chebvander((counts - middle) / half, n_nodes - 1)
    return middle + half * nodes, moments @ coefficients.T


def _n_nodes(low, high, largest, tol):
    """Return the number of nodes that keep the error, infinite if none does."""
    room = min(low, largest - high)
    if room <= 0 or high == low or tol <= 0:
        return inf
    log_rho = acosh(1 + 2 * room / (high - low))
    return ceil(1 + log(4 / (tol * (exp(log_rho) - 1))) / log_rho)
