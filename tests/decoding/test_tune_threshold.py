"""Thresholds against all of them, one after the other."""

from fractions import Fraction
from math import fsum

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.datasets import load_breast_cancer, make_classification
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score, f1_score
from sklearn.model_selection import TunedThresholdClassifierCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_reject.decoding import TunedThreshold, tune_threshold
from sklearn_reject.decoding._cuts import cut_one_set, cut_sets
from sklearn_reject.losses import check_set_loss
from tests.decoding.set_oracle import LOSSES


def tuned_at(threshold, loss):
    """Return what equals a tuned threshold, whose curve is not compared."""
    return TunedThreshold(threshold, loss, thresholds=None, losses=None)


def predict(eta, threshold, low=0, high=None):
    """Return the mask of one set, item by item."""
    chosen = [i for i, p in enumerate(eta) if p >= threshold]
    by_probability = sorted(range(len(eta)), key=lambda i: (-eta[i], i))
    if len(chosen) < low:
        chosen = by_probability[:low]
    elif high is not None and len(chosen) > high:
        chosen = by_probability[:high]
    mask = np.zeros(len(eta), dtype=bool)
    mask[chosen] = True
    return mask


def table(y, mask):
    """Return tp, fp, fn and tn."""
    pairs = list(zip(np.asarray(y, dtype=bool).tolist(), mask.tolist(), strict=True))
    kinds = ((True, True), (False, True), (True, False), (False, False))
    return tuple(pairs.count(kind) for kind in kinds)


def losses_of(sets, threshold, loss, low=0, high=None):
    """Return the loss of each set, a list of (y, eta)."""
    tables = [table(y, predict(eta, threshold, low, high)) for y, eta in sets]
    return [loss(*counts) for counts in tables]


def all_thresholds(sets):
    """Return one threshold a cut, from nothing to everything."""
    return [np.inf, *sorted({p for _, eta in sets for p in eta}, reverse=True)]


def least_loss(sets, loss, low=0, high=None):
    return min(
        fsum(losses_of(sets, threshold, loss, low, high)) / len(sets)
        for threshold in all_thresholds(sets)
    )


def split(y, eta, groups):
    if groups is None:
        return [(y, eta)]
    return [(y[groups == g], eta[groups == g]) for g in np.unique(groups)]


@st.composite
def problems(draw, max_size=12):
    """Draw (y, eta, groups, low, high) with many ties; groups maybe None."""
    n = draw(st.integers(1, max_size))
    column = lambda high: st.lists(  # noqa: E731
        st.integers(0, high), min_size=n, max_size=n
    )
    y = np.array(draw(column(1)))
    eta = np.array(draw(column(draw(st.sampled_from([2, 7, 50]))))) / 50
    groups = np.array(draw(column(draw(st.integers(0, 4)))))
    sizes = np.bincount(groups)
    if draw(st.booleans()):
        groups, sizes = None, np.array([n])
    low = draw(st.integers(0, sizes[sizes > 0].min()))
    high = draw(st.none() | st.integers(max(low, 1), n + 2))
    if draw(st.booleans()):
        low, high = 0, None
    return y, eta, groups, low, high


@pytest.mark.parametrize("name", sorted({key[0] for key in LOSSES}))
@given(problem=problems(), data=st.data())
def test_loss_is_the_least_of_all_thresholds(name, problem, data):
    y, eta, groups, low, high = problem
    key = data.draw(st.sampled_from([key for key in LOSSES if key[0] == name]))
    loss = LOSSES[key]
    low = low or int("min_positive" in loss.needs_bounds)
    high = len(y) if high is None and loss.needs_bounds else high
    options = {"min_positive": low, "max_positive": high}
    tuned = tune_threshold(y, eta, loss=loss, groups=groups, **options)
    sets = split(y, eta, groups)
    assert tuned.loss == pytest.approx(least_loss(sets, loss, low, high), abs=1e-12)
    # The rule does what was counted, to the last bit.
    assert tuned.loss == np.mean(losses_of(sets, tuned.threshold, loss, low, high))


def exact_f1(tp, fp, fn, tn):
    return 1 - (Fraction(2 * tp, 2 * tp + fp + fn) if tp + fp + fn else 0)


def exact_jaccard(tp, fp, fn, tn):
    return 1 - (Fraction(tp, tp + fp + fn) if tp + fp + fn else 0)


