"""Reports: what was promised beside what new samples show, of every estimator."""

from copy import copy

import numpy as np
from scipy.stats import t
from sklearn.utils import column_or_1d

from sklearn_reject._curves._prefixes import RELATIVE_TOLERANCE
from sklearn_reject._estimators._groups import as_objects, labels_of
from sklearn_reject._estimators._ood_target import OODTarget
from sklearn_reject._estimators._problem import bound_of_losses
from sklearn_reject._estimators._report_table import Report, ReportPart, ReportPromise
from sklearn_reject._estimators._targets import (
    FAILURE_RATE,
    PRECISION,
    RECALL,
    RISK,
    RiskBounds,
    find_target,
)
from sklearn_reject._fitting._experts import fill_in
from sklearn_reject._fitting._folds import losses_inside
from sklearn_reject._interval import ApproximateInterval, Interval
from sklearn_reject._validation import (
    check_level,
    check_same_length,
    check_sample_weight,
    refuse_missing_labels,
    take_weight,
)
from sklearn_reject.losses import losses_where_known
from sklearn_reject.selection import BOUNDS, binomial_upper, precision_of

# What bounds a mean of losses that are neither zero nor the largest.
_ANY = "hoeffding_bentkus"


def mean_with_interval(values, weight, largest, bound, confidence_level):
    """Return the mean of values in [0, `largest`], which may be None, with an interval.

    Without weights it is that of a bound by its name, which is exact for "binomial" and
    wider for others. A weighted mean has as many samples as have its variance, and no
    more than its weights say (Korn and Graubard). What has no `largest` value, but
    varies, has an interval of Student's t.
    """
    n_samples, tail = len(values), (1 - confidence_level) / 2
    if not n_samples:
        return Interval(np.nan, 0.0, np.inf if largest is None else largest, 0)
    value = float(np.average(values, weights=weight))
    if weight is None and largest is not None:
        upper, scaled = BOUNDS[bound].upper, values / largest
        low, high = 1 - upper(1 - scaled, tail), upper(scaled, tail)
        return Interval(value, largest * low, largest * high, n_samples)
    share = np.ones(n_samples) if weight is None else weight
    share = share / share.sum()
    size, variance = 1 / (share @ share), share**2 @ (values - value) ** 2
    if largest is not None:
        if variance:
            size = min(size, value * (largest - value) / variance)
        count = size * value / largest
        low = largest * (1 - binomial_upper(size - count, size, tail))
        high = largest * binomial_upper(count, size, tail)
    elif np.ptp(values) > RELATIVE_TOLERANCE * value and size > 1:
        error = np.sqrt(variance * size / (size - 1))
        low, high = t.interval(confidence_level, size - 1, value, error)
    else:
        return Interval(value, 0.0, np.inf, n_samples)
    return ApproximateInterval(value, max(float(low), 0.0), float(high), n_samples)


def _join(function, one, other, largest=np.inf):
    """Return the interval of what two others make, monotone in each of them."""
    corners = [float(function(x, z)) for x in one[1:3] for z in other[1:3]]
    known = [x for x in corners if not np.isnan(x)] or [0.0, 1.0]
    ends = np.clip([min(known), max(known)], 0.0, largest).tolist()
    kind = type(one) if one.is_approximate else type(other)
    value = float(function(one.value, other.value))
    return kind(value, *ends, one.n_samples + other.n_samples)


class Samples:
    """Samples of a report: what is accepted, what it costs, how to bound its mean.

    `losses` are NaN where a label is not known. Methods get the rows that they are
    about as a mask.
    """

    def __init__(self, estimator, accepted, losses, sample_weight, confidence_level):
        self.estimator, self.accepted, self.losses = estimator, accepted, losses
        self.weight = check_sample_weight(sample_weight, len(accepted))
        self.confidence_level = check_level(confidence_level, "confidence_level")
        self.max_loss = estimator.loss_.max_loss
        if self.max_loss is None:
            self.max_loss = getattr(estimator, "max_loss", None)
        self.bound = bound_of_losses(estimator.loss_, self.max_loss, _ANY)["bound"]
        self.all = np.ones(len(losses), dtype=bool)

    def mean(self, values, rows, largest, bound=_ANY):
        """Return the mean of values in some rows, of those known, with an interval."""
        rows = rows & ~np.isnan(values)
        rows &= True if self.weight is None else self.weight > 0
        given = values[rows], take_weight(self.weight, rows), largest, bound
        return mean_with_interval(*given, self.confidence_level)

    def share(self, flags, rows):
        """Return the share of some rows that has a flag."""
        return self.mean(flags.astype(np.float64), rows, 1.0, "binomial")

    def coverage(self, rows):
        """Return the accepted share of some rows."""
        return self.share(self.accepted, rows)

    def risk(self, rows, filled=None):
        """Return the mean loss of some rows, those that are not known filled."""
        losses = self.losses
        if filled is not None:
            losses = np.where(np.isnan(losses), filled, losses)
        return self.mean(losses, rows, self.max_loss, self.bound)

    def selective_risk(self, rows):
        """Return the mean loss of the accepted ones of some rows."""
        return self.risk(rows & self.accepted)

    def accuracy(self, rows):
        """Return the share of the accepted ones of some rows that is right."""
        return self.share(self.losses == 0, rows & self.accepted)

    def cost(self, rows, price=0.0):
        """Return the mean loss of some rows, a price where they are rejected."""
        largest = self.max_loss and max(self.max_loss, price)
        values = np.where(self.accepted, self.losses, price)
        return self.mean(values, rows, largest, _ANY if price else self.bound)

    failure_rate = cost

    def part(self, name, rows):
        """Return some rows as a part of the report."""
        return ReportPart(name, self.coverage(rows), self.selective_risk(rows))

    def true_classes(self, y, rows):
        """Return a part for each true class, those that were never fitted included."""
        classes = np.asarray(self.estimator.classes_).tolist()
        lost = sorted(set(y[rows].tolist()) - set(classes), key=str)
        names = {k: f"true {k}" for k in classes}
        names |= {k: f"true {k}, never fitted" for k in lost}
        return [self.part(name, rows & (y == k)) for k, name in names.items()]

    def report(self, promises, parts, **options):
        """Return the report of rows that `ReportPromise` takes, and of parts."""
        name, size = type(self.estimator).__name__, len(self.accepted)
        promises = tuple(_without_bound(*each) for each in promises)
        level = self.confidence_level
        return Report(name, size, level, promises, tuple(parts), **options)


