"""What all displays do alike, and what risk and deferral curves show of a model."""

import sys
from copy import copy
from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

import sklearn_reject as sr
from sklearn_reject import metrics
from sklearn_reject.metrics import (
    DeferralCurveDisplay,
    OODFrontierDisplay,
    PNCurveDisplay,
    RiskCoverageDisplay,
)
from sklearn_reject.scores import SELE
from sklearn_reject.thresholds import operating_point
from tests.metrics.models import three_classes
from tests.metrics.plot.drawn import legend_of
from tests.metrics.tables import rows_of

plt = pytest.importorskip("matplotlib.pyplot")

GRID = np.linspace(0.05, 1, 40)
LINE = [0, 1], [0.2, 0.1]
X, y = three_classes(240)
X_test, y_test = X[120:], y[120:]
BAYES = GaussianNB().fit(X[:120], y[:120])
FIRST = BAYES.predict(X_test)
SECOND = LogisticRegression().fit(X[:120], y[:120]).predict(X_test)
UNCERTAINTY = np.sort(BAYES.predict_proba(X_test))[:, :2].sum(axis=1)
SAMPLES = y_test, FIRST, UNCERTAINTY
GAINS = np.round(np.sin(np.arange(120.0)) + (y_test != FIRST), 1)  # some are tied
OPINIONS = y_test, FIRST, SECOND, GAINS
RATED = np.where(y_test == 2, -1, y_test), UNCERTAINTY.round(1)
COSTS = [[0, 1, 2], [3, 0, 4], [5, 1, 0]]
WEIGHT = 1.0 + np.arange(240) % 3
weights = pytest.mark.parametrize("weight", [None, WEIGHT[:120]])
of_classifier = RiskCoverageDisplay.from_estimator
of_opinions = DeferralCurveDisplay.from_estimator


def joint_point():
    is_positive = np.arange(200) % 4 == 0
    noise = np.random.default_rng(0).random((200, 2))
    scores = noise + 0.3 * is_positive[:, np.newaxis]
    return operating_point(scores, is_positive, max_fp_per_tp=3)


# Of each display: the arrays of a curve, what belongs to it, and what its axes say.
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


def wanted(kind):
    return {f"plot_{part}": True for part in DISPLAYS[kind][1] if part != "area"}


def draw_full(kind, ax=None):
    display = make(kind, name="mine", **DISPLAYS[kind][1])
    return display.plot(ax, **wanted(kind))


@pytest.mark.parametrize("kind", DISPLAYS)
def test_axes_are_those_given_or_new_ones(kind):
    figure, ax = plt.subplots()
    display = make(kind)
    assert display.plot(ax) is display
    assert (display.ax_, display.figure_) == (ax, figure)
    assert (ax.get_xlabel(), ax.get_ylabel()) == DISPLAYS[kind][2]
    assert ax.get_ylim()[0] == 0
    first, second = display.plot().ax_, display.plot().ax_
    assert len({ax, first, second}) == 3
    assert display.figure_ is second.figure
    np.testing.assert_array_equal(display.line_.get_data(), DISPLAYS[kind][0])


@pytest.mark.parametrize("kind", DISPLAYS)
def test_curves_have_a_name_an_area_and_a_style(kind):
    assert legend_of(make(kind).plot()) == []
    display = make(kind, name="a").plot()
    assert legend_of(display) == ["a"]
    assert legend_of(display.plot(name="b")) == ["b"]
    display.plot(curve_kwargs={"label": "c", "color": "red"})
    assert (legend_of(display), display.line_.get_color()) == (["c"], "red")
    title = "AuRC" if kind is RiskCoverageDisplay else "area"
    assert legend_of(make(kind, area=[0.12345]).plot()) == [f"{title} = 0.1235"]
    display = make(kind, area=[12345.6], name="a").plot()
    assert legend_of(display) == [f"a ({title} = 12346)"]
    display = make(kind, 2, name="a", area=[0.25, 0.75])
    display.plot(curve_kwargs={"linestyle": ":"})
    assert legend_of(display) == [f"a ({title} = 0.5 ± 0.25)"]
    assert [line.get_linestyle() for line in display.line_] == [":", ":"]
    assert len({line.get_color() for line in display.line_}) == 1


NUMBERS = [
    (RiskCoverageDisplay, SAMPLES, "risk_coverage_curve", "aurc_score"),
    (DeferralCurveDisplay, OPINIONS, "deferral_curve", "deferral_area_score"),
    (PNCurveDisplay, RATED, "pn_curve", "pn_auc_score"),
]


