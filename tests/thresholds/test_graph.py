"""Best paths on grids against all paths, and local optima of many classifiers."""

from functools import reduce
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import config_context

from sklearn_reject.thresholds import _graph
from sklearn_reject.thresholds._documents import check_documents, predict_positive
from sklearn_reject.thresholds._graph import (
    _LEAST_GAIN,
    _MOST_STARTS,
    _PairSearch,
    _trace_back_axes,
    _trace_back_rows,
    best_areas_by_rows,
    best_grid_path,
    best_lattice_path,
    best_pairwise_path,
    graph_path,
)
from sklearn_reject.thresholds._grid import (
    count_table,
    locate_thresholds,
    threshold_grid,
)
from tests.thresholds.path_oracle import (
    bellman_ford_area,
    best_area,
    rated_documents,
    trace_path,
    trapezoids,
)

RULES = pytest.mark.parametrize("rule", ["any", "all"])

SEARCHES = pytest.mark.parametrize("search", ["grid", "pairs"])

# So that all paths can be listed.
FEW_THRESHOLDS = {1: 10, 2: 6, 3: 4}


def random_documents(n_documents, n_classifiers, rule, seed=0, share=0.1):
    rng = np.random.default_rng(seed)
    y = (np.arange(n_documents) < share * n_documents).astype(int)
    strength = rng.uniform(0, 2, n_classifiers)
    scores = rng.normal(size=(n_documents, n_classifiers)) + np.outer(y, strength)
    return check_documents(scores, y, rule=rule)


def small_table(documents):
    n_thresholds = FEW_THRESHOLDS[documents.n_classifiers]
    return count_table(documents, threshold_grid(documents, n_thresholds))


def falling(cells):
    """Return sums of the cells from each on, which do not rise along an axis."""
    for axis in range(cells.ndim):
        cells = np.flip(np.flip(cells, axis).cumsum(axis), axis)
    return cells


def is_lattice_path(nodes, shape):
    steps = np.diff(nodes, axis=0)
    return (
        nodes[0].tolist() == [0] * len(shape)
        and nodes[-1].tolist() == [length - 1 for length in shape]
        and (steps.sum(axis=1) == 1).all()
        and (steps >= 0).all()
    )


def assert_is_path(path, documents):
    """Each vertex predicts what it says, and none is below the one before."""
    assert path.thresholds[0].tolist() == documents.base.tolist()
    assert np.isposinf(path.thresholds[-1]).all()
    # No difference: infinity minus infinity is none.
    assert (path.thresholds[1:] >= path.thresholds[:-1]).all()
    for thresholds, fp, tp in zip(path.thresholds, path.fp, path.tp, strict=True):
        is_predicted = predict_positive(documents.scores, thresholds, documents.rule)
        assert (fp, tp) == documents.count(is_predicted)
    assert (np.diff(path.fp) <= 0).all()
    assert (np.diff(path.tp) <= 0).all()
    assert path.area == trapezoids(range(len(path)), path.fp, path.tp)
    assert path.rule == documents.rule


# The global optimum


@given(documents=rated_documents())
def test_no_path_is_better(documents):
    table = small_table(documents)
    path = best_grid_path(table)
    assert path.area == best_area(table.fp, table.tp)
    assert_is_path(path, documents)
    assert len(path) == 1 + sum(len(values) - 1 for values in table.thresholds)


@given(
    n_classifiers=st.integers(1, 4),
    n_thresholds=st.integers(2, 12),
    rule=st.sampled_from(["any", "all"]),
    seed=st.integers(0, 10**6),
)
def test_area_of_bellman_ford(n_classifiers, n_thresholds, rule, seed):
    documents = random_documents(200, n_classifiers, rule, seed)
    n_thresholds = min(n_thresholds, {1: 12, 2: 12, 3: 7, 4: 4}[n_classifiers])
    table = count_table(documents, threshold_grid(documents, n_thresholds))
    assert best_grid_path(table).area == bellman_ford_area(table.fp, table.tp)


@RULES
@pytest.mark.parametrize("n_classifiers", [2, 3])
def test_area_of_bellman_ford_on_a_larger_grid(n_classifiers, rule):
    documents = random_documents(5000, n_classifiers, rule)
    n_thresholds = {2: 60, 3: 15}[n_classifiers]
    table = count_table(documents, threshold_grid(documents, n_thresholds))
    assert best_grid_path(table).area == bellman_ford_area(table.fp, table.tp)


