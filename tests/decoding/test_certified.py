import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sklearn_reject.decoding._best_size import certified_optimum
from sklearn_reject.decoding._windows import window_curve
from sklearn_reject.losses import GMeanLoss, HMeanLoss, RecallLoss
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
    assert_least(certified_optimum(eta, loss, bounds, TOL, 0, len(eta)), curve)


@given(DRAWN, MEANS, st.data())
def test_least_of_the_whole_curve(eta, loss, data):
    n = len(eta)
    low = data.draw(st.integers(0, n))
    high = data.draw(st.integers(low, n))
    curve = expected_losses_by_convolution(eta, loss)
    found = certified_optimum(eta, loss, upper_bounds(eta, loss), TOL, low, high)
    assert_least(found, curve[low : high + 1], low)


@given(DRAWN, MEANS)
def test_bounds_hold(eta, loss):
    scores = 1 - expected_losses_by_convolution(eta, loss)
    assert (scores <= upper_bounds(eta, loss) + TOL).all()


@given(DRAWN, MEANS, st.sampled_from(["none", "exact"]))
def test_any_bounds_will_do(eta, loss, bound):
    curve = expected_losses_by_convolution(eta, loss)
    bounds = np.ones_like(curve) if bound == "none" else 1 - curve
    assert_least(certified_optimum(eta, loss, bounds, TOL, 0, len(eta)), curve)


@given(DRAWN, MEANS, st.sampled_from([1, 40]))
def test_surely_negative_items_need_not_be_given(eta, loss, n_negatives):
    padded = np.append(eta, np.zeros(n_negatives))
    curve = expected_losses_by_convolution(padded, loss)[: len(eta) + 1]
    bounds = upper_bounds(padded, loss)[: len(eta) + 1]
    found = certified_optimum(eta, loss, bounds, TOL, 0, len(eta), n_negatives)
    assert_least(found, curve)


@pytest.mark.parametrize("loss", [GMeanLoss(), HMeanLoss()])
@pytest.mark.parametrize("shape", [(1, 1), (0.3, 3), (5, 1), (0.05, 5)])
def test_least_of_many_items(loss, shape):
    eta = np.sort(np.random.default_rng(7).beta(*shape, 2000))[::-1]
    found = certified_optimum(eta, loss, upper_bounds(eta, loss), TOL, 0, 2000)
    assert_least(found, window_curve(eta, loss))


@pytest.mark.parametrize("kind", [GMeanLoss, HMeanLoss])
def test_few_sizes_are_evaluated(kind):
    sizes = set()

    class Counting(kind):
        def _losses(self, tp, fp, fn, tn):
            sizes.update(np.ravel(tp + fp).tolist())
            return super()._losses(tp, fp, fn, tn)

    eta = np.sort(np.random.default_rng(8).random(1000))[::-1]
    bounds = upper_bounds(eta, kind())
    found = certified_optimum(eta, Counting(), bounds, TOL, 0, 1000)
    assert_least(found, window_curve(eta, kind()))
    assert len(sizes) < 200
    # All that the bounds leave open were among them.
    assert set(np.flatnonzero(bounds >= 1 - found[1])) <= sizes


def test_smallest_of_equally_good_sizes():
    # Exchanging the classes turns k items into n - k.
    eta = np.full(101, 0.5)
    loss = GMeanLoss()
    size, _ = certified_optimum(eta, loss, upper_bounds(eta, loss), TOL, 0, 101)
    assert size == 50
    size, _ = certified_optimum(eta, loss, upper_bounds(eta, loss), TOL, 51, 101)
    assert size == 51


@pytest.mark.parametrize("z", [0.0, 1.0])
@pytest.mark.parametrize("kind", [GMeanLoss, HMeanLoss])
def test_absent_classes(kind, z):
    loss = kind(zero_division=z)
    for eta, best in ((np.zeros(5), 0), (np.ones(5), 5 * (z > 0))):
        bounds = upper_bounds(eta, loss)
        size, value = certified_optimum(eta, loss, bounds, TOL, 0, 5)
        assert (size, value) == (best, 1 - z)
