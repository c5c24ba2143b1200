"""Losses of predicted sets, functions of the confusion matrix: what they share."""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sklearn_reject._validation import check_number
from sklearn_reject.losses._arguments import (
    call_with_counts,
    check_order_of_losses,
    names_of_counts,
)
from sklearn_reject.losses._expansion import Expansion
from sklearn_reject.losses._task import register_by_name
from sklearn_reject.losses._trials import falls_with_tp, try_out

# What each name stands for.
SET_LOSSES = {}

# What says which loss it is, and what a class states about the loss.
_DEFINITIONS = "__call__", "_losses", "_mean", "mean_of_rates"
_STATEMENTS = (
    "_expansion",
    "_is_known",
    "expansion",
    "is_mean_of_rates",
    "is_tp_monotone",
    "largest",
    "needs_bounds",
    "spares_negatives",
)


def _drop_what_is_of_others(cls):
    """Undo what bases state about a loss that `cls` defines anew."""
    owners = cls.__mro__

    def depth(name):
        return next((n for n, base in enumerate(owners) if name in vars(base)), np.inf)

    if "_was_tried" not in vars(cls):
        cls._was_tried = False
    defined = min(map(depth, _DEFINITIONS))
    for name in _STATEMENTS:
        if depth(name) > defined:
            setattr(cls, name, vars(SetLoss)[name])


class SetLoss:
    """Loss of predicting a set, a function of its confusion matrix.

    The counts of a set of n items are tp, fp, fn and tn: tp + fp = k items are
    predicted, and tp + fn = P are positive. Lower is better. Where the expected loss
    is least among all sets, it is least at a set of the k most probable items, if the
    loss falls, or stays, where tp grows at fixed k and P (NKRD16, theorem 1).

    A subclass writes `_losses`, which gets four arrays of counts of one shape, and
    `_expansion` where the loss is made of ratios. With a `name` of its own, it is what
    :func:`check_set_loss` finds by that name. Where a subclass of a loss writes another
    `_losses`, what the loss states about itself does not hold for it: the expansion and
    the attributes `largest`, `needs_bounds`, `spares_negatives` and `is_mean_of_rates`
    are those of this class again, unless the subclass has its own.

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
    name: str | None = None

    #: Bounds on k without which the best set is the same whatever the probabilities.
    needs_bounds: tuple[str, ...] = ()

    #: Whether the score is a concave mean of TPR and TNR, `mean_of_rates`.
    is_mean_of_rates = False

    #: Largest absolute value, zero if it is not known. Expected losses that differ by
    #: 1e-12 times as much, which may be rounding, are taken for equal.
    largest = 0.0

    #: Whether an item that is surely negative never makes a set better.
    spares_negatives = False

    # Whether counts may have any shapes that broadcast, and losses are right for sure.
    _is_known = False

    # Whether it was tried out when it was made.
    _was_tried = False

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        check_order_of_losses(cls)
        register_by_name(cls, SET_LOSSES)
        _drop_what_is_of_others(cls)

    @property
    def is_tp_monotone(self) -> bool:
        """Whether the loss falls, or stays, as tp grows at fixed tp + fp and tp + fn.

        It is tried out on all confusion matrices of ten items.
        """
        return falls_with_tp(self)

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
        counts = {"tp": tp, "fp": fp, "fn": fn, "tn": tn}
        counts = [_check_counts(count, name) for name, count in counts.items()]
        shape = np.broadcast_shapes(*(count.shape for count in counts))
        if self._is_known:
            losses = np.asarray(self._losses(*counts), dtype=np.float64)
            return np.broadcast_to(losses, shape).copy()
        # Copies, as a function may well work in place.
        counts = [np.array(np.broadcast_to(count, shape)) for count in counts]
        try:
            losses = self._losses(*counts)
        except ValueError as error:
            if "truth value" not in str(error):
                raise
            raise ValueError(
                f"{self._shown} receives arrays of counts, but treats them as single "
                f"numbers: {error} Use operations on whole arrays, such as `np.where`, "
                "or wrap it in `np.vectorize`."
            ) from error
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
        return self._expansion(n_items)

    def _expansion(self, n_items):
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
    """A user's function ``(tp, fp, fn, tn) -> losses``.

    Parameters
    ----------
    function : callable
        Gets arrays of counts of one shape and returns one finite number for each
        confusion matrix, lower is better. What 0/0 is, it says itself. Parameters that
        are called tp, fp, fn and tn, in lower or upper case, or such as
        true_positives, true_pos and n_tp, get the counts of their names, in whatever
        order they come, and some of them may be missing; others must have defaults.
        Parameters of other names get all four in the order tp, fp, fn, tn.

    Raises
    ------
    ValueError
        If the function takes other than the counts, such as labels or an estimator, or
        does not return one finite number for each confusion matrix.

    Warns
    -----
    RejectionWarning
        If some gain of true positives raises the loss: then the best set need not be
        one of the most probable items.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_reject.losses import CallableSetLoss
    >>> missed = CallableSetLoss(lambda tp, fp, fn, tn: 5 * fn + fp)
    >>> missed(tp=[1, 2], fp=[1, 0], fn=[1, 0], tn=[0, 1])
    array([6., 0.])

    The order of :func:`sklearn.metrics.confusion_matrix` is as good:

    >>> missed = CallableSetLoss(lambda tn, fp, fn, tp: 5 * fn + fp)
    >>> missed(tp=[1, 2], fp=[1, 0], fn=[1, 0], tn=[0, 1])
    array([6., 0.])
    """

    _was_tried = True

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function
        self._names = names_of_counts(function)
        try_out(self)

    @property
    def _shown(self):
        return f"loss={self.function!r}"

    def _losses(self, *counts):
        return call_with_counts(self.function, self._names, counts)


def _check_counts(count, name):
    count = np.asarray(count, dtype=np.float64)
    if count.size and not (count.min() >= 0 and np.isfinite(count.max())):
        odd = count[~((count >= 0) & np.isfinite(count))].ravel()[0]
        raise ValueError(f"{name} must hold finite counts >= 0, got {odd}.")
    return count
