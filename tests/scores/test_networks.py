"""Scores of logits, probabilities and last layers, by their authors' definitions."""

import warnings

import numpy as np
import pytest
from joblib import parallel_backend
from scipy import sparse
from scipy.special import entr, logsumexp, softmax
from scipy.stats import spearmanr
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_digits
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, Perceptron, RidgeClassifier
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    TunedThresholdClassifierCV,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KernelDensity
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVC, LinearSVC

from sklearn_reject import DoubleScoreOODClassifier
from sklearn_reject.exceptions import RejectionWarning
from sklearn_reject.scores import (
    GEN,
    KNN,
    MSP,
    ODIN,
    SIRC,
    Energy,
    Mahalanobis,
    MaxLogit,
    OutlierDetector,
    ReAct,
    ViM,
)

# Networks need not be good here, and of two classes some scores are of little use.
pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore:.* for two classes is a function"),
]

ACTIVATIONS = {
    "identity": lambda a: a,
    "logistic": lambda a: 1 / (1 + np.exp(-a)),
    "tanh": np.tanh,
    "relu": lambda a: a * (a > 0),
}
_X, _Y = load_digits(return_X_y=True)


def make_data(n_classes=3):
    rows = np.flatnonzero(n_classes > _Y)[:150]
    # Off the pixels, no unit sits exactly on the kink of a rectifier.
    noise = np.random.default_rng(0).normal(0, 0.05, (150, 64))
    return _X[rows] / 16 + noise, _Y[rows]


X, Y = make_data()
BINARY = np.where(Y > 0, "other", "zero")
NEW = _X[_Y > 6][:60] / 16


def network(activation="relu", hidden=(9,), max_iter=30):
    return MLPClassifier(
        hidden, activation=activation, max_iter=max_iter, random_state=0
    )


class ByHand:
    """Last hidden layer, logits and probabilities of a network or linear classifier."""

    def __init__(self, model, X):
        self.features = np.asarray(X)
        if isinstance(model, MLPClassifier):
            activate = ACTIVATIONS[model.activation]
            layers = zip(model.coefs_[:-1], model.intercepts_[:-1], strict=True)
            for weights, intercepts in layers:
                self.features = activate(self.features @ weights + intercepts)
            self.weights, self.intercepts = model.coefs_[-1], model.intercepts_[-1]
        else:
            self.weights = np.atleast_2d(model.coef_).T
            self.intercepts = np.broadcast_to(model.intercept_, self.weights.shape[1])
        if self.weights.shape[1] == 1:
            self.weights = np.hstack([-self.weights / 2, self.weights / 2])
            self.intercepts = np.hstack([-self.intercepts / 2, self.intercepts / 2])

    @property
    def logits(self):
        return self.features @ self.weights + self.intercepts

    @property
    def probabilities(self):
        return softmax(self.logits, axis=1)


def energy(logits, temperature=1.0):
    return -temperature * logsumexp(logits / temperature, axis=1)


def gen(probabilities, gamma, n_largest):
    largest = np.sort(probabilities.astype(np.longdouble), axis=1)[:, -n_largest:]
    return (largest**gamma * (1 - largest) ** gamma).sum(axis=1).astype(float)


def react(known, new, percentile):
    ordered = np.sort(known.features.ravel())
    rank = max(int(np.ceil(percentile / 100 * len(ordered) - 1e-9)) - 1, 0)
    clipped = np.minimum(new.features, ordered[rank])
    return energy(clipped @ new.weights + new.intercepts)


def residual(known, new, n_components, origin=None):
    """Return the distance to the span of the leading right singular vectors."""
    if origin is None:  # the least-norm point where the logits are as small as can be
        origin = np.linalg.lstsq(known.weights.T, -known.intercepts, rcond=1e-8)[0]
    leading = np.linalg.svd(known.features - origin)[2][:n_components]
    centered = new.features - origin
    return np.linalg.norm(centered - centered @ leading.T @ leading, axis=1)


def vim(known, new, *space):
    scale = known.logits.max(axis=1).mean() / residual(known, known, *space).mean()
    return scale * residual(known, new, *space) + energy(new.logits)


