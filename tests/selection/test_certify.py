import re
from fractions import Fraction
from math import ceil, comb, inf

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sklearn_reject.selection import (
    InfeasibleTargetError,
    solve_target_coverage,
    solve_target_risk,
)


@st.composite
def problems(draw, ties=True):
    """Draw (scores, losses, target, confidence), losses 0 or 1."""
    n = draw(st.integers(2, 60))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    scores = rng.permutation(n) / 7
    if ties:
        scores = np.floor(scores * 7 / draw(st.integers(1, n)))
    few, many = draw(st.sampled_from([(0.0, 0.9), (0.0, 1.0), (0.1, 0.6), (0.3, 0.3)]))
    is_high = scores > np.quantile(scores, draw(st.sampled_from([0.3, 0.6, 0.8])))
    losses = (rng.random(n) < np.where(is_high, many, few)).astype(float)
    target = draw(st.sampled_from([0.1, 0.3, 0.5, 0.7]))
    return scores, losses, target, draw(st.sampled_from([0.5, 0.8, 0.9]))


def exact_p_value(losses, risk):
    """Sum the binomial law up to the number of errors."""
    m, risk = len(losses), Fraction(risk)
    return sum(
        comb(m, k) * risk**k * (1 - risk) ** (m - k)
        for k in range(int(sum(losses)) + 1)
    )


def walk_by_hand(hypotheses, problem):
    """Walk along the hypotheses, [losses of the accepted] with fewest first."""
    _, losses, risk, confidence_level = problem
    n, delta = len(losses), 1 - confidence_level
    fewest = next(m for m in range(1, 99) if (1 - Fraction(risk)) ** m <= delta)
    brought = dict.fromkeys(range(len(hypotheses)), 0.0)
    for share, weight in [(0.1, 0.4), (0.25, 0.2), (0.5, 0.2), (0.75, 0.2)]:
        start = min(max(ceil(share * n), 2 * fewest), n)
        # The last threshold that accepts no more than that.
        brought[max(h for h, a in enumerate(hypotheses) if len(a) <= start)] += weight
    level, best = 0.0, None
    for index, accepted in enumerate(hypotheses):
        level += brought[index] * delta
        if level and exact_p_value(accepted, risk) <= level:
            best = len(accepted)
        else:
            level = 0.0
    return best


def certified(problem, **options):
    """Return the rule, None if there is none."""
    scores, losses, target, confidence_level = problem
    options = {"confidence_level": confidence_level} | options
    try:
        return solve_target_risk(scores, losses, target, **options)
    except InfeasibleTargetError:
        return None


@given(problems())
def test_walk_by_hand_with_noise(problem):
    scores, losses, _, _ = problem
    noise = np.random.RandomState(5).random_sample(len(scores))
    order = sorted(range(len(scores)), key=lambda row: (scores[row], noise[row]))
    hypotheses = [losses[order[:m]] for m in range(len(scores) + 1)]
    expected = walk_by_hand(hypotheses, problem)
    rule = certified(problem, random_state=5)
    assert (rule and rule.certificate.n_accepted) == expected
    if expected is None:
        return
    if expected == len(scores):
        assert (rule.threshold, rule.proba_at_threshold) == (inf, 1)
    else:
        row = order[expected]
        assert rule.threshold == scores[row]
        tied = (scores == scores[row]).sum() > 1
        assert rule.proba_at_threshold == (noise[row] if tied else 0)
    p_value = exact_p_value(hypotheses[expected], problem[2])
    np.testing.assert_allclose(rule.certificate.p_value, float(p_value))


@given(problems())
def test_walk_by_hand_without_noise(problem):
    scores, losses, _, _ = problem
    values = np.unique(scores)
    hypotheses = [losses[scores < value] for value in [*values, inf]]
    expected = walk_by_hand(hypotheses, problem)
    rule = certified(problem, randomize=False)
    assert (rule and rule.certificate.n_accepted) == expected
    if rule is not None:
        assert (scores < rule.threshold).sum() == expected
        assert rule.proba_at_threshold == (rule.threshold == inf)
        assert rule.coverage == expected / len(scores)


@given(problems(ties=False))
def test_what_the_error_names_can_be_certified(problem):
    scores, losses, target, confidence_level = problem
    options = {"confidence_level": confidence_level}
    assume(certified((scores, losses, target / 2, confidence_level)) is None)
    with pytest.raises(InfeasibleTargetError) as info:
        solve_target_risk(scores, losses, target / 2, **options)
    if not info.value.attainable:
        assert "nor can any risk below the largest loss" in str(info.value)
        return
    lowest = info.value.attainable["target_risk"]
    assert target / 2 < lowest < 1
    rule = solve_target_risk(scores, losses, lowest, **options)
    assert rule.coverage == info.value.coverage
    text = re.search(r"can be certified is about ([0-9.e-]*\d)", str(info.value))
    named = float(text.group(1))
    assert lowest <= named <= lowest * (1 + 1e-5)
    assert solve_target_risk(scores, losses, named, **options).certificate is not None


