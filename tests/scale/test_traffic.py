"""How many bytes fits move on Dask, in units of those of the samples.

A cluster moves an array up to three times: to the scheduler, on to a worker, and on
to the other one. All else is to be small, whatever the number of folds.
"""

import numpy as np
import pytest
from joblib import parallel_config
from sklearn.datasets import make_classification
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB

from sklearn_reject import (
    DeferringClassifier,
    DoubleScoreOODClassifier,
    EnsembleThresholdTuner,
    SelectiveClassifier,
    SelectiveRegressor,
)
from sklearn_reject.losses import sele_loss_and_gradient
from sklearn_reject.metrics import aurc_score, bootstrap_interval
from tests.scale.estimators import FirstLetter
from tests.scale.traffic import bytes_moved

N_SAMPLES, N_FEATURES = 5_000, 50

PLUG_IN, LEARNED = 4, 8  # times the bytes of the samples


@pytest.fixture(scope="module")
def samples():
    X, y = make_classification(
        N_SAMPLES,
        N_FEATURES,
        n_informative=5,
        n_classes=3,
        flip_y=0.1,
        random_state=0,
    )
    weight = np.random.default_rng(0).uniform(0.5, 2, N_SAMPLES)
    return X, y, weight


def least_traffic(client, fit, X):
    """Return the least traffic of some fits, in units of X.

    The cluster sends a sample again where it takes a task from a worker that was about
    to get it, which depends on how busy the machine is.
    """
    found = []
    for _ in range(3):
        with parallel_config(backend="dask"), bytes_moved(client) as moved:
            fit()
        found.append(moved[0] / X.nbytes)
    return min(found)


def selective(score, cv):
    return SelectiveClassifier(
        GaussianNB(), target_coverage=0.8, uncertainty_score=score, cv=cv
    )


@pytest.mark.parametrize("cv", [5, 15])
@pytest.mark.parametrize(
    ("score", "most"),
    [("top_two_gap", PLUG_IN), ("sele", LEARNED)],
)
def test_selective_classifier(cluster, samples, score, most, cv):
    X, y, weight = samples
    # What was fitted before must not travel either.
    model = selective(score, cv).fit(X[::10], y[::10])
    fit = lambda: model.fit(X, y, sample_weight=weight)  # noqa: E731
    assert 2 < least_traffic(cluster, fit, X) < most


@pytest.mark.parametrize("cv", [5, 15])
@pytest.mark.parametrize(("score", "most"), [("auto", PLUG_IN), ("sele", LEARNED)])
def test_double_score(cluster, samples, score, most, cv):
    X, y, weight = samples
    is_ood = np.arange(N_SAMPLES) % 10 == 0
    X, y = X + 2 * is_ood[:, np.newaxis], np.where(is_ood, -1, y)
    model = DoubleScoreOODClassifier(
        GaussianNB(), min_tpr=0.5, max_risk=0.4, uncertainty_score=score, cv=cv
    )
    fit = lambda: model.fit(X, y, sample_weight=weight)  # noqa: E731
    assert 2 < least_traffic(cluster, fit, X) < most


@pytest.mark.parametrize("cv", [5, 15])
def test_others(cluster, samples, cv):
    X, y, _ = samples
    regressor = SelectiveRegressor(LinearRegression(), target_coverage=0.8, cv=cv)
    fit = lambda: regressor.fit(X, X[:, 0] + y)  # noqa: E731
    assert least_traffic(cluster, fit, X) < LEARNED

    tuner = EnsembleThresholdTuner(
        [("bayes", GaussianNB()), ("linear", LogisticRegression())],
        max_fp_per_tp=1.0,
        cv=cv,
    )
    assert least_traffic(cluster, lambda: tuner.fit(X, y > 0), X) < PLUG_IN

    # Two classifiers are fitted on the folds.
    deferring = DeferringClassifier(
        GaussianNB(),
        LogisticRegression(),
        deferral_cost=0.1,
        gain_score="confidence",
        cv=cv,
    )
    assert least_traffic(cluster, lambda: deferring.fit(X, y), X) < 2 * PLUG_IN


def test_texts_are_sent_once(cluster):
    """An engine cannot tell by itself that a list is large."""
    rng = np.random.default_rng(0)
    texts = [rng.bytes(500).hex() for _ in range(2000)]
    y = rng.integers(2, size=len(texts))
    model = SelectiveClassifier(FirstLetter(), target_coverage=0.8, cv=15)
    model.fit(texts[:100], y[:100])
    with parallel_config(backend="dask"), bytes_moved(cluster) as moved:
        model.fit(texts, y)
    assert moved[0] < 4 * sum(map(len, texts))


def test_resamples_are_drawn_where_the_samples_are(cluster):
    rng = np.random.default_rng(0)
    labels = rng.integers(2, size=(2, 100_000)).astype(float)
    arrays = *labels, rng.random(labels.shape[1])
    options = {"n_resamples": 40, "random_state": 0, "method": "percentile"}
    with parallel_config(backend="dask"), bytes_moved(cluster) as moved:
        bootstrap_interval(aurc_score, arrays, **options)
    assert moved[0] < 5 * sum(array.nbytes for array in arrays)


@pytest.mark.parametrize("method", ["exact", "chunked"])
def test_gradients_stay(cluster, method):
    rng = np.random.default_rng(0)
    scores, losses = rng.normal(size=5000), rng.integers(2, size=5000)
    options = {"method": method, "random_state": 0}
    expected = sele_loss_and_gradient(scores, losses, **options)
    with parallel_config(backend="dask"), bytes_moved(cluster) as moved:
        value, gradient = sele_loss_and_gradient(scores, losses, **options)
    assert value == expected[0]
    np.testing.assert_array_equal(gradient, expected[1])
    assert moved[0] < scores.nbytes
