"""Losses of single predictions: their values, and what they refuse."""

import numpy as np
import pytest

from sklearn_reject.losses import CostMatrixLoss, TaskLoss, check_loss

COSTS = [[0, 1, 4], [1, 0, 1], [4, 1, 0]]
DEFINITIONS = {
    "zero_one": ("zero_one", lambda y, p: float(y != p)),
    "absolute": ("absolute", lambda y, p: float(abs(y - p))),
    "squared": ("squared", lambda y, p: float((y - p) ** 2)),
    "costs": (COSTS, lambda y, p: float(COSTS[y][p])),
    "function": (lambda y, p: abs(y - p) ** 1.5, lambda y, p: abs(y - p) ** 1.5),
}


@pytest.mark.parametrize("name", DEFINITIONS)
def test_each_loss_is_its_definition(name):
    given, define = DEFINITIONS[name]
    loss = check_loss(given, labels=[0, 1, 2])
    matrix = loss.matrix([0, 1, 2])
    expected = [[define(y, p) for p in range(3)] for y in range(3)]
    np.testing.assert_array_equal(matrix, expected)
    np.testing.assert_array_equal(
        loss([0, 2, 1], [2, 2, 0]), matrix[[0, 2, 1], [2, 2, 0]]
    )
    assert matrix.dtype == np.float64
    assert check_loss(loss) is loss


@pytest.mark.parametrize("dtype", [np.uint8, np.uint64, np.int8, bool, np.float32])
@pytest.mark.parametrize("name", ["absolute", "squared"])
def test_differences_do_not_wrap(name, dtype):
    y_true, y_pred = np.array([1, 0], dtype=dtype), np.array([0, 1], dtype=dtype)
    assert check_loss(name)(y_true, y_pred).tolist() == [1, 1]


def test_several_outputs():
    y_true, y_pred = [[0, 1], [2, 3]], [[0, 3], [1, 1]]
    assert check_loss("absolute")(y_true, y_pred).tolist() == [1, 1.5]
    assert check_loss("squared")(y_true, y_pred).tolist() == [2, 2.5]
    assert check_loss("zero_one")([[0], [1]], [0, 0]).tolist() == [0, 1]


def test_a_new_loss_is_one_method():
    class Late(TaskLoss):
        def _losses(self, y_true, y_pred):
            return np.maximum(y_true - y_pred, 0)

    assert check_loss(Late()).matrix([0, 1]).tolist() == [[0, 0], [1, 0]]
    for name in ("zero_one", "absolute", "squared"):
        assert f'"{name}"' in check_loss.__doc__
    with pytest.raises(TypeError, match="TaskLoss does not define `_losses`"):
        TaskLoss()([0], [0])


BAD_LOSSES = [
    ("hinge", None, r"loss must be one of .*'absolute'.* got 'hinge'"),
    ([[0, 1], [1, 0]], None, r"loss .*cost matrix with `labels`"),
    (7, [0, 1], r"loss must be one of .* got 7"),
    (TaskLoss, [0, 1], "loss must be one of"),
    ([["a", "b"]], [0, 1], r"numeric cost matrix"),
    ([[0, 1]], [0, 1], r"loss is a cost matrix of shape \(1, 2\) for 2 labels"),
    ([[0, 1], [1, 0]], [0, 1, 2], r"for 3 labels.*Pass `labels`"),
    ([[0, -1], [1, 0]], [0, 1], r"cost matrix.*non-negative, got -1.0 in row 1"),
    (np.array([[0, 1 + 2j], [1, 0]]), [0, 1], r"numeric cost matrix"),
    ([[0, np.nan], [1, 0]], [0, 1], r"cost matrix.*finite, got nan"),
    ([[0, 1], [1, 0]], [1, 1], r"distinct labels, got \[1, 1\]"),
]


@pytest.mark.parametrize(("loss", "labels", "message"), BAD_LOSSES)
def test_bad_losses(loss, labels, message):
    with pytest.raises(ValueError, match=message):
        check_loss(loss, labels=labels)


SQUARE = [[0, 1], [1, 0]]
TWO = CostMatrixLoss(SQUARE, labels=[0, 1])
# The loss, true and predicted labels, and what it says.
BAD_LABELS = [
    ("zero_one", [0, 1], [0], "y_pred has 1 elements, but there are 2 samples"),
    ("zero_one", [], [], "y_true is empty"),
    ("zero_one", [0, 1], ["a", "b"], "y_true and y_pred mix strings and numbers"),
    ("zero_one", np.array([1, "1"], object), [1, 1], "mix strings and numbers"),
    ("zero_one", np.array(["a", None], object), ["a", "b"], r"\(None\) in row 1"),
    ("zero_one", np.array([np.nan, "a"], object), ["a", "b"], r"\(nan\) in row 0"),
    ("zero_one", [0.0, np.nan], [0, 1], r"y_true has no label \(nan\) in row 1"),
    ("zero_one", SQUARE, [0, 1], r"y_true must be a vector .*shape \(2, 2\)"),
    ("absolute", ["a"], ["b"], "loss, a difference, needs numeric labels"),
    ("absolute", SQUARE, [0, 1], r"same number of outputs.*\(2,\)"),
    ("absolute", SQUARE, [[0, np.nan], [1, 1]], "y_pred with multiple outputs must"),
    (TWO, [0, 1], [0, 5], r"y_pred holds the label 5.*\[0, 1\]"),
    (TWO, ["a"], ["a"], "mix strings and numbers"),
    *(
        (lambda y_true, y_pred, got=got: np.array(got), [0, 1], [0, 1], said)
        for got, said in (
            ([0.0], "losses has 1 elements, but there are 2 samples"),
            ([[0.0], [1.0]], r"losses must be a vector .*shape \(2, 1\)"),
            ([0.0, -1.0], "losses must be non-negative, got -1.0 in row 1"),
            ([0.0, np.inf], "losses must be finite, got inf in row 1"),
            (["a", "b"], "losses must hold numbers"),
        )
    ),
]  # fmt: skip


@pytest.mark.parametrize(("loss", "y_true", "y_pred", "message"), BAD_LABELS)
def test_bad_labels(loss, y_true, y_pred, message):
    loss = check_loss(loss)
    with pytest.raises(ValueError, match=message):
        loss(y_true, y_pred)
