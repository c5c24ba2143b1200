import numpy as np
import pytest
from hypothesis import given

from sklearn_reject._curves import combine, group_by_origin
from tests.origin_samples import (
    origin_samples,
    permute,
    repeat,
    thresholds_of,
    weights_of,
)


@given(origin_samples(with_ood=False))
def test_groups_equal_their_definition(sample):
    scores, losses, is_ood, _ = sample
    weights = weights_of(sample)
    groups = group_by_origin(*sample)
    below = np.unique(scores[(scores < np.inf) & (weights > 0)])
    assert groups.scores.tolist() == below.tolist()
    assert groups.n_always == int(np.any(below == -np.inf))
    for number, score in enumerate(below):
        tied = weights * (scores == score)
        assert groups.id_weights[number] == tied[~is_ood].sum()
        assert groups.ood_weights[number] == tied[is_ood].sum()
        loss = tied[~is_ood] @ losses[~is_ood]
        assert groups.losses[number] == pytest.approx(loss)
    assert groups.total_id == weights[~is_ood].sum()
    assert groups.total_ood == weights[is_ood].sum()


@given(origin_samples())
def test_rates_are_those_of_the_rules(sample):
    scores, losses, is_ood, _ = sample
    weights = weights_of(sample)
    groups = group_by_origin(*sample)
    assert groups.accepted_id[0] == groups.accepted_ood[0] == 0
    for number, score in enumerate(groups.scores, start=1):
        accepted = weights * (scores <= score)
        for rates, inside in (
            (groups.true_positive_rates, ~is_ood),
            (groups.false_positive_rates, is_ood),
        ):
            share = accepted[inside].sum() / weights[inside].sum()
            assert rates[number] == pytest.approx(share)
        loss = accepted[~is_ood] @ losses[~is_ood]
        assert groups.accepted_losses[number] == pytest.approx(loss)
    assert len(groups) <= len(thresholds_of(scores))


@given(origin_samples())
def test_order_of_rows_does_not_matter_and_weights_repeat_them(sample):
    groups = group_by_origin(*sample)
    for other in (group_by_origin(*permute(sample)), group_by_origin(*repeat(sample))):
        for name in ("scores", "id_weights", "ood_weights"):
            assert getattr(groups, name).tolist() == getattr(other, name).tolist()
        np.testing.assert_allclose(groups.losses, other.losses, rtol=1e-14)
        assert (groups.total_id, groups.total_ood) == (other.total_id, other.total_ood)


def test_the_last_rate_is_one_whatever_the_weights():
    rng = np.random.default_rng(0)
    for n in (7, 700, 70_000):
        samples = rng.random(n), np.zeros(n), np.arange(n) % 3 == 0
        groups = group_by_origin(*samples, rng.random(n))
        assert groups.true_positive_rates[-1] == groups.false_positive_rates[-1] == 1


def test_infinite_scores_count_in_the_totals_only():
    scores = [-np.inf, 0.5, np.inf, np.inf]
    groups = group_by_origin(scores, [1, 1, 1, 1], [0, 0, 0, 1])
    assert groups.scores.tolist() == [-np.inf, 0.5]
    assert (groups.total_id, groups.total_ood) == (3, 1)
    assert groups.false_positive_rates.tolist() == [0, 0, 0]
    nothing = group_by_origin([np.inf, np.inf], [1, 1], [0, 1])
    assert len(nothing) == 0
    assert nothing.true_positive_rates.tolist() == [0]


def test_losses_of_ood_samples_mean_nothing():
    groups = group_by_origin([1, 2, 3], [0.5, np.nan, -7], [False, True, True])
    assert groups.losses.tolist() == [0.5, 0, 0]


@pytest.mark.parametrize(
    ("scores", "losses", "is_ood", "weights", "message"),
    [
        ([np.nan, 1], [0, 0], [0, 1], None, "scores must be finite, got nan in row 0"),
        ([1, 2], [0, 0], [0], None, "is_ood has 1 elements, but there are 2"),
        ([1, 2], [0], [0, 1], None, "losses has 1 elements, but there are 2"),
        ([1, 2], [-1, 0], [0, 1], None, "losses must be non-negative"),
        ([1, 2], [0, 0], [0, 2], None, "is_ood must hold True and False.*got 2"),
        ([1, 2], [0, 0], ["a", "b"], None, "is_ood must be a vector of booleans"),
        ([1, 2], [0, 0], [1, 1], None, "is_ood is True for all samples"),
        ([1, 2], [0, 0], [0, 1], [0, 1], "is_ood is True for all samples"),
        ([1, 2], [0, 0], [0, 1], [1, -1], "sample_weight must be non-negative"),
    ],
)
def test_bad_arrays(scores, losses, is_ood, weights, message):
    with pytest.raises(ValueError, match=message):
        group_by_origin(scores, losses, is_ood, weights)


def test_infinite_novelty_is_the_sum_whatever_it_weighs():
    risk, novelty = np.array([1.0, 2.0, 3.0]), np.array([5.0, -np.inf, np.inf])
    for weights in ((1.0, 0.0), (0.5, -1.0)):
        assert combine(risk, novelty, weights)[1:].tolist() == [-np.inf, np.inf]
    assert combine(risk, novelty, (2.0, 0.5))[0] == 4.5
