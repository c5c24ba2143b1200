"""The sets that a call of a decoder makes of its items."""

from contextlib import contextmanager

import numpy as np
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier
from sklearn.utils import get_tags

from sklearn_reject._response import Response, row_keys
from sklearn_reject._sklearn import _routing_enabled
from sklearn_reject._validation import require_in_memory
from sklearn_reject.decoding import AVERAGES, check_average

# They take several labels a sample, and do not say so.
_ONE_A_LABEL = (OneVsRestClassifier, MultiOutputClassifier, ClassifierChain)


def check_average_of(average, target_type):
    """Raise unless items of this kind can be averaged so."""
    check_average(average, (1, 1), options=AVERAGES)
    if average != "samples" and target_type != "multilabel":
        raise ValueError(
            f"average={average!r} is for multilabel targets, but y is {target_type}. "
            "Set average to 'samples'."
        )


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
