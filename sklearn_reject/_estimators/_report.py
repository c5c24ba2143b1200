"""The report of each kind of estimator that abstains, on samples of the user."""

from dataclasses import dataclass
from functools import partial

import numpy as np
from sklearn.base import is_classifier

from sklearn_reject._estimators._deferral_base import trace
from sklearn_reject._estimators._groups import as_objects, labels_of
from sklearn_reject._estimators._rejection_models import bound_of_losses
from sklearn_reject._estimators._report_table import Report, ReportPart, ReportPromise
from sklearn_reject._estimators._targets import (
    PRECISION,
    RECALL,
    RiskBounds,
    find_target,
)
from sklearn_reject._interval import Interval
from sklearn_reject._validation import check_level, check_same_length
from sklearn_reject.losses import losses_where_known
from sklearn_reject.selection import (
    BOUNDS,
    GroupedDeferralRule,
    GroupedRule,
    binomial_upper,
)

_QUANTITIES = {
    "reject_cost": ("cost", ""),
    "target_risk": ("risk", "<="),
    "target_coverage": ("coverage", ">="),
    "target_failure_rate": ("failure rate", "<="),
    PRECISION: ("precision", ">="),
    RECALL: ("recall", ">="),
    "deferral_cost": ("cost", ""),
    "max_deferral": ("deferral rate", "<="),
}

# What bounds a mean of losses that are neither zero nor the largest.
_ANY = "hoeffding_bentkus"


@dataclass(frozen=True, eq=False)
class Samples:
    """Samples of a report: what is accepted, what it costs, how to bound its mean.

    `losses` are NaN where a label is not known. `certified` is the confidence with
    which all promises hold together, None without certificates.
    """

    accepted: np.ndarray
    losses: np.ndarray
    bound: dict
    confidence_level: float
    certified: float | None

    def coverage(self, mask):
        """Return the accepted share of some samples."""
        return share_of(self.accepted[mask], self.confidence_level)

    def risk(self, mask):
        """Return the mean loss of the accepted ones of some samples."""
        return self.mean(self.losses[mask & self.accepted])

    def failures(self, mask, cost=0.0):
        """Return the mean loss of some samples, a cost where they are rejected."""
        return self.mean(np.where(self.accepted, self.losses, cost)[mask], cost)

    def mean(self, losses, cost=0.0):
        """Return the mean of those losses that are known, or of costs among them."""
        losses, largest = losses[~np.isnan(losses)], self.bound["max_loss"]
        if not cost:
            return risk_of(losses, **self.bound, confidence_level=self.confidence_level)
        largest = None if largest is None else max(largest, cost)
        return risk_of(losses, _ANY, largest, self.confidence_level)

    def part(self, name, mask):
        """Return some samples as a part of the report."""
        return ReportPart(name, self.coverage(mask), self.risk(mask))


def share_of(accepted, confidence_level):
    """Return the share of flags that are set, with its Clopper-Pearson interval."""
    n_samples = len(accepted)
    if not n_samples:
        return Interval(np.nan, 0.0, 1.0, 0)
    count, tail = int(np.count_nonzero(accepted)), (1 - confidence_level) / 2
    low = 1 - binomial_upper(n_samples - count, n_samples, tail)
    return Interval(
        count / n_samples, low, binomial_upper(count, n_samples, tail), n_samples
    )


def risk_of(losses, bound, max_loss, confidence_level):
    """Return the mean loss with an interval, of no end where losses have none."""
    value = float(losses.mean()) if len(losses) else np.nan
    if max_loss is None or not len(losses):
        return Interval(
            value, 0.0, np.inf if max_loss is None else max_loss, len(losses)
        )
    scaled, tail = losses / max_loss, (1 - confidence_level) / 2
    high = BOUNDS[bound].upper(scaled, tail)
    low = 1 - BOUNDS[bound].upper(1 - scaled, tail)
    return Interval(value, max_loss * low, max_loss * high, len(losses))


