"""Scores that differ by rounding are the same score, when solving and in use."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sklearn_reject._curves._groups import TIE_TOLERANCE, group_by_score
from sklearn_reject.selection import (
    DoubleScoreRule,
    InfeasibleTargetError,
    RejectionRule,
    certify_double_score,
    keyed_draws,
    solve_reject_cost,
    solve_target_coverage,
    solve_target_risk,
    tune_double_score,
    tune_single_score,
)

SOLVERS = [solve_reject_cost, solve_target_risk, solve_target_coverage]
ULP = 2.0**-52


@st.composite
def noisy_samples(draw):
    """Draw scores with ties, losses and relative errors of up to 4 ulps."""
    n = draw(st.integers(2, 30))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    scores = rng.integers(-4, 8, n) / draw(st.sampled_from([1, 3, 7, 1e-9, 1e9]))
    losses = rng.integers(0, 2, n).astype(float)
    return scores, losses, 1 + ULP * rng.integers(-4, 5, n), rng


def solve_all(scores, losses, target, **options):
    """Return the rule of each solver, None where there is none."""
    rules = []
    for solve in SOLVERS:
        keywords = {} if solve is solve_reject_cost else options
        try:
            rules.append(solve(scores, losses, target, **keywords))
        except InfeasibleTargetError:
            rules.append(None)
    return rules


def assert_same_rules(rules, others, scores, moved):
    for rule, other in zip(rules, others, strict=True):
        assert (rule is None) == (other is None)
        if rule is not None:
            found = [other.coverage, other.selective_risk, other.proba_at_threshold]
            wanted = [rule.coverage, rule.selective_risk, rule.proba_at_threshold]
            np.testing.assert_allclose(found, wanted, rtol=1e-14)
            expected = rule.accept_proba(scores)
            for values in (scores, moved):
                np.testing.assert_array_equal(other.accept_proba(values), expected)


@given(noisy_samples(), st.integers(1, 11), st.booleans())
def test_rules_are_those_without_noise(sample, twelfths, randomize):
    scores, losses, factors, _ = sample
    moved = scores * factors
    rules, others = (
        solve_all(values, losses, twelfths / 12, randomize=randomize)
        for values in (scores, moved)
    )
    assert_same_rules(rules, others, scores, moved)


@given(noisy_samples(), st.integers(1, 11), st.booleans())
def test_certified_rules_are_those_without_noise(sample, twelfths, randomize):
    scores, losses, factors, rng = sample
    moved, draws = scores * factors, keyed_draws(0, rng.integers(0, 20, len(scores)))
    options = {"confidence_level": 0.5, "randomize": randomize, "draws": draws}
    rules, others = (
        solve_all(values, losses, twelfths / 12, **options)
        for values in (scores, moved)
    )
    assert_same_rules(rules[1:], others[1:], scores, moved)


@given(noisy_samples(), st.sampled_from([0.2, 0.5, 0.8]), st.booleans())
def test_thresholds_of_one_score_with_ood_samples(sample, min_tpr, randomize):
    scores, losses, factors, rng = sample
    moved, is_ood = scores * factors, rng.random(len(scores)) < 0.3
    is_ood[0] = False
    rule, other = (
        tune_single_score(values, losses, is_ood, min_tpr=min_tpr, randomize=randomize)
        for values in (scores, moved)
    )
    np.testing.assert_allclose([other.tpr, other.fpr], [rule.tpr, rule.fpr])
    expected = rule.accept_proba(scores)
    for values in (scores, moved):
        np.testing.assert_allclose(other.accept_proba(values), expected)


@given(st.lists(st.integers(0, 2**14), min_size=1, max_size=40))
def test_a_coverage_is_met_by_scores_near_each_other(steps):
    # Steps of 1 / 2^10 of the tolerance.
    scores = 1 + np.array(steps) * TIE_TOLERANCE / 2**10
    rule = solve_target_coverage(scores, np.zeros(len(scores)), 0.5)
    np.testing.assert_allclose(rule.measure(scores, scores * 0).coverage, 0.5)


@pytest.mark.parametrize("base", [1.0, -1.0, 3e-7, -5e11])
def test_the_tolerance_ends_where_it_says(base):
    rule = RejectionRule(threshold=base, proba_at_threshold=0.25)
    inside, outside = 0.99 * TIE_TOLERANCE * abs(base), 1.01 * TIE_TOLERANCE * abs(base)
    scores = [base - outside, base - inside, base, base + inside, base + outside]
    np.testing.assert_array_equal(rule.accept_proba(scores), [1, 0.25, 0.25, 0.25, 0])
    np.testing.assert_array_equal(rule.at_threshold(scores), [0, 1, 1, 1, 0])


def test_curves_keep_exact_ties():
    assert len(group_by_score([1.0, 1.0 + ULP], [0, 1])) == 2


def test_a_risk_that_is_the_cost_but_for_rounding_is_accepted():
    risk = 1 - np.array([0.7, 0.1, 0.2]).max()
    assert risk > 0.3
    assert RejectionRule(0.3, 1.0).accept([risk]).all()
    assert RejectionRule(0.3, 1.0).measure([risk], [0.3]).coverage == 1
    rule = DoubleScoreRule(threshold=0.3, proba_at_threshold=1.0, novelty_weight=1.0)
    assert rule.accept([0.1], [0.2]).all()  # .1 + .2 > .3 in floats


def test_sums_are_compared_at_the_magnitude_of_their_terms():
    rule = DoubleScoreRule(
        threshold=0.1, proba_at_threshold=0.5, risk_weight=-1.0, novelty_weight=1.0
    )
    risk, novelty = np.array([1e6, 0.9]), np.array([1e6 + 0.1, 1.0])
    # 1e6 + .1 - 1e6 is off by 2e-11, far more than .1 * 2^-40.
    assert abs(rule.combine(risk, novelty)[0] - 0.1) > 1e-11
    np.testing.assert_array_equal(rule.at_threshold(risk, novelty), [True, True])
    near = novelty - [0, 1e-10]
    np.testing.assert_array_equal(rule.at_threshold(risk, near), [True, False])
    np.testing.assert_array_equal(rule.accept_proba(risk, near), [0.5, 1.0])


@given(noisy_samples())
def test_certified_double_scores_are_those_without_noise(sample):
    risk, losses, factors, rng = sample
    novelty, other = rng.integers(-3, 3, len(risk)) / 3, rng.permutation(factors)
    is_ood = np.append(False, rng.random(len(risk) - 1) < 0.3)
    draws = keyed_draws(1, rng.integers(0, 9, len(risk)))
    rule = DoubleScoreRule(
        threshold=0.0, proba_at_threshold=1.0, risk_weight=1.0, novelty_weight=1.5
    )
    options = {"min_tpr": 0.1, "confidence_level": 0.2, "draws": draws}
    try:
        expected = certify_double_score(rule, risk, novelty, losses, is_ood, **options)
    except InfeasibleTargetError:
        return
    moved = risk * factors, novelty * other
    found = certify_double_score(rule, *moved, losses, is_ood, **options)
    assert found.certificate == expected.certificate
    assert found.proba_at_threshold == expected.proba_at_threshold
    probability = expected.accept_proba(risk, novelty)
    np.testing.assert_array_equal(found.accept_proba(risk, novelty), probability)
    np.testing.assert_array_equal(found.accept_proba(*moved), probability)


@given(noisy_samples(), st.sampled_from([0.2, 0.5, 0.8]), st.booleans())
def test_tuned_double_scores_are_those_without_noise(sample, min_tpr, randomize):
    risk, losses, factors, rng = sample
    novelty, other = rng.integers(-3, 3, len(risk)) / 3, rng.permutation(factors)
    is_ood = np.append(False, rng.random(len(risk) - 1) < 0.3)
    moved = risk * factors, novelty * other
    max_fpr = 0.5 if is_ood.any() else None
    options = {"min_tpr": min_tpr, "max_fpr": max_fpr, "randomize": randomize}
    rules = []
    for scores in ((risk, novelty), moved):
        try:
            rules.append(tune_double_score(*scores, losses, is_ood, **options))
        except InfeasibleTargetError:
            rules.append(None)
    assert (rules[0] is None) == (rules[1] is None)
    if rules[0] is None:
        return
    np.testing.assert_allclose(rules[1].tpr, rules[0].tpr)
    np.testing.assert_allclose(rules[1].fpr, rules[0].fpr)
    np.testing.assert_allclose(rules[1].selective_risk, rules[0].selective_risk)
    expected = rules[1].accept_proba(*moved)
    np.testing.assert_array_equal(rules[1].accept_proba(risk, novelty), expected)
    assert not rules[1].fpr > 0.5 + 1e-12
    assert rules[1].tpr >= min_tpr - 1e-12
