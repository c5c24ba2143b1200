"""The report of each kind of estimator that abstains, on samples of the user."""

from dataclasses import dataclass, replace

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils import column_or_1d

from sklearn_reject._estimators._groups import as_objects, labels_of
from sklearn_reject._estimators._ood_labels import known_labels
from sklearn_reject._estimators._rejection_models import bound_of_losses
from sklearn_reject._estimators._report_table import Report, ReportPart, ReportPromise
from sklearn_reject._estimators._targets import (
    FAILURE_RATE,
    PRECISION,
    RECALL,
    RISK,
    RiskBounds,
    find_target,
)
from sklearn_reject._fitting._experts import Answers, fill_in
from sklearn_reject._fitting._folds import losses_inside
from sklearn_reject._interval import Interval
from sklearn_reject._validation import check_level, check_same_length
from sklearn_reject.losses import losses_where_known
from sklearn_reject.selection import BOUNDS, binomial_upper, precision_of

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

    @classmethod
    def of(cls, estimator, accepted, losses, confidence_level, *more):
        """Return samples of an estimator, whose loss and guarantee they know.

        Groups share the chance of an error, but what they are promised holds together.
        """
        largest = estimator.loss_.max_loss
        if largest is None:
            largest = getattr(estimator, "max_loss", None)
        name = bound_of_losses(estimator.loss_, largest, _ANY)["bound"]
        bound, level = {"bound": name, "max_loss": largest}, estimator.confidence_level
        return cls(accepted, losses, bound, confidence_level, level, *more)

    def coverage(self, mask):
        """Return the accepted share of some samples."""
        return share_of(self.accepted[mask], self.confidence_level)

    def selective_risk(self, mask):
        """Return the mean loss of the accepted ones of some samples."""
        return self.mean(self.losses[mask & self.accepted])

    def cost(self, mask, value=0.0):
        """Return the mean loss of some samples, a cost where they are rejected."""
        return self.mean(np.where(self.accepted, self.losses, value)[mask], value)

    failure_rate = cost

    def mean(self, losses, cost=0.0):
        """Return the mean of those losses that are known, or of costs among them."""
        losses, largest = losses[~np.isnan(losses)], self.bound["max_loss"]
        if not cost:
            return risk_of(losses, **self.bound, confidence_level=self.confidence_level)
        largest = None if largest is None else max(largest, cost)
        return risk_of(losses, _ANY, largest, self.confidence_level)

    def part(self, name, mask):
        """Return some samples as a part of the report."""
        return ReportPart(name, self.coverage(mask), self.selective_risk(mask))


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


def report_selective(estimator, X, y, confidence_level):
    """Return the report of a classifier or regressor that rejects."""
    confidence_level = check_level(confidence_level, "confidence_level")
    labels, _, accepted = estimator.predict_all(X)
    check_same_length(len(labels), y=y)
    losses = estimator.loss_(y, labels)
    samples = Samples.of(estimator, accepted, losses, confidence_level)
    target, groups = find_target(estimator), _groups_of(estimator, X, labels)
    if isinstance(target, RiskBounds):
        promises = _promises_of_parts(estimator, samples, labels, np.asarray(y))
    else:
        promises = _promises(estimator, samples, target, groups)
    parts = [samples.part("all", _all(accepted))]
    if is_classifier(estimator):
        classes = np.asarray(estimator.classes_).tolist()
        parts += [samples.part(f"predicted {k}", labels == k) for k in classes]
        parts += _parts_of_true_classes(samples, classes, np.asarray(y), _all(y))
    if groups is not None and estimator.group_by_ != "prediction":
        parts += [
            samples.part(f"group {g}", groups == g) for g in estimator.rule_.rules
        ]
    return _report(estimator, samples, promises, parts)


def _groups_of(estimator, X, labels):
    """Return the groups of samples with rules of their own, None without any."""
    if not hasattr(estimator.rule_, "rules"):
        return None
    labels = estimator.predict_first(X) if labels is None else labels
    return as_objects(labels_of(estimator.group_by_, X, labels))


def _report(estimator, samples, promises, parts, **options):
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


def _promise(quantity, part, sense, bound, level, *values):
    """Return what was asked for, if it is a bound, and what was achieved of it."""
    is_bound = bool(sense) and bound is not None
    asked = (sense, float(bound), level) if is_bound else ("", np.nan, None)
    return ReportPromise(quantity, part, *asked, *values)


def _promises(estimator, samples, target, groups):
    """Return the promise to all samples, or to each group."""
    rule = estimator.rule_
    asked = [(target, rule, _all(samples.losses), "all")]
    if groups is not None:
        targets = target.by_group(list(rule.rules))
        asked = [
            (targets[g], each, groups == g, f"group {g}")
            for g, each in rule.rules.items()
        ]
    promises = []
    for target, rule, mask, part in asked:
        costs = () if target.sense else (target.value,)
        promise = _promise(
            target.quantity,
            part,
            target.sense,
            target.value,
            # A group without a rule that can be certified has another one, or none.
            None if rule.certificate is None else samples.certified,
            target.achieved_by(rule),
            getattr(samples, target.achieved)(mask, *costs),
        )
        promises.append(promise)
    return promises


