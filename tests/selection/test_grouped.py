"""A rule for each group is the solver's on the rows of that group, and no other."""

import pickle
from collections import Counter
from functools import partial

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sklearn_reject.exceptions import RejectionWarning
from sklearn_reject.selection import (
    GroupedRule,
    InfeasibleTargetError,
    RejectionRule,
    keyed_draws,
    solve_reject_cost,
    solve_target_coverage,
    solve_target_failure_rate,
    solve_target_risk,
)
from tests.samples import samples

SOLVERS = {
    "cost": (solve_reject_cost, 0.3),
    "risk": (solve_target_risk, 0.3),
    "coverage": (solve_target_coverage, 0.6),
}
REJECT_ALL = RejectionRule(float("-inf"), 0.0, 0.0, float("nan"), 0.0)

RNG = np.random.default_rng(0)
SCORES = RNG.integers(0, 30, 600) / 30
LOSSES = (RNG.random(600) < SCORES**2).astype(float)
regions = RNG.choice(["a", "b", "c"], 600, p=[0.2, 0.3, 0.5])


def same(one, other):
    """Compare rules, where NaN is NaN."""
    return repr(one) == repr(other)


def group_by_group(solve, scores, losses, weights, groups):
    """Solve each group on a copy of its rows; None where it cannot be."""
    rules = {}
    for label in set(groups.tolist()):
        rows = [row for row, group in enumerate(groups.tolist()) if group == label]
        weight = None if weights is None else weights[rows]
        try:
            if weight is not None and not weight.any():
                raise InfeasibleTargetError("no sample")
            rules[label] = solve(scores[rows], losses[rows], sample_weight=weight)
        except InfeasibleTargetError:
            rules[label] = None
    return rules


@pytest.mark.filterwarnings("ignore::sklearn_reject.exceptions.RejectionWarning")
@pytest.mark.parametrize("name", SOLVERS)
@given(samples(max_size=20), st.integers(1, 4), st.integers(0, 2**32), st.data())
def test_each_group_has_the_rule_of_its_rows(name, sample, n_groups, seed, data):
    solver, target = SOLVERS[name]
    options = {}
    if name != "cost":
        options["randomize"] = data.draw(st.booleans())
    solve = partial(solver, target=target, **options)
    scores, losses, weights = sample
    groups = np.random.default_rng(seed).integers(0, n_groups, len(scores))
    expected = group_by_group(solve, *sample, groups)
    if not any(expected.values()):
        with pytest.raises(InfeasibleTargetError, match="No group has a rule"):
            solve(scores, losses, sample_weight=weights, groups=groups)
        return
    rule = solve(scores, losses, sample_weight=weights, groups=groups)
    assert list(rule.rules) == sorted(expected)
    for label, of_group in expected.items():
        if of_group is None:
            assert rule.rules[label].threshold == -np.inf
            assert rule.rules[label].proba_at_threshold == 0
        else:
            assert same(rule.rules[label], of_group)
    weights = np.ones(len(scores)) if weights is None else weights
    accepted = rule.accept_proba(scores, groups) * weights
    assert rule.coverage == pytest.approx(accepted.sum() / weights.sum())
    if accepted.sum():
        risk = accepted @ losses / accepted.sum()
        assert rule.selective_risk == pytest.approx(risk)
    else:
        assert np.isnan(rule.selective_risk)
    measured = rule.measure(scores, losses, groups, sample_weight=weights)
    assert measured.coverage == pytest.approx(rule.coverage)
    for label, of_group in rule.rules.items():
        np.testing.assert_allclose(
            measured.rules[label].coverage, of_group.coverage, atol=1e-12
        )


@given(samples(max_size=20, weighted=False), st.integers(0, 2**32))
def test_a_sample_is_decided_by_the_rule_of_its_group(sample, seed):
    scores, losses, _ = sample
    rng = np.random.default_rng(seed)
    groups = rng.choice(["x", "y"], len(scores))
    rule = solve_target_coverage(scores, losses, 0.5, groups=groups)
    draws = rng.random(len(scores))
    proba = rule.accept_proba(scores, groups)
    accepted = rule.accept(scores, groups, draws=draws)
    at = rule.at_threshold(scores, groups)
    called = rule.accept(scores, groups, draws=lambda rows: draws[rows])
    np.testing.assert_array_equal(called, accepted)
    for row, (score, group) in enumerate(zip(scores, groups, strict=True)):
        own = rule.rules[group]
        assert own.accept_proba([score]) == proba[row]
        assert own.at_threshold([score]) == at[row]
        assert own.accept([score], draws=draws[[row]]) == accepted[row]
        assert rule.accept([score], [group], draws=draws[[row]]) == accepted[row]


