"""Summaries and tables of dask collections are those of the same arrays in memory."""

import inspect

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sklearn_reject import dask as of_dask
from sklearn_reject.dask import summarize
from sklearn_reject.selection import RiskCoverageSummary
from sklearn_reject.thresholds import pn_table
from tests.scale.dask_collections import KINDS, collect, cut, sizes_of
from tests.test_public_api import check_parameters, parameters, section

GRID = [[-0.5, 0.0, 0.5, 1.0], [-1.0, 0.2]]


@pytest.fixture(autouse=True)
def synchronous():
    with dask.config.set(scheduler="synchronous"):
        yield


def draw_losses(n_rows, seed=0):
    """Return scores with ties, 0/1 losses that rise with them, and weights."""
    rng = np.random.default_rng(seed)
    scores = np.round(rng.normal(size=n_rows), 1)
    losses = rng.random(n_rows) < 0.6 / (1 + np.exp(-2 * scores))
    return scores, losses.astype(float), rng.integers(1, 4, size=n_rows) / 4


def draw_ratings(n_rows, seed=0):
    """Return scores of two classifiers with gaps, ratings, weights, probabilities."""
    rng = np.random.default_rng(seed)
    y = rng.integers(2, size=n_rows)
    scores = np.round(rng.normal(size=(n_rows, 2)) + y[:, np.newaxis], 1)
    scores[rng.random((n_rows, 2)) < 0.1] = np.nan
    return scores, y, rng.integers(4, size=n_rows) / 2, rng.uniform(0.2, 1, n_rows)


def assert_same_summary(summary, arrays):
    """Compare cells: quarters add up without rounding, in any order."""
    assert summary.to_dict() == RiskCoverageSummary().update(*arrays).to_dict()


def assert_same_table(table, expected, rel=0):
    for own, other in zip(table.thresholds, expected.thresholds, strict=True):
        np.testing.assert_array_equal(own, other)
    np.testing.assert_allclose(table.fp, expected.fp, rtol=rel)
    np.testing.assert_allclose(table.tp, expected.tp, rtol=rel)
    assert table.rule == expected.rule


