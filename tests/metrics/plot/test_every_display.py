"""What all displays do alike: axes, names, styles, parts, folds, rules of models."""

import sys
from copy import copy

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_reject import DeferringClassifier, SelectiveClassifier
from sklearn_reject.metrics import (
    DeferralCurveDisplay,
    OODFrontierDisplay,
    PNCurveDisplay,
    RiskCoverageDisplay,
    aurc_score,
    deferral_area_score,
    deferral_curve,
    get_selective_scorer,
    pn_auc_score,
    pn_curve,
    risk_coverage_curve,
)
from sklearn_reject.thresholds import operating_point
from tests.metrics.models import three_classes
from tests.metrics.plot.drawn import legend_of

plt = pytest.importorskip("matplotlib.pyplot")

GRID = np.linspace(0.05, 1, 40)
LOSS_TABLE = [[0, 1, 2], [3, 0, 4], [5, 1, 0]]


def joint_point():
    """Return an operating point of two detectors."""
    is_positive = np.arange(200) % 4 == 0
    noise = np.random.default_rng(0).random((200, 2))
    scores = noise + 0.3 * is_positive[:, np.newaxis]
    return operating_point(scores, is_positive, max_fp_per_tp=3)


# Of each display: the arrays of a curve, what belongs to it, and what its axes say.
LINE = [0, 1], [0.2, 0.1]
DISPLAYS = {
    RiskCoverageDisplay: (
        (GRID, GRID / 5),
        {"oracle": (GRID, GRID**8 / 5), "random": LINE, "point": [(0.8, 0.15)]}
        | {"target": {"target_risk": 0.16}, "area": [0.0123]},
        ("Coverage (share accepted)", "Selective risk"),
    ),
    DeferralCurveDisplay: (
        (GRID, 0.3 - GRID / 5),
        {"oracle": (GRID, 0.3 - np.sqrt(GRID) / 5), "random": LINE}
        | {"point": [(0.2, 0.25)], "target": {"max_deferral": 1}},
        ("Deferral rate (share deferred)", "System risk"),
    ),
    OODFrontierDisplay: (
        (GRID, np.sqrt(GRID)),
        {"random": LINE, "point": [(0.3, 0.6)]}
        | {"target": {"min_tpr": 0.8, "max_fpr": 0.2}},
        ("FPR (OOD samples accepted)", "TPR (ID samples accepted)"),
    ),
    PNCurveDisplay: (
        (100 * GRID, 50 * np.sqrt(GRID)),
        {"random": LINE, "point": joint_point(), "target": {"max_fp_per_tp": 3}},
        ("False positives", "True positives"),
    ),
}


def make(display, n_curves=1, **options):
    """Return a display of curves and nothing else."""
    return display(*([curve] * n_curves for curve in DISPLAYS[display][0]), **options)


def draw_full(kind, ax=None):
    """Draw all that belongs to a curve."""
    known = DISPLAYS[kind][1]
    return make(kind, name="mine", **known).plot(ax, **wanted(known))


def wanted(known):
    return {f"plot_{part}": True for part in known if part != "area"}


@pytest.mark.parametrize("kind", DISPLAYS)
def test_axes_are_those_given_or_new_ones(kind):
    figure, (left, right) = plt.subplots(1, 2)
    display = make(kind)
    assert display.plot(right) is display
    assert (display.ax_, display.figure_) == (right, figure)
    assert (right.get_xlabel(), right.get_ylabel()) == DISPLAYS[kind][2]
    assert right.get_ylim()[0] == 0
    assert not left.lines
    first, second = display.plot().ax_, display.plot().ax_
    assert len({left, right, first, second}) == 4
    assert display.figure_ is second.figure
    np.testing.assert_array_equal(display.line_.get_data(), DISPLAYS[kind][0])


@pytest.mark.parametrize("kind", DISPLAYS)
def test_curves_have_a_name_an_area_and_a_style(kind):
    assert legend_of(make(kind).plot()) == []
    display = make(kind, name="a").plot(curve_kwargs={"color": "red"})
    assert legend_of(display) == ["a"]
    assert display.line_.get_color() == "red"
    assert legend_of(display.plot(name="b")) == ["b"]
    assert display.name == "a"
    assert legend_of(display.plot(curve_kwargs={"label": "c"})) == ["c"]
    title = "AuRC" if kind is RiskCoverageDisplay else "area"
    assert legend_of(make(kind, area=[0.12345]).plot()) == [f"{title} = 0.1235"]
    display = make(kind, area=[12345.6], name="a").plot()
    assert legend_of(display) == [f"a ({title} = 12346)"]
    display = make(kind, 2, name="a", area=[0.25, 0.75])
    display.plot(curve_kwargs={"linestyle": ":"})
    assert legend_of(display) == [f"a ({title} = 0.5 ± 0.25)"]
    assert [line.get_linestyle() for line in display.line_] == [":", ":"]
    assert len({line.get_color() for line in display.line_}) == 1


