"""Which strategy has the least loss out of sample, and whether that was expected."""

from dataclasses import dataclass, replace
from functools import cache, cached_property, partial

import numpy as np

from sklearn_reject._estimators._set_calibration import (
    choose_calibration,
    cross_calibrate,
    fit_calibration,
)
from sklearn_reject._validation import take_weight
from sklearn_reject.decoding import (
    choose_sets,
    items_in_place,
    number_sets,
    sets_as_rows,
    size_within,
    sizes_of_sets,
    tune_threshold,
)
from sklearn_reject.exceptions import warn_user

STRATEGIES = ("dta", "eum")

# Labels are drawn from the probabilities so often, and so many numbers at most.
_DRAWS = 200
_MOST_NUMBERS = 20_000_000

# A gap is no chance beyond so many standard errors, and no trifle beyond this loss.
_ERRORS_APART = 4.0
_LEAST_GAP = 0.05

_BELOW_HALF = np.nextafter(0.5, 0)

# Fewer samples say nothing of probabilities.
_FEWEST_FOR_GAP = 50


@dataclass(frozen=True)
class CalibrationGap:
    """The loss that was expected of sets out of sample, and the one they had.

    Attributes
    ----------
    expected_loss : float
        Mean loss over labels drawn from the probabilities that sets are decoded with.

    realised_loss : float
        Loss on the true labels of the same samples, lower is better. That of the
        strategy in use.

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
    >>> abs(gap.realised_loss - gap.expected_loss) < 4 * gap.standard_error
    True
    """

    expected_loss: float
    realised_loss: float
    standard_error: float

    @property
    def size(self):
        """How far apart the two are."""
        return abs(self.realised_loss - self.expected_loss)

    @property
    def is_noise(self):
        """Whether honest probabilities would have such a gap."""
        return self.size <= max(_ERRORS_APART * self.standard_error, _LEAST_GAP)


@dataclass(frozen=True, eq=False)
class SetProblem:
    """Probabilities of items out of sample, their truth, and what is done with them.

    `groups` are the sets that are scored, None where all items of a vector are one set
    or the entries of a matrix are sets by `average`. Items are decided in `calls` of
    rows, None for one of all of them.
    `parts` are pairs (train, test) of positions; a part is judged by what was learned
    from the others. Zeros are kept where the probabilities were sparse. `weight` is
    that of each row in the mean, where each row is a set.
    """

    eta: np.ndarray
    truth: np.ndarray
    parts: tuple
    loss: object
    distribution: str
    min_positive: int
    max_positive: int | None
    average: str = "samples"
    groups: np.ndarray | None = None
    calls: np.ndarray | None = None
    keep_zeros: bool = False
    weight: np.ndarray | None = None

    def tune(self, rows=slice(None)):
        """Return the threshold of the least loss on some rows."""
        groups = None if self.groups is None else self.groups[rows]
        least = self.min_positive
        if not isinstance(rows, slice):
            # A part may have less of a set.
            sizes = sizes_of_sets(self._as_sets(self.eta[rows]).shape, groups)
            least = min(least, int(np.min(sizes)))
        return tune_threshold(
            self.truth[rows],
            self.eta[rows],
            loss=self.loss,
            groups=groups,
            average=self.average,
            min_positive=least,
            max_positive=self.max_positive,
            sample_weight=take_weight(self.weight, rows),
        )

    def decide(self, strategy):
        """Return which items a strategy predicts, learned from other parts."""
        eta, threshold = self.eta, None
        if strategy == "eum":
            eta, threshold = self._apart_at_half(), 0.5
        elif strategy != "dta":
            threshold = float(strategy)
        items, groups = self._items_of_calls(eta)
        chooser = size_within(
            (self.min_positive, self.max_positive),
            items.shape,
            groups,
            self.loss,
            self.distribution,
            needs_bounds=strategy in STRATEGIES,
            threshold=threshold,
            with_loss=False,
            ties="whole",
        )
        mask, _ = choose_sets(items, chooser, groups=groups, warns=False)
        mask = mask.reshape(self._as_sets(eta).shape)
        return items_in_place(mask, eta.shape, self.average)

    def _as_sets(self, eta):
        return sets_as_rows(eta, self.average)

    def _items_of_calls(self, eta):
        """Return the items that are decided, and the groups that are decided at once.

        They are a row a set where nothing parts a set, else a vector.
        """
        if self.calls is None or eta.ndim == 1:
            return self._as_sets(eta), self.groups if self.calls is None else self.calls
        calls = np.broadcast_to(self.calls[:, np.newaxis], eta.shape)
        calls, items = self._as_sets(calls), self._as_sets(eta)
        groups = np.arange(len(items))[:, np.newaxis] * (calls.max() + 1) + calls
        return items.ravel(), groups.ravel()

    def _apart_at_half(self):
        """Return the probabilities, moved such that 1/2 is the threshold of each part.

        Bounds on the size still see all items of a set, in their order.
        """
        eta = self.eta / 2
        for train, test in self.parts:
            reached = self.eta[test] >= self.tune(train).threshold
            eta[test] = np.where(
                reached, eta[test] + 0.5, np.minimum(eta[test], _BELOW_HALF)
            )
        return eta

    def losses(self, mask, truth=None):
        """Return the loss of each set that is scored."""
        truth = self.truth if truth is None else truth
        tp = self._count(truth & mask)
        fp, fn = self._count(mask) - tp, self._count(truth) - tp
        tn = self._sets[1] - tp - fp - fn
        return np.asarray(self.loss(tp, fp, fn, tn), dtype=np.float64)

    def mean_loss(self, mask, truth=None):
        """Return the mean loss over the sets that are scored."""
        return np.average(self.losses(mask, truth), weights=self.weight)

    @cached_property
    def _sets(self):
        """The number of the set of each item, and the sizes of the sets."""
        return number_sets(self._as_sets(self.eta).shape, self.groups)

    def _count(self, flags):
        sets, sizes = self._sets
        return np.bincount(sets[self._as_sets(flags).ravel()], minlength=len(sizes))

    def draw(self, rng):
        """Return labels that are drawn from the probabilities."""
        if self.distribution == "independent":
            return rng.random(self.eta.shape) < self.eta
        total = np.cumsum(self.eta, axis=1)
        drawn = rng.random((len(total), 1)) * total[:, -1:]
        truth = np.zeros(total.shape, dtype=bool)
        first = np.minimum((total <= drawn).sum(axis=1), total.shape[1] - 1)
        truth[np.arange(len(total)), first] = True
        return truth