def sirc(known, new, confidence, feature_score):
    probabilities = new.probabilities
    doubt = 1 - probabilities.max(axis=1)
    if confidence == "entropy":
        doubt = entr(probabilities).sum(axis=1)
    usual, score = (abs(each.features).sum(axis=1) for each in (known, new))
    if feature_score == "residual":
        usual, score = (-residual(known, each, 4) for each in (known, new))
    a, b = usual.mean() - 3 * usual.std(), 1 / usual.std()
    return np.log1p(doubt * (1 + np.exp(-b * (score - a))))


DEFINITIONS = [
    (MSP(), lambda known, new: 1 - new.probabilities.max(axis=1)),
    (MaxLogit(), lambda known, new: -new.logits.max(axis=1)),
    (Energy(), lambda known, new: energy(new.logits)),
    (Energy(3.0), lambda known, new: energy(new.logits, 3.0)),
    *(
        (GEN(*given), lambda known, new, g=given: gen(new.probabilities, *g))
        for given in ((0.1, 100), (0.5, 2), (1, 100))
    ),
    *(
        (ReAct(q), lambda known, new, q=q: react(known, new, q))
        for q in (0, 37.5, 90, 100)
    ),
    *((ViM(n), lambda known, new, n=n: vim(known, new, n or 4)) for n in (None, 1, 8)),
    *(
        (SIRC(*given), lambda known, new, g=given: sirc(known, new, *g))
        for given in (
            *(("msp", "l1_norm"), ("entropy", "l1_norm")),
            *(("msp", "residual"), ("entropy", "residual")),
        )
    ),
]


@pytest.mark.parametrize(
    ("score", "define"), [pytest.param(*item, id=repr(item[0])) for item in DEFINITIONS]
)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_definitions(score, define, n_classes):
    X, y = make_data(n_classes)
    model = network("tanh", max_iter=60).fit(X[:100], y[:100])
    known, new = ByHand(model, X[:100]), ByHand(model, X[100:])
    found = score.fit(X[:100], estimator=model).novelty(X[100:])
    np.testing.assert_allclose(found, define(known, new), atol=1e-8)


@pytest.mark.parametrize(
    "model",
    [
        *(network(activation) for activation in ACTIVATIONS),
        network("tanh", ()),
        network("tanh", (7, 5)),
        LogisticRegression(),
        LinearSVC(),
        Perceptron(),
        RidgeClassifier(),
        RidgeClassifier(fit_intercept=False),
    ],
    ids=repr,
)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_last_layers_and_gradients(model, n_classes):
    X, y = make_data(n_classes)
    model.fit(X, y)
    new = ByHand(model, X)
    for convert in (np.asarray, sparse.csr_matrix):
        found = Energy().fit(estimator=model).novelty(convert(X))
        np.testing.assert_allclose(found, energy(new.logits), atol=1e-10)
    found = ReAct(100).fit(X, estimator=model).novelty(X)
    np.testing.assert_allclose(found, energy(new.logits), atol=1e-10)
    for temperature in (30.0, 1000.0):  # sure predictions have no slope else
        rows = X[:20]
        moved = rows - 0.01 * np.sign(gradient_by_differences(model, rows, temperature))
        logits = ByHand(model, moved).logits.astype(np.longdouble) / temperature
        powers = np.exp(logits - logits.max(axis=1, keepdims=True))
        expected = 1 - 1 / powers.sum(axis=1)
        score = ODIN(temperature, epsilon=0.01).fit(estimator=model)
        found = score.novelty(rows)
        np.testing.assert_allclose(found, expected.astype(float), rtol=1e-6)
        still = ODIN(temperature, epsilon=0.0).fit(estimator=model).novelty(rows)
        assert (found < still).all(), "inputs are moved to be predicted more surely"


def gradient_by_differences(model, X, temperature, step=1e-6):
    """Return the gradient of minus the logarithm of the largest probability."""

    def loss(X):
        logits = ByHand(model, X).logits / temperature
        return logsumexp(logits, axis=1) - logits.max(axis=1)

    gradient = np.empty(X.shape)
    for column in range(X.shape[1]):
        shift = step * (np.arange(X.shape[1]) == column)
        gradient[:, column] = (loss(X + shift) - loss(X - shift)) / (2 * step)
    return gradient


class Contrary(LogisticRegression):
    """Inherits coefficients and decides otherwise."""

    def decision_function(self, X):
        return -super().decision_function(X)


