"""What an estimator may be asked for: a target, and the rule that meets it.

A new target of the selective estimators is one class here, an entry in
`SELECTIVE_TARGETS`, and a parameter of the estimators.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from numbers import Real
from typing import NamedTuple

import numpy as np
from sklearn.base import ClassifierMixin

from sklearn_reject._estimators._groups import TRUE_CLASS, is_word
from sklearn_reject._short_repr import short_repr
from sklearn_reject._validation import check_number
from sklearn_reject.exceptions import InfeasibleTargetError
from sklearn_reject.losses import ZeroOneLoss
from sklearn_reject.selection import (
    measure_risk_bounds,
    solve_deferral,
    solve_failure_bounds,
    solve_reject_cost,
    solve_risk_bounds,
    solve_target_coverage,
    solve_target_failure_rate,
    solve_target_risk,
    targets_by_group,
)


@dataclass(frozen=True)
class Target:
    """What is asked for: the value of the parameter called `name`.

    A dict of group to value asks for one in each group. Each target has a `solver`,
    which gets the samples of a calibration set and options, and returns the rule.
    """

    value: float | dict

    name = None
    # What a report calls it, its sense, and what a rule calls what it achieves of it.
    quantity, sense, achieved = None, "<=", None
    # The range of the value.
    high = np.inf
    open_low = False
    # Whether a confidence can be had.
    can_be_certified = True
    # Whether a certificate rests on the largest loss.
    bounds_losses = False
    # Whether that is so without a confidence, too, as something holds on average.
    holds_on_average = False
    # Whether it can be promised of rows that count unequally or are in clusters.
    takes_units = False
    # Whether samples held out for that must not be drawn class by class.
    needs_equal_draws = False
    # What a value that no loss is above leads to, None where it means nothing.
    vacuous = None
    solver = None
    # What can be certified, on samples that these parts have not seen, and another way.
    promises = "a target_risk, a target_coverage or a target_failure_rate"
    parts = "the estimator nor the uncertainty score"
    way_out = "wrap what was fitted on other samples in FrozenEstimator"

    @classmethod
    def check(cls, value):
        """Return the target of a value in range."""
        limits = {"high": cls.high, "open_low": cls.open_low}
        if not isinstance(value, Mapping):
            return cls(check_number(value, cls.name, **limits))
        names = {label: f"{cls.name} of the group {label!r}" for label in value}
        return cls({k: check_number(value[k], names[k], **limits) for k in value})

    def by_group(self, labels):
        """Return the target of each of some groups."""
        values = targets_by_group(self.value, labels, self.name)
        return {label: type(self)(value) for label, value in values.items()}

    @property
    def values(self):
        """All that are asked for, one or more."""
        is_by_group = isinstance(self.value, Mapping)
        return list(self.value.values()) if is_by_group else [self.value]

    @classmethod
    def of_params(cls, given):
        """Return the target of the parameters, by name, that ask for it."""
        [value] = given.values()
        return cls.check(value)

    def __str__(self):
        if isinstance(self.value, Mapping):
            return f"{self.name}={self.value!r}"
        return f"{self.name}={self.value:g}"

    def of_true_classes(self):
        """Return the same of each true class, which share a rule, or raise."""
        raise ValueError(
            "group_by='class' is for a target_risk or target_failure_rate, which one "
            f"rule can meet for each true class, got {self}. Pass one of these, or "
            "group_by='prediction', as true classes are unknown when predicting."
        )

    def prepare(self, classes, loss):
        """Return the target with what it needs to know of the classes, None if none."""
        return self

    def solve(self, samples, options):
        """Return the best rule for some samples."""
        return self.solver(target=self.value, **samples, **options)

    def bind(self, calibration):
        """Return the target with what it needs to know of the calibration set."""
        return self

    def achieved_by(self, rule):
        """Return what a rule achieves of it on the samples that solved it."""
        return getattr(rule, self.achieved)

    def measure(self, rule):
        """Return what a rule achieves of several bounds, None where there is one."""
        return None


class RejectCost(Target):
    """The cost of rejecting a sample."""

    name = "reject_cost"
    quantity, sense, achieved = "cost", "", "cost"
    can_be_certified = False
    vacuous = "nothing costs more than rejecting, so everything is accepted"
    solver = staticmethod(solve_reject_cost)

    def achieved_by(self, rule):
        """Return what a rule costs on the samples that solved it."""
        return rule.failure_rate + (1 - rule.coverage) * self.value


class TargetRisk(Target):
    """A bound on the mean loss of what is accepted."""

    name = "target_risk"
    quantity, achieved = "risk", "selective_risk"
    bounds_losses = True
    takes_units = True
    vacuous = "no rule has a larger risk, so everything is accepted"
    solver = staticmethod(solve_target_risk)

    def of_true_classes(self):
        """Return a bound on the risk of each."""
        return RiskBounds(((self.name, self.value),))


class TargetCoverage(Target):
    """The share of samples to accept."""

    name = "target_coverage"
    quantity, sense, achieved = "coverage", ">=", "coverage"
    high = 1.0
    open_low = True
    solver = staticmethod(solve_target_coverage)


class TargetFailureRate(Target):
    """A bound on the mean loss of all samples, zero where they are rejected."""

    name = "target_failure_rate"
    quantity, achieved = "failure rate", "failure_rate"
    open_low = True
    bounds_losses = True
    holds_on_average = True
    needs_equal_draws = True
    takes_units = True
    vacuous = "no rule has a larger failure rate, so everything is accepted"
    solver = staticmethod(solve_target_failure_rate)

    def of_true_classes(self):
        """Return a bound on the failure rate of each."""
        return ClassFailureRates(((self.name, self.value),))


class DeferralTarget(Target):
    """What is asked of a second opinion."""

    promises = "a target_risk or a max_deferral"
    parts = "the estimator, the expert nor the gain score"
    way_out = (
        "wrap estimators that were fitted on other samples in FrozenEstimator and use "
        "gain_score='confidence', which is not learned"
    )

    def of_true_classes(self):
        """Raise: they are unknown when predicting."""
        raise ValueError(
            "group_by='class' is for true classes, which are unknown when predicting. "
            "Pass 'prediction', a column, or a callable that computes groups from X."
        )

    def solve(self, samples, options):
        """Return the rule of least risk, least cost or fewest questions."""
        return solve_deferral(**samples, **{self.name: self.value}, **options)


class DeferralCost(DeferralTarget):
    """The cost of asking the expert about a sample."""

    name = "deferral_cost"
    quantity, sense, achieved = "cost", "", "cost"
    can_be_certified = False
    vacuous = "no answer of the expert is worth more, so nothing is deferred"

    def achieved_by(self, rule):
        """Return what a rule costs on the samples that solved it."""
        return rule.system_risk + self.value * rule.deferral_rate


class MaxDeferral(DeferralTarget):
    """The largest share of samples to ask the expert about."""

    name = "max_deferral"
    quantity, achieved = "deferral rate", "deferral_rate"
    high = 1.0


class SystemRisk(DeferralTarget):
    """A bound on the mean loss of whoever answers."""

    name = "target_risk"
    quantity, achieved = "risk", "system_risk"
    bounds_losses = True
    takes_units = True
    vacuous = "no rule has a larger risk, so nothing is deferred"


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
    data: each parameter, class and its bound, and the calibration set.
    """

    asked: tuple = ()
    calibration: object = None

    bounds_losses = True
    vacuous = "no rule has a larger risk in any class, so everything is accepted"
    takes_units = True
    solver = staticmethod(solve_risk_bounds)
    measured = "risk"

    @classmethod
    def of_params(cls, given):
        """Return the target of one or more parameters that ask for bounds."""
        return cls(tuple(given.items()))

    @property
    def values(self):
        """The mean loss that each bound allows."""
        return [_flip(name, bound) for name, _, bound in self.asked]

    @property
    def name(self):
        """The parameters."""
        return " and ".join(name for name, _ in self.value)

    def __str__(self):
        return ", ".join(f"{name}={value!r}" for name, value in self.value)

    def of_true_classes(self):
        """Raise: true classes have bounds of their own."""
        raise ValueError(
            f"group_by='class' cannot be combined with {self}, of which a min_recall "
            "bounds true classes already. Pass group_by=None."
        )

    def prepare(self, classes, loss):
        """Return the target with a bound for each class that has any."""
        for name, _ in self.value:
            if not _bounds_loss(name) and type(loss) is not ZeroOneLoss:
                raise ValueError(
                    f"{name} counts correct labels, but loss={loss!r} weighs them. Use "
                    "loss='zero_one', or bound the mean loss with target_risk."
                )
        by_class = {name: _of_classes(name, x, classes) for name, x in self.value}
        asked = [(n, label, x) for n in by_class for label, x in by_class[n].items()]
        return replace(self, asked=tuple(asked))

    def bind(self, calibration):
        """Return the target with the true and the predicted classes of samples."""
        return replace(self, calibration=calibration)

    @property
    def bounds(self):
        """Labels and targets on the risk, as solvers take them."""
        found, known = {}, self.calibration
        for name, label, bound in self.asked:
            labels = known.predictions if name == PRECISION else known.labels
            _, risks = found.setdefault(_RISK_NAMES[name], (labels, {}))
            risks[label] = _flip(name, bound)
        return found

    def solve(self, samples, options):
        """Return the rule of largest coverage."""
        try:
            return self.solver(bounds=self.bounds, **samples, **options)
        except InfeasibleTargetError as error:
            raise self._as_asked(error) from None

    def measure(self, rule):
        """Return what a rule achieves, by name of the parameter and class."""
        samples = self.calibration.samples
        found = measure_risk_bounds(rule, bounds=self.bounds, **samples)
        achieved = {}
        for name, label, bound in self.asked:
            each = found[_RISK_NAMES[name], label]
            value = _flip(name, getattr(each, self.measured))
            known = value, each.coverage, each.n_samples
            achieved[name, label] = AchievedBound(bound, *known)
        return achieved

    def _as_asked(self, error):
        """Return an error whose attainable risks are bounds, as they are asked for."""
        if not error.attainable or all(_bounds_loss(name) for name, _ in self.value):
            return error
        attainable = {
            name: {
                label: _flip(name, risk)
                for label, risk in error.attainable[_RISK_NAMES[name]].items()
            }
            for name, _ in self.value
        }
        if min(bound for each in attainable.values() for bound in each.values()) <= 0:
            return InfeasibleTargetError(error.problem, error.way_out)
        problem = f"{error.problem}. As bounds: {attainable}"
        return InfeasibleTargetError(problem, error.way_out, attainable, error.coverage)