@given(documents=rated_documents(), seed=st.integers(0, 10**6))
def test_weights_of_many_digits(documents, seed):
    rng = np.random.default_rng(seed)
    fp, tp = map(falling, rng.random((2, *small_table(documents).fp.shape)) ** 5)
    nodes = best_lattice_path(fp, tp)
    assert is_lattice_path(nodes, fp.shape)
    area = trapezoids(map(tuple, nodes), fp, tp)
    assert float(area) == pytest.approx(float(best_area(fp, tp)), rel=1e-13)


@pytest.mark.parametrize("shape", [(2, 9), (9, 2), (2, 2, 5), (4, 2, 3), (2,), (1, 3)])
def test_axes_of_any_length(shape):
    rng = np.random.default_rng(len(shape))
    fp, tp = map(falling, rng.integers(0, 9, (2, *shape)).astype(float))
    nodes = best_lattice_path(fp, tp)
    assert is_lattice_path(nodes, shape)
    assert trapezoids(map(tuple, nodes), fp, tp) == best_area(fp, tp)


@RULES
@pytest.mark.parametrize("n_classifiers", [2, 3])
def test_rows_are_worked_on_in_parts(rule, n_classifiers, monkeypatch):
    documents = random_documents(500, n_classifiers, rule)
    table = count_table(documents, threshold_grid(documents, 20))
    expected = best_grid_path(table)
    assert _graph._NODES_AT_ONCE > 20**2
    monkeypatch.setattr(_graph, "_NODES_AT_ONCE", 50)
    path = best_grid_path(table)
    assert path.area == expected.area
    assert path.thresholds.tolist() == expected.thresholds.tolist()


@RULES
def test_one_classifier_has_its_own_curve(rule):
    documents = random_documents(300, 1, rule)
    path = graph_path(documents, n_thresholds=301)
    n_positive = documents.is_positive.sum()
    positive, negative = (
        documents.scores[chosen, 0]
        for chosen in (documents.is_positive, ~documents.is_positive)
    )
    wins = (positive[:, np.newaxis] > negative).sum()
    assert path.area == wins
    assert (path.tp[0], path.fp[0]) == (n_positive, 300 - n_positive)


# Through a point


@SEARCHES
@given(documents=rated_documents(), data=st.data())
def test_path_through_a_point(search, documents, data):
    columns = zip(documents.base, documents.scores.T, strict=True)
    through = [
        data.draw(st.sampled_from([base, *column[column >= base], np.inf]))
        for base, column in columns
    ]
    n_thresholds = FEW_THRESHOLDS[documents.n_classifiers] - 1
    # The point takes one of the thresholds of each classifier.
    path = graph_path(
        documents, n_thresholds=n_thresholds + 1, search=search, through=through
    )
    assert_is_path(path, documents)
    vertices = np.flatnonzero((path.thresholds == through).all(axis=1))
    assert vertices.size
    is_predicted = predict_positive(documents.scores, through, documents.rule)
    left = path.locate(documents.scores)
    np.testing.assert_array_equal(left >= vertices[0], is_predicted)
    grid = [
        np.union1d(values, threshold)
        for values, threshold in zip(
            threshold_grid(documents, n_thresholds), through, strict=True
        )
    ]
    table = count_table(documents, grid)
    best = best_area(table.fp, table.tp, locate_thresholds(grid, through))
    if search == "grid" or documents.n_classifiers <= 2:
        assert path.area == best
    else:
        assert path.area <= best


# Which search


@RULES
def test_both_searches_agree_on_two_classifiers(rule):
    documents = random_documents(1000, 2, rule)
    paths = [graph_path(documents, search=search) for search in ("grid", "pairs")]
    assert paths[0].area == paths[1].area
    for path in paths:
        assert_is_path(path, documents)


def test_auto_is_the_grid_as_long_as_it_is_small(monkeypatch):
    documents = random_documents(300, 3, "any")

    def search(name):
        path = graph_path(documents, n_thresholds=10, search=name)
        return path.thresholds.tolist()

    def refuse(*args):
        raise AssertionError("not this one")

    assert search("auto") == search("grid")
    with monkeypatch.context() as patch:
        patch.setattr(_graph, "_LARGEST_AUTO_GRID", 999)
        assert search("auto") == search("pairs")
        patch.setattr(_graph, "best_grid_path", refuse)
        search("auto")
    with config_context(working_memory=0.01):
        assert search("auto") == search("pairs")
        with pytest.raises(ValueError, match="n_thresholds=6, allow more"):
            search("grid")
    monkeypatch.setattr(_graph, "best_pairwise_path", refuse)
    search("auto")


