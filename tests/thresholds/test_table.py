"""Tables of counts against a count for each combination of thresholds."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import config_context

from benchmarks._timing import peak_bytes
from sklearn_reject.thresholds._documents import check_documents
from sklearn_reject.thresholds._graph import best_grid_path
from sklearn_reject.thresholds._grid import (
    BYTES_PER_NODE,
    PNTable,
    check_grid_fits,
    count_table,
    pn_table,
    threshold_grid,
)
from tests.thresholds.path_oracle import all_nodes, count_positives, rated_documents


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
        r"working_memory of 100 MiB. Take n_thresholds=148 at most, allow more by "
        r"sklearn.set_config\(working_memory=824\), or, for .* take search=\"pairs\""
    )
    with config_context(working_memory=100):
        with pytest.raises(ValueError, match=message):
            pn_table(scores, y, n_thresholds=300)
        with pytest.raises(ValueError, match="n_thresholds=148 at most"):
            pn_table(scores, y, n_thresholds=149)
        assert pn_table(scores, y, n_thresholds=148).fp.shape == (148,) * 3


def test_the_largest_grid_knows_short_axes():
    with config_context(working_memory=1):
        with pytest.raises(ValueError, match="Take n_thresholds=8192 at most"):
            check_grid_fits((2, 2, 9000))
        check_grid_fits((2, 2, 8192))


def test_twenty_classifiers():
    scores, y = random_problem(100, 20)
    with pytest.raises(ValueError, match=r"1e\+40 nodes.*n_thresholds=2 at most"):
        pn_table(scores, y)
    message = "Not even n_thresholds=2 fits: take fewer classifiers"
    with config_context(working_memory=1), pytest.raises(ValueError, match=message):
        pn_table(scores, y)


@pytest.mark.parametrize(
    ("n_classifiers", "n_thresholds"), [(1, 10**5), (2, 1000), (3, 100), (5, 15)]
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
