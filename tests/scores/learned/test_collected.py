"""What learned scores collect from folds, and what they make of it."""

import numpy as np
import pytest
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC

from sklearn_reject._response import Response
from sklearn_reject.scores import (
    SELE,
    ConditionalRisk,
    Entropy,
    LossRegression,
    SELEBoosting,
    resolve_score,
)

RNG = np.random.default_rng(0)
X = RNG.normal(size=(90, 3))
Y = np.arange(90) % 3
CLASSES = np.arange(4)  # one more than a fold has seen


def collect(classifier, classes=CLASSES):
    score = LossRegression(Ridge(), "response").resolve(classes)
    score.choose_features(classifier, X)
    return score.collect(Response(classifier, X), Y)


def test_probabilities_of_a_class_that_a_fold_lacks_are_zero():
    classifier = GaussianNB().fit(X, Y)
    outputs, labels, targets = collect(classifier)
    np.testing.assert_array_equal(outputs[:, :3], classifier.predict_proba(X))
    np.testing.assert_array_equal(outputs[:, 3], 0)
    np.testing.assert_array_equal(labels, classifier.predict(X))
    np.testing.assert_array_equal(targets, classifier.predict(X) != Y)


def test_decision_values_of_a_class_that_a_fold_lacks_are_the_farthest():
    classifier = LinearSVC().fit(X, Y)
    values = classifier.decision_function(X)
    outputs, _, _ = collect(classifier)
    np.testing.assert_array_equal(outputs[:, :3], values)
    np.testing.assert_array_equal(outputs[:, 3], values.min(axis=1))
    binary = LinearSVC().fit(X, Y > 0)
    outputs, _, _ = collect(binary, np.array([False, True]))
    np.testing.assert_array_equal(outputs[:, 0], binary.decision_function(X))
    binary = LinearSVC().fit(X, 2 * (Y > 0))
    value = binary.decision_function(X)
    outputs, _, _ = collect(binary, np.arange(3))
    columns = [-value, -abs(value), value]
    np.testing.assert_array_equal(outputs, np.column_stack(columns))


def test_classes_that_are_not_known():
    with pytest.raises(ValueError, match="has the class 2, which is not one"):
        collect(GaussianNB().fit(X, Y), np.arange(2))


def test_a_regressor_is_scored_by_its_predictions():
    y = X[:, 0] + RNG.normal(size=90) * X[:, 1]
    regressor = LinearRegression().fit(X, y)
    score = resolve_score("auto", LinearRegression())
    assert isinstance(score, LossRegression)
    score.set_params(regressor=Ridge(), features="input+response").fit(
        X, y, estimator=regressor
    )
    features = np.column_stack([X, regressor.predict(X)])
    losses = (y - regressor.predict(X)) ** 2
    expected = Ridge().fit(features, losses).predict(features)
    np.testing.assert_allclose(score.uncertainty(X), expected)
    assert SELE(0.1).fit(X, y, estimator=regressor).coef_.shape == (1, 3)


def test_pooled_folds_need_no_estimator():
    classifier = LogisticRegression().fit(X, Y)
    score = SELE(0.1, random_state=0).resolve(np.arange(3))
    score.choose_features(classifier, X)
    collected = score.collect(Response(classifier, X), Y)
    score.fit_collected(X, *collected)
    assert not hasattr(score, "estimator_")
    values = score.predict_collected(X, *collected[:2])
    assert (values.mean(), values.std()) == pytest.approx((0, 1))
    score.fit_collected(X, *collected, estimator=classifier)
    np.testing.assert_array_equal(score.uncertainty(X), values)
    with pytest.raises(ValueError, match="sample_weight is zero for all samples"):
        score.fit_collected(X, *collected, np.zeros(90))


def test_trees_see_so_many_samples_at_most():
    class Counting(Ridge):
        def fit(self, X, y, sample_weight=None):
            self.n_seen_ = len(X)
            return super().fit(X, y, sample_weight)

    for most, expected in ((40, 40), (90, 90), (None, 90)):
        score = SELEBoosting(
            Counting(), 2, max_samples=most, n_iter_no_change=None, random_state=0
        )
        score.fit(X, Y, estimator=LogisticRegression().fit(X, Y))
        assert [tree.n_seen_ for tree in score.estimators_] == [expected] * 2


def test_scores_that_are_frozen():
    classifier = LogisticRegression().fit(X, Y)
    frozen = FrozenEstimator(ConditionalRisk().fit(estimator=classifier))
    assert isinstance(resolve_score(frozen, classifier), FrozenEstimator)
    with pytest.raises(ValueError, match="not fitted"):
        resolve_score(FrozenEstimator(Entropy()), classifier)
