"""Losses of sets: what they are, what they are made of, and what they refuse."""

import inspect
import pickle
import re
import warnings
from copy import deepcopy
from fractions import Fraction
from functools import partial
from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.metrics import zero_one_loss

from sklearn_reject import losses
from sklearn_reject.losses import (
    AMLoss,
    AUCLoss,
    BalancedAccuracyLoss,
    CallableSetLoss,
    FBetaLoss,
    FractionalLinearLoss,
    GMeanLoss,
    GTPPRLoss,
    HammingLoss,
    HMeanLoss,
    JaccardLoss,
    PrecisionLoss,
    RecallLoss,
    SetLoss,
    TaskLoss,
    check_loss,
    check_set_loss,
)
from sklearn_reject.losses._set_loss import SET_LOSSES
from sklearn_reject.losses._task import _LOSSES
from sklearn_reject.metrics import set_loss
from tests.decoding.set_oracle import (
    BETAS,
    DEFINED_EVERYWHERE,
    DEFINITIONS,
    LOSSES,
    ZERO_DIVISIONS,
    options_of,
    priced,
)

NAMES = {
    "am": AMLoss,
    "auc": AUCLoss,
    "balanced_accuracy": BalancedAccuracyLoss,
    "f1": FBetaLoss,
    "f_beta": FBetaLoss,
    "g_mean": GMeanLoss,
    "g_tp_pr": GTPPRLoss,
    "h_mean": HMeanLoss,
    "hamming": HammingLoss,
    "jaccard": JaccardLoss,
    "precision": PrecisionLoss,
    "recall": RecallLoss,
}
TASK_NAMES = {"absolute", "squared", "zero_one"}


def tables_of(n):
    """Return all confusion matrices of n items, a row each: tp, fp, fn, tn."""
    firsts = (cells for cells in product(range(n + 1), repeat=3) if sum(cells) <= n)
    return np.array([(*cells, n - sum(cells)) for cells in firsts])


TABLES = np.concatenate([tables_of(n) for n in range(1, 8)])


def test_the_named_losses_are_those_of_the_oracle():
    assert set(NAMES) == set(DEFINITIONS)


def test_every_loss_with_a_name_is_found_and_documented():
    classes = [cls for cls in vars(losses).values() if inspect.isclass(cls)]
    for base, check in ((SetLoss, check_set_loss), (TaskLoss, check_loss)):
        named = {c.name: c for c in classes if issubclass(c, base) and c.name}
        for name, cls in named.items():
            assert type(check(name)) is cls
            assert f'"{name}"' in check.__doc__
        known = set(NAMES if base is SetLoss else TASK_NAMES)
        with pytest.raises(ValueError, match=re.escape(str(sorted(known)))):
            check("no such name")
        assert set(named) == known - {"f1"}  # the F-measure has two names


def test_f1_is_the_f_measure_of_beta_one():
    assert repr(check_set_loss("f1", zero_division=0.5)) == (
        "FBetaLoss(beta=1.0, zero_division=0.5)"
    )
    assert '"f1"' in check_set_loss.__doc__


@pytest.mark.parametrize("loss", ["f1", "jaccard", JaccardLoss(), FBetaLoss(2.0)])
def test_beta_beside_losses_without_it(loss):
    with pytest.raises(ValueError, match=r"beta=2\.0 is not used"):
        check_set_loss(loss, beta=2.0)


def test_zero_one_is_another_loss_in_scikit_learn(monkeypatch):
    with pytest.raises(ValueError, match="Pass 'hamming' for the share of wrong items"):
        check_set_loss("zero_one")
    # As the message has it, and as scikit-learn has it for indicators.
    subset = check_set_loss(lambda tp, fp, fn, tn: 1.0 * (fp + fn > 0))
    rng = np.random.default_rng(0)
    y_true, y_pred = rng.integers(2, size=(2, 50, 2))
    loss = set_loss(y_true, y_pred, loss=subset)
    assert loss == pytest.approx(zero_one_loss(y_true, y_pred))
    monkeypatch.setitem(SET_LOSSES, "zero_one", HammingLoss)  # a name of the user's
    assert type(check_set_loss("zero_one")) is HammingLoss


