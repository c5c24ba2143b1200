"""The rejection models with out-of-distribution samples, and their bounds."""

from dataclasses import dataclass, replace

import numpy as np

from sklearn_reject._curves import RELATIVE_TOLERANCE, check_ood_prior
from sklearn_reject._validation import check_number
from sklearn_reject.exceptions import InfeasibleTargetError, round_down, round_up

#: What says which model to solve, as every function that solves one calls it.
MODEL_PARAMETERS = (
    "min_tpr",
    "max_fpr",
    "min_precision",
    "min_recall",
    "costs",
    "ood_prior",
)


_MODELS = (
    "min_tpr (with max_fpr or without), min_precision with min_recall and ood_prior, "
    "or costs with ood_prior"
)


@dataclass(frozen=True)
class BoundedModel:
    """Minimise the selective risk under a bound on the TPR and one that limits OOD.

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

    def problem(self, total_id, total_ood):
        """Return the problem for a sample of these weights."""
        return OODProblem(
            loss_price=1.0,
            is_mean=True,
            min_id=self.min_tpr * total_id,
            max_ood=self.fpr_offset * total_ood if total_ood else np.inf,
            ood_per_id=self.fpr_per_tpr * total_ood / total_id,
        )

    def infeasible(self, solve, total_id, total_ood):
        """Return the error of bounds that cannot be met together.

        `solve` maps an :class:`OODProblem` to the rule that the method at hand finds,
        or None.
        """
        problem = self.problem(total_id, total_ood)
        most_id = solve(
            replace(problem, loss_price=0.0, id_price=-1.0, is_mean=False, min_id=0.0)
        )
        least_ood = solve(
            OODProblem(
                ood_price=1.0,
                is_mean=self.ood_name == "min_precision",
                min_id=problem.min_id,
            )
        )
        return self.infeasible_with(
            tpr=most_id.tpr if most_id else np.nan,
            fpr=least_ood.fpr if least_ood else np.nan,
            precision=least_ood.precision if least_ood else np.nan,
        )

    def infeasible_with(self, *, tpr, fpr, precision):
        """Return the error that names the largest TPR, and the least FPR or so."""
        if self.ood_name == "min_precision":
            attainable = {"max_recall": tpr, "max_precision": precision}
        else:
            attainable = {"max_tpr": tpr, "min_fpr": fpr}
        (most, tpr), (extreme, value) = attainable.items()
        asked = wanted = f"{self.tpr_name}={self.min_tpr:g}"
        beside = ""
        if self.bound is not None:
            other = f"{self.ood_name}={self.bound:g}"
            asked, beside = f"{wanted} and {other}", f" at {other}"
        return InfeasibleTargetError(
            f"No rule of this kind attains {asked} on these samples: "
            f"{_attained(most, tpr, beside)}, "
            f"{_attained(extreme, value, f' at {wanted}')}. Relax "
            # A TPR of zero is no bound that could be asked for.
            f"{'one of the bounds' if tpr else self.ood_name} up to that, or use "
            "scores that tell ID from OOD samples better.",
            attainable=attainable,
        )


def _attained(name, value, beside):
    kind, quantity = name.split("_")
    quantity = quantity.upper() if quantity in ("tpr", "fpr") else quantity
    adjective = "largest" if kind == "max" else "smallest"
    if np.isnan(value):
        return f"there is no rule at all{beside}"
    rounded = round_down(value) if kind == "max" else round_up(value)
    return f"the {adjective} {quantity}{beside} is {rounded}"


@dataclass(frozen=True)
class CostModel:
    """Minimise the expected cost of errors, rejections and accepted OOD samples.

    `costs` are those of rejecting an ID, of accepting an OOD and of rejecting an OOD
    sample.
    """

    costs: tuple
    ood_prior: float

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


def check_model(min_tpr, max_fpr, min_precision, min_recall, costs, ood_prior):
    """Return the model that the parameters ask for, and the prior or None."""
    if ood_prior is not None:
        ood_prior = check_ood_prior(ood_prior)
    given = {
        "tpr": min_tpr is not None or max_fpr is not None,
        "precision": min_precision is not None or min_recall is not None,
        "costs": costs is not None,
    }
    if sum(given.values()) != 1:
        what = "more than one" if any(given.values()) else "none"
        raise ValueError(
            f"Exactly one model must be asked for, got {what}. Give {_MODELS}."
        )
    if given["tpr"]:
        return _tpr_model(min_tpr, max_fpr), ood_prior
    if ood_prior is None:
        raise ValueError(
            "ood_prior is needed with min_precision, min_recall and costs, got None. "
            "Pass the share of OOD samples that you expect in use."
        )
    if given["costs"]:
        return CostModel(check_costs(costs), ood_prior), ood_prior
    return _precision_model(min_precision, min_recall, ood_prior), ood_prior


def _tpr_model(min_tpr, max_fpr):
    if min_tpr is None:
        raise ValueError(
            f"max_fpr={max_fpr!r} needs min_tpr, got None: a rule that rejects nearly "
            "everything has the least risk. Pass the share of ID samples to accept."
        )
    min_tpr = check_number(min_tpr, "min_tpr", high=1.0, open_low=True)
    if max_fpr is not None:
        max_fpr = check_number(max_fpr, "max_fpr", high=1.0)
    offset = np.inf if max_fpr is None else max_fpr
    return BoundedModel("min_tpr", "max_fpr", min_tpr, max_fpr, offset, 0.0)


def _precision_model(min_precision, min_recall, ood_prior):
    for name, value in (("min_precision", min_precision), ("min_recall", min_recall)):
        if value is None:
            raise ValueError(
                f"{name} is None: min_precision and min_recall are given together."
            )
    precision = check_number(min_precision, "min_precision", high=1.0, open_low=True)
    recall = check_number(min_recall, "min_recall", high=1.0, open_low=True)
    # The precision holds where FPR <= offset + slope * TPR.
    offset, slope = np.inf, 0.0
    if ood_prior > 0:
        offset = 0.0
        slope = (1 - ood_prior) * (1 - precision) / (ood_prior * precision)
    return BoundedModel("min_recall", "min_precision", recall, precision, offset, slope)


def check_costs(costs):
    """Return the costs as three floats, the second above the third."""
    try:
        reject_id, accept_ood, reject_ood = costs
    except (TypeError, ValueError) as error:
        raise ValueError(
            "costs must be three numbers, of rejecting an ID, of accepting an OOD and "
            f"of rejecting an OOD sample, got {costs!r}."
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


@dataclass(frozen=True)
class OODProblem:
    """Minimise a price over what a rule accepts, under bounds.

    A rule is valued by the weight of the ID samples that it accepts, that of the OOD
    samples and the loss of the former. The price never falls with the loss or with the
    OOD weight and never rises with the ID weight, and the bounds agree with that. So
    what is best in a box of such sums is best at its corner of most ID samples, fewest
    OOD samples and least loss: `price` and `is_feasible` there are bounds on the box.

    `offset` is paid in any case; with `is_mean` the price is divided by the accepted ID
    weight. OOD weight is at most `max_ood`, plus `ood_per_id` for each unit of ID
    weight, and the loss at most `max_loss`, plus `loss_per_id` for each.
    """

    loss_price: float = 0.0
    id_price: float = 0.0
    ood_price: float = 0.0
    offset: float = 0.0
    is_mean: bool = False
    min_id: float = 0.0
    max_ood: float = np.inf
    ood_per_id: float = 0.0
    max_loss: float = np.inf
    loss_per_id: float = 0.0

    def price(self, id_weight, ood_weight, loss):
        """Return what is minimised; infinite or NaN where it is a mean of nothing."""
        price = self.loss_price * loss + self.ood_price * ood_weight
        price = price + (self.id_price * id_weight + self.offset)
        if self.is_mean:
            with np.errstate(divide="ignore", invalid="ignore"):
                price = price / id_weight
        return price

    def is_feasible(self, id_weight, ood_weight, loss):
        """Tell where all bounds hold, but for rounding."""
        kept = id_weight >= self.min_id * (1 - RELATIVE_TOLERANCE)
        for value, most, per_id in self._upper_bounds(ood_weight, loss):
            kept &= value <= (most + per_id * id_weight) * (1 + RELATIVE_TOLERANCE)
        return kept

    def rooms(self, id_weight, ood_weight, loss):
        """Yield by how much each bound is kept, negative where it is broken."""
        yield id_weight - self.min_id
        for value, most, per_id in self._upper_bounds(ood_weight, loss):
            yield most + per_id * id_weight - value

    def changes_of_rooms(self, id_weight, ood_weight, loss):
        """Yield how these sums, added to others, change each of the `rooms`."""
        yield id_weight
        for value, _, per_id in self._upper_bounds(ood_weight, loss):
            yield per_id * id_weight - value

    def _upper_bounds(self, ood_weight, loss):
        """Return what is bounded, what there is of it at most, and more by ID weight."""
        if self.max_ood < np.inf:
            yield ood_weight, self.max_ood, self.ood_per_id
        if self.max_loss < np.inf:
            yield loss, self.max_loss, self.loss_per_id

    def slack(self, price):
        """Return by how much equal prices may differ through rounding."""
        return RELATIVE_TOLERANCE * (abs(price) + self.offset)
