"""The models of rules for ID and OOD samples, as prices and forms."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sklearn_reject._curves._prefixes import RELATIVE_TOLERANCE
from sklearn_reject._validation import check_number
from sklearn_reject.exceptions import InfeasibleTargetError, round_down, round_up

# What a parameter is about, as text and of a rule, and what to do without OOD samples.
_QUANTITIES = {
    "min_tpr": ("TPR", "tpr", ""),
    "max_fpr": ("FPR", "fpr", "leave max_fpr=None"),
    "max_risk": ("risk", "selective_risk", "use SelectiveClassifier(target_risk=...)"),
    "min_precision": ("precision", "precision", "set ood_prior=0"),
    "costs": ("costs", "", "set ood_prior=0"),
}

# Coefficients of the sums that a rule is valued by.
_ID, _OOD, _LOSS = np.eye(3)

# By how much a precision, computed from shares, may be off.
_ROUNDING = float(2 * np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False)
class OODProblem:
    """Minimize a price over what a rule accepts, under bounds.

    A rule is valued by sums: the weight of the ID samples that it accepts, that of the
    OOD samples, and the loss of the former. `price` has a coefficient for each, and so
    has `per`, which the price is divided by. No form, coefficients and a constant, may
    be negative. `scale` is what equal prices are compared in.

    The price never falls with the loss or with the OOD weight and never rises with the
    ID weight, and the forms agree with that. So what is best in a box of such sums is
    best at its corner of most ID samples, fewest OOD samples and least loss: the price
    and the forms there are bounds on the box.

    With OOD samples in `per`, the price of loss l, ID weight i, OOD weight o, each
    times its share c, and the largest loss m, is (l + m c o) / (i + c o), or m - (m i -
    l) / (i + c o). It falls with i, as m (i + c o) >= m i - l, and rises with l; it
    rises with o where l <= m i, as it is for any rule, and so for the most ID weight
    and the least loss of a box. In wild samples `id_in_ood` times the ID weight is no
    OOD weight; what is left of it is at least zero, and rises with o and falls with i.
    """

    price: np.ndarray
    forms: tuple
    per: np.ndarray | None = None
    scale: float = 0.0
    id_in_ood: float = 0.0

    def value(self, sums):
        """Return the price of sums; infinite or NaN where it is a mean of nothing."""
        if self.id_in_ood:
            id_weight, ood_weight, loss = sums
            rest = ood_weight - self.id_in_ood * id_weight
            rest = np.where(rest > RELATIVE_TOLERANCE * ood_weight, rest, 0.0)
            sums = np.array([id_weight, rest, loss])
        value = self.price @ sums
        if self.per is not None:
            with np.errstate(divide="ignore", invalid="ignore"):
                value = value / (self.per @ sums)
        return value

    def is_feasible(self, sums):
        """Tell where no form is negative, but for rounding."""
        kept = np.ones(sums.shape[1], dtype=bool)
        for form in self.forms:
            form, constant = (part + RELATIVE_TOLERANCE * abs(part) for part in form)
            kept &= form @ sums >= -constant
        return kept

    def slack(self, price):
        """Return by how much equal prices may differ through rounding."""
        return RELATIVE_TOLERANCE * (abs(price) + self.scale)

    def may_match(self, cut, sums):
        """Tell which boxes may hold a feasible cut that is as good as a known one.

        A box is given by its most ID weight and its least OOD weight and loss.
        """
        feasible = self.is_feasible(sums)
        if cut is None:
            return feasible
        price, slack = self.value(sums), self.slack(cut.price)
        equal = sums[0] >= cut.id_weight * (1 - RELATIVE_TOLERANCE)
        return feasible & (price <= cut.price + np.where(equal, slack, -slack))

    def prefers(self, cut, other):
        """Tell if the price is lower, else the bounds kept better, else the angle."""
        if other is None or cut is None:
            return cut is not None
        for one, two, slack in (
            (cut.price, other.price, self.slack(other.price)),
            (other.id_weight, cut.id_weight, RELATIVE_TOLERANCE * other.id_weight),
            (cut.ood_weight, other.ood_weight, RELATIVE_TOLERANCE * other.ood_weight),
        ):
            if abs(one - two) > slack:
                return one < two
        return cut.slope < other.slope


@dataclass(frozen=True)
class Cut:
    """What a rule accepts up to a share of the group `index`, and how good that is.

    `threshold` is the score of that group, and `slope` the weight of the novelty over
    that of the risk, infinite for the novelty alone.
    """

    price: float
    id_weight: float
    ood_weight: float
    index: int
    share: float
    threshold: float = float("nan")
    slope: float = 0.0


def find_best_cut(problem, after, sizes, randomize):
    """Return the best cut at or, with `randomize`, within groups; None if infeasible.

    `after` and `sizes`, of shape (3, n_groups), hold ID weight, OOD weight and loss, up
    to the end of each group and of the group alone. As the price is monotone in the
    share of a group, only the shares at which a form is zero can be better than none
    and all. Of equal prices: most ID, then least OOD weight, then the first.
    """
    index = np.flatnonzero(problem.is_feasible(after))
    share, sums = np.ones(len(index)), after.take(index, axis=1)
    if randomize:
        # From what is below a group on: a small share of a large one would be lost in
        # the difference from its end.
        before = after - sizes
        split, split_share = _shares_at_kinks(problem, before, sizes)
        rest = before[:, split] + split_share * sizes[:, split]
        kept = problem.is_feasible(rest)
        index = np.append(index, split[kept])
        share = np.append(share, split_share[kept])
        sums = np.hstack([sums, rest[:, kept]])
    if not len(index):
        return None
    price = problem.value(sums)
    lowest = price.min()
    rows = np.flatnonzero(price <= lowest + problem.slack(lowest))
    id_weight = sums[0, rows]
    rows = rows[id_weight >= id_weight.max() * (1 - RELATIVE_TOLERANCE)]
    row = rows[np.lexsort((index[rows], sums[1, rows]))[0]]
    price, (id_weight, ood_weight, _) = float(price[row]), sums[:, row].tolist()
    return Cut(price, id_weight, ood_weight, int(index[row]), float(share[row]))


def _shares_at_kinks(problem, before, sizes):
    """Return groups within which a form changes its sign, and the share at which."""
    index, shares, kinks = [np.empty(0, np.intp)], [np.empty(0)], problem.forms
    if problem.id_in_ood:
        kinks = *kinks, (_OOD - problem.id_in_ood * _ID, 0.0)
    for form, constant in kinks:
        room, change = form @ before + constant, form @ sizes
        crossed = np.flatnonzero((room < 0) != (room + change < 0))
        share = -room[crossed] / change[crossed]
        # What is next to nothing or next to all comes from rounding.
        inside = (share > RELATIVE_TOLERANCE) & (share < 1 - RELATIVE_TOLERANCE)
        index.append(crossed[inside])
        shares.append(share[inside])
    return np.concatenate(index), np.concatenate(shares)


@dataclass(frozen=True)
class Totals:
    """Weights of all ID samples and of those flagged as OOD, which may be a mixture.

    `wild_share` of the latter are OOD. The losses of ID samples are at most
    `largest_loss`, and all the same if `same_losses`.
    """

    of_id: float
    of_ood: float
    wild_share: float
    largest_loss: float
    same_losses: bool

    @classmethod
    def of_samples(cls, losses, is_ood, weight, wild_share):
        """Return the totals of validated samples."""
        is_id = ~is_ood & (weight > 0)
        largest = float(losses.max(where=is_id, initial=0.0))
        return cls(
            float(weight.sum(where=is_id)),
            float(weight.sum(where=is_ood)),
            check_wild_share(wild_share),
            largest,
            same_losses=losses.min(where=is_id, initial=np.inf) == largest,
        )

    @property
    def id_in_ood(self):
        """Weight of ID samples among those flagged, for each unit of ID weight."""
        return (1 - self.wild_share) * self.of_ood / self.of_id

    def reach(self, share):
        """Return the problem of accepting a share of the ID weight and no more."""
        return OODProblem(_ID, ((_ID, -share * self.of_id),))

    def price_ood(self, price=1.0):
        """Return coefficients of the OOD weight, were all that is flagged so."""
        return price / self.wild_share * (_OOD - self.id_in_ood * _ID)


def check_wild_share(wild_share):
    """Return the share of OOD samples among those flagged, 1 for None."""
    if wild_share is None:
        return 1.0
    return check_number(wild_share, "wild_share", high=1.0, open_low=True)


@dataclass(frozen=True)
class OODModel:
    """What is asked of a rule: a TPR and maybe, by `name`, a bound beside it, or costs.

    With a bound on the risk the FPR is minimized, and with costs what is expected of
    them. Otherwise the selective risk is or, if nothing is beside the TPR, the risk of
    everything accepted, where an OOD sample loses the largest loss.
    """

    min_tpr: float | None
    name: str | None
    bound: float | tuple | None
    ood_prior: float | None

    @property
    def bounds_precision(self):
        """Whether the OOD samples are limited by a precision."""
        return self.name == "min_precision"

    @property
    def asked(self):
        """What is asked for beside the TPR, as it was."""
        return "costs" if self.name == "costs" else f"{self.name}={self.bound:g}"

    @property
    def needs_ood(self):
        """Which parameter needs OOD samples, None where none does."""
        needs = {"max_risk": True, "costs": bool(self.ood_prior)}
        return self.name if needs.get(self.name, self._line_of_fpr()[0] < 1) else None

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
        """Return the problem for a sample of these totals."""
        if self.name == "costs":
            return self._expected_cost(totals)
        forms = self._forms(totals)
        if self.name == "max_risk":
            return self._least_ood(totals, forms)
        if self.name is None and totals.of_ood:
            return self._least_risk_of_all(totals, forms)
        return self._least_risk(totals, forms)

    def _forms(self, totals):
        """Return the forms of the TPR, and of what is beside it."""
        forms = totals.reach(self.min_tpr).forms
        if self.name == "max_risk":
            return *forms, _form_of_risk(self.bound)
        offset, slope = self._line_of_fpr()
        if offset == np.inf or not totals.of_ood:
            return forms
        share = totals.wild_share
        slope = share * slope * totals.of_ood / totals.of_id + totals.id_in_ood
        return *forms, (slope * _ID - _OOD, share * offset * totals.of_ood)

    def _least_risk(self, totals, forms):
        # Of rules of equal risk the one of the largest TPR is taken. Said like this, a
        # search can tell good rules from bad ones.
        if totals.same_losses:
            return OODProblem(-_ID, forms)
        return OODProblem(_LOSS, forms, per=_ID)

    def _least_risk_of_all(self, totals, forms):
        # How much more a unit of OOD than of ID weight counts in use, or in the sample.
        weight = totals.wild_share / (1 + totals.id_in_ood)
        if self.ood_prior is not None:
            odds = self.ood_prior / (1 - self.ood_prior)
            weight = odds * totals.of_id / totals.of_ood
        if not weight or (totals.same_losses and totals.largest_loss):
            return self._least_risk(totals, forms)
        return OODProblem(
            # Where nothing is lost, it makes no difference what an OOD sample costs.
            _LOSS + (totals.largest_loss or 1.0) * weight / totals.wild_share * _OOD,
            forms,
            per=_ID + weight / totals.wild_share * _OOD,
            id_in_ood=totals.id_in_ood,
        )

    def _least_ood(self, totals, forms):
        """Return the problem of the least FPR, or of the largest precision."""
        if self.bounds_precision:
            return OODProblem(_OOD, forms, per=_ID)
        price = totals.price_ood(1 / (totals.of_ood or 1.0))
        return OODProblem(price, forms, scale=-price[0] * totals.of_id)

    def _expected_cost(self, totals):
        """Return the problem of costs, but for those of rejecting everything."""
        reject_id, accept_ood, reject_ood = self.bound
        of_id = (1 - self.ood_prior) / totals.of_id
        price = of_id * (_LOSS - reject_id * _ID)
        if totals.of_ood:
            of_ood = self.ood_prior / totals.of_ood
            price = price + totals.price_ood(of_ood * (accept_ood - reject_ood))
        return OODProblem(price, (), scale=-price[0] * totals.of_id)

    def spare(self, solve, totals, rule, error):
        """Return the rule of the least FPR, or largest precision, near a known risk."""
        forms = *self._forms(totals), _form_of_risk(rule.selective_risk + error)
        other = solve(self._least_ood(totals, forms))
        # A search that is not exhaustive may have come across the first rule only.
        rules = [rule] if other is None else [other, rule]
        return min(rules, key=lambda r: r.fpr / (r.tpr if self.bounds_precision else 1))

    def solve(self, solve, totals, problem=None):
        """Return the best rule, `solve` mapping a problem to one or to None."""
        check_ood(self, totals.of_ood)
        problem = problem or self.problem(totals)
        rule = solve(problem)
        if rule is None:
            error = self._infeasible(solve, totals)
            # What is best for the error may lie between the directions looked at.
            rule = solve(problem)
            if rule is None:
                raise error
        return rule

    def _infeasible(self, solve, totals):
        """Return the error of bounds that cannot be met together: what each can be."""
        of_tpr, *rest = self._forms(totals)
        asked = f"min_tpr={self.min_tpr:g}"
        best = {"min_tpr": solve(OODProblem(-_ID, tuple(rest)))}
        beside = {"min_tpr": ""}
        if self.name is not None:
            least = self._least_risk if self.name == "max_risk" else self._least_ood
            best[self.name] = solve(least(totals, (of_tpr,)))
            beside = {"min_tpr": f" at {self.asked}", self.name: f" at {asked}"}
            asked = f"{asked} and {self.asked}"
        shown, attainable = [], {}
        for name, rule in best.items():
            quantity, attribute, _ = _QUANTITIES[name]
            value, of = getattr(rule, attribute, np.nan), quantity + beside[name]
            if np.isnan(value):
                shown.append(f"no rule has a {of}")
            elif name.startswith("min"):
                shown.append(f"the largest {of} is {round_down(value)}")
            else:
                shown.append(f"the smallest {of} is {round_up(value)}")
            # A TPR of zero is no bound, and nor is an FPR that a mixture has by chance.
            high = 1 + RELATIVE_TOLERANCE if name == "max_fpr" else np.inf
            if value > 0 if name == "min_tpr" else value <= high:
                attainable[name] = value if name != "max_fpr" else min(max(value, 0), 1)
        use = "Use"
        if attainable:
            use = f"Relax {' or '.join(attainable)} up to this value, or use"
        return InfeasibleTargetError(
            f"No rule attains {asked} on these samples: {', '.join(shown)}",
            f"{use} scores that separate ID from OOD samples better.",
            attainable,
        )


def _form_of_risk(max_risk):
    return max_risk * _ID - _LOSS, 0.0


def check_ood(model, total_ood):
    """Raise where a model needs OOD samples, and there are none."""
    if model.needs_ood is not None and not total_ood:
        raise ValueError(
            f"is_ood is False for all samples (of positive weight), and {model.asked} "
            f"needs OOD samples. Add some, or {_QUANTITIES[model.needs_ood][2]}."
        )
