"""Deferral beside the best cut of `test_brute_force`, and certified."""

import re
from itertools import combinations_with_replacement, product
from math import factorial

import numpy as np
import pytest
from scipy.stats import beta, binom

from sklearn_reject.exceptions import RejectionWarning
from sklearn_reject.selection import (
    Certificate,
    DeferralRule,
    InfeasibleTargetError,
    keyed_draws,
    solve_deferral,
)

INF, NAN = float("inf"), float("nan")
MASKED = np.ma.masked_equal([1, 1, 0, 9], 9)
GAIN, FIRST, SECOND = [0.9, 0.4, 0.4, -0.1], [1, 1, 0, 0], [0, 0, 0, 1]
DELTA = 0.1


def test_equal_minima_defer_the_fewest():
    # The loss of the second opinion differs nowhere, but in sums of floats.
    first = [0.3, 0.1, 0.2, 0.7]
    rule = solve_deferral([4, 3, 2, 1], first, first[::-1], deferral_cost=0)
    assert (rule.threshold, rule.deferral_rate) == (INF, 0)
    same = solve_deferral([4, 3, 2, 1], first, first, max_deferral=1)
    assert same.deferral_rate == 0
    assert solve_deferral([0.1], [1], [0], target_risk=0).threshold == -INF


@pytest.mark.parametrize("missing", [np.nan, None])
def test_samples_that_nobody_was_asked_about(missing):
    second = [0, missing, 0, 1, missing, missing]
    gain, first = [0.9, 0.8, 0.4, -0.1, 0.2, 0.3], [1, 0, 1, 0, 1, 1]
    rule = solve_deferral(gain, first, second, max_deferral=0.5)
    assert (rule.n_samples, rule.n_asked) == (6, 3)
    # Rates are of all samples, risks of those asked about.
    assert rule.deferral_rate == 0.5
    assert rule.system_risk == 0
    assert rule.first_risk == pytest.approx(2 / 3)
    known = [k for k, value in enumerate(second) if value in (0, 1)]
    weighted = solve_deferral(
        gain, first, second, max_deferral=0.5, sample_weight=np.full(6, 2.0)
    )
    alone = solve_deferral(
        np.take(gain, known), np.take(first, known), [0, 0, 1], max_deferral=0.5
    )
    assert weighted.threshold == alone.threshold
    assert weighted.deferral_rate == alone.deferral_rate


def test_samples_that_were_chosen_are_noticed():
    rng = np.random.default_rng(0)
    gain = rng.random(300)
    first = (rng.random(300) < gain).astype(float)
    at_random, chosen = rng.random(300) < 0.3, gain > 0.7
    solve_deferral(gain, first, np.where(at_random, 0, np.nan), max_deferral=0.1)
    with pytest.warns(RejectionWarning, match="more than chance"):
        solve_deferral(gain, first, np.where(chosen, 0, np.nan), max_deferral=0.1)
    rule = DeferralRule(0.5, 0.0)
    with pytest.warns(RejectionWarning, match="more than chance"):
        rule.measure(gain, first, np.where(chosen, 0, np.nan))


def test_targets_that_cannot_be_met_say_what_can():
    with pytest.raises(InfeasibleTargetError) as caught:
        solve_deferral(GAIN, FIRST, [1, 0, 0, 1], target_risk=0.1)
    assert "target_risk=0.1" in str(caught.value)
    assert "0.25, at a deferral rate of 0.75" in str(caught.value)
    assert caught.value.attainable == {"target_risk": 0.25}
    assert caught.value.coverage == 0.25


def test_monitor_of_a_rule():
    solved = solve_deferral(GAIN, FIRST, SECOND, target_risk=0.25)
    assert solved.monitor(0.3, since="any").target == 0.3
    certificate = Certificate("system_risk", 0.2, 0.9, "binomial", 9, 5, 0.1)
    assert DeferralRule(0, 0, certificate=certificate).monitor().target == 0.2
    other = Certificate("deferral_rate", 0.2, 0.9, "order_statistic", 9, 5, 0.1)
    rule = DeferralRule(0, 0, system_risk=0.3, certificate=other)
    for uncertified, risk in ((rule, "0.3"), (DeferralRule(0, 0), "nan")):
        with pytest.raises(ValueError, match=f"as target.*above {risk},"):
            uncertified.monitor()


