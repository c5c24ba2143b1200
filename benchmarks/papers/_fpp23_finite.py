"""The best rule of all for a finite input space, as a linear program (FPP23, A.5)."""

from typing import NamedTuple

import numpy as np
from scipy.optimize import linprog

from sklearn_reject import InfeasibleTargetError

# How far probabilities may be from summing to one.
_TOLERANCE = 1e-9


class FiniteRule(NamedTuple):
    """Probabilities of accepting each of finitely many inputs, and what they achieve.

    With g = p_O / p_I, inputs with r + mu g below the threshold are accepted, those
    above it rejected, and only where they are equal the probability may be in between.
    """

    accept_proba: np.ndarray
    tpr: float
    fpr: float
    selective_risk: float
    mu: float
    threshold: float


def solve_finite_lp(
    p_id, p_ood, risks, *, min_tpr, max_fpr=None, min_precision=None, ood_prior=None
):
    """Find the rule of least selective risk for a known, finite input space.

    `p_id` and `p_ood` are the probabilities of each input if it is ID and if it is OOD,
    `risks` its conditional risk. All randomized rules are compared, not only those of
    given scores, so none is better (FPP23, A.5 and A.6). A rule that accepts everything
    with a smaller probability has the same risk, so the one returned has the least TPR
    allowed, up to the accuracy of the solver, 1e-7.
    """
    p_id, p_ood, risks = (np.asarray(each, float) for each in (p_id, p_ood, risks))
    for name, each in (("p_id", p_id), ("p_ood", p_ood)):
        if each.min() < 0 or abs(each.sum() - 1) > _TOLERANCE:
            raise ValueError(f"{name} must be probabilities that sum to 1.")
    # FPR <= offset + slope * TPR, which is what a precision asks for.
    offset, slope = np.inf if max_fpr is None else max_fpr, 0.0
    if min_precision is not None and ood_prior > 0:
        offset = 0.0
        slope = (1 - ood_prior) * (1 - min_precision) / (ood_prior * min_precision)
    # The solver has absolute tolerances, which small risks would fall below.
    unit = float((p_id * risks).max()) or 1.0
    bounds = {"A_eq": [p_id], "b_eq": [min_tpr], "bounds": (0, 1)}
    if np.isfinite(offset):
        bounds |= {"A_ub": [p_ood], "b_ub": [offset + slope * min_tpr]}
    program = linprog(p_id * risks / unit, **bounds, method="highs")
    if program.status == 2:
        raise _infeasible(p_id, p_ood, min_tpr, offset, slope)
    if not program.success:
        raise RuntimeError(f"The linear program was not solved: {program.message}")
    # The solver keeps bounds up to its accuracy only; the sum removes negative zeros.
    accepted = np.clip(program.x, 0.0, 1.0) + 0.0
    price_of_ood = program.ineqlin.marginals
    return FiniteRule(
        accept_proba=accepted,
        tpr=float(p_id @ accepted),
        fpr=float(p_ood @ accepted),
        selective_risk=float((p_id * risks) @ accepted / (p_id @ accepted)),
        mu=-float(price_of_ood[0]) * unit if len(price_of_ood) else 0.0,
        threshold=float(program.eqlin.marginals[0]) * unit,
    )


def _infeasible(p_id, p_ood, min_tpr, offset, slope):
    """Return the error, with the best of each rate while the other bound holds."""
    options = {"bounds": (0, 1), "method": "highs"}
    most = linprog(-p_id, A_ub=[p_ood - slope * p_id], b_ub=[offset], **options)
    least = linprog(p_ood, A_eq=[p_id], b_eq=[min_tpr], **options)
    return InfeasibleTargetError(
        f"No rule attains min_tpr={min_tpr:g} and the other bound",
        attainable={"min_tpr": -most.fun, "max_fpr": least.fun},
    )
