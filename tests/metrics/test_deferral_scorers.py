"""Scorers of second opinions and of costs: what they measure, of whom, with what."""

import pickle
from typing import NamedTuple

import numpy as np
import pytest
import sklearn
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import make_classification
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import accuracy_score
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from sklearn_reject import (
    DeferringClassifier,
    SelectiveClassifier,
    SelectiveRegressor,
)
from sklearn_reject.losses import check_loss
from sklearn_reject.metrics import (
    deferral_area_score,
    get_selective_scorer,
    make_selective_scorer,
    selective_cost_score,
)

X, y = make_classification(
    150,
    n_features=5,
    n_informative=4,
    n_redundant=0,
    n_classes=3,
    flip_y=0.2,
    random_state=0,
)
WEIGHT = 1.0 + np.arange(150) % 4
COSTS = np.array([[0.0, 1.0, 2.0], [5.0, 0.0, 1.0], [3.0, 2.0, 0.0]])
_rng = np.random.default_rng(0)
PERSON = np.where(_rng.random(150) < 0.8, y, 0).astype(object)
PERSON[_rng.random(150) < 0.3] = None


class BothOpinions(NamedTuple):
    first: np.ndarray
    second: np.ndarray
    deferral_score: np.ndarray


class Deferring(ClassifierMixin, BaseEstimator):
    """Defers the least probable labels to a linear model, or to a person."""

    def __init__(self, loss="zero_one", deferral_cost=0.1, person=False, smooth=1e-9):
        self.loss = loss
        self.deferral_cost = deferral_cost
        self.person = person
        self.smooth = smooth

    def fit(self, X, y, expert_labels=None):
        self.classes_ = np.unique(y)
        self.loss_ = check_loss(self.loss, labels=self.classes_)
        self.first_ = GaussianNB(var_smoothing=self.smooth).fit(X, y)
        self.expert_ = None if self.person else LogisticRegression().fit(X, y)
        return self

    def predict(self, X):
        raise AssertionError("scorers take opinions")

    def _opinions(self, X, expert_labels=None):
        second = expert_labels if self.person else self.expert_.predict(X)
        gain = 1 - self.first_.predict_proba(X).max(axis=1)
        return BothOpinions(self.first_.predict(X), second, gain)

    def _answer_all(self, X):
        labels, _, gain = self._opinions(X)
        deferred = gain > 0.3
        if not self.person:
            labels = np.where(deferred, self.expert_.predict(X), labels)
        return labels, self.deferral_cost * deferred, deferred & self.person


MODEL = Deferring().fit(X, y)
ALONE = Deferring(person=True).fit(X, y)


@pytest.fixture
def _routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def opinions_of(model, X, second=None):
    """Labels of both and scores, by hand."""
    second = model.expert_.predict(X) if second is None else second
    gain = 1 - model.first_.predict_proba(X).max(axis=1)
    return model.first_.predict(X), second, gain


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["plain", "weighted"])
@pytest.mark.parametrize("normalize", [None, "excess"])
@pytest.mark.parametrize(
    "loss", [None, "absolute", COSTS], ids=["own", "name", "table"]
)
def test_area_is_that_of_the_opinions(weight, normalize, loss):
    scorer = get_selective_scorer("neg_deferral_area", loss=loss, normalize=normalize)
    expected = deferral_area_score(
        y,
        *opinions_of(MODEL, X),
        loss="zero_one" if loss is None else loss,
        sample_weight=weight,
        normalize=normalize,
    )
    assert scorer(MODEL, X, y, sample_weight=weight) == pytest.approx(-expected)


def test_area_with_what_a_person_says_of_some():
    value = get_selective_scorer("neg_deferral_area")(ALONE, X, y, expert_labels=PERSON)
    assert value == -deferral_area_score(y, *opinions_of(ALONE, X, PERSON))
    assert not np.isnan(value)


@pytest.mark.parametrize("name", ["own", "class lacks"])
def test_the_loss_is_that_of_the_estimator(name):
    model = Deferring(loss=COSTS).fit(X, y)
    rows = slice(None) if name == "own" else y != 2
    expected = deferral_area_score(
        y[rows], *opinions_of(model, X[rows]), loss=COSTS, labels=[0, 1, 2]
    )
    assert get_selective_scorer("neg_deferral_area")(
        model, X[rows], y[rows]
    ) == pytest.approx(-expected)


