"""The bounds of a rule for ID and OOD samples, its point, and what chance has."""

import numpy as np

from sklearn_reject.metrics._plot._drawing import ink, keep_one, short
from sklearn_reject.metrics._plot._targets import share_and_mean, target_style

# Which bounds are those of x and of y, by kind; those in a tuple have one meaning.
_TPR = ("min_tpr", "min_recall")
_AXES = {
    "roc": (("max_fpr",), _TPR),
    "precision_recall": (_TPR[::-1], ("min_precision",)),
    "risk_coverage": (_TPR, ("max_risk",)),
}
BOUNDS = ("max_fpr", *_TPR, "min_precision", "max_risk")

_NAMES = {
    "roc": "FPR {}, TPR {}",
    "precision_recall": "recall {}, precision {}",
    "risk_coverage": "TPR {}, risk {}",
}


def name_bounds(kind, bounds):
    """Return the target of a pair of bounds on x and y."""
    pairs = zip(_AXES[kind], bounds, strict=True)
    return {names[0]: float(value) for names, value in pairs}


def describe_point(kind, point):
    """Return what a legend says of a point."""
    return _NAMES[kind].format(*map(short, point))


def draw_corner(ax, kind, target, user):
    """Draw what is within the bounds, and return its border, or None.

    None where no bound is on these axes. A bound alone goes across them.
    """
    names = [_find(names, target) for names in _AXES[kind]]
    known = [name for name in names if name is not None]
    if not known:
        return None
    style = target_style(target, known, user)
    x, y = (None if name is None else target[name] for name in names)
    if y is None:
        return keep_one(ax, ax.axvline(x, **style))
    # The sides of the axes that the corner is open to.
    far_x = 0.0 if kind == "roc" else 1.0
    far_y = 0.0 if kind == "risk_coverage" else 1.0
    end = 1 - far_x if x is None else x
    border = [(far_x, y), (end, y), (end, far_y)]
    shown = border[:2] if x is None else border
    drawn = ax.plot(*zip(*shown, strict=True), **style)[0]
    line = keep_one(ax, drawn)
    if line is drawn:
        inside = [*border, (far_x, far_y)]
        ax.fill(*zip(*inside, strict=True), color=ink(), alpha=0.07, linewidth=0)
    return line


def _find(names, target):
    return next((name for name in names if name in target), None)


def random_line(kind, samples, weight):
    """Return what a random score has on the left and on the right of the axes."""
    if kind == "roc":
        return 0.0, 1.0
    is_ood = samples["is_ood"]
    if kind == "risk_coverage":
        mean = _mean(samples["losses"][~is_ood], _take(weight, ~is_ood))
    else:
        mean = 1 - _ood_share(samples, weight)
    return mean, mean


def rule_point(kind, probability, samples, weight):
    """Return x and y of a rule that accepts samples with these probabilities."""
    is_ood = samples["is_ood"]
    zeros = np.zeros(len(is_ood))
    losses = samples.get("losses", zeros)[~is_ood]
    tpr, risk = share_and_mean(probability[~is_ood], losses, _take(weight, ~is_ood))
    if kind == "risk_coverage":
        return tpr, risk
    fpr, _ = share_and_mean(probability[is_ood], zeros[is_ood], _take(weight, is_ood))
    if kind == "roc":
        return fpr, tpr
    share = _ood_share(samples, weight)
    accepted = (1 - share) * tpr + share * fpr
    return tpr, (1 - share) * tpr / accepted if accepted > 0 else float("nan")


def _ood_share(samples, weight):
    """Return the share of OOD samples in use, or in the sample."""
    prior = samples["ood_prior"]
    return _mean(samples["is_ood"], weight) if prior is None else float(prior)


def _mean(values, weight):
    return float(np.average(values, weights=weight))


def _take(weight, rows):
    return None if weight is None else weight[rows]
