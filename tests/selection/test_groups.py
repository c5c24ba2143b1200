"""A rule for each group is the solver's on the rows of that group, and no other."""

import pickle
from contextlib import suppress
from functools import partial

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sklearn_reject.exceptions import RejectionWarning
from sklearn_reject.selection import (
    DeferralRule,
    GroupedDeferralRule,
    GroupedRule,
    InfeasibleTargetError,
    RejectionRule,
    keyed_draws,
    solve_deferral,
    solve_reject_cost,
    solve_target_coverage,
    solve_target_failure_rate,
    solve_target_risk,
)
from tests.samples import column

NAN, INF = float("nan"), float("inf")


def deferral(name):
    """Return `solve_deferral` with the signature of the solvers of rejection."""

    def solve(scores, losses, target, **options):
        options[name] = target
        return solve_deferral(scores, losses, 1 - np.asarray(losses), **options)

    return solve


SOLVERS = {
    "cost": (solve_reject_cost, 0.3),
    "risk": (solve_target_risk, 0.3),
    "coverage": (solve_target_coverage, 0.6),
    "failures": (solve_target_failure_rate, 0.4),
    "deferral_cost": (deferral("deferral_cost"), 0.2),
    "max_deferral": (deferral("max_deferral"), 0.4),
    "system_risk": (deferral("target_risk"), 0.3),
}


def draw_sample(seed=0, n=600):
    """Return scores, losses and the region of each sample."""
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, 30, n) / 30
    losses = (rng.random(n) < scores**2).astype(float)
    return scores, losses, rng.choice(["a", "b", "c"], n, p=[0.2, 0.3, 0.5])


def decide(rule, *args):
    return (getattr(rule, "defer_proba", None) or rule.accept_proba)(*args)


@pytest.mark.filterwarnings("ignore::sklearn_reject.exceptions.RejectionWarning")
@pytest.mark.parametrize("name", [n for n in SOLVERS if n != "system_risk"])
@given(st.data())
def test_each_group_has_the_rule_of_its_rows(name, data):
    n = data.draw(st.integers(1, 20))
    scores, groups, weights = (np.array(data.draw(column(n, 0, 3))) for _ in range(3))
    scores, losses = scores / 2, np.array(data.draw(column(n, 0, 1))) * 1.0
    if name in ("cost", "risk", "coverage") and weights.any():
        weighted = {"sample_weight": weights}
    else:
        weights, weighted = np.ones(n), {}
    solver, target = SOLVERS[name]
    expected = dict.fromkeys(sorted(set(groups.tolist())))
    for label in expected:
        rows = groups == label
        of_rows = {key: each[rows] for key, each in weighted.items()}
        if weights[rows].any():
            with suppress(InfeasibleTargetError):
                expected[label] = solver(scores[rows], losses[rows], target, **of_rows)
    if not any(expected.values()):
        with pytest.raises(InfeasibleTargetError, match="No group has a rule"):
            solver(scores, losses, target, groups=groups, **weighted)
        return
    rule = solver(scores, losses, target, groups=groups, **weighted)
    assert list(rule.rules) == list(expected)
    for label, own in expected.items():
        if own is None:
            own = RejectionRule(-INF, 0.0)
            assert rule.rules[label].threshold == -INF
        else:
            assert repr(rule.rules[label]) == repr(own)
        rows = groups == label
        proba = decide(rule, scores[rows], groups[rows])
        np.testing.assert_array_equal(proba, decide(own, scores[rows]))
    acted = decide(rule, scores, groups) * weights
    if isinstance(rule, GroupedRule):
        risk = acted @ losses / acted.sum() if acted.sum() else NAN
        found, rates = [rule.coverage, rule.selective_risk], [acted.mean(), risk]
    else:
        found = [rule.deferral_rate, rule.system_risk, rule.first_risk]
        risk = np.mean(losses + acted * (1 - 2 * losses))
        rates = [acted.mean(), risk, losses.mean()]
        assert rule.n_samples == rule.n_asked == n
    rates[0] /= weights.mean()
    np.testing.assert_allclose(found, rates, atol=1e-12)