class NoFirstColumn(BaseEstimator):
    """A step that changes what follows it sees."""

    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return X[:, 1:]


@pytest.mark.parametrize(
    "make",
    [
        get_selective_scorer("neg_deferral_area"),
        get_selective_scorer("neg_selective_cost"),
    ],
    ids=["area", "cost"],
)
def test_pipelines_and_searches_are_looked_into(make):
    inner = Deferring().fit(X[:, 1:], y)
    expected = make(inner, X[:, 1:], y)
    pipe = make_pipeline(NoFirstColumn(), Deferring()).fit(X, y)
    assert make(pipe, X, y) == expected
    frozen = FrozenEstimator(pipe)
    assert make(frozen, X, y) == expected
    search = GridSearchCV(pipe, {"deferring__smooth": [1e-9]}, scoring=make, cv=2)
    assert make(search.fit(X, y), X, y) == expected


@pytest.mark.parametrize(
    "estimator", [GaussianNB(), SelectiveClassifier(GaussianNB(), reject_cost=0.2)]
)
def test_an_area_needs_a_second_opinion(estimator):
    with pytest.raises(
        ValueError, match=r"has no second opinion. Pass a DeferringClassifier"
    ):
        get_selective_scorer("neg_deferral_area")(estimator.fit(X, y), X, y)


def test_the_area_of_a_search_is_that_of_its_folds():
    search = GridSearchCV(
        Deferring(),
        {"smooth": [1e-9, 1.0]},
        scoring=get_selective_scorer("neg_deferral_area"),
        cv=3,
    ).fit(X, y)
    for candidate, smooth in enumerate([1e-9, 1.0]):
        for fold, (train, test) in enumerate(StratifiedKFold(3).split(X, y)):
            model = Deferring(smooth=smooth).fit(X[train], y[train])
            value = search.cv_results_[f"split{fold}_test_score"][candidate]
            assert value == -deferral_area_score(y[test], *opinions_of(model, X[test]))


# Routing


@pytest.mark.usefixtures("_routing")
@pytest.mark.parametrize(
    "scorer",
    [
        get_selective_scorer("neg_deferral_area"),
        get_selective_scorer("neg_selective_cost"),
    ],
    ids=["area", "cost"],
)
def test_both_names_are_routed(scorer):
    asking = scorer.set_score_request(expert_labels="radiologist")
    asking = asking.set_score_request(sample_weight=True)
    requests = {"sample_weight": True, "expert_labels": "radiologist"}
    assert asking.get_metadata_routing().score.requests == requests
    assert set(scorer.get_metadata_routing().score.requests.values()) == {None}
    results = cross_validate(
        Deferring(person=True).set_fit_request(expert_labels=False),
        X,
        y,
        scoring=asking,
        params={"sample_weight": WEIGHT, "radiologist": PERSON},
        cv=3,
        return_estimator=True,
        return_indices=True,
    )
    for fold, test in enumerate(results["indices"]["test"]):
        expected = scorer(
            results["estimator"][fold],
            X[test],
            y[test],
            sample_weight=WEIGHT[test],
            expert_labels=PERSON[test],
        )
        assert results["test_score"][fold] == expected
        assert not np.isnan(expected)


def test_copies_and_representations():
    for scorer in (
        get_selective_scorer("neg_deferral_area"),
        get_selective_scorer("neg_selective_cost"),
    ):
        copy = pickle.loads(pickle.dumps(scorer.set_score_request(expert_labels=True)))
        assert copy.get_metadata_routing().score.requests["expert_labels"] is True
        assert copy(MODEL, X, y) == scorer(MODEL, X, y)
    assert repr(get_selective_scorer("neg_selective_cost", reject_cost=0.5)) == (
        "<selective scorer -selective_cost_score, reject_cost=0.5>"
    )
    assert "-deferral_area_score" in repr(get_selective_scorer("neg_deferral_area"))


