"""Rules and certificates come back from pickle and strict JSON, and print short."""

import json
import math
import pickle
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sklearn_reject import Interval, selection
from sklearn_reject.selection import (
    DeferralRule,
    DoubleScoreRule,
    GroupedDeferralRule,
    GroupedRule,
    RejectionRule,
    SingleScoreRule,
    Tail,
    TailScoreRule,
)
from sklearn_reject.thresholds import ThresholdPath

N = 400
_rng = np.random.default_rng(0)
RISK, NOVELTY = _rng.random(N), _rng.normal(size=N)
NOVELTY[:3] = -np.inf, np.inf, np.inf
LOSSES = (_rng.random(N) < RISK / 2).astype(float)
IS_OOD = np.arange(N) % 4 == 0
GROUPS = [("text", 7, 0.5, True)[row % 4] for row in range(N)]
TWO = RISK, NOVELTY, LOSSES, IS_OOD

TUNED = selection.tune_double_score(*TWO, min_tpr=0.6, max_fpr=0.9)
RULES = {
    "deferral": selection.solve_deferral(RISK, LOSSES, LOSSES[::-1], max_deferral=0.2),
    "no deferral": DeferralRule(math.inf, 0.0),
    "deferral by group": GroupedDeferralRule({"a": DeferralRule(0.5, 0.0)}).measure(
        RISK, LOSSES, LOSSES[::-1], np.full(N, "a")
    ),
    "coverage": selection.solve_target_coverage(RISK, LOSSES, 0.5),
    "everything": selection.solve_target_coverage(RISK, LOSSES, 1.0),
    "certified": selection.solve_target_risk(
        RISK, LOSSES, 0.2, confidence_level=0.9, random_state=0
    ),
    "failures": selection.solve_target_failure_rate(RISK, LOSSES, 0.1),
    "bounds, certified": selection.solve_risk_bounds(
        RISK,
        LOSSES,
        {"part": (np.arange(N) % 2, {0: 0.4, 1: 0.5})},
        confidence_level=0.8,
        random_state=0,
    ),
    "bounds on failures": selection.solve_failure_bounds(
        RISK, LOSSES, {"part": (np.arange(N) % 2, {0: 0.1, 1: 0.2})}
    ),
    "plain": RejectionRule(0.2, 1.0),
    "groups": selection.solve_target_risk(
        RISK, LOSSES, 0.4, groups=GROUPS, confidence_level=0.8, random_state=0
    ),
    "groups, one rejected": GroupedRule(
        {"a": RejectionRule(0.5, 1.0, 1.0, 0.2), "b": RejectionRule(-math.inf, 0.0)}
    ),
    "one score": selection.tune_single_score(NOVELTY, LOSSES, IS_OOD, min_tpr=0.5),
    "two scores": TUNED,
    "two scores, certified": selection.certify_double_score(
        TUNED, *TWO, min_tpr=0.5, confidence_level=0.8, random_state=0
    ),
    "logged": selection.calibrate(
        uncertainty=RISK, losses=LOSSES, target_risk=0.4, groups=GROUPS
    ),
    "tails": selection.tune_tail_score(*TWO, min_tpr=0.7),
    "tail": Tail(scores=(0.0, 1.0), values=(0.0, 2.0), slope=3.0),
}


def through_json(state):
    """Return a state after a way through JSON that has no NaN and no Infinity."""
    return json.loads(json.dumps(state, allow_nan=False))


def by_javascript(state):
    """Return what JavaScript would write: no difference between 1 and 1.0."""
    if isinstance(state, dict):
        return {key: by_javascript(value) for key, value in state.items()}
    if isinstance(state, list):
        return [by_javascript(value) for value in state]
    if isinstance(state, float) and state.is_integer():
        return int(state)
    return state


def assert_same(one, other):
    """Compare values, and by the text of JSON the types and bits of numbers."""
    assert one == other
    assert json.dumps(one.to_dict()) == json.dumps(other.to_dict())


def test_nan_equals_nan_and_nothing_else():
    rule = RejectionRule(0.5, 1.0)
    assert rule == RejectionRule(0.5, 1.0, coverage=np.float64("nan"))
    assert hash(rule) == hash(RejectionRule(0.5, 1.0, coverage=-math.nan))
    assert rule != RejectionRule(0.5, 1.0, coverage=0.0)
    assert rule != DeferralRule(0.5, 1.0)


