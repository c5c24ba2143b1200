import numpy as np
import pytest

from sklearn_reject._curves import _cells

N = 2**17 + 7

SCORES = {
    "uniform": lambda rng: rng.random(N),
    "normal": lambda rng: rng.normal(size=N),
    "skewed": lambda rng: rng.exponential(size=N) ** 8,
    "tiny": lambda rng: 10.0 ** -rng.uniform(0, 300, N),
    "clusters": lambda rng: rng.integers(0, 50, N) + 1e-12 * rng.random(N),
    "few distinct": lambda rng: rng.integers(0, 100, N) / 100,
    "two values": lambda rng: rng.integers(0, 2, N) * 1.0,
    "constant": lambda rng: np.full(N, 0.3),
    "outlier": lambda rng: np.append(rng.random(N - 1), 1e12),
    "widest": lambda rng: np.append(rng.normal(size=N - 2), [-1.7e308, 1.7e308]),
    "denormal": lambda rng: rng.integers(0, 1000, N) * 5e-324,
    "near one": lambda rng: 1 + rng.integers(0, 10**4, N) * 2.0**-52,
    "signed zeros": lambda rng: rng.choice([0.0, -0.0, 1.0], N),
    "sorted": lambda rng: np.sort(rng.random(N)),
    "reversed": lambda rng: -np.sort(rng.random(N)),
    "offset": lambda rng: 1e9 + rng.random(N),
    "short": lambda rng: rng.random(100),
    "minus infinity": lambda rng: np.full(N, -np.inf),
    "some minus infinity": lambda rng: np.append(rng.random(N - 1), -np.inf),
}


@pytest.mark.parametrize("name", SCORES)
@pytest.mark.parametrize("n_bits", [10, 20, 32])
@pytest.mark.parametrize("make_cut", [_cells._even_cut, _cells._floating_point_cut])
def test_cells_keep_the_order(name, n_bits, make_cut):
    scores = np.sort(SCORES[name](np.random.default_rng(0)))
    cut = make_cut(scores, n_bits)
    if cut is None:
        assert make_cut is _cells._even_cut
        assert name in ("constant", "denormal", "widest") or "infinity" in name
        return
    cells = cut(scores)
    assert (np.diff(cells) >= 0).all()
    assert (np.diff(cells)[scores[1:] == scores[:-1]] == 0).all()
    assert cells.min() == 0
    assert cells.max() < 2**n_bits


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("uniform", "_even_cut"),
        ("few distinct", "_even_cut"),
        ("outlier", "_floating_point_cut"),
        ("tiny", "_floating_point_cut"),
        ("clusters", None),
    ],
)
def test_cells_that_separate_are_chosen(name, kind):
    scores = SCORES[name](np.random.default_rng(0))
    some = np.unique(_cells.draw_evenly(scores))
    cut = _cells.cut_into_cells(scores, some, 32, most_shared=0.5)
    assert (cut is None) if kind is None else (kind in cut.__qualname__)
