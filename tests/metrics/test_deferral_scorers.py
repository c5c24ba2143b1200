"""Scorers of second opinions and of costs: what they measure, of whom, with what."""

from types import SimpleNamespace

import numpy as np
import pytest
import sklearn
from sklearn.datasets import make_classification
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import accuracy_score
from sklearn.model_selection import cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from sklearn_reject import (
    DeferringClassifier,
    SelectiveClassifier,
    SelectiveRegressor,
)
from sklearn_reject.exceptions import RejectionWarning
from sklearn_reject.metrics import (
    deferral_area_score,
    get_selective_scorer,
    make_selective_scorer,
    selective_cost_score,
)

X, y = make_classification(
    150, n_features=5, n_informative=4, n_redundant=0, n_classes=3, flip_y=0.2,
    random_state=0,
)  # fmt: skip
WEIGHT = 1.0 + np.arange(150) % 4
COSTS = np.array([[0.0, 1.0, 2.0], [5.0, 0.0, 1.0], [3.0, 2.0, 0.0]])
PERSON = np.where(np.arange(150) % 5, y, 0).astype(object)
PERSON[np.arange(150) % 7 < 2] = None
KNOWN = np.array([answer is not None for answer in PERSON])
AREA = get_selective_scorer("neg_deferral_area")
COST = get_selective_scorer("neg_selective_cost")
weights = pytest.mark.parametrize("weight", [None, WEIGHT], ids=["plain", "weighted"])


def deferring(expert=None, **options):
    options = {"deferral_cost": 0.1, "gain_score": "confidence", "cv": 2, **options}
    return DeferringClassifier(GaussianNB(), expert, random_state=0, **options)


def first_column(X):
    return X[:, :1]


@pytest.fixture(scope="module")
def models():
    """Fitted on all samples: with a model, a person, and a model that asks a tree."""
    tree = DecisionTreeClassifier(max_depth=5, random_state=0)
    inner = deferring(tree, deferral_cost=0.02)
    cascade = deferring(inner, deferral_cost=0.01)
    one = make_pipeline(FunctionTransformer(first_column), GaussianNB())
    return SimpleNamespace(
        model=deferring(LogisticRegression()).fit(X, y),
        person=deferring(deferral_cost=0.35).fit(X, y, expert_labels=PERSON),
        cascade=cascade.set_params(estimator=one).fit(X, y),
    )


def opinions_of(model, second=None):
    """Return labels of both and scores, by hand."""
    second = model.expert_.predict(X) if second is None else second
    first = model.predict_first(X)
    return first, second, model.deferral_score(X)


@weights
@pytest.mark.parametrize("normalize", [None, "excess"])
@pytest.mark.parametrize(
    "loss", [None, "absolute", COSTS], ids=["own", "name", "table"]
)
def test_area_is_that_of_the_opinions(weight, normalize, loss, models):
    options = {"sample_weight": weight, "normalize": normalize}
    expected = deferral_area_score(
        *(y, *opinions_of(models.model)),
        loss="zero_one" if loss is None else loss,
        **options,
    )
    scorer = get_selective_scorer("neg_deferral_area", loss=loss, normalize=normalize)
    found = scorer(models.model, X, y, sample_weight=weight)
    assert found == pytest.approx(-expected)
    # With what a person says of some.
    expected = deferral_area_score(y, *opinions_of(models.person, PERSON))
    found = AREA(models.person, X, y, expert_labels=PERSON)
    assert found == pytest.approx(-expected)


def test_the_loss_is_that_of_the_estimator_also_where_a_class_lacks():
    model = deferring(LogisticRegression(), loss=COSTS).fit(X, y)
    for rows in (slice(None), y != 2):
        opinions = [of_all[rows] for of_all in opinions_of(model)]
        options = {"loss": COSTS, "labels": [0, 1, 2]}
        expected = deferral_area_score(y[rows], *opinions, **options)
        assert AREA(model, X[rows], y[rows]) == pytest.approx(-expected)


