"""Methods of rows over the parts of collections: what one call gives, bit for bit."""

from functools import partial

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from dask_ml.wrappers import ParallelPostFit
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_digits
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from sklearn_reject import (
    DeferringClassifier,
    DoubleScoreOODClassifier,
    EnsembleThresholdTuner,
    ExpectedLossDecoder,
    SelectiveClassifier,
    SelectiveRegressor,
    metrics,
)
from sklearn_reject.scores import LossRegression
from sklearn_reject.selection import solve_target_risk

# The probabilities of a tree are not honest, which the decoder says.
pytestmark = pytest.mark.filterwarnings(
    "ignore:Out of sample, the expected:sklearn_reject.exceptions.RejectionWarning"
)

DIGITS, NUMBERS = load_digits(return_X_y=True)
X, y = DIGITS[:900], NUMBERS[:900]
X_NEW = DIGITS[900:1200]
NAMES = np.array(
    ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
)
TREE = DecisionTreeClassifier(max_depth=4, random_state=0)
EXPERT = DecisionTreeClassifier(max_depth=8, random_state=0)
SEEDED = {"cv": 0.5, "random_state": 0}
SELECTIVE = SelectiveClassifier(TREE, target_coverage=0.7, **SEEDED)

MODELS = {
    "text": (SELECTIVE, NAMES[y]),
    "regressor": (
        SelectiveRegressor(
            DecisionTreeRegressor(max_depth=4, random_state=0),
            uncertainty_score=LossRegression(DecisionTreeRegressor(max_depth=3)),
            target_coverage=0.6,
            **SEEDED,
        ),
        y,
    ),
    "double": (
        DoubleScoreOODClassifier(
            TREE, novelty_score="msp", min_tpr=0.63, max_fpr=1.0, **SEEDED
        ),
        np.where(y == 9, -1, y),
    ),
    "defers": (
        DeferringClassifier(
            TREE, EXPERT, max_deferral=0.2, gain_score="confidence", **SEEDED
        ),
        NAMES[y],
    ),
    "sets of classes": (ExpectedLossDecoder(TREE, loss="f_beta"), y),
    "tuner": (
        EnsembleThresholdTuner(
            [("tree", TREE), ("bayes", GaussianNB())],
            min_recall=0.5,
            cv=3,
            pos_label="odd",
        ),
        np.where(y % 2, "odd", "even"),
    ),
}
# Those of rows, of which each estimator has some.
METHODS = [
    *("predict", "predict_label", "predict_proba", "uncertainty", "accept"),
    *("accept_proba", "predict_first", "defer", "gain", "predict_set"),
    *("decision_function", "joint_scores"),
]


def methods_of(model):
    return [method for method in METHODS if hasattr(model, method)]


@pytest.fixture(scope="module", params=MODELS)
def fitted(request):
    model, labels = MODELS[request.param]
    model = clone(model).fit(X, labels)
    return model, methods_of(model)


def map_rows(method, rows, whole):
    """Map a method over a Dask array, given what it returns for all rows."""
    if whole.ndim > 1:
        chunks = (rows.chunks[0], (whole.shape[1],))
        return rows.map_blocks(method, chunks=chunks, dtype=whole.dtype)
    return rows.map_blocks(method, drop_axis=1, dtype=whole.dtype)


def assert_maps(model, methods, X_new, size):
    rows = da.from_array(X_new, chunks=(size, -1))
    whole = {method: getattr(model, method)(X_new) for method in methods}
    lazy = {
        method: map_rows(getattr(model, method), rows, some)
        for method, some in whole.items()
    }
    for method, found in dask.compute(lazy)[0].items():
        assert found.dtype == whole[method].dtype, method
        np.testing.assert_array_equal(found, whole[method], err_msg=method)


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_blocks_of_an_array(fitted, size):
    with dask.config.set(scheduler="synchronous"):
        assert_maps(*fitted, X_NEW if size > 1 else X_NEW[:60], size)


def test_two_processes(fitted, cluster):
    assert_maps(*fitted, X_NEW, 75)


# Data frames


def make_frame(n, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "color": rng.choice(["red", "green", "blue"], n),
            "kind": pd.Categorical(rng.choice(list("abc"), n), categories=list("abc")),
            "day": pd.Timestamp("2026-01-01") + pd.to_timedelta(np.arange(n), "h"),
            "number": np.arange(n) % 5,
            "size": rng.normal(size=n).round(2),
        }
    )
    loud = (frame["color"] == "red") + (frame["kind"] == "a")
    noisy = frame["size"] + loud + rng.normal(size=n)
    return frame, np.where(noisy > 0.6, "loud", "quiet")


