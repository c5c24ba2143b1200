"""The stated combination of risk and novelty, where no OOD samples can tune one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.frozen import FrozenEstimator
from sklearn.naive_bayes import GaussianNB

from sklearn_reject import DoubleScoreOODClassifier
from sklearn_reject.exceptions import InfeasibleTargetError
from sklearn_reject.selection import certify_double_score

RNG = np.random.default_rng(0)
N, FAR = 300, 1e50
RISK, NOVELTY = RNG.beta(0.3, 3, N), RNG.gamma(2, 1, N)
# Whatever it is shown, it says 0.
NAIVE = FrozenEstimator(
    GaussianNB().fit([[0.0, 0], [1, 1], [5, 5], [6, 6]], [0, 0, 1, 1])
)

weights = st.sampled_from([0.0, 0.5, 1.0, 2.0])
levels = st.sampled_from([-1.0, 0.0, 0.25, 0.5, 3.0])


def _stretch(scores):
    """Return scores of which the largest numbers stand for infinity."""
    return np.where(abs(scores) < FAR, scores, np.copysign(np.inf, scores))


def tune(risk, novelty, min_tpr, *, y=None, sample_weight=None, **options):
    """Return the rule of two scores that are columns of X, of all samples."""
    X = np.column_stack([risk, np.clip(novelty, -FAR, FAR)])
    model = DoubleScoreOODClassifier(
        NAIVE,
        min_tpr=min_tpr,
        uncertainty_score=lambda _, rows: rows[:, 0],
        novelty_score=lambda _, rows: _stretch(rows[:, 1]),
        **options,
    )
    y = np.zeros(len(X), int) if y is None else y
    return model.fit(X, y, sample_weight=sample_weight).rule_


def log_shares(scores, weight):
    """Return the definition: minus the log share that scores higher, ties half."""
    above = [
        weight[scores > score].sum() + weight[scores == score].sum() / 2
        for score in scores
    ]
    return -np.log(np.array(above) / weight.sum())


@given(
    st.lists(st.tuples(levels, levels, weights), min_size=1, max_size=12),
    st.sampled_from([0.1, 0.5, 0.75, 1.0]),
)
def test_the_share_is_accepted_by_the_lowest_sums_of_log_shares(rows, min_tpr):
    risk, novelty, weight = np.array(rows).T
    if not weight.any():
        return
    rule = tune(risk, novelty, min_tpr, sample_weight=weight)
    accepted = rule.accept_proba(risk, novelty)
    assert np.average(accepted, weights=weight) == pytest.approx(min_tpr)
    assert rule.tpr == pytest.approx(min_tpr)
    present = weight > 0
    expected = sum(
        log_shares(score[present], weight[present]) / 2 for score in (risk, novelty)
    )
    # Knots closer to each other than a hundredth are left out.
    sums = rule.combine(risk, novelty)
    np.testing.assert_allclose(sums[present], expected, rtol=0, atol=0.011)
    # Nothing that is rejected is both as sure and as usual as what is accepted.
    assert (np.diff(accepted[np.argsort(sums)]) <= 0).all()


def test_tails_grow_beyond_the_samples_as_an_exponential_one_does():
    scores = np.random.default_rng(1).exponential(2.0, 20_000)
    rule = tune(np.zeros(len(scores)), scores, 0.9)
    assert len(rule.novelty_tail.scores) < 1500
    far = rule.combine(np.zeros(5), [30.0, 40.0, np.inf, -5.0, -np.inf])
    sure = rule.combine([0.0], [scores.min()])
    np.testing.assert_allclose(2 * (far[:2] - sure), [15, 20], rtol=0.3)
    assert far[2:].tolist() == [np.inf, sure[0], -np.inf]
    usual = rule.combine(np.zeros(50), np.linspace(-2, 50, 50))
    assert (np.diff(usual) >= 0).all()


def test_monotone_transformations_make_no_difference_to_the_sample():
    bent = RISK**1e-3, np.exp(3 * NOVELTY)
    plain = tune(RISK, NOVELTY, 0.9).accept_proba(RISK, NOVELTY)
    np.testing.assert_array_equal(tune(*bent, 0.9).accept_proba(*bent), plain)


@pytest.mark.parametrize("n", [12, N])
def test_what_is_far_away_is_rejected_however_sure_it_is(n):
    rule = tune(RISK[:n], NOVELTY[:n], 0.9)
    accepted = rule.accept_proba(np.zeros(3), [1e6, np.inf, -np.inf])
    assert accepted.tolist() == [0, 0, 1]
    # One at a time as all at once.
    rows = zip(RISK, NOVELTY, strict=True)
    one = [rule.accept_proba([r], [g])[0] for r, g in rows]
    np.testing.assert_array_equal(one, rule.accept_proba(RISK, NOVELTY))


def test_a_share_that_cannot_be_reached():
    novelty = np.where(np.arange(N) < 30, np.inf, NOVELTY)
    with pytest.raises(InfeasibleTargetError, match=r"largest TPR is 0\.9\.") as error:
        tune(RISK, novelty, 0.95)
    assert error.value.attainable == {"min_tpr": 0.9}
    assert tune(RISK, novelty, 0.9).tpr == 0.9
    with pytest.raises(InfeasibleTargetError) as error:
        tune(RISK, np.full(N, np.inf), 0.1)
    assert error.value.attainable == {}
    # What every rule accepts is more than was asked for.
    assert tune(RISK, np.full(N, -np.inf), 0.1).tpr == 1


def test_the_threshold_can_be_certified():
    rule, sample = tune(RISK, NOVELTY, 0.95), (RISK, NOVELTY, np.zeros(N), np.zeros(N))
    certified = certify_double_score(rule, *sample, min_tpr=0.9, confidence_level=0.9)
    assert certified.tpr > 0.9
    assert certified.novelty_tail == rule.novelty_tail
