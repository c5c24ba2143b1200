"""Bootstrap intervals of metrics, and of the difference of a metric on two models."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import ArrayLike
from scipy.special import ndtr, ndtri, stdtrit
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.utils import check_random_state, gen_even_slices
from sklearn.utils.parallel import Parallel, delayed

from sklearn_reject import _curves as curves
from sklearn_reject._curves._prefixes import RELATIVE_TOLERANCE
from sklearn_reject._interval import Interval
from sklearn_reject._labels import label_vector
from sklearn_reject._sklearn import _num_samples, _safe_indexing
from sklearn_reject._travel import Carried
from sklearn_reject._typing import Options, RandomState
from sklearn_reject._validation import (
    check_count,
    check_level,
    check_same_length,
    of_arrays,
    refuse_dask,
)
from sklearn_reject.exceptions import warn_user
from sklearn_reject.metrics._arrays import scores_and_losses
from sklearn_reject.metrics._metrics import augrc_score, aurc_score

# Rows of a batch of resamples, which keeps their counts in the cache.
_BATCH_ROWS = 2**16

# Below this number, resamples are too few alike for an interval that holds.
_FEWEST_UNITS = 10

# So many tell skewness and kurtosis, whatever the number of samples.
_MOST_PARTS = 100

# Of a t distribution, so that a thousand resamples reach into its tails.
_LEAST_FREEDOM = 4

# With a single loss they are two, and little is known of what others would be.
_TOO_LITTLE_FREEDOM = 3

_LARGEST_FAILING_SHARE = 0.05
_ROUNDING = 1e-12

# Parameters of metrics that are as long as a sample of few rows by chance.
_OF_CLASSES = ("labels", "target_names")

# What a metric may raise where a resample lacks something.
_FAILURES = (ValueError, ArithmeticError, IndexError)

# Of areas that are faster from the number of times of each sample, what may be given.
_POSITIONS = dict(enumerate(("y_true", "y_pred", "uncertainty")))
_OF_AREAS = {*_POSITIONS.values(), "loss", "labels"}


@of_arrays
def bootstrap_interval(
    metric: Callable[..., Any],
    samples: Sequence[Any] | Mapping[str, Any] | None,
    *,
    other: Sequence[ArrayLike] | Mapping[str, Any] | None = None,
    metric_params: Options | None = None,
    groups: ArrayLike | None = None,
    confidence_level: float = 0.95,
    n_resamples: int = 1000,
    n_jobs: int | None = None,
    random_state: RandomState | None = None,
) -> Interval:
    """Compute a bootstrap interval of a metric, or of its difference on two models.

    Rows are drawn with replacement, as many as there are, and all arrays are drawn
    together. Only the test set varies; the model is fitted once. So the interval is for
    the metric on the population from which the test set was drawn.

    The ends are quantiles of the values on the resamples, corrected for bias and skew
    (BCa), at a level that is raised where the value rests on few losses, by the degrees
    of freedom of its variance. For both, each of at most a hundred random parts of the
    samples is left out once.

    Parameters
    ----------
    metric : callable
        Of `sklearn_reject.metrics`, of `sklearn.metrics`, or any function of arrays
        that returns a number. It is called as ``metric(*samples, **metric_params)``.

    samples : tuple or dict of array-like, each of shape (n_samples, ...) or None
        The arrays of the metric that have one row per sample, in its order or by name,
        such as ``(y_true, y_pred, uncertainty)``.

    other : tuple or dict of array-like, default=None
        The arrays of another model, or score, for the **same** rows in the same order.
        The interval is that of ``metric(*samples) - metric(*other)``, both on the same
        resamples.

    metric_params : dict, default=None
        Further arguments of the metric, by name. They are the same for each resample,
        so weights and losses of the samples belong into `samples`, by name.

    groups : array-like of shape (n_samples,), default=None
        Samples that belong together, such as those of one patient. Whole groups are
        drawn, as many as there are. None assumes that rows are independent; if they are
        not, the interval is too narrow.

    confidence_level : float in (0, 1), default=0.95
        Share of such intervals, each from another test set, that contain the metric of
        the population. A single end is missed half as often as both.

    n_resamples : int, default=1000
        Number of resamples. The ends vary less with the seed the more there are.

    n_jobs : int, default=None
        Number of jobs that share the resamples. The interval does not depend on it.

    random_state : int, RandomState instance or None, default=None
        Source of the resamples.

    Returns
    -------
    interval : Interval
        `value`, the metric or the difference on the samples as they are, `low`, `high`
        and `n_samples`. The ends are NaN, with a warning, where the value is the same
        on all resamples: without any error among 50 samples nothing tells how many
        there are among others.

    Raises
    ------
    ValueError
        If `metric` is no function of arrays or returns no finite number, the arrays
        have different lengths, if a parameter is out of its range, or if the metric
        fails on more than 5% of the resamples.

    Warns
    -----
    RejectionWarning
        If the metric is undefined on some resamples, which are left out, if there are
        fewer than ten rows or groups, or if the value rests on a few of them.

    See Also
    --------
    RiskCoverageDisplay : Draws a band of such intervals with a `confidence_level`.

    Notes
    -----
    :func:`aurc_score` and :func:`augrc_score`, without weights and other options than
    `loss` and `labels`, are computed from sorted samples and the number of times that
    each is drawn. Other metrics are called for each resample, with their warnings
    turned off. A resample may lack a class: give metrics that look for classes their
    `labels`.

    The number of losses matters, not the number of samples. In simulations with 200
    samples, of which 20 are errors, nominal 90% intervals of the AuRC held in 89% of
    cases, 87% where the level was not raised, and 86% as plain quantiles; those of the
    difference of two scores in 88%, 84% and 82%. With 1,000 samples all were within 2%
    of 90%. Clearly fewer than ten losses tell little, and a warning says so.

    The losses of two opinions are arrays of their own, of a metric such as
    ``lambda gain, first, second: deferral_area_score(None, None, None, gain,
    loss=(first, second))``.

    A set that depends on a metric's arrays belongs inside of it. The accuracy on
    accepted samples is ``lambda y, p, a: accuracy_score(y[a], p[a])`` of
    ``(y_true, y_pred, accepted)``, so that their number varies, too.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn_reject.metrics import aurc_score, bootstrap_interval
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> clf = GaussianNB().fit(X[::2], y[::2])
    >>> y_true, y_pred = y[1::2], clf.predict(X[1::2])
    >>> uncertainty = 1 - clf.predict_proba(X[1::2]).max(axis=1)
    >>> area = bootstrap_interval(
    ...     aurc_score, (y_true, y_pred, uncertainty), random_state=0
    ... )
    >>> bool(area.low < area.value < area.high), area.n_samples
    (True, 284)

    Is it better than an order by one feature? The difference is negative if so:

    >>> difference = bootstrap_interval(
    ...     aurc_score,
    ...     (y_true, y_pred, uncertainty),
    ...     other=(y_true, y_pred, X[1::2, 0]),
    ...     random_state=0,
    ... )
    >>> bool(difference.high < 0)
    True
    """
    level = check_level(confidence_level, "confidence_level")
    check_resamples(n_resamples, level)
    is_scorer = hasattr(metric, "predict") or hasattr(metric, "set_score_request")
    if not callable(metric) or is_scorer:
        raise ValueError(
            f"metric must be a function of arrays, got {metric!r}. Predict first, and "
            "pass a function of predictions, such as sklearn_reject.metrics.aurc_score."
        )
    sides = [_Side(metric, samples, metric_params, "samples")]
    n_samples, value = sides[0].n_samples, sides[0].value
    if other is not None:
        sides.append(_Side(metric, other, metric_params, "other"))
        check_same_length(n_samples, other=range(sides[1].n_samples))
        value -= sides[1].value
    resamples = Resamples(n_samples, groups, n_resamples, random_state)
    of_batch = partial(_values_of_batch, sides, resamples)
    found = _share(of_batch, resamples.n_batches, n_jobs)
    values = _drop_failures(found[: resamples.n_drawn], "resamples")
    rounding = _ROUNDING * max(abs(side.value) for side in sides)
    if np.ptp(values) <= rounding:
        warn_user(
            f"The value is {value:g} on all {len(values)} resamples: perhaps nothing "
            "is wrong, or two scores rank alike. What other samples have is not known, "
            "so the ends of the interval are NaN.",
            UndefinedMetricWarning,
        )
        return Interval(value, np.nan, np.nan, n_samples)
    # Equal values must not be told apart by rounding.
    values[abs(values - value) <= rounding] = value
    left_out = _drop_failures(found[resamples.n_drawn :], "samples without a part")
    low, high = _ends(values, value, left_out, _widen(level, left_out))
    return Interval(value, float(low), float(high), n_samples)


def check_resamples(n_resamples, level):
    """Raise unless so many resamples reach the ends of an interval of that level."""
    least = int(np.ceil(2 / (1 - level) - 1e-9))
    if check_count(n_resamples, "n_resamples") < least:
        raise ValueError(
            f"n_resamples={n_resamples} is too few for confidence_level={level:g}: the "
            "ends of the interval would be beyond all resamples. Use at least "
            f"{least}; with ten times as many, the ends depend less on the seed."
        )


# What is resampled


class _Side:
    """A metric of the arrays of one model: its value, and those of resamples.

    Arrays have one row a sample; their keys are positions or names.
    """

    def __init__(self, metric, samples, params, name):
        self._metric, self._params, self._name = metric, dict(params or {}), name
        self._arrays = _read_samples(samples, name)
        given = [array for array in self._arrays.values() if array is not None]
        self.n_samples = _num_samples(given[0])
        for key, array in self._arrays.items():
            if array is not None:
                rows = range(_num_samples(array))
                check_same_length(self.n_samples, **{f"{name}[{key!r}]": rows})
        self._refuse_params()
        given = {_POSITIONS.get(key, key): array for key, array in self._arrays.items()}
        given |= self._params
        self._areas = None
        if metric in (aurc_score, augrc_score) and given.keys() <= _OF_AREAS:
            sample = scores_and_losses(**{"loss": "zero_one", "labels": None} | given)
            counted = curves.CountedSamples(*sample)
            self._areas = counted.aurc if metric is aurc_score else counted.augrc
            self._arrays = {0: None, 1: None, 2: sample[0], "loss": sample[1]}
            self._params = {}
        self.value = self._value_of_all()

    def _refuse_params(self):
        """Raise for parameters that have a value for each sample."""
        for key, value in self._params.items():
            is_long = np.shape(value)[-1:] == (self.n_samples,)
            if is_long and key not in _OF_CLASSES:
                raise ValueError(
                    f"metric_params[{key!r}] has one value per sample, but "
                    "metric_params are not resampled. Pass it by name in "
                    f"{self._name}, a dict of all arrays that are to be resampled."
                )

    def _call(self, rows=None):
        """Call the metric on some rows, or on all."""
        taken = {
            key: array if rows is None or array is None else _safe_indexing(array, rows)
            for key, array in self._arrays.items()
        }
        positional = [x for key, x in taken.items() if isinstance(key, int)]
        named = {key: x for key, x in taken.items() if not isinstance(key, int)}
        return self._metric(*positional, **named, **self._params)

    def _value_of_all(self):
        value = self._call()
        is_number = np.ndim(value) == 0 and np.asarray(value).dtype.kind in "biuf"
        if not is_number or not np.isfinite(value):
            raise ValueError(
                f"metric must return one finite number, got {value!r} on {self._name}. "
                "Wrap it in a function that does."
            )
        return float(value)

    def of_counts(self, counts):
        """Return a value a resample, NaN where the metric fails, and why one did."""
        if self._areas is not None:
            return self._areas(counts), None
        values, reason = np.full(len(counts), np.nan), None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # said of all samples already
            for number, times in enumerate(counts):
                rows = np.repeat(np.arange(self.n_samples), times)
                try:
                    values[number] = float(self._call(rows))
                except _FAILURES as error:
                    reason = reason or f"{type(error).__name__}: {error}"
        return np.where(np.isfinite(values), values, np.nan), reason


def _read_samples(samples, name):
    """Return arrays, or None, by their position or name."""
    arrays = {}
    if isinstance(samples, Mapping | tuple | list):
        arrays = dict(samples if isinstance(samples, Mapping) else enumerate(samples))
    if all(array is None for array in arrays.values()):
        raise ValueError(
            f"{name} must be a tuple of the arrays that the metric takes, such as "
            "(y_true, y_pred, uncertainty), or a dict of them by name, got "
            f"{type(samples).__name__} without an array."
        )
    for key, array in arrays.items():
        refuse_dask(array, f"{name}[{key!r}]")
        if array is not None and np.ndim(array) == 0 and not hasattr(array, "shape"):
            raise ValueError(
                f"{name}[{key!r}] must be an array with one row per sample, got "
                f"{array!r}. Pass what is the same for all samples in metric_params."
            )
    return arrays


class Resamples:
    """Draws, with replacement, of rows or of whole groups, and all but parts of them.

    The first `n_drawn` batches are draws, each with a seed of its own, so that they are
    the same however many jobs share them. In the others, one of at most a hundred
    parts is missing from the samples, for each part in turn.
    """

    def __init__(self, n_samples, groups, n_resamples, random_state):
        n_units, self._codes = n_samples, None  # of each row, its group
        if groups is not None:
            groups = label_vector(groups, "groups")
            check_same_length(n_samples, groups=groups)
            names, self._codes = np.unique(groups, return_inverse=True)
            n_units = len(names)
        if n_units < _FEWEST_UNITS:
            what = "samples" if groups is None else "groups"
            warn_user(
                f"Only {n_units} {what} are resampled. A bootstrap interval from so "
                "few is too narrow, and holds less often than its confidence says."
            )
        size = max(1, min(n_resamples, _BATCH_ROWS // n_samples))
        self._draws = _batches(n_resamples, size)
        self._parts = _batches(min(n_units, _MOST_PARTS), size)
        self.n_drawn = len(self._draws)
        self.n_batches = self.n_drawn + len(self._parts)
        entropy = check_random_state(random_state).randint(2**31, size=4)
        seeds = np.random.SeedSequence(entropy.tolist()).spawn(self.n_drawn + 1)
        *self._seeds, seed = seeds
        # At random, as neighbours or every hundredth row may be alike.
        parts = np.arange(n_units) % _MOST_PARTS
        self._part_of_units = np.random.default_rng(seed).permutation(parts)

    def counts(self, batch):
        """Return how often each row is in each resample, (n_resamples, n_samples)."""
        n_units = len(self._part_of_units)
        if batch < self.n_drawn:
            rng = np.random.default_rng(self._seeds[batch])
            draws = rng.integers(n_units, size=(len(self._draws[batch]), n_units))
            # One count of all, each resample having numbers of its own.
            offsets = np.arange(len(draws))[:, np.newaxis] * n_units
            counts = np.bincount((draws + offsets).ravel(), minlength=draws.size)
            counts = counts.reshape(draws.shape)
        else:
            parts = np.array(self._parts[batch - self.n_drawn])
            is_left = self._part_of_units != parts[:, np.newaxis]
            counts = is_left.astype(np.intp)
        return counts if self._codes is None else counts[:, self._codes]


def _batches(n_tasks, size):
    return [range(n_tasks)[start : start + size] for start in range(0, n_tasks, size)]


# What values of resamples tell


def _values_of_batch(sides, resamples, batch):
    """Return values of a batch of resamples, and why one of them is NaN, or None."""
    counts = resamples.counts(batch)
    found = [side.of_counts(counts) for side in sides]
    values = found[0][0] if len(found) == 1 else found[0][0] - found[1][0]
    return values, next((reason for _, reason in found if reason), None)


def _share(function, n_tasks, n_jobs):
    """Return what a function returns of 0, 1, ... below a number, in that order."""
    shared = Carried(function)
    slices = gen_even_slices(n_tasks, min(effective_n_jobs(n_jobs), n_tasks))
    tasks = (delayed(_call_each)(shared, range(n_tasks)[part]) for part in slices)
    return list(chain.from_iterable(Parallel(n_jobs=n_jobs)(tasks)))


def _call_each(function, tasks):
    return [function.value(task) for task in tasks]


def _drop_failures(found, what):
    """Return the values that are no NaN, of pairs of values and a reason or None."""
    values = np.concatenate([values for values, _ in found])
    failed = np.isnan(values)
    if not failed.any():
        return values
    reason = next((reason for _, reason in found if reason), "it is not finite")
    message = f"metric fails on {failed.sum()} of {len(values)} {what} ({reason})."
    if failed.mean() > _LARGEST_FAILING_SHARE:
        raise ValueError(
            f"{message} Add rows that have what it needs, use another metric, or, if "
            "it takes `labels`, pass all classes."
        )
    warn_user(f"{message} These resamples are ignored.")
    return values[~failed]


def percentile_ends(values, level, *, axis=None):
    """Return the quantiles that leave half of 1 - level on either side."""
    tail = (1 - level) / 2
    return np.quantile(values, [tail, 1 - tail], axis=axis)


def _ends(values, value, left_out, level):
    """Return the bias-corrected and accelerated ends of an interval (Efron 1987).

    Where the value is outside of all resamples they are plain quantiles. `left_out`
    are the values of the sample without each of its parts.
    """
    # Of equal ones one half is below; sums in another order may differ by rounding.
    is_equal = np.isclose(values, value, rtol=RELATIVE_TOLERANCE, atol=0)
    bias = ndtri(np.mean(np.where(is_equal, 0.5, values < value)))
    if not np.isfinite(bias):
        warn_user(
            f"The value, {value:g}, is outside the range of all {len(values)} "
            "resamples: repeated rows change this metric more than chance does. Do "
            "not rely on its interval, which lacks the correction for bias."
        )
        return percentile_ends(values, level)
    away = left_out.mean() - left_out
    spread = np.sqrt(away @ away)
    # Without a spread no skew is seen either.
    acceleration = ((away / spread) ** 3).sum() / 6 if spread > 0 else 0.0
    tail = (1 - level) / 2
    shift = bias + ndtri([tail, 1 - tail])
    shares = ndtr(bias + shift / (1 - acceleration * shift))
    return np.quantile(values, shares)


def _widen(level, left_out):
    """Return a higher level, which makes up for a spread that is itself a guess.

    A variance of n values of kurtosis k has about 2 n / (k - 1) degrees of freedom
    (Satterthwaite); the tails of Student's t are then taken where those of a normal
    distribution are. With twenty losses among 200 samples that are seven to eighteen.
    """
    away = left_out - left_out.mean()
    n_parts, squares = len(away), away @ away
    if squares == 0:
        return level
    excess = n_parts * ((away / np.sqrt(squares)) ** 4).sum() - 1
    freedom = 2 * n_parts / max(excess, 2 * n_parts / (n_parts - 1))
    if freedom < _TOO_LITTLE_FREEDOM and n_parts >= _FEWEST_UNITS:
        warn_user(
            "The value depends on a few samples or groups, for example if hardly any "
            "sample has a loss. The interval was widened, but it may contain the value "
            "less often than its confidence says."
        )
    tail = ndtr(stdtrit(max(freedom, _LEAST_FREEDOM), (1 - level) / 2))
    return 1 - 2 * float(tail)
