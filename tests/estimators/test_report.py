"""Reports: each number is that of a count, and what is printed is what is there."""

import json
import pickle

import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from sklearn_reject import (
    DeferringClassifier,
    DoubleScoreOODClassifier,
    Interval,
    ReportPromise,
    SelectiveClassifier,
    SelectiveRegressor,
)
from sklearn_reject.exceptions import RejectionWarning

X, y = load_breast_cancer(return_X_y=True)
TRAIN, TEST = slice(0, 300), slice(300, 569)
X_test, y_test = X[TEST], y[TEST]


def selective(**options):
    return SelectiveClassifier(GaussianNB(), **options).fit(X[TRAIN], y[TRAIN])


def check_share(interval, flags, level=0.95):
    """Compare an interval with a count and its interval of scipy."""
    if not len(flags):
        assert np.isnan(interval.value)
        assert interval[1:] == (0, 1, 0)
        return
    exact = binomtest(int(np.sum(flags)), len(flags)).proportion_ci(level)
    expected = (np.mean(flags), exact.low, exact.high, len(flags))
    assert interval == pytest.approx(expected)


@pytest.mark.parametrize("level", [0.8, 0.95])
def test_parts_are_counts(level):
    model = selective(target_risk=0.02)
    accepted = model.accept(X_test)
    labels = model.predict_label(X_test)
    wrong = labels != y_test
    report = model.report(X_test, y_test, confidence_level=level)
    masks = {"all": np.ones(len(y_test), dtype=bool)}
    for k in (0, 1):
        masks |= {f"predicted {k}": labels == k, f"true {k}": y_test == k}
    assert {part.name for part in report.parts} == set(masks)
    for part in report.parts:
        mask = masks[part.name]
        check_share(part.coverage, accepted[mask], level)
        check_share(part.risk, wrong[mask & accepted], level)


def promise_of(model, *samples, **options):
    [promise] = model.report(*(samples or (X_test, y_test)), **options).promises
    return promise


@pytest.mark.parametrize(
    ("options", "quantity"),
    [
        ({"target_risk": 0.02}, "risk"),
        ({"target_coverage": 0.9}, "coverage"),
        ({"target_failure_rate": 0.04, "cv": 0.5}, "failure rate"),
        ({"reject_cost": 0.2}, "cost"),
    ],
)
def test_promises_are_what_was_asked_for(options, quantity):
    model = selective(random_state=0, **options)
    promise = promise_of(model)
    accepted, rule = model.accept(X_test), model.rule_
    wrong = model.predict_label(X_test) != y_test
    if quantity == "cost":
        assert promise.sense == promise.verdict == ""
        expected = np.where(accepted, wrong, 0.2).mean()
        assert promise.achieved.value == pytest.approx(expected)
        assert promise.achieved.low < expected < promise.achieved.high
        cost = rule.failure_rate + 0.2 * (1 - rule.coverage)
        assert promise.calibration == pytest.approx(cost)
        return
    flags, on_calibration = {
        "risk": (wrong[accepted], rule.selective_risk),
        "coverage": (accepted, rule.coverage),
        "failure rate": (accepted & wrong, rule.failure_rate),
    }[quantity]
    check_share(promise.achieved, flags)
    assert promise.quantity == quantity
    assert promise.part == "all"
    assert promise.bound == next(iter(options.values()))
    assert promise.calibration == on_calibration
    assert promise.confidence_level is None


def test_a_certified_promise_says_how_sure_it_is():
    model = selective(target_risk=0.1, confidence_level=0.9, cv=0.5, random_state=0)
    assert promise_of(model).confidence_level == 0.9
    assert "<= 0.1 at 90 %" in str(model.report(X_test, y_test))


@pytest.mark.parametrize(
    ("sense", "interval", "verdict"),
    [
        ("<=", (0.05, 0.01, 0.1), "kept"),
        ("<=", (0.05, 0.01, 0.2), "too few to tell"),
        ("<=", (0.00, 0.00, 0.708), "too few to tell"),
        ("<=", (0.10, 0.05, 0.2), "too few to tell"),
        ("<=", (0.15, 0.05, 0.2), "within noise"),
        ("<=", (0.15, 0.10, 0.2), "within noise"),
        ("<=", (0.15, 0.11, 0.2), "missed"),
        (">=", (0.15, 0.11, 0.2), "kept"),
        (">=", (0.15, 0.09, 0.2), "too few to tell"),
        (">=", (0.05, 0.01, 0.2), "within noise"),
        (">=", (0.05, 0.01, 0.09), "missed"),
        ("", (0.05, 0.01, 0.09), ""),
        (">=", (np.nan, 0.0, 1.0), ""),
    ],
)
def test_verdicts(sense, interval, verdict):
    achieved = Interval(*interval, n_samples=9)
    assert ReportPromise("q", "all", sense, 0.1, None, 0.1, achieved).verdict == verdict


