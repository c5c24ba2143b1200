"""Certified thresholds by hand, and bounds on parts beside the best cut."""

import re
from fractions import Fraction
from math import ceil, comb, inf

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sklearn_reject.exceptions import RejectionWarning
from sklearn_reject.selection import (
    InfeasibleTargetError,
    measure_risk_bounds,
    solve_risk_bounds,
    solve_target_coverage,
    solve_target_risk,
)


def exact_p_value(losses, risk):
    """Sum the binomial law up to the number of errors."""
    m, risk = len(losses), Fraction(risk)
    return sum(
        comb(m, k) * risk**k * (1 - risk) ** (m - k)
        for k in range(int(sum(losses)) + 1)
    )


def fewest_that_pass(risk, level):
    return next(m for m in range(1, 999) if (1 - Fraction(risk)) ** m <= level)


def starts_for_all(parts, counts, delta):
    """Yield where walks start, as numbers of accepted samples, and their shares."""
    ((ranks, risk),) = parts
    fewest, n = fewest_that_pass(risk, delta), len(ranks)
    for share, weight in [(0.1, 0.4), (0.25, 0.2), (0.5, 0.2), (0.75, 0.2)]:
        start = min(max(ceil(share * n), 2 * fewest), n)
        # The last threshold that accepts no more than that, or the first at all.
        yield max([c for c in counts if 0 < c <= start] or counts[1:2]), weight


