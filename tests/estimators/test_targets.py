"""What selective estimators are told about targets that bind nothing, or too little."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, make_blobs, make_classification
from sklearn.ensemble import StackingClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from sklearn_reject import InfeasibleTargetError, SelectiveClassifier
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


def test_default_target_of_two_classes_is_told():
    X, y = load_breast_cancer(return_X_y=True)
    selective = SelectiveClassifier(GaussianNB(), cv="plug_in")
    with tells_of(r"Without a target, reject_cost=0\.5"):
        selective.fit(X, y)
    assert selective.accept(X).all()
    explicit = clone(selective).set_params(reject_cost=0.5)
    assert explicit.fit(X, y).accept(X).all()


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
    with tells_of("Everything is rejected: .* reject_cost=0.01"):
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


# Reject costs with and without data


def test_plain_rule_of_a_stack_takes_a_score_by_name():
    stack = StackingClassifier(
        [("bayes", GaussianNB())]
    )  # shows its methods when fitted
    plain = SelectiveClassifier(stack, reject_cost=0.2, cv="plug_in")
    with pytest.raises(ValueError, match="uncertainty_score='conditional_risk'"):
        plain.fit(X, y)
    plain.set_params(uncertainty_score="conditional_risk").fit(X, y)
    assert plain.rule_.threshold == 0.2


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


# Bounds that rest on few accepted samples


def noise(seed, n=400):
    """Return features that say nothing of the labels."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 3)), rng.integers(0, 2, n)


def two_blobs(n=400, share=0.5):
    rng = np.random.default_rng(0)
    y = (rng.random(n) < share).astype(int)
    return rng.normal(size=(n, 2)) + 3 * y[:, np.newaxis], y


def test_luck_is_told_of():
    """Where nothing is known, what is accepted meets the target by chance."""
    n_told = n_lucky = 0
    for seed in range(20):
        model = SelectiveClassifier(LogisticRegression(), target_risk=0.2)
        with warnings.catch_warnings(record=True) as record:
            warnings.simplefilter("always")
            try:
                model.fit(*noise(seed))
            except InfeasibleTargetError:
                continue
        n_lucky += model.rule_.coverage * 400 < 29
        n_told += sum("rests on" in str(each.message) for each in record)
    assert n_told == n_lucky > 3


def test_the_numbers_and_the_ways_out():
    message = (
        r"target_risk=0\.01 rests on \d+ accepted calibration samples of 90; 100 "
        "would say more .* more samples, or a confidence_level"
    )
    with tells_of(message):
        SelectiveClassifier(GaussianNB(), target_risk=0.01).fit(*two_blobs(90))
    # Enough of them, or a rule that holds with a confidence, are not worth a word.
    SelectiveClassifier(GaussianNB(), target_risk=0.01).fit(*two_blobs(1500))
    certified = SelectiveClassifier(
        GaussianNB(), target_risk=0.2, confidence_level=0.9, random_state=0
    )
    assert certified.fit(*two_blobs(90)).rule_.certificate.n_accepted < 50


def test_classes_of_few():
    X, y = two_blobs(500, share=0.03)
    model = SelectiveClassifier(GaussianNB(), min_precision={0: 0.9, 1: 0.9})
    with pytest.warns(
        RejectionWarning, match=r"min_precision=0\.9 of the class 1 rests"
    ):
        model.fit(X, y)
    found = model.bounds_["min_precision", 1]
    assert found.coverage * found.n_samples < 30


def test_groups_too_small_to_tell_are_rejected():
    X, y = two_blobs(400)
    X = np.column_stack([X, np.where(np.arange(400) < 12, 1.0, 0.0)])
    model = SelectiveClassifier(GaussianNB(), target_risk=0.05, group_by=2, cv=4)
    message = (
        r"1 of 2 groups .* rejected as a whole. 1\.0: it has 12 .* too few to tell"
    )
    with tells_of(message):
        model.fit(X, y)
    assert not model.accept(X)[:12].any()
    assert model.accept(X)[12:].mean() > 0.9
    many = np.column_stack([X[:, :2], np.arange(400) % 40])
    with pytest.raises(InfeasibleTargetError, match="too few to tell: 30 accepted"):
        SelectiveClassifier(GaussianNB(), target_risk=0.05, group_by=2, cv=4).fit(
            many, y
        )
