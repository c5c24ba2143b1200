import numpy as np
import pytest
from scipy import sparse
from scipy.special import softmax
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression, Perceptron, RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier
from sklearn.svm import SVC, LinearSVC

from sklearn_reject._response._network import (
    find_activations,
    find_head,
    pull_back,
    symmetrize,
)

# Networks need not be good here.
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

ACTIVATIONS = ["identity", "logistic", "tanh", "relu"]


def make_data(n_classes):
    X, y = load_digits(return_X_y=True)
    rows = np.flatnonzero(y < n_classes)[:150]
    return X[rows] / 16, y[rows]


def fit_network(activation, n_classes=3, hidden=(7, 5)):
    X, y = make_data(n_classes)
    network = MLPClassifier(hidden, activation=activation, max_iter=20, random_state=0)
    return network.fit(X, y), X


def logits_of(model, X):
    return find_head(model)(find_activations(model, X)[-1])


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    "hidden", [(), pytest.param((6,), marks=pytest.mark.slow), (7, 5)]
)
def test_logits_give_the_probabilities(activation, n_classes, hidden):
    network, X = fit_network(activation, n_classes, hidden)
    logits = logits_of(network, X)
    assert logits.shape == (len(X), n_classes)
    np.testing.assert_allclose(
        softmax(logits, axis=1), network.predict_proba(X), atol=1e-12
    )
    np.testing.assert_allclose(
        logits_of(network, sparse.csr_matrix(X)), logits, atol=1e-12
    )


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    "classifier",
    [
        LogisticRegression(),
        LinearSVC(),
        Perceptron(),
        RidgeClassifier(),
        RidgeClassifier(fit_intercept=False),
    ],
    ids=repr,
)
def test_heads_of_linear_classifiers(classifier, n_classes):
    X, y = make_data(n_classes)
    values = classifier.fit(X, y).decision_function(X)
    if n_classes == 2:
        values = np.stack([-values / 2, values / 2], axis=1)
    np.testing.assert_allclose(logits_of(classifier, X), values, atol=1e-12)


def test_a_sparsified_classifier_has_the_same_head():
    X, y = make_data(3)
    classifier = LogisticRegression().fit(X, y)
    weights = find_head(classifier).weights
    np.testing.assert_array_equal(find_head(classifier.sparsify()).weights, weights)


def test_the_softmax_of_a_symmetric_pair_is_the_logistic_function():
    values = np.linspace(-5, 5, 11)
    pairs = symmetrize(values)
    np.testing.assert_allclose(pairs.sum(axis=1), 0)
    np.testing.assert_allclose(softmax(pairs, axis=1)[:, 1], 1 / (1 + np.exp(-values)))


class Contrary(LogisticRegression):
    """Inherits coefficients and decides otherwise."""

    def decision_function(self, X):
        return -super().decision_function(X)


def test_others_have_no_head():
    X, y = make_data(3)
    # A linear SVC has one row of coefficients a pair: three, like the classes.
    for model in (GaussianNB(), SVC(kernel="linear"), Contrary()):
        assert find_head(model.fit(X, y)) is None


def test_several_labels_are_refused():
    X, y = make_data(3)
    network = MLPClassifier((3,), max_iter=5).fit(X, np.stack([y > 0, y > 1], axis=1))
    with pytest.raises(ValueError, match="fitted on 2 labels per sample"):
        find_head(network)


def central_differences(function, X, step=1e-6):
    gradient = np.empty_like(X)
    for column in range(X.shape[1]):
        shift = np.zeros(X.shape[1])
        shift[column] = step
        difference = function(X + shift) - function(X - shift)
        gradient[:, column] = difference / (2 * step)
    return gradient


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_gradients_against_differences(activation, n_classes):
    network, X = fit_network(activation, n_classes)
    rng = np.random.default_rng(0)
    # Shifted off the pixels, no unit sits exactly on the kink of the rectifier.
    X = X[:20] + rng.normal(0, 0.1, X[:20].shape)
    directions = rng.normal(size=(20, n_classes))
    expected = central_differences(
        lambda X: (directions * logits_of(network, X)).sum(axis=1), X
    )
    np.testing.assert_allclose(pull_back(network, X, directions), expected, atol=1e-7)


def test_gradient_of_a_linear_classifier():
    X, y = make_data(3)
    classifier = LogisticRegression().fit(X, y)
    directions = np.eye(3)
    np.testing.assert_allclose(
        pull_back(classifier, X[:3], directions), classifier.coef_
    )
