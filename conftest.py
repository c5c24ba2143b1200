"""How many samples hypothesis draws, in tests of the package and of the benchmarks.

- fast: a few, the same ones in each run, so that a test fails for what was changed
- suite: hundreds, other ones in each run
- thorough: thousands, for `make long-test`
"""

import os

import pytest
from hypothesis import settings
from joblib import parallel_config

# Time limits an example would only measure how busy the machine is.
settings.register_profile("fast", max_examples=25, derandomize=True, deadline=None)
settings.register_profile("suite", max_examples=200, print_blob=True, deadline=None)
settings.register_profile(
    "thorough", parent=settings.get_profile("suite"), max_examples=5000
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fast"))


@pytest.fixture
def threads():
    """Run what is parallel in threads: processes take seconds of imports to start."""
    with parallel_config("threading"):
        yield
