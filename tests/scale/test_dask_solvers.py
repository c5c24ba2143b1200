"""Rules solved on dask collections are those solved on the same arrays in memory."""

import dask
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sklearn_reject import dask as of_dask
from sklearn_reject import selection
from sklearn_reject.exceptions import InfeasibleTargetError
from tests.scale.dask_collections import KINDS, cut, sizes_of

TARGETS = [
    ("solve_reject_cost", 0.25, {}),
    ("solve_target_risk", 0.2, {}),
    ("solve_target_risk", 0.2, {"randomize": False}),
    ("solve_target_coverage", 0.6, {}),
    ("solve_target_coverage", 0.6, {"randomize": False}),
    ("solve_target_failure_rate", 0.1, {}),
]
IDS = ["-".join([name, *map(str, options.values())]) for name, _, options in TARGETS]


@pytest.fixture(autouse=True)
def synchronous():
    with dask.config.set(scheduler="synchronous"):
        yield


def draw(n_rows, seed=0):
    """Return scores with ties, 0/1 losses that rise with them, and weights."""
    rng = np.random.default_rng(seed)
    scores = np.round(rng.normal(size=n_rows), 1)
    losses = rng.random(n_rows) < 0.6 / (1 + np.exp(-2 * scores))
    return scores, losses, rng.integers(4, size=n_rows) / 4


def solve_both(name, target, arrays, sizes, kind="array", **options):
    """Return the rule in memory and that of the collection."""
    scores, losses, weight = arrays
    columns = [cut(values, sizes, kind) for values in (scores, losses)]
    given_weight = [{}, {}]
    if weight is not None:
        given_weight = [
            {"sample_weight": w} for w in (weight, cut(weight, sizes, kind))
        ]
    # A bound on failures that has so many samples takes no share of any.
    plain = {"randomize": False} if name == "solve_target_failure_rate" else {}
    expected = getattr(selection, name)(
        scores, losses, target, **given_weight[0], **options, **plain
    )
    solve = getattr(of_dask, name)
    return expected, solve(*columns, target, **given_weight[1], **options)


def assert_same(rule, expected, rel=1e-12):
    for part in ("threshold", "proba_at_threshold", "coverage", "selective_risk"):
        value = getattr(rule, part)
        assert value == pytest.approx(getattr(expected, part), rel=rel, nan_ok=True)
    assert rule.certificate == expected.certificate


@pytest.mark.parametrize(("name", "target", "options"), TARGETS, ids=IDS)
@pytest.mark.parametrize(("size", "n_rows"), [(1, 60), (7, 100), (1000, 2500)])
def test_equal_to_one_call(name, target, options, size, n_rows):
    scores, losses, _ = draw(n_rows)
    sizes = sizes_of(n_rows, size, with_empty=True)
    arrays, kind = (scores, losses, None), KINDS[n_rows % 3]
    expected, rule = solve_both(name, target, arrays, sizes, kind, **options)
    # No rounding in sums of zeros and ones.
    assert_same(rule, expected, rel=0)


@pytest.mark.parametrize(("name", "target", "options"), TARGETS[:-1], ids=IDS[:-1])
def test_weights(name, target, options):
    arrays = draw(200)
    sizes = sizes_of(200, 33, with_empty=True)
    assert_same(*solve_both(name, target, arrays, sizes, **options))


@given(
    data=st.data(),
    n_rows=st.integers(1, 40),
    seed=st.integers(0, 99),
    target=st.floats(0.01, 1.0),
    kind=st.sampled_from(KINDS),
    name=st.sampled_from(
        ["solve_reject_cost", "solve_target_risk", "solve_target_coverage"]
    ),
)
def test_any_cut(data, n_rows, seed, target, kind, name):
    borders = data.draw(st.lists(st.integers(0, n_rows), max_size=6).map(sorted))
    sizes = np.diff([0, *borders, n_rows]).tolist()
    arrays = *draw(n_rows, seed)[:2], None
    try:
        expected, rule = solve_both(name, target, arrays, sizes, kind)
    except InfeasibleTargetError:
        columns = [cut(values, sizes, kind) for values in arrays[:2]]
        for solve, samples in (
            (selection.solve_target_risk, arrays[:2]),
            (of_dask.solve_target_risk, columns),
        ):
            with pytest.raises(InfeasibleTargetError):
                solve(*samples, target)
        return
    assert_same(rule, expected, rel=0)


def test_a_rule_of_cells_keeps_the_target():
    rng = np.random.default_rng(0)
    scores = rng.random(3000)
    losses = rng.random(3000) < scores
    columns = [cut(values, (2000, 1000)) for values in (scores, losses)]
    rule = of_dask.solve_target_risk(*columns, 0.2, method="cells")
    exact = of_dask.solve_target_risk(*columns, 0.2)
    assert 0.19 < rule.selective_risk <= 0.2 * (1 + 1e-12)
    assert exact.coverage - 0.01 < rule.coverage <= exact.coverage
    accepted = rule.accept_proba(scores)
    assert rule.coverage == pytest.approx(accepted.mean(), rel=1e-12)
    loss = (accepted * losses).mean()
    assert rule.selective_risk == pytest.approx(loss / rule.coverage, rel=1e-12)
    delayed = of_dask.solve_target_risk(*columns, 0.2, method="cells", compute=False)
    assert delayed.compute() == rule


