"""Scores of distances, detectors and ratios of densities, by brute force."""

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist, mahalanobis
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.covariance import LedoitWolf
from sklearn.datasets import load_digits
from sklearn.ensemble import HistGradientBoostingClassifier, IsolationForest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KernelDensity, LocalOutlierFactor
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, OneClassSVM
from sklearn.tree import DecisionTreeClassifier

from sklearn_reject import DoubleScoreOODClassifier, SelectiveClassifier
from sklearn_reject.exceptions import RejectionWarning
from sklearn_reject.scores import (
    KNN,
    LikelihoodRatio,
    Mahalanobis,
    OutlierDetector,
    RelativeMahalanobis,
    ViM,
)


class Anything(ClassifierMixin, BaseEstimator):
    """Takes whatever it is given, and predicts the first class."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        return np.eye(len(self.classes_))[np.zeros(len(X), dtype=int)]

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


_X, _Y = load_digits(return_X_y=True)
ANY = Anything().fit(None, [0, 1])


def as_it_is(estimator, X):
    return X


def scaled(X, *others, weight=None):
    """Return columns by their mean and deviation; constant ones keep their unit."""
    mean = np.average(X, axis=0, weights=weight)
    deviation = np.sqrt(np.average((X - mean) ** 2, axis=0, weights=weight))
    deviation = np.where(deviation > 0, deviation, 1.0)
    return [(values - mean) / deviation for values in (X, *others)]


def directions(*parts):
    """Return rows of length one; zeros stay as they are."""
    lengths = [np.linalg.norm(X, axis=1, keepdims=True) for X in parts]
    return [X / np.where(n > 0, n, 1) for X, n in zip(parts, lengths, strict=True)]


# The k-th neighbor


def kth_by_hand(queries, points, k, weight=None):
    """Return the distance within which points weigh k, by weights of mean one."""
    apart = cdist(queries, points)
    weight = np.ones(len(points)) if weight is None else weight / weight.mean()
    order = apart.argsort(axis=1, kind="stable")
    first = (np.cumsum(weight[order], axis=1) >= k - 1e-9).argmax(axis=1)
    return np.sort(apart, axis=1)[np.arange(len(queries)), first]


POINTS = {
    "normal": lambda rng, n: rng.normal(size=(n, 12)),
    "many": lambda rng, n: rng.normal(size=(n, 500)),
    "lattice": lambda rng, n: rng.integers(-1, 2, (n, 4)).astype(float),
    "one column": lambda rng, n: rng.integers(0, 9, (n, 1)).astype(float),
    "far away": lambda rng, n: 1e6 + rng.normal(size=(n, 9)),
    "far apart": lambda rng, n: (
        rng.normal(size=(n, 9)) * 10.0 ** rng.integers(-3, 4, (n, 1))
    ),
    **{
        f"clusters of {width:g}": lambda rng, n, width=width: (
            np.eye(30)[rng.integers(0, 5, n)] + width * rng.normal(size=(n, 30))
        )
        for width in (1.0, 1e-5, 1e-9, 1e-13, 0.0)
    },
}


@pytest.mark.parametrize("kind", POINTS)
@pytest.mark.parametrize(
    ("k", "is_weighted"), [(1, False), (3, True), (50, False), (900, True)]
)
def test_neighbors_by_brute_force(kind, k, is_weighted):
    rng = np.random.default_rng(0)
    X, X_new = np.split(POINTS[kind](rng, 1250), [1200])
    weight = rng.integers(1, 4, 1200) / 2 if is_weighted else None
    score = KNN(k, features=as_it_is, normalize=False, max_samples=None)
    score.fit(X, estimator=ANY, sample_weight=weight)
    X_new = np.vstack([X_new, X[:20]])
    points, queries = scaled(X, X_new, weight=weight)
    expected = kth_by_hand(queries, points, k, weight)
    found = score.novelty(X_new)
    tiny = 1e-12 * np.abs(queries).max()
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=tiny)
    single = [score.novelty(row[np.newaxis])[0] for row in X_new[:9]]
    np.testing.assert_array_equal(single, found[:9])


@pytest.mark.parametrize("k", [1, 50, 300])
def test_neighbors_by_direction(k):
    rng = np.random.default_rng(0)
    X, X_new = rng.normal(size=(300, 12)), rng.normal(size=(40, 12))
    score = KNN(k, normalize=True).fit(X, estimator=ANY)
    points, queries = directions(X, X_new)
    expected = kth_by_hand(queries, points, k)
    np.testing.assert_allclose(score.novelty(X_new), expected, rtol=1e-12)
    # Powers of two change no digit, and zeros have no direction.
    for scale in (2.0**-600, 2.0**600):
        found = score.novelty(scale * X_new)
        np.testing.assert_array_equal(found, score.novelty(X_new))
    np.testing.assert_allclose(score.novelty(np.zeros((1, 12))), 1.0)
    with_zero = KNN(1, normalize=True).fit(np.vstack([X, 0 * X[:1]]), estimator=ANY)
    assert with_zero.novelty(np.zeros((1, 12))) == 0


def test_what_is_scaled_by_default():
    """The hidden layers of a network, and of other inputs the columns."""
    X, y = _X[:200], _Y[:200]
    network = MLPClassifier((9,), max_iter=2000, tol=1e-2, random_state=0).fit(X, y)
    hidden = np.maximum(X @ network.coefs_[0] + network.intercepts_[0], 0)
    [hidden] = directions(hidden)
    found = KNN(5).fit(X, y, estimator=network).novelty(X)
    np.testing.assert_allclose(found, kth_by_hand(hidden, hidden, 5), atol=1e-12)
    inside = X[:, 20:30]
    units = 2.0 ** np.arange(-25, 25, 5)
    [points] = scaled(inside)
    expected = kth_by_hand(points, points, 5)
    found = KNN(5).fit(inside * units, estimator=ANY).novelty(inside * units)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


def test_extreme_values_are_far_and_finite():
    X = np.random.default_rng(0).normal(size=(300, 8))
    X[:, 1] = 7.0  # a column that is constant keeps its unit
    score = KNN().fit(X, estimator=ANY)
    X_new = np.tile(X[:1], (5, 1))
    X_new[1, 1], X_new[2:, 0] = 10, (1e20, -1e200, 1e300)
    novelty = score.novelty(X_new)
    assert np.isfinite(novelty).all()
    assert novelty[1] >= 3
    assert (np.diff(novelty) >= 0).all()


# How many neighbors and samples there are


def kept(score):
    return len(score.index_.points), score.n_neighbors_


@pytest.mark.parametrize(
    ("options", "n_samples", "share", "expected"),
    [
        *(({}, n, 1, (k, 1)) for n, k in ((1, 1), (2, 2), (3, 2), (24, 19))),
        ({}, 1000, 1, (800, 1)),
        # The nearest is one of as many in five folds as in the end, or in ten.
        ({}, 240, 0.8, (240, 1)),
        ({}, 270, 0.9, (240, 1)),
        *(({"n_neighbors": k}, 40, 0.8, (40, n)) for k, n in ((10, 8), (50, 40))),
        ({"n_neighbors": 3}, 40, 0.5, (40, 2)),
        ({"n_neighbors": 20, "max_samples": 60}, 240, 0.8, (60, 4)),
        ({"n_neighbors": 5, "max_samples": 10}, 300, 1, (10, 1)),
        ({}, 8000, 1, (3000, 1)),
        ({"n_neighbors": 5, "max_samples": None}, 8000, 1, (8000, 5)),
    ],
)
def test_so_many_samples_and_neighbors(options, n_samples, share, expected):
    X = np.random.default_rng(0).normal(size=(n_samples, 3))
    score, other = (
        KNN(**options, random_state=seed).fit(X, estimator=ANY, share=share)
        for seed in (0, 1)
    )
    assert kept(score) == kept(other) == expected
    points, (n_kept, k) = score.index_.points, expected
    assert np.array_equal(points, other.index_.points) == (n_kept == n_samples)
    [queries] = scaled(X)
    found, expected = score.novelty(X[:200]), kth_by_hand(queries[:200], points, k)
    np.testing.assert_allclose(found, expected, atol=1e-12)
    assert cdist(points[:200], queries).min(axis=1).max() < 1e-12, "points are samples"


def make_clusters(n=120, seed=0):
    """Return two clusters of ID samples, others far off, and labels of the former."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    return rng.normal(size=(n, 4)) + 4 * y[:, np.newaxis], rng.normal(9, 1, (40, 4)), y


