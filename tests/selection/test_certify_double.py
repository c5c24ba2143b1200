"""Certificates of rules for ID and OOD samples, against their definition."""

import re

import numpy as np
import pytest
from scipy.stats import beta, binom

from sklearn_reject.selection import (
    DoubleScoreRule,
    InfeasibleTargetError,
    certify_double_score,
)

RISK_ONLY = DoubleScoreRule(
    threshold=0.0, proba_at_threshold=1.0, risk_weight=1.0, novelty_weight=0.0
)
SUM = DoubleScoreRule(
    threshold=0.0, proba_at_threshold=1.0, risk_weight=1.0, novelty_weight=1.0
)
PRECISION = {"min_precision": 0.9, "ood_prior": 0.3}


def draw(n=1000, seed=0, *, shift=1.0, decimals=None):
    """Return risk, novelty, losses and origins."""
    rng = np.random.default_rng(seed)
    is_ood = rng.random(n) < 0.3
    risk, novelty = rng.random(n), rng.random(n) + shift * is_ood
    losses = (rng.random(n) < risk / 4).astype(float)
    if decimals is not None:
        risk, novelty = risk.round(decimals), novelty.round(decimals)
    return risk, novelty, losses, is_ood


def wild_sample(n, share, seed):
    """Draw half of the samples wild, `share` of these OOD; and which are OOD."""
    rng = np.random.default_rng(seed)
    is_wild = rng.random(n) < 0.5
    is_ood = is_wild & (rng.random(n) < share)
    risk, novelty = rng.random(n), rng.random(n) + is_ood
    return (risk, novelty, (rng.random(n) < risk / 4) * 1.0, is_wild), is_ood


def certify(sample, rule=SUM, confidence_level=0.9, **options):
    options = {"random_state": 0, **options}
    return certify_double_score(
        rule, *sample, confidence_level=confidence_level, **options
    )


def sums_at(rule, sample):
    """Return ID and flagged samples accepted, and the losses strictly below."""
    scores = rule.combine(*sample[:2])
    is_ood, accepted = sample[3], scores <= rule.threshold
    below = (scores < rule.threshold) & ~is_ood
    return (accepted & ~is_ood).sum(), (accepted & is_ood).sum(), sample[2][below]


def upper(count, n_samples, delta):
    """Return the largest share under which so few are not too unlikely."""
    return beta.ppf(1 - delta, count + 1, n_samples - count)


@pytest.mark.parametrize(
    ("asked", "n_statements"),
    [
        ({}, 2),
        ({"max_fpr": 0.3}, 3),
        ({"max_risk": 0.2}, 3),
        ({"min_precision": 0.9, "ood_prior": 0.2}, 3),
    ],
)
def test_certificate_against_its_definition(asked, n_statements):
    sample, delta = draw(), 0.15 / n_statements
    rule = certify(sample, confidence_level=0.85, min_tpr=0.6, **asked)
    certificate = rule.certificate
    n_id, n_ood = (~sample[3]).sum(), sample[3].sum()
    n_accepted_id, n_accepted_ood, losses = sums_at(rule, sample)
    assert (certificate.n_id, certificate.n_ood) == (n_id, n_ood)
    assert certificate.n_accepted_id == n_accepted_id
    assert certificate.n_accepted_ood == n_accepted_ood
    assert (certificate.min_tpr, certificate.confidence_level) == (0.6, 0.85)
    # The smallest rank whose TPR exceeds the bound with the probability wanted.
    assert beta.cdf(0.6, n_accepted_id, n_id + 1 - n_accepted_id) <= delta
    assert beta.cdf(0.6, n_accepted_id - 1, n_id + 2 - n_accepted_id) > delta
    bound = upper(losses.sum(), len(losses), delta)
    assert certificate.max_risk == pytest.approx(bound)
    if "max_risk" in asked:
        assert certificate.max_risk <= 0.2
        assert certificate.max_fpr == pytest.approx(upper(n_accepted_ood, n_ood, delta))
    elif asked:
        # A precision is certified by the FPR that implies it.
        fpr = asked.get("max_fpr", 0.8 * 0.1 / (0.2 * 0.9) * 0.6)
        assert certificate.max_fpr == pytest.approx(fpr)
        assert binom.cdf(n_accepted_ood, n_ood, certificate.max_fpr) <= delta
    else:
        assert certificate.max_fpr is None


