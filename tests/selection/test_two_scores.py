from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from joblib import parallel_backend
from scipy.optimize import linprog

from sklearn_reject._curves import (
    combine,
    group_by_origin,
    risk_coverage_frontier,
    roc_frontier,
    score_directions,
)
from sklearn_reject.exceptions import RejectionWarning
from sklearn_reject.selection import (
    InfeasibleTargetError,
    _sweep_exact,
    _sweep_grid,
    tune_double_score,
    tune_single_score,
)
from sklearn_reject.selection import _sweep_grid as _plane
from sklearn_reject.selection import _two_scores as _tune_double
from sklearn_reject.selection._ood_model import OODProblem
from tests.selection.ood_oracle import (
    MODELS,
    Sample,
    achieved,
    best_in_order,
    best_of_all,
    exact_combination,
    noisy_sample,
    ood_samples,
)

INF = float("inf")
THREE_MODELS = [
    {"min_tpr": 0.7, "max_fpr": 0.2},
    {"min_precision": 0.9, "min_recall": 0.7, "ood_prior": 0.25},
    {"costs": (0.3, 0.5, 0.1), "ood_prior": 0.25},
]


def tune(sample, model, **options):
    """Return the rule, None if there is none, of few directions by default."""
    options = {"sample_weight": sample.weight, "n_directions": 31, **options}
    try:
        return tune_double_score(*sample.double, **model, **options)
    except InfeasibleTargetError:
        return None


def assert_achieves(rule, model, sample, expected):
    if expected is None:
        assert rule is None
        return
    assert rule is not None
    np.testing.assert_allclose(
        achieved(rule, model, sample), [float(x) for x in expected], atol=1e-9
    )


# Rules may end up with a risk weight of -1 where that is allowed.
may_reverse = pytest.mark.filterwarnings(
    "ignore:The rule has risk_weight=-1:sklearn_reject.exceptions.RejectionWarning"
)


@may_reverse
@given(ood_samples(max_size=8), MODELS, st.booleans(), st.booleans())
def test_exact_against_all_orders_in_exact_arithmetic(
    sample, model, randomize, allow_reversed
):
    expected = best_of_all(sample, model, randomize, allow_reversed)
    options = {"randomize": randomize, "allow_reversed": allow_reversed}
    rule = tune(sample, model, method="exact", n_directions=5, **options)
    assert_achieves(rule, model, sample, expected)


@may_reverse
@given(ood_samples(max_size=12), MODELS, st.booleans(), st.booleans())
def test_grid_against_each_direction_in_exact_arithmetic(
    sample, model, randomize, allow_reversed
):
    rows, totals = list(sample.rows()), sample.totals()
    present = np.ones(len(sample), bool) if sample.weight is None else sample.weight > 0
    scores = sample.risk[present], sample.novelty[present]
    found = []
    for weights in score_directions(*scores, 7, allow_reversed=allow_reversed):
        score = exact_combination(weights)
        found.append(best_in_order(rows, score, model, totals, randomize))
    expected = min((f for f in found if f is not None), default=None)
    options = {"randomize": randomize, "allow_reversed": allow_reversed}
    rule = tune(sample, model, method="grid", n_directions=7, **options)
    assert_achieves(rule, model, sample, expected)


def all_prefixes(sample, weights, model):
    """Return (price, -N, O) of the best whole prefix of a direction, vectorized."""
    groups = group_by_origin(
        combine(sample.risk, sample.novelty, weights),
        sample.losses,
        sample.is_ood,
        sample.weight,
    )
    tpr, fpr = groups.true_positive_rates, groups.false_positive_rates
    loss = groups.accepted_losses / groups.total_id
    if "costs" in model:
        a, b, c = model["costs"]
        prior = model["ood_prior"]
        price = (1 - prior) * (loss + a * (1 - tpr)) + prior * (b * fpr + c * (1 - fpr))
        good = np.ones(len(tpr), bool)
    else:
        with np.errstate(invalid="ignore", divide="ignore"):
            price = loss / tpr
            if "min_tpr" in model:
                good = (tpr >= model["min_tpr"] - 1e-12) & (
                    fpr <= model["max_fpr"] + 1e-12
                )
            else:
                prior = model["ood_prior"]
                precision = (1 - prior) * tpr / ((1 - prior) * tpr + prior * fpr)
                good = (tpr >= model["min_recall"] - 1e-12) & (
                    precision >= model["min_precision"] - 1e-12
                )
    good[: groups.n_always] = False
    if not good.any():
        return None
    keys = zip(
        price[good].round(12),
        -groups.accepted_id[good],
        groups.accepted_ood[good],
        strict=True,
    )
    return min(keys)


