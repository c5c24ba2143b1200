"""What labels mean: rejected, out of distribution, rated or not."""

from sklearn_reject._labels._ood import (
    label_vector,
    resolve_ood_label,
    split_origin,
    split_wild,
)
from sklearn_reject._labels._ratings import Ratings, rate, split_ratings
from sklearn_reject._labels._rejected import mark_rejected, resolve_reject_label

__all__ = [
    "Ratings",
    "label_vector",
    "mark_rejected",
    "rate",
    "resolve_ood_label",
    "resolve_reject_label",
    "split_origin",
    "split_ratings",
    "split_wild",
]
