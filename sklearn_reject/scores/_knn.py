"""Novelty as the distance to the nearest training features."""

import numpy as np

from sklearn_reject._validation import check_count
from sklearn_reject.scores._neighbours import NeighbourIndex
from sklearn_reject.scores._novelty_base import NoveltyScore
from sklearn_reject.scores._novelty_sources import find_features


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
        features = _normalize(find_features(response, self.features))
        if self.n_neighbors > len(features):
            raise ValueError(
                f"n_neighbors={self.n_neighbors} is larger than the number of training "
                f"samples, {len(features)}. Lower n_neighbors or give more samples."
            )
        self.index_ = NeighbourIndex(features, sample_weight)

    def _novelty(self, response):
        check_count(self.n_neighbors, "n_neighbors")
        features = _normalize(find_features(response, self.features))
        return self.index_.kth_distances(features, self.n_neighbors)


def _normalize(features):
    # Dividing by the largest entry first keeps squares from overflow and underflow.
    largest = np.abs(features).max(axis=1, keepdims=True)
    features = features / np.where(largest > 0, largest, 1)
    norms = np.sqrt(np.einsum("ij,ij->i", features, features))[:, np.newaxis]
    features /= np.where(norms > 0, norms, 1)
    return features
