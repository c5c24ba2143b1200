"""Certificates of a bounded risk, of a precision, and from a wild mixture."""

import re

import numpy as np
import pytest
from scipy.stats import beta, binom

from sklearn_reject.selection import (
    DoubleScoreRule,
    InfeasibleTargetError,
    certify_double_score,
    rates_to_certify,
    tune_double_score,
)

SUM = DoubleScoreRule(
    threshold=0.0, proba_at_threshold=1.0, risk_weight=1.0, novelty_weight=1.0
)


def draw(n=1000, seed=0, shift=1.0, decimals=None):
    rng = np.random.default_rng(seed)
    is_ood = rng.random(n) < 0.3
    risk = rng.random(n)
    novelty = rng.random(n) + shift * is_ood
    if decimals is not None:
        risk, novelty = risk.round(decimals), novelty.round(decimals)
    return risk, novelty, (rng.random(n) < risk / 4).astype(float), is_ood


def sums_at(rule, sample):
    """Return ID and flagged samples accepted, and the losses strictly below."""
    risk, novelty, losses, is_ood = sample
    scores = risk + novelty
    accepted = scores <= rule.threshold
    below = (scores < rule.threshold) & ~is_ood
    return (accepted & ~is_ood).sum(), (accepted & is_ood).sum(), losses[below]


def upper(count, n_samples, delta):
    """Return the largest share under which so few are not too unlikely."""
    shares = np.linspace(0, 1, 100_001)
    return shares[binom.cdf(count, n_samples, shares) > delta].max()


def test_a_bounded_risk_is_certified_and_the_fpr_found():
    sample = draw()
    options = {"confidence_level": 0.85, "min_tpr": 0.6, "max_risk": 0.2}
    rule = certify_double_score(SUM, *sample, **options)
    n_ood, delta = sample[-1].sum(), 0.15 / 3
    n_accepted_id, n_accepted_ood, losses = sums_at(rule, sample)
    certificate = rule.certificate
    assert (certificate.n_accepted_id, certificate.n_accepted_ood) == (
        n_accepted_id,
        n_accepted_ood,
    )
    assert beta.cdf(0.6, n_accepted_id, (~sample[-1]).sum() + 1 - n_accepted_id) <= (
        delta
    )
    assert certificate.max_fpr == pytest.approx(
        upper(n_accepted_ood, n_ood, delta), abs=1e-4
    )
    bound = upper(losses.sum(), len(losses), delta)
    assert certificate.max_risk == pytest.approx(bound, abs=1e-4)
    assert certificate.max_risk <= 0.2


@pytest.mark.parametrize("decimals", [None, 1])
@pytest.mark.parametrize("max_loss", [1.0, 3.0])
def test_a_risk_that_cannot_be_certified_says_what_can(decimals, max_loss):
    options = {"confidence_level": 0.9, "max_loss": max_loss, "random_state": 0}
    for seed in range(4):
        risk, novelty, losses, is_ood = draw(2000, seed, decimals=decimals)
        sample = risk, novelty, losses * max_loss, is_ood
        bounds = {"min_tpr": 0.8, "max_risk": 0.1 * max_loss}
        with pytest.raises(
            InfeasibleTargetError, match=r"max_risk=.* min_tpr=0\.8:"
        ) as e:
            certify_double_score(SUM, *sample, **bounds, **options)
        numbers = [float(x) for x in re.findall(r" is (\d\.\d+)\. ", str(e.value))]
        relaxed = e.value.attainable
        assert set(relaxed) == {"min_tpr", "max_risk"}
        for risk_bound in (relaxed["max_risk"], numbers[0]):
            changed = bounds | {"max_risk": risk_bound}
            rule = certify_double_score(SUM, *sample, **changed, **options)
            assert rule.certificate.max_risk <= risk_bound
        for min_tpr in (relaxed["min_tpr"], numbers[1]):
            changed = bounds | {"min_tpr": min_tpr}
            rule = certify_double_score(SUM, *sample, **changed, **options)
            assert rule.certificate.max_risk <= bounds["max_risk"]


