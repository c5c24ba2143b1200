"""What the meta-estimators that may reject have in common."""

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sklearn_reject._reject_label import mark_rejected
from sklearn_reject._response import Response
from sklearn_reject._wrapper import ClassifierWrapper, Wrapper


class BaseReject(Wrapper):
    """Base of estimators that wrap another one and may reject samples.

    A subclass fits `estimator_`, `rule_` and either `uncertainty_score_` or what its
    own `_uncertainty`, `_judge` and `_labels` of a response need.
    """

    def uncertainty(self, X):
        """Return how uncertain the prediction of each sample is.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        uncertainty : ndarray of shape (n_samples,)
            Higher = more uncertain.
        """
        check_is_fitted(self)
        return self._uncertainty(Response(self.estimator_, X))

    def accept(self, X):
        """Tell which samples are accepted, drawing where the rule randomizes.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        accepted : ndarray of shape (n_samples,), dtype bool
            Whether the prediction is to be trusted.
        """
        return self._accept(self.uncertainty(X))

    def accept_proba(self, X):
        """Return the probability that each sample is accepted.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        probability : ndarray of shape (n_samples,)
            0 or 1 except for samples exactly at the threshold.
        """
        uncertainty = self.uncertainty(X)
        return self._threshold_rule().accept_proba(uncertainty)

    def _accept(self, uncertainty):
        return self._threshold_rule().accept(uncertainty, self.random_state)

    def _threshold_rule(self):
        """Return the rule that compares the uncertainty with a threshold."""
        return self.rule_

    def _uncertainty(self, response):
        return self.uncertainty_score_.from_response(response)

    def _labels(self, response):
        return self.uncertainty_score_.labels(response)

    def _judge(self, response):
        """Return labels and uncertainty."""
        return self.uncertainty_score_.judge(response)

    def _predict_with_uncertainty(self, X):
        """Return labels and uncertainty from one pass of the inner classifier."""
        check_is_fitted(self)
        return self._judge(Response(self.estimator_, X))

    def __sklearn_is_fitted__(self):
        return hasattr(self, "rule_")


class BaseRejectClassifier(ClassifierWrapper, BaseReject):
    """Base of classifiers that wrap a classifier and may reject samples.

    A subclass fits `reject_label_` and `loss_`, too, and sets `_classes` before.
    """

    _instead_of_regressor = " Use SelectiveRegressor."

    def predict(self, X):
        """Predict labels, `reject_label_` for samples that are rejected.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            Labels, in a dtype that holds the classes and the reject label.
        """
        labels, uncertainty = self._predict_with_uncertainty(X)
        if self.reject_label_ is None:
            return labels
        return mark_rejected(labels, self._accept(uncertainty), self.reject_label_)

    def predict_label(self, X):
        """Predict labels for all samples, rejected or not.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            Class labels.
        """
        check_is_fitted(self)
        return self._labels(Response(self.estimator_, X))

    def _bound_of_losses(self, general):
        """Return how to bound a risk, judged by all losses that are possible.

        It is `general` where some loss is neither zero nor the largest.
        """
        losses = self.loss_.matrix(self._classes)
        largest = losses.max()
        is_binary = np.isin(losses, (0.0, largest)).all()
        bound = "binomial" if is_binary else general
        return {"bound": bound, "max_loss": largest or 1.0}
