"""Novelty by a virtual logit: the part of the features that training data leave out."""

import numpy as np

from sklearn_reject.scores._logit_scores import free_energy
from sklearn_reject.scores._novelty_base import NoveltyScore
from sklearn_reject.scores._novelty_sources import find_features, find_logits
from sklearn_reject.scores._residual import find_origin, fit_residual_space

# A residual that is smaller, relative to the features, is nothing but rounding.
_SMALLEST_RESIDUAL = 1e-12


class ViM(NoveltyScore):
    """Virtual logit against the logits (Wang et al., 2022).

    alpha r(x) - log sum_y exp(z_y(x)), where r(x) is the distance of the features to
    their principal subspace on the training sample, and alpha makes the mean of alpha
    r there equal to the mean of max_y z_y. In units of the logits, higher = more novel.

    Parameters
    ----------
    n_components : int, default=None
        Dimension of the principal subspace. None follows the authors: 1000 of at least
        2048 features, 512 of at least 768, else half of them.

    features : callable, default=None
        ``(estimator, X) -> (n_samples, n_features)``. None takes the last hidden layer
        of an MLPClassifier and, for another classifier, what reaches it.

    logits : callable, default=None
        ``(estimator, X) -> (n_samples, n_classes)``. None takes those of the
        classifier.

    Attributes
    ----------
    space_ : ResidualSpace
        The origin and what is orthogonal to the principal subspace. The origin is minus
        the pseudo-inverse of the last layer's weights times its intercepts. Without a
        known last layer, and with `features`, it is the mean of the features.

    alpha_ : float
        Factor of the distance.

    Raises
    ------
    ValueError
        If a parameter is invalid, if the classifier has no logits, if the training
        features lie in the principal subspace, if the mean of the largest logit is not
        positive, or if a callable returns another shape or values that are not finite.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn_reject.scores import ViM
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = LogisticRegression(max_iter=1000).fit(X, y)
    >>> score = ViM().fit(X, y, estimator=clf)
    >>> score.novelty([[5.1, 3.5, 1.4, 0.2], [5.1, 3.5, 1.4, 9.0]]).round(0)
    array([ -7., 122.])
    """

    needs_samples = True
    takes_sparse = False

    def __init__(self, n_components=None, features=None, logits=None):
        self.n_components = n_components
        self.features = features
        self.logits = logits

    def _fit(self, response, y, sample_weight, X_ood):
        features = find_features(response, self.features)
        head = response.head if self.features is None else None
        origin = find_origin(features, head, sample_weight)
        self.space_ = fit_residual_space(
            features, origin, self.n_components, sample_weight
        )
        largest = find_logits(response, self.logits).max(axis=1)
        self.alpha_ = _match(
            np.average(largest, weights=sample_weight),
            np.average(self.space_.norms(features), weights=sample_weight),
            np.abs(features - origin).max(),
        )

    def _novelty(self, response):
        features = find_features(response, self.features)
        virtual = self.alpha_ * self.space_.norms(features)
        return virtual + free_energy(find_logits(response, self.logits))


def _match(logit, residual, scale):
    """Return the factor that makes the mean residual equal to the mean logit."""
    if residual <= _SMALLEST_RESIDUAL * scale:
        raise ValueError(
            "n_components is so large that the training features lie in the principal "
            f"subspace: their mean residual is {residual:g}. Lower n_components, or "
            "use novelty_score='energy', which has no residual."
        )
    if logit <= 0:
        raise ValueError(
            f"The mean of the largest logit is {logit:g} on the training samples, and "
            "the virtual logit cannot be matched to what is not positive. Use another "
            "novelty_score, such as 'knn', or pass `logits`."
        )
    return float(logit / residual)