@SEARCHES
@RULES
def test_other_documents_find_the_same_counts(rule, search):
    """A path that is counted anew from scores says what its search said."""
    documents = random_documents(2000, 3, rule)
    path = graph_path(documents, n_thresholds=30, search=search)
    again = trace_path(path.thresholds, documents)
    assert again.fp.tolist() == path.fp.tolist()
    assert again.tp.tolist() == path.tp.tolist()
    assert again.area == path.area


# Passes over pairs


def overlooking_documents(n_documents, n_classifiers, rule, seed=0, share=0.2):
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
    documents = overlooking_documents(400, n_classifiers, rule)
    search = _PairSearch(documents, threshold_grid(documents, 20), None)
    for start in search.starts():
        best = search.climb(start)
        assert best.area >= start.area
        for member in range(n_classifiers):
            alone = search.merge(best.without(member), search.single(member))
            assert alone.area <= best.area * (1 + _LEAST_GAIN)


@RULES
def test_path_without_a_classifier_has_each_node_once(rule):
    documents = overlooking_documents(200, 3, rule)
    search = _PairSearch(documents, threshold_grid(documents, 8), None)
    start = next(search.starts())
    for member in range(3):
        rest = start.without(member)
        assert member not in rest.members
        assert len(rest.nodes) == len(np.unique(rest.nodes, axis=0)) == 15


@RULES
def test_each_classifier_starts_once(rule):
    documents = overlooking_documents(200, 5, rule)
    starts = list(_PairSearch(documents, threshold_grid(documents, 9), None).starts())
    assert len(starts) == 5
    for start in starts:
        assert sorted(start.members) == [0, 1, 2, 3, 4]
    many = overlooking_documents(100, _MOST_STARTS + 3, rule)
    starts = _PairSearch(many, threshold_grid(many, 3), None).starts()
    assert len(list(starts)) == _MOST_STARTS


@RULES
def test_order_of_classifiers_does_not_matter_much(rule):
    documents = overlooking_documents(500, 4, rule, seed=3)
    grid = threshold_grid(documents, 15)
    search = _PairSearch(documents, grid, None)
    singles = [search.single(member) for member in (2, 0, 3, 1)]
    one_start = search.climb(reduce(search.merge, singles))
    assert best_pairwise_path(documents, grid).area >= 0.99 * one_start.area


@RULES
@pytest.mark.parametrize("n_samples", [30, pytest.param(200, marks=pytest.mark.slow)])
def test_mostly_the_global_optimum_of_three(rule, n_samples):
    gaps = np.zeros(n_samples)
    for seed in range(n_samples):
        documents = overlooking_documents((60, 300, 1000)[seed % 3], 3, rule, seed)
        grid = threshold_grid(documents, 12)
        best = best_grid_path(count_table(documents, grid)).area
        gaps[seed] = 1 - best_pairwise_path(documents, grid).area / best
    assert gaps.min() >= 0
    assert (gaps == 0).mean() >= 0.97
    assert gaps.max() <= 0.007


@RULES
@pytest.mark.parametrize(
    "n_classifiers", [10, pytest.param(20, marks=pytest.mark.slow)]
)
def test_many_classifiers(rule, n_classifiers):
    documents = overlooking_documents(500, n_classifiers, rule)
    grid = threshold_grid(documents, 10)
    path = best_pairwise_path(documents, grid)
    singles = [single_area(documents, grid, k) for k in range(n_classifiers)]
    total = path.fp[0] * path.tp[0]
    assert total - path.area < 0.7 * (total - max(singles))
    assert trace_path(path.thresholds, documents).area == path.area


@pytest.mark.parametrize("unit", [1.0, 0.1])
def test_two_axes_are_traced_back_as_any_number(unit):
    rng = np.random.default_rng(0)
    for _ in range(200):
        shape = tuple(rng.integers(1, 7, size=2).tolist())
        steps = unit * rng.integers(0, 3, size=(2, *shape))
        fp, tp = np.flip(np.flip(steps, (1, 2)).cumsum(1).cumsum(2), (1, 2))
        best = best_areas_by_rows(fp, tp).ravel()
        given = best, fp.ravel(), tp.ravel(), shape, 1e-12 * best[-1]
        assert _trace_back_rows(*given) == _trace_back_axes(*given)
