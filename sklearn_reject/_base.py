"""What the meta-estimators that may reject have in common."""

from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from sklearn_reject._reject_label import mark_rejected
from sklearn_reject._response import Response
from sklearn_reject._sklearn_private import CallbackSupportMixin


def _inner_has(method):
    """Tell `available_if` whether the inner classifier has a method."""

    def check(self):
        # Raises the original AttributeError, which scikit-learn shows as the cause.
        getattr(getattr(self, "estimator_", self.estimator), method)
        return True

    return check


class BaseReject(CallbackSupportMixin, MetaEstimatorMixin, BaseEstimator):
    """Base of estimators that wrap another one and may reject samples.

    A subclass fits `estimator_`, `rule_` and `uncertainty_score_`.
    """

    _doc_link_module = "sklearn_reject"
    _doc_link_template = (
        "https://sklearn-reject.readthedocs.io/en/latest/generated/"
        "sklearn_reject.{estimator_name}.html"
    )

    def _doc_link_url_param_generator(self):
        return {"estimator_name": type(self).__name__}

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
        return self.uncertainty_score_.from_response(Response(self.estimator_, X))

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
        return self.rule_.accept_proba(uncertainty)

    def _accept(self, uncertainty):
        return self.rule_.accept(uncertainty, self.random_state)

    def _predict_with_uncertainty(self, X):
        """Return labels and uncertainty from one pass of the inner classifier."""
        check_is_fitted(self)
        return self.uncertainty_score_.judge(Response(self.estimator_, X))

    def _copy_feature_names(self):
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))
            else:
                vars(self).pop(name, None)

    def __sklearn_is_fitted__(self):
        return hasattr(self, "rule_")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.input_tags = inner.input_tags
        tags.non_deterministic = inner.non_deterministic
        return tags


class BaseRejectClassifier(ClassifierMixin, BaseReject):
    """Base of classifiers that wrap a classifier and may reject samples.

    A subclass fits `reject_label_`, too.
    """

    @property
    def classes_(self):
        """Class labels, ndarray of shape (n_classes,)."""
        return self.estimator_.classes_

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
        return self.uncertainty_score_.labels(Response(self.estimator_, X))

    @available_if(_inner_has("predict_proba"))
    def predict_proba(self, X):
        """Return the class probabilities of the inner classifier.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            Columns in the order of `classes_`.
        """
        check_is_fitted(self)
        return self.estimator_.predict_proba(X)

    @available_if(_inner_has("predict_log_proba"))
    def predict_log_proba(self, X):
        """Return the logarithms of the class probabilities of the inner classifier.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        log_probabilities : ndarray of shape (n_samples, n_classes)
            Columns in the order of `classes_`.
        """
        check_is_fitted(self)
        return self.estimator_.predict_log_proba(X)

    @available_if(_inner_has("decision_function"))
    def decision_function(self, X):
        """Return the decision values of the inner classifier.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        values : ndarray of shape (n_samples,) or (n_samples, n_classes)
            As the inner classifier defines them.
        """
        check_is_fitted(self)
        return self.estimator_.decision_function(X)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        if inner.classifier_tags is not None:
            tags.classifier_tags.multi_class = inner.classifier_tags.multi_class
        return tags
