"""A 64-bit key of each row: what draws for the row depend on.

The key is made of the values of the row alone, so that it does not depend on the other
rows of a call, on the order in memory, or on the container: dense, sparse and data
frame rows of equal numbers have the same key.
"""

from collections.abc import Mapping, Set
from contextlib import suppress
from numbers import Real

import numpy as np
from scipy import sparse

from sklearn_reject._sklearn import _num_samples, take_rows
from sklearn_reject._validation import check_same_length, refuse_unread
from sklearn_reject.selection import hash_text, read_keys, split_mix

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_BATCH_SIZE = 2**20
_MISSING = np.uint64(0x7FF8000000000000)
_NESTED = list, tuple, np.ndarray


def row_keys(X, rows):
    """Return the keys of some rows of X, uint64 array of shape (n_rows,)."""
    part = take_rows(X, np.arange(_num_samples(X))[rows])
    keys = np.zeros(_num_samples(part), dtype=np.uint64)
    if sparse.issparse(part):
        part = part.tocoo()
        part.sum_duplicates()
        np.add.at(keys, part.row, _spread(part.data, part.col))
        return keys
    if not hasattr(part, "columns"):
        return _keys_of_array(_as_array(part))
    for number, name in enumerate(getattr(part, "column_names", part.columns)):
        column = part.iloc[:, number] if hasattr(part, "iloc") else part[name]
        keys += _spread(np.asarray(column), number)
    return keys


def user_keys(keys, X):
    """Return the keys that a user gives, integers or text, as uint64 a row of X."""
    refuse_unread(keys, "keys")
    keys = read_keys(keys)
    check_same_length(_num_samples(X), keys=keys)
    return _spread(keys, 0)


def _as_array(values):
    """Return nested values as an array, of objects unless all are numbers."""
    if isinstance(values, np.ndarray):
        return values
    try:
        array = np.asarray(values)
    except ValueError:  # of different lengths
        array = np.fromiter(values, dtype=object, count=len(values))
    # Among text NumPy would make text of numbers, too.
    return np.array(values, dtype=object) if array.dtype.kind in "US" else array


def _keys_of_array(values):
    is_vector = values.ndim == 1 and values.dtype == object
    if is_vector and any(isinstance(value, _NESTED) for value in values):
        # As if each were alone: rows of equal lengths are an array of two dimensions.
        return np.concatenate([_keys_of_array(_as_array(row)[None]) for row in values])
    values = values.reshape(len(values), -1)
    batches = np.array_split(values, 1 + values.size // _BATCH_SIZE)
    added = (_spread(batch, np.arange(values.shape[1])) for batch in batches)
    return np.concatenate([each.sum(axis=1, dtype=np.uint64) for each in added])


def _spread(values, places):
    """Return what values add to the keys of their rows, each at its place.

    A zero adds nothing, so that a sparse matrix need not know of it.
    """
    bits = _bits(values)
    added = split_mix(bits + _GOLDEN * np.atleast_1d(places).astype(np.uint64))
    added[bits == 0] = 0
    return added


def _bits(values):
    """Return each value as 64 bits: numbers as float64, anything else hashed."""
    kind = values.dtype.kind
    if kind in "mM":
        # Nanoseconds modulo 2^64, whatever unit the times are kept in.
        bits = values.astype(f"{kind}8[ns]").astype(np.int64).view(np.uint64)
        return np.where(np.isnat(values), _MISSING, bits)
    if kind in "iubf":
        numbers = values.astype(np.float64, order="C") + 0.0  # minus zero equals zero
        if kind in "bf" or np.all(np.abs(numbers) <= 2.0**53):
            numbers[np.isnan(numbers)] = np.nan  # there are many kinds of NaN
            return numbers.view(np.uint64)
    objects = values.astype(object).ravel()
    bits = np.fromiter(map(_bits_of, objects), np.uint64, count=len(objects))
    return bits.reshape(values.shape)


def _bits_of(value):
    """Return 64 bits of one value, which may hold others."""
    # The missing value of pandas is not equal to anything, nor different from it.
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return _MISSING
    if hasattr(value, "asm8"):  # what pandas makes of times in an array of objects
        return _bits(np.array([value.asm8]))[0]
    if isinstance(value, (Real, np.bool_)):
        with suppress(OverflowError):  # an int beyond the largest float, equal to none
            number = float(value)
            if number != number or number == value:
                return _bits(np.array([number]))[0]
    if isinstance(value, _NESTED):
        return _keys_of_array(_as_array(value)[None])[0]
    if isinstance(value, (Mapping, Set)):  # a set holds each of its members once
        numbers = value.values() if isinstance(value, Mapping) else [1] * len(value)
        numbers, names = (
            np.fromiter(each, object, count=len(value)) for each in (numbers, value)
        )
        return _spread(numbers, _bits(names)).sum(dtype=np.uint64)
    return _hash(value)


def _hash(value):
    """Return the hash of bytes, or of the text of anything else."""
    kind = type(value)
    if kind.__str__ is object.__str__ and kind.__repr__ is object.__repr__:
        raise ValueError(
            f"X holds {value!r}, whose repr shows its place in memory and not its "
            "values, so no draw that can be repeated depends on it. Pass keys= for "
            f"such rows, or give {kind.__name__} a __repr__ of its values."
        )
    if not isinstance(value, bytes):
        value = str(value).encode("utf-8", "surrogatepass")  # not all text is valid
    return hash_text(value)
