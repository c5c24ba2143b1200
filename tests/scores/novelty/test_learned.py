"""The likelihood ratio, outlier detectors, and what they ask of their parts."""

import numpy as np
import pytest
from scipy import sparse, stats
from sklearn.base import BaseEstimator
from sklearn.datasets import load_digits
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
from sklearn.ensemble import IsolationForest
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KernelDensity, KNeighborsClassifier, LocalOutlierFactor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC, OneClassSVM
from sklearn.tree import DecisionTreeClassifier

from sklearn_reject.scores import LikelihoodRatio, OutlierDetector


def make_normal(n_id=4000, n_ood=1000):
    """Return samples of N(0, 1) and N(1, 0.25), and labels of the former."""
    rng = np.random.default_rng(0)
    X, X_ood = rng.normal(0, 1, (n_id, 1)), rng.normal(1, 0.5, (n_ood, 1))
    return X, X[:, 0] > 0, X_ood


def true_ratio(x):
    return stats.norm.pdf(x, 1, 0.5) / stats.norm.pdf(x, 0, 1)


def test_ratio_of_normal_densities():
    X, y, X_ood = make_normal(40_000, 10_000)
    classifier = GaussianNB().fit(X, y)
    grid = np.linspace(-0.5, 2.5, 13)
    score = LikelihoodRatio(QuadraticDiscriminantAnalysis())
    score.fit(X, y, estimator=classifier, X_ood=X_ood)
    # Normal densities fitted to so many samples are off by a few percent.
    np.testing.assert_allclose(
        score.novelty(grid[:, np.newaxis]), true_ratio(grid), rtol=0.1
    )
    default = LikelihoodRatio(random_state=0)
    default.fit(X, y, estimator=classifier, X_ood=X_ood)
    np.testing.assert_allclose(
        default.novelty(grid[3:9, np.newaxis]), true_ratio(grid[3:9]), rtol=0.35
    )


@pytest.mark.parametrize("n_ood", [10, 500])
def test_ratio_by_counting(n_ood):
    X = np.arange(200.0).reshape(-1, 1) % 4
    X_ood = np.arange(n_ood * 1.0).reshape(-1, 1) % 2
    score = LikelihoodRatio(DecisionTreeClassifier())
    score.fit(X, estimator=GaussianNB().fit(X, X[:, 0] > 1), X_ood=X_ood)
    np.testing.assert_allclose(score.novelty([[0.0], [1.0], [2.0]]), [2, 2, 0])
    only_ood = score.fit(X, estimator=score.estimator_, X_ood=X_ood + 9)
    assert only_ood.novelty([[9.0]]) == np.inf


def test_ratio_of_weighted_samples_is_that_of_repeated_ones():
    X, y, X_ood = make_normal(300, 100)
    classifier = GaussianNB().fit(X, y)
    # Of mean two: the balance stays as it is where OOD samples are there twice.
    counts = np.where(np.arange(300) % 2, 1, 3)
    learner = LogisticRegression(C=np.inf, tol=1e-10)
    weighted = LikelihoodRatio(learner)
    weighted.fit(X, estimator=classifier, X_ood=X_ood, sample_weight=counts)
    repeated = LikelihoodRatio(learner)
    copies, twice = np.repeat(X, counts, axis=0), np.repeat(X_ood, 2, axis=0)
    repeated.fit(copies, estimator=classifier, X_ood=twice)
    np.testing.assert_allclose(weighted.novelty(X), repeated.novelty(X), rtol=1e-6)


def test_ratio_of_sparse_samples():
    X, y = load_digits(return_X_y=True)
    classifier = LogisticRegression(C=1e-4, max_iter=5000).fit(X[y < 5], y[y < 5])
    inside, outside = sparse.csr_matrix(X[y < 5]), sparse.csr_matrix(X[y > 7])
    learner = LogisticRegression(C=1e-4, max_iter=5000, tol=1e-10)
    dense = LikelihoodRatio(learner)
    dense.fit(X[y < 5], estimator=classifier, X_ood=X[y > 7])
    score = LikelihoodRatio(learner)
    score.fit(inside, estimator=classifier, X_ood=outside)
    np.testing.assert_allclose(
        score.novelty(inside), dense.novelty(X[y < 5]), rtol=1e-6
    )
    default = LikelihoodRatio(random_state=0)
    default.fit(inside, estimator=classifier, X_ood=outside)
    expected = LikelihoodRatio(random_state=0)
    expected.fit(X[y < 5], estimator=classifier, X_ood=X[y > 7])
    np.testing.assert_array_equal(default.novelty(inside), expected.novelty(X[y < 5]))