def test_bounds_of_classes():
    model = selective(min_recall={0: 0.9, 1: 0.95}, min_precision={1: 0.9})
    accepted, labels = model.accept(X_test), model.predict_label(X_test)
    right = labels == y_test
    found = {
        (each.quantity, each.part): each
        for each in model.report(X_test, y_test).promises
    }
    assert len(found) == 3
    check_share(found["recall", "true 0"].achieved, right[accepted & (y_test == 0)])
    check_share(found["recall", "true 1"].achieved, right[accepted & (y_test == 1)])
    of_label = found["precision", "predicted 1"]
    check_share(of_label.achieved, right[accepted & (labels == 1)])
    assert of_label.bound == 0.9
    assert of_label.calibration == model.bounds_["min_precision", 1].achieved


def test_groups_of_a_callable():
    inner = FrozenEstimator(GaussianNB().fit(X[:200], y[:200]))

    model = SelectiveClassifier(inner, target_coverage=0.8, group_by=by_position)
    model.fit(X[200:400], y[200:400])
    report = model.report(X[400:], y[400:])
    groups = by_position(X[400:])
    accepted = model.accept(X[400:])
    assert [each.part for each in report.promises] == ["group 0", "group 1"]
    for group, promise in enumerate(report.promises):
        check_share(promise.achieved, accepted[groups == group])
        assert promise.calibration == model.rule_.rules[group].coverage
    assert {"group 0", "group 1"} < {part.name for part in report.parts}


def by_position(X):
    return (np.asarray(X)[:, 0] > 14).astype(int)


def test_the_level_of_groups_is_that_of_all_of_them():
    model = SelectiveClassifier(
        FrozenEstimator(GaussianNB().fit(X[:200], y[:200])),
        target_risk=0.2,
        group_by=by_position,
        confidence_level=0.9,
    ).fit(X[200:400], y[200:400])
    assert model.rule_.certificate[0].confidence_level == pytest.approx(0.95)
    report = model.report(X[400:], y[400:])
    assert {each.confidence_level for each in report.promises} == {0.9}
    # Of a group that is rejected as a whole nothing is certified.
    with pytest.warns(RejectionWarning, match="rejected as a whole"):
        model.set_params(target_risk={0: 0.2, 1: 1e-6}).fit(X[200:400], y[200:400])
    levels = [each.confidence_level for each in model.report(X[400:], y[400:]).promises]
    assert levels == [0.9, None]


WITH_OOD = np.where(np.arange(len(y)) % 5 == 0, -1, y)
FITTED_AS = {
    "selective": (
        selective(target_risk=0.05, random_state=0),
        y,
        {"target_risk": None, "target_coverage": 0.3, "confidence_level": 0.9},
    ),
    "several bounds": (
        selective(min_recall={0: 0.9}, random_state=0),
        y,
        {"min_recall": {0: 0.5, 1: 0.5}, "loss": "squared"},
    ),
    "regressor": (
        SelectiveRegressor(Ridge(), target_coverage=0.8, uncertainty_score="knn"),
        X[:, 0],
        {"target_coverage": 0.5, "loss": "absolute", "max_loss": 1.0},
    ),
    "defers": (
        DeferringClassifier(
            GaussianNB(),
            DecisionTreeClassifier(random_state=0),
            deferral_cost=0.05,
            gain_score="confidence",
        ),
        y,
        {"deferral_cost": 0.2, "max_deferral": 0.1, "expert": None},
    ),
    "double": (
        DoubleScoreOODClassifier(GaussianNB(), min_tpr=0.7, max_fpr=0.9),
        WITH_OOD,
        {"min_tpr": 0.1, "max_fpr": None, "max_risk": 0.1, "ood_label": 1},
    ),
    "costs": (
        DoubleScoreOODClassifier(GaussianNB(), costs=(0.3, 2.0, 0.5), ood_prior=0.2),
        WITH_OOD,
        {"costs": None, "ood_prior": 0.9, "wild_label": 0},
    ),
}


@pytest.mark.parametrize("name", FITTED_AS)
def test_what_is_said_belongs_to_what_was_fitted(name):
    model, labels, changes = FITTED_AS[name]
    model = clone(model).fit(X[TRAIN], labels[TRAIN])

    def said():
        return (
            str(model.report(X_test, labels[TEST])),
            model.score(X_test, labels[TEST]),
            *map(np.asarray, model.predict_all(X_test)),
        )

    before = said()
    model.set_params(**changes)
    for one, other in zip(before, said(), strict=True):
        np.testing.assert_array_equal(one, other)
    with pytest.raises(ValueError, match=r"[a-z]"):
        model.fit(X[TRAIN], np.full(len(labels[TRAIN]), np.nan))
    copy = pickle.loads(pickle.dumps(model))
    assert str(copy.report(X_test, labels[TEST])) == before[0]
    with pytest.raises(NotFittedError):
        clone(model).report(X_test, labels[TEST])


