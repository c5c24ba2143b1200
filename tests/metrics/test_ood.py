"""Metrics with OOD samples are their curves of the losses and origins."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import roc_auc_score

from sklearn_reject import _curves as curves
from sklearn_reject import metrics
from sklearn_reject.datasets import make_fpp23_mixture
from sklearn_reject.exceptions import RejectionWarning
from sklearn_reject.selection import (
    InfeasibleTargetError,
    tune_double_score,
    tune_single_score,
)
from tests.origin_samples import origin_samples, permute, repeat, weights_of

rng = np.random.default_rng(0)
Y_TRUE = rng.integers(-1, 3, 90)
Y_PRED = np.where(rng.random(90) < 0.7, np.maximum(Y_TRUE, 0), rng.integers(0, 3, 90))
IS_OOD = Y_TRUE == -1
UNCERTAINTY = rng.integers(0, 20, 90) / 20 + 0.8 * IS_OOD
NOVELTY = rng.integers(0, 20, 90) / 4 + 4 * IS_OOD
WEIGHTS = rng.random(90)
COSTS = [[0, 1, 5], [2, 0, 1], [3, 4, 0]]

# Without and with labels: the options, and whether a second score is taken.
OF_ORIGINS = [
    ("ood_roc_curve", {}, False),
    ("ood_precision_recall_curve", {"ood_prior": 0.2}, False),
    ("ood_auroc_score", {}, True),
    ("ood_aupr_score", {"positive": "id", "interpolation": "trapezoid"}, True),
    ("ood_aupr_score", {"positive": "ood", "ood_prior": 0.3}, True),
    ("fpr_at_tpr_score", {"positive": "id", "tpr": 0.8}, True),
    ("fpr_at_tpr_score", {"positive": "ood"}, True),
    ("roc_frontier", {}, True),
    ("precision_recall_frontier", {"ood_prior": 0.2}, True),
]
OF_LABELS = [
    ("oscr_score", {}),
    ("oscr_score", {"definition": "franc"}),
    ("risk_coverage_frontier", {"max_fpr": 0.3}),
]
BOUNDS = [
    ("selective_risk_at_tpr_fpr_score", {"min_tpr": 0.6, "max_fpr": 0.4}),
    (
        "selective_risk_at_precision_recall_score",
        {"min_tpr": 0.6, "min_precision": 0.85, "ood_prior": 0.25},
    ),
]
LOSSES = {
    "zero_one": (Y_TRUE != Y_PRED) * 1.0,
    "absolute": abs(Y_TRUE - Y_PRED),
    "squared": (Y_TRUE - Y_PRED) ** 2,
    "matrix": np.array(COSTS)[np.maximum(Y_TRUE, 0), Y_PRED],
    "callable": Y_TRUE + Y_PRED,
}
GIVEN = {"matrix": COSTS, "callable": lambda y, k: y + k}


def assert_same(value, expected):
    if isinstance(expected, float):
        value, expected = [value], [expected]
    for one, other in zip(value, expected, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    ("name", "options", "n_scores"),
    [(*case[:2], 1) for case in OF_ORIGINS]
    + [(*case[:2], 2) for case in OF_ORIGINS if case[2]],
)
@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weighted"])
def test_metrics_of_origins(name, options, n_scores, weights):
    options = {"sample_weight": weights, **options}
    scores = UNCERTAINTY
    if n_scores == 2:
        scores = np.column_stack([UNCERTAINTY, NOVELTY])
    expected = getattr(curves, name)(scores, IS_OOD, **options)
    if n_scores == 2:
        options["novelty"] = NOVELTY
    assert_same(getattr(metrics, name)(Y_TRUE, UNCERTAINTY, **options), expected)


@pytest.mark.parametrize(("name", "options"), OF_LABELS)
@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weighted"])
@pytest.mark.parametrize("n_scores", [1, 2])
def test_metrics_of_labels(name, options, weights, n_scores):
    options = {"sample_weight": weights, **options}
    scores = UNCERTAINTY
    if n_scores == 2:
        scores = np.column_stack([UNCERTAINTY, NOVELTY])
    expected = getattr(curves, name)(scores, LOSSES["zero_one"], IS_OOD, **options)
    if n_scores == 2:
        options["novelty"] = NOVELTY
    assert_same(
        getattr(metrics, name)(Y_TRUE, Y_PRED, UNCERTAINTY, **options), expected
    )


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weighted"])
def test_losses_are_those_of_id_samples(loss, weights):
    given = {"loss": GIVEN.get(loss, loss), "max_fpr": 0.6, "sample_weight": weights}
    points = metrics.risk_coverage_frontier(Y_TRUE, Y_PRED, UNCERTAINTY, **given)
    expected = curves.risk_coverage_frontier(
        UNCERTAINTY,
        np.maximum(LOSSES[loss], 0),
        IS_OOD,
        max_fpr=0.6,
        sample_weight=weights,
    )
    assert_same(points, expected)
    points = metrics.risk_coverage_curve(
        Y_TRUE, Y_PRED, UNCERTAINTY, ood_label=-1, **given
    )
    expected = curves.risk_coverage_curve(
        UNCERTAINTY,
        np.maximum(LOSSES[loss], 0),
        is_ood=IS_OOD,
        max_fpr=0.6,
        sample_weight=weights,
    )
    assert_same(points, expected)


def test_the_loss_never_sees_ood_labels():
    seen = []

    def record(y_true, y_pred):
        seen.append((set(y_true), len(y_pred)))
        return y_true != y_pred

    arguments = Y_TRUE, Y_PRED, UNCERTAINTY
    metrics.risk_coverage_frontier(*arguments, loss=record)
    metrics.risk_coverage_curve(*arguments, ood_label="auto", loss=record)
    metrics.selective_risk_at_tpr_fpr_score(
        *arguments, min_tpr=0.1, max_fpr=1, loss=record
    )
    assert seen == [({0, 1, 2}, np.count_nonzero(~IS_OOD))] * 3


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


def check_risk(name, options, sample, expected):
    scores, losses, is_ood, weights = sample
    y_true = np.where(is_ood, -1, 4)
    predictions = np.where(losses > 0, 5, 4)
    arguments = y_true, predictions, scores
    # With a single ID class, -1 would be taken for the other one.
    options = {"ood_label": -1, "sample_weight": weights, "labels": [4, 5], **options}
    if expected is None:
        with pytest.warns(UndefinedMetricWarning, match="risk is set to NaN"):
            assert np.isnan(getattr(metrics, name)(*arguments, **options))
    else:
        risk = getattr(metrics, name)(*arguments, **options)
        assert type(risk) is float
        assert risk == pytest.approx(expected, abs=1e-12)


@given(origin_samples(most_loss=1), st.integers(1, 12), st.integers(0, 6))
def test_risk_at_tpr_and_fpr_against_all_thresholds(sample, twelfths, sixths):
    bounds = {"min_tpr": twelfths / 12, "max_fpr": sixths / 6}
    expected = brute_force_risk(
        sample, lambda _, fpr: fpr <= sixths / 6 + 1e-12, twelfths / 12
    )
    check_risk("selective_risk_at_tpr_fpr_score", bounds, sample, expected)


@given(origin_samples(most_loss=1), st.integers(1, 12), st.sampled_from([0.5, 0.9, 1]))
def test_risk_at_precision_and_recall_against_all_thresholds(
    sample, twelfths, min_precision
):
    recall = twelfths / 12
    bounds = {"min_precision": min_precision, "min_tpr": recall, "ood_prior": 0.25}

    def allows(tpr, fpr):
        inside = 0.75 * tpr
        return inside >= (inside + 0.25 * fpr) * (min_precision - 1e-12)

    expected = brute_force_risk(sample, allows, recall)
    check_risk("selective_risk_at_precision_recall_score", bounds, sample, expected)


@pytest.mark.parametrize(("name", "bounds"), BOUNDS)
@pytest.mark.parametrize("randomize", [False, True])
def test_risk_of_two_scores_is_that_of_the_tuned_rule(name, bounds, randomize):
    rule = tune_double_score(
        UNCERTAINTY,
        NOVELTY,
        LOSSES["zero_one"],
        IS_OOD,
        randomize=randomize,
        sample_weight=WEIGHTS,
        **bounds,
    )
    options = {"randomize": randomize, "sample_weight": WEIGHTS}
    risk = getattr(metrics, name)(
        Y_TRUE, Y_PRED, UNCERTAINTY, novelty=NOVELTY, **options, **bounds
    )
    assert risk == rule.selective_risk
    for score in (UNCERTAINTY, NOVELTY):
        alone = getattr(metrics, name)(Y_TRUE, Y_PRED, score, **options, **bounds)
        assert risk <= alone + 1e-12


@pytest.mark.parametrize(
    "method", ["A", pytest.param("B", marks=pytest.mark.slow), "C"]
)
@pytest.mark.parametrize(("name", "bounds"), BOUNDS)
def test_risks_of_table_1(method, name, bounds):
    sample = make_fpp23_mixture(100_000, return_X_y=False, random_state=0)
    weight = {"A": (0, 1), "B": (1, 0.2), "C": (1, 0)}[method]
    score = weight[0] * sample.risk + weight[1] * sample.likelihood_ratio
    arguments = sample.target, sample.prediction, score
    published = {"min_tpr": 0.7, "max_fpr": 0.2}
    if "min_precision" in bounds:
        published = {"min_tpr": 0.7, "min_precision": 0.9, "ood_prior": 0.25}
    metric = getattr(metrics, name)
    if method == "C":
        with pytest.warns(UndefinedMetricWarning):
            assert np.isnan(metric(*arguments, **published))
    else:
        expected = {"A": 0.158, "B": 0.142}[method]
        assert metric(*arguments, **published) == pytest.approx(expected, abs=0.003)


def test_unattainable_bounds_say_what_is_attainable():
    with pytest.warns(UndefinedMetricWarning) as record:
        risk = metrics.selective_risk_at_tpr_fpr_score(
            Y_TRUE, Y_PRED, UNCERTAINTY, min_tpr=1.0, max_fpr=0.0
        )
    assert np.isnan(risk)
    message = str(record[0].message)
    assert "min_tpr=1" in message
    assert "max_fpr=0" in message
    with pytest.raises(InfeasibleTargetError) as info:
        tune_single_score(
            UNCERTAINTY,
            LOSSES["zero_one"],
            IS_OOD,
            min_tpr=1.0,
            max_fpr=0.0,
            randomize=False,
        )
    assert message.startswith(str(info.value))


ALL = [(name, options, False) for name, options, _ in OF_ORIGINS] + [
    (name, options, True) for name, options in OF_LABELS + BOUNDS
]
SCORES = [case for case in ALL if case[0].endswith("_score")]


def call(case, y_true, uncertainty, y_pred=Y_PRED, **more):
    name, options, takes_labels = case
    labels = (y_pred,) if takes_labels else ()
    return getattr(metrics, name)(y_true, *labels, uncertainty, **options, **more)


@pytest.mark.parametrize("case", ALL, ids=lambda case: case[0])
def test_labels_of_all_kinds(case):
    expected = call(case, Y_TRUE, UNCERTAINTY)
    names = np.array(["a", "b", "c", "ood"])
    for convert in (list, lambda y: y.astype(float), lambda y: y.astype(object)):
        assert_same(call(case, convert(Y_TRUE), UNCERTAINTY, convert(Y_PRED)), expected)
    assert_same(call(case, names[Y_TRUE], UNCERTAINTY, names[Y_PRED]), expected)
    assert_same(call(case, Y_TRUE[:, np.newaxis], UNCERTAINTY), expected)
    other = np.where(IS_OOD, 77, Y_TRUE)
    assert_same(call(case, other, UNCERTAINTY, ood_label=77), expected)


@pytest.mark.parametrize("case", ALL, ids=lambda case: case[0])
def test_pandas(case):
    pd = pytest.importorskip("pandas")
    index = rng.permutation(90)
    series = [pd.Series(array, index=index) for array in (Y_TRUE, UNCERTAINTY, Y_PRED)]
    assert_same(call(case, *series), call(case, Y_TRUE, UNCERTAINTY))


@pytest.mark.parametrize("case", ALL, ids=lambda case: case[0])
def test_infinite_scores_are_allowed_and_order_does_not_matter(case):
    scores = UNCERTAINTY.copy()
    scores[[0, -1]], scores[[1, 5]] = np.inf, -np.inf
    assert IS_OOD[5]
    value = call(case, Y_TRUE, scores)
    rows = rng.permutation(90)
    again = call(case, Y_TRUE[rows], scores[rows], Y_PRED[rows])
    np.testing.assert_allclose(again, value, rtol=1e-12)


@given(origin_samples(most_loss=1))
def test_weights_repeat_rows(sample):
    def value_of(sample):
        scores, losses, is_ood, weights = (*sample, None)[:4]
        y_true, y_pred = np.where(is_ood, 9, 4), np.where(losses > 0, 5, 4)
        return metrics.selective_risk_at_tpr_fpr_score(
            y_true,
            y_pred,
            np.clip(scores, -9, 9),
            min_tpr=0.5,
            max_fpr=1.0,
            ood_label=9,
            labels=[4, 5],
            sample_weight=weights,
        )

    value = value_of(sample)
    assert value_of(repeat(sample)) == pytest.approx(value, abs=1e-14)
    assert value_of(permute(sample)) == pytest.approx(value, abs=1e-14)


@pytest.mark.parametrize("case", SCORES, ids=lambda case: case[0])
def test_undefined_without_ood(case):
    inside = np.flatnonzero(~IS_OOD)
    arguments = Y_TRUE[inside], UNCERTAINTY[inside], Y_PRED[inside]
    with pytest.warns(UndefinedMetricWarning, match="undefined without OOD") as told:
        assert np.isnan(call(case, *arguments))
    assert told[0].filename == __file__
    # OOD samples of no weight are none: their FPR of zero would keep any bound.
    with pytest.warns(
        UndefinedMetricWarning, match="StratifiedKFold treats the ood_label"
    ):
        assert np.isnan(
            call(case, Y_TRUE, UNCERTAINTY, sample_weight=WEIGHTS * ~IS_OOD)
        )


@pytest.mark.parametrize(
    "case", [c for c in ALL if c not in SCORES], ids=lambda case: case[0]
)
def test_curves_and_frontiers_need_ood_samples(case):
    inside = np.flatnonzero(~IS_OOD)
    arguments = Y_TRUE[inside], UNCERTAINTY[inside], Y_PRED[inside]
    with pytest.raises(ValueError, match=r"OOD sample is needed.*ood_label"):
        call(case, *arguments)
    with pytest.raises(ValueError, match=r"OOD sample is needed.*ood_label"):
        call(case, Y_TRUE, UNCERTAINTY, sample_weight=WEIGHTS * ~IS_OOD)


@pytest.mark.parametrize("case", ALL, ids=lambda case: case[0])
@pytest.mark.parametrize("inlier", [1, 0, 7])
def test_minus_one_is_an_outlier_beside_any_other_labels(case, inlier):
    """As scikit-learn marks them, whatever the number of other labels."""
    y_true, y_pred = np.where(IS_OOD, -1, inlier), np.full(90, inlier)
    other = np.where(IS_OOD, 99, inlier)
    expected = call(case, other, UNCERTAINTY, y_pred, ood_label=99)
    assert_same(call(case, y_true, UNCERTAINTY, y_pred), expected)


def test_outliers_have_the_area_that_scikit_learn_computes():
    y_true, uncertainty = [1, 1, -1, -1], [0.1, 0.2, 0.3, 0.4]
    assert metrics.ood_auroc_score(y_true, uncertainty) == 1.0
    y_true = np.where(IS_OOD, -1, 1)
    assert metrics.ood_auroc_score(y_true, UNCERTAINTY) == pytest.approx(
        roc_auc_score(y_true, -UNCERTAINTY)
    )


@pytest.mark.parametrize("case", [c for c in SCORES if c[2]], ids=lambda case: case[0])
def test_minus_one_is_a_class_where_one_of_two_is_predicted(case):
    y_true, y_pred = np.where(Y_TRUE == 0, 1, -1), np.where(Y_PRED == 0, 1, -1)
    part = y_true == 1  # such as a fold without the other class
    for rows in (part | True, part, ~part):
        samples = y_true[rows], UNCERTAINTY[rows], y_pred[rows]
        with pytest.warns(UndefinedMetricWarning, match="unless -1 is one of two clas"):
            assert np.isnan(call(case, *samples, labels=[-1, 1]))
    with pytest.raises(ValueError, match="y_pred holds the OOD label -1"):
        call(case, y_true, UNCERTAINTY, y_pred, ood_label=-1)
    curve = metrics.risk_coverage_curve(y_true, y_pred, UNCERTAINTY, ood_label="auto")
    plain = metrics.risk_coverage_curve(y_true, y_pred, UNCERTAINTY)
    np.testing.assert_allclose(curve, plain, rtol=1e-14)


@pytest.mark.parametrize("case", ALL, ids=lambda case: case[0])
@pytest.mark.parametrize("gap", [None, np.nan])
def test_labels_with_gaps(case, gap):
    y_true = Y_TRUE.astype(object)
    y_true[4] = gap
    with pytest.raises(
        ValueError, match=r"y_true has no label .* in row 4 .*ood_label"
    ):
        call(case, y_true, UNCERTAINTY)


@pytest.mark.parametrize("case", ALL, ids=lambda case: case[0])
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"uncertainty": UNCERTAINTY[:5]},
            "uncertainty has 5 elements, but there are 90",
        ),
        ({"uncertainty": np.full(90, np.nan)}, "uncertainty must be finite, got nan"),
        ({"y_true": np.full(90, -1)}, "y_true holds the OOD label -1 only"),
        ({"ood_label": "ood"}, "ood_label='ood', but y holds numbers"),
        ({"sample_weight": [1, 2]}, "sample_weight has 2 elements"),
        ({"sample_weight": -WEIGHTS}, "sample_weight must be non-negative"),
    ],
)
def test_bad_input(case, change, message):
    arguments = {"y_true": Y_TRUE, "uncertainty": UNCERTAINTY, **change}
    with pytest.raises(ValueError, match=message):
        call(case, **arguments)


@pytest.mark.parametrize("case", ALL, ids=lambda case: case[0])
def test_bad_novelty(case):
    if case[0].endswith("_curve"):
        return
    with pytest.raises(ValueError, match="novelty has 3 elements, but there are 90"):
        call(case, Y_TRUE, UNCERTAINTY, novelty=[1, 2, 3])
    infinite = np.where(np.arange(90) == 7, np.inf, UNCERTAINTY)
    with pytest.raises(
        ValueError, match="uncertainty must be finite, got inf in row 7"
    ):
        call(case, Y_TRUE, infinite, novelty=NOVELTY)


@pytest.mark.parametrize("case", [c for c in ALL if c[2]], ids=lambda case: case[0])
def test_predictions_must_be_classes(case):
    rejected = np.where(UNCERTAINTY > 0.8, -1, Y_PRED)
    with pytest.raises(
        ValueError, match=r"y_pred holds the OOD label -1.*predict_label"
    ):
        call(case, Y_TRUE, UNCERTAINTY, rejected)
    with pytest.raises(ValueError, match="y_pred has 4 elements, but there are 90"):
        call(case, Y_TRUE, UNCERTAINTY, Y_PRED[:4])
    with pytest.raises(ValueError, match="mix strings and numbers"):
        call(case, Y_TRUE, UNCERTAINTY, Y_PRED.astype(str))


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        (
            "selective_risk_at_tpr_fpr_score",
            {"min_tpr": 0},
            r"min_tpr must be in \]0, 1",
        ),
        (
            "selective_risk_at_tpr_fpr_score",
            {"max_fpr": None},
            "max_fpr must be a number",
        ),
        ("selective_risk_at_tpr_fpr_score", {"max_fpr": 2}, "max_fpr must be in"),
        ("selective_risk_at_tpr_fpr_score", {"randomize": "yes"}, "randomize must be"),
        (
            "selective_risk_at_precision_recall_score",
            {"min_precision": 1.1},
            "min_precision must be in",
        ),
        (
            "selective_risk_at_precision_recall_score",
            {"min_tpr": None},
            "min_tpr must be a number",
        ),
        (
            "selective_risk_at_precision_recall_score",
            {"ood_prior": None},
            "ood_prior must be a number",
        ),
        (
            "selective_risk_at_precision_recall_score",
            {"ood_prior": 1},
            "ood_prior must be",
        ),
    ],
)
def test_bad_bounds(name, change, message):
    options = {**dict(BOUNDS)[name], **change}
    with pytest.raises(ValueError, match=message):
        getattr(metrics, name)(Y_TRUE, Y_PRED, UNCERTAINTY, **options)


def test_labels_order_the_cost_matrix():
    options = {"max_fpr": 1.0, "loss": COSTS, "labels": [2, 0, 1]}
    _, risk = metrics.risk_coverage_frontier(Y_TRUE, Y_PRED, UNCERTAINTY, **options)
    costs = np.array(COSTS)
    place = np.array([1, 2, 0])
    expected = costs[place[Y_TRUE[~IS_OOD]], place[Y_PRED[~IS_OOD]]].mean()
    assert risk[-1] == pytest.approx(expected)


def test_a_bound_on_the_fpr_takes_an_ood_label():
    with pytest.raises(ValueError, match="ood_label to the metric of the same name"):
        metrics.risk_coverage_curve(Y_TRUE, Y_PRED, UNCERTAINTY, max_fpr=0.2)


def test_without_an_ood_label_the_curve_is_that_of_all_samples():
    with_label = metrics.risk_coverage_curve(
        np.maximum(Y_TRUE, 0), Y_PRED, UNCERTAINTY, ood_label="auto"
    )
    plain = metrics.risk_coverage_curve(np.maximum(Y_TRUE, 0), Y_PRED, UNCERTAINTY)
    for one, other in zip(with_label, plain, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-14)


@pytest.mark.parametrize("case", [c for c in ALL if c[2]], ids=lambda case: case[0])
def test_losses_themselves_take_the_place_of_predictions(case):
    losses = (Y_TRUE != Y_PRED) * 1.0
    losses[IS_OOD] = 0.5  # what OOD samples cost does not count
    if case[0] == "oscr_score":
        losses[IS_OOD] = 1
    expected = call(case, Y_TRUE, UNCERTAINTY)
    assert_same(call(case, Y_TRUE, UNCERTAINTY, None, loss=losses), expected)
    with pytest.raises(ValueError, match="y_pred is None, so loss= must be the losses"):
        call(case, Y_TRUE, UNCERTAINTY, None)
    with pytest.raises(ValueError, match="loss has 3 elements, but there are 90"):
        call(case, Y_TRUE, UNCERTAINTY, None, loss=[0, 1, 1])


@pytest.mark.parametrize("case", [c for c in ALL if c[2]], ids=lambda case: case[0])
def test_reject_labels_of_id_samples_are_told(case):
    """-2 where -1 is a class, as SelectiveClassifier has it; 99 stands for OOD."""
    y_true, y_pred = np.where(IS_OOD, 99, Y_TRUE - 1), Y_PRED - 1
    expected = call(case, y_true, UNCERTAINTY, y_pred, ood_label=99)
    rejected = np.where(UNCERTAINTY > 0.8, -2, y_pred)
    with pytest.raises(ValueError, match=r"y_pred holds -2.*`predict_label`"):
        call(case, y_true, UNCERTAINTY, rejected, ood_label=99)
    rejected = np.where(UNCERTAINTY > 0.8, 7, y_pred)
    with pytest.warns(RejectionWarning, match=r"y_pred holds 7.*`predict_label`"):
        call(case, y_true, UNCERTAINTY, rejected, ood_label=99)
    # Of OOD samples, predictions are not looked at.
    only_ood = np.where(IS_OOD, -2, y_pred)
    assert_same(call(case, y_true, UNCERTAINTY, only_ood, ood_label=99), expected)
