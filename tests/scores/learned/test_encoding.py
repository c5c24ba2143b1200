"""Numbers from the columns of frames and arrays, each row by itself."""

from datetime import date, datetime, timedelta, timezone
from decimal import Decimal

import numpy as np
import pytest
from scipy import sparse
from sklearn.impute import SimpleImputer

from sklearn_reject.scores.learned._columns import holds_values
from sklearn_reject.scores.learned._encoding import Encoder

pandas = pytest.importorskip("pandas")
NAN = np.nan


def make_frame():
    return pandas.DataFrame(
        {
            "age": [30.0, NAN, 50.0, 40.0],
            "job": ["cook", None, "smith", "cook"],
            "size": pandas.Categorical([2, 10, 2, None], categories=[10, 2]),
            "member": [True, False, True, True],
            "visits": pandas.array([1, None, 3, 4], dtype="Int64"),
            "since": pandas.to_datetime(["1970-01-01", "1970-01-02", None, None]),
        }
    )


DAY = 24 * 3600 * 1e6
NUMBERS = [[30, 1, 1, 0], [NAN, 0, NAN, DAY], [50, 1, 3, NAN], [40, 1, 4, NAN]]
CODES = [[0, 1], [NAN, 0], [1, 1], [0, NAN]]


def test_frame_by_hand():
    encoder = Encoder(one_hot=False)
    expected = np.hstack([NUMBERS, CODES])
    np.testing.assert_array_equal(encoder.fit(make_frame()), expected)
    assert encoder.n_codes == [3, 3]  # what is missing is a category, too
    new = make_frame().iloc[:1].assign(job="judge", size=[10.0])
    np.testing.assert_array_equal(encoder.transform(new)[0, 4:], [NAN, 0])


