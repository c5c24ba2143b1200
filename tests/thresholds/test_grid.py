"""Grids by definition, and tables of counts against single counts."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import config_context

from benchmarks._timing import peak_bytes
from sklearn_reject.thresholds import PNTable, pn_table
from sklearn_reject.thresholds._documents import check_documents
from sklearn_reject.thresholds._graph import best_grid_path
from sklearn_reject.thresholds._grid import (
    _FEW_SCORES,
    BYTES_PER_NODE,
    check_grid_fits,
    count_reached,
    count_table,
    locate_thresholds,
    threshold_grid,
)
from tests.thresholds.path_oracle import all_nodes, count_positives, rated_documents

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


def test_a_highest_score_of_next_to_no_weight():
    scores, y = random_problem(400, 1)
    weight = np.where(scores[:, 0] == scores.max(), 1e-18, 1.0)
    table = pn_table(scores, y, n_thresholds=20, sample_weight=weight)
    assert table.fp.shape == (20,)
    assert table.thresholds[0][-2] == scores.max()


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
    for thresholds, scores in zip(grid, documents.scores.T, strict=True):
        ranks = count_reached(thresholds, scores)
        assert ranks.dtype == np.intp
        assert ranks.tolist() == [sum(s >= t for t in thresholds) for s in scores]


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


@pytest.mark.parametrize("n_thresholds", [1, 2, 3, 30, 1000])
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
        pn_table([0.1, 0.4, 0.9], [0, 0, 1], n_thresholds=n_thresholds)


def test_bad_spacing():
    with pytest.raises(ValueError, match=r"spacing must be one of.*got 'log'"):
        pn_table([0.1, 0.4, 0.9], [0, 0, 1], spacing="log")


# Tables of counts


def random_problem(n_documents, n_classifiers, seed=0):
    rng = np.random.default_rng(seed)
    y = (np.arange(n_documents) < n_documents / 10).astype(int)
    return rng.normal(size=(n_documents, n_classifiers)) + y[:, np.newaxis], y


@given(documents=rated_documents(), n_thresholds=st.integers(2, 5))
def test_counts_of_all_combinations(documents, n_thresholds):
    table = count_table(documents, threshold_grid(documents, n_thresholds))
    assert table.fp.shape == table.tp.shape == tuple(map(len, table.thresholds))
    for node in all_nodes(table.fp.shape):
        pairs = zip(table.thresholds, node, strict=True)
        thresholds = [values[index] for values, index in pairs]
        expected = count_positives(documents, thresholds)
        assert (table.fp[node], table.tp[node]) == expected


@given(documents=rated_documents(), seed=st.integers(0, 99))
def test_rounding_of_weights_makes_no_count_rise(documents, seed):
    rng = np.random.default_rng(seed)
    n_documents = len(documents.scores)
    weight = 10.0 ** rng.integers(-9, 9, n_documents) * rng.random(n_documents)
    documents = replace(documents, weight=weight)
    table = count_table(documents, threshold_grid(documents, 10))
    for counts in (table.fp, table.tp):
        assert counts.ravel()[-1] == 0
        assert counts.min() >= 0
        for axis in range(counts.ndim):
            assert (np.diff(counts, axis=axis) <= 0).all()
    first = [float(c) for c in count_positives(documents, documents.base)]
    ours = [table.fp.ravel()[0], table.tp.ravel()[0]]
    assert ours == pytest.approx(first, rel=1e-12)


@pytest.mark.parametrize("rule", ["any", "all"])
def test_public_function_counts_what_is_rated(rule):
    scores, y = random_problem(300, 2)
    y = np.where(scores.max(axis=1) < 0.5, -1, y)
    options = {"rule": rule, "sample_weight": np.linspace(1, 2, 300)}
    table = pn_table(scores, y, n_thresholds=20, spacing="uniform", **options)
    documents = check_documents(scores, y, **options)
    assert isinstance(table, PNTable)
    assert table.rule == rule
    for values, base in zip(table.thresholds, documents.base, strict=True):
        assert (values[0], values[-1]) == (base, np.inf)
        assert len(values) <= 20
    expected = count_positives(documents, [values[7] for values in table.thresholds])
    counts = (table.fp[7, 7], table.tp[7, 7])
    assert counts == pytest.approx(tuple(map(float, expected)), rel=1e-12)


def test_one_score_may_be_a_vector():
    table = pn_table([0.1, 0.4, 0.4, 0.9], [0, 1, 0, 1])
    assert table.thresholds[0].tolist() == [0.1, 0.4, 0.9, np.inf]
    assert table.fp.tolist() == [2.0, 1.0, 0.0, 0.0]
    assert table.tp.tolist() == [2.0, 2.0, 1.0, 0.0]


# Memory


def test_a_large_grid_says_what_would_fit():
    scores, y = random_problem(2000, 3)
    message = (
        r"n_thresholds is too large: 3 classifiers with up to 300 thresholds each make "
        r"a grid of 27000000 nodes, which takes 824 MiB, more than scikit-learn's "
        r"working_memory of 10 MiB. Use at most n_thresholds=68, allow more memory "
        r"with sklearn.set_config\(working_memory=824\), .* use search=\"pairs\""
    )
    with config_context(working_memory=10):
        with pytest.raises(ValueError, match=message):
            pn_table(scores, y, n_thresholds=300)
        with pytest.raises(ValueError, match="n_thresholds=68, allow"):
            pn_table(scores, y, n_thresholds=69)
        assert pn_table(scores, y, n_thresholds=68).fp.shape == (68,) * 3


def test_the_largest_grid_knows_short_axes():
    with config_context(working_memory=1):
        with pytest.raises(ValueError, match="n_thresholds=8192, allow more"):
            check_grid_fits((2, 2, 9000))
        check_grid_fits((2, 2, 8192))


def test_twenty_classifiers():
    scores, y = random_problem(100, 20)
    with pytest.raises(ValueError, match=r"1e\+40 nodes.*n_thresholds=2, allow more"):
        pn_table(scores, y)
    message = "Not even n_thresholds=2 fits. Use fewer classifiers"
    with config_context(working_memory=1), pytest.raises(ValueError, match=message):
        pn_table(scores, y)


@pytest.mark.parametrize(
    ("n_classifiers", "n_thresholds"),
    [
        pytest.param(1, 10**5, marks=pytest.mark.slow),
        (2, 600),
        (3, 80),
        (5, 12),
    ],
)
def test_memory_is_what_the_bound_assumes(n_classifiers, n_thresholds):
    scores, y = random_problem(n_thresholds * 2, n_classifiers)
    documents = check_documents(scores, y)
    grid = threshold_grid(documents, n_thresholds)
    table = count_table(documents, grid)
    of_documents = 100 * documents.scores.size
    held = table.fp.nbytes + table.tp.nbytes
    peaks = (
        peak_bytes(lambda: count_table(documents, grid)),
        peak_bytes(lambda: best_grid_path(table)) + held,
    )
    assert max(peaks) - of_documents <= BYTES_PER_NODE * table.fp.size
