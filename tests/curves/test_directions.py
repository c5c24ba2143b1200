from itertools import pairwise

import numpy as np
import pytest

from sklearn_reject._curves import combine, score_directions


def draw(n, seed=0):
    rng = np.random.default_rng(seed)
    return rng.random(n), rng.normal(size=n)


@pytest.mark.parametrize("n_directions", [2, 3, 4, 31, 181])
@pytest.mark.parametrize("n", [200, 3000])
def test_directions_run_from_one_axis_to_the_other(n_directions, n):
    directions = score_directions(*draw(n), n_directions)
    assert len(directions) == n_directions
    assert directions[0] == (1.0, 0.0)
    assert directions[-1] == (0.0, 1.0)
    slopes = [novelty / risk for risk, novelty in directions[:-1]]
    assert (np.diff(slopes) > 0).all()
    both = score_directions(*draw(n), n_directions, allow_reversed=True)
    assert both[:n_directions] == directions
    assert len(both) == 2 * n_directions - 1
    assert both[-1] == (-1.0, 0.0)
    assert all(risk == -1 and novelty >= 0 for risk, novelty in both[n_directions:])


@pytest.mark.parametrize("n", [40, pytest.param(3000, marks=pytest.mark.slow), 800])
@pytest.mark.parametrize("power", [1e-3, 1.0, 50.0])
@pytest.mark.parametrize("factor", [1e-6, 3.0, 1e6])
def test_each_step_changes_the_order_of_about_as_many_pairs(n, power, factor):
    risk, novelty = draw(n)
    risk = factor * risk**power
    ranks = [
        np.argsort(np.argsort(combine(risk, novelty, weights)))
        for weights in score_directions(risk, novelty, 9)
    ]
    first, second = np.triu_indices(n, 1)
    orders = [rank[first] < rank[second] for rank in ranks]
    changes = np.array([np.mean(a != b) for a, b in pairwise(orders)])
    total = np.mean(orders[0] != orders[-1])
    # All change once, and no step leaves a gap where rules could hide.
    assert changes.sum() == pytest.approx(total)
    assert changes.max() < 0.3 * total


def test_few_points_have_each_of_their_orders():
    # Three points that change order in pairs at slopes 1 / 3, 1 / 2 and 1.
    directions = score_directions(*np.array([[0.0, 1, 2], [4, 3, 0]]), 9)
    slopes = [novelty for risk, novelty in directions if risk]
    assert len(slopes) == 5
    assert 0 == slopes[0] < slopes[1] < 1 / 3 < slopes[2] < 1 / 2
    assert 1 / 2 < slopes[3] < 1 < slopes[4]


@pytest.mark.parametrize("n", [40, 3000])
def test_units_order_and_last_bits_do_not_matter(n):
    risk, novelty = draw(n)
    expected = np.array(score_directions(risk, novelty, 31))
    found = score_directions(1e5 * risk, 1e-4 * novelty, 31)
    np.testing.assert_allclose(found[1:-1], expected[1:-1] * [1, 1e9])
    order = np.random.default_rng(1).permutation(n)
    np.testing.assert_array_equal(
        score_directions(risk[order], novelty[order], 31), expected
    )
    noise = 1 + 2.0**-48 * np.random.default_rng(2).integers(-2, 3, (2, n))
    found = score_directions(risk * noise[0], novelty * noise[1], 31)
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_scores_of_the_same_order_or_without_finite_values():
    alike, constant = np.array([[1.0, 2], [10, 30]]), np.array([[1.0, 1], [1, 2]])
    assert score_directions(*alike, 9) == [(1, 0), (1, 0.05), (0, 1)]
    assert score_directions(*constant, 9) == [(1, 0), (1, 1), (0, 1)]
    infinite = np.array([np.inf, -np.inf])
    assert score_directions(np.ones(2), infinite, 9) == [(1, 0), (0, 1)]
