from fractions import Fraction
from functools import partial
from itertools import pairwise
from unittest import mock

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.optimize import linprog

from sklearn_reject._curves import _groups
from sklearn_reject.selection import (
    InfeasibleTargetError,
    chow_rule,
    solve_reject_cost,
    solve_target_coverage,
    solve_target_risk,
)
from tests.samples import exact_groups, exact_prefixes, samples

INF = float("inf")
SOLVERS = [solve_reject_cost, solve_target_risk, solve_target_coverage]


def expected(rule, scores, losses, weights):
    """Return coverage and loss a sample of a rule, from its acceptance alone."""
    weights = np.ones(len(scores)) if weights is None else weights
    accepted = weights * rule.accept_proba(scores)
    return accepted.sum() / weights.sum(), accepted @ losses / weights.sum()


def largest_share(weight, loss, group_weight, group_loss, risk):
    """Return how much of a group fits under the risk, None if nothing fits."""
    room = risk * weight - loss
    excess = group_loss - risk * group_weight
    if excess <= 0:
        return Fraction(1) if room >= excess else None
    return min(Fraction(1), room / excess) if room >= 0 else None


@given(samples(), st.integers(0, 12))
def test_target_risk_against_all_thresholds_and_probabilities(sample, eighths):
    risk = Fraction(eighths, 8)
    groups = exact_groups(*sample)
    prefixes = exact_prefixes(groups)
    best = Fraction(0)
    for (weight, loss), group in zip(prefixes[:-1], groups, strict=True):
        share = largest_share(weight, loss, group[1], group[2], risk)
        if share is not None:
            best = max(best, weight + share * group[1])
    scores, losses, weights = sample
    if all(loss > risk * weight for weight, loss in prefixes[1:]):
        with pytest.raises(InfeasibleTargetError):
            solve_target_risk(scores, losses, float(risk), sample_weight=weights)
        return
    rule = solve_target_risk(scores, losses, float(risk), sample_weight=weights)
    coverage, loss = expected(rule, *sample)
    np.testing.assert_allclose(coverage, float(best / prefixes[-1][0]))
    np.testing.assert_allclose(rule.coverage, coverage)
    np.testing.assert_allclose(rule.selective_risk, loss / coverage, atol=1e-15)
    assert rule.selective_risk <= float(risk) + 1e-12
    if rule.coverage < 1:
        # Met exactly, by randomization where ties demand it.
        np.testing.assert_allclose(rule.selective_risk, float(risk), atol=1e-12)
        assert rule.threshold in scores
        assert 0 <= rule.proba_at_threshold < 1
    else:
        assert (rule.threshold, rule.proba_at_threshold) == (INF, 1)


@given(samples(), st.integers(1, 12))
def test_target_coverage_is_exact_and_takes_the_smallest_threshold(sample, twelfths):
    scores, losses, weights = sample
    target = twelfths / 12
    rule = solve_target_coverage(scores, losses, target, sample_weight=weights)
    coverage, loss = expected(rule, *sample)
    np.testing.assert_allclose([coverage, rule.coverage], target)
    np.testing.assert_allclose(rule.selective_risk, loss / coverage, atol=1e-15)
    groups = exact_groups(*sample)
    prefixes = exact_prefixes(groups)
    wanted = prefixes[-1][0] * twelfths / 12
    last = next(k for k, (weight, _) in enumerate(prefixes) if weight >= wanted)
    if twelfths == 12:
        assert (rule.threshold, rule.proba_at_threshold) == (INF, 1)
    else:
        assert rule.threshold == groups[last - 1][0]
        share = (wanted - prefixes[last - 1][0]) / groups[last - 1][1]
        np.testing.assert_allclose(rule.proba_at_threshold, float(share))


@given(samples(), st.integers(0, 12))
def test_reject_cost_against_all_thresholds(sample, eighths):
    cost = Fraction(eighths, 8)
    prefixes = exact_prefixes(exact_groups(*sample))
    total = prefixes[-1][0]
    costs = [loss + cost * (total - weight) for weight, loss in prefixes]
    largest = max(
        w for (w, _), c in zip(prefixes, costs, strict=True) if c == min(costs)
    )
    scores, losses, weights = sample
    rule = solve_reject_cost(scores, losses, float(cost), sample_weight=weights)
    coverage, loss = expected(rule, *sample)
    np.testing.assert_allclose(
        loss + float(cost) * (1 - coverage), float(min(costs) / total), atol=1e-15
    )
    np.testing.assert_allclose(coverage, float(largest / total))
    assert rule.proba_at_threshold in (0, 1)
    if coverage == 0:
        assert rule.threshold == -INF
        assert np.isnan(rule.selective_risk)


