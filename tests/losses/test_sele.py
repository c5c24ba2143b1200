"""The pairwise SELE loss against its definition, in long double and by differences."""

import os
from functools import partial

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from joblib import parallel_backend

from sklearn_reject import metrics
from sklearn_reject.losses import sele_loss_and_gradient

sele_score = partial(metrics.sele_score, None, None)
aurc_score = partial(metrics.aurc_score, None, None)

# The thorough profile of `make long-test` has time for more pairs.
N = 2000 if os.environ.get("HYPOTHESIS_PROFILE") == "thorough" else 400


SCORES = {
    **{
        f"sd {10.0**k:g}": lambda rng, n, k=k: 10.0**k * rng.normal(size=n)
        for k in range(-3, 6)
    },
    "constant": lambda rng, n: np.full(n, 3.7),
    "few values": lambda rng, n: rng.integers(0, 5, n) * 0.3,
    "few values far apart": lambda rng, n: rng.integers(0, 5, n) * 30.0,
    "offset": lambda rng, n: rng.normal(size=n) + 1e8,
    "wide and offset": lambda rng, n: 200 * rng.normal(size=n) - 1e8,
    "outliers": lambda rng, n: np.append(rng.normal(size=n - 3), [1e8, -1e8, 3e7]),
    "two far clusters": lambda rng, n: 1e8 * (rng.random(n) < 0.5) + rng.normal(size=n),
    "Cauchy": lambda rng, n: 100 * rng.standard_cauchy(n),
    "dense and sparse": lambda rng, n: rng.exponential(size=n) ** 8,
    "half dense": lambda rng, n: rng.choice([1, 1e6], n) * rng.normal(size=n),
    "gaps just wide": lambda rng, n: np.append(
        rng.normal(size=n // 2), np.arange(n - n // 2) * rng.uniform(39, 49)
    ),
    "at nodes": lambda rng, n: np.floor(0.1 * rng.integers(0, 50, n) * 10) / 10,
    "offset, dense": lambda rng, n: 0.01 * rng.normal(size=n) + 1e6,
    "far ones": lambda rng, n: rng.choice([0.1] * 9 + [1e4], n) * rng.normal(size=n),
    "islands": lambda rng, n: 100.0 * rng.integers(0, 3, n) + rng.normal(size=n),
    "tiny": lambda rng, n: 1e-300 * rng.normal(size=n),
    "huge": lambda rng, n: 1e30 * rng.normal(size=n),
}

LOSSES = {
    "0/1": lambda rng, n: (rng.random(n) < 0.1).astype(float),
    "real": lambda rng, n: rng.exponential(size=n),
    "one error": lambda rng, n: (np.arange(n) == n // 3).astype(float),
    "none": lambda rng, n: np.zeros(n),
}


def pair_by_pair(scores, losses, weights=None):
    """Return value and gradient by the definition, in long double."""
    s, losses = np.longdouble(scores), np.longdouble(losses)
    a = np.ones(len(s), np.longdouble) if weights is None else np.longdouble(weights)
    rows = np.flatnonzero(losses)
    difference = s - s[rows, np.newaxis]
    small = np.exp(-np.abs(difference))
    pairs = (a * losses)[rows, np.newaxis] * a
    value = (pairs * (np.maximum(difference, 0) + np.log1p(small))).sum()
    pairs[np.arange(len(rows)), rows] = 0  # a sample with itself: a constant
    pull = pairs * np.where(difference > 0, 1, small) / (1 + small)
    gradient = pull.sum(axis=0)
    gradient[rows] -= pull.sum(axis=1)
    return value / a.sum() ** 2, gradient / a.sum() ** 2


def assert_close(actual, expected, tolerance=1e-12):
    scale = np.abs(expected).max()
    assert np.abs(actual - expected).max() <= tolerance * scale


@pytest.mark.parametrize("losses", LOSSES)
@pytest.mark.parametrize("scores", SCORES)
def test_exact_is_the_sum_over_all_pairs(scores, losses):
    rng = np.random.default_rng(0)
    scores, losses = SCORES[scores](rng, N), LOSSES[losses](rng, N)
    for weight in (None, rng.exponential(size=N)):
        found = sele_loss_and_gradient(scores, losses, sample_weight=weight)
        value, gradient = pair_by_pair(scores, losses, weight)
        assert_close(found[0], value)
        assert_close(found[1], gradient)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("gap", [-30.0, 0.0, 5.0, 12.0, 20.0, 27.0])
def test_small_sums_beside_large_ones(gap, weighted):
    # Errors last leave exp(-gap) of the sums: no digit may get lost in the large ones.
    rng = np.random.default_rng(8)
    losses = (np.arange(N) >= N - 20) * 1.0
    scores = 0.5 * rng.normal(size=N) + gap * losses
    weight = 10.0 ** rng.uniform(-3, 0, N) if weighted else np.ones(N)
    found = sele_loss_and_gradient(scores, losses, sample_weight=weight)
    value, gradient = pair_by_pair(scores, losses, weight)
    assert_close(found[0], value, tolerance=1e-13)
    right = losses == 0  # there is nothing else that a large sum could hide
    assert np.abs(found[1][right] / gradient[right] - 1).max() <= 1e-12


@given(
    st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=40),
    st.floats(1e-6, 1e3),
    st.integers(0, 2**32 - 1),
)
@example([0.0, 0.0, 0.0, 40.0, 252.0, -1e-285], 1.0, 0)  # rounds to just near
def test_any_small_sample(scores, scale, seed):
    rng = np.random.default_rng(seed)
    scores = np.array(scores) * scale
    losses = rng.exponential(size=len(scores)) * (rng.random(len(scores)) < 0.5)
    value, gradient = sele_loss_and_gradient(scores, losses)
    expected_value, expected_gradient = pair_by_pair(scores, losses)
    assert_close(value, expected_value)
    assert np.abs(gradient - expected_gradient).max() <= 1e-12 * losses.max()


@pytest.mark.parametrize("method", ["exact", "chunked"])
def test_gradient_is_that_of_the_value(method):
    rng = np.random.default_rng(2)
    scores, losses = 3 * rng.normal(size=30), rng.exponential(size=30)
    options = {"method": method, "chunk_size": 11, "random_state": 0}
    _, gradient = sele_loss_and_gradient(scores, losses, **options)
    for k, step in enumerate(1e-4 * np.eye(30)):
        above, _ = sele_loss_and_gradient(scores + step, losses, **options)
        below, _ = sele_loss_and_gradient(scores - step, losses, **options)
        assert (above - below) / 2e-4 == pytest.approx(gradient[k], abs=1e-10)


def test_one_chunk_is_exact_and_chunks_are_averaged():
    rng = np.random.default_rng(5)
    scores, losses = rng.normal(size=N), rng.exponential(size=N)
    exact = sele_loss_and_gradient(scores, losses)
    chunk = sele_loss_and_gradient(scores, losses, method="chunked", chunk_size=2 * N)
    assert chunk[0] == pytest.approx(exact[0], rel=1e-12)
    np.testing.assert_allclose(chunk[1], exact[1], rtol=0, atol=1e-15)
    options = {"method": "chunked", "chunk_size": 100}
    values = [
        sele_loss_and_gradient(scores, losses, random_state=seed, **options)[0]
        for seed in range(50)
    ]
    # A chunk of m has m pairs of a sample with itself among m^2.
    own = np.log(2) * losses.mean()
    others = (exact[0] - own / N) * N / (N - 1)
    expected = own / 100 + others * 99 / 100
    spread = np.std(values) / np.sqrt(len(values))
    assert abs(np.mean(values) - expected) < 3 * spread


@pytest.mark.usefixtures("threads")
def test_jobs_do_not_change_the_chunks():
    rng = np.random.default_rng(6)
    scores, losses = rng.normal(size=N), rng.exponential(size=N)
    options = {"method": "chunked", "chunk_size": 100, "random_state": 0}
    value, gradient = sele_loss_and_gradient(scores, losses, **options)
    with parallel_backend("threading", n_jobs=1):
        again, parallel = sele_loss_and_gradient(scores, losses, n_jobs=2, **options)
    assert again == value
    np.testing.assert_array_equal(parallel, gradient)


@given(st.integers(2, 60), st.integers(0, 2**32 - 1))
def test_what_is_true_of_sele_and_the_area(n, seed):
    # FPV23's theorem 8 without the assumption that it needs is false, see below.
    rng = np.random.default_rng(seed)
    scores, losses = rng.permutation(n) * 1.0, rng.exponential(size=n)
    sele, area = sele_score(scores, loss=losses), aurc_score(scores, loss=losses)
    harmonic = np.sum(1 / np.arange(1, n + 1))
    assert sele <= area * (1 + 1e-12)
    assert area <= harmonic * sele * (1 + 1e-12)
    in_order = np.sort(losses)[np.argsort(np.argsort(scores))]
    bound = 2 * n / (n + 1) * sele_score(scores, loss=in_order)
    assert aurc_score(scores, loss=in_order) <= bound * (1 + 1e-12)
    smooth, _ = sele_loss_and_gradient(scores, losses)
    assert sele * np.log(2) <= smooth * (1 + 1e-12)


BAD = [
    ({"method": "fast"}, "method must be one of"),
    ({"method": "chunked", "chunk_size": 0}, "must be a positive int"),
    ({"sample_weight": [1, -1, 1]}, "sample_weight must be non-negative"),
    ({"losses": [0, -1, 0]}, "losses must be non-negative"),
    ({"losses": [0]}, "losses"),
    ({"scores": [0.0, np.nan, 1]}, "scores must be finite"),
    ({"scores": [-1e308, 0, 1e308]}, "scores range from -1e"),
]


@pytest.mark.parametrize(("options", "message"), BAD)
def test_bad_input(options, message):
    given = {"scores": [0.0, 1, 2], "losses": [0, 1, 0], **options}
    with pytest.raises(ValueError, match=message):
        sele_loss_and_gradient(**given)


def test_scores_that_are_just_near_enough_to_subtract():
    value, _ = sele_loss_and_gradient([-1e99, 1e99], [1e100, 0])
    assert value == pytest.approx(2e99 * 1e100 / 4)
