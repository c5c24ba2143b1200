"""Certified rules of deferral, judged on the distribution their samples came from.

The gain is a uniform x, maybe rounded down, and the chances of an error of either
opinion are functions of x, so that the system risk of a rule is an integral.
"""

from functools import cache

import numpy as np
import pytest
from scipy.stats import beta, binom

from sklearn_reject.selection import (
    InfeasibleTargetError,
    solve_deferral,
    solve_nearest_deferral,
)

N_REPETITIONS = 2000
TARGET, DELTA = 0.1, 0.1
X = (np.arange(10**5) + 0.5) / 10**5

# Chances of an error of the first and of the second opinion at x.
CURVES = {
    "better everywhere": (lambda x: 0.02 + 0.4 * x**2, lambda x: 0.01 + 0.01 * x),
    "worse on a third": (
        lambda x: 0.02 + 0.45 * x**2,
        lambda x: np.where(x < 1 / 3, 0.25, 0.04),
    ),
    "gain says nothing": (lambda x: 0.16 + 0 * x, lambda x: 0.07 + 0 * x),
    # Within the target from .05 to .20 and again from .98 on, above it in between.
    "two dips": (
        lambda x: 0.05 + 0.4 * (x > 0.9) + 0.3 * (x < 0.1),
        lambda x: 0.02 + 0.25 * ((x > 0.6) & (x < 0.9)),
    ),
    # Every rule breaks the target, but hardly.
    "flat": (lambda x: 0.1005 + 0 * x, lambda x: 0.1005 + 0 * x),
}


def binary(rng, means):
    return (rng.random(len(means)) < means).astype(float)


def spread(rng, means):
    return rng.beta(4 * means, 4 * (1 - means))


def gain_of(x, n_ties):
    return x if n_ties is None else np.floor(n_ties * x) / n_ties


def draw(rng, curve, n_samples, n_ties=None, draw_losses=binary):
    x = rng.random(n_samples)
    losses = [draw_losses(rng, chance(x)) for chance in CURVES[curve]]
    return gain_of(x, n_ties), *losses


@cache
def chances(curve):
    return tuple(chance(X) for chance in CURVES[curve])


def true_rate_and_risk(rule, curve, n_ties):
    first, second = chances(curve)
    deferred = rule.defer_proba(gain_of(X, n_ties))
    return deferred.mean(), (first * (1 - deferred) + second * deferred).mean()


def repeat(solve, curve, n_samples, n_ties, draw_losses=binary):
    """Return true rate and risk of the rule for each of many samples, and targets."""
    found = []
    for seed in range(N_REPETITIONS):
        rng = np.random.default_rng(seed)
        sample = draw(rng, curve, n_samples, n_ties, draw_losses)
        try:
            rule = solve(rng, sample, seed)
        except InfeasibleTargetError:
            continue
        if rule is not None:
            truth = true_rate_and_risk(rule, curve, n_ties)
            found.append((*truth, rule.certificate.target))
    return np.array(found).reshape(-1, 3)


def assert_seldom(is_broken):
    """At most DELTA of all repetitions, and three standard errors more."""
    error = (DELTA * (1 - DELTA) / N_REPETITIONS) ** 0.5
    assert np.count_nonzero(is_broken) / N_REPETITIONS <= DELTA + 3 * error


def solver(curve, n_pilot, n_ties=None, draw_losses=binary, misleads=False):
    """Return a solver for a target risk, with a pilot of some size or its own fifth."""
    max_loss = None if draw_losses is binary else 1.0

    def solve(rng, sample, seed):
        pilot = None
        if n_pilot:
            gain, *losses = draw(rng, curve, n_pilot, n_ties, draw_losses)
            pilot = 1 - gain if misleads else gain, *losses
        return solve_deferral(
            *sample,
            target_risk=TARGET,
            confidence_level=1 - DELTA,
            pilot=pilot,
            max_loss=max_loss,
            random_state=seed,
        )

    return solve


@pytest.mark.parametrize("n_samples", [100, 500])
@pytest.mark.parametrize("n_ties", [None, 4], ids=["no ties", "4 gains"])
@pytest.mark.parametrize("curve", CURVES)
def test_system_risk_of_few_samples(curve, n_ties, n_samples):
    solve = solver(curve, None, n_ties)
    assert_seldom(repeat(solve, curve, n_samples, n_ties)[:, 1] > TARGET)


@pytest.mark.parametrize("curve", CURVES)
def test_system_risk_of_many_samples(curve):
    found = repeat(solver(curve, None), curve, 5000, None)
    assert_seldom(found[:, 1] > TARGET)
    if curve != "flat":
        assert len(found) > 0.9 * N_REPETITIONS


@pytest.mark.parametrize("n_pilot", [1, 20, 500])
@pytest.mark.parametrize("misleads", [False, True], ids=["", "turned around"])
@pytest.mark.parametrize("curve", ["worse on a third", "two dips", "flat"])
def test_system_risk_with_any_pilot(curve, misleads, n_pilot):
    solve = solver(curve, n_pilot, misleads=misleads)
    assert_seldom(repeat(solve, curve, 500, None)[:, 1] > TARGET)


@pytest.mark.parametrize("n_ties", [None, 4], ids=["no ties", "4 gains"])
@pytest.mark.parametrize("curve", ["worse on a third", "flat"])
def test_system_risk_with_losses_of_any_size(curve, n_ties):
    solve = solver(curve, 200, n_ties, spread)
    found = repeat(solve, curve, 500, n_ties, spread)
    assert_seldom(found[:, 1] > TARGET)


@pytest.mark.parametrize("n_samples", [100, 500])
@pytest.mark.parametrize("curve", CURVES)
def test_nearest_system_risk(curve, n_samples):
    def solve(rng, sample, seed):
        return solve_nearest_deferral(
            *sample, confidence_level=1 - DELTA, random_state=seed
        )

    found = repeat(solve, curve, n_samples, None)
    assert len(found) == N_REPETITIONS
    assert_seldom(found[:, 1] > found[:, 2])


@pytest.mark.parametrize("n_ties", [None, 4], ids=["no ties", "4 gains"])
@pytest.mark.parametrize("n_samples", [30, 500])
def test_deferral_rate(n_samples, n_ties):
    # The second opinion never errs, so that the rule goes as far as it may.
    losses = np.ones(n_samples), np.zeros(n_samples)

    def solve(rng, sample, seed):
        return solve_deferral(
            sample[0],
            *losses,
            max_deferral=0.2,
            confidence_level=1 - DELTA,
            random_state=seed,
        )

    rates = repeat(solve, "better everywhere", n_samples, n_ties)[:, 0]
    assert len(rates) == N_REPETITIONS
    assert_seldom(rates > 0.2)
    # What is before the k-th of n samples has the law Beta(k, n + 1 - k), ties or not.
    k = 1 + int(binom.ppf(DELTA, n_samples, 0.2))
    k -= binom.cdf(k - 1, n_samples, 0.2) > DELTA
    expected = beta(k, n_samples + 1 - k)
    error = expected.std() / N_REPETITIONS**0.5
    assert abs(rates.mean() - expected.mean()) < 4 * error + 1e-4
