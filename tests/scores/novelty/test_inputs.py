"""What scores of distances see of samples in any container, and of folds."""

import numpy as np
import pytest
import sklearn
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_digits
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC, OneClassSVM

from sklearn_reject import DoubleScoreOODClassifier, SelectiveClassifier
from sklearn_reject.exceptions import RejectionWarning
from sklearn_reject.scores import (
    KNN,
    LikelihoodRatio,
    Mahalanobis,
    OutlierDetector,
    ViM,
)

# Trees need few rows and rounds to be fitted.
TREES = HistGradientBoostingClassifier(max_iter=3, min_samples_leaf=5)
SCORES = [KNN(), Mahalanobis(), OutlierDetector(), LikelihoodRatio(TREES)]
SCORES.append(OutlierDetector(OneClassSVM()))


class FrameClassifier(ClassifierMixin, BaseEstimator):
    """Takes whatever it is given, and predicts the first class."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        return np.eye(len(self.classes_))[np.zeros(len(X), dtype=int)]

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


def make_clusters(n=120, seed=0):
    """Return two clusters of ID samples, others far off, and labels of the former."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    return rng.normal(size=(n, 4)) + 4 * y[:, np.newaxis], rng.normal(9, 1, (40, 4)), y


def with_holes(X, share=0.2, seed=0, columns=4):
    is_hole = np.random.default_rng(seed).random(X.shape) < share
    is_hole[:, columns:] = False
    return np.where(is_hole, np.nan, X)


def auroc(inside, outside):
    return (outside[:, np.newaxis] > inside).mean()


@pytest.mark.parametrize("score", SCORES, ids=repr)
def test_missing_values_inside_boosting(score):
    X, X_ood, y = make_clusters()
    X, X_ood = with_holes(X), with_holes(X_ood, seed=1)
    classifier = TREES.fit(X[:80], y[:80])
    score.fit(X[:80], y[:80], estimator=classifier, X_ood=X_ood[:20])
    # The forests of scikit-learn 1.6 hardly tell samples with missing values apart.
    is_poor = sklearn.__version__.startswith("1.6.") and score is SCORES[2]
    area = auroc(score.novelty(X[80:]), score.novelty(X_ood[20:]))
    assert area > (0.3 if is_poor else 0.6)
    single = [score.novelty(row[np.newaxis])[0] for row in X_ood[:9]]
    np.testing.assert_array_equal(single, score.novelty(X_ood[:9]))


def test_missing_values_are_medians_beside_indicators():
    X, _, y = make_clusters()
    X[::3, 1] = np.nan
    X[:, 3] = 5.0
    score = KNN(3).fit(X, estimator=TREES.fit(X, y))
    is_missing = np.isnan(X[:, 1])
    filled = X.copy()
    filled[is_missing, 1] = np.median(X[~is_missing, 1])
    deviations = filled.std(axis=0)
    deviations[3] = 1.0
    points = np.column_stack([filled / deviations, is_missing])
    expected = np.sort(cdist(points, points), axis=1)[:, 2]
    np.testing.assert_allclose(score.novelty(X), expected, rtol=1e-9)


@pytest.mark.parametrize("score", [KNN(3), Mahalanobis()])
def test_a_value_that_was_never_missing_is_novel_where_it_is(score):
    X, _, y = make_clusters()
    score.fit(X, y, estimator=TREES.fit(X, y))
    median = X[:1].copy()
    median[0, :2] = np.median(X[:, :2], axis=0)
    holes = median.copy()
    holes[0, :2] = np.nan
    power = 2 if isinstance(score, KNN) else 1
    expected = score.novelty(median) ** power + 2
    np.testing.assert_allclose(score.novelty(holes) ** power, expected)


def test_detectors_that_need_complete_numbers_say_so():
    X, _, y = make_clusters()
    score = OutlierDetector(OneClassSVM()).fit(X, estimator=TREES.fit(X, y))
    with pytest.raises(ValueError, match=r"missing in a column that was complete"):
        score.novelty(with_holes(X))