def starts_for_parts(parts, counts, delta, n_kinds):
    members, first = [ranks for ranks, _ in parts], []
    for ranks, risk in parts:
        needed = max(fewest_that_pass(risk, 0.2 * delta), len(ranks) // 2)
        first.append(min(2 * fewest_that_pass(risk, delta), needed))
    for share, weight in [(0.1, 0.2), (0.3, 0.4), (0.7, 0.4)]:
        wanted = [
            min(max(ceil(share * len(ranks)), few), len(ranks))
            for ranks, few in zip(members, first, strict=True)
        ]
        counted = members
        if n_kinds > 1:
            union = sorted(set().union(*members))
            scaled = [
                ceil(len(union) * m / len(ranks))
                for m, ranks in zip(wanted, members, strict=True)
            ]
            counted, wanted = [union], [max(scaled)]
        starts = []
        for ranks, m in zip(counted, wanted, strict=True):
            # Or the first threshold that accepts one of them at all.
            last = max(c for c in counts if c <= [*ranks, counts[-1]][m])
            starts.append(max(last, min(c for c in counts if c > ranks[0])))
        yield max(starts), weight


def walk(counts, starts, p_values, delta):
    """Return the last count that passes, with the level that was brought there."""
    level, best = 0.0, None
    for count in counts:
        level += delta * sum(weight for start, weight in starts if start == count)
        if level and max(p_values(count)) <= level:
            best = count
        else:
            level = 0.0
    return best


@st.composite
def problems(draw, of_parts=False, ties=True):
    """Draw (scores, losses, target or bounds, confidence), losses 0 or 1."""
    n = draw(st.integers(20 if of_parts else 2, 90))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    scores = rng.permutation(n) / 7
    if ties:
        scores = np.floor(scores * 7 / draw(st.integers(1, n)))
    few, many = draw(st.sampled_from([(0.0, 0.9), (0.1, 0.6), (0.3, 0.3), (0.6, 0.0)]))
    is_high = scores > np.quantile(scores, draw(st.sampled_from([0.3, 0.6, 0.8])))
    losses = (rng.random(n) < np.where(is_high, many, few)).astype(float)
    confidence_level = draw(st.sampled_from([0.5, 0.8, 0.9]))
    if not of_parts:
        target = draw(st.sampled_from([0.1, 0.3, 0.5, 0.7]))
        return scores, losses, target, confidence_level
    y = (rng.random(n) < draw(st.sampled_from([0.2, 0.5]))).astype(int)
    bounds = {"class": (y, {0: draw(st.sampled_from([0.3, 0.5])), 1: 0.4})}
    if draw(st.booleans()):
        bounds["prediction"] = (np.abs(y - losses), {1: 0.45})
    return scores, losses, bounds, confidence_level


@pytest.mark.parametrize("randomize", [True, False])
@pytest.mark.parametrize("is_of_parts", [True, False], ids=["parts", "all"])
@given(data=st.data())
def test_threshold_by_hand(data, is_of_parts, randomize):
    scores, losses, asked, confidence_level = data.draw(problems(is_of_parts))
    delta, n = 1 - confidence_level, len(scores)
    draws = np.random.default_rng(0).random(n)
    order = np.lexsort((draws, scores))
    keys = [(scores[row], draws[row] if randomize else 0) for row in order]
    counts = [m for m in range(n) if m == 0 or keys[m] != keys[m - 1]] + [n]
    bounds = asked if is_of_parts else {"all": (np.zeros(n), {0: asked})}
    parts = [
        (np.flatnonzero((labels == label)[order]), risk)
        for labels, targets in bounds.values()
        for label, risk in targets.items()
    ]

    def p_values(count):
        return [
            exact_p_value(losses[order[ranks[ranks < count]]], risk)
            for ranks, risk in parts
        ]

    few = [len(ranks) < fewest_that_pass(risk, delta) for ranks, risk in parts]
    expected = None
    if not any(few):
        more = [len(bounds)] if is_of_parts else []
        starts = starts_for_parts if is_of_parts else starts_for_all
        starts = list(starts(parts, counts, delta, *more))
        expected = walk(counts, starts, p_values, delta)
    solve = solve_risk_bounds if is_of_parts else solve_target_risk
    options = {"confidence_level": confidence_level, "randomize": randomize}
    if expected is None:
        with pytest.raises(InfeasibleTargetError):
            solve(scores, losses, asked, draws=draws, **options)
        return
    rule = solve(scores, losses, asked, draws=draws, **options)
    assert rule.certificate.n_accepted == expected
    found = [float(p_value) for p_value in p_values(expected)]
    np.testing.assert_allclose(rule.certificate.p_value, max(found))
    if is_of_parts:
        np.testing.assert_allclose(rule.certificate.p_values, found)
    accepted = np.flatnonzero(rule.accept(scores, draws=draws))
    assert set(accepted) == set(order[:expected])
    if not randomize:
        assert rule.proba_at_threshold == (rule.threshold == inf)
        assert rule.coverage == expected / n


@given(problems(ties=False))
def test_what_the_error_names_can_be_certified(problem):
    scores, losses, target, confidence_level = problem
    options = {"confidence_level": confidence_level}
    try:
        solve_target_risk(scores, losses, target / 2, **options)
    except InfeasibleTargetError as raised:
        error = raised
    else:
        return
    if not error.attainable:
        assert "nor can any risk below the largest loss" in str(error)
        return
    lowest = error.attainable["target_risk"]
    text = re.search(r"can be certified is about ([0-9.e-]*\d)", str(error))
    named = float(text.group(1))
    assert target / 2 < lowest <= named <= lowest * (1 + 1e-5)
    rule = solve_target_risk(scores, losses, lowest, **options)
    assert rule.coverage == error.coverage
    assert solve_target_risk(scores, losses, named, **options).certificate is not None


def smallest_rank(n, coverage, confidence_level):
    """Return the smallest k with P(Beta(k, n + 1 - k) >= coverage) high enough."""
    om, total = Fraction(coverage), Fraction(0)
    for k in range(1, n + 1):
        total += comb(n, k - 1) * om ** (k - 1) * (1 - om) ** (n - k + 1)
        if total >= confidence_level:
            return k
    return None


@given(
    st.integers(1, 60),
    st.sampled_from([0.1, 0.5, 0.7, 0.9, 1.0]),
    st.sampled_from([0.3, 0.8, 0.9]),
    st.integers(1, 30),
)
def test_coverage_by_hand(n, target, confidence_level, step):
    rank = smallest_rank(n, target, confidence_level)
    scores = np.arange(n) // step
    losses = np.arange(n) % 2
    options = {"confidence_level": confidence_level, "random_state": 3}
    rule = solve_target_coverage(scores, losses, target, **options)
    safe = solve_target_coverage(scores, losses, target, randomize=False, **options)
    if rank is None or rank == n:
        for each in (rule, safe):
            assert (each.threshold, each.proba_at_threshold) == (inf, 1)
        return
    noise = np.random.RandomState(3).random_sample(n)
    row = sorted(range(n), key=lambda row: (scores[row], noise[row]))[rank - 1]
    assert rule.threshold == scores[row]
    tied = (scores == scores[row]).sum() > 1
    # Up to and including the sample: draws below the probability are accepted.
    assert rule.proba_at_threshold == (np.nextafter(noise[row], 1) if tied else 1)
    assert safe.proba_at_threshold == 1
    assert safe.threshold == (scores[row] if scores[row] < scores[-1] else inf)
    assert rule.certificate.n_accepted == rank
    assert rule.certificate.p_value <= 1 - confidence_level


def test_what_certificates_say():
    scores = np.arange(1000)
    rule = solve_target_risk(scores, scores >= 800, 0.1, confidence_level=0.95)
    found = rule.certificate.to_dict()
    assert 0 < found.pop("p_value") <= 0.05
    assert found == {
        "type": "Certificate",
        "quantity": "risk",
        "target": 0.1,
        "confidence_level": 0.95,
        "bound": "binomial",
        "n_samples": 1000,
        "n_accepted": round(1000 * rule.coverage),
    }
    assert 0.8 < rule.coverage < 1000 / 1125
    assert solve_target_risk(scores, scores >= 800, 0.1).certificate is None


def errors_from(n, first):
    """Return samples of which all from one on are wrong."""
    return np.arange(n), (np.arange(n) >= first) * 1.0


@pytest.mark.parametrize(
    ("sample", "target", "options", "message"),
    [
        (errors_from(1, 0), 1, {"max_loss": 2}, "1 samples cannot certify"),
        (errors_from(50, 0), 0.3, {}, "No threshold can be"),
        (errors_from(50, 50), 0, {}, "infinitely many are needed"),
        (errors_from(50, 50), 0.05, {"bound": "betting"}, "at least 60 are needed"),
        (errors_from(2, 2), 1e-300, {"max_loss": 1e100}, "infinitely many are needed"),
    ],
)
def test_what_cannot_be_certified(sample, target, options, message):
    with pytest.raises(InfeasibleTargetError, match=message):
        solve_target_risk(*sample, target, confidence_level=0.9, **options)


@pytest.mark.parametrize("bound", ["binomial", "hoeffding_bentkus"])
def test_as_many_samples_as_needed_are_enough(bound):
    options = {"confidence_level": 0.9, "bound": bound}
    with pytest.raises(InfeasibleTargetError) as info:
        solve_target_risk(*errors_from(10, 10), 0.05, **options)
    needed = int(re.search(r"at least (\d+) are", str(info.value)).group(1))
    enough = errors_from(needed, needed)
    assert solve_target_risk(*enough, 0.05, **options).coverage > 0
    with pytest.raises(InfeasibleTargetError, match=f"at least {needed} are needed"):
        solve_target_risk(*errors_from(needed - 1, needed), 0.05, **options)


@pytest.mark.parametrize(
    ("losses", "options", "bound"),
    [
        ([0, 1], {}, "binomial"),
        # Not what was seen decides, but what is possible.
        ([0, 1], {"max_loss": 1}, "betting"),
        ([0, 0.5], {"max_loss": 1}, "betting"),
        ([0, 1], {"max_loss": 2}, "betting"),
        ([0, 2], {"max_loss": 2, "bound": "binomial"}, "binomial"),
    ],
)
def test_bound_that_fits_the_losses(losses, options, bound):
    losses = np.repeat(losses, [150, 50])
    options = {"confidence_level": 0.9, "random_state": 0} | options
    rule = solve_target_risk(np.arange(200), losses, 0.4, **options)
    assert rule.certificate.bound == bound


@pytest.mark.parametrize("draws", [np.arange(40) / 64, np.repeat([0.1, 0.3, 0.5], 14)])
def test_draws_give_the_threshold(draws):
    # Samples of equal score and draw are taken together.
    scores = np.ones(len(draws))
    options = {"confidence_level": 0.5, "draws": draws}
    rule = solve_target_coverage(scores, scores, 0.5, **options)
    rank = rule.certificate.n_accepted
    assert draws[rank - 1] < rule.proba_at_threshold <= np.append(draws, 1)[rank:].max()
    up_to = draws <= np.sort(draws)[rank - 1]
    np.testing.assert_array_equal(rule.accept(scores, draws=draws), up_to)
    rule = solve_target_risk(scores, draws > 0.3, 0.2, **options)
    assert rule.accept(scores, draws=draws).sum() == rule.certificate.n_accepted > 0


# Parts


def sample_of(n, seed=0, shares=(0.7, 0.3), power=2):
    rng = np.random.default_rng(seed)
    scores, y = rng.random(n), rng.choice(len(shares), n, p=shares)
    return scores, (rng.random(n) < scores**power).astype(float), y


def test_bounds_of_the_largest_loss_are_none():
    rule = solve_target_risk([1], [1], 1, confidence_level=0.99)
    assert (rule.threshold, rule.certificate.n_accepted) == (inf, 1)
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


def test_certificates_name_parts():
    scores, losses, y = sample_of(600)
    labels = np.where(y == 1, "malignant", "benign")
    bounds = {"recall": (labels, {"malignant": 0.2, np.str_("benign"): 0.1})}
    rule = solve_risk_bounds(scores, losses, bounds, confidence_level=0.8)
    assert rule.certificate.parts == ("recall['malignant']", "recall['benign']")
    assert type(rule).from_dict(rule.to_dict()) == rule
    # Parts need not make up the whole, which a monitor watches.
    with pytest.raises(ValueError, match="no certified risk to watch"):
        rule.monitor()


@pytest.mark.parametrize("bound", ["binomial", "betting"])
@pytest.mark.parametrize("targets", [{0: 0.01, 1: 0.02}, {0: 0.0, 1: 0.1}])
def test_what_is_attainable_can_be_certified(targets, bound):
    scores, losses, y = sample_of(400)
    options = {"confidence_level": 0.9, "bound": bound, "random_state": 0}
    with pytest.raises(InfeasibleTargetError, match="about class") as caught:
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
        ({0: 0.0}, r"class\[0\] cannot certify the target risk 0 .*infinitely many"),
        ({0: 0.1, 7: 0.1}, r"0 samples of class\[7\].*at least 22 are"),
        ({0: 0.3, 1: 0.01}, r"samples of class\[1\].*at least 230 are needed"),
        ({0: 0.3, 1: 0.05}, r"target is that of class\[1\]; the smallest risk"),
    ],
    ids=["zero", "no_member", "few_members", "nothing_passes"],
)
def test_what_cannot_be_certified_is_said(targets, match):
    scores, losses, y = sample_of(300, power=1)
    with pytest.raises(InfeasibleTargetError, match=match):
        solve_risk_bounds(scores, losses, {"class": (y, targets)}, confidence_level=0.9)


