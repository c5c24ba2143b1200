"""A bound on failures: on average by enumeration, with confidence by brute force."""

import math
import re
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from sklearn_reject.exceptions import RejectionWarning
from sklearn_reject.selection import (
    InfeasibleTargetError,
    keyed_draws,
    solve_target_failure_rate,
)

BOUNDS = ["binomial", "hoeffding_bentkus", "betting"]


def solve(scores, losses, target, **options):
    """Solve, whatever is said of nothing being accepted."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RejectionWarning)
        return solve_target_failure_rate(scores, losses, target, **options)


# On average: all calibration samples of a discrete distribution


SAMPLES = st.lists(
    st.tuples(st.integers(0, 6), st.sampled_from([0.0, 0.25, 0.5, 1.0])),
    min_size=2,
    max_size=12,
)


@given(SAMPLES, st.floats(0.01, 0.99), st.booleans())
def test_each_sample_in_turn_is_the_new_one(samples, share, randomize):
    # Stronger than the expectation: it holds for every set of n + 1 samples.
    scores, losses = np.array(samples).T
    # As small as so many samples can promise, at least.
    target = share + (1 - share) / len(samples)
    rows, total = np.arange(len(samples)), 0.0
    for row in rows:
        others = scores[rows != row], losses[rows != row]
        rule = solve(*others, target, randomize=randomize, max_loss=1.0)
        total += losses[row] * rule.accept_proba(scores[[row]])[0]
    assert total <= target * len(samples) * (1 + 1e-9)


@pytest.mark.parametrize("n_samples", [9, 19, 99])
def test_whole_numbers_are_not_missed_by_rounding(n_samples):
    scores = np.arange(n_samples)
    rule = solve(scores, scores >= 4, 3 / (n_samples + 1))
    assert (rule.threshold, rule.proba_at_threshold) == (6.0, 0.0)


@pytest.mark.parametrize("options", [{}, {"confidence_level": 0.9}])
def test_a_target_of_the_largest_loss_accepts_everything(options):
    assert solve([1, 2], [1, 1], 1.0, **options).coverage == 1


# With confidence


@given(st.integers(30, 200), st.floats(0.02, 0.5), st.integers(0, 10**6))
def test_certified_prefix_is_the_longest(n_samples, target, seed):
    rng = np.random.default_rng(seed)
    scores = rng.random(n_samples)
    losses = (rng.random(n_samples) < scores**2) * 1.0
    if (1 - target) ** n_samples > 0.1:
        return
    rule = solve(scores, losses, target, confidence_level=0.9)
    sums = np.append(0, np.cumsum(losses[np.argsort(scores)]))
    passes = binom.cdf(sums, n_samples, target) <= 0.1
    assert rule.coverage == np.flatnonzero(passes).max() / n_samples
    assert rule.certificate.p_value <= 0.1 * (1 + 1e-8)


def test_ties_are_cut_by_the_draws():
    draws = keyed_draws(0, range(200))
    losses = (draws > 0.6) * 1.0
    options = {"confidence_level": 0.9, "draws": draws}
    rule = solve(np.zeros(200), losses, 0.05, **options)
    # 5 errors of 200 are what 0.05 allows.
    allowed = binom.ppf(0.1, 200, 0.05) - 1
    assert rule.proba_at_threshold == np.sort(draws[losses == 1])[int(allowed)]
    accepted = rule.accept(np.zeros(200), draws=draws)
    assert losses[accepted].sum() == allowed
    whole = solve(np.zeros(200), losses, 0.05, confidence_level=0.9, randomize=False)
    assert whole.coverage == 0


def accepts_all(losses, rate, level, bound):
    """Tell if samples of one score are accepted, all or none."""
    options = {"bound": bound, "confidence_level": 1 - level, "randomize": False}
    tied = np.zeros(len(losses))
    return solve(tied, losses, rate, max_loss=1.0, **options).coverage == 1


@pytest.mark.parametrize("bound", BOUNDS)
@pytest.mark.parametrize("rate", [0.1, 0.3])
@pytest.mark.parametrize("level", [0.05, 0.1, 0.3, 0.7])
def test_the_chance_of_an_error_is_at_most_the_level(bound, rate, level):
    # Losses of 0 or 1 with the mean itself: the law of their number is known.
    law = binom.pmf(np.arange(61), 60, rate)
    passed = [
        accepts_all(np.repeat([1.0, 0.0], [count, 60 - count]), rate, level, bound)
        for count in range(61)
    ]
    assert 0 < law[passed].sum() <= level


@pytest.mark.parametrize("bound", BOUNDS[1:])
@given(st.lists(st.floats(0, 1), min_size=30, max_size=60), st.randoms())
def test_less_loss_in_any_order_passes_as_well(bound, losses, random):
    if accepts_all(losses, 0.4, 0.1, bound):
        less = [loss * random.random() for loss in losses]
        random.shuffle(less)
        assert accepts_all(less, 0.4, 0.1, bound)


# Too few samples


@pytest.mark.parametrize("rate", [0.01, 0.1, 0.4])
@pytest.mark.parametrize(
    "options", [{}, *({"confidence_level": 0.9, "bound": bound} for bound in BOUNDS)]
)
def test_the_error_says_how_many_are_needed_and_what_few_can_promise(rate, options):
    options = {"max_loss": 2.0} | options
    with pytest.raises(InfeasibleTargetError, match="1 samples cannot") as info:
        solve([0], [0], 2 * rate, **options)
    fewest = int(re.search(r"(\d+) are needed", str(info.value)).group(1))
    rule = solve(np.arange(fewest), np.zeros(fewest), 2 * rate, **options)
    assert rule.coverage == 1
    few = np.arange(fewest - 1), np.zeros(fewest - 1)
    with pytest.raises(InfeasibleTargetError, match=f"{fewest} are needed") as info:
        solve(*few, 2 * rate, **options)
    lowest = info.value.attainable["target_failure_rate"]
    assert 2 * rate < lowest < 2 * rate * fewest / (fewest - 1) * 1.01
    assert solve(*few, lowest, **options).coverage == 1


# Arguments


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"target": 0}, "is 0"),
        ({"target": 1e-310}, "is 1e-310, .*Use a larger value"),
        ({"target": -1}, "target"),
        ({"target": math.nan}, "target"),
        ({"sample_weight": [1, 1]}, "sample_weight=None, or use a target_risk"),
        ({"losses": [0, 0.5]}, "max_loss is needed"),
        ({"losses": [0, 3], "max_loss": 2}, "above max_loss=2"),
        ({"losses": [0, 0.5], "max_loss": 1, "bound": "binomial"}, "bound='binomial'"),
        ({"bound": "wsr"}, "bound"),
        ({"randomize": "yes"}, "randomize"),
        ({"confidence_level": 1}, "confidence_level"),
        ({"scores": [0, math.nan]}, "scores must be finite"),
        ({"scores": []}, "scores"),
        ({"confidence_level": 0.1, "draws": [0.5, 1.0], "target": 0.9}, "draws"),
        ({"groups": ["a", "b"], "sample_weight": [1, 1]}, "sample_weight cannot"),
    ],
    ids=str,
)
def test_bad_arguments(options, match):
    options = {"scores": [0, 1], "losses": [0, 1], "target": 0.4} | options
    with pytest.raises(ValueError, match=match):
        solve(**options)


# A rule for each group


GROUPS = np.repeat(["north", "south"], [40, 120])


@pytest.mark.parametrize("confidence_level", [None, 0.9])
def test_each_group_is_solved_by_itself(confidence_level):
    rng = np.random.default_rng(0)
    scores = rng.integers(0, 50, 160) / 50
    losses = (rng.random(160) < scores**2) * 1.0
    draws = rng.random(160)
    targets = {"north": 0.15, "south": 0.04}
    options = {"confidence_level": confidence_level, "draws": draws}
    rule = solve(scores, losses, targets, groups=GROUPS, **options)
    # What holds on average does so in each; a confidence is shared.
    level = None if confidence_level is None else 1 - (1 - confidence_level) / 2
    for group, target in targets.items():
        rows = group == GROUPS
        of_group = {"confidence_level": level, "draws": draws[rows]}
        alone = solve(scores[rows], losses[rows], target, **of_group)
        assert rule.rules[group] == alone
    lost = losses * rule.accept_proba(scores, GROUPS)
    assert rule.failure_rate == pytest.approx(lost.mean())


def test_groups_that_are_too_small_are_named():
    scores, losses = np.arange(160), np.arange(160) >= 150
    with pytest.warns(RejectionWarning, match=r"groups have no rule.*'north': 40"):
        rule = solve_target_failure_rate(scores, losses, 0.01, groups=GROUPS)
    assert rule.rules["north"].coverage == 0 < rule.rules["south"].coverage
