"""Samples that count unequally, or depend on each other, against plain loops.

How weights are checked in metrics is elsewhere; laws of many draws are in tests/long.
"""

from functools import partial
from itertools import combinations_with_replacement, product
from math import exp, factorial, isqrt, log, prod, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from sklearn_reject import calibrate
from sklearn_reject.exceptions import RejectionWarning
from sklearn_reject.selection import (
    InfeasibleTargetError,
    solve_deferral,
    solve_risk_bounds,
    solve_target_failure_rate,
    solve_target_risk,
)

NOTHING = pytest.mark.filterwarnings("ignore:No calibration sample is accepted")


def one_part(scores, losses, target, **options):
    parts = {"all": (np.zeros(len(scores)), {0: target})}
    return solve_risk_bounds(scores, losses, parts, **options)


def of_logs(name, scores, losses, target, **options):
    kept = {k: x for k, x in options.items() if k not in ("bound", "randomize")}
    kept = {"max_loss": 1.0, "uncertainty": scores, "losses": losses} | kept
    return calibrate(**{name: target}, **kept).rule


def two_opinions(scores, losses, target, **options):
    """Defer what would be rejected, to someone who never errs."""
    losses = np.asarray(losses, dtype=float)
    return solve_deferral(scores, losses, 0 * losses, target_risk=target, **options)


RISKS = {"risk": solve_target_risk, "bounds": one_part}
FAILURES = {"failures": solve_target_failure_rate}
LOGS = {name: partial(of_logs, f"target_{name}") for name in ("risk", "failure_rate")}
LOGS = {f"logged {name}": solve for name, solve in LOGS.items()}
ACCEPTING = RISKS | FAILURES | LOGS
SOLVERS = ACCEPTING | {"deferral": two_opinions}
EVERY = pytest.mark.parametrize("name", SOLVERS)
SURE = {"confidence_level": 0.8, "random_state": 0, "randomize": False}


# The oracle


def shares(n_rows, sample_weight=None, inclusion_proba=None, clusters=None):
    """Return v / (p m) and v / m of each row, as if all were labelled."""
    weight = [1.0] * n_rows if sample_weight is None else list(sample_weight)
    proba = np.broadcast_to(1.0 if inclusion_proba is None else inclusion_proba, n_rows)
    names = list(range(n_rows)) if clusters is None else list(clusters)
    sizes = [names.count(name) for name in names]
    return (
        np.array([v / (p * m) for v, p, m in zip(weight, proba, sizes, strict=True)]),
        np.array([v / m for v, m in zip(weight, sizes, strict=True)]),
    )


def values_of(accepted, losses, risk, max_weight=1.0, clusters=None, **options):
    """Return x of each unit, by a number of its own, that has an accepted label."""
    counts, _ = shares(len(losses), clusters=clusters, **options)
    names = range(len(losses)) if clusters is None else clusters
    values = {}
    for row, name in enumerate(names):
        if accepted[row] and counts[row] > 0 and not np.isnan(losses[row]):
            part = counts[row] / max_weight * (losses[row] - risk)
            values[name] = values.get(name, risk) + part
    return values


def hoeffding_bentkus(values, risk):
    n, total = len(values), sum(values)
    if not n or total >= n * risk:
        return 1.0
    mean = total / n
    kl = (1 - mean) * log((1 - mean) / (1 - risk))
    kl += mean * log(mean / risk) if mean else 0.0
    return min(exp(-n * kl), exp(1) * binom.cdf(np.ceil(total), n, risk))


def betting(values, rate, level=0.2):
    """Return one over the mean capital of eight gamblers of fixed stakes."""
    largest = 0.95 / (1 - rate)
    smallest = sqrt(-log(level) / (2 * len(values) * rate * (1 - rate)))
    stakes = np.geomspace(min(smallest, largest), largest, 8)
    capital = np.mean([prod(1 + x * (rate - loss) for loss in values) for x in stakes])
    return min(1.0, 1 / capital)


def failures_of(accepted, losses, max_weight=1.0, clusters=None, **options):
    """Return the losses of all units, in multiples of the largest possible one."""
    counts, _ = shares(len(losses), clusters=clusters, **options)
    names = range(len(losses)) if clusters is None else clusters
    totals = dict.fromkeys(names, 0.0)
    for row, name in enumerate(names):
        if accepted[row] and not np.isnan(losses[row]):
            totals[name] += counts[row] * losses[row] / max_weight
    return list(totals.values())


KINDS = ("weights", "audit", "clusters", "weights audit", "weights audit clusters")
MANY = pytest.mark.parametrize("kind", KINDS)


