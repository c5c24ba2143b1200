"""What a set is: its items, their probabilities and their truth."""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import issparse

from sklearn_reject._estimators._base import check_class_labels, find_classes
from sklearn_reject._fitting import FoldScore
from sklearn_reject._response import (
    check_known,
    check_multilabel,
    find_target_type,
    item_probabilities,
)
from sklearn_reject.decoding import add_positive, as_array
from sklearn_reject.exceptions import warn_user


@dataclass(frozen=True, eq=False)
class Items(FoldScore):
    """What is in a set or not: samples, labels of a sample, or its classes.

    `positive` is the position of the positive one of two `classes`, which are None
    where there are several labels a sample.
    """

    target_type: str
    classes: np.ndarray | None
    positive: int | None
    number: int

    @property
    def distribution(self):
        """How many items of a set may be positive: any number, or exactly one."""
        return "multinomial" if self.target_type == "multiclass" else "independent"

    def probabilities(self, estimator, X):
        """Return the probabilities of the items, (n_samples,) or (n_samples, n)."""
        eta = item_probabilities(estimator, X, self.classes)
        self.check_number(eta.shape[1])
        if self.positive is None:
            return eta
        return np.ascontiguousarray(eta[:, self.positive])

    def truth(self, y):
        """Return whether each item is positive."""
        if self.classes is None:
            return y != 0
        if self.positive is not None:
            return y == self.classes[self.positive]
        return y[:, None] == self.classes

    def check_number(self, n_labels):
        """Raise unless there are as many labels as in `fit`."""
        if self.classes is None and n_labels != self.number:
            raise ValueError(
                f"There are {n_labels} labels per sample, but y of `fit` had "
                f"{self.number}. Pass labels, or a classifier, for the same ones."
            )

    def evaluate_response(self, response, y):
        """Return the probabilities of the items of some samples."""
        return (self.probabilities(response.estimator, response.X),)


def check_set_labels(y):
    """Return labels as a vector of classes, or as indicators of several labels."""
    as_array(y, "y")  # raises for lists of labels and masked arrays
    if issparse(y) or (np.ndim(y) == 2 and np.shape(y)[1] > 1):
        return check_multilabel(y)
    return check_class_labels(y)


def find_items(estimator, y, pos_label=None):
    """Return what the items of the checked labels y are."""
    if y.ndim == 2:
        classes, number = None, y.shape[1]
    else:
        classes = check_known(y, find_classes(estimator, y))
        number = len(classes)
    target_type, positive = find_target_type(classes), None
    if target_type == "binary":
        classes, positive = _add_positive(classes, pos_label)
    elif pos_label is not None:
        raise ValueError(
            f"pos_label={pos_label!r} is for two classes, but y is {target_type}. Set "
            "it to None."
        )
    return Items(target_type, classes, positive, number)


def _add_positive(classes, pos_label):
    """Return classes and the position of the positive one, which may be absent."""
    if pos_label is None:
        classes = add_positive(classes)
        return classes, len(classes) - 1
    known = classes.tolist()
    if pos_label in known:
        return classes, known.index(pos_label)
    if len(known) > 1 or isinstance(pos_label, str) != isinstance(known[0], str):
        raise ValueError(
            f"pos_label={pos_label!r} is not among the classes {known}. Pass one of "
            "them, or None for the last one."
        )
    # As in a fold without positive samples.
    warn_user(
        f"pos_label={pos_label!r} is not among the classes {known} of y: it has "
        "probability zero. In cross-validation, stratified folds keep a rare class in "
        "all of them."
    )
    classes = np.union1d(classes, [pos_label])
    return classes, classes.tolist().index(pos_label)