@pytest.mark.parametrize("scorer", [AREA, COST], ids=["area", "cost"])
def test_both_names_are_routed(scorer):
    asking = scorer.set_score_request(expert_labels="radiologist")
    asking = asking.set_score_request(sample_weight=True)
    requests = {"sample_weight": True, "expert_labels": "radiologist"}
    assert asking.get_metadata_routing().score.requests == requests
    assert set(scorer.get_metadata_routing().score.requests.values()) == {None}
    with sklearn.config_context(enable_metadata_routing=True):
        model = deferring().set_fit_request(
            expert_labels="radiologist", sample_weight=False
        )
        model.estimator.set_fit_request(sample_weight=False)
        results = cross_validate(
            model, X, y, scoring=asking, cv=3, error_score="raise",
            params={"sample_weight": WEIGHT, "radiologist": PERSON},
            return_estimator=True, return_indices=True,
        )  # fmt: skip
    for fold, test in enumerate(results["indices"]["test"]):
        expected = scorer(
            results["estimator"][fold], X[test], y[test],
            sample_weight=WEIGHT[test], expert_labels=PERSON[test],
        )  # fmt: skip
        assert results["test_score"][fold] == expected


# Costs of rejections


@weights
@pytest.mark.parametrize("reject_cost", [None, 0.7])
@pytest.mark.parametrize("loss", [None, COSTS], ids=["own", "table"])
def test_cost_of_what_rejects(weight, reject_cost, loss):
    model = SelectiveClassifier(GaussianNB(), reject_cost=0.3, cv=2).fit(X, y)
    accepted = model.accept(X)
    assert 0 < accepted.mean() < 1
    expected = selective_cost_score(
        *(y, model.predict(X), accepted),
        reject_cost=0.3 if reject_cost is None else reject_cost,
        loss="zero_one" if loss is None else loss,
        sample_weight=weight,
    )
    options = {"reject_cost": reject_cost, "loss": loss}
    scorer = get_selective_scorer("neg_selective_cost", **options)
    assert scorer(model, X, y, sample_weight=weight) == pytest.approx(-expected)


def test_cost_of_a_regressor_of_what_cannot_reject_and_of_what_rejects_all():
    model = SelectiveRegressor(LinearRegression(), loss="squared", reject_cost=0.6)
    accepted = model.fit(X, y).accept(X)
    assert 0 < accepted.mean() < 1
    options = {"reject_cost": 0.6, "loss": "squared"}
    expected = selective_cost_score(y, model.predict(X), accepted, **options)
    assert COST(model, X, y * 1.0) == pytest.approx(-expected)
    scorer = get_selective_scorer("neg_selective_cost", reject_cost=0.4)
    plain = GaussianNB().fit(X, y)
    assert scorer(plain, X, y) == pytest.approx(plain.score(X, y) - 1)
    silent = SelectiveClassifier(GaussianNB(), reject_cost=0.0).fit(X, y)
    for rows in (slice(None), slice(20)):
        assert scorer(silent, X[rows], y[rows]) == pytest.approx(-0.4)


# Costs of asking


@weights
def test_a_deferred_sample_costs_the_asking_and_the_loss_of_the_expert(weight, models):
    model = models.model
    first, second, _ = opinions_of(model)
    deferred = model.defer(X)
    assert 0 < deferred.mean() < 1
    costs = np.where(deferred, 0.1 + (second != y), first != y)
    value = COST(model, X, y, sample_weight=weight)
    assert value == pytest.approx(-np.average(costs, weights=weight))


@weights
def test_known_answers_of_a_person_stand_for_those_that_are_not(weight, models):
    deferred = models.person.defer(X)
    assert 0 < deferred.mean() < 1
    asked = np.ones(len(y)) if weight is None else weight
    asked = asked * (deferred & KNOWN)
    of_person = 0.35 + np.average(PERSON != y, weights=asked)  # noqa: SIM300
    costs = np.where(deferred, of_person, models.person.predict_first(X) != y)
    expected = -np.average(costs, weights=weight)
    # Whatever is said of samples that are not deferred, and masked or missing.
    masked = np.ma.masked_array(np.where(KNOWN, PERSON, 7).astype(int), ~KNOWN)
    for said in (PERSON, np.where(deferred, PERSON, None), masked):
        value = COST(models.person, X, y, sample_weight=weight, expert_labels=said)
        assert value == pytest.approx(expected)


def test_the_cost_of_a_cascade_is_that_of_each_level(models):
    cascade = models.cascade
    first, second = cascade.defer(X), np.zeros(len(y), dtype=bool)
    second[first] = cascade.expert_.defer(X[first])
    assert 0 < second.sum() < first.sum() < len(y)
    costs = (cascade.predict(X) != y) + 0.01 * first + 0.02 * second
    assert COST(cascade, X, y) == pytest.approx(-costs.mean())
    system = cascade.report(X, y).parts[0]
    assert COST(cascade, X, y) == pytest.approx(-system.risk.value - system.cost)
    assert make_selective_scorer(accuracy_score, on_reject="error")(
        cascade, X, y
    ) == np.mean(cascade.predict(X) == y)


