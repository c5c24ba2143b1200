"""Documents that a high score has selected are noticed, and no others."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, make_classification

from sklearn_reject.thresholds import optimal_path

SELECTED = "as if they had been selected"


def looks_selected(scores):
    """Tell whether a warning says so."""
    y = np.arange(len(scores)) % 2
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        optimal_path(scores, y, n_thresholds=2)
    return any(SELECTED in str(each.message) for each in caught)


def log_scores(n=20_000, seed=0, rho=0.0):
    rng = np.random.default_rng(seed)
    kind, is_rare = rng.integers(3, size=n), rng.random(n) < 0.01
    seen = np.c_[kind != 1, kind != 0] & is_rare[:, np.newaxis]
    mix = [[1, rho], [0, np.sqrt(1 - rho**2)]]
    return (rng.normal(size=(n, 2)) + 2.5 * seen) @ np.array(mix)


@pytest.mark.parametrize(
    ("rho", "least"),
    [
        (0, 2),
        pytest.param(-0.6, 1, marks=pytest.mark.slow),
        pytest.param(0.6, 1, marks=pytest.mark.slow),
        pytest.param(0.6, 2, marks=pytest.mark.slow),
    ],
)
def test_selected_by_any(rho, least):
    """It is noticed in most samples, and nothing is where all are rated."""
    noticed, imagined = np.zeros(3), 0
    for seed in range(12):
        scores = log_scores(rho=rho, seed=seed)
        chosen = scores[(scores >= least).any(axis=1)]
        third = np.random.default_rng([1, seed]).normal(size=len(scores))
        three = np.c_[scores, third]
        three = three[(three >= least).any(axis=1)]
        noticed += [looks_selected(x) for x in (chosen, chosen.round(1), three)]
        imagined += looks_selected(scores)
    assert noticed.min() >= 7
    assert imagined <= 1


@pytest.mark.parametrize("rho", [-1, -0.99, -0.5, 0.5, 0.99, 1])
@pytest.mark.parametrize("n", [40, 200, 1000])
def test_dependent_scores_are_no_selected_ones(rho, n):
    for seed in range(3):
        z = np.random.default_rng(seed).normal(size=(3, n))
        scores = np.c_[z[0], rho * z[0] + np.sqrt(1 - rho**2) * z[1]]
        several = [scores, np.exp(scores), scores.round(), np.maximum(scores, 0)]
        if rho >= -0.9:
            several.append(np.c_[scores, z[2]])
        assert not any(map(looks_selected, several))


def test_other_documents_that_nobody_has_selected():
    # Copies of a document: a third is the same, as a forest may rate it.
    rng = np.random.default_rng(0)
    leaf = np.where(rng.random(3000) < 0.8, 0, rng.random(3000).round(2))
    copies = np.c_[rng.choice([0.005, 0.015, 0.025], 1500), np.zeros(1500)]
    several = [np.r_[np.c_[leaf, 1 + rng.random(3000)], copies]]
    # Scores that exclude each other, and real ones.
    flags, values = np.arange(600) // 2 % 2, np.random.default_rng(0).random(600)
    several += [np.c_[flags, 1 - flags], np.c_[flags * values, (1 - flags) * values]]
    made, _ = make_classification(2000, 6, n_informative=4, random_state=0)
    for data in (load_breast_cancer().data[:, :8], made):
        for pair in zip(data.T, data.T[1:], strict=False):
            several += [np.column_stack(pair), np.column_stack(pair) * [1, -1]]
    assert not any(map(looks_selected, several))
    # If neighbors are exchangeable, fewer than one in 2**13.
    assert not any(looks_selected(rng.random((300, 2))) for _ in range(40))