# Without confidence


@pytest.mark.filterwarnings("ignore:No sample")
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


def test_a_part_without_members_is_warned_of():
    with pytest.warns(
        RejectionWarning,
        match=r"No sample is a member of class\['1'\].* of the same kind",
    ):
        solve_risk_bounds([0, 1], [0, 0], {"class": ([0, 1], {"1": 0.1})})


def test_of_many_parts_a_warning_names_the_first():
    scores = y = np.arange(40)
    bounds = {"site": (y, dict.fromkeys(range(40), 0.1))}
    text = r"of site\[1\], site\[2\], .*, site\[10\] and 29 others"
    with pytest.warns(RejectionWarning, match=text):
        solve_risk_bounds(scores, scores > 0, bounds)
    with pytest.raises(InfeasibleTargetError, match=r"Together, .* and 30 others"):
        solve_risk_bounds(np.zeros(40), np.ones(40), bounds)


@pytest.mark.parametrize(
    ("bounds", "match"),
    [
        ({}, "bounds must be a dict of name"),
        ([("class", 1)], "bounds must be a dict of name"),
        ({"class": [0, 1]}, "bounds must be a dict of name"),
        ({"class": ([0, 1], {})}, "bounds must be a dict of name"),
        ({"class": ([0], {0: 0.1})}, r"labels of bounds\['class'\] has 1 elements"),
        ({"class": ([[0, 1]], {0: 0.1})}, "must be a vector"),
        ({"class": ([0, 1], {0: -0.1})}, r"target of class\[0\] must be in \[0, inf"),
        ({"class": ([0, np.nan], {0: 0.1})}, "has no label"),
    ],
    ids=str,
)
def test_bad_bounds(bounds, match):
    with pytest.raises(ValueError, match=match):
        solve_risk_bounds([0, 1], [0, 1], bounds)
