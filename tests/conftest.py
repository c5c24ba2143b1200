"""How many samples hypothesis draws: hundreds in the suite, thousands in long-test."""

import os

from hypothesis import settings

# Time limits an example would only measure how busy the machine is.
settings.register_profile("suite", max_examples=200, deadline=None)
settings.register_profile("thorough", max_examples=5000, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "suite"))
