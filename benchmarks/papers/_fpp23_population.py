"""Population values of the synthetic example of FPP23, section 3.1, by integration.

Inputs are real numbers. ID classes are N(-1, 1), N(1, 1) and N(3, 1) with weights .3,
.3 and .4. OOD inputs are N(2, 0.2), mean and variance, and a quarter of all; the text
prints the mean 3, but only 2 gives what the table says. Nothing of the package is used
here: its results on samples are judged by the values.

An integral is a sum over narrow cells of the real line. A rule accepts whole cells, in
the order of their score, which is exact but for the last one.
"""

from collections import namedtuple
from functools import lru_cache

import numpy as np
from scipy.integrate import trapezoid
from scipy.stats import norm

ID_WEIGHTS, ID_MEANS = np.array([0.3, 0.3, 0.4]), np.array([-1.0, 1.0, 3.0])
OOD_MEAN, OOD_VARIANCE = 2.0, 0.2
OOD_PRIOR = 0.25

MIN_TPR, MAX_FPR = 0.7, 0.2
MIN_PRECISION, MIN_RECALL = 0.9, 0.7

# Weights of the risk r and of the ratio g in the score of each method of one score.
SINGLE_SCORES = {"A": (0.0, 1.0), "B": (1.0, 0.2), "C": (1.0, 0.0)}

_LOW, _HIGH = -11.0, 13.0  # beyond, either density is below 1e-22

# Masses, summed loss of the ID mass, and the true scores r and g, all by cell.
Cells = namedtuple("Cells", "id_mass ood_mass loss risk ratio")

# TPR, FPR and loss of ID samples where 0, 1, ... cells are accepted.
Curve = namedtuple("Curve", "tpr fpr loss")

# `attainable_tpr` is the largest one at MAX_FPR. Risks out of reach are NaN.
Values = namedtuple(
    "Values",
    "tpr_fpr precision_recall attainable_tpr auroc aupr oscr_franc oscr_dhamija",
)


@lru_cache(maxsize=2)
def cells(n_cells):
    """Return masses and scores of that many cells of equal width."""
    edges = np.linspace(_LOW, _HIGH, n_cells + 1)
    x = (edges[1:] + edges[:-1]) / 2
    joint = ID_WEIGHTS * norm.pdf(x[:, np.newaxis], ID_MEANS)
    density = joint.sum(axis=1)
    errors = density - joint.max(axis=1)  # of the most probable class
    ood_density = norm.pdf(x, OOD_MEAN, np.sqrt(OOD_VARIANCE))
    width = edges[1] - edges[0]
    masses = (width * density, width * ood_density, width * errors)
    return Cells(*masses, errors / density, ood_density / density)


def accept_in_order(cells, scores):
    """Return the curve of a rule that accepts the cells of low score first."""
    order = np.argsort(scores)
    masses = (cells.id_mass, cells.ood_mass, cells.loss)
    return Curve(*(np.append(0.0, np.cumsum(mass[order])) for mass in masses))


def single_score_values(method, n_cells=200_000):
    """Return the values of A, B or C."""
    return _measure(accept_in_order(*_scored(SINGLE_SCORES[method], n_cells)))


def _scored(weights, n_cells):
    on_cells = cells(n_cells)
    return on_cells, weights[0] * on_cells.risk + weights[1] * on_cells.ratio


def double_score_values(n_cells=20_000):
    """Return the values of D, each of them the best over all directions.

    The angle runs over [0, pi/2], where the weights of r and g are its cosine and sine.
    """
    return Values(*(_best_over_angles(name, n_cells) for name in Values._fields))


def _best_over_angles(name, n_cells, n_angles=91, n_zooms=3):
    """Return the best value on a grid of angles that is refined around the best one."""
    low, high = 0.0, np.pi / 2
    is_better = np.less if name in ("tpr_fpr", "precision_recall") else np.greater
    best = np.nan
    for _ in range(n_zooms):
        angles = np.linspace(low, high, n_angles)
        for angle in angles:
            weights = np.cos(angle), np.sin(angle)
            curve = accept_in_order(*_scored(weights, n_cells))
            value = _MEASURES[name](curve)
            if np.isnan(best) or is_better(value, best):
                best, center = value, angle
        step = angles[1] - angles[0]
        low, high = max(center - step, 0.0), min(center + step, np.pi / 2)
    return best


# What a curve says


def _measure(curve):
    return Values(*(_MEASURES[name](curve) for name in Values._fields))


def precisions(curve):
    """Return the share of ID samples among the accepted ones, 1 if there are none."""
    accepted_id = (1 - OOD_PRIOR) * curve.tpr
    accepted = accepted_id + OOD_PRIOR * curve.fpr
    return np.where(accepted > 0, accepted_id / np.where(accepted > 0, accepted, 1), 1)


def _risk_at_tpr_fpr(curve):
    return _least_risk(curve, MIN_TPR, curve.fpr <= MAX_FPR)


def _risk_at_precision_recall(curve):
    return _least_risk(curve, MIN_RECALL, precisions(curve) >= MIN_PRECISION)


def _least_risk(curve, min_tpr, is_pure):
    allowed = is_pure & (curve.tpr >= min_tpr)
    if not allowed.any():
        return np.nan
    return float((curve.loss[allowed] / curve.tpr[allowed]).min())


def _attainable_tpr(curve):
    return float(curve.tpr[curve.fpr <= MAX_FPR].max())


def _auroc(curve):
    return float(trapezoid(curve.tpr, curve.fpr))


def _aupr(curve):
    """Integrate the precision over the recall; ID samples are the positive ones."""
    return float(trapezoid(precisions(curve), curve.tpr))


def _oscr_franc(curve):
    """Integrate the accuracy among the accepted ID samples over the FPR."""
    tpr = np.maximum(curve.tpr, curve.tpr[curve.tpr > 0].min())
    loss = np.append(curve.loss[1], curve.loss[1:])
    return float(trapezoid(1 - loss / tpr, curve.fpr))


def _oscr_dhamija(curve):
    """Integrate the share of ID samples accepted and correct over the FPR."""
    return float(trapezoid(curve.tpr - curve.loss, curve.fpr))


_MEASURES = {
    "tpr_fpr": _risk_at_tpr_fpr,
    "precision_recall": _risk_at_precision_recall,
    "attainable_tpr": _attainable_tpr,
    "auroc": _auroc,
    "aupr": _aupr,
    "oscr_franc": _oscr_franc,
    "oscr_dhamija": _oscr_dhamija,
}
