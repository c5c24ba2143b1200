"""Probabilities of the positive class, of classes in an order, and of labels."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import StackingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.multioutput import MultiOutputClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC

from sklearn_reject._response._positive import (
    check_known,
    check_multilabel,
    find_method,
    find_target_type,
    item_probabilities,
    positive_score,
)

X, Y = load_breast_cancer(return_X_y=True)
X, Y = X[:120, :5], Y[:120]


class Given(BaseEstimator):
    """Returns the probabilities that it is given."""

    def __init__(self, proba, classes_=(0, 1, 2)):
        self.proba = proba
        self.classes_ = classes_

    def predict_proba(self, X):
        return self.proba


@pytest.mark.parametrize("positive", [0, 1])
def test_scores_of_the_positive_class(positive):
    classes = np.array([1 - positive, positive])
    naive, svm = GaussianNB().fit(X, Y), LinearSVC().fit(X, Y)
    sign = 1 if positive else -1
    np.testing.assert_array_equal(
        positive_score(naive, X, classes, name="it"),
        naive.predict_proba(X)[:, positive],
    )
    np.testing.assert_array_equal(
        positive_score(svm, X, classes, name="it"), sign * svm.decision_function(X)
    )
    linear = LogisticRegression(max_iter=5000).fit(X, Y)
    options = {"response_method": "decision_function", "name": "it"}
    np.testing.assert_array_equal(
        positive_score(linear, X, classes, **options),
        sign * linear.decision_function(X),
    )


def test_scores_that_there_are_not():
    naive = GaussianNB().fit(X, Y)
    assert find_method(naive, "auto", "it") == "predict_proba"
    with pytest.raises(ValueError, match=r"it has no scores.*\['decision_function'\]"):
        find_method(naive, "decision_function", "it")
    with pytest.raises(ValueError, match=r"it has the classes \[0, 1\].*have \[0, 2\]"):
        positive_score(naive, X, np.array([0, 2]), name="it")
    given = Given(np.full((2, 2), np.nan), np.array([0, 1]))
    with pytest.raises(ValueError, match="predict_proba of it contains NaN"):
        positive_score(given, X, np.array([0, 1]), name="it")


def test_target_types():
    types = [find_target_type(c) for c in (None, np.arange(2), np.arange(3))]
    assert types == ["multilabel", "binary", "multiclass"]
    flags = check_multilabel(np.array([[0.0, 1.0], [1.0, 1.0]]))
    assert flags.dtype == np.int64
    with pytest.raises(ValueError, match="a matrix of type 'multiclass-multioutput'"):
        check_multilabel(np.array([[0, 2], [1, 1]]))


def test_known_classes():
    classes = np.array([0, 1])
    assert check_known(np.array([1, 1]), classes) is classes
    with pytest.raises(ValueError, match="y holds the label 2, which is not one"):
        check_known(np.array([1, 2]), classes)
    with pytest.raises(ValueError, match="vector with one label per sample"):
        check_known(np.array([1, 2]), np.array([[0, 1], [0, 1]]))


def test_probabilities_in_the_order_of_the_classes():
    proba = np.array([[0.5, 0.3, 0.2], [0.1, 0.1, 0.8]])
    given = Given(proba)
    np.testing.assert_array_equal(item_probabilities(given, X, np.arange(3)), proba)
    wider = item_probabilities(given, X, np.array([2, 5, 0, 1]))
    np.testing.assert_array_equal(wider[:, [2, 3, 0]], proba)
    np.testing.assert_array_equal(wider[:, 1], 0)
    for wrong, message in (
        (Given(proba / 2), r"must add up to one .* got 0.5 in row 0"),
        (Given(proba, (0, 1)), "has 3 columns for its 2 classes"),
        (LinearSVC(), "must be a classifier with `predict_proba`"),
    ):
        with pytest.raises(ValueError, match=message):
            item_probabilities(wrong, X, np.arange(2))


def test_probabilities_of_labels():
    labels = np.column_stack([Y, 1 - Y, np.ones_like(Y)])
    several = MultiOutputClassifier(GaussianNB()).fit(X, labels)
    first = several.predict_proba(X)[0][:, 1]
    expected = np.column_stack([first, 1 - first, np.ones(len(X))])
    np.testing.assert_allclose(item_probabilities(several, X), expected)
    eta = sparse.csr_matrix([[0.0, 0.5]])
    assert sparse.issparse(item_probabilities(Given(eta), X))
    without = Given([np.array([[0.4, 0.6]]), np.array([[1.0, 0.0]])], None)
    np.testing.assert_array_equal(item_probabilities(without, X), [[0.6, 0.0]])
    for classes in (["a", "b"], [0, 1, 2]):
        strange = Given([np.array([[0.4, 0.6]])], [np.array(classes)])
        with pytest.raises(ValueError, match=r"shape \(1, 2\) for label 0 and classes"):
            item_probabilities(strange, X)
    stack = StackingClassifier([("nb", GaussianNB())], cv=2).fit(X, Y)
    with pytest.raises(ValueError, match="StackingClassifier cannot be used"):
        item_probabilities(stack, X)
