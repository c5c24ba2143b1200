"""Metrics of labels tell predictions that hold a reject label."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

from sklearn_reject import SelectiveClassifier
from sklearn_reject.exceptions import RejectionWarning
from sklearn_reject.losses import CostMatrixLoss
from sklearn_reject.metrics import RiskCoverageDisplay, aurc_score
from tests.metrics.tables import ORDER, Data, draw_data

DATA = draw_data(n=60, with_ood=False)
Y_TRUE, Y_PRED = DATA.y_true, DATA.y_pred
UNCERTAINTY = np.random.default_rng(1).random(60)
TARGETS = np.random.default_rng(2).normal(size=60)
REJECTED = UNCERTAINTY > 0.8
SOME_ARE = np.where(REJECTED, -1, Y_PRED)
NAMES = np.array(["ant", "bee", "cat"])
COSTS = [[0, 1, 5], [2, 0, 1], [3, 4, 0]]
AUTOMATIC = "is that of reject_label='auto'.*`predict_label`"


@pytest.mark.parametrize(
    "labels",
    [np.arange(3), np.array([-1, 0, 1]), NAMES, NAMES.astype(object)],
    ids=["numbers", "-1 is a class", "names", "objects"],
)
def test_the_automatic_reject_label_is_refused(labels):
    """What `predict` returns, of a classifier that is fitted here."""
    X = np.column_stack([DATA.uncertainty + Y_TRUE, Y_TRUE]) + TARGETS[:, np.newaxis]
    model = SelectiveClassifier(GaussianNB(), target_coverage=0.7, cv=2)
    model.fit(X, labels[Y_TRUE])
    samples = labels[Y_TRUE], model.predict(X), model.uncertainty(X)
    data = Data(*samples[:2], y_second=None, uncertainty=samples[2], novelty=None)
    for metric in ORDER.values():
        with pytest.raises(ValueError, match=AUTOMATIC):
            metric(data, as_labels=True)
        metric(replace(data, y_pred=model.predict_label(X)), as_labels=True)
    with pytest.raises(ValueError, match=AUTOMATIC):
        RiskCoverageDisplay.from_predictions(*samples)


@pytest.mark.parametrize(
    "loss",
    ["zero_one", COSTS, CostMatrixLoss(COSTS, labels=[0, 1, 2])],
    ids=["name", "table", "table with labels"],
)
def test_losses_of_labels_tell_unknown_labels(loss):
    with pytest.raises(ValueError, match=AUTOMATIC):
        aurc_score(Y_TRUE, SOME_ARE, UNCERTAINTY, loss=loss)
    # Another unknown label may be a class, such as the third one of the table.
    y_true = np.minimum(Y_TRUE, 1)
    odd = np.where(REJECTED, 9, np.minimum(Y_PRED, 1))
    if isinstance(loss, CostMatrixLoss):
        with pytest.raises(ValueError, match="not one of the labels"):
            aurc_score(y_true, odd, UNCERTAINTY, loss=loss)
    else:
        words = r"holds 9.*`predict_label`.*labels="
        with pytest.warns(RejectionWarning, match=words) as record:
            aurc_score(y_true, odd, UNCERTAINTY, loss=loss)
        assert record[0].filename == __file__


@pytest.mark.parametrize("loss", ["absolute", "squared", lambda y, k: abs(y - k)])
def test_other_losses_of_whole_numbers_refuse_the_automatic_label_only(loss):
    with pytest.raises(ValueError, match=AUTOMATIC):
        aurc_score(Y_TRUE, SOME_ARE, UNCERTAINTY, loss=loss)
    rounded = np.append(-1.0, TARGETS[1:].round())
    for y_true, y_pred in (
        (Y_TRUE, np.where(REJECTED, 9, Y_PRED)),
        (Y_TRUE, SOME_ARE.astype(float)),  # regression, of what is counted
        (TARGETS, rounded),
        (TARGETS, rounded.astype(int)),
    ):
        assert aurc_score(y_true, y_pred, UNCERTAINTY, loss=loss) > 0


def test_labels_of_all_types():
    for labels, new in (
        (np.array([-(2**40), 3, 2**40]), 1 - 2**40),
        (np.array([2**63, 2**64 - 3, 2**64 - 1], dtype=np.uint64), 2**63 + 1),
        (np.array([0.5, 3, 7]), 1.5),
        (np.array([1, 3, 7], dtype=object), 2),
    ):
        assert aurc_score(labels[Y_TRUE], labels[Y_PRED], UNCERTAINTY) > 0
        odd = np.where(REJECTED, np.asarray(new, labels.dtype), labels[Y_PRED])
        with pytest.warns(RejectionWarning, match=f"y_pred holds {new},"):
            aurc_score(labels[Y_TRUE], odd, UNCERTAINTY)


def test_labels_say_what_is_a_class():
    here = Y_TRUE < 2
    samples = Y_TRUE[here], np.where(REJECTED, 2, Y_TRUE)[here], UNCERTAINTY[here]
    with pytest.warns(RejectionWarning, match="y_pred holds 2, which is not in"):
        value = aurc_score(*samples)
    assert aurc_score(*samples, labels=[0, 1, 2]) == value
    # Of the classes -1, 0 and 1 the first is missing.
    samples = Y_TRUE[here], np.where(REJECTED, -1, Y_TRUE)[here], UNCERTAINTY[here]
    with pytest.raises(ValueError, match="pass all classes as labels="):
        aurc_score(*samples)
    assert aurc_score(*samples, labels=[-1, 0, 1]) == value
    assert aurc_score(*samples, loss="absolute", labels=[-1, 0, 1]) > 0
    # Of -1 and 1, -1 may be both a class and a reject label.
    ones = np.ones(60, dtype=int)
    with pytest.warns(RejectionWarning, match="y_pred holds -1"):
        aurc_score(ones, np.where(REJECTED, -1, 1), UNCERTAINTY)
    signs = np.where(Y_TRUE > 0, 1, -1)
    assert aurc_score(signs, np.where(REJECTED, -1, 1), UNCERTAINTY) > 0


@pytest.mark.parametrize(
    ("samples", "message"),
    [
        # Targets, and the arguments of a function that took scores and losses.
        ((TARGETS, TARGETS + 0.1), "A regressor needs loss='squared'"),
        ((UNCERTAINTY, 1 * (Y_TRUE != Y_PRED)), "are loss= with None as y_true"),
    ],
)
def test_what_are_no_labels(samples, message):
    with pytest.warns(RejectionWarning, match=message):
        aurc_score(*samples, np.ones(60))
