"""The sets that any classifier predicts."""

from inspect import signature

import numpy as np
from sklearn.pipeline import Pipeline

from sklearn_reject._validation import index_labels
from sklearn_reject.decoding._indicators import one_hot
from sklearn_reject.metrics._evaluate import inner_estimator


def predict_in_groups(estimator, X, groups):
    """Return the labels of all samples, predicted set by set where that matters.

    Parameters
    ----------
    estimator : estimator
        Fitted classifier. Where its `predict` takes `groups`, also inside a pipeline or
        a search, it gets them.

    X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
        Samples.

    groups : array-like of shape (n_samples,) or None
        The set of each sample.

    Returns
    -------
    labels : ndarray of shape (n_samples,)
        Predicted labels.
    """
    if groups is None or not holds(estimator, _predicts_groups):
        return estimator.predict(X)
    estimator, X = locate(estimator, X, _predicts_groups)
    return estimator.predict(X, groups=groups)


def index_classes(estimator, labels, classes):
    """Return the position of each predicted label among the classes.

    Parameters
    ----------
    estimator : estimator
        Classifier that predicted them.

    labels : array-like of shape (n_samples,)
        Predicted labels.

    classes : ndarray of shape (n_classes,)
        All classes.

    Returns
    -------
    index : ndarray of shape (n_samples,), dtype int
        Positions.
    """
    labels = np.asarray(labels)
    index, unknown = index_labels(labels, classes)
    if unknown.any():
        raise ValueError(
            f"{type(estimator).__name__} predicts {labels[unknown].tolist()[0]!r}, not "
            f"among the classes {classes.tolist()}. Where it marks rejected samples, "
            "score the classifier inside."
        )
    return index


def predict_classes(estimator, X, classes):
    """Return the set of classes of each sample, a single one where there are no sets.

    Parameters
    ----------
    estimator : estimator
        Fitted classifier, maybe with `predict_set`, also inside a pipeline or a search.

    X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
        Samples.

    classes : ndarray of shape (n_classes,)
        Classes in the order of the columns.

    Returns
    -------
    sets : {ndarray, sparse matrix} of shape (n_samples, n_classes), dtype bool
        Indicators of the classes.
    """
    if holds(estimator, _predicts_sets):
        estimator, X = locate(estimator, X, _predicts_sets)
        return estimator.predict_set(X)
    index = index_classes(estimator, estimator.predict(X), classes)
    return one_hot(index, (len(index), len(classes)))


def find(estimator, wanted):
    """Return what is wanted of an estimator and those inside it, None without one."""
    while estimator is not None and not wanted(estimator):
        estimator = inner_estimator(estimator)
    return estimator


def holds(estimator, wanted):
    """Tell if an estimator, or one inside its pipelines and searches, is wanted."""
    return find(estimator, wanted) is not None


def locate(estimator, X, wanted):
    """Return the estimator that is wanted, and the samples as it sees them."""
    while not wanted(estimator):
        if isinstance(estimator, Pipeline) and len(estimator.steps) > 1:
            X = estimator[:-1].transform(X)
        estimator = inner_estimator(estimator)
    return estimator, X


def _predicts_groups(estimator):
    return "groups" in signature(estimator.predict).parameters


def _predicts_sets(estimator):
    return callable(getattr(estimator, "predict_set", None))
