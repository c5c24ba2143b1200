"""Areas and risks from numbers of times are those of rows that are repeated."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sklearn_reject import _curves as curves
from sklearn_reject._curves import CountedArea, CountedRisks
from tests.samples import samples

AREAS = {"aurc": curves.aurc_score, "augrc": curves.augrc_score}
rng = np.random.default_rng(0)


@st.composite
def counted_samples(draw):
    """Draw (scores, losses, counts), tied or not, of any number of rows in all."""
    scores, losses, _ = draw(samples(weighted=False))
    n_samples = len(scores)
    if draw(st.booleans()):  # no ties
        scores = np.array(draw(st.permutations(range(n_samples)))) / 4
    row = st.lists(st.integers(0, 4), min_size=n_samples, max_size=n_samples)
    counts = np.array(draw(st.lists(row.filter(any), min_size=1, max_size=3)))
    return scores, losses, counts


@pytest.mark.parametrize("kind", AREAS)
@given(sample=counted_samples())
def test_area_is_that_of_repeated_rows(kind, sample):
    scores, losses, counts = sample
    area = CountedArea(scores, losses, kind)
    expected = [
        AREAS[kind](np.repeat(scores, count), np.repeat(losses, count))
        for count in counts
    ]
    np.testing.assert_allclose(area.areas(counts), expected, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("kind", AREAS)
@given(sample=samples(weighted=False))
def test_area_without_each_sample(kind, sample):
    scores, losses, _ = sample
    if len(scores) == 1:
        return
    expected = [
        AREAS[kind](np.delete(scores, row), np.delete(losses, row))
        for row in range(len(scores))
    ]
    found = CountedArea(scores, losses, kind).leave_one_out()
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("kind", AREAS)
@pytest.mark.parametrize("n_values", [None, 50], ids=["distinct", "tied"])
@pytest.mark.parametrize("rate", [0.01, 1.0], ids=["few losses", "real losses"])
def test_areas_of_many_samples(kind, n_values, rate):
    n_samples = 20_000
    scores = rng.random(n_samples)
    if n_values:
        scores = np.floor(scores * n_values)
    losses = rng.random(n_samples) * (rng.random(n_samples) < rate)
    area = CountedArea(scores, losses, kind)
    for size in (n_samples, 3 * n_samples):  # as of groups of rows
        rows = rng.integers(n_samples, size=size)
        found = area.areas(np.bincount(rows, minlength=n_samples)[np.newaxis])
        expected = AREAS[kind](scores[rows], losses[rows])
        np.testing.assert_allclose(found, expected, rtol=1e-12)


@given(sample=samples(), coverages=st.sets(st.integers(1, 12), min_size=1))
def test_risks_at_coverages_are_those_of_repeated_rows(sample, coverages):
    scores, losses, weights = sample
    coverage = np.array(sorted(coverages)) / 12
    if weights is not None:
        present = weights > 0
        scores, losses, weights = scores[present], losses[present], weights[present]
    counts = np.arange(len(scores)) % 3
    counts[-1] += 1
    found = CountedRisks(scores, losses, weights, coverage).risks(counts[np.newaxis])
    repeated = [np.repeat(x, counts) for x in (scores, losses)]
    weights = None if weights is None else np.repeat(weights, counts)
    for share, risk in zip(coverage, found[0], strict=True):
        expected = curves.selective_risk_at_coverage_score(
            *repeated, coverage=share, randomize=True, sample_weight=weights
        )
        assert risk == pytest.approx(expected, rel=1e-9, abs=1e-12)