@pytest.fixture
def small_parts(monkeypatch):
    """Make bins, cells and halved arcs come into play on small samples."""
    monkeypatch.setattr(_sweep_grid, "_FEWEST_FOR_BINS", 4)
    monkeypatch.setattr(_sweep_grid, "_N_BINS", 6)
    monkeypatch.setattr(_plane, "_FEWEST_IN_CELL", 3)
    monkeypatch.setattr(_sweep_exact, "_PIVOT", 1)
    monkeypatch.setattr(_sweep_exact, "_ORDER", 1)


def all_directions(sample):
    """Return weights in the middle between all ties of two samples, and the axes.

    None is negative.
    """
    finite = np.isfinite(sample.novelty)
    r, g = sample.risk[finite], sample.novelty[finite]
    i, j = np.triu_indices(len(r), 1)
    kept = r[i] != r[j]
    slopes = np.unique(
        np.append(0.0, (g[j] - g[i])[kept] / (r[j] - r[i])[kept]).round(12)
    )
    middles = (slopes[1:] + slopes[:-1]) / 2
    slopes = np.concatenate([[slopes[0] - 1], middles, [slopes[-1] + 1]])
    axes = [(1.0, 0.0), (0.0, 1.0)]
    return axes + [(-slope, 1.0) for slope in slopes[slopes < 0]]


@pytest.mark.parametrize("model", THREE_MODELS, ids=["tpr", "precision", "costs"])
@pytest.mark.parametrize(
    "seed",
    [*range(5), *(pytest.param(k, marks=pytest.mark.slow) for k in range(5, 12))],
)
def test_exact_against_all_directions(model, seed, small_parts):
    n = [12, 25, 40][seed % 3]
    sample = noisy_sample(n, seed, ties=seed % 2 == 0, infinite=seed % 4 < 2)
    found = [all_prefixes(sample, w, model) for w in all_directions(sample)]
    expected = min((f for f in found if f is not None), default=None)
    rule = tune(sample, model, method="exact", randomize=False, n_directions=2)
    assert_achieves(rule, model, sample, expected)


@pytest.mark.parametrize("model", THREE_MODELS, ids=["tpr", "precision", "costs"])
@pytest.mark.parametrize("n", [300, 6000])
@pytest.mark.parametrize(
    "weighted", [pytest.param(False, marks=pytest.mark.slow), True]
)
def test_grid_against_a_loop(model, n, weighted):
    sample = noisy_sample(n, 1, ties=n == 300)
    if weighted:
        sample.weight = np.random.default_rng(0).integers(0, 4, n) / 2
    present = np.ones(n, bool) if sample.weight is None else sample.weight > 0
    scores = sample.risk[present], sample.novelty[present]
    directions = score_directions(*scores, 31)
    found = [all_prefixes(sample, weights, model) for weights in directions]
    expected = min((f for f in found if f is not None), default=None)
    assert (expected is None) == (model == THREE_MODELS[0] and weighted and n == 300)
    rule = tune(sample, model, method="grid", randomize=False, n_directions=31)
    assert_achieves(rule, model, sample, expected)


@pytest.mark.parametrize("model", THREE_MODELS, ids=["tpr", "precision", "costs"])
def test_exact_is_never_worse_than_many_angles(model):
    model = model | {"max_fpr": 0.5} if "max_fpr" in model else model
    sample = noisy_sample(100, 1)
    prices = [
        achieved(tune(sample, model, **options), model, sample)[0]
        for options in (
            {"method": "exact", "n_directions": 2},
            {"method": "grid", "n_directions": 301},
        )
    ]
    assert prices[0] <= prices[1] + 1e-12


