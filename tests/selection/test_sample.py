"""Samples that count unequally, or depend on each other, against plain loops."""

from functools import partial
from itertools import combinations_with_replacement, product
from math import exp, factorial, isqrt, log, prod, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from sklearn_reject import calibrate
from sklearn_reject.selection import (
    InfeasibleTargetError,
    solve_deferral,
    solve_risk_bounds,
    solve_target_failure_rate,
    solve_target_risk,
)

pytestmark = [
    pytest.mark.filterwarnings("ignore:No calibration sample is accepted"),
    pytest.mark.filterwarnings("ignore:.* losses are known"),
]


def one_part(scores, losses, target, **options):
    parts = {"all": (np.zeros(len(scores)), {0: target})}
    return solve_risk_bounds(scores, losses, parts, **options)


def of_logs(name, scores, losses, target, **options):
    kept = {k: x for k, x in options.items() if k not in ("bound", "randomize")}
    return calibrate(uncertainty=scores, losses=losses, **{name: target}, **kept).rule


def to_someone_who_never_errs(scores, losses, target, **options):
    others = 0.0 * np.asarray(losses)
    return solve_deferral(scores, losses, others, target_risk=target, **options)


RISKS = {"risk": solve_target_risk, "bounds": one_part}
ACCEPTING = RISKS | {
    "failures": solve_target_failure_rate,
    "logged risk": partial(of_logs, "target_risk"),
    "logged failures": partial(of_logs, "target_failure_rate"),
}
SOLVERS = ACCEPTING | {"deferral": to_someone_who_never_errs}
SURE = {"confidence_level": 0.8, "random_state": 0, "randomize": False, "max_loss": 1.0}
ON_AVERAGE = {"randomize": False, "max_loss": 1.0}


# The oracle


def counts_of(n_rows, sample_weight=None, inclusion_proba=None, clusters=None):
    """Return v / (p m) and v / m of each row."""
    weight = [1.0] * n_rows if sample_weight is None else list(sample_weight)
    proba = np.broadcast_to(1.0 if inclusion_proba is None else inclusion_proba, n_rows)
    names = list(range(n_rows)) if clusters is None else list(clusters)
    of_all = [v / names.count(g) for v, g in zip(weight, names, strict=True)]
    return np.array([a / p for a, p in zip(of_all, proba, strict=True)]), of_all


def values_of(accepted, losses, risk, max_weight=1.0, **options):
    """Return x of each unit that has a labelled row that is accepted."""
    counts, _ = counts_of(len(losses), **options)
    values = {}
    for row, unit in enumerate(options.get("clusters", range(len(losses)))):
        if accepted[row] and not np.isnan(losses[row]):
            part = counts[row] / max_weight * (losses[row] - risk)
            values[unit] = values.get(unit, risk) + part
    return list(values.values())


def hoeffding_bentkus(values, risk):
    n, total = len(values), sum(values)
    if total >= n * risk:
        return 1.0
    kl = (1 - total / n) * log((1 - total / n) / (1 - risk))
    kl += total / n * log(total / n / risk) if total else 0.0
    return min(exp(-n * kl), exp(1) * binom.cdf(np.ceil(total), n, risk))


def betting(values, rate):
    """Return one over the mean capital of eight gamblers of fixed stakes, at .2."""
    largest = 0.95 / (1 - rate)
    smallest = sqrt(-log(0.2) / (2 * len(values) * rate * (1 - rate)))
    stakes = np.geomspace(min(smallest, largest), largest, 8)
    capital = np.mean([prod(1 + x * (rate - loss) for loss in values) for x in stakes])
    return min(1.0, 1 / capital)


KINDS = ("weights", "audit", "clusters", "weights audit clusters")
MANY = pytest.mark.parametrize("kind", KINDS)


def draw(kind, n_rows=240):
    """Return scores, losses and options; weights are one on average."""
    rng, options, largest = np.random.default_rng(0), {}, 1.0
    scores = rng.permutation(n_rows) / n_rows
    losses = (rng.random(n_rows) < 0.9 * scores**2) * rng.random(n_rows)
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


