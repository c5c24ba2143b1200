from fractions import Fraction
from itertools import pairwise, permutations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.special import polygamma
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import roc_auc_score

from sklearn_reject._curves import (
    _area,
    augrc_score,
    aurc_score,
    risk_coverage_curve,
    sele_score,
)
from sklearn_reject._curves._area import digamma_increment
from tests.samples import samples

RTOL = 1e-13


def mean_of_selective_risks(losses):
    """Evaluate FPV23, eq. 27 for losses that are in the order of their scores."""
    return np.mean(np.cumsum(losses) / np.arange(1, len(losses) + 1))


def mean_over_tie_breaking_orders(scores, losses):
    areas = [
        mean_of_selective_risks(losses[list(order)])
        for order in permutations(range(len(scores)))
        if (np.diff(scores[list(order)]) >= 0).all()
    ]
    return np.mean(areas)


def as_integral(scores, losses, weights):
    """Integrate the mean selective risk for real weights, group by group."""
    total, below, loss_below, area = weights.sum(), 0.0, 0.0, 0.0
    for value in np.unique(scores):
        rows = scores == value
        weight = weights[rows].sum()
        mean = weights[rows] @ losses[rows] / weight
        start = loss_below - mean * below
        area += (
            start
            * quad(lambda t: polygamma(1, t + 1), below, below + weight, epsrel=1e-12)[
                0
            ]
        )
        area += mean * weight
        below, loss_below = below + weight, loss_below + mean * weight
    return area / total


@given(samples(max_size=6, weighted=False))
def test_aurc_is_the_mean_over_tie_breaking_orders(sample):
    scores, losses, _ = sample
    expected = mean_over_tie_breaking_orders(scores, losses)
    np.testing.assert_allclose(
        aurc_score(scores, losses), expected, rtol=RTOL, atol=1e-15
    )


@given(samples(max_size=12))
def test_integer_weights_repeat_rows(sample):
    scores, losses, weights = sample
    assume(weights is not None)
    repeats = weights.astype(int)
    repeated = np.repeat(scores, repeats), np.repeat(losses, repeats)
    for area in (augrc_score, sele_score):
        np.testing.assert_allclose(
            area(scores, losses, sample_weight=weights),
            area(*repeated),
            rtol=RTOL,
            atol=1e-15,
        )


@pytest.mark.parametrize("scale", [1e-90, 1e-6, 1.0, 30.0, 1e90])
def test_real_weights_give_the_integral(scale):
    rng = np.random.default_rng(0)
    scores, losses = rng.integers(0, 8, 30) / 8, rng.random(30)
    weights = rng.random(30) * (np.arange(30) % 7 > 0)
    of_mean_one = weights / weights[weights > 0].mean()
    np.testing.assert_allclose(
        aurc_score(scores, losses, sample_weight=scale * weights),
        as_integral(scores, losses, of_mean_one),
        rtol=1e-10,
    )


def harmonic_difference(low, high):
    """Integrate the geometric series for H_high - H_low, real numbers."""
    return quad(lambda x: (x**low - x**high) / (1 - x), 0, 1, epsabs=0, epsrel=1e-12)[0]


@pytest.mark.parametrize("losses", [(1, 0, 0), (0, 1, 0), (0, 0, 1), (0.5, 2, 1)])
def test_a_weight_of_two_is_a_share_and_a_repeated_row_is_another_sample(losses):
    """Weights sum to the number of samples, three here: 2, 1, 1 are 1.5, .75, .75."""
    first, second, third = losses
    # The mean of the selective risk while each of the three samples comes in.
    marks = np.array([0, 1.5, 2.25, 3.0])
    before = np.array([0, 1.5 * first, 1.5 * first + 0.75 * second])
    growth = [harmonic_difference(*ends) for ends in pairwise(marks)]
    starts = before - losses * marks[:-1]
    area = (starts @ growth + losses @ np.diff(marks)) / 3
    weighted = aurc_score([1, 2, 3], losses, sample_weight=[2, 1, 1])
    np.testing.assert_allclose(weighted, area, rtol=1e-11)
    # A repeated row is one of four samples, tied with the first: prefixes of 1 to 4.
    repeated = [
        first,
        first,
        (2 * first + second) / 3,
        (first * 2 + second + third) / 4,
    ]
    np.testing.assert_allclose(
        aurc_score([1, 1, 2, 3], [first, *losses]), np.mean(repeated)
    )