def test_a_tpr_of_zero_is_never_suggested():
    rng = np.random.default_rng(0)
    # All OOD samples come first: at no TPR is the FPR small.
    novelty = np.append(rng.random(300) + 2, rng.random(300))
    is_ood = np.arange(600) >= 300
    sample = np.zeros(600), novelty, np.zeros(600), is_ood
    for bounds, way_out in (
        ({"min_tpr": 0.5, "max_fpr": 0.2}, "Relax max_fpr up to"),
        (
            {"min_recall": 0.5, "min_precision": 0.9, "ood_prior": 0.3},
            "Relax min_precision up to",
        ),
    ):
        with pytest.raises(InfeasibleTargetError, match=way_out) as info:
            certify_double_score(SUM, *sample, confidence_level=0.9, **bounds)
        assert not info.value.attainable.keys() & {"min_tpr", "min_recall"}
        assert re.search("No min_(tpr|recall) can be certified", str(info.value))
    losses = np.ones(600)
    with pytest.raises(InfeasibleTargetError, match="Relax max_risk up to") as info:
        certify_double_score(
            SUM,
            *sample[:2],
            losses,
            is_ood,
            confidence_level=0.9,
            min_tpr=0.5,
            max_risk=0.5,
        )
    assert info.value.attainable["max_risk"] == pytest.approx(1)


@pytest.mark.parametrize("seed", range(4))
def test_an_infeasible_precision_is_told_in_terms_of_precision(seed):
    sample = draw(600, seed, shift=0.7)
    bounds = {"min_recall": 0.8, "min_precision": 0.9, "ood_prior": 0.3}
    options = {"confidence_level": 0.8}
    message = (
        r"min_precision=0.9 cannot be certified together with min_recall=0.8: \d+ of"
    )
    with pytest.raises(InfeasibleTargetError, match=message) as info:
        certify_double_score(SUM, *sample, **options, **bounds)
    assert not re.search("TPR|FPR|tpr|fpr", str(info.value))
    numbers = [float(x) for x in re.findall(r" is (\d\.\d+)\. ", str(info.value))]
    relaxed = info.value.attainable
    assert list(relaxed) == ["min_recall", "min_precision"]
    for value in (relaxed["min_precision"], numbers[0]):
        changed = bounds | {"min_precision": value}
        certify_double_score(SUM, *sample, **options, **changed)
    # And not much more than that.
    changed["min_precision"] = relaxed["min_precision"] + 1e-6
    with pytest.raises(InfeasibleTargetError):
        certify_double_score(SUM, *sample, **options, **changed)
    for value in (relaxed["min_recall"], numbers[1]):
        certify_double_score(SUM, *sample, **options, **bounds | {"min_recall": value})


@pytest.mark.parametrize(
    ("bounds", "message"),
    [
        (
            {"min_recall": 0.5, "min_precision": 0.999, "ood_prior": 0.3},
            "samples cannot certify min_precision=0.999 together with min_recall=0.5",
        ),
        ({"min_tpr": 0.5, "max_risk": 0.001}, "without any loss. at least.* needed"),
        ({"min_tpr": 0.5, "max_risk": 0.0}, "infinitely many are needed"),
    ],
)
def test_too_few_samples_are_told_in_terms_of_what_was_asked(bounds, message):
    sample = draw()
    with pytest.raises(InfeasibleTargetError, match=message):
        certify_double_score(SUM, *sample, confidence_level=0.9, **bounds)
    with pytest.raises(InfeasibleTargetError, match=message):
        rates_to_certify(700, 300, 0.9, bounds)


def test_a_bounded_risk_needs_ood_samples():
    risk, novelty, losses, is_ood = draw()
    bounds = {"min_tpr": 0.5, "max_risk": 0.2}
    with pytest.raises(ValueError, match=r"max_risk=0\.2 needs OOD samples"):
        certify_double_score(
            SUM, risk, novelty, losses, is_ood & False, confidence_level=0.9, **bounds
        )


@pytest.mark.parametrize("bound", ["binomial", "hoeffding_bentkus"])
@pytest.mark.parametrize("seed", range(3))
def test_rates_that_certify_a_risk(bound, seed):
    tuning, calibration = draw(2000, seed), draw(2000, seed + 10)
    is_ood = calibration[-1]
    bounds = {"min_tpr": 0.5, "max_risk": 0.15}
    options = {"bound": bound, "max_loss": 1.0}
    likely, enough = rates_to_certify(
        (~is_ood).sum(), is_ood.sum(), 0.9, bounds, **options
    )
    assert likely["max_risk"] < enough["max_risk"] < 0.15
    scaled = rates_to_certify(
        (~is_ood).sum(),
        is_ood.sum(),
        0.9,
        bounds | {"max_risk": 1.5},
        bound=bound,
        max_loss=10.0,
    )
    assert scaled[0]["max_risk"] == pytest.approx(10 * likely["max_risk"])
    rule = tune_double_score(*tuning, method="grid", n_directions=31, **likely)
    certified = certify_double_score(
        rule, *calibration, confidence_level=0.9, **bounds, **options
    )
    assert certified.certificate.max_risk <= 0.15
    assert certified.certificate.max_fpr < 1


