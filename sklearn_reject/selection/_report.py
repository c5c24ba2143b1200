"""Reports: what was asked of a rule beside what new samples show."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import t

from sklearn_reject._curves._prefixes import RELATIVE_TOLERANCE
from sklearn_reject._interval import ApproximateInterval, Interval
from sklearn_reject._short_repr import align, cell_of, short_repr
from sklearn_reject._validation import check_level, check_sample_weight, take_weight
from sklearn_reject.selection._bounds import BOUNDS, binomial_upper
from sklearn_reject.selection._sample import Clusters, weigh

# What bounds a mean of losses that are neither zero nor the largest.
ANY_LOSS = "hoeffding_bentkus"

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
            f"intervals of {100 * self.confidence_level:g}% confidence each",
            "",
            *align([titles, *map(_promise_cells, self.promises)]),
            "",
            *align(self._part_rows()),
        ]
        left_out = len(self.parts) - _MOST_PARTS
        if left_out > 0:
            lines.append(f"... and {left_out} more of lower risk, see to_dict()")
        if any("(~" in line for line in lines):
            why = "weights, clusters, or no largest loss"
            lines += [f"~ approximate intervals: of {why}"]
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
        asked = f"{asked} at {100 * promise.confidence_level:g}%"
    shown = cell_of(promise.calibration), _interval(promise.achieved)
    empty = promise.sense and not promise.achieved.n_samples
    return name, asked, *shown, "nothing to judge" if empty else promise.verdict


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


class ReportSamples:
    """Samples of a report: what is accepted, what it costs, how to bound its mean.

    `losses` are NaN where a label is not known. Methods get the rows that they are
    about as a mask.
    """

    def __init__(
        self,
        accepted,
        losses,
        max_loss,
        bound,
        sample_weight=None,
        confidence_level=0.95,
        clusters=None,
        inclusion_proba=None,
    ):
        self.accepted, self.losses, self.clusters = accepted, losses, None
        is_known = np.ones(len(losses), dtype=bool)
        if inclusion_proba is not None:
            is_known = ~np.isnan(losses)
        weight = check_sample_weight(sample_weight, len(losses))
        if clusters is not None:
            clusters = Clusters.of(clusters, len(losses))
            self.clusters = clusters.codes
        # Of losses, and of what is known of all samples.
        given = is_known, weight, inclusion_proba, None, clusters
        self.weight, self.weight_of_all, _ = weigh(*given)
        self.level = check_level(confidence_level, "confidence_level")
        self.max_loss, self.bound = max_loss, bound
        self.all = np.ones(len(losses), dtype=bool)

    def mean(self, values, rows, largest=1.0, bound="binomial", weight="weight"):
        """Return the mean of values in some rows, of those known, with an interval.

        Values are in [0, `largest`], which may be None. Without weights the interval is
        that of a bound by its name, which is exact for "binomial" and wider for others.
        A weighted mean has as many samples as have its variance, and no more than its
        weights say (Korn and Graubard). What has no `largest` value, but varies, has an
        interval of Student's t.
        """
        rows = rows & ~np.isnan(values)
        weight = getattr(self, weight)
        rows &= True if weight is None else weight > 0
        values, weight = values[rows].astype(float), take_weight(weight, rows)
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
        away = share * (values - value)
        if self.clusters is not None:
            codes = self.clusters[rows]
            share, away = (np.bincount(codes, each) for each in (share, away))
        size, variance = 1 / (share @ share), away @ away
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
        return self.mean(self.accepted, rows, weight="weight_of_all")

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
        return self.mean(values, rows, largest, ANY_LOSS if price else self.bound)

    failure_rate = cost

    def half(self):
        """Return the same, for two intervals that share the error of one."""
        half = copy(self)
        half.level = (1 + self.level) / 2
        return half

    def part(self, name, rows):
        """Return some rows as a part of the report."""
        return ReportPart(name, self.coverage(rows), self.selective_risk(rows))

    def report(self, name, promises, parts, **options):
        """Return the report of rows that `ReportPromise` takes, and of parts.

        There is neither sense nor level where there is no bound.
        """
        found = []
        for quantity, part, sense, bound, level, *values in promises:
            asked = sense, bound, level
            if bound is None or not sense:
                asked = "", np.nan, None
            found.append(ReportPromise(quantity, part, *asked, *values))
        found, parts, size = tuple(found), tuple(parts), len(self.accepted)
        return Report(name, size, self.level, found, parts, **options)
