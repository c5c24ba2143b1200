"""Best sets against all sets, whatever form the probabilities have."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from sklearn_reject.decoding import decode, expected_loss_curve
from sklearn_reject.exceptions import RejectionWarning
from tests.decoding.set_oracle import (
    DEFINITIONS,
    KEYS,
    KINDS,
    LOSSES,
    SETS,
    ZERO_DIVISIONS,
    draw_probabilities,
    expected_losses,
    outcomes,
    precision_loss,
    priced,
    probabilities,
    recall_loss,
)

TOL = 1e-11
FREE = {k for k in KEYS if k[0] in DEFINITIONS}
NAMES = ["f1", "jaccard", "am", "g_tp_pr", "g_mean"]


@st.composite
def problems(draw, max_size=7):
    """Draw (eta in any order, loss, bounds), bounds that the loss needs among them."""
    eta = draw(probabilities(max_size=max_size))
    eta = np.random.default_rng(draw(st.integers(0, 99))).permutation(eta)
    loss = LOSSES[draw(st.sampled_from(KEYS))]
    low, high = 0, None
    if draw(st.booleans()):
        low = draw(st.integers(0, len(eta)))
        high = draw(st.none() | st.integers(low, len(eta) + 2))
    return eta, loss, {"min_positive": low, "max_positive": high}


def inside(bounds, sizes):
    high = np.inf if bounds["max_positive"] is None else bounds["max_positive"]
    return (sizes >= bounds["min_positive"]) & (sizes <= high)


def ends_of_ties(eta):
    """Return the sizes of the sets that part no group of equals."""
    return [0, *(int(np.sum(eta >= value)) for value in np.unique(eta)[::-1])]


@given(problem=problems())
@pytest.mark.parametrize("distribution", ["independent", "multinomial"])
def test_no_set_is_better(problem, distribution):
    eta, loss, bounds = problem
    if distribution == "multinomial":
        eta = (eta + 1e-3) / (eta + 1e-3).sum()
    options = {"loss": loss, "distribution": distribution, **bounds}
    mask, expected_loss = decode(eta, **options)
    losses, sets = expected_losses(eta, loss, "all", distribution), outcomes(len(eta))
    # Equal items are together, but where a bound parts them.
    is_whole = [len(set(zip(eta, each, strict=True))) for each in sets]
    is_whole = np.equal(is_whole, len(set(eta)))
    is_bound = np.isin(sets.sum(axis=1), [b for b in bounds.values() if b is not None])
    allowed = inside(bounds, sets.sum(axis=1)) & (is_whole | is_bound)
    tolerance = TOL * max(1.0, np.abs(losses).max())
    assert (mask.shape, mask.dtype, type(expected_loss)) == (eta.shape, bool, float)
    row = int(mask @ (1 << np.arange(len(mask))))
    assert allowed[row]
    assert abs(losses[row] - losses[allowed].min()) <= tolerance
    assert abs(expected_loss - losses[allowed].min()) <= tolerance


def assert_is_least(eta, loss, bounds, tolerance=1e-12, **options):
    """Check for the smallest of equals, equal items together, but for bounds."""
    mask, expected_loss = decode(eta, loss=loss, **bounds, **options)
    order = sorted(range(len(eta)), key=lambda i: (-eta[i], i))
    curve = expected_loss_curve(eta[order], loss=loss, **options)
    tolerance *= max(1.0, np.abs(curve).max())
    sizes, k = np.arange(len(curve)), mask.sum()
    cuts = [
        *ends_of_ties(eta),
        *(len(eta) if b is None else b for b in bounds.values()),
    ]
    allowed = inside(bounds, sizes) & np.isin(sizes, cuts)
    assert set(np.flatnonzero(mask)) == set(order[:k])
    assert allowed[k]
    assert curve[k] <= curve[allowed].min() + tolerance
    assert expected_loss == pytest.approx(curve[k], abs=tolerance)
    return curve[allowed & (sizes < k)] - curve[k], tolerance


@given(problem=problems(max_size=40))
def test_the_set_is_the_top_of_the_least_loss(problem):
    higher, tolerance = assert_is_least(*problem)
    assert (higher > -tolerance / 10).all()


def test_the_smallest_set_of_equals():
    assert decode([0.5, 0.5, 0.5], loss="hamming")[0].sum() == 0
    # Whether one of two sure items, or one of no use, is added: all the same.
    mask, _ = decode([1.0, 0.0, 0.0], loss=recall_loss, max_positive=3)
    assert mask.tolist() == [True, False, False]
    mask, _ = decode([1.0, 1.0, 0.5], loss=precision_loss, min_positive=1)
    assert mask.tolist() == [True, False, False]
    mask, _ = decode([0.2, 0.5, 0.5, 0.5], loss="am", min_positive=2, max_positive=2)
    assert mask.tolist() == [False, True, True, False]  # first come first
    # But for rounding: then nothing is predicted.
    for loss in (
        lambda tp, fp, fn, tn: 0.1 + 0.0 * tp,
        lambda tp, fp, fn, tn: (fp - tp) / (tp + fp + fn + tn),
    ):
        for n in (7, 300):
            assert not decode([0.5] * n, loss=loss)[0].any()
    # One minus an F-measure of nearly one, to which the last items add 1e-15 each.
    eta = np.append(np.full(30, 1e-6), np.full(30, 1e-15))
    options = {"loss": "f_beta", "beta": 1e6, "zero_division": 0.0}
    assert decode(eta, **options)[0].sum() == 30


@pytest.mark.parametrize("key", sorted(FREE), ids=str)
def test_probabilities_of_any_type_or_off_by_rounding(key):
    frames = [pd.Series([1.0, 0.0], dtype=dtype) for dtype in (object, "Float64")]
    for values in ([1, 0], [True, False], [1 + 1e-10, -1e-10], *frames):
        assert decode(values, loss=LOSSES[key])[0].tolist() == [True, False]


# Long sets: the G-mean, of which bounds rule most sizes out
@pytest.mark.parametrize("z", ZERO_DIVISIONS)
@pytest.mark.parametrize("name", ["g_mean", "f1", "jaccard", "am"])
@pytest.mark.parametrize("n", [100, pytest.param(400, marks=pytest.mark.slow)])
def test_long_sets(name, z, n):
    rng = np.random.default_rng(1)
    for kind in KINDS:
        eta = draw_probabilities(kind, n, rng)
        low = int(rng.integers(0, n))
        for least, most in ((0, None), (low, n), (0, low), (low, low)):
            bounds = {"min_positive": least, "max_positive": most}
            assert_is_least(eta, name, bounds, 2e-12, zero_division=z)


@st.composite
def matrices(draw):
    """Draw a matrix with ties and zeros, rows of which may be empty or full."""
    shape = draw(st.integers(1, 6)), draw(st.integers(1, 9))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    eta = rng.choice([0.1, 0.3, 0.3, 0.8, 1e-6, 1.0], shape)
    return eta * (rng.random(shape) < rng.choice([0, 0.1, 0.4, 1], (shape[0], 1)))


FORMS = [sparse.csr_matrix, sparse.csc_matrix, sparse.coo_matrix, sparse.csr_array]


@given(
    eta=matrices(),
    key=st.sampled_from(KEYS),
    average=st.sampled_from(sorted(SETS)),
    bounds=st.none() | st.tuples(st.integers(0, 9), st.integers(0, 12)),
    to_sparse=st.sampled_from(FORMS),
)
def test_each_set_is_a_call(eta, key, average, bounds, to_sparse):
    """Whether a matrix is dense or sparse, or its rows are groups of a vector."""
    sets, loss = SETS[average](eta), LOSSES[key]
    low, high = (0, None) if bounds is None else sorted(bounds)
    low = min(low, len(sets[0]))
    options = {"loss": loss, "min_positive": low, "max_positive": high}
    mask, losses = decode(eta, average=average, **options)
    found, of_sparse = decode(to_sparse(eta), average=average, **options)
    assert (found.format, found.dtype, found.shape) == ("csr", bool, eta.shape)
    assert found.data.all()
    assert found.has_canonical_format
    np.testing.assert_array_equal(found.toarray(), mask)
    assert np.shape(losses) == (() if average == "micro" else (len(sets),))
    if average == "samples":
        # The groups of items that come in any order.
        order = np.random.default_rng(0).permutation(eta.size)
        groups = np.repeat(np.arange(len(eta)), eta.shape[1])[order]
        flat, of_groups = decode(eta.ravel()[order], groups=groups, **options)
        np.testing.assert_allclose(of_groups, losses, rtol=1e-11, atol=TOL)
        assert bounds or (flat == mask.ravel()[order]).all()
    every = np.atleast_1d(losses), np.atleast_1d(of_sparse)
    parts = zip(SETS[average](mask), sets, *every, strict=True)
    for chosen, of_set, *expected in parts:
        alone, loss_alone = decode(of_set, **options)
        np.testing.assert_array_equal(chosen, alone)
        np.testing.assert_allclose(expected, loss_alone, rtol=1e-11, atol=TOL)


@given(dense=matrices())
def test_multinomial_rows_and_groups(dense):
    dense[:, 0] += dense.sum(axis=1) == 0
    dense /= dense.sum(axis=1, keepdims=True)
    groups = np.repeat(np.arange(len(dense)), dense.shape[1])
    for loss in ("f1", "g_tp_pr", "g_mean"):
        options = {"loss": loss, "distribution": "multinomial"}
        mask, losses = decode(dense, **options)
        np.testing.assert_array_equal(
            decode(sparse.csr_matrix(dense), **options)[0].toarray(), mask
        )
        flat, of_groups = decode(dense.ravel(), groups=groups, **options)
        np.testing.assert_array_equal(flat, mask.ravel())
        np.testing.assert_allclose(of_groups, losses, rtol=0, atol=1e-15)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("loss", ["f1", "g_mean", priced])
def test_many_rows_jobs_and_chunks(form, loss):
    """More rows than are worked on at once, of any number of stored items."""
    rng = np.random.default_rng(0)
    eta = rng.choice([0.2, 0.7], (9_000, 6)) * (rng.random((9_000, 6)) < 0.4)
    mask, losses = decode(form(eta), loss=loss)
    again, of_jobs = decode(form(eta), loss=loss, n_jobs=2)
    assert (mask != again).sum() == 0
    np.testing.assert_allclose(losses, of_jobs, rtol=0, atol=TOL)
    mask = mask.toarray() if sparse.issparse(mask) else mask
    for row in (0, 4095, 4096, 8999):
        single, expected_loss = decode(eta[row], loss=loss)
        np.testing.assert_array_equal(mask[row], single)
        assert losses[row] == pytest.approx(expected_loss, abs=TOL)


@pytest.mark.parametrize("name", ["f1", "am", "g_mean"])
def test_long_rows_of_few_items(name):
    """Some rows store more items than fit into tables of all counts."""
    rng = np.random.default_rng(0)
    share = [[0.01], [0.1], [0.5], [0.9]]
    eta = rng.random((4, 600)) * (rng.random((4, 600)) < share)
    for bounds in ({}, {"max_positive": 5}):
        options = {"loss": name, "zero_division": 0.5, **bounds}
        mask, losses = decode(sparse.csr_matrix(eta), **options)
        dense, of_dense = decode(eta, **options)
        np.testing.assert_array_equal(mask.toarray(), dense)
        np.testing.assert_allclose(losses, of_dense, atol=1e-11)


def test_what_sparse_matrices_store():
    dense = np.array([[0, 0, 0.4, 0, 0], [0, 0, 0, 0, 0], [0.1, 0.2, 0.3, 0.4, 0.5]])
    mask, _ = decode(sparse.csr_matrix(dense), loss="f1", min_positive=3)
    expected = [[1, 1, 1, 0, 0], [1, 1, 1, 0, 0], [0, 0, 1, 1, 1]]
    assert mask.toarray().astype(int).tolist() == expected
    # Zeros, duplicates, and what is zero but for rounding.
    values, rows = [0.4, 0.5, 0.0, 0.7, 1e-10 - 1e-9], [0, 0, 0, 1, 1]
    eta = sparse.coo_matrix((values, (rows, [2, 2, 0, 1, 3])), shape=(2, 4))
    dense = np.array([[0, 0, 0.9, 0], [0, 0.7, 0, 0]])
    for loss in ("f1", "am", priced, lambda tp, fp, fn, tn: fn + tn):
        for bounds in ({}, {"min_positive": 3}):
            mask, _ = decode(eta, loss=loss, **bounds)
            expected, _ = decode(dense, loss=loss, **bounds)
            np.testing.assert_array_equal(mask.toarray(), expected)
    # What is not stored is negative, so that both classes are there.
    _, losses = decode(sparse.csr_matrix([[1.0, 0.0]]), loss="balanced_accuracy")
    np.testing.assert_allclose(losses, 0, atol=1e-12)
    # Indices in any order, and a row of a hundred million labels.
    eta = sparse.csr_matrix(([0.5] * 3, [3, 0, 2], [0, 3]), shape=(1, 5))
    mask, _ = decode(eta, loss="am", min_positive=2, max_positive=2)
    assert mask.indices.tolist() == [0, 2]
    eta = sparse.csr_matrix(([0.9, 0.2], ([0, 1], [5, 99_999_999])), shape=(2, 10**8))
    mask, losses = decode(eta, loss="f1")
    assert mask.indices.tolist() == [5, 99_999_999]
    np.testing.assert_allclose(losses, [0.1, 0.8], atol=1e-12)
    # More entries than an int32 has.
    eta = sparse.csr_matrix(([0.9, 0.2], ([0, 99_999], [5, 99_999])), (10**5, 10**5))
    mask, _ = decode(eta, loss="f1", average="micro")
    assert [part.tolist() for part in mask.nonzero()] == [[0], [5]]


@st.composite
def tied(draw, max_size=14):
    n = draw(st.integers(1, max_size))
    levels = draw(st.sampled_from([1, 2, 3, 6]))
    values = draw(st.lists(st.integers(0, levels), min_size=n, max_size=n))
    return np.array(values) / levels * draw(st.sampled_from([0.3, 0.9, 1.0]))


@given(
    eta=tied(),
    name=st.sampled_from(NAMES),
    seed=st.integers(0, 99),
    sets=st.sampled_from(["one", "groups", "samples", "macro", "micro"]),
    form=st.sampled_from([np.asarray, sparse.csr_matrix]),
)
def test_labels_do_not_depend_on_the_order(eta, name, seed, sets, form):
    order = np.random.default_rng(seed).permutation(len(eta))
    if sets in ("one", "groups"):
        groups = np.zeros(len(eta)) if sets == "one" else np.arange(len(eta)) % 3
        mask, loss = decode(eta, loss=name, groups=groups)
        other, again = decode(eta[order], loss=name, groups=groups[order])
    else:
        eta = np.column_stack([eta, eta[::-1], 0.5 * eta])
        mask, loss = decode(form(eta), loss=name, average=sets)
        other, again = decode(form(eta[order]), loss=name, average=sets)
        loss = loss[order] if sets == "samples" else loss
    assert (mask[order] != other).sum() == 0
    np.testing.assert_allclose(loss, again, rtol=0, atol=1e-11)


def test_rounding_makes_no_order():
    """A classifier may round the probabilities of equal samples differently."""
    mask, _ = decode([0.3, 0.3 + 1e-16, 0.3 - 1e-16, 0.9, 0.1], loss="am")
    assert mask[:3].all() or not mask[:3].any()
    near = [0.3, 0.3 * (1 + 1e-10), 0.9]
    sizes = {decode(near, loss=name)[0].sum() for name in ("g_mean", "f1", "hamming")}
    assert 1 in sizes


@pytest.mark.parametrize("average", ["samples", "macro", "micro"])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_fewer_items_than_wanted(average, form):
    eta = form(np.array([[0.2, 0.0, 0.4], [0.3, 0.1, 0.0]]))
    with pytest.warns(RejectionWarning, match="min_positive=9 is above the number"):
        mask, _ = decode(eta, loss="f1", average=average, min_positive=9)
    assert mask.sum() == 6
    with pytest.warns(RejectionWarning, match="items of a set, 2, .* small sets"):
        mask, _ = decode([0.1] * 5, loss="f1", groups=[0, 0, 1, 1, 1], min_positive=3)
    assert mask.all()
