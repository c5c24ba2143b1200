"""Tables of dask collections are those of the same documents in memory."""

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sklearn_reject import dask as of_dask
from sklearn_reject import thresholds as in_memory
from tests.scale.dask_collections import KINDS, collect, cut, sizes_of

GRID = [[-0.5, 0.0, 0.5, 1.0], [-1.0, 0.2]]


@pytest.fixture(autouse=True)
def synchronous():
    with dask.config.set(scheduler="synchronous"):
        yield


def draw(n_rows, seed=0):
    """Return scores of two classifiers with gaps, ratings, weights, inclusion_proba."""
    rng = np.random.default_rng(seed)
    y = rng.integers(2, size=n_rows)
    scores = np.round(rng.normal(size=(n_rows, 2)) + y[:, np.newaxis], 1)
    scores[rng.random((n_rows, 2)) < 0.1] = np.nan
    return scores, y, rng.integers(4, size=n_rows) / 2, rng.uniform(0.2, 1, n_rows)


def assert_same(table, expected, rel=0):
    for own, other in zip(table.thresholds, expected.thresholds, strict=True):
        np.testing.assert_array_equal(own, other)
    np.testing.assert_allclose(table.fp, expected.fp, rtol=rel)
    np.testing.assert_allclose(table.tp, expected.tp, rtol=rel)
    assert table.rule == expected.rule


@pytest.mark.parametrize("rule", ["any", "all"])
@pytest.mark.parametrize("kind", ["array", "unknown"])
@pytest.mark.parametrize("size", [1, 7, 1000])
def test_equal_to_one_call(size, kind, rule):
    scores, y, weight, inclusion_proba = draw(60)
    sizes = sizes_of(60, size, with_empty=True)
    options = {"thresholds": GRID, "rule": rule}
    table = of_dask.pn_table(cut(scores, sizes, kind), cut(y, sizes, kind), **options)
    assert_same(table, in_memory.pn_table(scores, y, **options))
    table = of_dask.pn_table(
        cut(scores, sizes, kind),
        cut(y, sizes, kind),
        sample_weight=cut(weight, sizes, kind),
        inclusion_proba=cut(inclusion_proba, sizes, kind),
        **options,
    )
    options |= {"sample_weight": weight, "inclusion_proba": inclusion_proba}
    assert_same(table, in_memory.pn_table(scores, y, **options), rel=1e-12)


@given(data=st.data(), n_rows=st.integers(2, 30), seed=st.integers(0, 99))
def test_any_cut(data, n_rows, seed):
    borders = data.draw(st.lists(st.integers(0, n_rows), max_size=6).map(sorted))
    sizes = np.diff([0, *borders, n_rows]).tolist()
    scores, y, *_ = draw(n_rows, seed)
    y = np.where(np.isnan(scores).all(axis=1), -1, y)  # not rated, and reached by none
    table = of_dask.pn_table(cut(scores, sizes), cut(y, sizes), thresholds=GRID)
    assert_same(table, in_memory.pn_table(scores, y, thresholds=GRID))


@pytest.mark.parametrize("kind", KINDS)
def test_points_of_the_table(kind):
    scores, y, *_ = draw(200)
    sizes, options = (90, 0, 110), {"max_alerts": 60}
    one = cut(scores[:, 0], sizes, kind), cut(y, sizes, kind)
    table = of_dask.pn_table(*one, thresholds=[GRID[0]])
    expected = in_memory.pn_table(scores[:, 0], y, thresholds=[GRID[0]])
    point, other = table.operating_point(**options), expected.operating_point(**options)
    assert (point.fp, point.tp, point.precision) == (
        other.fp,
        other.tp,
        other.precision,
    )
    assert point.precision_interval == other.precision_interval


def test_columns_of_a_dataframe():
    scores, y, *_ = draw(60)
    names = np.array(["no", "yes"])
    frame = pd.DataFrame(scores, columns=["a", "b"]).assign(y=names[y])
    frame = dd.from_pandas(frame, npartitions=4)
    options = {"thresholds": GRID, "pos_label": "yes"}
    table = of_dask.pn_table(frame[["a", "b"]], frame["y"], **options)
    assert_same(table, in_memory.pn_table(scores, names[y], **options))
    delayed = of_dask.pn_table(frame[["a", "b"]], frame["y"], **options, compute=False)
    assert dask.is_dask_collection(delayed)
    assert_same(delayed.compute(), table)


def test_bad_input():
    scores, y = cut(np.arange(6.0) / 10, (3, 3)), cut([0, 1, 0, 1, 0, 1], (3, 3))
    with pytest.raises(ValueError, match="thresholds of classifier 0 must be"):
        of_dask.pn_table(scores, y, thresholds=[[0.3, 0.2]])
    unrated = cut([0, 1, 0, 1, 0, -1], (3, 3))
    with pytest.raises(ValueError, match="In partition 1, y: row 2 is unrated"):
        of_dask.pn_table(scores, unrated, thresholds=[[0.1]])
    infinite = collect([np.array([0.1, 0.2, 0.3]), np.array([0.1, np.inf, 0.2])])
    with pytest.raises(ValueError, match="In partition 1, scores must be finite"):
        of_dask.pn_table(infinite, y, thresholds=[[0.1]])
    with pytest.raises(ValueError, match="y must be a dask array"):
        of_dask.pn_table(scores, [0, 1] * 3, thresholds=[[0.1]])
    texts = cut(["no", "no", "no", "yes", "yes", "yes"], (3, 3))
    with pytest.raises(ValueError, match=r"In partition \d, y holds .*as pos_label"):
        of_dask.pn_table(scores, texts, thresholds=[[0.1]])


def test_two_processes(cluster):
    scores, y, *_ = draw(300)
    sizes = sizes_of(300, 80)
    with dask.config.set(scheduler=cluster):
        table = of_dask.pn_table(cut(scores, sizes), cut(y, sizes), thresholds=GRID)
    assert_same(table, in_memory.pn_table(scores, y, thresholds=GRID))
