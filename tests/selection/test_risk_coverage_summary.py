"""Summaries of cells against the functions of all samples at once."""

import json
import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sklearn_reject import _curves as curves
from sklearn_reject import selection
from sklearn_reject._curves import _cell_areas
from sklearn_reject.exceptions import InfeasibleTargetError, RejectionWarning
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


def summarize(sample, n_bits):
    summary = RiskCoverageSummary(n_bits)
    for number, part in enumerate(take(sample)):
        if number % 2:
            summary = summary.merge(RiskCoverageSummary(n_bits).update(*part))
        else:
            summary.update(*part)
    return summary


bits = st.sampled_from([13, 16, 22, 30])


@pytest.mark.parametrize("most_rows", [2**21, 3])
@given(sample=samples(), n_bits=bits, name=st.sampled_from(sorted(AREAS)))
def test_areas(most_rows, sample, n_bits, name):
    function, options = AREAS[name]
    exact = function(*sample[:2], sample_weight=sample[2], **options)
    summary = summarize(sample, n_bits)
    method = getattr(summary, name.split()[0])
    area = method(**options)
    assert area.low <= exact <= area.high
    assert area.low <= area.value <= area.high
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_cell_areas, "MOST_ROWS", most_rows)
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
    summary = summarize(sample, n_bits)
    risk = summary.selective_risk_at_coverage(**options)
    assert risk.low <= exact <= risk.high
    assert risk.low <= risk.value <= risk.high
    read = summary.selective_risk_at_coverage(**options, parts=list(take(sample)))
    assert read.value == pytest.approx(exact, rel=1e-9)
    if randomize:
        low, high = summary.risk_coverage_band([coverage])
        assert (low[0], high[0]) == (risk.low, risk.high)


@given(sample=samples(), n_bits=bits, risk=st.floats(0.0, 2.0), randomize=st.booleans())
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
def test_coverage_at_risk(sample, n_bits, risk, randomize):
    exact = curves.coverage_at_risk_score(
        *sample[:2], sample_weight=sample[2], risk=risk, randomize=randomize
    )
    summary = summarize(sample, n_bits)
    coverage = summary.coverage_at_risk(risk, randomize=randomize)
    parts = list(take(sample))
    read = summary.coverage_at_risk(risk, randomize=randomize, parts=parts)
    assert read.value == pytest.approx(exact, rel=1e-9, nan_ok=True)
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
    summary = summarize(sample, n_bits)
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
    method = summarize(sample, n_bits).solve_target_failure_rate
    assert_same_rule(
        solve(method, rate, parts=list(take(sample)), **options), exact, not options
    )


@pytest.mark.parametrize("target", ["target_risk", "target_coverage", "reject_cost"])
@given(sample=samples(), n_bits=bits, value=st.floats(0.01, 1.0))
def test_rules_at_once(target, sample, n_bits, value):
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


def uniform(n=500, seed=0, power=2.0):
    rng = np.random.default_rng(seed)
    scores = rng.random(n)
    return scores, (rng.random(n) < scores**power).astype(float)


def test_infinite_scores_are_the_extremes():
    scores, losses = [-np.inf, 0.0, 1.0, np.inf, np.inf], [0, 1, 0, 1, 0]
    summary = RiskCoverageSummary().update(scores, losses)
    ranks = [0, 1, 2, 3, 3]
    for name in ("aurc", "augrc", "sele"):
        area = getattr(summary, name)()
        exact = getattr(curves, f"{name}_score")(ranks, losses)
        assert area.low <= exact <= area.high
    assert summary.aurc().value == pytest.approx(curves.aurc_score(ranks, losses))
    for parts in (None, [(scores, losses)]):
        assert summary.coverage_at_risk(0.4, parts=parts).value == 1
        risk = summary.selective_risk_at_coverage(0.8, parts=parts)
        assert risk.value == pytest.approx(0.4)
    with pytest.raises(ValueError, match="infinite scores, which a rule"):
        summary.solve_target_risk(0.5)


def test_few_rows_are_asked_for_again():
    scores, losses = uniform(20_000)
    summary = RiskCoverageSummary().update(scores, losses)
    asked = []

    def parts(ranges):
        asked.append(rows_in_ranges(scores, losses, None, ranges))
        return asked[-1:]

    summary.solve_target_risk(0.1, parts=parts)
    summary.solve_target_coverage(0.5, parts=parts)
    assert len(asked) == 2
    assert all(0 < len(rows[0]) < 500 for rows in asked)


