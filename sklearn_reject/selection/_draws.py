"""Draws that belong to a row and not to a call."""

from __future__ import annotations

import re
from hashlib import blake2b
from numbers import Integral

import numpy as np
from numpy.typing import ArrayLike

from sklearn_reject._validation import of_arrays

_GOLDEN_GAMMA = np.uint64(0x9E3779B97F4A7C15)
_STEPS = (30, np.uint64(0xBF58476D1CE4E5B9)), (27, np.uint64(0x94D049BB133111EB))

# Text of an integer, of as many digits as float64 has.
_INTEGER = re.compile(rb"0|-?[1-9][0-9]{0,308}")


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
        In [0, 2^64).

    keys : array-like of shape (n_samples,)
        What tells the rows apart: an identifier, or a hash of the values of the row, as
        an integer or text. Text of an integer, such as "5", draws as the integer does.
        Negative integers stand for themselves plus 2^64, and text for 64 bits of its
        BLAKE2b hash, as do integers of more bits.

    Returns
    -------
    draws : ndarray of shape (n_samples,), dtype float64
        Uniform in [0, 1), multiples of 2^-53.

    Raises
    ------
    ValueError
        If `seed` is no such int, or `keys` is no vector of integers and text. Floats,
        booleans and missing values identify no row.

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
    >>> keyed_draws(0, ["3", "b"]).round(3)
    array([0.781, 0.002])
    """
    is_int = isinstance(seed, Integral) and not isinstance(seed, bool)
    if not is_int or not 0 <= seed < 2**64:
        raise ValueError(f"seed must be an int in [0, 2**64), got {seed!r}.")
    keys = read_keys(keys)
    if keys.dtype.kind == "O":
        keys = np.fromiter(map(_bits_of_key, keys), np.uint64, count=len(keys))
    # An array of one, as the overflow of a number is a warning.
    bits = split_mix(np.array([seed], dtype=np.uint64)) ^ keys.astype(np.uint64)
    return (split_mix(bits) >> 11) * 2.0**-53  # what a float64 holds


def split_mix(values):
    """Return the next output of SplitMix64 for each state, as a new array."""
    values = values + _GOLDEN_GAMMA  # modulo 2^64
    for shift, multiplier in _STEPS:
        values ^= values >> shift
        values *= multiplier
    return values ^ (values >> 31)


def read_keys(keys):
    """Return keys as a vector of integers, or of integers and text as bytes."""
    # Of what a list mixes, NumPy would make numbers or text, each by all others.
    is_mixed = isinstance(keys, (list, tuple)) and len({*map(type, keys)}) > 1
    keys = np.asarray(keys, dtype=object if is_mixed else None)
    if keys.ndim != 1:
        raise ValueError(
            f"keys must be a vector of integers or strings, got the shape {keys.shape}."
        )
    if keys.dtype.kind in "iu":
        return keys
    return np.array([_read_key(key) for key in keys], dtype=object)


def _read_key(key):
    """Return an int, also where text is one, and any other text as bytes."""
    if isinstance(key, str):
        key = key.encode("utf-8", "surrogatepass")  # not all text is valid
    if isinstance(key, bytes):
        return int(key) if _INTEGER.fullmatch(key) else key
    # Of NumPy's integers, spans of time are some, too.
    if isinstance(key, Integral) and not isinstance(key, (bool, np.timedelta64)):
        return int(key)
    raise ValueError(
        f"keys must be a vector of integers or strings, got {key!r}. Floats and gaps "
        "do not identify samples. Convert whole numbers to integers."
    )


def hash_text(text):
    """Return 64 bits of the hash of bytes."""
    return np.frombuffer(blake2b(text, digest_size=8).digest(), "<u8")[0]


def _bits_of_key(key):
    """Return 64 bits: an integer modulo 2^64 where it is near, anything else hashed."""
    if isinstance(key, int) and -(2**63) <= key < 2**64:
        return key % 2**64
    return hash_text(str(key).encode() if isinstance(key, int) else key)
