"""Sets of columns and of all entries against calls for each of them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from sklearn_reject.decoding import decode, tune_threshold
from sklearn_reject.exceptions import RejectionWarning
from tests.decoding.set_oracle import LOSSES

pytestmark = pytest.mark.filterwarnings(
    "ignore:Equally probable:sklearn_reject.exceptions.RejectionWarning"
)


@st.composite
def matrices(draw):
    """Draw (y, eta) of one shape, with ties and zeros."""
    shape = draw(st.integers(1, 6)), draw(st.integers(1, 4))
    seed = draw(st.integers(0, 10**6))
    rng = np.random.default_rng(seed)
    eta = np.round(rng.random(shape) * (rng.random(shape) < 0.8), 1)
    return rng.integers(0, 2, shape), eta


def bounds_for(loss, n):
    return {"min_positive": 1, "max_positive": n} if loss.needs_bounds else {}


@given(items=matrices(), key=st.sampled_from(sorted(LOSSES)), is_sparse=st.booleans())
def test_columns_are_sets(items, key, is_sparse):
    _, eta = items
    options = {"loss": LOSSES[key], **bounds_for(LOSSES[key], len(eta))}
    given = sparse.csr_matrix(eta) if is_sparse else eta
    mask, losses = decode(given, average="macro", **options)
    if is_sparse:
        assert mask.format == "csr"
        mask = mask.toarray()
    assert mask.dtype == bool
    assert losses.shape == eta.shape[1:]
    for column, (chosen, loss) in enumerate(zip(mask.T, losses, strict=True)):
        alone, expected = decode(eta[:, column], **options)
        np.testing.assert_array_equal(chosen, alone)
        assert loss == pytest.approx(expected, abs=1e-11 * max(1, abs(expected)))


@given(items=matrices(), key=st.sampled_from(sorted(LOSSES)), is_sparse=st.booleans())
def test_all_entries_are_one_set(items, key, is_sparse):
    _, eta = items
    options = {"loss": LOSSES[key], **bounds_for(LOSSES[key], eta.size)}
    given = sparse.csr_matrix(eta) if is_sparse else eta
    mask, loss = decode(given, average="micro", **options)
    mask = mask.toarray() if is_sparse else mask
    alone, expected = decode(eta.ravel(), **options)
    np.testing.assert_array_equal(mask, alone.reshape(eta.shape))
    assert type(loss) is float
    assert loss == pytest.approx(expected, abs=1e-11 * max(1, abs(expected)))


def test_more_entries_than_an_int32_has():
    eta = sparse.csr_matrix(([0.9, 0.2], ([0, 99_999], [5, 99_999])), (10**5, 10**5))
    mask, _ = decode(eta, loss="f1", average="micro")
    assert [part.tolist() for part in mask.nonzero()] == [[0], [5]]
    assert mask.shape == eta.shape


@pytest.mark.parametrize("average", ["macro", "micro"])
@pytest.mark.parametrize("k", [0, 1, 3])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_exactly_k(average, k, form):
    eta = np.random.default_rng(0).random((6, 4)) ** 3
    for name in ("auc", "precision", "recall", "f1", "g_mean"):
        if name in ("auc", "precision") and k == 0:
            continue
        mask, _ = decode(
            form(eta), loss=name, average=average, min_positive=k, max_positive=k
        )
        if average == "macro":
            assert np.asarray(mask.sum(axis=0)).ravel().tolist() == [k] * 4
            top = np.argsort(-eta, axis=0)[:k]
            assert np.asarray(mask.todense() if sparse.issparse(mask) else mask)[
                top, np.arange(4)
            ].all()
        else:
            assert mask.sum() == k


# Thresholds


@given(items=matrices(), key=st.sampled_from(sorted(LOSSES)), data=st.data())
def test_one_threshold_a_column(items, key, data):
    y, eta = items
    loss = LOSSES[key]
    options = {"loss": loss, **bounds_for(loss, len(eta))}
    if data.draw(st.booleans()):
        k = data.draw(st.integers(1, len(eta)))
        options |= {"min_positive": k, "max_positive": k}
    tuned = tune_threshold(y, eta, average="macro", **options)
    alone = [
        tune_threshold(*column, **options) for column in zip(y.T, eta.T, strict=True)
    ]
    assert tuned.threshold.shape == eta.shape[1:]
    np.testing.assert_array_equal(tuned.threshold, [one.threshold for one in alone])
    assert tuned.loss == np.mean([one.loss for one in alone])
    for curves, name in ((tuned.thresholds, "thresholds"), (tuned.losses, "losses")):
        for curve, one in zip(curves, alone, strict=True):
            np.testing.assert_array_equal(curve, getattr(one, name))


@given(items=matrices(), is_sparse=st.booleans())
def test_one_threshold_for_all_entries(items, is_sparse):
    y, eta = items
    tuned = tune_threshold(
        sparse.csr_array(y) if is_sparse else y, eta, loss="f1", average="micro"
    )
    alone = tune_threshold(y.ravel(), eta.ravel(), loss="f1")
    assert tuned == alone
    np.testing.assert_array_equal(tuned.losses, alone.losses)


# Small sets


@pytest.mark.parametrize("average", ["samples", "macro", "micro"])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_fewer_items_than_wanted(average, form):
    eta = np.array([[0.2, 0.0, 0.4], [0.3, 0.1, 0.0]])
    with pytest.warns(RejectionWarning, match="min_positive=9 is above the number"):
        mask, _ = decode(form(eta), loss="f1", average=average, min_positive=9)
    assert mask.sum() == 6
    with pytest.warns(RejectionWarning, match="min_positive=9 is above the number"):
        tuned = tune_threshold(
            eta > 0.2, eta, loss="f1", average=average, min_positive=9
        )
    assert np.all(tuned.threshold == 0)


def test_groups_of_fewer_items_than_wanted():
    eta, groups = np.array([0.1, 0.2, 0.1, 0.3, 0.05]), [0, 0, 1, 1, 1]
    with pytest.warns(RejectionWarning, match="items of 1 of 2 sets"):
        mask, _ = decode(eta, loss="f1", groups=groups, min_positive=3)
    assert mask.all()
    options = {"loss": "f1", "groups": groups, "min_positive": 3, "max_positive": 3}
    with pytest.warns(
        RejectionWarning, match="Lower min_positive, or remove small sets"
    ):
        tuned = tune_threshold(eta > 0.15, eta, **options)
    assert tuned.loss == pytest.approx((1 / 3 + 1 / 2) / 2)


# Bad input


@pytest.mark.parametrize("average", ["macro", "micro"])
def test_vectors_are_no_columns(average):
    for groups in (None, [0, 1]):
        with pytest.raises(ValueError, match=rf"average='{average}'.*\(2,\).*vector"):
            decode([0.1, 0.2], loss="f1", average=average, groups=groups)
        with pytest.raises(ValueError, match=r"Set average to 'samples'"):
            tune_threshold([0, 1], [0.1, 0.2], loss="f1", average=average)
    with pytest.raises(ValueError, match="one item of each row is positive"):
        decode([[0.5, 0.5]], loss="f1", average=average, distribution="multinomial")
    with pytest.raises(ValueError, match="each row is a set"):
        decode([[0.5, 0.5]], loss="f1", average=average, groups=[0])


@pytest.mark.parametrize("average", ["weighted", None, "binary"])
def test_unknown_averages(average):
    with pytest.raises(ValueError, match="average must be one of"):
        decode([[0.5, 0.5]], loss="f1", average=average)
    with pytest.raises(ValueError, match="average must be one of"):
        tune_threshold([[0, 1]], [[0.5, 0.5]], loss="f1", average=average)
