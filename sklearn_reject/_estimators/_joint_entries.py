"""What an ensemble is made of: classifiers, detectors, and scores that were logged."""

from numbers import Integral

import numpy as np
from scipy.sparse import issparse
from sklearn.base import is_classifier, is_outlier_detector
from sklearn.frozen import FrozenEstimator
from sklearn.utils.validation import check_array, check_is_fitted

from sklearn_reject._response import find_method, positive_score
from sklearn_reject._sklearn import _safe_indexing

#: Stands for the classifier where its scores are a column of X.
PASSTHROUGH = "passthrough"


def is_logged(estimator):
    """Tell whether an entry takes its scores from X."""
    return isinstance(estimator, str) and estimator == PASSTHROUGH


def is_frozen(estimator):
    """Tell whether an entry has nothing that is to be fitted."""
    return is_logged(estimator) or isinstance(estimator, FrozenEstimator)


def is_detector(estimator):
    """Tell whether an entry learns without ratings what is normal."""
    if is_logged(estimator) or not hasattr(estimator, "__sklearn_tags__"):
        return False
    return not is_classifier(estimator) and (
        is_outlier_detector(estimator) or hasattr(estimator, "score_samples")
    )


def learns_ratings(estimator):
    """Tell whether an entry is a classifier that is to be fitted."""
    return not is_frozen(estimator) and not is_detector(estimator)


def check_entry(entry, response_method):
    """Raise for an entry of `estimators` that has no scores, or no name."""
    is_entry = isinstance(entry, (list, tuple)) and len(entry) in (2, 3)
    if not is_entry or not isinstance(entry[0], str):
        raise ValueError(
            "estimators must hold (name, classifier) or (name, classifier, "
            f"columns), got {entry!r}."
        )
    name, estimator = f"estimators: {entry[0]!r}", entry[1]
    if is_logged(estimator):
        if len(entry) == 2:
            raise ValueError(
                f"{name} is {PASSTHROUGH!r}, which takes scores from a column of X. "
                f"Name the column, as in ({entry[0]!r}, {PASSTHROUGH!r}, column)."
            )
        return
    if isinstance(estimator, type) or not hasattr(estimator, "fit"):
        raise ValueError(
            f"{name} must be an instance of a classifier with `fit`, got {estimator!r}."
        )
    if isinstance(estimator, FrozenEstimator):
        check_is_fitted(estimator)
    if is_detector(estimator):
        _find_detector_method(estimator, name)
        return
    if hasattr(estimator, "__sklearn_tags__") and not is_classifier(estimator):
        raise ValueError(
            f"{name} must be a classifier, or a detector with `score_samples`, got "
            f"{estimator!r}. Other scores can be logged as a column of X and used as "
            f"({entry[0]!r}, {PASSTHROUGH!r}, column)."
        )
    find_method(estimator, response_method, name)


def select_columns(X, columns, name):
    """Return the columns that an entry sees, all of them for None."""
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
            f"estimators: {name!r} cannot select the columns {columns!r} of X: {error}"
        ) from error


def score_entry(fitted, X, classes, response_method, name):
    """Return the scores (n_documents,) of one entry, higher = more likely positive."""
    called = f"estimators: {name!r}"
    if is_logged(fitted):
        return _logged_scores(X, called)
    if is_detector(fitted):
        method = _find_detector_method(fitted, called)
        # High values are normal, and what is rare is not.
        scores = check_array(
            -np.asarray(getattr(fitted, method)(X)),
            ensure_2d=False,
            dtype=np.float64,
            input_name=f"{method} of {called}",
        )
        if scores.size != len(scores):
            raise ValueError(
                f"{called} must have one score for each document, but {method} of "
                f"{fitted!r} returns an array of shape {scores.shape}."
            )
        return scores.ravel()
    return positive_score(
        fitted, X, classes, response_method=response_method, name=called
    )


def _logged_scores(X, name):
    """Return a column of X as scores, NaN where nothing was logged."""
    X = X.toarray() if hasattr(X, "toarray") else X
    try:
        scores = check_array(
            X, ensure_2d=False, dtype=np.float64, ensure_all_finite="allow-nan"
        )
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} takes a column without scores: {error}") from error
    if scores.ndim == 2 and scores.shape[1] != 1:
        raise ValueError(
            f"{name} takes one column of X as scores, got {scores.shape[1]}. Make each "
            "column a separate entry with its own name."
        )
    return scores.ravel()


def _find_detector_method(detector, name):
    """Return the method that tells how normal a document is."""
    for method in ("score_samples", "decision_function"):
        if hasattr(detector, method):
            return method
    raise ValueError(
        f"{name} has no scores: {detector!r} has neither `score_samples` nor "
        "`decision_function` for new documents. LocalOutlierFactor has them with "
        "novelty=True."
    )
