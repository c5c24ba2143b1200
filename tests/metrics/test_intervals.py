"""Bootstrap intervals of metrics and of their differences."""

import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from joblib import parallel_backend
from scipy.stats import bootstrap, norm, t
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, mean_absolute_error

from sklearn_reject import Interval, metrics
from sklearn_reject.exceptions import RejectionWarning
from sklearn_reject.metrics import (
    augrc_score,
    aurc_score,
    bootstrap_interval,
    ood_auroc_score,
)
from sklearn_reject.metrics._bootstrap import (
    Resamples,
    bca_ends,
    percentile_ends,
    widen,
)

rng = np.random.default_rng(0)
N = 60
Y_TRUE = rng.integers(0, 3, N)
Y_PRED = np.where(rng.random(N) < 0.7, Y_TRUE, rng.integers(0, 3, N))
UNCERTAINTY = rng.random(N)
TIED = rng.integers(0, 6, N) / 6
GROUPS = rng.integers(0, 15, N)
SAMPLES = Y_TRUE, Y_PRED, UNCERTAINTY
METHODS = "BCa", "percentile"
OTHER = Y_TRUE, Y_TRUE[::-1], TIED
FEW = {"n_resamples": 60, "confidence_level": 0.8, "random_state": 0}


def called(metric):
    """Return the metric under another name, so that nothing faster is known of it."""
    return lambda *args, **named: metric(*args, **named)


def ends(interval):
    return [interval.value, interval.low, interval.high]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("level", [0.5, 0.9])
def test_ends_are_those_of_scipy(method, level):
    values = rng.normal(size=N) ** 2
    resampled = values[rng.integers(N, size=(200, N))].mean(axis=1)
    expected = bootstrap(
        (values,),
        np.mean,
        n_resamples=0,
        bootstrap_result=SimpleNamespace(bootstrap_distribution=resampled),
        method=method,
        confidence_level=level,
    ).confidence_interval
    if method == "percentile":
        found = percentile_ends(resampled, level)
    else:
        left_out = (values.sum() - values) / (N - 1)
        found = bca_ends(resampled, values.mean(), left_out, level)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("metric", [aurc_score, augrc_score])
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


def test_values_are_those_of_the_rows_drawn():
    resamples = Resamples(N, None, 60, 0)
    values = [accuracy_score(Y_TRUE[r], Y_PRED[r]) for r in resamples.rows(0)]
    found = bootstrap_interval(
        accuracy_score, (Y_TRUE, Y_PRED), method="percentile", **FEW
    )
    assert isinstance(found, Interval)
    assert found.n_samples == N
    assert found.value == accuracy_score(Y_TRUE, Y_PRED)
    np.testing.assert_allclose(ends(found)[1:], percentile_ends(values, 0.8))


@pytest.mark.parametrize("groups", [None, GROUPS], ids=["rows", "groups"])
def test_counts_are_those_of_the_rows(groups):
    resamples = Resamples(N, groups, 2500, 3)
    sizes = []
    for batch in range(resamples.n_batches):
        counts = resamples.counts(batch)
        rows = list(resamples.rows(batch))
        sizes.append(len(counts))
        for count, of_one in zip(counts[:5], rows, strict=False):
            np.testing.assert_array_equal(np.bincount(of_one, minlength=N), count)
        if groups is None:
            assert (counts.sum(axis=1) == N).all()
        else:
            drawn = [counts[:, groups == name] for name in np.unique(groups)]
            assert all((one == one[:, :1]).all() for one in drawn)
            assert (sum(one[:, 0] for one in drawn) == len(drawn)).all()
    assert sum(sizes) == 2500
    assert len(sizes) > 1


def test_groups_have_wider_intervals():
    samples = [np.repeat(x[:20], 10) for x in SAMPLES]
    apart = bootstrap_interval(aurc_score, samples, **FEW)
    together = bootstrap_interval(
        aurc_score, samples, groups=np.repeat(np.arange(20), 10), **FEW
    )
    assert together.high - together.low > 2 * (apart.high - apart.low)


def test_a_paired_difference_is_narrower_than_either():
    noisy = UNCERTAINTY + rng.normal(size=N) / 50
    pair = SAMPLES, (Y_TRUE, Y_PRED, noisy)
    widths = [np.ptp(ends(bootstrap_interval(aurc_score, x, **FEW))) for x in pair]
    paired = bootstrap_interval(aurc_score, pair[0], other=pair[1], **FEW)
    assert paired.value == aurc_score(*pair[0]) - aurc_score(*pair[1])
    assert np.ptp(ends(paired)) < 0.5 * min(widths)


