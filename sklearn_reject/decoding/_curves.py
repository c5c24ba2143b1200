"""The expected loss of the k most probable items, for all k."""

from __future__ import annotations

from itertools import product
from math import isqrt
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.fft import irfft, next_fast_len, rfft

from sklearn_reject._typing import SetLossLike
from sklearn_reject._validation import check_option, of_arrays
from sklearn_reject.decoding._items import check_distribution, check_probabilities
from sklearn_reject.decoding._quadrature import (
    TOL,
    absence_scores,
    chances_of_absence,
    expected_ratio,
    prefix_sums_of_rows,
)
from sklearn_reject.losses import TNR, TPR, GMeanLoss, check_set_loss

DISTRIBUTIONS = ("independent", "multinomial")

# Many sets of up to so many items, or one of up to so many, take less time by all their
# counts at once than by windows.
_LONGEST_OF_MANY, _LONGEST_OF_ONE = 256, 24

_MANY = 4

# Entries of rows that are worked on together, to save memory.
_N_AT_ONCE = 2**20

# Probabilities below it are taken for zero, before products of them underflow, which
# would make all further operations on them slow.
_NEGLIGIBLE = 1e-100

# Items between two searches for negligible probabilities.
_FLUSH_EVERY = 8

# Numbers that the laws of the rows treated at once may hold: 32 MB.
_LARGEST_LAWS = 2**22

# Confusion matrices whose losses are evaluated at once, few enough for the cache.
_TILE = 2**15

# Fewer items than that are no block of their own.
_SMALLEST_BLOCK = 64

# The chance of the counts that windows leave out.
_CHANCE_OUTSIDE = TOL / 8


