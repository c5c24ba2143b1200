"""Pictures mark what was asked of a rule, and what the rule does."""

import matplotlib as mpl
import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_reject import (
    DeferringClassifier,
    DoubleScoreOODClassifier,
    SelectiveClassifier,
    SelectiveRegressor,
)
from sklearn_reject.exceptions import RejectionWarning
from sklearn_reject.metrics import (
    DeferralCurveDisplay,
    OODFrontierDisplay,
    RiskCoverageDisplay,
)

mpl.use("Agg")
plt = pytest.importorskip("matplotlib.pyplot")

X, y = make_classification(300, n_informative=4, flip_y=0.1, random_state=0)
X_test, y_test = X[150:], y[150:]
WEIGHT = 1.0 + np.arange(150) % 3
BAYES = FrozenEstimator(GaussianNB().fit(X[:100], y[:100]))


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def selective():
    return SelectiveClassifier(BAYES, target_risk=0.05).fit(X[:150], y[:150])


@pytest.fixture(scope="module")
def deferring():
    return DeferringClassifier(
        GaussianNB(), LogisticRegression(), max_deferral=0.3, gain_score="confidence"
    ).fit(X[:150], y[:150])


def legend_of(display):
    return [text.get_text() for text in display.ax_.get_legend().get_texts()]


def draw(model, **options):
    return RiskCoverageDisplay.from_estimator(model, X_test, y_test, **options)


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["plain", "weighted"])
def test_the_point_is_what_the_rule_does(selective, weight):
    display = draw(selective, sample_weight=weight)
    accepted = selective.accept_proba(X_test)
    losses = selective.predict_label(X_test) != y_test
    coverage = np.average(accepted, weights=weight)
    risk = np.average(losses * accepted, weights=weight) / coverage
    np.testing.assert_allclose(display.point_.get_xydata(), [[coverage, risk]])
    assert np.interp(coverage, *display.line_.get_data()) == pytest.approx(risk, 0.1)
    assert display.point_.get_color() == display.line_.get_color()
    rule = f"rule (coverage {coverage:.3g}, risk {risk:.3g})"
    assert legend_of(display)[1:] == [rule, "target: risk ≤ 0.05"]


@pytest.mark.parametrize(
    ("target", "points", "label"),
    [
        ("target_risk", [(0, 0.07), (1, 0.07)], "risk ≤ 0.07"),
        ("target_coverage", [(0.6, 0), (0.6, 1)], "coverage ≥ 0.6"),
    ],
)
def test_targets_are_lines(selective, target, points, label):
    value = float(label.split()[-1])
    display = draw(selective.retarget(**{target: value}))
    np.testing.assert_array_equal(display.target_.get_xydata(), points)
    assert legend_of(display)[-1] == f"target: {label}"
    assert display.target == {target: value}


def test_a_failure_rate_is_a_curve(selective):
    display = draw(selective.retarget(target_failure_rate=0.04))
    coverage, risk = display.target_.get_data()
    np.testing.assert_allclose(coverage * risk, 0.04)
    assert coverage[-1] == 1
    assert display.ax_.get_ylim()[1] < 0.5  # the left end, up to 1, is cut off
    assert legend_of(display)[-1] == "target: failure rate ≤ 0.04"


def test_promises_say_how_sure_they_are(selective):
    display = draw(selective.retarget(target_risk=0.2, confidence_level=0.9))
    assert display.target == {"target_risk": 0.2, "confidence_level": 0.9}
    assert legend_of(display)[-1] == "certified: risk ≤ 0.2 (90 %)"
    nearest = SelectiveClassifier(
        BAYES, target_risk=0.001, confidence_level=0.9, on_infeasible="nearest"
    )
    with pytest.warns(RejectionWarning):
        nearest.fit(X[100:150], y[100:150])
    certified = nearest.rule_.certificate.target
    assert certified > 0.01
    assert draw(nearest).target["target_risk"] == certified


def test_costs_and_groups(selective):
    by_cost = draw(selective.retarget(reject_cost=0.3))
    assert by_cost.target_ is None
    assert by_cost.point_ is not None
    with pytest.warns(RejectionWarning):
        groups = SelectiveClassifier(
            BAYES,
            target_risk={0: 0.1, 1: 0.2},
            group_by="prediction",
            on_infeasible="nearest",
        ).fit(X[:150], 1 - y[:150])
    assert draw(groups).target is None


def test_promises_to_groups_are_the_weakest_of_them():
    with pytest.warns(RejectionWarning):
        model = SelectiveClassifier(
            BAYES,
            target_risk=0.03,
            group_by="prediction",
            confidence_level=0.8,
            on_infeasible="nearest",
        ).fit(X[100:200], y[100:200])
    certified = [each.target for each in model.rule_.certificate.values()]
    assert max(certified) > min(certified)
    target = {"target_risk": max(certified), "confidence_level": 0.8}
    assert draw(model).target == target


def test_large_losses_are_read_without_powers_of_ten():
    display = RiskCoverageDisplay(
        [[0.5, 1]],
        [[1000, 3000]],
        aurc=[12345.6],
        point=[(0.5, 2512.3)],
        target={"target_risk": 2500},
    ).plot()
    assert legend_of(display) == [
        "AuRC = 12346",
        "rule (coverage 0.5, risk 2512)",
        "target: risk ≤ 2500",
    ]


