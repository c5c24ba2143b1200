"""Novelty as the energy of logits that extreme activations cannot dominate."""

import numpy as np

from sklearn_reject._validation import check_number
from sklearn_reject.scores._logit_scores import free_energy
from sklearn_reject.scores._novelty_base import NoveltyScore
from sklearn_reject.scores._novelty_sources import call, check_columns, find_features


class ReAct(NoveltyScore):
    """Free energy of the logits of features clipped from above (Sun et al., 2021).

    Features larger than c are set to c, a percentile of all features of all training
    samples together; the last layer makes logits z of them, and the score is - log
    sum_y exp(z_y). In units of the logits, higher = more novel. It is meant for the
    last hidden layer of a network, whose units share a scale; before a linear
    classifier, scale the features alike.

    Parameters
    ----------
    percentile : float, default=90.0
        In [0, 100]. c is the least value such that at least so many percent of all
        features, by sample weight, are not larger.

    features : callable, default=None
        ``(estimator, X) -> (n_samples, n_features)``, used with `head`. None takes the
        last hidden layer of an MLPClassifier and, for another classifier, what reaches
        it.

    head : callable, default=None
        ``(estimator, features) -> (n_samples, n_classes)``, the last layer. None takes
        that of an MLPClassifier or of a linear classifier of scikit-learn.

    Attributes
    ----------
    threshold_ : float
        The c above which features are clipped.

    Raises
    ------
    ValueError
        If `percentile` is invalid, if the last layer is not known, if features are
        sparse, or if a callable returns another shape or values that are not finite.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn_reject.scores import ReAct
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = LogisticRegression(max_iter=1000).fit(X, y)
    >>> score = ReAct().fit(X, y, estimator=clf)
    >>> score.threshold_
    6.2
    >>> score.novelty(X[[0, 70]]).round(1)
    array([-7.4, -2.5])
    """

    needs_samples = True
    takes_sparse = False

    def __init__(self, percentile=90.0, features=None, head=None):
        self.percentile = percentile
        self.features = features
        self.head = head

    def _fit(self, response, y, sample_weight, X_ood):
        percentile = check_number(self.percentile, "percentile", high=100)
        self._check_has_head(response)
        features = find_features(response, self.features)
        self.threshold_ = _find_percentile(features, percentile, sample_weight)

    def _check_has_head(self, response):
        if self.head is not None:
            return
        if self.features is not None:
            raise ValueError(
                "features is a function, and what makes logits of them is not known. "
                "Pass a callable (estimator, features) -> (n_samples, n_classes) as "
                "`head` too."
            )
        if response.head is None:
            raise ValueError(
                f"ReAct needs the last layer, which {type(response.model).__name__} "
                "does not have. Use an MLPClassifier or a linear classifier of "
                "scikit-learn, pass a callable (estimator, features) -> (n_samples, "
                "n_classes) as `head`, or use another novelty_score."
            )

    def _novelty(self, response):
        self._check_has_head(response)
        clipped = np.minimum(find_features(response, self.features), self.threshold_)
        if self.head is None:
            return free_energy(response.head(clipped))
        logits = call(self.head, "head", response.estimator, clipped)
        return free_energy(check_columns(logits, "head", response))


def _find_percentile(features, percentile, weight):
    """Return the least value with such a share of weight at or below it."""
    n_samples, n_features = features.shape
    weight = np.ones(n_samples) if weight is None else weight
    order = features.ravel().argsort()
    shares = np.cumsum(np.repeat(weight, n_features)[order])
    # What rounding adds to a share must not shift it to the next value.
    goal = percentile / 100 * shares[-1] * (1 - 1e-12)
    position = min(np.searchsorted(shares, goal), features.size - 1)
    return float(features.ravel()[order[position]])
