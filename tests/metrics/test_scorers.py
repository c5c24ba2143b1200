"""Scorers are metrics of what an estimator predicts, and say what they lack."""

from functools import cache

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.metrics import accuracy_score
from sklearn.model_selection import cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline

import sklearn_reject as sr
from sklearn_reject import metrics
from sklearn_reject.metrics import get_selective_scorer, make_selective_scorer
from sklearn_reject.scores import SELE
from tests.metrics.models import Spread, three_classes
from tests.metrics.tables import OF_ERRORS, cases_of, score

X, y = three_classes(300)
TRAIN, TEST = slice(150), slice(150, None)
X_test, y_test = X[TEST], y[TEST]
WEIGHT = 1.0 + np.arange(150) % 4
weights = pytest.mark.parametrize("weight", [None, WEIGHT], ids=["plain", "weighted"])
COSTS = np.array([[0.0, 1.0, 2.0], [5.0, 0.0, 1.0], [3.0, 2.0, 0.0]])
LABELS = [0, 1, 2]
NOISE = np.exp(X[:, 1:2]) * np.random.default_rng(0).normal(size=(300, 2))
VECTORS = X[:, [0, 2]] * [1, 2] + NOISE
PERSON = np.where(np.arange(300) % 5, y, 0).astype(object)
PERSON[np.arange(300) % 7 < 2] = None
ANSWERS = PERSON[TEST]


class Silent(GaussianNB):
    predict_proba = decision_function = property()


def rejecting(**options):
    options = {"reject_cost": 0.3, "cv": 2} | options
    return sr.SelectiveClassifier(GaussianNB(), random_state=0, **options)


def regressor(**options):
    options = {"target_coverage": 0.6, "uncertainty_score": SELE(alphas=0.01)} | options
    return sr.SelectiveRegressor(Ridge(), cv=2, random_state=0, **options)


def deferring(expert=None, **options):
    options = {"deferral_cost": 0.1, "gain_score": "confidence", "cv": 2, **options}
    return sr.DeferringClassifier(GaussianNB(), expert, random_state=0, **options)


MODELS = {
    "bayes": GaussianNB(),
    "silent": Silent(),
    "rejecting": rejecting(),
    "costly": rejecting(loss=COSTS, reject_cost=0.5),
    "covering": rejecting(reject_cost=None, target_coverage=0.8),
    "by group": rejecting(reject_cost={0: 0.1, 1: 0.2, 2: 0.3}, group_by="prediction"),
    "regressor": regressor(loss="absolute"),
    "priced": regressor(target_coverage=None, reject_cost=2.0),
    "of vectors": regressor().set_params(estimator=LinearRegression()),
    "spread": Spread(),
    "ridge": Ridge(),
    "deferring": deferring(LogisticRegression()),
    "deferring, costs": deferring(LogisticRegression(), loss=COSTS),
    "person": deferring(deferral_cost=0.35),
    "inside": sr.SelectiveClassifier(deferring(LogisticRegression()), reject_cost=0.3),
}


@cache
def model(name):
    is_regressor = name in ("regressor", "priced", "spread", "ridge")
    target = VECTORS if name == "of vectors" else VECTORS[:, 0] if is_regressor else y
    given = {"expert_labels": PERSON[TRAIN]} if name == "person" else {}
    return clone(MODELS[name]).fit(X[TRAIN], target[TRAIN], **given)


def value_of(name, options, model, X, y, weight=None, person=None):
    """Return what a scorer has to find, from the public methods of a model."""
    given = options | {"sample_weight": weight}
    if name == "neg_deferral_area":
        second = model.expert_.predict(X) if person is None else person
        opinions = y, model.predict_first(X), second, model.gain(X)
        return -metrics.deferral_area_score(*opinions, **given)
    if name == "neg_selective_cost":
        accepted = model.accept(X)
        assert 0 < accepted.mean() < 1
        return -metrics.selective_cost_score(y, model.predict(X), accepted, **given)
    labels = getattr(model, "predict_label", model.predict)(X)
    return score(name, options, y, labels, model.uncertainty(X), weight)


def distance(y_true, y_pred):
    return np.linalg.norm(y_true - y_pred, axis=1)


