"""Losses of predicted sets, functions of the confusion matrix: one class each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from inspect import signature
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from sklearn_reject._typing import SetLossLike
from sklearn_reject._validation import check_number
from sklearn_reject.exceptions import warn_user

# A loss of a user is tried out on all tables of so many items.
_N_TRIED = 10

# What rounding may add to a loss, relative to the largest.
_ROUNDING = 1e-12


class Ratio(NamedTuple):
    """``weight * tp / ((size k + hit tp + miss fn)**power * k**size_power)``.

    It is a part of a score of the k predicted items. With `of_negatives` the classes
    change places: tn stands for tp, fp for fn, and k for what is not predicted.
    """

    weight: float = 1.0
    size: float = 0.0
    hit: float = 0.0
    miss: float = 1.0
    power: float = 1.0
    size_power: float = 0.0
    of_negatives: bool = False


TPR = Ratio(hit=1.0)
TNR = TPR._replace(of_negatives=True)


class SetLoss:
    """Loss of predicting a set, lower is better; in [0, 1] unless a user's.

    A class has a `score`, one minus the loss. Its expectation is the one of `ratios`,
    plus `score_of_absence`, if there are ratios.
    """

    #: Largest absolute value, zero if it is not known. Expected losses that differ by
    #: 1e-12 times as much, which may be rounding, are taken for equal.
    largest = 1.0
    #: Whether an item that is surely negative never makes a set better.
    spares_negatives = True
    #: Whether the expected loss is the loss of the expected counts.
    is_linear = False
    ratios: tuple[Ratio, ...] = ()

    def __call__(self, tp, fp, fn, tn):
        """Return the loss of each confusion matrix."""
        counts = (np.asarray(count, dtype=np.float64) for count in (tp, fp, fn, tn))
        return 1 - self.score(*counts)

    def score_of_absence(self, k, n):
        """Return what no positive, and what no negative among n items adds to ratios.

        That is the score of 0/0, `zero_division`.
        """
        return self.zero_division * (k == 0), 0.0 * k


@dataclass(frozen=True)
class FBetaLoss(SetLoss):
    """One minus the F-measure.

    ``1 - (1 + beta**2) tp / ((1 + beta**2) tp + beta**2 fn + fp)``.
    """

    beta: float = 1.0
    zero_division: float = 0.0

    @property
    def ratios(self):
        square = self.beta**2
        return (Ratio(1 + square, size=1.0, hit=square, miss=square),)

    def score(self, tp, fp, fn, tn):
        square = self.beta**2
        score = (1 + square) * tp
        score = _divide(score, score + square * fn + fp, 0.0)
        return np.where(tp + fp + fn == 0, self.zero_division, score)


@dataclass(frozen=True)
class JaccardLoss(SetLoss):
    """One minus intersection over union, ``1 - tp / (tp + fp + fn)``."""

    zero_division: float = 0.0
    ratios = (Ratio(size=1.0),)

    def score(self, tp, fp, fn, tn):
        return _divide(tp, tp + fp + fn, self.zero_division)


@dataclass(frozen=True)
class AMLoss(SetLoss):
    """One minus the arithmetic mean of TPR and TNR.

    The rate of a class that is absent is `zero_division`.
    """

    zero_division: float = 0.0
    ratios = (TPR._replace(weight=0.5), TNR._replace(weight=0.5))

    def score_of_absence(self, k, n):
        return (self.zero_division / 2 + 0.0 * k,) * 2

    def score(self, tp, fp, fn, tn):
        return sum(_rates(tp, fp, fn, tn, self.zero_division)) / 2


@dataclass(frozen=True)
class BalancedAccuracyLoss(SetLoss):
    """One minus the mean rate of the classes that are there, as in scikit-learn."""

    ratios = AMLoss.ratios

    def score_of_absence(self, k, n):
        return (n - k) / (2 * n), k / (2 * n)

    def score(self, tp, fp, fn, tn):
        n_classes = 1.0 * (tp + fn > 0) + (tn + fp > 0)
        return _divide(sum(_rates(tp, fp, fn, tn, 0.0)), n_classes, 0.0)


@dataclass(frozen=True)
class GTPPRLoss(SetLoss):
    """One minus the geometric mean of recall and precision, G-TP/PR."""

    zero_division: float = 0.0
    ratios = (Ratio(hit=1.0, power=0.5, size_power=0.5),)

    def score(self, tp, fp, fn, tn):
        both_empty = (tp + fn == 0) & (tp + fp == 0)
        score = _divide(tp, np.sqrt((tp + fn) * (tp + fp)), 0.0)
        return np.where(both_empty, self.zero_division, score)


@dataclass(frozen=True)
class GMeanLoss(SetLoss):
    """One minus the geometric mean of TPR and TNR.

    The rate of a class that is absent is `zero_division`.
    """

    zero_division: float = 0.0

    def score_of_absence(self, k, n):
        z = self.zero_division
        return np.sqrt(z * (n - k) / n), np.sqrt(z * k / n)

    def score(self, tp, fp, fn, tn):
        tpr, tnr = _rates(tp, fp, fn, tn, self.zero_division)
        return np.sqrt(tpr * tnr)


@dataclass(frozen=True)
class HammingLoss(SetLoss):
    """Share of the items that are predicted wrongly."""

    is_linear = True

    def __call__(self, tp, fp, fn, tn):
        return _divide(fp + fn, 1.0 * (tp + fp + fn + tn), 0.0)


def _divide(numerator, denominator, otherwise):
    """Divide, and return `otherwise` where the denominator is zero."""
    shape = np.broadcast_shapes(np.shape(numerator), np.shape(denominator))
    quotient = np.full(shape, float(otherwise))
    return np.divide(numerator, denominator, out=quotient, where=denominator > 0)


def _rates(tp, fp, fn, tn, otherwise):
    """Return TPR and TNR."""
    return _divide(tp, tp + fn, otherwise), _divide(tn, tn + fp, otherwise)


@dataclass(frozen=True)
class CallableSetLoss(SetLoss):
    """A user's function of arrays tp, fp, fn and tn, which it gets by these names."""

    function: Callable[..., Any]
    largest = 0.0
    spares_negatives = False

    def __call__(self, tp, fp, fn, tn):
        # Copies of one shape, as a function may well work in place.
        counts = {"tp": tp, "fp": fp, "fn": fn, "tn": tn}
        shape = np.broadcast_shapes(*map(np.shape, counts.values()))
        for name, count in counts.items():
            counts[name] = np.empty(shape)
            counts[name][...] = count
        losses = np.asarray(self.function(**counts))
        if losses.shape != shape or losses.dtype.kind not in "biuf":
            raise ValueError(
                f"loss={self.function!r} must return one number for each confusion "
                f"matrix, shape {shape}, got shape {losses.shape} and dtype "
                f"{losses.dtype}. Use operations on whole arrays."
            )
        if not np.isfinite(losses).all():
            odd = losses[~np.isfinite(losses)][0]
            raise ValueError(
                f"loss={self.function!r} must return finite numbers, got {odd}. Define "
                "the value of 0/0, for example with `np.divide(..., where=...)`."
            )
        return losses.astype(np.float64)