@pytest.mark.parametrize(
    "metric", [aurc_score, called(aurc_score)], ids=["counted", "called"]
)
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
@pytest.mark.parametrize(
    "metric", [aurc_score, called(aurc_score)], ids=["counted", "called"]
)
def test_processes_share_the_resamples(metric):
    options = {"n_resamples": 1500, "random_state": 0}
    found = bootstrap_interval(metric, SAMPLES, n_jobs=2, **options)
    assert found == bootstrap_interval(metric, SAMPLES, **options)


@pytest.mark.parametrize("other", [None, OTHER], ids=["one", "difference"])
def test_auto_is_a_wider_bca_where_it_costs_no_more_than_the_resamples(other):
    for metric, n_resamples in ((aurc_score, 200), (called(aurc_score), 200)):
        options = FEW | {"n_resamples": n_resamples, "other": other}
        found = bootstrap_interval(metric, SAMPLES, **options)
        expected = bootstrap_interval(metric, SAMPLES, method="BCa", **options)
        assert found.low < expected.low < expected.high < found.high
    options = FEW | {"n_resamples": N - 1, "other": other}
    assert bootstrap_interval(metric, SAMPLES, **options) == bootstrap_interval(
        metric, SAMPLES, method="percentile", **options
    )


def test_level_of_few_losses():
    normal = rng.normal(size=100_000)
    assert widen(0.9, normal) == pytest.approx(0.9, abs=1e-3)
    # As many degrees of freedom as Student's interval of a mean has at most.
    two_values = np.repeat([0.0, 1.0], 10)
    assert widen(0.9, two_values) == pytest.approx(1 - 2 * norm.cdf(t.ppf(0.05, 19)))
    one_loss = np.arange(200) == 0
    with pytest.warns(RejectionWarning, match="depends on a few of 200 samples"):
        level = widen(0.9, one_loss)
    assert level == pytest.approx(1 - 2 * norm.cdf(t.ppf(0.05, 4)))
    assert widen(0.9, np.ones(5)) == 0.9
    few, many = (rng.permutation(400) < k for k in (40, 100))
    kurtosis = [np.mean(((x - x.mean()) / x.std()) ** 4) for x in (few, many)]
    for values, k in zip((few, many), kurtosis, strict=True):
        quantile = t.ppf(0.05, min(800 / (k - 1), 399))
        assert widen(0.9, values) == pytest.approx(1 - 2 * norm.cdf(quantile))


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


def test_frames_are_taken_by_position():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(dict(zip("yhu", SAMPLES, strict=True)), index=np.arange(N) % 7)
    samples = tuple(frame[column] for column in "yhu")
    for metric in (aurc_score, called(aurc_score)):
        options = FEW | {"method": "percentile"}
        expected = bootstrap_interval(metric, SAMPLES, groups=GROUPS, **options)
        groups = pd.Series(GROUPS, index=frame.index)
        found = bootstrap_interval(metric, samples, groups=groups, **options)
        assert found == expected


def test_several_outputs():
    targets = rng.normal(size=(N, 2))
    predictions = targets + rng.normal(size=(N, 2))
    found = bootstrap_interval(mean_absolute_error, (targets, predictions), **FEW)
    assert found.low < found.value < found.high
    params = {"loss": "squared"}
    samples = targets, predictions, UNCERTAINTY
    options = {"metric_params": params, **FEW}
    np.testing.assert_allclose(
        ends(bootstrap_interval(aurc_score, samples, **options)),
        ends(bootstrap_interval(called(aurc_score), samples, **options)),
        rtol=1e-11,
    )


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
    mine, yours = rng.random(N), rng.random(N)
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


@pytest.mark.parametrize(
    ("name", "samples", "params"),
    [
        ("aurc_score", SAMPLES, {"normalize": "prr"}),
        ("aurc_score", SAMPLES, {"interpolation": "trapezoid"}),
        ("sele_score", SAMPLES, {}),
        ("selective_risk_at_coverage_score", SAMPLES, {"coverage": 0.7}),
        ("coverage_at_risk_score", SAMPLES, {"risk": 0.1}),
        ("oscr_score", (np.where(TIED > 0.6, -1, Y_TRUE), *SAMPLES[1:]), {}),
        ("set_loss", (Y_TRUE > 0, Y_PRED > 0), {}),
        ("pn_auc_score", (Y_TRUE > 0, UNCERTAINTY), {"normalize": True}),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_metrics_of_ours(name, samples, params):
    metric = getattr(metrics, name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RejectionWarning)
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
        selective_accuracy, (Y_TRUE, Y_PRED, UNCERTAINTY < 0.5), **FEW
    )
    assert found.low < found.value < found.high
    with pytest.raises(ValueError, match="fails on"):
        bootstrap_interval(
            selective_accuracy,
            (Y_TRUE, Y_PRED, UNCERTAINTY.min() >= UNCERTAINTY),
            **FEW,
        )


@pytest.mark.parametrize(
    "metric", [aurc_score, called(aurc_score)], ids=["counted", "called"]
)
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
