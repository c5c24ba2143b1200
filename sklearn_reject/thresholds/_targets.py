"""What an operating point is to attain, and where a path does."""

from dataclasses import dataclass, replace

import numpy as np

from sklearn_reject._validation import check_count, check_number, check_option
from sklearn_reject.exceptions import InfeasibleTargetError, round_down
from sklearn_reject.thresholds._point import point_on_path

#: Names of targets, of which exactly one is to be given; the first three are names of
#: one number.
TARGETS = (
    "target_derivative",
    "marginal_precision",
    "max_fp_per_tp",
    "max_alerts",
    "min_recall",
    "objective",
)

OBJECTIVES = ("f1",)

# Products of slopes up to here and sums of weights stay far from what float64 holds.
_LARGEST_SLOPE = 1e100

_TO_DERIVATIVE = {
    "target_derivative": float,
    "marginal_precision": lambda precision: precision / (1 - precision),
    # A price of next to nothing has no finite reciprocal.
    "max_fp_per_tp": lambda price: 1 / max(price, 1e-300),
}

# Sums of weights are off by rounding.
_TOLERANCE = 1e-12


def resolve_target(**given):
    """Return the target that is given by one of the names in TARGETS; not by None."""
    given = {name: value for name, value in given.items() if value is not None}
    if len(given) != 1:
        raise ValueError(
            f"Exactly one of {', '.join(TARGETS[:-1])} and {TARGETS[-1]} must be "
            "given. The first three are names of the same number, the others are "
            f"different targets. Got {given or 'none'}."
        )
    (name, value), *_ = given.items()
    if name == "max_alerts":
        return AlertsTarget(name, check_count(value, name))
    if name == "min_recall":
        return RecallTarget(name, check_number(value, name, high=1, open_low=True))
    if name == "objective":
        return F1Target(name, check_option(value, name, OBJECTIVES))
    high = 1 if name == "marginal_precision" else np.inf
    value = check_number(value, name, high=high, open_low=True, open_high=True)
    derivative = _TO_DERIVATIVE[name](value)
    if not 1 / _LARGEST_SLOPE <= derivative <= _LARGEST_SLOPE:
        raise ValueError(
            f"{name}={value!r} is a slope dTP/dFP of {derivative:g}. It must be "
            f"between {1 / _LARGEST_SLOPE:g} and {_LARGEST_SLOPE:g}, because its "
            "products with counts might overflow otherwise."
        )
    return SlopeTarget(name, value, derivative)


def as_target(target):
    """Return a target, which a number is as a slope."""
    if isinstance(target, Target):
        return target
    return SlopeTarget("target_derivative", float(target), float(target))


@dataclass(frozen=True)
class Target:
    """What an operating point is to attain."""

    name: str
    value: object

    def check(self, documents):
        """Raise where the documents cannot tell whether the target is met."""

    def of_part(self, part, documents):
        """Return the same target for a part of the documents."""
        return self

    def slope(self, path, vertex, documents):
        """Return the slope dTP/dFP that the target stands for, NaN if for none."""
        return float("nan")


@dataclass(frozen=True)
class SlopeTarget(Target):
    """A slope of the curve."""

    derivative: float

    def slope(self, path, vertex, documents):
        """Return the slope dTP/dFP that the target stands for."""
        return self.derivative

    def find_vertex(self, path, documents, smoothing="concave"):
        """Return the vertex of the path where the target is met."""
        return point_on_path(path, self.derivative, smoothing)


@dataclass(frozen=True)
class AlertsTarget(Target):
    """As many true positives as a number of predicted documents allows."""

    def of_part(self, part, documents):
        """Return the target of the same share of the documents."""
        share = part.n_given / documents.n_given
        return replace(self, value=max(1, round(self.value * share)))

    def find_vertex(self, path, documents, smoothing=None):
        """Return the vertex of the path where the target is met."""
        n_predicted = documents.count_alerts(path)
        return self.best(path.fp, path.tp, n_predicted=n_predicted)

    def best(self, fp, tp, *, n_predicted, total=None):
        """Return the number of the best point of some, or raise.

        That is where nothing can be found among so few predicted documents.
        """
        is_allowed = n_predicted <= self.value
        if (tp[is_allowed] > 0).any():
            return _last_of_best(is_allowed, -tp, fp)
        least = int(n_predicted[tp > 0].min())
        raise InfeasibleTargetError(
            f"max_alerts={self.value} can only be met on these documents by predicting "
            f"no positive: the first true positive needs {least} documents predicted "
            "positive",
            "Allow this number, or use scores that rank more positives first.",
            {"max_alerts": least},
        )


@dataclass(frozen=True)
class RecallTarget(Target):
    """As few false positives as a share of all positives that are found allows."""

    def check(self, documents):
        """Raise where documents are unrated, so that nobody knows all positives."""
        if not documents.is_complete:
            raise ValueError(
                "min_recall needs the number of all positives, but documents are "
                f"unrated below the lowest thresholds {documents.base.tolist()}. Use "
                "max_alerts or a slope, or rate a random sample of all documents and "
                "pass its probability as inclusion_proba."
            )

    def find_vertex(self, path, documents, smoothing=None):
        """Return the vertex of the path where the target is met."""
        return self.best(path.fp, path.tp, total=documents.total_positive)

    def best(self, fp, tp, *, n_predicted=None, total):
        """Return the number of the best point of some, or raise.

        That is where not even all documents that can be predicted are enough.
        """
        highest = float(tp.max() / total)
        if highest >= self.value * (1 - _TOLERANCE):
            is_allowed = tp >= self.value * total * (1 - _TOLERANCE)
            return _last_of_best(is_allowed, fp, -tp)
        raise InfeasibleTargetError(
            f"min_recall={self.value} cannot be met on these documents: the lowest "
            f"thresholds reach {round_down(highest)} of all rated positives",
            "Use a lower min_recall, or lower base_thresholds.",
            {"min_recall": highest},
        )


@dataclass(frozen=True)
class F1Target(Target):
    """The best F1 on the documents that are rated."""

    def slope(self, path, vertex, documents):
        """Return the slope dTP/dFP at which one more document raises F1 no more."""
        f1 = f1_of(path.fp[vertex], path.tp[vertex], documents.total_positive)
        return float(f1 / 2 / (1 - f1 / 2))

    def find_vertex(self, path, documents, smoothing=None):
        """Return the vertex of the path where the target is met."""
        f1 = f1_of(path.fp, path.tp, documents.total_positive)
        return _last_of_best(np.ones(len(f1), dtype=bool), -f1, -path.tp)


def f1_of(fp, tp, total):
    """Return F1 where there are so many positives in total."""
    return 2 * tp / (tp + fp + total)


def _last_of_best(allowed, first, second):
    """Return the last of the points for which `first`, then `second`, is least."""
    rows = np.flatnonzero(allowed)
    for values in (first, second):
        least = values[rows].min()
        slack = _TOLERANCE * np.abs(values).max()
        rows = rows[values[rows] <= least + slack]
    return int(rows[-1])
