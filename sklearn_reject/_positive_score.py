"""The score of one classifier of two classes."""

import numpy as np
from sklearn.utils.validation import check_array

_METHODS = {
    "auto": ("predict_proba", "decision_function"),
    "predict_proba": ("predict_proba",),
    "decision_function": ("decision_function",),
}

RESPONSE_METHODS = tuple(_METHODS)


def find_method(estimator, response_method, name):
    """Return the name of the method that scores come from.

    Parameters
    ----------
    estimator : estimator
        Classifier, fitted or not.

    response_method : {"auto", "predict_proba", "decision_function"}
        "auto" is the first of the other two that there is.

    name : str
        What errors call the classifier.

    Raises
    ------
    ValueError
        If the classifier does not have it.
    """
    for method in _METHODS[response_method]:
        if hasattr(estimator, method):
            return method
    raise ValueError(
        f"{name} has no scores: {estimator!r} has none of "
        f"{list(_METHODS[response_method])}. CalibratedClassifierCV adds "
        "probabilities to any classifier."
    )


def positive_score(estimator, X, classes, *, response_method="auto", name):
    """Return how likely a classifier finds each document to be positive.

    Parameters
    ----------
    estimator : estimator
        Fitted classifier.

    X : {array-like, sparse matrix, dataframe} of shape (n_documents, n_features)
        Documents.

    classes : ndarray of shape (2,)
        The negative and the positive class.

    response_method : {"auto", "predict_proba", "decision_function"}, default="auto"
        Where scores come from.

    name : str
        What errors call the classifier.

    Returns
    -------
    scores : ndarray of shape (n_documents,)
        Finite, higher = more likely positive.

    Raises
    ------
    ValueError
        If the classifier has other classes or no scores, or they are not finite.
    """
    positive = _find_positive(estimator, classes, name)
    method = find_method(estimator, response_method, name)
    told = np.asarray(getattr(estimator, method)(X))
    if method == "decision_function":
        told = told if positive else -told
    else:
        told = told[:, positive]
    return check_array(
        told, ensure_2d=False, dtype=np.float64, input_name=f"{method} of {name}"
    )


def _find_positive(estimator, classes, name):
    # As lists: old versions of NumPy warn where text is compared with numbers.
    known = np.asarray(getattr(estimator, "classes_", ())).tolist()
    wanted = classes.tolist()
    if len(known) != 2 or set(known) != set(wanted):
        raise ValueError(
            f"{name} has the classes {known}, but the rated documents have {wanted}. "
            "A classifier of these two is needed: fit it on rated documents of both, "
            "and check unrated_label."
        )
    return known.index(wanted[1])
