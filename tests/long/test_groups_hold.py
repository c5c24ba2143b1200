"""Certified rules of groups, judged on the distribution of each group.

Score and error depend on a uniform x, and on the group: an error has the probability
r(x) of the group's curve, and the score is x itself or x rounded down to tenths. A
promise is broken where the true risk, or coverage, of any group misses its target.
"""

import warnings

import numpy as np
import pytest

from sklearn_reject.exceptions import RejectionWarning
from sklearn_reject.selection import (
    InfeasibleTargetError,
    solve_target_coverage,
    solve_target_risk,
)
from tests.long.test_guarantees_hold import CURVES, true_coverage_and_loss

N_REPETITIONS = 2000
DELTA = 0.1

# Curves of the groups, how many samples each has, and their targets.
SETTINGS = {
    "two unequal groups": (["square", "flat"], [0.8, 0.2], 0.1),
    "two floors": (["floor", "floor"], [0.7, 0.3], 0.1),
    "five groups": (
        ["square", "u_shape", "bump", "floor", "flat"],
        [0.4, 0.25, 0.2, 0.1, 0.05],
        0.1,
    ),
    "targets of their own": (
        ["square", "bump", "flat"],
        [0.3, 0.3, 0.4],
        {0: 0.05, 1: 0.15, 2: 0.1},
    ),
    "ten groups": (
        ["square", "bump", "u_shape", "floor", "flat"] * 2,
        np.arange(1, 11) / 55,
        0.1,
    ),
    # Each of them breaks the target hardly, at whatever threshold.
    "ten flat groups": (["flat"] * 10, np.arange(1, 11) / 55, 0.1),
}


@pytest.fixture(autouse=True)
def no_search_for_the_smallest_risk(monkeypatch):
    """Spare the time for the text of an error that nobody reads here."""
    monkeypatch.setattr("sklearn_reject.selection._certify._N_HALVINGS", 0)


def draw(rng, curves, sizes, n_samples, n_ties):
    groups = rng.choice(len(curves), n_samples, p=sizes)
    x = rng.random(n_samples)
    means = np.choose(groups, [CURVES[curve][0](x) for curve in curves])
    losses = (rng.random(n_samples) < means).astype(float)
    scores = x if n_ties is None else np.floor(n_ties * x) / n_ties
    return scores, losses, groups


def target_of(target, group):
    return target[group] if isinstance(target, dict) else target


def rates(name, n_samples, n_ties, is_kept, solve):
    """Return how often some promise is broken, and how many groups accept some."""
    curves, sizes, target = SETTINGS[name]
    rng = np.random.default_rng(0)
    random_state = np.random.RandomState(0)
    broken = n_rules = 0
    for _ in range(N_REPETITIONS):
        scores, losses, groups = draw(rng, curves, sizes, n_samples, n_ties)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RejectionWarning)
                rule = solve(
                    scores,
                    losses,
                    target,
                    groups=groups,
                    all_groups=range(len(curves)),
                    confidence_level=1 - DELTA,
                    random_state=random_state,
                )
        except InfeasibleTargetError:
            continue
        some = {k: each for k, each in rule.rules.items() if each.threshold > -np.inf}
        n_rules += len(some)
        broken += not all(
            is_kept(
                *true_coverage_and_loss(each, CURVES[curves[group]][1], n_ties),
                target_of(target, group),
            )
            for group, each in some.items()
        )
    return broken / N_REPETITIONS, n_rules / N_REPETITIONS


def assert_kept(rate):
    assert rate <= DELTA + 3 * np.sqrt(DELTA * (1 - DELTA) / N_REPETITIONS)


@pytest.mark.parametrize("n_ties", [None, 10])
@pytest.mark.parametrize("name", SETTINGS)
def test_risks_of_all_groups_hold(name, n_ties):
    def is_kept(coverage, loss, target):
        return loss <= target * coverage * (1 + 1e-9)

    n_samples = 250 * len(SETTINGS[name][0])
    rate, n_rules = rates(name, n_samples, n_ties, is_kept, solve_target_risk)
    assert_kept(rate)
    if name != "ten flat groups":
        assert n_rules > 0.2  # not by rejecting everything


@pytest.mark.parametrize("n_ties", [None, 10])
@pytest.mark.parametrize("name", ["two unequal groups", "five groups", "ten groups"])
def test_coverages_of_all_groups_hold(name, n_ties):
    def solve(scores, losses, target, **options):
        return solve_target_coverage(scores, losses, 0.7, **options)

    def is_kept(coverage, loss, target):
        return coverage >= 0.7 * (1 - 1e-9)

    n_samples = 60 * len(SETTINGS[name][0])
    rate, n_rules = rates(name, n_samples, n_ties, is_kept, solve)
    assert_kept(rate)
    assert n_rules > 1
    if n_ties is None:
        assert rate > DELTA / 5  # not by accepting everything
