"""Rules of selective estimators, solved for a target on a calibration set."""

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.frozen import FrozenEstimator

from sklearn_reject._estimators._calibration import (
    warn_of_costly_rule,
    warn_of_few_accepted,
    warn_of_few_accepted_of_classes,
    warn_of_risky_rule,
    warn_of_wrong_sign,
)
from sklearn_reject._estimators._targets import RejectCost, TargetRisk
from sklearn_reject._fitting._folds import learns
from sklearn_reject._fitting._splits import PLUG_IN, cv_of, is_share
from sklearn_reject.exceptions import warn_user
from sklearn_reject.losses import CostMatrixLoss, ZeroOneLoss
from sklearn_reject.selection import (
    GroupedRule,
    RejectionRule,
    enumerate_labels,
    make_partition,
    order_told,
    share_confidence,
    solve_by_group,
)


def claims_risk(estimator, score):
    """Tell whether a score is a probability-based risk in units of the reject cost.

    One with a loss of its own only orders the samples, and a frozen one may have been
    learned for another loss.
    """
    return (
        getattr(score, "estimates_risk", False)
        and getattr(estimator.uncertainty_score, "loss", None) is None
        and not learns(score)
        and not isinstance(score, FrozenEstimator)
    )


def uses_plain_rule(estimator, problem):
    """Tell whether a reject cost is to be compared with probabilities as they are."""
    target, score = problem.target, problem.score
    if not (isinstance(estimator.cv, str) and estimator.cv == PLUG_IN):
        return False
    is_cost, name = isinstance(target, RejectCost), estimator.uncertainty_score
    if not is_cost or not claims_risk(estimator, score):
        # What "auto" stands for may show on the fitted classifier only.
        raise ValueError(
            f"cv={PLUG_IN!r} compares a reject_cost with the conditional risk of the "
            f"probabilities, and not {target} with uncertainty_score={name!r}. Set "
            "cv=None, or pass a reject_cost and uncertainty_score='conditional_risk'."
        )
    return True


def keeps_promise(estimator, target):
    """Tell whether a share is held out for what needs samples drawn alike.

    What holds on average does so, approximately, with folds, too, and those are better
    drawn class by class.
    """
    on_average = target.needs_equal_draws and is_share(cv_of(estimator))
    return estimator.confidence_level is not None or on_average


def bound_of_losses(loss, max_loss, general="betting"):
    """Return how to bound a risk, given the largest loss that is possible.

    It is `general` where some loss may be neither zero nor the largest.
    """
    values = {ZeroOneLoss: (0.0, 1.0)}.get(type(loss))
    if type(loss) is CostMatrixLoss:
        values = loss.costs
    is_binary = values is not None and np.isin(values, (0.0, max_loss)).all()
    return {"bound": "binomial" if is_binary else general, "max_loss": max_loss or 1.0}


def solve_rule(estimator, problem, calibration):
    """Return the rule that solves a problem on a calibration set, which may be None.

    With groups it is one for each of them.
    """
    target, groups, max_loss = problem.target, problem.groups, problem.max_loss
    _refuse_large_losses(estimator, calibration, max_loss)
    if uses_plain_rule(estimator, problem):
        return _plain_rule(target, calibration, groups)
    warn_of_wrong_sign(calibration, estimator.uncertainty_score)
    target, level = target.bind(calibration), estimator.confidence_level
    claims = claims_risk(estimator, problem.score)

    def solve(target, calibration, confidence_level):
        if isinstance(target, RejectCost):
            return _solve_cost(target, calibration, claims)
        options = {"randomize": estimator.randomize}
        options |= bound_options(problem, confidence_level, calibration.draws)
        rule = target.solve(calibration.samples, options)
        if confidence_level is None and isinstance(target, TargetRisk):
            warn_of_few_accepted(rule, target, calibration, is_group=groups is not None)
        return rule

    with order_told():
        if groups is None:
            rule = solve(target, calibration, level)
        else:
            targets, n_samples = target.by_group(groups.known), len(calibration.scores)
            if level is not None:
                level = share_confidence(level, len(targets))
            rule = solve_by_group(
                make_partition(calibration.groups, n_samples, groups.known),
                lambda k, rows: solve(targets[k], calibration.take(rows), level),
                {label: each.value for label, each in targets.items()},
                calibration.sample_weight,
            )
    _warn(rule, target, calibration)
    return rule


