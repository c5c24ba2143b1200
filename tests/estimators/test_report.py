"""Reports: each number is that of a count, and what is printed is what is there."""

import json
import pickle

import numpy as np
import pytest
from scipy.stats import beta, binomtest, ttest_1samp
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits
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
WITH_OOD = np.where(np.arange(len(y)) % 5 == 0, -1, y)
NAIVE = GaussianNB()
TREE = DecisionTreeClassifier(max_depth=3, random_state=0)


def selective(**options):
    options = {"random_state": 0, **options}
    return SelectiveClassifier(NAIVE, **options).fit(X[TRAIN], y[TRAIN])


def deferring(**options):
    options = {"gain_score": "confidence", "random_state": 0, **options}
    return DeferringClassifier(NAIVE, TREE, **options).fit(X[TRAIN], y[TRAIN])


def double(**options):
    options = {"novelty_score": "mahalanobis", "random_state": 0, **options}
    model = DoubleScoreOODClassifier(NAIVE, **options)
    return model.fit(X[TRAIN], WITH_OOD[TRAIN])


def by_position(X):
    return (np.asarray(X)[:, 0] > 14).astype(int)


def promise_of(model, *samples, **options):
    [promise] = model.report(*(samples or (X_test, y_test)), **options).promises
    return promise


# Each number is a mean of values in some rows


def check_mean(interval, values, level=0.95):
    """Compare an interval with a mean and, of flags, its interval of scipy."""
    if not len(values):
        assert np.isnan(interval.value)
        assert interval[1] == interval[3] == 0
        return
    assert interval.value == pytest.approx(np.mean(values))
    assert interval.n_samples == len(values)
    if np.isin(values, (0, 1)).all():
        exact = binomtest(int(np.sum(values)), len(values)).proportion_ci(level)
        assert interval[1:3] == pytest.approx((exact.low, exact.high))
    else:
        assert interval.low < interval.value < interval.high


def means_of(model, labels):
    """Return values and rows of each quantity, and rows of each part."""
    rows = np.ones(len(labels), dtype=bool)
    parts = {"all": rows}
    if isinstance(model, DeferringClassifier):
        deferred, wrong = model.defer(X_test), model.predict(X_test) != labels
        first = model.predict_first(X_test)
        means = {
            "cost": (wrong + 0.05 * deferred, rows),
            "deferral rate": (deferred, rows),
            "risk": (wrong, rows),
        }
        return means, parts | {f"group {k}": first == k for k in (0, 1)}
    accepted, found = model.accept(X_test), model.predict_label(X_test)
    wrong = found != labels
    if isinstance(model, DoubleScoreOODClassifier):
        is_ood = labels == -1
        means = {"TPR": (accepted, ~is_ood), "FPR": (accepted, is_ood)}
        means["risk"] = (wrong, accepted & ~is_ood)
        parts |= {"in distribution": ~is_ood, "out of distribution": is_ood}
    else:
        means = {
            "coverage": (accepted, rows),
            "risk": (wrong, accepted),
            "failure rate": (accepted & wrong, rows),
            "cost": (np.where(accepted, wrong, 0.2), rows),
        }
        means["precision"] = means["recall"] = (~wrong, accepted)
        groups = by_position(X_test)
        for k in (0, 1):
            parts |= {f"predicted {k}": found == k, f"group {k}": groups == k}
    return means, parts | {f"true {k}": labels == k for k in (0, 1)}


TARGETS = {
    **{"risk": {"target_risk": 0.02}, "coverage": {"target_coverage": 0.9}},
    "failure rate": {"target_failure_rate": 0.04, "cv": 0.5},
    "cost": {"reject_cost": 0.2},
    "bounds": {"min_recall": {0: 0.9, 1: 0.95}, "min_precision": {1: 0.9}},
    "groups": {"target_coverage": 0.8, "group_by": by_position},
    "certified": {"target_risk": 0.1, "confidence_level": 0.9, "cv": 0.5},
}
QUESTIONS = [{"deferral_cost": 0.05}, {"max_deferral": 0.2}, {"target_risk": 0.2}]
MODELS = [
    *((selective, options, y) for options in TARGETS.values()),
    *((deferring, options, y) for options in QUESTIONS),
    *((deferring, options | {"group_by": "prediction"}, y) for options in QUESTIONS),
    (double, {"min_tpr": 0.7, "max_fpr": 1.0, "ood_prior": 0.2}, WITH_OOD),
    (double, {"min_tpr": 0.5, "max_risk": 0.2}, WITH_OOD),
]


