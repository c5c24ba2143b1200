"""SelectiveClassifier beside and inside the rest of scikit-learn."""

import pickle
import warnings
from functools import wraps
from threading import get_ident

import numpy as np
import pytest
import sklearn
from joblib import parallel_backend
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris, make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    GroupKFold,
    KFold,
    StratifiedKFold,
    StratifiedShuffleSplit,
    TunedThresholdClassifierCV,
    cross_val_predict,
    cross_validate,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

from sklearn_reject import SelectiveClassifier
from sklearn_reject.exceptions import RejectionWarning
from sklearn_reject.metrics import aurc_score, get_selective_scorer
from sklearn_reject.scores import ConditionalRisk, Margin
from sklearn_reject.selection import (
    InfeasibleTargetError,
    RejectionRule,
    solve_reject_cost,
    solve_target_coverage,
    solve_target_risk,
)


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
TARGETS = [
    {"reject_cost": 0.3},
    {"target_risk": 0.25},
    {"target_coverage": 0.6},
]


class RecallingNB(GaussianNB):
    """Naive Bayes that remembers what it was fitted on."""

    def fit(self, X, y, sample_weight=None):
        self.seen_ = X[:, 0].copy()
        self.weight_ = sample_weight
        return super().fit(X, y, sample_weight)


def count_calls(monkeypatch, *names):
    """Return a list that gets the name of each outermost call of LogisticRegression."""
    calls, depth = [], []

    def counted(name, original):
        @wraps(original)
        def call(*args, **kwargs):
            if not depth:
                calls.append(name)
            depth.append(name)
            try:
                return original(*args, **kwargs)
            finally:
                depth.pop()

        return call

    for name in names:
        original = getattr(LogisticRegression, name)
        monkeypatch.setattr(LogisticRegression, name, counted(name, original))
    return calls


@pytest.fixture
def _routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


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


@pytest.mark.parametrize("method", ["predict_proba", "predict_log_proba"])
def test_outputs_are_those_of_the_classifier(method):
    selective = SelectiveClassifier(LogisticRegression()).fit(X, y)
    plain = LogisticRegression().fit(X, y)
    np.testing.assert_array_equal(
        getattr(selective, method)(X), getattr(plain, method)(X)
    )
    np.testing.assert_array_equal(
        selective.decision_function(X), plain.decision_function(X)
    )
    np.testing.assert_array_equal(selective.classes_, plain.classes_)


def test_has_the_methods_that_the_classifier_has():
    assert not hasattr(SelectiveClassifier(LinearSVC()), "predict_proba")
    assert hasattr(SelectiveClassifier(LinearSVC()), "decision_function")
    assert hasattr(SelectiveClassifier(GaussianNB()), "predict_proba")
    assert not hasattr(SelectiveClassifier(GaussianNB()), "decision_function")


def test_reject_label_none_returns_every_label():
    selective = SelectiveClassifier(
        LogisticRegression(), reject_label=None, target_coverage=0.5
    ).fit(X, y)
    assert selective.reject_label_ is None
    assert 0 < selective.accept(X).mean() < 1
    labels = selective.predict_label(X)
    np.testing.assert_array_equal(selective.predict(X), labels)
    assert labels.dtype == y.dtype


@pytest.mark.parametrize("loss", ["zero_one", "absolute", "squared"])
def test_score_is_minus_the_area_under_the_curve(loss):
    weight = np.random.default_rng(0).random(len(X))
    selective = SelectiveClassifier(LogisticRegression(), loss=loss).fit(X, y)
    predictions = selective.predict_label(X), selective.uncertainty(X)
    for sample_weight in (None, weight):
        expected = aurc_score(y, *predictions, loss=loss, sample_weight=sample_weight)
        assert selective.score(X, y, sample_weight) == -expected < 0


@pytest.mark.parametrize("coverage", [0.01, 0.5, 1.0])
def test_score_does_not_depend_on_the_threshold(coverage):
    score = SelectiveClassifier(LogisticRegression()).fit(X, y).score(X, y)
    selective = SelectiveClassifier(LogisticRegression(), target_coverage=coverage)
    assert selective.fit(X, y).score(X, y) == score


# Passes over the classifier


@pytest.mark.parametrize(
    ("score", "method"),
    [
        ("auto", "predict_proba"),
        ("conditional_risk", "predict_proba"),
        ("entropy", "predict_proba"),
        ("top_two_gap", "predict_proba"),
        ("margin", "decision_function"),
        (ConditionalRisk(decision="bayes"), "predict_proba"),
        (Margin(kind="max"), "decision_function"),
    ],
    ids=str,
)
@pytest.mark.parametrize("samples", [(X, y), (X2, y2)], ids=["multiclass", "binary"])
def test_predict_calls_the_classifier_once(monkeypatch, samples, score, method):
    selective = SelectiveClassifier(LogisticRegression(), uncertainty_score=score)
    selective.fit(*samples)
    calls = count_calls(monkeypatch, "predict", "predict_proba", "decision_function")
    predicted = selective.predict(samples[0])
    assert calls == [method]
    labels = selective.estimator_.predict(samples[0])
    np.testing.assert_array_equal(predicted, np.where(predicted == -1, -1, labels))


