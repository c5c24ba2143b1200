"""Sets of items: what they are, which are chosen, and what is learned out of sample."""

from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import issparse
from sklearn.isotonic import IsotonicRegression

from sklearn_reject._estimators._base import check_class_labels, find_classes
from sklearn_reject._fitting._folds import FoldScore
from sklearn_reject._fitting._splits import ALL_ROWS, inner_folds
from sklearn_reject._response._keys import row_keys
from sklearn_reject._response._positive import (
    item_probabilities,
    refuse_unknown,
    widen_sets,
    with_unseen,
)
from sklearn_reject._sklearn import _num_samples, _routing_enabled
from sklearn_reject._validation import (
    check_option,
    check_same_length,
    index_labels,
    take_weight,
)
from sklearn_reject.decoding import (
    AVERAGES,
    SetRule,
    add_positive,
    as_array,
    as_flags,
    choose_items,
    count_sets,
    find_positive,
    mend_flags,
    number_sets,
    sets_as_rows,
    show_odd,
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
            check_same_length(n_samples, groups=groups)
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


def choose_sets(eta, rule, average, *, with_loss=False, **options):
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
        return np.argsort(row_keys(X, ALL_ROWS), kind="stable")
    except ValueError:
        return np.arange(_num_samples(X))


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
        columns = zip(self.curves, np.atleast_2d(calibrated.T), strict=True)
        for curve, column in columns:
            steps = np.interp(column, *curve)
            column[:] = (self.weight * steps + column) / (self.weight + 1)
        if self.add_up:
            calibrated /= calibrated.sum(axis=1, keepdims=True)
        return calibrated


def _fit_curve(eta, truth, weight):
    """Return points of the curve of some probabilities, of none for one class only."""
    used = ALL_ROWS if weight is None else weight > 0
    if truth[used].all() or not truth[used].any():
        return (0.0, 1.0), (0.0, 1.0)
    curve = IsotonicRegression(y_min=0.0, y_max=1.0)
    curve.fit(eta, truth.astype(np.float64), sample_weight=weight)
    return curve.X_thresholds_, curve.y_thresholds_


# Labels are drawn from the probabilities so often, and so many numbers at most.
_DRAWS = 50

_MOST_NUMBERS = 20_000_000

# A gap is no chance beyond so many standard errors, and no trifle beyond this loss.
_ERRORS_APART = 4.0

_LEAST_GAP = 0.05


@dataclass(frozen=True)
class CalibrationGap:
    """The loss that was expected of sets out of sample, and the one they had.

    Attributes
    ----------
    expected_loss : float
        Mean loss over labels drawn from the probabilities that sets are decoded with.

    realised_loss : float
        Loss on the true labels of the same samples, lower is better.

    standard_error : float
        Standard deviation of the loss over the drawn labels: by so much it differs from
        the expected one by chance if the probabilities are honest.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn_reject import ExpectedLossDecoder
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> gap = ExpectedLossDecoder(GaussianNB()).fit(X, y).calibration_gap_
    >>> round(gap.expected_loss, 2), round(gap.realised_loss, 2)
    (0.02, 0.05)
    """

    expected_loss: float
    realised_loss: float
    standard_error: float

    @property
    def is_noise(self):
        """Whether honest probabilities would have such a gap."""
        gap = abs(self.realised_loss - self.expected_loss)
        return gap <= max(_ERRORS_APART * self.standard_error, _LEAST_GAP)


def learn_out_of_sample(rule, strategy, items, evaluated, y, groups, weight):
    """Return the attributes of a decoder that are learned out of sample.

    `groups` and `weight` are those of all samples, which `y` has labels of.
    """
    eta, rows = evaluated.scores, np.arange(y.shape[0])[evaluated.rows]
    y, groups, weight = y[rows], take_weight(groups, rows), take_weight(weight, rows)
    truth = items.truth(y)
    if truth.shape != eta.shape:
        raise ValueError(
            f"The classifier has probabilities of shape {eta.shape}, but y of `fit` "
            f"has shape {truth.shape}. Pass y, or a classifier, for the same labels."
        )
    parts = inner_folds(np.arange(len(rows)), y, y.ndim == 1) if len(rows) > 1 else ()
    if strategy == "eum":
        rule = replace(rule, threshold=0.0)  # once a threshold is subtracted
    samples = OutOfSample(rule, items.average, eta, truth, groups, weight)
    if strategy == "dta":
        eta = samples.change(OutOfSample.calibration, parts)
        gap = samples.measure_gap(eta, eta)
        return {"_calibrate": samples.calibration(), "calibration_gap_": gap}
    tuned = samples.tune()
    # Bounds on the size still see all items of a set, in their order.
    gap = samples.measure_gap(eta, samples.change(OutOfSample.subtraction, parts))
    learned = {"threshold_": tuned.threshold, "tuned_loss_": tuned.loss}
    return learned | {"calibration_gap_": gap}


@dataclass(frozen=True, eq=False)
class OutOfSample:
    """Probabilities of items out of sample, their truth, and the rule for them.

    The sets of a matrix are those of `average`. `groups` are the sets of the items of a
    vector, None for one set, and `weight` is that of each row in the mean, where each
    row is a set.
    """

    rule: SetRule
    average: str
    eta: np.ndarray
    truth: np.ndarray
    groups: np.ndarray | None
    weight: np.ndarray | None

    def change(self, learn, parts):
        """Return probabilities, changed by what is learned from rows of other parts.

        `parts` are pairs (train, test) of positions.
        """
        changed = self.eta.copy()
        for train, test in parts:
            changed[test] = learn(self.take(train))(self.eta[test])
        return changed

    def take(self, rows):
        """Return some of the rows, which may have less of a set than is to be taken."""
        arrays = self.eta, self.truth, self.groups, self.weight
        eta, truth, groups, weight = (take_weight(each, rows) for each in arrays)
        sizes = number_sets(sets_as_rows(eta, self.average).shape, groups)[1]
        least = min(self.rule.min_positive, int(sizes.min()))
        rule = replace(self.rule, min_positive=least)
        return OutOfSample(rule, self.average, eta, truth, groups, weight)

    def calibration(self):
        """Return what calibrates probabilities."""
        pairs = zip(np.atleast_2d(self.eta.T), np.atleast_2d(self.truth.T), strict=True)
        curves = [_fit_curve(*pair, self.weight) for pair in pairs]
        n_samples = len(self.eta) if self.weight is None else self.weight.sum()
        add_up = self.rule.distribution == "multinomial"
        return Curves(curves, np.sqrt(n_samples), add_up)

    def tune(self):
        """Return the threshold of the least loss."""
        rule, sets = self.rule, {"groups": self.groups, "average": self.average}
        bounds = {"min_positive": rule.min_positive, "max_positive": rule.max_positive}
        options = {"loss": rule.loss, "sample_weight": self.weight, **sets, **bounds}
        return tune_threshold(self.truth, self.eta, **options)

    def subtraction(self):
        """Return what subtracts the threshold of the least loss."""
        threshold = self.tune().threshold
        return lambda eta: eta - threshold

    def measure_gap(self, eta, values):
        """Compare the loss of a choice by `values` with that of labels drawn anew."""
        options = {"groups": self.groups, "warns": False}
        mask, _ = choose_sets(values, self.rule, self.average, **options)
        arrays = eta, mask, self.truth
        eta, mask, truth = (sets_as_rows(each, self.average) for each in arrays)
        sets, sizes = number_sets(eta.shape, self.groups)
        cells = 2 * sets + mask.ravel()
        n_predicted = np.bincount(sets[mask.ravel()], minlength=len(sizes))

        def mean_loss(truth):
            counts = np.bincount(cells[truth.ravel()], minlength=2 * len(sizes))
            fn, tp = counts.reshape(-1, 2).T
            fp = n_predicted - tp
            losses = self.rule.loss(tp, fp, fn, sizes - tp - fp - fn)
            return float(np.average(losses, weights=self.weight))

        def draw():
            if self.rule.distribution == "multinomial":
                return rng.multinomial(1, eta / eta.sum(axis=1, keepdims=True)) > 0
            return rng.random(eta.shape) < eta

        rng = np.random.default_rng(0)
        n_draws = int(np.clip(_MOST_NUMBERS // eta.size, 10, _DRAWS))
        drawn = [mean_loss(draw()) for _ in range(n_draws)]
        expected, error = float(np.mean(drawn)), float(np.std(drawn))
        return CalibrationGap(expected, mean_loss(truth), error)
