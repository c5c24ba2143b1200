"""Classifiers, detectors and logged scores as one estimator, and its folds."""

from numbers import Integral
from typing import NamedTuple

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.frozen import FrozenEstimator
from sklearn.utils import Bunch, indexable
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    process_routing,
)
from sklearn.utils.validation import check_array

from sklearn_reject._fitting._folds import FoldScore, fit_in_context
from sklearn_reject._fitting._routing import check_takes_weights
from sklearn_reject._fitting._splits import (
    ALL_ROWS,
    Plan,
    check_cv_choice,
    check_splits,
    make_splits,
    plan_of_splits,
)
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
from sklearn_reject.exceptions import warn_user
from sklearn_reject.thresholds import check_scores, fill_missing


class Entry(NamedTuple):
    """One of the `estimators`: a classifier, a detector, or a column of scores."""

    name: str
    estimator: object
    columns: object = None

    @property
    def is_logged(self):
        """Whether the scores are a column of X."""
        return isinstance(self.estimator, str) and self.estimator == "passthrough"

    @property
    def is_detector(self):
        """Whether it tells how normal documents are."""
        has_scores = hasattr(self.estimator, "score_samples")
        return has_scores and not is_classifier(self.estimator)

    @property
    def is_frozen(self):
        """Whether nothing is to be fitted."""
        return self.is_logged or isinstance(self.estimator, FrozenEstimator)

    @property
    def learns_ratings(self):
        """Whether it is a classifier that is to be fitted."""
        return not self.is_frozen and not self.is_detector

    def check(self, response_method):
        """Raise where it has no scores."""
        estimator, method = self.estimator, response_method
        is_known = self.is_logged or self.is_detector or find_method(estimator, method)
        if isinstance(estimator, type) or not is_known:
            raise ValueError(
                f"estimators: {self.name!r} must be a classifier with scores "
                f"(response_method={method!r}; CalibratedClassifierCV adds "
                "probabilities), a detector with `score_samples` (LocalOutlierFactor: "
                f"novelty=True) or 'passthrough' for a column of X, got {estimator!r}."
            )

    def select(self, X):
        """Return the columns that it sees, all of them for None."""
        columns = self.columns(X) if callable(self.columns) else self.columns
        if columns is None:
            return X
        if issparse(X) and isinstance(columns, Integral):
            columns = [columns]  # sparse arrays have no vectors in an older SciPy
        try:
            return _safe_indexing(X, columns, axis=1)
        except (IndexError, KeyError, TypeError, ValueError) as error:
            raise ValueError(
                f"estimators: {self.name!r} cannot select columns of X: {error}"
            ) from error

    def score(self, fitted, X, classes, response_method):
        """Return scores (n_documents,), higher = more likely positive."""
        X, name = self.select(X), f"estimators: {self.name!r}"
        if self.is_detector:
            # High values are normal, and what is rare is not.
            X = -np.asarray(fitted.score_samples(X))
        elif not self.is_logged:
            options = {"name": name, "response_method": response_method}
            return positive_score(fitted, X, classes, **options)
        elif issparse(X):
            X = X.toarray()
        options = {"ensure_2d": False, "dtype": np.float64, "input_name": name}
        finite = "allow-nan" if self.is_logged else True
        scores = check_array(X, ensure_all_finite=finite, **options)
        if scores.size != len(scores):
            raise ValueError(
                f"{name} must have one score for each document, got an array of shape "
                f"{scores.shape}. Each column of X is an entry of its own."
            )
        return scores.ravel()


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
    def entries(self):
        """All classifiers, detectors and columns of scores."""
        return [Entry(*entry) for entry in self.estimators or ()]

    def check(self):
        """Raise unless these are named classifiers that can be used, or None."""
        check_option(self.response_method, "response_method", RESPONSE_METHODS)
        given = self.estimators
        if given is None:
            return
        is_list = isinstance(given, (list, tuple)) and len(given)
        if not is_list or not all(map(_is_entry, given)):
            raise ValueError(
                "estimators must be a list of (name, classifier) or (name, classifier, "
                f"columns), or None if X contains the scores, got {given!r}."
            )
        for entry in self.entries:
            entry.check(self.response_method)

    @with_callbacks
    def fit(self, X, ratings, **params):
        """Fit a clone of each classifier on the rated documents, of a detector on all.

        Ratings are 1, 0, and -1 for unrated ones.
        """
        routed, rated = self._route(params), np.flatnonzero(ratings >= 0)
        entries, labels = self.entries, self.classes[ratings[rated]]
        context = self._init_callback_context(max_subtasks=len(entries))
        context.call_on_fit_task_begin(estimator=self, X=X, y=ratings)
        self.estimators_ = [entry.estimator for entry in entries]
        for number, entry in enumerate(entries):
            if entry.is_logged:
                continue
            part, own, known = entry.select(X), routed[entry.name].fit, None
            if not entry.is_detector:
                part, known = _safe_indexing(part, rated), labels
                own = _check_method_params(X, own, indices=rated)
            task = context.subcontext(task_name=f"fit-{entry.name}")
            self.estimators_[number] = fit_in_context(
                clone(entry.estimator), part, known, own, self, task
            )
        context.call_on_fit_task_end(estimator=self, X=X, y=ratings)
        return self

    def scores(self, X):
        """Return the scores of all classifiers, shape (n_documents, n_classifiers)."""
        if self.estimators is None:
            X = check_array(fill_missing(X), dtype=np.float64, ensure_all_finite=False)
            return check_scores(X)
        [X] = indexable(np.asarray(X) if isinstance(X, list) else X)
        pairs = zip(self.entries, self.estimators_, strict=True)
        options = self.classes, self.response_method
        return np.column_stack([entry.score(own, X, *options) for entry, own in pairs])

    def get_metadata_routing(self):
        """Return where metadata go: to the `fit` of each classifier."""
        router = MetadataRouter(owner=self)
        to_fit = MethodMapping().add(caller="fit", callee="fit")
        for entry in self.entries:
            if not entry.is_logged:
                router.add(**{entry.name: entry.estimator}, method_mapping=to_fit)
        return router

    def _route(self, params):
        if _routing_enabled() and self.estimators is not None:
            return process_routing(self, "fit", **params)
        routed = Bunch()
        for entry in self.entries:
            # Weights are those of ratings, which detectors do not learn from.
            if entry.learns_ratings and params.get("sample_weight") is not None:
                check_takes_weights(entry.estimator)
            routed[entry.name] = Bunch(fit=params if entry.learns_ratings else {})
        return routed


