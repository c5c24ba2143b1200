"""Monitors: bets against their definition, and promises over all streams there are."""

import json
import math
from copy import copy
from functools import partial
from itertools import chain, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sklearn_reject import Interval
from sklearn_reject.exceptions import RejectionWarning
from sklearn_reject.selection import (
    CoverageMonitor,
    RejectionRule,
    RiskMonitor,
    solve_target_coverage,
    solve_target_risk,
)

# Largest stakes and their capital, as stated: powers of two, a Cauchy distribution.
ODDS = [2.0**k for k in range(-10, 18)]
CAPITAL = [1 / (1 + (math.log(odds) / 1.5) ** 2) for odds in ODDS]

NUMBERS = st.floats(0, 1, allow_subnormal=False)
LOSSES = st.lists(NUMBERS | st.sampled_from([0.0, 1.0, 0.25]), max_size=30)
FLAGS = st.lists(st.sampled_from([0, 1]), max_size=8)

PLAIN = {
    "risk": partial(RiskMonitor, 0.2, confidence_level=0.8),
    "audit": partial(RiskMonitor, 0.3, max_loss=2, max_weight=4),
    "coverage": partial(CoverageMonitor, 0.7),
    "less": partial(CoverageMonitor, 0.7, confidence_level=0.99, alternative="less"),
    "greater": partial(CoverageMonitor, 0.7, alternative="greater"),
}
SINCE_ANY = {f"{k} since any": partial(v, since="any") for k, v in PLAIN.items()}
MONITORS = PLAIN | SINCE_ANY


def play(values, mean, sign):
    """Bet on values above a mean, or on values below it, in plain Python."""
    room, values, final = mean if sign > 0 else 1 - mean, [*values], []
    for odds, capital in zip(ODDS, CAPITAL, strict=True):
        stake = odds / (1 + odds * room)
        gains = [1 + sign * stake * (value - mean) for value in values]
        final.append(capital / sum(CAPITAL) * math.prod(gains))
    return math.fsum(final)


def play_anew(updates, mean, sign):
    """Start a gambler before each update, with what is stated of the cash."""
    capital, left, n_before = 0.0, 1.0, 0
    for number, update in enumerate(updates):
        cash = 0.5 * (1 + n_before) ** -0.1
        capital += (left - cash) * play(chain(*updates[number:]), mean, sign)
        left, n_before = cash, n_before + len(update)
    return capital + left


def played(since, updates, mean, sign):
    if since == "any":
        return play_anew(updates, mean, sign)
    return play(chain(*updates), mean, sign)


def results(monitor):
    """Return all numbers that a monitor shows."""
    return [monitor.e_value, monitor.mean, *monitor.interval()]


def assert_same(one, other, tolerance=1e-12):
    np.testing.assert_allclose(results(one), results(other), rtol=tolerance, atol=0)


def fed(monitor, updates):
    for update in updates:
        monitor.update(update)
    return monitor


def feed(monitor, seed=0, size=50):
    """Give a monitor samples of its kind, in several updates."""
    rng = np.random.default_rng(seed)
    for _ in range(3):
        if isinstance(monitor, CoverageMonitor):
            monitor.update(rng.random(size) < 0.5)
        elif monitor.max_weight is not None:
            proba = rng.uniform(0.25, 0.9, size)
            losses = np.where(rng.random(size) < proba, rng.random(size), np.nan)
            monitor.update(losses, inclusion_proba=proba)
        else:
            monitor.update(rng.random(size) / 2)
    return monitor


# The capital, by its definition