def smallest_rank(n, coverage, confidence_level):
    """Return the smallest k with P(Beta(k, n + 1 - k) >= coverage) high enough."""
    om, total = Fraction(coverage), Fraction(0)
    for k in range(1, n + 1):
        total += comb(n, k - 1) * om ** (k - 1) * (1 - om) ** (n - k + 1)
        if total >= confidence_level:
            return k
    return None


@given(
    st.integers(1, 60),
    st.sampled_from([0.1, 0.5, 0.7, 0.9, 1.0]),
    st.sampled_from([0.3, 0.8, 0.9]),
    st.integers(1, 30),
)
def test_coverage_by_hand(n, target, confidence_level, step):
    rank = smallest_rank(n, target, confidence_level)
    scores = np.arange(n) // step
    losses = np.arange(n) % 2
    options = {"confidence_level": confidence_level, "random_state": 3}
    rule = solve_target_coverage(scores, losses, target, **options)
    safe = solve_target_coverage(scores, losses, target, randomize=False, **options)
    if rank is None or rank == n:
        for each in (rule, safe):
            assert (each.threshold, each.proba_at_threshold) == (inf, 1)
        return
    noise = np.random.RandomState(3).random_sample(n)
    row = sorted(range(n), key=lambda row: (scores[row], noise[row]))[rank - 1]
    assert rule.threshold == scores[row]
    tied = (scores == scores[row]).sum() > 1
    # Up to and including the sample: draws below the probability are accepted.
    assert rule.proba_at_threshold == (np.nextafter(noise[row], 1) if tied else 1)
    assert safe.proba_at_threshold == 1
    assert safe.threshold == (scores[row] if scores[row] < scores[-1] else inf)
    assert rule.certificate.n_accepted == rank
    assert rule.certificate.p_value <= 1 - confidence_level


def test_what_certificates_say():
    scores = np.arange(1000)
    rule = solve_target_risk(scores, scores >= 800, 0.1, confidence_level=0.95)
    found = rule.certificate.to_dict()
    assert 0 < found.pop("p_value") <= 0.05
    assert found == {
        "type": "Certificate",
        "quantity": "risk",
        "target": 0.1,
        "confidence_level": 0.95,
        "bound": "binomial",
        "n_samples": 1000,
        "n_accepted": round(1000 * rule.coverage),
    }
    assert 0.8 < rule.coverage < 1000 / 1125
    assert solve_target_risk(scores, scores >= 800, 0.1).certificate is None
    of_coverage = solve_target_coverage(
        np.arange(100), np.zeros(100), 0.5, confidence_level=0.9
    ).certificate
    assert (of_coverage.quantity, of_coverage.n_accepted) == ("coverage", 57)
    assert of_coverage.bound == "order_statistic"


@pytest.mark.parametrize("target", [1, 1.5])
def test_a_risk_that_nothing_exceeds_needs_no_test(target):
    rule = solve_target_risk([1], [1], target, confidence_level=0.99)
    assert (rule.threshold, rule.proba_at_threshold) == (inf, 1)
    assert rule.certificate.n_accepted == 1


def errors_from(n, first):
    """Return samples of which all from one on are wrong."""
    return np.arange(n), (np.arange(n) >= first) * 1.0


@pytest.mark.parametrize(
    ("sample", "target", "options", "message"),
    [
        (errors_from(1, 0), 1, {"max_loss": 2}, "1 samples cannot certify"),
        (errors_from(50, 0), 0.3, {}, "No threshold can be"),
        (errors_from(50, 50), 0, {}, "no finite sample can certify"),
        (errors_from(44, 44), 0.05, {}, "at least 45 are needed"),
        (errors_from(50, 50), 0.05, {"bound": "betting"}, "at least 60 are needed"),
        (errors_from(2, 2), 1e-300, {"max_loss": 1e100}, "cannot certify"),
    ],
)
def test_what_cannot_be_certified(sample, target, options, message):
    with pytest.raises(InfeasibleTargetError, match=message):
        solve_target_risk(*sample, target, confidence_level=0.9, **options)


@pytest.mark.parametrize("bound", ["binomial", "hoeffding_bentkus"])
def test_as_many_samples_as_needed_are_enough(bound):
    options = {"confidence_level": 0.9, "bound": bound}
    with pytest.raises(InfeasibleTargetError) as info:
        solve_target_risk(*errors_from(10, 10), 0.05, **options)
    needed = int(re.search(r"at least (\d+) are", str(info.value)).group(1))
    enough = errors_from(needed, needed)
    assert solve_target_risk(*enough, 0.05, **options).coverage > 0
    with pytest.raises(InfeasibleTargetError, match=f"at least {needed} are needed"):
        solve_target_risk(*errors_from(needed - 1, needed), 0.05, **options)


