"""Selective estimators: what their methods say, beside the rest of scikit-learn."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.datasets import load_iris, make_classification
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import (
    FixedThresholdClassifier,
    StratifiedKFold,
    TunedThresholdClassifierCV,
    cross_val_predict,
    cross_validate,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

from sklearn_reject import (
    Decisions,
    DoubleScoreOODClassifier,
    SelectiveClassifier,
    SelectiveRegressor,
)
from sklearn_reject.metrics import aurc_score, get_selective_scorer
from sklearn_reject.scores import KNN, SELE, ConditionalRisk, LossRegression, Margin
from tests.samples import entropies


def make_samples(n_classes):
    options = {"n_informative": 4, "n_redundant": 0, "class_sep": 0.7, "flip_y": 0.1}
    options |= {"n_classes": n_classes, "random_state": n_classes}
    return make_classification(300, n_features=5, **options)


QUIET = pytest.mark.filterwarnings("ignore::sklearn_reject.exceptions.RejectionWarning")
X, y = make_samples(3)
X2, y2 = make_samples(2)
TREE = DecisionTreeClassifier(max_depth=3, random_state=0)
TARGETS = [{"reject_cost": 0.3}, {"target_risk": 0.25}, {"target_coverage": 0.6}]


SLOW = pytest.param(SVC(), id="SVC", marks=pytest.mark.slow)


@pytest.mark.parametrize("target", TARGETS, ids=str)
@pytest.mark.parametrize(
    "estimator", [LogisticRegression(), LinearSVC(random_state=0), TREE, SLOW], ids=repr
)
def test_methods_agree(estimator, target):
    selective = SelectiveClassifier(estimator, random_state=0, **target).fit(X, y)
    accepted, probability = selective.accept(X), selective.accept_proba(X)
    uncertainty, labels = selective.uncertainty(X), selective.predict_label(X)
    threshold, share = selective.rule_.threshold, selective.rule_.proba_at_threshold
    assert accepted.dtype == bool
    assert 0 < accepted.sum() < len(X)
    np.testing.assert_array_equal(selective.predict(X), np.where(accepted, labels, -1))
    np.testing.assert_array_equal(labels, selective.estimator_.predict(X))
    expected = np.where(uncertainty == threshold, share, uncertainty < threshold)
    np.testing.assert_array_equal(probability, expected)
    np.testing.assert_array_equal(accepted[probability == 1], True)
    np.testing.assert_array_equal(accepted[probability == 0], False)


def test_has_the_methods_that_the_classifier_has():
    for inner, has, lacks in (
        (LinearSVC(), "decision_function", "predict_proba"),
        (GaussianNB(), "predict_proba", "decision_function"),
    ):
        assert hasattr(SelectiveClassifier(inner), has)
        assert not hasattr(SelectiveClassifier(inner), lacks)


@pytest.mark.parametrize("loss", ["zero_one", "absolute", "squared"])
def test_score_is_minus_the_area_under_the_curve(loss):
    weight = np.random.default_rng(0).random(len(X))
    selective = SelectiveClassifier(LogisticRegression(), loss=loss).fit(X, y)
    predictions = selective.predict_label(X), selective.uncertainty(X)
    for sample_weight in (None, weight):
        expected = aurc_score(y, *predictions, loss=loss, sample_weight=sample_weight)
        assert selective.score(X, y, sample_weight) == -expected < 0


# One call for label, uncertainty and acceptance, by one pass of what is inside

FLOWERS, SPECIES = load_iris(return_X_y=True)
IRIS = StandardScaler().fit_transform(FLOWERS)
IS_OOD = np.where(np.arange(150) % 5 == 0, -1, SPECIES)
STEPS = make_pipeline(StandardScaler(), GaussianNB()).fit(IRIS, SPECIES)


def rejecting(estimator=None, score="auto", *, coverage=0.6, **options):
    return SelectiveClassifier(
        LogisticRegression() if estimator is None else estimator,
        target_coverage=coverage,
        uncertainty_score=score,
        cv=None if isinstance(estimator, FrozenEstimator) else 2,
        random_state=0,
        **options,
    )


NAMES = "margin", "msp"
OF_TWO = {f"{name} of two classes": name for name in ("auto", *NAMES)}
KINDS = {
    "default": SelectiveClassifier(LogisticRegression()),
    "rejects nobody by label": rejecting(reject_label=None),
    "bayes": rejecting(score=ConditionalRisk(decision="bayes")),
    "largest": rejecting(score=Margin(kind="max")),
    **{name: rejecting(score=name) for name in NAMES},
    **{name: rejecting(score=score) for name, score in OF_TWO.items()},
    "learned": rejecting(score=SELE(alphas=0.1)),
    "frozen, in a pipeline": rejecting(FrozenEstimator(STEPS), coverage=0.7),
    "double": DoubleScoreOODClassifier(
        LogisticRegression(), min_tpr=0.8, novelty_score=KNN(2), cv=2
    ),
    "outputs": SelectiveRegressor(
        Ridge(), target_coverage=0.8, uncertainty_score=SELE(alphas=0.1), cv=2
    ),
}
LABELS = dict.fromkeys(OF_TWO, SPECIES == 0) | {"double": IS_OOD}
LABELS["outputs"] = FLOWERS[:, [3, 2]]


@pytest.fixture(scope="module", params=KINDS)
def kind(request):
    model = KINDS[request.param]
    return request.param, model.fit(IRIS, LABELS.get(request.param, SPECIES))


@QUIET
def test_predict_all_is_what_the_separate_methods_say(kind):
    name, estimator = kind
    decisions = estimator.predict_all(IRIS)
    assert type(decisions) is Decisions
    labels = getattr(estimator, "predict_label", estimator.predict)(IRIS)
    np.testing.assert_array_equal(decisions.label, labels)
    np.testing.assert_array_equal(decisions.uncertainty, estimator.uncertainty(IRIS))
    np.testing.assert_array_equal(decisions.accepted, estimator.accept(IRIS))
    assert all(type(values) is np.ndarray for values in decisions)
    assert 0 < decisions.accepted.sum() < 150 or name == "default"


@QUIET
def test_one_call_is_one_pass_of_the_classifier(kind, monkeypatch):
    name, estimator = kind
    if name in ("outputs", "frozen, in a pipeline"):
        return
    y = LABELS[name] if name in OF_TWO else SPECIES
    scorer, passes = get_selective_scorer("neg_aurc"), []
    expected, decide = estimator.predict(IRIS), LogisticRegression.decision_function
    monkeypatch.setattr(
        LogisticRegression,
        "decision_function",  # what all its methods go through
        lambda self, X: passes.append(len(X)) or decide(self, X),
    )
    np.testing.assert_array_equal(estimator.predict(IRIS), expected)
    estimator.predict_all(IRIS)
    scorer(estimator, IRIS, y)
    estimator.score(IRIS, y)
    assert passes == [150] * 4


def test_metrics_do_without_it():
    class Outsider(BaseEstimator):
        """A classifier of another package that rejects, without `predict_all`."""

        def __init__(self, inner=None):
            self.inner = inner
            self.predict, self.predict_label = inner.predict, inner.predict_label
            self.uncertainty = inner.uncertainty

    inner = clone(KINDS["bayes"]).fit(IRIS, SPECIES)
    scorer = get_selective_scorer("neg_aurc")
    assert scorer(Outsider(inner), IRIS, SPECIES) == scorer(inner, IRIS, SPECIES)


# Decisions that are not the most probable class


def test_loss_of_the_estimator_is_that_of_its_score():
    costs = np.array([[0.0, 1.0, 8.0], [2.0, 0.0, 1.0], [5.0, 0.5, 0.0]])
    for score in (ConditionalRisk(decision="bayes"), "auto"):
        selective = SelectiveClassifier(LogisticRegression(), loss=costs, reject_cost=1)
        selective.set_params(uncertainty_score=score, cv="plug_in").fit(X, y)
        labels, risks = selective.predict_label(X), selective.predict_proba(X) @ costs
        risk = np.take_along_axis(risks, labels[:, np.newaxis], axis=1).ravel()
        np.testing.assert_allclose(selective.uncertainty(X), risk, rtol=1e-12)
        is_best = risk == pytest.approx(risks.min(axis=1), rel=1e-12)
        assert is_best == (score != "auto")


LOGISTIC = LogisticRegression(class_weight={0: 9})


@pytest.mark.parametrize(
    "estimator",
    [
        FixedThresholdClassifier(LogisticRegression(), threshold=0.2),
        TunedThresholdClassifierCV(LOGISTIC, scoring="recall", cv=2, thresholds=10),
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


# Containers, searches and weights


@pytest.mark.parametrize(
    "estimator",
    [LogisticRegression(), RandomForestClassifier(2, random_state=0)],
    ids=["logistic", "votes"],
)
def test_sparse_in(estimator):
    # Two trees often disagree, and then the classes are equally probable.
    dense, y = np.round(X2[:90]), y2[:90]  # more rows make `dia` inefficient
    model = SelectiveClassifier(estimator, target_coverage=0.5, random_state=0)
    plain = clone(model).fit(dense, y)
    labels = plain.predict_label(dense)
    for form in ("csr", "csc", "coo", "dia", "lil", "dok", "bsr"):
        X_sparse = getattr(sparse, f"{form}_array")(dense)
        selective = clone(model).fit(X_sparse, y)
        assert selective.rule_.coverage == pytest.approx(plain.rule_.coverage), form
        found, accepted = selective.predict_label(X_sparse), selective.accept(X_sparse)
        np.testing.assert_array_equal(found, labels, err_msg=form)
        rejected = selective.predict(X_sparse) == -1
        np.testing.assert_array_equal(rejected, ~accepted, err_msg=form)


def test_cross_validate_and_cross_val_predict():
    labels = np.array(["a", "b"])[y2]
    selective = SelectiveClassifier(GaussianNB(), target_coverage=0.5, random_state=0)
    scoring = {"area": get_selective_scorer("neg_aurc"), "accuracy": "accuracy"}
    results = cross_validate(selective, X2, labels, cv=3, scoring=scoring)
    predicted = cross_val_predict(selective, X2, labels, cv=3)
    assert set(predicted) == {"a", "b", "reject"}
    folds = StratifiedKFold(3).split(X2, y2)
    for (train, test), area in zip(folds, results["test_area"], strict=True):
        fitted = clone(selective).fit(X2[train], labels[train])
        np.testing.assert_array_equal(predicted[test], fitted.predict(X2[test]))
        assert area == fitted.score(X2[test], labels[test])
    # To scikit-learn's accuracy a rejection is an error.
    accuracy = (predicted == labels).mean()
    assert results["test_accuracy"].mean() == pytest.approx(accuracy)


@QUIET
@pytest.mark.parametrize("target", TARGETS, ids=str)
@pytest.mark.parametrize("score", ["conditional_risk", entropies])
def test_integer_weights_equal_repeated_rows(target, score):
    if score == "conditional_risk" and "reject_cost" in target:
        # Elsewhere what the risk claims counts as 30 rows, weighted or not.
        target = {**target, "cv": "plug_in"}
    # Few distinct probabilities: every rule has many samples at its threshold.
    tied = FrozenEstimator(clone(TREE).fit(X[:150], y[:150]))
    X_tune, y_tune = X[150:], y[150:]
    weight = np.random.default_rng(0).integers(1, 4, len(X_tune))
    weight[::5] = 0
    rows = np.repeat(np.arange(len(X_tune)), weight)
    selective = SelectiveClassifier(tied, uncertainty_score=score, **target)
    weighted = clone(selective).fit(X_tune, y_tune, sample_weight=weight).rule_
    repeated = clone(selective).fit(X_tune[rows], y_tune[rows]).rule_
    for field in ("threshold", "proba_at_threshold", "coverage", "selective_risk"):
        expected = pytest.approx(getattr(repeated, field), rel=1e-12)
        assert getattr(weighted, field) == expected, field


# Regression of one output and of several

QUICK = LossRegression(HistGradientBoostingRegressor(max_iter=20))


def distance(y_true, y_pred):
    return np.linalg.norm(y_true - y_pred, axis=1)


@pytest.mark.slow
@pytest.mark.parametrize("score", [QUICK, SELE(alphas=0.01), "auto", "sele"], ids=str)
@pytest.mark.parametrize("loss", ["squared", "absolute", distance])
def test_spread_is_learned(score, loss):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 3))
    spread = np.exp(X[:, 1])
    y = X[:, 0] + spread * rng.normal(size=1500)
    if callable(loss):
        y = np.column_stack([y, 2 * X[:, 2] + spread * rng.normal(size=1500)])
    selective = SelectiveRegressor(LinearRegression(), loss=loss, target_coverage=0.5)
    selective.set_params(uncertainty_score=score, random_state=0)
    selective.fit(X[:1000], y[:1000])
    X, y, spread = X[1000:], y[1000:], spread[1000:]
    predictions, uncertainty = selective.predict(X), selective.uncertainty(X)
    assert predictions.shape == y.shape
    assert np.corrcoef(*np.argsort(np.argsort([uncertainty, spread])))[0, 1] > 0.6
    losses, accepted = selective.loss_(y, predictions), selective.accept(X)
    assert accepted.mean() == pytest.approx(0.5, abs=0.1)
    assert losses[accepted].mean() < 0.6 * losses.mean()


@QUIET
def test_several_outputs_are_averaged():
    Y = FLOWERS[:, 2:]
    model = SelectiveRegressor(Ridge(), loss="absolute", target_coverage=0.5, cv=2)
    predictions = model.set_params(uncertainty_score=QUICK).fit(IRIS, Y).predict(IRIS)
    losses = model.loss_(Y, predictions)
    np.testing.assert_allclose(losses, np.abs(Y - predictions).mean(axis=1))
    expected = aurc_score(
        losses, np.zeros(150), model.uncertainty(IRIS), loss="absolute"
    )
    assert model.score(IRIS, Y) == pytest.approx(-expected)
    with pytest.raises(ValueError, match="same number of outputs"):
        model.score(IRIS, Y[:, 0])
