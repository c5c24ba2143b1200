"""One threshold under bounds on several parts, against enumeration and exact tests."""

import pickle
from fractions import Fraction
from math import ceil, comb, inf, isnan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sklearn_reject.exceptions import RejectionWarning
from sklearn_reject.selection import (
    BoundedRisk,
    InfeasibleTargetError,
    RiskBoundsCertificate,
    measure_risk_bounds,
    solve_risk_bounds,
)


def parts_of(bounds):
    for labels, targets in bounds.values():
        for label, target in targets.items():
            yield [each == label for each in labels], target


# With confidence


def exact_p_value(losses, risk):
    m, risk = len(losses), Fraction(risk)
    return sum(
        comb(m, k) * risk**k * (1 - risk) ** (m - k)
        for k in range(int(sum(losses)) + 1)
    )


def fewest_that_pass(risk, level):
    return next(m for m in range(1, 999) if (1 - Fraction(risk)) ** m <= level)


def find_by_hand(order, groups, losses, parts, n_kinds, delta):
    """Walk along the thresholds, each the number of samples that are accepted."""
    order = list(order)
    counts = [m for m in range(len(order)) if m == 0 or groups[m] != groups[m - 1]]
    counts.append(len(order))
    members = [[r for r, row in enumerate(order) if part[row]] for part, _ in parts]
    targets = [target for _, target in parts]
    sizes = [len(ranks) for ranks in members]
    first = []
    for target, size in zip(targets, sizes, strict=True):
        needed = fewest_that_pass(target, 0.2 * delta)
        first.append(min(2 * fewest_that_pass(target, delta), max(needed, size // 2)))
    brought = dict.fromkeys(counts, 0.0)
    for share, weight in [(0.1, 0.2), (0.3, 0.4), (0.7, 0.4)]:
        wanted = [
            min(max(ceil(share * size), few), size)
            for size, few in zip(sizes, first, strict=True)
        ]
        counted = members
        if n_kinds > 1:
            union = sorted(set().union(*members))
            scaled = [
                ceil(len(union) * m / size)
                for m, size in zip(wanted, sizes, strict=True)
            ]
            counted, wanted = [union], [max(scaled)]
        starts = [
            max(c for c in counts if c <= ranks[m]) if m < len(ranks) else len(order)
            for ranks, m in zip(counted, wanted, strict=True)
        ]
        brought[max(starts)] += weight
    level, best = 0.0, None
    for count in counts:
        level += brought[count] * delta
        accepted = [[losses[order[r]] for r in ranks if r < count] for ranks in members]
        p_values = [
            exact_p_value(part, target)
            for part, target in zip(accepted, targets, strict=True)
        ]
        if level and max(p_values) <= level:
            best = count
        else:
            level = 0.0
    return best


@st.composite
def certified_problems(draw):
    n = draw(st.integers(20, 90))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    scores = rng.permutation(n) / 7
    if draw(st.booleans()):
        scores = np.floor(scores * draw(st.sampled_from([0.3, 1, 3])))
    few, many = draw(st.sampled_from([(0.0, 0.9), (0.1, 0.6), (0.3, 0.3), (0.6, 0.0)]))
    is_high = scores > np.quantile(scores, draw(st.sampled_from([0.3, 0.6, 0.8])))
    losses = (rng.random(n) < np.where(is_high, many, few)).astype(float)
    y = (rng.random(n) < draw(st.sampled_from([0.2, 0.5]))).astype(int)
    targets = {0: draw(st.sampled_from([0.3, 0.5])), 1: 0.4}
    bounds = {"class": (y, targets)}
    if draw(st.booleans()):
        bounds["prediction"] = (np.abs(y - losses), {1: 0.45})
    return scores, losses, bounds, draw(st.sampled_from([0.5, 0.8, 0.9]))


@given(certified_problems(), st.booleans())
def test_certified_threshold_by_hand(problem, randomize):
    scores, losses, bounds, confidence_level = problem
    draws = np.random.default_rng(0).random(len(scores))
    parts = [(np.array(members), target) for members, target in parts_of(bounds)]
    order = np.lexsort((draws, scores))
    groups = [(scores[r], draws[r] if randomize else 0) for r in order]
    delta = 1 - confidence_level
    few = [sum(part) < fewest_that_pass(target, delta) for part, target in parts]
    expected = None
    if not any(few):
        expected = find_by_hand(order, groups, losses, parts, len(bounds), delta)
    options = {
        "confidence_level": confidence_level,
        "randomize": randomize,
        "draws": draws,
    }
    if expected is None:
        text = "count for" if any(few) else "the hardest target is"
        with pytest.raises(InfeasibleTargetError, match=text):
            solve_risk_bounds(scores, losses, bounds, **options)
        return
    rule = solve_risk_bounds(scores, losses, bounds, **options)
    certificate = rule.certificate
    assert certificate.n_accepted == expected
    p_values = [
        float(exact_p_value([losses[r] for r in order[:expected] if part[r]], target))
        for part, target in parts
    ]
    np.testing.assert_allclose(certificate.p_values, p_values)
    assert certificate.p_value == max(certificate.p_values)
    accepted = rule.accept(scores, draws=draws)
    assert accepted.sum() == expected


def sample_of(n, seed=0, shares=(0.7, 0.3), power=2):
    rng = np.random.default_rng(seed)
    scores, y = rng.random(n), rng.choice(len(shares), n, p=shares)
    return scores, (rng.random(n) < scores**power).astype(float), y


@pytest.mark.parametrize("bound", ["binomial", "hoeffding_bentkus", "betting"])
def test_all_bounds_certify_and_accept_less_than_without_confidence(bound):
    scores, losses, y = sample_of(3000)
    bounds = {"class": (y, {0: 0.1, 1: 0.15})}
    options = {"confidence_level": 0.9, "random_state": 0}
    certified = solve_risk_bounds(
        scores, losses, bounds, bound=bound, max_loss=1.0, **options
    )
    assert 0.3 < certified.coverage < solve_risk_bounds(scores, losses, bounds).coverage
    assert certified.certificate.bound == bound
    assert certified.certificate.targets == (0.1, 0.15)
    twice = solve_risk_bounds(
        scores, 2 * losses, {"class": (y, {0: 0.2, 1: 0.3})}, max_loss=2.0, **options
    )
    if bound == "betting":  # "auto", where a largest loss is given
        assert twice.threshold == certified.threshold


def test_bounds_of_the_largest_loss_are_none():
    scores, losses, y = sample_of(400)
    rule = solve_risk_bounds(
        scores, losses, {"class": (y, {0: 1.0, 1: 1.5})}, confidence_level=0.9
    )
    assert (rule.threshold, rule.coverage) == (inf, 1)
    assert rule.certificate.p_values == (0, 0)
    # Beside one that binds they change nothing, whatever kind they are of.
    alone = {"class": (y, {0: 0.2})}
    more = {"class": (y, {0: 0.2, 1: 1.0}), "other": (1 - y, {0: 1.0})}
    one, other = (
        solve_risk_bounds(scores, losses, bounds, confidence_level=0.9)
        for bounds in (alone, more)
    )
    assert one.threshold == other.threshold


def test_certificate_survives_json_and_pickle():
    scores, losses, y = sample_of(600)
    labels = np.where(y == 1, "malignant", "benign")
    bounds = {"recall": (labels, {"malignant": 0.2, np.str_("benign"): 0.1})}
    rule = solve_risk_bounds(scores, losses, bounds, confidence_level=0.8)
    certificate = rule.certificate
    assert certificate.parts == ("recall['malignant']", "recall['benign']")
    assert pickle.loads(pickle.dumps(rule)) == rule
    restored = type(rule).from_dict(rule.to_dict())
    assert restored == rule
    assert isinstance(restored.certificate, RiskBoundsCertificate)
    # Parts need not make up the whole, which a monitor watches.
    with pytest.raises(ValueError, match="no certified risk to watch"):
        rule.monitor()


# What cannot be met


@pytest.mark.filterwarnings("ignore:No sample of")
@pytest.mark.parametrize("randomize", [True, False])
@given(seed=st.integers(0, 2**32))
def test_what_is_attainable_exceeds_the_bounds_least(seed, randomize):
    rng = np.random.default_rng(seed)
    scores, y = rng.integers(0, 9, 12), rng.integers(0, 2, 12)
    losses = rng.integers(0, 5, 12) / 4
    targets = {0: 0.05 * rng.integers(0, 3), 1: 0.1}
    try:
        solve_risk_bounds(scores, losses, {"class": (y, targets)}, randomize=False)
    except InfeasibleTargetError as error:
        attainable = error.attainable["class"]
    else:
        return
    excesses = []
    for value in scores:
        risks = [losses[(scores <= value) & (y == k)] for k in (0, 1)]
        means = [risk.mean() if risk.size else 0.0 for risk in risks]
        excesses.append(max(0, *(means[k] - targets[k] for k in (0, 1))))
    excess = max(attainable[k] - targets[k] for k in (0, 1))
    assert excess == pytest.approx(min(excesses))
    bounds = {"class": (y, attainable)}
    rule = solve_risk_bounds(scores, losses, bounds, randomize=randomize)
    achieved = measure_risk_bounds(rule, scores, losses, bounds)
    assert rule.coverage > 0
    assert all(not x.risk > x.target * (1 + 1e-9) for x in achieved.values())


@pytest.mark.parametrize("bound", ["binomial", "betting"])
@pytest.mark.parametrize("targets", [{0: 0.01, 1: 0.02}, {0: 0.0, 1: 0.1}])
def test_what_is_attainable_can_be_certified(targets, bound):
    scores, losses, y = sample_of(400)
    options = {"confidence_level": 0.9, "bound": bound, "random_state": 0}
    with pytest.raises(InfeasibleTargetError, match="each target raised") as caught:
        solve_risk_bounds(scores, losses, {"class": (y, targets)}, **options)
    attainable = caught.value.attainable["class"]
    more = attainable[0] - targets[0]
    assert 0 < more < 0.5
    assert attainable[1] - targets[1] == pytest.approx(more)
    rule = solve_risk_bounds(scores, losses, {"class": (y, attainable)}, **options)
    assert rule.coverage == caught.value.coverage
    # It is about the smallest: where a walk starts depends on the target.
    less = {label: 0.7 * more + target for label, target in targets.items()}
    with pytest.raises(InfeasibleTargetError):
        solve_risk_bounds(scores, losses, {"class": (y, less)}, **options)


@pytest.mark.parametrize(
    ("targets", "match"),
    [
        ({0: 0.0}, r"target of class\[0\] is 0, which no finite sample"),
        ({0: 0.1, 7: 0.1}, r"count for class\[7\], and.*at least 22 are"),
        ({0: 0.3, 1: 0.01}, r"count for class\[1\].*at least 230 are needed"),
        ({0: 0.3, 1: 0.05}, r"target is that of class\[1\]\. With each target"),
    ],
    ids=["zero", "no_member", "few_members", "nothing_passes"],
)
def test_what_cannot_be_certified_is_said(targets, match):
    scores, losses, y = sample_of(300, power=1)
    with pytest.raises(InfeasibleTargetError, match=match):
        solve_risk_bounds(scores, losses, {"class": (y, targets)}, confidence_level=0.9)


def test_a_part_without_members_is_warned_of():
    with pytest.warns(RejectionWarning, match=r"No sample is a member of class\['1'\]"):
        solve_risk_bounds([0, 1], [0, 0], {"class": ([0, 1], {"1": 0.1})})


def test_of_many_parts_a_warning_names_the_first():
    scores = y = np.arange(40)
    bounds = {"site": (y, dict.fromkeys(range(40), 0.1))}
    text = r"of site\[1\], site\[2\], site\[3\], site\[4\] and 35 more"
    with pytest.warns(RejectionWarning, match=text):
        solve_risk_bounds(scores, scores > 0, bounds)
    with pytest.raises(InfeasibleTargetError, match="with any and 36 more"):
        solve_risk_bounds(np.zeros(40), np.ones(40), bounds)


def test_a_part_of_which_nothing_is_accepted_is_warned_of():
    scores, y = [1, 2, 3, 4], [0, 0, 1, 1]
    bounds = {"class": (y, {0: 0.1, 1: 0.1})}
    with pytest.warns(RejectionWarning, match=r"No sample of class\[1\]"):
        rule = solve_risk_bounds(scores, [0, 0, 1, 1], bounds)
    assert rule.coverage == 0.5
    assert isnan(
        measure_risk_bounds(rule, scores, [0, 0, 1, 1], bounds)["class", 1].risk
    )


@pytest.mark.parametrize(
    ("bounds", "match"),
    [
        ({}, "bounds must be a dict name -> "),
        ([("class", 1)], "bounds must be a dict name -> "),
        ({"class": [0, 1]}, r"bounds\['class'\] must be a pair"),
        ({"class": ([0, 1], {})}, r"bounds\['class'\] must be a pair"),
        ({"class": ([0, 1], 0.1)}, r"bounds\['class'\] must be a pair"),
        ({"class": ([0], {0: 0.1})}, r"labels of bounds\['class'\] has 1 elements"),
        ({"class": ([[0, 1]], {0: 0.1})}, "must be a vector"),
        ({"class": ([0, 1], {0: -0.1})}, r"target of class\[0\] must be in \[0, inf"),
        ({"class": ([0, 1], {0: "low"})}, r"target of class\[0\] must be a number"),
        ({"class": ([0, np.nan], {0: 0.1})}, "has no label"),
    ],
    ids=str,
)
def test_bad_bounds(bounds, match):
    with pytest.raises(ValueError, match=match):
        solve_risk_bounds([0, 1], [0, 1], bounds)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"confidence_level": 1.0}, "confidence_level must be"),
        ({"confidence_level": 0.9, "sample_weight": [1, 1]}, "sample_weight cannot"),
        ({"bound": "normal"}, "bound must be one of"),
        ({"max_loss": 0}, "max_loss must be"),
        ({"randomize": "no"}, "randomize must be one of"),
    ],
    ids=str,
)
def test_bad_options(options, match):
    with pytest.raises(ValueError, match=match):
        solve_risk_bounds([0, 1], [0, 1], {"class": ([0, 1], {0: 0.1})}, **options)


def test_achieved_risk_is_a_row_of_a_table():
    assert BoundedRisk._fields == ("target", "risk", "coverage", "n_samples")
