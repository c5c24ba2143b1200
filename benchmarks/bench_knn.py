"""The distance to the 50th nearest of 50,000 features: time, memory and exactness.

And what the whole of it costs beside a classifier, with the samples kept by default.
"""

from functools import partial

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import NearestNeighbors
from sklearn.utils import gen_batches
from threadpoolctl import threadpool_limits

from benchmarks._peers import load_pytorch_ood
from benchmarks._report import NOT_INSTALLED, Row, at_most, show_time
from benchmarks._timing import interleaved_medians, peak_bytes
from sklearn_reject import DoubleScoreOODClassifier
from sklearn_reject.scores._distances import NeighbourIndex

TITLE = "50,000 training features of dimension 512, 10,000 queries, k = 50"

_N_TRAIN, _N_QUERIES, _N_FEATURES, _K = 50_000, 10_000, 512, 50


def run():
    """Return the rows of the table."""
    points, queries = _make_clusters()
    index = NeighbourIndex(points)
    yield from _time_rows(index, points, queries, "two threads", 2)
    yield from _time_rows(index, points, queries[:2000], "one thread, 2,000 queries", 1)
    yield from _memory_rows(index, points, queries[:2000])
    yield from _exactness_rows(index, points, queries[:200])
    yield from _hard_rows()
    yield from _flat_rows()
    for n_samples, limit in ((10_000, 20), (100_000, 20)):
        yield _whole_row(n_samples, limit)


def _make_clusters(spread=1.0, n_features=_N_FEATURES, n_queries=_N_QUERIES, seed=0):
    """Return non-negative features of ten classes, scaled to length one."""
    rng = np.random.default_rng(seed)
    centers = rng.normal(size=(10, n_features))
    return (
        _draw(rng, centers, spread, _N_TRAIN),
        _draw(rng, centers, spread, n_queries),
    )


def _draw(rng, centers, spread, n_samples):
    noise = rng.normal(0, spread, (n_samples, centers.shape[1]))
    features = centers[rng.integers(0, len(centers), n_samples)] + noise
    features = np.abs(features)
    return features / np.linalg.norm(features, axis=1)[:, np.newaxis]


def _time_rows(index, points, queries, threads, n_threads):
    contenders = {
        "ours": partial(index.kth_distances, queries, _K),
        "bound": partial(_product_and_partition, points, queries),
    }
    peer = _prepare_pytorch_ood(points, queries)
    if peer is not None:
        contenders["pytorch-ood"] = peer
    brute = NearestNeighbors(algorithm="brute").fit(points)
    contenders["scikit-learn"] = partial(brute.kneighbors, queries, _K)
    with threadpool_limits(n_threads):
        times = interleaved_medians(contenders, repeats=3)
    ours = times.pop("ours")
    for name, limit in (("pytorch-ood", 4), ("bound", 4), ("scikit-learn", 1.25)):
        what = f"{threads}: against {_describe(name)}"
        if name not in times:
            yield Row(what, f"<= {limit} x", NOT_INSTALLED)
            continue
        details = f"{show_time(ours)} against {show_time(times[name])}"
        yield at_most(what, limit, ours / times[name], " x", details)


def _describe(name):
    if name == "bound":
        return "matrix product in float32 and np.partition"
    return "scikit-learn, brute force" if name == "scikit-learn" else name


def _product_and_partition(points, queries):
    """Find the largest inner products: what any search by all products has to do."""
    points, queries = points.astype(np.float32), queries.astype(np.float32)
    values = np.empty((256, len(points)), dtype=np.float32)
    kth = np.empty(len(queries))
    for rows in gen_batches(len(queries), 256):
        part = values[: rows.stop - rows.start]
        np.matmul(queries[rows], points.T, out=part)
        part.partition(len(points) - _K, axis=1)
        kth[rows] = part[:, -_K]
    return np.sqrt(2 - 2 * kth)


def _prepare_pytorch_ood(points, queries):
    """Return a call of pytorch-ood's detector, None where it is not installed."""
    module = load_pytorch_ood("detector.knn")
    if module is None:
        return None
    import torch

    detector = module.KNN(encoder=None, k=_K)
    detector.fit_features(
        torch.from_numpy(points.astype(np.float32)),
        torch.zeros(len(points), dtype=torch.long),
    )
    samples = torch.from_numpy(queries.astype(np.float32))
    return lambda: detector.predict_features(samples).numpy()


def _memory_rows(index, points, queries):
    peak = peak_bytes(partial(index.kth_distances, queries, _K))
    share = peak / points.nbytes
    details = f"{peak / 2**20:.0f} MiB"
    yield at_most("peak memory of the search, training features", 1, share, "", details)


def _exactness_rows(index, points, queries):
    exact = np.sort(cdist(queries, points), axis=1)[:, _K - 1]
    ours = np.abs(index.kth_distances(queries, _K) / exact - 1).max()
    yield at_most("relative error", 1e-12, float(ours))
    peer = _prepare_pytorch_ood(points, queries)
    if peer is not None:
        error = np.abs(peer() / exact - 1).max()
        yield Row("relative error of pytorch-ood", "", f"{error:.2g}")


def _hard_rows():
    """Classes so narrow that rounded distances tie: all points are compared, then."""
    for spread in (1e-4, 1e-6):
        points, queries = _make_clusters(spread, n_features=32, n_queries=200)
        what = f"classes of width {spread:g}, 32 dimensions, 200 queries"
        search = NearestNeighbors(algorithm="brute")
        yield _compare(points, queries, what, search, 20)


def _flat_rows():
    for n_features in (2, 6, 7, 32):
        points, queries = _make_clusters(n_features=n_features, n_queries=2000)
        what = f"{n_features} dimensions, 2,000 queries"
        yield _compare(points, queries, what, NearestNeighbors(), 2)


def _compare(points, queries, what, search, limit):
    index, search = NeighbourIndex(points), search.fit(points)
    times = interleaved_medians(
        {
            "ours": partial(index.kth_distances, queries, _K),
            "peer": partial(search.kneighbors, queries, _K),
        },
        repeats=3,
    )
    details = f"{show_time(times['ours'])} against {show_time(times['peer'])}"
    what += f": against NearestNeighbors({search.algorithm!r})"
    return at_most(what, limit, times["ours"] / times["peer"], " x", details)


def _whole_row(n_samples, limit):
    """Compare fit and predict around a classifier, in five folds, with its own."""
    X, y = make_classification(
        n_samples, n_informative=10, n_classes=5, n_clusters_per_class=1, random_state=0
    )
    inside = y < 4
    classifier = LogisticRegression()
    double = DoubleScoreOODClassifier(classifier, min_tpr=0.8, random_state=0)
    labels = np.where(inside, y, -1)
    times = interleaved_medians(
        {
            "ours": lambda: double.fit(X, labels).predict(X),
            "inner": lambda: classifier.fit(X[inside], y[inside]).predict(X),
        },
        repeats=3,
    )
    what = f"DoubleScoreOODClassifier, {n_samples:,} x 20, against logistic regression"
    details = f"{show_time(times['ours'])} against {show_time(times['inner'])}"
    return at_most(what, limit, times["ours"] / times["inner"], " x", details)
