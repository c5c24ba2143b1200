"""A rule for each group of a calibration set, and what is said where there is none."""

from sklearn_reject._estimators._calibration import (
    warn_of_costly_rule,
    warn_of_risky_rule,
)
from sklearn_reject._estimators._targets import RejectCost
from sklearn_reject.exceptions import warn_user
from sklearn_reject.selection import (
    GroupedRule,
    RejectionRule,
    enumerate_labels,
    make_partition,
    share_confidence,
    solve_by_group,
)


def plain_grouped_rule(target, calibration, groups):
    """Return the plain rule of Chow with the cost of each group."""
    targets = target.by_group(groups.known)
    costs = {label: each.value for label, each in targets.items()}
    rule = GroupedRule(
        {k: RejectionRule(x, 1.0, reject_cost=x) for k, x in costs.items()}
    )
    if calibration is None:
        return rule
    rule = rule.measure(**calibration.samples, groups=calibration.groups)
    accepted = rule.accept_proba(calibration.scores, calibration.groups)
    cost = [costs[label] for label in calibration.groups.tolist()]
    warn_of_costly_rule(accepted, cost, calibration)
    return rule


def solve_grouped_rule(estimator, target, calibration, groups, solve):
    """Return the rules that `solve` finds for target, samples and confidence of all."""
    targets = target.by_group(groups.known)
    confidence_level = estimator.confidence_level
    if confidence_level is not None:
        confidence_level = share_confidence(confidence_level, len(groups.known))

    def solve_one(label, rows):
        return solve(targets[label], calibration.take(rows), confidence_level)

    partition = make_partition(
        calibration.groups, len(calibration.scores), groups.known
    )
    values = {label: each.value for label, each in targets.items()}
    rule = solve_by_group(partition, solve_one, values, calibration.sample_weight)
    _warn(rule, target, calibration)
    return rule


def _warn(rule, target, calibration):
    """Warn of a rule that cannot be meant."""
    rejected = [label for label, each in rule.rules.items() if each.coverage == 0]
    is_cost = isinstance(target, RejectCost)
    if not rejected and not is_cost and len(set(target.values)) == 1:
        # Where one group may be worse than another, all that is accepted may be, too.
        warn_of_risky_rule(rule, calibration)
    elif rejected and is_cost and max(target.values) > 0:
        warn_user(
            f"Everything is rejected in the groups {enumerate_labels(rejected)}: no "
            f"part of them with low scores costs less than {target} per sample. Use a "
            "score that ranks the errors better, or a larger cost."
        )