@pytest.mark.parametrize("since", ["start", "any"])
@given(
    st.lists(LOSSES, min_size=1, max_size=4), st.sampled_from([0.001, 0.05, 0.3, 0.9])
)
def test_e_value_is_the_capital_of_bets(since, updates, target):
    monitor, losses = fed(RiskMonitor(target, since=since), updates), [*chain(*updates)]
    expected = played(since, updates, target, 1)
    assert monitor.e_value == pytest.approx(expected, rel=1e-11)
    assert monitor.n_samples == len(losses)
    if losses:
        assert monitor.mean == pytest.approx(np.mean(losses), rel=1e-14)
    # What was looked up with certainty could have counted four times as much.
    options = {"max_weight": 4, "since": since}
    audit = fed(RiskMonitor(target, **options), updates)
    mixed = [[(loss + 3 * target) / 4 for loss in update] for update in updates]
    expected = played(since, mixed, target, 1)
    assert audit.e_value == pytest.approx(expected, rel=1e-11)


@pytest.mark.parametrize("since", ["start", "any"])
@given(st.lists(FLAGS, min_size=1, max_size=6), st.sampled_from([0.01, 0.5, 0.95]))
def test_e_values_of_coverage(since, updates, coverage):
    above, below = (played(since, updates, coverage, sign) for sign in (1, -1))
    both = (above + below) / 2
    expected = {"greater": above, "less": below, "two-sided": both}
    for alternative, e_value in expected.items():
        options = {"alternative": alternative, "since": since}
        monitor = fed(CoverageMonitor(coverage, **options), updates)
        assert monitor.e_value == pytest.approx(e_value, rel=1e-11)


@given(LOSSES.filter(len), st.sampled_from([0.5, 0.9, 0.999]))
def test_interval_ends_where_bets_win(losses, confidence_level):
    value, low, high, n_samples = (
        RiskMonitor(0.5, confidence_level=confidence_level).update(losses).interval()
    )
    assert (value, n_samples) == (pytest.approx(np.mean(losses)), len(losses))
    assert 0 <= low <= value + 1e-15
    assert value - 1e-15 <= high <= 1
    limit = 2 / (1 - confidence_level)
    for end, sign in ((low, 1), (high, -1)):
        if end in (0, 1):
            assert play(losses, end, sign) <= limit
        else:
            assert play(losses, end, sign) == pytest.approx(limit, rel=1e-6)


@given(LOSSES, st.floats(0.01, 100))
def test_unit_of_the_losses_does_not_matter(losses, unit):
    one = RiskMonitor(0.1).update(losses)
    scaled = np.minimum(unit * np.array(losses), unit)
    other = RiskMonitor(0.1 * unit, max_loss=unit).update(scaled)
    assert other.e_value == pytest.approx(one.e_value, rel=1e-11)
    rescaled = [each / unit for each in other.interval()[:3]]
    np.testing.assert_allclose(rescaled, one.interval()[:3], rtol=1e-11)


# Promises, over all streams of zeros and ones


PROMISES = {
    "risk": (partial(RiskMonitor, 0.3), 1),
    "two-sided": (partial(CoverageMonitor, 0.3), None),
    "less": (partial(CoverageMonitor, 0.3, alternative="less"), -1),
    "greater": (partial(CoverageMonitor, 0.3, alternative="greater"), 1),
}


def all_streams(monitor, length):
    """Yield how many ones each stream has, and a monitor that was fed one by one."""
    if not length:
        yield 0, monitor
        return
    for value in (0, 1):
        for ones, after in all_streams(copy(monitor).update(value), length - 1):
            yield ones + value, after


@pytest.mark.parametrize("since", ["start", "any"])
@pytest.mark.parametrize("name", PROMISES)
def test_capital_and_alarms_of_all_streams(name, since):
    make, sign = PROMISES[name]
    streams = list(all_streams(make(confidence_level=0.6, since=since), 8))

    def mean(quantity, chance):
        return sum(
            chance**ones * (1 - chance) ** (8 - ones) * getattr(monitor, quantity)
            for ones, monitor in streams
        )

    assert mean("e_value", 0.3) == pytest.approx(1, rel=1e-12)
    assert 0 < mean("alarm", 0.3) <= 0.4
    if sign is not None:
        within, broken = 0.3 - sign * 0.1, 0.3 + sign * 0.25
        assert mean("e_value", within) < 1 < mean("e_value", broken)
        alarms = [mean("alarm", chance) for chance in (within, 0.3, broken)]
        assert alarms == sorted(set(alarms))


