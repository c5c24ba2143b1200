"""Curves from windows of counts, the laws of counts, and their interpolation."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sklearn_reject.decoding._windows import (
    CountLaws,
    expected_losses,
    interpolate_counts,
    window_curve,
)
from sklearn_reject.losses import GMeanLoss, HMeanLoss, SetLoss
from tests.decoding.set_oracle import (
    KINDS,
    LOSSES,
    draw_probabilities,
    expected_losses_by_convolution,
    expected_losses_by_enumeration,
    loss_names,
    probabilities,
)

# Losses of all that sets them apart here: smooth, ratio, jump, any range.
FEW = [
    ("g_mean", 1.0, 0.5),
    ("h_mean", 1.0, 1.0),
    ("f_beta", 2.0, 1.0),
    ("callable", 1.0, 0.0),
]

DRAWN = st.tuples(
    st.sampled_from(KINDS), st.integers(1, 120), st.integers(0, 10**6)
).map(lambda d: draw_probabilities(*d[:2], np.random.default_rng(d[2])))


def assert_within(curve, expected, tol, rounding=1e-13):
    """Compare, in units of the range of the expected losses, or of one."""
    scale = max(1, np.ptp(expected))
    np.testing.assert_allclose(curve, expected, rtol=0, atol=(tol + rounding) * scale)


def range_of(loss, n):
    """Return the largest minus the smallest loss of all confusion matrices."""
    tables = [
        loss(tp, k - tp, fn, n - k - fn)
        for k in range(n + 1)
        for tp, fn in [(np.arange(k + 1)[:, np.newaxis], np.arange(n - k + 1))]
    ]
    return max(t.max() for t in tables) - min(t.min() for t in tables)


@given(probabilities(max_size=12), st.sampled_from(list(LOSSES)))
def test_enumeration(eta, key):
    expected = expected_losses_by_enumeration(eta, LOSSES[key])
    assert_within(window_curve(eta, LOSSES[key], 1e-14), expected, 1e-14)


@given(DRAWN, st.sampled_from(list(LOSSES)))
def test_reference(eta, key):
    expected = expected_losses_by_convolution(eta, LOSSES[key])
    assert_within(window_curve(eta, LOSSES[key]), expected, 1e-12)


@pytest.mark.parametrize("key", LOSSES, ids=loss_names)
def test_reference_for_every_loss(key):
    for kind in ("uniform", "certain"):
        eta = draw_probabilities(kind, 70, np.random.default_rng(1))
        expected = expected_losses_by_convolution(eta, LOSSES[key])
        assert_within(window_curve(eta, LOSSES[key]), expected, 1e-12)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("key", FEW, ids=loss_names)
@pytest.mark.parametrize("n", [130, pytest.param(300, marks=pytest.mark.slow)])
def test_reference_for_many_items(key, kind, n):
    eta = draw_probabilities(kind, n, np.random.default_rng(0))
    expected = expected_losses_by_convolution(eta, LOSSES[key])
    assert_within(window_curve(eta, LOSSES[key]), expected, 1e-12)


@pytest.mark.parametrize(
    "kind",
    [
        "uniform",
        *(pytest.param(kind, marks=pytest.mark.slow) for kind in ("many", "ties")),
    ],
)
@pytest.mark.parametrize("key", FEW, ids=loss_names)
def test_error_is_within_the_bound(key, kind):
    eta = draw_probabilities(kind, 300, np.random.default_rng(2))
    loss = LOSSES[key]
    expected, scale = expected_losses_by_convolution(eta, loss), range_of(loss, 300)
    errors = [
        np.abs(window_curve(eta, loss, tol) - expected).max() / scale
        for tol in (1e-1, 1e-4, 1e-8)
    ]
    assert errors[0] <= 1e-1
    assert errors[1] <= 1e-4
    assert errors[2] <= 1e-8
    # It is the tolerance that makes the error, and not something else.
    assert errors[0] > errors[1] > errors[2] > 1e-14


class WorstLoss(SetLoss):
    """One beyond some number of true positives: all that is left out counts."""

    def __init__(self, least):
        self.least = least

    def _losses(self, tp, fp, fn, tn):
        return 1.0 * (tp + 0 * fn >= self.least)


def test_bound_for_a_loss_that_lives_outside_the_windows():
    eta = np.full(400, 0.5)
    for least in (225, 235, 245):
        loss = WorstLoss(least)
        expected = expected_losses_by_convolution(eta, loss)[-1]
        for tol in (1e-1, 1e-3, 1e-5):
            assert abs(window_curve(eta, loss, tol)[-1] - expected) <= tol


@given(DRAWN, st.sampled_from(FEW), st.sampled_from([1, 50]))
def test_surely_negative_items_need_not_be_given(eta, key, n_negatives):
    padded = np.append(eta, np.zeros(n_negatives))
    expected = expected_losses_by_convolution(padded, LOSSES[key])[: len(eta) + 1]
    curve = window_curve(eta, LOSSES[key], n_negatives=n_negatives)
    assert_within(curve, expected, 1e-12)


@pytest.mark.parametrize("key", FEW, ids=loss_names)
def test_some_sizes_of_a_block(key):
    eta = draw_probabilities("uniform", 300, np.random.default_rng(5))
    block = CountLaws(eta, 1e-14).block(2)
    at_once = expected_losses(block, LOSSES[key], 300, 1e-14)
    rows = np.array([3, 17, 18, 60])
    some = expected_losses(block.take(rows), LOSSES[key], 300, 1e-14)
    np.testing.assert_allclose(some, at_once[rows], rtol=1e-13)


def test_counts_that_a_loss_gets_exist():
    class Strict(SetLoss):
        def _losses(self, tp, fp, fn, tn):
            assert (tp + fp + fn + tn == 200).all()
            assert min(tp.min(), fp.min(), fn.min(), tn.min()) >= 0
            return fp + 0.0 * fn

    for kind in KINDS:
        eta = draw_probabilities(kind, 200, np.random.default_rng(6))
        window_curve(eta, Strict())


@pytest.mark.slow
def test_memory_is_linear():
    eta = np.sort(np.random.default_rng(0).random(4000))[::-1]
    tracemalloc.start()
    window_curve(eta, LOSSES["jaccard", 1.0, 0.0], 1e-6)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # The laws of all sizes would take 18 MB, one table of all losses 32 MB.
    assert peak < 4e6


# Laws of counts


def exact_laws(numerators, denominator):
    """Return the laws of the first 0, 1, ... counts, from integer arithmetic."""
    laws, law = [np.array([1.0])], [1]
    for number, p in enumerate(numerators, 1):
        shifted = zip([*law, 0], [0, *law], strict=True)
        law = [(denominator - p) * stays + p * gains for stays, gains in shifted]
        laws.append(np.array([value / denominator**number for value in law]))
    return laws


def padded(counts, laws, length):
    """Return each law as a vector over the counts from zero on."""
    table = np.zeros((len(laws), length + len(counts)))
    table[:, counts] = laws
    return table[:, :length]


def all_laws(laws, n_items):
    """Return the laws of tp and of fn for all sizes, over counts from zero on."""
    blocks = [laws.block(index) for index in range(laws.n_blocks)]
    sizes = np.concatenate([block.sizes for block in blocks])
    np.testing.assert_array_equal(sizes, np.arange(n_items + 1))
    of_tp = [padded(block.tp, block.of_tp, n_items + 1) for block in blocks]
    of_fn = [padded(block.fn, block.of_fn, n_items + 1) for block in blocks]
    return np.concatenate(of_tp), np.concatenate(of_fn)


def assert_close(found, exact, dropped, rounding):
    """Normalized laws that lack a mass q are off by 2 q in sum."""
    for law, expected in zip(found, exact, strict=True):
        assert not law[len(expected) :].any()
        error = np.abs(law[: len(expected)] - expected).sum()
        assert error <= dropped + rounding


@pytest.mark.parametrize("n_items", [1, 63, 64, 65, 150])
@pytest.mark.parametrize("dropped", [0.0, 1e-14, 1e-6, 1e-2])
def test_exact_arithmetic(n_items, dropped):
    rng = np.random.default_rng(n_items)
    numerators = sorted(rng.integers(0, 1025, n_items).tolist(), reverse=True)
    laws = CountLaws(np.array(numerators) / 1024, dropped)
    of_tp, of_fn = all_laws(laws, n_items)
    assert_close(of_tp, exact_laws(numerators, 1024), dropped, 1e-14)
    assert_close(of_fn, exact_laws(numerators[::-1], 1024)[::-1], dropped, 1e-14)


def test_smallest_probabilities_keep_their_digits():
    rng = np.random.default_rng(0)
    numerators = sorted(rng.integers(0, 1025, 200).tolist(), reverse=True)
    of_tp, of_fn = all_laws(CountLaws(np.array(numerators) / 1024, 0.0), 200)
    for tp, exact in zip(of_tp, exact_laws(numerators, 1024), strict=True):
        np.testing.assert_allclose(tp[: len(exact)], exact, rtol=1e-13)
    for fn, exact in zip(of_fn[::-1], exact_laws(numerators[::-1], 1024), strict=True):
        np.testing.assert_allclose(fn[: len(exact)], exact, rtol=1e-13)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dropped", [0.0, 1e-14, 1e-5])
def test_all_kinds_of_probabilities(kind, dropped):
    eta = draw_probabilities(kind, 200, np.random.default_rng(4))
    of_tp, of_fn = all_laws(CountLaws(eta, dropped), 200)
    for found, items in ((of_tp, eta), (of_fn[::-1], eta[::-1])):
        exact = [np.ones(1)]
        for p in items:
            exact.append(np.convolve(exact[-1], [1 - p, p]))
        assert_close(found, exact, dropped, 1e-13)


def test_tails_are_dropped():
    eta = np.full(500, 0.5)
    widths = [len(CountLaws(eta, dropped).block(7).tp) for dropped in (0, 1e-12, 1e-3)]
    assert widths[0] == 501 > 2 * widths[1] > 2 * widths[2]


def test_certain_items_take_one_count():
    block = CountLaws(np.repeat([1.0, 0.0], [70, 200]), 1e-13).block(1)
    np.testing.assert_array_equal(block.sizes, np.arange(64, 128))
    np.testing.assert_array_equal(block.tp, np.arange(64, 71))
    of_tp = np.arange(64, 71) == np.minimum(block.sizes, 70)[:, np.newaxis]
    np.testing.assert_array_equal(block.of_tp, of_tp)
    np.testing.assert_array_equal(block.fn, np.arange(7))


def test_windows_are_a_few_standard_deviations_wide():
    eta = np.sort(np.random.default_rng(0).random(5000))[::-1]
    deviation = np.sqrt((eta * (1 - eta)).sum())
    laws = CountLaws(eta, 1e-13)
    for index in range(laws.n_blocks):
        block = laws.block(index)
        # A block holds 70 items, which widen the windows of all its sizes.
        assert max(len(block.tp), len(block.fn)) < 18 * deviation + 70


@pytest.mark.slow
def test_memory_of_laws_is_linear():
    eta = np.sort(np.random.default_rng(0).random(20_000))[::-1]
    tracemalloc.start()
    laws = CountLaws(eta, 1e-12)
    for index in range(laws.n_blocks):
        laws.block(index)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # All windows at once would take 20,000 x 1,800 numbers, 280 MB.
    assert peak < 1000 * len(eta)


# Interpolation


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
    center, scale = counts.mean(), np.ptp(counts)
    for power in range(min(4, len(nodes))):
        exact = laws @ ((counts - center) / scale) ** power
        moments = weights @ ((nodes - center) / scale) ** power
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
