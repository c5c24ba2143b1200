"""Expected losses for all sizes: against all outcomes, convolutions and binomials."""

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from scipy.stats import binom

from sklearn_reject.decoding import _curves, expected_loss_curve
from sklearn_reject.decoding._curves import dense_curves
from sklearn_reject.losses import FBetaLoss, check_set_loss
from tests.decoding.set_oracle import (
    DEFINITIONS,
    FRACTIONAL,
    KINDS,
    LOSSES,
    ZERO_DIVISIONS,
    draw_probabilities,
    expected_losses_by_convolution,
    expected_losses_by_enumeration,
    loss_names,
    options_of,
    outcomes,
    probabilities,
)

TOL = 1e-12  # the default, which is promised

EXTREMES = {("f_beta", beta, 0.5): FBetaLoss(beta, zero_division=0.5)
            for beta in (1e-6, 0.01, 50.0, 1e6)}  # fmt: skip

ALL = {**LOSSES, **EXTREMES}

ONE_OF_EACH = {key: loss for key, loss in ALL.items() if key[1:] in ((1.0, 0.0),)}


def scale_of(expected):
    """Return one, or more for losses of users."""
    return max(1.0, np.abs(expected).max())


def assert_close(curve, expected, tol=TOL):
    assert curve.shape == expected.shape
    assert np.abs(curve - expected).max() <= tol * scale_of(expected)


# All outcomes


@pytest.mark.parametrize("kind", KINDS)
def test_all_losses_against_all_outcomes(kind):
    rng = np.random.default_rng(7)
    for n in (1, 5):
        eta = draw_probabilities(kind, n, rng)
        for loss in ALL.values():
            expected = expected_losses_by_enumeration(eta, loss)
            assert_close(expected_loss_curve(eta, loss=loss), expected)
            curve = expected_loss_curve(eta, loss=loss, method="window")
            assert_close(curve, expected, 1e-14)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [8, pytest.param(12, marks=pytest.mark.slow)])
def test_more_items_against_all_outcomes(kind, n):
    eta = draw_probabilities(kind, n, np.random.default_rng(8))
    for loss in ONE_OF_EACH.values():
        expected = expected_losses_by_enumeration(eta, loss)
        assert_close(expected_loss_curve(eta, loss=loss), expected)


@given(
    eta=probabilities(max_size=8),
    key=st.sampled_from(sorted(ALL)),
    method=st.sampled_from(["auto", "window", "reference"]),
)
def test_any_probabilities_against_all_outcomes(eta, key, method):
    curve = expected_loss_curve(eta, loss=ALL[key], method=method)
    assert_close(curve, expected_losses_by_enumeration(eta, ALL[key]))


def test_probabilities_of_all_magnitudes():
    """Nothing underflows into NaN, nor warns of it."""
    rng = np.random.default_rng(0)
    values = [0, 5e-324, 1e-308, 1e-100, 1e-17, 1e-9, 0.5, 1 - 1e-9, 1 - 2**-53, 1]
    for n in (3, 15):
        eta = np.sort(rng.choice(values, n))[::-1]
        for loss in ALL.values():
            expected = expected_loss_curve(eta, loss=loss, method="reference")
            for method in ("auto", "window"):
                curve = expected_loss_curve(eta, loss=loss, method=method)
                assert_close(curve, expected)


# More items


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("n", "losses"),
    [(25, ONE_OF_EACH), pytest.param(50, ALL, marks=pytest.mark.slow)],
    ids=["25", "50"],
)
def test_items_against_the_reference(kind, n, losses):
    eta = draw_probabilities(kind, n, np.random.default_rng(1))
    for loss in losses.values():
        expected = expected_loss_curve(eta, loss=loss, method="reference")
        assert_close(expected_loss_curve(eta, loss=loss), expected)


