import numpy as np
import pytest
from sklearn.exceptions import UndefinedMetricWarning

from sklearn_reject import _curves as curves
from sklearn_reject import metrics
from sklearn_reject.losses import CostMatrixLoss

rng = np.random.default_rng(0)
Y_TRUE = rng.integers(0, 3, 80)
Y_PRED = np.where(rng.random(80) < 0.7, Y_TRUE, rng.integers(0, 3, 80))
UNCERTAINTY = rng.integers(0, 20, 80) / 20
WEIGHTS = rng.random(80)
COSTS = [[0, 1, 5], [2, 0, 1], [3, 4, 0]]

CALLS = [
    ("risk_coverage_curve", {}),
    ("aurc_score", {}),
    ("aurc_score", {"interpolation": "trapezoid", "normalize": "prr"}),
    ("augrc_score", {}),
    ("sele_score", {"ties": "midrank"}),
    ("selective_risk_at_coverage_score", {"coverage": 0.6, "randomize": True}),
    ("coverage_at_risk_score", {"risk": 0.5, "randomize": True}),
]
LOSSES = {
    "zero_one": (Y_TRUE != Y_PRED) * 1.0,
    "absolute": abs(Y_TRUE - Y_PRED),
    "squared": (Y_TRUE - Y_PRED) ** 2,
    "matrix": np.array(COSTS)[Y_TRUE, Y_PRED],
    "callable": Y_TRUE + Y_PRED,
}
GIVEN = {"matrix": COSTS, "callable": lambda y, k: y + k}


@pytest.mark.parametrize(("name", "options"), CALLS)
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("weights", [None, WEIGHTS])
def test_metrics_are_their_curves_of_the_losses(name, options, loss, weights):
    given = GIVEN.get(loss, loss)
    options = {"sample_weight": weights, **options}
    if name == "coverage_at_risk_score" and loss == "callable":
        options["risk"] = 3
    value = getattr(metrics, name)(Y_TRUE, Y_PRED, UNCERTAINTY, loss=given, **options)
    expected = getattr(curves, name)(UNCERTAINTY, LOSSES[loss], **options)
    if isinstance(expected, float):
        value, expected = [value], [expected]
    for one, other in zip(value, expected, strict=True):
        np.testing.assert_array_equal(one, other)


def test_zero_one_loss_is_the_default():
    area = metrics.aurc_score(Y_TRUE, Y_PRED, UNCERTAINTY)
    assert area == curves.aurc_score(UNCERTAINTY, Y_TRUE != Y_PRED)


@pytest.mark.parametrize("convert", [list, lambda y: y.astype(str), lambda y: y > 0])
def test_labels_of_all_kinds(convert):
    y_true, y_pred = convert(Y_TRUE), convert(Y_PRED)
    expected = curves.aurc_score(UNCERTAINTY, np.array(y_true) != np.array(y_pred))
    assert metrics.aurc_score(y_true, y_pred, UNCERTAINTY) == expected


def test_pandas_labels_and_uncertainty():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"y": Y_TRUE, "h": Y_PRED, "u": UNCERTAINTY})
    categories = frame["y"].astype("category"), frame["h"].astype("category")
    expected = metrics.aurc_score(Y_TRUE, Y_PRED, UNCERTAINTY)
    assert metrics.aurc_score(frame["y"], frame["h"], frame["u"]) == expected
    assert metrics.aurc_score(*categories, frame["u"]) == expected


def test_labels_order_the_cost_matrix():
    loss = CostMatrixLoss(COSTS, labels=[2, 0, 1])
    options = {"loss": COSTS, "labels": [2, 0, 1]}
    value = metrics.aurc_score(Y_TRUE, Y_PRED, UNCERTAINTY, **options)
    assert value == curves.aurc_score(UNCERTAINTY, loss(Y_TRUE, Y_PRED))


def test_classes_that_do_not_occur_need_labels():
    rows = Y_TRUE + Y_PRED < 2
    few = Y_TRUE[rows], Y_PRED[rows], UNCERTAINTY[rows]
    with pytest.raises(ValueError, match=r"shape \(3, 3\) for 2 labels.*Pass `labels`"):
        metrics.aurc_score(*few, loss=COSTS)
    assert metrics.aurc_score(*few, loss=COSTS, labels=[0, 1, 2]) >= 0


@pytest.mark.parametrize(("name", "options"), CALLS)
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0, 1], [0], [1, 2]), "y_pred has 1 elements, but there are 2"),
        (([0, 1], [0, 1], [1]), "uncertainty has 1 elements, but there are 2"),
        (([0, 1], [0, 1], [np.nan, 1]), "uncertainty must be finite, got nan in row 0"),
        (([], [], []), "y_true is empty"),
        (([0, 1], ["a", "b"], [1, 2]), "mix strings and numbers"),
    ],
)
def test_bad_input(name, options, arguments, message):
    with pytest.raises(ValueError, match=message):
        getattr(metrics, name)(*arguments, **options)


def test_undefined_values_warn():
    with pytest.warns(UndefinedMetricWarning, match="No threshold"):
        value = metrics.coverage_at_risk_score([0, 1], [1, 0], [1, 2], risk=0.5)
    assert np.isnan(value)


def test_ties_do_not_depend_on_the_row_order():
    # Two distinct values: the order of rows alone would move a naive area far.
    uncertainty = np.repeat([0.1, 0.2], 50)
    y_true, y_pred = np.tile([1, 0, 0, 0, 1], 20), np.tile([0, 0, 0, 0, 1], 20)
    expected = metrics.aurc_score(y_true, y_pred, uncertainty)
    for seed in range(5):
        rows = np.random.default_rng(seed).permutation(100)
        value = metrics.aurc_score(y_true[rows], y_pred[rows], uncertainty[rows])
        np.testing.assert_allclose(value, expected, rtol=1e-14)
