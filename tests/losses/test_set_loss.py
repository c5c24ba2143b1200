"""Losses of sets: what they are, what users write, and what they refuse."""

import warnings
from fractions import Fraction
from functools import partial
from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.metrics import f1_score, make_scorer, zero_one_loss
from sklearn.naive_bayes import GaussianNB

from sklearn_reject import ExpectedLossDecoder
from sklearn_reject.decoding import decode, expected_loss_curve, tune_threshold
from sklearn_reject.exceptions import RejectionWarning
from sklearn_reject.losses import FractionalLinearLoss, SetLoss, check_set_loss
from sklearn_reject.metrics import get_selective_scorer, set_loss
from tests.decoding.set_oracle import (
    BETAS,
    DEFINED_EVERYWHERE,
    DEFINITIONS,
    KEYS,
    LOSSES,
    PRECISION,
    RECALL,
    ZERO_DIVISIONS,
    expected_losses,
    options_of,
    priced,
    probabilities,
    tables_of,
)

TABLES = np.concatenate([tables_of(n) for n in range(1, 8)])


@pytest.mark.parametrize("z", ZERO_DIVISIONS)
@pytest.mark.parametrize("name", DEFINITIONS)
def test_each_loss_is_its_definition(name, z):
    for beta in (*BETAS, 0.01, 50.0) if name == "f_beta" else (1.0,):
        loss = check_set_loss(**options_of(name, beta, z))
        expected = [DEFINITIONS[name](*table, beta, z) for table in TABLES.tolist()]
        found = loss(*TABLES.T)
        np.testing.assert_allclose(found, expected, rtol=0, atol=4e-16)
        assert found.dtype == np.float64
        assert 0 <= found.min() <= found.max() <= 1
        assert loss.zero_division == (0 if name in DEFINED_EVERYWHERE else z)


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_what_losses_say_of_themselves(key):
    loss = LOSSES[key]
    assert loss.is_tp_monotone
    for n in (2, 3, 8, 13):
        tables = tables_of(n)
        swapped = tables[(tables[:, 1] > 0) & (tables[:, 2] > 0)]
        before, after = loss(*swapped.T), loss(*np.add(swapped, [1, -1, -1, 1]).T)
        assert (after <= before + 1e-12).all()
    assert np.abs(loss(*TABLES.T)).max() <= (loss.largest or np.inf)
    if loss.spares_negatives:  # one item more that is negative: not to predict it
        left, taken = (TABLES + cell for cell in (np.eye(4)[3], np.eye(4)[1]))
        assert (loss(*taken.T) >= loss(*left.T) - 1e-15).all()
    is_named = key[0] in DEFINITIONS
    assert loss.spares_negatives == is_named
    assert loss.largest == is_named
    has_expansion = key[0] not in ("g_mean", "h_mean", "callable")
    assert (loss.expansion(5) is not None) == has_expansion


def test_counts_of_any_shape_and_type():
    loss = check_set_loss("jaccard")
    found = loss(np.arange(3)[:, np.newaxis], [0, 1], 2, [[3.0]])
    assert found.shape == (3, 2)
    assert found[2, 1] == pytest.approx(3 / 5)
    assert (loss(1, 1, 0, 0).shape, loss([], [], 0, 0).shape) == ((), (0,))
    for dtype in (np.uint8, np.int8, bool, np.uint64):
        cells = np.array([1, 0, 1, 1], dtype=dtype)
        assert check_set_loss("f1")(*cells) == pytest.approx(1 / 3)
    large = np.array([200, 100, 200, 100], dtype=np.uint8)  # sums beyond 255
    assert loss(*large) == pytest.approx(0.6)


@pytest.mark.parametrize("beta", [1e-200, 1e-6, 1e6])
def test_extreme_beta(beta):
    loss = check_set_loss("f_beta", beta=beta, zero_division=1.0)
    assert loss(0, 0, 3, 2) == 1.0  # there are positives: nothing is 0/0
    assert loss(0, 0, 0, 5) == 0.0
    other = PRECISION if beta < 1 else RECALL
    assert loss(2, 2, 3, 0) == pytest.approx(other(2, 2, 3, 0))


