"""The rejection models with out-of-distribution samples, and their bounds."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sklearn_reject._curves._groups import RELATIVE_TOLERANCE
from sklearn_reject._curves._ood import check_ood_prior
from sklearn_reject._validation import check_number
from sklearn_reject.exceptions import InfeasibleTargetError, round_down, round_up
from sklearn_reject.selection._ood_problem import OODProblem

#: What says which model to solve, as every function that solves one calls it.
MODEL_PARAMETERS = (
    "min_tpr",
    "max_fpr",
    "max_risk",
    "min_precision",
    "costs",
    "ood_prior",
)


# By how much a precision, computed from shares, may be off.
_ROUNDING = float(2 * np.finfo(np.float64).eps)


# What is bounded, and what to do about what needs OOD samples without any.
_QUANTITIES = {
    "min_tpr": "TPR",
    "max_fpr": "FPR",
    "max_risk": "risk",
    "min_precision": "precision",
}
_WITHOUT_OOD = {
    "max_fpr": "leave max_fpr=None",
    "max_risk": "use SelectiveClassifier(target_risk=...)",
    "min_precision": "set ood_prior=0",
    "costs": "set ood_prior=0",
}


@dataclass(frozen=True)
class BoundedModel:
    """Bound the TPR and, by the `name` of its parameter, maybe something beside it.

    The FPR is minimized where the risk is bounded, otherwise the selective risk. If
    nothing is beside the TPR, an accepted OOD sample is an error, and what is minimized
    is the risk of everything accepted.
    """

    min_tpr: float
    name: str | None
    bound: float | None
    ood_prior: float | None

    @property
    def minimizes_risk(self):
        """Whether the selective risk is minimized."""
        return self.name != "max_risk"

    @property
    def spares_ood(self):
        """Whether rules of about the least risk may accept fewer OOD samples."""
        return self.minimizes_risk and self.name is not None

    @property
    def bounds_precision(self):
        """Whether the OOD samples are limited by a precision."""
        return self.name == "min_precision"

    @property
    def asked(self):
        """The bound beside that on the TPR, as it was asked for."""
        return f"{self.name}={self.bound:g}"

    @property
    def needs_ood(self):
        """Which parameter needs OOD samples, None where none does."""
        has_bound = not self.minimizes_risk or self._line_of_fpr()[0] < 1
        return self.name if has_bound else None

    def _line_of_fpr(self):
        """Return offset and slope of the largest FPR allowed as the TPR grows."""
        if self.name == "max_fpr":
            return self.bound, 0.0
        if self.bounds_precision and self.ood_prior > 0:
            # Near one, rounding of the precision matters beside what is left of it.
            rest = 1 - self.bound + _ROUNDING if self.bound < 1 else 0.0
            return 0.0, (1 - self.ood_prior) * rest / (self.ood_prior * self.bound)
        return np.inf, 0.0

    def max_fpr_at(self, tpr):
        """Return the largest FPR allowed beside a TPR, infinite where all are."""
        offset, slope = self._line_of_fpr()
        return offset + slope * tpr

    def problem(self, totals):
        """Return the problem for a sample of these weights."""
        total_id, total_ood = totals.of_id, totals.of_ood
        min_id = self.min_tpr * total_id
        if self.name is None and total_ood:
            in_mean = totals.relative_prior(self.ood_prior)
            return OODProblem(
                loss_price=1.0,
                ood_price=in_mean * totals.largest_loss,
                is_mean=True,
                ood_in_mean=in_mean,
                min_id=min_id,
            )
        if not self.minimizes_risk:
            return OODProblem(
                ood_price=1.0 / total_ood,
                min_id=min_id,
                max_loss=0.0,
                loss_per_id=self.bound,
            )
        offset, slope = self._line_of_fpr()
        return OODProblem(
            loss_price=1.0,
            is_mean=True,
            min_id=min_id,
            max_ood=offset * total_ood if total_ood else np.inf,
            ood_per_id=slope * total_ood / total_id,
        )

    def least_ood(self, totals, max_risk):
        """Return the problem of the least FPR, or largest precision, at some risk."""
        return replace(
            self.problem(totals),
            loss_price=0.0,
            ood_price=1.0,
            is_mean=self.bounds_precision,
            max_loss=0.0,
            loss_per_id=max_risk,
        )

    def accepts_less_ood(self, rule, other):
        """Tell whether the FPR of a rule is lower, or its precision higher."""
        if self.bounds_precision:
            return rule.fpr * other.tpr < other.fpr * rule.tpr
        return rule.fpr < other.fpr

    def infeasible(self, solve, totals):
        """Return the error of bounds that cannot be met together.

        `solve` maps an :class:`OODProblem` to the rule that the method at hand finds,
        or None.
        """
        problem = self.problem(totals)
        most_id = solve(
            replace(
                problem,
                loss_price=0.0,
                id_price=-1.0,
                ood_price=0.0,
                is_mean=False,
                min_id=0.0,
            )
        )
        price = "ood_price" if self.minimizes_risk else "loss_price"
        is_mean = self.bounds_precision or not self.minimizes_risk
        best = solve(OODProblem(**{price: 1.0}, is_mean=is_mean, min_id=problem.min_id))
        what = {"max_risk": "selective_risk", "min_precision": "precision"}
        value = getattr(best, what.get(self.name, "fpr")) if best else np.nan
        return self._infeasible(most_id.tpr if most_id else np.nan, value)

    def _infeasible(self, tpr, best):
        """Return the error, with the largest TPR and the best of the other bound."""
        wanted = asked = f"min_tpr={self.min_tpr:g}"
        beside, attainable = "", self._attainable(tpr, best)
        if self.name is not None:
            beside, asked = f" at {self.asked}", f"{wanted} and {self.asked}"
        way_out = "Use scores"
        if attainable:
            what = (
                "one of the bounds" if len(attainable) == 2 else next(iter(attainable))
            )
            way_out = f"Relax {what} up to this value, or use scores"
        return InfeasibleTargetError(
            f"No rule attains {asked} on these samples: "
            f"{_describe('min_tpr', tpr, beside)}, "
            f"{_describe(self.name or 'max_fpr', best, f' at {wanted}')}",
            f"{way_out} that separate ID from OOD samples better.",
            attainable,
        )

    def _attainable(self, tpr, best):
        """Return what each bound can be met for, by name, where it can be asked for."""
        attainable = {"min_tpr": tpr} if tpr > 0 else {}
        if self.name == "max_fpr":
            # That of a mixture may be out of range by chance; no bound allows above 1.
            if best <= 1 + RELATIVE_TOLERANCE:
                attainable["max_fpr"] = float(np.clip(best, 0, 1))
        elif self.name is not None and not np.isnan(best):
            attainable[self.name] = best
        return attainable


def _describe(name, value, beside):
    """Return what can be met of a bound."""
    if np.isnan(value):
        return f"there is no rule at all{beside}"
    is_least = name.startswith("min")
    adjective = "largest" if is_least else "smallest"
    rounded = round_down(value) if is_least else round_up(value)
    return f"the {adjective} {_QUANTITIES[name]}{beside} is {rounded}"


@dataclass(frozen=True)
class CostModel:
    """Minimize the expected cost of errors, rejections and accepted OOD samples.

    `costs` are those of rejecting an ID, of accepting an OOD and of rejecting an OOD
    sample.
    """

    costs: tuple
    ood_prior: float

    spares_ood = False
    asked = "costs"

    @property
    def needs_ood(self):
        """Which parameter needs OOD samples, None where none does."""
        return "costs" if self.ood_prior > 0 else None

    def problem(self, totals):
        """Return the problem for a sample of these weights."""
        reject_id, accept_ood, reject_ood = self.costs
        of_id, of_ood = 1 - self.ood_prior, self.ood_prior
        return OODProblem(
            loss_price=of_id / totals.of_id,
            id_price=-of_id * reject_id / totals.of_id,
            ood_price=of_ood * (accept_ood - reject_ood) / (totals.of_ood or 1.0),
            offset=of_id * reject_id + of_ood * reject_ood,
        )


def check_ood(model, total_ood):
    """Raise where a model needs OOD samples, and there are none."""
    if model.needs_ood is not None and not total_ood:
        raise ValueError(
            f"is_ood is False for all samples (of positive weight), and {model.asked} "
            "needs OOD samples to know the FPR. Add some, or "
            f"{_WITHOUT_OOD[model.needs_ood]}."
        )


def solve_model(model, totals, solve):
    """Return the best rule of a model on a sample of some ID and OOD weight.

    `solve` maps a problem to a rule or None.
    """
    check_ood(model, totals.of_ood)
    rule = solve(model.problem(totals))
    if rule is None:
        error = model.infeasible(solve, totals)
        # What is best for the error may lie between the directions looked at.
        rule = solve(model.problem(totals))
        if rule is None:
            raise error
    return rule


def check_model(
    *,
    min_tpr=None,
    max_fpr=None,
    max_risk=None,
    min_precision=None,
    costs=None,
    ood_prior=None,
):
    """Return the model that the parameters ask for."""
    if ood_prior is not None:
        ood_prior = check_ood_prior(ood_prior)
    others = {"max_fpr": max_fpr, "max_risk": max_risk, "min_precision": min_precision}
    others = {name: bound for name, bound in others.items() if bound is not None}
    is_bounded = min_tpr is not None or bool(others)
    if is_bounded == (costs is not None):
        what = "more than one" if is_bounded else "none"
        raise ValueError(
            f"Exactly one target must be given, got {what}. Pass min_tpr (with "
            "max_fpr, with max_risk, with min_precision and ood_prior, or alone), or "
            "costs with ood_prior."
        )
    if ood_prior is None and (costs is not None or min_precision is not None):
        raise ValueError(
            "ood_prior is needed with min_precision and costs, got None. Pass the "
            "share of OOD samples that you expect in production."
        )
    if costs is not None:
        return CostModel(check_costs(costs), ood_prior)
    if len(others) > 1:
        given = " and ".join(f"{name}={bound!r}" for name, bound in others.items())
        raise ValueError(
            f"{given} exclude each other. Pass one of max_fpr, max_risk and "
            "min_precision beside min_tpr."
        )
    name, bound = next(iter(others.items()), (None, None))
    return _bounded_model(min_tpr, name, bound, ood_prior)


def _bounded_model(min_tpr, name, bound, ood_prior):
    """Return the model of a TPR and, unless its name is None, of another bound."""
    if min_tpr is None:
        least = "FPR" if name == "max_risk" else "risk"
        raise ValueError(
            f"{name}={bound!r} needs min_tpr, got None. Without it, a rule that "
            f"rejects nearly everything would have the lowest {least}. Pass the share "
            "of ID samples to accept."
        )
    min_tpr = check_number(min_tpr, "min_tpr", high=1.0, open_low=True)
    if name == "max_risk":
        bound = check_number(bound, name)
    elif name is not None:
        open_low = name == "min_precision"
        bound = check_number(bound, name, high=1.0, open_low=open_low)
    return BoundedModel(min_tpr, name, bound, ood_prior)


def check_costs(costs):
    """Return the costs as three floats, the second above the third."""
    try:
        reject_id, accept_ood, reject_ood = costs
    except (TypeError, ValueError) as error:
        raise ValueError(
            "costs must be three numbers, the costs of rejecting an ID sample, of "
            f"accepting an OOD sample and of rejecting an OOD sample, got {costs!r}."
        ) from error
    reject_id = check_number(reject_id, "costs[0] (of rejecting an ID sample)")
    accept_ood = check_number(accept_ood, "costs[1] (of accepting an OOD sample)")
    reject_ood = check_number(reject_ood, "costs[2] (of rejecting an OOD sample)")
    if accept_ood <= reject_ood:
        raise ValueError(
            f"costs[1]={accept_ood:g} (of accepting an OOD sample) must be above "
            f"costs[2]={reject_ood:g} (of rejecting one): otherwise there is no reason "
            "to reject it."
        )
    return reject_id, accept_ood, reject_ood