@pytest.fixture(scope="module")
def of_frames():
    encode = make_column_transformer(
        (OneHotEncoder(), ["color", "kind"]),
        ("passthrough", ["number", "size"]),
        verbose_feature_names_out=False,
    )
    small = DecisionTreeClassifier(max_depth=2, random_state=0)
    model = SelectiveClassifier(
        make_pipeline(encode, small), target_coverage=0.5, **SEEDED
    ).fit(*make_frame(600))
    frame, _ = make_frame(250, seed=1)
    tied = (model.accept_proba(frame) % 1 > 0).sum()
    assert tied > 20
    return model, frame


@pytest.mark.parametrize("size", [1, 7, 1000])
@pytest.mark.parametrize("strings", ["object", "arrow"])
def test_partitions_of_a_data_frame(of_frames, strings, size):
    """Dask's own frames have strings of Arrow."""
    model, frame = of_frames
    frame = frame if size > 1 else frame[:40]
    with dask.config.set(
        {"dataframe.convert-string": strings == "arrow", "scheduler": "synchronous"}
    ):
        parts = dd.from_pandas(frame, chunksize=size, sort=False)
        for method in methods_of(model):
            whole = getattr(model, method)(frame)
            found = parts.map_partitions(getattr(model, method), meta=whole[:0])
            np.testing.assert_array_equal(found.compute(), whole)


def table_of(model, frame):
    decisions = model.predict_all(frame)
    return pd.DataFrame(decisions._asdict(), index=frame.index)


def test_all_decisions_as_a_data_frame(of_frames, cluster):
    model, frame = of_frames
    parts = dd.from_pandas(frame, npartitions=4)
    whole = table_of(model, frame)
    found = parts.map_partitions(partial(table_of, model), meta=whole[:0])
    pd.testing.assert_frame_equal(found.compute(), whole, check_dtype=False)


def test_keys_of_a_column(of_frames):
    model, frame = of_frames
    parts = dd.from_pandas(frame.assign(id=np.arange(len(frame))), npartitions=6)
    whole = model.accept(frame, keys=np.arange(len(frame)))
    assert (whole != model.accept(frame)).any()
    inputs, ids = parts.drop(columns="id"), parts["id"]
    found = inputs.map_partitions(model.accept, ids, meta=whole[:0]).compute()
    np.testing.assert_array_equal(found, whole)


@pytest.mark.parametrize("size", [1, 7, 1000])
@pytest.mark.parametrize("types_mapper", [None, pd.ArrowDtype])
def test_batches_of_arrow(of_frames, size, types_mapper):
    model, frame = of_frames
    frame = frame if size > 7 else frame[: 30 * size]
    batches = pa.Table.from_pandas(frame).to_batches(max_chunksize=size)
    batches = [batch.to_pandas(types_mapper=types_mapper) for batch in batches]
    assert_same_of_parts(model, ("predict", "accept", "uncertainty"), frame, batches)


def test_batches_of_numbers_as_they_come(fitted):
    """scikit-learn takes those of Arrow for arrays."""
    table = pa.table({f"x{k}": column for k, column in enumerate(X_NEW.T)})
    assert_same_of_parts(*fitted, X_NEW, table.to_batches(max_chunksize=50))


def assert_same_of_parts(model, methods, whole, parts):
    for method in methods:
        found = [getattr(model, method)(part) for part in parts]
        expected = getattr(model, method)(whole)
        np.testing.assert_array_equal(np.concatenate(found), expected)


def test_keys_are_of_values_and_not_of_types(of_frames):
    """Whatever type a partition has them in, with missing ones, too."""
    _, frame = of_frames
    frame = frame.head(30).assign(
        zone=frame["day"].dt.tz_localize("UTC").dt.tz_convert("Asia/Tokyo"),
        gap=frame["number"].where(frame["number"] > 1),
        span=frame["day"] - frame["day"][3],
        flag=frame["number"] > 2,
        name=frame["color"].where(frame["number"] != 3),
    )
    table = pa.Table.from_pandas(frame, preserve_index=False)
    forms = [
        frame.convert_dtypes(),
        frame.convert_dtypes(dtype_backend="pyarrow"),
        frame.astype(object),
        table,
        table.to_pandas(types_mapper=pd.ArrowDtype),
        table.to_batches()[0],
    ]
    # All rows are at the threshold, where each is accepted or not by its key.
    model = SelectiveClassifier(
        DummyClassifier(),
        uncertainty_score=lambda estimator, X: np.zeros(len(estimator.predict(X))),
        target_coverage=0.5,
        cv=0.5,
        random_state=0,
    ).fit(frame, np.arange(len(frame)) % 2)
    accepted = model.accept(frame)
    assert 5 < accepted.sum() < 25
    for form in forms:
        np.testing.assert_array_equal(model.accept(form), accepted)


