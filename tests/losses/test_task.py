import numpy as np
import pytest

from sklearn_reject.losses import (
    AbsoluteLoss,
    CallableLoss,
    CostMatrixLoss,
    SquaredLoss,
    TaskLoss,
    ZeroOneLoss,
    check_loss,
)

LOSSES = [
    ZeroOneLoss(),
    AbsoluteLoss(),
    SquaredLoss(),
    CostMatrixLoss([[0, 1, 4], [1, 0, 1], [4, 1, 0]], labels=[0, 1, 2]),
    CallableLoss(lambda y_true, y_pred: abs(y_true - y_pred) ** 1.5),
]


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: type(loss).__name__)
def test_right_labels_cost_nothing_and_matrix_agrees_with_pairs(loss):
    classes = np.array([0, 1, 2])
    matrix = loss.matrix(classes)
    for i, truth in enumerate(classes):
        for j, prediction in enumerate(classes):
            assert matrix[i, j] == loss([truth], [prediction])[0]
            assert (matrix[i, j] == 0) == (i == j)
    assert matrix.dtype == np.float64


def test_values_by_hand():
    y_true, y_pred = [0, 2, 1], [2, 2, 0]
    np.testing.assert_array_equal(ZeroOneLoss()(y_true, y_pred), [1, 0, 1])
    np.testing.assert_array_equal(AbsoluteLoss()(y_true, y_pred), [2, 0, 1])
    np.testing.assert_array_equal(SquaredLoss()(y_true, y_pred), [4, 0, 1])


@pytest.mark.parametrize("dtype", [np.uint8, np.uint64, np.int8, bool, np.float32])
def test_differences_do_not_wrap(dtype):
    y_true, y_pred = np.array([1, 0], dtype=dtype), np.array([0, 1], dtype=dtype)
    np.testing.assert_array_equal(AbsoluteLoss()(y_true, y_pred), [1, 1])
    np.testing.assert_array_equal(SquaredLoss()(y_true, y_pred), [1, 1])


def test_cost_matrix_follows_its_labels_in_any_order():
    costs = [[0, 7], [3, 0]]
    loss = CostMatrixLoss(costs, labels=["b", "a"])
    np.testing.assert_array_equal(loss(["b", "a", "a"], ["a", "b", "a"]), [7, 3, 0])
    np.testing.assert_array_equal(loss.matrix(["a", "b"]), [[0, 3], [7, 0]])


def test_object_and_string_labels_compare():
    y_true = np.array(["x", "yes"], dtype=object)
    np.testing.assert_array_equal(ZeroOneLoss()(y_true, np.array(["x", "y"])), [0, 1])


def test_a_new_loss_is_one_method():
    class Late(TaskLoss):
        def _losses(self, y_true, y_pred):
            return np.maximum(y_true - y_pred, 0)

    np.testing.assert_array_equal(Late()([3, 1], [1, 3]), [2, 0])
    assert check_loss(Late()).matrix([0, 1]).tolist() == [[0, 0], [1, 0]]


@pytest.mark.parametrize(
    ("name", "kind"),
    [("zero_one", ZeroOneLoss), ("absolute", AbsoluteLoss), ("squared", SquaredLoss)],
)
def test_check_loss_by_name(name, kind):
    assert type(check_loss(name)) is kind


@pytest.mark.parametrize(
    ("loss", "labels", "message"),
    [
        ("hinge", None, r"loss must be one of .*'absolute'.* got 'hinge'"),
        ([[0, 1], [1, 0]], None, r"loss .*cost matrix with `labels`"),
        (7, [0, 1], r"loss must be one of .* got 7"),
        ([["a", "b"]], [0, 1], r"numeric cost matrix"),
        ([[0, 1]], [0, 1], r"loss is a cost matrix of shape \(1, 2\) for 2 labels"),
        ([[0, 1], [1, 0]], [0, 1, 2], r"for 3 labels.*Pass `labels`"),
        ([[0, -1], [1, 0]], [0, 1], r"cost matrix.*non-negative, got -1.0 in row 1"),
        ([[0, np.nan], [1, 0]], [0, 1], r"cost matrix.*finite, got nan"),
        ([[0, 1], [1, 0]], [1, 1], r"distinct labels, got \[1, 1\]"),
    ],
)
def test_check_loss_refuses(loss, labels, message):
    with pytest.raises(ValueError, match=message):
        check_loss(loss, labels=labels)


