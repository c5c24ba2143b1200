"""Points of a path, their targets and their intervals."""

import pickle
import re
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest
from sklearn.isotonic import IsotonicRegression

from sklearn_reject.exceptions import InfeasibleTargetError
from sklearn_reject.thresholds import _point
from sklearn_reject.thresholds._documents import check_documents
from sklearn_reject.thresholds._path import ThresholdPath, area_under
from sklearn_reject.thresholds._point import (
    check_attainable,
    count_intervals,
    point_on_path,
    resolve_target,
)


def path_of(fp, tp):
    """Return a path with given counts, which fall to zero."""
    fp, tp = np.array(fp, dtype=float), np.array(tp, dtype=float)
    thresholds = np.arange(len(fp), dtype=float)[:, np.newaxis]
    thresholds[-1] = np.inf
    return ThresholdPath(thresholds, fp, tp, area_under(fp, tp), "any")


@st.composite
def paths(draw):
    """Draw paths with many corners on straight lines, some of them equal."""
    step = st.tuples(st.integers(0, 3), st.integers(0, 3))
    steps = draw(st.lists(step, min_size=1, max_size=12))
    counts = np.cumsum([(0, 0), *steps], axis=0)[::-1].T
    assume(counts[:, 0].all())
    return path_of(*counts)


fractions = st.builds(Fraction, st.integers(1, 12), st.integers(1, 12))


def exact_gains(path, derivative):
    pairs = zip(path.tp.tolist(), path.fp.tolist(), strict=True)
    return [Fraction(tp) - Fraction(fp) * derivative for tp, fp in pairs]


def end_slopes(path):
    """Return the slopes of the majorant at its ends, from all chords."""
    counts = list(zip(path.fp.tolist(), path.tp.tolist(), strict=True))
    full = counts[0]
    rest = [(full[0] - fp, full[1] - tp) for fp, tp in counts if (fp, tp) != full]
    return min(map(slope, rest)), max(slope(c) for c in counts if any(c))


def slope(counts):
    fp, tp = counts
    return Fraction(tp) / Fraction(fp) if fp else float("inf")


@given(paths(), fractions)
def test_concave_is_the_best_vertex(path, derivative):
    lowest, highest = end_slopes(path)
    if not lowest <= derivative <= highest:
        with pytest.raises(InfeasibleTargetError) as info:
            point_on_path(path, float(derivative))
        attainable = info.value.attainable
        assert attainable["min_derivative"] == float(lowest)
        assert attainable["max_derivative"] == float(highest)
        return
    vertex = point_on_path(path, float(derivative))
    gains = exact_gains(path, derivative)
    best = [k for k, value in enumerate(gains) if value == max(gains)]
    most = [k for k in best if path.tp[k] == path.tp[best].max()]
    assert vertex == most[-1]
    assert vertex in path.majorant


@given(paths(), fractions, st.sampled_from(["concave", "isotonic"]))
def test_other_names_of_the_target_lead_to_the_same_vertex(path, derivative, smoothing):
    lowest, highest = end_slopes(path)
    assume(lowest <= derivative <= highest)
    precision = float(derivative / (1 + derivative))
    expected = point_on_path(path, float(derivative), smoothing)
    assert point_on_path(path, precision / (1 - precision), smoothing) == expected
    assert point_on_path(path, 1 / float(1 / derivative), smoothing) == expected


def pooled_shares(path):
    """Return middles and shares of the blocks of isotonic regression, a step a unit."""
    total = path.fp + path.tp
    sizes = -np.diff(total)
    kept = sizes > 0
    shares = -np.diff(path.tp)[kept] / sizes[kept]
    position = np.arange(len(shares))
    pooled = IsotonicRegression().fit(position, shares, sizes[kept]).predict(position)
    starts = np.flatnonzero(np.append(True, np.diff(pooled) > 1e-9))
    bounds = np.append(total[:-1][kept][starts], 0.0)
    return (bounds[1:] + bounds[:-1]) / 2, pooled[starts]


