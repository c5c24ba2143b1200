"""Set losses of the package, and what a user gives as one."""

from __future__ import annotations

from inspect import signature
from math import fsum

import numpy as np
from numpy.typing import ArrayLike

from sklearn_reject._typing import SetLossLike
from sklearn_reject._validation import check_number
from sklearn_reject.losses._set_loss import (
    Absence,
    CallableSetLoss,
    Cells,
    Expansion,
    Ratio,
    SetLoss,
)
from sklearn_reject.losses._task import refuse_labels

# Relative to the summands: what is taken for rounding.
_ROUNDING = 1e-15

_POSITIVE = Cells(tp=1.0, fn=1.0)
_NEGATIVE = Cells(fp=1.0, tn=1.0)
_TRUE_POSITIVE = Cells(tp=1.0)
_TRUE_NEGATIVE = Cells(tn=1.0)
_RELEVANT = Cells(tp=1.0, fp=1.0, fn=1.0)


class _NamedLoss(SetLoss):
    """A loss in [0, 1] that falls with tp and rises with fp."""

    largest = 1.0
    spares_negatives = True
    is_tp_monotone = True
    _is_known = True


class _TotalLoss(_NamedLoss):
    """A loss that is defined for all counts, without a choice of what 0/0 is."""

    def __init__(self) -> None:
        super().__init__()


class FBetaLoss(_NamedLoss):
    """One minus the F-measure.

    ``1 - (1 + beta**2) tp / ((1 + beta**2) tp + beta**2 fn + fp)``, in [0, 1].

    Parameters
    ----------
    beta : float > 0, default=1.0
        Weight of recall against precision: 1 weighs them alike, 2 favors recall.

    zero_division : float in [0, 1], default=0.0
        The F-measure where nothing is positive and nothing predicted.

    Examples
    --------
    >>> from sklearn_reject.losses import check_set_loss
    >>> round(float(check_set_loss("f_beta")(tp=2, fp=1, fn=1, tn=6)), 3)
    0.333
    """

    def __init__(self, beta: float = 1.0, *, zero_division: float = 0.0) -> None:
        super().__init__(zero_division=zero_division)
        self.beta = check_number(beta, "beta", high=1e6, open_low=True)

    def expansion(self, n_items):
        square = self.beta**2
        denominator = Cells(tp=1 + square, fp=1.0, fn=square)
        ratio = Ratio(-(1 + square), _TRUE_POSITIVE, denominator)
        return Expansion(1.0, (ratio,), (Absence(_RELEVANT, -self.zero_division),))

    def _losses(self, tp, fp, fn, tn):
        square = self.beta**2
        score = (1 + square) * tp
        score = _divide(score, score + square * fn + fp, 0.0)
        return 1 - np.where(tp + fp + fn == 0, self.zero_division, score)


class JaccardLoss(_NamedLoss):
    """One minus the Jaccard index, intersection over union.

    ``1 - tp / (tp + fp + fn)``, in [0, 1].

    Parameters
    ----------
    zero_division : float in [0, 1], default=0.0
        The index where nothing is positive and nothing predicted.

    Examples
    --------
    >>> from sklearn_reject.losses import check_set_loss
    >>> float(check_set_loss("jaccard")(tp=2, fp=1, fn=1, tn=6))
    0.5
    """

    def expansion(self, n_items):
        ratio = Ratio(-1.0, _TRUE_POSITIVE, _RELEVANT)
        return Expansion(1.0, (ratio,), (Absence(_RELEVANT, -self.zero_division),))

    def _losses(self, tp, fp, fn, tn):
        return 1 - _divide(tp, tp + fp + fn, self.zero_division)