@pytest.mark.parametrize("kind", ["uniform", "certain"])
@pytest.mark.parametrize("name", ["f1", "jaccard", "am", "g_tp_pr", "auc"])
def test_many_items_against_the_reference(name, kind):
    eta = draw_probabilities(kind, 200, np.random.default_rng(2))
    expected = expected_loss_curve(eta, loss=name, method="reference")
    for method in ("quadrature", "window"):
        assert_close(expected_loss_curve(eta, loss=name, method=method), expected)


@pytest.mark.parametrize("tol", [1e-14, 1e-9, 1e-4, 0.1])
@pytest.mark.parametrize(
    ("n", "kinds"),
    [(12, ["few", "certain"]), pytest.param(30, KINDS, marks=pytest.mark.slow)],
)
def test_the_tolerance_is_kept(tol, n, kinds):
    rng = np.random.default_rng(3)
    for kind in kinds:
        eta = draw_probabilities(kind, n, rng)
        for loss in ONE_OF_EACH.values():
            expected = expected_loss_curve(eta, loss=loss, method="reference")
            for method in ("auto", "window"):
                curve = expected_loss_curve(eta, loss=loss, method=method, tol=tol)
                assert_close(curve, expected, tol + 1e-14)


def law_of_positives(levels):
    """Return counts and chances of positives, levels being (n_items, probability)."""
    low, law = 0, np.ones(1)
    for n, p in levels:
        reach = 5 + 10 * np.sqrt(n * p * (1 - p))
        counts = np.arange(max(0, int(n * p - reach)), min(n, int(n * p + reach)) + 1)
        low, law = low + counts[0], np.convolve(law, binom.pmf(counts, n, p))
    return low + np.arange(len(law)), law / law.sum()


def expected_loss_of_levels(levels, k, loss):
    """Return the expected loss of the first k items."""
    first, others, n = [], [], sum(n for n, _ in levels)
    room = k
    for n_level, p in levels:
        n_first = min(room, n_level)
        room -= n_first
        first.append((n_first, p))
        others.append((n_level - n_first, p))
    (tp, of_tp), (fn, of_fn) = law_of_positives(first), law_of_positives(others)
    tp = tp[:, np.newaxis]
    return of_tp @ loss(tp, k - tp, fn, n - k - fn) @ of_fn


LEVELS = {
    "equal": [(20_000, 0.3)],
    "rare": [(20_000, 5e-4)],
    "three": [(5_000, 0.9), (10_000, 0.1), (5_000, 1e-5)],
    "certain": [(3_000, 1.0), (3_000, 0.5), (14_000, 0.0)],
}


@pytest.mark.parametrize(
    "levels",
    [
        pytest.param(levels, id=name, marks=[pytest.mark.slow] * (name != "three"))
        for name, levels in LEVELS.items()
    ],
)
def test_many_equal_items_make_binomial_counts(levels):
    """So many that the items fall into several blocks."""
    eta = np.concatenate([np.full(n, p) for n, p in levels])
    sizes = [0, 1, 2, 63, 1_000, 4_999, 5_000, 5_001, 12_345, 19_999, 20_000]
    for name in (*DEFINITIONS, FRACTIONAL):
        loss = check_set_loss(**options_of(name, 2.0, 0.5))
        if loss.expansion(1) is not None:
            curve = expected_loss_curve(eta, loss=loss)
            expected = [expected_loss_of_levels(levels, k, loss) for k in sizes]
            assert np.abs(curve[sizes] - expected).max() <= TOL


# Rows


def test_rows_are_sets():
    rng = np.random.default_rng(4)
    for n in (1, 12):
        eta = np.array([draw_probabilities(kind, n, rng) for kind in KINDS])
        for loss in LOSSES.values():
            curves = expected_loss_curve(eta, loss=loss)
            assert curves.shape == (len(KINDS), n + 1)
            for row, curve in zip(eta, curves, strict=True):
                assert_close(curve, expected_loss_curve(row, loss=loss), 2 * TOL)


