"""What a selective estimator is asked for: its target, and the rule that meets it.

A new target is one class here, in `_TARGETS`, and a parameter of the estimators.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from sklearn.base import is_classifier

from sklearn_reject._estimators._groups import TRUE_CLASS
from sklearn_reject._estimators._risk_bounds import (
    PRECISION,
    RECALL,
    FailureBounds,
    PartBounds,
    check_part_bounds,
)
from sklearn_reject._validation import check_number
from sklearn_reject.exceptions import warn_user
from sklearn_reject.selection import (
    check_confidence_level,
    solve_reject_cost,
    solve_target_coverage,
    solve_target_failure_rate,
    solve_target_risk,
    targets_by_group,
)


@dataclass(frozen=True)
class Target:
    """What is asked for: the value of the parameter called `name`.

    A dict of group to value asks for one in each group. Each target writes `solve`,
    which gets the samples of a calibration set and the options of a solver, and returns
    the rule.
    """

    value: float | dict

    name = None
    # The range of the value.
    high = np.inf
    open_low = False
    # Whether a confidence can be had.
    can_be_certified = True
    # Whether a certificate rests on the largest loss.
    bounds_losses = False
    # Whether that is so without a confidence, too, as something holds on average.
    holds_on_average = False
    # Whether samples held out for that must not be drawn class by class.
    needs_equal_draws = False
    # What a value that no loss is above leads to, None where it means nothing.
    vacuous = None

    @classmethod
    def check(cls, value):
        """Return the target of a value in range."""
        limits = {"high": cls.high, "open_low": cls.open_low}
        if not isinstance(value, Mapping):
            return cls(check_number(value, cls.name, **limits))
        name = f"{cls.name} of the group {{!r}}"
        return cls(
            {k: check_number(x, name.format(k), **limits) for k, x in value.items()}
        )

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

    def by_true_class(self):
        """Return the target of every true class, met by one rule."""
        raise ValueError(
            "group_by='class' bounds each true class by target_risk or "
            f"target_failure_rate, got {self}. Other targets need a rule per class, "
            "but the true class is unknown when predicting. Pass one of these targets, "
            "or group_by='prediction'."
        )

    def prepare(self, classes, loss):
        """Return the target with what it needs to know of the classes, None if none."""
        return self

    def bind(self, calibration):
        """Return the target with what it needs to know of the calibration set."""
        return self

    def measure(self, rule):
        """Return what a rule achieves of several bounds, None where there is one."""
        return None


class RejectCost(Target):
    """The cost of rejecting a sample."""

    name = "reject_cost"
    can_be_certified = False
    vacuous = "nothing costs more than rejecting, so everything is accepted"

    def solve(self, samples, options):
        """Return the rule of least cost."""
        return solve_reject_cost(target=self.value, **samples)


class TargetRisk(Target):
    """A bound on the mean loss of what is accepted."""

    name = "target_risk"
    bounds_losses = True
    vacuous = "no rule has a larger risk, so everything is accepted"

    def by_true_class(self):
        """Return bounds on the risk of true classes."""
        return RiskBounds.of_params({self.name: self.value})

    def solve(self, samples, options):
        """Return the rule of largest coverage."""
        return solve_target_risk(target=self.value, **samples, **options)


class TargetCoverage(Target):
    """The share of samples to accept."""

    name = "target_coverage"
    high = 1.0
    open_low = True

    def solve(self, samples, options):
        """Return the rule of that coverage."""
        return solve_target_coverage(target=self.value, **samples, **options)


class TargetFailureRate(Target):
    """A bound on the mean loss of all samples, zero where they are rejected."""

    name = "target_failure_rate"
    open_low = True
    bounds_losses = True
    holds_on_average = True
    needs_equal_draws = True
    vacuous = "no rule has a larger failure rate, so everything is accepted"

    def by_true_class(self):
        """Return bounds on the failures of true classes."""
        return ClassFailureRates.of_params({self.name: self.value})

    def solve(self, samples, options):
        """Return the rule of largest coverage."""
        return solve_target_failure_rate(target=self.value, **samples, **options)


class RiskBounds(Target):
    """Bounds on parts of what is accepted, all of them met by one threshold."""

    bounds_losses = True
    vacuous = "no rule has a larger risk in any class, so everything is accepted"
    parts = PartBounds

    @classmethod
    def of_params(cls, given):
        """Return the target of one or more parameters that ask for bounds."""
        return cls(cls.parts(tuple(given.items())))

    @property
    def values(self):
        """The mean loss that each bound allows."""
        return self.value.largest_losses

    @property
    def name(self):
        """The parameters."""
        return " and ".join(name for name, _ in self.value.asked)

    def __str__(self):
        return str(self.value)

    def by_true_class(self):
        """Raise: some true classes have bounds already, and predictions others."""
        raise ValueError(
            f"group_by='class' cannot be combined with {self}, which uses one rule for "
            "all samples; a min_recall bounds true classes already. Pass group_by=None."
        )

    def prepare(self, classes, loss):
        """Return the target with a bound for each class that has any."""
        parts = self.value.resolve(classes)
        check_part_bounds(parts, loss)
        return replace(self, value=parts)

    def bind(self, calibration):
        """Return the target with the true and the predicted classes of samples."""
        return replace(self, value=replace(self.value, calibration=calibration))

    def solve(self, samples, options):
        """Return the rule of largest coverage."""
        return self.value.solve(samples, options)

    def measure(self, rule):
        """Return what a rule achieves, by name of the parameter and class."""
        return self.value.measure(rule)


class ClassFailureRates(RiskBounds):
    """Bounds on the failures of true classes, all of them met by one rule.

    They hold given how many samples of each class there are.
    """

    holds_on_average = True
    vacuous = "no rule has a larger failure rate, so everything is accepted"
    parts = FailureBounds


_TARGETS = {
    each.name: each
    for each in (RejectCost, TargetRisk, TargetCoverage, TargetFailureRate)
}
# These may be given together.
_TARGETS |= dict.fromkeys((PRECISION, RECALL), RiskBounds)


def target_names(estimator):
    """Return the parameters of an estimator that ask for something."""
    return [name for name in _TARGETS if hasattr(estimator, name)]


def find_target(estimator, default):
    """Return the one target that is given, or a default reject cost."""
    given = _given(estimator)
    if len({_TARGETS[name] for name in given}) > 1:
        values = ", ".join(f"{name}={value!r}" for name, value in given.items())
        raise ValueError(
            f"At most one of {_enumerate(estimator)} may be given, got {values}. Keep "
            f"one and set the others to None{_may_be_combined(estimator)}."
        )
    if not given and default is None:
        raise ValueError(
            f"One of {_enumerate(estimator)} must be given, because no default fits "
            "the units of every regression."
        )
    given = given or {RejectCost.name: default}
    target = _TARGETS[next(iter(given))].of_params(given)
    group_by = estimator.group_by
    is_true_class = isinstance(group_by, str) and group_by == TRUE_CLASS
    if is_true_class and is_classifier(estimator):
        return target.by_true_class()
    if group_by is not None and isinstance(target, RiskBounds):
        raise ValueError(
            f"group_by={group_by!r} makes a rule for each group, but {target} use one "
            "rule for all samples. Pass group_by=None, or a target_risk: with "
            "group_by='prediction' it bounds 1 minus the precision of each class."
        )
    return target


def _may_be_combined(estimator):
    if not hasattr(estimator, PRECISION):
        return ""
    return f"; only {PRECISION} and {RECALL} can be combined"


def has_target(estimator):
    """Tell whether a target is given, so that no default stands in."""
    return bool(_given(estimator))


def _given(estimator):
    values = {name: getattr(estimator, name) for name in target_names(estimator)}
    return {name: value for name, value in values.items() if value is not None}


def _enumerate(estimator):
    *names, last = target_names(estimator)
    return f"{', '.join(names)} and {last}"


def check_max_loss(estimator, target, loss):
    """Return the largest loss that is possible, None where it need not be known."""
    if estimator.max_loss is not None:
        largest = check_number(estimator.max_loss, "max_loss", open_low=True)
        if loss.max_loss is not None and loss.max_loss > largest:
            raise ValueError(
                f"max_loss={estimator.max_loss!r} is below {loss.max_loss:g}, which "
                "the loss can reach. Set it to None, or pass at least this value."
            )
        return largest
    is_certified = estimator.confidence_level is not None and target.bounds_losses
    if loss.max_loss is None and (is_certified or target.holds_on_average):
        verb = "certify" if is_certified else "promise"
        raise ValueError(
            f"max_loss is needed to {verb} a {target.name} with {loss!r}. Pass the "
            "largest possible loss, in units of the loss. Labels that are not in y may "
            "cost more than those that are."
        )
    return loss.max_loss


def check_certifiable(estimator, target):
    """Raise for a confidence out of range, or in what no bound holds."""
    check_confidence_level(estimator.confidence_level)
    if not target.can_be_certified:
        raise ValueError(
            f"confidence_level={estimator.confidence_level!r} needs a target_risk, a "
            f"target_coverage or a target_failure_rate to guarantee. A {target.name} "
            "has no bound."
        )


def warn_if_vacuous(target, largest):
    """Warn of a target that no rule can miss, given the largest loss, or None."""
    if not largest or target.vacuous is None or min(target.values) < largest:
        return
    warn_user(
        f"{target} is not below the largest loss, {largest:g}: {target.vacuous}. Pass "
        "a smaller value, in units of the loss."
    )
