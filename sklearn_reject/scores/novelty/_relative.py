"""Distances to class means, less those to the mean of all training samples."""

from __future__ import annotations

import numpy as np

from sklearn_reject.scores.novelty._distances import (
    Mahalanobis,
    fit_means,
    nearest_mean,
    whiten,
)


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
