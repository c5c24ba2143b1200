"""Paths of joint thresholds against all paths, and the best of smooth ones."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from sklearn import config_context
from sklearn.metrics import roc_auc_score

from sklearn_reject.thresholds import PNTable, optimal_path, pn_table
from tests.thresholds.threshold_oracle import Counted, best_area, samples, trapezoids

RULES = pytest.mark.parametrize("rule", ["any", "all"])

# So that all paths can be listed.
FEW_THRESHOLDS = {1: 10, 2: 6, 3: 4}

# Grids of three classifiers do not fit, and pairs of them are improved in turn.
PAIRS = {"working_memory": 0.01}


def draw(n_documents=500, n_classifiers=2, seed=0, share=0.1, seen=1.0):
    """Draw documents; each classifier sees a share of the positives."""
    rng = np.random.default_rng(seed)
    y = (np.arange(n_documents) < share * n_documents).astype(int)
    is_seen = rng.random((n_documents, n_classifiers)) < seen
    strength = rng.uniform(0.2, 2, n_classifiers) * is_seen * y[:, np.newaxis]
    return rng.normal(size=strength.shape) + strength, y


def assert_is_path(path, counted):
    """Each vertex predicts what it says, and none is below the one before."""
    assert np.isposinf(path.thresholds[-1]).all()
    # No difference: infinity minus infinity is none.
    assert (path.thresholds[1:] >= path.thresholds[:-1]).all()
    found = zip(path.fp, path.tp, strict=True)
    assert list(found) == [counted.count(row)[:2] for row in path.thresholds]
    assert path.area == trapezoids(path.fp, path.tp)


@given(sample=samples())
def test_no_path_is_better(sample):
    n_thresholds = FEW_THRESHOLDS[sample["scores"].shape[1]]
    table = pn_table(**sample, n_thresholds=n_thresholds)
    path = table.optimal_path()
    assert path.area == best_area(table.fp, table.tp)
    assert_is_path(path, Counted(**sample))
    assert len(path) == 1 + sum(len(values) - 1 for values in table.thresholds)
    assert path.thresholds[0].tolist() == [values[0] for values in table.thresholds]
    # The same from documents, whose thresholds are between scores.
    own = optimal_path(**sample, n_thresholds=n_thresholds)
    assert_is_path(own, Counted(**sample))
    if len(table.thresholds) > 1:
        assert own.area == path.area
        # Thresholds are not placed by ratings of weight zero, which count as absent.
        weight = sample.get("sample_weight", np.ones(len(sample["y"])))
        scores = sample["scores"][weight > 0]
        np.testing.assert_array_equal(own.locate(scores), path.locate(scores))


def table_of(cells):
    """Return a table of counts that are sums of the cells from each on."""
    for axis in range(1, cells.ndim):
        cells = np.flip(np.flip(cells, axis).cumsum(axis), axis)
    thresholds = tuple(map(np.arange, cells.shape[1:]))
    return PNTable(thresholds, *cells.astype(float), "any", None)


SHAPES = [(2, 9), (9, 2), (2, 2, 5), (4, 2, 3), (2,), (1, 3), (6, 6), (2, 3, 2, 3)]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("digits", [0, 16])
def test_tables_of_any_shape_and_weights_of_many_digits(shape, digits):
    for seed in range(5):
        rng = np.random.default_rng(seed)
        draw_cells = rng.random if digits else partial(rng.integers, 0, 9)
        cells = draw_cells(size=(2, *shape)) ** (5 if digits else 1)
        # Nothing is beyond the highest thresholds, and both classes are at the lowest.
        cells[(slice(None), *[-1] * len(shape))] = 0
        cells[(slice(None), *[0] * len(shape))] += 1
        table = table_of(cells)
        if min(table.fp.flat[0], table.tp.flat[0]) == 0:
            continue
        path = table.optimal_path()
        expected = float(best_area(table.fp, table.tp))
        assert path.area == pytest.approx(expected, rel=1e-13 if digits else 0)
        steps = np.diff(path.thresholds, axis=0)
        assert (steps >= 0).all()
        assert (steps.sum(axis=1) == 1).all()


def test_one_classifier_has_all_its_cuts_whatever_the_grid():
    scores, y = draw(3000, 1, share=0.05)
    for method in ("graph", "analytic"):
        path = optimal_path(scores, y, method=method, n_thresholds=2)
        area = roc_auc_score(y, scores) * y.sum() * (1 - y).sum()
        assert path.area == pytest.approx(area)
        for slope in (0.05, 0.2, 0.5):
            gains = [
                (y[scores[:, 0] >= t] * (1 + slope) - slope).sum() for t in scores[:, 0]
            ]
            found = np.max(path.tp - slope * path.fp)
            assert found == pytest.approx(max(0.0, *gains))


def test_thresholds_are_halfway_between_scores():
    """Halfway to the next lower one, whether rated or not; not below the ratings."""
    chance = [1, 1, 0.5, 1, np.nan]
    for y, last, chances, expected in (
        ([0, 1, -1, 1, -1], [0.0], chance, [1, 1.5, 5.5]),
        ([0, 1, 0, 1, -1], [0.5], None, [1.0, 1.5, 3.0, 5.5]),
        ([0, 1, 0, 1], [], None, [-np.inf, 1.5, 3.0, 5.5]),
    ):
        path = optimal_path([1.0, 2.0, 4.0, 7.0, *last], y, inclusion_proba=chances)
        assert path.thresholds[:, 0].tolist() == [*expected, np.inf]


@RULES
@pytest.mark.parametrize("n_samples", [20, pytest.param(150, marks=pytest.mark.slow)])
def test_pairs_are_mostly_the_global_optimum_of_three(rule, n_samples):
    gaps = np.zeros(n_samples)
    for seed in range(n_samples):
        scores, y = draw((60, 300, 1000)[seed % 3], 3, seed, 0.2, (0.5, 1)[seed % 2])
        options = {"rule": rule, "n_thresholds": 10}
        best = optimal_path(scores, y, **options).area
        with config_context(**PAIRS):
            path = optimal_path(scores, y, **options)
        gaps[seed] = 1 - path.area / best
    assert gaps.min() >= 0
    assert (gaps == 0).mean() >= 0.9
    assert gaps.max() <= 0.007


@given(sample=samples(max_classifiers=3, weights=False))
def test_pairs_say_what_they_count(sample):
    with config_context(working_memory=1e-3):
        path = optimal_path(**sample, n_thresholds=4)
    assert_is_path(path, Counted(**sample))
    best = optimal_path(**sample, n_thresholds=4)
    if sample["scores"].shape[1] < 3:
        assert path.area == best.area
    assert path.area <= best.area


@RULES
@pytest.mark.parametrize(
    "n_classifiers", [10, pytest.param(20, marks=pytest.mark.slow)]
)
def test_many_classifiers(rule, n_classifiers):
    scores, y = draw(500, n_classifiers, share=0.2, seen=0.7)
    path = optimal_path(scores, y, rule=rule, n_thresholds=10)
    single = [pn_table(column, y, n_thresholds=10) for column in scores.T]
    assert path.area > max(table.optimal_path().area for table in single)
    assert path.area == trapezoids(path.fp, path.tp)
    # Each document is where its scores, one by one, would put it.
    reached = [np.searchsorted(*pair, side="right") - 1
               for pair in zip(path.thresholds.T, scores.T, strict=True)]  # fmt: skip
    expected = (np.max if rule == "any" else np.min)(reached, axis=0)
    np.testing.assert_array_equal(path.locate(scores), expected)
    for vertex in (0, len(path) // 2, len(path) - 2):
        is_predicted = expected >= vertex
        counts = path.fp[vertex], path.tp[vertex]
        assert counts == ((is_predicted > y).sum(), (is_predicted & y).sum())


def test_grids_that_do_not_fit_and_no_direct_path():
    scores, y = draw(5000, 2)
    with config_context(working_memory=0.1):
        with pytest.raises(ValueError, match="at most 57 n_thresholds for each"):
            optimal_path(scores, y, n_thresholds=500)
        optimal_path(scores, y, n_thresholds=57)
    with pytest.raises(ValueError, match="method must be one of"):
        optimal_path(scores, y, method="direct")


@given(sample=samples(max_documents=8))
def test_smooth_paths_say_what_they_count(sample):
    counted = Counted(**sample)
    path = optimal_path(**sample, method="analytic")
    assert_is_path(path, counted)
    assert path.area <= path.fp[0] * path.tp[0]
    assert len(path) <= 2 * np.sum(sample["y"] == 1) + 2