# Ratios of linear functions


class Exact:
    """A fractional-linear loss in exact arithmetic, from what each cell adds."""

    def __init__(self, above, below, z):
        self.above, self.below, self.z = above, below, Fraction(z)

    def make(self):
        above, below = (
            [float(c) for c in (tn, tp - fp - fn + tn, fp - tn, fn - tn)]
            for tp, fp, fn, tn in (self.above, self.below)
        )
        return FractionalLinearLoss(above, below, zero_division=float(self.z))

    def __call__(self, *table):
        above, below = (
            sum(w * count for w, count in zip(weights, table, strict=True))
            for weights in (self.above, self.below)
        )
        return above / below if below else 1 - self.z

    def rises(self):
        """Tell of ten items, or infinitely many, nearly all or none predicted."""
        little, swaps = Fraction(1, 10**6), []
        for v, p in product((little, 1 - little), repeat=2):
            least, most = max(0, v + p - 1), min(v, p)
            swaps.append([(u, v - u, p - u, 1 - v - p + u) for u in (least, most)])
        for tp, fp, fn, tn in tables_of(10).tolist():
            if fp and fn:
                swaps.append([(tp, fp, fn, tn), (tp + 1, fp - 1, fn - 1, tn + 1)])
        return any(self(*after) > self(*before) for before, after in swaps)


@st.composite
def exact_losses(draw):
    """Draw losses of few different weights, some of them zero, also 0/0."""
    few = st.sampled_from([0, 0, 1, 1, 2, Fraction(1, 2)])
    below = draw(st.tuples(few, few, few, few))
    of_any_sign = st.sampled_from([0, 1, 1, 2, Fraction(1, 2), -1, -3])
    above = draw(
        st.tuples(*[of_any_sign if weight else st.just(0) for weight in below])
    )
    assume(any(below))
    return Exact(above, below, draw(st.sampled_from([0, 0.5, 1])))


@given(exact=exact_losses(), eta=probabilities(max_size=6))
def test_fractional_linear_losses(exact, eta):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        loss = exact.make()
    expected = [float(exact(*table)) for table in TABLES.tolist()]
    np.testing.assert_allclose(loss(*TABLES.T), expected, rtol=1e-14, atol=1e-14)
    assert loss.is_tp_monotone == (not exact.rises())
    assert len(caught) == exact.rises()
    assert all("k most probable items" in str(each.message) for each in caught)
    curve, by_hand = expected_loss_curve(eta, loss=loss), expected_losses(eta, loss)
    scale = max(1, np.abs(by_hand).max())
    np.testing.assert_allclose(curve, by_hand, rtol=0, atol=1e-12 * scale)


@pytest.mark.parametrize(
    ("numerator", "denominator"),
    [
        # c1 < d1, the paper's condition, and still it rises.
        ([0.1, 0.5, 0, 0], [1, 1, 0, 0]),
        # It rises with u only where less than a twentieth is predicted.
        ([-1.01, -1, 0.25, 0], [1, 1, 0, 0]),
        # 1/2 wherever anything is wrong, and 0/0 = 1 where nothing is.
        ([0, -1, 0.5, 0.5], [0, -2, 1, 1]),
    ],
)
def test_ratios_that_rise_with_true_positives(numerator, denominator):
    with pytest.warns(UserWarning, match="may then not be the best one"):
        assert not FractionalLinearLoss(numerator, denominator).is_tp_monotone