def test_targets_that_a_user_changes_in_place_are_not_those_of_the_fit():
    model = selective(target_risk={0: 0.2, 1: 0.3}, group_by="prediction")
    before = str(model.report(X_test, y_test))
    model.target_risk[0] = 0.01
    assert str(model.report(X_test, y_test)) == before


def test_a_regressor_has_no_bound_on_its_loss():
    X, y = load_diabetes(return_X_y=True)
    model = SelectiveRegressor(Ridge(), target_coverage=0.8).fit(X[:300], y[:300])
    report = model.report(X[300:], y[300:])
    accepted = model.accept(X[300:])
    [part] = report.parts
    losses = (y[300:] - model.predict(X[300:])) ** 2
    assert part.risk.value == pytest.approx(losses[accepted].mean())
    assert "inf" not in str(report)


@pytest.mark.parametrize(
    ("options", "quantity"),
    [
        ({"deferral_cost": 0.05}, "cost"),
        ({"max_deferral": 0.2}, "deferral rate"),
        ({"target_risk": 0.1}, "risk"),
        ({"max_deferral": 0.2, "group_by": "prediction"}, "deferral rate"),
        ({"deferral_cost": 0.05, "group_by": "prediction"}, "cost"),
        ({"target_risk": 0.2, "group_by": "prediction"}, "risk"),
    ],
)
def test_second_opinions(options, quantity):
    model = DeferringClassifier(
        GaussianNB(),
        DecisionTreeClassifier(max_depth=3, random_state=0),
        gain_score="confidence",
        random_state=0,
        **options,
    ).fit(X[TRAIN], y[TRAIN])
    report = model.report(X_test, y_test)
    deferred, wrong = model.defer(X_test), model.predict(X_test) != y_test
    values = {
        "cost": wrong + 0.05 * deferred,
        "deferral rate": deferred,
        "risk": wrong,
    }[quantity]
    first = model.predict_first(X_test)
    masks = [first == k for k in (0, 1)] if "group_by" in options else [first >= 0]
    for promise, mask in zip(report.promises, masks, strict=True):
        assert promise.quantity == quantity
        assert promise.achieved.value == pytest.approx(values[mask].mean())
    assert report.parts[0].risk.value == pytest.approx(wrong.mean())
    for part, rows in zip(report.parts[1:], (~deferred, deferred), strict=True):
        assert part.coverage.value == pytest.approx(rows.mean())
        mean = wrong[rows].mean() if rows.any() else np.nan
        assert part.risk.value == pytest.approx(mean, nan_ok=True)


def test_what_is_printed_and_the_dictionary():
    report = selective(target_risk=0.02).report(X_test, y_test)
    text = str(report)
    assert text == repr(report)
    assert all(len(line) <= 79 for line in text.splitlines())
    restored = json.loads(json.dumps(report.to_dict()))
    assert restored["n_samples"] == len(y_test)
    assert restored["promises"][0]["verdict"] == report.promises[0].verdict
    for part, each in zip(restored["parts"], report.parts, strict=True):
        assert part["coverage"]["value"] == each.coverage.value
        assert f"{each.coverage.value:.3f}" in text


def test_one_row_and_bad_input():
    model = selective(target_risk=0.02)
    assert "on 1 sample," in str(model.report(X_test[:1], y_test[:1]))
    with pytest.raises(ValueError, match="y has 2 elements, but there are 3 samples"):
        model.report(X_test[:3], y_test[:2])
    with pytest.raises(ValueError, match=r"confidence_level must be in \]0, 1\["):
        model.report(X_test, y_test, confidence_level=95)


def test_of_many_classes_the_worst_are_printed():
    X, y = load_digits(return_X_y=True)
    model = SelectiveClassifier(GaussianNB(), target_coverage=0.9).fit(X[:600], y[:600])
    report = model.report(X[600:], y[600:])
    assert len(report.parts) == 21
    rows = str(report).splitlines()[6:-1]
    assert len(rows) == 12
    shown = [row.partition("  ")[0] for row in rows[1:]]
    risks = {part.name: part.risk.value for part in report.parts[1:]}
    assert shown == sorted(risks, key=risks.get, reverse=True)[:11]
    assert str(report).endswith("... and 9 more of lower risk, see to_dict()")