@pytest.mark.parametrize(
    ("base", "names", "check"),
    [(SetLoss, SET_LOSSES, check_set_loss), (TaskLoss, _LOSSES, check_loss)],
)
def test_a_subclass_with_a_name_is_found_by_it(monkeypatch, base, names, check):
    monkeypatch.setitem(names, "toy", None)
    del names["toy"]
    body = {"name": "toy", "_losses": lambda self, *counts: counts[1]}
    first, again = (type("Toy", (base,), body) for _ in range(2))
    assert first is not again  # as where a cell of a notebook runs twice
    assert type(check("toy")) is again
    type("Derived", (again,), {})
    assert type(check("toy")) is again
    with pytest.raises(ValueError, match=r"Other cannot have name='toy'.*of Toy"):
        type("Other", (base,), {"name": "toy"})
    assert base.name is None


@pytest.mark.parametrize("z", ZERO_DIVISIONS)
@pytest.mark.parametrize("name", DEFINITIONS)
def test_each_loss_is_its_definition(name, z):
    for beta in (*BETAS, 0.01, 50.0) if name == "f_beta" else (1.0,):
        losses = check_set_loss(**options_of(name, beta, z))(*TABLES.T)
        expected = [DEFINITIONS[name](*table, beta, z) for table in TABLES.tolist()]
        np.testing.assert_allclose(losses, expected, rtol=0, atol=4e-16)
        assert losses.dtype == np.float64
        assert losses.min() >= 0
        assert losses.max() <= 1


@pytest.mark.parametrize("name", NAMES)
def test_check_set_loss_by_name(name):
    loss = check_set_loss(**options_of(name, z=0.25))
    assert type(loss) is NAMES[name]
    assert loss.zero_division == (0.0 if name in DEFINED_EVERYWHERE else 0.25)


def test_beta_reaches_the_f_measure():
    assert repr(check_set_loss("f_beta", beta=2)) == (
        "FBetaLoss(beta=2.0, zero_division=0.0)"
    )


def test_counts_broadcast():
    tp, fp, fn, tn = np.arange(3)[:, np.newaxis], [0, 1], 2, [[3.0]]
    losses = JaccardLoss()(tp, fp, fn, tn)
    assert losses.shape == (3, 2)
    assert losses[2, 1] == pytest.approx(3 / 5)
    assert JaccardLoss()(1, 1, 0, 0).shape == ()
    assert JaccardLoss()([], [], 0, 0).shape == (0,)


def test_counts_may_be_of_any_integer_type():
    for dtype in (np.uint8, np.int8, bool, np.uint64):
        cells = np.array([1, 0, 1, 1], dtype=dtype)
        assert FBetaLoss()(*cells) == pytest.approx(1 / 3)
    large = np.array([200, 100, 200, 100], dtype=np.uint8)  # sums beyond 255
    assert JaccardLoss()(*large) == pytest.approx(0.6)


def test_counts_are_not_changed_and_not_shared():
    tp = np.array([1.0, 2.0])
    tp.flags.writeable = False
    losses = CallableSetLoss(lambda tp, fp, fn, tn: -tp)(tp, 0, 0, 1)
    losses[0] = 7.0
    assert tp.tolist() == [1.0, 2.0]


@pytest.mark.parametrize("beta", [1e-200, 1e-6, 1e6])
def test_extreme_beta(beta):
    loss = FBetaLoss(beta, zero_division=1.0)
    assert loss(0, 0, 3, 2) == 1.0  # there are positives: nothing is 0/0
    assert loss(0, 0, 0, 5) == 0.0
    if beta < 1:
        assert loss(2, 2, 3, 0) == pytest.approx(PrecisionLoss()(2, 2, 3, 0))
    else:
        assert loss(2, 2, 3, 0) == pytest.approx(RecallLoss()(2, 2, 3, 0))


# What they are made of


def weighted(cells, table):
    return sum(w * count for w, count in zip(cells, table, strict=True))


def value_of_ratio(ratio, table):
    below, k = weighted(ratio.denominator, table), table[0] + table[1]
    if below == 0 or (ratio.size_power and k == 0):
        return 0.0
    above = weighted(ratio.numerator, table)
    if ratio.factor is not None:
        above *= weighted(ratio.factor, table)
    return ratio.coefficient * above / (below**ratio.power * k**ratio.size_power)


