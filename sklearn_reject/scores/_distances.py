"""Distances to the k-th nearest training sample, and to the means of the classes."""

from __future__ import annotations

from typing import Literal

import numpy as np
from scipy.sparse import csr_matrix
from scipy.spatial.distance import cdist
from sklearn.covariance import ledoit_wolf, shrunk_covariance
from sklearn.neighbors import KDTree
from sklearn.utils import check_random_state

from sklearn_reject._response._network import row_norms, row_products, row_sums
from sklearn_reject._sklearn import _threadpool_controller_decorator
from sklearn_reject._typing import RandomState
from sklearn_reject._validation import (
    check_count,
    check_number,
    check_option,
    take_weight,
)
from sklearn_reject.scores._inputs import Inputs, InputScore
from sklearn_reject.scores._novelty import Function

# Numbers held at once.
_BLOCK_SIZE = 2**19

# The nearest one tells more than the fifth, by .03 of AUROC on eleven tabular sets with
# classes held back, whatever their size. But no fold can count four fifths of one: the
# nearest of all is nearer than one of a fold, and a TPR tuned to .80 was .84 of new
# samples. Of a share that all fits have it was .81. With three folds four fifths were
# too many, by .02, with two by .05.
_SHARE_FOR_NEAREST = 0.8

# Of 1e5 samples, 20 columns and logistic regression inside, that makes predict 90 times
# as long as the classifier's own. With 2,000 it is 70 times, and AUROC lower by .02 on
# letter, .015 on avila and covtype, .004 on pendigit and shuttle; all samples would add
# .06, .06, .07, .006 and nothing.
_MOST_SAMPLES = 3000


