"""Models of ID and OOD samples as prices and forms, and all orders of two scores."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations, pairwise

import numpy as np
from hypothesis import strategies as st

from tests.selection.brute_force import Model, best_cut, dot, exact_columns, value_of

INF = float("inf")


@dataclass
class Sample:
    risk: np.ndarray
    novelty: np.ndarray
    losses: np.ndarray
    is_ood: np.ndarray
    weight: np.ndarray | None = None

    @property
    def single(self):
        return self.novelty, self.losses, self.is_ood

    @property
    def double(self):
        return self.risk, self.novelty, self.losses, self.is_ood

    @cached_property
    def columns(self):
        """ID weight, OOD weight and loss of each row, as fractions."""
        weight = np.ones(len(self.risk)) if self.weight is None else self.weight
        is_id = ~self.is_ood
        return exact_columns(
            (weight, is_id), (weight, self.is_ood), (weight, is_id, self.losses)
        )


@st.composite
def ood_samples(draw, max_size=9):
    """Draw samples of few distinct values, the first of them ID, the second OOD."""
    n = draw(st.integers(2, max_size))

    def column(values):
        return np.array(draw(st.lists(st.sampled_from(values), min_size=n, max_size=n)))

    is_ood = column([False, False, True])
    is_ood[:2] = False, True
    weight = None
    if draw(st.booleans()):
        weight = column([0.0, 0.5, 1.0, 2.0])
        weight[:2] = 1.0
    return Sample(
        column([0.0, 0.25, 0.5, 0.75, 1.0]),
        column([0.0, 1.0, 2.0, 3.0, 5.0, -INF, INF]),
        column([0.0, 0.0, 1.0, 0.5]),
        is_ood,
        weight,
    )


SHARES = [0.125, 0.25, 0.5, 0.625, 0.75, 1.0]
PRIORS = st.sampled_from([0.0, 0.25, 0.5])


def asked_beside(**beside):
    """Draw what is asked of a model that bounds the TPR."""
    wild_shares = st.sampled_from([None, None, 0.25, 0.5, 0.75, 1.0])
    tpr = {"min_tpr": st.sampled_from(SHARES), "wild_share": wild_shares}
    return st.fixed_dictionaries(tpr | beside)


MODELS = st.one_of(
    asked_beside(ood_prior=st.sampled_from([None, 0.0, 0.25, 0.75])),
    asked_beside(max_fpr=st.sampled_from([None, 0.0, *SHARES])),
    asked_beside(max_risk=st.sampled_from([0.0, 0.125, 0.25, 0.375, 0.75])),
    asked_beside(
        min_precision=st.sampled_from([0.5, 0.75, 0.875, 1.0]), ood_prior=PRIORS
    ),
    st.fixed_dictionaries(
        {
            "costs": st.sampled_from([(0.25, 1.0, 0.5), (0.0, 0.5, 0.0), (1, 2, 1)]),
            "ood_prior": PRIORS,
            "wild_share": st.sampled_from([None, 0.5]),
        }
    ),
)


def models_of(asked, sample):
    """Return price and forms in the columns of a sample, as one model or as two.

    Of equal prices the largest TPR is best, then the smallest FPR. With two models the
    best of both is: that where the FPR of a mixture is negative, so that it counts as
    zero, and that where it is not.
    """
    total_id, total_ood = map(sum, sample.columns[:2])
    share = Fraction(asked.get("wild_share") or 1)
    fpr = -(1 - share) / share / total_id, 1 / share / total_ood, 0
    ties = (-1, 0, 0), (0, 1, 0)
    prior = Fraction(asked.get("ood_prior") or 0)
    if "costs" in asked:
        reject_id, accept_ood, reject_ood = map(Fraction, asked["costs"])
        of_id = (1 - prior) / total_id
        of_fpr = [prior * (accept_ood - reject_ood) * each for each in fpr]
        # But for what is paid for rejecting everything.
        price = of_fpr[0] - of_id * reject_id, of_fpr[1], of_id
        return [Model(price, ties=ties)]
    forms = [((1, 0, 0), -Fraction(asked["min_tpr"]) * total_id)]
    if asked.get("max_fpr") is not None:
        forms.append(([-each for each in fpr], Fraction(asked["max_fpr"])))
    if "min_precision" in asked and prior:
        # (1 - pi) phi >= kappa ((1 - pi) phi + pi rho)
        kappa = Fraction(asked["min_precision"])
        form = [-kappa * prior * each for each in fpr]
        form[0] += (1 - prior) * (1 - kappa) / total_id
        forms.append((form, 0))
    is_alone = "min_precision" not in asked and asked.get("max_fpr") is None
    if "max_risk" not in asked and is_alone and total_ood:
        prior = share * total_ood / (total_id + total_ood)
        if asked.get("ood_prior") is not None:
            prior = Fraction(asked["ood_prior"])
        rows = zip(sample.losses.tolist(), *sample.columns[:1], strict=True)
        largest = max(Fraction(loss) for loss, weight in rows if weight)
        of_ood = [prior * each for each in fpr]
        per = (1 - prior) / total_id + of_ood[0], of_ood[1], 0
        price = [(largest or 1) * each for each in of_ood]
        price[2] = (1 - prior) / total_id
        is_negative = *forms, ([-each for each in fpr], 0)
        is_positive = *forms, (fpr, 0)
        return [
            Model((0, 0, 1), is_negative, per=(1, 0, 0), ties=ties),
            Model(price, is_positive, per=per, ties=ties),
        ]
    if "max_risk" not in asked:
        return [Model((0, 0, 1), tuple(forms), per=(1, 0, 0), ties=ties)]
    forms.append(((Fraction(asked["max_risk"]), 0, -1), 0))
    # With a precision it is that which is best, and not the FPR.
    per = (1, 0, 0) if "min_precision" in asked else None
    return [Model(fpr, tuple(forms), per=per, ties=ties)]


def all_scores(sample):
    """Yield both scores, and one of each order of their sums without other ties."""
    rows = [
        (Fraction(float(r)), g if np.isinf(g) else Fraction(float(g)))
        for r, g in zip(sample.risk.tolist(), sample.novelty.tolist(), strict=True)
    ]
    slopes = {Fraction(0)}
    finite = {row for row in rows if abs(row[1]) < INF}
    for (r0, g0), (r1, g1) in combinations(finite, 2):
        if r0 != r1:
            slopes.add((g1 - g0) / (r1 - r0))
    slopes = sorted(slopes)
    middles = [(low + high) / 2 for low, high in pairwise([slopes[0] - 2, *slopes])]
    yield [g if abs(g) == INF else r for r, g in rows]
    yield [g for _, g in rows]
    for slope in middles:
        if slope < 0:
            yield [g if abs(g) == INF else g - slope * r for r, g in rows]


def best_of(sample, asked, scores, randomize=True):
    """Return price and ties of the best cut of some scores, None if there is none."""
    found = [
        best_cut(each, sample.columns, model, randomize)
        for each in scores
        for model in models_of(asked, sample)
    ]
    return min((each for each in found if each is not None), default=None)


def values_of(rule, sample, asked):
    """Return price and ties of what a rule accepts."""
    scores = sample.double[:2] if hasattr(rule, "novelty_weight") else sample.single[:1]
    accepted = rule.accept_proba(*scores)
    sums = [float(accepted @ np.array(each, float)) for each in sample.columns]
    *others, model = models_of(asked, sample)
    for other in others:
        form, constant = other.forms[-1]
        if dot(form, sums) + constant > 0:
            model = other
    return value_of(model, sums)


def least_price_by_pivots(sample, asked):
    """Return the least price of whole cuts of all orders of two scores, in floats.

    Each point in turn is the last one that is accepted, while the direction turns from
    the risk to the novelty and other points pass it. None if no cut keeps the forms.
    """
    (model,) = models_of(asked, sample)
    columns = np.array(sample.columns, float)
    finite = np.isfinite(sample.novelty)
    always = columns[:, sample.novelty == -INF].sum(axis=1, keepdims=True)
    scores = np.column_stack([sample.risk, sample.novelty])[finite]
    points, place = np.unique(scores, axis=0, return_inverse=True)
    sums = [np.bincount(place.ravel(), c, len(points)) for c in columns[:, finite]]
    sums, prices = np.array(sums), [_least_price(always, model)]
    for axis in points.T:
        order = np.argsort(axis)
        ends = np.flatnonzero(np.diff(axis[order], append=INF))
        states = always + sums[:, order].cumsum(axis=1)[:, ends]
        prices.append(_least_price(states, model))
    for risk, novelty in points:
        run, rise = points[:, 0] - risk, points[:, 1] - novelty
        leaves, enters = (run < 0) & (rise > 0), (run > 0) & (rise < 0)
        moving = np.flatnonzero(leaves | enters)
        slopes = abs(run[moving] / rise[moving])
        order = np.argsort(slopes)
        moving, slopes = moving[order], slopes[order]
        start = sums[:, leaves | ((run <= 0) & (rise <= 0))].sum(axis=1, keepdims=True)
        steps = np.cumsum(sums[:, moving] * np.where(enters[moving], 1, -1), axis=1)
        states = always + np.hstack([start, start + steps])
        is_open = np.append(0, slopes) < np.append(slopes, INF) * (1 - 1e-12)
        prices.append(_least_price(states[:, is_open], model))
    return min((each for each in prices if each is not None), default=None)


def _least_price(states, model):
    """Return the least price of columns of sums that keep all forms, None if none."""
    kept = np.ones(states.shape[1], bool)
    for form, constant in model.forms:
        form, constant = np.array(form, float), float(constant)
        slack = 1e-12 * (abs(form) @ abs(states) + abs(constant))
        kept &= form @ states + constant >= -slack
    if model.per is not None:
        per = np.array(model.per, float) @ states
        kept &= per > 0
    if not kept.any():
        return None
    price = np.array(model.price, float) @ states
    if model.per is not None:
        price = np.divide(price, per, out=price, where=kept)
    return float(price[kept].min())


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
