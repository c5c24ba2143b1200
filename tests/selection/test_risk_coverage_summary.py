"""Summaries of cells against the functions of all samples at once."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sklearn_reject import _curves as curves
from sklearn_reject import selection
from sklearn_reject.exceptions import InfeasibleTargetError
from sklearn_reject.selection import RiskCoverageSummary, _cell_rules, rows_in_ranges

AREAS = {
    "aurc": (curves.aurc_score, {}),
    "augrc": (curves.augrc_score, {}),
    "sele": (curves.sele_score, {}),
    "sele of midranks": (curves.sele_score, {"ties": "midrank"}),
}


@st.composite
def samples(draw, weighted=True, losses=("unit", "real", "mixed")):
    """Scores with ties and near ties of sixteen decades, losses, weights, parts."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(1, 60))
    kind = draw(st.sampled_from(["uniform", "few", "decades", "near", "normal"]))
    scores = {
        "uniform": lambda: rng.random(n),
        "few": lambda: rng.integers(0, 5, n) / 7.0,
        "decades": lambda: rng.choice([-1, 1], n) * 10.0 ** rng.uniform(-8, 8, n),
        "near": lambda: rng.integers(1, 4, n) * (1 + rng.integers(-4, 5, n) * 2.0**-42),
        "normal": lambda: rng.normal(size=n),
    }[kind]()
    kind = draw(st.sampled_from(losses))
    values = {
        "unit": lambda: (rng.random(n) < 0.4).astype(float),
        "real": lambda: rng.random(n) * 3,
        "mixed": lambda: rng.choice([0, 0.5, 1, 2], n),
    }[kind]()
    weight = None
    if weighted and draw(st.booleans()):
        weight = rng.choice([0.0, 1.0, 2.0, 0.37], n) * 10.0 ** draw(st.integers(-6, 6))
        weight[rng.integers(n)] = 1.0
    n_parts = draw(st.integers(1, 5))
    part = rng.integers(0, n_parts, n)
    return scores, values, weight, [part == k for k in range(n_parts)]


def take(sample):
    scores, losses, weight, masks = sample
    for mask in masks:
        yield scores[mask], losses[mask], None if weight is None else weight[mask]


def summarise(sample, n_bits):
    summary = RiskCoverageSummary(n_bits)
    for number, part in enumerate(take(sample)):
        if number % 2:
            summary = summary.merge(RiskCoverageSummary(n_bits).update(*part))
        else:
            summary.update(*part)
    return summary


bits = st.sampled_from([13, 16, 22, 30])


@given(sample=samples(), n_bits=bits, name=st.sampled_from(sorted(AREAS)))
def test_areas(sample, n_bits, name):
    function, options = AREAS[name]
    exact = function(*sample[:2], sample_weight=sample[2], **options)
    summary = summarise(sample, n_bits)
    method = getattr(summary, name.split()[0])
    area = method(**options)
    assert area.low <= exact <= area.high
    assert area.low <= area.value <= area.high
    read = method(parts=list(take(sample)), **options)
    assert read.value == read.low == read.high == pytest.approx(exact, rel=1e-11)


@given(
    sample=samples(),
    n_bits=bits,
    coverage=st.floats(0.01, 1.0),
    randomize=st.booleans(),
)
def test_risk_at_coverage(sample, n_bits, coverage, randomize):
    options = {"coverage": coverage, "randomize": randomize}
    exact = curves.selective_risk_at_coverage_score(
        *sample[:2], sample_weight=sample[2], **options
    )
    summary = summarise(sample, n_bits)
    risk = summary.selective_risk_at_coverage(**options)
    assert risk.low <= exact <= risk.high
    assert risk.low <= risk.value <= risk.high
    if randomize:
        low, high = summary.risk_coverage_band([coverage])
        assert (low[0], high[0]) == (risk.low, risk.high)


