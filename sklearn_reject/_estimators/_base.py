"""What scikit-learn asks of every meta-estimator, and of every one that rejects."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.frozen import FrozenEstimator
from sklearn.utils import assert_all_finite, get_tags, indexable
from sklearn.utils.metadata_routing import MetadataRouter
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d

from sklearn_reject._curves._risk_coverage import aurc_score
from sklearn_reject._estimators._groups import column_names, labels_of
from sklearn_reject._fitting._folds import Samples
from sklearn_reject._fitting._routing import read_sampling, route_of_fit
from sklearn_reject._labels import mark_rejected
from sklearn_reject._response._keys import row_keys, user_keys
from sklearn_reject._response._response import Response
from sklearn_reject._sklearn import CallbackSupportMixin, available_if
from sklearn_reject._typing import MatrixLike, Other
from sklearn_reject._validation import (
    as_label_array,
    check_sample_weight,
    refuse_missing_labels,
    refuse_unmapped,
    require_in_memory,
)
from sklearn_reject.exceptions import warn_user
from sklearn_reject.losses import TaskLoss
from sklearn_reject.scores import (
    UncertaintyScore,
    evaluate_score,
    find_labels,
    resolve_score,
)
from sklearn_reject.selection import GroupedRule, enumerate_labels, keyed_draws


class FittedMixin:
    """What a meta-estimator keeps of its fit: parameters, and copies that share it."""

    def _require_fit(self, X=None):
        """Raise unless this is fitted, and for rows X of a Dask collection.

        Asking for its tags, as `check_is_fitted` does, would resolve its score anew.
        """
        refuse_unmapped(X)
        if not self.__sklearn_is_fitted__():
            check_is_fitted(self)

    def _keep_params(self):
        """Keep the parameters that this is fitted with, which may be set later."""
        self._asked = {
            name: dict(value) if isinstance(value, Mapping) else value
            for name, value in self.get_params(deep=False).items()
        }

    def _as_fitted(self):
        """Return a copy whose parameters are those that it was fitted with."""
        self._require_fit()
        twin = copy(self)
        vars(twin).update(self._asked)
        return twin

    def _copy_fitted(self, params, allowed):
        """Return a copy with other parameters that shares what has been fitted.

        Parameters are cloned: what is set inside those of one is not set in the other.
        """
        self._require_fit()
        unknown = sorted(params.keys() - set(allowed))
        if unknown:
            raise TypeError(
                f"retarget takes {', '.join(allowed)}, got {unknown[0]!r}. To change "
                "another parameter, use set_params and fit again."
            )
        needs_none = isinstance(self.cv, str)  # the plug-in rule
        if vars(self).get("calibration_", self) is None and not needs_none:
            raise ValueError(
                "retarget needs `calibration_`, which is None: it was dropped, or cv "
                "was 'plug_in' in fit. Fit again, with another cv than 'plug_in'."
            )
        twin = copy(self)
        for name, value in (self.get_params(deep=False) | params).items():
            # Splits may come from a generator, of which there can be no second one, and
            # a copy of a callable would be another one.
            is_shared = name in ("cv", "group_by")
            setattr(twin, name, value if is_shared else clone(value, safe=False))
        twin._keep_params()
        return twin

    def _fitted_columns(self, X):
        """Return the columns of a data frame that were fitted, in their order.

        A transformer that picks columns by their names takes them in any order, and
        with others beside them. Draws are made by the values of a row, which are then
        the same.
        """
        names, given = list(getattr(self, "feature_names_in_", ())), column_names(X)
        is_complete = len(set(given)) == len(given) and set(names) <= set(given)
        if not names or given == names or not is_complete:
            return X
        # Arrow has its own way.
        return X.select(names) if hasattr(X, "column_names") else X[names]


def inner_has(method):
    """Tell `available_if` whether the inner classifier has a method."""

    def check(self):
        # Raises the original AttributeError, which scikit-learn shows as the cause.
        getattr(getattr(self, "estimator_", self.estimator), method)
        return True

    return check


class BaseWrapper(FittedMixin, CallbackSupportMixin, MetaEstimatorMixin, BaseEstimator):
    """Base of estimators that wrap another one, fitted as `estimator_`."""

    estimator_: Any
    n_features_in_: int
    feature_names_in_: np.ndarray

    def get_metadata_routing(self) -> MetadataRouter:
        """Return where metadata go: to this `fit`, the estimator and the splitter.

        Returns
        -------
        routing : MetadataRouter
            The routing.
        """
        return route_of_fit(self, estimator=self.estimator)

    def _store(self, inner, **attributes):
        """Set what a successful fit found; a fit that fails changes nothing."""
        self.estimator_ = inner
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(inner, name):
                attributes[name] = getattr(inner, name)
            else:
                vars(self).pop(name, None)
        vars(self).update(attributes)
        self._keep_params()
        return self

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.input_tags = inner.input_tags
        tags.non_deterministic = inner.non_deterministic
        return tags


class ClassifierWrapper(ClassifierMixin, BaseWrapper):
    """Base of classifiers that wrap a classifier."""

    @property
    def classes_(self) -> np.ndarray:
        """Class labels, ndarray of shape (n_classes,)."""
        return self.estimator_.classes_

    @available_if(inner_has("predict_proba"))
    def predict_proba(self, X: MatrixLike) -> np.ndarray:
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
        self._require_fit(X)
        return self.estimator_.predict_proba(X)

    @available_if(inner_has("predict_log_proba"))
    def predict_log_proba(self, X: MatrixLike) -> np.ndarray:
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
        self._require_fit(X)
        return self.estimator_.predict_log_proba(X)

    @available_if(inner_has("decision_function"))
    def decision_function(self, X: MatrixLike) -> np.ndarray:
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
        self._require_fit(X)
        return self.estimator_.decision_function(X)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        if inner.classifier_tags is not None:
            tags.classifier_tags.multi_class = inner.classifier_tags.multi_class
        return tags


def read_samples(X, y, params, check_y):
    """Return samples and labels, checked and as they can be indexed."""
    require_in_memory(X=X, y=y, **params)
    X, y = indexable(X, y)
    return X, check_y(y)


def read_sampled(owner, X, y, params, check_y, route=None):
    """Return labelled samples with their weights and clusters, and other parameters.

    A `route` says where those of a fit go; without one, there is none.
    """
    require_in_memory(X=X, y=y, **params)
    given = owner, *indexable(X, y), params
    is_fit, others = route is not None, ()
    X, y, params, factor, clusters = read_sampling(*given, is_fit=is_fit)
    y = check_y(y)
    if is_fit:
        weight, *others = route(owner, len(y), params)
    else:
        weight = check_sample_weight(params["sample_weight"], len(y))
    if factor is not None:
        weight = factor if weight is None else weight * factor
    return Samples(X, y, weight, *others, clusters=clusters), params


def check_class_labels(y):
    """Return class labels as a vector, or raise if they are anything else."""
    y = column_or_1d(as_label_array(y), warn=True)
    if y.dtype.kind == "O":
        refuse_missing_labels(y, "y")
    assert_all_finite(y, input_name="y")
    check_classification_targets(y)
    return y


def find_classes(estimator, y, kind="classifier"):
    """Return the classes that a classifier has or, fitted on y, will have, or None."""
    is_frozen = isinstance(estimator, FrozenEstimator)
    if is_frozen:
        check_is_fitted(estimator)
    if kind == "regressor":
        return None
    return np.asarray(estimator.classes_) if is_frozen else np.unique(y)


def warn_of_lost_classes(estimator, inner, classes):
    """Warn of classes all of whose samples are held out, so that none was fitted on."""
    lost = sorted(set(classes.tolist()) - set(inner.classes_.tolist()), key=str)
    if lost and not isinstance(estimator.estimator, FrozenEstimator):
        warn_user(
            f"The classifier was fitted without the classes {enumerate_labels(lost)}, "
            "which are never predicted: all of their samples were held out, as these "
            "are drawn without regard to classes where a guarantee is asked for. Hold "
            "a smaller share out with cv, pass more samples of these classes, or merge "
            "them with others."
        )


class Decisions(NamedTuple):
    """What an estimator that rejects says about samples, all of it.

    The arrays have one entry per sample, so that
    ``pandas.DataFrame(decisions._asdict())`` is a table of them.

    Attributes
    ----------
    label : ndarray of shape (n_samples,) or (n_samples, n_outputs)
        The label of each sample, or the prediction of a regressor, rejected or not.

    uncertainty : ndarray of shape (n_samples,)
        Higher = more uncertain.

    accepted : ndarray of shape (n_samples,), dtype bool
        Whether the prediction is to be trusted.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn_reject import Decisions, SelectiveClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> selective = SelectiveClassifier(GaussianNB(), target_coverage=0.9).fit(X, y)
    >>> decisions = selective.predict_all(X[[0, 77]])
    >>> isinstance(decisions, Decisions)
    True
    >>> decisions.label, decisions.accepted
    (array([0, 2]), array([ True, False]))
    """

    label: np.ndarray
    uncertainty: np.ndarray
    accepted: np.ndarray


def _has_confidence(certificate):
    """Tell whether draws decided about the calibration set for a certificate.

    What holds on average does so whatever the draws are.
    """
    found = certificate.values() if isinstance(certificate, dict) else [certificate]
    return any(
        each is not None and getattr(each, "confidence_level", True) is not None
        for each in found
    )


def draw_rows(probability, X, keys, seed):
    """Return which rows happen, each with its probability, by draws of their own.

    Only rows that may or may not happen are hashed, where `keys` is None.
    """
    happens = probability == 1
    open_rows = np.flatnonzero((probability > 0) & (probability < 1))
    if len(open_rows):
        keys = row_keys(X, open_rows) if keys is None else keys[open_rows]
        happens[open_rows] = keyed_draws(seed, keys) < probability[open_rows]
    return happens


def check_keys(X, keys, rule):
    """Return the keys of a user as those of rows, None where there are none."""
    if keys is None:
        return None
    if _has_confidence(rule.certificate):
        raise ValueError(
            "keys cannot be combined with a confidence. The calibration set was "
            "decided with draws from the values in X, and the certificate holds for "
            "such draws only. Omit keys."
        )
    return user_keys(keys, X)


def takes_sparse(score, estimator, resolve=resolve_score):
    """Tell whether a score, as the user gave it, works on sparse samples."""
    try:
        score = resolve(score, estimator)
    except (TypeError, ValueError):  # `fit` will say what is wrong with it
        return True
    return getattr(score, "takes_sparse", True)


class RejectMixin:
    """What estimators with a `rule_` decide about samples.

    They decide by an `uncertainty_score_`, unless what reads it is written anew, and
    fit `estimator_`, `rule_` and `seed_`.
    """

    _score_name, _share_name, _verb = "uncertainty_score_", "coverage", "accepts"

    uncertainty_score_: UncertaintyScore | Other
    loss_: TaskLoss
    seed_: int

    def uncertainty(self, X: MatrixLike) -> np.ndarray:
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
        return self._predict_with_uncertainty(X)[1]

    def accept(self, X: MatrixLike, keys: ArrayLike | None = None) -> np.ndarray:
        """Tell which samples are accepted.

        A sample at the threshold is accepted or not by a draw that depends on the
        fitted `seed_` and on the sample alone: the answer is the same in every call,
        whatever the other samples are.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Samples.

        keys : array-like of shape (n_samples,), default=None
            An integer or text for each sample, such as its identifier, that the draw
            depends on instead of the values in X: samples of equal values then have
            independent draws. Not where the rule has a certificate.

        Returns
        -------
        accepted : ndarray of shape (n_samples,), dtype bool
            Whether the prediction is to be trusted.
        """
        return self.predict_all(X, keys).accepted

    def accept_proba(self, X: MatrixLike) -> np.ndarray:
        """Return the probability that each sample is accepted.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        probability : ndarray of shape (n_samples,)
            0 or 1 except for samples at the threshold; over the seeds of `fit`, or over
            samples of different `keys`.
        """
        self._require_fit()
        return self._probability(X, *self._evaluate(Response(self.estimator_, X)))

    def predict_all(self, X: MatrixLike, keys: ArrayLike | None = None) -> Decisions:
        """Predict, and tell how uncertain the predictions are and which are accepted.

        The estimator inside predicts once, where separate calls repeat it.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Samples.

        keys : array-like of shape (n_samples,), default=None
            What the draws at the threshold depend on, as in :meth:`accept`.

        Returns
        -------
        decisions : Decisions
            A named tuple of `label`, of all samples, rejected or not, `uncertainty` and
            `accepted`, arrays with one entry per sample.
        """
        self._require_fit()
        keys = check_keys(X, keys, self.rule_)
        labels, scores = self._evaluate(Response(self.estimator_, X))
        accepted = self._accept(X, labels, scores, keys)
        return Decisions(labels, self._combine(scores), accepted)

    def _predict_with_uncertainty(self, X):
        """Return labels and uncertainty of one pass, whatever the rule does."""
        self._require_fit()
        labels, scores = self._evaluate(Response(self.estimator_, X))
        return labels, self._combine(scores)

    def _evaluate(self, response):
        """Return labels and scores of one pass of the inner estimator."""
        return evaluate_score(self.uncertainty_score_, response)

    def _labels(self, response):
        """Return labels alone."""
        return find_labels(self.uncertainty_score_, response)

    def _combine(self, scores):
        """Return the uncertainty that scores stand for."""
        return scores

    def _probability(self, X, labels, scores):
        """Return how likely samples of these labels and scores are accepted."""
        if isinstance(self.rule_, GroupedRule):
            groups = labels_of(self.group_by_, X, labels)
            return self.rule_.accept_proba(scores, groups)
        return self.rule_.accept_proba(scores)

    def _accept(self, X, labels, scores, keys):
        """Return whether samples are accepted."""
        probability = self._probability(X, labels, scores)
        return draw_rows(probability, self._fitted_columns(X), keys, self.seed_)

    def __sklearn_is_fitted__(self):
        return hasattr(self, "rule_")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        if not takes_sparse(self.uncertainty_score, self.estimator):
            tags.input_tags.sparse = False
        return tags

    def score(
        self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> float:
        """Return the negative area under the risk-coverage curve.

        It tells how well the uncertainty orders the losses, whatever the threshold, so
        that no search over hyper-parameters can win by rejecting everything.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Samples.

        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            True labels or targets.

        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative sample weights.

        Returns
        -------
        score : float
            At most zero, higher is better.
        """
        require_in_memory(X=X, y=y, sample_weight=sample_weight)
        labels, uncertainty = self._predict_with_uncertainty(X)
        losses = self.loss_(y, labels)
        return -aurc_score(uncertainty, losses, sample_weight=sample_weight)


class RejectClassifier(RejectMixin, ClassifierWrapper):
    """Base of classifiers that wrap a classifier and reject, with `reject_label_`."""

    reject_label_: Any

    def predict(self, X: MatrixLike, keys: ArrayLike | None = None) -> np.ndarray:
        """Predict labels, `reject_label_` for samples that are rejected.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Samples.

        keys : array-like of shape (n_samples,), default=None
            What the draws at the threshold depend on, as in :meth:`accept`.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            Labels, in a dtype that holds the classes and the reject label.
        """
        self._require_fit()
        keys = check_keys(X, keys, self.rule_)
        labels, scores = self._evaluate(Response(self.estimator_, X))
        if self.reject_label_ is None:
            return labels
        accepted = self._accept(X, labels, scores, keys)
        return mark_rejected(labels, accepted, self.reject_label_)

    def predict_label(self, X: MatrixLike) -> np.ndarray:
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
        self._require_fit()
        return self._labels(Response(self.estimator_, X))
