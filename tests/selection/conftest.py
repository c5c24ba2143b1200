"""Small random samples often have their scores in the wrong order, by chance."""

import pytest

_BY_CHANCE = (
    "ignore:The uncertainty score ranks the errors backwards",
    "ignore:The gain score seems to have the wrong sign",
)


def pytest_collection_modifyitems(items):
    for item in items:
        if "tests/selection" in item.path.as_posix():
            for text in _BY_CHANCE:
                item.add_marker(pytest.mark.filterwarnings(text), append=False)
