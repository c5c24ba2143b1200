"""A rule for each group of a calibration set, and what is said where there is none."""

from sklearn_reject._estimators._calibration import (
    warn_of_costly_rule,
    warn_of_risky_rule,
)
from sklearn_reject._estimators._nearest import describe_nearest
from sklearn_reject._estimators._targets import RejectCost
from sklearn_reject.exceptions import InfeasibleTargetError, warn_user
from sklearn_reject.selection import (
    GroupedRule,
    chow_rule,
    enumerate_labels,
    enumerate_texts,
    make_partition,
    share_confidence,
    solve_by_group,
)


def plain_grouped_rule(target, calibration, groups):
    """Return the plain rule of Chow with the cost of each group."""
    targets = target.by_group(groups.known)
    costs = {label: each.value for label, each in targets.items()}
    rule = GroupedRule({label: chow_rule(cost) for label, cost in costs.items()})
    if calibration is None:
        return rule
    rule = rule.measure(**calibration.samples, groups=calibration.groups)
    accepted = rule.accept_proba(calibration.scores, calibration.groups)
    cost = [costs[label] for label in calibration.groups.tolist()]
    warn_of_costly_rule(accepted, cost, calibration)
    return rule


def solve_grouped_rule(estimator, target, calibration, groups, solve):
    """Return the rules that `solve` finds for target, samples and confidence of each.

    `solve` returns the rule, and a function from an InfeasibleTargetError to what is
    nearest, that is, the two functions that `solve_or_nearest` takes.
    """
    targets = target.by_group(groups.known)
    confidence, nearest = estimator.confidence, {}
    if confidence is not None:
        confidence = share_confidence(confidence, len(groups.known))

    def solve_one(label, rows):
        solve_target, find_nearest = solve(
            targets[label], calibration.take(rows), confidence
        )
        try:
            return solve_target()
        except InfeasibleTargetError as error:
            if estimator.on_infeasible == "raise":
                raise
            failure = error
        try:
            bounds, rule = find_nearest(failure)
        except InfeasibleTargetError:
            raise failure from None
        nearest[label] = describe_nearest(bounds, rule)
        return rule

    partition = make_partition(
        calibration.groups, len(calibration.scores), groups.known
    )
    rule = solve_by_group(partition, solve_one, calibration.sample_weight)
    _warn(rule, target, calibration, nearest)
    return rule


def _warn(rule, target, calibration, nearest):
    """Warn of groups with another target, and of a rule that does not what is meant."""
    if nearest:
        texts = enumerate_texts([f"{k!r}: {text}" for k, text in nearest.items()], "; ")
        warn_user(
            f"{len(nearest)} groups have no rule that meets {target}. As "
            f"on_infeasible='nearest', what is asked for there instead is {texts}."
        )
    rejected = [label for label, each in rule.rules.items() if each.coverage == 0]
    if not rejected:
        warn_of_risky_rule(rule, calibration)
    elif isinstance(target, RejectCost) and max(target.values) > 0:
        warn_user(
            f"Everything is rejected in the groups {enumerate_labels(rejected)}: no "
            "part of them that the score calls certain costs less than "
            f"{target} a sample. Use a score that orders the errors better, or a "
            "larger cost."
        )
