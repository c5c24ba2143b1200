"""Metrics of two opinions, and of rejections at a cost, are their definitions."""

import itertools
from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.exceptions import UndefinedMetricWarning

from sklearn_reject.exceptions import RejectionWarning
from sklearn_reject.losses import CostMatrixLoss
from sklearn_reject.metrics import (
    deferral_area_score,
    deferral_curve,
    selective_cost_score,
)
from tests.samples import samples

CLOSE = {"rel": 1e-13, "abs": 1e-15}


def area_of(scores, first, second, weights=None, **options):
    options |= {"loss": (first, second), "sample_weight": weights}
    return deferral_area_score(None, None, None, scores, **options)


@st.composite
def opinions(draw, max_size=7, weighted=True):
    """Draw scores, both losses, of which the second may be NaN, and weights or None."""
    scores, first, weights = draw(samples(max_size=max_size, weighted=weighted))
    n = len(scores)
    second = np.array(draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))) / 2
    if draw(st.booleans()):
        known = np.array(draw(st.lists(st.booleans(), min_size=n, max_size=n)))
        assume((known if weights is None else known & (weights > 0)).any())
        second[~known] = np.nan
    return scores, first, second, weights


def known_rows(scores, first, second, weights):
    weights = np.ones(len(scores)) if weights is None else weights
    rows = np.flatnonzero((weights > 0) & (second == second))
    return scores[rows], first[rows], second[rows], weights[rows]


def area_of_order(first, second, weights):
    """Integrate, for samples deferred one after the other, sample by sample."""
    area = 0.0
    for row in range(len(first)):
        # While this sample is being deferred, those before are and those after are not.
        for k in (row, row + 1):
            end = second[:k] @ weights[:k] + first[k:] @ weights[k:]
            area += weights[row] * end / 2
    return area / weights.sum() ** 2


def areas_of_orders(scores, first, second, weights, tied_only):
    for order in map(list, permutations(range(len(scores)))):
        if not tied_only or (np.diff(scores[order]) <= 0).all():
            yield area_of_order(first[order], second[order], weights[order])


@given(opinions(max_size=6, weighted=False))
def test_area_is_the_mean_over_all_orders_of_ties(sample):
    rows = known_rows(*sample)
    area = np.mean(list(areas_of_orders(*rows, tied_only=True)))
    assert area_of(*sample) == pytest.approx(area, **CLOSE)
    every = list(areas_of_orders(*rows, tied_only=False))
    best, mean = min(every), np.mean(every)
    excess = area_of(*sample, normalize="excess")
    assert excess == pytest.approx(area - best, **CLOSE)
    if len(set(rows[1] - rows[2])) > 1:
        ratio = area_of(*sample, normalize="prr")
        assert ratio == pytest.approx((mean - area) / (mean - best), 1e-12, 1e-13)
    else:
        with pytest.warns(UndefinedMetricWarning, match="is the same in all samples"):
            assert np.isnan(area_of(*sample, normalize="prr"))


@given(opinions())
def test_the_curve_has_a_point_for_each_rule_and_the_area_is_its_integral(sample):
    losses = sample[1:3]
    for loss in (losses, [losses[0].tolist(), losses[1]], np.stack(losses)):
        rate, risk, thresholds = deferral_curve(
            None, None, None, sample[0], loss=loss, sample_weight=sample[3]
        )
    area = np.diff(rate) @ (risk[1:] + risk[:-1]) / 2
    assert area_of(*sample) == pytest.approx(area, **CLOSE)
    scores, first, second, weights = known_rows(*sample)
    assert thresholds.tolist() == [np.inf, *sorted(set(scores.tolist()), reverse=True)]
    for k, threshold in enumerate(thresholds):
        deferred = scores >= threshold
        system = np.where(deferred, second, first)
        expected = [np.average(x, weights=weights) for x in (deferred, system)]
        assert [rate[k], risk[k]] == pytest.approx(expected, **CLOSE)