@MANY
@pytest.mark.parametrize("test", [hoeffding_bentkus, betting])
def test_p_value_of_a_failure_rate_and_of_the_next_threshold(kind, test):
    scores, losses, options = draw(kind)
    asked = SURE | {"bound": test.__name__}
    rule = solve_target_failure_rate(scores, losses, 0.15, **options, **asked)
    n_units = len(set(options.get("clusters", scores).tolist()))
    count = round(rule.threshold * len(scores))  # scores are whole numbers over theirs

    def p_value(n_accepted):
        accepted = scores * len(scores) < n_accepted - 0.5
        values = values_of(accepted, losses, 0.0, **options)
        values += [0] * (n_units - len(values))
        return test(values, 0.15 / options["max_weight"])

    assert rule.certificate.p_value == pytest.approx(p_value(count), rel=1e-9)
    assert p_value(count) <= 0.2 < p_value(count + 1)
    assert rule.certificate.n_samples == n_units


@MANY
def test_p_value_of_a_system_risk(kind):
    scores, losses, options = draw(kind, 600)
    pilot = scores, scores**2, scores * 0
    asked = SURE | {"bound": "hoeffding_bentkus", "pilot": pilot}
    rule = to_someone_who_never_errs(scores, losses, 0.25, **options, **asked)
    is_kept = ~rule.defer(scores)
    values = values_of(scores < 2, losses * is_kept, 0.25, **options)
    expected = hoeffding_bentkus(values, 0.25)
    assert rule.certificate.p_value == pytest.approx(expected, rel=1e-9)
    assert expected <= 0.2
    assert rule.certificate.n_samples == len(values)
    kept = values_of(is_kept, losses, 0.25, **options)
    assert rule.certificate.n_accepted == len(kept)


