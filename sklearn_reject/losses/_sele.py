"""The pairwise loss of a score that orders samples by their risk (FPV23, eq. 30).

The sum over all pairs takes linear time. Where scores are dense, Lagrange's polynomials
spread the samples over the nodes of a grid, the nodes are summed by convolution, and
the same polynomials interpolate the sums. Elsewhere pairs are summed one by one. The
convolution is not one by Fourier transforms, which lose small sums beside large ones:
where a score puts all errors last, every sum is small.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from joblib import effective_n_jobs
from numpy.lib.stride_tricks import sliding_window_view
from numpy.polynomial.polynomial import polyfromroots
from numpy.typing import ArrayLike
from scipy.special import expit
from sklearn.utils import check_random_state, gen_batches, gen_even_slices
from sklearn.utils.parallel import Parallel, delayed

from sklearn_reject._typing import RandomState
from sklearn_reject._validation import (
    check_count,
    check_option,
    check_samples,
    of_arrays,
)

# Losses are at most 1e100, and sums over pairs have to stay finite.
_WIDEST = 1e200

# Beyond that distance all kernels are 0, 1 or linear in float64.
_REACH = 40.0


@of_arrays
def sele_loss_and_gradient(
    scores: ArrayLike,
    losses: ArrayLike,
    *,
    method: Literal["exact", "chunked"] = "exact",
    chunk_size: int = 500,
    sample_weight: ArrayLike | None = None,
    n_jobs: int | None = None,
    random_state: RandomState | None = None,
) -> tuple[float, np.ndarray]:
    """Smooth upper bound on SELE, and its gradient with respect to the scores.

    psi(s) = 1/n^2 sum_i sum_j l_i log(1 + exp(s_j - s_i)) (FPV23, eq. 30). It is convex
    in the scores, and where a score minimizes its expectation, the score orders the
    samples as their conditional risk does.

    Parameters
    ----------
    scores : array-like of shape (n_samples,)
        Uncertainty scores, higher = more uncertain.

    losses : array-like of shape (n_samples,)
        Non-negative losses.

    method : {"exact", "chunked"}, default="exact"
        "exact" sums over all pairs in time O(n), up to a relative rounding error of
        about 1e-13. "chunked" is the approximation of the paper: the mean over random
        chunks of their own losses, in time O(n `chunk_size`).

    chunk_size : int, default=500
        Approximate number of samples in a chunk.

    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative sample weights. A pair weighs the product of its two.

    n_jobs : int, default=None
        Number of jobs that share the chunks.

    random_state : int, RandomState instance or None, default=None
        Source of the partition into chunks.

    Returns
    -------
    value : float
        Lower is better; without weights, at least log(2) / n times the mean loss.

    gradient : ndarray of shape (n_samples,)
        Derivative of the value with respect to each score. It sums to zero.

    Raises
    ------
    ValueError
        If an array or an option is invalid.

    References
    ----------
    V. Franc, D. Prusa, V. Voracek. Optimal Strategies for Reject Option Classifiers.
    JMLR 24(11), 2023.

    Examples
    --------
    >>> from sklearn_reject.losses import sele_loss_and_gradient
    >>> value, gradient = sele_loss_and_gradient([0.0, 1.0, 2.0], [0, 0, 1])
    >>> round(value, 4)
    0.1259
    >>> gradient.round(3)
    array([ 0.013,  0.03 , -0.043])
    """
    scores, losses, weight = check_samples(scores, losses, sample_weight)
    check_option(method, "method", ("exact", "chunked"))
    check_count(chunk_size, "chunk_size")
    if weight is None:
        weight = np.ones(len(scores))
    present = np.flatnonzero(weight)
    sample = scores[present], losses[present], weight[present] / weight.max()
    with np.errstate(over="ignore"):
        spread = np.ptp(sample[0])
    if not spread < _WIDEST / len(present):
        raise ValueError(
            f"scores range from {sample[0].min():g} to {sample[0].max():g}, so sums of "
            "their differences would overflow. Rescale them."
        )
    gradient = np.zeros(len(scores))
    if method == "exact":
        value, gradient[present] = exact_sele(*sample)
    else:
        chunks = make_chunks(len(present), chunk_size, random_state)
        value, gradient[present] = chunked_sele(*sample, chunks, n_jobs=n_jobs)
    return value, gradient


def exact_sele(scores, losses, weight):
    """Return value and gradient of the loss over all pairs of valid samples."""
    total, gradient = sum_over_pairs(scores, weight, weight * losses)
    n_pairs = float(weight.sum()) ** 2
    return total / n_pairs, gradient / n_pairs


def make_chunks(n_samples, chunk_size, random_state):
    """Return a random partition of the rows into chunks of about equal size."""
    n_chunks = max(1, round(n_samples / chunk_size))
    rows = check_random_state(random_state).permutation(n_samples)
    return np.array_split(rows, n_chunks)


def chunked_sele(scores, losses, weight, chunks, *, n_jobs=None):
    """Return the mean over chunks of their losses, and its gradient."""
    # A gradient takes less time than to send its samples anywhere.
    parallel = Parallel(n_jobs=n_jobs, require="sharedmem")
    n_parts = min(effective_n_jobs(parallel.n_jobs), len(chunks))
    found = parallel(
        delayed(_sele_of_chunks)(scores, losses, weight, chunks[part])
        for part in gen_even_slices(len(chunks), n_parts)
    )
    parts = [part for of_job in found for part in of_job]
    gradient = np.empty(len(scores))
    for rows, (_, part) in zip(chunks, parts, strict=True):
        gradient[rows] = part / len(chunks)
    return sum(value for value, _ in parts) / len(chunks), gradient


def _sele_of_chunks(scores, losses, weight, chunks):
    """Return value and gradient of the loss of each chunk."""
    return [_dense_sele(scores[rows], losses[rows], weight[rows]) for rows in chunks]


def _dense_sele(scores, losses, weight):
    """Return value and gradient of the loss of one chunk, pair by pair."""
    value, gradient = 0.0, np.zeros(len(scores))
    errors = np.flatnonzero(losses)
    # Few at once, as fresh memory may take longer than what is written to it.
    step = max(1, _BATCH_SIZE // len(scores))
    for start in range(0, len(errors), step):
        rows = errors[start : start + step]
        bound, pull = _pair_kernels(scores - scores[rows, np.newaxis])
        loss = (losses * weight)[rows]
        value += float(loss @ (bound @ weight))
        gradient += weight * (loss @ pull)
        gradient[rows] -= loss * (pull @ weight)
    n_pairs = weight.sum() ** 2
    return value / n_pairs, gradient / n_pairs


# The sum over all pairs


def sum_over_pairs(scores, weights, losses):
    """Return total and gradient of the pairwise logistic loss.

    The total is sum_ij losses_i weights_j log(1 + exp(s_j - s_i)), the gradient its
    derivative with respect to each score. Both are exact up to rounding for any range
    of scores; time and memory are O(n). Weights are positive, losses (times weights)
    non-negative.
    """
    n_samples, width = len(scores), scores.max() - scores.min()
    node_time = _grid_times(n_samples, width) - _grid_times(n_samples, 0.0)
    if node_time <= _GRID_TIME + _SORTING_TIME * n_samples:
        total, sums = _sum_on_grid(scores, weights, losses)
    else:
        order = np.argsort(scores, kind="stable")
        total, of_sorted = _sum_sorted(scores[order], weights[order], losses[order])
        sums = np.empty_like(of_sorted)
        sums[:, order] = of_sorted
    # At sample k, below is sum_i losses_i sigma(s_k - s_i), and above
    # sum_j weights_j sigma(s_j - s_k).
    below, above = sums
    # The pair of a sample with itself is constant: in the gradient it cancels.
    return float(total), weights * below - losses * above


# Measured, in nanoseconds: what a pair, a sorted sample, a sample on a grid and a node
# of a grid take, and a grid whatever its size.
_PAIR_TIME, _SORTING_TIME, _SAMPLE_TIME, _NODE_TIME, _GRID_TIME = 30, 70, 70, 310, 2e5


def _grid_times(n_samples, widths):
    """Return what grids take, infinitely long where the memory would not be O(n)."""
    n_nodes = widths / _STEP + _STENCIL
    times = _GRID_TIME + _NODE_TIME * n_nodes + _SAMPLE_TIME * n_samples
    return np.where(n_nodes <= 1000 + n_samples, times, np.inf)


# A score is interpolated from so many nodes of its grid, which are `_STEP` apart. With
# the poles of sigma at +-pi i the error is 2e-14 or less of its largest value:
# 2 prod(nodes) (_STEP / pi)^_STENCIL / pi.
_STENCIL, _STEP = 12, 0.1
_NODES = np.arange(_STENCIL) - (_STENCIL - 1) / 2

# Coefficients of Lagrange's polynomials, (node, degree).
_LAGRANGE = np.array(
    [
        polyfromroots(np.delete(_NODES, k)) / np.prod(node - np.delete(_NODES, k))
        for k, node in enumerate(_NODES)
    ]
)

# The kernels without step and ramp, at the nodes up to `_REACH` away. At a distance d
# they are sigma(d) - [d > 0] (one half of the step at zero) and log(1 + exp(-abs(d))).
_N_AROUND = round(_REACH / _STEP)
_DISTANCE = _STEP * np.arange(-_N_AROUND, _N_AROUND + 1)
_SIGMA = -np.sign(_DISTANCE) * expit(-np.abs(_DISTANCE))
_SOFTPLUS = np.log1p(np.exp(-np.abs(_DISTANCE)))

# Samples whose temporary arrays fit into the cache.
_BATCH_SIZE = 2**14


def _sum_on_grid(scores, weights, losses):
    """Sum over all pairs by way of the nodes of a grid.

    Returns the total and the sums below and above, (2, n_samples), the latter for
    samples with a loss only.
    """
    n_intervals = int(np.ptp(scores) / _STEP) + 1
    n_nodes = n_intervals + _STENCIL - 1
    # Not many more batches than there are nodes.
    batches = list(gen_batches(len(scores), max(_BATCH_SIZE, n_nodes)))
    of_weights, of_losses = _spread(scores, weights, losses, n_intervals, batches)
    # Sigma is a step and softplus a ramp, up to what decays to both sides.
    from_node = _sum_from_end(of_weights)
    bound = _convolve(of_weights, _SOFTPLUS)
    bound[:-1] += _STEP * _sum_from_end(from_node[1:])
    below = np.cumsum(of_losses) - of_losses / 2 + _convolve(of_losses, _SIGMA)
    above = from_node - of_weights / 2 - _convolve(of_weights, _SIGMA)
    sums = _interpolate(scores, losses, below, above, batches)
    return of_losses @ bound, sums


def _spread(scores, weights, losses, n_intervals, batches):
    """Return the weights and the losses at the nodes, (2, n_nodes)."""
    # Moments of the samples in each interval, by which the nodes share them.
    moments, lowest = np.zeros((2, _STENCIL, n_intervals)), scores.min()
    for rows in batches:
        intervals, places = _locate(scores[rows], lowest)
        _add_moments(moments[0], intervals, places, weights[rows])
        errors = np.flatnonzero(losses[rows])
        of_errors = intervals[errors], places[errors]
        _add_moments(moments[1], *of_errors, losses[rows][errors])
    at_nodes = np.zeros((2, n_intervals + _STENCIL - 1))
    for node, polynomial in enumerate(_LAGRANGE):
        at_nodes[:, node : node + n_intervals] += polynomial @ moments
    return at_nodes


def _interpolate(scores, losses, below, above, batches):
    """Return the sums at the samples, those above for samples with a loss only."""
    # Coefficients of the polynomial in each interval, (degree, interval).
    n_intervals = len(below) - _STENCIL + 1
    below, above = (
        _LAGRANGE.T @ sliding_window_view(at_nodes, n_intervals)
        for at_nodes in (below, above)
    )
    sums, lowest = np.zeros((2, len(scores))), scores.min()
    for rows in batches:
        intervals, places = _locate(scores[rows], lowest)
        errors = np.flatnonzero(losses[rows])
        of_errors = intervals[errors], places[errors]
        sums[0, rows] = _evaluate(below, intervals, places)
        sums[1, rows.start + errors] = _evaluate(above, *of_errors)
    return sums


def _locate(scores, lowest):
    """Return between which nodes scores lie, and where, from -1/2 to 1/2."""
    places = (scores - lowest) / _STEP
    intervals = places.astype(np.intp)
    places -= intervals
    places -= 0.5
    return intervals, places


def _add_moments(moments, intervals, places, weights):
    """Add weights times powers of the places to the intervals that they lie in."""
    for moment in moments:
        moment += np.bincount(intervals, weights, len(moment))
        weights = weights * places


def _evaluate(coefficients, intervals, places):
    """Return the polynomial of each interval at a place in it."""
    values = coefficients[-1].take(intervals)
    for coefficient in coefficients[-2::-1]:
        values *= places
        values += coefficient.take(intervals)
    return values


def _convolve(values, kernel):
    reach = len(kernel) // 2
    return np.convolve(values, kernel)[reach : reach + len(values)]


def _sum_from_end(values):
    """Return the sum of each value and those after it."""
    return np.cumsum(values[::-1])[::-1]


def _sum_sorted(scores, weights, losses):
    """Sum over all pairs of sorted samples: far ones, dense islands, near ones.

    Returns what `_sum_on_grid` does.
    """
    errors = np.flatnonzero(losses)
    first = np.searchsorted(scores, scores[errors] - _REACH, side="left")
    last = np.searchsorted(scores, scores[errors] + _REACH, side="right")
    islands = _find_dense_islands(scores, errors, last - first)
    alone = np.ones(len(errors), dtype=bool)
    for rows in islands:
        inside = slice(*np.searchsorted(errors, [rows.start, rows.stop]))
        alone[inside], last[inside] = False, rows.stop
    below, above = sums = np.zeros((2, len(scores)))
    # What is far below, by the same ranges as the near ones: differences round to
    # either side of a bound.
    n_far_below = np.searchsorted(last, np.arange(len(scores)), side="right")
    below[:] = np.append(0.0, np.cumsum(losses[errors]))[n_far_below]
    above[errors], distance = _sum_far_above(scores, weights, last, scores[errors])
    total = float(losses[errors] @ distance)
    for rows in islands:
        of_island, of_rows = _sum_on_grid(scores[rows], weights[rows], losses[rows])
        total += of_island
        sums[:, rows] += of_rows
    near = errors[alone], first[alone], last[alone]
    return total + _add_pairs(below, above, scores, weights, losses, near), sums


def _find_dense_islands(scores, errors, n_near):
    """Return the ranges of rows, far from all others, for which a grid is cheaper."""
    starts = np.flatnonzero(np.diff(scores, prepend=-np.inf) > _REACH)
    stops = np.append(starts[1:], len(scores))
    island = np.searchsorted(starts, errors, side="right") - 1
    pair_times = _PAIR_TIME * np.bincount(island, n_near, minlength=len(starts))
    grid_times = _grid_times(stops - starts, scores[stops - 1] - scores[starts])
    dense = np.flatnonzero(pair_times > grid_times)
    return [slice(*ends) for ends in zip(starts[dense], stops[dense], strict=True)]


def _sum_far_above(scores, weights, first, origins):
    """Return weight and total distance of the samples from some rank on.

    `first` is that rank for each origin, `n_samples` for none, and no origin is above
    its first sample.
    """
    weight = np.append(_sum_from_end(weights), 0.0)
    # Distances are added up gap by gap, so that nothing cancels.
    moment = np.append(_sum_from_end(weight[1:-1] * np.diff(scores)), [0.0, 0.0])
    nearest = scores[np.minimum(first, len(scores) - 1)]
    return weight[first], moment[first] + weight[first] * (nearest - origins)


# Pairs whose temporary arrays do not take much memory.
_N_PAIRS_AT_ONCE = 2**17


def _add_pairs(below, above, scores, weights, losses, near):
    """Add the pairs of errors with the ranges near to them, and return their total."""
    errors, first, last = near
    counts, total = last - first, 0.0
    # About as many pairs at once as wanted, but all those of an error.
    batch = np.cumsum(counts) // _N_PAIRS_AT_ONCE
    ends = np.append(np.flatnonzero(np.diff(batch, prepend=-1)), len(errors))
    for rows in map(slice, ends[:-1], ends[1:]):
        # Pairs (i, j) of the errors i and all samples j near to them.
        starts = np.cumsum(counts[rows]) - counts[rows]
        i = np.repeat(errors[rows], counts[rows])
        j = np.arange(len(i)) + np.repeat(first[rows] - starts, counts[rows])
        bound, sigma = _pair_kernels(scores[j] - scores[i])
        of_errors = np.add.reduceat(weights[j] * bound, starts)
        total += losses[errors[rows]] @ of_errors
        low, high = first[rows].min(), last[rows].max()
        above[errors[rows]] += np.add.reduceat(weights[j] * sigma, starts)
        below[low:high] += np.bincount(j - low, losses[i] * sigma, high - low)
    return total


def _pair_kernels(difference):
    """Return log(1 + exp(d)) and sigma(d), by one exponential."""
    small = np.abs(difference)
    np.exp(np.negative(small, out=small), out=small)
    bound = np.maximum(difference, 0)
    bound += np.log1p(small)
    sigma = np.where(difference > 0, 1.0, small)
    sigma /= np.add(small, 1, out=small)
    return bound, sigma
