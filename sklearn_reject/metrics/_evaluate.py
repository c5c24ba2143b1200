"""Labels, uncertainty and acceptance of any classifier, in one pass."""

import numpy as np
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline

from sklearn_reject._response import Response
from sklearn_reject.scores import resolve_score


def predict_with_uncertainty(estimator, X):
    """Return the labels of all samples and how uncertain they are.

    Parameters
    ----------
    estimator : estimator
        Fitted classifier. One with `uncertainty` speaks for itself, also inside a
        pipeline or a search; for others the plug-in score is taken.

    X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
        Samples.

    Returns
    -------
    labels, uncertainty : ndarray of shape (n_samples,)
        Predicted labels, never the reject label, and their uncertainty, higher = more
        uncertain.
    """
    if _holds_uncertainty(estimator):
        return _ask(*_locate(estimator, X))
    return resolve_score("auto", estimator).judge(Response(estimator, X))


def predict_with_both_scores(estimator, X):
    """Return labels, and risk and novelty where a classifier tells the two apart.

    Parameters
    ----------
    estimator : estimator
        Fitted classifier, one with `risk_and_novelty` maybe inside a pipeline or a
        search.

    X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
        Samples.

    Returns
    -------
    labels, risk : ndarray of shape (n_samples,)
        Predicted labels and their risk; the uncertainty where there is no novelty.

    novelty : ndarray of shape (n_samples,) or None
        Higher = more novel.
    """
    if hasattr(_innermost(estimator), "risk_and_novelty"):
        estimator, X = _locate(estimator, X)
        return (estimator.predict_label(X), *estimator.risk_and_novelty(X))
    return (*predict_with_uncertainty(estimator, X), None)


def accept(estimator, X, uncertainty):
    """Tell which samples a classifier accepts: all, if it cannot reject."""
    rule = getattr(_innermost(estimator), "_accept", None)
    if rule is not None:
        return rule(uncertainty)
    if _holds_uncertainty(estimator):
        estimator, X = _locate(estimator, X)
        if hasattr(estimator, "accept"):
            return np.asarray(estimator.accept(X), dtype=bool)
    return np.ones(len(uncertainty), dtype=bool)


def _ask(estimator, X):
    if hasattr(estimator, "_predict_with_uncertainty"):
        return estimator._predict_with_uncertainty(X)
    labels = getattr(estimator, "predict_label", estimator.predict)(X)
    return labels, estimator.uncertainty(X)


def _holds_uncertainty(estimator):
    return callable(getattr(_innermost(estimator), "uncertainty", None))


def _innermost(estimator):
    """Look through pipelines and searches for an estimator with `uncertainty`."""
    while not callable(getattr(estimator, "uncertainty", None)):
        inner = inner_estimator(estimator)
        if inner is None:
            break
        estimator = inner
    return estimator


def inner_estimator(estimator):
    """Return what a pipeline, a frozen estimator or a search decides by, or None."""
    if isinstance(estimator, Pipeline):
        return estimator.steps[-1][1]
    if isinstance(estimator, FrozenEstimator):
        return estimator.estimator
    return getattr(estimator, "best_estimator_", None)


def _locate(estimator, X):
    """Return the estimator with `uncertainty`, and the samples as it sees them."""
    while not callable(getattr(estimator, "uncertainty", None)):
        if isinstance(estimator, Pipeline) and len(estimator.steps) > 1:
            X = estimator[:-1].transform(X)
        estimator = inner_estimator(estimator)
    return estimator, X
