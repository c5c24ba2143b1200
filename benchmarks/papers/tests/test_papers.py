"""Ranks, bins and splits behind the papers' tables."""

import numpy as np
import pytest

from benchmarks.papers._bins import bin_uniformly
from benchmarks.papers._fpv23_published import SIZES, TABLES
from benchmarks.papers._ranks import (
    critical_difference,
    indistinct_groups,
    rank_methods,
)
from benchmarks.papers._splits import split_rows


def test_critical_differences_are_those_of_the_tables_of_demsar():
    # q of table 5(a) there: 2.343 and 2.569 at 0.05, 2.052 and 2.291 at 0.10.
    assert critical_difference(3, 6, 0.05) == pytest.approx(2.343 / 3**0.5, abs=1e-3)
    assert critical_difference(4, 10, 0.05) == pytest.approx(2.569 / 3**0.5, abs=1e-3)
    assert critical_difference(3, 6) == pytest.approx(2.052 / 3**0.5, abs=1e-3)
    # FPV23, 5.3.1
    assert critical_difference(4, 11) == pytest.approx(1.26, abs=5e-3)


@pytest.mark.parametrize(
    ("table", "ranks"),
    [
        ("3a", {"MCP": 2.73, "SELE": 1.36, "REG": 3.55, "TCP": 2.36}),
        ("3b", {"Margin": 2.82, "SELE": 1.09, "REG": 2.09}),
    ],
)
def test_average_ranks_of_the_published_tables(table, ranks):
    areas = {
        method: [row[method].mean for row in TABLES[table].values()] for method in ranks
    }
    ranking = rank_methods(areas)
    assert ranking.ranks == pytest.approx(ranks, abs=5e-3)
    assert ranking.n_sets == 11
    assert ranking.p_value < 0.05


def test_tied_areas_share_their_ranks():
    ranks = rank_methods({"a": [1, 1], "b": [1, 2], "c": [2, 3]}).ranks
    assert ranks == {"a": 1.25, "b": 1.75, "c": 3.0}


@pytest.mark.parametrize(
    ("difference", "groups"),
    [
        (0.5, []),
        (1.2, [["a", "b"], ["b", "c"]]),
        (2.2, [["a", "b", "c"], ["c", "d"]]),
        (9.0, [["a", "b", "c", "d"]]),
    ],
)
def test_groups_are_the_longest_runs_of_similar_ranks(difference, groups):
    ranks = {"c": 3.0, "a": 1.0, "d": 5.0, "b": 2.0}
    assert indistinct_groups(ranks, difference) == groups


def test_distinct_targets_make_classes_of_one_size():
    target = np.random.default_rng(0).permutation(1000)
    labels = bin_uniformly(target, 10)
    np.testing.assert_array_equal(labels, target // 100)


def test_a_frequent_value_is_one_class_and_the_others_share_the_rest():
    target = np.concatenate([np.zeros(500), np.arange(1, 451)])
    counts = np.bincount(bin_uniformly(target, 10))
    np.testing.assert_array_equal(counts, [500] + 9 * [50])


def test_every_class_has_samples():
    rng = np.random.default_rng(0)
    for n_classes in range(2, 12):
        target = rng.geometric(0.2, 400)
        if len(np.unique(target)) >= n_classes:
            labels = bin_uniformly(target, n_classes)
            assert len(np.unique(labels)) == n_classes
            order = np.argsort(target, kind="stable")
            assert (np.diff(labels[order]) >= 0).all()


def test_rare_values_are_kept_apart_where_there_are_few():
    target = [1, 2, 3, 4, *[5] * 100]
    np.testing.assert_array_equal(
        np.bincount(bin_uniformly(target, 5)), [1] * 4 + [100]
    )
    np.testing.assert_array_equal(np.bincount(bin_uniformly(target, 3)), [3, 1, 100])


def test_too_many_bins_are_refused():
    with pytest.raises(ValueError, match="2 distinct targets"):
        bin_uniformly([1, 1, 2], 3)


@pytest.mark.parametrize("name", ["letter", "codrna", "covtype"])
def test_parts_are_disjoint_and_have_the_sizes_of_the_paper(name):
    shares = {
        "letter": (0.30, 0.10, 0.30, 0.10, 0.20),
        "codrna": (0.25, 0.05, 0.20, 0.20, 0.30),
        "covtype": (0.28, 0.20, 0.02, 0.20, 0.30),
    }[name]
    n_samples = SIZES[name].n_samples
    parts = split_rows(name, n_samples, seed=1)
    sizes = np.array([len(part) for part in parts])
    np.testing.assert_allclose(sizes, np.array(shares) * n_samples, atol=1)
    np.testing.assert_array_equal(np.sort(np.concatenate(parts)), np.arange(n_samples))
    assert not np.array_equal(parts.tst, split_rows(name, n_samples, seed=2).tst)
