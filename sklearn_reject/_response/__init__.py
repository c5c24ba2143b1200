"""What a fitted estimator says about X."""

from sklearn_reject._response._network import find_features, find_head, pull_back
from sklearn_reject._response._response import Response
from sklearn_reject._response._row_sums import (
    BATCH_SIZE,
    log_sum_exp,
    row_norms,
    row_products,
    row_sums,
    softmax,
)

__all__ = [
    "BATCH_SIZE",
    "Response",
    "find_features",
    "find_head",
    "log_sum_exp",
    "pull_back",
    "row_norms",
    "row_products",
    "row_sums",
    "softmax",
]
