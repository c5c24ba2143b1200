"""Sets of items: what they are, which are chosen, and what is learned out of sample."""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import issparse
from sklearn.isotonic import IsotonicRegression

from sklearn_reject._estimators._base import check_class_labels, find_classes
from sklearn_reject._fitting._folds import FoldScore
from sklearn_reject._fitting._splits import ALL_ROWS
from sklearn_reject._response._positive import (
    item_probabilities,
    refuse_unknown,
    widen_sets,
    with_unseen,
)
from sklearn_reject._sklearn import _routing_enabled
from sklearn_reject._validation import check_option, index_labels, take_weight
from sklearn_reject.decoding import (
    AVERAGES,
    add_positive,
    as_array,
    count_sets,
    find_positive,
    number_sets,
    read_indicators,
    tune_threshold,
)
from sklearn_reject.exceptions import warn_user

# Of the rarer class so many samples are to be expected in a set.
_FEWEST_EXPECTED = 5


@dataclass(frozen=True, eq=False)
class Items(FoldScore):
    """What is in a set or not: samples, labels of a sample, or its classes.

    Of two `classes` the last is the positive one. They are None where there are several
    labels a sample. `pos_label` is what the user called it.
    """

    target_type: str
    classes: np.ndarray | None
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

    def groups(self, groups, n_samples, *, may_split=False):
        """Return the set of each sample as an array, None where no groups are sets.

        These are refused, unless a splitter or another router may have asked for them.
        """
        if groups is None:
            return None
        if self.target_type == "binary":
            number_sets((n_samples,), groups)  # raises for what are no sets
            return np.asarray(groups)
        if may_split or _routing_enabled():
            return None
        raise ValueError(
            "groups are sets where there are two classes, but each sample is one here. "
            "Omit groups."
        )

    def probabilities(self, estimator, X):
        """Return the probabilities of the items, (n_samples,) or (n_samples, n)."""
        eta = item_probabilities(estimator, X, self.classes)
        is_binary = self.target_type == "binary"
        return np.ascontiguousarray(eta[:, -1]) if is_binary else eta

    def evaluate_response(self, response, y):
        """Return the probabilities of the items of some samples."""
        return (self.probabilities(response.estimator, response.X),)

    def truth(self, y):
        """Return whether each item is positive."""
        if self.classes is None:
            return (y.toarray() if issparse(y) else y) != 0
        if self.target_type == "binary":
            return y == self.classes[-1]
        return y[:, None] == self.classes

    def labels(self, mask):
        """Return labels of samples for the items that are chosen of them."""
        if self.classes is None:
            return mask.astype(np.int64)
        # One class only: there is no other label.
        return self.classes[np.where(mask, -1, 0)]

    def count(self, y, seen, mask, groups):
        """Return tp, fp, fn and tn of the sets that a mask chooses.

        Classes that the classifier has not `seen` are in none of them.
        """
        if self.classes is None:
            return count_sets(self.truth(y), mask, average=self.average)
        seen = np.asarray(seen)
        classes = with_unseen(seen, y)
        if len(classes) <= 2:
            positive = find_positive(classes, self.pos_label)
            labels = self.labels(mask)
            return count_sets(y, labels, groups=groups, pos_label=positive)
        if self.target_type == "binary":
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


def check_set_labels(y):
    """Return labels as a vector of classes, or as indicators of several labels."""
    array = as_array(y, "y")  # raises for lists of labels and masked arrays
    if not issparse(array) and (array.ndim != 2 or array.shape[1] == 1):
        return check_class_labels(y)
    wanted = "a vector of class labels or a matrix of indicators, 0 and 1"
    way_out = "Encode it with MultiLabelBinarizer"
    return read_indicators(array, "y", wanted, way_out).astype(np.int64)


def find_items(decoder, y):
    """Return what the items of checked labels are for a decoder."""
    classes, target_type = None, "multilabel"
    check_option(decoder.average, "average", AVERAGES)
    if y.ndim == 1:
        classes = find_classes(decoder.estimator, y)
        # A frozen classifier may have classes of each of several labels.
        unknown = y if classes.ndim > 1 else y[index_labels(y, classes)[1]]
        if len(unknown):
            refuse_unknown(unknown, classes)
        target_type = "binary" if len(classes) <= 2 else "multiclass"
    defaults = {"average": ("multilabel", "samples"), "pos_label": ("binary", None)}
    for name, (kind, default) in defaults.items():
        given = getattr(decoder, name)
        if target_type != kind and given != default:
            raise ValueError(
                f"{name}={given!r} is for {kind} targets, but y is {target_type}. Set "
                f"it to {default!r}."
            )
    pos_label = decoder.pos_label
    if pos_label is not None:
        positive = find_positive(classes, pos_label)
        is_positive = classes == positive
        last = classes[is_positive] if is_positive.any() else [positive]
        classes = np.append(classes[~is_positive], last)
    elif target_type == "binary":
        classes = add_positive(classes)
    return Items(target_type, classes, decoder.average, pos_label)


