"""What holds for every function that solves a rule, and for every rule."""

import re
import warnings
from dataclasses import dataclass, fields, replace
from functools import partial

import numpy as np
import pytest

from sklearn_reject.selection import (
    DoubleScoreRule,
    certify_double_score,
    solve_deferral,
    solve_failure_bounds,
    solve_reject_cost,
    solve_risk_bounds,
    solve_target_coverage,
    solve_target_failure_rate,
    solve_target_risk,
    tune_double_score,
    tune_single_score,
)


@dataclass
class Data:
    """Rows with all that a solver may ask for, the draws that break ties included."""

    scores: np.ndarray
    novelty: np.ndarray
    losses: np.ndarray
    others: np.ndarray
    is_ood: np.ndarray
    groups: np.ndarray
    draws: np.ndarray
    weight: np.ndarray | None = None

    def take(self, rows):
        columns = {field.name: getattr(self, field.name) for field in fields(self)}
        return Data(**{k: None if v is None else v[rows] for k, v in columns.items()})


def draw_data(seed=0, n=300):
    rng = np.random.default_rng(seed)
    scores = np.round(20 * rng.random(n)) / 20
    is_ood = np.arange(n) % 4 == 0
    return Data(
        scores,
        np.round(rng.normal(size=n) + 2 * is_ood + 3 * scores, 1),
        (rng.random(n) < scores**3) * 1.0,
        (rng.random(n) < 0.1) * 1.0,
        is_ood,
        rng.integers(0, 3, n),
        rng.random(n),
    )


# Each takes data, and a unit that losses and all that is measured in them is given in.


def plain(solve, target, data, unit=1.0, *, grouped=False, in_units=True, **options):
    if data.weight is not None:
        options["sample_weight"] = data.weight
    if grouped:
        options["groups"] = data.groups
    target = target * unit if in_units else target
    return solve(data.scores, unit * data.losses, target, **options)


def certified(solve, target, data, unit=1.0, *, in_units=True, **options):
    options |= {"confidence_level": 0.8, "draws": data.draws}
    if in_units:
        # Not bets, which depend on the order of the samples.
        options |= {"max_loss": unit, "bound": "binomial"}
    return plain(solve, target, data, unit, in_units=in_units, **options)


def of_parts(solve, targets, data, unit=1.0, **options):
    bounds = {"region": (data.groups, {k: unit * x for k, x in targets.items()})}
    if data.weight is not None:
        options["sample_weight"] = data.weight
    if "confidence_level" in options or solve is solve_failure_bounds:
        options |= {"max_loss": unit, "bound": "binomial"}
    if "confidence_level" in options:
        options["draws"] = data.draws
    return solve(data.scores, unit * data.losses, bounds, **options)


def deferral(name, target, data, unit=1.0, **options):
    if data.weight is not None:
        options["sample_weight"] = data.weight
    if options.pop("grouped", False):
        options["groups"] = data.groups
    if "confidence_level" in options:
        options["draws"] = data.draws
        if name == "target_risk":
            # Rows set aside at random would depend on the order of all.
            other = draw_data(seed=1)
            options |= {"max_loss": unit, "bound": "binomial"}
            options["pilot"] = other.scores, unit * other.losses, unit * other.others
    options[name] = target if name == "max_deferral" else unit * target
    losses = unit * data.losses, unit * data.others
    return solve_deferral(data.scores, *losses, **options)


def of_origins(tune, data, unit=1.0, **model):
    scores = (
        [data.novelty] if tune is tune_single_score else [data.scores, data.novelty]
    )
    if "max_risk" in model:
        model["max_risk"] *= unit
    if "costs" in model:
        model["costs"] = tuple(unit * cost for cost in model["costs"])
    sample = *scores, unit * data.losses, data.is_ood
    return tune(*sample, sample_weight=data.weight, **model)


def certified_origins(data, unit=1.0):
    weights = {"risk_weight": 1.0, "novelty_weight": 0.5}
    direction = DoubleScoreRule(threshold=0.0, proba_at_threshold=1.0, **weights)
    bounds = {"min_tpr": 0.5, "max_risk": 0.3 * unit, "confidence_level": 0.8}
    sample = data.scores, data.novelty, unit * data.losses, data.is_ood
    options = {"max_loss": unit, "draws": data.draws, "bound": "binomial"}
    return certify_double_score(direction, *sample, **bounds, **options)


