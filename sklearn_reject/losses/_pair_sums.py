"""Sums over all pairs of scores, in linear time.

Where scores are dense, Lagrange's polynomials spread the samples over the nodes of a
grid, the nodes are summed by convolution, and the same polynomials interpolate the
sums. Elsewhere pairs are summed one by one. The convolution is not one by Fourier
transforms, which lose small sums beside large ones: where a score puts all errors last,
every sum is small.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.polynomial.polynomial import polyfromroots
from scipy.special import expit
from sklearn.utils import gen_batches

# Beyond that distance all kernels are 0, 1 or linear in float64.
_REACH = 40.0


@dataclass(frozen=True)
class PairSums:
    """What the pairwise logistic loss and its derivatives consist of.

    The total is sum_ij losses_i weights_j log(1 + exp(s_j - s_i)), the gradient its
    derivative with respect to each score, and the curvature the second one with respect
    to each score alone, None unless asked for.
    """

    total: float
    gradient: np.ndarray
    curvature: np.ndarray | None


def sum_over_pairs(scores, weights, losses, *, curvature=False):
    """Return the sums over all pairs, exact up to rounding for any range of scores.

    Weights are positive, losses (times weights) non-negative; time and memory are O(n).
    """
    if not losses.any():
        nothing = np.zeros(len(scores))
        return PairSums(0.0, nothing, nothing if curvature else None)
    n_samples, width = len(scores), scores.max() - scores.min()
    node_time = _grid_times(n_samples, width) - _grid_times(n_samples, 0.0)
    if node_time <= _GRID_TIME + _SORTING_TIME * n_samples:
        sums = _sum_on_grid(scores, weights, losses, curvature)
        return _derive(*sums, weights, losses)
    order = np.argsort(scores, kind="stable")
    sums = _sum_sorted(scores[order], weights[order], losses[order], curvature)
    result = _derive(*sums, weights[order], losses[order])
    return PairSums(
        result.total,
        _unsort(result.gradient, order),
        None if result.curvature is None else _unsort(result.curvature, order),
    )


def _unsort(values, order):
    result = np.empty_like(values)
    result[order] = values
    return result


def _derive(total, below, above, weights, losses):
    """Put together the sums at each sample: those of losses below, of weights above.

    `below` is sum_i losses_i sigma(s_k - s_i) for all k, and `above`
    sum_j weights_j sigma(s_j - s_k) for those with a loss; a second row, where there is
    one, has the slope of sigma instead.
    """
    # The pair of a sample with itself is constant: in the gradient it cancels.
    gradient = weights * below[0] - losses * above[0]
    if len(below) == 1:
        return PairSums(float(total), gradient, None)
    curvature = weights * below[1] + losses * above[1] - weights * losses / 2
    return PairSums(float(total), gradient, curvature)


def _sum_sorted(scores, weights, losses, curvature):
    """Sum over all pairs of sorted samples: far ones, dense islands, near ones."""
    errors = np.flatnonzero(losses)
    first = np.searchsorted(scores, scores[errors] - _REACH, side="left")
    last = np.searchsorted(scores, scores[errors] + _REACH, side="right")
    islands = _find_dense_islands(scores, errors, last - first)
    alone = np.ones(len(errors), dtype=bool)
    for rows in islands:
        inside = slice(*np.searchsorted(errors, [rows.start, rows.stop]))
        alone[inside], last[inside] = False, rows.stop
    below, above = np.zeros((2, 1 + curvature, len(scores)))
    below[0] = _losses_far_below(losses[errors], last, len(scores))
    above[0, errors], distance = _sum_far_above(scores, weights, last, scores[errors])
    total = float(losses[errors] @ distance)
    for rows in islands:
        sums = _sum_on_grid(scores[rows], weights[rows], losses[rows], curvature)
        total += sums[0]
        below[:, rows] += sums[1]
        above[:, rows] += sums[2]
    near = errors[alone], first[alone], last[alone]
    return total + _add_pairs(below, above, scores, weights, losses, near), below, above


def _find_dense_islands(scores, errors, n_near):
    """Return the ranges of rows, far from all others, for which a grid is cheaper."""
    starts = np.flatnonzero(np.diff(scores, prepend=-np.inf) > _REACH)
    stops = np.append(starts[1:], len(scores))
    island = np.searchsorted(starts, errors, side="right") - 1
    pair_times = _PAIR_TIME * np.bincount(island, n_near, minlength=len(starts))
    grid_times = _grid_times(stops - starts, scores[stops - 1] - scores[starts])
    dense = np.flatnonzero(pair_times > grid_times)
    return [slice(*ends) for ends in zip(starts[dense], stops[dense], strict=True)]


# A score is interpolated from so many nodes of its grid, which are `_STEP` apart. With
# the poles of sigma at +-pi i the error is 2e-14 or less of its largest value:
# 2 prod(nodes) (_STEP / pi)^_STENCIL / pi.
_STENCIL, _STEP = 12, 0.1
_NODES = np.arange(_STENCIL) - (_STENCIL - 1) / 2


# Measured, in nanoseconds: what a pair, a sorted sample, a sample on a grid and a node
# of a grid take, and a grid whatever its size.
_PAIR_TIME, _SORTING_TIME, _SAMPLE_TIME, _NODE_TIME, _GRID_TIME = 30, 70, 70, 310, 2e5


def _grid_times(n_samples, widths):
    """Return what grids take, infinitely long where the memory would not be O(n)."""
    n_nodes = widths / _STEP + _STENCIL
    times = _GRID_TIME + _NODE_TIME * n_nodes + _SAMPLE_TIME * n_samples
    return np.where(n_nodes <= 1000 + n_samples, times, np.inf)


# Samples whose temporary arrays fit into the cache.
_BATCH_SIZE = 2**14


class _Grid:
    """An even grid over some scores."""

    def __init__(self, scores):
        self.scores, self.lowest = scores, scores.min()
        self.n_intervals = int(np.ptp(scores) / _STEP) + 1

    @property
    def n_nodes(self):
        """Number of nodes, with those outside the scores."""
        return self.n_intervals + _STENCIL - 1

    def batches(self):
        """Yield ranges of rows, not many more than there are nodes."""
        return gen_batches(len(self.scores), max(_BATCH_SIZE, self.n_nodes))

    def locate(self, rows):
        """Return between which nodes some scores lie, and where, from -1/2 to 1/2."""
        places = (self.scores[rows] - self.lowest) / _STEP
        intervals = places.astype(np.intp)
        places -= intervals
        places -= 0.5
        return intervals, places

    def spread(self, weights, losses):
        """Return the weights and the losses at the nodes."""
        moments = np.zeros((2, _STENCIL, self.n_intervals))
        for rows in self.batches():
            intervals, places = self.locate(rows)
            _add_moments(moments[0], intervals, places, weights[rows])
            errors = np.flatnonzero(losses[rows])
            of_errors = intervals[errors], places[errors]
            _add_moments(moments[1], *of_errors, losses[rows][errors])
        at_nodes = np.zeros((2, self.n_nodes))
        for node, cardinal in enumerate(_lagrange_polynomials()):
            at_nodes[:, node : node + self.n_intervals] += cardinal @ moments
        return at_nodes

    def interpolate(self, below, above, losses):
        """Return sums at the samples, those of `above` for samples with a loss only."""
        below, above = _interpolants(below), _interpolants(above)
        of_samples = np.zeros((2, len(below), len(losses)))
        for rows in self.batches():
            intervals, places = self.locate(rows)
            errors = np.flatnonzero(losses[rows])
            of_errors = intervals[errors], places[errors]
            for kernel in range(len(below)):
                of_samples[0, kernel, rows] = _evaluate(
                    below[kernel], intervals, places
                )
                of_samples[1, kernel, rows.start + errors] = _evaluate(
                    above[kernel], *of_errors
                )
        return of_samples


@cache
def _lagrange_polynomials():
    """Return the coefficients of Lagrange's polynomials, (node, degree)."""
    others = [np.delete(_NODES, node) for node in range(_STENCIL)]
    return np.array(
        [
            polyfromroots(roots) / np.prod(node - roots)
            for node, roots in zip(_NODES, others, strict=True)
        ]
    )


