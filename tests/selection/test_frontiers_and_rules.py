"""A bound read off a frontier is one that a rule keeps."""

import numpy as np
import pytest

from sklearn_reject._curves import (
    precision_recall_frontier,
    risk_coverage_frontier,
    roc_frontier,
)
from sklearn_reject.selection import tune_double_score, tune_single_score


def votes(n, seed):
    """Draw scores of shares of votes: many are equal but for rounding."""
    rng = np.random.default_rng(seed)
    is_ood = np.arange(n) % 3 == 0
    sure = np.where(is_ood, 1.0, 6.0)[:, np.newaxis] * rng.dirichlet(np.ones(4), n)
    shares = np.array([rng.multinomial(30, p / p.sum()) for p in sure**2]) / 30
    noise = 1 + 2.0**-52 * rng.integers(-3, 4, (2, n))
    risk, novelty = noise * [1 - shares.max(axis=1), -(shares**2).sum(axis=1)]
    return risk, novelty, (rng.random(n) < risk) * 1.0, is_ood


def rules_of(sample, n_scores, model):
    options = {"randomize": False, **model}
    if n_scores == 1:
        return [tune_single_score(*sample[1:], **options)]
    return [
        tune_double_score(*sample, method=method, n_directions=9, **options)
        for method in ("grid", "auto")
    ]


@pytest.mark.parametrize("n_scores", [1, 2])
@pytest.mark.parametrize(
    "seed", [*range(1), *(pytest.param(k, marks=pytest.mark.slow) for k in range(1, 2))]
)
def test_bounds_read_off_a_frontier_are_attained(seed, n_scores):
    sample = votes(150, seed)
    scores = np.column_stack(sample[2 - n_scores : 2])
    scores = scores if n_scores == 2 else scores[:, 0]
    *_, losses, is_ood = sample
    fpr, tpr = roc_frontier(scores, is_ood, n_directions=9)
    is_rule = tpr > 0  # the origin of the plot is no bound to ask for
    for bound, share in zip(fpr[is_rule], tpr[is_rule], strict=True):
        for rule in rules_of(sample, n_scores, {"min_tpr": share, "max_fpr": bound}):
            assert rule.tpr >= share - 1e-12
            assert rule.fpr <= bound + 1e-12
    precision, recall = precision_recall_frontier(
        scores, is_ood, ood_prior=0.2, n_directions=9
    )
    for bound, share in zip(precision, recall, strict=True):
        model = {"min_recall": share, "min_precision": bound, "ood_prior": 0.2}
        for rule in rules_of(sample, n_scores, model):
            assert rule.precision >= bound - 1e-12
    bound = fpr[len(fpr) // 2]
    shares, risks = risk_coverage_frontier(
        scores, losses, is_ood, max_fpr=bound, n_directions=9
    )
    for share, risk in zip(shares, risks, strict=True):
        found = rules_of(sample, n_scores, {"min_tpr": share, "max_fpr": bound})
        assert found[0].selective_risk == pytest.approx(risk, abs=1e-14)
        assert found[-1].selective_risk <= risk + 1e-14


@pytest.mark.parametrize("ood_prior", [0.001, 0.01])
def test_precisions_near_one_are_attained(ood_prior):
    scores = np.append(np.arange(300.0), np.arange(200.0, 20_200.0))
    is_ood = np.arange(len(scores)) >= 300
    precision, recall = precision_recall_frontier(scores, is_ood, ood_prior=ood_prior)
    assert len(recall) > 90
    assert 1 - 1e-2 < precision[-1] < 1
    for bound, share in zip(precision[::5], recall[::5], strict=True):
        model = {"min_recall": share, "min_precision": bound, "ood_prior": ood_prior}
        rule = tune_single_score(
            scores, np.zeros(len(scores)), is_ood, randomize=False, **model
        )
        assert rule.precision >= bound - 1e-15


@pytest.mark.parametrize("seed", [pytest.param(0, marks=pytest.mark.slow), 1, 4])
def test_differences_as_small_as_the_tolerance(seed):
    rng = np.random.default_rng(seed)
    risk, is_ood = rng.integers(0, 30, 60) / 30, rng.random(60) < 0.3
    # At a weight of one all sums tie, and are told apart by next to nothing.
    novelty = -risk + 1e-13 * rng.normal(size=60)
    sample = risk, novelty, np.zeros(60), is_ood
    scores = np.column_stack([risk, novelty])
    fpr, tpr = roc_frontier(scores, is_ood, n_directions=9)
    for bound, share in zip(fpr[tpr > 0], tpr[tpr > 0], strict=True):
        for rule in rules_of(sample, 2, {"min_tpr": share, "max_fpr": bound}):
            assert rule.fpr <= bound + 1e-12