def make_samples():
    X, X_ood, y = make_clusters()
    order = np.random.default_rng(1).permutation(160)
    return np.vstack([X, X_ood])[order], np.append(y, np.full(40, -1))[order]


@pytest.mark.parametrize(
    ("options", "weight"),
    [
        ({"cv": KFold(5)}, None),
        ({"cv": 0.5, "confidence_level": 0.8}, None),
        ({"cv": 2}, np.where(np.arange(160) % 3 > 0, 1.0, 0.0)),
    ],
    ids=["folds", "a part held out", "weights of zero"],
)
def test_shares_are_those_of_the_samples_that_count(options, weight):
    X, y = make_samples()
    counts = []

    class Spy(KNN):
        def learn(self, *args):
            super().learn(*args)
            counts.append(kept(self))

    model = DoubleScoreOODClassifier(
        GaussianNB(), novelty_score=Spy(10), min_tpr=0.5, random_state=0, **options
    ).fit(X, y, sample_weight=weight)
    [*folds, (n_final, k_final)] = counts
    assert k_final == model.novelty_score_.n_neighbors_ == 10
    assert [k for _, k in folds] == [round(10 * n / n_final) for n, _ in folds]


@pytest.mark.parametrize("cv", [2, 3, 5, 10])
def test_as_many_samples_are_kept_as_the_smallest_fold_has(cv):
    X, y = make_samples()
    X, y = X[y != -1], y[y != -1]
    model = SelectiveClassifier(
        GaussianNB(), target_coverage=0.8, uncertainty_score="knn", cv=cv
    ).fit(X, y)
    n_kept, _ = kept(model.uncertainty_score_.novelty_score_)
    assert n_kept == round(min(0.8, 1 - 1 / cv) * 120)


