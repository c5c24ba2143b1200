"""Rules of one and of two scores for ID and OOD samples, against brute force."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sklearn_reject import _curves as curves
from sklearn_reject.selection import (
    InfeasibleTargetError,
    tune_double_score,
    tune_single_score,
)
from tests.selection.ood_oracle import (
    INF,
    MODELS,
    Sample,
    all_scores,
    best_of,
    least_price_by_pivots,
    noisy_sample,
    ood_samples,
    values_of,
)

RATES = {"min_tpr": 0.6, "max_fpr": 0.5}
PRECISION = {"min_tpr": 0.7, "min_precision": 0.9, "ood_prior": 0.25}
COSTS = {"costs": (0.3, 0.5, 0.1), "ood_prior": 0.25}
RISK = {"min_tpr": 0.6, "max_risk": 0.2}
FOUR_MODELS = [RATES, PRECISION, COSTS, RISK]


def one(sample, asked, **options):
    """Return the rule of the novelty, None if there is none."""
    options |= {"sample_weight": sample.weight, **asked}
    try:
        return tune_single_score(*sample.single, **options)
    except InfeasibleTargetError:
        return None


def two(sample, asked, **options):
    """Return the rule of both scores, None if there is none."""
    options |= {"sample_weight": sample.weight, **asked}
    try:
        return tune_double_score(*sample.double, **options)
    except InfeasibleTargetError:
        return None


both = pytest.mark.parametrize("tune", [one, two])


def scores_of(tune, sample):
    """Return the scores of all orders that a function compares."""
    return [sample.novelty] if tune is one else all_scores(sample)


@both
@given(ood_samples(max_size=8), MODELS, st.booleans())
def test_best_of_all_rules_in_exact_arithmetic(tune, sample, asked, randomize):
    expected = best_of(sample, asked, scores_of(tune, sample), randomize)
    rule = tune(sample, asked, randomize=randomize)
    if expected is None:
        assert rule is None
        return
    assert rule is not None
    found = values_of(rule, sample, asked)
    np.testing.assert_allclose(found, [float(x) for x in expected], atol=1e-9)
    kept = {"sample_weight": sample.weight, "wild_share": asked.get("wild_share")}
    arrays = sample.single if tune is one else sample.double
    np.testing.assert_equal(vars(rule.measure(*arrays, **kept)), vars(rule))
    assert rule.tpr >= asked.get("min_tpr", 0) * (1 - 1e-11)
    for name, value in (
        ("max_fpr", rule.fpr),
        ("max_risk", rule.selective_risk),
        ("min_precision", -rule.precision),
    ):
        bound = asked.get(name)
        if bound is not None:
            assert value <= (bound if name[:3] == "max" else -bound) + 1e-11
    if not randomize:
        assert rule.proba_at_threshold in (0, 1)


def test_a_false_positive_rate_above_one_is_not_offered():
    # What is infinite is never accepted: of half the ID samples and all wild ones, the
    # FPR is (1 - .75 * .5) / .25.
    sample = [0.0, 0.0, np.inf], [0.0] * 3, [False, True, False]
    with pytest.raises(InfeasibleTargetError, match=r"smallest FPR.* is 2\.5") as info:
        tune_single_score(
            *sample, min_tpr=0.125, max_fpr=1.0, wild_share=0.25, randomize=False
        )
    assert info.value.attainable == {}
    assert "Relax" not in str(info.value)


@both
@given(ood_samples(max_size=8), MODELS, st.booleans())
def test_what_the_error_names_can_be_attained(tune, sample, asked, randomize):
    if tune(sample, asked, randomize=randomize) is not None:
        return
    function, arrays = tune_double_score, sample.double
    if tune is one:
        function, arrays = tune_single_score, sample.single
    with pytest.raises(InfeasibleTargetError) as info:
        function(*arrays, sample_weight=sample.weight, randomize=randomize, **asked)
    attainable = info.value.attainable
    assert pickle.loads(pickle.dumps(info.value)).attainable == attainable
    for name, value in attainable.items():
        assert tune(sample, asked | {name: value}, randomize=randomize) is not None
        # And no more than that.
        step = 1e-6 if name.startswith("min") else -1e-6
        if 0 < value + step <= 1:
            asked_more = asked | {name: value + step}
            assert tune(sample, asked_more, randomize=randomize) is None


@both
def test_without_ood_samples_the_fpr_is_unknown(tune):
    sample = noisy_sample(20, 0)
    sample.is_ood[:] = False
    for asked in ({"min_tpr": 0.5}, {"min_tpr": 0.5, "max_fpr": 1.0, "ood_prior": 0.2}):
        rule = tune(sample, asked)
        assert np.isnan([rule.fpr, rule.precision]).all()
    for asked in (PRECISION | {"ood_prior": 0}, COSTS | {"ood_prior": 0}):
        rule = tune(sample, asked)
        assert np.isnan(rule.fpr)
        assert rule.precision == 1 or not rule.tpr


def test_equalities_that_floats_miss_are_met():
    # 0.55 * 100 is above 55 in floats.
    scores, losses = np.arange(200), np.arange(200) % 2 / 2
    is_ood, options = np.arange(200) >= 100, {"randomize": False}
    for cents in range(1, 101):
        sample = scores, losses, is_ood
        rule = tune_single_score(*sample, min_tpr=cents / 100, **options)
        assert round(100 * rule.tpr) in (cents, cents + 1)
    sample = -scores, losses, is_ood
    assert tune_single_score(*sample, min_tpr=0.01, max_fpr=1, **options).fpr == 1
    with pytest.raises(InfeasibleTargetError):
        tune_single_score(*sample, min_tpr=0.01, max_fpr=0.99)


# Samples on which not everything can be tried


def confident_sample(n, seed=0):
    """Draw a sample of a classifier that is sure of most of its predictions."""
    rng = np.random.default_rng(seed)
    is_ood = rng.random(n) < 0.3
    unsure = rng.random(n) < np.where(is_ood, 0.8, 0.045)
    risk = np.where(unsure, np.where(is_ood, 0.3, 0.6), 1e-4) * rng.random(n)
    losses = (rng.random(n) < risk) & ~is_ood
    return Sample(risk, rng.normal(size=n) + 1.5 * is_ood, losses * 1.0, is_ood)


def shaped_sample(shape, n, seed=0):
    """Draw scores between 0 and 1 of a shape."""
    rng = np.random.default_rng(seed)
    sample = noisy_sample(n, seed, infinite=shape == "infinite")
    if shape == "confident":
        sample = confident_sample(n, seed)
    if shape == "heavy tails":
        sample.novelty = rng.standard_t(1, n) + 2 * sample.is_ood
    if shape == "separable":
        sample.novelty = rng.random(n) + sample.is_ood
    if shape == "discrete":
        sample.risk, sample.novelty = np.round(sample.risk, 1), np.round(sample.novelty)
    if shape == "poor":
        sample.risk, sample.novelty = rng.random((2, n))
    for name in ("risk", "novelty"):
        scores = getattr(sample, name)
        finite = scores[np.isfinite(scores)]
        scores = (scores - finite.min()) / np.ptp(finite)
        setattr(sample, name, 0.01 + 0.99 * scores)
    return sample


SHAPES = "confident", "heavy tails", "separable", "discrete", "poor", "infinite"
POWERS = (1.0, 1.0), (0.01, 1.0), (1.0, 20.0), (30.0, 0.1), (1e-6, 1e6), (1e6, 1.0)
SLOW = pytest.mark.slow


def cost_of_rejecting_all(asked):
    """Return what rejecting all samples costs, zero where nothing is paid."""
    if "costs" not in asked:
        return 0.0
    reject_id, _, reject_ood = asked["costs"]
    return (1 - asked["ood_prior"]) * reject_id + asked["ood_prior"] * reject_ood


def of_powers(sample, powers, factors=(1e-6, 1e6)):
    """Return the sample with scores raised to powers and in other units."""
    scores = [
        factor * np.where(np.isinf(score), score, abs(score) ** power)
        for score, power, factor in zip(sample.double[:2], powers, factors, strict=True)
    ]
    return Sample(*scores, *sample.double[2:])


@pytest.mark.parametrize(
    ("shape", "powers", "n"),
    [
        # The fast suite has each shape and each power once, of few samples.
        pytest.param(shape, powers, n, marks=[SLOW] * ((i + j) % 6 != 2 or n > 1000))
        for i, shape in enumerate(SHAPES)
        for j, powers in enumerate(POWERS)
        for n in (200, 1500, 5000)
    ],
)
def test_the_best_direction_is_found_or_one_that_loses_next_to_nothing(
    shape, powers, n
):
    sample = of_powers(shaped_sample(shape, n), powers)
    if n < 1000:
        sample.weight = np.random.default_rng(n).integers(0, 4, n) / 2
    asked = FOUR_MODELS[(SHAPES.index(shape) + POWERS.index(powers) + n) % 4]
    expected = least_price_by_pivots(sample, asked)
    rule = two(sample, asked, randomize=False)
    assert (expected is None) == (rule is None)
    if rule is not None:
        found = values_of(rule, sample, asked)[0]
        lost = 0.0 if n <= 2000 else 0.01
        # A price leaves out what rejecting everything costs; the share is of all costs.
        whole = expected + cost_of_rejecting_all(asked)
        assert expected - 1e-12 <= found <= expected + lost * abs(whole) + 1e-9


@pytest.mark.parametrize("seed", [38, 51])  # the grid alone misses their best rules
def test_many_samples_of_few_points_are_searched_as_the_points_are(seed):
    points = noisy_sample(400, seed)
    repeated = Sample(*(np.repeat(each, 12) for each in points.double))
    risks = [
        two(sample, PRECISION, randomize=False).selective_risk
        for sample in (points, repeated)
    ]
    assert risks[1] == pytest.approx(risks[0], rel=1e-12)


# Ties, rounding and units


def test_of_equal_rules_the_largest_tpr_then_the_smallest_angle():
    # Both scores order the samples in the same way.
    scores, losses, is_ood = np.arange(6.0), [0, 0, 0, 1, 0, 0], [0, 0, 0, 0, 1, 1]
    rule = tune_double_score(scores, 2 * scores, losses, is_ood, min_tpr=0.5)
    assert (rule.risk_weight, rule.novelty_weight, rule.mu) == (1.0, 0.0, 0.0)
    assert rule.tpr == 0.75
    zero = np.zeros(6)
    rule = tune_double_score(zero, scores, losses, is_ood, min_tpr=0.5, max_fpr=0)
    assert rule.tpr == 0.75


def awkward_samples():
    """Yield samples whose sums cancel, or are rounded at more than they differ by."""
    for seed in range(4):
        rng = np.random.default_rng(seed)
        n = 200
        is_ood = rng.random(n) < 0.3
        risk, losses = rng.random(n), (rng.random(n) < 0.3) * 1.0
        novelty = 1e7 + 1e-3 * (rng.normal(size=n) + is_ood)
        yield Sample(risk, novelty, losses, is_ood)
        noise = 10.0 ** rng.integers(-13, -10) * rng.normal(size=n)
        yield Sample(risk, -risk + noise, losses, is_ood)
        yield Sample(-risk, risk + noise, losses, is_ood)
        yield Sample(risk * (1 + 1e-12 * rng.random(n)), novelty, losses, is_ood)


@pytest.mark.parametrize("randomize", [True, pytest.param(False, marks=SLOW)])
def test_bounds_hold_for_the_samples_as_they_are(randomize):
    n_found = 0
    for sample in awkward_samples():
        rule = two(sample, {"min_tpr": 0.4, "max_fpr": 0.5}, randomize=randomize)
        if rule is not None:
            n_found += 1
            accepted = rule.accept_proba(sample.risk, sample.novelty)
            assert accepted[~sample.is_ood].mean() >= 0.4 - 1e-12
            assert accepted[sample.is_ood].mean() <= 0.5 + 1e-12
    assert n_found > 4


@pytest.mark.parametrize(
    ("factors", "shift"),
    [
        *(((2.0**power, 1.0), 0.0) for power in (-330, -360, -500, -800)),
        ((1e-9, 1e9), 0.0),
        ((1e-9, 1e9), 1e6),
    ],
)
def test_scores_of_all_magnitudes_are_told_apart(factors, shift):
    sample = noisy_sample(60, 4)
    asked = {"min_tpr": 0.6, "max_fpr": 0.3}
    base = two(sample, asked)
    assert base.novelty_weight > 0
    novelty = factors[1] * (sample.novelty + shift)
    other = replace(sample, risk=factors[0] * sample.risk, novelty=novelty)
    rule = two(other, asked)
    for name in ("tpr", "fpr", "selective_risk", "risk_weight"):
        assert getattr(rule, name) == pytest.approx(getattr(base, name))
    frontiers = [
        curves.roc_frontier(np.column_stack([s.risk, s.novelty]), s.is_ood)
        for s in (sample, other)
    ]
    for expected, found in zip(*frontiers, strict=True):
        np.testing.assert_allclose(found, expected)


# Frontiers and rules


def votes(n, seed):
    """Draw scores of shares of votes: many are equal but for rounding."""
    rng = np.random.default_rng(seed)
    is_ood = np.arange(n) % 3 == 0
    sure = np.where(is_ood, 1.0, 6.0)[:, np.newaxis] * rng.dirichlet(np.ones(4), n)
    shares = np.array([rng.multinomial(30, p / p.sum()) for p in sure**2]) / 30
    noise = 1 + 2.0**-52 * rng.integers(-3, 4, (2, n))
    risk, novelty = noise * [1 - shares.max(axis=1), -(shares**2).sum(axis=1)]
    return Sample(risk, novelty, (rng.random(n) < risk) * 1.0, is_ood)


def on_a_line(seed):
    """Draw samples whose sums all tie at a weight of one, but for next to nothing."""
    rng = np.random.default_rng(seed)
    risk, is_ood = rng.integers(0, 30, 60) / 30, rng.random(60) < 0.3
    novelty = -risk + 1e-13 * rng.normal(size=60)
    return Sample(risk, novelty, np.zeros(60), is_ood)


@pytest.mark.parametrize(
    ("tune", "sample"),
    [
        (one, votes(150, 0)),
        pytest.param(two, votes(60, 0), id="votes"),
        pytest.param(two, on_a_line(1), id="line"),
        pytest.param(two, on_a_line(4), marks=SLOW),
        pytest.param(two, noisy_sample(1500, 1), marks=SLOW),
    ],
)
def test_bounds_read_off_a_frontier_are_attained(tune, sample):
    scores = np.column_stack([sample.risk, sample.novelty])
    if tune is one:
        scores = sample.novelty
    fpr, tpr = curves.roc_frontier(scores, sample.is_ood)
    picked = np.flatnonzero(tpr > 0)[:: max(1, len(tpr) // 12)]
    for bound, share in zip(fpr[picked], tpr[picked], strict=True):
        rule = tune(sample, {"min_tpr": share, "max_fpr": bound}, randomize=False)
        assert rule.tpr >= share - 1e-12
        assert rule.fpr <= bound + 1e-12
    bound = fpr[len(fpr) // 2]
    shares, risks = curves.risk_coverage_frontier(
        scores, sample.losses, sample.is_ood, max_fpr=bound
    )
    picked = np.arange(0, len(shares), max(1, len(shares) // 12))
    for share, risk in zip(shares[picked], risks[picked], strict=True):
        rule = tune(sample, {"min_tpr": share, "max_fpr": bound}, randomize=False)
        # The frontier of two scores is that of a grid of directions.
        assert rule.selective_risk <= risk + 1e-12
        if tune is one:
            assert rule.selective_risk == pytest.approx(risk, abs=1e-14)


@pytest.mark.parametrize("ood_prior", [0.001, 0.01])
def test_precisions_near_one_are_attained(ood_prior):
    scores = np.append(np.arange(300.0), np.arange(200.0, 20_200.0))
    is_ood = np.arange(len(scores)) >= 300
    for n_accepted in range(200, 300, 9):
        tpr, fpr = n_accepted / 300, max(0, n_accepted - 200) / 20_000
        of_id = (1 - ood_prior) * tpr
        bound = of_id / (of_id + ood_prior * fpr)
        rule = tune_single_score(
            scores,
            np.zeros(len(scores)),
            is_ood,
            min_tpr=tpr,
            min_precision=bound,
            ood_prior=ood_prior,
            randomize=False,
        )
        assert rule.precision >= bound - 1e-15


# Errors

PRIOR = {"ood_prior": 0.1}
HALF = {"min_tpr": 0.5}
ERRORS = [
    ({}, "Exactly one target must be given, got none. Pass min_tpr"),
    (HALF | {"costs": (1, 2, 1)}, "got more than one"),
    ({"max_fpr": 0.1}, "max_fpr=0.1 needs min_tpr, .*rejects nearly"),
    (PRIOR | {"min_precision": 0.5}, "min_precision=0.5 needs min_tpr"),
    (HALF | {"min_precision": 0.5}, "ood_prior is needed .* Pass the share"),
    (PRIOR | {"costs": (1, 1, 1)}, "costs must be .* below that"),
    (PRIOR | {"costs": (1, 2)}, "costs must be three numbers"),
    (PRIOR | {"costs": (-1, 2, 1)}, r"costs\[0\] must be in"),
    ({"min_tpr": 0}, r"min_tpr must be in \(0, 1\]"),
    (HALF | {"max_fpr": -0.1}, r"max_fpr must be in \[0, 1\]"),
    (HALF | {"max_risk": -1}, r"max_risk must be in \[0, inf\)"),
    (HALF | PRIOR | {"min_precision": 0}, r"min_precision must be in \(0"),
    (HALF | PRIOR | {"min_precision": 1, "max_fpr": 0.2}, "exclude each other"),
    (HALF | {"ood_prior": 1.0}, r"ood_prior must be in \[0, 1\)"),
    (HALF | {"wild_share": 0}, r"wild_share must be in \(0, 1\]"),
    (HALF | {"randomize": 2}, "randomize must be one of"),
    # What needs OOD samples, and what to do without.
    (HALF | {"max_fpr": 0.5}, "max_fpr=0.5 needs OOD .* max_fpr=None"),
    (
        HALF | {"max_risk": 1},
        r"max_risk=1 needs OOD .*SelectiveClassifier\(target_risk",
    ),
    (HALF | PRIOR | {"min_precision": 0.5}, "min_precision=0.5 needs .* ood_prior=0"),
    (PRIOR | {"costs": (1, 2, 1)}, "costs needs OOD samples.* ood_prior=0"),
    # Arrays.
    (HALF | {"losses": [0]}, "losses has 1 elements"),
    (HALF | {"losses": [0, -1]}, "losses must be non-negative"),
    (HALF | {"is_ood": [1, 1]}, "At least one ID sample"),
    (HALF | {"sample_weight": [0, 0]}, "sample_weight is zero"),
]


@pytest.mark.parametrize(("options", "message"), ERRORS)
def test_errors_of_both(options, message):
    arguments = {"losses": [0, 1], "is_ood": [0, 0]} | options
    with pytest.raises(ValueError, match=message):
        tune_single_score([1, 2], **arguments)
    with pytest.raises(ValueError, match=message):
        tune_double_score([1, 2], [1, 2], **arguments)


@pytest.mark.parametrize(
    ("risk", "novelty", "message"),
    [
        ([1, np.nan], [1, 2], "uncertainty_scores must be finite"),
        ([1, INF], [1, 2], "uncertainty_scores must be finite"),
        ([1, 2], [1, np.nan], "novelty_scores must be finite"),
        ([1, 2], [1], "novelty_scores has 1 elements"),
        ([0.0, 1e-270], [1, 2], "uncertainty_scores hold finite values .* Rescale"),
        ([1.0, 1e200], [1, 2], "uncertainty_scores hold finite values .* Rescale"),
        ([1.0, 2.0], [1, -1e150], "novelty_scores hold finite values .* Rescale"),
        ([1.0, 2.0], [1e-150, 2e-150], "novelty_scores hold finite values .* Rescale"),
    ],
)
def test_errors_of_two_scores(risk, novelty, message):
    with pytest.raises(ValueError, match=message):
        tune_double_score(risk, novelty, [0, 1], [0, 0], min_tpr=0.5)


@pytest.mark.parametrize(
    ("is_ood", "asked", "message", "attainable"),
    [
        (
            [0, 1, 0, 1],
            {"min_tpr": 0.9, "max_fpr": 0.1},
            "No rule attains min_tpr=0.9 and max_fpr=0.1 on these samples: the largest "
            "TPR at max_fpr=0.1 is 0.5, the smallest FPR at min_tpr=0.9 is 0.5. Relax "
            "min_tpr or max_fpr up to this value, or use scores that separate ID from "
            "OOD samples better.",
            {"min_tpr": 0.5, "max_fpr": 0.5},
        ),
        # A rate of zero is no bound that could be asked for.
        (
            [1, 0, 1, 0],
            {"min_tpr": 0.5, "min_precision": 0.9, "ood_prior": 0.5},
            "the largest TPR at min_precision=0.9 is 0, the largest precision at "
            "min_tpr=0.5 is 0.5. Relax min_precision up to this",
            {"min_precision": 0.5},
        ),
        # Rounded to what is attainable.
        (
            [0, 0, 1, 0, 1, 1],
            {"min_tpr": 0.75, "max_fpr": 0.25},
            "is 0.666666, the smallest FPR at min_tpr=0.75 is 0.333334.",
            {"min_tpr": 2 / 3, "max_fpr": 1 / 3},
        ),
    ],
)
def test_bounds_that_cannot_be_met_say_what_can(is_ood, asked, message, attainable):
    scores = losses = np.arange(len(is_ood))
    with pytest.raises(InfeasibleTargetError) as info:
        tune_single_score(scores, losses, is_ood, randomize=False, **asked)
    assert message in str(info.value)
    assert info.value.attainable == pytest.approx(attainable)


def test_nothing_can_be_met():
    sample = [INF, 0, -INF], [0] * 3, [0, 0, 1]
    with pytest.raises(InfeasibleTargetError, match="no rule has a TPR") as info:
        tune_single_score(*sample, min_tpr=0.9, max_fpr=0)
    assert info.value.attainable == {}