_OF_PARTS = {
    PRECISION: ("precision", ">="),
    RECALL: ("recall", ">="),
    RISK: ("risk", "<="),
    FAILURE_RATE: ("failure rate", "<="),
}


def _promises_of_parts(estimator, samples, labels, y):
    """Return the promises to true and predicted classes, met by one rule."""
    promises = []
    for (name, label), asked in estimator.bounds_.items():
        of_label = (labels if name == PRECISION else y) == label
        quantity, sense = _OF_PARTS[name]
        if sense == ">=":
            is_right = samples.losses[of_label & samples.accepted] == 0
            achieved = share_of(is_right, samples.confidence_level)
        elif name == RISK:
            achieved = samples.selective_risk(of_label)
        else:
            achieved = samples.failure_rate(of_label)
        part = f"{'predicted' if name == PRECISION else 'true'} {label}"
        values = samples.certified, asked.achieved, achieved
        promises.append(_promise(quantity, part, sense, asked.bound, *values))
    return promises


def _parts_of_true_classes(samples, classes, y, mask):
    """Return a part for each true class, those that were never fitted included."""
    parts = [samples.part(f"true {k}", mask & (y == k)) for k in classes]
    lost = sorted(set(y[mask].tolist()) - set(classes), key=str)
    return parts + [
        samples.part(f"true {k}, never fitted", mask & (y == k)) for k in lost
    ]


@dataclass(frozen=True, eq=False)
class _Deferred(Samples):
    """Samples of a classifier that asks: those accepted are those it asks about."""

    traced: Answers

    deferral_rate = Samples.coverage

    def cost(self, mask, value):
        """Return the mean loss of some samples, and of what was paid for asking."""
        paid, largest = self.traced.costs, self.bound["max_loss"]
        costs = (self.losses + paid.sum(axis=1))[mask]
        if largest is not None:
            largest += paid.max(axis=0).sum()
        if np.isnan(self.system_risk(mask).value):  # no answer of some level is known
            costs = costs[:0]
        return risk_of(costs[~np.isnan(costs)], _ANY, largest, self.confidence_level)

    def system_risk(self, mask):
        """Return the mean loss; missing ones are as those of their level.

        The interval allows missing losses any value.
        """
        losses, levels = self.losses[mask], self.traced.levels[mask]
        missing = np.isnan(losses)
        if not missing.any():
            return self.mean(losses)
        largest = self.bound["max_loss"]
        low, high = (
            self.mean(np.where(missing, x, losses))
            for x in (0.0, 0.0 if largest is None else largest)
        )
        value = 0.0
        for level in np.unique(levels):
            known = losses[(levels == level) & ~missing]
            risk = known.mean() if len(known) else np.nan
            value += np.mean(levels == level) * risk
        n_known = int(np.count_nonzero(~missing))
        return Interval(float(value), low.low, high.high, n_known)


def report_deferral(estimator, X, y, known, confidence_level):
    """Return the report of a classifier that asks a second opinion."""
    confidence_level = check_level(confidence_level, "confidence_level")
    traced = estimator._answer_all(X)
    labels = fill_in(traced.labels, traced.is_open, known)
    losses = losses_where_known(estimator.loss_, y, labels, "expert_labels")
    asked, everything = traced.levels > 0, _all(losses)
    samples = _Deferred.of(estimator, asked, losses, confidence_level, traced)
    groups = _groups_of(estimator, X, None)
    promises = _promises(estimator, samples, find_target(estimator), groups)
    spent = traced.costs.mean(axis=0)
    share, risk = (
        share_of(everything, confidence_level),
        samples.system_risk(everything),
    )
    parts = [ReportPart("all", share, risk, float(spent.sum()))]
    levels = zip(estimator._names, [0.0, *spent.tolist()], strict=True)
    for level, (name, cost) in enumerate(levels):
        here = traced.levels == level
        share = share_of(here, confidence_level)
        parts.append(ReportPart(name, share, samples.mean(losses[here]), cost))
    titles = "answers", "risk of answers", "cost of asking"
    return _report(estimator, samples, promises, parts, titles=titles)


def report_ood(estimator, X, y, groups, confidence_level):
    """Return the report; `groups` are kinds of OOD samples, or None."""
    confidence_level = check_level(confidence_level, "confidence_level")
    labels, _, accepted = estimator.predict_all(X)
    y, is_ood, is_wild = known_labels(estimator, y)
    check_same_length(len(labels), y=y)
    is_id = ~is_ood & ~is_wild
    losses = losses_inside(estimator.loss_, y, labels, is_id)
    samples = Samples.of(estimator, accepted, losses, confidence_level)
    origins = _Origins(samples, is_id, is_ood, is_wild, estimator.wild_share)
    nothing = samples.mean(losses[:0])
    parts = [
        samples.part("in distribution", is_id),
        ReportPart("out of distribution", origins.fpr(), nothing),
        *(
            ReportPart(f"OOD {name}", samples.coverage(rows), nothing)
            for name, rows in _kinds_of_ood(groups, is_ood)
        ),
    ]
    classes = np.asarray(estimator.classes_).tolist()
    parts += _parts_of_true_classes(samples, classes, y, is_id)
    return _report(estimator, samples, _promises_of_ood(estimator, origins), parts)


