"""A labeled cost matrix is read by its labels wherever a loss is taken."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB

from sklearn_reject import (
    DoubleScoreOODClassifier,
    SelectiveClassifier,
    SelectiveRegressor,
    metrics,
)
from sklearn_reject.losses import CostMatrixLoss, check_loss
from sklearn_reject.scores import ConditionalRisk

pd = pytest.importorskip("pandas")

# Row and column order differ, and neither is sorted. A missed tumor costs ten, a false
# alarm one: what is sorted is said by position.
NAMES = ["malignant", "benign"]
FRAME = pd.DataFrame([[10, 0], [0, 1]], index=NAMES, columns=NAMES[::-1])
SORTED = np.array([[0.0, 1.0], [10.0, 0.0]])


def patients(n_ood=0):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 2))
    y = np.where(X[:, 0] + rng.normal(size=120) > 0, *NAMES)
    return X, np.where(np.arange(120) < n_ood, "ood", y)


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


@pytest.mark.parametrize(
    "labels",
    [
        *([3, 1], [True, False], [2.5, -1.0], [b"b", b"a"]),
        *(np.array([3, 1], np.uint8), np.array(["b", "a"], dtype=object)),
    ],
    ids=str,
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


@pytest.mark.parametrize(
    ("frame", "message"),
    [
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
    ],
)
def test_labels_that_do_not_match_are_refused(frame, message):
    with pytest.raises(ValueError, match=message):
        check_loss(frame, labels=["benign", "malignant"])


# Wherever a loss is taken


def decide(loss):
    X, y = patients()
    options = {"target_coverage": 0.7, "cv": 3, "random_state": 0}
    selective = SelectiveClassifier(GaussianNB(), loss=loss, **options).fit(X, y)
    return np.append(selective.uncertainty(X), selective.score(X, y))


def decide_double(loss):
    X, y = patients(n_ood=20)
    options = {"min_tpr": 0.8, "novelty_score": "msp", "cv": 3}
    double = DoubleScoreOODClassifier(GaussianNB(), loss=loss, **options).fit(X, y)
    return np.append(double.uncertainty(X), double.score(X, y))


def measure(loss):
    X, y = patients()
    clf = GaussianNB().fit(X, y)
    predicted = clf.predict(X), -clf.predict_proba(X).max(axis=1)
    return metrics.aurc_score(y, *predicted, loss=loss)


def score(loss):
    X, y = patients()
    scorer = metrics.get_selective_scorer("neg_aurc", loss=loss)
    return scorer(GaussianNB().fit(X, y), X, y)


@pytest.mark.parametrize("entry", [decide, decide_double, measure, score])
def test_a_frame_is_its_sorted_twin_wherever_a_loss_is_taken(entry):
    by_label = entry(FRAME)
    np.testing.assert_array_equal(by_label, entry(SORTED))
    assert not np.array_equal(by_label, entry(SORTED.T))


def test_a_frame_with_other_labels_is_refused_by_all_estimators():
    X, y = patients()
    frame = with_axes([0, 1], [0, 1])
    for estimator in (
        SelectiveClassifier(GaussianNB(), loss=frame),
        SelectiveClassifier(
            GaussianNB(), uncertainty_score=ConditionalRisk(loss=frame)
        ),
        DoubleScoreOODClassifier(GaussianNB(), loss=frame, min_tpr=0.8),
    ):
        with pytest.raises(ValueError, match="among them"):
            estimator.fit(X, y)
    regressor = SelectiveRegressor(LinearRegression(), loss=FRAME, reject_cost=1)
    with pytest.raises(ValueError, match="'squared', 'absolute' or a callable"):
        regressor.fit(X, X[:, 0])
