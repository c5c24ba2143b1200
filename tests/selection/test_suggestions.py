"""What errors and rules suggest can be asked for, and gives what they say."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sklearn_reject.selection import (
    InfeasibleTargetError,
    RejectionRule,
    chow_rule,
    solve_reject_cost,
    solve_target_coverage,
    solve_target_risk,
)
from tests.samples import samples

SOLVERS = {
    "reject_cost": solve_reject_cost,
    "target_risk": solve_target_risk,
    "target_coverage": solve_target_coverage,
}


@st.composite
def rough_samples(draw):
    """Draw samples with ties and losses of many digits, weights of any scale."""
    scores, losses, weights = draw(samples(max_size=30))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    losses = losses * rng.random(len(losses))
    if weights is not None:
        weights = weights * rng.random(len(weights)) * draw(st.sampled_from([1, 1e-9]))
    return scores, losses, weights


def solved(solve, sample, target, **options):
    """Return a rule, None where there is none."""
    scores, losses, weights = sample
    try:
        return solve(scores, losses, target, sample_weight=weights, **options)
    except InfeasibleTargetError:
        return None


@st.composite
def rules(draw, sample):
    """Draw a rule of any origin: solved, certified, made by hand, never measured."""
    scores, losses = sample[:2]
    origin = draw(st.sampled_from([*SOLVERS, "certified", "chow", "by hand"]))
    target = draw(st.integers(1, 24)) / 24
    if origin == "chow":
        return chow_rule(target)
    if origin == "by hand":
        return RejectionRule(draw(st.integers(-4, 4)) / 4, target)
    if origin == "certified":
        options = {"confidence_level": 0.5, "random_state": 0, "max_loss": 2.0}
        return solved(solve_target_risk, (scores, losses, None), target, **options)
    options = {}
    if origin != "reject_cost":
        options["randomize"] = draw(st.booleans())
    return solved(SOLVERS[origin], sample, target, **options)


def assert_targets_lead_back(rule, sample):
    """Solve the targets of a rule again; those that are NaN lead nowhere."""
    targets = rule.equivalent_targets()
    for name, target in targets.items():
        if np.isnan(target):
            assert rule.coverage == 0
            assert name != "reject_cost"
            continue
        again = SOLVERS[name](*sample[:2], target, sample_weight=sample[2])
        assert again.coverage >= rule.coverage * (1 - 1e-9)
        if name == "target_coverage":
            np.testing.assert_allclose(again.coverage, rule.coverage)


@given(st.data(), st.sampled_from([samples(max_size=20), rough_samples()]))
def test_targets_of_a_solved_rule_lead_back_to_it(data, kind):
    sample = data.draw(kind)
    rule = data.draw(rules(sample))
    if rule is None or np.isnan(rule.coverage):
        return
    if rule.certificate is not None:
        sample = (*sample[:2], None)
    assert_targets_lead_back(rule, sample)


@given(st.data(), st.sampled_from([samples(max_size=20), rough_samples()]))
def test_targets_of_a_measured_rule_are_those_of_the_sample_it_was_measured_on(
    data, kind
):
    rule = data.draw(rules(data.draw(kind)))
    if rule is None:
        return
    scores, losses, weights = sample = data.draw(kind)
    measured = rule.measure(scores, losses, sample_weight=weights)
    assert_targets_lead_back(measured, sample)


def test_targets_lead_back_on_a_long_sample():
    rng = np.random.default_rng(0)
    scores = rng.normal(size=100_000).round(3)
    losses, weights = rng.random(100_000) ** 4, rng.exponential(size=100_000)
    sample = scores, losses, weights
    for coverage in (1e-5, 0.3, 0.7654321, 1.0):
        rule = solve_target_coverage(scores, losses, coverage, sample_weight=weights)
        assert_targets_lead_back(rule, sample)
        measured = rule.measure(scores, losses, sample_weight=weights)
        assert measured.reject_cost == rule.reject_cost


def test_nothing_accepted_has_neither_risk_nor_coverage_to_ask_for():
    rule = solve_reject_cost([0.1, 0.2], [1, 1], 0.6)
    targets = rule.equivalent_targets()
    assert targets["reject_cost"] == 0
    assert np.isnan(targets["target_risk"])
    assert np.isnan(targets["target_coverage"])
    assert rule.coverage == 0
    assert solve_reject_cost([0.1, 0.2], [1, 1], 0.0).coverage == 0


def test_a_rule_without_a_sample_knows_only_the_cost_asked_for():
    targets = chow_rule(0.2).equivalent_targets()
    assert targets.pop("reject_cost") == 0.2
    assert np.isnan(list(targets.values())).all()


def test_measured_cost_is_that_of_the_data():
    # Half of those whose risk is said to be .1 are wrong: who accepts them acts as if
    # a rejection cost .5.
    rule = chow_rule(0.2).measure([0.1, 0.1, 0.3], [0, 1, 1])
    assert (rule.threshold, rule.coverage, rule.reject_cost) == (0.2, 2 / 3, 0.5)
    assert chow_rule(0.2).measure([0.3], [1]).reject_cost == 0


def suggested(error, pattern):
    """Return the number that a message names."""
    return float(re.search(rf"{pattern} ([0-9.e-]*\d)", str(error)).group(1))


@given(rough_samples(), st.integers(0, 11))
def test_the_risk_that_an_error_suggests_can_be_had(sample, twelfths):
    scores, losses, weights = sample
    sample = scores, losses + 1 / 3, weights
    with pytest.raises(InfeasibleTargetError) as info:
        solve_target_risk(*sample[:2], twelfths / 36.1, sample_weight=weights)
    for randomize in (True, False):
        risk = suggested(info.value, "lowest selective risk is")
        rule = solved(solve_target_risk, sample, risk, randomize=randomize)
        assert rule.coverage >= suggested(info.value, "at coverage")
        np.testing.assert_allclose(risk, info.value.lowest_risk, rtol=1e-5)


def test_the_message_tells_the_target_from_what_can_be_had():
    # Six digits of both would be the same.
    with pytest.raises(InfeasibleTargetError, match=r"risk 0\.33333331 .* 0\.333334"):
        solve_target_risk([1, 2, 3], [1, 0, 0], 0.33333331)


@given(st.integers(0, 2**32), st.integers(30, 120))
def test_the_certifiable_risk_that_an_error_suggests_can_be_had(seed, n_samples):
    rng = np.random.default_rng(seed)
    scores = rng.random(n_samples)
    losses = rng.random(n_samples) < 0.3 + 0.5 * scores
    options = {"confidence_level": 0.9, "random_state": 0}
    with pytest.raises(InfeasibleTargetError) as info:
        solve_target_risk(scores, losses, 0.1, **options)
    risk = suggested(info.value, "smallest risk that can be certified is about")
    assert info.value.lowest_risk <= risk <= info.value.lowest_risk * (1 + 1e-5)
    rule = solve_target_risk(scores, losses, risk, **options)
    assert rule.certificate.target == risk
