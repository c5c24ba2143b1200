"""Powers of a sum of independent counts, as sums of exponentials.

The expectation of ``1 / D`` is hard, that of ``exp(-v D)`` a product over the items.
"""

from functools import lru_cache

import numpy as np
from scipy.linalg import eigh_tridiagonal
from scipy.special import gamma, gammainccinv, loggamma

# Rates below this one over the largest number vary little over the interval, so that a
# few nodes stand for all of them.
_SMALL_RATE = 3.0
_N_NODES_OF_SMALL_RATES = 8

_STEPS = np.arange(0.7, 0.15, -0.01)


def exponential_sum(low, high, power, tol):
    r"""Return rates and weights of a sum of exponentials that is a power.

    It is the trapezoidal rule in x for

    .. math::

        a^{-s} = \frac{1}{\Gamma(s)} \int e^{s x} e^{-a e^x} dx

    whose relative error does not depend on a: it is twice the sum of
    ``abs(gamma(s + 2 pi i m / h)) / gamma(s)`` over m = 1, 2, ... for steps of h. Rates
    much smaller than ``1 / high``, where the exponential is nearly a polynomial, are
    merged by a Gauss rule.

    Parameters
    ----------
    low, high : float > 0
        Interval of a.

    power : float > 0
        The power s.

    tol : float > 0
        Bound on the relative error within the interval, not below 1e-14. Beyond its
        ends the sum is positive, and at most ``(1 + tol) * a**-s`` below `low`.

    Returns
    -------
    rates, weights : ndarray of shape (n_terms,)
        ``a**-power`` is the sum of ``weights * exp(-rates * a)``; rates decreasing.
    """
    step = _find_step(power, tol / 4)
    largest = gammainccinv(power, tol / 4) / low
    n_large = int(np.ceil(np.log(largest * high / _SMALL_RATE) / step))
    n_large = max(n_large, 0)
    rates = largest * np.exp(-step * np.arange(n_large))
    smaller = largest * np.exp(-step * n_large)
    nodes, masses = _merge_small_rates(power, step)
    rates = np.append(rates, smaller * nodes)
    weights = step * rates**power
    weights[n_large:] = step * smaller**power * masses
    return rates, weights / gamma(power)


@lru_cache(maxsize=64)
def _find_step(power, tol):
    """Return the largest step of the trapezoidal rule that errs by `tol` at most."""
    # The terms after the first fall so fast that doubling it bounds them all.
    error = np.exp(loggamma(power + 2j * np.pi / _STEPS).real - loggamma(power).real)
    good = np.flatnonzero(4 * error <= tol)
    return _STEPS[good[0]] if len(good) else _STEPS[-1]


@lru_cache(maxsize=64)
def _merge_small_rates(power, step):
    """Return the Gauss rule of the masses ``exp(-power step j)`` at ``exp(-step j)``.

    It is the one whose moments are theirs, by the recurrence of their orthogonal
    polynomials (Lanczos).
    """
    points = np.exp(-step * np.arange(int(45 / (step * power))))
    masses = points**power
    vector = np.sqrt(masses / masses.sum())
    basis, diagonal, beside = [vector], [], []
    for _ in range(_N_NODES_OF_SMALL_RATES):
        vector = points * basis[-1]
        diagonal.append(vector @ basis[-1])
        for _ in range(2):  # once more, for what rounding has left
            vector = vector - sum((vector @ other) * other for other in basis)
        beside.append(np.linalg.norm(vector))
        basis.append(vector / beside[-1])
    nodes, vectors = eigh_tridiagonal(diagonal, beside[:-1])
    return nodes[::-1], masses.sum() * vectors[0, ::-1] ** 2
