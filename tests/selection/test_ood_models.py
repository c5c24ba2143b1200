"""Rules of the models with OOD samples beyond a bounded FPR, for one and two scores.

That is the least FPR at a bounded risk, the least FPR at nearly the least risk, and all
models where a wild mixture stands for the OOD samples.
"""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sklearn_reject.selection import (
    InfeasibleTargetError,
    SingleScoreRule,
    _two_scores,
    tune_double_score,
    tune_single_score,
)
from tests.selection.ood_oracle import (
    MODELS,
    achieved,
    all_scores,
    best_in_order,
    noisy_sample,
    of_nearly_least_risk,
    ood_samples,
)

BOUNDED = MODELS.filter(lambda model: "costs" not in model and "max_risk" not in model)
TOLERANCES = st.sampled_from([2.0**-6, 0.125, 0.25, 2.0])
WILD_SHARES = st.sampled_from([0.25, 0.5, 0.75])
NEEDY = [
    ({"min_tpr": 0.5, "max_fpr": 0.5}, "max_fpr=0.5 needs OOD .* max_fpr=None"),
    (
        {"min_tpr": 0.5, "max_risk": 1},
        r"max_risk=1 needs .*SelectiveClassifier\(target_risk",
    ),
    (
        {"min_recall": 0.5, "min_precision": 0.5, "ood_prior": 0.1},
        "min_precision=0.5 needs OOD samples.* ood_prior=0",
    ),
    ({"costs": (1, 2, 1), "ood_prior": 0.1}, "costs needs OOD samples.* ood_prior=0"),
]


def tune_one(sample, **options):
    return tune_single_score(*sample.single, sample_weight=sample.weight, **options)


def tune_two(sample, **options):
    options = {"method": "exact", "n_directions": 5, **options}
    return tune_double_score(*sample.double, sample_weight=sample.weight, **options)


def orders(tune, sample):
    """Return the orders that a function compares, as scores of risk and novelty."""
    if tune is tune_one:
        return [lambda risk, novelty: novelty]
    return list(all_scores(list(sample.rows()), allow_reversed=False))


def best_by_brute_force(tune, sample, model, randomize):
    rows, totals = list(sample.rows()), sample.totals()
    found = [
        best_in_order(rows, score, model, totals, randomize)
        for score in orders(tune, sample)
    ]
    return min((f for f in found if f is not None), default=None)


def assert_best(tune, sample, model, randomize, asked):
    """Assert that what is asked for leads to the best rule of the model."""
    expected = best_by_brute_force(tune, sample, model, randomize)
    try:
        rule = tune(sample, randomize=randomize, **asked)
    except InfeasibleTargetError:
        assert expected is None
        return
    assert expected is not None
    found = achieved(rule, model, sample)
    np.testing.assert_allclose(found, [float(x) for x in expected], atol=1e-9)


@pytest.mark.parametrize("tune", [tune_one, tune_two])
@given(ood_samples(max_size=8), MODELS, WILD_SHARES, st.booleans())
def test_rules_of_wild_samples_in_exact_arithmetic(
    tune, sample, model, share, randomize
):
    model = model | {"wild_share": share}
    assert_best(tune, sample, model, randomize, model)


@pytest.mark.parametrize("tune", [tune_one, tune_two])
@given(
    ood_samples(max_size=8),
    BOUNDED,
    st.one_of(st.none(), WILD_SHARES),
    TOLERANCES,
    st.booleans(),
)
def test_least_fpr_of_nearly_least_risk_in_exact_arithmetic(
    tune, sample, model, share, tolerance, randomize
):
    model = model | {"wild_share": share}
    least = best_by_brute_force(tune, sample, model, randomize)
    asked = model | {"risk_tolerance": tolerance}
    if least is None:
        with pytest.raises(InfeasibleTargetError):
            tune(sample, randomize=randomize, **asked)
        return
    nearly = of_nearly_least_risk(model, least[0], tolerance)
    assert_best(tune, sample, nearly, randomize, asked)


@given(ood_samples(max_size=12), MODELS, st.booleans())
def test_a_wild_share_of_one_is_none(sample, model, randomize):
    try:
        rule = tune_one(sample, randomize=randomize, **model)
    except InfeasibleTargetError as error:
        with pytest.raises(InfeasibleTargetError, match=re.escape(str(error))):
            tune_one(sample, randomize=randomize, wild_share=1, **model)
    else:
        again = tune_one(sample, randomize=randomize, wild_share=1, **model)
        np.testing.assert_equal(vars(again), vars(rule))


