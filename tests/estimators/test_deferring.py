"""DeferringClassifier: who is asked, about what, what comes back, and what fails."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.compose import make_column_transformer
from sklearn.datasets import make_classification
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import VotingClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from sklearn_reject import DeferringClassifier
from sklearn_reject.exceptions import ExpertError
from sklearn_reject.metrics import deferral_area_score
from sklearn_reject.scores import ExpectedGain
from sklearn_reject.selection import GroupedDeferralRule, solve_deferral

X, y = make_classification(
    400, n_features=6, n_informative=4, n_classes=3, flip_y=0.1, random_state=0
)
FIT, NEW = slice(0, 250), slice(250, 400)
WORDS = np.array(["low", "medium", "very high"])
TREE = DecisionTreeClassifier(max_depth=3, random_state=0)
KNOWS = KNeighborsClassifier(5).fit(X, y)


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


def confident(expert=None, estimator=None, **options):
    options = {"gain_score": "confidence", "random_state": 0} | options
    return DeferringClassifier(estimator or GaussianNB(), expert, **options)


def fit(model, rows=FIT, **options):
    return model.fit(X[rows], y[rows], **options)


def test_expert_is_asked_once_about_the_deferred_rows_only():
    oracle = Oracle()
    model = fit(confident(FrozenEstimator(oracle), max_deferral=0.3))
    [in_fit] = oracle.asked
    assert len(in_fit) == 250
    # Labels that are given stand for its predictions.
    given = fit(clone(model), expert_labels=y[FIT])
    assert given.rule_ == model.rule_
    deferred = model.defer(X[NEW])
    assert len(oracle.asked) == 1
    labels, first = model.predict(X[NEW]), model.predict_first(X[NEW])
    np.testing.assert_array_equal(oracle.asked[1], X[NEW][deferred])
    np.testing.assert_array_equal(labels, np.where(deferred, y[NEW], first))
    assert 0.2 < deferred.mean() < 0.4
    # Of nothing, nothing is asked.
    np.testing.assert_array_equal(model.predict(X[NEW][~deferred]), first[~deferred])
    assert len(oracle.asked) == 2


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
    model = confident(max_deferral=0.25)
    model.fit(X[FIT], words[FIT], expert_labels=words[FIT])
    deferred, first = model.defer(X[NEW]), model.predict_first(X[NEW])
    marked, answers = model.defer_label_, model.predict(X[NEW])
    assert marked not in labels
    assert (marked == "defer") == (labels is WORDS)
    np.testing.assert_array_equal(answers == marked, deferred)
    np.testing.assert_array_equal(answers[~deferred], first[~deferred])
    plain = clone(model).set_params(defer_label=None)
    plain.fit(X[FIT], words[FIT], expert_labels=words[FIT])
    np.testing.assert_array_equal(plain.predict(X[NEW]), first)


@pytest.mark.parametrize("gap", [None, np.nan, "masked", "scalars"])
@pytest.mark.parametrize("labels", [y, y == 1, WORDS[y]], ids=["int", "bool", "text"])
def test_answers_of_a_person_may_be_missing(labels, gap):
    unasked = np.random.default_rng(0).random(250) < 0.5
    answers = np.where(unasked, gap, labels[FIT].astype(object))
    if gap == "masked":
        answers = np.ma.array(labels[FIT], mask=unasked)
    elif gap == "scalars":  # NumPy's own in a list
        answers = [None if gap else x for gap, x in zip(unasked, labels, strict=False)]
    rule = confident().fit(X[FIT], labels[FIT], expert_labels=answers).rule_
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


def cascade(last=None):
    """Return two classifiers and whoever is last, to be asked at a cost."""
    return confident(confident(last, TREE, deferral_cost=0.2), deferral_cost=0.05)


def test_cascade_asks_each_level_about_its_rows():
    oracle = Oracle()
    model = fit(cascade(FrozenEstimator(oracle)))
    oracle.asked.clear()
    labels, deferred = model.predict(X[NEW]), model.defer(X[NEW])
    again = model.expert_.defer(X[NEW][deferred])
    [asked] = oracle.asked
    np.testing.assert_array_equal(asked, X[NEW][deferred][again])
    report = model.report(X[NEW], y[NEW])
    system, *stages = report.parts
    names = ["GaussianNB", "DecisionTreeClassifier", "Oracle"]
    assert [stage.name for stage in stages] == names
    shares = np.array([(~deferred).sum(), (~again).sum(), again.sum()]) / 150
    assert [stage.coverage.value for stage in stages] == pytest.approx(shares)
    spent = [0.0, 0.05 * deferred.mean(), 0.2 * again.sum() / 150]
    assert [stage.cost for stage in stages] == pytest.approx(spent)
    assert system.cost == pytest.approx(sum(spent))
    assert system.risk.value == pytest.approx(np.mean(labels != y[NEW]))
    assert stages[2].risk.value == report.to_dict()["parts"][1]["cost"] == 0
    assert "cost of asking" in str(report)
    free = confident(FrozenEstimator(oracle), max_deferral=0.2)
    assert "cost" not in str(fit(free).report(X[NEW], y[NEW]))


def test_costs_of_a_cascade_count_for_the_first():
    """An expert that is dear in turn is asked less often."""
    wrong = DummyClassifier(strategy="constant", constant=y.max() + 1)
    wrong.fit(X, np.append(y[1:], y.max() + 1))

    def share(cost):
        # The inner one asks about everything, if it is asked at all.
        inner = confident(
            FrozenEstimator(Oracle()), FrozenEstimator(wrong), deferral_cost=cost
        )
        inner = FrozenEstimator(fit(inner))
        assert inner.defer(X[NEW]).all()
        return fit(confident(inner, deferral_cost=0.1)).rule_.deferral_rate

    assert share(0.3) < share(0.0)


def test_cascade_to_a_person():
    model = fit(cascade(), expert_labels=y[FIT])
    deferred = np.flatnonzero(model.defer(X[NEW]))
    again = deferred[model.expert_.defer(X[NEW][deferred])]
    np.testing.assert_array_equal(np.flatnonzero(model.predict(X[NEW]) == -1), again)
    person = model.report(X[NEW], y[NEW], expert_labels=y[NEW]).parts[-1]
    assert (person.name, person.risk.value) == ("person", 0)


def test_probabilities_are_those_of_whoever_answers():
    model = fit(confident(TREE, max_deferral=0.3))
    deferred, proba = model.defer(X[NEW]), model.predict_proba(X[NEW])
    expected = model.estimator_.predict_proba(X[NEW])
    expected[deferred] = model.expert_.predict_proba(X[NEW][deferred])
    np.testing.assert_array_equal(proba, expected)
    assert not hasattr(confident(FrozenEstimator(Oracle())), "predict_proba")
    person = fit(confident(max_deferral=0.3), expert_labels=y[FIT])
    first = person.estimator_.predict_proba(X[NEW])
    np.testing.assert_array_equal(person.predict_proba(X[NEW]), first)


@pytest.mark.parametrize("every", [1, 2])
def test_score_is_minus_the_area(every):
    model = fit(confident(max_deferral=0.3), expert_labels=y[FIT])
    new, truth = X[NEW][::every], y[NEW][::every]
    first, gain = model.predict_first(new), model.gain(new)
    area = deferral_area_score(truth, first, truth, gain)
    answers = np.where(np.arange(150) % every, np.nan, y[NEW])
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


@pytest.mark.parametrize("score", ["error_probability", "gain"])
def test_expert_is_not_asked_in_vain(score):
    """Where samples are held out, and nothing is learned of it, these will do."""
    oracle = Oracle()
    expert = FrozenEstimator(oracle)
    model = fit(confident(expert, gain_score=score, cv=0.4, max_deferral=0.2))
    [asked] = oracle.asked
    rows = np.sort(model.calibration_.rows) if score != "gain" else np.arange(250)
    np.testing.assert_array_equal(asked, X[FIT][rows])


# A rule for each group


REGION = np.where(np.arange(400) % 3 == 0, "north", "south")
FRAME = pd.DataFrame(X, columns=list("abcdef")).assign(region=REGION)


def by_region(**options):
    numbers = make_column_transformer(("passthrough", list("abcdef")))
    both = make_pipeline(numbers, TREE), make_pipeline(numbers, GaussianNB())
    return confident(*both, group_by="region", **options)


def test_a_budget_for_each_group():
    budgets = {"north": 0.4, "south": 0.1}
    model = by_region(max_deferral=budgets).fit(FRAME[FIT], y[FIT])
    assert isinstance(model.rule_, GroupedDeferralRule)
    found, deferred = model.calibration_, model.defer(FRAME[NEW])
    for group, budget in budgets.items():
        columns = found.gain, found.loss_first, found.loss_second
        columns = [column[found.groups == group] for column in columns]
        rule, own = solve_deferral(*columns, max_deferral=budget), model.rule_.rules
        assert own[group].threshold == rule.threshold
        assert own[group].proba_at_threshold == rule.proba_at_threshold
        assert own[group].deferral_rate == pytest.approx(rule.deferral_rate)
        assert deferred[REGION[NEW] == group].mean() < budget + 0.1


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


# What cannot be asked or learned from, and experts that fail


def timeout(X):
    raise TimeoutError("no answer")


class NoFit:
    """Has a method that a class has, too, but only objects can be asked."""

    def predict(self, X):
        return KNOWS.predict(X)


CERTIFIED = {"target_risk": 0.3, "confidence_level": 0.9}

# Options, labels of the expert, and what is said.
BAD_FITS = [
    ({}, None, r"None or has no label.*set_fit_request"),
    ({"expert": GaussianNB()}, y[FIT], r"predicts them here"),
    ({}, y[FIT][:-1], r"expert_labels"),
    ({}, np.full(250, np.nan), r"has no label"),
    ({}, np.where(y[FIT], y[FIT], -1), r"-1 for 78 samples.*Pass NaN or None"),
    ({"expert": FrozenEstimator(KNOWS)}, np.full(250, -1.0), r"which is no class"),
    ({}, np.append(y[FIT][1:].astype(str), "-1"), r"'-1' for 1 samples"),
    *(
        ({"expert": expert}, None, r"expert must be a classifier, an object")
        for expert in ("strong", LogisticRegression, StandardScaler(), NoFit)
    ),
    # What they pay for asking would not be seen.
    *(
        ({"expert": expert}, y[FIT], r"around a DeferringClassifier")
        for expert in (
            make_pipeline(StandardScaler(), confident()),
            GridSearchCV(confident(KNOWS), {"max_deferral": [0.1, 0.2]}),
        )
    ),
    ({"deferral_cost": -1}, y[FIT], r"deferral_cost"),
    ({"deferral_cost": 1, "max_deferral": 0.3}, y[FIT], r"At most one of"),
    ({"confidence_level": 0.9, "cv": 0.3}, y[FIT], r"no bound"),
    ({**CERTIFIED, "cv": 5}, y[FIT], r"needs samples on which"),
    ({"defer_label": 1}, y[FIT], r"defer_label=1 is one of the classes"),
    ({"gain_score": "entropie"}, y[FIT], r"gain_score must be"),
    ({"cv": "plug_in"}, y[FIT], r"cv must be None"),
    ({"max_deferral": {"a": 0.1}}, y[FIT], r"group_by=None makes no"),
    ({"group_by": "class"}, y[FIT], r"group_by='class' is for true classes"),
]


@pytest.mark.parametrize(("options", "labels", "message"), BAD_FITS)
def test_bad_fits(options, labels, message):
    with pytest.raises(ValueError, match=message):
        fit(confident(**options), expert_labels=labels)


@pytest.mark.parametrize(
    ("options", "n_known", "message"),
    [
        ({"gain_score": "gain"}, 1, r"none is known"),
        ({}, 1, r"loss_second is missing in all 75 samples"),
        (CERTIFIED, 0, r"loss_second is missing"),
    ],
    ids=["gain", "held out", "pilot"],
)
def test_too_few_answers_to_learn_from(options, n_known, message):
    # Those of the other part do not help.
    rows = fit(confident(cv=0.3, **options), expert_labels=y[FIT]).calibration_.rows
    known = np.setdiff1d(np.arange(250), rows)[:n_known] if n_known else rows
    answers = np.full(250, np.nan)
    answers[known] = y[known]
    cv = None if "gain_score" in options else 0.3
    with pytest.raises(ValueError, match=message):
        fit(confident(cv=cv, **options), expert_labels=answers)


def test_labels_that_are_missing_or_that_nobody_would_look_at():
    with pytest.raises(ValueError, match=r"expert_labels is None"):
        fit(confident(), expert_labels=y[FIT]).score(X[NEW], y[NEW])
    model = fit(confident(TREE))
    for method in (model.score, model.report):
        with pytest.raises(ValueError, match=r"were given.*Omit expert_labels"):
            method(X[NEW], y[NEW], expert_labels=y[NEW])
        with pytest.raises(ValueError, match=r"inconsistent numbers of samples"):
            method(X[NEW], y[NEW][:-1])


def test_warnings_are_given_once():
    inner = confident(DummyClassifier(), max_deferral=0.3)
    answers = np.where(GaussianNB().fit(X, y).predict(X) == y, None, y)[FIT]
    for parts, labels, words, n_expected in (
        # Inner and outer classifier have an expert, of risks of its own.
        ((inner, TREE), None, "samples saves nothing", 2),
        ((), answers, "by more than chance", 1),
    ):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            fit(confident(*parts, max_deferral=0.3), expert_labels=labels)
        messages = [str(warning.message) for warning in caught]
        assert len(messages) == len(set(messages))
        assert sum(words in message for message in messages) == n_expected


@pytest.mark.parametrize(
    "answer",
    [timeout, lambda X: np.zeros(len(X) - 1), lambda X: np.eye(len(X)), lambda X: 0],
    ids=["none", "few", "columns", "one"],
)
def test_failing_expert_names_the_rows_and_loses_nothing(answer):
    model = fit(confident(FrozenEstimator(KNOWS), max_deferral=0.3))
    deferred, first = model.defer(X[NEW]), model.predict_first(X[NEW])
    model.expert_ = answer
    message = "no answer" if answer is timeout else "what the expert predicts"
    with pytest.raises(ExpertError, match=message) as caught:
        model.predict(X[NEW])
    for error in (caught.value, pickle.loads(pickle.dumps(caught.value))):
        np.testing.assert_array_equal(error.rows, np.flatnonzero(deferred))
        np.testing.assert_array_equal(error.labels, np.where(deferred, -1, first))


def test_failing_last_level_keeps_the_labels_of_the_middle():
    inner = confident(FrozenEstimator(KNOWS), max_deferral=0.5)
    model = fit(confident(inner, TREE, max_deferral=0.6))
    expected, deferred = model.predict(X[NEW]), model.defer(X[NEW])
    rows = np.flatnonzero(deferred)[model.expert_.defer(X[NEW][deferred])]
    model.expert_.expert_ = timeout
    with pytest.raises(ExpertError) as caught:
        model.predict(X[NEW])
    np.testing.assert_array_equal(caught.value.rows, rows)
    expected[rows] = -1
    np.testing.assert_array_equal(caught.value.labels, expected)


def test_probabilities_of_too_few_samples():
    model = fit(confident(TREE, max_deferral=0.3))
    model.expert_.predict_proba = lambda X: KNOWS.predict_proba(X)[:1]
    with pytest.raises(ExpertError, match=r"inconsistent numbers") as caught:
        model.predict_proba(X[NEW])
    deferred = np.flatnonzero(model.defer(X[NEW]))
    np.testing.assert_array_equal(caught.value.rows, deferred)


def test_only_missing_answers_of_a_function_are_failures():
    def some(X):
        return [None if row % 7 == 0 else y for row, y in enumerate(KNOWS.predict(X))]

    model = fit(confident(KNOWS))
    before = model.rule_
    with pytest.raises(ExpertError, match=r"no label came back") as caught:
        fit(model.set_params(expert=some))
    np.testing.assert_array_equal(caught.value.rows, np.arange(0, 250, 7))
    assert model.rule_ is before


@pytest.mark.parametrize("cv", [None, 0.3], ids=["folds", "share"])
def test_rows_of_a_frozen_expert_that_fails_inside_a_cascade(cv):
    asked = []

    def expert(X):
        asked.extend(map(tuple, X))
        timeout(X)

    inner = confident(expert, FrozenEstimator(KNOWS), max_deferral=0.3)
    with pytest.raises(ExpertError, match=r"TimeoutError: no answer") as caught:
        fit(confident(inner, cv=cv))
    assert 0 < len(asked) < 250
    np.testing.assert_array_equal(X[FIT][caught.value.rows], asked)
    assert isinstance(caught.value.__cause__, TimeoutError)
