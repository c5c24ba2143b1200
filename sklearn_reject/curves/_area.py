"""Areas along the scores: AuRC, AuGRC, SELE."""

import warnings

import numpy as np
from scipy.integrate import trapezoid
from scipy.special import digamma
from sklearn.exceptions import UndefinedMetricWarning

from sklearn_reject._validation import check_option, check_samples
from sklearn_reject.curves._groups import (
    argsort_scores,
    cut_into_cells,
    draw_evenly,
    group_by_score,
    group_validated,
    starts_of_ties,
)

_BATCH_SIZE = 2**14


def aurc_score(
    scores, losses, *, sample_weight=None, interpolation="mean", normalize=None
):
    r"""Compute the area under the risk-coverage curve. Lower is better.

    The mean of the n selective risks, one a prefix of the samples in the order of their
    score (FPV23, eq. 27), in expectation over the random order of tied samples. So the
    value does not depend on the order of the rows.

    In full: :func:`sklearn_reject.metrics.aurc_score`.

    Parameters
    ----------
    scores : array-like of shape (n_samples,)
        Uncertainty scores, higher = more uncertain.

    losses : array-like of shape (n_samples,)
        Non-negative losses.

    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative sample weights. Integer weights equal repeated rows.

    interpolation : {"mean", "trapezoid"}, default="mean"
        The mean over the samples, or the integral of the curve between its distinct
        points, from the first one to coverage 1.

    normalize : {None, "excess", "prr"}, default=None
        "excess" subtracts the area of the oracle, "prr" is (random - area) / (random -
        oracle), **higher is better**.

    Returns
    -------
    area : float
        The area. NaN with a warning where random and oracle agree under "prr".

    Raises
    ------
    ValueError
        If an array or an option is invalid, as in the metric.

    Notes
    -----
    With group g covering the cumulative weight from a to b and W the total weight, each
    unit of its loss adds

    .. math::

        \frac{1}{W} \left(\psi(W + 1) + 1
        - \frac{b \psi(b + 1) - a \psi(a + 1)}{b - a}\right),

    where psi is the digamma function. For 0/1 losses without weights only the ranks of
    the errors are needed, and the samples are not fully sorted.

    Examples
    --------
    >>> from sklearn_reject.curves import aurc_score
    >>> aurc_score([0.1, 0.2, 0.3, 0.4], [0, 0, 1, 1])
    0.2083333333333333
    >>> aurc_score([0.1, 0.2, 0.3, 0.4], [0, 0, 1, 1], normalize="prr")
    1.0
    >>> round(aurc_score([0.4, 0.3, 0.2, 0.1], [0, 0, 1, 1], normalize="prr"), 6)
    -1.0
    """
    check_option(interpolation, "interpolation", ("mean", "trapezoid"))
    check_option(normalize, "normalize", (None, "excess", "prr"))
    samples = check_samples(scores, losses, sample_weight)
    if interpolation == "mean":
        area, oracle, random = _mean_areas(*samples, references=normalize is not None)
    else:
        area, oracle, random = _trapezoid_areas(*samples)
    return _normalize(area, oracle, random, normalize)


def _normalize(area, oracle, random, normalize):
    if normalize is None:
        return float(area)
    # The oracle is the minimum over all orders; only rounding gets below it.
    area = max(area, oracle)
    if normalize == "excess":
        return float(area - oracle)
    if not random > oracle:
        warnings.warn(
            "All losses are equal, so that no score can be better than a random one "
            "and normalize='prr' is undefined. The value is set to NaN.",
            UndefinedMetricWarning,
            stacklevel=3,
        )
        return float("nan")
    return float((random - area) / (random - oracle))


def _mean_areas(scores, losses, weight, *, references):
    area = _mean_area(scores, losses, weight)
    if not references:
        return area, None, None
    counted = losses if weight is None else losses[weight > 0]
    if counted.min() == counted.max():
        return area, area, area
    oracle = _mean_area(losses, losses, weight)
    return area, oracle, np.average(losses, weights=weight)


def _mean_area(scores, losses, weight):
    if weight is None and is_zero_one(losses):
        return _weigh_losses(len(scores), *groups_with_errors(scores, losses))
    groups = group_validated(scores, losses, weight)
    if weight is None and len(groups) == len(scores):
        return np.mean(groups.cumulative_losses / np.arange(1, len(groups) + 1))
    below = groups.cumulative_weights - groups.weights
    return _weigh_losses(groups.total_weight, below, groups.weights, groups.losses)


