import pickle
from fractions import Fraction
from math import ceil, comb, inf, log, log2

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sklearn_reject.selection import (
    Certificate,
    InfeasibleTargetError,
    solve_target_coverage,
    solve_target_risk,
)
from sklearn_reject.selection._certify import rank_samples

SEARCHES = ["fixed_sequence", "bonferroni", "sgr"]


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


def fixed_sequence_by_hand(hypotheses, n, risk, delta):
    """Walk along the hypotheses, [losses of the accepted] with fewest first."""
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


def bonferroni_by_hand(hypotheses, n, risk, delta):
    grid = {ceil(n * j / 100) for j in range(1, 101)}
    tested = {max(len(a) for a in hypotheses if len(a) <= m) for m in grid}
    passed = [
        len(a)
        for a in hypotheses
        if len(a) in tested and exact_p_value(a, risk) <= delta / len(grid)
    ]
    return max(passed, default=None)


def sgr_by_hand(hypotheses, n, risk, delta):
    steps = max(1, ceil(log2(n)))
    low, high, best = 0, n, None
    for _ in range(steps):
        if low < high:
            middle = ceil((low + high) / 2)
            accepted = [a for a in hypotheses if len(a) <= middle][-1]
            if exact_p_value(accepted, risk) <= delta / steps:
                low, best = middle, len(accepted)
            else:
                high = middle - 1
    return best


BY_HAND = {
    "fixed_sequence": fixed_sequence_by_hand,
    "bonferroni": bonferroni_by_hand,
    "sgr": sgr_by_hand,
}


def certified(problem, search, **options):
    """Return the rule, None if there is none."""
    scores, losses, target, confidence_level = problem
    options = {"confidence_level": confidence_level, "search": search} | options
    try:
        return solve_target_risk(scores, losses, target, **options)
    except InfeasibleTargetError:
        return None


def by_hand(problem, search, hypotheses):
    _, losses, target, confidence_level = problem
    return BY_HAND[search](hypotheses, len(losses), target, 1 - confidence_level)


@pytest.mark.parametrize("search", SEARCHES)
@given(problems())
def test_searches_by_hand_with_noise(search, problem):
    scores, losses, _, _ = problem
    noise = np.random.RandomState(5).random_sample(len(scores))
    order = sorted(range(len(scores)), key=lambda row: (scores[row], noise[row]))
    hypotheses = [losses[order[:m]] for m in range(len(scores) + 1)]
    expected = by_hand(problem, search, hypotheses)
    rule = certified(problem, search, random_state=5)
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


@pytest.mark.parametrize("search", SEARCHES)
@given(problems())
def test_searches_by_hand_without_noise(search, problem):
    scores, losses, _, _ = problem
    values = np.unique(scores)
    hypotheses = [losses[scores < value] for value in [*values, inf]]
    expected = by_hand(problem, search, hypotheses)
    rule = certified(problem, search, randomize=False)
    assert (rule and rule.certificate.n_accepted) == expected
    if rule is not None:
        assert (scores < rule.threshold).sum() == expected
        assert rule.proba_at_threshold == (rule.threshold == inf)
        assert rule.coverage == expected / len(scores)


@given(problems(), st.sampled_from(["hoeffding_bentkus", "betting"]))
def test_rule_reports_what_it_achieves_on_the_sample(problem, bound):
    scores, losses, _, _ = problem
    rule = certified(problem, "fixed_sequence", bound=bound, random_state=0)
    if rule is None:
        return
    measured = rule.measure(scores, losses)
    assert measured.certificate is rule.certificate
    np.testing.assert_allclose(measured.coverage, rule.coverage)
    np.testing.assert_allclose(measured.selective_risk, rule.selective_risk, atol=1e-15)
    assert rule.certificate.p_value <= 1 - problem[3]
    assert 0 <= rule.reject_cost <= 1


@given(problems(), st.sampled_from(SEARCHES), st.randoms(use_true_random=False))
def test_row_order_does_not_matter_without_ties(problem, search, random):
    scores = np.argsort(np.argsort(problem[0]))
    rows = list(range(len(scores)))
    random.shuffle(rows)
    rule = certified((scores, *problem[1:]), search)
    moved = certified((scores[rows], problem[1][rows], *problem[2:]), search)
    assert rule == moved


@given(problems(), st.randoms(use_true_random=False))
def test_row_order_does_not_matter_given_the_noise(problem, random):
    scores, losses, _, _ = problem
    noise = np.random.default_rng(0).random(len(scores))
    rows = list(range(len(scores)))
    random.shuffle(rows)
    ranked = rank_samples(scores, losses, noise)
    moved = rank_samples(scores[rows], losses[rows], noise[rows])
    for name in ("scores", "losses", "draws"):
        np.testing.assert_array_equal(getattr(ranked, name), getattr(moved, name))


