"""ViM, Mahalanobis and SIRC against their definitions."""

import numpy as np
import pytest
from scipy.special import entr
from sklearn.covariance import LedoitWolf
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier

from sklearn_reject._response._network import Head
from sklearn_reject.scores import MSP, SIRC, Mahalanobis, ViM
from sklearn_reject.scores.novelty._subspace import (
    _count_components,
    fit_residual_space,
)

# Networks need not be good here.
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def make_data(n_classes=3):
    X, y = load_digits(return_X_y=True)
    rows = np.flatnonzero(y < n_classes)[:200]
    return X[rows] / 16, y[rows]


def fit_network(n_classes=3):
    X, y = make_data(n_classes)
    network = MLPClassifier((20,), activation="tanh", max_iter=60, random_state=0)
    return network.fit(X, y), X, y


def hidden_by_hand(network, X):
    return np.tanh(X @ network.coefs_[0] + network.intercepts_[0])


def head_by_hand(network):
    weights, intercepts = network.coefs_[1], network.intercepts_[1]
    if weights.shape[1] == 1:
        weights = np.hstack([-weights / 2, weights / 2])
        intercepts = np.hstack([-intercepts / 2, intercepts / 2])
    return weights, intercepts


def residual_by_hand(features, training, origin, n_components):
    """Return the distance to the span of the leading right singular vectors."""
    leading = np.linalg.svd(training - origin)[2][:n_components]
    centered = features - origin
    return np.linalg.norm(centered - centered @ leading.T @ leading, axis=1)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("n_components", [None, 1, 7, 19])
def test_vim_by_hand(n_classes, n_components):
    network, X, _ = fit_network(n_classes)
    X_train, X_test = X[:120], X[120:]
    weights, intercepts = head_by_hand(network)
    # The least-norm point where the logits are as small as can be.
    origin = np.linalg.lstsq(weights.T, -intercepts, rcond=1e-8)[0]
    inside, new = hidden_by_hand(network, X_train), hidden_by_hand(network, X_test)
    n_principal = 10 if n_components is None else n_components
    largest = (inside @ weights + intercepts).max(axis=1)
    residual = residual_by_hand(inside, inside, origin, n_principal)
    alpha = largest.mean() / residual.mean()
    logits = new @ weights + intercepts
    virtual = alpha * residual_by_hand(new, inside, origin, n_principal)
    expected = virtual - np.log(np.exp(logits).sum(axis=1))
    score = ViM(n_components).fit(X_train, estimator=network)
    assert score.alpha_ == pytest.approx(alpha, rel=1e-9)
    np.testing.assert_allclose(score.novelty(X_test), expected, atol=1e-8)


def test_vim_of_a_users_network_starts_from_the_mean():
    network, X, _ = fit_network()
    weights, intercepts = head_by_hand(network)
    score = ViM(
        5,
        features=lambda e, X: hidden_by_hand(e, X),
        logits=lambda e, X: hidden_by_hand(e, X) @ weights + intercepts,
    ).fit(X, estimator=network)
    hidden = hidden_by_hand(network, X)
    logits = hidden @ weights + intercepts
    residual = residual_by_hand(hidden, hidden, hidden.mean(axis=0), 5)
    alpha = logits.max(axis=1).mean() / residual.mean()
    expected = alpha * residual - np.log(np.exp(logits).sum(axis=1))
    np.testing.assert_allclose(score.novelty(X), expected, atol=1e-8)


@pytest.mark.parametrize(
    ("n_features", "expected"),
    [(1, 0), (2, 1), (767, 383), (768, 512), (2047, 512), (2048, 1000)],
)
def test_default_number_of_components(n_features, expected):
    assert _count_components(None, n_features) == expected


def test_residual_space_is_orthonormal_and_leaves_the_least():
    features = np.random.default_rng(0).normal(size=(50, 5)) * [5, 4, 3, 2, 1]
    space = fit_residual_space(features)
    assert space.basis.shape == (5, 3)
    np.testing.assert_allclose(space.basis.T @ space.basis, np.eye(3), atol=1e-12)
    expected = residual_by_hand(features, features, features.mean(axis=0), 2)
    np.testing.assert_allclose(space.norms(features), expected, atol=1e-12)


def test_vanishing_weights_of_a_softmax_do_not_move_the_origin():
    X, y = make_data()
    # Coefficients of a multinomial regression sum to zero, but for the rounding.
    classifier = LogisticRegression(max_iter=1000).fit(X, y)
    weights, intercepts = classifier.coef_, classifier.intercept_
    origin = fit_residual_space(X, Head(weights.T, intercepts)).origin
    noisy = weights + 1e-13 * np.random.default_rng(0).normal(size=weights.shape)
    moved = fit_residual_space(X, Head(noisy.T, intercepts)).origin
    np.testing.assert_allclose(origin, moved, atol=1e-10)


