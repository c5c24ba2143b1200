"""A bound on failures: on average by enumeration, with confidence by brute force."""

import itertools
import json
import math
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from sklearn_reject.exceptions import RejectionWarning
from sklearn_reject.selection import (
    InfeasibleTargetError,
    RejectionRule,
    Thinning,
    keyed_draws,
    solve_reject_cost,
    solve_target_coverage,
    solve_target_failure_rate,
    solve_target_risk,
)
from sklearn_reject.selection._failure_bounds import FAILURE_BOUNDS, find_longest


def solve(scores, losses, target, **options):
    """Solve, whatever is said about the size of the sample."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RejectionWarning)
        return solve_target_failure_rate(scores, losses, target, **options)


# On average: all calibration samples of a discrete distribution


def expected_failure(cells, n_samples, target, **options):
    """Return the expected loss of a new sample, over samples and calibration samples.

    `cells` are (score, loss, probability); samples are counts of cells.
    """
    scores, losses, chances = map(np.array, zip(*cells, strict=True))
    total, rules = 0.0, {}
    for sample in itertools.product(range(len(cells)), repeat=n_samples):
        key = tuple(sorted(sample))
        if key not in rules:
            rows = list(key)
            rule = solve(scores[rows], losses[rows], target, **options)
            rules[key] = chances @ (losses * rule.accept_proba(scores))
        total += math.prod(chances[list(sample)]) * rules[key]
    return total


DISTRIBUTIONS = {
    "good score": [(0.1, 0, 0.45), (0.1, 1, 0.05), (0.6, 0, 0.2), (0.6, 1, 0.3)],
    "bad score": [(0.1, 0, 0.1), (0.1, 1, 0.4), (0.6, 0, 0.45), (0.6, 1, 0.05)],
    "no ties": [(0.1, 0, 0.3), (0.2, 1, 0.2), (0.3, 0, 0.2), (0.4, 1, 0.3)],
    "all wrong": [(0.1, 1, 0.5), (0.2, 1, 0.3), (0.3, 1, 0.2)],
    "one score": [(0.5, 0, 0.3), (0.5, 1, 0.7)],
}


@pytest.mark.parametrize("randomize", [True, False])
@pytest.mark.parametrize("target", [0.05, 0.21, 0.5, 0.7])
@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_failures_are_bounded_on_average(name, target, randomize):
    for n_samples in (1, 2, 4):
        if target * (n_samples + 1) < 1 and not randomize:
            continue
        cells = DISTRIBUTIONS[name]
        expected = expected_failure(cells, n_samples, target, randomize=randomize)
        assert expected <= target * (1 + 1e-12)


def test_the_bound_is_attained_where_everything_is_wrong_and_differs():
    # All n + 1 samples are errors, so that the sum of all chances is spent.
    cells = [(k / 12, 1, 1 / 12) for k in range(12)]
    for target in (0.2, 0.5, 0.6):
        assert expected_failure(cells, 3, target) == pytest.approx(target, rel=1e-12)


SPREAD = [(0.1, 0.1, 0.4), (0.1, 0.9, 0.1), (0.5, 0.5, 0.3), (0.7, 2.0, 0.2)]


@pytest.mark.parametrize("randomize", [True, False])
@pytest.mark.parametrize("target", [0.1, 0.4, 0.9, 1.5])
def test_losses_between_are_bounded_on_average(target, randomize):
    for n_samples in (1, 2, 4):
        if target * (n_samples + 1) < 2 and not randomize:
            continue
        expected = expected_failure(
            SPREAD, n_samples, target, randomize=randomize, max_loss=2
        )
        assert expected <= target * (1 + 1e-12)


def sum_of_failures(scores, losses, target, **options):
    """Return what all samples lose, each under the rule that the others solve."""
    rows = np.arange(len(scores))
    total = 0.0
    for row in rows:
        rule = solve(scores[rows != row], losses[rows != row], target, **options)
        total += losses[row] * rule.accept_proba(scores[[row]])[0]
    return total


SAMPLES = st.lists(
    st.tuples(st.integers(0, 6), st.sampled_from([0.0, 0.25, 0.5, 1.0])),
    min_size=2,
    max_size=12,
)


@given(SAMPLES, st.floats(0.01, 0.99), st.booleans(), st.booleans())
def test_each_sample_in_turn_is_the_new_one(samples, target, is_binary, randomize):
    # Stronger than the expectation: it holds for every set of n + 1 samples.
    scores, losses = np.array(samples).T
    if is_binary:
        losses = np.ceil(losses)
    elif target * len(scores) < 1:
        randomize = True
    if target * len(scores) < 1:
        randomize = True
    options = {"randomize": randomize, "max_loss": None if is_binary else 1.0}
    total = sum_of_failures(scores, losses, target, **options)
    assert total <= target * len(scores) * (1 + 1e-9)


@given(SAMPLES, st.floats(0.01, 0.98), st.floats(0.0, 0.5), st.booleans())
def test_a_larger_target_accepts_more(samples, target, more, is_binary):
    scores, losses = np.array(samples).T
    losses = np.ceil(losses) if is_binary else losses
    max_loss = None if is_binary else 1.0
    places = np.arange(-1, 8, 0.5)
    few, many = (
        solve(scores, losses, rate, max_loss=max_loss).accept_proba(places)
        for rate in (target, min(0.99, target + more))
    )
    assert (few <= many + 1e-9).all()


# What is accepted


def errors_below(scores, losses, place):
    return int(losses[scores < place].sum())


@given(st.integers(1, 40), st.floats(0.005, 0.9), st.integers(0, 10**6))
def test_accepts_by_the_number_of_errors_below(n_samples, target, seed):
    rng = np.random.default_rng(seed)
    scores, losses = rng.random(n_samples), (rng.random(n_samples) < 0.4) * 1.0
    allowed = target * (n_samples + 1)
    rule = solve(scores, losses, target)
    places = np.sort(scores)
    places = np.append((places[1:] + places[:-1]) / 2, [0.0, 1.0])
    for place, proba in zip(places, rule.accept_proba(places), strict=True):
        left = allowed - errors_below(scores, losses, place)
        assert proba == pytest.approx(min(1, max(0, left)), abs=1e-9)


@given(SAMPLES, st.floats(0.01, 0.99))
def test_ties_are_the_mean_over_their_orders(samples, target):
    scores, losses = np.array(samples[:6]).T
    losses = np.ceil(losses)
    found = solve(scores, losses, target)
    allowed = target * (len(scores) + 1)
    for place in np.unique(scores):
        before = losses[scores < place].sum()
        chances = np.clip(
            allowed - before - np.arange(losses[scores == place].sum() + 1), 0, 1
        )
        proba = found.accept_proba([place])[0]
        assert proba == pytest.approx(chances.mean(), abs=1e-9)


@pytest.mark.parametrize("n_samples", [20, 61])
def test_without_randomize_it_is_the_longest_prefix(n_samples):
    rng = np.random.default_rng(0)
    scores = rng.integers(0, 15, n_samples) / 10
    losses = rng.random(n_samples) * scores / 1.5
    for target in (0.1, 0.3):
        rule = solve(scores, losses, target, randomize=False, max_loss=1)
        kept = [
            (1 + losses[scores <= place].sum()) / (n_samples + 1) <= target
            for place in np.unique(scores)
        ]
        n_kept = int(np.argmin(kept)) if not all(kept) else len(kept)
        inside = np.unique(scores)[:n_kept]
        assert rule.coverage == np.isin(scores, inside).mean()
        assert rule.failure_rate <= target


def test_a_small_sample_is_thinned_and_says_how_many_are_needed():
    scores, losses = np.arange(60) / 60, np.arange(60) >= 50
    match = "60 samples are too few.*0.305. With at least 199 calibration samples"
    with pytest.warns(RejectionWarning, match=match):
        rule = solve_target_failure_rate(scores, losses, 0.005)
    np.testing.assert_allclose(rule.accept_proba([0.0, 0.8, 0.9]), [0.305, 0.305, 0])
    assert rule.thinning.start == -math.inf
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        enough = solve_target_failure_rate(np.arange(199), np.arange(199) > 150, 0.005)
    assert enough.accept_proba([0, 100]).tolist() == [1, 1]
    with pytest.raises(InfeasibleTargetError, match="wrong: 199 are needed") as error:
        solve_target_failure_rate(scores, losses, 0.005, randomize=False)
    lowest = error.value.attainable["min_failure_rate"]
    assert lowest == pytest.approx(1 / 61, rel=1e-5)
    assert solve(scores, losses, lowest, randomize=False).coverage == 50 / 60


@pytest.mark.parametrize("n_samples", [9, 19, 99])
def test_whole_numbers_are_not_missed_by_rounding(n_samples):
    target = 3 / (n_samples + 1)
    scores = np.arange(n_samples)
    rule = solve(scores, scores >= 4, target)
    assert rule.thinning is None
    assert (rule.threshold, rule.proba_at_threshold) == (6.0, 0.5)


def test_one_sample():
    rule = solve([0.5], [0], 0.3)
    assert rule.accept_proba([0.0, 0.5, 9.0]).tolist() == [0.6, 0.6, 0.6]
    rule = solve([0.5], [1], 0.3)
    assert rule.accept_proba([0.0, 0.5, 9.0]).tolist() == [0.6, 0.3, 0.0]


def test_nothing_accepted_is_a_warning():
    with pytest.warns(RejectionWarning, match="No calibration sample is accepted"):
        rule = solve_target_failure_rate([1, 2] * 5, [1] * 10, 0.1, randomize=False)
    assert rule.coverage == rule.failure_rate == 0


def test_a_target_of_the_largest_loss_accepts_everything():
    for options in ({}, {"confidence_level": 0.9}):
        rule = solve([1, 2], [1, 1], 1.0, **options)
        assert rule.coverage == 1


# With confidence


def longest_binomial(scores, losses, target, delta):
    """Return the largest coverage of a prefix of distinct scores that passes."""
    order = np.argsort(scores)
    sums = np.append(0, np.cumsum(losses[order]))
    passes = binom.cdf(sums, len(scores), target) <= delta
    return np.flatnonzero(passes).max(initial=0) / len(scores)


@given(st.integers(30, 200), st.floats(0.02, 0.5), st.integers(0, 10**6))
def test_certified_prefix_is_the_longest(n_samples, target, seed):
    rng = np.random.default_rng(seed)
    scores = rng.random(n_samples)
    losses = (rng.random(n_samples) < scores**2) * 1.0
    if (1 - target) ** n_samples > 0.1:
        return
    rule = solve(scores, losses, target, confidence_level=0.9)
    assert rule.coverage == longest_binomial(scores, losses, target, 0.1)
    assert rule.certificate.p_value <= 0.1 * (1 + 1e-8)


def test_ties_are_cut_by_the_draws():
    draws = keyed_draws(0, range(200))
    losses = (draws > 0.6) * 1.0
    rule = solve(np.zeros(200), losses, 0.05, confidence_level=0.9, draws=draws)
    # 5 errors of 200 are what 0.05 allows.
    allowed = binom.ppf(0.1, 200, 0.05) - 1
    assert rule.proba_at_threshold == np.sort(draws[losses == 1])[int(allowed)]
    accepted = rule.accept(np.zeros(200), draws=draws)
    assert losses[accepted].sum() == allowed
    whole = solve(np.zeros(200), losses, 0.05, confidence_level=0.9, randomize=False)
    assert whole.coverage == 0


@pytest.mark.parametrize("name", FAILURE_BOUNDS)
def test_p_values_rise_with_each_loss_and_the_prefix(name):
    rng = np.random.default_rng(0)
    losses = (rng.random(50) < 0.1) * 1.0
    p_value = FAILURE_BOUNDS[name].tests(losses, 0.2, 0.1)
    found = [p_value(count) for count in range(51)]
    assert (np.diff(found) >= 0).all()
    for row in range(50):
        more = losses.copy()
        more[row] = 1.0
        assert FAILURE_BOUNDS[name].tests(more, 0.2, 0.1)(50) >= found[-1]
    shuffled = rng.permutation(losses)
    again = FAILURE_BOUNDS[name].tests(shuffled, 0.2, 0.1)(50)
    assert again == pytest.approx(found[-1])


@pytest.mark.parametrize("name", FAILURE_BOUNDS)
@pytest.mark.parametrize("rate", [0.1, 0.3])
def test_p_values_are_valid_exactly(name, rate):
    # Losses of 0 or 1 with the mean itself: the law of their number is known.
    n_samples = 60
    p_values = np.array(
        [
            FAILURE_BOUNDS[name].tests(
                np.repeat([1.0, 0.0], [count, n_samples - count]), rate, 0.1
            )(n_samples)
            for count in range(n_samples + 1)
        ]
    )
    law = binom.pmf(np.arange(n_samples + 1), n_samples, rate)
    for level in (0.01, 0.05, 0.1, 0.3, 0.7):
        assert law[p_values <= level].sum() <= level


@pytest.mark.parametrize("name", FAILURE_BOUNDS)
def test_fewest_and_lowest_agree_with_the_tests(name):
    bound = FAILURE_BOUNDS[name]
    for rate in (0.01, 0.1, 0.4):
        fewest = bound.fewest(rate, 0.1)
        assert bound.tests(np.zeros(fewest), rate, 0.1)(fewest) <= 0.1 * (1 + 1e-9)
        assert bound.lowest_rate(fewest, 0.1) <= rate * (1 + 1e-9)
        assert bound.lowest_rate(fewest - 1, 0.1) > rate


def test_bisection_finds_the_longest():
    counts = np.array([0, 2, 3, 7])
    assert find_longest(lambda count: count / 10, counts, 0.25) == 2
    assert find_longest(lambda count: 1.0, counts, 0.25) is None
    assert find_longest(lambda count: 0.0, counts, 0.25) == 7


@pytest.mark.parametrize("bound", FAILURE_BOUNDS)
def test_a_small_sample_is_thinned_to_be_certain(bound):
    scores = np.arange(60) / 60
    match = "too few to guarantee the failure rate 0.005 at confidence_level=0.9"
    with pytest.warns(RejectionWarning, match=match):
        rule = solve_target_failure_rate(
            scores, scores > 0.8, 0.005, confidence_level=0.9, bound=bound
        )
    proba = rule.thinning.proba
    # What the prefix keeps, the chance to accept makes the rate of.
    assert proba * rule.certificate.target < 0.005
    if bound == "binomial":
        assert proba == pytest.approx(0.005 / (1 - 0.1 ** (1 / 60)))
    assert rule.certificate.p_value <= 0.1 * (1 + 1e-8)
    with pytest.raises(
        InfeasibleTargetError, match=r"at confidence_level=0\.9"
    ) as error:
        solve(
            scores,
            scores > 1,
            0.005,
            confidence_level=0.9,
            bound=bound,
            randomize=False,
        )
    lowest = error.value.attainable["min_failure_rate"] * (1 + 1e-5)
    rule = solve(
        scores, scores > 1, lowest, confidence_level=0.9, bound=bound, randomize=False
    )
    assert rule.certificate.p_value <= 0.1 * (1 + 1e-6)


def test_few_samples_with_confidence_are_thinned_as_far_as_needed():
    rule = solve([0.3], [0.5], 0.2, confidence_level=0.9, max_loss=1)
    assert rule.accept_proba([0.1, 0.9]).tolist() == [0.2, 0.2]


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
    ],
    ids=str,
)
def test_bad_arguments(options, match):
    options = {"scores": [0, 1], "losses": [0, 1], "target": 0.4} | options
    with pytest.raises(ValueError, match=match):
        solve(**options)


def test_scale_of_the_loss_does_not_matter():
    rng = np.random.default_rng(0)
    scores, losses = rng.random(50), rng.random(50)
    for options in ({}, {"confidence_level": 0.8}):
        one = solve(scores, losses, 0.3, max_loss=1, **options)
        ten = solve(scores, 8 * losses, 2.4, max_loss=8, **options)
        assert one.threshold == ten.threshold
        assert one.failure_rate == pytest.approx(ten.failure_rate / 8)


# Rules that thin


def test_thinned_rule_accepts_by_its_probabilities():
    rule = RejectionRule(0.8, 0.1, thinning=Thinning(0.4, 0.6, 0.2))
    scores = np.repeat([0.3, 0.4, 0.7, 0.8, 0.9], 4000)
    draws = keyed_draws(1, range(len(scores)))
    shares = rule.accept(scores, draws=draws).reshape(5, -1).mean(axis=1)
    np.testing.assert_allclose(shares, [1, 0.6, 0.2, 0.1, 0], atol=0.02)
    asked = []

    def numbers(rows):
        asked.append(rows)
        return draws[rows]

    again = rule.accept(scores, draws=numbers)
    assert (again == rule.accept(scores, draws=draws)).all()
    assert asked[0].tolist() == list(range(4000, 16000))
    assert rule.at_threshold([0.7, 0.8]).tolist() == [False, True]


def test_thinned_rule_is_measured_and_survives_json():
    rule = solve(np.arange(60), np.arange(60) > 30, 0.025)
    assert rule.thinning.start == 31.0
    restored = RejectionRule.from_dict(json.loads(json.dumps(rule.to_dict())))
    assert restored == rule
    again = rule.measure(np.arange(60), np.arange(60) > 30)
    assert again == rule
    accepted = rule.accept_proba(np.arange(60))
    assert rule.coverage == pytest.approx(accepted.mean())
    assert rule.failure_rate == pytest.approx(accepted[31:].sum() / 60)
    assert math.isnan(RejectionRule(0.5, 1.0).failure_rate)


@pytest.mark.parametrize("seed", range(5))
def test_equivalent_targets_of_a_rule_that_thins(seed):
    rng = np.random.default_rng(seed)
    scores = rng.random(60)
    losses = (rng.random(60) < scores**2) * 1.0
    rule = solve(scores, losses, 0.03)
    assert rule.thinning is not None
    targets = rule.equivalent_targets()
    cost = solve_reject_cost(scores, losses, targets["reject_cost"])
    share = solve_target_coverage(scores, losses, targets["target_coverage"])
    risk = solve_target_risk(scores, losses, targets["target_risk"])
    assert cost.coverage >= rule.coverage
    assert share.coverage == pytest.approx(rule.coverage)
    assert risk.coverage >= rule.coverage - 1 / 60


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
    failures = 0.0
    for group, target in targets.items():
        rows = group == GROUPS
        alone = solve(
            scores[rows],
            losses[rows],
            target,
            confidence_level=level,
            draws=draws[rows],
        )
        assert rule.rules[group] == alone
        np.testing.assert_array_equal(
            rule.accept_proba(scores[rows], GROUPS[rows]),
            alone.accept_proba(scores[rows]),
        )
        failures += rows.mean() * alone.failure_rate
    assert rule.failure_rate == pytest.approx(failures)
    assert rule.measure(scores, losses, GROUPS) == rule
    restored = type(rule).from_dict(json.loads(json.dumps(rule.to_dict())))
    assert restored == rule


def test_warnings_name_the_group():
    scores, losses = np.arange(160), np.arange(160) >= 150
    with pytest.warns(RejectionWarning, match="group 'north': 40 samples are too few"):
        rule = solve_target_failure_rate(scores, losses, 0.01, groups=GROUPS)
    assert rule.rules["north"].thinning.proba == pytest.approx(0.41)
    proba = rule.accept_proba([0.0, 0.0, 150.5], ["north", "south", "south"])
    np.testing.assert_allclose(proba, [0.41, 1, 0.21])
    draws = keyed_draws(0, range(4000))
    share = rule.accept(np.zeros(4000), ["north"] * 4000, draws=draws).mean()
    assert share == pytest.approx(0.41, abs=0.03)
    with pytest.warns(RejectionWarning, match=r"groups have no rule.*'north': 40"):
        rule = solve_target_failure_rate(
            scores, losses, 0.01, groups=GROUPS, randomize=False
        )
    assert rule.rules["north"].coverage == 0
    with pytest.raises(ValueError, match="sample_weight cannot"):
        solve_target_failure_rate(
            scores, losses, 0.01, groups=GROUPS, sample_weight=np.ones(160)
        )
