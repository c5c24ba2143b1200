"""What was asked of a fitted rule, and what it does, as displays draw them."""

from numbers import Real

import numpy as np

from sklearn_reject.metrics._inside import find, has_method, locate
from sklearn_reject.metrics._plot._drawing import ink, keep_one, short

_TEXTS = {
    "target_risk": "risk ≤ {}",
    "max_risk": "risk ≤ {}",
    "target_coverage": "coverage ≥ {}",
    "target_failure_rate": "failure rate ≤ {}",
    "max_deferral": "deferral rate ≤ {}",
    "min_tpr": "TPR ≥ {}",
    "max_fpr": "FPR ≤ {}",
    "min_recall": "recall ≥ {}",
    "min_precision": "precision ≥ {}",
}
_LOWER_BOUNDS = {"target_coverage", "min_tpr", "min_recall", "min_precision"}


def find_target(estimator, names):
    """Return what was asked of the rule of an estimator, or None.

    A dict of those of the parameters `names` that are numbers, and of
    `confidence_level` where they are certified. A relaxed bound is the one that is
    certified.
    """
    inner, _ = find(estimator, lambda inner: hasattr(inner, "rule_"))
    values = {name: getattr(inner, name, None) for name in names}
    asked = {name: v for name, v in values.items() if isinstance(v, Real)}
    if not asked:
        return None
    certificates = _certificates(inner.rule_)
    target = {name: _weakest(name, asked[name], certificates) for name in asked}
    confidence_level = getattr(inner, "confidence_level", None)
    if certificates and confidence_level is not None:
        target["confidence_level"] = float(confidence_level)
    return target


def _certificates(rule):
    """Return the certificate of a rule, or those of groups, in a list."""
    found = getattr(rule, "certificate", None)
    if isinstance(found, dict):
        return list(found.values())
    return [] if found is None else [found]


def _weakest(name, value, certificates):
    """Return the weakest of what was asked for and what is certified."""
    bounds = [
        getattr(each, name, getattr(each, "target", None)) for each in certificates
    ]
    bounds = [value, *(bound for bound in bounds if bound is not None)]
    return float(min(bounds) if name in _LOWER_BOUNDS else max(bounds))


def find_common_target(estimators, names):
    """Return what was asked of all estimators, None where that differs."""
    first, *others = [find_target(estimator, names) for estimator in estimators]
    return first if all(other == first for other in others) else None


def describe_target(target, names):
    """Return the entry in the legend of those bounds that have these names."""
    text = ", ".join(_TEXTS[name].format(short(target[name])) for name in names)
    if "confidence_level" in target:
        return f"certified: {text} ({100 * target['confidence_level']:.4g} %)"
    return f"target: {text}"


def target_style(target, names, user):
    """Return the style of the line of a target."""
    label = describe_target(target, names)
    style = {"color": ink(), "linestyle": "--", "linewidth": 1.2, "zorder": 1.9}
    return {"label": label, **style, **(user or {})}


def draw_bound(ax, target, sides, user):
    """Draw the first bound of a target that the axes show, and return its line or None.

    `sides` are names of bounds, and "h", "v" or "rate" for those on what is up, on what
    is to the right and on the product of both.
    """
    for name, side in sides.items():
        if name in target:
            style = target_style(target, [name], user)
            return keep_one(ax, _BOUNDS[side](ax, target[name], style))
    return None


def _draw_up(ax, value, style):
    return ax.axhline(value, **style)


def _draw_right(ax, value, style):
    return ax.axvline(value, **style)


def _draw_rate(ax, value, style):
    """Draw where x y is a value, without a say in the limits of the axes."""
    limits = ax.dataLim.frozen()
    x = np.linspace(max(value, 0.01), 1, 200)
    line = ax.plot(x, value / x, **style)[0]
    ax.dataLim.set(limits)
    ax.update_datalim([(1, value)])
    return line


_BOUNDS = {"h": _draw_up, "v": _draw_right, "rate": _draw_rate}


def acceptance(estimator, X, labels, scores):
    """Return how likely a rule accepts each sample, None where there is no rule.

    Labels and scores are those of the estimator for X, which need no second pass; the
    scores of two are the columns of a matrix.
    """
    inner, inner_X = locate(estimator, X, has_method("accept_proba"))
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
