"""What is asked of selective estimators: targets, their units, and other targets."""

import warnings

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, make_blobs, make_classification
from sklearn.ensemble import StackingClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import KFold
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from sklearn_reject import SelectiveClassifier, SelectiveRegressor
from sklearn_reject.exceptions import RejectionWarning
from sklearn_reject.losses import TaskLoss

X, y = make_blobs(300, 6, centers=3, cluster_std=7.0, random_state=1)
X2, y2 = make_classification(300, flip_y=0.1, random_state=0)


def absolute(y_true, y_pred):
    return np.abs(y_true - y_pred)


class BoundedLoss(TaskLoss):
    max_loss = 2.0

    def _losses(self, y_true, y_pred):
        return np.minimum(np.abs(y_true - y_pred), 2.0)


def tells_of(name, **options):
    return pytest.warns(RejectionWarning, match=name, **options)


# The largest loss that is possible


@pytest.mark.parametrize("loss", ["absolute", "squared", absolute])
def test_certified_risk_needs_the_largest_loss_before_anything_is_fitted(loss):
    selective = SelectiveClassifier(
        GaussianNB(), target_risk=2.0, confidence_level=0.9, loss=loss, cv=0.4
    )
    with pytest.raises(ValueError, match="max_loss is needed"):
        selective.fit(X, y)
    assert not hasattr(selective, "estimator_")
    rule = selective.set_params(max_loss=4.0).fit(X, y).rule_
    assert rule.certificate.bound == "betting"


@pytest.mark.parametrize(
    ("loss", "bound"),
    [
        ("zero_one", "binomial"),
        ([[0, 1, 1], [1, 0, 1], [1, 1, 0]], "binomial"),
        ([[0, 1, 2], [1, 0, 1], [2, 1, 0]], "betting"),
        (BoundedLoss(), "betting"),
    ],
    ids=str,
)
def test_losses_bounded_beforehand_need_no_largest_loss(loss, bound):
    selective = SelectiveClassifier(
        GaussianNB(),
        target_risk=0.6,
        confidence_level=0.8,
        loss=loss,
        cv=0.5,
        random_state=0,
    )
    assert selective.fit(X, y).rule_.certificate.bound == bound


def test_largest_loss_below_that_of_the_matrix():
    selective = SelectiveClassifier(
        GaussianNB(), target_risk=0.5, loss=[[0, 9], [1, 0]], max_loss=5.0
    )
    with pytest.raises(ValueError, match=r"max_loss=5\.0 is below 9"):
        selective.fit(X2, y2)


# Targets that no rule can miss


@pytest.mark.parametrize(
    ("target", "loss"),
    [
        ({"target_risk": 5}, "zero_one"),
        ({"target_risk": 1.0, "confidence_level": 0.95, "cv": 0.4}, "zero_one"),
        ({"reject_cost": 1.0}, "zero_one"),
        ({"reject_cost": 9.0}, [[0, 9], [1, 0]]),
    ],
    ids=str,
)
def test_target_at_the_largest_loss_is_told(target, loss):
    selective = SelectiveClassifier(GaussianNB(), loss=loss, **target)
    with tells_of("is not below the largest loss"):
        selective.fit(X2, y2)
    assert selective.accept(X2).all()


@pytest.mark.parametrize(
    "target",
    [
        {"reject_cost": 20},
        pytest.param({"target_coverage": 0.5}, marks=pytest.mark.slow),
    ],
)
def test_losses_above_the_largest_are_refused_without_a_confidence(target):
    # A target below the losses there are would be called vacuous.
    selective = SelectiveRegressor(
        LinearRegression(), loss="absolute", max_loss=0.01, cv=KFold(3), **target
    )
    refusal = pytest.raises(ValueError, match=r"above max_loss=0\.01")
    with warnings.catch_warnings(), refusal:
        warnings.simplefilter("ignore", RejectionWarning)
        selective.fit(X, X[:, 1] * X[:, 0])


def test_default_target_of_two_classes_is_told():
    X, y = load_breast_cancer(return_X_y=True)
    selective = SelectiveClassifier(GaussianNB(), cv="plug_in")
    assert repr(selective).endswith("reject_cost=0.5)")
    with tells_of(r"Without a target, reject_cost=0\.5"):
        selective.fit(X, y)
    assert selective.accept(X).all()
    explicit = clone(selective).set_params(reject_cost=0.5)
    assert explicit.fit(X, y).accept(X).all()
    assert repr(explicit) == repr(selective)
    with config_context(print_changed_only=False):
        assert repr(explicit) == repr(selective)
        around = SelectiveClassifier(selective)
        inside = repr(selective).replace("reject_cost=0.5", "reject_cost=None")
        assert "".join(inside.split()) in "".join(repr(around).split())


# Rules that do worse than none


def test_score_of_the_wrong_sign_is_told():
    def confidence_level(model, X):
        return model.predict_proba(X).max(axis=1)

    X, y = load_breast_cancer(return_X_y=True)
    selective = SelectiveClassifier(
        GaussianNB(), uncertainty_score=confidence_level, reject_cost=0.1
    )
    with tells_of("ranks the errors backwards: the.* has risk .*all of them have"):
        selective.fit(X, y)
    with tells_of("more than all samples"), tells_of("Change the sign"):
        selective.set_params(reject_cost=None, target_coverage=0.8).fit(X, y)


