"""The distance to the k-th nearest of many vectors, exactly, by matrix products."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist
from sklearn.utils import gen_batches

from sklearn_reject.scores._neighbour_screen import Table, pack, screen

# Up to so many dimensions, a tree looks at few points; beyond, products are faster.
_MOST_DIMENSIONS_FOR_TREE = 6

# Numbers held at once: blocks of inner products stay in the cache.
_BLOCK_SIZE = 2**22

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