@pytest.mark.parametrize("score", SCORES, ids=repr)
def test_frames_with_text(score):
    pandas = pytest.importorskip("pandas")
    X, _, y = make_clusters()
    color = np.where(y == 1, "red", "blue")
    frame = pandas.DataFrame({"size": X[:, 0], "color": color, "n": X[:, 1]})
    frame["color"] = frame["color"].astype("category")
    other = frame.assign(color=np.where(y == 1, "blue", "green"))
    classifier = FrameClassifier().fit(frame, y)
    score.check(FrameClassifier(), frame)
    score.fit(frame, y, estimator=classifier, X_ood=other)
    assert auroc(score.novelty(frame), score.novelty(other)) > 0.6
    single = [score.novelty(frame[k : k + 1])[0] for k in range(9)]
    np.testing.assert_array_equal(single, score.novelty(frame[:9]))


def test_another_category_is_as_far_as_two_numbers_on_average():
    pandas = pytest.importorskip("pandas")
    X, _, y = make_clusters()
    frame = pandas.DataFrame({"size": X[:, 0], "color": np.array(["a", "b"])[y]})
    score = KNN(1).fit(frame, estimator=FrameClassifier().fit(frame, y))
    size = X[:, :1] / X[:, 0].std()
    points, queries = (
        np.hstack([size, np.eye(2)[labels]]) for labels in (y, np.roll(y, 1))
    )
    swapped = frame.assign(color=np.roll(frame["color"], 1))
    expected = cdist(queries, points).min(axis=1)
    np.testing.assert_allclose(score.novelty(swapped), expected, rtol=1e-9)


WORDS = {
    0: "goal match team player score league cup win",
    1: "tax vote law minister party state budget court",
    2: "star planet orbit moon comet galaxy sky light",
}


def make_texts(topic, n_texts, seed):
    """Return texts of words of a topic, with rare ones of which each text has own."""
    rng = np.random.default_rng(seed)
    words = np.array(WORDS[topic].split())
    return [
        " ".join([*rng.choice(words, 6), f"{topic}rare{seed}x{k}"])
        for k in range(n_texts)
    ]


def fit_texts():
    """Return a text classifier of two topics, fitted, and its samples."""
    texts, y = make_texts(0, 150, 1) + make_texts(1, 150, 2), np.repeat([0, 1], 150)
    classifier = make_pipeline(TfidfVectorizer(), LogisticRegression()).fit(texts, y)
    assert classifier[0].transform(texts).shape[1] > 256
    return classifier, texts, y


@pytest.mark.parametrize("score", SCORES, ids=repr)
def test_text_pipelines(score):
    classifier, texts, y = fit_texts()
    score.check(classifier, texts)
    score.fit(texts, y, estimator=classifier, X_ood=make_texts(2, 30, 3))
    single = [score.novelty([text])[0] for text in texts[:5]]
    np.testing.assert_array_equal(single, score.novelty(texts[:5]))


@pytest.mark.parametrize("score", [KNN(), Mahalanobis()])
def test_texts_of_another_topic(score):
    classifier, texts, y = fit_texts()
    score.fit(texts, y, estimator=classifier)
    inside = make_texts(0, 20, 4) + make_texts(1, 20, 5)
    outside = make_texts(2, 30, 3)
    assert auroc(score.novelty(inside), score.novelty(outside)) > 0.9


def test_sparse_samples_of_few_columns_are_like_dense_ones():
    X, X_ood, y = make_clusters()
    classifier = LogisticRegression().fit(X, y)
    for score in (KNN(), Mahalanobis()):
        expected = score.fit(X, y, estimator=classifier).novelty(X_ood)
        score.fit(sparse.csr_matrix(X), y, estimator=classifier)
        np.testing.assert_array_equal(score.novelty(sparse.csr_array(X_ood)), expected)


class Unfit(GaussianNB):
    """Must not be fitted."""

    def fit(self, X, y, sample_weight=None):
        raise AssertionError("fitted")


class Distance(ViM):
    """Says that it takes no sparse matrix, and does not look."""

    def _fit(self, response, y, sample_weight, X_ood):
        pass

    def _novelty(self, response):
        return np.zeros(response.n_samples)


