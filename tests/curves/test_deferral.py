import warnings
from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.exceptions import UndefinedMetricWarning

from sklearn_reject._curves import (
    check_deferral_samples,
    deferral_area_score,
    deferral_curve,
    group_deferral,
)
from sklearn_reject.exceptions import RejectionWarning
from tests.samples import samples

CLOSE = {"rtol": 1e-13, "atol": 1e-15}


@st.composite
def deferral_samples(draw, max_size=7, weighted=True, missing=True):
    """Draw scores, both losses, of which the second may be NaN, and weights or None."""
    scores, first, weights = draw(samples(max_size=max_size, weighted=weighted))
    n = len(scores)
    second = draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
    second = np.array(second) / 2
    if missing and draw(st.booleans()):
        known = draw(st.lists(st.booleans(), min_size=n, max_size=n))
        known = np.array(known)
        assume((known if weights is None else known & (weights > 0)).any())
        second[~known] = np.nan
    return scores, first, second, weights


def known_rows(scores, first, second, weights):
    """Return the rows that count, by hand, with weights."""
    weights = np.ones(len(scores)) if weights is None else weights
    rows = [
        row
        for row in range(len(scores))
        if weights[row] > 0 and second[row] == second[row]
    ]
    return scores[rows], first[rows], second[rows], weights[rows]


def area_of_order(first, second, weights):
    """Integrate, for samples deferred one after the other, sample by sample."""
    area = 0.0
    total = weights.sum()
    for row in range(len(first)):
        # While this sample is being deferred, those before are and those after are not.
        ends = [
            second[:k] @ weights[:k] + first[k:] @ weights[k:] for k in (row, row + 1)
        ]
        area += weights[row] * sum(ends) / 2
    return area / total**2


def mean_over_orders(scores, first, second, weights):
    areas = [
        area_of_order(first[list(order)], second[list(order)], weights[list(order)])
        for order in permutations(range(len(scores)))
        if (np.diff(scores[list(order)]) <= 0).all()
    ]
    return np.mean(areas)


@given(deferral_samples(max_size=6, weighted=False))
def test_area_is_the_mean_over_all_orders_of_ties(sample):
    scores, first, second, weights = sample
    np.testing.assert_allclose(
        deferral_area_score(scores, first, second),
        mean_over_orders(*known_rows(scores, first, second, weights)),
        **CLOSE,
    )


@given(deferral_samples())
def test_the_curve_has_a_point_for_each_rule(sample):
    scores, first, second, weights = sample
    rate, risk, thresholds = deferral_curve(
        scores, first, second, sample_weight=weights
    )
    scores, first, second, weights = known_rows(*sample)
    assert thresholds[0] == np.inf
    assert thresholds[1:].tolist() == sorted(set(scores.tolist()), reverse=True)
    for k, threshold in enumerate(thresholds):
        deferred = scores >= threshold
        system = np.where(deferred, second, first)
        np.testing.assert_allclose(
            [rate[k], risk[k]],
            [
                np.average(deferred, weights=weights),
                np.average(system, weights=weights),
            ],
            **CLOSE,
        )


@given(deferral_samples())
def test_area_is_the_integral_of_the_curve(sample):
    *arrays, weights = sample
    rate, risk, _ = deferral_curve(*arrays, sample_weight=weights)
    np.testing.assert_allclose(
        deferral_area_score(*arrays, sample_weight=weights),
        np.diff(rate) @ (risk[1:] + risk[:-1]) / 2,
        **CLOSE,
    )


@given(deferral_samples(max_size=5), st.sampled_from([1e-90, 1e-3, 7.0, 1e90]))
def test_whole_weights_repeat_rows_and_only_their_ratios_matter(sample, scale):
    scores, first, second, weights = sample
    assume(weights is not None)
    repeated = [np.repeat(x, weights.astype(int)) for x in (scores, first, second)]
    for normalize in (None, "excess"):
        np.testing.assert_allclose(
            deferral_area_score(
                *sample[:3], sample_weight=scale * weights, normalize=normalize
            ),
            deferral_area_score(*repeated, normalize=normalize),
            rtol=1e-12,
            atol=1e-14,
        )


@given(deferral_samples(max_size=6, weighted=False))
def test_oracle_and_random_are_the_least_and_the_mean_of_all_orders(sample):
    scores, first, second, weights = known_rows(*sample)
    area = deferral_area_score(*sample[:3])
    areas = [
        area_of_order(first[list(order)], second[list(order)], weights)
        for order in permutations(range(len(scores)))
    ]
    np.testing.assert_allclose(
        deferral_area_score(*sample[:3], normalize="excess"),
        area - min(areas),
        **CLOSE,
    )
    if len(set(first - second)) == 1:
        with pytest.warns(UndefinedMetricWarning, match="is the same in all samples"):
            value = deferral_area_score(*sample[:3], normalize="prr")
        assert np.isnan(value)
        return
    np.testing.assert_allclose(
        deferral_area_score(*sample[:3], normalize="prr"),
        (np.mean(areas) - area) / (np.mean(areas) - min(areas)),
        rtol=1e-12,
        atol=1e-13,
    )


def test_prr_is_undefined_where_differences_are_rounding():
    first = np.array([0.1, 0.2, 0.3, 0.7]) + 0.1
    second = np.array([0.1, 0.2, 0.3, 0.7])
    assert len(set(first - second)) > 1
    with pytest.warns(UndefinedMetricWarning, match="undefined"):
        assert np.isnan(
            deferral_area_score([1, 2, 3, 4], first, second, normalize="prr")
        )