def choose(problem, strategy, calibration):
    """Return the attributes that stand for what "auto" leaves open."""
    is_free = calibration == "auto" and problem.distribution == "independent"
    samples = {
        "eta": problem.eta,
        "truth": problem.truth,
        "keep_zeros": problem.keep_zeros,
    }
    # What is compared is used again.
    calibrated = cache(partial(cross_calibrate, parts=problem.parts, **samples))
    if calibration == "auto":
        calibration = None
    if is_free:
        calibration = choose_calibration(calibrated, problem.truth)
    wanted = strategy
    strategy, gap = _settle(replace(problem, eta=calibrated(calibration)), wanted)
    is_large = len(problem.eta) >= _FEWEST_FOR_GAP and not gap.is_noise
    if is_free and calibration is None and is_large:
        # The log loss had nothing to say of a part that the expected loss lives on.
        other = _settle(replace(problem, eta=calibrated("sigmoid")), wanted)
        if other[1].size < gap.size:
            calibration, (strategy, gap) = "sigmoid", other
            is_large = not gap.is_noise
    # Labels of a row may depend on each other, which no curve mends: what curves can do
    # is done.
    if is_large and not (is_free and problem.eta.ndim == 2):
        _warn_of_gap(gap, strategy, calibration, problem.distribution)
    curve = fit_calibration(calibration, **samples)
    found = {
        "strategy_": strategy,
        "calibration_": calibration,
        "calibration_gap_": gap,
        "_calibrate": curve,
    }
    if strategy == "eum":
        eta = problem.eta if curve is None else curve(problem.eta)
        tuned = replace(problem, eta=eta).tune()
        found |= {"threshold_": tuned.threshold, "tuned_loss_": tuned.loss}
    elif strategy != "dta":
        found["threshold_"] = float(strategy)
    return found


def _settle(problem, strategy):
    """Return the strategy in use for calibrated probabilities, and its gap."""
    if strategy == "auto":
        strategy, mask = _choose_strategy(problem)
    else:
        mask = problem.decide(strategy)
    return strategy, measure_gap(problem, mask)


def _warn_of_gap(gap, strategy, calibration, distribution):
    way_out = "Wrap the classifier in CalibratedClassifierCV, or use strategy='eum'"
    if distribution == "independent" and calibration is None:
        way_out = "Pass calibration='sigmoid' or 'isotonic'"
    elif strategy != "dta":
        way_out = (
            "The threshold does not depend on them, but expected_loss does. To "
            "correct it, wrap the classifier in CalibratedClassifierCV"
        )
    warn_user(
        f"Out of sample, the expected loss of the sets was {gap.expected_loss:.3g}, "
        f"but their realized loss was {gap.realised_loss:.3g}. The difference is "
        "significant, so the probabilities are not calibrated, or items depend on each "
        f"other. {way_out}.",
        once=True,
    )


def _choose_strategy(problem):
    masks = {strategy: problem.decide(strategy) for strategy in STRATEGIES}
    losses = {strategy: problem.mean_loss(mask) for strategy, mask in masks.items()}
    best = min(losses, key=losses.get)
    return best, masks[best]


def measure_gap(problem, mask):
    """Compare the loss of a mask with that under labels drawn from probabilities."""
    rng = np.random.default_rng(0)
    n_draws = int(np.clip(_MOST_NUMBERS // problem.eta.size, 10, _DRAWS))
    drawn = [problem.mean_loss(mask, problem.draw(rng)) for _ in range(n_draws)]
    return CalibrationGap(
        expected_loss=float(np.mean(drawn)),
        realised_loss=float(problem.mean_loss(mask)),
        standard_error=float(np.std(drawn)),
    )


def draw_calls(n_rows, batch_size):
    """Return the call of each of some rows, at random, of about the size named."""
    if batch_size is None or batch_size >= n_rows:
        return None
    n_calls = max(1, round(n_rows / batch_size))
    calls = np.arange(n_rows) % n_calls
    return np.random.default_rng(0).permutation(calls)
