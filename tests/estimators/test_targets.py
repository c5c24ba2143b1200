"""What selective estimators are told about targets that bind nothing, or too little.

Warnings are errors in all tests: a fit that is not in `tells_of` has none.
"""

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, make_blobs, make_classification
from sklearn.ensemble import StackingClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from sklearn_reject import (
    InfeasibleTargetError,
    SelectiveClassifier,
    SelectiveRegressor,
)
from sklearn_reject.exceptions import RejectionWarning
from sklearn_reject.scores import ConditionalRisk

X, y = make_blobs(300, 6, centers=3, cluster_std=7.0, random_state=1)
X2, y2 = make_classification(300, flip_y=0.1, random_state=0)
CANCER = load_breast_cancer(return_X_y=True)
PLACES = np.arange(300) % 3
BAYES = GaussianNB()


def tells_of(pattern):
    return pytest.warns(RejectionWarning, match=pattern)


def constant(estimator, X):
    """Tell no sample from another."""
    return np.zeros(len(X))


def place_of(X):
    return PLACES[: len(X)]


def two_blobs(n=400, share=0.5):
    rng = np.random.default_rng(0)
    y = (rng.random(n) < share).astype(int)
    return rng.normal(size=(n, 2)) + 3 * y[:, np.newaxis], y


BY_CLASS, BY_PLACE = {"group_by": "class"}, {"group_by": place_of}
CERTIFIED = {"confidence_level": 0.95, "cv": 0.4}
CONSTANT = {"uncertainty_score": constant}
FAILURES = {"target_failure_rate": 1.0, "cv": 0.4}
COSTS = {"reject_cost": {0: 0.05, 1: 0.5, 2: 1.0}}
# A grown tree is as sure where it is wrong.
GROWN = {"estimator": DecisionTreeClassifier(random_state=0)}
THREE, TWO, ONE_OF_THREE = (X, y), (X2, y2), (X2, np.where(np.arange(300) == 7, 2, y2))
AT_LARGEST = "is not below the largest loss"
FEW = (
    r"target_risk=0\.01 rests on \d+ accepted calibration samples of 90; 100 "
    "would say more .* more samples, or a confidence_level"
)
FEW_OF_CLASS = r"min_precision=0\.98 of the class 1 rests on .*; 50 would say more"
# Data, what is asked for, what is told, and the share that is accepted, if it is known.
TOLD = [
    # Targets that no rule can miss
    (TWO, {"target_risk": 5}, AT_LARGEST, 1),
    (TWO, CERTIFIED | {"target_risk": 1.0}, AT_LARGEST, 1),
    (TWO, {"reject_cost": 1.0}, AT_LARGEST, 1),
    (TWO, {"reject_cost": 9.0, "loss": [[0, 9], [1, 0]]}, AT_LARGEST, 1),
    (THREE, BY_PLACE | {"target_risk": {0: 1, 1: 1, 2: 2}}, AT_LARGEST, 1),
    (THREE, FAILURES, "no rule has a larger failure rate", 1),
    (THREE, FAILURES | BY_CLASS, "no rule has a larger failure rate", 1),
    (CANCER, {"cv": "plug_in"}, "Without a target, reject_cost=0.5", 1),
    # Rules that accept nothing, the last one as more tie than may be accepted
    (
        CANCER,
        GROWN | {"reject_cost": 0.01},
        "Everything is rejected: .* reject_cost",
        0,
    ),
    (THREE, BY_PLACE | CONSTANT | COSTS, "rejected in the groups 0:", 2 / 3),
    (
        THREE,
        CONSTANT | {"target_failure_rate": 0.02, "cv": 0.4, "randomize": False},
        "No calibration sample is accepted",
        0,
    ),
    # Few samples
    (ONE_OF_THREE, {"target_coverage": 0.5, "cv": 0.3}, "class 2 has only one", None),
    (THREE, {"target_coverage": 1.0, "cv": 0.005}, "without stratification, as", 1),
    (two_blobs(90), {"target_risk": 0.01}, FEW, None),
    (two_blobs(500, 0.03), {"min_precision": {0: 0.9, 1: 0.98}}, FEW_OF_CLASS, None),
    (THREE, {"group_by": 0, "target_coverage": 0.8}, "makes 300 groups for 300", None),
]


