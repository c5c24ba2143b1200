"""A 64-bit key of each row: what draws for the row depend on.

The key is made of the values of the row alone, so that it does not depend on the other
rows of a call, on the order in memory, or on the container: dense, sparse and data
frame rows of equal numbers have the same key.
"""

from collections.abc import Mapping, Set
from numbers import Real

import numpy as np
from scipy import sparse
from sklearn.utils import gen_batches

from sklearn_reject._sklearn import _num_samples, take_rows
from sklearn_reject._validation import check_same_length, refuse_unread
from sklearn_reject.selection import hash_text, read_keys, split_mix

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_BATCH_SIZE = 2**20
_MISSING = np.uint64(0x7FF8000000000000)
_NESTED = list, tuple, np.ndarray


def row_keys(X, rows):
    """Return the keys of some rows of X, uint64 array of shape (n_rows,)."""
    if isinstance(rows, slice):
        rows = np.arange(_num_samples(X))[rows]
    if sparse.issparse(X):
        return _keys_of_sparse(X.tocsr()[rows])
    if not hasattr(X, "shape"):
        # What becomes an array need not have rows itself.
        X = np.asarray(X) if hasattr(X, "__array__") else X
        return _keys_of_array(_as_array([X[row] for row in rows]))
    part = take_rows(X, rows)
    if hasattr(part, "columns"):
        return _keys_of_frame(part)
    return _keys_of_array(np.asarray(part))


def user_keys(keys, X):
    """Return the keys that a user gives, integers or text, as uint64 a row of X."""
    refuse_unread(keys, "keys")
    keys = read_keys(keys)
    check_same_length(_num_samples(X), keys=keys)
    return _spread(_bits(keys), 0)


def _as_array(values):
    """Return nested values as an array, of objects unless all are numbers."""
    try:
        array = np.asarray(values)
    except ValueError:  # of different lengths
        array = np.empty(len(values), dtype=object)
        for number, value in enumerate(values):
            array[number] = value
    # Among text NumPy would make text of numbers, too.
    return np.array(values, dtype=object) if array.dtype.kind in "US" else array


def _keys_of_frame(frame):
    if hasattr(frame, "iloc"):
        columns = (frame.iloc[:, number] for number in range(frame.shape[1]))
    else:
        names = getattr(frame, "column_names", frame.columns)  # Arrow, and Polars
        columns = (frame[name] for name in names)
    keys = np.zeros(len(frame), dtype=np.uint64)
    for number, column in enumerate(columns):
        keys += _spread(_bits(np.asarray(column)), number)
    return keys


def _keys_of_array(values):
    is_vector = values.ndim == 1 and values.dtype == object
    if is_vector and any(isinstance(value, _NESTED) for value in values):
        # As if each were alone: rows of equal lengths are an array of two dimensions.
        return np.concatenate([_keys_of_array(_as_array(row)[None]) for row in values])
    values = values.reshape(len(values), -1)
    keys = np.empty(len(values), dtype=np.uint64)
    places = np.arange(values.shape[1])
    for rows in gen_batches(len(values), max(1, _BATCH_SIZE // max(1, len(places)))):
        part = values[rows]
        bits = _bits(part.ravel()).reshape(part.shape)
        keys[rows] = _spread(bits, places).sum(axis=1, dtype=np.uint64)
    return keys


def _keys_of_sparse(X):
    X = X.tocoo()
    X.sum_duplicates()
    keys = np.zeros(X.shape[0], dtype=np.uint64)
    np.add.at(keys, X.row, _spread(_bits(X.data), X.col))
    return keys


def _spread(bits, places):
    """Return what values add to the keys of their rows, each at its place.

    A zero adds nothing, so that a sparse matrix need not know of it.
    """
    offsets = _GOLDEN * np.atleast_1d(places).astype(np.uint64)
    added = split_mix(bits + offsets)
    added[bits == 0] = 0
    return added


def _bits(values):
    """Return each value as 64 bits: numbers as float64, anything else hashed."""
    kind = values.dtype.kind
    if kind in "mM":
        # Nanoseconds modulo 2^64, whatever unit the times are kept in.
        bits = values.astype(f"{kind}8[ns]").astype(np.int64).view(np.uint64)
        bits[np.isnat(values)] = _MISSING
        return bits
    if kind in "iubf":
        numbers = values.astype(np.float64)
        if kind in "bf" or np.all(np.abs(numbers) <= 2.0**53):
            return _bits_of_floats(numbers)
        values = values.astype(object)
    return _bits_of_all(values)


def _bits_of_floats(values):
    values = values + 0.0  # minus zero equals zero
    values[np.isnan(values)] = np.nan  # there are many kinds of NaN
    return values.view(np.uint64)


def _bits_of_object(value):
    # The missing value of pandas is not equal to anything, nor different from it.
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return _MISSING
    if hasattr(value, "asm8"):  # what pandas makes of times in an array of objects
        return _bits(np.array([value.asm8]))[0]
    if isinstance(value, (Real, np.bool_)):
        number = _as_float(value)
        if number != number or number == value:
            return _bits_of_floats(np.array([number]))[0]
    if isinstance(value, _NESTED):
        return _keys_of_array(_as_array(value)[None])[0]
    if isinstance(value, Mapping):
        names, values = (_bits_of_all(part) for part in (value, value.values()))
        return _spread(values, names).sum(dtype=np.uint64)
    if isinstance(value, Set):
        return split_mix(_bits_of_all(value)).sum(dtype=np.uint64)
    text = value if isinstance(value, bytes) else _text(value)
    return hash_text(text)


def _bits_of_all(values):
    return np.fromiter(map(_bits_of_object, values), np.uint64, count=len(values))


def _as_float(number):
    try:
        return float(number)
    except OverflowError:  # an int beyond the largest float, equal to none
        return np.inf


def _text(value):
    kind = type(value)
    if kind.__str__ is object.__str__ and kind.__repr__ is object.__repr__:
        raise ValueError(
            f"X holds {value!r}, whose repr shows its place in memory and not its "
            "values, so no reproducible draw can depend on it. Pass keys= for such "
            f"rows, or give {kind.__name__} a __repr__ of its values."
        )
    return str(value).encode("utf-8", "surrogatepass")  # not all text is valid