@pytest.mark.parametrize(
    ("arguments", "n_fits"),
    [
        ({}, 6),
        ({"reject_cost": 0.2}, 6),
        ({"reject_cost": 0.2, "cv": "plug_in"}, 1),
        ({"reject_cost": 0.2, "uncertainty_score": "conditional_risk"}, 6),
        ({"uncertainty_score": ConditionalRisk(decision="bayes")}, 6),
        ({"uncertainty_score": "margin"}, 6),
        ({"uncertainty_score": ConditionalRisk(loss="zero_one"), "loss": "squared"}, 6),
        ({"target_risk": 0.3}, 6),
        ({"target_coverage": 0.5}, 6),
        ({"cv": 3}, 4),
        ({"cv": 0.3}, 1),
        ({"target_coverage": 0.5, "cv": 0.3}, 1),
        ({"target_coverage": 0.5, "cv": KFold(2)}, 3),
        ({"target_coverage": 0.5, "cv": [(np.arange(150), np.arange(150, 300))]}, 2),
    ],
    ids=str,
)
def test_number_of_fits(monkeypatch, arguments, n_fits):
    calls = count_calls(monkeypatch, "fit")
    SelectiveClassifier(LogisticRegression(), **arguments).fit(X, y)
    assert len(calls) == n_fits


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


def test_plug_in_rule_keeps_its_threshold_when_data_measure_it():
    frozen = FrozenEstimator(LogisticRegression().fit(X2[::2], y2[::2]))
    selective = SelectiveClassifier(frozen, reject_cost=0.2, cv="plug_in")
    rule = selective.fit(X2[1::2], y2[1::2]).rule_
    probabilities = frozen.predict_proba(X2[1::2])
    losses = probabilities.argmax(axis=1) != y2[1::2]
    assert rule == RejectionRule(0.2, 1.0).measure(probabilities.min(axis=1), losses)
    assert 0 < rule.coverage < 1


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


def test_default_is_a_reject_cost_of_one_half():
    default = SelectiveClassifier(LogisticRegression(), cv="plug_in").fit(X, y)
    explicit = clone(default).set_params(reject_cost=0.5).fit(X, y)
    assert repr(default.rule_) == repr(explicit.rule_)
    most_likely = default.predict_proba(X).max(axis=1)
    np.testing.assert_array_equal(default.accept(X), most_likely >= 0.5)


# Which samples fit the classifier and which solve the rule

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
    selective = SelectiveClassifier(
        LogisticRegression(), uncertainty_score="margin", cv=cv, **target
    ).fit(X2, y2)
    values = cross_val_predict(
        LogisticRegression(), X2, y2, cv=cv, method="decision_function"
    )
    assert selective.rule_ == SOLVERS[name](-abs(values), (values > 0) != y2, value)


def test_rule_from_probabilities_of_three_classes():
    selective = SelectiveClassifier(
        GaussianNB(), uncertainty_score="top_two_gap", target_coverage=0.7, cv=3
    ).fit(X, y)
    probabilities = cross_val_predict(GaussianNB(), X, y, cv=3, method="predict_proba")
    _, second, first = np.sort(probabilities).T
    losses = probabilities.argmax(axis=1) != y
    assert selective.rule_ == solve_target_coverage(1 - (first - second), losses, 0.7)


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


@pytest.mark.parametrize("cv", [None, 2, KFold(3), SPLITS, 0.4], ids=str)
def test_what_the_classifier_is_fitted_on(cv):
    selective = SelectiveClassifier(
        RecallingNB(), target_coverage=0.5, cv=cv, random_state=0
    ).fit(X2, y2)
    if cv == 0.4:
        splitter = StratifiedShuffleSplit(1, test_size=0.4, random_state=0)
        ((train, _),) = splitter.split(X2, y2)
        expected = X2[train, 0]
    else:
        expected = X2[:, 0]
    np.testing.assert_array_equal(selective.estimator_.seen_, expected)


def test_share_held_out_solves_the_rule():
    selective = SelectiveClassifier(
        GaussianNB(), target_coverage=0.5, cv=0.4, random_state=7
    ).fit(X2, y2)
    splitter = StratifiedShuffleSplit(1, test_size=0.4, random_state=7)
    ((train, test),) = splitter.split(X2, y2)
    probabilities = GaussianNB().fit(X2[train], y2[train]).predict_proba(X2[test])
    losses = probabilities.argmax(axis=1) != y2[test]
    assert selective.rule_ == solve_target_coverage(
        probabilities.min(axis=1), losses, 0.5
    )