def test_prr_is_undefined_where_differences_are_rounding():
    second = np.array([0.1, 0.2, 0.3, 0.7])
    first = second + 0.1
    assert len(set(first - second)) > 1
    with pytest.warns(UndefinedMetricWarning, match="undefined"):
        assert np.isnan(area_of([1, 2, 3, 4], first, second, normalize="prr"))


Y_TRUE = np.array([0, 1, 2, 1, 0, 2])
Y_FIRST = np.array([0, 2, 2, 0, 1, 2])
Y_SECOND = np.array([0, 1, 1, 1, 0, 0])
SCORES = np.array([0.1, 0.9, -0.3, 0.4, 0.4, 0.2])
COSTS = np.array([[0.0, 1.0, 2.0], [5.0, 0.0, 1.0], [3.0, 2.0, 0.0]])
KNOWN = [0, 2, 3, 5]
NAMES = np.array(["cat", "dog", "owl"])
LOSSES = {
    "zero_one": lambda true, label: float(true != label),
    "absolute": lambda true, label: abs(true - label),
    "squared": lambda true, label: (true - label) ** 2,
}


def by_hand(cost, rows=range(6)):
    opinions = Y_FIRST, Y_SECOND
    losses = ([cost(Y_TRUE[row], labels[row]) for row in rows] for labels in opinions)
    return area_of(SCORES[list(rows)], *losses)


GAPS = {
    "nan": [0.0, np.nan, 1.0, 1.0, np.nan, 0.0],
    "none": [0, None, 1, 1, None, 0],
    "masked": np.ma.masked_array(Y_SECOND, mask=[0, 1, 0, 0, 1, 0]),
    "nullable": pd.array([0, None, 1, 1, None, 0], dtype="Int64"),
    "series": pd.Series([0, None, 1, 1, None, 0], index=[3, 3, 3, 1, 2, 0]),
}


@pytest.mark.parametrize("second", GAPS.values(), ids=GAPS)
def test_missing_answers_leave_their_rows_out(second):
    of_table = lambda true, label: COSTS[true, label]  # noqa: E731
    tables = COSTS, CostMatrixLoss(COSTS, labels=[0, 1, 2])
    for loss, cost in [*LOSSES.items(), *((table, of_table) for table in tables)]:
        value = deferral_area_score(Y_TRUE, Y_FIRST, second, SCORES, loss=loss)
        assert value == pytest.approx(by_hand(cost, KNOWN), rel=1e-14)
    # So do missing losses of the second opinion.
    value = area_of(SCORES, Y_TRUE * 0, second)
    expected = area_of(SCORES[KNOWN], [0] * 4, Y_SECOND[KNOWN])
    assert value == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize("name", ["y_first", "y_second"])
@pytest.mark.parametrize("loss", ["zero_one", "absolute", COSTS], ids=[0, 1, 2])
def test_the_mark_of_deferred_samples_is_no_label(name, loss):
    labels = {"y_first": Y_FIRST, "y_second": Y_SECOND}
    labels[name] = np.where(Y_FIRST == Y_TRUE, Y_TRUE, -1)
    way_out = "predict_first" if name == "y_first" else "None or NaN"
    with pytest.raises(ValueError, match=f"{name} holds -1.*(?s:.*){way_out}"):
        deferral_area_score(Y_TRUE, **labels, gain=SCORES, loss=loss)


def test_labels_of_text_and_labels_that_nobody_has():
    for gap, kind in itertools.product((None, np.nan), (list, tuple, pd.Series)):
        second = kind(["cat", gap, "dog", "dog", gap, "cat"])
        value = deferral_area_score(NAMES[Y_TRUE], NAMES[Y_FIRST], second, SCORES)
        assert value == pytest.approx(by_hand(LOSSES["zero_one"], KNOWN))
    first = np.where(Y_FIRST == Y_TRUE, NAMES[Y_TRUE], "defer")
    with pytest.raises(ValueError, match=r"y_first holds 'defer'.*defer_label='auto'"):
        deferral_area_score(NAMES[Y_TRUE], first, NAMES[Y_SECOND], SCORES)
    second = [0, None, 7, 1, None, 0]
    with pytest.warns(RejectionWarning, match="y_second holds 7, which is not in"):
        deferral_area_score(Y_TRUE, Y_FIRST, second, SCORES)
    deferral_area_score(Y_TRUE, Y_FIRST, second, SCORES, labels=[0, 1, 2, 7])