class KNN(InputScore):
    """Distance to the k-th nearest training sample (Sun et al., 2022).

    Of a network, distances are those of its last hidden layer, each sample scaled to
    Euclidean length one, so that they are in [0, 2]. Of any other classifier, they are
    those of what reaches it, each column scaled to mean zero and variance one over the
    training samples. Higher = more novel; exact to the rounding of float64.

    Parameters
    ----------
    n_neighbors : int or "auto", default="auto"
        Which nearest training sample counts, from 1. With sample weights, the nearest
        one within whose distance training samples weigh `n_neighbors` together, where
        weights are scaled to mean one. Folds that hold a share of the samples count the
        same share of it, rounded. "auto" is the nearest of four fifths of the samples
        of the final fit, drawn at random: as many as each of five folds has. Where
        folds have fewer, as two or three do, it is of as many as the smallest has.

    features : callable, default=None
        ``(estimator, X) -> (n_samples, n_features)``. None takes the last hidden layer
        of an MLPClassifier and, for another classifier, what reaches it (the output of
        the pipeline's last transformer). Of that, categories become indicators of 0
        and 1, and medians stand for missing numbers, beside an indicator of each column
        that misses some; a value that is missing where no training sample missed one
        adds one to the squared distance. More than 256 sparse columns are reduced to
        their 50 leading directions.

    normalize : bool or "auto", default="auto"
        True scales each sample to length one; a sample of zeros has no direction and
        stays as it is, at distance 1 of all others. False scales each column instead;
        one that is constant, and indicators, keep their unit. "auto" is True for hidden
        layers, for `features` and for sparse samples that are reduced, where the length
        says little, and False else, or if there is a single feature.

    max_samples : int, "auto" or None, default="auto"
        Most training samples to keep, drawn at random; `n_neighbors` is lowered with
        them, down to 1. "auto" is 3000, None keeps all.

    random_state : int, RandomState instance or None, default=0
        Source of that draw, and of the directions of sparse samples. With None an
        estimator around the score lends its own.

    Attributes
    ----------
    index_ : NeighbourIndex
        The distinct training samples that are kept, ready to be searched.

    n_neighbors_ : int
        Which nearest one of these counts.

    Raises
    ------
    ValueError
        If a parameter is invalid, if there are fewer than `n_neighbors` training
        samples, or if no finite numbers can be made of the samples.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn_reject.scores import KNN
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = LogisticRegression(max_iter=1000).fit(X, y)
    >>> score = KNN().fit(X, y, estimator=clf)
    >>> score.novelty([[5.1, 3.5, 1.4, 0.2], [5.1, 3.5, 1.4, 9.0]]).round(2)
    array([0.  , 9.08])
    """

    name = "knn"

    def __init__(
        self,
        n_neighbors: int | Literal["auto"] = "auto",
        features: Function | None = None,
        normalize: bool | Literal["auto"] = "auto",
        max_samples: int | Literal["auto"] | None = "auto",
        random_state: RandomState | None = 0,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.features = features
        self.normalize = normalize
        self.max_samples = max_samples
        self.random_state = random_state

    def learn(self, response, y, sample_weight, X_ood):
        check_option(self.normalize, "normalize", (True, False, "auto"))
        random_state = check_random_state(self.random_state)
        self._inputs_ = Inputs(self.features, random_state)
        features = self._inputs_.fit(response)
        n_samples, n_features = features.shape
        self._normalizes_ = self.normalize
        if isinstance(self.normalize, str):
            self._normalizes_ = self._inputs_.is_directed and n_features > 1
        n_kept, self.n_neighbors_ = self._count(n_samples)
        rows = slice(None)
        if n_kept < n_samples:
            rows = np.sort(random_state.permutation(n_samples)[:n_kept])
        if self._normalizes_:
            features = _normalize(features)
        else:
            features = self._inputs_.scale(features, sample_weight)
        self.index_ = NeighbourIndex(features[rows], take_weight(sample_weight, rows))

    def _count(self, n_samples):
        """Return how many samples to keep, and which neighbor among them counts."""
        n_final = most = max(1, round(n_samples / self.share_))
        if self.n_neighbors == "auto":
            share = min(_SHARE_FOR_NEAREST, self.least_share_)
            n_neighbors, most = 1, max(1, round(share * n_final))
        else:
            n_neighbors = check_count(self.n_neighbors, "n_neighbors")
        if self.max_samples is not None:
            given = _MOST_SAMPLES if self.max_samples == "auto" else self.max_samples
            most = min(most, check_count(given, "max_samples"))
        # Folds count like the final fit: half of the samples, half of the neighbors.
        if round(n_neighbors * self.share_) > n_samples:
            raise ValueError(
                f"n_neighbors={n_neighbors} is larger than the number of training "
                f"samples, {n_final}. Lower it, or use n_neighbors='auto'."
            )
        n_kept = min(n_samples, most)
        return n_kept, max(1, round(n_neighbors * n_kept / n_final))

    def compute(self, response):
        features, n_missing = self._inputs_.transform(response)
        if self._normalizes_:
            features = _normalize(features)
        distances = self.index_.kth_distances(features, self.n_neighbors_)
        return np.where(n_missing, np.hypot(distances, np.sqrt(n_missing)), distances)


def _normalize(features):
    """Return features scaled to length one; zeros stay as they are."""
    # Dividing by the largest entry first keeps squares from overflow and underflow.
    largest = np.abs(features).max(axis=1, keepdims=True)
    features = features / np.where(largest > 0, largest, 1)
    lengths = row_norms(features)[:, np.newaxis]
    return features / np.where(lengths > 0, lengths, 1)


# Up to so many dimensions, a tree looks at few points; beyond, products are faster.
_MOST_DIMENSIONS_FOR_TREE = 4

# What sums of weights may lack of the goal, as they are rounded.
_ROUNDING = 1e-9


class NeighbourIndex:
    """Vectors (n_points, n_features) ready to be searched for those near others.

    A product in float32 bounds the squared distances less the square of the query from
    below. All points whose bound is not above what the nearest may have are measured
    in fixed order: what is found does not depend on the other queries. Weights have
    mean one.
    """

    def __init__(self, points, weight=None):
        n_points, n_features = points.shape
        self.points = points
        self.weight = np.ones(n_points) if weight is None else weight / weight.mean()
        # The least that so many points weigh together, whichever they are.
        self._least_weights = np.cumsum(np.sort(self.weight))
        is_flat = n_features <= _MOST_DIMENSIONS_FOR_TREE
        self._tree = KDTree(points) if is_flat else None
        # What is short is rounded less: of products, by this times both lengths.
        self._center = points.mean(axis=0)
        self._error = (n_features + 5) * np.finfo(np.float32).eps
        centered = points - self._center
        lengths = row_norms(centered)
        squares = (1 - self._error) * lengths**2
        factors = [-2 * centered.T, squares, -2 * self._error * lengths]
        self._factors = np.vstack(factors).astype(np.float32)

    @_threadpool_controller_decorator(limits=1, user_api="blas")
    def kth_distances(self, queries, k):
        """Return the least distances (n_queries,) within which points weigh k."""
        n_points = len(self.points)
        n_needed = np.searchsorted(self._least_weights, k - _ROUNDING) + 1
        n_needed = min(n_needed, n_points)
        found, size = np.empty(len(queries)), max(1, _BLOCK_SIZE // n_points)
        for start in range(0, len(queries), size):
            rows = slice(start, start + size)
            if self._tree is not None:
                distances, columns = self._tree.query(queries[rows], n_needed)
            else:
                distances, columns = self._measure_near(queries[rows], n_needed)
            found[rows] = self._first_to_weigh(k, distances, columns)
        return found

    def _measure_near(self, queries, n_needed):
        """Return distances and columns of points, padded with infinity and zero."""
        n_queries, n_features = queries.shape
        row, column = self._find_near(queries, n_needed)
        measured, size = np.empty(len(row)), max(1, _BLOCK_SIZE // n_features)
        for start in range(0, len(row), size):
            pairs = slice(start, start + size)
            apart = queries[row[pairs]] - self.points[column[pairs]]
            measured[pairs] = np.sqrt(row_sums(apart**2))
        if len(row) == n_queries:
            return measured[:, np.newaxis], column[:, np.newaxis]
        place = np.arange(len(row)) - np.searchsorted(row, row)
        distances = np.full((n_queries, place.max() + 1), np.inf)
        columns = np.zeros(distances.shape, dtype=np.intp)
        distances[row, place], columns[row, place] = measured, column
        return distances, columns

    def _find_near(self, queries, n_needed):
        """Return rows and columns of all pairs that may be among the nearest."""
        centered = queries - self._center
        lengths = np.sqrt(row_sums(centered**2))
        parts = centered, np.ones(len(queries)), lengths
        # What is infinite or NaN in float32 is not known to be far.
        with np.errstate(over="ignore", invalid="ignore"):
            bounds = np.column_stack(parts).astype(np.float32) @ self._factors
            least = _at_least_kth(bounds, n_needed)
            # The points of the least bounds are not longer than that.
            longest = lengths + np.sqrt(np.maximum(least + lengths**2, 0))
            limit = least + 8 * self._error * longest**2 + np.finfo(np.float32).tiny
            is_far = bounds > limit.astype(np.float32)[:, np.newaxis]
        return np.divmod(np.flatnonzero(~is_far), len(self.points))

    def _first_to_weigh(self, k, distances, columns):
        """Return the distance within which the points of each row weigh k."""
        if distances.shape[1] == 1:
            return distances[:, 0]
        order = distances.argsort(axis=1, kind="stable")
        weight = np.take_along_axis(self.weight[columns], order, axis=1)
        reached = np.cumsum(weight, axis=1) >= k - _ROUNDING
        first = np.take_along_axis(order, reached.argmax(axis=1)[:, np.newaxis], axis=1)
        return np.take_along_axis(distances, first, axis=1)[:, 0]


def _at_least_kth(values, k):
    """Return the k-th smallest value of each row, or one that is little larger."""
    if k == 1:
        return values.min(axis=1)
    # Partitions are slow: the k-th of the least of groups is not below that of all.
    size = max(1, values.shape[1] // (16 * k))
    n_grouped = values.shape[1] // size * size
    least = values[:, :n_grouped].reshape(len(values), size, -1).min(axis=1)
    return np.partition(least, k - 1, axis=1)[:, k - 1]


class Mahalanobis(InputScore):
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
        of an MLPClassifier and, for another classifier, what reaches it, as
        :class:`KNN` does with ``normalize=False``.

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
        If `shrinkage` is invalid, if the covariance is singular, or if no finite
        numbers can be made of the samples.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn_reject.scores import Mahalanobis
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = LogisticRegression(max_iter=1000).fit(X, y)
    >>> score = Mahalanobis(shrinkage=0.1).fit(X, y, estimator=clf)
    >>> score.novelty([[5.1, 3.5, 1.4, 0.2], [5.1, 3.5, 1.4, 9.0]]).round(0)
    array([   0., 1343.])
    """

    name = "mahalanobis"

    needs_labels = True

    def __init__(
        self,
        shrinkage: float | Literal["auto"] = "auto",
        features: Function | None = None,
    ) -> None:
        self.shrinkage = shrinkage
        self.features = features

    def learn(self, response, y, sample_weight, X_ood):
        if self.shrinkage != "auto":
            check_number(self.shrinkage, "shrinkage", high=1)
        self._inputs_ = Inputs(self.features)
        features = self._inputs_.fit(response)
        if not self._inputs_.is_directed:
            features = self._inputs_.scale(features, sample_weight)
        self._learn_means(features, y, sample_weight)

    def _learn_means(self, features, y, sample_weight):
        self.means_, self.covariance_, self.shrinkage_ = fit_means(
            features, y, sample_weight, self.shrinkage
        )
        self.whitener_ = whiten(self.covariance_)

    def compute(self, response):
        features, n_missing = self._inputs_.transform(response)
        return self._distances(features) + n_missing

    def _distances(self, features):
        return nearest_mean(features, self.means_, self.whitener_)


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
    # cdist sums up each pair by itself, column by column.
    return cdist(features, means, "sqeuclidean").min(axis=1)


def whiten(covariance):
    """Return a factor A of the inverse, A A'."""
    values, vectors = np.linalg.eigh(covariance)
    if values[0] <= values[-1] * len(values) * np.finfo(float).eps:
        raise ValueError(
            "The covariance of the features is singular (its eigenvalues range from "
            f"{values[0]:g} to {values[-1]:g}). Increase shrinkage, remove features "
            "that are constant within each class, or pass more samples."
        )
    return vectors / np.sqrt(values)


class RelativeMahalanobis(Mahalanobis):
    """Mahalanobis distance to the nearest class minus that to all (Ren et al., 2021).

    The least of :class:`Mahalanobis` less (f - m)' S^-1 (f - m), where m is the mean of
    all training features and S their covariance about it, shrunk by the same share.
    What is unusual about a sample for any class, as it is in most directions of many
    features, cancels out. Without unit, higher = more novel; negative where a class
    explains the features better than all of them together.

    Parameters
    ----------
    shrinkage : "auto" or float, default="auto"
        How far each covariance is drawn to a multiple of the identity, in [0, 1].
        "auto" takes the share of Ledoit and Wolf (2004) for the one about the class
        means: shares of their own would leave what is to cancel out.

    features : callable, default=None
        ``(estimator, X) -> (n_samples, n_features)``. None takes the last hidden layer
        of an MLPClassifier, and the inputs of any other classifier.

    Attributes
    ----------
    means_ : ndarray of shape (n_classes, n_features)
        Mean of each class among the labels.

    covariance_ : ndarray of shape (n_features, n_features)
        The shrunk covariance about these means.

    shrinkage_ : float
        How far both covariances are drawn.

    whitener_ : ndarray of shape (n_features, n_features)
        Factor A of its inverse, A A'.

    background_mean_, background_covariance_, background_whitener_ : ndarray
        The same of all classes as one, with the mean of shape (1, n_features).

    Raises
    ------
    ValueError
        If `shrinkage` is invalid, if a covariance is singular, or if the features are
        sparse or not finite.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn_reject.scores import RelativeMahalanobis
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = LogisticRegression(max_iter=1000).fit(X, y)
    >>> score = RelativeMahalanobis(shrinkage=0.1).fit(X, y, estimator=clf)
    >>> score.novelty([[5.1, 3.5, 1.4, 0.2], [5.1, 3.5, 1.4, 9.0]]) > 0
    array([False,  True])
    """

    name = "relative_mahalanobis"

    def _learn_means(self, features, y, sample_weight):
        super()._learn_means(features, y, sample_weight)
        one_label = np.zeros(len(features))
        self.background_mean_, self.background_covariance_, _ = fit_means(
            features, one_label, sample_weight, self.shrinkage_
        )
        self.background_whitener_ = whiten(self.background_covariance_)

    def _distances(self, features):
        background = nearest_mean(
            features, self.background_mean_, self.background_whitener_
        )
        return super()._distances(features) - background
