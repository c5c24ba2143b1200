import numpy as np
import pytest
from scipy.stats import beta, binom

from sklearn_reject.selection import (
    DoubleScoreRule,
    InfeasibleTargetError,
    certify_double_score,
    rates_to_certify,
    solve_target_coverage,
    tune_double_score,
)
from sklearn_reject.selection._bounds import hoeffding_bentkus_p_values

RISK_ONLY = DoubleScoreRule(
    threshold=0.0, proba_at_threshold=1.0, risk_weight=1.0, novelty_weight=0.0
)
SUM = DoubleScoreRule(
    threshold=0.0, proba_at_threshold=1.0, risk_weight=1.0, novelty_weight=1.0
)


def sample(n=1000, seed=0, decimals=None):
    rng = np.random.default_rng(seed)
    is_ood = rng.random(n) < 0.3
    risk = rng.random(n)
    novelty = rng.random(n) + is_ood
    if decimals is not None:
        risk, novelty = risk.round(decimals), novelty.round(decimals)
    return risk, novelty, (rng.random(n) < risk / 4).astype(float), is_ood


def test_threshold_is_that_of_a_certified_coverage():
    risk, novelty, losses, is_ood = sample()
    rule = certify_double_score(
        RISK_ONLY, risk, novelty, losses, is_ood, min_tpr=0.6, confidence_level=0.8
    )
    # Without a bound on the FPR, half of the error each is left for TPR and risk.
    coverage = solve_target_coverage(
        risk[~is_ood], losses[~is_ood], 0.6, confidence_level=0.9, randomize=False
    )
    assert rule.threshold == coverage.threshold
    assert rule.certificate.n_accepted_id == coverage.certificate.n_accepted
    assert rule.certificate.max_fpr is None


def test_certificate_against_its_definition():
    risk, novelty, losses, is_ood = sample()
    rule = certify_double_score(
        SUM,
        risk,
        novelty,
        losses,
        is_ood,
        min_tpr=0.6,
        max_fpr=0.3,
        confidence_level=0.85,
    )
    delta = 0.15 / 3
    scores = risk + novelty
    of_id, of_ood = np.sort(scores[~is_ood]), scores[is_ood]
    rank = int(np.searchsorted(of_id, rule.threshold)) + 1
    assert of_id[rank - 1] == rule.threshold
    # The smallest rank whose TPR exceeds the bound with the probability wanted.
    assert beta.cdf(0.6, rank, len(of_id) + 1 - rank) <= delta
    assert beta.cdf(0.6, rank - 1, len(of_id) + 2 - rank) > delta
    accepted = (of_ood < rule.threshold).sum()
    assert rule.certificate.n_accepted_ood == accepted
    assert binom.cdf(accepted, len(of_ood), 0.3) <= delta
    below = (scores < rule.threshold) & ~is_ood
    errors = losses[below].sum()
    chance = binom.cdf(errors, below.sum(), rule.certificate.max_risk)
    assert chance == pytest.approx(delta, rel=1e-6)


def test_precision_is_certified_by_the_fpr_that_implies_it():
    arrays = sample()
    wanted = {"min_precision": 0.9, "min_recall": 0.6, "ood_prior": 0.2}
    rule = certify_double_score(SUM, *arrays, confidence_level=0.9, **wanted)
    fpr = 0.8 * 0.1 / (0.2 * 0.9) * 0.6
    assert rule.certificate.max_fpr == pytest.approx(fpr)
    assert rule.precision > 0.9 or np.isnan(rule.precision)


def test_real_losses_are_bounded_by_hoeffding_and_bentkus():
    risk, novelty, losses, is_ood = sample()
    losses = losses * risk * 3
    options = {"min_tpr": 0.6, "confidence_level": 0.8, "max_loss": 3.0}
    rule = certify_double_score(SUM, risk, novelty, losses, is_ood, **options)
    below = (risk + novelty < rule.threshold) & ~is_ood
    count, total = below.sum(), losses[below].sum() / 3
    p_value = hoeffding_bentkus_p_values(
        np.array([count]), np.array([total]), rule.certificate.max_risk / 3
    )
    assert p_value[0] == pytest.approx(0.1, rel=1e-6)
    with pytest.raises(ValueError, match="max_loss is needed"):
        certify_double_score(
            SUM, risk, novelty, losses, is_ood, min_tpr=0.6, confidence_level=0.8
        )


