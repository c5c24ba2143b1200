"""Set losses that have a name, and how to find one."""

from inspect import signature
from math import fsum

import numpy as np

from sklearn_reject._validation import check_number
from sklearn_reject.losses._frames import refuse_labels
from sklearn_reject.losses._set_loss import (
    SET_LOSSES,
    Absence,
    CallableSetLoss,
    Cells,
    Expansion,
    Ratio,
    SetLoss,
    falls_with_tp,
    warn_of_other_optima,
)

_PREDICTED = Cells(tp=1.0, fp=1.0)
_POSITIVE = Cells(tp=1.0, fn=1.0)
_NEGATIVE = Cells(fp=1.0, tn=1.0)
_TRUE_POSITIVE = Cells(tp=1.0)
_TRUE_NEGATIVE = Cells(tn=1.0)
_RELEVANT = Cells(tp=1.0, fp=1.0, fn=1.0)


class _BoundedLoss(SetLoss):
    """A loss within [0, 1] that no wrong prediction makes better."""

    largest = 1.0
    spares_negatives = True


class _TotalLoss(_BoundedLoss):
    """A loss that is defined for all counts, without a choice of what 0/0 is."""

    def __init__(self):
        super().__init__()


class FBetaLoss(_BoundedLoss):
    """One minus the F-measure.

    ``1 - (1 + beta**2) tp / ((1 + beta**2) tp + beta**2 fn + fp)``, in [0, 1].

    Parameters
    ----------
    beta : float > 0, default=1.0
        Weight of recall against precision: 1 weighs them alike, 2 favours recall.

    zero_division : float in [0, 1], default=0.0
        The F-measure where nothing is positive and nothing predicted.

    Examples
    --------
    >>> from sklearn_reject.losses import FBetaLoss
    >>> round(float(FBetaLoss()(tp=2, fp=1, fn=1, tn=6)), 3)
    0.333
    """

    name = "f_beta"

    def __init__(self, beta=1.0, *, zero_division=0.0):
        super().__init__(zero_division=zero_division)
        self.beta = check_number(beta, "beta", high=1e6, open_low=True)

    def _expansion(self, n_items):
        square = self.beta**2
        denominator = Cells(tp=1 + square, fp=1.0, fn=square)
        ratio = Ratio(-(1 + square), _TRUE_POSITIVE, denominator)
        return Expansion(1.0, (ratio,), (Absence(_RELEVANT, -self.zero_division),))

    def _losses(self, tp, fp, fn, tn):
        square = self.beta**2
        score = (1 + square) * tp
        score = _divide(score, score + square * fn + fp, 0.0)
        return 1 - np.where(tp + fp + fn == 0, self.zero_division, score)


class JaccardLoss(_BoundedLoss):
    """One minus the Jaccard index, intersection over union.

    ``1 - tp / (tp + fp + fn)``, in [0, 1].

    Parameters
    ----------
    zero_division : float in [0, 1], default=0.0
        The index where nothing is positive and nothing predicted.

    Examples
    --------
    >>> from sklearn_reject.losses import JaccardLoss
    >>> float(JaccardLoss()(tp=2, fp=1, fn=1, tn=6))
    0.5
    """

    name = "jaccard"

    def _expansion(self, n_items):
        ratio = Ratio(-1.0, _TRUE_POSITIVE, _RELEVANT)
        return Expansion(1.0, (ratio,), (Absence(_RELEVANT, -self.zero_division),))

    def _losses(self, tp, fp, fn, tn):
        return 1 - _divide(tp, tp + fp + fn, self.zero_division)