def test_default_folds_are_stratified():
    order = np.argsort(y2)
    selective = SelectiveClassifier(RecallingNB(), target_coverage=0.5)
    sorted_rule = selective.fit(X2[order], y2[order]).rule_
    probabilities = cross_val_predict(
        GaussianNB(),
        X2[order],
        y2[order],
        cv=StratifiedKFold(5),
        method="predict_proba",
    )
    losses = probabilities.argmax(axis=1) != y2[order]
    assert sorted_rule == solve_target_coverage(probabilities.min(axis=1), losses, 0.5)


@pytest.mark.parametrize("target", TARGETS, ids=str)
@pytest.mark.usefixtures("threads")
def test_jobs_in_parallel_give_the_same(target):
    arguments = {"uncertainty_score": "margin", "cv": 3, **target}
    one = SelectiveClassifier(LogisticRegression(), n_jobs=1, **arguments).fit(X, y)
    two = SelectiveClassifier(LogisticRegression(), n_jobs=2, **arguments).fit(X, y)
    assert one.rule_ == two.rule_
    np.testing.assert_array_equal(one.uncertainty(X), two.uncertainty(X))


def test_nothing_that_is_given_is_changed():
    data, labels, costs = X.copy(), y.copy(), np.ones((3, 3)) - np.eye(3)
    weight = np.ones(len(X))
    estimator = LogisticRegression()
    score = ConditionalRisk()
    selective = SelectiveClassifier(
        estimator, uncertainty_score=score, loss=costs, target_coverage=0.5
    ).fit(data, labels, sample_weight=weight)
    selective.predict(data)
    np.testing.assert_array_equal(data, X)
    np.testing.assert_array_equal(labels, y)
    np.testing.assert_array_equal(costs, np.ones((3, 3)) - np.eye(3))
    np.testing.assert_array_equal(weight, 1)
    assert not hasattr(estimator, "coef_")
    assert not hasattr(score, "estimator_")
    assert score.loss is None
    assert selective.estimator is estimator
    assert selective.uncertainty_score is score


