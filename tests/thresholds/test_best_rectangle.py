"""Rectangles against all of them."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sklearn_reject.thresholds._direct import best_rectangle

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