@pytest.mark.parametrize("name", [n for n in SOLVERS if "cost" not in n])
def test_groups_share_the_chance_of_an_error(name):
    scores, losses, groups = draw_sample()
    draws, (solver, target) = keyed_draws(0, np.arange(600)), SOLVERS[name]
    options = {"confidence_level": 0.9, "draws": draws}
    pilot = tuple(each[::3] for each in (scores, losses, 1 - losses))
    if name == "system_risk":
        options["pilot"], target = (*pilot, groups[::3]), 0.4
    rule = solver(scores, losses, target, groups=groups, **options)
    act = "defer" if hasattr(rule, "defer") else "accept"
    acted = getattr(rule, act)(scores, groups, draws=draws)
    called = getattr(rule, act)(scores, groups, draws=lambda rows: draws[rows])
    np.testing.assert_array_equal(called, acted)
    for label, own in rule.rules.items():
        rows = groups == label
        options = {"confidence_level": 1 - 0.1 / 3, "draws": draws[rows]}
        if name == "system_risk":
            options["pilot"] = tuple(each[rows[::3]] for each in pilot)
        alone = solver(scores[rows], losses[rows], target, **options)
        assert own.certificate.confidence_level == pytest.approx(1 - 0.1 / 3)
        assert own.certificate.n_samples == np.count_nonzero(rows)
        assert own.threshold == alone.threshold
        mine = getattr(own, act)(scores[rows], draws=draws[rows])
        np.testing.assert_array_equal(mine, acted[rows])
    assert rule.certificate == {k: each.certificate for k, each in rule.rules.items()}


def test_a_pilot_is_set_aside_in_each_group():
    scores, losses, groups = draw_sample()
    options = {"target_risk": 0.2, "confidence_level": 0.9, "random_state": 0}
    rule = solve_deferral(scores, losses, 0 * losses, groups=groups, **options)
    for label, certificate in rule.certificate.items():
        assert certificate.n_samples < 0.81 * np.count_nonzero(groups == label)


def test_groups_are_known_beforehand():
    scores, losses, groups = draw_sample()
    options = {"confidence_level": 0.9, "groups": groups, "random_state": 0}
    with pytest.warns(RejectionWarning, match="'d': it has no calibration sample"):
        rule = solve_target_risk(
            scores, losses, 0.3, all_groups=["d", "c", "b", "a"], **options
        )
    assert list(rule.rules) == ["a", "b", "c", "d"]
    assert rule.rules["a"].certificate.confidence_level == pytest.approx(1 - 0.1 / 4)
    assert rule.rules["d"].threshold == -INF
    assert np.isnan(rule.rules["d"].coverage)
    assert set(rule.certificate) == {"a", "b", "c"}


def test_draws_of_a_group_are_its_own():
    scores, losses, groups = draw_sample()
    options = {"confidence_level": 0.9, "bound": "hoeffding_bentkus"}
    one, again, other = (
        solve_target_risk(
            scores, losses, 0.3, groups=groups, random_state=seed, **options
        )
        for seed in (0, 0, 1)
    )
    assert one == again
    assert one != other
    # What the groups before have drawn does not matter.
    rows = np.argsort(groups != "b", kind="stable")
    sample = scores[rows], losses[rows]
    options |= {"groups": groups[rows], "random_state": 0}
    assert solve_target_risk(*sample, 0.3, **options).rules == one.rules


def test_targets_by_group():
    scores, losses, groups = draw_sample()
    targets = {"a": 0.1, "b": 0.2, np.str_("c"): 1.0}
    rule = solve_target_risk(scores, losses, targets, groups=groups)
    for label, target in targets.items():
        rows = groups == label
        own = solve_target_risk(scores[rows], losses[rows], target)
        assert rule.rules[label] == own


