"""The certified best size against whole curves."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sklearn_reject.decoding import expected_loss_curve
from sklearn_reject.decoding._best_size import SetSize, certified_optimum
from sklearn_reject.decoding._windows import window_curve
from sklearn_reject.losses import GMeanLoss, HMeanLoss, RecallLoss, check_set_loss
from tests.decoding.set_oracle import (
    KINDS,
    draw_probabilities,
    expected_losses_by_convolution,
    expected_losses_by_enumeration,
    probabilities,
)

TOL = 1e-12

MEANS = st.builds(
    lambda kind, z: kind(zero_division=z),
    st.sampled_from([GMeanLoss, HMeanLoss]),
    st.sampled_from([0.0, 0.5, 1.0]),
)

DRAWN = st.tuples(
    st.sampled_from(KINDS), st.integers(1, 120), st.integers(0, 10**6)
).map(lambda d: draw_probabilities(*d[:2], np.random.default_rng(d[2])))


def upper_bounds(eta, loss, curve=window_curve):
    """Bound the scores by the mean of the expected rates."""
    missed = RecallLoss(zero_division=loss.zero_division)
    tpr = 1 - curve(eta, missed)
    # TNR is the recall of the negatives, of which those not predicted are found.
    tnr = 1 - curve(1 - eta[::-1], missed)[::-1]
    return loss.mean_of_rates(np.clip(tpr, 0, 1), np.clip(tnr, 0, 1))


def between(low, high, n):
    """Return which of the sizes of n items are within bounds."""
    sizes = np.arange(n + 1)
    return (sizes >= low) & (sizes <= high)


def assert_least(found, curve, low=0):
    """Compare with the smallest of the best sizes of a curve that starts at `low`."""
    size, value = found
    np.testing.assert_allclose(value, curve[size - low], rtol=0, atol=TOL / 4 + 1e-14)
    excess = curve - curve.min()
    # Rounding decides whether losses that differ by the tolerance are equal.
    may_be_best = excess <= 0.5 * TOL, excess <= 1.5 * TOL
    assert np.argmax(may_be_best[1]) <= size - low <= np.argmax(may_be_best[0])
    assert may_be_best[1][size - low]


@given(probabilities(max_size=12), MEANS)
def test_enumeration(eta, loss):
    curve = expected_losses_by_enumeration(eta, loss)
    bounds = upper_bounds(eta, loss, expected_losses_by_enumeration)
    assert_least(
        certified_optimum(eta, loss, bounds, TOL, between(0, len(eta), len(eta))), curve
    )


@given(DRAWN, MEANS, st.data())
def test_least_of_the_whole_curve(eta, loss, data):
    n = len(eta)
    low = data.draw(st.integers(0, n))
    high = data.draw(st.integers(low, n))
    curve = expected_losses_by_convolution(eta, loss)
    found = certified_optimum(
        eta, loss, upper_bounds(eta, loss), TOL, between(low, high, n)
    )
    assert_least(found, curve[low : high + 1], low)


@given(DRAWN, MEANS)
def test_bounds_hold(eta, loss):
    scores = 1 - expected_losses_by_convolution(eta, loss)
    assert (scores <= upper_bounds(eta, loss) + TOL).all()


@given(DRAWN, MEANS, st.sampled_from(["none", "exact"]))
def test_any_bounds_will_do(eta, loss, bound):
    curve = expected_losses_by_convolution(eta, loss)
    bounds = np.ones_like(curve) if bound == "none" else 1 - curve
    assert_least(
        certified_optimum(eta, loss, bounds, TOL, between(0, len(eta), len(eta))), curve
    )


@given(DRAWN, MEANS, st.sampled_from([1, 40]))
def test_surely_negative_items_need_not_be_given(eta, loss, n_negatives):
    padded = np.append(eta, np.zeros(n_negatives))
    curve = expected_losses_by_convolution(padded, loss)[: len(eta) + 1]
    bounds = upper_bounds(padded, loss)[: len(eta) + 1]
    every = between(0, len(eta), len(eta))
    found = certified_optimum(eta, loss, bounds, TOL, every, n_negatives)
    assert_least(found, curve)


@pytest.mark.parametrize("loss", [GMeanLoss(), HMeanLoss()])
@pytest.mark.parametrize("shape", [(1, 1), (0.3, 3), (5, 1), (0.05, 5)])
@pytest.mark.parametrize("n", [400, pytest.param(2000, marks=pytest.mark.slow)])
def test_least_of_many_items(loss, shape, n):
    eta = np.sort(np.random.default_rng(7).beta(*shape, n))[::-1]
    found = certified_optimum(eta, loss, upper_bounds(eta, loss), TOL, between(0, n, n))
    assert_least(found, window_curve(eta, loss))


@pytest.mark.parametrize("kind", [GMeanLoss, HMeanLoss])
def test_few_sizes_are_evaluated(kind):
    sizes = set()

    class Counting(kind):
        def _losses(self, tp, fp, fn, tn):
            sizes.update(np.ravel(tp + fp).tolist())
            return super()._losses(tp, fp, fn, tn)

    eta = np.sort(np.random.default_rng(8).random(700))[::-1]
    bounds = upper_bounds(eta, kind())
    found = certified_optimum(eta, Counting(), bounds, TOL, between(0, 700, 700))
    assert_least(found, window_curve(eta, kind()))
    assert len(sizes) < 200
    # All that the bounds leave open were among them.
    assert set(np.flatnonzero(bounds >= 1 - found[1])) <= sizes


def test_smallest_of_equally_good_sizes():
    # Exchanging the classes turns k items into n - k.
    eta = np.full(101, 0.5)
    loss = GMeanLoss()
    size, _ = certified_optimum(
        eta, loss, upper_bounds(eta, loss), TOL, between(0, 101, 101)
    )
    assert size == 50
    size, _ = certified_optimum(
        eta, loss, upper_bounds(eta, loss), TOL, between(51, 101, 101)
    )
    assert size == 51


@pytest.mark.parametrize("z", [0.0, 1.0])
@pytest.mark.parametrize("kind", [GMeanLoss, HMeanLoss])
def test_absent_classes(kind, z):
    loss = kind(zero_division=z)
    for eta, best in ((np.zeros(5), 0), (np.ones(5), 5 * (z > 0))):
        bounds = upper_bounds(eta, loss)
        size, value = certified_optimum(eta, loss, bounds, TOL, between(0, 5, 5))
        assert (size, value) == (best, 1 - z)


# Sizes of rows


@pytest.mark.parametrize("name", ["f1", "g_mean"])
@pytest.mark.parametrize("n", [5, 60])
def test_threshold_size_counts_within_the_bounds(name, n):
    eta = -np.sort(-np.random.default_rng(0).random((3, n)))
    problem = SetSize(check_set_loss(name), "independent", 2, n - 1)
    for threshold in (0.0, 0.5, eta[0, 2], 1.1):
        chooser = problem._replace(threshold=threshold)
        sizes, losses = chooser.choose(eta)
        expected = [min(max(sum(row >= threshold), 2), n - 1) for row in eta]
        assert sizes.tolist() == expected
        curves = chooser.curves(eta)
        at_size = curves[np.arange(3), sizes]
        np.testing.assert_allclose(losses, at_size, rtol=0, atol=2e-12)
        assert chooser.needs_all_items == (threshold <= 0)
        sizes, losses = chooser._replace(with_loss=False).choose(eta)
        assert sizes.tolist() == expected
        assert np.isnan(losses).all()
    assert chooser.min_positive == 2


def test_losses_of_given_sizes_with_further_negatives():
    eta = -np.sort(-np.random.default_rng(1).random((2, 40)))
    threshold = eta[0, 6]
    eta[1] *= 0.9 * threshold
    for name in ("jaccard", "h_mean"):
        chooser = SetSize(check_set_loss(name), "independent", 0, 40, threshold)
        sizes, found = chooser.choose(eta, n_negatives=5)
        assert sizes.tolist() == [7, 0]
        padded = np.pad(eta, ((0, 0), (0, 5)))
        curves = expected_loss_curve(padded, loss=name)
        np.testing.assert_allclose(found, [curves[0, 7], curves[1, 0]], atol=2e-12)


def test_which_rows_need_all_items():
    f1, recall = map(check_set_loss, ("f1", "hamming"))
    assert SetSize(f1, "multinomial", 0, 3).needs_all_items
    for loss in (f1, recall):
        needs = SetSize(loss, "independent", 0, 3).needs_all_items
        assert needs is not loss.spares_negatives


def test_equal_losses_to_rounding_take_the_smallest_size():
    # Two classes of equal probability: one of them is as good as both.
    problem = SetSize(check_set_loss("hamming"), "independent", 0, 2)
    sizes, losses = problem.choose(np.array([[0.5, 0.5]]))
    assert (sizes.tolist(), losses.tolist()) == ([0], [0.5])
    sizes, _ = problem._replace(min_positive=1).choose(np.array([[0.5, 0.5]]))
    assert sizes.tolist() == [1]
    sizes, _ = problem.choose(np.array([[0.5 + 1e-6, 0.5]]))
    assert sizes.tolist() == [1]