def exact_balanced(tp, fp, fn, tn):
    rates = [Fraction(a, a + b) for a, b in ((tp, fn), (tn, fp)) if a + b]
    return 1 - sum(rates) / len(rates)


EXACT = {
    "f1": exact_f1,
    "jaccard": exact_jaccard,
    "balanced_accuracy": exact_balanced,
}


@pytest.mark.parametrize("name", EXACT)
@given(problem=problems())
def test_choice_among_equal_minima(name, problem):
    """In exact arithmetic: least loss, least to mend for the bounds, fewest items."""
    y, eta, groups, low, high = problem
    sets = split(y, eta, groups)

    def price(threshold):
        free = [predict(eta, threshold).sum() for _, eta in sets]
        kept = [predict(eta, threshold, low, high).sum() for _, eta in sets]
        moved = sum(abs(a - b) for a, b in zip(free, kept, strict=True))
        return sum(losses_of(sets, threshold, EXACT[name], low, high)), moved, sum(free)

    options = {"min_positive": low, "max_positive": high}
    tuned = tune_threshold(y, eta, loss=name, groups=groups, **options)
    assert price(tuned.threshold) == min(map(price, all_thresholds(sets)))


@given(problem=problems())
def test_threshold_is_midway(problem):
    y, eta, groups, low, high = problem
    tuned = tune_threshold(
        y, eta, loss="f1", groups=groups, min_positive=low, max_positive=high
    )
    below, above = eta[eta < tuned.threshold], eta[eta >= tuned.threshold]
    if len(above) == 0:
        assert tuned.threshold == np.inf
    elif len(below) == 0:
        assert tuned.threshold == 0
    else:
        middle = (below.max() + above.min()) / 2
        assert tuned.threshold == pytest.approx(middle, rel=1e-15)


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
    y = [[0, 1, 0, 0]] * n_sets
    assert len(tune_threshold(y, eta, loss="f1").thresholds) == 5


@pytest.mark.parametrize("average", ["samples", "macro", "micro"])
def test_thresholds_are_between_groups_of_rounding(average):
    rng = np.random.default_rng(0)
    levels = rng.choice(rng.random(4), (40, 3))
    eta = levels * (1 + rng.integers(-3, 4, levels.shape) * 2.0**-52)
    y = rng.integers(0, 2, eta.shape)
    tuned = tune_threshold(y, eta, loss="g_mean", average=average)
    np.testing.assert_array_equal(eta >= tuned.threshold, levels >= tuned.threshold)
    same = tune_threshold(y, levels, loss="g_mean", average=average)
    assert tuned.loss == same.loss


@pytest.mark.parametrize("low", [0.0, 5e-324])
@pytest.mark.parametrize("n_sets", [1, 2])
def test_threshold_between_neighbouring_floats(low, n_sets):
    high = np.nextafter(low, 2)
    y, eta = [[0, 1]] * n_sets, [[low, high]] * n_sets
    tuned = tune_threshold(y, eta, loss="f1")
    assert tuned == tuned_at(high, 0.0)


def test_probabilities_of_all_magnitudes_are_kept_apart():
    rng = np.random.default_rng(0)
    eta = np.append(10.0 ** rng.uniform(-320, 0, 500), [0.0, -0.0, 1.0])
    y = rng.integers(0, 2, len(eta))
    loss = check_set_loss("f1")
    tuned = tune_threshold(y, eta, loss=loss)
    assert tuned.loss == least_loss([(y, eta)], loss)
    cuts = cut_one_set(y == 1, eta, loss, (0, len(y)))
    np.testing.assert_array_equal(cuts.values, np.unique(eta)[::-1])


@pytest.mark.parametrize("shape", [(4,), (2, 2), (1, 4)])
def test_plain_results(shape):
    y, eta = np.reshape([0, 1, 0, 1], shape), np.reshape([0.1, 0.9, 0.3, 0.8], shape)
    tuned = tune_threshold(y, eta, loss="f1")
    assert (tuned.threshold, tuned.loss) == (pytest.approx(0.55), 0.0)
    assert type(tuned.threshold) is float
    assert type(tuned.loss) is float


