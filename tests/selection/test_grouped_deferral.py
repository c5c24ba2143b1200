import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sklearn_reject.exceptions import RejectionWarning
from sklearn_reject.selection import (
    DeferralRule,
    GroupedDeferralRule,
    InfeasibleTargetError,
    keyed_draws,
    solve_deferral,
)
from tests.samples import column

RNG = np.random.default_rng(0)
N = 600
GAIN = RNG.random(N)
FIRST = (RNG.random(N) < 0.5 * GAIN).astype(float)
SECOND = (RNG.random(N) < 0.03).astype(float)
GROUPS = np.array(["north", "south"])[np.arange(N) % 2]
SAMPLE = GAIN, FIRST, SECOND


def part(label):
    rows = label == GROUPS
    return tuple(each[rows] for each in SAMPLE)


def shape(rule):
    return rule.threshold, rule.proba_at_threshold


@settings(max_examples=60)
@given(st.data())
def test_each_group_has_the_rule_of_its_samples(data):
    n = data.draw(st.integers(1, 10))
    gain, first, second = (np.array(data.draw(column(n, 0, 3))) / 2 for _ in range(3))
    labels = data.draw(column(n, 0, 2))
    target = data.draw(st.sampled_from([{"deferral_cost": 0.3}, {"max_deferral": 0.4}]))
    rule = solve_deferral(gain, first, second, groups=labels, **target)
    deferred = rule.defer_proba(gain, labels)
    assert list(rule.rules) == sorted(set(labels))
    for label, each in rule.rules.items():
        rows = np.equal(labels, label)
        alone = solve_deferral(gain[rows], first[rows], second[rows], **target)
        assert shape(each) == shape(alone)
        assert each.system_risk == pytest.approx(alone.system_risk)
        np.testing.assert_array_equal(deferred[rows], alone.defer_proba(gain[rows]))
    assert rule.deferral_rate == pytest.approx(deferred.mean())
    losses = first * (1 - deferred) + second * deferred
    assert rule.system_risk == pytest.approx(losses.mean(), abs=1e-12)
    assert rule.first_risk == pytest.approx(first.mean(), abs=1e-12)
    assert rule.second_risk == pytest.approx(second.mean(), abs=1e-12)
    assert rule.n_samples == rule.n_asked == n


def test_a_target_for_each_group():
    targets = {"north": 0.1, "south": 0.2}
    rule = solve_deferral(*SAMPLE, target_risk=targets, groups=GROUPS)
    for label, target in targets.items():
        assert rule.rules[label].system_risk == pytest.approx(target)
    with pytest.raises(ValueError, match="max_deferral has no value for 'south'"):
        solve_deferral(*SAMPLE, max_deferral={"north": 0.1}, groups=GROUPS)
    with pytest.raises(ValueError, match="target_risk must be a number"):
        solve_deferral(*SAMPLE, target_risk=targets)


def test_each_certificate_has_a_share_of_the_chance_of_an_error():
    draws = keyed_draws(0, np.arange(N))
    options = {"target_risk": 0.2, "random_state": 0}
    pilot = (GAIN[::3], FIRST[::3], SECOND[::3])
    rule = solve_deferral(
        *SAMPLE,
        groups=GROUPS,
        confidence_level=0.9,
        draws=draws,
        pilot=(*pilot, GROUPS[::3]),
        **options,
    )
    assert rule.certificate.keys() == {"north", "south"}
    for label in rule.rules:
        rows, of_pilot = label == GROUPS, GROUPS[::3] == label
        alone = solve_deferral(
            *part(label),
            confidence_level=0.95,
            draws=draws[rows],
            pilot=tuple(each[of_pilot] for each in pilot),
            **options,
        )
        assert shape(rule.rules[label]) == shape(alone)
        assert rule.certificate[label].confidence_level == pytest.approx(0.95)
        assert rule.certificate[label].n_samples == np.count_nonzero(rows)
    aside = solve_deferral(*SAMPLE, groups=GROUPS, confidence_level=0.9, **options)
    assert {each.n_samples for each in aside.certificate.values()} == {240}
    with pytest.raises(ValueError, match="pilot must be a tuple of four arrays"):
        solve_deferral(
            *SAMPLE, groups=GROUPS, confidence_level=0.9, pilot=pilot, **options
        )