@pytest.mark.parametrize("score", ["knn", "mahalanobis"])
def test_columns_of_a_kernel_differ_between_folds_and_use(score):
    """Distances grow with the columns: a TPR of .80 in folds was .71 in use."""
    X, y = make_samples()
    model = DoubleScoreOODClassifier(
        SVC(kernel="precomputed"), novelty_score=score, min_tpr=0.8, random_state=0
    )
    with pytest.warns(RejectionWarning, match=r"kernel or distance.*cv=0.3") as caught:
        model.fit(rbf_kernel(X), y)
    assert len(caught) == 1
    model.set_params(cv=0.3).fit(rbf_kernel(X), y)
    model.set_params(estimator=SVC(), cv=None).fit(X, y)


# Distances to means


def shrink(residuals, shrinkage):
    if shrinkage == "auto":
        shrinkage = LedoitWolf(assume_centered=True).fit(residuals).shrinkage_
    covariance = residuals.T @ residuals / len(residuals)
    multiple = np.trace(covariance) / len(covariance) * np.eye(len(covariance))
    return shrinkage, (1 - shrinkage) * covariance + shrinkage * multiple


def mahalanobis_by_hand(new, X, y, shrinkage):
    """Return the squared distances to the nearest mean, and to the mean of all."""
    means = [X[y == label].mean(axis=0) for label in np.unique(y)]
    residuals = X - np.array(means)[np.unique(y, return_inverse=True)[1]]
    shrinkage, covariance = shrink(residuals, shrinkage)
    within, overall = (
        np.linalg.inv(each)
        for each in (covariance, shrink(X - X.mean(axis=0), shrinkage)[1])
    )
    nearest = [min(mahalanobis(x, m, within) ** 2 for m in means) for x in new]
    all_alike = [mahalanobis(x, X.mean(axis=0), overall) ** 2 for x in new]
    return np.array(nearest), np.array(all_alike)