def test_noise_breaks_ties_only():
    scores = np.array([3.0, 1.0, 2.0, 2.0])
    ranked = rank_samples(scores, np.arange(4.0), np.array([0.1, 0.2, 0.9, 0.3]))
    np.testing.assert_array_equal(ranked.losses, [1, 3, 2, 0])
    np.testing.assert_array_equal(ranked.draws, [np.nan, 0.3, 0.9, np.nan])
    np.testing.assert_array_equal(ranked.loss_sums, [0, 1, 4, 6, 6])
    np.testing.assert_array_equal(ranked.accepted_counts, np.arange(5))
    together = rank_samples(scores, np.arange(4.0))
    np.testing.assert_array_equal(together.accepted_counts, [0, 1, 3, 4])
    equal = rank_samples(scores, np.arange(4.0), np.array([0.1, 0.2, 0.9, 0.9]))
    np.testing.assert_array_equal(equal.accepted_counts, [0, 1, 3, 4])


@pytest.mark.parametrize(
    "bound",
    [pytest.param("hoeffding_bentkus", marks=pytest.mark.slow), "betting", "auto"],
)
@given(problems(), st.sampled_from([0.5, 4.0, 1000.0]))
def test_units_of_the_loss_do_not_matter(bound, problem, unit):
    scores, losses, target, confidence_level = problem
    losses = losses * np.random.default_rng(0).choice([0.25, 0.5, 1.0], len(losses))
    options = {"bound": bound, "random_state": 0}
    rule = certified(
        (scores, losses, target, confidence_level),
        "fixed_sequence",
        max_loss=1,
        **options,
    )
    scaled = scores, unit * losses, unit * target, confidence_level
    other = certified(scaled, "fixed_sequence", max_loss=unit, **options)
    if bound != "auto" or not np.isin(losses, (0, 1)).all():
        assert (rule and rule.threshold) == (other and other.threshold)
    if rule is not None and bound != "auto":
        assert rule.certificate.p_value == pytest.approx(other.certificate.p_value)


@given(problems(ties=False), st.sampled_from(SEARCHES))
def test_what_the_error_names_can_be_certified(problem, search):
    scores, losses, target, confidence_level = problem
    options = {"confidence_level": confidence_level, "search": search}
    problem = scores, losses, target / 2, confidence_level
    assume(certified(problem, search) is None)
    with pytest.raises(InfeasibleTargetError) as info:
        solve_target_risk(scores, losses, target / 2, **options)
    lowest = info.value.lowest_risk
    if np.isnan(lowest):
        assert "samples cannot certify the target risk" in str(info.value)
        return
    assert target / 2 < lowest <= 1
    rule = solve_target_risk(scores, losses, lowest, **options)
    assert rule.coverage == info.value.coverage


def smallest_rank(n, coverage, confidence_level):
    """Return the smallest k with P(Beta(k, n + 1 - k) >= coverage) >= confidence."""
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
        assert (
            (rule.threshold, rule.proba_at_threshold)
            == (safe.threshold, safe.proba_at_threshold)
            == (inf, 1)
        )
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
    assert safe.coverage >= rank / n >= 1 - len(losses[scores >= scores[row]]) / n


def test_certificate_of_a_risk():
    scores = np.arange(1000)
    rule = solve_target_risk(scores, scores >= 800, 0.1, confidence_level=0.95)
    p_value = rule.certificate.p_value
    assert rule.certificate == Certificate(
        quantity="risk",
        target=0.1,
        confidence_level=0.95,
        bound="binomial",
        search="fixed_sequence",
        n_samples=1000,
        n_accepted=round(1000 * rule.coverage),
        p_value=p_value,
    )
    assert 0.8 < rule.coverage < 1000 / 1125
    assert pickle.loads(pickle.dumps(rule)) == rule
    assert solve_target_risk(scores, scores >= 800, 0.1).certificate is None


def test_certificate_of_a_coverage():
    rule = solve_target_coverage(
        np.arange(100), np.zeros(100), 0.5, confidence_level=0.9
    )
    certificate = rule.certificate
    assert (certificate.quantity, certificate.bound) == ("coverage", "order_statistic")
    assert certificate.search is None
    assert certificate.n_accepted == round(100 * rule.coverage) == 57


def test_too_small_a_sample_for_a_coverage_accepts_everything():
    # .9^21 > .1 >= .9^22
    for n, everything in ((21, True), (22, False)):
        rule = solve_target_coverage(
            np.arange(n), np.zeros(n), 1 - 1 / n, confidence_level=0.5
        )
        assert (rule.threshold == inf) or not everything
        rule = solve_target_coverage(
            np.arange(n), np.zeros(n), 0.9, confidence_level=0.9
        )
        assert rule.threshold == inf