def samples_of(estimator, accepted, losses, confidence_level):
    """Return samples that know how their mean loss is bounded, and what is certified.

    Groups share the chance of an error, but what they are promised holds together.
    """
    largest = estimator.loss_.max_loss
    if largest is None:
        largest = getattr(estimator, "max_loss", None)
    name = bound_of_losses(estimator.loss_, largest, _ANY)["bound"]
    bound = {"bound": name, "max_loss": largest}
    level = estimator.confidence_level
    return Samples(accepted, losses, bound, confidence_level, level)


def report_selective(estimator, X, y, confidence_level):
    """Return the report of a classifier or regressor that rejects."""
    confidence_level = check_level(confidence_level, "confidence_level")
    labels, _, accepted = estimator.predict_all(X)
    check_same_length(len(labels), y=y)
    losses = estimator.loss_(y, labels)
    samples = samples_of(estimator, accepted, losses, confidence_level)
    groups = None
    if isinstance(estimator.rule_, GroupedRule):
        groups = as_objects(labels_of(estimator.group_by_, X, labels))
    target = find_target(estimator)
    if isinstance(target, RiskBounds):
        promises = _promises_of_parts(estimator, samples, labels, y)
    elif groups is None:
        everything = _all(accepted), "all"
        promises = [_promise(samples, target, estimator.rule_, *everything)]
    else:
        promise_of = partial(_promise, samples)
        promises = _promises_by_group(promise_of, target, estimator.rule_, groups)
    parts = [samples.part("all", _all(accepted))]
    if is_classifier(estimator):
        parts += _parts_of_classes(estimator, samples, labels, y)
    if groups is not None and estimator.group_by_ != "prediction":
        parts += [
            samples.part(f"group {g}", groups == g) for g in estimator.rule_.rules
        ]
    return make_report(estimator, samples, promises, parts)


def make_report(estimator, samples, promises, parts, **options):
    return Report(
        type(estimator).__name__,
        len(samples.accepted),
        samples.confidence_level,
        tuple(promises),
        tuple(parts),
        **options,
    )


def _all(flags):
    return np.ones(len(flags), dtype=bool)


def _promises_by_group(promise_of, target, rule, groups):
    """Return the promise to each group, each made by a function."""
    targets = target.by_group(list(rule.rules))
    return [
        promise_of(targets[g], each, groups == g, f"group {g}")
        for g, each in rule.rules.items()
    ]


def _promise(samples, target, rule, mask, part):
    """Return what was asked for of some samples, and what they show."""
    if target.name == "reject_cost":
        calibration = rule.failure_rate + (1 - rule.coverage) * target.value
        achieved = samples.failures(mask, target.value)
    elif target.name == "target_risk":
        calibration, achieved = rule.selective_risk, samples.risk(mask)
    elif target.name == "target_coverage":
        calibration, achieved = rule.coverage, samples.coverage(mask)
    else:
        calibration, achieved = rule.failure_rate, samples.failures(mask)
    return _make_promise(samples, target, rule, part, calibration, achieved)


def _make_promise(samples, target, rule, part, calibration, achieved):
    """Return a promise, with what these samples show."""
    quantity, sense = _QUANTITIES[target.name]
    return ReportPromise(
        quantity,
        part,
        sense,
        target.value if sense else np.nan,
        # A group without a rule that can be certified has another one, or none.
        None if rule.certificate is None else samples.certified,
        calibration,
        achieved,
    )


def _promises_of_parts(estimator, samples, labels, y):
    """Return the promises to true and predicted classes, met by one rule."""
    y, promises = np.asarray(y), []
    for (name, label), asked in estimator.bounds_.items():
        of_label = (labels if name == PRECISION else y) == label
        quantity, sense = _QUANTITIES[name]
        if name in (PRECISION, RECALL):
            is_right = samples.losses[of_label & samples.accepted] == 0
            achieved = share_of(is_right, samples.confidence_level)
        elif quantity == "risk":
            achieved = samples.risk(of_label)
        else:
            achieved = samples.failures(of_label)
        part = f"{'predicted' if name == PRECISION else 'true'} {label}"
        promises.append(
            ReportPromise(
                quantity,
                part,
                sense,
                asked.bound,
                samples.certified,
                asked.achieved,
                achieved,
            )
        )
    return promises


