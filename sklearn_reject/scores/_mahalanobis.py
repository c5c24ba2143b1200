"""Distances to class means, by the covariance about them."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import Any, Literal

import numpy as np
from scipy.sparse import csr_matrix
from scipy.spatial.distance import cdist
from sklearn.covariance import ledoit_wolf, shrunk_covariance
from sklearn.utils import gen_batches

from sklearn_reject._response._network import row_products
from sklearn_reject._typing import Estimator, MatrixLike
from sklearn_reject._validation import (
    check_number,
    check_option,
)
from sklearn_reject.scores._inputs import Inputs, Scaler, check_samples
from sklearn_reject.scores._neighbors import _BLOCK_SIZE
from sklearn_reject.scores._novelty import NoveltyScore


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

    needs_samples = True
    needs_labels = True

    means_: np.ndarray
    covariance_: np.ndarray
    shrinkage_: float
    whitener_: np.ndarray

    def __init__(
        self,
        shrinkage: float | Literal["auto"] = "auto",
        features: Callable[..., Any] | None = None,
    ) -> None:
        self.shrinkage = shrinkage
        self.features = features

    def check(self, estimator: Estimator, X: MatrixLike) -> None:
        super().check(estimator, X)
        check_samples(self, estimator, X)

    def _fit(self, response, y, sample_weight, X_ood):
        if not isinstance(self.shrinkage, Real) or isinstance(self.shrinkage, bool):
            check_option(self.shrinkage, "shrinkage", ("auto",))
        else:
            check_number(self.shrinkage, "shrinkage", high=1)
        self._inputs_, self._scaler_ = Inputs(self.features, random_state=0), None
        features = self._inputs_.fit(response)
        if not self._inputs_.is_directed:
            self._scaler_ = Scaler()
            is_number = self._inputs_.is_number
            features = self._scaler_.fit(features, is_number, sample_weight)
        self._learn(features, y, sample_weight)

    def _learn(self, features, y, sample_weight):
        """Learn from features, labels, and weights or None."""
        self.means_, self.covariance_, self.shrinkage_ = fit_means(
            features, y, sample_weight, self.shrinkage
        )
        self.whitener_ = whiten(self.covariance_)

    def _novelty(self, response):
        features, n_missing = self._inputs_.transform(response)
        if self._scaler_ is not None:
            features = self._scaler_.transform(features)
        return self._distances(features) + n_missing

    def _distances(self, features):
        """Return the novelty of features, shape (n_samples,)."""
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
            "The covariance of the features is singular, so some distances would be "
            f"infinite. Its eigenvalues range from {values[0]:g} to {values[-1]:g}. "
            "Increase shrinkage, remove features that are constant within each class, "
            "or pass more samples."
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

    means_: np.ndarray
    covariance_: np.ndarray
    shrinkage_: float
    whitener_: np.ndarray
    background_mean_: np.ndarray
    background_covariance_: np.ndarray
    background_whitener_: np.ndarray

    def _learn(self, features, y, sample_weight):
        super()._learn(features, y, sample_weight)
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
