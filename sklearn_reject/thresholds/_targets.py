"""What an operating point is to attain, and which of some points does."""

from dataclasses import dataclass, replace

import numpy as np

from sklearn_reject._validation import check_count, check_number, check_option
from sklearn_reject.exceptions import InfeasibleTargetError, round_down, round_up

#: Names of targets, of which exactly one is to be given.
TARGETS = ("max_fp_per_tp", "max_alerts", "min_recall", "min_precision", "objective")

OBJECTIVES = ("f1",)

# Slopes and targets that differ by no more than rounding of sums of weights are equal.
RELATIVE_TOLERANCE = 1e-12

# What rounding of sums of weights may come to, relative to the total.
_ROUNDING = 1e-11

# Products of slopes up to here and sums of weights stay far from what float64 holds.
_LARGEST_SLOPE = 1e100


@dataclass(frozen=True)
class Target:
    """What an operating point is to attain: the name of a parameter, and its value."""

    name: str
    value: object

    @property
    def derivative(self):
        """The slope dTP/dFP of the curve that a price stands for."""
        # A price of next to nothing has no finite reciprocal.
        return 1 / max(self.value, 1e-300)

    def of_share(self, share):
        """Return the same target for a share of the documents."""
        if self.name != "max_alerts":
            return self
        return replace(self, value=max(1, round(self.value * share)))

    def allows(self, fp, tp, total_positive, alerts=None):
        """Tell which counts meet it, those of a price and of F1 all."""
        if self.name == "max_alerts":
            return (alerts <= self.value) & (tp > 0)
        if self.name == "min_precision":
            predicted = self.value * (tp + fp)
            return (tp > 0) & (tp * (1 + RELATIVE_TOLERANCE) >= predicted)
        if self.name == "min_recall":
            return tp >= self.value * total_positive * (1 - RELATIVE_TOLERANCE)
        return tp >= 0

    def check(self, census):
        """Raise where nobody knows whether the target is met."""
        if self.name == "min_recall" and not census.is_complete:
            raise ValueError(
                "min_recall needs the number of all positives, but there are unrated "
                "documents. Use another target, or rate a random sample of all "
                "documents and pass its probability as inclusion_proba."
            )


def resolve_target(*values):
    """Return the one target that is given, of values in the order of TARGETS."""
    pairs = zip(TARGETS, values, strict=True)
    given = {name: value for name, value in pairs if value is not None}
    if len(given) != 1:
        raise ValueError(
            f"Exactly one of {', '.join(TARGETS[:-1])} and {TARGETS[-1]} must be "
            f"given. Got {given or 'none'}."
        )
    [(name, value)] = given.items()
    if name == "max_alerts":
        return Target(name, check_count(value, name))
    if name == "objective":
        return Target(name, check_option(value, name, OBJECTIVES))
    if name != "max_fp_per_tp":
        return Target(name, check_number(value, name, high=1, open_low=True))
    target = Target(name, check_number(value, name, open_low=True, open_high=True))
    if not 1 / _LARGEST_SLOPE <= target.derivative <= _LARGEST_SLOPE:
        raise ValueError(
            f"max_fp_per_tp={value!r} must be between {1 / _LARGEST_SLOPE:g} and "
            f"{_LARGEST_SLOPE:g}, because its products with counts might overflow "
            "otherwise."
        )
    return target


def find_vertex(target, path, total_positive, alerts=None):
    """Return the vertex of a path where a target is met best.

    `alerts` are the documents that each vertex predicts, for `max_alerts`.
    """
    if target.name == "max_fp_per_tp":
        return point_on_path(path, target.derivative)
    return find_best(target, path.fp, path.tp, total_positive, alerts)