# Targets that are met, and draws at the threshold


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("coverage", [0.1, 0.37, 0.5, 0.8, 0.99])
def test_coverage_is_met_exactly_in_expectation(coverage, weighted):
    weight = np.random.default_rng(1).random(150) if weighted else None
    selective = SelectiveClassifier(TIED, target_coverage=coverage)
    selective.fit(X[150:], y[150:], sample_weight=weight)
    accepted = selective.accept_proba(X[150:])
    assert 0 < selective.rule_.proba_at_threshold < 1
    assert np.average(accepted, weights=weight) == pytest.approx(coverage, rel=1e-12)
    assert selective.rule_.coverage == pytest.approx(coverage, rel=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("risk", [0.2, 0.25, 0.3])
@pytest.mark.filterwarnings("ignore:.*rests on .* accepted calibration samples")
def test_risk_is_met_exactly_in_expectation(risk, weighted):
    weight = np.random.default_rng(2).random(150) if weighted else np.ones(150)
    selective = SelectiveClassifier(TIED, target_risk=risk)
    selective.fit(X[150:], y[150:], sample_weight=weight)
    accepted = weight * selective.accept_proba(X[150:])
    losses = selective.predict_label(X[150:]) != y[150:]
    assert 0 < selective.rule_.proba_at_threshold < 1
    assert np.average(losses, weights=accepted) == pytest.approx(risk, rel=1e-12)
    assert selective.rule_.selective_risk == pytest.approx(risk, rel=1e-12)


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


def test_integer_seed_repeats_the_draws():
    selective = SelectiveClassifier(TIED, target_coverage=0.6, random_state=3)
    selective.fit(X[150:], y[150:])
    np.testing.assert_array_equal(selective.predict(X), selective.predict(X))
    np.testing.assert_array_equal(selective.accept(X), selective.predict(X) != -1)
    again = clone(selective).fit(X[150:], y[150:])
    np.testing.assert_array_equal(again.predict(X), selective.predict(X))
    other = clone(selective).set_params(random_state=4).fit(X[150:], y[150:])
    assert (other.predict(X) != selective.predict(X)).any()


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
    fitted = RecallingNB().fit(X[:150], y[:150])
    selective = SelectiveClassifier(FrozenEstimator(fitted), target_coverage=0.5)
    selective.fit(X[150:], y[150:])
    np.testing.assert_array_equal(fitted.seen_, X[:150, 0])
    np.testing.assert_array_equal(selective.predict_proba(X), fitted.predict_proba(X))
    scores = 1 - fitted.predict_proba(X[150:]).max(axis=1)
    losses = fitted.predict(X[150:]) != y[150:]
    expected = solve_target_coverage(scores, losses, 0.5)
    assert selective.rule_.threshold == pytest.approx(expected.threshold, rel=1e-12)
    assert selective.rule_.selective_risk == expected.selective_risk


def test_frozen_classifier_knows_classes_that_the_tuning_data_lack():
    frozen = FrozenEstimator(GaussianNB().fit(X, np.array([-1, 0, 1])[y]))
    rows = y != 0
    selective = SelectiveClassifier(frozen, target_coverage=0.5)
    selective.fit(X[rows], np.array([-1, 0, 1])[y[rows]])
    np.testing.assert_array_equal(selective.classes_, [-1, 0, 1])
    assert selective.reject_label_ == -2
    assert set(selective.predict(X)) == {-2, -1, 0, 1}


def test_calibrated_classifier_inside():
    calibrated = CalibratedClassifierCV(LinearSVC(random_state=0), cv=3)
    selective = SelectiveClassifier(calibrated, reject_cost=0.3, cv="plug_in")
    selective.fit(X, y)
    most_likely = calibrated.fit(X, y).predict_proba(X).max(axis=1)
    np.testing.assert_array_equal(selective.accept(X), most_likely >= 0.7)


# Labels of every kind


@pytest.mark.parametrize(
    ("classes", "reject_label", "dtype"),
    [
        (["a", "b"], "reject", "<U6"),
        (["reject", "stay"], "reject_", "<U7"),
        (["a long name", "b"], "reject", "<U11"),
        ([False, True], -1, "int64"),
        (np.array([0, 200], dtype=np.uint8), -1, "int64"),
        (np.array([0, 1], dtype=np.int8), -1, "int8"),
        ([-1, 1], -2, "int64"),
        (np.array([-128, -1], dtype=np.int8), -129, "int64"),
        ([0.0, 1.0], -1, "float64"),
        ([-1.0, 1.0], -2, "float64"),
        (np.array(["a", "b"], dtype=object), "reject", "object"),
    ],
    ids=str,
)
def test_reject_label_fits_the_labels(classes, reject_label, dtype):
    classes = np.asarray(classes)
    labels = classes[y2]
    selective = SelectiveClassifier(LogisticRegression(), target_coverage=0.5)
    selective.fit(X2, labels)
    predicted = selective.predict(X2)
    accepted = selective.accept(X2)
    expected = LogisticRegression().fit(X2, labels).predict(X2)

    assert selective.reject_label_ == reject_label
    assert predicted.dtype == np.dtype(dtype)
    assert type(predicted) is np.ndarray
    assert 0 < accepted.sum() < len(X2)
    assert (predicted[~accepted] == reject_label).all()
    np.testing.assert_array_equal(predicted[accepted], expected[accepted])
    assert selective.score(X2, labels) == pytest.approx(
        SelectiveClassifier(LogisticRegression()).fit(X2, y2).score(X2, y2), rel=1e-9
    )


def test_dtype_does_not_depend_on_whether_samples_are_rejected():
    labels = np.array(["a", "b"])[y2]
    selective = SelectiveClassifier(
        LogisticRegression(), reject_cost=0.99, cv="plug_in"
    ).fit(X2, labels)
    assert selective.accept(X2).all()
    assert selective.predict(X2).dtype == np.dtype("<U6")


@pytest.mark.parametrize("target", TARGETS, ids=str)
def test_rules_do_not_depend_on_how_classes_are_named(target):
    numbers = SelectiveClassifier(LogisticRegression(), **target).fit(X, y)
    names = SelectiveClassifier(LogisticRegression(), **target)
    names.fit(X, np.array(["x", "yy", "zzz"])[y])
    assert repr(names.rule_) == repr(numbers.rule_)
    np.testing.assert_array_equal(names.accept_proba(X), numbers.accept_proba(X))


# Containers


def test_data_frame_in():
    pd = pytest.importorskip("pandas")
    names = list("abcde")
    frame, labels = pd.DataFrame(X, columns=names), pd.Series(y, name="label")
    selective = SelectiveClassifier(LogisticRegression(), target_coverage=0.5)
    selective.fit(frame, labels)
    plain = SelectiveClassifier(LogisticRegression(), target_coverage=0.5).fit(X, y)
    assert selective.feature_names_in_.tolist() == names
    assert selective.n_features_in_ == plain.n_features_in_ == 5
    assert not hasattr(plain, "feature_names_in_")
    assert selective.rule_ == plain.rule_
    np.testing.assert_array_equal(selective.predict(frame), plain.predict(X))
    assert selective.score(frame, labels) == plain.score(X, y)


def test_data_frame_with_columns_that_only_a_pipeline_reads():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"city": np.array(["Oslo", "Bonn", "Bern"])[y]})
    frame.loc[::5, "city"] = "Rome"
    model = make_pipeline(OneHotEncoder(handle_unknown="ignore"), LogisticRegression())
    selective = SelectiveClassifier(model, target_risk=0.05, randomize=False)
    selective = selective.fit(frame, y)
    assert selective.feature_names_in_.tolist() == ["city"]
    rejected = selective.predict(frame) == -1
    np.testing.assert_array_equal(rejected, frame["city"] == "Rome")


