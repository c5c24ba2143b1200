"""Monitors that start anew with each update, against every start played by itself."""

import json
import math
import pickle
from functools import partial
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sklearn_reject.selection import CoverageMonitor, RejectionRule, RiskMonitor

# Largest stakes and their capital, as stated: powers of two, a Cauchy distribution.
ODDS = [2.0**k for k in range(-10, 18)]
CAPITAL = [1 / (1 + (math.log(odds) / 1.5) ** 2) for odds in ODDS]

MONITORS = {
    "risk": partial(RiskMonitor, 0.2, confidence_level=0.8, since="any"),
    "audit": partial(RiskMonitor, 0.3, min_inclusion_proba=0.25, since="any"),
    "coverage": partial(CoverageMonitor, 0.7, confidence_level=0.8, since="any"),
    "less": partial(CoverageMonitor, 0.7, alternative="less", since="any"),
    "greater": partial(CoverageMonitor, 0.7, alternative="greater", since="any"),
}

UPDATES = st.lists(
    st.lists(st.sampled_from([0.0, 1.0]), max_size=8), min_size=1, max_size=6
)


def play(values, mean):
    """Bet on values above a mean in plain Python, with a capital of one."""
    return math.fsum(
        capital
        / sum(CAPITAL)
        * math.prod((1 + odds * x) / (1 + odds * mean) for x in values)
        for odds, capital in zip(ODDS, CAPITAL, strict=True)
    )


def play_anew(updates, mean):
    """Start a gambler before each update, with what is stated of the cash."""
    capital, left, n_before = 0.0, 1.0, 0
    for number, update in enumerate(updates):
        cash = 0.5 * (1 + n_before) ** -0.1
        values = [value for later in updates[number:] for value in later]
        capital += (left - cash) * play(values, mean)
        left, n_before = cash, n_before + len(update)
    return capital + left


def fed(name, updates):
    monitor = MONITORS[name]()
    for update in updates:
        monitor.update(update)
    return monitor


def others(updates):
    return [[1 - value for value in update] for update in updates]


@given(UPDATES)
def test_every_start_is_a_gambler(updates):
    up, down = play_anew(updates, 0.7), play_anew(others(updates), 0.3)
    expected = {
        "risk": play_anew(updates, 0.2),
        "audit": play_anew([[x / 4 for x in update] for update in updates], 0.075),
        "coverage": (up + down) / 2,
        "less": down,
        "greater": up,
    }
    found = {name: fed(name, updates).e_value for name in MONITORS}
    assert found == pytest.approx(expected, rel=1e-12)


@given(UPDATES)
def test_what_is_shown_besides_is_as_without(updates):
    monitor, plain = RiskMonitor(0.2, since="any"), RiskMonitor(0.2)
    for update in updates:
        monitor.update(update)
        plain.update(update)
    assert monitor.interval() == pytest.approx(plain.interval(), nan_ok=True)
    assert monitor.n_samples == plain.n_samples


@pytest.mark.parametrize("sizes", [(1,) * 8, (2, 0, 3, 1, 2)], ids=["rows", "parts"])
def test_promise_over_all_streams_there_are(sizes):
    """The capital is one on average at the bound, and few streams ever alarm."""
    chance, delta = 0.2, 0.2
    stops = np.cumsum(sizes)[:-1]
    mean = alarms = 0.0
    for stream in product([0.0, 1.0], repeat=8):
        probability = math.prod(chance if x else 1 - chance for x in stream)
        monitor = fed("risk", np.split(np.array(stream), stops))
        mean += probability * monitor.e_value
        alarms += probability * monitor.alarm
    assert mean == pytest.approx(1, rel=1e-12)
    assert 0.01 < alarms <= delta


def test_change_after_many_samples_is_noticed_sooner():
    good = [np.arange(200) % 40 == 0] * 50
    bad = [np.arange(20) % 20 < 3] * 25  # three times the target
    monitor = RiskMonitor(0.05, since="any")
    plain = RiskMonitor(0.05)
    for update in good:
        assert not monitor.update(update).alarm
        plain.update(update)
    for update in bad:
        monitor.update(update)
        plain.update(update)
    assert monitor.alarm
    assert not plain.alarm


@pytest.mark.filterwarnings("ignore:other has raised an alarm")
@pytest.mark.parametrize("name", MONITORS)
def test_other_is_taken_as_one_update(name):
    rng = np.random.default_rng(0)
    days = [rng.random(20) < 0.3 for _ in range(4)]
    one, other = fed(name, days[:2]), fed(name, days[2:])
    merged = one.merge(other)
    whole = fed(name, [*days[:2], np.concatenate(days[2:])])
    assert merged.e_value == pytest.approx(whole.e_value, rel=1e-12)
    assert one.e_value == fed(name, days[:2]).e_value  # left as it was
    total = fed(name, days[:1]).merge(fed(name, days[1:2]))
    assert total.e_value == one.e_value


@pytest.mark.parametrize("name", MONITORS)
@pytest.mark.parametrize("n_days", [0, 3])
def test_monitors_come_back_bit_for_bit(name, n_days):
    rng = np.random.default_rng(1)
    monitor = fed(name, rng.random((n_days, 7)) < 0.5)
    text = json.dumps(monitor.to_dict(), allow_nan=False)
    for copied in (
        type(monitor).from_dict(json.loads(text)),
        pickle.loads(pickle.dumps(monitor)),
    ):
        assert copied.to_dict() == monitor.to_dict()
        assert copied.update([1, 0]).e_value == fed_on(monitor, [1, 0]).e_value


def fed_on(monitor, update):
    return type(monitor).from_dict(monitor.to_dict()).update(update)


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"restarts": []}, r"a list of 1 with since='any', got \[\]"),
        ({"restarts": None}, "a list of 1"),
        ({"since": "start"}, "a list of 0 with since='start'"),
        ({"since": "ever"}, "since must be one of"),
    ],
)
def test_bad_states_are_refused(change, match):
    state = RiskMonitor(0.1, since="any").to_dict()
    with pytest.raises(ValueError, match=match):
        RiskMonitor.from_dict(state | change)


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"cash": 0.7}, "cash must be in"),
        ({"cash": math.nan}, "cash must be in"),
        ({"log_capitals": [0.0]}, "log_capitals must be finite and of shape"),
    ],
)
def test_bad_capitals_are_refused(change, match):
    state = RiskMonitor(0.1, since="any").to_dict()
    state["restarts"][0] |= change
    with pytest.raises(ValueError, match=match):
        RiskMonitor.from_dict(state)


def test_monitors_of_other_alarms_are_not_merged():
    with pytest.raises(ValueError, match="since='any', but this monitor has 'start'"):
        RiskMonitor(0.1).merge(RiskMonitor(0.1, since="any"))


def test_rule_hands_it_on():
    rule = RejectionRule(0.5, 1.0)
    assert rule.monitor(0.1, since="any").since == "any"
    assert rule.monitor(0.1).since == "start"
