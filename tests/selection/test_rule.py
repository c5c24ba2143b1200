import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sklearn_reject.selection import (
    DoubleScoreRule,
    RejectionRule,
    SingleScoreRule,
    keyed_draws,
    solve_target_coverage,
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


def test_measured_cost_is_that_of_the_data():
    # Half of those whose risk is said to be .1 are wrong: who accepts them acts as if
    # a rejection cost .5.
    rule = RejectionRule(0.2, 1.0).measure([0.1, 0.1, 0.3], [0, 1, 1])
    assert (rule.threshold, rule.coverage, rule.reject_cost) == (0.2, 2 / 3, 0.5)
    assert RejectionRule(0.2, 1.0).measure([0.3], [1]).reject_cost == 0


def test_measure_where_nothing_is_accepted():
    rule = RejectionRule(0.1, 1.0).measure([1.0, 2.0], [0, 1])
    assert rule.coverage == 0
    assert np.isnan(rule.selective_risk)


@pytest.mark.parametrize("method", ["accept", "accept_proba"])
def test_scores_are_checked(method):
    with pytest.raises(ValueError, match="scores must be finite, got nan"):
        getattr(RejectionRule(0.5, 1.0), method)([0.1, np.nan])


KINDS = {
    "rejection": (RejectionRule(0.5, 0.25), lambda scores: (scores,)),
    "single": (
        SingleScoreRule(threshold=0.5, proba_at_threshold=0.25),
        lambda scores: (scores,),
    ),
    "double": (
        DoubleScoreRule(threshold=0.5, proba_at_threshold=0.25, novelty_weight=2.0),
        lambda scores: (np.zeros(len(scores)), scores / 2),
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_draws_decide_at_the_threshold_only(kind):
    rule, arguments = KINDS[kind]
    scores = np.array([0.4, 0.5, 0.5, 0.5, 0.6])
    draws = [0.9, 0.0, 0.2499, 0.25, 0.0]
    accepted = rule.accept(*arguments(scores), draws=draws)
    np.testing.assert_array_equal(accepted, [True, True, True, False, False])
    np.testing.assert_array_equal(
        rule.at_threshold(*arguments(scores)), [False, True, True, True, False]
    )


@pytest.mark.parametrize("kind", KINDS)
def test_only_the_rows_at_the_threshold_are_asked_for_draws(kind):
    rule, arguments = KINDS[kind]
    scores, asked = np.array([0.4, 0.5, 0.6, 0.5]), []

    def draw(rows):
        asked.append(rows.tolist())
        return keyed_draws(1, rows)

    accepted = rule.accept(*arguments(scores), draws=draw)
    assert asked == [[1, 3]]
    expected = rule.accept(*arguments(scores), draws=keyed_draws(1, range(4)))
    np.testing.assert_array_equal(accepted, expected)
    rule.accept(*arguments(scores + 1), draws=draw)
    assert len(asked) == 1


@pytest.mark.parametrize("probability", [0.0, 1.0])
def test_draws_are_not_asked_for_without_need(probability):
    rule = RejectionRule(0.5, probability)
    assert rule.accept([0.5], draws=lambda rows: 1 / 0).tolist() == [probability == 1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"draws": [0.5]}, "draws has 1 elements, but there"),
        ({"draws": [0.5, 1.0]}, r"draws must be in \[0, 1\[, got 1.0"),
        ({"draws": [-0.1, 0.5]}, r"draws must be in \[0, 1\[, got -0.1"),
        ({"draws": [np.nan, 0.5]}, "draws must be finite"),
        ({"draws": lambda rows: np.zeros(7)}, "draws has 7 elements, but there"),
        ({"draws": [0.1, 0.2], "random_state": 0}, "random_state=0 is not used"),
    ],
)
@pytest.mark.parametrize("kind", KINDS)
def test_bad_draws(kind, options, message):
    rule, arguments = KINDS[kind]
    with pytest.raises(ValueError, match=message):
        rule.accept(*arguments(np.array([0.5, 0.6])), **options)


def test_infinite_scores_are_never_at_the_threshold():
    rule = SingleScoreRule(threshold=np.inf, proba_at_threshold=1.0)
    scores = [-np.inf, 1e308, np.inf]
    np.testing.assert_array_equal(rule.accept(scores), [True, True, False])
    rule = SingleScoreRule(threshold=-np.inf, proba_at_threshold=0.5)
    np.testing.assert_array_equal(rule.accept_proba(scores), [1, 0, 0])
    np.testing.assert_array_equal(rule.at_threshold(scores), [False] * 3)
