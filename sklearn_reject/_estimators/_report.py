"""Reports: what was promised beside what new samples show, of every estimator."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import t
from sklearn.utils import column_or_1d

from sklearn_reject._curves._prefixes import RELATIVE_TOLERANCE
from sklearn_reject._estimators._groups import as_objects, labels_of
from sklearn_reject._estimators._ood_target import OODTarget
from sklearn_reject._estimators._problem import bound_of_losses
from sklearn_reject._estimators._targets import RiskBounds, find_target
from sklearn_reject._fitting._experts import fill_in
from sklearn_reject._fitting._folds import losses_inside
from sklearn_reject._interval import ApproximateInterval, Interval
from sklearn_reject._short_repr import align, cell_of, short_repr
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

# So many classes or groups are printed, the worst of them; the dictionary has them all.
_MOST_PARTS = 12


class ReportPromise(NamedTuple):
    """One thing that was asked for, and what was achieved.

    Attributes
    ----------
    quantity : str
        What is bounded, such as "risk" or "coverage".

    part : str
        The samples that it is about: "all", or a class or a group.

    sense : str
        "<=" or ">=". Empty where there is no bound, as of a cost that is minimized, or
        of a precision that was not asked for.

    bound : float
        What was asked for. NaN where there is no bound.

    confidence_level : float or None
        Probability with which all bounds were certified for new samples, together. None
        if nothing was certified.

    calibration : float
        What the rule achieves on the samples that it was solved on.

    achieved : Interval
        What it achieves on the samples of the report.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn_reject import ReportPromise, SelectiveClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> selective = SelectiveClassifier(GaussianNB(), target_risk=0.04)
    >>> report = selective.fit(X[:300], y[:300]).report(X[300:], y[300:])
    >>> promise = report.promises[0]
    >>> isinstance(promise, ReportPromise), promise.quantity, promise.verdict
    (True, 'risk', 'kept')
    """

    quantity: str
    part: str
    sense: str
    bound: float
    confidence_level: float | None
    calibration: float
    achieved: Interval

    __repr__ = short_repr

    @property
    def verdict(self) -> str:
        """What the samples say of the bound.

        It is "kept" where the whole interval is within the bound. Where only the value
        is, the samples are "too few to tell". It is "within noise" where the value is
        beyond the bound, and "missed" where the whole interval is. Empty without a
        bound, without samples or without an interval.
        """
        value, low, high, _ = self.achieved
        if not self.sense or np.isnan(value) or np.isinf(high):
            return ""
        bound = self.bound
        if self.sense == ">=":
            value, low, high, bound = -value, -high, -low, -bound
        if value <= bound:
            return "kept" if high <= bound else "too few to tell"
        return "within noise" if low <= bound else "missed"


class ReportPart(NamedTuple):
    """Some of the samples, how many are accepted and how well these are predicted.

    Attributes
    ----------
    name : str
        "all", or a class, a group or whoever answers.

    coverage : Interval
        Share that is accepted. Its `n_samples` are those of the part.

    risk : Interval
        Mean loss of those accepted, lower is better. NaN where nothing is accepted.

    cost : float, default=0.0
        What asking for these answers has cost, a sample of all, in units of the loss;
        that of all levels of a cascade for "all". NaN where costs are by group and a
        sample is of another one.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn_reject import ReportPart, SelectiveClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> selective = SelectiveClassifier(GaussianNB(), target_risk=0.03)
    >>> report = selective.fit(X[:300], y[:300]).report(X[300:], y[300:])
    >>> part = report.parts[-1]
    >>> isinstance(part, ReportPart), part.name, part.coverage.n_samples
    (True, 'true 1', 203)
    """

    name: str
    coverage: Interval
    risk: Interval
    cost: float = 0.0

    __repr__ = short_repr


@dataclass(frozen=True, repr=False)
class Report:
    """What an estimator that abstains was asked for and does on new samples.

    Print it to read it.

    Attributes
    ----------
    estimator : str
        Name of the class.

    n_samples : int
        Number of samples.

    confidence_level : float
        Least probability of each interval by itself.

    promises : tuple of ReportPromise
        What was asked for, on the samples that solved the rule and on these.

    parts : tuple of ReportPart
        All samples, and each class or group.

    titles : tuple of str, optional
        What the share, the risk and, of who asks others, the cost of a part are.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn_reject import Report, SelectiveClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> selective = SelectiveClassifier(GaussianNB(), target_risk=0.03)
    >>> report = selective.fit(X[:300], y[:300]).report(X[300:], y[300:])
    >>> isinstance(report, Report), list(report.to_dict())
    (True, ['estimator', 'n_samples', 'confidence_level', 'promises', 'parts'])
    """

    estimator: str
    n_samples: int
    confidence_level: float
    promises: tuple[ReportPromise, ...]
    parts: tuple[ReportPart, ...]
    titles: tuple[str, ...] = ("accepted", "risk of accepted")

    def to_dict(self) -> dict[str, Any]:
        """Return the report as dictionaries, lists, strings and numbers.

        Returns
        -------
        report : dict
            The attributes by name. Each promise has its "verdict", too, and intervals
            are dictionaries of "value", "low", "high", "n_samples" and
            "is_approximate".
        """
        shown = {name: _plain(value) for name, value in vars(self).items()}
        del shown["titles"]
        return shown

    def __str__(self):
        samples = "sample" if self.n_samples == 1 else "samples"
        titles = "promise", "bound", "calibration", "these samples", ""
        lines = [
            f"{self.estimator} on {self.n_samples} {samples}, "
            f"intervals of {100 * self.confidence_level:g} % confidence each",
            "",
            *align([titles, *map(_promise_cells, self.promises)]),
            "",
            *align(self._part_rows()),
        ]
        left_out = len(self.parts) - _MOST_PARTS
        if left_out > 0:
            lines.append(f"... and {left_out} more of lower risk, see to_dict()")
        if any("(~" in line for line in lines):
            lines += ["~ approximate intervals: of weights, or without a largest loss"]
        return "\n".join(lines)

    def _part_rows(self):
        """Return the cells of a table, the costs only where something has a price."""
        rows, (first, *rest) = [("samples", "number", *self.titles)], self.parts
        if len(self.parts) > _MOST_PARTS:
            rest.sort(key=lambda part: -np.nan_to_num(part.risk.value, nan=-np.inf))
        for part in [first, *rest[: _MOST_PARTS - 1]]:
            shown = _interval(part.coverage), _interval(part.risk), cell_of(part.cost)
            rows.append((part.name, str(part.coverage.n_samples), *shown))
        n_columns = 5 if any(part.cost for part in self.parts) else 4
        return [row[:n_columns] for row in rows]

    __repr__ = __str__


def _promise_cells(promise):
    name = promise.quantity
    if promise.part != "all":
        name = f"{name}, {promise.part}"
    asked = "least" if promise.quantity == "cost" else "-"
    if promise.sense:
        asked = f"{promise.sense} {promise.bound:.4g}"
    if promise.confidence_level is not None:
        asked = f"{asked} at {100 * promise.confidence_level:g} %"
    shown = cell_of(promise.calibration), _interval(promise.achieved)
    return name, asked, *shown, promise.verdict


def _interval(interval):
    value, low, high, _ = interval
    if np.isnan(value) or np.isinf(high):
        return cell_of(value)
    sign = "~" * interval.is_approximate
    return f"{cell_of(value)} ({sign}{cell_of(low)} to {cell_of(high)})"


def _plain(value):
    """Return named tuples as dictionaries, and what they say of themselves."""
    if not isinstance(value, tuple):
        return value
    if type(value) is tuple:
        return [_plain(each) for each in value]
    said = {"verdict", "is_approximate"} & set(dir(value))
    plain = {name: _plain(each) for name, each in value._asdict().items()}
    return plain | {name: getattr(value, name) for name in said}


class Samples:
    """Samples of a report: what is accepted, what it costs, how to bound its mean.

    `losses` are NaN where a label is not known. Methods get the rows that they are
    about as a mask.
    """

    def __init__(self, estimator, accepted, losses, sample_weight, confidence_level):
        self.estimator, self.accepted, self.losses = estimator, accepted, losses
        self.weight = check_sample_weight(sample_weight, len(accepted))
        self.level = check_level(confidence_level, "confidence_level")
        self.max_loss = estimator.loss_.max_loss
        if self.max_loss is None:
            self.max_loss = getattr(estimator, "max_loss", None)
        self.bound = bound_of_losses(estimator.loss_, self.max_loss, _ANY)["bound"]
        self.all = np.ones(len(losses), dtype=bool)

    def mean(self, values, rows, largest=1.0, bound="binomial"):
        """Return the mean of values in some rows, of those known, with an interval.

        Values are in [0, `largest`], which may be None. Without weights the interval is
        that of a bound by its name, which is exact for "binomial" and wider for others.
        A weighted mean has as many samples as have its variance, and no more than its
        weights say (Korn and Graubard). What has no `largest` value, but varies, has an
        interval of Student's t.
        """
        rows = rows & ~np.isnan(values)
        rows &= True if self.weight is None else self.weight > 0
        values, weight = values[rows].astype(float), take_weight(self.weight, rows)
        n_samples, tail = len(values), (1 - self.level) / 2
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
            low, high = t.interval(self.level, size - 1, value, error)
        else:
            return Interval(value, 0.0, np.inf, n_samples)
        return ApproximateInterval(value, max(float(low), 0.0), float(high), n_samples)

    def coverage(self, rows):
        """Return the accepted share of some rows."""
        return self.mean(self.accepted, rows)

    def accuracy(self, rows):
        """Return the share of the accepted ones of some rows that is right."""
        return self.mean(self.losses == 0, rows & self.accepted)

    def selective_risk(self, rows):
        """Return the mean loss of the accepted ones of some rows."""
        return self.mean(self.losses, rows & self.accepted, self.max_loss, self.bound)

    def cost(self, rows, price=0.0):
        """Return the mean loss of some rows, a price where they are rejected."""
        largest = self.max_loss and max(self.max_loss, price)
        values = np.where(self.accepted, self.losses, price)
        return self.mean(values, rows, largest, _ANY if price else self.bound)

    failure_rate = cost

    def half(self):
        """Return the same, for two intervals that share the error of one."""
        half = copy(self)
        half.level = (1 + self.level) / 2
        return half

    def part(self, name, rows):
        """Return some rows as a part of the report."""
        return ReportPart(name, self.coverage(rows), self.selective_risk(rows))

    def true_classes(self, y, rows):
        """Return a part for each true class, those that were never fitted included."""
        known = np.asarray(self.estimator.classes_).tolist()
        lost = sorted(set(y[rows].tolist()) - set(known), key=str)
        names = {k: f"true {k}" + ", never fitted" * (k in lost) for k in known + lost}
        return [self.part(name, rows & (y == k)) for k, name in names.items()]

    def report(self, promises, parts, **options):
        """Return the report of rows that `ReportPromise` takes, and of parts.

        There is neither sense nor level where there is no bound.
        """
        found = []
        for quantity, part, sense, bound, level, *values in promises:
            asked = sense, bound, level
            if bound is None or not sense:
                asked = "", np.nan, None
            found.append(ReportPromise(quantity, part, *asked, *values))
        name, size = type(self.estimator).__name__, len(self.accepted)
        return Report(name, size, self.level, tuple(found), tuple(parts), **options)


def report_selective(estimator, X, y, *options):
    """Return the report of a classifier or regressor that rejects."""
    labels, _, accepted = estimator.predict_all(X)
    check_same_length(len(labels), y=y)
    y, losses = np.asarray(y), estimator.loss_(y, labels)
    samples = Samples(estimator, accepted, losses, *options)
    target, groups = find_target(estimator), _groups_of(estimator, X, labels)
    if isinstance(target, RiskBounds):
        promises = _promises_of_classes(samples, labels, y)
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


def _groups_of(estimator, X, labels=None):
    """Return the groups of samples with rules of their own, None without any."""
    if not hasattr(estimator.rule_, "rules"):
        return None
    labels = estimator.predict_first(X) if labels is None else labels
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


def _promises_of_classes(samples, labels, y):
    """Yield the promises to true and predicted classes, met by one rule."""
    rows = {
        "min_precision": ("precision", "predicted", labels, ">=", samples.accuracy),
        "min_recall": ("recall", "true", y, ">=", samples.accuracy),
        "target_risk": ("risk", "true", y, "<=", samples.selective_risk),
        "target_failure_rate": ("failure rate", "true", y, "<=", samples.failure_rate),
    }
    level = samples.estimator.confidence_level
    for (name, k), asked in samples.estimator.bounds_.items():
        quantity, kind, of_rows, sense, find = rows[name]
        values = asked.bound, level, asked.achieved, find(of_rows == k)
        yield quantity, f"{kind} {k}", sense, *values


class _Deferred(Samples):
    """Samples of a classifier that asks: those accepted are those it asks about.

    `levels` say who answers, and `paid` has the costs of each level but the first.
    """

    deferral_rate = Samples.coverage

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
        return self.mean(self.losses + self.paid.sum(axis=1), rows, largest, _ANY)

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
    samples = _Deferred(estimator, traced.levels > 0, losses, *options)
    samples.levels, samples.paid = traced.levels, traced.costs
    spent = np.average(traced.costs, axis=0, weights=samples.weight).tolist()
    whole = samples.mean(samples.all, samples.all), samples.system_risk(samples.all)
    parts = [ReportPart("all", *whole, float(np.sum(spent)))]
    names = zip(estimator._names, [0.0, *spent], strict=True)
    for level, (name, cost) in enumerate(names):
        here = traced.levels == level
        share, risk = samples.mean(here, samples.all), samples.risk(losses, here)
        parts.append(ReportPart(name, share, risk, cost))
    promises = _promises(samples, find_target(estimator), groups)
    titles = "answers", "risk of answers", "cost of asking"
    return samples.report(promises, parts, titles=titles)


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
    samples = Samples(estimator, accepted, losses, *options)
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
    return samples.report(promises, parts + samples.true_classes(y, is_id))