@pytest.mark.parametrize("name", ["risk", "coverage"])
def test_groups_share_the_chance_of_an_error(name):
    solver, target = SOLVERS[name]
    draws = keyed_draws(0, np.arange(600))
    options = {"confidence_level": 0.9, "draws": draws}
    rule = solver(SCORES, LOSSES, target, groups=regions, random_state=0, **options)
    for label, of_group in rule.rules.items():
        rows = regions == label
        expected = solver(
            SCORES[rows],
            LOSSES[rows],
            target,
            confidence_level=1 - 0.1 / 3,
            draws=draws[rows],
        )
        assert of_group.certificate.confidence_level == pytest.approx(1 - 0.1 / 3)
        assert of_group.certificate.n_accepted == expected.certificate.n_accepted
        assert of_group.threshold == expected.threshold
    assert rule.certificate == {k: each.certificate for k, each in rule.rules.items()}


def test_a_single_group_has_the_confidence_that_was_asked_for():
    rule = solve_target_risk(
        SCORES,
        LOSSES,
        0.2,
        confidence_level=0.9,
        groups=np.zeros(600, int),
        random_state=0,
    )
    assert rule.certificate[0].confidence_level == 0.9


def test_groups_are_known_beforehand():
    options = {"confidence_level": 0.9, "groups": regions, "random_state": 0}
    with pytest.warns(RejectionWarning, match="'d': it has no calibration sample"):
        rule = solve_target_risk(
            SCORES, LOSSES, 0.3, all_groups=["d", "c", "b", "a"], **options
        )
    assert list(rule.rules) == ["a", "b", "c", "d"]
    assert rule.rules["a"].certificate.confidence_level == pytest.approx(1 - 0.1 / 4)
    assert rule.rules["d"].threshold == -np.inf
    assert np.isnan(rule.rules["d"].coverage)
    assert set(rule.certificate) == {"a", "b", "c"}
    with pytest.raises(
        ValueError, match="groups holds 'c', which is not in all_groups"
    ):
        solve_target_risk(SCORES, LOSSES, 0.3, all_groups=["a", "b"], **options)


def test_rules_of_random_ties_can_be_had_again():
    options = {"confidence_level": 0.9, "groups": regions, "bound": "hoeffding_bentkus"}
    one, again, other = (
        solve_target_risk(SCORES, LOSSES, 0.3, random_state=seed, **options)
        for seed in (0, 0, 1)
    )
    assert one == again
    assert hash(one) == hash(again)
    assert one != other
    # Of a group the rows matter, and not what the groups before have drawn.
    rows = np.append(np.flatnonzero(regions == "a"), np.flatnonzero(regions != "a"))
    options["groups"] = regions[rows]
    moved = solve_target_risk(
        SCORES[rows], LOSSES[rows], 0.3, random_state=0, **options
    )
    assert moved.rules == one.rules


def test_targets_by_group():
    targets = {"a": 0.1, "b": 0.2, np.str_("c"): 1.0}
    rule = solve_target_risk(SCORES, LOSSES, targets, groups=regions)
    for label, target in targets.items():
        rows = regions == label
        assert rule.rules[label] == solve_target_risk(
            SCORES[rows], LOSSES[rows], target
        )
    assert rule.rules["c"].coverage == 1


@pytest.mark.parametrize("name", SOLVERS)
@pytest.mark.parametrize(
    ("target", "match"),
    [
        ({"a": 0.2, "b": 0.2}, "target has no value for 'c'. Add one for each"),
        ({}, "target has no value for 'a', 'b', 'c'"),
        ({"a": 1, "b": 1, "c": 1, "d": 1}, "value for 'd'.*groups are 'a', 'b', 'c'"),
        ({"a": 0.2, "b": 0.2, "c": "low"}, "target of the group 'c' must be a number"),
        (-1.0, r"must be in"),
    ],
    ids=["missing", "empty", "unknown", "text", "negative"],
)
def test_bad_targets(name, target, match):
    with pytest.raises(ValueError, match=match):
        SOLVERS[name][0](SCORES, LOSSES, target, groups=regions)


