"""Realized losses against their definitions, and against scikit-learn."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import coo_array, csc_matrix, csr_array, csr_matrix
from sklearn.metrics import (
    balanced_accuracy_score,
    f1_score,
    fbeta_score,
    hamming_loss,
    jaccard_score,
)

from sklearn_reject.metrics import set_loss
from tests.decoding.set_oracle import (
    BETAS,
    DEFINITIONS,
    ZERO_DIVISIONS,
    options_of,
    table,
)


@st.composite
def indicators(draw, min_columns=1):
    """Draw two matrices of zeros and ones."""
    shape = draw(st.integers(1, 5)), draw(st.integers(min_columns, 5))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    return tuple(rng.integers(0, 2, (2, *shape)))


SETS = {
    "samples": list,
    "macro": lambda values: list(values.T),
    "micro": lambda values: [values.ravel()],
}
FORMS = [np.asarray, csr_array, csr_matrix, csc_matrix, coo_array]


@pytest.mark.parametrize("name", DEFINITIONS)
@given(
    sets=indicators(),
    beta=st.sampled_from(BETAS),
    z=st.sampled_from(ZERO_DIVISIONS),
    average=st.sampled_from(sorted(SETS)),
    forms=st.tuples(st.sampled_from(FORMS), st.sampled_from(FORMS)),
    dtype=st.sampled_from([bool, np.int8, float]),
)
def test_each_set_by_definition(name, sets, beta, z, average, forms, dtype):
    rows = zip(*map(SETS[average], sets), strict=True)
    expected = [DEFINITIONS[name](*table(*row), beta, z) for row in rows]
    pair = [form(part.astype(dtype)) for form, part in zip(forms, sets, strict=True)]
    options = options_of(name, beta, z)
    mean = set_loss(*pair, average=average, **options)
    assert type(mean) is float
    assert mean == pytest.approx(np.mean(expected), abs=1e-14)
    if average == "samples":
        losses = set_loss(*pair, average=None, **options)
        np.testing.assert_allclose(losses, expected, rtol=1e-14, atol=1e-15)


@given(
    sets=indicators(min_columns=2),
    average=st.sampled_from(sorted(SETS)),
    z=st.sampled_from([0.0, 1.0]),
    names=st.sampled_from([[0, 1], [-1, 1], [False, True], ["no", "yes"]]),
)
def test_losses_as_scikit_learn_has_them(sets, average, z, names):
    options = {"average": average, "zero_division": z}
    expected = {
        ("f1", 1.0): 1 - f1_score(*sets, **options),
        ("f_beta", 2.0): 1 - fbeta_score(*sets, beta=2.0, **options),
        ("jaccard", 1.0): 1 - jaccard_score(*sets, **options),
        ("hamming", 1.0): hamming_loss(*sets),
    }
    for (name, beta), value in expected.items():
        loss = set_loss(*sets, average=average, **options_of(name, beta, z))
        assert loss == pytest.approx(value, abs=1e-14), name
    weight = np.arange(1, len(sets[0]) + 1)
    theirs = f1_score(*sets, average="samples", zero_division=0.0, sample_weight=weight)
    assert set_loss(*sets, sample_weight=weight) == pytest.approx(1 - theirs, abs=1e-14)
    # One set, of the samples of the positive class.
    samples = [np.array(names)[part.ravel()] for part in sets]
    expected = {"f1": 1 - f1_score(*samples, pos_label=names[1], zero_division=z)}
    if len(np.unique(sets[0])) == 2:  # else scikit-learn warns
        expected["balanced_accuracy"] = 1 - balanced_accuracy_score(*samples)
    for name, value in expected.items():
        loss = set_loss(*samples, pos_label=names[1], **options_of(name, z=z))
        assert loss == pytest.approx(value), name


@given(sets=indicators())
def test_groups_are_rows(sets):
    rows, columns = sets[0].shape
    names = np.array(["e", "b", "d", "a", "c"])[:rows]
    groups, flat = np.repeat(names, columns), [part.ravel() for part in sets]
    losses = set_loss(*flat, groups=groups, average=None)
    expected = set_loss(*sets, average=None)[np.argsort(names)]
    np.testing.assert_array_equal(losses, expected)
    order = np.random.default_rng(0).permutation(rows * columns)
    shuffled = [part[order] for part in flat]
    assert set_loss(*shuffled, groups=groups[order]) == losses.mean()


def test_the_positive_label():
    """By default the last of two; of one, 1 and True are, and 0, -1 and False not."""
    for names in ([0, 2], [1, 2], [-1, 1], ["a", "b"], [-2.0, 0.0]):
        y_true, y_pred = np.array(names)[[0, 1, 1, 1]], np.array(names)[[1, 0, 1, 1]]
        assert set_loss(y_true, y_pred) == pytest.approx(1 / 3)
        swapped = set_loss(y_true, y_pred, pos_label=names[0])
        assert swapped == 1
    for negative, positive in ((-1, 1), (0, 1), (False, True)):
        assert set_loss([negative], [negative], zero_division=0.25) == 0.75
        assert set_loss([positive], [positive]) == 0


@given(
    sets=indicators(),
    form=st.sampled_from([np.asarray, csr_array]),
    names=st.sampled_from([[0, 1, 2, 3], ["d", "a", "c", "b"]]),
    seed=st.integers(0, 99),
)
def test_sets_of_classes(sets, form, names, seed):
    y_pred = np.pad(sets[1], ((0, 0), (0, 5 - sets[1].shape[1])))[:, :4]
    index = np.random.default_rng(seed).integers(0, 4, len(y_pred))
    truth, labels = np.array(names)[index], np.array(names)
    losses = set_loss(truth, form(y_pred), labels=labels, average=None)
    by_hand = set_loss(np.eye(4)[index], y_pred, average=None)
    np.testing.assert_array_equal(losses, by_hand)
    # Unless they are given, classes are sorted.
    if set(index) == {0, 1, 2, 3}:
        losses = set_loss(truth, form(y_pred[:, np.argsort(labels)]), average=None)
        np.testing.assert_array_equal(losses, by_hand)
    macro = set_loss(truth, form(y_pred), labels=labels, average="macro")
    assert macro == set_loss(np.eye(4)[index], y_pred, average="macro")


def test_sparse_matrices_and_frames():
    y = csr_array(([1.0, 0.0, 1.0], [0, 1, 2], [0, 3]), shape=(1, 4))
    assert set_loss(y, y) == 0
    assert y.nnz == 3  # as it was
    frame = pd.DataFrame([[1, 0], [1, 1]], columns=["x", "y"])
    assert set_loss(frame.astype(object), frame.astype("Int64")) == 0
    halves = csr_matrix(([0.5, 0.5], ([0, 0], [1, 1])), shape=(1, 3))
    assert set_loss(halves, [[0, 1, 1]]) == pytest.approx(1 / 3)
    twice = csr_array(([1, 1], [0, 0], [0, 2]), shape=(1, 4))
    with pytest.raises(ValueError, match=r"y_pred must hold 0 and 1.*got 2"):
        set_loss(y, twice)


MATRIX = [[0, 1], [1, 1]]
MASKED = np.ma.masked_equal([0, 1, -9], -9)
BAD = [
    ([0, 1], [0, 1, 1], {}, "y_pred has 3 elements, but there are 2 samples"),
    ([0, 1, 2], [0, 1, 1], {}, r"hold 3 labels, \[0, 1, 2\].*n_classes"),
    (["a", "b"], ["a", "b"], {"pos_label": 1}, r"=1 is not among .*\['a', 'b'\]"),
    (["a", "a"], ["a", "a"], {}, "hold the single label 'a'.*as pos_label"),
    (MASKED, MASKED, {}, r"y_true is a masked array.*`y_true\[~y_true.mask\]`"),
    (MATRIX, np.ma.masked_less(MATRIX, 1), {}, "y_pred is a masked array"),
    ([["a"], ["a", "b"]], MATRIX, {}, r"y_true holds lists of labels.*MultiLabelB"),
    (MATRIX, [[-1, 1], [1, 1]], {}, "got -1. Pass `y_pred > 0`"),
    ([0, 1], ["0", "1"], {}, "[Mm]ix"),
    ([], [], {}, "y_true is empty. At least one sample"),
    ([0, 1], [0, 1], {"groups": [1]}, "groups has 1 elements, but there are 2"),
    ([0, 1], [0, 1], {"groups": np.array(["a", 1], dtype=object)}, "can be sorted"),
    (MATRIX, MATRIX, {"groups": [0, 1]}, "each row is a set.*Omit groups"),
    (MATRIX, [0, 1], {}, r"both be vectors .*\(2, 2\) and \(2,\)"),
    (MATRIX, [[0, 1]], {}, r"same shape, got \(2, 2\) and \(1, 2\)"),
    ([[0.5, 1], [1, 1]], MATRIX, {}, "y_true must hold 0 and 1.*got 0.5"),
    (np.empty((0, 2)), np.empty((0, 2)), {}, r"y_pred is empty, of shape \(0, 2\)"),
    ([0, 1, 2], MATRIX, {}, "y_pred has 2 rows for 3 labels in y_true"),
    ([0, 0], MATRIX, {}, r"y_pred has 2 columns for the classes \[0\].*labels"),
    ([0, 5], MATRIX, {"labels": [0, 1]}, r"holds the label 5, .*\[0, 1\]"),
    ([0, 1], MATRIX, {"labels": [0, 1, 2]}, "Pass the class of each column"),
    (MATRIX, MATRIX, {"average": "mean"}, "average must be one of"),
    ([0, 1], [0, 1], {"average": "macro"}, r"average='macro'.*\(2,\).*a vector"),
    (
        MATRIX,
        MATRIX,
        {"sample_weight": [1, 1], "average": "macro"},
        "mean of .*mac",
    ),
    (MATRIX, MATRIX, {"sample_weight": [1]}, r"one weight per row .*shape \(2,\)"),
    ([0, 1], [0, 1], {"sample_weight": [1, 1]}, r"shape \(1,\),.*got shape \(2,\)"),
    (MATRIX, MATRIX, {"sample_weight": [1, -1]}, "must be non-negative"),
    (MATRIX, MATRIX, {"sample_weight": [1, 1], "average": None}, "average=None"),
    (MATRIX, MATRIX, {"loss": "f2"}, "loss must be one of"),
]


@pytest.mark.parametrize(("y_true", "y_pred", "options", "message"), BAD)
def test_bad_input(y_true, y_pred, options, message):
    with pytest.raises(ValueError, match=message):
        set_loss(y_true, y_pred, **options)
