"""Points of a path against all its vertices, and against isotonic regression."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.isotonic import IsotonicRegression

from sklearn_reject.exceptions import InfeasibleTargetError
from sklearn_reject.thresholds._path import ThresholdPath, area_under
from sklearn_reject.thresholds._point import point_on_path


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


def test_unknown_smoothing():
    with pytest.raises(ValueError, match="smoothing must be one of"):
        point_on_path(path_of([1, 0], [1, 0]), 1.0, "spline")
