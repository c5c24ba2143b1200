"""Which label marks OOD samples, and which samples have it."""

import numpy as np
import pytest

from sklearn_reject._labels import find_resembling, refuse_unknown_labels, split_origin


@pytest.mark.parametrize(
    ("y", "label", "is_ood"),
    [
        ([0, 1, -1], -1, [0, 0, 1]),
        ([0, 1, 2], -1, [0, 0, 0]),
        ([0.0, 1.0, -1.0], -1, [0, 0, 1]),
        # Where -1 is one of two labels, it is a class.
        ([-1, 1, 1, -1], None, [0, 0, 0, 0]),
        ([-1.0, 7.0], None, [0, 0]),
        ([-1, -1], -1, [1, 1]),
        ([1, 1], -1, [0, 0]),
        (np.array([255, 0, 1], dtype=np.uint8), -1, [0, 0, 0]),
        ([True, False], -1, [0, 0]),
        (["cat", "ood", "dog"], "ood", [0, 1, 0]),
        # With strings there is no such convention.
        (["cat", "ood"], "ood", [0, 1]),
        (["-1", "1", "2"], "ood", [0, 0, 0]),
        (np.array(["a", "ood"], dtype=object), "ood", [0, 1]),
        (np.array([1, -1, 2], dtype=object), -1, [0, 1, 0]),
        ([[0], [1], [-1]], -1, [0, 0, 1]),
    ],
)
def test_automatic_label(y, label, is_ood):
    found, flags = split_origin(y)
    assert found == label
    assert flags.dtype == bool
    assert flags.tolist() == [bool(flag) for flag in is_ood]


@pytest.mark.parametrize(
    ("classes", "label"),
    [([0, 1], -1), ([-1, 1], None), ([-1, 0, 1], None), ([3], -1), ([], -1)],
    ids=str,
)
@pytest.mark.parametrize("y", [[1, -1, 1], [-1, -1], [0, 1, -1, 2]], ids=str)
def test_automatic_label_where_the_classes_are_known(y, classes, label):
    found, flags = split_origin(y, classes=np.array(classes))
    assert found == label
    assert flags.tolist() == [value == label for value in y]
    assert split_origin(["a"], classes=np.array(["a", "b"]))[0] == "ood"


@pytest.mark.parametrize(
    ("y", "label", "is_ood"),
    [
        ([-1, 1, 1], -1, [1, 0, 0]),
        ([0, 1, 9], 9, [0, 0, 1]),
        ([0, 1, 9], np.int8(9), [0, 0, 1]),
        ([0, 1, 9], 9.0, [0, 0, 1]),
        ([0, 1], 9, [0, 0]),
        (["a", "novel"], "novel", [0, 1]),
        (["a", "novel"], np.str_("novel"), [0, 1]),
        ([True, False], True, [1, 0]),
        ([-1, 0, 1], None, [0, 0, 0]),
    ],
)
def test_given_label(y, label, is_ood):
    found, flags = split_origin(y, label)
    assert found == label
    assert flags.tolist() == [bool(flag) for flag in is_ood]


def test_pandas_labels():
    pd = pytest.importorskip("pandas")
    y = pd.Series(["a", "ood", "b"], index=[5, 3, 1], name="kind")
    for labels in (y, y.astype("category"), y.astype("string"), y.to_frame()):
        assert split_origin(labels)[1].tolist() == [False, True, False]
    numbers = pd.Series([0, -1, 2], index=[5, 3, 1], dtype="Int64")
    for labels in (numbers, numbers.to_frame()):
        assert split_origin(labels)[1].tolist() == [False, True, False]


def test_polars_labels():
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame({"name": ["a", "ood", "b"], "number": [0, -1, 2]})
    for column in frame.columns:
        for labels in (frame[column], frame.select(column)):
            assert split_origin(labels)[1].tolist() == [False, True, False]


@pytest.mark.parametrize("gap", [None, float("nan"), "NA"], ids=str)
@pytest.mark.parametrize("known", [[0, 1, -1], ["a", "b", "ood"]], ids=str)
def test_gaps_are_told_with_their_rows(gap, known):
    if gap == "NA":
        gap = pytest.importorskip("pandas").NA
    y = np.array([*known, gap, *known, gap], dtype=object)
    with pytest.raises(
        ValueError, match=r"y has no label \(.*\) in row 3 \(2 such rows"
    ):
        split_origin(y)
    with pytest.raises(ValueError, match="need a label, too: the ood_label"):
        split_origin([0.0, np.nan, -1.0])


def test_labels_that_are_neither_class_nor_ood():
    classes = np.array(["a", "b"])
    y = np.array(["a", "novel", "novel", "b"])
    message = (
        r"y holds 'novel' \(2 samples\), which is neither one of the classes "
        r"\['a', 'b'\] that Model knows nor ood_label='ood'"
    )
    with pytest.raises(ValueError, match=message):
        refuse_unknown_labels(y, classes, "ood_label='ood'", "Model")
    several = np.array(["a", "novel", "other"])
    with pytest.raises(ValueError, match=r"nor is any of 'other'\. Give"):
        refuse_unknown_labels(several, classes, "ood_label='ood'", "Model")
    refuse_unknown_labels(y[[0, 3]], classes, "ood_label='ood'", "Model")
    refuse_unknown_labels(np.array([1.0, 0.0]), np.array([0, 1]), "", "Model")


@pytest.mark.parametrize(
    ("classes", "found"),
    [
        (["a", "OOD"], "OOD"),
        (["a", " Outlier"], " Outlier"),
        (["0", "-1", "1"], "-1"),
        (["a", "novelist"], None),
        ([0, -1, 1], None),
    ],
)
def test_classes_that_were_probably_meant_to_be_ood(classes, found):
    assert find_resembling(classes) == found


@pytest.mark.parametrize(
    ("y", "label", "message"),
    [
        ([0, 1], "ood", "ood_label='ood', but y holds numbers"),
        (["a", "b"], -1, "ood_label=-1, but y holds strings"),
        ([0, 1], np.nan, "ood_label must not be NaN"),
        ([0, 1], [-1], r"ood_label must be 'auto', None, a number or a string, got \["),
        ([0, 1], 1j, "ood_label must be 'auto'"),
        (np.array(["a", 1], dtype=object), "auto", "y mixes strings and other labels"),
        (np.array(["a", 1], dtype=object), 1, "y mixes strings and other labels"),
    ],
)
def test_bad_labels(y, label, message):
    with pytest.raises(ValueError, match=message):
        split_origin(y, label)
