"""The set losses that are a ratio of two linear functions of the counts."""

from math import fsum

import numpy as np

from sklearn_reject.losses._expansion import Absence, Cells, Expansion, Ratio
from sklearn_reject.losses._set_loss import (
    SetLoss,
    falls_with_tp,
    warn_of_other_optima,
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
        The constants c and d. The denominator must be positive for every confusion
        matrix, but where the numerator is zero, too.

    zero_division : float in [0, 1], default=0.0
        One minus the loss where it is 0/0.

    Raises
    ------
    ValueError
        If the constants are not four finite numbers each, or the denominator is not
        positive somewhere.

    Warns
    -----
    UserWarning
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

    def __init__(self, numerator, denominator, *, zero_division=0.0):
        super().__init__(zero_division=zero_division)
        self.numerator = _check_constants(numerator, "numerator")
        self.denominator = _check_constants(denominator, "denominator")
        self._above = _weights_of_cells(self.numerator)
        self._below = _weights_of_cells(self.denominator)
        _check_positive(self._above, self._below)
        # The tables tell about 0/0, which the corners leave out.
        self.is_tp_monotone = self._falls_at_corners() and falls_with_tp(self)
        if not self.is_tp_monotone:
            warn_of_other_optima(repr(self))

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

    def _losses(self, *counts):
        above = sum(w * count for w, count in zip(self._above, counts, strict=True))
        below = sum(w * count for w, count in zip(self._below, counts, strict=True))
        losses = np.full(np.shape(below), 1 - self.zero_division)
        return np.divide(above, below, out=losses, where=below > 0)

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
        return {**constants, **super()._parameters()}


def _check_constants(constants, name):
    try:
        array = np.array(constants, dtype=np.float64)
    except (TypeError, ValueError):
        array = np.empty(0)
    if array.shape != (4,) or not np.isfinite(array).all():
        raise ValueError(
            f"{name} must be the four finite constants of (1, u, v, p), got "
            f"{constants!r}."
        )
    return array


def _weights_of_cells(constants):
    """Return what one item in each cell adds, times n."""
    of_one, of_tp, of_predicted, of_positive = constants.tolist()
    summands = (
        (of_one, of_tp, of_predicted, of_positive),
        (of_one, of_predicted),
        (of_one, of_positive),
        (of_one,),
    )
    return Cells(*map(_sum_or_zero, summands))


def _sum_or_zero(summands):
    """Return the sum, zero where it is no more than the rounding of its summands."""
    total = fsum(summands)
    return 0.0 if abs(total) <= _ROUNDING * fsum(map(abs, summands)) else total


def _check_positive(above, below):
    """Raise unless each cell adds to the denominator, or neither to the numerator."""
    for name, numerator, denominator in zip(Cells._fields, above, below, strict=True):
        if denominator < 0 or (denominator == 0 and numerator != 0):
            raise ValueError(
                f"denominator must be positive, but is {denominator:g} for a set of "
                f"nothing but {name} items, where the numerator is {numerator:g}. "
                "Change the constants so that both are zero there, or the denominator "
                "is positive."
            )