@weights
def test_the_cost_of_asking_inside_of_what_rejects(weight, models):
    cascade = models.cascade
    model = SelectiveClassifier(FrozenEstimator(cascade), reject_cost=0.2)
    model = make_pipeline(StandardScaler(), model).fit(X, y)
    scaled = model[0].transform(X)
    accepted, first = model[-1].accept(scaled), cascade.defer(scaled)
    assert 0 < accepted.mean() < 1
    costs = np.where(accepted, cascade.predict(scaled) != y, 0.2) + 0.01 * first
    costs[first] += 0.02 * cascade.expert_.defer(scaled[first])
    value = COST(model, X, y, sample_weight=weight)
    assert value == pytest.approx(-np.average(costs, weights=weight))


def test_without_a_target_asking_costs_nothing():
    model = deferring(LogisticRegression(), deferral_cost=None).fit(X, y)
    assert COST(model, X, y) == pytest.approx(-np.mean(model.predict(X) != y))


def test_what_is_left_to_a_person_is_rejected_to_other_scorers(models):
    model = models.person
    deferred, right = model.defer(X), model.predict_first(X) == y
    share = 1 - deferred.mean()
    scorer = make_selective_scorer(accuracy_score, reject_penalty=0.5)
    expected = share * right[~deferred].mean() + (1 - share) * 0.5
    for estimator in (model, make_pipeline(FrozenEstimator(model))):
        assert scorer(estimator, X, y) == pytest.approx(expected)
    seen = []

    def metric(y_true, y_pred):
        seen.append(set(y_pred.tolist()))
        return np.mean(y_true == y_pred)

    assert make_selective_scorer(metric)(model, X, y) == np.mean(right & ~deferred)
    assert seen == [{0, 1, 2}]  # wrong labels, and not one more class


def test_what_cannot_be_scored(models):
    bayes = GaussianNB().fit(X, y)
    selective = SelectiveClassifier(GaussianNB(), reject_cost=0.2).fit(X, y)
    free = deferring(LogisticRegression(), deferral_cost=None, max_deferral=0.2)
    free.fit(X, y)
    by_group = SelectiveClassifier(
        GaussianNB(), reject_cost={0: 0.1, 1: 0.2, 2: 0.3}, group_by="prediction"
    ).fit(X, y)
    covering = SelectiveClassifier(GaussianNB(), target_coverage=0.8).fit(X, y)
    strict = make_selective_scorer(accuracy_score, on_reject="error")
    priced = get_selective_scorer("neg_selective_cost", reject_cost=0.2)
    of_person = {"expert_labels": PERSON}
    unknown = "Pass the cost of a rejected sample"
    for scorer, model, options, message in (
        (AREA, bayes, {}, r"has no second opinion. Pass a DeferringClassifier"),
        (AREA, selective, {}, "has no second opinion"),
        *((COST, each, {}, unknown) for each in (bayes, covering, by_group)),
        (COST, make_pipeline(FrozenEstimator(covering)), {}, unknown),
        (COST, selective, of_person, "expert_labels are given, but Selective"),
        (COST, models.model, of_person, r"asks no person\. Omit expert_labels"),
        (COST, models.person, {}, "expert_labels is None, but a person"),
        (COST, models.person, {"expert_labels": [None] * 150}, "no answer for any of"),
        (priced, models.model, {}, r"reject_cost=0.2 is the cost of a rejected sample"),
        (COST, free, {}, r"deferral_cost=None.*would cost nothing"),
        (strict, models.person, {}, "samples are rejected and on_reject='error'"),
        (
            get_selective_scorer("neg_aurc"),
            *(models.person, {}, r"label -1, .*\(or defer_label=None"),
        ),
    ):
        with pytest.raises(ValueError, match=message):
            scorer(model, X, y, **options)


def test_groups_whose_cost_is_not_known():
    column = np.arange(150) % 2
    Z = np.column_stack([X, column])
    model = deferring(
        LogisticRegression(), deferral_cost={0: 0.1, 1: 0.2}, group_by=5
    ).fit(Z, y)
    Z[:, 5] = 7
    with (
        pytest.warns(RejectionWarning),
        pytest.raises(ValueError, match="no value for the groups of 150 samples"),
    ):
        COST(model, Z, y)