@pytest.mark.filterwarnings("error")
def test_constants_of_known_losses():
    equal = {
        "jaccard": [[0, -2, 1, 1], [0, -1, 1, 1]],
        "hamming": [[0, -2, 1, 1], [1, 0, 0, 0]],
        "f1": [[0, -2, 1, 1], [0, 0, 1, 1]],
    }
    for name, constants in equal.items():
        loss = FractionalLinearLoss(*constants, zero_division=0.25)
        assert check_set_loss(loss) is loss
        expected = check_set_loss(**options_of(name, z=0.25))(*TABLES.T)
        np.testing.assert_allclose(loss(*TABLES.T), expected, atol=1e-15)
    # .1 + .2 - .3 is no weight.
    loss = FractionalLinearLoss([0, -0.3, 0.1, 0.2], [0, -0.3, 0.1, 0.2])
    assert loss(3, 0, 0, 5) == 1.0
    assert loss(3, 1, 2, 5) == pytest.approx(1.0)
    zero = FractionalLinearLoss([0, 0, 0, 0], [0, 0, 1, 1], zero_division=1.0)
    assert not zero(*TABLES.T).any()


# Functions and classes of users

COUNTS = {"tp": 3.0, "fp": 5.0, "fn": 7.0, "tn": 11.0}


class Priced:
    def __call__(self, tn, fp, fn, tp):
        return fp + 10 * fn

    @classmethod
    def of_class(cls, fn, fp, **others):
        return fp + 10 * fn


FUNCTIONS = [
    *(
        eval(f"lambda {', '.join(order)}: fp + 10 * fn")
        for order in permutations(COUNTS)
    ),
    lambda fn, fp, **others: fp + 10 * fn,
    lambda **counts: counts["fp"] + 10 * counts["fn"],
    lambda tp, fp, fn, tn, price=10: fp + price * fn,
    partial(lambda price, tp, fp, fn, tn: fp + price * fn, 10),
    Priced(),
    Priced.of_class,
    np.vectorize(lambda tp, fp, fn, tn: fp + 10.0 * fn),
]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_functions_get_the_counts_by_name(function):
    loss = check_set_loss(function)
    assert loss(**COUNTS) == 75.0
    assert loss.is_tp_monotone
    eta = np.array([0.6, 0.3, 0.1])
    curve = expected_loss_curve(eta, loss=function)
    np.testing.assert_allclose(curve, expected_losses(eta, loss), atol=1e-12)


class Tversky(SetLoss):
    """A loss that says nothing of itself."""

    def _losses(self, tp, fp, fn, tn):
        below = tp + 0.1 * fp + 0.9 * fn
        return 1 - np.divide(tp, below, out=np.zeros(tp.shape), where=below > 0)


class Weighted(SetLoss):
    """A loss with claims that hold."""

    largest = 9.0
    spares_negatives = True

    def _losses(self, tn, fn, fp, tp):
        return (fp + 9 * fn) / (tp + fp + fn + tn)


@pytest.mark.parametrize("kind", [Tversky, Weighted])
@given(eta=probabilities(max_size=6))
def test_classes(kind, eta):
    loss = check_set_loss(kind())
    by_hand = expected_losses(eta, loss)
    curve = expected_loss_curve(eta, loss=loss)
    np.testing.assert_allclose(curve, by_hand, rtol=0, atol=1e-11)
    least = expected_losses(eta, loss, sets="all").min()
    assert decode(eta, loss=loss)[1] == pytest.approx(least, abs=1e-11)


# What functions of false positives return that are no losses.
BAD = [
    (lambda fp: np.where(fp > 3, np.nan, fp), "finite numbers, got nan. Define"),
    (lambda fp: -np.inf + fp, "must return finite numbers, got -inf"),
    (lambda fp: 1.0, r"one number for each confusion matrix, .*got shape \(\)"),
    (lambda fp: fp[:-1], "must return one number for each confusion matrix"),
    (lambda fp: fp[:, None], "must return one number for each confusion matrix"),
    (lambda fp: fp + 1j, r"dtype complex128.*whole arrays"),
    (lambda fp: fp.astype(str), "must return one number for each confusion matrix"),
    (lambda fp: None, "must return one number for each confusion matrix"),
]