# Costs of rejections


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["plain", "weighted"])
@pytest.mark.parametrize("reject_cost", [None, 0.7])
@pytest.mark.parametrize("loss", [None, COSTS], ids=["own", "table"])
def test_cost_of_a_selective_classifier(weight, reject_cost, loss):
    model = SelectiveClassifier(GaussianNB(), reject_cost=0.3, cv=2).fit(X, y)
    accepted = model.accept(X)
    assert 0 < accepted.mean() < 1
    expected = selective_cost_score(
        y,
        model.predict(X),
        accepted,
        reject_cost=0.3 if reject_cost is None else reject_cost,
        loss="zero_one" if loss is None else loss,
        sample_weight=weight,
    )
    scorer = get_selective_scorer(
        "neg_selective_cost", reject_cost=reject_cost, loss=loss
    )
    assert scorer(model, X, y, sample_weight=weight) == pytest.approx(-expected)
    scaled = make_pipeline(StandardScaler(), model).fit(X, y)
    assert scorer(scaled, X, y) == pytest.approx(
        scorer(scaled[-1], scaled[0].transform(X), y)
    )


def test_cost_of_a_regressor_and_of_what_cannot_reject():
    model = SelectiveRegressor(LinearRegression(), loss="squared", reject_cost=0.6)
    accepted = model.fit(X, y).accept(X)
    assert 0 < accepted.mean() < 1
    expected = selective_cost_score(
        y, model.predict(X), accepted, reject_cost=0.6, loss="squared"
    )
    scorer = get_selective_scorer("neg_selective_cost")
    assert scorer(model, X, y * 1.0) == pytest.approx(-expected)
    plain = GaussianNB().fit(X, y)
    scorer = get_selective_scorer("neg_selective_cost", reject_cost=0.1)
    assert scorer(plain, X, y) == pytest.approx(plain.score(X, y) - 1)


def test_rejecting_everything_costs_what_a_rejection_does():
    silent = SelectiveClassifier(GaussianNB(), reject_cost=0.0).fit(X, y)
    assert not silent.accept(X).any()
    scorer = get_selective_scorer("neg_selective_cost", reject_cost=0.4)
    shown = repr(scorer)
    for rows in (slice(None), slice(20)):
        assert scorer(silent, X[rows], y[rows]) == pytest.approx(-0.4)
    assert repr(scorer) == shown  # nothing of the samples is kept


@pytest.mark.parametrize(
    "estimator",
    [
        GaussianNB(),
        SelectiveClassifier(GaussianNB(), target_coverage=0.8),
        make_pipeline(StandardScaler(), SelectiveClassifier(GaussianNB())),
        SelectiveClassifier(
            GaussianNB(), reject_cost={0: 0.1, 1: 0.2, 2: 0.3}, group_by="prediction"
        ),
    ],
    ids=["plain", "coverage", "default", "by group"],
)
def test_an_unknown_cost_is_an_error(estimator):
    estimator.fit(X, y)
    with pytest.raises(ValueError, match="Pass the cost of a rejected sample"):
        get_selective_scorer("neg_selective_cost")(estimator, X, y)
    get_selective_scorer("neg_selective_cost", reject_cost=0.2)(estimator, X, y)


def test_costs_are_checked():
    with pytest.raises(ValueError, match="reject_cost must be in"):
        get_selective_scorer("neg_selective_cost", reject_cost=-1)
    with pytest.raises(ValueError, match="With normalize='prr' higher is better"):
        get_selective_scorer("neg_deferral_area", normalize="prr")
    with pytest.raises(ValueError, match="normalize must be one of"):
        get_selective_scorer("neg_deferral_area", normalize="oracle")
    selective = SelectiveClassifier(GaussianNB(), reject_cost=0.2).fit(X, y)
    with pytest.raises(ValueError, match="expert_labels are given, but Selective"):
        get_selective_scorer("neg_selective_cost")(
            selective, X, y, expert_labels=PERSON
        )


# Costs of asking


def test_a_deferred_sample_costs_the_asking_and_the_loss_of_the_expert():
    first, second, gain = opinions_of(MODEL, X)
    costs = [
        0.1 + (second[row] != y[row]) if gain[row] > 0.3 else first[row] != y[row]
        for row in range(len(y))
    ]
    assert 0 < np.mean(gain > 0.3) < 1
    for weight in (None, WEIGHT):
        value = get_selective_scorer("neg_selective_cost")(
            MODEL, X, y, sample_weight=weight
        )
        assert value == pytest.approx(-np.average(costs, weights=weight))


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["plain", "weighted"])
def test_known_answers_of_a_person_stand_for_those_that_are_not(weight):
    scorer = get_selective_scorer("neg_selective_cost")
    first, _, gain = opinions_of(ALONE, X, PERSON)
    deferred, known = gain > 0.3, PERSON != None  # noqa: E711
    weights = np.ones(len(y)) if weight is None else weight
    of_person = np.average(
        (y != PERSON)[deferred & known], weights=weights[deferred & known]
    )
    costs = np.where(deferred, 0.1 + of_person, first != y)
    value = scorer(ALONE, X, y, sample_weight=weight, expert_labels=PERSON)
    assert value == pytest.approx(-np.average(costs, weights=weight))
    # Whatever is said of samples that are not deferred.
    other = np.where(deferred, PERSON, None)
    assert scorer(ALONE, X, y, sample_weight=weight, expert_labels=other) == value


