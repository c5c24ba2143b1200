"""Bounds on TPR, FPR and precision that rules were tuned for, on fresh samples.

A rule meets its bounds on the tuning sample. On another one they hold on average, up to
the optimism of having chosen among many rules, which shrinks as the sample grows.
"""

import numpy as np

from sklearn_reject.selection import tune_double_score, tune_single_score

N_REPETITIONS = 60
N_SAMPLES = 4000


def draw(rng, n_samples):
    is_ood = rng.random(n_samples) < 0.25
    risk = rng.beta(1, 3, n_samples)
    losses = (rng.random(n_samples) < risk) * 1.0
    novelty = rng.normal(size=n_samples) + 1.5 * is_ood
    return risk, novelty, losses, is_ood


def fresh_rates(tune, n_samples, seed):
    """Return TPR, FPR and precision of tuned rules on a sample they have not seen."""
    rng = np.random.default_rng(seed)
    large = draw(rng, 200_000)
    rules = [tune(*draw(rng, n_samples)) for _ in range(N_REPETITIONS)]
    measured = [
        rule.measure(*large) if hasattr(rule, "mu") else rule.measure(*large[1:])
        for rule in rules
    ]
    return np.array([(m.tpr, m.fpr, m.precision) for m in measured])


def assert_reached(rates, bound, optimism):
    """Assert that the mean is the bound within three standard errors and optimism."""
    error = 3 * np.std(rates) / np.sqrt(N_REPETITIONS)
    assert abs(np.mean(rates) - bound) < error + optimism


def test_one_score_reaches_its_tpr():
    # The bound on the TPR binds, and the threshold is an order statistic: no optimism
    # but for the choice among ranks above it.
    rates = fresh_rates(
        lambda _, *sample: tune_single_score(*sample, min_tpr=0.7, max_fpr=0.5),
        N_SAMPLES,
        seed=0,
    )
    assert np.mean(rates[:, 0]) > 0.7 - 3 * np.std(rates[:, 0]) / np.sqrt(N_REPETITIONS)


def test_two_scores_reach_tpr_and_fpr():
    rates = fresh_rates(
        lambda *sample: tune_double_score(*sample, min_tpr=0.7, max_fpr=0.25),
        N_SAMPLES,
        seed=1,
    )
    assert_reached(rates[:, 0], 0.7, optimism=2 / np.sqrt(N_SAMPLES))
    assert_reached(rates[:, 1], 0.25, optimism=2 / np.sqrt(N_SAMPLES))


def test_two_scores_reach_precision_and_recall():
    rates = fresh_rates(
        lambda *sample: tune_double_score(
            *sample, min_tpr=0.7, min_precision=0.9, ood_prior=0.25
        ),
        N_SAMPLES,
        seed=2,
    )
    assert_reached(rates[:, 0], 0.7, optimism=2 / np.sqrt(N_SAMPLES))
    assert_reached(rates[:, 2], 0.9, optimism=2 / np.sqrt(N_SAMPLES))


def test_optimism_shrinks_with_the_sample():
    # Of 500 samples some allow no rule with less FPR at that TPR than 0.26.
    distances = []
    for n_samples in (500, 8000):
        rates = fresh_rates(
            lambda *sample: tune_double_score(*sample, min_tpr=0.7, max_fpr=0.3),
            n_samples,
            seed=3,
        )
        excess = np.maximum(rates[:, 1] - 0.3, 0) + np.maximum(0.7 - rates[:, 0], 0)
        distances.append(np.mean(excess))
    # Sixteen times the samples, about a quarter of the error.
    assert 2.5 < distances[0] / distances[1] < 6
