"""Ratings of any kind, against labels looked at one by one."""

import math
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sklearn_reject._labels import split_ratings

# Negative, positive and unrated labels of one kind, as users have them.
KINDS = {
    "int": (0, 1, -1),
    "signs": (-1, 1, 0),
    "float": (0.0, 1.0, -1.0),
    "other numbers": (3, 7, 5),
    "text": ("no", "yes", "unrated"),
    "long unrated": ("a", "b", "not rated at all"),
    "bool": (False, True, None),
    "large": (2**60, 2**60 + 1, -1),
}
MISSING = (None, math.nan, np.nan, np.float32("nan"), pd.NA)


@st.composite
def ratings(draw):
    """Draw a kind, 1, 0 and -1 for positive, negative and unrated, and the labels."""
    kind = draw(st.sampled_from(list(KINDS)))
    codes = draw(
        st.permutations([*draw(st.lists(st.integers(-1, 1), max_size=8)), 0, 1])
    )
    negative, positive, unrated = KINDS[kind]
    labels = [{0: negative, 1: positive, -1: unrated}[code] for code in codes]
    return kind, np.array(codes), labels


def assert_split(result, codes, classes):
    is_positive, is_negative, found = result
    assert is_positive.dtype == is_negative.dtype == bool
    np.testing.assert_array_equal(is_positive, codes == 1)
    np.testing.assert_array_equal(is_negative, codes == 0)
    assert found.tolist() == list(classes)
    assert type(found.tolist()[0]) is type(classes[0])


@given(ratings(), st.sampled_from([list, np.array, pd.Series, np.asfortranarray]))
def test_labels_one_by_one(sample, form):
    kind, codes, labels = sample
    *classes, unrated = KINDS[kind]
    assert_split(split_ratings(form(labels), unrated_label=unrated), codes, classes)


@given(ratings(), st.sampled_from(MISSING), st.data())
def test_missing_values_are_unrated_whatever_the_label(sample, missing, data):
    kind, codes, labels = sample
    *classes, unrated = KINDS[kind]
    for row in data.draw(st.lists(st.integers(0, len(codes)), max_size=4)):
        labels.insert(row, missing)
        codes = np.insert(codes, row, -1)
    array = np.empty(len(labels), dtype=object)
    array[:] = labels
    for form in (np.asarray, pd.Series):
        found = split_ratings(form(array), unrated_label=unrated)
        assert_split(found, codes, classes)
    # With nothing but missing values for unrated.
    array[codes == -1] = missing
    assert_split(split_ratings(array, unrated_label=None), codes, classes)


@pytest.mark.parametrize("dtype", ["Int64", "Float64", "boolean", "string", "category"])
def test_columns_of_frames(dtype):
    classes = ("no", "yes") if dtype in ("string", "category") else (0, 1)
    labels = pd.Series([classes[1], None, classes[0], classes[1]], dtype=dtype)
    is_positive, is_negative, found = split_ratings(labels)
    assert is_positive.tolist() == [True, False, False, True]
    assert is_negative.tolist() == [False, False, True, False]
    assert found.tolist() == list(classes)


@given(ratings())
def test_positive_label_turns_the_classes_around(sample):
    kind, codes, labels = sample
    negative, positive, unrated = KINDS[kind]
    options = {"unrated_label": unrated}
    found = split_ratings(labels, pos_label=positive, **options)
    assert_split(found, codes, (negative, positive))
    turned = split_ratings(labels, pos_label=negative, **options)
    codes = np.where(codes >= 0, 1 - codes, -1)
    assert_split(turned, codes, (positive, negative))


@given(ratings())
def test_labels_stay_as_they_are(sample):
    kind, _, labels = sample
    array = np.array(labels)
    before = array.copy()
    split_ratings(array, unrated_label=KINDS[kind][2])
    np.testing.assert_array_equal(array, before)


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ([0, 1], [0, 1]),
        ([1, 0], [0, 1]),
        ([-1, 1], [-1, 1]),
        ([2, 1], [1, 2]),
        ([1.0, 0.5], [0.5, 1.0]),
        (["yes", "no"], ["no", "yes"]),
        ([True, False], [False, True]),
        (np.array([255, 0], dtype=np.uint8), [0, 255]),
    ],
    ids=str,
)
def test_default_positive_class(labels, expected):
    is_positive, _, classes = split_ratings(labels, unrated_label=None)
    assert classes.tolist() == expected
    assert [expected[int(flag)] for flag in is_positive] == list(labels)