def _without_bound(quantity, part, sense, bound, level, *values):
    """Return a promise, without sense and level where there is no bound."""
    if bound is None or not sense:
        return ReportPromise(quantity, part, "", np.nan, None, *values)
    return ReportPromise(quantity, part, sense, float(bound), level, *values)


def report_selective(estimator, X, y, *options):
    """Return the report of a classifier or regressor that rejects."""
    labels, _, accepted = estimator.predict_all(X)
    check_same_length(len(labels), y=y)
    y, losses = np.asarray(y), estimator.loss_(y, labels)
    samples = Samples(estimator, accepted, losses, *options)
    target, groups = find_target(estimator), _groups_of(estimator, X, labels)
    if isinstance(target, RiskBounds):
        promises = _promises_of_parts(samples, labels, y)
    else:
        promises = _promises(samples, target, groups)
    parts = [samples.part("all", samples.all)]
    if hasattr(estimator, "classes_"):
        classes = np.asarray(estimator.classes_).tolist()
        parts += [samples.part(f"predicted {k}", labels == k) for k in classes]
        parts += samples.true_classes(y, samples.all)
    if groups is not None and estimator.group_by_ != "prediction":
        known = estimator.rule_.rules
        parts += [samples.part(f"group {g}", groups == g) for g in known]
    return samples.report(promises, parts)


def _groups_of(estimator, X, labels):
    """Return the groups of samples with rules of their own, None without any."""
    if not hasattr(estimator.rule_, "rules"):
        return None
    return as_objects(labels_of(estimator.group_by_, X, labels))


def _promises(samples, target, groups):
    """Yield the promise to all samples, or to each group."""
    rule, certified = samples.estimator.rule_, samples.estimator.confidence_level
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


# Of a parameter: the quantity, its sense, and the method of samples that finds it.
_OF_PARTS = {
    PRECISION: ("precision", ">=", "accuracy"),
    RECALL: ("recall", ">=", "accuracy"),
    RISK: ("risk", "<=", "selective_risk"),
    FAILURE_RATE: ("failure rate", "<=", "failure_rate"),
}


def _promises_of_parts(samples, labels, y):
    """Yield the promises to true and predicted classes, met by one rule."""
    estimator = samples.estimator
    for (name, label), asked in estimator.bounds_.items():
        kind, of_rows = ("predicted", labels) if name == PRECISION else ("true", y)
        quantity, sense, method = _OF_PARTS[name]
        achieved = getattr(samples, method)(of_rows == label)
        bound = sense, asked.bound, estimator.confidence_level
        yield quantity, f"{kind} {label}", *bound, asked.achieved, achieved


class _Deferred(Samples):
    """Samples of a classifier that asks: those accepted are those it asks about.

    `levels` say who answers, and `paid` has the costs of each level but the first.
    """

    deferral_rate = Samples.coverage

    def cost(self, rows, price):
        """Return the mean loss of some rows, and of what was paid for asking."""
        largest = self.max_loss
        if largest is not None:
            largest += self.paid.max(axis=0).sum()
        if np.isnan(self.system_risk(rows).value):  # no answer of some level is known
            rows = ~self.all
        return self.mean(self.losses + self.paid.sum(axis=1), rows, largest)

    def system_risk(self, rows):
        """Return the mean loss; missing ones are as those of their level.

        The interval allows missing losses any value.
        """
        known, missing = self.risk(rows), rows & np.isnan(self.losses)
        if not missing.any():
            return known
        likely = self.losses.copy()
        for level in np.unique(self.levels[missing]):
            here = rows & (self.levels == level)
            likely[here & missing] = self.risk(here).value
        value = np.average(likely[rows], weights=take_weight(self.weight, rows))
        high = np.inf
        if self.max_loss is not None:
            high = self.risk(rows, self.max_loss).high
        found = {"value": float(value), "high": high, "n_samples": known.n_samples}
        return self.risk(rows, 0.0)._replace(**found)


