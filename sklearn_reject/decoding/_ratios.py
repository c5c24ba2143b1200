"""Expected ratios of counts of all sizes, by quadrature."""

from functools import lru_cache
from itertools import accumulate
from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh_tridiagonal
from scipy.special import gamma, gammainccinv, loggamma

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
_STEPS = np.arange(0.7, 0.15, -0.01)


def expansion_curves(eta, expansion, *, n_negatives=0):
    """Return the curves of a loss that is made of ratios and absences."""
    curves = np.full((len(eta), eta.shape[1] + 1), expansion.constant)
    for ratio in expansion.ratios:
        curves += _ratio_curves(eta, ratio, n_negatives=n_negatives)
    for absence in expansion.absences:
        curves += _absence_curves(eta, absence, n_negatives=n_negatives)
    return curves


def _ratio_curves(eta, ratio, *, n_negatives=0):
    """Return the expectation of a ratio for the sets of the top k items, for all k.

    Rows of `eta` are sorted decreasing. The error is at most `TOL` times the largest
    value that the ratio can have, beside rounding.
    """
    top, rest = _halves(ratio)
    if top.extra == rest.extra == 0:
        curves = _curves_of_fixed_denominator(eta, ratio, n_negatives)
    else:
        curves = _curves_by_quadrature(eta, ratio, n_negatives)
    if ratio.size_power:
        k = np.arange(eta.shape[1] + 1)
        curves[:, 1:] *= k[1:] ** -ratio.size_power
        curves[:, 0] = 0.0
    return ratio.coefficient * curves


def _absence_curves(eta, absence, *, n_negatives=0):
    """Return what an absence adds to the expected loss, for all k."""
    k = np.arange(eta.shape[1] + 1)
    value = absence.constant + absence.slope * k
    cells = absence.cells
    curves = np.zeros((len(eta), len(k)))
    if not value.any() or (n_negatives and cells.tn):
        return curves
    of_rest = _log_chance(eta, cells.fn, cells.tn)[:, ::-1]
    curves[:, 1:] = _running_sums(_log_chance(eta, cells.tp, cells.fp))
    curves[:, :-1] += _running_sums(of_rest)[:, ::-1]
    return value * np.exp(curves)


def _running_sums(logs):
    """Return cumulative sums of rows; of long ones without drift."""
    if logs.shape[1] < _LONG:
        return np.cumsum(logs, axis=1)
    return np.array([running_sum(row) for row in logs])


def _log_chance(eta, no_positive, no_negative):
    """Return the logarithm of the chance that an item is in neither empty cell."""
    if no_positive and no_negative:
        return np.full_like(eta, -np.inf)
    if not (no_positive or no_negative):
        return np.zeros_like(eta)
    with np.errstate(divide="ignore"):
        return np.log1p(-eta) if no_positive else np.log(eta)


def _curves_of_fixed_denominator(eta, ratio, n_negatives):
    """Return the curves of a ratio whose denominator depends on k only."""
    top, rest = _halves(ratio)
    k = np.arange(eta.shape[1] + 1)
    taken, left = (_expected_gain(half, eta) for half in (top, rest))
    left = left[:, -1:] - left + n_negatives * ratio.numerator.tn
    above = taken + left
    below = _least_denominator(ratio, k, eta.shape[1] - k, n_negatives)
    curves = np.zeros_like(above)
    return np.divide(above, below**ratio.power, out=curves, where=below > 0)


def _expected_gain(half, eta):
    """Return what the first k items add to the numerator in expectation, for all k."""
    gain = half.gain + half.extra_gain * half.chances(eta)[0]
    sums = np.zeros((len(eta), eta.shape[1] + 1))
    for row, gains in zip(sums, gain, strict=True):
        row[1:] = running_sum(gains)
    return sums


