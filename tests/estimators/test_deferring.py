"""DeferringClassifier: who is asked, about what, and what comes back."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.compose import make_column_transformer
from sklearn.datasets import make_classification
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import VotingClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

from sklearn_reject import DeferringClassifier
from sklearn_reject.metrics import deferral_area_score
from sklearn_reject.scores import ExpectedGain
from sklearn_reject.selection import GroupedDeferralRule, solve_deferral

X, y = make_classification(
    400, n_features=6, n_informative=4, n_classes=3, flip_y=0.1, random_state=0
)
FIT, NEW = slice(0, 250), slice(250, 400)
WORDS = np.array(["low", "medium", "very high"])


class Oracle(ClassifierMixin, BaseEstimator):
    """Knows every label, and counts what it is asked."""

    def __init__(self):
        self.asked = []
        self.truth = {tuple(row): label for row, label in zip(X, y, strict=True)}
        self.classes_ = np.unique(y)

    def predict(self, X):
        assert len(X) > 0
        self.asked.append(np.array(X))
        return np.array([self.truth[tuple(row)] for row in X])


confident = partial(
    DeferringClassifier, GaussianNB(), gain_score="confidence", random_state=0
)


def fit(model, rows=FIT, **options):
    return model.fit(X[rows], y[rows], **options)


def test_expert_is_asked_once_about_the_deferred_rows_only():
    oracle = Oracle()
    model = fit(confident(FrozenEstimator(oracle), max_deferral=0.3))
    oracle.asked.clear()
    deferred = model.defer(X[NEW])
    assert not oracle.asked
    labels = model.predict(X[NEW])
    [asked] = oracle.asked
    np.testing.assert_array_equal(asked, X[NEW][deferred])
    np.testing.assert_array_equal(labels[deferred], y[NEW][deferred])
    first = model.predict_first(X[NEW])
    np.testing.assert_array_equal(labels[~deferred], first[~deferred])
    assert 0.2 < deferred.mean() < 0.4
    # Of nothing, nothing is asked.
    oracle.asked.clear()
    np.testing.assert_array_equal(model.predict(X[NEW][~deferred]), first[~deferred])
    model.predict_all(X[NEW][~deferred])
    assert not oracle.asked


@pytest.mark.parametrize("target", ["deferral_cost", "max_deferral", "target_risk"])
def test_rule_is_that_of_predictions_out_of_fold(target):
    target = {target: {"max_deferral": 0.2}.get(target, 0.3)}
    model = fit(confident(KNeighborsClassifier(1), **target))
    found, rows = model.calibration_, model.calibration_.rows
    first = cross_val_predict(GaussianNB(), X[FIT], y[FIT])
    second = cross_val_predict(KNeighborsClassifier(1), X[FIT], y[FIT])
    np.testing.assert_array_equal(found.loss_first, (first != y[FIT])[rows])
    np.testing.assert_array_equal(found.loss_second, (second != y[FIT])[rows])
    rule = solve_deferral(found.gain, found.loss_first, found.loss_second, **target)
    assert model.rule_.threshold == rule.threshold
    assert model.rule_.system_risk == rule.system_risk
    assert model.rule_.n_samples == model.rule_.n_asked == 250


@pytest.mark.parametrize("labels", [np.array([-1, 0, 1]), WORDS, np.array([5, 7, 9])])
def test_person_answers_what_is_marked(labels):
    words = labels[y]
    model = confident(max_deferral=0.25).fit(
        X[FIT], words[FIT], expert_labels=words[FIT]
    )
    deferred, answers = model.defer(X[NEW]), model.predict(X[NEW])
    marked = model.defer_label_
    assert marked not in labels
    assert (marked == "defer") == (labels is WORDS)
    np.testing.assert_array_equal(answers == marked, deferred)
    first = model.predict_first(X[NEW])
    np.testing.assert_array_equal(answers[~deferred], first[~deferred])
    plain = clone(model).set_params(defer_label=None)
    plain.fit(X[FIT], words[FIT], expert_labels=words[FIT])
    np.testing.assert_array_equal(plain.predict(X[NEW]), first)


@pytest.mark.parametrize("gap", [None, np.nan, "masked", "scalars"])
@pytest.mark.parametrize("labels", [y, y == 1, WORDS[y]], ids=["int", "bool", "text"])
def test_answers_of_a_person_may_be_missing(labels, gap):
    unasked = np.random.default_rng(0).random(250) < 0.5
    if gap == "masked":
        answers = np.ma.array(labels[FIT], mask=unasked)
    elif gap == "scalars":  # NumPy's own in a list
        both = zip(unasked, labels[FIT], strict=True)
        answers = [None if is_unasked else label for is_unasked, label in both]
    else:
        answers = np.where(unasked, gap, labels[FIT].astype(object))
    model = confident(max_deferral=0.25)
    rule = model.fit(X[FIT], labels[FIT], expert_labels=answers).rule_
    assert (rule.n_samples, rule.n_asked) == (250, np.sum(~unasked))
    assert rule.second_risk == 0


@pytest.mark.parametrize("unit", ["D", "us", "ns"])
def test_dates_are_labels_in_any_unit(unit):
    """As objects, dates of nanoseconds would be numbers, which no truth is."""
    dates = (np.datetime64("2020-01-01") + y).astype(f"datetime64[{unit}]")
    model = confident(max_deferral=0.3).fit(X, dates, expert_labels=pd.Series(dates))
    assert model.rule_.second_risk == 0
    np.testing.assert_array_equal(model.predict_first(X), model.estimator_.predict(X))
    with pytest.raises(ValueError, match=r"fractions of a microsecond.*as text"):
        confident().fit(X, y.astype("datetime64[ns]"), expert_labels=dates)


def test_labels_of_a_frozen_expert_stand_for_its_predictions():
    oracle = Oracle()
    model = confident(FrozenEstimator(oracle), max_deferral=0.25)
    fit(model, expert_labels=y[FIT])
    assert not oracle.asked
    other = fit(confident(FrozenEstimator(oracle), max_deferral=0.25))
    assert len(oracle.asked) == 1  # everything at once
    assert model.rule_ == other.rule_


def cascade(last=None):
    """Return two classifiers and whoever is last, to be asked at a cost."""
    tree = DecisionTreeClassifier(max_depth=3, random_state=0)
    inner = confident(last, deferral_cost=0.2).set_params(estimator=tree)
    return confident(inner, deferral_cost=0.05)


def test_cascade_asks_each_level_about_its_rows():
    oracle = Oracle()
    model = fit(cascade(FrozenEstimator(oracle)))
    oracle.asked.clear()
    labels = model.predict(X[NEW])
    deferred = model.defer(X[NEW])
    again = model.expert_.defer(X[NEW][deferred])
    [asked] = oracle.asked
    np.testing.assert_array_equal(asked, X[NEW][deferred][again])
    report = model.report(X[NEW], y[NEW])
    system, *stages = report.parts
    names = ["GaussianNB", "DecisionTreeClassifier", "Oracle"]
    assert [stage.name for stage in stages] == names
    counts = [(~deferred).sum(), (~again).sum(), again.sum()]
    shares = [stage.coverage.value for stage in stages]
    assert shares == pytest.approx(np.array(counts) / len(deferred))
    spent = [0.0, 0.05 * deferred.mean(), 0.2 * again.sum() / len(deferred)]
    assert [stage.cost for stage in stages] == pytest.approx(spent)
    assert system.cost == pytest.approx(sum(spent))
    assert system.risk.value == pytest.approx(np.mean(labels != y[NEW]))
    assert stages[2].risk.value == 0
    assert report.to_dict()["parts"][1]["cost"] == 0
    assert "cost of asking" in str(report)
    free = confident(FrozenEstimator(oracle), max_deferral=0.2)
    assert "cost" not in str(fit(free).report(X[NEW], y[NEW]))


def test_costs_of_a_cascade_count_for_the_first():
    """An expert that is dear in turn is asked less often."""
    wrong = DummyClassifier(strategy="constant", constant=y.max() + 1)
    wrong.fit(X, np.append(y[1:], y.max() + 1))

    def share(cost):
        # The inner one asks about everything, if it is asked at all.
        inner = DeferringClassifier(
            FrozenEstimator(wrong),
            FrozenEstimator(Oracle()),
            gain_score="confidence",
            deferral_cost=cost,
        )
        inner = FrozenEstimator(fit(inner))
        assert inner.defer(X[NEW]).all()
        return fit(confident(inner, deferral_cost=0.1)).rule_.deferral_rate

    assert share(0.3) < share(0.0)


def test_cascade_to_a_person():
    model = fit(cascade(), expert_labels=y[FIT])
    open_rows = np.flatnonzero(model.predict(X[NEW]) == -1)
    deferred = model.defer(X[NEW])
    again = model.expert_.defer(X[NEW][deferred])
    np.testing.assert_array_equal(open_rows, np.flatnonzero(deferred)[again])
    person = model.report(X[NEW], y[NEW], expert_labels=y[NEW]).parts[-1]
    assert (person.name, person.risk.value) == ("person", 0)


def test_rows_one_by_one_and_in_chunks():
    model = fit(confident(KNeighborsClassifier(3), max_deferral=0.35))
    whole = model.predict_all(X[NEW])
    parts = [model.predict_all(row[np.newaxis]) for row in X[NEW]]
    for name in whole._fields:
        joined = np.concatenate([getattr(part, name) for part in parts])
        np.testing.assert_array_equal(joined, getattr(whole, name))


def test_probabilities_are_those_of_whoever_answers():
    tree = DecisionTreeClassifier(max_depth=4, random_state=0)
    model = fit(confident(tree, max_deferral=0.3))
    deferred, proba = model.defer(X[NEW]), model.predict_proba(X[NEW])
    expected = model.estimator_.predict_proba(X[NEW])
    expected[deferred] = model.expert_.predict_proba(X[NEW][deferred])
    np.testing.assert_array_equal(proba, expected)
    assert not hasattr(confident(FrozenEstimator(Oracle())), "predict_proba")
    person = fit(confident(max_deferral=0.3), expert_labels=y[FIT])
    np.testing.assert_array_equal(
        person.predict_proba(X[NEW]), person.estimator_.predict_proba(X[NEW])
    )


def test_score_is_minus_the_area():
    model = fit(confident(max_deferral=0.3), expert_labels=y[FIT])
    gain = model.gain(X[NEW])
    first, half = model.predict_first(X[NEW]), np.arange(150) % 2 == 0
    for asked in (np.full(150, True), half):
        answers = np.where(asked, y[NEW], np.nan)
        area = deferral_area_score(
            y[NEW][asked], first[asked], y[NEW][asked], gain[asked]
        )
        score = model.score(X[NEW], y[NEW], expert_labels=answers)
        assert score == pytest.approx(-area, rel=1e-12)


@pytest.mark.parametrize("score", ["auto", "gain", "error_probability"])
def test_learned_gains(score):
    """The expert is right in one half of the samples, and wrong in the other."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (1600, 2))
    y = rng.integers(0, 2, 1600)
    expert = np.where(X[:, 0] > 0, y, 1 - y)
    model = DeferringClassifier(GaussianNB(), gain_score=score, random_state=0)
    model.fit(X[:1000], y[:1000], expert_labels=expert[:1000])
    deferred = model.defer(X[1000:])
    if score != "error_probability":
        assert (deferred == (X[1000:, 0] > 0)).mean() > 0.95
    if score == "auto":
        assert set(model.areas_) == {"confidence", "gain"}
        assert min(model.areas_, key=model.areas_.get) == "gain"
    else:
        assert model.areas_ == {}