COST = get_selective_scorer("neg_selective_cost")
AREA = get_selective_scorer("neg_deferral_area")
RISK = {"risk": 0.9}
# Scorers, their options and the options of a metric that are not the same: the loss is
# that of the estimator unless another is given.
VALUES = [
    ("neg_aurc", {}, "costly", {"loss": COSTS}),
    ("neg_aurc", {"loss": "zero_one"}, "costly", {}),
    ("neg_aurc", {}, "regressor", {"loss": "absolute"}),
    ("coverage_at_risk", RISK, "regressor", {"loss": "absolute"}),
    ("neg_aurc", {"loss": "squared"}, "regressor", {}),
    ("neg_aurc", {"loss": "squared"}, "spread", {}),
    ("neg_aurc", {}, "of vectors", {"loss": "squared"}),
    ("neg_aurc", {"loss": distance}, "of vectors", {}),
    ("neg_deferral_area", {}, "deferring", {}),
    ("neg_deferral_area", {}, "deferring, costs", {"loss": COSTS}),
    ("neg_deferral_area", {"loss": COSTS}, "deferring", {}),
    ("neg_deferral_area", {"normalize": "excess"}, "deferring", {}),
    ("neg_deferral_area", {}, "person", {}),
    ("neg_selective_cost", {}, "rejecting", {"reject_cost": 0.3}),
    ("neg_selective_cost", {"reject_cost": 1}, "rejecting", {}),
    ("neg_selective_cost", {"loss": COSTS}, "rejecting", {"reject_cost": 0.3}),
    ("neg_selective_cost", {}, "priced", {"reject_cost": 2.0, "loss": "squared"}),
]


@weights
@pytest.mark.parametrize(("name", "options", "of", "others"), VALUES)
def test_scorers_are_metrics_of_what_is_predicted(name, options, of, others, weight):
    target = VECTORS[:, 0] if of in ("regressor", "priced", "spread") else y
    target = (VECTORS if of == "of vectors" else target)[TEST]
    person = ANSWERS if of == "person" else None
    given = {} if person is None else {"expert_labels": person}
    scorer = get_selective_scorer(name, **options)
    value = scorer(model(of), X_test, target, sample_weight=weight, **given)
    samples = model(of), X_test, target, weight, person
    expected = value_of(name, options | others, *samples)
    assert value == pytest.approx(expected, rel=1e-12)
    if name == "neg_aurc" and not options and weight is None:
        assert value == pytest.approx(model(of).score(X_test, target), rel=1e-12)
    if of == "regressor":  # a column is a vector
        assert scorer(model(of), X_test, target[:, np.newaxis], weight) == value


def test_cost_matrices_have_the_order_of_the_classes():
    """Though samples may lack a class, as a fold may."""
    names = np.array(["b", "c", "a"])
    bayes = GaussianNB().fit(X[TRAIN], names[y[TRAIN]])
    truth, labels = names[y_test], bayes.predict(X_test)
    samples = truth, labels, 1 - bayes.predict_proba(X_test).max(axis=1)
    options = {"loss": COSTS, "labels": ["c", "a", "b"]}
    value = get_selective_scorer("neg_aurc", **options)(bayes, X_test, truth)
    assert value == pytest.approx(-metrics.aurc_score(*samples, **options), rel=1e-12)
    rows = (truth != "a") & (labels != "a")
    scorer = get_selective_scorer("neg_aurc", loss=COSTS)
    value = scorer(bayes, X_test[rows], truth[rows])
    few = [each[rows] for each in samples]
    expected = -metrics.aurc_score(*few, loss=COSTS, labels=["a", "b", "c"])
    assert value == pytest.approx(expected, rel=1e-12)
    # Of two opinions, too.
    rows, asking = y_test != 2, model("deferring, costs")
    options, samples = {"loss": COSTS, "labels": LABELS}, (X_test[rows], y_test[rows])
    expected = value_of("neg_deferral_area", options, asking, *samples)
    assert AREA(asking, *samples) == pytest.approx(expected)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
def test_a_class_that_a_fold_lacks_is_no_reject_label():
    """Of classes -1, 0 and 1; a metric of these labels alone would raise."""
    bayes = GaussianNB().fit(X[TRAIN], y[TRAIN] - 1)
    rows = (y_test > 0) & (bayes.predict(X_test) < 1)
    assert set(bayes.predict(X_test[rows])) == {-1, 0}
    for _, scorer, _ in cases_of(OF_ERRORS):
        scorer(bayes, X_test[rows], y_test[rows] - 1)


def test_what_cannot_reject_costs_its_errors_and_what_rejects_all_the_same():
    scorer = get_selective_scorer("neg_selective_cost", reject_cost=0.4)
    bayes = model("bayes")
    wrong = 1 - bayes.score(X_test, y_test)
    assert scorer(bayes, X_test, y_test) == pytest.approx(-wrong)
    silent = rejecting(reject_cost=0.0).fit(X[TRAIN], y[TRAIN])
    for rows in (slice(None), slice(20)):
        assert scorer(silent, X_test[rows], y_test[rows]) == pytest.approx(-0.4)