def test_missing_answers_of_a_group_may_be_wrong():
    options = {"target_risk": {0: 0.01, 1: 0.01}, "group_by": "prediction"}
    model = DeferringClassifier(GaussianNB(), gain_score="confidence", **options)
    model.fit(X[TRAIN], y[TRAIN], expert_labels=y[TRAIN])
    known = np.where(np.arange(len(y_test)) % 2, y_test, np.nan)
    report = model.report(X_test, y_test, expert_labels=known)
    first, deferred = model.predict_first(X_test), model.defer(X_test)
    assert (deferred & np.isnan(known)).any()
    answers = np.where(deferred, known, first)
    wrong, is_missing = answers != y_test, np.isnan(answers)
    for group, promise in enumerate(report.promises):
        best, worst = (
            binomtest(int(np.sum(flags[first == group])), np.sum(first == group))
            for flags in (wrong & ~is_missing, wrong | is_missing)
        )
        low, high = best.proportion_ci(0.95).low, worst.proportion_ci(0.95).high
        assert promise.achieved[1:3] == pytest.approx((low, high))


@pytest.mark.parametrize("target", ["deferral_cost", "max_deferral", "target_risk"])
def test_nothing_is_said_of_a_person_whose_answers_are_not_known(target):
    options = {target: 0.02, "gain_score": "confidence"}
    model = DeferringClassifier(GaussianNB(), **options)
    model.fit(X[TRAIN], y[TRAIN], expert_labels=y[TRAIN])
    deferred, wrong = model.defer(X_test), model.predict_first(X_test) != y_test
    assert deferred.any()
    report = model.report(X_test, y_test)
    [promise], (system, first, person) = report.promises, report.parts
    assert first.coverage.value == pytest.approx(np.mean(~deferred))
    assert first.risk.value == pytest.approx(np.mean(wrong[~deferred]))
    assert person.coverage.value == pytest.approx(np.mean(deferred))
    assert np.isnan([person.risk.value, system.risk.value]).all()
    is_share = target == "max_deferral"
    assert bool(promise.verdict) == is_share
    assert np.isnan(promise.achieved.value) != is_share
    assert json.loads(json.dumps(report.to_dict()))
    assert "person" in str(report)


def test_bounds_of_numpy_can_be_written():
    report = selective(target_risk=np.float32(0.02)).report(X_test, y_test).to_dict()
    assert json.loads(json.dumps(report))["promises"][0]["bound"] == np.float32(0.02)


@pytest.mark.parametrize("prior", [0.0, 0.3])
def test_the_cost_of_ood_samples_is_what_was_asked_for(prior):
    model = DoubleScoreOODClassifier(
        GaussianNB(), costs=(0.3, 2.0, 0.5), ood_prior=prior
    ).fit(X[TRAIN], WITH_OOD[TRAIN])
    labels = WITH_OOD[TEST]
    promise = model.report(X_test, labels).promises[0]
    accepted, is_ood = model.accept(X_test), labels == -1
    wrong = model.predict_label(X_test) != labels
    of_id = np.where(accepted, wrong, 0.3)[~is_ood].mean()
    of_ood = np.where(accepted, 2.0, 0.5)[is_ood].mean()
    expected = (1 - prior) * of_id + prior * of_ood
    assert promise.quantity == "cost"
    assert promise.verdict == ""
    assert promise.achieved.value == pytest.approx(expected)
    assert promise.achieved.low < expected < promise.achieved.high
    rule = model.rule_
    on_id = rule.tpr * rule.selective_risk + 0.3 * (1 - rule.tpr)
    on_ood = 2.0 * rule.fpr + 0.5 * (1 - rule.fpr)
    total = (1 - prior) * on_id + prior * on_ood
    assert promise.calibration == pytest.approx(total)


class Counting(GaussianNB):
    """A classifier that counts how often it is asked."""

    n_calls = 0

    def predict(self, X):
        type(self).n_calls += 1
        return super().predict(X)


def test_nobody_is_asked_twice():
    expert = FrozenEstimator(Counting().fit(X[TRAIN], y[TRAIN]))
    model = DeferringClassifier(
        GaussianNB(), expert, max_deferral=0.3, gain_score="confidence"
    ).fit(X[TRAIN], y[TRAIN])
    assert model.defer(X_test).any()
    Counting.n_calls = 0
    model.report(X_test, y_test)
    assert Counting.n_calls == 1
    double = DoubleScoreOODClassifier(
        FrozenEstimator(Counting().fit(X[TRAIN], y[TRAIN])),
        costs=(0.3, 2.0, 0.5),
        ood_prior=0.2,
        novelty_score="msp",
    )
    double.fit(X[TRAIN], WITH_OOD[TRAIN])
    Counting.n_calls = 0
    double.predict_all(X_test)
    n_calls = Counting.n_calls
    double.report(X_test, WITH_OOD[TEST])
    assert Counting.n_calls == 2 * n_calls
