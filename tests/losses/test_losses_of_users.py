"""Losses that users write: classes derived from those here, and functions."""

import warnings
from functools import partial, wraps
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from sklearn.metrics import (
    accuracy_score,
    f1_score,
    fbeta_score,
    hamming_loss,
    make_scorer,
    roc_auc_score,
)
from sklearn.naive_bayes import GaussianNB

from sklearn_reject import ExpectedLossDecoder
from sklearn_reject.decoding import decode, expected_loss_curve, tune_threshold
from sklearn_reject.exceptions import RejectionWarning
from sklearn_reject.losses import (
    AMLoss,
    CallableSetLoss,
    FBetaLoss,
    FractionalLinearLoss,
    GMeanLoss,
    HammingLoss,
    JaccardLoss,
    PrecisionLoss,
    SetLoss,
    check_set_loss,
)
from sklearn_reject.losses._expansion import Cells, Expansion, Ratio
from sklearn_reject.metrics import get_selective_scorer, set_loss
from tests.decoding.set_oracle import expected_losses_by_enumeration, probabilities

# Subclasses of losses with a name


class Tversky(FBetaLoss):
    """Weighs false positives and false negatives apart, as no F-measure does."""

    def _losses(self, tp, fp, fn, tn):
        below = tp + 0.1 * fp + 0.9 * fn
        return 1 - np.divide(tp, below, out=np.zeros(tp.shape), where=below > 0)


class Alarm(HammingLoss):
    """Pays for what is left out, so that surely negative items are welcome."""

    def _losses(self, tp, fp, fn, tn):
        return (tn + 2 * fn) / (tp + fp + fn + tn) * 10


class WorstRate(GMeanLoss):
    """Not concave as the G-mean is, so that its bound does not hold."""

    def _losses(self, tp, fp, fn, tn):
        return 1 - np.maximum(tp / np.maximum(tp + fn, 1), tn / np.maximum(tn + fp, 1))


class BestRate(GMeanLoss):
    """The same by the mean that it is made of."""

    def _mean(self, tpr, tnr):
        return np.maximum(tpr, tnr)


class Smoothed(PrecisionLoss):
    """Precision that is not degenerate."""

    def _losses(self, tp, fp, fn, tn):
        return 1 - (tp + 1) / (tp + fp + 2)


class Tn:
    """No loss by itself."""

    def _losses(self, tp, fp, fn, tn):
        return 3.0 * fn + fp


class Mixed(Tn, AMLoss):
    """Takes what it is from the first base."""


class Called(JaccardLoss):
    """Changes what it is in an odd place."""

    def __call__(self, tp, fp, fn, tn):
        return 2 * super().__call__(tp, fp, fn, tn) ** 2


class Below(Tversky):
    """Adds nothing."""


OTHERS = [Tversky, Alarm, WorstRate, BestRate, Smoothed, Mixed, Called, Below]


@pytest.mark.parametrize("kind", OTHERS)
@given(eta=probabilities(max_size=6))
def test_other_losses_have_expected_losses_of_their_own(kind, eta):
    loss = kind()
    expected = expected_losses_by_enumeration(eta, loss)
    curve = expected_loss_curve(eta, loss=loss)
    np.testing.assert_allclose(curve, expected, rtol=0, atol=1e-11)
    of_all_sets = expected_losses_by_enumeration(eta, loss, sets="all")
    _, least = decode(eta, loss=loss)
    assert least == pytest.approx(of_all_sets.min(), abs=1e-11)