def value_of_absence(absence, table):
    if any(count for flag, count in zip(absence.cells, table, strict=True) if flag):
        return 0.0
    return absence.constant + absence.slope * (table[0] + table[1])


def value_of_expansion(expansion, table):
    ratios = sum(value_of_ratio(ratio, table) for ratio in expansion.ratios)
    absences = sum(value_of_absence(part, table) for part in expansion.absences)
    return expansion.constant + ratios + absences


WITHOUT_EXPANSION = {"g_mean", "h_mean", "callable"}


@pytest.mark.parametrize("name", sorted({name for name, _, _ in LOSSES}))
def test_expansion_is_the_loss_of_every_table(name):
    losses = [loss for key, loss in LOSSES.items() if key[0] == name]
    for loss, n in product(losses, (1, 2, 6)):
        expansion = loss.expansion(n)
        assert (expansion is None) == (name in WITHOUT_EXPANSION)
        if expansion is not None:
            tables = tables_of(n)
            values = [value_of_expansion(expansion, row) for row in tables.tolist()]
            np.testing.assert_allclose(values, loss(*tables.T), rtol=0, atol=4e-16)


@pytest.mark.parametrize("name", NAMES)
def test_numerators_of_expansions_vanish_with_the_denominator(name):
    """As the mathematics of expected ratios takes for granted."""
    expansion = check_set_loss(**options_of(name, z=0.5)).expansion(5)
    for ratio in () if expansion is None else expansion.ratios:
        assert min(ratio.denominator) >= 0
        for table in tables_of(5).tolist():
            if weighted(ratio.denominator, table) == 0:
                factor = ratio.factor or (0, 0, 1, 1)
                product_ = weighted(ratio.numerator, table) * weighted(factor, table)
                assert product_ == 0


@pytest.mark.parametrize("name", ["g_mean", "h_mean"])
def test_means_of_rates_are_concave(name):
    """Then the mean of expected rates is above the expected mean."""
    loss, rng = check_set_loss(name), np.random.default_rng(0)
    a, b = rng.random((2, 2, 1000))
    a[:, :10], b[:, 10:20] = 0.0, 1.0
    middle = loss.mean_of_rates(*((a + b) / 2))
    ends = (loss.mean_of_rates(*a) + loss.mean_of_rates(*b)) / 2
    assert (middle >= ends - 1e-15).all()


def test_needed_bounds():
    needs = {name: check_set_loss(name).needs_bounds for name in NAMES}
    assert needs.pop("auc") == ("min_positive", "max_positive")
    assert needs.pop("recall") == ("max_positive",)
    assert needs.pop("precision") == ("min_positive",)
    assert set(needs.values()) == {()}


# Gains of true positives


SWAP = np.array([1, -1, -1, 1])


def falls_with_tp(loss, n):
    """Tell by all tables of n items."""
    tables = tables_of(n)
    swapped = tables[(tables[:, 1] > 0) & (tables[:, 2] > 0)]
    before, after = loss(*swapped.T), loss(*(swapped + SWAP).T)
    return bool((after <= before + 1e-12).all())


@pytest.mark.parametrize("key", LOSSES, ids=str)
def test_named_losses_fall_with_true_positives(key):
    assert LOSSES[key].is_tp_monotone
    for n in (2, 3, 8, 13):
        assert falls_with_tp(LOSSES[key], n)


@pytest.mark.parametrize("name", NAMES)
def test_surely_negative_items_never_help(name):
    """One item more that is negative: to predict it is no better than not to."""
    loss = check_set_loss(**options_of(name, z=0.5))
    assert loss.spares_negatives
    if name == "precision":  # of an empty set it is what zero_division says
        loss = check_set_loss(name)
    left, taken = (TABLES + cell for cell in (np.eye(4)[3], np.eye(4)[1]))
    assert (loss(*taken.T) >= loss(*left.T) - 1e-15).all()