@pytest.mark.parametrize(
    "kind", ["array", pytest.param("matrix", marks=pytest.mark.slow)]
)
@pytest.mark.parametrize(
    "estimator",
    [LogisticRegression(), RandomForestClassifier(2, random_state=0)],
    ids=["logistic", "votes"],
)
def test_sparse_in(kind, estimator):
    # Two trees often disagree, and then the classes are equally probable.
    dense, y = np.round(X2[:90]), y2[:90]  # more rows make `dia` inefficient
    arguments = {"target_coverage": 0.5, "random_state": 0}
    plain = SelectiveClassifier(estimator, **arguments).fit(dense, y)
    labels = plain.predict_label(dense)
    for form in ("csr", "csc", "coo", "dia", "lil", "dok", "bsr"):
        X_sparse = getattr(sparse, f"{form}_{kind}")(dense)
        selective = SelectiveClassifier(estimator, **arguments).fit(X_sparse, y)
        assert selective.rule_.coverage == pytest.approx(plain.rule_.coverage), form
        found = selective.predict_label(X_sparse)
        np.testing.assert_array_equal(found, labels, err_msg=form)
        rejected = selective.predict(X_sparse) == -1
        accepted = selective.accept(X_sparse)
        np.testing.assert_array_equal(rejected, ~accepted, err_msg=form)


def test_lists_in():
    selective = SelectiveClassifier(GaussianNB(), target_coverage=0.5)
    from_lists = clone(selective).fit(X.tolist(), y.tolist())
    assert from_lists.rule_ == selective.fit(X, y).rule_
    np.testing.assert_array_equal(from_lists.predict(X.tolist()), selective.predict(X))


# Pipelines and searches


def test_inside_a_pipeline():
    selective = SelectiveClassifier(GaussianNB(), target_coverage=0.5)
    pipeline = make_pipeline(StandardScaler(), selective).fit(X, y)
    scaled = StandardScaler().fit_transform(X)
    selective.fit(scaled, y)
    np.testing.assert_array_equal(pipeline.predict(X), selective.predict(scaled))
    assert pipeline.score(X, y) == selective.score(scaled, y)
    np.testing.assert_array_equal(
        pipeline[-1].uncertainty(pipeline[:-1].transform(X)),
        selective.uncertainty(scaled),
    )


def test_around_a_pipeline_scales_within_each_fold():
    model = make_pipeline(StandardScaler(), LogisticRegression())
    selective = SelectiveClassifier(
        model, uncertainty_score="margin", target_coverage=0.5
    ).fit(X2, y2)
    values = cross_val_predict(model, X2, y2, cv=5, method="decision_function")
    assert selective.rule_ == solve_target_coverage(
        -abs(values), (values > 0) != y2, 0.5
    )
    assert selective.n_features_in_ == 5


@pytest.mark.filterwarnings("ignore::sklearn_reject.exceptions.RejectionWarning")
def test_grid_search_over_classifier_and_target():
    grid = {"estimator__var_smoothing": [1e-9, 10.0], "target_coverage": [0.05, 0.9]}
    search = GridSearchCV(SelectiveClassifier(GaussianNB()), grid, cv=3).fit(X, y)
    scores = search.cv_results_["mean_test_score"].reshape(2, 2)
    # Rejecting more wins nothing.
    np.testing.assert_array_equal(scores[:, 0], scores[:, 1])
    assert scores[0, 0] != scores[1, 0]
    assert search.best_score_ == scores.max() < 0
    expected = [
        SelectiveClassifier(GaussianNB(var_smoothing=smoothing))
        .fit(X[train], y[train])
        .score(X[test], y[test])
        for smoothing in (1e-9, 10.0)
        for train, test in StratifiedKFold(3).split(X, y)
    ]
    np.testing.assert_allclose(scores[:, 0], np.reshape(expected, (2, 3)).mean(axis=1))
    rejected = search.predict(X) == -1
    assert rejected.mean() > 0.8  # the first of the two targets that score alike


def test_search_inside():
    search = GridSearchCV(LogisticRegression(), {"C": [0.01, 1.0]}, cv=2)
    selective = SelectiveClassifier(search, target_coverage=0.5, cv=2).fit(X2, y2)
    probabilities = cross_val_predict(search, X2, y2, cv=2, method="predict_proba")
    losses = probabilities.argmax(axis=1) != y2
    expected = solve_target_coverage(probabilities.min(axis=1), losses, 0.5)
    assert selective.rule_ == expected


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
@pytest.mark.parametrize("score", ["conditional_risk", "entropy"])
def test_integer_weights_equal_repeated_rows(target, score):
    if score == "conditional_risk" and "reject_cost" in target:
        # Elsewhere what the risk claims counts as 30 rows, weighted or not.
        target = {**target, "cv": "plug_in"}
    X_tune, y_tune = X[150:], y[150:]
    weight = np.random.default_rng(0).integers(0, 4, len(X_tune))
    rows = np.repeat(np.arange(len(X_tune)), weight)
    selective = SelectiveClassifier(TIED, uncertainty_score=score, **target)
    weighted = clone(selective).fit(X_tune, y_tune, sample_weight=weight).rule_
    repeated = clone(selective).fit(X_tune[rows], y_tune[rows]).rule_
    for field in (
        "threshold",
        "proba_at_threshold",
        "coverage",
        "selective_risk",
        "reject_cost",
    ):
        assert getattr(weighted, field) == pytest.approx(
            getattr(repeated, field), rel=1e-12
        ), field


