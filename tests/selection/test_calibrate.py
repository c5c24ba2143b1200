"""Rules on logged scores: those of the solvers, by the names of what was logged."""

import hashlib
import json
import warnings
from datetime import datetime

import numpy as np
import pytest

import sklearn_reject
from sklearn_reject import calibrate
from sklearn_reject.exceptions import InfeasibleTargetError, RejectionWarning
from sklearn_reject.selection import (
    CalibratedRule,
    solve_reject_cost,
    solve_target_coverage,
    solve_target_failure_rate,
    solve_target_risk,
)

RNG = np.random.default_rng(0)
CONFIDENCE = RNG.random(600).round(2)
CORRECT = RNG.random(600) < 0.6 + 0.4 * CONFIDENCE
GROUPS = RNG.choice(["a", "b"], 600)
LOGGED = {"confidence": CONFIDENCE, "correct": CORRECT}
WEIGHT = RNG.random(600)

FIXED = {"randomize": False}
TARGETS = [
    (solve_target_risk, FIXED, {"target_risk": 0.1}),
    (solve_target_risk, FIXED, {"target_risk": 0.15, "confidence_level": 0.9}),
    (solve_target_failure_rate, FIXED, {"target_failure_rate": 0.1}),
    (solve_target_coverage, FIXED, {"target_coverage": 0.5}),
    (solve_target_coverage, FIXED, {"target_coverage": 0.5, "confidence_level": 0.9}),
    (solve_reject_cost, {}, {"reject_cost": 0.2}),
]
ASKED = pytest.mark.parametrize(
    ("solve", "options", "asked"),
    TARGETS,
    ids=lambda value: value.__name__ if callable(value) else str(value),
)


@ASKED
@pytest.mark.parametrize("groups", [None, GROUPS], ids=["all", "groups"])
def test_rules_are_those_of_the_solvers(solve, options, asked, groups):
    options = options | dict(list(asked.items())[1:])
    if "confidence_level" in asked:
        options["random_state"] = 0
    target = next(iter(asked.values()))
    losses = 1.0 - CORRECT
    expected = solve(-CONFIDENCE, losses, target, groups=groups, **options)
    found = calibrate(**LOGGED, groups=groups, **asked)
    assert found.rule == expected
    others = {"uncertainty": -CONFIDENCE, "losses": losses, "groups": groups}
    assert calibrate(**others, **asked).rule == expected
    accepted = found.accept(confidence=CONFIDENCE, groups=groups)
    np.testing.assert_array_equal(accepted, expected.accept(-CONFIDENCE, groups=groups))


@ASKED
def test_a_rule_is_a_comparison_with_its_threshold(solve, options, asked):
    rule = calibrate(**LOGGED, **asked)
    accepted = rule.accept(confidence=CONFIDENCE)
    assert 0 < accepted.mean() < 1
    least, largest = CONFIDENCE[accepted].min(), CONFIDENCE[~accepted].max()
    assert largest < least
    assert largest <= rule.threshold <= least
    sign = ">=" if rule.threshold == least else ">"
    assert str(rule) == f"accept where confidence {sign} {rule.threshold!r}"


@pytest.mark.parametrize(("risk", "what"), [(1, "everything"), (0, "nothing")])
def test_a_rule_without_a_threshold_says_so(risk, what):
    options = {"target_risk": {"a": risk, "b": 1}, "groups": GROUPS}
    correct = np.where(GROUPS == "a", False, CORRECT)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RejectionWarning)  # of a group without a rule
        rule = calibrate(confidence=CONFIDENCE, correct=correct, **options)
    assert str(rule) == f"group a: accept {what}\ngroup b: accept everything"


def test_weights_and_a_largest_loss_reach_the_solver():
    found = calibrate(**LOGGED, reject_cost=0.2, sample_weight=WEIGHT).rule
    losses = 1.0 - CORRECT
    assert found == solve_reject_cost(-CONFIDENCE, losses, 0.2, sample_weight=WEIGHT)
    losses = losses * RNG.random(600) * 5
    options = {"confidence_level": 0.9, "max_loss": 5, "random_state": 0}
    found = calibrate(
        confidence=CONFIDENCE, losses=losses, target_risk=0.8, **options
    ).rule
    assert found == solve_target_risk(-CONFIDENCE, losses, 0.8, **FIXED, **options)