@pytest.mark.parametrize("tune", [tune_one, tune_two])
@pytest.mark.parametrize(("model", "message"), NEEDY)
@pytest.mark.parametrize("weighted", [False, True])
def test_what_needs_ood_samples_is_refused_without(tune, model, message, weighted):
    sample = noisy_sample(20, 0)
    if weighted:
        sample.weight = 1.0 - sample.is_ood
    else:
        sample.is_ood[:] = False
    with pytest.raises(ValueError, match=message):
        tune(sample, **model)


@pytest.mark.parametrize("tune", [tune_one, tune_two])
def test_without_ood_samples_the_fpr_is_unknown(tune):
    sample = noisy_sample(20, 0)
    sample.is_ood[:] = False
    rule = tune(sample, min_tpr=0.5, risk_tolerance="standard_error")
    assert np.isnan([rule.fpr, rule.precision]).all()
    rule = tune(sample, min_tpr=0.5, ood_prior=0.25, max_fpr=1.0)
    assert np.isnan([rule.fpr, rule.precision]).all()
    for model in (
        {"min_recall": 0.5, "min_precision": 0.9, "ood_prior": 0},
        {"costs": (0.3, 1, 0), "ood_prior": 0},
    ):
        rule = tune(sample, **model)
        assert np.isnan(rule.fpr)
        assert rule.precision == 1


def test_precision_without_ood_samples_in_use_is_one_whatever_is_accepted():
    rule = SingleScoreRule(threshold=0.5, proba_at_threshold=1, ood_prior=0.0)
    assert rule.measure([0, 1], [0, 0], [0, 0]).precision == 1
    assert rule.measure([0, 0], [0, 0], [0, 1]).precision == 1
    assert np.isnan(rule.measure([1, 0], [0, 0], [0, 1]).precision)


@pytest.mark.parametrize(
    ("model", "what"),
    [
        ({"min_tpr": 0.5, "max_risk": 0.5}, "max_risk"),
        ({"costs": (0.3, 1, 0), "ood_prior": 0.2}, "costs"),
    ],
)
@pytest.mark.parametrize("tune", [tune_one, tune_two])
def test_a_tolerance_needs_a_least_risk(tune, model, what):
    sample = noisy_sample(30, 0)
    with pytest.raises(ValueError, match=f"0.1 has no meaning with {what}"):
        tune(sample, risk_tolerance=0.1, **model)
    rule = tune(sample, risk_tolerance="standard_error", **model)
    assert rule == tune(sample, **model)


@pytest.mark.parametrize("tune", [tune_one, tune_two])
@pytest.mark.parametrize("weighted", [False, True])
def test_standard_error_is_that_of_the_accepted_id_samples(tune, weighted):
    sample = noisy_sample(120, 3)
    if weighted:
        sample.weight = np.random.default_rng(0).integers(1, 4, 120) / 2
    bounds = {"min_tpr": 0.6, "max_fpr": 0.8, "randomize": False}
    least = tune(sample, **bounds)
    scores = sample.double[:2] if tune is tune_two else sample.single[:1]
    accepted = least.accept(*scores) & ~sample.is_ood
    losses = sample.losses[accepted]
    weight = np.ones(120) if sample.weight is None else sample.weight
    weight = weight[accepted]
    n_effective = weight.sum() ** 2 / (weight**2).sum()
    variance = np.average((losses - least.selective_risk) ** 2, weights=weight)
    error = np.sqrt(variance / n_effective)
    rule = tune(sample, risk_tolerance="standard_error", **bounds)
    assert rule == tune(sample, risk_tolerance=error, **bounds)
    assert rule.selective_risk <= least.selective_risk + error * (1 + 1e-9)
    assert rule.fpr <= least.fpr
    # Units of the weights do not matter.
    sample.weight = 1e-9 * (np.ones(120) if sample.weight is None else sample.weight)
    again = tune(sample, risk_tolerance="standard_error", **bounds)
    assert again.threshold == rule.threshold


def test_slack_in_the_fpr_is_not_spent_on_three_errors():
    # ID samples of low novelty, then OOD samples, then ID samples without an error.
    scores = np.arange(300)
    is_ood = (scores >= 160) & (scores < 240)
    losses = (scores < 160) & (scores % 50 == 0)
    bounds = {"min_tpr": 0.7, "max_fpr": 1.0}
    rule = tune_single_score(scores, losses, is_ood, **bounds)
    assert (rule.tpr, rule.fpr) == (1, 1)
    options = bounds | {"risk_tolerance": "standard_error"}
    rule = tune_single_score(scores, losses, is_ood, **options)
    assert rule.fpr == 0
    assert rule.tpr == pytest.approx(160 / 220)