def test_weights_change_both_classifier_and_rule():
    weight = np.where(y2 == 1, 5.0, 1.0)
    selective = SelectiveClassifier(RecallingNB(), target_coverage=0.5, cv=2)
    selective.fit(X2, y2, sample_weight=weight)
    np.testing.assert_array_equal(selective.estimator_.weight_, weight)
    scores, losses = np.empty(len(X2)), np.empty(len(X2))
    for train, test in StratifiedKFold(2).split(X2, y2):
        fold = GaussianNB().fit(X2[train], y2[train], weight[train])
        probabilities = fold.predict_proba(X2[test])
        scores[test] = probabilities.min(axis=1)
        losses[test] = probabilities.argmax(axis=1) != y2[test]
    expected = solve_target_coverage(scores, losses, 0.5, sample_weight=weight)
    assert selective.rule_ == expected


def test_share_held_out_takes_its_weights():
    weight = 1.0 + np.arange(len(X2)) % 3
    selective = SelectiveClassifier(
        RecallingNB(), target_coverage=0.5, cv=0.25, random_state=0
    ).fit(X2, y2, sample_weight=weight)
    splitter = StratifiedShuffleSplit(1, test_size=0.25, random_state=0)
    ((train, test),) = splitter.split(X2, y2)
    np.testing.assert_array_equal(selective.estimator_.weight_, weight[train])
    accepted = selective.accept_proba(X2[test])
    assert np.average(accepted, weights=weight[test]) == pytest.approx(0.5)


def test_weights_through_a_pipeline():
    weight = 1.0 + np.arange(len(X2)) % 3
    selective = SelectiveClassifier(RecallingNB(), target_coverage=0.5)
    pipeline = make_pipeline(StandardScaler(), selective)
    pipeline.fit(X2, y2, selectiveclassifier__sample_weight=weight)
    scaled = StandardScaler().fit_transform(X2)
    expected = clone(selective).fit(scaled, y2, sample_weight=weight)
    assert pipeline[-1].rule_ == expected.rule_
    np.testing.assert_array_equal(pipeline[-1].estimator_.weight_, weight)


def test_parameters_of_the_inner_fit_pass_through():
    weight = 1.0 + np.arange(len(X2)) % 3
    pipeline = make_pipeline(StandardScaler(), RecallingNB())
    selective = SelectiveClassifier(pipeline, target_coverage=0.5)
    selective.fit(X2, y2, recallingnb__sample_weight=weight)
    np.testing.assert_array_equal(selective.estimator_[-1].weight_, weight)
    # Only `sample_weight` under that name weighs the rule.
    assert selective.rule_.coverage == pytest.approx(0.5)
    assert round(selective.rule_.coverage * len(X2)) == 150


@pytest.mark.usefixtures("_routing")
def test_routing_to_classifier_and_rule():
    weight = 1.0 + np.arange(len(X2)) % 3
    inner = RecallingNB().set_fit_request(sample_weight=True)
    selective = SelectiveClassifier(inner, target_coverage=0.5)
    selective.set_fit_request(sample_weight=True).fit(X2, y2, sample_weight=weight)
    np.testing.assert_array_equal(selective.estimator_.weight_, weight)
    with sklearn.config_context(enable_metadata_routing=False):
        plain = SelectiveClassifier(RecallingNB(), target_coverage=0.5)
        plain.fit(X2, y2, sample_weight=weight)
    assert selective.rule_ == plain.rule_


@pytest.mark.usefixtures("_routing")
def test_routing_to_the_rule_only():
    weight = 1.0 + np.arange(len(X2)) % 3
    inner = RecallingNB().set_fit_request(sample_weight=False)
    selective = SelectiveClassifier(inner, target_coverage=0.5, cv=2)
    selective.set_fit_request(sample_weight=True).fit(X2, y2, sample_weight=weight)
    assert selective.estimator_.weight_ is None
    with sklearn.config_context(enable_metadata_routing=False):
        probabilities = cross_val_predict(
            GaussianNB(), X2, y2, cv=2, method="predict_proba"
        )
    losses = probabilities.argmax(axis=1) != y2
    assert selective.rule_ == solve_target_coverage(
        probabilities.min(axis=1), losses, 0.5, sample_weight=weight
    )


@pytest.mark.usefixtures("_routing")
def test_routing_by_another_name():
    """A pipeline translates the name, so that `fit` gets its own."""
    weight = 1.0 + np.arange(len(X2)) % 3
    inner = RecallingNB().set_fit_request(sample_weight=False)
    selective = SelectiveClassifier(inner, target_coverage=0.5, cv=2)
    plain = clone(selective).set_fit_request(sample_weight=True)
    plain.fit(X2, y2, sample_weight=weight)
    selective.set_fit_request(sample_weight="importance")
    pipeline = make_pipeline("passthrough", selective)
    pipeline.fit(X2, y2, importance=weight)
    assert pipeline[-1].rule_ == plain.rule_


