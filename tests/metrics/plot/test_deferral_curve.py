"""Pictures of deferral curves show the numbers that the metrics compute."""

from typing import NamedTuple

import matplotlib as mpl
import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_reject import DeferringClassifier
from sklearn_reject.metrics import (
    DeferralCurveDisplay,
    deferral_area_score,
    deferral_curve,
    get_selective_scorer,
)

mpl.use("Agg")
plt = pytest.importorskip("matplotlib.pyplot")

X, y = make_classification(
    160,
    n_features=5,
    n_informative=4,
    n_redundant=0,
    n_classes=3,
    flip_y=0.2,
    random_state=0,
)
X_test, y_test = X[80:], y[80:]
WEIGHT = 1.0 + np.arange(80) % 3
FIRST = GaussianNB().fit(X[:80], y[:80]).predict(X_test)
SECOND = LogisticRegression().fit(X[:80], y[:80]).predict(X_test)
SCORES = np.round(np.random.default_rng(0).normal(size=80) + (y_test != FIRST), 1)
LABELS = y_test, FIRST, SECOND
COSTS = np.array([[0.0, 1.0, 2.0], [5.0, 0.0, 1.0], [3.0, 2.0, 0.0]])


class Opinions(NamedTuple):
    first: np.ndarray
    second: np.ndarray
    deferral_score: np.ndarray


class Deferring(ClassifierMixin, BaseEstimator):
    """Defers to a linear model, or to a person; ties with a probability of .25."""

    def __init__(self, person=False):
        self.person = person

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.first_ = GaussianNB().fit(X, y)
        self.expert_ = None if self.person else LogisticRegression().fit(X, y)
        return self

    def deferral_score(self, X):
        return np.round(1 - self.first_.predict_proba(X).max(axis=1), 1)

    def defer_proba(self, X):
        score = self.deferral_score(X)
        return np.where(score == 0.2, 0.25, score > 0.2)

    def _opinions(self, X, expert_labels=None):
        second = expert_labels if self.person else self.expert_.predict(X)
        return Opinions(self.first_.predict(X), second, self.deferral_score(X))


MODEL = Deferring().fit(X[:80], y[:80])


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


@pytest.fixture
def cv_results():
    return cross_validate(
        Deferring(),
        X,
        y,
        cv=3,
        scoring=get_selective_scorer("neg_deferral_area"),
        return_estimator=True,
        return_indices=True,
    )


def legend_of(display):
    return [text.get_text() for text in display.ax_.get_legend().get_texts()]


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["plain", "weighted"])
@pytest.mark.parametrize("loss", ["zero_one", "absolute", COSTS], ids=[0, 1, 2])
def test_curve_and_legend_are_those_of_the_metrics(loss, weight):
    options = {"loss": loss, "sample_weight": weight}
    display = DeferralCurveDisplay.from_predictions(
        *LABELS, SCORES, name="cheap", **options
    )
    rate, risk, _ = deferral_curve(*LABELS, SCORES, **options)
    area = deferral_area_score(*LABELS, SCORES, **options)
    np.testing.assert_array_equal(display.line_.get_xdata(), rate)
    np.testing.assert_array_equal(display.line_.get_ydata(), risk)
    assert display.area == [area]
    assert legend_of(display) == [f"cheap (area = {area:.4g})"]
    assert display.point_ is display.oracle_ is display.random_ is None
    assert display.ax_.get_xlabel() == "Deferral rate (share deferred)"
    assert display.ax_.get_ylabel() == "System risk"


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["plain", "weighted"])
def test_references(weight):
    display = DeferralCurveDisplay.from_predictions(
        *LABELS,
        SCORES,
        sample_weight=weight,
        loss="squared",
        plot_oracle=True,
        plot_random=True,
    )
    first, second = ((labels - y_test) ** 2.0 for labels in (FIRST, SECOND))
    expected = deferral_curve(
        None, None, None, first - second, loss=(first, second), sample_weight=weight
    )
    np.testing.assert_array_equal(display.oracle_.get_xdata(), expected[0])
    np.testing.assert_array_equal(display.oracle_.get_ydata(), expected[1])
    on_grid = np.interp(display.deferral_rate[0], *display.oracle)
    assert (on_grid <= display.system_risk[0] + 1e-12).all()
    assert (on_grid < display.system_risk[0] - 0.01).any()
    means = [np.average(losses, weights=weight) for losses in (first, second)]
    np.testing.assert_allclose(
        display.random_.get_xydata(), [[0, means[0]], [1, means[1]]]
    )
    ends = display.system_risk[0][[0, -1]]
    np.testing.assert_allclose(ends, means)
    assert legend_of(display)[1:] == ["oracle", "random"]