@pytest.mark.parametrize("asked", ["errors", "low scores"])
def test_a_warning_says_that_the_samples_asked_were_chosen(asked):
    rng = np.random.default_rng(1)
    scores, first = rng.normal(size=400), rng.integers(0, 2, 400)
    chosen = first == 1 if asked == "errors" else scores < 0
    second = np.where(chosen, 0.5, np.nan)
    what = "loss of the first opinion is higher"
    what = "gain is lower" if asked == "low scores" else what
    with pytest.warns(RejectionWarning, match=f"the {what} in these than in the"):
        area_of(scores, first, second)
    # Samples without weight are not there, so nothing is missing.
    area_of(scores, first, second, chosen * 1.0)


@pytest.mark.filterwarnings("error")
def test_samples_drawn_at_random_or_all_alike_lead_to_no_warning():
    rng = np.random.default_rng(2)
    for n_samples in (2, 3, 10, 60, 500):
        for _ in range(20):
            scores = rng.exponential(size=n_samples) ** 9
            first = rng.random(n_samples) < 0.02
            second = np.zeros(n_samples)
            n_missing = rng.integers(1, n_samples)
            second[rng.choice(n_samples, n_missing, replace=False)] = np.nan
            area_of(scores, first, second)
    for n_samples in (20, 57, 399):
        second = np.where(np.arange(n_samples) % 2, 0.0, np.nan)
        alike = np.full(n_samples, 0.3)
        assert area_of(alike, alike, second) == pytest.approx(0.15)


NONE = dict.fromkeys(("y_true", "y_first", "y_second"))


BAD_OPINIONS = [
    ({"y_true": None}, "y_true is None.*loss_first, loss_second"),
    ({"y_first": [0, 1, 2, 1, 0, None]}, "y_first has no label"),
    ({"y_second": [0, 1]}, "y_second has 2 elements, but there are 6"),
    ({"y_second": [None] * 6}, "loss_second is missing in all 6"),
    ({"y_second": np.ones((6, 2))}, "y_second must be a vector of labels"),
    ({"y_second": list("aabbcc")}, "mix strings and numbers"),
    ({"loss": [[0, 1], [1, 0]]}, "cost matrix of shape"),
    ({"loss": "l2"}, "loss must be one of"),
    ({"loss": ([0] * 6, [0] * 6)}, "cost matrix of shape"),
    ({**NONE, "loss": ([0] * 6, [0] * 5)}, "loss_second has 5 elements, but there"),
    ({**NONE, "loss": ([0] * 6, [-1] * 6)}, "loss_second must be non-neg.*row 0"),
    ({**NONE, "loss": ([0] * 6, [np.inf] * 6)}, "loss_second must be finite.*row"),
    ({"normalize": "oracle"}, "normalize must be one of"),
    ({"y_second": GAPS["none"], "sample_weight": [0, 1, 0, 0, 0, 0]}, "zero wherever"),
]
BAD_COSTS = [
    ({"reject_cost": -0.1}, "reject_cost must be in"),
    ({"reject_cost": None}, "reject_cost must be a number"),
    ({"reject_cost": [0.1, 0.2]}, "reject_cost has 2 elements, but there are 3"),
    ({"reject_cost": [0.1, -0.2, 0]}, "reject_cost must be non-negative"),
    ({"accepted": [0.2, 0.9, 1]}, "accepted must hold True and False"),
    ({"accepted": pd.array([True, None, False], "boolean")}, "NAType"),
    ({"accepted": ["yes", "no", "no"]}, "accepted must be a vector of booleans"),
    ({"accepted": [True]}, "y_true has 3 elements, but there are 1"),
    ({"accepted": []}, "empty"),
    ({"y_true": None}, "y_true is None"),
    ({"y_pred": [0, 1]}, "y_pred has 2 elements, but there are 3"),
    ({"y_pred": [np.nan, 1, 0]}, "y_pred has no label"),
    ({"loss": [0.1, 0.2]}, "loss has 2 elements, but there are 3"),
    ({"loss": [0, np.nan, 1], "accepted": [0, 1, 1]}, "loss must be .* row 1 "),
]
OPINIONS = {"y_true": Y_TRUE, "y_first": Y_FIRST, "y_second": Y_SECOND, "gain": SCORES}
DECISIONS = {"y_true": [0, 1, 0], "y_pred": [0, 1, -1], "accepted": [1, 1, 0]}
DECISIONS["reject_cost"] = 0.1
BAD = [
    *(
        (deferral_area_score, OPINIONS | changes, words)
        for changes, words in BAD_OPINIONS
    ),
    *(
        (selective_cost_score, DECISIONS | changes, words)
        for changes, words in BAD_COSTS
    ),
]


