"""Metrics of dask collections are those of the same arrays in memory."""

import warnings

import dask
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import UndefinedMetricWarning

from sklearn_reject import Interval, metrics
from sklearn_reject import dask as of_dask
from sklearn_reject._curves import _cell_areas
from sklearn_reject.dask import _rows
from sklearn_reject.exceptions import RejectionWarning
from tests.scale.dask_collections import KINDS, collect, cut, sizes_of

AREAS = ("aurc_score", "augrc_score", "sele_score")
OPTIONS = [
    *[(name, {}) for name in AREAS],
    ("sele_score", {"ties": "midrank"}),
    *[
        ("selective_risk_at_coverage_score", {"coverage": c, "randomize": r})
        for c, r in [(0.3, False), (0.777, True), (1.0, False)]
    ],
    *[
        ("coverage_at_risk_score", {"risk": c, "randomize": r})
        for c, r in [(0.2, False), (0.2, True), (1.0, False)]
    ],
]
IDS = ["-".join([name, *map(str, options.values())]) for name, options in OPTIONS]


@pytest.fixture(autouse=True)
def synchronous():
    with dask.config.set(scheduler="synchronous"):
        yield


def draw(n_rows, seed=0, n_classes=3):
    """Return labels, predictions, uncertainties with ties, and weights."""
    rng = np.random.default_rng(seed)
    uncertainty = np.round(rng.normal(size=n_rows), 1)
    y_true = rng.integers(n_classes, size=n_rows)
    is_wrong = rng.random(n_rows) < 0.1 + 0.5 / (1 + np.exp(-uncertainty))
    y_pred = np.where(is_wrong, (y_true + 1) % n_classes, y_true)
    return y_true, y_pred, uncertainty, rng.integers(4, size=n_rows) / 2


def compare(name, arrays, sizes, kind, **options):
    """Compare a metric of a collection with that of arrays, and with its interval."""
    y_true, y_pred, uncertainty, weight = arrays
    given_weight = {} if weight is None else {"sample_weight": weight}
    expected = getattr(metrics, name)(
        y_true, y_pred, uncertainty, **given_weight, **options
    )
    collections = [cut(values, sizes, kind) for values in arrays[:3]]
    if weight is not None:
        given_weight = {"sample_weight": cut(weight, sizes, kind)}
    metric = getattr(of_dask, name)
    value = metric(*collections, **given_weight, **options)
    assert type(value) is float
    assert value == pytest.approx(expected, rel=1e-12, abs=1e-15)
    interval = metric(*collections, **given_weight, **options, method="cells")
    assert isinstance(interval, Interval)
    slack = 1e-12 * abs(expected)
    assert interval.low - slack <= expected <= interval.high + slack
    assert interval.low <= interval.value <= interval.high