@pytest.mark.parametrize("kind", [Tversky, Alarm, WorstRate, BestRate])
def test_other_losses_of_long_sets(kind):
    """Beyond all counts at once, where bounds and interpolation would be."""
    rng = np.random.default_rng(0)
    eta = np.sort(rng.beta(0.5, 2, 60))[::-1]
    loss = kind()
    exact = expected_loss_curve(eta, loss=loss, method="reference")
    curve = expected_loss_curve(eta, loss=loss)
    np.testing.assert_allclose(curve, exact, rtol=0, atol=1e-10)
    assert decode(eta, loss=loss)[1] == pytest.approx(exact.min(), abs=1e-10)
    rows = csr_matrix(np.append(eta[:6], np.zeros(5))[None])
    _, [least] = decode(rows, loss=loss)
    assert least == pytest.approx(decode(rows.toarray(), loss=loss)[1][0], abs=1e-12)


def test_what_a_base_states_does_not_hold_for_another_loss():
    for kind in OTHERS:
        loss = kind()
        assert loss.expansion(5) is None
        assert not loss.is_mean_of_rates
        assert not loss.spares_negatives
        assert loss.largest == 0
        assert loss.needs_bounds == ()
    assert FBetaLoss(2.0).expansion(5) is not None
    assert GMeanLoss().is_mean_of_rates
    assert PrecisionLoss().needs_bounds == ("min_positive",)


def test_what_a_base_states_holds_for_the_same_loss():
    class Named(FBetaLoss):
        def __init__(self):
            super().__init__(2.0, zero_division=1.0)

    class Degenerate(PrecisionLoss):
        needs_bounds = ()

    loss = check_set_loss(Named())
    assert loss.expansion(5) == FBetaLoss(2.0, zero_division=1.0).expansion(5)
    assert loss.largest == 1
    assert loss.spares_negatives
    assert Degenerate().expansion(3) is not None
    assert Degenerate().needs_bounds == ()


def test_what_a_subclass_states_itself():
    class Weighted(HammingLoss):
        largest = 9.0
        spares_negatives = True

        def _expansion(self, n_items):
            wrong = Cells(fp=1.0, fn=9.0)
            return Expansion(0.0, (Ratio(1.0, wrong, Cells(1.0, 1.0, 1.0, 1.0)),))

        def _losses(self, tp, fp, fn, tn):
            return (fp + 9 * fn) / (tp + fp + fn + tn)

    loss = check_set_loss(Weighted())
    assert loss.largest == 9
    assert loss.spares_negatives
    eta = np.array([0.9, 0.3, 0.05])
    expected = expected_losses_by_enumeration(eta, loss)
    np.testing.assert_allclose(expected_loss_curve(eta, loss=loss), expected)


def test_expansion_that_is_of_another_loss():
    class Wrong(HammingLoss):
        def _expansion(self, n_items):
            return Expansion(0.0, (Ratio(2.0, Cells(fp=1.0), Cells(1.0, 1, 1, 1)),))

    for call in (check_set_loss, partial(decode, [0.2], loss=Wrong())):
        arguments = [Wrong()] if call is check_set_loss else []
        with pytest.raises(
            ValueError, match=r"Wrong\(\) has an `_expansion` that differs"
        ):
            call(*arguments)


# Classes are treated as functions are

BAD = {
    "nan": (lambda fp: np.where(fp > 3, np.nan, fp), "must return finite numbers, got"),
    "inf": (lambda fp: -np.inf + fp, "must return finite numbers, got -inf"),
    "scalar": (lambda fp: 1.0, r"one number for each confusion.*got shape \(\)"),
    "short": (lambda fp: fp[:-1], "one number for each confusion matrix, shape"),
    "strings": (lambda fp: fp.astype(str), "one number for each confusion matrix"),
    "nothing": (lambda fp: None, "one number for each confusion matrix"),
}


@pytest.mark.parametrize("name", BAD)
def test_classes_that_return_what_is_no_loss(name):
    function, message = BAD[name]

    class Bad(FBetaLoss):
        def _losses(self, tp, fp, fn, tn):
            return function(fp)

    calls = [
        lambda: check_set_loss(Bad()),
        lambda: decode([0.3, 0.2], loss=Bad()),
        lambda: tune_threshold([0, 1], [0.3, 0.2], loss=Bad()),
        lambda: set_loss([0, 1], [0, 1], loss=Bad()),
        lambda: CallableSetLoss(lambda tp, fp, fn, tn: function(fp)),
    ]
    for call in calls:
        with pytest.raises(ValueError, match=message):
            call()


