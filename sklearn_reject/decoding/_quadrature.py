"""Expected ratios of counts for all sizes of a set, by quadrature."""

from functools import lru_cache

import numpy as np
from scipy.linalg import eigh_tridiagonal
from scipy.special import gamma, gammainccinv

from sklearn_reject._curves._prefixes import running_sum

# Bound on the errors of expected losses, relative to the range of a loss, beside
# rounding.
TOL = 1e-12

# Items times nodes times rows that are worked on at once: a megabyte for each array.
_N_AT_ONCE = 2**17

# Items whose sums are taken step by step.
_SEGMENT = 32

# Chance of a denominator outside of the interval that the quadrature is for.
_CHANCE_OF_TAILS = 1e-4 * TOL

# Below it a factor is as good as zero, and still no division by zero.
_LEAST_FACTOR = 1e-300

# Rounding adds up over so many equal summands.
_LONG = 4096

# Rates below this one over the largest number vary little over the interval, so that a
# few nodes stand for all of them.
_SMALL_RATE = 3.0

_N_NODES_OF_SMALL_RATES = 8

# The largest steps of the trapezoidal rule that err by a quarter of TOL, by the power
# of the denominator.
_STEPS = {1.0: 0.3, 0.5: 0.32}


def expected_ratio(eta, ratio, n_negatives=0):
    """Return the expectation of a ratio of counts for the top k items, for all k.

    Rows of `eta` are sorted decreasing; `n_negatives` further items of each row are
    surely negative.
    """
    if ratio.of_negatives:
        # With the classes the predicted items change places with the others, among
        # which further items surely are negative.
        curves = _integrate_rows(1 - eta[:, ::-1], ratio, n_negatives)[:, ::-1]
    else:
        curves = _integrate_rows(eta, ratio, 0)
    if ratio.size_power:
        curves /= np.maximum(np.arange(curves.shape[1]), 1) ** ratio.size_power
    return ratio.weight * curves


def chances_of_absence(eta, n_negatives=0):
    """Return the chance of each row that nothing, and that everything is positive."""
    with np.errstate(divide="ignore"):
        logs = np.log1p(-eta).sum(axis=1), np.log(eta).sum(axis=1)
    return np.exp(logs[0]), np.exp(logs[1]) * (n_negatives == 0)


def absence_scores(eta, loss, n_negatives=0):
    """Return what sets without a positive or a negative add to the expected score."""
    k = np.arange(eta.shape[1] + 1)
    values = loss.score_of_absence(k, eta.shape[1] + n_negatives)
    chances = chances_of_absence(eta, n_negatives)
    return sum(map(np.outer, chances, values))


def prefix_sums_of_rows(values):
    """Return the sums of the first 0, 1, ... values of each row, without drift."""
    sums = np.zeros((len(values), values.shape[1] + 1))
    if values.shape[1] < _LONG:
        np.cumsum(values, axis=1, out=sums[:, 1:])
    else:
        for row, of_row in zip(sums, values, strict=True):
            running_sum(of_row, out=row[1:])
    return sums


