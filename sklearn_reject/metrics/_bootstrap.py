"""Resamples of rows, or of groups of them, and the ends of bootstrap intervals."""

from functools import cached_property

import numpy as np
from joblib import effective_n_jobs
from scipy.special import ndtr, ndtri, stdtrit
from sklearn.utils import check_random_state, gen_even_slices
from sklearn.utils.parallel import Parallel, delayed

from sklearn_reject._curves._prefixes import RELATIVE_TOLERANCE
from sklearn_reject._labels import label_vector
from sklearn_reject._travel import Carried
from sklearn_reject._validation import check_same_length
from sklearn_reject.exceptions import warn_user

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

# More would not bring the outermost one much further out.
_ENOUGH_RESAMPLES = 1000


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
        _check_number_of_units(n_units, groups)
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
        if batch < self.n_drawn:
            draws = self._draw(batch)
            # One count of all, each resample having numbers of its own.
            offsets = np.arange(len(draws))[:, np.newaxis] * draws.shape[1]
            counts = np.bincount((draws + offsets).ravel(), minlength=draws.size)
            counts = counts.reshape(draws.shape)
        else:
            counts = self._is_left(batch).astype(np.intp)
        return counts if self._codes is None else counts[:, self._codes]

    def rows(self, batch):
        """Yield the rows of each resample."""
        if batch < self.n_drawn:
            units_of_each = self._draw(batch)
        else:
            units_of_each = map(np.flatnonzero, self._is_left(batch))
        for units in units_of_each:
            yield units if self._codes is None else self._rows_of(units)

    def _draw(self, batch):
        rng = np.random.default_rng(self._seeds[batch])
        n_units = len(self._part_of_units)
        return rng.integers(n_units, size=(len(self._draws[batch]), n_units))

    def _is_left(self, batch):
        """Return what is not in each part of a batch, (n_parts, n_units)."""
        parts = np.array(self._parts[batch - self.n_drawn])
        return self._part_of_units != parts[:, np.newaxis]

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


def _batches(n_tasks, size):
    return [range(n_tasks)[start : start + size] for start in range(0, n_tasks, size)]


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

    left_out : ndarray of shape (n_parts,)
        Of the sample without each of its parts.

    level : float in ]0, 1[
        Share of intervals that are to hold.
    """
    # Of equal ones one half is below; sums in another order may differ by rounding.
    is_equal = np.isclose(values, value, rtol=RELATIVE_TOLERANCE, atol=0)
    bias = ndtri(np.mean(np.where(is_equal, 0.5, values < value)))
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

    left_out : ndarray of shape (n_parts,)
        The value without each of the parts.
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