@pytest.mark.parametrize(("data", "options", "pattern", "share"), TOLD)
def test_what_is_told(data, options, pattern, share):
    model = SelectiveClassifier(**{"estimator": BAYES, "random_state": 0} | options)
    with tells_of(pattern):
        model.fit(*data)
    if share is not None:
        assert model.accept(data[0]).mean() == pytest.approx(share)
    if data is ONE_OF_THREE:
        assert 7 not in model.calibration_.rows
        assert len(model.calibration_.rows) == 90


@pytest.mark.parametrize(
    ("data", "options"),
    [
        (CANCER, {"cv": "plug_in", "reject_cost": 0.5}),
        (THREE, {"reject_cost": 0}),
        (THREE, BY_PLACE | {"target_risk": {0: 1, 1: 0.4, 2: 0.4}}),
        (THREE, BY_CLASS | {"target_failure_rate": {0: 1.0, 1: 0.06}, "cv": 0.5}),
        # Enough of them, or a rule that holds with a confidence, are not worth a word.
        (two_blobs(1500), {"target_risk": 0.01}),
        (two_blobs(60), CERTIFIED | {"target_risk": 0.2, "confidence_level": 0.9}),
    ],
)
def test_what_is_not_worth_a_word(data, options):
    model = SelectiveClassifier(BAYES, random_state=0, **options)
    rule = model.fit(*data).rule_
    if "confidence_level" in options:
        assert rule.certificate.n_accepted < 30


# Rules that do worse than none


def test_score_of_the_wrong_sign_is_told():
    def confidence_level(model, X):
        return model.predict_proba(X).max(axis=1)

    selective = SelectiveClassifier(
        BAYES, uncertainty_score=confidence_level, reject_cost=0.1
    )
    with tells_of("ranks the errors backwards: the.* has risk .*all of them have"):
        selective.fit(*CANCER)
    with tells_of("more than all samples"), tells_of("Change the sign"):
        selective.set_params(reject_cost=None, target_coverage=0.8).fit(*CANCER)


@pytest.mark.parametrize("score", ["auto", ConditionalRisk()], ids=str)
def test_score_of_ours_has_no_sign_to_change(score):
    X = np.random.default_rng(0).random((1000, 1))
    # Where the classifier is sure it is wrong: it knows the labels of another place.
    frozen = FrozenEstimator(GaussianNB().fit(X, X[:, 0] > 0.5))
    y = (X[:, 0] > 0.5) ^ (abs(X[:, 0] - 0.5) > 0.2)
    selective = SelectiveClassifier(frozen, target_coverage=0.8)
    way_out = "ranks the errors backwards.*Use another, such as one that is learned"
    with tells_of("more than all samples"), tells_of(way_out):
        clone(selective).set_params(uncertainty_score=score).fit(X, y)


def test_plain_rule_worse_than_a_constant_is_told():
    # Features three times over: naive Bayes is sure where it is wrong.
    X, y = make_classification(1000, flip_y=0.1, random_state=0)
    many = np.tile(X, 3)
    frozen = FrozenEstimator(GaussianNB().fit(many[:100], y[:100]))
    plain = SelectiveClassifier(frozen, reject_cost=0.05, cv="plug_in")
    with tells_of("plug-in rule costs.* rejecting everything 0.05"):
        plain.fit(many[100:], y[100:])
    solved = clone(plain).set_params(cv=None).fit(many[100:], y[100:])
    losses = solved.predict_label(many[100:]) != y[100:]

    def cost_of(model):
        return np.where(model.accept(many[100:]), losses, 0.05).mean()

    assert cost_of(solved) < 0.0501 < 0.06 < cost_of(plain)


@pytest.mark.parametrize("cost", [0.3, 0.45])
def test_plain_rule_of_true_probabilities_is_not_told_off(cost):
    # No rule is better, but on every other sample of this size a constant was.
    rng = np.random.RandomState(0)
    X = rng.normal(size=(40, 200, 1))
    y = rng.random_sample(X.shape) < 1 / (1 + np.exp(-3 * X))
    truth = LogisticRegression()
    truth.classes_ = np.array([0, 1])
    truth.coef_, truth.intercept_ = np.array([[3.0]]), np.zeros(1)
    plain = SelectiveClassifier(
        FrozenEstimator(truth), reject_cost=cost, cv="plug_in", random_state=0
    )
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        for number in range(40):
            plain.fit(X[number], y[number].ravel().astype(int))
    assert len(told) <= 4


