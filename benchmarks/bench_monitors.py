"""Monitors of a risk: false alarms, delay of alarms and time, beside MAPIE."""

from copy import copy
from itertools import product
from statistics import median

import numpy as np

from benchmarks._report import NOT_INSTALLED, Row, at_most, ratio_row
from sklearn_reject.selection import RiskMonitor

TITLE = "alarms at a risk above the target, at confidence .95"

_TARGET, _DELTA = 0.05, 0.05

# False alarms
_N_STREAMS, _LENGTH = 2000, 10_000

# Alarms beside MAPIE, whose level is halved for a reference set that is not used here.
_N_RACES, _RACE = 200, 1000
_MAPIE_LEVELS = {"MAPIE": _DELTA, "MAPIE at twice the level": 2 * _DELTA}
_LARGEST_RATIO = 0.5

# Quiet samples of an update
_DAY = 100

# Delays at other targets
_TARGETS = (0.001, 0.01, 0.05, 0.1, 0.3)
_RATIOS = (1.5, 2, 3, 10)
_N_DELAYS = 100
_LOOKS = 25  # in the time that the best single stake takes on average


def run():
    """Return the rows of the table."""
    yield from _false_alarm_rows()
    load = load_mapie()
    for risk in (0.1, 0.15):
        yield from _race_rows(risk, load)
    yield from _time_rows(load)
    yield from _quiet_rows()
    for target in _TARGETS:
        yield _delay_row(target)


# Streams at the target


def _false_alarm_rows():
    for target in (0.01, _TARGET, 0.3):
        least = _least_counts(target)
        rng = np.random.default_rng(0)
        alarms = sum(
            (np.cumsum(rng.random(_LENGTH) < target) >= least).any()
            for _ in range(_N_STREAMS)
        )
        what = f"risk and target {target:g}, {_N_STREAMS} streams of {_LENGTH}: alarms"
        yield at_most(what, _DELTA, alarms / _N_STREAMS)


def _least_counts(target):
    """Return for each number of samples the fewest errors that raise the alarm."""
    least, found = 0, np.empty(_LENGTH, dtype=int)
    for number in range(1, _LENGTH + 1):
        while least <= number and not _is_alarm(target, number, least):
            least += 1
        found[number - 1] = least
    return found


def _is_alarm(target, number, n_errors):
    losses = np.repeat([0, 1], [number - n_errors, n_errors])
    return RiskMonitor(target, confidence_level=1 - _DELTA).update(losses).alarm


# Streams above the target


def load_mapie():
    """Return MAPIE's monitor for a level, None where it is not installed."""
    try:
        from mapie.exchangeability_testing import RiskMonitoring
    except ImportError:
        return None

    def make(level):
        return RiskMonitoring(
            "accuracy", test_level=level, threshold=_TARGET, warn=False
        )

    return make


def _race_rows(risk, load):
    streams = np.random.default_rng(1).random((_N_RACES, _RACE)) < risk
    delays = {"ours": [our_delay(stream) for stream in streams]}
    if load is not None:
        for name, level in _MAPIE_LEVELS.items():
            delays[name] = [mapie_delay(load(level), stream) for stream in streams]
    what = f"risk {risk:g}, target {_TARGET:g}, {_N_RACES} streams of {_RACE}"
    for name, of_one in delays.items():
        share = np.isfinite(of_one).mean()
        details = f"median delay {median(of_one):g}"
        yield Row(f"{what}: {name} alarmed", "", f"{share:.3g}", "", details)
    if load is None:
        yield Row(f"{what}: MAPIE", "", NOT_INSTALLED)
        return
    for name in _MAPIE_LEVELS:
        ratio = median(delays["ours"]) / median(delays[name])
        judged = f"{what}: median delay, {name}"
        yield at_most(judged, _LARGEST_RATIO, ratio, " x")


def our_delay(stream):
    monitor = RiskMonitor(_TARGET, confidence_level=1 - _DELTA)
    for number, loss in enumerate(stream, start=1):
        if monitor.update(loss).alarm:
            return number
    return np.inf


def mapie_delay(monitor, stream):
    """Return after how many samples the bound, which never falls, is over the target.

    One update with the stream has the bounds of all its parts.
    """
    monitor.update(np.zeros(len(stream), dtype=int), stream.astype(int))
    over = monitor.online_risk_lower_bound_sequence_history > _TARGET
    return 1 + int(over.argmax()) if over.any() else np.inf


# Time of one more sample


def _time_rows(load):
    what = "one more sample after 1000"
    if load is None:
        yield Row(what, "", NOT_INSTALLED)
        return
    stream = (np.random.default_rng(0).random(1000) < _TARGET).astype(int)
    zero, one = np.zeros(1, dtype=int), np.ones(1, dtype=int)
    ours = RiskMonitor(_TARGET).update(stream)
    theirs = load(_DELTA)
    theirs.update(np.zeros(1000, dtype=int), stream)
    yield ratio_row(
        what,
        0.01,
        lambda: copy(ours).update(one),
        lambda: copy(theirs).update(zero, one),
    )


# After a quiet time


def _quiet_rows():
    for since, quiet in product(("start", "any"), (0, 1000, 10_000, 100_000)):
        rng = np.random.default_rng(2)
        start = RiskMonitor(_TARGET, since=since)
        for _ in range(quiet // _DAY):
            start.update(rng.random(_DAY) < _TARGET / 2)
        delays = [_delay(copy(start), 3 * _TARGET, 5, rng) for _ in range(_N_DELAYS)]
        what = f"{quiet} samples of half the target before three times the target"
        yield Row(f"{what}, since={since!r}: median delay", "", f"{median(delays):g}")


def _delay(monitor, risk, step, rng):
    """Return how many samples it takes to an alarm, looking at every so many."""
    number = 0
    while not monitor.alarm:
        monitor.update(rng.random(step) < risk)
        number += step
    return number


# Other targets


def _delay_row(target):
    details = []
    for ratio in _RATIOS:
        risk = ratio * target
        if risk >= 1:
            continue
        growth = _growth(target, risk)
        step = max(1, round(np.log(1 / _DELTA) / growth / _LOOKS))
        rng = np.random.default_rng(3)
        ours = [_delay(RiskMonitor(target), risk, step, rng) for _ in range(_N_DELAYS)]
        best = [_best_delay(target, risk, step, rng) for _ in range(_N_DELAYS)]
        multiple = median(ours) / median(best)
        details.append(f"{ratio:g} x the target: {median(ours):g} ({multiple:.2f} x)")
    what = f"target {target:g}: median delay, and in multiples of the best one stake"
    return Row(what, details=", ".join(details))


def _growth(target, risk):
    """Return the mean growth of the log capital at the best stake, for 0/1 losses."""
    odds = np.log((1 - risk) / (1 - target))
    return risk * np.log(risk / target) + (1 - risk) * odds


def _best_delay(target, risk, step, rng):
    """Return the delay of who knows the risk."""
    gain, loss = np.log(risk / target), np.log((1 - risk) / (1 - target))
    capital, number = 0.0, 0
    while capital < np.log(1 / _DELTA):
        n_errors = rng.binomial(step, risk)
        capital += n_errors * gain + (step - n_errors) * loss
        number += step
    return number
