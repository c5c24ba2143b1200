"""An interior-point method for small quadratic programs, a reference for solvers.

It shares nothing with the solvers under test: neither the problem in which they work
nor the method. Its answer is not taken on trust either: from the multipliers a test
computes a lower bound of the minimum, and asserts that the value found reaches it.
"""

import numpy as np
from scipy.linalg import cho_factor, cho_solve

_CENTRING = 0.1
_TO_BOUNDARY = 0.99
_MAX_ITER = 100


def solve_quadratic_program(P, q, G, h, tol=1e-13):
    """Minimize z'Pz / 2 + q'z subject to G z <= h: return z and the multipliers.

    Stops where the mean product of slacks and multipliers has fallen to `tol`.
    """
    z, slacks, multipliers = np.zeros(len(q)), np.ones(len(h)), np.ones(len(h))
    for _ in range(_MAX_ITER):
        dual_residual = P @ z + q + G.T @ multipliers
        primal_residual = G @ z + slacks - h
        product = slacks @ multipliers / len(h)
        if product <= tol:
            break
        ratios = multipliers / slacks
        centered = _CENTRING * product / slacks - multipliers
        factor = cho_factor(P + (G.T * ratios) @ G)
        right = dual_residual + G.T @ (centered + ratios * primal_residual)
        dz = -cho_solve(factor, right)
        d_slacks = -primal_residual - G @ dz
        d_multipliers = centered - ratios * d_slacks
        step = min(
            _largest_step(slacks, d_slacks), _largest_step(multipliers, d_multipliers)
        )
        z = z + step * dz
        slacks = slacks + step * d_slacks
        multipliers = multipliers + step * d_multipliers
    return z, multipliers


def _largest_step(values, change):
    """Return how far to go, at most 1, so that all values stay above zero."""
    falls = change < 0
    limits = -values[falls] / change[falls]
    return min(1.0, _TO_BOUNDARY * limits.min(initial=np.inf))
