"""The best threshold on probabilities for a set loss."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import gen_batches

from sklearn_reject._typing import MatrixLike, SetLossLike
from sklearn_reject._validation import check_sample_weight, of_arrays
from sklearn_reject.decoding._items import (
    bounds_of_sets,
    check_average,
    check_bounds,
    check_indicators,
    check_probabilities,
    falls,
    number_sets,
    sets_as_rows,
)
from sklearn_reject.losses import check_set_loss

# What rounding may add to a loss, relative to the numbers that it is made of.
_ROUNDING = 2.0**-52

# Sums of integers stay below it.
_BITS_OF_SUM = 62

# Losses that reach further above the least sum are cut off.
_WIDEST_RANGE = 2.0**16

# Cuts whose losses are evaluated at once, few enough to stay in the cache.
_BLOCK = 2**14

# The same for counts that are sums of weights.
_ROUNDING_OF_WEIGHTS = 1e-12

# Whole weights with a smaller sum are counts.
_LARGEST_COUNT = 2.0**53


@dataclass(frozen=True, eq=False)
class TunedThreshold:
    """A threshold on probabilities, and how good it is.

    Two are equal if their thresholds and their losses are.

    Attributes
    ----------
    threshold : float or ndarray of shape (n_labels,)
        Items of at least this probability are predicted. Infinite if none is, zero if
        all are. One for each column that is a set.

    loss : float
        Mean loss over the sets that it was tuned on, lower is better.

    thresholds : ndarray of shape (n_cuts,) or list of ndarray
        All thresholds that were compared, decreasing from infinity to zero, one more
        than there are different probabilities. One of them is `threshold`. A list with
        those of each column.

    losses : ndarray of shape (n_cuts,) or list of ndarray
        Mean loss of each of the `thresholds`, where bounds hold. The least is `loss`.
        A list with those of each column.

    Examples
    --------
    >>> from sklearn_reject.decoding import tune_threshold
    >>> tuned = tune_threshold([0, 1, 1], [0.2, 0.4, 0.9], loss="f1")
    >>> tuned
    TunedThreshold(threshold=0.3..., loss=0.0)
    >>> tuned.losses.round(2)
    array([1.  , 0.33, 0.  , 0.2 ])
    """

    threshold: float | np.ndarray
    loss: float
    thresholds: np.ndarray | list = field(repr=False)
    losses: np.ndarray | list = field(repr=False)

    def __eq__(self, other):
        if not isinstance(other, TunedThreshold):
            return NotImplemented
        is_same = np.array_equal(self.threshold, other.threshold)
        return is_same and self.loss == other.loss

    def __hash__(self):
        return hash((tuple(np.atleast_1d(self.threshold).tolist()), self.loss))


@of_arrays
def tune_threshold(
    y: MatrixLike,
    eta: ArrayLike,
    *,
    loss: SetLossLike,
    beta: float = 1.0,
    zero_division: float = 0.0,
    groups: ArrayLike | None = None,
    average: Literal["samples", "macro", "micro"] = "samples",
    min_positive: int = 0,
    max_positive: int | None = None,
    sample_weight: ArrayLike | None = None,
) -> TunedThreshold:
    """Find the threshold on probabilities with the lowest mean loss on data.

    Empirical utility maximization (NKRD16, section 5): items of probability
    ``eta >= threshold`` are predicted, and all thresholds are compared, by one sort,
    that part no probabilities which are equal up to one part in 1e12.
    Take data on which the probabilities were not fitted.

    Of equally good thresholds the one is taken that leaves least to `min_positive` and
    `max_positive`, and of these the highest, which predicts the fewest items. Losses
    are equal if they differ by no more than rounding. The threshold is midway between
    the probabilities that it separates.

    Parameters
    ----------
    y : {array-like, sparse matrix} of shape (n_items,) or (n_samples, n_labels)
        Whether each item is positive, as 0 and 1.

    eta : array-like of the same shape
        Probability of each item to be positive.

    loss : str or callable
        Loss of a set, as :func:`decode` takes it.

    beta : float > 0, default=1.0
        Weight of recall in the loss "f_beta", the only one that takes it.

    zero_division : float in [0, 1], default=0.0
        What a score is where it is 0/0.

    groups : array-like of shape (n_items,), default=None
        The set of each item of a vector.

    average : {"samples", "macro", "micro"}, default="samples"
        Which items of a matrix are a set: with "samples" those of each row, with
        "macro" those of each column, with "micro" all of them. The items of a vector
        are one set, or those of its groups. With "macro" each column has a threshold of
        its own, the best for it.

    min_positive : int >= 0, default=0
        Least number of items to predict. A set where fewer reach the threshold is
        filled up with the most probable others, of equally probable ones with the
        first; a set that has fewer is predicted as a whole.

    max_positive : int >= 0, default=None
        Largest number of items to predict. A set where more reach the threshold keeps
        the most probable, of equally probable ones the first. None for no bound.

    sample_weight : array-like, default=None
        Of a vector without `groups`, and with "macro" and "micro", the weight of each
        item or row, shape (n_items,) or (n_samples,): it counts as so many, so that
        tables of probability, label and number, as those of partitions, stand for all
        items. Bounds exclude it, and a callable gets sums of weights as counts. Where
        groups or rows are the sets, the weight of each set in the mean, shape
        (n_sets,), groups in sorted order. What weighs zero is left out.

    Returns
    -------
    tuned : TunedThreshold
        The threshold, or those of the columns, and the mean loss over the sets; also
        all thresholds that were compared, and their losses.

    Raises
    ------
    ValueError
        If `y` holds anything but 0 and 1, a probability is NaN or not in [0, 1], the
        shapes differ, `groups` has another length or comes with a matrix, a vector
        comes with an `average`, there is no item, a bound is invalid, or
        `sample_weight` has another shape, is negative, all zero, or weighs items that
        bounds count.

    Warns
    -----
    RejectionWarning
        If a set has fewer items than `min_positive`.

    See Also
    --------
    sklearn_reject.decoding.decode : The set of the least expected loss, without labels.

    Examples
    --------
    >>> from sklearn_reject.decoding import tune_threshold
    >>> y, eta = [1, 0, 1, 0, 0, 0], [0.9, 0.6, 0.5, 0.3, 0.2, 0.1]
    >>> tuned = tune_threshold(y, eta, loss="f1")
    >>> round(tuned.threshold, 3), round(tuned.loss, 3)
    (0.4, 0.2)

    The first three and the last three items, each a set of its own:

    >>> groups = [0, 0, 0, 1, 1, 1]
    >>> tuned = tune_threshold(y, eta, loss="f1", zero_division=1.0, groups=groups)
    >>> round(tuned.threshold, 3), round(tuned.loss, 3)
    (0.4, 0.1)

    The whole curve: nothing is predicted, the first item, the first two, ...

    >>> tuned.thresholds.round(2)
    array([ inf, 0.75, 0.55, 0.4 , 0.25, 0.15, 0.  ])
    >>> tuned.losses.round(2)
    array([0.5 , 0.17, 0.25, 0.1 , 0.6 , 0.6 , 0.6 ])

    A threshold for each column:

    >>> tuned = tune_threshold(
    ...     [[1, 0], [0, 1], [0, 0]], [[0.9, 0.2], [0.5, 0.1], [0.4, 0.3]], loss="f1",
    ...     average="macro"
    ... )
    >>> tuned.threshold
    array([0.7, 0. ])

    Of 60 items, how many have each probability and label:

    >>> tuned = tune_threshold(
    ...     [0, 1, 0, 1], [0.2, 0.2, 0.7, 0.7], loss="f1", sample_weight=[30, 5, 5, 20]
    ... )
    >>> round(tuned.threshold, 2), round(tuned.loss, 2)
    (0.45, 0.2)
    """
    loss = check_set_loss(loss, beta=beta, zero_division=zero_division)
    eta = check_probabilities(eta)
    y = check_indicators(y, eta.shape)
    check_average(average, eta.shape)
    weight, is_one_set = None, eta.ndim == 1 or average != "samples"
    items_weigh = sample_weight is not None and groups is None and is_one_set
    if items_weigh:
        _refuse_bounds(min_positive, max_positive)
        what = "item" if eta.ndim == 1 else "row"
        weight = _check_weight(sample_weight, len(eta), what)
        rows = np.flatnonzero(weight)
        y, eta, weight = y[rows], eta[rows], weight[rows]
    bounds = check_bounds(min_positive, max_positive)
    if average == "macro":
        options = loss, bounds_of_sets(bounds, len(y)), weight
        pairs = zip(y.T, np.ascontiguousarray(eta.T), strict=True)
        return _join_columns([_cut_one_set(*pair, *options).tuned() for pair in pairs])
    if items_weigh:
        weight = np.repeat(weight, eta.size // len(eta))
    y, eta = sets_as_rows(y, average), sets_as_rows(eta, average)
    sets, sizes = number_sets(eta.shape, groups)
    y, eta = y.ravel(), eta.ravel()
    if items_weigh or (sample_weight is None and len(sizes) == 1):
        bounds = bounds_of_sets(bounds, len(eta))
        return _cut_one_set(y, eta, loss, bounds, weight).tuned()
    if sample_weight is not None:
        weight = _check_weight(sample_weight, len(sizes), "set")
        is_used = weight > 0
        items = np.flatnonzero(is_used[sets])
        sets = (np.cumsum(is_used) - 1)[sets[items]]
        y, eta, sizes, weight = y[items], eta[items], sizes[is_used], weight[is_used]
    return _cut_sets(y, eta, sets, loss, bounds_of_sets(bounds, sizes), weight).tuned()


def _join_columns(columns):
    """Return the thresholds of columns that are sets, tuned one by one."""
    return TunedThreshold(
        np.array([column.threshold for column in columns]),
        float(np.mean([column.loss for column in columns])),
        [column.thresholds for column in columns],
        [column.losses for column in columns],
    )


def _check_weight(sample_weight, length, what):
    """Return one weight an item, a row or a set."""
    shape = np.shape(sample_weight)
    if shape not in ((), (length,)):
        hint = " Items of a set have no weights." * (what == "set")
        raise ValueError(
            f"sample_weight must hold one weight for each {what}, shape ({length},), "
            f"got shape {shape}.{hint}"
        )
    return check_sample_weight(sample_weight, length)


def _refuse_bounds(min_positive, max_positive):
    """Raise where bounds count items that weigh more or less than one."""
    names = ["min_positive"] * (min_positive != 0)
    names += ["max_positive"] * (max_positive is not None)
    if names:
        raise ValueError(
            f"sample_weight counts an item as any number of items, but "
            f"{' and '.join(names)} count each item as one. Repeat the items, for "
            "example with np.repeat."
        )


def _cut_one_set(y, eta, loss, bounds, weight=None):
    """Return the cuts of one set, their losses in units of the loss.

    Weighted items count as their weight, and have no bounds.
    """
    moved, rounding = 0, _ROUNDING
    if weight is None:
        positive, sorted_eta = _sort_together(y, eta)
    else:
        order = np.argsort(-eta, kind="stable")
        positive, sorted_eta, weight = y[order], eta[order], weight[order]
    k = np.append(0, _ends_of_ties(sorted_eta))
    highest, values = sorted_eta[k[:-1]], sorted_eta[k[1:] - 1]
    if weight is None:
        tp = np.append(0, np.cumsum(positive))[k]
        n_positive, n_negative = tp[-1], len(y) - tp[-1]
        if bounds[0] > 0 or bounds[1] < len(y):
            for bound, out in zip(bounds, (k < bounds[0], k > bounds[1]), strict=True):
                tp[out] = _count_in_top(bound, y, eta, sorted_eta)
            moved = np.abs(k - np.clip(k, *bounds))
            k = np.clip(k, *bounds)
        fp = k - tp
    else:
        # Each class has its own sum: nothing is left where all of it is counted.
        of_classes = (np.where(rows, weight, 0.0) for rows in (positive, ~positive))
        tp, fp = (np.append(0.0, np.cumsum(each))[k] for each in of_classes)
        n_positive, n_negative = tp[-1], fp[-1]
        are_counts = (weight == np.rint(weight)).all()
        if not are_counts or weight.sum() >= _LARGEST_COUNT:
            rounding = _ROUNDING_OF_WEIGHTS
    losses = _evaluate(loss, tp, fp, n_positive, n_negative)
    # Losses of up to one are made of numbers of about one, such as 1 - F.
    slack = rounding * max(abs(losses.min()), min(1.0, np.abs(losses).max()))
    return _Cuts(values, highest, losses, slack, moved, losses, losses.__getitem__)


def _cut_sets(y, eta, sets, loss, bounds, weight=None):
    """Return the cuts of several sets, of which none is without items.

    Losses are sums over the sets, less a constant, in tiny units. Weights of the sets
    are positive.
    """
    table = _PrefixTable(y, eta, sets, bounds)
    tp, n_positive = table.tp, table.n_positive[table.set_of]
    n_negative = table.sizes[table.set_of] - n_positive
    losses = _evaluate(loss, tp, table.k - tp, n_positive, n_negative)
    if weight is None:
        total, weighted = len(table.first), losses
        (sums, slack), moved = _sum_exactly(table, losses), table.moved
        moved = table.sum_over_sets(moved)
    else:
        # Of about one, by a power of two, which rounds nothing.
        share = np.ldexp(weight, -int(np.frexp(weight.max())[1]))
        total, weighted = share.sum(), losses * share[table.set_of]
        sums, slack = _sum_exactly(table, weighted)
        slack *= 2  # a product is rounded, too
        moved = _sum_at_cuts(table, table.moved * share[table.set_of])

    def mean_loss(cut):
        return np.average(losses[table.entries_at(cut)], weights=weight)

    means = _sum_at_cuts(table, weighted) / total
    return _Cuts(*table.values, sums, slack, moved, means, mean_loss)


class _Cuts(NamedTuple):
    """The loss of each cut, which predicts the items of the first so many values.

    `values` are the distinct probabilities, decreasing, `highest` those that are equal
    to them but for rounding; losses are equal within `slack`; `moved` is how many items
    the bounds add or take; `means`, up to rounding, and `mean_loss(cut)` are in units
    of the loss.
    """

    values: np.ndarray
    highest: np.ndarray
    losses: np.ndarray
    slack: float
    moved: np.ndarray
    means: np.ndarray
    mean_loss: Callable

    def tuned(self):
        """Return the best threshold, and all that it was compared with."""
        equal = self.losses <= self.losses.min() + self.slack
        moved = np.broadcast_to(self.moved, self.losses.shape)
        rows = np.flatnonzero(equal)
        best = int(rows[np.argmin(moved[rows])])
        loss = float(self.mean_loss(best))
        # What differs by rounding is shown as equal, and nothing as better.
        losses = np.where(equal, loss, np.maximum(self.means, loss))
        thresholds = self.thresholds()
        return TunedThreshold(float(thresholds[best]), loss, thresholds, losses)

    def thresholds(self):
        """Return the threshold that makes each cut."""
        low, high = self.highest[1:], self.values[:-1]
        middle = low + (high - low) / 2
        # Between neighbouring floats the middle is one of the two.
        inner = np.where(middle > low, middle, high)
        return np.concatenate([[np.inf], inner, [0.0]])


def _evaluate(loss, tp, fp, n_positive, n_negative):
    """Return the losses of predicted items, block by block."""
    losses = np.empty(len(tp))
    columns = np.broadcast_arrays(tp, fp, n_positive, n_negative)
    for part in gen_batches(len(tp), _BLOCK):
        hits, alarms, positive, negative = (column[part] for column in columns)
        losses[part] = loss(hits, alarms, positive - hits, negative - alarms)
    return losses


def _sort_together(y, eta):
    """Return labels and probabilities by decreasing probability."""
    # One sort of integers is several times faster than the sort of indices and two
    # gathers. The bits of floats that are not negative are in the order of the floats,
    # and the first of them, the sign, makes room for the label.
    bits = (eta + 0.0).view(np.uint64)  # there is no minus zero any more
    bits <<= np.uint64(1)
    bits |= y
    bits.sort()
    bits = bits[::-1]
    return bits & np.uint64(1), (bits >> np.uint64(1)).view(np.float64)


def _count_in_top(k, y, eta, sorted_eta):
    """Return how many of the k most probable items are positive, first come first."""
    if k == 0:
        return 0
    above = eta > sorted_eta[k - 1]
    tied = np.flatnonzero(eta == sorted_eta[k - 1])[: k - np.count_nonzero(above)]
    return np.count_nonzero(y & above) + np.count_nonzero(y[tied])


def _ends_of_ties(sorted_eta):
    """Return how many probabilities there are up to the end of each tie group."""
    return np.append(np.flatnonzero(falls(sorted_eta)) + 1, len(sorted_eta))


class _PrefixTable:
    """An entry for each set and each number of its most probable items.

    Entries come set after set, each from no item to all; cut i is the threshold that
    the items of the first i distinct probabilities reach. `values` are these, and the
    highest that is equal to each but for rounding.
    """

    def __init__(self, y, eta, sets, bounds):
        order = np.argsort(-eta, kind="stable")
        self._sets = sets[order]
        self._by_set = np.argsort(self._sets, kind="stable")
        self._ends = np.append(0, _ends_of_ties(eta[order]))
        self.values = eta[order[self._ends[1:] - 1]], eta[order[self._ends[:-1]]]
        self.sizes = np.bincount(sets)
        self.first = np.cumsum(self.sizes + 1) - (self.sizes + 1)
        self.set_of = np.repeat(np.arange(len(self.sizes)), self.sizes + 1)
        k = np.arange(len(self.set_of)) - self.first[self.set_of]
        least, largest = (np.broadcast_to(b, self.sizes.shape) for b in bounds)
        self.k = np.clip(k, least[self.set_of], largest[self.set_of])
        self.moved = np.abs(k - self.k)
        until = np.append(0, np.cumsum(y[order[self._by_set]]))
        start = self.first - np.arange(len(self.first))
        self.n_positive = until[start + self.sizes] - until[start]
        self.tp = until[start[self.set_of] + self.k] - until[start][self.set_of]

    def sum_over_sets(self, values):
        """Return the exact sum over the sets at each cut of integers, one an entry."""
        is_item = np.ones(len(values), dtype=bool)
        is_item[self.first] = False
        changes = np.empty(len(self._by_set), dtype=np.int64)
        changes[self._by_set] = np.diff(values, prepend=0)[is_item]
        return np.cumsum(np.append(values[self.first].sum(), changes))[self._ends]

    def entries_at(self, cut):
        """Return the entry of each set at a cut."""
        reached = self._sets[: self._ends[cut]]
        return self.first + np.bincount(reached, minlength=len(self.first))


def _sum_exactly(table, losses):
    """Return the sums over the sets of the losses at each cut, less a constant.

    They are whole numbers of a tiny unit, and come with what rounding may add to one.
    """
    # In whole numbers the sum after a million changes is as exact as the first. The
    # unit goes by what can occur at the best cut: a loss so large that its cut cannot
    # be the best may be any other such number.
    excess = losses - np.minimum.reduceat(losses, table.first)[table.set_of]
    # Losses of up to one are made of numbers of about one, such as 1 - F.
    rounded = min(1.0, np.abs(losses).max())
    n_sets = len(table.first)
    while True:
        largest = int(np.frexp(excess.max())[1])
        exponent = _BITS_OF_SUM - n_sets.bit_length() - largest
        units = np.rint(np.ldexp(excess, exponent)).astype(np.int64)
        totals = table.sum_over_sets(units)
        least = excess[table.entries_at(totals.argmin())].sum()
        cap = 2 * max(least, rounded)
        if excess.max() <= _WIDEST_RANGE * cap:
            break
        excess = np.minimum(excess, cap)
    error = 1 + _ROUNDING * np.ldexp(max(excess.max(), rounded), exponent)
    return totals, int(min(n_sets * np.ceil(error), 2.0**_BITS_OF_SUM))


def _sum_at_cuts(table, values):
    """Return the sums over the sets at each cut, up to rounding."""
    exponent = 0
    if values.any():
        largest = int(np.frexp(np.abs(values).max())[1])
        exponent = _BITS_OF_SUM - len(table.first).bit_length() - largest
    units = np.rint(np.ldexp(values, exponent)).astype(np.int64)
    return np.ldexp(table.sum_over_sets(units).astype(np.float64), -exponent)
