"""What is done where targets cannot be met: an error, or the end of the range."""

import math

from sklearn_reject._validation import check_option
from sklearn_reject.exceptions import InfeasibleTargetError, warn_user

# What an error says can be attained, and the bound that is relaxed to it.
_OF_TPR = {"max_tpr": "min_tpr", "max_recall": "min_recall"}
_OF_OTHERS = {
    "min_fpr": "max_fpr",
    "min_risk": "max_risk",
    "max_precision": "min_precision",
}

# By how much more than to the end of the range bounds are relaxed, relatively, where
# rounding, or a search that is not exhaustive, misses the end.
_STEPS = (0.0, 1e-9, 1e-6, 1e-3)

# What rules say of themselves.
_ATTAINED = (
    *("coverage", "tpr", "fpr", "precision", "selective_risk"),
    *("deferral_rate", "system_risk"),
)


def check_on_infeasible(estimator):
    """Raise for an unknown option."""
    check_option(estimator.on_infeasible, "on_infeasible", ("raise", "nearest"))


def _warn_of_nearest(failure, bounds, rule):
    warn_user(
        f"{failure} As on_infeasible='nearest', the rule uses the nearest target: "
        f"{describe_nearest(bounds, rule)}."
    )


def solve_or_nearest(estimator, solve, find_nearest, report=_warn_of_nearest):
    """Return the rule of `solve` or, where it has none and that is wanted, the nearest.

    `find_nearest` maps the error to the bounds that are met instead, and their rule. It
    raises, too, where nothing can be attained. `report` tells of what is met instead.
    """
    try:
        return solve()
    except InfeasibleTargetError as error:
        if estimator.on_infeasible == "raise":
            raise
        failure = error
    try:
        bounds, rule = find_nearest(failure)
    except InfeasibleTargetError:
        raise failure from None
    report(failure, bounds, rule)
    return rule


def describe_nearest(bounds, rule):
    """Return which bounds are met instead, and what their rule attains."""
    used = ", ".join(
        f"{name}={value:.6g}" for name, value in bounds.items() if value is not None
    )
    attained = {name: getattr(rule, name, math.nan) for name in _ATTAINED}
    attained = ", ".join(
        f"{name} {value:.6g}"
        for name, value in attained.items()
        if not math.isnan(value)
    )
    return f"{used}, which attains {attained}"


def relax(solve, bounds, *, keeps_tpr):
    """Return the nearest bounds that can be met, and what `solve` finds for them.

    Either the TPR is kept, where that is possible, or else what protects: a bound on
    FPR, risk or precision.
    """
    for step in _STEPS:
        try:
            return bounds, solve(bounds)
        except InfeasibleTargetError as error:
            relaxed = _relax_one(bounds, error.attainable, step, keeps_tpr)
            if relaxed is None:
                raise
            bounds = relaxed
    return bounds, solve(bounds)


def _relax_one(bounds, attainable, step, keeps_tpr):
    """Return bounds one of which is what an error says can be met; None if none is."""
    for names in (_OF_OTHERS, _OF_TPR) if keeps_tpr else (_OF_TPR, _OF_OTHERS):
        for extreme, name in names.items():
            value = attainable.get(extreme, math.nan)
            if bounds.get(name) is None or math.isnan(value):
                continue
            if name.startswith("max"):
                return bounds | {name: _within(name, value * (1 + step))}
            if value > 0:
                return bounds | {name: float(value * (1 - step))}
    return None


def _within(name, value):
    """Return a bound from above that is in range: an FPR is a share."""
    value = max(0.0, float(value))  # that of a mixture may be negative by chance
    return min(1.0, value) if name == "max_fpr" else value
