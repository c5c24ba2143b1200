"""What a set is: its items, their probabilities, their truth, and which are chosen."""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import issparse

from sklearn_reject._estimators._base import check_class_labels, find_classes
from sklearn_reject._fitting._folds import FoldScore
from sklearn_reject._response._keys import row_keys
from sklearn_reject._response._positive import (
    item_probabilities,
    refuse_unknown,
    widen_sets,
    with_unseen,
)
from sklearn_reject._sklearn import _num_samples, _routing_enabled
from sklearn_reject._validation import check_option, index_labels, require_in_memory
from sklearn_reject.decoding import (
    AVERAGES,
    add_positive,
    as_array,
    as_flags,
    choose_items,
    count_sets,
    find_positive,
    mend_flags,
    show_odd,
)
from sklearn_reject.exceptions import warn_user

# Of the rarer class so many samples are to be expected in a set.
_FEWEST_EXPECTED = 5


@dataclass(frozen=True, eq=False)
class Items(FoldScore):
    """What is in a set or not: samples, labels of a sample, or its classes.

    `positive` is the position of the positive one of two `classes`, which are None
    where there are several labels a sample. `pos_label` is what the user called it.
    """

    target_type: str
    classes: np.ndarray | None
    positive: int | None
    average: str
    pos_label: object

    @property
    def distribution(self):
        """How many items of a set may be positive: any number, or exactly one."""
        return "multinomial" if self.target_type == "multiclass" else "independent"

    @property
    def are_in_rows(self):
        """Whether each sample is a set, or all of a call or of a group are."""
        return self.target_type != "binary" and self.average == "samples"

    def probabilities(self, estimator, X):
        """Return the probabilities of the items, (n_samples,) or (n_samples, n)."""
        eta = item_probabilities(estimator, X, self.classes)
        if self.positive is None:
            return eta
        return np.ascontiguousarray(eta[:, self.positive])

    def evaluate_response(self, response, y):
        """Return the probabilities of the items of some samples."""
        return (self.probabilities(response.estimator, response.X),)

    def truth(self, y):
        """Return whether each item is positive."""
        if self.classes is None:
            return (y.toarray() if issparse(y) else y) != 0
        if self.positive is not None:
            return y == self.classes[self.positive]
        return y[:, None] == self.classes

    def labels(self, mask):
        """Return labels of samples for the items that are chosen of them."""
        if self.classes is None:
            return mask.astype(np.int64)
        # One class only: there is no other label.
        other = len(self.classes) - 1 - self.positive
        return self.classes[np.where(mask, self.positive, other)]

    def count(self, y, seen, mask, groups):
        """Return tp, fp, fn and tn of the sets that a mask chooses.

        Classes that the classifier has not `seen` are in none of them.
        """
        if self.classes is None:
            return count_sets(self.truth(y), mask, average=self.average)
        classes = with_unseen(seen, y)
        if len(classes) <= 2:
            positive = find_positive(classes, self.pos_label)
            labels = self.labels(mask)
            return count_sets(y, labels, groups=groups, pos_label=positive)
        if self.positive is not None:
            mask = self.labels(mask)[:, None] == seen
        return count_sets(y, widen_sets(mask, seen, classes), labels=classes)

    def check_labels(self, y):
        """Return labels of samples, of the kind that they had in `fit`."""
        y = check_set_labels(y)
        if y.ndim != (2 if self.classes is None else 1):
            raise ValueError(
                f"y has shape {y.shape}, but the labels of `fit` were "
                f"{self.target_type}. Pass the same kind of labels."
            )
        return y

    def check_groups(self, groups):
        """Return the groups whose samples are sets, None where each sample is one.

        There groups are an error, unless metadata routing is on: then they are
        requested for two classes, and routed because a splitter needs them.
        """
        require_in_memory(groups=groups)
        if groups is None:
            return None
        if self.target_type == "binary":
            return np.asarray(groups)
        if not _routing_enabled():
            raise ValueError(
                "groups are sets where there are two classes, but each sample is one "
                "here. Omit groups."
            )
        return None


