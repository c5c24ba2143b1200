"""Differences of the digamma function, the harmonic numbers of real arguments."""

import numpy as np

# The asymptotic series below is exact to 1e-16 from here on.
_ASYMPTOTIC_FROM = 20
_SERIES = (1 / 24, -7 / 960, 31 / 8064, -127 / 30720, 511 / 67584)


def digamma_increment(x, step):
    """Return digamma(x + step) - digamma(x), at least 1-d, for x >= 1 and step > 0.

    The plain difference loses all digits for steps far below 1, which weights that
    are normalised to a sum of one do have. Here the relative error stays near 1e-15.
    """
    x, step = np.broadcast_arrays(*np.atleast_1d(x, step))
    increment = _asymptotic_increment(np.maximum(x, _ASYMPTOTIC_FROM), step)
    small = x < _ASYMPTOTIC_FROM
    if small.any():
        increment[small] = _increment_near_one(x[small], step[small])
    return increment


def _asymptotic_increment(x, step):
    # digamma(z + 1/2) = log(z) + sum_k c_k / z^(2k), an even series in z.
    low = x - 0.5
    growth = np.log1p(step / low)
    increment = growth.copy()
    for power, coefficient in zip((2, 4, 6, 8, 10), _SERIES, strict=True):
        increment += coefficient * low ** (-power) * np.expm1(-power * growth)
    return increment


def _increment_near_one(x, step):
    # digamma(z + 1) = digamma(z) + 1 / z, applied until the series is exact.
    increment = _asymptotic_increment(x + _ASYMPTOTIC_FROM, step)
    for shift in range(_ASYMPTOTIC_FROM):
        low = x + shift
        increment += step / (low * (low + step))
    return increment
