"""Searches for the last threshold that passes its test, over many tests at once.

Each search keeps the chance below delta that it returns a threshold whose hypothesis is
true. `p_values` is a function that maps numbers of accepted samples to p-values.
"""

import math

import numpy as np

# Where the fixed sequences start, as shares of the sample, and their shares of delta.
# A risk with a floor or a bump is over the target at low coverage for a while, and a
# start beyond must do with its own share. The first has most as most risks increase.
_STARTS = (0.1, 0.25, 0.5, 0.75)
_WEIGHTS = (0.4, 0.2, 0.2, 0.2)

# In multiples of fewest_to_pass, where a single error already ends the sequence. More
# than twice leaves a small sample with no start but the whole of it.
_FIRST_START = 2

_GRID_SIZE = 100


def find_by_fixed_sequence(p_values, counts, delta, fewest):
    """Test thresholds one after the other, from several starts (Wiens' fallback).

    Each start brings its share of `delta`, on top of the running level if every
    threshold since the last start has passed. A failure sets the level to zero until
    the next start.

    Parameters
    ----------
    p_values : callable
        Maps numbers of accepted samples to p-values.

    counts : ndarray of shape (n_thresholds,), dtype int
        Number of samples that each threshold accepts, increasing.

    delta : float
        Chance of an error that is allowed.

    fewest : int
        Number of samples below which no test passes.

    Returns
    -------
    n_accepted : int or None
        The largest number of samples at a threshold that passed, None if none did.
    """
    starts = locate_counts(counts, start_counts(counts[-1], fewest))
    ends = np.append(starts[1:], len(counts))
    level, last = 0.0, None
    for start, end, weight in zip(starts, ends, _WEIGHTS, strict=True):
        level += weight * delta
        passes = _count_passes(p_values, counts[start:end], level)
        if passes:
            last = int(counts[start + passes - 1])
        if passes < end - start:
            level = 0.0
    return last


def start_counts(n_samples, fewest):
    """Return how many samples are accepted where each sequence starts."""
    shares = np.ceil(np.multiply(_STARTS, n_samples)).astype(int)
    return np.minimum(np.maximum(shares, _FIRST_START * fewest), n_samples)


def locate_counts(counts, wanted):
    """Return the threshold at each wanted number of samples, or the last one before.

    With ties it is the group that the next sample belongs to: given which one that is,
    the samples below it are independent. Those below the first group with enough of
    them are not, as their number decides which group that is.
    """
    return np.searchsorted(counts, wanted, side="right") - 1


def _count_passes(p_values, counts, level):
    """Return how many thresholds pass before the first that does not."""
    done, size = 0, 16
    while done < len(counts):
        passed = p_values(counts[done : done + size]) <= level
        if not passed.all():
            return done + int(np.argmin(passed))
        # P-values beyond the first failure are wasted, so start with few of them.
        done, size = done + len(passed), 2 * size
    return done


def find_by_bonferroni(p_values, counts, delta):
    """Test thresholds on a grid, each at an equal share of `delta`.

    Parameters
    ----------
    p_values : callable
        Maps numbers of accepted samples to p-values.

    counts : ndarray of shape (n_thresholds,), dtype int
        Number of samples that each threshold accepts, increasing.

    delta : float
        Chance of an error that is allowed.

    Returns
    -------
    n_accepted : int or None
        The largest number of samples at a threshold that passed, None if none did.
    """
    grid = grid_counts(counts[-1])
    tested = counts[locate_counts(counts, grid)]
    passed = np.flatnonzero(p_values(tested) <= delta / len(grid))
    return int(tested[passed[-1]]) if passed.size else None


def grid_counts(n_samples, size=_GRID_SIZE):
    """Return numbers of samples spread evenly from few to all."""
    return np.unique(-(-np.arange(1, size + 1) * n_samples // size))


def find_by_bisection(p_values, counts, delta):
    """Bisect the sample (selection with guaranteed risk).

    Its guarantee needs a selective risk that, once over the target, stays over it at
    larger coverage: then the tests of true hypotheses follow from the scores alone.

    Parameters
    ----------
    p_values : callable
        Maps numbers of accepted samples to p-values.

    counts : ndarray of shape (n_thresholds,), dtype int
        Number of samples that each threshold accepts, increasing.

    delta : float
        Chance of an error that is allowed.

    Returns
    -------
    n_accepted : int or None
        The largest number of samples at a threshold that passed, None if none did.

    References
    ----------
    Geifman, El-Yaniv, "Selective classification for deep neural networks", NeurIPS
    2017.
    """
    n_steps = count_bisections(counts[-1])
    low, high = 0, int(counts[-1])
    for _ in range(n_steps):
        if low == high:
            break
        middle = (low + high + 1) // 2
        tested = counts[locate_counts(counts, [middle])]
        if p_values(tested)[0] <= delta / n_steps:
            low = middle
        else:
            high = middle - 1
    return int(counts[locate_counts(counts, low)]) or None


def count_bisections(n_samples):
    """Return the number of tests of a bisection."""
    return max(1, math.ceil(math.log2(n_samples)))