@pytest.mark.parametrize("method", ["auto", "window", "reference"])
def test_one_row_is_a_matrix(method):
    eta = [[0.9, 0.5, 0.2]]
    for name in ("am", "h_mean"):
        curves = expected_loss_curve(eta, loss=name, method=method)
        assert curves.shape == (1, 4)
        single = expected_loss_curve(eta[0], loss=name, method=method)
        np.testing.assert_array_equal(curves[0], single)


def test_rows_of_a_long_callable():
    """Too long for all counts: window by window."""
    rng = np.random.default_rng(5)
    eta = np.array([draw_probabilities(kind, 300, rng) for kind in ("few", "ties")])
    curves = expected_loss_curve(eta, loss=lambda tp, fp, fn, tn: (fp + fn) / 300)
    assert_close(curves, expected_loss_curve(eta, loss="hamming"))


# What must hold


@given(eta=probabilities(max_size=30), key=st.sampled_from(sorted(EXTREMES | LOSSES)))
def test_named_losses_stay_in_the_unit_interval(eta, key):
    if key[0] != "callable":
        curve = expected_loss_curve(eta, loss=ALL[key])
        assert curve.min() >= -TOL
        assert curve.max() <= 1 + TOL


@given(eta=probabilities(max_size=40))
def test_balanced_error_is_convex_in_the_size(eta):
    curve = expected_loss_curve(eta, loss="am")
    assert (np.diff(curve, 2) >= -4 * TOL).all()


@given(eta=probabilities(max_size=40))
def test_recall_grows_and_precision_falls_with_the_size(eta):
    assert (np.diff(expected_loss_curve(eta, loss="recall")) <= 2 * TOL).all()
    precision = expected_loss_curve(eta, loss="precision")
    assert (np.diff(precision[1:]) >= -1e-15).all()
    expected = np.cumsum(eta) / np.arange(1, len(eta) + 1)
    np.testing.assert_allclose(1 - precision[1:], expected, rtol=0, atol=1e-14)


@given(eta=probabilities(max_size=25))
def test_other_names_of_the_same(eta):
    """An extreme beta is recall or precision, and constants make Jaccard."""
    recall = expected_loss_curve(eta, loss="recall")
    extreme = expected_loss_curve(eta, loss="f_beta", beta=1e6)
    assert np.abs(recall - extreme)[1:].max() <= 1e-9
    precision = expected_loss_curve(eta, loss="precision")
    extreme = expected_loss_curve(eta, loss="f_beta", beta=1e-6)
    assert np.abs(precision - extreme).max() <= 1e-9
    by_constants = expected_loss_curve(eta, loss=[[0, -2, 1, 1], [0, -1, 1, 1]])
    jaccard = expected_loss_curve(eta, loss="jaccard")
    assert np.abs(by_constants - jaccard).max() <= 2 * TOL


def added_by_zero_division(name, eta, z):
    """Return it for all k as a score, from the chances that a class is absent."""
    n, k = len(eta), np.arange(len(eta) + 1)
    no_positive, no_negative = np.prod(1 - eta), np.prod(eta)
    share, rest = k / n, (n - k) / n
    if name in ("f1", "jaccard", "g_tp_pr"):
        return z * no_positive * (k == 0)
    if name == "am":
        return np.full(n + 1, z * (no_positive + no_negative) / 2)
    if name == "auc":
        return z * (no_positive * share + no_negative * rest)
    mean = geometric_mean if name == "g_mean" else harmonic_mean
    return no_positive * mean(z, rest) + no_negative * mean(z, share)


def geometric_mean(z, rates):
    return np.sqrt(z * rates)


def harmonic_mean(z, rates):
    both = z + rates
    return np.divide(2 * z * rates, both, out=np.zeros(len(rates)), where=both > 0)


