"""Tuned thresholds of weighted items and sets, against repeated ones."""

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sklearn_reject.decoding import tune_threshold
from tests.decoding.set_oracle import LOSSES

FREE = sorted(key for key, loss in LOSSES.items() if not loss.needs_bounds)

# A function of the counts may see their scale.
RATIOS = [key for key in FREE if key[0] != "callable"]

WHOLE = st.integers(0, 3)

AVERAGES = pytest.mark.parametrize("average", ["macro", "micro"])


@st.composite
def weighed_items(draw, max_size=12, weights=WHOLE):
    """Draw labels, probabilities with ties, and weights that are not all zero."""
    n = draw(st.integers(1, max_size))
    column = lambda of: draw(st.lists(of, min_size=n, max_size=n))  # noqa: E731
    y, eta = np.array(column(st.integers(0, 1))), column(st.integers(0, 9))
    weight = np.array(column(weights))
    weight[draw(st.integers(0, n - 1))] = 2
    return y, np.array(eta) / 9, weight


def assert_same(tuned, expected, atol=0.0):
    np.testing.assert_array_equal(tuned.threshold, expected.threshold)
    np.testing.assert_allclose(tuned.loss, expected.loss, rtol=0, atol=atol)
    for name, allowed in (("thresholds", 0.0), ("losses", atol)):
        ours, theirs = (np.hstack(getattr(found, name)) for found in (tuned, expected))
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=allowed)


@given(items=weighed_items(), key=st.sampled_from(FREE))
def test_whole_weights_are_repeated_items(items, key):
    y, eta, weight = items
    tuned = tune_threshold(y, eta, loss=LOSSES[key], sample_weight=weight)
    repeated = np.repeat(y, weight), np.repeat(eta, weight)
    assert_same(tuned, tune_threshold(*repeated, loss=LOSSES[key]))


def exact_f1(y, eta, weight, threshold):
    """Return the loss, a fraction, item by item."""
    counts = Counter()
    for label, p, w in zip(y.tolist(), eta.tolist(), weight.tolist(), strict=True):
        counts[label, p >= threshold] += Fraction(w)
    errors = counts[0, True] + counts[1, False]
    tp = counts[1, True]
    return 1 - 2 * tp / (2 * tp + errors) if tp + errors else Fraction(1)


@given(items=weighed_items(weights=st.floats(0, 5)), scale=st.sampled_from([1, 1e-60]))
def test_no_threshold_is_better(items, scale):
    y, eta, weight = items
    weight = np.where(weight < 1e-6, 0.0, weight)
    tuned = tune_threshold(y, eta, loss="f1", sample_weight=scale * weight)
    losses = {t: exact_f1(y, eta, weight, t) for t in [np.inf, *eta.tolist()]}
    assert tuned.loss == pytest.approx(float(min(losses.values())), abs=1e-12)
    found = exact_f1(y, eta, weight, tuned.threshold)
    assert float(found) == pytest.approx(tuned.loss, abs=1e-12)


@given(items=weighed_items(weights=st.floats(0, 5)), key=st.sampled_from(RATIOS))
def test_only_ratios_of_weights_matter(items, key):
    y, eta, weight = items
    weight = np.where(weight < 1e-3, 0.0, weight)
    plain, *others = (
        tune_threshold(y, eta, loss=LOSSES[key], sample_weight=scale * weight)
        for scale in (1.0, 1 / 3, 1e-90, 7e70)
    )
    for tuned in others:
        assert_same(tuned, plain, atol=1e-11)


def test_sums_of_many_weights_leave_no_rest():
    """0.1 + ... + 0.1 - 0.1 - ... is not zero, and G-mean and F1 know 0/0."""
    y, eta = np.repeat([1, 0, 1], 10), np.repeat([0.9, 0.5, 0.1], 10)
    for loss in ("f1", "am", "g_mean", "h_mean", "jaccard", "balanced_accuracy"):
        tenth = tune_threshold(y, eta, loss=loss, sample_weight=np.full(30, 0.1))
        assert_same(tenth, tune_threshold(y, eta, loss=loss), atol=1e-14)
        for only in (0, 1):
            same = np.full(30, only)
            tenth = tune_threshold(same, eta, loss=loss, sample_weight=0.1)
            assert_same(tenth, tune_threshold(same, eta, loss=loss), atol=1e-14)


