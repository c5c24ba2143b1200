"""Bootstrap intervals of metrics and of their differences."""

from types import SimpleNamespace

import numpy as np
import pytest
from joblib import parallel_backend
from scipy.stats import bootstrap, norm, t
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.linear_model import LogisticRegression

from sklearn_reject import Interval, metrics
from sklearn_reject.exceptions import RejectionWarning
from sklearn_reject.metrics import (
    augrc_score,
    aurc_score,
    bootstrap_interval,
    deferral_area_score,
    ood_auroc_score,
)
from tests.metrics.tables import draw_data

N = 60
DATA = draw_data(n=N, with_ood=False)
Y_TRUE, Y_PRED = DATA.y_true, DATA.y_pred
UNCERTAINTY = np.random.default_rng(1).random(N)
TIED = DATA.uncertainty
GROUPS = np.arange(N) % 7 + np.arange(N) % 15
SAMPLES = Y_TRUE, Y_PRED, UNCERTAINTY
# Errors come last.
RANKED = Y_TRUE, Y_PRED, UNCERTAINTY + (Y_TRUE != Y_PRED)
METHODS = "BCa", "percentile"
# So few resamples that corrections may go beyond them.
pytestmark = pytest.mark.filterwarnings(
    "ignore:After the corrections for bias",
    "ignore:The value depends on a few of 20 samples or groups",
)
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


def draws_of(n_samples, n_resamples=60, **options):
    """Return the rows of each resample, as a metric sees them."""
    seen = []

    def note(rows):
        seen.append(rows)
        return len(seen) + 0.5  # never equal

    options = {"method": "percentile", "random_state": 0, **options}
    bootstrap_interval(
        note, (np.arange(n_samples),), n_resamples=n_resamples, **options
    )
    np.testing.assert_array_equal(seen[0], np.arange(n_samples))
    return seen[1:]


def expected_ends(values, draws, level, method, metric=np.mean):
    """Return the ends that scipy has of the same resamples."""
    resampled = np.array([metric(values[rows]) for rows in draws])
    result = SimpleNamespace(bootstrap_distribution=resampled)
    return bootstrap(
        (values,), metric, n_resamples=0, bootstrap_result=result, method=method,
        confidence_level=level, vectorized=False,
    ).confidence_interval  # fmt: skip


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("level", [0.5, 0.9])
def test_ends_are_those_of_scipy(method, level):
    values = np.random.default_rng(2).normal(size=N) ** 2
    options = {"n_resamples": 200, "confidence_level": level, "random_state": 0}
    found = bootstrap_interval(np.mean, (values,), method=method, **options)
    expected = expected_ends(values, draws_of(N, 200), level, method)
    assert isinstance(found, Interval)
    assert (found.value, found.n_samples) == (values.mean(), N)
    np.testing.assert_allclose(ends(found)[1:], expected, rtol=1e-12)


def few_losses(n):
    return 1.0 * (np.arange(N) < n)


@pytest.mark.parametrize("values", [few_losses(9), few_losses(30), UNCERTAINTY])
def test_auto_is_bca_of_a_level_that_makes_up_for_few_losses(values):
    """By the degrees of freedom of their variance, of which there are four at least."""
    found = bootstrap_interval(np.mean, (values,), **FEW)
    kurtosis = np.mean(((values - values.mean()) / values.std()) ** 4)
    freedom = min(max(2 * N / (kurtosis - 1) if kurtosis > 1 else N, 4), N - 1)
    level = 1 - 2 * norm.cdf(t.ppf(0.1, freedom))
    expected = expected_ends(values, draws_of(N), level, "BCa")
    np.testing.assert_allclose(ends(found)[1:], expected, rtol=1e-9)
    plain = bootstrap_interval(np.mean, (values,), method="BCa", **FEW)
    assert found.low <= plain.low < plain.high <= found.high


def test_a_value_that_rests_on_a_single_loss_is_told():
    with pytest.warns(RejectionWarning, match="depends on a few of 60 samples"):
        bootstrap_interval(np.mean, (few_losses(1),), **FEW | {"n_resamples": 1000})


