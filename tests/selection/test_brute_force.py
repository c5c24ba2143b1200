"""Each solver of one threshold against all cuts and shares, in exact arithmetic."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sklearn_reject.selection import (
    InfeasibleTargetError,
    measure_risk_bounds,
    solve_deferral,
    solve_failure_bounds,
    solve_reject_cost,
    solve_risk_bounds,
    solve_target_coverage,
    solve_target_failure_rate,
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

    @property
    def max_loss(self):
        return max(Fraction(float(self.losses.max())), Fraction(1, 2))

    @property
    def columns(self):
        """Weights, and weighted losses."""
        return exact_columns((self.w,), (self.w, self.losses))


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
    """A solver that lacks options only, and the model that it is to solve.

    `told` maps a rule, and the sums over what it accepts, to numbers that are told and
    what they should be. `lowest` is the model of the least target that can be met,
    which `attainable` maps to this target and the share that it accepts.
    """

    solve: Callable
    columns: list
    model: Model
    told: Callable
    lowest: Model | None = None
    attainable: Callable | None = None
    options: dict = field(default_factory=dict)
    # Nothing accepted has no risk, so that an empty cut answers no bound on one.
    may_be_empty: bool = True


def ratio(one, other):
    return float(one / other) if other else np.nan


def rejection(solve, sample, target, *model, **more):
    def told(rule, sums):
        shares = [ratio(sums[0], sample.total), ratio(sums[1], sums[0])]
        return [rule.coverage, rule.selective_risk], shares

    solve = partial(solve, sample.scores, sample.losses, float(target))
    return Case(solve, sample.columns, Model(*model), told, **more)


def reject_cost(sample, eighths):
    cost = Fraction(eighths, 8)
    return rejection(solve_reject_cost, sample, cost, (-cost, 1), (), None, ((-1, 0),))


def target_risk(sample, eighths):
    target = Fraction(eighths, 8)
    return rejection(
        solve_target_risk,
        sample,
        target,
        (-1, 0),
        (((target, -1), 0),),
        lowest=Model((0, 1), per=(1, 0), ties=((-1, 0),)),
        attainable=lambda risk, weight: (risk, -weight / sample.total),
        may_be_empty=False,
    )


def target_coverage(sample, eighths):
    share = Fraction(max(eighths, 1), 16)
    enough = (1, 0), -share * sample.total
    return rejection(solve_target_coverage, sample, share, (1, 0), (enough,))


def failure_rate(sample, eighths):
    sample = replace(sample, weight=None)
    target = Fraction(max(eighths, 1), 8) * sample.max_loss
    room = (0, -1), target * (len(sample.scores) + 1) - sample.max_loss
    forms = (room,) if target < sample.max_loss else ()
    options = {"max_loss": float(sample.max_loss)}
    return rejection(
        solve_target_failure_rate, sample, target, (-1, 0), forms, options=options
    )


def unit(size, entries):
    return tuple(entries.get(k, 0) for k in range(size))


def of_parts(solve, sample, eighths, **more):
    """Bounds on some classes and on a predicted one, with two columns for each."""
    is_risk, columns, forms = solve is solve_risk_bounds, sample.columns, []
    kinds = {
        "class": (sample.classes, {k: Fraction(eighths + 1, 8 + k) for k in (0, 2)}),
        "prediction": (sample.predictions, {1: Fraction(1 if is_risk else 2, 4)}),
    }
    for labels, targets in kinds.values():
        for label, target in targets.items():
            # Targets are numbers as floats have them.
            target, members = Fraction(float(target)), labels == label
            place = len(columns)
            columns += exact_columns(
                (sample.w, members), (sample.w, members, sample.losses)
            )
            entries, room = {place: target, place + 1: -1}, 0
            if not is_risk:
                room = target * (np.count_nonzero(members) + 1) - sample.max_loss
                entries = {place + 1: -1}
            if is_risk or target < sample.max_loss:
                forms.append((entries, room))
    forms = tuple((unit(len(columns), entries), room) for entries, room in forms)
    bounds = {
        name: (labels, {k: float(target) for k, target in targets.items()})
        for name, (labels, targets) in kinds.items()
    }

    def told(rule, sums):
        arrays = sample.scores, sample.losses, bounds
        parts = measure_risk_bounds(rule, *arrays, sample_weight=sample.weight)
        found, expected = [rule.coverage], [ratio(sums[0], sample.total)]
        for place, part in enumerate(parts.values(), 1):
            covered, loss = sums[2 * place : 2 * place + 2]
            total = sum(columns[2 * place])
            found += [part.coverage, part.risk, part.failure_rate]
            expected += [ratio(covered, total), ratio(loss, covered)]
            expected += [ratio(loss, total)]
        return found, expected

    solve = partial(solve, sample.scores, sample.losses, bounds)
    model = Model(unit(len(columns), {0: -1}), forms)
    return Case(solve, columns, model, told, may_be_empty=not is_risk, **more)


def risk_bounds(sample, eighths):
    return of_parts(solve_risk_bounds, sample, eighths)


def failure_bounds(sample, eighths):
    options = {"max_loss": float(sample.max_loss)}
    sample = replace(sample, weight=None)
    return of_parts(solve_failure_bounds, sample, eighths, options=options)


def deferral(sample, target, price=(0, 1), forms=(), **more):
    """Gains are minus the scores, and the second loss replaces the first."""
    first, second = exact_columns((sample.w, sample.losses), (sample.w, sample.others))
    change = [b - a for a, b in zip(first, second, strict=True)]

    def told(rule, sums):
        rates = ratio(sums[0], sample.total), ratio(sum(first) + sums[1], sample.total)
        return [rule.deferral_rate, rule.system_risk], rates

    solve = partial(
        solve_deferral, -sample.scores, sample.losses, sample.others, **target
    )
    model = Model(price, forms, ties=((1, 0),))
    return Case(solve, [sample.columns[0], change], model, told, **more)


def deferral_cost(sample, eighths):
    return deferral(sample, {"deferral_cost": eighths / 8}, (Fraction(eighths, 8), 1))


def system_risk(sample, eighths):
    first, total = sum(sample.columns[1]), sample.total
    return deferral(
        sample,
        {"target_risk": eighths / 8},
        (1, 0),
        (((0, -1), Fraction(eighths, 8) * total - first),),
        lowest=Model((0, 1), ties=((1, 0),)),
        attainable=lambda change, rest: ((first + change) / total, 1 - rest / total),
    )


CASES = {
    case.__name__: case
    for case in (
        reject_cost,
        target_risk,
        target_coverage,
        failure_rate,
        risk_bounds,
        failure_bounds,
        deferral_cost,
        system_risk,
    )
}


def sums_of(rule, scores, columns):
    """Return the sums of columns over what is accepted, or deferred."""
    if hasattr(rule, "defer_proba"):
        accepted = rule.defer_proba(-scores)
    else:
        accepted = rule.accept_proba(scores)
    return [float(np.dot(accepted, np.array(each, dtype=float))) for each in columns]


def value(coefficients, sums):
    return np.dot([float(c) for c in coefficients], sums)


@pytest.mark.filterwarnings("ignore:No sample", "ignore:No calibration")
@pytest.mark.parametrize("name", CASES)
@given(samples(), st.integers(0, 12), st.booleans())
def test_best_of_all_cuts(name, sample, eighths, randomize):
    case, scores = CASES[name](sample, eighths), sample.scores
    weight = None if name.startswith("failure") else sample.weight
    options = case.options | {"sample_weight": weight, "randomize": randomize}
    if name == "reject_cost":  # which never splits ties
        del options["randomize"]
    best = best_cut(scores, case.columns, case.model, randomize)
    if best is None or not (any(best) or case.may_be_empty):
        with pytest.raises(InfeasibleTargetError) as info:
            case.solve(**options)
        if case.lowest is not None:
            expected = case.attainable(*best_cut(scores, case.columns, case.lowest))
            found = info.value.attainable["target_risk"], info.value.coverage
            np.testing.assert_allclose(found, [float(x) for x in expected], atol=1e-12)
        return
    rule = case.solve(**options)
    sums = sums_of(rule, scores, case.columns)
    found = [value(each, sums) for each in (case.model.price, *case.model.ties)]
    np.testing.assert_allclose(found, [float(x) for x in best], atol=1e-12)
    for form, constant in case.model.forms:
        assert value(form, sums) + float(constant) >= -1e-11
    np.testing.assert_allclose(*case.told(rule, sums), atol=1e-12)


@given(samples(), st.integers(0, 16), st.booleans())
def test_most_deferrals_within_a_standard_error(sample, sixteenths, randomize):
    # Gains are minus the scores: the first rows are those of low scores.
    budget = Fraction(sixteenths, 16)
    change = [
        Fraction(w) * (Fraction(b) - Fraction(a))
        for w, a, b in zip(sample.w, sample.losses, sample.others, strict=True)
    ]
    total, first = sample.total, exact_columns((sample.w, sample.losses))[0]
    # Rate, change of risk and its squares over the samples of each whole prefix.
    cuts = [(Fraction(0), Fraction(0), Fraction(0))]
    for score in np.unique(sample.scores[sample.w > 0]):
        rows = np.flatnonzero(sample.scores == score)
        step = (
            sum(Fraction(sample.w[k]) for k in rows) / total,
            sum(change[k] for k in rows) / total,
            sum(change[k] ** 2 for k in rows) / total**2,
        )
        share = min(Fraction(1), (budget - cuts[-1][0]) / step[0])
        if share < 1:
            share *= randomize
        if share == 0:
            break
        rate, excess, squares = (
            have + s * more
            for have, s, more in zip(
                cuts[-1], (share, share, share**2), step, strict=True
            )
        )
        cuts.append((rate, excess, squares))
        if share < 1:
            break
    is_whole = len(cuts) == 1 or share == 1
    whole = cuts if is_whole else cuts[:-1]
    least = min(whole, key=lambda cut: (cut[1], cut[0]))
    within = [least] + [
        cut
        for cut in cuts
        if cut[0] > least[0]
        and cuts[-1][2] > 0
        and (cut[1] <= least[1] or (cut[1] - least[1]) ** 2 <= cut[2] - least[2])
    ]
    rate, excess, _ = max(within)
    rule = solve_deferral(
        -sample.scores,
        sample.losses,
        sample.others,
        max_deferral=float(budget),
        sample_weight=sample.weight,
        randomize=randomize,
    )
    expected = float(rate), float(sum(first) / total + excess)
    found = rule.deferral_rate, rule.system_risk
    np.testing.assert_allclose(found, expected, atol=1e-12)
    sums = sums_of(rule, sample.scores, (sample.w,))
    assert sums[0] == pytest.approx(float(rate * total))
