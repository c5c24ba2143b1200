"""GEN and the relative Mahalanobis distance against their authors' definitions."""

import numpy as np
import pytest
from scipy.spatial.distance import mahalanobis
from sklearn.covariance import LedoitWolf
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import StandardScaler

from sklearn_reject.scores import GEN, Mahalanobis, RelativeMahalanobis

_X, _Y = load_digits(return_X_y=True)
X, Y = _X[_Y < 4][:240, 18:30] / 16, _Y[_Y < 4][:240]
CLASSIFIER = LogisticRegression().fit(X, Y)


def as_they_are(estimator, X):
    return X


def gen_by_hand(probabilities, gamma, n_largest):
    values = []
    for row in probabilities:
        largest = sorted(np.array(row, dtype=np.longdouble))[::-1][:n_largest]
        values.append(sum(p**gamma * (1 - p) ** gamma for p in largest))
    return np.array(values, dtype=float)


@pytest.mark.parametrize("gamma", [0.1, 0.5, 1])
@pytest.mark.parametrize("n_largest", [1, 2, 3, 4, 100])
def test_gen_by_hand(gamma, n_largest):
    probabilities = CLASSIFIER.predict_proba(X)
    score = GEN(gamma, n_largest).fit(X, Y, estimator=CLASSIFIER)
    expected = gen_by_hand(probabilities, gamma, n_largest)
    np.testing.assert_allclose(score.novelty(X), expected, rtol=1e-9)
    weighted = GEN(gamma, n_largest).fit(
        X, Y, estimator=CLASSIFIER, sample_weight=np.arange(len(X)) % 3
    )
    np.testing.assert_array_equal(weighted.novelty(X), score.novelty(X))


def test_gen_of_a_hundred_of_many_classes():
    logits = np.random.default_rng(0).normal(size=(5, 300)) * 3
    many = GaussianNB().fit(np.arange(300.0)[:, np.newaxis], np.arange(300))
    score = GEN(logits=lambda e, X: logits).fit(estimator=many)
    powers = np.exp(logits)
    probabilities = powers / powers.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(
        score.novelty(np.zeros((5, 1))), gen_by_hand(probabilities, 0.1, 100)
    )


def test_gen_tells_confident_predictions_apart():
    logits = np.array([[0.0, -d, -d] for d in (10, 40, 100, 500, 5000)])
    score = GEN(logits=lambda e, X: logits)
    score.fit(estimator=GaussianNB().fit(np.eye(3), [0, 1, 2]))
    with np.errstate(under="ignore"):
        tail = np.exp(logits[:, 1])
    # To first order: two small probabilities, and their sum as the miss.
    expected = 2 * tail**0.1 + (2 * tail) ** 0.1
    novelty = score.novelty(np.zeros((5, 1)))
    np.testing.assert_allclose(novelty, expected, rtol=1e-4)
    assert (np.diff(novelty) < 0).all()
    assert novelty[-1] == 0, "a probability of zero adds nothing"


def test_gen_at_gamma_one_is_the_gini_impurity():
    data = load_breast_cancer().data[:200, :4]
    classifier = GaussianNB().fit(data, np.arange(200) % 3)
    probabilities = classifier.predict_proba(data)
    score = GEN(gamma=1).fit(estimator=classifier)
    np.testing.assert_allclose(score.novelty(data), 1 - (probabilities**2).sum(axis=1))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"gamma": 0}, r"gamma must be in \]0, 1\], got 0"),
        ({"gamma": 1.5}, r"gamma must be in \]0, 1\], got 1.5"),
        ({"n_largest": 0}, "n_largest must be a positive int, got 0"),
    ],
)
def test_gen_errors(options, message):
    with pytest.raises(ValueError, match=message):
        GEN(**options).fit(estimator=CLASSIFIER)


def shrink(residuals, shrinkage):
    covariance = residuals.T @ residuals / len(residuals)
    multiple = np.trace(covariance) / len(covariance) * np.eye(len(covariance))
    return (1 - shrinkage) * covariance + shrinkage * multiple