@AREAS
@pytest.mark.parametrize("scores", [UNCERTAINTY, TIED], ids=["distinct", "tied"])
@pytest.mark.parametrize("groups", [None, GROUPS], ids=["rows", "groups"])
@pytest.mark.parametrize("other", [None, OTHER], ids=["one", "difference"])
@pytest.mark.parametrize("method", METHODS)
def test_counts_give_the_interval_of_the_metric_called(
    metric, scores, groups, other, method
):
    given = {
        "samples": (Y_TRUE, Y_PRED, scores),
        "other": other,
        "metric_params": {"loss": "absolute"},
        "groups": groups,
        "method": method,
        **FEW,
    }
    found = bootstrap_interval(metric, **given)
    expected = bootstrap_interval(called(metric), **given)
    np.testing.assert_allclose(ends(found), ends(expected), rtol=1e-11)
    assert found.low < found.value < found.high


@AREAS
@pytest.mark.parametrize("n_values", [None, 50], ids=["distinct", "tied"])
@pytest.mark.parametrize("rate", [0.01, 1.0], ids=["few losses", "real losses"])
def test_counts_of_many_samples(metric, n_values, rate):
    """Groups of one size or another make more rows, or fewer, than there were."""
    rng = np.random.default_rng(3)
    n = 20_000
    scores = rng.random(n) if n_values is None else rng.integers(0, n_values, n) / 7
    losses = rng.random(n) * (rng.random(n) < rate)
    options = {"method": "percentile", "n_resamples": 10, "confidence_level": 0.8}
    options |= {"metric_params": {"loss": losses}, "random_state": 0}
    for groups in (None, np.floor(30 * rng.random(n) ** 3)):
        found, expected = (
            bootstrap_interval(each, (None, None, scores), groups=groups, **options)
            for each in (metric, called(metric))
        )
        eps = np.finfo(float).eps
        np.testing.assert_allclose(ends(found), ends(expected), rtol=3 * n * eps)


@pytest.mark.parametrize("groups", [None, GROUPS], ids=["rows", "groups"])
def test_rows_or_whole_groups_are_drawn(groups):
    draws = draws_of(N, 2500, groups=groups)
    assert len(draws) == 2500
    counts = np.array([np.bincount(rows, minlength=N) for rows in draws])
    if groups is None:
        assert (counts.sum(axis=1) == N).all()
    else:
        drawn = [counts[:, groups == name] for name in np.unique(groups)]
        assert all((one == one[:, :1]).all() for one in drawn)
        assert (sum(one[:, 0] for one in drawn) == len(drawn)).all()
    # Each row as often as any other, up to chance.
    assert abs(counts.mean(axis=0) - 1).max() < 5 * counts.std() / 50


def test_groups_have_wider_intervals():
    samples = [np.repeat(x[:20], 10) for x in SAMPLES]
    options = FEW | {"n_resamples": 1000}
    apart = bootstrap_interval(aurc_score, samples, **options)
    together = bootstrap_interval(
        aurc_score, samples, groups=np.repeat(np.arange(20), 10), **options
    )
    assert together.high - together.low > 2 * (apart.high - apart.low)


def test_a_paired_difference_is_narrower_than_either():
    noisy = UNCERTAINTY + np.random.default_rng(4).normal(size=N) / 50
    pair = SAMPLES, (Y_TRUE, Y_PRED, noisy)
    options = FEW | {"n_resamples": 1000}
    widths = [np.ptp(ends(bootstrap_interval(aurc_score, x, **options))) for x in pair]
    paired = bootstrap_interval(aurc_score, pair[0], other=pair[1], **options)
    assert paired.value == aurc_score(*pair[0]) - aurc_score(*pair[1])
    assert np.ptp(ends(paired)) < 0.5 * min(widths)


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


@pytest.mark.slow
@COUNTED_OR_CALLED
def test_processes_share_the_resamples(metric):
    options = {"n_resamples": 1500, "random_state": 0}
    found = bootstrap_interval(metric, SAMPLES, n_jobs=2, **options)
    assert found == bootstrap_interval(metric, SAMPLES, **options)


