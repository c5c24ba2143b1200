from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sklearn_reject._curves import _prefixes
from sklearn_reject._curves._cut import best_cut, reaching_coverage, within_risk
from sklearn_reject._curves._prefixes import (
    RELATIVE_TOLERANCE,
    TIE_TOLERANCE,
    join_ties,
    running_sum,
    snap_sorted,
    tie_range,
)
from tests.samples import exact_groups, exact_prefixes, samples


@given(samples())
def test_groups_and_their_sums_equal_their_definition(sample):
    prefixes, exact = join_ties(*sample), exact_groups(*sample)
    assert prefixes.scores.tolist() == [value for value, _, _ in exact]
    weight, loss = (prefixes.columns[name].tolist() for name in ("weight", "loss"))
    assert weight == [float(weight) for _, weight, _ in exact]
    assert loss == [float(loss) for _, _, loss in exact]
    sums = zip(prefixes.sums("weight"), prefixes.sums("loss"), strict=True)
    assert list(sums) == exact_prefixes(exact)


def within(prefixes, risk):
    return best_cut(prefixes, within_risk(risk), randomize=False).n_groups


def reaching(prefixes, coverage):
    model = reaching_coverage(coverage, prefixes.total("weight"))
    return best_cut(prefixes, model, randomize=False).n_groups


def test_sums_that_floats_miss_count_as_equal():
    assert len(join_ties([0.0, -0.0], [1, 2], 2.0)) == 1
    # .1 + .2 > .3 in floats: the prefix of two is within a mean loss of .15.
    prefixes = join_ties([1, 2, 3], [0.1, 0.2, 9.0])
    assert prefixes.at("loss", 2) > 0.3
    assert within(prefixes, 0.15) == 2
    # And .1 + .2 reaches 60% of 0.5 although 0.6 * 0.5 is below their sum.
    prefixes = join_ties([1, 2, 3], [0, 0, 0], [0.1, 0.2, 0.7])
    assert reaching(prefixes, 0.1 + 0.2) == 2
    # Long sums do not drift.
    n = 10**6
    prefixes = join_ties(np.arange(n), np.full(n, 0.1), np.full(n, 1 / n))
    assert within(prefixes, 0.1) == n
    assert reaching(prefixes, 0.5) == n // 2


@pytest.mark.parametrize("n", [0, 1, 511, 512, 513, 300_000])
def test_running_sum_errs_far_less_than_the_tolerance(n):
    values = np.full(n, 0.1)
    exact = 0.1 * np.arange(1, n + 1)
    np.testing.assert_allclose(running_sum(values), exact, rtol=RELATIVE_TOLERANCE / 20)
    np.testing.assert_array_equal(values, 0.1)


@given(
    st.lists(
        st.tuples(st.integers(0, 2**14), st.sampled_from([-3.0, -0.5, 0.0, 1.0, 1e9])),
        min_size=1,
        max_size=40,
    )
)
def test_snapped_scores_are_what_is_at_their_value(steps):
    # Steps of 1 / 2^10 of the tolerance: long chains of scores near each other.
    scores = np.sort([base * (1 + k * TIE_TOLERANCE / 2**10) for k, base in steps])
    values = snap_sorted(scores)
    low, high = tie_range(scores)
    assert (np.diff(values) >= 0).all()
    for value in np.unique(values):
        inside = values == value
        assert ((low <= value) & (value <= high))[inside].all()
        assert not ((low <= value) & (value <= high))[~inside].any()
        if inside.sum() == len(scores[inside]) == 1:
            continue
        assert np.ptp(scores[inside]) <= 2.001 * TIE_TOLERANCE * abs(value)
    # Groups do not chain.
    chain = 1 + np.arange(100) * 0.6 * TIE_TOLERANCE
    assert len(np.unique(snap_sorted(chain))) == 25


@given(samples(), st.integers(0, 6), st.integers(1, 5))
def test_the_last_prefix_within_a_risk_is_found_in_batches(sample, eighths, batch_size):
    risk = eighths / 8
    prefixes = exact_prefixes(exact_groups(*sample))[1:]
    counts = [k for k, (w, loss) in enumerate(prefixes, 1) if loss <= risk * w]
    with mock.patch.object(_prefixes, "BATCH_SIZE", batch_size):
        assert within(join_ties(*sample), risk) == max(counts, default=0)
