import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sklearn_reject.selection import (
    DoubleScoreRule,
    RejectionRule,
    SingleScoreRule,
    likelihood_ratio_rule,
    tune_double_score,
)

INF = float("inf")
SCORES = st.lists(
    st.sampled_from([-INF, -1.0, 0.0, 0.5, 1.0, INF]), min_size=1, max_size=12
)


@given(
    SCORES, st.sampled_from([-INF, -1.0, 0.5, 1.0, INF]), st.sampled_from([0, 0.3, 1])
)
def test_probabilities_by_definition(scores, threshold, nu):
    rule = SingleScoreRule(threshold=threshold, proba_at_threshold=nu)
    for score, probability in zip(scores, rule.accept_proba(scores), strict=True):
        if np.isinf(score):
            assert probability == (score < 0)
        elif score == threshold:
            assert probability == nu
        else:
            assert probability == (score < threshold)
    if nu in (0, 1):
        np.testing.assert_array_equal(
            rule.accept(scores), rule.accept_proba(scores) == 1
        )


def test_draws_only_at_the_threshold():
    rule = SingleScoreRule(threshold=0.5, proba_at_threshold=0.3)
    scores = np.repeat([0.0, 0.5, 1.0], 4000)
    accepted = rule.accept(scores, random_state=0).reshape(3, -1).mean(axis=1)
    assert accepted[0] == 1
    assert accepted[2] == 0
    assert abs(accepted[1] - 0.3) < 3 * np.sqrt(0.21 / 4000)
    np.testing.assert_array_equal(
        rule.accept(scores, random_state=1), rule.accept(scores, random_state=1)
    )
    double = DoubleScoreRule(threshold=0.5, proba_at_threshold=0.3)
    np.testing.assert_array_equal(
        double.accept(scores, 0 * scores, random_state=1),
        rule.accept(scores, random_state=1),
    )


