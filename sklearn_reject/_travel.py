"""What parallel tasks are given, so that it travels to other processes once.

Backends of joblib that reach other machines send an argument of several tasks once if
it is one object that says that it is large.
"""

import numpy as np

# Of bytes: more than any backend sends with each task.
_LARGE = 2**20


class Carried:
    """A value that is sent once, whatever it holds.

    All tasks of a process may get the same one, which they must not change.
    """

    def __init__(self, value):
        self.value = value

    def __sizeof__(self):
        return _LARGE


def pack_rows(rows, n_samples):
    """Return indices of rows as bits of all samples where they are in order."""
    if isinstance(rows, slice):
        return rows
    rows = np.arange(n_samples)[rows]
    if not (rows[1:] > rows[:-1]).all():
        return rows
    is_in = np.zeros(n_samples, dtype=bool)
    is_in[rows] = True
    return np.packbits(is_in)


def unpack_rows(packed, n_samples):
    """Return the rows of what :func:`pack_rows` has returned."""
    if getattr(packed, "dtype", None) == np.uint8:
        return np.flatnonzero(np.unpackbits(packed, count=n_samples))
    return packed
