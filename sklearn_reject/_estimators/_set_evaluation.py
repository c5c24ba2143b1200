"""What a decoder learns from predictions out of sample, and how far they are off."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.sparse import issparse
from sklearn.isotonic import IsotonicRegression
from sklearn.model_selection import KFold

from sklearn_reject._estimators._set_items import choose_sets
from sklearn_reject._fitting._splits import DEFAULT_FOLDS
from sklearn_reject._validation import take_weight
from sklearn_reject.decoding import (
    SetRule,
    number_sets,
    sets_as_rows,
    sizes_of_sets,
    tune_threshold,
)

# Of sparse probabilities so many at most are made dense to fit curves to them.
_MOST_ENTRIES = 2**21


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
    keep_zeros: bool
    add_up: bool

    def __call__(self, eta):
        """Return calibrated probabilities, of the same form."""
        if issparse(eta):
            eta = eta.tocsc(copy=True)
            starts = zip(self.curves, eta.indptr[:-1], eta.indptr[1:], strict=True)
            for curve, start, stop in starts:
                eta.data[start:stop] = self._of_column(curve, eta.data[start:stop])
            return eta.tocsr()
        columns = zip(self.curves, np.atleast_2d(eta.T), strict=True)
        calibrated = np.column_stack([self._of_column(*pair) for pair in columns])
        if self.add_up:
            calibrated /= calibrated.sum(axis=1, keepdims=True)
        calibrated = calibrated.reshape(eta.shape)
        return np.where(eta > 0, calibrated, 0.0) if self.keep_zeros else calibrated

    def _of_column(self, curve, eta):
        if curve is None or not len(eta):
            return eta
        weight = np.sqrt(self.n_samples)
        return (weight * curve.predict(eta) + eta) / (weight + 1)


def _fit_curve(eta, truth, weight, keep_zeros):
    """Return the curve of some probabilities, None where there is one class only."""
    if keep_zeros:
        stored = eta > 0
        eta, truth, weight = eta[stored], truth[stored], take_weight(weight, stored)
    if truth.all() or not truth.any():
        return None
    curve = IsotonicRegression(y_min=0.0, y_max=1.0, out_of_bounds="clip")
    return curve.fit(eta, truth.astype(np.float64), sample_weight=weight)


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
    used = np.arange(len(rows)) if weight is None else np.flatnonzero(weight[rows])
    if issparse(eta) and strategy == "dta":
        n_rows = max(1, _MOST_ENTRIES // eta.shape[1])
        used = np.sort(np.random.default_rng(0).permutation(used)[:n_rows])
    rows, truth = rows[used], items.truth(y[rows[used]])
    samples = OutOfSample(
        rule,
        items.average,
        eta[used].toarray() if issparse(eta) else eta[used],
        truth.toarray() if issparse(truth) else truth,
        groups=take_weight(groups, rows),
        weight=take_weight(weight, rows),
        is_sparse=issparse(eta),
    )
    if strategy == "dta":
        return {
            "_calibrate": samples.fit_curves(),
            "calibration_gap_": samples.calibrated().measure_gap(),
        }
    tuned = samples.tune()
    samples = replace(samples, rule=replace(rule, threshold=tuned.threshold))
    return {
        "_calibrate": None,
        "threshold_": tuned.threshold,
        "tuned_loss_": tuned.loss,
        "calibration_gap_": samples.measure_gap(),
    }


@dataclass(frozen=True, eq=False)
class OutOfSample:
    """Probabilities of items out of sample, their truth, and the rule for them.

    The sets of a matrix are those of `average`. `groups` are the sets of the items of a
    vector, None for one set, and `weight` is that of each row in the mean, where each
    row is a set, never zero. Probabilities may come from a matrix that `is_sparse`.
    """

    rule: SetRule
    average: str
    eta: np.ndarray
    truth: np.ndarray
    groups: np.ndarray | None
    weight: np.ndarray | None
    is_sparse: bool

    @cached_property
    def parts(self):
        """Pairs (train, test) of rows; each is judged by what the others learn."""
        if len(self.eta) < 2:
            return []
        n_parts = min(DEFAULT_FOLDS, len(self.eta))
        return list(KFold(n_parts, shuffle=True, random_state=0).split(self.eta))

    def fit_curves(self, rows=slice(None)):
        """Return what calibrates probabilities, by some rows."""
        eta, truth, weight = self.eta[rows], self.truth[rows], self.weight
        weight = take_weight(weight, rows)
        columns = zip(np.atleast_2d(eta.T), np.atleast_2d(truth.T), strict=True)
        return Curves(
            tuple(_fit_curve(*column, weight, self.is_sparse) for column in columns),
            n_samples=len(eta) if weight is None else weight.sum(),
            keep_zeros=self.is_sparse,
            add_up=self.rule.distribution == "multinomial",
        )

    def calibrated(self):
        """Return the same with probabilities that curves of other parts calibrate."""
        eta = self.eta.copy()
        for train, test in self.parts:
            eta[test] = self.fit_curves(train)(self.eta[test])
        return replace(self, eta=eta)

    def tune(self, rows=slice(None)):
        """Return the threshold of the least loss on some rows."""
        groups, least = take_weight(self.groups, rows), self.rule.min_positive
        if not isinstance(rows, slice):
            # A part may have less of a set.
            shape = sets_as_rows(self.eta[rows], self.average).shape
            least = min(least, int(np.min(sizes_of_sets(shape, groups))))
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
        mask, eta, truth = (
            sets_as_rows(each, self.average)
            for each in (self._choose(), self.eta, self.truth)
        )
        sets, sizes = number_sets(eta.shape, self.groups)
        cells = 2 * sets + mask.ravel()
        n_predicted = np.bincount(sets[mask.ravel()], minlength=len(sizes))

        def mean_loss(truth):
            counts = np.bincount(cells[truth.ravel()], minlength=2 * len(sizes))
            fn, tp = counts.reshape(-1, 2).T
            fp = n_predicted - tp
            losses = self.rule.loss(tp, fp, fn, sizes - tp - fp - fn)
            return float(np.average(losses, weights=self.weight))

        rng = np.random.default_rng(0)
        n_draws = int(np.clip(_MOST_NUMBERS // eta.size, 10, _DRAWS))
        draw = _draw_items if self.rule.distribution == "independent" else _draw_one
        drawn = [mean_loss(draw(rng, eta)) for _ in range(n_draws)]
        expected, error = float(np.mean(drawn)), float(np.std(drawn))
        return CalibrationGap(expected, mean_loss(truth), error)

    def _choose(self):
        """Choose items; by thresholds of other parts, where the rule has one."""
        eta, rule = self.eta, self.rule
        if rule.threshold is not None:
            # Bounds on the size still see all items of a set, in their order.
            eta = eta - rule.threshold
            for train, test in self.parts:
                eta[test] = self.eta[test] - self.tune(train).threshold
            rule = replace(rule, threshold=0.0)
        options = {"groups": self.groups, "with_loss": False, "warns": False}
        return choose_sets(eta, rule, self.average, **options)[0]


def _draw_items(rng, eta):
    """Return labels of items that are drawn from their probabilities."""
    return rng.random(eta.shape) < eta


def _draw_one(rng, eta):
    """Return labels of which one of a row is true."""
    total = np.cumsum(eta, axis=1)
    drawn = rng.random((len(total), 1)) * total[:, -1:]
    first = np.minimum((total <= drawn).sum(axis=1), total.shape[1] - 1)
    return first[:, np.newaxis] == np.arange(total.shape[1])
