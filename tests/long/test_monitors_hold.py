"""Monitors over thousands of streams: false alarms, intervals, audits.

The alarm and the interval of streams of zeros and ones depend on two counts only. So
all streams of the first tests share tables of what a monitor says at each of them.
"""

from functools import partial

import numpy as np
import pytest

from sklearn_reject.selection import CoverageMonitor, RiskMonitor

N_STREAMS, LENGTH, DELTA = 2000, 10_000, 0.05
LIMIT = DELTA + 3 * np.sqrt(DELTA * (1 - DELTA) / N_STREAMS)


def first_alarms(make):
    """Return for each number of samples the smallest count of ones with an alarm.

    It never falls with the number, and every larger count is an alarm, too.
    """
    least, found = 0, np.empty(LENGTH, dtype=int)
    for number in range(1, LENGTH + 1):
        while least <= number and not state(make, number, least).alarm:
            least += 1
        found[number - 1] = least
    return found


def state(make, number, ones):
    """Return a monitor of so many samples, of which so many are ones."""
    values = np.zeros(number)
    values[:ones] = 1
    return make().update(values)


def share_of_alarms(make, chance, seed=0):
    rng = np.random.default_rng(seed)
    least = first_alarms(make)
    alarms = 0
    for _ in range(N_STREAMS):
        alarms += (np.cumsum(rng.random(LENGTH) < chance) >= least).any()
    return alarms / N_STREAMS


@pytest.mark.parametrize(
    ("make", "chance"),
    [
        (partial(RiskMonitor, 0.05), 0.05),
        (partial(RiskMonitor, 0.3), 0.3),
        (partial(CoverageMonitor, 0.3, alternative="greater"), 0.3),
    ],
)
def test_false_alarms(make, chance):
    assert 0.005 < share_of_alarms(make, chance) <= LIMIT


def test_false_alarms_where_the_risk_changes():
    """The mean of the risk so far is at most the target, but not each risk."""
    target, rng = 0.05, np.random.default_rng(1)
    risks = np.where(np.arange(LENGTH) // 500 % 2, 1.6 * target, 0.4 * target)
    means = np.cumsum(risks) / np.arange(1, LENGTH + 1)
    assert means.max() <= target + 1e-12
    assert risks.max() > 1.5 * target
    least = first_alarms(lambda: RiskMonitor(target))
    alarms = sum(
        (np.cumsum(rng.random(LENGTH) < risks) >= least).any() for _ in range(N_STREAMS)
    )
    assert alarms / N_STREAMS <= LIMIT


@pytest.mark.parametrize("target", [0.05, 0.3])
def test_false_alarms_since_any_update(target):
    rng, alarms, streams, size = np.random.default_rng(2), 0, 300, 20
    for _ in range(streams):
        monitor = RiskMonitor(target, since="any")
        for losses in rng.random((LENGTH // size, size)) < target:
            if monitor.update(losses).alarm:
                alarms += 1
                break
    limit = DELTA + 3 * np.sqrt(DELTA * (1 - DELTA) / streams)
    assert 0.001 < alarms / streams <= limit


# Numbers of samples after which somebody looks, two hundred of them.
LOOKS = np.unique(np.round(np.geomspace(1, LENGTH, 200)).astype(int))


def share_covered(draw, mean, **options):
    """Return the share of streams whose interval covers the mean at every look."""
    rng = np.random.default_rng(0)
    covered = 0
    for _ in range(N_STREAMS // 4):
        monitor = RiskMonitor(0.5, **options)
        values = draw(rng, LENGTH)
        for part in np.split(values, LOOKS[:-1], axis=-1):
            monitor.update(*np.atleast_2d(part))
            low, high = monitor.interval()[1:3]
            if not low <= mean <= high:
                break
        else:
            covered += 1
    return covered / (N_STREAMS // 4)


def errors(rng, size):
    return (rng.random(size) < 0.05).astype(float)


def spread(rng, size):
    return rng.beta(0.4, 1.6, size)


def audited(rng, size):
    """Return losses of which some are looked up, those of a bad kind more often."""
    is_bad = rng.random(size) < 0.3
    losses = (rng.random(size) < np.where(is_bad, 0.2, 0.02)).astype(float)
    proba = np.where(is_bad, 0.5, 0.1)
    losses[rng.random(size) >= proba] = np.nan
    return np.array([losses, proba])


@pytest.mark.parametrize(
    ("draw", "mean", "options"),
    [
        (errors, 0.05, {}),
        (spread, 0.2, {}),
        (audited, 0.3 * 0.2 + 0.7 * 0.02, {"max_weight": 10}),
    ],
    ids=["errors", "spread", "audited"],
)
def test_intervals_cover_at_all_times(draw, mean, options):
    share = share_covered(draw, mean, **options)
    assert share >= 1 - DELTA - 3 * np.sqrt(DELTA * (1 - DELTA) / (N_STREAMS // 4))
    half = share_covered(draw, mean, confidence_level=0.5, **options)
    assert 0.5 <= half < share  # a promise that can be broken, and mostly is kept


def test_alarms_of_audits():
    rng = np.random.default_rng(0)
    shares = []
    for target in (0.074, 0.037):
        alarms = 0
        for _ in range(N_STREAMS // 4):
            monitor = RiskMonitor(target, max_weight=10)
            for part in np.split(audited(rng, LENGTH), 100, axis=1):
                monitor.update(*part)
            alarms += monitor.alarm
        shares.append(alarms / (N_STREAMS // 4))
    assert shares[0] <= LIMIT
    assert shares[1] > 0.95
