"""The best threshold on probabilities for a set loss."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import gen_batches

from sklearn_reject._curves._prefixes import running_sum
from sklearn_reject._typing import MatrixLike, SetLossLike
from sklearn_reject._validation import check_sample_weight, of_arrays
from sklearn_reject.decoding._items import (
    check_average,
    check_indicators,
    check_probabilities,
    falls,
    number_sets,
    sets_as_rows,
)
from sklearn_reject.losses import check_set_loss

# What rounding may add to a loss, relative to the numbers that it is made of, and to a
# mean over sets.
_ROUNDING, _ROUNDING_OF_SUMS = 2.0**-52, 1e-13

# Cuts whose losses are evaluated at once, few enough to stay in the cache.
_BLOCK = 2**14


@dataclass(frozen=True, eq=False)
class TunedThreshold:
    """A threshold on probabilities, and how good it is.

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
        Mean loss of each of the `thresholds`. The least is `loss`.
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
    sample_weight: ArrayLike | None = None,
) -> TunedThreshold:
    """Find the threshold on probabilities with the lowest mean loss on data.

    Empirical utility maximization (NKRD16, section 5): items of probability
    ``eta >= threshold`` are predicted, and all thresholds are compared, by one sort,
    that part no probabilities which are equal up to one part in 1e12.
    Take data on which the probabilities were not fitted.

    Of equally good thresholds the highest is taken, which predicts the fewest items.
    Losses are equal if they differ by no more than rounding. The threshold is midway
    between the probabilities that it separates.

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

    sample_weight : array-like of shape (n_sets,), default=None
        Non-negative weights of the sets in the mean, where they are groups, in sorted
        order, or rows. A set that weighs zero is left out. Items of a set have none.

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
        comes with an `average`, there is no item, or `sample_weight` has another shape,
        is negative or all zero.

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
    """
    loss = check_set_loss(loss, beta=beta, zero_division=zero_division)
    eta = check_probabilities(eta)
    y = check_indicators(y, eta.shape)
    check_average(average, eta.shape)
    if sample_weight is not None and average != "samples":
        raise ValueError(
            "sample_weight weighs sets that are rows or groups, but with "
            f"average={average!r} rows are items. Repeat rows by np.repeat instead."
        )
    if average == "macro":
        pairs = zip(y.T, np.ascontiguousarray(eta.T), strict=True)
        return _join_columns([_tune_one_set(*pair, loss) for pair in pairs])
    y, eta = sets_as_rows(y, average), sets_as_rows(eta, average)
    sets, sizes = number_sets(eta.shape, groups)
    y, eta, weight = y.ravel(), eta.ravel(), None
    if sample_weight is not None:
        weight = _check_weight(sample_weight, len(sizes))
        items, used = np.flatnonzero(weight[sets]), np.flatnonzero(weight)
        y, eta, sets = y[items], eta[items], np.searchsorted(used, sets[items])
        sizes, weight = sizes[used], weight[used]
    if len(sizes) == 1:
        return _tune_one_set(y, eta, loss)
    return _tune_sets(y, eta, sets, loss, weight)


def _join_columns(columns):
    """Return the thresholds of columns that are sets, tuned one by one."""
    return TunedThreshold(
        np.array([column.threshold for column in columns]),
        float(np.mean([column.loss for column in columns])),
        [column.thresholds for column in columns],
        [column.losses for column in columns],
    )


def _check_weight(sample_weight, n_sets):
    """Return one weight a set."""
    shape = np.shape(sample_weight)
    if shape not in ((), (n_sets,)):
        raise ValueError(
            f"sample_weight must hold one weight for each set, shape ({n_sets},), got "
            f"shape {shape}. Items of a set have no weights: repeat them by np.repeat."
        )
    return check_sample_weight(sample_weight, n_sets)


def _tune_one_set(y, eta, loss):
    """Return the best threshold of one set."""
    positive, eta = _sort_together(y, eta)
    ends = np.append(0, _ends_of_ties(eta))
    tp = np.append(0, np.cumsum(positive))
    n_positive, tp = tp[-1], tp[ends]
    losses = _evaluate(loss, tp, ends - tp, n_positive, len(y) - n_positive)
    # Losses of up to one are made of numbers of about one, such as 1 - F.
    slack = _ROUNDING * max(abs(losses.min()), min(1.0, np.abs(losses).max()))
    return _tuned(eta, ends, losses, slack, losses.__getitem__)


