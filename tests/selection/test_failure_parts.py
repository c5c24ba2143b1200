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
    RiskBoundsCertificate,
    measure_risk_bounds,
    solve_failure_bounds,
    solve_target_failure_rate,
)


def quietly(function, *args, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RejectionWarning)
        return function(*args, **options)


def solve(scores, losses, labels, targets, **options):
    bounds = {"class": (labels, targets)}
    return quietly(solve_failure_bounds, scores, losses, bounds, **options)


SAMPLES = st.lists(
    st.tuples(st.integers(0, 6), st.sampled_from([0.0, 0.5, 1.0]), st.integers(0, 1)),
    min_size=4,
    max_size=12,
)


@given(SAMPLES, st.floats(0.01, 0.9), st.floats(0.01, 0.9), st.booleans())
def test_each_sample_of_a_part_in_turn_is_the_new_one(samples, one, other, is_binary):
    # Given the samples of the other part and how many are of this one.
    scores, losses, labels = np.array(samples).T
    losses = np.ceil(losses) if is_binary else losses
    counts = np.bincount(labels.astype(int), minlength=2)
    if counts.min() < 2:
        return
    # As small as so many samples can promise, at least.
    targets = {
        label: share + (1 - share) / count
        for label, share, count in zip((0, 1), (one, other), counts, strict=True)
    }
    total = {0: 0.0, 1: 0.0}
    rows = np.arange(len(scores))
    for row in rows:
        kept = rows != row
        rule = solve(
            scores[kept],
            losses[kept],
            labels[kept],
            targets,
            max_loss=None if is_binary else 1.0,
        )
        total[labels[row]] += losses[row] * rule.accept_proba(scores[[row]])[0]
    for label, target in targets.items():
        assert total[label] <= target * (labels == label).sum() * (1 + 1e-9)


@pytest.mark.parametrize("confidence_level", [None, 0.9])
def test_one_part_of_all_samples_is_the_plain_rule(confidence_level):
    rng = np.random.default_rng(0)
    scores = rng.integers(0, 40, 200) / 40
    losses = (rng.random(200) < scores) * 1.0
    draws = rng.random(200)
    options = {"confidence_level": confidence_level, "draws": draws}
    rule = solve(scores, losses, np.zeros(200), {0: 0.1}, **options)
    plain = solve_target_failure_rate(scores, losses, 0.1, **options)
    assert rule.accept_proba(scores).tolist() == plain.accept_proba(scores).tolist()
    assert rule.failure_rate == plain.failure_rate
    both = rule.certificate, plain.certificate
    for name in ("target", "bound", "n_samples", "n_accepted", "p_value"):
        one, other = (getattr(each, name) for each in both)
        assert one == other, name


RNG = np.random.default_rng(0)
SCORES, LABELS = RNG.random(400), RNG.integers(0, 2, 400)
LOSSES = (RNG.random(400) < SCORES**2 / (1 + LABELS)) * 1.0
BOUNDS = {"class": (LABELS, {0: 0.05, 1: 0.07}), "half": (SCORES > 0.5, {True: 0.2})}


def test_the_smallest_threshold_is_taken_with_confidence():
    draws = RNG.random(400)
    options = {"confidence_level": 0.9, "draws": draws}
    rule = solve_failure_bounds(SCORES, LOSSES, BOUNDS, **options)
    members = [LABELS == 0, LABELS == 1, SCORES > 0.5]
    rules = [
        solve_target_failure_rate(
            SCORES[rows], LOSSES[rows], rate, confidence_level=0.9, draws=draws[rows]
        )
        for rows, rate in zip(members, [0.05, 0.07, 0.2], strict=True)
    ]
    thresholds = [each.threshold for each in rules]
    assert rule.threshold == min(thresholds) < max(thresholds)
    certificate = rule.certificate
    assert isinstance(certificate, RiskBoundsCertificate)
    assert certificate.quantity == "failure_rate_of_parts"
    assert certificate.parts == ("class[0]", "class[1]", "half[True]")
    assert certificate.targets == (0.05, 0.07, 0.2)
    assert certificate.p_values == tuple(each.certificate.p_value for each in rules)
    assert certificate.p_value == max(certificate.p_values) <= 0.1