@pytest.mark.parametrize(
    "name", ["f1", "jaccard", "g_tp_pr", "am", "auc", "g_mean", "h_mean"]
)
@pytest.mark.parametrize("z", ZERO_DIVISIONS)
def test_what_zero_division_adds(name, z):
    rng = np.random.default_rng(6)
    for kind in KINDS:
        for n in (1, 2, 9):
            eta = draw_probabilities(kind, n, rng)
            without = expected_loss_curve(eta, loss=name)
            with_it = expected_loss_curve(eta, loss=name, zero_division=z)
            added = added_by_zero_division(name, eta, z)
            np.testing.assert_allclose(without - with_it, added, rtol=0, atol=2e-15)


@given(eta=probabilities(max_size=10))
def test_what_balanced_accuracy_makes_of_absent_classes(eta):
    n, k = len(eta), np.arange(len(eta) + 1)
    am = expected_loss_curve(eta, loss="am")
    balanced = expected_loss_curve(eta, loss="balanced_accuracy")
    added = np.prod(1 - eta) * (n - k) / (2 * n) + np.prod(eta) * k / (2 * n)
    np.testing.assert_allclose(am - balanced, added, atol=2e-15)


def test_the_first_local_minimum_need_not_be_the_least():
    """The stop of NKRD16's algorithm 1 would return k = 1."""
    curve = expected_loss_curve([1.0, *[0.307] * 8], loss="f1")
    assert curve[1] < curve[2]
    assert curve.argmin() > 2
    assert curve.min() < curve[1] - 1e-4


def test_input_is_not_changed():
    for eta in (np.array([0.9, 1 + 1e-10, -1e-10])[[1, 0, 2]], np.array([1, 1, 0])):
        eta.flags.writeable = False
        curve = expected_loss_curve(eta, loss="am")
        expected = expected_loss_curve(np.clip(eta, 0, 1).tolist(), loss="am")
        np.testing.assert_array_equal(curve, expected)


# Exactly one is true


@st.composite
def distributions(draw, max_size=8):
    """Draw probabilities of classes, of which some are equal or zero, sorted."""
    masses = draw(st.lists(st.integers(0, 5), min_size=1, max_size=max_size))
    masses = np.sort([*masses[:-1], masses[-1] + 1])[::-1]
    return masses / masses.sum()


def by_true_class(eta, loss, chosen):
    """Return the expected loss of a set of classes."""
    total, k, n = 0.0, len(chosen), len(eta)
    for true_class, p in enumerate(eta):
        tp = int(true_class in chosen)
        total += p * float(loss(tp, k - tp, 1 - tp, n - 1 - k + tp))
    return total


@given(eta=distributions(), key=st.sampled_from(sorted(LOSSES)))
def test_multinomial_against_the_true_class(eta, key):
    loss = LOSSES[key]
    curve = expected_loss_curve(eta, loss=loss, distribution="multinomial")
    sizes = range(len(eta) + 1)
    expected = [by_true_class(eta, loss, range(k)) for k in sizes]
    np.testing.assert_allclose(curve, expected, rtol=1e-14, atol=1e-15)


@given(eta=distributions(max_size=5), key=st.sampled_from(sorted(LOSSES)))
def test_multinomial_sets_of_the_top_are_the_best(eta, key):
    loss = LOSSES[key]
    curve = expected_loss_curve(eta, loss=loss, distribution="multinomial")
    for k, value in enumerate(curve):
        for chosen in combinations(range(len(eta)), k):
            assert value <= by_true_class(eta, loss, chosen) + 1e-14


def closed_form(name, eta, beta):
    """Return the score for all k where one of at least two classes is true."""
    n, k, c = len(eta), np.arange(len(eta) + 1), np.append(0, np.cumsum(eta))
    safe_k = np.maximum(k, 1)
    return {
        "f1": 2 * c / (1 + k),
        "f_beta": (1 + beta**2) * c / (beta**2 + k),
        "jaccard": c / safe_k,
        "precision": c / safe_k,
        "recall": c,
        "g_tp_pr": c / np.sqrt(safe_k),
        "hamming": 1 - (k + 1 - 2 * c) / n,
        "am": (c + (n - 1 - k + c) / (n - 1)) / 2,
        "g_mean": c * np.sqrt((n - k) / (n - 1)),
        "h_mean": 2 * c * (n - k) / (2 * n - 1 - k),
        "auc": 1 - (1 - c) * k / (n - 1),
    }[name]


