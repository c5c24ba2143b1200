"""Classifiers and detectors, fitted and scored side by side, as one estimator."""

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils import Bunch, indexable
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    process_routing,
)
from sklearn.utils.validation import check_array, check_is_fitted

from sklearn_reject._estimators._joint_entries import (
    check_entry,
    is_detector,
    is_frozen,
    is_logged,
    learns_ratings,
    score_entry,
    select_columns,
)
from sklearn_reject._fitting import check_takes_weights, fit_in_context
from sklearn_reject._response import RESPONSE_METHODS
from sklearn_reject._sklearn import (
    CallbackSupportMixin,
    _check_method_params,
    _routing_enabled,
    _safe_indexing,
    with_callbacks,
)
from sklearn_reject._validation import check_option
from sklearn_reject.thresholds import check_scores, fill_missing


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
        """Whether nothing will be fitted."""
        return all(is_frozen(estimator) for _, estimator, _ in self.entries())

    @property
    def learns_ratings(self):
        """Whether a classifier will be fitted."""
        return any(learns_ratings(estimator) for _, estimator, _ in self.entries())

    def check(self):
        """Raise unless these are named classifiers that can be used, or None."""
        check_option(self.response_method, "response_method", RESPONSE_METHODS)
        if self.estimators is None:
            return
        if not isinstance(self.estimators, (list, tuple)) or not self.estimators:
            raise ValueError(
                "estimators must be a list of (name, classifier) or (name, classifier, "
                f"columns), or None if X contains the scores, got {self.estimators!r}."
            )
        for entry in self.estimators:
            check_entry(entry, self.response_method)

    @with_callbacks
    def fit(self, X, ratings, **params):
        """Fit a clone of each classifier on the rated documents, of a detector on all.

        Ratings are 1, 0, and -1 for unrated ones.
        """
        entries = self.entries()
        routed = self._route(params)
        rated = np.flatnonzero(ratings >= 0)
        labels = self.classes[ratings[rated]] if entries else None
        if self.learns_ratings and len(np.unique(labels)) < 2:
            raise ValueError(
                "cv: the rated documents of a training part have one class only, "
                f"{np.unique(labels).tolist()}. Use fewer or stratified folds, or rate "
                "more documents."
            )
        context = self._init_callback_context(
            max_subtasks=len(entries), sequential_subtasks=False
        )
        context.call_on_fit_task_begin(estimator=self, X=X, y=ratings)
        self.estimators_ = []
        for number, (name, estimator, columns) in enumerate(entries):
            if is_logged(estimator):
                self.estimators_.append(estimator)
                continue
            part, own, known = select_columns(X, columns, name), routed[name].fit, None
            if not is_detector(estimator):
                part, known = _safe_indexing(part, rated), labels
                own = _check_method_params(X, own, indices=rated)
            task = context.subcontext(task_name=f"fit-{name}", task_id=number)
            fitted = fit_in_context(clone(estimator), part, known, own, self, task)
            self.estimators_.append(fitted)
        context.call_on_fit_task_end(estimator=self, X=X, y=ratings)
        return self

    def scores(self, X):
        """Return the scores of all classifiers, shape (n_documents, n_classifiers)."""
        check_is_fitted(self, "estimators_")
        if self.estimators is None:
            return check_logged(X)
        [X] = indexable(X)
        scores = [
            score_entry(
                fitted,
                select_columns(X, columns, name),
                self.classes,
                self.response_method,
                name,
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
            if not is_logged(estimator):
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
            # Weights are those of ratings, which detectors do not learn from.
            takes_params = learns_ratings(estimator)
            if takes_params and params.get("sample_weight") is not None:
                check_takes_weights(estimator)
            routed[name] = Bunch(fit=params if takes_params else {})
        return routed


def check_logged(X):
    """Return a matrix of scores that were logged, NaN where something is masked."""
    X = check_array(fill_missing(X), dtype=np.float64, ensure_all_finite=False)
    return check_scores(X)