@weights
@pytest.mark.parametrize(("kind", "samples", "curve", "area"), NUMBERS)
def test_curves_and_areas_are_those_of_the_metrics(kind, samples, curve, area, weight):
    several = [{"loss": "absolute"}, {"loss": COSTS, "labels": [2, 0, 1]}]
    if kind is PNCurveDisplay:
        several = [{"pos_label": 0}, {"unrated_label": 1}]
    for options in several:
        options["sample_weight"] = weight
        display = kind.from_predictions(*samples, **options)
        expected = getattr(metrics, curve)(*samples, **options)[:2]
        np.testing.assert_array_equal(display.line_.get_data(), expected)
        assert display.area == [getattr(metrics, area)(*samples, **options)]


ACROSS, RISE = [(0, 0.3), (1, 0.3)], [(0.3, 0), (0.3, 1)]
ROC, PR, RISK = ({"kind": k} for k in ("roc", "precision_recall", "risk_coverage"))
TARGETS = [
    (RiskCoverageDisplay, {}, {"target_risk": 0.3}, ACROSS, "risk ≤ 0.3"),
    (RiskCoverageDisplay, {}, {"target_coverage": 0.3}, RISE, "coverage ≥ 0.3"),
    (DeferralCurveDisplay, {}, {"max_deferral": 0.3}, RISE, "deferral rate ≤ 0.3"),
    (DeferralCurveDisplay, {}, {"target_risk": 0.3}, ACROSS, "risk ≤ 0.3"),
    (OODFrontierDisplay, ROC, {"min_tpr": 0.3, "max_risk": 0.9}, ACROSS, "TPR ≥ 0.3"),
    (OODFrontierDisplay, PR, {"min_precision": 0.3}, ACROSS, "precision ≥ 0.3"),
    (OODFrontierDisplay, PR, {"min_tpr": 0.3, "max_fpr": 0.1}, RISE, "TPR ≥ 0.3"),
    (OODFrontierDisplay, RISK, {"min_tpr": 0.3, "max_fpr": 0.1}, RISE, "TPR ≥ 0.3"),
    (OODFrontierDisplay, RISK, {"min_precision": 0.9}, None, None),
]
# Two bounds are the corner of what is within them, up to the best one of the axes.
CORNERS = [
    (ROC, ("max_fpr", "min_tpr"), (0, 1), "FPR ≤ 0.3, TPR ≥ 0.6"),
    (PR, ("min_tpr", "min_precision"), (1, 1), "TPR ≥ 0.3, precision ≥ 0.6"),
    (RISK, ("min_tpr", "max_risk"), (1, 0), "TPR ≥ 0.3, risk ≤ 0.6"),
]
for axes, bounds, (far_x, far_y), text in CORNERS:
    target = dict(zip(bounds, (0.3, 0.6), strict=True))
    corner = [(far_x, 0.6), (0.3, 0.6), (0.3, far_y)]
    TARGETS.append((OODFrontierDisplay, axes, target, corner, text))


@pytest.mark.parametrize(("kind", "axes", "target", "points", "text"), TARGETS)
def test_targets_that_the_axes_show_are_lines(kind, axes, target, points, text):
    display = make(kind, target=target, **axes).plot()
    if points is None:
        assert display.target_ is None
        return
    np.testing.assert_array_equal(display.target_.get_xydata(), points)
    assert legend_of(display) == [f"target: {text}"]
    display.plot(target={**target, "confidence_level": 0.9})
    np.testing.assert_array_equal(display.target_.get_xydata(), points)
    assert legend_of(display) == [f"certified: {text} (90%)"]


@pytest.mark.parametrize("kind", DISPLAYS)
def test_a_part_is_drawn_where_it_is_wanted_and_known(kind):
    display = draw_full(kind)
    for option in wanted(kind):
        part = option.removeprefix("plot_")
        drawn = getattr(display, f"{part}_")
        assert getattr(drawn, "lines", [drawn])[0] in display.ax_.lines
        without = make(kind, **DISPLAYS[kind][1]).plot(**{option: False})
        assert getattr(without, f"{part}_") is None
        with pytest.raises(ValueError, match=f"{option}=True, but .* no {part}. Use"):
            make(kind).plot(**{option: True})
    with pytest.raises(ValueError, match=r"target must be one of .*, got 'risk'"):
        display.plot(target={"risk": 0.1})


@pytest.mark.parametrize("kind", DISPLAYS)
def test_displays_on_the_same_axes_share_entries_of_the_legend(kind):
    texts = legend_of(draw_full(kind))
    own = [text for text in texts if text.startswith(("mine", "operating"))]
    both = legend_of(draw_full(kind, draw_full(kind).ax_))
    assert sorted(both) == sorted(texts + own)


