"""Set losses that have a name."""

from __future__ import annotations

import numpy as np

from sklearn_reject._validation import check_number
from sklearn_reject.losses._set_loss import (
    KNOWN,
    Absence,
    Cells,
    Expansion,
    Ratio,
    SetLoss,
)

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

    def _expansion(self, n_items):
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
    >>> from sklearn_reject.losses import check_set_loss
    >>> check_set_loss("balanced_accuracy")(tp=[2, 0], fp=1, fn=[2, 0], tn=3)
    array([0.375, 0.25 ])
    """

    def _expansion(self, n_items):
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

    def _expansion(self, n_items):
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

    def _expansion(self, n_items):
        wrong = Cells(fp=1.0, fn=1.0)
        return Expansion(0.0, (Ratio(1.0, wrong, Cells(1.0, 1.0, 1.0, 1.0)),))

    def _losses(self, tp, fp, fn, tn):
        return _divide(fp + fn, tp + fp + fn + tn, 0.0)


class AUCLoss(_NamedLoss):
    """Product of the two error rates.

    ``fp fn / ((tp + fn) (fp + tn))``, in [0, 1]. It is zero where nothing or everything
    is predicted, so that a best set needs bounds on its size that exclude both.

    Parameters
    ----------
    zero_division : float in [0, 1], default=0.0
        One minus the error rate of a class that is absent.

    Examples
    --------
    >>> from sklearn_reject.losses import check_set_loss
    >>> float(check_set_loss("auc")(tp=1, fp=1, fn=1, tn=1))
    0.25
    """

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


def f1_loss(*, zero_division=0.0):
    """Return the F-measure that weighs recall and precision alike, by its own name."""
    return FBetaLoss(zero_division=zero_division)


# What each name stands for.
SET_LOSSES = {
    "am": AMLoss,
    "auc": AUCLoss,
    "balanced_accuracy": BalancedAccuracyLoss,
    "f1": f1_loss,
    "f_beta": FBetaLoss,
    "g_mean": GMeanLoss,
    "g_tp_pr": GTPPRLoss,
    "h_mean": HMeanLoss,
    "hamming": HammingLoss,
    "jaccard": JaccardLoss,
}

KNOWN.update(SET_LOSSES.values())