def test_ties_are_broken_by_noise():
    risk, novelty, losses, is_ood = sample(decimals=0)
    options = {"min_tpr": 0.55, "confidence_level": 0.9}
    rule = certify_double_score(
        RISK_ONLY, risk, novelty, losses, is_ood, random_state=0, **options
    )
    assert 0 < rule.proba_at_threshold < 1
    rank = rule.certificate.n_accepted_id
    # What is expected of the rule is about what the noise has accepted.
    assert rule.tpr == pytest.approx(rank / (~is_ood).sum(), abs=0.03)


@pytest.mark.parametrize("n_samples", [60, 300, 5000])
def test_rates_that_certify(n_samples):
    bounds = {"min_tpr": 0.5, "max_fpr": 0.5}
    likely, enough = rates_to_certify(n_samples, n_samples, 0.9, bounds)
    assert 0.5 < likely["min_tpr"] == enough["min_tpr"] <= 1
    n_accepted = round(enough["max_fpr"] * n_samples)
    assert binom.cdf(n_accepted, n_samples, 0.5) <= 0.1 / 3
    assert binom.cdf(n_accepted + 1, n_samples, 0.5) > 0.1 / 3
    power = binom.cdf(n_accepted, n_samples, likely["max_fpr"])
    assert power == pytest.approx(0.95)


@pytest.mark.parametrize(
    "seed",
    [*range(3), *(pytest.param(k, marks=pytest.mark.slow) for k in range(3, 10))],
)
def test_tuned_and_certified_on_separate_samples(seed):
    bounds = {"min_tpr": 0.5, "max_fpr": 0.2}
    tuning, calibration = sample(seed=seed), sample(seed=seed + 100)
    is_ood = calibration[-1]
    likely, _ = rates_to_certify((~is_ood).sum(), is_ood.sum(), 0.9, bounds)
    rule = tune_double_score(*tuning, **likely)
    certified = certify_double_score(rule, *calibration, confidence_level=0.9, **bounds)
    assert certified.mu == rule.mu
    assert certified.tpr > 0.5
    assert certified.fpr < 0.2


def test_minus_infinity_is_accepted_whatever_its_noise():
    risk, _, losses, is_ood = sample()
    novelty = np.where(risk < 0.8, -np.inf, 0.0)
    rule = certify_double_score(
        SUM, risk, novelty, losses, is_ood, min_tpr=0.5, confidence_level=0.9
    )
    assert rule.threshold == -np.inf
    assert rule.certificate.n_accepted_ood == (np.isinf(novelty) & is_ood).sum()
    assert rule.fpr == pytest.approx(np.isinf(novelty[is_ood]).mean())


def test_plus_infinity_cannot_be_accepted():
    risk, _, losses, is_ood = sample()
    novelty = np.where(risk < 0.5, np.inf, 0.0)
    with pytest.raises(InfeasibleTargetError, match="infinite novelty"):
        certify_double_score(
            SUM, risk, novelty, losses, is_ood, min_tpr=0.7, confidence_level=0.9
        )


def test_infeasible_says_what_can_be_certified():
    arrays = sample()
    bounds = {"min_tpr": 0.7, "max_fpr": 0.05}
    with pytest.raises(
        InfeasibleTargetError, match="smallest max_fpr that can"
    ) as info:
        certify_double_score(RISK_ONLY, *arrays, confidence_level=0.9, **bounds)
    attainable = info.value.attainable
    least = attainable["max_fpr"] + 1e-9
    certify_double_score(
        RISK_ONLY, *arrays, confidence_level=0.9, min_tpr=0.7, max_fpr=least
    )
    assert attainable["min_tpr"] < 0.7