@pytest.mark.parametrize("target", [1, 1.5])
@pytest.mark.parametrize("search", SEARCHES)
def test_a_risk_that_nothing_exceeds_needs_no_test(target, search):
    rule = solve_target_risk([1], [1], target, confidence_level=0.99, search=search)
    assert (rule.threshold, rule.proba_at_threshold, rule.certificate.n_accepted) == (
        inf,
        1,
        1,
    )
    with pytest.raises(InfeasibleTargetError):
        solve_target_risk([1], [1], target, confidence_level=0.99, max_loss=2)


def test_all_wrong_certifies_nothing():
    with pytest.raises(InfeasibleTargetError, match="No threshold can be") as info:
        solve_target_risk(np.arange(50), np.ones(50), 0.3, confidence_level=0.9)
    assert 0.9 < info.value.lowest_risk <= 1


def test_zero_risk_cannot_be_certified():
    with pytest.raises(InfeasibleTargetError, match="no finite sample can certify"):
        solve_target_risk(np.arange(50), np.zeros(50), 0, confidence_level=0.9)
    assert solve_target_risk(np.arange(50), np.zeros(50), 0).coverage == 1


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("bound", ["binomial", "hoeffding_bentkus"])
def test_number_of_samples_needed(bound, search):
    options = {"confidence_level": 0.9, "search": search, "bound": bound}

    def solve(n):
        return solve_target_risk(np.arange(n), np.zeros(n), 0.05, **options)

    with pytest.raises(InfeasibleTargetError, match="10 samples cannot") as info:
        solve(10)
    needed = int(str(info.value).split("at least ")[1].split()[0])
    if search == "fixed_sequence":
        assert needed == ceil(log(0.1) / log(0.95)) == 45
    assert solve(needed).coverage > 0
    with pytest.raises(InfeasibleTargetError, match=f"at least {needed} are needed"):
        solve(needed - 1)


def test_bets_need_more_samples():
    with pytest.raises(InfeasibleTargetError, match="at least 60 are needed"):
        solve_target_risk(
            range(50), np.zeros(50), 0.05, confidence_level=0.9, bound="betting"
        )


def test_bound_that_fits_the_losses():
    scores = np.arange(200)
    rough = (scores >= 150) * 1.0
    fine = rough / 2

    def bound(losses, **options):
        options = {"confidence_level": 0.9, "random_state": 0} | options
        return solve_target_risk(scores, losses, 0.2, **options).certificate.bound

    assert bound(rough) == "binomial"
    # Not what was seen decides, but what is possible.
    for losses, largest in ((rough, 1), (fine, 1), (rough, 2)):
        assert bound(losses, max_loss=largest) == "betting"
    assert bound(rough, bound="betting") == "betting"
    assert bound(fine, max_loss=1, bound="hoeffding_bentkus") == "hoeffding_bentkus"
    assert bound(fine, max_loss=0.5, bound="binomial") == "binomial"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"losses": [0, 0.5, 2]}, "max_loss is needed.*not all 0 or 1, got 0.5"),
        ({"losses": [0, 0.5, 2], "max_loss": 1}, "losses holds 2, above max_loss=1"),
        ({"max_loss": 0}, r"max_loss must be in \]0, inf\[, got 0"),
        ({"max_loss": "big"}, r"max_loss must be a number in \]0, inf\[, got 'big'"),
        (
            {"losses": [0, 0.5, 1], "max_loss": 1, "bound": "binomial"},
            r"bound='binomial' is for losses that are 0 or 1, got 0.5. Pass",
        ),
        ({"bound": "bentkus"}, "bound must be one of .* got 'bentkus'"),
        ({"search": "holm"}, "search must be one of .* got 'holm'"),
        ({"sample_weight": [1, 1, 1]}, "sample_weight cannot be combined"),
        ({"target": -1}, r"target \(the selective risk\) must be in"),
        ({"scores": [0, 1, np.inf]}, "scores must be finite"),
    ],
)
def test_bad_options_of_a_risk(options, message):
    options = {
        "scores": [1, 2, 3],
        "losses": [0, 0, 1],
        "target": 0.5,
        "confidence_level": 0.5,
    } | options
    with pytest.raises(ValueError, match=message):
        solve_target_risk(**options)


@pytest.mark.parametrize("solve", [solve_target_risk, solve_target_coverage])
@pytest.mark.parametrize(
    "confidence_level", [0, 1, 1.5, -0.1, np.nan, True, "high", [0.9]]
)
def test_bad_confidence(solve, confidence_level):
    with pytest.raises(
        ValueError, match=r"confidence_level must be a number in \]0, 1\["
    ):
        solve([1, 2, 3], [0, 0, 1], 0.5, confidence_level=confidence_level)