@given(
    eta=distributions(max_size=12).filter(lambda eta: len(eta) > 1),
    name=st.sampled_from(sorted(set(DEFINITIONS) - {"balanced_accuracy"})),
    beta=st.sampled_from([0.5, 1.0, 2.0]),
)
def test_multinomial_closed_forms(eta, name, beta):
    options = {**options_of(name, beta), "distribution": "multinomial"}
    curve = expected_loss_curve(eta, **options)
    expected = 1 - closed_form(name, eta, beta)
    np.testing.assert_allclose(curve, expected, rtol=0, atol=1e-14)


def test_multinomial_rows():
    eta = np.array([[0.5, 0.3, 0.2], [1.0, 0.0, 0.0], [0.4, 0.4, 0.2]])
    curves = expected_loss_curve(eta, loss="f1", distribution="multinomial")
    for row, curve in zip(eta, curves, strict=True):
        single = expected_loss_curve(row, loss="f1", distribution="multinomial")
        np.testing.assert_array_equal(curve, single)


# Bad input


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"eta": [0.5, np.nan]}, r"eta must hold probabilities in \[0, 1\], got nan"),
        ({"eta": [1.1, 0.5]}, r"probabilities in \[0, 1\], got 1.1.*Calibrated"),
        ({"eta": [0.5, -0.1]}, r"probabilities in \[0, 1\], got -0.1"),
        ({"eta": [np.inf, 0.5]}, r"probabilities in \[0, 1\], got inf"),
        ({"eta": [0.2, 0.3]}, r"eta must be sorted in decreasing.*decode"),
        ({"eta": [[0.3, 0.2], [0.2, 0.3]]}, r"eta must be sorted in decreasing"),
        ({"eta": []}, r"eta is empty, of shape \(0,\)\. A set needs"),
        ({"eta": np.empty((2, 0))}, r"eta is empty, of shape \(2, 0\)"),
        ({"eta": 0.5}, r"eta must have shape \(n_items,\) or .*got \(\)"),
        ({"eta": [[[0.5]]]}, r"eta must have shape .*got \(1, 1, 1\)"),
        ({"eta": ["0.5"]}, "eta must hold numbers, got an array of dtype <U3"),
        ({"eta": [0.5, None]}, "eta must hold numbers, got an array of dtype object"),
        ({"eta": [0.5 + 0j]}, "eta must hold numbers, got an array of dtype complex"),
        ({"loss": "f2"}, "loss must be one of"),
        ({"beta": 0}, r"beta must be in \]0"),
        ({"zero_division": -1}, "zero_division must be in"),
        ({"distribution": "poisson"}, "distribution must be one of .*'multinomial'"),
        ({"method": "fft"}, "method must be one of .*'window'.*got 'fft'"),
        (
            {"method": "quadrature", "loss": "g_mean"},
            "method='quadrature' is for losses .*GMeanLoss.*Use method='window'",
        ),
        ({"tol": 0}, r"tol must be in \[1e-14, 0.1\], got 0"),
        ({"tol": 1e-15}, r"tol must be in \[1e-14, 0.1\], got 1e-15"),
        ({"tol": 0.5}, r"tol must be in .*0.1\], got 0.5"),
        ({"tol": np.nan}, r"tol must be in .*got nan"),
        (
            {"distribution": "multinomial"},
            "eta must add up to one .*got 0.8.*'independent'",
        ),
        (
            {"distribution": "multinomial", "eta": [[0.5, 0.5], [0.7, 0.2]]},
            "eta must add up to one .*got 0.9",
        ),
    ],
    ids=str,
)
def test_bad_input(arguments, message):
    arguments = {"eta": [0.5, 0.3], "loss": "f1", **arguments}
    with pytest.raises(ValueError, match=message):
        expected_loss_curve(arguments.pop("eta"), **arguments)