@of_arrays
def expected_loss_curve(
    eta: ArrayLike,
    *,
    loss: SetLossLike,
    beta: float = 1.0,
    zero_division: float = 0.0,
    distribution: Literal["independent", "multinomial"] = "independent",
) -> np.ndarray:
    r"""Return the expected loss of predicting the k most probable items, for all k.

    It is

    .. math::

        L_k = E[L(s_k, y)], \quad k = 0, \dots, n,

    over outcomes y of n items, item i being positive with probability
    :math:`\eta_i`, for the set :math:`s_k` of the first k items (NKRD16, section 4).

    Parameters
    ----------
    eta : array-like of shape (n_items,) or (n_sets, n_items)
        Probability of each item to be positive, sorted decreasing; a row a set.

    loss : str or callable
        Loss of a set, as :func:`decode` takes it.

    beta : float > 0, default=1.0
        Weight of recall in the loss "f_beta", the only one that takes it.

    zero_division : float in [0, 1], default=0.0
        What a score is where it is 0/0.

    distribution : {"independent", "multinomial"}, default="independent"
        Whether items are positive independently of each other, or exactly one of them
        is, such as one class of many.

    Returns
    -------
    curve : ndarray of shape (n_items + 1,) or (n_sets, n_items + 1)
        Expected loss for k = 0, ..., n_items, lower is better. Beside rounding, it errs
        by at most 1e-12 times the range of the loss, which is one for the losses with a
        name.

    Raises
    ------
    ValueError
        If probabilities are NaN, not in [0, 1] or not sorted, there are no items, or
        an option is invalid.

    Warns
    -----
    RejectionWarning
        If the loss may increase with the number of true positives, so that the best set
        may not be one of these.

    See Also
    --------
    decode : The best set itself.

    References
    ----------
    N. Natarajan, O. Koyejo, P. Ravikumar, I. Dhillon. Optimal Classification with
    Multivariate Losses. ICML, 2016.

    Examples
    --------
    >>> from sklearn_reject.decoding import expected_loss_curve
    >>> expected_loss_curve([0.9, 0.4, 0.1], loss="f1").round(3)
    array([1.   , 0.244, 0.27 , 0.394])
    """
    loss = check_set_loss(loss, beta=beta, zero_division=zero_division)
    check_option(distribution, "distribution", DISTRIBUTIONS)
    eta = check_probabilities(eta)
    if (eta[..., 1:] > eta[..., :-1]).any():
        raise ValueError(
            "eta must be sorted in decreasing order, because k counts the most "
            "probable items. Pass `np.sort(eta)[..., ::-1]`, or call decode, which "
            "takes any order."
        )
    rows = np.atleast_2d(eta)
    if distribution == "multinomial":
        check_distribution(rows)
    step = max(1, _N_AT_ONCE // rows.shape[1])
    chunks = [rows[start : start + step] for start in range(0, len(rows), step)]
    curves = [expected_curves(chunk, loss, distribution) for chunk in chunks]
    return np.concatenate(curves) if eta.ndim == 2 else curves[0][0]


def expected_curves(eta, loss, distribution, n_negatives=0, allowed=None):
    """Return the expected loss of the top k items, shape (n_rows, n_columns + 1).

    Rows of `eta` are sorted decreasing; `n_negatives` further items of each row are
    surely negative. Of sizes that are `allowed`, a mask of that shape, those that
    cannot be the best may be infinite.
    """
    if distribution == "multinomial":
        return multinomial_curves(eta, loss)
    if loss.is_linear:
        hits = prefix_sums_of_rows(eta)
        missed, k = hits[:, -1:] - hits, np.arange(hits.shape[1])
        n_others = eta.shape[1] - k + n_negatives
        return loss(hits, k - hits, missed, n_others - missed)
    if loss.ratios:
        scores = absence_scores(eta, loss, n_negatives)
        for ratio in loss.ratios:
            scores += expected_ratio(eta, ratio, n_negatives)
        return 1 - scores
    if eta.shape[1] <= (_LONGEST_OF_MANY if len(eta) >= _MANY else _LONGEST_OF_ONE):
        return dense_curves(eta, loss, n_negatives)
    rows = zip(eta, [None] * len(eta) if allowed is None else allowed, strict=True)
    return np.array([window_curve(*row, loss, n_negatives) for row in rows])


def multinomial_curves(eta, loss):
    """Return the expected loss of the k most probable classes, for all k.

    The true class is among them or not, so that only two confusion matrices can occur
    (NKRD16, section 4).
    """
    n_classes = eta.shape[1]
    k = np.arange(n_classes + 1)
    hit, miss = np.zeros((2, n_classes + 1))
    hit[1:] = loss(1, k[1:] - 1, 0, n_classes - k[1:])
    miss[:-1] = loss(0, k[:-1], 1, n_classes - 1 - k[:-1])
    missed = prefix_sums_of_rows(eta[:, ::-1])[:, ::-1]
    return prefix_sums_of_rows(eta) * hit + missed * miss


# All counts at once


def dense_curves(eta, loss, n_negatives=0):
    """Return the curves of rows by algorithm 1 of NKRD16, exact for every loss.

    It takes O(n^3) time and O(n^2) memory a row.
    """
    # The double sum over the counts a of true positives and b of false negatives,
    # C_k(a) D_k(b) L(a, k - a, b, n - k - b), is a product of matrices, as all rows
    # share the losses. The paper stops at the first local minimum, which need not be
    # the least.
    n_sets, n_items = eta.shape
    # Where the laws of 0, 1, ... of the last items lie, one after the other.
    starts = np.cumsum(np.arange(n_items + 2))
    step = min(n_sets, max(1, _LARGEST_LAWS // starts[-1]))
    # Used again and again, as fresh memory takes longer than what is written to it.
    memory = np.empty((starts[-1], step))
    # Items along the first axis: steps work on long contiguous rows of sets.
    curves = np.empty((n_items + 1, n_sets))
    for start in range(0, n_sets, step):
        chunk = slice(start, start + step)
        rows = np.ascontiguousarray(eta[chunk].T)
        of_others = memory[:, : rows.shape[1]]
        for number, law in enumerate(laws_of_counts(rows[::-1], _NEGLIGIBLE)):
            of_others[starts[number] : starts[number + 1]] = law
        for k, of_first in enumerate(laws_of_counts(rows, _NEGLIGIBLE)):
            n_others = n_items - k
            tp, fn = np.arange(k + 1), np.arange(n_others + 1)[:, np.newaxis]
            losses = loss(tp, k - tp, fn, n_others - fn + n_negatives)
            of_fn = of_others[starts[n_others] : starts[n_others + 1]]
            np.einsum("bs,bs->s", losses @ of_first, of_fn, out=curves[k, chunk])
    return np.ascontiguousarray(curves.T)


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


# Counts within windows, for long sets


def window_curve(eta, allowed, loss, n_negatives):
    """Return the curve of one row, by sums over the counts that are likely.

    The error is at most `TOL` times the range of the loss, beside rounding. With a mask
    of sizes that are `allowed`, others than the best of them may be infinite.
    """
    laws, losses = CountLaws(eta), np.full(len(eta) + 1, np.inf)
    absent, of_blocks = np.zeros_like(losses), np.full(laws.n_blocks, -np.inf)
    if isinstance(loss, GMeanLoss):
        absent = absence_scores(eta[None], loss, n_negatives)[0]
        if allowed is not None:
            # All sizes would take long, and bounds rule most of them out.
            bounds = bounds_of_g_mean(eta, loss, n_negatives)
            bounds = np.where(allowed, bounds, np.inf)
            of_blocks = np.minimum.reduceat(bounds, laws.edges[:-1])
    # The most promising first, as long as a bound leaves hope for a loss below, or as
    # good as, the least one found.
    for index in np.argsort(of_blocks, kind="stable"):
        if of_blocks[index] > min(losses[allowed].min(), 1.0):
            break
        sizes, *counts = laws.block(index)
        found = _losses_of_block(sizes, *counts, loss, len(eta) + n_negatives)
        losses[sizes] = found - absent[sizes]
    return losses


def _losses_of_block(sizes, tp, of_tp, fn, of_fn, loss, n_items):
    """Return the expected losses of the sizes of a block, given counts in its windows.

    Those of the G-mean are without what an absent class adds.
    """
    k = sizes[:, None]
    if isinstance(loss, GMeanLoss):
        # sqrt(tp tn / (P N)), where P is the sum of two counts: a convolution.
        positives = np.arange(tp[0] + fn[0], tp[-1] + fn[-1] + 1)
        squares = np.maximum(positives * (n_items - positives), 0.0)
        of_sums = np.sqrt(np.divide(1, squares, out=0 * squares, where=squares > 0))
        size = next_fast_len(len(positives), real=True)
        of_tp = rfft(of_tp * np.sqrt(tp), size)
        of_fn = rfft(of_fn * np.sqrt(np.maximum(n_items - k - fn, 0)), size)
        return 1 - irfft(of_tp * of_fn, size)[:, : len(positives)] @ of_sums
    expected = np.zeros(len(k))
    n_rows = max(1, min(len(tp), _TILE // len(fn)))
    n_sizes = max(1, _TILE // (n_rows * len(fn)))
    starts = product(range(0, len(k), n_sizes), range(0, len(tp), n_rows))
    for size, row in starts:
        some, rows = slice(size, size + n_sizes), slice(row, row + n_rows)
        # Counts beyond the size have probability zero; one that exists stands for them.
        n = k[some, None]
        hits, missed = np.minimum(tp[rows, None], n), np.minimum(fn, n_items - n)
        losses = loss(hits, n - hits, missed, n_items - n - missed)
        given_fn = np.matmul(of_tp[some, None, rows], losses)[:, 0]
        expected[some] += np.einsum("kb,kb->k", given_fn, of_fn[some])
    return expected


class CountLaws:
    """Laws of the true positives and of the false negatives of all top-k sets.

    The windows of a size leave out outcomes of a chance of `_CHANCE_OUTSIDE` at most.
    """

    # Laws are kept at O(sqrt(n)) sizes only, O(n) numbers, and those between are worked
    # out from their neighbors, by adding one item after the other: sums and products
    # of positive numbers, in which rounding errors do not grow.
    #
    # There are B blocks of items. A share 1 / (4 B) of the chance at most is trimmed
    # from the law of each block, and again from that of the items up to each border
    # between blocks. A law at a border has then lost no more than half of the chance,
    # since adding items moves mass and makes none. Within a block the window reaches
    # from the lowest count of the border before it to the highest of both borders. What
    # leaves it is above the highest count at the border after it, too, and was counted
    # there. Those of true positives and of false negatives together lack no more than
    # the chance.

    def __init__(self, eta):
        self.eta = eta
        n_items = len(eta)
        size = max(_SMALLEST_BLOCK, isqrt(n_items))
        self.edges = np.append(np.arange(0, n_items, size), n_items)
        self.n_blocks = len(self.edges) - 1
        # Items that are surely negative fill the last block up.
        padded = np.zeros((self.n_blocks, size))
        padded.ravel()[:n_items] = eta
        *_, of_blocks = laws_of_counts(padded.T)
        mass = _CHANCE_OUTSIDE / (4 * self.n_blocks)
        blocks = [_trim(0, law, mass) for law in of_blocks.T]
        self._of_first = _running_laws(blocks, mass)
        self._of_others = _running_laws(blocks[::-1], mass)[::-1]

    def block(self, index):
        """Return sizes, true positives and their laws, false negatives and theirs.

        Those of a block, the last one with the full set. Counts and sizes are
        successive; rows of laws, (n_sizes, n_counts), sum to one.
        """
        start, stop = self.edges[index], self.edges[index + 1]
        eta = self.eta[start:stop]
        tp, of_tp = _add_items(*self._of_first[index : index + 2], eta)
        after, before = self._of_others[index + 1], self._of_others[index]
        fn, of_fn = _add_items(after, before, eta[::-1])
        n_sizes = stop - start + (index == self.n_blocks - 1)
        sizes = start + np.arange(n_sizes)
        return sizes, tp, of_tp[:n_sizes], fn, of_fn[::-1][:n_sizes]


def _trim(low, law, mass):
    """Return the law of the counts from `low` on without the ends, half the mass each.

    It comes as a pair, the lowest count first.
    """
    n_low = int(np.searchsorted(np.cumsum(law), mass / 2, side="right"))
    n_high = np.searchsorted(np.cumsum(law[::-1]), mass / 2, side="right")
    return low + n_low, law[n_low : len(law) - n_high]


def _running_laws(blocks, mass):
    """Return the trimmed laws of no block, the first one, the first two, and so on."""
    laws = [(0, np.ones(1))]
    for low, block in blocks:
        before, law = laws[-1]
        laws.append(_trim(before + low, np.convolve(law, block), mass))
    return laws


def _add_items(first, last, eta):
    """Return the counts, and their laws after 0, 1, ... more items.

    The counts are those from the lowest of the first law to the highest of it and of
    the last, which is that of all items.
    """
    # Trimmed again, the last one may end lower than the first.
    low, law = first
    stop = max(low + len(law), last[0] + len(last[1]))
    laws = np.zeros((len(eta) + 1, stop - low))
    laws[0, : len(law)] = law
    for row, p in enumerate(eta.tolist()):
        np.multiply(laws[row], 1 - p, out=laws[row + 1])
        laws[row + 1, 1:] += p * laws[row, :-1]
    laws /= laws.sum(axis=1, keepdims=True)
    return np.arange(low, stop), laws


def bounds_of_g_mean(eta, loss, n_negatives=0):
    """Return lower bounds of the expected loss of the top k items, for all k.

    The mean is concave in the rates, so that the mean of expected rates is no less than
    its expectation (Jensen).
    """
    absent = chances_of_absence(eta[None], n_negatives)
    both = np.ones(len(eta) + 1)
    for ratio, chance in zip((TPR, TNR), absent, strict=True):
        rate = expected_ratio(eta[None], ratio, n_negatives)[0]
        both *= np.clip(rate + loss.zero_division * chance, 0.0, 1.0)
    return 1 - np.sqrt(both) - 2 * TOL