def _interpolants(sums):
    """Return the coefficients for each interval, (kernel, degree, interval)."""
    windows = sliding_window_view(sums, _STENCIL, axis=-1)
    return np.moveaxis(windows @ _lagrange_polynomials(), -1, 1).copy()


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


def _sum_on_grid(scores, weights, losses, curvature):
    """Sum over all pairs by way of the nodes of a grid."""
    grid = _Grid(scores)
    of_weights, of_losses = grid.spread(weights, losses)
    # Sigma is a step and softplus a ramp, up to what decays to both sides.
    sigma, softplus, slope = _decaying_kernels()
    from_node = _sum_from_end(of_weights)
    bound = _convolve(of_weights, softplus)
    bound[:-1] += _STEP * _sum_from_end(from_node[1:])
    below = [np.cumsum(of_losses) - of_losses / 2 + _convolve(of_losses, sigma)]
    above = [from_node - of_weights / 2 - _convolve(of_weights, sigma)]
    if curvature:
        below.append(_convolve(of_losses, slope))
        above.append(_convolve(of_weights, slope))
    at_samples = grid.interpolate(np.stack(below), np.stack(above), losses)
    return of_losses @ bound, *at_samples


@cache
def _decaying_kernels():
    """Return the kernels without step and ramp, at the nodes up to `_REACH` away.

    At a distance d they are sigma(d) - [d > 0] (one half of the step at zero),
    log(1 + exp(-abs(d))), and the slope of sigma.
    """
    reach = round(_REACH / _STEP)
    distance = _STEP * np.arange(-reach, reach + 1)
    small = expit(-np.abs(distance))
    softplus = np.log1p(np.exp(-np.abs(distance)))
    return -np.sign(distance) * small, softplus, expit(distance) * expit(-distance)


