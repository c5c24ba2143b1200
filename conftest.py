"""Profiles of hypothesis, for the tests of the package and of the benchmarks.

- fast: few examples a test, for `make test`, the same in each run
- suite: hundreds, for `make test-all`, the same in each run
- thorough: thousands, for `make long-test`, new ones in each run
"""

import os
from importlib.util import find_spec

import pytest
from hypothesis import settings
from joblib import parallel_backend

# There is no deadline: it would only measure how busy the machine is.
settings.register_profile("fast", max_examples=20, derandomize=True, deadline=None)
settings.register_profile("suite", max_examples=200, derandomize=True, deadline=None)
settings.register_profile("thorough", max_examples=5000, print_blob=True, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fast"))

# Doctests of modules that import dask need dask.
collect_ignore = [] if find_spec("dask") else ["sklearn_reject/dask"]

# Callbacks come with scikit-learn 1.9.
if not find_spec("sklearn.callback"):
    collect_ignore.append("doc/user_guide/callbacks.rst")


@pytest.fixture
def threads():
    """Run parallel code in threads: processes take seconds to start."""
    with parallel_backend("threading", n_jobs=1):
        yield
