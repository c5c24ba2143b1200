"""Sums over all pairs by way of the nodes of cells: for samples that lie densely."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import expit
from sklearn.utils import gen_batches

from sklearn_reject.losses._chebyshev import (
    CELL,
    N_NODES,
    REACH,
    fine_to_nodes,
    kernel_matrix,
    logistic_slope,
    node_places,
    polynomials,
    softplus,
)
from sklearn_reject.losses._near_pairs import sum_from_end

# Samples whose temporary arrays fit into the cache.
_BATCH_SIZE = 2**15
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
    for rows in gen_batches(len(weights), _BATCH_SIZE):
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
    for rows in gen_batches(len(losses), _BATCH_SIZE):
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
