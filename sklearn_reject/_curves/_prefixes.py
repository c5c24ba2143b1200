"""Samples by increasing score, ties joined, and what the first of them add up to.

All that a rule with one threshold can do is to accept the first groups of tied samples,
and a share of the next one. So whatever it is judged by is read off running sums.

The last bits of a score differ with the size of the batch, the order of threads and the
processor. What a threshold cannot tell apart is a tie here, and nowhere else.
"""

import numpy as np

from sklearn_reject._validation import check_samples

# Sums of floats miss exact equalities such as 3 * 0.1 == 0.3 by a few ulp.
RELATIVE_TOLERANCE = 1e-12

# Scores as close as this, relatively, are tied.
TIE_TOLERANCE = 2.0**-40

# Batches of so many groups keep temporary arrays small and in the cache.
BATCH_SIZE = 2**13


class Prefixes:
    """Groups of tied samples and running sums of their columns.

    `scores`, of shape (n_groups,), increase; `columns` are sums over each group by
    name, of the same shape. "weight" is one of them, others are "loss" or "ood".

    >>> from sklearn_reject._curves._prefixes import join_ties
    >>> prefixes = join_ties([0.1, 0.4, 0.4, 0.8], [0, 0, 1, 1])
    >>> prefixes.columns["weight"], prefixes.sums("loss")
    (array([1., 2., 1.]), array([0., 0., 1., 2.]))
    >>> prefixes.at("weight", 1, share=0.5)
    2.0
    """

    def __init__(self, scores, **columns):
        self.scores, self.columns = scores, columns
        self._sums = {}

    def __len__(self):
        return len(self.scores)

    @classmethod
    def of(cls, scores, weight=None, *, near=False, **columns):
        """Sort and join validated samples; columns are for each unit of weight.

        Samples of zero weight count as absent; None is a weight of one each. With
        `near`, scores tie that differ by rounding, as they do to a rule.
        """
        order = argsort_present(scores, weight)
        # Arrays are freed as soon as they can be: here a sample takes most memory.
        scores = scores[order]
        columns = {name: _gather(values, order) for name, values in columns.items()}
        if weight is not None:
            weight = weight[order]
            for values in columns.values():
                values *= weight
        del order
        return cls.of_sorted(snap_sorted(scores) if near else scores, weight, **columns)

    @classmethod
    def of_sorted(cls, scores, weight=None, **columns):
        """Join samples in the order of their scores, each column a sum already."""
        is_start = starts_of_ties(scores)
        if is_start.all():
            weight = np.broadcast_to(1.0, len(scores)) if weight is None else weight
            return cls(scores, weight=weight, **columns)
        starts = np.flatnonzero(is_start)
        if weight is None:
            weight = np.diff(starts, append=len(scores)).astype(np.float64)
        else:
            weight = np.add.reduceat(weight, starts)
        columns = {
            name: np.add.reduceat(values, starts) for name, values in columns.items()
        }
        return cls(scores[starts], weight=weight, **columns)

    def sums(self, name):
        """Return the sums over the first 0, 1, ... groups, shape (n_groups + 1,)."""
        if name not in self._sums:
            values = self.columns[name]
            if any(values.strides) or not len(values):
                self._sums[name] = prefix_sums(values)
            else:  # a weight of one each
                self._sums[name] = values[0] * np.arange(len(self) + 1.0)
        return self._sums[name]

    def at(self, name, n_groups, share=0.0):
        """Return the sum over the first groups and a share of the next one."""
        value = self.sums(name)[n_groups]
        return float(value + share * self.columns[name][n_groups] if share else value)

    def total(self, name):
        """Return the sum over all groups."""
        return float(self.sums(name)[-1])

    def batches(self):
        """Return slices of consecutive groups."""
        # Those of scikit-learn check their arguments, for 18 us where this takes .4.
        stop = len(self)
        starts = range(0, stop, BATCH_SIZE)
        return [slice(start, min(start + BATCH_SIZE, stop)) for start in starts]


def join_ties(scores, losses, sample_weight=None, *, near=False):
    """Validate finite scores and losses >= 0 of shape (n_samples,), and join ties."""
    scores, losses, weight = check_samples(scores, losses, sample_weight)
    return Prefixes.of(scores, weight, near=near, loss=losses)


def argsort_present(scores, weight=None):
    """Return the order, by score, of the samples of positive weight."""
    if weight is None or weight.all():
        return np.argsort(scores)
    present = np.flatnonzero(weight)
    return present[np.argsort(scores[present])]


def _gather(values, order):
    """Return floats in an order; many of 0 and 1, or their differences, quickly."""
    if values.dtype.kind != "b":
        is_unit = len(values) > BATCH_SIZE and (
            np.count_nonzero(values) == np.count_nonzero(np.abs(values) == 1)
        )
        if not is_unit:
            return values[order]
    # As small integers, they stay in the cache.
    return values.astype(np.int8)[order].astype(np.float64)