class AMLoss(_NamedLoss):
    """One minus the arithmetic mean of TPR and TNR.

    ``1 - (tp / (tp + fn) + tn / (tn + fp)) / 2``, in [0, 1]; the balanced error.

    Parameters
    ----------
    zero_division : float in [0, 1], default=0.0
        The rate of a class that is absent. :class:`BalancedAccuracyLoss` leaves it out
        of the mean instead.

    Examples
    --------
    >>> from sklearn_reject.losses import check_set_loss
    >>> float(check_set_loss("am")(tp=2, fp=1, fn=2, tn=3))
    0.375
    """

    def expansion(self, n_items):
        half = -self.zero_division / 2
        absences = Absence(_POSITIVE, half), Absence(_NEGATIVE, half)
        return Expansion(1.0, _HALVES_OF_RATES, absences)

    def _losses(self, tp, fp, fn, tn):
        return 1 - sum(_rates(tp, fp, fn, tn, self.zero_division)) / 2


class BalancedAccuracyLoss(_TotalLoss):
    """One minus the mean rate of the classes that are there.

    :class:`AMLoss`, except that a set without positives has TNR alone, and one without
    negatives TPR alone, as scikit-learn's balanced accuracy does. In [0, 1].

    Examples
    --------
    >>> from sklearn_reject.losses import check_set_loss
    >>> check_set_loss("balanced_accuracy")(tp=[2, 0], fp=1, fn=[2, 0], tn=3)
    array([0.375, 0.25 ])
    """

    def expansion(self, n_items):
        slope = 1 / (2 * n_items)
        absences = Absence(_POSITIVE, -0.5, slope), Absence(_NEGATIVE, 0.0, -slope)
        return Expansion(1.0, _HALVES_OF_RATES, absences)

    def _losses(self, tp, fp, fn, tn):
        tpr, tnr = _rates(tp, fp, fn, tn, 0.0)
        n_classes = 1.0 * (tp + fn > 0) + (tn + fp > 0)
        return 1 - _divide(tpr + tnr, n_classes, 0.0)


class GTPPRLoss(_NamedLoss):
    """One minus the geometric mean of TPR (recall) and precision, G-TP/PR.

    ``1 - tp / sqrt((tp + fn) (tp + fp))``, in [0, 1].

    Parameters
    ----------
    zero_division : float in [0, 1], default=0.0
        The mean where nothing is positive and nothing predicted.

    Examples
    --------
    >>> from sklearn_reject.losses import check_set_loss
    >>> round(float(check_set_loss("g_tp_pr")(tp=2, fp=2, fn=0, tn=6)), 3)
    0.293
    """

    def expansion(self, n_items):
        ratio = Ratio(-1.0, _TRUE_POSITIVE, _POSITIVE, power=0.5, size_power=0.5)
        return Expansion(1.0, (ratio,), (Absence(_RELEVANT, -self.zero_division),))

    def _losses(self, tp, fp, fn, tn):
        both_empty = (tp + fn == 0) & (tp + fp == 0)
        score = _divide(tp, np.sqrt((tp + fn) * (tp + fp)), 0.0)
        return 1 - np.where(both_empty, self.zero_division, score)


class _MeanOfRates(_NamedLoss):
    """One minus a concave mean of TPR and TNR."""

    def _losses(self, tp, fp, fn, tn):
        return 1 - self.mean_of_rates(*_rates(tp, fp, fn, tn, self.zero_division))


class GMeanLoss(_MeanOfRates):
    """One minus the geometric mean of TPR and TNR.

    ``1 - sqrt(tp / (tp + fn) tn / (tn + fp))``, in [0, 1].

    Parameters
    ----------
    zero_division : float in [0, 1], default=0.0
        The rate of a class that is absent.

    Examples
    --------
    >>> from sklearn_reject.losses import check_set_loss
    >>> float(check_set_loss("g_mean")(tp=1, fp=3, fn=3, tn=1))
    0.75
    """

    def mean_of_rates(self, tpr, tnr):
        return np.sqrt(tpr * tnr)


