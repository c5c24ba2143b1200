"""Profiles of hypothesis, for the tests of the package and of the benchmarks.

- fast: ten examples a test, for `make test`, the same in each run
- suite: hundreds, for `make test-all`, the same in each run
- thorough: thousands, for `make long-test`, new ones in each run

`make test-seeds` draws other data in every test, and runs the tests in another order.
"""

import os
import random
from importlib.util import find_spec

import numpy as np
import pytest
from hypothesis import settings
from joblib import parallel_backend

# There is no deadline: it would only measure how busy the machine is.
settings.register_profile("fast", max_examples=10, derandomize=True, deadline=None)
settings.register_profile("suite", max_examples=200, derandomize=True, deadline=None)
settings.register_profile("thorough", max_examples=5000, print_blob=True, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fast"))

OTHER_SEED = int(os.environ.get("SKLEARN_REJECT_TEST_SEED", 0))
default_rng = np.random.default_rng


def other_rng(seed=None):
    """Return another generator for each seed that is a number, or several."""
    if seed is None or not np.issubdtype(np.asarray(seed).dtype, np.integer):
        return default_rng(seed)
    return default_rng([*np.ravel(seed), OTHER_SEED])


if OTHER_SEED:
    np.random.default_rng = other_rng


def pytest_collection_modifyitems(items):
    """Leave the guide to `make test-all`, and take another order for another seed."""
    for item in items:
        if item.path.suffix == ".rst" and item.path.parent.name == "user_guide":
            item.add_marker(pytest.mark.slow)
    if OTHER_SEED:
        random.Random(OTHER_SEED).shuffle(items)


# Doctests of modules that import dask need dask.
collect_ignore = [] if find_spec("dask") else ["sklearn_reject/dask.py"]

# Callbacks come with scikit-learn 1.9.
if not find_spec("sklearn.callback"):
    collect_ignore.append("doc/user_guide/scikit_learn.rst")


@pytest.fixture
def threads():
    """Run parallel code in threads: processes take seconds to start."""
    with parallel_backend("threading", n_jobs=1):
        yield