def draw_samples():
    """Return labels of three classes, two opinions, scores with ties, and weights."""
    rng = np.random.default_rng(0)
    y_true, noise = rng.integers(0, 3, 80), rng.random((2, 80))
    first, second = np.where(noise < 0.3, (y_true + 1) % 3, y_true)
    scores = (rng.random(80) + (first != y_true)).round(1)
    return y_true, first, second, scores, 1.0 + np.arange(80) % 3


TRUTH, FIRST, SECOND, SCORES, WEIGHTS = draw_samples()
PARTLY = np.where(TRUTH == 2, -1, TRUTH)
NUMBERS = [
    (RiskCoverageDisplay, (TRUTH, FIRST, SCORES), risk_coverage_curve, aurc_score),
    (
        *(DeferralCurveDisplay, (TRUTH, FIRST, SECOND, SCORES)),
        *(deferral_curve, deferral_area_score),
    ),
    (PNCurveDisplay, (PARTLY, SCORES), pn_curve, pn_auc_score),
]


@pytest.mark.parametrize("weight", [None, WEIGHTS], ids=["plain", "weighted"])
@pytest.mark.parametrize(("kind", "samples", "curve", "area"), NUMBERS)
def test_curves_and_areas_are_those_of_the_metrics(kind, samples, curve, area, weight):
    several = [{"loss": "absolute"}, {"loss": LOSS_TABLE, "labels": [2, 0, 1]}]
    for options in (
        [{"pos_label": 0}, {"unrated_label": 1}] if kind is PNCurveDisplay else several
    ):
        options |= {"sample_weight": weight}
        display = kind.from_predictions(*samples, **options)
        expected = curve(*samples, **options)[:2]
        np.testing.assert_array_equal(display.line_.get_data(), expected)
        assert display.area == [area(*samples, **options)]


ACROSS, RISE = [(0, 0.3), (1, 0.3)], [(0.3, 0), (0.3, 1)]
ROC, PR, RISK = "roc", "precision_recall", "risk_coverage"
TARGETS = [
    (RiskCoverageDisplay, None, {"target_risk": 0.3}, ACROSS, "risk ≤ 0.3"),
    (RiskCoverageDisplay, None, {"target_coverage": 0.3}, RISE, "coverage ≥ 0.3"),
    (DeferralCurveDisplay, None, {"max_deferral": 0.3}, RISE, "deferral rate ≤ 0.3"),
    (DeferralCurveDisplay, None, {"target_risk": 0.3}, ACROSS, "risk ≤ 0.3"),
    (OODFrontierDisplay, ROC, {"min_tpr": 0.3, "max_risk": 0.9}, ACROSS, "TPR ≥ 0.3"),
    (OODFrontierDisplay, PR, {"min_precision": 0.3}, ACROSS, "precision ≥ 0.3"),
    (OODFrontierDisplay, PR, {"min_tpr": 0.3, "max_fpr": 0.1}, RISE, "TPR ≥ 0.3"),
    (OODFrontierDisplay, RISK, {"min_tpr": 0.3, "max_fpr": 0.1}, RISE, "TPR ≥ 0.3"),
    (OODFrontierDisplay, RISK, {"min_precision": 0.9}, None, None),
]


@pytest.mark.parametrize(("kind", "axes", "target", "points", "text"), TARGETS)
def test_targets_that_the_axes_show_are_lines(kind, axes, target, points, text):
    options = {} if axes is None else {"kind": axes}
    display = make(kind, target=target, **options).plot()
    if points is None:
        assert display.target_ is None
        return
    np.testing.assert_array_equal(display.target_.get_xydata(), points)
    assert legend_of(display) == [f"target: {text}"]
    certified = make(kind, target={"min_fpr": 1}, **options)
    certified.plot(target={**target, "confidence_level": 0.9})
    np.testing.assert_array_equal(certified.target_.get_xydata(), points)
    assert legend_of(certified) == [f"certified: {text} (90%)"]


@pytest.mark.parametrize("kind", DISPLAYS)
def test_a_part_is_drawn_where_it_is_wanted_and_known(kind):
    display = draw_full(kind)
    for option in wanted(DISPLAYS[kind][1]):
        part = option.removeprefix("plot_")
        drawn = getattr(display, f"{part}_")
        assert getattr(drawn, "lines", [drawn])[0] in display.ax_.lines
        without = make(kind, **DISPLAYS[kind][1]).plot(**{option: False})
        assert getattr(without, f"{part}_") is None
        with pytest.raises(ValueError, match=f"{option}=True, but .* no {part}. Use"):
            make(kind).plot(**{option: True})


@pytest.mark.parametrize("kind", DISPLAYS)
def test_displays_on_the_same_axes_share_entries_of_the_legend(kind):
    texts = legend_of(draw_full(kind))
    own = [text for text in texts if text.startswith(("mine", "operating"))]
    both = legend_of(draw_full(kind, draw_full(kind).ax_))
    assert sorted(both) == sorted(texts + own)


@pytest.mark.parametrize("kind", DISPLAYS)
def test_without_matplotlib(kind, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=rf"{kind.__name__}.plot .*pip install"):
        make(kind).plot()


