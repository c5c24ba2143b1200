"""Summaries of cells against the functions of all samples at once."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sklearn_reject import metrics, selection
from sklearn_reject.exceptions import InfeasibleTargetError, RejectionWarning
from sklearn_reject.selection import RiskCoverageSummary
from sklearn_reject.selection._bounds import BOUNDS

# Metrics that a summary bounds, and what is drawn of their options.
QUANTITIES = {
    "aurc": {},
    "augrc": {},
    "sele": {"ties": st.sampled_from(["inclusive", "midrank"])},
    "selective_risk_at_coverage": {
        "coverage": st.floats(1e-9, 1.0),
        "randomize": st.booleans(),
    },
    "coverage_at_risk": {"risk": st.floats(0.0, 2.0), "randomize": st.booleans()},
}


def measure(name, scores, losses, weight=None, **options):
    """Return what the metric of all samples at once is."""
    metric = getattr(metrics, name)
    return metric(None, None, scores, loss=losses, sample_weight=weight, **options)


SCORES = {
    "uniform": lambda rng, n: rng.random(n),
    "few": lambda rng, n: rng.integers(0, 5, n) / 7.0,
    "decades": lambda rng, n: rng.choice([-1, 1], n) * 10.0 ** rng.uniform(-8, 8, n),
    "near": lambda rng, n: (
        rng.integers(1, 4, n) * (1 + rng.integers(-4, 5, n) * 2.0**-42)
    ),
    "normal": lambda rng, n: rng.normal(size=n),
}
LOSSES = {
    "unit": lambda rng, n: (rng.random(n) < 0.4).astype(float),
    "real": lambda rng, n: rng.random(n) * 3,
    "mixed": lambda rng, n: rng.choice([0, 0.5, 1, 2], n),
}


@st.composite
def samples(draw, weighted=True, kinds=tuple(SCORES)):
    """Scores with ties and near ties of sixteen decades, losses, weights, parts."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(1, 60))
    scores = SCORES[draw(st.sampled_from(kinds))](rng, n)
    losses = LOSSES[draw(st.sampled_from([*LOSSES]))](rng, n)
    weight = None
    if weighted and draw(st.booleans()):
        weight = rng.choice([0.0, 1.0, 2.0, 0.37, 1e-5], n)
        weight *= 10.0 ** draw(st.integers(-6, 6))
        weight[rng.integers(n)] = 1.0
    part = rng.integers(0, draw(st.integers(1, 5)), n)
    return scores, losses, weight, [part == k for k in np.unique(part)]


def summarize(sample, n_bits):
    """Summarize the parts of a sample, by merges and updates."""
    *columns, masks = sample
    summary = RiskCoverageSummary(n_bits)
    for number, mask in enumerate(masks):
        part = [None if column is None else column[mask] for column in columns]
        if number % 2:
            summary = summary.merge(RiskCoverageSummary(n_bits).update(*part))
        else:
            summary.update(*part)
    return summary


bits = st.sampled_from([13, 16, 22, 30])


@pytest.mark.parametrize("name", QUANTITIES)
@given(sample=samples(), n_bits=bits, data=st.data())
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
def test_metrics_are_in_their_intervals(name, sample, n_bits, data):
    options = data.draw(st.fixed_dictionaries(QUANTITIES[name]))
    exact = measure(f"{name}_score", *sample[:3], **options)
    found = getattr(summarize(sample, n_bits), name)(**options)
    if math.isnan(found.value):
        assert math.isnan(exact)
        return
    assert found.low <= np.nan_to_num(exact) <= found.high
    assert found.low <= found.value <= found.high


@given(sample=samples(), n_bits=bits, coverage=st.floats(0.01, 1.0))
def test_band_is_of_intervals(sample, n_bits, coverage):
    summary = summarize(sample, n_bits)
    risk = summary.selective_risk_at_coverage(coverage, randomize=True)
    low, high = summary.risk_coverage_band([coverage])
    assert (low[0], high[0]) == (risk.low, risk.high)


def solve(function, *args, **options):
    try:
        return function(*args, **options)
    except InfeasibleTargetError:
        return None


@pytest.mark.parametrize("target", ["target_risk", "target_coverage", "reject_cost"])
@given(sample=samples(), n_bits=bits, value=st.floats(0.01, 1.0))
def test_rules(target, sample, n_bits, value):
    """What they say of themselves is exact, and the optimum at most a cell away."""
    scores, losses, weight, _ = sample
    summary = summarize(sample, n_bits)
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
    if target == "reject_cost":
        exact = selection.solve_reject_cost(scores, losses, value, sample_weight=weight)
        costs = [each.failure_rate - value * each.coverage for each in (rule, exact)]
        assert costs[0] >= costs[1] - 1e-9


