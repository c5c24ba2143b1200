"""What rejected samples hold does not matter, only what they cost."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sklearn_reject.exceptions import RejectionWarning
from sklearn_reject.metrics import selective_cost_score

COSTS = np.array([[0.0, 1.0, 2.0], [5.0, 0.0, 1.0], [3.0, 2.0, 0.0]])


@given(st.integers(1, 6), st.randoms(use_true_random=False), st.booleans())
def test_cost_is_the_mean_of_what_each_sample_costs(n_samples, random, weighted):
    rng = np.random.default_rng(random.randrange(2**31))
    y_true, y_pred = rng.integers(0, 3, (2, n_samples))
    accepted = rng.random(n_samples) < 0.6
    reject_cost = rng.random(n_samples)
    weight = rng.integers(1, 4, n_samples) * 1.0 if weighted else None
    costs = np.where(accepted, COSTS[y_true, y_pred], reject_cost)
    options = {"loss": COSTS, "labels": [0, 1, 2], "sample_weight": weight}
    options["reject_cost"] = reject_cost
    value = selective_cost_score(y_true, y_pred, accepted, **options)
    assert value == pytest.approx(np.average(costs, weights=weight), rel=1e-13)


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


@pytest.mark.parametrize(
    ("changes", "message"),
    [
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
        ({"loss": [np.nan, 0.2, 1]}, "loss must be finite"),
        ({"loss": [0, np.nan, 1], "accepted": [0, 1, 1]}, "loss must be .* row 1 "),
    ],
)
def test_bad_arguments_are_refused(changes, message):
    arguments = {"y_true": [0, 1, 0], "y_pred": [0, 1, -1], "accepted": [1, 1, 0]}
    with pytest.raises(ValueError, match=message):
        selective_cost_score(**{**arguments, "reject_cost": 0.1, **changes})
