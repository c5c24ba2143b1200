"""Rules for ID and OOD samples by brute force, in exact arithmetic."""

from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, pairwise

import numpy as np
from hypothesis import strategies as st

INF = float("inf")


@dataclass
class Sample:
    risk: np.ndarray
    novelty: np.ndarray
    losses: np.ndarray
    is_ood: np.ndarray
    weight: np.ndarray | None = None

    def __len__(self):
        return len(self.risk)

    @property
    def double(self):
        return self.risk, self.novelty, self.losses, self.is_ood

    @property
    def single(self):
        return self.novelty, self.losses, self.is_ood

    def rows(self):
        """Return (risk, novelty, ID weight, OOD weight, loss) as fractions."""
        weight = np.ones(len(self)) if self.weight is None else self.weight
        columns = self.risk, self.novelty, self.losses, self.is_ood, weight
        table = zip(*columns, strict=True)
        for r, g, loss, ood, w in table:
            if w == 0:
                continue
            w = Fraction(float(w))
            g = float(g) if np.isinf(g) else Fraction(float(g))
            yield (
                Fraction(float(r)),
                g,
                Fraction(0) if ood else w,
                w if ood else Fraction(0),
                Fraction(0) if ood else w * Fraction(float(loss)),
            )

    def totals(self):
        rows = list(self.rows())
        return sum(row[2] for row in rows), sum(row[3] for row in rows)


@st.composite
def ood_samples(draw, max_size=9, weighted=True, finite=False):
    """Draw samples of few distinct values, the first of them ID, the second OOD."""
    n = draw(st.integers(2, max_size))

    def column(values):
        return np.array(draw(st.lists(st.sampled_from(values), min_size=n, max_size=n)))

    novelties = [0.0, 1.0, 2.0, 3.0, 5.0] + ([] if finite else [-INF, INF])
    is_ood = column([False, False, True])
    is_ood[:2] = False, True
    weight = None
    if weighted and draw(st.booleans()):
        weight = column([0.0, 0.5, 1.0, 2.0])
        weight[:2] = 1.0
    return Sample(
        column([0.0, 0.25, 0.5, 0.75, 1.0]),
        column(novelties),
        column([0.0, 0.0, 1.0, 0.5]),
        is_ood,
        weight,
    )


SHARES = [0.125, 0.25, 0.5, 0.625, 0.75, 1.0]

MODELS = st.one_of(
    st.fixed_dictionaries(
        {
            "min_tpr": st.sampled_from(SHARES),
            "max_fpr": st.sampled_from([None, 0.0, *SHARES]),
        }
    ),
    st.fixed_dictionaries(
        {
            "min_tpr": st.sampled_from(SHARES),
            "max_risk": st.sampled_from([0.0, 0.125, 0.25, 0.375, 0.75]),
        }
    ),
    st.fixed_dictionaries(
        {
            "min_recall": st.sampled_from(SHARES),
            "min_precision": st.sampled_from([0.5, 0.75, 0.875, 1.0]),
            "ood_prior": st.sampled_from([0.0, 0.25, 0.5]),
        }
    ),
    st.fixed_dictionaries(
        {
            "costs": st.sampled_from([(0.25, 1.0, 0.5), (0.0, 0.5, 0.0), (1, 2, 1)]),
            "ood_prior": st.sampled_from([0.0, 0.25, 0.5]),
        }
    ),
)


def fpr_of(model, totals, n_id, n_ood):
    """Return the share of OOD samples accepted, as estimated where they are wild."""
    share = Fraction(model.get("wild_share") or 1)
    return (n_ood / totals[1] - (1 - share) * n_id / totals[0]) / share


def risk_limit(model):
    """Return the largest risk where the FPR is minimized, None otherwise."""
    return model.get("max_risk", model.get("risk_limit"))


def price_of(model, totals, n_id, n_ood, loss):
    """Return what the model minimizes, None where nothing is accepted."""
    if "costs" not in model and not n_id:
        return None
    if risk_limit(model) is not None:
        tpr = n_id / totals[0] if "min_precision" in model else 1
        return fpr_of(model, totals, n_id, n_ood) / tpr
    if "costs" not in model:
        return loss / n_id
    reject_id, accept_ood, reject_ood = map(Fraction, model["costs"])
    prior = Fraction(model["ood_prior"])
    tpr, fpr = n_id / totals[0], 0
    if totals[1]:
        fpr = fpr_of(model, totals, n_id, n_ood)
    of_ood = fpr * accept_ood + (1 - fpr) * reject_ood
    return (1 - prior) * (loss / totals[0] + (1 - tpr) * reject_id) + prior * of_ood


def constraints(model, totals):
    """Return [(a, b, d, c)] of constraints a N + b O + d L >= c."""
    if "costs" in model:
        return []
    total_id, total_ood = totals
    least = model["min_tpr"] if "min_tpr" in model else model["min_recall"]
    found = [(Fraction(1), Fraction(0), Fraction(0), Fraction(least) * total_id)]
    share = Fraction(model.get("wild_share") or 1)
    # What the FPR takes of each unit of ID and of flagged weight.
    if total_ood:
        per_id, per_ood = (1 - share) / share / total_id, -1 / share / total_ood
    if model.get("max_fpr") is not None:
        found.append((per_id, per_ood, Fraction(0), -Fraction(model["max_fpr"])))
    if model.get("ood_prior") and "min_precision" in model:
        # (1 - pi) phi >= kappa ((1 - pi) phi + pi rho)
        prior, kappa = Fraction(model["ood_prior"]), Fraction(model["min_precision"])
        of_id = (1 - prior) * (1 - kappa) / total_id
        weight = kappa * prior
        found.append((of_id + weight * per_id, weight * per_ood, Fraction(0), 0))
    limit = risk_limit(model)
    if limit is not None:
        found.append((Fraction(limit), Fraction(0), Fraction(-1), Fraction(0)))
    return found