@pytest.mark.parametrize(("function", "message"), BAD)
@pytest.mark.parametrize("is_class", [False, True])
def test_what_is_no_loss(function, message, is_class):
    def loss(fp, **others):
        return function(fp)

    if is_class:
        loss = type("Bad", (SetLoss,), {"_losses": staticmethod(loss)})()
    for call in (
        lambda: check_set_loss(loss),
        lambda: decode([0.3, 0.2], loss=loss),
        lambda: tune_threshold([0, 1], [0.3, 0.2], loss=loss),
        lambda: set_loss([0, 1], [0, 1], loss=loss),
    ):
        with pytest.raises(ValueError, match=message):
            call()


def test_functions_are_checked_on_each_call():
    def gives_up(tp, fp, fn, tn):
        return np.where(tp + fp + fn + tn > 10, np.nan, fp + fn)

    loss = check_set_loss(gives_up)
    assert loss(1, 2, 3, 4) == 5.0
    with pytest.raises(ValueError, match="must return finite numbers, got nan"):
        loss(5, 2, 3, 4)
    with pytest.raises(TypeError, match="SetLoss does not define `_losses`"):
        SetLoss()(1, 0, 0, 0)


class Rising(SetLoss):
    is_tp_monotone = True  # which nobody believes

    def _losses(self, tp, fp, fn, tn):
        return tp * fp


@pytest.mark.parametrize(
    "loss",
    [
        Rising(),
        lambda tp, fp, fn, tn: tp * fp,
        lambda tp, fp, fn, tn: (tp - 2) ** 2,
        *(
            lambda table=table, **counts: 1.0 * np.all(
                [counts[name] == n for name, n in zip(COUNTS, table, strict=True)],
                axis=0,
            )
            for table in [(1, 8, 0, 1), (1, 0, 8, 1), (9, 0, 0, 1), (1, 0, 0, 9)]
        ),
    ],
)  # fmt: skip
def test_losses_that_rise_with_true_positives(loss):
    """Every swap of a false positive and a false negative of ten items is tried."""
    with pytest.warns(RejectionWarning, match="may then not be the best one"):
        made = check_set_loss(loss)
    if not isinstance(loss, Rising):
        assert not made.is_tp_monotone