def _convolve(values, kernel):
    reach = len(kernel) // 2
    return np.convolve(values, kernel)[reach : reach + len(values)]


def _sum_from_end(values):
    """Return the sum of each value and those after it."""
    return np.cumsum(values[::-1])[::-1]


def _losses_far_below(losses, last, n_samples):
    # By the same ranges as the near ones: differences round to either side of a bound.
    running = np.append(0.0, np.cumsum(losses))
    return running[np.searchsorted(last, np.arange(n_samples), side="right")]


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
    total = 0.0
    for rows in _batches(last - first):
        pairs = _Pairs(scores, errors[rows], first[rows], last[rows])
        total += losses[errors[rows]] @ pairs.sum_log(weights)
        for kernel in range(len(below)):
            pairs.add_below(below[kernel], losses, kernel)
            pairs.add_above(above[kernel], weights, kernel)
    return total


def _batches(counts):
    """Yield ranges of rows with about `_N_PAIRS_AT_ONCE` pairs, one row at least."""
    ends = np.cumsum(counts)
    start = 0
    while start < len(counts):
        done = ends[start - 1] if start else 0
        end = int(np.searchsorted(ends, done + _N_PAIRS_AT_ONCE, side="right"))
        end = max(end, start + 1)
        yield slice(start, end)
        start = end


class _Pairs:
    """Pairs (i, j) of some samples i that have a loss and all samples j near to it."""

    def __init__(self, scores, errors, first, last):
        counts = last - first
        self.errors = errors
        self.starts = np.cumsum(counts) - counts
        self.i = np.repeat(errors, counts)
        self.j = np.arange(len(self.i)) + np.repeat(first - self.starts, counts)
        self.span = slice(int(first.min()), int(last.max()))
        self.difference = scores[self.j] - scores[self.i]
        # One exponential gives all kernels.
        small = np.exp(-np.abs(self.difference))
        nearer, farther = 1 / (1 + small), small / (1 + small)
        sigma = np.where(self.difference > 0, nearer, farther)
        self.kernels = (sigma, nearer * farther)
        self.log = np.maximum(self.difference, 0) + np.log1p(small)

    def sum_log(self, weights):
        return np.add.reduceat(weights[self.j] * self.log, self.starts)

    def add_above(self, sums, weights, kernel):
        values = weights[self.j] * self.kernels[kernel]
        sums[self.errors] += np.add.reduceat(values, self.starts)

    def add_below(self, sums, losses, kernel):
        values = losses[self.i] * self.kernels[kernel]
        sums[self.span] += np.bincount(
            self.j - self.span.start, values, self.span.stop - self.span.start
        )
