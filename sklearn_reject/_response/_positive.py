"""Probabilities and scores of the positive class, or of each label."""

import numpy as np
from scipy.sparse import issparse
from sklearn.ensemble import StackingClassifier
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_array

from sklearn_reject._response._response import Response
from sklearn_reject._validation import index_labels
from sklearn_reject.decoding import as_flags, check_probabilities, mend_flags, show_odd
from sklearn_reject.exceptions import warn_user

_METHODS = {
    "auto": ("predict_proba", "decision_function"),
    "predict_proba": ("predict_proba",),
    "decision_function": ("decision_function",),
}
RESPONSE_METHODS = tuple(_METHODS)


def find_method(estimator, response_method, name):
    """Return the name of the method that scores come from, or raise if it is missing.

    "auto" is the first that there is. Errors call the classifier by `name`.
    """
    for method in _METHODS[response_method]:
        if hasattr(estimator, method):
            return method
    raise ValueError(
        f"{name} has no scores: {estimator!r} has none of "
        f"{list(_METHODS[response_method])}. Wrap it in CalibratedClassifierCV to get "
        "probabilities."
    )


def positive_score(estimator, X, classes, *, response_method="auto", name):
    """Return how likely a classifier finds each document to be positive.

    The classes are the negative and the positive one; scores (n_documents,) are finite,
    higher = more likely positive. Errors call the classifier by `name`.
    """
    # As lists: old versions of NumPy warn where text is compared with numbers.
    known = np.asarray(getattr(estimator, "classes_", ())).tolist()
    wanted = classes.tolist()
    if len(known) != 2 or set(known) != set(wanted):
        raise ValueError(
            f"{name} has the classes {known}, but the rated documents have {wanted}. "
            "Fit the classifier on rated documents of both classes, and check "
            "unrated_label."
        )
    positive = known.index(wanted[1])
    method = find_method(estimator, response_method, name)
    scores = np.asarray(getattr(estimator, method)(X))
    if method == "predict_proba":
        scores = scores[:, positive]
    elif not positive:
        scores = -scores
    return check_array(
        scores, ensure_2d=False, dtype=np.float64, input_name=f"{method} of {name}"
    )


_NAME = "predict_proba of the estimator"


# How far the probabilities of the classes of a sample may be from adding up to one.
_MISSING_MASS = 1e-3


def find_target_type(classes):
    """Return "binary" or "multiclass" for the classes of y, "multilabel" for None."""
    if classes is None:
        return "multilabel"
    return "binary" if len(classes) <= 2 else "multiclass"


def check_multilabel(y):
    """Return indicators of labels as integers, or raise if they are anything else."""
    flags = as_flags(y)
    if flags is None:
        y = y if issparse(y) else np.asarray(y)
        way_out = "Encode multilabel targets with MultiLabelBinarizer"
        raise ValueError(
            "y must be a vector of class labels or a matrix of indicators, 0 and 1, "
            f"got {show_odd(y)} in a matrix of type "
            f"{type_of_target(y, input_name='y')!r}. {mend_flags(y, 'y', way_out)}."
        )
    return flags.astype(np.int64)


def check_known(y, classes):
    """Return the classes, or raise if they are not those of the labels."""
    if classes.ndim != 1 or any(np.ndim(label) for label in classes[:1]):
        raise ValueError(
            "y is a vector with one label per sample, but the frozen estimator is "
            "multilabel. Pass an indicator matrix."
        )
    _, unknown = index_labels(y, classes)
    if unknown.any():
        _refuse_unknown(y[unknown], classes)
    return classes


def _refuse_unknown(unknown, classes):
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
        _refuse_unknown(unseen, classes)
    warn_user(
        f"y holds labels that were not in y of fit, {unseen.tolist()}. They count as "
        "missed. In cross-validation, use stratified folds, which keep rare classes in "
        "all folds."
    )
    return np.union1d(classes, unseen)


def widen_sets(sets, seen, classes):
    """Return sets of the classes that were seen as sets of all of them."""
    if len(seen) == len(classes):
        return sets
    wide = np.zeros((sets.shape[0], len(classes)), dtype=bool)
    wide[:, index_labels(seen, classes)[0]] = sets.toarray() if issparse(sets) else sets
    return wide


def check_has_probabilities(estimator):
    """Raise unless a fitted classifier has `predict_proba`."""
    if not hasattr(estimator, "predict_proba"):
        raise ValueError(
            f"estimator must be a classifier with `predict_proba`, got {estimator!r}. "
            "Wrap it in CalibratedClassifierCV to get probabilities."
        )


def item_probabilities(estimator, X, classes=None):
    """Return the probabilities (n_samples, n_columns) of classes or labels.

    Columns are in the order of the classes; one that the classifier has not seen has
    probability zero. Without classes they are several labels a sample, maybe sparse.
    """
    check_has_probabilities(estimator)
    if classes is None:
        refuse_stacks(estimator)
    proba = estimator.predict_proba(X)
    if classes is None:
        return _of_labels(estimator, proba)
    proba = check_probabilities(proba, _NAME, ndim=(2,))
    total = proba.sum(axis=1)
    row = np.argmax(np.abs(total - 1))
    if abs(total[row] - 1) > _MISSING_MASS:
        raise ValueError(
            f"{_NAME} must add up to one over the classes of each sample, got "
            f"{total[row]:g} in row {row}. Use another classifier, or remove the "
            "samples for which it has no probabilities."
        )
    seen = np.asarray(estimator.classes_)
    if proba.shape[1] != len(seen):
        raise ValueError(
            f"predict_proba of the estimator has {proba.shape[1]} columns for its "
            f"{len(seen)} classes. It must have one column for each class."
        )
    if np.array_equal(seen, classes):
        return proba
    eta = np.zeros((len(proba), len(classes)))
    column, is_unknown = index_labels(seen, classes)
    eta[:, column[~is_unknown]] = proba[:, ~is_unknown]
    return eta


def refuse_stacks(estimator):
    """Raise for a stack of classifiers, where samples have several labels."""
    if isinstance(Response(estimator, None).model, StackingClassifier):
        raise ValueError(
            "StackingClassifier cannot be used for multilabel targets: its "
            "predict_proba fails or returns the probability that each label is "
            "*absent*. Stack within each label, for example with "
            "MultiOutputClassifier(StackingClassifier())."
        )


def _of_labels(estimator, proba):
    """Return the probability of one for each label, from whatever form it has."""
    if isinstance(proba, list):
        # Each label is a classifier of its own.
        classes = getattr(estimator, "classes_", None)
        if not isinstance(classes, list) or len(classes) != len(proba):
            classes = [np.arange(np.shape(part)[1]) for part in proba]
        labels = enumerate(zip(proba, classes, strict=True))
        columns = [_positive_column(*label, number) for number, label in labels]
        proba = np.column_stack(columns)
    return check_probabilities(proba, _NAME, ndim=(2,), accept_sparse=True)


def _positive_column(proba, classes, number):
    classes = np.asarray(classes)
    flags = as_flags(classes) if classes.dtype.kind in "biuf" else None
    if flags is not None and flags.shape == (1,):
        return np.full(len(proba), float(flags[0]))
    if flags is None or proba.shape[1:] != flags.shape:
        raise ValueError(
            f"predict_proba of the estimator has shape {proba.shape} for label "
            f"{number} and classes other than 0 and 1, one per column. Some "
            "classifiers misinterpret a sparse y. Pass `y.toarray()`."
        )
    return proba[:, flags].sum(axis=1)