def hoeffding_bentkus(total, n, risk):
    """Return the p-value of a mean of losses between 0 and 1."""
    mean = total / n
    relative = mean * np.log(mean / risk) + (1 - mean) * np.log((1 - mean) / (1 - risk))
    return min(np.exp(-n * relative), np.e * binom.cdf(np.ceil(total), n, risk))


def test_real_losses_are_bounded_by_hoeffding_and_bentkus():
    risk, novelty, losses, is_ood = draw()
    sample = risk, novelty, losses * risk * 3, is_ood
    options = {"min_tpr": 0.6, "confidence_level": 0.8}
    rule = certify(sample, max_loss=3.0, **options)
    _, _, below = sums_at(rule, sample)
    max_risk = rule.certificate.max_risk / 3
    p_value = hoeffding_bentkus(below.sum() / 3, len(below), max_risk)
    assert p_value == pytest.approx(0.1, rel=1e-6)
    binomial = certify(draw(), bound="binomial", max_loss=1.0, **options)
    assert binomial.certificate == certify(draw(), **options).certificate


def test_rows_equal_in_score_and_draw_are_accepted_together():
    draws = np.repeat([0.1, 0.3, 0.5, 0.7, 0.9], 40)
    zeros, losses = np.zeros(200), np.tile([0.0, 0, 0, 1], 50)
    sample = zeros, zeros, losses, zeros
    options = {"min_tpr": 0.5, "confidence_level": 0.8}
    rule = certify(sample, RISK_ONLY, draws=draws, **options)
    assert rule.certificate.n_accepted_id == 120
    assert rule.accept(zeros, zeros, draws=draws).sum() == 120
    # A quarter of any of them is wrong, and what ties is bounded, too.
    assert 0.25 < rule.certificate.max_risk < 0.6
    few = draws + np.arange(200) * 2.0**-20
    few[118:120] = few[110]
    other = certify(sample, RISK_ONLY, draws=few, **options)
    assert 0.25 < other.certificate.max_risk < rule.certificate.max_risk


def test_infinite_novelty():
    risk, _, losses, is_ood = draw()
    novelty = np.where(risk < 0.8, -np.inf, 0.0)
    rule = certify((risk, novelty, losses, is_ood), min_tpr=0.5)
    assert rule.threshold == -np.inf
    assert rule.certificate.n_accepted_ood == (np.isinf(novelty) & is_ood).sum()
    assert rule.fpr == pytest.approx(np.isinf(novelty[is_ood]).mean())
    novelty = np.where(risk < 0.5, np.inf, 0.0)
    with pytest.raises(InfeasibleTargetError, match="infinite novelty") as info:
        certify((risk, novelty, losses, is_ood), min_tpr=0.7)
    attainable = info.value.attainable
    certify((risk, novelty, losses, is_ood), **attainable)


def test_the_wild_certificate_against_its_definition():
    sample, is_ood = wild_sample(4000, 0.5, 0)
    options = {"confidence_level": 0.85, "min_tpr": 0.6, "wild_share": 0.5}
    found = certify(sample, max_risk=0.3, **options)
    certificate, delta = found.certificate, 0.15 / 3
    _, n_accepted, _ = sums_at(found, sample)
    rate = upper(n_accepted, certificate.n_ood, delta)
    assert certificate.max_fpr == pytest.approx((rate - 0.5 * 0.6) / 0.5)
    # It bounds the FPR of those that are OOD indeed.
    scores = sample[0] + sample[1]
    assert (scores[is_ood] <= found.threshold).mean() < certificate.max_fpr
    # What is found can be asked for, and not less.
    asked = certificate.max_fpr * (1 + 1e-9)
    rule = certify(sample, max_fpr=asked, **options)
    assert rule.threshold == found.threshold
    assert rule.fpr == pytest.approx(found.fpr)
    asked = certificate.max_fpr * (1 - 1e-6)
    with pytest.raises(InfeasibleTargetError, match="smallest max_fpr") as info:
        certify(sample, max_fpr=asked, **options)
    assert info.value.attainable["max_fpr"] == pytest.approx(certificate.max_fpr)