def test_others_have_no_last_layer():
    # A linear SVC has one row of coefficients a pair: three, like the classes.
    for model in (GaussianNB(), SVC(kernel="linear"), Contrary()):
        with pytest.raises(ValueError, match="ReAct needs the last layer"):
            ReAct().fit(X, estimator=model.fit(X, Y))
    several = network(max_iter=5).fit(X, np.stack([Y > 0, Y > 1], axis=1))
    with pytest.raises(ValueError, match="has labels side by side"):
        Energy().fit(X, estimator=several).novelty(X)


# Functions of users, and ends of the range


def test_networks_of_users():
    """Given as functions, a network of scikit-learn has the same scores."""
    model = network("tanh").fit(X, Y)
    hand = {
        "features": lambda e, X: ByHand(e, X).features,
        "logits": lambda e, X: ByHand(e, X).logits,
        "head": lambda e, f: f @ e.coefs_[-1] + e.intercepts_[-1],
        "input_gradient": gradient_by_differences,
    }
    for score, names in (
        *((kind(), ["logits"]) for kind in (MSP, MaxLogit, Energy, GEN)),
        (ReAct(), ["head"]),
        (ReAct(), ["head", "features"]),
        (ODIN(10.0, 0.01), ["input_gradient"]),
        (ODIN(10.0, 0.01), ["input_gradient", "logits"]),
        (SIRC(), ["features", "logits"]),
    ):
        plain = clone(score).fit(X, estimator=model).novelty(X)
        given = clone(score).set_params(**{name: hand[name] for name in names})
        found = given.fit(X, estimator=model).novelty(X)
        np.testing.assert_allclose(found, plain, rtol=1e-8, atol=1e-12)
    # Without a known last layer, the mean is the origin.
    score = ViM(5, hand["features"], hand["logits"]).fit(X, estimator=model)
    known = ByHand(model, X)
    expected = vim(known, known, 5, known.features.mean(axis=0))
    np.testing.assert_allclose(score.novelty(X), expected)


@pytest.mark.parametrize(
    ("n_features", "n_components"),
    [
        *((2, 1), (767, 383), (768, 512)),
        pytest.param(2048, 1000, marks=pytest.mark.slow),
    ],
)
def test_default_number_of_components(n_features, n_components):
    wide = np.random.default_rng(0).normal(size=(n_components + 5, n_features))
    score = ViM(features=lambda e, X: wide, logits=lambda e, X: np.ones((len(X), 3)))
    score.fit(np.zeros((len(wide), 64)), estimator=LogisticRegression().fit(X, Y))
    assert score.space_.basis.shape == (n_features, n_features - n_components)


def novelty_of_logits(score, logits):
    """Return what a score makes of logits, whatever the samples."""
    logits = np.asarray(logits, dtype=float)
    inner = GaussianNB().fit(
        np.arange(logits.shape[1])[:, None], np.arange(logits.shape[1])
    )
    score.set_params(logits=lambda e, X: logits).fit(estimator=inner)
    return score.novelty(np.zeros((len(logits), 1)))


def test_extremes_of_logits():
    far = [[1e3, -1e3, -2e3], [-900.0, -901.0, -2e3]]
    found = novelty_of_logits(Energy(), far)
    np.testing.assert_allclose(found, [-1e3, 900 - np.log1p(np.exp(-1))])
    # It tends to the largest logit, and what is small beside one is not lost.
    found = novelty_of_logits(Energy(1e-300), far)
    np.testing.assert_array_equal(found, [-1e3, 900.0])
    found = novelty_of_logits(Energy(), [[0, -50, -60]])
    np.testing.assert_allclose(found, -np.log1p(np.exp(-50) + np.exp(-60)), rtol=1e-15)
    steps = np.array([[0.0, -d, -d] for d in (10, 40, 100, 500, 5000)])
    with np.errstate(under="ignore"):
        tail = np.exp(steps[:, 1])
    np.testing.assert_allclose(novelty_of_logits(MSP(), steps), 2 * tail, rtol=1e-4)
    # To first order: two small probabilities, and their sum as the miss.
    expected = 2 * tail**0.1 + (2 * tail) ** 0.1
    found = novelty_of_logits(GEN(), steps)
    np.testing.assert_allclose(found, expected, rtol=1e-4)
    assert (np.diff(found) < 0).all()