@pytest.mark.parametrize("is_weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize(("name", "options"), OPTIONS, ids=IDS)
@pytest.mark.parametrize(("size", "n_rows"), [(1, 40), (7, 100), (1000, 2500)])
def test_equal_to_one_call(name, options, size, n_rows, is_weighted):
    *arrays, weight = draw(n_rows)
    weight = weight if is_weighted else None
    sizes = sizes_of(n_rows, size, with_empty=True)
    kind = KINDS[n_rows % 3]
    compare(name, (*arrays, weight), sizes, kind, **options)


@pytest.mark.parametrize("is_weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("name", AREAS)
def test_areas_of_many_runs_of_rows(monkeypatch, name, is_weighted):
    passes = []
    split = _rows._split

    def counted(samples, ranges):
        passes.append(len(ranges))
        return split(samples, ranges)

    monkeypatch.setattr(_cell_areas, "MOST_ROWS", 8)
    monkeypatch.setattr(_rows, "_split", counted)
    monkeypatch.setattr(_rows, "_count_processes", lambda: 3)
    *arrays, weight = draw(120)
    # Some ten samples without ties in each of a dozen cells.
    arrays[2] = 1 + np.random.default_rng(0).permutation(120) / 1e4
    weight = weight if is_weighted else None
    compare(name, (*arrays, weight), sizes_of(120, 50), "array")
    # As few passes as runs, of six at once, allow: each splits the three partitions.
    n_runs = sum(passes) / 3
    assert n_runs > 6
    assert len(passes) == 3 * np.ceil(n_runs / 6)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", AREAS)
def test_any_collection(kind, name):
    compare(name, draw(50, seed=1), sizes_of(50, 9, with_empty=True), kind)


@given(data=st.data(), n_rows=st.integers(1, 30), seed=st.integers(0, 99))
def test_any_cut(data, n_rows, seed):
    borders = data.draw(st.lists(st.integers(0, n_rows), max_size=6).map(sorted))
    sizes = np.diff([0, *borders, n_rows]).tolist()
    *arrays, weight = draw(n_rows, seed)
    if not weight.any():
        weight = None
    kind = data.draw(st.sampled_from(KINDS))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RejectionWarning)  # classes missing
        compare(data.draw(st.sampled_from(AREAS)), (*arrays, weight), sizes, kind)


LOSSES = [
    ("names", "absolute", None),
    ("several outputs", "squared", None),
    ("costs", np.array([[0, 1, 2], [3, 0, 1], [0.5, 2, 0]]), [0, 1, 2]),
    ("callable", lambda y_true, y_pred: 2.5 * (y_true != y_pred), None),
]


@pytest.mark.parametrize("kind", ["array", "unknown"])
@pytest.mark.parametrize(
    ("case", "loss", "labels"), LOSSES, ids=[name for name, *_ in LOSSES]
)
def test_losses(case, loss, labels, kind):
    y_true, y_pred, uncertainty, weight = draw(40)
    if case == "several outputs":
        y_true, y_pred = np.c_[y_true, y_pred, y_true], np.c_[y_pred, y_true, y_pred]
    arrays = y_true, y_pred, uncertainty, weight
    compare("aurc_score", arrays, (11, 0, 19, 10), kind, loss=loss, labels=labels)


@pytest.mark.parametrize("kind", KINDS)
def test_losses_themselves(kind):
    rng = np.random.default_rng(0)
    losses, uncertainty = rng.exponential(size=(2, 30))
    expected = metrics.augrc_score(None, None, uncertainty, loss=losses)
    sizes = (10, 15, 5)
    value = of_dask.augrc_score(
        None, None, cut(uncertainty, sizes, kind), loss=cut(losses, sizes, kind)
    )
    assert value == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_texts(kind):
    y_true, y_pred, uncertainty, _ = draw(30)
    names = np.array(["left", "middle", "right"])
    arrays = names[y_true], names[y_pred], uncertainty, None
    compare("aurc_score", arrays, (1, 12, 17), kind)


def test_a_partition_may_lack_classes():
    # One row a partition: what one predicts, it never has as a true label.
    y_true, y_pred = np.array([0, 1, -1, 2]), np.array([-1, 1, 0, 2])
    arrays = y_true, y_pred, np.arange(4.0), None
    compare("aurc_score", arrays, (1, 1, 1, 1), "array")


@pytest.mark.parametrize("options", [{}, {"method": "cells"}], ids=["exact", "cells"])
def test_reject_labels_are_looked_for_among_all(options):
    y_true, uncertainty = cut([0, 1, 2, 0], (2, 2)), cut(np.arange(4.0), (2, 2))
    with pytest.raises(ValueError, match="y_pred holds -1, which is not in y_true"):
        of_dask.aurc_score(y_true, cut([0, 1, -1, 0], (2, 2)), uncertainty, **options)
    y_pred = cut([0, 1, 3, 0], (2, 2))
    with pytest.warns(RejectionWarning, match="y_pred holds 3, which is not in y_true"):
        of_dask.aurc_score(y_true, y_pred, uncertainty, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        of_dask.aurc_score(y_true, y_pred, uncertainty, labels=[0, 1, 2, 3], **options)


def test_labels_of_two_kinds():
    texts, numbers = np.array(["a", "b"]), np.array([0, 1])
    labels, uncertainty = (
        collect([numbers, texts], "unknown"),
        cut([0, 1, 2, 3], (2, 2)),
    )
    with pytest.raises(ValueError, match=r"texts in partition 1 and numbers in .* 0"):
        of_dask.aurc_score(labels, labels, uncertainty)


def test_more_labels_than_there_are_classes():
    n_rows = 70_000
    y_true, uncertainty = np.arange(n_rows) + 0.5, np.zeros(n_rows)
    y_pred = np.where(np.arange(n_rows) % 2, y_true, 0.0)
    arrays = [cut(values, (40_000, 30_000)) for values in (y_true, y_pred, uncertainty)]
    with pytest.warns(RejectionWarning, match="more than 65536 labels"):
        assert of_dask.aurc_score(*arrays, method="cells").low == pytest.approx(0.5)
    # Counts are as many, and there is nothing to warn of.
    whole = [array.astype(int) for array in arrays[:2]]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        of_dask.aurc_score(*whole, arrays[2], loss="absolute", method="cells")


def test_costs_need_labels():
    arrays = [cut(values, (5, 5)) for values in draw(10)[:3]]
    with pytest.raises(ValueError, match="Pass the labels of its rows and columns"):
        of_dask.aurc_score(*arrays, loss=np.eye(3))
    with pytest.raises(ValueError, match="'nope'"):
        of_dask.aurc_score(*arrays, loss="nope")
    with pytest.raises(ValueError, match="In partition 1, y_pred holds the label 2"):
        of_dask.aurc_score(
            cut([0, 1, 0, 1], (2, 2)),
            cut([0, 1, 2, 1], (2, 2)),
            cut(np.arange(4.0), (2, 2)),
            loss=np.eye(2),
            labels=[0, 1],
        )


def test_losses_in_memory():
    arrays = [cut(values, (5, 5)) for values in draw(10)[:3]]
    with pytest.raises(ValueError, match=r"loss must be a dask array .* got ndarray"):
        of_dask.aurc_score(None, None, arrays[2], loss=np.zeros(10))
    with pytest.raises(ValueError, match=r"y_true is None.*loss='zero_one'"):
        of_dask.aurc_score(None, None, arrays[2])


def test_risk_that_no_threshold_keeps():
    arrays = [cut(values, (2, 2)) for values in ([0, 1, 1, 0], [1, 0, 1, 0], range(4))]
    with pytest.warns(UndefinedMetricWarning, match="No threshold has"):
        assert np.isnan(of_dask.coverage_at_risk_score(*arrays, risk=0.1))


@pytest.mark.parametrize("is_weighted", [False, True], ids=["plain", "weighted"])
def test_points_of_the_curve(is_weighted):
    *arrays, weight = draw(300)
    weight = weight if is_weighted else None
    curve = metrics.risk_coverage_curve(*arrays, sample_weight=weight)
    all_points = np.column_stack(curve[:2])
    sizes = sizes_of(300, 70, with_empty=True)
    collections = [cut(values, sizes) for values in arrays]
    weight = weight if weight is None else cut(weight, sizes)
    for max_points in (1, 10, 1000):
        coverage, risk, thresholds = of_dask.risk_coverage_curve(
            *collections, sample_weight=weight, max_points=max_points
        )
        assert len(coverage) == len(risk) == len(thresholds) <= max_points
        assert coverage[-1] == pytest.approx(1.0, rel=1e-12)
        assert (np.diff(coverage) > 0).all()
        assert (np.diff(thresholds) > 0).all()
        for point in zip(coverage, risk, strict=True):
            assert np.isclose(all_points, point, rtol=1e-12).all(axis=1).any()
    assert len(coverage) == len(all_points)


def test_delayed_answers():
    arrays = [cut(values, (20, 20)) for values in draw(40)[:3]]
    delayed = of_dask.aurc_score(*arrays, method="cells", compute=False)
    assert dask.is_dask_collection(delayed)
    assert delayed.compute() == of_dask.aurc_score(*arrays, method="cells")
    curve = of_dask.risk_coverage_curve(*arrays, compute=False).compute()
    np.testing.assert_array_equal(curve, of_dask.risk_coverage_curve(*arrays))
    with pytest.raises(ValueError, match=r"compute=False .* method='cells'"):
        of_dask.aurc_score(*arrays, compute=False)
    with pytest.raises(ValueError, match="method must be one of"):
        of_dask.aurc_score(*arrays, method="fast")


@pytest.mark.parametrize("is_weighted", [False, True], ids=["plain", "weighted"])
def test_two_processes(cluster, is_weighted):
    *arrays, weight = draw(200)
    weight = weight if is_weighted else None
    with dask.config.set(scheduler=cluster):
        for name, options in OPTIONS[::3]:
            sizes = sizes_of(200, 60)
            compare(name, (*arrays, weight), sizes, "column", **options)
