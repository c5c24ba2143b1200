"""Scores of the positive class, probabilities of items, and classes that are new."""

import numpy as np
from scipy.sparse import issparse
from sklearn.ensemble import StackingClassifier
from sklearn.utils.validation import check_array

from sklearn_reject._response._response import Response
from sklearn_reject._validation import index_labels
from sklearn_reject.decoding import as_flags, check_probabilities
from sklearn_reject.exceptions import warn_user

#: "auto" is the first of the others that a classifier has.
RESPONSE_METHODS = ("auto", "predict_proba", "decision_function")

_NAME = "predict_proba of the estimator"

# How far the probabilities of the classes of a sample may be from adding up to one.
_MISSING_MASS = 1e-3


def find_method(estimator, response_method):
    """Return the name of the method that scores come from, None if it is missing."""
    is_auto = response_method == "auto"
    methods = RESPONSE_METHODS[1:] if is_auto else (response_method,)
    return next((method for method in methods if hasattr(estimator, method)), None)


def positive_score(estimator, X, classes, *, name, response_method="auto"):
    """Return how likely a classifier finds each document to be positive.

    The classes are the negative and the positive one; scores (n_documents,) are finite,
    higher = more likely positive. Errors call the classifier by `name`.
    """
    # As lists: old versions of NumPy warn where text is compared with numbers.
    known = np.ravel(getattr(estimator, "classes_", ())).tolist()
    wanted = classes.tolist()
    if len(known) != 2 or set(known) != set(wanted):
        raise ValueError(
            f"{name} has the classes {known}, but the rated documents have {wanted}. "
            "Fit it on documents of both: check unrated_label, or use fewer folds."
        )
    method = find_method(estimator, response_method)
    if method is None:
        raise ValueError(
            f"{name} has no scores, neither `predict_proba` nor `decision_function`. "
            "Wrap it in CalibratedClassifierCV to get probabilities."
        )
    scores, name = np.asarray(getattr(estimator, method)(X)), f"{method} of {name}"
    if method == "predict_proba":
        scores = scores[:, known.index(wanted[1])]
    elif known[0] == wanted[1]:
        scores = -scores
    return check_array(scores, ensure_2d=False, dtype=np.float64, input_name=name)


def item_probabilities(estimator, X, classes=None):
    """Return the probabilities (n_samples, n_columns) of classes or labels.

    Columns are in the order of the classes; one that the classifier has not seen has
    probability zero. Without classes they are several labels a sample.
    """
    if not hasattr(estimator, "predict_proba"):
        raise ValueError(
            f"estimator must be a classifier with `predict_proba`, got {estimator!r}. "
            "Wrap it in CalibratedClassifierCV to get probabilities."
        )
    if classes is None:
        return check_probabilities(_of_labels(estimator, X), _NAME, ndim=(2,))
    proba = check_probabilities(estimator.predict_proba(X), _NAME, ndim=(2,))
    seen, total = np.asarray(estimator.classes_), proba.sum(axis=1)
    row = np.argmax(np.abs(total - 1))
    if proba.shape[1] != len(seen) or abs(total[row] - 1) > _MISSING_MASS:
        raise ValueError(
            f"{_NAME} must have a column for each of {len(seen)} classes, which add up "
            f"to one, got shape {proba.shape} and {total[row]:g} in row {row}. Use "
            "another classifier."
        )
    if np.array_equal(seen, classes):
        return proba
    eta = np.zeros((len(proba), len(classes)))
    eta[:, index_labels(seen, classes)[0]] = proba
    return eta


def _of_labels(estimator, X):
    """Return the probability of one for each label, from whatever form it has."""
    if isinstance(Response(estimator, None).model, StackingClassifier):
        raise ValueError(
            "StackingClassifier returns the probability that a label is *absent*, or "
            "fails. Stack within each label, as in "
            "MultiOutputClassifier(StackingClassifier())."
        )
    proba = estimator.predict_proba(X)
    if not isinstance(proba, list):
        return proba.toarray() if issparse(proba) else proba
    # Each label is a classifier of its own.
    pairs = zip(proba, estimator.classes_, strict=True)
    return np.column_stack([_positive_column(*pair) for pair in pairs])


def _positive_column(proba, classes):
    flags = as_flags(classes)
    if flags is not None and flags.shape == (1,):
        return np.full(len(proba), float(flags[0]))
    if flags is None or proba.shape[1:] != flags.shape:
        raise ValueError(
            f"{_NAME} has shape {proba.shape} for a label with the classes {classes}, "
            "which must be 0 and 1. If y is sparse, pass `y.toarray()`."
        )
    return proba[:, flags].sum(axis=1)


def refuse_unknown(unknown, classes):
    """Raise for labels that are not among the classes of an estimator."""
    raise ValueError(
        f"y holds the label {unknown.tolist()[0]!r}, which is not one of the classes "
        f"{classes.tolist()} of the estimator."
    )


def with_unseen(classes, y):
    """Return the classes of a fitted classifier and those of y, sorted.

    Warn of classes that only y has, as of a fold of few samples; raise where labels are
    of another kind, or several and all of them others.
    """
    y = np.asarray(y)
    _, unknown = index_labels(y, classes)
    if not unknown.any():
        return classes
    unseen = np.unique(y[unknown])
    is_other_kind = isinstance(unseen[0], str) != isinstance(classes[0], str)
    if is_other_kind or (unknown.all() and len(unseen) > 1):
        refuse_unknown(unseen, classes)
    warn_user(
        f"y holds labels that were not in y of fit, {unseen.tolist()}. They count as "
        "missed. Stratified folds keep rare classes in all of them."
    )
    return np.union1d(classes, unseen)


def widen_sets(sets, seen, classes):
    """Return sets of the classes that were seen as sets of all of them."""
    if len(seen) == len(classes):
        return sets
    wide = np.zeros((sets.shape[0], len(classes)), dtype=bool)
    wide[:, index_labels(seen, classes)[0]] = sets.toarray() if issparse(sets) else sets
    return wide