@pytest.mark.usefixtures("_routing")
@pytest.mark.parametrize("asked_inside", [True, False])
def test_routing_through_search_and_pipeline(asked_inside):
    weight = 1.0 + np.arange(len(X2)) % 3
    inner = RecallingNB().set_fit_request(sample_weight=asked_inside)
    selective = SelectiveClassifier(inner, target_coverage=0.5)
    selective.set_fit_request(sample_weight=True)
    scaler = StandardScaler().set_fit_request(sample_weight=False)
    search = GridSearchCV(
        make_pipeline(scaler, selective),
        {"selectiveclassifier__target_coverage": [0.4]},
        scoring=get_selective_scorer("neg_aurc").set_score_request(sample_weight=False),
        cv=2,
    ).fit(X2, y2, sample_weight=weight)
    found = search.best_estimator_[-1]
    scaled = search.best_estimator_[0].transform(X2)
    direct = clone(selective).set_params(target_coverage=0.4)
    direct.fit(scaled, y2, sample_weight=weight)
    assert found.rule_ == direct.rule_
    assert (found.estimator_.weight_ is not None) == asked_inside
    unweighted = clone(selective).set_params(target_coverage=0.4).fit(scaled, y2)
    assert found.rule_ != unweighted.rule_


@pytest.mark.usefixtures("_routing")
def test_routing_of_weights_to_a_frozen_classifier_s_rule():
    weight = 1.0 + np.arange(150) % 3
    selective = SelectiveClassifier(TIED, target_coverage=0.5)
    selective.set_fit_request(sample_weight=True)
    selective.fit(X[150:], y[150:], sample_weight=weight)
    accepted = selective.accept_proba(X[150:])
    assert np.average(accepted, weights=weight) == pytest.approx(0.5)
    assert accepted.mean() != pytest.approx(0.5)


@pytest.mark.usefixtures("_routing")
def test_routing_under_another_name():
    weight = 1.0 + np.arange(len(X2)) % 3
    inner = RecallingNB().set_fit_request(sample_weight="inner_weight")
    selective = SelectiveClassifier(inner, target_coverage=0.5)
    selective.fit(X2, y2, inner_weight=weight)
    np.testing.assert_array_equal(selective.estimator_.weight_, weight)


@pytest.mark.usefixtures("_routing")
@pytest.mark.parametrize("cv", [None, 0.3, GroupKFold(3)], ids=str)
def test_routing_with_nothing_to_route(cv):
    selective = SelectiveClassifier(GaussianNB(), reject_cost=0.3, cv=cv)
    if isinstance(cv, GroupKFold):
        with pytest.raises(ValueError, match="groups"):
            selective.fit(X2, y2)
    else:
        selective.set_params(target_coverage=0.5, reject_cost=None).fit(X2, y2)
        assert selective.rule_.coverage == pytest.approx(0.5)


@pytest.mark.usefixtures("_routing")
def test_routing_of_groups_to_the_splitter():
    groups = np.arange(len(X2)) % 3
    selective = SelectiveClassifier(GaussianNB(), target_coverage=0.5, cv=GroupKFold(3))
    rule = selective.fit(X2, y2, groups=groups).rule_
    with sklearn.config_context(enable_metadata_routing=False):
        splits = list(GroupKFold(3).split(X2, y2, groups))
        by_hand = SelectiveClassifier(GaussianNB(), target_coverage=0.5, cv=splits)
        assert rule == by_hand.fit(X2, y2).rule_


@pytest.mark.usefixtures("_routing")
def test_routing_refuses_what_nobody_decided_on():
    selective = SelectiveClassifier(GaussianNB(), target_coverage=0.5)
    with pytest.raises(UnsetMetadataPassedError, match="sample_weight"):
        selective.fit(X2, y2, sample_weight=np.ones(len(X2)))


# Copies and pictures


@pytest.mark.parametrize("target", TARGETS, ids=str)
@pytest.mark.parametrize("protocol", [2, pickle.HIGHEST_PROTOCOL])
def test_pickle(target, protocol):
    selective = SelectiveClassifier(LogisticRegression(), random_state=0, **target)
    for estimator in (selective, selective.fit(X, y)):
        copy = pickle.loads(pickle.dumps(estimator, protocol))
        assert repr(copy) == repr(estimator)
    np.testing.assert_array_equal(copy.predict(X), selective.predict(X))
    np.testing.assert_array_equal(copy.uncertainty(X), selective.uncertainty(X))
    assert copy.score(X, y) == selective.score(X, y)


def test_pickle_of_the_error_keeps_what_can_be_met():
    error = InfeasibleTargetError("No", "Ask for less.", {"target_risk": 0.25}, 0.75)
    copy = pickle.loads(pickle.dumps(error))
    assert str(copy) == "No. Ask for less."
    assert (copy.attainable, copy.coverage) == ({"target_risk": 0.25}, 0.75)
    assert isinstance(copy, ValueError)


