"""Losses of predicted sets, functions of the confusion matrix: what they share."""

import warnings
from inspect import signature
from itertools import product
from typing import NamedTuple

import numpy as np

from sklearn_reject._validation import check_number
from sklearn_reject.losses._task import register_by_name

# Tables of so many items tell whether a loss falls where true positives are gained.
_N_ITEMS_OF_CHECK = 10


# Relative to the largest loss: what rounding may add to one.
_ROUNDING = 1e-12


# What each name stands for.
SET_LOSSES = {}


class SetLoss:
    """Loss of predicting a set, a function of its confusion matrix.

    The counts of a set of n items are tp, fp, fn and tn: tp + fp = k items are
    predicted, and tp + fn = P are positive. Lower is better. Where the expected loss
    is least among all sets, it is least at a set of the k most probable items, if the
    loss falls, or stays, where tp grows at fixed k and P (NKRD16, theorem 1).

    A subclass writes `_losses`, and `_expansion` where the loss is made of ratios. With
    a `name` of its own, it is what :func:`check_set_loss` finds by that name.

    Parameters
    ----------
    zero_division : float in [0, 1], default=0.0
        What a ratio of counts is where it is 0/0, as a score (one is best), as in the
        metrics of scikit-learn.

    Examples
    --------
    >>> from sklearn_reject.losses import SetLoss
    >>> class FalseAlarm(SetLoss):
    ...     def _losses(self, tp, fp, fn, tn):
    ...         return 1.0 * (fp > 0)
    >>> FalseAlarm()(tp=[3, 3], fp=[0, 1], fn=2, tn=5)
    array([0., 1.])
    """

    #: What `loss` calls it, a class attribute; None where it has no name.
    name = None

    #: Whether the loss falls, or stays, as tp grows at fixed tp + fp and tp + fn.
    is_tp_monotone = True

    #: Bounds on k without which the best set is the same whatever the probabilities.
    needs_bounds = ()

    #: Whether the score is a concave mean of TPR and TNR, `mean_of_rates`.
    is_mean_of_rates = False

    #: Largest absolute value, zero if it is not known. Expected losses that differ by
    #: 1e-12 times as much, which may be rounding, are taken for equal.
    largest = 0.0

    #: Whether an item that is surely negative never makes a set better.
    spares_negatives = False

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        register_by_name(cls, SET_LOSSES)

    def __init__(self, *, zero_division=0.0):
        self.zero_division = check_number(zero_division, "zero_division", high=1.0)

    def __call__(self, tp, fp, fn, tn):
        """Return the loss of each confusion matrix.

        Parameters
        ----------
        tp, fp, fn, tn : array-like
            Numbers of true positives, false positives, false negatives and true
            negatives, of shapes that broadcast.

        Returns
        -------
        losses : ndarray of the common shape, dtype float64
            Lower is better.

        Raises
        ------
        ValueError
            If a count is negative or not finite, or the shapes do not broadcast.
        """
        counts = {"tp": tp, "fp": fp, "fn": fn, "tn": tn}
        counts = [_check_counts(count, name) for name, count in counts.items()]
        shape = np.broadcast_shapes(*(count.shape for count in counts))
        return self._check(self._losses(*counts), shape)

    def expansion(self, n_items):
        """Return the ratios that the loss is made of.

        Parameters
        ----------
        n_items : int
            Number of items.

        Returns
        -------
        expansion : Expansion or None
            None if the expected loss takes the distribution of the counts.
        """
        return self._expansion(n_items)

    def _expansion(self, n_items):
        return None

    def _losses(self, tp, fp, fn, tn):
        raise TypeError(f"{type(self).__name__} does not define `_losses`.")

    def _check(self, losses, shape):
        return np.broadcast_to(np.asarray(losses, dtype=np.float64), shape).copy()

    def _parameters(self):
        names = signature(type(self)).parameters
        return {name: getattr(self, name) for name in names if hasattr(self, name)}

    def __repr__(self):
        parameters = self._parameters().items()
        shown = ", ".join(f"{name}={value!r}" for name, value in parameters)
        return f"{type(self).__name__}({shown})"


