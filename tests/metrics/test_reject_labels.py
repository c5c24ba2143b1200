"""Metrics of labels tell predictions that hold a reject label."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.naive_bayes import GaussianNB

from sklearn_reject import SelectiveClassifier, metrics
from sklearn_reject.exceptions import RejectionWarning
from sklearn_reject.losses import AbsoluteLoss, CostMatrixLoss, ZeroOneLoss
from sklearn_reject.metrics import RiskCoverageDisplay, aurc_score

rng = np.random.default_rng(0)
Y_TRUE = rng.integers(0, 3, 60)
Y_PRED = np.where(rng.random(60) < 0.7, Y_TRUE, rng.integers(0, 3, 60))
UNCERTAINTY = rng.random(60)
REJECTED = UNCERTAINTY > 0.8
NAMES = np.array(["ant", "bee", "cat"])
COSTS = [[0, 1, 5], [2, 0, 1], [3, 4, 0]]
METRICS = {
    "risk_coverage_curve": {},
    "aurc_score": {},
    "augrc_score": {},
    "sele_score": {},
    "selective_risk_at_coverage_score": {"coverage": 0.6},
    "coverage_at_risk_score": {"risk": 2.0},
}
AUTOMATIC = "stands for rejected samples with reject_label='auto'.*`predict_label`"


@pytest.mark.parametrize("kind", ["numbers", "-1 is a class", "names", "objects"])
@pytest.mark.parametrize("name", METRICS)
def test_the_automatic_reject_label_is_refused(name, kind):
    """What `predict` returns, of a classifier that is fitted here."""
    labels = {
        "numbers": np.arange(3),
        "-1 is a class": np.array([-1, 0, 1]),
        "names": NAMES,
        "objects": NAMES.astype(object),
    }[kind]
    X, y = make_classification(120, n_informative=3, n_classes=3, random_state=0)
    model = SelectiveClassifier(GaussianNB(), target_coverage=0.7, random_state=0)
    model.fit(X, labels[y])
    metric, options = getattr(metrics, name), METRICS[name]
    uncertainty = model.uncertainty(X)
    with pytest.raises(ValueError, match=AUTOMATIC):
        metric(labels[y], model.predict(X), uncertainty, **options)
    metric(labels[y], model.predict_label(X), uncertainty, **options)


@pytest.mark.parametrize(
    "loss",
    ["zero_one", ZeroOneLoss(), COSTS, CostMatrixLoss(COSTS, labels=[0, 1, 2])],
    ids=["name", "0/1", "table", "table with labels"],
)
def test_losses_of_labels(loss):
    with pytest.raises(ValueError, match=AUTOMATIC):
        aurc_score(Y_TRUE, np.where(REJECTED, -1, Y_PRED), UNCERTAINTY, loss=loss)
    # Another unknown label may be a class.
    odd = np.where(REJECTED, 9, Y_PRED)
    if isinstance(loss, CostMatrixLoss):
        with pytest.raises(ValueError, match="not one of the labels"):
            aurc_score(Y_TRUE, odd, UNCERTAINTY, loss=loss)
        return
    y_true = Y_TRUE
    if loss is COSTS:  # has a row for 9, but none for a fourth label
        y_true = np.minimum(Y_TRUE, 1)
        odd = np.where(REJECTED, 9, np.minimum(Y_PRED, 1))
    with pytest.warns(RejectionWarning, match=r"holds 9.*`predict_label`.*labels="):
        aurc_score(y_true, odd, UNCERTAINTY, loss=loss)


@pytest.mark.parametrize(
    "loss",
    ["absolute", AbsoluteLoss(), "squared", lambda y, k: abs(y - k)],
    ids=lambda loss: getattr(loss, "__name__", str(loss)),
)
def test_other_losses_of_whole_numbers_refuse_the_automatic_label_only(loss):
    with pytest.raises(ValueError, match=AUTOMATIC):
        aurc_score(Y_TRUE, np.where(REJECTED, -1, Y_PRED), UNCERTAINTY, loss=loss)
    counts = np.where(REJECTED, 9, Y_PRED)
    assert aurc_score(Y_TRUE, counts, UNCERTAINTY, loss=loss) > 0
    below = np.where(REJECTED, -1.0, Y_PRED)  # regression, of what is counted
    assert aurc_score(Y_TRUE, below, UNCERTAINTY, loss=loss) > 0
    targets = rng.normal(size=60)
    rounded = targets.round()
    assert -1 in rounded
    for predictions in (rounded, rounded.astype(int)):
        assert aurc_score(targets, predictions, UNCERTAINTY, loss=loss) > 0


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


def test_one_class_of_two_may_be_missing():
    """Of -1 and 1, where -1 may be both a class and a reject label."""
    ones = np.ones(60, dtype=int)
    with pytest.warns(RejectionWarning, match="y_pred holds -1"):
        aurc_score(ones, np.where(REJECTED, -1, 1), UNCERTAINTY)
    signs = np.where(Y_TRUE > 0, 1, -1)
    assert aurc_score(signs, np.where(REJECTED, -1, 1), UNCERTAINTY) > 0


@pytest.mark.parametrize("kind", [np.int64, np.int8, float, bool, str, object])
def test_predictions_of_all_kinds_hold_no_reject_label(kind):
    y_true, y_pred = Y_TRUE.astype(kind), Y_PRED.astype(kind)
    assert aurc_score(y_true, y_pred, UNCERTAINTY) >= 0
    for wide in ([-(2**40), 3, 2**40], np.array([-128, 3, 127], dtype=np.int8)):
        labels = np.array(wide)
        assert aurc_score(labels[Y_TRUE], labels[Y_PRED], UNCERTAINTY) > 0
        odd = np.where(REJECTED, labels[0] + 1, labels[Y_PRED])
        with pytest.warns(RejectionWarning, match=f"y_pred holds {labels[0] + 1},"):
            aurc_score(labels[Y_TRUE], odd, UNCERTAINTY)


def test_labels_beyond_signed_integers():
    labels = np.array([2**64 - 1, 2**64 - 3, 2**63], dtype=np.uint64)
    assert aurc_score(labels[Y_TRUE], labels[Y_PRED], UNCERTAINTY) > 0
    odd = np.where(REJECTED, labels[0] - np.uint64(1), labels[Y_PRED])
    with pytest.warns(RejectionWarning, match=f"y_pred holds {2**64 - 2},"):
        aurc_score(labels[Y_TRUE], odd, UNCERTAINTY)


def test_targets_judged_as_labels_are_told_of_other_losses():
    targets = rng.normal(size=60)
    with pytest.warns(RejectionWarning, match=r"a regressor.* loss='squared'\."):
        aurc_score(targets, targets + 0.1, UNCERTAINTY)


def test_scores_and_losses_in_the_place_of_labels_are_told():
    """The arguments of a function that took scores and losses."""
    errors = (Y_TRUE != Y_PRED).astype(int)
    with pytest.warns(RejectionWarning, match="with None as y_true and y_pred"):
        aurc_score(UNCERTAINTY, errors, np.ones(60))
    with pytest.warns(RejectionWarning, match="with None as y_true and y_pred"):
        aurc_score(UNCERTAINTY, rng.random(60), np.ones(60))


def test_a_warning_points_at_the_caller():
    for metric in (aurc_score, metrics.oscr_score):
        y_true = Y_TRUE.copy()
        y_true[0] = -1 if metric is metrics.oscr_score else 0
        with pytest.warns(RejectionWarning) as record:
            metric(y_true, np.where(REJECTED, 9, Y_PRED), UNCERTAINTY)
        assert record[0].filename == __file__


def test_displays_of_predictions_look_at_them_and_of_estimators_do_not():
    plt = pytest.importorskip("matplotlib.pyplot")
    with pytest.raises(ValueError, match=AUTOMATIC):
        RiskCoverageDisplay.from_predictions(
            Y_TRUE, np.where(REJECTED, -1, Y_PRED), UNCERTAINTY
        )
    X = rng.normal(size=(60, 2)) + Y_TRUE[:, np.newaxis] - 1
    model = GaussianNB().fit(X, Y_TRUE - 1)
    rows = (Y_TRUE > 0) & (model.predict(X) < 1)
    assert set(model.predict(X[rows])) == {-1, 0}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        RiskCoverageDisplay.from_estimator(model, X[rows], Y_TRUE[rows] - 1)
    plt.close("all")
