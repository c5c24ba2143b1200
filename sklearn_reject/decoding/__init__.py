"""Sets of items that have the least expected loss, from probabilities of the items."""

from sklearn_reject.decoding._curves import expected_loss_curve
from sklearn_reject.decoding._decode import decode
from sklearn_reject.decoding._tune_threshold import TunedThreshold, tune_threshold

__all__ = ["TunedThreshold", "decode", "expected_loss_curve", "tune_threshold"]
