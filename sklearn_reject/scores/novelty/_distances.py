"""Novelty scores from distances to the training samples."""

from numbers import Real

import numpy as np
from scipy.sparse import csr_matrix
from scipy.spatial.distance import cdist
from sklearn.covariance import ledoit_wolf, shrunk_covariance
from sklearn.neighbors import NearestNeighbors
from sklearn.utils import gen_batches

from sklearn_reject._response import row_norms, row_products
from sklearn_reject._validation import check_count, check_number, check_option
from sklearn_reject.scores.novelty._base import NoveltyScore, own_features

# Numbers held at once.
_BLOCK_SIZE = 2**18


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

    shrinkage_ : float
        How far it is drawn.

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

    name = "mahalanobis"

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
        self._learn(features, y, sample_weight)

    def _learn(self, features, y, sample_weight):
        """Learn from features, labels, and weights or None."""
        self.means_, self.covariance_, self.shrinkage_ = fit_means(
            features, y, sample_weight, self.shrinkage
        )
        self.whitener_ = whiten(self.covariance_)

    def _novelty(self, response):
        return self._distances(own_features(response, self.features))

    def _distances(self, features):
        """Return the novelty of features, shape (n_samples,)."""
        return nearest_mean(features, self.means_, self.whitener_)


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
        The distinct training features, ready to be searched.

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

    name = "knn"

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
        features = _normalize(own_features(response, self.features))
        return self.index_.kth_distances(features, self.n_neighbors)


def fit_means(features, y, weight, shrinkage):
    """Return label means, the shrunk covariance about them, and how far it is drawn."""
    weight = np.ones(len(features)) if weight is None else weight
    _, codes = np.unique(y, return_inverse=True)
    members = csr_matrix((weight, (codes, np.arange(len(codes)))))
    total = np.bincount(codes, weights=weight)[:, np.newaxis]
    means = members @ features / total
    # Their second moment is the weighted one.
    roots = np.sqrt(weight / weight.mean())[:, np.newaxis]
    residuals = (features - means[codes]) * roots
    if shrinkage == "auto":
        return means, *ledoit_wolf(residuals, assume_centered=True)
    covariance = residuals.T @ residuals / len(residuals)
    return means, shrunk_covariance(covariance, shrinkage=shrinkage), shrinkage


def nearest_mean(features, means, whitener):
    """Return the least squared distance of whitened features to the means."""
    # Any point between the means will do: what is short is rounded less.
    center = means.mean(axis=0)
    features = row_products(features - center, whitener)
    means = row_products(means - center, whitener)
    nearest = np.empty(len(features))
    # cdist sums up each pair by itself, column by column.
    for rows in gen_batches(len(features), max(1, _BLOCK_SIZE // len(means))):
        nearest[rows] = cdist(features[rows], means, "sqeuclidean").min(axis=1)
    return nearest


def whiten(covariance):
    """Return a factor A of the inverse, A A'."""
    values, vectors = np.linalg.eigh(covariance)
    if values[0] <= values[-1] * len(values) * np.finfo(float).eps:
        raise ValueError(
            "The covariance of the features is singular, so that some distances would "
            f"be infinite: its eigenvalues go from {values[0]:g} to {values[-1]:g}. "
            "Raise shrinkage, leave out features that are constant within each class, "
            "or give more samples."
        )
    return vectors / np.sqrt(values)


def _normalize(features):
    """Return features scaled to length one; zeros stay as they are."""
    # Dividing by the largest entry first keeps squares from overflow and underflow.
    largest = np.abs(features).max(axis=1, keepdims=True)
    features = features / np.where(largest > 0, largest, 1)
    lengths = row_norms(features)[:, np.newaxis]
    return features / np.where(lengths > 0, lengths, 1)


# Up to so many dimensions, a tree looks at few points; beyond, products are faster.
_MOST_DIMENSIONS_FOR_TREE = 6


# What sums of weights may lack of the goal, as they are rounded.
_ROUNDING = 1e-9


# Candidates beyond those that are needed, as the search ranks by rounded distances.
_EXTRA = 8


# The search takes x'x - 2 x'p + p'p for the squared distance of vectors of length one,
# which is wrong by at most n_features times this.
_UNIT_ERROR = 8 * np.finfo(np.float64).eps


# Far more than what rounding does to a distance that is summed up from differences.
_TIE_TOLERANCE = 1e-9


class NeighbourIndex:
    """Vectors (n_points, n_features) of length at most one, ready to be searched.

    scikit-learn finds candidates, whose distances are summed up again in fixed order:
    what is found does not depend on the other queries. Weights have mean one.
    """

    def __init__(self, points, weight=None):
        weight = np.ones(len(points)) if weight is None else weight / weight.mean()
        # Copies would tie: the search could not tell that it has found enough.
        self.points, self.weight = _merge_duplicates(points, weight)
        # The least that so many points weigh together, whichever they are.
        self._least_weights = np.cumsum(np.sort(self.weight))
        is_flat = points.shape[1] <= _MOST_DIMENSIONS_FOR_TREE
        algorithm = "kd_tree" if is_flat else "brute"
        self._search = NearestNeighbors(algorithm=algorithm).fit(self.points)

    def kth_distances(self, queries, k):
        """Return the least distances (n_queries,) within which points weigh k."""
        n_points, n_features = self.points.shape
        n_needed = np.searchsorted(self._least_weights, k - _ROUNDING) + 1
        n_needed = min(n_needed, n_points)
        n_candidates = min(n_needed + _EXTRA, n_points)
        found = np.empty(len(queries))
        for rows in gen_batches(len(queries), max(1, _BLOCK_SIZE // n_candidates)):
            rough, nearest = self._search.kneighbors(queries[rows], n_candidates)
            found[rows] = self._first_to_weigh(k, queries[rows], nearest)
            if n_candidates == n_points:
                continue
            # A point beyond the candidates may be nearer than it seemed to be.
            margin = rough[:, -1] ** 2 - found[rows] ** 2
            is_unsure = margin <= 2 * n_features * _UNIT_ERROR
            for row in rows.start + np.flatnonzero(is_unsure):
                # Take the nearest of all points, and those that may tie with them.
                query = queries[row : row + 1]
                [distances] = cdist(query, self.points)
                limit = np.partition(distances, n_needed - 1)[n_needed - 1]
                nearest = np.flatnonzero(distances <= limit * (1 + _TIE_TOLERANCE))
                found[row] = self._first_to_weigh(k, query, nearest[np.newaxis])[0]
        return found

    def _first_to_weigh(self, k, queries, columns):
        """Return the distance within which the points of each query weigh k."""
        distances = np.empty(columns.size)
        n_columns, n_features = columns.shape[1], queries.shape[1]
        for pairs in gen_batches(columns.size, max(1, _BLOCK_SIZE // n_features)):
            row = np.arange(pairs.start, pairs.stop) // n_columns
            difference = queries[row] - self.points[columns.ravel()[pairs]]
            distances[pairs] = row_norms(difference)
        distances = distances.reshape(columns.shape)
        order = distances.argsort(axis=1, kind="stable")
        weight = np.take_along_axis(self.weight[columns], order, axis=1)
        reached = np.cumsum(weight, axis=1) >= k - _ROUNDING
        first = np.take_along_axis(order, reached.argmax(axis=1)[:, np.newaxis], axis=1)
        return np.take_along_axis(distances, first, axis=1)[:, 0]


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