class Exact:
    """A fractional-linear loss in exact arithmetic, from what each cell adds."""

    def __init__(self, above, below, z):
        self.above, self.below, self.z = above, below, Fraction(z)

    def constants(self):
        """Return those of (1, u, v, p)."""
        return [
            [float(c) for c in (tn, tp - fp - fn + tn, fp - tn, fn - tn)]
            for tp, fp, fn, tn in (self.above, self.below)
        ]

    def __call__(self, *table):
        below = weighted(self.below, table)
        return weighted(self.above, table) / below if below else 1 - self.z

    def rises_on(self, tables):
        swapped = [table for table in tables if table[1] > 0 and table[2] > 0]
        return any(
            self(tp + 1, fp - 1, fn - 1, tn + 1) > self(tp, fp, fn, tn)
            for tp, fp, fn, tn in swapped
        )

    def rises_near_corners(self):
        """Tell of infinitely many items, nearly all or none of them predicted."""
        little = Fraction(1, 10**6)
        for v, p in product((little, 1 - little), repeat=2):
            least, most = max(0, v + p - 1), min(v, p)
            first, last = ((u, v - u, p - u, 1 - v - p + u) for u in (least, most))
            if self(*last) > self(*first):
                return True
        return False


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


def make_fractional_linear(exact):
    return FractionalLinearLoss(*exact.constants(), zero_division=float(exact.z))


@pytest.mark.filterwarnings("ignore:FractionalLinearLoss:UserWarning")
@given(exact=exact_losses())
def test_fractional_linear_loss_is_its_definition(exact):
    loss = make_fractional_linear(exact)
    expected = [float(exact(*table)) for table in TABLES.tolist()]
    np.testing.assert_allclose(loss(*TABLES.T), expected, rtol=1e-14, atol=1e-14)
    for n in (1, 4):
        tables = tables_of(n)
        values = [value_of_expansion(loss.expansion(n), row) for row in tables.tolist()]
        np.testing.assert_allclose(values, loss(*tables.T), rtol=1e-14, atol=1e-14)


SOME_TABLES = tables_of(10).tolist()


@given(exact=exact_losses())
def test_fractional_linear_loss_knows_whether_it_falls(exact):
    rises = exact.rises_near_corners() or exact.rises_on(SOME_TABLES)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        loss = make_fractional_linear(exact)
    assert loss.is_tp_monotone == (not rises)
    messages = [str(warning.message) for warning in caught]
    assert len(messages) == rises
    assert all("k most probable items" in message for message in messages)


def test_smaller_constant_of_u_is_no_proof():
    """c1 < d1, the paper's condition, and still (.1 + .5 u) / (1 + u) rises."""
    with pytest.warns(UserWarning, match="may then not be the best one"):
        loss = FractionalLinearLoss([0.1, 0.5, 0, 0], [1, 1, 0, 0])
    assert not loss.is_tp_monotone
    assert loss(2, 0, 0, 0) > loss(1, 1, 1, 0)


def test_rise_that_takes_many_items_to_show():
    """It rises with u only where less than a twentieth is predicted."""
    with pytest.warns(UserWarning, match="may then not be the best one"):
        loss = FractionalLinearLoss([-1.01, -1, 0.25, 0], [1, 1, 0, 0])
    assert falls_with_tp(loss, 10)
    assert loss(1, 0, 0, 99) > loss(0, 1, 1, 98)


def test_worst_value_of_0_over_0_may_be_what_rises():
    """1/2 wherever anything is wrong, and 0/0 = 1 where nothing is."""
    constants = [0, -1, 0.5, 0.5], [0, -2, 1, 1]
    with pytest.warns(UserWarning, match="most probable items"):
        FractionalLinearLoss(*constants)
    assert FractionalLinearLoss(*constants, zero_division=1.0).is_tp_monotone


def test_constants_of_known_losses():
    equal = {
        "jaccard": [[0, -2, 1, 1], [0, -1, 1, 1]],
        "hamming": [[0, -2, 1, 1], [1, 0, 0, 0]],
        "f1": [[0, -2, 1, 1], [0, 0, 1, 1]],
    }
    for name, constants in equal.items():
        loss = check_set_loss(constants, zero_division=0.25)
        assert type(loss) is FractionalLinearLoss
        expected = check_set_loss(**options_of(name, z=0.25))(*TABLES.T)
        np.testing.assert_allclose(loss(*TABLES.T), expected, atol=1e-15)


