"""Scores in the wrong order are told of, once, by every solver on arrays."""

import numpy as np
import pytest

from sklearn_reject.exceptions import RejectionWarning
from sklearn_reject.selection import (
    solve_deferral,
    solve_failure_bounds,
    solve_reject_cost,
    solve_risk_bounds,
    solve_target_coverage,
    solve_target_failure_rate,
    solve_target_risk,
)

N = 600


def draw(seed=0):
    """Return confidences, which are no uncertainties, and errors."""
    rng = np.random.default_rng(seed)
    confidence = rng.random(N)
    return confidence, (rng.random(N) < 0.4 * (1 - confidence)).astype(float)


GROUPS = np.arange(N) % 3
PARTS = {"part": (GROUPS, {0: 0.5, 1: 0.5})}
CERTIFIED = {"confidence_level": 0.9, "random_state": 0}
SOLVERS = {
    "cost": lambda s, losses, **more: solve_reject_cost(s, losses, 0.3, **more),
    "risk": lambda s, losses, **more: solve_target_risk(s, losses, 0.3, **more),
    "coverage": lambda s, losses, **more: solve_target_coverage(s, losses, 0.8, **more),
    "failures": lambda s, losses, **more: solve_target_failure_rate(
        s, losses, 0.1, **more
    ),
    "risk, certified": lambda s, losses, **more: solve_target_risk(
        s, losses, 0.5, **CERTIFIED, **more
    ),
    "coverage, certified": lambda s, losses, **more: solve_target_coverage(
        s, losses, 0.8, **CERTIFIED, **more
    ),
    "deferral": lambda s, losses, **more: solve_deferral(
        s, losses, 0 * losses, max_deferral=0.2, **more
    ),
}
OF_PARTS = {
    "parts": lambda s, losses: solve_risk_bounds(s, losses, PARTS),
    "failures of parts": lambda s, losses: solve_failure_bounds(s, losses, PARTS),
}


def words(name):
    if name == "deferral":
        return r"wrong sign: the area .* is 0\.\d+ on the samples, worse than 0\.\d+"
    return r"backwards: the half .* has risk 0\.\d+, all of them have 0\.\d+.*sign"


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", [*SOLVERS, *OF_PARTS])
def test_backward_scores_are_told_of_once(name):
    confidence, losses = draw()
    solve = (SOLVERS | OF_PARTS)[name]
    # Those of the highest gain are deferred, which are the least certain ones.
    right, wrong = 1 - confidence, confidence
    with pytest.warns(RejectionWarning, match=words(name)) as record:
        found = solve(wrong, losses)
    assert [each.filename for each in record] == [__file__]
    assert type(found) is type(solve(right, losses))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", SOLVERS)
def test_groups_are_judged_together(name):
    """Of two groups, each in the right order, one may have all the errors."""
    confidence, losses = (np.tile(array, 3) for array in draw())
    groups, solve = np.tile(GROUPS, 3), SOLVERS[name]
    with pytest.warns(RejectionWarning, match=words(name)) as record:
        solve(confidence, losses, groups=groups)
    assert len(record) == 1
    uncertainty = 1 - confidence - 3 * groups
    solve(uncertainty, np.where(groups == 2, losses, 0.0), groups=groups)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", ["risk", "deferral"])
def test_weights_and_many_samples_are_looked_at(name):
    confidence, losses = (np.tile(array, 100) for array in draw())
    weight = np.where(np.arange(len(losses)) % 100 < 50, 1.0, 0.0)
    with pytest.warns(RejectionWarning, match=words(name)):
        SOLVERS[name](confidence, losses, sample_weight=weight)
    SOLVERS[name](1 - confidence, losses, sample_weight=weight)


@pytest.mark.filterwarnings("error")
def test_chance_is_not_told_of():
    told = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        try:
            solve_target_coverage(rng.random(100), rng.integers(0, 2, 100), 0.5)
        except RejectionWarning:
            told += 1
    assert told <= 15
