"""Sums over all pairs of scores, in linear time."""

from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
from numpy.polynomial.chebyshev import chebvander
from scipy.special import expit
from sklearn.utils import gen_batches

# Samples on both sides of a wider gap are far from each other for the pairs. The cells
# of dense islands decide by themselves what is near.
_WIDE_GAP = 40.0


# What a cell costs in comparison to a pair.
_PAIRS_PER_CELL = 100


@dataclass(frozen=True)
class PairSums:
    """What the pairwise logistic loss and its derivatives consist of.

    Attributes
    ----------
    total : float
        sum_ij losses_i weights_j log(1 + exp(s_j - s_i)).

    gradient : ndarray of shape (n_samples,)
        Derivative of the total with respect to each score.

    curvature : ndarray of shape (n_samples,) or None
        Second derivative with respect to each score alone, if asked for.
    """

    total: float
    gradient: np.ndarray
    curvature: np.ndarray | None


def sum_over_pairs(scores, weights, losses, *, curvature=False):
    """Return the pairwise logistic loss of weighted samples and its derivatives.

    Exact up to rounding for any range of scores, in time and memory O(n).

    Parameters
    ----------
    scores, weights, losses : ndarray of shape (n_samples,), dtype float64
        Scores, positive weights of the samples j, and non-negative weights of the
        samples i, in the notation of :class:`PairSums`.

    curvature : bool, default=False
        Whether to compute the second derivatives.

    Returns
    -------
    sums : PairSums
        The sums.
    """
    if not losses.any():
        nothing = np.zeros(len(scores))
        return PairSums(0.0, nothing, nothing if curvature else None)
    line = even_line(scores)
    if line is not None:
        sums = sum_cells(line, weights, losses, curvature=curvature)
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
    # The pair of a sample with itself is constant: in the gradient it cancels.
    gradient = weights * below[0] - losses * above[0]
    if len(below) == 1:
        return PairSums(float(total), gradient, None)
    curvature = weights * below[1] + losses * above[1] - weights * losses / 2
    return PairSums(float(total), gradient, curvature)


def _sum_sorted(scores, weights, losses, curvature):
    """Sum over all pairs of sorted samples, dense islands apart from sparse ones."""
    is_dense = _find_dense(scores, losses)
    samples = np.stack([scores, weights, losses])
    if is_dense.all():
        return _sum_dense(*samples, curvature)
    if not is_dense.any():
        return sum_pairs(*samples, curvature=curvature)
    dense, sparse = samples[:, is_dense], samples[:, ~is_dense]
    below, above = np.zeros((2, 1 + curvature, len(scores)))
    total, below[:, is_dense], above[:, is_dense] = _sum_dense(*dense, curvature)
    part, below[:, ~is_dense], above[:, ~is_dense] = sum_pairs(
        *sparse, curvature=curvature
    )
    total += part
    for rows, one, other in ((is_dense, dense, sparse), (~is_dense, sparse, dense)):
        far, lower, upper = _sum_far(one, other)
        total += far
        below[0, rows] += lower
        above[0, rows] += upper
    return total, below, above


def _find_dense(scores, losses):
    """Tell which samples lie on islands where cells are cheaper than pairs."""
    starts = np.append(True, np.diff(scores) > _WIDE_GAP)
    island = np.cumsum(starts) - 1
    first, last = near_range(scores, losses)
    n_pairs = np.bincount(
        island[np.flatnonzero(losses)], last - first, minlength=island[-1] + 1
    )
    ends = np.append(np.flatnonzero(starts)[1:], len(scores)) - 1
    # With the empty cells that keep an island apart from the next.
    n_cells = (scores[ends] - scores[starts]) / CELL + 1 + REACH
    return (n_pairs > _PAIRS_PER_CELL * n_cells)[island]


def _sum_dense(scores, weights, losses, curvature):
    return sum_cells(occupied_line(scores), weights, losses, curvature=curvature)