ACHIEVED = {
    **{"risk": ("selective_risk", "system_risk"), "coverage": ("coverage",)},
    **{"failure rate": ("failure_rate",), "deferral rate": ("deferral_rate",)},
    **{"TPR": ("tpr",), "FPR": ("fpr",)},
}


@pytest.mark.parametrize(("make", "options", "labels"), MODELS)
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_numbers_are_those_of_counts(make, options, labels, level):
    model, labels = make(**options), labels[TEST]
    means, parts = means_of(model, labels)
    report = model.report(X_test, labels, confidence_level=level)
    for promise in report.promises:
        if promise.quantity == "precision" and make is double:
            continue
        values, rows = means[promise.quantity]
        check_mean(promise.achieved, values[rows & parts[promise.part]], level)
        rule, is_shown = model.rule_, promise.quantity in ACHIEVED
        if "group_by" in options:
            rule = rule.rules[int(promise.part[-1])]
        if is_shown and options is not TARGETS["bounds"]:
            names = ACHIEVED[promise.quantity]
            found = [getattr(rule, name) for name in names if hasattr(rule, name)]
            assert [promise.calibration] == found
            assert promise.bound in options.values()
        assert promise.confidence_level == options.get("confidence_level")
    if make is deferring:
        deferred, wrong = means["deferral rate"][0], means["risk"][0]
        check_mean(report.parts[0].risk, wrong, level)
        for part, rows in zip(report.parts[1:], (~deferred, deferred), strict=True):
            check_mean(part.coverage, rows, level)
            check_mean(part.risk, wrong[rows], level)
        return
    accepted, is_ood = model.accept(X_test), labels == -1
    for part in report.parts:
        check_mean(part.coverage, accepted[parts[part.name]], level)
        rows = parts[part.name] & accepted & ~is_ood
        check_mean(part.risk, means["risk"][0][rows], level)


def test_promises_of_a_cost_of_classes_and_with_a_certificate():
    model = selective(reject_cost=0.2)
    promise, rule = promise_of(model), model.rule_
    assert promise.sense == promise.verdict == ""
    cost = rule.failure_rate + 0.2 * (1 - rule.coverage)
    assert promise.calibration == pytest.approx(cost)
    model = selective(**TARGETS["bounds"])
    for promise in model.report(X_test, y_test).promises:
        found = model.bounds_[f"min_{promise.quantity}", int(promise.part.split()[1])]
        assert (promise.bound, promise.calibration) == found[:2]
    certified = selective(**TARGETS["certified"])
    assert "<= 0.1 at 90%" in str(certified.report(X_test, y_test))


@pytest.mark.parametrize(
    ("sense", "interval", "verdict"),
    [
        ("<=", (0.05, 0.01, 0.1), "kept"),
        ("<=", (0.05, 0.01, 0.2), "too few to tell"),
        ("<=", (0.10, 0.05, 0.2), "too few to tell"),
        ("<=", (0.15, 0.10, 0.2), "within noise"),
        ("<=", (0.15, 0.11, 0.2), "missed"),
        (">=", (0.15, 0.11, 0.2), "kept"),
        (">=", (0.15, 0.09, 0.2), "too few to tell"),
        (">=", (0.05, 0.01, 0.2), "within noise"),
        (">=", (0.05, 0.01, 0.09), "missed"),
        ("", (0.05, 0.01, 0.09), ""),
        (">=", (np.nan, 0.0, 1.0), ""),
        ("<=", (0.05, 0.0, np.inf), ""),
    ],
)
def test_verdicts(sense, interval, verdict):
    achieved = Interval(*interval, n_samples=9)
    assert ReportPromise("q", "all", sense, 0.1, None, 0.1, achieved).verdict == verdict


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


