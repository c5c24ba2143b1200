"""Pictures of risk and coverage show what the metrics compute, and what was asked."""

from functools import partial

import matplotlib as mpl
import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC

from sklearn_reject import (
    DoubleScoreOODClassifier,
    SelectiveClassifier,
    SelectiveRegressor,
)
from sklearn_reject.exceptions import RejectionWarning
from sklearn_reject.metrics import (
    RiskCoverageDisplay,
    bootstrap_interval,
    get_selective_scorer,
    selective_risk_at_coverage_score,
)

mpl.use("Agg")
plt = pytest.importorskip("matplotlib.pyplot")

X, y = make_classification(
    240, n_features=5, n_informative=4, n_redundant=0, n_classes=3, flip_y=0.2,
    random_state=0,
)  # fmt: skip
X_test, y_test = X[120:], y[120:]
BAYES = GaussianNB().fit(X[:120], y[:120])
LABELS = BAYES.predict(X_test)
UNCERTAINTY = np.sort(BAYES.predict_proba(X_test))[:, :2].sum(axis=1)
SAMPLES = y_test, LABELS, UNCERTAINTY
WEIGHT = 1.0 + np.arange(120) % 3
weights = pytest.mark.parametrize("weight", [None, WEIGHT], ids=["plain", "weighted"])


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def selective():
    model = SelectiveClassifier(FrozenEstimator(BAYES), target_risk=0.25)
    return model.fit(X_test, y_test)


def legend_of(display):
    return [text.get_text() for text in display.ax_.get_legend().get_texts()]


def draw(model, **options):
    return RiskCoverageDisplay.from_estimator(model, X_test, y_test, **options)


@weights
def test_references_are_the_order_by_loss_and_the_mean_loss(weight):
    options = {"loss": "squared", "sample_weight": weight}
    display = RiskCoverageDisplay.from_predictions(
        *SAMPLES, plot_oracle=True, plot_random=True, **options
    )
    losses = (LABELS - y_test) ** 2.0
    order = np.argsort(losses, kind="stable")
    ordered = np.ones(120) if weight is None else weight[order]
    total = np.cumsum(ordered)
    oracle = total / total[-1], np.cumsum(losses[order] * ordered) / total
    np.testing.assert_allclose(display.oracle_.get_data(), oracle)
    mean = np.average(losses, weights=weight)
    np.testing.assert_allclose(display.random_.get_xydata(), [(0, mean), (1, mean)])
    assert display.random == pytest.approx(mean)


# Estimators


def test_any_classifier_is_drawn_as_it_is_scored():
    names = np.array(["a", "b", "c"])
    svm = LinearSVC(random_state=0).fit(X[:120], names[y[:120]])
    for model, truth in ((BAYES, y_test), (svm, names[y_test])):
        display = RiskCoverageDisplay.from_estimator(model, X_test, truth)
        area = get_selective_scorer("neg_aurc")(model, X_test, truth)
        assert display.aurc == [-area]
        assert display.risk[0][-1] == pytest.approx(1 - model.score(X_test, truth))
        assert display.point is display.target is None
        assert legend_of(display)[0].startswith(f"{type(model).__name__} (AuRC = ")
    expected = RiskCoverageDisplay.from_predictions(*SAMPLES)
    np.testing.assert_allclose(draw(BAYES).line_.get_data(), expected.line_.get_data())


@weights
def test_the_point_is_what_the_rule_does(selective, weight):
    display = draw(selective, sample_weight=weight)
    accepted = selective.accept_proba(X_test)
    losses = selective.predict_label(X_test) != y_test
    coverage = np.average(accepted, weights=weight)
    risk = np.average(losses * accepted, weights=weight) / coverage
    np.testing.assert_allclose(display.point_.get_xydata(), [[coverage, risk]])
    assert np.interp(coverage, *display.line_.get_data()) == pytest.approx(risk, 0.1)
    rule = f"rule (coverage {coverage:.3g}, risk {risk:.3g})"
    assert legend_of(display)[1:] == [rule, "target: risk ≤ 0.25"]


def test_a_failure_rate_is_a_curve(selective):
    display = draw(selective.retarget(target_failure_rate=0.1))
    coverage, risk = display.target_.get_data()
    np.testing.assert_allclose(coverage * risk, 0.1)
    assert coverage[-1] == 1
    assert display.ax_.get_ylim()[1] < 0.7  # the left end, up to 1, is cut off
    assert legend_of(display)[-1] == "target: failure rate ≤ 0.1"