@pytest.mark.parametrize("is_weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("size", "n_rows"), [(1, 40), (7, 100), (1000, 2500)])
def test_summaries(size, n_rows, kind, is_weighted):
    arrays = draw_losses(n_rows)[: 2 + is_weighted]
    sizes = sizes_of(n_rows, size, with_empty=True)
    columns = [cut(values, sizes, kind) for values in arrays]
    assert_same_summary(summarize(*columns), arrays)
    delayed = summarize(*columns, compute=False)
    assert dask.is_dask_collection(delayed)
    assert_same_summary(delayed.compute(), arrays)


@pytest.mark.parametrize("rule", ["any", "all"])
@pytest.mark.parametrize("kind", ["array", "unknown"])
@pytest.mark.parametrize("size", [1, 7, 1000])
def test_tables(size, kind, rule):
    scores, y, weight, inclusion_proba = draw_ratings(60)
    sizes, options = sizes_of(60, size, with_empty=True), {"rule": rule}
    columns = cut(scores, sizes, kind), cut(y, sizes, kind)
    table = of_dask.pn_table(*columns, thresholds=GRID, **options)
    assert_same_table(table, pn_table(scores, y, thresholds=GRID, **options))
    more = {"sample_weight": weight, "inclusion_proba": inclusion_proba}
    cut_more = {name: cut(values, sizes, kind) for name, values in more.items()}
    table = of_dask.pn_table(*columns, thresholds=GRID, **options, **cut_more)
    expected = pn_table(scores, y, thresholds=GRID, **options, **more)
    assert_same_table(table, expected, rel=1e-12)


@given(
    borders=st.lists(
        st.lists(st.integers(0, 30), max_size=6).map(sorted), min_size=3, max_size=3
    ),
    n_rows=st.integers(2, 30),
    seed=st.integers(0, 99),
)
def test_any_cut(borders, n_rows, seed):
    """Arrays may have other chunks each: they are cut again."""
    sizes = [
        np.diff([0, *np.minimum(inner, n_rows), n_rows]).tolist() for inner in borders
    ]
    arrays = draw_losses(n_rows, seed)
    columns = [cut(values, each) for values, each in zip(arrays, sizes, strict=True)]
    assert_same_summary(summarize(*columns), arrays)
    scores, y, *_ = draw_ratings(n_rows, seed)
    y = np.where(np.isnan(scores).all(axis=1), -1, y)  # not rated, and reached by none
    table = of_dask.pn_table(cut(scores, sizes[0]), cut(y, sizes[1]), thresholds=GRID)
    assert_same_table(table, pn_table(scores, y, thresholds=GRID))


def test_blocks_of_unknown_size_beside_known_ones():
    arrays = draw_losses(7)
    kinds = "array", "unknown", "array"
    columns = [
        cut(values, (3, 0, 4), kind) for values, kind in zip(arrays, kinds, strict=True)
    ]
    assert_same_summary(summarize(*columns), arrays)


def test_tables_of_columns_of_a_dataframe():
    scores, y, *_ = draw_ratings(60)
    names = np.array(["no", "yes"])
    frame = pd.DataFrame(scores, columns=["a", "b"]).assign(y=names[y])
    frame = dd.from_pandas(frame, npartitions=4)
    options = {"thresholds": GRID, "pos_label": "yes"}
    table = of_dask.pn_table(frame[["a", "b"]], frame["y"], **options)
    assert_same_table(table, pn_table(scores, names[y], **options))
    options["thresholds"] = GRID[:1]
    delayed = of_dask.pn_table(frame["a"], frame["y"], **options, compute=False)
    assert dask.is_dask_collection(delayed)
    expected = pn_table(scores[:, 0], names[y], **options)
    assert_same_table(delayed.compute(), expected)


@pytest.mark.parametrize("kind", ["array", "column"])
def test_what_they_share_is_computed_once(kind):
    made = []

    def model(rows):
        made.append(len(rows))
        return rows

    if kind == "array":
        table = da.from_array(np.arange(12.0).reshape(6, 2), chunks=(2, 2))
        table = table.map_blocks(model, meta=np.zeros((0, 2)))
        scores, losses = table[:, 0], table[:, 1]
    else:
        frame = pd.DataFrame(np.arange(12.0).reshape(6, 2), columns=["s", "l"])
        frame = dd.from_pandas(frame, npartitions=3).map_partitions(
            model, meta=frame[:0]
        )
        scores, losses = frame["s"], frame["l"]
    made.clear()
    summarize(scores, losses)
    assert made == [2, 2, 2]


ZEROS, NUMBERS = np.zeros(6), cut(np.arange(6.0), (3, 3))
MASKED = np.ma.array(ZEROS, mask=[0, 0, 0, 0, 0, 1])
FRAME = dd.from_pandas(pd.DataFrame({"s": np.arange(4.0), "l": 0}), npartitions=2)
EMPTY, NEGATIVE = cut(ZEROS[:0], (0, 0)), -np.eye(6)[5]


@pytest.mark.parametrize(
    ("columns", "options", "message"),
    [
        ([NUMBERS, ZEROS], {}, r"losses must be a dask array.* got ndarray.*from_arr"),
        ([NUMBERS, [0.0] * 6], {}, "got list"),
        (
            [NUMBERS, dask.delayed(ZEROS)],
            {},
            "losses must be .*got Delayed.*from_delayed",
        ),
        (
            [NUMBERS, cut(ZEROS[:5], (3, 2))],
            {},
            "In partition 1, numbers of rows differ: .*scores': 3, 'losses': 2",
        ),
        (
            [NUMBERS, cut(ZEROS, (2, 2, 2), "unknown")],
            {},
            r"cut at other rows: .*'losses': 3.* array.compute_chunk_sizes\(\)",
        ),
        (
            [NUMBERS, cut(ZEROS, (2, 2, 2), "column")],
            {},
            r"array.compute_chunk_sizes\(\) and column.to_dask_array\(\).compute_ch",
        ),
        (
            [NUMBERS, cut(ZEROS, (2, 4), "unknown")],
            {},
            r"In partition \d, num.* differ: {'scores': 3, 'losses': \d.*compute_ch",
        ),
        (
            [FRAME["s"], FRAME.repartition(divisions=[0, 1, 3])["l"]],
            {},
            "cut at other rows.*such as a join of dataframes",
        ),
        ([NUMBERS, da.zeros((6, 2, 2), chunks=3)], {}, "losses must be a v"),
        ([NUMBERS.sum(), NUMBERS], {}, "scores must be a dask array"),
        ([FRAME["s"].sum(), FRAME["l"]], {}, "scores must be a dask array"),
        ([NUMBERS, da.zeros((6, 2), chunks=3)], {}, r"losses must be a vector"),
        ([NUMBERS, cut(NEGATIVE, (3, 3))], {}, "In partition 1, losses must be non-"),
        ([da.from_array(MASKED, 3), NUMBERS], {}, "In partition 1, scores is a masked"),
        ([NUMBERS, NUMBERS], {"n_bits": 3}, "n_bits must be in"),
    ],
)
def test_what_cannot_be_summarized(columns, options, message):
    with pytest.raises(ValueError, match=message):
        summarize(*columns, **options)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ([0.1, np.nan, 0.3], "In partition 2, scores must be finite, got nan in row 1"),
        (["a", "b", "c"], "In partition 2, scores must hold numbers"),
        ([1j, 0, 0], "In partition 2, scores must hold real numbers"),
    ],
    ids=["nan", "texts", "complex"],
)
def test_the_partition_at_fault_is_named(kind, bad, message):
    good = np.array([0.1, 0.2, 0.3])
    scores = collect([good, good, np.array(bad)], kind)
    with pytest.raises(ValueError, match=message):
        summarize(scores, cut(np.zeros(9), (3, 3, 3), kind))