DIGITS, LABELS = _X[_Y < 4][:240, 18:30] / 16, _Y[_Y < 4][:240]
NOVEL = _X[_Y > 6][:40, 18:30] / 16


@pytest.mark.parametrize("shrinkage", ["auto", 0.3, 1])
@pytest.mark.parametrize(
    "labels",
    [LABELS, np.array([*"badc"])[LABELS], 0 * LABELS],
    ids=["numbers", "text", "one class"],
)
def test_mahalanobis_by_hand(shrinkage, labels):
    new = np.vstack([DIGITS[:20], NOVEL])
    nearest, all_alike = mahalanobis_by_hand(new, DIGITS, labels, shrinkage)
    for kind, expected in (
        (Mahalanobis, nearest),
        (RelativeMahalanobis, nearest - all_alike),
    ):
        score = kind(shrinkage, as_it_is).fit(DIGITS, labels, estimator=ANY)
        np.testing.assert_allclose(score.novelty(new), expected, rtol=1e-8, atol=1e-9)
    # By default, what reaches the classifier is scaled, whatever its units.
    points, scaled_new = scaled(DIGITS, new)
    expected, _ = mahalanobis_by_hand(scaled_new, points, labels, shrinkage)
    units = 10.0 ** np.arange(-6, 6)
    score = Mahalanobis(shrinkage).fit(DIGITS * units + 1, labels, estimator=ANY)
    np.testing.assert_allclose(score.novelty(new * units + 1), expected, rtol=1e-6)
    far = Mahalanobis(shrinkage, lambda e, X: X + 1e6)
    found = far.fit(DIGITS, labels, estimator=ANY).novelty(new)
    np.testing.assert_allclose(found, nearest, rtol=1e-6)


# Samples of any kind

# Trees need few rows and rounds to be fitted.
TREES = HistGradientBoostingClassifier(max_iter=3, min_samples_leaf=5)
SCORES = [
    *(KNN(), Mahalanobis(), OutlierDetector(random_state=0)),
    *(LikelihoodRatio(TREES), OutlierDetector(OneClassSVM())),
]


def test_missing_values_are_medians_beside_indicators():
    X, _, y = make_clusters()
    X[::3, 1], X[:, 3] = np.nan, 5.0
    score = KNN(3).fit(X, estimator=TREES.fit(X, y))
    is_missing = np.isnan(X[:, 1])
    filled = np.where(np.isnan(X), np.nanmedian(X, axis=0), X)
    points = np.column_stack([*scaled(filled), is_missing])
    expected = kth_by_hand(points, points, 3)
    np.testing.assert_allclose(score.novelty(X), expected, rtol=1e-9)


@pytest.mark.parametrize("score", [KNN(3), Mahalanobis()], ids=repr)
def test_a_value_that_was_never_missing_is_novel_where_it_is(score):
    X, _, y = make_clusters()
    score.fit(X, y, estimator=TREES.fit(X, y))
    median, holes = X[:1].copy(), X[:1].copy()
    median[0, :2], holes[0, :2] = np.median(X[:, :2], axis=0), np.nan
    power = 2 if isinstance(score, KNN) else 1
    expected = score.novelty(median) ** power + 2
    np.testing.assert_allclose(score.novelty(holes) ** power, expected)
    detector = OutlierDetector(OneClassSVM()).fit(X, estimator=TREES)
    with pytest.raises(ValueError, match=r"missing in a column that was complete"):
        detector.novelty(holes)


WORDS = ["goal match team player", "tax vote law party", "star planet orbit moon"]


def make_texts(topic, n_texts, seed):
    """Return texts of words of a topic, each with a rare one of its own."""
    words = np.random.default_rng(seed).choice(WORDS[topic].split(), (n_texts, 6))
    return [f"{' '.join(text)} {topic}rare{seed}x{k}" for k, text in enumerate(words)]