@pytest.mark.parametrize("score", [Distance(), ViM()])
def test_a_sparse_matrix_is_refused_before_any_fit(score):
    X, X_ood, y = make_clusters()
    samples = sparse.csr_matrix(np.vstack([X, X_ood]))
    y = np.append(y, np.full(40, -1))
    model = DoubleScoreOODClassifier(Unfit(), novelty_score=score, min_tpr=0.5)
    with pytest.raises(ValueError, match=r"sparse matrix, which (Distance|ViM) cannot"):
        model.fit(samples, y)
    fitted = LogisticRegression().fit(X, y[:120])
    with pytest.raises(ValueError, match=r"sparse matrix, which .*'knn'"):
        score.fit(sparse.csr_matrix(X), estimator=fitted)


@pytest.mark.parametrize("score", SCORES, ids=repr)
def test_what_cannot_be_numbers_is_refused_before_any_fit(score):
    X, X_ood, y = make_clusters()
    samples = np.vstack([X, X_ood]).astype(object)
    samples[3, 1] = {"a": 1}
    y = np.append(y, np.full(40, -1))
    model = DoubleScoreOODClassifier(Unfit(), novelty_score=score, min_tpr=0.5)
    with pytest.raises(
        (TypeError, ValueError), match=r"inputs of Unfit .* Put the prepro"
    ):
        model.fit(samples, y)
    infinite = np.where(np.vstack([X, X_ood]) > 9, np.inf, 0.0)
    with pytest.raises(ValueError, match=r"some of them are infinite"):
        model.fit(infinite, y)


def test_what_a_search_makes_of_samples_is_not_known_before():
    classifier, texts, _ = fit_texts()
    search = GridSearchCV(classifier, {"logisticregression__C": [1.0]}, cv=2)
    assert KNN().check(search, texts) is None
    assert ViM().check(search, sparse.csr_matrix(np.eye(3))) is None
    assert KNN().check(classifier, texts) is None
    with pytest.raises((TypeError, ValueError), match="of LogisticRegression"):
        KNN().check(classifier[-1], texts)
    network = MLPClassifier()
    assert KNN().check(network, texts) is None, "it says so itself"


# Folds


def folds_by_hand(X, y, k_of, cv, rows):
    """Return the distances out of fold, with the neighbors that a fold counts."""
    distances = np.empty(len(rows))
    for train, test in KFold(cv).split(rows):
        inside = X[rows[train]][y[rows[train]] != -1]
        mean, deviation = inside.mean(axis=0), inside.std(axis=0)
        apart = cdist((X[rows[test]] - mean) / deviation, (inside - mean) / deviation)
        distances[test] = np.sort(apart, axis=1)[:, k_of(len(inside)) - 1]
    return distances


def make_samples():
    X, X_ood, y = make_clusters()
    order = np.random.default_rng(1).permutation(160)
    return np.vstack([X, X_ood])[order], np.append(y, np.full(40, -1))[order]


@pytest.mark.parametrize("cv", [2, 5])
def test_folds_count_their_share_of_the_neighbors(cv):
    X, y = make_samples()
    model = DoubleScoreOODClassifier(
        GaussianNB(), novelty_score=KNN(30), min_tpr=0.8, cv=KFold(cv)
    ).fit(X, y)
    expected = folds_by_hand(X, y, lambda n: round(30 * n / 120), cv, np.arange(160))
    novelty = model.calibration_.scores[:, 1][model.calibration_.rows.argsort()]
    np.testing.assert_allclose(novelty, expected, rtol=1e-9)
    assert model.novelty_score_.n_neighbors_ == 30


def test_folds_of_a_part_go_by_its_number_of_samples():
    X, y = make_samples()
    model = DoubleScoreOODClassifier(
        GaussianNB(),
        novelty_score=KNN(10),
        min_tpr=0.5,
        confidence_level=0.8,
        cv=0.5,
        random_state=0,
    ).fit(X, y)
    assert model.novelty_score_.n_neighbors_ == 10
    counts = []

    class Spy(KNN):
        def _fit(self, *args):
            super()._fit(*args)
            counts.append((len(self.index_.points), self.n_neighbors_))

    model.set_params(novelty_score=Spy(10)).fit(X, y)
    [*folds, (n_final, k_final)] = counts
    assert k_final == 10
    assert [k for _, k in folds] == [round(10 * n / n_final) for n, _ in folds]