def test_everything_and_nothing():
    assert tune_threshold([1, 1], [0.2, 0.4], loss="f1") == tuned_at(0, 0)
    nothing = tune_threshold([0, 0], [0.2, 0.4], loss="f1", zero_division=1.0)
    assert nothing == tuned_at(np.inf, 0)
    # Without a positive item all cuts are as bad: the fewest items are predicted.
    assert tune_threshold([0, 0], [0.2, 0.4], loss="f1").threshold == np.inf


def test_bounds_that_leave_no_choice():
    y, eta = [0, 1, 1, 0], [0.5, 0.5, 0.5, 0.1]
    all_of_one = {"loss": "jaccard", "min_positive": 1, "max_positive": 1}
    tuned = tune_threshold(y, eta, **all_of_one)
    assert tuned == tuned_at(np.inf, 1.0)  # the first of three equal items
    assert tune_threshold(y[1:], eta[1:], **all_of_one).loss == 0.5
    full = tune_threshold(y, eta, loss="jaccard", min_positive=4)
    assert full == tuned_at(0.0, 0.5)


@given(problem=problems())
def test_rows_of_a_matrix_are_groups(problem):
    y, eta, _, _, high = problem
    y, eta = np.tile(y, (3, 1)), np.tile(eta, (3, 1)) * [[1.0], [0.5], [0.9]]
    y[1] = 1 - y[1]
    options = {"loss": "f_beta", "beta": 2.0, "max_positive": high}
    groups = np.repeat(["a", "b", "c"], y.shape[1])
    expected = tune_threshold(y.ravel(), eta.ravel(), groups=groups, **options)
    assert tune_threshold(y, eta, **options) == expected
    assert tune_threshold(csr_array(y), eta, **options) == expected


@given(problem=problems(), seed=st.integers(0, 99))
def test_order_of_items_matters_only_within_ties_at_bounds(problem, seed):
    y, eta, groups, _, _ = problem
    rows = np.random.default_rng(seed).permutation(len(y))
    shuffled = None if groups is None else groups[rows]
    tuned = tune_threshold(y, eta, loss="am", groups=groups)
    assert tune_threshold(y[rows], eta[rows], loss="am", groups=shuffled) == tuned


def test_user_loss_of_any_scale():
    rng = np.random.default_rng(0)
    y, eta = rng.integers(0, 2, (2, 30)), np.round(rng.random((2, 30)), 1)
    for scale in (1e-300, 1e-9, 1.0, 1e300):
        loss = check_set_loss(lambda tp, fp, fn, tn: scale * (fn - 2.0 * tp + fp))  # noqa: B023
        expected = least_loss(list(zip(y, eta, strict=True)), loss)
        assert tune_threshold(y, eta, loss=loss).loss == pytest.approx(expected)
    tuned = tune_threshold(y, eta, loss=lambda tp, fp, fn, tn: 0.0 * tp)
    assert tuned == tuned_at(np.inf, 0.0)


@given(
    penalty=st.sampled_from([1e9, 1e30]),
    n_sets=st.sampled_from([1, 2, 7]),
    seed=st.integers(0, 10**6),
)
def test_penalties_that_dwarf_all_else(penalty, n_sets, seed):
    """Such as one for sets that are nearly empty."""
    rng = np.random.default_rng(seed)
    y, eta = rng.integers(0, 2, (2, n_sets, 6)), np.round(rng.random((n_sets, 6)), 1)
    y = y[0]

    def function(tp, fp, fn, tn):
        return (fn + 0.3 * fp) / 10 + penalty * (tp + fp < 2) + penalty * (tn + fp < 1)

    def total(threshold):
        return sum(map(Fraction, map(float, losses_of(sets, threshold, loss))))

    loss = check_set_loss(function)
    sets = list(zip(y, eta, strict=True))
    tuned = tune_threshold(y, eta, loss=loss)
    least = min(map(total, all_thresholds(sets)))
    assert total(tuned.threshold) - least <= 1e-14 * max(1, least)


# The whole curve


