"""Sparse probabilities: what is not stored is zero, and the sets are the same."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from sklearn_reject.decoding import decode
from sklearn_reject.losses import SetLoss
from tests.decoding.set_oracle import LOSSES, priced

FORMATS = [sparse.csr_matrix, sparse.csc_matrix, sparse.coo_matrix, sparse.csr_array]


class MoreIsBetter(SetLoss):
    """Rewards every item that is predicted, also one that is surely negative."""

    def _losses(self, tp, fp, fn, tn):
        return -1.0 * (tp + fp)


@st.composite
def matrices(draw):
    """Draw a dense matrix, mostly of zeros, with rows that are empty or full."""
    n_rows, n_items = draw(st.integers(1, 5)), draw(st.integers(1, 12))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    eta = rng.choice([0.1, 0.3, 0.3, 0.8, 1e-6, 1.0], (n_rows, n_items))
    return eta * (rng.random(eta.shape) < rng.choice([0, 0.1, 0.4, 1], (n_rows, 1)))


def assert_same(eta, dense, **options):
    """Check that the sets are those of the dense matrix."""
    mask, losses = decode(eta, **options)
    expected, expected_losses = decode(dense, **options)
    assert sparse.issparse(mask)
    assert mask.format == "csr"
    assert mask.dtype == bool
    assert mask.shape == dense.shape
    assert mask.data.all()
    assert mask.has_canonical_format
    np.testing.assert_array_equal(mask.toarray(), expected)
    np.testing.assert_allclose(losses, expected_losses, rtol=1e-11, atol=1e-11)


@given(
    dense=matrices(),
    key=st.sampled_from(sorted(LOSSES)),
    bounds=st.tuples(st.integers(0, 12), st.integers(1, 14)),
    to_sparse=st.sampled_from(FORMATS),
)
def test_sparse_is_dense(dense, key, bounds, to_sparse):
    low = max(min(*bounds, dense.shape[1]), int(bool(LOSSES[key].needs_bounds)))
    options = {"min_positive": low, "max_positive": max(low, *bounds)}
    assert_same(to_sparse(dense), dense, loss=LOSSES[key], **options)


@given(dense=matrices())
def test_losses_that_reward_surely_negative_items(dense):
    for loss in (
        MoreIsBetter(),
        lambda tp, fp, fn, tn: -tp - fp,
        [[0, 0, -1, 0], [1, 0, 0, 0]],
    ):
        assert decode(sparse.csr_matrix(dense), loss=loss)[0].toarray().all()


@given(dense=matrices())
def test_multinomial_rows(dense):
    dense[:, 0] += dense.sum(axis=1) == 0
    dense /= dense.sum(axis=1, keepdims=True)
    for loss in ("f_beta", "g_tp_pr", "h_mean"):
        options = {"loss": loss, "distribution": "multinomial"}
        assert_same(sparse.csr_matrix(dense), dense, **options)


def test_more_items_wanted_than_stored():
    dense = np.array([[0, 0, 0.4, 0, 0], [0, 0, 0, 0, 0], [0.1, 0.2, 0.3, 0.4, 0.5]])
    mask, _ = decode(sparse.csr_matrix(dense), loss="f_beta", min_positive=3)
    assert mask.toarray().tolist() == [
        [True, True, True, False, False],
        [True, True, True, False, False],
        [False, False, True, True, True],
    ]


def test_nothing_stored():
    mask, losses = decode(sparse.csr_matrix((3, 4)), loss="jaccard", zero_division=1.0)
    assert mask.shape == (3, 4)
    assert mask.nnz == 0
    np.testing.assert_allclose(losses, 0.0, atol=1e-12)


@pytest.mark.parametrize("key", LOSSES, ids=str)
def test_sure_items_leave_no_class_absent(key):
    """All that is stored is positive, and still there are negatives."""
    dense = np.array([[1.0, 0.0, 1.0, 0.0], [0.0, 1.0, 1.0, 0.0]])
    loss = LOSSES[key]
    size = dict.fromkeys(loss.needs_bounds, 1)
    assert_same(sparse.csr_matrix(dense), dense, loss=loss, **size)


def test_explicit_zeros_and_duplicates():
    rows, columns = [0, 0, 0, 1, 1], [2, 2, 0, 1, 3]
    values = [0.4, 0.5, 0.0, 0.7, 1e-10 - 1e-9]  # the last is rounding of zero
    eta = sparse.coo_matrix((values, (rows, columns)), shape=(2, 4))
    dense = np.array([[0, 0, 0.9, 0], [0, 0.7, 0, 0]])
    for loss in ("f_beta", "am", priced):
        assert_same(eta, dense, loss=loss)
        assert_same(eta, dense, loss=loss, min_positive=3)


def test_indices_in_any_order():
    eta = sparse.csr_matrix(
        (np.array([0.5, 0.5, 0.5]), np.array([3, 0, 2]), np.array([0, 3])), shape=(1, 5)
    )
    mask, _ = decode(eta, loss="am", min_positive=2, max_positive=2)
    assert mask.indices.tolist() == [0, 2]


def test_input_is_not_changed():
    data = np.array([0.5, 0.0, 1 + 1e-10, 0.2, 0.1])
    eta = sparse.csr_matrix(
        (data, np.array([2, 0, 1, 3, 3]), np.array([0, 2, 5])), shape=(2, 4)
    )
    parts = [part.copy() for part in (eta.data, eta.indices, eta.indptr)]
    for loss in ("f_beta", "g_mean", priced):
        decode(eta, loss=loss)
    for part, before in zip((eta.data, eta.indices, eta.indptr), parts, strict=True):
        np.testing.assert_array_equal(part, before)


@pytest.mark.parametrize("name", ["f_beta", "am", "g_mean", "h_mean"])
def test_long_rows_of_few_items(name):
    """Some rows store more items than fit into tables of all counts."""
    rng = np.random.default_rng(0)
    dense = rng.random((4, 600)) * (
        rng.random((4, 600)) < [[0.01], [0.1], [0.5], [0.9]]
    )
    assert_same(sparse.csr_matrix(dense), dense, loss=name)
    assert_same(sparse.csr_matrix(dense), dense, loss=name, max_positive=5)


def test_many_rows_in_any_order_of_length():
    """More rows than are worked on at once; those of equal length go together."""
    rng = np.random.default_rng(0)
    dense = rng.choice([0.2, 0.7], (9_000, 6)) * (rng.random((9_000, 6)) < 0.4)
    assert_same(sparse.csr_matrix(dense), dense, loss="jaccard", zero_division=0.5)
    assert_same(sparse.csr_matrix(dense), dense, loss="jaccard", min_positive=2)


def test_two_jobs_do_the_same():
    rng = np.random.default_rng(0)
    dense = rng.random((7, 9)) * (rng.random((7, 9)) < 0.4)
    assert_same(sparse.csr_matrix(dense), dense, loss="f_beta", n_jobs=2)


def test_memory_is_that_of_the_stored_items():
    """A row of a hundred million labels."""
    eta = sparse.csr_matrix(([0.9, 0.2], ([0, 1], [5, 99_999_999])), shape=(2, 10**8))
    mask, losses = decode(eta, loss="f_beta")
    assert mask.indices.tolist() == [5, 99_999_999]
    np.testing.assert_allclose(losses, [0.1, 0.8], atol=1e-12)


# Bad input


@pytest.mark.parametrize(
    ("eta", "options", "message"),
    [
        ([[0.5, np.nan]], {}, r"eta must hold probabilities in \[0, 1\], got nan"),
        ([[0.5, 1.5]], {}, r"probabilities in \[0, 1\], got 1.5"),
        ([[0.5, -0.5]], {}, r"probabilities in \[0, 1\], got -0.5"),
        ([[0.5 + 1j]], {}, "eta must hold numbers, got an array of dtype complex"),
        ((0, 3), {}, r"eta is empty, of shape \(0, 3\)"),
        ((3, 0), {}, r"eta is empty, of shape \(3, 0\)"),
        ([[0.5, 0.2]], {"groups": [0, 1]}, "each row is a set. Leave groups out"),
        ([[0.5, 0.2]], {"min_positive": 3}, "above the number of items, 2"),
        ([[0.5, 0.2]], {"loss": "auc"}, "needs min_positive and max_positive"),
        (
            [[0.5, 0.2], [0.5, 0.5]],
            {"distribution": "multinomial"},
            "must add up to one .*got 0.7",
        ),
    ],
    ids=str,
)
def test_bad_input(eta, options, message):
    with pytest.raises(ValueError, match=message):
        decode(sparse.csr_matrix(eta), **{"loss": "f_beta", **options})


def test_duplicates_that_add_up_to_more_than_one():
    eta = sparse.coo_matrix(([0.6, 0.6], ([0, 0], [1, 1])), shape=(1, 2))
    with pytest.raises(ValueError, match=r"probabilities in \[0, 1\], got 1.2"):
        decode(eta, loss="f_beta")


class Vector(sparse.coo_matrix):
    """Sparse arrays of one axis, which newer releases of SciPy have."""

    shape = (3,)


def test_sparse_vectors():
    with pytest.raises(ValueError, match=r"\(n_sets, n_items\) where it is sparse"):
        decode(Vector(np.zeros((1, 3))), loss="f_beta")
