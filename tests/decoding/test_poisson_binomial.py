import tracemalloc

import numpy as np
import pytest

from sklearn_reject.decoding._windows import CountLaws
from tests.decoding.set_oracle import KINDS, draw_probabilities


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
    """Normalised laws that lack a mass q are off by 2 q in sum."""
    for law, expected in zip(found, exact, strict=True):
        assert not law[len(expected) :].any()
        error = np.abs(law[: len(expected)] - expected).sum()
        assert error <= dropped + rounding


@pytest.mark.parametrize("n_items", [1, 63, 64, 65, 300])
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


def test_memory_is_linear():
    eta = np.sort(np.random.default_rng(0).random(20_000))[::-1]
    tracemalloc.start()
    laws = CountLaws(eta, 1e-12)
    for index in range(laws.n_blocks):
        laws.block(index)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # All windows at once would take 20,000 x 1,800 numbers, 280 MB.
    assert peak < 1000 * len(eta)
