"""Sums over pairs one by one: for samples so far apart that few pairs are near."""

import numpy as np

# Beyond that distance all kernels are 0, 1 or linear in float64.
_REACH = 40.0
_BATCH_SIZE = 2**17


def near_range(scores, losses):
    """Return for each sample with a loss the range of the samples near to it.

    Parameters
    ----------
    scores : ndarray of shape (n_samples,)
        Increasing.

    losses : ndarray of shape (n_samples,)
        Losses, `n_errors` of them not zero.

    Returns
    -------
    first, last : ndarray of shape (n_errors,)
        The range of rows, without the last.
    """
    centers = scores[np.flatnonzero(losses)]
    first = np.searchsorted(scores, centers - _REACH, side="left")
    last = np.searchsorted(scores, centers + _REACH, side="right")
    return first, last


def sum_pairs(scores, weights, losses, *, curvature):
    """Sum over all pairs, near ones one by one and far ones by running sums.

    Parameters and returns are those of :func:`sum_cells`, for increasing scores.
    """
    errors = np.flatnonzero(losses)
    first, last = near_range(scores, losses)
    below = np.zeros((1 + curvature, len(scores)))
    above = np.zeros_like(below)
    below[0] = _losses_far_below(losses[errors], last, len(scores))
    above[0, errors], distance = sum_above(scores, weights, last, scores[errors])
    total = float(losses[errors] @ distance)
    for rows in _batches(last - first):
        pairs = _Pairs(scores, errors[rows], first[rows], last[rows])
        total += losses[errors[rows]] @ pairs.sum_log(weights)
        for kernel in range(1 + curvature):
            pairs.add_below(below[kernel], losses, kernel)
            pairs.add_above(above[kernel], weights, kernel)
    return total, below, above


def _losses_far_below(losses, last, n_samples):
    # By the same ranges as the near ones: differences round to either side of a bound.
    running = np.append(0.0, np.cumsum(losses))
    return running[np.searchsorted(last, np.arange(n_samples), side="right")]


def sum_above(scores, weights, first, origins):
    """Return the weight of samples from some rank on, and their total distance.

    Parameters
    ----------
    scores, weights : ndarray of shape (n_samples,)
        Samples by increasing score.

    first : ndarray of shape (n_origins,), dtype int
        Rank of the first sample to sum for each origin, `n_samples` for none.

    origins : ndarray of shape (n_origins,)
        Scores that the distances are from, none above its first sample.

    Returns
    -------
    weight, distance : ndarray of shape (n_origins,)
        Sums over the weights, and over the weights times the distances.
    """
    weight = np.append(sum_from_end(weights), 0.0)
    # Distances are added up gap by gap, so that nothing cancels.
    moment = np.append(sum_from_end(weight[1:-1] * np.diff(scores)), [0.0, 0.0])
    nearest = scores[np.minimum(first, len(scores) - 1)]
    return weight[first], moment[first] + weight[first] * (nearest - origins)


def sum_from_end(values):
    """Return the sum of each value and those after it."""
    return np.cumsum(values[::-1])[::-1]


def _batches(counts):
    """Yield ranges of rows with about `_BATCH_SIZE` pairs, one row at least."""
    ends = np.cumsum(counts)
    start = 0
    while start < len(counts):
        done = ends[start - 1] if start else 0
        end = int(np.searchsorted(ends, done + _BATCH_SIZE, side="right"))
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