def test_costs_and_bounds_of_groups_are_no_lines(selective):
    by_cost = draw(selective.retarget(reject_cost=0.3))
    assert by_cost.target_ is None
    assert by_cost.point_ is not None
    bounds = {0: 0.4, 1: 0.5, 2: 0.5}
    groups = SelectiveClassifier(
        FrozenEstimator(BAYES), target_risk=bounds, group_by="prediction"
    )
    assert draw(groups.fit(X_test, y_test)).target is None


def test_what_accepts_nothing_has_no_risk():
    point = [(0.0, float("nan"))]
    display = RiskCoverageDisplay([[0, 1]], [[0, 0.1]], point=point).plot()
    assert legend_of(display) == ["rule (accepts nothing)"]


def test_regressors_and_double_scores_have_rules():
    regressor = SelectiveRegressor(LinearRegression(), target_coverage=0.7, cv=2)
    ood = np.where(np.arange(240) % 5 == 0, -1, y)
    double = DoubleScoreOODClassifier(
        GaussianNB(), min_tpr=0.5, max_risk=0.6, novelty_score="msp", cv=2
    )
    for model, target, asked in (
        (regressor, y.astype(float), {"target_coverage": 0.7}),
        (double, ood, {"max_risk": 0.6}),
    ):
        display = draw(model.fit(X, target))
        assert display.target == asked
        coverage = model.accept_proba(X_test).mean()
        assert display.point[0][0] == pytest.approx(coverage)


# Bands

FEW = {"n_resamples": 30, "random_state": 0}


@weights
def test_a_band_holds_the_intervals_of_the_risk_at_each_coverage(weight):
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
    for at in (40, 100, 119):
        interval = bootstrap_interval(
            partial(
                selective_risk_at_coverage_score, coverage=coverage[at], randomize=True
            ),
            SAMPLES,
            metric_params={"labels": [0, 1, 2], "sample_weight": weight},
            confidence_level=0.8,
            method="percentile",
            **FEW,
        )
        assert low[at] == pytest.approx(min(interval.low, all_lost[at]), abs=1e-9)
        assert high[at] == pytest.approx(max(interval.high, 1 - all_lost[at]), abs=1e-9)
    (drawn,) = display.band_.get_paths()
    for end in (low, high):
        for point in zip(coverage, end, strict=True):
            assert np.isclose(drawn.vertices, point).all(axis=1).any()


def test_a_band_of_many_samples_has_few_points():
    rng = np.random.default_rng(0)
    scores = rng.random(4000)
    losses = rng.random(4000) < scores
    display = RiskCoverageDisplay.from_predictions(
        None, None, scores, loss=losses, confidence_level=0.9, **FEW
    )
    ((coverage, low, high),) = display.band
    assert coverage[0] == display.coverage[0][0]
    assert coverage[-1] == 1
    assert len(coverage) <= 300
    risk = np.interp(coverage, display.coverage[0], display.risk[0])
    assert ((low <= risk) & (risk <= high)).mean() > 0.8


def test_samples_without_weight_are_not_drawn():
    there = np.arange(120) >= 20
    options = {"confidence_level": 0.8, **FEW}
    display, expected = (
        RiskCoverageDisplay.from_predictions(*samples, sample_weight=weight, **options)
        for samples, weight in (
            (SAMPLES, there * WEIGHT),
            ([array[there] for array in SAMPLES], WEIGHT[there]),
        )
    )
    np.testing.assert_allclose(display.band, expected.band)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"confidence_level": 95}, r"confidence_level must be in \]0, 1\["),
        ({"confidence_level": 0.95, "n_resamples": 10}, "n_resamples=10 is too few"),
        ({"band_kwargs": {"alpha": 1}}, "band_kwargs is given, but the display has"),
        ({"sample_weight": WEIGHT[:3]}, "sample_weight has 3 elements.*120 samples"),
        ({"uncertainty": [1, 2]}, r"uncertainty has 2 elements.*120 samples"),
        ({"y_pred": np.where(LABELS == 0, -1, LABELS)}, "y_pred holds -1"),
    ],
)
def test_bad_input(options, message):
    samples = dict(zip(("y_true", "y_pred", "uncertainty"), SAMPLES, strict=True))
    with pytest.raises(ValueError, match=message):
        RiskCoverageDisplay.from_predictions(**{**samples, **options})


def test_a_band_without_any_loss_is_told():
    assert draw(BAYES).band_ is None
    with pytest.warns(RejectionWarning, match="band has no width. That"):
        RiskCoverageDisplay.from_predictions(
            LABELS, LABELS, UNCERTAINTY, confidence_level=0.8, **FEW
        )