@pytest.mark.parametrize("weights", [(1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (1.0, -2.0)])
def test_infinite_novelty_stays_infinite(weights):
    rule = DoubleScoreRule(
        threshold=0.0,
        proba_at_threshold=1.0,
        risk_weight=weights[0],
        novelty_weight=weights[1],
    )
    combined = rule.combine([1.0, 1.0, 1.0], [INF, -INF, 0.0])
    np.testing.assert_array_equal(combined, [INF, -INF, weights[0]])
    np.testing.assert_array_equal(rule.accept_proba([1, 1], [INF, -INF]), [0, 1])


def test_sums_beyond_float64_are_infinite_and_not_nan():
    rule = DoubleScoreRule(
        threshold=0.0, proba_at_threshold=1.0, risk_weight=-1.0, novelty_weight=1e9
    )
    combined = rule.combine([1e308, 1e308], [1e305, -1e305])
    np.testing.assert_array_equal(combined, [INF, -INF])


def test_mu():
    assert (
        DoubleScoreRule(threshold=0, proba_at_threshold=1, novelty_weight=0.25).mu
        == 0.25
    )
    assert (
        DoubleScoreRule(
            threshold=0, proba_at_threshold=1, risk_weight=-1, novelty_weight=2
        ).mu
        == -2
    )
    assert (
        DoubleScoreRule(
            threshold=0, proba_at_threshold=1, risk_weight=0, novelty_weight=1
        ).mu
        == INF
    )


def test_measure_by_hand():
    rule = SingleScoreRule(threshold=1.0, proba_at_threshold=0.5, ood_prior=0.25)
    measured = rule.measure(
        [0, 1, 2, 0, 1], [1, 1, 1, 9, 9], [0, 0, 0, 1, 1], sample_weight=[1, 2, 1, 1, 3]
    )
    assert measured.tpr == (1 + 1) / 4
    assert measured.fpr == (1 + 1.5) / 4
    assert measured.selective_risk == 1
    assert measured.precision == 0.75 * 0.5 / (0.75 * 0.5 + 0.25 * 0.625)
    double = DoubleScoreRule(
        threshold=1.0, proba_at_threshold=0.5, ood_prior=0.25, novelty_weight=1.0
    )
    measured = double.measure([0, 0, 1], [0, 1, 1], [0, 1, 1], [0, 0, 1])
    assert (measured.tpr, measured.fpr, measured.selective_risk) == (0.75, 0, 1 / 3)


def test_measure_where_something_is_missing():
    rule = SingleScoreRule(threshold=-INF, proba_at_threshold=0.0, ood_prior=0.25)
    measured = rule.measure([0, 1], [0, 1], [0, 1])
    assert (measured.tpr, measured.fpr) == (0, 0)
    assert np.isnan([measured.precision, measured.selective_risk]).all()
    measured = SingleScoreRule(threshold=0.5, proba_at_threshold=1.0).measure(
        [0, 1], [0, 1], [0, 0]
    )
    assert measured.tpr == 0.5
    assert np.isnan([measured.fpr, measured.precision]).all()
    with pytest.raises(ValueError, match="At least one ID sample"):
        rule.measure([0], [0], [1])


def test_rules_survive_pickling():
    rule = tune_double_score([1, 2, 3], [1, 2, 3], [0, 1, 0], [0, 0, 1], min_tpr=0.5)
    copy = pickle.loads(pickle.dumps(rule))
    np.testing.assert_equal(vars(copy), vars(rule))


def test_likelihood_ratio_rule_by_hand():
    rule = likelihood_ratio_rule((0.3, 1.0, 0.2), ood_prior=0.2)
    assert rule.mu == pytest.approx(0.8 * 0.2 / 0.8)
    assert (rule.threshold, rule.proba_at_threshold, rule.risk_weight) == (
        0.3,
        1.0,
        1.0,
    )
    assert rule.accept([0.3, 0.31], [0.0, 0.0]).tolist() == [True, False]


def test_likelihood_ratio_rule_without_ood_is_chows():
    risks = np.linspace(0, 1, 11)
    rule = likelihood_ratio_rule((0.3, 1.0, 0.0), ood_prior=0)
    np.testing.assert_array_equal(
        rule.accept(risks, np.full(11, 1e9)), RejectionRule(0.3, 1.0).accept(risks)
    )


def test_likelihood_ratio_rule_is_optimal_for_true_scores():
    rng = np.random.default_rng(0)
    for prior in (0.1, 0.4):
        p_id, p_ood = rng.dirichlet(np.ones(50)), rng.dirichlet(np.ones(50))
        risk, costs = rng.random(50), (0.4, 1.0, 0.1)
        accepted = likelihood_ratio_rule(costs, prior).accept(risk, p_ood / p_id)
        accept = (1 - prior) * p_id * risk + prior * p_ood * costs[1]
        reject = (1 - prior) * p_id * costs[0] + prior * p_ood * costs[2]
        np.testing.assert_array_equal(accepted, accept <= reject)


@pytest.mark.parametrize(
    ("costs", "prior", "message"),
    [
        ((1, 2), 0.5, "costs must be three numbers"),
        (None, 0.5, "costs must be three numbers"),
        ((-1, 2, 1), 0.5, r"costs\[0\] .* must be in"),
        ((1, np.nan, 1), 0.5, r"costs\[1\] .* must be in"),
        ((1, 1, 1), 0.5, r"costs\[1\]=1 .* must be above costs\[2\]=1"),
        ((1, 2, 1), 1, r"ood_prior must be in \[0, 1\["),
        ((1, 2, 1), -0.1, "ood_prior must be in"),
        ((1, 2, 1), None, "ood_prior must be a number"),
    ],
)
def test_bad_costs(costs, prior, message):
    with pytest.raises(ValueError, match=message):
        likelihood_ratio_rule(costs, prior)


@pytest.mark.parametrize("scores", [[np.nan], [[1.0]], []])
def test_bad_scores(scores):
    rule = SingleScoreRule(threshold=0, proba_at_threshold=1)
    with pytest.raises(ValueError, match="scores"):
        rule.accept(scores)
    with pytest.raises(ValueError, match="scores"):
        DoubleScoreRule(threshold=0, proba_at_threshold=1).accept_proba(scores, [0.0])
