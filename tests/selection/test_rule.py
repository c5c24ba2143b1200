"""Rules as they are applied and measured; scores that differ by rounding are one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.isotonic import isotonic_regression

from sklearn_reject._curves._prefixes import TIE_TOLERANCE, join_ties
from sklearn_reject.selection import (
    DeferralRule,
    DoubleScoreRule,
    RejectionRule,
    SingleScoreRule,
    keyed_draws,
    solve_reject_cost,
    solve_target_coverage,
)

INF = float("inf")


def single(threshold=0.0, proba_at_threshold=1.0, **fields):
    return SingleScoreRule(
        threshold=threshold, proba_at_threshold=proba_at_threshold, **fields
    )


def double(threshold=0.0, proba_at_threshold=1.0, **fields):
    return DoubleScoreRule(
        threshold=threshold, proba_at_threshold=proba_at_threshold, **fields
    )


class OfNovelty:
    """A rule of two scores that looks at the second one only."""

    def __init__(self, threshold, proba_at_threshold):
        weights = {"risk_weight": 0.0, "novelty_weight": 1.0}
        self.rule = double(threshold, proba_at_threshold, **weights)

    def __getattr__(self, name):
        method = getattr(self.rule, name)
        return lambda scores, **options: method(
            np.full(len(scores), 7.0), scores, **options
        )


class OfGain:
    """A rule of deferral, which defers what has a low score, and so a high gain."""

    def __init__(self, threshold, proba_at_threshold):
        self.rule = DeferralRule(-threshold, proba_at_threshold)

    def accept_proba(self, scores):
        return self.rule.defer_proba(-scores)

    def accept(self, scores, **options):
        return self.rule.defer(-scores, **options)


KINDS = {
    "rejection": RejectionRule,
    "single": single,
    "double": OfNovelty,
    "deferral": OfGain,
}
all_kinds = pytest.mark.parametrize("kind", KINDS)


@all_kinds
@given(
    st.lists(st.sampled_from([-1.0, 0.0, 0.5, 1.0]), min_size=1, max_size=12),
    st.sampled_from([-INF, -1.0, 0.5, 1.0, INF]),
    st.sampled_from([0, 0.3, 1]),
)
def test_probabilities_by_definition(kind, scores, threshold, nu):
    rule, scores = KINDS[kind](threshold, nu), np.array(scores)
    expected = np.where(scores == threshold, nu, scores < threshold)
    np.testing.assert_array_equal(rule.accept_proba(scores), expected)
    if nu in (0, 1):
        np.testing.assert_array_equal(rule.accept(scores), expected == 1)
    if kind != "deferral":
        at = rule.at_threshold(scores)
        np.testing.assert_array_equal(at, scores == threshold)


@pytest.mark.parametrize("threshold", [-INF, 0.0, INF])
@pytest.mark.parametrize("kind", ["single", "double"])
def test_infinite_novelty_is_never_at_the_threshold(kind, threshold):
    rule, scores = KINDS[kind](threshold, 0.5), np.array([-INF, INF])
    np.testing.assert_array_equal(rule.accept_proba(scores), [1, 0])
    np.testing.assert_array_equal(rule.at_threshold(scores), [False, False])


@all_kinds
def test_draws_decide_at_the_threshold_only(kind):
    rule, asked = KINDS[kind](0.5, 0.25), []
    scores = np.array([0.4, 0.5, 0.5, 0.5, 0.6])
    accepted = rule.accept(scores, draws=[0.9, 0.0, 0.2499, 0.25, 0.0])
    np.testing.assert_array_equal(accepted, [True, True, True, False, False])

    def draw(rows):
        asked.append(rows.tolist())
        return keyed_draws(1, rows)

    accepted = rule.accept(scores, draws=draw)
    expected = rule.accept(scores, draws=keyed_draws(1, range(5)))
    np.testing.assert_array_equal(accepted, expected)
    rule.accept(scores + 1, draws=draw)
    KINDS[kind](0.5, 1.0).accept(scores, draws=draw)
    assert asked == [[1, 2, 3]]
    many = np.repeat([0.4, 0.5, 0.6], 4000)
    accepted = rule.accept(many, random_state=0)
    np.testing.assert_array_equal(rule.accept(many, random_state=0), accepted)
    shares = accepted.reshape(3, -1).mean(axis=1)
    assert (shares[0], shares[2]) == (1, 0)
    assert abs(shares[1] - 0.25) < 4 * np.sqrt(0.25 * 0.75 / 4000)


@pytest.mark.parametrize("weights", [(1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (1.0, -2.0)])
def test_sums_of_two_scores(weights):
    rule = double(risk_weight=weights[0], novelty_weight=weights[1])
    combined = rule.combine([1.0, 1.0, 1.0], [INF, -INF, 0.0])
    np.testing.assert_array_equal(combined, [INF, -INF, weights[0]])
    # Sums beyond float64 are infinite, and not NaN.
    rule = double(risk_weight=-1.0, novelty_weight=1e9)
    combined = rule.combine([1e308, 1e308], [1e305, -1e305])
    np.testing.assert_array_equal(combined, [INF, -INF])


# What a rule achieves on another sample


def test_measure_by_hand():
    rule = single(1.0, 0.5, ood_prior=0.25)
    sample = [0, 1, 2, 0, 1], [1, 1, 1, 9, 9], [0, 0, 0, 1, 1]
    measured = rule.measure(*sample, sample_weight=[1, 2, 1, 1, 3])
    assert (measured.tpr, measured.fpr) == ((1 + 1) / 4, (1 + 1.5) / 4)
    assert measured.selective_risk == 1
    assert measured.precision == 0.75 * 0.5 / (0.75 * 0.5 + 0.25 * 0.625)
    rule = double(1.0, 0.5, ood_prior=0.25, novelty_weight=1.0)
    measured = rule.measure([0, 0, 1], [0, 1, 1], [0, 1, 1], [0, 0, 1])
    assert (measured.tpr, measured.fpr, measured.selective_risk) == (0.75, 0, 1 / 3)


def test_measure_of_a_mixture_by_hand():
    rule = single(1.5, ood_prior=0.25)
    # Half of the ID and three of four wild samples are accepted.
    sample = [0, 2, 0, 1, 1, 3], [1, 0, 0, 0, 0, 0], [0, 0, 1, 1, 1, 1]
    measured = rule.measure(*sample, wild_share=0.8)
    assert measured.fpr == pytest.approx((0.75 - 0.2 * 0.5) / 0.8)
    assert measured.selective_risk == 1
    none = rule.measure([0, 2, 2, 3], [0] * 4, [0, 0, 1, 1], wild_share=0.5)
    assert (none.fpr, none.precision) == (-0.5, 1)


def test_measure_where_something_is_missing():
    measured = single(-INF, 0.0, ood_prior=0.25).measure([0, 1], [0, 1], [0, 1])
    assert (measured.tpr, measured.fpr) == (0, 0)
    assert np.isnan([measured.precision, measured.selective_risk]).all()
    measured = single(0.5).measure([0, 1], [0, 1], [0, 0])
    assert measured.tpr == 0.5
    assert np.isnan([measured.fpr, measured.precision]).all()
    # Without OOD samples in use the precision is one, whatever is accepted.
    rule = single(0.5, ood_prior=0.0)
    assert rule.measure([0, 1], [0, 0], [0, 0]).precision == 1
    assert rule.measure([0, 0], [0, 0], [0, 1]).precision == 1
    assert np.isnan(rule.measure([1, 0], [0, 0], [0, 1]).precision)


# The reject cost is the slope of the hull at the threshold

decades = st.floats(-8, 8).map(lambda exponent: 10**exponent)
means = st.one_of(st.sampled_from([0.0, 0.5, 1.0]), decades)


def assert_isotonic(losses, weights, n_accepted):
    """Compare the slope at one prefix with the regression at all of them."""
    scores = np.arange(len(losses))
    rule = RejectionRule(n_accepted - 0.5, 1.0)
    rule = rule.measure(scores, losses, sample_weight=weights)
    expected = isotonic_regression(losses, sample_weight=weights)[n_accepted - 1]
    np.testing.assert_allclose(rule.reject_cost, expected, rtol=1e-12, atol=0)
    again = solve_reject_cost(scores, losses, rule.reject_cost, sample_weight=weights)
    assert again.coverage >= rule.coverage * (1 - 1e-9)


@given(st.lists(st.tuples(decades | st.just(1.0), means), min_size=1), st.integers(0))
def test_the_slope_is_the_isotonic_regression(pairs, n_accepted):
    weights, losses = map(np.array, zip(*pairs, strict=True))
    assert_isotonic(losses, weights, n_accepted % len(pairs) + 1)


def test_the_slope_where_nothing_is_accepted_is_zero():
    nothing = RejectionRule(0.2, 1.0).measure([0.3], [1])
    assert (nothing.coverage, nothing.reject_cost) == (0, 0)
    assert np.isnan(nothing.selective_risk)


# Scores that differ by rounding


@given(st.lists(st.integers(0, 2**14), min_size=1, max_size=40))
def test_a_coverage_is_met_by_scores_near_each_other(steps):
    # Steps of 1 / 2^10 of the tolerance.
    scores = 1 + np.array(steps) * TIE_TOLERANCE / 2**10
    rule = solve_target_coverage(scores, np.zeros(len(scores)), 0.5)
    np.testing.assert_allclose(rule.measure(scores, scores * 0).coverage, 0.5)


@all_kinds
@pytest.mark.parametrize("base", [1.0, -1.0, 3e-7, -5e11])
def test_the_tolerance_ends_where_it_says(kind, base):
    rule = KINDS[kind](base, 0.25)
    steps = np.array([-1.01, -0.99, 0, 0.99, 1.01]) * TIE_TOLERANCE * abs(base)
    found = rule.accept_proba(base + steps)
    np.testing.assert_array_equal(found, [1, 0.25, 0.25, 0.25, 0])


def test_curves_keep_exact_ties():
    assert len(join_ties([1.0, 1.0 + 2.0**-52], [0, 1])) == 2


def test_sums_are_compared_at_the_magnitude_of_their_terms():
    rule = double(0.1, 0.5, risk_weight=-1.0, novelty_weight=1.0)
    risk, novelty = np.array([1e6, 0.9]), np.array([1e6 + 0.1, 1.0])
    # 1e6 + .1 - 1e6 is off by 2e-11, far more than .1 * 2^-40.
    assert abs(rule.combine(risk, novelty)[0] - 0.1) > 1e-11
    np.testing.assert_array_equal(rule.at_threshold(risk, novelty), [True, True])
    near = novelty - [0, 1e-10]
    np.testing.assert_array_equal(rule.at_threshold(risk, near), [True, False])
    np.testing.assert_array_equal(rule.accept_proba(risk, near), [0.5, 1.0])


# What is refused


@all_kinds
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"draws": [0.5]}, "draws has 1 elements, but there"),
        ({"draws": [0.5, 1.0]}, r"draws must be in \[0, 1\), got 1.0"),
        ({"draws": [-0.1, 0.5]}, r"draws must be in \[0, 1\), got -0.1"),
        ({"draws": [np.nan, 0.5]}, "draws must be finite"),
        ({"draws": lambda rows: np.zeros(7)}, "draws has 7 elements, but there"),
        ({"draws": [0.1, 0.2], "random_state": 0}, "random_state=0 is not used"),
    ],
)
def test_bad_draws(kind, options, message):
    with pytest.raises(ValueError, match=message):
        KINDS[kind](0.5, 0.25).accept(np.array([0.5, 0.6]), **options)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (RejectionRule(0.5, 1.0).accept_proba, "scores must be finite, got nan"),
        (single().accept, "scores must be finite, got nan"),
        (lambda nan: single().accept([[1.0]]), "scores"),
        (lambda nan: single().accept([]), "scores"),
        (lambda nan: double().accept_proba(nan, [0.0]), "uncertainty_scores"),
        (lambda nan: double().accept_proba([INF], [0.0]), "uncertainty_scores"),
        (lambda nan: double().accept_proba([0.0], nan), "novelty_scores"),
        (lambda nan: double().accept_proba([0.0], [0.0, 1]), "novelty_scores has 2"),
        (lambda nan: single().measure([0], [0], [1]), "At least one ID sample"),
        (
            lambda nan: single().measure([0, 1], [0, 0], [0, 1], wild_share=1.5),
            r"wild_share must be in \(0, 1\]",
        ),
    ],
)
def test_errors(call, message):
    with pytest.raises(ValueError, match=message):
        call([np.nan])
