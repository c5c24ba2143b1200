"""Reports of every estimator: what was asked for beside what new samples show."""

from __future__ import annotations

import numpy as np
from sklearn.utils import column_or_1d

from sklearn_reject._estimators._groups import as_objects, labels_of
from sklearn_reject._estimators._ood_target import OODTarget
from sklearn_reject._estimators._problem import bound_of_losses
from sklearn_reject._estimators._targets import RiskBounds, find_target
from sklearn_reject._fitting._experts import fill_in
from sklearn_reject._fitting._folds import losses_inside
from sklearn_reject._validation import (
    check_same_length,
    refuse_missing_labels,
    take_weight,
)
from sklearn_reject.losses import losses_where_known
from sklearn_reject.selection import ANY_LOSS, ReportPart, ReportSamples, precision_of


def _samples_of(estimator, accepted, losses, *options, kind=ReportSamples):
    """Return the samples of a report, whose losses are bounded as the estimator says.

    `options` are their weights and the level of intervals.
    """
    max_loss = estimator.loss_.max_loss
    if max_loss is None:
        max_loss = getattr(estimator, "max_loss", None)
    bound = bound_of_losses(estimator.loss_, max_loss, ANY_LOSS)["bound"]
    return kind(accepted, losses, max_loss, bound, *options)


def _true_classes(estimator, samples, y, rows):
    """Return a part for each true class, those that were never fitted included."""
    known = np.asarray(estimator.classes_).tolist()
    lost = sorted(set(y[rows].tolist()) - set(known), key=str)
    names = {k: f"true {k}" + ", never fitted" * (k in lost) for k in known + lost}
    return [samples.part(name, rows & (y == k)) for k, name in names.items()]


def report_selective(estimator, X, y, *options):
    """Return the report of a classifier or regressor that rejects."""
    labels, _, accepted = estimator.predict_all(X)
    check_same_length(len(labels), y=y)
    y, losses = np.asarray(y), estimator.loss_(y, labels)
    samples = _samples_of(estimator, accepted, losses, *options)
    target, groups = find_target(estimator), _groups_of(estimator, X, labels)
    if isinstance(target, RiskBounds):
        promises = _promises_of_classes(estimator, samples, labels, y)
    else:
        promises = _promises(estimator, samples, target, groups)
    parts = [samples.part("all", samples.all)]
    if hasattr(estimator, "classes_"):
        classes = np.asarray(estimator.classes_).tolist()
        parts += [samples.part(f"predicted {k}", labels == k) for k in classes]
        parts += _true_classes(estimator, samples, y, samples.all)
    if groups is not None and estimator.group_by_ != "prediction":
        known = estimator.rule_.rules
        parts += [samples.part(f"group {g}", groups == g) for g in known]
    return samples.report(type(estimator).__name__, promises, parts)


def _groups_of(estimator, X, labels=None):
    """Return the groups of samples with rules of their own, None without any."""
    if not hasattr(estimator.rule_, "rules"):
        return None
    labels = estimator.predict_first(X) if labels is None else labels
    return as_objects(labels_of(estimator.group_by_, X, labels))


def _promises(estimator, samples, target, groups):
    """Yield the promise to all samples, or to each group."""
    rule, certified = estimator.rule_, estimator.confidence_level
    asked = [("all", target, rule, samples.all)]
    if groups is not None:
        rules, targets = rule.rules, target.by_group(list(rule.rules))
        asked = [(f"group {g}", targets[g], rules[g], groups == g) for g in rules]
    for part, target, rule, rows in asked:
        # A group without a rule that can be certified has another one, or none. Groups
        # share the chance of an error, but what they are promised holds together.
        level = None if rule.certificate is None else certified
        price = () if target.sense else (target.value,)
        achieved = getattr(samples, target.achieved)(rows, *price)
        bound = target.sense, target.value, level
        yield target.quantity, part, *bound, target.achieved_by(rule), achieved


def _promises_of_classes(estimator, samples, labels, y):
    """Yield the promises to true and predicted classes, met by one rule."""
    rows = {
        "min_precision": ("precision", "predicted", labels, ">=", samples.accuracy),
        "min_recall": ("recall", "true", y, ">=", samples.accuracy),
        "target_risk": ("risk", "true", y, "<=", samples.selective_risk),
        "target_failure_rate": ("failure rate", "true", y, "<=", samples.failure_rate),
    }
    level = estimator.confidence_level
    for (name, k), asked in estimator.bounds_.items():
        quantity, kind, of_rows, sense, find = rows[name]
        values = asked.bound, level, asked.achieved, find(of_rows == k)
        yield quantity, f"{kind} {k}", sense, *values