def test_points_of_the_curve_are_exact():
    scores, losses = uniform()
    summary = RiskCoverageSummary(16).update(scores, losses)
    coverage, risk, thresholds = summary.risk_coverage_curve(max_points=20)
    assert len(coverage) <= 20
    assert coverage[-1] == 1
    all_points = curves.risk_coverage_curve(scores, losses)
    known = dict(zip(all_points[2], zip(*all_points[:2], strict=True), strict=True))
    for point in zip(thresholds, coverage, risk, strict=True):
        assert known[point[0]] == point[1:]


def test_more_bits_narrow_the_interval():
    widths = []
    for n_bits in (16, 20, 24):
        area = RiskCoverageSummary(n_bits).update(*uniform(5000)).aurc()
        widths.append(area.high - area.low)
    assert widths[0] > 4 * widths[1] > 16 * widths[2]


@given(sample=samples(), n_bits=bits)
def test_comes_back_from_json_and_pickle(sample, n_bits):
    summary = summarize(sample, n_bits)
    text = json.dumps(summary.to_dict(), allow_nan=False)
    for other in (
        RiskCoverageSummary.from_dict(json.loads(text)),
        pickle.loads(pickle.dumps(summary)),
    ):
        assert other.to_dict() == summary.to_dict()
        assert other.aurc() == summary.aurc()
        assert other.n_bits == n_bits


def test_rows_without_weight_are_absent():
    summary = RiskCoverageSummary().update([0.1, 0.2], [1, 0], [0.0, 0.0])
    assert summary.n_samples == 0
    summary.update([0.3, 0.4], [1, 0], [1.0, 0.0])
    assert summary.n_samples == 1
    assert summary.aurc().value == 1


def test_updates_without_samples_and_without_any():
    summary = RiskCoverageSummary().update([], [])
    with pytest.raises(ValueError, match="no samples"):
        summary.aurc()
    assert repr(summary) == "<RiskCoverageSummary(n_bits=22): n_samples=0, n_cells=0>"
    assert RiskCoverageSummary.from_dict(summary.to_dict()).n_samples == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0.1, np.nan], [0, 1]), "scores must be finite"),
        (([0.1, 0.2], [0, -1]), "losses must be non-negative"),
        (([0.1, 0.2], [0]), "losses has 1 elements"),
        (([0.1, 0.2], [0, np.nan]), "losses must be finite"),
        (([0.1], [0], [-1.0]), "sample_weight must be non-negative"),
        (([], [], [1.0]), "sample_weight has 1 elements"),
    ],
    ids=["nan score", "negative", "length", "nan loss", "weight", "empty"],
)
def test_a_bad_update_changes_nothing(arguments, message):
    summary = RiskCoverageSummary().update([0.5], [1])
    before = summary.to_dict()
    with pytest.raises(ValueError, match=message):
        summary.update(*arguments)
    assert summary.to_dict() == before


@pytest.mark.parametrize("n_bits", [12, 33, 0, "22", 22.0, True])
def test_bad_bits(n_bits):
    with pytest.raises(ValueError, match="n_bits"):
        RiskCoverageSummary(n_bits)


def test_bad_merges_and_dictionaries():
    summary = RiskCoverageSummary().update([0.5, 0.7], [1, 0])
    with pytest.raises(ValueError, match="n_bits=26, but this summary has 22"):
        summary.merge(RiskCoverageSummary(26))
    with pytest.raises(ValueError, match="the summary itself"):
        summary.merge(summary)
    with pytest.raises(ValueError, match="must be a RiskCoverageSummary"):
        summary.merge({})
    state = summary.to_dict()
    with pytest.raises(ValueError, match="state must be a dictionary"):
        RiskCoverageSummary.from_dict(state["cells"])
    state["cells"]["low"] = state["cells"]["low"][::-1]
    with pytest.raises(ValueError, match="increasing scores"):
        RiskCoverageSummary.from_dict(state)