@pytest.mark.parametrize("confidence_level", [0.5, 0.95])
def test_an_alarm_is_raised_when_the_capital_reaches_its_limit(confidence_level):
    monitor, before = RiskMonitor(0.3, confidence_level=confidence_level), 1.0
    while not monitor.update(1).alarm:
        before = monitor.e_value
    assert before < 1 / (1 - confidence_level) <= monitor.e_value


# Labels that are looked up at random


@pytest.mark.parametrize("weight", [None, np.array([1.0, 0.5, 1.0, 0.0])])
def test_mean_of_an_audit_is_unbiased(weight):
    losses, proba = np.array([0.5, 2.0, 0.0, 1.0]), np.array([0.25, 0.5, 1.0, 0.4])
    risk, means, capital = np.average(losses, weights=weight), 0.0, 0.0
    for known in product((False, True), repeat=4):
        chance = np.prod(np.where(known, proba, 1 - proba))
        if chance:
            seen = np.where(known, losses, np.nan)
            options = {"max_loss": 2, "max_weight": 4}
            monitor = RiskMonitor(risk, **options).update(seen, proba, weight)
            assert monitor.n_samples == 4
            means += chance * monitor.mean
            capital += chance * monitor.e_value
            if weight is not None:
                with pytest.raises(ValueError, match="Pass the samples to bootstrap"):
                    monitor.interval()
    assert np.isnan(means) or means == pytest.approx(losses.mean(), rel=1e-14)
    assert np.isnan(means) == (weight is not None)
    assert capital < 1  # losses that are known to vary


def test_capital_of_an_audit_neither_grows_nor_falls_at_the_bound():
    target, probas = 0.3, (0.25, 0.8, 0.25, 0.5, 0.25)
    total = 0.0
    for outcomes in product((0.0, 1.0, np.nan), repeat=len(probas)):
        chance = 1.0
        for outcome, proba in zip(outcomes, probas, strict=True):
            seen = target if outcome == 1 else 1 - target
            chance *= 1 - proba if math.isnan(outcome) else proba * seen
        monitor = RiskMonitor(target, max_weight=5)
        total += chance * monitor.update(outcomes, probas).e_value
    assert total == pytest.approx(1, rel=1e-12)


@given(LOSSES)
def test_an_audit_of_everything_is_no_audit(losses):
    whole = RiskMonitor(0.1).update(losses)
    ready = RiskMonitor(0.1, max_weight=2).update(losses)
    for proba in (1.0, np.ones(len(losses))):
        other = RiskMonitor(0.1, max_weight=2).update(losses, proba)
        assert_same(ready, other, 1e-14)
    assert ready.mean == pytest.approx(whole.mean, nan_ok=True)
    same = RiskMonitor(0.1, max_weight=1).update(losses, 1)
    assert same.e_value == pytest.approx(whole.e_value, rel=1e-13)


def test_numbers_of_audits_that_cannot_be():
    losses = np.zeros(1000)
    with pytest.warns(RejectionWarning, match=r"1000 of 1000 losses.*about 100.0"):
        RiskMonitor(0.1, max_weight=10).update(losses, 0.1)
    with pytest.warns(RejectionWarning, match="0 of 1000 losses are known"):
        RiskMonitor(0.1, max_weight=10).update(losses + np.nan, 0.1)
    # All of a few, or none, may be chance.
    for few in ([0.0] * 3, [np.nan] * 50, [np.nan], []):
        RiskMonitor(0.1, max_weight=10).update(few, 0.1)


# Updates, parts and merging