def test_what_accepts_nothing_has_no_risk():
    point = [(0.0, float("nan"))]
    display = RiskCoverageDisplay([[0, 1]], [[0, 0.1]], point=point).plot()
    assert legend_of(display) == ["rule (accepts nothing)"]


def test_rules_are_found_inside():
    inner = SelectiveClassifier(GaussianNB(), target_risk=0.1, cv=2)
    pipe = make_pipeline(StandardScaler(), inner)
    search = GridSearchCV(pipe, {"selectiveclassifier__target_risk": [0.12]}, cv=2)
    display = draw(search.fit(X, y))
    accepted = search.best_estimator_[-1].accept_proba(
        search.best_estimator_[0].transform(X_test)
    )
    assert display.target == {"target_risk": 0.12}
    assert display.point[0][0] == pytest.approx(accepted.mean())


def test_regressors_have_rules():
    model = SelectiveRegressor(LinearRegression(), target_coverage=0.7, cv=2)
    display = draw(model.fit(X[:150], y[:150].astype(float)))
    assert display.target == {"target_coverage": 0.7}
    coverage = model.accept_proba(X_test).mean()
    assert display.point[0][0] == pytest.approx(coverage)


def test_double_scores_have_rules():
    ood = np.where(np.arange(300) % 5 == 0, -1, y)
    model = DoubleScoreOODClassifier(
        GaussianNB(), min_tpr=0.5, max_risk=0.4, novelty_score="msp", cv=2
    ).fit(X, ood)
    display = draw(model)
    assert display.target == {"max_risk": 0.4}
    coverage = model.accept_proba(X_test).mean()
    assert display.point[0][0] == pytest.approx(coverage)
    frontier = OODFrontierDisplay.from_estimator(model, X, ood, kind="risk_coverage")
    assert frontier.target == {"min_tpr": 0.5, "max_risk": 0.4}


def test_folds_have_one_target_where_it_is_the_same():
    model = SelectiveClassifier(GaussianNB(), target_risk=0.2, cv=2)
    options = {"return_estimator": True, "return_indices": True}
    results = cross_validate(model, X, y, cv=3, **options)
    display = RiskCoverageDisplay.from_cv_results(results, X, y, name="folds")
    assert display.target == {"target_risk": 0.2}
    assert len(display.point_) == 3
    rows = results["indices"]["test"][1]
    accepted = results["estimator"][1].accept_proba(X[rows])
    assert display.point[1][0] == pytest.approx(accepted.mean())
    assert legend_of(display)[1:] == ["rules", "target: risk ≤ 0.2"]
    results["estimator"][0].target_risk = 0.3
    others = RiskCoverageDisplay.from_cv_results(results, X, y)
    assert others.target is None
    assert len(others.point_) == 3


@pytest.mark.parametrize(
    ("target", "points"),
    [
        ({"max_deferral": 0.3}, [(0.3, 0), (0.3, 1)]),
        ({"target_risk": 0.4}, [(0, 0.4), (1, 0.4)]),
    ],
)
def test_targets_of_deferral(deferring, target, points):
    model = deferring.retarget(**target)
    display = DeferralCurveDisplay.from_estimator(model, X_test, y_test)
    assert display.target == target
    np.testing.assert_array_equal(display.target_.get_xydata(), points)
    assert display.plot(plot_target=False).target_ is None


def test_displays_on_the_same_axes_share_a_target(selective):
    first = draw(selective, name="a", plot_random=True, plot_oracle=True)
    more = {"ax": first.ax_, "plot_random": True, "plot_oracle": True}
    second = draw(selective, name="b", **more)
    assert second.target_ is first.target_
    assert second.random_ is first.random_
    assert second.oracle_ is first.oracle_
    texts = legend_of(second)
    assert len(texts) == 7  # two curves and points, a target and two references
    assert sum(text.startswith("target") for text in texts) == 1
    third = draw(selective.retarget(target_risk=0.1), name="c", ax=first.ax_)
    assert third.target_ is not first.target_
    assert "target: risk ≤ 0.1" in legend_of(third)


def test_parts_can_be_left_out_and_styled(selective):
    display = draw(selective, plot_point=False, plot_target=False)
    assert (display.point_, display.target_) == (None, None)
    assert len(display.ax_.lines) == 1
    display.plot(
        point_kwargs={"marker": "s"}, target_kwargs={"color": "red", "label": "mine"}
    )
    assert display.point_.get_marker() == "s"
    assert display.target_.get_color() == "red"
    assert "mine" in legend_of(display)
    bare = RiskCoverageDisplay([[0, 1]], [[0, 0.1]])
    for part in ("point", "target"):
        with pytest.raises(ValueError, match=f"plot_{part}=True, but .* `{part}`"):
            bare.plot(**{f"plot_{part}": True})


def test_the_classifier_inside_predicts_once(selective, monkeypatch):
    calls, predict = [], GaussianNB.predict_proba

    def count(self, X):
        calls.append(len(X))
        return predict(self, X)

    monkeypatch.setattr(GaussianNB, "predict_proba", count)
    draw(selective)
    assert calls == [len(X_test)]