@given(sample=samples(weighted=False, kinds=("few",)), value=st.floats(0.02, 1.0))
@pytest.mark.parametrize("name", ["risk", "coverage", "cost", "failure_rate"])
@pytest.mark.filterwarnings("ignore::sklearn_reject.exceptions.RejectionWarning")
def test_rules_where_each_cell_is_one_score(name, sample, value):
    """Nothing is lost then: the rules are those of all samples at once."""
    scores, losses, *_ = sample
    options, target = {}, "reject_cost" if name == "cost" else f"target_{name}"
    if name == "failure_rate":
        options = {} if np.isin(losses, (0, 1)).all() else {"max_loss": 3.0}
    plain = {"randomize": False} if name == "failure_rate" else {}
    solver = getattr(selection, f"solve_{target}")
    exact = solve(solver, scores, losses, value, **options, **plain)
    rule = solve(getattr(summarize(sample, 30), f"solve_{target}"), value, **options)
    if exact is None:
        assert rule is None
        return
    assert rule.coverage == pytest.approx(exact.coverage, rel=1e-9)
    assert rule.selective_risk == pytest.approx(
        exact.selective_risk, rel=1e-9, nan_ok=True
    )
    np.testing.assert_array_equal(
        rule.accept_proba(scores) > 0, exact.accept_proba(scores) > 0
    )
    assert rule.certificate == exact.certificate


@given(sample=samples(kinds=("few",)), value=st.floats(0.01, 1.0))
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
def test_intervals_where_each_cell_is_one_score(sample, value):
    """Nothing is left to be known."""
    summary = summarize(sample, 30)
    for name, options in (
        ("aurc", {}),
        ("augrc", {}),
        ("selective_risk_at_coverage", {"coverage": value, "randomize": True}),
        ("coverage_at_risk", {"risk": value, "randomize": True}),
    ):
        exact = measure(f"{name}_score", *sample[:3], **options)
        found = getattr(summary, name)(**options)
        expected = pytest.approx([exact] * 2, abs=1e-9, nan_ok=True)
        assert [found.low, found.high] == expected, name


def uniform(n=500, seed=0, power=2.0):
    rng = np.random.default_rng(seed)
    scores = rng.random(n)
    return scores, (rng.random(n) < scores**power).astype(float)


def test_points_of_the_curve_are_exact():
    scores, losses = uniform()
    summary = RiskCoverageSummary(16).update(scores, losses)
    coverage, risk, thresholds = summary.risk_coverage_curve(max_points=20)
    assert len(coverage) <= 20
    assert coverage[-1] == 1
    all_points = metrics.risk_coverage_curve(None, None, scores, loss=losses)
    known = dict(zip(all_points[2], zip(*all_points[:2], strict=True), strict=True))
    for point in zip(thresholds, coverage, risk, strict=True):
        assert known[point[0]] == point[1:]


@given(sample=samples(), n_bits=bits)
def test_comes_back_from_json(sample, n_bits):
    summary = summarize(sample, n_bits)
    text = json.dumps(summary.to_dict(), allow_nan=False)
    other = RiskCoverageSummary.from_dict(json.loads(text))
    assert other.to_dict() == summary.to_dict()
    assert other.aurc() == summary.aurc()
    assert other.n_bits == n_bits


def test_no_samples():
    summary = RiskCoverageSummary().update([], [])
    summary.update([0.1, 0.2], [1, 0], [0.0, 0.0])
    with pytest.raises(ValueError, match="no samples"):
        summary.aurc()
    assert repr(summary) == "<RiskCoverageSummary(n_bits=22): n_samples=0, n_cells=0>"
    assert RiskCoverageSummary.from_dict(summary.to_dict()).n_samples == 0
    summary.update([0.3, 0.4], [1, 0], [1.0, 0.0])
    assert summary.n_samples == 1
    assert summary.aurc().value == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0.1, np.nan], [0, 1]), "scores must be finite"),
        (([0.1, 0.2], [0, -1]), "losses must be non-negative"),
        (([0.1, 0.2], [0]), "losses has 1 elements"),
        (([0.1], [0], [-1.0]), "sample_weight must be non-negative"),
        (([], [], [1.0]), "sample_weight has 1 elements"),
    ],
    ids=["nan score", "negative", "length", "weight", "empty"],
)
def test_a_bad_update_changes_nothing(arguments, message):
    summary = RiskCoverageSummary().update([0.5], [1])
    before = summary.to_dict()
    with pytest.raises(ValueError, match=message):
        summary.update(*arguments)
    assert summary.to_dict() == before