def test_vim_errors():
    network, X, _ = fit_network()
    for bad in (20, 25):
        with pytest.raises(ValueError, match=f"n_components={bad} leaves no residual"):
            ViM(bad).fit(X, estimator=network)
    with pytest.raises(ValueError, match="n_components must be a positive int"):
        ViM(0).fit(X, estimator=network)
    flat = np.outer(np.arange(1.0, 21), np.arange(1.0, 5))
    classifier = RidgeClassifier().fit(flat, np.arange(20) % 3)
    with pytest.raises(ValueError, match="lie in the principal subspace"):
        ViM(2, features=lambda e, X: X).fit(flat, estimator=classifier)
    with pytest.raises(ValueError, match="mean of the largest logit is -1"):
        ViM(1, logits=lambda e, X: np.full((len(X), 3), -1.0)).fit(X, estimator=network)
    X, y = make_data()
    with pytest.raises(ValueError, match="GaussianNB has no logits"):
        ViM().fit(X, estimator=GaussianNB().fit(X, y))


def mahalanobis_by_hand(X, X_train, y, covariance):
    inverse = np.linalg.inv(covariance)
    rows = []
    for x in X:
        means = [X_train[y == label].mean(axis=0) for label in np.unique(y)]
        rows.append(min((x - mean) @ inverse @ (x - mean) for mean in means))
    return rows


@pytest.mark.parametrize("shrinkage", ["auto", 0.3, 1])
@pytest.mark.parametrize("is_text", [False, True])
def test_mahalanobis_by_hand(shrinkage, is_text):
    X, y = make_data()
    labels = np.array(["b", "a", "c"])[y] if is_text else y
    network = MLPClassifier((20,), activation="tanh", max_iter=60, random_state=0)
    network.fit(X, labels)
    features = hidden_by_hand(network, X)
    residuals = np.vstack(
        [features[y == k] - features[y == k].mean(0) for k in (0, 1, 2)]
    )
    covariance = residuals.T @ residuals / len(X)
    if shrinkage == "auto":
        expected = LedoitWolf(assume_centered=True).fit(residuals).covariance_
    else:
        multiple = np.trace(covariance) / 20 * np.eye(20)
        expected = (1 - shrinkage) * covariance + shrinkage * multiple
    score = Mahalanobis(shrinkage).fit(X, labels, estimator=network)
    np.testing.assert_allclose(score.covariance_, expected, atol=1e-12)
    np.testing.assert_allclose(
        score.novelty(X), mahalanobis_by_hand(features, features, y, expected)
    )


def test_mahalanobis_by_weight_is_that_of_repeated_samples():
    X, y = make_data()
    X = X[:, 20:30]
    classifier = LogisticRegression().fit(X, y)
    counts = np.random.default_rng(0).integers(0, 4, len(y))
    weighted = Mahalanobis(0.1).fit(X, y, estimator=classifier, sample_weight=counts)
    repeated = Mahalanobis(0.1).fit(
        np.repeat(X, counts, axis=0), np.repeat(y, counts), estimator=classifier
    )
    np.testing.assert_allclose(weighted.novelty(X), repeated.novelty(X), rtol=1e-9)


def test_mahalanobis_does_not_depend_on_where_features_are():
    X, y = make_data()
    X = X[:, 20:30]
    classifier = LogisticRegression().fit(X, y)
    near = Mahalanobis(0.1, features=lambda e, X: X)
    near = near.fit(X, y, estimator=classifier).novelty(X)
    far = Mahalanobis(0.1, features=lambda e, X: X + 1e6)
    np.testing.assert_allclose(
        far.fit(X, y, estimator=classifier).novelty(X), near, rtol=1e-6
    )


def test_mahalanobis_errors():
    X, y = make_data()
    classifier = LogisticRegression().fit(X, y)
    with pytest.raises(ValueError, match=r"covariance .* singular.*Increase shrinkage"):
        Mahalanobis(0.0).fit(X, y, estimator=classifier)
    with pytest.raises(ValueError, match=r"y is None: Mahalanobis is fitted on labels"):
        Mahalanobis().fit(X, estimator=classifier)
    for bad in (-0.1, 1.1):
        with pytest.raises(ValueError, match=r"shrinkage must be in \[0, 1\]"):
            Mahalanobis(bad).fit(X, y, estimator=classifier)
    for bad in ("oas", True, None):
        with pytest.raises(ValueError, match="shrinkage must be one of"):
            Mahalanobis(bad).fit(X, y, estimator=classifier)


