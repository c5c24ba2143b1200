import re

import numpy as np
import pytest

from sklearn_reject.exceptions import RejectionWarning
from sklearn_reject.selection import (
    Certificate,
    DeferralRule,
    InfeasibleTargetError,
    solve_deferral,
)

INF, NAN = float("inf"), float("nan")
MASKED = np.ma.masked_equal([1, 1, 0, 9], 9)
GAIN, FIRST, SECOND = [0.9, 0.4, 0.4, -0.1], [1, 1, 0, 0], [0, 0, 0, 1]


def test_nothing_and_everything():
    nothing = solve_deferral([0.1, 0.2], [0, 0], [1, 1], deferral_cost=0)
    assert (nothing.threshold, nothing.deferral_rate) == (INF, 0)
    assert not nothing.defer([1e300]).any()
    everything = solve_deferral([0.1, 0.2], [1, 1], [0, 0], deferral_cost=0)
    assert (everything.threshold, everything.deferral_rate) == (-INF, 1)
    assert everything.defer([-1e300]).all()
    assert solve_deferral([0.1], [1], [0], max_deferral=0).threshold == INF
    assert solve_deferral([0.1], [1], [0], target_risk=0).threshold == -INF


def test_equal_minima_defer_the_fewest():
    # The loss of the second opinion differs nowhere, but in sums of floats.
    first = [0.3, 0.1, 0.2, 0.7]
    rule = solve_deferral([4, 3, 2, 1], first, first[::-1], deferral_cost=0)
    assert rule.deferral_rate == 0
    same = solve_deferral([4, 3, 2, 1], first, first, max_deferral=1)
    assert same.deferral_rate == 0


@pytest.mark.parametrize("missing", [np.nan, None])
def test_samples_that_nobody_was_asked_about(missing):
    second = [0, missing, 0, 1, missing, missing]
    gain, first = [0.9, 0.8, 0.4, -0.1, 0.2, 0.3], [1, 0, 1, 0, 1, 1]
    rule = solve_deferral(gain, first, second, max_deferral=0.5)
    assert (rule.n_samples, rule.n_asked) == (6, 3)
    # Rates are of all samples, risks of those asked about.
    assert rule.deferral_rate == 0.5
    assert rule.system_risk == 0
    assert rule.first_risk == pytest.approx(2 / 3)
    known = [k for k, value in enumerate(second) if value in (0, 1)]
    weighted = solve_deferral(
        gain, first, second, max_deferral=0.5, sample_weight=np.full(6, 2.0)
    )
    alone = solve_deferral(
        np.take(gain, known), np.take(first, known), [0, 0, 1], max_deferral=0.5
    )
    assert weighted.threshold == alone.threshold
    assert weighted.deferral_rate == alone.deferral_rate


def test_samples_that_were_chosen_are_noticed():
    rng = np.random.default_rng(0)
    gain = rng.random(300)
    first = (rng.random(300) < gain).astype(float)
    at_random, chosen = rng.random(300) < 0.3, gain > 0.7
    solve_deferral(gain, first, np.where(at_random, 0, np.nan), max_deferral=0.1)
    with pytest.warns(RejectionWarning, match="more than chance"):
        solve_deferral(gain, first, np.where(chosen, 0, np.nan), max_deferral=0.1)
    rule = DeferralRule(0.5, 0.0)
    with pytest.warns(RejectionWarning, match="more than chance"):
        rule.measure(gain, first, np.where(chosen, 0, np.nan))


def test_targets_that_cannot_be_met_say_what_can():
    with pytest.raises(InfeasibleTargetError) as caught:
        solve_deferral(GAIN, FIRST, [1, 0, 0, 1], target_risk=0.1)
    message = str(caught.value)
    assert "target_risk=0.1" in message
    assert "0.25, at a deferral rate of 0.75" in message
    assert caught.value.attainable == {"target_risk": 0.25}
    assert caught.value.coverage == 0.25


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({}, "Exactly one of deferral_cost, max_deferral and target_risk .* none"),
        (
            {"deferral_cost": 1, "target_risk": 0.1},
            "got deferral_cost=1, target_risk=0.1",
        ),
        ({"deferral_cost": -1}, "deferral_cost must be in [0, inf[, got -1"),
        ({"max_deferral": 1.1}, "max_deferral must be in [0, 1], got 1.1"),
        ({"target_risk": NAN}, "target_risk must be in [0, inf[, got nan"),
        ({"target_risk": True}, "target_risk must be a number"),
        ({"target_risk": 1, "randomize": 2}, "randomize must be one of"),
        ({"target_risk": 1, "gain": [NAN] * 4}, "gain must be finite, got nan"),
        ({"target_risk": 1, "gain": [1, 2]}, "loss_first has 4 elements, but there"),
        ({"target_risk": 1, "loss_first": [NAN] * 4}, "loss_first must be finite"),
        ({"target_risk": 1, "loss_first": MASKED}, "loss_first is a masked array"),
        ({"target_risk": 1, "gain": MASKED}, "gain is a masked array"),
        ({"target_risk": 1, "loss_second": [-1] * 4}, "loss_second must be non-neg"),
        ({"target_risk": 1, "loss_second": [NAN] * 4}, "missing in all 4 samples"),
        ({"target_risk": 1, "sample_weight": [0] * 4}, "sample_weight is zero"),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, dict) else "",
)
def test_mistakes_are_named(changes, message):
    arguments = {"gain": GAIN, "loss_first": FIRST, "loss_second": SECOND, **changes}
    pattern = message if ".*" in message else re.escape(message)
    with pytest.raises(ValueError, match=pattern):
        solve_deferral(**arguments)


def test_monitor_of_a_rule():
    solved = solve_deferral(GAIN, FIRST, SECOND, target_risk=0.25)
    assert solved.monitor(0.3, since="any").target == 0.3
    certificate = Certificate("system_risk", 0.2, 0.9, "binomial", 9, 5, 0.1)
    assert DeferralRule(0, 0, certificate=certificate).monitor().target == 0.2
    other = Certificate("deferral_rate", 0.2, 0.9, "order_statistic", 9, 5, 0.1)
    rule = DeferralRule(0, 0, system_risk=0.3, certificate=other)
    for uncertified, risk in ((rule, "0.3"), (DeferralRule(0, 0), "nan")):
        with pytest.raises(ValueError, match=f"as target.*which is {risk}:"):
            uncertified.monitor()