def draw(kind, n_rows=240, seed=0, error=0.9):
    """Return scores, losses and options; weights have a mean of about one."""
    rng, options = np.random.default_rng(seed), {}
    scores = rng.permutation(n_rows) / n_rows
    losses, largest = (rng.random(n_rows) < error * scores**2) * rng.random(n_rows), 1.0
    if "weights" in kind:
        options["sample_weight"] = np.where(rng.random(n_rows) < 2 / 3, 0.5, 2.0)
        largest *= 2
    if "audit" in kind:
        options["inclusion_proba"] = np.where(scores > 0.6, 0.8, 0.5)
        is_known = rng.random(n_rows) < options["inclusion_proba"]
        losses, largest = np.where(is_known, losses, np.nan), 2 * largest
    if "clusters" in kind:
        options["clusters"] = rng.integers(0, n_rows * 2 // 3, n_rows)
    return scores, losses, options | {"max_weight": largest}


# P-values


@NOTHING
@MANY
@pytest.mark.parametrize("test", [hoeffding_bentkus, betting])
def test_the_last_threshold_that_passes_has_the_p_value_of_all_units(kind, test):
    scores, losses, options = draw(kind)
    asked = SURE | {"bound": test.__name__, "max_loss": 1.0}
    rule = solve_target_failure_rate(scores, losses, 0.15, **options, **asked)
    rate = 0.15 / options["max_weight"]

    def p_value(n_accepted):
        accepted = scores < n_accepted / len(scores)
        return test(failures_of(accepted, losses, **options), rate)

    count = round(rule.threshold * len(scores))
    assert 0 < count < len(scores)
    assert rule.certificate.p_value == pytest.approx(p_value(count), rel=1e-9)
    assert p_value(count) <= 0.2 < p_value(count + 1)
    assert rule.certificate.n_samples == len(failures_of(scores < 2, losses, **options))


@MANY
def test_p_value_of_a_system_risk(kind):
    scores, losses, options = draw(kind, 600)
    pilot = scores, scores**2, 0 * scores
    asked = SURE | {"bound": "hoeffding_bentkus", "max_loss": 1.0, "pilot": pilot}
    rule = two_opinions(scores, losses, 0.25, **options, **asked)
    system = np.where(rule.defer(scores), 0 * losses, losses)
    kept = ~rule.defer(scores)
    values = values_of(scores < 2, system, 0.25, **options)
    expected = hoeffding_bentkus(values.values(), 0.25)
    assert rule.certificate.p_value == pytest.approx(expected, rel=1e-9)
    assert expected <= 0.2
    assert rule.certificate.n_samples == len(values)
    kept = values_of(kept, losses, 0.25, **options)
    assert rule.certificate.n_accepted == len(kept)


ALIKE = {
    "weights": {"sample_weight": np.full(400, 0.25), "max_weight": 0.5},
    "audit": {"inclusion_proba": np.full(400, 0.5), "max_weight": 4},
    "clusters": {"clusters": [f"user {k}" for k in np.arange(400) // 2]},
}


@pytest.mark.parametrize("kind", ALIKE)
@pytest.mark.parametrize("name", RISKS)
def test_p_value_without_some_units_that_were_a_pilot(name, kind):
    # Two kinds of units only, so that it matters but how many of each are in the pilot.
    rng, scores = np.random.default_rng(1), np.arange(400) // 2 / 200
    losses = np.repeat(rng.random(200) < 0.1 * scores[::2], 2) * 1.0
    if kind == "audit":
        losses[rng.random(400) < 0.5] = np.nan
    asked = SURE | {"bound": "hoeffding_bentkus"}
    rule = RISKS[name](scores, losses, 0.2, **ALIKE[kind], **asked)
    parts = scores < rule.threshold, scores < 2
    passed, units = (values_of(x, losses, 0.2, **ALIKE[kind]) for x in parts)
    (good, n_good), (bad, n_bad) = zip(
        *np.unique(np.round([*passed.values()], 12), return_counts=True), strict=True
    )
    n_pilot, found = isqrt(len(units)), set()
    for k, j in product(range(n_pilot + 1), repeat=2):
        if k + j <= n_pilot and j <= n_bad:
            values = [good] * (n_good - k) + [bad] * (n_bad - j)
            found.add((len(values), hoeffding_bentkus(values, 0.2)))
    certificate = rule.certificate
    sizes = [n for n, p in found if p == pytest.approx(certificate.p_value, rel=1e-9)]
    assert sizes
    assert certificate.p_value <= 0.2
    if name == "risk":
        assert certificate.n_accepted in sizes
        assert certificate.n_samples == len(units) - n_pilot


# Kinds of units: the chance of each, and weight, probability, and loss of its rows.
LAWS = {
    "weights": (
        (0.3, [(1.6, 1, 1)]), (0.2, [(1.6, 1, 0)]), (0.2, [(0.4, 1, 1)]),
        (0.3, [(0.4, 1, 0)]),
    ),
    "audit": (
        (0.4, [(1, 1, 1)]), (0.3, [(1, 0.5, 0)]), (0.3, [(1, 0.5, np.nan)]),
    ),
    "clusters": (
        (0.4, [(1, 1, 1)] * 3), (0.4, [(1, 1, 0)]),
        (0.2, [(1, 1, 1), (1, 1, 0), (1, 1, 0.5)]),
    ),
}  # fmt: skip


def true_risk(law):
    """Return the mean of v l / (p m) over units, where that of v / (p m) is one."""
    means = np.zeros(2)
    for chance, rows in law:
        for v, p, loss in rows:
            if not np.isnan(loss):
                means += chance * v / (p * len(rows)) * np.array([loss, 1])
    assert means[1] == pytest.approx(1)
    return means[0]


def draws_of(law, name):
    """Return units that may be drawn, with their probability."""
    if name != "failures":
        size = 3 if name == "deferral" else 4
        return [(units, prod(p for p, _ in units)) for units in product(law, repeat=size)]
    # The order does not matter to these tests, which need more units to pass.
    return [
        (units, factorial(12) * prod(p**n / factorial(n) for p, n in sizes))
        for units in combinations_with_replacement(law, 12)
        for sizes in [[(unit[0], units.count(unit)) for unit in law]]
    ]


@NOTHING
@pytest.mark.parametrize("bound", ["hoeffding_bentkus", "betting"])
@pytest.mark.parametrize("name", ["risk", "bounds", "failures", "deferral"])
@pytest.mark.parametrize("kind", LAWS)
def test_chance_of_an_error_by_enumeration(kind, name, bound):
    law = LAWS[kind]
    target, largest = true_risk(law), max(v / p for _, x in law for v, p, _ in x)
    asked = SURE | {"bound": bound, "max_loss": 1.0, "confidence_level": 0.2}
    if name == "deferral":  # to one who is no better
        asked["pilot"] = [0, 0, 0], [0, 0, 1], [0, 0, 1]
    passed = 0.0
    for units, chance in draws_of(law, name):
        rows = [(*row, g) for g, (_, rows) in enumerate(units) for row in rows]
        weight, proba, losses, clusters = map(np.array, zip(*rows, strict=True))
        if np.isnan(losses).all():  # refused
            continue
        options = asked | {"sample_weight": weight, "max_weight": largest}
        options |= {"inclusion_proba": proba, "clusters": clusters}
        arrays = np.zeros(len(losses)), losses
        try:
            if name == "deferral":
                solve_deferral(*arrays, losses, target_risk=target, **options)
                passed += chance
            else:
                passed += chance * SOLVERS[name](*arrays, target, **options).coverage
        except InfeasibleTargetError:
            continue
    assert 0 < passed <= 0.8


# On average


@st.composite
def few_units(draw):
    """Return arrays of a few rows: scores, losses, weights, probabilities, clusters."""
    n_rows = draw(st.integers(2, 10))
    column = partial(st.lists, min_size=n_rows, max_size=n_rows)
    losses = draw(column(st.sampled_from([0.0, 0.5, 1.0, 1.0, np.nan])))
    proba = draw(column(st.sampled_from([0.5, 0.75])))
    scores, weight = draw(column(st.integers(0, 5))), draw(column(st.floats(0.1, 2)))
    clusters = draw(column(st.integers(0, 6)))
    return tuple(map(np.array, (scores, losses, weight, proba, clusters)))


def on_average(arrays, rows, target, randomize=False):
    scores, losses, *sampling = (each[rows] for each in arrays)
    names = "sample_weight", "inclusion_proba", "clusters"
    options = dict(zip(names, sampling, strict=True)) | {"max_weight": 4.0}
    options |= {"max_loss": 1.0, "randomize": randomize}
    return solve_target_failure_rate(scores, losses, target, **options)


@NOTHING
@pytest.mark.filterwarnings("ignore:.* losses are known")
@given(few_units(), st.floats(0, 1), st.booleans())
def test_each_unit_in_turn_is_the_new_one(arrays, share, randomize):
    scores, losses, weight, proba, clusters = arrays
    units, total = np.unique(clusters), 0.0
    target = 4 * (1 / len(units) + share * (1 - 1 / len(units)))
    for unit in units:
        old = clusters != unit
        if np.isnan(losses[old]).all():
            return
        rule = on_average(arrays, old, target, randomize)
        lost = np.nan_to_num(losses) * weight / proba * rule.accept_proba(scores)
        total += lost[~old].mean()
    assert total <= target * len(units) * (1 + 1e-9)


@NOTHING
@pytest.mark.filterwarnings("ignore:.* losses are known")
@given(few_units(), st.floats(0.01, 0.99))
def test_the_new_unit_may_lose_the_most(arrays, share):
    """The longest prefix with V + the sum of v l / (p m) at most (n + 1) gamma."""
    scores, losses, weight, proba, clusters = arrays
    n_units = len(set(clusters.tolist()))
    target = 4 * (share + (1 - share) / (n_units + 1))
    if np.isnan(losses).all():
        return
    counts, _ = shares(len(scores), weight, proba, clusters)
    expected = np.zeros(len(scores), dtype=bool)
    for score in np.unique(scores):
        lost = np.nansum((counts * losses)[scores <= score])
        if 4 + lost <= (n_units + 1) * target + 1e-9:
            expected = scores <= score
    rule = on_average(arrays, slice(None), target)
    np.testing.assert_array_equal(rule.accept(scores), expected)
    assert rule.certificate.n_samples == n_units
    assert rule.certificate.n_accepted == len(set(clusters[expected].tolist()))
