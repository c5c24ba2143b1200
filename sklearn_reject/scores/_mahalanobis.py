"""Novelty as the distance to the nearest class mean, measured by the covariance."""

from numbers import Real

import numpy as np
from scipy.sparse import csr_matrix
from scipy.spatial.distance import cdist
from sklearn.covariance import ledoit_wolf, shrunk_covariance
from sklearn.utils import gen_batches

from sklearn_reject._validation import check_number, check_option
from sklearn_reject.scores._novelty_base import NoveltyScore
from sklearn_reject.scores._novelty_sources import find_features

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
        features = find_features(response, self.features)
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
        features = (find_features(response, self.features) - center) @ self.whitener_
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
