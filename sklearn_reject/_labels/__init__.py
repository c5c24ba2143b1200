"""What labels mean: rejected, out of distribution, rated or not."""

from sklearn_reject._labels._merged import merge_labels
from sklearn_reject._labels._ood import (
    find_resembling,
    is_automatic,
    label_vector,
    refuse_unknown_labels,
    split_origin,
    split_wild,
    warn_of_unknown_labels,
)
from sklearn_reject._labels._ratings import (
    Ratings,
    find_rated,
    rate,
    split_part,
    split_ratings,
)
from sklearn_reject._labels._rejected import mark_rejected, resolve_reject_label

__all__ = [
    "Ratings",
    "find_rated",
    "find_resembling",
    "is_automatic",
    "label_vector",
    "mark_rejected",
    "merge_labels",
    "rate",
    "refuse_unknown_labels",
    "resolve_reject_label",
    "split_origin",
    "split_part",
    "split_ratings",
    "split_wild",
    "warn_of_unknown_labels",
]
