"""A method applied to the rows of a collection says what one call says of all rows."""

import warnings

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
from tests.scale.dask_collections import collect, cut, sizes_of

DIGITS, NUMBERS = load_digits(return_X_y=True)
X, X_NEW = DIGITS[:900], DIGITS[900:960]
NAMES = np.array([*"abcdefghi", "the tenth"])
MODEL = SelectiveClassifier(
    DecisionTreeClassifier(max_depth=4, random_state=0),
    target_coverage=0.7,
    cv=0.5,
    random_state=0,
).fit(X, NAMES[NUMBERS[:900]])
METHODS = ["predict", "predict_proba", "accept", "accept_proba", "uncertainty"]


@pytest.fixture(autouse=True)
def synchronous():
    options = {"scheduler": "synchronous", "dataframe.convert-string": False}
    with dask.config.set(options):
        yield


def assert_same(lazy, expected):
    """Compare what was declared, and then what it is, bit for bit."""
    assert dask.is_dask_collection(lazy)
    found = lazy.compute()
    assert type(found) is type(expected)
    if isinstance(expected, np.ndarray):
        assert lazy.dtype == found.dtype == expected.dtype
        assert lazy.ndim == expected.ndim
        assert lazy.shape[1:] == expected.shape[1:]
        np.testing.assert_array_equal(found, expected)
    else:
        frames = [pd.DataFrame(each) for each in (found, expected)]
        pd.testing.assert_frame_equal(*frames)


def encoded():
    """Return a model that knows two colors only, and rows of them."""
    color = np.array(["red", "dark blue"])[np.arange(60) % 2]
    frame = pd.DataFrame({"size": np.arange(60) % 7, "color": color})
    encode = make_column_transformer(
        (OneHotEncoder(), ["color"]), remainder="passthrough"
    )
    model = SelectiveClassifier(
        make_pipeline(encode, DecisionTreeClassifier(max_depth=2, random_state=0)),
        target_coverage=0.5,
        cv=0.5,
        random_state=0,
    )
    return model.fit(frame, np.where(frame["size"] % 2, "odd", "even")), frame


@pytest.mark.parametrize("kind", ["array", "unknown"])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("size", [1, 7, 1000])
def test_blocks_some_of_them_empty(size, method, kind):
    method = getattr(MODEL, method)
    sizes = sizes_of(60, size, with_empty=True)
    lazy = apply_rows(method, cut(X_NEW, sizes, kind))
    assert_same(lazy, method(X_NEW))
    known = kind == "array"
    np.testing.assert_array_equal(
        lazy.chunks[0], sizes if known else [np.nan] * len(sizes)
    )