def test_score_parameters_can_be_searched():
    selective = SelectiveClassifier(
        LinearSVC(random_state=0), uncertainty_score=Margin()
    )
    selective.set_params(uncertainty_score__kind="max").fit(X, y)
    values = selective.decision_function(X)
    np.testing.assert_array_equal(selective.uncertainty(X), -values.max(axis=1))


def test_refit_forgets():
    pd = pytest.importorskip("pandas")
    selective = SelectiveClassifier(GaussianNB(), target_coverage=0.5)
    selective.fit(pd.DataFrame(X, columns=list("abcde")), np.array(["a", "b", "c"])[y])
    selective.fit(X2[:, :3], y2)
    fresh = clone(selective).fit(X2[:, :3], y2)
    assert selective.rule_ == fresh.rule_
    assert selective.reject_label_ == -1
    assert selective.n_features_in_ == 3
    assert not hasattr(selective, "feature_names_in_")


def test_repr_shows_what_is_not_default():
    selective = SelectiveClassifier(GaussianNB(), target_risk=0.1)
    assert (
        repr(selective)
        == "SelectiveClassifier(estimator=GaussianNB(), target_risk=0.1)"
    )


@pytest.mark.parametrize("samples", [(X, y), (X2, y2)], ids=["multiclass", "binary"])
def test_rows_are_judged_one_by_one(samples):
    selective = SelectiveClassifier(LogisticRegression(), target_coverage=0.5)
    selective.fit(*samples)
    rows = np.random.default_rng(0).permutation(len(samples[0]))[:50]
    np.testing.assert_allclose(
        selective.uncertainty(samples[0][rows]), selective.uncertainty(samples[0])[rows]
    )
    one_row = [selective.predict(samples[0][[row]])[0] for row in rows]
    np.testing.assert_array_equal(one_row, selective.predict(samples[0])[rows])


def test_permuted_training_rows_give_the_same_rule():
    rows = np.random.default_rng(0).permutation(150)
    selective = SelectiveClassifier(TIED, target_risk=0.25)
    plain = clone(selective).fit(X[150:], y[150:]).rule_
    permuted = clone(selective).fit(X[150:][rows], y[150:][rows]).rule_
    assert plain == permuted


def test_weights_of_none_are_no_weights():
    X, y = load_iris(return_X_y=True)
    clf = SelectiveClassifier(KNeighborsClassifier(), target_coverage=0.5)
    rule = clf.fit(X, y).rule_
    assert clf.fit(X, y, sample_weight=None).rule_ == rule


@pytest.mark.slow
@pytest.mark.parametrize("score", ["auto", "sele"])
def test_splits_given_as_masks_or_lists(score):
    X, y = load_iris(return_X_y=True)
    rows = np.arange(150)
    masks = [(rows % 3 != k, rows % 3 == k) for k in range(3)]
    indices = [tuple(map(np.flatnonzero, mask)) for mask in masks]
    lists = [[part.tolist() for part in split] for split in indices]
    weight = 1.0 + rows % 2
    clf = SelectiveClassifier(
        GaussianNB(), target_coverage=0.5, uncertainty_score=score, random_state=0
    )
    rules = [
        clf.set_params(cv=cv).fit(X, y, sample_weight=weight).rule_
        for cv in (masks, indices, lists)
    ]
    assert rules[0] == rules[1] == rules[2]


def test_weights_that_the_outer_classifier_refuses_do_not_weigh_the_rule():
    X, y = load_iris(return_X_y=True)
    weight = np.where(y == 1, 50.0, 1.0)
    with config_context(enable_metadata_routing=True):
        inner = GaussianNB().set_fit_request(sample_weight=True)
        refusing = SelectiveClassifier(inner, target_coverage=0.5)
        refusing.set_fit_request(sample_weight=False).fit(X, y, sample_weight=weight)
        asking = SelectiveClassifier(inner, target_coverage=0.5)
        asking.set_fit_request(sample_weight=True).fit(X, y, sample_weight=weight)
    assert refusing.rule_.threshold != asking.rule_.threshold
    assert refusing.rule_.coverage * 150 == pytest.approx(75)


class RecordsItsThread(GaussianNB):
    def fit(self, X, y):
        self.threads.append(get_ident())
        return super().fit(X, y)

    def __sklearn_clone__(self):
        other = type(self)()
        other.threads = self.threads
        return other


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_folds_are_fitted_by_that_many_jobs(n_jobs):
    estimator = RecordsItsThread()
    estimator.threads = []
    selective = SelectiveClassifier(estimator, target_coverage=0.5, cv=3, n_jobs=n_jobs)
    with parallel_backend("threading", n_jobs=1):
        selective.fit(X, y)
    *folds, final = estimator.threads
    assert final == get_ident()
    assert len(folds) == 3
    assert (final in folds) == (n_jobs is None)
