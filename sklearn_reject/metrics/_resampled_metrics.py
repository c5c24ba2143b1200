"""Metrics of resampled rows: called on each, or computed from sorted samples."""

import warnings
from collections.abc import Mapping

import numpy as np

from sklearn_reject import _curves as curves
from sklearn_reject._sklearn import _num_samples, _safe_indexing
from sklearn_reject._validation import check_same_length, refuse_dask
from sklearn_reject.metrics._deferral import is_pair
from sklearn_reject.metrics._losses import is_vector
from sklearn_reject.metrics._risk_coverage import (
    augrc_score,
    aurc_score,
    scores_and_losses,
)

# Keywords of metrics that hold one value a sample, and one that may.
_OF_SAMPLES = ("sample_weight", "novelty")
_LOSS = "loss"

# Keywords that are as long as a sample of few rows by chance.
_OF_CLASSES = ("labels", "target_names")

# What a metric may raise where a resample lacks something.
_FAILURES = (ValueError, ArithmeticError, IndexError)


class Arguments:
    """Arguments of a metric: arrays of one row a sample, and what is the same for all.

    Parameters
    ----------
    samples : tuple, list or dict of array-like or None
        The arrays, in the order of the metric or by name.

    params : dict or None
        Other arguments; see `_is_of_samples` for those that are arrays of samples.

    name : str
        How the user calls the samples, for errors.
    """

    def __init__(self, samples, params, name):
        _check_samples(samples, name)
        is_named = isinstance(samples, Mapping)
        self.arrays = dict(samples) if is_named else dict(enumerate(samples))
        self.constants = {}
        self.n_samples = None
        for key, array in self.arrays.items():
            if array is not None:
                self._add(key, array, f"{name}[{key!r}]")
        if self.n_samples is None:
            raise ValueError(f"{name} holds no array: {samples!r}.")
        for key, value in dict(params or {}).items():
            if key in self.arrays:
                raise ValueError(
                    f"{key!r} is in {name} as well as in metric_params. Omit one of "
                    "them."
                )
            if self._is_pair(key, value) or _is_of_samples(key, value):
                self._add(key, value, key)
                continue
            is_as_long = np.ndim(value) == 1 and len(value) == self.n_samples
            if is_as_long and key not in _OF_CLASSES:
                raise ValueError(
                    f"metric_params[{key!r}] has one value per sample, but "
                    "metric_params are not resampled. Pass it by name in "
                    f"{name}, a dict of all arrays that are to be resampled."
                )
            self.constants[key] = value

    def _add(self, key, array, name):
        """Add an array whose rows are those of the others."""
        if self._is_pair(key, array):
            array = _Pair(array)
            check_same_length(len(array[0]), **{name: array[1]})
        n_rows = _count_rows(array[0] if isinstance(array, _Pair) else array, name)
        self.n_samples = n_rows if self.n_samples is None else self.n_samples
        check_same_length(self.n_samples, **{name: range(n_rows)})
        self.arrays[key] = array

    def _is_pair(self, key, loss):
        """Tell whether these are the losses of two opinions, one each a sample."""
        given = {k for k, x in self.arrays.items() if x is not None} - {_LOSS}
        return key == _LOSS and is_pair(loss, without_labels=len(given) == 1)

    def take(self, rows):
        """Return positional arguments and keywords of some rows, None for all."""
        taken = {
            key: array if rows is None or array is None else _take(array, rows)
            for key, array in self.arrays.items()
        }
        positional = [x for key, x in taken.items() if isinstance(key, int)]
        named = {key: x for key, x in taken.items() if not isinstance(key, int)}
        return positional, named | self.constants


class _Pair(tuple):
    """The losses of two opinions, which are resampled together."""

    __slots__ = ()


def _take(array, rows):
    if isinstance(array, _Pair):
        return tuple(_safe_indexing(part, rows) for part in array)
    return _safe_indexing(array, rows)