def test_constants_that_cancel_but_for_rounding():
    """.1 + .2 - .3 is no weight."""
    loss = FractionalLinearLoss([0, -0.3, 0.1, 0.2], [0, -0.3, 0.1, 0.2])
    assert loss(3, 0, 0, 5) == 1.0
    assert loss(3, 1, 2, 5) == pytest.approx(1.0)


@pytest.mark.filterwarnings("error")
def test_zero_numerator():
    loss = FractionalLinearLoss([0, 0, 0, 0], [0, 0, 1, 1], zero_division=1.0)
    assert not loss(*TABLES.T).any()
    assert loss.is_tp_monotone


def test_callables_are_tried():
    assert check_set_loss(priced).is_tp_monotone
    with pytest.warns(UserWarning, match="loss=<function.*most probable items"):
        loss = check_set_loss(lambda tp, fp, fn, tn: tp * fp)
    assert not loss.is_tp_monotone
    assert loss(2, 3, 0, 0) == 6.0


def test_callables_that_stay_are_fine():
    assert CallableSetLoss(lambda tp, fp, fn, tn: tp + fp).is_tp_monotone
    assert CallableSetLoss(lambda tp, fp, fn, tn: 0.1 * (tp + fp)).is_tp_monotone


def test_callables_get_arrays_of_one_shape():
    shapes = []

    def spy(tp, fp, fn, tn):
        shapes.append([count.shape for count in (tp, fp, fn, tn)])
        return fp + fn

    assert CallableSetLoss(spy)([1, 2], [[0], [1], [2]], 0, 1).shape == (3, 2)
    assert shapes[-1] == [(3, 2)] * 4


def test_a_new_loss_is_one_method():
    class FalseAlarm(SetLoss):
        def _losses(self, tp, fp, fn, tn):
            return 1.0 * (fp > 0)

    loss = FalseAlarm(zero_division=0.5)
    assert check_set_loss(loss) is loss
    np.testing.assert_array_equal(loss([1, 1], [0, 1], 2, 3), [0, 1])
    assert loss.expansion(3) is None
    assert not loss.spares_negatives  # nobody has said so


# As parameters of estimators


@pytest.mark.parametrize("key", LOSSES, ids=str)
def test_copies(key):
    loss = LOSSES[key]
    for copy in (
        pickle.loads(pickle.dumps(loss)),
        deepcopy(loss),
        clone(loss, safe=False),
    ):
        assert type(copy) is type(loss)
        assert repr(copy) == repr(loss)
        np.testing.assert_array_equal(copy(*TABLES.T), loss(*TABLES.T))


@pytest.mark.parametrize(
    "key", [key for key in LOSSES if key[0] != "callable"], ids=str
)
def test_repr_makes_the_loss(key):
    names = {kind.__name__: kind for kind in (*NAMES.values(), FractionalLinearLoss)}
    again = eval(repr(LOSSES[key]), names)
    np.testing.assert_array_equal(again(*TABLES.T), LOSSES[key](*TABLES.T))


# Bad input


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        ((-1, 0, 0, 0), "tp must hold finite counts >= 0, got -1.0"),
        ((1, [0, np.nan], 0, 0), "fp must hold finite counts >= 0, got nan"),
        ((1, 0, np.inf, 0), "fn must hold finite counts >= 0, got inf"),
        ((1, 0, 0, -np.inf), "tn must hold finite counts >= 0, got -inf"),
        (([1, 2], [1, 2, 3], 0, 0), "shape mismatch"),
    ],
    ids=str,
)
def test_bad_counts(counts, message):
    for loss in (JaccardLoss(), CallableSetLoss(priced), HammingLoss()):
        with pytest.raises(ValueError, match=message):
            loss(*counts)


@pytest.mark.parametrize("beta", [0, -1, np.nan, np.inf, 1e7, "1", True, None])
def test_bad_beta(beta):
    for call in (FBetaLoss, lambda beta: check_set_loss("am", beta=beta)):
        with pytest.raises(ValueError, match=r"beta must be .*\]0, 1e\+06\], got "):
            call(beta)


