"""Classifiers, detectors and logged scores, fitted and scored as one estimator."""

from numbers import Integral
from typing import NamedTuple

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, clone, is_classifier, is_outlier_detector
from sklearn.frozen import FrozenEstimator
from sklearn.utils import Bunch, indexable
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    process_routing,
)
from sklearn.utils.validation import check_array, check_is_fitted

from sklearn_reject._fitting._folds import fit_in_context
from sklearn_reject._fitting._routing import check_takes_weights
from sklearn_reject._response._positive import (
    RESPONSE_METHODS,
    find_method,
    positive_score,
)
from sklearn_reject._sklearn import (
    CallbackSupportMixin,
    _check_method_params,
    _routing_enabled,
    _safe_indexing,
    with_callbacks,
)
from sklearn_reject._validation import check_option
from sklearn_reject.thresholds import check_scores, fill_missing

#: Stands for the classifier where its scores are a column of X.
PASSTHROUGH = "passthrough"


class Entry(NamedTuple):
    """One of the `estimators`: a classifier, a detector, or a column of scores."""

    name: str
    estimator: object
    columns: object = None

    @property
    def is_logged(self):
        """Whether the scores are a column of X."""
        return isinstance(self.estimator, str) and self.estimator == PASSTHROUGH

    @property
    def is_frozen(self):
        """Whether nothing is to be fitted."""
        return self.is_logged or isinstance(self.estimator, FrozenEstimator)

    @property
    def is_detector(self):
        """Whether it learns without ratings what is normal."""
        estimator = self.estimator
        if not hasattr(estimator, "__sklearn_tags__") or is_classifier(estimator):
            return False
        return is_outlier_detector(estimator) or hasattr(estimator, "score_samples")

    @property
    def learns_ratings(self):
        """Whether it is a classifier that is to be fitted."""
        return not self.is_frozen and not self.is_detector

    def check(self, response_method):
        """Raise where it has no scores."""
        name, estimator = f"estimators: {self.name!r}", self.estimator
        if self.is_logged:
            if self.columns is None:
                raise ValueError(
                    f"{name} is {PASSTHROUGH!r}, which takes scores from a column of "
                    f"X. Name it, as in ({self.name!r}, {PASSTHROUGH!r}, column)."
                )
            return
        if isinstance(estimator, type) or not hasattr(estimator, "fit"):
            raise ValueError(
                f"{name} must be an instance of a classifier with `fit`, got "
                f"{estimator!r}."
            )
        if isinstance(estimator, FrozenEstimator):
            check_is_fitted(estimator)
        if self.is_detector:
            if not hasattr(estimator, "score_samples"):
                raise ValueError(
                    f"{name} has no scores: {estimator!r} has no `score_samples` for "
                    "new documents. LocalOutlierFactor has it with novelty=True."
                )
        elif hasattr(estimator, "__sklearn_tags__") and not is_classifier(estimator):
            raise ValueError(
                f"{name} must be a classifier, or a detector with `score_samples`, got "
                f"{estimator!r}. Other scores can be logged as a column of X and used "
                f"as ({self.name!r}, {PASSTHROUGH!r}, column)."
            )
        else:
            find_method(estimator, response_method, name)

    def select(self, X):
        """Return the columns that it sees, all of them for None."""
        columns = self.columns
        if columns is None:
            return X
        if isinstance(X, list):
            X = np.asarray(X)
        try:
            columns = columns(X) if callable(columns) else columns
            if issparse(X) and isinstance(columns, Integral):
                columns = [columns]  # sparse arrays have no vectors in an older SciPy
            return _safe_indexing(X, columns, axis=1)
        except (IndexError, KeyError, TypeError, ValueError) as error:
            raise ValueError(
                f"estimators: {self.name!r} cannot select the columns {columns!r} of "
                f"X: {error}"
            ) from error

    def score(self, fitted, X, classes, response_method):
        """Return scores (n_documents,), higher = more likely positive."""
        X, name = self.select(X), f"estimators: {self.name!r}"
        if self.is_logged:
            return _check_column(X.toarray() if hasattr(X, "toarray") else X, name)
        if not self.is_detector:
            options = {"response_method": response_method, "name": name}
            return positive_score(fitted, X, classes, **options)
        # High values are normal, and what is rare is not.
        scores = -np.asarray(fitted.score_samples(X))
        name = f"score_samples of {name}"
        scores = check_array(scores, ensure_2d=False, dtype=np.float64, input_name=name)
        if scores.size != len(scores):
            raise ValueError(
                f"estimators: {self.name!r} must have one score for each document, but "
                f"`score_samples` returns an array of shape {scores.shape}."
            )
        return scores.ravel()


