"""What a user gives as the loss of a set, as a loss object."""

from __future__ import annotations

from inspect import signature
from math import fsum

import numpy as np
from numpy.typing import ArrayLike

from sklearn_reject._typing import SetLossLike
from sklearn_reject.losses._frames import refuse_labels
from sklearn_reject.losses._named import SET_LOSSES, FBetaLoss
from sklearn_reject.losses._set_loss import (
    KNOWN,
    Absence,
    CallableSetLoss,
    Cells,
    Expansion,
    Ratio,
    SetLoss,
)

# Relative to the summands: what is taken for rounding.
_ROUNDING = 1e-15


class FractionalLinearLoss(SetLoss):
    r"""A ratio of two linear functions of the confusion matrix.

    With u = tp / n, v = (tp + fp) / n and p = (tp + fn) / n it is

    .. math::

        \frac{c_0 + c_1 u + c_2 v + c_3 p}{d_0 + d_1 u + d_2 v + d_3 p}

    (NKRD16, equation 4). It falls with u, and a set of the most probable items is best,
    if ``c1 (d0 + d2 v + d3 p) <= d1 (c0 + c2 v + c3 p)`` at the four corners of (v, p).

    Parameters
    ----------
    numerator, denominator : array-like of shape (4,)
        The constants c and d, in this order: labels of a series are not read, and it
        is refused. The denominator must be positive for every confusion matrix, but
        where the numerator is zero, too.

    zero_division : float in [0, 1], default=0.0
        One minus the loss where it is 0/0.

    Raises
    ------
    ValueError
        If the constants are not four finite numbers each, or the denominator is not
        positive somewhere.

    Warns
    -----
    RejectionWarning
        If the loss does not fall with u: the best set need not be one of the most
        probable items.

    Examples
    --------
    The Jaccard loss, (p + v - 2 u) / (p + v - u):

    >>> from sklearn_reject.losses import FractionalLinearLoss
    >>> loss = FractionalLinearLoss([0, -2, 1, 1], [0, -1, 1, 1])
    >>> float(loss(tp=2, fp=1, fn=1, tn=6))
    0.5
    """

    def __init__(
        self,
        numerator: ArrayLike,
        denominator: ArrayLike,
        *,
        zero_division: float = 0.0,
    ) -> None:
        super().__init__(zero_division=zero_division)
        self.numerator = _check_constants(numerator, "numerator")
        self.denominator = _check_constants(denominator, "denominator")
        self._above = _weights_of_cells(self.numerator)
        self._below = _weights_of_cells(self.denominator)
        self._check_denominator()
        if not self.is_tp_monotone:
            self._warn_of_other_optima()

    @property
    def is_tp_monotone(self) -> bool:
        """Whether the loss falls, or stays, as u grows at fixed v and p."""
        # The tables tell about 0/0, which the corners leave out.
        return self._falls_at_corners() and super().is_tp_monotone

    def _expansion(self, n_items):
        # The loss is a mean of those of single cells. Where they are all of one sign,
        # the smallest is split off, and what is left is as exact as the loss varies.
        of_cells = self._losses(*np.eye(len(self._above)))
        counted = Cells(*(weight > 0 for weight in self._below))
        of_cells = of_cells[np.array(counted)]
        offset = float(np.clip(0.0, of_cells.min(), of_cells.max()))
        above = Cells(
            *(a - offset * b for a, b in zip(self._above, self._below, strict=True))
        )
        absence = Absence(counted, 1 - self.zero_division - offset)
        return Expansion(offset, (Ratio(1.0, above, self._below),), (absence,))

    def _losses(self, tp, fp, fn, tn):
        counts = tp, fp, fn, tn
        above = sum(w * count for w, count in zip(self._above, counts, strict=True))
        below = sum(w * count for w, count in zip(self._below, counts, strict=True))
        losses = np.full(np.shape(below), 1 - self.zero_division)
        return np.divide(above, below, out=losses, where=below > 0)

    def _check_denominator(self):
        """Raise unless each cell adds to it, or neither to the numerator."""
        cells = zip(Cells._fields, self._above, self._below, strict=True)
        for name, above, below in cells:
            if below < 0 or (below == 0 and above != 0):
                raise ValueError(
                    f"denominator must be positive, but is {below:g} for a set of "
                    f"nothing but {name} items, where the numerator is {above:g}. "
                    "Change the constants so that either both are zero there or the "
                    "denominator is positive."
                )

    def _falls_at_corners(self):
        corners = np.array([[1, 0, 0], [1, 0, 1], [1, 1, 0], [1, 1, 1]])
        c, d = self.numerator, self.denominator
        gain = c[1] * (corners @ d[[0, 2, 3]]), d[1] * (corners @ c[[0, 2, 3]])
        return bool((gain[0] - gain[1] <= _ROUNDING * np.abs(gain).max()).all())

    def _parameters(self):
        constants = {
            "numerator": self.numerator.tolist(),
            "denominator": self.denominator.tolist(),
        }
        return {**super()._parameters(), **constants}