@pytest.mark.parametrize("model", THREE_MODELS, ids=["tpr", "precision", "costs"])
def test_auto_beyond_the_exact_size(model, monkeypatch):
    sample = noisy_sample(400, 6)
    exact = tune(sample, model)
    monkeypatch.setattr(_tune_double, "_MOST_FOR_EXACT", 100)
    monkeypatch.setattr(_sweep_exact, "_FEW", 16)
    prices = [
        achieved(rule, model, sample)[0]
        for rule in (exact, tune(sample, model), tune(sample, model, method="grid"))
    ]
    assert prices == sorted(prices)
    assert prices[0] < prices[2]
    assert prices[1] <= prices[0] * (1 + _tune_double._GAP)
    monkeypatch.setattr(_tune_double, "_BUDGET", (0, 0, 0, 1e-3))
    little = achieved(tune(sample, model), model, sample)[0]
    assert prices[1] <= little <= prices[2]


@given(
    ood_samples(max_size=12), MODELS, st.booleans(), st.sampled_from(["exact", "grid"])
)
def test_rule_states_what_it_achieves(sample, model, randomize, method):
    rule = tune(sample, model, method=method, randomize=randomize, n_directions=7)
    if rule is None:
        return
    again = rule.measure(*sample.double, sample_weight=sample.weight)
    np.testing.assert_equal(vars(again), vars(rule))
    probability = rule.accept_proba(sample.risk, sample.novelty)
    assert set(probability) <= {0.0, 1.0, rule.proba_at_threshold}
    assert (probability[sample.novelty == INF] == 0).all()
    assert (probability[sample.novelty == -INF] == 1).all()
    if not randomize:
        assert rule.proba_at_threshold in (0, 1)
    if rule.threshold == INF:
        assert (probability[np.isfinite(sample.novelty)] == 1).all()


@given(ood_samples(max_size=12), MODELS, st.booleans())
def test_two_scores_are_never_worse_than_one(sample, model, randomize):
    double = tune(sample, model, randomize=randomize, n_directions=5)
    for scores in (sample.risk, sample.novelty):
        if scores is sample.risk and np.isinf(sample.novelty).any():
            continue
        try:
            single = tune_single_score(
                scores,
                *sample.double[2:],
                sample_weight=sample.weight,
                randomize=randomize,
                **model,
            )
        except InfeasibleTargetError:
            continue
        prices = [achieved(rule, model, sample)[0] for rule in (double, single)]
        assert prices[0] <= prices[1] + 1e-12


@given(ood_samples(max_size=12), MODELS, st.randoms(use_true_random=False))
def test_row_order_and_units_do_not_matter(sample, model, random):
    rows = list(range(len(sample)))
    random.shuffle(rows)
    moved = Sample(
        *(column[rows] for column in sample.double),
        None if sample.weight is None else sample.weight[rows],
    )
    options = {"method": "exact", "n_directions": 5}
    rule, other = tune(sample, model, **options), tune(moved, model, **options)
    assert (rule is None) == (other is None)
    if rule is None:
        return
    expected = achieved(rule, model, sample)
    np.testing.assert_allclose(achieved(other, model, moved), expected, atol=1e-9)
    scaled = Sample(
        8 * sample.risk + 4, sample.novelty / 16, *sample.double[2:], sample.weight
    )
    other = tune(scaled, model, **options)
    np.testing.assert_allclose(achieved(other, model, scaled), expected, atol=1e-9)


def test_integer_weights_repeat_rows():
    sample = noisy_sample(60, 3, ties=True)
    weight = np.random.default_rng(0).integers(0, 4, 60)
    repeated = Sample(*(np.repeat(column, weight) for column in sample.double))
    sample.weight = weight
    for model in THREE_MODELS:
        rules = tune(sample, model), tune(repeated, model)
        expected = achieved(rules[1], model, repeated)
        np.testing.assert_allclose(achieved(rules[0], model, sample), expected)


def test_jobs_give_the_same_rule():
    sample = noisy_sample(100, 2)
    for model in THREE_MODELS:
        with parallel_backend("threading", n_jobs=1):
            rules = [tune(sample, model, n_jobs=n_jobs) for n_jobs in (None, 2)]
        np.testing.assert_allclose(
            *(achieved(rule, model, sample) for rule in rules), rtol=1e-12
        )


def test_of_equal_rules_the_smallest_angle():
    # Both scores order the samples in the same way.
    scores = np.arange(6.0)
    rule = tune_double_score(
        scores, 2 * scores, [0, 0, 0, 1, 0, 0], [0, 0, 0, 0, 1, 1], min_tpr=0.5
    )
    assert (rule.risk_weight, rule.novelty_weight, rule.mu) == (1.0, 0.0, 0.0)
    assert rule.tpr == 0.75
    rule = tune_double_score(
        np.zeros(6),
        scores,
        [0, 0, 0, 1, 0, 0],
        [0, 0, 0, 0, 1, 1],
        min_tpr=0.5,
        max_fpr=0,
    )
    assert rule.tpr == 0.75