def test_coverage_refuses_weights_with_confidence():
    with pytest.raises(ValueError, match="sample_weight cannot be combined"):
        solve_target_coverage([1], [0], 0.5, sample_weight=[1], confidence_level=0.5)


def test_the_same_seed_gives_the_same_rule():
    rng = np.random.default_rng(0)
    scores, losses = rng.integers(0, 10, 500), rng.random(500) < 0.1
    for options in ({}, {"bound": "betting"}):
        rules = [
            solve_target_risk(
                scores, losses, 0.2, confidence_level=0.9, random_state=4, **options
            )
            for _ in range(2)
        ]
        assert rules[0] == rules[1]


def test_arguments_are_left_as_they_are():
    rng = np.random.default_rng(0)
    scores, losses = rng.integers(0, 10, 500) / 10, (rng.random(500) < 0.1) / 2
    kept = scores.copy(), losses.copy()
    solve_target_risk(scores, losses, 0.2, confidence_level=0.9, max_loss=1)
    solve_target_coverage(scores, losses, 0.2, confidence_level=0.9)
    np.testing.assert_array_equal(scores, kept[0])
    np.testing.assert_array_equal(losses, kept[1])


N_REPETITIONS = 150


def violation_rate(bound, draw_losses, **options):
    """Return how often the risk t^2 / 3 of a certified threshold t is over .1."""
    rng = np.random.default_rng(7)
    violations = 0
    for _ in range(N_REPETITIONS):
        scores = rng.random(400)
        losses = draw_losses(rng, scores**2)
        problem = scores, losses, 0.1, 0.8
        rule = certified(
            problem, "fixed_sequence", bound=bound, random_state=0, **options
        )
        violations += rule is not None and min(rule.threshold, 1) ** 2 / 3 > 0.1
    return violations / N_REPETITIONS


@pytest.mark.slow
@pytest.mark.parametrize("bound", ["binomial", "hoeffding_bentkus", "betting"])
def test_guarantee_on_few_repetitions(bound):
    rate = violation_rate(bound, lambda rng, chance: rng.random(len(chance)) < chance)
    assert rate <= 0.2 + 3 * np.sqrt(0.16 / N_REPETITIONS)


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


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"bound": "foo"}, "bound must be one of"),
        ({"search": "bar"}, "search must be one of"),
        ({"max_loss": -5}, "max_loss must be in"),
        ({"randomize": "no"}, "randomize must be one of"),
    ],
)
def test_options_are_checked_without_confidence_too(options, message):
    with pytest.raises(ValueError, match=message):
        solve_target_risk([0, 1], [0, 1], 0.6, **options)


def test_target_that_is_next_to_nothing():
    with pytest.raises(InfeasibleTargetError, match="cannot certify"):
        solve_target_risk([0, 1], [0, 0], 1e-300, confidence_level=0.9, max_loss=1e100)


@pytest.mark.parametrize("solve", [solve_target_risk, solve_target_coverage])
@pytest.mark.parametrize("draws", [[0.5], [0.5, 1.0], [-0.1, 0.5]])
def test_bad_draws(solve, draws):
    with pytest.raises(ValueError, match=r"draws (has|must be)"):
        solve([1, 1], [0, 0], 0.5, confidence_level=0.5, draws=draws)


def test_draws_give_the_threshold():
    scores, draws = np.ones(40), np.arange(40) / 64
    options = {"confidence_level": 0.5, "draws": draws}
    rule = solve_target_coverage(scores, scores, 0.5, **options)
    rank = rule.certificate.n_accepted
    # Up to and including the sample of that rank, and not the next one.
    assert draws[rank - 1] < rule.proba_at_threshold <= draws[rank]
    assert rule.accept(scores, draws=draws).sum() == rank
    rule = solve_target_risk(scores, draws > 0.3, 0.2, **options)
    assert rule.accept(scores, draws=draws).sum() == rule.certificate.n_accepted


def test_rows_equal_in_score_and_draw_are_taken_together():
    scores, draws = np.ones(40), np.repeat([0.1, 0.3, 0.5, 0.7], 10)
    options = {"confidence_level": 0.5, "draws": draws}
    rule = solve_target_coverage(scores, scores, 0.6, **options)
    assert 20 < rule.certificate.n_accepted <= 30
    assert rule.accept(scores, draws=draws).sum() == 30
    rule = solve_target_risk(scores, draws > 0.4, 0.2, **options)
    assert rule.certificate.n_accepted == 20
    assert rule.accept(scores, draws=draws).sum() == 20