RATES = {"min_tpr": 0.7, "max_fpr": 0.5}
TUNERS = {
    f"{name}, {kind}": partial(of_origins, tune, **model)
    for name, tune in (("one score", tune_single_score), ("two", tune_double_score))
    for kind, model in {
        "rates": RATES,
        "tpr": {"min_tpr": 0.6},
        "risk": {"min_tpr": 0.3, "max_risk": 0.2},
        "costs": {"costs": (0.3, 1.0, 0.1), "ood_prior": 0.3},
        "wild": {**RATES, "wild_share": 0.8},
    }.items()
}
WEIGHTED = {
    "cost": partial(plain, solve_reject_cost, 0.2),
    "risk": partial(plain, solve_target_risk, 0.1),
    "coverage": partial(plain, solve_target_coverage, 0.53, in_units=False),
    "risk by group": partial(plain, solve_target_risk, 0.15, grouped=True),
    "cost by group": partial(plain, solve_reject_cost, 0.2, grouped=True),
    "risk bounds": partial(of_parts, solve_risk_bounds, {0: 0.1, 2: 0.08}),
    "deferral cost": partial(deferral, "deferral_cost", 0.05),
    "deferral budget": partial(deferral, "max_deferral", 0.3),
    "system risk": partial(deferral, "target_risk", 0.15),
    "system risk by group": partial(deferral, "target_risk", 0.18, grouped=True),
    **TUNERS,
}
UNWEIGHTED = {
    "certified risk": partial(certified, solve_target_risk, 0.1),
    "certified coverage": partial(
        certified, solve_target_coverage, 0.5, in_units=False
    ),
    "certified by group": partial(certified, solve_target_risk, 0.3, grouped=True),
    "failures": partial(plain, solve_target_failure_rate, 0.1, max_loss=1.0),
    "failures by group": partial(
        plain, solve_target_failure_rate, 0.1, max_loss=1.0, grouped=True
    ),
    "certified failures": partial(certified, solve_target_failure_rate, 0.15),
    "failure bounds": partial(of_parts, solve_failure_bounds, {0: 0.1, 1: 0.125}),
    "certified parts": partial(
        of_parts, solve_risk_bounds, {0: 0.18, 2: 0.2}, confidence_level=0.8
    ),
    "certified budget": partial(deferral, "max_deferral", 0.3, confidence_level=0.8),
    "certified system risk": partial(
        deferral, "target_risk", 0.2, confidence_level=0.8
    ),
    "two, certified": certified_origins,
}
SOLVERS = WEIGHTED | UNWEIGHTED


def rows_of(rule, data):
    """Return the arrays that a rule decides by."""
    kind, rows = type(rule).__name__, [data.scores]
    if kind == "SingleScoreRule":
        rows = [data.novelty]
    elif kind == "DoubleScoreRule":
        rows.append(data.novelty)
    elif kind.startswith("Grouped"):
        rows.append(data.groups)
    return rows


def decisions(rule, data):
    """Return the probability that each row is accepted, or deferred."""
    decide = getattr(rule, "defer_proba", None) or rule.accept_proba
    return decide(*rows_of(rule, data))


@pytest.mark.parametrize("name", SOLVERS)
def test_rules_do_something(name):
    data = draw_data()
    found = decisions(SOLVERS[name](data), data)
    assert 0 < found.mean() < 1


@pytest.mark.parametrize("name", SOLVERS)
def test_order_of_rows(name):
    data = draw_data()
    rows = np.random.default_rng(1).permutation(len(data.scores))
    expected = decisions(SOLVERS[name](data), data)
    found = decisions(SOLVERS[name](data.take(rows)), data)
    np.testing.assert_allclose(found, expected, rtol=1e-9)


@pytest.mark.parametrize("name", WEIGHTED)
def test_integer_weights_repeat_rows(name):
    data = draw_data(n=150)
    weight = np.random.default_rng(2).integers(0, 4, len(data.scores))
    repeated = data.take(np.repeat(np.arange(len(weight)), weight))
    found = WEIGHTED[name](replace(data, weight=weight))
    expected = decisions(WEIGHTED[name](repeated), data)
    np.testing.assert_allclose(decisions(found, data), expected, atol=1e-9)


