import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sklearn_reject.decoding._windows import interpolate_counts
from sklearn_reject.losses import GMeanLoss, HMeanLoss


@st.composite
def windows(draw):
    """Draw (counts, laws, largest): windows with room to both sides."""
    low = draw(st.integers(1, 400))
    length = draw(st.integers(2, 300))
    largest = low + length - 1 + draw(st.integers(1, 400))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    laws = rng.dirichlet(np.ones(length), 3)
    return low + np.arange(length), laws, largest


def rounding_of(nodes):
    """Return what sums over so many nodes, of products of two such sums, may round."""
    return 8 * np.finfo(float).eps * (10 + len(nodes))


@pytest.mark.parametrize("loss", [GMeanLoss(), HMeanLoss()])
@given(windows(), st.sampled_from([1e-3, 1e-6, 1e-13]), st.sampled_from([0, 1, 9, 900]))
def test_error_of_true_positives_is_within_the_bound(loss, window, tol, n_others):
    counts, laws, k = window
    nodes, weights = interpolate_counts(counts, laws, k, tol)
    assume(len(nodes) < len(counts))
    for fn in {0, n_others // 3, n_others}:
        exact = laws @ loss(counts, k - counts, fn, n_others - fn)
        short = weights @ loss(nodes, k - nodes, fn, n_others - fn)
        rounding = rounding_of(nodes)
        np.testing.assert_allclose(short, exact, rtol=0, atol=tol + rounding)


@pytest.mark.parametrize("loss", [GMeanLoss(), HMeanLoss()])
@given(windows(), st.sampled_from([1e-3, 1e-6, 1e-13]), st.sampled_from([0, 1, 9, 900]))
def test_error_of_false_negatives_is_within_the_bound(loss, window, tol, k):
    counts, laws, n_others = window
    nodes, weights = interpolate_counts(counts, laws, n_others, tol)
    assume(len(nodes) < len(counts))
    for tp in {0, k // 3, k}:
        exact = laws @ loss(tp, k - tp, counts, n_others - counts)
        short = weights @ loss(tp, k - tp, nodes, n_others - nodes)
        rounding = rounding_of(nodes)
        np.testing.assert_allclose(short, exact, rtol=0, atol=tol + rounding)


@given(windows())
def test_weights_keep_the_moments_of_the_laws(window):
    counts, laws, largest = window
    nodes, weights = interpolate_counts(counts, laws, largest, 1e-12)
    centre, scale = counts.mean(), np.ptp(counts)
    for power in range(min(4, len(nodes))):
        exact = laws @ ((counts - centre) / scale) ** power
        moments = weights @ ((nodes - centre) / scale) ** power
        rounding = rounding_of(nodes)
        np.testing.assert_allclose(moments, exact, rtol=0, atol=rounding)


@pytest.mark.parametrize(
    ("low", "high", "largest", "tol"),
    [(0, 90, 200, 1e-9), (10, 200, 200, 1e-9), (50, 50, 99, 1e-9), (90, 99, 200, 0.0)],
)
def test_window_without_room_stays(low, high, largest, tol):
    counts, laws = np.arange(low, high + 1), np.ones((1, high - low + 1))
    nodes, weights = interpolate_counts(counts, laws, largest, tol)
    assert nodes is counts
    assert weights is laws