@pytest.mark.parametrize(("metric", "arguments", "message"), BAD)
def test_bad_arguments_are_refused(metric, arguments, message):
    with pytest.raises(ValueError, match=message):
        metric(**arguments)


@pytest.mark.parametrize(
    ("y_true", "y_pred"),
    [
        ([0, 1, 2, 1], [0, 0, -1, -1]),
        ([0, 1, 2, 1], [0.0, 0.0, np.nan, np.nan]),
        ([0, 1, None, None], [0, 0, -1, -1]),
        ([0, 1, np.nan, 1], pd.Series([0, 0, -1, -1], index=[9, 9, 8, 1])),
        ([[0], [1], [2], [1]], [0, 0, -1, -1]),
        (["a", "b", "c", "b"], ["a", "a", "reject", "reject"]),
        (["a", "b", "c", None], np.array(["a", "a", np.nan, -1], dtype=object)),
        ([-1, 1, 1, 1], [-1, -1, 0, 0]),
    ],
)
def test_whatever_rejected_samples_hold(y_true, y_pred):
    accepted = [True, True, False, False]
    value = selective_cost_score(y_true, y_pred, accepted, reject_cost=0.25)
    assert value == (0 + 1 + 0.25 + 0.25) / 4


@pytest.mark.parametrize(
    ("y_true", "y_pred", "accepted", "options", "total"),
    [
        # A cost matrix is for the true labels of rejected samples, too.
        ([0, 1, 2, 2], [0, 0, -1, -1], [1, 1, 0, 0], {"loss": COSTS}, 0 + 5 + 0.5 * 2),
        # Gaps in a list of text are no class of it.
        (["a", np.nan], ["a", np.nan], [1, 0], {"loss": [[0]]}, 0.5),
        # Losses of rejected samples do not matter.
        (None, None, [1, 0, 0], {"loss": [1.5, np.nan, np.inf]}, 1.5 + 0.5 * 2),
        (None, None, [1, 0], {"loss": [1.5, 9], "reject_cost": [9, 2]}, 1.5 + 2),
        # Several targets have one loss.
        ([[0.0, 1], [2, 2]], [[1.0, 1], [np.nan] * 2], [1, 0], {"loss": "squared"}, 1),
        ([0, 1], [-1, -1], [0, 0], {"reject_cost": np.float32(0.25)}, 0.5),
    ],
)
def test_costs_by_hand(y_true, y_pred, accepted, options, total):
    options = {"reject_cost": 0.5, **options}
    value = selective_cost_score(y_true, y_pred, accepted, **options)
    assert value == pytest.approx(total / len(accepted), rel=1e-15)


def test_reject_labels_of_accepted_samples_are_refused():
    options = {"reject_cost": 0.5}
    for loss in ("zero_one", COSTS):
        with pytest.raises(ValueError, match="y_pred holds -1"):
            selective_cost_score([0, 1], [0, -1], [1, 1], loss=loss, **options)
    with pytest.warns(RejectionWarning, match="y_pred holds 9"):
        selective_cost_score([0, 1, 2], [0, 9, -1], [1, 1, 0], **options)