@pytest.mark.parametrize("method", METHODS)
def test_partitions_some_of_them_empty(method):
    method = getattr(MODEL, method)
    names = [f"x{number}" for number in range(64)]
    frame = pd.DataFrame(X_NEW, columns=names)
    parts = [frame[:0], frame[:1], frame[1:1], frame[1:]]
    lazy = apply_rows(method, dd.from_map(lambda part: part, parts, meta=frame[:0]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # fitted without names
        assert_same(lazy, method(X_NEW))
    assert lazy.npartitions == 4


@pytest.mark.parametrize("rows", ["known", "unknown"])
def test_blocks_of_columns_are_put_together(rows):
    blocks = da.from_array(X_NEW, chunks=(13, 10))
    if rows == "unknown":
        blocks = blocks[da.ones(60, chunks=13) > 0]
    assert_same(apply_rows(MODEL.predict_proba, blocks), MODEL.predict_proba(X_NEW))


def test_nothing_is_computed_before_it_is_asked():
    computed = []
    with dask.callbacks.Callback(start=computed.append):
        apply_rows(MODEL.predict, cut(X_NEW, (20, 40)))
        apply_rows(MODEL.predict, dd.from_pandas(pd.DataFrame(X_NEW), npartitions=3))
    assert not computed


def test_answers_are_summarized():
    scores = MODEL.uncertainty(X_NEW)
    losses = MODEL.predict_label(X_NEW) != NAMES[NUMBERS[900:960]]
    blocks = cut(X_NEW, (20, 0, 40))
    y = cut(NAMES[NUMBERS[900:960]], (20, 0, 40))
    found = summarize(
        apply_rows(MODEL.uncertainty, blocks),
        apply_rows(MODEL.predict_label, blocks) != y,
    )
    expected = RiskCoverageSummary().update(scores, losses)
    assert found.to_dict() == expected.to_dict()


def label_and_size(frame):
    return pd.DataFrame(
        {"size": frame["size"] * 2, "label": frame["color"].str[:3]}, index=frame.index
    )


@pytest.mark.parametrize(
    "function",
    [
        label_and_size,
        lambda frame: label_and_size(frame)["label"],
        lambda frame: frame["size"].to_numpy(),
        lambda frame: frame[["size", "size"]].to_numpy(dtype=np.float32),
        lambda frame: np.array([text[:3] for text in frame["color"]], dtype=object),
    ],
    ids=["frame", "series", "vector", "matrix", "objects"],
)
def test_functions_of_data_frames(function):
    _, frame = encoded()
    frame.index = np.arange(60) % 17  # not unique, nor sorted
    parts = dd.from_map(
        lambda part: part, [frame[:0], frame[:7], frame[7:]], meta=frame[:0]
    )
    assert_same(apply_rows(function, parts), function(frame))


def test_functions_of_a_column_and_of_images():
    _, frame = encoded()
    lengths = apply_rows(
        lambda texts: texts.str.len(), dd.from_pandas(frame, 3)["color"]
    )
    pd.testing.assert_series_equal(
        lengths.compute(), frame["color"].str.len(), check_dtype=False
    )
    texts = frame["color"].to_numpy(dtype=str)
    assert_same(
        apply_rows(np.char.str_len, cut(texts, (10, 50))), np.char.str_len(texts)
    )
    images = X_NEW.reshape(-1, 8, 8)
    blocks = da.from_array(images, chunks=(7, 4, 4))
    for axes in (1, 2), 1:
        assert_same(
            apply_rows(lambda part, axes=axes: part.max(axis=axes), blocks),
            images.max(axis=axes),
        )


def test_sparse_rows():
    blocks = cut(X_NEW, (20, 0, 40)).map_blocks(
        sparse.csr_matrix, meta=sparse.csr_matrix((0, 0))
    )
    plain = StandardScaler(with_mean=False).fit(X)
    assert_same(apply_rows(MODEL.predict, blocks), MODEL.predict(X_NEW))
    whole = plain.transform(sparse.csr_matrix(X_NEW))
    found = apply_rows(plain.transform, blocks, meta=whole[:1]).compute()
    np.testing.assert_array_equal(found.toarray(), whole.toarray())


def test_what_made_up_rows_cannot_tell():
    """An encoder does not know the color of a made-up row."""
    model, frame = encoded()
    parts = dd.from_map(
        lambda part: part, [frame[:0], frame[:20], frame[20:]], meta=frame[:0]
    )
    for method in (model.predict, model.accept, model.uncertainty):
        lazy, expected = apply_rows(method, parts), method(frame)
        assert_same(lazy, expected.astype(object))
        assert_same(apply_rows(method, parts, meta=method(frame[:3])), expected)
    lazy = apply_rows(model.predict_proba, parts)
    with pytest.raises(
        ValueError, match=r"returns .*shape=\(0, 2\).*dtype=object.*Pass .*meta="
    ):
        lazy.compute()
    whole = model.predict_proba(frame)
    assert_same(apply_rows(model.predict_proba, parts, meta=whole[:1]), whole)
    texts = da.from_array(frame["color"].to_numpy(dtype=object), chunks=25)
    encoder = OneHotEncoder(sparse_output=False).fit(frame[["color"]].to_numpy())
    texts = texts.reshape(-1, 1)
    whole = encoder.transform(frame[["color"]].to_numpy())
    assert_same(apply_rows(encoder.transform, texts, meta=whole), whole)


def test_answers_unlike_the_made_up_one():
    rows = cut(np.arange(6.0), (3, 3))
    words = np.array(["no", "maybe"])
    lazy = apply_rows(lambda part: np.array([*map(str, part > 2)]), rows)
    with pytest.raises(
        ValueError, match=r"returns .*<U5.* but .*<U4.* was given.*meta="
    ):
        apply_rows(
            lambda part: words[(part > 2).astype(int)].astype(
                f"<U{4 + (part > 2).any()}"
            ),
            rows,
        ).compute()
    assert lazy.compute().tolist() == ["False"] * 3 + ["True"] * 3
    # Whole numbers are numbers.
    as_few = apply_rows(lambda part: part if part[0] < 3 else part.astype(int), rows)
    assert_same(as_few, np.arange(6.0))


@pytest.mark.parametrize(
    ("method", "collection", "match"),
    [
        (
            MODEL,
            cut(X_NEW, (60,)),
            "method must be a function.*got SelectiveClassifier",
        ),
        (MODEL.predict, X_NEW, "got ndarray.*call the method itself"),
        (MODEL.predict, X_NEW.tolist(), "got list.*call the method itself"),
        (MODEL.predict, None, "got NoneType"),
        (MODEL.predict, dask.delayed(X_NEW), "got Delayed.*from_delayed"),
        (
            MODEL.predict_all,
            cut(X_NEW, (60,)),
            "Decisions has no row for each. Pass a fun",
        ),
        (np.mean, cut(X_NEW, (60,)), "float64 has no row for each.*one row each"),
        (lambda part: [*part], cut(X_NEW, (60,)), "list has no row for each"),
        (lambda part: part[:, :0].T, cut(X_NEW, (60,)), "ndarray has no row for each"),
        (GaussianNB().predict, cut(X_NEW, (60,)), "not fitted yet. Call 'fit'"),
        (
            SelectiveClassifier(GaussianNB(), target_coverage=0.5).predict,
            cut(X_NEW, (60,)),
            "not fitted yet. Call 'fit'",
        ),
    ],
)
def test_what_cannot_be_applied(method, collection, match):
    with pytest.raises((ValueError, NotFittedError), match=match):
        apply_rows(method, collection)


@pytest.mark.parametrize("meta", [[1, 2], (None, bool), np.dtype(int), 3.0, "int"])
def test_meta_is_like_the_answers(meta):
    with pytest.raises(ValueError, match=r"no row for each.*or meta, of an array"):
        apply_rows(MODEL.predict, cut(X_NEW, (60,)), meta=meta)
    like = MODEL.predict(X_NEW[:3])
    lazy = apply_rows(MODEL.predict_proba, cut(X_NEW, (60,)), meta=like)
    with pytest.raises(
        ValueError, match=r"shape=\(0, 10\).*but array\(\[\].*Pass meta="
    ):
        lazy.compute()


def test_errors_of_the_method_come_when_it_is_computed():
    rows = cut(X_NEW[:, :3], (30, 30))
    with pytest.raises(ValueError, match="X has 3 features"):
        apply_rows(MODEL.predict, rows).compute()
    bad = collect([X_NEW[:5], np.full((5, 64), np.nan)])
    with pytest.raises(ValueError, match="contains NaN"):
        apply_rows(
            SelectiveClassifier(GaussianNB(), target_coverage=0.5, cv=0.5)
            .fit(X, NUMBERS[:900])
            .predict,
            bad,
        ).compute()


def test_two_processes(cluster):
    with dask.config.set(scheduler=cluster):
        assert_same(
            apply_rows(MODEL.predict, cut(X_NEW, (20, 40))), MODEL.predict(X_NEW)
        )
        model, frame = encoded()
        lazy = apply_rows(lambda part: model.accept(part), dd.from_pandas(frame, 3))
        assert_same(lazy, model.accept(frame).astype(object))


def test_collections_without_rows():
    for sizes in ((0,), (0, 0)):
        expected = MODEL.predict_proba(X_NEW)[:0]
        assert_same(apply_rows(MODEL.predict_proba, cut(X_NEW[:0], sizes)), expected)
    model, frame = encoded()
    parts = dd.from_map(lambda part: part, [frame[:0]] * 2, meta=frame[:0])
    assert apply_rows(model.predict, parts).compute().shape == (0,)
