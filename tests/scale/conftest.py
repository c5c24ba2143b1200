"""Clusters of two processes on the loopback address, which tests of a run share."""

import pytest
import ray
from distributed import Client, LocalCluster
from ray.util.joblib import register_ray

# What the tests' own process hears of its clusters, and cannot help.
_OF_CLUSTERS = (
    # Left open by subprocesses and event loops that others close later.
    "ignore:unclosed:ResourceWarning",
    "ignore::pytest.PytestUnraisableExceptionWarning",
    "ignore::DeprecationWarning:distributed",
    "ignore::DeprecationWarning:dask",
    "ignore::DeprecationWarning:ray",
    "ignore::FutureWarning:ray",
)


def pytest_collection_modifyitems(items):
    for item in items:
        for text in _OF_CLUSTERS:
            # First in the list, so that marks of a test itself win.
            item.add_marker(pytest.mark.filterwarnings(text), append=False)


def two_workers():
    """Return a cluster of Dask, not shared with anyone."""
    return LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        processes=True,
        host="127.0.0.1",
        # Any free port: None takes the usual one, with a warning where it is taken.
        dashboard_address="127.0.0.1:0",
    )


@pytest.fixture(scope="session")
def cluster():
    """Client of a cluster of Dask."""
    with two_workers() as local, Client(local) as client:
        yield client


@pytest.fixture(scope="session")
def ray_cluster():
    """Ray, as a backend of joblib."""
    ray.init(
        num_cpus=2,
        include_dashboard=False,
        object_store_memory=200 * 2**20,
        log_to_driver=False,
        logging_level="error",
    )
    register_ray()
    yield
    ray.shutdown()


@pytest.fixture(params=["dask", "ray"])
def engine(request):
    """Arguments of `joblib.parallel_config` for an engine that is there."""
    if request.param == "dask":
        request.getfixturevalue("cluster")
        return {"backend": "dask"}
    request.getfixturevalue("ray_cluster")
    # Without a number, only Dask takes all that there are.
    return {"backend": "ray", "n_jobs": 2}