class CallableSetLoss(SetLoss):
    """A user's function ``(tp, fp, fn, tn) -> losses``.

    Parameters
    ----------
    function : callable
        Gets four arrays of counts of one shape and returns one finite number for each
        confusion matrix, lower is better. What 0/0 is, it says itself.

    Warns
    -----
    UserWarning
        If some gain of true positives raises the loss: then the best set need not be
        one of the most probable items.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_reject.losses import CallableSetLoss
    >>> missed = CallableSetLoss(lambda tp, fp, fn, tn: 5 * fn + fp)
    >>> missed(tp=[1, 2], fp=[1, 0], fn=[1, 0], tn=[0, 1])
    array([6., 0.])
    """

    def __init__(self, function):
        self.function = function
        self.is_tp_monotone = falls_with_tp(self)
        if not self.is_tp_monotone:
            warn_of_other_optima(f"loss={function!r}")

    def _losses(self, tp, fp, fn, tn):
        # Copies, as a function may well work in place.
        counts = np.broadcast_arrays(tp, fp, fn, tn)
        return self.function(*(np.array(count) for count in counts))

    def _check(self, losses, shape):
        losses = np.asarray(losses)
        if losses.shape != shape or losses.dtype.kind not in "biuf":
            raise ValueError(
                f"loss={self.function!r} must return one number for each confusion "
                f"matrix, shape {shape}, got shape {losses.shape} and dtype "
                f"{losses.dtype}. Write it with operations on whole arrays."
            )
        if not np.isfinite(losses).all():
            raise ValueError(
                f"loss={self.function!r} must return finite numbers, got "
                f"{losses[~np.isfinite(losses)][0]}. Say what 0/0 is, for example "
                "with `np.divide(..., where=...)`."
            )
        return losses.astype(np.float64)


def warn_of_other_optima(what):
    """Warn that the best set need not be one of the most probable items."""
    warnings.warn(
        f"{what} does not fall wherever a true positive is gained at the same number "
        "of predicted and of positive items. The set of the k most probable items that "
        "is returned may then not be the best of all sets.",
        UserWarning,
        stacklevel=4,
    )


def _check_counts(count, name):
    count = np.asarray(count, dtype=np.float64)
    if count.size and not (count.min() >= 0 and np.isfinite(count.max())):
        odd = count[~((count >= 0) & np.isfinite(count))].ravel()[0]
        raise ValueError(f"{name} must hold finite counts >= 0, got {odd}.")
    return count


def falls_with_tp(loss):
    """Tell whether no swap of a false positive and a false negative does harm.

    All confusion matrices of a few items are tried.
    """
    n_items = _N_ITEMS_OF_CHECK
    tables = [
        (*table, n_items - sum(table))
        for table in product(range(n_items + 1), repeat=3)
        if sum(table) <= n_items
    ]
    counts = np.array(tables, dtype=np.float64)
    before = loss(*counts.T)
    can_swap = (counts[:, 1] > 0) & (counts[:, 2] > 0)
    after = loss(*(counts[can_swap] + [1, -1, -1, 1]).T)
    return bool((after <= before[can_swap] + _ROUNDING * np.abs(before).max()).all())


class Cells(NamedTuple):
    """A number for each cell of the confusion matrix."""

    tp: float = 0.0
    fp: float = 0.0
    fn: float = 0.0
    tn: float = 0.0


class Ratio(NamedTuple):
    """``coefficient * numerator * factor / (denominator**power * k**size_power)``.

    With k = tp + fp, and with `Cells` for weights of the counts: not negative in the
    denominator, of fn and tn only in a `factor`, whose numerator is of tp and fp only.
    Zero where the denominator or, for a positive `size_power`, k is zero.
    """

    coefficient: float
    numerator: Cells
    denominator: Cells
    factor: Cells | None = None
    power: float = 1.0
    size_power: float = 0.0


class Absence(NamedTuple):
    """``constant + slope * k`` where no item is in the cells marked True, else zero."""

    cells: Cells
    constant: float
    slope: float = 0.0


class Expansion(NamedTuple):
    """A set loss as ``constant`` plus ratios, plus what is apart, mostly for 0/0."""

    constant: float
    ratios: tuple
    absences: tuple = ()