def test_first_classifier_without_scores():
    """What is learned takes no more than labels; confidence is no candidate then."""
    vote = VotingClassifier([("a", GaussianNB()), ("b", KNeighborsClassifier(5))])
    model = DeferringClassifier(vote, KNeighborsClassifier(3), cv=2, random_state=0)
    fit(model, slice(0, 120))
    assert isinstance(model.gain_score_, ExpectedGain)
    with pytest.raises(ValueError, match=r"gain_score='confidence' needs a classifier"):
        fit(model.set_params(gain_score="confidence"))


def test_expert_is_not_asked_in_vain():
    """Where samples are held out, and nothing is learned of it, these will do."""
    oracle = Oracle()
    expert = FrozenEstimator(oracle)
    model = confident(expert, gain_score="error_probability", cv=0.4, max_deferral=0.2)
    fit(model)
    [asked] = oracle.asked
    np.testing.assert_array_equal(asked, X[FIT][np.sort(model.calibration_.rows)])
    model.set_params(gain_score="gain")
    oracle.asked.clear()
    fit(model)
    assert [len(asked) for asked in oracle.asked] == [250]


# A rule for each group


REGION = np.where(np.arange(400) % 3 == 0, "north", "south")
FRAME = pd.DataFrame(X, columns=list("abcdef")).assign(region=REGION)