def _integrate_rows(eta, ratio, n_sure):
    """Return the curves of tp over a denominator, some rows and items at a time.

    Both have `n_sure` surely positive items more.
    """
    # The denominator to the power -s is a sum of exponentials, and the expectation of
    # an exponential of a sum is a product over the items.
    hits = prefix_sums_of_rows(eta)
    rates, weights = exponential_sum(*_range(hits, ratio, n_sure), ratio.power)
    n_rows, n_items = eta.shape
    n_block = max(1, min(n_items, _N_AT_ONCE // len(rates)))
    n_rows_at_once = max(1, _N_AT_ONCE // (len(rates) * n_block))
    starts = range(0, n_items, n_block)
    integrate = _tilt_hits if ratio.hit else _weigh_rest
    curves = np.empty((n_rows, n_items + 1))
    for first in range(0, n_rows, n_rows_at_once):
        rows = slice(first, first + n_rows_at_once)
        items = eta[rows].T[:, :, None]
        blocks = [items[start : start + n_block] for start in starts]
        for start, gains in integrate(blocks, ratio, n_sure, rates):
            k = np.arange(start, start + len(gains))[:, None]
            damping = np.exp(-(ratio.size * k + n_sure) * rates) * weights
            of_block = np.einsum("krv,kv->kr", gains, damping)
            curves[rows, start : start + len(gains)] = of_block.T
    return curves if ratio.hit else curves * hits


def _tilt_hits(blocks, ratio, n_sure, rates):
    """Yield E[tp exp(-rate D)] for each block, where all positives are in D alike."""
    n_block, shrink = len(blocks[0]), _factors(ratio.miss, rates)
    sums = np.zeros((1, *np.broadcast_shapes(blocks[0].shape[1:], rates.shape)))
    logs = (_log_factors(block, ratio, rates).sum(axis=0) for block in blocks)
    chance = np.exp(sum(logs))
    for number, block in enumerate(blocks):
        tilted = block * shrink
        others = 1 - block + tilted
        sums = _running(np.divide(tilted, others, out=others), sums[-1])
        hits = sums + n_sure if n_sure else sums
        yield number * n_block, hits * chance


def _weigh_rest(blocks, ratio, n_sure, rates):
    """Yield E[exp(-rate D)] for each block, where D has the items from k on."""
    n_block, logs = len(blocks[0]), np.zeros((1, 1, 1))
    for number in range(len(blocks) - 1, -1, -1):
        # From the end, so that nothing is lost by subtraction.
        values = _log_factors(blocks[number][::-1], ratio, rates)
        logs = _running(values, logs[0])[::-1]
        yield number * n_block, np.exp(logs)


def _factors(weight, rates):
    return np.maximum(np.exp(-weight * rates), _LEAST_FACTOR)


def _log_factors(eta, ratio, rates):
    """Return the logarithm of E[exp(-rate D)] of each item."""
    losses = -np.expm1(-ratio.miss * rates)
    # Where the factors are near one, only log1p keeps the sum of many exact.
    n_far = np.count_nonzero(losses * eta.max() > 0.5)
    logs = np.empty((*eta.shape[:2], len(rates)))
    far = eta * _factors(ratio.miss, rates[:n_far])
    np.log((1 - eta) + far, out=logs[..., :n_far])
    np.log1p(-eta * losses[n_far:], out=logs[..., n_far:])
    return logs


def _running(values, before):
    """Return the sums of the first 0, 1, ... values of a block, and all before it."""
    sums = np.empty((len(values) + 1, *values.shape[1:]))
    sums[0] = before
    n_segments = max(1, len(values) // _SEGMENT)
    length = len(values) // n_segments
    stop = 1 + n_segments * length
    # Steps over long vectors: a cumulative sum along an axis takes ten times as long.
    segments = sums[1:stop].reshape(n_segments, length, *sums.shape[1:])
    added = values[: stop - 1].reshape(n_segments, length, *values.shape[1:])
    segments[:, 0] = added[:, 0]
    for step in range(1, length):
        np.add(segments[:, step - 1], added[:, step], out=segments[:, step])
    offset = np.cumsum(segments[:, -1], axis=0) + before
    segments[0] += before
    segments[1:] += offset[:-1, None]
    for row in range(stop, len(sums)):
        np.add(sums[row - 1], values[row - 1], out=sums[row])
    return sums


def _range(hits, ratio, n_sure):
    """Return a positive interval for the denominator, over all k and rows.

    It is outside with a chance of at most `_CHANCE_OF_TAILS` (Bernstein's inequality).
    """
    # Bounds on the variance by the mean.
    k = np.arange(hits.shape[1])
    missed = hits[:, -1:] - hits
    mean = ratio.size * k + n_sure + ratio.hit * hits + ratio.miss * missed
    square = 2 * (ratio.hit**2 * hits + ratio.miss**2 * missed)
    nats = -np.log(_CHANCE_OF_TAILS)
    step = ratio.miss * nats / 3
    above = step + np.sqrt(step**2 + nats * square)
    # Where there is no hit, any denominator will do.
    low = max(n_sure or ratio.size + ratio.hit, (mean - np.sqrt(nats * square)).min())
    return low, max(low, (mean + above).max())


def exponential_sum(low, high, power):
    """Return decreasing rates and weights whose sum of exponentials is ``a**-power``.

    Its relative error is at most `TOL` for a in [low, high]; beyond the ends the sum is
    positive, and at most ``(1 + TOL) * a**-power`` below `low`.
    """
    # The trapezoidal rule in x for a^-s = int e^(s x) exp(-a e^x) dx / Gamma(s). Its
    # relative error does not depend on a: for steps of h it is twice the sum of
    # abs(gamma(s + 2 pi i m / h)) / gamma(s) over m = 1, 2, ... Rates much smaller than
    # 1 / high, where the exponential is nearly a polynomial, are merged.
    step = _STEPS[power]
    largest = gammainccinv(power, TOL / 4) / low
    n_large = max(0, int(np.ceil(np.log(largest * high / _SMALL_RATE) / step)))
    rates = largest * np.exp(-step * np.arange(n_large))
    smaller = largest * np.exp(-step * n_large)
    nodes, masses = _merge_small_rates(power, step)
    rates = np.append(rates, smaller * nodes)
    weights = step * rates**power
    weights[n_large:] = step * smaller**power * masses
    return rates, weights / gamma(power)


@lru_cache
def _merge_small_rates(power, step):
    """Return the Gauss rule of masses ``exp(-power step j)`` at ``exp(-step j)``."""
    # The rule has the moments of the masses, by the recurrence of their orthogonal
    # polynomials (Lanczos).
    points = np.exp(-step * np.arange(int(45 / (step * power))))
    masses = points**power
    vector = np.sqrt(masses / masses.sum())
    basis, diagonal, beside = [vector], [], []
    for _ in range(_N_NODES_OF_SMALL_RATES):
        vector = points * basis[-1]
        diagonal.append(vector @ basis[-1])
        for _ in range(2):  # once more, for what rounding has left
            vector = vector - sum((vector @ other) * other for other in basis)
        beside.append(np.linalg.norm(vector))
        basis.append(vector / beside[-1])
    nodes, vectors = eigh_tridiagonal(diagonal, beside[:-1])
    return nodes[::-1], masses.sum() * vectors[0, ::-1] ** 2