@pytest.mark.parametrize("name", SOLVERS)
def test_targets_by_group_need_groups(name):
    with pytest.raises(ValueError, match=r"must be a number.*got \{'a': 1\}"):
        SOLVERS[name][0](SCORES, LOSSES, {"a": 1})


@pytest.mark.parametrize("solve", [solve_target_failure_rate, solve_target_risk])
def test_names_of_groups_need_groups(solve):
    with pytest.raises(ValueError, match="all_groups needs groups"):
        solve(SCORES, LOSSES, 0.1, all_groups=["a", "b"])


@pytest.mark.parametrize(
    ("groups", "match"),
    [
        ([0.0, np.nan, np.nan], r"groups has no label \(nan\) in row 1 \(2 such rows"),
        (["a", None, "b"], r"groups has no label \(None\) in row 1 \(1 such"),
        (pd.array([1, 2, pd.NA]), r"groups has no label .* in row 2"),
        (np.array(["2020", "NaT", "2021"], "M8[D]"), "no label .*NaT.* in row 1"),
        ([1, [2], 3], r"\[2\] in row 1, which cannot be hashed"),
        (np.ma.array([1, 2, 3], mask=[0, 1, 0]), "groups is a masked array"),
        ([[1], [2], [3]], "row 0, which cannot be hashed"),
        (np.ones((3, 1)), r"array of shape \(3, 1\)"),
        ("abc", "groups must be a vector of labels, got 'abc'"),
        (7, "groups must be a vector of labels, got 7"),
        ({1, 2, 3}, "groups must be a vector of labels, got {1, 2, 3}"),
        ({"a": 1, "b": 2, "c": 1}, "groups must be a vector of labels, got {'a'"),
        (["a", "b"], "groups has 2 elements, but there are 3 samples"),
    ],
    ids=range(13),
)
def test_bad_groups(groups, match):
    with pytest.raises(ValueError, match=match):
        solve_target_risk([0.1, 0.2, 0.3], [0, 0, 1], 0.5, groups=groups)


def test_weights_cannot_be_certified():
    with pytest.raises(ValueError, match="sample_weight cannot be combined with"):
        solve_target_risk(
            SCORES,
            LOSSES,
            0.2,
            groups=regions,
            confidence_level=0.9,
            sample_weight=LOSSES + 1,
        )


LABELS = {
    "ints": [1, 0, 1],
    "floats": np.array([1.0, 0.0, 1.0]),
    "bools": np.array([True, False, True]),
    "small": np.array([1, 0, 1], np.int8),
    "objects": np.array([np.int64(1), 0.0, True], dtype=object),
    "series": pd.Series([1, 0, 1], index=[5, 6, 7]),
    "categories": pd.Series([1, 0, 1]).astype("category"),
    "nullable": pd.array([1, 0, 1]),
}


@pytest.mark.parametrize("kind", LABELS)
@pytest.mark.parametrize("other", LABELS)
def test_labels_that_are_equal_meet(kind, other):
    scores, losses = [0.1, 0.2, 0.3], [0, 0, 1]
    rule = solve_target_risk(scores, losses, {1: 0.0, 0: 0.0}, groups=LABELS[kind])
    accepted = rule.accept_proba(scores, LABELS[other])
    np.testing.assert_array_equal(accepted, [1, 1, 0])
    assert all(type(label) in (int, float, bool) for label in rule.rules)


TEXTS = {
    "list": ["a", "b", "a"],
    "array": np.array(["a", "b", "a"]),
    "longer": np.array(["a", "b", "a"], "U9"),
    "objects": np.array(["a", "b", "a"], object),
    "strings": pd.array(["a", "b", "a"], dtype="string"),
    "categories": pd.Series(["a", "b", "a"]).astype("category"),
}


