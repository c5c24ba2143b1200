"""DeferringClassifier: who is asked, about what, and what comes back."""

import pickle
import warnings
from functools import partial

import numpy as np
import pytest
from scipy.integrate import trapezoid
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import make_classification
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import VotingClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from sklearn_reject import DeferringClassifier, InfeasibleTargetError
from sklearn_reject.exceptions import ExpertError
from sklearn_reject.selection import solve_deferral

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


def test_expert_is_not_asked_about_nothing():
    oracle = Oracle()
    model = fit(confident(FrozenEstimator(oracle), max_deferral=0.3))
    oracle.asked.clear()
    kept = X[NEW][~model.defer(X[NEW])]
    np.testing.assert_array_equal(model.predict(kept), model.predict_first(kept))
    model.predict_all(kept)
    assert not oracle.asked


@pytest.mark.parametrize("target", ["deferral_cost", "max_deferral", "target_risk"])
def test_rule_is_that_of_the_arrays(target):
    value = {"deferral_cost": 0.3, "max_deferral": 0.2, "target_risk": 0.32}[target]
    model = fit(confident(DecisionTreeClassifier(random_state=0), **{target: value}))
    found = model.calibration_
    rule = solve_deferral(
        found.gain, found.loss_first, found.loss_second, **{target: value}
    )
    assert model.rule_.threshold == rule.threshold
    assert model.rule_.system_risk == rule.system_risk
    assert model.rule_.n_samples == model.rule_.n_asked == 250


def test_calibration_set_is_out_of_fold():
    model = fit(confident(KNeighborsClassifier(1), max_deferral=0.2))
    found = model.calibration_
    first = cross_val_predict(GaussianNB(), X[FIT], y[FIT])
    second = cross_val_predict(KNeighborsClassifier(1), X[FIT], y[FIT])
    order = np.argsort(found.rows)
    np.testing.assert_array_equal(found.loss_first[order], first != y[FIT])
    np.testing.assert_array_equal(found.loss_second[order], second != y[FIT])


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


@pytest.mark.parametrize("gap", [None, np.nan, "masked"])
def test_answers_of_a_person_may_be_missing(gap):
    rng = np.random.default_rng(0)
    unasked = rng.random(250) < 0.5
    if gap == "masked":
        answers = np.ma.array(y[FIT], mask=unasked)
    else:
        answers = np.where(unasked, gap, y[FIT].astype(object))
    model = fit(confident(max_deferral=0.25), expert_labels=answers)
    assert model.rule_.n_samples == 250
    assert model.rule_.n_asked == np.sum(~unasked)
    assert model.rule_.second_risk == 0


def test_labels_of_a_frozen_expert_stand_for_its_predictions():
    oracle = Oracle()
    model = confident(FrozenEstimator(oracle), max_deferral=0.25)
    fit(model, expert_labels=y[FIT])
    assert not oracle.asked
    other = fit(confident(FrozenEstimator(oracle), max_deferral=0.25))
    assert len(oracle.asked) == 1  # everything at once
    assert model.rule_ == other.rule_


def test_without_a_target_asking_costs_nothing():
    model = fit(confident(FrozenEstimator(Oracle())))
    assert model.rule_.system_risk == 0
    assert (model.predict(X[NEW]) == y[NEW]).mean() > 0.9


def test_cascade_asks_each_level_about_its_rows():
    oracle = Oracle()
    inner = confident(FrozenEstimator(oracle), deferral_cost=0.2)
    inner.set_params(estimator=DecisionTreeClassifier(max_depth=3, random_state=0))
    model = fit(confident(inner, deferral_cost=0.05))
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
    inner = confident(deferral_cost=0.2)
    inner.set_params(estimator=DecisionTreeClassifier(max_depth=3, random_state=0))
    model = fit(confident(inner, deferral_cost=0.05), expert_labels=y[FIT])
    labels = model.predict(X[NEW])
    deferred = model.defer(X[NEW])
    again = model.expert_.defer(X[NEW][deferred])
    np.testing.assert_array_equal(
        np.flatnonzero(labels == -1), np.flatnonzero(deferred)[again]
    )
    person = model.report(X[NEW], y[NEW], expert_labels=y[NEW]).parts[-1]
    assert (person.name, person.risk.value) == ("person", 0)