@pytest.mark.parametrize("name", PLAIN)
def test_merged_is_one_stream(name):
    parts = [feed(MONITORS[name](), seed, size=70) for seed in (1, 2)]
    before = [(results(part), part.alarm) for part in parts]
    merged = parts[0].merge(parts[1])
    assert [(results(part), part.alarm) for part in parts] == before
    whole = feed(feed(MONITORS[name](), 1, size=70), 2, size=70)
    assert_same(merged, whole)
    assert_same(parts[1].merge(parts[0]), merged)
    assert_same(parts[0].merge(MONITORS[name]()), parts[0], 0)
    merged.update([])
    assert results(parts[0]) == before[0][0]


@pytest.mark.filterwarnings("ignore:other has raised an alarm")
@pytest.mark.parametrize("name", SINCE_ANY)
def test_other_is_one_update_of_a_monitor_since_any(name):
    make, rng = SINCE_ANY[name], np.random.default_rng(0)
    days = [rng.random(20) < 0.3 for _ in range(4)]
    one, other = fed(make(), days[:2]), fed(make(), days[2:])
    before = one.e_value
    whole = fed(make(), [*days[:2], np.concatenate(days[2:])])
    assert one.merge(other).e_value == pytest.approx(whole.e_value, rel=1e-12)
    assert one.e_value == before
    total = fed(make(), days[:1]).merge(fed(make(), days[1:2]))
    assert total.e_value == before


@pytest.mark.parametrize("values", ["flags", "losses"])
def test_many_samples_lose_no_digit(values):
    rng = np.random.default_rng(0)
    losses = rng.random(3000)
    losses = losses < 0.05 if values == "flags" else losses / 9
    whole = RiskMonitor(0.0501).update(np.tile(losses, 20))
    part = RiskMonitor(0.0501).update(losses)
    merged = copy(part)
    for _ in range(19):
        merged = merged.merge(part)
    assert merged.n_samples == 60_000
    assert_same(merged, whole)
    assert_same(fed(RiskMonitor(0.0501), 20 * np.array_split(losses, 3)), whole)


def test_alarms_of_merged_monitors():
    good, bad = np.zeros(200), np.ones(10)
    calm, alarmed = RiskMonitor(0.1).update(good), RiskMonitor(0.1).update(bad)
    assert alarmed.merge(calm).alarm
    with pytest.warns(RejectionWarning, match="other has raised an alarm"):
        assert not calm.merge(alarmed).alarm
    half = RiskMonitor(0.1, confidence_level=0.9).update(1)
    assert not half.alarm
    assert half.merge(copy(half)).alarm


@pytest.mark.parametrize(
    ("other", "match"),
    [
        (
            RiskMonitor(0.2),
            "'target': 0.2, .* but this RiskMonitor has .*'target': 0.1",
        ),
        (RiskMonitor(0.1, confidence_level=0.9), "'confidence_level': 0.9"),
        (RiskMonitor(0.1, since="any"), "'since': 'any'"),
        (CoverageMonitor(0.1), "must be a RiskMonitor, got CoverageMonitor"),
        (None, "must be a RiskMonitor, got NoneType"),
    ],
    ids=str,
)
def test_other_monitors_are_not_merged(other, match):
    with pytest.raises(ValueError, match=match):
        RiskMonitor(0.1).merge(other)


def test_samples_do_not_count_twice():
    monitor = RiskMonitor(0.1).update([0, 1])
    with pytest.raises(ValueError, match=r"this RiskMonitor itself.* count twice"):
        monitor.merge(monitor)


@pytest.mark.parametrize("name", MONITORS)
def test_nothing_so_far(name):
    monitor = MONITORS[name]()
    largest = 2 if "audit" in name else 1
    value, *rest = monitor.update([]).interval()
    assert math.isnan(value)
    assert math.isnan(monitor.mean)
    assert rest == [0, largest, 0]
    assert isinstance(monitor.interval(), Interval)
    assert monitor.e_value == pytest.approx(1, rel=1e-15)
    assert (monitor.alarm, monitor.n_samples) == (False, 0)
    assert "n_samples=0, mean=nan, e_value=1, alarm=False" in repr(monitor)
    assert_same(monitor.merge(MONITORS[name]()), monitor)
    assert_same(type(monitor).from_dict(monitor.to_dict()), monitor)


