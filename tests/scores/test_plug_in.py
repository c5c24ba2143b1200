import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC, LinearSVC

from sklearn_reject._response._response import Response
from sklearn_reject.losses import AbsoluteLoss, ZeroOneLoss
from sklearn_reject.scores import (
    CallableScore,
    ConditionalRisk,
    Entropy,
    Margin,
    TopTwoGap,
    resolve_score,
)

COSTS = np.random.default_rng(0).integers(0, 9, (10, 10)).astype(float)


def fitted(estimator, load=load_digits):
    X, y = load(return_X_y=True)
    return estimator.fit(X[:300], y[:300]), X[300:360]


def brute_force_risk(probabilities, costs, chosen):
    return [
        sum(p[y] * costs[y, k] for y in range(len(p)))
        for p, k in zip(probabilities, chosen, strict=True)
    ]


@pytest.mark.parametrize("load", [load_digits, load_breast_cancer])
def test_conditional_risk_of_zero_one_loss_is_one_minus_the_largest(load):
    clf, X = fitted(KNeighborsClassifier(7), load)
    uncertainty = ConditionalRisk().fit(estimator=clf).uncertainty(X)
    np.testing.assert_allclose(
        uncertainty, 1 - clf.predict_proba(X).max(axis=1), atol=1e-15
    )


def test_confident_predictions_do_not_tie_at_zero():
    clf, X = fitted(GaussianNB(), load_breast_cancer)
    assert (1 - clf.predict_proba(X).max(axis=1) == 0).sum() > 10
    assert (ConditionalRisk().fit(estimator=clf).uncertainty(X) > 0).all()


@pytest.mark.parametrize(
    ("loss", "costs"),
    [
        (COSTS, COSTS),
        ("absolute", abs(np.subtract.outer(np.arange(10), np.arange(10)))),
        ("squared", np.subtract.outer(np.arange(10), np.arange(10)) ** 2),
        (lambda y, k: 2.0 * (y > k), 2.0 * np.greater.outer(range(10), range(10))),
    ],
    ids=["matrix", "absolute", "squared", "callable"],
)
def test_conditional_risk_of_any_loss(loss, costs):
    clf, X = fitted(KNeighborsClassifier(9))
    probabilities = clf.predict_proba(X)
    own = ConditionalRisk(loss).fit(estimator=clf).uncertainty(X)
    expected = brute_force_risk(probabilities, costs, clf.predict(X))
    np.testing.assert_allclose(own, expected, atol=1e-12)
    bayes = ConditionalRisk(loss, decision="bayes").fit(estimator=clf).uncertainty(X)
    every = [brute_force_risk(probabilities, costs, [k] * len(X)) for k in range(10)]
    np.testing.assert_allclose(bayes, np.min(every, axis=0), atol=1e-12)
    assert (bayes <= own + 1e-12).all()


@pytest.mark.parametrize("n_classes", [2, 3])
def test_margin_by_hand(n_classes):
    X, y = load_digits(return_X_y=True)
    X, y = X[y < n_classes], y[y < n_classes]
    clf = LinearSVC(random_state=0).fit(X, y)
    values = clf.decision_function(X)
    margin = Margin().fit(estimator=clf).uncertainty(X)
    largest = Margin(kind="max").fit(estimator=clf).uncertainty(X)
    if n_classes == 2:
        np.testing.assert_array_equal(margin, -abs(values))
        np.testing.assert_array_equal(largest, -abs(values))
    else:
        ordered = np.sort(values, axis=1)
        np.testing.assert_allclose(margin, ordered[:, -2] - ordered[:, -1])
        np.testing.assert_array_equal(largest, -values.max(axis=1))


def test_entropy_and_gap_by_hand():
    clf, X = fitted(KNeighborsClassifier(9))
    probabilities = clf.predict_proba(X)
    positive = np.where(probabilities > 0, probabilities, 1)
    np.testing.assert_allclose(
        Entropy().fit(estimator=clf).uncertainty(X),
        -(probabilities * np.log(positive)).sum(axis=1),
        atol=1e-15,
    )
    ordered = np.sort(probabilities, axis=1)
    np.testing.assert_allclose(
        TopTwoGap().fit(estimator=clf).uncertainty(X),
        1 - (ordered[:, -1] - ordered[:, -2]),
    )


@pytest.mark.parametrize("score", [ConditionalRisk(), Entropy(), TopTwoGap()])
def test_probability_scores_agree_on_two_classes(score):
    clf, X = fitted(LogisticRegression(C=1e-3, max_iter=10_000), load_breast_cancer)
    uncertainty = score.fit(estimator=clf).uncertainty(X)
    closeness = -abs(clf.decision_function(X))
    np.testing.assert_array_equal(
        np.argsort(uncertainty[uncertainty > 1e-12]),
        np.argsort(closeness[uncertainty > 1e-12]),
    )