def test_ratio_errors():
    X, y, X_ood = make_normal(30, 30)
    classifier = GaussianNB().fit(X, y)
    with pytest.raises(ValueError, match="X_ood is None: LikelihoodRatio is fitted on"):
        LikelihoodRatio().fit(X, y, estimator=classifier)
    with pytest.raises(ValueError, match="classifier must have `predict_proba`"):
        LikelihoodRatio(LinearSVC()).fit(X, y, estimator=classifier, X_ood=X_ood)
    with pytest.raises(ValueError, match="classifier must take sample_weight"):
        LikelihoodRatio(KNeighborsClassifier()).fit(
            X, y, estimator=classifier, X_ood=X_ood, sample_weight=np.ones(30)
        )


def fit_digits():
    X, y = load_digits(return_X_y=True)
    pipeline = make_pipeline(StandardScaler(), GaussianNB())
    return pipeline.fit(X[:300], y[:300]), X, y


@pytest.mark.parametrize(
    "detector",
    [
        pytest.param(
            IsolationForest(n_estimators=10, random_state=0), marks=pytest.mark.slow
        ),
        OneClassSVM(),
        LocalOutlierFactor(novelty=True),
        KernelDensity(),
        make_pipeline(StandardScaler(), OneClassSVM()),
    ],
    ids=repr,
)
@pytest.mark.parametrize("on", ["features", "input"])
def test_detectors_of_scikit_learn(detector, on):
    pipeline, X, _ = fit_digits()
    seen = X if on == "input" else pipeline[0].transform(X)
    expected = -detector.fit(seen[:300]).score_samples(seen[300:])
    score = OutlierDetector(detector, on).fit(X[:300], estimator=pipeline)
    np.testing.assert_allclose(score.novelty(X[300:]), expected)
    assert score.detector_ is not detector


def test_the_default_detector():
    pipeline, X, _ = fit_digits()
    score = OutlierDetector(random_state=3).fit(X[:300], estimator=pipeline)
    forest = IsolationForest(random_state=3).fit(pipeline[0].transform(X[:300]))
    np.testing.assert_array_equal(
        score.novelty(X), -forest.score_samples(pipeline[0].transform(X))
    )


class DistanceFromMean(BaseEstimator):
    """Has the interface of PyOD: higher decision values are more abnormal."""

    def fit(self, X, y=None):
        self.mean_ = X.mean(axis=0)
        self.decision_scores_ = self.decision_function(X)
        return self

    def decision_function(self, X):
        return np.linalg.norm(X - self.mean_, axis=1)


class OfUnknownDirection(BaseEstimator):
    """Has decision values, and nothing tells which way they go."""

    def fit(self, X, y=None):
        return self

    def decision_function(self, X):
        return X[:, 0]


def test_detectors_like_those_of_pyod():
    pipeline, X, _ = fit_digits()
    score = OutlierDetector(DistanceFromMean(), "input")
    score.fit(X[:300], estimator=pipeline)
    np.testing.assert_allclose(
        score.novelty(X), np.linalg.norm(X - X[:300].mean(axis=0), axis=1)
    )


def test_a_frozen_detector_stays_as_it_is():
    pipeline, X, _ = fit_digits()
    detector = DistanceFromMean().fit(X[:100])
    score = OutlierDetector(FrozenEstimator(detector), "input")
    score.fit(X[:300], estimator=pipeline)
    np.testing.assert_array_equal(score.novelty(X), detector.decision_function(X))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"detector": LocalOutlierFactor()}, "set its novelty=True"),
        ({"detector": OfUnknownDirection()}, "sign of its values is unknown"),
        ({"detector": "forest"}, "detector must be an outlier detector"),
        ({"on": "output"}, "on must be one of"),
        ({"on": "input", "features": lambda e, X: X}, "on='input' does not use it"),
    ],
)
def test_detector_errors(options, message):
    pipeline, X, _ = fit_digits()
    with pytest.raises(ValueError, match=message):
        OutlierDetector(**options).fit(X[:300], estimator=pipeline)


def test_detector_with_weights():
    pipeline, X, _ = fit_digits()
    counts = np.random.default_rng(0).integers(0, 3, 300)
    score = OutlierDetector(KernelDensity(), "input")
    score.fit(X[:300], estimator=pipeline, sample_weight=counts)
    present = X[:300][counts > 0]
    density = KernelDensity().fit(present, sample_weight=counts[counts > 0])
    np.testing.assert_array_equal(score.novelty(X), -density.score_samples(X))
    with pytest.raises(ValueError, match="detector must take sample_weight"):
        OutlierDetector(DistanceFromMean()).fit(
            X[:300], estimator=pipeline, sample_weight=counts
        )


def test_detectors_see_dataframes_as_they_are():
    pandas = pytest.importorskip("pandas")
    pipeline, X, y = fit_digits()
    frame = pandas.DataFrame(X).add_prefix("pixel ")
    pipeline.fit(frame, y)
    score = OutlierDetector(IsolationForest(n_estimators=5, random_state=0), on="input")
    score.fit(frame[:300], estimator=pipeline)
    assert list(score.detector_.feature_names_in_) == list(frame.columns)
    assert score.novelty(frame).shape == (len(X),)
