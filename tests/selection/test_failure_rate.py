"""Bounds on failures of all samples and of parts, on average and with confidence."""

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
    RejectionRule,
    RiskBoundsCertificate,
    keyed_draws,
    measure_risk_bounds,
    solve_failure_bounds,
    solve_target_failure_rate,
)

BOUNDS = ["binomial", "hoeffding_bentkus", "betting"]


def solve(scores, losses, target, **options):
    """Solve, whatever is said of nothing being accepted."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RejectionWarning)
        return solve_target_failure_rate(scores, losses, target, **options)


# On average


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


# Parts


RNG = np.random.default_rng(0)
SCORES, LABELS, DRAWS = RNG.random(400), RNG.integers(0, 2, 400), RNG.random(400)
LOSSES = (RNG.random(400) < SCORES**2 / (1 + LABELS)) * 1.0
PARTS = {"class": (LABELS, {0: 0.05, 1: 0.07}), "half": (SCORES > 0.5, {True: 0.2})}


def test_the_smallest_threshold_of_all_parts_is_taken():
    options = {"confidence_level": 0.9, "draws": DRAWS}
    rule = solve_failure_bounds(SCORES, LOSSES, PARTS, **options)
    rules = [
        solve(SCORES[k], LOSSES[k], rate, confidence_level=0.9, draws=DRAWS[k])
        for k, rate in ((LABELS == 0, 0.05), (LABELS == 1, 0.07), (SCORES > 0.5, 0.2))
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
    on_average = solve_failure_bounds(SCORES, LOSSES, PARTS).certificate
    assert (on_average.confidence_level, on_average.p_value) == (None, None)
    assert (on_average.bound, on_average.p_values) == ("conformal", ())


def test_the_failure_rate_of_a_part_that_nothing_is_accepted_of():
    bounds = {"class": (LABELS, {0: 0.1, 7: 0.1})}
    nothing = RejectionRule(-1.0, 0.0)
    achieved = measure_risk_bounds(nothing, SCORES, LOSSES, bounds)
    assert achieved["class", 0].failure_rate == 0.0
    assert np.isnan(achieved["class", 7].failure_rate)
    # Less than one loss beside that of the new sample.
    least = 1.2 / (np.count_nonzero(LABELS == 0) + 1)
    bounds = {"class": (LABELS, {0: least, 1: 0.3})}
    wrong = np.where(LABELS == 0, 1.0, LOSSES)
    with pytest.warns(RejectionWarning, match=r"No sample of class\[0\] is accepted"):
        solve_failure_bounds(SCORES, wrong, bounds, randomize=False)


@pytest.mark.parametrize("confidence_level", [None, 0.9])
def test_a_target_of_the_largest_loss_is_no_bound(confidence_level):
    options = {"confidence_level": confidence_level, "random_state": 0}
    rule, other, everything = (
        solve_failure_bounds(SCORES, LOSSES, {"class": (LABELS, each)}, **options)
        for each in ({0: 0.05}, {0: 0.05, 1: 1.0, 2: 1.5}, {0: 1.0})
    )
    assert rule.threshold == other.threshold
    assert rule.proba_at_threshold == other.proba_at_threshold
    if confidence_level is not None:
        assert other.certificate.p_values[1:] == (0.0, 0.0)
    assert everything.coverage == solve([1, 2], [1, 1], 1.0, **options).coverage == 1


@pytest.mark.filterwarnings("ignore:No sample")
def test_infeasible_parts_are_named():
    scores, losses, labels = np.arange(30), np.zeros(30), np.zeros(30)
    bounds = {"class": (labels, {0: 0.01, 1: 0.1, 2: 1.0})}
    words = r"^30 samples of class\[0\] .*at least 99 are.*; 0 samples of class\[1\]"
    with pytest.raises(InfeasibleTargetError, match=words) as error:
        solve_failure_bounds(scores, losses, bounds)
    lowest = error.value.attainable["class"]
    assert lowest == {0: pytest.approx(1 / 31, rel=1e-5), 1: 1.0, 2: 1.0}
    bounds = {"class": (labels, lowest)}
    assert solve_failure_bounds(scores, losses, bounds).coverage == 1.0


# Arguments

ONE_PART = {"bounds": {"class": ([0, 1], {0: 0.4})}}


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"target": 0}, "rate 0, even .* infinitely many"),
        ({"target": 1e-310}, "rate 1e-310, .*use a larger rate"),
        ({"target": -1}, "target"),
        ({"sample_weight": [1, 1]}, "needs max_weight"),
        ({"scores": []}, "scores"),
        ({"bounds": {}}, "bounds must be a dict"),
        (
            {"bounds": {"class": ([1, 2], {0: 0})}},
            r"class\[0\] cannot certify the failure rate 0",
        ),
        (ONE_PART | {"sample_weight": [1, 1]}, "sample_weight cannot be combined"),
        (ONE_PART | {"losses": [0, 0.5]}, "max_loss is needed"),
        ({"losses": [0, 0.5]}, "max_loss is needed"),
    ],
    ids=str,
)
def test_bad_arguments(options, match):
    options = {"scores": [0, 1], "losses": [0, 1]} | options
    function = solve_failure_bounds
    if "bounds" not in options:
        function, options = solve_target_failure_rate, {"target": 0.9} | options
    with pytest.raises(ValueError, match=match):
        function(**options)
