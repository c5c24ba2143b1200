"""Bounds on the failures of several parts: each of them, and one rule for all."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sklearn_reject.exceptions import RejectionWarning
from sklearn_reject.selection import (
    InfeasibleTargetError,
    RejectionRule,
    Thinning,
    solve_target_failure_rate,
)
from sklearn_reject.selection._failure_parts import solve_failure_parts, strictest


def solve(scores, losses, labels, targets, **options):
    parts = {f"class {y}": (labels == y, rate) for y, rate in targets.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RejectionWarning)
        return solve_failure_parts(scores, losses, parts, **options)


SAMPLES = st.lists(
    st.tuples(st.integers(0, 6), st.sampled_from([0.0, 0.5, 1.0]), st.integers(0, 1)),
    min_size=4,
    max_size=12,
)


@given(SAMPLES, st.floats(0.05, 0.9), st.floats(0.05, 0.9), st.booleans())
def test_each_sample_of_a_part_in_turn_is_the_new_one(samples, one, other, is_binary):
    # Given the samples of the other part and how many are of this one.
    scores, losses, labels = np.array(samples).T
    losses = np.ceil(losses) if is_binary else losses
    targets = {0: one, 1: other}
    if min(np.bincount(labels.astype(int), minlength=2)) < 2:
        return
    total = {0: 0.0, 1: 0.0}
    rows = np.arange(len(scores))
    for row in rows:
        kept = rows != row
        rule, _ = solve(
            scores[kept],
            losses[kept],
            labels[kept],
            targets,
            max_loss=None if is_binary else 1.0,
        )
        total[labels[row]] += losses[row] * rule.accept_proba(scores[[row]])[0]
    for label, target in targets.items():
        assert total[label] <= target * (labels == label).sum() * (1 + 1e-9)


RULES = st.builds(
    lambda start, gap, at, proba, thins: RejectionRule(
        start + gap,
        at * (proba if thins and gap else 1),
        thinning=Thinning(start, (1 + proba) / 2, proba) if thins and gap else None,
    ),
    st.integers(0, 5).map(float),
    st.integers(0, 3).map(float),
    st.floats(0, 1),
    st.floats(0.1, 0.9),
    st.booleans(),
)
PLACES = np.arange(-1, 10, 0.5)


@given(st.lists(RULES, min_size=1, max_size=4))
def test_strictest_accepts_no_more_than_any(rules):
    found = strictest(rules).accept_proba(PLACES)
    smallest = np.min([rule.accept_proba(PLACES) for rule in rules], axis=0)
    assert (found <= smallest + 1e-12).all()
    assert (np.diff(found) <= 1e-12).all()
    if sum(rule.thinning is not None for rule in rules) <= 1:
        np.testing.assert_allclose(found, smallest)


@pytest.mark.parametrize("confidence", [None, 0.9])
def test_one_part_of_all_samples_is_the_plain_rule(confidence):
    rng = np.random.default_rng(0)
    scores = rng.integers(0, 40, 200) / 40
    losses = (rng.random(200) < scores) * 1.0
    draws = rng.random(200)
    options = {"confidence": confidence, "draws": draws}
    rule, rules = solve(scores, losses, np.zeros(200), {0: 0.1}, **options)
    plain = solve_target_failure_rate(scores, losses, 0.1, **options)
    assert rules["class 0"] == plain
    assert rule.accept_proba(scores).tolist() == plain.accept_proba(scores).tolist()


def test_the_smallest_threshold_is_taken_with_confidence():
    rng = np.random.default_rng(0)
    scores = rng.random(400)
    labels = rng.integers(0, 2, 400)
    losses = (rng.random(400) < scores**2 / (1 + labels)) * 1.0
    rule, rules = solve(scores, losses, labels, {0: 0.05, 1: 0.05}, confidence=0.9)
    thresholds = [each.threshold for each in rules.values()]
    assert rule.threshold == min(thresholds) < max(thresholds)
    assert {each.certificate.n_samples for each in rules.values()} == {
        (labels == 0).sum(),
        (labels == 1).sum(),
    }


def test_infeasible_parts_are_named():
    scores, losses, labels = np.arange(30), np.zeros(30), np.zeros(30)
    with pytest.raises(InfeasibleTargetError, match="class 1 has no calibration"):
        solve(scores, losses, labels, {0: 0.1, 1: 0.1})
    with pytest.raises(InfeasibleTargetError, match="class 0: 30 samples cannot"):
        solve(scores, losses, labels, {0: 0.01}, randomize=False)