def shares_allowed(before, size, bounds):
    """Return the interval of shares of a group that keep all bounds, or None."""
    low, high = Fraction(0), Fraction(1)
    for *factors, least in bounds:
        start = dot(factors, before) - least
        slope = dot(factors, size)
        if slope == 0:
            if start < 0:
                return None
        elif slope > 0:
            low = max(low, -start / slope)
        else:
            high = min(high, -start / slope)
    return (low, high) if low <= high else None


def dot(factors, sums):
    return sum(a * b for a, b in zip(factors, sums, strict=True))


def best_in_order(rows, score, model, totals, randomize):
    """Return (price, -N, O) of the best threshold for one score, None if there is none.

    `score` maps (risk, novelty) to a fraction or an infinity.
    """
    groups = {}
    for risk, novelty, *sums in rows:
        value = novelty if novelty in (INF, -INF) else score(risk, novelty)
        old = groups.setdefault(value, [Fraction(0)] * 3)
        groups[value] = [a + b for a, b in zip(old, sums, strict=True)]
    groups.pop(INF, None)
    before = groups.pop(-INF, [Fraction(0)] * 3)
    bounds = constraints(model, totals)
    found = []

    def consider(sums):
        kept = all(dot(factors, sums) >= least for *factors, least in bounds)
        price = price_of(model, totals, *sums)
        if kept and price is not None:
            found.append((price, -sums[0], sums[1]))

    consider(before)
    for value in sorted(groups):
        size = groups[value]
        shares = {Fraction(0), Fraction(1)}
        allowed = shares_allowed(before, size, bounds)
        if randomize and allowed is not None:
            shares |= set(allowed)
        for share in shares:
            consider([b + share * s for b, s in zip(before, size, strict=True)])
        before = [b + s for b, s in zip(before, size, strict=True)]
    return min(found, default=None)


def all_scores(rows, allow_reversed):
    """Yield the axes, and a direction of each of all orders without other ties."""
    yield lambda risk, novelty: risk
    yield lambda risk, novelty: novelty
    if allow_reversed:
        yield lambda risk, novelty: -risk
    finite = {row[:2] for row in rows if row[1] not in (INF, -INF)}
    slopes = {Fraction(0)}
    for (r0, g0), (r1, g1) in combinations(finite, 2):
        if r0 != r1:
            slopes.add((g1 - g0) / (r1 - r0))
    slopes = sorted(slopes)
    middles = [(low + high) / 2 for low, high in pairwise(slopes)]
    for slope in [slopes[0] - 1, *middles, slopes[-1] + 1]:
        if slope > 0 and not allow_reversed:
            continue
        yield lambda risk, novelty, slope=slope: novelty - slope * risk


def of_nearly_least_risk(model, least_risk, tolerance):
    """Return the model of the least FPR, or largest precision, at about that risk."""
    return model | {"risk_limit": least_risk + Fraction(tolerance)}


def best_of_all(sample, model, randomize, allow_reversed):
    rows, totals = list(sample.rows()), sample.totals()
    found = [
        best_in_order(rows, score, model, totals, randomize)
        for score in all_scores(rows, allow_reversed)
    ]
    return min((f for f in found if f is not None), default=None)


def achieved(rule, model, sample):
    """Return (price, -N, O) of a rule from the numbers that it states."""
    totals = [float(total) for total in sample.totals()]
    share = model.get("wild_share") or 1
    rate = share * rule.fpr + (1 - share) * rule.tpr if totals[1] else 0.0
    n_id, n_ood = rule.tpr * totals[0], rate * totals[1]
    loss = rule.selective_risk * n_id if n_id else 0.0
    price = price_of(model, [Fraction(t) for t in totals], n_id, n_ood, loss)
    return float(price), -n_id, n_ood


def exact_combination(weights):
    """Return the weighted sum in exact arithmetic."""
    risk_weight, novelty_weight = (Fraction(float(weight)) for weight in weights)
    return lambda risk, novelty: risk_weight * risk + novelty_weight * novelty


def noisy_sample(n, seed, *, ties=False, infinite=False):
    """Draw scores that tell errors and OOD samples roughly, as good ones do."""
    rng = np.random.default_rng(seed)
    is_ood = rng.random(n) < 0.25
    is_ood[0] = False
    risk = rng.beta(1, 3, n)
    losses = (rng.random(n) < risk) * 1.0
    risk = risk + 0.1 * rng.normal(size=n)
    novelty = rng.normal(size=n) + 1.5 * is_ood
    if ties:
        risk, novelty = np.round(4 * risk) / 4, np.round(2 * novelty)
    if infinite:
        novelty[rng.random(n) < 0.1] = INF
        novelty[rng.random(n) < 0.05] = -INF
    return Sample(risk, novelty, losses, is_ood)