def test_the_left_end_of_a_curve_of_risk_has_no_say_in_the_limits():
    display = RiskCoverageDisplay([[0.01, 0.1, 1.0]], [[1.0, 0.2, 0.1]]).plot()
    assert display.ax_.get_ylim() == pytest.approx((0, 0.205))
    assert RiskCoverageDisplay([[1.0]], [[0.1]]).plot().line_.get_marker() == "."


def test_without_matplotlib(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for kind in DISPLAYS:
        with pytest.raises(ImportError, match=rf"{kind.__name__}.plot .*pip install"):
            make(kind).plot()


@weights
def test_the_oracle_orders_by_loss_or_gain_and_chance_has_mean_losses(weight):
    options = {"loss": "squared", "sample_weight": weight}
    options |= {"plot_oracle": True, "plot_random": True}
    losses = [(labels - y_test) ** 2.0 for labels in (FIRST, SECOND)]
    means = [np.average(of_one, weights=weight) for of_one in losses]
    display = RiskCoverageDisplay.from_predictions(*SAMPLES, **options)
    order = np.argsort(losses[0], kind="stable")
    ordered = np.ones(120) if weight is None else weight[order]
    total = np.cumsum(ordered)
    oracle = total / total[-1], np.cumsum(losses[0][order] * ordered) / total
    np.testing.assert_allclose(display.oracle_.get_data(), oracle)
    chance = display.random_.get_xydata()
    np.testing.assert_allclose(chance, [(0, means[0]), (1, means[0])])
    display = DeferralCurveDisplay.from_predictions(*OPINIONS, **options)
    by_gain = None, None, None, losses[0] - losses[1]
    expected = metrics.deferral_curve(*by_gain, loss=losses, sample_weight=weight)[:2]
    np.testing.assert_array_equal(display.oracle_.get_data(), expected)
    chance = display.random_.get_xydata()
    np.testing.assert_allclose(chance, [(0, means[0]), (1, means[1])])
    np.testing.assert_allclose(display.system_risk[0][[0, -1]], means)


SELECTIVE = sr.SelectiveClassifier(GaussianNB(), target_coverage=0.7, cv=2)
DEFERRING = sr.DeferringClassifier(GaussianNB(), LogisticRegression(), cv=2)
DEFERRING.set_params(max_deferral=0.3, gain_score="confidence")
# Display, estimator, another target, and the scorer of the area.
OF_MODELS = [
    (RiskCoverageDisplay, SELECTIVE, {"target_coverage": 0.8}, "neg_aurc"),
    (DeferralCurveDisplay, DEFERRING, {"max_deferral": 0.4}, "neg_deferral_area"),
]
of_models = pytest.mark.parametrize(("kind", "model", "target", "scorer"), OF_MODELS)


@of_models
def test_an_estimator_is_drawn_wherever_it_is(kind, model, target, scorer):
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
    area = metrics.get_selective_scorer(scorer)(search, X, y, sample_weight=WEIGHT)
    assert display.area == [pytest.approx(-area, rel=1e-14)]


@of_models
def test_each_fold_has_the_curve_of_its_rows(kind, model, target, scorer):
    results = cross_validate(
        model, X, y, cv=3, scoring=metrics.get_selective_scorer(scorer),
        return_estimator=True, return_indices=True,
    )  # fmt: skip
    options = {"sample_weight": WEIGHT, "loss": COSTS}
    display = kind.from_cv_results(results, X, y, name="all", **options)
    first, *others = results["estimator"]
    for number, rows in enumerate(results["indices"]["test"]):
        options["sample_weight"] = WEIGHT[rows]
        each = results["estimator"][number]
        alone = kind.from_estimator(each, X[rows], y[rows], **options)
        drawn = display.line_[number].get_data()
        np.testing.assert_array_equal(drawn, alone.line_.get_data())
        assert display.point[number] == alone.point[0]
        assert display.area[number] == alone.area[0]
    assert display.target == alone.target
    assert legend_of(display)[1:] == ["rules", legend_of(alone)[2]]
    # The rows of a frame are taken by their position.
    y_moved = pd.Series(y, index=np.roll(np.arange(240), 7))
    plain = kind.from_cv_results(results, X, y_moved)
    assert plain.area == pytest.approx(-results["test_score"])
    other = clone(first).set_params(**target).fit(X, y)
    display = kind.from_cv_results({**results, "estimator": [other, *others]}, X, y)
    assert display.target is None
    assert len(display.point_) == 3
    for given in ({"estimator": []}, {"indices": {}}):
        with pytest.raises(ValueError, match="with return_estimator=True and"):
            kind.from_cv_results(given, X, y)
    for call, given in ((kind.from_cv_results, results), (kind.from_estimator, first)):
        with pytest.raises(ValueError, match="sample_weight has 3 elements"):
            call(given, X, y, sample_weight=WEIGHT[:3])


def test_what_a_person_has_not_answered_is_left_out():
    known = np.arange(120) % 5 < 3
    some = y_test, FIRST, np.where(known, SECOND, np.nan), GAINS
    options = {"sample_weight": WEIGHT[:120], "plot_oracle": True}
    display = DeferralCurveDisplay.from_predictions(*some, **options)
    options["sample_weight"] = WEIGHT[:120][known]
    answered = [each[known] for each in OPINIONS]
    expected = DeferralCurveDisplay.from_predictions(*answered, **options)
    for one, other in zip(display.ax_.lines, expected.ax_.lines, strict=True):
        np.testing.assert_allclose(one.get_data(), other.get_data())
    assert display.area == pytest.approx(expected.area)
    asking = clone(DEFERRING).set_params(expert=None)
    asking.fit(X[:120], y[:120], expert_labels=y[:120])
    answers = np.where(known, y_test, None)
    display = of_opinions(asking, X_test, y_test, expert_labels=answers)
    chance = asking.defer_proba(X_test)[known]
    wrong = (asking.predict_first(X_test) != y_test)[known]
    point = np.mean(chance), np.mean((1 - chance) * wrong)
    assert display.point[0] == pytest.approx(point)
    folds = {"estimator": [asking], "indices": {"test": [np.arange(120)]}}
    of_folds = partial(DeferralCurveDisplay.from_cv_results, folds, X_test, y_test)
    assert of_folds(expert_labels=list(answers)).point == display.point


@pytest.fixture(scope="module")
def selective():
    model = sr.SelectiveClassifier(FrozenEstimator(BAYES), target_risk=0.25)
    return model.fit(X_test, y_test)


def test_a_classifier_without_a_rule_has_no_point():
    names = np.array(["a", "b", "c"])
    svm = LinearSVC(random_state=0).fit(X[:120], names[y[:120]])
    for model, truth in ((BAYES, y_test), (svm, names[y_test])):
        display = of_classifier(model, X_test, truth)
        area = metrics.get_selective_scorer("neg_aurc")(model, X_test, truth)
        assert display.area == [-area]
        assert display.point is display.target is display.band_ is None
        assert legend_of(display)[0].startswith(f"{type(model).__name__} (AuRC = ")
    with pytest.raises(ValueError, match="has no second opinion"):
        of_opinions(BAYES, X_test, y_test)
    numbers = X[:, :2] + np.outer(np.sin(np.arange(240)), [1, 2])
    options = {"uncertainty_score": SELE(alphas=0.01), "target_coverage": 0.6}
    regressor = sr.SelectiveRegressor(LinearRegression(), **options).fit(X, numbers)
    display = of_classifier(regressor, X, numbers)
    assert display.area == pytest.approx([-regressor.score(X, numbers)])
    assert display.target == {"target_coverage": 0.6}


@weights
def test_the_point_is_what_the_rule_does(selective, weight):
    options = {"sample_weight": weight}
    display = of_classifier(selective, X_test, y_test, **options)
    accepted = selective.accept_proba(X_test)
    losses = selective.predict_label(X_test) != y_test
    coverage = np.average(accepted, weights=weight)
    risk = np.average(losses * accepted, weights=weight) / coverage
    np.testing.assert_allclose(display.point_.get_xydata(), [[coverage, risk]])
    rule = f"rule (coverage {coverage:.3g}, risk {risk:.3g})"
    assert legend_of(display)[1] == rule
    deferring = clone(DEFERRING).set_params(cv=None).fit(X[:120], y[:120])
    display = of_opinions(deferring, X_test, y_test, **options)
    chance = deferring.defer_proba(X_test)
    first = deferring.predict_first(X_test)
    losses = np.where(chance > 0, deferring.expert_.predict(X_test), first) != y_test
    losses = chance * losses + (1 - chance) * (first != y_test)
    rate, risk = (np.average(each, weights=weight) for each in (chance, losses))
    np.testing.assert_allclose(display.point_.get_xydata(), [[rate, risk]])
    # A rule of the score is on the curve.
    assert np.interp(rate, *display.line_.get_data()) == pytest.approx(risk)
    assert legend_of(display)[1] == f"rule (deferred {rate:.3g}, risk {risk:.3g})"


def test_targets_that_are_no_line(selective):
    draw = partial(of_classifier, X=X_test, y=y_test)
    display = draw(selective.retarget(target_failure_rate=0.1))
    coverage, risk = display.target_.get_data()
    np.testing.assert_allclose(coverage * risk, 0.1)
    assert coverage[-1] == 1
    assert display.ax_.get_ylim()[1] < 0.7  # the left end, up to 1, is cut off
    assert legend_of(display)[-1] == "target: failure rate ≤ 0.1"
    asked = {"target_risk": 0.4, "confidence_level": 0.9}
    assert draw(selective.retarget(**asked)).target == asked
    by_cost = draw(selective.retarget(reject_cost=0.3))
    assert by_cost.target_ is None
    assert by_cost.point_ is not None
    groups = {"target_risk": {0: 0.4, 1: 0.5, 2: 0.5}, "group_by": "prediction"}
    groups = sr.SelectiveClassifier(FrozenEstimator(BAYES), **groups)
    assert draw(groups.fit(X_test, y_test)).target is None
    bounds = {"min_tpr": 0.5, "max_risk": 0.6}
    options = {"novelty_score": "msp", "cv": 2, **bounds}
    double = sr.DoubleScoreOODClassifier(GaussianNB(), **options)
    display = draw(double.fit(X, np.where(np.arange(240) % 5 == 0, -1, y)))
    assert display.target == bounds
    np.testing.assert_array_equal(display.target_.get_ydata(), [0.6, 0.6])
    assert display.point[0][0] == pytest.approx(double.accept_proba(X_test).mean())


FEW = {"n_resamples": 30, "random_state": 0}


@weights
def test_a_band_holds_quantiles_of_the_risk_at_each_coverage(weight):
    """Where all accepted losses are 0, or all are 1, its ends are exact ones."""
    options = {"sample_weight": weight, "confidence_level": 0.8, **FEW}
    display = RiskCoverageDisplay.from_predictions(*SAMPLES, **options)
    ((coverage, low, high),) = display.band
    np.testing.assert_array_equal(coverage, display.coverage[0])
    number = 120 if weight is None else weight.sum() ** 2 / (weight**2).sum()
    all_lost = 0.1 ** (1 / (coverage * number))
    assert (high >= 1 - all_lost).all()
    assert (low <= all_lost).all()
    draws, _ = rows_of(120, **FEW)
    for at in (40, 100, 119):
        options = {"coverage": coverage[at], "randomize": True, "labels": [0, 1, 2]}
        risks = [
            metrics.selective_risk_at_coverage_score(
                *(each[rows] for each in SAMPLES),
                sample_weight=None if weight is None else weight[rows],
                **options,
            )
            for rows in draws
        ]
        ends = np.quantile(risks, [0.1, 0.9])
        assert low[at] == pytest.approx(min(ends[0], all_lost[at]), abs=1e-9)
        assert high[at] == pytest.approx(max(ends[1], 1 - all_lost[at]), abs=1e-9)
    (drawn,) = display.band_.get_paths()
    for end in (low, high):
        for point in zip(coverage, end, strict=True):
            assert np.isclose(drawn.vertices, point).all(axis=1).any()


def test_a_band_of_many_samples_has_few_points_and_no_row_without_weight():
    rng = np.random.default_rng(0)
    scores = rng.random(4000)
    losses = rng.random(4000) < scores
    options = {"loss": losses, "confidence_level": 0.9, **FEW}
    draw = partial(RiskCoverageDisplay.from_predictions, None, None)
    display = draw(scores, **options)
    ((coverage, low, high),) = display.band
    assert coverage[0] == display.coverage[0][0]
    assert coverage[-1] == 1
    assert len(coverage) <= 300
    risk = np.interp(coverage, display.coverage[0], display.risk[0])
    assert ((low <= risk) & (risk <= high)).mean() > 0.8
    there = np.arange(4000) < 3000
    part = draw(scores, sample_weight=there, **options)
    expected = draw(scores[there], **{**options, "loss": losses[there]})
    np.testing.assert_allclose(part.band, expected.band)
    # Where all is lost a bootstrap is as sure as where nothing is.
    ((_, low, _),) = draw(scores, **{**options, "loss": np.ones(4000)}).band
    assert low[-1] == pytest.approx(0.05 ** (1 / 4000))
    ((_, _, high),) = draw(scores, **{**options, "loss": np.zeros(4000)}).band
    assert high[-1] == pytest.approx(1 - 0.05 ** (1 / 4000))
    for bad in ({"confidence_level": 95}, {"n_resamples": 9}):
        with pytest.raises(ValueError, match="|".join(bad)):
            draw(scores, **{**options, **bad})
