"""What parallel tasks are given, so that it travels to other processes once.

Backends of joblib that reach other machines send an argument of several tasks once if
it is one object that is large: an array is, what hides arrays inside is not, and is
sent with each task.
"""

import pickle
from types import FunctionType

import numpy as np
from scipy.sparse import issparse


class Carried:
    """A value that is sent once, whatever it holds, as it says how large it is.

    Parameters
    ----------
    value : object
        The value. All tasks of a process may get the same one, which they must not
        change.
    """

    def __init__(self, value):
        self.value = value
        self._size = None

    def __reduce__(self):
        return Carried, (self.value,)

    def __sizeof__(self):
        if self._size is None:
            self._size = super().__sizeof__() + _count_bytes(self.value)
        return self._size


def carry(value):
    """Return a value as an argument that is sent once: as it is, or carried."""
    if value is None or isinstance(value, np.ndarray) or issparse(value):
        return value
    # Frames of pandas say how large they are.
    return value if hasattr(value, "iloc") else Carried(value)


def uncarry(value):
    """Return the value of what :func:`carry` has returned."""
    return value.value if isinstance(value, Carried) else value


class _Scale:
    """A file that weighs what is pickled into it, and keeps nothing."""

    def __init__(self):
        self.n_bytes = 0

    def write(self, data):
        self.n_bytes += memoryview(data).nbytes

    def weigh(self, buffer):
        self.n_bytes += buffer.raw().nbytes


class _Weigher(pickle.Pickler):
    """Leaves out functions, some of which only other picklers than this can take."""

    def persistent_id(self, obj):
        return "function" if isinstance(obj, FunctionType) else None


def _count_bytes(value):
    """Return how many bytes a value takes on its way, without a copy of its arrays."""
    scale = _Scale()
    try:
        _Weigher(scale, protocol=5, buffer_callback=scale.weigh).dump(value)
    except Exception:
        # It cannot travel, or not so: whoever sends it tells best.
        return 0
    return scale.n_bytes


def pack_rows(rows, n_samples):
    """Return rows in few bytes: bits of all samples as uint8, where rows are in order.

    Others are uint32, and what is no array of rows from 0 on is left as it is.
    """
    is_array = isinstance(rows, np.ndarray) and rows.dtype.kind in "iu"
    if not is_array or rows.min(initial=0) < 0 or rows.max(initial=0) >= n_samples:
        # Whoever takes rows knows what to make of these, but for what looks like bits.
        is_byte = is_array and rows.dtype == np.uint8
        return rows.astype(np.intp) if is_byte else rows
    if (rows[1:] > rows[:-1]).all():
        is_in = np.zeros(n_samples, dtype=bool)
        is_in[rows] = True
        return np.packbits(is_in)
    fits = n_samples <= np.iinfo(np.uint32).max
    return rows.astype(np.uint32 if fits else np.intp)


def unpack_rows(packed, n_samples):
    """Return the rows of what :func:`pack_rows` has returned."""
    kind = getattr(packed, "dtype", None)
    if kind == np.uint8:
        return np.flatnonzero(np.unpackbits(packed, count=n_samples))
    return packed.astype(np.intp) if kind == np.uint32 else packed
