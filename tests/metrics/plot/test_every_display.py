"""What all displays do alike: axes, names, styles, parts, folds, rules of models."""

import re
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

from sklearn_reject import DeferringClassifier, SelectiveClassifier, metrics
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
from sklearn_reject.thresholds import operating_point, optimal_path
from tests.metrics.models import three_classes
from tests.metrics.plot.drawn import areas_of, legend_of

plt = pytest.importorskip("matplotlib.pyplot")

GRID = np.linspace(0.05, 1, 40)
LOSS_TABLE = [[0, 1, 2], [3, 0, 4], [5, 1, 0]]


def joint():
    """Return a path and an operating point of two detectors."""
    is_positive = np.arange(200) % 4 == 0
    noise = np.random.default_rng(0).random((200, 2))
    samples = noise + 0.3 * is_positive[:, np.newaxis], is_positive
    return {
        "path": optimal_path(*samples, n_thresholds=8),
        "operating_point": operating_point(*samples, max_fp_per_tp=3),
    }


# Of each display: the arrays of a curve, what belongs to it, and what its axes say.
DISPLAYS = {
    RiskCoverageDisplay: (
        (GRID, GRID / 5),
        {"aurc": [0.0123], "oracle": (GRID, GRID**8 / 5), "random": 0.2}
        | {"point": [(0.8, 0.15)], "target": {"target_risk": 0.16}},
        ("Coverage (share accepted)", "Selective risk"),
    ),
    DeferralCurveDisplay: (
        (GRID, 0.3 - GRID / 5),
        {"area": [0.123], "oracle": (GRID, 0.3 - np.sqrt(GRID) / 5)}
        | {"random": (0.3, 0.1), "point": [(0.2, 0.25)], "target": {"max_deferral": 1}},
        ("Deferral rate (share deferred)", "System risk"),
    ),
    OODFrontierDisplay: (
        (GRID, np.sqrt(GRID)),
        {"random": (0, 1), "point": (0.3, 0.6), "target": {"min_tpr": 0.8}},
        ("FPR (OOD samples accepted)", "TPR (ID samples accepted)"),
    ),
    PNCurveDisplay: (
        (100 * GRID, 50 * np.sqrt(GRID)),
        {"area": [1234.5], **joint()},
        ("False positives", "True positives"),
    ),
}
PARTS = {
    RiskCoverageDisplay: ["point", "target", "oracle", "random"],
    DeferralCurveDisplay: ["point", "target", "oracle", "random"],
    OODFrontierDisplay: ["point", "target", "random"],
    PNCurveDisplay: ["point", "tangent", "path"],
}
EACH_PART = [(display, part) for display, parts in PARTS.items() for part in parts]


def make(kind, n_curves=1, **options):
    """Return a display of curves and nothing else."""
    return kind(*([curve] * n_curves for curve in DISPLAYS[kind][0]), **options)


def draw_full(kind, ax=None):
    """Draw all that belongs to a curve."""
    wanted = {f"plot_{part}": True for part in PARTS[kind]}
    return make(kind, name="mine", **DISPLAYS[kind][1]).plot(ax, **wanted)


def lines_of(drawn):
    """Return the lines of what is drawn, also of a point with error bars."""
    return [drawn.lines[0]] if hasattr(drawn, "lines") else list(np.atleast_1d(drawn))


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
def test_curves_have_names_and_styles(kind):
    assert legend_of(make(kind).plot()) == []
    display = make(kind, name="a").plot(curve_kwargs={"color": "red"})
    assert legend_of(display) == ["a"]
    assert display.line_.get_color() == "red"
    assert legend_of(display.plot(name="b")) == ["b"]
    assert display.name == "a"
    assert legend_of(display.plot(curve_kwargs={"label": "c"})) == ["c"]
    several = make(kind, 2, name="a").plot(curve_kwargs={"linestyle": ":"})
    assert legend_of(several) == ["a"]
    assert [line.get_linestyle() for line in several.line_] == [":", ":"]
    styles = [{"color": "red"}, {"color": "blue"}]
    several.plot(name=["a", "b"], curve_kwargs=styles)
    assert legend_of(several) == ["a", "b"]
    assert [line.get_color() for line in several.line_] == ["red", "blue"]
    with pytest.raises(ValueError, match="name has 1 entries for 2 curves"):
        several.plot(name=["a"])
    with pytest.raises(ValueError, match="curve_kwargs has 1 entries for 2 curves"):
        several.plot(curve_kwargs=[{}])


@pytest.mark.parametrize("kind", [k for k in DISPLAYS if k is not OODFrontierDisplay])
def test_areas_are_in_the_legend(kind):
    is_aurc = kind is RiskCoverageDisplay
    name, title = ("aurc", "AuRC") if is_aurc else ("area", "area")
    assert legend_of(make(kind, **{name: [0.12345]}).plot()) == [f"{title} = 0.1235"]
    display = make(kind, **{name: [12345.6]}, name="a").plot()
    assert legend_of(display) == [f"a ({title} = 12346)"]
    display = make(kind, 2, **{name: [0.25, 0.75]}, name=["a", "b"]).plot()
    assert legend_of(display) == [f"a ({title} = 0.25)", f"b ({title} = 0.75)"]
    if kind is not PNCurveDisplay:  # whose curves are no folds
        assert legend_of(display.plot(name="all")) == [f"all ({title} = 0.5 ± 0.25)"]


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
        assert areas_of(display) == [area(*samples, **options)]


