"""Partitions of several collections are paired, or an error says why they cannot be."""

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression

from sklearn_reject import SelectiveClassifier, metrics
from sklearn_reject.dask import (
    aurc_score,
    solve_target_coverage,
    solve_target_risk,
    summarize,
)
from sklearn_reject.dask._partitions import pair_partitions
from sklearn_reject.exceptions import InfeasibleTargetError
from sklearn_reject.selection import RiskCoverageSummary
from tests.scale.dask_collections import KINDS, collect, cut


@pytest.fixture(autouse=True)
def synchronous():
    with dask.config.set(scheduler="synchronous"):
        yield


def pieces_of(**collections):
    """Return the rows of each partition, by name."""
    return [
        {name: np.asarray(piece).tolist() for name, piece in pieces.items()}
        for pieces in dask.compute(pair_partitions(collections))[0]
    ]


@pytest.mark.parametrize("first", KINDS)
@pytest.mark.parametrize("second", KINDS)
def test_the_same_rows_of_each(first, second):
    values = np.arange(7)
    found = pieces_of(
        scores=cut(values, (3, 0, 4), first), losses=cut(-values, (3, 0, 4), second)
    )
    assert found == [
        {"scores": [0, 1, 2], "losses": [0, -1, -2]},
        {"scores": [], "losses": []},
        {"scores": [3, 4, 5, 6], "losses": [-3, -4, -5, -6]},
    ]


@given(
    borders=st.lists(
        st.lists(st.integers(0, 12), max_size=5).map(sorted), min_size=2, max_size=3
    )
)
def test_other_chunks_are_cut_finer(borders):
    values = np.arange(12)
    sizes = [np.diff([0, *inner, 12]).tolist() for inner in borders]
    arrays = {f"part{i}": cut(values + i, of_one) for i, of_one in enumerate(sizes)}
    found = pieces_of(**arrays)
    for i in range(len(arrays)):
        rows = [value for pieces in found for value in pieces[f"part{i}"]]
        assert rows == (values + i).tolist()
    assert max(len(pieces["part0"]) for pieces in found) <= min(map(max, sizes))
    for pieces in found:
        assert len({len(piece) for piece in pieces.values()}) == 1


def test_several_outputs_stay_together():
    table = da.from_array(np.arange(12).reshape(4, 3), chunks=(2, 1))
    found = pieces_of(y_true=table, uncertainty=cut(np.arange(4), (2, 2)))
    assert found[1]["y_true"] == [[6, 7, 8], [9, 10, 11]]


@pytest.mark.parametrize("kind", ["array", "column"])
def test_what_they_share_is_computed_once_a_pass(kind):
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
    solve_target_coverage(scores, losses, 0.5)
    assert made == [2, 2, 2] * 3


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (np.arange(6.0), r"losses must be a dask array .* got ndarray.*from_array"),
        ([0.0] * 6, "got list"),
        (dask.delayed([0.0] * 6), r"losses is a dask Delayed.*from_delayed"),
        (cut(np.zeros(5), (3, 2)), "losses has 5 rows, but scores has 6"),
        (
            cut(np.zeros(6), (2, 2, 2), "unknown"),
            r"3 partitions.*scores has 2.*losses.compute_chunk_sizes\(\)",
        ),
        (
            cut(np.zeros(6), (2, 2, 2), "column"),
            r"losses.to_dask_array\(\).compute_chunk_sizes\(\) and scores.compute_ch",
        ),
        (
            cut(np.zeros(6), (2, 4), "unknown"),
            r"In partition \d, losses has \d rows, but scores has 3.*compute_chunk",
        ),
        (da.zeros((6, 2, 2), chunks=3), "3 dimensions"),
        (da.zeros((6, 2), chunks=3), r"In partition \d, losses must be a vector"),
    ],
    ids=[
        *("in memory", "list", "delayed", "fewer rows", "other number unknown"),
        *("other number of columns", "other rows", "three dimensions", "a table"),
    ],
)
def test_what_cannot_be_paired(other, message):
    with pytest.raises(ValueError, match=message):
        summarize(cut(np.arange(6.0), (3, 3)), other)


def test_chunks_that_differ_beside_a_column():
    arrays = cut(np.zeros(6), (3, 3)), cut(np.zeros(6), (2, 4))
    weight = cut(np.ones(6), (3, 3), "column")
    with pytest.raises(ValueError, match=r"sample_weight is a column.*_sizes\(\)"):
        summarize(*arrays, weight)
    assert (
        summarize(*arrays, weight.to_dask_array().compute_chunk_sizes()).n_samples == 6
    )


