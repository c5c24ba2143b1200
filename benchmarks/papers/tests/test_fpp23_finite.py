from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.papers._fpp23_finite import solve_finite_lp
from sklearn_reject import InfeasibleTargetError


@st.composite
def problems(draw, max_size=6):
    """Draw (p_I, p_O, r) of few distinct values; g is finite in most inputs."""
    n = draw(st.integers(1, max_size))

    def column(low, high):
        return np.array(
            draw(st.lists(st.integers(low, high), min_size=n, max_size=n)), dtype=float
        )

    p_id, p_ood = column(0, 4), column(0, 4)
    p_id[0] += 1
    p_ood[-1] += 1
    return p_id / p_id.sum(), p_ood / p_ood.sum(), column(0, 3) / 4


BOUNDS = st.one_of(
    st.fixed_dictionaries(
        {
            "min_tpr": st.sampled_from([0.25, 0.5, 0.9, 1.0]),
            "max_fpr": st.sampled_from([None, 0.0, 0.25, 0.5]),
        }
    ),
    st.fixed_dictionaries(
        {
            "min_tpr": st.sampled_from([0.25, 0.5, 0.9]),
            "min_precision": st.sampled_from([0.5, 0.8, 1.0]),
            "ood_prior": st.sampled_from([0.0, 0.25, 0.5]),
        }
    ),
)


def solve(problem, bounds):
    try:
        return solve_finite_lp(*problem, **bounds)
    except InfeasibleTargetError:
        return None


def keeps(bounds, tpr, fpr):
    """Tell if the bounds hold, by their definition."""
    if tpr < bounds["min_tpr"] - 1e-9:
        return False
    if "max_fpr" in bounds:
        return bounds["max_fpr"] is None or fpr <= bounds["max_fpr"] + 1e-9
    prior = bounds["ood_prior"]
    precision = (1 - prior) * tpr / ((1 - prior) * tpr + prior * fpr)
    return precision >= bounds["min_precision"] - 1e-9


@given(problems(), BOUNDS, st.integers(0, 10**6))
def test_no_random_rule_is_better(problem, bounds, seed):
    p_id, p_ood, risks = problem
    rule = solve(problem, bounds)
    corners = np.array(list(product([0.0, 1.0], repeat=len(p_id))))
    mixed = np.random.default_rng(seed).random((200, len(p_id)))
    for accepted in np.vstack([corners, mixed]):
        tpr, fpr = p_id @ accepted, p_ood @ accepted
        if keeps(bounds, tpr, fpr):
            assert rule is not None
            assert rule.selective_risk <= (p_id * risks) @ accepted / tpr + 1e-9


@given(problems(), BOUNDS)
def test_rule_keeps_the_bounds_in_the_form_of_a_threshold(problem, bounds):
    p_id, p_ood, risks = problem
    rule = solve(problem, bounds)
    if rule is None:
        return
    accepted = rule.accept_proba
    assert accepted.min() >= 0
    assert accepted.max() <= 1
    assert keeps(bounds, rule.tpr, rule.fpr)
    np.testing.assert_allclose(
        [rule.tpr, rule.fpr], [p_id @ accepted, p_ood @ accepted]
    )
    np.testing.assert_allclose(rule.tpr, bounds["min_tpr"])
    np.testing.assert_allclose(
        rule.selective_risk, (p_id * risks) @ accepted / rule.tpr, atol=1e-12
    )
    assert rule.mu >= -1e-9
    # r + mu g against the threshold, times p_I so that it is finite.
    margin = p_id * (risks - rule.threshold) + rule.mu * p_ood
    np.testing.assert_allclose(accepted[margin < -1e-9], 1, atol=1e-9)
    np.testing.assert_allclose(accepted[margin > 1e-9], 0, atol=1e-9)
    bound = bounds.get("max_fpr")
    if bound is not None and rule.fpr < bound - 1e-9:
        assert rule.mu == pytest.approx(0, abs=1e-9)


def test_a_boundary_of_positive_probability():
    # All inputs have the same r + mu g: they are accepted by intervals of g.
    ratio = np.array([0.25, 0.5, 1.0, 1.5, 1.75])
    p_id = np.full(5, 0.2)
    rule = solve_finite_lp(p_id, p_id * ratio, 2 - ratio, min_tpr=0.5, max_fpr=0.5)
    np.testing.assert_allclose([rule.mu, rule.threshold], [1, 2], atol=1e-9)
    np.testing.assert_allclose(rule.fpr, 0.5)
    between = (rule.accept_proba > 1e-9) & (rule.accept_proba < 1 - 1e-9)
    assert between.sum() <= 2
    # Accepting gamma_1 < g < gamma_2, with draws at the two ends, is as good.
    accepted = np.array([0.0, 0.75, 1.0, 0.75, 0.0])
    np.testing.assert_allclose([p_id @ accepted, p_id * ratio @ accepted], 0.5)
    risk = p_id * (2 - ratio) @ accepted / 0.5
    np.testing.assert_allclose(rule.selective_risk, risk)


@given(problems(), BOUNDS)
def test_what_the_error_says_can_be_attained(problem, bounds):
    if solve(problem, bounds) is not None:
        return
    with pytest.raises(InfeasibleTargetError, match="No rule attains") as info:
        solve_finite_lp(*problem, **bounds)
    most, least = info.value.attainable["min_tpr"], info.value.attainable["max_fpr"]
    if most > 1e-6:
        assert solve(problem, bounds | {"min_tpr": most - 1e-6}) is not None
    relaxed = {"min_tpr": bounds["min_tpr"], "max_fpr": min(least + 1e-6, 1.0)}
    assert solve(problem, relaxed) is not None


@pytest.mark.parametrize("p_id", [[0.5, 0.6], [1.5, -0.5]])
def test_probabilities_that_are_none(p_id):
    with pytest.raises(ValueError, match="p_id must be probabilities"):
        solve_finite_lp(p_id, [0.5, 0.5], [0.1, 0.2], min_tpr=0.5)


@pytest.mark.parametrize("unit", [1.0, 1e-9, 1e9])
def test_units_of_the_risk_do_not_matter(unit):
    rng = np.random.default_rng(0)
    p_id, p_ood = rng.dirichlet(np.ones(3000), 2)
    risks = rng.random(3000)
    rule = solve_finite_lp(p_id, p_ood, risks * unit, min_tpr=0.7)
    order = np.argsort(risks)
    filled = np.cumsum(p_id[order])
    accepted = np.clip((0.7 - filled + p_id[order]) / p_id[order], 0, 1)
    best = (p_id * risks)[order] @ accepted / 0.7
    assert rule.selective_risk / unit == pytest.approx(best, rel=1e-6)