ZERO_ONE_ONE = {
    "ints": [1, 0, 1],
    "floats": np.array([1.0, 0.0, 1.0]),
    "bools": np.array([True, False, True]),
    "small": np.array([1, 0, 1], np.int8),
    "objects": np.array([np.int64(1), 0.0, True], dtype=object),
    "series": pd.Series([1, 0, 1], index=[5, 6, 7]),
    "categories": pd.Series([1, 0, 1]).astype("category"),
    "nullable": pd.array([1, 0, 1]),
}
TEXTS = {
    "list": ["a", "b", "a"],
    "longer": np.array(["a", "b", "a"], "U9"),
    "objects": np.array(["a", "b", "a"], object),
    "strings": pd.array(["a", "b", "a"], dtype="string"),
    "categories": pd.Series(["a", "b", "a"]).astype("category"),
}
DAYS = np.array(["2020-01-01", "2020-01-02", "2020-01-01"], "M8[D]")
DATES = {unit: DAYS.astype(f"M8[{unit}]") for unit in ("D", "s", "ns")}


@pytest.mark.parametrize("labels", [ZERO_ONE_ONE, TEXTS, DATES])
def test_labels_that_are_equal_meet(labels):
    scores = [0.1, 0.2, 0.3]
    for kind in labels.values():
        rule = solve_target_risk(scores, [0, 0, 1], 0.0, groups=kind)
        for other in labels.values():
            np.testing.assert_array_equal(rule.accept_proba(scores, other), [1, 1, 0])
        plain = (int, float, str, bool, np.datetime64)
        assert all(type(label) in plain for label in rule.rules)


def test_numbers_are_no_text():
    rule = solve_target_risk([0.1, 0.2], [0, 0], 0.0, groups=["1", 1])
    assert set(rule.rules) == {"1", 1}
    with pytest.warns(RejectionWarning, match=r"1 of 2 samples .*rejected: 1\.5 \(1\)"):
        accepted = rule.accept_proba([0.1, 0.1], ["1", 1.5])
    np.testing.assert_array_equal(accepted, [1, 0])


def test_unseen_groups_are_rejected_and_counted():
    sample = draw_sample()
    rule = solve_target_coverage(*sample[:2], 0.9, groups=sample[2])
    groups = ["a", "north", NAN, "north", None, NAN, "b"]
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
    assert np.isnan(measured.rules["c"].coverage)
    with pytest.warns(RejectionWarning, match="25 of 25.* and 15 others"):
        rule.accept(np.zeros(25), np.arange(25))


def test_unseen_groups_are_deferred_and_counted():
    rule = GroupedDeferralRule({"a": DeferralRule(0.5, 0.5)})
    gain, groups = [0.9, 0.5, 0.1, 0.1, 0.1], ["a", "a", "a", "b", None]
    with pytest.warns(RejectionWarning, match="2 of 5 .* are deferred: 'b'"):
        np.testing.assert_array_equal(rule.defer_proba(gain, groups), [1, 0.5, 0, 1, 1])
    with pytest.warns(RejectionWarning, match="2 of 5"):
        measured = rule.measure(gain, np.ones(5), np.zeros(5), groups)
    assert measured.deferral_rate == pytest.approx(3.5 / 5)
    assert measured.rules["a"].deferral_rate == 0.5


def test_groups_without_a_rule_are_named_once():
    scores, losses, groups = draw_sample()
    match = "1 of 3 groups .*'b': No .* lowest selective risk is 1, at coverage 1"
    with pytest.warns(RejectionWarning, match=match) as warnings:
        rule = solve_target_risk(
            scores, np.where(groups == "b", 1.0, losses), 0.2, groups=groups
        )
    assert len(warnings) == 1
    assert not rule.accept_proba(scores, groups)[groups == "b"].any()
    with pytest.raises(InfeasibleTargetError, match="No group has a rule") as error:
        solve_target_risk(scores, losses + 1, 0.2, groups=groups)
    lowest = {
        label: min(
            1 + losses[(groups == label) & (scores <= score)].mean()
            for score in scores[groups == label]
        )
        for label in "abc"
    }
    assert error.value.attainable == {"target_risk": pytest.approx(lowest)}
    assert str(pickle.loads(pickle.dumps(error.value))) == str(error.value)
    rows = np.concatenate(
        [np.flatnonzero(groups != "a")[:400], np.flatnonzero(groups == "a")[:9]]
    )
    match = "'a': 9 samples cannot certify the target risk 0.2 .*at least 16 are needed"
    options = {"confidence_level": 0.9, "random_state": 0}
    with pytest.warns(RejectionWarning, match=match):
        rule = solve_target_risk(
            scores[rows], losses[rows], 0.2, groups=groups[rows], **options
        )
    assert rule.rules["a"].coverage == 0


