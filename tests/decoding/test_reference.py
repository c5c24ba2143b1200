from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sklearn_reject.losses import check_set_loss
from tests.decoding.set_oracle import (
    DEFINITIONS,
    KINDS,
    LOSSES,
    draw_probabilities,
    expected_losses_by_convolution,
    expected_losses_by_enumeration,
    loss_names,
    outcomes,
    probabilities,
)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("key", LOSSES, ids=loss_names)
def test_enumeration(key, kind):
    eta = draw_probabilities(kind, 9, np.random.default_rng(3))
    expected = expected_losses_by_enumeration(eta, LOSSES[key])
    scale = max(1, np.ptp(expected))
    curve = expected_losses_by_convolution(eta, LOSSES[key])
    np.testing.assert_allclose(curve, expected, rtol=0, atol=1e-13 * scale)


@given(probabilities(max_size=12), st.sampled_from(list(LOSSES)))
def test_enumeration_of_any_set(eta, key):
    expected = expected_losses_by_enumeration(eta, LOSSES[key])
    curve = expected_losses_by_convolution(eta, LOSSES[key])
    scale = max(1, np.ptp(expected))
    np.testing.assert_allclose(curve, expected, rtol=0, atol=1e-13 * scale)


@given(probabilities(max_size=7), st.sampled_from(list(LOSSES)))
def test_no_set_is_better_than_the_most_probable_items(eta, key):
    of_all = expected_losses_by_enumeration(eta, LOSSES[key], sets="all")
    best = of_all.min()
    curve = expected_losses_by_convolution(eta, LOSSES[key])
    scale = max(1, np.ptp(of_all))
    np.testing.assert_allclose(curve.min(), best, rtol=0, atol=1e-13 * scale)
    # And for each size on its own.
    sizes = outcomes(len(eta)).sum(axis=1)
    best_of_size = [of_all[sizes == k].min() for k in range(len(eta) + 1)]
    np.testing.assert_allclose(curve, best_of_size, rtol=0, atol=1e-13 * scale)


def test_first_local_minimum_need_not_be_the_least():
    curve = expected_losses_by_convolution(
        np.array([1.0] + 8 * [0.307]), check_set_loss("f_beta")
    )
    first = int(np.argmax(np.diff(curve) > 0))
    assert first < np.argmin(curve)
    assert curve[first] > curve.min() + 0.005


def harmonic(a, b):
    total = a + b
    return np.divide(2 * a * b, total, out=np.zeros_like(total), where=total > 0)


def of_both_empty(z, k, n, no_positive, no_negative):
    return z * no_positive * (k == 0)


# What `zero_division` adds to the expected score, in closed form.
GAINS = {
    "f_beta": of_both_empty,
    "jaccard": of_both_empty,
    "g_tp_pr": of_both_empty,
    "am": lambda z, k, n, p0, p1: z * (p0 + p1) / 2,
    "g_mean": lambda z, k, n, p0, p1: (
        z**0.5 * (p0 * np.sqrt((n - k) / n) + p1 * np.sqrt(k / n))
    ),
    "h_mean": lambda z, k, n, p0, p1: (
        p0 * harmonic(z, (n - k) / n) + p1 * harmonic(z, k / n)
    ),
    "auc": lambda z, k, n, p0, p1: z * (p0 * k / n + p1 * (n - k) / n),
}


@pytest.mark.parametrize("name", GAINS)
@given(probabilities(), st.sampled_from([0.25, 1.0]))
def test_value_of_zero_division(name, eta, z):
    n, k = len(eta), np.arange(len(eta) + 1)
    plain = expected_losses_by_convolution(eta, check_set_loss(name))
    curve = expected_losses_by_convolution(eta, check_set_loss(name, zero_division=z))
    gain = GAINS[name](z, k, n, np.prod(1 - eta), np.prod(eta))
    np.testing.assert_allclose(plain - curve, gain, rtol=0, atol=1e-13)


@pytest.mark.parametrize("key", [key for key in LOSSES if key[0] in DEFINITIONS])
def test_losses_by_their_definitions(key):
    name, beta, z = key
    counts = np.array([table for table in product(range(5), repeat=4) if any(table)])
    expected = [DEFINITIONS[name](*table, beta, z) for table in counts.tolist()]
    losses = LOSSES[key](*counts.T)
    np.testing.assert_allclose(losses, expected, rtol=0, atol=1e-15)