def test_capital_beyond_floats():
    monitor = RiskMonitor(0.01).update(np.ones(10**4))
    assert monitor.e_value == math.inf
    assert monitor.interval()[:3] == (1, pytest.approx(1, abs=0.01), 1)
    assert CoverageMonitor(0.5).update(np.ones(10**5)).e_value == math.inf


# On disk


@pytest.mark.parametrize("name", MONITORS)
def test_monitors_come_back_bit_for_bit(name):
    monitor = feed(MONITORS[name]())
    text = json.dumps(monitor.to_dict(), allow_nan=False)
    restored = type(monitor).from_dict(json.loads(text))
    assert json.dumps(restored.to_dict()) == text
    assert repr(restored) == repr(monitor)
    assert_same(restored, monitor, 0)
    assert_same(feed(restored, 1), feed(monitor, 1), 0)


NEW = RiskMonitor(0.1, since="any").to_dict()
STATE = NEW["state"]


@pytest.mark.parametrize(
    ("state", "match"),
    [
        ({}, "state must be a dictionary of `to_dict`"),
        ({k: v for k, v in NEW.items() if k != "state"}, r"lacks \['state'\]"),
        *(
            (NEW | change, match)
            for change, match in (
                ({"type": "CoverageMonitor"}, "got 'CoverageMonitor'"),
                ({"max_lose": 1}, r"unknown fields \['max_lose'\]"),
                ({"target": "low"}, "target must be a number"),
                ({"target": 2}, "target=2 is not below max_loss=1"),
                ({"since": "ever"}, "since must be one of"),
                ({"state": 1}, "'Bets'"),
            )
        ),
        *(
            (NEW | {"state": STATE | change}, match)
            for change, match in (
                ({"alarm": "no"}, "alarm='no'.*of type bool"),
                ({"sums": [[0.0]]}, "does not go with"),
                ({"cash": 1.5}, r"cash of a Bets must be in \[0, 1\]"),
            )
        ),
    ],
    ids=lambda value: value[:20] if isinstance(value, str) else "",
)
def test_bad_states_are_refused(state, match):
    with pytest.raises(ValueError, match=match):
        RiskMonitor.from_dict(state)


# Wrong input


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"target": 0}, r"target must be in \(0, inf\), got 0"),
        ({"target": 1}, "target=1 is not below max_loss=1.* as max_loss"),
        ({"confidence_level": 1}, "confidence_level must be in"),
        ({"max_loss": 0}, "max_loss must be in"),
        ({"max_weight": 0}, "max_weight must be in"),
        ({"coverage": 0}, "coverage must be in"),
        ({"coverage": 0.5, "alternative": "above"}, "alternative must be one of"),
        ({"coverage": 0.5, "tolerance": -0.1}, "tolerance must be in"),
        (
            {"coverage": 0.9, "tolerance": 0.2},
            "tolerance=0.2 is too large beside 0.9.*by alternative",
        ),
    ],
    ids=str,
)
def test_bad_parameters(options, match):
    make = CoverageMonitor if "coverage" in options else partial(RiskMonitor, 0.1)
    if "target" in options:
        make = RiskMonitor
    with pytest.raises(ValueError, match=match):
        make(**options)