def _tune_sets(y, eta, sets, loss, weight):
    """Return the best threshold of several sets, of which none is without items."""
    order = np.argsort(-eta, kind="stable")
    eta, sets = eta[order], sets[order]
    ends = np.append(0, _ends_of_ties(eta))
    table = _PrefixTable(y[order], sets, loss)
    every = np.arange(len(table.sizes))
    share = np.ones(len(every)) if weight is None else weight / weight.max()
    empty = table.losses(every, np.zeros_like(every))
    after = table.losses(table.set_of, table.rank)
    slack = _ROUNDING_OF_SUMS * max(np.abs(empty).max(), np.abs(after).max())
    sums = table.sum_over_sets(share * empty, share[table.set_of] * after)[ends]

    def mean_loss(cut):
        reached = np.bincount(sets[: ends[cut]], minlength=len(every))
        return np.average(table.losses(every, reached), weights=weight)

    return _tuned(eta, ends, sums / share.sum(), slack, mean_loss)


def _evaluate(loss, tp, fp, n_positive, n_negative):
    """Return the losses of predicted items, block by block."""
    losses = np.empty(len(tp))
    columns = np.broadcast_arrays(tp, fp, n_positive, n_negative)
    for part in gen_batches(len(tp), _BLOCK):
        hits, alarms, positive, negative = (column[part] for column in columns)
        losses[part] = loss(hits, alarms, positive - hits, negative - alarms)
    return losses


class _PrefixTable:
    """The losses of sets as lower thresholds take their items, one by one.

    Items come by decreasing probability. Those of a set are neighbors in the table, of
    which `set_of` is the set of each and `rank` its number in it, from one.
    """

    def __init__(self, y, sets, loss):
        self._loss, self._by_set = loss, np.argsort(sets, kind="stable")
        self.sizes, self.set_of = np.bincount(sets), sets[self._by_set]
        self._first = np.cumsum(self.sizes) - self.sizes
        self.rank = np.arange(len(sets)) - self._first[self.set_of] + 1
        self._hits = np.append(0, np.cumsum(y[self._by_set]))

    def losses(self, sets, k):
        """Return the losses of sets of which the first k items are predicted."""
        first, sizes = self._first[sets], self.sizes[sets]
        tp = self._hits[first + k] - self._hits[first]
        n_positive = self._hits[first + sizes] - self._hits[first]
        return _evaluate(self._loss, tp, k - tp, n_positive, sizes - n_positive)

    def sum_over_sets(self, empty, after):
        """Return sums over the sets after 0, 1, ... items, by decreasing probability.

        Values are those of empty sets, and those of sets after each of the items.
        """
        before = np.append(0.0, after[:-1])
        before[self._first] = empty
        changes = np.empty(len(after))
        changes[self._by_set] = after - before
        return empty.sum() + np.append(0.0, running_sum(changes))


def _tuned(eta, ends, losses, slack, exact_loss):
    """Return the best threshold, and all that it was compared with.

    A cut predicts the items up to an end, of probabilities sorted decreasing.
    """
    low, high = eta[ends[1:-1]], eta[ends[1:-1] - 1]
    middle = low + (high - low) / 2
    # Between neighbouring floats the middle is one of the two.
    inner = np.where(middle > low, middle, high)
    thresholds = np.concatenate([[np.inf], inner, [0.0]])
    # What differs by rounding is shown as equal, and nothing as better.
    equal = losses <= losses.min() + slack
    best = int(np.argmax(equal))
    loss = float(exact_loss(best))
    losses = np.where(equal, loss, np.maximum(losses, loss))
    return TunedThreshold(float(thresholds[best]), loss, thresholds, losses)


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


def _ends_of_ties(sorted_eta):
    """Return how many probabilities there are up to the end of each tie group."""
    return np.append(np.flatnonzero(falls(sorted_eta)) + 1, len(sorted_eta))
