"""The rejection models with out-of-distribution samples, and their bounds."""

from dataclasses import dataclass, replace

import numpy as np

from sklearn_reject._curves import check_ood_prior
from sklearn_reject._validation import check_number
from sklearn_reject.exceptions import InfeasibleTargetError, round_down, round_up
from sklearn_reject.selection._ood_problem import OODProblem

#: What says which model to solve, as every function that solves one calls it.
MODEL_PARAMETERS = (
    "min_tpr",
    "max_fpr",
    "max_risk",
    "min_precision",
    "min_recall",
    "costs",
    "ood_prior",
)


_MODELS = (
    "min_tpr (with max_fpr, with max_risk or with neither), min_precision with "
    "min_recall and ood_prior, or costs with ood_prior"
)


# By how much a precision, computed from shares, may be off.
_ROUNDING = float(2 * np.finfo(np.float64).eps)


@dataclass(frozen=True)
class BoundedModel:
    """Minimize the selective risk under a bound on the TPR and one that limits OOD.

    The latter is FPR <= fpr_offset + fpr_per_tpr * TPR, which is a bound on the
    precision where the offset is zero. The names are those that the user calls the
    bounds by.
    """

    tpr_name: str
    ood_name: str
    min_tpr: float
    bound: float | None
    fpr_offset: float
    fpr_per_tpr: float
    ood_prior: float | None = None

    @property
    def needs_ood(self):
        """Which parameter needs OOD samples, and what to do without; None if none."""
        if self.fpr_offset >= 1:
            return None
        way_out = "set ood_prior=0" if self.names_precision else "leave max_fpr=None"
        return f"{self.ood_name}={self.bound:g}", way_out

    @property
    def names_precision(self):
        """Whether the OOD samples are limited by a precision."""
        return self.ood_name == "min_precision"

    def max_fpr_at(self, tpr):
        """Return the largest FPR allowed beside a TPR, infinite where all are."""
        return self.fpr_offset + self.fpr_per_tpr * tpr

    def problem(self, total_id, total_ood):
        """Return the problem for a sample of these weights."""
        return OODProblem(
            loss_price=1.0,
            is_mean=True,
            min_id=self.min_tpr * total_id,
            max_ood=self.fpr_offset * total_ood if total_ood else np.inf,
            ood_per_id=self.fpr_per_tpr * total_ood / total_id,
        )

    def least_ood(self, total_id, total_ood, max_risk):
        """Return the problem of the least FPR, or largest precision, at some risk."""
        return replace(
            self.problem(total_id, total_ood),
            loss_price=0.0,
            ood_price=1.0,
            is_mean=self.names_precision,
            max_loss=0.0,
            loss_per_id=max_risk,
        )

    def accepts_less_ood(self, rule, other):
        """Tell whether the FPR of a rule is lower, or its precision higher."""
        if self.names_precision:
            return rule.fpr * other.tpr < other.fpr * rule.tpr
        return rule.fpr < other.fpr

    def infeasible(self, solve, total_id, total_ood):
        """Return the error of bounds that cannot be met together.

        `solve` maps an :class:`OODProblem` to the rule that the method at hand finds,
        or None.
        """
        problem = self.problem(total_id, total_ood)
        most_id = solve(_most_id(problem))
        least_ood = solve(
            OODProblem(
                ood_price=1.0, is_mean=self.names_precision, min_id=problem.min_id
            )
        )
        return self.infeasible_with(
            tpr=most_id.tpr if most_id else np.nan,
            fpr=least_ood.fpr if least_ood else np.nan,
            precision=least_ood.precision if least_ood else np.nan,
        )

    def infeasible_with(self, *, tpr, fpr, precision):
        """Return the error that names the largest TPR, and the least FPR or so."""
        best = precision if self.names_precision else fpr
        return _infeasible(
            self.tpr_name, self.min_tpr, tpr, self.ood_name, self.bound, best
        )


@dataclass(frozen=True)
class RiskBoundedModel:
    """Minimize the FPR under bounds on the TPR and on the selective risk."""

    min_tpr: float
    max_risk: float

    tpr_name = "min_tpr"

    def max_fpr_at(self, tpr):
        """Return the largest FPR allowed: any."""
        return np.inf

    @property
    def needs_ood(self):
        """Which parameter needs OOD samples, and what to do without."""
        return (
            f"max_risk={self.max_risk:g}",
            "use SelectiveClassifier(target_risk=...)",
        )

    def problem(self, total_id, total_ood):
        """Return the problem for a sample of these weights."""
        return OODProblem(
            ood_price=1.0 / total_ood,
            min_id=self.min_tpr * total_id,
            max_loss=0.0,
            loss_per_id=self.max_risk,
        )

    def infeasible(self, solve, total_id, total_ood):
        """Return the error of bounds that cannot be met together; `solve` as above."""
        problem = self.problem(total_id, total_ood)
        most_id = solve(_most_id(problem))
        least_risk = solve(
            OODProblem(loss_price=1.0, is_mean=True, min_id=problem.min_id)
        )
        return _infeasible(
            "min_tpr",
            self.min_tpr,
            most_id.tpr if most_id else np.nan,
            "max_risk",
            self.max_risk,
            least_risk.selective_risk if least_risk else np.nan,
        )


def _most_id(problem):
    """Return the problem of the largest TPR that the other bounds leave."""
    return replace(
        problem,
        loss_price=0.0,
        id_price=-1.0,
        ood_price=0.0,
        is_mean=False,
        min_id=0.0,
    )