def test_what_is_measured_is_the_mean_of_all_members():
    rule = solve_failure_bounds(SCORES, LOSSES, BOUNDS)
    lost = LOSSES * rule.accept_proba(SCORES)
    achieved = measure_risk_bounds(rule, SCORES, LOSSES, BOUNDS)
    for label, rows in ((0, LABELS == 0), (1, LABELS == 1)):
        found = achieved["class", label]
        assert found.failure_rate == pytest.approx(lost[rows].mean())
        assert 0 < found.failure_rate <= found.target
    certificate = rule.certificate
    assert (certificate.confidence_level, certificate.p_value) == (None, None)
    assert (certificate.bound, certificate.p_values) == ("conformal", ())
    nothing = RejectionRule(-1.0, 0.0)
    bounds = {"class": (LABELS, {0: 0.1, 7: 0.1})}
    achieved = measure_risk_bounds(nothing, SCORES, LOSSES, bounds)
    assert achieved["class", 0].failure_rate == 0.0
    assert np.isnan(achieved["class", 7].failure_rate)


def test_a_target_of_the_largest_loss_is_no_bound():
    bounds = {"class": (LABELS, {0: 0.05})}
    more = {"class": (LABELS, {0: 0.05, 1: 1.0, 2: 1.5})}
    for confidence_level in (None, 0.9):
        options = {"confidence_level": confidence_level, "random_state": 0}
        rule, other = (
            solve_failure_bounds(SCORES, LOSSES, each, **options)
            for each in (bounds, more)
        )
        assert rule.threshold == other.threshold
        assert rule.proba_at_threshold == other.proba_at_threshold
    assert other.certificate.p_values[1:] == (0.0, 0.0)
    everything = {"class": (LABELS, {0: 1.0})}
    assert solve_failure_bounds(SCORES, LOSSES, everything).coverage == 1.0


def test_infeasible_parts_are_named():
    scores, losses, labels = np.arange(30), np.zeros(30), np.zeros(30)
    with pytest.raises(
        InfeasibleTargetError, match=r"2 of 3 .*class\[0\] has 30 of the 99 samples"
    ) as error:
        solve(scores, losses, labels, {0: 0.01, 1: 0.1, 2: 1.0})
    lowest = error.value.attainable["class"]
    assert lowest == {0: pytest.approx(1 / 31, rel=1e-5), 1: 1.0, 2: 1.0}
    assert solve(scores, losses, labels, lowest).coverage == 1.0
    with pytest.raises(InfeasibleTargetError, match=r"target of class\[0\] is 0"):
        solve(scores, losses, labels, {0: 0})


def test_parts_of_which_nothing_is_accepted_are_told_of():
    wrong = np.where(LABELS == 0, 1.0, LOSSES)
    # Less than one loss beside that of the new sample.
    least = 1.2 / (np.count_nonzero(LABELS == 0) + 1)
    bounds = {"class": (LABELS, {0: least, 1: 0.3})}
    with pytest.warns(RejectionWarning, match=r"No sample of class\[0\] is accepted"):
        solve_failure_bounds(SCORES, wrong, bounds, randomize=False)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"bounds": {}}, "bounds must be a dict"),
        ({"bounds": {"class": (LABELS, {0: -0.1})}}, r"target of class\[0\]"),
        ({"bounds": {"class": (LABELS[1:], {0: 0.1})}}, "labels of bounds"),
        ({"sample_weight": SCORES}, "sample_weight cannot be combined"),
        ({"losses": SCORES}, "max_loss is needed"),
        ({"losses": 3 * LOSSES, "max_loss": 2}, "above max_loss=2"),
        ({"randomize": 2}, "randomize"),
        ({"confidence_level": 1.0}, "confidence_level"),
        ({"confidence_level": 0.9, "draws": SCORES[1:]}, "draws"),
    ],
    ids=lambda value: ",".join(value) if isinstance(value, dict) else "",
)
def test_bad_arguments(options, match):
    options = {"scores": SCORES, "losses": LOSSES, "bounds": BOUNDS} | options
    with pytest.raises(ValueError, match=match):
        solve_failure_bounds(**options)