def test_costs_of_asking_that_are_not_known():
    scorer = get_selective_scorer("neg_selective_cost")
    with pytest.raises(ValueError, match="expert_labels is None, but a person"):
        scorer(ALONE, X, y)
    with pytest.raises(ValueError, match="no answer for any of the"):
        scorer(ALONE, X, y, expert_labels=[None] * len(y))
    with pytest.raises(
        ValueError, match=r"reject_cost=0.2 is the cost of a rejected sample"
    ):
        get_selective_scorer("neg_selective_cost", reject_cost=0.2)(MODEL, X, y)
    free = DeferringClassifier(
        GaussianNB(), LogisticRegression(), gain_score="confidence", max_deferral=0.2
    ).fit(X, y)
    with pytest.raises(ValueError, match=r"deferral_cost=None.*would cost nothing"):
        scorer(free, X, y)
    outer = Deferring().fit(X, y)
    outer.expert_ = free
    with pytest.raises(ValueError, match=r"deferral_cost=None.*would cost nothing"):
        scorer(outer, X, y)


# Of a DeferringClassifier


@pytest.fixture(scope="module")
def cascade():
    """Naive Bayes on one feature asks one on all of them, which asks a tree."""
    one = make_pipeline(FunctionTransformer(_first_column), GaussianNB())
    shared = {"gain_score": "confidence", "cv": 2, "random_state": 0}
    tree = DecisionTreeClassifier(max_depth=5, random_state=0)
    inner = DeferringClassifier(GaussianNB(), tree, deferral_cost=0.02, **shared)
    return DeferringClassifier(one, inner, deferral_cost=0.01, **shared).fit(X, y)


def _first_column(X):
    return X[:, :1]


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["plain", "weighted"])
def test_the_area_is_minus_the_score(cascade, weight):
    value = get_selective_scorer("neg_deferral_area")(
        cascade, X, y, sample_weight=weight
    )
    assert value == pytest.approx(cascade.score(X, y, sample_weight=weight))
    assert -1 < value < 0


def test_the_cost_of_a_cascade_is_that_of_each_level(cascade):
    inner = cascade.expert_
    first, second = cascade.defer(X), np.zeros(len(y), dtype=bool)
    second[first] = inner.defer(X[first])
    assert 0 < second.sum() < first.sum() < len(y)
    costs = (cascade.predict(X) != y) + 0.01 * first + 0.02 * second
    scorer = get_selective_scorer("neg_selective_cost")
    assert scorer(cascade, X, y) == pytest.approx(-costs.mean())
    system = cascade.report(X, y).parts[0]
    assert scorer(cascade, X, y) == pytest.approx(-system.risk.value - system.cost)


def test_the_cost_of_asking_inside_of_what_rejects(cascade):
    scorer = get_selective_scorer("neg_selective_cost")
    model = SelectiveClassifier(FrozenEstimator(cascade), reject_cost=0.2)
    model = make_pipeline(StandardScaler(), model).fit(X, y)
    scaled = model[0].transform(X)
    accepted, first = model[-1].accept(scaled), cascade.defer(scaled)
    assert 0 < accepted.mean() < 1
    assert 0 < first.mean() < 1
    costs = np.where(accepted, cascade.predict(scaled) != y, 0.2) + 0.01 * first
    costs[first] += 0.02 * cascade.expert_.defer(scaled[first])
    for weight in (None, WEIGHT):
        expected = np.average(costs, weights=weight)
        value = scorer(model, X, y, sample_weight=weight)
        assert value == pytest.approx(-expected)


