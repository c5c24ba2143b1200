"""Points of a path, their targets and their intervals."""

import pickle
import re
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st
from sklearn.isotonic import IsotonicRegression

from sklearn_reject.exceptions import InfeasibleTargetError
from sklearn_reject.thresholds._path import ThresholdPath, area_under
from sklearn_reject.thresholds._point import check_attainable, point_on_path
from sklearn_reject.thresholds._targets import resolve_target


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
    if derivative > highest:
        with pytest.raises(InfeasibleTargetError) as info:
            point_on_path(path, float(derivative))
        assert info.value.attainable == {"max_fp_per_tp": 1 / float(highest)}
        return
    vertex = point_on_path(path, float(derivative))
    if derivative < lowest:
        assert (path.fp[vertex], path.tp[vertex]) == (path.fp[0], path.tp[0])
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
    # Any lower one is met by all documents.
    assert point_on_path(line, 0.49, smoothing) == 0
    with pytest.raises(InfeasibleTargetError, match=r"be at most 0\.5;"):
        point_on_path(line, 0.51, smoothing)
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
    assert resolve_target(target_derivative=0.25).derivative == 0.25
    assert resolve_target(marginal_precision=0.2).derivative == 0.25
    assert resolve_target(max_fp_per_tp=4).derivative == 0.25
    assert resolve_target(target_derivative=np.float32(0.25)).derivative == 0.25


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


@given(slopes, slopes)
@example(1 / 3, 1.0)
def test_all_that_an_error_names_can_be_met(highest, derivative):
    if derivative <= highest * (1 + 1e-12):
        check_attainable(derivative, highest)
        return
    with pytest.raises(InfeasibleTargetError) as info:
        check_attainable(derivative, highest)
    assert info.value.attainable == {"max_fp_per_tp": 1 / highest}
    _, text = str(info.value).split("on these documents: ")
    text = text.split(". Above it")[0]
    for name, part in zip(NAMES, re.split("; |, or ", text), strict=True):
        assert name in part
        for number in re.findall(r"[\d.]+(?:e-?\d+)?", part):
            slope = resolve_target(**{name: float(number)}).derivative
            check_attainable(slope, highest)


def test_what_an_error_says():
    with pytest.raises(InfeasibleTargetError) as info:
        check_attainable(5, 2)
    assert str(info.value) == (
        "target_derivative=5 (marginal_precision=0.833333, max_fp_per_tp=0.2) cannot "
        "be met on these documents: target_derivative can be at most 2; that is a "
        "marginal_precision of at most 0.666666, or a max_fp_per_tp of at least 0.5. "
        "Above it, no document would be predicted positive. Use a smaller "
        "derivative, or scores that rank more positives first."
    )
    copy = pickle.loads(pickle.dumps(info.value))
    assert copy.attainable == info.value.attainable