# Most derivatives drawn are outside the slopes of the path's ends.
@settings(suppress_health_check=[HealthCheck.filter_too_much])
@given(paths(), fractions)
def test_isotonic_is_next_to_where_the_interpolated_share_is_met(path, derivative):
    lowest, highest = end_slopes(path)
    assume(lowest <= derivative <= highest)
    middles, shares = pooled_shares(path)
    wanted = float(derivative / (1 + derivative))
    # Shares rise along the path, from the lowest thresholds on.
    met = np.interp(wanted, shares, middles)
    distance = np.abs(path.fp + path.tp - met)
    vertex = point_on_path(path, float(derivative), "isotonic")
    assert distance[vertex] <= distance.min() + 1e-6
    same = (path.fp == path.fp[vertex]) & (path.tp == path.tp[vertex])
    assert vertex == np.flatnonzero(same)[-1]


@pytest.mark.parametrize("smoothing", ["concave", "isotonic"])
def test_short_majorants(smoothing):
    # Nothing between none and all: the only slope there is.
    line = path_of([4, 0], [2, 0])
    assert point_on_path(line, 0.5, smoothing) == 0
    for derivative in (0.49, 0.51):
        with pytest.raises(InfeasibleTargetError, match=r"0\.5 to 0\.5"):
            point_on_path(line, derivative, smoothing)
    # Vertical, then horizontal: any target is met.
    corner = path_of([4, 0, 0], [2, 2, 0])
    for derivative in (1e-300, 1e-3, 1.0, 1e3, 1e300):
        assert point_on_path(corner, derivative, "concave") == 1
    assert point_on_path(corner, 1.0, smoothing) == 1


def test_isotonic_is_not_drawn_to_the_nearest_corner():
    # A segment of slope 2 from (0, 0) to (4, 8), one of slope 0.5 to (12, 12): half way
    # between their middles in the share of positives, there is a vertex on the second.
    path = path_of([12, 8, 6, 4, 2, 0], [12, 10, 9, 8, 4, 0])
    assert path.majorant.tolist() == [0, 3, 5]
    assert point_on_path(path, 1.0, "concave") == 3
    assert point_on_path(path, 0.8, "isotonic") == 2
    assert point_on_path(path, 0.5, "concave") == 0
    assert point_on_path(path, 0.5, "isotonic") == 1


# Targets

INF = float("inf")

NAMES = "target_derivative", "marginal_precision", "max_fp_per_tp"


def test_three_names_of_one_number():
    assert resolve_target(target_derivative=0.25) == 0.25
    assert resolve_target(marginal_precision=0.2) == 0.25
    assert resolve_target(max_fp_per_tp=4) == 0.25
    assert resolve_target(np.float32(0.25)) == 0.25


@pytest.mark.parametrize("names", [(), NAMES[:2], NAMES[1:], NAMES])
def test_exactly_one_name(names):
    given_ = dict.fromkeys(names, 0.5)
    with pytest.raises(ValueError, match="Exactly one of") as info:
        resolve_target(**given_)
    assert str(given_ or "none") in str(info.value)


@pytest.mark.parametrize("value", [0, -1, INF, float("nan"), "0.5", True, [0.5]])
@pytest.mark.parametrize("name", NAMES)
def test_values_out_of_range(name, value):
    with pytest.raises(ValueError, match=name):
        resolve_target(**{name: value})


@pytest.mark.parametrize("value", [1, 1.0, 1.5])
def test_precision_below_one(value):
    with pytest.raises(ValueError, match=r"marginal_precision must be in \]0, 1\["):
        resolve_target(marginal_precision=value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("target_derivative", 1.1e100),
        ("target_derivative", 5e-324),
        ("marginal_precision", 1e-101),
        ("max_fp_per_tp", 5e-324),
        ("max_fp_per_tp", 1e101),
    ],
)
def test_slopes_whose_products_may_overflow(name, value):
    with pytest.raises(ValueError, match=rf"{name}=.*must be between 1e-100 and 1e"):
        resolve_target(**{name: value})


# Between these, no name rounds what it stands for to zero or one.
slopes = st.floats(1e-4, 1e4)