def test_failing_expert_names_the_rows_and_loses_nothing():
    def timeout(X):
        raise TimeoutError("no answer")

    model = fit(confident(FrozenEstimator(Oracle()), max_deferral=0.3))
    model.expert_ = timeout
    deferred, first = model.defer(X[NEW]), model.predict_first(X[NEW])
    with pytest.raises(ExpertError, match=r"no answer") as caught:
        model.predict(X[NEW])
    error = caught.value
    np.testing.assert_array_equal(error.rows, np.flatnonzero(deferred))
    np.testing.assert_array_equal(error.labels, np.where(deferred, -1, first))
    assert isinstance(error.__cause__, TimeoutError)
    again = pickle.loads(pickle.dumps(error))
    np.testing.assert_array_equal(again.labels, error.labels)


def test_failing_last_level_keeps_the_labels_of_the_middle():
    oracle = Oracle()
    inner = confident(FrozenEstimator(oracle), max_deferral=0.5)
    inner.set_params(estimator=DecisionTreeClassifier(max_depth=3, random_state=0))
    model = fit(confident(inner, max_deferral=0.6))
    labels, deferred = model.predict(X[NEW]), model.defer(X[NEW])
    rows = np.flatnonzero(deferred)[model.expert_.defer(X[NEW][deferred])]
    oracle.truth.clear()
    with pytest.raises(ExpertError) as caught:
        model.predict(X[NEW])
    np.testing.assert_array_equal(caught.value.rows, rows)
    expected = labels.copy()
    expected[rows] = -1
    np.testing.assert_array_equal(caught.value.labels, expected)


def test_failing_frozen_expert_in_fit():
    def timeout(X):
        raise TimeoutError("no answer")

    model = fit(confident(FrozenEstimator(Oracle()), max_deferral=0.3))
    before = model.rule_
    model.set_params(expert=timeout)
    with pytest.raises(ExpertError) as caught:
        fit(model)
    assert len(caught.value.rows) == 250
    assert model.rule_ is before


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


def test_retarget_is_another_fit():
    tree = DecisionTreeClassifier(max_depth=4, random_state=0)
    model = fit(confident(tree, max_deferral=0.3))
    for target in ({"deferral_cost": 0.1}, {"target_risk": 0.32}):
        other = model.retarget(**target)
        again = clone(model).set_params(max_deferral=None, **target)
        assert other.rule_ == fit(again).rule_
        assert other.estimator_ is model.estimator_
    assert model.max_deferral == 0.3
    with pytest.raises(TypeError, match=r"retarget takes deferral_cost"):
        model.retarget(cv=3)


def test_score_is_minus_the_area():
    model = fit(confident(KNeighborsClassifier(3), max_deferral=0.3))
    gain = model.deferral_score(X[NEW])
    first = (model.predict_first(X[NEW]) != y[NEW]).astype(float)
    second = (model.expert_.predict(X[NEW]) != y[NEW]).astype(float)
    order = np.argsort(-gain, kind="stable")
    risks = [first.sum()]
    for row in order:
        risks.append(risks[-1] - first[row] + second[row])
    area = trapezoid(risks, dx=1 / len(gain)) / len(gain)
    assert len(np.unique(gain)) == len(gain)
    assert model.score(X[NEW], y[NEW]) == pytest.approx(-area, abs=1e-12)


