"""The best threshold on probabilities for a set loss."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from sklearn_reject._typing import MatrixLike, SetLossLike
from sklearn_reject._validation import check_sample_weight, of_arrays
from sklearn_reject.decoding._cuts import (
    TunedThreshold,
    cut_one_set,
    cut_sets,
)
from sklearn_reject.decoding._items import (
    bounds_of_sets,
    check_average,
    check_bounds,
    check_indicators,
    check_probabilities,
    number_sets,
    sets_as_rows,
)
from sklearn_reject.losses import check_set_loss


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

    loss : str, callable or SetLoss
        Loss of a set, as :func:`~sklearn_reject.losses.check_set_loss` takes it.

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
        items. Bounds and losses that need them exclude it, and a callable gets sums of
        weights as counts. Where groups or rows are the
        sets, the weight of each set in the mean, shape (n_sets,), groups in sorted
        order. What weighs zero is left out.

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
        comes with an `average`, there is no item, a bound is invalid, the loss is
        degenerate without bounds, or `sample_weight` has another shape, is negative,
        all zero, or weighs items that bounds count.

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
    bounds = {"min_positive": min_positive, "max_positive": max_positive}
    weight, items_weigh = None, False
    if sample_weight is not None:
        items_weigh = groups is None and (eta.ndim == 1 or average != "samples")
    if items_weigh:
        _refuse_bounds(loss, **bounds)
        what = "item" if eta.ndim == 1 else "row"
        weight = _check_weight(sample_weight, len(eta), what)
        rows = np.flatnonzero(weight)
        y, eta, weight = y[rows], eta[rows], weight[rows]
    bounds = check_bounds(loss, **bounds)
    if average == "macro":
        options = loss, bounds_of_sets(bounds, len(y)), weight
        pairs = zip(y.T, np.ascontiguousarray(eta.T), strict=True)
        return _join_columns([cut_one_set(*pair, *options).tuned() for pair in pairs])
    n_rows, y, eta = len(eta), sets_as_rows(y, average), sets_as_rows(eta, average)
    sets, sizes = number_sets(eta.shape, groups)
    y, eta = y.ravel(), eta.ravel()
    if items_weigh or (sample_weight is None and len(sizes) == 1):
        if items_weigh:
            weight = np.repeat(weight, len(eta) // n_rows)
        bounds = bounds_of_sets(bounds, len(eta))
        return cut_one_set(y, eta, loss, bounds, weight).tuned()
    if sample_weight is not None:
        weight = _check_weight(sample_weight, len(sizes), "set")
        is_used = weight > 0
        items = np.flatnonzero(is_used[sets])
        sets = (np.cumsum(is_used) - 1)[sets[items]]
        y, eta, sizes, weight = y[items], eta[items], sizes[is_used], weight[is_used]
    return cut_sets(y, eta, sets, loss, bounds_of_sets(bounds, sizes), weight).tuned()


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


def _refuse_bounds(loss, min_positive, max_positive):
    """Raise where bounds count items that weigh more or less than one."""
    is_given = {
        "min_positive": min_positive != 0 or "min_positive" in loss.needs_bounds,
        "max_positive": max_positive is not None or "max_positive" in loss.needs_bounds,
    }
    names = " and ".join(name for name, given in is_given.items() if given)
    if names:
        raise ValueError(
            f"sample_weight counts an item as any number of items, but {names}, given "
            "or needed by the loss, count each item as one. Repeat the items, for "
            "example with np.repeat, or use a loss that needs no bounds."
        )
