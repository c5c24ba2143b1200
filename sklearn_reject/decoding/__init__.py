"""Sets of items that have the least expected loss, from probabilities of the items.

What is imported but not in ``__all__`` is for the other rooms of the package, and may
change.
"""

from sklearn_reject.decoding._averages import (
    AVERAGES,
    check_average,
    items_in_place,
    sets_as_rows,
)
from sklearn_reject.decoding._best_size import best_size, size_within
from sklearn_reject.decoding._curves import expected_loss_curve
from sklearn_reject.decoding._cuts import TunedThreshold
from sklearn_reject.decoding._decode import choose_sets, decode, expected_curves
from sklearn_reject.decoding._items import (
    as_array,
    as_flags,
    check_bounds,
    check_indicators,
    check_probabilities,
    mend_flags,
    number_sets,
    one_hot,
    show_odd,
    sizes_of_sets,
)
from sklearn_reject.decoding._set_counts import add_positive, count_sets, find_positive
from sklearn_reject.decoding._tune_threshold import tune_threshold

__all__ = ["decode", "expected_loss_curve", "tune_threshold"]
