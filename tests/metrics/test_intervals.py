"""Bootstrap intervals of metrics and of their differences."""

from types import SimpleNamespace

import numpy as np
import pytest
from joblib import parallel_backend
from scipy.stats import bootstrap, norm, t
from sklearn.exceptions import UndefinedMetricWarning

from sklearn_reject import Interval, metrics
from sklearn_reject.exceptions import RejectionWarning
from sklearn_reject.metrics import (
    augrc_score,
    aurc_score,
    bootstrap_interval,
    ood_auroc_score,
)
from tests.metrics.tables import draw_data, rows_of

N = 60
DATA = draw_data(n=N, with_ood=False)
Y_TRUE, Y_PRED = DATA.y_true, DATA.y_pred
UNCERTAINTY = np.random.default_rng(1).random(N)
TIED = DATA.uncertainty
ROWS = np.arange(N)
GROUPS = ROWS % 7 + ROWS % 15
SAMPLES = Y_TRUE, Y_PRED, UNCERTAINTY
pytestmark = pytest.mark.filterwarnings("ignore:The value depends on a few samples")
OTHER = Y_TRUE, Y_TRUE[::-1], TIED
FEW = {"n_resamples": 60, "confidence_level": 0.8, "random_state": 0}
AREAS = pytest.mark.parametrize("metric", [aurc_score, augrc_score])


def called(metric):
    """Return the metric under another name, so that nothing faster is known of it."""
    return lambda *args, **named: metric(*args, **named)


COUNTED_OR_CALLED = pytest.mark.parametrize(
    "metric", [aurc_score, called(aurc_score)], ids=["counted", "called"]
)


def ends(interval):
    return [interval.value, interval.low, interval.high]


@pytest.mark.parametrize("values", [ROWS < 9.0, ROWS < 30.0, UNCERTAINTY**2])
@pytest.mark.parametrize("level", [0.5, 0.9])
def test_ends_are_those_of_scipy(values, level):
    """At a level that makes up for few losses, by the freedom of their variance."""
    options = {"n_resamples": 200, "confidence_level": level, "random_state": 0}
    found = bootstrap_interval(np.mean, (values * 1.0,), **options)
    assert isinstance(found, Interval)
    assert (found.value, found.n_samples) == (values.mean(), N)

    def mean(rows):
        return round(values[rows].mean(), 12)  # values that only rounding parts

    resampled, left = (
        np.array(list(map(mean, rows))) for rows in rows_of(N, n_resamples=200)
    )
    away = left - left.mean()
    kurtosis = N * (away**4).sum() / (away**2).sum() ** 2
    freedom = min(max(2 * N / (kurtosis - 1) if kurtosis > 1 else N, 4), N - 1)
    expected = bootstrap(
        (ROWS,), mean, n_resamples=0, method="BCa", vectorized=False,
        bootstrap_result=SimpleNamespace(bootstrap_distribution=resampled),
        confidence_level=1 - 2 * norm.cdf(t.ppf((1 - level) / 2, freedom)),
    ).confidence_interval  # fmt: skip
    np.testing.assert_allclose(ends(found)[1:], expected, rtol=1e-9)


def test_at_most_a_hundred_parts_are_left_out():
    n, groups = 750, np.arange(750) % 250
    for of_rows in (None, groups):
        _, left = rows_of(n, groups=of_rows)
        parts = [np.setdiff1d(np.arange(n), rows) for rows in left]
        np.testing.assert_array_equal(np.sort(np.concatenate(parts)), np.arange(n))
        sizes = {len(part) for part in parts}
        assert len(parts) == 100
        assert sizes == ({7, 8} if of_rows is None else {6, 9})
        neighbours = [np.diff(part).min() == 1 for part in parts]
        assert np.mean(neighbours) < 0.5  # parts are no blocks of rows