# What cannot be certified


@pytest.mark.parametrize(
    ("sample", "asked", "beside", "reason"),
    [
        (draw(200), {"max_fpr": 0.3}, {}, "OOD samples"),
        (draw(600, shift=0.7), PRECISION, {}, "OOD samples"),
        (draw(2000), {"max_risk": 0.1}, {}, "mean loss"),
        (draw(2000, decimals=1), {"max_risk": 0.1}, {}, "mean loss"),
        (draw(2000, 1), {"max_risk": 0.1}, {"max_loss": 3.0}, "mean loss"),
    ],
)
def test_infeasible_says_how_far_the_bound_goes(sample, asked, beside, reason):
    name, bound = next(iter(asked.items()))
    if "max_loss" in beside:
        sample, asked = (*sample[:2], 3 * sample[2], sample[3]), {name: 3 * bound}
    min_tpr = 0.95 if name == "max_fpr" else 0.8
    options = {"rule": RISK_ONLY} if name == "max_fpr" else {}
    options |= {"confidence_level": 0.8, **beside}
    kind = "largest" if name == "min_precision" else "smallest"
    message = f"{name}=.* cannot be certified together with min_tpr={min_tpr}: .*"
    with pytest.raises(InfeasibleTargetError, match=message + reason) as info:
        certify(sample, min_tpr=min_tpr, **asked, **options)
    text, attainable = str(info.value), info.value.attainable
    assert list(attainable) == [name]
    assert f"the {kind} {name} that can be certified is" in text
    assert f"Relax {name} up to this value, lower min_tpr" in text
    (number,) = [float(x) for x in re.findall(r" is (\d(?:\.\d+)?)\. ", text)]
    for value in (attainable[name], number):
        certify(sample, min_tpr=min_tpr, **asked | {name: value}, **options)
    # And no more than that.
    step = 1e-6 if name == "min_precision" else -1e-6
    beyond = asked | {name: attainable[name] + step}
    with pytest.raises(InfeasibleTargetError):
        certify(sample, min_tpr=min_tpr, **beyond, **options)


HALF = {"min_tpr": 0.5}


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"min_tpr": 0.999}, "ID samples cannot certify min_tpr=0.999"),
        ({"min_tpr": 1.0}, "infinitely many are needed"),
        (HALF | {"max_fpr": 0.001}, "OOD samples cannot certify max_fpr"),
        (
            HALF | PRECISION | {"min_precision": 0.999},
            "samples cannot certify min_precision=0.999 together with min_tpr=0.5",
        ),
        (HALF | {"max_risk": 0.001}, "without any loss: at least"),
    ],
)
def test_too_few_samples(asked, message):
    with pytest.raises(InfeasibleTargetError, match=message):
        certify(draw(), **asked)


@pytest.mark.parametrize("share", [0.5, 0.9])
def test_as_many_samples_as_the_error_says_are_enough(share):
    def certify_first(n):
        return certify([column[:n] for column in sample], RISK_ONLY, min_tpr=share)

    sample = np.arange(100.0), np.zeros(100), np.zeros(100), np.zeros(100)
    with pytest.raises(InfeasibleTargetError) as info:
        certify_first(1)
    needed = int(str(info.value).split("at least ")[1].split()[0])
    assert certify_first(needed).certificate.n_accepted_id == needed
    with pytest.raises(InfeasibleTargetError) as info:
        certify_first(needed - 1)
    assert info.value.attainable["min_tpr"] < share


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"bound": "betting"}, "bound must be one of"),
        ({"max_loss": 0}, r"max_loss must be in \(0, inf\), got 0"),
        ({"min_tpr": None}, "Exactly one target must be given, got none"),
        ({"wild_share": 0.0}, "wild_share must be in"),
        (
            {"max_risk": 0.2, "is_ood": np.zeros(1000, bool)},
            r"max_risk=0\.2 needs OOD samples",
        ),
    ],
)
def test_errors(options, message):
    names = "uncertainty_scores", "novelty_scores", "losses", "is_ood"
    arguments = {**dict(zip(names, draw(), strict=True)), "min_tpr": 0.5}
    with pytest.raises(ValueError, match=message):
        certify_double_score(SUM, **arguments | {"confidence_level": 0.9} | options)