def test_missing_answers_are_left_out_everywhere():
    second = SECOND.astype(float)
    known = np.random.default_rng(1).random(80) < 0.6
    second[~known] = np.nan
    options = {"plot_oracle": True, "plot_random": True}
    display = DeferralCurveDisplay.from_predictions(
        y_test, FIRST, second, SCORES, sample_weight=WEIGHT, **options
    )
    expected = DeferralCurveDisplay.from_predictions(
        *(labels[known] for labels in LABELS),
        SCORES[known],
        sample_weight=WEIGHT[known],
        **options,
    )
    for line in ("line_", "oracle_", "random_"):
        np.testing.assert_allclose(
            getattr(display, line).get_xydata(), getattr(expected, line).get_xydata()
        )
    assert display.area == pytest.approx(expected.area)


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["plain", "weighted"])
def test_from_estimator_marks_the_operating_point(weight):
    pipe = make_pipeline(StandardScaler(), Deferring()).fit(X[:80], y[:80])
    display = DeferralCurveDisplay.from_estimator(
        pipe, X_test, y_test, sample_weight=weight
    )
    area = -get_selective_scorer("neg_deferral_area")(
        pipe, X_test, y_test, sample_weight=weight
    )
    scaled = pipe[0].transform(X_test)
    chance = pipe[-1].defer_proba(scaled)
    assert set(chance) == {0, 0.25, 1}
    first, second, _ = pipe[-1]._opinions(scaled)
    losses = chance * (second != y_test) + (1 - chance) * (first != y_test)
    rate, risk = (np.average(each, weights=weight) for each in (chance, losses))
    np.testing.assert_allclose(display.point_.get_xydata(), [[rate, risk]])
    # A rule of the score is on the curve.
    curve = display.line_.get_xydata().T
    assert np.interp(rate, *curve) == pytest.approx(risk)
    assert display.point_.get_color() == display.line_.get_color()
    assert legend_of(display) == [
        f"Pipeline (area = {area:.4g})",
        f"rule (deferred {rate:.3g}, risk {risk:.3g})",
    ]
    assert display.plot(plot_point=False).point_ is None


def test_the_operating_point_of_a_person_is_that_of_known_answers():
    model = Deferring(person=True).fit(X[:80], y[:80])
    answers = np.where(np.arange(80) % 3 > 0, y_test, None)
    display = DeferralCurveDisplay.from_estimator(
        model, X_test, y_test, expert_labels=answers
    )
    known = np.arange(80) % 3 > 0
    chance = model.defer_proba(X_test)[known]
    wrong = (model.first_.predict(X_test) != y_test)[known]
    point = np.mean(chance), np.mean((1 - chance) * wrong)
    assert display.point[0] == pytest.approx(point)
    assert np.interp(point[0], *display.line_.get_xydata().T) == pytest.approx(point[1])


