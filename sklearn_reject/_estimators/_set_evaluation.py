"""What a decoder learns from predictions out of sample, and how far they are off."""

from dataclasses import dataclass, replace

import numpy as np
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


@dataclass(frozen=True, eq=False)
class Curves:
    """An isotonic curve for each column of probabilities, None where there is none.

    A calibrated probability is the mean of the curve and of the probability as it is,
    which weigh sqrt(n_samples) to one: on few samples steps are noise, and within a
    step the order stays. Rows of one true class each `add_up` to one.
    """

    curves: list
    n_samples: float
    add_up: bool

    def __call__(self, eta):
        """Return calibrated probabilities, of the same form."""
        weight, calibrated = np.sqrt(self.n_samples), eta.copy()
        # A column of a matrix, or a vector, is changed in place.
        columns = zip(self.curves, np.atleast_2d(calibrated.T), strict=True)
        for curve, column in columns:
            if curve is not None:
                column[:] = (weight * curve.predict(column) + column) / (weight + 1)
        if self.add_up:
            calibrated /= calibrated.sum(axis=1, keepdims=True)
        return calibrated


def _fit_curve(eta, truth, weight):
    """Return the curve of some probabilities, None where there is one class only."""
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
    if weight is not None:
        used = weight[rows] > 0
        eta, rows = eta[used], rows[used]
    truth = items.truth(y[rows])
    if truth.shape != eta.shape:
        raise ValueError(
            f"The classifier has probabilities of shape {eta.shape}, but y of `fit` "
            f"has shape {truth.shape}. Pass y, or a classifier, for the same labels."
        )
    groups, weight = take_weight(groups, rows), take_weight(weight, rows)
    samples = OutOfSample(rule, items.average, eta, truth, groups, weight)
    if strategy == "dta":
        calibrated = samples.changed_by_others(samples.fit_curves)
        gap = samples.measure_gap(calibrated, samples.choose(calibrated, rule))
        return {"_calibrate": samples.fit_curves(), "calibration_gap_": gap}
    tuned = samples.tune()
    # Bounds on the size still see all items of a set, in their order.
    above = samples.changed_by_others(samples.tune_and_subtract)
    mask = samples.choose(above, replace(rule, threshold=0.0))
    return {
        "_calibrate": None,
        "threshold_": tuned.threshold,
        "tuned_loss_": tuned.loss,
        "calibration_gap_": samples.measure_gap(eta, mask),
    }


@dataclass(frozen=True, eq=False)
class OutOfSample:
    """Probabilities of items out of sample, their truth, and the rule for them.

    The sets of a matrix are those of `average`. `groups` are the sets of the items of a
    vector, None for one set, and `weight` is that of each row in the mean, where each
    row is a set, never zero.
    """

    rule: SetRule
    average: str
    eta: np.ndarray
    truth: np.ndarray
    groups: np.ndarray | None
    weight: np.ndarray | None

    def changed_by_others(self, learn):
        """Return probabilities, changed by what is learned from rows of other parts.

        Parts are drawn; a single row has no others.
        """
        if len(self.eta) < 2:
            return learn(slice(None))(self.eta)
        changed, n_parts = np.empty_like(self.eta), min(DEFAULT_FOLDS, len(self.eta))
        parts = KFold(n_parts, shuffle=True, random_state=0).split(self.eta)
        for train, test in parts:
            changed[test] = learn(train)(self.eta[test])
        return changed

    def fit_curves(self, rows=slice(None)):
        """Return what calibrates probabilities, by some rows."""
        eta, truth, weight = self.eta[rows], self.truth[rows], self.weight
        weight = take_weight(weight, rows)
        pairs = zip(np.atleast_2d(eta.T), np.atleast_2d(truth.T), strict=True)
        curves = [_fit_curve(*pair, weight) for pair in pairs]
        n_samples = len(eta) if weight is None else weight.sum()
        return Curves(curves, n_samples, self.rule.distribution == "multinomial")

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

    def tune_and_subtract(self, rows):
        """Return what subtracts the threshold of the least loss on some rows."""
        threshold = self.tune(rows).threshold
        return lambda eta: eta - threshold

    def choose(self, eta, rule):
        """Return the mask of the items that a rule chooses."""
        options = {"groups": self.groups, "with_loss": False, "warns": False}
        return choose_sets(eta, rule, self.average, **options)[0]

    def measure_gap(self, eta, mask):
        """Compare the loss of chosen items with that of labels drawn from `eta`."""
        eta, mask, truth = (
            sets_as_rows(each, self.average) for each in (eta, mask, self.truth)
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
        drawn = [mean_loss(self._draw(eta, rng)) for _ in range(n_draws)]
        expected, error = float(np.mean(drawn)), float(np.std(drawn))
        return CalibrationGap(expected, mean_loss(truth), error)

    def _draw(self, eta, rng):
        """Return labels that are drawn from probabilities."""
        if self.rule.distribution == "multinomial":
            return rng.multinomial(1, eta / eta.sum(axis=1, keepdims=True)) > 0
        return rng.random(eta.shape) < eta
