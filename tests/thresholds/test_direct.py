"""Optima against all combinations of thresholds, and against paths."""

from fractions import Fraction
from itertools import product
from math import inf

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sklearn_reject.exceptions import InfeasibleTargetError
from sklearn_reject.thresholds._direct import (
    best_rectangle,
    direct_point,
    make_candidates,
    maximize,
)
from sklearn_reject.thresholds._documents import check_documents, predict_positive
from sklearn_reject.thresholds._graph import graph_path
from tests.thresholds.path_oracle import (
    count_positives,
    rated_documents,
    short_analytic_path,
)

RULES = pytest.mark.parametrize("rule", ["any", "all"])

fractions = st.builds(Fraction, st.integers(1, 12), st.integers(1, 12))


def all_counts(documents):
    """Return the counts of all thresholds from the lowest ones on."""
    columns = zip(documents.scores.T.tolist(), documents.base, strict=True)
    choices = [sorted({s for s in scores if s >= b} | {inf}) for scores, b in columns]
    return {count_positives(documents, chosen) for chosen in product(*choices)}


def steepest(counts):
    """Return the steepest slope from where nothing is predicted."""
    return max(slope(pair) for pair in counts if any(pair))


def slope(counts):
    fp, tp = counts
    return tp / fp if fp else inf


def check_against_all(documents, derivative):
    """Assert that the optimum is found, or the range said."""
    counts = all_counts(documents)
    highest = steepest(counts)
    gains = {pair: pair[1] - derivative * pair[0] for pair in counts}
    best = max(gains.values())
    if derivative > highest:
        with pytest.raises(InfeasibleTargetError) as info:
            direct_point(documents, float(derivative))
        lowest = pytest.approx(1 / float(highest), rel=1e-12)
        assert info.value.attainable == {"max_fp_per_tp": lowest}
        return
    thresholds = direct_point(documents, float(derivative))
    found = count_positives(documents, thresholds)
    assert (thresholds >= documents.base).all()
    assert gains[found] == best
    assert found[1] == max(tp for (_, tp), g in gains.items() if g == best)


@given(rated_documents(max_classifiers=2), fractions)
def test_one_and_two_classifiers_against_all_thresholds(documents, derivative):
    check_against_all(documents, derivative)


@given(rated_documents(max_documents=9), fractions, st.data())
def test_more_classifiers_are_not_below_their_starts(documents, derivative, data):
    rows = data.draw(st.lists(st.integers(0, len(documents.scores) - 1), max_size=2))
    starts = [np.maximum(documents.scores[row], documents.base) for row in rows]
    counts = all_counts(documents)
    highest = steepest(counts)
    derivative = min(derivative, highest)
    thresholds = direct_point(documents, float(derivative), starts)
    found = gain(documents, thresholds, derivative)
    assert found <= max(tp - derivative * fp for fp, tp in counts)
    for start in starts:
        assert found >= gain(documents, start, derivative)


def gain(documents, thresholds, derivative):
    fp, tp = count_positives(documents, thresholds)
    return tp - derivative * fp


def draw_documents(seed, n_documents, n_classifiers, rule, share=0.25):
    rng = np.random.default_rng(seed)
    y = (np.arange(n_documents) < share * n_documents).astype(int)
    lift = 2.5 * rng.random((n_documents, n_classifiers)) * y[:, np.newaxis]
    return check_documents(rng.normal(size=lift.shape) + lift, y, rule=rule)


@RULES
@pytest.mark.parametrize("n_samples", [30, pytest.param(60, marks=pytest.mark.slow)])
def test_three_classifiers_mostly_reach_the_optimum(rule, n_samples):
    missed = 0
    for seed in range(n_samples):
        documents = draw_documents(seed, 60, 3, rule)
        derivative = (0.2, 0.4, 0.7, 1.3)[seed % 4]
        candidates = make_candidates(documents)
        counts = candidates.count(maximize(candidates, derivative))
        found = counts.real - derivative * counts.imag
        missed += found < best_of_table(candidates, derivative) - 1e-9
    assert missed <= n_samples // 30


def best_of_table(candidates, derivative):
    """Return the best gain among all candidates of three classifiers."""
    value = candidates.counts.real - derivative * candidates.counts.imag
    pairs = zip(candidates.ranks, candidates.thresholds, strict=True)
    reached = [r[:, np.newaxis] > np.arange(len(t)) for r, t in pairs]
    if candidates.rule == "any":
        missed = [1.0 - matrix for matrix in reached]
        return value.sum() - table_of(value, missed).min()
    return table_of(value, [1.0 * matrix for matrix in reached]).max()


def table_of(value, matrices):
    return np.einsum("n,ni,nj,nk->ijk", value, *matrices, optimize=True)


@RULES
@pytest.mark.parametrize(
    ("n_classifiers", "n_documents"),
    [(1, 400), (2, 400), (3, 150), pytest.param(5, 400, marks=pytest.mark.slow)],
)
def test_never_below_a_path(rule, n_classifiers, n_documents):
    for seed in range(3):
        documents = draw_documents(seed, n_documents, n_classifiers, rule, share=0.1)
        derivative = 0.2 * 2**seed
        paths = graph_path(documents, n_thresholds=20), short_analytic_path(documents)
        points = [
            path.thresholds[np.argmax(path.tp - derivative * path.fp)] for path in paths
        ]
        found = direct_point(documents, derivative, points)
        for point in points:
            assert value(documents, found, derivative) >= value(
                documents, point, derivative
            )


