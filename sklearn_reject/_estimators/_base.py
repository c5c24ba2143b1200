"""What the meta-estimators have in common, whatever they decide."""

import numpy as np
from sklearn.base import (
    BaseEstimator,
    ClassifierMixin,
    MetaEstimatorMixin,
    is_regressor,
)
from sklearn.frozen import FrozenEstimator
from sklearn.utils import assert_all_finite, get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d

from sklearn_reject._labels._rejected import mark_rejected
from sklearn_reject._response import Response
from sklearn_reject._sklearn import CallbackSupportMixin


def _inner_has(method):
    """Tell `available_if` whether the inner classifier has a method."""

    def check(self):
        # Raises the original AttributeError, which scikit-learn shows as the cause.
        getattr(getattr(self, "estimator_", self.estimator), method)
        return True

    return check


class Wrapper(CallbackSupportMixin, MetaEstimatorMixin, BaseEstimator):
    """Base of estimators that wrap another one, fitted as `estimator_`."""

    _doc_link_module = "sklearn_reject"
    _doc_link_template = (
        "https://sklearn-reject.readthedocs.io/en/latest/generated/"
        "sklearn_reject.{estimator_name}.html"
    )

    def _doc_link_url_param_generator(self):
        return {"estimator_name": type(self).__name__}

    def _copy_feature_names(self):
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))
            else:
                vars(self).pop(name, None)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.input_tags = inner.input_tags
        tags.non_deterministic = inner.non_deterministic
        return tags


class ClassifierWrapper(ClassifierMixin, Wrapper):
    """Base of classifiers that wrap a classifier."""

    #: What a user with a regressor may want, a sentence.
    _instead_of_regressor = ""

    @property
    def classes_(self):
        """Class labels, ndarray of shape (n_classes,)."""
        return self.estimator_.classes_

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

    def _check_y(self, y):
        y = column_or_1d(y, warn=True)
        assert_all_finite(y, input_name="y")
        check_classification_targets(y)
        return y

    def _find_classes(self, y):
        """Return the classes that the inner classifier will have."""
        if isinstance(self.estimator, FrozenEstimator):
            check_is_fitted(self.estimator)
            return np.asarray(self.estimator.classes_)
        return np.unique(y)

    def _check_kind(self):
        if is_regressor(self.estimator):
            raise ValueError(
                "estimator must be a classifier, got the regressor "
                f"{self.estimator!r}.{self._instead_of_regressor}"
            )

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        if inner.classifier_tags is not None:
            tags.classifier_tags.multi_class = inner.classifier_tags.multi_class
        return tags


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
        rule = self._threshold_rule()
        return rule.accept(uncertainty, random_state=self.random_state)

    def _threshold_rule(self):
        """Return the rule that compares the uncertainty with a threshold."""
        return self.rule_

    def _uncertainty(self, response):
        return self.uncertainty_score_.from_response(response)

    def _labels(self, response):
        return self.uncertainty_score_.labels(response)

    def _judge(self, response):
        """Return labels and uncertainty."""
        return self.uncertainty_score_.evaluate(response)

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
