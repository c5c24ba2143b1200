"""How many samples hypothesis draws, in tests of the package and of the benchmarks.

- fast: a few, for `make test`
- suite: hundreds, for `make test-all`
- thorough: thousands, for `make long-test`, other ones in each run

The first two draw the same samples in each run: a test fails for what was changed.
"""

import os
from importlib.util import find_spec

import pytest
from hypothesis import settings
from joblib import parallel_backend

# Time limits an example would only measure how busy the machine is.
settings.register_profile("fast", max_examples=20, derandomize=True, deadline=None)
settings.register_profile("suite", max_examples=200, derandomize=True, deadline=None)
settings.register_profile("thorough", max_examples=5000, print_blob=True, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fast"))

# What needs dask is tested where there is dask.
collect_ignore = [] if find_spec("dask") else ["sklearn_reject/dask"]

# Callbacks come with scikit-learn 1.9.
if not find_spec("sklearn.callback"):
    collect_ignore.append("doc/user_guide/callbacks.rst")


@pytest.fixture
def threads():
    """Run what is parallel in threads: processes take seconds of imports to start."""
    with parallel_backend("threading", n_jobs=1):
        yield