def test_frame_by_hand_for_linear_scores():
    encoder = Encoder(one_hot=True)
    jobs = [[1, 0, 0], [0, 0, 1], [0, 1, 0], [1, 0, 0]]
    sizes = [[0, 1, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
    means = SimpleImputer().fit_transform(NUMBERS)
    expected = np.hstack([means, jobs, sizes])
    np.testing.assert_allclose(encoder.fit(make_frame()), expected)
    assert encoder.n_codes == []
    new = make_frame().iloc[:1].assign(job="judge", age=NAN)
    row = [40, *means[0, 1:], 0, 0, 0, *sizes[0]]
    np.testing.assert_allclose(encoder.transform(new), [row])


@pytest.mark.parametrize("one_hot", [False, True])
@pytest.mark.parametrize(
    "convert",
    [
        lambda frame: frame.astype(object),
        lambda frame: frame.astype(object).to_numpy(),
        lambda frame: frame.astype(object).to_numpy().tolist(),
    ],
    ids=["objects", "array", "lists"],
)
def test_other_containers_say_the_same(one_hot, convert):
    frame = make_frame()
    encoder = Encoder(one_hot)
    # Whole numbers become categories by their type, which these have lost.
    expected = encoder.fit(frame)
    np.testing.assert_array_equal(encoder.transform(convert(frame)), expected)
    texts = frame.drop(columns=["size", "since"])
    np.testing.assert_array_equal(
        Encoder(one_hot).fit(convert(texts)), Encoder(one_hot).fit(texts)
    )


def test_polars_frames_say_the_same():
    polars = pytest.importorskip("polars")
    frame = make_frame().drop(columns=["size"])
    twin = polars.DataFrame(
        {
            "age": [30.0, None, 50.0, 40.0],
            "job": polars.Series(["cook", None, "smith", "cook"]),
            "member": [True, False, True, True],
            "visits": [1, None, 3, 4],
            "since": frame["since"].to_numpy(),
        }
    )
    for one_hot in (False, True):
        expected = Encoder(one_hot).fit(frame)
        np.testing.assert_array_equal(Encoder(one_hot).fit(twin), expected)
        kinds = {"job": polars.Categorical}
        np.testing.assert_array_equal(Encoder(one_hot).fit(twin.cast(kinds)), expected)


@pytest.mark.parametrize("one_hot", [False, True])
def test_rows_do_not_depend_on_each_other(one_hot):
    rng = np.random.default_rng(0)
    frame = pandas.DataFrame(
        {"a": rng.normal(size=40), "b": rng.choice(list("xyz"), 40)}
    )
    frame.loc[::3, "a"], frame.loc[::5, "b"] = NAN, None
    encoder = Encoder(one_hot)
    expected = encoder.fit(frame)
    rows = [encoder.transform(frame.iloc[row : row + 1]) for row in range(40)]
    np.testing.assert_array_equal(np.vstack(rows), expected)


def test_rare_categories_share_an_indicator():
    names = [f"name {number}" for number in range(200)]
    frame = pandas.DataFrame({"name": [*names, *names[:30]]})
    encoder = Encoder(one_hot=True)
    matrix = encoder.fit(frame)
    assert matrix.shape == (230, 50)
    np.testing.assert_array_equal(matrix.sum(axis=1), 1)
    codes = Encoder(one_hot=False)
    np.testing.assert_array_equal(codes.fit(frame)[:3, 0], [0, 1, 112])
    assert codes.n_codes == [200]


def test_numbers_stay_as_they_are():
    X = np.array([[1.0, NAN], [2.0, 3.0]])
    np.testing.assert_array_equal(Encoder(one_hot=False).fit(X), X)
    np.testing.assert_array_equal(Encoder(one_hot=True).fit(X), [[1, 3], [2, 3]])
    thin = Encoder(one_hot=True).fit(sparse.csr_matrix(X))
    np.testing.assert_array_equal(thin.toarray(), [[1, 3], [2, 3]])
    mixed = np.array([[1, Decimal("2.5")], [True, None]], dtype=object)
    np.testing.assert_array_equal(Encoder(False).fit(mixed), [[1, 2.5], [1, NAN]])


def test_dates_and_times_of_any_zone_count_from_1970():
    zone = timezone(timedelta(hours=-1))
    times = [date(1970, 1, 2), datetime(1970, 1, 1, 23, tzinfo=zone), None]
    frame = pandas.DataFrame({"when": pandas.Series(times, dtype=object)})
    matrix = Encoder(one_hot=False).fit(frame)
    np.testing.assert_array_equal(matrix, [[DAY], [DAY], [NAN]])


@pytest.mark.parametrize("one_hot", [False, True])
def test_a_column_without_any_number_is_not_seen(one_hot):
    X = np.array([[1.0, NAN], [2.0, NAN]])
    encoder = Encoder(one_hot)
    np.testing.assert_array_equal(encoder.fit(X), [[1, 0], [2, 0]])
    np.testing.assert_array_equal(encoder.transform([[3.0, 4.0]])[:, 0], [3])
    if not one_hot:
        assert encoder.transform([[3.0, 4.0]])[0, 1] == 0
    assert np.isnan(X[:, 1]).all()


@pytest.mark.parametrize("one_hot", [False, True])
@pytest.mark.parametrize("value", ["Labor Day", 3, date(2020, 1, 1)])
def test_a_column_that_held_nothing_may_hold_anything(one_hot, value):
    frame = pandas.DataFrame({"age": [1.0, 2.0], "holiday": [None, None]}, dtype=object)
    encoder = Encoder(one_hot)
    present = float(one_hot)  # an indicator of what is missing
    np.testing.assert_array_equal(encoder.fit(frame), [[1, present], [2, present]])
    new = encoder.transform(frame.assign(holiday=value))
    np.testing.assert_array_equal(new, [[1, 0], [2, 0]])


def test_numbers_too_large_for_a_float():
    with pytest.raises(ValueError, match=r"column 0 contained numbers.* too large"):
        Encoder(one_hot=False).fit([[10**400], [1]])


def test_what_has_no_numbers():
    for X in (
        ["some", "text"],
        np.zeros((2, 3, 4)),
        [{"a": 1}, {"a": 2}],
        [[1, 2], [3]],
        pandas.DataFrame({"when": pandas.period_range("2020", periods=2)}),
        pandas.DataFrame({"nested": [[1, 2], [3, 4]]}),
    ):
        assert not holds_values(X)
        message = r"column|dim|table|inhomogeneous|a string or a number"
        with pytest.raises((TypeError, ValueError), match=message):
            Encoder(one_hot=False).fit(X)
    assert holds_values(make_frame())
    assert holds_values([[1, "a"], [2, "b"]])


def test_columns_that_change():
    encoder = Encoder(one_hot=False)
    encoder.fit(make_frame())
    with pytest.raises(
        ValueError, match="column 'age' contained numbers when the score"
    ):
        encoder.transform(make_frame().assign(age="old"))
    with pytest.raises(ValueError, match="5 columns, not 6"):
        encoder.transform(make_frame().drop(columns="job"))
    infinite = make_frame().assign(age=np.inf)
    for one_hot in (False, True):
        with pytest.raises(ValueError, match="infinite"):
            Encoder(one_hot).fit(infinite)
    assert np.isinf(Encoder(False, takes_infinite=True).fit(infinite)).any()