# Choice


def is_by_item(rule):
    """Tell whether a threshold decides on each item, whatever its set is."""
    is_bounded = rule.min_positive > 0 or rule.max_positive is not None
    return rule.threshold is not None and not is_bounded


def warn_of_few_rows(eta, loss, average):
    """Warn where the samples of a call are too few to be sets of their own."""
    n_sets = eta.shape[1] if average == "macro" else 1
    n_positive = eta.sum() / n_sets
    n_rarer = min(n_positive, eta.size / n_sets - n_positive)
    # Of a loss that is linear in the counts, the best decision on an item leaves the
    # others alone.
    alone, mixed = loss(*3 * np.eye(4)), loss(*1 - np.eye(4))
    if n_rarer < _FEWEST_EXPECTED and not np.allclose(mixed, (alone.sum() - alone) / 3):
        warn_user(
            f"{len(eta)} rows were decoded as one set, in which {n_rarer:.2g} samples "
            "of the rarer class are expected: predictions depend on the call. Pass "
            "more rows at once, with two classes groups=, or fit with strategy='auto'."
        )


# What is learned out of sample


@dataclass(frozen=True, eq=False)
class Curves:
    """An isotonic curve for each column of probabilities, as points to interpolate.

    A calibrated probability is the mean of the curve and of the probability as it is,
    where the curve has a `weight`, the root of the number of samples, to one: on few
    samples steps are noise, and within a step the order stays. Rows of one true class
    each `add_up` to one.
    """

    curves: list
    weight: float
    add_up: bool

    def __call__(self, eta):
        """Return calibrated probabilities, of the same form."""
        calibrated = eta.copy()
        # A column of a matrix, or a vector, is changed in place.
        for curve, column in zip(self.curves, np.atleast_2d(calibrated.T), strict=True):
            steps = np.interp(column, *curve)
            column[:] = (self.weight * steps + column) / (self.weight + 1)
        if self.add_up:
            calibrated /= calibrated.sum(axis=1, keepdims=True)
        return calibrated


def fit_curves(eta, truth, weight, distribution):
    """Return what calibrates probabilities like these, whose truth is known."""
    pairs = zip(np.atleast_2d(eta.T), np.atleast_2d(truth.T), strict=True)
    curves = [_fit_curve(*pair, weight) for pair in pairs]
    # A sample of weight two counts as two.
    n_samples = len(eta) if weight is None else weight.sum()
    return Curves(curves, np.sqrt(n_samples), distribution == "multinomial")


def _fit_curve(eta, truth, weight):
    """Return points of the curve of some probabilities, of none for one class only."""
    used = ALL_ROWS if weight is None else weight > 0
    if truth[used].all() or not truth[used].any():
        return (0.0, 1.0), (0.0, 1.0)
    curve = IsotonicRegression(y_min=0.0, y_max=1.0)
    curve.fit(eta, truth.astype(np.float64), sample_weight=weight)
    return curve.X_thresholds_, curve.y_thresholds_


def learn_out_of_sample(rule, strategy, items, evaluated, y, groups, weight):
    """Return the attributes of a decoder that are learned out of sample.

    `groups` and `weight` are those of all samples, which `y` has labels of.
    """
    eta, rows = evaluated.scores, np.arange(y.shape[0])[evaluated.rows]
    groups, weight = take_weight(groups, rows), take_weight(weight, rows)
    truth = items.truth(y[rows])
    if truth.shape != eta.shape:
        raise ValueError(
            f"The classifier has probabilities of shape {eta.shape}, but y of `fit` "
            f"has shape {truth.shape}. Pass y, or a classifier, for the same labels."
        )
    if strategy == "dta":
        return {"_calibrate": fit_curves(eta, truth, weight, rule.distribution)}
    options = {"groups": groups, "average": items.average, "sample_weight": weight}
    tuned = tune_threshold(truth, eta, loss=rule.loss, **options)
    return {"threshold_": tuned.threshold, "tuned_loss_": tuned.loss}