@pytest.mark.parametrize("groups", [None, GROUPS], ids=["all", "groups"])
def test_json_keeps_the_rule_and_where_it_comes_from(groups):
    asked = {"target_risk": 0.15, "confidence_level": 0.9}
    rule = calibrate(**LOGGED, groups=groups, **asked)
    restored = CalibratedRule.from_dict(
        json.loads(json.dumps(rule.to_dict(), allow_nan=False))
    )
    assert restored == rule
    assert len({restored, rule}) == 1
    assert rule.to_dict()["accepts"] == str(rule).splitlines()
    assert (rule.score, rule.parameter, rule.confidence_level, rule.n_samples) == (
        "confidence",
        "target_risk",
        0.9,
        600,
    )
    expected = {"all"} if groups is None else {"a", "b"}
    assert rule.targets == dict.fromkeys(expected, 0.15)
    assert rule.version == sklearn_reject.__version__
    assert datetime.fromisoformat(rule.created).utcoffset().total_seconds() == 0
    content = CONFIDENCE.astype("<f8").tobytes() + (1.0 - CORRECT).tobytes()
    if groups is not None:
        content += repr(groups.tolist()).encode()
    assert rule.data_hash == hashlib.sha256(content).hexdigest()


@pytest.mark.parametrize(
    ("asked", "quantity", "value"),
    [
        ({"target_risk": 0.1}, "risk", lambda a, w: w[a].mean()),
        ({"target_failure_rate": 0.1}, "failure rate", lambda a, w: (a & w).mean()),
        ({"target_coverage": 0.5}, "coverage", lambda a, w: a.mean()),
        ({"reject_cost": 0.2}, "cost", lambda a, w: np.where(a, w, 0.2).mean()),
    ],
    ids=["risk", "failure rate", "coverage", "cost"],
)
def test_reports_show_what_new_samples_say(asked, quantity, value):
    rule = calibrate(confidence=CONFIDENCE[:300], correct=CORRECT[:300], **asked)
    for rows, achieved in ((slice(300), "calibration"), (slice(300, None), "achieved")):
        samples = {"confidence": CONFIDENCE[rows], "correct": CORRECT[rows]}
        [promise] = rule.report(**samples).promises
        assert promise.quantity == quantity
        found = getattr(promise, achieved)
        found = getattr(found, "value", found)
        accepted = rule.accept(confidence=CONFIDENCE[rows])
        assert found == pytest.approx(value(accepted, ~CORRECT[rows]))


def test_reports_and_monitors_are_by_group():
    targets = {"a": 0.1, "b": 0.15}
    rule = calibrate(**LOGGED, groups=GROUPS, target_risk=targets)
    report = rule.report(**LOGGED, groups=GROUPS)
    accepted = rule.accept(confidence=CONFIDENCE, groups=GROUPS)
    for promise, part in zip(report.promises, report.parts[1:], strict=True):
        group = promise.part.removeprefix("group ")
        rows = accepted & (group == GROUPS)
        assert promise.bound == targets[group]
        assert promise.achieved.value == pytest.approx(1 - CORRECT[rows].mean())
        assert (part.name, part.coverage.n_samples) == (
            promise.part,
            (group == GROUPS).sum(),
        )
    assert {k: each.target for k, each in rule.monitor().items()} == targets
    assert str(rule).startswith("group a: accept where confidence >")


def test_losses_of_other_units_are_watched_and_reported_in_them():
    losses = 4.0 * ~CORRECT
    samples = {"uncertainty": 1 - CONFIDENCE, "losses": losses}
    rule = calibrate(**samples, target_risk=0.5, max_loss=4)
    assert rule.monitor().max_loss == 4
    report = rule.report(**samples)
    assert report.parts[0].risk.high <= 4
    with pytest.raises(ValueError, match="losses holds 40, above max_loss=4"):
        rule.report(**samples | {"losses": 10 * losses})
    without = calibrate(**samples, target_risk=0.5).report(**samples)
    assert without.parts[0].risk.is_approximate


@pytest.mark.parametrize(
    ("score", "sign", "words"),
    [
        ("confidence", 1, "Higher must mean more certain. Pass it as uncertainty"),
        ("uncertainty", -1, "Higher must mean more uncertain. Pass it as confidence"),
    ],
)
def test_a_score_that_ranks_backwards_is_told_by_its_name(score, sign, words):
    with pytest.warns(RejectionWarning, match=words):
        calibrate(**{score: -sign * CONFIDENCE}, correct=CORRECT, target_coverage=0.5)


RULE = calibrate(**LOGGED, target_risk=0.1)