def test_a_group_that_misses_the_system_risk_has_the_least():
    gain, first, groups = draw_sample()
    second = np.where(groups == "b", 1.0, 0.0)
    with pytest.warns(RejectionWarning, match="1 of 3 groups.*'b'.*rate") as caught:
        rule = solve_deferral(gain, first, second, target_risk=0.1, groups=groups)
    assert len(caught) == 1
    assert rule.rules["a"].system_risk == pytest.approx(0.1)
    missed = rule.rules["b"]
    assert (missed.deferral_rate, missed.system_risk) == (0, missed.first_risk)


def test_groups_of_which_nothing_is_known_are_deferred():
    gain, first, groups = draw_sample()
    second = np.where(groups == "c", NAN, 0.0)
    with pytest.warns(RejectionWarning, match="'c': the sec.*'d': it has no|'d'.*'c'"):
        rule = solve_deferral(
            gain,
            first,
            second,
            max_deferral=0.1,
            groups=groups,
            all_groups=["a", "b", "c", "d"],
        )
    counts = {label: np.count_nonzero(groups == label) for label in "abcd"}
    for label in "cd":
        assert rule.rules[label].threshold == -INF
        assert np.isnan(rule.rules[label].system_risk)
        assert rule.rules[label].n_samples == counts[label]
    assert (rule.n_samples, rule.n_asked) == (600, counts["a"] + counts["b"])


LOW, HIGH = RejectionRule(0.2, 1.0), RejectionRule(0.4, 1.0)


def test_monitors_share_the_chance_of_a_false_alarm():
    scores, losses, groups = draw_sample()
    targets = {"a": 0.3, "b": 0.3, "c": 0.2}
    rule = solve_target_risk(
        scores, losses, targets, groups=groups, confidence_level=0.8
    )
    monitors = rule.monitor(confidence_level=0.97)
    assert {group: each.target for group, each in monitors.items()} == targets
    for each in monitors.values():
        assert each.confidence_level == pytest.approx(0.99)
    monitors["a"].update([1.0] * 10)
    assert [each.n_samples for each in monitors.values()] == [10, 0, 0]
    # What accepts nothing is not watched, whether or not there is a target for it.
    rule = GroupedRule({1: RejectionRule(-INF, 0.0), 2: LOW, 3: HIGH})
    for target in ({2: 0.1, np.int64(3): 0.2}, {1: 0.3, 2: 0.1, 3: 0.2}):
        found = {k: each.target for k, each in rule.monitor(target).items()}
        assert found == {2: 0.1, 3: 0.2}
    asked = GroupedDeferralRule({"a": DeferralRule(0.0, 0.0)})
    assert asked.monitor({"a": 0.3})["a"].target == 0.3