def _check_column(X, name):
    """Return a column of X as scores, NaN where nothing was logged."""
    options = {"ensure_2d": False, "ensure_all_finite": "allow-nan"}
    try:
        scores = check_array(X, dtype=np.float64, **options)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} takes a column without scores: {error}") from error
    if scores.size != len(scores):
        raise ValueError(
            f"{name} takes one column of X as scores, got {scores.shape[1]}. Make each "
            "column a separate entry with its own name."
        )
    return scores.ravel()


def check_logged(X):
    """Return a matrix of scores that were logged, NaN where something is masked."""
    X = check_array(fill_missing(X), dtype=np.float64, ensure_all_finite=False)
    return check_scores(X)


class JointScores(CallbackSupportMixin, BaseEstimator):
    """Classifiers fitted on the rated documents, and their scores side by side.

    `estimators` and `response_method` are those of the tuner; `classes` are the
    negative and the positive one.
    """

    def __init__(self, estimators, *, classes=None, response_method="auto"):
        self.estimators = estimators
        self.classes = classes
        self.response_method = response_method

    def entries(self):
        """Return all classifiers, detectors and columns of scores."""
        return [Entry(*entry) for entry in self.estimators or ()]

    @property
    def is_frozen(self):
        """Whether nothing will be fitted."""
        return all(entry.is_frozen for entry in self.entries())

    @property
    def learns_ratings(self):
        """Whether a classifier will be fitted."""
        return any(entry.learns_ratings for entry in self.entries())

    def check(self):
        """Raise unless these are named classifiers that can be used, or None."""
        check_option(self.response_method, "response_method", RESPONSE_METHODS)
        if self.estimators is None:
            return
        forms = "(name, classifier) or (name, classifier, columns)"
        if not isinstance(self.estimators, (list, tuple)) or not self.estimators:
            raise ValueError(
                f"estimators must be a list of {forms}, or None if X contains the "
                f"scores, got {self.estimators!r}."
            )
        for entry in self.estimators:
            is_entry = isinstance(entry, (list, tuple)) and len(entry) in (2, 3)
            if not is_entry or not isinstance(entry[0], str):
                raise ValueError(f"estimators must hold {forms}, got {entry!r}.")
            Entry(*entry).check(self.response_method)

    @with_callbacks
    def fit(self, X, ratings, **params):
        """Fit a clone of each classifier on the rated documents, of a detector on all.

        Ratings are 1, 0, and -1 for unrated ones.
        """
        entries, routed = self.entries(), self._route(params)
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
        self.estimators_ = [entry.estimator for entry in entries]
        for number, entry in enumerate(entries):
            if entry.is_logged:
                continue
            part, own, known = entry.select(X), routed[entry.name].fit, None
            if not entry.is_detector:
                part, known = _safe_indexing(part, rated), labels
                own = _check_method_params(X, own, indices=rated)
            task = context.subcontext(task_name=f"fit-{entry.name}", task_id=number)
            self.estimators_[number] = fit_in_context(
                clone(entry.estimator), part, known, own, self, task
            )
        context.call_on_fit_task_end(estimator=self, X=X, y=ratings)
        return self

    def scores(self, X):
        """Return the scores of all classifiers, shape (n_documents, n_classifiers)."""
        check_is_fitted(self, "estimators_")
        if self.estimators is None:
            return check_logged(X)
        [X] = indexable(X)
        pairs = zip(self.entries(), self.estimators_, strict=True)
        options = self.classes, self.response_method
        return np.column_stack([entry.score(own, X, *options) for entry, own in pairs])

    def get_metadata_routing(self):
        """Return where metadata go: to the `fit` of each classifier."""
        router = MetadataRouter(owner=self)
        to_fit = MethodMapping().add(caller="fit", callee="fit")
        for entry in self.entries():
            if not entry.is_logged:
                router.add(**{entry.name: entry.estimator}, method_mapping=to_fit)
        return router

    def __sklearn_is_fitted__(self):
        return hasattr(self, "estimators_")

    def _route(self, params):
        if _routing_enabled() and self.estimators is not None:
            return process_routing(self, "fit", **params)
        routed = Bunch()
        for entry in self.entries():
            # Weights are those of ratings, which detectors do not learn from.
            takes_params = entry.learns_ratings
            if takes_params and params.get("sample_weight") is not None:
                check_takes_weights(entry.estimator)
            routed[entry.name] = Bunch(fit=params if takes_params else {})
        return routed