# What each name stands for, and the options that it takes.
SET_LOSSES = {
    "am": (AMLoss, ["zero_division"]),
    "balanced_accuracy": (BalancedAccuracyLoss, []),
    "f1": (FBetaLoss, ["zero_division"]),
    "f_beta": (FBetaLoss, ["beta", "zero_division"]),
    "g_mean": (GMeanLoss, ["zero_division"]),
    "g_tp_pr": (GTPPRLoss, ["zero_division"]),
    "hamming": (HammingLoss, []),
    "jaccard": (JaccardLoss, ["zero_division"]),
}
_DEFAULTS = {"beta": 1.0, "zero_division": 0.0}


def check_set_loss(
    loss: SetLossLike, *, beta: float = 1.0, zero_division: float = 0.0
) -> SetLoss:
    """Turn what a user gives as the loss of a set into a loss object."""
    given = {
        "beta": check_number(beta, "beta", high=1e6, open_low=True),
        "zero_division": check_number(zero_division, "zero_division", high=1.0),
    }
    kind, options = None, []
    if isinstance(loss, str) and loss in SET_LOSSES:
        kind, options = SET_LOSSES[loss]
    elif isinstance(loss, type) or not callable(loss):
        raise ValueError(
            f"loss must be one of {sorted(SET_LOSSES)} or a function of (tp, fp, fn, "
            f"tn), got {loss!r}."
        )
    for name, default in _DEFAULTS.items():
        if given[name] != default and name not in options:
            raise ValueError(
                f"{name}={given[name]!r} is not used by loss={loss!r}: only 'f_beta' "
                "takes beta, and losses that are never 0/0 and functions take no "
                f"zero_division. Set {name} to {default:g}."
            )
    if kind is not None:
        return kind(**{name: given[name] for name in options})
    return loss if isinstance(loss, SetLoss) else _try_out(loss)


def _try_out(function):
    """Return the loss of a function, after trying it out.

    Warn if it rises where a false positive and a false negative change places: then the
    best set may not consist of the most probable items.
    """
    try:
        signature(function).bind(tp=0, fp=0, fn=0, tn=0)
    except TypeError as error:
        raise ValueError(
            f"loss={function!r} must be a function of the counts tp, fp, fn and tn, "
            "which it gets by these names, and lower must be better, but: "
            f"{error}. Pass such a function, or a name such as 'f1'."
        ) from error
    except ValueError:  # such as functions written in C
        pass
    loss = CallableSetLoss(function)
    tables = product(range(_N_TRIED + 1), repeat=3)
    counts = np.array([(*three, _N_TRIED - sum(three)) for three in tables]).T
    counts = counts[:, counts[3] >= 0]
    before = loss(*counts)
    can_swap = (counts[1] > 0) & (counts[2] > 0)
    after = loss(*(counts[:, can_swap] + [[1], [-1], [-1], [1]]))
    change = after - before[can_swap]
    change[np.abs(change) <= _ROUNDING * np.abs(before).max()] = 0.0
    if change.max() > 0:
        hint = (
            " It never falls, as a score. Lower must be better, so pass one minus it."
        )
        warn_user(
            f"loss={function!r} rises with true positives for some numbers of "
            "predicted and of positive items. The returned set, the k most probable "
            f"items, may then not be the best one.{hint if change.min() >= 0 else ''}"
        )
    return loss
