"""Pictures of deferral show what the metrics compute, and what was asked."""

import matplotlib as mpl
import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import GaussianNB

from sklearn_reject import DeferringClassifier
from sklearn_reject.metrics import (
    DeferralCurveDisplay,
    deferral_curve,
)

mpl.use("Agg")
plt = pytest.importorskip("matplotlib.pyplot")

X, y = make_classification(
    160, n_features=5, n_informative=4, n_redundant=0, n_classes=3, flip_y=0.2,
    random_state=0,
)  # fmt: skip
X_test, y_test = X[80:], y[80:]
FIRST = GaussianNB().fit(X[:80], y[:80]).predict(X_test)
SECOND = LogisticRegression().fit(X[:80], y[:80]).predict(X_test)
SCORES = np.round(np.sin(np.arange(80.0)) + (y_test != FIRST), 1)  # some are tied
OPINIONS = y_test, FIRST, SECOND
COSTS = np.array([[0.0, 1.0, 2.0], [5.0, 0.0, 1.0], [3.0, 2.0, 0.0]])
WEIGHT = 1.0 + np.arange(80) % 3
weights = pytest.mark.parametrize("weight", [None, WEIGHT], ids=["plain", "weighted"])


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def deferring():
    model = DeferringClassifier(
        GaussianNB(), LogisticRegression(), max_deferral=0.3, gain_score="confidence"
    )
    return model.fit(X[:80], y[:80])


@pytest.fixture(scope="module")
def asking():
    """A classifier that defers to a person, who has answered in two of three cases."""
    model = DeferringClassifier(GaussianNB(), max_deferral=0.3, gain_score="confidence")
    return model.fit(X[:80], y[:80], expert_labels=y[:80])


def legend_of(display):
    return [text.get_text() for text in display.ax_.get_legend().get_texts()]


@weights
def test_references_are_the_order_by_gain_and_both_mean_losses(weight):
    display = DeferralCurveDisplay.from_predictions(
        *OPINIONS, SCORES, sample_weight=weight, loss="squared",
        plot_oracle=True, plot_random=True,
    )  # fmt: skip
    losses = [(labels - y_test) ** 2.0 for labels in (FIRST, SECOND)]
    expected = deferral_curve(
        None, None, None, losses[0] - losses[1], loss=losses, sample_weight=weight
    )
    np.testing.assert_array_equal(display.oracle_.get_data(), expected[:2])
    means = [np.average(of_one, weights=weight) for of_one in losses]
    np.testing.assert_allclose(
        display.random_.get_xydata(), [(0, means[0]), (1, means[1])]
    )
    np.testing.assert_allclose(display.system_risk[0][[0, -1]], means)


def test_missing_answers_are_left_out_everywhere():
    known = np.random.default_rng(1).random(80) < 0.6
    options = {"plot_oracle": True, "plot_random": True}
    display = DeferralCurveDisplay.from_predictions(
        y_test, FIRST, np.where(known, SECOND, np.nan), SCORES,
        sample_weight=WEIGHT, **options,
    )  # fmt: skip
    expected = DeferralCurveDisplay.from_predictions(
        *(labels[known] for labels in OPINIONS), SCORES[known],
        sample_weight=WEIGHT[known], **options,
    )  # fmt: skip
    for line in ("line_", "oracle_", "random_"):
        drawn = getattr(display, line).get_data()
        np.testing.assert_allclose(drawn, getattr(expected, line).get_data())
    assert display.area == pytest.approx(expected.area)


@weights
def test_the_point_is_what_the_rule_does(deferring, weight):
    display = DeferralCurveDisplay.from_estimator(
        deferring, X_test, y_test, sample_weight=weight
    )
    chance = deferring.defer_proba(X_test)
    first = deferring.predict_first(X_test)
    losses = np.where(chance > 0, deferring.expert_.predict(X_test), first) != y_test
    losses = chance * losses + (1 - chance) * (first != y_test)
    rate, risk = (np.average(each, weights=weight) for each in (chance, losses))
    np.testing.assert_allclose(display.point_.get_xydata(), [[rate, risk]])
    # A rule of the score is on the curve.
    assert np.interp(rate, *display.line_.get_data()) == pytest.approx(risk)
    rule = f"rule (deferred {rate:.3g}, risk {risk:.3g})"
    assert legend_of(display)[1:] == [rule, "target: deferral rate ≤ 0.3"]
    assert display.area == [
        pytest.approx(-deferring.score(X_test, y_test, sample_weight=weight))
    ]


def test_the_point_of_a_person_is_that_of_known_answers(asking):
    known = np.arange(80) % 3 > 0
    display = DeferralCurveDisplay.from_estimator(
        asking, X_test, y_test, expert_labels=np.where(known, y_test, None)
    )
    chance = asking.defer_proba(X_test)[known]
    wrong = (asking.predict_first(X_test) != y_test)[known]
    point = np.mean(chance), np.mean((1 - chance) * wrong)
    assert display.point[0] == pytest.approx(point)
    assert np.interp(point[0], *display.line_.get_data()) == pytest.approx(point[1])


def test_folds_take_the_answers_of_a_person(asking):
    rows = [test for _, test in StratifiedKFold(3).split(X, y)]
    results = {"estimator": [asking] * 3, "indices": {"test": rows}}
    answers = list(np.where(y > 0, y, 1))
    options = {"loss": COSTS, "labels": [0, 1, 2]}
    display = DeferralCurveDisplay.from_cv_results(
        results, X, y, expert_labels=answers, **options
    )
    for number, test in enumerate(rows):
        alone = DeferralCurveDisplay.from_estimator(
            asking, X[test], y[test], expert_labels=np.array(answers)[test], **options
        )
        assert display.area[number] == alone.area[0]
        assert display.point[number] == alone.point[0]


def test_other_classifiers_have_no_second_opinion():
    with pytest.raises(ValueError, match="has no second opinion"):
        DeferralCurveDisplay.from_estimator(GaussianNB().fit(X, y), X, y)