def test_classes_that_rise_with_true_positives():
    class Rising(SetLoss):
        def _losses(self, tp, fp, fn, tn):
            return tp * fp

    class Declared(Rising):
        is_tp_monotone = True

    for kind in (Rising, Declared):
        with pytest.warns(RejectionWarning, match="does not decrease whenever a true"):
            check_set_loss(kind())
        with pytest.warns(UserWarning, match="may then not be the best one"):
            decode([0.3, 0.2], loss=kind())
    assert not Rising().is_tp_monotone


def test_classes_may_work_in_place():
    class InPlace(SetLoss):
        def _losses(self, tp, fp, fn, tn):
            fp += fn
            return fp

    fp = np.array([1.0, 2.0])
    assert InPlace()(0, fp, 1, 1).tolist() == [2.0, 3.0]
    assert fp.tolist() == [1.0, 2.0]


# How functions get the counts

COUNTS = {"tp": 3.0, "fp": 5.0, "fn": 7.0, "tn": 11.0}
WEIGHTS = {"tp": 0.0, "fp": 1.0, "fn": 10.0, "tn": 0.0}
COST = 75.0


def weigh(**counts):
    return sum(WEIGHTS[name.lower()] * count for name, count in counts.items())


@pytest.mark.parametrize("order", [" ".join(p) for p in permutations(COUNTS)])
@pytest.mark.parametrize("rest", ["", ", beta=1", ", *others", ", **others"])
def test_counts_go_by_their_names(order, rest):
    first, second, third, fourth = order.split()
    body = "1.0 * fp + 10 * fn"
    for parameters in (
        f"{first}, {second}, {third}, {fourth}{rest}",
        f"{first}, {second}, *, {third}, {fourth}{rest.replace(', *others', '')}",
        f"{first}, {second}, /, {third}, {fourth}{rest}",
        f"{first}, {second}, {third}, {fourth}, /{rest}",
    ):
        assert CallableSetLoss(eval(f"lambda {parameters}: {body}"))(**COUNTS) == COST
    upper = f"lambda {order.upper().replace(' ', ', ')}: 1.0 * FP + 10 * FN"
    assert CallableSetLoss(eval(upper))(**COUNTS) == COST


def by_position(true_found, false_found, missed, rest):
    return false_found + 10 * missed


class Priced:
    def __call__(self, tn, fp, fn, tp):
        return fp + 10 * fn

    def price(self, tn, fp, fn, tp):
        return fp + 10 * fn

    @staticmethod
    def static(tn, fp, fn, tp):
        return fp + 10 * fn

    @classmethod
    def of_class(cls, fn, fp):
        return fp + 10 * fn


FORMS = {
    "other names": by_position,
    "some of them": lambda fn, fp: fp + 10 * fn,
    "three": lambda tn, fn, fp: fp + 10 * fn,
    "the first right, others their own": lambda tp, b, c, d: b + 10 * c,
    "stars": lambda *counts: counts[1] + 10 * counts[2],
    "two stars": lambda **counts: counts["fp"] + 10 * counts["fn"],
    "both": lambda *args, **kwargs: by_position(*args, **kwargs),
    "one and two stars": lambda fn, **rest: rest["fp"] + 10 * fn,
    "one and stars": lambda tp, *rest: rest[0] + 10 * rest[1],
    "all with defaults": lambda tn=0, fp=0, fn=0, tp=0: fp + 10 * fn,
    "own names with defaults": lambda a=0, b=0, c=0, d=0: b + 10 * c,
    "partial by name": partial(lambda cost, tn, fp, fn, tp: fp + cost * fn, cost=10),
    "partial in order": partial(lambda cost, tn, fp, fn, tp: fp + cost * fn, 10),
    "partial of other names": partial(lambda w, a, b, c, d: b + w * c, 10),
    "object": Priced(),
    "method": Priced().price,
    "static method": Priced.static,
    "class method": Priced.of_class,
    "np.vectorize": np.vectorize(lambda a, b, c, d: b + 10.0 * c),
}


