"""Weights are relative: times any number they tune the same rule."""

import numpy as np
import pytest

from sklearn_reject.selection import (
    InfeasibleTargetError,
    tune_double_score,
    tune_single_score,
)

SCALES = (1e-12, 1 / 37)
MODELS = {
    "rates": {"min_tpr": 0.7, "max_fpr": 0.5},
    "tpr": {"min_tpr": 0.6},
    "precision": {"min_precision": 0.8, "min_recall": 0.5, "ood_prior": 0.3},
    "costs": {"costs": (0.3, 1.0, 0.1), "ood_prior": 0.3},
}


def draw(seed):
    """Risk, novelty, losses, origins and weights; with ties and infinite novelty."""
    rng = np.random.default_rng(seed)
    risk, novelty = rng.random(30), rng.random(30)
    is_ood, weight = rng.random(30) < 0.3, rng.random(30)
    if seed % 2:
        risk, novelty = np.round(4 * risk), np.round(4 * novelty)
        novelty[novelty == 4] = np.inf
        weight = np.floor(4 * weight)
    is_ood[:2], weight[:2] = [False, True], 1.0
    return risk, novelty, rng.random(30) < 0.4, is_ood, weight


def outcome(tune, *sample, **options):
    """Return what defines a rule, or what its bounds could have been."""
    try:
        rule = tune(*sample, **options)
    except InfeasibleTargetError as error:
        return list(error.attainable.values())
    names = "threshold", "proba_at_threshold", "risk_weight", "novelty_weight", "tpr"
    return [getattr(rule, name, 0.0) for name in names]


@pytest.mark.parametrize("bounds", MODELS.values(), ids=MODELS)
@pytest.mark.parametrize(
    "randomize", [True, pytest.param(False, marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("method", ["single", "exact", "grid"])
def test_rules_of_ood_samples(method, randomize, bounds):
    options = {"randomize": randomize, **bounds}
    tune = tune_single_score
    if method != "single":
        tune = tune_double_score
        options |= {"method": method, "n_directions": 9}
    for seed in range(2):
        *sample, weight = draw(seed)
        sample = sample[1:] if method == "single" else sample
        expected = outcome(tune, *sample, sample_weight=weight, **options)
        for scale in SCALES:
            found = outcome(tune, *sample, sample_weight=scale * weight, **options)
            np.testing.assert_allclose(found, expected, rtol=1e-9)
        even = outcome(tune, *sample, **options)
        for scale in SCALES:
            found = outcome(tune, *sample, sample_weight=scale, **options)
            np.testing.assert_allclose(found, even, rtol=1e-9)
