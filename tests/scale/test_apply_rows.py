"""A method applied to the rows of a collection says what one call says of all rows."""

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_digits
from sklearn.exceptions import NotFittedError
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from sklearn_reject import SelectiveClassifier
from sklearn_reject.dask import apply_rows, summarize
from sklearn_reject.selection import RiskCoverageSummary
from tests.scale.dask_collections import cut, sizes_of

DIGITS, NUMBERS = load_digits(return_X_y=True)
X, X_NEW = DIGITS[:900], DIGITS[900:960]
NAMES = np.array([*"abcdefghi", "the tenth"])[NUMBERS]
SEEDED = {"cv": 0.5, "random_state": 0}
TREE = DecisionTreeClassifier(max_depth=4, random_state=0)
MODEL = SelectiveClassifier(TREE, target_coverage=0.7, **SEEDED).fit(X, NAMES[:900])
METHODS = ["predict", "predict_proba", "accept", "accept_proba", "uncertainty"]

# A model that knows two colors only, and rows of them, by an index that repeats.
COLORS = np.array(["red", "dark blue"])[np.arange(60) % 2]
FRAME = pd.DataFrame({"size": np.arange(60) % 7, "color": COLORS}, np.arange(60) % 17)
ENCODE = make_column_transformer((OneHotEncoder(), ["color"]), remainder="passthrough")
OF_FRAMES = SelectiveClassifier(
    make_pipeline(ENCODE, TREE), target_coverage=0.5, **SEEDED
).fit(FRAME, np.where(FRAME["size"] % 2, "odd", "even"))


@pytest.fixture(autouse=True)
def synchronous():
    options = {"scheduler": "synchronous", "dataframe.convert-string": False}
    with dask.config.set(options):
        yield


def partitions(frame, *borders):
    starts, ends = [0, 0, *borders], [0, *borders, len(frame)]
    parts = [frame[a:b] for a, b in zip(starts, ends, strict=True)]
    return dd.from_map(lambda part: part, parts, meta=frame[:0])


def assert_same(lazy, expected):
    """Compare what was declared, and then what it is, bit for bit."""
    assert dask.is_dask_collection(lazy)
    found = lazy.compute()
    assert type(found) is type(expected)
    if isinstance(expected, np.ndarray):
        assert lazy.dtype == found.dtype == expected.dtype
        assert lazy.shape[1:] == expected.shape[1:]
        np.testing.assert_array_equal(found, expected)
    else:
        frames = [pd.DataFrame(each) for each in (found, expected)]
        pd.testing.assert_frame_equal(*frames)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("size", [1, 7, 1000])
def test_blocks_some_of_them_empty(size, method):
    method, sizes = getattr(MODEL, method), sizes_of(60, size, with_empty=True)
    for kind, chunks in (("array", sizes), ("unknown", [np.nan] * len(sizes))):
        lazy = apply_rows(method, cut(X_NEW, sizes, kind))
        assert_same(lazy, method(X_NEW))
        np.testing.assert_array_equal(lazy.chunks[0], chunks)
    blocks = da.from_array(X_NEW, chunks=(13, 10))  # of columns, that are put together
    for each in (blocks, blocks[da.ones(60, chunks=13) > 0]):
        assert_same(apply_rows(method, each), method(X_NEW))
    assert_same(apply_rows(method, cut(X_NEW[:0], (0, 0))), method(X_NEW)[:0])


@pytest.mark.filterwarnings("ignore:X has feature names")
@pytest.mark.parametrize("method", METHODS)
def test_partitions_some_of_them_empty(method):
    method = getattr(MODEL, method)
    frame = partitions(pd.DataFrame(X_NEW).add_prefix("x"), 1, 1)
    assert_same(apply_rows(method, frame), method(X_NEW))


def test_nothing_is_computed_before_it_is_asked_and_answers_are_summarized():
    computed, blocks = [], cut(X_NEW, (20, 0, 40))
    with dask.callbacks.Callback(start=computed.append):
        apply_rows(MODEL.predict, partitions(pd.DataFrame(X_NEW), 30))
        scores, labels = (
            apply_rows(method, blocks)
            for method in (MODEL.uncertainty, MODEL.predict_label)
        )
    assert not computed
    found = summarize(scores, labels != cut(NAMES[900:960], (20, 0, 40)))
    losses = MODEL.predict_label(X_NEW) != NAMES[900:960]
    expected = RiskCoverageSummary().update(MODEL.uncertainty(X_NEW), losses)
    assert found.to_dict() == expected.to_dict()


