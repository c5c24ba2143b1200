"""Thresholds that a search compares."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sklearn_reject.thresholds._documents import check_documents
from sklearn_reject.thresholds._grid import (
    _FEW_SCORES,
    count_reached,
    locate_thresholds,
    ranks,
    threshold_grid,
)
from tests.thresholds.path_oracle import rated_documents

N_THRESHOLDS = st.integers(2, 12)
SPACINGS = st.sampled_from(["quantile", "uniform"])


def one_classifier(scores, y, **options):
    return check_documents(np.asarray(scores, dtype=float), y, **options)


def rare_events(n=2000, n_positive=20, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) < n_positive
    return one_classifier(rng.normal(size=n) + 2 * y, y.astype(int))


# What every grid has


@given(documents=rated_documents(), n_thresholds=N_THRESHOLDS, spacing=SPACINGS)
def test_scores_between_the_extremes(documents, n_thresholds, spacing):
    grid = threshold_grid(documents, n_thresholds, spacing)
    assert len(grid) == documents.n_classifiers
    columns = zip(grid, documents.base, documents.scores.T, strict=True)
    for values, base, scores in columns:
        assert 2 <= len(values) <= n_thresholds
        assert (values[0], values[-1]) == (base, np.inf)
        assert (np.diff(values) > 0).all()
        assert np.isin(values[1:-1], scores).all()


@given(documents=rated_documents(), n_thresholds=N_THRESHOLDS, spacing=SPACINGS)
def test_all_distinct_scores_where_they_fit(documents, n_thresholds, spacing):
    grid = threshold_grid(documents, n_thresholds, spacing)
    for values, base, scores in zip(
        grid, documents.base, documents.scores.T, strict=True
    ):
        distinct = sorted({base, *scores[scores > base]})
        if len(distinct) < n_thresholds:
            assert values[:-1].tolist() == distinct


@given(documents=rated_documents(), n_thresholds=N_THRESHOLDS)
def test_uniform_steps_end_at_the_next_score(documents, n_thresholds):
    grid = threshold_grid(documents, n_thresholds, "uniform")
    for values, base, scores in zip(
        grid, documents.base, documents.scores.T, strict=True
    ):
        above = sorted(set(scores[scores > base]))
        if len(above) <= n_thresholds - 2 or n_thresholds == 2:
            continue
        steps = np.linspace(base, above[-1], n_thresholds - 1)
        # Up to the rounding of a step that ends at a score.
        nearest = {min(s for s in above if s >= step - 1e-9) for step in steps[1:]}
        assert set(values[1:-1]) == nearest


# Quantiles


def test_half_of_the_thresholds_belong_to_each_class():
    documents = rare_events(n_positive=500)
    (values,) = threshold_grid(documents, 102)
    assert len(values) == 102
    for is_class in (documents.is_positive, ~documents.is_positive):
        scores = np.sort(documents.scores[is_class, 0])
        scores = scores[scores > documents.base]
        chosen = np.flatnonzero(np.isin(scores, values))
        assert len(chosen) == 50
        # One half in equal steps, the other in equal ratios from the top.
        for step in np.linspace(0, len(scores) - 1, 25):
            assert np.abs(chosen - step).min() <= 1
        for n_above in np.geomspace(1, len(scores), 25):
            assert np.abs(len(scores) - chosen - n_above).min() <= 1


def test_rare_positives_are_all_thresholds():
    """Equally spaced quantiles of all documents would have a tenth of them."""
    documents = rare_events()
    (values,) = threshold_grid(documents, 100)
    assert np.isin(documents.scores[documents.is_positive, 0], values).all()
    assert len(values) == 100
    is_negative = np.isin(documents.scores[~documents.is_positive, 0], values)
    assert is_negative.sum() == 79  # the lowest is the base


def test_few_negatives_leave_their_share_to_positives():
    y = (np.arange(500) >= 10).astype(int)
    documents = one_classifier(np.random.default_rng(0).normal(size=500), y)
    (values,) = threshold_grid(documents, 100)
    assert len(values) == 100
    assert np.isin(documents.scores[:10, 0], values).all()


@pytest.mark.parametrize("only", [True, False])
def test_quantiles_of_one_class_alone(only):
    """As in a part of the documents, above the lowest threshold of all."""
    documents = rare_events()
    alone = documents.take(documents.rows[documents.is_positive == only])
    (values,) = threshold_grid(alone, 12)
    assert len(values) == 12
    assert np.isin(values[1:-1], alone.scores).all()


@given(documents=rated_documents(weights=False), n_thresholds=N_THRESHOLDS)
def test_weights_count_like_copies(documents, n_thresholds):
    rng = np.random.default_rng(len(documents.scores))
    weight = rng.integers(1, 4, len(documents.scores))
    weighted = replace(documents, weight=weight.astype(float))
    copied = replace(
        documents,
        scores=np.repeat(documents.scores, weight, axis=0),
        is_positive=np.repeat(documents.is_positive, weight),
    )
    grids = (threshold_grid(d, n_thresholds) for d in (weighted, copied))
    for ours, expected in zip(*grids, strict=True):
        assert ours.tolist() == expected.tolist()


def test_scores_of_any_magnitude():
    scores = [-1.7e308, -1e-320, 0.0, 5e-324, 1e10, 1.5e308, 1.7e308]
    documents = one_classifier(scores, [0, 1, 0, 1, 0, 1, 1])
    for spacing in ("quantile", "uniform"):
        (values,) = threshold_grid(documents, 5, spacing)
        assert np.isin(values[:-1], scores).all()
    assert values.tolist() == [-1.7e308, -1e-320, 1.5e308, 1.7e308, np.inf]


# Ranks


@given(documents=rated_documents(), n_thresholds=N_THRESHOLDS)
def test_rank_is_the_number_of_thresholds_reached(documents, n_thresholds):
    grid = threshold_grid(documents, n_thresholds)
    reached = ranks(documents, grid)
    assert reached.dtype == np.intp
    for row, scores in enumerate(documents.scores):
        expected = [
            sum(s >= t for t in values) for s, values in zip(scores, grid, strict=True)
        ]
        assert reached[row].tolist() == expected


SHAPES = {
    "normal": lambda rng, n: rng.normal(size=n),
    "close to zero": lambda rng, n: rng.beta(0.05, 30, n),
    "close to one": lambda rng, n: rng.beta(30, 0.05, n),
    "of any magnitude": lambda rng, n: (
        rng.choice([-1, 1], n) * 10.0 ** rng.integers(-320, 308, n)
    ),
    "extremes": lambda rng, n: rng.choice([-1.7e308, -5e-324, 0.0, 5e-324, 1e308], n),
    "few": lambda rng, n: rng.integers(-3, 3, n) / 3,
    "far": lambda rng, n: np.where(rng.random(n) < 1e-4, 1e18, rng.random(n)),
}


@pytest.mark.parametrize("n_thresholds", [2, 3, 30, 1000])
@pytest.mark.parametrize("shape", SHAPES)
def test_buckets_find_what_a_binary_search_finds(shape, n_thresholds):
    rng = np.random.default_rng(n_thresholds)
    scores = SHAPES[shape](rng, _FEW_SCORES + 1000)
    thresholds = np.unique(rng.choice(scores, n_thresholds - 1))
    thresholds = np.append(thresholds, np.inf)
    expected = np.searchsorted(thresholds, scores, side="right")
    np.testing.assert_array_equal(count_reached(thresholds, scores), expected)


@given(documents=rated_documents(), n_thresholds=N_THRESHOLDS)
def test_thresholds_are_found_in_their_grid(documents, n_thresholds):
    grid = threshold_grid(documents, n_thresholds)
    chosen = [values[len(values) // 2] for values in grid]
    expected = [len(values) // 2 for values in grid]
    assert locate_thresholds(grid, chosen).tolist() == expected


# Bad input


@pytest.mark.parametrize("n_thresholds", [1, 0, -3, 2.0, True, None, "100"])
def test_bad_number_of_thresholds(n_thresholds):
    with pytest.raises(ValueError, match=r"n_thresholds must be an int >= 2.*got"):
        threshold_grid(rare_events(50), n_thresholds)


def test_bad_spacing():
    with pytest.raises(ValueError, match=r"spacing must be one of.*got 'log'"):
        threshold_grid(rare_events(50), 10, "log")