@pytest.mark.parametrize(
    ("losses", "proba", "match"),
    [
        ([0, 1.5, 2], None, r"\[0, 1\].*max_loss of.* 1.5 in row 1 \(2 such"),
        ([0, math.nan], None, "NaN where inclusion_proba.* nan in row 1"),
        ([[0, 1]], None, r"array of shape \(1, 2\)"),
        (["right"], None, "losses must hold numbers"),
        ([0, 0], [0.5, 0.0], r"in \(0, 1\], got 0.0 in row 1"),
        ([0, 0], [0.5, 0.4], r"max_weight=2 is exceeded by .* 2.5 in row 1"),
        ([0, 0], [1, 1, 1], "inclusion_proba has 3 elements"),
        (
            [0, math.nan],
            [0.5, 1],
            "inclusion_proba is 1 in row 1, which has no label",
        ),
    ],
    ids=lambda value: value[:20] if isinstance(value, str) else None,
)
def test_bad_losses_change_nothing(losses, proba, match):
    monitor = RiskMonitor(0.1, max_weight=2).update([0, 1, 0])
    before = results(monitor)
    with pytest.raises(ValueError, match=match):
        monitor.update(losses, inclusion_proba=proba)
    assert results(monitor) == before


@pytest.mark.parametrize(
    "accepted", [[0.5], [2], ["yes"], [[True]], [math.nan]], ids=str
)
def test_what_is_no_flag_is_refused(accepted):
    with pytest.raises(ValueError, match="accepted must"):
        CoverageMonitor(0.5).update(accepted)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rounding_is_no_error(dtype):
    """In single precision .7 is below and .1 above what double precision has."""
    options = {"max_loss": 0.1, "max_weight": 1 / 0.7}
    losses, proba = np.array([[0.1, np.nan, 0], [0.7, 0.7, 1]], dtype=dtype)
    rounded = RiskMonitor(0.05, **options).update(losses, inclusion_proba=proba)
    exact = RiskMonitor(0.05, **options).update([0.1, np.nan, 0], [0.7, 0.7, 1])
    assert_same(rounded, exact, 1e-6)
    assert rounded.e_value <= exact.e_value
    audit = RiskMonitor(0.05, max_weight=10)
    assert audit.update([np.nan], inclusion_proba=1 - 0.9).n_samples == 1


# From a rule

SCORES = np.arange(100)


def test_rule_hands_on_what_it_is_certified_for():
    rule = solve_target_risk(SCORES, SCORES >= 80, 0.1, confidence_level=0.9)
    monitor = rule.monitor(confidence_level=0.99, max_weight=2)
    assert type(monitor) is RiskMonitor
    assert (monitor.target, monitor.confidence_level) == (0.1, 0.99)
    assert (monitor.max_loss, monitor.max_weight) == (1, 2)
    assert rule.monitor(0.3, max_loss=2).target == 0.3
    assert (monitor.since, rule.monitor(since="any").since) == ("start", "any")
    with pytest.raises(ValueError, match=r"target=0.3 is not below max_loss=0.2"):
        rule.monitor(0.3, max_loss=0.2)


@pytest.mark.parametrize(
    "rule",
    [
        solve_target_risk(SCORES, SCORES >= 80, 0.1),
        solve_target_coverage(SCORES, SCORES >= 50, 0.7, confidence_level=0.9),
        RejectionRule(0.5, 1.0),
    ],
)
def test_rule_without_certified_risk(rule):
    match = f"as target the largest risk.*above {rule.selective_risk:.3g},"
    with pytest.raises(ValueError, match=match):
        rule.monitor()
    assert rule.monitor(0.1).target == 0.1


SIDES = {"less": -1, "greater": 1}


@pytest.mark.parametrize("alternative", SIDES)
def test_tolerance_moves_the_coverage_that_is_watched(alternative):
    rng = np.random.default_rng(0)
    options = {"alternative": alternative, "confidence_level": 0.9}
    moved = CoverageMonitor(0.5 + SIDES[alternative] * 0.125, **options)
    tolerant = CoverageMonitor(0.5, tolerance=0.125, **options)
    for coverage in (0.5, 0.2, 0.9):
        accepted = rng.random(100) < coverage
        assert tolerant.update(accepted).e_value == moved.update(accepted).e_value
    assert CoverageMonitor.from_dict(tolerant.to_dict()).e_value == moved.e_value