@pytest.mark.parametrize("kind", TEXTS)
def test_text_meets_text(kind):
    scores = [0.1, 0.2, 0.3]
    rule = solve_target_risk(scores, [0, 0, 1], 0.0, groups=TEXTS["array"])
    np.testing.assert_array_equal(rule.accept_proba(scores, TEXTS[kind]), [1, 1, 0])


def test_dates_are_groups():
    days = np.array(["2020-01-01", "2020-01-02", "2020-01-01"], "M8[D]")
    scores = [0.1, 0.2, 0.3]
    rule = solve_target_risk(scores, [0, 0, 1], 0.0, groups=days)
    for unit in ("D", "s", "ns"):
        accepted = rule.accept_proba(scores, days.astype(f"M8[{unit}]"))
        np.testing.assert_array_equal(accepted, [1, 1, 0])


def test_numbers_are_no_text():
    rule = solve_target_risk([0.1, 0.2], [0, 0], 0.0, groups=["1", 1])
    assert set(rule.rules) == {"1", 1}
    with pytest.warns(RejectionWarning, match=r"1 of 2 samples .*rejected: 1\.5 \(1\)"):
        accepted = rule.accept_proba([0.1, 0.1], ["1", 1.5])
    np.testing.assert_array_equal(accepted, [1, 0])


def test_unseen_groups_are_rejected_and_counted():
    rule = solve_target_coverage(SCORES, LOSSES, 0.9, groups=regions)
    groups = ["a", "north", float("nan"), "north", None, float("nan"), "b"]
    scores = np.zeros(7)
    match = r"5 of 7 samples .* 'north' \(2\), nan \(2\), None \(1\)"
    for method in (rule.accept_proba, rule.accept):
        with pytest.warns(RejectionWarning, match=match) as warnings:
            accepted = method(scores, groups)
        assert len(warnings) == 1
        np.testing.assert_array_equal(accepted, [1, 0, 0, 0, 0, 0, 1])
    with pytest.warns(RejectionWarning, match=match):
        assert not rule.at_threshold(scores, groups).any()
    with pytest.warns(RejectionWarning, match=match):
        measured = rule.measure(scores, np.ones(7), groups)
    assert measured.coverage == pytest.approx(2 / 7)
    assert measured.selective_risk == 1
    assert np.isnan(measured.rules["c"].coverage)
    assert measured.rules["c"].threshold == rule.rules["c"].threshold
    with pytest.warns(RejectionWarning, match="25 of 25.* and 15 others"):
        rule.accept(np.zeros(25), np.arange(25))


def test_groups_without_a_rule_are_named_once():
    losses = np.where(regions == "b", 1.0, LOSSES)
    match = (
        "1 of 3 groups .*'b': No threshold .* lowest selective risk is 1, at coverage 1"
    )
    with pytest.warns(RejectionWarning, match=match) as warnings:
        rule = solve_target_risk(SCORES, losses, 0.2, groups=regions)
    assert len(warnings) == 1
    assert same(rule.rules["b"], REJECT_ALL)
    assert not rule.accept_proba(SCORES, regions)[regions == "b"].any()
    with pytest.raises(InfeasibleTargetError, match="No group has a rule") as error:
        solve_target_risk(SCORES, LOSSES + 1, 0.2, groups=regions)
    lowest = {
        label: solve_lowest(SCORES[regions == label], LOSSES[regions == label] + 1)
        for label in "abc"
    }
    assert error.value.attainable == {"target_risk": pytest.approx(lowest)}
    assert str(pickle.loads(pickle.dumps(error.value))) == str(error.value)


def solve_lowest(scores, losses):
    return min(losses[scores <= score].mean() for score in scores)


def test_too_few_samples_of_a_group_are_said():
    rows = np.flatnonzero(regions != "a")[:400]
    rows = np.append(rows, np.flatnonzero(regions == "a")[:9])
    match = "'a': 9 samples cannot certify the target risk 0.2 .*at least 16 are needed"
    with pytest.warns(RejectionWarning, match=match):
        rule = solve_target_risk(
            SCORES[rows],
            LOSSES[rows],
            0.2,
            groups=regions[rows],
            confidence_level=0.9,
            random_state=0,
        )
    assert rule.rules["a"].coverage == 0