@pytest.mark.parametrize(
    ("y_true", "y_pred", "message"),
    [
        ([0, 1], [0], "y_pred has 1 elements, but there are 2 samples"),
        ([], [], "y_true is empty"),
        ([0, 1], ["a", "b"], "y_true and y_pred mix strings and numbers"),
        (np.array([1, "1"], object), [1, 1], "mix strings and numbers"),
        (np.array(["a", None], object), ["a", "b"], r"no label \(None\) in row 1"),
        (np.array([np.nan, "a"], object), ["a", "b"], r"no label \(nan\) in row 0"),
        (np.array([b"a"]), ["a"], "mix strings"),
        ([0.0, np.nan], [0, 1], r"y_true has no label \(nan\) in row 1"),
        ([[0, 1], [1, 0]], [0, 1], r"y_true must be a vector .*shape \(2, 2\)"),
    ],
)
def test_labels_are_checked(y_true, y_pred, message):
    with pytest.raises(ValueError, match=message):
        ZeroOneLoss()(y_true, y_pred)


@pytest.mark.parametrize("name", ["absolute", "squared"])
def test_differences_need_numbers(name):
    with pytest.raises(ValueError, match=f"loss='{name}' needs numeric labels"):
        check_loss(name)(["a"], ["b"])


def test_unseen_label_of_a_cost_matrix():
    loss = CostMatrixLoss([[0, 1], [1, 0]], labels=[0, 1])
    with pytest.raises(ValueError, match=r"y_pred holds the label 5.*\[0, 1\]"):
        loss([0, 1], [0, 5])
    with pytest.raises(ValueError, match="mix strings and numbers"):
        loss(["a"], ["a"])


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        ([0.0], "losses has 1 elements, but there are 2 samples"),
        ([[0.0], [1.0]], r"losses must be a vector .*shape \(2, 1\)"),
        ([0.0, -1.0], "losses must be non-negative, got -1.0 in row 1"),
        ([0.0, np.inf], "losses must be finite, got inf in row 1"),
        (["a", "b"], "losses must hold numbers"),
    ],
)
def test_callable_losses_are_checked(returned, message):
    loss = check_loss(lambda y_true, y_pred: np.array(returned))
    with pytest.raises(ValueError, match=message):
        loss([0, 1], [0, 1])


def test_base_class_says_what_is_missing():
    with pytest.raises(TypeError, match="TaskLoss does not define `_losses`"):
        TaskLoss()([0], [0])


def test_a_class_is_no_loss():
    with pytest.raises(ValueError, match="loss must be one of"):
        check_loss(ZeroOneLoss, labels=[0, 1])


def test_several_outputs():
    y_true, y_pred = [[0, 1], [2, 3]], [[0, 3], [1, 1]]
    np.testing.assert_array_equal(AbsoluteLoss()(y_true, y_pred), [1, 1.5])
    np.testing.assert_array_equal(SquaredLoss()(y_true, y_pred), [2, 2.5])
    np.testing.assert_array_equal(ZeroOneLoss()([[0], [1]], [0, 0]), [0, 1])
    with pytest.raises(ValueError, match=r"same number of outputs.*\(2,\)"):
        AbsoluteLoss()(y_true, [0, 1])
    for odd in ([[0, np.nan], [1, 1]], [["a", "b"], ["c", "d"]]):
        with pytest.raises(ValueError, match="y_pred with multiple outputs must hold"):
            AbsoluteLoss()(y_true, odd)


def test_losses_show_what_they_are():
    assert repr(AbsoluteLoss()) == "AbsoluteLoss()"
    loss = CostMatrixLoss([[0, 1], [5, 0]], labels=["a", "b"])
    assert repr(loss) == "CostMatrixLoss(labels=['a', 'b'])"
    assert repr(CallableLoss(len)) == "CallableLoss(<built-in function len>)"
