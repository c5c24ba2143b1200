import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import UndefinedMetricWarning

from sklearn_reject._curves import (
    coverage_at_risk_score,
    risk_coverage_curve,
    selective_risk_at_coverage_score,
)
from tests.samples import exact_groups, exact_prefixes, samples


@given(samples())
def test_curve_is_the_rule_at_each_threshold(sample):
    scores, losses, weights = sample
    coverage, risk, thresholds = risk_coverage_curve(
        scores, losses, sample_weight=weights
    )
    if weights is None:
        weights = np.ones(len(scores))
    assert coverage[-1] == 1
    assert (np.diff(thresholds) > 0).all()
    for point in zip(coverage, risk, thresholds, strict=True):
        accepted = weights * (scores <= point[2])
        np.testing.assert_allclose(point[0], accepted.sum() / weights.sum())
        np.testing.assert_allclose(point[1], accepted @ losses / accepted.sum())


@given(samples(), st.integers(1, 12))
def test_risk_at_coverage_against_all_thresholds(sample, twelfths):
    coverage = twelfths / 12
    groups = exact_groups(*sample)
    prefixes = exact_prefixes(groups)
    total = prefixes[-1][0]
    wanted = total * twelfths / 12
    last = next(k for k, (weight, _) in enumerate(prefixes) if weight >= wanted)
    scores, losses, weights = sample
    options = {"coverage": coverage, "sample_weight": weights}
    value = selective_risk_at_coverage_score(scores, losses, **options)
    np.testing.assert_allclose(value, float(prefixes[last][1] / prefixes[last][0]))
    share = (wanted - prefixes[last - 1][0]) / groups[last - 1][1]
    loss = prefixes[last - 1][1] + share * groups[last - 1][2]
    value = selective_risk_at_coverage_score(scores, losses, randomize=True, **options)
    np.testing.assert_allclose(value, float(loss / wanted), atol=1e-15)


@given(samples(), st.integers(0, 12))
def test_coverage_at_risk_against_all_thresholds(sample, eighths):
    scores, losses, weights = sample
    prefixes = exact_prefixes(exact_groups(*sample))
    total = prefixes[-1][0]
    within = [w for w, loss in prefixes[1:] if loss * 8 <= eighths * w]
    options = {"risk": eighths / 8, "sample_weight": weights}
    if within:
        value = coverage_at_risk_score(scores, losses, **options)
        np.testing.assert_allclose(value, float(max(within) / total))
        more = coverage_at_risk_score(scores, losses, randomize=True, **options)
        assert value <= more <= 1
    else:
        with pytest.warns(UndefinedMetricWarning, match="No threshold has"):
            assert np.isnan(coverage_at_risk_score(scores, losses, **options))


def test_a_later_prefix_may_be_within_the_risk():
    scores, losses = [1, 2, 3, 4], [1, 0, 0, 0]
    assert coverage_at_risk_score(scores, losses, risk=0.3) == 1


@pytest.mark.parametrize("coverage", [0, -0.1, 1.1, np.nan, "half", True, None])
def test_coverage_out_of_range(coverage):
    with pytest.raises(ValueError, match=r"coverage must be .*\]0, 1\], got"):
        selective_risk_at_coverage_score([1, 2], [0, 1], coverage=coverage)


@pytest.mark.parametrize("risk", [-0.1, np.inf, np.nan, "low", True])
def test_risk_out_of_range(risk):
    with pytest.raises(ValueError, match=r"risk must be .*\[0, inf\[, got"):
        coverage_at_risk_score([1, 2], [0, 1], risk=risk)
