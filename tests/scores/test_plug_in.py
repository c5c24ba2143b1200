"""Scores read off a classifier, by hand, and how "auto" chooses among them."""

import pickle

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_breast_cancer, load_digits, load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import StackingClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

from sklearn_reject import DoubleScoreOODClassifier, SelectiveClassifier
from sklearn_reject.losses import ZeroOneLoss
from sklearn_reject.metrics import RiskCoverageDisplay, get_selective_scorer
from sklearn_reject.scores import MSP, ConditionalRisk, Margin

COSTS = np.random.default_rng(0).integers(0, 9, (10, 10)).astype(float)
APART = np.abs(np.subtract.outer(np.arange(10.0), np.arange(10.0)))


class Fivefold(ZeroOneLoss):
    """A subclass of the 0/1 loss may cost anything."""

    def _losses(self, y_true, y_pred):
        return 5 * super()._losses(y_true, y_pred)


def fitted(estimator, load=load_digits):
    X, y = load(return_X_y=True)
    return estimator.fit(X[:300], y[:300]), X[300:360]


def uncertainty(score, estimator, X):
    return score.fit(estimator=estimator).uncertainty(X)


@pytest.mark.parametrize(
    ("loss", "costs"),
    [
        (None, 1.0 - np.eye(10)),
        (Fivefold(), 5.0 - 5 * np.eye(10)),
        (COSTS, COSTS),
        ("absolute", APART),
        ("squared", APART**2),
        (lambda y, k: 2.0 * (y > k), 2.0 * np.greater.outer(range(10), range(10))),
    ],
    ids=["zero_one", "subclass", "matrix", "absolute", "squared", "callable"],
)
def test_conditional_risk_of_any_loss(loss, costs):
    clf, X = fitted(KNeighborsClassifier(9))
    expected = clf.predict_proba(X) @ costs
    own = expected[np.arange(len(X)), clf.predict(X)]
    found = uncertainty(ConditionalRisk(loss), clf, X)
    np.testing.assert_allclose(found, own, atol=1e-12)
    found = uncertainty(ConditionalRisk(loss, decision="bayes"), clf, X)
    np.testing.assert_allclose(found, expected.min(axis=1), atol=1e-12)


def test_confident_predictions_do_not_tie_at_zero():
    clf, X = fitted(GaussianNB(), load_breast_cancer)
    assert (1 - clf.predict_proba(X).max(axis=1) == 0).sum() > 10
    assert (uncertainty(ConditionalRisk(), clf, X) > 0).all()
    assert (MSP().fit(estimator=clf).novelty(X) > 0).all()


@pytest.mark.parametrize(
    ("n_classes", "classifier"),
    [
        *((n, each) for n in (2, 3) for each in (LinearSVC(random_state=0), SVC())),
        (2, SVC(decision_function_shape="ovo")),
    ],
)
def test_margin_by_hand(n_classes, classifier):
    X, y = load_digits(return_X_y=True)
    X, y = X[y < n_classes], y[y < n_classes]
    values = classifier.fit(X, y).decision_function(X)
    found = uncertainty(Margin(), classifier, X)
    largest = uncertainty(Margin(kind="max"), classifier, X)
    if n_classes == 2:
        np.testing.assert_array_equal(found, -abs(values))
        np.testing.assert_array_equal(largest, -abs(values))
    else:
        ordered = np.sort(values, axis=1)
        np.testing.assert_allclose(found, ordered[:, -2] - ordered[:, -1])
        np.testing.assert_array_equal(largest, -values.max(axis=1))


# What "auto" stands for

X, Y = load_iris(return_X_y=True)


class LateMethod(ClassifierMixin, BaseEstimator):
    """A classifier whose `fit` makes one of its methods, or none."""

    def __init__(self, method="predict_proba"):
        self.method = method

    def fit(self, X, y):
        inner = LinearDiscriminantAnalysis().fit(X, y)
        self.classes_, self.predict = inner.classes_, inner.predict
        if self.method is not None:
            setattr(self, self.method, getattr(inner, self.method))
        return self


def stack(final=None):
    trees = [("tree", DecisionTreeClassifier(max_depth=2, random_state=0))]
    return StackingClassifier(trees, final, cv=2, passthrough=True)


AUTO = {
    "known before": (GaussianNB(), "conditional_risk"),
    "both": (LogisticRegression(max_iter=1000), "conditional_risk"),
    "decision values": (RidgeClassifier(), "margin"),
    "late probabilities": (LateMethod(), "conditional_risk"),
    "late decision values": (LateMethod("decision_function"), "margin"),
    "stack": (stack(), "conditional_risk"),
    "stack of decision values": (stack(RidgeClassifier()), "margin"),
    "search": (GridSearchCV(stack(RidgeClassifier()), {}, cv=2), "margin"),
}


@pytest.mark.parametrize(
    ("kind", "target"),
    [
        *((kind, {"target_coverage": 0.7}) for kind in AUTO),
        *(
            (kind, {"reject_cost": 0.2, **loss})
            for kind in ("both", "stack of decision values")
            for loss in ({}, {"loss": [[0, 1, 2], [5, 0, 1], [9, 3, 0]]})
        ),
    ],
)
def test_auto_is_what_the_fitted_classifier_has(kind, target):
    estimator, name = AUTO[kind]
    automatic, named = (
        SelectiveClassifier(
            estimator, uncertainty_score=score, cv=2, random_state=0, **target
        ).fit(X, Y)
        for score in ("auto", name)
    )
    np.testing.assert_array_equal(automatic.uncertainty(X), named.uncertainty(X))
    assert automatic.rule_ == named.rule_
    assert automatic.score(X, Y) == named.score(X, Y)
    assert hasattr(automatic, "predict_proba") == hasattr(named, "predict_proba")
    again = pickle.loads(pickle.dumps(automatic))
    np.testing.assert_array_equal(again.predict(X), automatic.predict(X))


def test_auto_as_a_score_of_risk_and_of_metrics():
    double = DoubleScoreOODClassifier(
        stack(), uncertainty_score="auto", novelty_score="msp", min_tpr=0.8, cv=2
    )
    named = clone(double).set_params(uncertainty_score="conditional_risk").fit(X, Y)
    np.testing.assert_array_equal(double.fit(X, Y).predict(X), named.predict(X))
    scorer, plain = get_selective_scorer("neg_aurc"), stack().fit(X, Y)
    selective = SelectiveClassifier(stack(), target_coverage=0.9, cv=2)
    assert scorer(plain, X, Y) == scorer(selective.fit(X, Y), X, Y)
    assert len(RiskCoverageDisplay.from_estimator(plain, X, Y).risk)


def test_a_function_sees_the_classifier_and_the_samples():
    def distance(estimator, samples):
        seen[:] = estimator, samples
        return np.arange(len(samples))

    seen = []
    selective = SelectiveClassifier(GaussianNB(), uncertainty_score=distance).fit(X, Y)
    np.testing.assert_array_equal(selective.uncertainty(X), np.arange(150.0))
    assert seen[0] is selective.estimator_
    assert seen[1] is X