def value(documents, thresholds, derivative):
    is_predicted = predict_positive(documents.scores, thresholds, documents.rule)
    fp, tp = documents.count(is_predicted)
    return tp - derivative * fp


@RULES
def test_many_documents_of_two_classifiers(rule):
    # Enough for buckets, and for limits that leave most documents out.
    documents = draw_documents(0, 30_000, 2, rule, share=0.01)
    candidates = make_candidates(documents)
    table = np.zeros([len(values) for values in candidates.thresholds])
    counts = candidates.counts
    np.add.at(table, tuple(candidates.ranks), counts.real - 0.3 * counts.imag)
    if rule == "any":
        table = table.sum() - table.cumsum(axis=0).cumsum(axis=1)
    else:
        above = table[::-1, ::-1].cumsum(axis=0).cumsum(axis=1)[::-1, ::-1]
        table = np.pad(above[1:, 1:], ((0, 1), (0, 1)))
    thresholds = direct_point(documents, 0.3)
    assert value(documents, thresholds, 0.3) == pytest.approx(table.max(), abs=1e-9)


def test_a_classifier_of_no_use_has_no_finite_threshold():
    scores = np.array([[3, 0], [2, 1], [1, 3], [0, 2]])
    documents = check_documents(scores, [1, 1, 0, 0], rule="any")
    assert direct_point(documents, 0.5).tolist() == [2, inf]


def test_thresholds_are_raised_as_long_as_predictions_stay():
    scores = np.array([[3, 3], [2, 3], [1, 1], [0, 0]])
    documents = check_documents(scores, [1, 1, 0, 0], rule="all")
    assert direct_point(documents, 0.5).tolist() == [2, 3]
    # Of classifiers that say the same, the first is used.
    documents = check_documents(scores[:, [0, 0]], [1, 1, 0, 0], rule="any")
    assert direct_point(documents, 0.5).tolist() == [2, inf]


def test_positives_below_the_lowest_threshold_of_all_classifiers_but_one():
    scores = np.array([[0, 5], [0, 4], [3, 0], [2, 0], [0, 3]])
    documents = check_documents(
        scores, [1, 1, 0, 0, 0], rule="any", base_thresholds=[1, 1]
    )
    assert direct_point(documents, 0.5).tolist() == [inf, 4]


@pytest.mark.parametrize("n_classifiers", [1, 2, 3])
@RULES
def test_targets_out_of_range(rule, n_classifiers):
    column = np.array([5, 4, 3, 2, 1, 0])
    y = [0, 1, 0, 1, 0, 1]
    documents = check_documents(np.column_stack([column] * n_classifiers), y, rule=rule)
    with pytest.raises(InfeasibleTargetError, match="no document would be") as info:
        direct_point(documents, 1.01)
    assert info.value.attainable == {"max_fp_per_tp": 1}
    assert count_positives(documents, direct_point(documents, 0.99)) == (3, 3)
    # On the only slope there is, true positives are worth their price.
    assert count_positives(documents, direct_point(documents, 1.0)) == (3, 3)


def test_extreme_prices():
    documents = draw_documents(0, 60, 2, "any")
    steep, flat = (direct_point(documents, d) for d in (1e100, 1e-100))
    assert count_positives(documents, steep)[0] == 0
    assert count_positives(documents, flat)[1] == 15


# Rectangles against all of them

POINTS = st.lists(
    st.tuples(
        st.integers(0, 6),
        st.integers(0, 6),
        st.integers(-3, 3),
        st.integers(-3, 3),
    ),
    max_size=14,
)

PRICES = st.sampled_from([Fraction(1, 3), Fraction(1, 2), Fraction(1), Fraction(5, 2)])


def unzip(points):
    x, y, tp, fp = np.array(points, dtype=int).reshape(-1, 4).T
    return x, y, tp + 1j * fp


def worth(points, corner, price):
    inside = [p for p in points if p[0] <= corner[0] and p[1] <= corner[1]]
    return sum((p[2] - price * p[3] for p in inside), Fraction(0))


@given(POINTS, PRICES)
def test_no_corner_is_better(points, price):
    corner = best_rectangle(*unzip(points), float(price))
    corners = list(product(range(7), repeat=2))
    best = max(worth(points, other, price) for other in corners)
    # Prices that are no sums of powers of two are rounded.
    assert abs(worth(points, corner, price) - best) < 1e-12
    if price != Fraction(1, 3):
        assert corner == min(c for c in corners if worth(points, c, price) == best)


@pytest.mark.parametrize("n_levels", [300, 70_000])
def test_many_points_against_the_whole_table(n_levels):
    # More levels than a short integer has, of which only a few hundred are taken.
    rng = np.random.default_rng(n_levels)
    levels = np.sort(rng.choice(n_levels, 250, replace=False))
    x, y = rng.choice(250, (2, 3000))
    counts = np.where(rng.random(3000) < 0.2, 1, 1j)
    table = np.zeros((250, 250))
    np.add.at(table, (x, y), counts.real - 0.3 * counts.imag)
    table = table.cumsum(axis=0).cumsum(axis=1)
    i, j = best_rectangle(levels[x], levels[y], counts, 0.3)
    found = (levels[x] <= i) & (levels[y] <= j)
    value = np.sum(counts.real[found]) - 0.3 * np.sum(counts.imag[found])
    assert value == pytest.approx(max(table.max(), 0), abs=1e-9)