def test_sirc_far_away():
    model = LogisticRegression().fit(X, Y)
    sure = {"logits": lambda e, X: np.tile([1.0, 0, 0], (len(X), 1))}
    score = SIRC(features=lambda e, X: X, **sure).fit(1000 + X, estimator=model)
    shifts = np.array([900.0, 500.0, 100.0, 0.0])
    novelty = score.novelty(shifts[:, np.newaxis] + np.zeros((4, 64)))
    assert (np.diff(novelty) > 100).all()
    assert np.isfinite(novelty).all()
    certain = SIRC(logits=lambda e, X: np.tile([0.0, -1e5, -1e5], (len(X), 1)))
    np.testing.assert_array_equal(certain.fit(X, estimator=model).novelty(X), 0)


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
    expected = 1 / (1 + np.exp(distance))
    np.testing.assert_allclose(score.novelty(images), expected, rtol=1e-5)


# Inside searches, calibration and tuned thresholds


def search(estimator):
    return GridSearchCV(estimator, {}, cv=2)


def calibrate(estimator, **options):
    return CalibratedClassifierCV(estimator, cv=2, **options)


def scaled(estimator):
    return make_pipeline(MinMaxScaler(), estimator)


# Each with the pipeline that predicts, once it is fitted.
AROUND = {
    "frozen, calibrated": (
        lambda e: calibrate(FrozenEstimator(e.fit(X, BINARY)), ensemble=True),
        lambda m: m.calibrated_classifiers_[0].estimator.estimator,
    ),
    "tuned threshold": (
        lambda e: TunedThresholdClassifierCV(e, cv=2, thresholds=2),
        lambda m: m.estimator_,
    ),
    "nested": (
        lambda e: scaled(
            search(
                FixedThresholdClassifier(
                    make_pipeline(
                        StandardScaler(), "passthrough", calibrate(e, ensemble=False)
                    ),
                    threshold=0.3,
                )
            )
        ),
        lambda m: make_pipeline(
            m[0],
            (inside := m[1].best_estimator_.estimator_)[0],
            inside[-1].calibrated_classifiers_[0].estimator,
        ),
    ),
}


@pytest.mark.parametrize("is_frozen", [False, True])
@pytest.mark.parametrize(("make", "find"), AROUND.values(), ids=AROUND)
def test_what_is_around_a_network_is_looked_through(make, find, is_frozen):
    model = make(network()).fit(X, BINARY)
    inside, reached = find(model), NEW
    if not isinstance(inside, MLPClassifier):
        reached, inside = inside[:-1].transform(NEW), inside[-1]
    new = ByHand(inside, reached)
    model = FrozenEstimator(model) if is_frozen else model
    found = Energy().fit(estimator=model).novelty(NEW)
    np.testing.assert_allclose(found, energy(new.logits), atol=1e-10)
    # No feature is above the largest of the samples themselves.
    found = ReAct(100).fit(NEW, estimator=model).novelty(NEW)
    np.testing.assert_allclose(found, energy(new.logits), atol=1e-10)
    found = density_of_features(model, NEW)
    expected = KernelDensity().fit(new.features).score_samples(new.features)
    np.testing.assert_allclose(found, -expected, atol=1e-9)
    # What is moved is what reaches the classifier.
    found = ODIN(epsilon=0.1).fit(estimator=model).novelty(NEW)
    plain = ODIN(epsilon=0.1).fit(estimator=inside).novelty(reached)
    np.testing.assert_allclose(found, plain)


def density_of_features(model, X):
    score = OutlierDetector(KernelDensity()).fit(X, estimator=model)
    return score.novelty(X)