def _weigh_losses(total, below, weights, losses):
    """Add up what the losses of each group contribute to the mean selective risk."""
    # Batches keep the temporary arrays in the cache.
    return sum(
        _weigh_batch(total, below[batch], weights[batch], losses[batch])
        for batch in _batches(len(below))
    )


def _batches(n_groups):
    starts = range(0, n_groups, _BATCH_SIZE)
    return [slice(start, start + _BATCH_SIZE) for start in starts]


def _weigh_batch(total, below, weights, losses):
    factors = digamma(total + 1.0) - digamma(below + 1.0)
    rows = np.flatnonzero(weights != 1)  # elsewhere the rest is zero
    if rows.size:
        below, weights = below[rows], weights[rows]
        increment = digamma_increment(below + 1.0, weights)
        factors[rows] += 1 - (below + weights) * (increment / weights)
    return (losses * factors).sum() / total


def _trapezoid_areas(scores, losses, weight):
    groups = group_validated(scores, losses, weight)
    weights = groups.cumulative_weights
    coverage = weights / groups.total_weight
    oracle = _lowest_loss_within(weights, losses, weight)
    random = groups.cumulative_losses[-1] / groups.total_weight
    return (
        trapezoid(groups.cumulative_losses / weights, coverage),
        trapezoid(oracle / weights, coverage),
        random * (1 - coverage[0]),
    )


def _lowest_loss_within(weights, losses, sample_weight):
    """Return the least loss that samples of each total weight can have."""
    best = group_validated(losses, losses, sample_weight)
    return np.interp(
        weights,
        np.append(0.0, best.cumulative_weights),
        np.append(0.0, best.cumulative_losses),
    )


def augrc_score(scores, losses, *, sample_weight=None):
    """Compute the area under the generalized risk-coverage curve. Lower is better.

    The integral of coverage times selective risk over the coverage (Traub et al. 2024),
    as a trapezoid from (0, 0): the SELE statistic with mid-rank ties.

    In full: :func:`sklearn_reject.metrics.augrc_score`.

    Parameters
    ----------
    scores : array-like of shape (n_samples,)
        Uncertainty scores, higher = more uncertain.

    losses : array-like of shape (n_samples,)
        Non-negative losses.

    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative sample weights.

    Returns
    -------
    area : float
        The area, at most the mean loss.

    Raises
    ------
    ValueError
        If an array or an option is invalid, as in the metric.

    Examples
    --------
    >>> from sklearn_reject.curves import augrc_score
    >>> augrc_score([0.1, 0.2, 0.3, 0.4], [0, 0, 1, 1])
    0.125
    """
    return sele_score(scores, losses, ties="midrank", sample_weight=sample_weight)


def sele_score(scores, losses, *, ties="inclusive", sample_weight=None):
    """Compute the SELE statistic, a pairwise relative of AuRC. Lower is better.

    The mean over all pairs (i, j) of l_i [s_i <= s_j] (FPV23, eq. 29).

    In full: :func:`sklearn_reject.metrics.sele_score`.

    Parameters
    ----------
    scores : array-like of shape (n_samples,)
        Uncertainty scores, higher = more uncertain.

    losses : array-like of shape (n_samples,)
        Non-negative losses.

    ties : {"inclusive", "midrank"}, default="inclusive"
        Whether a pair of tied samples, a sample with itself included, counts in full
        or one half.

    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative sample weights.

    Returns
    -------
    value : float
        The statistic.

    Raises
    ------
    ValueError
        If an array or an option is invalid, as in the metric.

    Examples
    --------
    >>> from sklearn_reject.curves import sele_score
    >>> sele_score([0.1, 0.2, 0.3, 0.4], [0, 0, 1, 1])
    0.1875
    >>> sele_score([0.1, 0.2, 0.3, 0.4], [0, 0, 1, 1], ties="midrank")
    0.125
    """
    check_option(ties, "ties", ("inclusive", "midrank"))
    groups = group_by_score(scores, losses, sample_weight)
    tied_part = 0.0 if ties == "inclusive" else 0.5
    below = groups.cumulative_weights - (1 - tied_part) * groups.weights
    after = groups.total_weight - below
    total = groups.total_weight
    return float((groups.losses / total) @ (after / total))