def test_search_beyond_the_exact_size_never_leaves_more_ood(monkeypatch):
    monkeypatch.setattr(_two_scores, "_MOST_FOR_EXACT", 50)
    for seed in range(4):
        sample = noisy_sample(200, seed)
        bounds = {"min_tpr": 0.6, "max_fpr": 0.7, "method": "auto"}
        least = tune_two(sample, **bounds)
        for tolerance in (1e-9, 0.01):
            rule = tune_two(sample, risk_tolerance=tolerance, **bounds)
            assert rule.fpr <= least.fpr
            assert rule.selective_risk <= least.selective_risk + tolerance + 1e-12


def test_infeasible_risk_names_what_can_be_had():
    arrays = range(6), [0, 1, 0, 1, 0, 0], [0, 0, 0, 0, 0, 1]
    bounds = {"min_tpr": 0.9, "max_risk": 0.35}
    with pytest.raises(InfeasibleTargetError) as info:
        tune_single_score(*arrays, **bounds, randomize=False)
    assert str(info.value) == (
        "No rule attains min_tpr=0.9 and max_risk=0.35 on these samples: the largest "
        "TPR at max_risk=0.35 is 0.6, the smallest risk at min_tpr=0.9 is 0.4. Relax "
        "one of the bounds up to this value, or use scores that separate ID from OOD "
        "samples better."
    )
    assert info.value.attainable == {"min_tpr": 0.6, "max_risk": 0.4}
    for relaxed in ({"min_tpr": 0.6}, {"max_risk": 0.4}):
        tune_single_score(*arrays, **bounds | relaxed, randomize=False)


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2))]
)
def test_wild_samples_lead_to_the_rule_of_labeled_ones(seed):
    rng = np.random.default_rng(seed)
    n, share = 40_000, 0.4
    is_wild = rng.random(n) < 0.5
    is_ood = is_wild & (rng.random(n) < share)
    risk = rng.beta(1, 3, n)
    novelty = rng.normal(size=n) + 2 * is_ood
    losses = (rng.random(n) < risk) * 1.0
    bounds = {"min_tpr": 0.7, "max_fpr": 0.1, "method": "grid", "n_directions": 121}
    wild = tune_double_score(risk, novelty, losses, is_wild, wild_share=share, **bounds)
    labeled = ~is_wild | is_ood
    sample = [column[labeled] for column in (risk, novelty, losses, is_ood)]
    measured = wild.measure(*sample)
    assert measured.fpr == pytest.approx(0.1, abs=0.02)
    assert measured.tpr == pytest.approx(0.7, abs=0.01)
    # With labels there is no better rule of this FPR but for what chance adds.
    known = tune_double_score(*sample, **bounds | {"max_fpr": measured.fpr})
    assert measured.selective_risk == pytest.approx(known.selective_risk, abs=0.003)
    # As if they were OOD, no rule of that TPR would have so small an FPR.
    with pytest.raises(InfeasibleTargetError):
        tune_double_score(risk, novelty, losses, is_wild, **bounds)


def test_wild_fpr_by_hand():
    rule = SingleScoreRule(threshold=1.5, proba_at_threshold=1.0, ood_prior=0.25)
    # Half of the ID and three of four wild samples are accepted.
    sample = [0, 2, 0, 1, 1, 3], [1, 0, 0, 0, 0, 0], [0, 0, 1, 1, 1, 1]
    measured = rule.measure(*sample, wild_share=0.8)
    assert measured.fpr == pytest.approx((0.75 - 0.2 * 0.5) / 0.8)
    assert measured.selective_risk == 1
    none = rule.measure([0, 2, 2, 3], [0] * 4, [0, 0, 1, 1], wild_share=0.5)
    assert none.fpr == -0.5
    assert none.precision == 1
    with pytest.raises(ValueError, match=r"wild_share must be in \]0, 1\]"):
        rule.measure(*sample, wild_share=1.5)


def test_tolerance_is_in_units_of_the_loss():
    sample = noisy_sample(100, 5)
    bounds = {"min_tpr": 0.5, "max_fpr": 0.8}
    rule = tune_one(sample, risk_tolerance=0.02, **bounds)
    sample.losses *= 100
    again = tune_one(sample, risk_tolerance=2.0, **bounds)
    assert (again.threshold, again.fpr) == (rule.threshold, rule.fpr)
    assert again.selective_risk == pytest.approx(100 * rule.selective_risk)
