"""Novelty scores from distances to the training samples."""

from dataclasses import dataclass
from functools import cached_property
from numbers import Real

import numpy as np
from scipy.sparse import csr_matrix
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist
from sklearn.covariance import ledoit_wolf, shrunk_covariance
from sklearn.utils import gen_batches

from sklearn_reject._validation import check_count, check_number, check_option
from sklearn_reject.scores.novelty._base import NoveltyScore, own_features

_BLOCK_SIZE = 2**22


class Mahalanobis(NoveltyScore):
    """Squared Mahalanobis distance to the nearest class mean (Lee et al., 2018).

    min_y (f - m_y)' S^-1 (f - m_y), where m_y is the mean of the training features of
    class y and S the covariance about these means, pooled over the classes and shrunk.
    Without unit, at least 0, higher = more novel.

    Parameters
    ----------
    shrinkage : "auto" or float, default="auto"
        How far the covariance is drawn to a multiple of the identity, in [0, 1]. "auto"
        takes the share of Ledoit and Wolf (2004).

    features : callable, default=None
        ``(estimator, X) -> (n_samples, n_features)``. None takes the last hidden layer
        of an MLPClassifier and, for another classifier, what reaches it.

    Attributes
    ----------
    means_ : ndarray of shape (n_classes, n_features)
        Mean of each class among the labels.

    covariance_ : ndarray of shape (n_features, n_features)
        The shrunk S.

    whitener_ : ndarray of shape (n_features, n_features)
        Factor A of the inverse, S^-1 = A A'.

    Raises
    ------
    ValueError
        If `shrinkage` is invalid, if the covariance is singular, or if the features
        are sparse or not finite.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn_reject.scores import Mahalanobis
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = LogisticRegression(max_iter=1000).fit(X, y)
    >>> score = Mahalanobis(shrinkage=0.1).fit(X, y, estimator=clf)
    >>> score.novelty([[5.1, 3.5, 1.4, 0.2], [5.1, 3.5, 1.4, 9.0]]).round(0)
    array([   0., 1574.])
    """

    needs_samples = True
    takes_sparse = False
    needs_labels = True

    def __init__(self, shrinkage="auto", features=None):
        self.shrinkage = shrinkage
        self.features = features

    def _fit(self, response, y, sample_weight, X_ood):
        if not isinstance(self.shrinkage, Real) or isinstance(self.shrinkage, bool):
            check_option(self.shrinkage, "shrinkage", ("auto",))
        else:
            check_number(self.shrinkage, "shrinkage", high=1)
        features = own_features(response, self.features)
        weight = np.ones(len(features)) if sample_weight is None else sample_weight
        _, codes = np.unique(y, return_inverse=True)
        self.means_ = _find_means(features, codes, weight)
        # Their second moment is the weighted one.
        roots = np.sqrt(weight / weight.mean())[:, np.newaxis]
        self.covariance_ = self._shrink((features - self.means_[codes]) * roots)
        self.whitener_ = _whiten(self.covariance_)

    def _shrink(self, residuals):
        if self.shrinkage == "auto":
            return ledoit_wolf(residuals, assume_centered=True)[0]
        covariance = residuals.T @ residuals / len(residuals)
        return shrunk_covariance(covariance, shrinkage=self.shrinkage)

    def _novelty(self, response):
        # Any point between the means will do: what is short is rounded less.
        center = self.means_.mean(axis=0)
        features = (own_features(response, self.features) - center) @ self.whitener_
        means = (self.means_ - center) @ self.whitener_
        nearest = np.empty(len(features))
        for rows in gen_batches(len(features), max(1, _BLOCK_SIZE // len(means))):
            distances = cdist(features[rows], means, "sqeuclidean")
            nearest[rows] = distances.min(axis=1)
        return nearest


def _find_means(features, codes, weight):
    """Return the weighted mean of each class."""
    members = csr_matrix((weight, (codes, np.arange(len(codes)))))
    return members @ features / np.bincount(codes, weights=weight)[:, np.newaxis]


def _whiten(covariance):
    values, vectors = np.linalg.eigh(covariance)
    if values[0] <= values[-1] * len(values) * np.finfo(float).eps:
        raise ValueError(
            "The covariance of the features is singular, so that some distances would "
            f"be infinite: its eigenvalues go from {values[0]:g} to {values[-1]:g}. "
            "Raise shrinkage, leave out features that are constant within each class, "
            "or give more samples."
        )
    return vectors / np.sqrt(values)


class KNN(NoveltyScore):
    """Distance to the k-th nearest training feature (Sun et al., 2022).

    Features are scaled to Euclidean length one first, so that distances are in [0, 2];
    higher = more novel. A feature vector of zeros has no direction and stays as it is:
    its distance is 1 to all others and 0 to another one of zeros. Distances are exact
    to the rounding of float64.

    Parameters
    ----------
    n_neighbors : int, default=50
        Which nearest training feature counts, from 1. With sample weights, the nearest
        one within whose distance training samples weigh `n_neighbors` together, where
        weights are scaled to mean one.

    features : callable, default=None
        ``(estimator, X) -> (n_samples, n_features)``. None takes the last hidden layer
        of an MLPClassifier and, for another classifier, what reaches it (the output of
        the pipeline's last transformer).

    Attributes
    ----------
    index_ : NeighbourIndex
        The training features, ready to be searched.

    Raises
    ------
    ValueError
        If there are fewer than `n_neighbors` training samples, or if the features are
        sparse or not finite.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn_reject.scores import KNN
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = LogisticRegression(max_iter=1000).fit(X, y)
    >>> score = KNN(n_neighbors=5).fit(X, y, estimator=clf)
    >>> score.novelty([[5.1, 3.5, 1.4, 0.2], [5.1, 3.5, 1.4, 9.0]]).round(2)
    array([0.02, 0.76])
    """

    needs_samples = True
    takes_sparse = False

    def __init__(self, n_neighbors=50, features=None):
        self.n_neighbors = n_neighbors
        self.features = features

    def _fit(self, response, y, sample_weight, X_ood):
        check_count(self.n_neighbors, "n_neighbors")
        features = _normalize(own_features(response, self.features))
        if self.n_neighbors > len(features):
            raise ValueError(
                f"n_neighbors={self.n_neighbors} is larger than the number of training "
                f"samples, {len(features)}. Lower n_neighbors or give more samples."
            )
        self.index_ = NeighbourIndex(features, sample_weight)

    def _novelty(self, response):
        check_count(self.n_neighbors, "n_neighbors")
        features = _normalize(own_features(response, self.features))
        return self.index_.kth_distances(features, self.n_neighbors)


def _normalize(features):
    # Dividing by the largest entry first keeps squares from overflow and underflow.
    largest = np.abs(features).max(axis=1, keepdims=True)
    features = features / np.where(largest > 0, largest, 1)
    norms = np.sqrt(np.einsum("ij,ij->i", features, features))[:, np.newaxis]
    features /= np.where(norms > 0, norms, 1)
    return features


# Up to so many dimensions, a tree looks at few points; beyond, products are faster.
_MOST_DIMENSIONS_FOR_TREE = 6


# Numbers held at once: blocks of inner products stay in the cache.


_SHORTEST_CHUNK = 2**12


# What sums of weights may lack of the goal, as they are rounded.
_ROUNDING = 1e-9


class NeighbourIndex:
    """Vectors, ready to be searched for neighbours.

    Inner products in float32 screen the points for those that may be the k-th nearest,
    within a bound of their rounding errors. The few that remain are compared in
    float64, so that the result is as exact as that of the plain differences.

    Parameters
    ----------
    points : ndarray of shape (n_points, n_features)
        Vectors to be searched.

    weight : ndarray of shape (n_points,) or None
        Positive weights, which are scaled to mean one.
    """

    def __init__(self, points, weight=None):
        weight = np.ones(len(points)) if weight is None else weight / weight.mean()
        points, weight = _merge_duplicates(points, weight)
        # The first points set a limit for the others, so all kinds must be there.
        order = np.random.default_rng(0).permutation(len(points))
        self.points, self.weight = points[order], weight[order]
        is_flat = points.shape[1] <= _MOST_DIMENSIONS_FOR_TREE
        self._tree = cKDTree(self.points) if is_flat else None
        self._table = None if is_flat else Table.of(self.points, np.float32)

    def kth_distances(self, queries, k):
        """Return the distance of each query to its k-th nearest point.

        Parameters
        ----------
        queries : ndarray of shape (n_queries, n_features)
            Vectors.

        k : int
            From 1 to the number of points.

        Returns
        -------
        distances : ndarray of shape (n_queries,)
            Least distance within which points weigh at least k.
        """
        search = _Search(self, k, self._count_needed(k))
        chunk = max(_SHORTEST_CHUNK, 16 * search.n_needed)
        batches = gen_batches(len(queries), max(1, _BLOCK_SIZE // chunk))
        find = search.by_products if self._tree is None else search.by_tree
        return np.concatenate([find(queries[rows], chunk) for rows in batches])

    def _count_needed(self, k):
        """Return how many points always weigh k, whichever they are."""
        weights = np.cumsum(np.sort(self.weight))
        enough = np.searchsorted(weights, k - _ROUNDING) + 1
        return int(min(enough, len(weights)))


def _merge_duplicates(points, weight):
    """Return distinct points and what all copies of each weigh together."""
    points = np.ascontiguousarray(points) + 0.0  # minus zero is zero
    factors = np.random.default_rng(0).integers(2**62, size=points.shape[1]) * 2 + 1
    # Integers overflow to the same number for the same row.
    keys = points.view(np.int64) @ factors
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    if len(first) == len(points) or (points[first[inverse]] != points).any():
        return points, weight
    return points[first], np.bincount(inverse, weights=weight)


@dataclass(frozen=True, eq=False)
class _Search:
    """How one kind of search goes about a block of queries."""

    index: NeighbourIndex
    k: int
    n_needed: int

    @cached_property
    def _fine_table(self):
        return Table.of(self.index.points, np.float64)

    def by_tree(self, queries, chunk):
        ranks = np.arange(1, self.n_needed + 1)
        distances, nearest = self.index._tree.query(queries, k=ranks)
        return self._first_to_weigh(distances, self.index.weight[nearest])

    def by_products(self, queries, chunk):
        found = screen(self.index._table, queries, self.n_needed, chunk)
        if found is None:  # too many points are as near as float32 can tell
            found = screen(self._fine_table, queries, self.n_needed, chunk)
        if found is None:
            return self._by_differences(queries)
        return self._compare(queries, *found)

    def _by_differences(self, queries):
        height = max(1, _BLOCK_SIZE // len(self.index.points))
        batches = gen_batches(len(queries), height)
        return np.concatenate([self._rank_all(queries[rows]) for rows in batches])

    def _rank_all(self, queries):
        distances = cdist(queries, self.index.points)
        last = self.n_needed - 1
        nearest = np.argpartition(distances, last, axis=1)[:, : self.n_needed]
        distances = np.take_along_axis(distances, nearest, axis=1)
        order = distances.argsort(axis=1)
        distances = np.take_along_axis(distances, order, axis=1)
        nearest = np.take_along_axis(nearest, order, axis=1)
        return self._first_to_weigh(distances, self.index.weight[nearest])

    def _compare(self, queries, candidates, error):
        """Return the distances, given all candidates and how far they may be off."""
        rows, points, values = candidates
        weight = self.index.weight[points]
        order = np.lexsort((-values, rows))
        rough = self._pick(rows[order], -values[order], weight[order])
        # Whatever is off by more than the errors of both is surely nearer.
        lead = values + rough[rows]
        margin = 2 * error[rows]
        is_surely_nearer, is_close = lead > margin, np.abs(lead) <= margin
        sure = np.bincount(
            rows, weights=weight * is_surely_nearer, minlength=len(queries)
        )
        rows, points, weight = rows[is_close], points[is_close], weight[is_close]
        distances = _distances(queries, rows, self.index.points, points)
        order = np.lexsort((distances, rows))
        return self._pick(rows[order], distances[order], weight[order], sure)

    def _pick(self, rows, values, weight, sure=0.0):
        """Return where the weight of each row, in increasing order, reaches k."""
        values, weight = pack(rows, values, np.inf), pack(rows, weight, 0.0)
        return self._first_to_weigh(values, weight, sure)

    def _first_to_weigh(self, values, weight, sure=0.0):
        goal = np.reshape(self.k - _ROUNDING - sure, (-1, 1))
        reached = np.cumsum(weight, axis=1) >= goal
        first = reached.argmax(axis=1)[:, np.newaxis]
        return np.take_along_axis(values, first, axis=1)[:, 0]


def _distances(queries, rows, points, columns):
    """Return the distance of each pair of a query and a point."""
    distances = np.empty(len(rows))
    for part in gen_batches(len(rows), max(1, _BLOCK_SIZE // points.shape[1])):
        difference = queries[rows[part]] - points[columns[part]]
        distances[part] = np.sqrt(np.einsum("ij,ij->i", difference, difference))
    return distances


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