# Certified


def draw(rng, n, first=lambda x: 0.5 * x, second=lambda x: 0.05 + 0 * x, n_ties=None):
    """Draw gains, uniform or in a few ties, and errors with chances that rise in x."""
    x = rng.random(n)
    gain = x if n_ties is None else np.floor(n_ties * x) / n_ties
    errors = [(rng.random(n) < chance(x)).astype(float) for chance in (first, second)]
    return gain, *errors


RNG = np.random.default_rng(0)
SAMPLE, PILOT = draw(RNG, 1000), draw(RNG, 500)
TIED, TIED_PILOT = draw(RNG, 1000, n_ties=4), draw(RNG, 500, n_ties=4)


def solve(sample=SAMPLE, pilot=PILOT, confidence_level=1 - DELTA, **options):
    options = {"random_state": 0, **options}
    return solve_deferral(
        *sample, confidence_level=confidence_level, pilot=pilot, **options
    )


@pytest.mark.parametrize("n", [3, pytest.param(4, marks=pytest.mark.slow)])
def test_the_chance_of_a_broken_promise_by_enumeration_of_all_samples(n):
    # Two gains, and errors of either opinion: eight kinds of samples, four of each.
    target, delta = 0.5, 0.45
    kinds = list(product((0.2, 0.8), (0.0, 1.0), (0.0, 1.0)))
    errors = {0.2: (0.45, 0.7), 0.8: (0.8, 0.52)}
    pilot = [0.2, 0.8], [0, 1], [1, 0]
    options = {"target_risk": target, "randomize": False}

    def chance(gain, first, second):
        one, two = errors[gain]
        return 0.5 * (one if first else 1 - one) * (two if second else 1 - two)

    chances = np.array([chance(*kind) for kind in kinds])
    broken = promised = 0.0
    for drawn in combinations_with_replacement(range(8), n):
        counts = np.bincount(drawn, minlength=8)
        ways = factorial(n) / np.prod([factorial(count) for count in counts])
        probability = ways * np.prod(chances**counts)
        gain, first, second = np.array([kinds[k] for k in drawn]).T
        try:
            rule = solve((gain, first, second), pilot, 1 - delta, **options)
        except InfeasibleTargetError:
            continue
        deferred = rule.defer_proba([0.2, 0.8])
        risks = [errors[g][int(d)] for g, d in zip((0.2, 0.8), deferred, strict=True)]
        promised += probability
        broken += probability * (np.mean(risks) > target)
    assert 0.02 < broken <= delta
    assert promised > broken + 0.02


@pytest.mark.parametrize("sample", [SAMPLE, TIED], ids=["no ties", "ties"])
@pytest.mark.parametrize("pilot", [PILOT, TIED_PILOT], ids=["pilot", "tied pilot"])
def test_p_value_is_that_of_the_decisions(sample, pilot):
    draws = keyed_draws(0, np.arange(1000))
    rule = solve(sample, pilot, target_risk=0.15, draws=draws)
    deferred = rule.defer(sample[0], draws=draws)
    n_errors = np.where(deferred, sample[2], sample[1]).sum()
    found = rule.certificate
    assert found.p_value == pytest.approx(binom.cdf(n_errors, 1000, 0.15))
    assert found.p_value <= DELTA
    assert (found.quantity, found.target) == ("system_risk", 0.15)
    assert found.n_samples == 1000
    assert found.n_accepted == np.count_nonzero(~deferred)
    measured = DeferralRule(rule.threshold, rule.proba_at_threshold).measure(*sample)
    assert rule.system_risk == measured.system_risk
    assert rule.deferral_rate == measured.deferral_rate
    assert 0 < rule.deferral_rate < 0.6