def check_set_labels(y):
    """Return labels as a vector of classes, or as indicators of several labels."""
    array = as_array(y, "y")  # raises for lists of labels and masked arrays
    if not issparse(array) and (array.ndim != 2 or array.shape[1] == 1):
        return check_class_labels(y)
    flags = as_flags(array)
    if flags is None:
        way_out = mend_flags(array, "y", "Encode it with MultiLabelBinarizer")
        raise ValueError(
            "y must be a vector of class labels or a matrix of indicators, 0 and 1, "
            f"got {show_odd(array)}. {way_out}."
        )
    return flags.astype(np.int64)


def find_items(decoder, y):
    """Return what the items of checked labels are for a decoder."""
    average, pos_label = decoder.average, decoder.pos_label
    classes, positive, target_type = None, None, "multilabel"
    if y.ndim == 1:
        classes = find_classes(decoder.estimator, y)
        if classes.ndim != 1:
            raise ValueError(
                "y is a vector with one label per sample, but the frozen estimator is "
                "multilabel. Pass an indicator matrix."
            )
        _, unknown = index_labels(y, classes)
        if unknown.any():
            refuse_unknown(y[unknown], classes)
        target_type = "binary" if len(classes) <= 2 else "multiclass"
    check_option(average, "average", AVERAGES)
    if average != "samples" and target_type != "multilabel":
        raise ValueError(
            f"average={average!r} is for multilabel targets, but y is {target_type}. "
            "Set average to 'samples'."
        )
    if target_type == "binary":
        classes, positive = _add_positive(classes, pos_label)
    elif pos_label is not None:
        raise ValueError(
            f"pos_label={pos_label!r} is for two classes, but y is {target_type}. Set "
            "it to None."
        )
    return Items(target_type, classes, positive, average, pos_label)


def _add_positive(classes, pos_label):
    """Return classes and the position of the positive one, which may be absent."""
    if pos_label is None:
        classes = add_positive(classes)
        return classes, len(classes) - 1
    known = classes.tolist()
    is_other_kind = isinstance(pos_label, str) != isinstance(known[0], str)
    if pos_label not in known and (len(known) > 1 or is_other_kind):
        raise ValueError(
            f"pos_label={pos_label!r} is not among the classes {known}. Pass one of "
            "them, or None for the last one."
        )
    classes = np.union1d(classes, [pos_label])
    return classes, classes.tolist().index(pos_label)


# Choice


def is_bounded(rule):
    """Tell whether the number of items of a set has bounds."""
    return rule.min_positive > 0 or rule.max_positive is not None


def is_by_item(rule):
    """Tell whether a threshold decides on each item, whatever its set is."""
    return rule.threshold is not None and not is_bounded(rule)


def choose_sets(eta, rule, average, *, with_loss, **options):
    """Return the mask of the items to predict, and expected losses or anything."""
    if is_by_item(rule) and not with_loss:
        return eta >= rule.threshold, None
    return choose_items(eta, rule, average, with_loss=with_loss, **options)


def order_of_samples(X):
    """Return an order of samples by their values, whatever order they come in.

    Where a bound parts equally probable samples, those are taken that come first in it.
    By hashes no sample is preferred for what it is like. Equal samples are one as good
    as the other; samples whose values make no hash stay as they come.
    """
    try:
        return np.argsort(row_keys(X, slice(None)), kind="stable")
    except ValueError:
        return np.arange(_num_samples(X))


def warn_of_few_rows(eta, loss, average):
    """Warn where the samples of a call are too few to be sets of their own."""
    n_sets = eta.shape[1] if average == "macro" else 1
    n_positive = eta.sum() / n_sets
    n_rarer = min(n_positive, np.prod(eta.shape) / n_sets - n_positive)
    # Of a loss that is linear in the counts, the best decision on an item leaves the
    # others alone.
    alone, mixed = loss(*3 * np.eye(4)), loss(*1 - np.eye(4))
    is_linear = np.allclose(mixed, (alone.sum() - alone) / 3)
    if n_rarer >= _FEWEST_EXPECTED or is_linear:
        return
    groups = "" if eta.ndim == 2 else ", or groups= if these are the sets that count"
    warn_user(
        f"{eta.shape[0]} rows were decoded as one set, in which {n_rarer:.2g} samples "
        "of the rarer class are expected: predictions depend on the call. Pass more "
        f"rows at once{groups}, or fit with strategy='auto'."
    )