class AMLoss(_BoundedLoss):
    """One minus the arithmetic mean of TPR and TNR.

    ``1 - (tp / (tp + fn) + tn / (tn + fp)) / 2``, in [0, 1]; the balanced error.

    Parameters
    ----------
    zero_division : float in [0, 1], default=0.0
        The rate of a class that is absent. :class:`BalancedAccuracyLoss` leaves it out
        of the mean instead.

    Examples
    --------
    >>> from sklearn_reject.losses import AMLoss
    >>> float(AMLoss()(tp=2, fp=1, fn=2, tn=3))
    0.375
    """

    name = "am"

    def _expansion(self, n_items):
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
    >>> from sklearn_reject.losses import BalancedAccuracyLoss
    >>> BalancedAccuracyLoss()(tp=[2, 0], fp=1, fn=[2, 0], tn=3)
    array([0.375, 0.25 ])
    """

    name = "balanced_accuracy"

    def _expansion(self, n_items):
        slope = 1 / (2 * n_items)
        absences = Absence(_POSITIVE, -0.5, slope), Absence(_NEGATIVE, 0.0, -slope)
        return Expansion(1.0, _HALVES_OF_RATES, absences)

    def _losses(self, tp, fp, fn, tn):
        tpr, tnr = _rates(tp, fp, fn, tn, 0.0)
        n_classes = 1.0 * (tp + fn > 0) + (tn + fp > 0)
        return 1 - _divide(tpr + tnr, n_classes, 0.0)


class GTPPRLoss(_BoundedLoss):
    """One minus the geometric mean of TPR (recall) and precision, G-TP/PR.

    ``1 - tp / sqrt((tp + fn) (tp + fp))``, in [0, 1].

    Parameters
    ----------
    zero_division : float in [0, 1], default=0.0
        The mean where nothing is positive and nothing predicted.

    Examples
    --------
    >>> from sklearn_reject.losses import GTPPRLoss
    >>> round(float(GTPPRLoss()(tp=2, fp=2, fn=0, tn=6)), 3)
    0.293
    """

    name = "g_tp_pr"

    def _expansion(self, n_items):
        ratio = Ratio(-1.0, _TRUE_POSITIVE, _POSITIVE, power=0.5, size_power=0.5)
        return Expansion(1.0, (ratio,), (Absence(_RELEVANT, -self.zero_division),))

    def _losses(self, tp, fp, fn, tn):
        both_empty = (tp + fn == 0) & (tp + fp == 0)
        score = _divide(tp, np.sqrt((tp + fn) * (tp + fp)), 0.0)
        return 1 - np.where(both_empty, self.zero_division, score)


class _MeanOfRates(_BoundedLoss):
    """One minus a concave mean of TPR and TNR; a subclass writes `_mean`."""

    is_mean_of_rates = True

    def mean_of_rates(self, tpr, tnr):
        """Return the mean of two rates, the score.

        Parameters
        ----------
        tpr, tnr : ndarray of one shape
            Rates, in [0, 1].

        Returns
        -------
        score : ndarray of that shape
            Higher is better. Of expected rates it is an upper bound of the expected
            score, by Jensen's inequality.
        """
        return self._mean(tpr, tnr)

    def _losses(self, tp, fp, fn, tn):
        return 1 - self._mean(*_rates(tp, fp, fn, tn, self.zero_division))


class GMeanLoss(_MeanOfRates):
    """One minus the geometric mean of TPR and TNR.

    ``1 - sqrt(tp / (tp + fn) tn / (tn + fp))``, in [0, 1].

    Parameters
    ----------
    zero_division : float in [0, 1], default=0.0
        The rate of a class that is absent.

    Examples
    --------
    >>> from sklearn_reject.losses import GMeanLoss
    >>> float(GMeanLoss()(tp=1, fp=3, fn=3, tn=1))
    0.75
    """

    name = "g_mean"

    def _mean(self, tpr, tnr):
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
    >>> from sklearn_reject.losses import HMeanLoss
    >>> float(HMeanLoss()(tp=1, fp=3, fn=3, tn=1))
    0.75
    """

    name = "h_mean"

    def _mean(self, tpr, tnr):
        return _divide(2 * tpr * tnr, tpr + tnr, 0.0)


