"""Certified rules, judged on the distribution that their samples were drawn from.

Score and error depend on a uniform x: an error, or the mean of a loss in [0, 1], has
probability r(x), and the score is x itself or x rounded down to tenths. The risk of a
rule is known in closed form, the share of a tie group that is accepted included.
"""

import numpy as np
import pytest
from scipy.special import erf

from sklearn_reject.selection import (
    InfeasibleTargetError,
    solve_target_coverage,
    solve_target_risk,
)
from sklearn_reject.selection._certify import RankedSample

N_REPETITIONS = 2000
TARGET, DELTA = 0.1, 0.1

# Chance of an error at x, and its integral from 0 to x.
CURVES = {
    "square": (lambda x: x**2, lambda x: x**3 / 3),
    "floor": (lambda x: 0.03 + 0.97 * x**2, lambda x: 0.03 * x + 0.97 * x**3 / 3),
    "u_shape": (
        lambda x: 0.3 * (2 * x - 0.8) ** 2,
        lambda x: 0.05 * ((2 * x - 0.8) ** 3 + 0.512),
    ),
    "bump": (
        lambda x: 0.02 + 0.35 * np.exp(-(((x - 0.25) / 0.06) ** 2)) + 0.3 * x**6,
        lambda x: (
            0.02 * x
            + 0.0105 * np.sqrt(np.pi) * (erf((x - 0.25) / 0.06) + erf(0.25 / 0.06))
            + 0.3 * x**7 / 7
        ),
    ),
    # Every threshold breaks the target, but hardly.
    "flat": (lambda x: 0.1001 + 0 * x, lambda x: 0.1001 * x),
}


@pytest.mark.parametrize("name", CURVES)
def test_integrals(name):
    chance, integral = CURVES[name]
    x = (np.arange(10**5) + 0.5) / 10**5
    sums = np.append(0, np.cumsum(chance(x))) / 10**5
    np.testing.assert_allclose(
        integral(np.linspace(0, 1, 11)), sums[:: 10**4], atol=1e-9
    )


def true_coverage_and_loss(rule, integral, n_groups):
    """Integrate the acceptance of a rule, and the losses accepted."""
    below = min(rule.threshold, 1.0)
    if n_groups is None or below == 1:
        return below, integral(below)
    above = below + 1 / n_groups
    loss = (1 - rule.proba_at_threshold) * integral(
        below
    ) + rule.proba_at_threshold * integral(above)
    return below + rule.proba_at_threshold / n_groups, loss


def binary(rng, means):
    return (rng.random(len(means)) < means).astype(float)


def spread(rng, means):
    return rng.beta(4 * means + 1e-9, 4 * (1 - means) + 1e-9)


def draw_sample(rng, curve, n_samples, n_groups, draw_losses):
    x = rng.random(n_samples)
    scores = x if n_groups is None else np.floor(n_groups * x) / n_groups
    return scores, draw_losses(rng, CURVES[curve][0](x))


def rates(curve, n_samples=500, n_groups=None, draw_losses=binary, **options):
    """Return how often a certified risk is exceeded, and how often there is one."""
    rng = np.random.default_rng(0)
    violations = certified = 0
    options = {
        "confidence_level": 1 - DELTA,
        "random_state": np.random.RandomState(0),
    } | (options)
    for _ in range(N_REPETITIONS):
        sample = draw_sample(rng, curve, n_samples, n_groups, draw_losses)
        try:
            rule = solve_target_risk(*sample, TARGET, **options)
        except InfeasibleTargetError:
            continue
        coverage, loss = true_coverage_and_loss(rule, CURVES[curve][1], n_groups)
        violations += loss > TARGET * coverage * (1 + 1e-9)
        certified += 1
    return violations / N_REPETITIONS, certified / N_REPETITIONS


def assert_kept(rate, delta=DELTA):
    assert rate <= delta + 3 * np.sqrt(delta * (1 - delta) / N_REPETITIONS)


TIES = [(None, True), (10, True), (10, False)]