def by_region(**options):
    numbers = make_column_transformer(("passthrough", list("abcdef")))
    tree = DecisionTreeClassifier(max_depth=6, random_state=0)
    return DeferringClassifier(
        make_pipeline(numbers, GaussianNB()),
        make_pipeline(numbers, tree),
        **{"gain_score": "confidence", "group_by": "region", **options},
        random_state=0,
    )


def test_a_budget_for_each_group():
    budgets = {"north": 0.4, "south": 0.1}
    model = by_region(max_deferral=budgets).fit(FRAME[FIT], y[FIT])
    assert isinstance(model.rule_, GroupedDeferralRule)
    found = model.calibration_
    for group, budget in budgets.items():
        gain, first, second = (
            column[found.groups == group]
            for column in (found.gain, found.loss_first, found.loss_second)
        )
        rule = solve_deferral(gain, first, second, max_deferral=budget)
        own = model.rule_.rules[group]
        assert own.threshold == rule.threshold
        assert own.proba_at_threshold == rule.proba_at_threshold
        assert own.deferral_rate == pytest.approx(rule.deferral_rate)
        deferred = model.defer(FRAME[NEW])[REGION[NEW] == group]
        assert deferred.mean() < budget + 0.1


def test_costs_of_groups():
    costs = {"north": 0.0, "south": 0.3}
    model = by_region(deferral_cost=costs).fit(FRAME[FIT], y[FIT])
    report = model.report(FRAME[NEW], y[NEW])
    of_row = np.where(REGION[NEW] == "north", 0.0, 0.3) * model.defer(FRAME[NEW])
    assert report.parts[0].cost == pytest.approx(of_row.mean())


def test_certified_in_every_group():
    model = by_region(target_risk=0.6, confidence_level=0.8, cv=0.5)
    certificates = model.fit(FRAME[FIT], y[FIT]).rule_.certificate
    levels = {group: each.confidence_level for group, each in certificates.items()}
    assert levels == pytest.approx({"north": 0.9, "south": 0.9})
