"""The stated combination of risk and novelty, against its definition."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sklearn_reject.exceptions import InfeasibleTargetError
from sklearn_reject.selection import certify_double_score, tune_tail_score
from sklearn_reject.selection._tail_rule import fit_tail

RNG = np.random.default_rng(0)
N = 300
RISK, NOVELTY = RNG.beta(0.3, 3, N), RNG.gamma(2, 1, N)
LOSSES, INSIDE = RNG.random(N) < RISK, np.zeros(N, bool)

weights = st.sampled_from([0.0, 0.5, 1.0, 2.0])
levels = st.sampled_from([-1.0, 0.0, 0.25, 0.5, 3.0])


def log_shares(scores, weight):
    """Return the definition: minus the log share that scores higher, ties half."""
    above = [
        weight[scores > score].sum() + weight[scores == score].sum() / 2
        for score in scores
    ]
    return -np.log(np.array(above) / weight.sum())


@given(st.lists(st.tuples(levels, weights), min_size=1, max_size=12))
def test_tails_are_log_shares_at_the_samples(rows):
    scores, weight = np.array(rows).T
    present = weight > 0
    if not present.any():
        return
    scores, weight = scores[present], weight[present]
    tail = fit_tail(scores, weight)
    expected = log_shares(scores, weight)
    # Knots closer to each other than a hundredth are left out.
    np.testing.assert_allclose(tail(scores), expected, rtol=0, atol=0.011)
    assert (np.diff(tail(np.linspace(-2, 5, 50))) >= 0).all()


def test_tails_grow_beyond_the_samples_as_an_exponential_one_does():
    scores = np.random.default_rng(1).exponential(2.0, 20_000)
    tail = fit_tail(scores, np.ones(len(scores)))
    assert len(tail.scores) < 1500
    far = np.array([30.0, 40.0, np.inf])
    np.testing.assert_allclose(tail(far[:2]), far[:2] / 2, rtol=0.2)
    assert tail(far)[2] == np.inf
    assert tail([-np.inf, -5.0]).tolist() == [-np.inf, tail.values[0]]


@given(
    st.lists(st.tuples(levels, levels, weights), min_size=1, max_size=12),
    st.sampled_from([0.1, 0.5, 0.75, 1.0]),
    st.sampled_from([0.0, 0.3, 0.5, 1.0]),
    st.booleans(),
)
def test_the_share_is_accepted_by_the_lowest_sums(rows, min_tpr, share, randomize):
    risk, novelty, weight = np.array(rows).T
    if not weight.any():
        return
    zero = np.zeros(len(risk))
    rule = tune_tail_score(
        risk,
        novelty,
        zero,
        zero,
        min_tpr=min_tpr,
        novelty_share=share,
        randomize=randomize,
        sample_weight=weight,
    )
    accepted = rule.accept_proba(risk, novelty)
    tpr = np.average(accepted, weights=weight)
    assert rule.tpr == pytest.approx(tpr)
    if randomize:
        assert tpr == pytest.approx(min_tpr)
    else:
        assert tpr >= min_tpr - 1e-12
        sums = rule.combine(risk, novelty)
        highest = sums[(weight > 0) & (accepted > 0)].max()
        without = np.average(sums < highest - 1e-9, weights=weight)
        assert without < min_tpr
    # Nothing that is rejected is both as sure and as usual as what is accepted.
    sums = rule.combine(risk, novelty)
    order = np.argsort(sums)
    assert (np.diff(accepted[order]) <= 0).all()


def test_monotone_transformations_make_no_difference_to_the_sample():
    plain = tune_tail_score(RISK, NOVELTY, LOSSES, INSIDE, min_tpr=0.9)
    bent = tune_tail_score(RISK**1e-3, np.exp(3 * NOVELTY), LOSSES, INSIDE, min_tpr=0.9)
    np.testing.assert_array_equal(
        plain.accept(RISK, NOVELTY), bent.accept(RISK**1e-3, np.exp(3 * NOVELTY))
    )


def test_what_is_far_away_is_rejected_however_sure_it_is():
    few = slice(0, 12)
    for rows in (few, slice(None)):
        rule = tune_tail_score(
            RISK[rows], NOVELTY[rows], LOSSES[rows], INSIDE[rows], min_tpr=0.9
        )
        assert not rule.accept([0.0], [1e6])[0]
        assert not rule.accept([0.0], [np.inf])[0]
        assert rule.accept([0.0], [-np.inf])[0]
        # One at a time as all at once.
        rows = zip(RISK, NOVELTY, strict=True)
        one = [rule.accept_proba([r], [g])[0] for r, g in rows]
        np.testing.assert_array_equal(one, rule.accept_proba(RISK, NOVELTY))


def test_shares_of_zero_and_one_are_the_scores_alone():
    for share, score in ((0.0, RISK), (1.0, NOVELTY)):
        rule = tune_tail_score(
            RISK, NOVELTY, LOSSES, INSIDE, min_tpr=0.8, novelty_share=share
        )
        expected = score <= np.sort(score)[int(0.8 * N) - 1]
        np.testing.assert_array_equal(rule.accept(RISK, NOVELTY), expected)


def test_ood_samples_are_measured_and_change_nothing():
    is_ood = np.arange(N) % 4 == 0
    novelty = NOVELTY + 9 * is_ood
    rule = tune_tail_score(RISK, novelty, LOSSES, is_ood, min_tpr=0.9)
    alone = tune_tail_score(
        RISK[~is_ood], novelty[~is_ood], LOSSES[~is_ood], INSIDE[~is_ood], min_tpr=0.9
    )
    assert rule.threshold == alone.threshold
    assert rule.fpr == rule.accept(RISK, novelty)[is_ood].mean()
    assert rule.selective_risk == pytest.approx(alone.selective_risk)


def test_a_share_that_cannot_be_reached():
    novelty = np.where(np.arange(N) < 30, np.inf, NOVELTY)
    with pytest.raises(InfeasibleTargetError, match=r"0\.9 of the ID samples") as error:
        tune_tail_score(RISK, novelty, LOSSES, INSIDE, min_tpr=0.95)
    assert error.value.attainable == {"min_tpr": 0.9}
    assert tune_tail_score(RISK, novelty, LOSSES, INSIDE, min_tpr=0.9).tpr == 0.9
    with pytest.raises(InfeasibleTargetError):
        tune_tail_score(RISK, np.full(N, np.inf), LOSSES, INSIDE, min_tpr=0.1)
    # What every rule accepts is more than was asked for.
    always = tune_tail_score(RISK, np.full(N, -np.inf), LOSSES, INSIDE, min_tpr=0.1)
    assert always.tpr == 1


def test_the_threshold_can_be_certified():
    rule = tune_tail_score(RISK, NOVELTY, LOSSES, INSIDE, min_tpr=0.95)
    certified = certify_double_score(
        rule, RISK, NOVELTY, LOSSES, INSIDE, min_tpr=0.9, confidence_level=0.9
    )
    assert certified.tpr > 0.9
    assert certified.novelty_tail == rule.novelty_tail


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"min_tpr": 0.0}, "min_tpr"),
        ({"min_tpr": 0.5, "novelty_share": 1.1}, "novelty_share"),
        ({"min_tpr": 0.5, "randomize": "yes"}, "randomize"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(ValueError, match=message):
        tune_tail_score(RISK, NOVELTY, LOSSES, INSIDE, **options)