# What goes in


def test_arrays_of_all_kinds():
    names = np.array(["a", "b", "c"])
    for metric in (aurc_score, called(aurc_score)):
        expected = bootstrap_interval(metric, SAMPLES, **FEW)
        texts = names[Y_TRUE].tolist(), names[Y_PRED].tolist(), UNCERTAINTY.tolist()
        assert bootstrap_interval(metric, texts, **FEW) == expected
        assert bootstrap_interval(metric, list(SAMPLES), **FEW) == expected
        by_name = dict(zip(("y_true", "y_pred", "uncertainty"), SAMPLES, strict=True))
        assert bootstrap_interval(metric, by_name, **FEW) == expected


def test_losses_and_weights_are_resampled_with_the_rows():
    losses = (Y_TRUE != Y_PRED) * 1.0
    expected = bootstrap_interval(aurc_score, SAMPLES, **FEW)
    samples = None, None, UNCERTAINTY
    params = {"loss": losses}
    for metric in (aurc_score, called(aurc_score)):
        found = bootstrap_interval(metric, samples, metric_params=params, **FEW)
        np.testing.assert_allclose(ends(found), ends(expected), rtol=1e-11)
    weight = 1.0 + np.arange(N)

    def weighted(y_true, y_pred, uncertainty, weight):
        return aurc_score(y_true, y_pred, uncertainty, sample_weight=weight)

    expected = bootstrap_interval(weighted, (*SAMPLES, weight), **FEW)
    params = {"sample_weight": weight}
    assert (
        bootstrap_interval(aurc_score, SAMPLES, metric_params=params, **FEW) == expected
    )
    assert ends(expected)[0] == aurc_score(*SAMPLES, sample_weight=weight)


def test_losses_of_two_models():
    mine, yours = np.random.default_rng(6).random((2, N))
    names = "y_true", "y_pred", "uncertainty", "loss"
    samples = dict(zip(names, (None, None, UNCERTAINTY, mine), strict=True))
    other = dict(zip(names, (None, None, TIED, yours), strict=True))
    for metric in (aurc_score, called(aurc_score)):
        found = bootstrap_interval(metric, samples, other=other, **FEW)
        assert found.value == pytest.approx(
            aurc_score(None, None, UNCERTAINTY, loss=mine)
            - aurc_score(None, None, TIED, loss=yours)
        )
        assert found.low < found.value < found.high


FIRST, SECOND = Y_PRED, DATA.y_second
NO_LABELS = None, None, None
OF_BOTH = (FIRST != Y_TRUE) * 1.0, np.where(np.arange(N) % 3, SECOND != Y_TRUE, np.nan)


def area_of(rows, score=UNCERTAINTY):
    losses = [losses[rows] for losses in OF_BOTH]
    return deferral_area_score(*NO_LABELS, score[rows], loss=losses)


@pytest.mark.parametrize("where", ["params", "samples", "array"])
def test_losses_of_two_opinions_are_resampled_together(where):
    samples, params = (*NO_LABELS, UNCERTAINTY), {"loss": OF_BOTH}
    if where == "array":
        params = {"loss": np.stack(OF_BOTH)}
    elif where == "samples":
        names = "y_true", "y_first", "y_second", "deferral_score"
        samples, params = {**dict(zip(names, samples, strict=True)), **params}, None
    options = {"method": "percentile", **FEW}
    found = bootstrap_interval(
        deferral_area_score, samples, metric_params=params, **options
    )
    expected = expected_ends(np.arange(N), draws_of(N), 0.8, "percentile", area_of)
    np.testing.assert_allclose(ends(found)[1:], expected)
    if where == "params":
        other = *NO_LABELS, TIED
        paired = bootstrap_interval(
            deferral_area_score, samples, other=other, metric_params=params, **options
        )
        difference = lambda rows: area_of(rows) - area_of(rows, TIED)  # noqa: E731
        args = np.arange(N), draws_of(N), 0.8, "percentile", difference
        np.testing.assert_allclose(ends(paired)[1:], expected_ends(*args))


