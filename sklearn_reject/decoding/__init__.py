"""Sets of items that have the least expected loss, from probabilities of the items.

What is imported but not in ``__all__`` is for the other rooms of the package, and may
change.
"""

from sklearn_reject.decoding._curves import expected_loss_curve
from sklearn_reject.decoding._cuts import TunedThreshold
from sklearn_reject.decoding._decode import choose_items, decode
from sklearn_reject.decoding._items import (
    AVERAGES,
    as_array,
    as_flags,
    check_average,
    check_bounds,
    check_probabilities,
    mend_flags,
    number_sets,
    one_hot,
    sets_as_rows,
    show_odd,
    sizes_of_sets,
)
from sklearn_reject.decoding._set_counts import add_positive, count_sets, find_positive
from sklearn_reject.decoding._set_rule import SetRule
from sklearn_reject.decoding._tune_threshold import tune_threshold

__all__ = ["decode", "expected_loss_curve", "tune_threshold"]