MISLEADING = {
    "one sample": ([0.5], [1], [0]),
    "turned around": (1 - PILOT[0], *PILOT[1:]),
    "one gain": (np.zeros(500), *PILOT[1:]),
    "other scale": (PILOT[0] * 1e9 - 5e8, *PILOT[1:]),
    "no losses": (PILOT[0], np.zeros(500), np.zeros(500)),
    "second is bad": (PILOT[0], PILOT[1], np.ones(500)),
}


@pytest.mark.parametrize("name", MISLEADING)
def test_a_pilot_that_misleads_costs_power_only(name):
    rule = solve(pilot=MISLEADING[name], target_risk=0.15)
    assert rule.certificate.p_value <= DELTA
    assert rule.deferral_rate > solve(target_risk=0.15).deferral_rate - 0.01


def test_without_a_pilot_a_fifth_is_set_aside():
    rule = solve(pilot=None, target_risk=0.15)
    assert rule == solve(pilot=None, target_risk=0.15)
    assert rule.certificate.n_samples == 800
    assert (rule.n_samples, rule.n_asked) == (1000, 1000)


def test_pilots_may_have_gaps_and_need_not_be_random():
    gain, first, second = PILOT
    second = np.where(gain > 0.5, second, np.nan)
    assert solve(pilot=(gain, first, second), target_risk=0.15).certificate is not None


def test_certificates_count_whom_somebody_was_asked_about():
    gain, first, second = SAMPLE
    asked = np.arange(1000) % 2 == 0
    rule = solve((gain, first, np.where(asked, second, np.nan)), target_risk=0.2)
    alone = solve(tuple(each[asked] for each in SAMPLE), target_risk=0.2)
    assert rule.certificate == alone.certificate
    assert (rule.n_samples, rule.n_asked) == (1000, 500)
    with pytest.warns(RejectionWarning, match="more than chance") as caught:
        solve((gain, first, np.where(gain > 0.7, second, np.nan)), target_risk=0.2)
    assert len(caught) == 1


def test_losses_of_any_size():
    gain, first, second = SAMPLE
    rng = np.random.default_rng(0)
    losses = 10 * first * rng.random(1000), 10 * second * rng.random(1000)
    rule = solve((gain, *losses), target_risk=0.8, max_loss=10)
    assert rule.certificate.bound == "betting"
    assert rule.certificate.p_value <= DELTA
    assert rule.system_risk < 0.8
    assert 0 < rule.deferral_rate < 0.4


@pytest.mark.parametrize("target", [0.5, 1.0])
def test_what_every_rule_meets_takes_no_deferral(target):
    rule = solve(target_risk=target)
    assert (rule.threshold, rule.deferral_rate) == (np.inf, 0)


@pytest.mark.filterwarnings("ignore:Nothing is deferred")
@pytest.mark.parametrize("budget", [0.0, 0.001, 0.1, 0.5, 0.99, 1.0])
@pytest.mark.parametrize("n", [1, 5, 200])
def test_budget_is_the_last_rank_with_the_confidence(n, budget):
    sample = RNG.random(n), np.ones(n), np.zeros(n)
    rule = solve(sample, max_deferral=budget)
    # What is strictly before the sample of rank k has the law Beta(k, n + 1 - k).
    ranks = [k for k in range(1, n + 1) if beta.cdf(budget, k, n + 1 - k) >= 1 - DELTA]
    n_deferred = n if budget == 1 else max(ranks, default=1) - 1
    assert rule.deferral_rate == pytest.approx(n_deferred / n)
    found = rule.certificate
    assert (found.quantity, found.bound) == ("deferral_rate", "order_statistic")
    assert found.n_accepted == n - n_deferred
    assert found.p_value <= DELTA + 1e-12


def test_budget_stops_where_asking_harms():
    gain = np.arange(100) / 100
    first, second = np.ones(100), (gain < 0.9).astype(float) * 2
    rule = solve((gain, first, second), max_deferral=0.5)
    # One harmful sample is one standard error, two are more.
    assert rule.deferral_rate == 0.11
    # The same as before without a difference, and none at all with equal losses only.
    rule = solve((gain, first, np.where(gain < 0.9, first, 0)), max_deferral=0.5)
    assert rule.deferral_rate == 0.43
    assert solve((gain, first, first), max_deferral=0.5).deferral_rate == 0
    whole = solve((np.zeros(100), first, 0 * first), max_deferral=0.5, randomize=False)
    assert whole.deferral_rate == 0
    ties = solve((np.zeros(100), first, 0 * first), max_deferral=0.5)
    assert 0.35 < ties.deferral_rate < 0.5