@given(samples(), st.integers(0, 12), st.integers(1, 5))
def test_reject_cost_does_not_depend_on_batches(sample, eighths, batch_size):
    scores, losses, weights = sample
    solve = partial(
        solve_reject_cost, scores, losses, eighths / 8, sample_weight=weights
    )
    whole = solve()
    with mock.patch.object(_groups, "BATCH_SIZE", batch_size):
        np.testing.assert_equal(solve().to_dict(), whole.to_dict())


@given(samples(), st.integers(1, 11))
def test_without_randomization_the_safe_side(sample, twelfths):
    scores, losses, weights = sample
    target = twelfths / 12
    options = {"sample_weight": weights, "randomize": False}
    rule = solve_target_coverage(scores, losses, target, **options)
    assert rule.proba_at_threshold == 1
    assert expected(rule, *sample)[0] >= target - 1e-12
    try:
        rule = solve_target_risk(scores, losses, target, **options)
    except InfeasibleTargetError:
        return
    coverage, loss = expected(rule, *sample)
    assert rule.proba_at_threshold in (0, 1)
    assert coverage > 0
    assert loss <= target * coverage * (1 + 1e-12)


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


@given(samples(), st.integers(0, 11))
def test_infeasible_target_says_what_can_be_met(sample, eighths):
    scores, losses, weights = sample
    losses = losses + 0.5
    prefixes = exact_prefixes(exact_groups(scores, losses, weights))[1:]
    lowest = min(loss / weight for weight, loss in prefixes)
    target = float(lowest) * eighths / 12
    with pytest.raises(InfeasibleTargetError, match="lowest selective risk") as info:
        solve_target_risk(scores, losses, target, sample_weight=weights)
    np.testing.assert_allclose(info.value.lowest_risk, float(lowest))
    attains = max(w for w, loss in prefixes if loss == lowest * w)
    np.testing.assert_allclose(info.value.coverage, float(attains / prefixes[-1][0]))
    # What it names can be met, at the coverage it names.
    rule = solve_target_risk(
        scores, losses, info.value.lowest_risk, sample_weight=weights
    )
    np.testing.assert_allclose(rule.coverage, info.value.coverage)


def isotonic_value(groups, index):
    """Evaluate the max-min formula of isotonic regression."""
    prefixes = exact_prefixes(groups)

    def mean(first, last):
        (w0, l0), (w1, l1) = prefixes[first], prefixes[last + 1]
        return (l1 - l0) / (w1 - w0)

    return max(
        min(mean(i, j) for j in range(index, len(groups))) for i in range(index + 1)
    )


@given(samples(), st.integers(1, 12))
def test_equivalent_targets_lead_back(sample, twelfths):
    scores, losses, weights = sample
    options = {"sample_weight": weights}
    rule = solve_target_coverage(scores, losses, twelfths / 12, **options)
    targets = rule.equivalent_targets()
    assert targets["target_coverage"] == rule.coverage
    assert targets["target_risk"] == rule.selective_risk
    again = solve_target_coverage(scores, losses, targets["target_coverage"], **options)
    np.testing.assert_allclose(again.coverage, rule.coverage)
    if not 0 < rule.proba_at_threshold < 1 or rule.selective_risk > 0:
        by_risk = solve_target_risk(scores, losses, targets["target_risk"], **options)
        assert by_risk.coverage >= rule.coverage - 1e-9
    by_cost = solve_reject_cost(scores, losses, targets["reject_cost"], **options)
    assert by_cost.coverage >= rule.coverage - 1e-12
    groups = exact_groups(*sample)
    reached = rule.coverage * (1 - 1e-9) * float(exact_prefixes(groups)[-1][0])
    last = next(k for k, p in enumerate(exact_prefixes(groups)) if p[0] >= reached)
    np.testing.assert_allclose(
        targets["reject_cost"], float(isotonic_value(groups, last - 1)), atol=1e-15
    )


@given(samples(), st.integers(1, 11), st.randoms(use_true_random=False))
def test_row_order_and_monotone_transforms_do_not_matter(sample, twelfths, random):
    scores, losses, weights = sample
    rows = list(range(len(scores)))
    random.shuffle(rows)
    moved = scores[rows] ** 3, losses[rows]
    moved_weights = None if weights is None else weights[rows]
    for solve in SOLVERS:
        try:
            rule = solve(scores, losses, twelfths / 12, sample_weight=weights)
        except InfeasibleTargetError:
            with pytest.raises(InfeasibleTargetError):
                solve(*moved, twelfths / 12, sample_weight=moved_weights)
            continue
        other = solve(*moved, twelfths / 12, sample_weight=moved_weights)
        assert other.threshold == rule.threshold**3
        np.testing.assert_allclose(
            [
                other.proba_at_threshold,
                other.coverage,
                other.selective_risk,
                other.reject_cost,
            ],
            [
                rule.proba_at_threshold,
                rule.coverage,
                rule.selective_risk,
                rule.reject_cost,
            ],
            atol=1e-12,
        )