@pytest.mark.parametrize("is_weighted", [False, True])
@pytest.mark.parametrize("is_unit", [False, True])
@pytest.mark.parametrize(
    ("column", "value"),
    [
        *(("rows", value) for value in ("NaN", 0.0, 0.5, -3.0, "Infinity")),
        *(("loss", value) for value in ("NaN", -1.0, 1e9, "Infinity")),
        *(("weight", value) for value in ("NaN", 0.0, -1.0)),
        *(("least_loss", value) for value in ("NaN", -1.0, 1e9)),
        *(("largest_loss", value) for value in ("NaN", 0.0, "Infinity")),
        *(("low", value) for value in ("NaN", 1e9)),
        *(("high", value) for value in ("NaN", -1e9, 1e9)),
    ],
)
def test_cells_that_no_samples_have_are_refused(column, value, is_unit, is_weighted):
    rng = np.random.default_rng(0)
    losses = rng.integers(0, 2, 50) if is_unit else 0.5 + rng.random(50)
    weight = rng.random(50) + 0.5 if is_weighted else None
    state = RiskCoverageSummary().update(rng.random(50), losses, weight).to_dict()
    assert RiskCoverageSummary.from_dict(state).n_samples == 50
    if state["cells"][column] is None:
        return
    state["cells"][column][3] = value
    with pytest.raises(ValueError, match="cells must have columns"):
        RiskCoverageSummary.from_dict(state)


def test_other_samples_on_the_second_reading():
    scores, losses = uniform()
    summary = RiskCoverageSummary().update(scores, losses)
    with pytest.raises(ValueError, match="scores where the summary has counted"):
        summary.aurc(parts=[(scores[1:], losses[1:])])
    with pytest.raises(ValueError, match="iterated only once"):
        summary.aurc(parts=iter([(scores, losses)]))
    with pytest.raises(ValueError, match="pairs of scores and losses"):
        summary.aurc(parts=[(scores,)])


@pytest.mark.parametrize(
    ("method", "options", "message"),
    [
        ("solve_target_risk", {"target": -1.0}, "selective risk"),
        ("solve_target_risk", {"target": 0.1, "randomize": 2}, "randomize"),
        (
            "solve_target_risk",
            {"target": 0.1, "confidence_level": 2},
            "confidence_level",
        ),
        ("solve_target_risk", {"target": 0.1, "bound": "exact"}, "bound must be one"),
        ("solve_target_coverage", {"target": 0}, "coverage"),
        ("solve_reject_cost", {"target": -1}, "reject cost"),
        ("solve_target_failure_rate", {"target": 0}, "failure rate"),
        ("selective_risk_at_coverage", {"coverage": 0}, "coverage"),
        ("coverage_at_risk", {"risk": -1}, "risk"),
        ("risk_coverage_band", {"coverage": [0.5, 2]}, "coverage must be in"),
        ("risk_coverage_curve", {"max_points": 0}, "max_points"),
        ("sele", {"ties": "none"}, "ties"),
        (
            "solve_target_risk",
            {"target": 0.1, "confidence_level": 0.9, "bound": "betting"},
            "stores only their sums",
        ),
        (
            "solve_target_risk",
            {"target": 0.1, "confidence_level": 0.9, "parts": []},
            "parts cannot be combined with confidence",
        ),
    ],
)
def test_bad_options(method, options, message):
    summary = RiskCoverageSummary().update(*uniform())
    with pytest.raises(ValueError, match=message):
        getattr(summary, method)(**options)


def test_weights_and_losses_that_cannot_be_certified():
    scores, losses = uniform()
    weighted = RiskCoverageSummary().update(scores, losses, np.full(500, 2.0))
    with pytest.raises(ValueError, match="cannot be combined with confidence"):
        weighted.solve_target_risk(0.3, confidence_level=0.9)
    with pytest.raises(ValueError, match="failure rate, because its bound"):
        weighted.solve_target_failure_rate(0.3)
    real = RiskCoverageSummary().update(scores, losses * 0.7)
    with pytest.raises(ValueError, match="max_loss is needed"):
        real.solve_target_risk(0.3, confidence_level=0.9)
    with pytest.raises(ValueError, match="above max_loss"):
        real.solve_target_risk(0.3, confidence_level=0.9, max_loss=0.5)
    with pytest.raises(ValueError, match="binomial"):
        real.solve_target_risk(0.3, confidence_level=0.9, max_loss=1, bound="binomial")
    rule = real.solve_target_risk(0.3, confidence_level=0.9, max_loss=0.7)
    assert rule.certificate.bound == "hoeffding_bentkus"