class ClassFailureRates(RiskBounds):
    """Bounds on what is accepted and lost, of all samples of a true class.

    They hold given how many samples of each class there are.
    """

    holds_on_average = True
    takes_units = False
    vacuous = "no rule has a larger failure rate, so everything is accepted"
    solver = staticmethod(solve_failure_bounds)
    measured = "failure_rate"


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
                f"{name} must be a number or a dict class -> bound, such as "
                f"{{{classes[-1]!r}: 0.9}}, got {value!r}."
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
    # As in scikit-learn: of other labels the order does not tell which is meant.
    if classes not in ([0, 1], [-1, 1]):
        raise ValueError(
            f"{name}={value:g} is for the positive class, which is known of 0 and 1, "
            "-1 and 1 or False and True, and the classes are "
            f"{_shorten([*map(repr, classes)])}. Pass a dict class -> bound, such as "
            f"{name}={{{classes[-1]!r}: {value:g}}}."
        )
    return classes[1:]


def _shorten(texts, most=6):
    shown = ", ".join(texts[:most])
    return f"{shown}, ..." if len(texts) > most else shown


def find_target(estimator):
    """Return the one target that is given, or the default."""
    given, kinds = given_targets(estimator), estimator._targets
    *names, last = kinds
    names = f"{', '.join(names)} and {last}"
    if len({kinds[name] for name in given}) > 1:
        values = ", ".join(f"{name}={value!r}" for name, value in given.items())
        both = f"; {PRECISION} and {RECALL} may be combined" * (PRECISION in kinds)
        raise ValueError(
            f"At most one of {names} may be given, got {values}. Keep one and set the "
            f"others to None{both}."
        )
    if not given and estimator._default_target is None:
        raise ValueError(
            f"One of {names} must be given, because no default fits the units of every "
            "regression."
        )
    target, group_by = estimator._default_target, estimator.group_by
    if given:
        target = kinds[next(iter(given))].of_params(given)
    if is_word(group_by, TRUE_CLASS) and isinstance(estimator, ClassifierMixin):
        return target.of_true_classes()
    if group_by is not None and isinstance(target, RiskBounds):
        raise ValueError(
            f"group_by={group_by!r} makes a rule for each group, but {target} use one "
            "for all samples. Pass group_by=None, or a target_risk, which bounds 1 "
            "minus the precision of each class with group_by='prediction'."
        )
    return target


def given_targets(estimator):
    """Return the parameters that ask for something, and what they are given."""
    values = {name: getattr(estimator, name) for name in estimator._targets}
    return {name: value for name, value in values.items() if value is not None}


SELECTIVE_TARGETS = {
    each.name: each
    for each in (RejectCost, TargetRisk, TargetCoverage, TargetFailureRate)
}
# Of a classifier. The last two may be given together.
CLASSIFIER_TARGETS = SELECTIVE_TARGETS | dict.fromkeys((PRECISION, RECALL), RiskBounds)
DEFERRAL_TARGETS = {each.name: each for each in (DeferralCost, MaxDeferral, SystemRisk)}