@given(problem=problems(), key=st.sampled_from(sorted(LOSSES)))
def test_the_whole_curve(problem, key):
    y, eta, groups, low, high = problem
    loss = LOSSES[key]
    low = low or int("min_positive" in loss.needs_bounds)
    high = len(y) if high is None and loss.needs_bounds else high
    options = {"min_positive": low, "max_positive": high}
    tuned = tune_threshold(y, eta, loss=loss, groups=groups, **options)
    assert len(tuned.thresholds) == len(tuned.losses) == len(np.unique(eta)) + 1
    assert (np.diff(tuned.thresholds) < 0).all()
    assert (tuned.thresholds[0], tuned.thresholds[-1]) == (np.inf, 0.0)
    sets = split(y, eta, groups)
    for threshold, value in zip(tuned.thresholds, tuned.losses, strict=True):
        realized = np.mean(losses_of(sets, threshold, loss, low, high))
        assert value == pytest.approx(realized, abs=1e-13 * max(1, abs(realized)))
    assert tuned.losses.min() == tuned.loss
    assert tuned.losses[tuned.thresholds == tuned.threshold] == [tuned.loss]


def test_tuned_thresholds_are_compared_by_value():
    tuned = tune_threshold([[0, 1]], [[0.2, 0.4]], loss="f1", average="macro")
    again = tune_threshold([[0, 1]], [[0.2, 0.4]], loss="f1", average="macro")
    other = tune_threshold([[1, 1]], [[0.2, 0.4]], loss="f1", average="macro")
    assert tuned == again
    assert tuned != other
    assert len({tuned, again, other}) == 2
    assert tuned != "nothing"


# Large samples


@pytest.fixture(scope="module")
def many_items():
    rng = np.random.default_rng(0)
    eta = rng.beta(0.3, 3, 300_000)
    y = rng.random(300_000) < eta
    return y, eta, rng.integers(0, 1000, 300_000)


def count_at(y, eta, sets, threshold):
    chosen = eta >= threshold
    counts = [(y & chosen), (~y & chosen), (y & ~chosen), (~y & ~chosen)]
    return [
        np.bincount(sets, weights=part, minlength=sets.max() + 1) for part in counts
    ]


def test_sums_over_many_sets_do_not_drift(many_items):
    y, eta, sets = many_items
    loss = check_set_loss("f1")
    sizes = np.bincount(sets)
    cuts = cut_sets(y, eta, sets, loss, (0, sizes))
    assert len(cuts.values) > 299_000
    some = np.linspace(1, len(cuts.values) - 1, 30).astype(int)
    losses = [loss(*count_at(y, eta, sets, cuts.values[cut - 1])) for cut in some]
    changes = [fsum(part) - fsum(losses[0]) for part in losses]
    units = (cuts.losses[some] - cuts.losses[some[0]]).astype(float)
    np.testing.assert_allclose(units * (changes[-1] / units[-1]), changes, rtol=1e-14)
    assert [cuts.mean_loss(cut) for cut in some] == [part.mean() for part in losses]


def test_one_large_set(many_items):
    y, eta, sets = many_items
    one_set = np.zeros_like(sets)
    loss = check_set_loss("f1")
    tuned = tune_threshold(y, eta, loss=loss)
    assert tuned.loss == loss(*count_at(y, eta, one_set, tuned.threshold))[0]
    for threshold in np.append(np.quantile(eta, np.linspace(0, 1, 40)), np.inf):
        assert tuned.loss <= loss(*count_at(y, eta, one_set, threshold))[0]


# scikit-learn searches a grid


def held_out(X, y, classifier):
    classifier.fit(X[::2], y[::2])
    return classifier, X[1::2], y[1::2]


def imbalanced(seed):
    return make_classification(
        1500, n_features=8, weights=[0.93], flip_y=0.05, random_state=seed
    )


SETS = {
    "breast cancer": lambda: load_breast_cancer(return_X_y=True),
    "rare": lambda: imbalanced(0),
    "rare, other": lambda: imbalanced(1),
    "even": lambda: make_classification(800, flip_y=0.3, random_state=2),
}
SCORES = {
    "f1": ("f1", f1_score),
    "balanced_accuracy": ("balanced_accuracy", balanced_accuracy_score),
}


@pytest.mark.parametrize("scoring", SCORES)
@pytest.mark.parametrize(
    "name",
    ["even", *(pytest.param(name, marks=pytest.mark.slow) for name in SETS)],
)
@pytest.mark.parametrize("classifier", [LogisticRegression(), GaussianNB()], ids=str)
def test_never_above_the_tuned_threshold_of_scikit_learn(classifier, name, scoring):
    model = make_pipeline(StandardScaler(), classifier)
    model, X, y = held_out(*SETS[name](), model)
    theirs = TunedThresholdClassifierCV(
        FrozenEstimator(model), scoring=scoring, cv="prefit", refit=False
    ).fit(X, y)
    loss, score = SCORES[scoring]
    eta = model.predict_proba(X)[:, 1]
    ours = tune_threshold(y, eta, loss=loss)
    assert ours.loss == pytest.approx(1 - score(y, eta >= ours.threshold), abs=1e-12)
    assert ours.loss <= 1 - score(y, theirs.predict(X)) + 1e-12


