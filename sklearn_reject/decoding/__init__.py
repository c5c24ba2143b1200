"""Sets of items that have the least expected loss, from probabilities of the items."""

from sklearn_reject.decoding._curves import expected_loss_curve
from sklearn_reject.decoding._decode import decode
from sklearn_reject.decoding._tune_threshold import TunedThreshold, tune_threshold

# isort: split
# For the rest of the package, and not public.
from sklearn_reject.decoding._best_size import BestSize, ThresholdSize  # noqa: F401
from sklearn_reject.decoding._decode import choose_sets, expected_curves  # noqa: F401
from sklearn_reject.decoding._items import (  # noqa: F401
    as_flags,
    check_bounds,
    check_indicators,
    check_probabilities,
    number_sets,
    one_hot,
    sizes_of_sets,
)
from sklearn_reject.decoding._set_counts import count_sets  # noqa: F401

__all__ = ["TunedThreshold", "decode", "expected_loss_curve", "tune_threshold"]
