"""Several classifiers, fitted on the documents that were rated, as one estimator."""

import numpy as np
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.frozen import FrozenEstimator
from sklearn.utils import Bunch, indexable
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    process_routing,
)
from sklearn.utils.validation import check_array, check_is_fitted

from sklearn_reject._fitting import check_takes_weights, fit_in_context
from sklearn_reject._response import RESPONSE_METHODS, find_method, positive_score
from sklearn_reject._sklearn import (
    CallbackSupportMixin,
    _check_method_params,
    _routing_enabled,
    _safe_indexing,
    with_callbacks,
)
from sklearn_reject._validation import check_option


class JointScores(CallbackSupportMixin, BaseEstimator):
    """Classifiers fitted on the rated documents, and their scores side by side.

    `estimators` and `response_method` are those of the tuner; `classes` are the
    negative and the positive one.
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
        """Raise unless these are named classifiers that can be used, or None."""
        check_option(self.response_method, "response_method", RESPONSE_METHODS)
        if self.estimators is None:
            return
        if not isinstance(self.estimators, (list, tuple)) or not self.estimators:
            raise ValueError(
                "estimators must be a list of (name, classifier) or (name, classifier, "
                f"columns), or None where X has the scores, got {self.estimators!r}."
            )
        for entry in self.estimators:
            _check_entry(entry, self.response_method)

    @with_callbacks
    def fit(self, X, ratings, **params):
        """Fit a clone of each classifier on the documents that were rated.

        Ratings are 1, 0, and -1 for unrated ones.
        """
        entries = self.entries()
        routed = self._route(params)
        rated = np.flatnonzero(ratings >= 0)
        labels = self.classes[ratings[rated]] if entries else None
        if entries and len(np.unique(labels)) < 2:
            raise ValueError(
                "cv: the rated documents of a training part are of one class only, "
                f"{np.unique(labels).tolist()}. Use fewer or stratified folds, or rate "
                "more documents."
            )
        context = self._init_callback_context(
            max_subtasks=len(entries), sequential_subtasks=False
        )
        context.call_on_fit_task_begin(estimator=self, X=X, y=ratings)
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
        """Return the scores of all classifiers, shape (n_documents, n_classifiers)."""
        check_is_fitted(self, "estimators_")
        if self.estimators is None:
            return check_array(X, dtype=np.float64)
        [X] = indexable(X)
        scores = [
            positive_score(
                fitted,
                _select(X, columns, name),
                self.classes,
                response_method=self.response_method,
                name=f"estimators: {name!r}",
            )
            for (name, _, columns), fitted in zip(
                self.entries(), self.estimators_, strict=True
            )
        ]
        return np.column_stack(scores)

    def get_metadata_routing(self):
        """Return where metadata go: to the `fit` of each classifier."""
        router = MetadataRouter(owner=self)
        to_fit = MethodMapping().add(caller="fit", callee="fit")
        for name, estimator, _ in self.entries():
            router.add(**{name: estimator}, method_mapping=to_fit)
        return router

    def __sklearn_is_fitted__(self):
        return hasattr(self, "estimators_")

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


def _check_entry(entry, response_method):
    is_entry = isinstance(entry, (list, tuple)) and len(entry) in (2, 3)
    if not is_entry or not isinstance(entry[0], str):
        raise ValueError(
            "estimators must hold (name, classifier) or (name, classifier, "
            f"columns), got {entry!r}."
        )
    name, estimator = f"estimators: {entry[0]!r}", entry[1]
    if isinstance(estimator, type) or not hasattr(estimator, "fit"):
        raise ValueError(
            f"{name} must be an instance of a classifier with `fit`, got {estimator!r}."
        )
    if hasattr(estimator, "__sklearn_tags__") and not is_classifier(estimator):
        raise ValueError(
            f"{name} must be a classifier, got {estimator!r}. Scores of something else "
            "can be logged, and passed as X with estimators=None."
        )
    if isinstance(estimator, FrozenEstimator):
        check_is_fitted(estimator)
    find_method(estimator, response_method, name)


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
            f"estimators: {name!r} cannot have the columns {columns!r} of X: {error}"
        ) from error
