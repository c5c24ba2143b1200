"""Risk against coverage or deferral, as the rule of a model has it."""

from functools import partial

import numpy as np
import pytest
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC

from sklearn_reject import (
    DeferringClassifier,
    DoubleScoreOODClassifier,
    SelectiveClassifier,
    SelectiveRegressor,
)
from sklearn_reject.metrics import (
    DeferralCurveDisplay,
    RiskCoverageDisplay,
    deferral_curve,
    get_selective_scorer,
    risk_coverage_curve,
    selective_risk_at_coverage_score,
)
from sklearn_reject.scores import SELE
from tests.metrics.models import three_classes
from tests.metrics.plot.drawn import legend_of
from tests.metrics.tables import rows_of

X, y = three_classes(240)
X_test, y_test = X[120:], y[120:]
BAYES = GaussianNB().fit(X[:120], y[:120])
LABELS = BAYES.predict(X_test)
SECOND = LogisticRegression().fit(X[:120], y[:120]).predict(X_test)
UNCERTAINTY = np.sort(BAYES.predict_proba(X_test))[:, :2].sum(axis=1)
SAMPLES = y_test, LABELS, UNCERTAINTY
GAINS = np.round(np.sin(np.arange(120.0)) + (y_test != LABELS), 1)  # some are tied
OPINIONS = y_test, LABELS, SECOND, GAINS
COSTS = np.array([[0.0, 1.0, 2.0], [5.0, 0.0, 1.0], [3.0, 2.0, 0.0]])
WEIGHT = 1.0 + np.arange(120) % 3
weights = pytest.mark.parametrize("weight", [None, WEIGHT], ids=["plain", "weighted"])
REFERENCES = {"plot_oracle": True, "plot_random": True}
of_classifier = RiskCoverageDisplay.from_estimator
of_opinions = DeferralCurveDisplay.from_estimator


@pytest.fixture(scope="module")
def selective():
    model = SelectiveClassifier(FrozenEstimator(BAYES), target_risk=0.25)
    return model.fit(X_test, y_test)


@pytest.fixture(scope="module")
def deferring():
    model = DeferringClassifier(
        GaussianNB(), LogisticRegression(), max_deferral=0.3, gain_score="confidence"
    )
    return model.fit(X[:120], y[:120])


@pytest.fixture(scope="module")
def asking():
    """A classifier that defers to a person."""
    model = DeferringClassifier(GaussianNB(), max_deferral=0.3, gain_score="confidence")
    return model.fit(X[:120], y[:120], expert_labels=y[:120])


# References


@weights
def test_the_oracle_orders_by_loss_or_gain_and_chance_has_mean_losses(weight):
    options = {"loss": "squared", "sample_weight": weight, **REFERENCES}
    losses = [(labels - y_test) ** 2.0 for labels in (LABELS, SECOND)]
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
    expected = deferral_curve(*by_gain, loss=losses, sample_weight=weight)[:2]
    np.testing.assert_array_equal(display.oracle_.get_data(), expected)
    chance = display.random_.get_xydata()
    np.testing.assert_allclose(chance, [(0, means[0]), (1, means[1])])
    np.testing.assert_allclose(display.system_risk[0][[0, -1]], means)


def test_missing_answers_are_left_out_everywhere():
    known = np.arange(120) % 5 < 3
    some = y_test, LABELS, np.where(known, SECOND, np.nan), GAINS
    display, expected = (
        DeferralCurveDisplay.from_predictions(
            *samples, sample_weight=weight, **REFERENCES
        )
        for samples, weight in (
            (some, WEIGHT),
            ([each[known] for each in OPINIONS], WEIGHT[known]),
        )
    )
    for line in ("line_", "oracle_", "random_"):
        drawn = getattr(display, line).get_data()
        np.testing.assert_allclose(drawn, getattr(expected, line).get_data())
    assert display.area == pytest.approx(expected.area)


# Rules