@AREAS
@pytest.mark.parametrize("scores", [UNCERTAINTY, TIED], ids=["distinct", "tied"])
@pytest.mark.parametrize("groups", [None, GROUPS], ids=["rows", "groups"])
@pytest.mark.parametrize("other", [None, OTHER], ids=["one", "difference"])
def test_counts_give_the_interval_of_the_metric_called(metric, scores, groups, other):
    samples = Y_TRUE, Y_PRED, scores
    params = {"loss": "absolute"}
    given = FEW | {"other": other, "metric_params": params, "groups": groups}
    found = bootstrap_interval(metric, samples, **given)
    expected = bootstrap_interval(called(metric), samples, **given)
    np.testing.assert_allclose(ends(found), ends(expected), rtol=1e-11)
    assert found.low < found.value < found.high
    value = metric(*samples, **params)
    value -= 0 if other is None else metric(*other, **params)
    assert found.value == pytest.approx(value)


@pytest.mark.parametrize("groups", [None, GROUPS], ids=["rows", "groups"])
def test_rows_or_whole_groups_are_drawn(groups):
    draws, _ = rows_of(N, n_resamples=400, groups=groups)
    assert len(draws) == 400
    counts = np.array([np.bincount(rows, minlength=N) for rows in draws])
    if groups is None:
        assert (counts.sum(axis=1) == N).all()
    else:
        drawn = [counts[:, groups == name] for name in np.unique(groups)]
        assert all((one == one[:, :1]).all() for one in drawn)
        assert (sum(one[:, 0] for one in drawn) == len(drawn)).all()
    # Each row as often as any other, up to chance.
    assert abs(counts.mean(axis=0) - 1).max() < 5 * counts.std() / 20


@COUNTED_OR_CALLED
def test_random_state(metric):
    found = bootstrap_interval(metric, SAMPLES, **FEW)
    assert bootstrap_interval(metric, SAMPLES, **FEW) == found
    with parallel_backend("threading"):
        assert bootstrap_interval(metric, SAMPLES, n_jobs=2, **FEW) == found
    options = FEW | {"random_state": np.random.RandomState(0)}
    assert bootstrap_interval(metric, SAMPLES, **options) == found
    again = bootstrap_interval(metric, SAMPLES, **options)  # the state has moved on
    assert again != found
    assert again.value == found.value


LOSSES = (Y_TRUE != Y_PRED) * 1.0
NAMES = np.array(["a", "b", "c"])
BY_NAME = dict(zip(("y_true", "y_pred", "uncertainty"), SAMPLES, strict=True))
NONE = dict.fromkeys(("y_true", "y_pred"))


@COUNTED_OR_CALLED
def test_arrays_of_all_kinds(metric):
    expected = ends(bootstrap_interval(metric, SAMPLES, **FEW))
    names = {"labels": [0, 1, 2]}
    for samples, params in (
        ([NAMES[Y_TRUE].tolist(), NAMES[Y_PRED], UNCERTAINTY.tolist()], {}),
        (BY_NAME, {}),
        (SAMPLES, {"loss": 1 - np.eye(3), **names}),
        ({**NONE, "uncertainty": UNCERTAINTY, "loss": LOSSES}, {}),
    ):
        found = bootstrap_interval(metric, samples, metric_params=params, **FEW)
        np.testing.assert_allclose(ends(found), expected, rtol=1e-11)
    # Each of two models has losses of its own.
    other = {**NONE, "uncertainty": TIED, "loss": LOSSES[::-1]}
    found = bootstrap_interval(metric, samples, other=other, **FEW)
    assert found.value == pytest.approx(metric(**samples) - metric(**other))
    assert found.low < found.value < found.high


def test_weights_are_resampled_with_the_rows():
    weight = {"sample_weight": 1.0 + ROWS}
    found = bootstrap_interval(aurc_score, BY_NAME | weight, **FEW)
    weighted = lambda *rows: aurc_score(*rows[:3], sample_weight=rows[3])  # noqa: E731
    assert found == bootstrap_interval(weighted, (*SAMPLES, 1.0 + ROWS), **FEW)
    assert found.value == aurc_score(*SAMPLES, **weight)


RARE = np.where(ROWS < 4, "ood", "a"), UNCERTAINTY
SAME_ORDER = Y_TRUE, Y_PRED, UNCERTAINTY**3


