"""The label of rejected samples, and arrays that hold it unharmed."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sklearn_reject._labels import mark_rejected, resolve_reject_label

INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]


@pytest.mark.parametrize(
    ("classes", "label"),
    [
        ([0, 1, 2], -1),
        ([0.0, 1.0], -1),
        ([False, True], -1),
        ([-2, 3], -1),
        ([-1, 1], -2),
        ([-1.0, 1.0], -2.0),
        ([-7, -1, 0], -8),
        (np.array([-128, -1], dtype=np.int8), -129),
        (np.array([-(2**63), -1]), -(2**63) - 1),
        (np.array([0, 255], dtype=np.uint8), -1),
        (["a", "b"], "reject"),
        (np.array(["a", "b"], dtype=object), "reject"),
        (["reject", "b"], "reject_"),
        (["reject", "reject_", "reject__"], "reject___"),
        (["rejected", "b"], "reject"),
        ([b"a", b"b"], "reject"),
    ],
    ids=str,
)
def test_automatic_label(classes, label):
    resolved = resolve_reject_label("auto", np.asarray(classes))
    assert resolved == label
    assert type(resolved) is type(label)


@pytest.mark.parametrize("label", [-1, 7, 0.5, "x", np.int8(9), np.str_("x"), -(2**70)])
@pytest.mark.parametrize("classes", [[0, 1], ["a", "b"], [False, True]], ids=str)
def test_explicit_label_is_kept(label, classes):
    assert resolve_reject_label(label, np.array(classes)) is label


def test_none_is_kept():
    assert resolve_reject_label(None, np.array([0, 1])) is None


def test_auto_as_a_class_is_no_obstacle():
    assert resolve_reject_label("auto", np.array(["auto", "b"])) == "reject"


@pytest.mark.parametrize(
    ("label", "classes"),
    [
        (1, [0, 1]),
        (1.0, [0, 1]),
        (np.uint8(1), [0, 1]),
        (True, [0, 1]),
        (1, [False, True]),
        ("a", ["a", "b"]),
        (np.str_("a"), ["a", "b"]),
        (-1, [-1, 1]),
        (0.5, [0.5, 1.5]),
    ],
    ids=str,
)
def test_label_that_is_a_class(label, classes):
    with pytest.raises(
        ValueError, match=r"reject_label=.* is one of the classes"
    ) as caught:
        resolve_reject_label(label, np.array(classes))
    assert repr(label) in str(caught.value)
    assert str(classes) in str(caught.value)


@pytest.mark.parametrize(
    "label",
    [
        [1],
        (1,),
        {1},
        np.array(1),
        np.array([1]),
        int,
        b"x",
        print,
        1j,
        np.datetime64(1, "D"),
    ],
)
def test_label_that_is_none(label):
    with pytest.raises(ValueError, match="reject_label must be 'auto', None, a number"):
        resolve_reject_label(label, np.array([0, 2]))


@pytest.mark.parametrize("label", [float("nan"), np.float16("nan")])
def test_label_that_equals_nothing(label):
    with pytest.raises(ValueError, match="reject_label must not be NaN"):
        resolve_reject_label(label, np.array([0, 2]))


def check_marking(labels, accepted, reject_label, dtype):
    """Check the content against lists, whose elements never change their type."""
    before = labels.copy()
    marked = mark_rejected(labels, accepted, reject_label)
    pairs = zip(labels.tolist(), accepted.tolist(), strict=True)
    assert marked.tolist() == [label if keep else reject_label for label, keep in pairs]
    assert marked.dtype == np.dtype(dtype)
    assert type(marked) is np.ndarray
    assert not np.shares_memory(marked, labels)
    np.testing.assert_array_equal(labels, before)
    # Whether a sample is rejected does not show in the dtype.
    everything = mark_rejected(labels, np.ones_like(accepted), reject_label)
    assert everything.dtype == marked.dtype
    assert everything.tolist() == labels.tolist()


ACCEPTED = np.array([True, False, True, False])


@pytest.mark.parametrize(
    ("labels", "reject_label", "dtype"),
    [
        (np.array(["a", "b", "b", "a"]), "reject", "<U6"),
        (np.array(["a", "b", "b", "a"]), "", "<U1"),
        (np.array(["a long label", "b", "b", "a"]), "reject", "<U12"),
        (np.array(["a", "b", "b", "a"]), "verworfen ✗", "<U11"),
        (np.array(["a", "b", "b", "a"]), -1, object),
        (np.array(["a", "b", "b", "a"], dtype=object), "reject", object),
        (np.array([b"a", b"b", b"b", b"a"]), "reject", object),
        (np.array([True, False, False, True]), -1, "int64"),
        (np.array([True, False, False, True]), 0.5, object),
        (np.array([True, False, False, True]), "reject", object),
        (np.array([0, 1, 1, 0]), "reject", object),
        (np.array([0, 1, 1, 0]), -0.5, object),
        (np.array([0, 1, 2**62, 0]), -1, "int64"),
        (np.array([0, 1, 1, 0]), 2**70, object),
        (np.array([0, 1, 1, 0], dtype=np.int8), -1, "int8"),
        (np.array([0, 1, 1, 0], dtype=np.int8), -129, "int64"),
        (np.array([0, 1, 1, 0], dtype=np.int8), np.int64(300), "int64"),
        (np.array([0, 1, 1, 0], dtype=np.uint8), -1, "int64"),
        (np.array([0, 1, 1, 0], dtype=np.uint8), 200, "uint8"),
        (np.array([0, 2**64 - 1, 1, 0], dtype=np.uint64), -1, object),
        (np.array([0, 1, 1, 0], dtype=np.uint64), 2**64 - 1, "uint64"),
        (np.array([0.0, 1.0, 1.0, 0.0]), -1, "float64"),
        (np.array([0.0, 1.0, 1.0, 0.0]), 0.1, "float64"),
        (np.array([0.0, 1.0, 1.0, 0.0]), "reject", object),
        (np.array([0, 1, 1, 0], dtype=np.float32), -1, "float32"),
        (np.array([0, 1, 1, 0], dtype=np.float16), 4097, "float32"),
    ],
    ids=str,
)
def test_marking(labels, reject_label, dtype):
    check_marking(labels, ACCEPTED, reject_label, dtype)


def test_label_that_single_precision_would_round():
    labels = np.array([0, 1], dtype=np.float32)
    marked = mark_rejected(labels, np.array([True, False]), 0.1)
    assert marked.tolist() == [0.0, 0.1]


@pytest.mark.parametrize("keep", [True, False])
def test_marking_all_or_none(keep):
    labels = np.array(["a", "b"])
    marked = mark_rejected(labels, np.array([keep, keep]), "reject")
    assert marked.tolist() == (["a", "b"] if keep else ["reject", "reject"])


def test_marking_nothing():
    marked = mark_rejected(
        np.array([], dtype="<U1"), np.array([], dtype=bool), "reject"
    )
    assert marked.shape == (0,)
    assert marked.dtype == np.dtype("<U6")


@given(
    dtype=st.sampled_from(INTEGERS),
    reject_label=st.integers(-(2**65), 2**65),
    data=st.data(),
)
def test_integers_survive_whatever_the_label(dtype, reject_label, data):
    limits = np.iinfo(dtype)
    values = st.integers(int(limits.min), int(limits.max))
    labels = data.draw(st.lists(values, min_size=1, max_size=5))
    accepted = data.draw(
        st.lists(st.booleans(), min_size=len(labels), max_size=len(labels))
    )
    marked = mark_rejected(
        np.array(labels, dtype=dtype), np.array(accepted), reject_label
    )
    assert marked.tolist() == [
        label if keep else reject_label
        for label, keep in zip(labels, accepted, strict=True)
    ]


# Of one byte to four; to look at all of Unicode takes a second.
LETTERS = "a Z\0é漢🙂"


@given(
    labels=st.lists(st.text(LETTERS, max_size=12), min_size=1, max_size=5),
    reject_label=st.text(LETTERS, min_size=1, max_size=12),
    data=st.data(),
)
def test_text_is_never_cut(labels, reject_label, data):
    # NumPy itself drops NUL characters at the end of a string.
    labels = [label.rstrip("\0") for label in labels]
    reject_label = reject_label.rstrip("\0")
    accepted = data.draw(
        st.lists(st.booleans(), min_size=len(labels), max_size=len(labels))
    )
    marked = mark_rejected(np.array(labels), np.array(accepted), reject_label)
    assert marked.tolist() == [
        label if keep else reject_label
        for label, keep in zip(labels, accepted, strict=True)
    ]


@given(
    classes=st.lists(
        st.one_of(st.integers(-3, 3), st.integers(-(2**63), 2**63 - 1)),
        min_size=1,
        unique=True,
    )
)
def test_automatic_label_of_integers_is_no_class_and_can_be_marked(classes):
    array = np.array(classes, dtype=np.int64)
    label = resolve_reject_label("auto", array)
    assert label not in classes
    marked = mark_rejected(array, np.zeros(len(array), dtype=bool), label)
    assert marked.tolist() == [label] * len(array)


@given(
    classes=st.lists(
        st.one_of(st.sampled_from(["reject", "reject_", "auto", ""]), st.text(LETTERS)),
        min_size=1,
        unique=True,
    )
)
def test_automatic_label_of_names_is_no_class(classes):
    label = resolve_reject_label("auto", np.array(classes, dtype=object))
    assert label not in classes
    assert label.startswith("reject")


@pytest.mark.parametrize("classes", [[-1e17, -1.0], [-1e300, -1.0], [-1.0, 5.0]])
def test_automatic_float_label_is_never_a_class(classes):
    classes = np.array(classes)
    label = resolve_reject_label("auto", classes)
    assert label not in classes
    marked = mark_rejected(classes, np.array([True, False]), label)
    assert (marked == label).tolist() == [False, True]