def _parts_of_classes(estimator, samples, labels, y):
    """Return a part for each predicted and each true class."""
    classes = np.asarray(estimator.classes_).tolist()
    predicted = [samples.part(f"predicted {k}", labels == k) for k in classes]
    return predicted + parts_of_true_classes(samples, classes, np.asarray(y), _all(y))


def parts_of_true_classes(samples, classes, y, mask):
    """Return a part for each true class, those that were never fitted included."""
    parts = [samples.part(f"true {k}", mask & (y == k)) for k in classes]
    lost = sorted(set(y[mask].tolist()) - set(classes), key=str)
    return parts + [
        samples.part(f"true {k}, never fitted", mask & (y == k)) for k in lost
    ]


def report_deferral(estimator, X, y, known, confidence_level):
    """Return the report of a classifier that asks a second opinion."""
    confidence_level = check_level(confidence_level, "confidence_level")
    if known is not None:
        known = estimator._person(known, len(y))
    traced = trace(estimator, X, known, np.arange(len(y)))
    losses = losses_where_known(estimator.loss_, y, traced.labels, "expert_labels")
    samples = samples_of(estimator, traced.levels > 0, losses, confidence_level)
    rule, target = estimator.rule_, find_target(estimator)
    promise_of = partial(_promise_to_defer, samples, traced)
    if isinstance(rule, GroupedDeferralRule):
        first = estimator.predict_first(X)
        groups = as_objects(labels_of(estimator.group_by_, X, first))
        promises = _promises_by_group(promise_of, target, rule, groups)
    else:
        promises = [promise_of(target, rule, _all(losses), "all")]
    spent = traced.costs.mean(axis=0)
    risk = _system_risk(samples, traced, _all(losses))
    share = share_of(_all(losses), confidence_level)
    parts = [ReportPart("all", share, risk, float(spent.sum()))]
    for level, (name, cost) in enumerate(
        zip(traced.names, [0.0, *spent.tolist()], strict=True)
    ):
        here = traced.levels == level
        share = share_of(here, confidence_level)
        parts.append(ReportPart(name, share, samples.mean(losses[here]), cost))
    return make_report(
        estimator,
        samples,
        promises,
        parts,
        titles=("answers", "risk of answers", "cost of asking"),
    )


def _promise_to_defer(samples, traced, target, rule, mask, part):
    """Return what was asked of a second opinion on some samples."""
    if target.name == "deferral_cost":
        calibration = rule.system_risk + target.value * rule.deferral_rate
        asking = traced.costs.sum(axis=1)
        costs, largest = (samples.losses + asking)[mask], samples.bound["max_loss"]
        if largest is not None:
            largest += traced.costs.max(axis=0).sum()
        achieved = risk_of(
            costs[~np.isnan(costs)], _ANY, largest, samples.confidence_level
        )
    elif target.name == "target_risk":
        calibration = rule.system_risk
        achieved = _system_risk(samples, traced, mask)
    else:
        calibration, achieved = rule.deferral_rate, samples.coverage(mask)
    return _make_promise(samples, target, rule, part, calibration, achieved)


def _system_risk(samples, traced, mask):
    """Return the mean loss of some samples; missing ones are as those of their level.

    The interval allows missing losses any value.
    """
    losses, levels = samples.losses[mask], traced.levels[mask]
    missing = np.isnan(losses)
    if not missing.any():
        return samples.mean(losses)
    largest = samples.bound["max_loss"]
    low, high = (
        samples.mean(np.where(missing, x, losses))
        for x in (0.0, 0.0 if largest is None else largest)
    )
    value = 0.0
    for level in np.unique(levels):
        known = losses[(levels == level) & ~missing]
        risk = known.mean() if len(known) else np.nan
        value += np.mean(levels == level) * risk
    return Interval(float(value), low.low, high.high, int(np.count_nonzero(~missing)))
