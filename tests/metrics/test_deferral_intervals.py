"""Bootstrap intervals of what two opinions cost, rows and their losses together."""

import numpy as np
import pytest

from sklearn_reject.metrics import (
    bootstrap_interval,
    deferral_area_score,
    selective_cost_score,
)
from sklearn_reject.metrics._bootstrap import Resamples, percentile_ends

rng = np.random.default_rng(0)
N = 50
Y_TRUE = rng.integers(0, 2, N)
FIRST = np.where(rng.random(N) < 0.6, Y_TRUE, 1 - Y_TRUE)
SECOND = np.where(rng.random(N) < 0.9, Y_TRUE, 1 - Y_TRUE)
SCORE, OTHER = (FIRST != Y_TRUE) + rng.normal(size=N), rng.normal(size=N)
LOSSES = (
    (FIRST != Y_TRUE) * 1.0,
    np.where(rng.random(N) < 0.3, np.nan, SECOND != Y_TRUE),
)
NONE = None, None, None
FEW = {
    **{"n_resamples": 50, "confidence_level": 0.8},
    **{"random_state": 0, "method": "percentile"},
}


def by_hand(area, other=None):
    """The ends of values on the rows that are drawn, one resample after the other."""
    values = []
    for rows in Resamples(N, None, 50, 0).rows(0):
        values.append(area(rows) - (0 if other is None else other(rows)))
    return percentile_ends(values, 0.8)


def ends(interval):
    return [interval.low, interval.high]


def area_of_labels(score):
    return lambda rows: deferral_area_score(
        Y_TRUE[rows], FIRST[rows], SECOND[rows], score[rows]
    )


def area_of_losses(score):
    return lambda rows: deferral_area_score(
        *NONE, score[rows], loss=[losses[rows] for losses in LOSSES]
    )


def test_labels_are_resampled():
    found = bootstrap_interval(
        deferral_area_score, (Y_TRUE, FIRST, SECOND, SCORE), **FEW
    )
    np.testing.assert_allclose(ends(found), by_hand(area_of_labels(SCORE)))
    assert found.value == deferral_area_score(Y_TRUE, FIRST, SECOND, SCORE)
    assert found.low < found.value < found.high


@pytest.mark.parametrize("where", ["params", "samples", "array"])
def test_losses_of_both_are_resampled_with_the_scores(where):
    samples, params = (*NONE, SCORE), {"loss": LOSSES}
    if where == "array":
        params = {"loss": np.stack(LOSSES)}
    elif where == "samples":
        names = "y_true", "y_first", "y_second", "deferral_score"
        samples, params = {**dict(zip(names, samples, strict=True)), **params}, None
    found = bootstrap_interval(
        deferral_area_score, samples, metric_params=params, **FEW
    )
    np.testing.assert_allclose(ends(found), by_hand(area_of_losses(SCORE)))
    assert found.n_samples == N


def test_a_paired_difference_of_two_scores():
    found = bootstrap_interval(
        deferral_area_score,
        (*NONE, SCORE),
        other=(*NONE, OTHER),
        metric_params={"loss": LOSSES},
        **FEW,
    )
    expected = by_hand(area_of_losses(SCORE), area_of_losses(OTHER))
    np.testing.assert_allclose(ends(found), expected)
    assert found.high < 0  # a score that knows the errors is better


def test_a_cost_matrix_is_the_same_for_all_resamples():
    found = bootstrap_interval(
        deferral_area_score,
        (Y_TRUE, FIRST, SECOND, SCORE),
        metric_params={"loss": [[0, 1], [1, 0]], "labels": [0, 1]},
        **FEW,
    )
    np.testing.assert_allclose(ends(found), by_hand(area_of_labels(SCORE)))


def test_losses_of_another_length_are_refused():
    with pytest.raises(
        ValueError, match=r"loss has 3 elements, but there are 50 samples"
    ):
        bootstrap_interval(
            deferral_area_score,
            (*NONE, SCORE),
            metric_params={"loss": ([0, 1, 0], [0, 0, 1])},
        )
    with pytest.raises(
        ValueError, match=r"\['loss'\] has 2 elements, but there are 50"
    ):
        bootstrap_interval(
            deferral_area_score,
            (*NONE, SCORE),
            metric_params={"loss": (LOSSES[0], [0, 1])},
        )


def test_costs_are_resampled_with_who_is_accepted():
    accepted, y_pred = SCORE < 0.5, np.where(SCORE < 0.5, FIRST, -1)
    found = bootstrap_interval(
        selective_cost_score,
        (Y_TRUE, y_pred, accepted),
        metric_params={"reject_cost": 0.2},
        **FEW,
    )
    costs = np.where(accepted, y_pred != Y_TRUE, 0.2)
    np.testing.assert_allclose(ends(found), by_hand(lambda rows: costs[rows].mean()))