@given(deferral_samples(), st.randoms())
def test_the_order_of_rows_does_not_matter(sample, random):
    rows = list(range(len(sample[0])))
    random.shuffle(rows)
    *arrays, weights = sample
    shuffled = [array[rows] for array in arrays]
    np.testing.assert_allclose(
        deferral_area_score(*arrays, sample_weight=weights),
        deferral_area_score(
            *shuffled, sample_weight=weights if weights is None else weights[rows]
        ),
        **CLOSE,
    )


def test_an_expert_who_is_always_right_leaves_no_risk_at_the_end():
    rng = np.random.default_rng(0)
    first, weights = rng.random(300_001), rng.random(300_001)
    _, risk, _ = deferral_curve(
        rng.normal(size=len(first)), first, np.zeros(len(first)), sample_weight=weights
    )
    assert risk[-1] == 0
    assert (np.diff(risk) <= 0).all()
    np.testing.assert_allclose(risk[0], np.average(first, weights=weights), rtol=1e-13)


def test_groups_within_rounding_are_one_where_asked():
    known = check_deferral_samples([0.3, 0.1 + 0.2, 0.1], [1, 0, 1], [0, 0, 1])
    assert len(group_deferral(known)) == 3
    groups = group_deferral(known, near=True)
    assert groups.weights.tolist() == [2, 1]
    assert groups.system_losses.tolist() == [2, 1, 1]


@pytest.mark.parametrize(
    "second",
    [
        [0.5, np.nan, 1.0],
        [0.5, None, 1.0],
        np.ma.masked_array([0.5, 7.0, 1.0], mask=[False, True, False]),
        pd.array([0.5, None, 1.0], dtype="Float64"),
        pd.Series([0.5, None, 1.0], index=[5, 5, 2]),
    ],
    ids=["nan", "none", "masked", "nullable", "series"],
)
def test_missing_answers_of_any_kind_leave_their_rows_out(second):
    expected = deferral_curve([3.0, 1.0], [0, 1], [0.5, 1.0])
    for got, wanted in zip(
        deferral_curve([3.0, 2.0, 1.0], [0, 1, 1], second), expected, strict=True
    ):
        np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize("asked", ["errors", "low scores"])
def test_a_warning_says_that_the_samples_asked_were_chosen(asked):
    rng = np.random.default_rng(1)
    scores, first = rng.normal(size=400), rng.integers(0, 2, 400)
    chosen = first == 1 if asked == "errors" else scores < 0
    second = np.where(chosen, 0.5, np.nan)
    what = "loss of the first opinion is higher"
    if asked == "low scores":
        what = "deferral score is lower"
    with pytest.warns(RejectionWarning, match=f"the {what} in these than in the"):
        deferral_area_score(scores, first, second)
    # Samples without weight are not there, so nothing is missing.
    deferral_area_score(scores, first, second, sample_weight=chosen * 1.0)


def test_samples_drawn_at_random_lead_to_no_warning():
    rng = np.random.default_rng(2)
    for n_samples in (2, 3, 10, 60, 500):
        for _ in range(20):
            scores = rng.exponential(size=n_samples) ** 9
            first = rng.random(n_samples) < 0.02
            second = np.zeros(n_samples)
            n_missing = rng.integers(1, n_samples)
            second[rng.choice(n_samples, n_missing, replace=False)] = np.nan
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                deferral_area_score(scores, first, second)


@pytest.mark.parametrize("n_samples", [20, 57, 399])
def test_no_warning_where_all_samples_are_alike(n_samples):
    second = np.zeros(n_samples)
    second[::2] = np.nan
    alike = np.full(n_samples, 0.3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert deferral_area_score(alike, alike, second) == pytest.approx(0.15)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0.1], [1], [np.nan]), "loss_second is missing in all 1 samples"),
        (([0.1, 0.2], [1, 0], [np.nan, -1]), "loss_second must be non-neg.*row 1"),
        (([0.1, 0.2], [1, 0], [np.inf, 1]), "loss_second must be finite.*row 0"),
        (([0.1, np.nan], [1, 0], [0, 1]), "scores must be finite"),
        (([0.1, 0.2], [1, np.nan], [0, 1]), "loss_first must be finite"),
        (([0.1, 0.2], [1, -2], [0, 1]), "loss_first must be non-negative"),
        (([0.1, 0.2], [1, 0], [0, 1, 1]), "loss_second has 3 elements, but there"),
        (([0.1, 0.2], [1], [0, 1]), "loss_first has 1 elements, but there"),
        (([0.1, 0.2], [1, 0], [[0, 1]]), "loss_second must be a vector"),
        (([], [], []), "scores is empty"),
        (([0.1], [1], ["a"]), "loss_second must hold numbers"),
    ],
)
def test_bad_samples_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        deferral_area_score(*arguments)


def test_bad_options_are_refused():
    with pytest.raises(ValueError, match="normalize must be one of"):
        deferral_area_score([0.1], [1], [0], normalize="best")
    with pytest.raises(ValueError, match="sample_weight is zero wherever"):
        deferral_curve([1, 2], [1, 0], [np.nan, 0], sample_weight=[1, 0])
