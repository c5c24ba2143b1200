"""What a fitted estimator says about X."""

from sklearn_reject._response._keys import row_keys, user_keys
from sklearn_reject._response._positive import (
    RESPONSE_METHODS,
    check_has_probabilities,
    check_known,
    check_multilabel,
    find_method,
    find_target_type,
    item_probabilities,
    positive_score,
)
from sklearn_reject._response._response import Response

__all__ = [
    "RESPONSE_METHODS",
    "Response",
    "check_has_probabilities",
    "check_known",
    "check_multilabel",
    "find_method",
    "find_target_type",
    "item_probabilities",
    "positive_score",
    "row_keys",
    "user_keys",
]