class _Deferred(ReportSamples):
    """Samples of a classifier that asks: those accepted are those it asks about.

    `levels` say who answers, and `paid` has the costs of each level but the first.
    """

    deferral_rate = ReportSamples.coverage

    def risk(self, losses, rows):
        """Return the mean of losses in some rows."""
        return self.mean(losses, rows, self.max_loss, self.bound)

    def cost(self, rows, price):
        """Return the mean loss of some rows, and of what was paid for asking."""
        largest = self.max_loss
        if largest is not None:
            largest += self.paid.max(axis=0).sum()
        if np.isnan(self.system_risk(rows).value):  # no answer of some level is known
            rows = ~self.all
        return self.mean(self.losses + self.paid.sum(axis=1), rows, largest, ANY_LOSS)

    def system_risk(self, rows):
        """Return the mean loss; missing ones are as those of their level.

        The interval allows missing losses any value.
        """
        known, missing = self.risk(self.losses, rows), np.isnan(self.losses)
        if not missing[rows].any():
            return known
        likely, high = self.losses.copy(), np.inf
        for level in np.unique(self.levels[rows & missing]):
            here = rows & (self.levels == level)
            likely[here & missing] = self.risk(self.losses, here).value
        value = np.average(likely[rows], weights=take_weight(self.weight, rows))
        if self.max_loss is not None:
            high = self.risk(np.where(missing, self.max_loss, self.losses), rows).high
        found = {"value": float(value), "high": high, "n_samples": known.n_samples}
        return self.risk(np.where(missing, 0.0, self.losses), rows)._replace(**found)


def report_deferral(estimator, X, y, known, *options):
    """Return the report of a classifier that asks a second opinion."""
    traced, groups = estimator._answer_all(X), _groups_of(estimator, X)
    labels = fill_in(traced.labels, traced.is_open, known)
    losses = losses_where_known(estimator.loss_, y, labels, "expert_labels")
    samples = _samples_of(
        estimator, traced.levels > 0, losses, *options, kind=_Deferred
    )
    samples.levels, samples.paid = traced.levels, traced.costs
    spent = np.average(traced.costs, axis=0, weights=samples.weight).tolist()
    whole = samples.mean(samples.all, samples.all), samples.system_risk(samples.all)
    parts = [ReportPart("all", *whole, float(np.sum(spent)))]
    names = zip(estimator._names, [0.0, *spent], strict=True)
    for level, (name, cost) in enumerate(names):
        here = traced.levels == level
        share, risk = samples.mean(here, samples.all), samples.risk(losses, here)
        parts.append(ReportPart(name, share, risk, cost))
    promises = _promises(estimator, samples, find_target(estimator), groups)
    titles = "answers", "risk of answers", "cost of asking"
    return samples.report(type(estimator).__name__, promises, parts, titles=titles)


def _rates(samples, origins, share):
    """Return the accepted shares of ID and of OOD samples.

    Wild ones, of which a share is OOD, tell the latter where none is labeled as OOD.
    """
    tpr = samples.coverage(~origins.is_outside)
    if origins.is_ood.any() or not origins.is_wild.any():
        return tpr, samples.coverage(origins.is_ood)
    half = samples.half()
    pair = half.coverage(origins.is_wild), half.coverage(~origins.is_outside)
    fpr = _join(lambda x, z: (x - (1 - share) * z) / share, *pair, 1.0)
    return tpr, fpr._replace(n_samples=pair[0].n_samples)


def _quantities(samples, origins, target):
    """Return what ID and OOD samples may be asked for, by what a report calls it."""
    prior, share = target.model.ood_prior, target.wild_share
    costs = target.asked["costs"]
    is_id, half = ~origins.is_outside, samples.half()
    found = dict(zip(("TPR", "FPR"), _rates(samples, origins, share), strict=True))
    found["risk"] = samples.selective_risk(is_id)
    tpr, fpr = _rates(half, origins, share)
    if prior is not None:
        found["precision"] = _join(lambda x, z: precision_of(x, z, prior), tpr, fpr)
    if costs is not None:
        found["cost"] = _join(target.cost, half.cost(is_id, costs[0]), fpr)
    return found


def _join(function, one, other, largest=np.inf):
    """Return the interval of what two others make, monotone in each of them."""
    corners = [float(function(x, z)) for x in one[1:3] for z in other[1:3]]
    known = [x for x in corners if not np.isnan(x)] or [0.0, 1.0]
    ends = np.clip([min(known), max(known)], 0.0, largest).tolist()
    kind = type(one) if one.is_approximate else type(other)
    value = float(function(one.value, other.value))
    return kind(value, *ends, one.n_samples + other.n_samples)


def report_ood(estimator, X, y, groups, *options):
    """Return the report; `groups` are kinds of OOD samples, or None."""
    origins, rule = estimator._origins(y), estimator.rule_
    labels, _, accepted = estimator.predict_all(X)
    check_same_length(len(labels), y=origins.y)
    y, is_id, is_ood = origins.y, ~origins.is_outside, origins.is_ood
    losses = losses_inside(estimator.loss_, y, labels, is_id)
    samples = _samples_of(estimator, accepted, losses, *options)
    target = OODTarget.of(estimator)
    found, certificate = _quantities(samples, origins, target), rule.certificate
    level = None if certificate is None else certificate.confidence_level
    promises = [
        (quantity, "all", *bound, level, value, found[quantity])
        for quantity, *bound, value in target.achieved(rule)
    ]
    nothing = samples.selective_risk(~samples.all)
    parts = [samples.part("in distribution", is_id)]
    parts.append(ReportPart("out of distribution", found["FPR"], nothing))
    if groups is not None:
        groups = as_objects(column_or_1d(np.asarray(groups), warn=True))
        check_same_length(len(y), groups=groups)
        refuse_missing_labels(np.where(is_ood, groups, ""), "groups")
        for kind in sorted(set(groups[is_ood].tolist()), key=str):
            coverage = samples.coverage(is_ood & (groups == kind))
            parts.append(ReportPart(f"OOD {kind}", coverage, nothing))
    parts += _true_classes(estimator, samples, y, is_id)
    return samples.report(type(estimator).__name__, promises, parts)