def test_a_cost_matrix_is_the_same_for_all_resamples():
    samples = Y_TRUE, FIRST, SECOND, UNCERTAINTY
    params = {"loss": 1 - np.eye(3), "labels": [0, 1, 2]}
    found, expected = (
        bootstrap_interval(deferral_area_score, samples, metric_params=given, **FEW)
        for given in (params, {"labels": [0, 1, 2]})
    )
    assert found == expected


@pytest.mark.filterwarnings("ignore::sklearn_reject.exceptions.RejectionWarning")
@pytest.mark.parametrize(
    ("name", "samples", "params"),
    [
        ("aurc_score", SAMPLES, {"normalize": "prr"}),
        ("sele_score", SAMPLES, {}),
        ("selective_risk_at_coverage_score", SAMPLES, {"coverage": 0.7}),
        ("coverage_at_risk_score", RANKED, {"risk": 0.1}),
        ("set_loss", (Y_TRUE > 0, Y_PRED > 0), {}),
        ("pn_auc_score", (Y_TRUE > 0, UNCERTAINTY), {"normalize": True}),
        (
            "selective_cost_score",
            (Y_TRUE, np.where(TIED < 0.5, Y_PRED, -1), TIED < 0.5),
            {"reject_cost": 0.2},
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_metrics_of_ours(name, samples, params):
    metric = getattr(metrics, name)
    found = bootstrap_interval(metric, samples, metric_params=params, **FEW)
    assert found.value == metric(*samples, **params)
    assert found.low <= found.value <= found.high > found.low


# Where there is no interval


def test_resamples_that_lack_something_are_left_out_and_counted():
    y_true = np.where(np.arange(N) < 4, "ood", "a")
    message = r"metric fails on \d+ of 300 resamples.*resamples are ignored"
    with pytest.warns(RejectionWarning, match=message):
        found = bootstrap_interval(
            ood_auroc_score,
            (y_true, UNCERTAINTY),
            n_resamples=300,
            confidence_level=0.8,
            random_state=0,
        )
    assert np.isfinite(ends(found)).all()


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


def test_empty_accepted_set():
    def selective_accuracy(y_true, y_pred, accepted):
        return (y_true == y_pred)[accepted].mean()

    found = bootstrap_interval(
        selective_accuracy,
        (Y_TRUE, Y_PRED, UNCERTAINTY < 0.5),
        **FEW | {"n_resamples": 1000},
    )
    assert found.low < found.value < found.high
    with pytest.raises(ValueError, match="fails on"):
        bootstrap_interval(
            selective_accuracy,
            (Y_TRUE, Y_PRED, UNCERTAINTY.min() >= UNCERTAINTY),
            **FEW,
        )


@COUNTED_OR_CALLED
@pytest.mark.parametrize("losses", [np.zeros(N), np.full(N, 0.3)], ids=["0", "0.3"])
@pytest.mark.parametrize("method", METHODS)
def test_the_same_value_on_all_resamples_is_no_certainty(metric, losses, method):
    with pytest.warns(UndefinedMetricWarning, match="on all 60 resamples.*NaN"):
        found = bootstrap_interval(
            metric,
            (None, None, UNCERTAINTY),
            metric_params={"loss": losses},
            method=method,
            **FEW,
        )
    assert found.value == pytest.approx(losses[0])
    assert np.isnan([found.low, found.high]).all()


def test_scores_of_the_same_order_do_not_differ():
    other = Y_TRUE, Y_PRED, UNCERTAINTY**3
    with pytest.warns(UndefinedMetricWarning, match="two scores rank alike"):
        assert bootstrap_interval(aurc_score, SAMPLES, other=other, **FEW).value == 0


def test_a_value_outside_of_all_resamples():
    def n_distinct(x):
        return len(np.unique(x))

    with pytest.warns(RejectionWarning, match="outside the range of all 60"):
        found = bootstrap_interval(n_distinct, (UNCERTAINTY,), **FEW)
    assert found.high < found.value == N


def test_ends_beyond_the_resamples():
    few_errors = np.arange(N) < 3
    with pytest.warns(
        RejectionWarning, match="beyond all of 40 resamples. Set n_resamples=1000"
    ):
        bootstrap_interval(
            aurc_score,
            (None, None, np.arange(N)),
            metric_params={"loss": few_errors},
            n_resamples=40,
            random_state=0,
        )


def test_few_rows_or_groups():
    with pytest.raises(ValueError, match="There are only 1 samples"):
        bootstrap_interval(aurc_score, ([0], [0], [0.5]))
    with pytest.raises(ValueError, match="There are only 1 groups"):
        bootstrap_interval(aurc_score, SAMPLES, groups=np.zeros(N))
    with pytest.warns(RejectionWarning, match="Only 3 groups are resampled"):
        bootstrap_interval(aurc_score, SAMPLES, groups=Y_TRUE, **FEW)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"metric": "aurc_score"}, "got the name 'aurc_score'. Pass the function"),
        (
            {"metric": metrics.get_selective_scorer("neg_aurc")},
            "takes an estimator and samples",
        ),
        ({"metric": LogisticRegression()}, "takes an estimator and samples"),
        ({"metric": 3}, "metric must be a function of arrays, got 3"),
        ({"metric": lambda *a: np.ones(2)}, r"one number, got ndarray of shape \(2,\)"),
        ({"metric": metrics.risk_coverage_curve}, "one number, got tuple"),
        ({"metric": lambda *a: np.nan}, "metric is nan on the samples"),
        ({"samples": Y_TRUE}, "samples must be a tuple of the arrays.*got ndarray"),
        ({"samples": ()}, "samples must be a tuple"),
        ({"samples": (None, None)}, "samples holds no array"),
        ({"samples": (Y_TRUE, 0.5)}, r"samples\[1\] must be an array.*got 0.5"),
        (
            {"samples": (Y_TRUE, Y_PRED[1:], UNCERTAINTY)},
            r"samples\[1\] has 59 elements, but there are 60",
        ),
        (
            {"other": [x[1:] for x in SAMPLES]},
            "other has 59 elements, but there are 60",
        ),
        ({"other": Y_TRUE}, "other must be a tuple of the arrays"),
        (
            {
                **{"metric": deferral_area_score, "samples": (*NO_LABELS, TIED)},
                "metric_params": {"loss": ([0, 1, 0], [0, 0, 1])},
            },
            "loss has 3 elements, but there are 60 samples",
        ),
        (
            {
                **{"metric": deferral_area_score, "samples": (*NO_LABELS, TIED)},
                "metric_params": {"loss": (OF_BOTH[0], [0, 1])},
            },
            r"\['loss'\] has 2 elements, but there are 60",
        ),
        ({"groups": GROUPS[1:]}, "groups has 59 elements, but there are 60"),
        ({"groups": np.full(N, np.nan)}, r"groups has no label \(nan\)"),
        (
            {"metric_params": {"sample_weight": np.ones(3)}},
            "sample_weight has 3 elements, but there are 60",
        ),
        (
            {"metric_params": {"costs": np.ones(N)}},
            r"metric_params\['costs'\] has one value per sample",
        ),
        (
            {"samples": {"y_true": Y_TRUE, "loss": TIED}, "metric_params": {"loss": 1}},
            "'loss' is in samples as well as in metric_params",
        ),
        ({"confidence_level": 1}, r"confidence_level must be in \]0, 1\["),
        ({"confidence_level": 95}, r"confidence_level must be in \]0, 1\["),
        ({"n_resamples": 0}, "n_resamples must be a positive int"),
        ({"n_resamples": 39}, "n_resamples=39 is too few.*Use at least 40;"),
        ({"method": "bca"}, "method must be one of"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_bad_input(options, message):
    given = {"metric": aurc_score, "samples": SAMPLES} | options
    with pytest.raises(ValueError, match=message):
        bootstrap_interval(**given)
