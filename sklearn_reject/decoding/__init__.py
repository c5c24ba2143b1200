"""Sets of items that have the least expected loss, from probabilities of the items.

What is imported but not in ``__all__`` is for the other rooms of the package, and may
change.
"""

from sklearn_reject.decoding._curves import expected_loss_curve
from sklearn_reject.decoding._decode import SetRule, choose_items, decode
from sklearn_reject.decoding._items import (
    AVERAGES,
    add_positive,
    as_array,
    as_flags,
    check_bounds,
    check_probabilities,
    count_sets,
    find_positive,
    number_sets,
    one_hot,
    read_indicators,
)
from sklearn_reject.decoding._tune_threshold import TunedThreshold, tune_threshold

__all__ = ["decode", "expected_loss_curve", "tune_threshold"]
