"""Best sets against all sets, whatever form the probabilities have."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from sklearn_reject.decoding import decode, expected_curves, expected_loss_curve
from sklearn_reject.decoding._best_size import SetSize, expected_rates
from sklearn_reject.losses import CallableSetLoss, SetLoss, check_set_loss
from tests.decoding.set_oracle import (
    BETAS,
    KINDS,
    LOSSES,
    ZERO_DIVISIONS,
    draw_probabilities,
    expected_losses_by_enumeration,
    options_of,
    outcomes,
    priced,
    probabilities,
)

TOL = 1e-11

# What whole groups of ties cost is the matter of the tests of ties.
pytestmark = pytest.mark.filterwarnings("ignore:Equally probable items")


@st.composite
def problems(draw, max_size=7):
    """Draw (eta in any order, loss, bounds), bounds that the loss needs among them."""
    eta = draw(probabilities(max_size=max_size))
    eta = np.random.default_rng(draw(st.integers(0, 99))).permutation(eta)
    loss = LOSSES[draw(st.sampled_from(sorted(LOSSES)))]
    low, high = 0, None
    if draw(st.booleans()):
        low = draw(st.integers(0, len(eta)))
        high = draw(st.none() | st.integers(low, len(eta) + 2))
    if "min_positive" in loss.needs_bounds:
        low, high = max(low, 1), None if high is None else max(high, 1)
    if "max_positive" in loss.needs_bounds and high is None:
        high = len(eta)
    return eta, loss, {"min_positive": low, "max_positive": high}


def row_of(mask):
    """Return the row of a set among `outcomes`."""
    return int(mask @ (1 << np.arange(len(mask))))


@given(problem=problems())
def test_no_set_is_better(problem):
    eta, loss, bounds = problem
    mask, expected_loss = decode(eta, loss=loss, ties="split", **bounds)
    losses = expected_losses_by_enumeration(eta, loss, sets="all")
    sizes = outcomes(len(eta)).sum(axis=1)
    high = len(eta) if bounds["max_positive"] is None else bounds["max_positive"]
    allowed = (sizes >= bounds["min_positive"]) & (sizes <= high)
    tolerance = TOL * max(1.0, np.abs(losses).max())
    assert mask.shape == eta.shape
    assert mask.dtype == bool
    assert allowed[row_of(mask)]
    assert abs(losses[row_of(mask)] - losses[allowed].min()) <= tolerance
    assert abs(expected_loss - losses[allowed].min()) <= tolerance


@given(problem=problems(max_size=40))
def test_the_set_is_the_top_of_the_least_loss(problem):
    """The smallest of equals; of equal items the first."""
    eta, loss, bounds = problem
    mask, expected_loss = decode(eta, loss=loss, ties="split", **bounds)
    order = sorted(range(len(eta)), key=lambda i: (-eta[i], i))
    curve = expected_loss_curve(eta[order], loss=loss)
    scale = max(1.0, np.abs(curve).max())
    sizes = np.arange(len(curve))
    high = len(eta) if bounds["max_positive"] is None else bounds["max_positive"]
    allowed = (sizes >= bounds["min_positive"]) & (sizes <= high)
    best = curve[allowed].min()
    k = mask.sum()
    assert set(np.flatnonzero(mask)) == set(order[:k])
    assert allowed[k]
    assert curve[k] <= best + 1e-12 * scale
    assert expected_loss == pytest.approx(curve[k], abs=1e-12 * scale)
    assert (curve[allowed & (sizes < k)] > best + 1e-12 * scale).all()


def test_ties_first_come_first():
    mask, _ = decode([0.2, 0.5, 0.5, 0.5], loss="am", min_positive=2, max_positive=2)
    assert mask.tolist() == [False, True, True, False]
    mask, _ = decode([0.3, 0.3], loss="precision", min_positive=1)
    assert mask.tolist() == [True, False]


def test_the_smallest_set_of_equals():
    assert decode([0.5, 0.5, 0.5], loss="hamming")[0].sum() == 0
    # Whether one of two sure items, or one of no use, is added: all the same.
    mask, _ = decode([1.0, 0.0, 0.0], loss="recall", max_positive=3)
    assert mask.tolist() == [True, False, False]
    mask, _ = decode([1.0, 1.0, 0.5], loss="precision", min_positive=1)
    assert mask.tolist() == [True, False, False]


@pytest.mark.parametrize("scale", [1e-300, 1e-13, 1.0, 1e13, 1e300])
def test_losses_of_any_scale(scale):
    eta = [0.9, 0.8, 0.3, 0.5]
    for loss in (
        lambda tp, fp, fn, tn: scale * (fp + fn),
        [[0, -2 * scale, scale, scale], [1, 0, 0, 0]],
    ):
        mask, expected_loss = decode(eta, loss=loss)
        assert mask.tolist() == [True, True, False, False]
        unit = 1.0 if callable(loss) else 0.25
        assert expected_loss == pytest.approx(1.1 * unit * scale, rel=1e-14, abs=0)


def test_equal_sizes_but_for_rounding():
    """Then nothing is predicted."""
    constant = CallableSetLoss(lambda tp, fp, fn, tn: 0.1 + 0.0 * tp)
    one = check_set_loss([[0.1, 0, 0.2, 0.3]] * 2)
    # (fp - tp) / n: nothing is expected of any size.
    balance = check_set_loss([[0, -2, 1, 0], [1, 0, 0, 0]])
    for loss in (constant, one, balance):
        for n in (7, 300):
            assert not decode([0.5] * n, loss=loss)[0].any()


def test_rounding_of_small_losses_is_that_of_their_scores():
    """One minus a recall of nearly one, to which the last items add 1e-15 each."""
    eta = np.append(np.full(30, 1e-6), np.full(30, 1e-15))
    mask, _ = decode(eta, loss="recall", zero_division=1.0, max_positive=60)
    assert mask.sum() == 30


def test_second_minimum_of_nkrd16():
    """Where algorithm 1 stops, one item is predicted."""
    mask, expected_loss = decode([1.0, *[0.307] * 8], loss="f1")
    one = expected_loss_curve([1.0, *[0.307] * 8], loss="f1")[1]
    assert mask.sum() > 2
    assert expected_loss < one - 1e-4


# All or nothing


@pytest.mark.parametrize("n", [1, 2, 5])
def test_certain_items(n):
    for key, loss in LOSSES.items():
        if key[0] in ("fractional_linear", "callable") or loss.needs_bounds:
            continue
        mask, expected_loss = decode(np.ones(n), loss=loss)
        z = loss.zero_division
        if key[0] in ("am", "g_mean", "h_mean"):  # there are no negatives
            one_rate = {
                "am": (1 + z) / 2,
                "g_mean": np.sqrt(z),
                "h_mean": 2 * z / (1 + z),
            }
            assert expected_loss == pytest.approx(1 - one_rate[key[0]], abs=1e-12)
        else:
            assert mask.all()
            assert expected_loss == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("n", [1, 2, 5])
def test_impossible_items(n):
    for key, loss in LOSSES.items():
        if key[0] in ("fractional_linear", "callable") or loss.needs_bounds:
            continue
        mask, expected_loss = decode(np.zeros(n), loss=loss)
        assert not mask.any()
        assert expected_loss == pytest.approx(float(loss(0, 0, 0, n)), abs=1e-12)


def test_one_item():
    mask, expected_loss = decode([0.6], loss="hamming")
    assert mask.tolist() == [True]
    assert type(expected_loss) is float
    assert expected_loss == pytest.approx(0.4)


def test_integers_and_booleans_are_probabilities():
    for eta in ([1, 0, 1], [True, False, True], np.array([1, 0, 1], dtype=np.float32)):
        assert decode(eta, loss="jaccard")[0].tolist() == [True, False, True]


def test_rounding_beyond_the_interval():
    mask, expected_loss = decode([1 + 1e-10, -1e-10], loss="jaccard")
    assert mask.tolist() == [True, False]
    assert expected_loss == pytest.approx(0.0, abs=1e-12)


# Rows and groups


@given(
    kinds=st.lists(st.sampled_from(KINDS), min_size=1, max_size=5),
    key=st.sampled_from(sorted(LOSSES)),
    n=st.integers(1, 12),
)
def test_rows_are_sets(kinds, key, n):
    rng = np.random.default_rng(n)
    eta = np.array(
        [rng.permutation(draw_probabilities(kind, n, rng)) for kind in kinds]
    )
    options = {"loss": LOSSES[key], "min_positive": 1, "max_positive": n}
    masks, losses = decode(eta, **options)
    assert masks.shape == eta.shape
    assert losses.shape == (len(eta),)
    for row, mask, loss in zip(eta, masks, losses, strict=True):
        single, expected_loss = decode(row, **options)
        assert loss == pytest.approx(expected_loss, abs=TOL)
        np.testing.assert_array_equal(mask, single)


@st.composite
def grouped_items(draw):
    n = draw(st.integers(1, 20))
    eta = np.array(draw(st.lists(st.integers(0, 10), min_size=n, max_size=n))) / 10
    return eta, np.array(draw(st.lists(st.integers(-2, 3), min_size=n, max_size=n)))


@given(items=grouped_items(), key=st.sampled_from(sorted(LOSSES)))
def test_groups_are_single_calls(items, key):
    eta, groups = items
    options = {"loss": LOSSES[key], "min_positive": 1, "max_positive": 4}
    mask, losses = decode(eta, groups=groups, **options)
    assert mask.shape == eta.shape
    for loss, group in zip(losses, np.unique(groups), strict=True):
        single, expected_loss = decode(eta[groups == group], **options)
        np.testing.assert_array_equal(mask[groups == group], single)
        assert loss == pytest.approx(expected_loss, abs=TOL)


def test_groups_may_have_names():
    eta = [0.9, 0.2, 0.8, 0.1]
    mask, losses = decode(eta, loss="hamming", groups=["b", "a", "b", "a"])
    assert mask.tolist() == [True, False, True, False]
    np.testing.assert_allclose(losses, [0.15, 0.15])
    one, losses = decode(eta, loss="hamming", groups=[7, 7, 7, 7])
    assert one.tolist() == mask.tolist()
    assert losses.shape == (1,)


def test_two_jobs_do_the_same():
    rng = np.random.default_rng(0)
    eta = rng.beta(0.5, 2, (7, 9))
    for options in (
        {"loss": "f1"},
        {"loss": priced},
        {"loss": "auc", "min_positive": 1, "max_positive": 8},
    ):
        mask, losses = decode(eta, **options)
        same, equal = decode(eta, n_jobs=2, **options)
        np.testing.assert_array_equal(mask, same)
        np.testing.assert_allclose(losses, equal, rtol=0, atol=TOL)


def test_many_rows_in_chunks():
    """More rows than are worked on at once."""
    rng = np.random.default_rng(0)
    eta = rng.choice([0.1, 0.3, 0.6, 0.9], (10_000, 4))
    mask, losses = decode(eta, loss="jaccard")
    for row in (0, 4095, 4096, 9999):
        single, expected_loss = decode(eta[row], loss="jaccard")
        np.testing.assert_array_equal(mask[row], single)
        assert losses[row] == pytest.approx(expected_loss, abs=TOL)


@pytest.mark.parametrize("n", [33, 64, 200])
@pytest.mark.parametrize("name", ["f_beta", "jaccard", "g_tp_pr", "am"])
def test_long_rows_of_all_kinds_at_once(name, n):
    """Sizes that are not looked at are not the best of any row, whatever the bounds."""
    rng = np.random.default_rng(n)
    eta = np.array([draw_probabilities(kind, n, rng) for kind in KINDS * 2])
    eta[-1, 1:] = 0.0
    betas = BETAS if name == "f_beta" else [1.0]
    for beta, z, high in product(betas, ZERO_DIVISIONS, (n, 3, 40)):
        options = options_of(name, beta, z)
        curves = expected_loss_curve(eta, **options)[:, : high + 1]
        masks, losses = decode(eta, max_positive=high, **options)
        np.testing.assert_allclose(losses, curves.min(axis=1), rtol=0, atol=2e-12)
        chosen = curves[np.arange(len(eta)), masks.sum(axis=1)]
        np.testing.assert_allclose(chosen, curves.min(axis=1), rtol=0, atol=2e-12)


# G-mean and H-mean of long sets, of which bounds rule most sizes out


@pytest.mark.parametrize("z", ZERO_DIVISIONS)
@pytest.mark.parametrize("name", ["g_mean", "h_mean"])
@pytest.mark.parametrize("n", [100, pytest.param(400, marks=pytest.mark.slow)])
def test_certified_sizes_are_the_best(name, z, n):
    rng = np.random.default_rng(1)
    for kind in KINDS:
        eta = draw_probabilities(kind, n, rng)
        curve = expected_loss_curve(eta, loss=name, zero_division=z)
        low = int(rng.integers(0, n))
        for bounds in ((0, None), (low, n), (0, low), (low, low)):
            mask, expected_loss = decode(
                eta,
                loss=name,
                zero_division=z,
                min_positive=bounds[0],
                max_positive=bounds[1],
            )
            allowed = curve[bounds[0] : (n if bounds[1] is None else bounds[1]) + 1]
            assert expected_loss == pytest.approx(allowed.min(), abs=2e-12)
            assert curve[mask.sum()] <= allowed.min() + 2e-12
            assert bounds[0] <= mask.sum() < bounds[0] + len(allowed)


@pytest.mark.parametrize("name", ["g_mean", "h_mean"])
def test_long_rows_and_groups(name):
    rng = np.random.default_rng(2)
    eta = rng.beta(0.3, 3, (2, 300))
    masks, losses = decode(eta, loss=name)
    groups = np.repeat([1, 0], 300)
    mask, of_groups = decode(eta.ravel(), loss=name, groups=groups)
    np.testing.assert_array_equal(mask, masks.ravel())
    np.testing.assert_array_equal(of_groups, losses[::-1])
    for row, expected_loss in zip(eta, losses, strict=True):
        curve = expected_loss_curve(np.sort(row)[::-1], loss=name)
        assert expected_loss == pytest.approx(curve.min(), abs=2e-12)


@given(eta=probabilities(max_size=10), z=st.sampled_from(ZERO_DIVISIONS))
def test_expected_rates(eta, z):
    tpr, tnr = expected_rates(eta, z)
    missed = expected_losses_by_enumeration(
        eta, check_set_loss("recall", zero_division=z)
    )
    np.testing.assert_allclose(tpr, 1 - missed, rtol=0, atol=1e-12)
    both = expected_losses_by_enumeration(eta, check_set_loss("am", zero_division=z))
    np.testing.assert_allclose(tpr + tnr, 2 - 2 * both, rtol=0, atol=2e-12)
    for name in ("g_mean", "h_mean"):
        loss = check_set_loss(name, zero_division=z)
        scores = 1 - expected_losses_by_enumeration(eta, loss)
        assert (loss.mean_of_rates(tpr, tnr) >= scores - 1e-12).all()


# Exactly one is true


@given(
    masses=st.lists(st.integers(0, 5), min_size=1, max_size=6),
    key=st.sampled_from(sorted(LOSSES)),
)
def test_multinomial_sets(masses, key):
    masses[0] += 1
    eta = np.array(masses) / sum(masses)
    n, loss = len(eta), LOSSES[key]
    options = {"loss": loss, "min_positive": 1, "max_positive": n}
    mask, expected_loss = decode(
        eta, distribution="multinomial", ties="split", **options
    )
    sets = outcomes(n)[1:].astype(bool)

    def expected(chosen):
        k = chosen.sum()
        tables = [(t, k - t, 1 - t, n - 1 - k + t) for t in chosen.astype(int)]
        return sum(
            p * float(loss(*table)) for p, table in zip(eta, tables, strict=True)
        )

    best = min(expected(chosen) for chosen in sets)
    assert expected_loss == pytest.approx(best, abs=1e-13)
    assert expected(mask) == pytest.approx(best, abs=1e-13)


def test_multinomial_groups_and_rows():
    eta = np.array([[0.5, 0.3, 0.2], [0.1, 0.9, 0.0]])
    options = {"loss": "f_beta", "beta": 2.0, "distribution": "multinomial"}
    masks, losses = decode(eta, **options)
    assert masks.tolist() == [[True, True, True], [False, True, False]]
    mask, of_groups = decode(eta.ravel(), groups=[0, 0, 0, 1, 1, 1], **options)
    np.testing.assert_array_equal(mask, masks.ravel())
    np.testing.assert_array_equal(of_groups, losses)


# Warnings and bad input


def test_input_is_not_changed():
    eta = np.array([[0.3, 1 + 1e-10, -1e-10], [0.1, 0.2, 0.2]])
    before = eta.copy()
    eta.flags.writeable = False
    for loss in ("f1", "h_mean", priced):
        decode(eta, loss=loss)
        decode(eta[0], loss=loss, groups=[1, 0, 1])
    np.testing.assert_array_equal(eta, before)


def test_losses_that_rise_warn():
    with pytest.warns(UserWarning, match="may then not be the best one"):
        mask, expected_loss = decode([0.5, 0.3], loss=lambda tp, fp, fn, tn: tp - fp)
    assert expected_loss == pytest.approx(0.8 - 1.2)
    assert mask.all()
    with pytest.warns(UserWarning, match="FractionalLinearLoss.*most probable"):
        decode([0.5, 0.3], loss=[[0.1, 0.5, 0, 0], [1, 1, 0, 0]])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"eta": [0.5, np.nan]}, r"eta must hold probabilities in \[0, 1\], got nan"),
        ({"eta": [0.5, 1.5]}, r"probabilities in \[0, 1\], got 1.5.*Calibrated"),
        ({"eta": [[0.5, -1e-8]]}, r"probabilities in \[0, 1\], got -1e-08"),
        ({"eta": []}, r"eta is empty, of shape \(0,\)"),
        ({"eta": [[], []]}, r"eta is empty, of shape \(2, 0\)"),
        ({"eta": np.empty((0, 3))}, r"eta is empty, of shape \(0, 3\)"),
        ({"eta": 0.5}, r"eta must have shape .*got \(\)"),
        ({"eta": np.full((1, 1, 2), 0.5)}, r"eta must have shape .*got \(1, 1, 2\)"),
        ({"eta": ["a", "b"]}, "eta must hold numbers"),
        ({"groups": [0]}, "groups has 1 elements, but there are 2 samples"),
        ({"groups": [0, 1, 1]}, "groups has 3 elements, but there are 2 samples"),
        ({"groups": [[0, 1]]}, r"groups must be a vector.*\(1, 2\)"),
        ({"groups": [0, np.nan]}, "groups contains NaN"),
        ({"eta": [[0.1, 0.2]], "groups": [0]}, "each row is a set. Omit groups"),
        ({"eta": np.ma.masked_equal([0.2, 0.5], 0.5)}, "eta is a masked array"),
        (
            {"eta": [[0.2, 0.5], [0.1]]},
            "eta holds rows of different lengths.*as groups",
        ),
        ({"eta": np.full((3, 4, 2), 0.5)}, r"got \(3, 4, 2\). .*np.column_stack\("),
        ({"eta": [np.full((4, 2), 0.5)] * 3}, r"for p in proba\]"),
        ({"loss": "f2"}, "loss must be one of"),
        ({"beta": -1.0}, r"beta must be in \]0"),
        ({"zero_division": 2}, r"zero_division must be in \[0, 1\]"),
        ({"distribution": "one"}, "distribution must be one of"),
        ({"distribution": "multinomial"}, "must add up to one .* got 0.7"),
        (
            {"distribution": "multinomial", "groups": [0, 1], "eta": [1.0, 0.5]},
            "must add up to one .* each set .* got 0.5",
        ),
        (
            {"distribution": "multinomial", "groups": [0], "eta": [[0.5, 0.5]]},
            "each row is a set. Omit groups",
        ),
        ({"min_positive": -1}, "min_positive must be an int >= 0, got -1"),
        ({"min_positive": 1.0}, "min_positive must be an int >= 0, got 1.0"),
        ({"max_positive": -2}, "max_positive must be an int >= 0, got -2"),
        ({"max_positive": True}, "max_positive must be an int >= 0, got True"),
        ({"min_positive": 2, "max_positive": 1}, "is above max_positive=1. Swap"),
        ({"loss": "auc"}, "AUCLoss.*needs min_positive and max_positive"),
        ({"loss": "auc", "max_positive": 1}, "needs min_positive.*min_positive="),
        ({"loss": "recall", "min_positive": 1}, "needs max_positive"),
        ({"loss": "precision"}, "PrecisionLoss.*needs min_positive"),
        (
            {"loss": lambda tp, fp, fn, tn: 0.5},
            "must return one number for each confusion matrix",
        ),
        (
            {"loss": lambda tp, fp, fn, tn: fp / np.maximum(fp, 0.0) * np.nan},
            "must return finite numbers, got nan",
        ),
    ],
    # Functions print with their address, which differs between processes.
    ids=lambda value: value if isinstance(value, str) else "-".join(value),
)
@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
def test_bad_input(arguments, message):
    arguments = {"eta": [0.2, 0.5], "loss": "f1", **arguments}
    with pytest.raises(ValueError, match=message):
        decode(arguments.pop("eta"), **arguments)


# Sparse probabilities

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
    for loss in ("f1", "g_tp_pr", "h_mean"):
        options = {"loss": loss, "distribution": "multinomial", "ties": "split"}
        assert_same(sparse.csr_matrix(dense), dense, **options)


def test_more_items_wanted_than_stored():
    dense = np.array([[0, 0, 0.4, 0, 0], [0, 0, 0, 0, 0], [0.1, 0.2, 0.3, 0.4, 0.5]])
    mask, _ = decode(sparse.csr_matrix(dense), loss="f1", min_positive=3)
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
    for loss in ("f1", "am", priced):
        assert_same(eta, dense, loss=loss)
        assert_same(eta, dense, loss=loss, min_positive=3)


def test_indices_in_any_order():
    eta = sparse.csr_matrix(
        (np.array([0.5, 0.5, 0.5]), np.array([3, 0, 2]), np.array([0, 3])), shape=(1, 5)
    )
    mask, _ = decode(eta, loss="am", min_positive=2, max_positive=2)
    assert mask.indices.tolist() == [0, 2]


def test_sparse_input_is_not_changed():
    data = np.array([0.5, 0.0, 1 + 1e-10, 0.2, 0.1])
    eta = sparse.csr_matrix(
        (data, np.array([2, 0, 1, 3, 3]), np.array([0, 2, 5])), shape=(2, 4)
    )
    parts = [part.copy() for part in (eta.data, eta.indices, eta.indptr)]
    for loss in ("f1", "g_mean", priced):
        decode(eta, loss=loss)
    for part, before in zip((eta.data, eta.indices, eta.indptr), parts, strict=True):
        np.testing.assert_array_equal(part, before)


@pytest.mark.parametrize("name", ["f1", "am", "g_mean", "h_mean"])
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


def test_two_jobs_do_the_same_to_sparse_rows():
    rng = np.random.default_rng(0)
    dense = rng.random((7, 9)) * (rng.random((7, 9)) < 0.4)
    assert_same(sparse.csr_matrix(dense), dense, loss="f1", n_jobs=2)


def test_memory_is_that_of_the_stored_items():
    """A row of a hundred million labels."""
    eta = sparse.csr_matrix(([0.9, 0.2], ([0, 1], [5, 99_999_999])), shape=(2, 10**8))
    mask, losses = decode(eta, loss="f1")
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
        ([[0.5, 0.2]], {"groups": [0, 1]}, "each row is a set. Omit groups"),
        ([[0.5, 0.2]], {"loss": "auc"}, "needs min_positive and max_positive"),
        (
            [[0.5, 0.2], [0.5, 0.5]],
            {"distribution": "multinomial"},
            "must add up to one .*got 0.7",
        ),
    ],
    ids=str,
)
def test_bad_sparse_input(eta, options, message):
    with pytest.raises(ValueError, match=message):
        decode(sparse.csr_matrix(eta), **{"loss": "f1", **options})


def test_duplicates_that_add_up_to_more_than_one():
    eta = sparse.coo_matrix(([0.6, 0.6], ([0, 0], [1, 1])), shape=(1, 2))
    with pytest.raises(ValueError, match=r"probabilities in \[0, 1\], got 1.2"):
        decode(eta, loss="f1")


class Vector(sparse.coo_matrix):
    """Sparse arrays of one axis, which newer releases of SciPy have."""

    shape = (3,)


def test_sparse_vectors():
    with pytest.raises(ValueError, match=r"\(n_sets, n_items\) if it is sparse"):
        decode(Vector(np.zeros((1, 3))), loss="f1")


# Curves of sets in any form


def test_curves_of_sets_in_any_form():
    eta = np.random.default_rng(3).random((3, 6)) * [[1], [0], [1]]
    problem = SetSize(check_set_loss("f1"), "independent", 0, 6)
    expected = expected_loss_curve(-np.sort(-eta), loss="f1")
    for form in (eta, sparse.csr_matrix(eta)):
        np.testing.assert_array_equal(expected_curves(form, problem), expected)
    groups = np.repeat([2, 0, 1], [6, 6, 1])
    items = np.append(eta[[0, 2]].ravel(), 0.25)
    found = expected_curves(items, problem, groups=groups)
    assert [len(curve) for curve in found] == [7, 2, 7]
    np.testing.assert_allclose(found[0], expected[2], atol=2e-12)
    np.testing.assert_allclose(found[2], expected[0], atol=2e-12)
    np.testing.assert_allclose(found[1], [1, 0.75], atol=2e-12)