@pytest.mark.parametrize("score", SCORES, ids=repr)
def test_texts_of_another_topic(score):
    texts, y = make_texts(0, 150, 1) + make_texts(1, 150, 2), np.repeat([0, 1], 150)
    classifier = make_pipeline(TfidfVectorizer(), LogisticRegression()).fit(texts, y)
    assert classifier[0].transform(texts).shape[1] > 256
    score.check(classifier, texts)
    score.fit(texts, y, estimator=classifier, X_ood=make_texts(2, 30, 3))
    single = [score.novelty([text])[0] for text in texts[:5]]
    np.testing.assert_array_equal(single, score.novelty(texts[:5]))
    if isinstance(score, (KNN, Mahalanobis)):
        inside = make_texts(0, 20, 4) + make_texts(1, 20, 5)
        outside = make_texts(2, 30, 6)
        apart = score.novelty(outside)[:, np.newaxis] > score.novelty(inside)
        assert apart.mean() > 0.9


class Unfit(GaussianNB):
    """Must not be fitted."""

    def fit(self, X, y, sample_weight=None):
        raise AssertionError("fitted")


def objects(X):
    X = X.astype(object)
    X[3, 1] = {"a": 1}
    return X


@pytest.mark.parametrize(
    ("score", "convert", "message"),
    [
        (ViM(), sparse.csr_matrix, r"X is a sparse matrix, which ViM cannot.*'knn'"),
        *(
            (score, convert, message)
            for score in SCORES
            for convert, message in (
                (objects, r"inputs of Unfit .* Put the prepro"),
                (lambda X: np.where(X > 9, np.inf, 0.0), "some of them are infinite"),
            )
        ),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_cannot_be_numbers_is_refused_before_any_fit(score, convert, message):
    X, X_ood, y = make_clusters()
    y = np.append(y, np.full(40, -1))
    model = DoubleScoreOODClassifier(Unfit(), novelty_score=score, min_tpr=0.5)
    with pytest.raises((TypeError, ValueError), match=message):
        model.fit(convert(np.vstack([X, X_ood])), y)


@pytest.mark.parametrize("score", [KNN(), Mahalanobis()], ids=repr)
def test_values_that_have_no_variance_are_named(score):
    X, y = make_samples()
    X[::9, 1] = np.finfo(float).max
    model = DoubleScoreOODClassifier(TREES, novelty_score=score, min_tpr=0.8)
    with pytest.raises(ValueError, match=r"1.8e\+308 in column 1.*use NaN"):
        model.fit(X, y)


def test_what_a_search_makes_of_samples_is_not_known_before():
    texts = make_texts(0, 9, 0)
    pipeline = make_pipeline(TfidfVectorizer(), LogisticRegression())
    search = GridSearchCV(pipeline, {"logisticregression__C": [1.0]}, cv=2)
    assert ViM().check(search, sparse.csr_matrix(np.eye(3))) is None
    for known_later in (search, pipeline, MLPClassifier()):
        assert KNN().check(known_later, texts) is None
    with pytest.raises((TypeError, ValueError), match="of LogisticRegression"):
        KNN().check(pipeline[-1], texts)


# Ratios of densities, and detectors


@pytest.mark.parametrize("n_ood", [10, 500])
def test_ratio_by_counting(n_ood):
    X = np.arange(200.0).reshape(-1, 1) % 4
    X_ood = np.arange(n_ood * 1.0).reshape(-1, 1) % 2
    score = LikelihoodRatio(DecisionTreeClassifier())
    score.fit(X, estimator=ANY, X_ood=X_ood)
    np.testing.assert_allclose(score.novelty([[0.0], [1.0], [2.0]]), [2, 2, 0])
    assert score.fit(X, estimator=ANY, X_ood=X_ood + 9).novelty([[9.0]]) == np.inf


def test_ratio_of_weighted_samples_is_that_of_repeated_ones():
    rng = np.random.default_rng(0)
    X, X_ood = rng.normal(0, 1, (300, 1)), rng.normal(1, 0.5, (100, 1))
    # Of mean two: the balance stays as it is where OOD samples are there twice.
    counts = np.where(np.arange(300) % 2, 1, 3)
    score = LikelihoodRatio(LogisticRegression(C=np.inf, tol=1e-10))
    score.fit(X, estimator=ANY, X_ood=X_ood, sample_weight=counts)
    weighted = score.novelty(X)
    repeats = {"X": np.repeat(X, counts, axis=0), "X_ood": np.repeat(X_ood, 2, axis=0)}
    repeated = score.fit(estimator=ANY, **repeats).novelty(X)
    np.testing.assert_allclose(weighted, repeated, rtol=1e-6)


class DistanceFromMean(BaseEstimator):
    """Has the interface of PyOD: higher decision values are more abnormal."""

    def fit(self, X, y=None):
        self.mean_ = X.mean(axis=0)
        self.decision_scores_ = self.decision_function(X)
        return self

    def decision_function(self, X):
        return np.linalg.norm(X - self.mean_, axis=1)


@pytest.mark.slow
@pytest.mark.parametrize(
    "detector",
    [
        OneClassSVM(),
        LocalOutlierFactor(novelty=True),
        KernelDensity(),
        make_pipeline(StandardScaler(), OneClassSVM()),
        DistanceFromMean(),
        IsolationForest(random_state=3),
        None,
    ],
    ids=repr,
)
@pytest.mark.parametrize("on", ["features", "input"])
def test_detectors(detector, on):
    pipeline = make_pipeline(StandardScaler(), GaussianNB()).fit(_X[:300], _Y[:300])
    seen = _X if on == "input" else pipeline[0].transform(_X)
    score = OutlierDetector(detector, on, random_state=3)
    score.fit(_X[:300], estimator=pipeline)
    detector = IsolationForest(random_state=3) if detector is None else detector
    detector.fit(seen[:300])
    if isinstance(detector, DistanceFromMean):
        expected = detector.decision_function(seen)
    else:
        expected = -detector.score_samples(seen)
    np.testing.assert_allclose(score.novelty(_X), expected)
    assert score.detector_ is not detector
    frozen = OutlierDetector(FrozenEstimator(detector), on)
    frozen.fit(_X[300:400], estimator=pipeline)
    np.testing.assert_allclose(frozen.novelty(_X), expected)


# Scores that become novelty scores


def test_functions_uncertainty_and_frozen_scores():
    X, y = make_samples()
    fitted = GaussianNB().fit(X, y)
    frozen, seen = FrozenEstimator(fitted), []

    def double(novelty_score, estimator=frozen):
        model = DoubleScoreOODClassifier(
            estimator, novelty_score=novelty_score, min_tpr=0.5, ood_label=9
        )
        return model.fit(X, np.where(np.arange(160) < 9, 9, y))

    def distance(estimator, X):
        seen.append(estimator)
        return np.where(X[:, 2] > 9, np.inf, X[:, 3])

    model = double(distance)
    np.testing.assert_array_equal(model.risk_and_novelty(X)[1], distance(None, X))
    assert seen[0] is model.estimator_
    for score in ("auto", "conditional_risk"):
        selective = SelectiveClassifier(frozen, uncertainty_score=score).fit(X, y)
        found = double(selective.uncertainty_score_).risk_and_novelty(X)[1]
        np.testing.assert_array_equal(found, selective.uncertainty(X))
    # One that is frozen goes by the classifier that it was fitted with.
    knn = KNN(3).fit(X[:50], estimator=fitted)
    for estimator in (frozen, make_pipeline(StandardScaler(), GaussianNB())):
        model = double(FrozenEstimator(knn), estimator)
        np.testing.assert_array_equal(model.risk_and_novelty(X)[1], knn.novelty(X))


def test_the_given_score_is_not_touched():
    X, y = make_samples()
    given = LikelihoodRatio(TREES)
    model = DoubleScoreOODClassifier(
        GaussianNB(), novelty_score=given, min_tpr=0.5, random_state=7
    ).fit(X, y)
    assert given.random_state is None
    assert not hasattr(given, "classifier_")
    assert model.novelty_score_.random_state == 7
    model.set_params(novelty_score__random_state=1).fit(X, y)
    assert model.novelty_score_.random_state == 1