def _warn(rule, target, calibration):
    """Warn of a rule, or of rules by group, that cannot be meant."""
    is_grouped = isinstance(rule, GroupedRule)
    rules = rule.rules if is_grouped else {None: rule}
    rejected = [label for label, each in rules.items() if each.coverage == 0]
    if isinstance(target, RejectCost):
        if rejected and max(target.values) > 0:
            where = f" in the groups {enumerate_labels(rejected)}" * is_grouped
            warn_user(
                f"Everything is rejected{where}: no samples of low scores cost less "
                f"than {target} each. Use a better score, or a larger cost."
            )
    # Where one group may be worse than another, all that is accepted may be, too.
    elif not is_grouped or (not rejected and len(set(target.values)) == 1):
        warn_of_risky_rule(rule, calibration)


def _refuse_large_losses(estimator, calibration, max_loss):
    """Raise for losses above what was said to be possible."""
    if calibration is None or estimator.max_loss is None:
        return
    largest = calibration.losses.max()
    if largest > max_loss:
        raise ValueError(
            f"losses holds {largest:g}, above max_loss={max_loss:g}. Pass the largest "
            "possible loss, or clip the losses to max_loss."
        )


def _plain_rule(target, calibration, groups):
    """Return the rule of Chow, or of each group, that takes scores as they are."""
    known, cost = {}, target.value
    if groups is None:
        rule = RejectionRule(cost, 1.0, reject_cost=cost)
    else:
        costs = {k: each.value for k, each in target.by_group(groups.known).items()}
        rule = GroupedRule(
            {k: RejectionRule(x, 1.0, reject_cost=x) for k, x in costs.items()}
        )
    if calibration is None:
        return rule
    if groups is not None:
        known = {"groups": calibration.groups}
        cost = [costs[label] for label in calibration.groups]
    rule = rule.measure(**calibration.samples, **known)
    warn_of_costly_rule(
        rule.accept_proba(calibration.scores, **known), cost, calibration
    )
    return rule


# What probabilities say counts as much as so many rows. On 19 sets and 11 classifiers
# (benchmarks/bench_reject_cost.py) that is better than data alone below 300 rows, and
# the same from there on; from 100 rows on, anything from 20 to 50 does as well.
_ROWS_OF_CLAIM = 30


def _solve_cost(target, calibration, scores_are_risks):
    """Return the rule of least cost; risks that a score claims count as evidence."""
    samples = calibration.samples
    if not scores_are_risks:
        return target.solve(samples, {})
    scores, losses = calibration.scores, calibration.losses
    share = _ROWS_OF_CLAIM / (len(losses) + _ROWS_OF_CLAIM)
    claimed = (1 - share) * losses + share * scores
    return target.solve(samples | {"losses": claimed}, {}).measure(**samples)


def bound_options(problem, confidence_level, draws):
    """Return what a solver needs to know to certify, or to promise on average."""
    target, options = problem.target, {}
    if confidence_level is not None:
        # The seed is that of the order of bets.
        options = {
            "confidence_level": confidence_level,
            "draws": draws,
            "random_state": problem.seed,
        }
    is_bounded = target.bounds_losses and confidence_level is not None
    if is_bounded or target.holds_on_average:
        options |= bound_of_losses(problem.loss, problem.max_loss)
    return options


def solve_selective(estimator, problem, calibration):
    """Return the attributes that keep a rule, and what it achieves of bounds."""
    rule = solve_rule(estimator, problem, calibration)
    if not isinstance(estimator, ClassifierMixin):
        return {"rule_": rule}
    target, bounds = problem.target, None
    if calibration is not None:
        bounds = target.bind(calibration).measure(rule)
    is_promised = estimator.confidence_level is not None or target.holds_on_average
    if bounds is not None and not is_promised:
        warn_of_few_accepted_of_classes(bounds, calibration)
    return {"rule_": rule, "bounds_": bounds}