def test_scores_of_counts():
    def f1(tp, fp, fn, tn):
        return 2 * tp / np.maximum(2 * tp + fp + fn, 1)

    with pytest.warns(RejectionWarning, match="Lower must be better, so pass one min"):
        decode([0.3, 0.2], loss=f1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_set_loss(lambda **counts: 1 - f1(**counts))
        check_set_loss(lambda tp, fp, fn, tn: 0.1 * (tp + fp))


# Bad input


def calls_with(loss, **options):
    X, y = np.arange(8.0)[:, None], np.tile([0, 1], 4)
    options = {"loss": loss, **options}
    return [
        lambda: check_set_loss(**options),
        lambda: decode([0.3], **options),
        lambda: expected_loss_curve([0.3], **options),
        lambda: tune_threshold([0, 1], [0.3, 0.2], **options),
        lambda: set_loss([0, 1], [0, 1], **options),
        lambda: get_selective_scorer("neg_set_loss", **options),
        lambda: ExpectedLossDecoder(GaussianNB(), **options).fit(X, y),
    ]


UNUSED = [
    *((loss, {"beta": 2.0}) for loss in ("f1", "am", "hamming", priced, RECALL)),
    (check_set_loss("f_beta"), {"beta": 2.0}),
    *(
        (loss, {"zero_division": 1.0})
        for loss in ("hamming", "balanced_accuracy", priced)
    ),
    (check_set_loss("jaccard"), {"zero_division": 1.0}),
]


@pytest.mark.parametrize(("loss", "options"), UNUSED)
def test_options_that_a_loss_does_not_heed(loss, options):
    [(name, value)] = options.items()
    for call in calls_with(loss, **options):
        with pytest.raises(ValueError, match=rf"{name}={value} is not used by.* Set"):
            call()


NO_COUNTS = [
    *(f1_score, partial(f1_score, average="micro"), make_scorer(f1_score)),
    get_selective_scorer("neg_aurc"),
    lambda y_true, y_pred: 1.0,
    lambda a, b, c, d: b,
    lambda tp, fp, fn: fp,
    lambda *counts: counts[1],
]


@pytest.mark.parametrize("function", NO_COUNTS)
def test_functions_of_other_things_than_counts(function):
    message = r"must be a function of the counts tp, fp, fn and tn.*such as 'f1'"
    for call in calls_with(function):
        with pytest.raises(ValueError, match=message):
            call()


def test_hints_for_unknown_losses():
    with pytest.raises(ValueError, match=r"Pass an object of the class, `Tversky\(\)`"):
        check_set_loss(Tversky)
    with pytest.raises(ValueError, match="The share of wrong items is 'hamming'"):
        check_set_loss("zero_one")
    # What scikit-learn has for indicators.
    rng = np.random.default_rng(0)
    y_true, y_pred = rng.integers(2, size=(2, 50, 2))
    loss = set_loss(y_true, y_pred, loss=lambda tp, fp, fn, tn: 1.0 * (fp + fn > 0))
    assert loss == pytest.approx(zero_one_loss(y_true, y_pred))


UNKNOWN = ["F1", "f2", "", None, 3, [0, -2, 1, 1], [[0, -2, 1], [0, -1, 1]]]
UNKNOWN += [[["a", "b", "c", "d"]] * 2, [[1, 2], [3]], {"am": 1}]
BAD_CALLS = [
    *((check_set_loss, (loss,), r"loss must be one of \['am', .*, got ")
      for loss in UNKNOWN),
    *((lambda beta: check_set_loss("am", beta=beta), (value,),
       r"beta must be .*\]0, 1e\+06\], got ")
      for value in (0, -1, np.nan, np.inf, 1e7, "1", True, None)),
    *((lambda z: check_set_loss("am", zero_division=z), (value,),
       r"zero_division must be .*\[0, 1\], got ")
      for value in (-0.1, 1.1, np.nan, "warn", None, False)),
    *((LOSSES[name, 1.0, 0.0], counts, message)
      for name in ("jaccard", "callable", "hamming")
      for counts, message in (
          ((-1, 0, 0, 0), "tp must hold finite counts >= 0, got -1.0"),
          ((1, [0, np.nan], 0, 0), "fp must hold finite counts >= 0, got nan"),
          ((1, 0, np.inf, 0), "fn must hold finite counts >= 0, got inf"),
          ((1, 0, 0, -np.inf), "tn must hold finite counts >= 0, got -inf"),
          (([1, 2], [1, 2, 3], 0, 0), "shape mismatch"),
      )),
    *((FractionalLinearLoss, constants, message)
      for *constants, message in (
          ([1, 2, 3], [1, 0, 0, 0], r"numerator must be the four finite constants"),
          ([1, 2, 3, 4], [1, 0, 0, np.nan], r"denominator must be the four finite"),
          ([1, 2, 3, 4], 1.0, r"denominator must be the four finite .*got 1.0"),
          ([0, 0, 0, "x"], [1, 0, 0, 0], r"numerator must be the four finite"),
          ([0, 0, 1, 0], [-1, 0, 0, 0], "denominator must be positive, but is -1 for"),
          ([0, 0, 1, 0], [0, 1, 0, 0], "is 0 for a set of nothing but fp items, where"),
          ([1, 0, 0, 0], [0, 0, 0, 1], "but fp items, where the numerator is 1"),
          ([0, 0, 0, 0], [1, 0, 0, -2], "is -1 for a set of nothing but tp items"),
          ([1, 0, 0, 0], [0, 0, 0, 0], "is 0 for a set of nothing but tp items"),
      )),
]  # fmt: skip


@pytest.mark.parametrize(("function", "arguments", "message"), BAD_CALLS)
def test_bad_input(function, arguments, message):
    with pytest.raises(ValueError, match=message):
        function(*arguments)