def _is_entry(entry):
    is_sequence = isinstance(entry, (list, tuple)) and len(entry) in (2, 3)
    return is_sequence and isinstance(entry[0], str)


class JointEvaluation(FoldScore):
    """The scores of all classifiers, as they are."""

    def evaluate_response(self, response, y):
        """Return the scores of each document."""
        return (response.estimator.scores(response.X),)


# Folds are pairs of masks of the documents that have scores: those that tune thresholds
# again, and those that judge these.


def plan_jointly(tuner, joint, samples):
    """Return which documents fit and tune, and the splits that judge thresholds."""
    cv, is_frozen = tuner.cv, all(entry.is_frozen for entry in joint.entries)
    everything = Plan(ALL_ROWS, held_out=ALL_ROWS)
    if isinstance(cv, str) and cv == "prefit":
        if not is_frozen:
            raise ValueError(
                "cv='prefit' takes scores as they are, but some estimators are not "
                "fitted. Wrap fitted ones in FrozenEstimator, or use another cv."
            )
        return everything, ()
    check_cv_choice(tuner, learns=True)
    splits = make_splits(cv, samples, True, tuner.random_state)
    check_splits(splits)
    return everything if is_frozen else plan_of_splits(cv, splits), splits


def find_folds(documents, splits, rows):
    """Return the folds that judge the thresholds of the documents of some rows.

    A fold is judged by thresholds from what its own training part has of the others:
    all of them where folds are drawn, and the past where splits follow time. Where that
    lacks rated documents of a class it is not judged, nor any fold where none has some
    of both to judge, and a warning says so.
    """

    def has_both(mask):
        return len(np.unique(documents.is_positive[mask[documents.rows]])) == 2

    parts = [(np.setdiff1d(train, test), test) for train, test in splits]
    folds = [tuple(np.isin(rows, part) for part in pair) for pair in parts]
    # Nothing has a score before the first test part of splits that follow time.
    folds = [fold for fold in folds if fold[0].any() and fold[1].any()]
    usable = [fold for fold in folds if has_both(fold[0])]
    if usable and not has_both(np.any([judges for _, judges in usable], axis=0)):
        usable = []
    if len(usable) < len(folds):
        result = "does not count their documents" if usable else "is None"
        warn_user(
            f"cv: {len(folds) - len(usable)} of {len(folds)} folds leave no rated "
            "positives, or negatives, to tune or to judge the thresholds on, so "
            f"cross_validated_point_ {result}. Rate more, or use another cv."
        )
    return tuple(usable)