# Below this share of errors, counting most samples is faster than sorting them all.
_LARGEST_ERROR_RATE = 0.15


# Many bins leave few samples to sort, few bins keep the tables in the cache.
_BINS_PER_ERROR = 16


_FEWEST_BINS, _MOST_BINS = 2**10, 2**20


def is_zero_one(losses):
    """Tell whether all losses are 0 or 1."""
    return bool(np.count_nonzero(losses) == np.count_nonzero(losses == 1))


def groups_with_errors(scores, losses):
    """Return samples below, size and errors of the tie groups that hold errors.

    The losses are 0 or 1; all three arrays have the shape (n_groups,).
    """
    errors = np.flatnonzero(losses > 0)
    to_bins = _bin_map(scores, len(errors))
    if to_bins is None:
        return _sort_errors(scores, losses)[:3]
    rows, passed_over = _split_by_bin(scores, errors, to_bins)
    below, sizes, errors, values = _sort_errors(scores[rows], losses[rows])
    return below + passed_over[to_bins(values)], sizes, errors


def _sort_errors(scores, losses):
    """Return rank, size, errors and score of the tie groups that hold errors."""
    order, scores = argsort_scores(scores)
    ranks = np.flatnonzero((losses > 0)[order])
    del order
    is_start = starts_of_ties(scores)
    if is_start.all():
        ones = np.broadcast_to(1.0, len(ranks))
        return ranks, ones, ones, scores[ranks]
    starts = np.flatnonzero(is_start)
    groups = np.searchsorted(starts, ranks, side="right") - 1
    firsts = np.flatnonzero(starts_of_ties(groups))
    groups = groups[firsts]
    below, errors = starts[groups], np.diff(firsts, append=len(ranks))
    sizes = np.diff(starts, append=len(scores))[groups]
    return below, sizes, errors, scores[below]


def _bin_map(scores, n_errors):
    """Return the map from scores to bins, None where all samples are to be sorted."""
    if not 0 < n_errors <= _LARGEST_ERROR_RATE * len(scores):
        return None
    n_bins = np.clip(_BINS_PER_ERROR * n_errors, _FEWEST_BINS, _MOST_BINS)
    n_bits = int(n_bins).bit_length() - 1
    return cut_into_cells(
        scores, draw_evenly(scores), n_bits, most_shared=len(scores) / n_errors
    )


def _split_by_bin(scores, errors, to_bins):
    """Return the rows to sort, and the number of other samples below each bin."""
    bins = to_bins(scores)
    passed_over = np.bincount(bins)
    with_errors = np.zeros(len(passed_over), dtype=bool)
    with_errors[bins[errors]] = True
    passed_over[with_errors] = 0
    np.cumsum(passed_over, out=passed_over)
    return np.flatnonzero(with_errors[bins]), passed_over


# The asymptotic series below is exact to 1e-16 from here on.
_ASYMPTOTIC_FROM = 20


_SERIES = (1 / 24, -7 / 960, 31 / 8064, -127 / 30720, 511 / 67584)


def digamma_increment(x, step):
    """Return digamma(x + step) - digamma(x), at least 1-d, for x >= 1 and step > 0.

    The plain difference loses all digits for steps far below 1, which weights that
    are normalised to a sum of one do have. Here the relative error stays near 1e-15.
    """
    x, step = np.broadcast_arrays(*np.atleast_1d(x, step))
    increment = _asymptotic_increment(np.maximum(x, _ASYMPTOTIC_FROM), step)
    small = x < _ASYMPTOTIC_FROM
    if small.any():
        increment[small] = _increment_near_one(x[small], step[small])
    return increment


def _asymptotic_increment(x, step):
    # digamma(z + 1/2) = log(z) + sum_k c_k / z^(2k), an even series in z.
    low = x - 0.5
    growth = np.log1p(step / low)
    increment = growth.copy()
    for power, coefficient in zip((2, 4, 6, 8, 10), _SERIES, strict=True):
        increment += coefficient * low ** (-power) * np.expm1(-power * growth)
    return increment


def _increment_near_one(x, step):
    # digamma(z + 1) = digamma(z) + 1 / z, applied until the series is exact.
    increment = _asymptotic_increment(x + _ASYMPTOTIC_FROM, step)
    for shift in range(_ASYMPTOTIC_FROM):
        low = x + shift
        increment += step / (low * (low + step))
    return increment
