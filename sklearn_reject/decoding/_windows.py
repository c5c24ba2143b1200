"""Expected losses of any set loss, by sums over the likely counts."""

from dataclasses import dataclass
from math import acosh, ceil, exp, isqrt, log

import numpy as np
from numpy.polynomial.chebyshev import chebvander

from sklearn_reject.decoding._ratios import TOL, expansion_curves
from sklearn_reject.losses import Absence, Cells, Expansion, GMeanLoss, HMeanLoss, Ratio

# Confusion matrices whose losses are evaluated at once, few enough for the cache.
_TILE = 2**15

# Losses that may be interpolated in the counts, see `interpolate_counts`.
_SMOOTH = (GMeanLoss, HMeanLoss)

# Items between two searches for negligible probabilities.
_FLUSH_EVERY = 8

# Fewer items than that are no block of their own.
_SMALLEST_BLOCK = 64


def window_curve(eta, loss, n_negatives=0):
    """Return the expected loss of the k most probable items of one row, for every k.

    The double sum of algorithm 1 over the counts that have all but `TOL` of the
    probability. The error is at most `TOL` times the range of the loss, beside
    rounding.
    """
    # The windows leave out outcomes of a probability q of at most TOL / 2, and the laws
    # within them are normalized, so that their sum is the expected loss E_in of the
    # others. The expected loss (1 - q) E_in + q E_out differs from it by at most q
    # times the range. Interpolation has the other half of the tolerance.
    laws = CountLaws(eta, TOL / 2)
    blocks = (laws.block(index) for index in range(laws.n_blocks))
    n_items = len(eta) + n_negatives
    losses = [expected_losses(block, loss, n_items, TOL / 2) for block in blocks]
    return np.concatenate(losses)


def expected_losses(block, loss, n_items, tol):
    """Return the expected losses of the sizes of a block, given counts in its windows.

    Interpolation, of the losses that allow it, errs by at most `tol`.
    """
    tp, of_tp = block.tp, block.of_tp
    fn, of_fn = block.fn, block.of_fn
    if type(loss) in _SMOOTH:
        # An error in fn is passed on by interpolation at r nodes in tp, times at most
        # 1 + 2 log(r) / pi, less than 7 below r = 10,000.
        tp, of_tp = interpolate_counts(tp, of_tp, block.sizes[0], tol / 8)
        n_others = n_items - block.sizes[-1]
        fn, of_fn = interpolate_counts(fn, of_fn, n_others, tol / 8)
    expected = np.zeros(len(block.sizes))
    for sizes, rows in _tiles(len(expected), len(tp), len(fn)):
        k = block.sizes[sizes, np.newaxis, np.newaxis]
        # Counts beyond the size have probability zero; any that exists stands for them.
        tp_of_k = np.minimum(tp[rows, np.newaxis], k)
        fn_of_k = np.minimum(fn, n_items - k)
        losses = loss(tp_of_k, k - tp_of_k, fn_of_k, n_items - k - fn_of_k)
        given_fn = np.matmul(of_tp[sizes, np.newaxis, rows], losses)[:, 0]
        expected[sizes] += np.einsum("kb,kb->k", given_fn, of_fn[sizes])
    return expected