@pytest.mark.parametrize("name", FORMS)
def test_forms_of_functions(name):
    loss = check_set_loss(FORMS[name])
    assert loss(**COUNTS) == COST
    assert loss.is_tp_monotone
    expected = expected_loss_curve([0.6, 0.3, 0.1], loss=by_position)
    curve = expected_loss_curve([0.6, 0.3, 0.1], loss=FORMS[name])
    np.testing.assert_array_equal(curve, expected)


@pytest.mark.parametrize(
    "loss",
    [
        lambda true_negatives, false_positives, false_negatives, true_positives: (
            1 - true_positives / 10 + false_positives
        ),
        lambda n_tn, n_fp, n_fn, n_tp: 1 - n_tp / 10 + n_fp,
        lambda true_pos, fp, true_neg: 1 - true_pos / 10 + fp,
    ],
)
def test_counts_go_by_their_full_names(loss):
    found = CallableSetLoss(loss)(tp=[5, 0], fp=[0, 1], fn=[0, 4], tn=[3, 3])
    assert found.tolist() == [0.5, 2.0]


def test_decorated_functions_need_not_take_names():
    def loss(tn, fp, fn, tp):
        return fp + 2 * fn + 0 * tn

    @wraps(loss)
    def decorated(*counts):
        return loss(*counts)

    found = CallableSetLoss(decorated)(tp=[1, 2], fp=[1, 0], fn=[1, 3], tn=[2, 0])
    assert found.tolist() == [3.0, 6.0]


def test_classes_take_counts_in_order():
    def swapped(self, tn, fp, fn, tp):
        return 1 - tp / 10

    with pytest.raises(
        TypeError, match=r"receives tp, fp, fn and tn in this order, but"
    ):
        type("Swapped", (SetLoss,), {"_losses": swapped})

    def renamed(self, a, b, c, d):
        return 1 - a / 10

    def packed(self, *counts):
        return 1 - counts[0] / 10

    def static(tp, fp, fn, tn):
        return 1 - tp / 10

    for losses in (renamed, packed, staticmethod(static)):
        loss = type("Other", (SetLoss,), {"_losses": losses})()
        assert loss(tp=5, fp=0, fn=0, tn=0) == 0.5


def test_functions_of_single_numbers_are_refused():
    with pytest.raises(ValueError, match=r"receives arrays of counts.*np.vectorize"):
        CallableSetLoss(lambda tp, fp, fn, tn: 0.0 if tp else 1.0)
    found = CallableSetLoss(np.vectorize(lambda tp, fp, fn, tn: 0.0 if tp else 1.0))
    assert found(tp=[1, 0], fp=1, fn=2, tn=3).tolist() == [0.0, 1.0]


def test_universal_functions_get_counts_in_order():
    weigh_four = np.frompyfunc(by_position, 4, 1)
    with pytest.raises(ValueError, match="dtype object"):
        CallableSetLoss(weigh_four)
    by_hand = CallableSetLoss(lambda *counts: np.array(weigh_four(*counts), float))
    assert by_hand(**COUNTS) == COST
    with pytest.raises((ValueError, TypeError)):
        CallableSetLoss(np.add)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda tn, fp, fn, positives: fp + fn, "'tn' would get tp. Name them tp, fp"),
        (lambda a, tp, c, d: c, "'tp' would get fp"),
        (lambda weight, fp, fn: fp + fn, "must take the four counts"),
        (lambda a, b, c: b, "must take the four counts.*too many positional"),
        (lambda a, b, c, d, e: b, "must take the four counts.*missing a required"),
        (partial(lambda tp, fp, fn, tn: fp, tn=0), "fixes tn, which"),
    ],
)
def test_functions_that_do_not_take_the_counts(function, message):
    for call in (CallableSetLoss, lambda loss: decode([0.5], loss=loss)):
        with pytest.raises(ValueError, match=message):
            call(function)


