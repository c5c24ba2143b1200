"""What a fitted estimator says about X."""

from sklearn_reject._response._keys import row_keys, user_keys
from sklearn_reject._response._network import (
    BATCH_SIZE,
    find_activations,
    find_head,
    log_sum_exp,
    pull_back,
    row_norms,
    row_products,
    row_sums,
    softmax,
)
from sklearn_reject._response._positive import (
    RESPONSE_METHODS,
    check_has_probabilities,
    check_known,
    check_multilabel,
    find_method,
    find_target_type,
    item_probabilities,
    positive_score,
    refuse_stacks,
    widen_sets,
    with_unseen,
)
from sklearn_reject._response._response import Response
from sklearn_reject._response._steps import find_steps