def _sum_far(samples, others):
    """Sum over pairs with other samples, all of them far away.

    Parameters
    ----------
    samples, others : tuple of scores, weights and losses
        Sorted.

    Returns
    -------
    total : float
        The part of :class:`PairSums` where the sample has the loss.

    below, above : ndarray of shape (n_samples,)
        Losses of the others below, and weights of those above a sample with a loss.
    """
    scores, _, losses = samples
    other_scores, other_weights, other_losses = others
    place = np.searchsorted(other_scores, scores)
    below = np.append(0.0, np.cumsum(other_losses))[place]
    weight, distance = sum_above(other_scores, other_weights, place, scores)
    return float(losses @ distance), below, np.where(losses > 0, weight, 0.0)


# Samples whose temporary arrays fit into the cache.
_CELL_BATCH_SIZE = 2**15


# Cells whose neighbourhoods, REACH to both sides, fit into it.
_N_CELLS_AT_ONCE = 64


_MOST_PARTS_OF_CELL = 2048


_MOST_PARTS = 2**14


@dataclass(frozen=True)
class Line:
    """Scores on a line of cells.

    Attributes
    ----------
    scores : ndarray of shape (n_samples,)
        The scores.

    lowest : float
        Number of the lowest cell.

    positions : ndarray of shape (n_samples,) or None
        Cell of each score where empty cells are left out; None where none is.

    origins : ndarray of shape (n_cells,)
        Left ends of the cells, in cells, not decreasing.
    """

    scores: np.ndarray
    lowest: float
    positions: np.ndarray | None
    origins: np.ndarray

    @property
    def n_cells(self):
        """Number of cells."""
        return len(self.origins)

    @cached_property
    def n_parts(self):
        """Number of equal parts of a cell: the more, the fewer degrees are needed."""
        most = min(_MOST_PARTS, len(self.scores) // 4) // self.n_cells
        most = min(max(most, 1), _MOST_PARTS_OF_CELL)
        return 1 << (most.bit_length() - 1)

    @property
    def transfer(self):
        """From moments in the parts of a cell to weights at its nodes."""
        return fine_to_nodes(self.n_parts)

    def locate(self, rows):
        """Return in which part some scores lie, and where in it, from -1 to 1."""
        places = self.scores[rows] / CELL
        cells = np.floor(places)
        places -= cells
        places *= self.n_parts
        parts = np.floor(places)
        # A score just below a cell is rounded to its right end.
        np.minimum(parts, self.n_parts - 1, out=parts)
        places -= parts
        places *= 2
        places -= 1
        cells = cells - self.lowest if self.positions is None else self.positions[rows]
        return (cells * self.n_parts + parts).astype(np.intp), places


def even_line(scores):
    """Return all cells from the lowest score to the highest, None if too many."""
    lowest, highest = np.floor(scores.min() / CELL), np.floor(scores.max() / CELL)
    n_cells = highest - lowest + 1
    if n_cells > max(64, len(scores) / 50):
        return None
    return Line(scores, lowest, None, np.arange(n_cells))


def occupied_line(scores):
    """Return the cells of sorted scores, gaps cut down to what makes cells far."""
    cells = np.floor(scores / CELL)
    steps = np.minimum(np.diff(cells, prepend=cells[0]), REACH + 1)
    positions = np.cumsum(steps).astype(np.intp)
    origins = np.full(positions[-1] + 1, cells[0])
    origins[positions] = cells
    return Line(scores, cells[0], positions, np.maximum.accumulate(origins))


def sum_cells(line, weights, losses, *, curvature):
    """Sum over all pairs by way of the nodes of the cells.

    Parameters
    ----------
    line : Line
        The scores s.

    weights, losses : ndarray of shape (n_samples,)
        Positive weights of the samples j, non-negative weights of the samples i.

    curvature : bool
        Whether to sum the slopes of the logistic function too.

    Returns
    -------
    total : float
        sum_ij losses_i weights_j log(1 + exp(s_j - s_i)).

    below, above : ndarray of shape (1 or 2, n_samples)
        sum_i losses_i sigma(s_k - s_i) for all k, and
        sum_j weights_j sigma(s_j - s_k) for those with a loss; with the slope of sigma
        in the second row.
    """
    of_weights, of_losses = _spread(line, weights, losses)
    slope = (logistic_slope,) if curvature else ()
    below = _potentials(of_losses, slice(None), (_falling, *slope))
    below[0] += _far_below(of_losses)
    targets = np.flatnonzero(of_losses.any(axis=1))
    above = np.zeros((2 + curvature, line.n_cells, N_NODES))
    above[:, targets] = _potentials(of_weights, targets, (softplus, expit, *slope))
    _add_far_above(above, of_weights, line.origins)
    total = float(np.einsum("ij,ij->", of_losses, above[0]))
    return total, *_interpolate(line, below, above[1:], losses)


def _falling(difference):
    return expit(-difference)


def _spread(line, weights, losses):
    """Return the weights and the losses at the nodes of the cells."""
    of_weights, of_losses = _Moments(line), _Moments(line)
    for rows in gen_batches(len(weights), _CELL_BATCH_SIZE):
        parts, places = line.locate(rows)
        of_weights.add(parts, places, weights[rows])
        batch = losses[rows]
        some = np.flatnonzero(batch)
        of_losses.add(parts[some], places[some], batch[some])
    return of_weights.at_nodes(), of_losses.at_nodes()


class _Moments:
    """Sums of Chebyshev polynomials in each part of each cell."""

    def __init__(self, line):
        self.transfer, self.n_cells = line.transfer, line.n_cells
        self.sums = np.zeros((len(line.transfer), line.n_cells * line.n_parts))

    def add(self, parts, places, weights):
        """Add samples, by the numbers of their parts and their places in them."""
        if not len(parts):
            return
        first = parts.min()
        parts = parts - first
        counts = np.bincount(parts, weights)
        span = slice(first, first + len(counts))
        self.sums[0, span] += counts
        terms = polynomials(places, len(self.sums))
        for sums, term in zip(self.sums[1:], terms, strict=True):
            sums[span] += np.bincount(parts, term * weights)

    def at_nodes(self):
        """Return the weights of the nodes of each cell, (n_cells, N_NODES)."""
        result = np.zeros((self.n_cells, N_NODES))
        for sums, transfer in zip(self.sums, self.transfer, strict=True):
            result += sums.reshape(self.n_cells, -1) @ transfer
        return result


def _potentials(sources, targets, kernels):
    """Return the sums over near sources at the nodes, (kernel, target, node)."""
    matrix = kernel_matrix(*kernels)
    n_cells, width = len(sources), (2 * REACH + 1) * N_NODES
    padded = np.pad(sources, ((REACH, REACH), (0, 0)))
    # Row by row, the nodes of a cell and of its neighbours.
    windows = np.lib.stride_tricks.as_strided(
        padded, (n_cells, width), padded.strides, writeable=False
    )
    rows = np.arange(n_cells)[targets]
    sums = np.empty((len(rows), matrix.shape[1]))
    for batch in gen_batches(len(rows), _N_CELLS_AT_ONCE):
        sums[batch] = windows[rows[batch]] @ matrix
    return sums.reshape(len(rows), len(kernels), N_NODES).swapaxes(0, 1)


def _far_below(sources):
    running = np.append(np.zeros(REACH + 1), np.cumsum(sources.sum(axis=1)))
    return running[: len(sources), np.newaxis]


def _add_far_above(above, sources, origins):
    """Add far sources, for which sigma is one and softplus the difference."""
    places, n_targets = node_places(), len(sources) - REACH - 1
    if n_targets <= 0:
        return
    weight = sum_from_end(sources.sum(axis=1))
    # The distances from the left end of a cell, added up gap by gap: no cancellation.
    moment = sum_from_end(sources @ places)
    moment[:-1] += sum_from_end(weight[1:] * np.diff(origins))
    weight, moment = weight[-n_targets:, np.newaxis], moment[-n_targets:, np.newaxis]
    gaps = (origins[-n_targets:] - origins[:n_targets])[:, np.newaxis]
    above[1, :n_targets] += weight
    above[0, :n_targets] += CELL * (moment + weight * (gaps - places))


def _interpolate(line, below, above, losses):
    """Return the sums at the samples, from those at the nodes."""
    below, above = _to_series(line, below), _to_series(line, above)
    sums_below = np.empty((len(below), len(losses)))
    sums_above = np.zeros((len(above), len(losses)))
    for rows in gen_batches(len(losses), _CELL_BATCH_SIZE):
        parts, places = line.locate(rows)
        some = np.flatnonzero(losses[rows])
        for kernel in range(len(below)):
            sums_below[kernel, rows] = _evaluate(below[kernel], parts, places)
            sums_above[kernel, rows.start + some] = _evaluate(
                above[kernel], parts[some], places[some]
            )
    return sums_below, sums_above


def _to_series(line, potentials):
    """Return Chebyshev coefficients by part, (kernel, degree, part)."""
    series = np.einsum("kcQ,mfQ->kmcf", potentials, line.transfer, optimize=True)
    return np.ascontiguousarray(series.reshape(*series.shape[:2], -1))


def _evaluate(series, parts, places):
    values = series[0].take(parts)
    terms = polynomials(places, len(series))
    for coefficients, term in zip(series[1:], terms, strict=True):
        values += term * coefficients.take(parts)
    return values


CELL = 4.0


N_NODES = 27


# Beyond that many cells all kernels are 0, 1 or linear in float64.
REACH = 10


# Digits that an interpolation has to give.
_DIGITS = 14.2


def node_places(n_nodes=N_NODES):
    """Return where the nodes of a cell lie, as shares of its width."""
    return (1 + _nodes(n_nodes)) / 2


def _nodes(n_nodes):
    return np.cos(np.pi * (np.arange(n_nodes) + 0.5) / n_nodes)


def _coefficients(n_nodes):
    """Return the matrix (node, degree) from values at nodes to coefficients."""
    matrix = chebvander(_nodes(n_nodes), n_nodes - 1) * (2 / n_nodes)
    matrix[:, 0] /= 2
    return matrix


def _n_fine_nodes(n_parts):
    # Half the width of a part against the distance of the nearest pole, pi.
    pole = 2 * np.pi * n_parts / CELL
    decay = np.log10(pole + np.hypot(pole, 1))
    return min(N_NODES, int(np.ceil(_DIGITS / decay)))


@cache
def fine_to_nodes(n_parts):
    """Return how moments in the parts of a cell become weights at its nodes.

    The transpose takes values at the nodes to Chebyshev coefficients in each part.

    Parameters
    ----------
    n_parts : int
        Number of equal parts of a cell.

    Returns
    -------
    transfer : ndarray of shape (n_degrees, n_parts, N_NODES)
        Fewer degrees for narrower parts.
    """
    n_degrees = _n_fine_nodes(n_parts)
    places = node_places(n_degrees) + np.arange(n_parts)[:, np.newaxis]
    values = chebvander(2 * places / n_parts - 1, N_NODES - 1)
    cardinals = values @ _coefficients(N_NODES).T
    transfer = np.einsum("qm,fqQ->mfQ", _coefficients(n_degrees), cardinals)
    return np.ascontiguousarray(transfer)


def polynomials(x, n_degrees):
    """Yield the Chebyshev polynomials of degree 1, 2, ... at x."""
    before, now = 1.0, x
    for _ in range(1, n_degrees):
        yield now
        before, now = now, 2 * x * now - before


def softplus(difference):
    """Return log(1 + exp(difference)) without overflow."""
    return np.maximum(difference, 0) + np.log1p(np.exp(-np.abs(difference)))


def logistic_slope(difference):
    """Return the derivative of the logistic function."""
    return expit(difference) * expit(-difference)


@cache
def kernel_matrix(*kernels):
    """Return kernels between the nodes of cells up to `REACH` apart.

    Parameters
    ----------
    *kernels : callable
        Functions of the difference source - target.

    Returns
    -------
    matrix : ndarray of shape ((2 REACH + 1) * N_NODES, n_kernels * N_NODES)
        Rows are the nodes of the sources, from the lowest cell to the highest; columns
        those of the targets in the middle cell, kernel by kernel.
    """
    places = CELL * node_places()
    cells = CELL * np.arange(-REACH, REACH + 1)
    sources = (cells[:, np.newaxis] + places).ravel()
    difference = sources[:, np.newaxis] - places
    return np.hstack([kernel(difference) for kernel in kernels])


# Beyond that distance all kernels are 0, 1 or linear in float64.
_REACH = 40.0


_NEAR_BATCH_SIZE = 2**17


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
    """Yield ranges of rows with about `_NEAR_BATCH_SIZE` pairs, one row at least."""
    ends = np.cumsum(counts)
    start = 0
    while start < len(counts):
        done = ends[start - 1] if start else 0
        end = int(np.searchsorted(ends, done + _NEAR_BATCH_SIZE, side="right"))
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