UNTOLD = r"metric fails on \d+ of 300 resamples.*resamples are ignored"


@pytest.mark.parametrize(
    ("metric", "samples", "options", "message"),
    [
        (ood_auroc_score, RARE, {"n_resamples": 300}, UNTOLD),
        (aurc_score, SAMPLES, {"other": SAME_ORDER}, "two scores rank alike"),
        (lambda x: len(set(x)), (UNCERTAINTY,), {}, "outside the range of all 60"),
        (aurc_score, SAMPLES, {"groups": Y_TRUE}, "Only 3 groups are resampled"),
        (np.mean, (ROWS < 1.0,), {"n_resamples": 1000}, "depends on a few samples"),
    ],
    ids=["failures", "same order", "outside", "few groups", "one loss"],
)
def test_doubtful_intervals_are_told(metric, samples, options, message):
    category = UndefinedMetricWarning if "other" in options else RejectionWarning
    options = FEW | options
    with pytest.warns(category, match=message):
        found = bootstrap_interval(metric, samples, **options)
    assert np.isfinite(found.value)
    assert found.low <= found.high or category is UndefinedMetricWarning


@pytest.mark.parametrize("metric", ["raises", "is not finite"])
def test_a_metric_that_fails_often(metric):
    def of_rare_class(y):
        if y.any():
            return y.mean()
        if metric == "raises":
            raise ValueError("no positive sample")
        return np.nan

    reason = "no positive sample" if metric == "raises" else metric
    with pytest.raises(ValueError, match=rf"fails on \d+ of 60 resamples \(.*{reason}"):
        bootstrap_interval(of_rare_class, (np.arange(N) == 0,), **FEW)


@COUNTED_OR_CALLED
@pytest.mark.parametrize("losses", [np.zeros(N), np.full(N, 0.3)], ids=["0", "0.3"])
def test_the_same_value_on_all_resamples_is_no_certainty(metric, losses):
    samples = {**NONE, "uncertainty": UNCERTAINTY, "loss": losses}
    with pytest.warns(UndefinedMetricWarning, match="on all 60 resamples.*NaN"):
        found = bootstrap_interval(metric, samples, **FEW)
    assert found.value == pytest.approx(losses[0])
    assert np.isnan([found.low, found.high]).all()


SCORER = metrics.get_selective_scorer("neg_aurc")
NO_METRIC = "must be a function of arrays, got .*Predict first"
OF_ROWS = r"s\['loss'\] has one value per sample"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        *(({"metric": each}, NO_METRIC) for each in ("aurc_score", SCORER, 3)),
        ({"metric": lambda *a: np.ones(2)}, "one finite number, got array"),
        ({"metric": lambda *a: np.nan}, "one finite number, got nan on samples"),
        ({"samples": Y_TRUE}, "samples must be a tuple of the arrays.*got ndarray"),
        ({"samples": (None, None)}, "got tuple without an array"),
        ({"samples": (Y_TRUE, 0.5)}, r"samples\[1\] must be an array.*got 0.5"),
        ({"samples": (Y_TRUE, Y_PRED[1:], TIED)}, r"samples\[1\] has 59 elements, but"),
        ({"other": [x[1:] for x in SAMPLES]}, "other has 59 elements, but there"),
        ({"groups": GROUPS[1:]}, "groups has 59 elements, but there are 60"),
        ({"groups": np.full(N, np.nan)}, r"groups has no label \(nan\)"),
        ({"metric_params": {"loss": TIED}}, OF_ROWS),
        ({"metric_params": {"loss": (TIED, TIED)}}, OF_ROWS),
        ({"metric_params": {"loss": np.stack([TIED, TIED])}}, OF_ROWS),
        ({"confidence_level": 1}, r"confidence_level must be in \(0, 1\)"),
        ({"n_resamples": 0}, "n_resamples must be a positive int"),
        ({"n_resamples": 39}, "n_resamples=39 is too few.*Use at least 40;"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_bad_input(options, message):
    given = {"metric": aurc_score, "samples": SAMPLES} | options
    with pytest.raises(ValueError, match=message):
        bootstrap_interval(**given)