@pytest.mark.parametrize("scale", [1e-12, 1 / 37, 2.0**40])
@pytest.mark.parametrize("name", WEIGHTED)
def test_scale_of_weights(name, scale):
    data = draw_data()
    weight = np.random.default_rng(3).integers(0, 4, len(data.scores)) / 7
    expected = decisions(WEIGHTED[name](replace(data, weight=weight)), data)
    found = decisions(WEIGHTED[name](replace(data, weight=scale * weight)), data)
    np.testing.assert_allclose(found, expected, atol=1e-9)


@pytest.mark.parametrize("unit", [1e-6, 1 / 3, 1e9])
@pytest.mark.parametrize("name", SOLVERS)
def test_units_of_losses(name, unit):
    data = draw_data()
    options = {}
    if name.startswith("failures"):
        options["max_loss"] = unit
    expected = decisions(SOLVERS[name](data), data)
    found = decisions(SOLVERS[name](data, unit, **options), data)
    np.testing.assert_allclose(found, expected, atol=1e-9)


@pytest.mark.parametrize(
    "name",
    # Two scores are added up, and a pilot has scores of its own.
    [name for name in SOLVERS if name[:3] != "two" and name != "certified system risk"],
)
def test_only_the_order_of_scores_matters(name):
    data = draw_data()
    moved = replace(data, scores=data.scores**3 - 5, novelty=np.exp(data.novelty))
    expected = decisions(SOLVERS[name](data), data)
    np.testing.assert_allclose(
        decisions(SOLVERS[name](moved), moved), expected, rtol=1e-9
    )


@pytest.mark.parametrize("scale", [1 / 3, 1e9, 1e-9])
@pytest.mark.parametrize("name", SOLVERS)
def test_scores_that_differ_by_rounding_are_the_same(name, scale):
    data, rng = draw_data(), np.random.default_rng(4)
    scores = scale * (data.scores - 0.4), scale * data.novelty
    data = replace(data, scores=scores[0], novelty=scores[1])
    moved = scores * (1 + 2.0**-52 * rng.integers(-4, 5, (2, len(data.scores))))
    moved = replace(data, scores=moved[0], novelty=moved[1])
    expected, rule = decisions(SOLVERS[name](data), data), SOLVERS[name](moved)
    for each in (data, moved):
        np.testing.assert_allclose(decisions(rule, each), expected, atol=1e-9)


@pytest.mark.parametrize("name", [n for n in SOLVERS if n[:3] not in ("one", "two")])
def test_scores_in_the_wrong_order_are_told_of_once(name):
    data = draw_data(n=2000)
    data.losses *= data.draws < 0.2  # so that there is a rule all the same
    words = r"risk 0\.\d+, all of them have 0\.\d+.*sign|wrong sign: .* by -?0\.\d+"
    told = []
    for scores in (data.scores, -data.scores):
        with warnings.catch_warnings(record=True) as record:
            warnings.simplefilter("always")
            SOLVERS[name](replace(data, scores=scores))
        told.append([w.filename for w in record if re.search(words, str(w.message))])
    assert told == [[], [__file__]]


def measure(rule, data, **options):
    """Return what a rule says of itself after measuring the data."""
    kind, sample = type(rule).__name__, [*rows_of(rule, data), data.losses]
    if "Score" in kind:
        sample.append(data.is_ood)
    if "Deferral" in kind:
        sample.append(data.others)
    if "Grouped" in kind:
        sample.append(sample.pop(1))
    return rule.measure(*sample, sample_weight=data.weight, **options)


def numbers(rule):
    fields = rule.to_dict().items()
    return {name: value for name, value in fields if isinstance(value, float)}


@pytest.mark.parametrize("name", SOLVERS)
def test_measuring_the_sample_says_what_the_rule_does(name):
    data, options = draw_data(), {"wild_share": 0.8} if "wild" in name else {}
    if name in WEIGHTED:
        data.weight = np.random.default_rng(5).random(len(data.scores))
    rule = SOLVERS[name](data)
    expected = pytest.approx(numbers(rule), rel=1e-12, nan_ok=True)
    assert numbers(measure(rule, data, **options)) == expected