def test_missing_answers_of_a_group_may_be_wrong():
    options = {"target_risk": {0: 0.01, 1: 0.01}, "group_by": "prediction"}
    model = DeferringClassifier(NAIVE, gain_score="confidence", **options)
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


# What is said belongs to what was fitted

FITTED_AS = {
    "groups": (
        SelectiveClassifier(NAIVE, target_risk={0: 0.2, 1: 0.3}, group_by="prediction"),
        y,
        {"max_loss": 2.0},
    ),
    "selective": (
        SelectiveClassifier(NAIVE, target_risk=0.05, random_state=0),
        y,
        {"target_risk": None, "target_coverage": 0.3, "confidence_level": 0.9},
    ),
    "several bounds": (
        SelectiveClassifier(NAIVE, min_recall={0: 0.9}, random_state=0),
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
            NAIVE, TREE, deferral_cost=0.05, gain_score="confidence", random_state=0
        ),
        y,
        {"deferral_cost": 0.2, "max_deferral": 0.1, "expert": None},
    ),
    "double": (
        DoubleScoreOODClassifier(NAIVE, min_tpr=0.7, max_fpr=0.9),
        WITH_OOD,
        {"min_tpr": 0.1, "max_fpr": None, "max_risk": 0.1, "ood_label": 1},
    ),
    "costs": (
        DoubleScoreOODClassifier(NAIVE, costs=(0.3, 2.0, 0.5), ood_prior=0.2),
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
    if isinstance(getattr(model, "target_risk", None), dict):
        model.target_risk[0] = 0.01  # in place
    model.set_params(**changes)
    for one, other in zip(before, said(), strict=True):
        np.testing.assert_array_equal(one, other)
    with pytest.raises(ValueError, match=r"[a-z]"):
        model.fit(X[TRAIN], np.full(len(labels[TRAIN]), np.nan))
    copy = pickle.loads(pickle.dumps(model))
    assert str(copy.report(X_test, labels[TEST])) == before[0]
    with pytest.raises(NotFittedError):
        clone(model).report(X_test, labels[TEST])


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


class Counting(GaussianNB):
    """A classifier that counts how often it is asked."""

    n_calls = 0

    def predict(self, X):
        type(self).n_calls += 1
        return super().predict(X)


def test_nobody_is_asked_twice():
    expert = FrozenEstimator(Counting().fit(X[TRAIN], y[TRAIN]))
    asking = DeferringClassifier(
        NAIVE, expert, max_deferral=0.3, gain_score="confidence"
    ).fit(X[TRAIN], y[TRAIN])
    assert asking.defer(X_test).any()
    costly = clone(FITTED_AS["costs"][0]).set_params(
        estimator=expert, novelty_score="msp"
    )
    costly.fit(X[TRAIN], WITH_OOD[TRAIN])
    for model, labels in ((asking, y_test), (costly, WITH_OOD[TEST])):
        Counting.n_calls = 0
        model.predict(X_test)
        n_calls, Counting.n_calls = Counting.n_calls, 0
        model.report(X_test, labels)
        assert Counting.n_calls == n_calls == 1


# What is printed, and the dictionary


def test_what_is_printed_and_the_dictionary():
    report = selective(target_risk=np.float32(0.02)).report(X_test, y_test)
    text = str(report)
    assert text == repr(report)
    assert all(len(line) <= 79 for line in text.splitlines())
    restored = json.loads(json.dumps(report.to_dict()))
    assert restored["n_samples"] == len(y_test)
    assert restored["promises"][0]["verdict"] == report.promises[0].verdict
    assert restored["promises"][0]["bound"] == np.float32(0.02)
    for part, each in zip(restored["parts"], report.parts, strict=True):
        assert part["coverage"]["value"] == each.coverage.value
        assert f"{each.coverage.value:.3f}" in text


def test_of_many_classes_the_worst_are_printed():
    X, y = load_digits(return_X_y=True)
    model = SelectiveClassifier(NAIVE, target_coverage=0.9).fit(X[:600], y[:600])
    report = model.report(X[600:], y[600:])
    assert len(report.parts) == 21
    rows = str(report).splitlines()[6:-1]
    assert len(rows) == 12
    shown = [row.partition("  ")[0] for row in rows[1:]]
    risks = {part.name: part.risk.value for part in report.parts[1:]}
    assert shown == sorted(risks, key=risks.get, reverse=True)[:11]
    assert str(report).endswith("... and 9 more of lower risk, see to_dict()")


# Intervals that are approximate


@pytest.mark.parametrize("name", ["selective", "several bounds", *list(FITTED_AS)[4:]])
def test_weights_stand_for_rows_and_are_told(name):
    model, labels, _ = FITTED_AS[name]
    model, labels = clone(model).fit(X[TRAIN], labels[TRAIN]), labels[TEST]
    counts = np.random.default_rng(0).integers(0, 4, len(y_test))
    rows = np.repeat(np.arange(len(y_test)), counts)
    report = model.report(X_test, labels, sample_weight=counts)
    expected = model.report(X_test[rows], labels[rows])
    pairs = [
        *zip(report.promises, expected.promises, strict=True),
        *zip(report.parts, expected.parts, strict=True),
    ]
    for one, other in pairs:
        for weighted, repeated in zip(one, other, strict=True):
            if not isinstance(weighted, Interval):
                continue
            assert weighted.value == pytest.approx(repeated.value, nan_ok=True)
            assert weighted.is_approximate == (not np.isnan(weighted.value))
            assert not repeated.is_approximate
            # Repeats count as many samples, of which there are but half.
            assert weighted.low <= repeated.low + 1e-12
            assert weighted.high >= repeated.high - 1e-12
    assert "(~" in str(report)
    assert "~ approximate intervals" in str(report).splitlines()[-1]
    assert report.to_dict()["parts"][0]["coverage"]["is_approximate"]
    # Equal weights change no interval of shares.
    even = model.report(X_test, labels, sample_weight=np.full(len(y_test), 7.0))
    for one, other in zip(model.report(X_test, labels).parts, even.parts, strict=True):
        assert other.coverage == pytest.approx(one.coverage, abs=1e-12, nan_ok=True)
        assert other.risk == pytest.approx(one.risk, abs=1e-12, nan_ok=True)


def flat(estimator, X):
    return np.zeros(len(X))


def test_an_interval_of_squared_errors_holds_about_as_often_as_it_says():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(60_200, 1))
    targets = rows[:, 0] + rng.normal(size=len(rows))
    inner = FrozenEstimator(Ridge().fit(rows[:100], targets[:100]))
    model = SelectiveRegressor(inner, target_risk=2.0, uncertainty_score=flat)
    model.fit(rows[100:200], targets[100:200])
    losses = (targets - inner.predict(rows)) ** 2
    held = []
    for part in np.arange(200, len(rows)).reshape(300, 200):
        promise = promise_of(model, rows[part], targets[part], confidence_level=0.9)
        achieved = promise.achieved
        assert promise.verdict == "kept"
        ends = ttest_1samp(losses[part], 0).confidence_interval(0.9)
        assert achieved[1:3] == pytest.approx(ends)
        held.append(achieved.low <= np.mean(losses[200:]) <= achieved.high)
    assert achieved.is_approximate
    assert 0.85 < np.mean(held) < 0.95


