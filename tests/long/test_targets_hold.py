"""Rules tuned on samples of a known distribution, judged on the distribution itself.

The score s is uniform on [0, 1] and an error has probability s^2, so that accepting up
to t has coverage t and selective risk t^2 / 3.
"""

import numpy as np
import pytest
from scipy.stats import beta, kstest

from sklearn_reject.selection import (
    solve_reject_cost,
    solve_target_coverage,
    solve_target_risk,
)

N_REPETITIONS = 2000


def thresholds(solve, target, n_samples, seed):
    rng = np.random.default_rng(seed)
    for _ in range(N_REPETITIONS):
        scores = rng.random(n_samples)
        losses = rng.random(n_samples) < scores**2
        yield np.clip(solve(scores, losses, target).threshold, 0, 1)


@pytest.mark.parametrize(("target", "n_samples"), [(0.7, 50), (0.9, 1000)])
def test_coverage_of_a_tuned_threshold_is_beta_distributed(target, n_samples):
    # The threshold is the order statistic of rank target * n.
    coverages = list(thresholds(solve_target_coverage, target, n_samples, seed=0))
    rank = round(target * n_samples)
    law = beta(rank, n_samples + 1 - rank)
    assert kstest(coverages, law.cdf).pvalue > 1e-3
    error = np.std(coverages) / np.sqrt(N_REPETITIONS)
    assert abs(np.mean(coverages) - rank / (n_samples + 1)) < 3 * error


def test_risk_of_a_tuned_threshold_converges_to_the_target():
    target, errors = 0.1, {}
    for n_samples in (500, 8000):
        chosen = np.array(list(thresholds(solve_target_risk, target, n_samples, 1)))
        risks = chosen**2 / 3
        errors[n_samples] = np.sqrt(np.mean((risks - target) ** 2))
        # Choosing the largest prefix within the risk leans to the optimistic side.
        assert abs(np.mean(risks) - target) < 0.5 * errors[n_samples]
    # Sixteen times the samples, a quarter of the error.
    assert 3.2 < errors[500] / errors[8000] < 5


def test_reject_cost_of_an_ordering_score_converges_to_chow():
    # The minimum of a cumulated sum: its regret shrinks as n^(-2/3).
    cost, regrets = 0.25, []
    best = cost**1.5 / 3 + cost * (1 - cost**0.5)  # Chow accepts where s^2 <= cost
    for n_samples in (500, 8000):
        chosen = np.array(list(thresholds(solve_reject_cost, cost, n_samples, 2)))
        regrets.append(np.mean(chosen**3 / 3 + cost * (1 - chosen)) - best)
    assert 0 < regrets[1] < regrets[0] < 0.02 * best
    assert 0.75 < regrets[0] / regrets[1] / 16 ** (2 / 3) < 1.33
