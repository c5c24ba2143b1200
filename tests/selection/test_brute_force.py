"""Each solver of one threshold against all cuts and shares, in exact arithmetic."""

from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sklearn_reject.selection import (
    InfeasibleTargetError,
    solve_deferral,
    solve_reject_cost,
    solve_risk_bounds,
    solve_target_coverage,
    solve_target_risk,
)
from tests.samples import column
from tests.selection.brute_force import Model, best_cut, exact_columns


@dataclass
class Sample:
    """Scores and all that a model may ask about a row, with ties and zero weights."""

    scores: np.ndarray
    losses: np.ndarray
    others: np.ndarray
    classes: np.ndarray
    predictions: np.ndarray
    weight: np.ndarray | None

    def __post_init__(self):
        self.w = np.ones(len(self.scores)) if self.weight is None else self.weight

    @property
    def total(self):
        return Fraction(float(self.w.sum()))


@st.composite
def samples(draw, max_size=9):
    n = draw(st.integers(1, max_size))
    rows = [draw(column(n, 0, 3)) for _ in range(5)]
    scores, losses, others, classes, predictions = map(np.array, rows)
    weight = None
    if draw(st.booleans()):
        weight = np.array(draw(column(n, 0, 3)), dtype=float)
        weight[draw(st.integers(0, n - 1))] = 1.0
    highest = draw(st.sampled_from([1, 3]))
    losses, others = (np.minimum(x, highest) / 2 for x in (losses, others))
    return Sample((scores - 2) / 4, losses, others, classes, predictions, weight)


@dataclass
class Case:
    """A call, the model that it is to solve and the columns of the model.

    `told` maps an attribute of the rule to coefficients of a numerator, and either the
    number or the column that it is divided by.
    """

    solve: object
    arrays: tuple
    target: object
    columns: list
    model: Model
    told: dict
    scores: np.ndarray
    options: dict = field(default_factory=dict)

    def rule(self, sample, randomize):
        options = dict(self.options)
        if self.solve is not solve_reject_cost:  # which never splits ties
            options["randomize"] = randomize
        args = () if self.target is None else (self.target,)
        return self.solve(*self.arrays, *args, sample_weight=sample.weight, **options)

    def sums_of(self, rule, rows):
        accepted = getattr(rule, "defer_proba", None) or rule.accept_proba
        proba = accepted(rows)
        return [float(np.dot(proba, np.array(c, dtype=float))) for c in self.columns]


def rejection(solve, target, sample, columns, model):
    told = {"coverage": ((1, 0), sample.total), "selective_risk": ((0, 1), 0)}
    arrays = sample.scores, sample.losses
    return Case(solve, arrays, target, columns, model, told, sample.scores)


def weight_and_loss(sample):
    return exact_columns((sample.w,), (sample.w, sample.losses))


def reject_cost(sample, eighths):
    model = Model((-Fraction(eighths, 8), 1), ties=((-1, 0),))
    columns = weight_and_loss(sample)
    return rejection(solve_reject_cost, eighths / 8, sample, columns, model)


def target_risk(sample, eighths):
    form = ((Fraction(eighths, 8), -1), Fraction(0))
    # A risk is that of what is accepted, so something has to be.
    model = Model((-1, 0), (form,), per=None)
    columns = weight_and_loss(sample)
    return rejection(solve_target_risk, eighths / 8, sample, columns, model)


def target_coverage(sample, eighths):
    share = Fraction(max(eighths, 1), 16)
    model = Model((1, 0), (((1, 0), -share * sample.total),))
    columns = weight_and_loss(sample)
    return rejection(solve_target_coverage, float(share), sample, columns, model)


