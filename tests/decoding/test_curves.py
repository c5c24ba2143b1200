"""Expected losses for all sizes: against all outcomes, algorithm 1 and binomials."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from sklearn_reject.decoding import expected_loss_curve
from sklearn_reject.losses import check_set_loss
from tests.decoding.set_oracle import (
    DEFINITIONS,
    KEYS,
    KINDS,
    LOSSES,
    draw_probabilities,
    expected_losses,
    options_of,
    outcomes,
)

TOL = 1e-12  # which is promised

EXTREMES = {
    ("f_beta", beta, 0.5): check_set_loss("f_beta", beta=beta, zero_division=0.5)
    for beta in (1e-6, 0.01, 50.0, 1e6)
}
ALL = {**LOSSES, **EXTREMES}
ONE_OF_EACH = [loss for key, loss in LOSSES.items() if key[1:] == (1.0, 0.0)]


def assert_close(curve, expected, tol=TOL, rounding=1e-14):
    """Compare, in units of the range of the losses, or of one."""
    assert curve.shape == expected.shape
    scale = max(1.0, np.abs(expected).max())
    assert np.abs(curve - expected).max() <= (tol + rounding) * scale


def by_function(eta, loss):
    """Return the curve of a loss of which nothing is known: long sets by windows."""
    return expected_loss_curve(eta, loss=lambda **counts: loss(**counts))


def reference(eta, loss):
    """Return the curve by algorithm 1, which several sets of up to 256 items have."""
    return by_function(np.tile(eta, (4, 1)), loss)[0]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [1, 5, 8, pytest.param(12, marks=pytest.mark.slow)])
def test_every_loss_against_all_outcomes(kind, n):
    eta = draw_probabilities(kind, n, np.random.default_rng(7))
    for loss in ALL.values() if n < 8 else ONE_OF_EACH:
        expected = expected_losses(eta, loss)
        assert_close(expected_loss_curve(eta, loss=loss), expected)
        assert_close(reference(eta, loss), expected, 1e-14)


@pytest.mark.parametrize("kind", [*KINDS, "magnitudes"])
@pytest.mark.parametrize("n", [3, 30, 130, pytest.param(250, marks=pytest.mark.slow)])
def test_items_against_the_reference(kind, n):
    """Nothing underflows into NaN, nor warns of it."""
    eta = draw_probabilities(kind, n, np.random.default_rng(1))
    for loss in ONE_OF_EACH if n > 50 else ALL.values():
        expected = reference(eta, loss)
        assert_close(expected_loss_curve(eta, loss=loss), expected, rounding=1e-13)
        assert_close(by_function(eta, loss), expected, rounding=1e-13)


def law_of_positives(levels):
    """Return counts and chances of positives, levels being (n_items, probability)."""
    low, law = 0, np.ones(1)
    for n, p in levels:
        reach = 5 + 10 * np.sqrt(n * p * (1 - p))
        counts = np.arange(max(0, int(n * p - reach)), min(n, int(n * p + reach)) + 1)
        low, law = low + counts[0], np.convolve(law, binom.pmf(counts, n, p))
    return low + np.arange(len(law)), law / law.sum()


def expected_loss_of_levels(levels, k, loss):
    first, others, n = [], [], sum(n for n, _ in levels)
    room = k
    for n_level, p in levels:
        n_first = min(room, n_level)
        room -= n_first
        first.append((n_first, p))
        others.append((n_level - n_first, p))
    (tp, of_tp), (fn, of_fn) = law_of_positives(first), law_of_positives(others)
    tp = tp[:, np.newaxis]
    return of_tp @ loss(tp, k - tp, fn, n - k - fn) @ of_fn


SLOW = pytest.mark.slow
LEVELS = [
    pytest.param([(20_000, 0.3)], id="equal", marks=SLOW),
    pytest.param([(20_000, 5e-4)], id="rare", marks=SLOW),
    pytest.param([(5_000, 0.9), (10_000, 0.1), (5_000, 1e-5)], id="three"),
    pytest.param([(3_000, 1.0), (3_000, 0.5), (14_000, 0.0)], id="certain", marks=SLOW),
]


@pytest.mark.parametrize("levels", LEVELS)
def test_many_equal_items_make_binomial_counts(levels):
    """So many that the items fall into several blocks."""
    eta = np.concatenate([np.full(n, p) for n, p in levels])
    sizes = [0, 1, 2, 63, 1_000, 4_999, 5_000, 5_001, 12_345, 19_999, 20_000]
    for name in DEFINITIONS:
        loss = check_set_loss(**options_of(name, 2.0, 0.5))
        curve = expected_loss_curve(eta, loss=loss)
        expected = [expected_loss_of_levels(levels, k, loss) for k in sizes]
        assert np.abs(curve[sizes] - expected).max() <= TOL


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_rows_are_sets(key):
    loss, rng = LOSSES[key], np.random.default_rng(4)
    for n in (1, 12, 30, 300):
        kinds = KINDS if n < 300 or key[0] in DEFINITIONS else ["few", "ties"]
        eta = np.array([draw_probabilities(kind, n, rng) for kind in kinds])
        curves = expected_loss_curve(eta, loss=loss)
        assert curves.shape == (len(kinds), n + 1)
        for row, curve in zip(eta, curves, strict=True):
            assert_close(curve, expected_loss_curve(row, loss=loss), 2 * TOL)


def test_many_equal_chances_of_absence():
    eta = np.full(10**5, 1e-5)
    curve = expected_loss_curve(eta, loss="f1", zero_division=1.0)
    exact = -np.expm1(len(eta) * np.log1p(-1e-5))
    assert curve[0] == pytest.approx(exact, abs=1e-13)


@st.composite
def distributions(draw, max_size=8):
    """Draw probabilities of classes, of which some are equal or zero, sorted."""
    masses = draw(st.lists(st.integers(0, 5), min_size=1, max_size=max_size))
    masses = np.sort([*masses[:-1], masses[-1] + 1])[::-1]
    return masses / masses.sum()


@given(eta=distributions(max_size=6), key=st.sampled_from(KEYS))
def test_multinomial_against_the_true_class(eta, key):
    loss, options = LOSSES[key], {"distribution": "multinomial"}
    curve = expected_loss_curve(eta, loss=loss, **options)
    expected = expected_losses(eta, loss, **options)
    np.testing.assert_allclose(curve, expected, rtol=1e-13, atol=1e-14)
    of_all = expected_losses(eta, loss, sets="all", **options)
    sizes = outcomes(len(eta)).sum(axis=1)
    assert (curve[sizes] <= of_all + 1e-13).all()
    rows = expected_loss_curve(np.array([eta, eta]), loss=loss, **options)
    np.testing.assert_array_equal(rows, [curve, curve])
