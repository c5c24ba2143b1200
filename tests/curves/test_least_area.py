"""The score of the least area is chosen, and only beyond noise."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sklearn_reject._curves._deferral import (
    area_influence,
    check_deferral_samples,
    choose_by_area,
    deferral_area_score,
)

ROWS = st.lists(
    st.tuples(
        st.integers(-2, 2), st.integers(0, 3), st.integers(0, 3), st.integers(1, 4)
    ),
    min_size=1,
    max_size=12,
)


def influence_of(*arrays):
    return area_influence(check_deferral_samples(*arrays).used)


def area_of_pairs(scores, first, second, shares):
    """Return the area as a sum over all pairs."""
    above = np.subtract.outer(scores, scores)
    above = (above > 0) + 0.5 * (above == 0)
    return shares @ first - (shares * (first - second)) @ above @ shares


@given(ROWS)
def test_the_influence_is_the_derivative_by_the_weight(rows):
    scores, first, second, weight = np.array(rows, dtype=np.float64).T
    influence = influence_of(scores, first, second, weight)
    shares = weight / weight.sum()
    assert influence @ shares == pytest.approx(0, abs=1e-12)
    area = deferral_area_score(scores, first, second, sample_weight=weight)
    assert area == pytest.approx(area_of_pairs(scores, first, second, shares))
    for row, only in enumerate(np.eye(len(rows))):
        # A quadratic function of the mixture: central differences are exact.
        mixed = (shares + step * (only - shares) for step in (1e-3, -1e-3))
        more, less = (area_of_pairs(scores, first, second, each) for each in mixed)
        assert influence[row] == pytest.approx((more - less) / 2e-3, abs=1e-9)


def draw(n_samples, seed, quality=0.0):
    """Return losses, a score that knows nothing and one that does."""
    rng = np.random.default_rng(seed)
    first, second = (rng.random((2, n_samples)) < 0.3).astype(np.float64)
    noise = rng.normal(size=(2, n_samples))
    return first, second, noise[0], noise[1] + quality * (first - second)


def test_the_standard_error_is_that_of_a_bootstrap():
    first, second, blind, seeing = draw(400, seed=0, quality=1.0)
    seeing = seeing.round(1)  # ties
    rng = np.random.default_rng(1)

    def area(scores, rows):
        return deferral_area_score(scores[rows], first[rows], second[rows])

    drawn = [
        area(blind, rows) - area(seeing, rows)
        for rows in rng.integers(0, 400, (600, 400))
    ]
    influence = [influence_of(scores, first, second) for scores in (blind, seeing)]
    error = np.linalg.norm(influence[0] - influence[1]) / 400
    # The standard deviation of 600 draws is within 12% of what it estimates.
    assert np.std(drawn) == pytest.approx(error, rel=0.12)


def test_what_is_better_is_chosen_and_what_is_not_is_left():
    n_chosen = 0
    for seed in range(200):
        first, second, blind, other = draw(100, seed)
        scores = {"confidence": blind, "gain": other}
        n_chosen += choose_by_area(scores, first, second)[0] == "gain"
    # Neither is any good, and the difference is nearly normal.
    assert abs(n_chosen / 200 - 0.05) < 4 * np.sqrt(0.05 / 200)
    first, second, blind, seeing = draw(300, seed=0, quality=2.0)
    little = seeing + 0.2 * (first - second)  # noise that both have does not count
    for scores, chosen in (
        ({"confidence": blind, "own": blind, "gain": seeing}, "gain"),
        ({"confidence": seeing, "own": blind, "gain": blind}, "confidence"),
        ({"confidence": seeing, "gain": seeing}, "confidence"),
        ({"confidence": seeing, "gain": little}, "gain"),
        # Without a baseline, it is the least area.
        ({"own": seeing, "gain": little}, "gain"),
        ({"gain": little, "own": seeing}, "gain"),
        ({"gain": blind}, "gain"),
    ):
        name, areas = choose_by_area(scores, first, second)
        assert name == chosen
        assert areas["gain"] == deferral_area_score(scores["gain"], first, second)
    alone = np.linalg.norm(influence_of(little, first, second)) / 300
    areas = [deferral_area_score(each, first, second) for each in (seeing, little)]
    assert areas[0] - areas[1] < 1.645 * alone


@pytest.mark.parametrize("n_samples", [1, 2, 3])
def test_very_few_samples_prove_nothing(n_samples):
    first = np.array([1.0, 0.0, 0.0])[:n_samples]
    scores = {"confidence": -first, "gain": first}
    name, areas = choose_by_area(scores, first, np.zeros(n_samples))
    assert name == "confidence"
    assert areas["gain"] <= areas["confidence"]


def test_rows_without_a_second_opinion_or_weight_count_for_nothing():
    first, second, blind, seeing = draw(300, seed=0, quality=0.2)
    missing = np.random.default_rng(1).random(300) < 0.5
    scores = {"confidence": blind, "gain": seeing}
    gaps = np.where(missing, np.nan, second)
    part = {name: values[~missing] for name, values in scores.items()}
    expected = choose_by_area(part, first[~missing], second[~missing])
    assert choose_by_area(scores, first, gaps) == expected
    weight = 1.0 * ~missing
    found = choose_by_area(scores, first, second, sample_weight=2.0**40 * weight)
    assert found[0] == expected[0]
    assert found[1] == pytest.approx(expected[1])
    influence = influence_of(blind, first, gaps)
    alone = influence_of(blind[~missing], first[~missing], second[~missing])
    assert (influence == alone).all()