def test_plain_rule_of_a_stack_takes_a_score_by_name():
    stack = StackingClassifier([("bayes", BAYES)])  # shows its methods when fitted
    plain = SelectiveClassifier(stack, reject_cost=0.2, cv="plug_in")
    with pytest.raises(ValueError, match="uncertainty_score='conditional_risk'"):
        plain.fit(X, y)
    plain.set_params(uncertainty_score="conditional_risk").fit(X, y)
    assert plain.rule_.threshold == 0.2


@pytest.mark.parametrize("n_samples", [4, 6, 12])
def test_a_dozen_rows(n_samples):
    selective = SelectiveClassifier(GaussianNB(var_smoothing=1), reject_cost=0.3)
    rows = np.argsort(y, kind="stable").reshape(3, -1)[:, : n_samples // 2].ravel()
    selective.fit(X[rows], y[rows])
    assert selective.predict(X[:1]).shape == (1,)


def test_scores_of_a_few_levels_that_only_folds_have_are_told():
    selective = SelectiveRegressor(
        DecisionTreeRegressor(max_depth=1),
        target_coverage=0.7,
        uncertainty_score=lambda tree, X: tree.predict(X),
        cv=5,
    )
    with tells_of("Fits to the folds of cv=5"):
        selective.fit(X, X[:, 0] + np.sin(np.arange(300)))


# Bounds that rest on few accepted samples


def test_luck_is_told_of():
    """Where nothing is known, what is accepted meets the target by chance."""
    n_told = n_lucky = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        noise = rng.normal(size=(400, 3)), rng.integers(0, 2, 400)
        model = SelectiveClassifier(LogisticRegression(), target_risk=0.2)
        with warnings.catch_warnings(record=True) as record:
            warnings.simplefilter("always")
            try:
                model.fit(*noise)
            except InfeasibleTargetError:
                continue
        n_lucky += model.rule_.coverage * 400 < 29
        n_told += sum("rests on" in str(each.message) for each in record)
    assert n_told == n_lucky > 3


def test_groups_too_small_to_tell_are_rejected():
    X, y = two_blobs(400)
    X = np.column_stack([X, np.where(np.arange(400) < 12, 1.0, 0.0)])
    model = SelectiveClassifier(BAYES, target_risk=0.05, group_by=2, cv=4)
    with tells_of(r"1 of 2 groups .* as a whole. 1\.0: it has 12 .* too few to tell"):
        model.fit(X, y)
    assert not model.accept(X)[:12].any()
    assert model.accept(X)[12:].mean() > 0.9
    X[:, 2] = np.arange(400) % 40
    with pytest.raises(InfeasibleTargetError, match="too few to tell: 30 accepted"):
        model.fit(X, y)


@pytest.mark.filterwarnings("ignore:.*rests on .* accepted calibration samples")
def test_groups_of_unequal_risk_need_no_warning():
    # Nearly all that is accepted is of the group that may be wrong more often.
    X, y = make_blobs(300, 3, centers=3, cluster_std=4.0, random_state=0)
    wrong = np.where(PLACES == 2, (y + (np.arange(300) % 4 > 0)) % 3, y)
    frozen = FrozenEstimator(GaussianNB().fit(X, y))
    model = SelectiveClassifier(frozen, target_risk={0: 0.01, 1: 0.01, 2: 0.9})
    model.set_params(**BY_PLACE).fit(X, wrong)
    assert model.rule_.selective_risk > model.calibration_.losses.mean()


def test_plain_costs_of_groups():
    costs = COSTS["reject_cost"]
    plain = SelectiveClassifier(BAYES, cv="plug_in", **COSTS, **BY_PLACE)
    assert plain.fit(X, y).calibration_ is None
    assert {k: rule.threshold for k, rule in plain.rule_.rules.items()} == costs
    own_cost = np.array([*costs.values()])[PLACES]
    np.testing.assert_array_equal(plain.accept(X), plain.uncertainty(X) <= own_cost)
    plain.set_params(estimator=FrozenEstimator(GaussianNB().fit(X, y))).fit(X, y)
    assert plain.rule_.coverage == pytest.approx(plain.accept(X).mean())