@pytest.mark.parametrize("name", SOLVERS)
def test_lists_and_other_types_are_the_same_sample(name):
    data = draw_data()
    as_lists = Data(*(getattr(data, field.name) for field in fields(Data)))
    for field in fields(Data):
        value = getattr(data, field.name)
        if field.name in ("losses", "others"):
            setattr(as_lists, field.name, value.astype(np.float32))
        elif field.name in ("scores", "draws"):
            setattr(as_lists, field.name, np.asfortranarray(value[::-1])[::-1])
    assert SOLVERS[name](as_lists).to_dict() == SOLVERS[name](data).to_dict()


@pytest.mark.parametrize("name", SOLVERS)
def test_decisions_belong_to_rows(name):
    data = draw_data()
    rule = SOLVERS[name](data)
    whole = decisions(rule, data)
    parts = [decisions(rule, data.take([row])) for row in range(len(whole))]
    np.testing.assert_array_equal(np.concatenate(parts), whole)


def one_part(solve, scores, losses, target, **options):
    return solve(scores, losses, {"all": ([0, 0, 0], {0: target})}, **options)


def two_opinions(scores, losses, target, **options):
    return solve_deferral(scores, losses, losses, target_risk=target, **options)


def two_origins(scores, losses, target, **options):
    rule = DoubleScoreRule(threshold=0.0, proba_at_threshold=1.0)
    sample = scores, scores, losses, [0, 0, 1]
    return certify_double_score(rule, *sample, min_tpr=target, **options)


CERTIFIERS = {
    "risk": solve_target_risk,
    "coverage": solve_target_coverage,
    "failures": solve_target_failure_rate,
    "risk bounds": partial(one_part, solve_risk_bounds),
    "failure bounds": partial(one_part, solve_failure_bounds),
    "system risk": two_opinions,
    "two scores": two_origins,
}
# What is changed of three samples, the words of the error, and who takes no such thing.
REFUSALS = [
    (
        {"sample_weight": [1, 1, 1]},
        "sample_weight cannot be combined|needs max_weight",
        ("two scores",),
    ),
    (
        {"sample_weight": [1, 1, 1], "groups": [1, 1, 2]},
        "sample_weight cannot be combined|needs max_weight",
        ("risk bounds", "failure bounds", "two scores"),
    ),
    ({"randomize": "no"}, "randomize must be one of", ("two scores",)),
    ({"scores": [0, 1, np.inf]}, "must be finite", ()),
    ({"draws": [0.5]}, "draws has 1 elements", ()),
    ({"draws": [0.5, 0.5, 1.0]}, "draws must be", ()),
    # Also where no confidence is asked for.
    *(
        ({"confidence_level": None, **change}, words, ("coverage", "two scores"))
        for change, words in (
            ({"bound": "bentkus"}, "bound must be one of .* got 'bentkus'"),
            ({"max_loss": 0}, r"max_loss must be in \(0, inf\), got 0"),
        )
    ),
    ({"losses": [0, 0.5, 0]}, "max_loss is needed", ("coverage",)),
    ({"losses": [0, 3, 0], "max_loss": 2}, "above max_loss=2", ("coverage",)),
    (
        {"losses": [0, 0.5, 1], "max_loss": 1, "bound": "binomial"},
        "bound='binomial' is for losses that are 0 or 1, got 0.5. Pass",
        ("coverage",),
    ),
    *(
        (
            {"confidence_level": bad},
            r"confidence_level must be (a number )?in \(0, 1",
            {},
        )
        for bad in (0, 1, 1.5, -0.1, np.nan, True, "high", [0.9])
    ),
]


@pytest.mark.parametrize(
    ("name", "change", "words"),
    [
        (name, change, words)
        for name in CERTIFIERS
        for change, words, others in REFUSALS
        if name not in others
    ],
)
def test_what_no_certified_solver_takes(name, change, words):
    options = {"scores": [1, 2, 3], "losses": [0, 0, 1], "target": 0.5}
    options |= {"confidence_level": 0.5, **change}
    with pytest.raises(ValueError, match=words):
        CERTIFIERS[name](**options)