def test_all_dataclasses_of_the_room_are_tested():
    public = [getattr(selection, name) for name in selection.__all__]
    kinds = {each for each in public if hasattr(each, "__dataclass_fields__")}
    tested = {type(rule) for rule in RULES.values()}
    tested |= {type(getattr(rule, "certificate", None)) for rule in RULES.values()}
    assert kinds <= tested


@pytest.mark.parametrize(
    "rewrite", [through_json, by_javascript, dict], ids=["json", "javascript", "python"]
)
@pytest.mark.parametrize("name", RULES)
def test_rules_come_back_bit_for_bit(name, rewrite):
    rule = RULES[name]
    state = rewrite(rule.to_dict())
    assert state["type"] == type(rule).__name__
    restored = type(rule).from_dict(state)
    assert_same(restored, rule)
    for copy in (
        type(rule).from_dict(through_json(restored.to_dict())),
        pickle.loads(pickle.dumps(rule)),
    ):
        assert_same(copy, rule)


@given(
    st.floats(allow_nan=False),
    st.floats(0, 1),
    st.floats(0) | st.just(math.nan),
    st.one_of(st.none(), st.floats(0, 1)),
)
def test_any_float_comes_back(threshold, proba, risk, prior):
    rule = DoubleScoreRule(
        threshold=threshold,
        proba_at_threshold=proba,
        selective_risk=risk,
        ood_prior=prior,
    )
    assert_same(DoubleScoreRule.from_dict(through_json(rule.to_dict())), rule)


def test_groups_that_json_cannot_hold_are_refused():
    rule = GroupedRule({(1, 2): RejectionRule(0.5, 1.0)})
    with pytest.raises(
        TypeError, match=r"group \(1, 2\) cannot be written to JSON\. Name"
    ):
        rule.to_dict()
    state = GroupedRule({1: RejectionRule(0.5, 1.0)}).to_dict()
    for rules in ({"1": 2}, [[None, state["rules"][0][1]]], [1], [[1, 2]]):
        with pytest.raises(ValueError, match="rules="):
            GroupedRule.from_dict(state | {"rules": rules})


CERTIFICATE = RULES["certified"].to_dict()["certificate"]
A_RULE = [1, RejectionRule(0.5, 1.0).to_dict()]
# What comes from outside and is no rule: the rule, what is changed, and what is said.
STRANGE = [
    ("plain", {"threshold": "NaN"}, "threshold of a RejectionRule must be a number"),
    ("plain", {"proba_at_threshold": 7.0}, r"proba_at_threshold .* in \[0, 1\]"),
    ("coverage", {"coverage": 1.5}, r"coverage .* in \[0, 1\], or NaN"),
    ("coverage", {"selective_risk": -0.1}, "selective_risk .* at least 0, or NaN"),
    *(
        ("certified", {"certificate": CERTIFICATE | change}, words)
        for change, words in (
            ({"n_accepted": -1}, "n_accepted of a Certificate must be a count"),
            ({"confidence_level": 2}, "confidence_level of a Certificate"),
            ({"target": -1}, "target of a Certificate must be at least 0"),
            ({"p_value": "NaN"}, "p_value of a Certificate"),
        )
    ),
    ("groups", {"rules": [A_RULE, A_RULE]}, "1 is there twice"),
    ("groups", {"rules": [A_RULE, [1.0, A_RULE[1]]]}, "1.0 is there twice"),
    ("groups", {"coverage": -1}, "coverage of a GroupedRule"),
    ("deferral", {"threshold": "NaN"}, "threshold of a DeferralRule"),
    ("deferral", {"deferral_rate": 2}, "deferral_rate of a DeferralRule"),
    ("deferral by group", {"system_risk": -1}, "system_risk of a GroupedDeferral"),
    ("two scores", {"tpr": 1.1}, r"tpr .* in \[0, 1\], or NaN"),
    ("two scores", {"novelty_weight": "NaN"}, "novelty_weight .* a number"),
    ("one score", {"ood_prior": 3}, r"ood_prior .* in \[0, 1\]"),
    ("tail", {"scores": [1.0, 0.0]}, "scores of a Tail must be finite and incr"),
    ("tail", {"slope": -3.0}, "slope of a Tail must be at least 0"),
]


