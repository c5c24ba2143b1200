import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sklearn_reject.selection import (
    InfeasibleTargetError,
    RejectionRule,
    chow_rule,
    solve_target_coverage,
    solve_target_risk,
)
from tests.samples import samples


def test_accept_proba_by_hand():
    rule = RejectionRule(threshold=0.4, proba_at_threshold=0.3)
    np.testing.assert_array_equal(rule.accept_proba([0.3, 0.4, 0.5]), [1, 0.3, 0])
    assert RejectionRule(0.4, 0.0).accept_proba([0.4]) == [0]
    assert RejectionRule(np.inf, 1.0).accept_proba([1e308]) == [1]
    assert RejectionRule(-np.inf, 0.0).accept_proba([-1e308]) == [0]


def test_draws_follow_the_probability():
    rule = RejectionRule(threshold=0.0, proba_at_threshold=0.3)
    accepted = rule.accept(np.zeros(100_000), random_state=0)
    assert abs(accepted.mean() - 0.3) < 4 * np.sqrt(0.21 / 100_000)
    scores = np.array([-1.0, 0.0, 1.0] * 50)
    drawn = rule.accept(scores, random_state=1)
    assert drawn[scores < 0].all()
    assert not drawn[scores > 0].any()
    assert 0 < drawn[scores == 0].sum() < 50


def test_draws_repeat_with_an_int_only():
    rule, scores = RejectionRule(0.0, 0.5), np.zeros(100)
    first = rule.accept(scores, random_state=3)
    np.testing.assert_array_equal(first, rule.accept(scores, random_state=3))
    generator = np.random.RandomState(3)
    np.testing.assert_array_equal(first, rule.accept(scores, random_state=generator))
    assert (first != rule.accept(scores, random_state=generator)).any()


@pytest.mark.parametrize("proba_at_threshold", [0.0, 1.0])
def test_nothing_is_drawn_without_need(proba_at_threshold):
    generator = np.random.RandomState(0)
    RejectionRule(0.0, proba_at_threshold).accept(np.zeros(10), random_state=generator)
    assert generator.random_sample() == np.random.RandomState(0).random_sample()


@given(samples(), st.integers(1, 12))
def test_measure_on_the_tuning_sample_gives_what_was_solved(sample, twelfths):
    scores, losses, weights = sample
    rule = solve_target_coverage(scores, losses, twelfths / 12, sample_weight=weights)
    measured = rule.measure(scores, losses, sample_weight=weights)
    np.testing.assert_allclose(measured.coverage, rule.coverage)
    np.testing.assert_allclose(measured.selective_risk, rule.selective_risk)
    assert (measured.threshold, measured.proba_at_threshold) == (
        rule.threshold,
        rule.proba_at_threshold,
    )


def test_measure_where_nothing_is_accepted():
    rule = chow_rule(0.1).measure([1.0, 2.0], [0, 1])
    assert rule.coverage == 0
    assert np.isnan(rule.selective_risk)


def test_rule_is_frozen_and_survives_pickling():
    rule = RejectionRule(0.1, 0.2, 0.3, 0.4, 0.5)
    assert pickle.loads(pickle.dumps(rule)) == rule
    with pytest.raises(AttributeError):
        rule.proba_at_threshold = 1


def test_infeasible_target_error_survives_pickling():
    with pytest.raises(InfeasibleTargetError) as info:
        solve_target_risk([1, 2], [1, 1], 0.5)
    error = pickle.loads(pickle.dumps(info.value))
    assert isinstance(error, ValueError)
    assert str(error) == str(info.value)
    assert (error.lowest_risk, error.coverage) == (1, 1)


@pytest.mark.parametrize("method", ["accept", "accept_proba"])
def test_scores_are_checked(method):
    with pytest.raises(ValueError, match="scores must be finite, got nan"):
        getattr(chow_rule(0.5), method)([0.1, np.nan])