def test_label_of_another_kind_is_none_of_the_labels():
    # Neither a comparison of numbers with text nor a warning about it.
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        _, _, classes = split_ratings(["b", "a"], unrated_label=-1)
        assert classes.tolist() == ["a", "b"]
        _, _, classes = split_ratings([0, 1], unrated_label="unrated")
        assert classes.tolist() == [0, 1]
    # Among text, the number -1 is text, too.
    with pytest.raises(ValueError, match=r"got 3, \['-1', 'a', 'b'\]"):
        split_ratings(["-1", "a", "b"], unrated_label=-1)


def test_a_column_is_a_vector_with_a_warning():
    with pytest.warns(UserWarning, match="column-vector y was passed"):
        is_positive, _, _ = split_ratings([[1], [0], [-1]])
    assert is_positive.tolist() == [True, False, False]


@pytest.mark.parametrize(
    ("labels", "options", "message"),
    [
        ([-1, -1], {}, "y has no rated documents: all 2 are missing or -1"),
        ([None, math.nan], {}, "y has no rated documents: all 2 are missing"),
        ([], {}, "y has no rated documents: all 0"),
        ([-1, 1, 1], {}, "y has no rated negatives: .*one class only, 1"),
        ([0, -1], {}, "y has no rated positives: .*one class only, 0"),
        (["b", "b"], {}, "y has no rated negatives: .*one class only, 'b'"),
        (["b", "b"], {"pos_label": "a"}, "y has no rated positives"),
        ([1, 1], {"pos_label": 0}, "y has no rated positives"),
        ([0, 1, 2], {}, r"y must have two classes .*-1, got 3, \[0, 1, 2\]"),
        ([0, 1, -1], {"unrated_label": None}, "two classes .* None, got 3"),
        ([0, 1, -1], {"unrated_label": 9}, "two classes .* 9, got 3"),
        (range(30), {}, r"got 30, \[0, 1, 2, 3, 4\] among"),
        ([0, 1], {"pos_label": 5}, r"pos_label=5 is not among .* of y, \[0, 1\]"),
        ([0, 1, -1], {"pos_label": -1}, "pos_label=-1 is not among the rated classes"),
        ([0, 1], {"pos_label": "1"}, "pos_label='1' is not among"),
        (["a", "b"], {"pos_label": 1}, "pos_label=1 is not among"),
        ([0, 1], {"pos_label": math.nan}, "pos_label=nan is not among"),
        ([[0, 1], [1, 0]], {}, r"y should be a 1d array.*\(2, 2\)"),
        ([0, 1], {"name": "y_true", "pos_label": 2}, "classes of y_true"),
        ([0, 0], {"name": "y_true"}, "y_true has no rated positives"),
    ],
    ids=str,
)
def test_bad_input(labels, options, message):
    with pytest.raises(ValueError, match=message):
        split_ratings(labels, **options)


def test_labels_of_several_kinds():
    labels = np.array([0, "a", 1], dtype=object)
    with pytest.raises(ValueError, match=r"two classes|labels of one kind"):
        split_ratings(labels)
    with pytest.raises(ValueError, match="y must hold labels of one kind"):
        split_ratings(np.array([{1}, (2,), 3], dtype=object))


def test_messages_show_labels_as_they_are_written():
    with pytest.raises(ValueError, match=r"one class only, 1\. Both"):
        split_ratings([1, 1, -1])


def test_what_is_masked_is_unrated():
    y = np.ma.masked_array([0, 1, 1, 0, -1], mask=[0, 0, 1, 1, 0])
    for form in (y, y.astype(float), y.astype(object), y[:, np.newaxis]):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a column
            is_positive, is_negative, _ = split_ratings(form)
        assert np.flatnonzero(is_positive) == [1]
        assert np.flatnonzero(is_negative) == [0]
