"""What a selective estimator may be asked for: a target, and the rule that meets it.

A new target is one class here, an entry in `_asked._TARGETS`, and a parameter of the
estimators.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from sklearn_reject._validation import check_number
from sklearn_reject.selection import (
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

    def solve(self, samples, options):
        """Return the rule of largest coverage."""
        return solve_target_failure_rate(target=self.value, **samples, **options)