@pytest.mark.parametrize("is_exact", [False, True], ids=["cells", "exact"])
def test_certified_rules(is_exact):
    scores, losses, _ = draw(2000)
    columns = [cut(values, sizes_of(2000, 700)) for values in (scores, losses)]
    options = {"confidence_level": 0.9, "method": "exact" if is_exact else "cells"}
    for solve, target in (
        (of_dask.solve_target_risk, 0.2),
        (of_dask.solve_target_failure_rate, 0.1),
        (of_dask.solve_target_coverage, 0.5),
    ):
        rule = solve(*columns, target, **options)
        assert rule.certificate.confidence_level == 0.9
        assert 0.1 < rule.coverage <= 1
        accepted = scores <= rule.threshold
        assert rule.coverage == pytest.approx(accepted.mean(), rel=1e-12)


def test_target_that_cannot_be_met():
    scores, losses = cut(np.arange(4.0), (2, 2)), cut([1, 1, 0, 0], (2, 2))
    with pytest.raises(InfeasibleTargetError) as error:
        of_dask.solve_target_risk(scores, losses, 0.1)
    assert error.value.attainable["target_risk"] == 0.5


@pytest.mark.parametrize(
    ("name", "target", "options", "message"),
    [
        ("solve_target_risk", -1, {}, "target .* must be in"),
        ("solve_target_risk", 0.1, {"confidence_level": 2}, "confidence_level"),
        ("solve_target_risk", 0.1, {"bound": "exact"}, "bound must be one of"),
        ("solve_target_coverage", 0, {}, "target .* must be in"),
        ("solve_target_failure_rate", 0.1, {"max_loss": 0}, "max_loss"),
        ("solve_reject_cost", "low", {}, "target"),
        ("summarize", None, {"n_bits": 50}, "n_bits must be in"),
        ("solve_target_risk", 0.1, {"method": "fast"}, "method must be one of"),
        (
            "solve_target_coverage",
            0.5,
            {"confidence_level": 0.9, "method": "fast"},
            "method must be one of",
        ),
        ("solve_target_risk", 0.1, {"compute": False}, "method='cells'"),
    ],
)
def test_nothing_is_read_for_a_parameter_that_is_wrong(name, target, options, message):
    def read(rows):
        raise AssertionError("the data are read")

    scores = cut(np.arange(4.0), (2, 2)).map_blocks(read, meta=np.zeros(0))
    with pytest.raises(ValueError, match=message):
        getattr(of_dask, name)(scores, scores, target, **options)


def test_weights_with_a_confidence():
    ones = cut(np.ones(4), (2, 2))
    with pytest.raises(ValueError, match="sample_weight cannot be combined"):
        of_dask.solve_target_risk(
            ones, ones, 0.1, sample_weight=ones, confidence_level=0.9
        )


def test_data_that_differ_when_they_are_read_again():
    rng = np.random.default_rng(0)
    scores = cut(np.zeros(4000), (2000, 2000)).map_blocks(
        lambda rows: rng.random(len(rows)), meta=np.zeros(0)
    )
    losses = cut(np.arange(4000) % 5 == 0, (2000, 2000))
    with pytest.raises(ValueError, match="scores where the summary has counted"):
        of_dask.solve_target_coverage(scores, losses, 0.5)


def test_few_rows_travel(monkeypatch):
    from sklearn_reject.dask import _rows

    fetched = []

    def rows_in_ranges(*args):
        rows = selection.rows_in_ranges(*args)
        fetched.append(len(rows[0]))
        return rows

    monkeypatch.setattr(_rows, "rows_in_ranges", rows_in_ranges)
    rng = np.random.default_rng(0)
    scores = rng.random(20_000)
    losses = rng.random(20_000) < scores
    columns = [cut(values, sizes_of(20_000, 5000)) for values in (scores, losses)]
    rule = of_dask.solve_target_risk(*columns, 0.2)
    assert_same(rule, selection.solve_target_risk(scores, losses, 0.2), rel=0)
    assert len(fetched) == 4
    assert sum(fetched) < 2000


def test_summaries_of_shards_add_up():
    scores, losses, weight = draw(300)
    whole = of_dask.summarize(
        *[cut(a, (100, 100, 100)) for a in (scores, losses, weight)]
    )
    shards = [
        of_dask.summarize(*[cut(a[rows], (70, 80)) for a in (scores, losses, weight)])
        for rows in (slice(0, 150), slice(150, 300))
    ]
    merged = shards[0].merge(shards[1])
    assert merged.n_samples == whole.n_samples == np.count_nonzero(weight)
    assert merged.aurc() == pytest.approx(whole.aurc(), rel=1e-12)
    assert of_dask.summarize(
        cut(scores, (300,)), cut(losses, (300,)), n_bits=26
    ).n_cells


def test_many_partitions_are_merged_in_a_tree():
    scores, losses, _ = draw(130)
    delayed = of_dask.summarize(
        cut(scores, [1] * 130), cut(losses, [1] * 130), compute=False
    )
    merges = [key for key in dict(delayed.dask) if str(key).startswith("_merge")]
    assert len(merges) == 17 + 3 + 1
    assert delayed.compute().n_samples == 130


def test_two_processes(cluster):
    arrays = *draw(2000)[:2], None
    with dask.config.set(scheduler=cluster):
        for name, target, options in TARGETS[1::2]:
            sizes = sizes_of(2000, 700)
            expected, rule = solve_both(name, target, arrays, sizes, **options)
            assert_same(rule, expected, rel=0)