def test_no_verdict_without_an_interval():
    rows = np.arange(40.0)[:, np.newaxis]
    inner = FrozenEstimator(Ridge(alpha=1e-9).fit(rows, rows[:, 0]))
    model = SelectiveRegressor(inner, target_risk=1.0, uncertainty_score=flat)
    model.fit(rows, rows[:, 0] + rows[:, 0] % 2 / 2)
    # A single loss, and losses that are all the same, tell nothing of others.
    for n_samples in (1, 4):
        new = rows[:n_samples]
        promise = promise_of(model, new, inner.predict(new) + 0.5)
        assert promise.achieved.value == pytest.approx(0.25)
        assert promise.verdict == ""
    assert "inf" not in str(model.report(rows[:1], rows[:1, 0] + 0.5))


# ID and OOD samples


@pytest.mark.parametrize("prior", [0.0, 0.3])
def test_cost_and_precision_at_a_prior(prior):
    model = double(costs=(0.3, 2.0, 0.5), ood_prior=prior)
    labels = WITH_OOD[TEST]
    cost, precision = model.report(X_test, labels).promises
    accepted, is_ood = model.accept(X_test), labels == -1
    tpr, fpr = accepted[~is_ood].mean(), accepted[is_ood].mean()
    wrong, rule = model.predict_label(X_test) != labels, model.rule_

    def total(of_id, fpr):
        return (1 - prior) * of_id + prior * (2.0 * fpr + 0.5 * (1 - fpr))

    of_id = np.where(accepted, wrong, 0.3)[~is_ood].mean()
    on_id = rule.tpr * rule.selective_risk + 0.3 * (1 - rule.tpr)
    assert (cost.quantity, cost.verdict) == ("cost", "")
    assert cost.achieved.value == pytest.approx(total(of_id, fpr))
    assert cost.calibration == pytest.approx(total(on_id, rule.fpr))
    kept = (1 - prior) * tpr
    assert (precision.quantity, precision.verdict) == ("precision", "")
    assert precision.achieved.value == pytest.approx(kept / (kept + prior * fpr))
    for each in (cost, precision):
        value, low, high, n_samples = each.achieved
        assert low <= value <= high
        assert n_samples == len(labels)
    assert str(precision.bound) == "nan"