def test_a_classifier_without_a_rule_has_no_point():
    names = np.array(["a", "b", "c"])
    svm = LinearSVC(random_state=0).fit(X[:120], names[y[:120]])
    for model, truth in ((BAYES, y_test), (svm, names[y_test])):
        display = of_classifier(model, X_test, truth)
        area = get_selective_scorer("neg_aurc")(model, X_test, truth)
        assert display.area == [-area]
        assert display.point is display.target is display.band_ is None
        assert legend_of(display)[0].startswith(f"{type(model).__name__} (AuRC = ")
    expected = risk_coverage_curve(*SAMPLES)[:2]
    drawn = of_classifier(BAYES, X_test, y_test).line_.get_data()
    np.testing.assert_allclose(drawn, expected)
    with pytest.raises(ValueError, match="has no second opinion"):
        of_opinions(BAYES, X_test, y_test)


def test_the_loss_is_that_of_the_estimator():
    numbers = X[:, :2] + np.outer(np.sin(np.arange(240)), [1, 2])
    regressor = SelectiveRegressor(
        LinearRegression(), uncertainty_score=SELE(alphas=0.01), target_coverage=0.6
    ).fit(X, numbers)
    display = of_classifier(regressor, X, numbers)
    assert display.area == pytest.approx([-regressor.score(X, numbers)])
    assert display.target == {"target_coverage": 0.6}


@weights
def test_the_point_is_what_the_rule_does(selective, deferring, weight):
    options = {"sample_weight": weight}
    display = of_classifier(selective, X_test, y_test, **options)
    accepted = selective.accept_proba(X_test)
    losses = selective.predict_label(X_test) != y_test
    coverage = np.average(accepted, weights=weight)
    risk = np.average(losses * accepted, weights=weight) / coverage
    np.testing.assert_allclose(display.point_.get_xydata(), [[coverage, risk]])
    rule = f"rule (coverage {coverage:.3g}, risk {risk:.3g})"
    assert legend_of(display)[1] == rule
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


def test_the_point_of_a_person_is_that_of_known_answers(asking):
    known = np.arange(120) % 3 > 0
    answers = np.where(known, y_test, None)
    display = of_opinions(asking, X_test, y_test, expert_labels=answers)
    chance = asking.defer_proba(X_test)[known]
    wrong = (asking.predict_first(X_test) != y_test)[known]
    point = np.mean(chance), np.mean((1 - chance) * wrong)
    assert display.point[0] == pytest.approx(point)
    assert np.interp(point[0], *display.line_.get_data()) == pytest.approx(point[1])


def test_folds_take_the_answers_of_a_person(asking):
    rows = [test for _, test in StratifiedKFold(2).split(X, y)]
    results = {"estimator": [asking] * 2, "indices": {"test": rows}}
    answers, options = np.where(y > 0, y, 1), {"loss": COSTS, "labels": [0, 1, 2]}
    display = DeferralCurveDisplay.from_cv_results(
        results, X, y, expert_labels=list(answers), **options
    )
    for number, test in enumerate(rows):
        options["expert_labels"] = answers[test]
        alone = of_opinions(asking, X[test], y[test], **options)
        assert display.area[number] == alone.area[0]
        assert display.point[number] == alone.point[0]


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
    groups = SelectiveClassifier(FrozenEstimator(BAYES), **groups)
    assert draw(groups.fit(X_test, y_test)).target is None
    double = DoubleScoreOODClassifier(
        GaussianNB(), min_tpr=0.5, max_risk=0.6, novelty_score="msp", cv=2
    ).fit(X, np.where(np.arange(240) % 5 == 0, -1, y))
    display = draw(double)
    assert display.target == {"min_tpr": 0.5, "max_risk": 0.6}
    np.testing.assert_array_equal(display.target_.get_ydata(), [0.6, 0.6])
    assert display.point[0][0] == pytest.approx(double.accept_proba(X_test).mean())


# Bands

FEW = {"n_resamples": 30, "random_state": 0}


@weights
def test_a_band_holds_quantiles_of_the_risk_at_each_coverage(weight):
    """Where all accepted losses are 0, or all are 1, its ends are exact ones."""
    display = RiskCoverageDisplay.from_predictions(
        *SAMPLES, sample_weight=weight, confidence_level=0.8, **FEW
    )
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
            selective_risk_at_coverage_score(
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
