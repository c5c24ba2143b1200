"""MSP, MaxLogit, Energy, ODIN and ReAct against their definitions."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_reject._response._response import Response
from sklearn_reject.scores import MSP, ODIN, Energy, MaxLogit, ReAct
from sklearn_reject.scores.novelty._logits import (
    _find_percentile,
    free_energy,
    uphill_directions,
)

# Networks need not be good here.
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

# Of two classes they are the conditional risk in other units, see test_two_classes.py.
IS_LITTLE_USE = pytest.mark.filterwarnings(
    "ignore:.* for two classes:sklearn_reject.exceptions.RejectionWarning"
)

ACTIVATIONS = ["identity", "logistic", "tanh", "relu"]


def make_data(n_classes=3):
    X, y = load_digits(return_X_y=True)
    rows = np.flatnonzero(y < n_classes)[:150]
    return X[rows] / 16, y[rows]


def fit_network(activation="relu", n_classes=3):
    X, y = make_data(n_classes)
    network = MLPClassifier((9,), activation=activation, max_iter=30, random_state=0)
    return network.fit(X, y), X


def fit_linear(n_classes=3):
    X, y = make_data(n_classes)
    return LogisticRegression().fit(X, y), X


def softmax_by_hand(logits, temperature=1.0):
    powers = [np.exp(np.array(z, dtype=np.longdouble) / temperature) for z in logits]
    return np.array([p / p.sum() for p in powers])


def logits_by_hand(network, X):
    activate = {
        "identity": lambda a: a,
        "logistic": lambda a: 1 / (1 + np.exp(-a)),
        "tanh": np.tanh,
        "relu": lambda a: a * (a > 0),
    }[network.activation]
    hidden = activate(X @ network.coefs_[0] + network.intercepts_[0])
    outputs = hidden @ network.coefs_[1] + network.intercepts_[1]
    return np.hstack([-outputs / 2, outputs / 2]) if outputs.shape[1] == 1 else outputs


@IS_LITTLE_USE
@pytest.mark.parametrize("n_classes", [2, 3])
def test_definitions_on_logits(n_classes):
    network, X = fit_network(n_classes=n_classes)
    logits = logits_by_hand(network, X)
    expected = {
        MSP(): 1 - softmax_by_hand(logits).max(axis=1),
        MaxLogit(): [-max(z) for z in logits],
        Energy(): [-np.log(sum(np.exp(z))) for z in logits],
        Energy(temperature=3.0): [-3 * np.log(sum(np.exp(z / 3))) for z in logits],
    }
    for score, values in expected.items():
        score.fit(estimator=network)
        np.testing.assert_allclose(
            score.novelty(X), np.asarray(values, float), atol=1e-10
        )


def test_logits_of_a_function():
    logits = np.array([[1.0, 2.0, 0.5], [3.0, -1.0, 3.0]])
    classifier = GaussianNB().fit(np.eye(3), [0, 1, 2])

    def function(estimator, X):
        assert estimator is classifier
        return logits[X[:, 0].astype(int)]

    X = np.array([[0.0], [1.0]])
    expected = {
        MSP: 1 - softmax_by_hand(logits).max(axis=1).astype(float),
        MaxLogit: [-2.0, -3.0],
        Energy: -np.log(np.exp(logits).sum(axis=1)),
    }
    for score, values in expected.items():
        fitted = score(logits=function).fit(estimator=classifier)
        np.testing.assert_allclose(fitted.novelty(X), values, atol=1e-14)


def test_confident_predictions_do_not_tie_at_zero():
    X, y = load_breast_cancer(return_X_y=True)
    classifier, X = GaussianNB().fit(X[:300], y[:300]), X[300:360]
    assert (1 - classifier.predict_proba(X).max(axis=1) == 0).sum() > 10
    assert (MSP().fit(estimator=classifier).novelty(X) > 0).all()


def test_energy_tends_to_max_logit_and_does_not_overflow():
    logits = np.array([[1e3, -1e3], [-900.0, -901.0]])
    np.testing.assert_allclose(free_energy(logits), [-1e3, 900 - np.log1p(np.exp(-1))])
    np.testing.assert_array_equal(free_energy(logits, 1e-300), [-1e3, 900.0])


def test_classifiers_without_logits():
    X, y = make_data()
    classifier = GaussianNB().fit(X, y)
    for score in (MaxLogit(), Energy()):
        with pytest.raises(ValueError, match=r"GaussianNB has no logits.*'msp'"):
            score.fit(estimator=classifier).novelty(X)


@pytest.mark.parametrize("bad", [0, -1.0, np.inf, "1"])
@pytest.mark.parametrize("score", [Energy, ODIN])
def test_bad_temperatures(score, bad):
    classifier, _ = fit_linear()
    with pytest.raises(ValueError, match="temperature must be"):
        score(temperature=bad).fit(estimator=classifier)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        ("logits", "logits must be a callable"),
        (lambda e, X: np.zeros(len(X)), r"logits returned an array of shape \(150,\)"),
        (lambda e, X: np.zeros((len(X), 2)), "a column for each of the 3 classes"),
        (lambda e, X: np.zeros((7, 3)), "one row for each of the 150 samples"),
        (lambda e, X: np.full((len(X), 3), np.nan), "logits returned .* not finite"),
        (lambda e, X: sparse.eye(len(X), 3), "logits returned a sparse matrix"),
    ],
)
@pytest.mark.parametrize("score", [MSP, MaxLogit, Energy])
def test_functions_are_checked(score, function, message):
    classifier, X = fit_linear()
    with pytest.raises(ValueError, match=message):
        score(logits=function).fit(estimator=classifier).novelty(X)


def gradient_by_differences(logits_of, X, temperature, step=1e-6):
    def loss(X):
        return -np.log(softmax_by_hand(logits_of(X), temperature).max(axis=1))

    gradient = np.empty(X.shape)
    for column in range(X.shape[1]):
        shift = step * (np.arange(X.shape[1]) == column)
        gradient[:, column] = (loss(X + shift) - loss(X - shift)) / (2 * step)
    return gradient


@IS_LITTLE_USE
@pytest.mark.parametrize("n_classes", [pytest.param(2, marks=pytest.mark.slow), 3])
@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("temperature", [1.0, 1000.0])
def test_odin_by_differences(activation, n_classes, temperature):
    network, X = fit_network(activation, n_classes)
    X = X[:20] + np.random.default_rng(0).normal(0, 0.1, X[:20].shape)

    def logits_of(X):
        return logits_by_hand(network, X)

    gradient = gradient_by_differences(logits_of, X, temperature)
    moved = X - 0.01 * np.sign(gradient)
    expected = 1 - softmax_by_hand(logits_of(moved), temperature).max(axis=1)
    score = ODIN(temperature, epsilon=0.01).fit(estimator=network)
    novelty = score.novelty(X)
    np.testing.assert_allclose(novelty, expected.astype(float), rtol=1e-9)
    still = ODIN(temperature, epsilon=0.0).fit(estimator=network).novelty(X)
    assert (novelty < still).all(), "inputs are moved to be predicted more surely"


def test_directions_are_the_gradient_of_the_loss():
    logits = np.random.default_rng(0).normal(size=(10, 4))
    gradient = gradient_by_differences(lambda z: z, logits, 1.0)
    miss = 1 - softmax_by_hand(logits).max(axis=1, keepdims=True).astype(float)
    np.testing.assert_allclose(uphill_directions(logits) * miss, gradient, atol=1e-7)


def test_directions_of_sure_predictions_do_not_vanish():
    np.testing.assert_array_equal(
        uphill_directions(np.array([[0.0, -1e5, -2e5]])), [[-1.0, 1.0, 0.0]]
    )
    np.testing.assert_array_equal(uphill_directions(np.array([[3.0]])), [[0.0]])


def test_odin_resolves_logits_at_a_high_temperature():
    classifier, X = fit_linear()
    novelty = ODIN(epsilon=0.0).fit(estimator=classifier).novelty(X)
    values = classifier.decision_function(X)
    # To first order in 1 / T, the novelty is linear in largest less mean logit.
    lead = values.max(axis=1) - values.mean(axis=1)
    np.testing.assert_allclose(2 / 3 - novelty, lead / 3000, rtol=0.02)
    assert len(np.unique(novelty)) == len(X)


def test_odin_within_a_pipeline_moves_what_reaches_the_classifier():
    X, y = make_data()
    scaler = StandardScaler().fit(X)
    pipeline = make_pipeline(scaler, LogisticRegression()).fit(X, y)
    inner = ODIN(epsilon=0.1).fit(estimator=pipeline[-1])
    np.testing.assert_allclose(
        ODIN(epsilon=0.1).fit(estimator=pipeline).novelty(X),
        inner.novelty(scaler.transform(X)),
    )


def test_odin_with_a_users_gradient():
    network, X = fit_network()

    def gradient(estimator, X, temperature):
        assert estimator is network
        assert temperature == 10.0
        return gradient_by_differences(lambda X: logits_by_hand(network, X), X, 10.0)

    closed = ODIN(10.0, 0.01).fit(estimator=network).novelty(X)
    by_hand = ODIN(10.0, 0.01, gradient, lambda e, X: logits_by_hand(e, X))
    for score in (ODIN(10.0, 0.01, input_gradient=gradient), by_hand):
        # Where a pixel has no influence, differences are zero or rounding noise.
        novelty = score.fit(estimator=network).novelty(X)
        np.testing.assert_allclose(novelty, closed, rtol=1e-9)


def test_samples_that_are_no_matrix():
    images = np.random.default_rng(0).normal(size=(4, 2, 3, 3)).astype(np.float32)

    def logits(estimator, X):
        assert X.dtype == np.float32
        flat = X.reshape(len(X), -1).astype(float)
        return np.stack([flat.sum(axis=1), np.zeros(len(X))], axis=1)

    def gradient(estimator, X, temperature):
        sums = X.reshape(len(X), -1).sum(axis=1)
        return np.ones_like(X) * -np.sign(sums)[:, None, None, None]

    classifier = GaussianNB().fit(np.eye(2), [0, 1])
    score = ODIN(1.0, 0.5, gradient, logits).fit(estimator=classifier)
    distance = abs(images.sum(axis=(1, 2, 3))) + 18 * 0.5
    np.testing.assert_allclose(
        score.novelty(images), 1 / (1 + np.exp(distance)), rtol=1e-5
    )


@pytest.mark.parametrize(
    ("gradient", "message"),
    [
        ("ones", "input_gradient must be a callable"),
        (lambda e, X, T: np.ones(3), r"shape \(3,\), expected the shape of X, \(150,"),
        (lambda e, X, T: np.full(X.shape, np.nan), "input_gradient returned .* finite"),
    ],
)
def test_gradients_are_checked(gradient, message):
    classifier, X = fit_linear()
    with pytest.raises(ValueError, match=message):
        ODIN(input_gradient=gradient).fit(estimator=classifier).novelty(X)


def test_odin_without_a_gradient():
    X, y = make_data()
    with pytest.raises(ValueError, match=r"unknown for GaussianNB.*`input_gradient`"):
        ODIN().fit(estimator=GaussianNB().fit(X, y))
    classifier, X = fit_linear()
    with pytest.raises(ValueError, match="logits is a function, so its gradient"):
        ODIN(logits=lambda e, X: X).fit(estimator=classifier)
    with pytest.raises(ValueError, match=r"sparse matrix, but ODIN changes"):
        ODIN().fit(estimator=classifier).novelty(sparse.csr_matrix(X))
    with pytest.raises(ValueError, match="epsilon must be in"):
        ODIN(epsilon=-0.1).fit(estimator=classifier)


@pytest.mark.parametrize("percentile", [0, 37.5, 90, 100])
def test_react_by_hand(percentile):
    network, X = fit_network()
    hidden = np.maximum(X @ network.coefs_[0] + network.intercepts_[0], 0)
    ordered = sorted(hidden.ravel())
    rank = next(
        i for i in range(len(ordered)) if (i + 1) / len(ordered) >= percentile / 100
    )
    clipped = np.minimum(hidden, ordered[rank])
    logits = clipped @ network.coefs_[1] + network.intercepts_[1]
    score = ReAct(percentile).fit(X, estimator=network)
    assert score.threshold_ == pytest.approx(ordered[rank], abs=1e-12)
    np.testing.assert_allclose(score.novelty(X), free_energy(logits), atol=1e-10)


def test_react_at_the_last_percentile_is_the_energy():
    classifier, X = fit_linear()
    np.testing.assert_allclose(
        ReAct(100).fit(X, estimator=classifier).novelty(X),
        Energy().fit(estimator=classifier).novelty(X),
    )


def test_percentile_by_weight_is_that_of_repeated_samples():
    rng = np.random.default_rng(0)
    features, counts = rng.integers(0, 9, (12, 3)).astype(float), rng.integers(1, 4, 12)
    repeated = np.repeat(features, counts, axis=0)
    for percentile in (0, 5, 33, 50, 90, 100):
        weighted = _find_percentile(features, percentile, counts / 7)
        assert weighted == _find_percentile(repeated, percentile, None)
        assert weighted == np.percentile(repeated, percentile, method="inverted_cdf")


def test_react_with_a_users_network():
    network, X = fit_network()

    def features(estimator, X):
        return np.maximum(X @ estimator.coefs_[0] + estimator.intercepts_[0], 0)

    def head(estimator, features):
        return features @ estimator.coefs_[1] + estimator.intercepts_[1]

    expected = ReAct().fit(X, estimator=network).novelty(X)
    for options in ({"head": head}, {"head": head, "features": features}):
        score = ReAct(**options).fit(X, estimator=network)
        np.testing.assert_allclose(score.novelty(X), expected, atol=1e-12)


def test_react_without_a_last_layer():
    X, y = make_data()
    with pytest.raises(ValueError, match=r"which GaussianNB does not have.*`head`"):
        ReAct().fit(X, y, estimator=GaussianNB().fit(X, y))
    network, X = fit_network()
    with pytest.raises(ValueError, match="features is a function, so the"):
        ReAct(features=lambda e, X: X).fit(X, estimator=network)
    with pytest.raises(ValueError, match=r"head returned .* each of the 3 classes"):
        ReAct(head=lambda e, f: f).fit(X, estimator=network).novelty(X)
    with pytest.raises(ValueError, match=r"percentile must be in \[0, 100\]"):
        ReAct(101).fit(X, estimator=network)


def test_a_response_is_shared():
    network, X = fit_network()
    response = Response(network, X)
    for score in (MSP(), MaxLogit(), Energy(), ODIN(), ReAct()):
        score.fit(X, estimator=network)
        np.testing.assert_array_equal(score.from_response(response), score.novelty(X))
