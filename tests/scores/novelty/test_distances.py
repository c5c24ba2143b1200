"""The k-th nearest neighbour against all distances."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.linear_model import LogisticRegression

from sklearn_reject.scores import KNN
from sklearn_reject.scores.novelty import _distances as neighbours
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


@pytest.mark.parametrize("spread", [1.0, 1e-5, 1e-9, 1e-13, 0.0])
@pytest.mark.parametrize("k", [1, 50, 900])
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
    monkeypatch.setattr(neighbours, "_BLOCK_SIZE", 2**12)
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
    score = KNN(k).fit(X, y, estimator=classifier)
    points = X / np.linalg.norm(X, axis=1)[:, np.newaxis]
    queries = X_new / np.linalg.norm(X_new, axis=1)[:, np.newaxis]
    expected = [
        sorted(np.linalg.norm(query - point) for point in points)[k - 1]
        for query in queries
    ]
    np.testing.assert_allclose(score.novelty(X_new), expected, rtol=1e-12)


def test_only_directions_count():
    classifier, X, y = fit_classifier()
    score = KNN(5).fit(X, y, estimator=classifier)
    # Powers of two change no digit.
    for scale in (2.0**-600, 2.0**600):
        np.testing.assert_array_equal(score.novelty(scale * X), score.novelty(X))


def test_zero_vectors():
    classifier, X, y = fit_classifier()
    X_new = np.zeros((1, 12))
    score = KNN(1).fit(X, y, estimator=classifier)
    np.testing.assert_allclose(score.novelty(X_new), 1.0)
    with_zero = np.vstack([X, X_new])
    score = KNN(1).fit(with_zero, estimator=classifier)
    np.testing.assert_array_equal(score.novelty(X_new), 0.0)


def test_weights_of_any_scale_are_repetitions():
    classifier, X, _ = fit_classifier()
    same = np.full(300, 1e-3)
    np.testing.assert_array_equal(
        KNN(7).fit(X, estimator=classifier, sample_weight=same).novelty(X),
        KNN(7).fit(X, estimator=classifier).novelty(X),
    )
    # Of mean one: the 20th neighbour by weight is the 40th of samples repeated twice
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
    np.testing.assert_allclose(
        halves.novelty(X), KNN(3).fit(X[:, :6], estimator=linear).novelty(X[:, :6])
    )
    with pytest.raises(ValueError, match=r"n_neighbors=301 is larger .* 300"):
        KNN(301).fit(X, estimator=classifier)
    with pytest.raises(ValueError, match="n_neighbors must be a positive int"):
        KNN(0).fit(X, estimator=classifier)
    with pytest.raises(ValueError, match=r"sparse matrix, .*TruncatedSVD"):
        KNN(3).fit(sparse.csr_matrix(X), estimator=classifier)


def test_pickled():
    classifier, X, _ = fit_classifier()
    score = KNN(3).fit(X, estimator=classifier)
    again = pickle.loads(pickle.dumps(score))
    np.testing.assert_array_equal(again.novelty(X), score.novelty(X))
