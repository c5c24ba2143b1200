"""The k-th nearest neighbor against all distances."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier

from sklearn_reject.scores import KNN
from sklearn_reject.scores.novelty import _distances as neighbors
from sklearn_reject.scores.novelty._distances import (
    NeighbourIndex,
    _merge_duplicates,
    _normalize,
)


def kth_by_hand(queries, points, k, weight=None):
    weight = np.ones(len(points)) if weight is None else weight / weight.mean()
    distances = []
    for query in queries:
        # Adding up weights in another order rounds otherwise.
        apart = [np.sqrt(sum((query - point) ** 2)) for point in points]
        total = 0.0
        for i in np.argsort(apart):
            total += weight[i]
            if total >= k - 1e-9:
                break
        distances.append(apart[i])
    return distances


@given(st.data())
def test_any_points(data):
    n_points = data.draw(st.integers(1, 12))
    n_features = data.draw(st.sampled_from([1, 2, 7, 9]))
    k = data.draw(st.integers(1, n_points))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    points = rng.integers(-1, 2, (n_points, n_features)).astype(float)
    queries = rng.integers(-1, 2, (5, n_features)).astype(float)
    is_weighted = data.draw(st.booleans())
    weight = rng.integers(1, 4, n_points) / 2 if is_weighted else None
    found = NeighbourIndex(points, weight).kth_distances(queries, k)
    expected = kth_by_hand(queries, points, k, weight)
    np.testing.assert_allclose(found, expected, rtol=1e-14)


def clusters(rng, n, d, spread):
    return rng.normal(size=(5, d))[rng.integers(0, 5, n)] + spread * rng.normal(
        size=(n, d)
    )


@pytest.mark.parametrize(
    "spread", [1.0, pytest.param(1e-5, marks=pytest.mark.slow), 1e-9, 1e-13, 0.0]
)
@pytest.mark.parametrize("k", [1, pytest.param(50, marks=pytest.mark.slow), 900])
@pytest.mark.parametrize("is_weighted", [False, True])
def test_clusters_of_any_width_are_exact(spread, k, is_weighted):
    rng = np.random.default_rng(0)
    points = clusters(rng, 3000, 30, spread)
    queries = np.vstack([points[:30], rng.normal(size=(10, 30))])
    points, queries = _normalize(points), _normalize(queries)
    weight = rng.exponential(size=3000) if is_weighted else None
    found = NeighbourIndex(points, weight).kth_distances(queries, k)
    apart = cdist(queries, points)
    if is_weighted:
        order = apart.argsort(axis=1)
        total = np.cumsum((weight / weight.mean())[order], axis=1)
        first = (total >= k - 1e-9).argmax(axis=1)
        expected = np.sort(apart, axis=1)[np.arange(40), first]
    else:
        expected = np.sort(apart, axis=1)[:, k - 1]
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-20)


@pytest.mark.parametrize("order", ["sorted", "shuffled"])
def test_many_chunks_and_blocks(order, monkeypatch):
    monkeypatch.setattr(neighbors, "_BLOCK_SIZE", 2**12)
    rng = np.random.default_rng(0)
    points = rng.normal(size=(600, 20)) + 3 * rng.integers(0, 3, (600, 1))
    points = _normalize(points)
    if order == "sorted":
        points = points[points[:, 0].argsort()]
    queries = _normalize(rng.normal(size=(60, 20)))
    for k in (1, 3, 40, 600):
        found = NeighbourIndex(points).kth_distances(queries, k)
        expected = np.sort(cdist(queries, points), axis=1)[:, k - 1]
        np.testing.assert_allclose(found, expected, rtol=1e-13)


@pytest.mark.parametrize("n_features", [4, 9])
def test_a_distance_does_not_depend_on_the_other_queries(n_features):
    rng = np.random.default_rng(0)
    # On a lattice many points are equally far, up to rounding.
    points = _normalize(rng.integers(1, 4, (500, n_features)).astype(float))
    queries = _normalize(rng.integers(1, 4, (60, n_features)).astype(float))
    index = NeighbourIndex(points, rng.integers(1, 3, 500) / 2)
    for k in (1, 7, 30):
        every = index.kth_distances(queries, k)
        single = [index.kth_distances(query[np.newaxis], k)[0] for query in queries]
        np.testing.assert_array_equal(single, every)


def test_duplicates_are_merged():
    points = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, -0.0], [0.0, 1.0], [2.0, 2.0]])
    distinct, weight = _merge_duplicates(points, np.array([1.0, 2.0, 3.0, 4.0, 5.0]))
    order = np.lexsort(distinct.T)
    np.testing.assert_array_equal(distinct[order], [[1, 0], [0, 1], [2, 2]])
    np.testing.assert_array_equal(weight[order], [4, 6, 5])


def fit_classifier(d=12, n=300):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(n, d)), rng.integers(0, 3, n)
    return LogisticRegression().fit(X, y), X, y


@pytest.mark.parametrize("k", [1, 50, 300])
def test_definition(k):
    classifier, X, y = fit_classifier()
    X_new = np.random.default_rng(1).normal(size=(40, 12))
    score = KNN(k, normalize=True).fit(X, y, estimator=classifier)
    points = X / np.linalg.norm(X, axis=1)[:, np.newaxis]
    queries = X_new / np.linalg.norm(X_new, axis=1)[:, np.newaxis]
    expected = [
        sorted(np.linalg.norm(query - point) for point in points)[k - 1]
        for query in queries
    ]
    np.testing.assert_allclose(score.novelty(X_new), expected, rtol=1e-12)


def test_only_directions_count():
    classifier, X, y = fit_classifier()
    score = KNN(5, normalize=True).fit(X, y, estimator=classifier)
    # Powers of two change no digit.
    for scale in (2.0**-600, 2.0**600):
        np.testing.assert_array_equal(score.novelty(scale * X), score.novelty(X))


def test_zero_vectors():
    classifier, X, y = fit_classifier()
    X_new = np.zeros((1, 12))
    score = KNN(1, normalize=True).fit(X, y, estimator=classifier)
    np.testing.assert_allclose(score.novelty(X_new), 1.0)
    with_zero = np.vstack([X, X_new])
    score = KNN(1, normalize=True).fit(with_zero, estimator=classifier)
    np.testing.assert_array_equal(score.novelty(X_new), 0.0)


def test_weights_of_any_scale_are_repetitions():
    classifier, X, _ = fit_classifier()
    same = np.full(300, 1e-3)
    for normalize, rounding in ((True, 0), (False, 1e-13)):
        score = KNN(7, normalize=normalize)
        np.testing.assert_allclose(
            score.fit(X, estimator=classifier, sample_weight=same).novelty(X),
            score.fit(X, estimator=classifier).novelty(X),
            rtol=rounding,
        )
    # Of mean one: the 20th neighbor by weight is the 40th of samples repeated twice
    # on average.
    counts = np.where(np.arange(300) % 2, 1, 3)
    by_weight = KNN(20).fit(X, estimator=classifier, sample_weight=counts)
    copies = np.repeat(X, counts, axis=0)
    np.testing.assert_allclose(
        by_weight.novelty(X),
        KNN(40).fit(copies, estimator=classifier).novelty(X),
        rtol=1e-13,
        atol=1e-15,
    )


def test_user_features_and_errors():
    classifier, X, y = fit_classifier()
    halves = KNN(3, features=lambda e, X: X[:, :6]).fit(X, estimator=classifier)
    linear = LogisticRegression().fit(X[:, :6], y)
    same = KNN(3, normalize=True).fit(X[:, :6], estimator=linear)
    np.testing.assert_allclose(halves.novelty(X), same.novelty(X[:, :6]))
    for options, message in (
        ({"n_neighbors": 301}, r"n_neighbors=301 is larger .* 300.*='auto'"),
        ({"n_neighbors": 0}, "n_neighbors must be a positive int"),
        ({"n_neighbors": "all"}, r"n_neighbors must be one of \['auto'\]"),
        ({"max_samples": 0}, "max_samples must be a positive int"),
        ({"max_samples": "all"}, r"max_samples must be one of \['auto'\]"),
        ({"normalize": "l2"}, "normalize must be one of"),
    ):
        with pytest.raises(ValueError, match=message):
            KNN(**options).fit(X, estimator=classifier)


def standardized_by_hand(X, *others):
    mean, deviation = X.mean(axis=0), X.std(axis=0)
    return [(values - mean) / deviation for values in (X, *others)]


def test_raw_columns_count_alike_whatever_their_units():
    classifier, X, _ = fit_classifier()
    X_new = np.random.default_rng(1).normal(size=(40, 12))
    points, queries = standardized_by_hand(X, X_new)
    expected = np.sort(cdist(queries, points), axis=1)[:, 4]
    for units in (1.0, 2.0 ** np.arange(-30, 30, 5)):
        score = KNN(5).fit(X * units, estimator=classifier)
        np.testing.assert_allclose(score.novelty(X_new * units), expected, rtol=1e-12)


def test_what_is_far_along_the_mean_is_novel():
    """Scaled to length one it would be like the rest: waveforms had AUROC .26."""
    rng = np.random.default_rng(0)
    X, y = 10 + rng.normal(size=(200, 5)), rng.integers(0, 2, 200)
    classifier = LogisticRegression().fit(X, y)
    inside, outside = 10 + rng.normal(size=(50, 5)), 40 + rng.normal(size=(50, 5))
    score = KNN().fit(X, estimator=classifier)
    assert score.novelty(outside).min() > score.novelty(inside).max()
    score = KNN(normalize=True).fit(X, estimator=classifier)
    assert score.novelty(outside).mean() < score.novelty(inside).mean()


def test_a_single_feature():
    X = np.arange(40.0).reshape(-1, 1)
    classifier = LogisticRegression().fit(X, X[:, 0] > 9)
    for score in (KNN(1), KNN(1, features=lambda e, X: X)):
        score.fit(X, estimator=classifier)
        far = score.novelty([[5.0], [45.0], [60.0]])
        np.testing.assert_allclose(far, np.array([0, 6, 21]) / X.std(), rtol=1e-12)
    with pytest.raises(ValueError, match=r"single feature to its sign.*=False"):
        KNN(1, normalize=True).fit(X, estimator=classifier)


def test_a_column_that_is_constant_keeps_its_unit():
    classifier, X, _ = fit_classifier(2)
    X[:, 1] = 7.0
    score = KNN(1).fit(X, estimator=classifier)
    np.testing.assert_array_equal(score.novelty(X), 0)
    np.testing.assert_allclose(score.novelty(X + np.array([0, 3])), 3.0)


def test_extreme_values_are_far_and_finite():
    classifier, X, _ = fit_classifier(8)
    score = KNN().fit(X, estimator=classifier)
    X_new = np.tile(X[:1], (4, 1))
    X_new[1:, 0] = 1e20, -1e200, 1e300
    novelty = score.novelty(X_new)
    assert np.isfinite(novelty).all()
    assert (np.diff(novelty) >= 0).all()
    single = [score.novelty(row[np.newaxis])[0] for row in X_new]
    np.testing.assert_array_equal(single, novelty)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_hidden_layers_are_scaled_to_length_one():
    X, y = load_digits(return_X_y=True)
    X, y = X[:200], y[:200]
    network = MLPClassifier((9,), max_iter=5, random_state=0).fit(X, y)
    hidden = np.maximum(X @ network.coefs_[0] + network.intercepts_[0], 0)
    hidden /= np.linalg.norm(hidden, axis=1, keepdims=True)
    expected = np.sort(cdist(hidden, hidden), axis=1)[:, 4]
    score = KNN(5).fit(X, y, estimator=network)
    np.testing.assert_allclose(score.novelty(X), expected, atol=1e-12)


def test_any_number_of_samples():
    for n_samples, n_kept in ((1, 1), (2, 2), (3, 2), (24, 19), (1000, 800)):
        classifier, X, _ = fit_classifier(n=1000)
        score = KNN().fit(X[:n_samples], estimator=classifier)
        assert (len(score.index_.points), score.n_neighbors_) == (n_kept, 1)
        assert np.isfinite(score.novelty(X)).all()


def test_the_nearest_is_one_of_as_many_in_five_folds_as_in_the_end():
    classifier, X, _ = fit_classifier(n=300)
    final = KNN().fit(X, estimator=classifier)
    fold = KNN().fit(X[:240], estimator=classifier, share=0.8)
    assert len(final.index_.points) == len(fold.index_.points) == 240
    # A share drawn from ten folds is less than what they have.
    fold = KNN().fit(X[:270], estimator=classifier, share=0.9)
    assert len(fold.index_.points) == 240


def test_a_share_of_the_samples_has_that_share_of_the_neighbors():
    classifier, X, _ = fit_classifier()
    part = {"X": X[:40], "estimator": classifier}
    for k, same, share in ((10, 8, 0.8), (50, 40, 0.8), (1, 1, 0.8), (3, 2, 0.5)):
        score = KNN(k, random_state=3).fit(**part, share=share)
        assert score.n_neighbors_ == same
        expected = KNN(same).fit(**part).novelty(X)
        np.testing.assert_array_equal(score.novelty(X), expected)
    assert KNN().fit(**part, share=0.8).n_neighbors_ == 1
    with pytest.raises(ValueError, match=r"n_neighbors=51 is larger .* 50"):
        KNN(51).fit(**part, share=0.8)
    with pytest.raises(ValueError, match=r"share must be in \]0, inf\["):
        KNN().fit(**part, share=0)


@pytest.mark.parametrize("is_weighted", [False, True])
def test_fewer_samples_have_fewer_neighbors(is_weighted):
    classifier, X, _ = fit_classifier()
    weight = np.random.default_rng(1).uniform(1, 2, 300) if is_weighted else None
    given = {"estimator": classifier, "sample_weight": weight}
    score = KNN(20, max_samples=60).fit(X, **given)
    again = KNN(20, max_samples=60, random_state=0).fit(X, **given)
    other = KNN(20, max_samples=60, random_state=1).fit(X, **given)
    assert score.n_neighbors_ == 4
    np.testing.assert_array_equal(score.novelty(X), again.novelty(X))
    assert (score.novelty(X) != other.novelty(X)).any()
    [points] = standardized_by_hand(X)
    if not is_weighted:
        kept = cdist(points, score.index_.points).min(axis=0)
        np.testing.assert_allclose(kept, 0, atol=1e-12)
        expected = np.sort(cdist(points, score.index_.points), axis=1)[:, 3]
        np.testing.assert_allclose(score.novelty(X), expected, atol=1e-12)
    assert len(score.index_.points) == 60
    folds = KNN(20, max_samples=60).fit(X[:240], estimator=classifier, share=0.8)
    assert (len(folds.index_.points), folds.n_neighbors_) == (60, 4)
    assert KNN(5, max_samples=10).fit(X, **given).n_neighbors_ == 1


def test_so_many_samples_are_kept_by_default():
    classifier, X, _ = fit_classifier(3, 8000)
    every = {"n_neighbors": 5, "max_samples": None}
    for options, n_kept, k in (({}, 2000, 1), (every, 8000, 5)):
        score = KNN(**options).fit(X, estimator=classifier)
        assert (len(score.index_.points), score.n_neighbors_) == (n_kept, k)


@pytest.mark.parametrize("shift", [0.0, 1e3, 1e6])
def test_vectors_of_any_length_are_exact(shift):
    """What the search takes for the nearest may not be, far from the origin."""
    rng = np.random.default_rng(0)
    points, queries = shift + rng.normal(size=(500, 9)), rng.normal(size=(40, 9))
    queries = shift + queries * 10.0 ** rng.integers(-3, 4, (40, 1))
    for k in (1, 7):
        expected = np.sort(cdist(queries, points), axis=1)[:, k - 1]
        found = NeighbourIndex(points).kth_distances(queries, k)
        np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_pickled():
    classifier, X, _ = fit_classifier()
    score = KNN(3).fit(X, estimator=classifier)
    again = pickle.loads(pickle.dumps(score))
    np.testing.assert_array_equal(again.novelty(X), score.novelty(X))
