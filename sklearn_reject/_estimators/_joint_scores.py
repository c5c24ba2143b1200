"""Several classifiers, fitted on the documents that were rated, as one estimator."""

import numpy as np
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.frozen import FrozenEstimator
from sklearn.utils import Bunch, get_tags, indexable
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    process_routing,
)
from sklearn.utils.validation import check_array, check_is_fitted

from sklearn_reject._fitting import begin_fits, check_takes_weights, fit_in_context
from sklearn_reject._response import find_method, positive_score
from sklearn_reject._sklearn import (
    CallbackSupportMixin,
    _check_method_params,
    _routing_enabled,
    _safe_indexing,
    with_callbacks,
)


class JointScores(CallbackSupportMixin, BaseEstimator):
    """Classifiers fitted on the rated documents, and their scores side by side.

    Parameters
    ----------
    estimators : list of tuple or None
        (name, classifier) or (name, classifier, columns). None where X has the scores.

    classes : ndarray of shape (2,), default=None
        The negative and the positive class.

    response_method : {"auto", "predict_proba", "decision_function"}, default="auto"
        Where scores come from; "auto" takes the first of the two that there is.
    """

    def __init__(self, estimators, *, classes=None, response_method="auto"):
        self.estimators = estimators
        self.classes = classes
        self.response_method = response_method

    @property
    def is_frozen(self):
        """Whether no classifier will be fitted."""
        return all(isinstance(entry[1], FrozenEstimator) for entry in self.entries())

    def check(self):
        """Raise for classifiers that cannot be used."""
        for name, estimator, _ in self.entries():
            _check_is_classifier(name, estimator)
            find_method(estimator, self.response_method, _call(name))

    @with_callbacks
    def fit(self, X, ratings, **params):
        """Fit a clone of each classifier on the documents that were rated.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_documents, n_features)
            Documents.

        ratings : ndarray of shape (n_documents,)
            1, 0, and -1 for unrated ones.

        **params : dict
            Parameters for the `fit` of the classifiers.

        Returns
        -------
        self : object
            The fitted classifiers.
        """
        routed = self._route(params)
        rated = np.flatnonzero(ratings >= 0)
        entries = self.entries()
        labels = self.classes[ratings[rated]] if entries else None
        _check_two_classes(labels)
        context = begin_fits(self, X, ratings, n_fits=len(entries))
        self.estimators_ = []
        for number, (name, estimator, columns) in enumerate(entries):
            part = _safe_indexing(_select(X, columns, name), rated)
            own = _check_method_params(X, routed[name].fit, indices=rated)
            task = context.subcontext(task_name=f"fit-{name}", task_id=number)
            fitted = fit_in_context(clone(estimator), part, labels, own, self, task)
            self.estimators_.append(fitted)
        context.call_on_fit_task_end(estimator=self, X=X, y=ratings)
        return self

    def scores(self, X):
        """Return the scores of all classifiers.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_documents, n_features)
            Documents.

        Returns
        -------
        scores : ndarray of shape (n_documents, n_classifiers)
            Higher = more likely positive.
        """
        check_is_fitted(self, "estimators_")
        if self.estimators is None:
            return check_array(X, dtype=np.float64)
        [X] = indexable(X)
        columns = [
            self._score(name, fitted, _select(X, columns, name))
            for (name, _, columns), fitted in zip(
                self.entries(), self.estimators_, strict=True
            )
        ]
        return np.column_stack(columns)

    def get_metadata_routing(self):
        """Return where metadata go: to the `fit` of each classifier.

        Returns
        -------
        routing : MetadataRouter
            The routing.
        """
        router = MetadataRouter(owner=self)
        to_fit = MethodMapping().add(caller="fit", callee="fit")
        for name, estimator, _ in self.entries():
            router.add(**{name: estimator}, method_mapping=to_fit)
        return router

    def __sklearn_is_fitted__(self):
        return hasattr(self, "estimators_")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        # Tags are asked for before the entries have been checked.
        items = self.estimators if isinstance(self.estimators, (list, tuple)) else ()
        inner = [
            get_tags(item[1])
            for item in items
            if isinstance(item, (list, tuple)) and hasattr(item[1], "fit")
        ]
        tags.input_tags.sparse = bool(inner) and all(t.input_tags.sparse for t in inner)
        tags.input_tags.allow_nan = bool(inner) and all(
            t.input_tags.allow_nan for t in inner
        )
        tags.non_deterministic = any(t.non_deterministic for t in inner)
        return tags

    def entries(self):
        """Return name, classifier and columns of each classifier."""
        return [(*entry, None)[:3] for entry in self.estimators or ()]

    def _route(self, params):
        if _routing_enabled() and self.estimators is not None:
            return process_routing(self, "fit", **params)
        routed = Bunch()
        for name, estimator, _ in self.entries():
            is_frozen = isinstance(estimator, FrozenEstimator)
            if not is_frozen and params.get("sample_weight") is not None:
                check_takes_weights(estimator)
            routed[name] = Bunch(fit={} if is_frozen else params)
        return routed

    def _score(self, name, estimator, X):
        return positive_score(
            estimator,
            X,
            self.classes,
            response_method=self.response_method,
            name=_call(name),
        )


def check_entries(estimators):
    """Raise unless these are named classifiers, or None."""
    if estimators is None:
        return
    if not isinstance(estimators, (list, tuple)) or not estimators:
        raise ValueError(
            "estimators must be a list of (name, classifier) or (name, classifier, "
            f"columns), or None where X has the scores, got {estimators!r}."
        )
    for entry in estimators:
        is_entry = isinstance(entry, (list, tuple)) and len(entry) in (2, 3)
        if not is_entry or not isinstance(entry[0], str):
            raise ValueError(
                "estimators must hold (name, classifier) or (name, classifier, "
                f"columns), got {entry!r}."
            )


def _check_is_classifier(name, estimator):
    if isinstance(estimator, type) or not hasattr(estimator, "fit"):
        raise ValueError(
            f"{_call(name)} must be an instance of a classifier with `fit`, got "
            f"{estimator!r}."
        )
    if hasattr(estimator, "__sklearn_tags__") and not is_classifier(estimator):
        raise ValueError(
            f"{_call(name)} must be a classifier, got {estimator!r}. Scores of "
            "something else can be logged, and passed as X with estimators=None."
        )
    if isinstance(estimator, FrozenEstimator):
        check_is_fitted(estimator)


def _check_two_classes(labels):
    if labels is not None and len(np.unique(labels)) < 2:
        raise ValueError(
            "cv: the rated documents of a training part are of one class only, "
            f"{np.unique(labels).tolist()}. Use fewer or stratified folds, or rate "
            "more documents."
        )


def _select(X, columns, name):
    if columns is None:
        return X
    if isinstance(X, list):
        X = np.asarray(X)
    try:
        columns = columns(X) if callable(columns) else columns
        return _safe_indexing(X, columns, axis=1)
    except (IndexError, KeyError, TypeError, ValueError) as error:
        raise ValueError(
            f"{_call(name)} cannot have the columns {columns!r} of X: {error}"
        ) from error


def _call(name):
    """Return what errors call a classifier."""
    return f"estimators: {name!r}"