def test_weights_of_zero_do_not_count_among_the_samples():
    X, y = make_samples()
    weight = np.where(np.arange(160) % 3 > 0, 1.0, 0.0)
    options = {"novelty_score": KNN(20), "min_tpr": 0.8, "cv": 2, "random_state": 0}
    model = DoubleScoreOODClassifier(GaussianNB(), **options)
    model.fit(X, y, sample_weight=weight)
    assert model.novelty_score_.n_neighbors_ == 20


def test_distances_out_of_fold_are_those_in_use():
    """As many new samples are near as were out of fold: 50 of all are 40 of 80 %."""
    X, y = load_digits(return_X_y=True)
    X, y = X[:, 20:36], np.where(y > 6, -1, y)
    model = DoubleScoreOODClassifier(
        GaussianNB(var_smoothing=0.1), novelty_score=KNN(50), min_tpr=0.8, cv=KFold(5)
    )
    shares = []
    for seed in range(3):
        rows = np.random.default_rng(seed).permutation(len(y))
        train, test = rows[:570], rows[570:]
        calibration = model.fit(X[train], y[train]).calibration_
        limit = np.quantile(calibration.scores[~calibration.is_ood, 1], 0.8)
        _, novelty = model.risk_and_novelty(X[test][y[test] != -1])
        shares.append((novelty <= limit).mean())
    # The standard error is .013; with 50 in folds, too, it is .86.
    assert np.mean(shares) == pytest.approx(0.8, abs=0.025)


def test_the_nearest_is_one_of_as_many_in_few_folds_as_in_the_end():
    """The nearest of all is nearer than that of a fold: a TPR of .80 was .86 in use."""
    X, y = load_digits(return_X_y=True)
    X, y = X[:, 20:36], np.where(y > 6, -1, y)
    model = DoubleScoreOODClassifier(
        GaussianNB(var_smoothing=0.1), novelty_score=KNN(), min_tpr=0.8, cv=2
    )
    shares = []
    for seed in range(3):
        rows = np.random.default_rng(seed).permutation(len(y))
        train, test = rows[:570], rows[570:]
        calibration = model.fit(X[train], y[train]).calibration_
        limit = np.quantile(calibration.scores[~calibration.is_ood, 1], 0.8)
        _, novelty = model.risk_and_novelty(X[test][y[test] != -1])
        shares.append((novelty <= limit).mean())
    assert np.mean(shares) == pytest.approx(0.8, abs=0.025)


@pytest.mark.parametrize("cv", [2, 3, 5, 10])
def test_as_many_samples_are_kept_as_the_smallest_fold_has(cv):
    X, y = make_samples()
    X, y = X[y != -1], y[y != -1]
    model = SelectiveClassifier(
        GaussianNB(), target_coverage=0.8, uncertainty_score="knn", cv=cv
    ).fit(X, y)
    kept = model.uncertainty_score_.novelty_score_.index_.points
    assert len(kept) == round(min(0.8, 1 - 1 / cv) * 120)


@pytest.mark.parametrize(
    "score", ["knn", pytest.param("mahalanobis", marks=pytest.mark.slow)]
)
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


@pytest.mark.parametrize("score", [KNN(), Mahalanobis()])
def test_values_that_have_no_variance_are_named(score):
    X, y = make_samples()
    X[::9, 1] = np.finfo(float).max
    model = DoubleScoreOODClassifier(TREES, novelty_score=score, min_tpr=0.8)
    with pytest.raises(ValueError, match=r"1.8e\+308 \(column 1.*use NaN"):
        model.fit(X, y)


def test_a_small_fold_does_not_fail_a_candidate():
    X, y = make_samples()
    few = np.append(np.flatnonzero(y != -1)[:16], np.flatnonzero(y == -1)[:16])
    model = DoubleScoreOODClassifier(GaussianNB(), min_tpr=0.5, cv=2, random_state=0)
    grid = {"novelty_score": ["knn", "mahalanobis"]}
    search = GridSearchCV(model, grid, cv=KFold(2, shuffle=True, random_state=0))
    search.fit(X[few], y[few])
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
