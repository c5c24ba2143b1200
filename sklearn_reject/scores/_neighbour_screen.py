"""Screening of points for the nearest ones, by rounded inner products."""

from dataclasses import dataclass

import numpy as np

# Beyond it the bound of the rounding errors would not hold.
_LARGEST_RELATIVE_ERROR = 1e-2

# For subnormal products, which may be flushed to zero.
_SMALLEST_ERROR = 1e-30

# Where a larger share of points remains, finer products cost less than comparing them.
_LARGEST_SHARE = 1 / 64


@dataclass(frozen=True, eq=False)
class Table:
    """Points with one column more, for values that fall as distances grow.

    The value of a query x and a point p, both less the centre, is x'p - p'p / 2, half
    of what the squared distance lacks of x'x.

    Attributes
    ----------
    center : ndarray of shape (n_features,)
        Mean of the points. Less it, vectors are short and rounded less.

    rows : ndarray of shape (n_points, n_features + 1)
        Points less the centre, and minus half their squared lengths.

    longest : float
        Largest length of a point less the centre.
    """

    center: np.ndarray
    rows: np.ndarray
    longest: float

    @classmethod
    def of(cls, points, dtype):
        """Return the table of points, to be multiplied in a floating point type."""
        center = points.mean(axis=0)
        rows = np.empty((len(points), points.shape[1] + 1), dtype=dtype)
        np.subtract(points, center, out=rows[:, :-1], casting="same_kind")
        squares = _squared_lengths(points - center)
        rows[:, -1] = -squares / 2
        return cls(center, rows, float(np.sqrt(squares.max())))

    def lift(self, queries):
        """Return queries less the centre, and ones, in the type of the table."""
        ones = np.ones((len(queries), 1))
        return np.hstack([queries - self.center, ones]).astype(self.rows.dtype)

    def bound_errors(self, queries):
        """Return how far values of each query may be off, None where it is unknown.

        A sum of d products in any order, each factor rounded, is off by little more
        than (d + 2) times the unit roundoff times the sum of their magnitudes, which
        is at most the product of the lengths.
        """
        n_terms = self.rows.shape[1]
        relative = 1.01 * (n_terms + 8) * np.finfo(self.rows.dtype).eps / 2
        if relative > _LARGEST_RELATIVE_ERROR:
            return None
        lengths = np.sqrt(_squared_lengths(queries - self.center))
        sizes = (lengths + self.longest / 2) * self.longest
        return relative * sizes + _SMALLEST_ERROR


def _squared_lengths(vectors):
    return np.einsum("ij,ij->i", vectors, vectors)


def screen(table, queries, n_needed, chunk):
    """Return the points that may be among the nearest ones.

    Parameters
    ----------
    table : Table
        All points.

    queries : ndarray of shape (n_queries, n_features)
        Vectors.

    n_needed : int
        How many nearest points of each query must be there.

    chunk : int
        How many points to look at at once.

    Returns
    -------
    candidates : tuple of (rows, points, values)
        Pairs of a query and a point, by increasing row, and their values.

    error : ndarray of shape (n_queries,)
        How far the values of each query may be off.

    Notes
    -----
    None is returned in place of both where rounding leaves too many candidates.
    """
    error = table.bound_errors(queries)
    if error is None:
        return None
    sieve = _Sieve(n_needed, 2 * error, table.rows.dtype)
    lifted = table.lift(queries)
    buffer = np.empty(len(queries) * chunk, dtype=table.rows.dtype)
    for start in range(0, len(table.rows), chunk):
        part = table.rows[start : start + chunk]
        values = buffer[: len(queries) * len(part)].reshape(len(queries), -1)
        np.matmul(lifted, part.T, out=values)
        if not sieve.pass_through(values, start):
            return None
    return sieve.candidates, error


class _Sieve:
    """Candidates so far, and the value below which a point cannot be one."""

    def __init__(self, n_needed, margin, dtype):
        self.n_needed = n_needed
        self.margin = margin
        self.dtype = dtype
        self.candidates = None
        self.floor = None

    def pass_through(self, values, offset):
        """Keep the candidates of one chunk; return whether they are few enough."""
        if self.candidates is None:
            self._raise_floor(values)
        hits = np.flatnonzero(values >= self.floor[:, np.newaxis])
        if hits.size > len(values) * self._most_candidates(values.shape[1]):
            return False
        rows, points = np.divmod(hits, values.shape[1])
        found = (rows, points + offset, values.ravel()[hits].astype(np.float64))
        return self._merge(found, offset + values.shape[1])

    def _most_candidates(self, n_points):
        return 4 * self.n_needed + 64 + _LARGEST_SHARE * n_points

    def _merge(self, found, n_points):
        if self.candidates is not None:
            pairs = zip(self.candidates, found, strict=True)
            joined = tuple(np.concatenate(pair) for pair in pairs)
            order = np.argsort(joined[0], kind="stable")
            found = tuple(array[order] for array in joined)
        rows, _, values = found
        # Rows are padded to the longest one, which limits the memory.
        if np.bincount(rows).max() > 2 * self._most_candidates(n_points):
            return False
        self._raise_floor(pack(rows, values, -np.inf))
        remains = values >= self.floor[rows]
        self.candidates = tuple(array[remains] for array in found)
        return True

    def _raise_floor(self, values):
        position = max(0, values.shape[1] - self.n_needed)
        last = np.partition(values, position, axis=1)[:, position]
        self.floor = (last - self.margin).astype(self.dtype)


def pack(rows, values, filler):
    """Return values of increasing row numbers as a matrix, short rows filled up."""
    counts = np.bincount(rows)
    starts = np.cumsum(counts) - counts
    matrix = np.full((len(counts), counts.max()), filler)
    matrix[rows, np.arange(len(rows)) - starts[rows]] = values
    return matrix