@pytest.mark.parametrize(
    ("call", "arguments", "message"),
    [
        (calibrate, LOGGED, "Pass one of target_risk, .* got none"),
        (
            calibrate,
            LOGGED | {"target_risk": 0.1, "reject_cost": 0.1},
            "got target_risk and reject_cost",
        ),
        (
            calibrate,
            LOGGED | {"uncertainty": CONFIDENCE, "target_risk": 0.1},
            "got confidence and uncertainty",
        ),
        (
            calibrate,
            {"confidence": CONFIDENCE, "target_risk": 0.1},
            "one of correct, losses, got none",
        ),
        (
            calibrate,
            LOGGED | {"reject_cost": 0.1, "confidence_level": 0.9},
            "confidence_level=0.9 cannot be combined with a reject_cost",
        ),
        (
            calibrate,
            LOGGED | {"target_coverage": 0.5, "max_loss": 2},
            "max_loss=2 is for losses=. Leave it out",
        ),
        (
            calibrate,
            LOGGED | {"correct": np.where(CORRECT, 1, np.nan), "target_risk": 0.1},
            r"correct is missing in row \d+ .* as inclusion_proba, or remove",
        ),
        (
            calibrate,
            LOGGED | {"correct": CONFIDENCE, "target_risk": 0.1},
            "correct must hold True and False",
        ),
        (
            calibrate,
            LOGGED | {"correct": CORRECT[:9], "target_risk": 0.1},
            "correct has 9 elements, but there are 600",
        ),
        (
            calibrate,
            {"confidence": ["high"] * 600, "correct": CORRECT, "target_risk": 0.1},
            "confidence must hold numbers",
        ),
        (
            RULE.accept,
            {"uncertainty": CONFIDENCE},
            "calibrated on confidence, and got uncertainty. Pass confidence=",
        ),
        (
            RULE.accept,
            {"confidence": CONFIDENCE, "groups": GROUPS},
            "The rule has no groups. Leave out groups=",
        ),
        (
            calibrate(**LOGGED, groups=GROUPS, target_risk=0.1).accept,
            {"confidence": CONFIDENCE},
            "The rule has groups. Pass groups=",
        ),
        (RULE.report, {"confidence": CONFIDENCE}, "one of correct, losses"),
        (
            RULE.report,
            {"confidence": CONFIDENCE, "losses": 1.0 - CORRECT},
            "calibrated on correct, and got losses. Pass correct=, in the same units",
        ),
        (
            calibrate,
            LOGGED | {"target_risk": {"a": 0.1}},
            "target_risk={'a': 0.1} is by group. Pass groups=",
        ),
        (
            calibrate,
            LOGGED | {"target_coverage": 50},
            r"target_coverage must be in .0, 1., got 50",
        ),
        (
            calibrate,
            LOGGED | {"target_risk": {"a": -1}, "groups": ["a"] * 600},
            "target_risk of the group 'a' must be in",
        ),
        (
            calibrate,
            LOGGED | {"target_risk": {}, "groups": ["a"] * 600},
            "target has no value for 'a'",
        ),
        (
            CalibratedRule.from_dict,
            {"state": RULE.to_dict() | {"score": "logit"}},
            "score must be one of",
        ),
        (
            CalibratedRule.from_dict,
            {"state": RULE.to_dict() | {"targets": [["a", 0.1]]}},
            r"targets must have the keys \['all'\]",
        ),
    ],
)
def test_bad_input_is_named(call, arguments, message):
    with pytest.raises(ValueError, match=message):
        call(**arguments)


def test_targets_out_of_reach_say_what_can_be_met():
    with pytest.raises(InfeasibleTargetError) as caught:
        calibrate(confidence=[0.9, 0.8], correct=[0, 0], target_risk=0.1)
    assert caught.value.attainable


def test_rows_of_series_are_matched_by_nobody():
    pd = pytest.importorskip("pandas")
    log = pd.DataFrame(LOGGED)
    expected = calibrate(**LOGGED, target_risk=0.1).rule
    assert calibrate(**log, target_risk=0.1).rule == expected
    shuffled = log["correct"].sample(frac=1, random_state=0)
    with pytest.raises(ValueError, match="confidence and correct have different"):
        calibrate(confidence=log["confidence"], correct=shuffled, target_risk=0.1)


@pytest.mark.parametrize("name", ["target_risk", "target_failure_rate", "reject_cost"])
def test_percents_are_told(name):
    with pytest.warns(RejectionWarning, match=rf"{name}=5 .* Write 5% as 0\.05"):
        assert calibrate(**LOGGED, **{name: 5}).threshold == -np.inf


def test_a_backward_score_is_told_before_nothing_can_be_met():
    with (
        pytest.warns(RejectionWarning, match="The confidence ranks the errors"),
        pytest.raises(InfeasibleTargetError),
    ):
        calibrate(confidence=-CONFIDENCE, correct=CORRECT, target_risk=0.01)


@pytest.mark.parametrize("share", [0.2, 0.8, 1])
def test_many_answers_may_share_the_best_score(share):
    # A judge that says 5 most of the time; 1% of these are wrong.
    n = 10_000
    is_best = np.arange(n) < share * n
    correct = np.where(is_best, np.arange(n) % 100 > 0, np.arange(n) % 5 > 0)
    rule = calibrate(
        confidence=np.where(is_best, 5, 3),
        correct=correct,
        target_risk=0.02,
        confidence_level=0.9,
    )
    expected = "accept everything" if share == 1 else "accept where confidence > 3.0"
    assert str(rule) == expected