# Function, arguments, and words of the error.
SAMPLE = draw_sample()
THREE = [0.1, 0.2, 0.3], [0, 0, 1], 0.5
OF_TARGETS = [
    ({"a": 0.2, "b": 0.2}, "has no value for 'c'. Add one for each"),
    ({}, "has no value for 'a', 'b', 'c'"),
    ({"a": 1, "b": 1, "c": 1, "d": 1}, "value for 'd'.*groups are 'a', 'b', 'c'"),
    ({"a": 0.2, "b": 0.2, "c": "low"}, "of the group 'c' must be a number"),
    (-1.0, "must be in"),
]
OF_GROUPS = [
    ([0.0, NAN, NAN], r"groups has no label \(nan\) in row 1 \(2 such rows"),
    (pd.array([1, 2, pd.NA]), r"groups has no label .* in row 2"),
    (np.array(["2020", "NaT", "2021"], "M8[D]"), "no label .*NaT.* in row 1"),
    ([1, [2], 3], r"got int, list, which cannot be hashed"),
    (np.ma.array([1, 2, 3], mask=[0, 1, 0]), "no label .* in row 1|masked"),
    (np.ones((3, 1)), r"array of shape \(3, 1\)"),
    ("abc", "groups must be a vector of labels, got 'abc'"),
    ({1, 2, 3}, "groups must be a vector of labels, got {1, 2, 3}"),
    (["a", "b"], "groups has 2 elements, but there are 3 samples"),
]
GROUPED = GroupedRule({"a": LOW, "b": HIGH, "c": HIGH})
ERRORS = [
    *(
        (partial(solver, groups=SAMPLE[2]), (*SAMPLE[:2], target), words)
        for solver, _ in SOLVERS.values()
        for target, words in OF_TARGETS
    ),
    *(
        (solver, (*SAMPLE[:2], {"a": 1}), r"must be a number.*got \{'a': 1\}")
        for solver, _ in SOLVERS.values()
    ),
    *(
        (partial(solver, all_groups=["a", "b"]), THREE, "all_groups needs the group")
        for solver in (
            solve_target_failure_rate,
            solve_target_risk,
            SOLVERS["max_deferral"][0],
        )
    ),
    *(
        (partial(solve_target_risk, groups=groups), THREE, words)
        for groups, words in OF_GROUPS
    ),
    (
        partial(solve_target_risk, groups=SAMPLE[2], all_groups=["a", "b"]),
        (*SAMPLE[:2], 0.3),
        "groups holds 'c', not in all_groups",
    ),
    (
        partial(
            solve_deferral,
            target_risk=0.2,
            groups=SAMPLE[2],
            confidence_level=0.9,
            pilot=([1], [1], [1]),
        ),
        (*SAMPLE[:2], SAMPLE[1]),
        "pilot must be a tuple of .*, groups .*got tuple",
    ),
    (GroupedRule, ({},), "rules must be a dict of group"),
    (GroupedRule, ({None: LOW},), "rules has no label"),
    (GroupedDeferralRule, ({},), "dict of group to DeferralRule"),
    (
        partial(GROUPED.accept, draws=SAMPLE[0] + 1),
        (SAMPLE[0], SAMPLE[2]),
        r"draws must be in \[0, 1\)",
    ),
    (GROUPED.accept, (SAMPLE[0], ["a"]), "groups has 1 elements, but there are 600"),
    (GROUPED.monitor, (), "group 'a': .*no certified risk"),
    (GROUPED.monitor, ({"a": 0.1},), "target has no value for 'b', 'c'"),
    (GROUPED.monitor, ({"a": 0.1, "b": 1.0, "c": 0.1},), "group 'b': target=1 is not"),
    (
        GroupedRule({1: RejectionRule(-INF, 0.0)}).monitor,
        (0.1,),
        "No group accepts a sample",
    ),
    (
        GroupedDeferralRule({"a": DeferralRule(0, 0)}).monitor,
        (),
        "group 'a': .*no certified risk",
    ),
]


@pytest.mark.parametrize(("function", "args", "words"), ERRORS)
def test_bad_input(function, args, words):
    with pytest.raises(ValueError, match=words):
        function(*args)


@pytest.mark.parametrize(
    ("args", "options"),
    [
        (([1, 2], [0, 1], 0.1), {"losses": [0, 0]}),
        (([1, 2], [0, 1], 0.1, [1, 1]), {}),
        (([1, 2],), {"target": 0.1}),
    ],
)
def test_calls_are_those_that_the_signature_says(args, options):
    for groups in ({}, {"groups": ["a", "b"]}):
        with pytest.raises(TypeError, match="argument"):
            solve_target_risk(*args, **options, **groups)


def test_rules_print_as_a_table():
    certificate = solve_target_risk(
        np.arange(100), np.arange(100) >= 80, 0.1, confidence_level=0.9
    ).certificate
    rules = {"all": RejectionRule(2.5, 0.5, 0.75, 0.1, certificate=certificate)}
    rule = GroupedRule({**rules, 2: RejectionRule(-INF, 0.0, 0.0)}, 0.5, 0.1)
    assert str(rule).splitlines() == [
        "group  threshold  proba at threshold  coverage  selective risk",
        "all    2.500      0.500               0.750     0.100",
        "2      -inf       0.000               0.000     -",
        "all    -          -                   0.500     0.100",
    ]
