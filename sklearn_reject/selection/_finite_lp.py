"""The best rule of all for a finite input space, as a linear program (FPP23, A.5)."""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import linprog

from sklearn_reject._as_dict import DictMixin
from sklearn_reject._validation import check_same_length, check_vector
from sklearn_reject.selection._ood_model import check_model
from sklearn_reject.selection._ood_rule import precision_of

# How far probabilities may be from summing to one.
_TOLERANCE = 1e-9


@dataclass(frozen=True, eq=False)
class FiniteRule(DictMixin):
    """Probabilities of accepting each of finitely many inputs.

    Attributes
    ----------
    accept_proba : ndarray of shape (n_inputs,)
        Probability that each input is accepted.

    tpr : float
        Probability that an ID input is accepted, higher is better.

    fpr : float
        Probability that an OOD input is accepted, lower is better.

    precision : float
        Probability that an accepted input is ID, higher is better. NaN without a prior.

    selective_risk : float
        Expected loss of accepted ID inputs, lower is better.

    mu, threshold : float
        The form of the rule: with g = p_O / p_I, inputs with r + mu g below the
        threshold are accepted, those above it rejected, and only where they are equal
        the probability may be in between. From the dual program.

    Examples
    --------
    >>> from sklearn_reject.selection import solve_finite_lp
    >>> rule = solve_finite_lp([0.5, 0.5], [0.2, 0.8], [0.1, 0.3], min_tpr=0.6)
    >>> rule.accept_proba.round(3), round(rule.selective_risk, 3)
    (array([1. , 0.2]), 0.133)
    """

    accept_proba: np.ndarray
    tpr: float
    fpr: float
    precision: float
    selective_risk: float
    mu: float
    threshold: float


def solve_finite_lp(
    id_probabilities,
    ood_probabilities,
    risks,
    *,
    min_tpr=None,
    max_fpr=None,
    min_precision=None,
    min_recall=None,
    ood_prior=None,
):
    """Find the rule of least selective risk for a known, finite input space.

    All randomized rules are compared, not only those of given scores, so none is better
    (FPP23, A.5 and A.6). The distributions must be known: with the samples of a
    validation set as inputs the program knows their labels, and reports no risk at all.

    A rule that accepts everything with a smaller probability has the same risk, so the
    one returned has the least TPR allowed, up to the accuracy of the solver, 1e-7.

    Parameters
    ----------
    id_probabilities : array-like of shape (n_inputs,)
        Probability p_I(x) of each input if it is ID. Sums to 1.

    ood_probabilities : array-like of shape (n_inputs,)
        Probability p_O(x) of each input if it is OOD. Sums to 1.

    risks : array-like of shape (n_inputs,)
        Conditional risk r(x): expected loss of each input if it is ID. Not used where
        its probability is zero.

    min_tpr : float in ]0, 1], default=None
        Least probability that an ID input is accepted.

    max_fpr : float in [0, 1], default=None
        Largest probability that an OOD input is accepted, beside `min_tpr`. None for no
        bound.

    min_precision : float in ]0, 1], default=None
        Least probability that an accepted input is ID. Needs `min_recall` and
        `ood_prior`.

    min_recall : float in ]0, 1], default=None
        Least probability that an ID input is accepted, beside `min_precision`.

    ood_prior : float in [0, 1[, default=None
        Probability that an input is OOD.

    Returns
    -------
    rule : FiniteRule
        The rule and what it achieves.

    Raises
    ------
    InfeasibleTargetError
        If no rule meets both bounds. Its `attainable` says how far each can be met
        while the other one holds.
    ValueError
        If not exactly one model is asked for, a parameter is out of range, or an array
        is negative, not finite or of another length than the others, or if
        probabilities do not sum to 1.

    Examples
    --------
    >>> from sklearn_reject.selection import solve_finite_lp
    >>> p_id, p_ood, risks = [0.4, 0.4, 0.2], [0.1, 0.5, 0.4], [0.2, 0.1, 0.0]
    >>> rule = solve_finite_lp(p_id, p_ood, risks, min_tpr=0.5, max_fpr=0.3)
    >>> rule.accept_proba.round(3), round(rule.selective_risk, 3)
    (array([1. , 0. , 0.5]), 0.16)
    """
    model, ood_prior = check_model(
        min_tpr=min_tpr,
        max_fpr=max_fpr,
        min_precision=min_precision,
        min_recall=min_recall,
        ood_prior=ood_prior,
    )
    p_id = _check_probabilities(id_probabilities, "id_probabilities")
    p_ood = _check_probabilities(ood_probabilities, "ood_probabilities")
    risks = check_vector(risks, "risks", non_negative=True)
    check_same_length(len(p_id), ood_probabilities=p_ood, risks=risks)
    # The solver has absolute tolerances, which small risks would fall below.
    unit = float((p_id * risks).max()) or 1.0
    prices = p_id * risks / unit
    # The TPR is met exactly, and the FPR is at most what is allowed beside it.
    bounds = {"A_eq": [p_id], "b_eq": [model.min_tpr], "bounds": (0, 1)}
    allowed = model.fpr_offset + model.fpr_per_tpr * model.min_tpr
    if np.isfinite(allowed):
        bounds |= {"A_ub": [p_ood], "b_ub": [allowed]}
    program = linprog(prices, **bounds, method="highs")
    if program.status == 2:
        raise _infeasible(model, p_id, p_ood, ood_prior)
    if not program.success:
        raise RuntimeError(f"The linear program was not solved: {program.message}")
    # The solver keeps bounds up to its accuracy only; the sum removes negative zeros.
    accepted = np.clip(program.x, 0.0, 1.0) + 0.0
    tpr, fpr = float(p_id @ accepted), float(p_ood @ accepted)
    price_of_ood = program.ineqlin.marginals
    return FiniteRule(
        accept_proba=accepted,
        tpr=tpr,
        fpr=fpr,
        precision=precision_of(tpr, fpr, ood_prior),
        selective_risk=float((p_id * risks) @ accepted / tpr),
        mu=-float(price_of_ood[0]) * unit if len(price_of_ood) else 0.0,
        threshold=float(program.eqlin.marginals[0]) * unit,
    )


def _check_probabilities(values, name):
    values = check_vector(values, name, non_negative=True)
    if abs(values.sum() - 1) > _TOLERANCE:
        raise ValueError(
            f"{name} must sum to 1, got {values.sum():.6g}. Divide by the sum."
        )
    return values


def _infeasible(model, p_id, p_ood, ood_prior):
    """Return the error, with the best of each quantity while the other bound holds."""
    most = linprog(
        -p_id,
        A_ub=[p_ood - model.fpr_per_tpr * p_id],
        b_ub=[model.fpr_offset],
        bounds=(0, 1),
        method="highs",
    )
    least = linprog(
        p_ood, A_eq=[p_id], b_eq=[model.min_tpr], bounds=(0, 1), method="highs"
    )
    precision = precision_of(model.min_tpr, least.fun, ood_prior)
    return model.infeasible_with(tpr=-most.fun, fpr=least.fun, precision=precision)