LOW, HIGH = RejectionRule(0.2, 1.0), RejectionRule(0.4, 1.0)


def test_rules_of_your_own():
    rule = GroupedRule({np.int64(1): LOW, np.str_("b"): HIGH})
    assert Counter(map(type, rule.rules)) == {int: 1, str: 1}
    assert rule.certificate is None
    np.testing.assert_array_equal(rule.accept([0.3, 0.3], [1, "b"]), [False, True])
    for rules in ({}, [LOW], None):
        with pytest.raises(ValueError, match="rules must be a dict of group"):
            GroupedRule(rules)
    with pytest.raises(ValueError, match="rules has no label"):
        GroupedRule({None: LOW})


def test_draws_are_checked():
    rule = solve_target_coverage(SCORES, LOSSES, 0.5, groups=regions)
    with pytest.raises(ValueError, match=r"draws must be in \[0, 1\["):
        rule.accept(SCORES, regions, draws=SCORES + 1)
    with pytest.raises(ValueError, match="random_state=0 is not used"):
        rule.accept(SCORES, regions, draws=np.zeros(600), random_state=0)
    with pytest.raises(ValueError, match="groups has 1 elements, but there are 600"):
        rule.accept(SCORES, ["a"])


def test_many_groups():
    groups = np.arange(3000) // 3
    scores, losses = np.tile([0.1, 0.2, 0.3], 1000), np.tile([0, 0, 1], 1000)
    rule = solve_target_risk(scores, losses, 0.0, groups=groups)
    assert len(rule.rules) == 1000
    assert rule.coverage == pytest.approx(2 / 3)


def by_region(target=0.1, **options):
    """Solve a rule for each of three regions."""
    return solve_target_risk(SCORES, LOSSES, target, groups=regions, **options)


def test_monitors_share_the_chance_of_a_false_alarm():
    targets = {"a": 0.3, "b": 0.3, "c": 0.2}
    monitors = by_region(targets, confidence_level=0.8).monitor(confidence_level=0.97)
    assert {group: each.target for group, each in monitors.items()} == targets
    assert [each.confidence_level for each in monitors.values()] == pytest.approx(
        [0.99] * 3
    )
    # A sample of one is not one of another.
    monitors["a"].update([1.0] * 10)
    assert [each.n_samples for each in monitors.values()] == [10, 0, 0]


def test_monitors_without_a_certificate_take_what_was_achieved():
    rule = by_region(0.2)
    options = {"max_loss": 2, "min_inclusion_proba": 0.5, "since": "any"}
    for group, monitor in rule.monitor(**options).items():
        assert monitor.target == rule.rules[group].selective_risk
        assert {name: getattr(monitor, name) for name in options} == options


def test_what_accepts_nothing_is_not_watched():
    rule = GroupedRule({1: REJECT_ALL, 2: LOW, 3: HIGH})
    monitors = rule.monitor(0.1, confidence_level=0.9)
    assert list(monitors) == [2, 3]
    assert monitors[2].confidence_level == pytest.approx(0.95)
    # A target that was asked for there does no harm, nor does its absence.
    for extra in ({}, {np.int64(1): 0.3}):
        monitors = rule.monitor({2: 0.1, np.int64(3): 0.2} | extra)
        assert {group: each.target for group, each in monitors.items()} == {
            2: 0.1,
            3: 0.2,
        }
    with pytest.raises(ValueError, match="No group accepts any"):
        GroupedRule({1: REJECT_ALL}).monitor(0.1)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({}, "group 2: The rule has no certified risk"),
        ({"target": {2: 0.1}}, "target has no value for 3"),
        ({"target": {2: 0.1, 3: 0.2, 4: 0.2}}, "value for 4, but there is no such"),
        ({"target": {2: 0.1, 3: 1.0}}, "group 3: target=1 is not below max_loss"),
        (
            {"target": 0.1, "confidence_level": 1.5},
            "confidence_level must be .*got 1.5",
        ),
    ],
    ids=["no risk", "missing", "unknown", "too large", "confidence_level"],
)
def test_bad_targets_of_monitors(options, match):
    with pytest.raises(ValueError, match=match):
        GroupedRule({2: LOW, 3: HIGH}).monitor(**options)
