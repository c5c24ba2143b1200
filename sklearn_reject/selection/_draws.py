"""Draws that belong to a row and not to a call."""

from __future__ import annotations

from numbers import Integral

import numpy as np
from numpy.typing import ArrayLike

from sklearn_reject._validation import of_arrays

_GOLDEN_GAMMA = np.uint64(0x9E3779B97F4A7C15)
_MULTIPLIERS = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_SHIFTS = np.uint64(30), np.uint64(27), np.uint64(31)

# A float64 holds 53 bits.
_UNUSED_BITS = np.uint64(11)


@of_arrays
def keyed_draws(seed: int, keys: ArrayLike) -> np.ndarray:
    """Draw a reproducible uniform number for each key.

    A number depends on the seed and on its key, and on nothing else: not on the other
    keys, their order, the platform or what was drawn before. So a rule that draws at
    its threshold decides the same for a row in one call, in chunks and on many
    machines. Equal keys get equal draws; different keys get draws that behave as
    independent ones.

    Parameters
    ----------
    seed : int
        In [0, 2^64[.

    keys : array-like of shape (n_samples,), dtype int
        What tells the rows apart: an identifier, or a hash of the values of the row.
        Negative ones stand for themselves plus 2^64.

    Returns
    -------
    draws : ndarray of shape (n_samples,), dtype float64
        Uniform in [0, 1[, multiples of 2^-53.

    Raises
    ------
    ValueError
        If `seed` is no such int or `keys` is no vector of integers.

    Notes
    -----
    The finaliser of SplitMix64 (Steele, Lea, Flood 2014) of the key, mixed with the
    finaliser of the seed. Not for secrets.

    References
    ----------
    Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.

    Examples
    --------
    >>> from sklearn_reject.selection import keyed_draws
    >>> keyed_draws(0, [1, 2, 3]).round(3)
    array([0.034, 0.843, 0.781])
    >>> keyed_draws(0, [3, 1]).round(3)
    array([0.781, 0.034])
    """
    bits = split_mix(_check_keys(keys) ^ split_mix(_check_seed(seed)))
    bits >>= _UNUSED_BITS
    return bits * 2.0**-53


def split_mix(values):
    """Return the next output of SplitMix64 for each state, as a new array."""
    values = values + _GOLDEN_GAMMA  # modulo 2^64
    values ^= values >> _SHIFTS[0]
    values *= _MULTIPLIERS[0]
    values ^= values >> _SHIFTS[1]
    values *= _MULTIPLIERS[1]
    values ^= values >> _SHIFTS[2]
    return values


def _check_seed(seed):
    """Return the seed as an array of one uint64, whose overflow is no warning."""
    is_int = isinstance(seed, Integral) and not isinstance(seed, bool)
    if not is_int or not 0 <= seed < 2**64:
        raise ValueError(f"seed must be an int in [0, 2**64[, got {seed!r}.")
    return np.array([seed], dtype=np.uint64)


def _check_keys(keys):
    keys = np.asarray(keys)
    if keys.ndim != 1 or (keys.dtype.kind not in "iu" and keys.size):
        raise ValueError(
            "keys must be a vector of integers, one per sample, got an array of shape "
            f"{keys.shape} and dtype {keys.dtype}. Hash the identifiers of the rows "
            "first."
        )
    if keys.dtype.kind == "i":
        keys = keys.astype(np.int64).view(np.uint64)
    return keys.astype(np.uint64)
