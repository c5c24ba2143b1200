"""Losses of predicted sets, functions of the confusion matrix: what they share."""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from sklearn_reject._validation import check_number
from sklearn_reject.exceptions import warn_user


class Cells(NamedTuple):
    """A number for each cell of the confusion matrix."""

    tp: float = 0.0
    fp: float = 0.0
    fn: float = 0.0
    tn: float = 0.0


class Ratio(NamedTuple):
    """``coefficient * numerator / (denominator**power * k**size_power)``.

    With k = tp + fp, and with `Cells` for weights of the counts, not negative in the
    denominator. Zero where the denominator or, for a positive `size_power`, k is zero.
    """

    coefficient: float
    numerator: Cells
    denominator: Cells
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


COUNTS = ("tp", "fp", "fn", "tn")

# Losses are tried out on all tables of so many items.
_N_TRIED = 10

# What rounding may add to a loss, relative to the largest.
_ROUNDING = 1e-12


class SetLoss:
    """Loss of predicting a set, a function of its confusion matrix.

    The counts of a set of n items are tp, fp, fn and tn: tp + fp = k items are
    predicted, and tp + fn = P are positive. Lower is better. Where the expected loss
    is least among all sets, it is least at a set of the k most probable items, if the
    loss falls, or stays, where tp grows at fixed k and P (NKRD16, theorem 1).

    A subclass writes `_losses`, which gets four arrays of counts of one shape by the
    names tp, fp, fn and tn.

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

    #: Largest absolute value, zero if it is not known. Expected losses that differ by
    #: 1e-12 times as much, which may be rounding, are taken for equal.
    largest = 0.0

    #: Whether an item that is surely negative never makes a set better.
    spares_negatives = False

    #: The concave mean of TPR and TNR that one minus the loss is; None if it is none.
    mean_of_rates = None

    # Whether counts may have any shapes that broadcast, and losses are right for sure.
    _is_known = False

    @property
    def is_tp_monotone(self) -> bool:
        """Whether the loss falls, or stays, as tp grows at fixed tp + fp and tp + fn.

        It is tried out on all confusion matrices of ten items.
        """
        return bool(self._change_with_tp().max() <= 0)

    def __init__(self, *, zero_division: float = 0.0) -> None:
        self.zero_division = check_number(zero_division, "zero_division", high=1.0)

    def __call__(
        self, tp: ArrayLike, fp: ArrayLike, fn: ArrayLike, tn: ArrayLike
    ) -> np.ndarray:
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
            If a count is negative or not finite, the shapes do not broadcast, or
            `_losses` of a subclass does not return one finite number for each
            confusion matrix.
        """
        counts = zip(COUNTS, (tp, fp, fn, tn), strict=True)
        counts = {name: _check_counts(count, name) for name, count in counts}
        shape = np.broadcast_shapes(*(count.shape for count in counts.values()))
        if self._is_known:
            losses = np.asarray(self._losses(**counts), dtype=np.float64)
            return np.broadcast_to(losses, shape).copy()
        # Copies, as a function may well work in place.
        losses = self._losses(
            **{name: np.array(np.broadcast_to(n, shape)) for name, n in counts.items()}
        )
        return self._check(losses, shape)

    def expansion(self, n_items: int) -> Expansion | None:
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
        return None

    def _losses(self, tp, fp, fn, tn):
        raise TypeError(f"{type(self).__name__} does not define `_losses`.")

    def _check(self, losses, shape):
        losses = np.asarray(losses)
        if losses.shape != shape or losses.dtype.kind not in "biuf":
            raise ValueError(
                f"{self._shown} must return one number for each confusion matrix, "
                f"shape {shape}, got shape {losses.shape} and dtype {losses.dtype}. "
                "Use operations on whole arrays."
            )
        if not np.isfinite(losses).all():
            raise ValueError(
                f"{self._shown} must return finite numbers, got "
                f"{losses[~np.isfinite(losses)][0]}. Define the value of 0/0, for "
                "example with `np.divide(..., where=...)`."
            )
        return losses.astype(np.float64)

    def _try_out(self):
        """Warn if the loss of the user rises with true positives, of ten items."""
        change = self._change_with_tp()
        if change.max() > 0:
            self._warn_of_other_optima(is_score=change.min() >= 0)

    def _change_with_tp(self):
        """Return what swaps of a false positive and a false negative add to the loss.

        Rounding is taken for nothing.
        """
        counts = _tables()
        before = self(*counts)
        can_swap = (counts[1] > 0) & (counts[2] > 0)
        after = self(*(counts[:, can_swap] + [[1], [-1], [-1], [1]]))
        change = after - before[can_swap]
        return np.where(np.abs(change) <= _ROUNDING * np.abs(before).max(), 0.0, change)

    def _warn_of_other_optima(self, *, is_score=False):
        """Warn that the best set need not be one of the most probable items."""
        hint = (
            " It increases with true positives, as a score does. Lower must be better, "
            "so pass one minus the score."
        )
        warn_user(
            f"{self._shown} does not decrease whenever a true positive is gained and "
            "the numbers of predicted and of positive items stay the same. The "
            "returned set, which consists of the k most probable items, may then not "
            f"be the best one.{hint if is_score else ''}"
        )

    @property
    def _shown(self):
        """What messages call it."""
        return f"loss={self!r}"

    def _parameters(self):
        names = signature(type(self)).parameters
        return {name: getattr(self, name) for name in names if hasattr(self, name)}

    def __repr__(self):
        parameters = self._parameters().items()
        shown = ", ".join(f"{name}={value!r}" for name, value in parameters)
        return f"{type(self).__name__}({shown})"


class CallableSetLoss(SetLoss):
    """A user's function of arrays tp, fp, fn and tn of one shape."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function
        try:
            signature(function).bind(**dict.fromkeys(COUNTS))
        except TypeError as error:
            raise ValueError(
                f"{self._shown} must be a function of the counts tp, fp, fn and tn, "
                "which it gets by these names, and lower must be better, but: "
                f"{error}. Pass such a function, or a name such as 'f1'."
            ) from error
        except ValueError:  # such as functions written in C
            pass

    @property
    def _shown(self):
        return f"loss={self.function!r}"

    def _losses(self, **counts):
        return self.function(**counts)


def _check_counts(count, name):
    count = np.asarray(count, dtype=np.float64)
    if count.size and not (count.min() >= 0 and np.isfinite(count.max())):
        odd = count[~((count >= 0) & np.isfinite(count))].ravel()[0]
        raise ValueError(f"{name} must hold finite counts >= 0, got {odd}.")
    return count


def _tables():
    """Return all confusion matrices of a few items, an array a count."""
    tables = [
        (*table, _N_TRIED - sum(table))
        for table in product(range(_N_TRIED + 1), repeat=3)
        if sum(table) <= _N_TRIED
    ]
    return np.array(tables, dtype=np.float64).T
