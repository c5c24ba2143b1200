"""What two opinions cost, from labels of any kind, some of them missing."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sklearn_reject import _curves as curves
from sklearn_reject.exceptions import RejectionWarning
from sklearn_reject.losses import CostMatrixLoss
from sklearn_reject.metrics import deferral_area_score, deferral_curve

Y_TRUE = np.array([0, 1, 2, 1, 0, 2])
Y_FIRST = np.array([0, 2, 2, 0, 1, 2])
Y_SECOND = np.array([0, 1, 1, 1, 0, 0])
SCORES = np.array([0.1, 0.9, -0.3, 0.4, 0.4, 0.2])
COSTS = np.array([[0.0, 1.0, 2.0], [5.0, 0.0, 1.0], [3.0, 2.0, 0.0]])

LOSSES = {
    "zero_one": lambda true, label: float(true != label),
    "absolute": lambda true, label: abs(true - label),
    "squared": lambda true, label: (true - label) ** 2,
}

NAMES = np.array(["cat", "dog", "owl"])
KINDS = {
    "numbers": lambda labels: labels,
    "text": lambda labels: NAMES[labels],
    "objects": lambda labels: NAMES[labels].astype(object),
    "column": lambda labels: labels[:, np.newaxis],
    "series": lambda labels: pd.Series(labels, index=labels),
    "minus one": lambda labels: labels - 1,
    "floats": lambda labels: labels.astype(float),
}


def by_hand(cost, known=None):
    """Return what curves make of losses that are worked out one by one."""
    rows = range(len(Y_TRUE)) if known is None else known
    first, second = (
        [cost(Y_TRUE[row], labels[row]) for row in rows]
        for labels in (Y_FIRST, Y_SECOND)
    )
    return curves.deferral_area_score(SCORES[list(rows)], first, second)


@pytest.mark.parametrize("loss", LOSSES)
def test_losses_are_those_of_both_opinions(loss):
    value = deferral_area_score(Y_TRUE, Y_FIRST, Y_SECOND, SCORES, loss=loss)
    assert value == pytest.approx(by_hand(LOSSES[loss]), rel=1e-14)


@pytest.mark.parametrize("kind", KINDS)
def test_labels_of_any_kind(kind):
    make = KINDS[kind]
    value = deferral_area_score(make(Y_TRUE), make(Y_FIRST), make(Y_SECOND), SCORES)
    assert value == pytest.approx(by_hand(LOSSES["zero_one"]), rel=1e-14)


@pytest.mark.parametrize(
    "second",
    [
        [0.0, np.nan, 1.0, 1.0, np.nan, 0.0],
        [0, None, 1, 1, None, 0],
        np.ma.masked_array(Y_SECOND, mask=[0, 1, 0, 0, 1, 0]),
        pd.array([0, None, 1, 1, None, 0], dtype="Int64"),
        pd.Series([0, None, 1, 1, None, 0], index=[3, 3, 3, 1, 2, 0]),
    ],
    ids=["nan", "none", "masked", "nullable", "series"],
)
@pytest.mark.parametrize("loss", ["zero_one", "table", "table object", "absolute"])
def test_missing_answers_leave_their_rows_out(second, loss):
    cost = LOSSES.get(loss, lambda true, label: COSTS[true, label])
    if loss == "table":
        loss = COSTS
    elif loss == "table object":
        loss = CostMatrixLoss(COSTS, labels=[0, 1, 2])
    value = deferral_area_score(Y_TRUE, Y_FIRST, second, SCORES, loss=loss)
    assert value == pytest.approx(by_hand(cost, [0, 2, 3, 5]), rel=1e-14)


@pytest.mark.parametrize("gap", [None, np.nan])
@pytest.mark.parametrize("kind", [list, tuple, np.array, pd.Series])
def test_text_may_be_missing_too(kind, gap):
    second = ["cat", gap, "dog", "dog", gap, "cat"]
    second = np.array(second, dtype=object) if kind is np.array else kind(second)
    value = deferral_area_score(NAMES[Y_TRUE], NAMES[Y_FIRST], second, SCORES)
    assert value == pytest.approx(by_hand(LOSSES["zero_one"], [0, 2, 3, 5]))


@given(st.integers(1, 5), st.randoms(use_true_random=False))
def test_losses_may_be_given_themselves(n_samples, random):
    rng = np.random.default_rng(random.randrange(2**31))
    scores, first, second = rng.integers(0, 3, (3, n_samples)) / 2
    for loss in (
        (first, second),
        [list(first), list(second)],
        np.stack([first, second]),
    ):
        rate, risk, thresholds = deferral_curve(None, None, None, scores, loss=loss)
        expected = curves.deferral_curve(scores, first, second)
        for got, wanted in zip((rate, risk, thresholds), expected, strict=True):
            np.testing.assert_array_equal(got, wanted)


def test_a_pair_of_pairs_is_a_cost_matrix_where_there_are_labels():
    loss, scores = [[0, 1], [5, 0]], [1, 2]
    value = deferral_area_score([1, 0], [0, 0], [1, 1], scores, loss=loss)
    assert value == curves.deferral_area_score(scores, [5, 0], [0, 1])
    value = deferral_area_score(None, None, None, scores, loss=loss)
    assert value == curves.deferral_area_score(scores, [0, 1], [5, 0])


def test_a_cost_matrix_is_for_all_labels_that_occur():
    # No known answer and no first label is 2: the matrix still has three labels.
    first, second = [0, 1, 1, 0, 1, 0], [0, None, None, 1, 0, 0]
    value = deferral_area_score(Y_TRUE, first, second, SCORES, loss=COSTS)
    rows = [0, 3, 4, 5]
    of_first = [COSTS[Y_TRUE[row], first[row]] for row in rows]
    of_second = [COSTS[Y_TRUE[row], second[row]] for row in rows]
    expected = curves.deferral_area_score(SCORES[rows], of_first, of_second)
    assert value == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize("name", ["y_first", "y_second"])
@pytest.mark.parametrize("loss", ["zero_one", "absolute", COSTS], ids=[0, 1, 2])
def test_the_mark_of_deferred_samples_is_no_label(name, loss):
    labels = {"y_first": Y_FIRST, "y_second": Y_SECOND}
    labels[name] = np.where(Y_FIRST == Y_TRUE, Y_TRUE, -1)
    way_out = "predict_first" if name == "y_first" else "None or NaN"
    with pytest.raises(ValueError, match=f"{name} holds -1.*(?s:.*){way_out}"):
        deferral_area_score(Y_TRUE, **labels, deferral_score=SCORES, loss=loss)


def test_the_mark_of_deferred_text_is_no_label():
    first = np.where(Y_FIRST == Y_TRUE, NAMES[Y_TRUE], "defer")
    with pytest.raises(ValueError, match=r"y_first holds 'defer'.*defer_label='auto'"):
        deferral_area_score(NAMES[Y_TRUE], first, NAMES[Y_SECOND], SCORES)


def test_a_label_that_nobody_has_is_pointed_out():
    second = [0, None, 7, 1, None, 0]
    with pytest.warns(RejectionWarning, match="y_second holds 7, which is not in"):
        deferral_area_score(Y_TRUE, Y_FIRST, second, SCORES)
    deferral_area_score(Y_TRUE, Y_FIRST, second, SCORES, labels=[0, 1, 2, 7])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"y_true": None}, "y_true is None.*loss_first, loss_second"),
        ({"y_second": None}, "y_second is None"),
        ({"y_first": [0, 1, 2, 1, 0, None]}, "y_first has no label"),
        ({"y_true": [0, 1, 2, 1, 0, None]}, "y_true has no label"),
        ({"y_second": [0, 1]}, "y_second has 2 elements, but there are 6"),
        ({"y_second": [None] * 6}, "loss_second is missing in all 6"),
        ({"y_second": np.ones((6, 2))}, "y_second must be a vector of labels"),
        ({"y_second": list("aabbcc")}, "y_second.*mix strings and numbers"),
        ({"deferral_score": [1, 2]}, "deferral_score has 2 elements, but there are 6"),
        ({"deferral_score": [np.nan] * 6}, "deferral_score must be finite"),
        ({"loss": [[0, 1], [1, 0]]}, "cost matrix of shape"),
        ({"loss": "l2"}, "loss must be one of"),
        ({"loss": ([0] * 6, [0] * 6)}, "labels are given as well"),
        (
            {
                **dict.fromkeys(("y_true", "y_first", "y_second")),
                "loss": ([0] * 6, [0] * 5),
            },
            "loss_second has 5 elements, but there are 6",
        ),
        ({"normalize": "oracle"}, "normalize must be one of"),
        ({"sample_weight": [1, 2]}, "sample_weight"),
    ],
)
def test_bad_arguments_are_refused(changes, message):
    arguments = {
        **{"y_true": Y_TRUE, "y_first": Y_FIRST, "y_second": Y_SECOND},
        "deferral_score": SCORES,
    }
    with pytest.raises(ValueError, match=message):
        deferral_area_score(**{**arguments, **changes})