def test_infeasible_targets_say_what_can_be_certified():
    with pytest.raises(InfeasibleTargetError, match="can be certified for") as caught:
        solve(target_risk=0.05)
    error = caught.value
    assert 0.05 < error.attainable["target_risk"] < 0.4
    assert 0 <= error.coverage <= 1
    rule = solve(**error.attainable)
    assert rule.deferral_rate <= 1 - error.coverage
    with pytest.raises(InfeasibleTargetError):
        solve(target_risk=error.attainable["target_risk"] * 0.9)
    with pytest.raises(InfeasibleTargetError, match="infinitely many are needed"):
        solve(target_risk=0)
    with pytest.raises(InfeasibleTargetError, match="at least 22 are needed"):
        solve(tuple(each[:21] for each in SAMPLE), target_risk=0.1)
    with pytest.raises(InfeasibleTargetError, match="A single sample"):
        solve(([1], [0], [0]), None, target_risk=0.1)
    with pytest.raises(InfeasibleTargetError, match="nor can any risk below") as caught:
        solve(([0.1, 0.2], [1, 1], [1, 1]), None, target_risk=0.1)
    assert caught.value.attainable == {}


def test_samples_that_are_too_few_for_a_budget():
    options = {"max_deferral": 0.05, "confidence_level": 0.9, "random_state": 0}

    def rate(n):
        sample = np.arange(n), np.ones(n), np.zeros(n)
        return solve_deferral(*sample, **options).deferral_rate

    with pytest.warns(RejectionWarning, match="Nothing is deferred: 30 samples"):
        assert rate(30) == 0
    assert rate(77) > 0  # the smallest n with binom.cdf(1, n, 0.05) <= 0.1


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({}, "one of deferral_cost, max_deferral, target_risk, got none"),
        ({"deferral_cost": 1, "target_risk": 0.1}, "deferral_cost and target_risk"),
        ({"deferral_cost": -1}, "deferral_cost must be in [0, inf), got -1"),
        ({"max_deferral": 1.1}, "max_deferral must be in [0, 1], got 1.1"),
        ({"target_risk": NAN}, "target_risk must be in [0, inf), got nan"),
        ({"target_risk": 1, "gain": [NAN] * 4}, "gain must be finite, got nan"),
        ({"target_risk": 1, "gain": [1, 2]}, "loss_first has 4 elements, but there"),
        ({"target_risk": 1, "loss_first": MASKED}, "loss_first is a masked array"),
        ({"target_risk": 1, "gain": MASKED}, "gain is a masked array"),
        ({"target_risk": 1, "loss_second": [-1] * 4}, "loss_second must be non-neg"),
        ({"target_risk": 1, "loss_second": [NAN] * 4}, "missing in all 4 samples"),
        ({"target_risk": 1, "sample_weight": [0] * 4}, "sample_weight is zero"),
        ({"deferral_cost": 1, "confidence_level": 0.9}, "=0.9 is not used with defer"),
        *(
            ({"target_risk": 0.1, "confidence_level": 0.9, **more}, message)
            for more, message in (
                ({"pilot": 0.2}, "loss_first, loss_second .*got float"),
                ({"pilot": PILOT[:2]}, "pilot must be a tuple of gain, loss_first"),
                ({"pilot": ([1], [1], [1, 2])}, "pilot: loss_second has 2 elements"),
            )
        ),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, dict) else "",
)
def test_mistakes_are_named(changes, message):
    arguments = {"gain": GAIN, "loss_first": FIRST, "loss_second": SECOND, **changes}
    pattern = message if ".*" in message else re.escape(message)
    with pytest.raises(ValueError, match=pattern):
        solve_deferral(**arguments)