def test_everything_accepted_means_an_infinite_threshold():
    rule = tune_double_score([1, 2], [1, 2], [0, 0], [0, 0], min_tpr=1)
    assert (rule.threshold, rule.proba_at_threshold, rule.tpr) == (INF, 1.0, 1.0)
    assert rule.accept([100], [1e9]).all()
    assert not rule.accept([0], [INF]).any()


def test_without_finite_novelty():
    options = {"method": "exact", "n_directions": 3}
    arrays = [1, 2], [-INF, INF], [0, 1], [0, 0]
    rule = tune_double_score(*arrays, min_tpr=0.5, **options)
    assert (rule.tpr, rule.selective_risk) == (0.5, 0)
    with pytest.raises(InfeasibleTargetError, match=r"the largest TPR is 0\.5"):
        tune_double_score(*arrays, min_tpr=0.75, **options)


def monotone_bound(sample, min_tpr, max_fpr):
    """Return the least risk of any acceptance that falls with both scores."""
    n = len(sample)
    is_id = ~sample.is_ood
    i, j = np.nonzero(
        (sample.risk[:, None] <= sample.risk)
        & (sample.novelty[:, None] <= sample.novelty)
    )
    i, j = i[i != j], j[i != j]
    order = np.zeros((len(i), n))
    order[np.arange(len(i)), j] = 1
    order[np.arange(len(i)), i] -= 1
    within = np.vstack([order, sample.is_ood[None] * 1.0])
    room = np.append(np.zeros(len(i)), max_fpr * sample.is_ood.sum())
    wanted = min_tpr * is_id.sum()
    return linprog(
        sample.losses * is_id / wanted,
        A_ub=within,
        b_ub=room,
        A_eq=[is_id * 1.0],
        b_eq=[wanted],
        bounds=(0, 1),
        method="highs",
    )


@pytest.mark.parametrize("seed", range(6))
def test_no_rule_between_the_axes_beats_the_monotone_program(seed):
    sample = noisy_sample(40, seed, ties=seed % 2 == 0)
    bound = monotone_bound(sample, 0.6, 0.5)
    rule = tune(sample, {"min_tpr": 0.6, "max_fpr": 0.5})
    # The program is about directions that do not turn the risk around.
    assert rule.risk_weight >= 0
    assert bound.status == 0
    assert rule.selective_risk >= bound.fun - 1e-9


