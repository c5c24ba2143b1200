"""Which target an estimator is asked for by its parameters, and whether it can be."""

from sklearn.base import is_classifier

from sklearn_reject._estimators._groups import TRUE_CLASS
from sklearn_reject._estimators._risk_bounds import (
    PRECISION,
    RECALL,
    ClassFailureRates,
    RiskBounds,
)
from sklearn_reject._estimators._targets import (
    RejectCost,
    TargetCoverage,
    TargetFailureRate,
    TargetRisk,
)
from sklearn_reject._validation import check_number
from sklearn_reject.exceptions import warn_user
from sklearn_reject.selection import check_confidence_level

_TARGETS = {
    each.name: each
    for each in (RejectCost, TargetRisk, TargetCoverage, TargetFailureRate)
}
# These may be given together.
_TARGETS |= dict.fromkeys((PRECISION, RECALL), RiskBounds)
# What they bound of every true class, met by one rule.
_OF_TRUE_CLASSES = {TargetRisk: RiskBounds, TargetFailureRate: ClassFailureRates}


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
    kind, group_by = _TARGETS[next(iter(given))], estimator.group_by
    target = kind.of_params(given)
    is_true_class = isinstance(group_by, str) and group_by == TRUE_CLASS
    if is_true_class and is_classifier(estimator):
        if kind not in _OF_TRUE_CLASSES:
            raise _no_true_classes(target)
        return _OF_TRUE_CLASSES[kind].of_params({target.name: target.value})
    if group_by is not None and kind is RiskBounds:
        raise ValueError(
            f"group_by={group_by!r} makes a rule for each group, but {target} use one "
            "rule for all samples. Pass group_by=None, or a target_risk: with "
            "group_by='prediction' it bounds 1 minus the precision of each class."
        )
    return target


def _no_true_classes(target):
    """Return the error of a target that bounds no true class, or some already."""
    if isinstance(target, RiskBounds):
        return ValueError(
            f"group_by='class' cannot be combined with {target}, which uses one rule "
            "for all samples; a min_recall bounds true classes already. Pass "
            "group_by=None."
        )
    return ValueError(
        "group_by='class' bounds each true class by target_risk or "
        f"target_failure_rate, got {target}. Other targets need a rule per class, but "
        "the true class is unknown when predicting. Pass one of these targets, or "
        "group_by='prediction'."
    )


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