def _tiles(n_sizes, n_tp, n_fn):
    """Yield slices of the sizes and of the true positives that fill a tile."""
    n_rows = max(1, min(n_tp, _TILE // n_fn))
    n_tables = max(1, _TILE // (n_rows * n_fn))
    for size in range(0, n_sizes, n_tables):
        for row in range(0, n_tp, n_rows):
            yield slice(size, size + n_tables), slice(row, row + n_rows)


@dataclass(frozen=True, eq=False)
class CountBlock:
    """Laws of the true positives and of the false negatives, for a run of set sizes.

    Counts and sizes are successive; rows of `of_tp` (n_sizes, n_tp) and `of_fn`
    (n_sizes, n_fn) sum to one.
    """

    sizes: np.ndarray
    tp: np.ndarray
    of_tp: np.ndarray
    fn: np.ndarray
    of_fn: np.ndarray

    def take(self, rows):
        """Return the block with some of its sizes only."""
        return CountBlock(
            self.sizes[rows], self.tp, self.of_tp[rows], self.fn, self.of_fn[rows]
        )


class CountLaws:
    """Laws of the true positives and of the false negatives of all top-k sets.

    The windows of a size leave out outcomes of a probability of at most `dropped`.
    """

    # Laws are kept at O(sqrt(n)) sizes only, O(n) numbers, and those between are worked
    # out from their neighbors, by adding one item after the other: sums and products
    # of positive numbers, in which rounding errors do not grow.
    #
    # There are B blocks of items. dropped / (4 B) at most is trimmed from the law of
    # each block, and again from that of the items up to each border between blocks. A
    # law at a border has then lost no more than dropped / 2, since adding items moves
    # mass and makes none. Within a block the window reaches from the lowest count of
    # the border before it to the highest of both borders. What leaves it is above the
    # highest count at the border after it, too, and was counted there. Those of true
    # positives and of false negatives together lack no more than `dropped`.

    def __init__(self, eta, dropped):
        self.eta = eta
        n_items = len(eta)
        size = max(_SMALLEST_BLOCK, isqrt(n_items))
        self.edges = np.append(np.arange(0, n_items, size), n_items)
        mass = dropped / (4 * self.n_blocks)
        # Items that are surely negative fill the last block up.
        padded = np.zeros((self.n_blocks, size))
        padded.ravel()[:n_items] = eta
        *_, of_blocks = laws_of_counts(padded.T)
        blocks = [_Law(0, law).trim(mass) for law in of_blocks.T]
        self._of_first = _running_laws(blocks, mass)
        self._of_others = _running_laws(blocks[::-1], mass)[::-1]

    @property
    def n_blocks(self):
        """Number of runs of sizes that :meth:`block` takes."""
        return len(self.edges) - 1

    def block(self, index):
        """Return the laws for the sizes of a block, the last one with the full set."""
        start, stop = self.edges[index], self.edges[index + 1]
        eta = self.eta[start:stop]
        tp, of_tp = _add_items(*self._of_first[index : index + 2], eta)
        after, before = self._of_others[index + 1], self._of_others[index]
        fn, of_fn = _add_items(after, before, eta[::-1])
        sizes = np.arange(start, stop + 1)
        block = CountBlock(sizes, tp, of_tp, fn, of_fn[::-1])
        is_last = index == self.n_blocks - 1
        return block if is_last else block.take(slice(-1))


@dataclass(frozen=True, eq=False)
class _Law:
    """Probabilities of the counts from `low` on."""

    low: int
    probabilities: np.ndarray

    @property
    def high(self):
        return self.low + len(self.probabilities) - 1

    def trim(self, mass):
        """Cut off as many counts at both ends as have at most half this mass."""
        values = self.probabilities
        n_low = np.searchsorted(np.cumsum(values), mass / 2, side="right")
        n_high = np.searchsorted(np.cumsum(values[::-1]), mass / 2, side="right")
        return _Law(self.low + int(n_low), values[n_low : len(values) - n_high])


def laws_of_counts(eta, negligible=0.0):
    """Yield the laws of the positives among the first 0, 1, ... items of each set.

    `eta` has the shape (n_items, n_sets), laws (n_counts, n_sets). They hold until the
    next one is made. What is below `negligible` may become zero.
    """
    n_items, n_sets = eta.shape
    laws = np.zeros((n_items + 1, n_sets))
    laws[0] = 1.0
    yield laws[:1]
    for number, p in enumerate(eta, 1):
        gain = laws[:number] * p
        laws[:number] *= 1 - p
        laws[1 : number + 1] += gain
        law = laws[: number + 1]
        if negligible and number % _FLUSH_EVERY == 0:
            law[law < negligible] = 0.0
        yield law


def _running_laws(blocks, mass):
    """Return the trimmed laws of no block, the first one, the first two, and so on."""
    laws = [_Law(0, np.ones(1))]
    for block in blocks:
        of_sum = np.convolve(laws[-1].probabilities, block.probabilities)
        laws.append(_Law(laws[-1].low + block.low, of_sum).trim(mass))
    return laws


def _add_items(law, last, eta):
    """Return the counts, and their laws after 0, 1, ... more items.

    The counts are those from the lowest of `law` to the highest of `law` and `last`,
    which is that of all items.
    """
    # Cut again, the last one may end lower than the first.
    laws = np.zeros((len(eta) + 1, max(law.high, last.high) - law.low + 1))
    laws[0, : len(law.probabilities)] = law.probabilities
    for row, p in enumerate(eta.tolist()):
        np.multiply(laws[row], 1 - p, out=laws[row + 1])
        laws[row + 1, 1:] += p * laws[row, :-1]
    laws /= laws.sum(axis=1, keepdims=True)
    return law.low + np.arange(laws.shape[1]), laws


def interpolate_counts(counts, laws, largest, tol):
    """Move the laws of successive counts to fewer Chebyshev nodes, as weights.

    The sum of a function over a law changes by at most `tol` if the function is
    analytic and at most one in modulus where the count has a real part in [0,
    `largest`].
    """
    # Let the strip be z half-widths of the window wide to both sides of its middle, and
    # rho = z + sqrt(z^2 - 1). The ellipse with the window's ends as foci that touches
    # the strip has the parameter rho, and on it the function is at most one. The
    # interpolant at r Chebyshev nodes is then wrong by at most 4 rho^(1 - r) / (rho -
    # 1) (Trefethen, Approximation Theory and Approximation Practice, theorem 8.2).
    #
    # G-mean and H-mean are such functions of tp, at any fn, and of fn, at any tp. In
    # the strip 0 <= Re tp <= k the real parts of 1 / TPR = 1 + fn / tp and of 1 / TNR =
    # 1 + (k - tp) / tn are at least one. So TPR, TNR and the harmonic mean 2 / (1 / TPR
    # + 1 / TNR) are at most one in modulus; so is the geometric mean, and as TPR and
    # TNR have positive real parts it has no branch point. The same holds for fn in 0 <=
    # Re fn <= n - k.
    low, high = counts[0], counts[-1]
    room = min(low, largest - high)
    if room <= 0 or high == low:
        return counts, laws
    log_rho = acosh(1 + 2 * room / (high - low))
    n_nodes = ceil(1 + log(4 / (tol * (exp(log_rho) - 1))) / log_rho)
    if n_nodes >= len(counts):
        return counts, laws
    middle, half = (low + high) / 2, (high - low) / 2
    nodes = np.cos(np.pi * (np.arange(n_nodes) + 0.5) / n_nodes)
    coefficients = chebvander(nodes, n_nodes - 1) * (2 / n_nodes)
    coefficients[:, 0] /= 2
    moments = laws @ chebvander((counts - middle) / half, n_nodes - 1)
    return middle + half * nodes, moments @ coefficients.T


# Means of rates: sizes that a bound rules out are not worked out

# TPR and TNR: the counts of the numerator, and of the denominator.
_RATES = (
    (Cells(tp=1.0), Cells(tp=1.0, fn=1.0)),
    (Cells(tn=1.0), Cells(fp=1.0, tn=1.0)),
)

# What the windows, and interpolation, may err by.
_TOL_OF_WINDOWS = TOL / 8

# No score is below zero.
LARGEST_LOSS = 1.0


def expected_rates(eta, zero_division, n_negatives=0):
    """Return the expected TPR and TNR of the top k items for all k, in [0, 1].

    The rate of a class that is absent is `zero_division`.
    """
    rates = []
    for true, of_class in _RATES:
        absence = Absence(of_class, zero_division)
        rate = Expansion(0.0, (Ratio(1.0, true, of_class),), (absence,))
        curves = expansion_curves(eta[None], rate, n_negatives=n_negatives)
        rates.append(np.clip(curves[0], 0.0, 1.0))
    return rates


def certified_optimum(eta, loss, upper_bounds, allowed, n_negatives=0):
    """Return the set size of the least expected loss, and that loss to ``TOL / 4``.

    `eta` is one sorted row; `upper_bounds` bound one minus the expected loss of each
    size, and may be too low by `TOL`. No size that is `allowed`, as a mask of shape
    (n_items + 1,) says, is better by over 1.5 `TOL`.
    """
    # Where most items are likely, the mirrored problem is solved, in which the other
    # class is the positive one: the laws of few counts are short.
    is_mirrored = not n_negatives and eta.mean() > 0.5
    if is_mirrored:
        eta, upper_bounds = 1 - eta[::-1], upper_bounds[::-1]
        allowed = allowed[::-1]
    # Blocks of sizes are evaluated, the most promising first, as long as a bound leaves
    # hope for a loss below, or as good as, the least one found. G-mean and H-mean are
    # concave in TPR and TNR, so that by Jensen's inequality the mean of the expected
    # rates is a bound.
    n_items = len(eta) + n_negatives
    laws = CountLaws(eta, _TOL_OF_WINDOWS)
    lowest = np.full(len(eta) + 1, np.inf)
    lowest[allowed] = LARGEST_LOSS - upper_bounds[allowed] - 2 * TOL
    lowest_of_blocks = np.minimum.reduceat(lowest, laws.edges[:-1])
    losses, best = np.full(len(eta) + 1, np.inf), LARGEST_LOSS
    for index in np.argsort(lowest_of_blocks, kind="stable"):
        if lowest_of_blocks[index] > best:
            break
        block = laws.block(index)
        block = block.take(lowest[block.sizes] <= best)
        losses[block.sizes] = expected_losses(block, loss, n_items, _TOL_OF_WINDOWS)
        best = losses.min()
    # Of sizes that are equally good the smallest, in the mirror the largest.
    good = np.flatnonzero(losses <= best + TOL)
    size = int(good[-1] if is_mirrored else good[0])
    return len(eta) - size if is_mirrored else size, float(losses[size])