@given(
    samples(max_size=8), st.integers(-12, 12), st.sampled_from([None, "excess", "prr"])
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
def test_only_relative_weights_matter(sample, exponent, normalize):
    scores, losses, weights = sample
    assume(weights is not None)
    options = {"normalize": normalize}
    np.testing.assert_allclose(
        aurc_score(scores, losses, sample_weight=weights * 10.0**exponent, **options),
        aurc_score(scores, losses, sample_weight=weights, **options),
        rtol=1e-9,
        atol=1e-13,
    )


@pytest.mark.parametrize("interpolation", ["mean", "trapezoid"])
@pytest.mark.parametrize("normalize", [None, "excess", "prr"])
@pytest.mark.parametrize("weight", [1e-12, 1 / 300, 0.1, 1.0, 2.0, 1e12])
def test_equal_weights_are_no_weights_bit_for_bit(interpolation, normalize, weight):
    rng = np.random.default_rng(4)
    scores, losses = rng.integers(0, 90, 300) / 7, rng.random(300)
    options = {"interpolation": interpolation, "normalize": normalize}
    weights = np.full(300, weight)
    weights[::5] = 0  # these samples do not exist
    there = weights > 0
    area = aurc_score(scores, losses, sample_weight=weights, **options)
    assert area == aurc_score(scores[there], losses[there], **options)


@pytest.mark.parametrize("scale", [1e-12, 1e-6, 1e12])
def test_the_order_counts_whatever_the_size_of_the_weights(scale):
    """Read as numbers of samples, tiny weights would make every order as good."""
    weights = scale * np.array([1.0, 2.0, 3.0, 2.0])
    losses = np.array([0, 0, 1, 1])
    best = aurc_score([1, 2, 3, 4], losses, sample_weight=weights)
    worst = aurc_score([4, 3, 2, 1], losses, sample_weight=weights)
    assert worst > 2 * best


@given(samples(), st.randoms(use_true_random=False))
def test_row_order_and_monotone_transforms_do_not_matter(sample, random):
    scores, losses, weights = sample
    rows = list(range(len(scores)))
    random.shuffle(rows)
    moved = np.exp(scores[rows]) * 7 - 3, losses[rows]
    moved_weights = None if weights is None else weights[rows]
    for area in (aurc_score, augrc_score, sele_score):
        np.testing.assert_allclose(
            area(*moved, sample_weight=moved_weights),
            area(scores, losses, sample_weight=weights),
            rtol=RTOL,
            atol=1e-15,
        )


@pytest.fixture
def cells_of_few_samples(monkeypatch):
    """Count samples far from a loss, in all sizes."""
    monkeypatch.setattr(_area, "_FEWEST_TO_COUNT", 2)


@pytest.mark.parametrize("error_rate", [0.001, 0.02, 0.14, 0.16, 0.5, 0.97, 1.0, 0.0])
@pytest.mark.parametrize("n_distinct", [None, 3, 300, 20_000])
@pytest.mark.parametrize("n", [40_000, 1_500])
@pytest.mark.parametrize("binary", [True, False])
def test_losses_at_every_error_rate(error_rate, n_distinct, n, binary, request):
    rng = np.random.default_rng(1)
    scores = rng.normal(size=n)
    if n_distinct is not None:
        scores = rng.integers(0, n_distinct, n) / n_distinct
    losses = (rng.random(n) < error_rate).astype(float)
    losses *= 1.0 if binary else rng.exponential(size=n)
    # Weights of one take the path that counts no sample.
    expected = aurc_score(scores, losses, sample_weight=np.ones(n))
    area = aurc_score(scores, losses)
    np.testing.assert_allclose(area, expected, rtol=RTOL, atol=1e-15)
    request.getfixturevalue("cells_of_few_samples")
    counted = aurc_score(scores, losses)
    np.testing.assert_allclose(counted, area, rtol=1e-14, atol=1e-15)


def test_samples_far_from_a_loss_are_counted(cells_of_few_samples, monkeypatch):
    sizes = []
    group = _area.group_validated

    def group_and_note(scores, *args):
        sizes.append(len(scores))
        return group(scores, *args)

    monkeypatch.setattr(_area, "group_validated", group_and_note)
    scores = np.random.default_rng(0).normal(size=2000)
    aurc_score(scores, np.arange(2000) % 50 == 0)
    assert sizes[0] < 200


@pytest.mark.parametrize(
    "scores",
    [
        np.append(np.linspace(0, 1, 999), 1e300),
        np.append(np.linspace(0, 1, 998), [-1.7e308, 1.7e308]),
        np.arange(1000) * 5e-324,
        1 + np.arange(1000) * 2.0**-52,
    ],
    ids=["outlier", "widest", "denormal", "near one"],
)
@pytest.mark.usefixtures("cells_of_few_samples")
def test_few_errors_among_extreme_scores(scores):
    losses = np.zeros(1000)
    losses[[3, 500, 998]] = 1
    np.testing.assert_allclose(
        aurc_score(scores, losses), mean_of_selective_risks(losses[np.argsort(scores)])
    )


def test_without_ties_it_is_the_mean_of_the_curve():
    rng = np.random.default_rng(2)
    scores, losses = rng.random(500), rng.random(500)
    _, risk, _ = risk_coverage_curve(scores, losses)
    np.testing.assert_allclose(aurc_score(scores, losses), risk.mean(), rtol=RTOL)


def test_trapezoid_by_hand():
    # Points (1/3, 0), (2/3, 1/2), (1, 1/3).
    area = aurc_score([1, 2, 3], [0, 1, 0], interpolation="trapezoid")
    np.testing.assert_allclose(area, (0.25 + 5 / 12) / 3)
    assert aurc_score([1, 1], [0, 1], interpolation="trapezoid") == 0


@pytest.mark.parametrize("interpolation", ["mean", "trapezoid"])
@given(sample=samples(max_size=12))
def test_excess_is_never_negative_and_zero_for_the_oracle(interpolation, sample):
    scores, losses, weights = sample
    options = {"interpolation": interpolation, "sample_weight": weights}
    area = aurc_score(scores, losses, **options)
    excess = aurc_score(scores, losses, normalize="excess", **options)
    assert 0 <= excess <= area + 1e-15
    if interpolation == "mean":
        assert aurc_score(losses, losses, normalize="excess", **options) == 0


@given(samples(max_size=6, weighted=False))
def test_oracle_is_the_best_of_all_orders(sample):
    scores, losses, _ = sample
    assume(losses.min() < losses.max())
    best = min(map(mean_of_selective_risks, permutations(losses)))
    area = mean_over_tie_breaking_orders(scores, losses)
    excess = aurc_score(scores, losses, normalize="excess")
    np.testing.assert_allclose(excess, area - best, rtol=RTOL, atol=1e-15)
    ratio = aurc_score(scores, losses, normalize="prr")
    random = losses.mean()
    np.testing.assert_allclose(ratio, (random - area) / (random - best), atol=1e-12)


def test_prr_marks():
    losses = np.array([0, 0, 1, 1])
    assert aurc_score(losses, losses, normalize="prr") == 1
    np.testing.assert_allclose(aurc_score([1] * 4, losses, normalize="prr"), 0)
    assert aurc_score(-losses, losses, normalize="prr") < 0


@pytest.mark.parametrize("interpolation", ["mean", "trapezoid"])
def test_prr_is_undefined_where_all_losses_are_equal(interpolation):
    options = {"normalize": "prr", "interpolation": interpolation}
    with pytest.warns(UndefinedMetricWarning, match="All losses are equal"):
        assert np.isnan(aurc_score([1, 2, 3], [1, 1, 1], **options))


def pairs(scores, losses, weights, tied):
    """Sum over all pairs, the definition of SELE."""
    less = scores[:, None] < scores
    equal = scores[:, None] == scores
    weights = np.ones(len(scores)) if weights is None else weights
    total = (weights * losses) @ (less + tied * equal) @ weights
    return total / weights.sum() ** 2


@given(samples())
def test_sele_is_the_mean_over_pairs(sample):
    scores, losses, weights = sample
    for ties, tied in (("inclusive", 1.0), ("midrank", 0.5)):
        np.testing.assert_allclose(
            sele_score(scores, losses, ties=ties, sample_weight=weights),
            pairs(scores, losses, weights, tied),
            rtol=RTOL,
            atol=1e-15,
        )


@given(samples())
def test_augrc_is_a_trapezoid_from_the_origin(sample):
    scores, losses, weights = sample
    coverage, risk, _ = risk_coverage_curve(scores, losses, sample_weight=weights)
    coverage, generalized = np.append(0, coverage), np.append(0, coverage * risk)
    area = np.sum(np.diff(coverage) * (generalized[1:] + generalized[:-1]) / 2)
    np.testing.assert_allclose(
        augrc_score(scores, losses, sample_weight=weights), area, rtol=RTOL, atol=1e-15
    )


def test_augrc_follows_from_auroc_and_accuracy():
    rng = np.random.default_rng(3)
    scores, losses = rng.integers(0, 40, 300), rng.integers(0, 2, 300)
    accuracy, auroc = 1 - losses.mean(), roc_auc_score(losses, scores)
    expected = (1 - auroc) * accuracy * (1 - accuracy) + (1 - accuracy) ** 2 / 2
    np.testing.assert_allclose(augrc_score(scores, losses), expected, rtol=RTOL)


@given(samples(weighted=False))
def test_sele_bounds_aurc(sample):
    scores, losses, _ = sample
    slack = 1 + 1e-12
    area = aurc_score(scores, losses)
    assert sele_score(scores, losses, ties="midrank") <= area * slack
    distinct = np.arange(len(scores))[np.argsort(np.argsort(scores, kind="stable"))]
    area, sele = aurc_score(distinct, losses), sele_score(distinct, losses)
    harmonic = np.sum(1 / np.arange(1, len(scores) + 1))
    assert sele <= area * slack
    assert area <= harmonic * sele * slack


def test_theorem_8_as_printed_is_false():
    # One error that is ranked first: AuRC is far above twice SELE.
    losses = np.zeros(1000)
    losses[0] = 1
    scores = np.arange(1000)
    ratio = aurc_score(scores, losses) / sele_score(scores, losses)
    np.testing.assert_allclose(ratio, np.sum(1 / np.arange(1, 1001)))
    assert ratio > 7


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"interpolation": "spline"}, r"interpolation must be one of.*got 'spline'"),
        ({"normalize": True}, r"normalize must be one of.*got True"),
    ],
)
def test_unknown_options(options, message):
    with pytest.raises(ValueError, match=message):
        aurc_score([1, 2], [0, 1], **options)


