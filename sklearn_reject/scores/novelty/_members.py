"""What a classifier is too small, or too large, for: warnings and errors of scores."""

import numpy as np
from sklearn.utils import indexable

from sklearn_reject._response import Response
from sklearn_reject._sklearn import _safe_indexing
from sklearn_reject.exceptions import warn_user

# Rows that tell whether the logits of two classes are one value and its negative.
_N_LOOKED_AT = 10


def refuse_several_members(response, name, functions):
    """Raise where there is no last layer as there are several classifiers inside."""
    if len(response.members) > 1:
        model = type(response.model).__name__
        raise ValueError(
            f"{name} needs the last layer of one classifier, but {model} has "
            f"{len(response.members)} classifiers. Set ensemble=False of the "
            f"CalibratedClassifierCV, pass {functions}, or use another novelty_score, "
            "such as 'knn'."
        )


def warn_of_one_decision_value(score, response):
    """Warn where a score has the one decision value of two classes to go by."""
    if score.logits is None and _is_one_value(response):
        _warn_of_one(score, "decision value")


def warn_of_one_probability(score, response):
    """Warn where a score has the probabilities of two classes to go by."""
    if score.logits is None and len(response.classes) == 2:
        _warn_of_one(score, "probability")


def _warn_of_one(score, quantity):
    warn_user(
        f"{type(score).__name__} for two classes is a function of one {quantity} and "
        "ranks samples like the error probability, so it adds almost nothing to the "
        "conditional risk. Use 'knn' or 'mahalanobis', which use the features.",
        once=True,
    )


def _is_one_value(response):
    if len(response.classes) != 2:
        return False
    if response.X is None:  # scikit-learn asks for one of all decision functions
        return True
    first = _safe_indexing(*indexable(response.X), slice(_N_LOOKED_AT))
    logits = Response(response.estimator, first).logits
    return np.array_equal(logits[:, 0], -logits[:, 1])