@pytest.mark.parametrize("n", [1500, pytest.param(20_000, marks=pytest.mark.slow)])
def test_many_equal_samples(n, monkeypatch):
    monkeypatch.setattr(_tune_double, "_MOST_FOR_EXACT", n // 2)
    sample = noisy_sample(n, 0)
    sample.risk[:] = np.round(sample.risk, 1)
    sample.novelty[:] = np.round(sample.novelty)
    for model in THREE_MODELS:
        model = model | {"max_fpr": 0.5} if "max_fpr" in model else model
        prices = [
            achieved(tune(sample, model, method=method), model, sample)[0]
            for method in ("exact", "auto", "grid")
        ]
        assert prices[0] <= prices[1] + 1e-12 <= prices[2] + 2e-12


@pytest.mark.parametrize("shift", [0.0, 1e6])
def test_scores_of_any_units(shift):
    sample = noisy_sample(60, 4)
    model = {"min_tpr": 0.6, "max_fpr": 0.5}
    base = tune(sample, model)
    far = Sample(1e-9 * sample.risk, 1e9 * (sample.novelty + shift), *sample.double[2:])
    rule = tune(far, model)
    assert rule.selective_risk == pytest.approx(base.selective_risk)
    heavy = Sample(sample.risk, np.exp(20 * sample.novelty), *sample.double[2:])
    assert tune(heavy, model).fpr <= 0.5 + 1e-12


@pytest.mark.parametrize("method", ["exact", "grid"])
@pytest.mark.parametrize(
    "power",
    [
        -330,
        pytest.param(-360, marks=pytest.mark.slow),
        pytest.param(-500, marks=pytest.mark.slow),
        -800,
    ],
)
def test_risks_next_to_zero_are_told_apart_as_others_are(power, method):
    sample = noisy_sample(60, 4)
    model = {"min_tpr": 0.6, "max_fpr": 0.3, "method": method}
    base = tune(sample, model)
    assert base.novelty_weight > 0
    sure = replace(sample, risk=2.0**power * sample.risk)
    rule = tune(sure, model)
    for name in ("tpr", "fpr", "selective_risk"):
        assert getattr(rule, name) == pytest.approx(getattr(base, name))
    assert rule.risk_weight == 1
    curves = [
        roc_frontier(np.column_stack([s.risk, s.novelty]), s.is_ood)
        for s in (sample, sure)
    ]
    for expected, found in zip(*curves, strict=True):
        np.testing.assert_allclose(found, expected)


@pytest.mark.parametrize(
    ("risk", "novelty", "name"),
    [
        ([0.0, 1e-270], [1, 2], "uncertainty_scores"),
        ([1.0, 1e200], [1, 2], "uncertainty_scores"),
        ([1.0, 2.0], [1, -1e150], "novelty_scores"),
        ([1.0, 2.0], [1e-150, 2e-150], "novelty_scores"),
    ],
)
def test_extreme_scores_are_refused(risk, novelty, name):
    with pytest.raises(ValueError, match=rf"{name} hold finite values .* Rescale"):
        tune_double_score(risk, novelty, [0, 1], [0, 0], min_tpr=0.5)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "fast"}, "method must be one of"),
        ({"randomize": "yes"}, "randomize must be one of"),
        ({"n_directions": 1}, "n_directions must be at least 2"),
        ({"n_directions": 2.5}, "n_directions must be a positive int"),
        ({"uncertainty_scores": [1, np.nan]}, "uncertainty_scores must be finite"),
        ({"uncertainty_scores": [1, INF]}, "uncertainty_scores must be finite"),
        ({"novelty_scores": [1, np.nan]}, "novelty_scores must be finite"),
        ({"novelty_scores": [1]}, "novelty_scores has 1 elements"),
        ({"losses": [0]}, "losses has 1 elements"),
        ({"losses": [0, -1]}, "losses must be non-negative"),
        ({"is_ood": [1, 1]}, "At least one ID sample"),
        ({"sample_weight": [0, 0]}, "sample_weight is zero"),
    ],
)
def test_bad_arguments(options, message):
    arguments = {
        "uncertainty_scores": [1, 2],
        "novelty_scores": [1, 2],
        "losses": [0, 1],
        "is_ood": [0, 0],
        "min_tpr": 0.5,
    } | options
    with pytest.raises(ValueError, match=message):
        tune_double_score(**arguments)


def test_arguments_are_left_as_they_are():
    sample = noisy_sample(60, 0, infinite=True)
    sample.weight = np.random.default_rng(0).random(60)
    kept = [column.copy() for column in (*sample.double, sample.weight)]
    for model in THREE_MODELS:
        tune(sample, model)
    for column, copy in zip((*sample.double, sample.weight), kept, strict=True):
        np.testing.assert_array_equal(column, copy)


@pytest.mark.parametrize("method", ["exact", "grid"])
def test_samples_of_no_weight_do_not_keep_the_threshold_finite(method):
    rule = tune_double_score(
        [0.1, 0.3, 0.9],
        [0.1, 0.2, 0.9],
        [0, 1, 0],
        [False] * 3,
        min_tpr=1.0,
        sample_weight=[1, 1, 0],
        method=method,
    )
    assert rule.threshold == np.inf


@pytest.mark.parametrize("method", ["exact", "grid"])
@pytest.mark.parametrize("n_directions", [31, 361])
def test_rounding_does_not_order_samples_on_a_line(method, n_directions):
    rng = np.random.default_rng(0)
    risk = rng.random(300)
    losses, is_ood = (rng.random(300) < 0.5).astype(float), rng.random(300) < 0.25
    options = {"min_tpr": 0.3, "max_fpr": 0.8}
    rule = tune_double_score(
        risk,
        0.3 * risk + 0.1,
        losses,
        is_ood,
        method=method,
        n_directions=n_directions,
        **options,
    )
    single = tune_single_score(risk, losses, is_ood, **options)
    assert rule.selective_risk == pytest.approx(single.selective_risk)


