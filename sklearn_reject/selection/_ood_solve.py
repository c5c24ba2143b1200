"""The best rule of a model on a sample, whatever searches for it."""

from functools import partial

from sklearn_reject._validation import check_number
from sklearn_reject.selection._ood_model import BoundedModel

_STANDARD_ERROR = "standard_error"


def check_risk_tolerance(tolerance, model):
    """Return by how much the risk may exceed the least one: a float, or the name."""
    if isinstance(tolerance, str) and tolerance == _STANDARD_ERROR:
        return tolerance
    try:
        tolerance = check_number(tolerance, "risk_tolerance")
    except ValueError as error:
        raise ValueError(f"{error} Or pass {_STANDARD_ERROR!r}.") from None
    if tolerance > 0 and not isinstance(model, BoundedModel):
        raise ValueError(
            f"risk_tolerance={tolerance:g} has no meaning with "
            f"{'max_risk' if hasattr(model, 'max_risk') else 'costs'}, which does not "
            "minimize the risk. Set it to 0."
        )
    return tolerance


def refuse_without_ood(model):
    """Raise where a model needs OOD samples, and there are none."""
    if model.needs_ood is None:
        return
    parameter, way_out = model.needs_ood
    raise ValueError(
        f"is_ood is False for all samples (of positive weight), and {parameter} needs "
        f"OOD samples to know the FPR. Add some, or {way_out}."
    )


def find_best_rule(
    model, totals, search, *, search_all, tolerance, wild_share, standard_error
):
    """Return the best rule, or of those of nearly its risk that of the least FPR.

    `search` maps a problem in the sums over the sample to a rule or None, as does
    `search_all`, which says what can be attained, and `totals` are its weights, ID and
    OOD. `standard_error` maps a rule to that of its risk.
    """
    if not totals[1]:
        refuse_without_ood(model)

    def solve(problem, search=search):
        return search(problem.of_mixture(wild_share, *totals))

    rule = solve(model.problem(*totals))
    if rule is None:
        raise model.infeasible(partial(solve, search=search_all), *totals)
    if not (tolerance and totals[1] and isinstance(model, BoundedModel)):
        return rule
    if tolerance == _STANDARD_ERROR:
        tolerance = standard_error(rule)
    other = solve(model.least_ood(*totals, rule.selective_risk + tolerance))
    # A search that is not exhaustive may have come across the first rule only.
    if other is None or model.accepts_less_ood(rule, other):
        return rule
    return other
