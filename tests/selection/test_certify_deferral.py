import re
from itertools import combinations_with_replacement, product
from math import factorial

import numpy as np
import pytest
from scipy.stats import beta, binom

from sklearn_reject.exceptions import RejectionWarning
from sklearn_reject.selection import (
    DeferralRule,
    InfeasibleTargetError,
    keyed_draws,
    solve_deferral,
)

DELTA = 0.1


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
            rule = solve_deferral(
                gain,
                first,
                second,
                target_risk=target,
                confidence_level=1 - delta,
                pilot=pilot,
                randomize=False,
            )
        except InfeasibleTargetError:
            continue
        deferred = rule.defer_proba([0.2, 0.8])
        risks = [errors[g][int(d)] for g, d in zip((0.2, 0.8), deferred, strict=True)]
        promised += probability
        broken += probability * (np.mean(risks) > target)
    assert 0.02 < broken <= delta
    assert promised > broken + 0.02


@pytest.mark.parametrize("n_ties", [None, 4])
def test_a_risk_that_every_rule_breaks_is_seldom_certified(n_ties):
    # The second opinion is wrong where the first is not: no rule changes the risk.
    broken, n_repetitions = 0, 100
    same = lambda x: 0.201 + 0 * x  # noqa: E731
    for seed in range(n_repetitions):
        sample = draw(np.random.default_rng(seed), 60, same, same, n_ties)
        try:
            solve(sample, None, target_risk=0.2, random_state=seed)
        except InfeasibleTargetError:
            continue
        broken += 1
    assert 0 < broken <= binom.ppf(0.999, n_repetitions, DELTA)


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


def test_ties_do_not_waste_power():
    # Within one of four ties, a probability meets the target where a cut cannot.
    rule = solve(TIED, TIED_PILOT, target_risk=0.15)
    coarse = solve(TIED, TIED_PILOT, target_risk=0.15, randomize=False)
    assert 0 < rule.proba_at_threshold < 1
    assert coarse.proba_at_threshold == 1
    assert rule.deferral_rate < coarse.deferral_rate - 0.01


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


def test_samples_that_nobody_was_asked_about():
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
    assert rule.system_risk < 0.8
    assert 0 < rule.deferral_rate < 0.4
    with pytest.raises(ValueError, match="max_loss is needed"):
        solve((gain, *losses), target_risk=0.8)
    with pytest.raises(ValueError, match="above max_loss=5"):
        solve((gain, *losses), target_risk=0.8, max_loss=5)
    with pytest.raises(ValueError, match="bound='binomial' is for losses"):
        solve((gain, *losses), target_risk=0.8, max_loss=10, bound="binomial")


def test_what_every_rule_meets_takes_no_deferral():
    rule = solve(target_risk=1.0)
    assert (rule.threshold, rule.deferral_rate) == (np.inf, 0)
    rule = solve(target_risk=0.5)
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


@pytest.mark.parametrize("n_ties", [None, 3])
def test_budget_holds_in_the_population(n_ties):
    rates = []
    for seed in range(200):
        sample = draw(np.random.default_rng(seed), 40, n_ties=n_ties)
        rule = solve((sample[0], np.ones(40), np.zeros(40)), max_deferral=0.4)
        values = sample[0] if n_ties is None else np.arange(n_ties) / n_ties
        if n_ties is None:
            rates.append(1 - min(rule.threshold, 1))
        else:
            rates.append(rule.defer_proba(values).mean())
    n_broken = np.count_nonzero(np.array(rates) > 0.4)
    assert 0 < n_broken <= binom.ppf(0.999, 200, DELTA)
    assert np.mean(rates) > 0.25


def test_budget_stops_where_asking_harms():
    gain = np.arange(100) / 100
    first, second = np.ones(100), (gain < 0.9).astype(float) * 2
    rule = solve((gain, first, second), max_deferral=0.5)
    assert rule.deferral_rate == 0.1
    whole = solve((np.zeros(100), first, 0 * first), max_deferral=0.5, randomize=False)
    assert whole.deferral_rate == 0
    ties = solve((np.zeros(100), first, 0 * first), max_deferral=0.5)
    assert 0.35 < ties.deferral_rate < 0.5


def test_infeasible_targets_say_what_can_be_certified():
    with pytest.raises(InfeasibleTargetError, match="can be certified for") as caught:
        solve(target_risk=0.05)
    error = caught.value
    assert "target_risk=0.05" in str(error)
    assert 0.05 < error.attainable["target_risk"] < 0.4
    assert 0 <= error.coverage <= 1
    rule = solve(**error.attainable)
    assert rule.deferral_rate <= 1 - error.coverage
    with pytest.raises(InfeasibleTargetError):
        solve(target_risk=error.attainable["target_risk"] * 0.9)
    with pytest.raises(InfeasibleTargetError, match="target risk is 0, which"):
        solve(target_risk=0)
    with pytest.raises(InfeasibleTargetError, match="at least 22 are needed"):
        solve(tuple(each[:21] for each in SAMPLE), target_risk=0.1)
    with pytest.raises(InfeasibleTargetError, match="A single sample"):
        solve(([1], [0], [0]), None, target_risk=0.1)


def test_nothing_can_be_certified_where_all_are_wrong():
    with pytest.raises(InfeasibleTargetError, match="nor can any risk below") as caught:
        solve(([0.1, 0.2], [1, 1], [1, 1]), None, target_risk=0.1)
    assert caught.value.attainable == {}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"pilot": 0.2}, "pilot must be a tuple of three arrays.*float"),
        ({"pilot": PILOT[:2]}, "pilot must be a tuple of three arrays"),
        ({"pilot": ([1], [1], [1, 2])}, "pilot: loss_second has 2 elements, but there"),
        ({"confidence_level": 1}, "confidence_level must be a number in"),
        ({"bound": "chernoff"}, "bound must be one of"),
        ({"max_loss": 0}, "max_loss must be in"),
        ({"draws": [1.0] * 1000}, "draws must be in"),
        ({"draws": [0.5]}, "draws has 1 elements, but there are 1000"),
        ({"sample_weight": [1] * 1000}, "sample_weight cannot be combined"),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, dict) else "",
)
def test_mistakes_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        solve(target_risk=0.1, **options)


def test_a_cost_has_no_certificate():
    with pytest.raises(
        ValueError, match=r"confidence_level=0\.9 is not used with deferral"
    ):
        solve_deferral(*SAMPLE, deferral_cost=0.1, confidence_level=0.9)


def test_samples_that_are_too_few_for_a_budget():
    gain = np.arange(30.0)
    losses = np.ones(30), np.zeros(30)
    options = {"max_deferral": 0.05, "confidence_level": 0.9}
    with pytest.warns(RejectionWarning, match=r"About (\d+) are needed") as caught:
        rule = solve_deferral(gain, *losses, **options, random_state=0)
    assert rule.deferral_rate == 0
    needed = int(re.search(r"About (\d+)", str(caught[0].message)).group(1))
    assert needed == 77  # the smallest n with binom.cdf(1, n, 0.05) <= 0.1 is 77
    gain = np.arange(float(needed))
    losses = np.ones(needed), np.zeros(needed)
    assert solve_deferral(gain, *losses, **options, random_state=0).deferral_rate > 0