@pytest.fixture(autouse=True)
def no_search_for_the_smallest_risk(monkeypatch):
    """Spare the time for the text of an error that nobody reads here."""
    monkeypatch.setattr("sklearn_reject.selection._certify._N_HALVINGS", 0)


# Bisection is for a risk that stays over the target.
SEARCHED = [
    (search, curve)
    for search in ("fixed_sequence", "bonferroni", "sgr")
    for curve in CURVES
    if search != "sgr" or curve not in ("u_shape", "bump")
]


@pytest.mark.parametrize(("n_groups", "randomize"), TIES)
@pytest.mark.parametrize(("search", "curve"), SEARCHED)
def test_errors(search, curve, n_groups, randomize):
    rate, certified = rates(
        curve, n_groups=n_groups, randomize=randomize, search=search
    )
    assert_kept(rate)
    assert certified > 0 or curve != "square"


@pytest.mark.parametrize("bound", ["hoeffding_bentkus", "betting"])
@pytest.mark.parametrize(("n_groups", "randomize"), TIES)
@pytest.mark.parametrize("curve", CURVES)
def test_bounded_losses(curve, n_groups, randomize, bound):
    rate, certified = rates(
        curve,
        n_groups=n_groups,
        randomize=randomize,
        draw_losses=spread,
        bound=bound,
        max_loss=1,
    )
    assert_kept(rate)
    assert certified > 0 or curve != "square"


@pytest.mark.parametrize("curve", ["square", "flat"])
@pytest.mark.parametrize("bound", ["hoeffding_bentkus", "betting"])
def test_other_bounds_hold_for_errors_too(curve, bound):
    assert_kept(rates(curve, bound=bound)[0])


def test_the_level_is_used_up_where_every_threshold_breaks_the_target():
    # A procedure that hardly ever errs would pass the tests above as well.
    rate, _ = rates("flat", n_samples=2000)
    assert rate > 0.4 * DELTA


def test_betting_in_the_order_of_the_scores_breaks_the_guarantee(monkeypatch):
    def in_order(ranked, random_state):
        return lambda count: ranked.losses[:count]

    monkeypatch.setattr(RankedSample, "shuffle", in_order)
    rate, _ = rates("square", bound="betting")
    assert rate > 0.5


def test_the_rule_that_is_best_on_the_sample_breaks_the_guarantee():
    rate, _ = rates("square", confidence_level=None)
    assert rate > 0.3


@pytest.mark.parametrize("randomize", [True, False])
def test_groups_whose_risk_falls_to_just_over_the_target(randomize):
    # Risks up to the groups: .903, .301 and .79. Few samples in the first group make
    # the first two look good.
    rng, violations = np.random.default_rng(0), 0
    options = {"confidence_level": 1 - DELTA, "random_state": np.random.RandomState(0)}
    for _ in range(N_REPETITIONS):
        scores = rng.choice(3, 1000, p=[0.1, 0.2, 0.7])
        losses = binary(rng, np.array([0.903, 0.0, 1.0])[scores])
        try:
            solve_target_risk(scores, losses, 0.3, randomize=randomize, **options)
        except InfeasibleTargetError:
            continue
        violations += 1
    assert_kept(violations / N_REPETITIONS)


@pytest.mark.parametrize(("n_groups", "randomize"), TIES)
@pytest.mark.parametrize(("n_samples", "target"), [(50, 0.7), (500, 0.9), (20, 0.95)])
def test_coverage(n_samples, target, n_groups, randomize):
    rng, random_state = np.random.default_rng(0), np.random.RandomState(0)
    misses = 0
    for _ in range(N_REPETITIONS):
        scores, losses = draw_sample(rng, "square", n_samples, n_groups, binary)
        rule = solve_target_coverage(
            scores,
            losses,
            target,
            confidence_level=1 - DELTA,
            randomize=randomize,
            random_state=random_state,
        )
        coverage, _ = true_coverage_and_loss(rule, CURVES["square"][1], n_groups)
        misses += coverage < target * (1 - 1e-9)
    assert_kept(misses / N_REPETITIONS)
    if n_groups is None and n_samples == 500:
        # Not by accepting far too much: the next smaller rank would miss too often.
        assert misses / N_REPETITIONS > 0.05
