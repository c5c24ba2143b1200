"""Losses of sets: what they are, what users write, and what they refuse."""

import warnings
from functools import partial
from itertools import permutations

import numpy as np
import pytest
from sklearn.metrics import f1_score, make_scorer
from sklearn.naive_bayes import GaussianNB

from sklearn_reject import ExpectedLossDecoder
from sklearn_reject.decoding import decode, expected_loss_curve, tune_threshold
from sklearn_reject.exceptions import RejectionWarning
from sklearn_reject.losses import check_set_loss
from sklearn_reject.metrics import get_selective_scorer, set_loss
from tests.decoding.set_oracle import (
    BETAS,
    DEFINITIONS,
    KEYS,
    LOSSES,
    ZERO_DIVISIONS,
    expected_losses,
    options_of,
    priced,
    recall_loss,
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
        assert 0 <= found.min() <= found.max() <= 1


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_what_losses_say_of_themselves(key):
    loss = LOSSES[key]
    for n in (2, 3, 8, 13):
        tables = tables_of(n)
        swapped = tables[(tables[:, 1] > 0) & (tables[:, 2] > 0)]
        before, after = loss(*swapped.T), loss(*np.add(swapped, [1, -1, -1, 1]).T)
        assert (after <= before + 1e-12).all()
    assert np.abs(loss(*TABLES.T)).max() <= (loss.largest or np.inf)
    if loss.spares_negatives:  # one item more that is negative: not to predict it
        left, taken = (TABLES + cell for cell in (np.eye(4)[3], np.eye(4)[1]))
        assert (loss(*taken.T) >= loss(*left.T) - 1e-15).all()


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, bool, np.uint64])
def test_counts_of_any_type(dtype):
    cells = np.array([1, 0, 1, 1], dtype=dtype)
    assert check_set_loss("f1")(*cells) == pytest.approx(1 / 3)
    large = np.array([200, 100, 200, 100], dtype=np.uint8)  # sums beyond 255
    assert check_set_loss("jaccard")(*large) == pytest.approx(0.6)


@pytest.mark.parametrize("beta", [1e-200, 1e-6, 1e6])
def test_extreme_beta(beta):
    loss = check_set_loss("f_beta", beta=beta, zero_division=1.0)
    assert loss(0, 0, 3, 2) == 1.0  # there are positives: nothing is 0/0
    assert loss(0, 0, 0, 5) == 0.0
    assert loss(2, 2, 3, 0) == pytest.approx(0.5 if beta < 1 else 0.6)


COUNTS = {"tp": 3.0, "fp": 5.0, "fn": 7.0, "tn": 11.0}


class Priced:
    def __call__(self, tn, fp, fn, tp):
        return fp + 10 * fn

    @classmethod
    def of_class(cls, fn, fp, **others):
        return fp + 10 * fn


def works_in_place(tp, fp, fn, tn):
    fp += 10 * fn
    fn *= 0
    return fp


FUNCTIONS = [
    works_in_place,
    *(eval(f"lambda {', '.join(o)}: fp + 10 * fn") for o in permutations(COUNTS)),
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
    eta = np.array([0.6, 0.3, 0.1])
    curve = expected_loss_curve(eta, loss=function)
    np.testing.assert_allclose(curve, expected_losses(eta, loss), atol=1e-12)


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


def test_functions_are_checked_on_each_call():
    def gives_up(tp, fp, fn, tn):
        return np.where(tp + fp + fn + tn > 10, np.nan, fp + fn)

    loss = check_set_loss(gives_up)
    assert loss(1, 2, 3, 4) == 5.0
    with pytest.raises(ValueError, match="must return finite numbers, got nan"):
        loss(5, 2, 3, 4)


def only_of(*table):
    wanted = dict(zip(COUNTS, table, strict=True))
    return lambda **counts: 1.0 * np.all([counts[n] == wanted[n] for n in wanted], 0)


RISING = [lambda tp, fp, fn, tn: tp * fp, lambda tp, fp, fn, tn: (tp - 2) ** 2]
RISING += [only_of(1, 8, 0, 1), only_of(1, 0, 8, 1)]
RISING += [only_of(9, 0, 0, 1), only_of(1, 0, 0, 9)]


@pytest.mark.parametrize("loss", RISING)
def test_losses_that_rise_with_true_positives(loss):
    """Every swap of a false positive and a false negative of ten items is tried."""
    with pytest.warns(RejectionWarning, match="may then not be the best one"):
        check_set_loss(loss)


def test_scores_of_counts():
    def f1(tp, fp, fn, tn):
        return 2 * tp / np.maximum(2 * tp + fp + fn, 1)

    for call in calls_with(f1):
        with pytest.warns(RejectionWarning, match="so pass one minus it"):
            call()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_set_loss(lambda **counts: 1 - f1(**counts))
        check_set_loss(lambda tp, fp, fn, tn: 0.1 * (tp + fp))


BAD_FUNCTIONS = [
    (lambda fp, **_: 0.0, "one number for each confusion.* got shape .* whole arrays"),
    (lambda fp, **_: fp[:-1], "one number for each confusion matrix"),
    (lambda fp, **_: fp.astype(str), "one number for each .* dtype <U"),
    (lambda fp, **_: fp * 1j, "one number for each .* dtype complex"),
    (lambda fp, **_: fp / 0 * 0, "must return finite numbers, got nan.* of 0/0"),
    (lambda fp, **_: fp + np.inf, "must return finite numbers, got inf"),
]
NO_COUNTS = [
    *(f1_score, partial(f1_score, average="micro"), make_scorer(f1_score)),
    *(get_selective_scorer("neg_aurc"), lambda a, b, c, d: b),
    *(lambda tp, fp, fn: fp, lambda *counts: counts[1]),
]
NO_FUNCTION = "must be a function of the counts tp, fp, fn and tn.*such as 'f1'"
# Options that a loss does not heed.
UNUSED = [
    *((loss, "beta", 2.0) for loss in ("f1", "am", "hamming", priced, recall_loss)),
    (check_set_loss("f_beta"), "beta", 2.0),
    *(
        (loss, "zero_division", 1.0)
        for loss in ("hamming", "balanced_accuracy", priced)
    ),
    (check_set_loss("jaccard"), "zero_division", 1.0),
]
NAMES = ("F1", "", None, 3, [0, -2, 1, 1], {"am": 1}, Priced)
BETAS_BEYOND = (0, -1, np.nan, np.inf, 1e7, "1", True, None)
SCORES_BEYOND = (-0.1, 1.1, np.nan, "warn", None, False)
Z = "zero_division"
REFUSED = [
    *({"loss": function, "message": message} for function, message in BAD_FUNCTIONS),
    *({"loss": function, "message": NO_FUNCTION} for function in NO_COUNTS),
    *(
        {"loss": loss, name: value, "message": f"{name}={value} is not used by.* Set"}
        for loss, name, value in UNUSED
    ),
    *({"loss": loss, "message": r"one of \['am', .*, got "} for loss in NAMES),
    *({"beta": b, "message": r"beta must be .*0, 1e\+06\], "} for b in BETAS_BEYOND),
    *({Z: z, "message": f"{Z} must be .*0, 1\\], got "} for z in SCORES_BEYOND),
]


@pytest.mark.filterwarnings("ignore:invalid value", "ignore:divide by zero")
@pytest.mark.parametrize("options", REFUSED, ids=lambda row: row["message"][:20])
def test_what_is_refused_wherever_a_loss_is_taken(options):
    options = {"loss": "am", **options}
    message = options.pop("message")
    for call in calls_with(**options):
        with pytest.raises(ValueError, match=message):
            call()