@pytest.mark.usefixtures("_routing")
def test_a_search_with_a_person_of_whom_some_answers_are_missing():
    model = DeferringClassifier(
        GaussianNB(), deferral_cost=0.35, gain_score="confidence", cv=2
    ).set_fit_request(expert_labels=True)
    area = get_selective_scorer("neg_deferral_area").set_score_request(
        expert_labels=True
    )
    cost = get_selective_scorer("neg_selective_cost").set_score_request(
        expert_labels=True
    )
    search = GridSearchCV(
        model,
        {"estimator__var_smoothing": [1e-9, 0.1]},
        scoring={"area": area, "cost": cost},
        refit="area",
        cv=2,
        error_score="raise",
    ).fit(X, y, expert_labels=PERSON)
    fitted = search.best_estimator_
    assert area(search, X, y, expert_labels=PERSON) == pytest.approx(
        fitted.score(X, y, expert_labels=PERSON)
    )
    deferred, known = fitted.defer(X), PERSON != None  # noqa: E711
    assert 0 < deferred.mean() < 1
    of_person = 0.35 + np.mean((PERSON != y)[deferred & known])  # noqa: SIM300
    costs = np.where(deferred, of_person, fitted.predict_first(X) != y)
    assert cost(search, X, y, expert_labels=PERSON) == pytest.approx(-costs.mean())
    assert np.isfinite(search.cv_results_["mean_test_cost"]).all()


def test_groups_whose_cost_is_not_known():
    model = Deferring(deferral_cost=np.nan).fit(X, y)
    with pytest.raises(ValueError, match="no value for the groups of 150 samples"):
        get_selective_scorer("neg_selective_cost")(model, X, y)


# Scorers of predictions


def test_what_is_left_to_a_person_is_rejected_to_other_scorers():
    model = DeferringClassifier(
        GaussianNB(), max_deferral=0.3, gain_score="confidence", cv=2
    ).fit(X, y, expert_labels=PERSON)
    pipe = make_pipeline(FrozenEstimator(model))
    deferred, right = model.defer(X), model.predict_first(X) == y
    assert 0 < deferred.mean() < 1
    share = 1 - deferred.mean()
    scorer = make_selective_scorer(accuracy_score, reject_penalty=0.5)
    expected = share * right[~deferred].mean() + (1 - share) * 0.5
    for estimator in (model, pipe):
        assert scorer(estimator, X, y) == pytest.approx(expected)
    with pytest.raises(ValueError, match="samples are rejected and on_reject='error'"):
        make_selective_scorer(accuracy_score, on_reject="error")(model, X, y)
    seen = []

    def metric(y_true, y_pred):
        seen.append(set(y_pred.tolist()))
        return np.mean(y_true == y_pred)

    assert make_selective_scorer(metric)(model, X, y) == np.mean(right & ~deferred)
    assert seen == [{0, 1, 2}]  # wrong labels, and not one more class
    with pytest.raises(ValueError, match=r"label -1, .*\(or defer_label=None"):
        get_selective_scorer("neg_aurc")(model, X, y)


def test_what_a_model_answers_is_accepted(cascade):
    scorer = make_selective_scorer(accuracy_score, on_reject="error")
    assert scorer(cascade, X, y) == np.mean(cascade.predict(X) == y)


def test_labels_of_a_person_may_be_masked_or_not_wanted():
    options = {"gain_score": "confidence", "deferral_cost": 0.1}
    person = DeferringClassifier(GaussianNB(), **options).fit(X, y, expert_labels=y)
    gaps = np.arange(len(y)) % 2 == 0
    scorer = get_selective_scorer("neg_selective_cost")
    masked = np.ma.array(np.where(gaps, 1 - y, y), mask=gaps)
    expected = scorer(person, X, y, expert_labels=np.where(gaps, np.nan, y))
    assert scorer(person, X, y, expert_labels=masked) == expected
    model = DeferringClassifier(GaussianNB(), LogisticRegression(), **options)
    with pytest.raises(ValueError, match=r"asks no person\. Omit expert_labels"):
        scorer(model.fit(X, y), X, y, expert_labels=y)


def test_without_a_target_asking_costs_nothing():
    model = DeferringClassifier(
        GaussianNB(), LogisticRegression(), gain_score="confidence"
    ).fit(X, y)
    cost = -get_selective_scorer("neg_selective_cost")(model, X, y)
    assert cost == pytest.approx(np.mean(model.predict(X) != y))
