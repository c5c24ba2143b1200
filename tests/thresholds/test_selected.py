"""Documents that their scores selected are told from those that nobody did."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, make_classification

from sklearn_reject.exceptions import RejectionWarning
from sklearn_reject.thresholds import operating_point
from sklearn_reject.thresholds._selected import has_edge, looks_selected


def log_documents(n=20_000, seed=0, mix=((1, 0), (0, 1))):
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.01
    kind = rng.integers(3, size=n)
    seen = np.c_[kind != 1, kind != 0] & y[:, np.newaxis]
    return (rng.normal(size=(n, 2)) + 2.5 * seen) @ np.array(mix), y.astype(int)


def test_the_warning():
    scores, y = log_documents()
    rated = (scores >= 2).any(axis=1)
    with pytest.warns(RejectionWarning, match="as if they had been selected"):
        operating_point(scores[rated], y[rated], max_fp_per_tp=3)
    # Nothing is missing, or said to be known from the base thresholds on.
    operating_point(scores, y, max_fp_per_tp=3)
    operating_point(scores, np.where(rated, y, -1), max_fp_per_tp=3)
    operating_point(scores[rated], y[rated], max_fp_per_tp=3, base_thresholds=(2, 2))


@pytest.mark.parametrize("rho", [-0.6, 0, 0.6])
@pytest.mark.parametrize("least", [1, 2])
def test_selected_by_any(rho, least):
    mix = [[1, rho], [0, np.sqrt(1 - rho**2)]]
    scores, _ = log_documents(mix=mix)
    assert looks_selected(scores[(scores >= least).any(axis=1)])
    assert not looks_selected(scores)


def test_selected_by_one_of_three_or_with_few_digits():
    scores, y = log_documents()
    three = np.c_[scores, np.random.default_rng(1).normal(size=len(y)) + 2 * y]
    assert looks_selected(three[(three >= 1.5).any(axis=1)])
    assert looks_selected(scores[(scores >= 2).any(axis=1)].round(1))


@pytest.mark.parametrize("rho", [-1, -0.999, -0.99, -0.9, -0.5, 0.5, 0.99, 1])
@pytest.mark.parametrize("n", [40, 200, 1000])
def test_dependent_scores_are_no_selected_ones(rho, n):
    for seed in range(4):
        z = np.random.default_rng(seed).normal(size=(3, n))
        scores = np.c_[z[0], rho * z[0] + np.sqrt(1 - rho**2) * z[1]]
        flat = np.maximum(scores, 0)
        several = [scores, np.exp(scores), scores.round(), flat]
        if rho >= -0.9:
            several.append(np.c_[scores, z[2]])
        for each in several:
            assert not looks_selected(each)


def test_copies_of_a_document_are_no_evidence():
    # A third is the same; out of fold, a forest rates it by one of three models.
    rng = np.random.default_rng(0)
    leaf = np.where(rng.random(3000) < 0.8, 0, rng.random(3000).round(2))
    copies = np.c_[rng.choice([0.005, 0.015, 0.025], 1500), np.zeros(1500)]
    assert not looks_selected(np.r_[np.c_[leaf, 1 + rng.random(3000)], copies])


def test_scores_that_exclude_each_other():
    flags = np.arange(600) % 2
    assert not looks_selected(np.c_[flags, 1 - flags])
    values = np.random.default_rng(0).random(600)
    assert not looks_selected(np.c_[flags * values, (1 - flags) * values])


def test_real_and_made_documents():
    X, _ = load_breast_cancer(return_X_y=True)
    made, _ = make_classification(2000, 6, n_informative=4, random_state=0)
    for data in (X, made):
        for column in range(1, data.shape[1]):
            pair = data[:, [column - 1, column]]
            assert not looks_selected(pair)
            assert not looks_selected(pair * [1, -1])


def test_false_alarms_are_rarer_than_promised():
    # If what is next to each other is exchangeable, one in 2**13 at most: none of 300.
    rng = np.random.default_rng(0)
    alarms = sum(has_edge(*rng.random((2, 300))) for _ in range(300))
    assert alarms == 0


def test_an_edge_is_found_where_it_is():
    rng = np.random.default_rng(0)
    x, y = rng.random((2, 2000))
    assert has_edge(*np.array([x, y])[:, (x >= 0.6) | (y >= 0.7)])
    assert not has_edge(x, y)


@pytest.mark.filterwarnings("ignore::sklearn_reject.exceptions.RejectionWarning")
def test_ratings_of_what_was_predicted_only_go_up_and_drawn_ones_do_not():
    # Ten rounds of tuning on what the last thresholds predicted.
    bases = {}
    for explores in (False, True):
        thresholds = np.array([1.0, 1.0])
        bases[explores] = []
        for seed in range(6):
            scores, truth = log_documents(6000, seed, mix=((1, 0), (0, 1)))
            chance = np.where((scores >= thresholds).any(axis=1), 1.0, np.nan)
            if explores:
                chance[np.isnan(chance) & (scores >= 1.0).any(axis=1)] = 0.1
            rated = np.random.default_rng(seed).random(6000) < np.nan_to_num(chance)
            point = operating_point(
                scores,
                np.where(rated, truth, -1),
                inclusion_proba=chance,
                max_fp_per_tp=3,
            )
            thresholds = point.thresholds
            bases[explores].append(thresholds)
    stuck, free = (np.diff(bases[explores], axis=0) for explores in (False, True))
    assert (stuck >= 0).all()
    assert (free < 0).any()
