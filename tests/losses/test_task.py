"""Losses of single predictions, cost matrices by their labels, and what is refused."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB

import sklearn_reject as sr
from sklearn_reject import metrics
from sklearn_reject.losses import CostMatrixLoss, TaskLoss, check_loss
from sklearn_reject.scores import ConditionalRisk

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


# Row and column order differ, and neither is sorted. A missed tumor costs ten, a false
# alarm one: what is sorted is said by position.
NAMES = ["malignant", "benign"]
FRAME = pd.DataFrame([[10, 0], [0, 1]], index=NAMES, columns=NAMES[::-1])
SORTED = np.array([[0.0, 1.0], [10.0, 0.0]])


def test_a_frame_is_read_by_its_labels():
    loss = check_loss(FRAME, labels=["benign", "malignant"])
    np.testing.assert_array_equal(loss.matrix(["benign", "malignant"]), SORTED)
    assert loss(["malignant"], ["benign"]) == [10]
    assert CostMatrixLoss(FRAME).matrix(NAMES[::-1]).tolist() == SORTED.tolist()
    for order in (NAMES, NAMES[::-1]):
        assert check_loss(FRAME, labels=order).matrix(order[:1]) == [[0]]
    # An index of positions is the labels where classes are positions.
    loss = check_loss(pd.DataFrame([[0, 7], [3, 0]]), labels=np.array([0, 1]))
    assert loss.matrix([0, 1]).tolist() == [[0, 7], [3, 0]]
    # A frame may know more labels than a fold has.
    names = [2, 0, 1]
    frame = pd.DataFrame([[0, 5, 6], [7, 0, 8], [9, 4, 0]], index=names, columns=names)
    loss = check_loss(frame, labels=[0, 1])
    assert loss.matrix([0, 1]).tolist() == [[0, 8], [4, 0]]
    assert loss([2, 2], [0, 1]).tolist() == [5, 6]


ODD_LABELS = [np.array([3, 1], np.uint8), np.array(["b", "a"], dtype=object)]


@pytest.mark.parametrize(
    "labels", [[3, 1], [True, False], [2.5, -1.0], [b"b", b"a"], *ODD_LABELS], ids=str
)
def test_labels_of_any_kind_are_found(labels):
    frame = pd.DataFrame([[0, 7], [3, 0]], index=labels, columns=labels)
    for wanted in (np.sort(labels), np.sort(labels).astype(object)):
        loss = check_loss(frame, labels=wanted)
        assert loss.matrix(wanted).tolist() == [[0, 3], [7, 0]]
        assert loss.matrix(labels).tolist() == [[0, 7], [3, 0]]


def with_axes(index, columns):
    return pd.DataFrame(np.ones((len(index), len(columns))), index, columns)


class UnlabeledFrame:
    columns = ("benign", "malignant")

    def to_numpy(self):
        return SORTED


SORTED_NAMES = ["benign", "malignant"]
BAD_FRAMES = [
    (with_axes([0, 1], [0, 1]), r"rows \[0, 1\] and .* 'malignant'\] among"),
    (with_axes(["a", "b"], ["a", "c"]), r"\['a', 'b'\] and columns \['a', 'c'\]"),
    (with_axes([0, 1, 2], NAMES), "needs the same labels"),
    (with_axes([*NAMES, "benign"], [*NAMES, "benign"]), "each once"),
    (with_axes(["benign"], ["benign"]), "'malignant'. among them"),
    (UnlabeledFrame(), r"rows \[\] and .*to_numpy"),
    (with_axes([*NAMES, 1], [*NAMES, 1]), "mix strings and numbers"),
    (FRAME.astype(str) + "x", "numeric cost matrix"),
    (FRAME - 1, "non-negative"),
    (FRAME * np.nan, "finite"),
]
BAD_LOSSES = [
    *((frame, SORTED_NAMES, message) for frame, message in BAD_FRAMES),
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


def patients(n_ood=0):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 2))
    y = np.where(X[:, 0] + rng.normal(size=120) > 0, *NAMES)
    return X, np.where(np.arange(120) < n_ood, "ood", y)


def read_everywhere(loss):
    (X, y), options = patients(), {"loss": loss, "cv": 3}
    clf, scorer = GaussianNB(), metrics.get_selective_scorer("neg_aurc", loss=loss)
    selective = sr.SelectiveClassifier(clf, target_coverage=0.7, **options)
    double = sr.DoubleScoreOODClassifier(clf, min_tpr=0.8, **options)
    double.set_params(novelty_score="msp")
    for model, sample in ((selective, (X, y)), (double, patients(n_ood=20))):
        model.fit(*sample)
        yield np.append(model.uncertainty(X), model.score(*sample))
    predicted = clf.fit(X, y).predict(X), -clf.predict_proba(X).max(axis=1)
    yield metrics.aurc_score(y, *predicted, loss=loss)
    yield scorer(clf, X, y)


def test_a_frame_is_its_sorted_twin_wherever_a_loss_is_taken():
    read = map(read_everywhere, (FRAME, SORTED, SORTED.T))
    for by_label, by_position, turned in zip(*read, strict=True):
        np.testing.assert_array_equal(by_label, by_position)
        assert not np.array_equal(by_label, turned)


def test_a_frame_with_other_labels_is_refused_by_all_estimators():
    X, y = patients()
    frame = with_axes([0, 1], [0, 1])
    for estimator in (
        sr.SelectiveClassifier(GaussianNB(), loss=frame),
        sr.SelectiveClassifier(
            GaussianNB(), uncertainty_score=ConditionalRisk(loss=frame)
        ),
        sr.DoubleScoreOODClassifier(GaussianNB(), loss=frame, min_tpr=0.8),
    ):
        with pytest.raises(ValueError, match="among them"):
            estimator.fit(X, y)
    regressor = sr.SelectiveRegressor(LinearRegression(), loss=FRAME, reject_cost=1)
    with pytest.raises(ValueError, match="'squared', 'absolute' or a callable"):
        regressor.fit(X, X[:, 0])