@pytest.mark.parametrize(
    ("losses", "options", "bound"),
    [
        ([0, 1], {}, "binomial"),
        # Not what was seen decides, but what is possible.
        ([0, 1], {"max_loss": 1}, "betting"),
        ([0, 0.5], {"max_loss": 1}, "betting"),
        ([0, 1], {"max_loss": 2}, "betting"),
        ([0, 2], {"max_loss": 2, "bound": "binomial"}, "binomial"),
    ],
)
def test_bound_that_fits_the_losses(losses, options, bound):
    losses = np.repeat(losses, [150, 50])
    options = {"confidence_level": 0.9, "random_state": 0} | options
    rule = solve_target_risk(np.arange(200), losses, 0.4, **options)
    assert rule.certificate.bound == bound


CERTIFIED = {"confidence_level": 0.5}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"losses": [0, 0.5, 0], **CERTIFIED}, "max_loss is needed"),
        ({"losses": [0, 3, 0], "max_loss": 2, **CERTIFIED}, "above max_loss=2"),
        (
            {"losses": [0, 0.5, 1], "max_loss": 1, "bound": "binomial", **CERTIFIED},
            r"bound='binomial' is for losses that are 0 or 1, got 0.5. Pass",
        ),
        ({"sample_weight": [1, 1, 1], **CERTIFIED}, "sample_weight cannot be combined"),
        ({"target": -1}, r"target \(the selective risk\) must be in"),
        ({"scores": [0, 1, np.inf]}, "scores must be finite"),
        ({"bound": "bentkus"}, "bound must be one of .* got 'bentkus'"),
        ({"max_loss": -5}, "max_loss must be in"),
        ({"randomize": "no"}, "randomize must be one of"),
        ({"draws": [0.5], **CERTIFIED}, "draws has"),
        ({"draws": [0.5, 0.5, 1.0], **CERTIFIED}, "draws must be"),
        *(
            ({"confidence_level": bad}, r"confidence_level must be a number in \]0, 1")
            for bad in (0, 1, 1.5, -0.1, np.nan, True, "high", [0.9])
        ),
    ],
)
@pytest.mark.parametrize("solve", [solve_target_risk, solve_target_coverage])
def test_bad_options(solve, options, message):
    if solve is solve_target_coverage and re.search("loss|risk|bound", message):
        return  # which it does not look at
    arrays = {"scores": [1, 2, 3], "losses": [0, 0, 1], "target": 0.5}
    with pytest.raises(ValueError, match=message):
        solve(**arrays | options)


@pytest.mark.parametrize("draws", [np.arange(40) / 64, np.repeat([0.1, 0.3, 0.5], 14)])
def test_draws_give_the_threshold(draws):
    # Samples of equal score and draw are taken together.
    scores = np.ones(len(draws))
    options = {"confidence_level": 0.5, "draws": draws}
    rule = solve_target_coverage(scores, scores, 0.5, **options)
    rank = rule.certificate.n_accepted
    assert draws[rank - 1] < rule.proba_at_threshold <= np.append(draws, 1)[rank:].max()
    up_to = draws <= np.sort(draws)[rank - 1]
    np.testing.assert_array_equal(rule.accept(scores, draws=draws), up_to)
    rule = solve_target_risk(scores, draws > 0.3, 0.2, **options)
    assert rule.accept(scores, draws=draws).sum() == rule.certificate.n_accepted > 0


N_REPETITIONS = 150


@pytest.mark.slow
@pytest.mark.parametrize("bound", ["binomial", "hoeffding_bentkus", "betting"])
def test_guarantee_on_few_repetitions(bound):
    # The chance of an error is t^2, so that a threshold t has the risk t^2 / 3.
    rng, violations = np.random.default_rng(7), 0
    for _ in range(N_REPETITIONS):
        scores = rng.random(400)
        problem = scores, (rng.random(400) < scores**2) * 1.0, 0.1, 0.8
        rule = certified(problem, bound=bound, random_state=0)
        violations += rule is not None and min(rule.threshold, 1) ** 2 / 3 > 0.1
    assert violations / N_REPETITIONS <= 0.2 + 3 * np.sqrt(0.16 / N_REPETITIONS)


def test_guarantee_of_a_coverage_on_few_repetitions():
    rng = np.random.default_rng(8)
    reached = [
        solve_target_coverage(
            rng.random(50), np.zeros(50), 0.7, confidence_level=0.8
        ).threshold
        >= 0.7
        for _ in range(N_REPETITIONS)
    ]
    assert np.mean(reached) >= 0.8 - 3 * np.sqrt(0.16 / N_REPETITIONS)
