"""Probabilities of items to be positive, as a fitted classifier tells them."""

import numpy as np
from scipy.sparse import issparse
from sklearn.utils.multiclass import type_of_target

from sklearn_reject._validation import index_labels
from sklearn_reject.decoding._probabilities import check_probabilities

_NAME = "predict_proba of the estimator"


def find_target_type(y, classes):
    """Return what the items are: samples, labels of a sample, or classes of one.

    Parameters
    ----------
    y : {ndarray, sparse matrix} of shape (n_samples,) or (n_samples, n_labels)
        Labels.

    classes : ndarray of shape (n_classes,) or None
        The classes of a vector of labels.

    Returns
    -------
    target_type : {"binary", "multilabel", "multiclass"}
        What predictions are about.
    """
    if classes is None:
        return "multilabel"
    return "binary" if len(classes) <= 2 else "multiclass"


def check_multilabel(y):
    """Return indicators of labels, or raise if they are none."""
    kind = type_of_target(y, input_name="y")
    if kind != "multilabel-indicator":
        raise ValueError(
            f"y must be a vector of class labels or a matrix of indicators, 0 and 1, "
            f"got a matrix of type {kind!r}. Encode several labels a sample with "
            "MultiLabelBinarizer."
        )
    return y if issparse(y) else np.asarray(y)


def check_has_probabilities(estimator):
    """Raise unless a fitted classifier has `predict_proba`."""
    if not hasattr(estimator, "predict_proba"):
        raise ValueError(
            f"estimator must be a classifier with `predict_proba`, got {estimator!r}. "
            "CalibratedClassifierCV adds probabilities to any classifier."
        )


def item_probabilities(estimator, X, classes=None):
    """Return the probabilities of classes or labels of each sample.

    Parameters
    ----------
    estimator : estimator
        Fitted classifier with `predict_proba`.

    X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
        Samples.

    classes : ndarray of shape (n_classes,), default=None
        Classes in the order of the columns that are returned; one that the classifier
        has not seen gets probability zero. None for several labels a sample.

    Returns
    -------
    eta : {ndarray, csr_matrix} of shape (n_samples, n_columns)
        Probabilities; of each label to be there where there are no classes.
    """
    check_has_probabilities(estimator)
    told = estimator.predict_proba(X)
    if classes is None:
        return _of_labels(estimator, told)
    told = check_probabilities(told, _NAME, ndim=(2,))
    seen = np.asarray(estimator.classes_)
    if told.shape[1] != len(seen):
        raise ValueError(
            f"predict_proba of the estimator has {told.shape[1]} columns for its "
            f"{len(seen)} classes. It must have one for each."
        )
    if np.array_equal(seen, classes):
        return told
    eta = np.zeros((len(told), len(classes)))
    column, is_unknown = index_labels(seen, classes)
    eta[:, column[~is_unknown]] = told[:, ~is_unknown]
    return eta


def _of_labels(estimator, told):
    if isinstance(told, list):
        told = _positive_columns(estimator, told)
    return check_probabilities(told, _NAME, ndim=(2,), accept_sparse=True)


def _positive_columns(estimator, told):
    """Return the probability of one, where each label is a classifier of its own."""
    classes = getattr(estimator, "classes_", None)
    if not isinstance(classes, list) or len(classes) != len(told):
        classes = [np.arange(part.shape[1]) for part in told]
    columns = [
        part[:, np.asarray(of_label) == 1].sum(axis=1)
        for part, of_label in zip(told, classes, strict=True)
    ]
    return np.column_stack(columns)