@pytest.mark.parametrize("method", ["exact", "grid"])
@pytest.mark.parametrize("weighted", [False, True])
def test_repeated_points_count_as_one(method, weighted):
    rng = np.random.default_rng(1)
    risk, novelty = rng.integers(0, 6, (2, 800)) / 5.0
    losses, is_ood = (rng.random(800) < risk).astype(float), rng.random(800) < 0.3
    weight = rng.integers(0, 4, 800).astype(float) if weighted else None
    sample = risk, novelty, losses, is_ood
    options = {"min_tpr": 0.5, "max_fpr": 0.7, "sample_weight": weight}
    rule = tune_double_score(*sample, method=method, **options)
    # Rows so far apart that none is repeated, but in an order that nearly is the same.
    shift = 1e-7 * np.arange(800)
    apart = tune_double_score(
        risk + shift, novelty, losses, is_ood, method=method, **options
    )
    assert apart.selective_risk <= rule.selective_risk + 1e-9
    measured = rule.measure(*sample, sample_weight=weight)
    assert measured == rule


@pytest.mark.parametrize(
    "method", ["exact", pytest.param("grid", marks=pytest.mark.slow)]
)
def test_equal_losses_leave_the_largest_tpr(method):
    rng = np.random.default_rng(2)
    risk, novelty = rng.normal(size=(2, 150))
    is_ood = rng.random(150) < 0.3
    options = {"min_tpr": 0.2, "max_fpr": 0.5, "method": method}
    rules = [
        tune_double_score(risk, novelty, np.full(150, loss), is_ood, **options)
        for loss in (0.0, 0.7)
    ]
    assert rules[0].tpr == rules[1].tpr
    assert [rule.selective_risk for rule in rules] == pytest.approx([0, 0.7])
    options["min_tpr"] = 1.0
    with pytest.raises(InfeasibleTargetError) as info:
        tune_double_score(risk, novelty, np.ones(150), is_ood, **options)
    assert info.value.attainable["min_tpr"] == pytest.approx(rules[0].tpr)


@pytest.mark.parametrize("share", [1e-4, 1e-6, 1e-9])
@pytest.mark.parametrize("n_samples", [7, 60, 197])
def test_small_shares_of_a_large_group(share, n_samples):
    is_ood = np.arange(n_samples) < n_samples // 3 + 1
    rule = tune_single_score(
        np.zeros(n_samples),
        np.ones(n_samples),
        is_ood,
        min_tpr=share / 2,
        max_fpr=share,
    )
    assert rule.fpr == pytest.approx(share, rel=1e-9)
    assert rule.tpr == pytest.approx(share, rel=1e-9)


def test_sums_that_coincide_but_for_rounding_are_one():
    # At 45 degrees all of .1 + .2, .2 + .1 and .3 + 0 tie, but not in floats.
    risk = np.array([0.1, 0.2, 0.3, 0.0, 0.1])
    novelty = np.array([0.2, 0.1, 0.0, 0.1, 0.3])
    losses, is_ood = np.array([0.0, 1.0, 0.0, 0.0, 1.0]), np.zeros(5, dtype=bool)
    plane = _plane.make_plane(risk, novelty, losses, is_ood, np.ones(5))
    problem = OODProblem(loss_price=1.0, is_mean=True, min_id=2.0)
    raw = _plane.search_direction(plane, (1.0, 1.0), problem, None, False)
    assert raw.id_weight < 4
    cut = _plane.settle_direction(plane, (1.0, 1.0), problem, False)
    assert (cut.id_weight, cut.price) == (4.0, 0.25)
    # Where such a direction was the best, another one is looked for.
    directions = [(1.0, 0.0), (1.0, 1.0), (1.0, 2.0), (0.0, 1.0)]
    samples = _tune_double._Samples(risk, novelty, losses, is_ood, np.ones(5))
    best = _tune_double._settle(samples, raw, directions, problem, False)
    assert best.weights == (1.0, 2.0)
    assert (best.id_weight, best.price) == (2.0, 0.0)


def test_a_direction_that_accepts_nothing_stays_so():
    plane = _plane.make_plane(
        *np.array([[1.0, 2.0], [1.0, 2.0], [1.0, 1.0]]), np.zeros(2, bool), np.ones(2)
    )
    problem = OODProblem(loss_price=1.0, id_price=-0.5)
    cut = _plane.search_direction(plane, (1.0, 1.0), problem, None, False)
    settled = _plane.settle_direction(plane, (1.0, 1.0), problem, False)
    assert (settled.threshold, settled.id_weight) == (-INF, 0.0)
    assert cut is None or cut.price >= settled.price


