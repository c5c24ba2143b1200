"""Local optima of many classifiers against global ones of few."""

from functools import reduce
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sklearn_reject.thresholds._documents import check_documents
from sklearn_reject.thresholds._graph import (
    _LEAST_GAIN,
    _MOST_STARTS,
    _PairSearch,
    best_grid_path,
    best_pairwise_path,
)
from sklearn_reject.thresholds._grid import count_table, threshold_grid
from sklearn_reject.thresholds._path import trace_path
from tests.thresholds.path_oracle import rated_documents

RULES = pytest.mark.parametrize("rule", ["any", "all"])


def random_documents(n_documents, n_classifiers, rule, seed=0, share=0.2):
    """Draw documents of which each classifier may overlook some positives."""
    rng = np.random.default_rng(seed)
    y = (np.arange(n_documents) < share * n_documents).astype(int)
    strength = rng.uniform(0.2, 2, n_classifiers)
    seen = rng.random((n_documents, n_classifiers)) < rng.choice([0.5, 1.0])
    scores = rng.normal(size=(n_documents, n_classifiers))
    scores += y[:, np.newaxis] * strength * seen
    return check_documents(scores, y, rule=rule)


def single_area(documents, grid, member):
    """Return the area under the curve of one classifier."""
    extreme = -1 if documents.rule == "any" else 0
    thresholds = np.tile([values[extreme] for values in grid], (len(grid[member]), 1))
    thresholds[:, member] = grid[member]
    return trace_path(thresholds, documents).area


def one_by_one(grid, order):
    """Return the path that raises one classifier after the other."""
    path = np.array([[values[0] for values in grid]])
    for member in order:
        steps = np.tile(path[-1], (len(grid[member]) - 1, 1))
        steps[:, member] = grid[member][1:]
        path = np.vstack([path, steps])
    return path


def single_path_area(documents, grid, member):
    """Return the area of a path that ends, under "all" starts, with one classifier.

    In the worst order of the others.
    """
    others = [other for other in range(len(grid)) if other != member]
    orders = ((*order, member) for order in permutations(others))
    if documents.rule == "all":
        orders = (order[::-1] for order in orders)
    paths = (one_by_one(grid, order) for order in orders)
    return min(trace_path(path, documents).area for path in paths)


@given(documents=rated_documents(weights=False), n_thresholds=st.integers(2, 10))
def test_never_below_one_classifier_nor_above_the_grid(documents, n_thresholds):
    grid = threshold_grid(documents, n_thresholds)
    path = best_pairwise_path(documents, grid)
    for member in range(len(grid)):
        assert path.area >= single_area(documents, grid, member)
        assert path.area >= single_path_area(documents, grid, member)
    best = best_grid_path(count_table(documents, grid)).area
    assert path.area <= best
    if len(grid) <= 2:
        assert path.area == best


@given(documents=rated_documents(), n_thresholds=st.integers(2, 10))
def test_path_is_what_it_says(documents, n_thresholds):
    grid = threshold_grid(documents, n_thresholds)
    path = best_pairwise_path(documents, grid)
    assert len(path) == 1 + sum(len(values) - 1 for values in grid)
    for column, values in zip(path.thresholds.T, grid, strict=True):
        assert np.unique(column).tolist() == values.tolist()
        assert (column[1:] >= column[:-1]).all()
    counted = trace_path(path.thresholds, documents)
    assert counted.fp.tolist() == path.fp.tolist()
    assert counted.tp.tolist() == path.tp.tolist()
    assert counted.area == path.area


@RULES
@pytest.mark.parametrize("n_classifiers", [3, 5])
def test_no_classifier_can_be_moved_alone(rule, n_classifiers):
    documents = random_documents(400, n_classifiers, rule)
    search = _PairSearch(documents, threshold_grid(documents, 20), None)
    for start in search.starts():
        best = search.climb(start)
        assert best.area >= start.area
        for member in range(n_classifiers):
            alone = search.merge(best.without(member), search.single(member))
            assert alone.area <= best.area * (1 + _LEAST_GAIN)


@RULES
def test_path_without_a_classifier_has_each_node_once(rule):
    documents = random_documents(200, 3, rule)
    search = _PairSearch(documents, threshold_grid(documents, 8), None)
    start = next(search.starts())
    for member in range(3):
        rest = start.without(member)
        assert member not in rest.members
        assert len(rest.nodes) == len(np.unique(rest.nodes, axis=0)) == 15


@RULES
def test_each_classifier_starts_once(rule):
    documents = random_documents(200, 5, rule)
    starts = list(_PairSearch(documents, threshold_grid(documents, 9), None).starts())
    assert len(starts) == 5
    for start in starts:
        assert sorted(start.members) == [0, 1, 2, 3, 4]
    many = random_documents(100, _MOST_STARTS + 3, rule)
    starts = _PairSearch(many, threshold_grid(many, 3), None).starts()
    assert len(list(starts)) == _MOST_STARTS


@RULES
def test_order_of_classifiers_does_not_matter_much(rule):
    documents = random_documents(500, 4, rule, seed=3)
    grid = threshold_grid(documents, 15)
    search = _PairSearch(documents, grid, None)
    singles = [search.single(member) for member in (2, 0, 3, 1)]
    one_start = search.climb(reduce(search.merge, singles))
    assert best_pairwise_path(documents, grid).area >= 0.99 * one_start.area


@RULES
def test_mostly_the_global_optimum_of_three(rule):
    gaps = np.zeros(200)
    for seed in range(200):
        documents = random_documents((60, 300, 1000)[seed % 3], 3, rule, seed)
        grid = threshold_grid(documents, 12)
        best = best_grid_path(count_table(documents, grid)).area
        gaps[seed] = 1 - best_pairwise_path(documents, grid).area / best
    assert gaps.min() >= 0
    assert (gaps == 0).mean() >= 0.97
    assert gaps.max() <= 0.007


@RULES
def test_twenty_classifiers(rule):
    documents = random_documents(500, 20, rule)
    grid = threshold_grid(documents, 10)
    path = best_pairwise_path(documents, grid)
    singles = [single_area(documents, grid, member) for member in range(20)]
    total = path.fp[0] * path.tp[0]
    assert total - path.area < 0.7 * (total - max(singles))
    assert trace_path(path.thresholds, documents).area == path.area