def test_bad_merges_and_dictionaries():
    summary = RiskCoverageSummary().update([0.5, 0.7], [1, 0])
    with pytest.raises(
        ValueError, match=r"'n_bits': 26}, but this RiskCov.*'n_bits': 22"
    ):
        summary.merge(RiskCoverageSummary(26))
    with pytest.raises(ValueError, match="this RiskCoverageSummary itself"):
        summary.merge(summary)
    with pytest.raises(ValueError, match="must be a RiskCoverageSummary"):
        summary.merge({})
    state = summary.to_dict()
    with pytest.raises(ValueError, match="state must be a dictionary"):
        RiskCoverageSummary.from_dict(state["state"])
    for change, match in (
        ({"low": [0.5]}, "does not go with"),
        ({"rows": ["many", 1.0]}, "rows=.*which is invalid"),
        ({"is_unit": 2}, "is_unit=2.*of type bool"),
    ):
        changed = state | {"state": state["state"] | change}
        with pytest.raises(ValueError, match=match):
            RiskCoverageSummary.from_dict(changed)


CERTIFIED = {"target": 0.3, "confidence_level": 0.9}
SCORED, WRONG = uniform()
PLAIN = SCORED, WRONG
WEIGHTED, REAL = (SCORED, WRONG, np.full(500, 2.0)), (SCORED, 0.7 * WRONG)
BINOMIAL = CERTIFIED | {"max_loss": 1, "bound": "binomial"}


@pytest.mark.parametrize(
    ("sample", "method", "options", "message"),
    [
        (PLAIN, "solve_target_risk", {"target": -1.0}, "selective risk"),
        (PLAIN, "solve_target_risk", {"target": 0.1, "randomize": 2}, "randomize"),
        (PLAIN, "solve_target_risk", CERTIFIED | {"confidence_level": 2}, "confiden"),
        (PLAIN, "solve_target_risk", {"target": 0.1, "bound": "exact"}, "bound must"),
        (PLAIN, "solve_target_risk", CERTIFIED | {"bound": "betting"}, "bound must"),
        (PLAIN, "solve_target_coverage", {"target": 0}, "coverage"),
        (PLAIN, "solve_reject_cost", {"target": -1}, "reject cost"),
        (PLAIN, "solve_target_failure_rate", {"target": 0}, "failure rate"),
        (PLAIN, "selective_risk_at_coverage", {"coverage": 0}, "coverage"),
        (PLAIN, "coverage_at_risk", {"risk": -1}, "risk"),
        (PLAIN, "risk_coverage_band", {"coverage": [0.5, 2]}, "coverage must be in"),
        (PLAIN, "risk_coverage_curve", {"max_points": 0}, "max_points"),
        (PLAIN, "sele", {"ties": "none"}, "ties"),
        (
            WEIGHTED,
            "solve_target_failure_rate",
            {"target": 0.3},
            "or use a target_risk",
        ),
        (WEIGHTED, "solve_target_risk", CERTIFIED, "cannot be combined with confid"),
        (REAL, "solve_target_risk", CERTIFIED, "max_loss is needed"),
        (REAL, "solve_target_risk", CERTIFIED | {"max_loss": 0.5}, "above max_loss"),
        (REAL, "solve_target_risk", BINOMIAL, "binomial"),
    ],
)
def test_bad_options(sample, method, options, message):
    summary = RiskCoverageSummary().update(*sample)
    with pytest.raises(ValueError, match=message):
        getattr(summary, method)(**options)


@pytest.mark.parametrize("n_bits", [12, 33, "22", 22.0, True])
def test_bad_bits(n_bits):
    with pytest.raises(ValueError, match="n_bits"):
        RiskCoverageSummary(n_bits)


def test_certified_thresholds_are_borders_of_cells():
    scores, losses = uniform(2000)
    # Next to a border, which would tie with them.
    scores[::2] = np.ceil(16 * scores[::2]) / 16 * (1 - 2.0**-45)
    summary = RiskCoverageSummary(16).update(scores, losses)
    for rule in (
        summary.solve_target_risk(0.2, confidence_level=0.9),
        summary.solve_target_coverage(0.6, confidence_level=0.9),
        summary.solve_target_failure_rate(0.1, confidence_level=0.9),
    ):
        bits = np.float64(rule.threshold).view(np.int64)
        assert bits & (2**48 - 1) == 0
        measured = rule.measure(scores, losses)
        assert measured.coverage == rule.coverage
        assert measured.selective_risk == pytest.approx(rule.selective_risk)
    exact = selection.solve_target_risk(scores, losses, 0.2, confidence_level=0.9)
    rule = summary.solve_target_risk(0.2, confidence_level=0.9)
    assert rule.coverage == pytest.approx(exact.coverage, abs=0.03)


