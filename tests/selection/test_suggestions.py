"""What errors and rules suggest can be asked for, and gives what they say."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sklearn_reject.selection import (
    InfeasibleTargetError,
    solve_target_risk,
)
from tests.samples import samples


@st.composite
def rough_samples(draw):
    """Draw samples with ties and losses of many digits, weights of any scale."""
    scores, losses, weights = draw(samples(max_size=30))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    losses = losses * rng.random(len(losses))
    if weights is not None:
        weights = weights * rng.random(len(weights)) * draw(st.sampled_from([1, 1e-9]))
    return scores, losses, weights


def solved(solve, sample, target, **options):
    """Return a rule, None where there is none."""
    scores, losses, weights = sample
    try:
        return solve(scores, losses, target, sample_weight=weights, **options)
    except InfeasibleTargetError:
        return None


def suggested(error, pattern):
    """Return the number that a message names."""
    return float(re.search(rf"{pattern} ([0-9.e-]*\d)", str(error)).group(1))


@given(rough_samples(), st.integers(0, 11))
def test_the_risk_that_an_error_suggests_can_be_had(sample, twelfths):
    scores, losses, weights = sample
    sample = scores, losses + 1 / 3, weights
    with pytest.raises(InfeasibleTargetError) as info:
        solve_target_risk(*sample[:2], twelfths / 36.1, sample_weight=weights)
    for randomize in (True, False):
        risk = suggested(info.value, "lowest selective risk is")
        rule = solved(solve_target_risk, sample, risk, randomize=randomize)
        assert rule.coverage >= suggested(info.value, "at coverage")
        np.testing.assert_allclose(
            risk, info.value.attainable["target_risk"], rtol=1e-5
        )


@given(st.integers(0, 2**32), st.integers(30, 120))
def test_the_certifiable_risk_that_an_error_suggests_can_be_had(seed, n_samples):
    rng = np.random.default_rng(seed)
    scores = rng.random(n_samples)
    losses = rng.random(n_samples) < 0.3 + 0.5 * scores
    options = {"confidence_level": 0.9, "random_state": 0}
    with pytest.raises(InfeasibleTargetError) as info:
        solve_target_risk(scores, losses, 0.1, **options)
    risk = suggested(info.value, "smallest risk that can be certified is about")
    assert (
        info.value.attainable["target_risk"]
        <= risk
        <= info.value.attainable["target_risk"] * (1 + 1e-5)
    )
    rule = solve_target_risk(scores, losses, risk, **options)
    assert rule.certificate.target == risk