def test_unknown_ties():
    with pytest.raises(ValueError, match="ties must be one of"):
        sele_score([1, 2], [0, 1], ties="first")


@pytest.mark.parametrize(
    "weights", [[1e10, 1, 1e-300], [1, 1, 5e-324], [1e50, 1e-300, 1]]
)
def test_weights_of_all_sizes_stay_finite(weights):
    losses = [0, 1, 1]
    for area in (aurc_score, augrc_score, sele_score):
        value = area([1, 2, 3], losses, sample_weight=weights)
        expected = area([1, 2, 3], losses, sample_weight=np.maximum(weights, 1e-20))
        np.testing.assert_allclose(value, expected, rtol=1e-12, atol=1e-18)


def test_samples_of_no_weight_do_not_make_prr_defined():
    options = {"normalize": "prr", "sample_weight": [0.3, 0.3, 0.7, 0]}
    with pytest.warns(UndefinedMetricWarning, match="All losses are equal"):
        assert np.isnan(aurc_score([1, 2, 3, 4], [0.1, 0.1, 0.1, 5], **options))


@pytest.mark.parametrize("low", [1, 2, 19, 20, 21, 400])
@pytest.mark.parametrize("step", [1, 2, 7, 300])
def test_digamma_of_integers_gives_sums_of_reciprocals(low, step):
    exact = float(sum(Fraction(1, i) for i in range(low, low + step)))
    np.testing.assert_allclose(digamma_increment(low, step), exact, rtol=4e-16 * 8)


@pytest.mark.parametrize("low", [1.0, 1.3, 5.5, 19.99, 20.0, 33.3, 1e6])
@pytest.mark.parametrize("step", [1e-9, 1e-3, 0.4, 1.7, 50.0])
def test_digamma_of_reals_gives_the_integral_of_trigamma(low, step):
    mean, _ = quad(lambda t: polygamma(1, low + t * step), 0, 1, epsabs=0, epsrel=1e-12)
    np.testing.assert_allclose(digamma_increment(low, step), mean * step, rtol=1e-11)


def test_digamma_of_tiny_steps_keeps_its_digits():
    # digamma itself cannot tell these arguments apart.
    np.testing.assert_allclose(
        digamma_increment(1.0, 1e-17), np.pi**2 / 6 * 1e-17, rtol=1e-14
    )


def test_digamma_broadcasts():
    assert digamma_increment(np.arange(1.0, 40.0), 1.0).shape == (39,)