@pytest.mark.parametrize(
    ("bounds", "message"),
    [
        ({"min_tpr": 0.999}, "ID samples cannot certify .* at least"),
        ({"min_tpr": 1.0}, "infinitely many are needed"),
        ({"min_tpr": 0.5, "max_fpr": 0.001}, "OOD samples cannot certify .* at least"),
        ({"min_tpr": 0.5, "max_fpr": 0.0}, "infinitely many are needed"),
    ],
)
def test_too_few_samples(bounds, message):
    with pytest.raises(InfeasibleTargetError, match=message):
        certify_double_score(SUM, *sample(), confidence_level=0.9, **bounds)
    with pytest.raises(InfeasibleTargetError, match=message):
        rates_to_certify(700, 300, 0.9, bounds)


@pytest.mark.parametrize("share", [0.5, 0.9])
def test_as_many_samples_as_the_error_says_are_enough(share):
    with pytest.raises(InfeasibleTargetError) as info:
        rates_to_certify(1, 1, 0.9, {"min_tpr": share})
    needed = int(str(info.value).split("at least ")[1].split()[0])
    assert rates_to_certify(needed, 0, 0.9, {"min_tpr": share})[0]["min_tpr"] == 1
    with pytest.raises(InfeasibleTargetError):
        rates_to_certify(needed - 1, 0, 0.9, {"min_tpr": share})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"confidence_level": 1.0}, r"confidence_level must be a number in \]0, 1\["),
        ({"bound": "betting"}, "bound must be one of"),
        ({"max_loss": 0.5}, "losses holds 1, above max_loss=0.5"),
        ({"max_fpr": 0.5, "min_tpr": None}, "max_fpr=0.5 needs min_tpr"),
    ],
)
def test_invalid_arguments(options, message):
    options = {"min_tpr": 0.5, "confidence_level": 0.9, **options}
    with pytest.raises(ValueError, match=message):
        certify_double_score(SUM, *sample(), **options)


def test_rows_equal_in_score_and_draw_are_accepted_together():
    draws = np.repeat([0.1, 0.3, 0.5, 0.7, 0.9], 40)
    zeros, losses = np.zeros(200), np.tile([0.0, 0, 0, 1], 50)
    options = {"min_tpr": 0.5, "confidence_level": 0.8, "draws": draws}
    rule = certify_double_score(RISK_ONLY, zeros, zeros, losses, zeros, **options)
    assert rule.certificate.n_accepted_id == 120
    assert rule.accept(zeros, zeros, draws=draws).sum() == 120
    # A quarter of any of them is wrong, and what ties is bounded, too.
    assert 0.25 < rule.certificate.max_risk < 0.6
    few = draws + np.arange(200) * 2.0**-20
    few[118:120] = few[110]
    options["draws"] = few
    single = certify_double_score(RISK_ONLY, zeros, zeros, losses, zeros, **options)
    assert 0.25 < single.certificate.max_risk < rule.certificate.max_risk


def test_largest_loss_of_zero_is_refused():
    scores, zeros = np.arange(40.0), np.zeros(40)
    with pytest.raises(ValueError, match=r"max_loss must be in \]0, inf\[, got 0"):
        certify_double_score(
            SUM,
            scores,
            scores,
            zeros,
            zeros,
            min_tpr=0.5,
            confidence_level=0.9,
            max_loss=0,
        )


def test_infeasible_names_the_largest_tpr():
    for seed in range(6):
        arrays, bounds = sample(200, seed), {"max_fpr": 0.3, "confidence_level": 0.8}
        with pytest.raises(
            InfeasibleTargetError, match=r"Together with max_fpr=0.3"
        ) as info:
            certify_double_score(RISK_ONLY, *arrays, min_tpr=0.95, **bounds)
        most = info.value.attainable["min_tpr"]
        certify_double_score(RISK_ONLY, *arrays, min_tpr=most, **bounds)
        with pytest.raises(InfeasibleTargetError, match=r"Together with max_fpr=0.3"):
            certify_double_score(
                RISK_ONLY, *arrays, min_tpr=most * (1 + 2e-9), **bounds
            )