@pytest.mark.parametrize("z", [-0.1, 1.1, np.nan, "warn", None, False])
def test_bad_zero_division(z):
    for call in (JaccardLoss, partial(check_set_loss, "am")):
        with pytest.raises(ValueError, match=r"zero_division must be .*\[0, 1\], got "):
            call(zero_division=z)


@pytest.mark.parametrize(
    "loss",
    ["F1", "f2", "", None, 3, FBetaLoss, [0, -2, 1, 1], [[0, -2, 1], [0, -1, 1]],
     [["a", "b", "c", "d"]] * 2, [[1, 2], [3]], {"am": 1}],
    ids=str,
)  # fmt: skip
def test_unknown_losses(loss):
    with pytest.raises(
        ValueError, match=r"loss must be one of \['am', .*, got "
    ) as told:
        check_set_loss(loss)
    assert ("Pass an object of the class, `FBeta" in str(told.value)) == (
        loss is FBetaLoss
    )


@pytest.mark.parametrize(
    ("numerator", "denominator", "message"),
    [
        ([1, 2, 3], [1, 0, 0, 0], r"numerator must be the four finite constants"),
        ([1, 2, 3, 4], [1, 0, 0, np.nan], r"denominator must be the four finite"),
        ([1, 2, 3, 4], 1.0, r"denominator must be the four finite .*got 1.0"),
        ([0, 0, 0, "x"], [1, 0, 0, 0], r"numerator must be the four finite"),
        ([0, 0, 1, 0], [-1, 0, 0, 0], "denominator must be positive, but is -1 for"),
        ([0, 0, 1, 0], [0, 1, 0, 0], "is 0 for a set of nothing but fp items, where "),
        ([1, 0, 0, 0], [0, 0, 0, 1], "nothing but fp items, where the numerator is 1"),
        ([0, 0, 0, 0], [1, 0, 0, -2], "is -1 for a set of nothing but tp items"),
        ([1, 0, 0, 0], [0, 0, 0, 0], "is 0 for a set of nothing but tp items"),
    ],
    ids=str,
)
def test_bad_constants(numerator, denominator, message):
    with pytest.raises(ValueError, match=message):
        FractionalLinearLoss(numerator, denominator)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda tp, fp, fn, tn: 1.0, r"one number for each.*got shape \(\)"),
        (lambda tp, fp, fn, tn: fp[:-1], r"must return one number for each"),
        (lambda tp, fp, fn, tn: fp[:, None], r"must return one number for each"),
        (lambda tp, fp, fn, tn: fp + 1j, r"dtype complex128.*whole arrays"),
        (lambda tp, fp, fn, tn: fp.astype(str), r"must return one number for each"),
        (lambda tp, fp, fn, tn: None, r"must return one number for each"),
        (lambda tp, fp, fn, tn: fp * np.nan, "finite numbers, got nan. Define the"),
        (lambda tp, fp, fn, tn: -np.inf + fp, "finite numbers, got -inf"),
    ],
)
def test_bad_callables(function, message):
    with pytest.raises(ValueError, match=message):
        CallableSetLoss(function)


def test_callables_are_checked_on_each_call():
    def gives_up(tp, fp, fn, tn):
        return np.where(tp + fp + fn + tn > 10, np.nan, fp + fn)

    loss = CallableSetLoss(gives_up)
    assert loss(1, 2, 3, 4) == 5.0
    with pytest.raises(ValueError, match="must return finite numbers, got nan"):
        loss(5, 2, 3, 4)


def test_base_class_says_what_is_missing():
    with pytest.raises(TypeError, match="SetLoss does not define `_losses`"):
        SetLoss()(1, 0, 0, 0)


@pytest.mark.parametrize(
    "table", [(1, 8, 0, 1), (1, 0, 8, 1), (9, 0, 0, 1), (1, 0, 0, 9)], ids=str
)
def test_callables_are_tried_with_every_swap_of_ten_items(table):
    def rises_at_one_table(*counts):
        return 1.0 * (np.stack(counts) == np.reshape(table, (4, 1))).all(axis=0)

    with pytest.warns(UserWarning, match="most probable items"):
        assert not CallableSetLoss(rises_at_one_table).is_tp_monotone