def _infeasible(tpr_name, min_tpr, most, name, bound, best):
    """Return the error of a bound on the TPR, and of another one unless it is None.

    `most` is the largest TPR where the other bound holds, and `best` the value of the
    other parameter that can be met beside the TPR, NaN where there is no rule.
    """
    wanted = asked = f"{tpr_name}={min_tpr:g}"
    beside, attainable = "", {}
    if most > 0:  # zero is no bound that could be asked for
        attainable[tpr_name] = most
    if bound is not None:
        beside = f" at {name}={bound:g}"
        asked = f"{wanted} and {name}={bound:g}"
        if not np.isnan(best):
            # The FPR of a mixture may be out of range by chance.
            attainable[name] = float(np.clip(best, 0, 1)) if name == "max_fpr" else best
    way_out = "Use scores"
    if attainable:
        what = "one of the bounds" if len(attainable) == 2 else next(iter(attainable))
        way_out = f"Relax {what} up to this value, or use scores"
    return InfeasibleTargetError(
        f"No rule attains {asked} on these samples: "
        f"{_describe(tpr_name, most, beside)}, "
        f"{_describe(name, best, f' at {wanted}')}",
        f"{way_out} that separate ID from OOD samples better.",
        attainable,
    )


# What the parameters bound.
_QUANTITIES = {
    "min_tpr": "TPR",
    "min_recall": "recall",
    "max_fpr": "FPR",
    "max_risk": "risk",
    "min_precision": "precision",
}


def _describe(name, value, beside):
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

    @property
    def needs_ood(self):
        """Which parameter needs OOD samples, and what to do without; None if none."""
        return ("costs", "set ood_prior=0") if self.ood_prior > 0 else None

    def problem(self, total_id, total_ood):
        """Return the problem for a sample of these weights."""
        reject_id, accept_ood, reject_ood = self.costs
        of_id, of_ood = 1 - self.ood_prior, self.ood_prior
        return OODProblem(
            loss_price=of_id / total_id,
            id_price=-of_id * reject_id / total_id,
            ood_price=of_ood * (accept_ood - reject_ood) / (total_ood or 1.0),
            offset=of_id * reject_id + of_ood * reject_ood,
        )


def check_model(
    *,
    min_tpr=None,
    max_fpr=None,
    max_risk=None,
    min_precision=None,
    min_recall=None,
    costs=None,
    ood_prior=None,
):
    """Return the model that the parameters ask for, and the prior or None."""
    if ood_prior is not None:
        ood_prior = check_ood_prior(ood_prior)
    given = {
        "tpr": any(bound is not None for bound in (min_tpr, max_fpr, max_risk)),
        "precision": min_precision is not None or min_recall is not None,
        "costs": costs is not None,
    }
    if sum(given.values()) != 1:
        what = "more than one" if any(given.values()) else "none"
        raise ValueError(
            f"Exactly one target must be given, got {what}. Pass {_MODELS}."
        )
    if given["tpr"]:
        return _tpr_model(min_tpr, max_fpr, max_risk), ood_prior
    if ood_prior is None:
        raise ValueError(
            "ood_prior is needed with min_precision, min_recall and costs, got None. "
            "Pass the share of OOD samples that you expect in production."
        )
    if given["costs"]:
        return CostModel(check_costs(costs), ood_prior), ood_prior
    return _precision_model(min_precision, min_recall, ood_prior), ood_prior


def _tpr_model(min_tpr, max_fpr, max_risk):
    if max_fpr is not None and max_risk is not None:
        raise ValueError(
            f"max_fpr={max_fpr!r} and max_risk={max_risk!r} exclude each other, "
            "because max_fpr minimizes the risk and max_risk minimizes the FPR. Pass "
            "one of them."
        )
    if min_tpr is None:
        bound, least = f"max_fpr={max_fpr!r}", "risk"
        if max_risk is not None:
            bound, least = f"max_risk={max_risk!r}", "FPR"
        raise ValueError(
            f"{bound} needs min_tpr, got None. Without it, a rule that rejects nearly "
            f"everything would have the lowest {least}. Pass the share of ID samples "
            "to accept."
        )
    min_tpr = check_number(min_tpr, "min_tpr", high=1.0, open_low=True)
    if max_risk is not None:
        return RiskBoundedModel(min_tpr, check_number(max_risk, "max_risk"))
    if max_fpr is not None:
        max_fpr = check_number(max_fpr, "max_fpr", high=1.0)
    offset = np.inf if max_fpr is None else max_fpr
    return BoundedModel("min_tpr", "max_fpr", min_tpr, max_fpr, offset, 0.0)


def _precision_model(min_precision, min_recall, ood_prior):
    for name, value in (("min_precision", min_precision), ("min_recall", min_recall)):
        if value is None:
            raise ValueError(
                f"{name} is None, but min_precision and min_recall must be given "
                "together."
            )
    precision = check_number(min_precision, "min_precision", high=1.0, open_low=True)
    recall = check_number(min_recall, "min_recall", high=1.0, open_low=True)
    # The precision holds where FPR <= offset + slope * TPR.
    offset, slope = np.inf, 0.0
    if ood_prior > 0:
        offset = 0.0
        # Near one, rounding of the precision matters beside what is left of it.
        rest = 1 - precision + _ROUNDING if precision < 1 else 0.0
        slope = (1 - ood_prior) * rest / (ood_prior * precision)
    names = "min_recall", "min_precision"
    return BoundedModel(*names, recall, precision, offset, slope, ood_prior)


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
