"""Sizes that a bound rules out: never the best, and many where they should be."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sklearn_reject.decoding import _ratios as _quadrature
from sklearn_reject.decoding import expected_loss_curve
from sklearn_reject.decoding._curves import candidate_curves
from sklearn_reject.losses import check_set_loss
from tests.decoding.set_oracle import (
    FRACTIONAL,
    KINDS,
    LOSSES,
    draw_probabilities,
    probabilities,
)

WITH_EXPANSION = sorted(key for key in LOSSES if LOSSES[key].expansion(1) is not None)


def candidates(eta, loss, **options):
    expansion = loss.expansion(eta.shape[1] + options.get("n_negatives", 0))
    return candidate_curves(eta, expansion, **options)


@given(
    kinds=st.lists(st.sampled_from(KINDS), min_size=1, max_size=3),
    n=st.integers(1, 120),
    key=st.sampled_from(WITH_EXPANSION),
)
def test_what_is_left_out_is_worse_than_what_comes_before(kinds, n, key):
    rng = np.random.default_rng(n)
    eta = np.array([draw_probabilities(kind, n, rng) for kind in kinds])
    curves = expected_loss_curve(eta, loss=LOSSES[key])
    found = candidates(eta, LOSSES[key])
    is_known = np.isfinite(found)
    np.testing.assert_allclose(found[is_known], curves[is_known], rtol=0, atol=2e-12)
    for row, known, curve in zip(found, is_known, curves, strict=True):
        assert (row[~known] == np.inf).all()
        first = known.sum()  # known sizes are the first ones
        assert known[:first].all()
        assert (curve[first:] >= curve[:first].min() - 2e-12).all()


# So many rows that it is asked often whether larger sets can be better.
FEW_OF_MANY = np.tile(np.append(np.full(5, 0.9), np.full(500, 1e-7)), (200, 1))


@pytest.mark.parametrize(
    ("name", "z"), [("f_beta", 0.0), ("f_beta", 0.5), ("jaccard", 1.0)]
)
def test_most_sizes_of_many_rare_items_are_left_out(name, z):
    for beta in (0.5, 1.0, 2.0):
        loss = check_set_loss(name, beta=beta, zero_division=z)
        assert np.isinf(candidates(FEW_OF_MANY, loss)[:, 100:]).all()
        assert np.isfinite(candidates(FEW_OF_MANY, loss, min_positive=1)).all()


def test_further_negatives_count():
    loss = check_set_loss("f_beta", zero_division=0.5)
    found = candidates(FEW_OF_MANY, loss, n_negatives=7)
    padded = expected_loss_curve(np.pad(FEW_OF_MANY, ((0, 0), (0, 7))), loss=loss)
    is_known = np.isfinite(found)
    assert is_known[:, :6].all()
    expected = padded[:, : found.shape[1]][is_known]
    np.testing.assert_allclose(found[is_known], expected, rtol=0, atol=2e-12)


@pytest.mark.parametrize(
    "name", ["am", "g_tp_pr", "auc", "recall", "zero_one", FRACTIONAL], ids=str
)
def test_other_losses_have_no_such_bound(name):
    loss = check_set_loss(name)
    assert np.isfinite(candidates(FEW_OF_MANY, loss)).all()


@given(
    eta=probabilities(max_size=12),
    key=st.sampled_from(WITH_EXPANSION),
    scale=st.sampled_from([1.0, 1e-3, 1e-6]),
)
def test_bound_is_kept_item_by_item(eta, key, scale):
    """Of rare items it is nearly reached."""
    eta = scale * eta[np.newaxis]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_quadrature, "_ITEMS_BETWEEN_STOPS", 1)
        patch.setattr(_quadrature, "_N_AT_ONCE", 1)
        found = candidates(eta, LOSSES[key])
    curve = expected_loss_curve(eta, loss=LOSSES[key])
    assert found.min() <= curve.min() + 2e-12


def test_rows_are_looked_at_until_all_are_settled():
    eta = np.vstack([FEW_OF_MANY[:50], np.full(505, 0.4)])
    found = candidates(eta, check_set_loss("f_beta"))
    curves = expected_loss_curve(eta, loss="f_beta")
    assert np.isfinite(found).all()
    np.testing.assert_allclose(found, curves, rtol=0, atol=2e-12)