KNOWN.add(FractionalLinearLoss)


def _check_constants(values, name):
    refuse_labels(values, name, "the constants of (1, u, v, p)")
    try:
        constants = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        constants = np.empty(0)
    if constants.shape != (4,) or not np.isfinite(constants).all():
        raise ValueError(
            f"{name} must be the four finite constants of (1, u, v, p), got {values!r}."
        )
    return constants


def _weights_of_cells(constants):
    """Return what one item in each cell adds, times n."""
    # (1, u, v, p) of one item that is tp, fp, fn or tn, times n.
    of_cells = [(1, 1, 1, 1), (1, 0, 1, 0), (1, 0, 0, 1), (1, 0, 0, 0)]
    summands = (constants * of_cells).tolist()
    totals = [fsum(row) for row in summands]
    # No more than the rounding of its summands is zero.
    sizes = [_ROUNDING * fsum(map(abs, row)) for row in summands]
    return Cells(*np.where(np.abs(totals) <= sizes, 0.0, totals).tolist())


# Options of losses, and their defaults.
_DEFAULTS = {"beta": 1.0, "zero_division": 0.0}


def check_set_loss(
    loss: SetLossLike, *, beta: float = 1.0, zero_division: float = 0.0
) -> SetLoss:
    """Turn what a user gives as the loss of a set into a :class:`SetLoss`.

    Parameters
    ----------
    loss : {"am", "auc", "balanced_accuracy", "f1", "f_beta", "g_mean", "g_tp_pr", \
            "h_mean", "hamming", "jaccard"}, callable or SetLoss
        A name, or a function of arrays tp, fp, fn and tn, which it gets by these names,
        that returns one finite number for each confusion matrix.

    beta : float > 0, default=1.0
        Weight of recall in "f_beta".

    zero_division : float in [0, 1], default=0.0
        What a score is where it is 0/0, of losses by name, but those that never are.
        A callable and a SetLoss have their own.

    Returns
    -------
    loss : SetLoss
        The loss object.

    Raises
    ------
    ValueError
        If the name is unknown, `beta` is not positive, `zero_division` not in [0, 1],
        one of them is given beside a loss that does not heed it, or a callable or
        SetLoss does not take the counts, or does not return one finite number for each
        confusion matrix.

    Warns
    -----
    RejectionWarning
        If the loss may increase with the number of true positives, so that the best set
        may not consist of the most probable items.

    Examples
    --------
    >>> from sklearn_reject.losses import check_set_loss
    >>> check_set_loss("f_beta", beta=2.0)
    FBetaLoss(beta=2.0, zero_division=0.0)
    """
    FBetaLoss(beta, zero_division=zero_division)  # checks both, used or not
    given = {"beta": float(beta), "zero_division": float(zero_division)}
    kind, options = None, ()
    if isinstance(loss, str) and loss in SET_LOSSES:
        kind = SET_LOSSES[loss]
        options = _DEFAULTS.keys() & signature(kind).parameters.keys()
    elif isinstance(loss, type) or not callable(loss):
        _refuse(loss)
    for name, default in _DEFAULTS.items():
        if given[name] != default and name not in options:
            raise ValueError(
                f"{name}={given[name]!r} is not used by loss={loss!r}: only 'f_beta' "
                "takes beta, and losses that are never 0/0, functions and loss objects "
                f"take no zero_division. Set {name} to {default:g}."
            )
    if kind is not None:
        return kind(**{name: given[name] for name in options})
    made = loss if isinstance(loss, SetLoss) else CallableSetLoss(loss)
    if type(made) not in KNOWN:
        made._try_out()
    return made


def _refuse(loss):
    hint = ""
    if isinstance(loss, type) and issubclass(loss, SetLoss):
        hint = f" Pass an object of the class, `{loss.__name__}()`."
    elif isinstance(loss, str) and loss == "zero_one":
        hint = " The share of wrong items is 'hamming'."
    raise ValueError(
        f"loss must be one of {sorted(SET_LOSSES)}, a callable of (tp, fp, fn, tn) or "
        f"a SetLoss, got {loss!r}.{hint}"
    )