def test_a_grid_misses_the_best_threshold():
    model, X, y = held_out(*imbalanced(0), GaussianNB())
    theirs = TunedThresholdClassifierCV(
        FrozenEstimator(model), scoring="f1", cv="prefit", refit=False, thresholds=10
    ).fit(X, y)
    ours = tune_threshold(y, model.predict_proba(X)[:, 1], loss="f1")
    assert ours.loss < 1 - f1_score(y, theirs.predict(X)) - 1e-3


# Bad input


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"eta": [0.1, np.nan]}, r"eta must hold probabilities in \[0, 1\], got nan"),
        ({"eta": [0.1, 1.5]}, r"eta must hold probabilities in \[0, 1\], got 1.5"),
        (
            {"eta": [-1e-8, 0.5]},
            r"eta must hold probabilities .*got -1e-08.*Calibrated",
        ),
        ({"eta": [0.1]}, r"y must have the shape of eta, \(1,\), got \(2,\)"),
        ({"y": [[0], [1]]}, r"y must have the shape of eta, \(2,\), got \(2, 1\)"),
        ({"y": [[[0]]], "eta": [[[0.5]]]}, r"eta must have shape .*\(1, 1, 1\)"),
        ({"y": [], "eta": []}, r"eta is empty, of shape \(0,\)"),
        ({"y": [[], []], "eta": [[], []]}, r"eta is empty, of shape \(2, 0\)"),
        ({"y": [0, 2]}, "y must hold 0 and 1, got 2.*pos_label"),
        ({"y": [0, np.nan]}, "y must hold 0 and 1, got nan"),
        ({"y": ["no", "yes"]}, "y must hold 0 and 1, got an array of dtype <U3"),
        ({"groups": [0, 1, 1]}, "groups has 3 elements, but there are 2 samples"),
        ({"groups": [[0, 1]]}, r"groups must be a vector.*\(1, 2\)"),
        ({"groups": [0, np.nan]}, "groups contains NaN"),
        ({"y": [[0, 1]], "eta": [[0.1, 0.2]], "groups": [0]}, "each row is a set"),
        ({"eta": csr_array([[0.1, 0.5]])}, r"eta must be dense.*toarray\(\)"),
        ({"y": [-1, 1]}, "y must hold 0 and 1, got -1. Pass `y > 0`"),
        ({"y": [["a"], ["a", "b"]]}, "y holds lists of labels.*MultiLabelBinarizer"),
        ({"y": np.ma.masked_equal([0, 1], 1)}, "y is a masked array"),
        ({"eta": [[0.2], [0.6, 0.1]]}, "eta holds rows of different lengths"),
        ({"loss": "f2"}, "loss must be one of"),
        ({"beta": 0.0}, r"beta must be in \]0"),
        ({"zero_division": 2}, r"zero_division must be in \[0, 1\]"),
        ({"min_positive": -1}, "min_positive must be an int >= 0, got -1"),
        ({"min_positive": 0.5}, "min_positive must be an int >= 0, got 0.5"),
        ({"max_positive": True}, "max_positive must be an int >= 0, got True"),
        (
            {"min_positive": 2, "max_positive": 1},
            "min_positive=2 is above max_positive=1",
        ),
        ({"loss": "auc"}, "AUCLoss.* needs min_positive and max_positive"),
        ({"loss": "auc", "min_positive": 1}, "AUCLoss.*needs max_positive"),
        ({"loss": "recall"}, "RecallLoss.*needs max_positive.*max_positive="),
        ({"loss": "precision", "max_positive": 1}, "needs min_positive"),
    ],
    ids=str,
)
def test_bad_input(arguments, message):
    arguments = {"y": [0, 1], "eta": [0.2, 0.6], "loss": "f1", **arguments}
    with pytest.raises(ValueError, match=message):
        tune_threshold(arguments.pop("y"), arguments.pop("eta"), **arguments)