def test_members_of_a_calibration_are_side_by_side():
    model = calibrate(make_pipeline(StandardScaler(), network()), ensemble=True)
    model.fit(X, BINARY)
    pipelines = [fold.estimator for fold in model.calibrated_classifiers_]
    members = [ByHand(p[-1], p[0].transform(X)) for p in pipelines]
    features = np.hstack([member.features for member in members])
    expected = KernelDensity().fit(features).score_samples(features)
    logits = sum(member.logits for member in members) / 2
    for wrapped in (model, FrozenEstimator(model)):
        np.testing.assert_allclose(density_of_features(wrapped, X), -expected)
        found = Energy().fit(estimator=wrapped).novelty(X)
        np.testing.assert_allclose(found, energy(logits))
        # Such a model has no last layer, so that the mean is the origin.
        given = {"features": lambda e, X: features, "logits": lambda e, X: logits}
        plain, by_hand = (
            ViM(5, **options).fit(X, estimator=wrapped).novelty(X)
            for options in ({}, given)
        )
        np.testing.assert_allclose(plain, by_hand)
    # What members share is there once, sparse or not.
    for rows in (X, sparse.csr_matrix(X)):
        plain = calibrate(LogisticRegression()).fit(rows, Y)
        score = OutlierDetector(KernelDensity()).fit(rows, estimator=plain)
        assert score.detector_.n_features_in_ == 64
    for model in (LogisticRegression(), SVC()):
        ensemble = calibrate(model).fit(X, Y)
        values = [
            m.estimator.decision_function(X) for m in ensemble.calibrated_classifiers_
        ]
        found = Energy().fit(estimator=ensemble).novelty(X)
        np.testing.assert_allclose(found, energy(np.mean(values, axis=0)), atol=1e-10)


@pytest.mark.parametrize("score", [ODIN(), ReAct()])
def test_several_members_have_no_last_layer(score):
    name = type(score).__name__
    message = rf"{name} needs the last layer of one .* 2 x MLPC.*ensemble=False.*'knn'"
    model = calibrate(make_pipeline(StandardScaler(), network())).fit(X, Y)
    with pytest.raises(ValueError, match=message):
        score.fit(X, Y, estimator=model)


def test_members_without_some_of_the_classes_have_no_common_logits():
    labels = np.where(np.arange(len(X)) < 75, Y > 0, 2)
    even, odd = np.arange(0, 150, 2), np.arange(1, 150, 2)
    folds = [(even, odd), (even[even < 75], np.append(even[even >= 75], odd))]
    model = CalibratedClassifierCV(LogisticRegression(), cv=folds).fit(X, labels)
    KNN().fit(X, estimator=model)
    message = r"\[0, 1, 2\], LogisticRegression inside Calibrated.* has \[0, 1\].*'msp'"
    with pytest.raises(ValueError, match=message):
        Energy().fit(estimator=model).novelty(X)


# Two classes, whose scores may know nothing but the probability of an error

LITTLE_USE = [GEN(), ODIN(), Energy(), MaxLogit()]
MESSAGE = "for two classes is a function of one.*adds almost nothing.*'knn' or 'maha"


@pytest.mark.parametrize("score", LITTLE_USE, ids=repr)
def test_they_order_samples_as_the_probability_of_an_error_does(score):
    # A weak one, as scikit-learn rounds probabilities close to one.
    linear = LogisticRegression(C=1e-3)
    others = search(linear), calibrate(linear, ensemble=False), network(hidden=(5,))
    for classifier in (*others, linear):
        classifier.fit(X, BINARY)
        message = type(score).__name__ + ".*" + MESSAGE
        with pytest.warns(RejectionWarning, match=message):
            score.fit(X, BINARY, estimator=classifier)
    risk = 1 - linear.predict_proba(NEW).max(axis=1)
    correlation = spearmanr(score.novelty(NEW), risk)[0]
    assert correlation == pytest.approx(1, abs=1e-12)


def test_others_have_nothing_to_say():
    three, two = LogisticRegression().fit(X, Y), LogisticRegression().fit(X, BINARY)
    logits = {"logits": lambda estimator, X: X[:, 20:22]}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for score in LITTLE_USE:
            score.fit(X, estimator=three)
        for score in (GEN(**logits), Energy(**logits), Mahalanobis(), ReAct()):
            score.fit(X, BINARY, estimator=two)
    with pytest.warns(RejectionWarning, match=f"ODIN {MESSAGE}"):
        ODIN(input_gradient=lambda e, X, T: np.ones(X.shape)).fit(X, estimator=two)


def test_a_fit_in_folds_says_it_once_at_the_line_of_the_user():
    labels = np.append(Y > 0, np.full(len(NEW), -1))
    model = DoubleScoreOODClassifier(
        LogisticRegression(), novelty_score="odin", min_tpr=0.7, cv=3, n_jobs=2
    )
    with (
        warnings.catch_warnings(record=True) as caught,
        parallel_backend("threading", n_jobs=1),
    ):
        warnings.simplefilter("always")
        model.fit(np.vstack([X, NEW]), labels)
    [warning] = caught
    assert warning.category is RejectionWarning
    assert warning.filename == __file__