@pytest.mark.parametrize("method", ["solve_target_risk", "solve_target_failure_rate"])
@pytest.mark.parametrize("unit", [1.0, 0.3, 4.0])
def test_p_values_in_units_of_the_largest_loss(method, unit):
    scores, losses = uniform(2000)
    losses = losses * scores
    solve = getattr(RiskCoverageSummary(16).update(scores, unit * losses), method)
    options = {"confidence_level": 0.8, "max_loss": unit}
    rule = solve(0.1 * unit, **options)
    accepted = scores < rule.threshold
    n_tested = len(scores) if method.endswith("rate") else accepted.sum()
    expected = BOUNDS["hoeffding_bentkus"].of_sums(
        np.array([n_tested]), np.array([losses[accepted].sum()]), 0.1
    )
    assert rule.certificate.p_value == pytest.approx(expected[0])
    assert expected[0] <= 0.2
    assert rule.certificate.bound == "hoeffding_bentkus"
    assert solve(unit, **options).coverage == 1


def test_failures_that_are_allowed_exactly():
    # (19 + 1) * .1 leaves one failure beside that of the new sample.
    summary = RiskCoverageSummary().update(
        np.arange(19), [0] * 9 + [1, 0, 0, 1] + [0] * 6
    )
    assert summary.solve_target_failure_rate(0.1).coverage == pytest.approx(12 / 19)


def test_too_few_samples_for_a_certificate():
    summary = RiskCoverageSummary().update([0.1, 0.2, 0.3], [0, 0, 0])
    with pytest.raises(InfeasibleTargetError, match="at least 22 are needed"):
        summary.solve_target_risk(0.1, confidence_level=0.9)
    with pytest.raises(InfeasibleTargetError, match="loss: at least 22 are needed"):
        summary.solve_target_failure_rate(0.1, confidence_level=0.9)
    with pytest.raises(InfeasibleTargetError, match="loss: at least 9 are needed"):
        summary.solve_target_failure_rate(0.1)
    assert summary.solve_target_coverage(0.5, confidence_level=0.9).coverage == 1


def test_a_failure_rate_that_accepts_nothing_is_told():
    scores, losses = [0.3] * 20, [1] + [0] * 19
    summary = RiskCoverageSummary().update(scores, losses)
    with pytest.warns(RejectionWarning, match="No calibration sample is accepted"):
        rule = summary.solve_target_failure_rate(0.05)
    assert rule.coverage == 0
    for confidence_level in (None, 0.9):
        with pytest.raises(InfeasibleTargetError, match="use a larger rate"):
            summary.solve_target_failure_rate(5e-324, confidence_level=confidence_level)


@pytest.mark.parametrize("coverage", [0.5, 1.0])
def test_a_last_cell_of_next_to_no_weight(coverage):
    sample = [0.1, 0.2], [0.0, 1.0], [1e6, 2.07e-6]
    exact = measure("selective_risk_at_coverage_score", *sample, coverage=coverage)
    summary = RiskCoverageSummary().update(*sample)
    risk = summary.selective_risk_at_coverage(coverage)
    assert risk.low <= exact <= risk.high


@pytest.mark.parametrize("name", ["aurc", "augrc", "sele"])
def test_many_losses_that_add_up_with_rounding(name):
    scores, losses = np.full(300_000, 0.5), np.full(300_000, 0.1)
    area = getattr(RiskCoverageSummary().update(scores, losses), name)()
    assert area.low <= measure(f"{name}_score", scores, losses) <= area.high
    assert area.high - area.low < 1e-9


def test_small_products():
    scores, losses = uniform(20)
    small = RiskCoverageSummary().update(scores, losses * 1e-200, np.full(20, 1e-90))
    exact = measure("aurc_score", scores, losses) * 1e-200
    area = small.aurc()
    assert 0 < area.low <= exact <= area.high
    # Nothing is lost where there is nothing.
    none = RiskCoverageSummary().update(scores, losses * 0, np.full(20, 1e-90))
    assert none.aurc().value == 0
