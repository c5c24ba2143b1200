"""What all novelty scores have in common."""

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import indexable
from sklearn.utils.validation import check_is_fitted

from sklearn_reject._response import Response
from sklearn_reject._sklearn_private import _num_samples, _safe_indexing
from sklearn_reject._validation import (
    check_extended_vector,
    check_same_length,
    check_sample_weight,
    take_weight,
)
from sklearn_reject.scores._base import forget


class NoveltyScore(BaseEstimator):
    """Base of all novelty scores: how far samples are from those of the classifier.

    A subclass writes `_novelty`, which gets a
    :class:`~sklearn_reject._response.Response` and returns one number a sample, higher
    = more novel, and, if it learns from samples, `_fit`. That gets the response to the
    ID samples, their labels, their positive weights, and the OOD samples. What is not
    given is None, the `X` of the response too. It sets attributes whose names end with
    an underscore.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn_reject.scores import NoveltyScore
    >>> class DistanceFromMean(NoveltyScore):
    ...     needs_samples = True
    ...
    ...     def _fit(self, response, y, sample_weight, X_ood):
    ...         features = response.features
    ...         self.mean_ = np.average(features, axis=0, weights=sample_weight)
    ...
    ...     def _novelty(self, response):
    ...         return np.linalg.norm(response.features - self.mean_, axis=1)
    >>> X, y = load_iris(return_X_y=True)
    >>> score = DistanceFromMean().fit(X, y, estimator=GaussianNB().fit(X, y))
    >>> score.novelty(X[[0, 70]]).round(2)
    array([2.7 , 1.21])
    """

    #: Whether `fit` needs ID samples.
    needs_samples = False

    #: Whether `fit` needs the labels of the ID samples.
    needs_labels = False

    #: Whether `fit` needs OOD samples.
    needs_ood = False

    #: Whether the score works on a sparse matrix of samples as it is.
    takes_sparse = True

    def fit(self, X=None, y=None, *, estimator, X_ood=None, sample_weight=None):
        """Learn what the samples of the classifier look like.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features), \
                default=None
            ID samples, normally those that the classifier was fitted on.

        y : array-like of shape (n_samples,), default=None
            Their labels.

        estimator : estimator
            Fitted classifier.

        X_ood : {array-like, sparse matrix, dataframe} of shape (n_ood, n_features), \
                default=None
            OOD samples.

        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights of the ID samples. Those of weight zero are left out.

        Returns
        -------
        self : object
            The fitted score.

        Raises
        ------
        ValueError
            If a parameter is invalid, if something is missing that the score needs, or
            if the classifier lacks it.
        """
        check_is_fitted(estimator)
        forget(self)
        self._check_needs(X=X, y=y, X_ood=X_ood)
        X, y, weight = _take_present(X, y, sample_weight)
        self._fit(Response(estimator, X), y, weight, X_ood)
        self.estimator_ = estimator
        return self

    def _fit(self, response, y, sample_weight, X_ood):
        """Learn from ID samples and, maybe, OOD samples."""

    def _check_needs(self, **given):
        needs = {
            "X": (self.needs_samples, "ID samples, normally the training samples"),
            "y": (self.needs_labels, "labels of the ID samples"),
            "X_ood": (self.needs_ood, "OOD samples, in each fold where there are some"),
        }
        for name, (is_needed, meaning) in needs.items():
            if is_needed and given[name] is None:
                raise ValueError(
                    f"{name} is None: {type(self).__name__} is fitted on {meaning}. "
                    f"Pass them as `{name}` to fit."
                )

    def novelty(self, X):
        """Return how unlike the classifier's samples each sample is.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        novelty : ndarray of shape (n_samples,)
            Higher = more novel. May be infinite: minus infinity is accepted by every
            threshold, infinity by none.
        """
        check_is_fitted(self, "estimator_")
        return self.from_response(Response(self.estimator_, X))

    def from_response(self, response):
        """Return the novelty of samples whose response is computed already.

        Parameters
        ----------
        response : Response
            What the classifier says about the samples.

        Returns
        -------
        novelty : ndarray of shape (n_samples,)
            Higher = more novel. May be infinite, never NaN.
        """
        check_is_fitted(self, "estimator_")
        return check_extended_vector(self._novelty(response), "novelty_score")


def _take_present(X, y, sample_weight):
    """Return the samples, labels and weights where the weight is positive."""
    if X is None:
        return None, None, None
    y = None if y is None else np.asarray(y)
    n_samples = _num_samples(X)
    if y is not None:
        check_same_length(n_samples, y=y)
    weight = check_sample_weight(sample_weight, n_samples)
    if weight is None or weight.all():
        return X, y, weight
    rows = np.flatnonzero(weight)
    (X,) = indexable(X)
    return _safe_indexing(X, rows), take_weight(y, rows), take_weight(weight, rows)