def test_callable_score_sees_estimator_and_samples():
    clf, X = fitted(RidgeClassifier())

    def distance(estimator, samples):
        assert estimator is clf
        assert samples is X
        return np.arange(len(samples))

    uncertainty = CallableScore(distance).fit(estimator=clf).uncertainty(X)
    np.testing.assert_array_equal(uncertainty, np.arange(60.0))
    assert uncertainty.dtype == np.float64


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda e, X: np.zeros(3), r"shape \(3,\), expected one number .* \(60,\)"),
        (lambda e, X: np.zeros((60, 1)), r"shape \(60, 1\)"),
        (lambda e, X: 0.0, r"shape \(\)"),
        (lambda e, X: np.full(60, np.nan), "uncertainty_score must be finite, got nan"),
        (lambda e, X: ["high"] * 60, "uncertainty_score must hold real numbers"),
    ],
)
def test_callable_scores_are_checked(function, message):
    clf, X = fitted(RidgeClassifier())
    with pytest.raises(ValueError, match=message):
        CallableScore(function).fit(estimator=clf).uncertainty(X)


def test_auto_takes_what_the_classifier_has():
    for clf in (GaussianNB(), LogisticRegression()):
        assert isinstance(resolve_score("auto", clf), ConditionalRisk)
    for clf in (LinearSVC(), SVC(), RidgeClassifier()):
        assert isinstance(resolve_score("auto", clf), Margin)
    with pytest.raises(ValueError, match="object has neither"):
        resolve_score("auto", object())


def test_the_loss_reaches_a_score_that_has_none():
    loss = AbsoluteLoss()
    assert resolve_score("auto", GaussianNB(), loss=loss).loss is loss
    assert resolve_score(ConditionalRisk("squared"), None, loss=loss).loss == "squared"
    assert resolve_score(Entropy(), None, loss=loss).get_params() == {}


def test_the_given_score_is_not_touched():
    score = ConditionalRisk()
    resolved = resolve_score(score, None, loss=AbsoluteLoss())
    assert resolved is not score
    assert score.loss is None


@pytest.mark.parametrize("score", ["certainty", 3, None, Entropy])
def test_unknown_scores(score):
    with pytest.raises(ValueError, match=r"uncertainty_score must be 'auto', one of"):
        resolve_score(score, GaussianNB())


@pytest.mark.parametrize(
    ("score", "message"),
    [
        (ConditionalRisk(decision="best"), "decision must be one of"),
        (Margin(kind="mean"), "kind must be one of"),
        (ConditionalRisk(loss="hinge"), "loss must be one of"),
        (ConditionalRisk(loss=np.eye(3)), r"shape \(3, 3\) for 10 labels"),
    ],
)
def test_bad_options(score, message):
    clf, X = fitted(LogisticRegression(C=1e-3, max_iter=10_000))
    with pytest.raises(ValueError, match=message):
        score.fit(estimator=clf).uncertainty(X)


def test_unfitted():
    with pytest.raises(NotFittedError):
        Entropy().uncertainty([[0.0]])
    with pytest.raises(NotFittedError):
        Entropy().fit(estimator=GaussianNB())


def test_a_subclass_of_the_zero_one_loss_may_cost_anything():
    class Fivefold(ZeroOneLoss):
        def _losses(self, y_true, y_pred):
            return 5 * super()._losses(y_true, y_pred)

    clf, X = fitted(KNeighborsClassifier(9))
    five = ConditionalRisk(Fivefold()).fit(estimator=clf).uncertainty(X)
    np.testing.assert_allclose(
        five, 5 * ConditionalRisk().fit(estimator=clf).uncertainty(X)
    )


def test_options_are_checked_in_fit():
    clf, _ = fitted(LogisticRegression(C=1e-3, max_iter=10_000))
    for score in (
        ConditionalRisk(decision="best"),
        ConditionalRisk("hinge"),
        Margin("a"),
    ):
        with pytest.raises(ValueError, match="must be one of"):
            score.fit(estimator=clf)


@pytest.mark.parametrize(
    "score",
    [ConditionalRisk(), ConditionalRisk(COSTS, decision="bayes"), Margin(), Entropy()],
    ids=["own label", "least cost", "margin", "entropy"],
)
def test_evaluate_is_labels_and_uncertainty(score):
    clf, X = fitted(LogisticRegression(C=1e-3, max_iter=10_000))
    labels, uncertainty = score.evaluate(Response(clf, X))
    np.testing.assert_array_equal(labels, score.labels(Response(clf, X)))
    np.testing.assert_array_equal(uncertainty, score.from_response(Response(clf, X)))