def test_score_of_a_person_takes_labels():
    model = fit(confident(max_deferral=0.3), expert_labels=y[FIT])
    with pytest.raises(ValueError, match=r"expert_labels is None"):
        model.score(X[NEW], y[NEW])
    assert -0.2 < model.score(X[NEW], y[NEW], expert_labels=y[NEW]) < 0
    half = np.where(np.arange(150) % 2, np.nan, y[NEW])
    expected = model.score(X[NEW][::2], y[NEW][::2], expert_labels=y[NEW][::2])
    assert model.score(X[NEW], y[NEW], expert_labels=half) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("options", "labels", "match"),
    [
        ({}, None, r"expert_labels is required"),
        ({"expert": GaussianNB()}, y[FIT], r"is fitted here"),
        ({}, y[FIT][:-1], r"expert_labels"),
        ({}, np.full(250, np.nan), r"no label at all"),
        ({"expert": "strong"}, None, r"expert must be a classifier"),
        ({"expert": LogisticRegression}, None, r"expert must be a classifier"),
        ({"deferral_cost": -1}, y[FIT], r"deferral_cost"),
        ({"max_deferral": 1.5}, y[FIT], r"max_deferral"),
        ({"max_deferral": 0.1, "deferral_cost": 1}, y[FIT], r"At most one of"),
        ({"confidence_level": 0.9, "cv": 0.3}, y[FIT], r"no bound"),
        (
            {"confidence_level": 0.9, "max_deferral": 0.2, "cv": 5},
            y[FIT],
            r"needs samples on which",
        ),
        ({"defer_label": 1}, y[FIT], r"defer_label=1 is one of the classes"),
        ({"gain_score": "entropie"}, y[FIT], r"gain_score must be"),
        ({"cv": "plug_in"}, y[FIT], r"cv must be None"),
        ({"max_deferral": {"a": 0.1}}, y[FIT], r"group_by=None makes no"),
    ],
    ids=lambda value: "",
)
def test_bad_input(options, labels, match):
    model = DeferringClassifier(GaussianNB(), **options)
    with pytest.raises(ValueError, match=match):
        fit(model, expert_labels=labels)


def test_target_risk_that_cannot_be_met():
    tree = DecisionTreeClassifier(max_depth=4, random_state=0)
    model = confident(tree, target_risk=0.01)
    with pytest.raises(InfeasibleTargetError) as caught:
        fit(model)
    lowest = caught.value.attainable["target_risk"]
    model = fit(model.set_params(target_risk=lowest))
    assert model.rule_.system_risk == pytest.approx(lowest)


def test_certified_risk():
    model = confident(
        FrozenEstimator(Oracle()), target_risk=0.1, confidence_level=0.9, cv=0.5
    )
    fit(model)
    certificate = model.rule_.certificate
    assert certificate.quantity == "system_risk"
    assert certificate.n_samples == 125
    assert model.rule_.system_risk < 0.1
    assert model.rule_.deferral_rate < 1


@pytest.mark.slow
@pytest.mark.parametrize("score", ["auto", "gain", "error_probability"])
def test_learned_gains(score):
    """The expert is right in one half of the samples, and wrong in the other."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (600, 2))
    y = rng.integers(0, 2, 600)
    expert = np.where(X[:, 0] > 0, y, 1 - y)
    model = DeferringClassifier(GaussianNB(), gain_score=score, random_state=0)
    model.fit(X[:400], y[:400], expert_labels=expert[:400])
    deferred = model.defer(X[400:])
    if score != "error_probability":
        assert (deferred == (X[400:, 0] > 0)).mean() > 0.95
    if score == "auto":
        assert set(model.areas_) == {"confidence", "error_probability", "gain"}
        assert min(model.areas_, key=model.areas_.get) == "gain"
    else:
        assert model.areas_ == {}


def test_weights_and_labels_go_through_cross_validation():
    weight = np.random.default_rng(0).uniform(0.5, 2, 250)
    model = confident(max_deferral=0.2)
    labels = cross_val_predict(
        model,
        X[FIT],
        y[FIT],
        cv=3,
        params={"expert_labels": y[FIT], "sample_weight": weight},
    )
    assert 0.05 < np.mean(labels == -1) < 0.4


def test_first_classifier_without_scores():
    """What is learned takes no more than labels; confidence is no candidate then."""
    vote = VotingClassifier([("a", GaussianNB()), ("b", KNeighborsClassifier(5))])
    model = DeferringClassifier(vote, KNeighborsClassifier(3), cv=2, random_state=0)
    fit(model, slice(0, 120))
    assert set(model.areas_) == {"error_probability", "gain"}
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


def test_answers_that_were_chosen_are_told_once():
    answers = np.where(GaussianNB().fit(X, y).predict(X) == y, None, y)
    model = confident(deferral_cost=0.1)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fit(model, expert_labels=answers[FIT])
    texts = [str(each.message) for each in caught]
    assert sum("by more than chance" in text for text in texts) == 1