class HMeanLoss(_MeanOfRates):
    """One minus the harmonic mean of TPR and TNR.

    ``1 - 2 / (1 / TPR + 1 / TNR)``, in [0, 1]; one where either rate is zero.

    Parameters
    ----------
    zero_division : float in [0, 1], default=0.0
        The rate of a class that is absent.

    Examples
    --------
    >>> from sklearn_reject.losses import check_set_loss
    >>> float(check_set_loss("h_mean")(tp=1, fp=3, fn=3, tn=1))
    0.75
    """

    def mean_of_rates(self, tpr, tnr):
        return _divide(2 * tpr * tnr, tpr + tnr, 0.0)


class HammingLoss(_TotalLoss):
    """Share of the items that are predicted wrongly.

    ``(fp + fn) / n``, in [0, 1], as :func:`sklearn.metrics.hamming_loss` has it. The
    best set has the items that are more likely positive than not.

    Examples
    --------
    >>> from sklearn_reject.losses import check_set_loss
    >>> float(check_set_loss("hamming")(tp=2, fp=1, fn=1, tn=6))
    0.2
    """

    def expansion(self, n_items):
        wrong = Cells(fp=1.0, fn=1.0)
        return Expansion(0.0, (Ratio(1.0, wrong, Cells(1.0, 1.0, 1.0, 1.0)),))

    def _losses(self, tp, fp, fn, tn):
        return _divide(fp + fn, tp + fp + fn + tn, 0.0)


_HALVES_OF_RATES = (
    Ratio(-0.5, _TRUE_POSITIVE, _POSITIVE),
    Ratio(-0.5, _TRUE_NEGATIVE, _NEGATIVE),
)


def _divide(numerator, denominator, otherwise):
    """Divide, and return `otherwise` where the denominator is zero."""
    shape = np.broadcast_shapes(np.shape(numerator), np.shape(denominator))
    quotient = np.full(shape, float(otherwise))
    return np.divide(numerator, denominator, out=quotient, where=denominator > 0)


def _rates(tp, fp, fn, tn, otherwise):
    """Return TPR and TNR."""
    return _divide(tp, tp + fn, otherwise), _divide(tn, tn + fp, otherwise)


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

    _is_known = True

    def __init__(
        self,
        numerator: ArrayLike,
        denominator: ArrayLike,
        *,
        zero_division: float = 0.0,
    ) -> None:
        super().__init__(zero_division=zero_division)
        self.numerator = _check_constants(numerator, "numerator").tolist()
        self.denominator = _check_constants(denominator, "denominator").tolist()
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

    def expansion(self, n_items: int) -> Expansion:
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
        c, d = np.array([self.numerator, self.denominator])
        gain = c[1] * (corners @ d[[0, 2, 3]]), d[1] * (corners @ c[[0, 2, 3]])
        return bool((gain[0] - gain[1] <= _ROUNDING * np.abs(gain).max()).all())


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
    summands = np.multiply(constants, of_cells).tolist()
    totals = [fsum(row) for row in summands]
    # No more than the rounding of its summands is zero.
    sizes = [_ROUNDING * fsum(map(abs, row)) for row in summands]
    return Cells(*np.where(np.abs(totals) <= sizes, 0.0, totals).tolist())


def f1_loss(*, zero_division=0.0):
    """Return the F-measure that weighs recall and precision alike, by its own name."""
    return FBetaLoss(zero_division=zero_division)


# What each name stands for.
SET_LOSSES = {
    "am": AMLoss,
    "balanced_accuracy": BalancedAccuracyLoss,
    "f1": f1_loss,
    "f_beta": FBetaLoss,
    "g_mean": GMeanLoss,
    "g_tp_pr": GTPPRLoss,
    "h_mean": HMeanLoss,
    "hamming": HammingLoss,
    "jaccard": JaccardLoss,
}

# Options of losses, and their defaults.
_DEFAULTS = {"beta": 1.0, "zero_division": 0.0}


def check_set_loss(
    loss: SetLossLike, *, beta: float = 1.0, zero_division: float = 0.0
) -> SetLoss:
    """Turn what a user gives as the loss of a set into a :class:`SetLoss`.

    Parameters
    ----------
    loss : {"am", "balanced_accuracy", "f1", "f_beta", "g_mean", "g_tp_pr", \
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
    if not made._is_known:
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
