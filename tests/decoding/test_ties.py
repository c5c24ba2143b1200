"""Equally probable items are taken or left together."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from sklearn_reject.decoding import decode, expected_loss_curve
from sklearn_reject.exceptions import RejectionWarning
from tests.decoding.set_oracle import LOSSES

NAMES = ["f1", "jaccard", "am", "g_tp_pr", "g_mean", "h_mean"]

COSTS = pytest.mark.filterwarnings(
    "ignore:Equally probable:sklearn_reject.exceptions.RejectionWarning"
)


@st.composite
def tied(draw, max_size=14):
    """Draw probabilities with many ties, in any order."""
    n = draw(st.integers(1, max_size))
    levels = draw(st.sampled_from([1, 2, 3, 6]))
    values = draw(st.lists(st.integers(0, levels), min_size=n, max_size=n))
    return np.array(values) / levels * draw(st.sampled_from([0.3, 0.9, 1.0]))


def ends_of_groups(eta):
    """Return the sizes of the sets that part no group of ties."""
    return [0, *(int(np.sum(eta >= value)) for value in np.unique(eta)[::-1])]


@COSTS
@pytest.mark.parametrize("name", NAMES)
@given(eta=tied(), z=st.sampled_from([0.0, 0.5, 1.0]))
def test_best_of_whole_groups(name, eta, z):
    options = {"loss": name, "zero_division": z}
    mask, expected_loss = decode(eta, **options)
    curve = expected_loss_curve(-np.sort(-eta), **options)
    ends = ends_of_groups(eta)
    assert mask.sum() in ends
    assert expected_loss == pytest.approx(curve[mask.sum()], abs=1e-11)
    assert expected_loss == pytest.approx(curve[ends].min(), abs=1e-11)
    # All that are as probable as one that is taken are taken.
    assert not np.isin(eta[~mask], eta[mask]).any()


@COSTS
@given(
    eta=tied(),
    name=st.sampled_from(NAMES),
    seed=st.integers(0, 99),
    sets=st.sampled_from(["one", "groups", "samples", "macro", "micro", "sparse"]),
)
def test_labels_do_not_depend_on_the_order(eta, name, seed, sets):
    order = np.random.default_rng(seed).permutation(len(eta))
    if sets in ("one", "groups"):
        groups = None if sets == "one" else np.arange(len(eta)) % 3
        shuffled = None if sets == "one" else groups[order]
        mask, loss = decode(eta, loss=name, groups=groups)
        other, again = decode(eta[order], loss=name, groups=shuffled)
    else:
        average = "macro" if sets == "sparse" else sets
        form = sparse.csr_matrix if sets == "sparse" else np.asarray
        eta = np.column_stack([eta, eta[::-1], 0.5 * eta])
        mask, loss = decode(form(eta), loss=name, average=average)
        other, again = decode(form(eta[order]), loss=name, average=average)
        if sets == "samples":
            loss = loss[order]
        if sets == "sparse":
            mask, other = mask.toarray(), other.toarray()
    np.testing.assert_array_equal(mask[order], other)
    np.testing.assert_allclose(loss, again, rtol=0, atol=1e-11)


@COSTS
@pytest.mark.parametrize("name", ["g_mean", "h_mean"])
def test_long_sets_part_no_group(name):
    """Those whose sizes are ruled out by bounds."""
    eta = np.round(np.random.default_rng(0).beta(0.5, 3, 300), 1)
    mask, expected_loss = decode(eta, loss=name)
    curve = expected_loss_curve(-np.sort(-eta), loss=name)
    ends = ends_of_groups(eta)
    assert mask.sum() in ends
    assert expected_loss == pytest.approx(curve[ends].min(), abs=2e-12)


def test_rounding_makes_no_order():
    """A classifier may round the probabilities of equal samples differently."""
    eta = np.array([0.3, 0.3 + 1e-16, 0.3 - 1e-16, 0.9, 0.1])
    mask, _ = decode(eta, loss="am")
    assert mask[:3].all() or not mask[:3].any()
    near = [0.3, 0.3 * (1 + 1e-10), 0.9]
    sizes = {decode(near, loss=name)[0].sum() for name in ("g_mean", "f1", "hamming")}
    assert 1 in sizes


# What it costs


@pytest.mark.parametrize("n", [2, 20, 300])
@pytest.mark.parametrize("name", ["g_mean", "h_mean"])
def test_both_losses_are_told_where_groups_are_costly(name, n):
    """All or nothing is the worst that can be done."""
    eta = np.full(n, 0.4)
    _, best = decode(eta, loss=name, ties="split")
    said = rf"is 1; separating ties would give {best:.3g}"
    with pytest.warns(RejectionWarning, match=said.replace(".", r"\.")):
        mask, expected_loss = decode(eta, loss=name)
    assert not mask.any()
    assert expected_loss == pytest.approx(1.0, abs=1e-12)
    assert best < 0.8


@given(eta=tied(), z=st.sampled_from([0.0, 1.0]), name=st.sampled_from(NAMES))
def test_a_warning_where_more_than_a_fiftieth_is_lost(eta, z, name):
    options = {"loss": name, "zero_division": z}
    _, best = decode(eta, ties="split", **options)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        _, whole = decode(eta, **options)
    assert bool(caught) == (whole - best > 0.02 * whole + 1e-11)
    assert whole >= best - 1e-11


@given(eta=tied())
def test_groups_of_ties_cost_nothing_where_losses_are_linear(eta):
    """Sums over items, such as the Hamming loss, are least at an end of a group."""
    for name in ("hamming", "am", "balanced_accuracy"):
        _, best = decode(eta, loss=name, ties="split")
        assert decode(eta, loss=name)[1] == pytest.approx(best, abs=1e-11)


# Bounds part groups


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_bounds_part_groups(form):
    eta = form(np.array([[0.5, 0.5, 0.5, 0.2]]))
    for bounds, size in (
        ({"max_positive": 2}, 2),
        ({"max_positive": 3}, 3),
        ({"min_positive": 2, "max_positive": 2}, 2),
    ):
        mask, _ = decode(eta, loss="recall", **{"max_positive": 4, **bounds})
        assert mask.sum() == size
    for least in (1, 2, 3):
        mask, _ = decode(eta, loss="precision", min_positive=least)
        assert mask.sum() == least


@COSTS
@given(eta=tied(), key=st.sampled_from(sorted(LOSSES)), data=st.data())
def test_sizes_that_are_allowed(eta, key, data):
    n, loss = len(eta), LOSSES[key]
    low = data.draw(st.integers(0, n))
    high = data.draw(st.integers(low, n))
    low = max(low, int("min_positive" in loss.needs_bounds))
    high = max(low, high)
    mask, expected_loss = decode(eta, loss=loss, min_positive=low, max_positive=high)
    curve = expected_loss_curve(-np.sort(-eta), loss=loss)
    cuts = {low, high, *(k for k in ends_of_groups(eta) if low <= k <= high)}
    if low == 0 < high:  # nothing bounds from below
        assert 0 in cuts
    scale = max(1.0, np.abs(curve).max())
    assert mask.sum() in cuts
    assert expected_loss == pytest.approx(
        min(curve[k] for k in cuts), abs=1e-11 * scale
    )


def test_unknown_option():
    with pytest.raises(ValueError, match="ties must be one of"):
        decode([0.5], loss="f1", ties="first")