def report_deferral(estimator, X, y, known, *options):
    """Return the report of a classifier that asks a second opinion."""
    traced = estimator._answer_all(X)
    labels = fill_in(traced.labels, traced.is_open, known)
    losses = losses_where_known(estimator.loss_, y, labels, "expert_labels")
    samples = _Deferred(estimator, traced.levels > 0, losses, *options)
    samples.levels, samples.paid = traced.levels, traced.costs
    groups = None
    if hasattr(estimator.rule_, "rules"):
        groups = _groups_of(estimator, X, estimator.predict_first(X))
    spent = np.average(traced.costs, axis=0, weights=samples.weight).tolist()
    shares = samples.share(samples.all, samples.all), samples.system_risk(samples.all)
    parts = [ReportPart("all", *shares, float(np.sum(spent)))]
    levels = zip(estimator._names, [0.0, *spent], strict=True)
    for level, (name, cost) in enumerate(levels):
        here = traced.levels == level
        shares = samples.share(here, samples.all), samples.risk(here)
        parts.append(ReportPart(name, *shares, cost))
    promises = _promises(samples, find_target(estimator), groups)
    titles = "answers", "risk of answers", "cost of asking"
    return samples.report(promises, parts, titles=titles)


class _OfOrigins(Samples):
    """Samples in distribution, OOD and wild, of these `origins`, and the `target`."""

    @property
    def half(self):
        """The same, for two intervals that share the error of one."""
        half = copy(self)
        half.confidence_level = (1 + self.confidence_level) / 2
        return half

    def tpr(self):
        """Return the share of the ID samples that is accepted."""
        return self.coverage(~self.origins.is_outside)

    def fpr(self):
        """Return the share of the OOD samples that is accepted.

        Wild samples tell it where no sample is labeled as OOD.
        """
        is_ood, is_wild = self.origins.is_ood, self.origins.is_wild
        if is_ood.any() or not is_wild.any():
            return self.coverage(is_ood)
        wild, share = self.half.coverage(is_wild), self.target.wild_share
        pair = wild, self.half.tpr()
        fpr = _join(lambda x, z: (x - (1 - share) * z) / share, *pair, 1.0)
        return fpr._replace(n_samples=wild.n_samples)

    def id_risk(self):
        """Return the mean loss of the accepted ID samples."""
        return self.selective_risk(~self.origins.is_outside)

    def precision(self):
        """Return the share of ID samples among those accepted at the prior."""
        prior, pair = self.target.model.ood_prior, (self.half.tpr(), self.half.fpr())
        return _join(lambda x, z: precision_of(x, z, prior), *pair)

    def mean_cost(self):
        """Return the mean cost at the prior."""
        of_id = self.half.cost(~self.origins.is_outside, self.target.asked["costs"][0])
        return _join(self.target.cost, of_id, self.half.fpr())

    def promises(self):
        """Yield what was asked for, and the precision wherever there is a prior."""
        found = {"TPR": self.tpr, "FPR": self.fpr, "risk": self.id_risk}
        found |= {"cost": self.mean_cost, "precision": self.precision}
        level = getattr(self.estimator.rule_.certificate, "confidence_level", None)
        for quantity, *bound, value in self.target.achieved(self.estimator.rule_):
            yield quantity, "all", *bound, level, value, found[quantity]()


def report_ood(estimator, X, y, groups, *options):
    """Return the report; `groups` are kinds of OOD samples, or None."""
    labels, _, accepted = estimator.predict_all(X)
    check_same_length(len(labels), y=y)
    origins = estimator._origins(y)
    y, is_id = origins.y, ~origins.is_outside
    losses = losses_inside(estimator.loss_, y, labels, is_id)
    samples = _OfOrigins(estimator, accepted, losses, *options)
    samples.origins, samples.target = origins, OODTarget.of(estimator)
    nothing = samples.risk(~samples.all)
    parts = [samples.part("in distribution", is_id)]
    parts.append(ReportPart("out of distribution", samples.fpr(), nothing))
    if groups is not None:
        groups = as_objects(column_or_1d(np.asarray(groups), warn=True))
        check_same_length(len(y), groups=groups)
        refuse_missing_labels(np.where(origins.is_ood, groups, ""), "groups")
        for kind in sorted(set(groups[origins.is_ood].tolist()), key=str):
            coverage = samples.coverage(origins.is_ood & (groups == kind))
            parts.append(ReportPart(f"OOD {kind}", coverage, nothing))
    parts += samples.true_classes(y, is_id)
    return samples.report(samples.promises(), parts)
