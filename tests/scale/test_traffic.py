"""How many bytes fits move on Dask, in units of those of the samples.

A cluster moves an array up to three times: to the scheduler, on to a worker, and on
to the other one. All else is to be small, whatever the number of folds.
"""

from contextlib import contextmanager

import numpy as np
import pytest
from joblib import parallel_config
from sklearn.utils.validation import has_fit_parameter
from tornado.iostream import IOStream

from sklearn_reject import SelectiveClassifier
from sklearn_reject.losses import sele_loss_and_gradient
from sklearn_reject.metrics import aurc_score, bootstrap_interval
from tests.scale.estimators import CASES, FirstLetter, samples_for

_SENT = "bytes_sent_by_tests"


def count_sent():
    """Return how many bytes this process has sent, from the first call on.

    All connections of Dask write by this method, each byte once, so that the sum over
    the processes is all that went over the loopback address, frames and heartbeats
    included. Counters of the network interface have the traffic of others, too.
    """
    if not hasattr(IOStream, _SENT):
        write = IOStream.write_to_fd

        def write_and_count(stream, data):
            n_sent = write(stream, data)
            setattr(IOStream, _SENT, getattr(IOStream, _SENT) + (n_sent or 0))
            return n_sent

        IOStream.write_to_fd = write_and_count
        setattr(IOStream, _SENT, 0)
    return getattr(IOStream, _SENT)


@contextmanager
def bytes_moved(client):
    """Yield a list that holds, at the end, the bytes sent by all processes.

    Client and scheduler of a LocalCluster are in this process.
    """
    before = _count_all(client)
    moved = []
    yield moved
    moved.append(_count_all(client) - before)


def _count_all(client):
    return count_sent() + sum(client.run(count_sent).values())


PLUG_IN, LEARNED = 4, 8  # times the bytes of the samples


@pytest.mark.parametrize(
    ("name", "most", "options"),
    [
        ("plug-in", PLUG_IN, {}),
        ("learned", LEARNED, {}),
        ("double", PLUG_IN, {}),
        ("double-learned", LEARNED, {}),
        ("regressor", LEARNED, {"cv": 5}),
        ("tuner", PLUG_IN, {}),
        # Two classifiers are fitted on the folds.
        ("deferring", 2 * PLUG_IN, {"gain_score": "confidence"}),
    ],
)
@pytest.mark.filterwarnings("ignore:SELE did not converge")
def test_fits_of_many_folds(cluster, name, most, options):
    case = CASES[name]
    X, y = samples_for(case, n_samples=5_000, n_features=50)
    # What was fitted before must not travel either.
    model = case.make(**{"cv": 15} | options).fit(X[::10], y[::10])
    weight = {}
    if has_fit_parameter(model, "sample_weight"):
        weight["sample_weight"] = np.random.default_rng(0).uniform(0.5, 2, len(y))
    # The cluster sends a sample again where it takes a task from a worker that was
    # about to get it, which depends on how busy the machine is.
    for _ in range(3):
        with parallel_config(backend="dask"), bytes_moved(cluster) as moved:
            model.fit(X, y, **weight)
        if moved[0] < most * X.nbytes:
            break
    assert X.nbytes < moved[0] < most * X.nbytes


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
    options = {"n_resamples": 40, "confidence_level": 0.5, "random_state": 0}
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