def test_tables_of_partitions_add_up():
    rng = np.random.default_rng(0)
    eta = rng.beta(0.5, 2, 4000).round(2)
    y = (rng.random(4000) < eta).astype(int)
    total = Counter()
    for rows in np.array_split(np.arange(4000), 7):
        total += Counter(zip(eta[rows].tolist(), y[rows].tolist(), strict=True))
    values, labels = np.array(list(total)).T
    options = {"loss": "f1", "sample_weight": list(total.values())}
    tuned = tune_threshold(labels, values, **options)
    assert_same(tuned, tune_threshold(y, eta, loss="f1"))


# Matrices


@AVERAGES
@given(data=st.data())
def test_rows_of_a_matrix_are_items(average, data):
    y, eta, weight = data.draw(weighed_items(max_size=8))
    y, eta = np.column_stack([y, 1 - y]), np.column_stack([eta, eta[::-1]])
    options = {"loss": "f1", "average": average}
    tuned = tune_threshold(y, eta, sample_weight=weight, **options)
    repeated = np.repeat(y, weight, axis=0), np.repeat(eta, weight, axis=0)
    assert_same(tuned, tune_threshold(*repeated, **options))


@given(data=st.data(), low=st.integers(0, 2), key=st.sampled_from(sorted(LOSSES)))
def test_whole_weights_are_repeated_sets(data, low, key):
    loss = LOSSES[key]
    low = max(low, int("min_positive" in loss.needs_bounds))
    options = {"min_positive": low, "max_positive": 2 if loss.needs_bounds else None}
    y, eta, weight = data.draw(weighed_items(max_size=8))
    y, eta = np.column_stack([y, 1 - y, y]), np.column_stack([eta, eta[::-1], eta / 2])
    tuned = tune_threshold(y, eta, loss=loss, sample_weight=weight, **options)
    repeated = np.repeat(y, weight, axis=0), np.repeat(eta, weight, axis=0)
    expected = tune_threshold(*repeated, loss=loss, **options)
    assert_same(tuned, expected, atol=1e-12)
    # Groups in another order are the same sets.
    rows = np.tile(np.arange(len(y)), (3, 1)).T
    groups = tune_threshold(
        y.T.ravel(),
        eta.T.ravel(),
        loss=loss,
        groups=rows.T.ravel(),
        sample_weight=0.3 * weight,
        **options,
    )
    if low == 0:  # the first of equals are others
        assert_same(groups, expected, atol=1e-12)
    assert groups.loss == pytest.approx(expected.loss, abs=1e-9) or low


def test_a_heavy_set_decides():
    y, eta = [[1, 0], [0, 1], [0, 1]], [[0.9, 0.2], [0.6, 0.4], [0.6, 0.4]]
    plain = tune_threshold(y, eta, loss="hamming")
    heavy = tune_threshold(y, eta, loss="hamming", sample_weight=[9, 1, 1])
    assert plain.loss == pytest.approx(1 / 3)
    assert (heavy.threshold, heavy.loss) == (0.75, pytest.approx(1 / 11))


# Bad input


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sample_weight": [1, 2]}, r"each item, shape \(4,\), got shape \(2,\)\.$"),
        ({"sample_weight": [0] * 4}, "zero for every sample"),
        ({"sample_weight": [1, 1, 1, -1]}, "non-negative"),
        ({"sample_weight": [1, 1, 1, np.nan]}, "finite"),
        (
            {"sample_weight": [1] * 4, "groups": [0, 0, 1, 1]},
            r"each set, shape \(2,\), got shape \(4,\)\. Items of a set have no",
        ),
        (
            {"sample_weight": [1] * 4, "min_positive": 1},
            "any number of items, but min_positive, .*Repeat the items",
        ),
        (
            {"sample_weight": [1] * 4, "min_positive": 1, "max_positive": 2},
            "but min_positive and max_positive, ",
        ),
        (
            {"sample_weight": [1] * 4, "loss": "precision"},
            "but min_positive, given or needed by the loss",
        ),
    ],
)
def test_bad_weights(options, message):
    options = {"loss": "f1", **options}
    with pytest.raises(ValueError, match=message):
        tune_threshold([0, 1, 0, 1], [0.1, 0.4, 0.6, 0.9], **options)


@pytest.mark.parametrize("average", ["samples", "macro", "micro"])
def test_weights_of_entries_are_refused(average):
    y, eta = np.eye(3), np.full((3, 3), 0.5)
    what = "set" if average == "samples" else "row"
    with pytest.raises(ValueError, match=rf"each {what}, shape \(3,\)"):
        tune_threshold(y, eta, loss="f1", average=average, sample_weight=eta)
