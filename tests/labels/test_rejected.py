"""The label of rejected samples, and arrays that hold labels unharmed."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.frozen import FrozenEstimator
from sklearn.neighbors import KNeighborsClassifier

from sklearn_reject import DeferringClassifier, SelectiveClassifier


def saying(X, labels):
    """Return a classifier that predicts these labels for the rows of X."""
    return FrozenEstimator(KNeighborsClassifier(1).fit(X, labels))


def reject(labels, accepted, reject_label="auto"):
    """Return the label, and labels with it where they are not accepted."""
    accepted = np.asarray(accepted)
    X = np.column_stack([np.arange(len(labels)), ~accepted])
    selective = SelectiveClassifier(
        saying(X, labels),
        uncertainty_score=lambda estimator, X: X[:, 1],
        target_coverage=max(accepted.mean(), 1e-9),
        reject_label=reject_label,
        randomize=False,
    ).fit(X, labels)
    return selective.reject_label_, selective.predict(X)


@pytest.mark.parametrize(
    ("classes", "label"),
    [
        ([0, 1, 2], -1),
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
        (["reject", "reject_", "reject__"], "reject___"),
        # One less is the same number where floats are more than one apart.
        ([-1e17, -1.0], np.nextafter(-1e17, -np.inf)),
    ],
    ids=str,
)
def test_automatic_label(classes, label):
    found, marked = reject(np.asarray(classes), np.arange(len(classes)) > 0)
    assert found == label
    assert type(found) is type(label) or isinstance(label, float)
    assert marked.tolist() == [label, *np.asarray(classes).tolist()[1:]]


@pytest.mark.parametrize("label", [-1, 7, 0.5, "x", np.int8(9), np.str_("x"), -(2**70)])
@pytest.mark.parametrize("classes", [[0, 1], ["a", "b"], [False, True]], ids=str)
def test_explicit_label_is_kept(label, classes):
    assert reject(np.array(classes), [True, False], label)[0] is label
    assert reject(np.array(classes), [True, False], None)[0] is None


TWO = [0, 1, 1, 0]


@pytest.mark.parametrize(
    ("labels", "reject_label", "dtype"),
    [
        (np.array([*"abba"]), "reject", "<U6"),
        (np.array(["a long label", "b", "b", "a"]), "reject", "<U12"),
        (np.array([*"abba"]), "verworfen ✗", "<U11"),
        (np.array([*"abba"]), -1, object),
        (np.array([*"abba"], dtype=object), "reject", object),
        (np.array([True, False, False, True]), -1, "int64"),
        (np.array([True, False, False, True]), "reject", object),
        (np.array(TWO), "reject", object),
        (np.array(TWO), -0.5, object),
        (np.array([0, 1, 2**62, 0]), -1, "int64"),
        (np.array(TWO), 2**70, object),
        (np.array(TWO, dtype=np.int8), -1, "int8"),
        (np.array(TWO, dtype=np.int8), -129, "int64"),
        (np.array(TWO, dtype=np.int8), np.int64(300), "int64"),
        (np.array(TWO, dtype=np.uint8), -1, "int64"),
        (np.array([0, 2**64 - 1, 1, 0], dtype=np.uint64), -1, object),
        (np.array(TWO, dtype=np.uint64), 2**64 - 1, "uint64"),
        (np.array(TWO, dtype=float), 0.1, "float64"),
        (np.array(TWO, dtype=float), "reject", object),
        (np.array(TWO, dtype=np.float32), -1, "float32"),
        (np.array(TWO, dtype=np.float32), 0.1, object),
        (np.array(TWO, dtype=np.float16), 4097, "float32"),
    ],
    ids=str,
)
def test_marked_labels_are_exact(labels, reject_label, dtype):
    # Whether a sample is rejected does not show in the dtype.
    for accepted in ([True, False, True, False], [True] * 4):
        _, marked = reject(labels, accepted, reject_label)
        pairs = zip(labels.tolist(), accepted, strict=True)
        expected = [label if keep else reject_label for label, keep in pairs]
        assert marked.tolist() == expected
        assert marked.dtype == np.dtype(dtype)


@given(
    st.sampled_from(["int8", "int32", "int64", "uint8", "uint32", "uint64"]),
    st.one_of(st.just("auto"), st.integers(-(2**65), 2**65)),
    st.data(),
)
def test_integers_survive_whatever_the_label(dtype, reject_label, data):
    limits = np.iinfo(dtype)
    values = st.integers(int(limits.min), int(limits.max))
    values = st.one_of(values, st.sampled_from([0, 1, int(limits.max)]))
    labels = data.draw(st.lists(values, min_size=2, max_size=5))
    if reject_label in labels:
        reject_label = "auto"
    n_others = len(labels) - 1
    others = st.lists(st.booleans(), min_size=n_others, max_size=n_others)
    accepted = [True, *data.draw(others)]
    found, marked = reject(np.array(labels, dtype=dtype), accepted, reject_label)
    assert found not in labels
    pairs = zip(labels, accepted, strict=True)
    assert marked.tolist() == [label if keep else found for label, keep in pairs]


IS_A_CLASS = [
    *((label, [0, 1]) for label in (1, 1.0, np.uint8(1), True)),
    *((1, [False, True]), (-1, [-1, 1]), (7.0, [7.0, 9.0])),
    *(("a", [*"ab"]), (np.str_("a"), [*"ab"])),
]
KINDLESS = [(1,), int, b"x", 1j, np.datetime64(1, "D"), np.array([1]), np.nan]


@pytest.mark.parametrize(
    ("label", "classes", "message"),
    [
        *(
            (label, classes, f"={label!r} is one of the classes {classes}")
            for label, classes in IS_A_CLASS
        ),
        *((label, [0, 2], " must be None, a number") for label in KINDLESS),
    ],
    ids=str,
)
def test_labels_that_are_refused(label, classes, message):
    with pytest.raises(ValueError, match=f"reject_label{re.escape(message)}"):
        reject(np.array(classes), [True, False], label)


# Labels of several sources in one array

HUGE = 2**53 + 1


@pytest.mark.parametrize(
    ("labels", "found", "dtype"),
    [
        ([0, 1, 2], 5, int),
        ([0, 1, 2], 5.0, int),
        ([0.0, 1.0, 2.0], HUGE, object),
        ([False, True, False], True, bool),
        ([False, True, False], -1, int),
        (["a", "b", "a"], "long", "<U4"),
        (["a", "b", "a"], 3, object),
        ([0, 1, 2], "unsure", object),
    ],
)
@pytest.mark.parametrize("as_objects", [False, True])
@pytest.mark.filterwarnings("ignore::sklearn_reject.exceptions.RejectionWarning")
def test_merged_labels_are_exact(labels, found, dtype, as_objects):
    def expert(X):
        said = [found if number == 1 else labels[0] for number in X[:, 0]]
        return np.array(said, dtype=object) if as_objects else np.array(said)

    X = np.arange(3.0)[:, np.newaxis]
    model = DeferringClassifier(
        saying(X, np.array(labels)),
        expert,
        gain_score=lambda estimator, X: X[:, 0] == 1,
        deferral_cost=0,
    ).fit(X, [labels[0], labels[0], labels[2]], expert_labels=[labels[0]] * 3)
    assert model.defer(X).tolist() == [False, True, False]
    merged = model.predict(X)
    assert merged.tolist() == [labels[0], found, labels[2]]
    assert merged.dtype == np.dtype(dtype)