def test_score_of_ours_has_no_sign_to_change():
    rng = np.random.default_rng(0)
    X = rng.random((1000, 1))
    # Where the classifier is sure it is wrong: it knows the labels of another place.
    frozen = FrozenEstimator(GaussianNB().fit(X, X[:, 0] > 0.5))
    y = (X[:, 0] > 0.5) ^ (abs(X[:, 0] - 0.5) > 0.2)
    selective = SelectiveClassifier(frozen, target_coverage=0.8)
    with (
        tells_of("more than all samples"),
        tells_of(
            "ranks the errors backwards.*Use another, such as one that is learned"
        ),
    ):
        selective.fit(X, y)


def test_rule_that_rejects_everything_is_told():
    # A grown tree is as sure where it is wrong.
    tree = DecisionTreeClassifier(random_state=0)
    selective = SelectiveClassifier(tree, reject_cost=0.01)
    with tells_of("Everything is rejected: .* reject_cost=0.01 .* costs 0.0"):
        selective.fit(*load_breast_cancer(return_X_y=True))
    assert selective.rule_.coverage == 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert SelectiveClassifier(GaussianNB(), reject_cost=0).fit(X, y).rule_


def test_plain_rule_worse_than_a_constant_is_told():
    # Features three times over: naive Bayes is sure where it is wrong.
    X, y = make_classification(1000, flip_y=0.1, random_state=0)
    many = np.tile(X, 3)
    frozen = FrozenEstimator(GaussianNB().fit(many[:100], y[:100]))
    plain = SelectiveClassifier(frozen, reject_cost=0.05, cv="plug_in")
    with tells_of("plug-in rule costs.* rejecting everything 0.05"):
        plain.fit(many[100:], y[100:])
    solved = clone(plain).set_params(cv=None).fit(many[100:], y[100:])
    coverage, risk = solved.rule_.coverage, solved.rule_.selective_risk
    cost = coverage * risk if coverage else 0
    assert cost + (1 - coverage) * 0.05 <= 0.0501


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


# Reject costs with and without data


@pytest.mark.parametrize(
    "arguments",
    [
        {"target_risk": 0.2},
        {"target_coverage": 0.5},
        {"reject_cost": 0.2, "uncertainty_score": "margin"},
        {"reject_cost": 0.2, "uncertainty_score": "sele"},
    ],
    ids=str,
)
def test_plain_rule_is_of_a_cost_and_probabilities(arguments):
    selective = SelectiveClassifier(LogisticRegression(), cv="plug_in", **arguments)
    with pytest.raises(ValueError, match="cv='plug_in' compares a reject_cost"):
        selective.fit(X2, y2)


def test_plain_rule_of_a_stack_takes_a_score_by_name():
    stack = StackingClassifier(
        [("bayes", GaussianNB())]
    )  # shows its methods when fitted
    plain = SelectiveClassifier(stack, reject_cost=0.2, cv="plug_in")
    with pytest.raises(
        ValueError, match="or pass uncertainty_score='conditional_risk'"
    ):
        plain.fit(X, y)
    plain.set_params(uncertainty_score="conditional_risk").fit(X, y)
    assert plain.rule_.threshold == 0.2


def test_cost_on_data_is_no_worse_than_constants_where_probabilities_are_poor():
    rng = np.random.RandomState(0)
    many = np.repeat(X2, 4, axis=1) + 0.1 * rng.randn(300, 80)
    solved = SelectiveClassifier(GaussianNB(), reject_cost=0.05).fit(many, y2)
    plain = SelectiveClassifier(GaussianNB(), reject_cost=0.05, cv="plug_in")
    plain.fit(many, y2)

    def cost(model):
        samples = model.rule_.measure(*new_samples(model, solved)).coverage
        risk = model.rule_.measure(*new_samples(model, solved)).selective_risk
        return (samples and samples * risk) + (1 - samples) * 0.05

    def new_samples(model, solved):
        return solved.calibration_.scores, solved.calibration_.losses

    assert cost(solved) < 0.06 < 0.1 < cost(plain)


# Small samples


@pytest.mark.parametrize("n_samples", [4, 6, 12])
def test_a_dozen_rows(n_samples):
    selective = SelectiveClassifier(GaussianNB(var_smoothing=1), reject_cost=0.3)
    rows = np.argsort(y, kind="stable").reshape(3, -1)[:, : n_samples // 2].ravel()
    selective.fit(X[rows], y[rows])
    assert selective.predict(X[:1]).shape == (1,)


def test_class_of_one_member_is_not_held_out():
    labels = y2.copy()
    labels[7] = 2
    selective = SelectiveClassifier(GaussianNB(), target_coverage=0.5, cv=0.3)
    with tells_of("class 2 has only one member"):
        selective.fit(X2, labels)
    assert 7 not in selective.calibration_.rows
    assert len(selective.calibration_.rows) == 90


def test_share_too_small_for_all_classes_is_told():
    selective = SelectiveClassifier(GaussianNB(), target_coverage=1.0, cv=0.005)
    with tells_of("without stratification. Pass"):
        selective.fit(X, y)
    assert len(selective.calibration_.rows) == 2


# Another target without another fit
