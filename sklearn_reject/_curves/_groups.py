"""Samples sorted and grouped by score, with ties and weights."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sklearn_reject._validation import check_samples

# Sums of floats miss exact equalities such as 3 * 0.1 == 0.3 by a few ulp.
RELATIVE_TOLERANCE = 1e-12


@dataclass(frozen=True, eq=False)
class TieGroups:
    """Samples grouped by equal score: arrays of shape (n_groups,), scores increasing.

    A rule that sees only the score cannot tell the members of a group apart, so all
    it can do is accept the first groups and a share of the next one. `weights`, which
    are positive, and `losses`, which are not where they are differences of losses, are
    sums over the samples of a group.

    >>> from sklearn_reject._curves._groups import group_by_score
    >>> groups = group_by_score([0.1, 0.4, 0.4, 0.8], [0, 0, 1, 1])
    >>> groups.weights, groups.losses, groups.prefix(1, share=0.5)
    (array([1., 2., 1.]), array([0., 1., 1.]), (2.0, 0.5))
    """

    scores: np.ndarray
    weights: np.ndarray
    losses: np.ndarray

    def __len__(self):
        return len(self.scores)

    @cached_property
    def cumulative_weights(self):
        """Weight of each group and those below it, ndarray of shape (n_groups,)."""
        if not any(self.weights.strides):  # a one for each, see `group_validated`
            return self.weights[0] * np.arange(1.0, len(self) + 1)
        return running_sum(self.weights)

    @cached_property
    def cumulative_losses(self):
        """Loss of each group and those below it, ndarray of shape (n_groups,)."""
        return running_sum(self.losses)

    @property
    def total_weight(self):
        """Weight of all samples."""
        return self.cumulative_weights[-1]

    def prefix(self, n_groups, share=0.0):
        """Return weight and loss of the first groups and a share of the next."""
        weight = self.cumulative_weights[n_groups - 1] if n_groups else 0.0
        loss = self.cumulative_losses[n_groups - 1] if n_groups else 0.0
        if share:
            weight = weight + share * self.weights[n_groups]
            loss = loss + share * self.losses[n_groups]
        return float(weight), float(loss)

    def count_within_risk(self, risk):
        """Return the length of the longest prefix whose mean loss is at most `risk`.

        Prefix risks are not monotone on data, so shorter prefixes may be over it. Zero
        where there is none.
        """
        risk *= 1 + RELATIVE_TOLERANCE

        def is_within(batch):
            return (
                self.cumulative_losses[batch] <= self.cumulative_weights[batch] * risk
            )

        return count_to_last(len(self), is_within)

    def count_reaching_coverage(self, coverage):
        """Return the length, one or more, of the shortest prefix of that coverage."""
        wanted = coverage * self.total_weight * (1 - RELATIVE_TOLERANCE)
        return int(np.searchsorted(self.cumulative_weights, wanted)) + 1


# Batches of so many groups keep temporary arrays small and in the cache.
BATCH_SIZE = 2**13


def batches(n_groups):
    """Return slices of consecutive groups."""
    # Those of scikit-learn check their arguments, for 18 us where this takes .4.
    starts = range(0, n_groups, BATCH_SIZE)
    return [slice(start, min(start + BATCH_SIZE, n_groups)) for start in starts]


def count_to_last(n_groups, test):
    """Return how many groups there are up to the last that passes, 0 if none does.

    `test` maps a slice of the groups to booleans.
    """
    for batch in reversed(batches(n_groups)):
        passed = np.flatnonzero(test(batch))
        if passed.size:
            return batch.start + int(passed[-1]) + 1
    return 0


def group_by_score(scores, losses, sample_weight=None):
    """Validate and group finite scores and losses >= 0 of shape (n_samples,).

    Samples of zero weight count as absent; None is a weight of one each.
    """
    return group_validated(*check_samples(scores, losses, sample_weight))


def group_validated(scores, losses, weight, *, near=False):
    """Group arrays that have been through `check_samples`; `near`: up to rounding."""
    if weight is None or weight.all():
        order = np.argsort(scores)
    else:
        present = np.flatnonzero(weight)
        order = present[np.argsort(scores[present])]
        del present
    # Arrays are freed as soon as they can be: this is where a sample takes most memory.
    scores, losses = scores[order], _gather(losses, order)
    if weight is not None:
        weight = weight[order]
        losses *= weight
    del order
    scores = snap_sorted(scores) if near else scores
    is_start = starts_of_ties(scores)
    if is_start.all():
        weight = np.broadcast_to(1.0, len(scores)) if weight is None else weight
        return TieGroups(scores, weight, losses)
    scores, n_samples = scores[is_start], len(scores)
    starts = np.flatnonzero(is_start)
    losses = np.add.reduceat(losses, starts)
    if weight is None:
        weight = _sizes(starts, n_samples)
    else:
        weight = np.add.reduceat(weight, starts)
    return TieGroups(scores, weight, losses)


def _sizes(starts, stop):
    """Return the number of samples of each group as floats."""
    sizes = np.empty(len(starts))
    np.subtract(starts[1:], starts[:-1], out=sizes[:-1])
    sizes[-1] = stop - starts[-1]
    return sizes


def _gather(losses, order):
    """Return losses in an order; those of 0 and 1, or their differences, quickly."""
    # As small integers, they stay in the cache.
    is_unit = np.count_nonzero(losses) == np.count_nonzero(np.abs(losses) == 1)
    return (
        losses.astype(np.int8)[order].astype(np.float64) if is_unit else losses[order]
    )


def running_sum(values, block=512):
    """Return the cumulative sum, accurate to about 1e-14 however long it is.

    Adding one by one would drift beyond the tolerance from some 1e5 terms on.
    """
    if len(values) <= block:
        return np.cumsum(values)
    n_whole = len(values) // block
    end = n_whole * block
    sums = np.empty(len(values))
    blocks = sums[:end].reshape(n_whole, block)
    np.cumsum(values[:end].reshape(n_whole, block), axis=1, out=blocks)
    np.cumsum(values[end:], out=sums[end:])
    before = running_sum(blocks[:, -1].copy())
    blocks[1:] += before[:-1, np.newaxis]
    sums[end:] += before[-1]
    return sums


def prefix_sums(values):
    """Return the sums of the first 0, 1, ... values."""
    return np.append(0.0, running_sum(values))


def starts_of_ties(sorted_scores):
    """Tell for each sorted score whether it is the first of its value."""
    is_start = np.ones(len(sorted_scores), dtype=bool)
    np.not_equal(sorted_scores[1:], sorted_scores[:-1], out=is_start[1:])
    return is_start


# The last bits of a score differ with the size of the batch, the order of threads and
# the processor. Scores as close as this, relatively, are one and the same to a rule.
TIE_TOLERANCE = 2.0**-40


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
    low = np.fmin(low, scores)  # NaN where the score is minus infinity
    starts = np.flatnonzero(starts_of_ties(scores))
    # As a rule, no score is near another one.
    if (np.minimum.reduceat(low, starts)[1:] > scores[starts[:-1]]).all():
        return scores
    return scores[np.searchsorted(scores, low)]


def snap_sorted(scores, sizes=None):
    """Return sorted scores with one value for all that a threshold cannot tell apart.

    A group is what is at its value, see `tie_range`, so that it cannot grow by
    chaining: it spans at most twice the tolerance.
    """
    near = _near_next(scores, sizes)
    if not near.any():
        return scores
    scores = scores.copy()
    for part in _cut_runs(near, starts_of_ties(scores)):
        if near[part].any():
            some = sizes if sizes is None else sizes[part]
            scores[part] = _snap_part(scores[part], some, near[part])
    return scores


def _cut_runs(near, is_start):
    """Return slices of about one batch that share no run of what may tie."""
    may_start = is_start.copy()
    may_start[1:] &= ~near[:-1]
    first, n_scores = 0, len(near)
    while first < n_scores:
        stop = first + BATCH_SIZE
        rest = may_start[stop:]
        stop = stop + int(np.argmax(rest)) if rest.any() else n_scores
        yield slice(first, stop)
        first = stop


def _snap_part(scores, sizes, near):
    """Return sorted scores as `snap_sorted` does, told which are near the next one."""
    # As a rule few of many are near another one: these, and those that equal them.
    starts = np.flatnonzero(starts_of_ties(scores))
    near = near | np.append(False, near[:-1])
    near = np.logical_or.reduceat(near, starts)
    rows = np.repeat(near, np.diff(starts, append=len(scores)))
    scores[rows] = _snap_near(scores[rows], sizes if sizes is None else sizes[rows])
    return scores


def _near_next(scores, sizes):
    """Tell which sorted scores may tie with the next one without being equal."""
    near = np.zeros(len(scores), dtype=bool)
    margin = np.abs(scores[:-1]) if sizes is None else np.maximum(sizes[:-1], sizes[1:])
    margin *= 4 * TIE_TOLERANCE  # twice as far as two ranges can reach
    with np.errstate(over="ignore"):
        gaps = np.diff(scores)
    near[:-1] = (gaps <= margin) & (gaps > 0)
    return near


def _snap_near(scores, sizes):
    """Return sorted scores, all of them in runs of what may tie, with common values."""
    # Each distinct score, and the range of thresholds that its ties are all at.
    starts = np.flatnonzero(starts_of_ties(scores))
    low, high = tie_range(scores, sizes)
    low, high = np.maximum.reduceat(low, starts), np.minimum.reduceat(high, starts)
    values = scores[starts]
    # Runs of values near the one that follows, from the first to before the stop.
    near = np.flatnonzero(_near_next(scores, sizes))
    near = np.searchsorted(starts, near, side="right") - 1
    breaks = np.flatnonzero(np.diff(near) > 1)
    firsts, stops = near[np.append(0, breaks + 1)], near[np.append(breaks, -1)] + 2
    for first, stop in zip(firsts.tolist(), stops.tolist(), strict=True):
        run = [array[first:stop].tolist() for array in (values, low, high)]
        values[first:stop] = _snap_run(*run)
    return np.repeat(values, np.diff(starts, append=len(scores)))


def snap(scores, sizes=None):
    """Return scores, in the order they come in, as `snap_sorted` does; may be inf."""
    finite = np.isfinite(scores)
    if finite.all():
        order = np.argsort(scores)
    else:
        rows = np.flatnonzero(finite)
        order = rows[np.argsort(scores[rows])]
    sizes = sizes if sizes is None else sizes[order]
    values = snap_sorted(scores[order], sizes)
    snapped = scores.copy()
    snapped[order] = values
    return snapped


def _snap_run(values, low, high):
    """Return common values for distinct ones near each other, all as lists."""
    snapped, reached = [], -np.inf
    while len(snapped) < len(values):
        first = len(snapped)
        last, lowest, highest = first + 1, low[first], high[first]
        while last < len(values):
            inside = max(lowest, low[last]), min(highest, high[last])
            if inside[0] > inside[1]:
                break
            (lowest, highest), last = inside, last + 1
        # A score itself where only the group is at it, else the highest possible.
        is_apart = reached < values[first] and lowest <= values[first]
        snapped += [values[first] if is_apart else highest] * (last - first)
        reached = max(high[first:last])
    return snapped


def argsort_scores(scores):
    """Return the order of the scores, ties in any, and the sorted scores."""
    order = np.argsort(scores)
    return order, scores[order]


def make_finite(scores):
    """Return the scores or, where some are infinite, their ranks, ties alike."""
    if not np.isinf(scores).any():
        return scores
    return np.unique(scores, return_inverse=True)[1].astype(np.float64)