def running_sum(values, block=512, out=None):
    """Return the cumulative sum, accurate to about 1e-14 however long it is.

    Adding one by one would drift beyond the tolerance from some 1e5 terms on.
    """
    if len(values) <= block:
        return np.cumsum(values, out=out)
    sums = np.empty(len(values)) if out is None else out
    n_whole = len(values) // block
    end = n_whole * block
    blocks = sums[:end].reshape(n_whole, block)
    np.cumsum(values[:end].reshape(n_whole, block), axis=1, out=blocks)
    np.cumsum(values[end:], out=sums[end:])
    before = running_sum(blocks[:, -1].copy())
    blocks[1:] += before[:-1, np.newaxis]
    sums[end:] += before[-1]
    return sums


def prefix_sums(values):
    """Return the sums of the first 0, 1, ... values."""
    sums = np.zeros(len(values) + 1)
    running_sum(values, out=sums[1:])
    return sums


def starts_of_ties(sorted_scores):
    """Tell for each sorted score whether it is the first of its value."""
    is_start = np.ones(len(sorted_scores), dtype=bool)
    np.not_equal(sorted_scores[1:], sorted_scores[:-1], out=is_start[1:])
    return is_start


def tie_range(scores, sizes=None):
    """Return the lowest and the highest threshold that each score is at.

    `sizes` are the magnitudes that the scores were rounded at, those of the terms of a
    sum; None where these are the scores themselves.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        margin = np.abs(scores if sizes is None else sizes) * TIE_TOLERANCE
        return scores - margin, scores + margin


def first_thresholds(scores, sizes):
    """Return, of sorted scores, the lowest that accepts each one as a threshold."""
    low, _ = tie_range(scores, sizes)
    low = np.where(np.isfinite(scores), low, scores)
    return scores[np.searchsorted(scores, low)]


def snap(scores, sizes=None):
    """Return scores, in the order they come in, as `snap_sorted` does; may be inf."""
    rows = np.flatnonzero(np.isfinite(scores))
    order = rows[np.argsort(scores[rows])]
    snapped = scores.copy()
    snapped[order] = snap_sorted(scores[order], None if sizes is None else sizes[order])
    return snapped


def snap_sorted(scores, sizes=None):
    """Return sorted scores with one value for all that a threshold cannot tell apart.

    A group is what is at its value, see `tie_range`, so that it cannot grow by
    chaining: it spans at most twice the tolerance.
    """
    near = _find_near(scores, sizes)
    if not near.size:
        return scores
    # Each of the few distinct scores that have another one near, with its ties.
    values = np.unique(scores[[near, near + 1]])
    starts = np.searchsorted(scores, values)
    stops = np.searchsorted(scores, values, side="right")
    if sizes is None:
        low, high = tie_range(values)
    else:
        # The thresholds that all ties of a value are at.
        spans = np.stack([starts, stops], axis=1).ravel()
        spans = spans[: spans.size - (spans[-1] == len(scores))]
        low, high = tie_range(scores, sizes)
        low = np.maximum.reduceat(low, spans)[::2]
        high = np.minimum.reduceat(high, spans)[::2]
    snapped = scores.copy()
    joined = _join_near(values.tolist(), low.tolist(), high.tolist())
    for start, stop, value in zip(starts.tolist(), stops.tolist(), joined, strict=True):
        snapped[start:stop] = value
    return snapped


def _find_near(scores, sizes):
    """Return where a sorted score may tie with the next one without being equal."""
    margin = np.abs(scores[:-1]) if sizes is None else np.maximum(sizes[:-1], sizes[1:])
    margin *= 4 * TIE_TOLERANCE  # twice as far as two ranges can reach
    with np.errstate(over="ignore", invalid="ignore"):
        gaps = scores[1:] - scores[:-1]
    near = np.flatnonzero((gaps > 0) & (gaps <= margin))
    return near[gaps[near] < np.inf]


def _join_near(values, low, high):
    """Return common values for distinct ones and their ranges, all of them lists."""
    joined, reached = [], -np.inf
    while len(joined) < len(values):
        first = len(joined)
        last, lowest, highest = first + 1, low[first], high[first]
        while last < len(values):
            inside = max(lowest, low[last]), min(highest, high[last])
            if inside[0] > inside[1]:
                break
            (lowest, highest), last = inside, last + 1
        # A score itself where only the group is at it, else the highest possible.
        is_apart = reached < values[first] and lowest <= values[first]
        joined += [values[first] if is_apart else highest] * (last - first)
        reached = max(high[first:last])
    return joined


def make_finite(scores):
    """Return the scores or, where some are infinite, their ranks, ties alike."""
    if not np.isinf(scores).any():
        return scores
    return np.unique(scores, return_inverse=True)[1].astype(np.float64)