class HammingLoss(_TotalLoss):
    """Share of the items that are predicted wrongly.

    ``(fp + fn) / n``, in [0, 1], as :func:`sklearn.metrics.hamming_loss` has it. The
    best set has the items that are more likely positive than not.

    Examples
    --------
    >>> from sklearn_reject.losses import HammingLoss
    >>> float(HammingLoss()(tp=2, fp=1, fn=1, tn=6))
    0.2
    """

    name = "hamming"

    def _expansion(self, n_items):
        wrong = Cells(fp=1.0, fn=1.0)
        return Expansion(0.0, (Ratio(1.0, wrong, Cells(1.0, 1.0, 1.0, 1.0)),))

    def _losses(self, tp, fp, fn, tn):
        return _divide(fp + fn, tp + fp + fn + tn, 0.0)


class AUCLoss(_BoundedLoss):
    """Product of the two error rates.

    ``fp fn / ((tp + fn) (fp + tn))``, in [0, 1]. It is zero where nothing or everything
    is predicted, so that a best set needs bounds on its size that exclude both.

    Parameters
    ----------
    zero_division : float in [0, 1], default=0.0
        One minus the error rate of a class that is absent.

    Examples
    --------
    >>> from sklearn_reject.losses import AUCLoss
    >>> float(AUCLoss()(tp=1, fp=1, fn=1, tn=1))
    0.25
    """

    name = "auc"

    needs_bounds = ("min_positive", "max_positive")

    def _expansion(self, n_items):
        false_positive, false_negative = Cells(fp=1.0), Cells(fn=1.0)
        ratios = tuple(
            Ratio(1 / n_items, false_positive, of_class, factor=false_negative)
            for of_class in (_POSITIVE, _NEGATIVE)
        )
        error = 1 - self.zero_division
        absences = (
            Absence(_POSITIVE, 0.0, error / n_items),
            Absence(_NEGATIVE, error, -error / n_items),
        )
        return Expansion(0.0, ratios, absences)

    def _losses(self, tp, fp, fn, tn):
        tpr, tnr = _rates(tp, fp, fn, tn, self.zero_division)
        return (1 - tpr) * (1 - tnr)


class PrecisionLoss(_BoundedLoss):
    """One minus precision, ``fp / (tp + fp)``, in [0, 1].

    The most probable item alone is best, so that a best set needs a least size.

    Parameters
    ----------
    zero_division : float in [0, 1], default=0.0
        The precision where nothing is predicted.

    Examples
    --------
    >>> from sklearn_reject.losses import PrecisionLoss
    >>> float(PrecisionLoss()(tp=3, fp=1, fn=1, tn=1))
    0.25
    """

    name = "precision"

    needs_bounds = ("min_positive",)

    def _expansion(self, n_items):
        ratio = Ratio(-1.0, _TRUE_POSITIVE, _PREDICTED)
        return Expansion(1.0, (ratio,), (Absence(_PREDICTED, -self.zero_division),))

    def _losses(self, tp, fp, fn, tn):
        return 1 - _divide(tp, tp + fp, self.zero_division)


