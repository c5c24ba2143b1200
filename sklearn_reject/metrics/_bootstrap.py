"""Resamples of rows, or of groups of them, and the ends of bootstrap intervals."""

from functools import cached_property

import numpy as np
from joblib import effective_n_jobs
from scipy.special import ndtr, ndtri, stdtrit
from sklearn.utils import check_random_state, gen_even_slices
from sklearn.utils.parallel import Parallel, delayed

from sklearn_reject._labels import label_vector
from sklearn_reject._travel import Carried
from sklearn_reject._validation import check_same_length
from sklearn_reject.exceptions import warn_user

# Rows of a batch of resamples, which keeps their counts in the cache.
_BATCH_ROWS = 2**16

# Below this number, resamples are too few alike for an interval that holds.
_FEWEST_UNITS = 10


# Of a t distribution, so that a thousand resamples reach into its tails.
_LEAST_FREEDOM = 4

# With a single loss they are two, and little is known of what others would be.
_TOO_LITTLE_FREEDOM = 3

# More would not bring the outermost one much further out.
_ENOUGH_RESAMPLES = 1000


class Resamples:
    """Draws, with replacement, of rows or of whole groups of rows.

    Each batch of draws has a seed of its own, so that they are the same however many
    jobs share them.
    """

    def __init__(self, n_samples, groups, n_resamples, random_state):
        self.n_samples, self.n_resamples = n_samples, n_resamples
        self.n_units, self._codes = n_samples, None  # of each row, its group
        if groups is not None:
            groups = label_vector(groups, "groups")
            check_same_length(n_samples, groups=groups)
            names, self._codes = np.unique(groups, return_inverse=True)
            self.n_units = len(names)
        _check_number_of_units(self.n_units, groups)
        size = max(1, min(n_resamples, _BATCH_ROWS // n_samples))
        self._sizes = [size] * (n_resamples // size)
        if n_resamples % size:
            self._sizes.append(n_resamples % size)
        entropy = check_random_state(random_state).randint(2**31, size=4)
        self.n_batches = len(self._sizes)
        self._seeds = np.random.SeedSequence(entropy.tolist()).spawn(self.n_batches)

    @property
    def has_groups(self):
        """Whether groups of rows are drawn, not rows."""
        return self._codes is not None

    def counts(self, batch):
        """Return how often each row is in each resample, (n_resamples, n_samples)."""
        draws = self._draw(batch)
        # One count of all, each resample having numbers of its own.
        offsets = np.arange(len(draws))[:, np.newaxis] * self.n_units
        counts = np.bincount((draws + offsets).ravel(), minlength=draws.size)
        counts = counts.reshape(draws.shape)
        return counts if self._codes is None else counts[:, self._codes]

    def rows(self, batch):
        """Yield the rows of each resample."""
        for draw in self._draw(batch):
            yield draw if self._codes is None else self._rows_of(draw)

    def rows_without(self, unit):
        """Return the rows without one of them, or without those of one group."""
        return np.flatnonzero(self._unit_of_rows != unit)

    @cached_property
    def _unit_of_rows(self):
        return np.arange(self.n_samples) if self._codes is None else self._codes

    def _draw(self, batch):
        rng = np.random.default_rng(self._seeds[batch])
        return rng.integers(self.n_units, size=(self._sizes[batch], self.n_units))

    def _rows_of(self, units):
        order, starts = self._rows_by_unit
        sizes = np.diff(starts)[units]
        shifts = np.repeat(starts[units] - (sizes.cumsum() - sizes), sizes)
        return order[shifts + np.arange(len(shifts))]

    @cached_property
    def _rows_by_unit(self):
        order = np.argsort(self._codes, kind="stable")
        starts = np.append(0, np.bincount(self._codes).cumsum())
        return order, starts


def share(function, n_tasks, n_jobs=None):
    """Return what a function returns of 0, 1, ... below a number, in that order."""
    n_parts = min(effective_n_jobs(n_jobs), n_tasks)
    shared = Carried(function)
    parts = Parallel(n_jobs=n_jobs)(
        delayed(_call)(shared, range(n_tasks)[part])
        for part in gen_even_slices(n_tasks, n_parts)
    )
    return [result for part in parts for result in part]


def _call(function, tasks):
    return [function.value(task) for task in tasks]


def _check_number_of_units(n_units, groups):
    what = "samples" if groups is None else "groups"
    if n_units < 2:
        raise ValueError(
            f"There are only {n_units} {what}, so all resamples are equal. An interval "
            "needs at least two, and some dozens to be reliable."
        )
    if n_units < _FEWEST_UNITS:
        warn_user(
            f"Only {n_units} {what} are resampled. A bootstrap interval from so few is "
            "too narrow and contains the value less often than its confidence says."
        )


def percentile_ends(values, level, *, axis=None):
    """Return the quantiles that leave half of 1 - level on either side."""
    tail = (1 - level) / 2
    return np.quantile(values, [tail, 1 - tail], axis=axis)


def bca_ends(values, value, left_out, level):
    """Return the bias-corrected and accelerated ends (Efron 1987), or None.

    There are none where the value is outside of all resamples.

    Parameters
    ----------
    values : ndarray of shape (n_resamples,)
        Of the resamples.

    value : float
        Of the sample itself.

    left_out : ndarray of shape (n_units,)
        Of the sample without each of its units.

    level : float in ]0, 1[
        Share of intervals that are to hold.
    """
    bias = ndtri((np.mean(values < value) + np.mean(values <= value)) / 2)
    if not np.isfinite(bias):
        return None
    away = left_out.mean() - left_out
    spread = np.sqrt(away @ away)
    # Without a spread no skew is seen either.
    acceleration = ((away / spread) ** 3).sum() / 6 if spread > 0 else 0.0
    tail = (1 - level) / 2
    shift = bias + ndtri([tail, 1 - tail])
    shares = ndtr(bias + shift / (1 - acceleration * shift))
    is_beyond = min(shares[0], 1 - shares[1]) * len(values) < 1
    if is_beyond and len(values) < _ENOUGH_RESAMPLES:
        warn_user(
            "After the corrections for bias and skewness, an end of the interval is "
            f"beyond all of {len(values)} resamples. Set "
            f"n_resamples={_ENOUGH_RESAMPLES}."
        )
    return np.quantile(values, shares)


def widen(level, left_out):
    """Return a higher level, which makes up for a spread that is itself a guess.

    A variance of n values of kurtosis k has about 2 n / (k - 1) degrees of freedom
    (Satterthwaite); the tails of Student's t are then taken where those of a normal
    distribution are. With twenty losses among 200 samples that are seven to eighteen.

    Parameters
    ----------
    level : float in ]0, 1[
        Of the interval.

    left_out : ndarray of shape (n_units,)
        The value without each of the units.
    """
    away = left_out - left_out.mean()
    n_units, squares = len(away), away @ away
    if squares == 0:
        return level
    excess = n_units * ((away / np.sqrt(squares)) ** 4).sum() - 1
    freedom = 2 * n_units / max(excess, 2 * n_units / (n_units - 1))
    if freedom < _TOO_LITTLE_FREEDOM and n_units >= _FEWEST_UNITS:
        warn_user(
            f"The value depends on a few of {n_units} samples or groups, for example "
            "if hardly any sample has a loss. The interval was widened, but it may "
            "contain the value less often than its confidence says."
        )
    tail = ndtr(stdtrit(max(freedom, _LEAST_FREEDOM), (1 - level) / 2))
    return 1 - 2 * float(tail)