def test_what_no_sample_tells_is_unknown():
    model = double(min_tpr=0.7, min_precision=0.5, ood_prior=0.2)
    labels = WITH_OOD[TEST]
    inside = np.flatnonzero(labels >= 0)
    report = model.report(X_test[inside], labels[inside])
    tpr, precision = report.promises
    assert (tpr.bound, precision.bound) == (0.7, 0.5)
    assert precision.calibration == model.rule_.precision
    assert np.isnan(precision.achieved.value)
    assert report.parts[1].coverage[1:] == (0.0, 1.0, 0)
    assert precision.achieved.low < 0.9 < precision.achieved.high
    for label, known, unknown in ((0, 0, 1), (-1, 1, 0)):
        row = [int(np.argmax(labels == label))]
        report = model.report(X_test[row], labels[row])
        assert "on 1 sample," in str(report)
        assert report.parts[known].coverage.n_samples == 1
        assert report.parts[unknown].coverage[1:] == (0.0, 1.0, 0)


def test_other_losses_are_bounded_where_they_have_a_bound():
    costs = np.array([[0.0, 1.0], [4.0, 0.0]])
    for loss, largest in ((costs, 4.0), ("absolute", None)):
        model = double(min_tpr=0.7, max_risk=4.0, loss=loss)
        _, promise = model.report(X_test, WITH_OOD[TEST]).promises
        risk = promise.achieved
        assert 0 <= risk.low < risk.value < risk.high <= (largest or np.inf)
        assert risk.is_approximate == (largest is None)


def accepting(accepted, labels, *, prior=None, share=None, level=0.95):
    """Return the TPR, risk, FPR and precision of what accepts rows that are flagged.

    It predicts 0; `labels` are 0 or 1, -1 of OOD samples and 9 of wild ones.
    """
    rows = np.array([[0.0], [0.0], [1.0], [1.0]])
    model = DoubleScoreOODClassifier(
        FrozenEstimator(GaussianNB().fit(rows, [0, 0, 1, 1])),
        uncertainty_score=lambda _, X: X[:, 0],
        novelty_score=lambda _, X: X[:, 0],
        min_tpr=0.5,
        ood_prior=prior,
        wild_label=None if share is None else 9,
        wild_share=share,
    )
    outside = -1 if share is None else 9
    model.fit(np.array([[0.0], [0.0], [9.0], [9.0]]), [0, 0, outside, outside])
    X = np.where(accepted, 0.0, 9.0)[:, np.newaxis]
    report = model.report(X, labels, confidence_level=level)
    inside, outside, *_ = report.parts
    return inside.coverage, inside.risk, outside.coverage, report.promises[-1].achieved