@given(samples(weighted=False), st.lists(st.integers(0, 3), min_size=10, max_size=10))
def test_integer_weights_repeat_rows(sample, repeats):
    scores, losses, _ = sample
    repeats = np.array(repeats[: len(scores)])
    assume(repeats.any())
    repeated = np.repeat(scores, repeats), np.repeat(losses, repeats)
    for solve in SOLVERS:
        try:
            rule = solve(scores, losses, 0.4, sample_weight=repeats)
        except InfeasibleTargetError:
            continue
        other = solve(*repeated, 0.4)
        assert other.threshold == rule.threshold
        np.testing.assert_allclose(other.proba_at_threshold, rule.proba_at_threshold)


def test_a_prefix_over_the_risk_does_not_end_the_search():
    # The first sample is wrong, so that the risk falls with the coverage.
    rule = solve_target_risk(np.arange(10), [1] + [0] * 9, 0.1)
    assert rule.coverage == 1


def test_zero_risk_is_a_legal_target():
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


def test_coverage_and_risk_grow_with_the_target():
    rng = np.random.default_rng(0)
    scores, losses = rng.integers(0, 20, 200), rng.integers(0, 2, 200)
    for solve in (solve_reject_cost, solve_target_coverage):
        coverages = [solve(scores, losses, t).coverage for t in np.linspace(0.1, 1, 19)]
        assert all(low <= high for low, high in pairwise(coverages))


def test_one_sample():
    assert solve_target_coverage([3], [1], 0.25).proba_at_threshold == 0.25
    assert solve_target_risk([3], [1], 1).threshold == INF
    assert solve_reject_cost([3], [1], 0.5).threshold == -INF


@pytest.mark.parametrize("solve", SOLVERS)
@pytest.mark.parametrize("target", [-0.1, np.nan, np.inf, "much", True, None])
def test_target_out_of_range(solve, target):
    with pytest.raises(ValueError, match=r"target \(.*\) must be .*got"):
        solve([1, 2], [0, 1], target)


@pytest.mark.parametrize("target", [0, 1.0001])
def test_coverage_out_of_range(target):
    with pytest.raises(
        ValueError, match=r"target \(the coverage\) must be in \]0, 1\]"
    ):
        solve_target_coverage([1, 2], [0, 1], target)


@pytest.mark.parametrize("solve", SOLVERS)
def test_bad_arrays(solve):
    with pytest.raises(ValueError, match="scores must be finite"):
        solve([np.nan, 1], [0, 1], 0.5)
    with pytest.raises(ValueError, match="losses must be non-negative"):
        solve([0, 1], [0, -1], 0.5)
    with pytest.raises(ValueError, match="sample_weight is zero for every sample"):
        solve([0, 1], [0, 1], 0.5, sample_weight=[0, 0])


def test_chow_rule_needs_no_data():
    rule = chow_rule(0.3)
    assert (rule.threshold, rule.proba_at_threshold, rule.reject_cost) == (0.3, 1, 0.3)
    assert np.isnan(rule.coverage)
    with pytest.raises(ValueError, match=r"reject_cost must be in \[0, inf\[, got -1"):
        chow_rule(-1)


def test_chow_rule_is_optimal_for_the_conditional_risk():
    rng = np.random.default_rng(1)
    risks = rng.integers(0, 10, 500) / 10
    for cost in (0.05, 0.3, 0.55):
        solved = solve_reject_cost(risks, risks, cost)
        chosen = chow_rule(cost).measure(risks, risks)
        assert chosen.coverage == solved.coverage
        np.testing.assert_allclose(chosen.selective_risk, solved.selective_risk)


def test_targets_are_exact_on_long_samples():
    # Adding a million times 0.1 one by one misses 1e5 by far more than rounding.
    n = 10**6
    losses = np.full(n, 0.1)
    assert solve_target_risk(np.arange(n), losses, 0.1).coverage == 1
    assert solve_reject_cost(np.arange(n), losses, 0.1).coverage == 1


def test_a_huge_reject_cost_accepts_everything():
    assert solve_reject_cost([1, 2, 3], [1, 2, 3], 1e308).coverage == 1
