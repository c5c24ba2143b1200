"""What all uncertainty scores have in common."""

from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from sklearn_reject._response import Response
from sklearn_reject._validation import check_vector


def forget(score):
    """Leave nothing behind of an earlier fit, in case that a new one fails."""
    for name in list(vars(score)):
        if name.endswith("_"):
            delattr(score, name)


class UncertaintyScore(BaseEstimator):
    """Base of all uncertainty scores: what a fitted one says about samples.

    A subclass writes `fit`, which sets `estimator_`, and `_uncertainty`, which gets a
    :class:`~sklearn_reject._response.Response` and returns one number a sample, higher
    = more uncertain. Derive from :class:`PlugInScore` or :class:`LearnedScore` rather
    than from this.

    Examples
    --------
    >>> from sklearn_reject.scores import Entropy, UncertaintyScore
    >>> isinstance(Entropy(), UncertaintyScore)
    True
    """

    #: What `uncertainty_score` may call it, once it is registered.
    name = None

    #: Whether the score estimates the conditional risk, so that it can be compared
    #: with a reject cost without any data.
    estimates_risk = False

    #: Whether `fit` learns from samples, which the classifier must not have seen.
    learns = False

    def uncertainty(self, X):
        """Return how uncertain the classifier's prediction is for each sample.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        uncertainty : ndarray of shape (n_samples,)
            Higher = more uncertain.
        """
        check_is_fitted(self, "estimator_")
        return self.from_response(Response(self.estimator_, X))

    def from_response(self, response):
        """Return the uncertainty of a response that is computed already.

        Parameters
        ----------
        response : Response
            What the classifier says about the samples.

        Returns
        -------
        uncertainty : ndarray of shape (n_samples,)
            Higher = more uncertain.
        """
        return check_vector(self._uncertainty(response), "uncertainty_score")

    def evaluate(self, response):
        """Return predictions, and how uncertain they are.

        Parameters
        ----------
        response : Response
            What the classifier says about the samples.

        Returns
        -------
        labels, uncertainty : ndarray of shape (n_samples,)
            What :meth:`labels` and :meth:`from_response` return.
        """
        # The uncertainty comes first: labels may follow from what it is read off.
        uncertainty = self.from_response(response)
        return self.labels(response), uncertainty

    def labels(self, response):
        """Return the predictions that the uncertainty is about.

        Parameters
        ----------
        response : Response
            What the classifier says about the samples.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            The classifier's own predictions, unless the score decides itself.
        """
        return response.labels