def find_best(target, fp, tp, total_positive, alerts=None):
    """Return the number of the best of some points for a target that is no price."""
    # The most true positives, of these the fewest false ones, among what is allowed.
    best = -tp, fp
    if target.name == "min_recall":
        best = fp, -tp
    elif target.name == "objective":
        best = -f1_of(fp, tp, total_positive), -tp
    rows = np.flatnonzero(target.allows(fp, tp, total_positive, alerts))
    if not rows.size:
        _refuse(target, fp, tp, total_positive, alerts)
    for values in best:
        slack = RELATIVE_TOLERANCE * np.abs(values).max()
        rows = rows[values[rows] <= values[rows].min() + slack]
    return int(rows[-1])


def f1_of(fp, tp, total_positive):
    """Return F1 where there are so many positives in total."""
    return 2 * tp / (tp + fp + total_positive)


def _refuse(target, fp, tp, total_positive, alerts):
    """Raise with what can be met."""
    found = tp > 0
    if target.name == "max_alerts":
        value = int(alerts[found].min())
        reason = f"the first true positive needs {value} documents predicted positive"
        way_out = "Allow this number, or use scores that rank more positives first."
    elif target.name == "min_precision":
        value = float((tp[found] / (tp + fp)[found]).max())
        reason = f"the precision is at most {round_down(value)}"
        way_out = "Use a lower one, or scores that rank more positives first."
    else:
        value = float(tp.max() / total_positive)
        reason = (
            f"the lowest thresholds reach {round_down(value)} of all rated positives"
        )
        way_out = "Use a lower one, or lower thresholds where they were given."
    raise InfeasibleTargetError(
        f"{target.name}={target.value} cannot be met on these documents: {reason}",
        way_out,
        {target.name: value},
    )


# Prices


def check_attainable(derivative, highest):
    """Raise if a target is above the highest slope that a curve attains.

    Of a smaller slope everything down to the lowest thresholds is worth its price.
    """
    if derivative <= highest * (1 + RELATIVE_TOLERANCE):
        return
    raise InfeasibleTargetError(
        f"max_fp_per_tp={1 / derivative:.6g} cannot be met on these documents: it must "
        f"be at least {round_up(1 / highest)}, as otherwise no document would be "
        "predicted positive",
        "Allow this number, or use scores that rank more positives first.",
        {"max_fp_per_tp": 1 / highest},
    )


def point_on_path(path, derivative):
    """Find the vertex of a path at which one more false positive just pays.

    It maximizes TP - FP * derivative. Of vertices with equal counts it is the one of
    the highest thresholds.
    """
    # The curve of a path is a step function, and its raw slopes are noise. The slopes
    # that count are those of its concave majorant, which are the isotonic regression of
    # the labels in the order of the path. They replace steps 7 and 8 of the analytic
    # approach in RZMR20, where a derivative is estimated from differences.
    vertices = path.majorant
    slopes, rounding = _slopes_between(path, vertices)
    if path.is_rounded:
        # Sums of weights part what would be one segment in counts.
        is_new = slopes[1:] * (1 - rounding[1:]) > slopes[:-1] * (1 + rounding[:-1])
        vertices = vertices[np.concatenate([[True], is_new, [True]])]
        slopes, rounding = _slopes_between(path, vertices)
    check_attainable(derivative, float(slopes[-1]))
    # At a slope that equals the target, true positives are worth their price.
    return int(vertices[np.sum(slopes < derivative * (1 - rounding))])


def _slopes_between(path, vertices):
    """Return the slopes between vertices, and by how much each may be off."""
    up, right = -np.diff(path.tp[vertices]), -np.diff(path.fp[vertices])
    slopes = np.divide(up, right, out=np.full(len(up), np.inf), where=right > 0)
    rounding = np.full(len(up), RELATIVE_TOLERANCE)
    if path.is_rounded:
        # Sums of many weights are off by a share of the total. Nothing is if it is not
        # between the two vertices.
        both = (up > 0) & (right > 0)
        parts = path.tp[0] / up[both] + path.fp[0] / right[both]
        rounding[both] = np.minimum(rounding[both] + _ROUNDING * parts, 0.5)
    return slopes, rounding