# Scores instead of losses

METRICS = [
    (f1_score, "metric of y_true and y_pred.*Pass the name 'f1', or such"),
    (partial(fbeta_score, beta=2.0), "Pass the name 'f_beta'"),
    (hamming_loss, "Pass the name 'hamming'"),
    (accuracy_score, "metric of y_true.*Pass one of the names, such as 'f1'"),
    (roc_auc_score, "metric of y_true"),
    (lambda y_true, y_pred: 1.0, "metric of y_true"),
    (make_scorer(f1_score), "scorer of estimators.*Pass the name 'f1'"),
    (
        get_selective_scorer("neg_aurc"),
        "scorer of estimators, but the loss of a set must be a function",
    ),
]


@pytest.mark.parametrize(
    ("metric", "message"), METRICS, ids=[message for _, message in METRICS]
)
def test_metrics_of_labels(metric, message):
    calls = [
        lambda: check_set_loss(metric),
        lambda: decode([0.3, 0.2], loss=metric),
        lambda: tune_threshold([0, 1], [0.3, 0.2], loss=metric),
        lambda: set_loss([0, 1], [0, 1], loss=metric),
        lambda: get_selective_scorer("neg_set_loss", loss=metric),
    ]
    for call in calls:
        with pytest.raises(ValueError, match=message):
            call()


def test_scores_of_counts():
    def f1(tp, fp, fn, tn):
        return 2 * tp / np.maximum(2 * tp + fp + fn, 1)

    with pytest.warns(
        RejectionWarning, match="Lower must be better, so pass one minus"
    ):
        decode([0.3, 0.2], loss=f1)
    with pytest.warns(RejectionWarning) as caught:
        check_set_loss(lambda tp, fp, fn, tn: (tp - 2) ** 2)
    assert "lower is better" not in str(caught[0].message)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_set_loss(lambda *counts: 1 - f1(*counts))


# Options beside losses that do not have them


@pytest.mark.parametrize(
    "loss",
    ["f1", "jaccard", "am", "hamming", JaccardLoss(), FBetaLoss(2.0), by_position,
     [[0, -2, 1, 1], [0, -1, 1, 1]]],
    ids=["f1", "jaccard", "am", "hamming", "object", "F2", "function", "constants"],
)  # fmt: skip
def test_beta_is_of_one_name(loss):
    for call in calls_with(loss, beta=2.0):
        with pytest.raises(
            ValueError, match=r"beta=2\.0 is not used by loss=.*\. (Us|Pa)"
        ):
            call()


@pytest.mark.parametrize(
    ("loss", "way_out"),
    [
        ("hamming", "Use a loss that can be 0/0"),
        ("balanced_accuracy", "Use a loss that can be 0/0"),
        (JaccardLoss(), "Pass it to the loss object itself"),
        (by_position, "Define the value of 0/0 in the function"),
        (CallableSetLoss(by_position), "Pass it to the loss object"),
    ],
    ids=["hamming", "balanced_accuracy", "object", "function", "callable object"],
)
def test_zero_division_is_of_names_and_constants(loss, way_out):
    for call in calls_with(loss, zero_division=1.0):
        with pytest.raises(
            ValueError, match=rf"zero_division=1.0 is not used.*{way_out}"
        ):
            call()


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


@given(z=st.sampled_from([0.25, 1.0]))
def test_zero_division_of_constants(z):
    loss = check_set_loss([[0, -2, 1, 1], [0, -1, 1, 1]], zero_division=z)
    assert type(loss) is FractionalLinearLoss
    assert loss(0, 0, 0, 3) == 1 - z
