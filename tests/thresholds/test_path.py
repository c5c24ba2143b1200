"""Majorants of curves, and thresholds midway between scores."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.isotonic import IsotonicRegression

from sklearn_reject.thresholds._documents import check_documents
from sklearn_reject.thresholds._graph import graph_path
from sklearn_reject.thresholds._path import majorant_vertices, place_midway

# Thresholds midway between scores

SCORES = st.one_of(st.integers(-3, 3), st.sampled_from([0.5, 5e-324, 1e300, -1e300]))


@st.composite
def all_documents(draw):
    shape = draw(st.integers(3, 12)), draw(st.integers(1, 2))
    scores = draw(hnp.arrays(np.float64, shape, elements=SCORES))
    y = draw(hnp.arrays(np.int64, shape[0], elements=st.sampled_from([-1, 0, 1])))
    return scores, y


@pytest.mark.parametrize("rule", ["any", "all"])
@given(sample=all_documents())
def test_no_document_is_predicted_otherwise(rule, sample):
    scores, y = sample
    try:
        documents = check_documents(scores, y, rule=rule)
    except ValueError:
        return
    path = graph_path(documents)
    moved = place_midway(path, documents)
    np.testing.assert_array_equal(moved.locate(scores), path.locate(scores))
    finite = np.isfinite(path.thresholds)
    assert (moved.thresholds <= path.thresholds).all()
    is_partial = (y == -1).any()
    # Where everything is rated, the lowest thresholds have nothing unknown below.
    is_open = np.isneginf(moved.thresholds)
    np.testing.assert_array_equal(np.isfinite(moved.thresholds) | is_open, finite)
    assert not is_open[path.thresholds != documents.base].any()
    assert not is_partial or not is_open.any()
    assert not is_partial or (moved.thresholds[0] == documents.base).all()


def test_halfway():
    documents = check_documents([1.0, 2.0, 4.0, 7.0], [0, 1, -1, 1], base_thresholds=1)
    moved = place_midway(graph_path(documents), documents)
    # Unrated documents have scores, too; the lowest threshold is not below the base.
    np.testing.assert_array_equal(moved.thresholds[:, 0], [1, 1.5, 5.5, np.inf])


def test_below_the_lowest_score_as_far_as_above():
    scores, y = [1.0, 2.0, 4.0], [0, 1, 1]
    documents = check_documents(scores, y, base_thresholds=-5)
    moved = place_midway(graph_path(documents), documents)
    np.testing.assert_array_equal(moved.thresholds[0], [0.5])


def test_where_all_is_rated_all_may_be_predicted():
    scores = np.array([[1.0, 3.0], [2.0, 1.0], [4.0, 2.0], [3.0, 5.0]])
    y = [0, 1, 1, 0]
    for rule in ("any", "all"):
        documents = check_documents(scores, y, rule=rule)
        path = graph_path(documents)
        moved = place_midway(path, documents)
        lowest = path.thresholds == documents.base
        if rule == "all":  # one classifier alone does not predict everything
            lowest &= lowest.all(axis=1, keepdims=True)
        np.testing.assert_array_equal(np.isneginf(moved.thresholds), lowest)
        assert (moved.thresholds[1:] >= moved.thresholds[:-1]).all()
        partial = check_documents([*scores, [0.5, 0.5]], [*y, -1], rule=rule)
        moved = place_midway(graph_path(partial), partial)
        assert not np.isneginf(moved.thresholds).any()


def test_neighbouring_numbers():
    scores = np.array(
        [1.0, np.nextafter(1.0, 2), np.nextafter(np.nextafter(1.0, 2), 2)]
    )
    documents = check_documents(scores, [0, 1, 1])
    path = graph_path(documents)
    moved = place_midway(path, documents)
    np.testing.assert_array_equal(
        moved.locate(scores[:, np.newaxis]), path.locate(scores[:, np.newaxis])
    )


# Majorants


def steps(largest):
    return st.lists(
        st.tuples(st.integers(0, largest), st.integers(0, largest)), max_size=12
    )


def curve(pairs):
    """Return the counts after each step, from nothing on."""
    return np.cumsum([(0, 0), *pairs], axis=0).T


def all_vertices(fp, tp):
    """Return the ends, and the points that no line between two others covers."""
    points = list(zip(fp.tolist(), tp.tolist(), strict=True))
    distinct = sorted(set(points))
    ends = distinct[0], distinct[-1]
    corners = [p for p in distinct if p in ends or not is_covered(p, distinct)]
    return [points.index(corner) for corner in corners]


def is_covered(point, points):
    others = [p for p in points if p != point]
    return any(is_below(point, *pair) for pair in combinations(others, 2))


def is_below(point, left, right):
    (x, y), (x0, y0), (x1, y1) = point, left, right
    if x0 == x1:
        return x == x0 and min(y0, y1) <= y <= max(y0, y1)
    return x0 <= x <= x1 and y <= y0 + Fraction(y1 - y0, x1 - x0) * (x - x0)


@given(steps(3) | steps(10**6))
def test_majorant_vertices_are_what_no_line_covers(pairs):
    fp, tp = curve(pairs)
    assert majorant_vertices(fp, tp).tolist() == all_vertices(fp, tp)


@given(st.lists(st.tuples(st.integers(0, 9), st.booleans()), min_size=1, max_size=30))
def test_majorant_slopes_are_the_isotonic_regression_of_the_labels(documents):
    scores, labels = (np.array(column) for column in zip(*documents, strict=True))
    thresholds = np.append(np.inf, np.unique(scores)[::-1])
    predicted = scores >= thresholds[:, np.newaxis]
    fp, tp = (predicted @ (labels == kind).astype(int) for kind in (False, True))
    vertices = majorant_vertices(fp, tp)
    up, right = np.diff(tp[vertices]), np.diff(fp[vertices])
    shares = np.repeat(up / (up + right), np.diff(vertices))
    pooled = IsotonicRegression().fit(scores, labels).predict(thresholds[1:])
    np.testing.assert_allclose(shares, pooled, atol=1e-12)


@pytest.mark.parametrize("n", [30, 20_000])
def test_turns_of_majorants_of_large_counts_are_exact(n):
    # Slopes that differ by one part in 1e12, in steps of a million.
    fp, tp = np.array([0, 10**6, 2 * 10**6]), np.array([0, 10**6 + 1, 2 * 10**6 + 1])
    assert majorant_vertices(fp, tp).tolist() == [0, 1, 2]
    assert majorant_vertices(fp, tp - [0, 1, 0]).tolist() == [0, 2]
    # On one straight line, however the points are spread over it.
    at = np.unique(np.random.default_rng(0).integers(0, 10**6, n))
    assert majorant_vertices(3 * at, 7 * at).tolist() == [0, len(at) - 1]


def test_majorants_of_long_concave_and_convex_curves():
    x = np.arange(100_001)
    assert len(majorant_vertices(x, x * (200_002 - x))) == 100_001
    assert majorant_vertices(x, x * x).tolist() == [0, 100_000]


@pytest.mark.parametrize(
    ("fp", "tp", "expected"),
    [
        ([0], [0], [0]),
        ([0, 0, 0], [0, 0, 0], [0]),
        ([0, 0, 0], [0, 1, 2], [0, 2]),
        ([0, 1, 2], [0, 0, 0], [0, 2]),
        ([0, 0, 2, 2], [0, 3, 3, 3], [0, 1, 2]),
    ],
)
def test_majorants_of_short_curves(fp, tp, expected):
    assert majorant_vertices(np.array(fp), np.array(tp)).tolist() == expected