def test_folds(cv_results):
    display = DeferralCurveDisplay.from_cv_results(
        cv_results, X, y, name="both", plot_oracle=True
    )
    assert display.area == pytest.approx(-cv_results["test_score"])
    mean, spread = np.mean(display.area), np.std(display.area)
    assert legend_of(display) == [
        f"both (area = {mean:.4g} ± {spread:.2g})",
        "rules",
        "oracle",
    ]
    folds = zip(cv_results["estimator"], cv_results["indices"]["test"], strict=True)
    for k, (model, rows) in enumerate(folds):
        alone = DeferralCurveDisplay.from_estimator(model, X[rows], y[rows])
        np.testing.assert_array_equal(
            display.line_[k].get_xydata(), alone.line_.get_xydata()
        )
        np.testing.assert_array_equal(
            display.point_[k].get_xydata(), alone.point_.get_xydata()
        )
    assert len(display.oracle[0]) <= 4  # differences of 0/1 losses, of all folds


def test_folds_with_weights_and_a_person(cv_results):
    models = [Deferring(person=True).fit(X, y) for _ in range(3)]
    results = {"estimator": models, "indices": cv_results["indices"]}
    weight, answers = 1.0 + np.arange(160) % 5, list(np.where(y > 0, y, 1))
    display = DeferralCurveDisplay.from_cv_results(
        results,
        X,
        y,
        expert_labels=answers,
        sample_weight=weight,
        loss=COSTS,
        name=["a", "b", "c"],
    )
    for area, rows in zip(display.area, results["indices"]["test"], strict=True):
        first, second, score = models[0]._opinions(X[rows], np.array(answers)[rows])
        assert area == deferral_area_score(
            y[rows], first, second, score, loss=COSTS, sample_weight=weight[rows]
        )
    assert [text[:1] for text in legend_of(display)[:3]] == ["a", "b", "c"]


def test_styles():
    display = DeferralCurveDisplay.from_estimator(
        MODEL,
        X_test,
        y_test,
        plot_oracle=True,
        plot_random=True,
        curve_kwargs={"color": "red"},
        point_kwargs={"marker": "s", "label": "today"},
        oracle_kwargs={"linewidth": 3},
        random_kwargs={"color": "blue"},
    )
    assert display.line_.get_color() == display.point_.get_color() == "red"
    assert display.point_.get_marker() == "s"
    assert display.oracle_.get_linewidth() == 3
    assert display.random_.get_color() == "blue"
    assert legend_of(display)[1:] == ["today", "oracle", "random"]


def test_curves_on_the_same_axes_and_of_numbers_alone():
    _, ax = plt.subplots()
    DeferralCurveDisplay.from_predictions(*LABELS, SCORES, name="one", ax=ax)
    display = DeferralCurveDisplay([[0, 1]], [[0.3, 0.1]], name="two").plot(ax)
    assert len(ax.lines) == 2
    assert legend_of(display)[1] == "two"
    assert ax.get_ylim()[0] == 0


def test_errors(cv_results):
    display = DeferralCurveDisplay([[0, 1]], [[0.3, 0.1]])
    for part in ("point", "oracle", "random"):
        with pytest.raises(ValueError, match=f"plot_{part}=True, but the display has"):
            display.plot(**{f"plot_{part}": True})
    with pytest.raises(ValueError, match="has no second opinion"):
        DeferralCurveDisplay.from_estimator(GaussianNB().fit(X, y), X, y)
    with pytest.raises(ValueError, match="cv_results has no 'estimator'"):
        DeferralCurveDisplay.from_cv_results({"test_score": [1]}, X, y)
    with pytest.raises(ValueError, match="name has 1 entries for 3 curves"):
        DeferralCurveDisplay.from_cv_results(cv_results, X, y, name=["a"])


def test_of_a_deferring_classifier():
    model = DeferringClassifier(
        GaussianNB(), LogisticRegression(), max_deferral=0.3, gain_score="confidence"
    ).fit(X, y)
    display = DeferralCurveDisplay.from_estimator(model, X, y)
    assert display.area[0] == pytest.approx(-model.score(X, y))
    rate, risk = display.point[0]
    assert rate == pytest.approx(model.defer_proba(X).mean())
    assert np.interp(rate, *display.line_.get_xydata().T) == pytest.approx(risk)