def test_mahalanobis_does_not_depend_on_units():
    X, y = make_data()
    X = X[:, 20:30]
    classifier = LogisticRegression().fit(X, y)
    expected = Mahalanobis().fit(X, y, estimator=classifier).novelty(X)
    units = 10.0 ** np.arange(-5, 5)
    score = Mahalanobis().fit(X * units + 1, y, estimator=classifier)
    np.testing.assert_allclose(score.novelty(X * units + 1), expected, rtol=1e-6)
    flat = Mahalanobis(features=lambda e, X: X * units)
    flat.fit(X, y, estimator=classifier)
    assert not np.allclose(flat.novelty(X), expected, rtol=0.1)


@pytest.mark.parametrize("confidence_level", ["msp", "entropy"])
@pytest.mark.parametrize("feature_score", ["l1_norm", "residual"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_sirc_by_hand(confidence_level, feature_score, n_classes):
    network, X, _ = fit_network(n_classes)
    X_train, X_test = X[:120], X[120:]
    inside, new = hidden_by_hand(network, X_train), hidden_by_hand(network, X_test)
    probabilities = network.predict_proba(X_test)
    if confidence_level == "msp":
        s1, s1_max = probabilities.max(axis=1), 1.0
    else:
        s1, s1_max = -entr(probabilities).sum(axis=1), 0.0
    if feature_score == "l1_norm":
        s2_train, s2 = abs(inside).sum(axis=1), abs(new).sum(axis=1)
    else:
        weights, intercepts = head_by_hand(network)
        origin = np.linalg.lstsq(weights.T, -intercepts, rcond=1e-8)[0]
        s2_train = -residual_by_hand(inside, inside, origin, 10)
        s2 = -residual_by_hand(new, inside, origin, 10)
    a, b = s2_train.mean() - 3 * s2_train.std(), 1 / s2_train.std()
    confidences = -(s1_max - s1) * (1 + np.exp(-b * (s2 - a)))
    score = SIRC(confidence_level, feature_score).fit(X_train, estimator=network)
    assert score.location_ == pytest.approx(a)
    assert score.slope_ == pytest.approx(b)
    np.testing.assert_allclose(
        score.novelty(X_test), np.log(1 - confidences), atol=1e-10
    )


def test_sirc_far_away_is_finite_and_ordered():
    X, y = make_data()
    classifier = LogisticRegression().fit(X, y)
    score = SIRC(
        features=lambda e, X: X, logits=lambda e, X: np.tile([1.0, 0, 0], (len(X), 1))
    )
    score.fit(1000 + X, estimator=classifier)
    shifts = np.array([900.0, 500.0, 100.0, 0.0])
    novelty = score.novelty(shifts[:, np.newaxis] + np.zeros((4, 64)))
    assert (np.diff(novelty) > 100).all()
    assert np.isfinite(novelty).all()


def test_sirc_of_certain_predictions():
    X, y = make_data()
    certain = SIRC(logits=lambda e, X: np.tile([0.0, -1e5, -1e5], (len(X), 1)))
    certain.fit(X, estimator=LogisticRegression().fit(X, y))
    np.testing.assert_array_equal(certain.novelty(X), 0)


def test_sirc_near_the_training_sample_is_ordered_like_msp():
    network, X, _ = fit_network()
    score = SIRC(features=lambda e, X: X[:, :1] * 1e-9 + 5.0 + 1e-9 * X[:, 10:11])
    score.fit(X, estimator=network)
    same = np.tile(X[:1], (50, 1))
    same[:, 20:] = X[:50, 20:]
    np.testing.assert_array_equal(
        score.novelty(same).argsort(),
        MSP().fit(estimator=network).novelty(same).argsort(),
    )


def test_sirc_errors():
    X, y = make_data()
    classifier = LogisticRegression().fit(X, y)
    with pytest.raises(ValueError, match="confidence must be one of"):
        SIRC("energy").fit(X, estimator=classifier)
    with pytest.raises(ValueError, match="feature_score must be one of"):
        SIRC(feature_score="l2").fit(X, estimator=classifier)
    with pytest.raises(ValueError, match="'l1_norm' is the same for all training"):
        SIRC(features=lambda e, X: np.ones((len(X), 3))).fit(X, estimator=classifier)
    with pytest.raises(ValueError, match="has no `predict_proba`"):
        SIRC().fit(X, estimator=RidgeClassifier().fit(X, y)).novelty(X)


@pytest.mark.parametrize("score", [ViM(5), SIRC(), SIRC("entropy", "residual", 5)])
def test_weights_are_repetitions(score):
    network, X, _ = fit_network()
    counts = np.random.default_rng(0).integers(0, 4, len(X))
    weighted = score.fit(X, estimator=network, sample_weight=counts / 8).novelty(X)
    repeated = score.fit(np.repeat(X, counts, axis=0), estimator=network).novelty(X)
    np.testing.assert_allclose(weighted, repeated, atol=1e-9)