def test_weights_and_answers_are_routed():
    asking = AREA.set_score_request(expert_labels="radiologist", sample_weight=True)
    requests = {"sample_weight": True, "expert_labels": "radiologist"}
    assert asking.get_metadata_routing().score.requests == requests
    assert set(AREA.get_metadata_routing().score.requests.values()) == {None}
    weight = 1.0 + np.arange(300) % 4
    with sklearn.config_context(enable_metadata_routing=True):
        asked = {"expert_labels": "radiologist", "sample_weight": False}
        person = deferring().set_fit_request(**asked)
        person.estimator.set_fit_request(sample_weight=False)
        results = cross_validate(
            person, X, y, scoring=asking, cv=2, error_score="raise",
            params={"sample_weight": weight, "radiologist": PERSON},
            return_estimator=True, return_indices=True,
        )  # fmt: skip
    for fold, test in enumerate(results["indices"]["test"]):
        given = {"sample_weight": weight[test], "expert_labels": PERSON[test]}
        expected = AREA(results["estimator"][fold], X[test], y[test], **given)
        assert results["test_score"][fold] == expected


UNCERTAIN = get_selective_scorer("neg_aurc")
ORIGIN = get_selective_scorer("ood_auroc")
SQUARED = get_selective_scorer("neg_aurc", loss="squared")
UNKNOWN = "Pass one for all rejected samples"
NO_UNCERTAINTY = "Ridge is a regressor without a method `uncertainty`.*Sel"
ZEROS = get_selective_scorer("neg_aurc", loss=np.zeros(150))


@pytest.mark.parametrize(
    ("scorer", "of", "given", "message"),
    [
        (AREA, "bayes", {}, r"has no second opinion. Pass a DeferringClassifier"),
        (AREA, "rejecting", {}, "has no second opinion"),
        *((COST, each, {}, UNKNOWN) for each in ("bayes", "covering", "by group")),
        *((COST, each, {}, "asks a second opinion") for each in ("person", "inside")),
        (UNCERTAIN, "person", {}, r"label -1, .*or defer_label=None"),
        (UNCERTAIN, "ridge", {}, NO_UNCERTAINTY),
        (SQUARED, "ridge", {}, NO_UNCERTAINTY),
        (UNCERTAIN, "spread", {}, "without an attribute `loss_`.*loss="),
        (ORIGIN, "regressor", {}, r"no labels.*get_selective_scorer with 'neg_aurc'"),
        (ZEROS, "bayes", {}, r"got an array of shape \(150,\)\."),
        (UNCERTAIN, "silent", {}, r"`decision_function`, and \w+ has neither"),
    ],
)
def test_what_cannot_be_scored(scorer, of, given, message):
    target = VECTORS[TEST][:, 0] if of in ("regressor", "ridge", "spread") else y_test
    wrapped = make_pipeline(FrozenEstimator(model(of)))
    for each in (model(of),) if "Ridge" in message else (model(of), wrapped):
        with pytest.raises(ValueError, match=message):
            scorer(each, X_test, target, **given)


PRECISE = {"min_precision": 0.8, "min_tpr": 0.5, "ood_prior": 0.2}
PRECISION_RECALL = "neg_selective_risk_at_precision_recall"
BAD_OPTIONS = [
    ("accuracy", {}, r"name must be one of .*'neg_aurc'.*'accuracy'"),
    ("neg_aurc", {"normalize": "prr"}, r"one of \[None, 'excess'\], got 'prr'"),
    ("neg_selective_risk_at_coverage", {"coverage": 0}, "coverage must be in"),
    ("coverage_at_risk", {"risk": -0.1}, r"risk must be .*\[0, inf\)"),
    ("neg_selective_cost", {"reject_cost": -1}, "reject_cost must be in"),
    ("neg_selective_risk_at_tpr_fpr", {"min_tpr": 0, "max_fpr": 0.5}, "min_tpr must"),
    ("neg_selective_risk_at_tpr_fpr", {"min_tpr": 0.5, "max_fpr": 2}, "max_fpr must"),
    *((PRECISION_RECALL, PRECISE | {name: 2}, f"{name} must") for name in PRECISE),
    ("neg_fpr_at_tpr", {"tpr": 0}, "tpr must be"),
    ("neg_fpr_at_tpr", {"positive": "inlier"}, "positive must be"),
    ("neg_set_loss", {"average": None}, "average must be one of"),
]


@pytest.mark.parametrize(("name", "options", "message"), BAD_OPTIONS)
def test_bad_options(name, options, message):
    with pytest.raises(ValueError, match=message):
        get_selective_scorer(name, **options)


def test_options_that_are_missing_or_too_many_and_what_is_no_scorer():
    with pytest.raises(TypeError, match="'coverage_at_risk' needs the option 'risk'"):
        get_selective_scorer("coverage_at_risk")
    message = r"no option 'coverage'.*\['loss', 'labels'\]"
    with pytest.raises(TypeError, match=message):
        get_selective_scorer("neg_augrc", coverage=0.1)
    with pytest.raises(TypeError, match="get_selective_scorer"):
        get_selective_scorer(model("bayes"), X_test, y_test)
    for metric in ("f1_macro", make_selective_scorer(accuracy_score), AREA):
        with pytest.raises(TypeError, match=r"must be a function \(y_true, y_pred\)"):
            make_selective_scorer(metric)