@pytest.mark.parametrize(
    "function",
    [
        lambda frame: frame.assign(label=frame["color"].str[:3]),
        lambda frame: frame["color"].str[:3],
        lambda frame: frame["size"].to_numpy(),
        lambda frame: frame[["size", "size"]].to_numpy(dtype=np.float32),
        lambda frame: np.array([text[:3] for text in frame["color"]], dtype=object),
    ],
    ids=["frame", "series", "vector", "matrix", "objects"],
)
def test_functions_of_data_frames(function):
    assert_same(apply_rows(function, partitions(FRAME, 7)), function(FRAME))
    column = apply_rows(lambda texts: texts.str[:3], partitions(FRAME, 7)["color"])
    assert_same(column, FRAME["color"].str[:3])


def test_functions_of_text_images_and_sparse_rows():
    texts, images = FRAME["color"].to_numpy(dtype=str), X_NEW.reshape(-1, 8, 8)
    lengths = apply_rows(np.char.str_len, cut(texts, (10, 50)))
    assert_same(lengths, np.char.str_len(texts))
    blocks = da.from_array(images, chunks=(7, 4, 4))
    for largest in (lambda part: part.max(axis=(1, 2)), lambda part: part.max(axis=1)):
        assert_same(apply_rows(largest, blocks), largest(images))
    blocks = cut(X_NEW, (20, 0, 40)).map_blocks(sparse.csr_matrix)
    assert_same(apply_rows(MODEL.predict, blocks), MODEL.predict(X_NEW))
    scale = StandardScaler(with_mean=False).fit(X).transform
    whole = scale(sparse.csr_matrix(X_NEW))
    found = apply_rows(scale, blocks, meta=whole[:1]).compute()
    np.testing.assert_array_equal(found.toarray(), whole.toarray())


def test_what_made_up_rows_cannot_tell():
    """An encoder does not know the color of a made-up row."""
    parts, proba = partitions(FRAME, 20), OF_FRAMES.predict_proba(FRAME)
    for method in (OF_FRAMES.predict, OF_FRAMES.accept, OF_FRAMES.uncertainty):
        expected = method(FRAME)
        assert_same(apply_rows(method, parts), expected.astype(object))
        assert_same(apply_rows(method, parts, meta=expected[:3]), expected)
    with pytest.raises(ValueError, match=r"=\(0, 2\).*dtype=object.*Pass meta="):
        apply_rows(OF_FRAMES.predict_proba, parts).compute()
    assert_same(apply_rows(OF_FRAMES.predict_proba, parts, meta=proba[:1]), proba)
    with pytest.raises(ValueError, match=r"<U5.* but .*<U4.* was given.*meta="):
        apply_rows(
            lambda part: np.array([*map(str, part > 2)]),
            cut([3, 0], (1, 1)),
            meta=np.array(["True"]),
        ).compute()
    whole_numbers = apply_rows(lambda part: part.astype(int), cut(X_NEW, (60,)), meta=X)
    assert_same(whole_numbers, X_NEW)


ROWS, UNFITTED = cut(X_NEW, (20, 40)), SelectiveClassifier(TREE, target_coverage=0.5)


@pytest.mark.parametrize(
    ("method", "collection", "match"),
    [
        (MODEL, ROWS, "method must be such as model.predict, got SelectiveClassifier"),
        (MODEL.predict, X_NEW, "got ndarray.*call the method itself"),
        (MODEL.predict, None, "got NoneType"),
        (MODEL.predict, dask.delayed(X_NEW), "got Delayed.*from_delayed"),
        (MODEL.predict_all, ROWS, "Decisions has no row for each. Pass a fun"),
        (np.mean, ROWS, "float64 has no row for each.*one row each"),
        (lambda part: [*part], ROWS, "list has no row for each"),
        (lambda part: part[:, :0].T, ROWS, "ndarray has no row for each"),
        (GaussianNB().predict, ROWS, "not fitted yet. Call 'fit'"),
        (UNFITTED.predict, ROWS, "not fitted yet. Call 'fit'"),
    ],
)
def test_what_cannot_be_applied(method, collection, match):
    with pytest.raises((ValueError, NotFittedError), match=match):
        apply_rows(method, collection)


@pytest.mark.parametrize("meta", [[1, 2], (None, bool), np.dtype(int), 3.0, "int"])
def test_meta_is_like_the_answers(meta):
    with pytest.raises(ValueError, match=r"no row for each.*or meta, of an array"):
        apply_rows(MODEL.predict, ROWS, meta=meta)


def test_errors_of_the_method_come_when_it_is_computed():
    lazy = apply_rows(MODEL.predict, ROWS[:, :3])
    with pytest.raises(ValueError, match="X has 3 features"):
        lazy.compute()


def test_two_processes(cluster):
    with dask.config.set(scheduler=cluster):
        assert_same(apply_rows(MODEL.predict, ROWS), MODEL.predict(X_NEW))
        lazy = apply_rows(lambda part: OF_FRAMES.accept(part), partitions(FRAME, 20))
        assert_same(lazy, OF_FRAMES.accept(FRAME).astype(object))
