"""Certified rules of rows that repeat, with draws that belong to the rows."""

import pytest

from tests.selection.few_rows import (
    ROWS,
    assert_holds,
    coverage_is_broken,
    double_is_broken,
    risk_is_broken,
)

N_REPETITIONS = 2000


@pytest.fixture(autouse=True)
def no_search_for_the_smallest_risk(monkeypatch):
    """Spare the time for the text of an error that nobody reads here."""
    monkeypatch.setattr("sklearn_reject.selection._certify._N_HALVINGS", 0)


@pytest.mark.parametrize("options", [{}, {"search": "bonferroni"}])
@pytest.mark.parametrize("name", ROWS)
def test_risk(name, options):
    certified = 0.1 * (name != "flat")
    assert_holds(risk_is_broken, N_REPETITIONS, name, certified=certified, **options)


@pytest.mark.parametrize("bound", ["hoeffding_bentkus", "betting"])
@pytest.mark.parametrize("name", ["groups", "flat"])
def test_risk_by_other_bounds(name, bound):
    assert_holds(risk_is_broken, N_REPETITIONS, name, bound=bound)


@pytest.mark.parametrize("name", ROWS)
def test_coverage(name):
    assert_holds(coverage_is_broken, N_REPETITIONS, name, certified=1)


@pytest.mark.parametrize("name", ROWS)
def test_tpr_fpr_and_risk(name):
    assert_holds(double_is_broken, N_REPETITIONS, name, certified=0.1)
