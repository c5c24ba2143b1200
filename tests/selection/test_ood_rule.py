"""Rules of one and of two scores as they are applied and measured."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sklearn_reject.selection import DoubleScoreRule, tune_single_score

INF = float("inf")
SCORES = st.lists(
    st.sampled_from([-INF, -1.0, 0.0, 0.5, 1.0, INF]), min_size=1, max_size=12
)


def single(**fields):
    """Return a rule of one score."""
    rule = tune_single_score([0, 1], [0, 0], [0, 0], min_tpr=0.5)
    return type(rule)(**fields)


def double(threshold=0.0, proba_at_threshold=1.0, **fields):
    return DoubleScoreRule(
        threshold=threshold, proba_at_threshold=proba_at_threshold, **fields
    )


@given(
    SCORES, st.sampled_from([-INF, -1.0, 0.5, 1.0, INF]), st.sampled_from([0, 0.3, 1])
)
def test_probabilities_by_definition(scores, threshold, nu):
    rule = single(threshold=threshold, proba_at_threshold=nu)
    novelty = double(threshold, nu, risk_weight=0.0, novelty_weight=1.0)
    probability = rule.accept_proba(scores)
    for score, found in zip(scores, probability, strict=True):
        if np.isinf(score):
            assert found == (score < 0)
        else:
            assert found == (nu if score == threshold else score < threshold)
    np.testing.assert_array_equal(
        novelty.accept_proba(len(scores) * [7.0], scores), probability
    )
    at = rule.at_threshold(scores)
    np.testing.assert_array_equal(
        at, np.isfinite(scores) & (np.array(scores) == threshold)
    )
    if nu in (0, 1):
        np.testing.assert_array_equal(rule.accept(scores), probability == 1)


def test_draws_only_at_the_threshold():
    rule = single(threshold=0.5, proba_at_threshold=0.3)
    scores = np.repeat([0.0, 0.5, 1.0], 4000)
    accepted = rule.accept(scores, random_state=0).reshape(3, -1).mean(axis=1)
    assert (accepted[0], accepted[2]) == (1, 0)
    assert abs(accepted[1] - 0.3) < 3 * np.sqrt(0.21 / 4000)
    again = double(0.5, 0.3).accept(scores, 0 * scores, random_state=0)
    np.testing.assert_array_equal(again, rule.accept(scores, random_state=0))


@pytest.mark.parametrize("weights", [(1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (1.0, -2.0)])
def test_infinite_novelty_stays_infinite(weights):
    rule = double(risk_weight=weights[0], novelty_weight=weights[1])
    combined = rule.combine([1.0, 1.0, 1.0], [INF, -INF, 0.0])
    np.testing.assert_array_equal(combined, [INF, -INF, weights[0]])
    np.testing.assert_array_equal(rule.accept_proba([1, 1], [INF, -INF]), [0, 1])


def test_sums_beyond_float64_are_infinite_and_not_nan():
    rule = double(risk_weight=-1.0, novelty_weight=1e9)
    combined = rule.combine([1e308, 1e308], [1e305, -1e305])
    np.testing.assert_array_equal(combined, [INF, -INF])


def test_mu():
    assert double(novelty_weight=0.25).mu == 0.25
    assert double(risk_weight=0.5, novelty_weight=2).mu == 4
    assert double(risk_weight=0, novelty_weight=1).mu == INF


def test_measure_by_hand():
    rule = single(threshold=1.0, proba_at_threshold=0.5, ood_prior=0.25)
    sample = [0, 1, 2, 0, 1], [1, 1, 1, 9, 9], [0, 0, 0, 1, 1]
    measured = rule.measure(*sample, sample_weight=[1, 2, 1, 1, 3])
    assert (measured.tpr, measured.fpr) == ((1 + 1) / 4, (1 + 1.5) / 4)
    assert measured.selective_risk == 1
    assert measured.precision == 0.75 * 0.5 / (0.75 * 0.5 + 0.25 * 0.625)
    rule = double(1.0, 0.5, ood_prior=0.25, novelty_weight=1.0)
    measured = rule.measure([0, 0, 1], [0, 1, 1], [0, 1, 1], [0, 0, 1])
    assert (measured.tpr, measured.fpr, measured.selective_risk) == (0.75, 0, 1 / 3)


def test_measure_of_a_mixture_by_hand():
    rule = single(threshold=1.5, proba_at_threshold=1.0, ood_prior=0.25)
    # Half of the ID and three of four wild samples are accepted.
    sample = [0, 2, 0, 1, 1, 3], [1, 0, 0, 0, 0, 0], [0, 0, 1, 1, 1, 1]
    measured = rule.measure(*sample, wild_share=0.8)
    assert measured.fpr == pytest.approx((0.75 - 0.2 * 0.5) / 0.8)
    assert measured.selective_risk == 1
    none = rule.measure([0, 2, 2, 3], [0] * 4, [0, 0, 1, 1], wild_share=0.5)
    assert (none.fpr, none.precision) == (-0.5, 1)


def test_measure_where_something_is_missing():
    rule = single(threshold=-INF, proba_at_threshold=0.0, ood_prior=0.25)
    measured = rule.measure([0, 1], [0, 1], [0, 1])
    assert (measured.tpr, measured.fpr) == (0, 0)
    assert np.isnan([measured.precision, measured.selective_risk]).all()
    rule = single(threshold=0.5, proba_at_threshold=1.0)
    measured = rule.measure([0, 1], [0, 1], [0, 0])
    assert measured.tpr == 0.5
    assert np.isnan([measured.fpr, measured.precision]).all()
    # Without OOD samples in use the precision is one, whatever is accepted.
    rule = single(threshold=0.5, proba_at_threshold=1, ood_prior=0.0)
    assert rule.measure([0, 1], [0, 0], [0, 0]).precision == 1
    assert rule.measure([0, 0], [0, 0], [0, 1]).precision == 1
    assert np.isnan(rule.measure([1, 0], [0, 0], [0, 1]).precision)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda rule, two: rule.accept([np.nan]), "scores must be finite, got nan"),
        (lambda rule, two: rule.accept([[1.0]]), "scores"),
        (lambda rule, two: rule.accept([]), "scores"),
        (lambda rule, two: two.accept_proba([np.nan], [0.0]), "uncertainty_scores"),
        (lambda rule, two: two.accept_proba([INF], [0.0]), "uncertainty_scores"),
        (lambda rule, two: two.accept_proba([0.0], [np.nan]), "novelty_scores"),
        (lambda rule, two: two.accept_proba([0.0], [0.0, 1]), "novelty_scores has 2"),
        (lambda rule, two: rule.measure([0], [0], [1]), "At least one ID sample"),
        (
            lambda rule, two: rule.measure([0, 1], [0, 0], [0, 1], wild_share=1.5),
            r"wild_share must be in \]0, 1\]",
        ),
    ],
)
def test_errors(call, message):
    rule = single(threshold=0.0, proba_at_threshold=1.0)
    with pytest.raises(ValueError, match=message):
        call(rule, double())
