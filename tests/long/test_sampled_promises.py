"""Promises from rows that count unequally or depend on each other.

A row has a position x, uniform in [0, 1], which is its score but for ties. Its chance
of an error depends on x and on the kind of its unit, a row or a cluster; its weight and
its chance of a label on x alone. So a population is a fine grid of x.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import pytest

from sklearn_reject import InfeasibleTargetError
from sklearn_reject.selection import (
    RiskMonitor,
    solve_deferral,
    solve_risk_bounds,
    solve_target_failure_rate,
    solve_target_risk,
)
from tests.long.laws import CERTIFIED, DELTA, GRID, binary, rounded, spread

N_DRAWS, N_NAIVE = 2000, 300
LIMIT = DELTA + 3 * np.sqrt(DELTA * (1 - DELTA) / N_DRAWS)
pytestmark = pytest.mark.filterwarnings(
    "ignore::sklearn_reject.exceptions.RejectionWarning"
)


def power(factor, exponent):
    return lambda x: factor * x**exponent


ONE, TWICE, SQUARE = power(1.0, 0), power(2, 1), power(1, 2)
# Chance of an error of the second opinion.
SECOND = power(0.04, 1)


@dataclass(frozen=True)
class Population:
    """Chances of errors at x of the kinds of units, their shares and cluster sizes.

    Sizes are the smallest and the largest one, None for rows that are independent. With
    `near`, scores of a cluster are near each other. Each row has one of as many labels
    as there are factors, by which the chance of an error is multiplied.
    """

    errors: tuple
    shares: tuple = (1.0,)
    sizes: tuple | None = None
    density: Callable = ONE
    proba: Callable = ONE
    max_weight: float = 1.0
    n_ties: int | None = None
    near: bool = False
    factors: tuple = (1.0,)
    draw_losses: Callable = binary

    def chances(self, x):
        """Return the chance of an error at x of each kind."""
        return [np.minimum(error(x), 1) for error in self.errors]

    @cached_property
    def truth(self):
        """Score, weight, and chance of a random row of a random unit, on the grid."""
        chance = np.array(self.shares) @ self.chances(GRID)
        return rounded(GRID, self.n_ties), self.density(GRID), chance

    def draw(self, rng, n_units):
        """Return scores, losses of both opinions, labels, and options of solvers."""
        kinds, sizes = rng.choice(len(self.shares), n_units, p=self.shares), 1
        if self.sizes is not None:
            sizes = rng.integers(*np.array(self.sizes)[kinds].T, endpoint=True)
        units = np.repeat(np.arange(n_units), sizes)
        x, labels = rng.random(len(units)), rng.choice(len(self.factors), len(units))
        if self.near:
            x = (rng.random(n_units)[units] + x / 4) % 1
        means = np.choose(kinds[units], self.chances(x)) * np.take(self.factors, labels)
        losses = np.array([self.draw_losses(rng, each) for each in (means, SECOND(x))])
        proba, options = self.proba(x), {"max_weight": self.max_weight}
        is_missing = rng.random(len(x)) >= proba
        losses[:, is_missing] = np.nan
        if is_missing.any():
            options["inclusion_proba"] = proba if np.ptp(proba) else proba[0]
        if self.density is not ONE:
            options["sample_weight"] = self.density(x)
        if self.sizes is not None:
            options["clusters"] = units
        return rounded(x, self.n_ties), *losses, labels, options


@dataclass(frozen=True)
class Law:
    """A target, with a rule on at least a share of `found` of all samples."""

    kind: str
    population: Population
    n_units: int
    target: float | dict
    found: float = 0.0
    options: dict = field(default_factory=dict)

    def rules(self, n_draws, naive=False):
        """Yield the rule of each draw that has one; naive ones take rows as alike."""
        for seed in range(n_draws):
            rng = np.random.default_rng(seed)
            *arrays, options = self.population.draw(rng, self.n_units)
            if naive:
                is_labelled = ~np.isnan(arrays[1])
                arrays, options = [each[is_labelled] for each in arrays], {}
            options |= CERTIFIED | self.options
            with suppress(InfeasibleTargetError):
                yield self.solve(*arrays, random_state=seed, **options)

    def solve(self, scores, losses, second, labels, **options):
        given, target = (scores, losses), self.target
        if self.kind == "deferral":
            return solve_deferral(*given, second, target_risk=target, **options)
        if self.kind == "parts":
            return solve_risk_bounds(*given, {"class": (labels, target)}, **options)
        if self.kind == "rate":
            return solve_target_failure_rate(*given, target, **options)
        if self.kind == "groups":
            options |= {"groups": labels, "all_groups": list(target)}
        return solve_target_risk(*given, target, **options)

    def excess(self, rule):
        """Return by how much the target, or one of several, is broken."""
        scores, weight, chance = self.population.truth
        if self.kind == "deferral":
            away = rule.defer_proba(scores) * (SECOND(GRID) - chance)
            return np.mean(weight * (chance + away)) - self.target
        if self.kind == "rate":
            return np.mean(weight * rule.accept_proba(scores) * chance) - self.target
        risks = self.target if isinstance(self.target, dict) else {0: self.target}
        rules = rule.rules if self.kind == "groups" else dict.fromkeys(risks, rule)
        pairs = zip(risks.items(), self.population.factors, strict=True)
        return max(
            np.mean(weight * rules[k].accept_proba(scores) * (factor * chance - risk))
            for (k, risk), factor in pairs
        )


def mixed(curve, *sizes, **options):
    """Return clusters, of which a half errs more often by half."""
    errors = (lambda x: 1.5 * curve(x)), (lambda x: 0.5 * curve(x))
    return Population(errors, (0.5, 0.5), sizes or ((1, 19), (1, 19)), **options)


def dips(x):
    """Above .25 until .4, so that starts break it; from there to about .64 within."""
    return np.select([x < 0.4, x < 0.6], [0.2505, 0.05], 0.7)


STEEP, FLAT, LATE = power(3, 3), power(0.4005, 0), power(2, 4)
FEW, MANY, TIES, FIVE = (1, 19), (1, 50), {"n_ties": 20}, {"n_ties": 5}
ROWS, CLUSTERS, NEAR = Population((SQUARE,)), mixed(SQUARE), mixed(SQUARE, near=True)
TENTH = Population((power(0.9, 0.5), power(0.04, 1)), (0.1, 0.9), (FEW, FEW), **TIES)
TENTH_OF_MANY = replace(TENTH, sizes=(MANY, MANY))
FLATTER = replace(TENTH_OF_MANY, errors=(power(0.9, 0.2), power(0.01, 1)), near=True)
TO_TWICE = {"density": TWICE, "max_weight": 2}
SHIFTED, FLAT_ROWS = replace(ROWS, **TO_TWICE), Population((FLAT,), **TO_TWICE, **TIES)
FAR = Population((power(1, 10),), density=power(10, 9), max_weight=10)
NEARLY = Population((LATE,), density=lambda x: 0.5 + x, max_weight=1.5)
DIPS = Population((dips,), density=lambda x: 2 - 2 * x, max_weight=2, **TIES)
ALIKE = replace(ROWS, proba=power(0.4, 0), max_weight=2.5)
CERTAIN = replace(ROWS, proba=lambda x: 1 - 0.95 * x, max_weight=20)
UNCERTAIN = replace(ROWS, proba=lambda x: 0.05 + 0.95 * x, max_weight=20)
BOTH = replace(CLUSTERS, proba=lambda x: 0.4 + 0.6 * x, max_weight=2.5)
SPREAD, SPREAD_CLUSTERS = (replace(x, draw_losses=spread) for x in (SHIFTED, CLUSTERS))
PARTS, CLUSTER_PARTS = (replace(x, factors=(1.0, 0.6)) for x in (SHIFTED, CLUSTERS))
HB, WHOLE = {"bound": "hoeffding_bentkus"}, {"randomize": False}
LARGEST, MEAN, TWO = {"max_loss": 1.0}, {"confidence_level": None}, {0: 0.3, 1: 0.2}
LAWS = {
    "shifted": Law("risk", SHIFTED, 600, 0.25, 0.9),
    "shifted far": Law("risk", FAR, 1800, 0.25, 0.8),
    "shifted, flat": Law("risk", FLAT_ROWS, 300, 0.4, 0, WHOLE),
    "audit of uncertain": Law("risk", UNCERTAIN, 2000, 0.17, 0.5),
    "audit of certain": Law("risk", CERTAIN, 2000, 0.17, 0.5),
    "audit of all alike": Law("risk", ALIKE, 800, 0.1, 0.8),
    "tenth hard": Law("risk", TENTH, 500, 0.07, 0.2, WHOLE),
    "tenth of many": Law("risk", TENTH_OF_MANY, 300, 0.07, 0.1, WHOLE),
    "clusters": Law("risk", CLUSTERS, 150, 0.17, 0.9),
    "sizes": Law("risk", mixed(SQUARE, (1, 5), MANY), 150, 0.17, 0.8),
    "near": Law("risk", NEAR, 150, 0.17, 0.8),
    "near, flat": Law("risk", mixed(FLAT, near=True, **TIES), 100, 0.4, 0, WHOLE),
    "clusters, audit": Law("risk", BOTH, 200, 0.2, 0.8),
    "clusters, shifted": Law("risk", mixed(STEEP, **TO_TWICE), 150, 0.4, 0.8),
    "40 rows": Law("risk", NEARLY, 40, 0.4, 0.2),
    "12 clusters": Law("risk", mixed(power(0.83, 1), **TIES), 12, 0.4, 0, WHOLE),
    "ties split": Law("risk", replace(SHIFTED, **FIVE), 500, 0.25, 0.7),
    "ties whole": Law("risk", replace(SHIFTED, **FIVE), 500, 0.25, 0.8, WHOLE),
    "ties of clusters split": Law("risk", mixed(SQUARE, **FIVE), 150, 0.17, 0.8),
    "ties of clusters": Law("risk", mixed(SQUARE, **FIVE), 150, 0.17, 0.8, WHOLE),
    "dips, shifted": Law("risk", DIPS, 1500, 0.25, 0.1, WHOLE),
    "dips, near": Law("risk", mixed(dips, near=True, **TIES), 200, 0.25, 0.1, WHOLE),
    "spread, shifted": Law("risk", SPREAD, 500, 0.25, 0.9, LARGEST),
    "spread, shifted, HB": Law("risk", SPREAD, 2000, 0.3, 0.9, LARGEST | HB),
    "spread, clusters": Law("risk", SPREAD_CLUSTERS, 150, 0.17, 0.9, LARGEST),
    "clusters, HB": Law("risk", mixed(STEEP), 150, 0.35, 0.9, HB),
    "rate, shifted": Law("rate", SHIFTED, 500, 0.15, 1),
    "rate, shifted, HB": Law("rate", SHIFTED, 500, 0.15, 1, HB),
    "rate, audit": Law("rate", CERTAIN, 1000, 0.1, 1),
    "rate, audit of all alike": Law("rate", ALIKE, 500, 0.1, 1),
    "rate, near": Law("rate", NEAR, 100, 0.1, 1),
    "parts, shifted": Law("parts", PARTS, 1500, TWO, 0.9),
    "parts, clusters": Law("parts", CLUSTER_PARTS, 150, TWO, 0.9),
    "groups, clusters": Law("groups", CLUSTER_PARTS, 100, TWO, 0.9),
    "deferral, shifted": Law("deferral", SHIFTED, 500, 0.2, 0.9),
    "deferral, clusters": Law("deferral", CLUSTERS, 100, 0.15, 0.9),
    "deferral, audit": Law("deferral", CERTAIN, 1500, 0.15, 0.9),
    "mean rate, shifted": Law("rate", SHIFTED, 100, 0.15, 1, MEAN),
    "mean rate, audit": Law("rate", UNCERTAIN, 300, 0.15, 1, MEAN),
    "mean rate, clusters": Law("rate", CLUSTERS, 30, 0.1, 1, MEAN),
    "mean rate, both": Law("rate", mixed(SQUARE, **TO_TWICE), 30, 0.15, 1, MEAN),
}
NAIVE = LAWS["shifted"], LAWS["sizes"], Law("risk", FLATTER, 100, 0.06)


@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
def test_kept_on_average_or_but_for_the_chance_of_an_error(law):
    excess = np.array([law.excess(rule) for rule in law.rules(N_DRAWS)])
    assert len(excess) >= law.found * N_DRAWS
    if law.options is MEAN:
        assert excess.mean() <= 3 * excess.std() / np.sqrt(N_DRAWS)
    else:
        assert np.count_nonzero(excess > 1e-9) <= LIMIT * N_DRAWS


@pytest.mark.parametrize("law", NAIVE, ids=["shifted", "sizes", "flatter"])
def test_broken_where_rows_are_taken_as_alike(law):
    excess = [law.excess(rule) for rule in law.rules(N_NAIVE, naive=True)]
    assert np.count_nonzero(np.array(excess) > 1e-9) > 0.3 * N_NAIVE


@pytest.mark.parametrize("proba", [ONE, UNCERTAIN.proba])
@pytest.mark.parametrize(("factor", "limits"), [(1, (0, LIMIT)), (0.5, (0.95, 1))])
def test_alarms_of_monitors(proba, factor, limits):
    population = replace(SHIFTED, proba=proba, max_weight=2 / proba(0.0))
    target, alarms = factor * float(np.mean(TWICE(GRID) * SQUARE(GRID))), 0
    for seed in range(N_DRAWS):
        _, losses, *_, known = population.draw(np.random.default_rng(seed), 1000)
        monitor = RiskMonitor(target, max_weight=known.pop("max_weight"), **CERTIFIED)
        for rows in np.arange(1000).reshape(20, 50):
            monitor.update(losses[rows], **{k: x[rows] for k, x in known.items()})
        alarms += monitor.alarm
    assert limits[0] <= alarms / N_DRAWS <= limits[1]
