"""SelectiveClassifier beside and inside the rest of scikit-learn."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    FixedThresholdClassifier,
    KFold,
    StratifiedKFold,
    StratifiedShuffleSplit,
    TunedThresholdClassifierCV,
    cross_val_predict,
    cross_validate,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

from sklearn_reject import SelectiveClassifier
from sklearn_reject.exceptions import RejectionWarning
from sklearn_reject.metrics import aurc_score, get_selective_scorer
from sklearn_reject.scores import ConditionalRisk, Margin
from sklearn_reject.selection import (
    solve_reject_cost,
    solve_target_coverage,
    solve_target_risk,
)
from tests.samples import entropies


def make_samples(n_classes=3, n_samples=300):
    return make_classification(
        n_samples,
        n_features=5,
        n_informative=4,
        n_redundant=0,
        n_classes=n_classes,
        class_sep=0.7,
        flip_y=0.1,
        random_state=n_classes,
    )


X, y = make_samples()
X2, y2 = make_samples(n_classes=2)
TREE = DecisionTreeClassifier(max_depth=3, random_state=0)

# Few distinct probabilities: every rule has many samples at its threshold.
TIED = FrozenEstimator(TREE.fit(X[:150], y[:150]))
TARGETS = [{"reject_cost": 0.3}, {"target_risk": 0.25}, {"target_coverage": 0.6}]


# What the methods tell about each other


@pytest.mark.parametrize("target", TARGETS, ids=str)
@pytest.mark.parametrize(
    "estimator",
    [
        LogisticRegression(),
        LinearSVC(random_state=0),
        pytest.param(SVC(random_state=0), marks=pytest.mark.slow),
        TREE,
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_methods_agree(estimator, target):
    selective = SelectiveClassifier(estimator, random_state=0, **target).fit(X, y)
    accepted = selective.accept(X)
    probability = selective.accept_proba(X)
    uncertainty = selective.uncertainty(X)
    labels = selective.predict_label(X)
    predicted = selective.predict(X)
    rule = selective.rule_

    assert accepted.dtype == bool
    assert 0 < accepted.sum() < len(X)
    np.testing.assert_array_equal(predicted == -1, ~accepted)
    np.testing.assert_array_equal(predicted[accepted], labels[accepted])
    np.testing.assert_array_equal(labels, selective.estimator_.predict(X))
    np.testing.assert_array_equal(probability[uncertainty < rule.threshold], 1)
    np.testing.assert_array_equal(
        probability[uncertainty == rule.threshold], rule.proba_at_threshold
    )
    np.testing.assert_array_equal(probability[uncertainty > rule.threshold], 0)
    assert accepted[probability == 1].all()
    assert not accepted[probability == 0].any()


def test_has_the_methods_that_the_classifier_has():
    assert not hasattr(SelectiveClassifier(LinearSVC()), "predict_proba")
    assert hasattr(SelectiveClassifier(LinearSVC()), "decision_function")
    assert hasattr(SelectiveClassifier(GaussianNB()), "predict_proba")
    assert not hasattr(SelectiveClassifier(GaussianNB()), "decision_function")


@pytest.mark.parametrize("loss", ["zero_one", "absolute", "squared"])
def test_score_is_minus_the_area_under_the_curve(loss):
    weight = np.random.default_rng(0).random(len(X))
    selective = SelectiveClassifier(LogisticRegression(), loss=loss).fit(X, y)
    predictions = selective.predict_label(X), selective.uncertainty(X)
    for sample_weight in (None, weight):
        expected = aurc_score(y, *predictions, loss=loss, sample_weight=sample_weight)
        assert selective.score(X, y, sample_weight) == -expected < 0


@pytest.mark.parametrize(
    "score",
    [
        *("auto", "conditional_risk", "margin"),
        *(ConditionalRisk(decision="bayes"), Margin(kind="max")),
    ],
    ids=str,
)
@pytest.mark.parametrize("samples", [(X, y), (X2, y2)], ids=["multiclass", "binary"])
def test_predict_is_one_pass_of_the_classifier(monkeypatch, samples, score):
    selective = SelectiveClassifier(LogisticRegression(), uncertainty_score=score)
    rows, labels = samples
    predicted = selective.fit(rows, labels).predict(rows)
    expected = np.where(predicted == -1, -1, selective.estimator_.predict(rows))
    np.testing.assert_array_equal(predicted, expected)
    passes, decide = [], LogisticRegression.decision_function
    monkeypatch.setattr(
        LogisticRegression,
        "decision_function",  # what all its methods go through
        lambda self, X: passes.append(len(X)) or decide(self, X),
    )
    np.testing.assert_array_equal(selective.predict(rows), predicted)
    assert passes == [300]


# Which samples fit the classifier and which solve the rule


@pytest.mark.parametrize("cost", [0.0, 0.2, 0.5, 3.0])
@pytest.mark.parametrize(
    "loss", ["zero_one", "absolute", [[0, 1, 2], [3, 0, 1], [4, 2, 0]]]
)
def test_plug_in_rule_compares_the_risk_with_the_cost(loss, cost):
    selective = SelectiveClassifier(
        LogisticRegression(), reject_cost=cost, loss=loss, cv="plug_in"
    )
    with warnings.catch_warnings():  # of a cost above the largest loss
        warnings.simplefilter("ignore", RejectionWarning)
        selective.fit(X, y)
    assert selective.rule_.threshold == selective.rule_.reject_cost == cost
    assert np.isnan(selective.rule_.coverage)
    np.testing.assert_array_equal(selective.accept(X), selective.uncertainty(X) <= cost)


def test_reject_cost_is_solved_out_of_fold_by_default():
    rule = SelectiveClassifier(LogisticRegression(), reject_cost=0.2).fit(X2, y2).rule_
    probabilities = cross_val_predict(
        LogisticRegression(), X2, y2, cv=5, method="predict_proba"
    )
    risk, losses = probabilities.min(axis=1), probabilities.argmax(axis=1) != y2
    # What the probabilities claim counts as 30 more rows.
    mixed = (len(y2) * losses + 30 * risk) / (len(y2) + 30)
    assert rule.threshold == solve_reject_cost(risk, mixed, 0.2).threshold
    measured = rule.measure(risk, losses)
    assert (rule.coverage, rule.selective_risk) == pytest.approx(
        (measured.coverage, measured.selective_risk)
    )


SPLITS = [(train, test) for train, test in KFold(3).split(X2)]
SOLVERS = {
    "reject_cost": solve_reject_cost,
    "target_risk": solve_target_risk,
    "target_coverage": solve_target_coverage,
}


@pytest.mark.parametrize(
    "cv", [None, 4, KFold(3), SPLITS], ids=["None", "4", "KFold", "splits"]
)
@pytest.mark.parametrize("target", TARGETS, ids=str)
@pytest.mark.filterwarnings("ignore:.*rests on .* accepted calibration samples")
def test_rule_is_solved_on_pooled_predictions_out_of_fold(cv, target):
    ((name, value),) = target.items()
    model = make_pipeline(StandardScaler(), LogisticRegression())
    selective = SelectiveClassifier(model, uncertainty_score="margin", cv=cv, **target)
    rule = selective.fit(X2, y2).rule_
    values = cross_val_predict(model, X2, y2, cv=cv, method="decision_function")
    assert rule == SOLVERS[name](-abs(values), (values > 0) != y2, value)
    final = clone(model).fit(X2, y2)
    np.testing.assert_array_equal(selective.predict_label(X2), final.predict(X2))


def test_rule_uses_the_loss():
    costs = np.array([[0.0, 1.0], [10.0, 0.0]])
    selective = SelectiveClassifier(
        LogisticRegression(), target_risk=1.5, loss=costs, cv=3
    ).fit(X2, y2)
    probabilities = cross_val_predict(
        LogisticRegression(), X2, y2, cv=3, method="predict_proba"
    )
    labels = probabilities.argmax(axis=1)
    risk_of_zero, risk_of_one = (probabilities @ costs).T
    scores = np.where(labels == 0, risk_of_zero, risk_of_one)
    expected = solve_target_risk(scores, costs[y2, labels], 1.5)
    rule = selective.rule_
    assert rule.threshold == pytest.approx(expected.threshold, rel=1e-12)
    assert rule.proba_at_threshold == pytest.approx(
        expected.proba_at_threshold, rel=1e-9
    )
    assert rule.coverage == pytest.approx(expected.coverage, rel=1e-12)
    assert rule.selective_risk == pytest.approx(1.5, rel=1e-12)


def test_share_held_out_solves_the_rule():
    selective = SelectiveClassifier(
        GaussianNB(), target_coverage=0.5, cv=0.4, random_state=7
    ).fit(X2, y2)
    splitter = StratifiedShuffleSplit(1, test_size=0.4, random_state=7)
    ((train, test),) = splitter.split(X2, y2)
    final = GaussianNB().fit(X2[train], y2[train])
    np.testing.assert_array_equal(selective.estimator_.theta_, final.theta_)
    probabilities = final.predict_proba(X2[test])
    losses = probabilities.argmax(axis=1) != y2[test]
    assert selective.rule_ == solve_target_coverage(
        probabilities.min(axis=1), losses, 0.5
    )


# Targets that are met, and draws at the threshold


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("target_coverage", value) for value in (0.1, 0.37, 0.5, 0.8, 0.99)),
        *(("target_risk", value) for value in (0.2, 0.25, 0.3)),
    ],
)
@pytest.mark.filterwarnings("ignore:.*rests on .* accepted calibration samples")
def test_targets_are_met_exactly_in_expectation(name, value, weighted):
    weight = np.random.default_rng(2).random(150) if weighted else np.ones(150)
    selective = SelectiveClassifier(TIED, **{name: value})
    rule = selective.fit(X[150:], y[150:], sample_weight=weight).rule_
    accepted = weight * selective.accept_proba(X[150:])
    losses = selective.predict_label(X[150:]) != y[150:]
    coverage = accepted.sum() / weight.sum()
    risk = np.average(losses, weights=accepted)
    assert 0 < rule.proba_at_threshold < 1
    assert rule.coverage == pytest.approx(coverage, rel=1e-12)
    assert rule.selective_risk == pytest.approx(risk, rel=1e-12)
    met = coverage if name == "target_coverage" else risk
    assert met == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize(
    ("target", "side"), [({"target_risk": 0.25}, 0), ({"target_coverage": 0.6}, 1)]
)
@pytest.mark.filterwarnings("ignore:.*rests on .* accepted calibration samples")
def test_without_randomization_the_tie_is_taken_on_the_safe_side(target, side):
    selective = SelectiveClassifier(TIED, randomize=False, **target)
    selective.fit(X[150:], y[150:])
    accepted = selective.accept_proba(X[150:])
    losses = selective.predict_label(X[150:]) != y[150:]
    at_threshold = selective.uncertainty(X[150:]) == selective.rule_.threshold
    assert at_threshold.sum() > 1
    np.testing.assert_array_equal(accepted[at_threshold], side)
    if side:
        assert accepted.mean() >= 0.6
    else:
        assert losses[accepted == 1].mean() <= 0.25
    np.testing.assert_array_equal(selective.accept(X), selective.accept(X))


# Decisions that are not the most probable class


def test_bayes_decision_minimises_the_expected_cost():
    costs = np.array([[0.0, 1.0, 8.0], [2.0, 0.0, 1.0], [5.0, 0.5, 0.0]])
    selective = SelectiveClassifier(
        LogisticRegression(),
        loss=costs,
        reject_cost=0.6,
        uncertainty_score=ConditionalRisk(decision="bayes"),
        cv="plug_in",
    ).fit(X, y)
    probabilities = selective.predict_proba(X)
    labels, risks = [], []
    for row in probabilities:
        risk_of = [sum(row[t] * costs[t, k] for t in range(3)) for k in range(3)]
        labels.append(int(np.argmin(risk_of)))
        risks.append(min(risk_of))
    np.testing.assert_array_equal(selective.predict_label(X), labels)
    np.testing.assert_allclose(selective.uncertainty(X), risks, rtol=1e-12)
    assert (probabilities.argmax(axis=1) != labels).mean() > 0.1
    np.testing.assert_array_equal(
        selective.predict(X), np.where(np.array(risks) <= 0.6, labels, -1)
    )


@pytest.mark.parametrize(
    "estimator",
    [
        FixedThresholdClassifier(LogisticRegression(), threshold=0.2),
        TunedThresholdClassifierCV(
            LogisticRegression(class_weight={0: 9}),
            scoring="recall",
            cv=2,
            thresholds=10,
        ),
        make_pipeline(
            StandardScaler(),
            FixedThresholdClassifier(LogisticRegression(), threshold=0.8),
        ),
    ],
    ids=["fixed", "tuned", "pipeline"],
)
def test_moved_decision_threshold_is_respected(estimator):
    selective = SelectiveClassifier(estimator, target_coverage=0.7, cv=2).fit(X2, y2)
    labels = selective.predict_label(X2)
    probabilities = selective.predict_proba(X2)
    np.testing.assert_array_equal(labels, selective.estimator_.predict(X2))
    assert (labels != probabilities.argmax(axis=1)).mean() > 0.05
    risk = np.where(labels == 1, probabilities[:, 0], probabilities[:, 1])
    np.testing.assert_array_equal(selective.uncertainty(X2), risk)
    assert risk.max() > 0.5


def test_frozen_classifier_is_used_as_it_is():
    fitted = GaussianNB().fit(X[:150], y[:150])
    before = fitted.predict_proba(X)
    selective = SelectiveClassifier(FrozenEstimator(fitted), target_coverage=0.5)
    selective.fit(X[150:], y[150:])
    np.testing.assert_array_equal(selective.predict_proba(X), before)
    scores = 1 - before[150:].max(axis=1)
    losses = fitted.predict(X[150:]) != y[150:]
    expected = solve_target_coverage(scores, losses, 0.5)
    assert selective.rule_.threshold == pytest.approx(expected.threshold, rel=1e-12)
    assert selective.rule_.selective_risk == expected.selective_risk


# Labels of every kind


# Containers


@pytest.mark.parametrize(
    "estimator",
    [LogisticRegression(), RandomForestClassifier(2, random_state=0)],
    ids=["logistic", "votes"],
)
def test_sparse_in(estimator):
    # Two trees often disagree, and then the classes are equally probable.
    dense, y = np.round(X2[:90]), y2[:90]  # more rows make `dia` inefficient
    arguments = {"target_coverage": 0.5, "random_state": 0}
    plain = SelectiveClassifier(estimator, **arguments).fit(dense, y)
    labels = plain.predict_label(dense)
    for form in ("csr", "csc", "coo", "dia", "lil", "dok", "bsr"):
        X_sparse = getattr(sparse, f"{form}_array")(dense)
        selective = SelectiveClassifier(estimator, **arguments).fit(X_sparse, y)
        assert selective.rule_.coverage == pytest.approx(plain.rule_.coverage), form
        found = selective.predict_label(X_sparse)
        np.testing.assert_array_equal(found, labels, err_msg=form)
        rejected = selective.predict(X_sparse) == -1
        accepted = selective.accept(X_sparse)
        np.testing.assert_array_equal(rejected, ~accepted, err_msg=form)


# Pipelines and searches


def test_cross_validate_and_cross_val_predict():
    labels = np.array(["a", "b"])[y2]
    selective = SelectiveClassifier(GaussianNB(), target_coverage=0.5, random_state=0)
    results = cross_validate(
        selective,
        X2,
        labels,
        cv=3,
        scoring={"area": get_selective_scorer("neg_aurc"), "accuracy": "accuracy"},
        return_estimator=True,
    )
    predicted = cross_val_predict(selective, X2, labels, cv=3)
    assert set(predicted) == {"a", "b", "reject"}
    folds = StratifiedKFold(3).split(X2, y2)
    for (train, test), estimator, area in zip(
        folds, results["estimator"], results["test_area"], strict=True
    ):
        fitted = clone(selective).fit(X2[train], labels[train])
        np.testing.assert_array_equal(predicted[test], fitted.predict(X2[test]))
        np.testing.assert_array_equal(predicted[test], estimator.predict(X2[test]))
        assert area == fitted.score(X2[test], labels[test])
    # To scikit-learn's accuracy a rejection is an error.
    accuracy = (predicted == labels).mean()
    assert results["test_accuracy"].mean() == pytest.approx(accuracy)


# Weights and metadata


@pytest.mark.filterwarnings("ignore::sklearn_reject.exceptions.RejectionWarning")
@pytest.mark.parametrize("target", TARGETS, ids=str)
@pytest.mark.parametrize("score", ["conditional_risk", entropies])
def test_integer_weights_equal_repeated_rows(target, score):
    if score == "conditional_risk" and "reject_cost" in target:
        # Elsewhere what the risk claims counts as 30 rows, weighted or not.
        target = {**target, "cv": "plug_in"}
    X_tune, y_tune = X[150:], y[150:]
    weight = np.random.default_rng(0).integers(1, 4, len(X_tune))
    weight[::5] = 0
    rows = np.repeat(np.arange(len(X_tune)), weight)
    selective = SelectiveClassifier(TIED, uncertainty_score=score, **target)
    weighted = clone(selective).fit(X_tune, y_tune, sample_weight=weight).rule_
    repeated = clone(selective).fit(X_tune[rows], y_tune[rows]).rule_
    for field in ("threshold", "proba_at_threshold", "coverage", "selective_risk"):
        expected = pytest.approx(getattr(repeated, field), rel=1e-12)
        assert getattr(weighted, field) == expected, field


def test_score_parameters_can_be_searched():
    selective = SelectiveClassifier(
        LinearSVC(random_state=0), uncertainty_score=Margin()
    )
    selective.set_params(uncertainty_score__kind="max").fit(X, y)
    values = selective.decision_function(X)
    np.testing.assert_array_equal(selective.uncertainty(X), -values.max(axis=1))


def test_splits_given_as_masks_or_lists():
    rows = np.arange(300)
    masks = [(rows % 3 != k, rows % 3 == k) for k in range(3)]
    indices = [tuple(map(np.flatnonzero, mask)) for mask in masks]
    lists = [[part.tolist() for part in split] for split in indices]
    rules = [
        SelectiveClassifier(GaussianNB(), target_coverage=0.5, cv=cv)
        .fit(X, y, sample_weight=1.0 + rows % 2)
        .rule_
        for cv in (masks, indices, lists)
    ]
    assert rules[0] == rules[1] == rules[2]
