"""Features and logits for novelty scores: of the response, or a user's function."""

import numpy as np
from scipy import sparse
from scipy.special import softmax


def find_features(response, function, *, accept_sparse=False):
    """Return finite features of the samples, of shape (n_samples, n_features).

    Parameters
    ----------
    response : Response
        What a classifier says about the samples.

    function : callable or None
        ``(estimator, X) -> features``; None takes those of the response.

    accept_sparse : bool, default=False
        Whether the features of the response may be a sparse matrix.
    """
    if function is not None:
        return call(function, "features", response.estimator, response.X)
    features = response.features
    if sparse.issparse(features) and not accept_sparse:
        raise ValueError(
            "The features are a sparse matrix, which this novelty_score cannot take. "
            "Reduce them, for example with TruncatedSVD in a pipeline before the "
            "classifier, or pass a callable (estimator, X) -> (n_samples, n_features) "
            "as `features`."
        )
    return features


def find_logits(response, function):
    """Return finite logits of the samples, ndarray of shape (n_samples, n_classes).

    Parameters
    ----------
    response : Response
        What a classifier says about the samples.

    function : callable or None
        ``(estimator, X) -> logits``; None takes those of the response.
    """
    if function is None:
        return response.logits
    logits = call(function, "logits", response.estimator, response.X)
    return check_columns(logits, "logits", response)


def find_probabilities(response, function):
    """Return class probabilities, those of the response or the softmax of logits.

    Parameters
    ----------
    response : Response
        What a classifier says about the samples.

    function : callable or None
        ``(estimator, X) -> logits``; None takes the classifier's `predict_proba`.
    """
    if function is None:
        return response.probabilities
    return softmax(find_logits(response, function), axis=1)


def check_columns(logits, name, response):
    """Raise unless there is one column a class."""
    n_classes = len(response.classes)
    if logits.shape[1] != n_classes:
        raise ValueError(
            f"{name} returned an array of shape {logits.shape}, expected a column for "
            f"each of the {n_classes} classes. For two classes give both logits."
        )
    return logits


def call(function, name, estimator, X):
    """Return what a user's function makes of samples: a finite float64 matrix."""
    if not callable(function):
        raise ValueError(
            f"{name} must be a callable (estimator, X) -> (n_samples, n_columns) or "
            f"None, got {function!r}."
        )
    values = function(estimator, X)
    if sparse.issparse(values):
        raise ValueError(
            f"{name} returned a sparse matrix. Return a dense array: `.toarray()`."
        )
    values = np.asarray(values, dtype=np.float64)
    n_samples = X.shape[0] if hasattr(X, "shape") else len(X)
    if values.ndim != 2 or len(values) != n_samples:
        raise ValueError(
            f"{name} returned an array of shape {values.shape}, expected one row for "
            f"each of the {n_samples} samples: shape ({n_samples}, n_columns)."
        )
    return check_finite(values, name)


def check_finite(values, name):
    """Raise unless all values that a user's function returned are finite."""
    if not np.isfinite(values).all():
        raise ValueError(
            f"{name} returned values that are not finite. Check the function, or its "
            "input for extreme values."
        )
    return values
