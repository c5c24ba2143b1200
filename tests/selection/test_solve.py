"""What the exact solvers of rejection say beside the best cut of `test_brute_force`."""

import re
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from sklearn_reject.exceptions import RejectionWarning
from sklearn_reject.selection import (
    InfeasibleTargetError,
    solve_deferral,
    solve_reject_cost,
    solve_target_coverage,
    solve_target_risk,
)
from tests.samples import samples

INF = float("inf")
SOLVERS = [solve_reject_cost, solve_target_risk, solve_target_coverage]


@given(samples(), st.integers(1, 12))
def test_a_proper_score_is_optimal_among_all_selection_functions(sample, twelfths):
    scores, losses, weights = sample
    weights = np.ones(len(scores)) if weights is None else weights
    target = twelfths / 12
    rule = solve_target_coverage(losses, losses, target, sample_weight=weights)
    share = weights / weights.sum()
    program = linprog(
        share * losses, A_ub=[-share], b_ub=[-target], bounds=(0, 1), method="highs"
    )
    np.testing.assert_allclose(
        rule.selective_risk * rule.coverage, program.fun, atol=1e-9
    )


def number_after(words, error):
    """Return the number that a message names."""
    return float(re.search(rf"{words} ([0-9.e-]*\d)", str(error)).group(1))


@given(samples(max_size=30), st.integers(0, 2**32), st.integers(0, 11))
def test_the_risk_that_an_error_names_can_be_had(sample, seed, twelfths):
    # With losses of many digits, and weights of any scale.
    scores, losses, weight = sample
    rng = np.random.default_rng(seed)
    losses = losses * rng.random(len(losses)) + 1 / 3
    if weight is not None:
        weight = weight * rng.random(len(weight)) * rng.choice([1, 1e-9])
    with pytest.raises(InfeasibleTargetError) as info:
        solve_target_risk(scores, losses, twelfths / 36.1, sample_weight=weight)
    risk = number_after("lowest selective risk is", info.value)
    np.testing.assert_allclose(risk, info.value.attainable["target_risk"], rtol=1e-5)
    for randomize in (True, False):
        options = {"sample_weight": weight, "randomize": randomize}
        rule = solve_target_risk(scores, losses, risk, **options)
        assert rule.coverage >= number_after("at coverage", info.value)


def test_where_a_threshold_is_infinite():
    for rule in (
        solve_target_coverage([1, 2], [1, 0], 1),
        solve_target_risk([3], [1], 1),
        # The first sample is wrong, so that the risk falls with the coverage.
        solve_target_risk(np.arange(10), [1] + [0] * 9, 0.1),
        solve_reject_cost([1, 2, 3], [1, 2, 3], 1e308),
    ):
        assert (rule.threshold, rule.proba_at_threshold, rule.coverage) == (INF, 1, 1)
    nothing = solve_reject_cost([3], [1], 0.5)
    assert nothing.threshold == -INF
    assert np.isnan(nothing.selective_risk)
    rule = solve_target_risk([1, 2, 3], [0, 0, 1], 0)
    assert (rule.threshold, rule.proba_at_threshold, rule.coverage) == (3, 0, 2 / 3)


def test_equalities_that_floats_miss_are_met():
    # Means of 3 * 0.1 exceed .1 in floats, and would cost a whole group.
    losses = [0.1, 0.1, 0.1, 5.0]
    rule = solve_target_risk([1, 2, 3, 4], losses, 0.1, randomize=False)
    assert rule.coverage == 0.75
    for cents in range(1, 100):
        rule = solve_target_coverage(np.arange(100), np.zeros(100), cents / 100)
        assert (rule.threshold, rule.proba_at_threshold) == (cents - 1, 1)
    assert solve_reject_cost([1, 2, 3], [0.1] * 3, 0.1).coverage == 1
    # Adding a million times 0.1 one by one misses 1e5 by far more than rounding.
    n = 10**6
    losses = np.full(n, 0.1)
    assert solve_target_risk(np.arange(n), losses, 0.1).coverage == 1
    assert solve_reject_cost(np.arange(n), losses, 0.1).coverage == 1


def uncertain(n):
    """Return scores in the right order, and errors."""
    rng = np.random.default_rng(0)
    scores = rng.random(n)
    return scores, (rng.random(n) < 0.4 * scores) * 1.0


@pytest.mark.filterwarnings("error")
def test_the_order_of_scores_is_judged_in_groups():
    scores, losses = uncertain(3000)
    groups = np.arange(3000) % 3
    # All errors in the group of the lowest scores.
    low = scores + np.where(groups == 2, 0.0, 3.0)
    losses = np.where(groups == 2, losses, 0.0)
    solve_target_risk(low, losses, 0.3, groups=groups)
    with pytest.warns(RejectionWarning, match="backwards"):
        solve_target_risk(-scores, losses, 0.3, groups=groups)


def deferral(gain, first, budget, **options):
    return solve_deferral(gain, first, 0 * first, max_deferral=budget, **options)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("solve", [solve_target_risk, deferral])
def test_the_order_of_weighted_and_of_many_samples(solve):
    scores, losses = (np.tile(array, 20) for array in uncertain(3000))
    weight = np.where(np.arange(60_000) % 100 < 30, 1.0, 0.01)
    # Those of little weight are in the wrong order, and most.
    scores = np.where(weight == 1, scores, 1 - scores)
    solve(scores, losses, 0.3, sample_weight=weight)
    with pytest.warns(RejectionWarning, match="backwards|wrong sign"):
        solve(-scores, losses, 0.3, sample_weight=weight)


def test_an_order_by_chance_is_seldom_called_wrong():
    told = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        with warnings.catch_warnings(record=True) as record:
            warnings.simplefilter("always")
            solve_target_coverage(rng.random(100), rng.integers(0, 2, 100), 0.5)
        told += len(record)
    assert told <= 15


OF_ALL = [
    (([np.nan, 1], [0, 1], 0.5), {}, "scores must be finite"),
    (([0, 1], [0, -1], 0.5), {}, "losses must be non-negative"),
    (([0, 1], [0, 1], 0.5), {"sample_weight": [0, 0]}, "zero for every sample"),
    *(
        (([1, 2], [0, 1], target), {}, f"must be .*got {re.escape(repr(target))}")
        for target in (-0.1, np.nan, np.inf, "much", True, None)
    ),
]
BAD_CALLS = [
    *((solve, *call) for solve in SOLVERS for call in OF_ALL),
    *(
        (solve_target_coverage, ([1, 2], [0, 1], share), {}, r"must be in \(0, 1\]")
        for share in (0, 1.0001)
    ),
]


@pytest.mark.parametrize(("solve", "args", "options", "words"), BAD_CALLS)
def test_bad_input(solve, args, options, words):
    with pytest.raises(ValueError, match=words):
        solve(*args, **options)