def _curves_by_quadrature(eta, ratio, n_negatives):
    """Return the curves of any ratio, some rows at a time."""
    low, high = range_of_denominator(eta, ratio, n_negatives)
    rates, weights = exponential_sum(low, high, ratio.power)
    n_rows, n_items = eta.shape
    n_block = max(1, min(n_items, _N_AT_ONCE // len(rates)))
    n_rows_at_once = max(1, _N_AT_ONCE // (len(rates) * n_block))
    starts = range(0, n_items, n_block)
    curves = np.empty((n_rows, n_items + 1))
    for first in range(0, n_rows, n_rows_at_once):
        rows = slice(first, first + n_rows_at_once)
        items = eta[rows].T[:, :, None]
        blocks = [items[start : start + n_block] for start in starts]
        parts = _integrate(blocks, ratio, n_negatives, rates, weights)
        for start, part in zip(starts, parts, strict=True):
            curves[rows, start : start + len(part)] = part.T
    return curves


def _integrate(blocks, ratio, n_negatives, rates, weights):
    """Yield the curves over each block of items, shape (n_block + 1, n_rows).

    Blocks and what is summed over them have the axes (item, row, exponential).
    """
    top, rest = _halves(ratio)
    # Sums over the items from a block on are taken from the end, so that nothing is
    # lost by subtraction.
    rest_sums = _suffixes(rest.tilted_chances(block, rates) for block in blocks[::-1])
    rest_logs = _suffixes(rest.log_factors(block, rates) for block in blocks[::-1])
    # Then the product of all factors does not depend on k.
    is_same = top.factor == rest.factor
    top_sum, top_log = np.zeros((2, 1, 1, 1))
    logs = rest_logs[0]
    first, n_rest = 0, sum(map(len, blocks))
    for number, block in enumerate(blocks, 1):
        tops = _running(top.tilted_chances(block, rates), top_sum)
        rests = _running_back(rest.tilted_chances(block, rates), rest_sums[number])
        top_sum = tops[-1:]
        if not is_same:
            top_logs = _running(top.log_factors(block, rates), top_log)
            top_log = top_logs[-1:]
            logs = top_logs + _running_back(
                rest.log_factors(block, rates), rest_logs[number]
            )
        step = np.arange(len(block) + 1)[:, None, None]
        counts = first + step, n_rest - step, n_negatives
        gains = _expected_gains(ratio, tops, rests, *counts) * np.exp(logs)
        damping = np.exp(-_least_denominator(ratio, *counts) * rates) * weights
        yield np.einsum("krv,kv->kr", gains, damping[:, 0])
        first, n_rest = first + len(block), n_rest - len(block)


def _expected_gains(ratio, tops, rests, k, n_rest, n_negatives):
    """Return the expected numerator, from sums of the chances of both halves."""
    top, rest = _halves(ratio)
    taken, left = top.gains(tops, k), rest.gains(rests, n_rest)
    left = left + n_negatives * ratio.numerator.tn
    return taken + left if left.any() else taken


def _suffixes(of_blocks):
    """Return the sums of all blocks, of all but the first, ... and none.

    They are given from the last one on.
    """
    sums = (values.sum(axis=0, keepdims=True) for values in of_blocks)
    return list(accumulate(sums, initial=np.zeros((1, 1, 1))))[::-1]


def _running(values, before):
    """Return the sums of the first 0, 1, ... values of a block, and all before it."""
    if values.shape[1:] == (1, 1) and not values.any():  # they are not needed
        return np.broadcast_to(before, (len(values) + 1, *before.shape[1:]))
    sums = np.empty(
        (len(values) + 1, *np.broadcast_shapes(values[0].shape, before[0].shape))
    )
    sums[0] = before[0]
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


def _running_back(values, after):
    """Return the sums of the values of a block from the first, second, ... on."""
    return _running(values[::-1], after)[::-1]


class Half(NamedTuple):
    """What the predicted items, or the others, add to a denominator and a numerator.

    Each item is positive or negative; its heavy cell of the confusion matrix is the one
    of the two that adds more to the denominator, by `extra`, beyond `base` of both.
    """

    base: float
    extra: float
    gain: float
    extra_gain: float
    positive_is_heavy: bool

    @property
    def factor(self):
        """What the factor of an item under an exponential depends on, but its base."""
        return self.extra, self.positive_is_heavy

    def chances(self, eta):
        """Return how likely each item is to be in the heavy and in the light cell."""
        return (eta, 1 - eta) if self.positive_is_heavy else (1 - eta, eta)

    def tilted_chances(self, eta, rates):
        """Return the chance of the heavy cell under each exponential, where needed."""
        heavy, light = self.chances(eta)
        if self.extra_gain == 0:
            return np.zeros((len(heavy), 1, 1))
        if self.extra == 0:
            return heavy
        heavy = heavy * self._factors(rates)
        light = light + heavy
        return np.divide(heavy, light, out=light)

    def log_factors(self, eta, rates):
        """Return the logarithm of the factor that each item adds."""
        heavy, light = self.chances(eta)
        if self.extra == 0:
            return np.zeros((len(heavy), 1, 1))
        losses = -np.expm1(-self.extra * rates)
        # Where the factors are near one, only log1p keeps the sum of many exact.
        n_far = np.count_nonzero(losses * heavy.max() > 0.5)
        logs = np.empty((*heavy.shape[:2], len(losses)))
        far = heavy * self._factors(rates)[:n_far]
        np.log(light + far, out=logs[..., :n_far])
        np.log1p(-heavy * losses[n_far:], out=logs[..., n_far:])
        return logs

    def _factors(self, rates):
        return np.maximum(np.exp(-self.extra * rates), _LEAST_FACTOR)

    def gains(self, sums, n_items):
        """Return what items add to the numerator, from the sum of their chances."""
        gains = sums if self.extra_gain == 1 else self.extra_gain * sums
        return gains + self.gain * n_items if self.gain else gains


def _halves(ratio):
    """Return what the predicted items, tp or fp, and the others, fn or tn, add."""
    below, above = ratio.denominator, ratio.numerator
    return (
        _half((below.tp, above.tp), (below.fp, above.fp)),
        _half((below.fn, above.fn), (below.tn, above.tn)),
    )


def _half(positive, negative):
    positive_is_heavy = positive[0] >= negative[0]
    heavy, light = (positive, negative) if positive_is_heavy else (negative, positive)
    return Half(
        base=light[0],
        extra=heavy[0] - light[0],
        gain=light[1],
        extra_gain=heavy[1] - light[1],
        positive_is_heavy=positive_is_heavy,
    )


def _least_denominator(ratio, k, n_rest, n_negatives):
    """Return the denominator of k predicted items and the rest, all in light cells."""
    top, rest = _halves(ratio)
    return k * top.base + n_rest * rest.base + n_negatives * ratio.denominator.tn


def range_of_denominator(eta, ratio, n_negatives):
    """Return a positive interval for the denominator, over all k and rows.

    It leaves out values for which the numerator is zero and, by Bernstein's
    inequalities, values that are less likely than one in 1e16 on either side.
    """
    top, rest = _halves(ratio)
    k = np.arange(eta.shape[1] + 1)
    base = _least_denominator(ratio, k, eta.shape[1] - k, n_negatives)
    heavy_top = _prefix(top.chances(eta)[0])
    heavy_rest = heavy_top
    if rest.positive_is_heavy != top.positive_is_heavy:
        heavy_rest = _prefix(rest.chances(eta)[0])
    heavy_rest = heavy_rest[:, -1:] - heavy_rest
    mean = base + top.extra * heavy_top + rest.extra * heavy_rest
    square = 2 * (top.extra**2 * heavy_top + rest.extra**2 * heavy_rest)
    nats, largest = -np.log(_CHANCE_OF_TAILS), max(top.extra, rest.extra)
    below = np.sqrt(nats * square)
    above = largest * nats / 3 + np.sqrt((largest * nats / 3) ** 2 + nats * square)
    # Where the numerator is zero throughout, any denominator will do.
    pairs = zip(ratio.numerator, ratio.denominator, strict=True)
    least = min((w for gain, w in pairs if gain), default=max(ratio.denominator))
    low = max(least, (mean - below).min())
    return low, max(low, (mean + above).max())


def _prefix(chances):
    sums = np.zeros((len(chances), chances.shape[1] + 1))
    np.cumsum(chances, axis=1, out=sums[:, 1:])
    return sums


def exponential_sum(low, high, power):
    """Return decreasing rates and weights whose sum of exponentials is ``a**-power``.

    Its relative error is at most `TOL` for a in [low, high]; beyond the ends the sum is
    positive, and at most ``(1 + TOL) * a**-power`` below `low`.
    """
    # The trapezoidal rule in x for a^-s = int e^(s x) exp(-a e^x) dx / Gamma(s). Its
    # relative error does not depend on a: for steps of h it is twice the sum of
    # abs(gamma(s + 2 pi i m / h)) / gamma(s) over m = 1, 2, ... Rates much smaller than
    # 1 / high, where the exponential is nearly a polynomial, are merged.
    step = _find_step(power)
    largest = gammainccinv(power, TOL / 4) / low
    n_large = int(np.ceil(np.log(largest * high / _SMALL_RATE) / step))
    n_large = max(n_large, 0)
    rates = largest * np.exp(-step * np.arange(n_large))
    smaller = largest * np.exp(-step * n_large)
    nodes, masses = _merge_small_rates(power, step)
    rates = np.append(rates, smaller * nodes)
    weights = step * rates**power
    weights[n_large:] = step * smaller**power * masses
    return rates, weights / gamma(power)


@lru_cache(maxsize=64)
def _find_step(power):
    """Return the largest step of the trapezoidal rule that errs by a quarter of TOL."""
    # The terms after the first fall so fast that doubling it bounds them all.
    error = np.exp(loggamma(power + 2j * np.pi / _STEPS).real - loggamma(power).real)
    good = np.flatnonzero(4 * error <= TOL / 4)
    return _STEPS[good[0]] if len(good) else _STEPS[-1]


@lru_cache(maxsize=64)
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
