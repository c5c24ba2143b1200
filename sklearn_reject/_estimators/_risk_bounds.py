"""Bounds on parts: precision and recall, risk and failure rate of true classes."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from numbers import Real
from typing import NamedTuple

import numpy as np

from sklearn_reject._estimators._targets import Target
from sklearn_reject._short_repr import short_repr
from sklearn_reject._validation import check_number
from sklearn_reject.exceptions import InfeasibleTargetError
from sklearn_reject.losses import ZeroOneLoss
from sklearn_reject.selection import (
    measure_risk_bounds,
    solve_failure_bounds,
    solve_risk_bounds,
)

PRECISION, RECALL = "min_precision", "min_recall"
RISK, FAILURE_RATE = "target_risk", "target_failure_rate"

# What solvers, their certificates and errors call the risk that each bounds.
_RISK_NAMES = {PRECISION: "1 - precision", RECALL: "1 - recall"}
_RISK_NAMES |= {RISK: RISK, FAILURE_RATE: FAILURE_RATE}


class AchievedBound(NamedTuple):
    """What a rule achieves on the samples that solved it, beside what was asked for.

    Attributes
    ----------
    bound : float
        The bound asked for: at least it for a precision or recall, at most it for a
        risk or a failure rate.

    achieved : float
        The precision, recall or risk of what is accepted of the class, NaN where
        nothing is; or its failure rate, the mean loss of all its samples, zero where
        they are rejected, NaN where there is none.

    coverage : float
        Share of the class that is accepted, in [0, 1]; NaN where it has no sample.

    n_samples : int
        Number of samples of the class, true or predicted, accepted or not.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn_reject import SelectiveClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> selective = SelectiveClassifier(GaussianNB(), min_recall={0: 0.95, 1: 0.95})
    >>> selective = selective.fit(X, y)
    >>> found = selective.bounds_["min_recall", 0]
    >>> found.bound, round(found.achieved, 3), found.n_samples
    (0.95, 0.95, 212)
    """

    bound: float
    achieved: float
    coverage: float
    n_samples: int

    __repr__ = short_repr


@dataclass(frozen=True, eq=False)
class RiskBounds(Target):
    """Bounds on parts of what is accepted, all of them met by one threshold.

    `value` has the parameters and what they were given. What follows is known of the
    data: the bound of each class that has any, by parameter, and the calibration set.
    """

    by_class: dict | None = None
    calibration: object = None

    bounds_losses = True
    vacuous = "no rule has a larger risk in any class, so everything is accepted"

    @classmethod
    def of_params(cls, given):
        """Return the target of one or more parameters that ask for bounds."""
        return cls(tuple(given.items()))

    @property
    def values(self):
        """The mean loss that each bound allows."""
        return [
            _flip(name, bound)
            for name, bounds in self.by_class.items()
            for bound in bounds.values()
        ]

    @property
    def name(self):
        """The parameters."""
        return " and ".join(name for name, _ in self.value)

    def __str__(self):
        return ", ".join(f"{name}={value!r}" for name, value in self.value)

    def prepare(self, classes, loss):
        """Return the target with a bound for each class that has any."""
        for name, _ in self.value:
            if not _bounds_loss(name) and type(loss) is not ZeroOneLoss:
                raise ValueError(
                    f"{name} counts correct labels, but loss={loss!r} weighs them. Use "
                    "loss='zero_one', or bound the mean loss with target_risk."
                )
        by_class = {name: _of_classes(name, x, classes) for name, x in self.value}
        return replace(self, by_class=by_class)

    def bind(self, calibration):
        """Return the target with the true and the predicted classes of samples."""
        return replace(self, calibration=calibration)

    @property
    def bounds(self):
        """Labels and targets on the risk, as solvers take them."""
        found = {}
        for name, bounds in self.by_class.items():
            labels = self.calibration.labels
            if name == PRECISION:
                labels = self.calibration.predictions
            risks = {k: _flip(name, x) for k, x in bounds.items()}
            found[_RISK_NAMES[name]] = labels, risks
        return found

    def solve(self, samples, options):
        """Return the rule of largest coverage."""
        try:
            return solve_risk_bounds(bounds=self.bounds, **samples, **options)
        except InfeasibleTargetError as error:
            raise self._as_asked(error) from None

    def measure(self, rule):
        """Return what a rule achieves, by name of the parameter and class."""
        samples = self.calibration.samples
        found = measure_risk_bounds(rule, bounds=self.bounds, **samples)
        achieved = {}
        for name, bounds in self.by_class.items():
            for label, bound in bounds.items():
                each = found[_RISK_NAMES[name], label]
                achieved[name, label] = AchievedBound(
                    bound, self._achieved(name, each), each.coverage, each.n_samples
                )
        return achieved

    @staticmethod
    def _achieved(name, measured):
        """Return what is achieved of a bound, in its units."""
        return _flip(name, measured.risk)

    def _as_asked(self, error):
        """Return an error whose attainable risks are bounds, as they are asked for."""
        if not error.attainable or all(_bounds_loss(name) for name, _ in self.value):
            return error
        attainable = {}
        for name, _ in self.value:
            risks = error.attainable[_RISK_NAMES[name]]
            attainable[name] = {label: _flip(name, x) for label, x in risks.items()}
        if min(bound for each in attainable.values() for bound in each.values()) <= 0:
            return InfeasibleTargetError(error.problem, error.way_out)
        shown = [
            f"{name} of {label!r} {bound:.4g}"
            for name, each in attainable.items()
            for label, bound in each.items()
        ]
        return InfeasibleTargetError(
            f"{error.problem}. In terms of the bounds, what can be met together is "
            f"{_shorten(shown)}",
            error.way_out,
            attainable,
            error.coverage,
        )


class ClassFailureRates(RiskBounds):
    """Bounds on what is accepted and lost, of all samples of a true class.

    They hold given how many samples of each class there are.
    """

    holds_on_average = True
    vacuous = "no rule has a larger failure rate, so everything is accepted"

    def solve(self, samples, options):
        """Return the rule of largest coverage."""
        return solve_failure_bounds(bounds=self.bounds, **samples, **options)

    @staticmethod
    def _achieved(name, measured):
        return measured.failure_rate


def _flip(name, value):
    """Return the mean loss that a bound stands for, or the bound of a mean loss."""
    return value if _bounds_loss(name) else 1 - value


def _bounds_loss(name):
    """Tell whether a parameter bounds a mean loss, of every class if it is a number."""
    return name in (RISK, FAILURE_RATE)


def _of_classes(name, value, classes):
    """Return the bound of each class that has any."""
    limits = {"high": np.inf if _bounds_loss(name) else 1.0, "open_low": name != RISK}
    classes = np.asarray(classes).tolist()
    if not isinstance(value, Mapping):
        if not isinstance(value, Real):
            raise ValueError(
                f"{name} must be a number or a dict class -> bound, got {value!r}. "
                f"Pass for example {name}={{{classes[-1]!r}: 0.9}}."
            )
        value = check_number(value, name, **limits)
        return dict.fromkeys(_classes_of_number(name, value, classes), value)
    if not value:
        raise ValueError(
            f"{name} is an empty dict. Pass a dict class -> bound, or None."
        )
    unknown = [label for label in value if label not in classes]
    if unknown:
        raise ValueError(
            f"{name} has a bound for {unknown[0]!r}, which is not one of the classes "
            f"{_shorten([*map(repr, classes)])}. Use the labels of y as keys."
        )
    return {
        classes[classes.index(label)]: check_number(x, f"{name} of {label!r}", **limits)
        for label, x in value.items()
    }


def _classes_of_number(name, value, classes):
    """Return the classes that one number is for."""
    if _bounds_loss(name):
        return classes
    way_out = (
        f"Pass a dict class -> bound, for example {name}={{{classes[-1]!r}: {value:g}}}"
    )
    if len(classes) != 2:
        raise ValueError(
            f"{name}={value:g} is for the positive class of two, and there are "
            f"{len(classes)}: {_shorten([*map(repr, classes)])}. {way_out}."
        )
    # As in scikit-learn: of other labels the order does not tell which is meant.
    if classes not in ([0, 1], [-1, 1]):
        raise ValueError(
            f"{name}={value:g} is for the positive class, but it is unclear which of "
            f"{classes[0]!r} and {classes[1]!r} that is. Only for 0 and 1, -1 and 1, "
            f"or False and True it is the second one. {way_out}."
        )
    return classes[1:]


def _shorten(texts, most=6):
    shown = ", ".join(texts[:most])
    return f"{shown}, ..." if len(texts) > most else shown