ALIKE = {
    "weights": {"sample_weight": np.full(400, 0.25), "max_weight": 0.5},
    "audit": {"inclusion_proba": np.full(400, 0.5), "max_weight": 4},
    "clusters": {"clusters": [f"user {k}" for k in np.arange(400) // 2]},
}


@pytest.mark.parametrize("kind", ALIKE)
@pytest.mark.parametrize("name", RISKS)
def test_p_value_without_some_units_that_were_a_pilot(name, kind):
    # Units are of two values only: it matters but how many of each are in the pilot.
    rng, scores = np.random.default_rng(1), np.arange(400) // 2 / 200
    losses = np.repeat(rng.random(200) < 0.1 * scores[::2], 2) * 1.0
    if kind == "audit":
        losses[rng.random(400) < 0.5] = np.nan
    asked = SURE | {"bound": "hoeffding_bentkus"}
    rule = RISKS[name](scores, losses, 0.2, **ALIKE[kind], **asked)
    passed, units = (
        values_of(scores < limit, losses, 0.2, **ALIKE[kind])
        for limit in (rule.threshold, 2)
    )
    values, sizes = np.unique(np.round(passed, 12), return_counts=True)
    n_pilot, found = isqrt(len(units)), set()
    assert len(values) == 2
    for taken in product(range(n_pilot + 1), range(min(n_pilot, sizes[1]) + 1)):
        if sum(taken) <= n_pilot:
            tested = np.repeat(values, sizes - taken).tolist()
            found.add((len(tested), hoeffding_bentkus(tested, 0.2)))
    made = rule.certificate
    sizes = [n for n, p in found if p == pytest.approx(made.p_value, rel=1e-9)]
    assert sizes
    assert made.p_value <= 0.2
    if name == "risk":  # a certificate of parts counts rows
        assert made.n_accepted in sizes
        assert made.n_samples == len(units) - n_pilot


# Kinds of units: the chance of each, and weight, probability, and loss of its rows.
LAWS = {
    "weights": [(0.2, [(1.6, 1, 1)]), (0.3, [(1.6, 1, 0)]), (0.5, [(0.4, 1, 1)])],
    "audit": [(0.4, [(1, 1, 1)]), (0.3, [(1, 0.5, 0)]), (0.3, [(1, 0.5, np.nan)])],
    "clusters": [
        (0.4, [(1, 1, 1)] * 3),
        (0.4, [(1, 1, 0)]),
        (0.2, [(1, 1, 1), (1, 1, 0), (1, 1, 0.5)]),
    ],
}
TRUE_RISKS = {"weights": 0.52, "audit": 0.4, "clusters": 0.5}


def units_of(law, name):
    """Return units that may be drawn, with their probability."""
    if name != "failures":
        drawn = product(law, repeat=3 if name == "deferral" else 4)
        return [(units, prod(p for p, _ in units)) for units in drawn]
    # The order does not matter to these tests, which need more units to pass.
    return [
        (units, factorial(12) * prod(p**n / factorial(n) for p, n in sizes))
        for units in combinations_with_replacement(law, 12)
        for sizes in [[(unit[0], units.count(unit)) for unit in law]]
    ]


@pytest.mark.parametrize("bound", ["hoeffding_bentkus", "betting"])
@pytest.mark.parametrize("name", [*RISKS, "failures", "deferral"])
@pytest.mark.parametrize("kind", LAWS)
def test_chance_of_an_error_by_enumeration(kind, name, bound):
    target, largest = TRUE_RISKS[kind], {"weights": 1.6, "audit": 2}.get(kind, 1)
    asked = SURE | {"bound": bound, "confidence_level": 0.2, "max_weight": largest}
    if name == "deferral":  # to one who is no better
        asked["pilot"] = [0, 0, 0], [0, 0, 1], [0, 0, 1]
    passed = 0.0
    for units, chance in units_of(LAWS[kind], name):
        rows = [(*row, g) for g, (_, rows) in enumerate(units) for row in rows]
        weight, proba, losses, clusters = map(np.array, zip(*rows, strict=True))
        if np.isnan(losses).all():  # refused
            continue
        options = asked | {"sample_weight": weight, "inclusion_proba": proba}
        arrays, options["clusters"] = (np.zeros(len(losses)), losses), clusters
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
    """Return scores and losses, weights, probabilities and clusters of a few rows."""
    n_rows = draw(st.integers(2, 10))
    column = partial(st.lists, min_size=n_rows, max_size=n_rows)
    losses = draw(column(st.sampled_from([0.0, 0.5, 1.0, 1.0, np.nan])))
    proba = draw(column(st.sampled_from([0.5, 0.75])))
    scores, weight = draw(column(st.integers(0, 5))), draw(column(st.floats(0.1, 2)))
    clusters = draw(column(st.integers(0, 6)))
    return tuple(map(np.array, (scores, losses, weight, proba, clusters)))


def of_rows(arrays, rows):
    scores, losses, *sampling = (each[rows] for each in arrays)
    names = "sample_weight", "inclusion_proba", "clusters"
    options = dict(zip(names, sampling, strict=True)) | {"max_weight": 4.0}
    return scores, losses, options


@given(few_units(), st.floats(0, 1), st.booleans())
def test_each_unit_in_turn_is_the_new_one(arrays, share, randomize):
    scores, losses, weight, proba, clusters = arrays
    units, total = np.unique(clusters), 0.0
    target = 4 * (share + (1 - share) / len(units))
    for new in (clusters == unit for unit in units):
        if np.isnan(losses[~new]).all():  # refused
            return
        *old, options = of_rows(arrays, ~new)
        options |= {"max_loss": 1.0, "randomize": randomize}
        chances = solve_target_failure_rate(*old, target, **options).accept_proba(
            scores
        )
        total += (np.nan_to_num(losses) * weight / proba * chances)[new].mean()
    assert total <= target * len(units) * (1 + 1e-9)


@given(few_units(), st.floats(0.01, 0.99))
def test_the_new_unit_may_lose_the_most(arrays, share):
    scores, losses, options = of_rows(arrays, slice(None))
    n_units = len(set(options["clusters"]))
    target = 4 * (share + (1 - share) / (n_units + 1))
    expected = scores < 0
    for limit in range(7):
        values = values_of(scores < limit, losses, 0.0, **options)
        if 4 * (1 + sum(values)) <= (n_units + 1) * target + 1e-9:
            expected = scores < limit
    if not np.isnan(losses).all():
        asked = options | ON_AVERAGE
        rule = solve_target_failure_rate(scores, losses, target, **asked)
        np.testing.assert_array_equal(rule.accept(scores), expected)
        assert rule.certificate.n_samples == n_units
        assert rule.certificate.n_accepted == len(set(options["clusters"][expected]))