def _check_samples(samples, name):
    if not isinstance(samples, Mapping | tuple | list) or not len(samples):
        raise ValueError(
            f"{name} must be a tuple of the arrays that the metric takes, such as "
            "(y_true, y_pred, uncertainty), or a dict of them by name, got "
            f"{type(samples).__name__}."
        )


def _count_rows(array, name):
    refuse_dask(array, name)
    if np.ndim(array) == 0 and not hasattr(array, "shape"):
        raise ValueError(
            f"{name} must be an array with one row per sample, got {array!r}. Pass "
            "arguments that are the same for all samples in metric_params, by name."
        )
    return _num_samples(array)


def _is_of_samples(key, value):
    if key == _LOSS:
        return is_vector(value)
    return key in _OF_SAMPLES and value is not None and np.ndim(value) > 0


class _Metric:
    """A metric of one side, or the difference of two; `_values` are those of each."""

    @property
    def value(self):
        """The metric or the difference on all samples."""
        return _subtract(self._values)

    @property
    def scale(self):
        """Size of the numbers that are subtracted."""
        return float(np.abs(self._values).max())


class CalledMetric(_Metric):
    """A metric, or its difference, that is called on the rows of each resample."""

    def __init__(self, metric, sides):
        self._metric = metric
        self._sides = sides
        self._values = [_evaluate(metric, *side.take(None)) for side in sides]

    def of_batch(self, resamples, batch):
        """Return values of a batch of resamples, NaN where it fails, and why it did."""
        values, reason = [], None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # said of all samples already
            for rows in resamples.rows(batch):
                try:
                    values.append(self._of_rows(rows))
                except _FAILURES as error:
                    values.append(np.nan)
                    reason = reason or f"{type(error).__name__}: {error}"
        values = np.array(values)
        return np.where(np.isfinite(values), values, np.nan), reason

    def _of_rows(self, rows):
        taken = (side.take(rows) for side in self._sides)
        return float(_subtract([self._metric(*args, **named) for args, named in taken]))


def _subtract(parts):
    return parts[0] - parts[1] if len(parts) > 1 else parts[0]


def _evaluate(metric, args, named):
    value = metric(*args, **named)
    if np.ndim(value) > 0 or np.asarray(value).dtype.kind not in "biuf":
        raise ValueError(
            f"metric must return one number, got {type(value).__name__} of shape "
            f"{np.shape(value)}. Wrap it in a function that returns one number."
        )
    if not np.isfinite(value):
        raise ValueError(f"metric is {value} on the samples, so there is no interval.")
    return float(value)


class CountedMetric(_Metric):
    """An area, or a difference of two, from the number of times of each sample."""

    def __init__(self, metric, sides, kind):
        samples = [_scores_and_losses(*side.take(None)) for side in sides]
        self._values = [metric(None, None, s, loss=losses) for s, losses in samples]
        self._areas = [getattr(curves.CountedSamples(*each), kind) for each in samples]

    def of_batch(self, resamples, batch):
        """Return values of a batch of resamples, and None, as it never fails."""
        counts = resamples.counts(batch)
        return _subtract([area(counts) for area in self._areas]), None


_AREAS = ((aurc_score, "aurc"), (augrc_score, "augrc"))
_OF_AREAS = {0, 1, 2, "y_true", "y_pred", "uncertainty", "loss", "labels"}


def resampled_metric(metric, sides):
    """Return the metric of one or two sides, as it is computed fastest."""
    given = {key for side in sides for key in (*side.arrays, *side.constants)}
    for area, kind in _AREAS:
        if metric is area and given <= _OF_AREAS:
            return CountedMetric(metric, sides, kind)
    return CalledMetric(metric, sides)


def _scores_and_losses(positional, named):
    given = dict(zip(("y_true", "y_pred", "uncertainty"), positional, strict=False))
    return scores_and_losses(**{"loss": "zero_one", "labels": None} | given | named)
