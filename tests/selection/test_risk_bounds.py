"""One threshold under bounds on several parts, against enumeration and exact tests."""

from math import isnan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sklearn_reject.exceptions import RejectionWarning
from sklearn_reject.selection import (
    InfeasibleTargetError,
    measure_risk_bounds,
    solve_risk_bounds,
)

# What cannot be met


@pytest.mark.filterwarnings("ignore:No sample of")
@pytest.mark.parametrize("randomize", [True, False])
@given(seed=st.integers(0, 2**32))
def test_what_is_attainable_exceeds_the_bounds_least(seed, randomize):
    rng = np.random.default_rng(seed)
    scores, y = rng.integers(0, 9, 12), rng.integers(0, 2, 12)
    losses = rng.integers(0, 5, 12) / 4
    targets = {0: 0.05 * rng.integers(0, 3), 1: 0.1}
    try:
        solve_risk_bounds(scores, losses, {"class": (y, targets)}, randomize=False)
    except InfeasibleTargetError as error:
        attainable = error.attainable["class"]
    else:
        return
    excesses = []
    for value in scores:
        risks = [losses[(scores <= value) & (y == k)] for k in (0, 1)]
        means = [risk.mean() if risk.size else 0.0 for risk in risks]
        excesses.append(max(0, *(means[k] - targets[k] for k in (0, 1))))
    excess = max(attainable[k] - targets[k] for k in (0, 1))
    assert excess == pytest.approx(min(excesses))
    bounds = {"class": (y, attainable)}
    rule = solve_risk_bounds(scores, losses, bounds, randomize=randomize)
    achieved = measure_risk_bounds(rule, scores, losses, bounds)
    assert rule.coverage > 0
    assert all(not x.risk > x.target * (1 + 1e-9) for x in achieved.values())


def test_a_part_without_members_is_warned_of():
    with pytest.warns(RejectionWarning, match=r"No sample is a member of class\['1'\]"):
        solve_risk_bounds([0, 1], [0, 0], {"class": ([0, 1], {"1": 0.1})})


def test_of_many_parts_a_warning_names_the_first():
    scores = y = np.arange(40)
    bounds = {"site": (y, dict.fromkeys(range(40), 0.1))}
    text = r"of site\[1\], site\[2\], .*, site\[10\] and 29 others"
    with pytest.warns(RejectionWarning, match=text):
        solve_risk_bounds(scores, scores > 0, bounds)
    with pytest.raises(InfeasibleTargetError, match="with any and 30 others"):
        solve_risk_bounds(np.zeros(40), np.ones(40), bounds)


def test_a_part_of_which_nothing_is_accepted_is_warned_of():
    scores, y = [1, 2, 3, 4], [0, 0, 1, 1]
    bounds = {"class": (y, {0: 0.1, 1: 0.1})}
    with pytest.warns(RejectionWarning, match=r"No sample of class\[1\]"):
        rule = solve_risk_bounds(scores, [0, 0, 1, 1], bounds)
    assert rule.coverage == 0.5
    assert isnan(
        measure_risk_bounds(rule, scores, [0, 0, 1, 1], bounds)["class", 1].risk
    )


@pytest.mark.parametrize(
    ("bounds", "match"),
    [
        ({}, "bounds must be a dict name -> "),
        ([("class", 1)], "bounds must be a dict name -> "),
        ({"class": [0, 1]}, r"bounds\['class'\] must be a pair"),
        ({"class": ([0, 1], {})}, r"bounds\['class'\] must be a pair"),
        ({"class": ([0, 1], 0.1)}, r"bounds\['class'\] must be a pair"),
        ({"class": ([0], {0: 0.1})}, r"labels of bounds\['class'\] has 1 elements"),
        ({"class": ([[0, 1]], {0: 0.1})}, "must be a vector"),
        ({"class": ([0, 1], {0: -0.1})}, r"target of class\[0\] must be in \[0, inf"),
        ({"class": ([0, 1], {0: "low"})}, r"target of class\[0\] must be a number"),
        ({"class": ([0, np.nan], {0: 0.1})}, "has no label"),
    ],
    ids=str,
)
def test_bad_bounds(bounds, match):
    with pytest.raises(ValueError, match=match):
        solve_risk_bounds([0, 1], [0, 1], bounds)