def wild_sample(n, share, seed):
    """Draw half of the samples wild, `share` of these OOD; and which are OOD."""
    rng = np.random.default_rng(seed)
    is_wild = rng.random(n) < 0.5
    is_ood = is_wild & (rng.random(n) < share)
    risk, novelty = rng.random(n), rng.random(n) + is_ood
    losses = (rng.random(n) < risk / 4).astype(float)
    return (risk, novelty, losses, is_wild), is_ood


def test_the_wild_certificate_against_its_definition():
    sample, is_ood = wild_sample(4000, 0.5, 0)
    options = {"confidence_level": 0.85, "min_tpr": 0.6, "wild_share": 0.5}
    options["random_state"] = 0
    found = certify_double_score(SUM, *sample, max_risk=0.3, **options)
    certificate, delta = found.certificate, 0.15 / 3
    _, n_accepted, _ = sums_at(found, sample)
    rate = upper(n_accepted, certificate.n_ood, delta)
    expected = (rate - 0.5 * 0.6) / 0.5
    assert certificate.max_fpr == pytest.approx(expected, abs=1e-4)
    # It bounds the FPR of those that are OOD indeed.
    scores = sample[0] + sample[1]
    assert (scores[is_ood] <= found.threshold).mean() < certificate.max_fpr
    # What is found can be asked for, and not less.
    asked = certificate.max_fpr * (1 + 1e-9)
    rule = certify_double_score(SUM, *sample, max_fpr=asked, **options)
    assert rule.threshold == found.threshold
    assert rule.fpr == pytest.approx(found.fpr)
    asked = certificate.max_fpr * (1 - 1e-6)
    with pytest.raises(InfeasibleTargetError, match="smallest max_fpr") as info:
        certify_double_score(SUM, *sample, max_fpr=asked, **options)
    assert info.value.attainable["max_fpr"] == pytest.approx(certificate.max_fpr)
    less = options | {"min_tpr": info.value.attainable["min_tpr"]}
    certify_double_score(SUM, *sample, max_fpr=asked, **less)


def test_rates_to_certify_from_wild_samples():
    share, bounds = 0.5, {"min_tpr": 0.5, "max_fpr": 0.3}
    tuning, _ = wild_sample(8000, share, 1)
    calibration, is_ood = wild_sample(8000, share, 2)
    is_wild = calibration[-1]
    sizes = (~is_wild).sum(), is_wild.sum()
    likely, enough = rates_to_certify(*sizes, 0.9, bounds, wild_share=share)
    assert likely["max_fpr"] < enough["max_fpr"] < 0.3
    # Of the wild samples as many as that are just enough.
    rate = share * enough["max_fpr"] + (1 - share) * enough["min_tpr"]
    count, largest = round(rate * sizes[1]), share * 0.3 + (1 - share) * 0.5
    assert binom.cdf(count, sizes[1], largest) <= 0.1 / 3
    assert binom.cdf(count + 1, sizes[1], largest) > 0.1 / 3
    rule = tune_double_score(
        *tuning, wild_share=share, method="grid", n_directions=31, **likely
    )
    certified = certify_double_score(
        rule, *calibration, wild_share=share, confidence_level=0.9, **bounds
    )
    accepted = certified.accept(*calibration[:2])
    assert accepted[~is_wild].mean() > 0.5
    assert accepted[is_ood].mean() < 0.3


def test_a_wild_share_of_one_certifies_as_none():
    options = {
        "confidence_level": 0.9,
        "min_tpr": 0.5,
        "max_fpr": 0.3,
        "random_state": 0,
    }
    rules = [
        certify_double_score(SUM, *draw(), wild_share=share, **options)
        for share in (None, 1)
    ]
    assert rules[0].certificate == rules[1].certificate
    assert rules[0].fpr == rules[1].fpr