@given(slopes | st.just(0.0), slopes | st.just(INF), slopes)
@example(1 / 3, 1 / 3, 1.0)
@example(1 / 3, 1 / 3 + 1e-9, 1.0)
@example(0.0, 1e-4, 1.0)
@example(1e4, INF, 1.0)
def test_all_that_an_error_names_can_be_met(lowest, highest, derivative):
    assume(lowest <= highest)
    if lowest * (1 - 1e-12) <= derivative <= highest * (1 + 1e-12):
        check_attainable(derivative, lowest, highest)
        return
    with pytest.raises(InfeasibleTargetError) as info:
        check_attainable(derivative, lowest, highest)
    assert info.value.attainable == {
        "min_derivative": lowest,
        "max_derivative": highest,
    }
    _, text = str(info.value).split("on these documents: ")
    text = re.split(r"\. (?:Above|Below) it", text)[0]
    for name, part in zip(NAMES, re.split("; |, or ", text), strict=True):
        assert name in part
        for number in re.findall(r"[\d.]+(?:e-?\d+)?", part):
            check_attainable(resolve_target(**{name: float(number)}), lowest, highest)


def test_what_an_error_says():
    with pytest.raises(InfeasibleTargetError) as info:
        check_attainable(5, 0.25, 2)
    assert str(info.value) == (
        "target_derivative=5 (marginal_precision=0.833333, max_fp_per_tp=0.2) cannot "
        "be met on these documents: target_derivative can be 0.25 to 2; this is a "
        "marginal_precision of 0.2 to 0.666666, or a max_fp_per_tp of 0.5 to 4. Above "
        "it, no document would be predicted positive. Ask for a smaller derivative, or "
        "use scores that rank more positives first."
    )
    with pytest.raises(
        InfeasibleTargetError, match=r"at least 0\.25; this .* at least"
    ):
        check_attainable(0.1, 0.25, INF)
    with pytest.raises(InfeasibleTargetError, match=r"at most 2; .* at least 0\.5"):
        check_attainable(3, 0.0, 2)
    with pytest.raises(InfeasibleTargetError, match="or rate more documents"):
        check_attainable(0.1, 0.25, INF)
    copy = pickle.loads(pickle.dumps(info.value))
    assert copy.attainable == info.value.attainable


# Intervals against scipy, and against the bootstrap itself