def test_wild_samples_tell_the_fpr_where_no_other_do():
    rng = np.random.default_rng(0)
    accepted, is_wild = rng.random(4000) < 0.7, np.arange(4000) < 2500
    truly_ood = is_wild & (rng.random(4000) < 0.4)
    accepted[truly_ood] &= rng.random(truly_ood.sum()) < 0.2
    fpr = accepting(accepted, np.where(is_wild, 9, 0), share=0.4)[2]
    tpr, wild = accepted[~is_wild].mean(), accepted[is_wild].mean()
    assert fpr.value == pytest.approx((wild - 0.6 * tpr) / 0.4)
    assert fpr.low < accepted[truly_ood].mean() < fpr.high
    # Labeled ones are better evidence.
    labels = np.where(truly_ood, -1, np.where(is_wild, 9, 0))
    check_mean(accepting(accepted, labels, share=0.4)[2], accepted[truly_ood])


@pytest.mark.parametrize("rejected", [90, 10])
def test_ends_of_the_fpr_of_a_mixture_are_shares_in_order(rejected):
    is_wild = np.arange(200) >= 100
    accepted = np.where(is_wild, np.arange(200) % 100 >= rejected, False)
    accepted[:rejected] = True
    fpr = accepting(accepted, np.where(is_wild, 9, 0), share=0.2)[2]
    assert 0 <= fpr.low <= fpr.high <= 1


@pytest.mark.slow
def test_intervals_hold_as_often_as_they_say():
    rng = np.random.default_rng(1)
    truth, held = (0.8, 0.1, 0.8, 0.5), []
    for _ in range(100):
        labels = np.where(np.arange(60) >= 40, -1, rng.random(60) < 0.1)
        found = accepting(rng.random(60) < 0.8, labels, prior=0.5, level=0.9)
        held.append([x.low <= t <= x.high for x, t in zip(found, truth, strict=True)])
    # As many misses as chance allows in one of a million runs.
    assert (np.mean(held, axis=0) > beta.ppf(1e-6, 0.9 * 100, 0.1 * 100)).all()


MODEL = double(min_tpr=0.8)
GROUPS = np.where(np.arange(len(y)) % 2, "odd", "even")[TEST].astype(object)


def test_kinds_of_ood_samples_of_any_names():
    labels, accepted = WITH_OOD[TEST], MODEL.accept(X_test)
    named = np.where(GROUPS == "odd", 3, GROUPS)
    report = MODEL.report(X_test, labels, groups=named)
    assert [part.name for part in report.parts[2:4]] == ["OOD 3", "OOD even"]
    for part, kind in zip(report.parts[2:4], (3, "even"), strict=True):
        check_mean(part.coverage, accepted[(labels == -1) & (named == kind)])
    only = np.where(labels == -1, named, None)  # what is said of others is not used
    assert MODEL.report(X_test, labels, groups=only) == report


def test_labels_of_no_known_kind_are_told():
    labels = np.where(WITH_OOD[TEST] == -1, 7, WITH_OOD[TEST])
    message = r"holds 7 \(54 samples\).* nor ood_label=-1.* as errors"
    with pytest.warns(RejectionWarning, match=message):
        assert MODEL.report(X_test, labels).parts[1].coverage.n_samples == 0
    with pytest.warns(RejectionWarning, match="holds 7"):
        assert MODEL.score(X_test, labels) < 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"groups": [0, 1]}, "groups has 2 elements"),
        ({"groups": np.full(269, None)}, r"groups has no label \(None\) in row 0"),
        ({"groups": np.full(269, np.nan)}, r"groups has no label \(nan\)"),
        ({"groups": np.zeros((269, 2))}, "1d array"),
        ({"confidence_level": 95}, r"confidence_level must be in \(0, 1\)"),
        ({"y": y[:3]}, r"\[269, 3\]|y has 3 elements, but there are 269 samples"),
        ({"sample_weight": [1, 1, 1]}, "sample_weight has 3 elements"),
    ],
)
def test_errors(options, message):
    for model, labels in ((MODEL, WITH_OOD), (selective(target_risk=0.1), y)):
        if "groups" not in options or model is MODEL:
            with pytest.raises(ValueError, match=message):
                model.report(**{"X": X_test, "y": labels[TEST]} | options)