# States that are none, of any rule and of its certificate.
BROKEN = [
    ({"thresh_old": 1.0}, r"unknown fields \['thresh_old'\]"),
    ({"threshold": "high"}, "threshold='high'.*it is a number"),
    ({"threshold": True}, "threshold=True"),
    ({"threshold": [1.0]}, r"threshold=\[1.0\]"),
    ({"type": "Rule"}, "got 'Rule'"),
    ({"certificate": 1}, "certificate=1"),
    ({"certificate": RULES["tail"].to_dict()}, "it is of type Certificate"),
    *(
        ({"certificate": CERTIFICATE | change}, words)
        for change, words in (
            ({"n_samples": 1.5}, "n_samples=1.5.*of type int"),
            ({"n_samples": True}, "n_samples=True"),
            ({"p_value": 10**400}, "p_value=1000.*too large"),
            ({"quantity": 1}, "quantity=1.*of type str"),
            ({"search": "sgr"}, r"unknown fields \['search'\]"),
        )
    ),
]


@pytest.mark.parametrize(
    ("name", "change", "words"), STRANGE + [("certified", *case) for case in BROKEN]
)
def test_what_no_rule_is_does_not_come_back(name, change, words):
    rule = RULES[name]
    with pytest.raises(ValueError, match=words):
        type(rule).from_dict(rule.to_dict() | change)


def test_missing_fields_are_named_unless_they_have_a_default():
    state = RULES["coverage"].to_dict()
    for name in ("threshold", "proba_at_threshold"):
        part = {key: value for key, value in state.items() if key != name}
        with pytest.raises(ValueError, match=rf"lacks \['{name}'\]"):
            RejectionRule.from_dict(part)
    del state["certificate"], state["reject_cost"]
    restored = RejectionRule.from_dict(state)
    assert restored.certificate is None
    assert math.isnan(restored.reject_cost)
    for state in (None, [], "RejectionRule", RULES["coverage"], {"type": ["Rule"]}):
        with pytest.raises(ValueError, match="state must be a dictionary of `to_dict`"):
            RejectionRule.from_dict(state)


def test_numbers_of_numpy_become_plain():
    rule = RejectionRule(np.float32(0.5), np.int64(1), np.float64("nan"))
    state = rule.to_dict()
    assert [type(state[name]) for name in ("threshold", "coverage")] == [float, str]
    assert through_json(state) == state
    assert_same(RejectionRule.from_dict(state), RejectionRule(0.5, 1.0))


def test_classes_restore_themselves_and_what_derives_from_them():
    tails = RULES["tails"]
    for kind in (TailScoreRule, DoubleScoreRule):
        assert type(kind.from_dict(tails.to_dict())) is TailScoreRule
    for kind in (SingleScoreRule, RejectionRule, Tail):
        with pytest.raises(ValueError, match=rf"{kind.__name__}.*got 'TailScoreRule'"):
            kind.from_dict(tails.to_dict())


def test_arrays_keep_their_shape():
    path = ThresholdPath(
        thresholds=np.array([[1.0, -np.inf], [0.5, np.nan]]),
        fp=np.array([2.0, 0.0]),
        tp=np.array([3.0, 1 / 3]),
        area=1.0,
        rule="any",
    )
    for rewrite in (through_json, by_javascript):
        assert_same(ThresholdPath.from_dict(rewrite(path.to_dict())), path)
    assert "tp=[3.    , 0.3333], area=1, rule='any')" in repr(path)
    assert len(repr(replace(path, tp=np.linspace(0, 1, 1000)))) < 300
    with pytest.raises(ValueError, match=r"thresholds=.*which is invalid"):
        ThresholdPath.from_dict(path.to_dict() | {"thresholds": [[1.0], [1.0, 2.0]]})


def test_texts_have_rounded_numbers_and_no_defaults():
    rule = RejectionRule(1 / 3, 0.0, coverage=2 / 3)
    assert repr(rule) == (
        "RejectionRule(threshold=0.3333, proba_at_threshold=0, coverage=0.6667)"
    )
    assert repr(Interval(1 / 3, 0.25, math.inf, 12)) == (
        "Interval(value=0.3333, low=0.25, high=inf, n_samples=12)"
    )
    # Also of what is inside, of which long parts are cut.
    certificate = RULES["certified"].certificate
    assert f"certificate={certificate!r}" in repr(RULES["certified"])
    assert f"p_value={certificate.p_value:.4g}" in repr(certificate)
    assert "... 7 more}" in repr(GroupedRule(dict.fromkeys(range(10), rule)))