def test_a_group_that_misses_the_target_has_the_least_risk():
    second = np.where(GROUPS == "south", 1.0, SECOND)
    with pytest.warns(RejectionWarning, match="1 of 2 groups.*'south'.*rate") as caught:
        rule = solve_deferral(GAIN, FIRST, second, target_risk=0.1, groups=GROUPS)
    assert len(caught) == 1
    assert rule.rules["north"].system_risk == pytest.approx(0.1)
    south = rule.rules["south"]
    assert (south.deferral_rate, south.system_risk) == (0, south.first_risk)
    with pytest.raises(InfeasibleTargetError, match="No group has a rule") as caught:
        solve_deferral(GAIN, FIRST, 1 + second, target_risk=0.1, groups=GROUPS)
    lowest = caught.value.attainable["target_risk"]
    assert lowest["south"] == pytest.approx(south.first_risk)


def test_groups_of_which_nothing_is_known_are_deferred():
    second = np.where(GROUPS == "south", np.nan, SECOND)
    with pytest.warns(RejectionWarning, match="'east': it has no.*'south': the sec"):
        rule = solve_deferral(
            GAIN,
            FIRST,
            second,
            max_deferral=0.1,
            groups=GROUPS,
            all_groups=["north", "south", "east"],
        )
    for label, n_samples in (("south", 300), ("east", 0)):
        assert rule.rules[label].threshold == -np.inf
        assert np.isnan(rule.rules[label].system_risk)
        assert rule.rules[label].n_samples == n_samples
    assert rule.deferral_rate == pytest.approx(
        (rule.rules["north"].deferral_rate + 1) / 2
    )
    assert (rule.n_samples, rule.n_asked) == (600, 300)
    assert rule.system_risk == rule.rules["north"].system_risk


def test_samples_of_unseen_groups_are_deferred():
    rule = GroupedDeferralRule({"a": DeferralRule(0.5, 0.5)})
    gain, groups = [0.9, 0.5, 0.1, 0.1, 0.1], ["a", "a", "a", "b", None]
    with pytest.warns(RejectionWarning, match="2 of 5 .* are deferred: 'b'"):
        probability = rule.defer_proba(gain, groups)
    np.testing.assert_array_equal(probability, [1, 0.5, 0, 1, 1])
    with pytest.warns(RejectionWarning, match="2 of 5"):
        deferred = rule.defer(gain, groups, draws=[0.9, 0.4, 0, 0.9, 0.9])
    np.testing.assert_array_equal(deferred, [1, 1, 0, 1, 1])
    with pytest.warns(RejectionWarning, match="2 of 5"):
        measured = rule.measure(gain, np.ones(5), np.zeros(5), groups)
    assert measured.deferral_rate == pytest.approx(3.5 / 5)
    assert measured.rules["a"].deferral_rate == 0.5


def test_weights():
    weight = RNG.integers(0, 3, N).astype(float)
    rule = solve_deferral(
        *SAMPLE, max_deferral=0.3, groups=GROUPS, sample_weight=weight
    )
    rows = np.repeat(np.arange(N), weight.astype(int))
    repeated = solve_deferral(
        *(each[rows] for each in SAMPLE), max_deferral=0.3, groups=GROUPS[rows]
    )
    for label in rule.rules:
        assert rule.rules[label].threshold == repeated.rules[label].threshold
    assert rule.system_risk == pytest.approx(repeated.system_risk)
    assert rule.deferral_rate == pytest.approx(repeated.deferral_rate)


def test_monitors():
    rule = solve_deferral(*SAMPLE, target_risk=0.1, groups=GROUPS)
    monitors = rule.monitor(confidence_level=0.9)
    assert {label: each.target for label, each in monitors.items()} == {
        "north": pytest.approx(0.1),
        "south": pytest.approx(0.1),
    }
    assert monitors["north"].confidence_level == pytest.approx(0.95)
    targets = {"north": 0.2, "south": 0.3}
    assert rule.monitor(targets)["south"].target == 0.3
    with pytest.raises(ValueError, match="group 'a': The rule has no certified risk"):
        GroupedDeferralRule({"a": DeferralRule(0, 0)}).monitor()


def test_mistakes_are_named():
    with pytest.raises(ValueError, match=r"all_groups needs groups. Pass"):
        solve_deferral(*SAMPLE, max_deferral=0.1, all_groups=["north"])
    with pytest.raises(ValueError, match="dict of group to DeferralRule"):
        GroupedDeferralRule({})
    rules = {"a": DeferralRule(0, 0)}
    assert hash(GroupedDeferralRule(rules)) == hash(GroupedDeferralRule(dict(rules)))
