"""Thresholds against all of them, one after the other."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from sklearn_reject.decoding import tune_threshold
from sklearn_reject.losses import check_set_loss
from tests.decoding.set_oracle import KEYS, LOSSES, table


def losses_of(sets, threshold, loss):
    """Return the loss of each set, a list of (y, eta), item by item."""
    tables = [table(y, [p >= threshold for p in eta]) for y, eta in sets]
    return [loss(*counts) for counts in tables]


def all_thresholds(sets):
    """Return one threshold a cut, from nothing to everything."""
    return [np.inf, *sorted({p for _, eta in sets for p in eta}, reverse=True)]


def split(y, eta, groups):
    if groups is None:
        return [(y, eta)]
    return [(y[groups == g], eta[groups == g]) for g in np.unique(groups)]


def column(n, high):
    return st.lists(st.integers(0, high), min_size=n, max_size=n)


@st.composite
def problems(draw, max_size=12):
    """Draw (y, eta, groups) with many ties; groups maybe None."""
    n = draw(st.integers(1, max_size))
    y = np.array(draw(column(n, 1)))
    eta = np.array(draw(column(n, draw(st.sampled_from([2, 7, 50]))))) / 50
    groups = np.array(draw(column(n, draw(st.integers(0, 4)))))
    return y, eta, None if draw(st.booleans()) else groups


@given(problem=problems(), key=st.sampled_from(KEYS))
def test_loss_is_the_least_of_all_thresholds(problem, key):
    y, eta, groups = problem
    loss = LOSSES[key]
    tuned = tune_threshold(y, eta, loss=loss, groups=groups)
    sets = split(y, eta, groups)
    every = [losses_of(sets, t, loss) for t in all_thresholds(sets)]
    assert tuned.loss == pytest.approx(min(map(np.mean, every)), abs=1e-12)
    # The rule does what was counted, to the last bit.
    assert tuned.loss == np.mean(losses_of(sets, tuned.threshold, loss))
    # Fewer items are no better.
    higher = tuned.thresholds > tuned.threshold
    assert (tuned.losses[higher] > tuned.loss).all()
    # The whole curve.
    assert len(tuned.thresholds) == len(tuned.losses) == len(np.unique(eta)) + 1
    assert (np.diff(tuned.thresholds) < 0).all()
    assert (tuned.thresholds[0], tuned.thresholds[-1]) == (np.inf, 0.0)
    for value, realized in zip(tuned.losses, map(np.mean, every), strict=True):
        assert value == pytest.approx(realized, abs=1e-13 * max(1, abs(realized)))
    assert tuned.losses.min() == tuned.loss
    assert tuned.losses[tuned.thresholds == tuned.threshold] == [tuned.loss]
    # It is midway between what it separates.
    below, above = eta[eta < tuned.threshold], eta[eta >= tuned.threshold]
    if len(above) == 0:
        assert tuned.threshold == np.inf
    elif len(below) == 0:
        assert tuned.threshold == 0
    else:
        middle = (below.max() + above.min()) / 2
        assert tuned.threshold == pytest.approx(middle, rel=1e-15)


def assert_same(tuned, expected, atol=0.0):
    np.testing.assert_array_equal(tuned.threshold, expected.threshold)
    np.testing.assert_allclose(tuned.loss, expected.loss, rtol=0, atol=atol)
    for name, allowed in (("thresholds", 0.0), ("losses", atol)):
        ours, theirs = (np.hstack(getattr(found, name)) for found in (tuned, expected))
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=allowed)


@given(problem=problems(), seed=st.integers(0, 99))
def test_forms_of_sets(problem, seed):
    y, eta, groups = problem
    rows = np.random.default_rng(seed).permutation(len(y))
    shuffled = None if groups is None else groups[rows]
    tuned = tune_threshold(y, eta, loss="am", groups=groups)
    again = tune_threshold(y[rows], eta[rows], loss="am", groups=shuffled)
    assert_same(again, tuned, atol=1e-14)
    # Rows of a matrix are groups, columns are calls, all entries are one call.
    y, eta = np.tile(y, (3, 1)), np.tile(eta, (3, 1)) * [[1.0], [0.5], [0.9]]
    y[1] = 1 - y[1]
    options = {"loss": "f_beta", "beta": 2.0}
    groups = np.repeat(["a", "b", "c"], y.shape[1])
    expected = tune_threshold(y.ravel(), eta.ravel(), groups=groups, **options)
    for labels in (y, csr_array(y)):
        assert_same(tune_threshold(labels, eta, **options), expected)
    columns = tune_threshold(y.T, eta.T, average="macro", **options)
    alone = [tune_threshold(*pair, **options) for pair in zip(y, eta, strict=True)]
    np.testing.assert_array_equal(columns.threshold, [one.threshold for one in alone])
    assert columns.loss == np.mean([one.loss for one in alone])
    for name in ("thresholds", "losses"):
        for curve, one in zip(getattr(columns, name), alone, strict=True):
            np.testing.assert_array_equal(curve, getattr(one, name))
    micro = tune_threshold(csr_array(y), eta, average="micro", **options)
    assert_same(micro, tune_threshold(y.ravel(), eta.ravel(), **options))


@pytest.mark.parametrize("low", [0.1, 0.3, 0.5, 1 - 2**-53])
@pytest.mark.parametrize("n_sets", [1, 2])
def test_no_threshold_parts_what_differs_by_rounding(low, n_sets):
    below, high = np.nextafter(low, 0), np.nextafter(low, 2)
    y, eta = [[0, 1, 0, 0]] * n_sets, [[low, high, below, 0.05]] * n_sets
    tuned = tune_threshold(y, eta, loss="f1")
    assert 0.05 < tuned.threshold < below
    assert len(tuned.thresholds) == len(tuned.losses) == 3
    assert tuned.loss == pytest.approx(0.5)
    # A little more is no rounding.
    eta = [[low, low * (1 - 1e-11), low * (1 - 2e-11), 0.05]] * n_sets
    assert len(tune_threshold(y, eta, loss="f1").thresholds) == 5


@pytest.mark.parametrize("n_sets", [1, 2])
def test_probabilities_of_all_magnitudes(n_sets):
    for low in (0.0, 5e-324):  # neighboring floats
        high = np.nextafter(low, 2)
        tuned = tune_threshold([[0, 1]] * n_sets, [[low, high]] * n_sets, loss="f1")
        assert (tuned.threshold, tuned.loss) == (high, 0.0)
    rng = np.random.default_rng(0)
    eta = np.append(10.0 ** rng.uniform(-320, 0, 500), [0.0, -0.0, 1.0])
    y = rng.integers(0, 2, len(eta))
    tuned = tune_threshold([y] * n_sets, [eta] * n_sets, loss="f1")
    assert len(tuned.thresholds) == len(np.unique(eta)) + 1
    sets = [(y, eta)]
    f1 = check_set_loss("f1")
    least = min(losses_of(sets, t, f1)[0] for t in all_thresholds(sets))
    assert tuned.loss == pytest.approx(least, abs=1e-15)


@given(penalty=st.sampled_from([1e9, 1e30]), seed=st.integers(0, 10**6))
def test_penalties_that_dwarf_all_else(penalty, seed):
    """Such as one for a set that is nearly empty."""
    rng = np.random.default_rng(seed)
    y, eta = rng.integers(0, 2, 6), np.round(rng.random(6), 1)

    def loss(tp, fp, fn, tn):
        return (fn + 0.3 * fp) / 10 + penalty * (tp + fp < 2) + penalty * (tn + fp < 1)

    sets = [(y, eta)]
    least = min(losses_of(sets, t, loss)[0] for t in all_thresholds(sets))
    threshold = tune_threshold(y, eta, loss=loss).threshold
    assert losses_of(sets, threshold, loss)[0] <= least + 1e-14 * max(1, least)


@given(n=st.integers(1, 8), key=st.sampled_from(KEYS), data=st.data())
def test_whole_weights_are_repeated_sets(n, key, data):
    y, levels, weight = (np.array(data.draw(column(n, high))) for high in (1, 9, 3))
    weight[0] = 2
    eta, loss = levels / 9, LOSSES[key]
    y, eta = np.column_stack([y, 1 - y, y]), np.column_stack([eta, eta[::-1], eta / 2])
    tuned = tune_threshold(y, eta, loss=loss, sample_weight=weight)
    repeated = np.repeat(y, weight, axis=0), np.repeat(eta, weight, axis=0)
    expected = tune_threshold(*repeated, loss=loss)
    assert_same(tuned, expected, atol=1e-12)
    # Groups in another order are the same sets, of equals the first.
    options = {"groups": np.tile(np.arange(n), 3), "sample_weight": 0.3 * weight}
    of_groups = tune_threshold(y.T.ravel(), eta.T.ravel(), loss=loss, **options)
    assert_same(of_groups, expected, atol=1e-12)