@given(sample=samples(), n_bits=bits, risk=st.floats(0.0, 2.0), randomize=st.booleans())
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
def test_coverage_at_risk(sample, n_bits, risk, randomize):
    exact = curves.coverage_at_risk_score(
        *sample[:2], sample_weight=sample[2], risk=risk, randomize=randomize
    )
    coverage = summarise(sample, n_bits).coverage_at_risk(risk, randomize=randomize)
    if math.isnan(coverage.value):
        assert math.isnan(exact)
    else:
        assert coverage.low - 1e-12 <= np.nan_to_num(exact) <= coverage.high + 1e-12


def solve(function, *args, **options):
    try:
        return function(*args, **options)
    except InfeasibleTargetError:
        return None


def assert_same_rule(rule, exact, unit):
    """Compare all but the slope of the hull, of which cells know less."""
    if exact is None:
        assert rule is None
        return
    for name in ("threshold", "proba_at_threshold", "coverage", "selective_risk"):
        ours, theirs = getattr(rule, name), getattr(exact, name)
        if unit:
            assert ours == theirs or (math.isnan(ours) and math.isnan(theirs))
        else:
            assert ours == pytest.approx(theirs, rel=1e-9, nan_ok=True)
    assert rule.certificate == exact.certificate


@pytest.mark.parametrize("most_rows", [2**20, 3])
@pytest.mark.parametrize("target", ["target_risk", "target_coverage", "reject_cost"])
@given(sample=samples(), n_bits=bits, value=st.floats(0.01, 1.0), flag=st.booleans())
def test_rules_of_a_second_reading(target, most_rows, sample, n_bits, value, flag):
    scores, losses, weight, _ = sample
    options = {} if target == "reject_cost" else {"randomize": flag}
    function = getattr(selection, f"solve_{target}")
    exact = solve(function, scores, losses, value, sample_weight=weight, **options)
    summary = summarise(sample, n_bits)
    seen = []

    def parts(ranges):
        seen.append(ranges)
        return (rows_in_ranges(*part, ranges) for part in take(sample))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_cell_rules, "MOST_ROWS", most_rows)
        method = getattr(summary, f"solve_{target}")
        rule = solve(method, value, parts=parts, **options)
    unit = weight is None and np.isin(losses, (0, 1)).all()
    assert_same_rule(rule, exact, unit)


@given(
    sample=samples(weighted=False),
    n_bits=bits,
    rate=st.floats(0.02, 1.0),
)
@pytest.mark.filterwarnings("ignore::sklearn_reject.exceptions.RejectionWarning")
def test_failure_rates_of_a_second_reading(sample, n_bits, rate):
    scores, losses, _, _ = sample
    options = {} if np.isin(losses, (0, 1)).all() else {"max_loss": 3.0}
    exact = solve(
        selection.solve_target_failure_rate,
        *(scores, losses, rate),
        randomize=False,
        **options,
    )
    method = summarise(sample, n_bits).solve_target_failure_rate
    assert_same_rule(
        solve(method, rate, parts=list(take(sample)), **options), exact, not options
    )


@pytest.mark.parametrize("target", ["target_risk", "target_coverage", "reject_cost"])
@given(sample=samples(), n_bits=bits, value=st.floats(0.01, 1.0))
def test_rules_at_once(target, sample, n_bits, value):
    """What they say of themselves is exact, and the optimum at most a cell away."""
    scores, losses, weight, _ = sample
    summary = summarise(sample, n_bits)
    rule = solve(getattr(summary, f"solve_{target}"), value)
    if rule is None:
        return
    measured = rule.measure(scores, losses, sample_weight=weight)
    assert measured.coverage == pytest.approx(rule.coverage, rel=1e-9)
    if rule.coverage:
        assert measured.selective_risk == pytest.approx(rule.selective_risk, abs=1e-9)
    if target == "target_risk":
        assert rule.selective_risk <= value * (1 + 1e-9)
        assert rule.coverage <= summary.coverage_at_risk(value).high + 1e-12
    if target == "target_coverage":
        assert rule.coverage >= value * (1 - 1e-9)
