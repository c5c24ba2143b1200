"""What a set is: its items, their probabilities and their truth."""

from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
from scipy.sparse import issparse
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier
from sklearn.utils import get_tags

from sklearn_reject._estimators._base import check_class_labels, find_classes
from sklearn_reject._fitting._folds import FoldScore
from sklearn_reject._response._keys import row_keys
from sklearn_reject._response._positive import (
    check_known,
    check_multilabel,
    find_target_type,
    item_probabilities,
)
from sklearn_reject._response._response import Response
from sklearn_reject._sklearn import _routing_enabled
from sklearn_reject._validation import require_in_memory
from sklearn_reject.decoding import add_positive, as_array
from sklearn_reject.exceptions import warn_user

# They take several labels a sample, and do not say so.
_ONE_A_LABEL = (OneVsRestClassifier, MultiOutputClassifier, ClassifierChain)

# Of the rarer class so many samples are to be expected in a set.
_FEWEST_EXPECTED = 5


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


def groups_of_sets(groups, target_type):
    """Return the groups whose samples are sets, None where each sample is one.

    There groups are an error, unless metadata routing is on: then they are requested
    for the other kind of labels, and routed because a splitter needs them.
    """
    require_in_memory(groups=groups)
    if groups is None or target_type == "binary":
        return groups
    if not _routing_enabled():
        raise ValueError(
            "groups define sets of samples for two classes, but here each sample is a "
            "set. Omit groups."
        )
    return None


def order_of_samples(X):
    """Return an order of samples by their values, whatever order they come in.

    Where a bound parts equally probable samples, those are taken that come first in it.
    By hashes no sample is preferred for what it is like. Equal samples are one as good
    as the other; samples whose values make no hash stay as they come.
    """
    try:
        return np.argsort(row_keys(X, slice(None)), kind="stable")
    except ValueError:
        return None


def _takes_several_labels(estimator):
    tags = get_tags(estimator).classifier_tags
    is_wrapper = isinstance(Response(estimator, None).model, _ONE_A_LABEL)
    return is_wrapper or tags is None or tags.multi_label


@contextmanager
def several_labels(estimator, y):
    """Say what helps where a classifier does not take several labels a sample."""
    try:
        yield
    except ValueError as error:
        if y.ndim == 1 or _takes_several_labels(estimator):
            raise
        name = type(estimator).__name__
        raise ValueError(
            f"{name} failed to fit a multilabel target, which it does not claim to "
            "support. Fit a classifier for each label, as OneVsRestClassifier and "
            "MultiOutputClassifier do; their estimator may be calibrated. The error of "
            f"{name} was: {error}"
        ) from error


def warn_of_few_rows(eta, loss, average):
    """Warn where the samples of a call are too few to be sets of their own."""
    n_sets = eta.shape[1] if average == "macro" else 1
    n_positive = eta.sum() / n_sets
    n_rarer = min(n_positive, np.prod(eta.shape) / n_sets - n_positive)
    if n_rarer >= _FEWEST_EXPECTED or _counts_items_one_by_one(loss):
        return
    groups = "" if eta.ndim == 2 else ", or groups= if these are the sets that count"
    warn_user(
        f"{eta.shape[0]} rows were decoded as one set, in which {n_rarer:.2g} samples "
        f"of the rarer class are expected. With fewer than {_FEWEST_EXPECTED}, the "
        "predictions can differ much from those of a call with more rows. Pass more "
        f"rows at once{groups}, or fit with strategy='auto', whose threshold does not "
        "depend on the call."
    )


def _counts_items_one_by_one(loss):
    """Tell whether the best decision on an item leaves the others alone."""
    alone, mixed = loss(*3 * np.eye(4)), loss(*1 - np.eye(4))
    return bool(np.allclose(mixed, (alone.sum() - alone) / 3))
