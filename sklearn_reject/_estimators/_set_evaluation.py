"""What a decoder learns from predictions out of sample, and how far they are off."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.sparse import issparse
from sklearn.isotonic import IsotonicRegression

from sklearn_reject._validation import take_weight
from sklearn_reject.decoding import (
    SetRule,
    choose_items,
    number_sets,
    sets_as_rows,
    sizes_of_sets,
    tune_threshold,
)


@dataclass(frozen=True, eq=False)
class Curves:
    """An isotonic curve for each column of probabilities, None where there is none.

    A calibrated probability is the mean of the curve and of the probability as it is,
    which weigh sqrt(n_samples) to one: on few samples steps are noise, and within a
    step the order stays. Zeros that `keep_zeros` are those that a sparse matrix does
    not store; rows of one true class each `add_up` to one.
    """

    curves: tuple
    n_samples: float
    keep_zeros: bool = False
    add_up: bool = False

    def __call__(self, eta):
        """Return calibrated probabilities, of the same form."""
        if issparse(eta):
            return self._calibrate_stored(eta)
        columns = zip(self.curves, np.atleast_2d(eta.T), strict=True)
        calibrated = np.column_stack([self._of_column(*pair) for pair in columns])
        if self.add_up:
            calibrated /= calibrated.sum(axis=1, keepdims=True)
        if self.keep_zeros:
            calibrated = np.where(eta > 0, calibrated, 0.0)
        return calibrated.reshape(eta.shape)

    def _of_column(self, curve, eta):
        if curve is None:
            return eta
        weight = np.sqrt(self.n_samples)
        return (weight * curve.predict(eta) + eta) / (weight + 1)

    def _calibrate_stored(self, eta):
        eta = eta.tocsc(copy=True)
        ends = zip(eta.indptr[:-1], eta.indptr[1:], strict=True)
        for curve, (start, stop) in zip(self.curves, ends, strict=True):
            if stop > start:
                eta.data[start:stop] = self._of_column(curve, eta.data[start:stop])
        return eta.tocsr()


def fit_curves(eta, truth, *, weight=None, keep_zeros=False, add_up=False):
    """Return curves for a vector of probabilities, or for each column of a matrix.

    Items of a set count alike, and rows that are sets by their weight. A column with
    one class has no curve.
    """
    n_samples = len(eta)
    if weight is not None:
        eta, truth, weight = eta[weight > 0], truth[weight > 0], weight[weight > 0]
        n_samples = weight.sum()
    columns = zip(np.atleast_2d(eta.T), np.atleast_2d(truth.T), strict=True)
    curves = tuple(_fit_curve(*column, weight, keep_zeros) for column in columns)
    return Curves(curves, n_samples, keep_zeros, add_up)


def _fit_curve(eta, truth, weight, keep_zeros):
    if keep_zeros:
        stored = eta > 0
        eta, truth, weight = eta[stored], truth[stored], take_weight(weight, stored)
    if truth.all() or not truth.any():
        return None
    curve = IsotonicRegression(y_min=0.0, y_max=1.0, out_of_bounds="clip")
    return curve.fit(eta, truth.astype(np.float64), sample_weight=weight)


# Labels are drawn from the probabilities so often, and so many numbers at most.
_DRAWS = 200

_MOST_NUMBERS = 20_000_000

# A gap is no chance beyond so many standard errors, and no trifle beyond this loss.
_ERRORS_APART = 4.0

_LEAST_GAP = 0.05

_BELOW_HALF = np.nextafter(0.5, 0)


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


@dataclass(frozen=True, eq=False)
class OutOfSample:
    """Probabilities of items out of sample, their truth, and the rule for them.

    The sets of a matrix are those of `average`. `groups` are the sets of the items of a
    vector, None for one set, and `weight` is that of each row in the mean, where each
    row is a set. `parts` are pairs (train, test) of positions; a part is judged by what
    was learned from the others.
    """

    rule: SetRule
    average: str
    eta: np.ndarray
    truth: np.ndarray
    parts: tuple
    groups: np.ndarray | None = None
    weight: np.ndarray | None = None

    def fit_curves(self, *, keep_zeros=False):
        """Return what calibrates the probabilities, and these calibrated by others."""
        add_up = self.rule.distribution == "multinomial"
        options = {"keep_zeros": keep_zeros, "add_up": add_up}

        def fit(rows):
            weight = take_weight(self.weight, rows)
            return fit_curves(
                self.eta[rows], self.truth[rows], weight=weight, **options
            )

        eta = self.eta.copy()
        for train, test in self.parts:
            eta[test] = fit(train)(self.eta[test])
        return fit(slice(None)), replace(self, eta=eta)

    def tune(self, rows=slice(None)):
        """Return the threshold of the least loss on some rows."""
        groups = None if self.groups is None else self.groups[rows]
        least = self.rule.min_positive
        if not isinstance(rows, slice):
            # A part may have less of a set.
            sizes = sizes_of_sets(self._as_sets(self.eta[rows]).shape, groups)
            least = min(least, int(np.min(sizes)))
        return tune_threshold(
            self.truth[rows],
            self.eta[rows],
            loss=self.rule.loss,
            groups=groups,
            average=self.average,
            min_positive=least,
            max_positive=self.rule.max_positive,
            sample_weight=take_weight(self.weight, rows),
        )

    def measure_gap(self):
        """Compare the loss of the chosen sets with that of labels that are drawn."""
        mask = self._choose()
        rng = np.random.default_rng(0)
        n_draws = int(np.clip(_MOST_NUMBERS // self.eta.size, 10, _DRAWS))
        drawn = [self._mean_loss(mask, self._draw(rng)) for _ in range(n_draws)]
        return CalibrationGap(
            expected_loss=float(np.mean(drawn)),
            realised_loss=float(self._mean_loss(mask, self.truth)),
            standard_error=float(np.std(drawn)),
        )

    def _choose(self):
        """Choose items; by thresholds of other parts, where the rule has one."""
        options = {"groups": self.groups, "with_loss": False, "warns": False}
        if self.rule.threshold is None:
            return choose_items(self.eta, self.rule, self.average, **options)[0]
        # Probabilities are moved such that 1/2 is the threshold of each part. Bounds on
        # the size still see all items of a set, in their order.
        eta = self.eta / 2
        for train, test in self.parts:
            reached = self.eta[test] >= self.tune(train).threshold
            eta[test] = np.where(
                reached, eta[test] + 0.5, np.minimum(eta[test], _BELOW_HALF)
            )
        rule = replace(self.rule, threshold=0.5)
        return choose_items(eta, rule, self.average, **options)[0]

    def _mean_loss(self, mask, truth):
        tp = self._count(truth & mask)
        fp, fn = self._count(mask) - tp, self._count(truth) - tp
        tn = self._sets[1] - tp - fp - fn
        return np.average(self.rule.loss(tp, fp, fn, tn), weights=self.weight)

    def _count(self, flags):
        sets, sizes = self._sets
        return np.bincount(sets[self._as_sets(flags).ravel()], minlength=len(sizes))

    @cached_property
    def _sets(self):
        """The number of the set of each item, and the sizes of the sets."""
        return number_sets(self._as_sets(self.eta).shape, self.groups)

    def _as_sets(self, items):
        return sets_as_rows(items, self.average)

    def _draw(self, rng):
        """Return labels that are drawn from the probabilities."""
        if self.rule.distribution == "independent":
            return rng.random(self.eta.shape) < self.eta
        total = np.cumsum(self.eta, axis=1)
        drawn = rng.random((len(total), 1)) * total[:, -1:]
        truth = np.zeros(total.shape, dtype=bool)
        first = np.minimum((total <= drawn).sum(axis=1), total.shape[1] - 1)
        truth[np.arange(len(total)), first] = True
        return truth