def documents_of(fp, tp, n_others, weight=None, rule="any"):
    """Return documents of which some score 1, of both classes, and the others 0."""
    scores = np.repeat([1.0, 0.0], [fp + tp, n_others])[:, np.newaxis]
    y = np.repeat([0, 1, 0, 1], [fp, tp, n_others // 2, n_others - n_others // 2])
    return check_documents(scores, y, rule=rule, sample_weight=weight)


counts = st.integers(0, 30)

levels = st.sampled_from([0.5, 0.9, 0.95])


@given(counts, counts, st.integers(2, 40), levels)
def test_precision_is_that_of_scipy(fp, tp, n_others, level):
    if fp + tp == 0:
        return
    part = documents_of(fp, tp, n_others)
    _, _, precision = count_intervals([part], [[1.0]], confidence_level=level)
    expected = binomtest(tp, tp + fp).proportion_ci(level, method="exact")
    assert precision == pytest.approx((expected.low, expected.high), abs=1e-12)


@given(counts, counts, st.integers(2, 40), levels)
def test_counts_are_the_quantiles_of_a_binomial(fp, tp, n_others, level):
    if fp + tp == 0:
        return
    part = documents_of(fp, tp, n_others)
    *intervals, _ = count_intervals([part], [[1.0]], confidence_level=level)
    n = fp + tp + n_others
    for count, (low, high) in zip((fp, tp), intervals, strict=True):
        assert low <= count <= high
        # The least number below or at which there is that much probability.
        for tail, value in (((1 - level) / 2, low), ((1 + level) / 2, high)):
            below = [lower_tail(value - k, n, count / n) for k in (0, 1)]
            assert below[1] < tail + 1e-12
            assert below[0] > tail - 1e-12


def lower_tail(value, n, share):
    return binomtest(int(value), n, share, "less").pvalue if value >= 0 else 0.0


def bootstrap(scores, y, weight, threshold, n_draws=4000):
    """Return false and true positives of resampled documents, one draw a row."""
    rng = np.random.default_rng(0)
    rows = rng.integers(len(y), size=(n_draws, len(y)))
    counted = ((scores >= threshold) * weight)[rows]
    return (counted * (y[rows] == 0)).sum(axis=1), (counted * (y[rows] == 1)).sum(
        axis=1
    )


@pytest.mark.parametrize("is_weighted", [False, True])
@pytest.mark.parametrize("rated", ["all", "most"])
def test_against_the_bootstrap_itself(is_weighted, rated):
    rng = np.random.default_rng(1)
    scores, y = rng.normal(size=600), (rng.random(600) < 0.3).astype(int)
    if rated == "most":
        y[scores < -0.5] = -1
    weight = rng.uniform(0.2, 3, 600) if is_weighted else np.ones(600)
    part = check_documents(scores, y, sample_weight=weight if is_weighted else None)
    fp, tp, precision = count_intervals(
        [part], [[0.5]], confidence_level=0.9, random_state=0
    )
    drawn = bootstrap(scores, y, weight, 0.5)
    for values, interval in zip(drawn, (fp, tp), strict=True):
        np.testing.assert_allclose(
            interval, np.quantile(values, [0.05, 0.95]), rtol=0.03
        )
    expected = np.quantile(drawn[1] / (drawn[0] + drawn[1]), [0.05, 0.95])
    # Clopper and Pearson's bounds are wider, as they never cover too little.
    np.testing.assert_allclose(precision, expected, atol=0.012)


def test_weights_of_one_are_about_none():
    plain = documents_of(20, 30, 150)
    weighted = documents_of(20, 30, 150, weight=np.ones(200))
    exact = count_intervals([plain], [[1.0]])
    drawn = count_intervals([weighted], [[1.0]], random_state=0)
    np.testing.assert_allclose(drawn[:2], exact[:2], atol=2)


def test_seeds_make_draws_repeatable():
    part = documents_of(20, 30, 50, weight=np.linspace(0.5, 2, 100))
    one, again, other = (
        count_intervals([part], [[1.0]], random_state=seed) for seed in (0, 0, 1)
    )
    assert one == again
    assert one != other


def test_chunks_do_not_change_the_draws(monkeypatch):
    part = documents_of(20, 30, 50, weight=np.linspace(0.5, 2, 100))
    whole = count_intervals([part], [[1.0]], random_state=0)
    monkeypatch.setattr(_point, "_LARGEST_CHUNK", 1000)
    np.testing.assert_allclose(
        count_intervals([part], [[1.0]], random_state=0), whole, rtol=1e-12
    )


@pytest.mark.parametrize("weight", [None, np.full(40, 0.5)])
def test_nothing_predicted(weight):
    part = documents_of(10, 10, 20, weight=weight)
    fp, tp, precision = count_intervals([part], [[np.inf]], random_state=0)
    assert fp == tp == (0, 0)
    assert np.isnan(precision).all()


def test_parts_are_pooled():
    parts = [documents_of(5, 10, 30), documents_of(7, 2, 20)]
    pooled = count_intervals(parts, [[1.0], [1.0]])
    assert pooled == count_intervals([documents_of(12, 12, 50)], [[1.0]])
    one = count_intervals(parts, [[np.inf], [1.0]])
    assert one == count_intervals([documents_of(7, 2, 65)], [[1.0]])


def test_a_sample_of_which_next_to_nothing_is_predicted():
    # Some draws hold no predicted document, and say nothing of the precision.
    weight = np.ones(300)
    weight[0] = 2.0
    part = documents_of(0, 1, 299, weight=weight)
    fp, tp, precision = count_intervals([part], [[1.0]], random_state=0)
    assert (fp, tp[0]) == ((0, 0), 0)
    np.testing.assert_allclose(precision, (0.025, 1))


def test_equal_weights_count_like_none():
    plain = count_intervals([documents_of(3, 9, 300)], [[1.0]])
    weight = np.full(300 + 12, 2.0)
    doubled = count_intervals([documents_of(3, 9, 300, weight=weight)], [[1.0]])
    for interval, other, unit in zip(plain, doubled, (2, 2, 1), strict=True):
        np.testing.assert_allclose(np.multiply(interval, unit), other)


def test_weights_that_differ_tell_less():
    plain = count_intervals([documents_of(10, 30, 300)], [[1.0]])[2]
    weight = np.where(np.arange(340) % 2, 3.0, 1.0)
    wide = count_intervals(
        [documents_of(10, 30, 300, weight=weight)], [[1.0]], random_state=0
    )[2]
    assert wide[1] - wide[0] > plain[1] - plain[0]