def risk_bounds(sample, eighths):
    targets = {
        "class": (sample.classes, {k: Fraction(eighths, 8 + k) for k in (0, 2)}),
        "prediction": (sample.predictions, {1: Fraction(1, 4)}),
    }
    columns, forms = weight_and_loss(sample), []
    for labels, bounds in targets.values():
        for label, risk in bounds.items():
            risk = Fraction(float(risk))
            member = sample.w * (labels == label)
            columns += exact_columns((member,), (member, sample.losses))
            place = len(columns) - 2
            forms.append((place, risk))
    size = len(columns)
    forms = tuple((unit(size, {at: risk, at + 1: -1}), 0) for at, risk in forms)
    model = Model(unit(size, {0: -1}), forms)
    bounds = {
        name: (labels, {k: float(risk) for k, risk in bounds.items()})
        for name, (labels, bounds) in targets.items()
    }
    told = {"coverage": (unit(size, {0: 1}), sample.total)}
    arrays = sample.scores, sample.losses, bounds
    return Case(solve_risk_bounds, arrays, None, columns, model, told, sample.scores)


def unit(size, entries):
    return tuple(entries.get(k, 0) for k in range(size))


def deferral(sample, target, price=(0, 1), forms=()):
    """Gains are minus the scores, and the second loss replaces the first."""
    n, w = sample.total, sample.w
    change = [
        b - a
        for a, b in zip(
            *exact_columns((w, sample.losses), (w, sample.others)), strict=True
        )
    ]
    columns = [*exact_columns((w,)), change]
    model = Model(price, forms, ties=((1, 0),))
    told = {"deferral_rate": ((1, 0), n)}
    gain = -sample.scores
    arrays = gain, sample.losses, sample.others
    return Case(solve_deferral, arrays, None, columns, model, told, gain, target)


def deferral_cost(sample, eighths):
    return deferral(sample, {"deferral_cost": eighths / 8}, (Fraction(eighths, 8), 1))


def max_deferral(sample, eighths):
    share = Fraction(eighths, 16)
    within = ((-1, 0), share * sample.total)
    return deferral(sample, {"max_deferral": float(share)}, forms=(within,))


def system_risk(sample, eighths):
    first = sum(*exact_columns((sample.w, sample.losses)))
    room = Fraction(eighths, 8) * sample.total - first
    target = {"target_risk": eighths / 8}
    return deferral(sample, target, (1, 0), (((0, -1), room),))


CASES = {
    case.__name__: case
    for case in (
        reject_cost,
        target_risk,
        target_coverage,
        risk_bounds,
        deferral_cost,
        max_deferral,
        system_risk,
    )
}
# Nothing accepted has no risk, so that an empty cut answers no bound on one.
NEVER_EMPTY = {"target_risk", "risk_bounds"}


@pytest.mark.filterwarnings("ignore:No sample is a member", "ignore:No sample of")
@pytest.mark.parametrize("name", CASES)
@settings(max_examples=100)
@given(samples(), st.integers(0, 12), st.booleans())
def test_best_of_all_cuts(name, sample, eighths, randomize):
    case = CASES[name](sample, eighths)
    scores = sample.scores
    best = best_cut(scores, case.columns, case.model, randomize)
    if best is None or (name in NEVER_EMPTY and not any(best)):
        with pytest.raises(InfeasibleTargetError):
            case.rule(sample, randomize)
        return
    rule = case.rule(sample, randomize)
    sums = case.sums_of(rule, case.scores)
    found = [
        float(np.dot([float(c) for c in coefficients], sums))
        for coefficients in (case.model.price, *case.model.ties)
    ]
    np.testing.assert_allclose(found, [float(x) for x in best], atol=1e-12)
    for form, constant in case.model.forms:
        room = np.dot([float(c) for c in form], sums) + float(constant)
        assert room >= -1e-11
    for attribute, (numerator, divisor) in case.told.items():
        divisor = float(divisor) or sums[0]
        value = np.dot(numerator, sums) / divisor if divisor else np.nan
        np.testing.assert_allclose(getattr(rule, attribute), value, atol=1e-12)
