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

from sklearn_reject._sklearn_private import CallbackSupportMixin


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