@pytest.mark.parametrize("columns", [[EMPTY] * 2, [NUMBERS] * 2 + [0 * NUMBERS]])
def test_summaries_of_no_samples_say_so(columns):
    with pytest.raises(ValueError, match="The summary has no samples"):
        summarize(*columns).aurc()


def test_empty_partitions_of_another_type():
    scores, losses = (
        dd.from_map(pd.Series, [[], [0.1, 0.2]], meta=pd.Series(dtype=float))
        for _ in range(2)
    )
    assert summarize(scores, losses).n_samples == 2


def test_bad_ratings():
    scores, y = cut(np.arange(6.0) / 10, (3, 3)), cut([0, 1, 0, 1, 0, 1], (3, 3))
    infinite = collect([np.array([0.1, 0.2, 0.3]), np.array([0.1, np.inf, 0.2])])
    unrated, texts = cut([0, 1, 0, 1, 0, -1], (3, 3)), cut([*"nnnyyy"], (3, 3))
    for arguments, grid, message in (
        ((scores, y), [0.3, 0.2], "thresholds of classifier 0 must be"),
        ((scores, unrated), [0.1], "In partition 1, y: row 2 is unrated"),
        ((infinite, y), [0.1], "In partition 1, scores must be finite"),
        ((scores, [0, 1] * 3), [0.1], "y must be a dask array"),
        ((scores, texts), [0.1], r"In partition \d, y holds .*as pos_label"),
    ):
        with pytest.raises(ValueError, match=message):
            of_dask.pn_table(*arguments, thresholds=[grid])


def test_two_processes(cluster):
    arrays, (ratings, y, *_) = draw_losses(300), draw_ratings(300)
    sizes = sizes_of(300, 80)
    with dask.config.set(scheduler=cluster):
        summary = summarize(*[cut(values, sizes, "column") for values in arrays])
        table = of_dask.pn_table(cut(ratings, sizes), cut(y, sizes), thresholds=GRID)
        bad = collect([np.zeros(3), np.array([0.1, np.nan, 0.3])])
        with pytest.raises(ValueError, match="In partition 1, scores must be finite"):
            summarize(bad, cut(ZEROS, (3, 3)))
    assert_same_summary(summary, arrays)
    assert_same_table(table, pn_table(ratings, y, thresholds=GRID))


def test_files_that_are_read_together(tmp_path):
    """Dask reads some of them as one partition, more where few columns are asked."""
    n = 400
    frame = pd.DataFrame({f"x{k}": np.arange(n) % (k + 2) for k in range(12)})
    frame["loss"] = np.arange(n) % 2
    for start in range(0, n, 20):
        path = tmp_path / f"part.{start:03d}.parquet"
        frame[start : start + 20].to_parquet(path)
    files = dd.read_parquet(tmp_path)
    narrow, wide = files["loss"], files.map_partitions(lambda part: part["x1"])
    few = narrow.optimize(fuse=False).npartitions
    assert few < wide.optimize(fuse=False).npartitions == 20
    arrays = files["x1"].to_dask_array(), narrow.to_dask_array()
    for scores, losses in ((wide, narrow), arrays):
        assert_same_summary(summarize(scores, losses), (frame["x1"], frame["loss"]))
    arrays = wide.to_dask_array(), narrow.to_dask_array()
    with pytest.raises(ValueError, match=r"take array.compute_chunk_sizes\(\) and"):
        summarize(*arrays)
    # Dask itself counts other partitions for `lengths=True`.
    assert summarize(*(each.compute_chunk_sizes() for each in arrays)).n_samples == n


@pytest.mark.parametrize("name", of_dask.__all__)
def test_functions_are_documented(name):
    function = getattr(of_dask, name)
    check_parameters(name, function)
    for title in ("Returns", "Raises", "Examples"):
        assert section(inspect.getdoc(function), title), title


def test_arguments_of_tables_are_those_in_memory():
    own, in_memory = parameters(of_dask.pn_table), parameters(pn_table)
    assert set(own) - set(in_memory) == {"compute"}
    for name in set(own) & set(in_memory):
        # What can be chosen of all documents alone is to be given.
        assert name == "thresholds" or own[name].default == in_memory[name].default
        assert own[name].kind == in_memory[name].kind