def test_columns_cut_at_other_labels():
    frame = pd.DataFrame({"s": [0.1, 0.2, 0.3, 0.4], "l": [0, 0, 1, 1]})
    frame = dd.from_pandas(frame, npartitions=2)
    other = frame.repartition(divisions=[0, 1, 3])
    with pytest.raises(
        ValueError, match=r"losses and scores are .* different divisions"
    ):
        summarize(frame["s"], other["l"])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ([0.1, np.nan, 0.3], "In partition 2, scores must be finite, got nan in row 1"),
        ([0.1, np.inf, 0.3], "In partition 2, scores must be finite, got inf in row 1"),
        (["a", "b", "c"], "In partition 2, scores must hold numbers"),
        ([1j, 0, 0], "In partition 2, scores must hold real numbers"),
    ],
    ids=["nan", "infinite", "texts", "complex"],
)
def test_the_partition_at_fault_is_named(kind, bad, message):
    good = np.array([0.1, 0.2, 0.3])
    scores = collect([good, good, np.array(bad)], kind)
    losses = cut(np.zeros(9), (3, 3, 3), kind)
    with pytest.raises(ValueError, match=message):
        summarize(scores, losses)


def test_masked_values():
    masked = np.ma.array([0.1, 0.2, 0.3, 0.4], mask=[0, 0, 0, 1])
    scores, losses = da.from_array(masked, chunks=2), cut(np.zeros(4), (2, 2))
    with pytest.raises(ValueError, match="In partition 1, scores is a masked array"):
        summarize(scores, losses)
    with pytest.raises(ValueError, match="In partition 1, y_true is a masked array"):
        aurc_score(scores, losses, losses, loss="squared")


def test_no_samples_at_all():
    with pytest.raises(ValueError, match="No partition has a sample"):
        summarize(cut(np.zeros(0), (0, 0)), cut(np.zeros(0), (0, 0)))
    zeros = cut(np.zeros(4), (2, 2))
    with pytest.raises(ValueError, match="No partition has a sample"):
        summarize(zeros, zeros, zeros)


def test_empty_partitions_of_another_type():
    scores, losses = (
        dd.from_map(pd.Series, [[], [0.1, 0.2]], meta=pd.Series(dtype=float))
        for _ in range(2)
    )
    assert summarize(scores, losses).n_samples == 2


def test_errors_come_back_from_other_processes(cluster):
    bad = np.array([0.1, np.nan, 0.3])
    scores, losses = collect([np.zeros(3), bad]), cut(np.zeros(6), (3, 3))
    with dask.config.set(scheduler=cluster):
        with pytest.raises(ValueError, match="In partition 1, scores must be finite"):
            summarize(scores, losses)
        ones = cut(np.ones(6), (3, 3))
        with pytest.raises(InfeasibleTargetError, match="lowest selective risk is 1"):
            solve_target_risk(cut(np.arange(6.0), (3, 3)), ones, 0.5)


@pytest.mark.parametrize("kind", ["array", "column"])
def test_predictions_of_a_model_on_partitions(kind):
    X, y = make_classification(300, n_informative=4, flip_y=0.2, random_state=0)
    selective = SelectiveClassifier(
        LogisticRegression(), target_coverage=0.8, random_state=0
    ).fit(X[:100], y[:100])
    X, y = X[100:], y[100:]
    if kind == "array":
        rows, y_true = da.from_array(X, chunks=(60, X.shape[1])), da.from_array(y, 60)
        uncertainty = rows.map_blocks(
            selective.uncertainty, drop_axis=1, meta=np.zeros(0)
        )
        y_pred = rows.map_blocks(selective.predict_label, drop_axis=1, meta=y[:0])
    else:
        frame = dd.from_pandas(pd.DataFrame(X).assign(y=y), npartitions=4)

        def on_partitions(method, dtype):
            return frame.drop(columns="y").map_partitions(
                lambda part: pd.Series(method(part.to_numpy()), index=part.index),
                meta=pd.Series(dtype=dtype),
            )

        y_true = frame["y"]
        uncertainty = on_partitions(selective.uncertainty, float)
        y_pred = on_partitions(selective.predict_label, int)
    expected = metrics.aurc_score(
        y, selective.predict_label(X), selective.uncertainty(X)
    )
    assert aurc_score(y_true, y_pred, uncertainty) == pytest.approx(expected, rel=1e-12)


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
    for scores, losses in (
        (wide, narrow),
        (files["x1"], narrow.to_dask_array()),
        (files["x1"].to_dask_array(), narrow.to_dask_array()),
    ):
        summary = summarize(scores, losses)
        expected = RiskCoverageSummary().update(frame["x1"], frame["loss"])
        assert summary.to_dict() == expected.to_dict()
    arrays = wide.to_dask_array(), narrow.to_dask_array()
    with pytest.raises(ValueError, match=r"Pass losses.compute_chunk_sizes\(\) and"):
        summarize(*arrays)
    # Dask itself counts other partitions for `lengths=True`.
    assert summarize(*(each.compute_chunk_sizes() for each in arrays)).n_samples == n
