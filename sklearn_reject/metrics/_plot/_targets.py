"""What was asked of a fitted rule, and what it does, as displays draw them."""

from numbers import Real

import numpy as np

from sklearn_reject.metrics._inside import find, locate


def short(value, digits=3):
    """Return a number with some digits, and without powers of ten if it is large."""
    return f"{value:.{digits}g}" if abs(value) < 10**digits else f"{value:.0f}"


def ink():
    """Return the color of text: black on white, and white in dark styles."""
    from matplotlib import rcParams

    return rcParams["text.color"]


def keep_one(ax, line):
    """Return a line like this one that is on the axes before it, or this one.

    The targets of several displays on the same axes are drawn once.
    """
    points, label = line.get_xydata(), line.get_label()
    for other in ax.lines:
        is_alike = other.get_label() == label and other is not line
        if is_alike and np.array_equal(other.get_xydata(), points):
            line.remove()
            return other
    return line


# What bounds are called in legends.
_TEXTS = {
    "target_risk": "risk ≤ {}",
    "max_risk": "risk ≤ {}",
    "target_coverage": "coverage ≥ {}",
    "target_failure_rate": "failure rate ≤ {}",
    "max_deferral": "deferral rate ≤ {}",
    "min_tpr": "TPR ≥ {}",
    "max_fpr": "FPR ≤ {}",
    "min_precision": "precision ≥ {}",
}

# Bounds on what is up, on what is to the right, and on the product of both.
_ACROSS = ("target_risk", "max_risk")
_UPRIGHT = ("target_coverage", "max_deferral")
LINES = (*_ACROSS, *_UPRIGHT, "target_failure_rate")


def find_target(estimator, names):
    """Return what was asked of the rule of an estimator, or None.

    A dict of those of the parameters `names` that are numbers, and of
    `confidence_level` where they are certified.
    """
    inner, _ = find(estimator, "rule_")
    asked = getattr(inner, "_asked", {})
    values = {name: asked.get(name) for name in names}
    target = {name: float(v) for name, v in values.items() if isinstance(v, Real)}
    if not target:
        return None
    level = asked.get("confidence_level")
    if level is not None and getattr(inner.rule_, "certificate", None):
        target["confidence_level"] = float(level)
    return target


def draw_bound(ax, target):
    """Draw the first bound of a target that is a line, and return it, or None."""
    name = next((name for name in LINES if name in target), None)
    if name is None:
        return None
    style, value = _style_of(target, [name]), target[name]
    if name in _ACROSS:
        return keep_one(ax, ax.axhline(value, **style))
    if name in _UPRIGHT:
        return keep_one(ax, ax.axvline(value, **style))
    # Where x y is a value, without a say in the limits of the axes.
    limits = ax.dataLim.frozen()
    x = np.linspace(max(value, 0.01), 1, 200)
    line = ax.plot(x, value / x, **style)[0]
    ax.dataLim.set(limits)
    ax.update_datalim([(1, value)])
    return keep_one(ax, line)


def draw_corner(ax, target, bounds, best):
    """Draw what is within the bounds on x and y, and return its border, or None.

    `bounds` are the names of those on x and on y, and `best` is the corner of the axes
    where both hold. None where no bound is on these axes; a bound alone goes across
    them.
    """
    known = [name for name in bounds if name in target]
    if not known:
        return None
    style = _style_of(target, known)
    x, y = map(target.get, bounds)
    if y is None:
        return keep_one(ax, ax.axvline(x, **style))
    far_x, far_y = best
    end = 1 - far_x if x is None else x
    border = [(far_x, y), (end, y), (end, far_y)]
    drawn = ax.plot(*zip(*(border[:2] if x is None else border), strict=True), **style)
    line = keep_one(ax, drawn[0])
    if line is drawn[0]:
        inside = [*border, best]
        ax.fill(*zip(*inside, strict=True), color=ink(), alpha=0.07, linewidth=0)
    return line


def _style_of(target, names):
    """Return the style of the line of some bounds, with their entry in the legend."""
    label = ", ".join(_TEXTS[name].format(short(target[name])) for name in names)
    if "confidence_level" in target:
        label = f"certified: {label} ({100 * target['confidence_level']:.4g} %)"
    else:
        label = f"target: {label}"
    style = {"color": ink(), "linestyle": "--", "linewidth": 1.2, "zorder": 1.9}
    return {"label": label, **style}


def acceptance(estimator, X, labels, scores):
    """Return how likely a rule accepts each sample, None where there is no rule.

    Labels and scores are those of the estimator for X, which need no second pass; the
    scores of two are the columns of a matrix.
    """
    inner, inner_X = locate(estimator, X, "accept_proba")
    if inner is None:
        return None
    takes_both = hasattr(inner, "risk_and_novelty")
    if hasattr(inner, "_probability") and np.ndim(scores) == 1 + takes_both:
        return np.asarray(inner._probability(inner_X, labels, scores))
    return np.asarray(inner.accept_proba(inner_X), dtype=np.float64)


def share_and_mean(probability, values, weight):
    """Return the share that is accepted, and the mean of values of what is.

    The mean is NaN where nothing is accepted.
    """
    mass = probability if weight is None else probability * weight
    total = len(values) if weight is None else weight.sum()
    accepted = mass.sum()
    mean = float(mass @ values / accepted) if accepted > 0 else float("nan")
    return float(accepted / total), mean