@dataclass(frozen=True, eq=False)
class _Origins:
    """Samples, and which of them are ID, OOD and wild: unlabeled, a share of them OOD.

    Wild samples tell the FPR where no sample is labeled as OOD.
    """

    samples: Samples
    is_id: np.ndarray
    is_ood: np.ndarray
    is_wild: np.ndarray
    wild_share: float | None

    def halves(self):
        """Return the same where two intervals share the error of one."""
        level = (1 + self.samples.confidence_level) / 2
        return replace(self, samples=replace(self.samples, confidence_level=level))

    def tpr(self):
        """Return the share of the ID samples that is accepted."""
        return self.samples.coverage(self.is_id)

    def fpr(self):
        """Return the share of the OOD samples that is accepted."""
        if self.is_ood.any() or not self.is_wild.any():
            return self.samples.coverage(self.is_ood)
        halves, share = self.halves(), self.wild_share
        wild, inside = halves.samples.coverage(self.is_wild), halves.tpr()
        # The more of the ID samples are accepted, the fewer of the OOD ones are.
        pairs = zip(wild[:3], (inside.value, inside.high, inside.low), strict=True)
        value, low, high = (
            (mixed - (1 - share) * known) / share for mixed, known in pairs
        )
        ends = np.clip((low, high), 0.0, 1.0).tolist()
        return Interval(float(value), *ends, wild.n_samples)

    def precision(self, prior):
        """Return the precision, which grows with the TPR and falls with the FPR."""
        halves = self.halves()
        tpr, fpr = halves.tpr(), halves.fpr()
        pairs = (tpr.value, fpr.value), (tpr.low, fpr.high), (tpr.high, fpr.low)
        value, low, high = (precision_of(*pair, prior) for pair in pairs)
        return Interval(
            value,
            0.0 if np.isnan(low) else low,
            1.0 if np.isnan(high) else high,
            tpr.n_samples + fpr.n_samples,
        )

    def cost(self, costs, prior):
        """Return the mean cost at the prior, of an interval that two others make."""
        (reject_id, accept_ood, reject_ood), halves = costs, self.halves()
        of_id, fpr = halves.samples.cost(self.is_id, reject_id), halves.fpr()
        of_ood = [
            prior * (reject_ood + (accept_ood - reject_ood) * rate) if prior else 0.0
            for rate in fpr[:3]
        ]
        ends = zip(of_id[:3], of_ood, strict=True)
        ends = [float((1 - prior) * x + z) for x, z in ends]
        return Interval(*ends, of_id.n_samples + fpr.n_samples)


def _promises_of_ood(estimator, origins):
    """Return what was asked for, and the precision wherever there is a prior."""
    rule, prior, costs = estimator.rule_, estimator.ood_prior, estimator.costs
    level = getattr(rule.certificate, "confidence_level", None)
    risk = origins.samples.selective_risk(origins.is_id)
    found = [
        ("TPR", ">=", estimator.min_tpr, level, rule.tpr, origins.tpr()),
        ("FPR", "<=", estimator.max_fpr, level, rule.fpr, origins.fpr()),
        ("risk", "<=", estimator.max_risk, level, rule.selective_risk, risk),
    ]
    found = [row for row in found if row[2] is not None]
    if costs is not None:
        values = _expected_cost(rule, costs, prior), origins.cost(costs, prior)
        found.append(("cost", "", None, None, *values))
    if prior is not None:
        values = rule.precision, origins.precision(prior)
        found.append(("precision", ">=", estimator.min_precision, level, *values))
    return [_promise(quantity, "all", *rest) for quantity, *rest in found]


def _expected_cost(rule, costs, prior):
    """Return the mean cost at the prior on the samples that solved a rule."""
    reject_id, accept_ood, reject_ood = costs
    of_id = (1 - rule.tpr) * reject_id
    of_id += rule.tpr * rule.selective_risk if rule.tpr else 0.0
    of_ood = accept_ood * rule.fpr + reject_ood * (1 - rule.fpr) if prior else 0.0
    return float((1 - prior) * of_id + prior * of_ood)


def _kinds_of_ood(groups, is_ood):
    """Yield each kind of OOD samples, and which samples are of it."""
    if groups is None:
        return
    groups = column_or_1d(np.asarray(groups), warn=True)
    check_same_length(len(is_ood), groups=groups)
    # As Python objects, so that names of any kind may stand beside each other.
    groups = np.array(groups.tolist(), dtype=object)
    kinds = set(groups[is_ood].tolist())
    if any(kind is None or kind != kind for kind in kinds):
        raise ValueError(
            "groups has no value for an OOD sample (None or NaN). Pass the group of "
            "each OOD sample; the groups of other samples are not used."
        )
    for kind in sorted(kinds, key=lambda kind: (str(type(kind)), kind)):
        yield kind, is_ood & (groups == kind)