def relative_by_hand(new, X, y, shrinkage):
    """Return min_y MD_y - MD_0, each distance by itself."""
    means = {label: X[y == label].mean(axis=0) for label in np.unique(y)}
    residuals = np.array([x - means[k] for x, k in zip(X, y, strict=True)])
    if shrinkage == "auto":
        shrinkage = LedoitWolf(assume_centered=True).fit(residuals).shrinkage_
    within = np.linalg.inv(shrink(residuals, shrinkage))
    mean = X.mean(axis=0)
    overall = np.linalg.inv(shrink(X - mean, shrinkage))
    return [
        min(mahalanobis(x, m, within) ** 2 for m in means.values())
        - mahalanobis(x, mean, overall) ** 2
        for x in new
    ]


@pytest.mark.parametrize("shrinkage", ["auto", 0.3, 1])
@pytest.mark.parametrize("is_text", [False, True])
def test_relative_mahalanobis_by_hand(shrinkage, is_text):
    new = np.vstack([X[:20], _X[_Y > 6][:40, 18:30] / 16])
    labels = np.array(["b", "a", "d", "c"])[Y] if is_text else Y
    score = RelativeMahalanobis(shrinkage, as_they_are).fit(
        X, labels, estimator=CLASSIFIER
    )
    expected = relative_by_hand(new, X, Y, shrinkage)
    np.testing.assert_allclose(score.novelty(new), expected, rtol=1e-8, atol=1e-9)


def test_relative_mahalanobis_by_weight_is_that_of_repeated_samples():
    counts = np.random.default_rng(0).integers(0, 4, len(Y))
    score = RelativeMahalanobis(0.1, as_they_are)
    score.fit(X, Y, estimator=CLASSIFIER, sample_weight=counts / 7)
    X_repeated, y_repeated = np.repeat(X, counts, axis=0), np.repeat(Y, counts)
    expected = relative_by_hand(X[:50], X_repeated, y_repeated, 0.1)
    np.testing.assert_allclose(score.novelty(X[:50]), expected, rtol=1e-8)


@pytest.mark.parametrize("shrinkage", ["auto", 0.1])
def test_other_digits_are_told_better_than_by_plain_distances(shrinkage):
    # By a share of its own for each covariance, less than 0.72.
    is_novel = np.isin(_Y, [4, 7])
    known = np.flatnonzero(~is_novel)
    train, test = known[:300], np.append(known[700:1100], np.flatnonzero(is_novel))
    scaled = StandardScaler().fit(_X[train]).transform(_X)
    classifier = GaussianNB().fit(scaled[train], _Y[train])
    auroc = []
    for score in (RelativeMahalanobis(shrinkage), Mahalanobis(shrinkage)):
        score.fit(scaled[train], _Y[train], estimator=classifier)
        auroc.append(roc_auc_score(is_novel[test], score.novelty(scaled[test])))
    assert auroc[0] > auroc[1] + 0.01, auroc


def test_relative_mahalanobis_of_one_class_is_zero():
    one = np.zeros(len(X))
    score = RelativeMahalanobis(0.1).fit(X, one, estimator=CLASSIFIER)
    np.testing.assert_array_equal(score.novelty(X), 0)
    assert Mahalanobis(0.1).fit(X, one, estimator=CLASSIFIER).novelty(X).min() > 0


def test_what_is_unusual_for_all_classes_cancels_out():
    rng = np.random.default_rng(0)
    noise = np.hstack([X, rng.normal(size=(len(X), 1))])
    new = noise[:30].copy()
    moved = new + 6 * (np.arange(13) == 12)
    plain = Mahalanobis(0.01).fit(noise, Y, estimator=CLASSIFIER)
    relative = RelativeMahalanobis(0.01).fit(noise, Y, estimator=CLASSIFIER)
    shift = {s: np.median(s.novelty(moved) - s.novelty(new)) for s in (plain, relative)}
    assert shift[plain] > 20
    assert abs(shift[relative]) < 0.1 * shift[plain]


def test_relative_mahalanobis_errors():
    for bad in (-0.1, 1.1):
        with pytest.raises(ValueError, match=r"shrinkage must be in \[0, 1\]"):
            RelativeMahalanobis(bad).fit(X, Y, estimator=CLASSIFIER)
    flat = np.hstack([X, np.ones((len(X), 1))])
    with pytest.raises(ValueError, match=r"covariance .* singular.*Increase shrinkage"):
        RelativeMahalanobis(0.0).fit(flat, Y, estimator=CLASSIFIER)