class RecallLoss(_BoundedLoss):
    """One minus recall (TPR), ``fn / (tp + fn)``, in [0, 1].

    All items together are best, so that a best set needs a largest size.

    Parameters
    ----------
    zero_division : float in [0, 1], default=0.0
        The recall where nothing is positive.

    Examples
    --------
    >>> from sklearn_reject.losses import RecallLoss
    >>> float(RecallLoss()(tp=3, fp=2, fn=1, tn=1))
    0.25
    """

    name = "recall"

    needs_bounds = ("max_positive",)

    def _expansion(self, n_items):
        ratio = Ratio(-1.0, _TRUE_POSITIVE, _POSITIVE)
        return Expansion(1.0, (ratio,), (Absence(_POSITIVE, -self.zero_division),))

    def _losses(self, tp, fp, fn, tn):
        return 1 - _divide(tp, tp + fn, self.zero_division)


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
        self._check_denominator()
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

    def _check_denominator(self):
        """Raise unless each cell adds to it, or neither to the numerator."""
        cells = zip(Cells._fields, self._above, self._below, strict=True)
        for name, above, below in cells:
            if below < 0 or (below == 0 and above != 0):
                raise ValueError(
                    f"denominator must be positive, but is {below:g} for a set of "
                    f"nothing but {name} items, where the numerator is {above:g}. "
                    "Change the constants so that both are zero there, or the "
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


def _as_constants(values, shape, name):
    """Return an array of floats, None where it is none of that shape."""
    refuse_labels(values, name, "the constants of (1, u, v, p)")
    try:
        array = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        return None
    return array if array.shape == shape else None


def _check_constants(values, name):
    constants = _as_constants(values, (4,), name)
    if constants is None or not np.isfinite(constants).all():
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


def f1_loss(*, zero_division=0.0):
    """Return the F-measure that weighs recall and precision alike, by its own name."""
    return FBetaLoss(zero_division=zero_division)


SET_LOSSES["f1"] = f1_loss


def _options_of(loss):
    """Return which of `beta` and `zero_division` a loss by name takes."""
    if not isinstance(loss, str) or loss not in SET_LOSSES:
        return set()
    return {"beta", "zero_division"} & signature(SET_LOSSES[loss]).parameters.keys()


def check_set_loss(loss, *, beta=1.0, zero_division=0.0):
    """Turn what a user gives as the loss of a set into a :class:`SetLoss`.

    Parameters
    ----------
    loss : {"am", "auc", "balanced_accuracy", "f1", "f_beta", "g_mean", "g_tp_pr", \
            "h_mean", "hamming", "jaccard", "precision", "recall"}, array-like of \
            shape (2, 4), callable or SetLoss
        A name, the constants of numerator and denominator of a
        :class:`FractionalLinearLoss`, or a function of (tp, fp, fn, tn).

    beta : float > 0, default=1.0
        Weight of recall in "f_beta".

    zero_division : float in [0, 1], default=0.0
        What a score is where it is 0/0. A callable and a SetLoss have their own way.

    Returns
    -------
    loss : SetLoss
        The loss object.

    Raises
    ------
    ValueError
        If the name is unknown, `beta` is not positive, or is given for another loss
        than "f_beta", `zero_division` not in [0, 1], or the constants do not make a
        loss.

    Examples
    --------
    >>> from sklearn_reject.losses import check_set_loss
    >>> check_set_loss("f_beta", beta=2.0)
    FBetaLoss(beta=2.0, zero_division=0.0)
    >>> loss = check_set_loss([[0, -2, 1, 1], [0, -1, 1, 1]])
    >>> float(loss(tp=2, fp=1, fn=1, tn=6))
    0.5
    """
    FBetaLoss(beta, zero_division=zero_division)  # checks both, used or not
    taken = _options_of(loss)
    if beta != 1 and "beta" not in taken:
        raise ValueError(
            f"beta={beta!r} is of the loss 'f_beta' alone, got loss={loss!r}. Pass "
            "loss='f_beta' as well, or leave beta at 1."
        )
    if isinstance(loss, SetLoss):
        return loss
    if isinstance(loss, str) and loss in SET_LOSSES:
        options = {"beta": beta, "zero_division": zero_division}
        return SET_LOSSES[loss](**{name: options[name] for name in taken})
    if isinstance(loss, str) and loss == "zero_one":
        raise ValueError(
            "loss='zero_one' is the loss of a whole set in scikit-learn, one wherever "
            "any item is wrong, which is not a loss here. Pass 'hamming' for the share "
            "of wrong items, or for whole sets a function, "
            "`lambda tp, fp, fn, tn: 1.0 * (fp + fn > 0)`."
        )
    if callable(loss) and not isinstance(loss, type):
        return CallableSetLoss(loss)
    constants = _as_constants(loss, (2, 4), "loss")
    if constants is None:
        raise ValueError(
            f"loss must be one of {sorted(SET_LOSSES)}, the constants of a "
            "fractional-linear loss in an array of shape (2, 4), a callable of "
            f"(tp, fp, fn, tn) or a SetLoss, got {loss!r}."
        )
    return FractionalLinearLoss(*constants, zero_division=zero_division)
