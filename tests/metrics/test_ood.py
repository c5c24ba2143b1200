"""Metrics and scorers with OOD samples: which these are, and the risk under bounds."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.ensemble import IsolationForest
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.naive_bayes import GaussianNB

from sklearn_reject import DoubleScoreOODClassifier, metrics
from sklearn_reject.datasets import make_fpp23_mixture
from sklearn_reject.exceptions import RejectionWarning
from sklearn_reject.metrics import aurc_score, get_selective_scorer
from sklearn_reject.selection import (
    InfeasibleTargetError,
    tune_double_score,
    tune_single_score,
)
from tests.metrics.tables import OF_ERRORS, OF_NOVELTY, cases_of, draw_data
from tests.origin_samples import origin_samples, weights_of

DATA = draw_data(n=90)
Y_TRUE, Y_PRED, UNCERTAINTY = DATA.y_true, DATA.y_pred, DATA.uncertainty
IS_OOD = Y_TRUE == -1
WEIGHTS = DATA.weight + 0.1
COSTS = [[0, 1, 5], [2, 0, 1], [3, 4, 0]]
RATES = {"min_tpr": 0.3, "max_fpr": 0.7}
PRECISION = {"min_precision": 0.7, "min_tpr": 0.6, "ood_prior": 0.25}
BOUNDS = [
    ("selective_risk_at_tpr_fpr_score", RATES),
    ("selective_risk_at_precision_recall_score", PRECISION),
]

# Whether predictions are taken, too.
OF_ORIGINS = [
    ("ood_auroc_score", {}),
    ("ood_aupr_score", {"positive": "id"}),
    ("fpr_at_tpr_score", {"positive": "id", "tpr": 0.8}),
]
ALL = [(*case, False) for case in OF_ORIGINS] + [(*case, True) for case in BOUNDS]


def each(cases):
    return pytest.mark.parametrize("case", cases, ids=[case[0] for case in cases])


JUDGED = [case for case in ALL if case[2]]


def call(case, y_true=Y_TRUE, uncertainty=UNCERTAINTY, y_pred=Y_PRED, **more):
    name, options, takes_labels = case
    labels = (y_pred,) if takes_labels else ()
    return getattr(metrics, name)(y_true, *labels, uncertainty, **{**options, **more})


def brute_force_risk(sample, allows, min_tpr):
    """Return the least risk of all thresholds, None where there is none."""
    scores, losses, is_ood, _ = sample
    weights = weights_of(sample)
    risks = []
    for value in [-np.inf, *np.unique(scores[scores < np.inf])]:
        accepted = weights * (scores <= value)
        tpr = accepted[~is_ood].sum() / weights[~is_ood].sum()
        fpr = accepted[is_ood].sum() / weights[is_ood].sum()
        if tpr >= min_tpr - 1e-12 and allows(tpr, fpr):
            inside = accepted[~is_ood]
            risks.append(inside @ losses[~is_ood] / inside.sum())
    return min(risks, default=None)


@given(
    origin_samples(most_loss=1),
    st.integers(1, 12),
    st.sampled_from([0, 1 / 6, 1 / 2, 1]),
    st.sampled_from([0.5, 0.9, 1]),
)
def test_risks_against_all_thresholds(sample, twelfths, max_fpr, min_precision):
    def within_precision(tpr, fpr):
        return 0.75 * tpr >= (0.75 * tpr + 0.25 * fpr) * (min_precision - 1e-12)

    tpr = twelfths / 12
    rates = {"min_tpr": tpr, "max_fpr": max_fpr}
    precision = {"min_precision": min_precision, "ood_prior": 0.25, "min_tpr": tpr}
    models = [
        (BOUNDS[0][0], rates, lambda _, fpr: fpr <= max_fpr + 1e-12),
        (BOUNDS[1][0], precision, within_precision),
    ]
    scores, losses, is_ood, weights = sample
    labels = np.where(is_ood, -1, 4), np.where(losses > 0, 5, 4)
    # With a single ID class, -1 would be taken for the other one.
    options = {"ood_label": -1, "sample_weight": weights, "labels": [4, 5]}
    for name, bounds, allows in models:
        expected = brute_force_risk(sample, allows, tpr)
        call = partial(getattr(metrics, name), *labels, scores, **bounds, **options)
        if expected is None:
            with pytest.warns(UndefinedMetricWarning, match="risk is set to NaN"):
                assert np.isnan(call())
        else:
            assert call() == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(("name", "bounds"), BOUNDS)
@pytest.mark.parametrize("randomize", [False, True])
def test_risk_of_two_scores_is_that_of_the_tuned_rule(name, bounds, randomize):
    options = {"randomize": randomize, "sample_weight": WEIGHTS, **bounds}
    sample = UNCERTAINTY, DATA.novelty, DATA.losses, IS_OOD
    rule = tune_double_score(*sample, **options)
    metric = getattr(metrics, name)
    risk = metric(Y_TRUE, Y_PRED, UNCERTAINTY, novelty=DATA.novelty, **options)
    assert risk == rule.selective_risk
    for score in (UNCERTAINTY, DATA.novelty):
        assert risk <= metric(Y_TRUE, Y_PRED, score, **options) + 1e-12


def test_unattainable_bounds_say_what_is_attainable():
    bounds = {"min_tpr": 1.0, "max_fpr": 0.0}
    with pytest.raises(InfeasibleTargetError, match=r"min_tpr=1.*max_fpr=0") as info:
        tune_single_score(UNCERTAINTY, DATA.losses, IS_OOD, randomize=False, **bounds)
    samples = Y_TRUE, Y_PRED, UNCERTAINTY
    with pytest.warns(UndefinedMetricWarning) as told:
        risk = metrics.selective_risk_at_tpr_fpr_score(*samples, **bounds)
    assert np.isnan(risk)
    assert str(told[0].message).startswith(str(info.value))
    options = {**bounds, "infeasible": 3.0}  # no warning, which would be an error here
    assert metrics.selective_risk_at_tpr_fpr_score(*samples, **options) == 3


@each(JUDGED)
def test_the_loss_never_sees_ood_labels(case):
    seen = []

    def record(y_true, y_pred):
        seen.append((set(y_true), len(y_pred)))
        return 1.0 * (y_true != y_pred)

    assert call(case, loss=record) == call(case)
    assert seen == [({0, 1, 2}, np.count_nonzero(~IS_OOD))]
    # Nor has it a row in a cost matrix, and what an OOD sample costs does not count.
    losses = np.where(IS_OOD, 0.5, np.array(COSTS)[np.maximum(Y_TRUE, 0), Y_PRED])
    assert call(case, loss=COSTS) == call(case, y_pred=None, loss=losses)


@each(JUDGED)
def test_reject_labels_of_id_samples_are_told(case):
    """-2 where -1 is a class, as SelectiveClassifier has it; 99 stands for OOD."""
    y_true, y_pred = np.where(IS_OOD, 99, Y_TRUE - 1), Y_PRED - 1
    options = {"y_true": y_true, "ood_label": 99}
    rejected = UNCERTAINTY > 0.8
    with pytest.raises(ValueError, match=r"y_pred holds -2.*`predict_label`"):
        call(case, y_pred=np.where(rejected, -2, y_pred), **options)
    with pytest.warns(RejectionWarning, match=r"y_pred holds 7.*`predict_label`"):
        call(case, y_pred=np.where(rejected, 7, y_pred), **options)
    # Of OOD samples, predictions are not looked at.
    found = call(case, y_pred=np.where(IS_OOD, -2, y_pred), **options)
    assert found == call(case, y_pred=y_pred, **options)


@each(JUDGED)
def test_minus_one_is_a_class_where_one_of_two_is_predicted(case):
    y_true, y_pred = np.where(Y_TRUE == 0, 1, -1), np.where(Y_PRED == 0, 1, -1)
    part = y_true == 1  # such as a fold without the other class
    for rows in (part | True, part, ~part):
        samples = y_true[rows], UNCERTAINTY[rows], y_pred[rows]
        with pytest.warns(UndefinedMetricWarning, match="unless -1 is one of two clas"):
            assert np.isnan(call(case, *samples, labels=[-1, 1]))
    with pytest.raises(ValueError, match="y_pred holds the OOD label -1"):
        call(case, y_true, UNCERTAINTY, y_pred, ood_label=-1)


@each(ALL)
def test_without_ood_samples_there_is_a_warning(case):
    """OOD samples of no weight are none: their FPR of zero would keep any bound."""
    rows = np.flatnonzero(~IS_OOD)
    none = {"y_true": Y_TRUE[rows], "uncertainty": UNCERTAINTY[rows]}
    none["y_pred"] = Y_PRED[rows]
    message = r"undefined without OOD(?s:.*)use stratified folds"
    for options in (none, {"sample_weight": WEIGHTS * ~IS_OOD}):
        with pytest.warns(UndefinedMetricWarning, match=message) as told:
            assert np.isnan(call(case, **options))
        assert told[0].filename == __file__


INFINITE = np.where(np.arange(90) == 7, np.inf, UNCERTAINTY)
GAP = np.where(np.arange(90) == 4, None, Y_TRUE.astype(object))
REJECTED = np.where(UNCERTAINTY > 0.8, -1, Y_PRED)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"y_true": np.full(90, -1)}, "y_true holds the OOD label -1 only"),
        ({"y_true": GAP}, r"y_true has no label .* in row 4 .*ood_label"),
        ({"ood_label": "ood"}, "ood_label='ood', but y holds numbers"),
        ({"y_true": np.array([*Y_TRUE[1:], "ood"], dtype=object)}, "of one kind"),
        ({"y_pred": REJECTED}, r"y_pred holds the OOD label -1.*predict_label"),
        ({"y_pred": Y_PRED[:4]}, "y_pred has 4 elements, but there are 90"),
        ({"y_pred": Y_PRED.astype(str)}, "mix strings and numbers"),
        ({"y_pred": None}, "y_pred is None, so loss= must be the losses"),
        ({"y_pred": None, "loss": [0, 1]}, "loss has 2 elements, but there are 90"),
        ({"novelty": [1, 2, 3]}, "novelty has 3 elements, but there are 90"),
        ({"uncertainty": INFINITE, "novelty": INFINITE}, "finite, got inf in row 7"),
    ],
)
def test_bad_input(change, message):
    for case in JUDGED if "y_pred" in change else ALL:
        with pytest.raises(ValueError, match=message):
            call(case, **change)


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("tpr_fpr_score", {"min_tpr": 0}, r"min_tpr must be in \(0, 1"),
        ("tpr_fpr_score", {"max_fpr": None}, "max_fpr must be a number"),
        ("tpr_fpr_score", {"randomize": "yes"}, "randomize must be"),
        ("tpr_fpr_score", {"infeasible": -1.0}, "infeasible must be in"),
        ("precision_recall_score", {"min_precision": 1.1}, "min_precision must be in"),
        ("precision_recall_score", {"min_tpr": None}, "min_tpr must be a number"),
        ("precision_recall_score", {"ood_prior": 1}, "ood_prior must be"),
        ("curve", {"max_fpr": 0.2}, "Pass is_ood \\(ood_label"),
    ],
)
def test_bad_bounds(name, change, message):
    cases = [*ALL, ("risk_coverage_curve", {}, True)]
    (case,) = (case for case in cases if case[0].endswith(name) and case[2])
    with pytest.raises(ValueError, match=message):
        call(case, **change)


X, y = make_fpp23_mixture(600, random_state=0)
INSIDE = y != -1
TRAIN, TEST = slice(300), slice(300, None)
INLIERS = GaussianNB().fit(X[TRAIN][INSIDE[TRAIN]], y[TRAIN][INSIDE[TRAIN]])
NOVEL = cases_of(OF_NOVELTY)
each_novel = pytest.mark.parametrize(("name", "scorer", "metric"), NOVEL)


def double(**options):
    options = {"min_tpr": 0.3, "novelty_score": "msp", "cv": 2, **options}
    return DoubleScoreOODClassifier(GaussianNB(), random_state=0, **options)


@pytest.fixture(scope="module")
def fitted():
    return double().fit(X[TRAIN], y[TRAIN])


@pytest.mark.parametrize("label", [99, "ood"])
def test_the_ood_label_is_that_of_the_estimator(label):
    names = np.array([label, *(["a", "b", "c"] if label == "ood" else [1, 2, 3])])
    labels = names[np.maximum(y, 0)]
    model = double(ood_label=label).fit(X[TRAIN], labels[TRAIN])
    Z, truth = X[TEST], y[TEST]
    assert (model.predict(Z) == model.reject_label_).any()
    numbers = np.searchsorted(names[1:], model.predict_label(Z)) + 1
    for _, scorer, metric in NOVEL:
        if label == 99 or "squared" not in repr(scorer):
            expected = metric(truth, numbers, model.uncertainty(Z))
            value = scorer(model, Z, labels[TEST])
            assert value == pytest.approx(expected, rel=1e-12)


@each_novel
def test_which_samples_are_ood(name, scorer, metric, fitted):
    Z, truth = X[TEST], y[TEST]
    given = partial(get_selective_scorer, name, **metric.args[1])
    moved = np.where(truth == -1, 99, truth)
    assert given(ood_label=99)(fitted, Z, moved) == scorer(fitted, Z, truth)
    inside = truth != -1
    for each in (scorer, given(ood_label=None)):
        with pytest.warns(UndefinedMetricWarning, match="without OOD"):
            assert np.isnan(each(fitted, Z[inside], truth[inside]))
    odd = truth.copy()
    odd[np.flatnonzero(~inside)[5:]] = 7
    for model in (fitted, INLIERS):
        known = f"{type(model).__name__} knows nor ood_l"
        with pytest.warns(RejectionWarning, match=rf"y holds 7 \(\d+ sam.*{known}"):
            assert np.isfinite(scorer(model, Z, odd))
    # -1 is a class where the classifier was fitted on it, as one of two.
    signs = np.where(y == 1, -1, 1)[INSIDE]
    model = GaussianNB().fit(X[INSIDE], signs)
    for rows in (slice(None), signs == 1, signs == -1):
        with pytest.warns(UndefinedMetricWarning, match="unless -1 is one of two cl"):
            assert np.isnan(scorer(model, X[INSIDE][rows], signs[rows]))
    part = (truth == -1) | (truth == 1)
    assert np.isfinite(scorer(INLIERS, Z[part], truth[part]))


@each_novel
def test_what_cannot_be_scored(name, scorer, metric, fitted):
    Z, truth = X[TEST], y[TEST]
    detector = IsolationForest(n_estimators=5, random_state=0).fit(Z)
    mistaken = GaussianNB().fit(X, y)
    rows = mistaken.predict(Z) != -1
    wild = double(wild_label=99, wild_share=1.0)
    labels = np.where(y == -1, 99, y)
    wild.fit(X[TRAIN], labels[TRAIN])
    for model, samples, message in (
        (detector, (Z, truth), "IsolationForest is an outlier detector"),
        (INLIERS, (Z, None), r"y_true is None\. Pass one label per sample"),
        (fitted, (Z, truth.astype(str)), "labels in `fit` and later, of one kind"),
        (wild, (Z, labels[TEST]), r"y holds wild_label=99.*Mark them"),
        (mistaken, (Z[rows], truth[rows]), "GaussianNB hold the OOD label -1.*fit the"),
    ):
        with pytest.raises(ValueError, match=message):
            scorer(model, *samples)
    for _, of_errors, _ in cases_of(OF_ERRORS):
        with pytest.raises(ValueError, match=r"y holds wild_label=99.*Mark them"):
            of_errors(wild, Z, labels[TEST])


def test_a_loss_of_classes_never_sees_the_ood_label():
    """In a cost matrix; for 0/1 loss it is an error whatever is predicted."""
    model = double(loss=3.0 * (1 - np.eye(3))).fit(X[TRAIN], y[TRAIN])
    Z, truth = X[TEST], y[TEST]
    area = get_selective_scorer("neg_aurc")
    with pytest.raises(ValueError, match="y_true holds the label -1, which is not"):
        area(model, Z, truth)
    assert get_selective_scorer("neg_aurc", loss="zero_one")(model, Z, truth) < 0
    inside = truth != -1
    Z_in, y_in = Z[inside], truth[inside]
    expected = aurc_score(y_in, model.predict_label(Z_in), model.uncertainty(Z_in))
    assert area(model, Z_in, y_in) == pytest.approx(-3 * expected)
    # With OOD samples, the loss of the estimator is the default, too.
    bounds, name = {"min_tpr": 0.4, "max_fpr": 0.9}, "neg_selective_risk_at_tpr_fpr"
    make = partial(get_selective_scorer, name, **bounds)
    as_errors = make(loss="zero_one")(model, Z, truth)
    assert make()(model, Z, truth) == pytest.approx(3 * as_errors)
