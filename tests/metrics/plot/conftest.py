"""Figures are drawn without a window, and closed after each test."""

import pytest


@pytest.fixture(autouse=True)
def plt():
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("Agg")
    yield pyplot
    pyplot.close("all")
