import pytest

from tests.selection.few_rows import (
    ROWS,
    assert_holds,
    coverage_is_broken,
    double_is_broken,
    risk_is_broken,
)

N_REPETITIONS = 100
NOT_FLAT = [name for name in ROWS if name != "flat"]


@pytest.fixture(autouse=True)
def no_search_for_the_smallest_risk(monkeypatch):
    """Spare the time for the text of an error that nobody reads here."""
    monkeypatch.setattr("sklearn_reject.selection._certify._N_HALVINGS", 0)


@pytest.mark.parametrize("name", ROWS)
def test_risk(name):
    assert_holds(risk_is_broken, N_REPETITIONS, name, certified=0.1 * (name != "flat"))


@pytest.mark.parametrize("name", NOT_FLAT)
def test_coverage(name):
    assert_holds(coverage_is_broken, N_REPETITIONS, name, certified=1)


def test_tpr_fpr_and_risk():
    assert_holds(double_is_broken, N_REPETITIONS, "groups", certified=0.2)