# dask-ml


def test_parallel_post_fit(fitted, cluster):
    model, methods = fitted
    rows = da.from_array(X_NEW, chunks=(75, -1))
    for method in {"predict", "predict_proba"} & set(methods):
        whole = getattr(model, method)(X_NEW)
        wrapped = ParallelPostFit(estimator=model, **{f"{method}_meta": whole[:0]})
        found = getattr(wrapped, method)(rows)
        np.testing.assert_array_equal(found.compute(), whole)


def test_parallel_post_fit_fits_what_is_in_memory():
    wrapped = ParallelPostFit(estimator=clone(SELECTIVE)).fit(X, NAMES[y])
    expected = clone(SELECTIVE).fit(X, NAMES[y]).predict(X_NEW)
    np.testing.assert_array_equal(wrapped.predict(X_NEW), expected)


# What is rounded


@pytest.mark.parametrize("size", [1, 7])
def test_rounding_by_the_size_of_a_batch_changes_no_decision(size):
    """Linear algebra rounds by it."""
    # Most rows come many times, and the coverage parts the copies of one row.
    copies = np.repeat(X[:90], 10, axis=0)
    linear = make_pipeline(StandardScaler(), LogisticRegression(C=0.01))
    model = SelectiveClassifier(linear, target_coverage=0.437, random_state=0)
    model.fit(copies, np.repeat(NAMES[y[:90]], 10))
    rows = np.vstack([X_NEW[:30], X[:90]])
    blocks = da.from_array(rows, chunks=(size, -1))
    for method in ("predict", "predict_label", "accept", "accept_proba"):
        expected = getattr(model, method)(rows)
        found = map_rows(getattr(model, method), blocks, expected)
        np.testing.assert_array_equal(found.compute(scheduler="sync"), expected)


# What is refused


def test_partitions_of_other_columns(of_frames):
    """What is there is found by its name where names are looked at, or refused."""
    model, frame = of_frames
    backwards, more = frame.iloc[:, ::-1], frame.assign(id=range(len(frame)))
    parts = [dask.delayed(part[:50]) for part in (frame, backwards, more)]
    parts.append(dask.delayed(frame.drop(columns="size")[:50]))
    labels = [dask.delayed(model.predict)(part) for part in parts]
    same = dask.compute(*labels[:3], scheduler="sync")
    for each in same:
        np.testing.assert_array_equal(each, model.predict(frame[:50]))
    with pytest.raises(ValueError, match="columns are missing"):
        labels[3].compute(scheduler="sync")


COLLECTIONS = {
    "array": da.from_array(X, chunks=(300, -1)),
    "unknown sizes": da.from_array(X, chunks=(300, -1))[da.ones(900, chunks=300) > 0],
    "frame": dd.from_pandas(pd.DataFrame(X), npartitions=3),
    "series": dd.from_pandas(pd.Series(y), npartitions=3),
    "delayed": dask.delayed(X),
}


@pytest.mark.parametrize("name", COLLECTIONS)
def test_collections_are_not_computed(name):
    """Neither silently nor at all: a callback counts what is."""
    computed, whole = [], COLLECTIONS[name]
    model = clone(SELECTIVE).fit(X, NAMES[y])
    for function, args, words in (
        (clone(model).fit, (whole, y), r"X is a Dask .*compute"),
        (clone(model).fit, (X, whole), r"y is a Dask .*compute"),
        (model.score, (whole, y), r"X is a Dask .*compute"),
        (model.predict, (whole,), r"sklearn_reject\.dask\.apply_rows\(model\."),
        (metrics.aurc_score, (whole, y, X[:, 0]), r"y_true .*sklearn_reject\.dask"),
        (solve_target_risk, (whole, y, 0.1), r"scores is a .*sklearn_reject\.dask"),
    ):
        with (
            dask.callbacks.Callback(start=computed.append),
            pytest.raises(TypeError, match=words),
        ):
            function(*args)
    assert computed == []