def test_sparse_input_is_for_decode():
    with pytest.raises(ValueError, match=r"eta must be dense here.*eta.toarray\(\)"):
        expected_loss_curve(csr_matrix([[0.5, 0.3]]), loss="f1")


def test_losses_that_rise_warn():
    with pytest.warns(UserWarning, match="may then not be the best one"):
        expected_loss_curve([0.5, 0.3], loss=lambda tp, fp, fn, tn: tp)
    with pytest.warns(UserWarning, match="may then not be the best one"):
        expected_loss_curve([0.5, 0.3], loss=[[0, 1, 0, 0], [1, 0, 0, 0]])


def test_callables_of_the_wrong_shape():
    with pytest.raises(ValueError, match="must return one number for each confusion"):
        expected_loss_curve([0.5, 0.3], loss=lambda tp, fp, fn, tn: 0.0)


# Short sets, all counts at once


@given(probabilities(max_size=12), st.sampled_from(list(LOSSES)))
def test_dense_against_enumeration(eta, key):
    expected = expected_losses_by_enumeration(eta, LOSSES[key])
    curves = dense_curves(eta[np.newaxis], LOSSES[key])
    scale = max(1, np.ptp(expected))
    np.testing.assert_allclose(curves[0], expected, rtol=0, atol=1e-13 * scale)


@pytest.mark.parametrize("key", LOSSES, ids=loss_names)
def test_rows_of_all_kinds(key):
    rng = np.random.default_rng(0)
    eta = np.array([draw_probabilities(kind, 30, rng) for kind in KINDS])
    expected = np.array(
        [expected_losses_by_convolution(row, LOSSES[key]) for row in eta]
    )
    scale = max(1, np.ptp(expected))
    curves = dense_curves(eta, LOSSES[key])
    np.testing.assert_allclose(curves, expected, rtol=0, atol=1e-13 * scale)


@given(
    probabilities(max_size=8), st.sampled_from(list(LOSSES)), st.sampled_from([1, 30])
)
def test_surely_negative_items_need_no_column(eta, key, n_negatives):
    padded = np.append(eta, np.zeros(n_negatives))
    expected = expected_losses_by_convolution(padded, LOSSES[key])[: len(eta) + 1]
    curves = dense_curves(eta[np.newaxis], LOSSES[key], n_negatives)
    scale = max(1, np.ptp(expected))
    np.testing.assert_allclose(curves[0], expected, rtol=0, atol=1e-13 * scale)


def test_no_column_at_all():
    curves = dense_curves(np.empty((2, 0)), LOSSES["am", 1.0, 1.0], n_negatives=4)
    np.testing.assert_array_equal(curves, [[0.0], [0.0]])


def test_rows_in_chunks(monkeypatch):
    rng = np.random.default_rng(1)
    eta = np.array([draw_probabilities("few", 20, rng) for _ in range(23)])
    loss = LOSSES["h_mean", 1.0, 0.5]
    at_once = dense_curves(eta, loss)
    monkeypatch.setattr(_curves, "_LARGEST_LAWS", 5 * 231)
    # Another number of rows: BLAS may sum in another order.
    np.testing.assert_allclose(dense_curves(eta, loss), at_once, rtol=0, atol=1e-15)


def test_products_below_the_smallest_number():
    eta = np.full((1, 120), 1e-40)
    eta[0, :2] = 0.5, 0.25
    expected = expected_losses_by_convolution(eta[0, :2], LOSSES["callable", 1.0, 0.0])
    curve = dense_curves(eta, LOSSES["callable", 1.0, 0.0])[0, :3]
    np.testing.assert_allclose(curve, expected, rtol=1e-14)


# The reference, and the oracles themselves


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("key", LOSSES, ids=loss_names)
def test_convolution_against_enumeration(key, kind):
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
        np.array([1.0] + 8 * [0.307]), check_set_loss("f1")
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
    "f1": of_both_empty,
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