# Estimators and folds

X, y = three_classes(240)
WEIGHT = 1.0 + np.arange(240) % 3
SELECTIVE = SelectiveClassifier(GaussianNB(), target_coverage=0.7, cv=2)
DEFERRING = DeferringClassifier(
    GaussianNB(), LogisticRegression(), max_deferral=0.3, gain_score="confidence", cv=2
)
# Display, estimator, another target, and the scorer of the area.
OF_MODELS = [
    (RiskCoverageDisplay, SELECTIVE, {"target_coverage": 0.8}, "neg_aurc"),
    (DeferralCurveDisplay, DEFERRING, {"max_deferral": 0.4}, "neg_deferral_area"),
]
of_models = pytest.mark.parametrize(("kind", "model", "target", "scorer"), OF_MODELS)


@of_models
def test_an_estimator_is_drawn_with_its_rule_wherever_it_is(
    kind, model, target, scorer
):
    scaled = StandardScaler().fit(X).transform(X)
    alone = kind.from_estimator(model.fit(scaled, y), scaled, y)
    (asked,) = target
    assert alone.target == {asked: getattr(model, asked)}
    later = copy(model).set_params(**{asked: 0.123})
    assert kind.from_estimator(later, scaled, y).target == alone.target
    assert len(alone.point) == 1
    assert legend_of(alone)[0].startswith(f"{type(model).__name__} (")
    step = type(model).__name__.lower()
    inside = make_pipeline(StandardScaler(), model)
    search = GridSearchCV(inside, {f"{step}__{asked}": [target[asked]]}, cv=2)
    display = kind.from_estimator(inside.fit(X, y), X, y, name="pipeline")
    assert display.point == alone.point
    assert legend_of(display)[0].startswith("pipeline (")
    np.testing.assert_array_equal(display.line_.get_data(), alone.line_.get_data())
    display = kind.from_estimator(search.fit(X, y), X, y, sample_weight=WEIGHT)
    assert display.target == target
    area = get_selective_scorer(scorer)(search, X, y, sample_weight=WEIGHT)
    assert display.area == [pytest.approx(-area, rel=1e-14)]


@pytest.fixture(scope="module", params=OF_MODELS, ids=lambda case: case[0].__name__)
def folds(request):
    kind, model, _, scorer = request.param
    results = cross_validate(
        model, X, y, cv=3, scoring=get_selective_scorer(scorer),
        return_estimator=True, return_indices=True,
    )  # fmt: skip
    return kind, results


def test_each_fold_has_the_curve_and_the_point_of_its_test_rows(folds):
    kind, results = folds
    display = kind.from_cv_results(results, X, y, sample_weight=WEIGHT, name="all")
    parts = zip(results["estimator"], results["indices"]["test"], strict=True)
    for number, (model, rows) in enumerate(parts):
        alone = kind.from_estimator(model, X[rows], y[rows], sample_weight=WEIGHT[rows])
        drawn = display.line_[number].get_data()
        np.testing.assert_array_equal(drawn, alone.line_.get_data())
        assert display.point[number] == alone.point[0]
        assert display.area[number] == alone.area[0]
    assert display.target == alone.target
    assert legend_of(display)[1:] == ["rules", legend_of(alone)[2]]
    plain = kind.from_cv_results(results, X, y)
    assert plain.area == pytest.approx(-results["test_score"])
    # The rows of a frame are taken by their position.
    y_moved = pd.Series(y, index=np.roll(np.arange(240), 7))
    assert kind.from_cv_results(results, X, y_moved).area == plain.area


def test_folds_with_other_targets_have_none(folds):
    kind, results = folds
    first, *others = results["estimator"]
    (asked,) = kind.from_cv_results(results, X, y).target
    other = clone(first).set_params(**{asked: 0.5}).fit(X, y)
    display = kind.from_cv_results({**results, "estimator": [other, *others]}, X, y)
    assert display.target is None
    assert len(display.point_) == 3


def test_a_cost_matrix_is_for_the_classes_of_all_folds(folds):
    kind, results = folds
    order = np.argsort(y, kind="stable")  # the test rows of a part lack classes
    rows = [order[:100], order[100:]]
    parts = {"estimator": results["estimator"][:2], "indices": {"test": rows}}
    display = kind.from_cv_results(parts, X, y, loss=LOSS_TABLE)
    model = parts["estimator"][0]
    options = {"loss": LOSS_TABLE, "labels": [0, 1, 2]}
    alone = kind.from_estimator(model, X[rows[0]], y[rows[0]], **options)
    assert display.area[0] == alone.area[0]


def test_what_folds_and_estimators_need(folds):
    kind, results = folds
    for given in ({"estimator": []}, {"indices": {}}):
        with pytest.raises(ValueError, match="with return_estimator=True and"):
            kind.from_cv_results(given, X, y)
    first = results["estimator"][0]
    for call, given in ((kind.from_cv_results, results), (kind.from_estimator, first)):
        with pytest.raises(ValueError, match="sample_weight has 3 elements"):
            call(given, X, y, sample_weight=WEIGHT[:3])
