"""Confusion matrices of sets, counted one by one, and labels of items."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csc_array, csr_array, csr_matrix

from sklearn_reject.decoding import as_flags, check_indicators, count_sets, number_sets


def count_one_by_one(y_true, y_pred):
    """Return tp, fp, fn and tn of one set."""
    pairs = list(zip(y_true, y_pred, strict=True))
    return [sum(pair == kind for pair in pairs) for kind in KINDS]


KINDS = [(True, True), (False, True), (True, False), (False, False)]


def as_lists(counts):
    return [np.asarray(part).tolist() for part in counts]


def matrices(dtype=bool):
    shapes = st.tuples(st.integers(1, 4), st.integers(1, 5), st.integers(0, 10**6))
    return shapes.map(
        lambda d: np.random.default_rng(d[2]).integers(0, 2, (2, *d[:2])).astype(dtype)
    )


@given(pair=matrices(), form=st.sampled_from([np.array, csr_array, csc_array]))
def test_rows_of_indicators(pair, form):
    expected = [count_one_by_one(*map(np.ndarray.tolist, rows)) for rows in zip(*pair)]  # noqa: B905
    counts = count_sets(form(pair[0]), pair[1].astype(float))
    assert as_lists(counts) == np.transpose(expected).tolist()


@given(pair=matrices(), form=st.sampled_from([np.array, csr_array, csc_array]))
def test_columns_and_all_entries(pair, form):
    rows = zip(*np.transpose(pair, (0, 2, 1)), strict=True)
    expected = [count_one_by_one(*map(np.ndarray.tolist, row)) for row in rows]
    counts = count_sets(form(pair[0]), form(pair[1]), average="macro")
    assert as_lists(counts) == np.transpose(expected).tolist()
    whole = count_sets(form(pair[0]), pair[1], average="micro")
    assert as_lists(whole) == [[n] for n in count_one_by_one(*pair.reshape(2, -1))]


def test_duplicates_of_a_sparse_matrix_add_up():
    doubled = csr_matrix(([0.5, 0.5], ([0, 0], [1, 1])), shape=(1, 3))
    assert as_lists(count_sets(doubled, [[0, 1, 1]])) == [[1], [1], [0], [1]]


@given(pair=matrices(), data=st.data())
def test_groups_of_labels(pair, data):
    y_true, y_pred = pair.reshape(2, -1)
    names = st.lists(st.sampled_from("ab"), min_size=len(y_true), max_size=len(y_true))
    groups = np.array(data.draw(names))
    expected = [
        count_one_by_one(y_true[groups == g].tolist(), y_pred[groups == g].tolist())
        for g in sorted(set(groups))
    ]
    counts = count_sets(y_true.astype(int), y_pred.astype(int), groups=groups)
    assert as_lists(counts) == np.transpose(expected).tolist()
    whole = count_sets(y_true.astype(int), y_pred.astype(int))
    assert as_lists(whole) == [[n] for n in count_one_by_one(*pair.reshape(2, -1))]


def test_the_positive_label_has_a_name():
    y_true, y_pred = ["no", "yes", "yes", "no"], ["yes", "yes", "no", "no"]
    counts = count_sets(y_true, y_pred, pos_label="yes")
    assert as_lists(counts) == [[1], [1], [1], [1]]
    swapped = count_sets(y_true[:3], y_pred[:3], pos_label="no")
    assert as_lists(swapped) == [[0], [1], [1], [1]]


def test_a_single_label_may_be_the_other_one():
    assert as_lists(count_sets([0, 0], [0, 0])) == [[0], [0], [0], [2]]


def test_the_last_label_is_positive():
    for names in ([0, 2], [1, 2], [-1, 1], ["a", "b"], [-2.0, 0.0]):
        y_true = np.array(names)[[0, 1, 1, 1]]
        y_pred = np.array(names)[[1, 0, 1, 1]]
        assert as_lists(count_sets(y_true, y_pred)) == [[2], [1], [1], [0]]
    for negative, positive in ((-1, 1), (0, 1), (False, True)):
        assert as_lists(count_sets([negative], [negative])) == [[0], [0], [0], [1]]
        assert as_lists(count_sets([positive], [positive])) == [[1], [0], [0], [0]]


def test_labels_beside_sets_of_classes():
    y_pred = [[1, 1, 0], [0, 0, 0], [0, 0, 1]]
    counts = count_sets(["a", "c", "b"], y_pred)
    assert as_lists(counts) == [[1, 0, 0], [1, 0, 1], [0, 1, 1], [1, 2, 1]]
    order = count_sets(["a", "c", "b"], y_pred, labels=["b", "a", "c"])
    assert as_lists(order) == [[1, 0, 0], [1, 0, 1], [0, 1, 1], [1, 2, 1]]
    mirrored = count_sets(["a", "c", "b"], y_pred, labels=["c", "b", "a"])
    assert as_lists(mirrored)[0] == [0, 0, 0]
    unseen = count_sets(["a"], [[1, 0]], labels=["a", "z"])
    assert as_lists(unseen) == [[1], [0], [0], [1]]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0, 1], [0]), "y_pred has 1 elements"),
        (([], []), "y_true is empty"),
        (([0, 1, 2], [0, 1, 2]), r"hold 3 labels, \[0, 1, 2\]"),
        ((["a"], ["a"]), "hold the single label 'a'"),
        (
            ([2], [2]),
            "hold the single label 2, and it is unclear if it is the positive one",
        ),
        (([[0, 1]], [0, 1]), r"got shapes \(1, 2\) and \(2,\)"),
        (([[[1]]], [[[1]]]), "must both be vectors of labels"),
        (([[0, 1]], [[0, 2]]), "y_pred must hold 0 and 1.*got 2.*MultiLabelBinarizer"),
        (([[0, 2]], [[0, 1]]), "y_true must hold 0 and 1.*got 2"),
        (([["a"]], [["b"]]), "got an array of dtype <U1"),
        (([[0, 1]], [[0, 1, 1]]), r"same shape, got \(1, 2\) and \(1, 3\)"),
        ((np.empty((0, 2)), np.empty((0, 2))), r"y_pred is empty, of shape \(0, 2\)"),
        (([0, 1], [[0, 1]]), "y_pred has 1 rows for 2 labels"),
        (([0, 1], [[0], [1]]), r"y_pred has 1 columns for the classes \[0, 1\]"),
    ],
)
def test_bad_input(arguments, message):
    with pytest.raises(ValueError, match=message):
        count_sets(*arguments)


def test_bad_groups_and_labels():
    with pytest.raises(ValueError, match=r"y_pred has shape \(1, 2\) and each row is"):
        count_sets([[0, 1]], [[0, 1]], groups=[0])
    with pytest.raises(
        ValueError, match=r"label 'q', which is not one of the labels \['a'"
    ):
        count_sets(["q"], [[0, 1]], labels=["a", "b"])
    for labels in (["a", "a"], ["a", "b", "c"]):
        with pytest.raises(ValueError, match="Pass the class of each column"):
            count_sets(["a"], [[0, 1]], labels=labels)
    mixed = np.array(["a", 1], dtype=object)
    with pytest.raises(ValueError, match="groups must be values that can be sorted"):
        count_sets([0, 1], [0, 1], groups=mixed)


# Labels of items


@pytest.mark.parametrize("y", [[0, 1], [0.0, 1.0], [False, True]])
def test_zeros_and_ones_of_any_type(y):
    assert as_flags(y).tolist() == [False, True]
    assert as_flags(np.array(y, dtype=object)).tolist() == [False, True]


@pytest.mark.parametrize("y", [["0", "1"], [0, 2], [0, np.nan], [0, -1]])
def test_anything_else_is_none(y):
    assert as_flags(y) is None
    assert as_flags(np.array([*y, None], dtype=object)) is None


def test_labels_have_the_shape_of_the_probabilities():
    flags = check_indicators(csr_array([[0, 1]]), (1, 2))
    assert flags.tolist() == [[False, True]]
    with pytest.raises(ValueError, match=r"shape of eta, \(2, 1\), got \(1, 2\)"):
        check_indicators([[0, 1]], (2, 1))


def test_numbers_and_sizes_of_sets():
    assert as_lists(number_sets((2, 3), None)) == [[0, 0, 0, 1, 1, 1], [3, 3]]
    assert as_lists(number_sets((3,), ["b", "a", "b"])) == [[1, 0, 1], [1, 2]]
    assert as_lists(number_sets((2,), None)) == [[0, 0], [2]]
    with pytest.raises(ValueError, match="each row is a set"):
        number_sets((2, 3), [0, 1])