TARGETS = [
    ({"target_risk": 0.3}, [(0, 0.3), (1, 0.3)], "target: risk ≤ 0.3"),
    ({"target_coverage": 0.6}, [(0.6, 0), (0.6, 1)], "target: coverage ≥ 0.6"),
    (
        {"target_risk": 0.4, "confidence_level": 0.9},
        *([(0, 0.4), (1, 0.4)], "certified: risk ≤ 0.4 (90 %)"),
    ),
]
RISE = [(0.3, 0), (0.3, 1)]
OF_ORIGINS = [
    ("roc", {"min_tpr": 0.3}, [(0, 0.3), (1, 0.3)]),
    ("roc", {"min_tpr": 0.3, "min_precision": 0.9}, [(0, 0.3), (1, 0.3)]),
    ("precision_recall", {"min_precision": 0.9}, [(1, 0.9), (0, 0.9)]),
    ("precision_recall", {"min_tpr": 0.3, "max_fpr": 0.1}, RISE),
    ("risk_coverage", {"min_tpr": 0.3, "max_fpr": 0.1}, RISE),
    ("risk_coverage", {"min_precision": 0.9}, None),
]


@pytest.mark.parametrize(
    ("display", "points", "label"),
    [
        *((make(RiskCoverageDisplay, target=each), *case) for each, *case in TARGETS),
        (
            make(DeferralCurveDisplay, target={"max_deferral": 0.3}),
            *(RISE, "target: deferral rate ≤ 0.3"),
        ),
        (make(DeferralCurveDisplay, target=TARGETS[0][0]), *TARGETS[0][1:]),
        *(
            (OODFrontierDisplay([GRID], [GRID], kind=kind, target=asked), points, None)
            for kind, asked, points in OF_ORIGINS
        ),
    ],
)
def test_targets_that_the_axes_show_are_lines(display, points, label):
    display.plot()
    if points is None:
        assert display.target_ is None
    else:
        np.testing.assert_array_equal(display.target_.get_xydata(), points)
    assert label is None or legend_of(display)[-1] == label


@pytest.mark.parametrize(("kind", "part"), EACH_PART)
def test_a_part_is_drawn_where_it_is_wanted_and_known(kind, part):
    display = draw_full(kind)
    (line,) = lines_of(getattr(display, f"{part}_"))
    assert line in display.ax_.lines
    assert getattr(display.plot(**{f"plot_{part}": False}), f"{part}_") is None
    n_figures = len(plt.get_fignums())
    with pytest.raises(ValueError, match=f"plot_{part}=True, but .* no {part}. "):
        make(kind).plot(**{f"plot_{part}": True})
    assert len(plt.get_fignums()) == n_figures  # an error leaves no empty figure


@pytest.mark.parametrize("kind", [k for k in DISPLAYS if k is not PNCurveDisplay])
def test_displays_on_the_same_axes_share_target_and_references(kind):
    first = draw_full(kind)
    second = draw_full(kind, first.ax_)
    shared = [part for part in PARTS[kind] if part != "point"]
    for part in shared:
        assert getattr(second, f"{part}_") is getattr(first, f"{part}_")
    assert len(first.ax_.lines) == len(shared) + 4  # two curves, two points
    assert second.line_ is not first.line_


@pytest.mark.parametrize("kind", DISPLAYS)
def test_without_matplotlib(kind, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    message = rf"{kind.__name__}.plot needs matplotlib.*pip install.* use (\w+) "
    with pytest.raises(ImportError, match=message) as error:
        make(kind).plot()
    assert re.search(message, str(error.value))[1] in metrics.__all__


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
    assert areas_of(display) == [pytest.approx(-area, rel=1e-14)]


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
        assert areas_of(display)[number] == areas_of(alone)[0]
    assert display.target == alone.target
    assert legend_of(display)[1:] == ["rules", next(iter(legend_of(alone)[2:]))]
    plain = kind.from_cv_results(results, X, y)
    assert areas_of(plain) == pytest.approx(-results["test_score"])
    # The rows of a frame are taken by their position.
    y_moved = pd.Series(y, index=np.roll(np.arange(240), 7))
    assert areas_of(kind.from_cv_results(results, X, y_moved)) == areas_of(plain)


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
    assert areas_of(display)[0] == areas_of(alone)[0]


@of_models
def test_what_folds_and_estimators_need(kind, model, target, scorer):
    for given in ({"estimator": []}, {"indices": {}}):
        with pytest.raises(ValueError, match="with return_estimator=True and"):
            kind.from_cv_results(given, X, y)
    for call, first in ((kind.from_cv_results, {}), (kind.from_estimator, model)):
        with pytest.raises(ValueError, match="sample_weight has 3 elements"):
            call(first, X, y, sample_weight=WEIGHT[:3])