def test_certified_thresholds_are_borders_of_cells():
    scores, losses = uniform(2000)
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


def test_too_few_samples_for_a_certificate():
    summary = RiskCoverageSummary().update([0.1, 0.2, 0.3], [0, 0, 0])
    with pytest.raises(InfeasibleTargetError, match="at least 22 are needed"):
        summary.solve_target_risk(0.1, confidence_level=0.9)
    with pytest.raises(InfeasibleTargetError, match="wrong: 22 are needed"):
        summary.solve_target_failure_rate(0.1, confidence_level=0.9)
    with pytest.raises(InfeasibleTargetError, match="wrong: 9 are needed"):
        summary.solve_target_failure_rate(0.1)
    assert summary.solve_target_coverage(0.5, confidence_level=0.9).coverage == 1


def test_a_failure_rate_that_accepts_nothing_is_told():
    scores, losses = [0.3] * 20, [1] + [0] * 19
    summary = RiskCoverageSummary().update(scores, losses)
    for parts in (None, [(scores, losses)]):
        with pytest.warns(RejectionWarning, match="No calibration sample is accepted"):
            rule = summary.solve_target_failure_rate(0.05, parts=parts)
        assert rule.coverage == 0
    for confidence_level in (None, 0.9):
        with pytest.raises(InfeasibleTargetError, match="Use a larger value"):
            summary.solve_target_failure_rate(5e-324, confidence_level=confidence_level)


def test_parts_with_other_losses_or_weights():
    scores, losses = uniform(200)
    weight = np.linspace(1, 2, 200)
    plain = RiskCoverageSummary(13).update(scores, losses)
    weighted = RiskCoverageSummary(13).update(scores, losses, weight)
    wrong = [
        (plain, (scores, losses * 0.5), "losses whose sum is"),
        (plain, (scores, losses, weight), "sample_weight whose sum"),
        (weighted, (scores, losses), "sample_weight whose sum"),
        (weighted, (scores, 1 - losses, weight), "losses whose sum is"),
    ]
    for summary, part, message in wrong:
        with pytest.raises(ValueError, match=message):
            summary.aurc(parts=[part])
        with pytest.raises(ValueError, match=message):
            summary.solve_target_coverage(0.5, parts=[part])
    ones = plain.aurc(parts=[(scores, losses, np.ones(200))])
    assert ones == plain.aurc(parts=[(scores, losses)])


def test_a_last_cell_of_next_to_no_weight():
    scores, losses, weight = [0.1, 0.2], [0.0, 1.0], [1e6, 2.07e-6]
    summary = RiskCoverageSummary().update(scores, losses, weight)
    for coverage in (0.5, 1.0):
        exact = curves.selective_risk_at_coverage_score(
            scores, losses, sample_weight=weight, coverage=coverage
        )
        risk = summary.selective_risk_at_coverage(coverage)
        assert risk.low <= exact <= risk.high


def test_products_that_vanish():
    scores, losses = uniform(20)
    vanished = RiskCoverageSummary().update(scores, losses * 1e-300, np.full(20, 1e-90))
    for method in (vanished.aurc, vanished.sele):
        with pytest.raises(ValueError, match="products underflow"):
            method()
    small = RiskCoverageSummary().update(scores, losses * 1e-200, np.full(20, 1e-90))
    exact = curves.aurc_score(scores, losses) * 1e-200
    area = small.aurc()
    assert 0 < area.low <= exact <= area.high
    # Nothing is lost where there is nothing.
    none = RiskCoverageSummary().update(scores, losses * 0, np.full(20, 1e-90))
    assert none.aurc().value == 0


def test_near_ties_on_both_sides_of_a_border_stay_together():
    border = 1.0
    scores = np.array([0.5, border * (1 - 2.0**-45), border, 1.5])
    losses = np.array([0.0, 0.0, 1.0, 1.0])
    summary = RiskCoverageSummary().update(scores, losses)
    # Without a second reading, the two around the border are taken or left.
    assert summary.solve_target_risk(0.3).coverage == 0.25
    parts = [(scores, losses)]
    exact = selection.solve_target_risk(scores, losses, 0.3)
    assert_same_rule(summary.solve_target_risk(0.3, parts=parts), exact, True)