def confident_sample(n, seed=0):
    """Draw a sample of a classifier that is sure of most of its predictions."""
    rng = np.random.default_rng(seed)
    is_ood = rng.random(n) < 0.3
    unsure = rng.random(n) < np.where(is_ood, 0.8, 0.045)
    risk = np.where(unsure, np.where(is_ood, 0.3, 0.6), 1e-4) * rng.random(n)
    losses = (rng.random(n) < risk) & ~is_ood
    return Sample(risk, rng.normal(size=n) + 1.5 * is_ood, losses * 1.0, is_ood)


def shaped_sample(shape, n=1500, seed=0):
    """Draw scores between 0 and 1 of a shape."""
    rng = np.random.default_rng(seed)
    sample = noisy_sample(n, seed)
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
        scores = (scores - scores.min()) / np.ptp(scores)
        setattr(sample, name, 0.01 + 0.99 * scores)
    return sample


SHAPES = ["confident", "heavy tails", "separable", "discrete", "poor", "ordinary"]
POWERS = [
    (1.0, 1.0),
    (0.01, 1.0),
    (1.0, 20.0),
    (30.0, 0.1),
    (1e-6, 1e6),
    (1e6, 1.0),
]


def of_powers(sample, powers, factors=(1.0, 1.0)):
    """Return the sample with scores raised to powers and in other units."""
    scores = [
        factor * score**power
        for score, power, factor in zip(sample.double[:2], powers, factors, strict=True)
    ]
    return Sample(*scores, *sample.double[2:])


def assert_near_exact(sample, model, **options):
    rules = [
        tune(sample, model, method=method, n_directions=181, **options)
        for method in ("exact", "auto")
    ]
    assert (rules[0] is None) == (rules[1] is None)
    if rules[0] is not None:
        exact, found = (achieved(rule, model, sample)[0] for rule in rules)
        assert exact - 1e-12 <= found <= exact * (1 + 1e-2) + 1e-12


@pytest.mark.parametrize(
    ("shape", "powers"),
    [
        # The fast suite has each shape and each power once.
        pytest.param(shape, powers, marks=[pytest.mark.slow] * ((i + j) % 6 != 2))
        for i, shape in enumerate(SHAPES)
        for j, powers in enumerate(POWERS)
    ],
)
def test_large_samples_lose_next_to_nothing(shape, powers):
    number = SHAPES.index(shape) + POWERS.index(powers)
    sample = of_powers(shaped_sample(shape), powers, (1e-6, 1e6))
    model = [{"min_tpr": 0.6, "max_fpr": 0.5}, *THREE_MODELS[1:]][number % 3]
    assert_near_exact(sample, model)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("powers", POWERS)
@pytest.mark.parametrize("shape", SHAPES)
def test_large_samples_of_all_shapes_and_models(shape, powers, seed):
    sample = of_powers(shaped_sample(shape, 2500, seed), powers)
    for model in [*THREE_MODELS, {"min_tpr": 0.97, "max_fpr": 0.62}]:
        assert_near_exact(sample, model)


def test_confident_classifiers_find_the_rule_that_there_is(monkeypatch):
    sample = confident_sample(20_000)
    bounds = {"min_tpr": 0.97, "max_fpr": 0.62}
    rule = tune_double_score(*sample.double, **bounds)
    assert rule.selective_risk < 0.0026
    assert rule.fpr <= 0.62
    # The grid alone, and a search that may look at nothing, find one, too.
    assert tune(sample, bounds, method="grid", n_directions=181).tpr >= 0.97 - 1e-12
    monkeypatch.setattr(_tune_double, "_BUDGET", (0, 0, 0, 0))
    assert tune(sample, bounds, n_directions=2).fpr <= 0.62


def test_what_is_attainable_is_what_the_exact_search_attains():
    sample = confident_sample(4000)
    attainable = []
    for method in ("auto", "exact"):
        with pytest.raises(InfeasibleTargetError) as info:
            tune_double_score(*sample.double, min_tpr=0.97, max_fpr=0.4, method=method)
        attainable.append(info.value.attainable)
    assert attainable[0] == pytest.approx(attainable[1], rel=1e-12)
    least = attainable[0]["max_fpr"]
    rule = tune_double_score(*sample.double, min_tpr=0.97, max_fpr=least)
    assert rule.fpr == pytest.approx(least)
    with pytest.raises(InfeasibleTargetError):
        tune_double_score(*sample.double, min_tpr=0.97, max_fpr=least * 0.999)


