"""The rule of an estimator is the array solver's, on samples that it was not fitted on.

What the solvers do is tested in tests/selection.
"""

import json

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_blobs, make_classification, make_regression
from sklearn.ensemble import StackingClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import precision_score, recall_score
from sklearn.model_selection import (
    KFold,
    ShuffleSplit,
    StratifiedKFold,
    StratifiedShuffleSplit,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_reject import AchievedBound, SelectiveClassifier, SelectiveRegressor
from sklearn_reject.losses import TaskLoss
from sklearn_reject.scores import ErrorProbability
from sklearn_reject.selection import (
    solve_failure_bounds,
    solve_reject_cost,
    solve_risk_bounds,
    solve_target_coverage,
    solve_target_failure_rate,
    solve_target_risk,
)
from tests.samples import entropies

pytestmark = pytest.mark.filterwarnings(
    "ignore::sklearn_reject.exceptions.RejectionWarning"
)

N = 300
X, y = make_blobs(N, 6, centers=3, cluster_std=7.0, random_state=1)
X[:, 5] = np.arange(N) % 3  # three places
X2, y2 = make_classification(900, flip_y=0.05, weights=[0.7], random_state=0)
X_REG, NUMBERS = make_regression(N, 5, random_state=0)
X_REG = np.column_stack([X_REG, X[:, 5]])
NUMBERS += 30 * X_REG[:, 0] * np.sin(np.arange(N))
COSTS = [[0, 1, 2], [1, 0, 1], [2, 1, 0]]


def rounded(classifier, X):
    """Put many samples at the threshold."""
    return 1 - classifier.predict_proba(X).max(axis=1).round(1)


def spread(regressor, X):
    """Order samples by rounded numbers, many of which are the same."""
    return np.abs(X[:, 0]).round(1)


def clipped(y_true, y_pred):
    return np.minimum(np.abs(y_true - y_pred), 90.0)


class Bounded(TaskLoss):
    max_loss = 2.0

    def _losses(self, y_true, y_pred):
        return np.minimum(np.abs(y_true - y_pred), 2.0)


CLASSIFIER = SelectiveClassifier(GaussianNB(), random_state=0)
REGRESSOR = SelectiveRegressor(
    LinearRegression(), uncertainty_score=spread, loss=clipped, random_state=0
)
THREE, TWO = (CLASSIFIER, X, y), (CLASSIFIER, X2, y2)
SMALL = CLASSIFIER, X[:60], y[:60]  # where claims of probabilities count
NAMED, REAL = (CLASSIFIER, X, np.array([*"abc"])[y]), (REGRESSOR, X_REG, NUMBERS)
CERTIFIED = {"confidence_level": 0.8, "cv": 0.5}
WEIGHTED, HALF, OF_COSTS = {"weighted": True}, {"cv": 0.5}, {"loss": COSTS}
PLACES, PREDICTIONS, CLASSES = ({"group_by": x} for x in (5, "prediction", "class"))
LARGEST, BOUNDED = {"max_loss": 90}, {"loss": Bounded()}
TIED = {"uncertainty_score": rounded}
LEARNED = {"uncertainty_score": ErrorProbability(LogisticRegression())}
FROZEN = {"estimator": FrozenEstimator(LinearRegression().fit(X_REG, NUMBERS))}
# It shows its methods when it is fitted.
STACK = {"estimator": StackingClassifier([("bayes", GaussianNB())], cv=2), "cv": 2}
EQUAL = {"loss": 2 - 2 * np.eye(3)}


def cost(value):
    return {"reject_cost": value}


def risk(value):
    return {"target_risk": value}


def coverage(value):
    return {"target_coverage": value}


def failures(value):
    return {"target_failure_rate": value}


# Data, and what is asked for.
CASES = {
    "cost": (THREE, cost(0.3)),
    "cost, another score": (THREE, cost(0.3) | {"uncertainty_score": entropies}),
    "cost, few samples": (SMALL, cost(0.2)),
    "cost, learned score": (SMALL, cost(0.45) | LEARNED),
    "cost, of a stack": (THREE, cost(0.2) | STACK),
    "cost, numbers": (REAL, cost(10)),
    "cost, groups": (THREE, PLACES | cost({0: 0.05, 1: 0.3, 2: 0.5})),
    "risk": (THREE, risk(0.1)),
    "risk, costs": (THREE, risk(0.15) | OF_COSTS),
    "risk, whole ties": (REAL, risk(10) | {"cv": 2, "randomize": False}),
    "risk, weights": (THREE, risk(0.1) | WEIGHTED),
    "risk, groups": (THREE, PLACES | risk({0: 0.15, 1: 0.12, 2: 0.1})),
    "risk, groups, weights": (THREE, PLACES | WEIGHTED | risk(0.15)),
    "risk, predictions": (THREE, PREDICTIONS | risk(0.15)),
    "certified risk": (TWO, CERTIFIED | risk(0.1)),
    "certified risk, costs": (THREE, CERTIFIED | risk(0.5) | OF_COSTS),
    "certified risk, equal costs": (THREE, CERTIFIED | risk(0.67) | EQUAL),
    "certified risk, own loss": (THREE, CERTIFIED | risk(0.5) | BOUNDED),
    "certified risk, numbers": (REAL, CERTIFIED | risk(12) | LARGEST),
    "certified risk, groups": (THREE, CERTIFIED | PLACES | TIED | risk(0.55)),
    "certified risk, predictions": (THREE, CERTIFIED | PREDICTIONS | risk(0.5)),
    "coverage": (THREE, coverage(0.7)),
    "coverage, whole ties": (REAL, coverage(0.6) | {"randomize": False}),
    "coverage, frozen": (REAL, coverage(0.8) | FROZEN),
    "coverage, groups": (REAL, PLACES | {"cv": 2} | coverage({0: 0.5, 1: 0.6, 2: 1})),
    "certified coverage": (REAL, CERTIFIED | coverage(0.6)),
    "certified coverage, groups": (THREE, CERTIFIED | PLACES | TIED | coverage(0.6)),
    "failures": (THREE, {"cv": 0.4} | failures(0.05)),
    "failures, numbers": (REAL, HALF | LARGEST | failures(15)),
    "failures, groups": (THREE, PREDICTIONS | HALF | failures({0: 0.1, 1: 0.1, 2: 1})),
    "certified failures": (THREE, CERTIFIED | failures(0.06)),
    "certified failures, groups": (THREE, CERTIFIED | PREDICTIONS | failures(0.2)),
    # Bounds on several parts
    "failures, classes": (NAMED, CLASSES | HALF | failures(0.06)),
    "failures, some classes": (NAMED, CLASSES | HALF | failures({"b": 0.05})),
    "certified failures, classes": (NAMED, CERTIFIED | CLASSES | failures(0.1)),
    "risk, classes": (THREE, CLASSES | risk(0.1)),
    "risk, costs, classes": (THREE, CLASSES | risk(0.2) | OF_COSTS),
    "certified risk, classes": (TWO, CERTIFIED | CLASSES | risk({0: 0.15, 1: 0.4})),
    "precision, recall": (
        TWO,
        {"min_precision": {0: 0.93, 1: 0.9}, "min_recall": {0: 0.9, 1: 0.8}},
    ),
    "precision, weights": (TWO, WEIGHTED | {"min_precision": 0.9}),
    "certified precision, recall": (
        TWO,
        CERTIFIED | {"min_precision": {1: 0.7}, "min_recall": {0: 0.8, 1: 0.5}},
    ),
}
IN_PARTS = [*CASES][[*CASES].index("failures, classes") :]
SOLVERS = {
    "reject_cost": solve_reject_cost,
    "target_risk": solve_target_risk,
    "target_coverage": solve_target_coverage,
    "target_failure_rate": solve_target_failure_rate,
}


def fit(name):
    (model, rows, labels), options = CASES[name]
    weight = np.random.default_rng(0).random(len(labels))
    options = dict(options)
    weight = weight if options.pop("weighted", False) else None
    model = clone(model).set_params(**options)
    return model.fit(rows, labels, sample_weight=weight), rows, labels


def parts_of(model):
    """Return labels and largest risks of each kind of part, by name."""
    found, parts = model.calibration_, {}
    classes = model.classes_.tolist()
    for name, labels in (("precision", found.predictions), ("recall", found.labels)):
        bounds = getattr(model, f"min_{name}")
        if bounds is not None:
            bounds = bounds if isinstance(bounds, dict) else {1: bounds}
            risks = {label: 1 - bound for label, bound in bounds.items()}
            parts[f"1 - {name}"] = labels, risks
    for name in ("target_risk", "target_failure_rate"):
        bounds = getattr(model, name)
        if bounds is not None:
            if not isinstance(bounds, dict):
                bounds = dict.fromkeys(classes, bounds)
            parts[name] = found.labels, bounds
    return parts


def options_of(model, name):
    """Return what a solver is told beside scores, losses and the target."""
    found, options = model.calibration_, {}
    if found.sample_weight is not None:
        options["sample_weight"] = found.sample_weight
    if name != "reject_cost":
        options["randomize"] = model.randomize
    if model.confidence_level is not None:
        options["confidence_level"] = model.confidence_level
        options |= {"draws": found.draws, "random_state": model.seed_}
    has_bound = model.confidence_level is not None and name != "target_coverage"
    if has_bound or name == "target_failure_rate":
        largest = model.max_loss or model.loss_.max_loss
        is_rate = set(found.losses) == {0, largest}
        options |= {"max_loss": largest, "bound": "binomial" if is_rate else "betting"}
    if found.groups is not None:
        options |= {"groups": found.groups, "all_groups": found.grouping.known}
    return options


def solve(model):
    """Return the rule of the array solver for what an estimator was asked for."""
    found = model.calibration_
    [name] = [n for n in SOLVERS if getattr(model, n) is not None] or [None]
    sample, options = (found.scores, found.losses), options_of(model, name)
    if name is None or model.group_by == "class":
        fails = name == "target_failure_rate"
        solver = solve_failure_bounds if fails else solve_risk_bounds
        return solver(*sample, parts_of(model), **options)
    target = getattr(model, name)
    if name != "reject_cost" or model.uncertainty_score != "auto":
        return SOLVERS[name](*sample, target, **options)
    # What probabilities claim counts as 30 more rows, of each group.
    groups = options.get("groups", np.zeros(len(found.scores)))
    share = 30 / (30 + np.array([np.sum(groups == group) for group in groups]))
    mixed = (1 - share) * found.losses + share * found.scores
    rule = solve_reject_cost(found.scores, mixed, target, **options)
    return rule.measure(*sample, *[groups] * ("groups" in options))


@pytest.mark.parametrize("name", CASES)
def test_rule_is_that_of_the_arrays(name):
    model, rows, _ = fit(name)
    expected, found = solve(model), model.calibration_
    assert json.dumps(model.rule_.to_dict()) == json.dumps(expected.to_dict())
    assert 0 < model.rule_.coverage < 1
    if model.confidence_level is not None:
        # The draws that certified the rule decide again, without keys.
        certificate = model.rule_.certificate
        each = certificate.values() if isinstance(certificate, dict) else [certificate]
        accepted = model.accept(rows[found.rows]).sum()
        assert accepted == sum(one.n_accepted for one in each)
        with pytest.raises(ValueError, match="keys cannot be combined with a conf"):
            model.accept(rows, keys=np.arange(len(rows)))
    else:
        assert model.accept(rows, keys=np.arange(len(rows))).any()


@pytest.mark.parametrize("name", IN_PARTS)
def test_bounds_are_what_scikit_learn_counts(name):
    model, *_ = fit(name)
    found = model.calibration_
    accepted = model.rule_.accept_proba(found.scores)
    weight = 1 if found.sample_weight is None else found.sample_weight
    options = {"average": None, "sample_weight": weight * accepted}
    pair = found.labels, found.predictions
    rates = {"min_precision": precision_score, "min_recall": recall_score}
    slack = []
    for (quantity, label), bound in model.bounds_.items():
        assert isinstance(bound, AchievedBound)
        rows = found.labels == label
        if quantity in rates:
            of_label = rates[quantity](*pair, labels=[label], **options)[0]
            rows = rows if quantity == "min_recall" else found.predictions == label
        elif quantity == "target_risk":
            of_label = np.average(found.losses[rows], weights=accepted[rows])
        else:
            of_label = (found.losses * accepted)[rows].mean()
        asked = getattr(model, quantity)
        asked = asked.get(label) if isinstance(asked, dict) else asked
        assert (bound.bound, bound.n_samples) == (asked, rows.sum())
        assert bound.achieved == pytest.approx(of_label)
        slack.append((of_label - asked) * (1 if quantity in rates else -1))
    assert min(slack) > -1e-12
    if name in ("risk, classes", "risk, costs, classes"):
        assert min(slack) == pytest.approx(0, abs=1e-12)
    assert model.group_by_ == model.group_by


@pytest.mark.parametrize("classes", [[-1, 1], [0.0, 1.0], [False, True]], ids=str)
def test_a_number_is_for_the_positive_class_whatever_its_label(classes):
    def fitted(labels, **bounds):
        return clone(TWO[0]).set_params(**bounds).fit(X2, labels)

    found = fitted(np.array(classes)[y2], min_precision=0.95, min_recall=0.9)
    by_dict = {"min_precision": {classes[1]: 0.95}, "min_recall": {classes[1]: 0.9}}
    assert list(found.bounds_) == [(name, classes[1]) for name in by_dict]
    assert fitted(np.array(classes)[y2], **by_dict).rule_ == found.rule_
    plain = fitted(y2, min_precision=0.95, min_recall=0.9)
    assert plain.rule_.coverage == pytest.approx(found.rule_.coverage)


# Which samples are fitted on, and which solve the rule


def uncertain(estimator, X):
    return 1 - estimator.predict_proba(X).max(axis=1)


ROWS, place = np.arange(N), X[:, 5]
SPLITS = list(KFold(3).split(X))
MASKS = [(place != k, place == k) for k in range(3)]
LISTS = [[np.flatnonzero(part).tolist() for part in split] for split in MASKS]
# Options, and what splits the samples; certified and average rates need equal draws.
PLANS = {
    "None": ({}, StratifiedKFold(5)),
    "4": ({"cv": 4}, StratifiedKFold(4)),
    "KFold": ({"cv": KFold(3)}, KFold(3)),
    "rows": ({"cv": SPLITS}, SPLITS),
    "masks": ({"cv": MASKS}, LISTS),
    "lists": ({"cv": LISTS}, LISTS),
    "share": ({"cv": 0.4}, StratifiedShuffleSplit(1, test_size=0.4, random_state=0)),
    "certified": (
        {"confidence_level": 0.8},
        ShuffleSplit(1, test_size=0.5, random_state=0),
    ),
    "average": (
        {"target_coverage": None, "target_failure_rate": 0.1, "cv": 0.4},
        ShuffleSplit(1, test_size=0.4, random_state=0),
    ),
    "frozen": ({}, [(ROWS, ROWS)]),
}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", PLANS)
def test_calibration_set_is_what_each_split_predicts(name, weighted):
    options, splitter = PLANS[name]
    options = {"target_coverage": 0.5, "loss": COSTS, "max_loss": 2.0} | options
    if weighted and name in ("certified", "average"):
        return  # which take no weights
    splits = splitter if isinstance(splitter, list) else [*splitter.split(X, y)]
    weight = 1.0 + ROWS % 2 if weighted else None

    def train(rows):
        some = None if weight is None else weight[rows]
        return GaussianNB().fit(X[rows], y[rows], sample_weight=some)

    held_out = len(splits) == 1
    final = train(splits[0][0] if held_out else ROWS)
    inner = FrozenEstimator(final) if name == "frozen" else GaussianNB()
    model = SelectiveClassifier(
        inner, uncertainty_score=uncertain, random_state=0, **options
    ).fit(X, y, sample_weight=weight)
    found, parts = model.calibration_, []
    for rows, test in splits:
        fold = train(rows)
        parts.append((test, uncertain(fold, X[test]), fold.predict(X[test]), y[test]))
    rows, scores, predictions, labels = map(np.concatenate, zip(*parts, strict=True))
    np.testing.assert_array_equal(found.rows, rows)
    np.testing.assert_array_equal(found.scores, scores)
    np.testing.assert_array_equal(found.losses, np.array(COSTS)[labels, predictions])
    np.testing.assert_array_equal(found.labels, labels)
    np.testing.assert_array_equal(found.predictions, predictions)
    if weighted:
        np.testing.assert_array_equal(found.sample_weight, weight[rows])
    assert (found.draws is None) == (name not in ("certified", "average", "frozen"))
    np.testing.assert_array_equal(model.predict_proba(X), final.predict_proba(X))


@pytest.mark.parametrize("cv", [None, 0.4])
def test_regressors_and_pipelines_are_split_alike(cv):
    splitter = ShuffleSplit(1, test_size=0.4, random_state=0) if cv else KFold(5)
    model = SelectiveRegressor(
        make_pipeline(StandardScaler(), LinearRegression()),
        uncertainty_score=lambda model, X: model.predict(X),
        target_coverage=0.5,
        cv=cv,
        random_state=0,
    ).fit(X_REG, NUMBERS)
    expected = [
        clone(model.estimator).fit(X_REG[train], NUMBERS[train]).predict(X_REG[test])
        for train, test in splitter.split(X_REG)
    ]
    np.testing.assert_array_equal(model.calibration_.scores, np.concatenate(expected))
    losses = (NUMBERS[model.calibration_.rows] - model.calibration_.scores) ** 2
    np.testing.assert_array_equal(model.calibration_.losses, losses)


@pytest.mark.parametrize("cost", [0.0, 0.2, 0.5, 3.0])
@pytest.mark.parametrize(
    "loss", ["zero_one", "absolute", [[0, 1, 2], [3, 0, 1], [4, 2, 0]]]
)
def test_plug_in_rule_compares_the_risk_with_the_cost(loss, cost):
    model = SelectiveClassifier(
        LogisticRegression(), reject_cost=cost, loss=loss, cv="plug_in"
    ).fit(X, y)
    assert model.rule_.threshold == model.rule_.reject_cost == cost
    assert np.isnan(model.rule_.coverage)
    np.testing.assert_array_equal(model.accept(X), model.uncertainty(X) <= cost)
