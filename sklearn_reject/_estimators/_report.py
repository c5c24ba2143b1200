"""Reports: what was promised beside what new samples show, of every estimator."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy.stats import t
from sklearn.utils import column_or_1d

from sklearn_reject._estimators._deferral_base import Trace, trace
from sklearn_reject._estimators._groups import as_objects, labels_of
from sklearn_reject._estimators._rejection_models import bound_of_losses
from sklearn_reject._estimators._targets import (
    FAILURE_RATE,
    PRECISION,
    RECALL,
    RISK,
    RiskBounds,
    find_target,
)
from sklearn_reject._fitting._folds import losses_inside
from sklearn_reject._interval import ApproximateInterval, Interval
from sklearn_reject._labels import Origins
from sklearn_reject._short_repr import align, short_repr
from sklearn_reject._validation import (
    check_level,
    check_same_length,
    check_sample_weight,
    refuse_missing_labels,
    take_weight,
)
from sklearn_reject.losses import losses_where_known
from sklearn_reject.selection import BOUNDS, binomial_upper, precision_of

# So many classes or groups are printed, the worst of them; the dictionary has them all.
_MOST_PARTS = 12

# What bounds a mean of losses that are neither zero nor the largest.
_ANY = "hoeffding_bentkus"


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
    def verdict(
        self,
    ) -> Literal["kept", "too few to tell", "within noise", "missed", ""]:
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
        promises = [_promise_cells(each) for each in self.promises]
        lines = [
            f"{self.estimator} on {self.n_samples} {samples}, "
            f"intervals of {100 * self.confidence_level:g} % confidence each",
            "",
            *align(
                [("promise", "bound", "calibration", "these samples", ""), *promises]
            ),
            "",
            *align(self._part_rows()),
        ]
        left_out = len(self.parts) - _MOST_PARTS
        if left_out > 0:
            lines.append(f"... and {left_out} more of lower risk, see to_dict()")
        if any("(~" in line for line in lines):
            lines.append("(~ intervals are approximate: see Interval.is_approximate)")
        return "\n".join(lines)

    def _part_rows(self):
        """Return the cells of a table, the costs only where something has a price."""
        rows, (first, *rest) = [("samples", "number", *self.titles)], self.parts
        if len(self.parts) > _MOST_PARTS:
            rest.sort(key=lambda part: -np.nan_to_num(part.risk.value, nan=-np.inf))
        for part in [first, *rest[: _MOST_PARTS - 1]]:
            shown = _interval(part.coverage), _interval(part.risk), _number(part.cost)
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
    shown = _number(promise.calibration), _interval(promise.achieved)
    return name, asked, *shown, promise.verdict


def _number(value):
    if np.isnan(value):
        return "-"
    return f"{value:.3f}" if abs(value) < 100 else f"{value:.4g}"


def _interval(interval):
    value, low, high, _ = interval
    if np.isnan(value) or np.isinf(high):
        return _number(value)
    sign = "~" * interval.is_approximate
    return f"{_number(value)} ({sign}{_number(low)} to {_number(high)})"


def _plain(value):
    """Return named tuples as dictionaries, and what they say of themselves."""
    if not isinstance(value, tuple):
        return value
    if type(value) is tuple:
        return [_plain(each) for each in value]
    said = {"verdict", "is_approximate"} & set(dir(value))
    plain = {name: _plain(each) for name, each in value._asdict().items()}
    return plain | {name: getattr(value, name) for name in said}


def interval_of_mean(values, weight, largest, bound, confidence_level):
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
    elif variance and size > 1:
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


@dataclass(frozen=True, eq=False)
class Samples:
    """Samples of a report: what is accepted, what it costs, how to bound its mean.

    `losses` are NaN where a label is not known. `certified` is the confidence with
    which all promises hold together, None without certificates. Methods get the rows
    that they are about as a mask.
    """

    accepted: np.ndarray
    losses: np.ndarray
    weight: np.ndarray | None
    max_loss: float | None
    bound: str
    confidence_level: float
    certified: float | None

    @classmethod
    def of(cls, estimator, accepted, losses, sample_weight, confidence_level, *more):
        """Return samples of an estimator, whose loss and guarantee they know.

        Groups share the chance of an error, but what they are promised holds together.
        """
        level = check_level(confidence_level, "confidence_level")
        weight = check_sample_weight(sample_weight, len(accepted))
        largest = estimator.loss_.max_loss
        if largest is None:
            largest = getattr(estimator, "max_loss", None)
        bound = bound_of_losses(estimator.loss_, largest, _ANY)["bound"]
        certified = estimator.confidence_level
        return cls(accepted, losses, weight, largest, bound, level, certified, *more)

    @property
    def all(self):
        """The mask of all samples."""
        return np.ones(len(self.losses), dtype=bool)

    def mean(self, values, rows, largest, bound=_ANY):
        """Return the mean of values in some rows, of those known, with an interval."""
        rows = rows & ~np.isnan(values)
        if self.weight is not None:
            rows &= self.weight > 0
        weight = take_weight(self.weight, rows)
        level = self.confidence_level
        return interval_of_mean(values[rows], weight, largest, bound, level)

    def share(self, flags, rows):
        """Return the share of some rows that has a flag."""
        return self.mean(flags.astype(np.float64), rows, 1.0, "binomial")

    def risk(self, rows):
        """Return the mean loss of some rows."""
        return self.mean(self.losses, rows, self.max_loss, self.bound)

    def coverage(self, rows):
        """Return the accepted share of some rows."""
        return self.share(self.accepted, rows)

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

    def true_classes(self, classes, y, rows):
        """Return a part for each true class, those that were never fitted included."""
        parts = [self.part(f"true {k}", rows & (y == k)) for k in classes]
        lost = sorted(set(y[rows].tolist()) - set(classes), key=str)
        return parts + [
            self.part(f"true {k}, never fitted", rows & (y == k)) for k in lost
        ]

    def report(self, estimator, promises, parts, **options):
        """Return the report."""
        size, level = len(self.accepted), self.confidence_level
        given = type(estimator).__name__, size, level, tuple(promises), tuple(parts)
        return Report(*given, **options)


def report_selective(estimator, X, y, sample_weight, confidence_level):
    """Return the report of a classifier or regressor that rejects."""
    labels, _, accepted = estimator.predict_all(X)
    check_same_length(len(labels), y=y)
    losses = estimator.loss_(y, labels)
    given = accepted, losses, sample_weight, confidence_level
    samples = Samples.of(estimator, *given)
    target, groups = find_target(estimator), _groups_of(estimator, X, labels)
    if isinstance(target, RiskBounds):
        promises = _promises_of_parts(estimator, samples, labels, np.asarray(y))
    else:
        promises = _promises(estimator, samples, target, groups)
    parts = [samples.part("all", samples.all)]
    if hasattr(estimator, "classes_"):
        classes = np.asarray(estimator.classes_).tolist()
        parts += [samples.part(f"predicted {k}", labels == k) for k in classes]
        parts += samples.true_classes(classes, np.asarray(y), samples.all)
    if groups is not None and estimator.group_by_ != "prediction":
        parts += [
            samples.part(f"group {g}", groups == g) for g in estimator.rule_.rules
        ]
    return samples.report(estimator, promises, parts)


def _groups_of(estimator, X, labels):
    """Return the groups of samples with rules of their own, None without any."""
    if not hasattr(estimator.rule_, "rules"):
        return None
    labels = estimator.predict_first(X) if labels is None else labels
    return as_objects(labels_of(estimator.group_by_, X, labels))


def _promise(quantity, part, sense, bound, level, *values):
    """Return what was asked for, if it is a bound, and what was achieved of it."""
    is_bound = bool(sense) and bound is not None
    asked = (sense, float(bound), level) if is_bound else ("", np.nan, None)
    return ReportPromise(quantity, part, *asked, *values)


def _promises(estimator, samples, target, groups):
    """Return the promise to all samples, or to each group."""
    asked = [(target, estimator.rule_, samples.all, "all")]
    if groups is not None:
        rules = estimator.rule_.rules
        targets = target.by_group(list(rules))
        asked = [(targets[g], rules[g], groups == g, f"group {g}") for g in rules]
    promises = []
    for target, rule, rows, part in asked:
        # A group without a rule that can be certified has another one, or none.
        level = None if rule.certificate is None else samples.certified
        price = () if target.sense else (target.value,)
        values = (
            target.achieved_by(rule),
            getattr(samples, target.achieved)(rows, *price),
        )
        bound = target.sense, target.value, level
        promises.append(_promise(target.quantity, part, *bound, *values))
    return promises


# Of a parameter: the quantity, its sense, and the method of samples that finds it.
_OF_PARTS = {
    PRECISION: ("precision", ">=", "accuracy"),
    RECALL: ("recall", ">=", "accuracy"),
    RISK: ("risk", "<=", "selective_risk"),
    FAILURE_RATE: ("failure rate", "<=", "failure_rate"),
}


def _promises_of_parts(estimator, samples, labels, y):
    """Return the promises to true and predicted classes, met by one rule."""
    promises = []
    for (name, label), asked in estimator.bounds_.items():
        kind, of_rows = ("predicted", labels) if name == PRECISION else ("true", y)
        quantity, sense, method = _OF_PARTS[name]
        achieved = getattr(samples, method)(of_rows == label)
        bound = sense, asked.bound, samples.certified
        given = f"{kind} {label}", *bound, asked.achieved, achieved
        promises.append(_promise(quantity, *given))
    return promises


@dataclass(frozen=True, eq=False)
class _Deferred(Samples):
    """Samples of a classifier that asks: those accepted are those it asks about."""

    traced: Trace

    deferral_rate = Samples.coverage

    def cost(self, rows, price):
        """Return the mean loss of some rows, and of what was paid for asking."""
        paid, largest = self.traced.costs, self.max_loss
        if largest is not None:
            largest += paid[rows].max(axis=0, initial=0.0).sum()
        return self.mean(self.losses + paid.sum(axis=1), rows, largest)

    def system_risk(self, rows):
        """Return the mean loss; missing ones are as those of their level.

        The interval allows missing losses any value.
        """
        levels, missing = self.traced.levels, rows & np.isnan(self.losses)
        if not missing.any():
            return self.risk(rows)
        likely = self.losses.copy()
        for level in np.unique(levels[missing]):
            here = rows & (levels == level)
            likely[here & missing] = self.risk(here).value
        value = np.average(likely[rows], weights=take_weight(self.weight, rows))
        ends = [
            self.mean(
                np.where(missing, x, self.losses), rows, self.max_loss, self.bound
            )
            for x in (0.0, self.max_loss or 0.0)
        ]
        high = np.inf if self.max_loss is None else ends[1].high
        n_known = self.risk(rows).n_samples
        return ends[0]._replace(value=float(value), high=high, n_samples=n_known)


def report_deferral(estimator, X, y, known, sample_weight, confidence_level):
    """Return the report of a classifier that asks a second opinion."""
    if known is not None:
        known = estimator._person(known, len(y))
    traced = trace(estimator, X, known, np.arange(len(y)))
    losses = losses_where_known(estimator.loss_, y, traced.labels, "expert_labels")
    given = traced.levels > 0, losses, sample_weight, confidence_level
    samples = _Deferred.of(estimator, *given, traced)
    groups = _groups_of(estimator, X, None)
    promises = _promises(estimator, samples, find_target(estimator), groups)
    spent, every = np.average(traced.costs, axis=0, weights=samples.weight), samples.all
    share, risk = samples.share(every, every), samples.system_risk(every)
    parts = [ReportPart("all", share, risk, float(spent.sum()))]
    levels = zip(traced.names, [0.0, *spent.tolist()], strict=True)
    for level, (name, cost) in enumerate(levels):
        here = traced.levels == level
        share, risk = samples.share(here, every), samples.risk(here)
        parts.append(ReportPart(name, share, risk, cost))
    titles = "answers", "risk of answers", "cost of asking"
    return samples.report(estimator, promises, parts, titles=titles)


@dataclass(frozen=True, eq=False)
class _OfOrigins(Samples):
    """Samples in distribution, OOD and wild: unlabeled, a share of them OOD."""

    origins: Origins
    wild_share: float | None

    @property
    def is_id(self):
        """The mask of the samples in distribution."""
        return ~self.origins.is_outside

    @property
    def halves(self):
        """The same where two intervals share the error of one."""
        return replace(self, confidence_level=(1 + self.confidence_level) / 2)

    def tpr(self):
        """Return the share of the ID samples that is accepted."""
        return self.coverage(self.is_id)

    def fpr(self):
        """Return the share of the OOD samples that is accepted.

        Wild samples tell it where no sample is labeled as OOD.
        """
        is_ood, is_wild = self.origins.is_ood, self.origins.is_wild
        if is_ood.any() or not is_wild.any():
            return self.coverage(is_ood)
        wild, tpr = self.halves.coverage(is_wild), self.halves.tpr()
        share = self.wild_share
        fpr = _join(lambda x, z: (x - (1 - share) * z) / share, wild, tpr, 1.0)
        return fpr._replace(n_samples=wild.n_samples)

    def precision(self, prior):
        """Return the share of ID samples among those accepted at a prior."""
        tpr, fpr = self.halves.tpr(), self.halves.fpr()
        return _join(lambda x, z: precision_of(x, z, prior), tpr, fpr)

    def expected_cost(self, costs, prior):
        """Return the mean cost at a prior."""
        of_id, fpr = self.halves.cost(self.is_id, costs[0]), self.halves.fpr()
        return _join(lambda x, z: _cost_at(prior, x, z, costs), of_id, fpr)


def _cost_at(prior, of_id, fpr, costs):
    """Return the mean cost at a prior, where ID samples cost so much."""
    _, accept_ood, reject_ood = costs
    of_ood = reject_ood + (accept_ood - reject_ood) * fpr if prior else 0.0
    return (1 - prior) * of_id + prior * of_ood


def report_ood(estimator, X, y, groups, sample_weight, confidence_level):
    """Return the report; `groups` are kinds of OOD samples, or None."""
    labels, _, accepted = estimator.predict_all(X)
    check_same_length(len(labels), y=y)
    origins = estimator._origins(y)
    losses = losses_inside(estimator.loss_, origins.y, labels, ~origins.is_outside)
    given = accepted, losses, sample_weight, confidence_level
    samples = _OfOrigins.of(estimator, *given, origins, estimator.wild_share)
    nothing = samples.risk(~samples.all)
    parts = [
        samples.part("in distribution", samples.is_id),
        ReportPart("out of distribution", samples.fpr(), nothing),
        *(
            ReportPart(f"OOD {name}", samples.coverage(rows), nothing)
            for name, rows in _kinds_of_ood(groups, origins.is_ood)
        ),
        *samples.true_classes(origins.classes.tolist(), origins.y, samples.is_id),
    ]
    return samples.report(estimator, _promises_of_ood(estimator, samples), parts)


def _promises_of_ood(estimator, samples):
    """Return what was asked for, and the precision wherever there is a prior."""
    rule, prior, costs = estimator.rule_, estimator.ood_prior, estimator.costs
    level = getattr(rule.certificate, "confidence_level", None)
    risk = samples.selective_risk(samples.is_id)
    found = [
        ("TPR", ">=", estimator.min_tpr, rule.tpr, samples.tpr()),
        ("FPR", "<=", estimator.max_fpr, rule.fpr, samples.fpr()),
        ("risk", "<=", estimator.max_risk, rule.selective_risk, risk),
    ]
    found = [row for row in found if row[2] is not None]
    if costs is not None:
        of_id = (1 - rule.tpr) * costs[0]
        of_id += rule.tpr * rule.selective_risk if rule.tpr else 0.0
        on_calibration = float(_cost_at(prior, of_id, rule.fpr, costs))
        achieved = samples.expected_cost(costs, prior)
        found.append(("cost", "", None, on_calibration, achieved))
    if prior is not None:
        achieved = samples.precision(prior)
        asked = "precision", ">=", estimator.min_precision
        found.append((*asked, rule.precision, achieved))
    return [
        _promise(quantity, "all", sense, bound, level, *values)
        for quantity, sense, bound, *values in found
    ]


def _kinds_of_ood(groups, is_ood):
    """Yield each kind of OOD samples, and which samples are of it."""
    if groups is None:
        return
    groups = as_objects(column_or_1d(np.asarray(groups), warn=True))
    check_same_length(len(is_ood), groups=groups)
    refuse_missing_labels(np.where(is_ood, groups, ""), "groups")
    for kind in sorted(set(groups[is_ood].tolist()), key=str):
        yield kind, is_ood & (groups == kind)