@pytest.mark.parametrize(
    "method", [pytest.param("auto", marks=pytest.mark.slow), "exact", "grid"]
)
def test_reversed_risk_is_asked_for_and_told(method):
    rng = np.random.default_rng(0)
    is_ood = rng.random(300) < 0.3
    risk, novelty = rng.random(300), rng.normal(size=300) + is_ood
    losses = (risk < 0.2) * 1.0  # the wrong way round
    sample = risk, novelty, losses, is_ood
    options = {"min_tpr": 0.5, "max_fpr": 0.6, "method": method}
    rule = tune_double_score(*sample, **options)
    assert rule.risk_weight >= 0
    with pytest.warns(RejectionWarning, match=r"HIGH risk .* allow_reversed=False"):
        other = tune_double_score(*sample, allow_reversed=True, **options)
    assert other.risk_weight == -1
    assert other.selective_risk < rule.selective_risk
    # Where it gains nothing it is not taken.
    rule = tune_double_score(
        risk, novelty, losses, np.zeros(300), min_tpr=1.0, allow_reversed=True
    )
    assert rule.risk_weight == 1


def awkward_samples():
    """Yield samples whose sums cancel, or are rounded at more than they differ by."""
    for seed in range(8):
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


@pytest.mark.parametrize(
    "method", [pytest.param("exact", marks=pytest.mark.slow), "grid"]
)
@pytest.mark.parametrize(
    "randomize", [True, pytest.param(False, marks=pytest.mark.slow)]
)
def test_bounds_hold_for_the_samples_as_they_are(method, randomize):
    options = {"method": method, "randomize": randomize}
    n_found = 0
    for sample in awkward_samples():
        rule = tune(sample, {"min_tpr": 0.4, "max_fpr": 0.5}, **options)
        if rule is not None:
            n_found += 1
            again = rule.measure(*sample.double)
            assert again.tpr >= 0.4 - 1e-12
            assert again.fpr <= 0.5 + 1e-12
            accepted = rule.accept_proba(sample.risk, sample.novelty)
            assert accepted[~sample.is_ood].mean() >= 0.4 - 1e-12
            assert accepted[sample.is_ood].mean() <= 0.5 + 1e-12
    assert n_found > 8


@pytest.mark.parametrize("ends", [(3.4e-174, 1e-173), (1e155, 1e156), (0.0, 1e-190)])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_arcs_of_any_size_are_cut_inside(ends, sign):
    # Scores of all magnitudes have such arcs, and a cut outside would never end.
    low, high = sorted(sign * end for end in ends)
    middle, parts = _sweep_exact.Arc("risk", low, high).halve(np.empty(0))
    assert low < middle < high
    assert [(part.low, part.high) for part in parts] == [(low, middle), (middle, high)]


@pytest.mark.parametrize(
    "sample",
    [
        confident_sample(1500),
        pytest.param(noisy_sample(1500, 1), marks=pytest.mark.slow),
    ],
)
def test_frontiers_never_contradict_the_grid(sample):
    scores = np.column_stack([sample.risk, sample.novelty])
    fpr, tpr = roc_frontier(scores, sample.is_ood, n_directions=61)
    for max_fpr in (0.1, 0.3, 0.62):
        largest = tpr[np.searchsorted(fpr, max_fpr + 1e-12) - 1]
        reached, risks = risk_coverage_frontier(
            scores, sample.losses, sample.is_ood, max_fpr=max_fpr, n_directions=61
        )
        for min_tpr in (0.5 * largest, 0.95 * largest, largest, largest + 1e-3):
            model = {"min_tpr": min_tpr, "max_fpr": max_fpr}
            options = {"method": "grid", "n_directions": 61, "randomize": False}
            rule = tune(sample, model, **options)
            assert (rule is None) == (min_tpr > largest)
            if rule is not None:
                point = np.searchsorted(reached, min_tpr - 1e-12)
                assert rule.selective_risk == pytest.approx(risks[point], abs=1e-14)
